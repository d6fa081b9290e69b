"""Commands: one declaration each for `%name`, key, palette and help."""

import re
from pathlib import Path

from oi_tui.commands import builtin  # noqa: F401 -- declares them all
from oi_tui.commands.registry import COMMANDS, Command, CommandActions, CommandError, rekey, split_word
from oi_tui.text import clean_line

__all__ = [
    "COMMANDS",
    "Command",
    "CommandActions",
    "CommandError",
    "carry_out",
    "find_commands",
    "is_command",
    "rekey",
]

#: Lines that people mean for their shell, and type at the prompt.
_FOR_THE_SHELL = re.compile(r"(oi-tui|interpreter)( +-.*)?$|pip3? install (--upgrade|-U) \S*interpreter\S*$")

#: What other programs call commands that have another name here.
_ELSEWHERE = {
    "bye": "quit",
    "clear": "new",
    "config": "profile",
    "context": "tokens",
    "cost": "tokens",
    "diff": "files",
    "exit": "quit",
    "memory": "variables",
    "open": "conversations",
    "q": "quit",
    "resume": "conversations",
    "sessions": "conversations",
    "settings": "profile",
    "status": "info",
    "usage": "tokens",
}


def find_commands(typed: str) -> list[Command]:
    """Return the commands whose name begins with what was typed after `%` or `/`."""
    return [command for command in COMMANDS.values() if command.name.startswith(_normalise(typed[1:]))]


def is_command(text: str) -> bool:
    """Return whether a prompt is meant for the application: `%name …`, `/name …`,
    `%% shell command` or `! …`.

    So is a line that was meant for the shell, as `oi-tui --local`, and a `/name` alone that is nearly one;
    they are answered. A path such as `/etc/hosts` is not, nor is `% of what` with a space.
    """
    if text.startswith(("%%", "!")):
        return text.strip("!") != ""
    if _FOR_THE_SHELL.match(text) or text.strip() in ("%", "/"):
        return True
    if not text.startswith(("%", "/")) or text[1].isspace():
        return False
    word, rest = split_word(text[1:])
    if text.startswith("%") or _normalise(word) in COMMANDS:
        return True
    return bool(
        not rest and "/" not in word and _suggest_nearest(word, 0.75) and not Path(f"/{word}").exists()
    )


def carry_out(text: str, actions: CommandActions) -> None:
    """Do what the person typed. Raises `CommandError`, naming the nearest command, when there is none."""
    if text.startswith(("%%", "!")):
        code = text[1 if text.startswith("!") else 2 :].strip()
        if not code:
            raise CommandError("Type a shell command after %%: %% ls")
        actions.languages.run("shell", code)
        return
    if _FOR_THE_SHELL.match(text):
        raise CommandError("Type that in your shell, after you quit. Here, use %model, %profile or %help.")
    word, argument = split_word(text[1:])
    if not word:
        raise CommandError("Type a command name after %; %help lists all commands.")
    command = COMMANDS.get(_normalise(word))
    if command is None and actions.languages.is_language(word):
        if not argument:
            raise CommandError(f"Type code after it: %{word} CODE")
        actions.languages.run(word, argument)
        return
    if command is None:
        near = _suggest_nearest(word)
        hint = f"Did you mean %{near}?" if near else "%help lists all commands."
        raise CommandError(f"Unknown command %{clean_line(word, 40)}. {hint}")
    if argument and not command.usage:
        raise CommandError(f"%{command.name} takes no argument.")
    command.act(actions, argument)


def _normalise(word: str) -> str:
    """Return the name of a command as it may be written: in capitals, with a dash."""
    return word.lower().replace("-", "_")


def _suggest_nearest(word: str, alike: float = 0.6) -> str:
    import difflib

    if name := _ELSEWHERE.get(_normalise(word)):
        return name
    return next(iter(difflib.get_close_matches(_normalise(word), COMMANDS, n=1, cutoff=alike)), "")
