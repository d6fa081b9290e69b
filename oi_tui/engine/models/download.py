"""Downloads a large file: shows progress, resumes after an interruption, verifies the result."""

import hashlib
import http.client
import json
import os
import re
import shutil
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from oi_tui import paths

_PIECE = 1 << 18
#: Seconds of silence after which a connection counts as broken, and how often the download is resumed.
SILENCE = 30.0
ATTEMPTS = 5
#: Before the second attempt, and at most before a later one; each waits twice as long, in seconds.
_PAUSE, _LONGEST_PAUSE = 0.5, 2.5
#: Left free on the disk, in bytes.
_SPARE = 200_000_000
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


# No library: httpx takes 340 ms to import, urllib 105 ms, and both leave resuming, the check for a changed
# file, room on the disk and the checksum to us, which is nearly all of this module.
class DownloadError(Exception):
    """The download failed; the message says why, and how much was saved."""


@dataclass(frozen=True, slots=True)
class DownloadProgress:
    """Downloaded bytes, and the total (None: unknown)."""

    done: int
    total: int | None

    def __str__(self) -> str:
        if not self.total:
            return f"{self.done / 1e6:,.1f} MB"
        return f"{self.done / 1e6:,.1f} of {self.total / 1e6:,.1f} MB ({self.done / self.total:.0%})"


def make_file_name(url: str) -> str:
    """Return the name that a file gets: the last part of its address.

    Raises DownloadError for one that has none.
    """
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise DownloadError(f"{url} is not an address: {error}.") from None
    name = re.sub(r"[^\w.+-]+", "-", unquote(parts.path.rpartition("/")[2])).strip(".-")[:150]
    if parts.scheme not in ("http", "https") or not parts.netloc or not name:
        raise DownloadError(f"{url} is not the address of a file that can be downloaded (https://.../NAME).")
    return name


def fetch(
    url: str, folder: Path, *, stopped: threading.Event, sha256: str | None = None
) -> Iterator[DownloadProgress]:
    """Download the file into `folder` under its own name, going on where an earlier attempt ended.

    `sha256` is what its checksum must be; it may also stand at the end of the address, as #sha256=..., and
    Hugging Face tells it by itself. While it is on its way it is called NAME.part; what came stays when this
    is `stopped` or breaks. Raises DownloadError.
    """
    address, _, fragment = url.partition("#")
    sha256 = sha256 or fragment.removeprefix("sha256=") or None
    if sha256 is not None and not _SHA256.fullmatch(sha256):
        raise DownloadError("The checksum is not valid: sha256 takes 64 hexadecimal digits.")
    target = folder / make_file_name(address)
    if target.exists():
        yield DownloadProgress(target.stat().st_size, target.stat().st_size)
        return
    try:
        paths.make_private(folder)
        yield from _Download(address, target, stopped, sha256).run()
    except OSError as error:
        raise DownloadError(f"Could not write {target.name}: {error.strerror or error}.") from error


