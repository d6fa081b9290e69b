"""Translates the flags of Open Interpreter that are no settings, or explains why they have no effect."""

import argparse
import sys
from collections.abc import Sequence
from typing import NamedTuple

from oi_tui.text import clean_line

#: Flags with another name here.
_RENAMED = {"--config-file": "--profile", "-cf": "--profile", "-fc": "--loop"}
#: Flags that choose a profile or a model. What a person chooses with the flags of oi-tui takes precedence.
_CHOICES: dict[str, dict[str, str | bool]] = {
    "--assistant": {"profile": "assistant"},
    "--codestral": {"profile": "codestral"},
    "--codestral-os": {"profile": "codestral-os"},
    "--codestral-vision": {"profile": "codestral-vision"},
    "--groq": {"profile": "groq"},
    "--llama3-os": {"profile": "llama3-os"},
    "--llama3-vision": {"profile": "llama3-vision"},
    "--llama3": {"local": True, "model": "ollama_chat/llama3.1"},
}
#: Flags that ask for what is not here, and what to use instead.
_REFUSED = {
    "--config": "oi-tui: --config is not supported; --profiles lists the profiles and opens their folder",
    "--save-profile": "oi-tui: --save-profile is not supported; the settings (f2) save profiles",
    "--use-containers": "oi-tui: containers are not supported; --sandbox limits programs to this folder",
    "--tools": "oi-tui: --tools is not supported; --languages lists the only languages that may be used",
}
#: What the choices are called in a sentence.
_WORDS = {"profile": "profile", "model": "model", "local": "setting local"}
#: Flags that were switches once.
_SAFE = ("--safe", "--safe-mode", "-safe")


class Translation(NamedTuple):
    """The arguments without the old flags, the choices that the old flags stand for, and remarks."""

    arguments: list[str]
    chosen: list[str]
    notes: list[str]


def translate(arguments: Sequence[str]) -> Translation:
    """Replace the flags of Open Interpreter by those of oi-tui. What follows `--` is text and stays."""
    end = list(arguments).index("--") if "--" in arguments else len(arguments)
    result = Translation([], [], [])
    for number, argument in enumerate(arguments[:end]):
        flag = argument.replace("_", "-")
        name, equals, value = argument.partition("=")
        if flag in _SAFE and (number + 1 == end or arguments[number + 1].startswith("-")):
            result.arguments.extend((argument, "ask"))
        elif flag in _CHOICES:
            result.chosen.append(flag)
        else:
            result.arguments.append(_RENAMED.get(name.replace("_", "-"), name) + equals + value)
    result.arguments.extend(arguments[end:])
    return result


def add_choices(given: argparse.Namespace, chosen: Sequence[str]) -> list[str]:
    """Set what the old flags choose where no other flag has set it. Returns a sentence for each that lost."""
    notes = []
    for flag in dict.fromkeys(chosen):
        for name, value in _CHOICES[flag].items():
            if name == "model" and "demo" in given:
                notes.append(_explain_ignored(flag, name, "--demo"))
            elif (earlier := vars(given).setdefault(name, value)) != value:
                winner = f"--no-{name}" if earlier is False else f"--{name} {clean_line(str(earlier), 60)}"
                notes.append(_explain_ignored(flag, name, winner))
    return notes


def _explain_ignored(flag: str, name: str, stronger: str) -> str:
    return f"{flag} does not change the {_WORDS[name]}: {stronger} takes precedence."


def handle_flag(arguments: Sequence[str]) -> int | None:
    """Answer a flag that starts nothing. Returns the exit code; None when there is no such flag."""
    for argument in arguments:
        if argument == "--":
            return None
        if refusal := _REFUSED.get(argument.replace("_", "-").partition("=")[0]):
            print(refusal, file=sys.stderr)  # noqa: T201
            return 2
        if argument.replace("_", "-") == "--local-models":
            print("\n".join(_describe_local_models()))  # noqa: T201
            return 0
    return None


def _describe_local_models() -> list[str]:
    """Return the models that servers on this machine have, and how to get others."""
    from oi_tui.engine.models import local_servers

    models = local_servers.find()
    lines = [f"  oi-tui -m {clean_line(item.model, 60)}   ({item.server})" for item in models]
    there = ["On this machine:", *lines] if models else ["No model server found on this machine."]
    return [
        *there,
        "",
        "How to get one:",
        *(f"  {clean_line(hint, 200)}" for hint in local_servers.list_hints()),
    ]
