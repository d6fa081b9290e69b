"""Running a file as a program within the cells: `%run`."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import os
import sys
import types

from python_history_magics import parse_whole_number


def run(driver, arguments):
    """Run the file, with the arguments after it as its arguments, and keep what it defines."""
    options, times = set(), 1
    while arguments and arguments[0].startswith("-"):
        option = arguments.pop(0)
        if option == "-m":
            return _run_module(driver, arguments)
        if option.startswith("-N"):
            times = parse_whole_number(option[2:] or (arguments.pop(0) if arguments else ""), "%run -N")
        elif set(option[1:]) <= set("iendtpG"):
            options.update(option[1:])
        else:
            raise ValueError(
                "%run: {} is not known here; -i, -n, -t, -N, -p, -d, -e and -m are".format(option)
            )
    if not arguments:
        raise ValueError("%run: name the file")
    path = os.path.expanduser(arguments[0])
    if not os.path.exists(path) and os.path.exists(path + ".py"):
        path += ".py"
    with open(path, "rb") as file:
        source = file.read()
    if path.endswith(".ipynb"):
        for code in _read_notebook(path, source):
            driver.run_part(code)
        return None
    if path.endswith(".ipy"):
        # Among the variables of the cells, and with their lines that begin with % and !.
        return driver.run_part(source.decode("utf-8-sig"))
    words = arguments[1:] if "G" in options else _expand(arguments[1:])
    with _ProgramArguments([path, *words], os.path.dirname(os.path.abspath(path))):
        code = compile(source, path, "exec", dont_inherit=True)
        began = os.times()
        for _ in range(times):
            _run_file(driver, code, path, options)
        if "t" in options:
            _print_times(began, times)


def _run_file(driver, code, path, options):
    """Run the code of a file in a new module, or with `-i` among the variables of the cells."""
    if "i" in options:
        _run_among_cells(driver.module.__dict__, code, path, options)
        return
    module = types.ModuleType("__main__")
    # As for Python itself, it stays right when the program changes the folder.
    module.__file__ = os.path.abspath(path)
    module.__dict__["__builtins__"] = builtins
    if "n" in options:
        module.__name__ = os.path.splitext(os.path.basename(path))[0]
    sys.modules["__main__"] = module
    try:
        _execute(code, module.__dict__, options)
    finally:
        sys.modules["__main__"] = driver.module
        _add_names(driver, module.__dict__)


def _run_among_cells(names, code, path, options):
    """Run the code of a file among the variables of the cells, which have the name of the file meanwhile."""
    before = names.get("__file__")
    names["__file__"] = os.path.abspath(path)
    try:
        _execute(code, names, options)
    finally:
        if before is None:
            names.pop("__file__", None)
        else:
            names["__file__"] = before


def _expand(arguments):
    """Return the arguments with the names of the files that their patterns match, as a shell does."""
    import glob

    words = map(os.path.expanduser, arguments)
    return [name for word in words for name in sorted(glob.glob(word)) or [word]]


def _print_times(began, times):
    ended = os.times()
    print("\nIPython CPU timings (estimated):")
    if times > 1:
        print("Total runs performed: {}".format(times))
    print("  User   : {:10.2f} s.\n  System : {:10.2f} s.".format(ended[0] - began[0], ended[1] - began[1]))
    print("Wall time: {:10.2f} s.".format(ended[4] - began[4]))


def _run_module(driver, arguments):
    import runpy

    with _ProgramArguments(arguments, os.getcwd()):
        try:
            _add_names(driver, runpy.run_module(arguments[0], run_name="__main__", alter_sys=True))
        except SystemExit as error:
            if error.code:
                raise
        finally:
            sys.modules["__main__"] = driver.module


def _read_notebook(path, source):
    """Return the code of a notebook, cell by cell; it may be one from before 2015.

    Raises ValueError for other files.
    """
    import json

    try:
        notebook = json.loads(source)
    except ValueError:
        notebook = None
    if not isinstance(notebook, dict) or not {"cells", "worksheets"} & notebook.keys():
        raise ValueError("{} is not a notebook, or is cut off".format(path))
    sheets = [notebook] if "cells" in notebook else notebook["worksheets"]
    cells = [cell for sheet in sheets for cell in sheet.get("cells") or () if isinstance(cell, dict)]
    codes = (cell.get("source", cell.get("input")) for cell in cells if cell.get("cell_type") == "code")
    return ["".join(code) for code in codes if code]


def _execute(code, names, options=()):
    try:
        if "d" in options:
            __import__("pdb").Pdb().run(code, names)
        elif "p" in options:
            import cProfile

            profile = cProfile.Profile()
            try:
                profile.runctx(code, names, names)
            finally:
                profile.print_stats("time")
        else:
            exec(code, names)
    except SystemExit as error:
        # With `e`, as in IPython, a program's exit status is left out.
        if error.code and "e" not in options:
            raise


def _add_names(driver, names):
    driver.module.__dict__.update({name: value for name, value in names.items() if not name.startswith("__")})


class _ProgramArguments:
    """What a program finds as its arguments, and the folder that it imports from first."""

    def __init__(self, arguments, folder):
        self._arguments, self._folder = arguments, folder

    def __enter__(self):
        self._argv = sys.argv
        sys.argv = self._arguments
        sys.path.insert(0, self._folder)

    def __exit__(self, *_):
        sys.argv = self._argv
        if self._folder in sys.path:
            sys.path.remove(self._folder)
