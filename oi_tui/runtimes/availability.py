"""Lists which languages are available on this machine."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Availability:
    """The availability of a language: `about` is its version, or how to install it where `program` is
    None.
    """

    name: str
    about: str
    program: str | None
    active_line: bool


def told(standings: Sequence[Availability]) -> str:
    """The languages with version, program and whether their line is marked; how to get the others."""
    rows = [("language", "version", "line", "program")]
    rows += [
        (each.name, each.about, "yes" if each.active_line else "no", each.program)
        for each in standings
        if each.program
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = ["  ".join([*map(str.ljust, row, widths), row[3]]) for row in rows]
    lines.append("(line: whether the line that runs is marked)")
    missing = [f"  {each.name}: {each.about}" for each in standings if not each.program]
    return "\n".join([*lines, "Not installed:", *missing] if missing else lines)
