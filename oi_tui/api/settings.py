"""The settings of the Python API. One that has no effect here is refused with a reason."""

import difflib
import threading
import types
import warnings
import weakref
from collections import defaultdict, deque
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from oi_tui import paths
from oi_tui.api.terminal import OnInput
from oi_tui.engine.settings.migration import MOVED
from oi_tui.engine.settings.profile import Profile, find_conversations_folder, list_settings
from oi_tui.system.forks import call_in_forked_child

#: Settings that are no attributes here: `languages` is a list, and takes classes itself.
_OTHERWISE = frozenset({"computer.languages", "computer.custom_languages"})
#: The settings that have an effect here, by their keys in a profile. Settings of the screen have none.
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
    | {setting.key for setting in list_settings() if setting.section != "Application"} - _OTHERWISE
)
_AT_ANY_TIME = frozenset(
    {"auto_run", "safe_mode", "sandbox", "loop", "computer.emit_images", "shrink_images"}
)
#: Those of them that the languages are started with.
AT_THE_START = frozenset(
    {setting.key for setting in list_settings() if setting.section == "Running code"} & ACTING - _AT_ANY_TIME
)
_SKILLS = "code in cells uses computer.skills, and a script interpreter.computer.skills"
#: Other names of settings in Open Interpreter.
_ALIASES = {
    "debug_mode": "verbose",
    "function_calling_llm": "llm.supports_functions",
    "import_computer_api": "computer.import_computer_api",
    "no_confirm": "auto_run",
    "vision": "llm.supports_vision",
}
#: Those of them that a subclass may have for itself: there they are not the setting.
_LEFT_TO_SUBCLASSES = frozenset({"no_confirm"})
_VOICE = "it is for the 01, the voice interface of Open Interpreter; speak_messages reads replies aloud"
_PROCEDURES = "the service Open Procedures no longer answers"
#: Attributes of Open Interpreter for what is not here: the usual value, and why another has no effect.
ABSENT: dict[str, tuple[Any, str]] = {
    "context_mode": (False, "the server answers each message, without {START}"),
    "require_acknowledge": (
        False,
        "set the environment variable INTERPRETER_REQUIRE_ACKNOWLEDGE before the server starts",
    ),
    "computer.api_base": (None, "the servers of Open Interpreter no longer answer"),
    "computer.import_skills": (False, _SKILLS),
    "computer.save_skills": (False, _SKILLS),
    "computer.system_message": ("", "the object computer is described to the model by its own documentation"),
    "download_open_procedures": (False, _PROCEDURES),
    "embed_function": (None, _PROCEDURES),
    "gguf_quality": (None, "local models come from a model server or a llamafile"),
    "import_skills": (False, _SKILLS),
    "llm.max_retries": (None, "a request that failed for the moment is sent again three times"),
    "llm.format": (None, "every server is asked as OpenAI's interface is, or as the model's name says"),
    "llm.provider": (None, "the model's name begins with its provider, as in azure/gpt-4o"),
    "llm.stop": (None, "stop sequences are not sent"),
    "llm.top_k": (None, "of the sampling parameters, only llm.temperature is sent"),
    "llm.top_p": (None, "of the sampling parameters, only llm.temperature is sent"),
    "llm_service": ("litellm", "models are asked through LiteLLM"),
    "llm.vision_renderer": (None, "images go only to models that can look at them (llm.supports_vision)"),
    "skills_path": (None, "set interpreter.computer.skills.path"),
    "stt": (None, _VOICE),
    "sync_computer": (False, "cells and the script have separate computer objects"),
    "tts": (None, _VOICE),
}
#: Attributes of Open Interpreter that have nothing to do here, whatever their value, with the usual one.
NEEDLESS: dict[str, Any] = {
    "anonymous_telemetry": False,
    "anonymized_telemetry": False,
    "computer._has_imported_computer_api": False,
    "computer._has_imported_skills": False,
    "disable_procedures": True,
    "id": None,
    "in_terminal_interface": False,
    "llm._is_loaded": False,
    "llm.stream": True,
    "num_procedures": 0,
    "plain_text_display": False,
    "print": False,
    "will_contribute": False,
}
_NO_COPY = "cells and the script have separate computer objects"
_AS_CHUNKS = "achat(message) yields the chunks of a turn, and AsyncInterpreter.output() returns them"
#: Attributes of Open Interpreter with which its parts reach each other, and what to use instead.
_INTERNAL = {
    "_streaming_chat": "use chat(message, stream=True)",
    "accumulate": "AsyncInterpreter.input(chunk) takes a message in chunks",
    "acknowledged_outputs": "the server counts them for each connection",
    "computer.computer": "interpreter.computer.terminal is interpreter.computer",
    "computer.interpreter": "use the OpenInterpreter that it belongs to",
    "computer.load_dict": _NO_COPY,
    "computer.to_dict": _NO_COPY,
    "llm.interpreter": "use the OpenInterpreter that it belongs to",
    "output_queue": _AS_CHUNKS,
    "respond": _AS_CHUNKS,
    "respond_thread": "responding says whether a turn is in progress, and stop() stops it",
    "stop_event": "stop() stops a turn from any thread",
    "unsent_messages": _AS_CHUNKS,
}
#: How much a name of one's own may look like a setting: more would be a setting that is misspelt.
_SIMILARITY = 0.85
#: How much another name may look like it to be offered in an error: less would be something else.
_LIKENESS = 0.7
_OWN = ". A subclass of OpenInterpreter may have attributes of its own"
#: How many changes of a setting `del` can take back.
_CHANGES = 16
#: Settings that are no text where they are None, as in Open Interpreter.
_EMPTY_TEXTS = frozenset({"custom_instructions", "llm.execution_instructions"})
#: Settings with several texts, which a script may change as a list.
_LISTS = frozenset({"loop_breakers"})
#: Settings whose 0 means “not set”, as in Open Interpreter.
_UNSET = frozenset({"llm.context_window", "llm.max_tokens"})
#: Limits of Open Interpreter that cannot be kept: what they are when nothing is limited, and why.
REFUSED: dict[str, tuple[Any, str]] = {
    "forbidden_commands": ([], "oi-tui has no list of commands; safe_mode asks before risky code"),
}


