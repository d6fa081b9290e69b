"""Describes which languages are available on this machine."""

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


def describe(found: Sequence[Availability]) -> str:
    """Return the languages with version, program and whether their line is marked; how to get the others."""
    rows = [("language", "version", "line", "program")]
    rows += [
        (
            availability.name,
            availability.about,
            "yes" if availability.active_line else "no",
            availability.program,
        )
        for availability in found
        if availability.program
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = ["  ".join([*map(str.ljust, row, widths), row[3]]) for row in rows]
    lines.append("(line: the running line is marked)")
    missing = [
        f"  {availability.name}: {availability.about}" for availability in found if not availability.program
    ]
    return "\n".join([*lines, "Not available:", *missing] if missing else lines)
