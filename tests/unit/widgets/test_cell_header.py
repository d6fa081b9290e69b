"""What the first row of a cell says."""

import json

import pytest

from oi_tui.file_changes.snapshots import ChangeSet, FileChange
from oi_tui.messages import Message
from oi_tui.themes import THEMES
from oi_tui.widgets.conversation.cells.cell import CellBlock
from oi_tui.widgets.conversation.inline_table import InlineTable
from oi_tui.widgets.conversation.rows import Row
from oi_tui.widgets.conversation.styles import get_styles
from oi_tui.widgets.truncate import measure_width


def header(cell: CellBlock) -> str:
    return cell.rows(80, get_styles(THEMES[0]))[0].plain


def test_a_running_cell_says_which_of_its_lines_runs() -> None:
    code = "a = 1\nb = 2\nc = 3\n"
    message = Message(role="assistant", type="code", format="python", content=code, state="running")
    cell = CellBlock(message, 1)
    assert "line" not in header(cell)
    cell.reach_line(2)
    assert header(cell).endswith(" · line 2 of 3")
    cell.update_message(message.replace(state="finished", seconds=1.0))
    assert "line" not in header(cell)


def test_a_cell_of_one_line_does_not_count() -> None:
    cell = CellBlock(Message(role="assistant", type="code", format="python", content="a", state="running"), 1)
    cell.reach_line(1)
    assert "line" not in header(cell)


