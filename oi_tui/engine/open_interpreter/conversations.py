"""Imports the conversations of Open Interpreter 0.4.3 from this machine.

They are JSON lists of messages in `conversations` below its configuration folder. Its files are only read.
"""

import contextlib
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from oi_tui import paths
from oi_tui.engine.open_interpreter import profiles
from oi_tui.engine.open_interpreter.messages import add_silent, convert_entry, is_odd, link_outputs
from oi_tui.engine.storage.records import JournalContents, make_title
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message
from oi_tui.text import clean_line

_MAX_BYTES = 500_000_000
#: How many conversations are written at the same time.
_WRITERS = 8
#: Which files could not be read, by what they were then: they are offered again once they changed.
_REFUSED = "not-imported"
_BETWEEN = re.compile(r"[\s,]*")
#: How the original ends the name of a file: with the time when its conversation began.
_DATE = re.compile(r"(?:^|__)([A-Z][a-z]+)_(\d\d)_(\d{4})_(\d\d)-(\d\d)-(\d\d)$")
#: The names of the months, which a program of another language must know in English.
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
#: A file that was written later than this many seconds after its date was copied, as a rule.
_LONGEST = 24 * 3600
#: What the original writes for the person when a piece of code is declined.
_DECLINED = "I have declined to run this code."


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of an import: how many files were imported, already known, or had problems."""

    imported: int
    known: int
    #: For each file that could not be read, or not wholly: its name and what is wrong, in words.
    problems: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        lines = [f"{self.imported} conversation{'s' * (self.imported != 1)} of Open Interpreter imported"]
        if self.known:
            lines.append(f"{self.known} were already imported")
        return "; ".join(lines) + "."

    @property
    def page(self) -> str:
        """Return all of it as text; "" where nothing is wrong with any file."""
        if not self.problems:
            return ""
        count = len({name for name, _ in self.problems})
        files = "one file" if count == 1 else f"{count:,} files"
        lines = (f"{clean_line(name, 200)}\n    {problem}\n" for name, problem in self.problems)
        return "\n".join([f"{self}\n\nProblems with {files}:\n", *lines])


def list_folders() -> list[Path]:
    """Return the folders where Open Interpreter keeps conversations on this platform; earlier versions last.

    Its own migrations copied what lay in the earlier folders and left the first copies there.
    """
    import platformdirs

    names = ("open-interpreter", "Open Interpreter Terminal", "Open Interpreter")
    places = [platformdirs.user_config_dir(name) for name in names]
    # Before 0.1.8, conversations were with the data. On macOS, that is the same folder.
    places.append(platformdirs.user_data_dir("Open Interpreter"))
    return [Path(place) / "conversations" for place in dict.fromkeys(places)]


def list_all_folders() -> list[Path]:
    """List the folders where Open Interpreter keeps conversations, with those that its profiles name."""
    return list(dict.fromkeys([*list_folders(), *profiles.list_conversation_folders()]))


def list_waiting(store: Store, sources: Sequence[Path]) -> list[Path]:
    """Return the original's conversations that were not imported yet, nor deleted since,
    nor found unreadable.
    """
    refused = _read_refused(store)
    return [
        file.path for file in _list_files(sources) if not store.knows(file.id) and file.mark not in refused
    ]


def import_conversations(
    store: Store,
    sources: Sequence[Path],
    stopped: Callable[[], bool] = lambda: False,
    progressed: Callable[[int, int], object] | None = None,
) -> ImportReport:
    """Copy the original's conversations into the store, each once. Raises OSError when that cannot be.

    What cannot be read is reported once, and tried again when it changed. `progressed` gets how many files
    are done, and how many there are.
    """
    imported = known_count = 0
    problems: list[tuple[str, str]] = []
    files = _list_files(sources)
    before = _read_refused(store)
    refused = before & {file.mark for file in files}
    waiting: list[_File] = []
    for file in files:
        if store.knows(file.id):
            known_count += 1
        elif file.mark not in refused:
            waiting.append(file)

    def import_file(file: _File) -> tuple[str, ...] | ValueError | None:
        """Import a file. Returns what is odd about it, why it could not be read, or None: it was not."""
        if stopped():
            return None
        try:
            entries = read(file.path)
        except ValueError as error:
            return error
        _add(store, file, entries)
        return entries.problems

    # Nearly all of the time goes into waiting until a conversation is on the disk.
    with ThreadPoolExecutor(_WRITERS, "oi-tui-import") as writers:
        for done, (file, result) in enumerate(
            zip(waiting, writers.map(import_file, waiting), strict=True), 1
        ):
            if isinstance(result, ValueError):
                problems.append((file.path.name, str(result)))
                refused.add(file.mark)
            elif result is not None:
                problems += [(file.path.name, problem) for problem in result]
                imported += 1
            if progressed:
                progressed(done, len(waiting))
    if refused != before:
        _save_refused(store, refused)
    return ImportReport(imported, known_count, tuple(problems))


def _find_title(path: Path) -> str:
    """Return the title in the name of a file; "" where the name is a date only, as in the first versions."""
    title = "" if _DATE.match(path.stem) else path.stem.partition("__")[0]
    return title.replace("_", " ").strip()


def _make_title(contents: JournalContents) -> str:
    return next((make_title(item) for item in contents.messages.values() if item.role == "user"), "")


def _find_times(path: Path) -> tuple[float, float]:
    """Return when a conversation began and when it was used last, in seconds.

    The name of a file tells the former. Its own time is that of the last turn, unless the file was copied.
    """
    mtime = path.lstat().st_mtime
    began = _read_date(path.stem)
    if began is None:
        return mtime, mtime
    return began, mtime if began <= mtime <= began + _LONGEST else began


def _read_date(name: str) -> float | None:
    """Return the date at the end of a name, in seconds; None where there is none."""
    if not (match := _DATE.search(name)) or match[1] not in _MONTHS:
        return None
    day, year, hour, minute, second = map(int, match.groups()[1:])
    try:
        return datetime(year, _MONTHS.index(match[1]) + 1, day, hour, minute, second).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _read_refused(store: Store) -> set[str]:
    try:
        return set((store.folder / _REFUSED).read_text(encoding="ascii", errors="replace").split())
    except OSError:
        return set()


def _save_refused(store: Store, refused: set[str]) -> None:
    """Note the files that cannot be read. Where that fails, they are reported again."""
    with contextlib.suppress(OSError):
        paths.make_private(store.folder)
        paths.replace_file(store.folder / _REFUSED, "".join(f"{mark}\n" for mark in sorted(refused)))


@dataclass(frozen=True, slots=True)
class ReadConversation:
    """The messages of a file, and what is odd about it, in words."""

    contents: JournalContents
    problems: tuple[str, ...] = ()


def read(path: Path) -> ReadConversation:
    """Return the messages of one of the original's files. Raises ValueError in words when it has none.

    A list that is cut off, as the original leaves it behind when it is killed, is read as far as it goes.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise ValueError("not a regular file")
            if status.st_size > _MAX_BYTES:
                raise ValueError("too large")
            raw = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from None
    problems: list[str] = []
    try:
        stored = json.loads(raw)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:
        stored = _parse_whole_entries(raw)
        if not stored:
            raise ValueError("not readable as JSON") from None
        entries = "1 message" if len(stored) == 1 else f"{len(stored):,} messages"
        problems.append(f"it is damaged or cut off; its first {entries} could be read")
    if isinstance(stored, dict) and isinstance(stored.get("messages"), list):
        stored = stored["messages"]
    if not isinstance(stored, list):
        raise ValueError("not a list of messages")
    if not stored:
        raise ValueError("no messages in it")
    try:
        contents = convert_contents(stored)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if count := sum(map(is_odd, contents.messages.values())):
        some = "1 entry is not a message" if count == 1 else f"{count:,} entries are not messages"
        problems.append(f"{some} and shown as stored")
    return ReadConversation(contents, tuple(problems))


