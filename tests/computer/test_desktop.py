"""Tasks on a virtual screen, done by code in Python cells."""

import ctypes
import itertools
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from oi_tui.computer import bridge
from oi_tui.computer.desktop import guard
from oi_tui.computer.desktop.base import Region
from oi_tui.computer.desktop.display import Display
from oi_tui.computer.desktop.guard import InputGuard
from oi_tui.computer.desktop.session import DesktopSession
from oi_tui.computer.desktop.x11 import spare_keys
from oi_tui.computer.desktop.x11.connection import load_library
from oi_tui.computer.desktop.x11.desktop import X11
from oi_tui.computer.errors import ComputerError
from oi_tui.computer_api import ComputerApi
from oi_tui.engine.events import TurnEnded
from oi_tui.engine.llm.base import Text
from oi_tui.engine.settings.profile import Profile
from oi_tui.messages import Displayed, LineReached, Printed, RunEnded
from oi_tui.runtimes import Computer
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.workspace import Workspace
from tests import programs
from tests.computer.desktop import TIMEOUT, Form, screen, start_screen, until
from tests.fakes import Llm, call

pytestmark = pytest.mark.needs("Xvfb", "openbox", "xdotool")


#: Moves until something stops it.
_MOVES = """
print("moving", flush=True)
for step in range(100_000):
    computer.mouse.move(10 + step % 100, 10)
"""


class ScreenCells:
    """A screen with a form, and Python with the computer object."""

    def __init__(self, computer: Computer, form: Form, display: str, api: ComputerApi) -> None:
        self.api = api
        self.display = display
        self.computer = computer
        self.form = form
        self.eyes = X11(display)
        self.images: list[str] = []

    def run(self, code: str) -> str:
        """Run a cell that must finish; return what it printed."""
        text, ended = self.tried(code)
        assert ended.state == "finished", text
        return text

    def tried(self, code: str) -> tuple[str, RunEnded]:
        """Run a cell; return what it printed, and how it ended."""
        reports = list(self.computer.run("python", code))
        self.images = [item.content for item in reports if isinstance(item, Displayed)]
        assert isinstance(reports[-1], RunEnded)
        text = "".join(item.text for item in reports if isinstance(item, Printed))
        return text.replace("\r\n", "\n").strip(), reports[-1]

    def pressed(self) -> list[str]:
        """The keys and buttons that are down, as the form saw it."""
        down: dict[str, None] = {}
        for line in self.form.lines:
            word, *rest = line.split()
            match word:
                case "key" | "ButtonPress":
                    down[rest[0]] = None
                case "up" | "ButtonRelease":
                    down.pop(rest[0], None)
        return list(down)


@pytest.fixture
def cells(own_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScreenCells]:
    try:
        import tkinter  # noqa: F401
    except ImportError:
        pytest.skip("tkinter is not installed here")
    with screen() as display:
        monkeypatch.setenv("DISPLAY", display)
        api = ComputerApi(
            lambda text, images: f"{text}: {len(images)}",
            lambda: computer.interrupt(),
            allows_unmasked=lambda why: True,
        )
        computer = Computer(cwd=tmp_path, declared=api.add_to(LANGUAGES))
        form = Form(tmp_path / "log", X11(display))
        try:
            yield ScreenCells(computer, form, display, api)
        finally:
            computer.close()
            api.close()
            form.close()


