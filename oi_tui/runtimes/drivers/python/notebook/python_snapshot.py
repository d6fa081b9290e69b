"""Keeps the variables of the program in a file, and brings them back: `%snapshot save` and `%snapshot load`.

The file is a line of JSON, which says what is in it, and one pickle of all variables, so that what they share
stays shared. Functions and classes of cells need cloudpickle; their globals are the variables of the program
again.
"""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import functools
import json
import os
import pickle
import stat
import sys
import types

#: The most bytes of a file.
LIMIT = 1 << 30
_FORMAT = 1
#: The most names in a list, and the most characters of a reason.
_LISTED, _REASON = 20, 100


class SnapshotError(Exception):
    """Nothing was kept or brought back; the message says why."""

    # So that it is shown without the name of a module that nobody knows.
    __module__ = "builtins"


class _TooLargeError(Exception):
    """More was written than there is room for."""


def make_function(code, closure):
    """Make a function whose globals are the variables of the program."""
    return types.FunctionType(code, sys.modules["__main__"].__dict__, code.co_name, None, closure)


def make_cached(function, parameters):
    """Make a function with an empty `functools.lru_cache`."""
    return functools.lru_cache(**parameters)(function)


def save(names, path):
    """Write the variables to a file that only the person can read, and report what was kept.

    What cannot be pickled, or has no room, is left out and listed. Raises SnapshotError when nothing is left.
    """
    wanted = {name: value for name, value in names.items() if name[:1] != "_"}
    if not wanted:
        raise SnapshotError("There are no variables to keep.")
    coming = "{}.{}.tmp".format(path, os.getpid())
    try:
        with open(os.open(coming, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            kept, left_out = _write_what_can_be(wanted, file)
            size = file.tell()
        os.replace(coming, path)
    except (OSError, _TooLargeError, pickle.PicklingError) as error:
        raise SnapshotError("The variables could not be kept: {}".format(_reason(error))) from None
    finally:
        if os.path.exists(coming):
            os.unlink(coming)
    print("Kept {} in {}: {}".format(_count(kept), _megabytes(size), _listed(kept)))
    if left_out:
        print("Not kept:")
        for name, reason in left_out.items():
            print("  {}: {}".format(name, reason))


def load(names, path):
    """Bring the variables back from a file of `save`, and report which."""
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                # What is in it runs code, so nobody else may have written it.
                raise SnapshotError("The file can be changed by others, so it is not read: {}".format(path))
            found = _read(file)
    except FileNotFoundError:
        raise SnapshotError("No variables were kept in {}".format(path)) from None
    except OSError as error:
        raise SnapshotError("The variables could not be read: {}".format(_reason(error))) from None
    names.update(found)
    print("Restored {}: {}".format(_count(found), _listed(found)))


def _read(file):
    try:
        header = json.loads(file.readline(1 << 20))
        known = header["format"] == _FORMAT
        version = str(header["python"])
    except (ValueError, KeyError, TypeError):
        raise SnapshotError("This is no file of kept variables.") from None
    if not known:
        raise SnapshotError("The variables were kept by another version of oi-tui.")
    try:
        return pickle.Unpickler(file).load()
    except Exception as error:
        message = "The variables could not be restored: {}.".format(_reason(error))
        if version != _version():
            message += " They were kept by Python {}, and this is {}.".format(version, _version())
        raise SnapshotError(message) from None
    finally:
        # A function of cloudpickle's puts its own there.
        sys.modules["__main__"].__dict__["__builtins__"] = builtins


def _write_what_can_be(wanted, file):
    """Write as many of the variables as possible; return those, and for each other why not."""
    try:
        _write(wanted, file)
    except Exception:
        kept, left_out = _choose(wanted)
    else:
        return wanted, {}
    if not kept:
        reasons = "; ".join("{}: {}".format(*item) for item in list(left_out.items())[:_LISTED])
        raise SnapshotError("None of the variables can be kept: {}".format(reasons))
    _write(kept, file)
    return kept, left_out


def _write(variables, file):
    file.seek(0)
    file.truncate()
    header = {"format": _FORMAT, "python": _version(), "names": list(variables)[:1000]}
    file.write(json.dumps(header).encode() + b"\n")
    _pickler(_Bounded(file)).dump(variables)
    file.flush()


def _choose(wanted):
    """The variables that can be pickled and have room, the small ones first; and why the others have not."""
    sizes, left_out = {}, {}
    for name, value in wanted.items():
        counted = _Bounded(None)
        try:
            _pickler(counted).dump(value)
        except _TooLargeError:
            left_out[name] = "larger than {}".format(_megabytes(LIMIT))
        except Exception as error:
            left_out[name] = "{}: {}".format(type(value).__name__, _reason(error))
        else:
            sizes[name] = counted.written
    room, kept = LIMIT, set()
    for name in sorted(sizes, key=sizes.get):
        room -= sizes[name]
        if room < 0:
            left_out[name] = "{}, which has no room beside the others".format(_megabytes(sizes[name]))
        else:
            kept.add(name)
    return {name: value for name, value in wanted.items() if name in kept}, left_out


class _Bounded:
    """A file that takes no more than there is room for; None counts only."""

    def __init__(self, file):
        self._file = file
        self.written = 0

    def write(self, data):
        """Write the data. Raises _TooLargeError."""
        self.written += memoryview(data).nbytes
        if self.written > LIMIT:
            raise _TooLargeError("they are larger than {}".format(_megabytes(LIMIT)))
        if self._file is not None:
            self._file.write(data)
        return len(data)


class _DataPickler(pickle.Pickler):
    """Writes no function or class of a cell: the name, which is all of it, means nothing later."""

    def reducer_override(self, value):
        if isinstance(value, (type, types.FunctionType)) and _is_of_the_program(value):
            raise pickle.PicklingError("functions and classes of cells need the package cloudpickle")
        return NotImplemented


def _pickler(file):
    try:
        from cloudpickle import Pickler
    except ImportError:
        return _DataPickler(file, protocol=4)

    class OfTheProgram(Pickler):
        """Writes functions of cells without their globals, which are the variables themselves."""

        def reducer_override(self, value):
            made = super().reducer_override(value)
            if made is not NotImplemented or not _is_of_the_program(value):
                return made
            if type(value) is functools._lru_cache_wrapper and hasattr(value, "cache_parameters"):
                return make_cached, (value.__wrapped__, value.cache_parameters())
            if isinstance(value.__reduce_ex__(4), str):
                # There is nothing of that name when it is read again.
                raise pickle.PicklingError("only its name would be kept")
            return made

        def _dynamic_function_reduce(self, function):
            made = super()._dynamic_function_reduce(function)
            if function.__globals__ is not sys.modules["__main__"].__dict__:
                return made
            code, _, _, _, closure = made[1]
            made[2][1]["__globals__"] = {}
            return (make_function, (code, closure), *made[2:])

    return OfTheProgram(file)


def _is_of_the_program(value):
    try:
        return value.__module__ == "__main__"
    except Exception:
        return False


def _version():
    return "{}.{}".format(*sys.version_info[:2])


def _reason(error):
    """An error in a few words."""
    text = " ".join(str(getattr(error, "strerror", None) or error).split()) or type(error).__name__
    return text if len(text) <= _REASON else text[: _REASON - 1] + "…"


def _count(names):
    return "1 variable" if len(names) == 1 else "{:,} variables".format(len(names))


def _listed(names):
    shown = ", ".join(list(names)[:_LISTED])
    return "{} and {:,} more".format(shown, len(names) - _LISTED) if len(names) > _LISTED else shown


def _megabytes(size):
    if size < 1000:
        return "{} bytes".format(size)
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if size < 1000 or unit == "GB":
            return "{:.3g} {}".format(size, unit)
