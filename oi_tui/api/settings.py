"""The settings of the Python API. One that has no effect here is refused with a reason."""

import difflib
import warnings
from pathlib import Path
from typing import Any, ClassVar

from oi_tui.api.terminal import OnInput
from oi_tui.engine.settings.migration import MOVED
from oi_tui.engine.settings.profile import Profile, settings

#: Settings that are no attributes here: `languages` is a list, and takes classes itself.
_OTHERWISE = frozenset({"computer.languages", "computer.custom_languages"})
#: The settings that act here, by their keys in a profile; those of the application do not, but for these.
ACTING = frozenset(
    {
        "verbose",
        "debug",
        "disable_telemetry",
        "contribute_conversation",
        "conversation_history",
        "conversation_history_path",
        "multi_line",
        "speak_messages",
    }
    | {setting.key for setting in settings() if setting.section != "Application"} - _OTHERWISE
)
_AT_ANY_TIME = frozenset(
    {"auto_run", "safe_mode", "sandbox", "loop", "computer.emit_images", "shrink_images"}
)
#: Those of them that the languages are started with.
AT_THE_START = frozenset(
    {setting.key for setting in settings() if setting.section == "Running code"} & ACTING - _AT_ANY_TIME
)
_SKILLS = "code in cells uses computer.skills, and a script interpreter.computer.skills"
#: Other names of settings in Open Interpreter.
_ALIASES = {
    "debug_mode": "verbose",
    "function_calling_llm": "llm.supports_functions",
    "import_computer_api": "computer.import_computer_api",
    "vision": "llm.supports_vision",
}
_PROCEDURES = "the service Open Procedures no longer answers"
#: Attributes of Open Interpreter for what is not here: the usual value, and why another has no effect.
ABSENT: dict[str, tuple[Any, str]] = {
    "computer.api_base": (None, "the servers of Open Interpreter no longer answer"),
    "computer.import_skills": (False, _SKILLS),
    "computer.save_skills": (False, _SKILLS),
    "computer.system_message": ("", "the object computer is described to the model by its own documentation"),
    "download_open_procedures": (False, _PROCEDURES),
    "embed_function": (None, _PROCEDURES),
    "gguf_quality": (None, "local models come from a model server or a llamafile"),
    "import_skills": (False, _SKILLS),
    "llm.vision_renderer": (None, "images go only to models that can look at them (llm.supports_vision)"),
    "skills_path": (None, "set interpreter.computer.skills.path"),
    "sync_computer": (False, "the object computer of cells and that of the script are two"),
}
#: Attributes of Open Interpreter that have nothing to do here, whatever their value, with the usual one.
NEEDLESS: dict[str, Any] = {
    "anonymous_telemetry": False,
    "anonymized_telemetry": False,
    "disable_procedures": True,
    "in_terminal_interface": False,
    "num_procedures": 0,
    "plain_text_display": False,
}
#: Limits of Open Interpreter that cannot be kept: what they are when nothing is limited, and why.
REFUSED: dict[str, tuple[Any, str]] = {
    "forbidden_commands": ([], "oi-tui has no list of commands; safe_mode asks before risky code"),
}


