"""Auto-approvals: which code may run without asking."""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.findings import Findings
from oi_tui.engine.review.scanner import scan_code
from oi_tui.engine.review.window_actions import (
    WORDS,
    ActedWindow,
    ActionKind,
    GrantedWindow,
    list_kinds,
)
from oi_tui.engine.tools import is_tool
from oi_tui.text import clean_line, list_hidden_characters

#: From narrow to wide: the same code again; actions in one window; a number of further pieces; code with no
#: findings; all of a language; everything, which is auto-run.
Scope = Literal["code", "window", "count", "unremarkable", "language", "everything"]
#: Which grant is used of several that cover the code: one that is used up comes last.
_FIRST_USED: tuple[Scope, ...] = ("code", "window", "unremarkable", "language", "count")
#: How many pieces the grant of a number covers.
SO_MANY = 5


@dataclass(frozen=True, slots=True)
class Permission:
    """Code of one language that needs no question; it is kept nowhere, and ends with the session."""

    scope: Scope
    language: str
    code: str = ""
    left: int = 0
    #: Where the code runs, in words, if that was said by the cell itself.
    where: str = ""
    #: For the scope `window`: which one, and what code may do there.
    window: ActedWindow | None = None
    kinds: frozenset[ActionKind] = frozenset()

    @property
    def words(self) -> str:
        """The code that it covers, in words."""
        return f"{self._code_in_words} {self.where}" if self.where else self._code_in_words

    @property
    def _code_in_words(self) -> str:
        match self.scope:
            case "code":
                lines = self.code.count("\n") + (not self.code.endswith("\n"))
                first = self.code.strip().split("\n")[0].strip()
                excerpt = first if len(first) <= 40 else first[:39] + "…"
                return f"this {self.language} code again ({lines} line{'s' * (lines != 1)}: {excerpt})"
            case "window":
                kinds = " and ".join(word for kind, word in WORDS.items() if kind in self.kinds)
                return f"{kinds} in the window “{clean_line(self.window.title if self.window else '', 60)}”"
            case "count":
                if self.left == 1:
                    return f"the next {self.language} cell"
                return f"the next {self.left} {self.language} cells"
            case "unremarkable":
                return f"{self.language} code with no risks found"
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
            case "window":
                return f"{self.words}, as long as it has this title, and nowhere else"
            case "count":
                return f"{self.words}, whatever they do"
            case "unremarkable":
                return f"{self.language} code with no risks found: every part is known to be harmless"
            case "language":
                if is_tool(self.language):
                    return f"{self.words}, whatever its arguments"
                return f"all {self.language}, whatever it does: delete, send, install"
            case "everything":
                return "everything, in every language: auto-run (asks for a word)"

    def covers(self, language: str, code: str, cwd: Path, earlier: EarlierCode | None = None) -> bool:
        """Return whether the code may run without a question, after what ran `earlier`."""
        if language != self.language:
            return False
        match self.scope:
            case "code":
                return code == self.code
            case "window":
                kinds = list_kinds(language, code, cwd, earlier)
                return bool(kinds) and kinds <= self.kinds
            case "count":
                return self.left > 0
            case "unremarkable":
                return _is_unremarkable(code, scan_code(language, code, cwd, earlier))
            case "language":
                return True
            case "everything":
                return False


def _is_unremarkable(code: str, findings: Findings) -> bool:
    return findings.nothing_listed and not list_hidden_characters(code)


def list_offers(
    language: str,
    code: str,
    cwd: Path,
    earlier: EarlierCode | None = None,
    window: ActedWindow | None = None,
    findings: Findings | None = None,
) -> tuple[Permission, ...]:
    """Return the auto-approvals to offer for this code, from narrow to wide; auto-run comes last.

    `window` is the one in which code acted last, `findings` what a scan of the code found, where it was
    scanned: long code takes a while.
    """
    if findings is None:
        findings = scan_code(language, code, cwd, earlier)
    kinds = list_kinds(language, code, cwd, earlier) if window else frozenset()
    return (
        Permission("code", language, code),
        *([Permission("window", language, window=window, kinds=kinds)] if kinds else []),
        Permission("count", language, left=SO_MANY),
        *([Permission("unremarkable", language)] if _is_unremarkable(code, findings) else []),
        Permission("language", language),
        Permission("everything", language),
    )


