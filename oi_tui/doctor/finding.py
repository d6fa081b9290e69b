"""The result of a check."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of one check, in words. `good` is None for a fact that is neither good nor bad.

    `fix` says what to do, for each problem and wherever something could be better.
    """

    good: bool | None
    words: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """A part of the examination, under a title. `run` may be slow, and may fail: that is reported too."""

    title: str
    run: Callable[[], Iterable[Diagnosis]]
