"""Protocols that a session uses: the computer that runs code, and the recorder of messages."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from oi_tui.file_changes.snapshots import ChangeSet
from oi_tui.messages import Message, Report, VariablesLost


class RemoteFiles(Protocol):
    """The files of another machine, which reports those that code changes."""

    def watch(self, id: str) -> None:
        """Note the files that the next run changes; `id` is that of its code."""

    def pop_changes(self) -> ChangeSet | None:
        """Return and forget the files that the last run changed; None when it changed none."""

    def list_folder(self, language: str) -> str:
        """Return the content of the language's folder, for `read_listing`; "" without a quick answer."""


class CodeRunner(Protocol):
    """Runs code."""

    @property
    def languages(self) -> tuple[str, ...]:
        """The names of the languages that can run here."""

    @property
    def cwd(self) -> Path:
        """The folder in which programs start."""

    @property
    def where(self) -> str:
        """Where code runs, in words, such as `on gpu1 as ana, /scratch/ana`; "" for this machine."""

    @property
    def target_id(self) -> str:
        """An identity of the target where code runs, unlike `where`; "" for this machine."""

    @property
    def target_folder(self) -> str:
        """The folder in which code starts on that target; "" for this machine, and where it is not known."""

    @property
    def target_past(self) -> Collection[str]:
        """The languages of that target in which other code than that of this session ran, or runs."""

    @property
    def target_files(self) -> RemoteFiles | None:
        """The files of the target where code runs now; None for this machine, or if none can be reached."""

    def find_folder(self, language: str) -> Path | None:
        """Return the folder in which a language of this machine is now; None where that is not known."""

    def find_database(self, language: str) -> str:
        """Return the database that code of the language would use, in words; "" for a language
        without one.
        """

    def explain_refusal_at(self, target: str) -> str | None:
        """Return why a cell cannot run on the target that it names; None when it can."""

    def at(self, target: str) -> AbstractContextManager[None]:
        """Run code on that target within the block. Ask `explain_refusal_at` first."""

    def resolve(self, name: str) -> str | None:
        """Return the name of the language that a model means; None when there is no such language."""

    def explain_missing(self, language: str) -> str | None:
        """Return why a known language cannot run, and how to install it; None when it can."""

    @property
    def replaced(self) -> Collection[str]:
        """The names of the languages that a class or module of a program replaces."""

    @property
    def notes(self) -> Sequence[str]:
        """Notes of the languages for the model."""

    def run(self, language: str, code: str, number: int | None = None) -> Iterator[Report]:
        """Run the code, reporting until `RunEnded`; error messages call it the cell of this number."""

    def pop_losses(self) -> Sequence[VariablesLost]:
        """Return and forget the languages that ended between runs."""

    def send_input(self, text: str) -> None:
        """Type to the running program."""

    def interrupt(self) -> None:
        """Interrupt what runs; called again, end the language that runs it."""

    def reset(self) -> None:
        """End all languages; their variables are lost."""

    def close(self) -> None:
        """End everything."""


class Recorder(Protocol):
    """Saves messages; never raises, but reports problems in `trouble`."""

    @property
    def trouble(self) -> str | None:
        """Why messages are not safely saved, in a sentence."""

    def put(self, message: Message) -> None:
        """Save the message before returning; one with the same id is replaced."""

    def grow(self, id: str, text: str) -> None:
        """Note text of a message that is still being written."""

    def forget(self, ids: Iterable[str]) -> None:
        """Drop messages."""


class NullRecorder:
    """A recorder that saves nothing."""

    trouble = None

    def put(self, message: Message) -> None:
        """Do nothing."""

    def grow(self, id: str, text: str) -> None:
        """Do nothing."""

    def forget(self, ids: Iterable[str]) -> None:
        """Do nothing."""
