"""Tasks that a person would give, done in real programs by a scripted model, and judged by what these got."""

import http.server
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import programs
from tests.computer.desktop import TIMEOUT, until
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
    Task(
        "tick a box in a row",
        ("--list", "--checklist", "--column=Pick", "--column=Item", "FALSE", "Tea", "FALSE", "Milk"),
        "'Milk'",
        "d, m = computer.display, computer.mouse\n"
        "m.click(d.elements('Pick')[0].center[0], d.elements('Milk')[0].center[1])\nm.click('OK')",
        "Milk\n",
    ),
    Task(
        "choose from a menu of values",
        ("--forms", "--text=Order", "--add-combo=Size", "--combo-values=Small|Medium|Large"),
        "combo box",
        "import time\ncomputer.mouse.click(role='combo box')\n"
        "for _ in range(200):\n"
        "    if computer.display.elements('Medium', 'menu item'): break\n"
        "    time.sleep(0.02)\n"
        "computer.mouse.click(role='menu item', name='Medium')\ncomputer.mouse.click('OK')",
        "Medium\n",
    ),
    Task(
        "take the day before",
        ("--calendar", "--text=When", "--day=3", "--month=5", "--year=2026", "--date-format=%Y-%m-%d"),
        "calendar",
        "computer.mouse.click(role='button', name='OK')",
        "2026-05-03\n",
    ),
    Task(
        "write over what a triple click selects",
        ("--entry", "--text=Name", "--entry-text=one two three"),
        "(focused)",
        "computer.mouse.triple_click(role='text', name='Name')\ncomputer.keyboard.write('four\\n', delay=0)",
        "four\n",
    ),
    Task(
        "cut out a word",
        ("--entry", "--text=Name", "--entry-text=one two"),
        "(focused)",
        "k = computer.keyboard\nk.press('home', interval=0)\nk.hotkey('ctrl', 'shift', 'right')\n"
        "k.press('delete', 'enter', interval=0)",
        " two\n",
    ),
    Task(
        "use the actions that models were trained on",
        ("--entry", "--text=Name", "--entry-text=old"),
        "(focused)",
        "x, y = computer.display.elements(role='text')[0].center\n"
        "computer.act([{'action': 'triple_click', 'coordinate': [x, y]}])\n"
        "computer.act({'action': 'type', 'text': 'new'})\n"
        "computer.act([{'type': 'keypress', 'keys': ['ENTER']}])",
        "new\n",
    ),
    Task(
        "read a code and type it below",
        ("--entry", "--text=Type 4711 here"),
        "(focused)",
        "code = [e.name for e in computer.display.elements(role='label')][0].split()[1]\n"
        "computer.keyboard.write(code + '\\n', delay=0)",
        "4711\n",
    ),
)
#: A page with a table, a form and a chart.
PAGE = b"""<!doctype html><title>Shop</title><h1>Orders</h1>
<table><tr><th>Item</th><th>Price</th></tr><tr><td>Tea</td><td>3</td></tr><tr><td>Milk</td><td>2</td></tr></table>
<form onsubmit="fetch('/sent?' + n.value + '+' + s.value); return false">
<label for=n>Name</label><input id=n><label for=s>Street</label><input id=s><button>Send</button></form>
<svg width=300 height=100><rect x=0 y=60 width=80 height=40 fill="#ff0000"></rect>
<rect x=100 y=10 width=80 height=90 fill="#00ff00"></rect>
<rect x=200 y=80 width=80 height=20 fill="#0000ff"></rect></svg>
<div style="height: 3000px"></div><a href=/far>Far below</a>"""


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cells]:
    with desktop(tmp_path_factory.mktemp("cells")) as cells:
        yield cells


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name.replace(" ", "-"))
def test_a_task_in_a_dialog_is_done(cells: Cells, own_world: Path, task: Task) -> None:
    if "double_click" in task.code or "triple_click" in task.code:
        # On a busy machine the second click comes later than the 0.4 s that GTK waits for it.
        settings = own_world / ".config" / "gtk-3.0" / "settings.ini"
        settings.parent.mkdir(parents=True)
        settings.write_text("[Settings]\ngtk-double-click-time = 10000\n")
    with dialog("--title=Task", *task.dialog) as process:
        cells.wait_for(task.first)
        cells.turn(task.code)
        assert process.communicate(timeout=TIMEOUT)[0] == task.output
        assert process.returncode == task.status


def test_a_file_is_chosen_by_its_path(cells: Cells, own_world: Path, tmp_path: Path) -> None:
    file = tmp_path / "invoice.txt"
    file.touch()
    with dialog("--file-selection", "--title=Open") as process:
        cells.wait_for("'OK'")
        # The first sign opens the field for a path, whose first sign is typed already.
        cells.turn("computer.keyboard.write('/', delay=0)")
        # Places of the list beside it are no labels of the field.
        cells.wait_for("text '' = '/' (focused)")
        cells.turn(f"computer.keyboard.write({str(file)[1:]!r}, interval=0.01, delay=0)")
        cells.wait_for(f"= '{file}'")
        cells.turn("computer.mouse.click(role='button', name='OK')")
        assert process.communicate(timeout=TIMEOUT)[0] == f"{file}\n"


