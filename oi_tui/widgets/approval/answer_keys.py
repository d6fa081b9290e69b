"""The keys that answer a question about code, and what each answer does."""

from typing import Any

from textual.app import App

from oi_tui.widgets.idle import get_changed_keys

#: The default key of each answer. Its binding is `answer.` and the name of the answer.
_DEFAULT_KEYS = {
    "run": "y",
    "edit": "e",
    "reject": "n",
    "always": "a",
    "diff": "d",
    "help": "question_mark",
}
_DESCRIPTIONS = {
    "run": "Run the code as shown",
    "edit": "Edit it first; then you are asked again",
    "reject": "Do not run it; you can tell the model why",
    "always": "Run it, and choose what to auto-approve",
    "diff": "Show your changes to the model's code",
    "help": "Keys and commands",
}


def map_answers(app: App[Any]) -> dict[str, str]:
    """Return the answer of each key, with the keys that the person chose."""
    changed_keys = get_changed_keys(app)
    answers: dict[str, str] = {}
    for answer, default in _DEFAULT_KEYS.items():
        answers |= dict.fromkeys(changed_keys.get(f"answer.{answer}", default).split(","), answer)
    return answers


def format_key(key: str) -> str:
    """Return how a key is printed."""
    return "?" if key == "question_mark" else key


def list_help_rows(app: App[Any]) -> list[tuple[str, str]]:
    """Return each key and a description of its answer."""
    return [(format_key(key), _DESCRIPTIONS[answer]) for key, answer in map_answers(app).items()]


def list_help(app: App[Any], *, edited: bool) -> list[tuple[str, str]]:
    """Return each key and one word for its answer. `edited`: there are changes that can be shown."""
    left_out = ("help",) if edited else ("help", "diff")
    return [(format_key(key), answer) for key, answer in map_answers(app).items() if answer not in left_out]
