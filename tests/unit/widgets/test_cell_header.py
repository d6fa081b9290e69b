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


def test_long_code_folds_itself_once_it_ran_without_an_error() -> None:
    look = look_of(THEMES[0])
    code = "".join(f"step({n})\n" for n in range(60))
    message = Message(role="assistant", type="code", format="python", content=code, state="running")
    cell = CellBlock(message, 1)
    assert len(cell.rows(80, look)) == 61
    cell.take(message.but(state="finished", seconds=1.0))
    rows = cell.rows(80, look)
    assert len(rows) == 2
    assert "60 lines of code" in rows[1].plain
    assert cell.fold()
    assert len(cell.rows(80, look)) == 61


def test_code_that_failed_or_is_short_stays_open() -> None:
    look = look_of(THEMES[0])
    for count, state in ((60, "failed"), (60, "interrupted"), (24, "finished")):
        code = "".join(f"step({n})\n" for n in range(count))
        message = Message(role="assistant", type="code", format="python", content=code, state="running")
        cell = CellBlock(message, 1)
        cell.take(message.but(state=state, seconds=1.0))  # type: ignore[arg-type]
        assert len(cell.rows(80, look)) >= count + 1


def test_the_mark_has_the_colour_of_the_state() -> None:
    look = look_of(THEMES[0])
    message = Message(role="assistant", type="code", format="python", content="a", state="queued")
    states = ("queued", "running", "finished", "failed", "lost", "interrupted", "rejected", "skipped")
    styles = {state: CellBlock(message.but(state=state), 1).mark_style(look) for state in states}
    assert styles["finished"] == look.success
    assert styles["failed"] == styles["lost"] == look.error
    assert len({str(style) for style in styles.values()}) == 5
