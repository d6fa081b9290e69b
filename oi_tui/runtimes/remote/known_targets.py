"""The targets that this machine knows: hosts of the ssh configuration, running containers and kernels."""

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from oi_tui.runtimes.remote import left_targets, ssh_hosts
from oi_tui.runtimes.remote.target import (
    CONTAINER_PROGRAMS,
    LOCAL,
    TargetError,
    ask_program,
    find_container_programs,
)

#: How long the container program may take to list its containers, in seconds.
_TIMEOUT = 3.0
#: How many containers, and how many kernels, are listed.
_MOST = 50


@dataclass(frozen=True)
class KnownTarget:
    """A target as a person types it, or its beginning, and a description."""

    spelling: str
    facts: str


def list_at_once() -> Iterator[KnownTarget]:
    """Yield the targets that can be listed without starting a program."""
    yield KnownTarget(LOCAL, "this machine")
    for host in ssh_hosts.list_known():
        yield KnownTarget(f"ssh:{host}", "a host of your ssh configuration")
    for name in _list_kernels():
        yield KnownTarget(f"kernel:{name}", "a Jupyter kernel")
    yield KnownTarget("ssh:", "another host")
    yield KnownTarget("container:", "a container, running or new")
    yield KnownTarget("command:", "where a command leads")
    yield KnownTarget("kernel:https://", "a kernel of a Jupyter server")


def list_left_running() -> list[KnownTarget]:
    """Return the targets on which something was left running, each once."""
    descriptions = {
        record.target: record.describe().partition(", ")[2] for record in left_targets.list_shown()
    }
    return [KnownTarget(target, facts) for target, facts in descriptions.items()]


def list_containers() -> list[KnownTarget]:
    """Return the containers that run; none of a program that does not answer in time. Blocks."""
    with ThreadPoolExecutor(len(CONTAINER_PROGRAMS)) as pool:
        return [target for group in pool.map(_list_containers, find_container_programs()) for target in group]


def _list_containers(program: str) -> list[KnownTarget]:
    try:
        printed = ask_program(program, "ps", "--format", "{{.Names}}\t{{.Image}}", timeout=_TIMEOUT)
    except TargetError:
        return []
    rows = [line.partition("\t") for line in printed.splitlines()[:_MOST]]
    return [KnownTarget(f"container:{name}", image) for name, _, image in rows if name]


def _list_kernels() -> list[str]:
    """Return the connection files of kernels, the latest first; none without Jupyter."""
    with contextlib.suppress(ImportError, OSError):
        from jupyter_core.paths import jupyter_runtime_dir

        files = list(Path(jupyter_runtime_dir()).glob("kernel-*.json"))
        return [file.name for file in sorted(files, key=_find_change_time, reverse=True)[:_MOST]]
    return []


def _find_change_time(file: Path) -> float:
    """Return when the file was changed; a kernel may end while its file is looked at."""
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
