"""The languages of the Python API: `interpreter.computer`, as in Open Interpreter."""

import sys
import warnings
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

from oi_tui import computer_api
from oi_tui.api.finalizers import end_streams_left_meanwhile, finalize
from oi_tui.api.language_names import find_original, respell
from oi_tui.api.model import ApiModel
from oi_tui.api.notebook import NotebookDisplay
from oi_tui.api.replaced import ReplacedComputer
from oi_tui.api.script_computer import ATTRIBUTES, ScriptComputer
from oi_tui.api.settings import ApiSettings, SettingGroup
from oi_tui.api.terminal import InputAnswerer
from oi_tui.computer.terminal import install_package
from oi_tui.custom_languages import CustomLanguages
from oi_tui.engine.open_interpreter.chunks import Chunk, ChunkWriter, merge_chunks
from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.messages import (
    Displayed,
    InputRequested,
    LineReached,
    Printed,
    Report,
    RunEnded,
    Started,
    Starting,
)
from oi_tui.runtimes.computer import Computer
from oi_tui.runtimes.custom.language import make_language
from oi_tui.runtimes.language import Choices, Language
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.runtimes.sandbox.confinement import SandboxRules
from oi_tui.runtimes.targets import TargetOptions
from oi_tui.services.sandbox_limits import read_limits
from oi_tui.system.environment import list_withheld, wipe_environment
from oi_tui.system.forks import call_in_forked_child

#: What a run returns that printed and showed nothing, as in Open Interpreter.
_SILENT: Chunk = {"role": "computer", "type": "console", "format": "output", "content": ""}


