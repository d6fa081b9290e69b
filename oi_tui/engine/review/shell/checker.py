"""Checks whether shell code is understood: a small part that bash, zsh and sh read in the same way.

It is an allow list. Characters that mean more than themselves, commands that are not in the table, and
options that are not in it are not understood.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from oi_tui.engine.review.findings import Finding, shorten_part
from oi_tui.engine.review.folder import Folder
from oi_tui.engine.review.readable_files import are_matches_readable, explain_unreadable

#: Longer code is not read.
LONGEST = 100_000
_BARE = re.compile(r"[A-Za-z0-9_./,:+=@%*?\[\]-]+")
_SINGLE = re.compile(r"'([^'\n\t\x00-\x1f\x7f]*)'")
#: Within double quotes a backslash is only itself in front of these.
_DOUBLE = re.compile(r'"((?:[^"\\$`!\x00-\x1f\x7f]|\\[A-Za-z0-9.+*?(){}\[\]|/ -])*)"')
_COMMENT = re.compile(r"#[^\n]*")
_REDIRECTION = re.compile(
    r"[12]?>[ \t]*/dev/null(?![A-Za-z0-9_./'\"*?\[\]$~-])|2>&1(?![0-9-])|[12]?>&[12](?![0-9-])"
)
_SEPARATOR = re.compile(r"&&|\|\||[;|\n]")
_PATTERN = re.compile(r"[*?]")
_SPACES = re.compile(r"[ \t]+")


class NotUnderstood(Exception):  # noqa: N818 -- it reports where reading ended and is no fault
    """Reading came to something that is not in the allow list."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.what, self.line = what, line


@dataclass(frozen=True, slots=True)
class ShellWord:
    """A word of a command; `pattern` says that it is a file pattern, `quoted` that a part was quoted."""

    text: str
    pattern: bool = False
    quoted: bool = False


@dataclass(slots=True)
class ShellCommand:
    """A simple command, and the line on which it begins."""

    line: int
    words: list[ShellWord] = field(default_factory=list)


def read(code: str) -> list[ShellCommand]:
    """Return the simple commands of the code. Raises NotUnderstood for everything that is more than these."""
    if len(code) > LONGEST:
        raise NotUnderstood("code of this length", 1)
    if any("\ud800" <= item <= "\udfff" for item in code):
        raise NotUnderstood("characters that are no text", 1)
    return list(_Parser(code).read_commands())


# No library: an allow list must refuse what it does not know. Of the 80 texts in our tests that this grammar
# refuses, shlex splits 75 and tree-sitter's bash parses 65.
class _Parser:
    """Splits code into commands, character by character."""

    def __init__(self, code: str) -> None:
        self._code = code
        self._at = 0
        self._line = 1

    def read_commands(self) -> Iterator[ShellCommand]:
        """Yield each command; an empty one only where a line is empty."""
        joined = False
        while self._at < len(self._code):
            command = self._read_command()
            separator = self._accept(_SEPARATOR)
            if command.words:
                yield command
            elif joined or separator not in ("\n", ""):
                raise self._stop(separator or "the end of the code")
            joined = separator in ("|", "&&", "||")
            self._line += separator == "\n"
        if joined:
            raise self._stop("the end of the code")

    def _read_command(self) -> ShellCommand:
        command = ShellCommand(self._line)
        while True:
            spaces = self._accept(_SPACES)
            if (
                self._accept(_COMMENT)
                or self._at >= len(self._code)
                or _SEPARATOR.match(self._code, self._at)
            ):
                break
            if command.words and not spaces:
                raise self._stop()
            if self._accept(_REDIRECTION):
                if not self._at_end_of_word():
                    raise self._stop()
                if not command.words:
                    raise self._stop("a redirection in front")
                continue
            command.words.append(self._read_word())
        return command

    def _read_word(self) -> ShellWord:
        parts: list[str] = []
        pattern = quoted = bracket = False
        while not self._at_end_of_word():
            for kind in (_BARE, _SINGLE, _DOUBLE):
                match = kind.match(self._code, self._at)
                if match:
                    break
            else:
                raise self._stop()
            self._at = match.end()
            if kind is _BARE:
                pattern = pattern or bool(_PATTERN.search(match[0]))
                bracket = bracket or "[" in match[0] or "]" in match[0]
                parts.append(match[0])
            else:
                quoted = True
                parts.append(match[1])
        text = "".join(parts)
        alone = text in ("[", "]", "=") and not quoted
        if not parts or ((text.startswith("=") or bracket) and not alone) or (pattern and quoted):
            raise self._stop(text)
        return ShellWord(text, pattern, quoted)

    def _at_end_of_word(self) -> bool:
        return self._at >= len(self._code) or self._code[self._at] in " \t\n;|&"

    def _accept(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._code, self._at)
        if match is None:
            return ""
        self._at = match.end()
        return match[0]

    def _stop(self, what: str = "") -> NotUnderstood:
        rest = self._code[self._at :].partition("\n")[0]
        return NotUnderstood(what or shorten_part(rest) or "the end of the line", self._line)


