"""Findings about code: what the user should see before it runs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import starmap
from typing import Literal

#: What can be listed, the gravest first. The last three are facts and no risks.
Kind = Literal[
    "rights",
    "deletes",
    "extensions",
    "system",
    "secrets",
    "writes outside",
    "installs",
    "controls",
    "sends",
    "personal",
    "tools",
    "screen",
    "clipboard",
    "network",
    "runs text",
    "hidden",
    "processes",
    "programs",
    "moves",
    "overwrites",
    "database",
    "opens",
    "writes",
    "reads",
    "not understood",
]
WORDS: dict[Kind, str] = {
    "rights": "acts as administrator",
    "deletes": "deletes",
    "extensions": "loads extensions of a database",
    "system": "changes the system",
    "secrets": "reads private files",
    "writes outside": "writes outside of the folder",
    "installs": "installs software",
    "controls": "uses mouse and keyboard",
    "sends": "sends messages",
    "personal": "reads mail, calendar or contacts",
    "tools": "calls tools of MCP servers",
    "screen": "looks at the screen",
    "clipboard": "uses the clipboard",
    "network": "uses the network",
    "runs text": "runs text as code",
    "hidden": "hides which functions it uses",
    "processes": "ends processes",
    "programs": "starts programs",
    "moves": "moves or renames files",
    "overwrites": "overwrites",
    "database": "changes a database",
    "opens": "opens another database",
    "writes": "writes files",
    "reads": "reads files",
    "not understood": "not checked",
}
#: How much pieces of a long line have in common.
_OVERLAP = 200
#: How much of the code a finding repeats.
_LONGEST_PART = 40
_FACTS: tuple[Kind, ...] = ("writes", "reads", "not understood")
#: What cannot be taken back, or reaches beyond the folder.
_GRAVE: frozenset[Kind] = frozenset(
    (
        "rights",
        "deletes",
        "extensions",
        "system",
        "secrets",
        "writes outside",
        "installs",
        "controls",
        "sends",
    )
)
#: How much care code needs.
Level = Literal["clear", "notes", "danger"]


def shorten_part(what: str) -> str:
    """Return a part of code as a finding names it: short, with a mark where it is cut."""
    return what if len(what) <= _LONGEST_PART else f"{what[: _LONGEST_PART - 1].rstrip()}…"


@dataclass(frozen=True, slots=True)
class Finding:
    """One effect of line `line`, counted from 1; 0 stands for all lines.

    `what` names a file, host or program, or a part of the code; it may be empty.
    """

    kind: Kind
    what: str
    line: int


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings about one piece of code.

    `found` was recognised; `unchecked` are the parts that are not known to be harmless. `readable` is False
    for code that could not be read at all; `parsed` where only dangerous lines were searched for.
    """

    found: tuple[Finding, ...] = ()
    readable: bool = True
    unchecked: tuple[Finding, ...] = ()
    parsed: bool = True

    @property
    def nothing_listed(self) -> bool:
        """Whether the code was read whole, every part of it is known, and there is nothing to list."""
        return self.readable and self.parsed and not self.found and not self.unchecked

    @property
    def level(self) -> Level:
        """How much care the code needs: nothing is listed, something is, or a grave risk is among it."""
        if any(item.kind in _GRAVE for item in self.found):
            return "danger"
        return "clear" if self.nothing_listed else "notes"

    @property
    def risks_by_line(self) -> list[tuple[int, str]]:
        """The lines with risks, the one with the gravest first, and what each does."""
        order = list(WORDS)
        lines: dict[int, dict[str, list[str]]] = {}
        for risk in sorted(self.risks, key=lambda item: order.index(item.kind)):
            names = lines.setdefault(risk.line, {}).setdefault(WORDS[risk.kind], [])
            if risk.what and risk.what not in names:
                names.append(risk.what)
        return [(line, ", ".join(starmap(_add_names, kinds.items()))) for line, kinds in lines.items()]

    @property
    def risks(self) -> tuple[Finding, ...]:
        """All but the plain facts."""
        return tuple(item for item in self.found if item.kind not in _FACTS)

    @property
    def risk_sentences(self) -> list[str]:
        """A few words for each kind of risk, the gravest first: "deletes ./old.csv (line 3)"."""
        return [
            _write_sentence(kind, findings)
            for kind in WORDS
            if kind not in _FACTS and (findings := self._pick(kind))
        ]

    @property
    def fact_sentences(self) -> list[str]:
        """The files that are written and read, and what was not checked."""
        return [_write_sentence(kind, findings) for kind in _FACTS if (findings := self._pick(kind))]

    @property
    def sentences(self) -> list[str]:
        """The risks, then the facts."""
        return self.risk_sentences + self.fact_sentences

    @property
    def conclusion(self) -> str:
        """The conclusion about the code as a whole; "" where the sentences say it."""
        if not self.readable:
            return "not scanned"
        if self.nothing_listed:
            return "no risks found (no guarantee)"
        return (
            ""
            if self.parsed or self.risks or self.unchecked
            else "no risks found, but only known risks were searched"
        )

    @property
    def lines(self) -> frozenset[int]:
        """The lines with risks, from 1."""
        return frozenset(risk.line for risk in self.risks)

    def _pick(self, kind: Kind) -> list[Finding]:
        if kind != "not understood":
            return [item for item in self.found if item.kind == kind]
        lines = {item.line for item in self.found}
        return [item for item in self.unchecked if item.line not in lines]


def _write_sentence(kind: Kind, found: list[Finding]) -> str:
    if kind == "not understood":
        return _describe_unchecked(found)
    names = list(dict.fromkeys(item.what for item in found if item.what))
    text = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    words = WORDS[kind] + (f": {text}" if text else "")
    if kind in _FACTS:
        return words
    numbers = sorted({item.line for item in found})
    some = ", ".join(map(str, numbers[:4])) + (", …" if len(numbers) > 4 else "")
    return f"{words} (line{'s' * (len(numbers) > 1)} {some})"


def _describe_unchecked(found: list[Finding]) -> str:
    """Return one line for all parts that were not checked."""
    first: dict[str, int] = {}
    for item in found:
        first.setdefault(item.what, item.line)
    parts = [f"{what} (line {line})" if line else what for what, line in list(first.items())[:3]]
    return f"{WORDS['not understood']}: {', '.join(parts)}" + (
        f" and {len(first) - 3} more" if len(first) > 3 else ""
    )


_URL = re.compile(r"""\b(?:https?|ftp|wss?)://(?:[^\s/'"@<>`]+@)?([^\s/:'"<>?#`)}\]]+)""")
_PRIVATE = re.compile(
    r"\.ssh\b|\.gnupg|\.aws/|\.netrc|\.kube/|\.docker/config|id_rsa|id_ed25519|/etc/shadow|/etc/sudoers"
    r"|\.pgpass|\.git-credentials|\.bash_history|\.zsh_history|Login Data|cookies\.sqlite|(?:^|/)\.env\b"
)


def find_hosts(text: str) -> list[str]:
    """Return the hosts of the addresses in a text."""
    return _URL.findall(text)


def find_private(text: str) -> str:
    """Return the part of a path that names a private file, "" where it names none."""
    match = _PRIVATE.search(text)
    return match.group() if match else ""


def split_line(line: str, longest: int) -> Iterator[str]:
    """Yield a line in pieces that overlap, so that what lies across two of them is whole in one."""
    for start in range(0, len(line), longest - _OVERLAP):
        yield line[start : start + longest]


def _add_names(words: str, names: list[str]) -> str:
    """Return what is done, and to what."""
    return f"{words}: {', '.join(names)}" if names else words
