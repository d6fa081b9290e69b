"""The extras of the package: what has to be installed for some parts of the program only."""

import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path


class MissingExtraError(ImportError):
    """A package of an extra is not installed; the message says how to install it."""


def make_install_command(requirement: str, *options: str) -> str:
    """Return the command that installs a package where oi-tui is installed.

    `pip` alone may be that of another environment, and those that pipx and uv make have none.
    """
    requirement = f'"{requirement}"' if set(requirement) & set("[<>=!~") else requirement
    environment, python = Path(sys.prefix), Path(sys.executable or "python3")
    if (environment / "pipx_metadata.json").is_file():
        command = f"pipx runpip {shlex.quote(environment.name)} install"
    elif not find_spec("pip"):
        command = f"uv pip install --python {shlex.quote(str(python))}"
    elif shutil.which("pip") == str(python.parent / "pip"):
        command = "pip install"
    else:
        command = f"{shlex.quote(str(python))} -m pip install"
    return " ".join((command, *options, requirement))


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
        command = make_install_command(f"oi-tui[{extra}]")
        raise MissingExtraError(
            f"{subject} needs more packages: {command} ({missing.name} is missing)"
        ) from None