# -- which commands --------------------------------------------------------------------------------


#: For commands whose words a check of their own reads.
_OWN_SYNTAX = -2


@dataclass(frozen=True, slots=True)
class _CommandOptions:
    """The options and arguments that a command may have.

    `flags` are single letters, `valued` letters that take a word, `long` long options in full. `files` says
    how many of the operands after the first `texts` ones are files that it reads; -1 is any number.
    """

    flags: str = ""
    valued: str = ""
    long: tuple[str, ...] = ()
    texts: int = 0
    files: int = 0
    #: File patterns may begin with "*": no option of the command does harm when a file is called like it.
    any_pattern: bool = False
    check: Callable[[list[str]], bool] = lambda _words: True
    #: Whether it only lists names, so that private files may be among the operands' matches.
    names_only: bool = False


_NUMBER = re.compile(r"[+-]?\d{1,9}[kKMGb]?")
_SED = re.compile(
    r"(?:\d{1,9}|\$)?(?:,(?:\d{1,9}|\$))?[pd=]|\d{1,9}q|s/[^/\\{};\n]*/[^/\\{};\n]*/[gpI0-9]{0,4}"
)
_FORMAT = re.compile(r"(?:[^%\\]|%s|%%|\\[nt])*")
_TEST = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./-]*|")
_ASKED = ("-f", "-d", "-e", "-s", "-r", "-w", "-x", "-n", "-z")
_FIND = frozenset(("-name", "-iname", "-type", "-maxdepth", "-mindepth", "-size", "-mtime", "-mmin", "-path"))
_FIND_ALONE = frozenset(("-print", "-empty", "-not", "-o", "-a"))


def _is_plain_sed(words: list[str]) -> bool:
    script = next((word for word in words if not word.startswith("-")), "")
    return _SED.fullmatch(script) is not None


def _is_plain_printf(words: list[str]) -> bool:
    return bool(words) and not words[0].startswith("-") and _FORMAT.fullmatch(words[0]) is not None


def _test(words: list[str]) -> bool:
    if len(words) == 2:
        return words[0] in _ASKED and bool(_TEST.fullmatch(words[1]))
    return len(words) == 3 and words[1] in ("=", "!=") and all(map(_TEST.fullmatch, (words[0], words[2])))


def _check_bracket(words: list[str]) -> bool:
    return words[-1:] == ["]"] and _test(words[:-1])


def _check_numbers(words: list[str]) -> bool:
    return bool(words) and all(re.fullmatch(r"\d{1,7}(?:\.\d{1,3})?", word) for word in words)


def _check_date(words: list[str]) -> bool:
    return all(re.fullmatch(r"\+[A-Za-z0-9%:/. _-]*|-u|-I|-R|--utc|--iso-8601", word) for word in words)


def _check_version(words: list[str]) -> bool:
    return words in (["--version"], ["-V"])


def _find(words: list[str]) -> bool:
    rest = list(words)
    while rest and not rest[0].startswith("-"):
        rest.pop(0)
    while rest:
        word = rest.pop(0)
        if word in _FIND and rest:
            rest.pop(0)
        elif word not in _FIND_ALONE:
            return False
    return True


