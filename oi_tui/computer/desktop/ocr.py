"""Reads text in images, with the program tesseract."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from itertools import groupby

from oi_tui.computer.errors import ComputerError

#: How sure tesseract must be of a word, of 100.
_SURE = 30
#: Letters of screens are smaller than those of scanned pages, which tesseract was made for.
_DOTS = "70"
_MISSING = (
    "Text in images cannot be read here: the program tesseract is not installed. "
    "Install it (on Debian: apt install tesseract-ocr), or look at the image yourself."
)


@dataclass(frozen=True)
class RecognizedWord:
    """A word in an image, in pixels of it."""

    text: str
    x: int
    y: int
    width: int
    height: int


def read_words(png: bytes) -> list[list[RecognizedWord]]:
    """Return the words in an image, line by line."""
    rows = [line.split("\t") for line in _tesseract(png, "tsv").splitlines()[1:]]
    # level, page, block, paragraph, line, word, left, top, width, height, confidence, text
    words = [row for row in rows if len(row) == 12 and row[11].strip() and float(row[10]) >= _SURE]
    return [
        [RecognizedWord(row[11].strip(), *map(int, row[6:10])) for row in line]
        for _, line in groupby(words, key=lambda row: row[1:5])
    ]


def read_text(image: bytes) -> str:
    """Return the text in an image."""
    return _tesseract(image, "txt").strip()


def _tesseract(image: bytes, form: str) -> str:
    if not (program := shutil.which("tesseract")):
        raise ComputerError(_MISSING)
    # Page mode 11: as much text as there is, in no particular order.
    argv = [program, "stdin", "stdout", "--dpi", _DOTS, "--psm", "11", form]
    done = subprocess.run(argv, input=image, capture_output=True, check=False)
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip()
        raise ComputerError(f"tesseract cannot read the image: {reason}")
    return done.stdout.decode(errors="replace")
