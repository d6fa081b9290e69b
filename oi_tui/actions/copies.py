"""Copies files between this machine and the targets: `%get` and `%put`."""

import os
import shlex
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from oi_tui import paths
from oi_tui.actions.interface import BUSY, UserInterface
from oi_tui.commands import CommandError
from oi_tui.engine.events import Event, FileCopied, Noticed, TurnEnded
from oi_tui.text import clean_line
from oi_tui.workspace import Workspace

if TYPE_CHECKING:
    from oi_tui.runtimes.remote.files import TargetFiles

#: How often the screen hears how far a copy is, in seconds.
_OFTEN = 0.2

_Copy = Callable[[threading.Event], Iterator[tuple[int, int]]]


class FileCopies:
    """Copies a file as a turn, which a stop ends; the same command continues it."""

    def __init__(self, ui: UserInterface, workspace: Workspace) -> None:
        self._ui = ui
        self._workspace = workspace

    def get(self, argument: str) -> None:
        """Copy a file of a target to this machine."""
        files, there, second = self._read(argument, "get", "FILE [NEW_NAME]")
        folder = self._workspace.computer.cwd
        here = folder / paths.expand_typed(second) if second else folder
        if os.path.isdir(here):  # noqa: PTH112 -- that of Path raises where it cannot look
            # The name is what the person typed, whatever the target says.
            here /= Path(there).name
        elif second.endswith("/"):
            raise CommandError(f"Not copied. {clean_line(second, 200)} is no folder here; make it first.")
        if here.name in ("", ".", ".."):
            raise CommandError("Name a file: %get results.csv")
        self._refuse_way_out(here)
        self._start(there, paths.shorten(here), lambda stopped: files.get(there, here, stopped))

    def put(self, argument: str) -> None:
        """Copy a file of this machine to a target."""
        files, first, second = self._read(argument, "put", "FILE [FOLDER_OR_NEW_NAME]")
        here = self._workspace.computer.cwd / paths.expand_typed(first)
        self._refuse_way_out(here)
        there = second or here.name
        self._start(paths.shorten(here), there, lambda stopped: files.put(here, there, stopped))

    def _refuse_way_out(self, here: Path) -> None:
        if reason := self._workspace.explain_way_out(here):
            raise CommandError(f"Not copied. {reason}.")

    def _read(self, argument: str, command: str, usage: str) -> tuple["TargetFiles", str, str]:
        """Return the files of the target that is meant, and one or two paths. Raises CommandError."""
        try:
            words = shlex.split(argument)
        except ValueError:
            words = []
        computer = self._workspace.computer
        target = words.pop(0) if len(words) > 1 and computer.explain_refusal_at(words[0]) is None else ""
        if not 1 <= len(words) <= 2 or not all(words):
            raise CommandError(f"Type %{command} [TARGET] {usage}; put names with spaces in quotes.")
        files = computer.targets.files_on(target)
        if files is None:
            others = [name for name in computer.targets.names if name != computer.targets.home]
            example = f"%{command} {clean_line(others[0], 100)} {words[0]}" if others else "%on ssh:HOST"
            if not target and not computer.where:
                raise CommandError(
                    f"Code runs on this machine: there is no target to copy from or to. Try {example}."
                )
            place = clean_line(target or computer.where, 200)
            raise CommandError(f"Files cannot be copied from or to {place}. Try {example}.")
        return files, words[0], words[1] if len(words) > 1 else ""

    def _start(self, name: str, to: str, copy: _Copy) -> None:
        if self._ui.busy:
            self._ui.show_notice(BUSY, warning=True)
        else:
            session = self._workspace.session
            self._ui.start(session.run_beside(lambda stopped: _report_progress(name, to, copy(stopped))))


def _report_progress(name: str, to: str, copy: Iterator[tuple[int, int]]) -> Iterator[Event]:
    from oi_tui.runtimes.remote.files import FileError

    name, to = clean_line(name, 200), clean_line(to, 200)
    began, last_report, first, size = time.monotonic(), 0.0, None, 0
    try:
        for done, size in copy:
            first = done if first is None else first
            if time.monotonic() - last_report >= _OFTEN:
                last_report = time.monotonic()
                yield FileCopied(name, done, size)
    except FileError as error:
        yield Noticed(clean_line(str(error), 500), "warning")
        yield TurnEnded("done")
        return
    seconds = time.monotonic() - began
    again = f", continued from {first:,}" if first else ""
    yield Noticed(f"Copied {name} to {to}: {size:,} bytes in {seconds:.1f} s{again}.")
    yield TurnEnded("done")
