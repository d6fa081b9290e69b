"""Running a file as a program within the cells: `%run`."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import os
import sys
import types


def run(driver, words):
    """Run the file, with the words after it as its arguments, and keep what it defines."""
    inside = False
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option == "-m":
            return _run_module(driver, words)
        inside = inside or option == "-i"
    if not words:
        raise ValueError("%run: name the file")
    path = os.path.expanduser(words[0])
    if not os.path.exists(path) and os.path.exists(path + ".py"):
        path += ".py"
    with open(path, "rb") as file:
        source = file.read()
    if path.endswith(".ipynb"):
        return _run_notebook(driver, source)
    with _arguments([path, *words[1:]], os.path.dirname(os.path.abspath(path))):
        code = compile(source, path, "exec", dont_inherit=True)
        if inside:
            _execute(code, driver.module.__dict__)
            return None
        module = types.ModuleType("__main__")
        module.__file__ = path
        module.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = module
        try:
            _execute(code, module.__dict__)
        finally:
            sys.modules["__main__"] = driver.module
            _take(driver, module.__dict__)
    return None


def _run_module(driver, words):
    import runpy

    with _arguments(words, os.getcwd()):
        try:
            _take(driver, runpy.run_module(words[0], run_name="__main__", alter_sys=True))
        except SystemExit as error:
            if error.code:
                raise
        finally:
            sys.modules["__main__"] = driver.module


def _run_notebook(driver, source):
    import json

    for cell in json.loads(source)["cells"]:
        if cell["cell_type"] == "code":
            driver.run_part("".join(cell["source"]))


def _execute(code, names):
    try:
        exec(code, names)
    except SystemExit as error:
        if error.code:
            raise


def _take(driver, names):
    driver.module.__dict__.update({name: value for name, value in names.items() if not name.startswith("__")})


class _arguments:
    """What a program finds as its arguments, and the folder that it imports from first."""

    def __init__(self, words, folder):
        self._words, self._folder = words, folder

    def __enter__(self):
        self._argv = sys.argv
        sys.argv = self._words
        sys.path.insert(0, self._folder)

    def __exit__(self, *_):
        sys.argv = self._argv
        if self._folder in sys.path:
            sys.path.remove(self._folder)