class Clock:
    """Stands for the time module: its seconds pass when the test says so."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def monotonic(self) -> float:
        return self.seconds


def test_a_run_of_ten_seconds_or_more_counts_whole_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr("oi_tui.widgets.conversation.cells.cell.time", clock)
    cell = CellBlock(Message(role="assistant", type="code", format="python", content="a", state="running"), 1)
    clock.seconds += 9.875
    assert cell.clock == "9.9 s"
    clock.seconds += 1
    assert (cell.clock, header(cell).endswith("running 10 s")) == ("10 s", True)
    clock.seconds += 49.25
    assert cell.clock == "1 min 00 s"


def test_a_line_that_runs_for_long_shows_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, look = Clock(), get_styles(THEMES[0])
    monkeypatch.setattr("oi_tui.widgets.conversation.cells.cell.time", clock)
    monkeypatch.setattr("oi_tui.widgets.conversation.cells.cell_code.time", clock)
    code = "a = 1\nfit(a)\n" + "x" * 75 + "\n"
    message = Message(role="assistant", type="code", format="python", content=code, state="running")
    cell = CellBlock(message, 1)

    def line(number: int) -> Row:
        rows = cell.rows(80, look)
        assert len(rows) == 4
        assert all(measure_width(row.plain) <= 80 for row in rows)
        return rows[number]

    clock.seconds += 5
    cell.reach_line(2)
    clock.seconds += 1.9
    assert line(2).plain == "> 2  fit(a)"
    clock.seconds += 0.2
    shown = line(2)
    assert shown.plain == "> 2  fit(a)".ljust(76) + "2 s"
    assert shown.text == "fit(a)"
    # Within a second nothing of it is painted again.
    clock.seconds += 0.5
    cell.reach_line(2)
    assert line(2) is shown
    clock.seconds += 73
    assert line(2).plain.endswith("  1 min 15 s")
    # While the program waits for an answer, the time says nothing.
    cell.prompt = "Name? "
    assert line(2).plain == "> 2  fit(a)"
    cell.prompt = None
    cell.reach_line(1)
    assert line(1).plain == "> 1  a = 1"
    # A line without room for it stays as it is.
    cell.reach_line(3)
    clock.seconds += 30
    assert line(3).plain == "> 3  " + "x" * 75


def test_long_code_folds_itself_once_it_ran_without_an_error() -> None:
    look = get_styles(THEMES[0])
    code = "".join(f"step({n})\n" for n in range(60))
    message = Message(role="assistant", type="code", format="python", content=code, state="running")
    cell = CellBlock(message, 1)
    assert len(cell.rows(80, look)) == 61
    cell.update_message(message.replace(state="finished", seconds=1.0))
    rows = cell.rows(80, look)
    assert len(rows) == 2
    assert "60 lines of code" in rows[1].plain
    assert cell.fold()
    assert len(cell.rows(80, look)) == 61


def test_code_that_failed_or_is_short_stays_open() -> None:
    look = get_styles(THEMES[0])
    for count, state in ((60, "failed"), (60, "interrupted"), (24, "finished")):
        code = "".join(f"step({n})\n" for n in range(count))
        message = Message(role="assistant", type="code", format="python", content=code, state="running")
        cell = CellBlock(message, 1)
        cell.update_message(message.replace(state=state, seconds=1.0))  # type: ignore[arg-type]
        assert len(cell.rows(80, look)) >= count + 1


def test_the_mark_has_the_colour_of_the_state() -> None:
    look = get_styles(THEMES[0])
    message = Message(role="assistant", type="code", format="python", content="a", state="queued")
    states = ("queued", "running", "finished", "failed", "lost", "interrupted", "rejected", "skipped")
    styles = {state: CellBlock(message.replace(state=state), 1).mark_style(look) for state in states}
    assert styles["finished"] == look.success
    assert styles["failed"] == styles["lost"] == look.error
    assert len({str(style) for style in styles.values()}) == 5


def folded_cell(changes: tuple[FileChange, ...] = (), tables: tuple[tuple[str, int], ...] = ()) -> CellBlock:
    """A cell of 60 lines that folded after it ran, with the files it changed and the tables it showed."""
    code = "".join(f"step({n})\n" for n in range(60))
    cell = CellBlock(
        Message(role="assistant", type="code", format="python", content=code, state="finished"), 1
    )
    cell.files = ChangeSet(cell.key, "/home/ada", changes)
    for name, rows in tables:
        table = InlineTable.read(
            json.dumps(
                {"key": "t", "name": name, "index": "", "columns": [["a", "int64", True]], "rows": []}
                | {"total": rows, "width": 4, "head": 0}
            )
        )
        assert table is not None
        cell.output.begin_table(table)
        cell.output.feed("a\r\n")
        cell.output.end_table()
    return cell


def test_a_folded_cell_says_what_it_made() -> None:
    look = get_styles(THEMES[0])
    changes = (
        FileChange("sales.csv", "changed"),
        FileChange("plot.png", "created"),
        FileChange("old.txt", "deleted"),
    )
    cell = folded_cell(changes, (("df", 120), ("", 3)))
    rows = [row.plain for row in cell.rows(120, look)]
    assert rows[1].endswith(
        " · made plot.png, table df 120x4, table 3x4 · changed sales.csv · deleted old.txt"
    )
    assert not any(row.startswith("│ files") for row in rows)
    assert cell.fold()
    rows = [row.plain for row in cell.rows(120, look)]
    assert rows[-1] == "│ files  ~ sales.csv   + plot.png   - old.txt"
    assert not any("made plot.png" in row for row in rows)


def test_what_a_folded_cell_made_fits_its_line_and_is_counted() -> None:
    look = get_styles(THEMES[0])
    changes = tuple(FileChange(f"a rather long name {n}.png", "created") for n in range(30))
    cell = folded_cell(changes)
    for width in (30, 60, 80, 110):
        rows = [row.plain for row in cell.rows(width, look)]
        assert all(measure_width(row) <= width for row in rows)
        # Where some are only counted, the line about files says more.
        assert any(row.startswith("│ files") for row in rows)
    assert "made a rather long name 0.png and 29 more" in cell.rows(80, look)[1].plain
    assert folded_cell().rows(80, look)[1].plain == "▸ 60 lines of code · f unfolds"


def test_a_name_with_control_characters_is_cleaned_in_the_folded_line() -> None:
    row = folded_cell((FileChange("a\x1b[2J\nb.png", "created"),)).rows(80, get_styles(THEMES[0]))[1]
    assert "\x1b" not in row.plain
    assert "\n" not in row.plain
