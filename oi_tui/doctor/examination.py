"""Runs all checks at once, within a time limit."""

import contextlib
import importlib
import threading
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from oi_tui.doctor import configuration, folders, installation, target, terminal
from oi_tui.doctor.finding import Check, Diagnosis
from oi_tui.system.ending_signals import note_ending_signals

if TYPE_CHECKING:
    from oi_tui.doctor.active_profile import ActiveProfile

#: How long to wait for a part before it is reported as silent, in seconds.
TIMEOUT = 5.0
#: How long what connects to a target may take to end, in seconds.
_ENDING = 2.5
_GLANCE = 0.02
#: What the checks import when they need it. Threads that begin to import these at the same time may wait for
#: each other, and Python then fails one of them.
IMPORTED = (
    "oi_tui.custom_languages",
    "oi_tui.profiles",
    "oi_tui.doctor.active_profile",
    "oi_tui.engine.credentials.key_source",
    "oi_tui.engine.credentials.keys",
    "oi_tui.engine.credentials.private_file",
    "oi_tui.engine.credentials.redaction",
    "oi_tui.engine.llm.endpoint",
    "oi_tui.engine.models.local_servers",
    "oi_tui.engine.settings.profile",
    "oi_tui.runtimes.computer",
    "oi_tui.runtimes.language",
    "oi_tui.runtimes.languages",
    "oi_tui.runtimes.remote.remote_target",
    "oi_tui.runtimes.remote.target",
    "oi_tui.runtimes.targets",
    "oi_tui.runtimes.sandbox.sandbox",
    "oi_tui.services.languages",
)


def list_checks(
    active: "ActiveProfile | None" = None, *, ask_terminal: bool, stopped: threading.Event | None = None
) -> tuple[Check, ...]:
    """Return every part of the examination of the settings in use; without them, of those of a usual start.

    `ask_terminal` only where nobody else reads the keyboard. `stopped` ends what connects to the target.
    """
    stopped = stopped or threading.Event()
    away = active is not None and active.profile.target != "local"
    there = (
        (Check("Target", lambda: target.check_target(active.profile, stopped)),) if active and away else ()
    )
    return (
        Check("Python", installation.check_python),
        Check("Packages", installation.check_packages),
        Check("Files", installation.check_files),
        Check("Settings", lambda: configuration.check_settings(active)),
        *there,
        Check("Languages", lambda: configuration.check_languages(active)),
        Check("Models", lambda: configuration.check_models(active)),
        Check("Keys", lambda: configuration.check_kept_keys(active)),
        Check("Sandbox", lambda: configuration.check_sandbox(active)),
        Check("Terminal", lambda: terminal.check_terminal(ask=ask_terminal)),
        Check("Folders", folders.check_folders),
    )


def examine(
    parts: Sequence[Check], timeout: float = TIMEOUT, stopped: threading.Event | None = None
) -> Iterator[tuple[str, list[Diagnosis]]]:
    """Run all checks in order. A check that fails or takes too long is itself a finding.

    `stopped` is set when nobody waits for them any more: after their time, and when the program is to end.
    """
    stopped = stopped or threading.Event()
    for name in IMPORTED:
        # The part that needs it reports what cannot be imported.
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    until = time.monotonic() + timeout
    findings: list[list[Diagnosis]] = [[] for _ in parts]
    # Daemons: what hangs must not keep the program from ending.
    threads = [
        threading.Thread(target=_run, args=(part, results), name=f"doctor-{part.title}", daemon=True)
        for part, results in zip(parts, findings, strict=True)
    ]
    with note_ending_signals() as signals:
        for thread in threads:
            thread.start()
        while time.monotonic() < until and not signals and any(thread.is_alive() for thread in threads):
            time.sleep(_GLANCE)
        stopped.set()
        last = time.monotonic() + _ENDING
        for thread in threads:
            thread.join(max(0.0, last - time.monotonic()))
    for part, thread, results in zip(parts, threads, findings, strict=True):
        if thread.is_alive():
            late = Diagnosis(None, f"some checks did not finish within {timeout:.0f} seconds")
            yield part.title, [*results, late]
        else:
            yield part.title, results


def _run(part: Check, results: list[Diagnosis]) -> None:
    try:
        for finding in part.run():
            results.append(finding)
    except Exception as error:  # noqa: BLE001 -- the end of a worker; it reports
        words = f"could not be checked: {type(error).__name__}: {error}"
        results.append(Diagnosis(False, words, "Install oi-tui again: pip install --force-reinstall ."))