class _Download:
    """One file on its way."""

    def __init__(self, url: str, target: Path, stopped: threading.Event, sha256: str | None) -> None:
        self._url = url
        self._target = target
        self._part = target.with_name(target.name + ".part")
        self._about = target.with_name(target.name + ".part.json")
        self._stopped = stopped
        self._sha256 = sha256
        self._total: int | None = None

    def run(self) -> Iterator[DownloadProgress]:
        """Download the file, and resume when the connection breaks."""
        failures = 0
        while True:
            before = self._count_here()
            try:
                yield from self._download_once()
                break
            except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
                # A server that sends something each time is asked again.
                failures = 1 if self._count_here() > before else failures + 1
                reason = _explain(error)
                if isinstance(error, urllib.error.HTTPError) or failures >= ATTEMPTS:
                    note = (
                        f" {self._count_here():,} bytes are saved; the download can continue from there."
                        if self._count_here()
                        else ""
                    )
                    raise DownloadError(f"Could not download {self._url}: {reason}.{note}") from None
                if self._stopped.wait(min(_PAUSE * 2 ** (failures - 1), _LONGEST_PAUSE)):
                    raise DownloadError(self._describe_stop()) from None
        self._check()
        self._part.rename(self._target)
        self._about.unlink(missing_ok=True)

    def _download_once(self) -> Iterator[DownloadProgress]:
        at, validators = self._count_here(), self._read_validators()
        headers = {"User-Agent": "oi-tui", "Accept-Encoding": "identity"}
        if at:
            headers["Range"] = f"bytes={at}-"
            if mark := validators.get("mark"):
                headers["If-Range"] = str(mark)
        try:
            answer = urllib.request.urlopen(
                urllib.request.Request(self._url, headers=headers), timeout=SILENCE
            )
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == 416 and at and validators.get("total") == at:
                return
            if error.code == 416 and at:
                self._part.unlink()
                yield from self._download_once()
                return
            raise
        with answer:
            if answer.status != 206:
                at = 0
            length = answer.headers.get("Content-Length")
            self._total = at + int(length) if length and length.isdecimal() else None
            self._save_record(answer.headers)
            self._need_room(at)
            with self._part.open("r+b" if at else "wb") as file:
                file.seek(at)
                file.truncate()
                while piece := answer.read(_PIECE):
                    file.write(piece)
                    at += len(piece)
                    yield DownloadProgress(at, self._total)
                    if self._stopped.is_set():
                        raise DownloadError(self._describe_stop())
        if self._total is not None and at < self._total:
            raise ConnectionError("the connection broke")

    def _describe_stop(self) -> str:
        return (
            f"Stopped. {self._count_here():,} bytes of {self._target.name} are saved; the download can "
            "continue from there."
        )

    def _count_here(self) -> int:
        return self._part.stat().st_size if self._part.exists() else 0

    def _read_validators(self) -> dict[str, Any]:
        """Read the server's validators of the partial file; a different file is downloaded again."""
        try:
            validators = json.loads(self._about.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            validators = {}
        return validators if isinstance(validators, dict) and validators.get("url") == self._url else {}

    def _save_record(self, headers: Any) -> None:
        mark = headers.get("ETag") or headers.get("Last-Modified")
        text = (headers.get("X-Linked-ETag") or "").strip('"')
        if self._sha256 is None and _SHA256.fullmatch(text):
            self._sha256 = text
        record = {"url": self._url, "mark": mark, "total": self._total}
        self._about.write_text(json.dumps(record), encoding="utf-8")

    def _need_room(self, at: int) -> None:
        if self._total is None:
            return
        free = shutil.disk_usage(self._target.parent).free
        missing = self._total - at + _SPARE - free
        if missing > 0:
            raise DownloadError(
                f"{self._target.name} has {self._total / 1e9:.1f} GB; the disk needs {missing / 1e9:.1f} GB "
                "for it."
            )

    def _check(self) -> None:
        if self._sha256 is None:
            return
        digest = hashlib.sha256()
        with self._part.open("rb") as file:
            while piece := file.read(1 << 20):
                if self._stopped.is_set():
                    raise DownloadError(self._describe_stop())
                digest.update(piece)
        if digest.hexdigest() != self._sha256.lower():
            with suppress(OSError):
                self._part.unlink()
                self._about.unlink()
            raise DownloadError(
                f"{self._target.name} is not the expected file: its checksum is "
                f"{digest.hexdigest()[:16]}..., not {self._sha256.lower()[:16]}.... "
                "It was removed; download it again, or from another site."
            )


def _explain(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answers {error.code} {error.reason}"
    inner = getattr(error, "reason", error)
    if isinstance(inner, TimeoutError):
        return f"no data came for {SILENCE:g} s"
    if isinstance(inner, OSError) and inner.strerror:
        return os.strerror(inner.errno) if inner.errno and inner.errno > 0 else inner.strerror
    return " ".join(str(inner).split())[:200] or type(error).__name__
