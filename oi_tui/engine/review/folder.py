"""The working directory by which code is judged: on this machine, or as a target has listed it."""

import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from oi_tui import paths

#: What a name stands for, links followed; "" for nothing.
Kind = Literal["file", "folder", "other", ""]


class Folder(Protocol):
    """The folder in which code runs. Names are paths without "..", relative to it or whole."""

    @property
    def path(self) -> Path:
        """Its whole path, as code sees it."""

    @property
    def real(self) -> Path:
        """Its whole path without links. Raises OSError or RuntimeError."""

    @property
    def root(self) -> Path:
        """The working directory, in which languages start; code may have gone to another folder since."""

    @property
    def real_root(self) -> Path:
        """The working directory without links. Raises OSError or RuntimeError."""

    @property
    def home(self) -> Path | None:
        """The home folder there; None where it is not known."""

    @property
    def search_path(self) -> Sequence[str]:
        """The folders in which programs are looked for."""

    def resolve(self, name: str) -> Path | None:
        """Return the path of a name without links; None where that is not known.

        Raises OSError, RuntimeError or ValueError.
        """

    def kind(self, name: str) -> Kind | None:
        """Return what a name stands for; None where that is not known."""

    def names(self, name: str = "") -> Iterator[tuple[str, Kind | None]] | None:
        """Return the names in a folder and their kinds; None where they are not known.

        The first step raises OSError.
        """

    def has_program(self, place: Path, name: str) -> bool:
        """Return whether there may be a program in a folder."""


class LocalFolder:
    """A folder of this machine, read on demand."""

    def __init__(self, path: Path, root: Path | None = None) -> None:
        self.path = path
        self.root = root or path
        self.home = paths.find_home()

    @property
    def real(self) -> Path:
        """The path without links. Raises OSError or RuntimeError."""
        return self.path.resolve()

    @property
    def real_root(self) -> Path:
        """The working directory without links. Raises OSError or RuntimeError."""
        return self.root.resolve()

    @property
    def search_path(self) -> Sequence[str]:
        """The folders of PATH."""
        return os.environ.get("PATH", "").split(os.pathsep)

    def resolve(self, name: str) -> Path | None:
        """Return the path of a name without links. Raises OSError, RuntimeError or ValueError."""
        return (self.path / name).resolve()

    def kind(self, name: str) -> Kind | None:
        """Return what a name stands for."""
        try:
            mode = (self.path / name).stat().st_mode
        except (OSError, ValueError):
            return ""
        return "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else "other"

    def names(self, name: str = "") -> Iterator[tuple[str, Kind | None]] | None:
        """Return the names in a folder and their kinds. The first step raises OSError."""
        return self._read_names(name)

    def _read_names(self, name: str) -> Iterator[tuple[str, Kind | None]]:
        with os.scandir(self.path / name) as entries:
            for entry in entries:
                yield entry.name, "folder" if paths.is_folder(entry) else "file"

    def has_program(self, place: Path, name: str) -> bool:
        """Return whether there is a file of that name."""
        return os.path.exists(place / name)  # noqa: PTH110 -- that of Path raises where it cannot look


