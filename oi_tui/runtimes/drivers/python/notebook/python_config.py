"""What `%config` shows and changes: options of IPython and of its figures."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import sys

_INTERACTIVITY = ("all", "last", "last_expr", "none", "last_expr_or_assign")
#: Each option of each class: what it is at first, and what it does.
_OPTIONS = {
    "InlineBackend": {
        "close_figures": (True, "Close the figures at the end of a cell."),
        "figure_format": ("png", "'retina' draws figures with twice the dots."),
        "figure_formats": (set(), "The same, as a set."),
        "print_figure_kwargs": ({"bbox_inches": "tight"}, "What `savefig` is called with."),
        "rc": ({}, "Settings of matplotlib."),
    },
    "InteractiveShell": {
        "ast_node_interactivity": ("last_expr", "Whose values a cell shows: " + ", ".join(_INTERACTIVITY)),
        "colors": ("Neutral", "Has no effect here."),
        "xmode": ("Context", "How errors are shown; %xmode changes it."),
    },
    "IPCompleter": {
        "greedy": (False, "Has no effect here."),
        "use_jedi": (True, "Has no effect here."),
    },
}
#: What the classes are called where they are those of a notebook or a terminal.
_OTHER_NAMES = {
    "ZMQInteractiveShell": "InteractiveShell",
    "TerminalInteractiveShell": "InteractiveShell",
    "Completer": "IPCompleter",
}


class Options:
    """The options of a session, by the names of their classes and their own."""

    def __init__(self, shell):
        self._shell = shell
        self._set = {}

    def value(self, owner, name):
        """Return the value of an option."""
        if (owner, name) in self._set:
            return self._set[owner, name]
        module = sys.modules.get("IPython.core.interactiveshell")
        if owner == "InteractiveShell" and module is not None:
            # Code sets it for all shells: `InteractiveShell.ast_node_interactivity = "all"`.
            value = vars(module.InteractiveShell).get(name)
            if isinstance(value, str) and (name != "ast_node_interactivity" or value in _INTERACTIVITY):
                return value
        return _OPTIONS[owner][name][0]

    def change(self, owner, name, value):
        """Set an option, and apply it; an unknown one is kept, as in IPython."""
        owner = _OTHER_NAMES.get(owner, owner)
        if name == "ast_node_interactivity" and value not in _INTERACTIVITY:
            raise ValueError(
                "ast_node_interactivity is one of {}, not {!r}".format(", ".join(_INTERACTIVITY), value)
            )
        self._set[owner, name] = value
        shows = self._shell._driver.shows
        if name in ("figure_format", "figure_formats"):
            shows.is_fine = "retina" in value or "png2x" in value
        elif name == "print_figure_kwargs":
            shows.figure_options = dict(value)
        elif name == "close_figures":
            shows.closes_figures = bool(value)
        elif name == "xmode":
            self._shell._magics._line_xmode(value)
        elif name == "rc" and sys.modules.get("matplotlib") is not None:
            sys.modules["matplotlib"].rcParams.update(value)

    def command(self, rest):
        """Carry out `%config`, `%config CLASS`, `%config CLASS.option` or `%config CLASS.option = value`."""
        words, equals, value = rest.partition("=")
        owner, dot, name = words.strip().partition(".")
        if not owner:
            print("Available objects for config:")
            for known in sorted(_OPTIONS):
                print("    {}".format(known))
            return None
        if equals:
            self.change(owner, name.strip(), eval(value.strip(), self._shell.user_ns))
            return None
        owner = _OTHER_NAMES.get(owner, owner)
        if dot and (owner, name) in self._set:
            return self._set[owner, name]
        if owner not in _OPTIONS or (dot and name not in _OPTIONS[owner]):
            known = _OPTIONS.get(owner, _OPTIONS)
            raise ValueError("%config: {!r} is not known here; known are {}".format(rest, ", ".join(known)))
        if dot:
            return self.value(owner, name)
        print("{} options\n{}".format(owner, "-" * (len(owner) + 8)))
        for name, (_, meaning) in _OPTIONS[owner].items():
            print("{}.{}={!r}\n    {}".format(owner, name, self.value(owner, name), meaning))
        return None
