"""Passes the cells to processes that `multiprocessing` spawns.

Such a process imports the main program again, and here that is no file. So a file is written for it with what
the cells define: their functions, classes, imports and constants, but nothing that they do; and the values of
the variables that these need, as far as they can be pickled.
"""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import ast
import linecache
import marshal
import os
import pickle
import sys
import types

import python_cells

_HERE = os.path.dirname(os.path.abspath(__file__))
#: The most that the values may take, in bytes, together.
_LARGEST = 16 * 1024 * 1024
#: How many files are left for processes that still begin.
_FILES = 4
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
_TYPE_ALIAS = getattr(ast, "TypeAlias", ast.FunctionDef)


def prepare(spawn, driver):
    """Have `multiprocessing` hand over what the cells define."""
    describe = spawn.get_preparation_data
    definitions = _Definitions(driver)

    def get_preparation_data(name):
        data = describe(name)
        if sys.modules.get("__main__") is driver.module and not data.get("init_main_from_name"):
            data["init_main_from_path"] = definitions.write(driver.folder)
        return data

    spawn.get_preparation_data = get_preparation_data


class _Definitions:
    """What the cells define so far, cell by cell."""

    def __init__(self, driver):
        self._driver = driver
        self._seen = 0
        self._statements = []
        self._sources = {}
        self._bound = set()
        self._needed = set()
        self._written = []

    def write(self, folder):
        """Write the file for a process that begins now; its path."""
        ran = python_cells.ran
        for name, source in ran[self._seen :]:
            self._add(name, source)
        self._seen = len(ran)
        # One for each state: a server of processes runs a file that it knows no second time.
        values = self._list_values()
        number = "{}-{}-{}".format(os.getpid(), self._seen, abs(hash(tuple(values.items()))))
        path = os.path.join(folder, "spawned-{}.py".format(number))
        if not os.path.exists(path):
            with open(path + ".data", "wb") as file:
                marshal.dump((self._sources, self._statements, values), file)
            with open(os.path.join(_HERE, "python_spawned.py")) as file:
                program = file.read()
            with open(path + ".part", "w") as file:
                file.write(program)
            os.replace(path + ".part", path)
            self._written.append(path)
            if len(self._written) > _FILES:
                self._remove(self._written.pop(0))
        return path

    @staticmethod
    def _remove(path):
        for file in (path, path + ".data"):
            try:
                os.unlink(file)
            except OSError:
                continue

    def _add(self, name, source):
        tree = self._driver.get_tree(name, source)
        definitions = [statement for statement in tree.body if _defines(statement)]
        if not definitions:
            return
        self._sources[name] = "".join(linecache.getlines(name)) or source
        for statement in definitions:
            code = compile(ast.Module([statement], []), name, "exec", self._driver.futures, True)
            self._statements.append(marshal.dumps(code))
            self._bound.update(_bound(statement))
            self._needed.update(_list_global_names(code))

    def _list_values(self):
        """Return the variables that the definitions name and do not make, each pickled."""
        names, room, values = self._driver.module.__dict__, _LARGEST, {}
        for name in sorted(self._needed - self._bound):
            if name not in names or isinstance(names[name], types.ModuleType):
                continue
            buffer = _Bounded(room)
            try:
                pickle.Pickler(buffer, pickle.HIGHEST_PROTOCOL).dump(names[name])
            except Exception:
                # What cannot be pickled is missed by name, if it is needed at all.
                continue
            room = buffer.room
            values[name] = b"".join(buffer.pieces)
        return values


class _Bounded:
    """A file with a limit of bytes."""

    def __init__(self, room):
        self.room = room
        self.pieces = []

    def write(self, piece):
        piece = bytes(piece)
        self.room -= len(piece)
        if self.room < 0:
            raise OverflowError
        self.pieces.append(piece)
        return len(piece)


def _defines(statement):
    """Return whether a statement of a cell makes names, and does nothing
    that a second process should not do.
    """
    if isinstance(statement, (*_DEFINITIONS, _TYPE_ALIAS)):
        return True
    if isinstance(statement, ast.Try):
        parts = [*statement.body, *statement.orelse, *statement.finalbody]
        for handler in statement.handlers:
            parts += handler.body
        return any(isinstance(part, _DEFINITIONS) for part in parts) and all(map(_defines_or_passes, parts))
    if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
        try:
            ast.literal_eval(statement.value)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return False
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return all(isinstance(target, ast.Name) for target in targets)
    return False


def _defines_or_passes(statement):
    return isinstance(statement, ast.Pass) or _defines(statement)


def _bound(statement):
    """Yield the names that a kept statement binds, but for constants:
    what these hold may have changed since.
    """
    for part in ast.walk(statement) if isinstance(statement, ast.Try) else [statement]:
        if isinstance(part, (ast.Import, ast.ImportFrom)):
            for alias in part.names:
                yield (alias.asname or alias.name).partition(".")[0]
        elif isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield part.name


def _list_global_names(code):
    """Return the global names that code and its nested code look up."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _list_global_names(constant)
    return names
