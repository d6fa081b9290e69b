"""The screen of key bindings: all keys, the changed ones, and errors in them."""

import difflib
import importlib
import pkgutil
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from textual.binding import Binding, BindingsMap
from textual.dom import DOMNode
from textual.keys import KEY_ALIASES, Keys

import oi_tui.screens
import oi_tui.widgets
from oi_tui.engine.settings.key_bindings import MODIFIERS, parse
from oi_tui.text import clean_line
from oi_tui.widgets.approval.panel import ApprovalPanel

#: Where each key works, by the name of what it does.
Known = dict[str, list[tuple[type[DOMNode], Binding]]]
_NAMED = {key.value.rpartition("+")[2] for key in Keys} | set(KEY_ALIASES)


def list_bindings() -> Known:
    """Return every key by the name of what it does, with where it works: one entry for each of its keys."""
    for package in (oi_tui.screens, oi_tui.widgets):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    bindings: Known = {}
    for owner in _list_own_classes(DOMNode):
        own = BindingsMap(owner.__dict__.get("BINDINGS", ()))
        for _, binding in own:
            if binding.id:
                bindings.setdefault(binding.id, []).append((owner, binding))
    return dict(sorted(bindings.items()))


def _list_own_classes(kind: type[DOMNode]) -> Iterator[type[DOMNode]]:
    for item in kind.__subclasses__():
        if item.__module__.startswith("oi_tui."):
            yield item
        yield from _list_own_classes(item)


def read_chosen(text: str) -> tuple[Mapping[str, str], list[str]]:
    """Return the keys of the profile that can be used, and sentences about the others and about conflicts."""
    try:
        keys = dict(parse(text))
    except ValueError as error:
        return {}, [f"keys: {error}"]
    bindings, problems = list_bindings(), list[str]()
    for name in list(keys):
        if name not in bindings:
            near = difflib.get_close_matches(name, bindings, n=1)
            hint = f"Did you mean {near[0]}?" if near else "%keys lists the names."
            problems.append(f"keys: unknown action {clean_line(name, 40)}. {hint}")
            del keys[name]
            continue
        good = [key for key in keys[name].split(",") if is_key(key)]
        bad = [key for key in keys[name].split(",") if not is_key(key)]
        problems += [f"keys: {name}: unknown key {clean_line(key, 40)}." for key in bad]
        if good:
            keys[name] = ",".join(good)
        else:
            del keys[name]
    problems += _find_conflicts(bindings, keys)
    return keys, problems


def _find_conflicts(known: Known, wanted: Mapping[str, str]) -> list[str]:
    """Return keys that would now do two things in one place; the one
    that is listed last is the one that works.
    """
    uses: dict[tuple[str, str], list[str]] = {}
    for name, places in known.items():
        keys = wanted[name].split(",") if name in wanted else [binding.key for _, binding in places]
        for owner in {owner for owner, _ in places}:
            for key in keys:
                uses.setdefault((owner.__name__, _name_key(key)), []).append(name)
    conflicts = []
    for (_, key), names in uses.items():
        if len(set(names)) > 1 and any(name in wanted for name in names):
            every = " and ".join(sorted(set(names)))
            conflicts.append(f"keys: {key} is used by {every}; only one of them will get it.")
    return list(dict.fromkeys(conflicts))


def _name_key(key: str) -> str:
    return key if len(key) > 1 or key.isalnum() else unicodedata.name(key, key).lower().replace(" ", "_")


def is_key(key: str) -> bool:
    """Return whether there is a key of that name: a letter or sign, a named key, either with modifiers."""
    *modifiers, last = key.split("+") if key != "+" else ["+"]
    if any(modifier not in MODIFIERS for modifier in modifiers):
        return False
    if len(last) == 1:
        return last.isprintable() and not last.isspace()
    if last in _NAMED:
        return True
    try:
        unicodedata.lookup(last.replace("_", " "))
    except KeyError:
        return False
    return True


#: Names and keys that are longer push what follows to the right, so that the others leave room for words.
_COLUMNS = ((0, 28), (1, 15))


def describe_names(changed: Mapping[str, str]) -> str:
    """Return every name with its keys, those that were changed marked."""
    rows = []
    for name, places in list_bindings().items():
        keys = changed.get(name) or ",".join(dict.fromkeys(binding.key for _, binding in places))
        what = next((binding.description for _, binding in places if binding.description), "")
        rows.append((f"{'*' if name in changed else ' '} {name}", keys, what))
    first, second = (max(len(row[at]) for row in rows if len(row[at]) <= most) for at, most in _COLUMNS)
    return "\n".join(f"{name:<{first}}  {keys:<{second}}  {what}" for name, keys, what in rows)


def list_keys_here(screen: Any) -> tuple[str, list[tuple[str, str]]]:
    """Return the focused part in words, and its keys as they are now."""
    rows: list[tuple[str, str]] = []
    title = ""
    changed = screen.app.remapped
    node = screen.focused
    while node is not None:
        if isinstance(node, DOMNode) and type(node).__module__.startswith("oi_tui."):
            title = title or _PLACES.get(type(node).__name__, "Here")
            if isinstance(node, ApprovalPanel):
                rows += node.help_rows
            if type(node).__name__ != "ChatScreen":
                rows += _make_rows(type(node), changed)
        node = node.parent if node is not screen else None
    return title, rows


def _make_rows(owner: type[DOMNode], changed: Mapping[str, str]) -> list[tuple[str, str]]:
    rows_by_name: dict[str, tuple[list[str], str]] = {}
    for _, binding in BindingsMap(owner.__dict__.get("BINDINGS", ())):
        name = binding.id or binding.key
        rows_by_name.setdefault(name, ([], binding.description))[0].append(binding.key)
    return [
        (_render(changed.get(name, ",".join(keys))), words)
        for name, (keys, words) in rows_by_name.items()
        if words
    ]


def _render(keys: str) -> str:
    return "  ".join({"slash": "/", "question_mark": "?"}.get(key, key) for key in keys.split(","))


_AT_QUESTION, _IN_CODE = "At the question", "In the code"
#: Where a key may run code. It has to be pressed there, in sight of the code, and not in a list of keys.
KEYS_RUN_CODE = frozenset({_AT_QUESTION, _IN_CODE})
_PLACES = {
    "Transcript": "In the conversation",
    "ApprovalPanel": _AT_QUESTION,
    "CodeEditor": _IN_CODE,
    "Prompt": "At the prompt",
}
