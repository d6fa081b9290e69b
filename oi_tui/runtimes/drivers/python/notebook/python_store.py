"""`%store`: variables that are kept in files between sessions, in the place and the form of IPython."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import os
import pickle

_KEPT = "autorestore/"


class StoredValues:
    """Values by name, each in a separate file, as in IPython's `db`."""

    def __init__(self, folder):
        self.root = folder

    def _find_path(self, name):
        path = os.path.normpath(os.path.join(self.root, name))
        if not path.startswith(self.root + os.sep):
            raise KeyError(name)
        return path

    def __getitem__(self, name):
        try:
            with open(self._find_path(name), "rb") as file:
                return pickle.load(file)
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            raise KeyError(name) from None

    def __setitem__(self, name, value):
        path = self._find_path(name)
        data = pickle.dumps(value, protocol=4)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        new = "{}.{}.new".format(path, os.getpid())
        with open(new, "wb") as file:
            file.write(data)
        os.replace(new, path)

    def __delitem__(self, name):
        try:
            os.remove(self._find_path(name))
        except OSError:
            raise KeyError(name) from None

    def __contains__(self, name):
        return os.path.isfile(self._find_path(name))

    def get(self, name, default=None):
        """Return a value, or `default` where there is none."""
        try:
            return self[name]
        except KeyError:
            return default

    def keys(self, start=""):
        """Return the names that begin so, in their order."""
        entries = []
        for folder, _, names in os.walk(self.root):
            inner = os.path.relpath(folder, self.root)
            entries += [name if inner == "." else "{}/{}".format(inner, name) for name in names]
        return sorted(name for name in entries if name.startswith(start) and not name.endswith(".new"))


def run(driver, rest, arguments):
    """Carry out a line of `%store`."""
    shell = driver._get_ipython()
    files, names = shell.db, driver.module.__dict__
    option = arguments[0] if arguments and arguments[0] in ("-r", "-d", "-z") else ""
    arguments = arguments[1:] if option else arguments
    if option == "-z":
        for key in files.keys(_KEPT):
            del files[key]
    elif option == "-d":
        if not arguments:
            raise ValueError("%store -d: name the variable to forget")
        for name in arguments:
            if _KEPT + name not in files:
                raise NameError("no stored variable {}".format(name))
            del files[_KEPT + name]
    elif option == "-r":
        _restore(files, names, arguments)
    elif not arguments:
        _list(files)
    elif ">" in rest:
        _write(rest, names)
    else:
        for name in arguments:
            _store_variable(files, names, name)


def _restore(files, names, arguments):
    for name in arguments or [key[len(_KEPT) :] for key in files.keys(_KEPT)]:
        try:
            names[name] = files[_KEPT + name]
        except KeyError:
            print("no stored variable or alias {}".format(name))
        except Exception as error:
            print("Unable to restore variable {!r}, ignoring (use %store -d to forget!)".format(name))
            print("The error was: {}: {}".format(type(error).__name__, error))


def _list(files):
    keys = files.keys(_KEPT)
    print("Stored variables and their in-db values:")
    width = max((len(key) - len(_KEPT) for key in keys), default=0)
    for key in keys:
        try:
            text = repr(files[key])[:50]
        except Exception:
            text = "<unavailable>"
        print("{:{}} -> {}".format(key[len(_KEPT) :], width, text))


def _write(rest, names):
    name, _, path = rest.partition(">")
    append, path = path.startswith(">"), os.path.expanduser(path.lstrip(">").strip())
    name = name.strip()
    if name not in names or not path:
        raise NameError("%store NAME > FILE: there is no variable {!r}, or no file is named".format(name))
    value = names[name]
    print("Writing {!r} ({}) to file {!r}.".format(name, type(value).__name__, os.path.basename(path)))
    if not isinstance(value, str):
        import pprint

        value = pprint.pformat(value)
    with open(path, "a" if append else "w", encoding="utf-8") as file:
        file.write(value if value.endswith("\n") else value + "\n")


def _store_variable(files, names, name):
    if name not in names:
        raise NameError("there is no variable {}".format(name))
    value = names[name]
    try:
        files[_KEPT + name] = value
    except OSError:
        raise
    except Exception as error:
        raise ValueError("{} cannot be stored: {}".format(name, error)) from None
    print("Stored {!r} ({})".format(name, type(value).__name__))
