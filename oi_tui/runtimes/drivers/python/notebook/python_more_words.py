"""Words of notebooks about aliases, objects, folders, and how numbers and errors are shown."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import os
import re
import shlex

from python_driver import import_quietly
from python_history_words import HistoryWords, whole_number


class MoreWords(HistoryWords):
    """A part of the magics, whose driver it uses."""

    def _prepare(self):
        #: Commands of the shell by the names that the program gave them.
        self.aliases = {}
        #: The folders that were entered, under the name that IPython has for them, and those to go back to.
        self.folders = builtins._dh = [os.getcwd()]
        self._pushed = []
        #: Folders by the names that %bookmark gave them.
        self._bookmarks = {}

    # -- names for commands

    def _line_alias(self, rest):
        """Gives a command of the shell a name: `%alias NAME COMMAND`; %s in it are arguments, %l the line."""
        name, _, command = rest.partition(" ")
        if not name:
            aliases = sorted(self.aliases.items())
            print("Total number of aliases: {}".format(len(aliases)))
            return aliases
        if not command.strip():
            if name not in self.aliases:
                raise NameError("{} is no alias; %alias NAME COMMAND makes one".format(name))
            print("{} = {}".format(name, self.aliases[name]))
            return None
        self.aliases[name] = command.strip()
        return None

    def _line_unalias(self, rest):
        """Forgets the name of a command."""
        if self.aliases.pop(rest, None) is None:
            raise NameError("{!r} is no alias".format(rest))

    def _line_alias_magic(self, rest):
        """Gives a magic another name: `%alias_magic NEW OLD`; -l for lines only, -c for cells only."""
        words = shlex.split(rest)
        kinds = [kind for kind, option in (("line", "-l"), ("cell", "-c")) if option in words]
        words = [word for word in words if word not in ("-l", "-c", "--line", "--cell")]
        if len(words) != 2:
            raise ValueError("%alias_magic takes the new name and the one that there is")
        new, old = (word.lstrip("%") for word in words)
        lines, cells = self.names()
        for kind, known in (("line", lines), ("cell", cells)):
            if old not in known or (kinds and kind not in kinds):
                continue
            run = self.line if kind == "line" else self.cell
            self.registered[kind][new] = _renamed(run, old, kind)
            print(
                "Created `{0}{1}` as an alias for `{0}{2}`.".format("%" if kind == "line" else "%%", new, old)
            )
        if old not in lines and old not in cells:
            raise NameError("%{} is not known here; %lsmagic lists what is".format(old))

    def run_alias(self, name, rest):
        """Run the command that has the name."""
        command = self.aliases[name]
        if "%l" in command:
            return self.shell(command.replace("%l", rest))
        wanted = len(re.findall(r"(?<!%)%s", command))
        if not wanted:
            return self.shell("{} {}".format(command.replace("%%s", "%s"), rest).rstrip())
        words = rest.split(None, wanted)
        if len(words) < wanted:
            raise ValueError(
                "the alias {} takes {} argument{}, and got {}".format(
                    name, wanted, "s" * (wanted != 1), len(words)
                )
            )
        parts = re.split(r"(?<!%)%s", command)
        filled = parts[0] + "".join(word + part for word, part in zip(words, parts[1:]))
        return self.shell("{} {}".format(filled, " ".join(words[wanted:])).rstrip())

    # -- objects

    def _fact(self, rest, print_it):
        name = rest.strip()
        try:
            value = eval(name, self._names)
        except Exception:
            print("Object `{}` not found.".format(name))
            return
        print_it(import_quietly("inspect"), value, name)

    def _line_pdoc(self, rest):
        """Prints the documentation of an object."""

        def show(inspect, value, name):
            documented = inspect.getdoc(value)
            kind = "Class docstring:" if isinstance(value, type) else "Docstring:"
            lines = (documented or "<no docstring>").splitlines()
            print("\n".join([kind, *("    " + line if line else "" for line in lines)]))
            if isinstance(value, type) and inspect.getdoc(value.__init__):
                lines = inspect.getdoc(value.__init__).splitlines()
                print("\n".join(["Init docstring:", *("    " + line if line else "" for line in lines)]))

        self._fact(rest, show)

    def _line_psource(self, rest):
        """Prints the source of an object."""

        def show(inspect, value, name):
            try:
                known = isinstance(value, (type, type(os))) or inspect.isroutine(value)
                print(inspect.getsource(value if known else type(value)).rstrip())
            except (OSError, TypeError):
                print("No source found for {}".format(name))

        self._fact(rest, show)

    def _line_pdef(self, rest):
        """Prints how an object is called."""

        def show(inspect, value, name):
            if not callable(value):
                print("Object is not callable.")
                return
            try:
                print("{}{}".format(name.rpartition(".")[2], inspect.signature(value)))
            except (ValueError, TypeError):
                print("No definition header found for {}".format(name))

        self._fact(rest, show)

    def _line_pfile(self, rest):
        """Prints the file in which an object is defined."""

        def show(inspect, value, name):
            known = isinstance(value, (type, type(os))) or inspect.isroutine(value)
            try:
                file = inspect.getsourcefile(value if known else type(value))
                with open(file, encoding="utf-8") as opened:
                    print(opened.read())
            except (OSError, TypeError):
                print("No file found for {}".format(name))

        self._fact(rest, show)

    def _line_psearch(self, rest):
        """Lists the names that match a pattern: `%psearch os.get*`."""
        words = [word for word in rest.split() if not word.startswith("-")]
        if not words:
            raise ValueError("%psearch takes a pattern: %psearch os.get*")
        pattern = words[0] if "*" in words[0] else words[0] + "*"
        import_quietly("python_facts").show(self._names, pattern, False, self)

    # -- folders

    def _line_bookmark(self, rest):
        """Names a folder for `%cd -b NAME`: `%bookmark NAME [FOLDER]`; -l lists, -d forgets one, -r all."""
        words = shlex.split(rest)
        option = words.pop(0) if words[:1] in (["-l"], ["-d"], ["-r"]) else ""
        if option == "-l":
            print("Current bookmarks:")
            for name, folder in sorted(self._bookmarks.items()):
                print("{} -> {}".format(name, folder))
        elif option == "-r":
            self._bookmarks.clear()
        elif not words:
            raise ValueError("%bookmark: name the bookmark")
        elif option == "-d":
            if self._bookmarks.pop(words[0], None) is None:
                raise ValueError("%bookmark: there is no bookmark {}".format(words[0]))
        else:
            folder = os.path.expanduser(" ".join(words[1:])) or os.getcwd()
            self._bookmarks[words[0]] = os.path.abspath(folder)

    def _line_dhist(self, rest):
        """The folders that were entered: all, the last N, or those from one number to another."""
        numbers = [whole_number(word, "%dhist") for word in rest.split()]
        first, end = 0, len(self.folders)
        if len(numbers) == 1:
            first = max(end - numbers[0], 0)
        elif len(numbers) == 2:
            first, end = numbers[0], min(numbers[1], end)
        elif numbers:
            print("%dhist takes no number, one or two.")
            return
        print("Directory history (kept in _dh)")
        for at in range(first, end):
            print("{}: {}".format(at, self.folders[at]))

    def _line_pushd(self, rest):
        """Changes the folder, and keeps the one before for %popd."""
        self._pushed.insert(0, _short(os.getcwd()))
        if rest:
            self._line_cd(rest)
        return self._line_dirs("")

    def _line_popd(self, rest):
        """Goes back to the folder before the last %pushd."""
        if not self._pushed:
            raise ValueError("%popd on empty stack")
        folder = self._pushed.pop(0)
        self._line_cd(shlex.quote(os.path.expanduser(folder)))
        print("popd -> {}".format(folder))

    def _line_dirs(self, rest):
        """The folders that %popd goes back to."""
        return list(self._pushed)

    # -- how numbers and errors are shown

    def _line_precision(self, rest):
        """How floats and arrays of numpy are shown: a number of digits, or a format such as %.3e."""
        if not rest:
            form, digits = "%r", 8
        elif rest.isdecimal():
            digits = int(rest)
            form = "%.{}f".format(digits)
        else:
            try:
                rest % 3.14159
            except Exception:
                raise ValueError(
                    "Precision must be integer or format string, not {!r}".format(rest)
                ) from None
            match = re.search(r"%\d*\.?(\d*)", rest)
            form, digits = rest, int(match.group(1) or 8) if match else 8
        self._driver.shows.float_format = None if form == "%r" else form
        numpy = import_quietly("sys").modules.get("numpy")
        if numpy is not None:
            numpy.set_printoptions(precision=digits)
        return form

    def _line_xmode(self, rest):
        """How errors are shown: Plain, Context, Verbose (with variables) or Minimal (in one line)."""
        trouble = import_quietly("python_trouble")
        modes = ("Plain", "Context", "Verbose", "Minimal")
        wanted = rest.capitalize() or modes[(modes.index(trouble.mode) + 1) % len(modes)]
        if wanted not in modes and wanted != "Docs":
            raise ValueError(
                "unrecognized error mode {!r}: {} and Docs are known".format(rest, ", ".join(modes))
            )
        trouble.mode = "Context" if wanted == "Docs" else wanted
        print("Exception reporting mode: {}".format(wanted))


def _renamed(run, old, kind):
    if kind == "line":
        return lambda line="": run("{} {}".format(old, line).rstrip())
    return lambda line="", cell="": run("{} {}".format(old, line).rstrip(), cell)


def _short(folder):
    home = os.path.expanduser("~")
    inside = folder == home or folder.startswith(home + os.sep)
    return "~" + folder[len(home) :] if inside else folder
