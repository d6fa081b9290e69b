"""The extras of the package: what has to be installed for some parts of the program only."""

from collections.abc import Iterator
from contextlib import contextmanager


class MissingExtraError(ImportError):
    """A package of an extra is not installed; the message says how to install it."""


@contextmanager
def need_extra(extra: str, subject: str, packages: tuple[str, ...]) -> Iterator[None]:
    """Import in this block what needs the extra, such as `server`.

    `subject` begins the error: what the person asked for. Raises MissingExtraError where one of `packages`
    is missing; another module that is missing is a fault of ours, and its error is passed on.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in packages:
            raise
        raise MissingExtraError(
            f'{subject} needs more packages: pip install "oi-tui[{extra}]" ({missing.name} is missing)'
        ) from None
