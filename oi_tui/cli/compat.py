"""The flags of Open Interpreter that are no settings: what they mean here, or why they have nothing to do."""

import sys
from collections.abc import Sequence

from oi_tui.text import one_line

#: Flags that stand for others.
_MEANT = {
    "--config-file": ("--profile",),
    "--codestral": ("--profile", "codestral"),
    "--groq": ("--profile", "groq"),
    "--llama3": ("--local", "--model", "ollama_chat/llama3.1"),
}
#: Flags that are accepted, and why they change nothing.
_NEEDLESS = {
    "--assistant": "--assistant has no effect: what it set up is how oi-tui works in any case.",
    "--codestral-vision": "--codestral-vision has no effect: --codestral and --vision are meant.",
    "--codestral-os": "--codestral-os has no effect: mouse and screen are not controlled from here.",
    "--llama3-vision": "--llama3-vision has no effect: --llama3 and --vision are meant.",
    "--llama3-os": "--llama3-os has no effect: mouse and screen are not controlled from here.",
}
_NO_SERVER = (
    "oi-tui: there is no server here; from Python, oi_tui.OpenInterpreter drives the same engine, and "
    "oi-tui --stdin works on one request"
)


#: Flags that ask for what is not here, and what to use instead.
_REFUSED = {
    "--server": _NO_SERVER,
    "--config": "oi-tui: there is no flag --config; --profiles lists the profiles and opens their folder",
    "--use-containers": "oi-tui: there are no containers here; --sandbox holds programs in this folder",
    "--tools": "oi-tui: there is no flag --tools; --languages names the only languages that may be used",
}
#: Flags that were switches once.
_SAFE = ("--safe", "--safe-mode", "-safe")


def translated(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments as they are meant here, and in sentences what has nothing to do."""
    result: list[str] = []
    notes = []
    for number, argument in enumerate(arguments):
        flag = argument.replace("_", "-")
        if flag in _SAFE and (number + 1 == len(arguments) or arguments[number + 1].startswith("-")):
            result += [argument, "ask"]
        elif flag in _MEANT:
            result += _MEANT[flag]
        elif flag in _NEEDLESS:
            notes.append(_NEEDLESS[flag])
        else:
            result.append(argument)
    return result, notes


def answered(arguments: Sequence[str]) -> int | None:
    """Answer a flag that starts nothing. Returns the exit code; None when there is no such flag."""
    for argument in arguments:
        if argument == "--":
            return None
        if refusal := _REFUSED.get(argument.replace("_", "-").partition("=")[0]):
            print(refusal, file=sys.stderr)  # noqa: T201
            return 2
        if argument.replace("_", "-") == "--local-models":
            print("\n".join(_local_models()))  # noqa: T201
            return 0
    return None


def _local_models() -> list[str]:
    """The models that servers on this machine have, and how to get others."""
    from oi_tui.engine.models import local_servers

    found = local_servers.find()
    lines = [f"  oi-tui -m {one_line(each.model, 60)}   ({each.server})" for each in found]
    there = ["On this machine:", *lines] if found else ["No model server answers on this machine."]
    return [*there, "", "How to get one:", *(f"  {one_line(hint, 200)}" for hint in local_servers.hints())]
