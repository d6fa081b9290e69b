"""Names that scripts import from the modules inside of Open Interpreter, by those modules."""

from collections.abc import Callable
from pathlib import Path

from oi_tui import paths
from oi_tui.api.async_interpreter import AsyncInterpreter
from oi_tui.api.computer import ApiComputer
from oi_tui.api.first_version import Interpreter
from oi_tui.api.interpreter import OpenInterpreter
from oi_tui.api.language_classes import CLASSES, BaseLanguage
from oi_tui.api.llm_settings import LlmSettings
from oi_tui.api.token_counts import compute_token_cost, count_messages_tokens, count_tokens
from oi_tui.engine.models import llamafile
from oi_tui.engine.open_interpreter.chunks import print_text
from oi_tui.engine.output.model_output import shorten_for_model
from oi_tui.engine.settings.profile import Profile
from oi_tui.messages import Message


def get_storage_path(subdirectory: str | None = None) -> str:
    """Return the folder for what a person keeps, or for one kind of it, such as "conversations".

    >>> get_storage_path("conversations") == str(paths.conversations())
    True
    """
    places: dict[str | None, Callable[[], Path]] = {
        None: paths.config,
        "conversations": paths.conversations,
        "models": llamafile.find_folder,
        "profiles": paths.profiles,
    }
    place = places.get(subdirectory)
    return str(place() if place else paths.config() / str(subdirectory))


def display_markdown_message(message: str) -> None:
    """Print a text to the person.

    >>> display_markdown_message("> Ready")
    > Ready
    """
    print_text(f"{message}\n")


def apply_profile(interpreter: OpenInterpreter, filename_or_url: str) -> OpenInterpreter:
    """Apply a profile to an interpreter, and return that."""
    interpreter.extend_config(filename_or_url)
    return interpreter


def set_up_local(interpreter: OpenInterpreter) -> OpenInterpreter:
    """Have an interpreter use the first model that a server on this machine has, and return it."""
    interpreter.local_setup()
    return interpreter


def truncate_output(data: str, max_output_chars: int = 2800, add_scrollbars: bool = False) -> str:
    """Return what the model gets of an output; `add_scrollbars` had no effect either.

    >>> truncate_output("short")
    'short'
    """
    del add_scrollbars
    printed = Message(role="computer", type="console", format="output", content=data)
    return shorten_for_model([printed], max_output_chars)


_UTILS = "interpreter.terminal_interface.utils"
NAMES: dict[str, dict[str, object]] = {
    "interpreter.core.core": {"OpenInterpreter": OpenInterpreter, "Interpreter": Interpreter},
    "interpreter.core.async_core": {"AsyncInterpreter": AsyncInterpreter},
    "interpreter.core.computer.computer": {"Computer": ApiComputer},
    "interpreter.core.computer.terminal.base_language": {"BaseLanguage": BaseLanguage},
    "interpreter.core.default_system_message": {"default_system_message": Profile().system_message},
    **CLASSES,
    "interpreter.core.llm.llm": {"Llm": LlmSettings},
    "interpreter.core.utils.truncate_output": {"truncate_output": truncate_output},
    "interpreter.terminal_interface.local_setup": {"local_setup": set_up_local},
    "interpreter.terminal_interface.profiles.profiles": {
        "profile": apply_profile,
        "profile_dir": get_storage_path("profiles"),
    },
    f"{_UTILS}.count_tokens": {
        "count_messages_tokens": count_messages_tokens,
        "count_tokens": count_tokens,
        "token_cost": compute_token_cost,
    },
    f"{_UTILS}.display_markdown_message": {"display_markdown_message": display_markdown_message},
    f"{_UTILS}.local_storage_path": {"get_storage_path": get_storage_path},
    f"{_UTILS}.oi_dir": {"oi_dir": get_storage_path()},
}