@pytest.mark.needs("xclip")
def test_a_screen_that_closes_fails_the_code_keeps_its_variables_and_can_come_back(
    own_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, display = start_screen()
    monkeypatch.setenv("DISPLAY", display)
    api = ComputerApi(lambda *_: "", lambda: computer.interrupt(), allows_unmasked=lambda why: True)
    computer = Computer(cwd=tmp_path, declared=api.add_to(LANGUAGES))
    try:
        text, reason = "", ""
        for report in computer.run("python", "kept = 6\ncomputer.keyboard.down('a')\n" + _MOVES):
            if isinstance(report, Printed) and "moving" in report.text:
                server.kill()
                server.wait()
            text += report.text if isinstance(report, Printed) else ""
            reason = (report.reason or "") if isinstance(report, RunEnded) else ""
        assert f"The display {display} has closed" in reason, text
        assert "XIO" not in text
        *_, ended = computer.run("python", "computer.mouse.move(5, 5)")
        assert isinstance(ended, RunEnded)
        assert f"The display {display} cannot be opened" in (ended.reason or "")
        *_, ended = computer.run("python", "print(repr(computer.clipboard.view()))")
        assert isinstance(ended, RunEnded)
        assert "The clipboard cannot be read: " in (ended.reason or "")
        server, _ = start_screen(display)
        reports = list(
            computer.run("python", "computer.mouse.move(7, 9)\nprint(kept, computer.mouse.position())")
        )
        assert "6 (7, 9)" in "".join(item.text for item in reports if isinstance(item, Printed))
    finally:
        computer.close()
        api.close()
        server.kill()
        server.wait()


class _ScreenParts(ctypes.Structure):
    """XRRScreenResources, as far as it is used."""

    _fields_ = [
        *(("timestamp", ctypes.c_ulong), ("changed", ctypes.c_ulong)),
        *(("count", ctypes.c_int), ("parts", ctypes.POINTER(ctypes.c_ulong))),
    ]


def _resize(desktop: X11, width: int, height: int) -> None:
    """Give the screen another size, as when a monitor is unplugged."""
    randr = load_library("Xrandr")
    assert randr is not None
    display, root = ctypes.c_void_p(desktop._display), ctypes.c_ulong(desktop._root)
    randr.XRRGetScreenResources.restype = ctypes.POINTER(_ScreenParts)
    parts = randr.XRRGetScreenResources(display, root)
    nothing = ctypes.c_ulong(0)
    randr.XRRSetCrtcConfig(
        display, parts, ctypes.c_ulong(parts[0].parts[0]), nothing, 0, 0, nothing, 1, None, 0
    )
    randr.XRRSetScreenSize(display, root, width, height, 400, 300)
    desktop._x.XSync(desktop._display, 0)


def test_a_screen_that_gets_smaller_is_seen_whole(cells: ScreenCells) -> None:
    assert cells.run("print(computer.display.size)") == "(1280, 800)"
    _resize(cells.eyes, 1000, 700)
    code = "seen = computer.display.view(screen=-1, active_app_only=False, show=False)\n"
    assert cells.run(f"{code}print(computer.display.size, seen.width, seen.height)") == "(1000, 700) 1000 700"


@pytest.mark.slow
@pytest.mark.parametrize("stops", [True, False], ids=["escape", "nobody"])
def test_a_screen_that_hangs_fails_the_code_keeps_its_variables_and_holds_nothing_down_later(
    stops: bool, own_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, display = start_screen()
    monkeypatch.setenv("DISPLAY", display)
    eyes = X11(display)
    code, _ = eyes.key_code("a")

    def is_held() -> bool:
        keys = (ctypes.c_ubyte * 32)()
        eyes._x.XQueryKeymap(eyes._display, keys)
        return bool(keys[code // 8] & 1 << code % 8)

    api = ComputerApi(lambda *_: "", lambda: computer.interrupt(), allows_unmasked=lambda why: True)
    computer = Computer(cwd=tmp_path, declared=api.add_to(LANGUAGES))
    try:
        assert "6" in _read_print(computer, "kept = 6\ncomputer.keyboard.down('b')\nprint(kept)")[0]
        text, hung = "", 0.0
        for report in computer.run("python", "computer.keyboard.down('a')\n" + _MOVES):
            if isinstance(report, Printed):
                text += report.text
                if "moving" in text and not hung:
                    until(is_held, "the key")
                    server.send_signal(signal.SIGSTOP)
                    hung = time.monotonic()
                    if stops:
                        threading.Timer(0.5, computer.interrupt).start()
            if isinstance(report, RunEnded):
                ended = report
        if stops:
            assert ended.state == "interrupted", text
            assert time.monotonic() - hung < 4
        else:
            assert ended.state == "failed", text
            assert f"The display {display} does not answer" in (ended.reason or "")
        assert _read_print(computer, "print(kept)")[0] == "6"
        server.send_signal(signal.SIGCONT)
        until(lambda: not is_held(), "the release of the key")
        text, ended = _read_print(
            computer, "computer.mouse.move(7, 9)\nprint(kept, computer.mouse.position())"
        )
        assert text == "6 (7, 9)", ended
    finally:
        server.send_signal(signal.SIGCONT)
        computer.close()
        api.close()
        server.kill()
        server.wait()


_OPEN = """
from oi_tui.computer.desktop.x11.connection import X11Connection
from oi_tui.computer.errors import ComputerError
try:
    X11Connection(None, 1.0)
except ComputerError as error:
    print(error)
"""


def test_a_screen_that_ends_while_it_is_opened_does_not_end_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server, display = start_screen()
    address = Path(f"/tmp/.X11-unix/X{100_000 + os.getpid()}")
    monkeypatch.setenv("DISPLAY", f":{100_000 + os.getpid()}")

    def count_bytes(limit: float) -> tuple[float, str]:
        """Open the screen through a relay that ends after so many bytes; return their number and the text."""
        process = subprocess.Popen([sys.executable, "-c", _OPEN], stdout=subprocess.PIPE, text=True)
        count = 0.0
        near, _ = listening.accept()
        with near, socket.socket(socket.AF_UNIX) as far:
            far.connect(f"/tmp/.X11-unix/X{display.removeprefix(':')}")
            while count < limit:
                for ready in select.select([near, far], [], [])[0]:
                    data = ready.recv(int(min(limit - count, 65536)) if ready is far else 65536)
                    if not data:
                        limit = 0
                    (near if ready is far else far).sendall(data)
                    count += len(data) if ready is far else 0
        printed = process.communicate()[0]
        assert process.returncode == 0
        return count, printed

    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(address))
        listening.listen()
        try:
            whole, printed = count_bytes(float("inf"))
            assert printed == ""
            _, printed = count_bytes(whole - 1)
            assert "does not answer, so nothing is done there" in printed
        finally:
            address.unlink()
            server.terminate()
            server.wait()


def test_a_guard_ends_with_its_process_although_the_screen_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    server, display = start_screen()
    monkeypatch.setenv("DISPLAY", display)
    words = [sys.executable, guard.__file__, str(os.getpid())]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    try:
        assert process.stdout.readline() == b"ready\n"
        server.send_signal(signal.SIGSTOP)
        counts: list[str] = []

        def is_waiting() -> bool:
            """Whether it has waited for so long that it can only be for the screen."""
            counts.append(Path(f"/proc/{process.pid}/schedstat").read_text())
            return len(counts) > 30 and len(set(counts[-30:])) == 1

        until(is_waiting, "the guard to hang")
        process.stdin.close()
        assert process.wait(TIMEOUT) == 1
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        server.kill()
        server.wait()


def _read_print(computer: Computer, code: str) -> tuple[str, RunEnded]:
    """Run Python code; return what it printed, and how it ended."""
    *reports, ended = computer.run("python", code)
    assert isinstance(ended, RunEnded)
    return "".join(item.text for item in reports if isinstance(item, Printed)).strip(), ended


def test_a_form_is_filled_and_sent_with_mouse_and_keyboard(cells: ScreenCells) -> None:
    form = cells.form
    # Capital letters, signs, and characters that are on no key.
    cells.run(f"computer.mouse.click{form.entry}\ncomputer.keyboard.write('Ann {{Lee}} é € 日', delay=0)")
    cells.run("computer.keyboard.press('tab', 'space')")
    form.says("sent Ann {Lee} é € 日")
    assert cells.pressed() == []


@pytest.mark.needs("xclip")
def test_a_value_of_the_wrong_kind_is_named_in_a_sentence(cells: ScreenCells) -> None:
    for code, sentence in (
        ("computer.clipboard.copy(['a'])", "clipboard.copy needs a text, not ['a']."),
        ("computer.clipboard.copy('a\\ud800')", "The text has an invalid character, so nothing was copied."),
        ("computer.mouse.scroll('3')", "mouse.scroll needs a whole number, not '3'."),
        ("computer.mouse.scroll(1.5)", "mouse.scroll needs a whole number, not 1.5."),
    ):
        text, ended = cells.tried(code)
        assert ended.state == "failed"
        assert f"ComputerError: {sentence}" in text
    assert cells.run("computer.clipboard.copy(5)\nprint(computer.clipboard.view())") == "5"


def test_caps_lock_of_the_person_changes_no_text_and_stays_on(cells: ScreenCells) -> None:
    form = cells.form
    subprocess.run(["xdotool", "key", "Caps_Lock"], check=True)
    assert cells.eyes.set_caps_lock(True)
    cells.run(f"computer.mouse.click{form.entry}\ncomputer.keyboard.write('Ann lEE 1! é я', delay=0)")
    assert cells.eyes.set_caps_lock(True)
    cells.run("computer.keyboard.press('tab', 'space')")
    form.says("sent Ann lEE 1! é я")


@pytest.mark.needs("setxkbmap")
@pytest.mark.parametrize(
    ("layout", "group"),
    [
        ("de", 0),
        ("fr", 0),
        ("ru", 0),
        ("us,ru", 0),
        ("us,ru", 1),
        ("ru,us", 1),
        ("de,gr,fr", 2),
        ("us(dvorak)", 0),
        # Its signs ' " ~ ^ are dead keys.
        ("us(intl)", 0),
    ],
)
def test_text_is_typed_as_it_is_with_each_layout_of_the_keyboard(
    cells: ScreenCells, layout: str, group: int
) -> None:
    form = cells.form
    subprocess.run(["setxkbmap", layout], check=True)
    cells.eyes.set_layout(group)
    text = "Zy 19 éß Жук @{~^}'\"` λ"
    cells.run(f"computer.mouse.click{form.entry}\ncomputer.keyboard.write({text!r}, delay=0)")
    cells.run("computer.keyboard.press('tab', 'space')")
    form.says(f"sent {text}")
    # On to the entry, where this key goes to the beginning.
    cells.run("computer.keyboard.press('tab', 'tab')\ncomputer.keyboard.hotkey('ctrl', 'a')")
    cells.run("computer.keyboard.press('y', 'tab', 'space')")
    form.says(f"sent y{text}")
    assert cells.pressed() == []
    assert cells.eyes.set_layout(0) == group


#: More characters than a keyboard has free keys.
_MANY = "".join(map(chr, range(0x4E00, 0x4E00 + 60)))


@pytest.fixture
def dialog(cells: ScreenCells) -> Iterator["subprocess.Popen[str]"]:
    """A window of GTK with the keyboard; what is typed is printed after enter."""
    words = ["zenity", "--entry", "--title", "Your name"]
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    ) as process:
        try:
            until(
                lambda: any(item.active and item.title == "Your name" for item in cells.eyes.windows()),
                "the dialog",
            )
            yield process
        finally:
            process.kill()


def _type(desktop: X11, names: Iterable[str]) -> None:
    shift = desktop.key_code("Shift_L")[0]
    for name in names:
        code, shifted = desktop.key_code(name)
        keys = [shift, code] if shifted else [code]
        for key in keys:
            desktop.key(key, True)
        for key in reversed(keys):
            desktop.key(key, False)


@pytest.mark.slow
@pytest.mark.needs("zenity")
def test_a_window_that_reads_late_gets_every_character_that_is_on_no_key(
    cells: ScreenCells, dialog: "subprocess.Popen[str]"
) -> None:
    dialog.send_signal(signal.SIGSTOP)
    later = threading.Timer(2, dialog.send_signal, [signal.SIGCONT])
    later.start()
    _type(X11(cells.display), [*_MANY, "Return"])
    later.join()
    assert dialog.stdout
    assert dialog.stdout.readline().strip() == _MANY


@pytest.mark.needs("zenity")
def test_a_window_that_hangs_gets_no_other_characters_than_were_meant(
    cells: ScreenCells, dialog: "subprocess.Popen[str]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spare_keys, "_ANSWER_SECONDS", 0.2)
    dialog.send_signal(signal.SIGSTOP)
    with pytest.raises(ComputerError, match="'Your name' does not answer, so the rest is not typed"):
        _type(X11(cells.display), _MANY)
    # Another program may take up the keys that this one gave a meaning.
    assert X11(cells.display).key_code("ж")[0] > 0


@pytest.mark.slow
@pytest.mark.needs("xterm")
def test_a_window_that_cannot_say_what_it_has_read_gets_no_other_characters_however_late_it_reads(
    cells: ScreenCells, tmp_path: Path
) -> None:
    script = (
        f"read -r line; printf '%s' \"$line\" >{tmp_path}/line.new; mv {tmp_path}/line.new {tmp_path}/line"
    )
    words = ["xterm", "-u8", "-T", "Old terminal", "-e", "sh", "-c", script]
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    with subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL) as terminal:
        try:
            until(
                lambda: any(item.active and item.title == "Old terminal" for item in cells.eyes.windows()),
                "the terminal",
            )
            text = "Съешь ещё этих французских булок"
            assert len({*text} - {" "}) > 19, "more characters than there are free keys"
            terminal.send_signal(signal.SIGSTOP)
            cells.run(f"computer.keyboard.write({text!r}, delay=0)")
            printed, ended = cells.tried(f"computer.keyboard.write({_MANY!r}, delay=0)")
            assert ended.state == "failed"
            assert "'Old terminal' does not say when it has read what was typed" in printed
            assert "Nothing was typed" in printed
            _, ended = cells.tried("computer.keyboard.write('αβγδεζηθικλμνξοπρστυ', delay=0)")
            assert ended.state == "failed"
            terminal.send_signal(signal.SIGCONT)
            cells.run("computer.keyboard.press('enter')")
            until((tmp_path / "line").exists, "the line")
        finally:
            terminal.kill()
    line = (tmp_path / "line").read_text()
    assert line.startswith(text)
    assert "αβγδεζηθικλμνξοπρστυ".startswith(line.removeprefix(text))


def test_pointer_clicks_drags_and_scrolls_where_it_should(cells: ScreenCells) -> None:
    x, y = cells.form.canvas
    assert (
        cells.run(f"computer.mouse.move({x + 5}, {y + 6})\nprint(computer.mouse.position())")
        == f"({x + 5}, {y + 6})"
    )
    cells.run(f"computer.mouse.click()\ncomputer.mouse.right_click(x={x + 9}, y={y + 9})")
    cells.form.says("ButtonPress 1 5 6")
    cells.form.says("ButtonRelease 3 9 9")
    cells.run(f"computer.mouse.double_click({x + 50}, {y + 20}, interval=0.05)")
    cells.form.says("Double-Button 1 50 20")
    cells.run(f"computer.mouse.drag(({x + 10}, {y + 10}), ({x + 90}, {y + 50}))")
    cells.form.says("dragged 50 30")
    cells.form.says("ButtonRelease 1 90 50")
    cells.run("computer.mouse.scroll(-2)")
    until(lambda: cells.form.lines.count("ButtonRelease 5 90 50") == 2, "the wheel")
    cells.run("computer.mouse.scroll(1, sideways=True)\ncomputer.mouse.scroll(-1, sideways=True)")
    # Tk takes a wheel that is turned sideways for one with shift.
    until(lambda: "sideways 5 90 50" in cells.form.lines, "the wheel turned sideways")
    assert "sideways 4 90 50" in cells.form.lines


def test_actions_of_computer_tools_are_carried_out_in_order(cells: ScreenCells) -> None:
    (x, y), (entry_x, entry_y) = cells.form.canvas, cells.form.entry
    actions = [
        {"action": "left_click", "coordinate": [entry_x, entry_y]},
        {"action": "type", "text": "one"},
        {"action": "key", "text": "shift+Home"},
        {"action": "type", "text": "two"},
        {"action": "left_click_drag", "start_coordinate": [x + 9, y + 9], "coordinate": [x + 49, y + 29]},
        {"action": "scroll", "coordinate": [x + 9, y + 9], "scroll_direction": "up", "scroll_amount": 2},
        {"action": "mouse_move", "coordinate": [x + 5, y + 5]},
        {"action": "cursor_position"},
    ]
    assert cells.run(f"computer.act({actions})").splitlines() == [
        f"({x + 5}, {y + 5})",
        "Mouse and keyboard:",
        f"  click at ({entry_x}, {entry_y}) in 'Order form'",
        "  type 3 characters in 'Order form'",
        "  press shift+Home in 'Order form'",
        "  type 3 characters in 'Order form'",
        f"  drag from ({x + 9}, {y + 9}) to ({x + 49}, {y + 29}) in 'Order form'",
        "  scroll up (2 times) in 'Order form'",
    ]
    cells.form.says("ButtonRelease 1 49 29")
    until(lambda: cells.form.lines.count("ButtonRelease 4 9 9") == 2, "the wheel")
    zoom = {"action": "zoom", "region": [10, 10, 110, 60]}
    assert cells.run(f"print(computer.act({zoom}))") == "<Screenshot 100x50>"
    assert cells.pressed() == []


def test_actions_that_cannot_be_done_here_are_named_and_hold_nothing(cells: ScreenCells) -> None:
    place, nokey = [300, 300], "There is no key 'nokey'."
    wrong: list[tuple[dict[str, object], str]] = [
        ({"action": "left_click", "coordinate": [-1, 5]}, "(-1, 5) is not on the screen, which has 1280x800"),
        ({"type": "click", "x": 1280, "y": 5}, "(1280, 5) is not on the screen"),
        ({"type": "drag", "path": [place, [300, 9000]]}, "(300, 9000) is not on the screen"),
        ({"action": "left_click", "coordinate": place, "text": "shift+nokey"}, nokey),
        ({"action": "key", "text": "ctrl+shift+nokey"}, nokey),
        ({"action": "hold_key", "text": "ctrl+nokey", "duration": 30}, nokey),
        ({"action": "type", "text": "ab\x07"}, "'\\x07' cannot be typed. Nothing was typed."),
        ({"action": "type", "text": "ab\ud800"}, "'\\ud800' cannot be typed. Nothing was typed."),
        ({"action": "zoom", "region": [5000, 10, 5100, 20]}, "is not on the screen, which has 1280x800"),
    ]
    for action, words in wrong:
        text, ended = cells.tried(f"computer.act({action})")
        assert (ended.state, words in text) == ("failed", True), text
    cells.run("computer.keyboard.press('f9')")
    cells.form.says("up F9")
    assert cells.pressed() == []
    assert not any(line.startswith(("key a", "ButtonPress")) for line in cells.form.lines)


def test_each_action_does_on_the_screen_what_it_says(cells: ScreenCells) -> None:
    (x, y), (entry_x, entry_y), form = cells.form.canvas, cells.form.entry, cells.form
    place = f"'coordinate': [{x + 7}, {y + 8}]"

    def act(*actions: str) -> list[str]:
        """What the form wrote of these actions."""
        before = len(form.lines)
        cells.run(f"computer.act([{', '.join('{' + action + '}' for action in actions)}])")
        # A key that is let go of marks the end.
        ends = sum("F9" in line for line in form.lines)
        cells.run("computer.keyboard.press('f9')")
        until(lambda: sum("F9" in line for line in form.lines) == ends + 2, "the end")
        return [line for line in form.lines[before:] if "F9" not in line and not line.startswith("at ")]

    for name, button in (("left", 1), ("middle", 2), ("right", 3)):
        clicked = [f"ButtonPress {button} 7 8", f"ButtonRelease {button} 7 8"]
        assert act(f"'action': '{name}_click', {place}") == clicked
        word = "wheel" if name == "middle" else name
        assert act(f"'type': 'click', 'button': '{word}', 'x': {x + 7}, 'y': {y + 8}") == clicked
    for button, number in (("back", 8), ("forward", 9)):
        assert act(f"'type': 'click', 'button': '{button}', 'x': {x + 7}, 'y': {y + 8}") == [
            f"ButtonPress {number} 7 8", f"ButtonRelease {number} 7 8"]  # fmt: skip
    presses = act(f"'action': 'triple_click', {place}")
    assert presses.count("ButtonPress 1 7 8") + presses.count("Double-Button 1 7 8") >= 3
    assert presses.count("ButtonRelease 1 7 8") == 3
    assert act(f"'action': 'mouse_move', {place}", "'action': 'left_mouse_down'",
               f"'action': 'mouse_move', 'coordinate': [{x + 30}, {y + 8}]", "'action': 'left_mouse_up'") == [
        "ButtonPress 1 7 8", "dragged 30 8", "ButtonRelease 1 30 8"]  # fmt: skip
    path = [{"x": x + across, "y": y + down} for across, down in ((5, 5), (50, 5), (50, 40))]
    dragged = act(f"'type': 'drag', 'path': {path}")
    assert (dragged[0], dragged[-1]) == ("ButtonPress 1 5 5", "ButtonRelease 1 50 40")
    assert "dragged 50 5" in dragged
    assert sum(line.startswith("Button") for line in dragged) == 2
    # The number of turns of the wheel, in both ways to say it.
    for direction, button in (("up", 4), ("down", 5)):
        turned = act(f"'action': 'scroll', {place}, 'scroll_direction': '{direction}', 'scroll_amount': 3")
        assert turned.count(f"ButtonRelease {button} 7 8") == 3
    turned = act(f"'type': 'scroll', 'x': {x + 7}, 'y': {y + 8}, 'scroll_x': 0, 'scroll_y': 240")
    assert turned.count("ButtonRelease 5 7 8") == 2
    # Less than a turn of the wheel is one.
    turned = act(f"'type': 'scroll', 'x': {x + 7}, 'y': {y + 8}, 'scroll_x': 0, 'scroll_y': -20")
    assert turned.count("ButtonRelease 4 7 8") == 1
    # Keys: together, held for a time, and held during a click.
    cells.run(f"computer.mouse.click({entry_x}, {entry_y})")
    pressed = act("'action': 'key', 'text': 'ctrl+Page_Down'")
    assert pressed[:2] == ["key Control_L", "key Next"]
    assert sorted(pressed[2:]) == ["up Control_L", "up Next"]
    begun = time.monotonic()
    held = act("'action': 'hold_key', 'text': 'ctrl+shift', 'duration': 0.3")
    assert time.monotonic() - begun > 0.3
    assert held[:2] == ["key Control_L", "key Shift_L"]
    clicked = act(f"'action': 'left_click', {place}, 'text': 'shift'")
    assert clicked == ["key Shift_L", "ButtonPress 1 7 8", "ButtonRelease 1 7 8", "up Shift_L"]
    begun = time.monotonic()
    act("'action': 'wait', 'duration': 0.2")
    assert time.monotonic() - begun > 0.2
    assert cells.pressed() == []


def test_coordinates_of_a_smaller_screenshot_are_those_of_the_screen(cells: ScreenCells) -> None:
    # The screen has 1280x800 pixels.
    act = "computer.act({}, size=(640, 400))"
    move = act.format("[{'action': 'mouse_move', 'coordinate': [100, 50]}, {'action': 'cursor_position'}]")
    assert cells.run(move) == "(200, 100)"
    assert cells.run("p = " + act.format("{'action': 'zoom', 'region': [5, 5, 55, 30]}") + "\nprint(p)") == (
        "<Screenshot 100x50>"
    )
    x, y = cells.form.canvas
    path = f"[({x // 2 + 5}, {y // 2 + 5}), ({x // 2 + 25}, {y // 2 + 5})]"
    cells.run(act.format(f"{{'type': 'drag', 'path': {path}}}"))
    cells.form.says(f"ButtonRelease 1 {x // 2 * 2 + 50 - x} {y // 2 * 2 + 10 - y}")


def test_keys_are_pressed_together_and_released(cells: ScreenCells) -> None:
    cells.run(
        f"computer.mouse.click{cells.form.entry}\ncomputer.keyboard.hotkey('ctrl', 'shift', 'f5', interval=0)"
    )
    cells.form.says("up Control_L")
    keys = [line for line in cells.form.lines if line.startswith(("key", "up"))]
    assert keys[:3] == ["key Control_L", "key Shift_L", "key F5"]
    assert cells.pressed() == []


def test_keys_have_the_names_of_several_programs_and_shift_where_a_sign_needs_it(cells: ScreenCells) -> None:
    form = cells.form
    pressed = {
        "?": ["Shift_L", "question"],
        "G": ["Shift_L", "G"],
        "ctrl+G": ["Control_L", "g"],
        "Ctrl + C": ["Control_L", "c"],
        "ctrl++": ["Control_L", "Shift_L", "plus"],
        "shift+?": ["Shift_L", "question"],
        "\n": ["Return"],
        "ctrlright": ["Control_R"],
        "Shift_R+a": ["Shift_R", "A"],
        "kp_7 numpad-enter": ["7", "KP_Enter"],
        "LEFT_ARROW volumeup": ["Left", "XF86AudioRaiseVolume"],
    }
    for text, keys in pressed.items():
        before = len(form.lines)
        cells.run(f"computer.act({{'action': 'key', 'text': {text!r}}})")
        # The last key that is pressed is released after all others have arrived.
        cells.run("computer.keyboard.press('f9')")
        until(lambda start=before: form.lines[-1] == "up F9" and len(form.lines) > start, text)
        lines = [line for line in form.lines[before:] if line.startswith("key")]
        assert lines == [f"key {key}" for key in (*keys, "F9")]
    assert cells.pressed() == []


def test_the_screen_is_shown_once_until_it_changes(cells: ScreenCells) -> None:
    assert "Part of the screen: 1280x800 at (0, 0)." in cells.run(
        "p = computer.display.view(active_app_only=False)"
    )
    assert len(cells.images) == 1
    assert cells.run("p = computer.display.view(active_app_only=False)").startswith(
        "The screen has not changed"
    )
    assert cells.images == []
    cells.run(f"computer.mouse.click{cells.form.entry}\ncomputer.keyboard.write('changed', delay=0)")
    until(
        lambda: cells.run("p = computer.display.view(active_app_only=False)") and cells.images,
        "another screenshot",
    )
    for ending in ("", "()"):
        sizes = f"print(computer.display.size{ending}, computer.display.center{ending})"
        assert cells.run(sizes) == "(1280, 800) (640, 400)"
    assert cells.run("print(computer.display.view(show=False, quadrant=4))") == "<Screenshot 640x400>"


def test_a_monitor_is_shown_by_its_number(cells: ScreenCells) -> None:
    cells.run(
        "from oi_tui.computer.desktop.session import Region, open_session\n"
        "type(open_session().desktop).monitors = lambda _: [Region(0, 0, 400, 800), Region(400, 0, 880, 800)]"
    )
    for arguments, screenshot in {
        "": "<Screenshot 500x400>",
        "screen=1": "<Screenshot 880x800>",
        "screen=1, active_app_only=False": "<Screenshot 880x800>",
        "combine_screens=False": "<Screenshot 400x800>",
        "screen=-1": "<Screenshot 1280x800>",
    }.items():
        assert cells.run(f"print(computer.display.screenshot(show=False, {arguments}))") == screenshot, (
            arguments
        )
    text, _ = cells.tried("computer.display.view(screen=2)")
    assert "There is no screen 2; there are 2, counted from 0." in text


def test_windows_are_listed_and_brought_to_the_front(cells: ScreenCells) -> None:
    programs.need("xterm")
    terminal = subprocess.Popen(["xterm", "-T", "Second window", "-e", "cat"])
    try:
        until(lambda: "Second window" in cells.run("print(computer.os.active_window())"), "the second window")
        cells.run("computer.os.activate('order')")
        until(lambda: "Order form" in cells.run("print(computer.os.active_window())"), "the form")
        assert cells.run("print(computer.display.view(show=False))") == "<Screenshot 500x400>"
        text, ended = cells.tried("computer.os.activate('o')")
        assert ended.state == "failed"
        assert "2 windows fit 'o'" in text
    finally:
        terminal.kill()
        terminal.wait()


def test_a_title_in_latin_1_is_read(cells: ScreenCells) -> None:
    (window,) = (item for item in cells.eyes.windows() if item.title == "Order form")
    eyes, title = cells.eyes, "Grüße".encode("latin-1")
    string = eyes._windows._properties.intern("STRING")
    for name, data in (("_NET_WM_NAME", b""), ("WM_NAME", title)):
        eyes._x.XChangeProperty(
            *(eyes._display, window.id, eyes._windows._properties.intern(name), string, 8, 0),
            *(data, len(data)),
        )
    assert "Grüße" in [item.title for item in eyes.windows()]


def test_the_quarters_of_a_screen_of_an_odd_size_leave_no_pixel_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Display, "size", (1367, 769))
    screen_display = Display(None)
    found = [screen_display._find_region(0, quadrant, False, True) for quadrant in (1, 2, 3, 4)]
    assert found[0] == Region(0, 0, 683, 384)
    assert found[3] == Region(683, 384, 684, 385)
    assert sum(region.width * region.height for region in found) == 1367 * 769


def test_a_button_is_found_by_its_text(cells: ScreenCells) -> None:
    programs.need("tesseract")
    cells.run("computer.mouse.click('Cancel')")
    cells.form.says("cancelled")
    assert "Customer" in cells.run("print(computer.display.get_text_as_list_of_lists())")
    before = cells.form.lines
    text, _ = cells.tried("computer.mouse.click('No such button')")
    assert "The text 'No such button' is not on the screen. Nothing was clicked." in text
    assert [line for line in cells.form.lines if line not in before] == []


def test_clipboard_and_selection_are_read_and_set(cells: ScreenCells) -> None:
    programs.need("xclip")
    cells.run("computer.clipboard.copy('Zoë\\nsecond')")
    assert cells.run("print(computer.clipboard.view())") == "Zoë\nsecond"
    cells.run("computer.clipboard.copy('pasted')")
    cells.run(f"computer.mouse.click{cells.form.entry}\ncomputer.clipboard.paste()")
    cells.run("computer.keyboard.hotkey('shift', 'home')")
    until(lambda: cells.run("print(computer.os.get_selected_text())") == "pasted", "the selection")
    # What keeps the selection goes on until another program has it.
    subprocess.run(["xclip", "-selection", "clipboard", "-i", "/dev/null"], check=True)


def test_passwords_and_keys_on_the_clipboard_are_not_given_to_code(cells: ScreenCells) -> None:
    programs.need("xclip")
    refused = "so its text is not given to code"
    secrets = ("sk-abcdefgh12345678", "mine:\nghp_abcdefgh12345678", "https://ann:pa55word@host/x")
    for secret in secrets:
        cells.run(f"computer.clipboard.copy({secret!r})")
        text, ended = cells.tried("print(computer.clipboard.view())")
        assert ended.state == "failed"
        assert refused in text
        assert "looks like a password or a key" in text
        assert secret not in text
    # Code can still paste what it cannot read.
    cells.run(f"computer.mouse.click{cells.form.entry}\ncomputer.clipboard.paste()")
    cells.run("computer.keyboard.hotkey('shift', 'home')")
    until(lambda: refused in cells.tried("print(computer.os.get_selected_text())")[0], "the selection")
    hint = ["xclip", "-selection", "clipboard", "-t", "x-kde-passwordManagerHint", "-i"]
    subprocess.run(hint, input=b"secret", check=True)
    text, _ = cells.tried("print(computer.clipboard.view())")
    assert "holds what a password manager copied" in text
    # Another program may copy while it is read.
    replaced = (
        "import oi_tui.computer.desktop.clipboard as m\nrun = m._run\n"
        "def replace(argv, *rest):\n    text = run(argv, *rest)\n"
        "    if 'TARGETS' not in argv: run(['xclip', '-selection', '{0}', '-i'], *rest, 'other')\n"
        "    return text\n"
        "m._run = replace\ntry: print(computer.clipboard.view())\nfinally: m._run = run"
    )
    text, ended = cells.tried(replaced)
    assert (ended.state, "secret" in text) == ("failed", False)
    assert "holds what a password manager copied" in text
    cells.run("computer.clipboard.copy('my key is on the table')")
    assert cells.run("print(computer.clipboard.view())") == "my key is on the table"
    subprocess.run(["xclip", "-selection", "clipboard", "-i", "/dev/null"], check=True)


@pytest.mark.parametrize("code", ["computer.mouse.move(5000, 1)", "computer.mouse.click('left', 'x', 1)"])
def test_what_is_not_on_the_screen_is_refused(cells: ScreenCells, code: str) -> None:
    text, ended = cells.tried(code)
    assert ended.state == "failed"
    assert "not on the screen" in text or "give x and y" in text


DRAG = "computer.mouse.drag(({0}, {1}), ({2}, {1}))"


def test_a_movement_by_hand_stops_the_code_and_nothing_stays_pressed(cells: ScreenCells) -> None:
    x, y = cells.form.canvas
    slowly = "import oi_tui.computer.desktop.mouse as m\nm._STEP_SECONDS = 0.2\n"
    slowly += DRAG.format(x + 1, y + 1, x + 200)
    shown = ""
    for report in cells.computer.run("python", slowly):
        if isinstance(report, Printed):
            shown += report.text
        if isinstance(report, LineReached) and report.line == 3:
            until(lambda: any(line.startswith("dragged") for line in cells.form.lines), "the drag")
            subprocess.run(["xdotool", "mousemove", "900", "700"], check=True)
    assert isinstance(report, RunEnded)
    assert report.state == "interrupted"
    assert "The user moved the mouse" in shown
    until(lambda: cells.pressed() == [], "the release")
    # In the next cell, which was approved since, the pointer is the code's again.
    cells.run(f"computer.mouse.click{cells.form.entry}")


def test_a_movement_by_hand_stops_a_drag_within_20_ms(
    cells: ScreenCells, monkeypatch: pytest.MonkeyPatch
) -> None:
    (x, y), stops, taken = cells.form.canvas, list[float](), list[float]()

    def stop() -> None:
        stops.append(time.monotonic())
        cells.computer.interrupt()

    monkeypatch.setattr(cells.api, "_stop", stop)
    back_and_forth = [(x + 200, y + 1), (x + 1, y + 1)] * 50
    # The machine may be busy once, but not each time.
    while (not taken or min(taken) >= 0.02) and len(taken) < 20:
        before, known = len(stops), len(cells.form.lines)
        code = f"computer.mouse.drag(({x + 1}, {y + 1}), ({x + 9}, {y + 9}), through={back_and_forth})"
        for report in cells.computer.run("python", code):
            if isinstance(report, LineReached) and report.line == 1:
                until(lambda: any("dragged" in line for line in cells.form.lines[known:]), "the drag")  # noqa: B023
                begun, hand = time.monotonic(), 900
                # A hand goes on moving until it is noticed.
                while len(stops) == before and time.monotonic() < begun + TIMEOUT:
                    hand = hand + 3 if hand < 1200 else 900
                    cells.eyes.move(hand, 700)
        assert isinstance(report, RunEnded)
        assert report.state == "interrupted"
        assert len(stops) > before
        taken.append(stops[before] - begun)
        until(lambda: cells.pressed() == [], "the release")
    assert min(taken) < 0.02, taken


def test_escape_twice_interrupts_the_code(cells: ScreenCells) -> None:
    cell = "computer.mouse.down()\nimport time\nprint('held', flush=True)\ntime.sleep(60)"
    cells.run(f"computer.mouse.move({cells.form.canvas[0] + 3}, {cells.form.canvas[1] + 3})")
    over = threading.Event()

    def insist() -> None:
        # Where the machine is busy, the guard may look too late for one of them.
        while not over.is_set():
            subprocess.run(["xdotool", "key", "--delay", "60", "Escape", "Escape"], check=True)
            over.wait(1.5)

    pressing = threading.Thread(target=insist)
    for report in cells.computer.run("python", cell):
        if isinstance(report, Printed) and "held" in report.text:
            cells.form.says("ButtonPress 1 3 3")
            pressing.start()
    over.set()
    pressing.join()
    assert isinstance(report, RunEnded)
    assert report.state == "interrupted"
    cells.form.says("ButtonRelease 1 3 3")


def test_a_movement_by_hand_stops_code_that_only_waits(cells: ScreenCells) -> None:
    x, y = cells.form.canvas
    cell = f"computer.mouse.move({x + 3}, {y + 3})\ncomputer.mouse.down()\nimport time\n"
    for report in cells.computer.run("python", cell + "print('waiting', flush=True)\ntime.sleep(60)"):
        if isinstance(report, Printed) and "waiting" in report.text:
            cells.form.says("ButtonPress 1 3 3")
            assert cells.api.in_control
            cells.eyes.move(x + 40, y + 40)
    assert isinstance(report, RunEnded)
    assert report.state == "interrupted"
    until(lambda: cells.pressed() == [], "the release")
    assert not cells.api.in_control


def test_the_person_is_asked_and_the_code_waits_until_they_answer(cells: ScreenCells) -> None:
    takeover, (x, y) = cells.api._takeover, cells.form.canvas
    asked = threading.Event()
    takeover.ask = asked.set
    cell = f"computer.mouse.move({x + 3}, {y + 3})\ncomputer.mouse.down()\nprint('held', flush=True)\n"
    # It goes on working, but not with mouse and keyboard.
    cell += "import pathlib\npathlib.Path('begun').touch()\nwhile not pathlib.Path('go').exists(): pass\n"
    cell += "pathlib.Path('working').touch()\ncomputer.mouse.click()"
    shown = ""
    for report in cells.computer.run("python", cell):
        if isinstance(report, Printed):
            shown += report.text
        if isinstance(report, Printed) and report.text.startswith("held"):
            cells.form.says("ButtonPress 1 3 3")
            assert cells.api.in_control
            cells.eyes.move(x + 40, y + 40)
            assert asked.wait(TIMEOUT)
            assert not cells.api.in_control, "the person has the mouse while they are asked"
            until(lambda: cells.pressed() == [], "the release")
            (cells.computer.cwd / "go").touch()
            until((cells.computer.cwd / "working").exists, "the code at work")
            # What the person does meanwhile is theirs.
            cells.eyes.move(x + 60, y + 60)
            takeover.answer()
    assert isinstance(report, RunEnded)
    assert report.state == "failed"
    assert "The user took the mouse, and then let you go on." in shown
    assert [line for line in cells.form.lines if line.startswith("ButtonPress")] == ["ButtonPress 1 3 3"]
    # The model goes on with the next cell, and the person can take over again.
    asked.clear()
    cells.run(f"computer.mouse.click({x + 9}, {y + 9})")
    cells.form.says("ButtonRelease 1 9 9")
    assert not asked.is_set()


def test_the_mouse_is_the_persons_between_cells(cells: ScreenCells) -> None:
    cells.run("computer.mouse.move(50, 50)")
    assert not cells.api.in_control
    cells.eyes.move(900, 700)
    # Code that does not use mouse and keyboard is not stopped by a movement.
    cells.run("import time\nprint('waiting')\ntime.sleep(0.1)")
    assert cells.run("computer.mouse.move(60, 60)\nprint(computer.mouse.position())") == "(60, 60)"


def test_the_pointer_of_a_killed_interpreter_is_given_back(cells: ScreenCells) -> None:
    cells.tried("import os, signal\ncomputer.mouse.move(50, 50)\nos.kill(os.getpid(), signal.SIGKILL)")
    until(lambda: not cells.api.in_control, "the pointer")


def test_a_movement_and_escape_twice_stop_within_20_ms(
    cells: ScreenCells, monkeypatch: pytest.MonkeyPatch
) -> None:
    stops: list[float] = []
    monkeypatch.setattr(bridge, "stop", lambda: stops.append(time.monotonic()) or True)
    monkeypatch.delenv(bridge.VARIABLE, raising=False)
    read, write = os.pipe()
    guard = InputGuard(X11(cells.display), os.getpid())
    serving = threading.Thread(target=guard.serve, args=[read])
    serving.start()
    hand, taken = X11(cells.display), []
    try:
        # The machine may be busy once, but not each time.
        for place in itertools.cycle(range(100, 150, 10)):
            hand.move(place, place)
            os.write(write, b"button 1 down\npointer %d %d\n" % (place, place))
            # From then on the guard looks by itself, and not because there is news.
            until(lambda: guard._place == (place, place), "the place")  # noqa: B023
            begun, before = time.monotonic(), len(stops)
            hand.move(place + 5, place)
            until(lambda: len(stops) > before, "the stop")  # noqa: B023
            taken.append(stops[-1] - begun)
            if min(taken) < 0.02 or len(taken) == 20:
                break
        escape = hand.key_code("Escape")[0]
        before = len(stops)
        for down in (True, False, True):
            hand.key(escape, down)
            time.sleep(0.05)
        until(lambda: len(stops) > before, "the stop by escape")
        hand.key(escape, False)
    finally:
        os.close(write)
        serving.join()
        os.close(read)
    assert min(taken) < 0.02, taken


def test_escape_that_the_code_presses_is_no_stop(cells: ScreenCells) -> None:
    cells.run("computer.keyboard.press('esc', 'esc', interval=0.1)\nimport time\ntime.sleep(0.3)")


def test_a_cell_that_fails_lets_go_of_everything(cells: ScreenCells) -> None:
    cells.run(f"computer.mouse.click{cells.form.entry}")
    cells.tried("computer.keyboard.down('shift')\n1 / 0")
    cells.form.says("up Shift_L")


def test_a_killed_interpreter_leaves_nothing_pressed(cells: ScreenCells) -> None:
    cells.run(f"computer.mouse.move({cells.form.canvas[0] + 3}, {cells.form.canvas[1] + 3})")
    pid = int(
        cells.run(
            "import os\ncomputer.mouse.down()\ncomputer.keyboard.down('shift')\nprint(os.getpid())"
        ).split()[0]
    )
    cells.form.says("ButtonPress 1 3 3")
    os.kill(pid, signal.SIGKILL)
    cells.form.says("ButtonRelease 1 3 3")
    cells.form.says("up Shift_L")


def test_a_killed_guard_lets_nothing_be_pressed_and_nothing_stays_pressed(cells: ScreenCells) -> None:
    x, y = cells.form.canvas
    find = "import os, glob, signal\nfrom oi_tui.computer.desktop.session import open_session\n"
    find += f"computer.mouse.move({x + 3}, {y + 3})\ncomputer.mouse.down()\n"
    find += "needle = b'guard.py\\0' + str(os.getpid()).encode()\n"
    find += "for path in glob.glob('/proc/[0-9]*/cmdline'):\n"
    find += "    try: found = needle in open(path, 'rb').read()\n    except OSError: continue\n"
    find += "    if found: os.kill(int(path.split('/')[2]), signal.SIGKILL); print('killed')\n"
    # What is told to a guard that is gone is refused once the system knows that it is.
    find += "import time\nfor _ in range(500):\n    computer.mouse.scroll(1)\n    time.sleep(0.01)"
    text, ended = cells.tried(find)
    assert "killed" in text
    assert ended.state == "failed"
    assert "Nothing is pressed, because the process that releases keys and buttons" in text
    cells.form.says("ButtonRelease 1 3 3")
    # The next cell gets another guard.
    cells.run(f"computer.mouse.click({x + 9}, {y + 9})")
    cells.form.says("ButtonRelease 1 9 9")
    until(lambda: cells.pressed() == [], "the release")


HOLDS = """
import os, signal
from oi_tui.computer.desktop.x11.desktop import X11
desktop = X11()
desktop.button(1, True)
desktop.key(desktop.key_code('Shift_L')[0], True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_stays_pressed_without_any_guard_is_released_at_the_next_start(cells: ScreenCells) -> None:
    x, y = cells.form.canvas
    cells.run(f"computer.mouse.move({x + 3}, {y + 3})")
    assert subprocess.run([sys.executable, "-c", HOLDS], check=False).returncode == -signal.SIGKILL
    until(lambda: sorted(cells.pressed()) == ["1", "Shift_L"], "the key and the button")
    # What another program holds is left to it.
    control = cells.eyes.key_code("Control_L")[0]
    cells.eyes.key(control, True)
    DesktopSession(X11(cells.display))
    until(lambda: cells.pressed() == ["Control_L"], "the release")
    cells.eyes.key(control, False)
    until(lambda: cells.pressed() == [], "the other release")


PROGRAM = """
import sys
from pathlib import Path
from oi_tui.computer_api import ComputerApi
from oi_tui.runtimes import Computer
from oi_tui.runtimes.languages import LANGUAGES
api = ComputerApi(lambda text, images: "", lambda: None)
computer = Computer(cwd=Path(sys.argv[1]), declared=api.add_to(LANGUAGES))
for report in computer.run("python", sys.argv[2]):
    print(report, flush=True)
"""


def test_a_killed_program_leaves_nothing_pressed_while_a_drag_is_in_progress(cells: ScreenCells) -> None:
    x, y = cells.form.canvas
    code = "import oi_tui.computer.desktop.mouse as m\nm._STEP_SECONDS = 0.2\n"
    code += "computer.keyboard.down('shift')\n" + DRAG.format(x + 1, y + 1, x + 200)
    argv = [sys.executable, "-c", PROGRAM, str(cells.computer.cwd), code]
    program = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    try:
        until(lambda: any(line.startswith("dragged") for line in cells.form.lines), "the drag")
        assert "Shift_L" in cells.pressed()
    finally:
        program.kill()
        program.wait()
    until(lambda: cells.pressed() == [], "the release")


def test_a_movement_by_hand_ends_the_turn_of_the_conversation(
    own_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with screen() as display:
        monkeypatch.setenv("DISPLAY", display)
        code = "import subprocess\ncomputer.mouse.move(50, 50)\n"
        code += (
            "subprocess.run(['xdotool', 'mousemove', '900', '700'], check=True)\ncomputer.mouse.click(60, 60)"
        )
        llm = Llm([call(code)], [Text("It must not be asked again.")])
        profile = Profile(model="openai/x").with_changes("flag", os=True, auto_run=True)
        workspace = Workspace(profile, llm=llm)
        try:
            events = list(workspace.session.turn("Click somewhere."))
        finally:
            workspace.close()
    assert isinstance(events[-1], TurnEnded)
    assert len(llm.requests) == 1
    assert "You control the user's computer" in llm.requests[0].messages[0]["content"]
    outputs = "".join(message.content for message in workspace.session.messages if message.type == "console")
    assert "The user moved the mouse" in outputs


#: A window without a frame, with three colours beside each other.
_STRIPES = """
import tkinter
root = tkinter.Tk()
root.overrideredirect(True)
root.geometry("300x100+0+0")
for colour in ("#ff8000", "#00ff40", "#4000ff"):
    tkinter.Frame(root, bg=colour, width=100, height=100).pack(side="left")
root.mainloop()
"""


@pytest.mark.parametrize("depth", [15, 16, 24, 30])
def test_a_screenshot_has_the_colours_of_the_screen_whatever_its_depth(
    depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, display = start_screen(depth=depth)
    monkeypatch.setenv("DISPLAY", display)
    window = subprocess.Popen([sys.executable, "-c", _STRIPES])
    try:
        eyes = X11(display)

        def read_colours() -> list[tuple[int, ...]]:
            # An odd width: its rows end with bytes that are no pixels.
            pixels = eyes.capture(Region(0, 10, 299, 5)).pixels
            return [tuple(pixels[(299 + x) * 3 : (299 + x) * 3 + 3]) for x in (50, 150, 250)]

        wanted = [(255, 128, 0), (0, 255, 64), (64, 0, 255)]
        until(
            lambda: all(
                abs(one - other) <= 8
                for pixel, colour in zip(read_colours(), wanted, strict=True)
                for one, other in zip(pixel, colour, strict=True)
            ),
            "the colours",
        )
    finally:
        for process in (window, server):
            process.terminate()
            process.wait()


def test_a_screen_with_a_table_of_colours_is_refused_with_what_to_do() -> None:
    server, display = start_screen(depth=8)
    try:
        with pytest.raises(ComputerError, match="Start the X server with a depth of 24, such as: Xvfb"):
            X11(display).capture(Region(0, 0, 10, 10))
    finally:
        server.terminate()
        server.wait()
