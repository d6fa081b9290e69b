"""What the model sees of real tables, and how fast large ones open: `... tests.benchmarks.tables FOLDER`.

FOLDER has CSV files, such as the 64 of DABench that a clone of InfiAgent/InfiAgent has in
`examples/DA-Agent/data/da-dev-tables`. Each is read by pandas and shown with `df.head()`, in a window of 80
columns. Tokens are counted as a quarter of the characters. Then a frame of 10 million rows is opened,
scrolled and sorted, and names are completed.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from oi_tui.input.table_file import TableFile
from oi_tui.messages import Displayed, Printed, RunEnded
from oi_tui.runtimes import Computer
from oi_tui.runtimes.tables import TableError, TableQuery

_LARGE = """import numpy, pandas
large = pandas.DataFrame({name: numpy.random.rand(10_000_000) for name in "abcd"})"""


def seen_of(computer: Computer, code: str) -> tuple[str, str]:
    """What the model sees of a cell, and how the cell ended."""
    view, printed, state = "", list[str](), ""
    for report in computer.run("python", code):
        if isinstance(report, Printed | Displayed) and report.view:
            view = report.view
        elif isinstance(report, Printed):
            printed.append(report.text)
        elif isinstance(report, RunEnded):
            state = report.state
    return view or "".join(printed), state


def measure_tables(computer: Computer, files: list[Path]) -> None:
    """Say how many columns the model does not see, and how much it is given."""
    tokens, with_hidden, all_hidden, unread = list[int](), 0, 0, list[str]()
    for file in files:
        read = f"import pandas\ndf = pandas.read_csv({str(file)!r}, encoding_errors='replace')"
        if seen_of(computer, read)[1] != "finished":
            unread.append(file.name)
            continue
        seen, _ = seen_of(computer, "df.head()")
        names, _ = seen_of(computer, "print(*map(str, df.columns), sep='\\x1e')")
        head = seen.partition("\n\n")[0].replace("\\n", "\n")
        hidden = [
            name for name in names.strip("\r\n").replace("\r\n", "\n").split("\x1e") if name not in head
        ]
        with_hidden += bool(hidden)
        all_hidden += len(hidden)
        tokens.append(len(seen) // 4)
    print(f"tables shown to the model: {len(tokens)}; not read by pandas: {', '.join(unread) or 'none'}")
    print(f"with hidden columns: {with_hidden}; hidden columns: {all_hidden}")
    print(f"tokens a table: median {statistics.median(tokens):.0f}, most {max(tokens)}")


def measure_files(files: list[Path]) -> None:
    """Say how many files open as tables without a model."""
    opened, unusual, failed = 0, 0, list[str]()
    for file in files:
        try:
            table = TableFile(file)
        except TableError as error:
            failed.append(str(error))
            continue
        opened += 1
        unusual += table.kind != "CSV"
        table.close()
    print(f"files that open: {opened} of {len(files)}, {unusual} with something unusual; {failed or ''}")


def timed(times: int, ask: Callable[[], object]) -> str:
    """The median and the 95th percentile of the milliseconds that a question takes."""
    took = []
    for _ in range(times):
        began = time.perf_counter()
        ask()
        took.append((time.perf_counter() - began) * 1000)
    return f"{statistics.median(took):.1f} / {sorted(took)[int(0.95 * times)]:.1f} ms"


def measure_large(computer: Computer) -> None:
    """Say how long a frame of 10 million rows takes to open, to scroll and to sort, and a completion."""
    seen_of(computer, _LARGE)
    table = computer.inspector.open_table("python", "large")
    places = iter(range(0, 10_000_000, 99_000))

    def open_table() -> None:
        table.shape(TableQuery())
        table.page(TableQuery(), 0, 100, 0, 20)

    print(f"10,000,000 rows, first page, p50 / p95: {timed(40, open_table)}")
    scroll = timed(40, lambda: table.page(TableQuery(), next(places), 100, 0, 20))
    print(f"a page anywhere in them, p50 / p95: {scroll}")
    print(f"sorting them, once: {timed(1, lambda: table.page(TableQuery(sort=0), 0, 100, 0, 20))}")
    for before in ("large.gro", "large[", "numpy.ran"):
        took = timed(40, partial(computer.inspector.complete, "python", before))
        print(f"completion of {before}, p50 / p95: {took}")


def main() -> None:
    """Measure all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    files = sorted(parser.parse_args().folder.rglob("*.csv"))
    with tempfile.TemporaryDirectory() as folder:
        computer = Computer(cwd=Path(folder), python=sys.executable)
        computer.resize(80, 24)
        try:
            measure_tables(computer, files)
            measure_files(files)
            measure_large(computer)
        finally:
            computer.close()


if __name__ == "__main__":
    main()
