"""Runs the magics of a notebook: lines such as `%cd` and cells such as `%%bash`.

The modules beside this one have them by subject.
"""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import functools
import shlex
import sys

import python_error_magics
from python_commands import Commands
from python_display_magics import DisplayMagics
from python_error_magics import ErrorMagics
from python_extension_magics import ExtensionMagics
from python_folder_magics import FolderMagics, find_folder
from python_history_magics import HistoryMagics
from python_program_magics import ProgramMagics
from python_quiet_import import import_quietly
from python_value_magics import ValueMagics

#: The files whose functions may stand between a magic and the cell that calls it.
_FILES = frozenset((__file__, python_error_magics.__file__))

#: What has no meaning here and does no harm where it is left out.
_SILENT = frozenset(
    "autoawait autoindent automagic autosave clear cls colors doctest_mode gui logoff "
    "logon logstart logstate logstop nbagg page rehashx subshell unload_ext".split()
)
_SHELLS = frozenset(("bash", "sh", "zsh"))
_SCRIPTS = frozenset("bash sh zsh python python2 python3 pypy perl ruby node script shell".split())
_ALIASES = {
    "ll": "ls -l",
    "lf": "ls -l",
    "more": "cat",
    "less": "cat",
    "pycat": "cat",
    "ldir": "ls -lF %l | grep /$",
    "lk": "ls -l %l | grep ^l",
    "lx": "ls -l %l | grep ^-..x",
}
_COMMANDS = frozenset("ls mkdir cp mv rm cat rmdir touch man which".split())


#: Magics of IPython that are left out on purpose: why, and what to use.
_NOT_OFFERED = {
    "pastebin": "nothing is uploaded. %save FILE 1-3 writes cells to a file.",
    "edit": "a cell cannot open your editor. Edit the code of a cell in the conversation, or use %load FILE.",
    "ed": "a cell cannot open your editor. Edit the code of a cell in the conversation, or use %load FILE.",
}


