"""The parts of a parsed reply."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby


@dataclass(frozen=True, slots=True)
class TextPart:
    """Words for the person."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """Reasoning of the model before its reply."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningEnded:
    """A thought ends that nobody saw begin: all text of the reply before this was part of it."""


@dataclass(frozen=True, slots=True)
class CodeStarted:
    """Code begins. `language` is the model's word for it, `call` the id of the tool call that carries it."""

    language: str
    call: str | None


@dataclass(frozen=True, slots=True)
class CodeGrew:
    """The code continues with `text`."""

    text: str


@dataclass(frozen=True, slots=True)
class CodeEnded:
    """The code is over; not `complete` when it was cut off, so that it must not run as it stands."""

    complete: bool


@dataclass(frozen=True, slots=True)
class UnreadableCall:
    """Something that looks like a call but cannot be understood, as it came."""

    raw: str


Part = TextPart | ReasoningPart | ReasoningEnded | CodeStarted | CodeGrew | CodeEnded | UnreadableCall


def join(parts: Iterable[Part]) -> list[Part]:
    """Return the parts with neighbours of the same kind put together, and empty ones left out."""
    joined: list[Part] = []
    for kind, group in groupby(parts, type):
        if kind is TextPart or kind is ReasoningPart or kind is CodeGrew:
            text = "".join(
                part.text for part in group if isinstance(part, TextPart | ReasoningPart | CodeGrew)
            )
            if text:
                joined.append(kind(text))
        else:
            joined += group
    return joined


#: What models put around the name of a language: a kind of file, the dot of an ending, quotes, a version.
_BESIDE_THE_NAME = re.compile(
    r"""\A(?:(?:text|application)/(?:x-)?|\.(?=[a-z])|[`"']+)|[`"']+\Z"""
    r"""|(?<=python)[- ]?3(?:\.\d{1,2}){1,2}\Z"""
)


def clean_word(word: str) -> str:
    """Return the name of a language in lower case, on one line, and not too long."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in word[:400]).split()).lower()
    flat = _BESIDE_THE_NAME.sub("", flat) or flat
    return flat if len(flat) <= 40 else flat[:39] + "…"


def is_python(code: str) -> bool:
    """Return whether the code is Python that does something, rather than prose or output
    that happens to parse.
    """
    import ast
    import warnings

    if len(code) > 200_000:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    doing = (
        ast.Call,
        ast.Import,
        ast.ImportFrom,
        ast.FunctionDef,
        ast.ClassDef,
        ast.For,
        ast.While,
        ast.With,
    )
    return any(isinstance(node, doing) for node in ast.walk(tree))


_PROMPT = re.compile(r"(?:[\w.-]+@[\w.-]+:[^\s$#]*)?\$ (?=\S)|PS(?: [^>\n]*)?> (?=\S)")
_PYTHON_PROMPT = re.compile(r"(?:>>>|\.\.\.)(?: |$)")
_COMMANDS = (
    "apt apt-get brew cargo cat cd chmod chown cp curl date df docker du echo export find git go grep head "
    "kill ls make mkdir mv node npm npx pip pip3 ps pwd python python3 rm rsync ssh systemctl tail tar touch "
    "uname unzip uv wc wget which whoami yarn"
)
_COMMAND = re.compile(rf"(?:sudo |env |[A-Z_]+=\S* )*(?:{_COMMANDS.replace(' ', '|')})(?: [^=].*|$)")


def guess(code: str) -> tuple[str, str] | None:
    """Return the language of code that names none, and the code without shell prompts; None if it is no code.

    Python is what parses as Python and calls, imports, defines or loops. Shell is what begins with a shebang
    for one, or where every line (continued ones and comments aside) begins with "$ " or with the name of a
    common command.
    """
    if not code.strip():
        return None
    first = code.lstrip().split("\n", 1)[0]
    if first.startswith("#!"):
        return ("python", code) if "python" in first else ("shell", code) if "sh" in first else None
    if is_python(code):
        return "python", code
    if (language := strip_prompts(code)) is not None:
        return language
    lines = code.split("\n")
    begins = [
        line.strip()
        for at, line in enumerate(lines)
        if line.strip() and not line.lstrip().startswith("#") and not (at and lines[at - 1].endswith("\\"))
    ]
    if begins and all(_COMMAND.fullmatch(line) for line in begins):
        return "shell", code
    return None


def strip_prompts(code: str) -> tuple[str, str] | None:
    """Return what was typed at prompts, if there is nothing else: a session with output was only shown."""
    lines = code.split("\n")
    nonblank_lines = [line.strip() for line in lines if line.strip()]
    if (
        nonblank_lines
        and nonblank_lines[0].startswith(">>>")
        and all(_PYTHON_PROMPT.match(line) for line in nonblank_lines)
    ):
        return "python", "\n".join(_PYTHON_PROMPT.sub("", line.lstrip(), count=1) for line in lines)
    begins = [
        line.strip()
        for at, line in enumerate(lines)
        if line.strip() and not line.lstrip().startswith("#") and not (at and lines[at - 1].endswith("\\"))
    ]
    if begins and all(_PROMPT.match(line) for line in begins):
        word = "powershell" if begins[0].startswith("PS") else "shell"
        return word, "\n".join(
            _PROMPT.sub("", line.lstrip(), count=1) if _PROMPT.match(line.strip()) else line for line in lines
        )
    return None
