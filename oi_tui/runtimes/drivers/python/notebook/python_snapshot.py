"""Keeps the variables of the program in a file, and brings them back: `%snapshot save` and `%snapshot load`.

`%snapshot leave` does so when the person leaves: in a short time, in little room, and without replacing what
was kept before and is not here now.

The file is a line of JSON, which says what is in it, and one pickle of all variables, so that what they share
stays shared. Functions and classes of cells need cloudpickle, which oi-tui lends to a Python that has none.
Their globals are the variables of the program again.
"""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import contextlib
import functools
import importlib.util
import json
import os
import pickle
import stat
import sys
import time
import types

#: The most bytes of a file.
LIMIT = 1 << 30
_FORMAT = 1
#: The most names in a list, and the most characters of a reason.
_LISTED, _REASON = 20, 100
#: The most names in the header of a file.
_IN_HEADER = 1000
#: The files with variables that this process has, or had.
_ours = set()
#: The modules of the cloudpickle of oi-tui, by name, once they were used.
_lent = {}


class SnapshotError(Exception):
    """Nothing was kept or restored; the message says why."""

    # So that it is shown without the name of this module.
    __module__ = "builtins"


class _TooLargeError(Exception):
    """More was written than the limit allows."""


class _TooSlowError(Exception):
    """There is no time left."""


class _Bounds:
    """The limits of size and time; `until` is a time of `time.monotonic`, or None."""

    def __init__(self, size, until=None):
        self.size = size
        self.until = until

    def check_time(self):
        """Raise _TooSlowError where there is no time left."""
        if self.until is not None and time.monotonic() > self.until:
            raise _TooSlowError("there was no time for them")


def make_function(code, closure):
    """Make a function whose globals are the variables of the program."""
    return types.FunctionType(code, sys.modules["__main__"].__dict__, code.co_name, None, closure)


def make_cached(function, parameters):
    """Make a function with an empty `functools.lru_cache`."""
    return functools.lru_cache(**parameters)(function)


