"""Scripts about this machine, in languages other than Python."""

import re

from oi_tui.demo.talk import CodeToRun, Reply, Say, Talk
from oi_tui.demo.task import Task, quote_lines, report_unexpected, request_pattern

MACHINE_FACTS = r"""
uname -srm
date
df -h .
here=$(pwd)
"""

FOLDER_SIZES = r"""
echo "largest entries of $here, in kilobytes:"
du -sk -- * 2>/dev/null | sort -rn | head -n 5
"""

KINDS = r"""
const { readdirSync } = require("node:fs");
const names = readdirSync(".");
const kinds = {};
for (const name of names) {
  const dot = name.lastIndexOf(".");
  const kind = dot > 0 ? name.slice(dot) : "(none)";
  kinds[kind] = (kinds[kind] ?? 0) + 1;
}
console.log(`${names.length} names, ${Object.keys(kinds).length} kinds`);
"""

MOST_COMMON = r"""
const ordered = Object.entries(kinds).sort((a, b) => b[1] - a[1]);
for (const [kind, count] of ordered.slice(0, 5)) {
  console.log(`${String(count).padStart(6)}  ${kind}`);
}
"""

KINDS_IN_PYTHON = r"""
from collections import Counter
from pathlib import Path

kinds = Counter(path.suffix or "(none)" for path in Path(".").iterdir())
for kind, count in kinds.most_common(5):
    print(f"{count:>6}  {kind}")
"""

FACTS_IN_PYTHON = r"""
import platform
import shutil
import time

usage = shutil.disk_usage(".")
print(platform.platform())
print(time.strftime("%A, %d %B %Y, %H:%M"))
print(f"{usage.free / 1e9:,.1f} of {usage.total / 1e9:,.1f} GB free")
"""


def _describe_machine(talk: Talk) -> Reply:
    step = talk.last
    if step is None:
        return [
            Say("I will ask the shell what this machine is, what time it is, and how full the disk is.\n\n"),
            CodeToRun("shell", MACHINE_FACTS.strip()),
        ]
    if "largest entries" in step.output:
        rows = re.findall(r"^(\d+)\s+(.+?)\s*$", step.output, re.MULTILINE)
        if not rows:
            return [Say("There is nothing in this folder that takes any room.")]
        size, entry = rows[0]
        return [Say(f"Most of the room here is taken by `{entry}`: {int(size):,} kB.")]
    if len(talk.steps) > 1:
        return [Say(f"The shell reason:\n\n{quote_lines(step.output)}")]
    first = next((line.strip() for line in step.output.splitlines() if line.strip()), "unknown")
    full = re.search(r"\b(\d+)%", step.output)
    disk = f", with its disk {full[1]} % full" if full else ""
    return [
        Say(
            f"This is `{first}`{disk}. The shell still knows `$here`, so I use it to see what takes the "
            "room; stop it with escape if the folder is very large.\n\n"
        ),
        CodeToRun("shell", FOLDER_SIZES.strip()),
    ]


def _answer_javascript(talk: Talk) -> Reply:
    step = talk.last
    if step is None:
        return [
            Say("In JavaScript then: I count the kinds of files in this folder.\n\n"),
            CodeToRun("javascript", KINDS.strip()),
        ]
    counts = re.search(r"(\d+) names, (\d+) kinds", step.output)
    if counts:
        return [
            Say(f"Node found {counts[1]} names. It remembers `kinds`, so sorting them is a line.\n\n"),
            CodeToRun("javascript", MOST_COMMON.strip()),
        ]
    rows = re.findall(r"^ *(\d+) {2}(\S.*?)\s*$", step.output, re.MULTILINE)
    if rows:
        return [Say(f"The most common kind is `{rows[0][1]}`, {rows[0][0]} times.")]
    if step.language == "javascript":
        reason = step.error or next(iter(step.output.splitlines()), "nothing")
        return [
            Say(f"JavaScript did not work here (`{reason.strip()}`), so I do it in Python.\n\n"),
            CodeToRun("python", KINDS_IN_PYTHON.strip()),
        ]
    return report_unexpected(step) if step.error else [Say(f"It printed:\n\n{quote_lines(step.output)}")]


MACHINE = (
    Task(
        "shell: what machine is this",
        "uses the shell: system, date, disk",
        request_pattern(r"\b(shell|bash|disk|machine|uname)\b"),
        _describe_machine,
        lambda _talk: ("python", FACTS_IN_PYTHON.strip()),
    ),
    Task(
        "javascript",
        "uses Node, where it is installed",
        request_pattern(r"\b(javascript|java script|node|js)\b"),
        _answer_javascript,
        lambda _talk: ("python", KINDS_IN_PYTHON.strip()),
    ),
)
