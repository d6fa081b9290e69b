"""The entry point, which works even where the rest of the installation does not."""

import atexit
import contextlib
import errno
import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import NoReturn

from oi_tui import __version__, find_system_problem
from oi_tui.system.streams import block_standard_output, open_missing_streams


def start() -> NoReturn:
    """Run the program, and end the process with its exit code.

    The system takes back the memory of a process at once. Python would first free each object, which takes a
    quarter of a second, so the process ends as soon as all that was registered for its end is done.
    """
    open_missing_streams()
    block_standard_output()
    ended: list[int] = []

    def leave() -> None:
        for code in ended:
            os._exit(_write_rest(code))

    # What is registered first is called last, after threads have ended.
    atexit.register(leave)
    ended.append(main())
    raise SystemExit(ended[0])


def _write_rest(code: int) -> int:
    """Write what is left of the output, and return the exit code, which is not 0 where that failed."""
    for stream in (sys.stdout, sys.stderr):
        try:
            # Both are None where the program was started without them.
            if stream:
                stream.flush()
        except OSError as error:
            # After another failure, such as a terminal that is gone, this one says nothing new.
            if code == 0:
                code = _tell_unwritten(error)
        except ValueError:
            # It was closed.
            continue
    return code


def _tell_unwritten(error: OSError) -> int:
    """Say that output was lost, unless its reader wanted no more; return the exit code."""
    if error.errno == errno.EPIPE:
        return 128 + signal.SIGPIPE
    if sys.stderr:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"oi-tui: the output could not be written: {error.strerror}\n")
    return 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code; a missing package or a failure is one sentence."""
    _end_on_interrupt()
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments in (["--version"], ["-V"]):
        print(f"oi-tui {__version__}")  # noqa: T201
        return 0
    if problem := find_system_problem():
        print(problem, file=sys.stderr)  # noqa: T201
        return 2
    # What is made until the first frame is made to stay, and looking through it for garbage takes a tenth of
    # the time until then. The screen turns the collector on once it is ready; what has no screen, at once.
    gc.disable()
    try:
        from oi_tui.cli.main import main

        return main(arguments)
    except ModuleNotFoundError as missing:
        if "--doctor" in arguments:
            from oi_tui.doctor.report import run

            return run(_find_file(arguments))
        text = (
            f"oi-tui: the Python package {missing.name} is missing; oi-tui --doctor explains how to "
            "install it"
        )
        print(text, file=sys.stderr)  # noqa: T201
        return 2
    except Exception as error:  # noqa: BLE001  # the top of the program
        words = f"oi-tui failed: {type(error).__name__}"
        # Where not even the log can be written, the kind of error is all that is safe to show.
        with contextlib.suppress(Exception):
            words = _describe_failure(error)
        print(words, file=sys.stderr)  # noqa: T201
        return 1


def _end_on_interrupt() -> None:
    """Let ctrl+c end the program quietly while it loads; the screen and the plain lines then handle it."""
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _describe_failure(error: Exception) -> str:
    """Write the traceback to the log, and return a sentence that names it."""
    import logging

    from oi_tui import log, paths
    from oi_tui.engine.credentials.redaction import redact
    from oi_tui.system.failures import describe_failure
    from oi_tui.text import clean_line

    log.begin()
    logging.getLogger("oi_tui").critical("The program failed", exc_info=error)
    reason = clean_line(redact(describe_failure(error)), 500)
    return f"oi-tui failed: {reason}\nThe details are in {paths.shorten(log.file())}"


def _find_file(arguments: Sequence[str]) -> str | None:
    """Return the name that follows the flag, if any."""
    after = arguments[arguments.index("--doctor") + 1 :]
    return after[0] if after and not after[0].startswith("-") else None
