"""`make bench`: runs the benchmarks, with peers beside oi-tui, and writes docs/benchmarks.md.

`python -m tests.benchmarks.page [NAME...]`: only these. The page is written after each benchmark. The figures
are kept in build/bench, beside what each benchmark printed. Peers are installed into build/peers, once, from
PyPI and npm; those that need a newer Python use the newest `python3.N` on PATH or of pyenv.
"""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from oi_tui.version import __version__
from tests.benchmarks import peers

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
RESULTS = ROOT / "build" / "bench"
#: Seconds that one benchmark may take, and all of them together.
LIMIT, WHOLE_LIMIT = 420, 1680
Figures = Mapping[str, object]


@dataclass(frozen=True)
class Benchmark:
    """One module of this folder, and how the page calls it."""

    title: str
    arguments: tuple[str, ...] = ()
    #: What one row of its table is, where each of its figures is a row; else there is one row a value.
    rows: str = ""


BESIDE = {
    "peer_start": Benchmark("Start", rows="Program"),
    "peer_streaming": Benchmark("A reply of 50,000 characters", rows="Program"),
    "peer_opening": Benchmark("Opening 1,000 messages", rows="Program"),
    "peer_flood": Benchmark("A command that prints 20 MB", rows="Program"),
}
OWN = {
    "startup": Benchmark("First frame", rows="Case"),
    "first_request": Benchmark("First request"),
    "program": Benchmark("Keys, silence and memory of the whole program", rows="Case"),
    "screen_keys": Benchmark("Keys while the conversation changes", rows="Case"),
    "screen_cost": Benchmark("CPU of the conversation"),
    "streaming": Benchmark("A token on its way through the engine"),
    "stopping": Benchmark("Stopping a reply"),
    "conversations": Benchmark("The list of conversations", rows="Figure"),
    "runtimes": Benchmark("Code", ("--short",)),
    "desktop": Benchmark("The desktop and web pages"),
}
#: These need data that does not come with the program, or a server of ssh.
ELSEWHERE = ("notebooks", "tables", "remote")


@dataclass(frozen=True)
class Result:
    """What one benchmark found."""

    figures: Figures
    #: When, for how long, and how busy the machine was before.
    measured: str
    #: Why there are no figures.
    failure: str = ""

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(json.dumps(vars(self), indent=1) + "\n", encoding="utf-8")


def run(name: str, benchmark: Benchmark, seconds: float) -> Result:
    """Run it for so many seconds at most; what it says meanwhile is in build/bench/NAME.log."""
    kernel = peers.FOLDER / "ipykernel/bin/python"
    environment = {**os.environ, **({"OI_TUI_BENCHMARK_JUPYTER": str(kernel)} if kernel.exists() else {})}
    argv = [sys.executable, "-m", f"tests.benchmarks.{name}", *benchmark.arguments]
    log = RESULTS / f"{name}.log"
    load, now, began = os.getloadavg()[0], datetime.now(UTC), time.monotonic()
    figures: Figures = {}
    failure = ""
    # A program that was started in the background ignores interrupts, and so does what it starts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with (
        log.open("wb") as errors,
        subprocess.Popen(argv, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=errors) as process,
    ):
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            failure = f"it took more than {seconds:.0f} seconds"
        finally:
            _end(process)
            signal.signal(signal.SIGINT, before)
    if not failure and process.returncode:
        failure = _last_line(log) or f"exit code {process.returncode}"
    if not failure:
        try:
            figures = json.loads(output)
        except ValueError as error:
            failure = f"its figures cannot be read: {error}"
    took = time.monotonic() - began
    return Result(figures, f"{now:%Y-%m-%d %H:%M} UTC, in {took:.0f} s; load before: {load:.1f}", failure)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Interrupt it, so that it ends the programs that it started."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


def table(figures: Figures, rows: str) -> str:
    """The figures as a table: one row for each of them with a column for each value, or one row a value."""
    if rows and all(isinstance(values, Mapping) for values in figures.values()):
        columns = list(dict.fromkeys(key for values in figures.values() for key in values))  # type: ignore[attr-defined]
        lines = [[rows, *columns], ["---"] * (len(columns) + 1)]
        lines += [[name, *(values.get(key, "") for key in columns)] for name, values in figures.items()]  # type: ignore[attr-defined]
    else:
        lines = [["What", "Figure"], ["---", "---"], *map(list, flat(figures))]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_cell, value))
    if isinstance(value, float):
        value = f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    return str(value).replace("|", "\\|").replace("_", " ")


