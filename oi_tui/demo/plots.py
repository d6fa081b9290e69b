"""Scripts that draw: with matplotlib where it is installed, else pixel by pixel into a PNG."""

import re

from oi_tui.demo.files import find_missing, find_similar_file, insert_name
from oi_tui.demo.talk import CodeToRun, Reply, Say, Talk
from oi_tui.demo.task import Task, find_csv_name, quote_lines, report_unexpected, request_pattern

READ = r"""
import csv
import math

with open(NAME, encoding="utf-8-sig", errors="replace", newline="") as file:
    first_line = file.readline()
    file.seek(0)
    delimiter = max(",;\t|", key=first_line.count)
    rows = list(csv.DictReader(file, delimiter=delimiter))

series = {}
for column in rows[0] if rows else ():
    try:
        numbers = [float(row[column]) for row in rows]
    except (TypeError, ValueError):
        continue  # not a column of numbers
    if all(map(math.isfinite, numbers)) and len(series) < 4:
        series[column] = numbers
"""

COMPUTE = r"""
import math

series = {
    "wave": [math.sin(x / 12) * math.exp(-x / 160) for x in range(400)],
    "envelope": [math.exp(-x / 160) for x in range(400)],
}
"""

REPORT = r"""
for name, numbers in series.items():
    low, high = min(numbers), max(numbers)
    print(f"{name}: {len(numbers)} values from {low:,.2f} to {high:,.2f}")
try:
    import matplotlib
    print("matplotlib: installed")
except ImportError:
    print("matplotlib: not installed")
"""

WITH_MATPLOTLIB = r"""
import matplotlib.pyplot as plt

for name, numbers in series.items():
    low, span = min(numbers), (max(numbers) - min(numbers)) or 1
    plt.plot([(number - low) / span for number in numbers], label=name)
plt.legend()
plt.title("each line on a scale of its own")
plt.show()
print(f"drew {len(series)} lines")
"""

BY_HAND = r"""
import struct
import zlib

COLOURS = {
    "blue": (31, 119, 180),
    "orange": (255, 127, 14),
    "green": (44, 160, 44),
    "red": (214, 39, 40),
}


class Image:
    def __init__(self, width, height):
        self.width, self.height = width, height
        self.rows = [bytearray(b"\xff" * 3 * width) for _ in range(height)]

    def line(self, x0, y0, x1, y1, colour):
        steps = round(max(abs(x1 - x0), abs(y1 - y0), 1))
        for step in range(steps + 1):
            x = round(x0 + (x1 - x0) * step / steps)
            y = round(y0 + (y1 - y0) * step / steps)
            for row in self.rows[y : y + 2]:
                row[3 * x : 3 * x + 3] = bytes(colour)

    def _repr_png_(self):
        def chunk(kind, data):
            check = zlib.crc32(kind + data)
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

        size = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        data = zlib.compress(b"".join(b"\0" + row for row in self.rows))
        chunks = chunk(b"IHDR", size), chunk(b"IDAT", data), chunk(b"IEND", b"")
        return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


image = Image(640, 320)
for y in range(20, 301, 70):
    image.line(20, y, 619, y, (225, 225, 225))
for (name, numbers), (colour, rgb) in zip(series.items(), COLOURS.items()):
    low, span = min(numbers), (max(numbers) - min(numbers)) or 1
    wide = 599 / max(len(numbers) - 1, 1)
    points = [
        (20 + wide * index, 300 - 280 * (number - low) / span)
        for index, number in enumerate(numbers)
    ]
    for (x0, y0), (x1, y1) in zip(points, points[1:] or points):
        image.line(x0, y0, x1, y1, rgb)
    print(f"{colour}: {name}")
display(image)
print(f"drew {len(series)} lines")
"""

IN_LETTERS = r"""
import math

for step in range(0, 40):
    value = math.sin(step / 4) * math.exp(-step / 30)
    indent = " " * round(20 + 20 * min(value, 0))
    print(f"{value:6.2f} {indent}" + "*" * max(round(20 * abs(value)), 1))
"""

BARS_OF_FILE = r"""
import csv

with open(NAME, encoding="utf-8-sig", errors="replace", newline="") as file:
    rows = list(csv.DictReader(file))

for column in rows[0] if rows else ():
    try:
        numbers = [float(row[column]) for row in rows[:40]]
    except (TypeError, ValueError):
        continue  # not a column of numbers
    print(column)
    low, span = min(numbers), (max(numbers) - min(numbers)) or 1
    for number in numbers:
        stars = "*" * round(1 + 40 * (number - low) / span)
        print(f"{number:14,.2f} {stars}")
    break
"""


def _draw_plot(talk: Talk) -> Reply:
    name = find_csv_name(talk.request)
    step = talk.last
    if step is None:
        return _reply_first(name)
    missing = find_missing(talk, name) if name else None
    if missing is not None:
        similar = find_similar_file(name or "", step) if not step.error else None
        return [*missing, CodeToRun("python", _write_reading(similar))] if similar else missing
    if step.error:
        return report_unexpected(step)
    if "matplotlib:" in step.output:
        return _draw(step.output)
    lines = re.search(r"drew (\d+) lines", step.output)
    if not lines:
        return [Say(f"The drawing program printed:\n\n{quote_lines(step.output)}")]
    colours = re.findall(r"^(\w+): (.+)$", step.output, re.MULTILINE)
    legend = "".join(f"\n- {colour}: `{column.strip()}`" for colour, column in colours)
    count = "1 line" if lines[1] == "1" else f"{lines[1]} lines, each on a scale of its own"
    return [Say(f"There it is: {count}.\n{legend}")]


def _reply_first(name: str | None) -> Reply:
    if name is None:
        return [
            Say("First I compute a damped wave; Python will remember it for the next step.\n\n"),
            CodeToRun("python", COMPUTE.strip() + "\n" + REPORT.rstrip()),
        ]
    return [
        Say(f"First I read the numbers of `{name}`; Python will remember them for the next step.\n\n"),
        CodeToRun("python", _write_reading(name)),
    ]


def _write_reading(name: str) -> str:
    return insert_name(READ, name) + "\n" + REPORT.rstrip()


def _draw(output: str) -> Reply:
    columns = re.findall(r"^(.+): \d+ values from ", output, re.MULTILINE)
    if not columns:
        return [Say("There is no column of numbers in it, so there is nothing to draw.")]
    listing = ", ".join(f"`{column}`" for column in columns)
    if "matplotlib: installed" in output:
        return [
            Say(f"That gave {listing}, and matplotlib is installed, so it can draw them.\n\n"),
            CodeToRun("python", WITH_MATPLOTLIB.strip()),
        ]
    return [
        Say(
            f"That gave {listing}. matplotlib is not installed here, so I write the points of a PNG "
            "myself; nothing needs to be installed for that.\n\n"
        ),
        CodeToRun("python", BY_HAND.strip()),
    ]


def _draw_in_letters(talk: Talk) -> tuple[str, str]:
    name = find_csv_name(talk.request)
    return "python", insert_name(BARS_OF_FILE, name) if name else IN_LETTERS.strip()


PLOTS = (
    Task(
        "plot something",
        "draws an image; `plot NAME.csv` draws your numbers",
        request_pattern(r"\b(plot|draw|chart|graph)\b"),
        _draw_plot,
        _draw_in_letters,
    ),
)
