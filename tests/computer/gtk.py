"""A virtual screen with an accessibility service, Python with the computer object, and dialogs of GTK."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from oi_tui.computer_api import ComputerApi
from oi_tui.engine.llm.base import Text
from oi_tui.engine.settings.profile import Profile
from oi_tui.messages import Displayed, Message, Printed, RunEnded
from oi_tui.runtimes import Computer
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.workspace import Workspace
from tests import bare_python
from tests.computer.desktop import screen, until
from tests.fakes import Llm, call

needs_desktop = pytest.mark.needs("Xvfb", "openbox", "dbus-daemon", "at-spi2", "zenity")


class Cells:
    """Python with the computer object on a screen."""

    def __init__(self, folder: Path, python: str | None = None) -> None:
        self.sees = True
        #: Why screenshots were asked for that may show passwords, and the answer.
        self.asked: list[str] = []
        self.allows = False
        self.api = ComputerApi(
            lambda text, images: "",
            lambda: self.computer.interrupt(),
            takes_images=lambda: self.sees,
            allows_unmasked=self._allows,
        )
        declared = self.api.add_to(LANGUAGES)
        self.computer = Computer(cwd=folder, declared=declared, python=python or bare_python.interpreter())
        self.images: list[str] = []

    def _allows(self, why: str) -> bool:
        self.asked += [why] if why else []
        return self.allows

    def tried(self, code: str) -> tuple[str, RunEnded]:
        reports = list(self.computer.run("python", code))
        self.images = [report.content for report in reports if isinstance(report, Displayed)]
        assert isinstance(reports[-1], RunEnded)
        text = "".join(report.text for report in reports if isinstance(report, Printed))
        return text.replace("\r\n", "\n").strip(), reports[-1]

    def run(self, code: str) -> str:
        text, ended = self.tried(code)
        assert ended.state == "finished", text
        return text

    def turn(self, *pieces: str) -> Sequence[Message]:
        """Have a scripted model run these pieces of code in a turn of a conversation; all must finish."""
        llm = Llm(*([call(code)] for code in pieces), [Text("Done.")])
        profile = Profile(model="openai/x").with_changes("flag", os=True, auto_run=True)
        workspace = Workspace(profile, llm=llm, computer=self.computer, borrowed=True)
        try:
            list(workspace.session.turn("Do it."))
            messages = workspace.session.messages
        finally:
            workspace.close()
        outputs = [message.content for message in messages if message.type == "console"]
        states = [message.state for message in messages if message.is_cell]
        assert states == ["finished"] * len(pieces), outputs
        return messages

    def wait_for(self, text: str) -> str:
        """Wait until the elements of the active program contain this text and stay; return them."""
        before = ""

        def stays() -> str:
            nonlocal before
            now = self.run("print(computer.display.elements())")
            same, before = now == before, now
            return now if same and text in now else ""

        try:
            return until(stays, repr(text))
        except AssertionError:
            tree = "from oi_tui.computer.desktop.elements import open_tree\n"
            tree += "print(open_tree().elements((), False))\n"
            seen = self.tried(tree + "print(computer.display.windows())")[0]
            raise AssertionError(f"waited in vain for {text!r}; last listed: {before!r}; {seen}") from None


@contextmanager
def session_bus() -> Iterator[str]:
    """A D-Bus session of its own, which starts the accessibility service when it is asked for."""
    with tempfile.TemporaryDirectory() as folder:
        address = f"unix:path={folder}/bus"
        argv = [
            "dbus-daemon",
            "--session",
            "--nofork",
            "--nopidfile",
            f"--address={address}",
            "--print-address",
        ]
        # Without a folder of its own, the accessibility service takes the socket of another one's bus away.
        bus = subprocess.Popen(
            argv,
            env={**os.environ, "XDG_RUNTIME_DIR": folder},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        try:
            assert bus.stdout
            assert bus.stdout.readline().startswith(address)
            yield address
        finally:
            # What the bus started, the accessibility service, is in its process group.
            os.killpg(bus.pid, signal.SIGTERM)
            bus.wait()
            bus.stdout.close()


@contextmanager
def desktop(folder: Path, python: str | None = None) -> Iterator[Cells]:
    """A screen with the accessibility service at work, and cells on it, in a bare Python or in this one."""
    with screen() as display, session_bus() as bus, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISPLAY", display)
        patch.setenv("DBUS_SESSION_BUS_ADDRESS", bus)
        patch.delenv("AT_SPI_BUS_ADDRESS", raising=False)
        cells = Cells(folder, python)
        try:
            # All that the tests share is started before them.
            cells.run("computer.mouse.move(5, 5)\ncomputer.display.elements()")
            yield cells
        finally:
            cells.computer.close()
            cells.api.close()


@contextmanager
def dialog(*argv: str) -> Iterator["subprocess.Popen[str]"]:
    """A dialog of GTK at work."""
    command = ["zenity", *argv]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
