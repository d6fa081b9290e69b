"""Parses the key bindings of a profile: one `name: key, key` on each line."""

from collections.abc import Mapping

MODIFIERS = ("ctrl", "shift", "alt", "super", "hyper", "meta")


def parse(text: str) -> Mapping[str, str]:
    """Parse the keys, separated by commas, by the name of what they do. Raises ValueError naming the line."""
    bindings: dict[str, str] = {}
    for line in text.splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        name, colon, keys = line.partition(":")
        lines = [key.strip() for key in keys.split(",") if key.strip()]
        if not colon or not name.strip() or not lines or any(" " in key for key in lines):
            raise ValueError(f"{line[:60]!r} is not of the form command.new: ctrl+t")
        bindings[name.strip()] = ",".join(lines)
    return bindings


def find_problem(text: str) -> str | None:
    """Return what is wrong with the text; None when it is valid."""
    try:
        parse(text)
    except ValueError:
        return "lines such as command.new: ctrl+t (%keys lists the names)"
    return None
