"""Checks whether the target can be reached, and which languages it has."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from oi_tui.doctor.finding import Diagnosis
from oi_tui.system.environment import list_withheld

if TYPE_CHECKING:
    from oi_tui.engine.settings.profile import Profile
    from oi_tui.runtimes.computer import Computer

#: How long the answer of a target may take, in seconds.
TIMEOUT = 30.0
#: A longer way there and back is felt while typing, in seconds.
_SLOW = 0.15
#: How long the programs there may take to say their versions, in seconds.
_ANSWERED = 10.0
_FIXES = {
    "ssh": "Run `ssh {place} python3 --version` in a terminal: it must answer without asking anything.",
    "container": "Check that the container runs, or that the image is there and has Python 3.8 or later.",
    "command": "Run `{place} python3 --version` in a terminal: it must answer without asking anything.",
    "kernel": (
        "Name the connection file of a running kernel (%connect_info in a notebook shows it), or the address "
        "of a Jupyter server; kernel:https://HOST/# lists what is there."
    ),
}


def check_target(profile: "Profile", stopped: threading.Event) -> Iterator[Diagnosis]:
    """Check whether the target can be reached, as which user, and which languages it has.

    `stopped` gives up reaching it.
    """
    from oi_tui.engine.credentials.keys import find_token
    from oi_tui.runtimes.computer import Computer
    from oi_tui.runtimes.remote.target import TargetError, parse
    from oi_tui.runtimes.targets import TargetOptions

    if profile.sandbox:
        words = "the sandbox is on and works on this machine only, so nothing can run there"
        yield Diagnosis(False, words, "Set sandbox: false, or target: local.")
    began = time.monotonic()
    fix = "Correct the setting target."
    try:
        if place := parse(profile.target):
            fix = _FIXES[place.kind].format(place=place.place)
        computer = Computer(
            cwd=Path.cwd(),
            python=profile.python,
            shell=profile.shell,
            hidden=() if profile.share_keys else list_withheld(profile.pass_environment),
            target=profile.target,
            stopped=stopped,
            target_options=TargetOptions(find_token=find_token),
        )
    except TargetError as error:
        late = f"{profile.target} did not answer within {TIMEOUT:.0f} seconds"
        yield Diagnosis(False, late if stopped.is_set() else str(error), fix)
        return
    try:
        yield from _check_there(computer, time.monotonic() - began)
    finally:
        computer.close()


def _check_there(computer: "Computer", seconds: float) -> Iterator[Diagnosis]:
    from oi_tui.runtimes.remote.remote_target import RemoteTarget

    about = computer.targets.remote
    assert about is not None
    if not isinstance(about, RemoteTarget):
        yield Diagnosis(True, f"code runs {about.where}; connected in {seconds:.1f} s")
        yield from (Diagnosis(True, about.describe(language)) for language in about.languages)
        return
    yield Diagnosis(True, f"code runs {about.where}: {about.system}; connected in {seconds:.1f} s")
    way = about.round_trip()
    yield Diagnosis(None if way > _SLOW else True, f"the round trip takes {way * 1000:.0f} ms")
    if not about.writable:
        words = f"files cannot be written in {about.folder}"
        yield Diagnosis(None, words, "Name another folder: ssh:HOST/FOLDER.")
    about.wait_for_versions(_ANSWERED)
    # Without these two there is little that a model could do.
    for name in dict.fromkeys(("python", "shell", *computer.languages)):
        if problem := computer.explain_missing(name):
            yield Diagnosis(False if name == "python" else None, problem)
        else:
            yield Diagnosis(True, computer.describe(name))
