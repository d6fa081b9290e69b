"""Updates profiles in the formats of older versions of Open Interpreter."""

import itertools
import os
from pathlib import Path

from oi_tui.engine.settings import yaml_file
from oi_tui.engine.settings.setting import ProfileError, Value
from oi_tui.paths import replace_file

#: The settings of the model, which were at the top level before version 0.2.1.
_MODEL = (
    "model",
    "temperature",
    "context_window",
    "max_tokens",
    "max_budget",
    "api_base",
    "api_key",
    "api_version",
    "supports_functions",
    "supports_vision",
)
#: Where older keys, and keys in a place of their own, stand now.
MOVED = {
    **{name: f"llm.{name}" for name in _MODEL},
    **{f"llm_{name}": f"llm.{name}" for name in _MODEL},
    # The documentation of 0.2 has these two.
    "llm.llm_supports_functions": "llm.supports_functions",
    "llm.llm_supports_vision": "llm.supports_vision",
    "llm.max_output": "max_output",
    "llm.custom_instructions": "custom_instructions",
    "computer.max_output": "max_output",
    "computer.offline": "offline",
    "computer.verbose": "verbose",
    "computer.debug": "debug",
    "llm.offline": "offline",
    "llm.system_message": "system_message",
    "emit_images": "computer.emit_images",
    "safe_mod": "safe_mode",
    "function_calling_llm": "llm.supports_functions",
    # Renamed in 0.2, as its flag was.
    "debug_mode": "verbose",
    # The names of 0.2.
    "force_task_completion": "loop",
    "force_task_completion_message": "loop_message",
    "force_task_completion_breakers": "loop_breakers",
}

#: The system messages that older versions wrote into profiles: how many letters and digits each has, and the
#: SHA-256 of these in lower case, cut to 32 digits. They speak of functions that no longer exist.
_OLD_SYSTEM_MESSAGES = (
    (2281, "e87bdcabc6809a7f429d0a45b9b7f30f"),
    (1733, "7fa32b9b11c526d01c6c285b494eafb2"),
    (1700, "1b4eb345bb939d29b89ef552768fa268"),
    (1691, "521779a9e513535e3c2cd3b5895f89b7"),
    (1599, "83ae0417081c92515b20c3edb36da4a5"),
    (1103, "da2af28f3bcf0cf5a9bc90e334fbfdff"),
    (1089, "192870ab57d56bb2c207ab56111462d4"),
    (1006, "559f9da7c8924364b9961ff7dc78ecfd"),
    (962, "1921b9e5b63c03cc06bcaf43cc9130db"),
)


def migrate(text: str, path: object = None) -> tuple[str, list[str]]:
    """Return the text with old keys in their new places, and what was done, in words; nothing
    if it is up to date.

    Comments and all else stay. Raises ProfileError when the text cannot be read.
    """
    entries = yaml_file.parse(text, path)
    done = []
    for old, new in MOVED.items():
        entry = entries.get(old)
        if entry is None or not isinstance(entry.value, str | int | float | bool | list):
            continue
        value: Value = tuple(map(str, entry.value)) if isinstance(entry.value, list) else entry.value
        new_entry = entries.get(new)
        if new_entry and new_entry.value is not None:
            merged = choose_stricter(new, value, new_entry.value)
            if merged is None:
                continue
            value = merged
        try:
            text = yaml_file.change_text(text, {old: None, new: value}, path)
        except ProfileError:
            continue
        entries = yaml_file.parse(text, path)
        done.append(
            f"{old} is now {new}" + (f", which is {yaml_file.write_scalar(value)}" if new_entry else "")
        )
    return _remove_old_system_message(text, path, done)


def choose_stricter(key: str, older: Value, value: object) -> Value | None:
    """Return what counts where a setting has an older key, too: the stricter; None if that is open."""
    if older == value:
        return older
    if key in ("offline", "verbose", "debug") and isinstance(older, bool) and isinstance(value, bool):
        return older or value
    if key in ("llm.max_budget", "max_output") and isinstance(older, int | float):
        return min(older, value) if isinstance(value, int | float) else None
    return None


def _remove_old_system_message(text: str, path: object, done: list[str]) -> tuple[str, list[str]]:
    """Take out the system message that an older version wrote; what a person added are instructions."""
    entries = yaml_file.parse(text, path)
    message = entries["system_message"].value if "system_message" in entries else None
    rest = _find_added_to_old_system_message(message) if isinstance(message, str) else None
    if rest is None or (rest and "custom_instructions" in entries):
        return text, done
    changes: dict[str, Value] = {"system_message": None}
    if rest:
        changes["custom_instructions"] = rest
    try:
        text = yaml_file.change_text(text, changes, path)
    except ProfileError:
        return text, done
    added = "; the text after it is now custom_instructions" if rest else ""
    return text, [*done, f"system_message was the one of an older version and is left out{added}"]


def _find_added_to_old_system_message(message: str) -> str | None:
    """Return what follows a system message of an older version; None if it does not begin with one."""
    import hashlib  # loads a library for cryptography, which a start seldom needs

    places = [place for place, letter in enumerate(message) if letter.isalnum()]
    letters = "".join(message[place] for place in places).lower()
    for length, digest in _OLD_SYSTEM_MESSAGES:
        if hashlib.sha256(letters[:length].encode()).hexdigest()[:32] == digest:
            return message[places[length - 1] + 1 :].removeprefix(".").strip()
    return None


def save_backup(path: Path, text: str) -> Path:
    """Save the old text beside the file, under a name that is not taken. Raises OSError."""
    for number in itertools.count(1):
        copy = path.with_name(f"{path.name}.bak" + ("" if number == 1 else str(number)))
        if not os.path.lexists(copy):
            replace_file(copy, text)
            return copy
    raise AssertionError("there is always another number")