def _parse_whole_entries(raw: bytes) -> list[Any]:
    """Return the complete entries of a list that was cut off."""
    text = raw.decode("utf-8-sig", "replace")
    decoder = json.JSONDecoder(strict=False)
    entries: list[Any] = []
    start = text.find("[") + 1
    while 0 < start < len(text):
        try:
            entry, start = decoder.raw_decode(text, _BETWEEN.match(text, start).end())  # type: ignore[union-attr]
        except (ValueError, RecursionError):
            break
        entries.append(entry)
    return entries if any(isinstance(item, dict) for item in entries) else []


def convert_contents(stored: Iterable[object]) -> JournalContents:
    """Convert the original's messages to ours, with the result of the code where it is known.

    Raises RecursionError where an entry is nested too deep.
    """
    read: list[Message] = []
    for entry in stored:
        entry_messages = convert_entry(entry)
        read += entry_messages
        if not entry_messages and read:
            read[-1] = add_silent(read[-1], entry)
    messages = link_outputs(read)
    contents = JournalContents()
    for position, message in enumerate(messages):
        if message.type == "code":
            state = _read_state(messages[position + 1 : position + 2])
            message = message.replace(state=state, decision="rejected" if state == "rejected" else None)
        contents.messages[message.id] = message
    return contents


def _read_state(after: Sequence[Message]) -> Any:
    if after and after[0].role == "computer":
        return "finished"
    if after and after[0].role == "user" and after[0].content == _DECLINED:
        return "rejected"
    return "skipped"


@dataclass(frozen=True, slots=True)
class _File:
    """A file of the original, with the id that it has or would have in our store."""

    path: Path
    id: str
    #: Another one when it was changed since, or may be read by now.
    mark: str


def _list_files(sources: Sequence[Path]) -> list[_File]:
    """Return the original's files; a changed one is another one."""
    files: list[_File] = []
    seen: set[tuple[str, int]] = set()
    for source in sources:
        here: set[tuple[str, int]] = set()
        try:
            for path in sorted(source.glob("*.json")):
                status = path.lstat()
                # What a migration copied has the same name and size in both folders.
                if stat.S_ISREG(status.st_mode) and (path.name, status.st_size) not in seen:
                    here.add((path.name, status.st_size))
                    stamp = f"{path.name}\0{status.st_size}\0{status.st_mtime_ns}"
                    name = hashlib.sha256(stamp.encode("utf-8", "surrogateescape")).hexdigest()[:14]
                    files.append(_File(path, f"oi{name}", f"{name}-{status.st_ctime_ns}"))
        except (OSError, ValueError):
            # From Python 3.13 on, a zero byte in the name of a folder is a ValueError.
            pass
        seen |= here
    return files


def _add(store: Store, file: _File, entries: ReadConversation) -> None:
    created, updated = _find_times(file.path)
    store.add(
        entries.contents,
        id=file.id,
        title=_find_title(file.path) or _make_title(entries.contents),
        cwd="",
        model="",
        created=created,
        updated=updated,
    )
