"""What a person should see in a piece of code before it runs: recognised, never proved."""

import re
from dataclasses import dataclass
from typing import Literal

#: What can be recognised, the gravest first. The last one is a fact that is told, and no risk.
Kind = Literal[
    "rights",
    "deletes",
    "system",
    "secrets",
    "writes outside",
    "installs",
    "network",
    "runs text",
    "processes",
    "programs",
    "moves",
    "writes",
]
WORDS: dict[Kind, str] = {
    "rights": "acts as administrator",
    "deletes": "deletes",
    "system": "changes the system",
    "secrets": "reads private files",
    "writes outside": "writes outside of the folder",
    "installs": "installs software",
    "network": "uses the network",
    "runs text": "runs text as code",
    "processes": "ends processes",
    "programs": "starts programs",
    "moves": "moves or renames files",
    "writes": "writes files",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that line `line`, counted from 1, does; `what` names a file, host or program, or is empty."""

    kind: Kind
    what: str
    line: int


@dataclass(frozen=True, slots=True)
class Findings:
    """What was recognised; `readable` is False for code that could not be looked through."""

    found: tuple[Finding, ...] = ()
    readable: bool = True

    @property
    def risks(self) -> tuple[Finding, ...]:
        """All but the plain facts."""
        return tuple(each for each in self.found if each.kind != "writes")

    @property
    def sentences(self) -> list[str]:
        """A few words for each kind, the gravest first: "deletes ./old.csv (line 3)"."""
        return [_sentence(kind, each) for kind in WORDS if (each := self._of(kind))]

    @property
    def lines(self) -> frozenset[int]:
        """The lines with risks, from 1."""
        return frozenset(each.line for each in self.risks)

    def _of(self, kind: Kind) -> list[Finding]:
        return [each for each in self.found if each.kind == kind]


def _sentence(kind: Kind, found: list[Finding]) -> str:
    named = list(dict.fromkeys(each.what for each in found if each.what))
    told = ", ".join(named[:3]) + (", …" if len(named) > 3 else "")
    words = WORDS[kind] + (f": {told}" if told else "")
    if kind == "writes":
        return words
    numbers = sorted({each.line for each in found})
    some = ", ".join(map(str, numbers[:4])) + (", …" if len(numbers) > 4 else "")
    return f"{words} (line{'s' * (len(numbers) > 1)} {some})"


_URL = re.compile(r"""\b(?:https?|ftp|wss?)://(?:[^\s/'"@<>`]+@)?([^\s/:'"<>?#`)}\]]+)""")
_PRIVATE = re.compile(
    r"\.ssh\b|\.gnupg|\.aws/|\.netrc|\.kube/|\.docker/config|id_rsa|id_ed25519|/etc/shadow|/etc/sudoers"
    r"|\.pgpass|\.git-credentials|\.bash_history|\.zsh_history|Login Data|cookies\.sqlite|(?:^|/)\.env\b"
)


def hosts(text: str) -> list[str]:
    """The hosts of the addresses in a text."""
    return _URL.findall(text)


def private(text: str) -> str:
    """The part of a path that names a private file, "" where it names none."""
    found = _PRIVATE.search(text)
    return found.group() if found else ""
