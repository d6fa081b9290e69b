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
    "--assistant": "--assistant has no effect: oi-tui always works that way.",
    "--codestral-vision": "--codestral-vision has no effect: use --codestral and --vision.",
    "--codestral-os": "--codestral-os has no effect: oi-tui does not control mouse and screen.",
    "--llama3-vision": "--llama3-vision has no effect: use --llama3 and --vision.",
    "--llama3-os": "--llama3-os has no effect: oi-tui does not control mouse and screen.",
}
_NO_SERVER = (
    "oi-tui: --server is not supported; from Python, use oi_tui.OpenInterpreter, or run one request with "
    "oi-tui --stdin"
)


#: Flags that ask for what is not here, and what to use instead.
_REFUSED = {
    "--server": _NO_SERVER,
    "--config": "oi-tui: --config is not supported; --profiles lists the profiles and opens their folder",
    "--use-containers": "oi-tui: containers are not supported; --sandbox limits programs to this folder",
    "--tools": "oi-tui: --tools is not supported; --languages lists the only languages that may be used",
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
    lines = [f"  oi-tui -m {one_line(item.model, 60)}   ({item.server})" for item in found]
    there = ["On this machine:", *lines] if found else ["No model server found on this machine."]
    return [*there, "", "How to get one:", *(f"  {one_line(hint, 200)}" for hint in local_servers.hints())]
