"""Reads YAML: the settings of a text with their places, and what is wrong where it cannot be read."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from oi_tui.engine.settings.setting import ProfileError
from oi_tui.text import clean_line

#: The characters that end a line in YAML.
_YAML_LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
#: What the parser says of common mistakes, and what to do about each.
_ADVICE = (
    (
        "mapping values are not allowed",
        "an unexpected colon. Text with a colon needs quotes, and a setting a space behind its colon",
    ),
    ("another document", "a second document begins (---); write all settings into one"),
    ("<document start>", "indented less than the first setting"),
    ("unexpected end of stream", "a quote that is not closed"),
    ("',' or ']'", "a [ that is not closed"),
    ("',' or '}'", "a { that is not closed"),
    ("hexdecimal", "a backslash between double quotes; use single quotes"),
    ("escape character", "a backslash between double quotes; use single quotes"),
    ("undefined alias", "a value that begins with * must be in quotes"),
    ("alphabetic or numeric character", "a value that begins with * or & must be in quotes"),
    ("expected key", "check the indentation and the quotes of this line"),
    ("expected <block end>", "check the indentation and the quotes of this line"),
)
_MAX_DEPTH = 20
_MAX_PARTS = 5_000
_MAX_ALIASES = 20
_PLAIN_TAGS = frozenset(
    f"tag:yaml.org,2002:{name}"
    for name in ("str", "int", "float", "bool", "null", "seq", "map", "timestamp", "binary", "set", "merge")
)
_NUMBER_TAGS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
#: The most characters of a number. Python takes long for longer ones, or does not write them as text.
_MAX_NUMBER = 1_000
#: libyaml's parser where PyYAML was built with it (a hundred times as fast), else the one in Python.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class YamlEntry:
    """A value of the file, where it stands (line counted from 1; characters counted from 0)."""

    value: object
    line: int
    #: The key's first character, the value's first, and the one after the value.
    key_start: int
    start: int
    end: int
    column: int
    #: The dotted key of the group that it stands in, "" at the top.
    group: str


def parse_entries(text: str, path: object = None) -> dict[str, YamlEntry]:
    """Return the settings in YAML text by dotted key. Raises ProfileError with the line."""
    try:
        _refuse_dangers(text, path)
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        raise _explain_error(error, text, path) from None
    except RecursionError:
        raise ProfileError("too deeply nested", path=path) from None
    entries: dict[str, YamlEntry] = {}
    if root is not None:
        _refuse_odd_aliases(root, path)
    if root is None or (isinstance(root, yaml.ScalarNode) and not root.value):
        return entries
    if not isinstance(root, yaml.MappingNode):
        raise ProfileError(
            "expected settings such as 'llm.model: gpt-4o'", path=path, line=root.start_mark.line + 1
        )
    for entry_key, entry in _list_entries(root, "", path):
        if entry_key in entries:
            raise ProfileError(
                f"given twice (also in line {entries[entry_key].line})",
                key=entry_key,
                path=path,
                line=entry.line,
            )
        entries[entry_key] = entry
    return entries


def _refuse_dangers(text: str, path: object) -> None:
    """Check the parts of the text one by one, before anything is built from them."""
    depth = aliases = 0
    for count, event in enumerate(yaml.parse(text, Loader=_LOADER)):
        line = event.start_mark.line + 1 if event.start_mark else None
        if count > _MAX_PARTS:
            raise ProfileError("too many values for a profile", path=path, line=line)
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            depth += 1
            if depth > _MAX_DEPTH:
                raise ProfileError("too deeply nested", path=path, line=line)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            depth -= 1
        elif isinstance(event, yaml.AliasEvent):
            aliases += 1
            if aliases > _MAX_ALIASES:
                raise ProfileError("too many aliases (*)", path=path, line=line)
        tag = getattr(event, "tag", None)
        if tag and tag != "!" and tag not in _PLAIN_TAGS:
            raise ProfileError(f"the tag {clean_line(tag, 60)} is not allowed", path=path, line=line)


def _refuse_odd_aliases(root: yaml.Node, path: object) -> None:
    """Refuse an alias within the value that it names, and aliases that make far more values of few."""
    count = 0

    def walk(node: yaml.Node, within: frozenset[int]) -> None:
        nonlocal count
        count += 1
        line = node.start_mark.line + 1
        if count > _MAX_PARTS:
            raise ProfileError("too many values for a profile", path=path, line=line)
        if id(node) in within:
            raise ProfileError("an alias (*) refers to itself", path=path, line=line)
        within |= {id(node)}
        parts = node.value if isinstance(node, yaml.CollectionNode) else ()
        for part in parts:
            for item in part if isinstance(part, tuple) else (part,):
                walk(item, within)

    walk(root, frozenset())


def _list_entries(node: yaml.MappingNode, group: str, path: object) -> Iterator[tuple[str, YamlEntry]]:
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            raise ProfileError("expected the name of a setting", path=path, line=line)
        key = f"{group}.{key_node.value}" if group else key_node.value
        shallow = len(key) < 100 and key.count(".") < _MAX_DEPTH
        if isinstance(value_node, yaml.MappingNode) and value_node.value and shallow:
            yield from _list_entries(value_node, key, path)
            continue
        yield (
            clean_line(key, 100),
            YamlEntry(
                value=_read_value(value_node, path),
                line=line,
                key_start=key_node.start_mark.index,
                start=value_node.start_mark.index,
                end=_end(value_node),
                column=key_node.start_mark.column,
                group=group,
            ),
        )


def _end(node: yaml.Node) -> int:
    """Return the end of a value; the parser counts what follows a block list, comments too, as part of it."""
    while isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        node = node.value[-1]
    return int(node.end_mark.index)


def _read_value(node: yaml.Node, path: object) -> object:
    if isinstance(node, yaml.SequenceNode):
        return [_read_value(item, path) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        return {}
    try:
        if node.tag in _NUMBER_TAGS and len(node.value) > _MAX_NUMBER:
            raise ValueError
        return yaml.SafeLoader("").construct_object(node)
    except (yaml.YAMLError, ValueError, OverflowError, LookupError, AttributeError):
        # PyYAML trusts a tag such as !!bool or !!timestamp, and fails where the text does not fit it.
        raise ProfileError(
            f"cannot read {clean_line(str(node.value), 60)!r}", path=path, line=node.start_mark.line + 1
        ) from None


def _explain_error(error: yaml.YAMLError, text: str, path: object) -> ProfileError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if "quoted scalar" in str(getattr(error, "context", None)):
        mark = getattr(
            error, "context_mark", mark
        )  # where the quote begins; it may be noticed at the end of the file
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not readable as YAML"
    if mark is not None:
        line = mark.line + 1
    else:
        position = getattr(error, "position", None)
        line = text.count("\n", 0, position) + 1 if isinstance(position, int) else None
    if "maximum nesting depth" in problem:  # libyaml's own limit, in its newer versions
        return ProfileError("too deeply nested", path=path, line=line)
    if "cannot start any token" in problem and line and "\t" in _YAML_LINE_END.split(text)[line - 1]:
        problem = "a tab where YAML needs spaces"
    elif "cannot start any token" in problem:
        problem = "a value that begins with @, ` or % must be in quotes"
    else:
        problem = next((advice for words, advice in _ADVICE if words in problem), clean_line(problem, 120))
    return ProfileError(f"not readable as YAML: {problem}", path=path, line=line)
