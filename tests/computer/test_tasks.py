"""Tasks that a person would give, done in real programs by short code, and judged by what these got."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import programs
from tests.computer.desktop import PATIENCE, until
from tests.computer.gtk import Cells, desktop, dialog, needs_desktop

pytestmark = needs_desktop

#: Rows of a list that is longer than its window.
ROWS = tuple(f"Row {number}" for number in range(1, 61))


@dataclass(frozen=True)
class Task:
    """A dialog, the element that must be there first, the code, and what the dialog says at its end."""

    name: str
    dialog: tuple[str, ...]
    first: str
    code: str
    output: str
    status: int = 0


TASKS = (
    Task("press a button", ("--question", "--text=Go on?"), "'Yes'", "computer.mouse.click('Yes')", ""),
    Task("refuse", ("--question", "--text=Go on?"), "'No'", "computer.mouse.click('No')", "", 1),
    Task(
        "press a button by its role",
        ("--question", "--text=Go on?", "--ok-label=Do it", "--cancel-label=Leave it"),
        "'Do it'",
        "computer.mouse.click(role='button', name='do it')",
        "",
    ),
    Task("close by a key", ("--info", "--text=Done."), "'OK'", "computer.keyboard.press('enter')", ""),
    Task("cancel by a key", ("--entry", "--text=Name"), "(focused)", "computer.keyboard.press('esc')", "", 1),
    Task(
        "answer a question",
        ("--entry", "--text=Name"),
        "(focused)",
        "computer.mouse.click(role='text', name='Name')\n"
        "computer.keyboard.write('Zoë €', delay=0)\ncomputer.mouse.click('OK')",
        "Zoë €\n",
    ),
    Task(
        "replace a part of a text",
        ("--entry", "--text=File", "--entry-text=report-old.txt"),
        "(focused)",
        "computer.mouse.click(role='text')\nk = computer.keyboard\n"
        "k.press('end', 'left', 'left', 'left', 'left', interval=0)\n"
        "k.press('backspace', presses=3, interval=0)\nk.write('new', delay=0)\nk.press('enter')",
        "report-new.txt\n",
    ),
    Task(
        "fill a form",
        ("--forms", "--text=Customer", "--add-entry=First", "--add-entry=Last"),
        "'OK'",
        "for name, text in {'Last': 'Lee', 'First': 'Ann'}.items():\n"
        "    computer.mouse.click(role='text', name=name)\n    computer.keyboard.write(text, delay=0)\n"
        "computer.mouse.click('OK')",
        "Ann|Lee\n",
    ),
    Task(
        "choose from a list",
        ("--list", "--column=Drink", "Tea", "Milk", "Water"),
        "'Milk'",
        "computer.mouse.click('Milk')\ncomputer.mouse.click('OK')",
        "Milk\n",
    ),
    Task(
        "double-click an entry",
        ("--list", "--column=Drink", "Tea", "Milk", "Water"),
        "'Water'",
        "computer.mouse.double_click('Water')",
        "Water\n",
    ),
    Task(
        "scroll to a text",
        ("--list", "--column=Row", "--width=300", "--height=300", *ROWS),
        "'Row 1'",
        "import time\ncomputer.mouse.move('Row 1')\n"
        "for _ in range(100):\n"
        "    if found := [e for e in computer.display.elements('Row 50') if e.center[1] < 520]: break\n"
        "    computer.mouse.scroll(-6)\n    time.sleep(0.02)\n"
        "computer.mouse.click(found[0])\ncomputer.mouse.click('OK')",
        "Row 50\n",
    ),
    Task(
        "move a slider with keys",
        ("--scale", "--text=Size", "--value=40", "--max-value=100"),
        "'OK'",
        "computer.mouse.click(role='slider')\n"
        "computer.keyboard.press('home', *['right'] * 7, interval=0)\n"
        "computer.mouse.click('OK')",
        "7\n",
    ),
    Task(
        "drag a slider to its end",
        ("--scale", "--text=Size", "--value=0", "--max-value=100", "--width=400"),
        "'OK'",
        "r = computer.display.elements(role='slider')[0].region\ny = r.y + r.height - 12\n"
        "computer.mouse.drag((r.x + 12, y), (r.x + r.width + 60, y))\ncomputer.mouse.click('OK')",
        "100\n",
    ),
    Task(
        "write several lines",
        ("--text-info", "--editable"),
        "'OK'",
        "computer.mouse.click(role='text')\ncomputer.keyboard.write('one\\ntwo', delay=0)\n"
        "computer.mouse.click('OK')",
        "one\ntwo",
    ),
    Task(
        "enter a password",
        ("--password",),
        "(hidden)",
        "computer.mouse.click(role='password')\ncomputer.keyboard.write('s3cret', delay=0)\n"
        "assert 's3cret' not in str(computer.display.elements())\ncomputer.mouse.click('OK')",
        "s3cret\n",
    ),
)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cells]:
    with desktop(tmp_path_factory.mktemp("cells")) as cells:
        yield cells


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name.replace(" ", "-"))
def test_a_task_in_a_dialog_is_done(desk: Cells, task: Task) -> None:
    with dialog("--title=Task", *task.dialog) as process:
        desk.wait_for(task.first)
        desk.run(task.code)
        assert process.communicate(timeout=PATIENCE)[0] == task.output
        assert process.returncode == task.status


def test_a_file_is_chosen_by_its_path(desk: Cells, tmp_path: Path) -> None:
    file = tmp_path / "invoice.txt"
    file.touch()
    with dialog("--file-selection", "--title=Open") as process:
        desk.wait_for("'OK'")
        # The first sign opens the field for a path, whose first sign is typed already.
        desk.run("computer.keyboard.write('/', delay=0)")
        # Places of the list beside it are no labels of the field.
        desk.wait_for("text '' = '/' (focused)")
        desk.run(f"computer.keyboard.write({str(file)[1:]!r}, interval=0.01, delay=0)")
        desk.wait_for(f"= '{file}'")
        desk.run("computer.mouse.click(role='button', name='OK')")
        assert process.communicate(timeout=PATIENCE)[0] == f"{file}\n"


def test_a_file_gets_another_name_in_a_dialog(desk: Cells, tmp_path: Path) -> None:
    with dialog("--file-selection", "--save", "--title=Save", f"--filename={tmp_path}/old.txt") as process:
        desk.wait_for("'old.txt'")
        desk.run("e = [e for e in computer.display.elements(role='text') if e.value == 'old.txt']")
        desk.run("computer.mouse.click(e[0])\ncomputer.keyboard.hotkey('ctrl', 'a', interval=0)")
        desk.run("computer.keyboard.write('new.txt', delay=0)\ncomputer.keyboard.press('enter')")
        assert process.communicate(timeout=PATIENCE)[0] == f"{tmp_path}/new.txt\n"


def test_an_answer_is_copied_from_one_window_into_another(desk: Cells) -> None:
    with dialog("--entry", "--title=From", "--text=From", "--entry-text=42 apples") as source:
        desk.wait_for("'42 apples'")
        with dialog("--entry", "--title=Into", "--text=Into") as target:
            desk.wait_for("label 'Into'")
            desk.run("computer.os.activate('From')")
            desk.wait_for("'42 apples'")
            desk.run("text = computer.display.elements(role='text', name='From')[0].value")
            desk.run("computer.os.activate('Into')")
            desk.wait_for("label 'Into'")
            desk.run("computer.mouse.click(role='text')\ncomputer.keyboard.write(text + '\\n', delay=0)")
            assert target.communicate(timeout=PATIENCE)[0] == "42 apples\n"
        assert source.poll() is None


def test_a_command_is_run_in_a_terminal(desk: Cells, tmp_path: Path) -> None:
    programs.need("xterm")
    terminal = subprocess.Popen(["xterm", "-T", "Terminal", "-e", "sh"], cwd=tmp_path)
    try:
        until(lambda: "Terminal" in desk.run("print(computer.os.active_window())"), "the terminal")
        desk.run("computer.keyboard.write('echo done > made.txt; exit\\n', delay=0)")
        terminal.wait(PATIENCE)
        assert (tmp_path / "made.txt").read_text() == "done\n"
    finally:
        terminal.kill()
        terminal.wait()
