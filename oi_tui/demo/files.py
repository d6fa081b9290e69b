"""Scripts about the files in the working directory."""

import difflib
import json
import re
import shlex

from oi_tui.demo.talk import CodeToRun, Reply, Say, Talk, TaskStep, Think
from oi_tui.demo.task import Task, find_csv_name, quote_lines, report_unexpected, request_pattern

#: What means something in Markdown.
_MARKDOWN = re.compile(r"[*_`<\[\\&~]")

LARGEST = r"""
import heapq
import os

sizes = []
for folder, folders, names in os.walk("."):
    folders[:] = [name for name in folders if not name.startswith(".")]
    for name in names:
        path = os.path.join(folder, name)
        try:
            sizes.append((os.lstat(path).st_size, os.path.relpath(path)))
        except OSError:
            continue  # it went away meanwhile
        if len(sizes) % 10_000 == 0:
            print(f"\r{len(sizes):,} files so far", end="", flush=True)

total = sum(size for size, _ in sizes)
print(f"\r{len(sizes):,} file{'s' * (len(sizes) != 1)}, {total:,} bytes in all")
for size, path in heapq.nlargest(10, sizes):
    print(f"{size:>16,}  {path.encode(errors='replace').decode()}")
"""

SUMMARY = r"""
import csv
import statistics

with open(NAME, encoding="utf-8-sig", errors="replace", newline="") as file:
    first_line = file.readline()
    file.seek(0)
    delimiter = max(",;\t|", key=first_line.count)
    rows = list(csv.DictReader(file, delimiter=delimiter))

columns = [column for column in (rows[0] if rows else ()) if column]
print(f"{len(rows):,} rows, {len(columns)} columns")
print(f"{'column':<18}{'count':>8}{'mean':>15}{'min':>15}{'max':>15}")
for column in columns:
    values = [(row[column] or "").strip() for row in rows]
    values = [value for value in values if value]
    mean = low = high = "-"
    try:
        numbers = [float(value) for value in values]
        if numbers:
            mean = f"{statistics.fmean(numbers):,.2f}"
            low, high = f"{min(numbers):,.2f}", f"{max(numbers):,.2f}"
    except ValueError:
        low, high = min(values)[:14], max(values)[:14]
    count = f"{len(values):,}"
    print(f"{column[:17]:<18}{count:>8}{mean:>15}{low:>15}{high:>15}")
"""

CSV_FILES = r"""
from pathlib import Path

found = sorted(str(path) for path in Path(".").glob("**/*.csv"))[:50]
print(*(found or ["no CSV file here"]), sep="\n")
"""


def find_missing(talk: Talk, name: str) -> Reply | None:
    """Return the answer to code that did not find the CSV file `name`; None when that is not what happened.

    First the CSV files are listed; then, when one has a similar name, it is offered.
    """
    step = talk.last
    if step and "FileNotFoundError" in step.error:
        return [
            Say(f"The file `{name}` was not found. Let me see which CSV files there are.\n\n"),
            CodeToRun("python", CSV_FILES.strip()),
        ]
    if step and step.code.strip() == CSV_FILES.strip() and not step.error:
        similar = find_similar_file(name, step)
        listing = f"These are the CSV files here:\n\n{quote_lines(step.output, 12)}\n\n"
        if similar is None:
            return [
                Say(f"{listing}None of them looks like `{name}`. Ask again with the name of one of these.")
            ]
        return [Say(f"{listing}You may have meant `{similar}`, so I try again with that one.\n\n")]
    return None


def find_similar_file(name: str, step: TaskStep) -> str | None:
    """Return the listed file with the name most like `name`; the only one there is counts as similar."""
    files = [line.strip() for line in step.output.splitlines() if line.strip().lower().endswith(".csv")]
    by_name = {path.rsplit("/", 1)[-1].lower(): path for path in reversed(files)}
    close = difflib.get_close_matches(name.rsplit("/", 1)[-1].lower(), by_name, n=1, cutoff=0.6)
    if close:
        return by_name[close[0]]
    return files[0] if len(files) == 1 else None


def insert_name(code: str, name: str) -> str:
    """Return the code with the file's name written into it as a literal."""
    return code.strip().replace("NAME", json.dumps(name, ensure_ascii=False))


