"""Auto-approvals: which code may run without asking."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.scanner import look_through
from oi_tui.engine.tools import is_tool
from oi_tui.text import names

#: From narrow to wide: the same code again; so many more pieces; code with no findings; all of a language;
#: everything, which is auto-run.
Scope = Literal["code", "count", "unremarkable", "language", "everything"]
#: Which grant is used of several that cover the code: one that is used up comes last.
_FIRST_USED: tuple[Scope, ...] = ("code", "unremarkable", "language", "count")
#: How many pieces the grant of a number covers.
SO_MANY = 5


@dataclass(frozen=True, slots=True)
class Permission:
    """Code of one language that needs no question; it is kept nowhere, and ends with the session."""

    scope: Scope
    language: str
    code: str = ""
    left: int = 0

    @property
    def words(self) -> str:
        """The code that it covers, in words."""
        match self.scope:
            case "code":
                lines = self.code.count("\n") + (not self.code.endswith("\n"))
                first = self.code.strip().split("\n")[0].strip()
                shown = first if len(first) <= 40 else first[:39] + "…"
                return f"this {self.language} code again ({lines} line{'s' * (lines != 1)}: {shown})"
            case "count":
                more = "next piece" if self.left == 1 else f"next {self.left} pieces"
                return f"the {more} of {self.language}"
            case "unremarkable":
                return f"{self.language} code with no findings"
            case "language":
                return f"every call of {self.language}" if is_tool(self.language) else f"all {self.language}"
            case "everything":
                return "everything (auto-run)"

    @property
    def offer(self) -> str:
        """The offer in words: the code that it covers, and what else it would allow."""
        match self.scope:
            case "code":
                return "exactly this code again"
            case "count":
                return f"{self.words}, whatever they do"
            case "unremarkable":
                return f"{self.language} code with no findings: all of it understood, nothing listed"
            case "language":
                if is_tool(self.language):
                    return f"{self.words}, whatever its arguments"
                return f"all {self.language}, whatever it does: delete, send, install"
            case "everything":
                return "everything, in every language: auto-run (asks for a word)"

    def covers(self, language: str, code: str, cwd: Path, earlier: EarlierCode | None = None) -> bool:
        """Whether the code may run without a question, after what ran `earlier`."""
        if language != self.language:
            return False
        match self.scope:
            case "code":
                return code == self.code
            case "count":
                return self.left > 0
            case "unremarkable":
                return look_through(language, code, cwd, earlier).nothing_listed and not names(code)
            case "language":
                return True
            case "everything":
                return False


def offers(language: str, code: str, cwd: Path, earlier: EarlierCode | None = None) -> tuple[Permission, ...]:
    """The auto-approvals to offer for this code, from narrow to wide; auto-run comes last."""
    unremarkable = Permission("unremarkable", language)
    return (
        Permission("code", language, code),
        Permission("count", language, left=SO_MANY),
        *([unremarkable] if unremarkable.covers(language, code, cwd, earlier) else []),
        Permission("language", language),
        Permission("everything", language),
    )


class Permissions:
    """The grants of a session, from any thread; `everything` is auto-run."""

    def __init__(self, *, everything: bool = False) -> None:
        self.everything = everything
        self._lock = threading.Lock()
        self._given: list[Permission] = []
        self._place: str | None = None

    def enter(self, place: str) -> None:
        """Code runs at that place from now on; what was granted for another is not granted there."""
        before, self._place = self._place, place
        if before not in (None, place):
            self.everything = False
            self.clear()

    def __iter__(self) -> Iterator[Permission]:
        with self._lock:
            return iter(tuple(self._given))

    def __bool__(self) -> bool:
        return bool(self._given)

    @property
    def in_force(self) -> tuple[Permission, ...]:
        """The auto-approvals in force, auto-run first."""
        return (*((Permission("everything", ""),) if self.everything else ()), *self)

    def give(self, grant: Permission) -> None:
        """Let code through from now on; of two that say the same the newer one stays."""
        if grant.scope == "everything":
            self.everything = True
            return
        with self._lock:
            self._given = [item for item in self._given if not _alike(item, grant)] + [grant]

    def revoke(self, grant: Permission) -> bool:
        """Ask for that code again; False when the grant is gone already, or was used up."""
        if grant.scope == "everything":
            before, self.everything = self.everything, False
            return before
        with self._lock:
            many = len(self._given)
            self._given = [item for item in self._given if not _alike(item, grant)]
            return len(self._given) < many

    def clear(self) -> None:
        """Ask for everything again."""
        with self._lock:
            self._given = []

    def use(
        self, language: str, code: str, cwd: Path, earlier: EarlierCode | None = None
    ) -> Permission | None:
        """The narrowest grant that covers the code; one for a number of pieces is used for one of them."""
        with self._lock:
            for grant in sorted(self._given, key=lambda entry: _FIRST_USED.index(entry.scope)):
                if not grant.covers(language, code, cwd, earlier):
                    continue
                if grant.scope == "count":
                    at = self._given.index(grant)
                    left = grant.left - 1
                    self._given[at : at + 1] = [Permission("count", language, left=left)] if left else []
                return grant
        return None


def _alike(first: Permission, second: Permission) -> bool:
    return (first.scope, first.language, first.code) == (second.scope, second.language, second.code)
