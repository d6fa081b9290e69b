"""Edits text in the person's own editor, outside of the application."""

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from oi_tui.text import clean_line

if TYPE_CHECKING:
    from textual.app import App


#: The signals that also end the editor: the application has to restore its terminal and end.
_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
#: Seconds that an editor is given to keep what it has when the application must end.
_TIMEOUT = 2.0


def is_named() -> bool:
    """Return whether the person named an editor, in `$VISUAL` or `$EDITOR`."""
    return bool(os.environ.get("VISUAL") or os.environ.get("EDITOR"))


def edit_outside(app: "App[object]", text: str, suffix: str) -> str:
    """Return the text as `$VISUAL` or `$EDITOR` (else vi) left it; as it was when that did not work."""
    from textual.app import SuspendNotSupported

    try:
        with app.suspend():
            edited, problem = edit(text, suffix, _run_until_signal)
    except SuspendNotSupported as error:
        edited, problem = text, str(error)
    if problem:
        app.notify(problem, severity="warning", markup=False)
    return edited


def edit(text: str, suffix: str, run: Callable[[Sequence[str]], int] = subprocess.call) -> tuple[str, str]:
    """Return the text as the person's editor left it; and in a sentence what went wrong, if it is as it was.

    `run` runs a command and returns its exit code.
    """
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        editor = shlex.split(command)
        handle, name = tempfile.mkstemp(suffix=suffix, prefix="oi-tui-")
    except (OSError, ValueError) as error:
        return text, f"{clean_line(command)} cannot be started: {error}"
    path = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
            file.write(text)
        with _leave_ctrl_c_to_editor():
            status = run([*editor, name])
        if status:
            return text, f"{clean_line(command)} ended with {status}; nothing was changed."
        edited = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        return text, f"{clean_line(command)} cannot be started: {error}"
    finally:
        path.unlink(missing_ok=True)
    # Editors end a file with a newline whether or not the text had one.
    return edited if text.endswith("\n") else edited.removesuffix("\n"), ""


@contextlib.contextmanager
def _leave_ctrl_c_to_editor() -> Iterator[None]:
    """Do nothing at ctrl+c within the context: an editor has its own use for it, and we get it too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # A function, since what is ignored here would be ignored in the editor as well.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _run_until_signal(command: Sequence[str]) -> int:
    """Run a command, and end it when the application is told to end. Returns its exit code.

    The event loop waits meanwhile. It gets the signal as well, when the command has ended.
    """
    process: subprocess.Popen[bytes] | None = None
    must_end = False

    def end(_number: int, _frame: object) -> None:
        nonlocal must_end
        must_end = True
        if process:
            _end_soon(process)

    # Before the command is there: it may be the reason for which the signal is sent.
    before = [(number, signal.signal(number, end)) for number in _ENDING]
    try:
        with subprocess.Popen(command) as process:
            if must_end:
                _end_soon(process)
            return process.wait()
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _end_soon(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    last_resort = threading.Timer(_TIMEOUT, process.kill)
    last_resort.daemon = True
    last_resort.start()
