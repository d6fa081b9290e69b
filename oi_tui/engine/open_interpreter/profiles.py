"""Profiles that Open Interpreter 0.4.3 left on this machine, copied into our folder of profiles."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from oi_tui import paths
from oi_tui.engine.settings import migration, yaml_file
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.settings.setting import ProfileError
from oi_tui.text import one_line


@dataclass(frozen=True, slots=True)
class ImportedProfiles:
    """The result of importing one profile: its new name, or why it was not imported."""

    source: Path
    name: str | None
    problem: str | None = None
    #: Keys that have no effect here, in words; they stay in the file.
    unknown: tuple[str, ...] = ()

    def __str__(self) -> str:
        source = one_line(self.source.name, 80)
        if self.name is None:
            return f"{source}: not imported: {self.problem}"
        lines = [f"{source}: imported; use it with --profile {one_line(self.name, 80)}"]
        return "\n".join([*lines, *(f"  {one_line(line, 200)}" for line in self.unknown)])


def folder() -> Path:
    """The folder where Open Interpreter keeps its profiles on this platform."""
    import platformdirs

    return Path(platformdirs.user_config_dir("open-interpreter")) / "profiles"


def bring_in(source: Path, target: Path) -> Iterator[ImportedProfiles]:
    """Copy the original's YAML profiles, each as `oi-NAME`; one that is here already is left as it is.

    Nothing of ours is replaced, nothing becomes the default, and Python profiles are not run. Raises
    OSError when our folder cannot be written to.
    """
    for path in sorted(source.glob("*")) if source.is_dir() else ():
        if path.suffix in (".yaml", ".yml", ".json"):
            yield _copied(path, target)
        elif path.suffix == ".py":
            yield ImportedProfiles(
                path, None, f"it is a program: use it with --profile {path}; you review it first"
            )


def _copied(path: Path, target: Path) -> ImportedProfiles:
    try:
        text, changes = migration.brought_up_to_date(yaml_file.read_text(path), path.name)
        found = Profile.from_entries(yaml_file.parse(text, path.name), path.name)
    except ProfileError as error:
        return ImportedProfiles(path, None, str(error))
    except OSError as error:
        return ImportedProfiles(path, None, error.strerror or str(error))
    name = f"oi-{path.stem}"
    place = target / f"{name}.yaml"
    if place.exists():
        return ImportedProfiles(path, None, f"the profile {name} already exists")
    paths.make_private(target)
    yaml_file.replace_file(place, text)
    return ImportedProfiles(path, name, None, (*changes, *found.unknown))
