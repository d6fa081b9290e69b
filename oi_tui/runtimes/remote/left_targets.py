"""What was left running on targets: a record of each, in a file that only the person can read."""

import contextlib
import json
import os
import secrets
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from oi_tui import paths
from oi_tui.messages import DETACHED
from oi_tui.text import clean_line, format_duration

#: The most characters of a record that are shown.
_LONGEST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftTarget:
    """A target on which something was left running, and how to come back to it."""

    #: The name of the record.
    id: str
    #: The target as it is typed, and in words.
    target: str
    where: str
    #: The worker's private folder there.
    folder: str
    #: The version that left it: its checksum, and its name for people.
    wire: str
    release: str
    languages: tuple[str, ...] = ()
    #: What ran when it was left, in words; "" for nothing.
    running: str = ""
    #: The conversation that left it; "" where it is not known.
    conversation: str = ""
    #: When it was left, and when it ends by itself, in seconds since 1970.
    since: float = 0.0
    until: float = 0.0
    #: How many frames had arrived; None where that is not known.
    seen: int | None = None
    #: The process that is connected to it; 0 for none.
    owner: int = 0

    @property
    def is_connected(self) -> bool:
        """Whether a program on this machine is connected to it."""
        if not self.owner or self.owner == os.getpid():
            return self.owner != 0
        try:
            os.kill(self.owner, 0)
        except OSError as error:
            return isinstance(error, PermissionError)
        return True

    def describe(self) -> str:
        """Return the record in a line."""
        ago = format_duration(max(0.0, time.time() - self.since))
        ends = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.until))
        runs = f"running: {clean_line(self.running, _LONGEST)}" if self.running else "nothing runs"
        languages = ", ".join(self.languages)
        return f"{self.target}, left {ago} ago, {languages}; {runs}; ends at {ends}"


def make_id() -> str:
    """Return the name of a record that no other one has."""
    return secrets.token_hex(8)


def _find_folder() -> Path:
    return paths.data() / "left-targets"


def save(left: LeftTarget) -> None:
    """Write the record. Raises OSError."""
    paths.make_private(_find_folder())
    paths.replace_file(_find_folder() / f"{left.id}.json", json.dumps(asdict(left)))


def remove(left: LeftTarget) -> None:
    """Remove the record, if it is there."""
    with contextlib.suppress(OSError):
        (_find_folder() / f"{left.id}.json").unlink()


def load() -> list[LeftTarget]:
    """Return what was left running, the oldest first; entries that have ended are removed."""
    records = []
    with contextlib.suppress(OSError):
        for path in _find_folder().glob("*.json"):
            record = _read(path)
            if record is None:
                continue
            if record.until < time.time() and not record.is_connected:
                remove(record)
            else:
                records.append(record)
    return sorted(records, key=lambda record: (record.since, record.id))


def _read(path: Path) -> LeftTarget | None:
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        record = LeftTarget(
            **{item.name: facts[item.name] for item in fields(LeftTarget) if item.name in facts}
        )
        texts = (
            record.target,
            record.where,
            record.folder,
            record.wire,
            record.release,
            record.running,
            record.conversation,
        )
        if (
            record.id == path.stem
            and all(isinstance(text, str) for text in (*texts, *record.languages))
            and isinstance(record.since + record.until + record.owner, int | float)
            and (record.seen is None or isinstance(record.seen, int))
        ):
            return replace(record, languages=tuple(record.languages))
    except (OSError, ValueError, TypeError):
        pass
    return None


def choose(named: str) -> LeftTarget | str:
    """Return the record that is meant by its target, or by its number in the list; or why there is none."""
    records = list_shown()
    if named.isascii() and named.isdecimal():
        place = int(named[:6])
        if 0 < place <= len(records):
            return records[place - 1]
        return f"There is no number {place} in the list of %attach."
    matches = [record for record in records if record.target == named]
    if len(matches) > 1:
        numbers = ", ".join(str(records.index(record) + 1) for record in matches)
        return f"{clean_line(named, _LONGEST)} was left {len(matches)} times. Choose by number: {numbers}."
    # One that another program holds may have lost it without knowing.
    matches = matches or [record for record in load() if record.target == named]
    return matches[-1] if matches else f"Nothing was left running on {clean_line(named, _LONGEST)}."


def list_shown() -> list[LeftTarget]:
    """List the targets to come back to: those that no program on this machine is connected to."""
    return [record for record in load() if not record.is_connected]


def list_for_conversation(id: str) -> Sequence[LeftTarget]:
    """Return what was left in that conversation."""
    return [record for record in list_shown() if record.conversation == id]


def describe_way_back(target: str) -> str:
    """Say how to come back, as a part of a sentence."""
    return f"%attach {target} reconnects to it"


def explain_detached(target: str, title: str) -> str:
    """Say why a run ended here that was left running."""
    return f"{DETACHED}it keeps running on {title}; {describe_way_back(target)}"
