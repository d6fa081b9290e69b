"""Checks the types and ranges of the fields of a request."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from oi_tui.server.guard import RequestRefusedError


@dataclass(frozen=True, slots=True)
class Field:
    """What a field may be, in words and as a check. A null is the same as a missing field."""

    expected: str
    accepts: Callable[[object], bool]
    #: The fields of an object.
    inside: "Fields | None" = None


#: The known fields of a request by their names. Others are ignored: clients send fields of other servers.
Fields = Mapping[str, Field]


def check_fields(body: Mapping[str, Any], fields: Fields, place: str = "") -> None:
    """Check each field that is there. Raises RequestRefusedError, which names the field with its path."""
    for name, field in fields.items():
        value, path = body.get(name), f"{place}{name}"
        if value is None:
            continue
        if not field.accepts(value):
            raise RequestRefusedError(400, f"{path} must be {field.expected}.", param=path)
        if field.inside and isinstance(value, dict):
            check_fields(value, field.inside, f"{path}.")


def make_number(least: float, most: float) -> Field:
    """Accept a number of this range."""
    return Field(f"a number from {least:g} to {most:g}", lambda value: _is_number(value, least, most))


def make_whole(least: float = -(2**63), most: float = 2**63) -> Field:
    """Accept a whole number of this range."""
    expected = "a whole number"
    if most < 2**63:
        expected = f"a whole number from {least:g} to {most:g}"
    elif least > -(2**63):
        expected = f"a whole number of at least {least:g}"
    return Field(expected, lambda value: _is_number(value, least, most) and value == int(value))  # type: ignore[call-overload]


def make_choice(*texts: str) -> Field:
    """Accept one of these texts."""
    return Field(f"one of {', '.join(texts)}", lambda value: value in texts)


def make_object(fields: Fields) -> Field:
    """Accept an object whose fields are checked too."""
    return Field("an object", _is_object, fields)


def is_texts(value: object) -> bool:
    """Return whether this is a list of texts."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_number(value: object, least: float, most: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


TEXT = Field("text", _is_text)
SWITCH = Field("true or false", lambda value: isinstance(value, bool))
OBJECT = Field("an object", _is_object)
LIST = Field("a list", lambda value: isinstance(value, list))
TEXTS = Field("a list of texts", is_texts)
TEXT_OR_TEXTS = Field("text or a list of texts", lambda value: _is_text(value) or is_texts(value))
TEXT_OR_OBJECT = Field("text or an object", lambda value: isinstance(value, str | dict))
