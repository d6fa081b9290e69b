"""Magics of notebooks about variables: they list, forget, explain and keep them."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import os
import re
import shlex

from python_quiet_import import import_quietly


class ValueMagics:
    """A part of the magics, whose driver it uses."""

    def _select_names(self, kinds=""):
        kind_names = kinds.split()
        return [
            name
            for name, value in sorted(self._names.items())
            if not name.startswith("_") and (not kind_names or type(value).__name__ in kind_names)
        ]

    def _line_who(self, rest):
        """The names of the variables, or of those of these types."""
        names = self._select_names(rest)
        nothing = "No variables match your requested type." if rest.strip() else "Nothing is remembered."
        print("\t ".join(names) or nothing)

    def _line_who_ls(self, rest):
        """The names of the variables, as a list."""
        return self._select_names(rest)

    def _line_whos(self, rest):
        """The variables with their types and what they hold."""
        import_quietly("python_facts").print_table(self._names, self._select_names(rest))

    def _line_reset(self, rest):
        """Forgets all variables; -f does not ask."""
        if "-f" not in rest.split():
            answer = builtins.input("All variables will be deleted. Continue (y/[n])? ")
            if answer.strip().lower() not in ("y", "yes"):
                print("Nothing was done.")
                return
        for name in self._select_names():
            del self._names[name]

    def _line_reset_selective(self, rest):
        """Forgets the variables in whose names a pattern is found."""
        pattern = re.compile(rest.replace("-f", "", 1).strip())
        for name in self._select_names():
            if pattern.search(name):
                del self._names[name]

    def _line_xdel(self, rest):
        """Forgets a variable."""
        if self._names.pop(rest.split()[-1] if rest else "", self) is self:
            raise NameError("there is no variable {}".format(rest))

    def _line_snapshot(self, rest):
        """Keeps the variables in a file: `save FILE`, or brings them back: `load FILE`.

        `leave FILE BYTES SECONDS` keeps what has room and time.
        """
        arguments = shlex.split(rest)
        if {"save": 2, "load": 2, "leave": 4}.get("".join(arguments[:1])) != len(arguments):
            raise ValueError("write %snapshot save FILE or %snapshot load FILE")
        action, file, *bounds = arguments
        act = getattr(import_quietly("python_snapshot"), action)
        act(self._names, os.path.abspath(os.path.expanduser(file)), *map(float, bounds))

    def _line_store(self, rest):
        """Keeps variables between sessions: `%store NAME`; `-r` brings them back, `-d NAME` forgets one."""
        import_quietly("python_store").run(self._driver, rest, rest.split())

    def _get_fact(self, rest, print_it):
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

        self._get_fact(rest, show)

    def _line_psource(self, rest):
        """Prints the source of an object."""

        def show(inspect, value, name):
            try:
                has_source = isinstance(value, (type, type(os))) or inspect.isroutine(value)
                print(inspect.getsource(value if has_source else type(value)).rstrip())
            except (OSError, TypeError):
                print("No source found for {}".format(name))

        self._get_fact(rest, show)

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

        self._get_fact(rest, show)

    def _line_pfile(self, rest):
        """Prints the file in which an object is defined."""

        def show(inspect, value, name):
            has_source = isinstance(value, (type, type(os))) or inspect.isroutine(value)
            try:
                file = inspect.getsourcefile(value if has_source else type(value))
                with open(file, encoding="utf-8") as stream:
                    print(stream.read())
            except (OSError, TypeError):
                print("No file found for {}".format(name))

        self._get_fact(rest, show)

    def _line_psearch(self, rest):
        """Lists the names that match a pattern: `%psearch os.get*`."""
        arguments = [argument for argument in rest.split() if not argument.startswith("-")]
        if not arguments:
            raise ValueError("%psearch takes a pattern: %psearch os.get*")
        pattern = arguments[0] if "*" in arguments[0] else arguments[0] + "*"
        import_quietly("python_facts").show(self._names, pattern, False, self)
