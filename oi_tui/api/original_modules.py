"""Names that scripts import from the modules inside of Open Interpreter, by those modules."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from oi_tui import paths
from oi_tui.api.computer import ApiComputer
from oi_tui.api.interpreter import OpenInterpreter
from oi_tui.api.llm_settings import LlmSettings
from oi_tui.engine.models import llamafile
from oi_tui.engine.settings.profile import Profile


class BaseLanguage:
    """What a language class may begin with. `run` yields chunks, such as console output.

    >>> class Shout(BaseLanguage):
    ...     name = "shout"
    ...     def run(self, code):
    ...         yield {"type": "console", "format": "output", "content": code.upper()}
    >>> next(Shout().run("hello"))["content"]
    'HELLO'
    """

    name: ClassVar[str] = "base"
    file_extension: ClassVar[str] = "txt"
    aliases: ClassVar[list[str]] = []

    def run(self, code: str) -> Any:
        """Run code, and yield chunks."""
        raise NotImplementedError(f"{type(self).__name__} needs a method run(self, code)")

    def stop(self) -> None:
        """Interrupt the run; a language that can be interrupted replaces this."""

    def terminate(self) -> None:
        """End the language; one that holds a process replaces this."""


def get_storage_path(subdirectory: str | None = None) -> str:
    """Return the folder for what a person keeps, or for one kind of it, such as "conversations".

    >>> get_storage_path("conversations") == str(paths.conversations())
    True
    """
    places: dict[str | None, Callable[[], Path]] = {
        None: paths.config,
        "conversations": paths.conversations,
        "models": llamafile.folder,
        "profiles": paths.profiles,
    }
    place = places.get(subdirectory)
    return str(place() if place else paths.config() / str(subdirectory))


def display_markdown_message(message: str) -> None:
    """Print a text to the person.

    >>> display_markdown_message("> Ready")
    > Ready
    """
    print(message)  # noqa: T201 -- it is what the function is for


def profile(interpreter: OpenInterpreter, filename_or_url: str) -> OpenInterpreter:
    """Apply a profile to an interpreter, and return that."""
    interpreter.extend_config(filename_or_url)
    return interpreter


_UTILS = "interpreter.terminal_interface.utils"
NAMES: dict[str, dict[str, object]] = {
    "interpreter.core.core": {"OpenInterpreter": OpenInterpreter, "Interpreter": OpenInterpreter},
    "interpreter.core.async_core": {"AsyncInterpreter": OpenInterpreter},
    "interpreter.core.computer.computer": {"Computer": ApiComputer},
    "interpreter.core.computer.terminal.base_language": {"BaseLanguage": BaseLanguage},
    "interpreter.core.default_system_message": {"default_system_message": Profile().system_message},
    "interpreter.core.llm.llm": {"Llm": LlmSettings},
    "interpreter.terminal_interface.profiles.profiles": {"profile": profile},
    f"{_UTILS}.display_markdown_message": {"display_markdown_message": display_markdown_message},
    f"{_UTILS}.local_storage_path": {"get_storage_path": get_storage_path},
}
