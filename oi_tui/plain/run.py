"""Starts plain mode: a conversation in lines, or a single request from standard input."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import FrameType

from oi_tui import log
from oi_tui.engine import rerun
from oi_tui.engine.events import TurnEnded
from oi_tui.engine.llm import endpoint
from oi_tui.engine.models import local_servers
from oi_tui.engine.open_interpreter import setup
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage.store import StoreError
from oi_tui.plain.conversation import PlainConversation
from oi_tui.plain.event_handler import INDENT, PlainEventHandler
from oi_tui.plain.stdin_reader import StdinReader
from oi_tui.plain.wakeup import Wakeup
from oi_tui.system.ending_signals import list_ending_signals
from oi_tui.system.environment import close_to_others
from oi_tui.text import clean_line
from oi_tui.version import __version__
from oi_tui.workspace import Workspace

#: Exit codes, beside 0 for "done" and 2 for a command line that cannot be used.
FAILED, NOT_APPROVED, PAUSED, INTERRUPTED = 1, 3, 4, 130
#: As the shell tells that a program ended because nobody read on.
_PIPE_CLOSED = 128 + signal.SIGPIPE
_ENDS = {"done": 0, "failed": FAILED, "rejected": NOT_APPROVED, "paused": PAUSED, "interrupted": INTERRUPTED}
#: A request of more bytes is no request.
_LONGEST = 50_000_000
#: Makes the workspace of a profile and its file.
OpenWorkspace = Callable[[Profile, Path | None], Workspace]
#: How long after a signal to end others only repeat it, in seconds: a terminal that is closed sends several.
_CLOSING = 10.0
_NO_SERVER = "No model server found on this machine."


class _UnsavedError(Exception):
    """The conversation could be saved nowhere."""


class _Ended(BaseException):
    """A signal asks to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def converse(
    profile: Profile,
    *,
    profile_path: Path | None,
    words: str = "",
    resume: str | None = None,
    navigator: bool = False,
    come_back: str = "",
    open_workspace: OpenWorkspace = Workspace,
) -> int:
    """Hold a conversation in plain lines. Returns the exit code.

    With `navigator`, one of the saved conversations is chosen first. `come_back` is a target on which
    something was left running, to which it is connected first.
    """

    def run_session(stack: ExitStack) -> int:
        workspace, conversation = _begin(
            profile, profile_path, stack, notes=say, reads=True, open_workspace=open_workspace
        )
        workspace.warm_up()
        workspace.model.find_key()
        _greet(conversation, workspace)
        if resume:
            conversation.commands.open_conversation(resume, returning_to=come_back)
        if come_back:
            conversation.commands.target.attach(come_back)
        if navigator:
            conversation.commands.screens.open_navigator()
        if words:
            conversation.dispatch(words)
        conversation.converse()
        return 0 if conversation.keyboard.is_terminal else _find_exit_code(conversation)

    return run_guarded(run_session)


def answer(profile: Profile, *, profile_path: Path | None, words: str = "", resume: str | None = None) -> int:
    """Work on one request from standard input, with `words` before it. Returns the exit code.

    `resume` is a saved conversation that the request continues.

    Messages, code and output go to standard output, the rest to standard error.
    """
    data = b"" if sys.stdin is None or (sys.stdin.isatty() and words) else sys.stdin.buffer.read(_LONGEST)
    request = "\n\n".join(part for part in (words, data.decode("utf-8", "replace").strip()) if part)
    if not request:
        write_error("oi-tui: no request on standard input\n")
        return 2

    def run_session(stack: ExitStack) -> int:
        workspace, conversation = _begin(profile, profile_path, stack, notes=write_error, reads=False)
        if resume and (problem := _resume(workspace, resume)):
            write_error(f"oi-tui: {problem}\n")
            return FAILED
        # With a request in words, what comes through the pipe is material.
        conversation.say(request, typed=words or None)
        return _find_exit_code(conversation)

    return run_guarded(run_session)


def _resume(workspace: Workspace, id: str) -> str:
    """Open a saved conversation without showing it. Returns why that fails, "" if it does not."""
    try:
        workspace.conversation.resume(id)
    except StoreError as error:
        return f"could not open the conversation: {error}"
    for notice in (*workspace.conversation.notices, *workspace.conversation.describe_left()):
        write_error(f"{notice}\n")
    if warning := rerun.describe_lost(workspace.session.messages):
        write_error(f"{warning}\n")
    return ""


