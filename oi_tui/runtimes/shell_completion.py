"""Completions of shell code: variables, functions, aliases, programs and files."""

import os
import re
from dataclasses import replace
from pathlib import Path

from oi_tui import paths
from oi_tui.runtimes.completions import MOST, Completion, CompletionSet, complete_names
from oi_tui.runtimes.variables import Memory

#: How much of the line before the caret is looked at, in characters: to find a word takes the square of that.
_LONGEST_LINE = 2_000
#: The word before the caret, with what is escaped or in quotation marks.
_WORD = re.compile(
    r"""(?:\\.|'[^'\n]*'|"(?:[^"\\\n]|\\.)*"|[^\s;|&()<>'"\\`])*(?P<open>['"](?:[^'"\\\n]|\\.)*)?\Z"""
)
#: What can precede the name of a program: nothing, a separator, a shell keyword, or assignments.
_COMMAND = re.compile(
    r"(?:^|[\n;|&({`]|\b(?:then|do|else|if|elif|while|until|sudo|exec|command|time|nohup|xargs|env|!)\s)\s*(?:\w+=\S*\s+)*\Z"
)
_VARIABLE = re.compile(r"\$\{?\w*\Z")
#: Characters that a shell removes from a word.
_MARKS = re.compile(r"""\\(.)|['"]""")
#: The kinds of what a shell remembers that are no values.
_COMMANDS = ("function", "alias")
_SPECIAL = re.compile(r"([^\w@%+=:,./~-])")


def complete(memory: Memory, before: str, folder: Path) -> CompletionSet | None:
    """Return what completes the code before the caret; `folder` is where the shell is."""
    line = before.rpartition("\n")[2][-_LONGEST_LINE:]
    if _VARIABLE.search(line):
        return complete_names(_remove_commands(memory), before)
    match = _WORD.search(line)
    word = match.group() if match else ""
    if not word or _is_comment(line):
        return CompletionSet(0, ())
    quote = match["open"][0] if match and match["open"] else ""
    prefix = match["open"][1:] if match and quote else _MARKS.sub(lambda mark: mark[1] or "", word)
    offers: list[Completion] = []
    if "/" not in prefix and not quote and _COMMAND.search(line[: len(line) - len(word)]):
        offers = _complete_commands(memory, prefix)
    offers += _complete_files(prefix, folder, quote)
    word_length = len(match["open"]) - 1 if match and quote else len(word)
    usable_offers = [item for item in offers if item.text != word and item.text.isprintable()]
    return CompletionSet(word_length, tuple(usable_offers[:MOST]))


def _remove_commands(memory: Memory) -> Memory:
    variables = tuple(item for item in memory.variables if item.type not in _COMMANDS)
    return replace(memory, variables=variables)


def _is_comment(line: str) -> bool:
    return bool(re.search(r"(?:^|\s)#[^'\"]*\Z", line))


def _complete_commands(memory: Memory, typed: str) -> list[Completion]:
    """Return the functions and aliases of the shell, then the programs on PATH."""
    own = [
        Completion(variable.name, variable.type)
        for variable in memory.variables
        if variable.type in _COMMANDS and variable.name.startswith(typed)
    ]
    names: set[str] = set()
    for folder in os.get_exec_path():
        try:
            with os.scandir(folder) as entries:
                names.update(entry.name for entry in entries if entry.name.startswith(typed))
        except OSError:
            continue
    return own + [Completion(name, "program") for name in sorted(names)]


def _complete_files(typed: str, folder: Path, quote: str) -> list[Completion]:
    """Return the files with this beginning of a path, quoted for the shell."""
    place, slash, begin = typed.rpartition("/")
    try:
        with os.scandir(folder / paths.expand_typed(place + slash)) as entries:
            matching = [entry for entry in entries if entry.name.startswith(begin)]
            files = sorted((entry.name, paths.is_folder(entry)) for entry in matching)
    except (OSError, ValueError):
        return []
    offers = []
    for name, is_folder in files:
        if begin or not name.startswith("."):
            path = place + slash + name + ("/" if is_folder else "")
            offers.append(Completion(path if quote else _SPECIAL.sub(r"\\\1", path)))
    return offers
