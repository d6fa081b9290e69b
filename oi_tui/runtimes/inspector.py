"""Reads what languages remember: variables, tables, and completions of code."""

from pathlib import Path

from oi_tui.runtimes.comments import is_in_comment
from oi_tui.runtimes.completions import CompletionSet
from oi_tui.runtimes.guest_runtime import GuestRuntime
from oi_tui.runtimes.language import Runtime
from oi_tui.runtimes.language_catalog import LanguageCatalog
from oi_tui.runtimes.pty_runtime import PtyRuntime
from oi_tui.runtimes.tables import LiveTable, TableError
from oi_tui.runtimes.targets import Targets
from oi_tui.runtimes.variables import Detail, Memory, Variable


class Inspector:
    """Reads from the languages at work where code runs. It starts nothing and runs no code."""

    def __init__(self, targets: Targets, catalog: LanguageCatalog, cwd: Path) -> None:
        self._cwd = cwd
        self._targets = targets
        self._catalog = catalog

    def read_variables(self, language: str) -> tuple[Variable, ...]:
        """Return the variables of a language, in the order of definition; empty
        where it does not report them.

        Empty also while the language is busy.
        """
        runtime = self._find_runtime(language)
        return runtime.read_memory().variables if runtime else ()

    def read_memories(self) -> tuple[Memory, ...]:
        """Return the variables of each language that can run here and tells or keeps some,
        or why there are none.

        One that tells none is left out until it is used.
        """
        memories = []
        for language in self._catalog.offered:
            with self._targets.lock:
                runtime = self._targets.current.runtimes.get(language.name)
            if runtime and (language.keeps or language.variables_request):
                memories.append(runtime.read_memory())
            elif language.variables_request and not runtime and self._catalog.find_program(language):
                memories.append(Memory(language.name, "unstarted"))
        return tuple(memories)

    def inspect(self, language: str, name: str) -> Detail | None:
        """Describe a variable's value; None where it is not reported."""
        runtime = self._find_runtime(language)
        return runtime.inspect(name) if runtime else None

    def find_folder(self, language: str) -> Path | None:
        """Return the folder in which a language of this machine is, or would start.

        None where that is not known.
        """
        runtime = self._find_runtime(language) or self._find_guest(language)
        if isinstance(runtime, GuestRuntime):
            runtime = runtime.host
        return runtime.find_folder() if isinstance(runtime, PtyRuntime) else self._cwd

    def open_table(self, language: str, name: str) -> LiveTable:
        """Return a table in a variable. Raises TableError where the language cannot be asked."""
        runtime = self._find_runtime(language)
        if isinstance(runtime, GuestRuntime):
            runtime = runtime.host
        declared = runtime.language if runtime else self._catalog.find(language)
        if declared and declared.table_request and not runtime:
            raise TableError(f"No {declared.title} code has run here yet, so no variable has this name.")
        if not isinstance(runtime, PtyRuntime) or not runtime.language.table_request:
            title = declared.title if declared else language
            having = "Python, R, JavaScript and Octave"
            raise TableError(
                f"Tables of {title} cannot be opened; %table opens those of {having} on this machine."
            )
        return LiveTable(name, runtime.language.title, runtime.ask_table)

    def can_complete(self, language: str) -> bool:
        """Return whether the language is at work and offers completions; does not wait."""
        return self._find_idle_runtime(language) is not None

    def complete(self, language: str, before: str) -> CompletionSet | None:
        """Return what completes the code before the caret; None where that is not known, as during a run."""
        runtime = self._find_idle_runtime(language)
        if runtime is None:
            return None
        return (
            CompletionSet(0, ()) if is_in_comment(runtime.language.name, before) else runtime.complete(before)
        )

    def _find_runtime(self, name: str) -> Runtime | None:
        with self._targets.lock:
            return self._targets.current.runtimes.get(self._catalog.resolve(name) or name)

    def _find_guest(self, name: str) -> Runtime | None:
        """Return the language in the process of another one that is at work, before its own first cell."""
        language = self._catalog.find(name)
        host = self._find_runtime(language.host) if language and language.host else None
        return GuestRuntime(language, host) if language and isinstance(host, PtyRuntime) else None

    def _find_idle_runtime(self, name: str) -> Runtime | None:
        """Return the language at work if it offers completions and does not run code now."""
        runtime = self._find_runtime(name) or self._find_guest(name)
        if runtime is None:
            return None
        if not runtime.language.variables_request and not runtime.language.completion_request:
            return None
        return runtime if runtime is not self._targets.running else None
