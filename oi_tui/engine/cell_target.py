"""Parses the first line of a cell that names its target: `%%on ssh:gpu1`."""

import re

_LINE = re.compile(r"\s*%%on[ \t]+(?P<target>[^\r\n]*\S)[ \t]*(?:\r?\n|$)")


def split(code: str) -> tuple[str, str]:
    """Return the target that the first line names, "" for none, and the code without that line.

    An empty line stands in its place, so that the lines keep their numbers.
    """
    match = _LINE.match(code)
    if match is None:
        return "", code
    return match["target"], "\n" * match[0].count("\n") + code[match.end() :]


def join(target: str, code: str) -> str:
    """Return the code with a first line that has it run there."""
    return f"%%on {target}\n{code}"
