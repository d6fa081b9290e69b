"""Reads an image from the clipboard of the desktop."""

import os
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

from oi_tui import paths

OVER_SSH = (
    "An image on the clipboard of your own computer cannot be read over ssh. Copy the file to this machine, "
    "and type @ and its path."
)
_TYPE = "image/png"
_TIMEOUT = 5.0
#: Larger images are left alone, in bytes.
_LARGEST = 50_000_000
#: What reads the clipboard, by the variable that says that its desktop is there: formats, then the image.
_PROGRAMS = (
    ("WAYLAND_DISPLAY", ["wl-paste", "--list-types"], ["wl-paste", "--type", _TYPE]),
    (
        "DISPLAY",
        ["xclip", "-selection", "clipboard", "-t", "TARGETS", "-o"],
        ["xclip", "-selection", "clipboard", "-t", _TYPE, "-o"],
    ),
)


def is_remote() -> bool:
    """Return whether the person sits at another machine."""
    return bool(os.environ.get("SSH_CONNECTION") or os.environ.get("SSH_TTY"))


def can_be_read() -> bool:
    """Return whether there may be a clipboard of a desktop here, and a program that reads it."""
    if is_remote():
        return False
    if sys.platform == "darwin":
        return shutil.which("pngpaste") is not None
    return any(os.environ.get(variable) and shutil.which(argv[0]) for variable, argv, _ in _PROGRAMS)


def save() -> Path | None:
    """Write the image on the clipboard to a private file; None if there is no image. Raises OSError."""
    data = _read()
    if not data.startswith(b"\x89PNG") or len(data) > _LARGEST:
        return None
    folder = paths.make_private(paths.state() / "pasted")
    path = folder / f"image-{secrets.token_hex(4)}.png"
    paths.create_file(path, data)
    return path


def _read() -> bytes:
    if sys.platform == "darwin":
        return _read_output(["pngpaste", "-"])
    for variable, formats, image in _PROGRAMS:
        if os.environ.get(variable) and shutil.which(image[0]):
            return (
                _read_output(image)
                if _TYPE in _read_output(formats).decode(errors="replace").split()
                else b""
            )
    return b""


def _read_output(argv: list[str]) -> bytes:
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return done.stdout if done.returncode == 0 else b""
