"""Texts."""

# mypy: ignore-errors
from __future__ import annotations

import textwrap
from textwrap import dedent

__all__ = ["dedent", "indent", "list_strings", "marquee", "num_ini_spaces"]


def indent(instr, nspaces=4, ntabs=0, flatten=False):
    """Return a text with space before each line."""
    space = "\t" * ntabs + " " * nspaces
    return textwrap.indent(dedent(instr) if flatten else instr, space, lambda _: True)


def list_strings(arg):
    """Return a list of texts, also of one."""
    return [arg] if isinstance(arg, str) else arg


def marquee(txt="", width=78, mark="*"):
    """Return a text with marks on both sides."""
    if not txt:
        return (mark * width)[:width]
    side = mark * max(0, (width - len(txt) - 2) // len(mark) // 2)
    return "{} {} {}".format(side, txt, side)


def num_ini_spaces(strng):
    """Return how many spaces a text begins with."""
    return len(strng) - len(strng.lstrip(" "))