def flat(figures: Figures, before: str = "") -> list[tuple[str, object]]:
    """Nested figures with the names of all that they are in."""
    found: list[tuple[str, object]] = []
    for name, value in figures.items():
        whole = f"{before}, {name}" if before else name
        found += flat(value, whole) if isinstance(value, Mapping) else [(whole, value)]
    return found


def machine() -> str:
    """Processor, cores, memory, system and Python."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GB, "
        f"{platform.system()} {platform.release().partition('-')[0]}, Python {platform.python_version()}"
    )


def write(results: Mapping[str, Result], where: str, page: Path) -> None:
    """Write the page."""
    had = peers.installed(peers.FOLDER)
    versions = {"oi-tui": __version__, "Textual": version("textual"), **had["versions"]}
    text = [
        _HEAD.format(
            machine=where, versions=", ".join(f"{name} {number}" for name, number in versions.items())
        )
    ]
    text += [f"Not tried: {name}: {why}." for name, why in had["not tried"].items()]
    for heading, benchmarks in (("oi-tui beside other programs", BESIDE), ("oi-tui alone", OWN)):
        text.append(f"## {heading}")
        for name, benchmark in benchmarks.items():
            text += [f"### {benchmark.title}", *_section(name, benchmark, results.get(name))]
    others = ", ".join(f"`tests.benchmarks.{name}`" for name in ELSEWHERE)
    text.append(f"Not part of `make bench`, since they need data or a server of their own: {others}.")
    page.write_text("\n\n".join(text) + "\n", encoding="utf-8")


def _section(name: str, benchmark: Benchmark, result: Result | None) -> list[str]:
    """What was measured, when, and the figures or why there are none."""
    command = f"`python -m {' '.join((f'tests.benchmarks.{name}', *benchmark.arguments))}`"
    if result is None:
        return [f"{command}: not measured yet."]
    if result.failure:
        return [f"{command}, {result.measured}.", f"Not measured: {_cell(result.failure)}."]
    return [f"{command}, {result.measured}.", table(result.figures, benchmark.rows)]


_HEAD = """# Benchmarks

<!-- written by `make bench` -->

Programs that are compared take turns in one run on one machine. Trust the ratios between them, not the times:
other work on the machine makes all of them longer.

- Machine: {machine}
- Versions: {versions}
- The model of every program is a server on the same machine. It sends 50,000 characters in pieces of 16,
  250 a second.
- A key is sent through a terminal of 120x40. It counts as drawn when its letter comes back from the program.
- Memory is of the program and of all that it starts (PSS). CPU is counted for the same processes."""


def main() -> None:
    """Install the peers where that was not done, run the benchmarks, and write the page after each."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("names", nargs="*", choices=[[], *BESIDE, *OWN], help="only these")
    names = arguments.parse_args().names
    RESULTS.mkdir(parents=True, exist_ok=True)
    for path in () if names else RESULTS.glob("*.json"):
        path.unlink()
    if not (peers.FOLDER / "found.json").exists():
        print("Installing the peers.", flush=True)
        peers.install(peers.FOLDER)
    measure(names or [*BESIDE, *OWN], machine())


def measure(names: list[str], where: str, seconds: float = WHOLE_LIMIT) -> None:
    """Run the benchmarks one after the other, until the time is over, and write the page after each."""
    end = time.monotonic() + seconds
    for number, name in enumerate(names, 1):
        left = end - time.monotonic()
        print(f"[{number}/{len(names)}] {name}, {left / 60:.0f} minutes left", flush=True)
        result = run(name, {**BESIDE, **OWN}[name], min(LIMIT, max(left, 0)))
        print(f"    {result.failure or 'measured'} ({result.measured})", flush=True)
        result.save(RESULTS / f"{name}.json")
        write(saved(), where, PAGE)


def saved() -> dict[str, Result]:
    """The results that were kept."""
    return {
        path.stem: Result(**json.loads(path.read_text(encoding="utf-8"))) for path in RESULTS.glob("*.json")
    }


if __name__ == "__main__":
    main()
