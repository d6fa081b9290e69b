"""The last guard lets no character through that could control the terminal."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color

from oi_tui.terminal.sanitize_filter import SanitizeFilter

BLACK = Color.parse("#000000")


def guarded(*texts: str) -> str:
    return "".join(s.text for s in SanitizeFilter().apply([Segment(text) for text in texts], BLACK))


def test_a_clean_line_is_the_same_object() -> None:
    line = [Segment("plain "), Segment("你好 ▎> é")]
    assert SanitizeFilter().apply(line, BLACK) is line


def test_emoji_keep_their_joiners() -> None:
    assert guarded("a family: 👩‍👩‍👧") == "a family: 👩‍👩‍👧"


@given(st.lists(st.text(), max_size=5))
def test_nothing_unsafe_is_left_and_the_width_stays(texts: list[str]) -> None:
    out = guarded(*texts)
    assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or 0x202A <= ord(c) <= 0x202E for c in out)
    out.encode()
    unsafe = {c for text in texts for c in text if c not in out}
    if not unsafe & set("\n\t"):
        assert cell_len(out) <= sum(cell_len(text) for text in texts)


def test_sequences_are_broken() -> None:
    assert guarded("a\x1b]52;c;UUFB\x07b") == "a]52;c;UUFBb"
    assert guarded("\x9b31m\u202e\ud800") == "31m\ufffd"
