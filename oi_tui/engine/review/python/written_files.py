"""Finds the files whose content a call in Python code replaces."""

import ast
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

#: Calls that copy or move their first argument to the second.
COPIES = frozenset(
    (
        *("shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.move"),
        *("os.rename", "os.renames", "os.replace"),
    )
)
#: Those of them that give the file its own name in a folder.
_INTO_FOLDERS = frozenset(("shutil.copy", "shutil.copy2", "shutil.move"))
#: Calls and methods that leave a file as it is, or add to it.
_KEEPING = frozenset(
    (
        *("os.mkdir", "os.makedirs", "os.symlink", "os.link", "os.mkfifo", "os.mknod", "shutil.copytree"),
        *("shutil.unpack_archive", "shutil.make_archive", "pandas.HDFStore", "dbm.open"),
        *("numpy.lib.format.open_memmap", "logging.FileHandler", "logging.handlers.RotatingFileHandler"),
        *("touch", "mkdir", "symlink_to", "hardlink_to", "extractall", "to_hdf", "to_zarr"),
    )
)
#: The ending that a file gets where its name has none of its own.
_ENDINGS = {
    "numpy.save": ".npy",
    **dict.fromkeys(("numpy.savez", "numpy.savez_compressed"), ".npz"),
    "scipy.io.savemat": ".mat",
    "savefig": ".png",
}
#: Keywords that name the file.
_KEYWORDS = frozenset(("file", "fname", "excel_writer", "filename", "dst", "buf"))


def complete_name(function: str, file: str) -> str:
    """Return the name that a file gets from a function that adds an ending."""
    ending = _ENDINGS.get(function, "")
    return file + ending if file and ending and not PurePosixPath(file).suffix else file


def find_replaced(function: str, file: str, call: ast.Call, text: Callable[[ast.expr], str]) -> Iterator[str]:
    """Yield the files that a call replaces if they are there.

    Args:
        function: its full name, or that of a method
        file: the file that it writes; "" where that is not known
        call: the call
        text: returns the text that an expression stands for
    """
    if not file or function in _KEEPING or _appends(call, text):
        return
    yield file
    if function in _INTO_FOLDERS and call.args and (source := text(call.args[0])):
        yield f"{file.rstrip('/')}/{PurePosixPath(source).name}"


def find_named_file(call: ast.Call) -> ast.expr | None:
    """Return the file that a call names by a keyword."""
    return next(
        (
            keyword.value
            for keyword in call.keywords
            if keyword.arg and (keyword.arg in _KEYWORDS or "path" in keyword.arg)
        ),
        None,
    )


def _appends(call: ast.Call, text: Callable[[ast.expr], str]) -> bool:
    """Return whether a mode is given that does not say that the file is written anew."""
    return any(keyword.arg == "mode" and not text(keyword.value).startswith("w") for keyword in call.keywords)
