"""Finds profiles by name, path or address, and a project's own settings."""

import contextlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from oi_tui import paths
from oi_tui.engine.credentials.trust import ExternalContent, Trust
from oi_tui.engine.settings import migration, presets, yaml_file
from oi_tui.engine.settings.profile import Profile, list_settings
from oi_tui.engine.settings.setting import ProfileError, suggest_nearest

#: The file in a project's folder.
PROJECT = paths.PROJECT
#: The longest profile that is fetched, in bytes, and how long that may take, in seconds.
_LONGEST = 200_000
_TIMEOUT = 20.0

#: Shows a person the whole content; True when they trust it.
Ask = Callable[[ExternalContent], bool]


def answer_for_nobody(shown: ExternalContent) -> bool:
    """Answer for a person who cannot be asked."""
    raise ProfileError("needs to be shown and trusted first, in a terminal", path=shown.place)


def find_default_path() -> Path:
    """Return the profile that is used when none is named: the one made default, else `default.yaml`."""
    folder = paths.profiles()
    with contextlib.suppress(OSError, ProfileError):
        name = yaml_file.read_text(paths.config() / "default-profile").strip()
        if name and Path(name).name == name and (folder / name).is_file():
            return folder / name
    return folder / "default.yaml"


def make_default(path: Path) -> None:
    """Use this profile, of the folder of profiles, when none is named. Raises OSError."""
    paths.make_private(paths.config())
    paths.replace_file(paths.config() / "default-profile", path.name + "\n")


def list_names() -> list[str]:
    """Return the names of all profiles, a person's own first, each once; programs with their suffix."""
    folder = paths.profiles()
    own = sorted(path.stem for path in folder.glob("*.y*ml")) if folder.is_dir() else []
    own += sorted(path.name for path in folder.glob("*.py")) if folder.is_dir() else []
    return list(dict.fromkeys([*own, *presets.list_names()]))


def find(name: str) -> Path:
    """Return the file of the profile with that name. Raises ProfileError when there is none.

    A name is looked up in the profiles folder, then among the ready-made ones, whose path is where it would
    lie once it is changed. What lies in the working directory is used when it is asked for by a path.
    """
    folder = paths.profiles()
    if os.sep in name or name.startswith("~"):
        path = paths.expand_typed(name).absolute()
        if not path.exists():
            raise ProfileError(f"there is no profile {name}")
        return path
    if name not in ("", ".", ".."):
        for candidate in (name, f"{name}.yaml", f"{name}.yml", f"{name}.py"):
            if (folder / candidate).is_file():
                return folder / candidate
        stem = presets.find_present_name(name.removesuffix(".yaml").removesuffix(".yml").removesuffix(".py"))
        if reason := presets.explain_gone(stem):
            raise ProfileError(f"the profile {stem} of Open Interpreter {reason}")
        if stem in presets.list_names() or stem in presets.list_packaged():
            return folder / f"{stem}.yaml"
        if stem == "default":
            return folder / "default.yaml"
    here = f"; for the file in this folder write ./{name}" if name and Path(name).exists() else ""
    from oi_tui.engine.open_interpreter import profiles as original_profiles

    if theirs := original_profiles.find_profile(name):
        raise ProfileError(
            f"there is no profile {name!r}, but Open Interpreter has one ({paths.shorten(theirs)}); "
            "oi-tui --import imports it"
        )
    names = list_names()
    hint = suggest_nearest(name, names) or f"; there are {', '.join(names)}"
    raise ProfileError(f"there is no profile {name!r} in {paths.shorten(folder)}{here or hint}")


def read_text(path: Path) -> str:
    """Return the YAML text of a profile: its file, else the ready-made one.

    Raises ProfileError or OSError.
    """
    try:
        return yaml_file.read_text(path)
    except FileNotFoundError:
        preset = presets.read_text(path.stem) if path.parent == paths.profiles() else None
        if preset is None:
            raise
        return preset


def load(path: Path, *, write: bool = True) -> Profile:
    """Read the YAML profile at the path. Raises ProfileError or OSError.

    One with keys of an older version is read as if it were up to date. In our own folder the file is brought
    up to date too, unless `write` is false; the old file is kept beside it.
    """
    text = read_text(path)
    if path.parent != paths.profiles():
        return _read(text, path)
    newer, changes = migration.migrate(text, path)
    profile = Profile.from_entries(yaml_file.parse(newer, path), path)
    if not changes or not write:
        return profile
    with contextlib.suppress(OSError, ProfileError), paths.locked(path.parent):
        if read_text(path) != text:
            # Another program brought it up to date meanwhile, or saved a setting.
            return profile
        copy = migration.save_backup(path, text)
        paths.replace_file(path, newer)
        note = f"{path.name} was brought up to date ({', '.join(changes)}); the old one is {copy.name}"
        profile = replace(profile, unknown=(note, *profile.unknown))
    return profile


