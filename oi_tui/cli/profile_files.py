"""Flags that list, reset or import profiles and end: --profiles, --reset-profile, --import."""

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from oi_tui import paths, profiles
from oi_tui.engine.settings import migration, presets, yaml_file
from oi_tui.engine.settings.profile import find_conversations_folder
from oi_tui.engine.settings.setting import ProfileError
from oi_tui.engine.settings.templates import write_starter
from oi_tui.system.opener import open_folder
from oi_tui.text import clean_line

if TYPE_CHECKING:
    from oi_tui.engine.storage.store import Store


def list_profiles() -> int:
    """Say which profiles there are, and open their folder where there is a desktop to open it on."""
    folder = paths.profiles()
    default = profiles.find_default_path()
    with contextlib.suppress(ProfileError, OSError):
        profiles.open_profile(None)  # makes the default profile; one that is wrong is listed as such
    lines = [f"Profiles in {clean_line(paths.shorten(folder))}:"]
    for path in sorted([*folder.glob("*.y*ml"), *folder.glob("*.py")]):
        mark = " (default)" if path == default else ""
        lines.append(f"  {clean_line(path.stem, 40):<20} {_describe_profile(path)}{mark}")
    lines.append("Ready-made:")
    own = {path.stem for path in folder.glob("*.y*ml")}
    lines += [
        f"  {name:<20} {presets.read_summary(name)}" for name in presets.list_names() if name not in own
    ]
    lines += _list_importable()
    _print("\n".join(lines))
    open_folder(folder)
    return 0


def _list_importable() -> list[str]:
    """Say that something of Open Interpreter can be brought in, if it can."""
    from oi_tui.engine.open_interpreter import setup

    old_setup = setup.detect(_open_store())
    return ["Open Interpreter was found on this machine; oi-tui --import imports it."] if old_setup else []


def _describe_profile(path: Path) -> str:
    if path.suffix == ".py":
        return "a Python program; you review it before its first use"
    try:
        return clean_line(f"model {profiles.load(path, write=False).model}", 200)
    except (ProfileError, OSError) as error:
        reason = error.problem if isinstance(error, ProfileError) else error.strerror
        return clean_line(f"cannot be used: {reason}", 200)


def reset_profile(name: str) -> int:
    """Set a profile back to what it was at first; the file as it was is kept beside it."""
    path = profiles.find(name)
    if path.parent != paths.profiles() or path.suffix != ".yaml":
        raise ProfileError("only profiles in the profiles folder can be reset", path=path)
    if path.exists():
        copy = migration.save_backup(path, yaml_file.read_text(path))
        _print(f"The previous profile is saved as {clean_line(paths.shorten(copy))}.")
    paths.make_private(path.parent)
    paths.replace_file(path, presets.read_text(path.stem) or write_starter())
    _print(f"{clean_line(path.stem)} was reset.")
    return 0


def import_profiles() -> int:
    """Copy the profiles of Open Interpreter."""
    from oi_tui.engine.open_interpreter import profiles as original_profiles

    results = list(original_profiles.import_profiles(original_profiles.list_profiles(), paths.profiles()))
    source = original_profiles.find_folder()
    _print("\n".join(map(str, results)) or f"There are no profiles in {clean_line(paths.shorten(source))}.")
    return 0


def import_all(folder: str) -> int:
    """Bring in everything of Open Interpreter; its default profile becomes the default one.

    `folder` has further conversations; "" for none.
    """
    from oi_tui.engine.open_interpreter import setup

    place = paths.expand_typed(folder) if folder else None
    if place and not place.is_dir():
        raise ProfileError(
            f"--import expects a folder with conversations; {clean_line(folder, 200)} is not a folder"
        )
    progressed = _print_progress if sys.stderr.isatty() else None
    imported = setup.import_all(_open_store(), place, progressed)
    lines = [str(imported)] if str(imported) else ["Nothing new was found in Open Interpreter's folders."]
    if imported.default:
        profiles.make_default(imported.default)
        lines.append(f"{imported.default.stem} is the default profile now.")
    _print("\n".join(lines))
    return 0


def _print_progress(done: int, count: int) -> None:
    end = "\r\x1b[K" if done == count else ""
    sys.stderr.write(f"\r{done:,} of {count:,} conversations{end}")
    sys.stderr.flush()


def _open_store() -> "Store":
    """Open the conversations of the default profile; the usual ones where it cannot be read."""
    from oi_tui.engine.storage.store import Store

    try:
        profile, _ = profiles.open_profile(None, write=False)
        folder = find_conversations_folder(profile.with_environment())
    except (ProfileError, OSError):
        folder = paths.conversations()
    return Store(folder)


def _print(text: str) -> None:
    with contextlib.suppress(BrokenPipeError):
        print(text, flush=True)  # noqa: T201
