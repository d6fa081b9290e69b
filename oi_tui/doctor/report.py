"""Formats the results of the checks, for the screen or for a bug report."""

import getpass
import os
import platform
import textwrap
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from oi_tui import paths
from oi_tui.doctor.examination import TIMEOUT, examine, list_checks
from oi_tui.doctor.finding import Diagnosis
from oi_tui.doctor.target import TIMEOUT as TARGET_TIMEOUT
from oi_tui.text import escape_controls
from oi_tui.version import __version__

if TYPE_CHECKING:
    from oi_tui.doctor.active_profile import ActiveProfile

#: Columns of a line.
WIDTH = 80
_MARKS = {True: "ok", False: "PROBLEM", None: "-"}
_INDENT = 10


def run(target: str | None, active: "ActiveProfile | None" = None) -> int:
    """Examine, print, and write the report to a file where one is named. Returns the exit code."""
    text, problems = report(active, ask_terminal=True)
    with suppress(BrokenPipeError):
        print(text, flush=True)  # noqa: T201
    if target:
        try:
            path = _write(paths.expand_typed(target), text)
        except OSError as error:
            print(f"oi-tui: could not write the report: {target}: {error.strerror}")  # noqa: T201
            return 2
        print(f"Written to {path}, without keys and without your name.")  # noqa: T201
    return 1 if problems else 0


def report(active: "ActiveProfile | None" = None, *, ask_terminal: bool) -> tuple[str, int]:
    """Return the report, and the number of problems in it. Nothing secret is in it."""
    lines = [f"oi-tui {__version__} on {platform.system()} {platform.release()}, {platform.machine()}"]
    problems = 0
    stopped = threading.Event()
    parts = list_checks(active, ask_terminal=ask_terminal, stopped=stopped)
    timeout = TARGET_TIMEOUT if any(part.title == "Target" for part in parts) else TIMEOUT
    for title, findings in examine(parts, timeout, stopped):
        problems += sum(finding.good is False for finding in findings)
        lines += ["", title, *_format_lines(findings)]
    verdict = f"{problems} problem{'s' * (problems != 1)}." if problems else "No problem was found."
    return _remove_personal_data("\n".join([*lines, "", verdict])), problems


def _format_lines(findings: Iterable[Diagnosis]) -> Iterable[str]:
    for finding in findings:
        yield from _wrap(f"  {_MARKS[finding.good]:<{_INDENT - 2}}", escape_controls(finding.words))
        if finding.fix:
            yield from _wrap(f"{'':<{_INDENT}}> ", escape_controls(finding.fix))


def _wrap(first: str, words: str) -> list[str]:
    return textwrap.wrap(
        " ".join(words.split()),
        WIDTH,
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first.rstrip()]


def _remove_personal_data(text: str) -> str:
    """Return the text without keys, and without the person's name in paths."""
    from oi_tui.engine.credentials.redaction import redact

    home = os.path.expanduser("~")  # noqa: PTH111
    if len(home) > 1:
        text = text.replace(home + os.sep, "~" + os.sep)
    with suppress(OSError, KeyError, ImportError):
        user = getpass.getuser()
        text = text.replace(f"{os.sep}{user}{os.sep}", f"{os.sep}…{os.sep}")
    return redact(text)


def _write(path: Path, text: str) -> Path:
    """Write a file that is not there yet, for its owner only. Raises OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(text + "\n")
    except OSError:
        # Half of it would stand in the way the next time.
        path.unlink(missing_ok=True)
        raise
    return path.absolute()
