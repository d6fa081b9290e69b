"""What the first row of a cell says."""

from oi_tui.messages import Message
from oi_tui.themes import THEMES
from oi_tui.widgets.conversation.cell import CellBlock
from oi_tui.widgets.conversation.styles import look_of


def header(cell: CellBlock) -> str:
    return cell.rows(80, look_of(THEMES[0]))[0].plain


def test_a_running_cell_says_which_of_its_lines_runs() -> None:
    code = "a = 1\nb = 2\nc = 3\n"
    message = Message(role="assistant", type="code", format="python", content=code, state="running")
    cell = CellBlock(message, 1)
    assert "line" not in header(cell)
    cell.active_line = 2
    assert header(cell).endswith(" · line 2 of 3")
    cell.take(message.but(state="finished", seconds=1.0))
    assert "line" not in header(cell)


def test_a_cell_of_one_line_does_not_count() -> None:
    cell = CellBlock(Message(role="assistant", type="code", format="python", content="a", state="running"), 1)
    cell.active_line = 1
    assert "line" not in header(cell)
