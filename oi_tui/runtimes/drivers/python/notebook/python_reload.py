"""Reloads modules when their files have changed: `%autoreload`."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import importlib
import os
import sys
import sysconfig
import traceback
import types

_LIBRARIES = tuple(
    {os.path.realpath(path) + os.sep for path in sysconfig.get_paths().values() if path}
    - {os.path.realpath(sysconfig.get_paths()["data"]) + os.sep}
)
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def get_reloader(driver):
    """Return the one reloader of the driver."""
    if driver.reloader is None:
        driver.reloader = Reloader()
    return driver.reloader


class Reloader:
    """Looks, before each cell, whether the files of modules have changed since they were imported."""

    def __init__(self):
        self._mode = "0"
        self._chosen = set()
        self._left_out = set()
        self._times = {}

    def choose(self, text):
        """0: off; 1: what was chosen; 2: all; now: once, at once."""
        mode = {"off": "0", "explicit": "1", "all": "2", "complete": "2", "3": "2"}.get(text, text)
        if mode in ("now", ""):
            self.reload_changed(once=True)
        elif mode in ("0", "1", "2"):
            self._mode = mode
            self.reload_changed()
        else:
            raise ValueError("%autoreload: 0, 1, 2 or now, not {}".format(text))

    def add(self, text):
        """Choose modules, or leave out those with a dash before them."""
        for name in text.replace(",", " ").split():
            if name.startswith("-"):
                self._left_out.add(name[1:])
                continue
            self._chosen.add(name)
            importlib.import_module(name)
            sys.modules["__main__"].__dict__[name.partition(".")[0]] = sys.modules[name.partition(".")[0]]

    def reload_changed(self, once=False):
        """Reload what has changed; new modules are noted."""
        if self._mode == "0" and not once:
            return
        for name, module in list(sys.modules.items()):
            file = self._find_file(name, module)
            if file is None:
                continue
            try:
                time = os.stat(file).st_mtime_ns
            except OSError:
                continue
            last_time = self._times.setdefault(name, time)
            if last_time != time and (self._mode != "1" or name in self._chosen):
                self._times[name] = time
                self._reload(module)

    def _find_file(self, name, module):
        if name in ("__main__", "__mp_main__") or name in self._left_out:
            return None
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not file.endswith(".py"):
            return None
        real = os.path.realpath(file)
        return None if real.startswith((*_LIBRARIES, _HERE)) or "site-packages" in real else file

    @staticmethod
    def _reload(module):
        old = {
            name: value
            for name, value in vars(module).items()
            if isinstance(value, (types.FunctionType, type)) and value.__module__ == module.__name__
        }
        # An edit within the second in which the compiled file was made would go unseen.
        importlib.invalidate_caches()
        cached = getattr(module, "__cached__", None)
        try:
            if cached and os.path.exists(cached):
                os.unlink(cached)
            importlib.reload(module)
        except Exception:
            print("{} was not reloaded:".format(module.__name__), file=sys.stderr)
            traceback.print_exc(limit=0)
            return
        for name, value in old.items():
            new = vars(module).get(name)
            if new is not None and new is not value and type(new) is type(value):
                _update(value, new)


def _update(old, new):
    """Let the old function or class, which others hold, do what the new one does."""
    if isinstance(old, types.FunctionType):
        try:
            for part in (
                "__code__",
                "__defaults__",
                "__kwdefaults__",
                "__doc__",
                "__dict__",
                "__annotations__",
            ):
                setattr(old, part, getattr(new, part))
        except ValueError:
            # It closes over other variables than before: who holds the old one keeps it.
            return
        return
    for name, value in list(vars(new).items()):
        if name in ("__dict__", "__weakref__", "__module__"):
            continue
        try:
            setattr(old, name, value)
        except (AttributeError, TypeError):
            continue
    for name in set(vars(old)) - set(vars(new)):
        try:
            delattr(old, name)
        except (AttributeError, TypeError):
            continue
    for instance in _find_instances(old):
        try:
            instance.__class__ = new
        except TypeError:
            continue


def _find_instances(kind):
    import gc

    return [referrer for referrer in gc.get_referrers(kind) if type(referrer) is kind]
