"""Reads the YAML text of a profile, and changes it without touching the rest."""

import contextlib
import errno
import functools
import io
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oi_tui import paths
from oi_tui.engine.settings.setting import ProfileError, Value
from oi_tui.text import clean_line, repair_surrogates

if TYPE_CHECKING:
    from oi_tui.engine.settings.yaml_parser import YamlEntry

#: Far more than any profile needs, and still read in well under a second.
MAX_BYTES = 1_000_000


def read(path: Path) -> dict[str, "YamlEntry"]:
    """Return the settings in the file by dotted key.

    Raises ProfileError or OSError; never hangs on a pipe.
    """
    return parse(read_text(path), path)


def read_text(path: Path, *, follows_link: bool = True) -> str:
    """Return the file's text. Raises ProfileError when it is no text file, or too large, or OSError.

    Where the file is a link, that is an OSError unless `follows_link`.
    """
    # O_NONBLOCK: opening a FIFO that nobody writes to would wait forever.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follows_link else os.O_NOFOLLOW)
    descriptor = os.open(path, flags)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ProfileError("not a regular file", path=path)
        if status.st_size > MAX_BYTES:
            raise ProfileError(
                f"too large: {status.st_size:,} bytes, and the most is {MAX_BYTES:,}", path=path
            )
        raw = os.read(descriptor, MAX_BYTES + 1)
    finally:
        os.close(descriptor)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        byte = f"{raw[error.start]:#04x}"
        raise ProfileError(f"not UTF-8 text (byte {byte}); save it as UTF-8", path=path, line=line) from None


def parse(text: str, path: object = None) -> dict[str, "YamlEntry"]:
    """Return the settings in YAML text by dotted key. Raises ProfileError with the line."""
    text = repair_surrogates(text.removeprefix("\ufeff"))
    if _has_comments_only(text):
        return {}
    from oi_tui.engine.settings.yaml_parser import parse_entries

    return parse_entries(text, path)


def _has_comments_only(text: str) -> bool:
    """Return whether nothing is set, as in a new profile. PyYAML then need not be loaded, which takes time.

    `splitlines` knows more line ends than YAML, so no setting can hide behind one.
    """
    lines = (line.lstrip(" ") for line in text.splitlines())
    return all(not line or (line.startswith("#") and line.isprintable()) for line in lines)


# ---------------------------------------------------------------------------------------------- writing


def write(path: Path, changes: Mapping[str, Value], base: str = "") -> None:
    """Set dotted keys in the file, or take out those whose value is None. Raises ProfileError or OSError.

    A file that is not there yet begins with the text `base`.
    """
    # Another program may be writing other settings; neither may undo what the other one wrote.
    with paths.writing(path), paths.locked(path.parent):
        try:
            text = read_text(path)
            refuse_read_only(path)
        except FileNotFoundError:
            text = base
        paths.replace_file(path, change_text(text, changes, path))


def refuse_read_only(path: Path) -> None:
    """Leave a read-only file alone, although its folder would allow replacing it."""
    if not path.stat().st_mode & stat.S_IWUSR:
        raise PermissionError(errno.EACCES, "it is read-only", str(path))


def change_text(text: str, changes: Mapping[str, Value], path: object = None) -> str:
    """Return the text with dotted keys set, or taken out where the value is None. Raises ProfileError.

    Only the characters of the changed values change. Where a file is written in a way that this cannot be
    done (a group in braces, say), ruamel.yaml writes it again with its comments, order and other keys.
    """
    if "\r\n" in text and text.count("\n") == text.count("\r\n"):
        return change_text(text.replace("\r\n", "\n"), changes, path).replace("\n", "\r\n")
    for key, value in changes.items():
        before = parse(text, path)
        if key not in before and value is None:
            continue
        expected_values = {name: entry for name, entry in _set(before).items() if name != key}
        if value is not None:
            expected_values[key] = list(value) if isinstance(value, tuple) else value
        # An indented comment that follows would become a part of a block: then the text stays in one line,
        # or the key without a value, which sets nothing.
        for attempt in (_splice, functools.partial(_splice, flat=True), _rewrite):
            with contextlib.suppress(ProfileError):
                result = attempt(text, before, key, value)
                if _set(parse(result, path)) == expected_values:
                    text = result
                    break
        else:
            raise ProfileError("cannot be changed in this file; please edit it by hand", key=key, path=path)
    return text


def _set(entries: Mapping[str, "YamlEntry"]) -> dict[str, object]:
    """Return the values that the entries set; a key without a value, or a group without keys,
    sets nothing.
    """
    return {name: entry.value for name, entry in entries.items() if entry.value not in (None, {})}


