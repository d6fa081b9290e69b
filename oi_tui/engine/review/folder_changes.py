"""Finds the folders to which code changes, by which names of files then mean other files."""

import re
from collections.abc import Iterator

from oi_tui.engine.review.call_arguments import WITH_BARE_CALLS, evaluate, read_variables, split_arguments

#: Functions that change the folder to which names of files are relative.
_CHANGERS = {
    "python": r"\bf?chdir",
    "javascript": r"\bchdir",
    "ruby": r"\b(?:Dir|FileUtils)\.(?:chdir|cd)",
    "r": r"(?<![\w.])(?:setwd|with_dir|local_dir)",
    "perl": r"\bchdir",
    "lua": r"\bchdir",
    "php": r"\bchdir",
    "octave": r"\b(?:cd|chdir)",
    "go": r"\bos\.Chdir",
    "rust": r"\bset_current_dir",
    "c": r"\bchdir|\bcurrent_path",
    "julia": r"(?<![\w.])cd",
}
_CHANGERS["cpp"] = _CHANGERS["c"]
for _name in ("typescript", "react", "deno", "bun"):
    _CHANGERS[_name] = _CHANGERS["javascript"]
#: Commands that do so: in shells, in notebooks and in PowerShell.
_CHANGE_COMMAND = re.compile(
    r"(?:^|[;&|({]|\b(?:then|do|else|command|builtin))[ \t]*"
    r"%?(?:cd|pushd|popd|chdir|sl|set-location|push-location)"
    r"(?:[ \t]+(?:-[LPe@]+[ \t]+|--[ \t]+|-\w+[ \t]+)*(\"[^\"\n]*\"|'[^'\n]*'|[^\s;&|)}]*))?(?=[\s;&|)}]|$)",
    re.MULTILINE | re.IGNORECASE,
)
_SHELLS = frozenset(("shell", "bash", "zsh", "sh", "fish", "powershell", "octave"))
_NOTEBOOK_CHANGE = re.compile(r"^[ \t]*%(?:cd|pushd|popd)\b.*", re.MULTILINE)


def find_folder_changes(language: str, code: str) -> Iterator[str]:
    """Yield the folders to which code changes; "" for one that is not known."""
    commands = code if language in _SHELLS else "\n".join(_NOTEBOOK_CHANGE.findall(code))
    for match in _CHANGE_COMMAND.finditer(commands):
        name = (match[1] or "").strip("\"'")
        yield "" if not name or name == "-" or re.search(r"[$`*?\[]", name) else name
    changer = _CHANGERS.get(language)
    if not changer:
        return
    variables = read_variables(code) if re.search(changer, code) else {}
    opens = r"[ \t]*\(" + (r"|[ \t]+(?=[\"'\w$.-])" if language in WITH_BARE_CALLS else "")
    for match in re.finditer(rf"(?:{changer})(?P<opens>{opens})", code):
        arguments = split_arguments(code, match.end(), bare="(" not in match["opens"])
        yield from (evaluate(arguments[0], variables) or [""]) if arguments else [""]