class ApiComputer(SettingGroup):
    """Runs code without a model.

    `languages` is a list that you may change or replace at any time. It holds languages of oi-tui, their
    names, and classes with `name`, `run` (a generator of chunks), `stop` and `terminate`, as Open Interpreter
    documents them. Of two with the same name the later one is used.

    `mouse`, `keyboard`, `files`, `ai` and the other parts of the computer object do for a script what they
    do in cells (`import_computer_api`). Nothing is asked: the script decides itself.
    """

    if TYPE_CHECKING:
        from oi_tui.computer.ai import Ai
        from oi_tui.computer.browser import Browser
        from oi_tui.computer.desktop.clipboard import Clipboard
        from oi_tui.computer.desktop.display import Display
        from oi_tui.computer.desktop.keyboard import Keyboard
        from oi_tui.computer.desktop.mouse import Mouse
        from oi_tui.computer.desktop.system import Os
        from oi_tui.computer.docs import Docs
        from oi_tui.computer.files import Files
        from oi_tui.computer.personal.calendars import Calendar
        from oi_tui.computer.personal.contacts import Contacts
        from oi_tui.computer.personal.mail import Mail
        from oi_tui.computer.personal.sms import SMS
        from oi_tui.computer.skills import Skills
        from oi_tui.computer.vision import Vision

        ai: Ai
        browser: Browser
        calendar: Calendar
        clipboard: Clipboard
        contacts: Contacts
        display: Display
        docs: Docs
        files: Files
        keyboard: Keyboard
        mail: Mail
        mouse: Mouse
        os: Os
        skills: Skills
        sms: SMS
        vision: Vision
        emit_images: bool
        import_computer_api: bool

    _oi_title = "interpreter.computer"
    _oi_prefix = "computer."
    _oi_fixed: ClassVar[frozenset[str]] = ATTRIBUTES

    def __init__(self, settings: ApiSettings, model: ApiModel) -> None:
        self._oi_settings = settings
        self._model = model
        #: The runs that somebody reads, or has left.
        self._streams = weakref.WeakSet[Generator[Chunk, None, None]]()
        self._stop_turn: Callable[[], Callable[[], None] | None] = _find_no_turn
        self._script: ScriptComputer | None = None
        #: Gives cells the object `computer`, where the settings want that.
        self._cells: computer_api.ComputerApi | None = None
        #: Languages by the id of those that were given the object, which are kept beside them.
        self._with_object: dict[int, tuple[Language, Language]] = {}
        self._runtimes: Computer | None = None
        self._earlier = EarlierCode()
        #: The languages that there are without classes of the script.
        self._known = there = (*LANGUAGES, *self._own_languages())
        self._languages: list[Any] = [respell(language) for language in there]
        if names := settings.profile.languages:
            selected_names = {_find_language(name, there).name for name in names}
            self._languages = [respell(language) for language in there if language.name in selected_names]
            # From here on it is the list that may be changed.
            settings.change(languages=())
        call_in_forked_child(self._forget_processes)

    def _own_languages(self) -> tuple[Language, ...]:
        """Return the languages that the profile declares in files; a problem with one is a warning."""
        profile = self._oi_settings.profile
        if not profile.custom_languages:
            return ()
        languages = CustomLanguages(
            profile.custom_languages,
            Choices(profile.python or sys.executable or None, profile.shell),
            self._oi_settings.folder,
            may_ask=not profile.sandbox,
        )
        for problem in languages.problems:
            warnings.warn(f"computer.custom_languages: {problem}", stacklevel=4)
        return languages.languages

    @property
    def runtimes(self) -> Computer:
        """The runtimes of the languages. They are created at first use, with the settings of that moment."""
        if self._runtimes is None:
            profile = self._oi_settings.profile
            wipe_environment()
            self._runtimes = Computer(
                # What is installed beside the script can be imported.
                python=profile.python or sys.executable or None,
                shell=profile.shell,
                hidden=() if profile.share_keys else list_withheld(profile.pass_environment),
                active_line=profile.highlight_active_line,
                declared=self._declare_languages(LANGUAGES),
                startup=profile.startup,
                target=profile.target,
                target_options=TargetOptions(share_keys=profile.share_keys),
                sandbox=profile.sandbox,
                sandbox_rules=SandboxRules(
                    writable=profile.sandbox_writable,
                    hosts=profile.sandbox_hosts,
                    limits=read_limits(profile),
                ),
                passed=profile.pass_environment,
            )
            self._oi_settings.start()
            self._use_startup(self._runtimes)
            finalize(self, partial(_close, self._runtimes, self._cells))
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
    def in_turns(self) -> "Computer | ReplacedComputer":
        """Runs the code of a turn: the runtimes, or the function with which a script replaced `run`."""
        is_own = getattr(self.run, "__func__", None) is _RUN
        return self.runtimes if is_own else ReplacedComputer(self.runtimes, self.run)

    @property
    def terminal(self) -> "ApiComputer":
        """The same object, for code that was written for Open Interpreter."""
        return self

    def declare(self) -> None:
        """Apply a change of `languages` now, not at the next run. Raises TypeError if one is invalid.

        Languages start in the folder in which the script is by then.
        """
        if self._runtimes and _has_moved(self._runtimes):
            self.close()
        runtimes = self._runtimes
        languages = self._declare_languages(runtimes.declared if runtimes else LANGUAGES)
        if runtimes and languages != runtimes.declared:
            runtimes.declare(languages)
        if runtimes and runtimes.sandbox != self._oi_settings.profile.sandbox:
            runtimes.use_sandbox(self._oi_settings.profile.sandbox, ())

    def _declare_languages(self, before: Iterable[Language]) -> tuple[Language, ...]:
        languages_by_id = {id(item.source): item for item in before if item.source is not None}
        return tuple(
            languages_by_id.get(id(language))
            or self._add_object(make_language(self._find_original(language), self))
            for language in self._languages
        )

    def _find_original(self, language: Any) -> Any:
        """Return the language that an entry of `languages` means. Raises TypeError."""
        return find_original(_find_language(language, self._known), self._known)

    def _add_object(self, language: Language) -> Language:
        """Return the language, with the object `computer` if it is Python and the settings want that."""
        profile = self._oi_settings.profile
        if language.name != "python" or language.source is not None or not computer_api.is_wanted(profile):
            return language
        if self._cells is None:
            settings, model, stop_turn = self._oi_settings, self._model, self._stop_turn

            def stop() -> None:
                if act := stop_turn():
                    act()

            self._cells = computer_api.ComputerApi(
                model.ask,
                stop,
                takes_images=lambda: model.takes_images,
                os_mode=profile.os,
                # A script has nobody who could be asked meanwhile.
                allows_unmasked=lambda _: settings.profile.unmasked_screen,
            )
        if id(language) not in self._with_object:
            [extended] = self._cells.add_to([language])
            self._with_object[id(language)] = language, extended
        return self._with_object[id(language)][1]

    def _oi_read_attribute(self, name: str) -> Any:
        """Return the value of an attribute, or a part of the computer object."""
        if name not in ATTRIBUTES:
            return super()._oi_read_attribute(name)
        if self._script is None:
            self._script = ScriptComputer(self._model)
        return getattr(self._script, name)

    def __repr__(self) -> str:
        names = ", ".join(str(getattr(item, "name", item)) for item in self._languages)
        return f"<{self._oi_title} languages: {names}>"

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *ATTRIBUTES})

    def stop_with(self, stop: Callable[[], None]) -> None:
        """Call this method of another object when the person takes mouse and keyboard back."""
        # The other one knows this object; a cycle would keep both alive.
        self._stop_turn = weakref.WeakMethod(stop)

    def exec(self, code: str) -> list[Chunk]:
        """Run a shell command."""
        return self.run("shell", code)

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

        With `stream`, return an iterator of chunks, otherwise the messages at the end, one at least. With
        `display`, print them as well. Raises ValueError for a language that is not available, and when the
        sandbox lets nothing run.
        """
        self.declare()
        name = self.runtimes.resolve(language)
        if name is None:
            choices = ", ".join(self.runtimes.languages)
            raise ValueError(f"Unknown language {language!r}. Languages: {choices}.")
        if missing := self.runtimes.explain_missing(name):
            raise ValueError(missing)
        chunks = self._run(name, code, display=display)
        self._streams.add(chunks)
        return chunks if stream else merge_chunks(chunks) or [dict(_SILENT)]

    def get_language(self, language: str) -> Any:
        """Return the language with this name or alias, or None.

        >>> from oi_tui import OpenInterpreter
        >>> OpenInterpreter().computer.terminal.get_language("py").name
        'Python'
        """
        word = language.strip().lower()
        for item in reversed(self._languages):
            candidate = _find_language(item, self._known)
            if word in (name.lower() for name in (candidate.name, *getattr(candidate, "aliases", ()))):
                return candidate
        return None

    def sudo_install(self, package: str) -> bool:
        """Install a package of the operating system with its package manager; True when that worked.

        Where sudo needs a password, it asks for it in the terminal.
        """
        return install_package(package, may_ask=True)

    def close(self) -> None:
        """End all interpreters. The next run starts new ones."""
        runtimes, self._runtimes = self._runtimes, None
        cells, self._cells = self._cells, None
        self._with_object.clear()
        _close(runtimes, cells)
        self._earlier.forget()

    def stop(self) -> None:
        """Interrupt the current run; variables are kept."""
        self.runtimes.interrupt()

    def terminate(self) -> None:
        """End all interpreters; their variables are lost."""
        runtimes = self.runtimes
        runtimes.reset()
        self._earlier.forget()
        self._use_startup(runtimes)

    def _use_startup(self, runtimes: Computer) -> None:
        """Tell the review what runs first in the languages, on each target."""
        codes = [(runtimes.resolve(name) or name, code) for name, code in self._oi_settings.profile.startup]
        self._earlier.use_startup(codes, runtimes.cwd)

    def _forget_processes(self) -> None:
        """Leave the languages to the process that this one was forked from."""
        self._runtimes = self._cells = self._script = None
        self._streams = weakref.WeakSet()
        self._with_object, self._earlier = {}, EarlierCode()
        self._oi_settings.start_anew()

    def _note_review(self, language: str, code: str) -> None:
        """Tell the review what code changes in the languages."""
        runtimes = self.runtimes
        self._earlier.add(runtimes.resolve(language) or language, code, runtimes.cwd)

    def _run(self, language: str, code: str, *, display: bool) -> Generator[Chunk, None, None]:
        self._note_review(language, code)
        writer = ChunkWriter()
        program_input = InputAnswerer(self.runtimes.send_input, self._oi_settings.on_input)
        screen = NotebookDisplay()
        starting = False
        with closing(self.runtimes.run(language, code)) as reports:
            # Where the stream of a run before is left, this one would wait for the end of its code.
            with end_streams_left_meanwhile(self._streams):
                first = list(islice(reports, 1))
            for report in chain(first, reports):
                if isinstance(report, Starting | Started):
                    starting = isinstance(report, Starting)
                for chunk in _read_chunks(report, writer, program_input, starting=starting):
                    if display:
                        screen.show(chunk)
                    yield chunk


_RUN = ApiComputer.run


def _find_no_turn() -> None:
    return None


def _has_moved(runtimes: Computer) -> bool:
    """Return whether the script changed the current folder while no language was running."""
    try:
        if Path.cwd() == runtimes.cwd:
            return False
    except FileNotFoundError:
        # The current folder was deleted.
        return False
    return not runtimes.where and not runtimes.is_at_work


def _close(runtimes: Computer | None, cells: computer_api.ComputerApi | None) -> None:
    if runtimes:
        runtimes.close()
    if cells:
        cells.close()


def _find_language(language: Any, there: Sequence[Language]) -> Any:
    """Return the language that a name means; anything else unchanged. Raises TypeError."""
    if not isinstance(language, str):
        return language
    word = language.strip().lower()
    for item in reversed(there):
        if word == item.name or word in item.aliases:
            return item
    choices = ", ".join(item.name for item in there)
    raise TypeError(f"computer.languages: unknown language {language!r}; languages: {choices}")


def _read_chunks(
    report: Report, writer: ChunkWriter, program_input: InputAnswerer, *, starting: bool
) -> Iterator[Chunk]:
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
            if reason and (state in ("lost", "finished") or starting):
                yield from writer.piece("computer", "console", "output", f"{reason}\n")
            yield from writer.end_of_run(state)
