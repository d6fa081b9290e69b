"""Which languages there are, where their programs are, and why one cannot run."""

import re
from collections.abc import Callable, Sequence

from oi_tui.runtimes.availability import Availability
from oi_tui.runtimes.installing import explain_how_to_get
from oi_tui.runtimes.language import Language
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.runtimes.pty_runtime import PtyRuntime
from oi_tui.runtimes.sandbox.confinement import Confinement
from oi_tui.runtimes.sandbox.readable_paths import is_in
from oi_tui.runtimes.sandbox.sandbox import Sandbox
from oi_tui.runtimes.targets import RuntimeOptions, Targets

_ONE_OF = "Use %sandbox off or %target local."


class LanguageCatalog:
    """The languages that can run on the current target, and in the sandbox where it is on.

    `declared` is every language of this machine, whether or not its program is installed. `unlisted` gives
    languages that run on this machine but are not offered: the tools of other programs.
    """

    def __init__(
        self,
        declared: Sequence[Language],
        unlisted: Callable[[], Sequence[Language]],
        options: RuntimeOptions,
        targets: Targets,
        confinement: Confinement,
    ) -> None:
        self.declared = tuple(declared)
        self._unlisted = unlisted
        self._options = options
        self._targets = targets
        self._confinement = confinement

    @property
    def offered(self) -> tuple[Language, ...]:
        """The languages of the current target. Custom languages are for this machine only."""
        remote = self._targets.remote
        return tuple(remote.languages) if remote else self.declared

    @property
    def available(self) -> tuple[str, ...]:
        """The names of the languages that can run, in the sandbox where it is on."""
        confined = self._confinement.enabled
        languages = (language for language in self.offered if not (confined and language.outside))
        return tuple(dict.fromkeys(language.name for language in languages if self.find_program(language)))

    @property
    def replaced(self) -> frozenset[str]:
        """The names of the languages that are custom code: what runs their cells is not known."""
        return frozenset(
            language.name for language in self.offered if language not in LANGUAGES and not language.extended
        )

    def resolve(self, name: str) -> str | None:
        """Return the language that is meant by a name, an alias or an odd spelling.

        None when it is unknown.
        """
        word = re.sub(r"[\s{].*", "", name.strip().lstrip(".").lower(), flags=re.DOTALL)
        # Custom languages are the last ones, and may replace built-in ones.
        for language in reversed(self.offered):
            if word == language.name or word in language.aliases:
                return language.part_of if self._is_same_program(language) else language.name
        return word if any(word == language.name for language in self._unlisted()) else None

    def _is_same_program(self, language: Language) -> bool:
        """Return whether it is part of another language, which has the same program here."""
        whole = self._find_named(language.part_of) if language.part_of else None
        program = self.find_program(whole) if whole else None
        return program is not None and program == self.find_program(language)

    def find(self, name: str) -> Language | None:
        """Return the language that is meant by a name, an alias or an odd spelling.

        None when it is unknown.
        """
        return self._find_named(self.resolve(name) or name)

    def _find_named(self, name: str) -> Language | None:
        languages = (*reversed(self.offered), *self._unlisted())
        return next((language for language in languages if language.name == name), None)

    def is_unlisted(self, language: Language) -> bool:
        """Return whether it runs on this machine for every target."""
        return any(entry is language for entry in self._unlisted())

    def find_program(self, language: Language) -> str | None:
        """Return the path of the language's program; None where it is missing."""
        state = self._targets.current
        if state.remote and not self.is_unlisted(language):
            return state.remote.find_program(language.name)
        if language.host:
            host = self.host(language)
            # Only a built-in host knows how to run guests.
            built_in = host is not None and host.runtime is None and (host in LANGUAGES or host.extended)
            return self.find_program(host) if built_in and host else None
        # A missing program may be installed later, so it is looked for every time.
        path = state.programs.get(language.name) or language.find(self._options.choices)
        state.programs[language.name] = path
        return path

    def host(self, language: Language) -> Language | None:
        """Return the language in whose process this one runs."""
        return self._find_named(language.host)

    def explain_missing(self, name: str) -> str | None:
        """Return why a known language cannot run, and how to install it; None when it can."""
        language = self.find(name)
        if language is None:
            return None
        if self.find_program(language):
            return self.explain_refusal(language)
        if self._targets.remote:
            return self._explain_not_there(language, self._targets.remote.title)
        setting = language.setting
        if setting and (program := getattr(self._options.choices, setting)):
            return (
                f"{language.title} is not available: the program {program} was not found; change the "
                f"setting {setting}."
            )
        if language.name in self.replaced:
            return language.hint
        return f"{language.title} is not installed. {explain_how_to_get(language)}"

    def _explain_not_there(self, language: Language, title: str) -> str:
        if language.host:
            word = f"%%{language.name}"
            return f"{language.title} runs on your own machine only; Python cells there can use {word}."
        if language.outside:
            return f"{language.title} runs on your own machine only, because {language.outside}."
        return f"{language.title} was not found on {title}."

    def describe(self, name: str) -> str:
        """Return the language's program, as `Python 3.11.7 (.venv)`; how to get it where it is missing."""
        language = self.find(name)
        if language is None:
            return f"{name} is not available"
        program = self.find_program(language)
        if program is None:
            return self.explain_missing(language.name) or ""
        if self._targets.remote and not self.is_unlisted(language):
            return self._targets.remote.describe(language)
        if refusal := self.explain_refusal(language):
            return refusal
        # A program that code in the sandbox could have changed is not run outside to ask for its version.
        unsure = self._confinement.enabled and is_in(program, self._options.cwd)
        words = f"{language.title} ({program})" if unsure else language.describe(program)
        database = self.find_database(language.name)
        return f"{words}: {database}" if database else words

    def find_database(self, name: str) -> str:
        """Return the database that code of the language would use, in words; "" for a language
        without one.
        """
        language = self.find(name)
        if language is None or not language.host:
            return ""
        with self._targets.lock:
            runtime = self._targets.current.runtimes.get(language.host)
        return (runtime.database if isinstance(runtime, PtyRuntime) else "") or "a database in memory"

    def check_availability(self) -> tuple[Availability, ...]:
        """Return the availability of every language, but for those that a custom one replaces.

        Asks each program for its version, which takes a moment.
        """
        return tuple(
            Availability(
                language.name,
                self.describe(language.name),
                None if self.explain_missing(language.name) else self.find_program(language),
                bool(language.active_line),
            )
            for language in self.offered
            if self.find(language.name) is language
        )

    def explain_refusal(self, language: Language | None = None) -> str | None:
        """Return why the sandbox does not let the language run, or any; None when it does, or is off."""
        if self._confinement.enabled and self._targets.remote:
            where = self._targets.where
            return f"The sandbox is on, but does not work for programs {where}, so nothing runs. {_ONE_OF}"
        sandbox = self.sandbox()
        if sandbox is None:
            return None
        if language and language.outside:
            return (
                f"The sandbox is on, so nothing runs in {language.title}, because {language.outside}. "
                "Turn the sandbox off to use it."
            )
        return sandbox.find_problem()

    def sandbox(self) -> Sandbox | None:
        """Return the sandbox with every program of this machine in it; None where it is off."""
        if not self._confinement.enabled:
            return None
        return self._confinement.sandbox(tuple(filter(None, map(self.find_program, self.declared))))