def _list_largest(talk: Talk) -> Reply:
    step = talk.last
    if step is None:
        return [
            Say("I will walk through the folder you started me in, and list the ten largest files.\n\n"),
            CodeToRun("python", LARGEST.strip()),
        ]
    if step.error:
        return report_unexpected(step)
    rows = re.findall(r"^ +([\d,]+) {2}(.+)$", step.output, re.MULTILINE)
    total = re.search(r"([\d,]+) files?, ([\d,]+) bytes in all", step.output)
    if not rows or not total:
        return [Say(f"It printed:\n\n{quote_lines(step.output)}")]
    size, path = rows[0]
    share = int(size.replace(",", "")) / max(int(total[2].replace(",", "")), 1)
    cells = "\n".join(f"| {_write_cell(path)} | {size} |" for size, path in rows[:5])
    return [
        Say(f"{_describe_largest(total[1], path, size, share)}\n\n| file | bytes |\n|:--|--:|\n{cells}\n")
    ]


def _describe_largest(count: str, path: str, size: str, share: float) -> str:
    if count == "1":
        return f"There is one file here: `{path}` with {size} bytes."
    return f"Of {count} files, the largest is `{path}` with {size} bytes: {share:.0%} of everything here."


def _summarise(talk: Talk) -> Reply:
    name = find_csv_name(talk.request)
    if name is None:
        return [Say("Name a CSV file, as in `summarise prices.csv`, and I will summarise it.")]
    step = talk.last
    if step is None:
        return [
            Think("A CSV file. The standard library reads it; count, mean, least and greatest will do."),
            Say(f"I will read `{name}` and look at each of its columns.\n\n"),
            CodeToRun("python", insert_name(SUMMARY, name)),
        ]
    missing = find_missing(talk, name)
    if missing is not None:
        similar = find_similar_file(name, step) if not step.error else None
        return [*missing, CodeToRun("python", insert_name(SUMMARY, similar))] if similar else missing
    if step.error:
        return report_unexpected(step)
    return [Say(_describe_table(_open(step, name), step.output))]


def _describe_table(name: str, output: str) -> str:
    counts = re.search(r"([\d,]+) rows, (\d+) columns", output)
    row = r"^(\S.{17}) *([\d,]+) +(-?[\d,.]+) +(-?[\d,.]+) +(-?[\d,.]+) *$"
    numeric = re.findall(row, output, re.MULTILINE)
    if not counts:
        return f"`{name}`, as it was read:\n\n{quote_lines(output)}"
    lines = "\n".join(
        f"| {_write_cell(column.strip())} | {count} | {mean} | {low} | {high} |"
        for column, count, mean, low, high in numeric
    )
    table = f"\n\n| column | count | mean | min | max |\n|:--|--:|--:|--:|--:|\n{lines}\n" if numeric else ""
    of_numbers = f"{len(numeric)} of its {counts[2]} columns hold numbers."
    return f"`{name}` has {counts[1]} rows. {of_numbers}{table}"


def _open(step: TaskStep, name: str) -> str:
    match = re.search(r"open\((\"(?:[^\"\\]|\\.)*\")", step.code)
    return str(json.loads(match[1])) if match else name


def _write_cell(text: str) -> str:
    """Return the text as a cell of a table; as code where Markdown would read it otherwise, such
    as `__name__`.
    """
    cell = text.replace("|", "\\|")
    return "`{}`".format(cell.replace("`", "'")) if _MARKDOWN.search(text) else cell


FILES = (
    Task(
        "largest files here",
        "walks through this folder",
        request_pattern(r"\b(largest|biggest)\b.*\bfiles?\b"),
        _list_largest,
        lambda _talk: ("shell", "find . -type f -exec ls -l {} + | sort -k5 -rn | head -n 10"),
    ),
    Task(
        "summarise NAME.csv",
        "counts, means and extremes of every column of a file of yours",
        request_pattern(r"\b(summari[sz]e|describe|summary)\b"),
        _summarise,
        lambda talk: ("shell", f"head -n 5 -- {shlex.quote(find_csv_name(talk.request) or 'prices.csv')}"),
    ),
)
