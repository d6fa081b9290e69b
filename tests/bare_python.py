"""A Python without packages, whatever the interpreter that runs the tests has."""

import atexit
import functools
import shutil
import tempfile
import venv
from pathlib import Path


@functools.cache
def interpreter() -> str:
    """Return the path of an interpreter in an empty virtual environment, made on first use."""
    folder = Path(tempfile.mkdtemp(prefix="oi-tui-python-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    venv.create(folder / "bare", with_pip=False, symlinks=True)
    return str(folder / "bare" / "bin" / "python")
