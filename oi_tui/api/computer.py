"""The languages of the Python API: `interpreter.computer`, as in Open Interpreter."""

import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any, ClassVar, Literal, overload

from oi_tui.api.finalizers import finalize
from oi_tui.api.notebook import display as show
from oi_tui.api.settings import ApiSettings, SettingGroup
from oi_tui.api.terminal import ProgramInput
from oi_tui.custom_languages import CustomLanguages
from oi_tui.engine.open_interpreter.chunks import Chunk, ChunkWriter, gathered
from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.environment import held_back, wipe_environment
from oi_tui.messages import Displayed, InputRequested, LineReached, Printed, Report, RunEnded
from oi_tui.runtimes.computer import Computer
from oi_tui.runtimes.custom.language import language_of
from oi_tui.runtimes.language import Choices, Language
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.runtimes.sandbox.limits import Limits


class ApiComputer(SettingGroup):
    """Runs code without a model.

    `languages` is a list that you may change or replace at any time. It holds languages of oi-tui, their
    names, and classes with `name`, `run` (a generator of chunks), `stop` and `terminate`, as Open Interpreter
    documents them. Of two with the same name the later one is used.
    """

    _title = "interpreter.computer"
    _prefix = "computer."
    _own: ClassVar[frozenset[str]] = frozenset({"_settings", "_languages", "_runtimes", "_earlier"})

    def __init__(self, settings: ApiSettings) -> None:
        self._settings = settings
        self._runtimes: Computer | None = None
        self._earlier = EarlierCode()
        there = [*LANGUAGES, *self._own_languages()]
        self._languages: list[Any] = there
        if names := settings.profile.languages:
            wanted = {_find_language(name, there).name for name in names}
            self._languages = [language for language in there if language.name in wanted]
            # From here on it is the list that may be changed.
            settings.profile = settings.profile.with_changes(languages=())

    def _own_languages(self) -> tuple[Language, ...]:
        """The languages that the profile declares in files; a problem with one is a warning."""
        profile = self._settings.profile
        if not profile.custom_languages:
            return ()
        found = CustomLanguages(
            profile.custom_languages,
            Choices(profile.python or sys.executable or None, profile.shell),
            self._settings.folder,
            may_ask=not profile.sandbox,
        )
        for problem in found.problems:
            warnings.warn(problem, stacklevel=4)
        return found.languages

    @property
    def runtimes(self) -> Computer:
        """The runtimes of the languages. They are created at first use, with the settings of that moment."""
        if self._runtimes is None:
            profile = self._settings.profile
            wipe_environment()
            self._runtimes = Computer(
                # What is installed beside the script can be imported.
                python=profile.python or sys.executable or None,
                shell=profile.shell,
                hidden=() if profile.share_keys else held_back(profile.pass_environment),
                active_line=profile.highlight_active_line,
                declared=self._declare_languages(LANGUAGES),
                startup=profile.startup,
                target=profile.target,
                share_keys=profile.share_keys,
                sandbox=profile.sandbox,
                passed=profile.pass_environment,
                writable=profile.sandbox_writable,
                hosts=profile.sandbox_hosts,
                limits=Limits(
                    profile.sandbox_memory,
                    profile.sandbox_processes,
                    profile.sandbox_disk,
                    profile.sandbox_time,
                ),
            )
            self._settings.start()
            for language, code in profile.startup:
                self._note(language, code)
            finalize(self, self._runtimes.close)
        return self._runtimes

    @property
    def earlier(self) -> EarlierCode:
        """What the languages keep from code that ran, by whichever call."""
        return self._earlier

    @property
    def languages(self) -> list[Any]:
        """The languages that may run. Each has a `name`."""
        return self._languages

    @languages.setter
    def languages(self, languages: Iterable[Any]) -> None:
        if isinstance(languages, str):
            raise TypeError(f"computer.languages is a list, such as [{languages!r}]")
        before, self._languages = self._languages, list(languages)
        try:
            self.declare()
        except TypeError:
            self._languages = before
            raise

    @property
    def terminal(self) -> "ApiComputer":
        """The same object, for code that was written for Open Interpreter."""
        return self

    def declare(self) -> None:
        """Apply a change of `languages` now, not at the next run. Raises TypeError if one is invalid."""
        runtimes = self._runtimes
        wanted = self._declare_languages(runtimes.declared if runtimes else LANGUAGES)
        if runtimes and wanted != runtimes.declared:
            runtimes.declare(wanted)
        if runtimes and runtimes.sandbox != self._settings.profile.sandbox:
            runtimes.use_sandbox(self._settings.profile.sandbox, ())

    def _declare_languages(self, before: Iterable[Language]) -> tuple[Language, ...]:
        known = {id(item.source): item for item in before if item.source is not None}
        return tuple(
            known.get(id(language)) or language_of(_find_language(language), self)
            for language in self._languages
        )

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
        """Run code, and keep its variables for the next run.

        With `stream`, return an iterator of chunks, otherwise the messages at the end. With `display`, print
        them as well. Raises ValueError for a language that is not available, and when the sandbox lets
        nothing run.
        """
        self.declare()
        name = self.runtimes.resolve(language)
        if name is None:
            known = ", ".join(self.runtimes.languages)
            raise ValueError(f"Unknown language {language!r}. Languages: {known}.")
        if missing := self.runtimes.missing(name):
            raise ValueError(missing)
        chunks = self._run(name, code, display=display)
        return chunks if stream else gathered(chunks)

    def close(self) -> None:
        """End all interpreters. The next run starts new ones."""
        runtimes, self._runtimes = self._runtimes, None
        if runtimes:
            runtimes.close()
        self._earlier.forget()

    def stop(self) -> None:
        """Interrupt the current run; variables are kept."""
        self.runtimes.interrupt()

    def terminate(self) -> None:
        """End all interpreters; their variables are lost."""
        self.runtimes.reset()
        self._earlier.forget()
        for language, code in self._settings.profile.startup:
            self._note(language, code)

    def _note(self, language: str, code: str) -> None:
        """Have the review know what code changes in the languages."""
        runtimes = self.runtimes
        self._earlier.note(runtimes.resolve(language) or language, code, runtimes.cwd)

    def _run(self, language: str, code: str, *, display: bool) -> Iterator[Chunk]:
        self._note(language, code)
        writer = ChunkWriter()
        program_input = ProgramInput(self.runtimes.send_input, self._settings.on_input)
        with closing(self.runtimes.run(language, code)) as reports:
            for report in reports:
                for chunk in _chunks_of(report, writer, program_input):
                    if display:
                        show(chunk)
                    yield chunk


def _find_language(language: Any, there: Sequence[Language] = LANGUAGES) -> Any:
    """Return the language that a name means; anything else as it is. Raises TypeError."""
    if not isinstance(language, str):
        return language
    word = language.strip().lower()
    for item in reversed(there):
        if word == item.name or word in item.aliases:
            return item
    known = ", ".join(item.name for item in there)
    raise TypeError(f"computer.languages: unknown language {language!r}; languages: {known}")


def _chunks_of(report: Report, writer: ChunkWriter, program_input: ProgramInput) -> Iterator[Chunk]:
    match report:
        case Printed(text):
            yield from writer.output(text)
        case InputRequested():
            if notice := program_input.answer(report):
                yield from writer.notice(notice)
        case LineReached(int() as line):
            yield from writer.piece("computer", "console", "active_line", line)
        case Displayed(format, content):
            kind = "image" if format.startswith("base64") else "code"
            yield from writer.piece("computer", kind, format, content)
        case RunEnded(state, _, reason):
            if state in ("lost", "finished") and reason:
                yield from writer.piece("computer", "console", "output", f"{reason}\n")
            yield from writer.piece("computer", "console", "active_line", None)
            yield from writer.end(state=state)
