"""The elements of real programs by role and name, on a virtual screen with an accessibility service."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui.computer import ComputerError
from oi_tui.computer.desktop.base import Region, Window
from oi_tui.computer.desktop.dbus import Call
from oi_tui.computer.desktop.elements import Element, Elements, Passwords, find_only
from oi_tui.computer.desktop.screenshot import Screenshot
from oi_tui.computer.desktop.x11.desktop import X11
from oi_tui.engine.llm.base import Text
from oi_tui.engine.settings.profile import Profile
from oi_tui.messages import Printed
from oi_tui.workspace import Workspace
from tests import programs
from tests.computer.desktop import TIMEOUT, screen, start_screen, until
from tests.computer.gtk import Cells, desktop, dialog, needs_desktop
from tests.fakes import Llm


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cells]:
    with desktop(tmp_path_factory.mktemp("cells")) as cells:
        yield cells


LOGIN = ("--forms", "--title=Sign in", "--text=Account", "--add-entry=User", "--add-password=Password")


@needs_desktop
def test_a_form_is_filled_by_the_names_of_its_fields(cells: Cells) -> None:
    with dialog("--entry", "--title=Rename", "--text=New name", "--entry-text=old.txt") as process:
        listed = cells.wait_for("(focused)")
        assert listed.startswith("Window 'Rename':\n  1 label 'New name' at (")
        assert "text 'New name' = 'old.txt' (focused) at (" in listed
        cells.run("computer.mouse.click(role='text', name='New name')\ncomputer.keyboard.hotkey('ctrl', 'a')")
        cells.run("computer.keyboard.write('new.txt', delay=0)")
        cells.wait_for("= 'new.txt'")
        cells.run("computer.mouse.click(role='button', name='OK')")
        assert process.communicate(timeout=TIMEOUT)[0] == "new.txt\n"


@needs_desktop
def test_the_list_selects_by_role_and_a_text_means_the_element_with_that_name(cells: Cells) -> None:
    rows = ("One", "Two", "Three")
    with dialog("--list", "--title=Choose", "--column=Number", *rows) as process:
        cells.wait_for("'Three'")
        names = "print([each.name for each in computer.display.elements(role='button')])"
        assert set(cells.run(names).strip("[]").split(", ")) >= {"'OK'", "'Cancel'"}
        # Without a program that reads screenshots, too.
        cells.run(
            "import os\npath = os.environ['PATH']\nos.environ['PATH'] = ''\ncomputer.mouse.click('Two')"
        )
        cells.run("os.environ['PATH'] = path")
        cells.wait_for("'Two' (selected")
        cells.run("computer.mouse.click(computer.display.elements('OK')[0])")
        assert process.communicate(timeout=TIMEOUT)[0] == "Two\n"


@needs_desktop
def test_an_element_of_a_closed_window_is_not_clicked(cells: Cells) -> None:
    with dialog("--question", "--title=First", "--text=First?") as first:
        cells.wait_for("'First?'")
        cells.run("kept = computer.display.elements(role='button', name='Yes')[0]")
        first.kill()
        first.wait(TIMEOUT)
    with dialog("--question", "--title=Second", "--text=Delete all?") as second:
        cells.wait_for("'Delete all?'")
        click = "try:\n    computer.mouse.click(kept)\nexcept Exception as problem:\n    print(problem)"
        assert "has gone or moved. Nothing was clicked." in cells.run(click)
        cells.run("computer.mouse.click(computer.display.elements(role='button', name='No')[0])")
        assert second.wait(TIMEOUT) == 1


@needs_desktop
def test_a_password_is_neither_read_nor_in_screenshots(cells: Cells) -> None:
    with dialog(*LOGIN):
        cells.wait_for("password text")
        cells.run("computer.mouse.click(role='password text')\ncomputer.keyboard.write('hunter2', delay=0)")
        listed = cells.wait_for("(hidden) (focused)")
        assert "hunter2" not in listed
        assert "•" not in listed
        field = "f = computer.display.elements(role='password text')[0].region\n"
        look = "p = computer.display.view(show=False, active_app_only=False)\n"
        assert cells.run(field + look + "print(set(p.crop(f.x, f.y, f.width, f.height).pixels))") == "{0}"
        # The field of the user's name is shown as it is.
        other = "f = computer.display.elements(role='text')[0].region\n"
        assert cells.run(other + "print(max(p.crop(f.x, f.y, f.width, f.height).pixels))") == "255"
        zoom = "z = computer.act({'action': 'zoom', 'region': [f.x, f.y, f.x + f.width, f.y + f.height]})\n"
        assert cells.run(field + zoom + "print(set(z.pixels))") == "{0}"
        active = "p, w = computer.display.view(show=False), computer.os.active_window().region\n"
        assert cells.run(active + "print(p.crop(f.x - w.x, f.y - w.y, 4, 4).pixels == bytes(48))") == "True"


@needs_desktop
def test_on_a_fine_display_elements_are_clicked_and_passwords_are_black_where_they_are(
    cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GTK counts two pixels as one then.
    monkeypatch.setenv("GDK_SCALE", "2")
    with dialog(*LOGIN, "--width=300") as process:
        cells.wait_for("password text")
        cells.run("computer.mouse.click(role='password text')\ncomputer.keyboard.write('hunter2', delay=0)")
        cells.wait_for("(hidden) (focused)")
        region = "w = computer.os.active_window().region\n"
        field = "f = computer.display.elements(role='password text')[0].region\n"
        inside = "print(w.x < f.x < f.x + f.width < w.x + w.width and f.width > 200)\n"
        look = "p = computer.display.view(show=False, active_app_only=False)\n"
        black = "print(set(p.crop(f.x, f.y, f.width, f.height).pixels))"
        assert cells.run(region + field + inside + look + black) == "True\n{0}"
        cells.run("computer.mouse.click(role='button', name='OK')")
        assert process.communicate(timeout=TIMEOUT)[0] == "|hunter2\n"


def test_an_empty_list_says_how_a_browser_reports_what_it_shows() -> None:
    assert "Chromium does when it is started with" in str(Elements())


_PAGE = """<title>Order</title><input aria-label="Customer"><input type="password" aria-label="Secret word">
<button onclick="document.title = 'Sent to ' + document.querySelector('input').value">Send it</button>"""


@pytest.mark.slow
@needs_desktop
@pytest.mark.needs("chromium")
@pytest.mark.parametrize("scale", ["1.25", "2"])
def test_elements_of_a_page_are_clicked_where_they_are_in_a_browser_that_is_scaled(
    cells: Cells, tmp_path: Path, scale: str
) -> None:
    page = tmp_path / "page.html"
    page.write_text(_PAGE)
    words = ["chromium", "--no-sandbox", "--no-first-run", f"--user-data-dir={tmp_path / 'profile'}"]
    words += ["--force-renderer-accessibility", f"--force-device-scale-factor={scale}"]
    words += ["--window-size=500,330", "--window-position=30,40", page.as_uri()]
    # In a session of its own, so that all of its processes end with it.
    with subprocess.Popen(
        words,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "ACCESSIBILITY_ENABLED": "1"},
        start_new_session=True,
    ) as browser:
        try:
            cells.wait_for("'Send it'")
            cells.run("computer.mouse.click(role='text', name='Customer')")
            cells.run("computer.keyboard.write('Ana', delay=0)")
            cells.run("f = computer.display.elements(role='password text')[0].region")
            look = "p = computer.display.view(show=False, active_app_only=False)\n"
            black = "print(set(p.crop(f.x, f.y, f.width, f.height).pixels))"
            assert cells.run(look + black) == "{0}"
            cells.run("computer.mouse.click(role='button', name='Send it')")
            until(lambda: any("Sent to Ana" in item.title for item in X11().windows()), "the title")
        finally:
            os.killpg(browser.pid, signal.SIGKILL)


@needs_desktop
def test_an_element_that_is_not_to_be_seen_is_not_clicked(cells: Cells) -> None:
    programs.need("xterm")
    eyes = X11()
    windows = "print([(w.title, w.hidden) for w in computer.display.windows()])"
    with dialog("--question", "--title=Sure", "--text=Delete it?") as process:
        cells.wait_for("'No'")
        cells.run("kept = computer.display.elements(role='button', name='Yes')[0]")
        for message, value in (("WM_CHANGE_STATE", 3), ("_NET_WM_DESKTOP", 1)):
            (window,) = (window for window in eyes.windows() if window.title == "Sure")
            eyes._windows.ask_manager(message, window.id, value)
            eyes.position()
            until(lambda: "('Sure', True)" in cells.run(windows), message)
            assert cells.run("print(len(computer.display.elements()))") == "0"
            assert "Nothing was clicked" in cells.tried("computer.mouse.click(role='button', name='Yes')")[0]
            assert "on another workspace" in cells.tried("computer.mouse.click(icon='Sure')")[0]
            cells.run("computer.os.activate('Sure')")
            cells.wait_for("'Yes'")
        cells.allows = True
        above = subprocess.Popen(["xterm", "-T", "Above", "-geometry", "90x40+250+150", "-e", "sleep", "60"])
        try:
            until(lambda: "Above" in cells.run("print(computer.os.active_window())"), "the terminal")
            text = cells.tried("computer.mouse.click(kept)")[0]
            assert "The window 'Above' covers the push button 'Yes' of 'Sure'. Nothing was clicked." in text
            assert "is not on the screen" in cells.tried("computer.mouse.click('Yes')")[0]
            # For a moment the window manager shows the name of the workspace above all windows.
            (window,) = (window for window in eyes.windows() if window.title == "Sure")
            until(lambda: eyes.window_at(*window.region.center) is not None, "the end of that")
            text = cells.tried("computer.mouse.click(icon='Sure')")[0]
            assert "The window 'Above' covers the middle of 'Sure'. Nothing was clicked." in text
        finally:
            above.kill()
            above.wait()
            cells.allows = False
            cells.asked.clear()
        assert process.poll() is None
        cells.run("computer.os.activate('Sure')")
        cells.wait_for("'Yes'")
        cells.run("computer.mouse.click(kept)")
        assert process.wait(TIMEOUT) == 0
    eyes._windows.ask_manager("_NET_CURRENT_DESKTOP", eyes._root, 0)
    eyes.position()


@needs_desktop
def test_without_a_window_manager_windows_are_seen_and_masked_all_the_same(
    cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs.need("xterm")
    server, display = start_screen()
    monkeypatch.setenv("DISPLAY", display)
    cells.run(f"import os\nbefore, os.environ['DISPLAY'] = os.environ['DISPLAY'], {display!r}")
    terminal = subprocess.Popen(["xterm", "-T", "Vault", "-geometry", "40x5+900+650", "-e", "sleep", "60"])
    try:
        until(lambda: "'Vault'" in cells.run("print(computer.display.windows())"), "the terminal")
        text = cells.tried("computer.display.view()")[0]
        assert "do not say where their password fields are: 'Vault'" in text
        with dialog("--question", "--title=Sure", "--text=Delete it?") as process:
            cells.wait_for("'Yes'")
            cells.run("computer.os.activate('Vault')")
            until(lambda: "'Vault'" in cells.run("print(computer.os.active_window())"), "the front")
            cells.run("computer.mouse.click(role='button', name='Yes')")
            assert process.wait(TIMEOUT) == 0
    finally:
        cells.asked.clear()
        cells.run("os.environ['DISPLAY'] = before")
        for program in (terminal, server):
            program.kill()
            program.wait()


@needs_desktop
def test_a_screenshot_of_a_window_at_the_edge_begins_at_the_screen(cells: Cells) -> None:
    programs.need("xterm")
    terminal = subprocess.Popen(["xterm", "-T", "Edge", "-geometry", "40x5+-60+90", "-e", "sleep", "60"])
    try:
        until(lambda: "'Edge', region=Region(x=-" in cells.run("print(computer.os.active_window())"), "it")
        cells.allows = True
        text = cells.run("p, w = computer.display.view(), computer.os.active_window().region")
        assert "at (0, 1" in text
        assert ", plus (0, 1" in text
        assert cells.run("print(p.width == w.width + w.x)") == "True"
    finally:
        cells.asked.clear()
        cells.allows = False
        terminal.kill()
        terminal.wait()


@needs_desktop
def test_windows_of_programs_that_describe_nothing_are_not_in_screenshots_unless_allowed(
    cells: Cells,
) -> None:
    programs.need("xterm")
    terminal = subprocess.Popen(["xterm", "-T", "Vault", "-geometry", "40x5+10+10", "-e", "sleep", "60"])
    try:
        until(lambda: "Vault" in cells.run("print(computer.os.active_window())"), "the terminal")
        with dialog("--question", "--title=Sure", "--text=Delete it?"):
            cells.wait_for("'No'")
            # A part of the screen where only known windows are needs no answer.
            assert cells.run("print(computer.display.view(show=False).width > 99)") == "True"
            assert cells.asked == []
            text, ended = cells.tried("p = computer.display.view(active_app_only=False)")
            assert ended.state == "failed"
            assert cells.images == []
            assert "Programs of these windows do not say where their password fields are: 'Vault'." in text
            assert "they set unmasked_screen" in text
            for code in ("computer.mouse.click('nowhere')", "computer.act({'action': 'screenshot'})"):
                assert "So there is no screenshot." in cells.tried(code)[0]
            assert len(cells.asked) == 3
            cells.allows = True
            cells.run("p = computer.display.view(active_app_only=False)")
            assert len(cells.images) == 1
    finally:
        cells.asked.clear()
        cells.allows = False
        terminal.kill()
        terminal.wait()


@needs_desktop
def test_a_window_of_a_program_that_hangs_is_in_no_screenshot(cells: Cells) -> None:
    with dialog(*LOGIN) as stuck:
        cells.wait_for("password text")
        os.kill(stuck.pid, signal.SIGSTOP)
        try:
            text, ended = cells.tried("p = computer.display.view(active_app_only=False)")
        finally:
            os.kill(stuck.pid, signal.SIGCONT)
        assert ended.state == "failed"
        assert "'Sign in'" in text


@needs_desktop
def test_without_an_accessibility_service_there_is_no_screenshot_unless_allowed(cells: Cells) -> None:
    gone = (
        "import os\nbus = os.environ.pop('DBUS_SESSION_BUS_ADDRESS')\ntry:\n    p = computer.display.view()\n"
    )
    gone += "finally: os.environ['DBUS_SESSION_BUS_ADDRESS'] = bus"
    try:
        text, ended = cells.tried(gone)
        assert ended.state == "failed"
        assert (
            "the accessibility service (D-Bus and AT-SPI) does not answer. So there is no screenshot." in text
        )
        cells.allows = True
        cells.run(gone)
        assert len(cells.images) == 1
    finally:
        cells.asked.clear()
        cells.allows = False


def test_a_window_that_was_not_read_to_its_end_is_told_from_those_that_were() -> None:
    def window(title: str) -> Window:
        return Window(1, title, Region(0, 0, 9, 9), active=False)

    found = Passwords([], ["Sign in", "Notes"])
    assert found.unread([window("Sign  in"), window("Notes")]) == []
    # Of two windows with one title, only one was read.
    assert found.unread([window("Notes"), window("Notes"), window("Vault")]) == ["Notes", "Vault"]


@needs_desktop
def test_a_key_in_a_field_is_not_read(cells: Cells) -> None:
    with dialog("--entry", "--title=Key", "--text=Key", "--entry-text=sk-abcdefgh12345678"):
        listed = cells.wait_for("'OK'")
        assert "looks like a password or a key" in listed
        assert "sk-abc" not in listed


@needs_desktop
def test_a_model_without_vision_gets_the_elements(cells: Cells) -> None:
    with dialog("--question", "--title=Sure", "--text=Delete it?"):
        cells.wait_for("'No'")
        assert "button 'No'" not in cells.run("p = computer.display.view()")
        cells.sees = False
        try:
            seen = cells.run("p = computer.display.view(active_app_only=False)")
        finally:
            cells.sees = True
        assert "push button 'No'" in seen
        assert "Delete it?" in seen


@needs_desktop
def test_nothing_is_clicked_where_the_name_fits_none_or_several(cells: Cells) -> None:
    with dialog("--question", "--title=Sure", "--text=Delete it?") as process:
        cells.wait_for("'No'")
        text, ended = cells.tried("computer.mouse.click(role='button', name='Maybe')")
        assert ended.state == "failed"
        assert "There are 0 of button 'Maybe' in the active window. Nothing was clicked." in text
        assert "push button 'No'" in text
        text, _ = cells.tried("computer.mouse.click(role='button')")
        assert "There are 2 of button in the active window" in text
        assert process.poll() is None


@needs_desktop
def test_a_program_on_another_screen_is_not_listed(cells: Cells) -> None:
    with dialog("--question", "--title=Here", "--text=Near?"), screen() as other:
        cells.wait_for("Near?")
        with dialog("--question", "--title=There", "--text=Far?", f"--display={other}"):
            tree = "from oi_tui.computer.desktop.elements import open_tree\n"
            until(
                lambda: "Far?" in cells.run(tree + "print(open_tree().elements((), False))"),
                "the other program",
            )
            listed = cells.run("print(computer.display.elements(active_app_only=False))")
            assert "Near?" in listed
            assert "Far?" not in listed


@needs_desktop
def test_a_program_that_hangs_costs_only_its_own_elements(cells: Cells) -> None:
    with dialog("--question", "--title=Stuck", "--text=Stuck?") as stuck:
        cells.wait_for("Stuck?")
        with dialog("--question", "--title=Alive", "--text=Alive?"):
            cells.wait_for("Alive?")
            os.kill(stuck.pid, signal.SIGSTOP)
            try:
                assert "Alive?" in cells.run("print(computer.display.elements())")
            finally:
                os.kill(stuck.pid, signal.SIGCONT)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        (None, "There is no D-Bus session here (DBUS_SESSION_BUS_ADDRESS is not set)."),
        ("unix:path=/nowhere/bus", "D-Bus cannot be reached (No such file or directory)."),
        (
            "tcp:host=127.0.0.1",
            "D-Bus cannot be reached (tcp:host=127.0.0.1 names no socket of this machine).",
        ),
    ],
)
def test_without_a_bus_a_sentence_says_what_is_missing(
    address: str | None, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from oi_tui.computer.desktop.elements import Tree

    for name in ("AT_SPI_BUS_ADDRESS", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    if address:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    with pytest.raises(ComputerError) as raised:
        Tree().elements()
    assert str(raised.value).startswith(
        f"The elements of programs cannot be listed here: {reason} Elements need"
    )
    assert "apt install dbus at-spi2-core" in str(raised.value)
    with pytest.raises(ComputerError):
        Tree().passwords()


@pytest.mark.parametrize(
    "answer", [None, (), (5,), ("x",), ([5, "y"],), (("a", "b"),), ([(1, [2, ("z",)])],)]
)
def test_a_program_that_answers_nonsense_breaks_no_list_and_no_screenshot(
    answer: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    from oi_tui.computer.desktop.elements import Tree

    # One program with one window with one field, which answers each question in the same way.
    tree, levels = Tree(), iter([[("p", "/1")], [("p", "/2")], [("p", "/3")], []])

    def ask(calls: list[Call], _: float) -> list[object]:
        if calls and calls[0].member == "GetChildren":
            found = next(levels, None)
            return [answer if found is None else (found,) for _ in calls]
        shown = ([1 << 25, 0],)
        return [shown if call.member == "GetState" and call.path == "/2" else answer for call in calls]

    monkeypatch.setattr(tree, "_ask", ask)
    assert tree.elements() == []
    assert tree.passwords().regions == []


def test_a_name_that_is_the_same_is_preferred_to_a_longer_one() -> None:
    def element(number: int, role: str, name: str) -> Element:
        return Element(number, role, name, Region(number, 0, 2, 2), "w")

    listed = Elements([element(1, "push button", "Save as"), element(2, "push button", "Save")])
    assert find_only(listed, "save", "button").number == 2
    assert find_only(listed, "save a", None).number == 1
    # The same element twice, as GTK lists entries of an open combo box, is one.
    twice = [Element(number, "menu item", "Small", Region(5, 5, 2, 2), "w") for number in (3, 4)]
    assert find_only(twice, "Small", "menu item").name == "Small"
    with pytest.raises(ComputerError, match="There are 2 of push_button 'sav'"):
        find_only(listed, "sav", "push_button")


def test_rectangles_of_a_screenshot_are_blackened_also_at_its_edges() -> None:
    white = Screenshot(4, 3, b"\xff" * 36)
    black = white.blacken([(-5, 1, 7, 1), (3, 2, 9, 9), (9, 9, 2, 2)])
    dots = [black.pixels[at * 3] == 0 for at in range(12)]
    assert dots == [False] * 4 + [True, True, False, False] + [False, False, False, True]
    assert white.blacken([]) is white


@pytest.mark.parametrize(
    ("changes", "sees"),
    [({"supports_vision": True}, True), ({"supports_vision": False}, False),
     ({"supports_vision": True, "emit_images": False}, False)],
)  # fmt: skip
def test_code_learns_whether_its_screenshots_are_sent(
    own_world: Path, changes: dict[str, bool], sees: bool
) -> None:
    profile = Profile(model="openai/x").with_changes("flag", os=True, **changes)
    workspace = Workspace(profile, llm=Llm([Text("hi")]))
    try:
        code = "from oi_tui.computer import bridge\nprint(bridge.takes_images())"
        reports = list(workspace.computer.run("python", code))
        assert "".join(report.text for report in reports if isinstance(report, Printed)).strip() == str(sees)
    finally:
        workspace.close()
