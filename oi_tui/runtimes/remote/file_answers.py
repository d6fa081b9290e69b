"""The answers of a worker about files on its host. The application and the worker both have this module."""

from dataclasses import dataclass

#: How many bytes of a file are in one message.
PART = 64 * 1024
#: The largest file that is copied, in bytes; there are better ways for more.
LARGEST = 4 * 1000**3
#: How many names are listed of a folder.
MOST_NAMES = 50
#: How much of the working directory is listed for the scan of code: entries, and seconds that it may take.
MOST_LISTED = 2_000
LISTING_SECONDS = 0.5


@dataclass(frozen=True)
class FileFacts:
    """A file: its whole path, and what tells it from what it was before."""

    path: str
    #: "file", "folder" or "other".
    kind: str
    size: int
    #: When it was changed, in nanoseconds.
    changed: int
    mode: int


@dataclass(frozen=True)
class FilePart:
    """Some bytes of a file, in base64."""

    data: str


@dataclass(frozen=True)
class FileWords:
    """Words about files: names, one after the other with a NUL between, or a checksum."""

    text: str


@dataclass(frozen=True)
class FileRefused:
    """Why a request was not carried out, in words that follow the path."""

    reason: str


def make_part_name(name: str, key: str) -> str:
    """Return the name of a file while it is copied, in the folder where it will be.

    The key stands for what is copied: an interrupted copy of the same file is continued, and of no other.
    """
    short = name.encode("utf-8", "surrogateescape")[:150].decode("utf-8", "ignore")
    return f".{short}.{key}.oi-tui-part"
