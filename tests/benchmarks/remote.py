"""Code on another machine: how much the way there costs, against what ssh itself needs.

    python -m tests.benchmarks.remote [KILLS]

A real sshd of its own on loopback. Prints a table; KILLS is how often each of them is killed (default 20).
"""

import contextlib
import os
import pty
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from oi_tui.messages import Printed
from oi_tui.runtimes import Computer
from oi_tui.runtimes.processes import process_table
from tests.runtimes.playing import alive, children, marked, play, until
from tests.servers.sshd import HOST, Sshd

SIZE = 60_000_000
FLOOD = f"head -c {SIZE} /dev/zero | tr '\\0' y"
READ = 1 << 18


def median(measure: Callable[[], float], times: int) -> float:
    return statistics.median(measure() for _ in range(times)) * 1000


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def echo_of_ssh() -> float:
    """One byte there and back through ssh and cat."""
    with subprocess.Popen(
        ["ssh", HOST, "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdin
        assert process.stdout

        def once() -> float:
            def exchange() -> None:
                process.stdin.write(b"x")  # type: ignore[union-attr]
                process.stdout.read(1)  # type: ignore[union-attr]

            return timed(exchange)

        once()
        found = median(once, 200)
        process.stdin.close()
    return found


def flood_of_ssh() -> float:
    """Megabytes a second that ssh itself brings, with its login."""
    words = ["ssh", HOST, FLOOD]
    return SIZE / 1e6 / timed(lambda: subprocess.run(words, stdout=subprocess.PIPE, check=True))


def read_to_end(number: int) -> float:
    """Megabytes a second of a flood, from its first byte on."""
    size = len(os.read(number, READ))
    began = time.perf_counter()
    # A terminal whose program has ended says so with an error.
    with contextlib.suppress(OSError):
        while piece := os.read(number, READ):
            size += len(piece)
    assert size >= SIZE, f"{SIZE - size} bytes were lost"
    return size / 1e6 / (time.perf_counter() - began)


def flood_after_login(*options: str) -> float:
    """Megabytes a second that ssh brings once they come; with -tt through a terminal there, as cells do."""
    words = ["ssh", *options, HOST, FLOOD]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdout
        return read_to_end(process.stdout.fileno())


def flood_of_terminal() -> float:
    """Megabytes a second that come through a terminal here."""
    pid, number = pty.fork()
    if not pid:
        os.execvp("sh", ["sh", "-c", FLOOD])
    try:
        return read_to_end(number)
    finally:
        os.close(number)
        os.waitpid(pid, 0)


def flood(computer: Computer) -> float:
    """Megabytes a second that a cell prints."""
    size = 0

    def count() -> None:
        nonlocal size
        for report in computer.run("shell", FLOOD):
            size += len(report.text) if isinstance(report, Printed) else 0

    seconds = timed(count)
    assert size >= SIZE, f"{SIZE - size} bytes were lost"
    return SIZE / 1e6 / seconds


def count_processor_time() -> float:
    """Seconds of the processor that we and all that we started have taken, so the server too."""
    ticks = 0
    for pid in (os.getpid(), *process_table.list_descendants(os.getpid())):
        with contextlib.suppress(OSError):
            facts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            # Its own, and that of what it started and waited for.
            ticks += sum(map(int, facts[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def interrupt(computer: Computer) -> float:
    """From the key to the end of the run."""
    pressed = 0.0

    def press(_: object, so_far: str) -> None:
        nonlocal pressed
        if "go" in so_far and not pressed:
            pressed = time.perf_counter()
            computer.interrupt()

    play(computer, "python", "import time; print('go'); time.sleep(60)", on=press)
    return time.perf_counter() - pressed


def killed(cwd: Path, who: str) -> int:
    """How many processes are left when the worker or ssh is killed."""
    computer = Computer(cwd=cwd, target=f"ssh:{HOST}")
    try:
        seconds = str(1000 + random.random())
        play(computer, "shell", f"setsid sleep {seconds} & sleep {seconds} &")
        place = computer.targets.remote
        assert place
        assert place.link
        there = int(place._facts["pid"])
        below = [there]
        for pid in below:
            below += children(pid)
        victim = there if who == "worker" else place.link._program.pid
        os.kill(victim, signal.SIGKILL)
        try:
            until(lambda: not any(map(alive, below)) and not marked(seconds), 10)
        except AssertionError:
            return sum(map(alive, below)) + len(marked(seconds))
        return 0
    finally:
        computer.close()


def main(kills: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = Sshd(folder)
        os.environ["PATH"] = f"{server.bin}:{os.environ['PATH']}"
        try:
            measure(folder, kills)
        finally:
            server.close()


def measure(folder: Path, kills: int) -> None:
    starts = []
    for _ in range(5):
        began = time.perf_counter()
        computer = Computer(cwd=folder, target=f"ssh:{HOST}")
        starts.append(time.perf_counter() - began)
        computer.close()
    login = median(lambda: timed(lambda: subprocess.run(["ssh", HOST, "true"], check=True)), 5)
    computer = Computer(cwd=folder, target=f"ssh:{HOST}")
    local = Computer(cwd=folder)
    for item in (computer, local):
        play(item, "python", "1")
        play(item, "shell", ":")
    assert computer.targets.remote
    way = computer.targets.remote.round_trip
    rows = [
        ("login of ssh itself", f"{login:.0f} ms"),
        ("connect, with Python and the modules", f"{statistics.median(starts) * 1000:.0f} ms"),
        ("one byte through ssh and back", f"{echo_of_ssh():.2f} ms"),
        ("one message to the worker and back", f"{median(way, 200):.2f} ms"),
        (
            "print(1) there",
            f"{median(lambda: timed(lambda: play(computer, 'python', 'print(1)')), 50):.2f} ms",
        ),
        ("print(1) here", f"{median(lambda: timed(lambda: play(local, 'python', 'print(1)')), 50):.2f} ms"),
        ("interrupt to end there", f"{median(lambda: interrupt(computer), 7):.1f} ms"),
        ("interrupt to end here", f"{median(lambda: interrupt(local), 7):.1f} ms"),
    ]
    # One after the other, so that what else the machine does meets all of them.
    floods: dict[str, Callable[[], float]] = {
        "60 MB by ssh itself": flood_of_ssh,
        "60 MB by ssh itself, after its login": flood_after_login,
        "60 MB by ssh -tt, after its login": lambda: flood_after_login("-tt"),
        "60 MB printed there": lambda: flood(computer),
        "60 MB by a terminal here": flood_of_terminal,
        "60 MB printed here": lambda: flood(local),
    }
    rates: dict[str, list[float]] = {name: [] for name in floods}
    times: dict[str, list[float]] = {name: [] for name in floods}
    for _ in range(5):
        for name, measure_rate in floods.items():
            before = count_processor_time()
            rates[name].append(measure_rate())
            times[name].append((count_processor_time() - before) / SIZE * 1e9)
    for name in floods:
        rows.append((name, f"{statistics.median(rates[name]):.0f} MB/s"))
        rows.append(("  time of the processor", f"{statistics.median(times[name]):.1f} ms/MB"))
    computer.close()
    local.close()
    for who in ("worker", "ssh"):
        left = sum(killed(folder, who) for _ in range(kills))
        rows.append((f"processes left after {kills} kills of the {who}", str(left)))
    for what, found in rows:
        print(f"{what:<45} {found:>10}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