class Magics(
    ProgramMagics, FolderMagics, ValueMagics, DisplayMagics, ErrorMagics, ExtensionMagics, HistoryMagics
):
    """What lines that are no Python became, called from the cell in which they stand."""

    def __init__(self, driver):
        self._driver = driver
        self._commands = Commands(driver)
        self._last_folder = None
        #: Functions of the program, by their names.
        self.registered = {"line": {}, "cell": {}}
        #: Whether errors open the debugger.
        self.debugs_errors = False
        #: Commands of the shell by the names that the program gave them.
        self.aliases = {}
        #: The folders that were entered, under the name that IPython has for them, and those to go back to.
        self.folders = builtins._dh = [find_folder()]
        self._pushed = []
        #: Folders by the names that %bookmark gave them.
        self._bookmarks = {}
        self.shell = self._commands.shell
        self.capture = self._commands.capture

    def _line_autocall(self, rest):
        """Says that automatic calls without parentheses are not supported."""
        if rest not in ("", "0"):
            raise NameError(
                "%autocall is not offered here: code runs as it is written. Write f(x)."
            ) from None
        print("Automatic calling is: OFF")

    @property
    def _names(self):
        return self._driver.module.__dict__

    def line(self, text):
        """`%name rest`."""
        name, _, rest = text.partition(" ")
        own = self.registered["line"].get(name)
        if own is not None:
            return own(self._commands.expand(rest.strip()))
        method = getattr(type(self), "_line_" + name.rstrip("?"), None)
        if name.endswith("?") or name in ("pinfo", "pinfo2"):
            return self.facts(
                "%" + name.rstrip("?") if name.endswith("?") else rest, name.endswith(("??", "2"))
            )
        rest = rest.strip()
        if name in ("time", "timeit", "prun"):
            return self._time_code(name, self._make_padding() + rest, rest)
        rest = self._commands.expand(rest)
        if method is not None:
            return method(self, rest)
        if name in self.aliases:
            return self.run_alias(name, rest)
        if name in _COMMANDS or name in _ALIASES:
            command = _ALIASES.get(name, name)
            command = command.replace("%l", rest) if "%l" in command else "{} {}".format(command, rest)
            return self.shell(command + " | cat" if name == "man" else command)
        if name in _SILENT:
            if name == "logstart":
                print("No log is written here. %history -f FILE and %save write cells to a file.")
            return None
        if name in _NOT_OFFERED:
            raise NameError("%{} is not offered here: {}".format(name, _NOT_OFFERED[name])) from None
        raise NameError("%{} is not known here; %lsmagic lists what is".format(name)) from None

    def cell(self, first, body):
        """`%%name rest` and the lines below it, with an empty line for each line above them."""
        name, _, rest = first.partition(" ")
        rest, text = rest.strip(), body.lstrip("\n") if name in ("time", "timeit", "prun", "capture") else ""
        lines = body.split("\n")
        source = "\n".join(lines[self._make_empty_lines(lines) :])
        if name not in ("time", "timeit", "prun", "sql", "debug"):
            rest = self._commands.expand(rest)
        own = self.registered["cell"].get(name)
        if own is not None:
            return own(rest, source if source.endswith("\n") else source + "\n")
        if name in _SCRIPTS:
            return self._script(name, rest, source)
        if name in ("time", "timeit", "prun"):
            return self._time_code(name, body, text, rest)
        method = getattr(type(self), "_cell_" + name, None)
        if name in ("!", "system", "sx"):
            method = type(self)._cell_system
        if method is not None:
            return method(self, rest, body if name in ("capture", "sql", "debug") else source)
        raise NameError("%%{} is not known here; %lsmagic lists what is".format(name)) from None

    def register(self, function, kind, name):
        """Have lines, cells or both that begin with the name call a function of the program."""
        if kind not in ("line", "cell", "line_cell"):
            raise ValueError("magic_kind must be line, cell or line_cell, not {!r}".format(kind))
        if getattr(function, "needs_local_scope", False):
            function = functools.partial(function, local_ns=self._names)
        for item in kind.split("_"):
            self.registered[item][name] = function

    def facts(self, name, all_of_it):
        """`name?` and `name??`."""
        import_quietly("python_facts").show(
            self._names, name.lstrip("%") if name in "%%" else name, all_of_it, self
        )

    def names(self):
        """Return the names of the line magics and of the cell magics."""
        lines = [item[6:] for item in dir(self) if item.startswith("_line_")]
        cells = [item[6:] for item in dir(self) if item.startswith("_cell_")]
        timing = ["prun", "time", "timeit"]
        return (
            sorted(
                {*lines, *timing, *_COMMANDS, *_ALIASES, *_SILENT, *self.aliases, *self.registered["line"]}
            ),
            sorted({*cells, *timing, *_SCRIPTS, *self.registered["cell"]}),
        )

    @staticmethod
    def description(name):
        """Return what a magic does, in a sentence; None where it is not known."""
        magic = name.lstrip("%")
        if magic in ("time", "timeit", "prun"):
            return "Says how long the code takes."
        if magic in _SCRIPTS:
            return "Has {} run the lines below it.".format(magic)
        if magic in _COMMANDS or magic in _ALIASES:
            return "Runs the command {}.".format(_ALIASES.get(magic, magic).replace(" %l", ""))
        for kind in ("_line_", "_cell_"):
            method = getattr(Magics, kind + magic, None)
            if method is not None:
                return method.__doc__
        return "Has no effect here." if magic in _SILENT else None

    @staticmethod
    def _make_empty_lines(lines):
        return next((at for at, line in enumerate(lines) if line), len(lines))

    def _make_padding(self):
        """Empty lines that put code on the line of the cell which is being run."""
        frame = sys._getframe(1)
        while frame.f_code.co_filename in _FILES and frame.f_back is not None:
            frame = frame.f_back
        return "\n" * (frame.f_lineno - 1) if frame.f_code.co_filename.startswith("<cell ") else ""

    def _time_code(self, name, source, code, options=None):
        timing = import_quietly("python_timing")
        return getattr(timing, name)(self._driver, source, code, options)

    def _line_run(self, rest):
        """Runs a Python file or a notebook as a program, and keeps what it defines."""
        import_quietly("python_programs").run(self._driver, shlex.split(rest))

    # -- databases

    @property
    def _databases(self):
        return import_quietly("python_sql").get_databases(self._driver)

    def _line_sql(self, rest):
        """Runs a query and returns its rows; data frames are tables by their names."""
        return self._databases.line(rest, self._names)

    def _cell_sql(self, rest, body):
        """Runs SQL; `NAME <<` keeps the rows, and a file names the database from then on."""
        return self._databases.cell(rest, body, self._names)

    def _line_alias_magic(self, rest):
        """Gives a magic another name: `%alias_magic NEW OLD`; -l for lines only, -c for cells only."""
        arguments = shlex.split(rest)
        kinds = [kind for kind, option in (("line", "-l"), ("cell", "-c")) if option in arguments]
        arguments = [argument for argument in arguments if argument not in ("-l", "-c", "--line", "--cell")]
        if len(arguments) != 2:
            raise ValueError("%alias_magic takes the new name and the one that there is")
        new, old = (name.lstrip("%") for name in arguments)
        lines, cells = self.names()
        for kind, names in (("line", lines), ("cell", cells)):
            if old not in names or (kinds and kind not in kinds):
                continue
            run = self.line if kind == "line" else self.cell
            self.registered[kind][new] = _rename_run(run, old, kind)
            print(
                "Created `{0}{1}` as an alias for `{0}{2}`.".format("%" if kind == "line" else "%%", new, old)
            )
        if old not in lines and old not in cells:
            raise NameError("%{} is not known here; %lsmagic lists what is".format(old))

    def _line_lsmagic(self, rest):
        """Lists what there is."""
        lines, cells = self.names()
        print("%{}\n\n%%{}".format("  %".join(lines), "  %%".join(cells)))

    _line_magic = _line_quickref = _line_lsmagic


def _rename_run(run, old, kind):
    if kind == "line":
        return lambda line="": run("{} {}".format(old, line).rstrip())
    return lambda line="", cell="": run("{} {}".format(old, line).rstrip(), cell)
