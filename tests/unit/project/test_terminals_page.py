"""The page about terminals shows what `make terminals` saw, and what it starts in them works."""

import json
import sys
from pathlib import Path

from tests.processes import wait_until
from tests.real_terminals import __main__ as trial
from tests.real_terminals import relay
from tests.terminal import Terminal


def test_each_terminal_of_the_page_has_a_row_and_an_image() -> None:
    page = trial.PAGE.read_text(encoding="utf-8")
    table = page.partition(trial.BEGIN)[2].partition(trial.END)[0]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| [")]
    names = [row[0].split("](")[0][3:].rpartition(" ")[0] for row in rows]
    assert names
    assert set(names) <= {kind.name for kind in trial.KINDS}
    for row in rows:
        assert len(row) == len(trial.CHECKS) + 1
        assert (trial.PAGE.parent / row[0].split("](")[1].rstrip(")")).is_file()


def test_a_new_row_takes_the_place_of_the_last_one(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{trial.BEGIN}\n{trial.END}\nafter\n", encoding="utf-8")
    cells = ["yes"] * len(trial.CHECKS)
    for name, number in (("kitty", "1"), ("xterm", "1"), ("kitty", "2")):
        trial.write_row(page, name, number, cells)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    row = f"](../terminals/kitty.png) | {' | '.join(cells)} |"
    assert [line for line in text.splitlines() if "kitty" in line] == [f"| [kitty 2{row}"]
    assert text.index("[xterm 1]") < text.index("[kitty 2]")


def test_the_relay_measures_passes_on_and_writes_down(tmp_path: Path) -> None:
    script = "import os; print('got', input()); print(*reversed(os.get_terminal_size(0)))"
    command = (sys.executable, relay.__file__, str(tmp_path), sys.executable, "-c", script)
    # The screen of a `Terminal` cannot draw all of these characters; it is not asked for here.
    with Terminal(command=command, columns=70, rows=20) as terminal:
        for asked in range(1, len(relay.WIDE) + 1):
            assert wait_until(lambda: terminal.raw.count(b"\x1b[6n") == asked, 30)  # noqa: B023
            terminal.send("\x1b[1;3R")
        assert wait_until((tmp_path / "from_terminal").exists, 30)
        terminal.send("hello\r")
        terminal.wait_exit()
    assert json.loads((tmp_path / "widths").read_text(encoding="utf-8")) == dict.fromkeys(relay.WIDE, 2)
    assert (tmp_path / "from_terminal").read_bytes() == b"hello\r"
    written = (tmp_path / "to_terminal").read_bytes()
    assert b"got hello" in written
    assert b"20 70" in written
    assert (tmp_path / "size").read_text().startswith("70 20 ")
