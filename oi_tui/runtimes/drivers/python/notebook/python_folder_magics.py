"""Magics of notebooks about folders, files and the environment."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import ast
import getopt
import os
import re
import shlex
import tokenize

from python_history_magics import parse_whole_number


def find_folder():
    """Return the working directory; its old name where it was deleted,
    for other magics must work there too.
    """
    try:
        return os.getcwd()
    except OSError:
        return os.environ.get("PWD", "")


class FolderMagics:
    """A part of the magics, whose driver it uses."""

    def _line_cd(self, rest):
        """Changes the working directory; `-` goes back, `-3` to that folder of %dhist."""
        arguments = shlex.split(rest)
        quiet = "-q" in arguments
        arguments = [argument for argument in arguments if argument != "-q"]
        here = find_folder()
        folder = arguments[0] if len(arguments) == 1 else " ".join(arguments) or "~"
        if arguments[:1] in (["-b"], ["--bookmark"]) and len(arguments) == 2:
            if arguments[1] not in self._bookmarks:
                raise ValueError(
                    "%cd -b: there is no bookmark {}; %bookmark -l lists them".format(arguments[1])
                )
            folder = self._bookmarks[arguments[1]]
            print("(bookmark:{}) -> {}".format(arguments[1], folder))
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

    def _line_bookmark(self, rest):
        """Names a folder for `%cd -b NAME`: `%bookmark NAME [FOLDER]`; -l lists, -d forgets one, -r all."""
        arguments = shlex.split(rest)
        option = arguments.pop(0) if arguments[:1] in (["-l"], ["-d"], ["-r"]) else ""
        if option == "-l":
            print("Current bookmarks:")
            for name, folder in sorted(self._bookmarks.items()):
                print("{} -> {}".format(name, folder))
        elif option == "-r":
            self._bookmarks.clear()
        elif not arguments:
            raise ValueError("%bookmark: name the bookmark")
        elif option == "-d":
            if self._bookmarks.pop(arguments[0], None) is None:
                raise ValueError("%bookmark: there is no bookmark {}".format(arguments[0]))
        else:
            folder = os.path.expanduser(" ".join(arguments[1:])) or os.getcwd()
            self._bookmarks[arguments[0]] = os.path.abspath(folder)

    def _line_dhist(self, rest):
        """The folders that were entered: all, the last N, or those from one number to another."""
        numbers = [parse_whole_number(word, "%dhist") for word in rest.split()]
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
        self._pushed.insert(0, _shorten_path(os.getcwd()))
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
        arguments = shlex.split(rest)
        append = arguments[:1] in (["-a"], ["--append"])
        path = os.path.expanduser(arguments[-1] if arguments[append:] else "")
        if not path:
            raise ValueError("%%writefile: name the file")
        there = os.path.exists(path)
        with open(path, "a" if append else "w", encoding="utf-8") as file:
            # A cell ends without a newline, and a file with one, also where more is appended to it.
            file.write(body if not body or body.endswith("\n") else body + "\n")
        print("{} {}".format("Appending to" if append else "Overwriting" if there else "Writing", path))

    _cell_file = _cell_writefile

    def _line_load(self, rest):
        """Shows what is in a file or at an address; `-r 1-5` some lines, `-s NAME` a definition of it."""
        options, arguments = getopt.gnu_getopt(shlex.split(rest), "r:s:yn")
        options = dict(options)
        if len(arguments) != 1:
            raise ValueError("%load: name one file or address")
        text = _read_source(arguments[0])
        if "-r" in options:
            lines = text.splitlines(keepends=True)
            text = "".join(
                lines[at] for part in options["-r"].split(",") for at in _parse_lines(part, len(lines))
            )
        if "-s" in options:
            text = _find_definitions(text, options["-s"].split(","))
        print(text, end="")

    _line_loadpy = _line_load


def _read_source(name):
    """Return the text of a file, also without its ending .py, or at an address."""
    if re.match(r"https?://", name, re.I):
        import urllib.error
        import urllib.request

        try:
            with urllib.request.urlopen(name, timeout=30) as page:
                return page.read().decode(page.headers.get_content_charset() or "utf-8", "replace")
        except urllib.error.URLError as error:
            raise OSError("{} cannot be loaded: {}".format(name, error)) from None
    path = os.path.expanduser(name)
    if not os.path.exists(path) and os.path.exists(path + ".py"):
        path += ".py"
    # As Python reads it: a coding line says how it is written.
    with tokenize.open(path) as file:
        return file.read()


def _parse_lines(part, many):
    """Return the numbers of the lines that `3`, `2-5`, `2-` or `-5` names, from 0 on."""
    first, mark, last = part.strip().partition("-")
    begin = int(first or 1)
    return range(begin - 1, min(many, int(last or many) if mark else begin))


def _find_definitions(text, names):
    """Return the definitions with these names, in their order. Raises ValueError for one that is missing."""
    definitions = {}
    for node in ast.parse(text).body:
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        lines = text.splitlines()[first - 1 : node.end_lineno]
        definitions[getattr(node, "name", "")] = "\n".join(lines) + "\n"
    missing = [name for name in names if name not in definitions]
    if missing:
        raise ValueError("%load: there is no definition of {}".format(", ".join(missing)))
    return "\n\n".join(definitions[name] for name in names)


def _shorten_path(folder):
    home = os.path.expanduser("~")
    inside = folder == home or folder.startswith(home + os.sep)
    return "~" + folder[len(home) :] if inside else folder
