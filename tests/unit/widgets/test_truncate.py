"""What does not fit is left out where it matters least, and a mark says so."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from oi_tui.widgets.truncate import cut_beginning, cut_end

WORDS = st.text(st.sampled_from("ab /é你🙂"), max_size=60)


@given(WORDS, st.integers(0, 40))
def test_nothing_takes_more_cells_than_there_are(text: str, width: int) -> None:
    for cut in (cut_end, cut_beginning):
        short = cut(text, width)
        assert cell_len(short) <= width
        assert short == text or not width or "…" in short


def test_a_path_keeps_its_name_and_a_sentence_its_beginning() -> None:
    assert cut_beginning("/home/ada/outputs/plot.png", 12) == "…ts/plot.png"
    assert cut_end("Go back to before your message", 12) == "Go back to…"
    assert cut_beginning("plot.png", 8) == cut_end("plot.png", 8) == "plot.png"
    assert cut_beginning("東京の地図.png", 8) == "…図.png"
