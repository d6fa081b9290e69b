"""A profile: the values of all settings, and where they come from."""

import dataclasses
import os
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from oi_tui import paths
from oi_tui.engine.settings import mcp_servers, presets, yaml_file
from oi_tui.engine.settings.application import ApplicationSettings
from oi_tui.engine.settings.execution import ExecutionSettings
from oi_tui.engine.settings.migration import MOVED
from oi_tui.engine.settings.model import ModelSettings
from oi_tui.engine.settings.prompts import PromptSettings
from oi_tui.engine.settings.setting import ProfileError, Setting, Value
from oi_tui.engine.settings.unknown_keys import (
    FORMAT_VERSION,
    explain_unknown,
    refuse_group,
    refuse_unknown_limit,
)
from oi_tui.engine.settings.unknown_variables import check_names

if TYPE_CHECKING:
    from oi_tui.engine.settings.yaml_parser import YamlEntry

__all__ = ["Profile", "ProfileError", "list_settings"]

#: Where a value comes from; the later ones win.
Origin = Literal["default", "profile", "environment", "flag", "changed"]

_IN_PROFILE = "In your profile: "


@dataclass(frozen=True, kw_only=True, repr=False)
class Profile(ApplicationSettings, PromptSettings, ExecutionSettings, ModelSettings):
    """The user's settings, with defaults for the rest. Immutable; `with_changes` makes a new one."""

    #: Keys of the file that are not settings, each with its line and what may be meant, in words.
    unknown: tuple[str, ...] = field(default=(), compare=False)
    #: Notices about flags, the environment and the folder, in sentences.
    notes: tuple[str, ...] = field(default=(), compare=False)
    #: The text and the path of a trusted program whose function is the model.
    completions: tuple[str, str] | None = field(default=None, compare=False, repr=False)
    #: Code of a trusted program, with its language, that runs when the language starts.
    startup: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)
    #: For each setting that is not at its default: where its value comes from.
    origins: Mapping[str, Origin] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a YAML profile. Raises ProfileError with file, line and key, or OSError.

        Keys may be nested (`llm:` and below it `model:`) or dotted (`llm.model:`). A key without a value
        leaves the default.
        """
        return cls.from_entries(yaml_file.read(path), path)

    @classmethod
    def from_entries(cls, entries: Mapping[str, "YamlEntry"], path: object) -> Self:
        """Make a profile of the entries of a file. Raises ProfileError."""
        try:
            entries = mcp_servers.fold_groups(entries)
        except ProfileError as error:
            raise error.at(path) from None
        settings_by_key = {
            key: setting for setting in list_settings() for key in (setting.key, *setting.also)
        }
        values: dict[str, Any] = {}
        unknown: list[str] = []
        for key, entry in entries.items():
            try:
                _read_entry(key, entry, settings_by_key, values, unknown)
            except ProfileError as error:
                raise error.at(path, entry.line) from None
        origins: dict[str, Origin] = dict.fromkeys(values, "profile")
        return cls(**values, unknown=tuple(unknown), origins=origins)

    def with_changes(self, origin: Origin = "changed", **changes: Value) -> Self:
        """Return the same profile with some settings changed, each checked. Raises ProfileError."""
        declared = {setting.name: setting for setting in list_settings()}
        checked: dict[str, Any] = {name: declared[name].check(value) for name, value in changes.items()}
        origins: dict[str, Origin] = {**self.origins, **dict.fromkeys(checked, origin)}
        return dataclasses.replace(self, **checked, origins=origins)

    def with_environment(self, environment: Mapping[str, str] = os.environ) -> Self:
        """Return the profile with the values of the environment. Raises ProfileError that names the variable.

        A variable that begins like ours and is not known adds a sentence to `notes`.
        """
        changes: dict[str, Value] = {}
        for setting in list_settings():
            text = environment.get(setting.variable, "") if setting.variable else ""
            if text:
                try:
                    changes[setting.name] = setting.parse(text)
                except ProfileError as error:
                    raise error.at(f"environment variable {setting.variable}") from None
        notes = check_names(environment, list_settings())
        changed = self.with_changes("environment", **changes)
        return dataclasses.replace(changed, notes=(*self.notes, *notes))

    def find_differences(self, other: Self) -> dict[str, Value]:
        """Return the settings, by name, that are different in `other`, with its values."""
        return {
            setting.name: getattr(other, setting.name)
            for setting in list_settings()
            if getattr(self, setting.name) != getattr(other, setting.name)
        }

    def __repr__(self) -> str:
        lines = (
            f"{setting.name}={setting.show(getattr(self, setting.name))!r}"
            for setting in list_settings()
            if getattr(self, setting.name) != setting.default
        )
        return f"Profile({', '.join(lines)})"


def _read_entry(
    key: str,
    entry: "YamlEntry",
    known: Mapping[str, Setting],
    values: dict[str, Any],
    unknown: list[str],
) -> None:
    """Add the value of an entry to `values`, or a remark on its key to `unknown`. Raises ProfileError."""
    declared = known.get(key)
    if declared is None and any(item.startswith(f"{key}.") for item in known):
        # A group of the original's whose settings are all commented out is empty.
        if entry.value not in (None, {}, [], ""):
            refuse_group(key, list_settings())
            unknown.append(f"line {entry.line}: {key} is a group of settings, with more below it")
    elif key == FORMAT_VERSION or (key in MOVED and entry.value is None):
        return
    elif declared is None:
        if within := known.get(key.rpartition(".")[0]):
            raise within.make_error(f"expected {within.expected}, not a group of settings")
        refuse_group(key, list_settings())
        refuse_unknown_limit(key, list_settings())
        unknown.append(f"line {entry.line}: {key} {explain_unknown(key, known)}")
    elif declared.name in values:
        raise ProfileError(f"given twice (also as {declared.key})", key=key)
    elif entry.value is not None:
        values[declared.name] = declared.check_given(entry.value)


def save(path: Path, changes: Mapping[str, Value]) -> None:
    """Write changed settings, by name, into a profile; None and defaults take the key out.

    Everything else in the file stays as it is, to the byte. The file appears whole or not at all, for its
    owner only. Raises OSError, or ProfileError when the file is not one that can be changed.
    """
    declared = {setting.name: setting for setting in list_settings()}
    values: dict[str, Value] = {}
    for name, value in changes.items():
        setting = declared[name]
        values |= dict.fromkeys((*setting.also, *(old for old, new in MOVED.items() if new == setting.key)))
        values[setting.key] = None if value == setting.default else setting.check(value)
    if mcp_servers.KEY in values:
        mcp_servers.refuse_groups(path)
    own = path.parent == paths.profiles()
    yaml_file.write(path, values, (presets.read_text(path.stem) or "") if own else "")


def list_settings() -> tuple[Setting, ...]:
    """Return every setting, in the order of declaration."""
    return _SETTINGS


def _collect_settings() -> tuple[Setting, ...]:
    hints = typing.get_type_hints(Profile)
    settings = []
    for item in dataclasses.fields(Profile):
        if "setting" not in item.metadata:
            continue
        hint = hints[item.name]
        parts = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        kinds = [part for part in parts if part is not types.NoneType]
        settings.append(
            Setting(
                name=item.name,
                kind=typing.get_origin(kinds[0]) or kinds[0],
                optional=len(parts) > 1,
                default=typing.cast("Value", item.default),
                **item.metadata["setting"],
            )
        )
    return tuple(settings)


_SETTINGS = _collect_settings()


def find_conversations_folder(profile: Profile) -> Path:
    """Return the folder in which the profile's conversations are saved."""
    path = profile.conversation_history_path
    return paths.expand_typed(path) if path else paths.conversations()


