"""Tracks what earlier code changed, as far as it matters for understanding later code."""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from oi_tui.engine.review import sql_rules
from oi_tui.engine.review.folder import Folder, ListedFolder, find_moved, make_unknown
from oi_tui.engine.review.python import checker as python_checker
from oi_tui.engine.review.python import names as python_names
from oi_tui.engine.review.shell import checker as shell_checker

#: Stands for the working directory at a place that does not name it: a folder that is not on this machine.
_NOT_HERE = Path("/folder of another machine")
_SHELLS = ("shell", "bash", "zsh", "sh")


@dataclass
class _Remembered:
    """What the languages of one place remember."""

    names: dict[str, str] = field(default_factory=dict)
    relied_on: dict[str, str] = field(default_factory=dict)
    unclear: set[str] = field(default_factory=set)
    #: The languages in which other code ran there that was not seen, so that any name may have any meaning.
    past: frozenset[str] = frozenset()

    def is_unclear(self, language: str) -> bool:
        """Return whether ordinary names may mean something else by now."""
        return _find_group(language) in self.past | self.unclear

    def forget(self) -> None:
        self.names.clear()
        self.relied_on.clear()
        self.unclear.clear()


def _find_group(language: str) -> str:
    """Return the language by which it is remembered: what is left of one shell counts for all."""
    return "shell" if language in _SHELLS else language


class EarlierCode:
    """Remembers, for as long as the languages do, which names earlier code gave a meaning. From any thread.

    It errs on one side: what may have been changed counts as changed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: What the languages remember in each place; each has languages of its own.
        self._places: dict[str, _Remembered] = {}
        self._here = self._places.setdefault("", _Remembered())
        #: What runs first in the languages of each place, and the folder in which they start here.
        self._startup: Sequence[tuple[str, str]] = ()
        self._startup_folder = _NOT_HERE
        #: Languages that are not what their name says, so that nothing is known of their code.
        self.replaced: Collection[str] = ()
        #: The MCP servers whose tools Python code can call, as it names them.
        self.servers: Collection[str] = ()
        #: Finds the folder in which a language of this machine is now; None where that is not known.
        self.find_current: Callable[[str], Path | None] | None = None
        #: Where code runs, if not here, and what that place says of its folder; None where it says nothing.
        self.elsewhere = ""
        self.listing: ListedFolder | None = None
        #: The folder in which it runs there; "" where that is not known.
        self.folder = ""

    def enter(
        self, place: str, folder: str = "", listing: ListedFolder | None = None, *, past: Iterable[str] = ()
    ) -> None:
        """Note that code runs at that place from now on, in that folder of it,
        where names have their own meanings.

        "" is the place here. `listing` is what the place says of the folder. The languages of `past` have
        variables of code that was not added here.
        """
        with self._lock:
            is_new = place not in self._places
            self._here = self._places.setdefault(place, _Remembered())
            self._here.past = frozenset(map(_find_group, past))
            self.elsewhere = place
            self.folder = folder if place else ""
            self.listing = listing if place else None
        if is_new:
            for language, code in self._startup:
                self.add(language, code, self._startup_folder)

    def use_startup(self, codes: Sequence[tuple[str, str]], cwd: Path) -> None:
        """Remember code, with its language, that runs first in the languages of each place."""
        self._startup, self._startup_folder = tuple(codes), cwd
        with self._lock:
            places = tuple(self._places.values())
        for place in places:
            for language, code in codes:
                self._add(place, language, code, cwd)

    def find_folder(self, language: str, cwd: Path) -> Folder | None:
        """Return the folder by which code of the language is judged; None where that is not known.

        `cwd` is the one in which languages of this machine start.
        """
        if not self.elsewhere:
            current = self.find_current(language) if self.find_current else cwd
            return find_moved(cwd, current) if current else None
        # Files of this machine say nothing about those of another one, also where they have the same names.
        return self.listing or make_unknown(Path(self.folder) if self.folder else _NOT_HERE)

    @property
    def names(self) -> Mapping[str, str]:
        """The values that each name of Python code may have now."""
        with self._lock:
            return dict(self._here.names)

    def is_unclear(self, language: str) -> bool:
        """Return whether earlier code may have changed what ordinary names mean in this language."""
        with self._lock:
            return self._here.is_unclear(language)

    def add(self, language: str, code: str, cwd: Path) -> None:
        """Remember code that is about to run."""
        self._add(self._here, language, code, cwd)

    def _add(self, place: _Remembered, language: str, code: str, cwd: Path) -> None:
        if language in _SHELLS:
            if not shell_checker.keeps_meanings(code):
                with self._lock:
                    place.unclear.add("shell")
        elif language == "sql":
            if sql_rules.changes_meanings(code):
                with self._lock:
                    place.unclear.add("sql")
        elif language == "python":
            folder = self.find_folder(language, cwd) or make_unknown(cwd)
            self._note_names(place, python_checker.read(code, folder, place))

    def _note_names(self, place: _Remembered, seen: python_checker.PythonReview) -> None:
        with self._lock:
            for name, kind in seen.names.items():
                place.names[name] = python_names.merge_values(place.names.get(name), kind)
            changed = False
            for name, kind in seen.relied_on.items():
                earlier = place.relied_on.get(name, kind)
                # One of them takes it for an object of a class that may have other methods.
                changed = changed or (
                    earlier != kind and (python_names.is_own(earlier) or python_names.is_own(kind))
                )
                place.relied_on[name] = python_names.merge_values(earlier, kind)
            # A function that was harmless no longer is when what it goes by became something else.
            changed = changed or any(
                python_names.is_another(place.relied_on[name], place.names[name])
                for name in seen.names
                if name in place.relied_on
            )
            if changed or not seen.keeps_meanings:
                place.unclear.add("python")

    def forget(self) -> None:
        """Forget all code, because the languages forgot everything, too."""
        with self._lock:
            for remembered in self._places.values():
                remembered.forget()
