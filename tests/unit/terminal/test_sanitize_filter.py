"""The last guard lets no character through that could control the terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from oi_tui.terminal.sanitize_filter import META, SanitizeFilter

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


FAMILY = "👩\u200d👩\u200d👧"


def test_emoji_keep_their_joiners_beside_something_unsafe() -> None:
    assert guarded(f"\x1b{FAMILY}") == FAMILY
    assert guarded(f"{FAMILY}\x1b") == FAMILY
    assert guarded(f"\x1b{FAMILY} and {FAMILY}") == f"{FAMILY} and {FAMILY}"


def test_a_joiner_that_joins_no_emoji_is_left_out() -> None:
    assert guarded(f"\x1b{FAMILY}x\u200dy") == f"{FAMILY}x"
    assert "\u200d" not in guarded("\x1b👩\u200d")
    assert "\u200d" not in guarded("\u200d👩 a\u200d👩")


def test_what_would_leave_the_line_is_left_out() -> None:
    assert guarded("a\nb") == "ab"
    assert guarded("a\tb") == "ab"
    assert guarded(f"a\n{FAMILY}") == f"a{FAMILY}"


IMAGE = "\U0010eeee\u0305\u0305"


def guarded_segment(text: str, style: Style | None) -> Segment:
    [before, segment] = SanitizeFilter().apply([Segment("ok"), Segment(text, style)], BLACK)
    assert before == Segment("ok")
    return segment


@pytest.mark.parametrize("style", [None, Style(bold=True), Style.from_meta({"other": "#010203"})])
def test_foreign_text_cannot_stand_for_an_image(style: Style | None) -> None:
    assert guarded_segment(f"a{IMAGE}\x1b", style) == Segment("a\ufffd\u0305\u0305", style)


def test_an_image_of_ours_keeps_its_place_and_gets_its_colour() -> None:
    style = Style(bold=True) + Style.from_meta({META: "#010203"})
    segment = guarded_segment(f"{IMAGE}\x1b", style)
    assert segment.text == IMAGE
    assert segment.style is not None
    assert segment.style.bold
    assert segment.style.color is not None
    assert segment.style.color.name == "#010203"
