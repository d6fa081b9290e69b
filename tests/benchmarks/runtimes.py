"""What the runtimes cost, as ratios measured in one run: round trips, the active line, floods, interrupts.

    python -m tests.benchmarks.runtimes [--short] [PART...] [FILE]

Prints JSON, and writes it to FILE where one is given. `--short` measures each thing a few times only,
which is good for a look; PART names what to measure instead of everything: flood, round_trips,
languages, interrupts, active_line, memories (variables), walls (the sandbox).
Trust the ratios: a machine that is busy with other things only makes the milliseconds longer.
The Jupyter kernel is measured where it is installed for the interpreter named by OI_TUI_BENCHMARK_JUPYTER
(default: this one).
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from oi_tui.lmc import Printed, RunEnded
from oi_tui.runtimes import Computer
from oi_tui.runtimes.sandbox import why_not
from tests.runtimes.samples import ALL, Sample

FLOOD = "yes | head -c 100000000"
FLOOD_BYTES = 100_000_000
LOOPS = {
    "tight loop": "t = 0\nfor i in range(3_000_000):\n    t += i",
    "loop of eight lines": (
        "a = b = c = 0\nfor i in range(500_000):\n    a += 1\n    b += a\n    c ^= b\n    if c & 1:\n"
        "        a -= 1\n    b &= 1023\n    c &= 4095"
    ),
    "calls": "def f(x):\n    return x + 1\nt = 0\nfor i in range(1_500_000):\n    t = f(t)",
    "calls of C": "t = 0\nfor i in range(300):\n    t += sum(range(30_000))",
    "library": (
        "import json\nd = {str(i): [i] * 5 for i in range(500)}\nfor i in range(250):\n"
        "    json.loads(json.dumps(d))"
    ),
}  # fmt: skip
EXEC = """
import sys, time
names = {"__name__": "__main__"}
code = compile(sys.argv[1], "<cell>", "exec")
began = time.perf_counter()
exec(code, names)
print(time.perf_counter() - began)
"""
JUPYTER = """
import json, sys, time
try:
    from jupyter_client.manager import start_new_kernel
    import ipykernel
except ImportError:
    sys.exit(3)
began = time.perf_counter()
manager, client = start_new_kernel()
run = lambda: client.execute_interactive("1+1", output_hook=lambda message: None)
run()
cold = time.perf_counter() - began
times = []
for _ in range(50):
    began = time.perf_counter()
    run()
    times.append(time.perf_counter() - began)
client.stop_channels()
manager.shutdown_kernel(now=True)
print(json.dumps({"cold": cold, "warm": times}))
"""


def milliseconds(seconds: float) -> float:
    """For a table."""
    return round(seconds * 1000, 2)


def timed(action: Callable[[], object]) -> float:
    """How long it takes, in seconds."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def run(computer: Computer, language: str, code: str) -> RunEnded:
    """Run to the end, which must be a good one."""
    last = list(computer.run(language, code))[-1]
    assert isinstance(last, RunEnded)
    assert last.state == "finished", last
    return last


def round_trips(short: bool) -> dict[str, Any]:
    """The time of `1+1`, from the request to the end of the run."""

    def cold() -> None:
        computer = Computer(python=sys.executable)
        try:
            run(computer, "python", "1+1")
        finally:
            times["cold"].append(time.perf_counter() - began)
            computer.close()

    times: dict[str, list[float]] = {"cold": [], "bare": [], "warm": []}
    for _ in range(3 if short else 15):
        began = time.perf_counter()
        cold()
        bare = [sys.executable, "-c", "print(1+1)"]
        times["bare"].append(timed(lambda: subprocess.run(bare, capture_output=True, check=True)))  # noqa: B023
    computer = Computer(python=sys.executable)
    run(computer, "python", "1+1")
    times["warm"] = [timed(lambda: run(computer, "python", "1+1")) for _ in range(50 if short else 300)]
    computer.close()
    found: dict[str, Any] = {f"{name}_ms": milliseconds(statistics.median(t)) for name, t in times.items()}
    found["cold_to_bare"] = round(statistics.median(times["cold"]) / statistics.median(times["bare"]), 2)
    python = os.environ.get("OI_TUI_BENCHMARK_JUPYTER", sys.executable)
    done = subprocess.run([python, "-c", JUPYTER], capture_output=True, text=True, check=False)
    if done.returncode:
        found["jupyter"] = (
            f"not measured: ipykernel and jupyter_client are not installed for {python}"
            if done.returncode == 3
            else f"not measured: {done.stderr.strip().splitlines()[-1:]}"
        )
        return found
    jupyter = json.loads(done.stdout.splitlines()[-1])
    warm = statistics.median(jupyter["warm"])
    found["jupyter_cold_ms"], found["jupyter_warm_ms"] = milliseconds(jupyter["cold"]), milliseconds(warm)
    found["warm_to_jupyter"] = round(statistics.median(times["warm"]) / warm, 3)
    found["cold_to_jupyter"] = round(statistics.median(times["cold"]) / jupyter["cold"], 3)
    return found


