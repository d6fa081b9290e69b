"""Make small changes to the program, one at a time, and see whether a test notices.

`python -m tests.mutation [NAME...]`: a NAME is a module (`hosts`, `oi_tui/engine/storage/journal.py`) or
a group of `tests/mutation/table.py`; without any, all modules of that table are tried. A survivor is a
change that no test of the module noticed.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.mutation.mutants import Mutant, make_mutants
from tests.mutation.table import EQUIVALENT, GROUPS

ROOT = Path(__file__).parent.parent.parent
#: How much longer than without a change a test may take, in seconds.
TIMEOUT = 6.0
#: What a copy of the project does not need.
NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "__snapshots__", "dist", "build"
)
#: A changed program may end the wrong processes and delete the wrong files; here it finds none but its own.
ENCLOSED = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp")
APART = ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--die-with-parent")


@dataclass
class Tally:
    """What became of the mutants of a group."""

    noticed: int = 0
    #: Those of the noticed that were stopped because a test took too long: most of them never end.
    stopped: int = 0
    equivalent: int = 0
    survivors: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The share of those that a test could notice that were noticed."""
        tried = self.noticed + len(self.survivors)
        return self.noticed / tried if tried else 1.0


Modules = Mapping[str, Sequence[str]]


def choose(names: Sequence[str], groups: Mapping[str, Modules]) -> dict[str, dict[str, Sequence[str]]]:
    """Return the groups with only the modules that are meant by the names."""
    chosen: dict[str, dict[str, Sequence[str]]] = {}
    for name in names:
        here = {
            group: {m: tests for m, tests in modules.items() if name == group or _is_named(m, name)}
            for group, modules in groups.items()
        }
        if not any(here.values()):
            known = ", ".join(groups)
            raise SystemExit(f"No module or group is called {name}. Groups: {known}.")
        for group, modules in here.items():
            if modules:
                chosen.setdefault(group, {}).update(modules)
    return chosen if names else {group: dict(modules) for group, modules in groups.items()}


def leave_out_slow(modules: Modules) -> dict[str, Sequence[str]]:
    """Return the modules with only the quick tests of their files."""
    return {module: (*tests, "-m", "not slow") for module, tests in modules.items()}


def _is_named(module: str, name: str) -> bool:
    return module == name or Path(module).stem == name or module.endswith("/" + name)


def select(root: Path, module: str, sample: int | None, seed: int) -> dict[int, Mutant]:
    """Return the mutants of a module by their numbers, or a random sample of them."""
    mutants = dict(enumerate(make_mutants((root / module).read_bytes())))
    if sample is None or sample >= len(mutants):
        return mutants
    numbers = random.Random(f"{seed} {module}").sample(sorted(mutants), sample)
    return {number: mutants[number] for number in sorted(numbers)}


def run_worker(
    root: Path,
    modules: Modules,
    mutants: Mapping[str, Mapping[int, Mutant]],
    enclosed: bool,
    timeout: float,
) -> Iterator[dict[str, Any]]:
    """Try the mutants in a copy of the project; yield the results as they come."""
    suites: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for module, tests in modules.items():
        suites.setdefault(tuple(tests), {})[module] = list(mutants[module])
    described = [{"tests": tests, "mutants": numbers} for tests, numbers in suites.items()]
    job = {"timeout": timeout, "suites": described}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        place = Path(folder, "copy")
        shutil.copytree(root, place, ignore=NOT_COPIED, symlinks=True)
        # Compiled files are checked by content: two changes within a second must not be taken for one.
        compiled = ["-m", "compileall", "-q", "--invalidation-mode", "checked-hash", str(place)]
        subprocess.run([sys.executable, *compiled], check=True)
        command = [sys.executable, "-m", "tests.mutation.worker"]
        if enclosed:
            command = ["bwrap", *ENCLOSED, "--bind", folder, folder, *APART, "--chdir", str(place), *command]
        environment = os.environ | {"PYTHONPATH": f"{place}{os.pathsep}{ROOT}"}
        with subprocess.Popen(
            command, cwd=place, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as worker:
            assert worker.stdin is not None
            assert worker.stdout is not None
            json.dump(job, worker.stdin)
            worker.stdin.close()
            for line in worker.stdout:
                yield json.loads(line)
        if worker.returncode:
            raise SystemExit(f"The mutation test stopped with status {worker.returncode}.")


def try_group(
    root: Path, modules: Modules, sample: int | None, seed: int, enclosed: bool, timeout: float = TIMEOUT
) -> Tally:
    """Try the mutants of some modules; print each survivor."""
    mutants = {module: select(root, module, sample, seed) for module in modules}
    tally = Tally()
    for result in run_worker(root, modules, mutants, enclosed, timeout):
        for test in result.get("failed", ()):
            print(f"  fails without any change, so it is not used: {test}", flush=True)
        if "verdict" not in result:
            continue
        module = str(result["module"])
        mutant = mutants[module][int(str(result["number"]))]
        if result["verdict"] in ("noticed", "stopped"):
            tally.noticed += 1
            tally.stopped += result["verdict"] == "stopped"
        elif (module, mutant.line, mutant.change) in EQUIVALENT:
            tally.equivalent += 1
        else:
            tally.survivors.append(f"{module}:{mutant.first}: {mutant.change}\n      in: {mutant.line}")
            print(f"  {tally.survivors[-1]}", flush=True)
    return tally


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the mutants of the modules that are named; return 1 when one survived."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--sample", type=int, metavar="N", help="try only N mutants of each module")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="which ones (default: 0)")
    parser.add_argument(
        "--quick", action="store_true", help="without tests marked slow; they might notice some survivors"
    )
    parser.add_argument(
        "--not-enclosed", action="store_true", help="run without bubblewrap; may end other processes"
    )
    options = parser.parse_args(arguments)
    groups = choose(options.names, GROUPS)
    if not options.not_enclosed and shutil.which("bwrap") is None:
        parser.error(
            "bubblewrap (bwrap) is not installed. It protects this machine from the changed program."
        )
    if options.quick:
        groups = {group: leave_out_slow(modules) for group, modules in groups.items()}
    os.nice(15)
    tallies: dict[str, Tally] = {}
    for group, modules in groups.items():
        print(f"{group}: {', '.join(Path(module).stem for module in modules)}", flush=True)
        began = time.monotonic()
        tallies[group] = try_group(ROOT, modules, options.sample, options.seed, not options.not_enclosed)
        print(f"  {time.monotonic() - began:.0f} s", flush=True)
    print(f"\n{'group':24} {'mutants':>8} {'noticed':>8} {'by time':>8} {'equivalent':>11} {'survived':>9}")
    for group, tally in tallies.items():
        total = tally.noticed + tally.equivalent + len(tally.survivors)
        counts = (
            f"{total:8} {tally.noticed:8} {tally.stopped:8} {tally.equivalent:11} {len(tally.survivors):9}"
        )
        print(f"{group:24} {counts}  {tally.share:.1%}")
    return int(any(tally.survivors for tally in tallies.values()))


if __name__ == "__main__":
    # As after ctrl+c, the copy is removed when the command is ended from outside.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