def save(names, path, bounds=None):
    """Write the variables to a file that only the person can read, and report what was kept.

    What cannot be pickled, or has no room, is left out and listed. Raises SnapshotError when nothing is left.
    """
    variables = {name: value for name, value in names.items() if name[:1] != "_"}
    if not variables:
        raise SnapshotError("There are no variables to keep.")
    coming = "{}.{}.tmp".format(path, os.getpid())
    try:
        stream = open(os.open(coming, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
        with stream as file, _import_cloudpickle():
            kept_variables, left_out = _write_what_can_be(variables, file, bounds or _Bounds(LIMIT))
            size = file.tell()
        os.replace(coming, path)
    except (OSError, _TooLargeError, _TooSlowError, pickle.PicklingError) as error:
        where = " (the disk of {})".format(os.path.dirname(path)) if isinstance(error, OSError) else ""
        raise SnapshotError(
            "The variables could not be kept: {}{}".format(_describe_error(error), where)
        ) from None
    finally:
        if os.path.exists(coming):
            os.unlink(coming)
    _ours.add(path)
    print(
        "Kept {} in {}: {}".format(
            _count(kept_variables), _format_megabytes(size), _list_in_words(kept_variables)
        )
    )
    if left_out:
        print("Not kept:")
        for name, reason in left_out.items():
            print("  {}: {}".format(name, reason))


def leave(names, path, size, seconds):
    """Save as `save` does, within limits in bytes and seconds. Nothing that was kept earlier is lost."""
    bounds = _Bounds(size, time.monotonic() + seconds)
    if path not in _ours and not _read_names(path) <= set(names):
        raise SnapshotError("What was kept before was not restored, so it stays.")
    save(names, path, bounds)


def _read_names(path):
    """Return the names that a file says it holds; none where it is no file of `save`."""
    try:
        with open(path, "rb") as file:
            return set(json.loads(file.readline(1 << 20))["names"])
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def load(names, path):
    """Bring the variables back from a file of `save`, and report which."""
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                # What is in it runs code, so nobody else may have written it.
                raise SnapshotError("The file can be changed by others, so it is not read: {}".format(path))
            variables, reasons = _read(file)
    except FileNotFoundError:
        raise SnapshotError("No variables were kept in {}".format(path)) from None
    except OSError as error:
        raise SnapshotError("The variables could not be read: {}".format(_describe_error(error))) from None
    names.update(variables)
    if not reasons:
        # What this process lacks, it must not replace on leaving.
        _ours.add(path)
    print("Restored {}: {}".format(_count(variables), _list_in_words(variables)))
    if reasons:
        print("Not restored:")
        for name, reason in reasons.items():
            print("  {}: {}".format(name, reason))


def _read(file):
    """Return the variables of a file, and for each that cannot be made again why not."""
    try:
        header = json.loads(file.readline(1 << 20))
        has_known_format = header["format"] == _FORMAT
        version = str(header["python"])
    except (ValueError, KeyError, TypeError):
        raise SnapshotError("This is not a file of kept variables.") from None
    if not has_known_format:
        raise SnapshotError("The variables were kept by another version of oi-tui.")
    begin = file.tell()
    try:
        with _import_cloudpickle():
            try:
                return pickle.Unpickler(file).load(), {}
            except MemoryError:
                raise
            except Exception as error:
                variables, reasons = _read_what_can_be(file, begin)
                if not variables:
                    raise error
                return variables, reasons
    except Exception as error:
        message = "The variables could not be restored: {}.".format(_describe_error(error))
        if version != _get_version():
            message += " They were kept by Python {}, and this is {}.".format(version, _get_version())
        raise SnapshotError(message) from None
    finally:
        # A function of cloudpickle's puts its own there.
        sys.modules["__main__"].__dict__["__builtins__"] = builtins


def _read_what_can_be(file, begin):
    """Read the variables again, without those of which a part cannot be made; those with the reasons."""
    file.seek(begin)
    try:
        read = _TolerantUnpickler(file).load()
    except Exception:
        return {}, {}
    variables, reasons = {}, {}
    for name, value in read.items():
        try:
            # Only this finds what is missing in every kind of object.
            _make_pickler(_Bounded(None, _Bounds(float("inf")))).dump(value)
        except _MissingError as error:
            reasons[name] = _describe_error(error)
            continue
        except Exception:
            # It was made, and that is what counts.
            pass
        variables[name] = value
    return variables, reasons


class _MissingError(Exception):
    """A value has a part that could not be made."""


class _Missing:
    """Stands for an object that could not be made."""

    def __init__(self, reason):
        self._reason = reason

    def __reduce_ex__(self, _protocol):
        raise _MissingError(self._reason)


class _TolerantUnpickler(pickle._Unpickler):
    """Goes on after an object that cannot be made: `_Missing` takes its place.

    That of Python itself is used, since the one in C cannot be changed so.
    """

    dispatch = dict(pickle._Unpickler.dispatch)

    def find_class(self, module, name):
        try:
            return super().find_class(module, name)
        except Exception as error:
            return _Missing(_describe_error(error))

    def _make(self, step):
        """Make an object of what is taken from the stack."""
        try:
            step(self)
        except Exception as error:
            self.stack.append(_Missing(_describe_error(error)))

    def _call(self, step):
        """Put the result of a call in the place of the function, the last of the stack."""
        function = self.stack[-2]
        try:
            step(self)
        except Exception as error:
            self.stack[-1] = function if isinstance(function, _Missing) else _Missing(_describe_error(error))

    def _fill(self, step):
        """Fill the object that is the last of the stack, which others may refer to."""
        try:
            step(self)
        except Exception as error:
            partial_object = self.stack[-1]
            if isinstance(partial_object, _Missing):
                return
            missing = self.stack[-1] = _Missing(_describe_error(error))
            for place, value in list(self.memo.items()):
                if value is partial_object:
                    self.memo[place] = missing


def _make_tolerant(way, codes):
    for code in codes:
        step = pickle._Unpickler.dispatch[code[0]]
        _TolerantUnpickler.dispatch[code[0]] = functools.partial(way, step=step)


_make_tolerant(_TolerantUnpickler._make, (pickle.NEWOBJ, pickle.NEWOBJ_EX))
_make_tolerant(_TolerantUnpickler._call, (pickle.REDUCE,))
_make_tolerant(
    _TolerantUnpickler._fill,
    (pickle.BUILD, pickle.APPEND, pickle.APPENDS, pickle.SETITEM, pickle.SETITEMS, pickle.ADDITEMS),
)


def _write_what_can_be(wanted, file, bounds):
    """Write as many of the variables as possible; return those, and for each other why not."""
    now = time.monotonic()
    # Where all of it takes too long, there has to be time to find out what can be kept.
    part = None if bounds.until is None else now + (bounds.until - now) / 3
    try:
        _write(wanted, {}, file, _Bounds(bounds.size, part))
    except (Exception, SystemExit):
        kept_variables, left_out = _choose(wanted, bounds)
    else:
        return wanted, {}
    if not kept_variables:
        reasons = "; ".join("{}: {}".format(*item) for item in list(left_out.items())[:_LISTED])
        raise SnapshotError("None of the variables can be kept: {}".format(reasons))
    _write(kept_variables, left_out, file, bounds)
    return kept_variables, left_out


def _write(variables, left_out, file, bounds):
    file.seek(0)
    file.truncate()
    header = {
        "format": _FORMAT,
        "python": _get_version(),
        "names": list(variables)[:_IN_HEADER],
        "left_out": dict(list(left_out.items())[:_IN_HEADER]),
    }
    file.write(json.dumps(header).encode() + b"\n")
    _make_pickler(_Bounded(file, bounds)).dump(variables)
    file.flush()


def _choose(wanted, bounds):
    """Return the variables that can be pickled and have room, the small ones first;
    and why the others have not.
    """
    costs, left_out = {}, {}
    began = time.monotonic()
    # What is measured is written once more, which takes as long again.
    part = None if bounds.until is None else began + (bounds.until - began) * 0.4
    measured = _Bounds(bounds.size, part)
    for name, value in sorted(wanted.items(), key=lambda item: _guess_size(item[1])):
        counter = _Bounded(None, measured)
        before = time.monotonic()
        try:
            measured.check_time()
            _make_pickler(counter).dump(value)
        except _TooLargeError:
            left_out[name] = "larger than {}".format(_format_megabytes(bounds.size))
        except _TooSlowError:
            left_out[name] = "there was no time for it"
        except (Exception, SystemExit) as error:
            left_out[name] = "{}: {}".format(type(value).__name__, _describe_error(error))
        else:
            costs[name] = counter.written, time.monotonic() - before
    room, kept_names = bounds.size, set()
    for name in sorted(costs, key=costs.get):
        room -= costs[name][0]
        if room < 0:
            left_out[name] = "{}, which has no room beside the others".format(
                _format_megabytes(costs[name][0])
            )
        else:
            kept_names.add(name)
    return {name: value for name, value in wanted.items() if name in kept_names}, left_out


def _guess_size(value):
    """Return the bytes of a value, as far as they are known at once."""
    try:
        return max(sys.getsizeof(value), int(getattr(value, "nbytes", 0)))
    except Exception:
        return 0


class _Bounded:
    """A file that accepts no more bytes than the bounds allow; None counts only."""

    def __init__(self, file, bounds):
        self._file = file
        self._bounds = bounds
        self.written = 0

    def write(self, data):
        """Write the data. Raises _TooLargeError and _TooSlowError."""
        self._bounds.check_time()
        self.written += memoryview(data).nbytes
        if self.written > self._bounds.size:
            raise _TooLargeError("they are larger than {}".format(_format_megabytes(self._bounds.size)))
        if self._file is not None:
            self._file.write(data)
        return len(data)


@contextlib.contextmanager
def _import_cloudpickle():
    """Have a cloudpickle that can be imported: that of the program, or that of oi-tui meanwhile."""
    place = os.environ.get("OI_TUI_CLOUDPICKLE")
    try:
        import cloudpickle  # noqa: F401
    except ImportError:
        pass
    else:
        place = None
    if not place or not os.path.isfile(place):
        yield
        return
    sys.modules.update(_lent)
    try:
        if not _lent:
            _lend(place)
        yield
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "cloudpickle"]:
            _lent[name] = sys.modules.pop(name)


def _lend(place):
    """Import the package at that place, of whose folder nothing else is imported."""
    spec = importlib.util.spec_from_file_location(
        "cloudpickle", place, submodule_search_locations=[os.path.dirname(place)]
    )
    module = sys.modules["cloudpickle"] = importlib.util.module_from_spec(spec)
    # A copy that this Python cannot read counts as missing.
    with contextlib.suppress(Exception):
        spec.loader.exec_module(module)
        return
    del sys.modules["cloudpickle"]


class _DataPickler(pickle.Pickler):
    """Writes no function or class of a cell: the name, which is all of it, means nothing later."""

    def reducer_override(self, value):
        if _is_of_the_program(value) and _is_kept_by_name(value):
            raise pickle.PicklingError("functions and classes of cells need the package cloudpickle")
        return NotImplemented


def _make_pickler(file):
    try:
        from cloudpickle import Pickler
    except ImportError:
        return _DataPickler(file, protocol=4)

    class OfTheProgram(Pickler):
        """Writes functions of cells without their globals, which are the variables themselves."""

        def reducer_override(self, value):
            reduction = super().reducer_override(value)
            # For class methods, type variables and others there are functions of their own.
            is_known = type(value) in self.dispatch_table
            if reduction is not NotImplemented or is_known or not _is_of_the_program(value):
                return reduction
            if type(value) is functools._lru_cache_wrapper and hasattr(value, "cache_parameters"):
                return make_cached, (value.__wrapped__, value.cache_parameters())
            if _is_kept_by_name(value):
                raise pickle.PicklingError("only its name would be kept")
            return reduction

        def _dynamic_function_reduce(self, function):
            reduction = super()._dynamic_function_reduce(function)
            if function.__globals__ is not sys.modules["__main__"].__dict__:
                return reduction
            code, _, _, _, closure = reduction[1]
            reduction[2][1]["__globals__"] = {}
            return (make_function, (code, closure), *reduction[2:])

    return OfTheProgram(file)


def _is_of_the_program(value):
    try:
        return value.__module__ == "__main__"
    except Exception:
        return False


def _is_kept_by_name(value):
    """Return whether pickle keeps only a name, of which there is nothing when it is read again."""
    return isinstance(value, (type, types.FunctionType)) or isinstance(value.__reduce_ex__(4), str)


def _get_version():
    return "{}.{}".format(*sys.version_info[:2])


def _describe_error(error):
    """Return an error in a few words."""
    text = " ".join(str(getattr(error, "strerror", None) or error).split()) or type(error).__name__
    return text if len(text) <= _REASON else text[: _REASON - 1] + "…"


def _count(names):
    return "1 variable" if len(names) == 1 else "{:,} variables".format(len(names))


def _list_in_words(names):
    text = ", ".join(list(names)[:_LISTED])
    return "{} and {:,} more".format(text, len(names) - _LISTED) if len(names) > _LISTED else text


def _format_megabytes(size):
    if size < 1000:
        return "{} bytes".format(size)
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if size < 1000 or unit == "GB":
            return "{:.3g} {}".format(size, unit)
