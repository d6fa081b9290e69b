"""Magics of notebooks that run programs: pip, conda, uv, scripts, commands of the shell and their aliases."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import re
import shlex
import subprocess
import sys


class ProgramMagics:
    """A part of the magics, whose driver it uses."""

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
        arguments = rest.split(None, 1)
        as_lines = arguments[:1] in (["-l"], ["-lv"])
        name, equals, command = (arguments[-1] if as_lines else rest).partition("=")
        if not equals or not name.strip().isidentifier():
            raise ValueError("%sc takes a name and a command: %sc files = ls")
        lines = self.capture(command.strip())
        self._names[name.strip()] = lines if as_lines else lines.n

    def _script(self, name, rest, text):
        words, arguments, options, raises, is_background = shlex.split(rest), [], {}, True, False
        while words:
            # Also behind the program, as in IPython; what it does not know belongs to the program.
            word = words.pop(0)
            option, _, value = word[2:].partition("=") if word.startswith("--") else ("", "", "")
            if option in ("out", "err", "proc"):
                if not value and not words:
                    raise ValueError("%%{}: --{} needs the name of a variable".format(name, option))
                options[option] = value or words.pop(0)
            elif option == "bg":
                is_background = True
            elif option == "no-raise-error":
                raises = False
            elif option != "raise-error":
                arguments.append(word)
        if name == "script" and (not arguments or arguments[0].startswith("-")):
            raise ValueError("%%script needs a program: %%script bash")
        program = {"script": [], "shell": ["bash"], "python": [sys.executable], "python3": [sys.executable]}
        arguments = [*program.get(name, [name]), *arguments]
        if is_background:
            self._commands.background_script(arguments, text, **options)
            return
        options.pop("proc", None)
        status = self._commands.script(arguments, text, **options)
        if status and raises:
            raise subprocess.CalledProcessError(status, name)

    def _line_killbgscripts(self, rest):
        """Ends the scripts that `--bg` started."""
        self._commands.end_background_scripts()

    def _cell_system(self, rest, body):
        """Has the shell run the lines below it; their output, line by line."""
        return self.capture(body)

    def _line_alias(self, rest):
        """Gives a command of the shell a name: `%alias NAME COMMAND`; %s in it are arguments, %l the line."""
        name, _, command = rest.partition(" ")
        if not name:
            aliases = sorted(self.aliases.items())
            print("Total number of aliases: {}".format(len(aliases)))
            return aliases
        if not command.strip():
            if name not in self.aliases:
                raise NameError("{} is not an alias; %alias NAME COMMAND makes one".format(name))
            print("{} = {}".format(name, self.aliases[name]))
            return None
        self.aliases[name] = command.strip()
        return None

    def _line_unalias(self, rest):
        """Forgets the name of a command."""
        if self.aliases.pop(rest, None) is None:
            raise NameError("{!r} is not an alias".format(rest))

    def run_alias(self, name, rest):
        """Run the command that has the name."""
        command = self.aliases[name]
        if "%l" in command:
            return self.shell(command.replace("%l", rest))
        argument_count = len(re.findall(r"(?<!%)%s", command))
        if not argument_count:
            return self.shell("{} {}".format(command.replace("%%s", "%s"), rest).rstrip())
        arguments = rest.split(None, argument_count)
        if len(arguments) < argument_count:
            raise ValueError(
                "the alias {} takes {} argument{}, and got {}".format(
                    name, argument_count, "s" * (argument_count != 1), len(arguments)
                )
            )
        parts = re.split(r"(?<!%)%s", command)
        filled = parts[0] + "".join(word + part for word, part in zip(arguments, parts[1:]))
        return self.shell("{} {}".format(filled, " ".join(arguments[argument_count:])).rstrip())
