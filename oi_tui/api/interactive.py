"""Starts an interactive session from a script: the full screen on a terminal, else plain lines."""

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from oi_tui.engine.llm.base import Llm
from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage.journal import Journal
from oi_tui.messages import Message
from oi_tui.runtimes.computer import Computer
from oi_tui.workspace import Workspace

#: What a person types to end a conversation where ctrl+d is not at hand, as in a notebook.
_LEAVING = ("exit", "exit()", "quit", "quit()")


class Outcome(NamedTuple):
    """How a conversation ended: its messages, and the signal that ended it; 0 where the person left."""

    messages: tuple[Message, ...]
    signal_number: int = 0


def is_possible() -> bool:
    """Return whether standard input and output are files of the system, and signals can be handled."""
    try:
        sys.stdin.fileno()
        sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):
        return False
    return threading.current_thread() is threading.main_thread()


def run(
    profile: Profile,
    llm: Llm | None,
    computer: Computer,
    conversation: tuple[Journal, Sequence[Message]],
    earlier: EarlierCode,
) -> Outcome:
    """Hold the conversation until the person leaves, or a signal ends it. The languages stay alive."""
    from oi_tui import app
    from oi_tui.plain.run import converse

    workspaces: list[Workspace] = []

    def open_workspace(profile: Profile, path: Path | None) -> Workspace:
        workspaces.append(
            Workspace(
                profile,
                path,
                llm=llm,
                computer=computer,
                borrowed=True,
                conversation=conversation,
                earlier=earlier,
            )
        )
        return workspaces[0]

    screen = sys.stdin.isatty() and sys.stdout.isatty()
    with _keep_signals((signal.SIGINT, *app.ENDING)):
        code = (app.run if screen else converse)(profile, profile_path=None, open_workspace=open_workspace)
    messages = workspaces[0].session.messages if workspaces else tuple(conversation[1])
    return Outcome(messages, code - 128 if code - 128 in app.ENDING else 0)


def read_lines() -> Iterator[str]:
    """Yield the lines that a person types with `input`, as in a notebook, until they leave."""
    while True:
        try:
            words = input("> ").strip()
        except (EOFError, OSError, RuntimeError, ValueError):
            return
        if words in _LEAVING:
            return
        if words:
            yield words


@contextlib.contextmanager
def _keep_signals(numbers: Sequence[int]) -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
