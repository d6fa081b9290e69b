"""Lets our modules run on Python 3.8: annotations are not evaluated, and dataclasses take newer options.

It is at the top of the worker's folder on the remote host, and imported before any other module of ours.
"""

import __future__

# mypy: ignore-errors
import dataclasses
import sys
from importlib.machinery import PathFinder, SourceFileLoader


class _Loader(SourceFileLoader):
    """Compiles without evaluating annotations, which name what older Pythons do not have."""

    def source_to_code(self, data, path, *, _optimize=-1):
        return compile(
            data,
            path,
            "exec",
            flags=__future__.annotations.compiler_flag,
            dont_inherit=True,
            optimize=_optimize,
        )


class _Finder:
    """Finds our modules, and nothing else."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        """Return the module's description, with our loader."""
        if name.split(".")[0] != "oi_tui":
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


def _dataclass(cls=None, *, slots=False, kw_only=False, **options):
    """As the newer one: without slots, and with fields that are given by name in any order."""
    if cls is None:
        return lambda decorated: _dataclass(decorated, slots=slots, kw_only=kw_only, **options)
    if kw_only:
        for name in cls.__dict__.get("__annotations__", {}):  # noqa: RUF063 -- for Python 3.8
            if name not in cls.__dict__:
                # A field without a default could not follow one that has it; ours are always given.
                setattr(cls, name, None)
    return _made(cls, **options)


_made = dataclasses.dataclass


def prepare(version=sys.version_info):
    """Take effect for all modules that are imported from now on."""
    sys.meta_path.insert(0, _Finder)
    if version < (3, 10):
        dataclasses.dataclass = _dataclass