_SUMS = _CommandOptions(flags="bt", files=-1)
_ASK = _CommandOptions(check=_check_version, flags="V", long=("--version",))
_KNOWN: dict[str, _CommandOptions] = {
    "ls": _CommandOptions("aAlhrtRS1FdCgGikmnopqsuUvxX", files=-1, any_pattern=True, names_only=True),
    "cat": _CommandOptions("nbsAeEtTuv", files=-1, any_pattern=True),
    "head": _CommandOptions("qv", "nc", files=-1, any_pattern=True),
    "tail": _CommandOptions("qv", "nc", files=-1, any_pattern=True),
    "wc": _CommandOptions("lwcmL", long=("--lines", "--words", "--bytes", "--chars"), files=-1),
    "sort": _CommandOptions("bdfgiMhnRrVcCsuz", "kt", ("--numeric-sort", "--reverse", "--unique"), files=-1),
    "uniq": _CommandOptions("cdDiuz", "fsw", ("--count",), files=1),
    "grep": _CommandOptions(
        "abcEFGHhIiLlnoqsvwxyz", "mABC", ("--ignore-case", "--count", "--color=never"), texts=1, files=-1
    ),
    "egrep": _CommandOptions("chHiIlLnoqsvwx", "mABC", texts=1, files=-1),
    "fgrep": _CommandOptions("chHiIlLnoqsvwx", "mABC", texts=1, files=-1),
    "cut": _CommandOptions("sn", "dfcb", files=-1),
    "tr": _CommandOptions("cdsC", texts=2),
    "nl": _CommandOptions("", "bnwsv", files=1),
    "tac": _CommandOptions(files=-1),
    "rev": _CommandOptions(files=-1),
    "paste": _CommandOptions("s", "d", files=-1),
    "comm": _CommandOptions("123", files=2),
    "cmp": _CommandOptions("bls", files=2),
    "diff": _CommandOptions("uqyibBwc", files=2),
    "sed": _CommandOptions("nEr", check=_is_plain_sed, texts=1, files=-1),
    "md5sum": _SUMS,
    "sha1sum": _SUMS,
    "sha256sum": _SUMS,
    "stat": _CommandOptions("Lt", files=-1, names_only=True),
    "du": _CommandOptions("sahkmcb", "d", files=-1, names_only=True),
    "df": _CommandOptions("hkTiaPl"),
    "find": _CommandOptions(check=_find, files=_OWN_SYNTAX),
    "echo": _CommandOptions("neE", texts=-1, any_pattern=True),
    "printf": _CommandOptions(check=_is_plain_printf, texts=-1),
    "pwd": _CommandOptions("LP"),
    "date": _CommandOptions("uIR", long=("--utc", "--iso-8601"), check=_check_date, texts=-1),
    "test": _CommandOptions(check=_test, files=_OWN_SYNTAX),
    "[": _CommandOptions(check=_check_bracket, files=_OWN_SYNTAX),
    "true": _CommandOptions(),
    "false": _CommandOptions(),
    "basename": _CommandOptions(texts=2),
    "dirname": _CommandOptions(texts=1),
    "seq": _CommandOptions("w", texts=3, check=lambda words: _check_numbers([w for w in words if w != "-w"])),
    "sleep": _CommandOptions(texts=1, check=_check_numbers),
    "uname": _CommandOptions("amnrspvo"),
    "whoami": _CommandOptions(),
    "id": _CommandOptions("ugnGr"),
    "hostname": _CommandOptions(),
    "uptime": _CommandOptions("ps"),
    "nproc": _CommandOptions(long=("--all",)),
    "arch": _CommandOptions(),
    "free": _CommandOptions("hmgkbt"),
    "python": _ASK,
    "python3": _ASK,
    "node": _ASK,
    "git": _CommandOptions(check=_check_version, long=("--version",)),
    "ruby": _CommandOptions(check=_check_version, long=("--version",)),
    "perl": _CommandOptions(check=_check_version, long=("--version",)),
}  # fmt: skip
#: Programs that cannot change the shell that starts them, whatever they do otherwise.
_PROGRAMS = frozenset(
    (
        "apt", "apt-get", "awk", "brew", "cargo", "chmod", "clear", "cmake", "cp", "curl", "docker",
        "gcc", "git", "go", "gunzip", "gzip", "java", "javac", "jq", "ln", "make", "mkdir", "mktemp", "mv",
        "node", "npm", "npx", "perl", "pip", "pip3", "ps", "pytest", "python", "python3", "rm", "rmdir",
        "rsync", "ruby", "rustc", "ssh", "scp", "sed", "sqlite3", "sudo", "tar", "tee", "touch", "tree",
        "unzip", "uv", "wget", "which", "xargs", "xz", "yarn", "zip",
    )
)  # fmt: skip


def check(code: str, folder: Folder) -> Iterator[Finding]:
    """Find what is not understood in the code, or reads something that the user should see."""
    try:
        commands = read(code)
    except NotUnderstood as stop:
        yield Finding("not understood", stop.what, stop.line)
        return
    for command in commands:
        yield from _check_command(command, folder)


def keeps_meanings(code: str) -> bool:
    """Return whether commands mean afterwards what they meant before: nothing
    in the code can change the shell.
    """
    try:
        commands = read(_REDIRECTED.sub(" ", code))
    except NotUnderstood:
        return False
    return all(
        (command.words[0].text in _KNOWN or command.words[0].text in _PROGRAMS) and not _sets(command)
        for command in commands
    )


