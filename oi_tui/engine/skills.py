"""Skills: folders with a SKILL.md that tells a model how to do something.

A person's own skills lie in the configuration folder. A project may have some in `.agents/skills`; each is
used once a person was shown its text and trusts it. So are those of installed packages, which name their
folder with an entry point of the group `oi_tui.skills`; no code of a package is run to find them. The model
gets one line for each, and reads the rest with code, which is approved like all code.
"""

import ast
import configparser
import contextlib
import functools
import importlib.metadata
import importlib.util
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from oi_tui import paths
from oi_tui.engine import rerun
from oi_tui.engine.credentials.trust import ExternalContent, Trust
from oi_tui.engine.settings import yaml_file
from oi_tui.engine.settings.setting import ProfileError
from oi_tui.messages import Message
from oi_tui.text import clean_line

_FILE = "SKILL.md"
_PROJECT = Path(".agents") / "skills"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
#: The most skills of a folder that are used: the model gets the list of all.
_MOST = 100
_DESCRIPTION = 300
#: The group of entry points by which installed packages name their folders of skills.
_GROUP = "oi_tui.skills"
_CATALOGUE = (
    "There are skills: instructions for certain tasks. When a task fits one, read its file with code first, "
    "and follow it. Paths in it are relative to its folder."
)


class SkillError(ValueError):
    """A skill cannot be saved; the message says why."""


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill: what its file says of itself, and whether the model may know of it."""

    name: str
    description: str
    path: Path
    text: str
    trusted: bool
    #: The installed package that it comes from; "" for another.
    package: str = ""


class SkillLibrary:
    """The skills of a person, those of a project's folder, and those of installed packages."""

    def __init__(self, cwd: Path, trust: Trust | None = None) -> None:
        self._cwd = cwd
        self._trust = trust

    def list_all(self) -> list[Skill]:
        """Return every skill that can be read, a person's own first."""
        return self.read_all()[0]

    def read_all(self) -> tuple[list[Skill], list[str]]:
        """Read every skill. Returns the skills, and why others are left out, a sentence for each."""
        trust = self._trust or Trust()
        own = _list_files(find_folder())
        project = _list_files(self._cwd / _PROJECT)
        # A link could show the model what lies elsewhere.
        inside = [path for path in project if _is_inside(path, self._cwd)]
        problems = [_left_out(path, "it is a link") for path in project if path not in inside]
        packaged = [(path, name) for name, place in list_package_folders() for path in _list_files(place)]
        for files in (own, inside):
            problems += (_left_out(path, f"a folder has more than {_MOST} skills") for path in files[_MOST:])
        skills = []
        for path, package in [*((path, "") for path in (*own[:_MOST], *inside[:_MOST])), *packaged]:
            try:
                skills.append(_read(path, trust, trusted=path in own, package=package))
            except (OSError, ProfileError) as error:
                problems.append(_left_out(path, explain(error)))
        return skills, problems

    def find(self, name: str) -> Skill | None:
        """Return the skill of that name, or None; of several, the person's own."""
        return next((skill for skill in self.list_all() if skill.name == name), None)

    def find_untrusted(self, name: str) -> Skill | None:
        """Return the skill of that name that is not used yet, or None."""
        return next((item for item in self.list_all() if item.name == name and not item.trusted), None)

    def write_notes(self, *, sandboxed: bool = False) -> tuple[str, ...]:
        """Return what the model gets: a line for each skill that is trusted; nothing if there is none.

        Programs in the sandbox can read only those of the project.
        """
        usable = [item for item in self.list_all() if item.trusted]
        lines = [
            f"- {skill.name}: {skill.description} ({skill.path})"
            for skill in usable
            if not sandboxed or skill.path.is_relative_to(self._cwd)
        ]
        return ("\n".join([_CATALOGUE, *lines]),) if lines else ()

    def list_untrusted(self) -> list[str]:
        """Return the names of the project's skills that are not used yet."""
        return [skill.name for skill in self.list_all() if not skill.trusted and not skill.package]

    def trust(self, skill: Skill) -> None:
        """Use exactly this text from now on. Raises OSError."""
        (self._trust or Trust()).accept(_make_preview(skill.path, skill.text))


