"""Tracks what the names in Python code refer to, as far as that is known."""

import ast
import builtins
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping

from oi_tui.engine.review.findings import Finding, shorten_part
from oi_tui.engine.review.folder import Folder
from oi_tui.engine.review.python import allowlist as known
from oi_tui.engine.review.python.library_settings import PANDAS_DISPLAY

#: The name of the computer object, which is there without an import.
COMPUTER = "computer"
#: All names that the driver adds to those of Python: with `get_ipython` code gets at everything.
_ADDED_NAMES = frozenset(("get_ipython", "llm", "llm_map", "tools", COMPUTER))
_DRIVER_NAMES = _ADDED_NAMES | {"exit", "input", "quit"}
PLAIN, LOOSE, UNKNOWN, FUNCTION = "plain", "loose", "unknown", "function"
#: A path of `pathlib` within the working directory, or several of them.
PATHS = "paths"
#: How the name of a module or of a member of one begins: of a known module, and of any other.
MODULE, MEMBER, OTHER = "module ", "member ", "other "
#: How a class of the code itself and an object of one begin; the names of members follow (see `classes`).
CLASS, INSTANCE = "class ", "instance "
#: Stands among the names where classes of the code define operators; it is no name that code could have.
OPERATORS = "operators of classes"
#: The same for those operators that do more with the other value than to compute.
FREE_OPERATORS = "operators of classes that do more than to compute"
#: Where Python keeps the values that cells showed, whatever these are, and the folders it was in.
_SHOWN_VALUES = re.compile(r"_{1,3}|_\d+|Out|_oh|_dh")


def merge_values(first: str | None, second: str) -> str:
    """Merge two possible values of a name."""
    if first is None or first == second:
        return second
    kinds = {PLAIN if is_harmless(kind) else kind for kind in (first, second)}
    if kinds == {PLAIN}:
        return PLAIN
    return LOOSE if kinds <= {PLAIN, LOOSE} else UNKNOWN


def is_own(kind: str) -> bool:
    """Return whether a name stands for a class of the code itself, or an object of one."""
    return kind.startswith((CLASS, INSTANCE))


def is_harmless(kind: str) -> bool:
    """Return whether a name stands for a value that is made of known parts."""
    return kind in (PLAIN, FUNCTION) or is_own(kind)


def is_another(relied_on: str, now: str) -> bool:
    """Return whether a name stands for something else than a function took it for, and not
    for a harmless value.

    Where it took it for an object of a certain class, any other value may have other methods.
    """
    return now != relied_on and (is_own(relied_on) or not is_harmless(now))


def find_least_known(kinds: Iterable[str]) -> str:
    """Return the kind that is least known."""
    kinds_found = set(kinds)
    if kinds_found == {PATHS}:
        return PATHS
    return UNKNOWN if kinds_found & {UNKNOWN, PATHS} else LOOSE if LOOSE in kinds_found else PLAIN


def is_special(name: str) -> bool:
    """Return whether Python or its driver may give the name a meaning that is not known to be harmless."""
    if name in known.BUILTINS or _SHOWN_VALUES.fullmatch(name):
        return False
    return name in _DRIVER_NAMES or hasattr(builtins, name) or (name.startswith("__") and name.endswith("__"))


def is_steady(full: str) -> bool:
    """Return whether a member of a module that is not known in full cannot change what names mean."""
    parts = full.split(".")
    return parts[0] in known.STEADY and len(parts) <= 4 and not any(map(is_odd, parts))


def is_odd(name: str) -> bool:
    """Return whether a member of this name may change what other names mean."""
    return name in known.UNSTEADY or name.startswith(known.UNSTEADY_BEGINNINGS) or "pickle" in name


