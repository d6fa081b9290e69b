"""Grants for actions in one window, in real programs: they let through what they say, and nothing else."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui.engine.events import ApprovalRequested, Reject, Run
from oi_tui.engine.llm.base import Text
from oi_tui.engine.review.permissions import Permission, list_offers
from oi_tui.engine.settings.profile import Profile
from oi_tui.workspace import Workspace
from tests.computer.desktop import TIMEOUT
from tests.computer.gtk import Cells, desktop, dialog, needs_desktop
from tests.fakes import Llm, call

pytestmark = needs_desktop

RENAME = ("--entry", "--title=Rename", "--text=New name", "--entry-text=old.txt")
BANK = ("--entry", "--title=Bank", "--text=Amount", "--entry-text=10")
CLICK = "computer.mouse.click(role='text', name='New name')"
CLICK_AND_TYPE = f"{CLICK}\ncomputer.keyboard.write('x', delay=0)"


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cells]:
    with desktop(tmp_path_factory.mktemp("cells")) as cells:
        yield cells


class Conversation:
    """A conversation whose model writes the code of the test."""

    def __init__(self) -> None:
        self.llm = Llm()
        self.workspace = Workspace(Profile(model="openai/x").with_changes("flag", os=True), llm=self.llm)

    @property
    def window_grants(self) -> list[Permission]:
        return [item for item in self.workspace.session.permissions.in_force if item.scope == "window"]

    def offered(self, code: str) -> list[Permission]:
        session, languages = self.workspace.session, self.workspace.languages
        cwd = self.workspace.computer.cwd
        found = list_offers("python", code, cwd, session.earlier, languages.acted_window)
        return [item for item in found if item.scope == "window"]

    def run(self, code: str, *, grant: bool = False, refuse: bool = False) -> tuple[bool, str]:
        """Run code, with a grant for its window. Return whether it was asked for, and the output."""
        self.llm.replies += [[call(code)], [Text("Done.")]]
        asked, before = False, len(self.workspace.session.messages)
        for event in self.workspace.session.turn("Go on."):
            if isinstance(event, ApprovalRequested):
                asked = True
                given = self.offered(code)[0] if grant else None
                event.reply(Reject(stop=True) if refuse else Run(code, given))
        messages = self.workspace.session.messages[before:]
        return asked, "".join(message.content for message in messages if message.type == "console")


@pytest.fixture
def conversation(own_world: Path) -> Iterator[Conversation]:
    found = Conversation()
    yield found
    found.workspace.close()


def test_a_grant_lets_its_kind_of_action_through_in_its_window(
    cells: Cells, conversation: Conversation
) -> None:
    with dialog(*RENAME) as process:
        cells.wait_for("(focused)")
        # Nobody knows before the first action where code acts.
        assert conversation.offered(CLICK) == []
        assert conversation.run(CLICK)[0]
        assert [item.words for item in conversation.offered(CLICK)] == ["clicking in the window “Rename”"]
        assert conversation.run(CLICK, grant=True)[0]
        asked, output = conversation.run(CLICK)
        assert not asked
        assert "click at 'New name'" in output
        # Typing is another kind.
        assert conversation.run(CLICK_AND_TYPE, grant=True)[0]
        typing = f"{CLICK_AND_TYPE}\ncomputer.keyboard.press('end', 'enter', interval=0)"
        assert conversation.run(typing)[0] is False
        assert process.communicate(timeout=TIMEOUT)[0].endswith("\n")


def test_nothing_is_done_in_another_window(cells: Cells, conversation: Conversation) -> None:
    with dialog(*RENAME):
        cells.wait_for("(focused)")
        conversation.run(CLICK_AND_TYPE)
        conversation.run(CLICK_AND_TYPE, grant=True)
        with dialog(*BANK) as bank:
            cells.wait_for("label 'Amount'")
            for code in (
                "computer.mouse.click(role='button', name='OK')",
                "computer.keyboard.press('enter')",
                "computer.mouse.click(640, 455)",
                "computer.os.activate('Bank')\ncomputer.keyboard.press('enter')",
                "computer.mouse.click('Amount')",
            ):
                asked, output = conversation.run(code)
                assert not asked
                assert "ComputerError" in output, output
                assert bank.poll() is None
            listed = "print(computer.display.elements(active_app_only=False))\ncomputer.mouse.scroll(1)"
            conversation.run(listed, grant=True)
            assert "Amount" not in conversation.run(listed)[1]
    # A window of the same title that is opened later is another one.
    with dialog(*RENAME) as later:
        cells.wait_for("(focused)")
        assert "Nothing was done" in conversation.run("computer.keyboard.press('enter')")[1]
        assert later.poll() is None


def test_a_granted_window_that_is_covered_or_renamed_is_not_acted_in(
    cells: Cells, conversation: Conversation
) -> None:
    with dialog(*RENAME):
        cells.wait_for("(focused)")
        x, y = cells.run("print(*computer.display.elements(role='text')[0].center)").split()
        click = f"computer.mouse.click({x}, {y})"
        conversation.run(click)
        conversation.run(click, grant=True)
        with dialog(*BANK) as bank:
            cells.wait_for("label 'Amount'")
            assert "Nothing was done" in conversation.run(click)[1]
            assert bank.poll() is None
        cells.wait_for("'New name'")
        subprocess.run(
            ["xdotool", "search", "--name", "^Rename$", "set_window", "--name", "Bank"], check=True
        )
        assert "Nothing was done" in conversation.run(click)[1]


def test_keys_of_the_desktop_and_screenshots_are_in_no_grant(
    cells: Cells, conversation: Conversation
) -> None:
    with dialog(*RENAME):
        cells.wait_for("(focused)")
        conversation.run(CLICK_AND_TYPE)
        conversation.run(CLICK_AND_TYPE, grant=True)
        asked, output = conversation.run("computer.keyboard.hotkey('alt', 'tab')")
        assert not asked
        assert "'Alt_L' was not pressed" in output
        # A text that is no element would have to be looked for in a screenshot.
        asked, output = conversation.run("computer.mouse.click('Not there')")
        assert not asked
        assert "There is no screenshot" in output


def test_a_revoked_grant_is_asked_for_again_and_another_conversation_has_none(
    cells: Cells, conversation: Conversation
) -> None:
    with dialog(*RENAME):
        cells.wait_for("(focused)")
        conversation.run(CLICK)
        conversation.run(CLICK, grant=True)
        (granted,) = conversation.window_grants
        conversation.workspace.session.permissions.revoke(granted)
        assert conversation.run(CLICK, refuse=True)[0]
        conversation.workspace.languages.reset_for_conversation()
        assert conversation.offered(CLICK) == []
