"""Asks a person what an MCP server wants to know during a call: a form line by line, or an address to open.

What is typed goes to the server only: the conversation keeps the questions, not the answers.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from oi_tui.text import clean_line, escape_controls

_YES = frozenset({"yes", "y", "true"})
_NO = frozenset({"no", "n", "false"})
#: Fields of a form that are asked for, and choices that are listed.
_MOST_FIELDS = 30
_MOST_CHOICES = 40
_HINT = "What you type goes to this server only. ctrl+d declines."


#: What the person types who gives no answer.
END_OF_INPUT = "\x04"
#: What is told to the person in the end.
_OUTCOMES = {"accept": "Answered.", "decline": "Declined.", "cancel": "Cancelled."}


class Form:
    """A request of a server, and what the person has answered so far.

    `prompt` is the question of the moment, None once all are answered; `result` is what the server gets.
    """

    def __init__(self, server: str, request: Mapping[str, Any]) -> None:
        self._address = str(request.get("url") or "") if request.get("mode") == "url" else ""
        schema = request.get("requestedSchema") or {}
        properties = schema.get("properties") if isinstance(schema, dict) else None
        fields = properties if isinstance(properties, dict) and not self._address else {}
        self._fields: list[tuple[str, Mapping[str, Any]]] = [
            (str(name), field if isinstance(field, dict) else {}) for name, field in fields.items()
        ]
        required = schema.get("required") if isinstance(schema, dict) else None
        self._required = frozenset(map(str, required)) if isinstance(required, list) else frozenset()
        self._content: dict[str, Any] = {}
        self._action: Literal["accept", "decline", "cancel"] | None = None
        message = escape_controls(str(request.get("message") or ""))[:2_000]
        #: What is shown before the first question.
        self.introduction = f"The MCP server {server} asks: {message}\n{_HINT}\n"
        if self._address:
            self.introduction += f"It wants you to open this address: {escape_controls(self._address)}\n"
        if len(self._fields) > _MOST_FIELDS:
            self._action = "cancel"

    @property
    def prompt(self) -> str | None:
        """The question of the moment, or None."""
        if self._action is not None:
            return None
        if self._address:
            return "Agree? (yes or no) "
        if not self._fields:
            return "Answer yes or no: "
        name, field = self._fields[0]
        title = clean_line(str(field.get("title") or name), 80)
        about = clean_line(str(field.get("description") or ""), 200)
        facts = "; ".join(
            filter(None, (about, _describe_expected(field), self._describe_default(name, field)))
        )
        return f"{title} ({facts}): " if facts else f"{title}: "

    @property
    def result(self) -> dict[str, Any]:
        """What the server gets."""
        if self._action != "accept":
            return {"action": self._action or "cancel"}
        return {"action": "accept"} if self._address else {"action": "accept", "content": self._content}

    @property
    def outcome(self) -> str:
        """What became of it, in a word."""
        return _OUTCOMES[self.result["action"]]

    def answer(self, line: str) -> str:
        """Use a typed line, END_OF_INPUT for a refusal; return what is wrong with it, "" if nothing."""
        if line == END_OF_INPUT:
            self._action = "decline"
            return ""
        text = line.strip()
        if not self._fields:
            if text.lower() not in _YES | _NO:
                return "Type yes or no."
            self._action = "accept" if text.lower() in _YES else "decline"
            return ""
        name, field = self._fields[0]
        try:
            self._set_field(name, field, text)
        except ValueError as error:
            return str(error)
        del self._fields[0]
        if not self._fields:
            self._action = "accept"
        return ""

    def _set_field(self, name: str, field: Mapping[str, Any], text: str) -> None:
        if text:
            self._content[name] = _read(field, text)
        elif "default" in field:
            self._content[name] = field["default"]
        elif name in self._required:
            raise ValueError("This is needed. ctrl+d declines.")

    def _describe_default(self, name: str, field: Mapping[str, Any]) -> str:
        if default := _format_value(field.get("default", "")):
            return f"empty: {clean_line(default, 60)}"
        return "" if name in self._required and "default" not in field else "may be empty"


def fill_in(form: Form, ask: Callable[[str, str], str | None]) -> None:
    """Have a person answer all questions. `ask` prints a text and a prompt, and returns the line.

    It returns None where nobody answers any more; the rest is not asked then.
    """
    text = form.introduction
    while prompt := form.prompt:
        line = ask(text, prompt)
        if line is None:
            return
        problem = form.answer(line)
        text = f"{problem}\n" if problem else ""
    ask(f"{text}{form.outcome}\n", "")


def _describe_expected(field: Mapping[str, Any]) -> str:
    """Say what a field takes; "" where that is any text."""
    if field.get("type") == "array":
        choices = _list_choices(field.get("items") or {})
        return f"several of {_list(choices)}, with commas between" if choices else "with commas between"
    if choices := _list_choices(field):
        return _list(choices)
    kinds = {"boolean": "yes or no", "integer": "a whole number", "number": "a number"}
    return kinds.get(str(field.get("type")), "")


def _list_choices(field: object) -> list[tuple[str, str]]:
    """Return the values that a field may have, each with its title."""
    if not isinstance(field, dict):
        return []
    titled = field.get("oneOf") or field.get("anyOf")
    if isinstance(titled, list):
        choices = [item for item in titled if isinstance(item, dict) and "const" in item]
        return [(str(item["const"]), str(item.get("title") or item["const"])) for item in choices]
    values = field.get("enum")
    if not isinstance(values, list):
        return []
    names = field.get("enumNames")
    titles = names if isinstance(names, list) and len(names) == len(values) else values
    return [(str(value), str(title)) for value, title in zip(values, titles, strict=True)]


def _list(choices: Sequence[tuple[str, str]]) -> str:
    titles = [clean_line(title, 60) for _, title in choices[:_MOST_CHOICES]]
    more = f" and {len(choices) - len(titles)} more" if len(choices) > len(titles) else ""
    return ", ".join(titles) + more


def _read(field: Mapping[str, Any], text: str) -> Any:
    """Return the value that a text means. Raises ValueError with a sentence."""
    kind = field.get("type")
    if kind == "array":
        choices = _list_choices(field.get("items") or {})
        parts = [part.strip() for part in text.split(",") if part.strip()]
        return [_choose(choices, part) for part in parts] if choices else parts
    if choices := _list_choices(field):
        return _choose(choices, text)
    if kind == "boolean":
        if text.lower() not in _YES | _NO:
            raise ValueError("Type yes or no.")
        return text.lower() in _YES
    if kind in ("integer", "number"):
        return _parse_number(field, text, whole=kind == "integer")
    low, high = field.get("minLength"), field.get("maxLength")
    if isinstance(low, int) and len(text) < low:
        raise ValueError(f"Type at least {low} characters.")
    if isinstance(high, int) and len(text) > high:
        raise ValueError(f"Type at most {high} characters.")
    return text


def _choose(choices: Sequence[tuple[str, str]], text: str) -> str:
    for value, title in choices:
        if text in (value, title):
            return value
    for value, title in choices:
        if text.lower() in (value.lower(), title.lower()):
            return value
    raise ValueError(f"Type one of these: {_list(choices)}.")


def _parse_number(field: Mapping[str, Any], text: str, *, whole: bool) -> float:
    try:
        value = int(text) if whole else float(text)
        is_usable = math.isfinite(value)
    except (ValueError, OverflowError):
        is_usable = False
    if not is_usable:
        raise ValueError("Type a whole number." if whole else "Type a number.")
    low, high = field.get("minimum"), field.get("maximum")
    if isinstance(low, int | float) and value < low:
        raise ValueError(f"Type a number of at least {low}.")
    if isinstance(high, int | float) and value > high:
        raise ValueError(f"Type a number of at most {high}.")
    return value


def _format_value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
