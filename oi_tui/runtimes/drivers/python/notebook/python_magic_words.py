"""What each `%word` and `%%word` of a notebook does here."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import os
import re
import shlex
import subprocess
import sys

from python_commands import Commands
from python_driver import import_quietly
from python_more_words import MoreWords

#: What has no meaning here and does no harm where it is left out.
_SILENT = frozenset(
    "autoawait autocall autoindent automagic autosave clear cls colors doctest_mode gui killbgscripts logoff "
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
#: What %matplotlib may name: figures are shown in the conversation with each of them.
_BACKENDS = frozenset(
    "auto gtk gtk3 gtk4 inline ipympl macosx nbagg notebook osx qt qt4 qt5 qt6 tk webagg widget wx".split()
)
_COMMANDS = frozenset("ls mkdir cp mv rm cat rmdir touch man which".split())


#: Magics of IPython that are left out on purpose: why, and what to use.
_NOT_OFFERED = {
    "pastebin": "nothing is uploaded. %save FILE 1-3 writes cells to a file.",
    "edit": "a cell cannot open your editor. Edit the code of a cell in the conversation, or use %load FILE.",
    "ed": "a cell cannot open your editor. Edit the code of a cell in the conversation, or use %load FILE.",
}


class Magics(MoreWords):
    """What lines that are no Python became, called from the cell in which they stand."""

    def __init__(self, driver):
        self._driver = driver
        self._commands = Commands(driver)
        self._last_folder = None
        #: Functions of the program, by their names.
        self.registered = {"line": {}, "cell": {}}
        #: Whether errors open the debugger.
        self.debugs_errors = False
        self._prepare()
        self.shell = self._commands.shell
        self.capture = self._commands.capture

    @property
    def _names(self):
        return self._driver.module.__dict__

    def line(self, text):
        """`%name rest`."""
        name, _, rest = text.partition(" ")
        own = self.registered["line"].get(name)
        if own is not None:
            return own(self._commands.expanded(rest.strip()))
        known = getattr(type(self), "_line_" + name.rstrip("?"), None)
        if name.endswith("?") or name in ("pinfo", "pinfo2"):
            return self.facts(
                "%" + name.rstrip("?") if name.endswith("?") else rest, name.endswith(("??", "2"))
            )
        rest = rest.strip()
        if name in ("time", "timeit", "prun"):
            return self._timing(name, self._padding() + rest, rest)
        rest = self._commands.expanded(rest)
        if known is not None:
            return known(self, rest)
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
        written = "\n".join(lines[self._above(lines) :])
        if name not in ("time", "timeit", "prun", "sql", "debug"):
            rest = self._commands.expanded(rest)
        own = self.registered["cell"].get(name)
        if own is not None:
            return own(rest, written if written.endswith("\n") else written + "\n")
        if name in _SCRIPTS:
            return self._script(name, rest, written)
        if name in ("time", "timeit", "prun"):
            return self._timing(name, body, text, rest)
        known = getattr(type(self), "_cell_" + name, None)
        if name in ("!", "system", "sx"):
            known = type(self)._cell_system
        if known is not None:
            return known(self, rest, body if name in ("capture", "sql", "debug") else written)
        raise NameError("%%{} is not known here; %lsmagic lists what is".format(name)) from None

    def register(self, function, kind, name):
        """Have lines, cells or both that begin with the name call a function of the program."""
        if kind not in ("line", "cell", "line_cell"):
            raise ValueError("magic_kind must be line, cell or line_cell, not {!r}".format(kind))
        for item in kind.split("_"):
            self.registered[item][name] = function

    def facts(self, name, all_of_it):
        """`name?` and `name??`."""
        import_quietly("python_facts").show(
            self._names, name.lstrip("%") if name in "%%" else name, all_of_it, self
        )

    def names(self):
        """The words that are known, of lines and of cells."""
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
        """What a word does, in a sentence; None where it is not known."""
        word = name.lstrip("%")
        if word in ("time", "timeit", "prun"):
            return "Says how long the code takes."
        if word in _SCRIPTS:
            return "Has {} run the lines below it.".format(word)
        if word in _COMMANDS or word in _ALIASES:
            return "Runs the command {}.".format(_ALIASES.get(word, word).replace(" %l", ""))
        for kind in ("_line_", "_cell_"):
            known = getattr(Magics, kind + word, None)
            if known is not None:
                return known.__doc__
        return "Has no effect here." if word in _SILENT else None

    @staticmethod
    def _above(lines):
        return next((at for at, line in enumerate(lines) if line), len(lines))

    def _padding(self):
        """Empty lines that put code on the line of the cell which is being run."""
        frame = sys._getframe(1)
        while frame.f_code.co_filename == __file__ and frame.f_back is not None:
            frame = frame.f_back
        return "\n" * (frame.f_lineno - 1) if frame.f_code.co_filename.startswith("<cell ") else ""

    def _timing(self, name, source, code, options=None):
        timing = import_quietly("python_timing")
        return getattr(timing, name)(self._driver, source, code, options)

    # -- programs

    def _line_pip(self, rest):
        """Runs pip for this Python."""
        self._commands.pip(shlex.split(rest))

    _line_pip3 = _line_pip

    def _line_conda(self, rest):
        """Runs conda for this Python."""
        self._commands.conda(["conda", *shlex.split(rest)])

    def _line_mamba(self, rest):
        """Runs mamba for this Python."""
        self._commands.conda(["mamba", *shlex.split(rest)])

    def _line_micromamba(self, rest):
        """Runs micromamba for this Python."""
        self._commands.conda(["micromamba", *shlex.split(rest)])

    def _line_uv(self, rest):
        """Runs uv."""
        status = self._commands.program(["uv", *shlex.split(rest)]).returncode
        if status:
            raise SystemExit(status)

    def _line_sx(self, rest):
        """Runs a command; its output, line by line."""
        return self.capture(rest)

    _line_system = _line_sx

    def _line_sc(self, rest):
        """Keeps the output of a command in a variable: `%sc NAME = COMMAND`; with -l, its lines."""
        words = rest.split(None, 1)
        as_lines = words[:1] in (["-l"], ["-lv"])
        name, equals, command = (words[-1] if as_lines else rest).partition("=")
        if not equals or not name.strip().isidentifier():
            raise ValueError("%sc takes a name and a command: %sc files = ls")
        lines = self.capture(command.strip())
        self._names[name.strip()] = lines if as_lines else lines.n

    def _script(self, name, rest, text):
        words, options, wanted = shlex.split(rest), {}, None
        while words and words[0].startswith("--"):
            option, _, value = words.pop(0)[2:].partition("=")
            if option in ("out", "err"):
                options[option] = value or words.pop(0)
            elif option == "no-raise-error":
                wanted = 0
            elif option not in ("raise-error", "bg"):
                raise ValueError("%%{}: --{} is not known here".format(name, option))
        program = {"script": [], "shell": ["bash"], "python": [sys.executable], "python3": [sys.executable]}
        status = self._commands.script([*program.get(name, [name]), *words], text, **options)
        if status and wanted is None:
            raise subprocess.CalledProcessError(status, name)

    def _cell_system(self, rest, body):
        """Has the shell run the lines below it; their output, line by line."""
        return self.capture(body)

    # -- folders, files, the environment

    def _line_cd(self, rest):
        """Changes the working directory; `-` goes back, `-3` to that folder of %dhist."""
        words = shlex.split(rest)
        quiet = "-q" in words
        words = [word for word in words if word != "-q"]
        here = os.getcwd()
        folder = words[0] if len(words) == 1 else " ".join(words) or "~"
        if words[:1] in (["-b"], ["--bookmark"]) and len(words) == 2:
            if words[1] not in self._bookmarks:
                raise ValueError("%cd -b: there is no bookmark {}; %bookmark -l lists them".format(words[1]))
            folder = self._bookmarks[words[1]]
            print("(bookmark:{}) -> {}".format(words[1], folder))
        elif folder == "-":
            if self._last_folder is None:
                raise ValueError("%cd -: there is no earlier folder")
            folder = self._last_folder
        elif re.fullmatch(r"-\d+", folder):
            at = int(folder[1:])
            if at >= len(self.folders):
                raise ValueError("%cd {}: there is no such folder in %dhist".format(folder))
            folder = self.folders[at]
        os.chdir(os.path.expanduser(folder))
        self._last_folder = here
        if os.getcwd() != here:
            self.folders.append(os.getcwd())
        if not quiet:
            print(os.getcwd())

    def _line_pwd(self, rest):
        """The working directory."""
        return os.getcwd()

    def _line_env(self, rest):
        """The environment; with a name, a variable of it; with NAME=value, sets one."""
        if not rest:
            return dict(sorted(os.environ.items()))
        name, equals, value = rest.partition("=")
        if not equals:
            name, _, value = rest.partition(" ")
        name, value = name.strip(), value.strip()
        if not equals and not value:
            if name not in os.environ:
                raise KeyError("there is no variable {} in the environment".format(name))
            return os.environ[name]
        os.environ[name] = value
        print("env: {}={}".format(name, value))
        return None

    _line_set_env = _line_env

    def _cell_writefile(self, rest, body):
        """Writes the lines below it to a file; `-a` appends."""
        words = shlex.split(rest)
        append = words[:1] in (["-a"], ["--append"])
        path = os.path.expanduser(words[-1] if words[append:] else "")
        if not path:
            raise ValueError("%%writefile: name the file")
        there = os.path.exists(path)
        with open(path, "a" if append else "w", encoding="utf-8") as file:
            # A cell ends without a newline, and a file with one, also where more is appended to it.
            file.write(body if not body or body.endswith("\n") else body + "\n")
        print("{} {}".format("Appending to" if append else "Overwriting" if there else "Writing", path))

    _cell_file = _cell_writefile

    def _line_run(self, rest):
        """Runs a Python file or a notebook as a program, and keeps what it defines."""
        import_quietly("python_programs").run(self._driver, shlex.split(rest))

    def _line_load(self, rest):
        """Shows a file."""
        with open(os.path.expanduser(rest), encoding="utf-8") as file:
            print(file.read(), end="")

    _line_loadpy = _line_load

    # -- what is remembered

    def _mine(self, kinds=""):
        wanted = kinds.split()
        return [
            name
            for name, value in sorted(self._names.items())
            if not name.startswith("_") and (not wanted or type(value).__name__ in wanted)
        ]

    def _line_who(self, rest):
        """The names of the variables, or of those of these types."""
        print("\t ".join(self._mine(rest)) or "Nothing is remembered.")

    def _line_who_ls(self, rest):
        """The names of the variables, as a list."""
        return self._mine(rest)

    def _line_whos(self, rest):
        """The variables with their types and what they hold."""
        import_quietly("python_facts").table(self._names, self._mine(rest))

    def _line_reset(self, rest):
        """Forgets all variables; -f does not ask."""
        if "-f" not in rest.split():
            answer = builtins.input("All variables will be forgotten. Go on (y/[n])? ")
            if answer.strip().lower() not in ("y", "yes"):
                print("Nothing was done.")
                return
        for name in self._mine():
            del self._names[name]

    def _line_reset_selective(self, rest):
        """Forgets the variables in whose names a pattern is found."""
        pattern = re.compile(rest.replace("-f", "", 1).strip())
        for name in self._mine():
            if pattern.search(name):
                del self._names[name]

    def _line_xdel(self, rest):
        """Forgets a variable."""
        if self._names.pop(rest.split()[-1] if rest else "", self) is self:
            raise NameError("there is no variable {}".format(rest))

    # -- figures and displays

    def _line_matplotlib(self, rest):
        """Shows figures in the conversation, whichever way is named; `--list` lists the ways."""
        words = rest.split()
        if words[:1] in (["-l"], ["--list"]):
            print("Available matplotlib backends: {}".format(sorted(_BACKENDS)))
            return
        name = words[0].strip("'\"").lower() if words else ""
        if name == "agg":
            # The only one that says: show nothing.
            __import__("matplotlib").use("agg")
            return
        if name and name not in _BACKENDS and not name.startswith("module://"):
            raise ValueError("%matplotlib {}: %matplotlib --list lists the names".format(words[0]))
        self._driver.shows.choose_backend()

    def _line_pylab(self, rest):
        """Imports numpy as np and matplotlib.pyplot as plt, with all their names; or only these two with
        `--no-import-all`.
        """
        words = rest.split()
        self._line_matplotlib(" ".join(word for word in words if word != "--no-import-all"))
        exec("import numpy, numpy as np, matplotlib.pyplot as plt, matplotlib.mlab as mlab", self._names)
        exec("import matplotlib\npylab = __import__('pylab')\npyplot = plt", self._names)
        if "--no-import-all" not in words:
            exec("from pylab import *\nfrom numpy import *", self._names)
        print("%pylab is deprecated, use %matplotlib inline and import the required libraries.")
        print("Populating the interactive namespace from numpy and matplotlib")

    def _line_pprint(self, rest):
        """Shows containers in one line each, or broken into lines again."""
        shows = self._driver.shows
        shows.is_pretty = not shows.is_pretty
        print("Pretty printing has been turned {}".format("ON" if shows.is_pretty else "OFF"))

    def _cell_html(self, rest, body):
        """Displays the lines below it as a page."""
        self._driver.shows.display({"text/html": body}, raw=True)

    _cell_HTML = _cell_html

    def _cell_svg(self, rest, body):
        """Displays the lines below it as a picture."""
        self._driver.shows.display({"image/svg+xml": body}, raw=True)

    def _cell_markdown(self, rest, body):
        """Prints the lines below it."""
        print(body)

    _cell_latex = _cell_markdown

    def _cell_javascript(self, rest, body):
        """Has no effect: it would run in a notebook's page."""
        print("This was not run: there is no page for it. Cells of javascript are run.", file=sys.stderr)

    _cell_js = _cell_javascript

    def _cell_capture(self, rest, body):
        """Keeps what the lines below it print and display, in a variable if one is named."""
        import_quietly("python_captured").run(self._driver, rest.split(), body)

    def _line_snapshot(self, rest):
        """Keeps the variables in a file: `save FILE`, or brings them back: `load FILE`.

        `leave FILE BYTES SECONDS` keeps what has room and time.
        """
        words = shlex.split(rest)
        if {"save": 2, "load": 2, "leave": 4}.get("".join(words[:1])) != len(words):
            raise ValueError("write %snapshot save FILE or %snapshot load FILE")
        action, file, *bounds = words
        act = getattr(import_quietly("python_snapshot"), action)
        act(self._names, os.path.abspath(os.path.expanduser(file)), *map(float, bounds))

    def _line_store(self, rest):
        """Keeps variables between sessions: `%store NAME`; `-r` brings them back, `-d NAME` forgets one."""
        import_quietly("python_store").run(self._driver, rest, rest.split())

    def _line_config(self, rest):
        """Shows and changes options: `%config InlineBackend.figure_format = "retina"`."""
        return self._driver._get_ipython().options.command(rest)

    # -- databases

    @property
    def _databases(self):
        return import_quietly("python_sql").databases_of(self._driver)

    def _line_sql(self, rest):
        """Runs a query and returns its rows; data frames are tables by their names."""
        return self._databases.line(rest, self._names)

    def _cell_sql(self, rest, body):
        """Runs SQL; `NAME <<` keeps the rows, and a file names the database from then on."""
        return self._databases.cell(rest, body, self._names)

    # -- errors, extensions, what there is

    def _line_tb(self, rest):
        """Shows the last error again."""
        if getattr(sys, "last_value", None) is None:
            print("There was no error.")
        else:
            self._driver._print_error(sys.last_value)

    def _line_debug(self, rest):
        """Looks at the place of the last error, or runs code, in Python's debugger."""
        if rest:
            self._debug(self._padding() + rest)
        elif getattr(sys, "last_value", None) is None:
            print("There was no error to look at.", file=sys.stderr)
        else:
            __import__("pdb").pm()

    def _cell_debug(self, rest, body):
        """Runs the lines below it in Python's debugger, step by step."""
        self._debug(body)

    def _debug(self, source):
        name = self._driver.file_name
        tree = self._driver.tree_of(name, source)
        __import__("pdb").Pdb().run(compile(tree, name, "exec"), self._names)

    def _line_pdb(self, rest):
        """Opens Python's debugger after each error: `%pdb on`, `%pdb off`; alone, the other of the two."""
        wanted = {"on": True, "1": True, "off": False, "0": False, "": not self.debugs_errors}
        if rest.lower() not in wanted:
            raise ValueError("%pdb is on or off, not {}".format(rest))
        self.debugs_errors = wanted[rest.lower()]
        print("Automatic pdb calling has been turned {}".format("ON" if self.debugs_errors else "OFF"))

    def _line_load_ext(self, rest):
        """Loads an extension: autoreload, or a module with the function load_ipython_extension."""
        if not rest:
            raise ValueError("%load_ext: name the extension")
        if rest == "autoreload":
            import_quietly("python_reload").of(self._driver)
            return
        try:
            extension = __import__("importlib").import_module(rest)
        except ImportError as error:
            if rest == "sql":
                print("The extension sql is not installed, and not needed: %sql works without it.")
                return
            raise error.with_traceback(None) from None
        load = getattr(extension, "load_ipython_extension", None)
        if load is None:
            print("The extension {} was not loaded: it has no load_ipython_extension.".format(rest))
        else:
            load(self._driver._get_ipython())

    _line_reload_ext = _line_load_ext

    def _line_autoreload(self, rest):
        """Reads modules anew whose files changed, before each cell: 0 none, 1 those of %aimport, 2 all."""
        import_quietly("python_reload").of(self._driver).choose(rest)

    def _line_aimport(self, rest):
        """Imports a module that %autoreload 1 reads anew."""
        import_quietly("python_reload").of(self._driver).add(rest)

    def _line_lsmagic(self, rest):
        """Lists what there is."""
        lines, cells = self.names()
        print("%{}\n\n%%{}".format("  %".join(lines), "  %%".join(cells)))

    _line_magic = _line_quickref = _line_lsmagic
