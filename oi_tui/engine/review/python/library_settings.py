"""Decides whether code sets options of libraries that change only what tables and plots look like."""

import ast
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from oi_tui.engine.review.python.plotting_allowlist import BACKENDS, STYLES, is_look

#: Tables of options, and modules made of them, whose parts are judged one by one.
PANDAS_DISPLAY: Final = "pandas.options.display"
PLOT_SETTINGS: Final = frozenset(("matplotlib.rcParams", "matplotlib.pyplot.rcParams"))
CONTAINERS: Final = (
    PLOT_SETTINGS | {"pandas.options", PANDAS_DISPLAY} | {"matplotlib.style", "matplotlib.pyplot.style"}
)
#: An option of pandas for what is shown. Its last part alone is taken where no other option has that name.
_DISPLAY: Final = re.compile(
    r"display\.(?!encoding)[a-z_]+(?:\.[a-z_]+)*|max_rows|max_columns|max_colwidth|precision|float_format"
)
_PANDAS: Final = frozenset(
    ("pandas.get_option", "pandas.option_context", "pandas.reset_option", "pandas.set_option")
)
_DEFAULTS: Final = frozenset(
    ("matplotlib.rcdefaults", "matplotlib.pyplot.rcdefaults", "seaborn.reset_defaults", "seaborn.reset_orig")
)
#: The functions of seaborn that set looks, with their parameters, and those of these that may be tables.
_SEABORN: Final = {
    **dict.fromkeys(
        ("seaborn.set", "seaborn.set_theme"),
        ("context", "style", "palette", "font", "font_scale", "color_codes", "rc"),
    ),
    **dict.fromkeys(("seaborn.set_style", "seaborn.axes_style"), ("style", "rc")),
    **dict.fromkeys(("seaborn.set_context", "seaborn.plotting_context"), ("context", "font_scale", "rc")),
}
_TABLES: Final = frozenset(("context", "style", "rc"))


def sets_looks(function: str, call: ast.Call) -> bool | None:
    """Say whether a call sets only what tables and plots look like; None where the function sets no options.

    `function` is its full name. The values are not judged.
    """
    owner, _, name = function.rpartition(".")
    if function in _PANDAS:
        options = call.args[:: 2 if name in ("option_context", "set_option") else 1]
        return (
            not call.keywords
            and bool(options)
            and all(_is_text(item, _DISPLAY.fullmatch) for item in options)
        )
    if function in _DEFAULTS:
        return not call.args and not call.keywords
    if function == "matplotlib.use":
        return _has_one_of(call, BACKENDS)
    if owner in ("matplotlib.style", "matplotlib.pyplot.style") and name == "use":
        return _has_one_of(call, STYLES)
    if function in ("matplotlib.rc", "matplotlib.pyplot.rc"):
        return len(call.args) == 1 and _is_group(call.args[0], call.keywords)
    if owner in PLOT_SETTINGS and name == "update":
        return len(call.args) == 1 and not call.keywords and _is_looks(call.args[0])
    if function in _SEABORN:
        return _sets_looks_of_seaborn(call, _SEABORN[function])
    return None


def _sets_looks_of_seaborn(call: ast.Call, parameters: tuple[str, ...]) -> bool:
    """Return whether a style, a context or `rc` has only settings for looks: each may be a table
    of any settings.
    """
    arguments = dict(zip(parameters, call.args, strict=False))
    arguments |= {item.arg or "": item.value for item in call.keywords}
    return (
        len(call.args) <= len(parameters)
        and not any(isinstance(item, ast.Starred) for item in call.args)
        and arguments.keys() <= set(parameters)
        and all(
            _is_text(arguments[name], str) or _is_looks(arguments[name])
            for name in _TABLES & arguments.keys()
        )
    )


def is_plot_look(key: ast.expr) -> bool:
    """Return whether `rcParams[key]` is a setting for what plots look like."""
    return _is_text(key, is_look)


def _is_text(node: ast.expr, matches: Callable[[str], object]) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(matches(node.value))


def _has_one_of(call: ast.Call, names: Iterable[str]) -> bool:
    return len(call.args) == 1 and not call.keywords and _is_text(call.args[0], set(names).__contains__)


def _is_group(group: ast.expr, values: Iterable[ast.keyword]) -> bool:
    """Return whether `rc("axes", grid=True)` sets looks."""
    return all(value.arg is not None and _is_text(group, partial(_is_look_of, value.arg)) for value in values)


def _is_look_of(name: str, group: str) -> bool:
    return is_look(f"{group}.{name}")


def _is_looks(node: ast.expr) -> bool:
    """Return whether it is a table that is written in the code, of settings for what plots look like."""
    match node:
        case ast.Dict(keys):
            return all(key is not None and is_plot_look(key) for key in keys)
        case ast.Constant(None):
            return True
        case _:
            return False
