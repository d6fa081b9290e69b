"""The languages as they are told of: on this machine, and in general, as the README's table."""

from collections.abc import Sequence
from dataclasses import dataclass

from oi_tui.runtimes.language import Language

_INPUT = {"told": "yes", "seen": "yes, seen at its terminal", "none": ""}


@dataclass(frozen=True, slots=True)
class Availability:
    """How it stands with a language: `about` is its version; how to get it where `program` is None."""

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
    return "\n".join([*lines, "Not here:", *missing] if missing else lines)


def languages_table(languages: Sequence[Language]) -> str:
    """The README's table of languages, in Markdown."""
    heads = (
        "Language",
        "Also called",
        "Remembers",
        "Line marked",
        "Input",
        "Variables",
        "To get it",
    )
    rows = [heads, ("---",) * len(heads)]
    rows += [
        (
            f"`{language.name}`",
            ", ".join(language.aliases),
            language.keeps or "nothing: every run begins anew",
            "yes" if language.active_line else "no",
            _INPUT[language.input],
            "yes" if language.variables_request else "",
            _how(language),
        )
        for language in languages
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _how(language: Language) -> str:
    package = language.packages.get("apt")
    return f"`apt install {package}`" if package else language.hint
