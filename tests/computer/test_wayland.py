"""Tasks in a Wayland compositor, done by code in Python cells."""

import contextlib
import itertools
import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from oi_tui.computer.desktop.base import Region
from oi_tui.computer.desktop.key_names import find_symbol
from oi_tui.computer.desktop.session import open_desktop
from oi_tui.computer.desktop.wayland.driver import Wayland
from oi_tui.computer.desktop.wayland.keymap import Keymap
from oi_tui.computer.desktop.wayland.toplevels import Toplevels
from oi_tui.computer.desktop.wayland.wire import Event
from oi_tui.computer.desktop.x11.desktop import X11
from oi_tui.computer.errors import ComputerError
from oi_tui.computer_api import ComputerApi
from oi_tui.messages import Displayed, Printed, RunEnded
from oi_tui.runtimes import Computer
from oi_tui.runtimes.languages import LANGUAGES
from tests.computer.desktop import TIMEOUT, screen, until
from tests.computer.wayland import Recorder, compositor

pytestmark = [pytest.mark.needs("sway", "foot", "setpriv"), pytest.mark.slow]


class PythonCells:
    """Python with the computer object."""

    def __init__(self, computer: Computer) -> None:
        self.computer = computer
        self.images = 0

    def tried(self, code: str) -> tuple[str, RunEnded]:
        """Run a cell; return what it printed, and how it ended."""
        reports = list(self.computer.run("python", code))
        self.images = sum(isinstance(item, Displayed) for item in reports)
        assert isinstance(reports[-1], RunEnded)
        text = "".join(item.text for item in reports if isinstance(item, Printed))
        return text.replace("\r\n", "\n").strip(), reports[-1]

    def run(self, code: str) -> str:
        """Run a cell that must finish; return what it printed."""
        text, ended = self.tried(code)
        assert ended.state == "finished", text
        return text


class WaylandCells(PythonCells):
    """The same, with a compositor and a terminal in it."""

    def __init__(self, computer: Computer, recorder: Recorder, stops: list[str]) -> None:
        super().__init__(computer)
        self.recorder = recorder
        #: Why the turn was stopped.
        self.stops = stops
        #: Called before the code is interrupted for that.
        self.before_stop: Callable[[], object] = lambda: None


@pytest.fixture(scope="module")
def session_variables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with compositor(tmp_path_factory.mktemp("wayland") / "run") as variables:
        yield variables