#: Writing into a file changes nothing in the shell itself.
_REDIRECTED = re.compile(r"(?<=[ \t])>>?[ \t]*[A-Za-z0-9_./-]+(?=[ \t\n;|]|\Z)")


def _sets(command: ShellCommand) -> bool:
    """Return whether it puts its output into a variable, as `printf -v` does."""
    return command.words[0].text == "printf" and any(word.text.startswith("-v") for word in command.words)


def _check_command(command: ShellCommand, folder: Folder) -> Iterator[Finding]:
    name, words = command.words[0], command.words[1:]
    options = None if name.pattern or name.quoted else _KNOWN.get(name.text)
    if options is None:
        yield Finding("not understood", name.text, command.line)
        return
    if (place := _find_program(name.text, folder)) is not None:
        yield Finding("not understood", f"{name.text}, a program in {place}", command.line)
        return
    texts = [word.text for word in words]
    own_syntax = options.files == _OWN_SYNTAX
    if not options.check(texts) or (own_syntax and any(word.pattern for word in words)):
        yield Finding("not understood", _render(name, words), command.line)
        return
    if own_syntax:
        operands = _find_files(name.text, words)
    else:
        file_operands = _find_operands(options, words)
        if file_operands is None:
            yield Finding("not understood", _render(name, words), command.line)
            return
        operands = file_operands
    for operand in operands:
        yield from _check_file(options, operand, command.line, folder)


def _render(name: ShellWord, words: list[ShellWord]) -> str:
    return shorten_part(" ".join([name.text, *(word.text for word in words)]))


def _find_files(name: str, words: list[ShellWord]) -> list[ShellWord]:
    """Return the operands that are files, of commands that have a syntax of their own:
    where `find` begins.
    """
    if name != "find":
        return []
    operands = []
    for word in words:
        if word.text.startswith("-"):
            break
        operands.append(ShellWord(word.text, word.pattern))
    return operands


def _find_operands(known: _CommandOptions, words: list[ShellWord]) -> list[ShellWord] | None:
    """Return the operands that are files; None where an option or an operand is not known."""
    operands: list[ShellWord] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word.text == "-" or not word.text.startswith("-") or _is_text(known, operands):
            operands.append(word)
        elif word.text not in known.long:
            options = _read_options(known, word.text)
            if options is None or (options == "next" and (not rest or rest.pop(0).pattern)):
                return None
    texts = len(operands) if known.texts < 0 else known.texts
    files = operands[texts:]
    if any(
        operand.pattern and ("/" in operand.text or not known.any_pattern) for operand in operands[:texts]
    ):
        return None
    # A pattern may stand for several files, and for one that is called like an option.
    patterns = [file for file in files if file.pattern]
    if known.files >= 0 and (len(files) > known.files or patterns):
        return None
    unsafe = any(_PATTERN.match(pattern.text) for pattern in patterns)
    # "-" is counted with them, and is no file: it stands for what the command is given.
    return None if unsafe and not known.any_pattern else [file for file in files if file.text != "-"]


def _is_text(known: _CommandOptions, operands: list[ShellWord]) -> bool:
    """Return whether a word that begins with "-" is text all the same, as behind the format of `printf`."""
    return known.texts < 0 and (bool(operands) or not known.flags)


def _read_options(known: _CommandOptions, text: str) -> str | None:
    """Return how the letters after a dash are read: "" alone, "next" with the next word, None not at all."""
    if re.fullmatch(r"-\d{1,9}", text) and "n" in known.valued:
        return ""
    for at, letter in enumerate(text[1:], 1):
        if letter in known.valued:
            value = text[at + 1 :]
            return "" if value else "next"
        if letter not in known.flags:
            return None
    return ""


def _check_file(known: _CommandOptions, operand: ShellWord, line: int, folder: Folder) -> Iterator[Finding]:
    if not operand.text:
        yield Finding("not understood", "an empty name", line)
    elif not operand.pattern:
        if explain_unreadable(operand.text, folder, listing=known.names_only or known.files == _OWN_SYNTAX):
            yield Finding("reads", operand.text, line)
    elif not are_matches_readable(operand.text, folder, names_only=known.names_only):
        yield Finding("reads", operand.text, line)


def _find_program(name: str, folder: Folder) -> str | None:
    """Return the folder within the working directory from which the shell would take this program, if any."""
    for entry in folder.search_path:
        place = Path(os.path.normpath(folder.path / entry))
        within = not os.path.isabs(entry) or place.is_relative_to(folder.root)  # noqa: PTH117
        if within and folder.has_program(place, name):
            return entry or "."
    return None