def find_folder() -> Path:
    """Return the folder of a person's own skills."""
    return paths.config() / "skills"


@functools.cache
def list_package_folders() -> tuple[tuple[str, Path], ...]:
    """Return the installed packages that bring skills, each with the folder of its skills."""
    folders: dict[str, list[tuple[str, Path]]] = {}
    for distribution in importlib.metadata.distributions():
        entries = _list_modules(distribution)
        # The first one of a name is the one that Python imports.
        if entries and distribution.name not in folders:
            name = clean_line(distribution.name, 64)
            places = (_find_package_folder(entry, distribution) for entry in entries)
            folders[distribution.name] = [(name, place) for place in places if place]
    return tuple(sorted(item for items in folders.values() for item in items))


def _list_modules(distribution: importlib.metadata.Distribution) -> list[str]:
    """Return the modules that a package declares for its skills.

    The file is read here: once `importlib_metadata` is imported, a single entry that is not well formed, of
    any package, makes the library's own `entry_points` raise.
    """
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    try:
        parser.read_string(distribution.read_text("entry_points.txt") or "")
        return list(dict(parser.items(_GROUP)).values()) if parser.has_section(_GROUP) else []
    except (OSError, ValueError, configparser.Error):
        return []


def _find_package_folder(module: str, distribution: importlib.metadata.Distribution | None) -> Path | None:
    """Return the folder of a package without importing it; None where it has none."""
    parts = module.split(".")
    if not all(part.isidentifier() for part in parts):
        return None
    places = [Path(str(distribution.locate_file(parts[0])))] if distribution else []
    # One that is installed to be edited lies elsewhere. Looking for a top-level package runs nothing of it.
    with contextlib.suppress(ImportError, ValueError, AttributeError):
        spec = importlib.util.find_spec(parts[0])
        places += map(Path, (spec and spec.submodule_search_locations) or ())
    folders = (place.joinpath(*parts[1:]) for place in places)
    return next((folder for folder in folders if folder.is_dir()), None)


def save(name: str, text: str) -> Path:
    """Save a skill of the person's own. Returns its file. Raises SkillError or OSError."""
    place = choose_path(name)
    paths.make_private(place.parent)
    paths.replace_file(place, text)
    return place


def choose_path(name: str) -> Path:
    """Return the file of a new skill. Raises SkillError where the name cannot be one, or is taken."""
    if not _NAME.fullmatch(name):
        raise SkillError("A skill's name has letters, digits, - and _ only, such as: clean-csv")
    place = find_folder() / name / _FILE
    if place.exists():
        raise SkillError(f"There is a skill {name} already ({paths.shorten(place)}).")
    return place


def write_draft(name: str, messages: Sequence[Message]) -> str:
    """Write a skill from the code that ran to its end. Raises SkillError where none did."""
    codes = rerun.list_completed(messages)
    if not codes:
        raise SkillError("No code has finished in this conversation.")
    requests = [
        message.content for message in messages if message.role == "user" and message.type == "message"
    ]
    purpose = clean_line(requests[0], _DESCRIPTION) if requests else name
    lines = [f"# {name}", "", "Asked for:", "", *(f"- {clean_line(words, 1000)}" for words in requests), ""]
    lines += ["These steps worked. Adapt names and paths to the task.", ""]
    for code in codes:
        fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", code.content)), default=0))
        lines += [f"{fence}{code.format or ''}", code.content.rstrip("\n"), fence, ""]
    return _add_head(name, purpose, "\n".join(lines))


