"""Languages as classes, which scripts list in `computer.languages` or begin their own with."""

from collections.abc import Iterator
from typing import Any, ClassVar

from oi_tui.api.computer import ApiComputer
from oi_tui.api.finalizers import finalize
from oi_tui.api.interpreter import OpenInterpreter
from oi_tui.api.language_names import respell
from oi_tui.engine.open_interpreter.chunks import Chunk
from oi_tui.engine.settings.profile import Profile
from oi_tui.runtimes.languages import LANGUAGES

#: The languages of Open Interpreter 0.4.3: the class, the module in which it is, and the ending of its files.
_CLASSES = {
    "AppleScript": ("applescript", "applescript"),
    "HTML": ("html", "html"),
    "Java": ("java", "java"),
    "JavaScript": ("javascript", "js"),
    "PowerShell": ("powershell", "ps1"),
    "Python": ("python", "py"),
    "R": ("r", "r"),
    "React": ("react", "html"),
    "Ruby": ("ruby", "rb"),
    "Shell": ("shell", "sh"),
}


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


class BuiltInLanguage(BaseLanguage):
    """A language of oi-tui as a class. Each object runs code in its own process.

    `built_in` is the name of the language. The class itself in `computer.languages` is the language; a class
    that begins with it is one of the script's own.
    """

    built_in: ClassVar[str]

    def __init__(self, computer: ApiComputer | None = None) -> None:
        profile = computer._oi_settings.profile if computer else Profile()
        self._interpreter = OpenInterpreter(profile.with_changes(languages=(), conversation_history=False))
        finalize(self, self._interpreter.close)

    def run(self, code: str) -> Iterator[Chunk]:
        """Run code, and yield what it prints and shows."""
        for chunk in self._interpreter.computer.run(self.built_in, code, stream=True):
            if "content" in chunk:
                yield {name: value for name, value in chunk.items() if name != "role"}

    def stop(self) -> None:
        """Interrupt the run; variables are kept."""
        self._interpreter.computer.stop()

    def terminate(self) -> None:
        """End the process; the next run starts a new one."""
        self._interpreter.computer.close()


def _make(title: str, extension: str) -> type[BuiltInLanguage]:
    language = respell(next(item for item in LANGUAGES if item.title == title))
    names = {
        "__doc__": f"{title}, as a class.",
        "__module__": __name__,
        "built_in": language.name.lower(),
        "name": language.name,
        "file_extension": extension,
        "aliases": list(language.aliases),
    }
    return type(title, (BuiltInLanguage,), names)


#: The classes by the modules of Open Interpreter in which they are.
CLASSES: dict[str, dict[str, object]] = {
    f"interpreter.core.computer.terminal.languages.{module}": {title: _make(title, extension)}
    for title, (module, extension) in _CLASSES.items()
}
