"""The program that this package runs in: usually a Python, but an application may have Python inside."""

import sys
from pathlib import PurePath


def require_python() -> None:
    """Raise RuntimeError where `sys.executable` is no Python: it would start the application again and again.

    Languages and the model run in processes of Python. Frozen applications and uWSGI name themselves there.
    """
    program = sys.executable
    is_application = bool(getattr(sys, "frozen", False)) or "uwsgi" in sys.modules
    if program and not (is_application and not PurePath(program).name.lower().startswith(("python", "pypy"))):
        return
    version = ".".join(map(str, sys.version_info[:2]))
    raise RuntimeError(
        f"oi-tui starts Python with sys.executable, but that is {program!r} here, which is no Python. Set "
        f"sys.executable to the path of a Python {version} that has oi-tui, before the first OpenInterpreter."
    )
