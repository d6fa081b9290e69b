"""Profiles in the manner of older versions of Open Interpreter, brought up to date."""

import itertools
import os
from pathlib import Path

from oi_tui.engine.settings import yaml_file
from oi_tui.engine.settings.setting import ProfileError, Value
from oi_tui.engine.settings.yaml_file import replace_file

#: The settings of the model, which stood at the top before version 0.2.1.
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
    "llm.max_output": "max_output",
    "llm.custom_instructions": "custom_instructions",
    "computer.max_output": "max_output",
    "computer.offline": "offline",
    "computer.verbose": "verbose",
    "computer.debug": "debug",
    "safe_mod": "safe_mode",
}


def brought_up_to_date(text: str, path: object = None) -> tuple[str, list[str]]:
    """The text with old keys in their new places, and what was done, in words; nothing if it is up to date.

    Comments and all else stay. Raises ProfileError when the text cannot be read.
    """
    entries = yaml_file.parse(text, path)
    done = []
    for old, new in MOVED.items():
        entry = entries.get(old)
        if entry is None or new in entries or not isinstance(entry.value, str | int | float | bool):
            continue
        value: Value = entry.value
        try:
            text = yaml_file.changed(text, {old: None, new: value}, path)
        except ProfileError:
            continue
        done.append(f"{old} is now {new}")
    return text, done


def keep(path: Path, text: str) -> Path:
    """Keep the old text beside the file, under a name that is not taken. Raises OSError."""
    for number in itertools.count(1):
        copy = path.with_name(f"{path.name}.bak" + ("" if number == 1 else str(number)))
        if not os.path.lexists(copy):
            replace_file(copy, text)
            return copy
    raise AssertionError("there is always another number")