class ApiSettings:
    """The profile that an interpreter and its parts share."""

    def __init__(self, profile: Profile, folder: Path | None = None) -> None:
        self._profile = profile
        #: Lists that scripts were given of settings with several texts, and may have changed since.
        self._lists: dict[str, list[Any]] = {}
        #: The folder at which relative paths of the profile begin.
        self.folder = folder or paths.find_cwd()
        #: What was assigned to attributes that have no effect here.
        self.held: dict[str, Any] = {}
        #: Returns what programs get that wait for input; None asks in the terminal.
        self.on_input: OnInput | None = None
        self._names = {setting.key: setting.name for setting in list_settings()}
        #: The values that settings had before each of their last changes.
        self._before: defaultdict[str, deque[Any]] = defaultdict(partial(deque, maxlen=_CHANGES))
        self._started = False
        #: The objects whose attributes are these settings.
        self._groups: list[weakref.ref[SettingGroup]] = []
        #: Held while settings are read or changed, so that no thread sees half a change or loses one.
        self._lock = threading.RLock()
        call_in_forked_child(self._free_lock)

    def _free_lock(self) -> None:
        # Another thread of the parent may have held it.
        self._lock = threading.RLock()

    def add_group(self, group: "SettingGroup") -> None:
        """Note an object whose attributes are settings."""
        self._groups.append(weakref.ref(group))

    @property
    def profile(self) -> Profile:
        """The settings of this moment."""
        with self._lock:
            for reference in self._groups:
                if group := reference():
                    group._oi_apply_hidden()
            for key, values in self._lists.items():
                if not self._is_shown(key, values, self._profile):
                    changes: dict[str, Any] = {self._names[key]: tuple(values)}
                    self._profile = self._profile.with_changes(**changes)
            return self._profile

    @profile.setter
    def profile(self, profile: Profile) -> None:
        with self._lock:
            self._lists = {
                key: values for key, values in self._lists.items() if self._is_shown(key, values, profile)
            }
            self._profile = profile

    def _is_shown(self, key: str, given: list[Any], profile: Profile) -> bool:
        current_value: tuple[Any, ...] = getattr(profile, self._names[key])
        return tuple(given) == current_value

    def change(self, **changes: Any) -> None:
        """Change settings by their names in a profile. Raises ProfileError, a ValueError."""
        with self._lock:
            self.profile = self.profile.with_changes(**changes)

    def start(self) -> None:
        """Refuse from now on what the languages are started with."""
        self._started = True

    def start_anew(self) -> None:
        """Take back `start`: no language has started in this process."""
        self._started = False

    @property
    def chose_folder(self) -> bool:
        """Whether the script chose the folder of the conversations."""
        return bool(self._before["conversation_history_path"])

    def read(self, key: str) -> Any:
        """Return the value of a key of `ACTING`."""
        if key == "conversation_history_path":
            # Scripts look into the folder, also where nobody chose it.
            folder = self.profile.conversation_history_path or ""
            return f"{find_conversations_folder(self.profile)}{'/' if folder.endswith('/') else ''}"
        with self._lock:
            value = getattr(self.profile, self._names[key])
            if key in _LISTS:
                # `interpreter.loop_breakers.append(...)` acts, as in Open Interpreter.
                return self._lists.setdefault(key, list(value))
            return value

    def write(self, key: str, value: Any) -> None:
        """Change a key of `ACTING`. Raises ProfileError, a ValueError, for an invalid value."""
        if key == "llm.api_base" and isinstance(value, str):
            # Open Interpreter's documentation has an address with a space behind it.
            value = value.strip()
        if key == "conversation_history_path" and isinstance(value, str | Path):
            # A profile needs a folder that does not depend on where it is used; a script means where it is.
            path = str(value)
            # Some scripts add the name of the file to a folder that ends with a slash.
            end = "/" if path.endswith("/") else ""
            value = path if path.startswith("~") else f"{Path(value).absolute()}{end}"
        if key in _EMPTY_TEXTS and value is None:
            value = ""
        if key in _UNSET and value == 0:
            value = None
        with self._lock:
            changed = self.profile.with_changes(**{self._names[key]: value})
            # In a notebook, the cell with the settings is run again and again.
            if self._started and key in AT_THE_START and changed != self.profile:
                raise AttributeError(f"{key} can only be changed before the first chat or the first code")
            self._before[key].append(getattr(self.profile, self._names[key]))
            self.profile = changed

    def revert(self, key: str) -> None:
        """Give a key the value that it had before its last change, if it was changed."""
        with self._lock:
            if before := self._before[key]:
                self.write(key, before[-1])
                # What was added just now, and what it took back.
                before.pop()
                before.pop()


