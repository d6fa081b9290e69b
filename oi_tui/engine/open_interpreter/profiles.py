"""Imports the profiles of Open Interpreter (0.1 to 0.4.3) from this machine."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from oi_tui import paths
from oi_tui.engine.settings import migration, yaml_file
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.settings.setting import ProfileError
from oi_tui.text import clean_line

_YAML = (".yaml", ".yml", ".json")
#: The key of the folder for conversations.
_CONVERSATIONS = "conversation_history_path"
#: Where the settings of versions before 0.2.1 are, below the folder of the version.
_OLD_SETTINGS = "config.yaml"
#: The profiles that versions 0.2.1 to 0.2.3 copied to each person (01, fast, local, os and vision), by their
#: SHA-256, cut to 32 digits.
_COPIES = frozenset(
    {
        "04744bc20a3404486049df5e73b6d3f8",
        "087eaf8d71fac07ec21d1becb0385c2b",
        "117495b4ee49f92e604abd1dacde8f24",
        "77e4d571450179acd567465adf1a059e",
        "94327b95e228ef659129b841a0a29f9b",
        "a7dbed3c55fd36c47b7d3f7f55c63fef",
        "a897a77a50cf9c6d4d2e6e6af3e8e4db",
        "cc44be4502e2afbc52cc94d2f682173b",
        "ce02215fce3f5cd9581731df85c02d28",
    }
)
_LARGEST_COPY = 20_000
#: What those versions wrote below the text.
_VERSION = re.compile(r"\nversion: \S+ *# Profile version \(do not modify\)\s*$")


@dataclass(frozen=True, slots=True)
class ImportedProfiles:
    """The result of importing one profile: its new name, or why it was not imported."""

    source: Path
    name: str | None
    problem: str | None = None
    #: Keys that have no effect here, in words; they stay in the file.
    unknown: tuple[str, ...] = ()
    #: Whether it runs code without asking.
    auto_run: bool = False

    def __str__(self) -> str:
        source = clean_line(self.source.name, 80)
        if self.name is None:
            problem = (self.problem or "").removeprefix(f"{self.source.name}, ")
            return f"{source}: not imported: {problem}"
        lines = [f"{source}: imported; use it with --profile {clean_line(self.name, 80)}"]
        if self.auto_run:
            lines.append("  It sets auto_run: code from the model runs without asking.")
        return "\n".join([*lines, *(f"  {clean_line(line, 200)}" for line in self.unknown)])


def list_configurations() -> list[Path]:
    """Return the folders of Open Interpreter's settings on this platform, those
    of the newest version first.
    """
    import platformdirs

    names = ("open-interpreter", "Open Interpreter Terminal", "Open Interpreter")
    return [Path(platformdirs.user_config_dir(name)) for name in names]


def find_folder() -> Path:
    """Return the folder where Open Interpreter keeps its profiles on this platform."""
    return list_configurations()[0] / "profiles"


def list_profiles() -> list[Path]:
    """Return the profiles that Open Interpreter left, the settings of old versions last.

    Copies of its own profiles that nobody changed are left out: those are here by name.
    """
    profiles = [path for path in _list_files(find_folder(), (*_YAML, ".py")) if not _is_unchanged_copy(path)]
    newest, *earlier = list_configurations()
    # In 0.1, `--config_file NAME` kept further settings beside these.
    settings_files = [
        path for place in earlier for path in _list_files(place, _YAML) if path.name != _OLD_SETTINGS
    ]
    # A later version began with a copy of the earlier one's.
    old = [path for place in (newest, *earlier) if (path := place / _OLD_SETTINGS).is_file()]
    return [*profiles, *settings_files, *old[:1]]


def list_conversation_folders() -> list[Path]:
    """List the folders for conversations that the original's profiles name."""
    return [folder for path in list_profiles() if (folder := _read_conversation_folder(path))]


def _read_conversation_folder(path: Path) -> Path | None:
    """Return the folder that a profile names for conversations; None for none."""
    try:
        text = yaml_file.read_text(path)
        if _CONVERSATIONS not in text:
            return None
        if path.suffix == ".py":
            name: object = _find_assigned_folder(text)
        else:
            entry = yaml_file.parse(text, path).get(_CONVERSATIONS)
            name = entry.value if entry else None
    except (ProfileError, OSError):
        return None
    return paths.expand_typed(name) if isinstance(name, str) and name else None


def _find_assigned_folder(code: str) -> str:
    """Return the folder that the text of a Python profile sets; "" where it shows none. It is not run."""
    from oi_tui.engine.review.python.references import References  # seldom wanted, and reads large tables

    try:
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    references = References()
    references.learn(nodes)
    folder = ""
    for node in nodes:
        match node:
            case ast.Assign([ast.Attribute(attr=name)], value) | ast.keyword(name, value):
                if name == _CONVERSATIONS:
                    folder = references.text(value)
    return folder


def _list_files(place: Path, suffixes: Sequence[str]) -> list[Path]:
    """Return what a folder holds with one of the suffixes; nothing where it cannot be read."""
    try:
        return [path for path in sorted(place.iterdir()) if path.suffix in suffixes]
    except OSError:
        return []


def _is_unchanged_copy(path: Path) -> bool:
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST_COPY:
            return False
        text = _VERSION.sub("", path.read_text(encoding="utf-8")).strip()
    except (OSError, UnicodeDecodeError):
        return False
    import hashlib  # loads a library for cryptography, which a start seldom needs

    return hashlib.sha256(text.encode()).hexdigest()[:32] in _COPIES


def find_profile(name: str) -> Path | None:
    """Return the profile that Open Interpreter has by that name, with or without its ending.

    None for none.
    """
    return next((path for path in list_profiles() if name in (path.name, path.stem)), None)


def import_profiles(sources: Sequence[Path], target: Path) -> Iterator[ImportedProfiles]:
    """Copy the original's profiles; one whose name is taken here is not overwritten.

    A profile keeps its name, but `default` becomes `oi-default`, and the settings of old versions
    `oi-config`. Nothing of ours is replaced, and Python profiles are not run. Raises OSError when our folder
    cannot be written to.
    """
    for path in sources:
        if path.suffix == ".py":
            yield _copy_program(path, target)
        else:
            yield _copy(path, target)


def choose_name(path: Path) -> str:
    """Return the name under which a profile is imported."""
    return f"oi-{path.stem}" if path.stem in ("default", "config") else path.stem


def _copy(path: Path, target: Path) -> ImportedProfiles:
    try:
        text, changes = migration.migrate(yaml_file.read_text(path), path.name)
        profile = Profile.from_entries(yaml_file.parse(text, path.name), path.name)
    except ProfileError as error:
        return ImportedProfiles(path, None, str(error))
    except OSError as error:
        return ImportedProfiles(path, None, error.strerror or str(error))
    name = choose_name(path)
    place = target / f"{name}.yaml"
    if place.exists():
        return ImportedProfiles(path, None, f"the profile {name} already exists")
    paths.make_private(target)
    paths.replace_file(place, text)
    return ImportedProfiles(path, name, None, (*changes, *profile.unknown), profile.auto_run)


def _copy_program(path: Path, target: Path) -> ImportedProfiles:
    try:
        text = yaml_file.read_text(path)
    except (ProfileError, OSError) as error:
        return ImportedProfiles(path, None, str(error))
    place = target / path.name
    if place.exists():
        return ImportedProfiles(path, None, f"the profile {path.name} already exists")
    paths.make_private(target)
    paths.replace_file(place, text)
    return ImportedProfiles(path, path.name, None, ("It is a program; you review it before its first use.",))