@pytest.fixture
def variables(session_variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.delenv("DISPLAY", raising=False)
    for name, value in session_variables.items():
        monkeypatch.setenv(name, value)
    return session_variables


@pytest.fixture
def cells(own_world: Path, tmp_path: Path, variables: dict[str, str]) -> Iterator[WaylandCells]:
    stops: list[str] = []

    def stop() -> None:
        stops.append("stopped")
        given.before_stop()
        computer.interrupt()

    api = ComputerApi(
        lambda text, images: text, stop, allows_unmasked=lambda why: bool(asked.append(why)) or True
    )
    asked: list[str] = []
    computer = Computer(cwd=tmp_path, declared=api.add_to(LANGUAGES))
    recorder = Recorder(tmp_path / "log", variables)
    try:
        with contextlib.closing(Wayland()) as eyes:
            # Before it has the keyboard, what is typed goes nowhere.
            until(
                lambda: any(item.active and item.title == "Recorder" for item in eyes.windows()), "its focus"
            )
        given = WaylandCells(computer, recorder, stops)
        yield given
    finally:
        computer.close()
        api.close()
        recorder.close()


def test_code_points_clicks_drags_and_scrolls(cells: WaylandCells) -> None:
    recorder = cells.recorder
    assert cells.run("print(computer.display.size, computer.display.info())") == (
        "(800, 600) [Region(x=0, y=0, width=800, height=600)]"
    )
    assert cells.run("computer.mouse.click(400, 300)\nprint(computer.mouse.position())").startswith(
        "(400, 300)"
    )
    pressed = until(
        lambda: [line for line in recorder.lines if line.startswith("button 0 down")], "the button"
    )
    place = pressed[0].split()[3:]
    recorder.says(f"button 0 up {' '.join(place)}")
    cells.run("computer.mouse.right_click(x=100, y=100)\ncomputer.mouse.drag((100, 100), (700, 500))")
    until(lambda: sum(line.startswith("button 0 up") for line in recorder.lines) == 2, "the end of the drag")
    assert any(line.startswith("button 2 up") for line in recorder.lines)
    assert len({line for line in recorder.lines if line.startswith("button 32 ")}) > 5
    cells.run("computer.mouse.scroll(-2)\ncomputer.mouse.scroll(1)")
    until(lambda: any(line.startswith("button 64 ") for line in recorder.lines), "the wheel")
    assert any(line.startswith("button 65 ") for line in recorder.lines)
    assert recorder.pressed() == []


def test_code_types_any_text_and_presses_keys_together(cells: WaylandCells) -> None:
    text = "aB~ é€日😀\n" + "".join(map(chr, range(0x4E00, 0x4E00 + 30)))
    printed = cells.run(f"computer.keyboard.write({text!r}, delay=0)\ncomputer.keyboard.press('f9')")
    assert printed.splitlines()[-2:] == [
        f"  type {len(text)} characters in 'Recorder'",
        "  press f9 in 'Recorder'",
    ]
    keys = until(
        lambda: (
            "key 20~ up" in cells.recorder.lines
            and [line.split()[1] for line in cells.recorder.lines if line.endswith(" down")]
        ),
        "the text",
    )
    shift = "57441"
    expected = [*map(str, map(ord, text.lower().replace("\n", "\r").replace("~", "`")))]
    assert [key for key in keys if key not in (shift, "20~")] == expected
    assert keys.count(shift) == 2  # for B and ~
    cells.run("computer.keyboard.hotkey('ctrl', 'shift', 'x')\ncomputer.keyboard.down('alt')")
    cells.recorder.says("key 120 up")
    until(lambda: cells.recorder.pressed() == ["key 57443"], "one key that stays down")
    cells.run("computer.keyboard.up('alt')")
    until(lambda: cells.recorder.pressed() == [], "the release")


def test_code_sees_the_screen_and_its_windows(cells: WaylandCells) -> None:
    code = "print(computer.os.active_window().title)\nshot = computer.display.screenshot()\nprint(shot)"
    printed = cells.run(code).splitlines()
    assert (printed[0], printed[-1], cells.images) == ("Recorder", "<Screenshot 800x600>", 1)
    # The text that the terminal shows is in the screenshot: the first lines are not all of one colour.
    assert cells.run("print(len(set(shot.crop(0, 0, 400, 60).pixels)) > 10)") == "True"
    part = cells.run("print(computer.act({'action': 'zoom', 'region': [10, 10, 110, 60]}))")
    assert part == "<Screenshot 100x50>"
    text, _ = cells.tried("computer.mouse.move(icon='Recorder')")
    assert "Wayland does not tell where windows and elements are" in text


@pytest.mark.needs("swaymsg")
def test_a_monitor_that_is_plugged_in_moved_or_scaled_later_is_seen_and_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    with compositor(tmp_path / "run") as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        [ipc] = (tmp_path / "run").glob("sway-ipc*")
        swaymsg = ["swaymsg", "--quiet", "--socket", str(ipc)]
        with contextlib.closing(Wayland()) as desktop:
            assert desktop.size() == (800, 600)
            subprocess.run([*swaymsg, "create_output"], check=True)
            until(lambda: len(desktop.monitors()) == 2, "the second monitor")
            place = "output HEADLESS-2 resolution 1000x600 position -500 -100 scale 2"
            subprocess.run([*swaymsg, place], check=True)
            # The first monitor was at the left upper corner of the desktop, until this one is left of it.
            places = [Region(500, 0, 800, 600), Region(0, 0, 500, 300)]
            until(lambda: desktop.monitors() == places, "the second monitor at its place")
            screenshot = desktop.capture(Region(0, 0, *desktop.size()))
            assert (screenshot.width, screenshot.height) == desktop.size()
            subprocess.run([*swaymsg, "focus output HEADLESS-1"], check=True)
            with contextlib.closing(Recorder(tmp_path / "log", variables)) as recorder:
                until(lambda: "Recorder" in [item.title for item in desktop.windows()], "its window")
                # Until the window fills the screen, it may not be where the pointer is.
                until(
                    lambda: (
                        desktop.move(508, 8)
                        or "button 35 down 1 1" in recorder.lines
                        or desktop.move(700, 500)
                    ),
                    "the pointer in the window",
                )
                desktop.button(1, True)
                desktop.button(1, False)
                recorder.says("button 0 up 1 1")


@pytest.mark.needs("tesseract")
def test_code_clicks_a_text_on_the_screen(cells: WaylandCells) -> None:
    cells.run("computer.mouse.click(text='HERE')")
    until(lambda: any(line.startswith("button 0 up") for line in cells.recorder.lines), "the click")


def test_a_click_needs_a_place_that_is_known(cells: WaylandCells) -> None:
    text, ended = cells.tried("computer.mouse.click()")
    assert ended.state != "finished"
    assert "Give a point first: computer.mouse.move(x, y)." in text
    assert cells.recorder.pressed() == []


@pytest.mark.needs("wl-copy")
def test_code_reads_what_is_selected_and_not_the_clipboard(cells: WaylandCells) -> None:
    cells.run("computer.clipboard.copy('on the clipboard')")
    # With shift, the terminal keeps the mouse for itself.
    cells.run("computer.keyboard.down('shift')\ncomputer.mouse.drag((2, 20), (400, 20))")
    cells.run("computer.keyboard.up('shift')")
    until(lambda: "HERE" in cells.run("print(computer.os.get_selected_text())"), "the selection")
    assert cells.run("print(computer.clipboard.view())") == "on the clipboard"


@pytest.mark.needs("zenity", "tesseract")
def test_code_fills_and_sends_a_form(cells: WaylandCells) -> None:
    # It fills the screen.
    cells.recorder.close()
    argv = ["zenity", "--entry", "--title=Rename", "--entry-text=old.txt", "--ok-label=Accept"]
    form = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        shown = "print([window.title for window in computer.display.windows() if window.active])"
        until(lambda: "Rename" in cells.run(shown), "the form")
        cells.run("computer.keyboard.hotkey('ctrl', 'a')\ncomputer.keyboard.write('новый.txt', delay=0)")
        cells.run("computer.mouse.click(text='Accept')")
        assert form.communicate(timeout=TIMEOUT)[0] == "новый.txt\n"
    finally:
        form.kill()
        form.wait()


@pytest.mark.needs("chromium", "playwright", "tesseract")
def test_code_uses_a_browser_with_a_window_and_the_mouse_in_it(
    variables: dict[str, str], tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    button = "<button style='font-size: 40px' onclick=\"document.title = n.value + '!'\">Send</button>"
    page.write_text(f"<!doctype html><title>Form</title><label>Name <input id=n></label><br>{button}")
    api = ComputerApi(lambda text, images: text, lambda: None, allows_unmasked=lambda why: True)
    with contextlib.closing(
        Computer(cwd=tmp_path, declared=api.add_to(LANGUAGES), python=sys.executable)
    ) as computer:
        try:
            cells = PythonCells(computer)
            cells.run(f"computer.browser.go_to_url({page.as_uri()!r})")
            until(lambda: "Form" in cells.run("print(computer.os.active_window())"), "the window")
            cells.run("computer.browser.fill('Name', 'Ann')")
            click = "computer.mouse.click(text='Send')"
            until(lambda: cells.tried(click)[1].state == "finished", "the button to be drawn")
            title = "print(computer.browser.driver.title())"
            until(lambda: "Ann!" in cells.run(title), "what the button does")
            cells.run("computer.browser.quit()")
        finally:
            api.close()


@pytest.mark.needs("wl-copy")
def test_code_uses_the_clipboard(cells: WaylandCells) -> None:
    cells.run("computer.clipboard.copy('kept é')\nassert computer.clipboard.view() == 'kept é'")


def test_a_hand_stops_code_that_acts_and_nothing_stays_pressed(cells: WaylandCells) -> None:
    hand = Wayland()

    def act() -> None:
        until(lambda: "button 0" in cells.recorder.pressed(), "the pressed button")
        # A single movement right after one of the code is not told from it, but a hand makes many.
        places = itertools.count(10)
        until(lambda: hand.move(next(places) % 200, 10) or cells.stops, "the stop")

    other = threading.Thread(target=act)
    other.start()

    def wait_for_rest() -> bool:
        try:
            hand.wait_for_rest()
        except ComputerError:
            return False
        return True

    # The code learns of the hand by the guard alone: mouse and keyboard are at rest when it is interrupted.
    cells.before_stop = lambda: (other.join(), until(wait_for_rest, "the rest"))
    code = "computer.keyboard.down('ctrl')\ncomputer.mouse.move(50, 50)\ncomputer.mouse.down()\nimport time"
    code += "\ntime.sleep(60)"
    text, ended = cells.tried(code)
    other.join()
    hand.close()
    assert ended.state != "finished"
    assert cells.stops == ["stopped"]
    assert "The user used mouse or keyboard" in text
    until(lambda: cells.recorder.pressed() == [], f"the release; {cells.recorder.lines[-6:]}")


def test_code_without_a_hand_is_not_stopped_by_what_it_does_itself(cells: WaylandCells) -> None:
    code = """
import time
for n in range(12):
    computer.mouse.click(100 + n * 10, 200)
    time.sleep(0.06)
    computer.keyboard.write('word ', delay=0)
"""
    cells.run(code)
    assert cells.stops == []


def test_a_compositor_that_is_held_up_is_not_taken_for_a_hand(
    cells: WaylandCells, variables: dict[str, str]
) -> None:
    (socket,) = Path(variables["XDG_RUNTIME_DIR"]).glob("sway-ipc.*.sock")
    code = f"""
import os, signal, time
compositor = {int(socket.suffixes[-2][1:])}
for n in range(4):
    computer.keyboard.press('a')
    os.kill(compositor, signal.SIGSTOP)
    time.sleep(0.3)
    os.kill(compositor, signal.SIGCONT)
    computer.keyboard.press('b')
"""
    cells.run(code)
    assert cells.stops == []


def test_a_killed_process_leaves_nothing_pressed(cells: WaylandCells) -> None:
    code = "computer.mouse.move(50, 50)\ncomputer.mouse.down()\ncomputer.keyboard.down('ctrl')\n"
    cells.tried(code + "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    assert any(line.startswith("button 0 down") for line in cells.recorder.lines)
    until(lambda: cells.recorder.pressed() == [], f"the release; {cells.recorder.lines[-6:]}")


@pytest.mark.needs("Xwayland", "Xvfb", "openbox")
def test_a_screen_of_its_own_is_used_in_a_wayland_session_but_not_the_one_for_old_programs(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with screen() as display:
        monkeypatch.setenv("DISPLAY", display)
        assert isinstance(open_desktop(), X11)
    read, write = os.pipe()
    argv = ["Xwayland", "-displayfd", str(write)]
    server = subprocess.Popen(argv, pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        with os.fdopen(read) as file:
            monkeypatch.setenv("DISPLAY", f":{file.readline().strip()}")
        desktop = open_desktop()
        assert isinstance(desktop, Wayland)
        desktop.close()
    finally:
        server.kill()
        server.wait()


def test_a_session_that_has_ended_is_named_in_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-9")
    with pytest.raises(ComputerError, match="wayland-9 cannot be opened: No such file"):
        open_desktop()


def test_a_compositor_without_the_protocols_is_named_in_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setenv("WAYLAND_DISPLAY", str(tmp_path / "gnome"))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "gnome"))
        server.listen()

        def serve() -> None:
            client, _ = server.accept()
            with client:
                client.recv(4096)
                # There is a seat, and that is all: the registry is object 2, and "done" goes to object 3.
                seat = struct.pack("=II8sI", 1, 8, b"wl_seat\0", 7)
                client.sendall(struct.pack("=II", 2, (8 + len(seat)) << 16) + seat)
                client.sendall(struct.pack("=III", 3, 12 << 16, 0))
                while client.recv(4096):
                    pass

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(ComputerError) as error:
            open_desktop()
        thread.join()
    assert "does not offer ext_idle_notifier_v1" in str(error.value)
    assert "GNOME and KDE do not. Log in to an X11 session" in str(error.value)


def test_a_character_without_a_key_gets_one_and_the_oldest_gives_way() -> None:
    keymap = Keymap()
    first = keymap.find("é")
    assert first[2]
    assert not keymap.find("é")[2]
    for number in range(0x4E00, 0x4E00 + 23):
        keymap.find(chr(number))
    assert keymap.find("é")[2], "it had to give way"
    # The names that xdotool has for keys, of which some are signs of the layout.
    names = ("minus", "plus", "Page_Down", "Control_R", "KP_Enter", "braceleft", "asciitilde", "F12")
    assert [keymap.find(find_symbol(name))[0] for name in names] == [*(12, 13, 109, 97, 96, 26, 41, 88)]
    with pytest.raises(ComputerError, match="There is no key 'Nokey'"):
        keymap.find("Nokey")


class MinimizingWire:
    """A compositor with one window, which it has minimised."""

    def __init__(self) -> None:
        self.requests: list[tuple[int, ...]] = []

    def require(self, _name: str, _version: int, on_event: Callable[[int, Event], None]) -> int:
        on_event(0, Event(struct.pack("=I", 7)))
        return 5

    def adopt(self, _number: int, on_event: Callable[[int, Event], None]) -> None:
        on_event(4, Event(struct.pack("=II", 4, 1)))

    def roundtrip(self) -> None:
        """Nothing is left to be read."""

    def request(self, *numbers: int) -> None:
        self.requests.append(numbers)


def test_a_minimised_window_is_known_as_such_and_shown_before_it_is_activated() -> None:
    wire = MinimizingWire()
    toplevels = Toplevels(wire, 3)  # type: ignore[arg-type]
    assert [(item.minimized, item.active) for item in toplevels.read()] == [(True, False)]
    toplevels.activate(7)
    assert wire.requests == [(7, 3), (7, 4, 3)]
