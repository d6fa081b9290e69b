"""Many short texts in one piece."""

from hypothesis import given
from hypothesis import strategies as st

from oi_tui.engine.storage.packed_texts import PackedTexts

SOME = st.lists(
    st.text(alphabet=st.one_of(st.characters(), st.sampled_from("aé日\n\ud800\r\x00")), max_size=5)
)


@given(st.lists(SOME, max_size=4))
def test_what_is_put_in_is_found_again_at_its_place(chunks: list[list[str]]) -> None:
    texts = PackedTexts()
    for chunk in chunks:
        texts.extend(chunk)
    wanted = [text.replace("\n", " ") for chunk in chunks for text in chunk]
    assert len(texts) == len(wanted)
    assert list(texts) == [texts[place] for place in range(len(texts))] == wanted
    assert [texts.place_of(text) for text in wanted] == [wanted.index(text) for text in wanted]
    assert texts.place_of("none of these") is None
