"""Finds everything of Open Interpreter on this machine, and imports it.

The old folders are only read.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from oi_tui import paths
from oi_tui.engine import skills
from oi_tui.engine.models import llamafile
from oi_tui.engine.open_interpreter import conversations, profiles
from oi_tui.engine.open_interpreter.profiles import ImportedProfiles
from oi_tui.engine.settings import migration, yaml_file
from oi_tui.engine.settings.profile import Profile, find_conversations_folder, list_settings
from oi_tui.engine.settings.setting import ProfileError
from oi_tui.engine.storage.store import Store
from oi_tui.text import clean_line

_MOST_NAMES = 8


@dataclass(frozen=True, slots=True)
class Setup:
    """The files of Open Interpreter that were not brought in yet."""

    profiles: tuple[Path, ...]
    conversations: int
    llamafiles: tuple[Path, ...]
    skills: tuple[Path, ...]

    def __bool__(self) -> bool:
        return bool(self.profiles or self.conversations or self.llamafiles or self.skills)

    def describe(self) -> list[str]:
        """Say what there is and what bringing it in changes, in lines."""
        return [*self._list(), "", *self._describe_changes(), "Nothing in the old folders is changed."]

    @property
    def default(self) -> Path | None:
        """The profile that becomes the default one."""
        paths_by_name = {profiles.choose_name(path): path for path in reversed(self.profiles)}
        return paths_by_name.get("oi-default") or paths_by_name.get("oi-config")

    def _list(self) -> Iterator[str]:
        if self.profiles:
            names = [clean_line(path.name, 40) for path in self.profiles[:_MOST_NAMES]]
            more = ", ..." if len(self.profiles) > _MOST_NAMES else ""
            yield f"{_count(len(self.profiles), 'profile')}: {', '.join(names)}{more}"
        if self.conversations:
            yield _count(self.conversations, "conversation")
        if self.skills:
            yield _count(len(self.skills), "skill")
        if self.llamafiles:
            yield f"{_count(len(self.llamafiles), 'llamafile')}, used where they are"

    def _describe_changes(self) -> Iterator[str]:
        """Describe the profile that becomes the default one."""
        if self.default is None:
            return
        try:
            profile = _read(self.default)
        except (ProfileError, OSError) as error:
            yield f"Its default profile cannot be used: {error}"
            return
        yield f"Its default profile becomes yours. The model is {clean_line(profile.model, 80)}."
        if profile.auto_run:
            # Before the list, which may not fit on the screen.
            yield (
                "It turns auto_run on: code from the model would run on this machine without asking. "
                "%auto_run off turns it off."
            )
        yield "It sets:"
        for setting in list_settings():
            if setting.name in profile.origins and setting.name != "model":
                value = setting.show(getattr(profile, setting.name))
                yield f"  {setting.key}: {clean_line(value, 80)}"


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of bringing everything in."""

    profiles: tuple[ImportedProfiles, ...]
    lines: tuple[str, ...]
    #: The profile that should be the default one now; None where none was imported.
    default: Path | None

    def __str__(self) -> str:
        return "\n".join([*map(str, self.profiles), *self.lines])


def detect(store: Store, folder: Path | None = None) -> Setup:
    """Find what Open Interpreter left and what is not here yet; also the conversations in `folder`."""
    ours = paths.profiles()
    waiting = tuple(path for path in profiles.list_profiles() if not _is_here(path, ours))
    count = len(conversations.list_waiting(store, _list_conversation_folders(folder)))
    return Setup(waiting, count, tuple(_list_llamafiles()), tuple(_list_skills()))


def import_all(
    store: Store,
    folder: Path | None = None,
    progressed: Callable[[int, int], object] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Imported:
    """Bring everything in, also the conversations in `folder`; `progressed` gets how many of them are done.

    Once it is `stopped`, no further conversations come in.

    Where a profile becomes the default one, conversations go to the folder that it names, because they are
    looked for there from then on. Raises OSError where our folders cannot be written to.
    """
    setup, target = detect(store, folder), paths.profiles()
    # Of two old versions, the settings of the newer one count.
    imported = tuple(profiles.import_profiles(setup.profiles, target))
    names = {item.name for item in imported}
    default_name = next((name for name in ("oi-default", "oi-config") if name in names), None)
    default = target / f"{default_name}.yaml" if default_name else None
    lines = []
    if setup.conversations:
        report = conversations.import_conversations(
            _open_store(default) if default else store,
            _list_conversation_folders(folder),
            stopped,
            progressed,
        )
        lines.append(report.page.rstrip() or str(report))
    lines += _import_skills(setup.skills)
    lines += _link_llamafiles(setup.llamafiles)
    return Imported(imported, tuple(lines), default)


def _list_conversation_folders(folder: Path | None) -> list[Path]:
    """Return where conversations may be; `folder` may be a whole folder of Open Interpreter, too."""
    more = [folder, folder / "conversations"] if folder else []
    return list(dict.fromkeys([*conversations.list_all_folders(), *more]))


def _open_store(path: Path) -> Store:
    """Open the conversations of a profile that was brought in."""
    return Store(find_conversations_folder(_read(path)))


def _is_here(path: Path, ours: Path) -> bool:
    suffix = ".py" if path.suffix == ".py" else ".yaml"
    return (ours / f"{profiles.choose_name(path)}{suffix}").exists()


def _read(path: Path) -> Profile:
    text, _ = migration.migrate(yaml_file.read_text(path), path.name)
    return Profile.from_entries(yaml_file.parse(text, path.name), path.name)


def _list_llamafiles() -> Iterator[Path]:
    """Yield the models in the original's own folder that are not in ours."""
    for place in profiles.list_configurations():
        with contextlib.suppress(OSError):
            for path in sorted((place / "models").iterdir()):
                fits = path.name.endswith(llamafile.SUFFIX) and path.is_file()
                if fits and not os.path.lexists(llamafile.find_folder() / path.name):
                    yield path


def _list_skills() -> Iterator[Path]:
    """Yield the files with functions that the original called skills, without those that are here."""
    for place in profiles.list_configurations():
        with contextlib.suppress(OSError):
            for path in sorted((place / "skills").glob("*.py")):
                if path.is_file() and not (skills.find_folder() / skills.make_name(path)).exists():
                    yield path


def _import_skills(sources: Sequence[Path]) -> list[str]:
    """Import skills. Returns what was done, and which ones could not be read, in lines."""
    imported, problems = 0, []
    for path in sources:
        try:
            imported += skills.import_skill(path) is not None
        except (OSError, ProfileError) as error:
            problems.append(
                f"The skill {clean_line(path.name, 200)} was not imported: {skills.explain(error)}"
            )
    done = [f"{_count(imported, 'skill')} imported; %skills lists them."] if imported else []
    return done + problems


def _link_llamafiles(sources: Sequence[Path]) -> list[str]:
    """Link models into our folder. Returns what was done, and which ones could not be linked, in lines."""
    linked, problems = 0, []
    for path in sources:
        try:
            (paths.make_private(llamafile.find_folder()) / path.name).symlink_to(path)
        except OSError as error:
            problems.append(f"{clean_line(path.name, 200)} could not be linked: {error.strerror or error}")
        else:
            linked += 1
    done = [f"{_count(linked, 'llamafile')} can be chosen with %model."] if linked else []
    return done + problems


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'s' * (number != 1)}"
