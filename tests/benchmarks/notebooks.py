"""Runs the cells of notebooks here and in a Jupyter kernel, side by side, and lists where the two differ.

`python -m tests.benchmarks.notebooks FOLDER ... [--minutes 10] [--seconds 5]` needs ipykernel.
A cell ends the same if both finish, or fail with the same error. Texts are compared too, where the kernel
gives nothing but text; times, addresses and names of files in them are not. Cells that take longer than
`--seconds` are interrupted. A notebook is left where only one of the two was.
"""

import argparse
import json
import os
import queue
import re
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oi_tui.messages import Displayed, Printed, RunEnded
from oi_tui.runtimes import Computer

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
#: What `%time` and `%timeit` say, and other numbers of seconds.
_TIMES = re.compile(
    r"(CPU times: |Wall time: |[\d.]+ \w?s ± |Compiler *: |Time in milliseconds).*|The slowest run took.*\n"
)
_SECONDS = re.compile(r"[ \d.,]*\d *(?=(?:milli|micro)?sec(?:ond)?s?\b|[mµμn]?s\b)")
_FILES = re.compile(r"/tmp/ipykernel_\d+/\d+\.py|<cell \d+(, run \d+)?>")
_UNKNOWN_MAGIC = re.compile(r"^UsageError: (Line|Cell) magic.*not found", re.MULTILINE)
#: A call or an item of what is not defined, for which a kernel calls a magic of the name.
_CALL = re.compile(r"\s*(\w+)[(\[]")
#: How `clear_output()` clears the terminal here.
CLEAR = "\x1b[9999A\r\x1b[J"
#: What comes by chance should come the same way in both.
_SAME = """import random
random.seed(0)
try:
    import numpy
    numpy.random.seed(0)
    numpy.random.default_rng = lambda seed=0, make=numpy.random.default_rng: make(seed)
except ImportError:
    pass
del random
globals().pop("numpy", None)"""


@dataclass(frozen=True)
class Outcome:
    """How a cell ended ("ok", an error, "late" or "stuck"), its text, and whether it showed more."""

    end: str
    text: str
    rich: bool = False
    images: int = 0


def cells_of(path: Path) -> Iterator[str]:
    """The code cells of a notebook."""
    book = json.loads(path.read_text(encoding="utf-8"))
    cells = book.get("cells") or [cell for sheet in book.get("worksheets", ()) for cell in sheet["cells"]]
    for cell in cells:
        source = cell.get("source", cell.get("input", ""))
        text = source if isinstance(source, str) else "".join(source)
        if cell["cell_type"] == "code" and text.strip():
            yield text


def run_here(computer: Computer, code: str, seconds: float) -> Outcome:
    """Run a cell in Python as the application does; interrupt it, and then end it, when it takes too long."""
    parts, rich, end, images = list[str](), False, "lost", 0
    over, interrupts = threading.Event(), list[float]()

    def watch() -> None:
        while not over.wait(seconds):
            interrupts.append(seconds)
            computer.interrupt()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    for report in computer.run("python", code):
        if isinstance(report, Printed):
            parts.append(report.text)
        elif isinstance(report, Displayed):
            rich = True
            images += report.format.startswith("base64")
        elif isinstance(report, RunEnded):
            end = "ok" if report.state == "finished" else (report.reason or report.state).partition(":")[0]
    over.set()
    watcher.join()
    if interrupts:
        end = "late" if len(interrupts) == 1 else "stuck"
    return Outcome(end, "".join(parts), rich, images)


def run_in_kernel(client: Any, manager: Any, code: str, seconds: float) -> Outcome:
    began, parts, rich, images = time.monotonic(), list[str](), False, 0
    number = client.execute(code, allow_stdin=False)
    end, late = "lost", False
    while True:
        try:
            message = client.get_iopub_msg(timeout=0.2)
        except queue.Empty:
            message = None
        if not late and time.monotonic() - began > seconds:
            late = True
            manager.interrupt_kernel()
        if time.monotonic() - began > seconds + 10:
            return Outcome("late", "", True)
        if message is None or message["parent_header"].get("msg_id") != number:
            continue
        kind, content = message["msg_type"], message["content"]
        if kind == "clear_output":
            parts.append(CLEAR)
        elif kind == "stream":
            parts.append(content["text"])
        elif kind in ("execute_result", "display_data"):
            data = content["data"]
            rich = rich or set(data) - {"text/plain"} != set()
            images += "image/png" in data
            parts.append(data.get("text/plain", "") + "\n")
        elif kind == "error":
            end = content["ename"]
        elif kind == "status" and content["execution_state"] == "idle":
            if end == "lost" and _UNKNOWN_MAGIC.search("".join(parts)):
                # It says so instead of reporting an error, and goes no further either.
                end = "NameError"
            return Outcome("late" if late else "ok" if end == "lost" else end, "".join(parts), rich, images)


