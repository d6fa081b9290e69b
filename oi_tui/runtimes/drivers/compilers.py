"""How each compiler or interpreter is called, and how a cell becomes a program for it.

It runs on Python 3.8 and later and needs nothing but the standard library.
"""

# mypy: ignore-errors

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess

import c_cell
import go_cell
import rust_cell
from plain_channel import Failed

_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.S)


def has_code(code):
    """Return whether a cell is more than space and comments."""
    return bool(_COMMENT.sub("", code).strip())


class CompilationUnit:
    """What is given to the compiler for a cell: files by name, or the problem that there is with it.

    `hint` is printed when the compiler refuses the files.
    """

    def __init__(self, files, problem="", hint=""):
        self.files = files
        self.problem = problem
        self.hint = hint


class Compiler:
    """A compiler: `make_unit` makes the files, `make_command` says how `cell` is built of them."""

    #: Names of variables in the environment that change what is built.
    variables = ()

    def __init__(self, program):
        self.program = program

    def make_identity(self):
        """Return what a program depends on beside the cell."""
        status = os.stat(self.program)
        values = [os.environ.get(name, "") for name in self.variables]
        return [type(self).__name__, self.program, status.st_mtime_ns, status.st_size, os.getcwd(), *values]

    def make_environment(self, _folder):
        return dict(os.environ)

    def start(self, folder, _name):
        """Return how the program in a folder is started, for the cell of this name."""
        return [os.path.join(folder, "cell")]

    def answer(self, _question, _words, _folder):
        """Return what is known of the last cell, as the fields of an answer."""
        return {}

    def get_options(self, name):
        """Return the options in a variable of the environment. Raises Failed."""
        try:
            return shlex.split(os.environ.get(name, ""))
        except ValueError as error:
            raise Failed("the variable {} cannot be read: {}".format(name, error)) from None

    def note_sources(self, folder):
        """Keep what the files were that the cell includes, as the compiler listed them."""
        with open(os.path.join(folder, "sources.d"), encoding="utf-8", errors="surrogateescape") as file:
            rules = file.read().replace("\\\n", " ")
        names = rules.splitlines()[0].partition(": ")[2] if rules else ""
        paths = [re.sub(r"\\(.)", r"\1", word) for word in re.findall(r"(?:\\.|[^\s\\])+", names)]
        paths = [os.path.join(folder, path) for path in paths]
        paths = [path for path in paths if os.path.dirname(path) != folder]
        lines = ["{}\t{}\n".format(_describe_file(path), path) for path in paths]
        with open(os.path.join(folder, "sources"), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.writelines(lines)

    def is_current(self, folder):
        """Return whether the program in the folder was built whole, of files that are as they were."""
        try:
            with open(os.path.join(folder, "sources"), encoding="utf-8", errors="surrogateescape") as file:
                sources = [line.rstrip("\n").partition("\t") for line in file]
        except OSError:
            return False
        return all(_describe_file(path) == state for state, _, path in sources)


def _describe_file(path):
    try:
        status = os.stat(path)
    except OSError:
        return "missing"
    return "{}.{}.{}".format(status.st_mtime_ns, status.st_size, status.st_ino)


class C(Compiler):
    """C. A cell without `main` becomes one; diagnostics name the cell and its lines all the same."""

    cell = "cell.c"
    source = "program.c"
    flags = ("-std=gnu17",)
    variables = ("CPPFLAGS", "CFLAGS", "LDFLAGS", "LDLIBS")
    opening = "int main(void) {"

    def make_unit(self, code):
        files = {self.cell: code}
        if c_cell.has_main(code):
            files[self.source] = '#line 1 "{}"\n{}\n'.format(self.cell, code)
            return CompilationUnit(files)
        outside, inside = c_cell.split(code)
        files[self.source] = '#line 1 "{0}"\n{1}\n{2}\n#line 1 "{0}"\n{3}\n;return 0;}}\n'.format(
            self.cell, outside, self.opening, inside
        )
        return CompilationUnit(
            files, hint="(The cell has no main(): its statements were compiled as main().)"
        )

    def make_command(self, folder):
        """Have the compiler work beside the cell, so that it gives its short name and quotes its lines."""
        name, extra = self.variables[1], self.get_options("CPPFLAGS")
        options = ["-O1", "-g", "-pthread", "-MMD", "-MF", "sources.d", "-MT", "cell", "-iquote", os.getcwd()]
        argv = [
            self.program,
            *self.flags,
            *options,
            *extra,
            *self.get_options(name),
            self.source,
            "-o",
            "cell",
        ]
        return [*argv, *self.get_options("LDFLAGS"), "-lm", *self.get_options("LDLIBS")], folder


class Cpp(C):
    """C++, as C."""

    cell = "cell.cpp"
    source = "program.cpp"
    #: The name of C++20 that also compilers of its first years know.
    flags = ("-std=gnu++2a",)
    variables = ("CPPFLAGS", "CXXFLAGS", "LDFLAGS", "LDLIBS")
    opening = "int main() {"


class Rust(Compiler):
    """Rust. A cell without `fn main` becomes its body, as in the examples of Rust's own documentation.

    The value of its last expression is shown.
    """

    variables = ("RUSTFLAGS", "RUSTUP_TOOLCHAIN")
    _MAIN = re.compile(r"^\s*(?:pub\s+)?(?:async\s+)?fn\s+main\s*\(", re.M)
    #: What can only stand at the very top, with the space and the comments around it.
    _TOP = re.compile(r"(?:\s+|//[^\n]*(?:\n|\Z)|/\*.*?\*/|#!\[[^\n]*\]|extern\s+crate\s[^;]*;)*", re.S)
    _OF_CRATE = re.compile(r"#!\[[^\n]*\]|extern\s+crate\s[^;]*;")
    _QUESTION = re.compile(r"[\w)\]]\?\s*[;.)]")

    def make_unit(self, code):
        if self._MAIN.search(_COMMENT.sub("", code)):
            return CompilationUnit({"cell.rs": code})
        place = self._find_top(code)
        top, (body, shows) = code[:place], rust_cell.show_value(code[place:])
        if self._QUESTION.search(body):
            opening = "fn main() -> Result<(), Box<dyn std::error::Error>> { "
            closing = "\n; Ok(()) }\n"
        else:
            opening, closing = "fn main() { ", "\n}\n"
        hint = "(The cell has no fn main: it was compiled as the body of one.)"
        return CompilationUnit({"cell.rs": top + opening + body + closing + shows}, hint=hint)

    def _find_top(self, code):
        """Find where the body begins: after the last line that must stay at the top, or at the beginning."""
        header = self._TOP.match(code).group()
        return max((item.end() for item in self._OF_CRATE.finditer(header)), default=0)

    def make_command(self, folder):
        options = ["--edition=2021", "--crate-name=cell", "-Copt-level=1", "-Cdebug-assertions=on"]
        options += ["-Aredundant_semicolons"]
        emit = ["--emit", "link=cell,dep-info=sources.d"]
        return [self.program, *options, *emit, *self.get_options("RUSTFLAGS"), "cell.rs"], folder


class Go(Compiler):
    """Go. A cell without a package becomes a program."""

    variables = ("GOFLAGS", "CGO_ENABLED", "GOOS", "GOARCH", "GOTOOLCHAIN")

    def make_unit(self, code):
        package = go_cell.has_package(code)
        if not package:
            hint = "(The cell has no package: its statements were compiled as main().)"
            return CompilationUnit({"cell.go": go_cell.make_program(code, self._name_cell())}, hint=hint)
        problem = ""
        if package != "main":
            problem = "a Go cell is a program: write `package main` instead of `package {}`".format(package)
        elif not go_cell.has_main(code):
            problem = "the Go cell has no `func main() {}`: add one"
        return CompilationUnit({"cell.go": go_cell.add_line_directive(code, self._name_cell())}, problem)

    def _name_cell(self):
        """Name the cell's file, which is in the folder of the module where there is one."""
        here = os.getcwd()
        return os.path.join(here, "cell.go") if _is_in_module(here) else "cell.go"

    def make_command(self, folder):
        """Have an overlay put the cell into the working directory of a module, where its packages are."""
        here, build = os.getcwd(), [self.program, "build", "-o", os.path.join(folder, "cell")]
        if not re.search(r"[\s'\"]", folder):
            # Panics then name `cell.go`, not its path in a temporary folder.
            build.append("-gcflags=-trimpath={}=>;{}=>".format(folder, here))
        if not _is_in_module(here):
            return [*build, "cell.go"], folder
        overlay = os.path.join(folder, "overlay.json")
        with open(overlay, "w", encoding="utf-8") as file:
            json.dump({"Replace": {os.path.join(here, "oi_cell.go"): os.path.join(folder, "cell.go")}}, file)
        return [*build, "-overlay", overlay, "./oi_cell.go"], here

    def make_environment(self, folder):
        """Keep Go from fetching another Go; where the person's cache cannot be written,
        have one made here.
        """
        values = dict(os.environ)
        values.setdefault("GOTOOLCHAIN", "local")
        if "GOCACHE" not in values and not _can_write(_cache_of_user()):
            values["GOCACHE"] = os.path.join(folder, "go-cache")
        return values

    def note_sources(self, folder):
        """Go itself knows what has changed: only programs of a folder without a module are kept."""
        if not _is_in_module(os.getcwd()):
            with open(os.path.join(folder, "sources"), "w", encoding="utf-8"):
                pass

    def is_current(self, folder):
        return not _is_in_module(os.getcwd()) and super().is_current(folder)


class Php(Compiler):
    """PHP, which reads the cell itself: nothing is built. A cell that no tag opens begins with code.

    Its driver writes what the cell made into the file `memory` of the build folder.
    """

    #: What begins with a tag, or has one of PHP before any that ends PHP: `Hello <?= $name ?>`.
    _TEMPLATE = re.compile(r"\s*<|(?:(?!\?>).)*?<\?(?:php\b|=)", re.DOTALL)

    def make_unit(self, code):
        return CompilationUnit({"cell.php": code if self._TEMPLATE.match(code) else "<?php " + code})

    def make_command(self, folder):
        return None, folder

    def start(self, folder, name):
        errors = ["display_errors=1", "display_startup_errors=1", "html_errors=0", "log_errors=0"]
        options = [*errors, f'auto_append_file="{name}"']
        words = [word for option in options for word in ("-d", option)]
        memory = os.path.join(os.path.dirname(folder), "memory")
        if os.path.exists(memory):
            os.remove(memory)
        return [
            self.program,
            *words,
            "-f",
            _find_beside("php_cell.php"),
            "--",
            os.path.join(folder, "cell.php"),
            name,
        ]

    def answer(self, question, words, folder):
        path = os.path.join(folder, "memory")
        if question == "completions":
            done = subprocess.run(
                [self.program, "-f", _find_beside("php_completion.php"), "--", path, words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=5,
                check=False,
            )
            return json.loads(done.stdout or b"{}")
        try:
            with open(path, encoding="utf-8") as file:
                variables = json.load(file)["variables"]
        except (OSError, ValueError):
            variables = []
        if question == "variable":
            return next((item for item in variables if item["name"] == words), {})
        return {"total": len(variables), "variables": variables}

    def note_sources(self, _folder):
        """There is nothing that could be out of date."""

    def is_current(self, _folder):
        return False


def _find_beside(name):
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), name)


def _cache_of_user():
    home = os.path.expanduser("~")
    mac = os.path.join(home, "Library", "Caches")
    place = mac if os.path.isdir(mac) else os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    return os.path.join(place, "go-build")


def _can_write(folder):
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _is_in_module(folder):
    while True:
        if os.path.exists(os.path.join(folder, "go.mod")) or os.path.exists(os.path.join(folder, "go.work")):
            return True
        above = os.path.dirname(folder)
        if above == folder:
            return False
        folder = above


COMPILERS = {"c": C, "cpp": Cpp, "rust": Rust, "go": Go, "php": Php}
