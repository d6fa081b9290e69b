"""The programs that lines of a cell start: `!command`, `%pip`, `%%bash`."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import atexit
import contextlib
import io
import os
import re
import shlex
import signal
import string
import subprocess
import sys
import tempfile

from python_imports import forget_stand_ins

#: A call of pip and nothing else that a shell would have to read.
_PIP = re.compile(r"pip3?\s+[^|&;<>$`()]*\Z")
_FORMATTER = string.Formatter()
#: The longest text that may be an argument of a program, with room to spare.
_LONGEST = 100_000
#: How a program is given a text to run, where it is not `-c`.
_GIVEN = {"perl": "-e", "ruby": "-e", "node": "-e"}
#: How the names of other programs begin that take code after `-c`.
_INTERPRETERS = ("sh", "bash", "zsh", "dash", "ksh", "fish", "python", "pypy")


#: Options with which a shell, or another interpreter, reads the code from its input.
_READS_INPUT = re.compile(r"-|-[a-z]*s")


class Lines(list):
    """The lines of a program's output, as IPython's: `n` is one text, `s` one line, `p` files; and `grep`."""

    n = nlstr = property("\n".join)
    s = spstr = property(" ".join)
    list = l = property(list)  # noqa: E741 -- IPython's name

    @property
    def paths(self):
        """The lines that are the paths of files."""
        from pathlib import Path

        return [Path(line) for line in self if os.path.exists(line)]

    p = paths

    def grep(self, pattern, prune=False):
        """Return the lines in which the pattern is found, or those in which it is not."""
        return Lines(line for line in self if bool(re.search(pattern, line, re.IGNORECASE)) != prune)

    def fields(self, *numbers):
        """Return the words of each line, or those with these numbers, in one text."""
        words = [line.split() for line in self]
        if not numbers:
            return words
        return Lines(
            " ".join(word[number] for number in numbers if -len(word) <= number < len(word)) for word in words
        )


class Commands:
    """Starts them on the cell's terminal."""

    def __init__(self, driver):
        self._driver = driver
        self._names = driver.module.__dict__
        #: The processes of scripts in the background.
        self._background = []

    def expand(self, text):
        """Return the text with `{expression}` and `$name` filled in, where they mean something here."""

        def expression(match):
            try:
                return self._fill(match.group(1))
            except Exception:
                # Braces of the shell's own stay as they are.
                return match.group()

        text = re.sub(r"(?<![${])\{([^{}\n]+)\}(?!\})", expression, text)

        def name(match):
            value = self._names.get(match.group(1), os)
            # What nobody means by `$name`: a command's own variable may have the name of a module.
            return match.group() if callable(value) or type(value) is type(os) else str(value)

        text = re.sub(r"(?<!\$)\$([A-Za-z_]\w*)", name, text)
        return re.sub(r"\$\$(?=[A-Za-z_])", "$", text)

    def _fill(self, inner):
        """Return the text of an expression in braces, also of one such as `name!r` or `number:.2f`."""
        try:
            return str(eval(inner, self._names))
        except SyntaxError:
            ((_, expression, form, conversion),) = _FORMATTER.parse("{" + inner + "}")
            value = _FORMATTER.convert_field(eval(expression, self._names), conversion)
            return format(value, form)

    def shell(self, command):
        """`!command`: run it on the terminal; `!pip` means the pip of this very Python."""
        command = self.expand(command)
        if _PIP.match(command):
            self.pip(shlex.split(command)[1:])
        else:
            self._run(command)

    def capture(self, command):
        """`lines = !command`: its output and what it says of errors, line by line."""
        done = self._run(self.expand(command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return Lines(done.stdout.decode("utf-8", "replace").splitlines())

    def _run(self, command, **options):
        self._driver.streams.flush()
        shell = os.environ.get("SHELL") or "/bin/sh"
        if os.path.basename(shell) not in ("bash", "zsh", "sh", "dash", "ksh"):
            shell = "/bin/sh"
        done = _run([shell, "-c", command], options)
        self._names["_exit_code"] = done.returncode
        return done

    def program(self, arguments, **options):
        """Run a program on the terminal; what `subprocess` says of it."""
        self._driver.streams.flush()
        try:
            done = _run(arguments, options)
        except FileNotFoundError as error:
            if error.filename == arguments[0]:
                raise FileNotFoundError("there is no program {} here".format(arguments[0])) from None
            raise
        self._names["_exit_code"] = done.returncode
        importlib = sys.modules.get("importlib")
        if importlib is not None:
            importlib.invalidate_caches()
        return done

    def script(self, arguments, text, out="", err=""):
        """Have a program run a text; what it writes may go to variables. Interpreters read the terminal."""
        streams = {}
        if out:
            streams["stdout"] = subprocess.PIPE
        if err:
            streams["stderr"] = subprocess.PIPE
        kind = os.path.basename(arguments[0])
        is_interpreter = kind in _GIVEN or kind.startswith(_INTERPRETERS)
        if not is_interpreter or any(map(_READS_INPUT.fullmatch, arguments[1:])):
            # An interpreter reads the text with these options, as in `%%bash -s "$name"`. Any other program,
            # such as cat or sqlite3, reads it anyway.
            with tempfile.TemporaryFile() as file:
                file.write((text if text.endswith("\n") else text + "\n").encode("utf-8"))
                file.seek(0)
                done = self.program(arguments, stdin=file, **streams)
        elif len(text) < _LONGEST and len(arguments) == 1:
            done = self.program([*arguments, _GIVEN.get(kind, "-c"), text], **streams)
        else:
            with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                done = self.program([*arguments, file.name], **streams)
        for name, output in ((out, done.stdout), (err, done.stderr)):
            if name:
                self._names[name] = output.decode("utf-8", "replace")
        return done.returncode

    def background_script(self, arguments, text, out="", err="", proc=""):
        """Have a program run a text while cells go on; `out` and `err` name streams, `proc` the process."""
        self._driver.streams.flush()
        with tempfile.TemporaryFile() as file:
            file.write((text if text.endswith("\n") else text + "\n").encode("utf-8"))
            file.seek(0)
            started = subprocess.Popen(
                arguments,
                stdin=file,
                stdout=subprocess.PIPE if out else subprocess.DEVNULL,
                stderr=subprocess.PIPE if err else subprocess.DEVNULL,
                # What interrupts a cell does not reach it.
                preexec_fn=os.setpgrp,
            )
        self._names.update(
            {
                name: value
                for name, value in ((out, started.stdout), (err, started.stderr), (proc, started))
                if name
            }
        )
        if not self._background:
            atexit.register(self.end_background_scripts)
        self._background = [script for script in self._background if script.poll() is None] + [started]

    def end_background_scripts(self):
        """End the programs that run in the background."""
        for script in self._background:
            if script.poll() is None:
                with contextlib.suppress(OSError):
                    os.killpg(script.pid, signal.SIGTERM)
        self._background = []

    def pip(self, arguments):
        """Install into the environment of this Python, also where that has no pip, as those that uv makes."""
        import importlib.util
        import shutil

        held_back = {"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX"} & set(
            os.environ.get("OI_TUI_HELD_BACK", "").split(",")
        )
        if held_back:
            # Without it a package of the same name could come from somewhere else.
            names = ", ".join(sorted(held_back))
            print("{} is held back from programs, because it holds a password.".format(names))
            print("Name it in the setting pass_environment to install from there.")
            raise SystemExit(1)
        command = [sys.executable, "-m", "pip", *arguments]
        if importlib.util.find_spec("pip") is None:
            uv = shutil.which("uv")
            if uv:
                command = [uv, "pip", *arguments, "--python", sys.executable]
            else:
                print("This environment has no pip; Python puts its own there first.")
                self.program([sys.executable, "-m", "ensurepip"])
        if os.environ.get("OI_TUI_IN_SANDBOX") and arguments[:1] == ["install"]:
            # What is installed cannot be changed from here; temporary files can.
            folder = os.path.join(tempfile.gettempdir(), "packages")
            command += ["--target", folder]
            if folder not in sys.path:
                sys.path.append(folder)
        self._run_or_fail(command)
        importlib.invalidate_caches()
        forget_stand_ins()

    def conda(self, arguments):
        """Install by conda or mamba, into the environment of this Python where that is one of theirs."""
        if arguments[1:2] and arguments[1] in ("install", "update", "upgrade", "remove", "uninstall"):
            if not {"-y", "--yes"} & set(arguments):
                arguments.append("--yes")
            target_options = {"-p", "--prefix", "-n", "--name"} & set(arguments)
            if not target_options and os.path.isdir(os.path.join(sys.prefix, "conda-meta")):
                arguments += ["--prefix", sys.prefix]
        self._run_or_fail(arguments)

    def _run_or_fail(self, arguments):
        status = self.program(arguments).returncode
        if status:
            if os.environ.get("OI_TUI_IN_SANDBOX"):
                print("The sandbox is on: only allowed hosts can be reached.")
                if os.environ.get("HTTPS_PROXY"):
                    print("The user can allow one: %sandbox allow HOST")
            raise SystemExit(status)


def _run(command, options):
    """Run a program; where what is printed is kept (`%%capture`), what it writes is kept too."""
    remaining = [
        name
        for name in ("stdout", "stderr")
        if name not in options and isinstance(getattr(sys, name), io.StringIO)
    ]
    done = subprocess.run(command, **options, **dict.fromkeys(remaining, subprocess.PIPE))
    for name in remaining:
        getattr(sys, name).write(getattr(done, name).decode("utf-8", "replace"))
    return done
