"""The interface of a target that is connected: a worker on a remote host, or a Jupyter kernel."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Protocol

from oi_tui.runtimes.language import Language, Runtime

if TYPE_CHECKING:
    from oi_tui.runtimes.remote.files import TargetFiles
    from oi_tui.runtimes.remote.link import LeftRun


class ConnectedTarget(Protocol):
    """Where code runs, if not here."""

    #: The target as a person types it, and in a word or two.
    spelling: str
    title: str
    #: The files there; None where they cannot be reached.
    files: "TargetFiles | None"

    @property
    def where(self) -> str:
        """The target in words, as `on gpu1 as ana, /scratch/ana`."""

    @property
    def folder(self) -> str:
        """The folder there in which languages start; "" where it is not known."""

    @property
    def note(self) -> str:
        """What the model should know."""

    @property
    def languages(self) -> Sequence[Language]:
        """Every language that the target could have."""

    def find_program(self, language: str) -> str | None:
        """Return the language's program there; None where it is missing."""

    def describe(self, language: Language) -> str:
        """Return the language's program there in a few words."""

    def runtime(self, language: Language) -> Runtime:
        """Return the language, to be run there."""

    @property
    def is_used(self) -> bool:
        """Whether it is connected, and something was started there."""

    @property
    def past(self) -> Collection[str]:
        """Its languages that may have variables of other code than ours."""

    @property
    def left_languages(self) -> Sequence[str]:
        """The languages that were running when the connection was made."""

    @property
    def left_runs(self) -> "tuple[LeftRun, ...]":
        """The runs that went on when the connection was made."""

    def detach(self) -> str:
        """Leave what runs there running, and end the connection. Returns why not, else ""."""

    def resize(self, columns: int, rows: int) -> None:
        """Tell programs the size of their terminal."""

    def close(self) -> None:
        """End everything there that is ours, for good."""
