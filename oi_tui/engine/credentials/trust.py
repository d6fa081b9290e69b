"""Remembers which texts the user reviewed and trusted, by their exact content."""

import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from oi_tui import paths
from oi_tui.engine.credentials import private_file

_log = logging.getLogger(__name__)
# Without a log, nothing is printed.
_log.addHandler(logging.NullHandler())

#: What can be trusted: a profile that is a program, one that came from the network, the profile of a
#: project's folder, a program that teaches a language, a skill of a project.
Kind = Literal["python profile", "profile from the network", "project profile", "language", "skill"]


@dataclass(frozen=True, slots=True)
class ExternalContent:
    """Content from elsewhere: what the person is shown, and what is used afterwards.

    It is read once: what was shown and trusted is this very text, whatever the file says by then. `place` is
    where it comes from: an absolute path, or an address.
    """

    kind: Kind
    place: str
    text: str = field(repr=False)

    @property
    def digest(self) -> str:
        """The SHA-256 of the content, in hexadecimal."""
        # Loads a library for cryptography, which a start without a project's profile does not need.
        import hashlib

        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class TrustEntry:
    """An entry of the record: what was trusted, and when (UTC, ISO 8601)."""

    kind: str
    place: str
    digest: str
    when: str


class Trust:
    """The permanent record of what was trusted: a private file in the configuration folder.

    An entry holds for one kind, one place and one content. A changed file is a new one; the same file
    elsewhere is asked about again, because relative paths in it mean something else there.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or paths.config() / "trusted.json"

    def accepts(self, shown: ExternalContent) -> bool:
        """Return whether exactly this was trusted before; a record that cannot be believed trusts nothing."""
        return any(
            (entry.kind, entry.place, entry.digest) == (shown.kind, shown.place, shown.digest)
            for entry in self.list_entries()
        )

    def accept(self, shown: ExternalContent) -> None:
        """Remember that a person saw exactly this and trusts it. Raises OSError when it cannot be kept.

        What was trusted at the same place before is forgotten.
        """
        with private_file.edit(self.path) as record:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            entry = {"kind": shown.kind, "place": shown.place, "digest": shown.digest, "when": now}
            record["trusted"] = [*_read_others(record, shown.kind, shown.place), entry]

    def revoke(self, kind: str, place: str) -> bool:
        """Forget what was trusted there. Returns whether there was anything. Raises OSError."""
        with private_file.edit(self.path) as record:
            other_entries = _read_others(record, kind, place)
            was_trusted = len(other_entries) < len(_read_entries(record))
            record["trusted"] = other_entries
        return was_trusted

    def list_entries(self) -> list[TrustEntry]:
        """Return everything that is trusted, in the order in which it was."""
        try:
            if self.path.parent.exists() and not paths.is_safe_to_trust(self.path.parent):
                _log.warning("Nothing is trusted: other users can write to %s", self.path.parent)
                return []
            return [TrustEntry(**entry) for entry in _read_entries(private_file.read(self.path))]
        except OSError as error:
            _log.warning("Nothing is trusted: %s", error)
            return []


def _read_entries(record: dict[str, object]) -> list[dict[str, str]]:
    """Return the well-formed entries of the record."""
    entries = record.get("trusted")
    names = {"kind", "place", "digest", "when"}
    return [
        item
        for item in (entries if isinstance(entries, list) else ())
        if isinstance(item, dict) and item.keys() == names and all(isinstance(v, str) for v in item.values())
    ]


def _read_others(record: dict[str, object], kind: str, place: str) -> list[dict[str, str]]:
    return [entry for entry in _read_entries(record) if (entry["kind"], entry["place"]) != (kind, place)]