def _plain(text: str) -> str:
    text = _COLOURS.sub("", text.rpartition(CLEAR)[2]).replace("\r\n", "\n")
    for pattern, kept in ((_ADDRESS, "0x"), (_TIMES, "times"), (_SECONDS, "# "), (_FILES, "cell")):
        text = pattern.sub(kept, text)
    lines = text.split("\n")
    return "\n".join(line.rstrip() for line in lines).strip()


def compare(path: Path, there: Path, seconds: float, counts: Counter[str]) -> None:
    """Run one notebook here, and its copy `there` in a kernel, and print where they differ."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3", cwd=str(there.parent))
    computer = Computer(cwd=path.parent, python=sys.executable)
    try:
        run_here(computer, _SAME, 60)
        run_in_kernel(client, manager, _SAME, 60)
        for number, code in enumerate(cells_of(path), 1):
            ours, theirs = run_here(computer, code, seconds), run_in_kernel(client, manager, code, seconds)
            if ours.end == theirs.end == "late":
                counts["interrupted"] += 1
                continue
            if {ours.end, theirs.end} & {"late", "stuck"}:
                counts["left"] += 1
                return
            counts["cells"] += 1
            name = f"{path.name} [{number}]"
            call = _CALL.match(code)
            if (
                call
                and ours.text.rstrip().endswith(f"name '{call[1]}' is not defined")
                and theirs.end != ours.end
            ):
                counts["call, magic there"] += 1
            elif ours.end != theirs.end:
                counts["another end"] += 1
                print(f"END  {name}: {ours.end} here, {theirs.end} in the kernel\n     {code[:300]!r}")
                print(f"     {ours.text[-300:]!r}")
            elif ours.images != theirs.images:
                counts["other images"] += 1
                print(f"PICT {name}: {ours.images} here, {theirs.images} in the kernel")
                print(f"     {code[-200:]!r}")
            elif ours.end == "ok" and not (ours.rich or theirs.rich):
                counts["texts"] += 1
                if _plain(ours.text) != _plain(theirs.text):
                    counts["another text"] += 1
                    print(
                        f"TEXT {name}: {code[-200:]!r}\n     {ours.text[:200]!r}\n     {theirs.text[:200]!r}"
                    )
    finally:
        computer.close()
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def main() -> None:
    """Compare all notebooks below the folders."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seconds", type=float, default=5.0)
    given = parser.parse_args()
    os.environ["PYTHONHASHSEED"] = "0"
    with tempfile.TemporaryDirectory() as copies:
        # Each has files of its own: what one writes or removes, the other does not find.
        pairs = list[tuple[Path, Path]]()
        for number, folder in enumerate(given.folders):
            here, there = (Path(copies, name, str(number)) for name in ("a", "b"))
            shutil.copytree(folder, here, symlinks=True)
            shutil.copytree(folder, there, symlinks=True)
            pairs += [(path, there / path.relative_to(here)) for path in sorted(here.rglob("*.ipynb"))]
        compare_all(pairs, given.seconds, time.monotonic() + given.minutes * 60)


def compare_all(pairs: list[tuple[Path, Path]], seconds: float, until: float) -> None:
    """Compare notebooks and their copies, until the time is over."""
    counts = Counter[str]()
    for path, there in pairs:
        if time.monotonic() > until:
            break
        counts["notebooks"] += 1
        try:
            compare(path, there, seconds, counts)
        except (ValueError, KeyError) as error:
            print(f"SKIP {path.name}: {error}")
        print(f"---- {path.name}: {dict(counts)}", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