def _list_annotations(kind: type) -> Collection[str]:
    """Return the names that a class annotates."""
    try:
        return kind.__annotations__
    except NameError:
        # Python 3.14 evaluates them now, and names that only type checkers see are missing.
        return ()


def _refuse_settings(kind: type, prefix: str) -> None:
    """Raise TypeError where a class has a setting: it would be read from there, and would not act."""
    # Another thread may give the class an attribute meanwhile.
    for name, value in vars(kind).copy().items():
        if f"{prefix}{name}" in ACTING and not callable(value):
            raise TypeError(f"{kind.__name__}.{name} is a setting: set it in __init__, on the object")


class SettingGroup:
    """An object whose attributes are settings: those whose keys begin with `prefix`.

    An attribute that is no setting raises AttributeError, when it is read too. One that has no effect here
    keeps its value, with a warning. `del` takes the last change of a setting back. A method may be replaced
    by a function, as tests do. Subclasses may have attributes of their own, and so may programs whose names
    begin with `_`.

    Private names here and in the classes that programs extend begin with `_oi_`, so that a program's own
    `_log` or `_settings` does not replace one.
    """

    #: How a person calls the object, and what its keys begin with.
    _oi_title: ClassVar[str]
    _oi_prefix: ClassVar[str] = ""
    #: Further attributes, which cannot be replaced.
    _oi_fixed: ClassVar[frozenset[str]] = frozenset()
    _oi_settings: ApiSettings

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        _refuse_settings(cls, cls._oi_prefix)

    def _oi_read_attribute(self, name: str) -> Any:
        """Return the value of an attribute that is not on the object."""
        if "_oi_settings" not in vars(self) and (name.startswith("_oi_") or name[:1] != "_"):
            raise AttributeError(
                f"{self._oi_title}.{name} is not there yet: begin your __init__ with super().__init__()"
            )
        key = self._oi_key(name)
        if name.startswith("_") and key not in NEEDLESS and key not in _INTERNAL:
            raise AttributeError(f"{self._oi_title} has no attribute {name!r}")
        if key in ACTING:
            return self._oi_settings.read(key)
        for table in (ABSENT, REFUSED):
            if key in table:
                return self._oi_settings.held.get(key, table[key][0])
        if key in NEEDLESS:
            return self._oi_settings.held.get(key, NEEDLESS[key])
        raise self._oi_explain_unknown(name, key)

    def _oi_write_attribute(self, name: str, value: Any) -> None:
        """Assign to an attribute."""
        declared = getattr(type(self), name, None)
        key = self._oi_key(name)
        if self._oi_is_kept(name, declared, value) or self._oi_is_callers_attribute(name, key):
            object.__setattr__(self, name, value)
            if name == "_oi_settings":
                self._oi_settings.add_group(self)
            return
        if declared is not None or name in vars(self) or name in self._oi_fixed:
            raise AttributeError(f"{self._oi_title}.{name} cannot be replaced; set its attributes one by one")
        if key in ACTING:
            self._oi_settings.write(key, value)
            self._oi_apply_change(key)
        elif key in REFUSED and value != REFUSED[key][0]:
            raise AttributeError(f"{self._oi_title}.{name} cannot be {value!r}: {REFUSED[key][1]}")
        elif key in ABSENT or key in NEEDLESS or key in REFUSED:
            self._oi_settings.held[key] = value
            if key in ABSENT and value != ABSENT[key][0]:
                warnings.warn(f"{self._oi_title}.{name} has no effect: {ABSENT[key][1]}", stacklevel=3)
        else:
            raise self._oi_explain_unknown(name, key)

    def _oi_apply_hidden(self) -> None:
        """Apply what a script put into `vars` of this object, past its attributes.

        Raises TypeError for a setting on the class, which would hide the one of the object.
        """
        for kind in type(self).__mro__:
            _refuse_settings(kind, self._oi_prefix)
        values = vars(self)
        # A copy: a subclass may set or delete attributes of its own in another thread.
        for name, value in values.copy().items():
            if name not in values:
                # To apply another one read the profile, and so applied this one.
                continue
            if name[:1] == "_":
                continue
            if self._oi_key(name) in ACTING or isinstance(getattr(type(self), name, None), property):
                values.pop(name, None)
                try:
                    setattr(self, name, value)
                except BaseException:
                    # It still stops the next request.
                    values[name] = value
                    raise
            elif not self._oi_is_own(name, value):
                raise self._oi_explain_unknown(name, self._oi_key(name))

    def _oi_is_own(self, name: str, value: Any) -> bool:
        """Return whether a value may be on the object: a part of it, a method, or what a subclass has."""
        is_part = isinstance(value, SettingGroup) or callable(value)
        return is_part or self._oi_is_callers_attribute(name, self._oi_key(name))

    def _oi_delete_attribute(self, name: str) -> None:
        """Take the last change of a setting back, or delete an attribute."""
        key = self._oi_key(name)
        if key in ACTING and name not in vars(self):
            self._oi_settings.revert(key)
            self._oi_apply_change(key)
        else:
            object.__delattr__(self, name)

    if not TYPE_CHECKING:
        # Type checkers know the attributes that a group declares, and so report a misspelt one.
        def __getattr__(self, name: str) -> Any:
            return self._oi_read_attribute(name)

        def __setattr__(self, name: str, value: Any) -> None:
            self._oi_write_attribute(name, value)

        def __delattr__(self, name: str) -> None:
            self._oi_delete_attribute(name)

    def __reduce__(self) -> Any:
        raise TypeError(
            f"{self._oi_title} cannot be copied or sent to another process. "
            "Make a new OpenInterpreter there, and give it the messages of this one."
        )

    def __dir__(self) -> list[str]:
        names = [key.removeprefix(self._oi_prefix) for key in ACTING if key.startswith(self._oi_prefix)]
        return sorted({*super().__dir__(), *(name for name in names if "." not in name)})

    def _oi_is_kept(self, name: str, declared: Any, value: Any) -> bool:
        """Return whether an attribute is assigned unchecked: ours, a property, or a method
        that is replaced.
        """
        if name.startswith("_oi_") or (isinstance(declared, property) and declared.fset):
            return True
        return isinstance(declared, types.FunctionType) and callable(value)

    def _oi_is_callers_attribute(self, name: str, key: str) -> bool:
        """Return whether this is an attribute that a subclass has for itself, or a private one,
        such as a mark.
        """
        ours, added = self._oi_split_classes()
        is_ours = hasattr(ours, name) or name in _list_annotations(ours) or name in self._oi_fixed
        if is_ours or self._oi_is_known(key):
            return False
        if name.startswith("_"):
            return True
        if not added:
            return False
        if name in vars(self):
            return True
        declared = any(name in vars(item) or name in _list_annotations(item) for item in added)
        alike = difflib.get_close_matches(name, self._oi_list_places(), 1, _SIMILARITY)
        return declared or not alike

    def _oi_split_classes(self) -> tuple[type, tuple[type, ...]]:
        """Return our class of this object, and the classes that a program derived from it."""
        classes = type(self).__mro__
        ours = next(item for item in classes if "_oi_title" in vars(item))
        return ours, classes[: classes.index(ours)]

    def _oi_is_known(self, key: str) -> bool:
        declared = {setting.key for setting in list_settings()}
        return any(key in keys for keys in (ACTING, ABSENT, NEEDLESS, REFUSED, declared))

    def _oi_apply_change(self, key: str) -> None:
        """Apply a changed setting at once."""

    def _oi_key(self, name: str) -> str:
        key = f"{self._oi_prefix}{name}"
        if key in _LEFT_TO_SUBCLASSES and self._oi_split_classes()[1]:
            return key
        return _ALIASES.get(key) or MOVED.get(key, key)

    def _oi_explain_unknown(self, name: str, key: str) -> AttributeError:
        """Return what an attribute without effect is, or which one was probably meant."""
        declared = {setting.key for setting in list_settings()}
        if key in declared:
            return AttributeError(
                f"{self._oi_title}.{name} has no effect from Python; it is for the application"
            )
        if instead := _INTERNAL.get(key):
            return AttributeError(f"{self._oi_title}.{name} is internal to Open Interpreter: {instead}")
        itself = f"{self._oi_title}.{name}"
        places = {item: place for item, place in self._oi_list_places().items() if place != itself}
        matches = difflib.get_close_matches(name, places, 1, _LIKENESS)
        hint = f"; did you mean {places[matches[0]]}?" if matches else _OWN if self._oi_prefix == "" else ""
        return AttributeError(f"{self._oi_title} has no attribute {name!r}{hint}")

    def _oi_list_places(self) -> dict[str, str]:
        """Return names of attributes, with where each of them is."""
        places = {item.rpartition(".")[2]: f"interpreter.{item}" for item in ACTING}
        return places | {item: f"{self._oi_title}.{item}" for item in dir(self) if item[:1] != "_"}