def _read(text: str, place: object) -> Profile:
    """Read the profile in a text; its file is not changed. Raises ProfileError."""
    newer, changes = migration.migrate(text, place)
    profile = Profile.from_entries(yaml_file.parse(newer, place), place)
    if not changes:
        return profile
    note = (
        f"{Path(str(place)).name} has keys of an older version ({', '.join(changes)}). They still "
        f"work, and the file is not changed. To update it, copy it into {paths.shorten(paths.profiles())}"
    )
    return replace(profile, unknown=(note, *profile.unknown))


def open_profile(
    name: str | None, ask: Ask = answer_for_nobody, *, offline: bool = False, write: bool = True
) -> tuple[Profile, Path | None]:
    """Return the profile that is asked for, and where its changes are saved. Raises ProfileError or OSError.

    What comes from the network, and what is a program, is used after `ask` only, unless exactly that content
    was trusted before. Their changes are not saved. Without `write` no profile is made or changed.
    """
    if name is not None and "://" in name:
        if offline:
            raise ProfileError(f"offline is on, so the profile {name} is not fetched")
        content = fetch(name)
        profile = make_profile(content)
        _ask_once(content, ask)
        return profile, None
    path = find_default_path() if name is None else find(name)
    if path.suffix == ".py":
        content = ExternalContent("python profile", os.path.realpath(path), yaml_file.read_text(path))
        _ask_once(content, ask)
        return make_profile(content), None
    if path.suffix == ".json":
        # YAML takes the same text. Changes would be written as YAML, so they are not saved.
        return load(path, write=False), None
    if name is not None and path != paths.profiles() / "default.yaml":
        return load(path, write=write), path
    try:
        return (load(path, write=write) if _has_default(path, write=write) else Profile()), path
    except ProfileError as error:
        text = f"{error.problem}. Correct it, or set the profile back with --reset-profile"
        raise ProfileError(text, key=error.key, path=error.path, line=error.line) from None


def make_profile(shown: ExternalContent) -> Profile:
    """Return the profile that the content makes; a program is run, and must be trusted.

    Raises ProfileError.
    """
    if shown.kind == "python profile":
        from oi_tui.engine.settings import python_profile

        return python_profile.run(shown, _list_known_languages())
    return _read(shown.text, shown.place)


def _list_known_languages() -> list[tuple[str, str, tuple[str, ...]]]:
    from oi_tui.runtimes.languages import LANGUAGES

    return [(language.name, language.title, language.aliases) for language in LANGUAGES]


def keep_overrides(profile: Profile, before: Profile) -> Profile:
    """Return the profile with what flags and the environment set in the one before, which still wins."""
    for origin in ("flag", "environment"):
        remaining = {name: getattr(before, name) for name, item in before.origins.items() if item == origin}
        profile = profile.with_changes(origin, **remaining)
    return profile


