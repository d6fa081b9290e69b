"""The languages of the Python API, as the original's `computer` has them."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any, Literal, overload

from oi_tui.api_chunks import Chunk, ChunkWriter, gathered
from oi_tui.api_chunks import display as show
from oi_tui.engine.profile import Profile
from oi_tui.lmc import Displayed, LineReached, Printed, Report, RunEnded
from oi_tui.privacy import held_back, wipe_environment
from oi_tui.runtimes.class_language import language_of
from oi_tui.runtimes.computer import Computer
from oi_tui.runtimes.limits import Limits


class ApiComputer:
    """The languages: `run` them without any model.

    `languages` is a list that may be changed or replaced at any time. Beside our own languages it takes
    classes with `name`, `run` (a generator of chunks), `stop` and `terminate`, as Open Interpreter documents
    them; the later one of two with the same name counts.
    """

    def __init__(self, profile: Profile | None = None) -> None:
        profile = profile or Profile()
        wipe_environment()
        self.runtimes = Computer(
            python=profile.python,
            shell=profile.shell,
            hidden=() if profile.share_keys else held_back(profile.pass_environment),
            active_line=profile.highlight_active_line,
            sandbox=profile.sandbox,
            passed=profile.pass_environment,
            writable=profile.sandbox_writable,
            limits=Limits(
                profile.sandbox_memory,
                profile.sandbox_processes,
                profile.sandbox_disk,
                profile.sandbox_time,
            ),
        )
        self._languages: list[Any] = list(self.runtimes.declared)

    @property
    def languages(self) -> list[Any]:
        """What may run, each with its `name`."""
        return self._languages

    @languages.setter
    def languages(self, languages: Iterable[Any]) -> None:
        self._languages = list(languages)
        self.declare()

    @property
    def terminal(self) -> "ApiComputer":
        """Where the original kept its languages."""
        return self

    def declare(self) -> None:
        """Let what is in `languages` run from now on. Raises TypeError for what is no language."""
        known = {id(each.source): each for each in self.runtimes.declared if each.source is not None}
        wanted = tuple(known.get(id(each)) or language_of(each, self) for each in self._languages)
        if wanted != self.runtimes.declared:
            self.runtimes.declare(wanted)

    @overload
    def run(
        self, language: str, code: str, stream: Literal[True], display: bool = False
    ) -> Iterator[Chunk]: ...
    @overload
    def run(
        self, language: str, code: str, stream: Literal[False] = False, display: bool = False
    ) -> list[Chunk]: ...
    def run(
        self, language: str, code: str, stream: bool = False, display: bool = False
    ) -> Iterator[Chunk] | list[Chunk]:
        """Run code in a language that remembers; its chunks as they come, or its messages at the end.

        With `display` what comes is printed too. Raises ValueError for a language that is not here, and where
        the sandbox lets nothing run.
        """
        self.declare()
        name = self.runtimes.resolve(language)
        if name is None:
            known = ", ".join(self.runtimes.languages)
            raise ValueError(f"There is no language {language!r} here. There are: {known}.")
        if missing := self.runtimes.missing(name):
            raise ValueError(missing)
        chunks = self._run(name, code, display=display)
        return chunks if stream else gathered(chunks)

    def stop(self) -> None:
        """Interrupt what runs."""
        self.runtimes.interrupt()

    def terminate(self) -> None:
        """End all languages; what they remembered is gone."""
        self.runtimes.reset()

    def _run(self, language: str, code: str, *, display: bool) -> Iterator[Chunk]:
        writer = ChunkWriter()
        with closing(self.runtimes.run(language, code)) as reports:
            for report in reports:
                for chunk in _chunks_of(report, writer):
                    if display:
                        show(chunk)
                    yield chunk


def _chunks_of(report: Report, writer: "ChunkWriter") -> Iterator[Chunk]:
    match report:
        case Printed(text):
            yield from writer.piece("computer", "console", "output", text)
        case LineReached(int() as line):
            yield from writer.piece("computer", "console", "active_line", line)
        case Displayed(format, content):
            kind = "image" if format.startswith("base64") else "code"
            yield from writer.piece("computer", kind, format, content)
        case RunEnded(state, _, reason):
            if state in ("lost", "finished") and reason:
                yield from writer.piece("computer", "console", "output", f"{reason}\n")
            yield from writer.piece("computer", "console", "active_line", None)
            yield from writer.end()