@dataclass(frozen=True, slots=True)
class ListedFolder:
    """A folder of a target, as the target has listed it. What was not listed is not known."""

    path: Path
    real: Path
    home: Path | None
    search_path: Sequence[str]
    #: By the paths relative to it: the kinds, and for links where they lead.
    _kinds: Mapping[str, Kind]
    _links: Mapping[str, Path]
    #: The folders of which all names are here.
    _listed: frozenset[str]
    _names: Mapping[str, list[str]] = field(repr=False)
    root: Path
    real_root: Path

    def resolve(self, name: str) -> Path | None:
        """Return the path of a name without links; None where that is not known."""
        if name.startswith("/"):
            return None
        place = ""
        parts = Path(name).parts
        for number, part in enumerate(parts):
            child = f"{place}/{part}" if place else part
            if place not in self._listed and child not in self._kinds:
                return None
            if child not in self._kinds:
                return self.real.joinpath(place, *parts[number:])
            if (target := self._links.get(child)) is None:
                place = child
            elif target.is_relative_to(self.real):
                place = _join(target.relative_to(self.real))
            else:
                return target.joinpath(*parts[number + 1 :])
        return self.real / place

    def kind(self, name: str) -> Kind | None:
        """Return what a name stands for; None where that is not known."""
        real = self.resolve(name)
        if real is None:
            return None
        if not real.is_relative_to(self.real):
            return self._kinds.get(_join(Path(name)))
        place = _join(real.relative_to(self.real))
        if not place:
            return "folder"
        if place in self._kinds:
            return self._kinds[place]
        return "" if self._is_listed(place.rpartition("/")[0]) else None

    def names(self, name: str = "") -> Iterator[tuple[str, Kind | None]] | None:
        """Return the names in a folder and their kinds; None where they are not known."""
        real = self.resolve(name)
        if real is None or not real.is_relative_to(self.real):
            return None
        place = _join(real.relative_to(self.real))
        if not self._is_listed(place):
            return None
        children = self._names.get(place, [])
        return ((child, self._kinds.get(f"{place}/{child}" if place else child)) for child in children)

    def has_program(self, place: Path, name: str) -> bool:
        """Return whether there may be a file of that name."""
        if not place.is_relative_to(self.path):
            return True
        return self.kind(str(place.relative_to(self.path) / name)) != ""

    def _is_listed(self, place: str) -> bool:
        """Return whether all names of a folder are known; one that is not there has none."""
        if place in self._listed:
            return True
        parent, _, _ = place.rpartition("/")
        return bool(place) and place not in self._kinds and self._is_listed(parent)


def make_unknown(path: Path) -> ListedFolder:
    """Return a folder of which only the path is known."""
    return ListedFolder(path, path, None, (), {}, {}, frozenset(("",)), {}, path, path)


def find_moved(root: Path, current: Path) -> LocalFolder:
    """Return the folder of this machine in which a language is now that started in `root`."""
    try:
        real = root.resolve()
        if current != real and current.is_relative_to(real):
            return LocalFolder(root / current.relative_to(real), root)
        return LocalFolder(root if current == real else current, root)
    except (OSError, RuntimeError):
        return LocalFolder(current, root)


def read_listing(text: str, path: str) -> ListedFolder | None:
    """Read what a target says of the folder in which a language is; None where that is not understood.

    `path` is the folder in which languages start there.
    """
    try:
        record: dict[str, Any] = json.loads(text)
        real, home = Path(record["real"]), record["home"]
        root, real_root = Path(path), Path(record["real_root"])
        entries: dict[str, list[Any]] = record["entries"]
        kinds: dict[str, Kind] = {}
        links: dict[str, Path] = {}
        names: dict[str, list[str]] = {}
        for name, (kind, target) in entries.items():
            if kind not in ("file", "folder", "other", ""):
                return None
            kinds[name] = kind
            if target is not None:
                links[name] = Path(target)
            folder, _, last = name.rpartition("/")
            names.setdefault(folder, []).append(last)
        if any(_leads_on(name, target, real, links) for name, target in links.items()):
            return None
        listed_folders = frozenset(map(str, record["listed"]))
        places = [str(place) for place in record["search_path"]]
        if real == real_root:
            at = root
        else:
            at = root / real.relative_to(real_root) if real.is_relative_to(real_root) else real
        return ListedFolder(
            at,
            real,
            Path(home) if home else None,
            places,
            kinds,
            links,
            listed_folders,
            names,
            root,
            real_root,
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _leads_on(name: str, target: Path, real: Path, links: Mapping[str, Path]) -> bool:
    """Return whether a link leads to another one, which no path without links does."""
    if not target.is_relative_to(real):
        return False
    place = target.relative_to(real)
    return any(_join(part) in links and _join(part) != name for part in (place, *place.parents))


def _join(path: Path) -> str:
    """Spell a relative path as the listing does: "" for the folder itself."""
    return "/".join(path.parts)
