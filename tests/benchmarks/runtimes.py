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

from oi_tui.messages import Printed, RunEnded
from oi_tui.runtimes import Computer
from oi_tui.runtimes.sandbox.sandbox import explain_unavailable
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
#: Code that tells how much time of the processor it took: in all threads of its process, and in its own.
CLOCKED = """import time
began, begun = time.process_time(), time.thread_time()
{}
print([time.process_time() - began, time.thread_time() - begun], flush=True)
"""
#: Runs code as it comes, each in names of its own.
EXEC = """
import json, sys
for line in sys.stdin:
    exec(compile(json.loads(line), "<cell>", "exec"), {"__name__": "__main__"})
"""
#: Tells how long its start with the first run took, and for each line how long so many runs took.
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
print(time.perf_counter() - began, flush=True)
for line in sys.stdin:
    times = []
    for _ in range(int(line)):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    print(json.dumps(times), flush=True)
client.stop_channels()
manager.shutdown_kernel(now=True)
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


class Peer:
    """A program of this interpreter that answers each line with a line."""

    def __init__(self, code: str, python: str = sys.executable) -> None:
        self._process = subprocess.Popen(
            [python, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def line(self) -> Any:
        """What it says next; None when it has left."""
        assert self._process.stdout
        shown = self._process.stdout.readline()
        return json.loads(shown) if shown else None

    def ask(self, line: str) -> Any:
        """What it answers."""
        assert self._process.stdin
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self.line()

    def close(self) -> int:
        """Let it leave; its status."""
        self._process.communicate()
        return self._process.returncode


def spread(ratios: list[float]) -> dict[str, float]:
    """The median of ratios, and what it lies between at 95 %, whatever their distribution."""
    ordered, count = sorted(ratios), len(ratios)
    low = max(0, int(count / 2 - 0.98 * count**0.5))
    middle = statistics.median(ordered)
    return {"median": round(middle, 3), "from": round(ordered[low], 3), "to": round(ordered[-1 - low], 3)}


def round_trips(short: bool) -> dict[str, Any]:
    """The time of `1+1`, from the request to the end of the run; the kernel's in turns with ours."""

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
    python = os.environ.get("OI_TUI_BENCHMARK_JUPYTER", sys.executable)
    kernel = Peer(JUPYTER, python)
    kernel_cold = kernel.line()
    computer = Computer(python=sys.executable)
    run(computer, "python", "1+1")
    ratios, kernels = [], []
    for _ in range(5 if short else 30):
        ours = [timed(lambda: run(computer, "python", "1+1")) for _ in range(10)]
        times["warm"] += ours
        if kernel_cold is not None:
            theirs = kernel.ask("10")
            kernels += theirs
            ratios.append(statistics.median(ours) / statistics.median(theirs))
    computer.close()
    status = kernel.close()
    found: dict[str, Any] = {f"{name}_ms": milliseconds(statistics.median(t)) for name, t in times.items()}
    found["cold_to_bare"] = round(statistics.median(times["cold"]) / statistics.median(times["bare"]), 2)
    if kernel_cold is None:
        why = f"ipykernel and jupyter_client are not installed for {python}"
        found["jupyter"] = f"not measured: {why if status == 3 else f'it left with status {status}'}"
        return found
    found["jupyter_cold_ms"] = milliseconds(kernel_cold)
    found["jupyter_warm_ms"] = milliseconds(statistics.median(kernels))
    found["warm_to_jupyter"] = spread(ratios)
    found["cold_to_jupyter"] = round(statistics.median(times["cold"]) / kernel_cold, 3)
    return found


def active_line(short: bool) -> dict[str, dict[str, float]]:
    """How much more processor time five hot loops take with the active line than in a plain `exec`.

    Of all threads of the process, ours and a plain one in turns: what else the machine does is in neither.
    Where a process lies in memory makes its code faster or slower, so there are several of both, and each
    pair gives one ratio, of the best of its times. `sampler` is what the thread that looks at the line takes,
    to what the loop itself takes in the same process.
    """
    ratios: dict[str, list[float]] = {name: [] for name in LOOPS}
    plain: dict[str, list[float]] = {name: [] for name in LOOPS}
    shares: dict[str, list[float]] = {name: [] for name in LOOPS}
    for _ in range(2 if short else 15):
        computer, peer = Computer(python=sys.executable), Peer(EXEC)
        run(computer, "python", "1+1")

        def ours(code: str, computer: Computer = computer) -> list[float]:
            reports = list(computer.run("python", code))
            reported: list[float] = json.loads(
                "".join(report.text for report in reports if isinstance(report, Printed))
            )
            return reported

        for name, loop in LOOPS.items():
            code = CLOCKED.format(loop)
            mine, others = [], []
            for _ in range(1 if short else 4):
                mine.append(ours(code))
                others.append(peer.ask(json.dumps(code))[0])
            ratios[name].append(min(whole for whole, _ in mine) / min(others))
            shares[name] += [(whole - own) / own for whole, own in mine]
            plain[name] += others
        peer.close()
        computer.close()
    every = [ratio for item in ratios.values() for ratio in item]
    found = {
        name: {
            **spread(item),
            "sampler": round(statistics.median(shares[name]), 4),
            "exec_ms": milliseconds(statistics.median(plain[name])),
        }
        for name, item in ratios.items()
    }
    return {**found, "all": spread(every)}


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


def _here() -> list[Sample]:
    """The languages that are installed on this machine."""
    computer = Computer()
    return [
        sample
        for sample in ALL
        if sample.here and not sample.remote and not computer.explain_missing(sample.language)
    ]


def make_computer(sample: Sample) -> Computer:
    """A computer for the sample's language."""
    return Computer(**{"python": sys.executable, **dict(sample.options)})  # type: ignore[arg-type]


def languages(short: bool) -> dict[str, dict[str, float]]:
    """For each language here: from nothing to the end of the first run, and a warm run; medians."""
    found = {}
    for sample in _here():
        first, warm = [], []
        for _ in range(1 if short else 5):
            computer = make_computer(sample)
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
    for sample in _here():
        computer = make_computer(sample)
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
                figures[kind].append(timed(lambda: computer.inspector.read_variables(language)))  # noqa: B023
            if kind == "none":
                run(computer, language, many)
        reported = computer.inspector.read_variables(language)
        assert len(reported) >= 1000, (language, len(reported))
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
            "reported": len(reported),
        }
    return found


def walls(short: bool) -> dict[str, Any]:
    """What the sandbox costs: at the start of a language, and in each run."""
    found: dict[str, Any] = {}
    if explain_unavailable():
        return {"not here": explain_unavailable()}
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