def import_skill(source: Path) -> Path | None:
    """Make a skill of a file with Python functions, as Open Interpreter kept them.

    Returns its file; None where there is one of that name. Raises OSError or ProfileError.
    """
    name = make_name(source)
    code = yaml_file.read_text(source)
    try:
        place = choose_path(name)
    except SkillError:
        return None
    functions = _find_functions(code)
    about = (f"{function} ({words})" if words else function for function, (_, words) in functions.items())
    purpose = f"Python functions: {'; '.join(about) or source.stem}"
    body = f"# {name}\n\nRun the code of `{name}.py` in this folder in Python, then call:\n\n"
    body += "".join(f"- `{call}` {words}".rstrip() + "\n" for call, words in functions.values())
    paths.make_private(place.parent)
    paths.replace_file(place.parent / f"{name}.py", code)
    return save(name, _add_head(name, clean_line(purpose, _DESCRIPTION), body))


def make_name(source: Path) -> str:
    """Return the name of the skill that a file with functions becomes."""
    plain = unicodedata.normalize("NFKD", source.stem).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9_-]", "-", plain).strip("-_")[:64] or "skill"


def _find_functions(code: str) -> dict[str, tuple[str, str]]:
    """Return the functions in Python code: each name, with its call and what is said about it in one line."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    return {
        node.name: (f"{node.name}({ast.unparse(node.args)})", clean_line(ast.get_docstring(node) or "", 200))
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }


def _list_files(place: Path) -> list[Path]:
    try:
        return sorted(path for path in place.glob(f"*/{_FILE}") if path.is_file())
    except OSError:
        return []


def _is_inside(path: Path, folder: Path) -> bool:
    try:
        return path.resolve() == folder.resolve() / path.relative_to(folder)
    except OSError:
        return False


def explain(error: OSError | ProfileError) -> str:
    """Say why a skill could not be read."""
    return error.strerror or str(error) if isinstance(error, OSError) else error.problem


def _left_out(path: Path, why: str) -> str:
    return f"{clean_line(paths.shorten(path), 200)} is left out: {why}"


def _read(path: Path, trust: Trust, *, trusted: bool, package: str) -> Skill:
    """Read a skill. Raises OSError or ProfileError."""
    text = yaml_file.read_text(path)
    head, body = _split_header(text)
    first = next((line.strip("# ") for line in body.splitlines() if line.strip("# ")), "")
    name = clean_line(head.get("name") or path.parent.name, 64)
    description = clean_line(head.get("description") or first, _DESCRIPTION)
    is_trusted = trusted or trust.accepts(_make_preview(path, text))
    return Skill(name, description, path, text, is_trusted, package)


def _make_preview(path: Path, text: str) -> ExternalContent:
    return ExternalContent("skill", str(path.resolve()), text)


def _split_header(text: str) -> tuple[dict[str, str], str]:
    """Return the fields of the head (between two lines of dashes) and the rest."""
    text = text.removeprefix("\ufeff")
    lines = text.splitlines()
    if not lines or lines[0].strip() != "---" or "---" not in [line.strip() for line in lines[1:]]:
        return {}, text
    end = [line.strip() for line in lines].index("---", 1)
    return _parse_head(lines[1:end]), "\n".join(lines[end + 1 :])


def _parse_head(lines: Sequence[str]) -> dict[str, str]:
    """Parse the fields of a head in YAML; if it is not valid YAML, each line separately."""
    try:
        entries = yaml_file.parse("\n".join(lines))
    except ProfileError:
        entries = {}
    texts = {key: entry.value for key, entry in entries.items() if isinstance(entry.value, str | int)}
    parts = (line.partition(":") for line in lines if line[:1].strip())
    by_line = {key.strip(): value.strip().strip("\"'") for key, _, value in parts}
    # A text of several lines takes one line of the catalogue.
    return by_line | {key: " ".join(str(value).split()) for key, value in texts.items()}


def _add_head(name: str, description: str, body: str) -> str:
    return f"---\nname: {name}\ndescription: {yaml_file.write_scalar(description)}\n---\n\n{body.rstrip()}\n"