def active_line(short: bool) -> dict[str, dict[str, float]]:
    """How much longer five hot loops take with the active line on, than off and than in a plain `exec`."""
    computers = {name: Computer(python=sys.executable, active_line=name == "on") for name in ("on", "off")}
    found = {}
    for name, code in LOOPS.items():
        times: dict[str, list[float]] = {"on": [], "off": [], "exec": []}
        for _ in range(2 if short else 7):
            for way, computer in computers.items():
                times[way].append(timed(lambda: run(computer, "python", code)))  # noqa: B023
            times["exec"].append(float(subprocess.check_output([sys.executable, "-c", EXEC, code])))
        best = {way: min(measured) for way, measured in times.items()}
        found[name] = {
            "on_to_off": round(best["on"] / best["off"], 3),
            "on_to_exec": round(best["on"] / best["exec"], 3),
            "exec_ms": milliseconds(best["exec"]),
        }
    for computer in computers.values():
        computer.close()
    return found


def flood(short: bool) -> dict[str, float]:
    """100 MB through a runtime and through a bare pseudo-terminal, and the memory they left behind."""

    def bare() -> None:
        master, slave = os.openpty()
        with subprocess.Popen(["sh", "-c", FLOOD], stdout=slave) as child:
            os.close(slave)
            try:
                while os.read(master, 65536):
                    pass
            except OSError:
                child.wait()
        os.close(master)

    def ours() -> None:
        size = 0
        for report in computer.run("shell", FLOOD):
            if isinstance(report, Printed):
                size += len(report.text)
        assert size >= FLOOD_BYTES

    computer = Computer()
    run(computer, "shell", ":")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    times: dict[str, list[float]] = {"ours": [], "bare": []}
    for _ in range(1 if short else 3):
        times["ours"].append(timed(ours))
        times["bare"].append(timed(bare))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    computer.close()
    best = {name: min(t) for name, t in times.items()}
    return {
        "mb_per_s": round(FLOOD_BYTES / 1e6 / best["ours"], 1),
        "bare_pty_mb_per_s": round(FLOOD_BYTES / 1e6 / best["bare"], 1),
        "rate_to_bare_pty": round(best["bare"] / best["ours"], 3),
        # ru_maxrss counts bytes on macOS and 1024 of them elsewhere.
        "memory_growth_mb": round(grown / (1e6 if sys.platform == "darwin" else 1e3), 1),
    }


def of(sample: Sample) -> Computer:
    """A computer for the sample's language."""
    return Computer(**{"python": sys.executable, **dict(sample.options)})  # type: ignore[arg-type]


def languages(short: bool) -> dict[str, dict[str, float]]:
    """For each language here: from nothing to the end of the first run, and a warm run; medians."""
    found = {}
    for sample in ALL:
        first, warm = [], []
        for _ in range(1 if short else 5):
            computer = of(sample)
            first.append(timed(lambda: run(computer, sample.language, sample.hello)))  # noqa: B023
            for _ in range(10 if short else 40):
                warm.append(timed(lambda: run(computer, sample.language, sample.hello)))  # noqa: B023
            computer.close()
        found[sample.name] = {
            "first_ms": milliseconds(statistics.median(first)),
            "warm_ms": milliseconds(statistics.median(warm)),
        }
    return found


