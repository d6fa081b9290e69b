"""Finds commands that shell code does not write as they run: put together, or given to programs as text."""

import re
from collections.abc import Iterator, Sequence

_ASSIGNED = re.compile(
    r"(?:^|[;&|\s])(?:export\s+|readonly\s+|local\s+)?(\w+)=(?:'([^']*)'|\"([^\"$`]*)\"|([\w./-]+))"
)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_SPACE = re.compile(r"\$\{?IFS\}?")
_ANSI = re.compile(r"\$'([\w ./*-]*)'")
_WRITTEN = r"\s*(?:echo|printf)\s+[\"']?([\w ./*-]+?)[\"']?\s*"
_ECHOED = re.compile(rf"\$\({_WRITTEN}\)|`{_WRITTEN}`")
_BRACES = re.compile(r"(^|[;&|]\s*)\{([\w./*-]+(?:,[\w./*-]+)+)\}")
_HERE_STRING = re.compile(r"<<<\s*('[^']*'|\"[^\"]*\"|\$'[^']*'|\S+)")
#: Programs that run commands which stand in the texts that they are given.
_INTERPRETERS = frozenset(
    (
        *("vim", "vi", "view", "nvim", "ex", "ed", "emacs", "less", "more", "man"),
        *("gdb", "lldb", "expect", "tclsh", "git", "tar", "bsdtar", "zip", "rsync", "ssh"),
        *("scp", "make", "awk", "gawk", "mawk", "nawk", "sed", "env", "osascript", "pwsh"),
        *(
            "powershell",
            "at",
            "batch",
            "systemd-run",
            "mapfile",
            "complete",
            "compgen",
            "bind",
            "watch",
            "entr",
        ),
        *("tmux", "screen", "xterm", "sort", "fc", "su", "runuser", "flock", "sqlite3", "ncat"),
        *("nc", "socat", "parallel", "busybox", "cmake", "npx", "docker", "podman", "kubectl"),
    )
)
#: Options of git behind which a text stands that is no command.
_WORDS_FOLLOW = frozenset(("-m", "-am", "--message", "--grep", "-S", "-G"))
#: What stands in front of a command within such a text.
_BEFORE_COMMAND = re.compile(
    r"^(?:\+|:)?!|^:?(?:call )?system\(|^\d*e\s+|^[\w.-]+=!?|^[^|]*\|\s*|^--[\w-]+=|^-[A-Za-z]\s*"
    r"|^(?:SYSTEM|EXEC):|.*?\b(?:exec|shell|system|spawn|getline|script)\b[\s(\"'=]*"
)


def expand(line: str, variables: dict[str, str]) -> str:
    """Put in what variables, `$(echo …)`, `$'…'` and braces stand for, as far as the code itself says it."""
    variables.update(
        {name: next(filter(None, texts), "") for name, *texts in _ASSIGNED.findall(line)},
    )

    def value(found: re.Match[str]) -> str:
        return variables.get(found[1] or found[2], found[0])

    line = _SPACE.sub(" ", line)
    line = _ECHOED.sub(lambda match: match[1] or match[2], line)
    line = _ANSI.sub(r"\1", line)
    line = _BRACES.sub(lambda match: match[1] + match[2].replace(",", " "), line)
    return _VARIABLE.sub(value, line)


def find_here_strings(line: str) -> Iterator[str]:
    """Return the texts that a line hands to a program with `<<<`."""
    for text in _HERE_STRING.findall(line):
        yield text.lstrip("$").strip("'\"")


def list_commands_in_texts(name: str, arguments: Sequence[str]) -> Iterator[str]:
    """Yield the commands in what a program is given that runs such."""
    if name not in _INTERPRETERS:
        return
    for before, word in zip(("", *arguments), arguments, strict=False):
        is_message = name == "git" and (before in _WORDS_FOLLOW or word.startswith("--message"))
        if is_message or (" " not in word and "!" not in word):
            continue
        text = word
        for _ in range(3):
            yield text.strip("\"'() {}")
            shorter = _BEFORE_COMMAND.sub("", text, count=1)
            if shorter == text:
                break
            text = shorter
