"""Edits text in the person's own editor, outside of the application."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from oi_tui.text import one_line

if TYPE_CHECKING:
    from textual.app import App


def is_named() -> bool:
    """Whether the person named an editor, in `$VISUAL` or `$EDITOR`."""
    return bool(os.environ.get("VISUAL") or os.environ.get("EDITOR"))


def edit_outside(app: "App[object]", text: str, suffix: str) -> str:
    """The text as `$VISUAL` or `$EDITOR` (else vi) left it; as it was when that did not work."""
    from textual.app import SuspendNotSupported

    try:
        with app.suspend():
            edited, problem = edit(text, suffix)
    except SuspendNotSupported as error:
        edited, problem = text, str(error)
    if problem:
        app.notify(problem, severity="warning", markup=False)
    return edited


def edit(text: str, suffix: str) -> tuple[str, str]:
    """The text as the person's editor left it; and in a sentence what went wrong, if it is as it was."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        editor = shlex.split(command)
        handle, name = tempfile.mkstemp(suffix=suffix, prefix="oi-tui-")
    except (OSError, ValueError) as error:
        return text, f"{one_line(command)} cannot be started: {error}"
    path = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
            file.write(text)
        status = subprocess.run([*editor, name], check=False).returncode
        if status:
            return text, f"{one_line(command)} ended with {status}; nothing was changed."
        edited = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        return text, f"{one_line(command)} cannot be started: {error}"
    finally:
        path.unlink(missing_ok=True)
    # Editors end a file with a newline whether or not the text had one.
    return edited if text.endswith("\n") else edited.removesuffix("\n"), ""
