"""Recognises code that only clicks, types and lists elements, so that a grant for one window can cover it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.folder import make_unknown
from oi_tui.engine.review.python import checker as python_checker
from oi_tui.engine.review.scanner import find_folder, scan_code
from oi_tui.text import list_hidden_characters

#: What code may be granted to do in a window.
ActionKind = Literal["clicks", "types", "reads"]
WORDS: dict[ActionKind, str] = {"clicks": "clicking", "types": "typing", "reads": "listing its elements"}
_MOUSE = ["click", "double_click", "triple_click", "right_click", "move", "drag", "scroll", "down", "up"]
_KEYBOARD = ["write", "press", "press_and_release", "hotkey", "down", "up"]
#: The functions of the computer object that act on a window only, and which kind each is; None for one that
#: does nothing in the window but bring it to the front.
_FUNCTIONS: dict[str, ActionKind | None] = {
    **{f"computer.mouse.{name}": "clicks" for name in _MOUSE},
    **{f"computer.keyboard.{name}": "types" for name in _KEYBOARD},
    "computer.display.elements": "reads",
    "computer.os.activate": None,
}
#: What else such code may call: it must bring in nothing from elsewhere that it could type.
_BESIDES = {"enumerate", "int", "len", "list", "max", "min", "print", "range", "sorted", "str", "time.sleep"}


@dataclass(frozen=True, slots=True)
class ActedWindow:
    """A window in which code acted. Another one may get its number later, so the others count as well."""

    id: int
    title: str
    process: int = 0


@dataclass(frozen=True, slots=True)
class GrantedWindow:
    """A window with the kinds of actions that code may carry out in it."""

    window: ActedWindow
    kinds: frozenset[ActionKind]


def list_kinds(
    language: str, code: str, cwd: Path, earlier: EarlierCode | None = None
) -> frozenset[ActionKind]:
    """Return which kinds of actions are all that the code does; nothing where it may do anything else."""
    if (
        language != "python"
        or list_hidden_characters(code)
        or (earlier is not None and "computer" in earlier.names)
    ):
        return frozenset()
    findings = scan_code(language, code, cwd, earlier)
    tree = _parse_tree(code)
    if tree is None or not (findings.readable and findings.parsed):
        return frozenset()
    folder = find_folder("python", cwd, earlier) or make_unknown(cwd)
    if "computer" in python_checker.read(code, folder, earlier).names:
        return frozenset()
    functions = {_write_dotted(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    if not functions <= _FUNCTIONS.keys() | _BESIDES:
        return frozenset()
    known_parts = {f"{name}(…)" for name in _FUNCTIONS} | {f"{name}=…" for name in _list_own_keywords(tree)}
    if any(item.what not in _FUNCTIONS for item in findings.found):
        return frozenset()
    if any(item.what not in known_parts for item in findings.unchecked):
        return frozenset()
    return frozenset(kind for item in findings.found if (kind := _FUNCTIONS[item.what]))


def _parse_tree(code: str) -> ast.Module | None:
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _list_own_keywords(tree: ast.Module) -> set[str]:
    """Return the names of arguments that only functions of the computer object get."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    own = {name for call in calls if _write_dotted(call.func) in _FUNCTIONS for name in _list_keywords(call)}
    return own - {
        name for call in calls if _write_dotted(call.func) not in _FUNCTIONS for name in _list_keywords(call)
    }


def _list_keywords(call: ast.Call) -> Iterator[str]:
    yield from (keyword.arg for keyword in call.keywords if keyword.arg)


def _write_dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