def _splice(
    text: str, before: Mapping[str, "YamlEntry"], key: str, value: Value, *, flat: bool = False
) -> str:
    entry = before.get(key)
    if entry is None:
        return _insert(text, before, key, value, flat=flat)
    # The parser did not count a byte order mark.
    shift = 1 if text.startswith("\ufeff") else 0
    start, end = entry.start + shift, entry.end + shift
    if value is None:
        # The end of a block takes in the blank lines after it; they stay.
        end = start + len(text[start:end].rstrip())
        if flat:
            return text[:start].rstrip(" ") + text[end:]
        line_start = text.rfind("\n", 0, entry.key_start + shift) + 1
        line_end = text.find("\n", end) + 1 or len(text)
        return text[:line_start] + text[line_end:]
    new_text = write_scalar(value, entry.column + 2, flat=flat)
    before_value, old = text[:start], text[start:end]
    if old.startswith("- "):
        # A list that begins below its key: the new value goes beside the key, comments stay where they are.
        beside = text.index(":", entry.key_start + shift) + 1
        between = text[beside:start].rstrip(" ")
        return f"{text[:beside]} {new_text}{between.removesuffix(chr(10))}{text[end:]}"
    if old.startswith(("|", ">")):
        # The end of a block scalar takes in the blank lines after it.
        blank_lines = old[len(old.rstrip()) :]
        return before_value + new_text + (blank_lines or "\n") + text[end:]
    if not old and before_value.endswith(":"):
        before_value += " "
    rest = text[end:]
    if "\n" in new_text:
        # A comment may not stand on the line after a block; it goes before the text begins.
        comment, newline, rest = rest.partition("\n")
        head, _, body = new_text.partition("\n")
        return before_value + head + comment + "\n" + body + newline + rest
    return before_value + new_text + rest


def _insert(text: str, before: Mapping[str, "YamlEntry"], key: str, value: Value, *, flat: bool) -> str:
    group, _, name = key.rpartition(".")
    siblings = [entry for entry in before.values() if group and entry.group == group]
    below = [entry for entry in before.values() if f"{entry.group}.".startswith(f"{group}.")]
    newline = "" if not text or text.endswith("\n") else "\n"
    if siblings:
        last = max(below, key=lambda entry: entry.end)
        column = siblings[0].column
        shift = 1 if text.startswith("\ufeff") else 0
        end = last.end + shift
        at = end if text[end - 1 : end] == "\n" else text.find("\n", end) + 1 or len(text)
        line = f"{' ' * column}{name}: {write_scalar(value, column + 2, flat=flat)}\n"
        return text[:at] + (newline if at == len(text) else "") + line + text[at:]
    line = f"{key}: {write_scalar(value, 2, flat=flat)}\n"
    # A new profile holds every setting as a comment: the value goes where its explanation is.
    place = re.search(rf"^# ?{re.escape(key)}:.*\n", text, re.MULTILINE)
    if place:
        return text[: place.end()] + line + text[place.end() :]
    # What follows the mark of a document's end would be another document.
    if end_mark := re.search(r"^\.\.\.(?:[ \t].*)?\n?\Z", text, re.MULTILINE):
        return text[: end_mark.start()] + line + text[end_mark.start() :]
    return text + newline + line


def _rewrite(text: str, _before: Mapping[str, "YamlEntry"], key: str, value: Value) -> str:
    """Change the tree of the file. Raises ProfileError where ruamel.yaml does not take the file."""
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap
    from ruamel.yaml.scalarstring import LiteralScalarString

    round_trip = YAML()
    round_trip.preserve_quotes = True
    round_trip.width = 4096
    try:
        tree = round_trip.load(text) or CommentedMap()
    except Exception as error:  # noqa: BLE001 -- it raises anything for a tag that does not fit
        raise ProfileError(clean_line(str(error), 120)) from None
    parts = key.split(".")
    place: Any = tree
    if key in tree:
        parts = [key]
    for part in parts[:-1]:
        if not isinstance(place.get(part), dict):
            place[part] = CommentedMap()
        place = place[part]
    if value is None:
        place.pop(parts[-1], None)
    else:
        if isinstance(value, str) and "\n" in value:
            place[parts[-1]] = LiteralScalarString(value)
        else:
            place[parts[-1]] = list(value) if isinstance(value, tuple) else value
    buffer = io.StringIO()
    round_trip.dump(tree, buffer)
    return buffer.getvalue()


def write_scalar(value: Value, indent: int = 2, *, flat: bool = False) -> str:
    """Return the value as YAML; text of several lines as a block that is indented by `indent` spaces.

    With `flat` such text stands in quotes, in one line.
    """
    import yaml

    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        # What cannot be printed, line ends of every kind too, is safe only as an escape in double quotes.
        style = None if all(str(item).isprintable() for item in value) else '"'
        flow = yaml.dump(
            list(value),
            Dumper=yaml.SafeDumper,
            default_flow_style=True,
            default_style=style,
            allow_unicode=True,
            width=10_000_000,
        )
        return str(flow).removesuffix("\n")
    if not isinstance(value, str):
        return str(yaml.safe_dump(value)).partition("\n")[0]
    lines = value.split("\n")
    clean = all(line == line.rstrip() and line.isprintable() for line in lines)
    if len(lines) > 1 and clean and not flat and lines[0][:1] not in (" ", ""):
        ending = "" if lines[-1] == "" and lines[-2:-1] != [""] else "-"
        body = lines[:-1] if ending == "" else lines
        if body[-1]:
            return f"|{ending}\n" + "\n".join(" " * indent + line if line else "" for line in body)
    document: str = yaml.dump(value, Dumper=yaml.SafeDumper, allow_unicode=True, width=10_000_000)
    plain = document.removesuffix("\n...\n").removesuffix("\n")
    if "\n" in plain or not value.isprintable():
        plain = str(
            yaml.dump(value, Dumper=yaml.SafeDumper, default_style='"', allow_unicode=True, width=10_000_000)
        ).removesuffix("\n")
    return plain
