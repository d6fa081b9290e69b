"""What a cell did with mouse and keyboard, as the conversation shows and keeps it."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui.computer.desktop.action_log import ActionLog
from oi_tui.engine.export.formats import write_markdown
from oi_tui.engine.llm.base import Text
from oi_tui.engine.settings.profile import Profile
from oi_tui.workspace import Workspace
from tests.computer.desktop import TIMEOUT
from tests.computer.gtk import Cells, desktop, dialog, needs_desktop
from tests.fakes import Llm, call

RENAME = ("--entry", "--title=Rename", "--text=New name", "--entry-text=old.txt")
FILL = """
computer.mouse.click(role='text', name='New name')
computer.keyboard.hotkey('ctrl', 'a', interval=0)
computer.keyboard.write('secret', delay=0)
computer.keyboard.press('t', interval=0)
"""


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cells]:
    with desktop(tmp_path_factory.mktemp("cells")) as cells:
        yield cells


@needs_desktop
def test_actions_are_listed_with_their_window_and_no_typed_text(cells: Cells) -> None:
    with dialog(*RENAME):
        cells.wait_for("(focused)")
        assert cells.run(FILL).splitlines() == [
            "Mouse and keyboard:",
            "  click at 'New name' (641, 413) in 'Rename'",
            "  press ctrl+a in 'Rename'",
            "  type 7 characters in 'Rename'",
        ]
        before, after = (base64.b64decode(image) for image in cells.images)
        assert before != after
        # The next cell begins anew, and one that only looks has done nothing.
        assert "Mouse and keyboard" not in cells.run("computer.mouse.position()")
        assert cells.images == []


@needs_desktop
def test_clicks_drags_and_the_wheel_are_listed(cells: Cells) -> None:
    with dialog("--scale", "--title=Size", "--text=Size", "--width=400"):
        cells.wait_for("'OK'")
        listed = cells.run(
            "r = computer.display.elements(role='slider')[0].region\nx, y = r.x + 12, r.y + r.height - 12\n"
            "computer.mouse.drag((x, y), (x + 99, y))\ncomputer.mouse.scroll(-2)\ncomputer.mouse.scroll(-1)\n"
            "computer.mouse.double_click(x, y)\ncomputer.mouse.right_click(x, y)\nprint(x, y)"
        )
        x, y = listed.splitlines()[0].split()
        assert listed.splitlines()[2:] == [
            f"  drag from ({x}, {y}) to ({int(x) + 99}, {y}) in 'Size'",
            "  scroll down (3 times) in 'Size'",
            f"  double-click at ({x}, {y}) in 'Size'",
            f"  right click at ({x}, {y}) in 'Size'",
        ]


@needs_desktop
def test_a_cell_that_fails_lists_what_it_did_before(cells: Cells) -> None:
    with dialog(*RENAME):
        cells.wait_for("(focused)")
        text, ended = cells.tried("computer.mouse.click('New name')\n1 / 0")
        assert ended.state == "failed"
        assert "click at 'New name'" in text


@needs_desktop
def test_no_screenshot_is_kept_of_what_may_show_passwords_and_nobody_is_asked(cells: Cells) -> None:
    hidden = (
        "import os\nbus = os.environ.pop('DBUS_SESSION_BUS_ADDRESS')\ntry: computer.keyboard.press('f9')\n"
    )
    with dialog(*RENAME):
        cells.wait_for("(focused)")
        text = cells.run(hidden + "finally:\n    pass")
        assert "press f9 in 'Rename'" in text
        assert cells.images == []
        cells.run("os.environ['DBUS_SESSION_BUS_ADDRESS'] = bus")
        assert cells.asked == []


@needs_desktop
def test_a_conversation_keeps_and_exports_the_list_and_the_model_gets_no_screenshots_of_it(
    cells: Cells, own_world: Path
) -> None:
    llm = Llm([call(FILL + "computer.mouse.click('OK')")], [Text("Renamed.")])
    profile = Profile(model="openai/x").with_changes("flag", os=True, auto_run=True, supports_vision=True)
    with dialog(*RENAME) as process:
        cells.wait_for("(focused)")
        workspace = Workspace(profile, llm=llm, computer=cells.computer, borrowed=True)
        try:
            list(workspace.session.turn("Rename it."))
            messages = workspace.session.messages
            exported = write_markdown("Rename", messages)
        finally:
            workspace.close()
        assert process.communicate(timeout=TIMEOUT)[0] == "secrett\n"
    assert "click at 'OK'" in exported
    screenshots = [message for message in messages if message.type == "image"]
    assert [screenshot.recipient for screenshot in screenshots] == ["user"] * len(screenshots)
    assert screenshots
    sent = json.dumps(llm.requests[-1].messages, default=str)
    assert "type 7 characters in 'Rename'" in sent
    assert "image_url" not in sent


def test_a_long_list_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    from oi_tui.computer import cells

    class Screen:
        def windows(self) -> list[object]:
            return []

    shown: list[str] = []
    monkeypatch.setattr(cells, "_number", lambda: 1)
    monkeypatch.setattr(cells, "_show", lambda text, _: shown.append(text))
    log = ActionLog(Screen(), lambda _: None)  # type: ignore[arg-type]
    for number in range(40):
        log.pressed(f"f{number}")
    log.show()
    log.show()
    (text,) = shown
    assert text.splitlines()[-2:] == ["  press f29", "  and 10 more"]