class NameChecker(ABC):
    """Binds names and evaluates them; the base of what reads calls, expressions and statements.

    `before` has the values of names after earlier code, `last` those of the last reading of this code.
    """

    def __init__(self, folder: Folder, before: Mapping[str, str], last: Mapping[str, str]) -> None:
        self._folder = folder
        self._before = before
        self._last = last
        self.bound: dict[str, str] = {}
        self.findings: list[Finding] = []
        self.keeps_meanings = True
        self.relied_on: dict[str, str] = {}
        self._in_function = False
        #: In a method: the name that stands for its object or class, and the possible value of that.
        self._receiver = ("", "")
        self._in_annotation = False
        self._line = 1
        #: How many things were noted that are not understood; a function is judged by those within it.
        self._notes = 0

    def _note(self, what: str, why: str = "", *, steady: bool = False) -> str:
        """Note what is not understood; `steady` where it cannot change what other names mean.

        `why` are our own words about that part, which are never cut.
        """
        self.findings.append(Finding("not understood", shorten_part(what) + why, self._line))
        self.keeps_meanings = self.keeps_meanings and steady
        self._notes += 1
        return UNKNOWN

    def _check_operands(self, kinds: Iterable[str]) -> None:
        """Note an operator on what is not made of known parts, where classes of the code define operators.

        Their methods would get it, and take it for something known. What is loose is good for computing.
        """
        others = set(kinds) - {PLAIN}
        if not others:
            return
        name = FREE_OPERATORS if others == {LOOSE} else OPERATORS
        defined = self._find_meaning(name)
        if self._in_function:
            self.relied_on[name] = defined or ""
        if defined is not None:
            self._note("an operator", " on a value that is not checked")

    @abstractmethod
    def _evaluate(self, node: ast.expr) -> str:
        """Evaluate an expression."""

    @abstractmethod
    def _require_plain(self, node: ast.expr) -> None:
        """Read an expression that must be made of known parts, because it is handed on."""

    @abstractmethod
    def _evaluate_attribute(self, node: ast.Attribute) -> str:
        """Evaluate `value.name`, which may be a module or a member of one."""

    def _bind(self, name: str, kind: str) -> None:
        if name in _ADDED_NAMES:
            # The name of the driver may come back: the variable may be deleted, or bound in one branch only.
            kind = UNKNOWN
        elif is_special(name) or name == "isinstance":
            # It may be bound in an inner scope only, and still be Python's own elsewhere. Operators of
            # classes may give what they get to `isinstance`.
            kind = self._note(f"{name} as a name")
        self.bound[name] = merge_values(self.bound.get(name), kind)

    def _find_meaning(self, name: str) -> str | None:
        """Return the value of a name; None where only Python itself defines it."""
        now, before = self._last.get(name), self._before.get(name)
        if now is None and name not in self.bound:
            return before
        kind = merge_values(self.bound.get(name), now) if now is not None else self.bound[name]
        return merge_values(before, kind)

    def _evaluate_name(self, name: str) -> str:
        """Evaluate a name."""
        kind = self._find_meaning(name)
        if _SHOWN_VALUES.fullmatch(name):
            return UNKNOWN
        if not self._in_annotation and self._is_class(name):
            # Its methods could be called with anything in place of their object.
            return self._note(f"{name} as a value")
        if kind is not None:
            return PLAIN if is_harmless(kind) else self._evaluate_value(kind, name)
        if name in known.CONSTANTS:
            return PLAIN
        if name in (COMPUTER, "tools"):
            # What is done with it is noted; a function that does so is not harmless later either.
            self._notes += 1
            return UNKNOWN
        if is_special(name):
            return self._note(name)
        # Nothing that ran here gave it a meaning: it is not there.
        return PLAIN

    def _find_own_name(self, name: str) -> str:
        """Return the possible value of the name of a class of the code itself, or of an object
        of one; else "".
        """
        kind = self._receiver[1] if name == self._receiver[0] else self._find_meaning(name) or ""
        return kind if is_own(kind) else ""

    def _is_class(self, name: str) -> bool:
        return self._find_own_name(name).startswith(CLASS)

    def _evaluate_value(self, kind: str, shown: str) -> str:
        """Evaluate a module or a member as a value: members that are harmless in any use."""
        if kind.startswith(MEMBER):
            full = kind.removeprefix(MEMBER)
            if full in known.MEMBERS or full.startswith(f"{PANDAS_DISPLAY}."):
                # Whoever gets such a function may call it with anything at any place.
                by_place = full.startswith("seaborn.") or full.rpartition(".")[2] in known.FEW_POSITIONS
                return LOOSE if by_place or full in known.FEW_POSITIONS else PLAIN
            return self._note(shown, steady=is_steady(full))
        if kind.startswith(OTHER):
            return self._note(shown, steady=is_steady(kind.removeprefix(OTHER)))
        return self._note(shown, steady=True) if kind.startswith(MODULE) else kind