class Permissions:
    """The permissions of a session, from any thread; `everything` is auto-run.

    A cell may run in another place than the session. What is granted there counts there only (`at`).
    """

    def __init__(self, *, everything: bool = False) -> None:
        self._lock = threading.Lock()
        #: Each grant with the place for which it was given; None is that of the session.
        self._given: list[tuple[str | None, Permission]] = []
        self._place: str | None = None
        #: The place that the cell names which is asked for or runs.
        self._visited: str | None = None
        self._everything = everything

    @property
    def everything(self) -> bool:
        """Whether all code of the session's own place runs without a question."""
        return self._everything

    @everything.setter
    def everything(self, on: bool) -> None:
        self._everything = on
        if not on:
            with self._lock:
                self._given = [item for item in self._given if item[1].scope != "everything"]

    @property
    def visiting(self) -> bool:
        """Whether a cell runs in another place than the session."""
        return self._visited is not None

    @property
    def all_granted(self) -> bool:
        """Whether all code runs without a question where the cell runs."""
        if self._visited is None:
            return self._everything
        return any(grant.scope == "everything" for grant in self._here())

    def _here(self) -> list[Permission]:
        with self._lock:
            return [grant for place, grant in self._given if place == self._visited]

    @contextlib.contextmanager
    def at(self, place: str) -> Iterator[None]:
        """Use only the permissions of that target within the block."""
        before, self._visited = self._visited, None if place == self._place else place
        try:
            yield
        finally:
            self._visited = before

    def enter(self, place: str) -> None:
        """Note that code runs at that place from now on.

        What was granted for another is not granted there.
        """
        if self._visited is not None:
            return
        before, self._place = self._place, place
        if before not in (None, place):
            self.everything = False
            self.clear()

    def __iter__(self) -> Iterator[Permission]:
        return iter(tuple(self._here()))

    def __bool__(self) -> bool:
        return bool(self._given)

    @property
    def in_force(self) -> tuple[Permission, ...]:
        """The auto-approvals in force, auto-run first."""
        with self._lock:
            grants = tuple(grant for _, grant in self._given)
        return (*((Permission("everything", ""),) if self.everything else ()), *grants)

    def add(self, grant: Permission) -> None:
        """Add a permission; of two that say the same the newer one stays."""
        if grant.scope == "everything" and self._visited is None:
            self._everything = True
            return
        with self._lock:
            remaining = [
                item for item in self._given if item[0] != self._visited or not _are_alike(item[1], grant)
            ]
            self._given = [*remaining, (self._visited, grant)]

    def revoke(self, grant: Permission) -> bool:
        """Ask for that code again; False when the grant was revoked or used up before."""
        # A grant for another place may have no words for it; then it is removed with that of the session.
        own = grant.scope == "everything" and not grant.where and self._everything
        if own:
            self._everything = False
        with self._lock:
            many = len(self._given)
            self._given = [item for item in self._given if not _are_alike(item[1], grant)]
            return own or len(self._given) < many

    @property
    def windows(self) -> tuple[GrantedWindow, ...]:
        """The windows in which code may act, and how, while it runs by a grant for a window."""
        granted = [(item.window, item.kinds) for item in self if item.scope == "window" and item.window]
        return tuple(GrantedWindow(window, kinds) for window, kinds in granted)

    def forget_language(self, language: str) -> None:
        """Ask for code of the language again."""
        with self._lock:
            self._given = [item for item in self._given if item[1].language != language]

    def clear(self) -> None:
        """Ask for everything again."""
        with self._lock:
            self._given = []

    def use(
        self, language: str, code: str, cwd: Path, earlier: EarlierCode | None = None
    ) -> Permission | None:
        """Return the narrowest grant that covers the code.

        One for a number of pieces is used for one of them.
        """
        place = self._visited
        # Not under the lock: a scan of long code takes a while, and the screen asks what is granted.
        for grant in sorted(self._here(), key=_rank):
            if grant.covers(language, code, cwd, earlier) and self._take(place, grant):
                return grant
        return None

    def _take(self, place: str | None, grant: Permission) -> bool:
        """Use a grant once. False when it was revoked or used up meanwhile."""
        with self._lock:
            if (place, grant) not in self._given:
                return False
            if grant.scope == "count":
                at = self._given.index((place, grant))
                rest = replace(grant, left=grant.left - 1)
                self._given[at : at + 1] = [(place, rest)] if rest.left else []
            return True


def _rank(grant: Permission) -> int:
    return _FIRST_USED.index(grant.scope) if grant.scope in _FIRST_USED else len(_FIRST_USED)


def _are_alike(first: Permission, second: Permission) -> bool:
    return replace(first, left=0) == replace(second, left=0)