class ApiSettings:
    """The profile that an interpreter and its parts share."""

    def __init__(self, profile: Profile, folder: Path | None = None) -> None:
        self.profile = profile
        #: The folder at which relative paths of the profile begin.
        self.folder = folder or Path.cwd()
        #: What was assigned to attributes that have no effect here.
        self.held: dict[str, Any] = {}
        #: Returns what programs get that wait for input; None asks in the terminal.
        self.on_input: OnInput | None = None
        self._names = {setting.key: setting.name for setting in settings()}
        self._started = False

    def start(self) -> None:
        """Refuse from now on what the languages are started with."""
        self._started = True

    def read(self, key: str) -> Any:
        """Return the value of a key of `ACTING`."""
        return getattr(self.profile, self._names[key])

    def write(self, key: str, value: Any) -> None:
        """Change a key of `ACTING`. Raises ProfileError, a ValueError, for a value that is none."""
        if key == "llm.api_base" and isinstance(value, str):
            # Open Interpreter's documentation has an address with a space behind it.
            value = value.strip()
        if key == "conversation_history_path" and isinstance(value, str | Path):
            # A profile needs a folder that does not depend on where it is used; a script means where it is.
            value = str(value) if str(value).startswith("~") else str(Path(value).absolute())
        changed = self.profile.with_changes(**{self._names[key]: value})
        # In a notebook, the cell with the settings is run again and again.
        if self._started and key in AT_THE_START and changed != self.profile:
            raise AttributeError(f"{key} can only be changed before the first chat or the first code")
        self.profile = changed


class SettingGroup:
    """An object whose attributes are settings: those whose keys begin with `prefix`.

    An attribute that is no setting raises AttributeError, when it is read too. One that has no effect here
    keeps its value, with a warning.
    """

    #: How a person calls the object, and what its keys begin with.
    _title: ClassVar[str]
    _prefix: ClassVar[str] = ""
    #: Attributes that are no settings, each kept as it is.
    _own: ClassVar[frozenset[str]] = frozenset()
    #: Further attributes, which cannot be replaced.
    _fixed: ClassVar[frozenset[str]] = frozenset()
    _settings: ApiSettings

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{self._title} has no attribute {name!r}")
        key = self._key(name)
        if key in ACTING:
            return self._settings.read(key)
        for known in (ABSENT, REFUSED):
            if key in known:
                return self._settings.held.get(key, known[key][0])
        if key in NEEDLESS:
            return self._settings.held.get(key, NEEDLESS[key])
        raise self._unknown(name, key)

    def __setattr__(self, name: str, value: Any) -> None:
        declared = getattr(type(self), name, None)
        if name in self._own or (isinstance(declared, property) and declared.fset):
            object.__setattr__(self, name, value)
            return
        key = self._key(name)
        if declared is not None or name in vars(self) or name in self._fixed:
            raise AttributeError(f"{self._title}.{name} cannot be replaced; set its attributes one by one")
        if key in ACTING:
            self._settings.write(key, value)
            self._changed(key)
        elif key in REFUSED and value != REFUSED[key][0]:
            raise AttributeError(f"{self._title}.{name} cannot be {value!r}: {REFUSED[key][1]}")
        elif key in ABSENT or key in NEEDLESS or key in REFUSED:
            self._settings.held[key] = value
            if key in ABSENT and value != ABSENT[key][0]:
                warnings.warn(f"{self._title}.{name} has no effect: {ABSENT[key][1]}", stacklevel=2)
        else:
            raise self._unknown(name, key)

    def __dir__(self) -> list[str]:
        names = [key.removeprefix(self._prefix) for key in ACTING if key.startswith(self._prefix)]
        return sorted({*super().__dir__(), *(name for name in names if "." not in name)})

    def _changed(self, key: str) -> None:
        """Do what a changed setting calls for at once."""

    def _key(self, name: str) -> str:
        key = f"{self._prefix}{name}"
        return _ALIASES.get(key) or MOVED.get(key, key)

    def _unknown(self, name: str, key: str) -> AttributeError:
        """Say of an attribute that has no effect what it is, or which one is probably meant."""
        declared = {setting.key for setting in settings()}
        if key in declared:
            return AttributeError(
                f"{self._title}.{name} has no effect from Python; it is for the application"
            )
        places = {item.rpartition(".")[2]: f"interpreter.{item}" for item in ACTING}
        places |= {item: f"{self._title}.{item}" for item in dir(self) if item[:1] != "_"}
        found = difflib.get_close_matches(name, places, n=1)
        hint = f"; did you mean {places[found[0]]}?" if found else ""
        return AttributeError(f"{self._title} has no attribute {name!r}{hint}")
