"""What a program printed, as rows: where its lines are broken."""

from oi_tui.themes import DARK
from oi_tui.widgets.conversation.output import Output
from oi_tui.widgets.conversation.styles import Styles, get_styles

CODE = "raise ValueError(first_argument + second_argument)"


def make_styles() -> Styles:
    return get_styles(DARK, colourful=True)


def draw_rows(output: Output, width: int) -> list[str]:
    return [row.plain for row in output.rows(width, make_styles(), live=False)]


def test_code_with_marks_under_it_is_broken_as_the_marks_are() -> None:
    output = Output()
    output.feed(f"{CODE}\n")
    assert draw_rows(output, 32) == ["│ raise", "│ ValueError(first_argument +", "│ second_argument)"]
    output.feed(f"{' ' * 34}^^^^^^^^^^^^^^^\n")
    assert draw_rows(output, 32) == [
        "│ raise ValueError(first_argumen",
        "│ t + second_argument)",
        f"│ {' ' * 30}",
        "│     ^^^^^^^^^^^^^^^",
    ]


def test_a_line_that_grows_is_broken_anew() -> None:
    output = Output()
    output.feed("Reading the first")
    assert draw_rows(output, 24) == ["│ Reading the first"]
    output.feed(" measurements\nDone\n")
    assert draw_rows(output, 24) == ["│ Reading the first", "│ measurements", "│ Done"]
