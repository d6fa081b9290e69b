"""All filters of a line act as one, and keep what they made."""

from rich.segment import Segment
from textual.app import App
from textual.color import Color
from textual.filter import LineFilter
from textual.strip import Strip

from oi_tui.app import OiTui
from oi_tui.terminal.filter_chain import FilterChain

BLACK = Color(0, 0, 0)


class Marks(LineFilter):
    """Puts a mark behind each text."""

    def __init__(self, mark: str) -> None:
        super().__init__()
        self.mark = mark

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(text + self.mark, style, control) for text, style, control in segments]


def open_nothing() -> None:
    raise AssertionError("nothing is opened before the first frame")


def test_the_filters_act_in_their_order() -> None:
    chain = FilterChain([Marks("a"), Marks("b")])
    assert chain.apply([Segment("x"), Segment("y")], BLACK) == [Segment("xab"), Segment("yab")]
    line = [Segment("x")]
    assert FilterChain([]).apply(line, BLACK) is line


def test_a_line_that_is_drawn_again_is_the_same_object_and_no_filter_runs_again() -> None:
    app = OiTui(open_nothing)  # type: ignore[arg-type]
    strip = Strip([Segment("what \x1b[31m is shown")])
    drawn = [strip, strip]
    for number in (0, 1):
        for line_filter in app.get_line_filters():
            drawn[number] = drawn[number].apply_filter(line_filter, BLACK)
    assert drawn[0] is drawn[1]
    assert "\x1b" not in drawn[0].text


def test_filters_that_change_while_it_runs_take_effect() -> None:
    app = OiTui(open_nothing)  # type: ignore[arg-type]
    before = app.get_line_filters()
    assert app.get_line_filters() == before
    # As Textual does for another theme.
    app._refresh_truecolor_filter(app.ansi_theme_light)
    after = app.get_line_filters()
    assert after != before
    app._filters.append(Marks("!"))
    (chain,) = app.get_line_filters()
    assert chain.apply([Segment("x")], BLACK)[0].text == "x!"
    assert chain.filters[: len(App.get_line_filters(app))] == tuple(App.get_line_filters(app))  # type: ignore[attr-defined]