def name_source(profile: Profile, name: str) -> str:
    """Name the setting as it was set: by its flag, its variable, or its key in the profile."""
    setting = next(item for item in list_settings() if item.name == name)
    match profile.origins.get(name):
        case "flag":
            return setting.long_flag
        case "environment":
            return f"Environment variable {setting.variable}"
        case "profile":
            return f"{_IN_PROFILE}{setting.key}"
        case _:
            return setting.key


def list_remarks(profile: Profile) -> list[str]:
    """Return every remark on the settings, in sentences that say where each setting was set."""
    keys = (f"{_IN_PROFILE}{line}" for line in profile.unknown)
    unused = (
        f"{name_source(profile, setting.name)} has no effect: {reason}."
        for setting, reason in _list_unused(profile)
    )
    return [*keys, *profile.notes, *unused]


def explain_no_effect(profile: Profile) -> list[str]:
    """Explain which chosen settings have no effect here."""
    return [f"{setting.key} has no effect: {reason}." for setting, reason in _list_unused(profile)]


def _list_unused(profile: Profile) -> Iterator[tuple[Setting, str]]:
    for setting in list_settings():
        if getattr(profile, setting.name) == setting.default and profile.origins.get(setting.name) != "flag":
            continue
        reason = setting.cannot()
        if setting.needless and profile.origins.get(setting.name) == "flag":
            reason = setting.needless
        if reason:
            yield setting, reason


def explain(profile: Profile) -> list[tuple[str, str, Origin]]:
    """Return for every setting its key, its value as shown to a person, and where the value comes from."""
    return [
        (
            setting.key,
            setting.show(getattr(profile, setting.name)) or setting.unset,
            profile.origins.get(setting.name, "default"),
        )
        for setting in _SETTINGS
    ]
