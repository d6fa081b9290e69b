"""Prepares images for a model: as data if it accepts images, else as a description."""

import base64
import binascii
import io
import os
import re
import struct
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

from oi_tui import paths
from oi_tui.engine.llm.foreign_images import FORMATS, MOST_PIXELS
from oi_tui.messages import Message

#: Providers refuse larger ones, in bytes.
LARGEST = 5_000_000
_LARGEST_FILE = 100_000_000
#: Models look at no more pixels than this, on the longer side.
_SIDE = 2048
#: How the files of those kinds begin that models take.
_KINDS = {
    "image/png": rb"\x89PNG\r\n\x1a\n",
    "image/jpeg": rb"\xff\xd8\xff",
    "image/gif": rb"GIF8[79]a",
    "image/webp": rb"RIFF....WEBP",
}
_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
#: A path in a person's words: after an "@" or not, in quotes where it has blanks in it.
_NAMED = re.compile(
    r"""@?(?:"([^"\n]{1,1000})"|'([^'\n]{1,1000})'|`([^`\n]{1,1000})`|<([^<>\n]{1,1000})>)"""
    r"""|@?((?:\\.|[^\s"'`<>|\\]){1,1000})"""
)
#: What is in every name of an image; long texts are passed over where it is not.
_IN_NAMES = re.compile("png|jpe?g|gif|webp|file://", re.IGNORECASE)
#: Images that one message may bring along.
_MOST = 10


def find_named_images(text: str, cwd: Path) -> list[Path]:
    """Return the image files that a person's message names, by path or as `@path`, as absolute paths.

    Only files that exist count, so that talk about "chart.png" in general brings nothing along.
    """
    images: dict[Path, None] = {}
    for word in _split_words(text):
        if word.startswith("file://"):
            word = urllib.parse.unquote(word.removeprefix("file://"))
        # The sentence may go on after it, and Markdown has a title before it.
        parts = (word, word.lstrip("([{"), word.rpartition("](")[2])
        for candidate in (end for part in parts for end in (part, part.rstrip(".,;:!?)]}"))):
            if candidate.lower().endswith(_SUFFIXES) and (path := _find_file(candidate, cwd)):
                images[path] = None
                break
        if len(images) == _MOST:
            break
    return list(images)


def _split_words(text: str) -> Iterator[str]:
    """Yield what may be a path: whole lines, as file managers copy a path, and words, some
    of them in quotes.
    """
    for line in text.splitlines():
        if not _IN_NAMES.search(line.replace("\\", "")):
            continue
        if " " in (path := line.strip()):
            yield path.removeprefix("@")
        for match in _NAMED.finditer(line):
            if _IN_NAMES.search(match[0].replace("\\", "")):
                *quoted, word = match.groups()
                yield (next(filter(None, quoted), "") or re.sub(r"\\(.)", r"\1", word or "")).strip()


def _find_file(name: str, cwd: Path) -> Path | None:
    try:
        path = cwd / paths.expand_typed(name)
        return Path(os.path.normpath(path)) if path.is_file() else None
    except (OSError, ValueError):
        return None


def save(message: Message, folder: Path, *, replace: bool = False) -> Path | None:
    """Save a program's image as a file in `folder`, for its owner only; None when it cannot be kept.

    With `replace` it takes the place of the file that is there.
    """
    path = locate(message, folder)
    try:
        if replace:
            path.unlink(missing_ok=True)
        if not path.exists():
            paths.make_private(folder)
            data = base64.b64decode(message.content, validate=False)
            paths.create_file(path, data)
    except (OSError, ValueError):
        return None
    return path


def locate(message: Message, folder: Path) -> Path:
    """Return the file of an image. A stored conversation may come from anywhere,
    so its text never names the path.
    """
    name = "".join(filter(str.isalnum, message.id))[:64]
    return folder / f"{name}.{'jpeg' if message.format == 'base64.jpeg' else 'png'}"


def measure_size(format: str | None, content: str) -> int:
    """Return the bytes that an image takes in a request."""
    if format == "path":
        try:
            return min(paths.expand_typed(content).stat().st_size, LARGEST) * 4 // 3
        except (OSError, ValueError):
            return 0
    return min(len(content), LARGEST * 4 // 3)


def make_data_url(format: str | None, content: str, *, shrink: bool = True) -> str | None:
    """Return the image as a data URL; None if it cannot be read, or is too large to send.

    With `shrink` an image that is too large gets fewer pixels.
    """
    if format == "path":
        try:
            path = paths.expand_typed(content)
            if not path.is_file() or path.stat().st_size > _LARGEST_FILE:
                return None
            data = path.read_bytes()
        except (OSError, ValueError):
            return None
        kind = _detect_kind(data)
        if len(data) > LARGEST and not shrink:
            return None
        if len(data) > LARGEST or kind is None:
            return _shrink(data)
        return f"data:{kind};base64,{base64.b64encode(data).decode()}"
    if len(content) > LARGEST * 4 // 3:
        if not shrink:
            return None
        try:
            return _shrink(base64.b64decode(content))
        except binascii.Error:
            return None
    declared = "image/jpeg" if format in ("base64.jpeg", "base64.jpg") else "image/png"
    return f"data:{_detect_kind_of_text(content) or declared};base64,{content}" if content else None


def _detect_kind(data: bytes) -> str | None:
    """Return the media type of an image by its first bytes; None for a kind that models do not take."""
    return next((kind for kind, begin in _KINDS.items() if re.match(begin, data[:16], re.DOTALL)), None)


def _detect_kind_of_text(content: str) -> str | None:
    """Detect the media type of an image in base64 by its content."""
    try:
        return _detect_kind(base64.b64decode(content[:24]))
    except ValueError:
        return None


def _shrink(data: bytes) -> str | None:
    """Return the image with as many pixels as models look at, as a data URL; None if it cannot be read."""
    from PIL import Image

    out = io.BytesIO()
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            # A photograph (JPEG) is read with fewer pixels than it has.
            image.draft("RGB", (_SIDE, _SIDE))
            if image.width * image.height > MOST_PIXELS:
                return None
            small = image.convert("RGB")
            small.thumbnail((_SIDE, _SIDE))
            small.save(out, "JPEG", quality=85)
    except Exception:  # noqa: BLE001 -- Pillow raises anything for damaged data
        return None
    return f"data:image/jpeg;base64,{base64.b64encode(out.getvalue()).decode()}"


def describe(format: str | None, content: str, file: Path | None = None) -> str:
    """Return the image in a few words, for a model that does not see: "[image/png, 640 x 480 pixels, ...]".

    `file` is where it is kept.
    """
    if format == "path":
        return f"[an image file: {content}]"
    kind = "image/jpeg" if format == "base64.jpeg" else "image/png"
    size = _read_png_size(content)
    pixels = f", {size[0]} x {size[1]} pixels" if size else ""
    saved = f", saved as {file}" if file else ""
    return f"[{kind}{pixels}, shown to the user{saved}]"


def _read_png_size(content: str) -> tuple[int, int] | None:
    try:
        head = base64.b64decode(content[:64], validate=True)
    except (binascii.Error, ValueError):
        return None
    if not head.startswith(b"\x89PNG\r\n\x1a\n") or len(head) < 24:
        return None
    width, height = struct.unpack(">II", head[16:24])
    return width, height