def _begin(
    profile: Profile,
    profile_path: Path | None,
    stack: ExitStack,
    *,
    notes: Callable[[str], None],
    reads: bool,
    open_workspace: OpenWorkspace = Workspace,
) -> tuple[Workspace, PlainConversation]:
    log.begin()
    log.print_lines(profile.verbose or profile.debug)
    stack.callback(log.print_lines, False)
    if profile.local and not endpoint.is_this_machine(endpoint.find_server(profile)):
        profile = _find_served_model(profile, notes)
    workspace = open_workspace(profile, profile_path)
    stack.push(partial(_close, workspace))
    alarm = Wakeup()
    stack.callback(alarm.close)
    keyboard = StdinReader(alarm)
    handler = PlainEventHandler(
        say,
        notes,
        workspace.save_image,
        echoes=keyboard.is_terminal and reads,
        indent=INDENT if reads else "",
    )
    for remark in workspace.remarks:
        handler.print_notice(remark)
    if wrong := endpoint.check_provider_address(profile):
        handler.print_notice(wrong.sentence)
    if unkept := log.find_problem():
        handler.print_notice(unkept)
    if unheld := workspace.computer.explain_sandbox_failure():
        handler.print_notice(unheld)
    is_terminal = sys.stdout.isatty()
    return workspace, PlainConversation(workspace, handler, keyboard, alarm, seen=is_terminal, reads=reads)


def _close(workspace: Workspace, ending: type[BaseException] | None, *_: object) -> None:
    """End everything, and say what became of unsaved messages. Raises _UnsavedError if they are lost."""
    if unsaved := workspace.close():
        with contextlib.suppress(OSError):
            write_error(f"{unsaved}\n")
    if ending is None and workspace.conversation.is_lost:
        raise _UnsavedError


def _find_served_model(profile: Profile, notes: Callable[[str], None]) -> Profile:
    """Return the profile with a model of this machine: the one it names, else the first, if any answers."""
    models = local_servers.find()
    name = profile.model if "model" in profile.origins else None
    fitting = [item for item in models if name is None or local_servers.is_named(item, name)]
    if not fitting:
        lines = [f"{item.model} ({item.server})" for item in models]
        hints = f"There are: {', '.join(lines)}." if lines else "\n".join(local_servers.list_hints())
        reason = clean_line(f"No server on this machine has {name}.", 200) if name and lines else _NO_SERVER
        for line in (reason, *hints.splitlines()):
            notes(f"{clean_line(line, 300)}\n")
        return profile
    model = fitting[0]
    notes(f"The model is {clean_line(model.model, 60)} ({model.server} at {model.api_base}).\n")
    return profile.with_changes(model=model.model, api_base=model.api_base)


def _greet(conversation: PlainConversation, workspace: Workspace) -> None:
    model = clean_line(workspace.profile.model, 60)
    asks = "runs without asking" if workspace.profile.auto_run else "needs your approval"
    conversation.handler.print_notice(
        f"oi-tui {__version__}, plain mode. "
        + (f"The model is {model}. Code {asks}." if workspace.model.is_chosen else "")
        + (f" It runs {clean_line(workspace.computer.where, 200)}." if workspace.computer.where else "")
        + "\n%help lists the commands; ctrl+d quits."
    )
    if workspace.is_new and setup.detect(workspace.store):
        conversation.handler.print_notice(
            "Open Interpreter was found on this machine. oi-tui --import imports it."
        )
    if not workspace.model.is_chosen:
        conversation.handler.print_notice(
            "No model is set: %model chooses one. ! runs a shell command, %python CODE runs Python."
        )


def _find_exit_code(conversation: PlainConversation) -> int:
    """Return the exit code for how the last turn ended."""
    ended: TurnEnded | None = conversation.outcome
    if conversation.refused:
        return NOT_APPROVED
    return _ENDS[ended.outcome] if ended else 0


def run_guarded(work: Callable[[ExitStack], int]) -> int:
    """Do the work, and leave nothing running, however it ends."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    close_to_others()
    try:
        with _handle_signals(), ExitStack() as stack:
            return work(stack)
    except BrokenPipeError:
        # What Python would still flush on the way out has nowhere to go either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except _UnsavedError:
        return FAILED
    except _Ended as ended:
        return 128 + ended.number


@contextlib.contextmanager
def _handle_signals() -> Iterator[None]:
    """Handle the signals that end programs: everything is closed first.

    Signals that follow soon do not cut that short. A later one does, where closing takes too long.
    """
    first_at = float("-inf")

    def end(number: int, _frame: FrameType | None) -> None:
        nonlocal first_at
        now = time.monotonic()
        if now - first_at >= _CLOSING:
            first_at = now
            raise _Ended(number)

    numbers: list[int] = [number for number in list_ending_signals() if number != signal.SIGINT]
    before = {number: signal.signal(number, end) for number in numbers}
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        # While the program was loading, ctrl+c ended it; from here on it stops what is in progress.
        before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def say(text: str) -> None:
    """Write to standard output."""
    sys.stdout.write(text)
    sys.stdout.flush()


def write_error(text: str) -> None:
    """Write to standard error."""
    with contextlib.suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()
