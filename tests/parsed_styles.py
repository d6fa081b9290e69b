"""Parses each style sheet once for all applications of a worker.

Each application under a pilot has a `Stylesheet` of its own, and parsing them takes a tenth of the
time of a short test. What comes of it depends only on the text and on the colours of the theme.
"""

from collections.abc import Mapping
from typing import Any

from textual.cache import LRUCache
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

_Cache = LRUCache[tuple[Any, ...], list[RuleSet]]
#: So many style sheets are kept for one set of variables.
_KEPT = 512
_caches: dict[frozenset[tuple[str, str]], _Cache] = {}
_init, _set_variables = Stylesheet.__init__, Stylesheet.set_variables


def _new(sheet: Stylesheet, *, variables: dict[str, str] | None = None) -> None:
    _init(sheet, variables=variables)
    _share(sheet, variables or {})


def _with_variables(sheet: Stylesheet, variables: dict[str, str]) -> None:
    # It clears the cache that it has, which is not its own.
    sheet._parse_cache = LRUCache(1)
    _set_variables(sheet, variables)
    _share(sheet, variables)


def _share(sheet: Stylesheet, variables: Mapping[str, str]) -> None:
    sheet._parse_cache = _caches.setdefault(frozenset(variables.items()), LRUCache(_KEPT))


def install() -> None:
    """Let all style sheets share what was parsed."""
    Stylesheet.__init__ = _new  # type: ignore[method-assign]
    Stylesheet.set_variables = _with_variables  # type: ignore[method-assign]