def interrupts(short: bool) -> dict[str, dict[str, float | str]]:
    """From `interrupt()` to the end of the run, in every language here: asleep, in a loop, in a flood."""
    found: dict[str, dict[str, float | str]] = {}
    for sample in ALL:
        computer = of(sample)
        run(computer, sample.language, sample.hello)
        for what in ("sleep", "busy", "flood"):
            times, states = [], set()
            for _ in range(2 if short else 9):
                asked = 0.0
                for report in computer.run(sample.language, getattr(sample, what)):
                    if isinstance(report, Printed) and "go" in report.text and not asked:
                        asked = time.perf_counter()
                        computer.interrupt()
                    if isinstance(report, RunEnded):
                        times.append(time.perf_counter() - asked)
                        states.add(report.state)
            found[f"{sample.name} {what}"] = {
                "median_ms": milliseconds(statistics.median(times)),
                "worst_ms": milliseconds(max(times)),
                "states": " ".join(sorted(states)),
            }
        computer.close()
    return found


#: What makes 10,000 variables, and a run that is as small as can be, in each language that tells of them.
MANY = {
    "python": ("for i in range(10_000): globals()[f'name_{i}'] = [i]", "1+1"),
    "javascript": ("for (let i = 0; i < 10_000; i++) globalThis['name_' + i] = [i]; 0", "1+1"),
    "ruby": ('10_000.times { |i| eval("$name_#{i} = [i]") }; nil', "1+1"),
    "r": ("for (i in 1:10000) assign(paste0('name_', i), c(i))", "1+1"),
    "shell": ("for i in {1..10000}; do declare name_$i=$i; done", "echo 2"),
}


def memories(short: bool) -> dict[str, dict[str, float]]:
    """What a refresh after a run costs, for the view and for completion: no variables, and 10,000."""
    found = {}
    for language, (many, small) in MANY.items():
        computer = Computer(python=sys.executable)
        if language not in computer.languages:
            continue
        figures: dict[str, list[float]] = {"run": [], "none": [], "many": []}
        run(computer, language, small)
        for kind in ("none", "many"):
            for _ in range(3 if short else 20):
                figures["run"].append(_seconds(computer, language, small))
                figures[kind].append(timed(lambda: computer.variables(language)))  # noqa: B023
            if kind == "none":
                run(computer, language, many)
        told = computer.variables(language)
        assert len(told) >= 1000, (language, len(told))
        computer.close()
        warm = statistics.median(figures["run"])
        found[language] = {
            "run_ms": milliseconds(warm),
            **{
                f"{kind}_{unit}": milliseconds(value) if unit == "ms" else round(value / warm, 2)
                for kind in ("none", "many")
                for value in (statistics.median(figures[kind]),)
                for unit in ("ms", "to_run")
            },
            "told": len(told),
        }
    return found


def walls(short: bool) -> dict[str, Any]:
    """What the sandbox costs: at the start of a language, and in each run."""
    found: dict[str, Any] = {}
    if why_not():
        return {"not here": why_not()}
    for language, code in (("python", "1+1"), ("shell", "echo 2"), ("javascript", "1+1")):
        starts: dict[bool, list[float]] = {False: [], True: []}
        runs: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(2 if short else 15):
            # One after the other, so that both have the same weather.
            for on in (False, True):
                computer = Computer(sandbox=on)
                starts[on].append(_seconds(computer, language, code))
                runs[on] += [_seconds(computer, language, code) for _ in range(5 if short else 40)]
                computer.close()
        for name, times in (("start", starts), ("run", runs)):
            outside, inside = (statistics.median(times[on]) for on in (False, True))
            found[f"{language} {name}"] = {
                "outside_ms": milliseconds(outside),
                "inside_ms": milliseconds(inside),
                "ratio": round(inside / outside, 2),
            }
    return found


def _seconds(computer: Computer, language: str, code: str) -> float:
    began = time.perf_counter()
    for _ in computer.run(language, code):
        pass
    return time.perf_counter() - began


#: What can be measured, the flood first, while the process has no other memory to hide behind.
PARTS = {
    part.__name__: part for part in (flood, round_trips, languages, interrupts, active_line, memories, walls)
}


def main(arguments: list[str]) -> None:
    """Measure what is asked for."""
    short = "--short" in arguments
    words = [word for word in arguments if word != "--short"]
    chosen = [word for word in words if word in PARTS] or list(PARTS)
    files = [Path(word).absolute() for word in words if word not in PARTS]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        found: dict[str, Any] = {}
        for name in chosen:
            found[name] = PARTS[name](short)
            print(name, json.dumps(found[name]), file=sys.stderr, flush=True)
        os.chdir("/")
    text = json.dumps(found, indent=2)
    print(text)
    for file in files:
        file.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
