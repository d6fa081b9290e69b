"""Loads the custom languages that a profile names: classes in files, run once they are trusted."""

import ast
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from oi_tui import paths
from oi_tui.engine.credentials.trust import ExternalContent, Trust
from oi_tui.engine.settings import yaml_file
from oi_tui.engine.settings.setting import ProfileError
from oi_tui.runtimes.language import DRIVERS, Choices, Language, Start
from oi_tui.runtimes.languages import python

_MUST = {"run", "stop", "terminate"}
#: Asks an interpreter where a module is; it is not run, only the packages that it is in.
_WHERE = "import importlib.util as u, sys; s = u.find_spec(sys.argv[1]); print(s and s.origin or '')"


class CustomLanguageError(Exception):
    """A language that a profile names is not available; the message says which one, and why."""


@dataclass(frozen=True, slots=True)
class _Declaration:
    """The facts about a class that can be read without running it."""

    label: str
    name: str
    aliases: tuple[str, ...]
    note: str


class CustomLanguages:
    """The languages in a profile's `computer.custom_languages`: `FILE.py`, `FILE.py:Class` or `module:Class`.

    A class is found by reading its file, and nothing of it runs before a person was shown the file and
    trusts it. `folder` is what relative paths begin at. `problems` says what is not available. Unless it
    `may_ask`, no interpreter is asked where a module is: it could be one that code in the sandbox changed.
    """

    def __init__(
        self,
        entries: Iterable[str],
        choices: Choices,
        folder: Path,
        trust: Trust | None = None,
        *,
        may_ask: bool = True,
    ) -> None:
        self._may_ask = may_ask
        self._choices = choices
        self._folder = folder
        self._trust = trust or Trust()
        self._files: dict[str, Path] = {}
        self.problems: list[str] = []
        languages = []
        for entry in entries:
            try:
                languages.append(self._load_language(entry))
            except (CustomLanguageError, OSError, ProfileError) as error:
                reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
                self.problems.append(f"{entry}: {reason}")
        self.languages: tuple[Language, ...] = tuple(languages)

    def show(self, name: str) -> ExternalContent | None:
        """Return the file of a language, to be looked at before it is trusted; None where there is none such.

        Raises OSError or ProfileError when it cannot be read.
        """
        path = self._files.get(name.lower())
        return _read(path) if path else None

    def trust(self, shown: ExternalContent) -> str:
        """Trust the text of a language that was shown. Returns the result. Raises OSError."""
        self._trust.accept(shown)
        return f"It is trusted until {paths.shorten(shown.place)} changes."

    def _load_language(self, entry: str) -> Language:
        source, _, label = entry.strip().partition(":")
        path = self._find_path(source)
        declared = _find_declaration(_read(path).text, label, path)
        name = "-".join(declared.name.lower().split())
        self._files[name] = path
        return Language(
            name=name,
            title=declared.name,
            aliases=declared.aliases,
            hint=f"{declared.name} is in {paths.shorten(path)}, which you do not trust yet. "
            f"Review and trust it with: %languages trust {name}",
            keeps="what it keeps",
            input="seen",
            find=lambda choices: python.find(choices) if self._is_trusted(path) else None,
            describe=lambda _: f"{declared.name}, by {declared.label} in {paths.shorten(path)}",
            start=partial(self._start, path, declared.label),
            active_line="events",
            note=declared.note,
            leave_request="leave",
        )

    def _find_path(self, source: str) -> Path:
        if source.endswith(".py"):
            path = self._folder / paths.expand_typed(source)
            if not path.is_file():
                raise CustomLanguageError(f"file not found: {paths.shorten(path)}")
            return path.resolve()
        beside = self._folder / Path(*source.split(".")).with_suffix(".py")
        if beside.is_file():
            return beside.resolve()
        if not all(part.isidentifier() for part in source.split(".")):
            raise CustomLanguageError("name a file (shout.py), or a module and a class in it (shout:Shout)")
        if not self._may_ask:
            raise CustomLanguageError(
                f"with the sandbox on, name the file: {paths.shorten(beside)} does not exist"
            )
        interpreter = python.find(self._choices)
        try:
            text = subprocess.run(
                [interpreter or "python3", "-c", _WHERE, source],
                capture_output=True,
                text=True,
                timeout=10,
                check=False,
                stdin=subprocess.DEVNULL,
            ).stdout.strip()
        except (OSError, subprocess.TimeoutExpired):
            text = ""
        if not text.endswith(".py"):
            raise CustomLanguageError(f"module {source} not found in {interpreter}")
        return Path(text).resolve()

    def _is_trusted(self, path: Path) -> bool:
        try:
            return self._trust.accepts(_read(path))
        except (OSError, ProfileError):
            return False

    def _start(self, path: Path, label: str, program: str, folder: Path) -> Start:
        """Start the trusted text: exactly the text in the trust record is loaded."""
        content = _read(path)
        if not self._trust.accepts(content):
            raise RuntimeError(f"{paths.shorten(path)} has changed; review it again with %languages trust")
        (folder / "language.py").write_text(content.text, encoding="utf-8")
        return Start((program, str(DRIVERS / "class_driver.py"), str(folder), str(path), label))


def _read(path: Path) -> ExternalContent:
    return ExternalContent("language", str(path), yaml_file.read_text(path))


def _find_declaration(text: str, label: str, path: Path) -> _Declaration:
    """Return the class in the text that is a language: the one with this label, or the only one that is."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise CustomLanguageError(f"{paths.shorten(path)} is not valid Python: {error}") from None
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    if label and label not in classes:
        raise CustomLanguageError(f"class {label} not found in {paths.shorten(path)}")
    candidates = [classes[label]] if label else [cls for cls in classes.values() if not _list_missing(cls)]
    if len(candidates) != 1:
        many = "several classes are" if candidates else "no class is"
        raise CustomLanguageError(f"{many} a language (name, run, stop, terminate) in {paths.shorten(path)}")
    if lacks := _list_missing(candidates[0]):
        raise CustomLanguageError(f"the class {candidates[0].name} lacks {' and '.join(lacks)}")
    values = _read_values(candidates[0])
    aliases, note = values.get("aliases"), values.get("system_message")
    alias_names = aliases if isinstance(aliases, (list, tuple, set)) else ()
    return _Declaration(
        candidates[0].name,
        str(values["name"]),
        tuple(item.lower() for item in alias_names if isinstance(item, str)),
        note if isinstance(note, str) else "",
    )


def _list_missing(found: ast.ClassDef) -> list[str]:
    methods = {item.name for item in found.body if isinstance(item, ast.FunctionDef)}
    lacks = sorted(_MUST - methods) if not found.bases else []
    name = _read_values(found).get("name")
    return lacks if isinstance(name, str) and name.strip() else ["name", *lacks]


def _read_values(found: ast.ClassDef) -> dict[str, object]:
    """Read the class attributes that are literals."""
    values = {}
    for item in found.body:
        targets = item.targets if isinstance(item, ast.Assign) else []
        if isinstance(item, ast.AnnAssign) and item.value is not None:
            targets = [item.target]
        for target in targets:
            try:
                if isinstance(target, ast.Name):
                    values[target.id] = ast.literal_eval(item.value)  # type: ignore[attr-defined]
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                continue
    return values