def test_a_file_gets_another_name_in_a_dialog(cells: Cells, own_world: Path, tmp_path: Path) -> None:
    with dialog("--file-selection", "--save", "--title=Save", f"--filename={tmp_path}/old.txt") as process:
        cells.wait_for("'old.txt'")
        cells.turn("e = [e for e in computer.display.elements(role='text') if e.value == 'old.txt']")
        cells.turn("computer.mouse.click(e[0])\ncomputer.keyboard.hotkey('ctrl', 'a', interval=0)")
        cells.turn("computer.keyboard.write('new.txt', delay=0)\ncomputer.keyboard.press('enter')")
        assert process.communicate(timeout=TIMEOUT)[0] == f"{tmp_path}/new.txt\n"


def test_an_answer_is_copied_from_one_window_into_another(cells: Cells, own_world: Path) -> None:
    with dialog("--entry", "--title=From", "--text=From", "--entry-text=42 apples") as source:
        cells.wait_for("'42 apples'")
        with dialog("--entry", "--title=Into", "--text=Into") as target:
            cells.wait_for("label 'Into'")
            cells.turn("computer.os.activate('From')")
            cells.wait_for("'42 apples'")
            cells.turn("text = computer.display.elements(role='text', name='From')[0].value")
            cells.turn("computer.os.activate('Into')")
            cells.wait_for("label 'Into'")
            cells.turn("computer.mouse.click(role='text')\ncomputer.keyboard.write(text + '\\n', delay=0)")
            assert target.communicate(timeout=TIMEOUT)[0] == "42 apples\n"
        assert source.poll() is None


def test_a_command_is_run_in_a_terminal(cells: Cells, own_world: Path, tmp_path: Path) -> None:
    programs.need("xterm")
    terminal = subprocess.Popen(["xterm", "-T", "Terminal", "-e", "sh"], cwd=tmp_path)
    try:
        until(lambda: "Terminal" in cells.run("print(computer.os.active_window())"), "the terminal")
        cells.turn("computer.keyboard.write('echo done > made.txt; exit\\n', delay=0)")
        terminal.wait(TIMEOUT)
        assert (tmp_path / "made.txt").read_text() == "done\n"
    finally:
        terminal.kill()
        terminal.wait()


class Pages(http.server.BaseHTTPRequestHandler):
    """Answers with the page, and keeps what was asked for."""

    def do_GET(self) -> None:
        asked = self.server.asked  # type: ignore[attr-defined]
        asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE if self.path == "/" else b"<h1>Far</h1>")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@dataclass(frozen=True)
class Web:
    """Cells with a browser at a page, and what its server was asked for."""

    cells: Cells
    folder: Path
    asked: list[str]


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    folder = tmp_path_factory.mktemp("pages")
    with (
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server,
        desktop(folder, sys.executable) as cells,
    ):
        asked: list[str] = []
        server.asked = asked  # type: ignore[attr-defined]
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            cells.run("computer.browser.setup(headless=True)")
            cells.run(f"def home(): computer.browser.go_to_url('http://127.0.0.1:{server.server_port}/')")
            yield Web(cells, folder, asked)
            cells.run("computer.browser.quit()")
        finally:
            server.shutdown()
            serving.join()


in_browser = pytest.mark.needs("chromium", "playwright")


@in_browser
def test_a_table_of_a_page_is_copied_into_a_csv(web: Web, own_world: Path) -> None:
    web.cells.turn(
        "home()\nimport csv\nrows = computer.browser.driver.locator('tr').all()\n"
        "with open('prices.csv', 'w', newline='') as file:\n"
        "    csv.writer(file).writerows([c.inner_text() for c in r.locator('th,td').all()] for r in rows)"
    )
    assert (web.folder / "prices.csv").read_text().split() == ["Item,Price", "Tea,3", "Milk,2"]


@in_browser
def test_a_form_of_a_page_is_filled_and_sent(web: Web, own_world: Path) -> None:
    fill = "b = computer.browser\nb.fill('Street', 'Hill')\nb.fill('Name', 'Ann')\nb.click('Send')"
    web.cells.turn("home()", fill)
    until(lambda: "/sent?Ann+Hill" in web.asked, "what the form sends")


@in_browser
def test_a_link_far_below_is_followed(web: Web, own_world: Path) -> None:
    web.cells.turn("home()\ncomputer.browser.click('Far below')\nassert computer.browser.read() == 'Far'")
    assert "/far" in web.asked


@in_browser
def test_the_highest_bar_of_a_chart_is_read_from_an_image(web: Web, own_world: Path) -> None:
    messages = web.cells.turn(
        "home()\nfrom PIL import Image\n"
        "colours = Image.open(computer.browser.screenshot('page.png')).convert('RGB').getcolors(1 << 20)\n"
        "bars = {c: n for n, c in colours if sorted(c) == [0, 0, 255]}\nprint(max(bars, key=bars.get))"
    )
    assert any(message.content.strip() == "(0, 255, 0)" for message in messages)


@in_browser
def test_what_a_page_says_is_typed_into_another_program(web: Web, own_world: Path) -> None:
    with dialog("--entry", "--title=Price", "--text=Price of milk") as process:
        web.cells.wait_for("(focused)")
        web.cells.turn(
            "home()\nprice = computer.browser.driver.locator('tr:has-text(\"Milk\") td').nth(1).inner_text()",
            "computer.keyboard.write(price + '\\n', delay=0)",
        )
        assert process.communicate(timeout=TIMEOUT)[0] == "2\n"


@in_browser
def test_a_wrong_name_on_a_page_is_seen_and_corrected(web: Web, own_world: Path) -> None:
    with pytest.raises(AssertionError, match=r"Submit.*is on the page 0 times"):
        web.cells.turn("home()\ncomputer.browser.click('Submit')")
    web.cells.turn("home()\ncomputer.browser.click('Send')")