def fetch(address: str) -> ExternalContent:
    """Return a profile from the network, as text. Raises ProfileError."""
    import urllib.error
    import urllib.request

    if not address.startswith(("http://", "https://")):
        raise ProfileError("only http and https addresses are fetched", path=address)
    if address.partition("?")[0].endswith(".py"):
        raise ProfileError(
            "programs from the network are not run; save it, read it, and give its path", path=address
        )
    try:
        with urllib.request.urlopen(address, timeout=_TIMEOUT) as answer:
            if not answer.url.startswith(("http://", "https://")):
                raise ProfileError("redirects to something that is not a web address", path=address)
            raw = answer.read(_LONGEST + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        reason = getattr(error, "reason", None) or error
        words = getattr(reason, "strerror", None) or reason
        raise ProfileError(f"cannot be fetched: {words}", path=address) from None
    if len(raw) > _LONGEST:
        raise ProfileError("too large for a profile", path=address)
    try:
        return ExternalContent("profile from the network", address, raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise ProfileError("not UTF-8 text", path=address) from None


def find_project(folder: Path) -> ExternalContent | None:
    """Return the profile in a project's folder; None if there is none or it is empty."""
    # Code in the sandbox may put a link in its place at any moment, also to settings with API keys.
    place = Path(os.path.realpath(folder)) / PROJECT
    try:
        text = yaml_file.read_text(place, follows_link=False)
    except (OSError, ProfileError):
        return None
    return ExternalContent("project profile", str(place), text) if text.strip() else None


def explain_unread_project(folder: Path) -> str:
    """Return why the folder's own profile is not read; "" where it is read or there is none."""
    path = folder / PROJECT
    try:
        if path.is_symlink():
            reason = "it is a symbolic link"
        elif not os.path.lexists(path):
            return ""
        elif not path.is_file():
            reason = "it is not a regular file"
        else:
            yaml_file.read_text(path, follows_link=False)
            return ""
    except ProfileError as error:
        reason = error.problem
    except OSError as error:
        reason = error.strerror or str(error)
    return f"The settings of this folder ({PROJECT}) are not used: {reason}."


def add_project(profile: Profile, shown: ExternalContent) -> Profile:
    """Return the profile with a trusted project's settings on top; flags and the environment still win.

    Raises ProfileError.
    """
    theirs = _read(shown.text, shown.place)
    changes = {
        setting.name: getattr(theirs, setting.name)
        for setting in list_settings()
        if setting.name in theirs.origins and profile.origins.get(setting.name) not in ("flag", "environment")
    }
    merged = profile.with_changes("profile", **changes)
    remarks = (f"In {PROJECT} of this folder: {line}" for line in theirs.unknown)
    return replace(merged, notes=(*merged.notes, *remarks))


def is_trusted(shown: ExternalContent) -> bool:
    """Return whether exactly this content was trusted before."""
    return Trust().accepts(shown)


def _ask_once(shown: ExternalContent, ask: Ask) -> None:
    trust = Trust()
    if trust.accepts(shown):
        return
    if not ask(shown):
        raise ProfileError("not trusted, so it is not used", path=shown.place)
    with contextlib.suppress(OSError):
        trust.accept(shown)


def _has_default(path: Path, *, write: bool) -> bool:
    """Return whether there is a default profile to load; the first use makes it, where it may and can."""
    if path.exists():
        if not paths.is_safe_to_trust(path.parent):
            folder = paths.shorten(path.parent)
            raise ProfileError(
                f"not read, because others can write to its folder. To fix this: chmod go-w {folder}",
                path=path,
            )
        return True
    if write:
        from oi_tui.engine.settings.templates import write_starter

        with contextlib.suppress(OSError):
            paths.make_private(path.parent)
            paths.replace_file(path, write_starter())
    return False


# ---- Files of a person's own


def choose_path(name: str) -> Path:
    """Return the path for a new profile of that name.

    Raises ProfileError when the name is not valid or taken.
    """
    name = name.strip().removesuffix(".yaml")
    good = name and len(name) <= 80 and name[0] not in ".-" and name.isprintable()
    if not good or any(character in name for character in '/\\:*?"<>|'):
        raise ProfileError("a profile's name is a few words, without / and the like, such as: work")
    path = paths.profiles() / f"{name}.yaml"
    if os.path.lexists(path):
        raise ProfileError(f"there is a profile {name} already")
    return path


def duplicate(path: Path, name: str) -> Path:
    """Copy a profile, to the byte, under another name. Returns its path. Raises ProfileError or OSError."""
    target = choose_path(name)
    text = read_text(path)
    paths.make_private(target.parent)
    paths.replace_file(target, text)
    return target


def rename(path: Path, name: str) -> Path:
    """Give a profile of the profiles folder another name. Raises ProfileError or OSError."""
    _require_own(path)
    target = choose_path(name)
    default = find_default_path() == path
    path.rename(target)
    paths.sync(target.parent)
    if default:
        make_default(target)
    return target


def delete(path: Path) -> Path:
    """Take a profile away; it is kept where `restore` finds it. Raises ProfileError or OSError."""
    _require_own(path)
    copy = migration.save_backup(paths.make_private(path.parent / "deleted") / path.name, read_text(path))
    path.unlink()
    paths.sync(path.parent)
    return copy


def restore(kept: Path, path: Path) -> None:
    """Put a deleted profile back. Raises ProfileError or OSError."""
    if os.path.lexists(path):
        raise ProfileError(f"there is a profile {path.stem} already")
    kept.rename(path)
    paths.sync(path.parent)


def _require_own(path: Path) -> None:
    if path.parent != paths.profiles() or not path.exists():
        raise ProfileError("only profiles of your own in the profiles folder can be renamed or deleted")
