"""`%snapshot save` and `%snapshot load`: variables that outlive the process of Python."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from oi_tui.runtimes import Computer
from tests.runtimes.playing import play

Make = Callable[..., Computer]

DEFINED = """\
import dataclasses, enum, functools, sqlite3
first = second = [1, 2]
factor = 3
def times(n): return n * factor
def factorial(n): return 1 if n < 2 else n * factorial(n - 1)
def counting():
    total = 0
    def count():
        nonlocal total
        total += 1
        return total
    return count
count = counting(); count()
@dataclasses.dataclass
class Point:
    x: int
    def scaled(self): return self.x * factor
    def shown(self): return super().__repr__()
point = Point(4)
Colour = enum.Enum("Colour", "RED BLUE")
red = Colour.RED
@functools.lru_cache(maxsize=7)
def fibonacci(n): return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
connection = sqlite3.connect(":memory:")
numbers = (n for n in first)
def asks(): return connection
"""


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "kept.pickle"


@pytest.fixture
def bare_python(tmp_path: Path) -> Callable[..., str]:
    """A Python without packages of its own."""

    def write(before: str = "") -> str:
        program = tmp_path / "bare-python"
        program.write_text(f'#!/bin/sh\n{before}\nexec {sys.executable} -S "$@"\n')
        program.chmod(0o700)
        return str(program)

    return write


@pytest.mark.parametrize("owner", ["python", "oi-tui"])
def test_variables_functions_and_classes_come_back_as_they_were(
    make: Make, kept: Path, bare_python: Callable[..., str], owner: str
) -> None:
    computer = make(python=bare_python() if owner == "oi-tui" else None)
    assert play(computer, "python", DEFINED).state == "finished"
    saved = play(computer, "python", f"%snapshot save {kept}")
    assert saved.state == "finished"
    assert "Not kept:" in saved.text
    assert "connection: Connection: " in saved.text
    assert "numbers: generator: " in saved.text
    assert kept.stat().st_mode & 0o777 == 0o600
    computer.reset()
    assert "Restored 17 variables: dataclasses" in play(computer, "python", f"%snapshot load {kept}").text
    shown = play(
        computer,
        "python",
        "print(first is second, times(2), factorial(5), count())\n"
        "print(point, point.scaled(), type(point) is Point)\n"
        "print(red is Colour.RED, fibonacci(20), fibonacci.cache_info().maxsize)\n"
        # Functions see the variables themselves, and not copies.
        "factor = 10\n"
        "print(times(2), point.scaled(), 'connection' in globals())",
    )
    assert shown.text == "True 6 120 2\nPoint(x=4) 12 True\nTrue 6765 7\n20 40 False\n"

    lent = play(computer, "python", "import importlib.util; print(importlib.util.find_spec('cloudpickle'))")
    assert (lent.text == "None\n") is (owner == "oi-tui")


def test_classes_with_methods_of_all_kinds_come_back_and_an_odd_value_spoils_nothing(
    make: Make, kept: Path
) -> None:
    computer = make()
    code = """\
import typing
class Box(typing.Generic[typing.TypeVar("T")]):
    size = 1
    def __init__(self, item): self.item = item
    @classmethod
    def double(cls, item): return cls([item] * 2)
    @staticmethod
    def empty(): return Box(None)
    @property
    def first(self): return self.item[0]
class Leaves:
    def __reduce__(self): raise SystemExit(3)
box, leaves = Box.double("a"), Leaves()
"""
    assert play(computer, "python", code).state == "finished"
    saved = play(computer, "python", f"%snapshot save {kept}")
    assert saved.state == "finished"
    assert saved.text.splitlines()[1:3] == ["Not kept:", "  leaves: Leaves: 3"]
    computer.reset()
    assert play(computer, "python", f"%snapshot load {kept}").state == "finished"
    shown = play(
        computer, "python", "print(box.first, Box.empty().item, type(box) is Box, Box[int].double(1).item)"
    )
    assert shown.text == "a None True [1, 1]\n"


def test_without_cloudpickle_data_is_kept(make: Make, kept: Path, bare_python: Callable[..., str]) -> None:
    computer = make(python=bare_python("unset OI_TUI_CLOUDPICKLE"))
    play(computer, "python", DEFINED)
    text = play(computer, "python", f"%snapshot save {kept}").text
    for name in ("times", "Point", "point", "red", "fibonacci"):
        assert f"  {name}: " in text
    computer.reset()
    restored = play(computer, "python", f"%snapshot load {kept}\nprint(first is second, factor)")
    assert restored.text.endswith("True 3\n")


def test_what_has_no_room_is_left_out_and_the_rest_is_kept(make: Make, kept: Path) -> None:
    computer = make()
    play(computer, "python", "small = [1]\nmiddle = bytes(700)\nlarge = bytes(900)\nhuge = bytes(5000)")
    play(computer, "python", f"%snapshot load {kept}")
    play(computer, "python", "import sys\nsys.modules['python_snapshot'].LIMIT = 1000\ndel sys")
    text = play(computer, "python", f"%snapshot save {kept}").text
    assert "huge: larger than 1 kB" in text
    assert "large: 9" in text
    computer.reset()
    assert play(computer, "python", f"%snapshot load {kept}\nprint(small, len(middle))").text.endswith(
        "[1] 700\n"
    )


def test_on_leaving_the_small_ones_are_kept_and_the_file_says_what_is_not(make: Make, kept: Path) -> None:
    computer = make()
    play(computer, "python", "small = [1]\nlarge = bytes(9000)\nnumbers = (n for n in small)")
    assert play(computer, "python", f"%snapshot leave {kept} 5000 30").state == "finished"
    header = json.loads(kept.read_bytes().split(b"\n")[0])
    assert header["names"] == ["small"]
    assert header["left_out"]["large"] == "larger than 5 kB"
    assert "generator: " in header["left_out"]["numbers"]
    before = kept.read_bytes()
    late = play(computer, "python", f"%snapshot leave {kept} 5000 -1")
    assert "there was no time for it" in late.text
    assert kept.read_bytes() == before


def test_on_leaving_what_was_not_restored_is_not_replaced(make: Make, kept: Path) -> None:
    computer = make()
    play(computer, "python", f"first = 1\nsecond = 2\n%snapshot leave {kept} 5000 30")
    computer.reset()
    stays = play(computer, "python", f"first = 3\n%snapshot leave {kept} 5000 30")
    assert "was not restored, so it stays" in stays.text
    assert "Kept 3" in play(computer, "python", f"second = third = 4\n%snapshot leave {kept} 5000 30").text
    computer.reset()
    loaded = play(computer, "python", f"%snapshot load {kept}\ndel third\n%snapshot leave {kept} 5000 30")
    assert "Kept 2 variables" in loaded.text


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "No variables were kept in"),
        (b"", "This is not a file of kept variables."),
        (b"[]\n", "This is not a file of kept variables."),
        (b'{"format": 99, "python": "3.11"}\n', "were kept by another version of oi-tui"),
        (b'{"format": 1, "python": "2.7"}\n\x80\x04', "They were kept by Python 2.7"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_sentence_and_changes_nothing(
    make: Make, kept: Path, content: bytes | None, sentence: str
) -> None:
    if content is not None:
        kept.write_bytes(content)
        kept.chmod(0o600)
    computer = make()
    played = play(computer, "python", f"value = 1\n%snapshot load {kept}")
    assert (played.state, sentence in played.text) == ("failed", True), played.text
    assert play(computer, "python", "print(value)").text == "1\n"


def test_a_file_that_others_can_change_is_not_read(make: Make, kept: Path) -> None:
    computer = make()
    play(computer, "python", f"value = 1\n%snapshot save {kept}")
    kept.chmod(0o620)
    played = play(computer, "python", f"%snapshot load {kept}")
    assert "can be changed by others, so it is not read" in played.text


def test_an_earlier_file_stays_when_nothing_can_be_kept(make: Make, kept: Path) -> None:
    computer = make()
    play(computer, "python", f"value = 1\n%snapshot save {kept}")
    before = kept.read_bytes()
    failed = play(computer, "python", f"value = (n for n in [1])\n%snapshot save {kept}")
    assert "None of the variables can be kept" in failed.text
    assert kept.read_bytes() == before
    assert [path.name for path in kept.parent.iterdir() if "tmp" in path.name] == []


def test_what_cannot_be_made_again_is_listed_and_the_rest_comes_back(make: Make, kept: Path) -> None:
    computer = make()
    code = (
        "class Refused(Exception):\n    def __init__(self, code, text): super().__init__(text)\n"
        "class Strict:\n    def __setstate__(self, state): raise OSError('no device')\n"
        "first, strict = [1, 2], Strict()\nstrict.value = 3\nerror = Refused(3, 'no')\n"
        "holds = {'of': [error], 'n': 1}\nalso = (strict, first)\nplain, shared = {'n': 1}, first\n"
    )
    assert play(computer, "python", code).state == "finished"
    assert play(computer, "python", f"%snapshot save {kept}").state == "finished"
    computer = make()
    loaded = play(computer, "python", f"%snapshot load {kept}").text
    assert loaded.splitlines()[0] == "Restored 5 variables: Refused, Strict, first, plain, shared"
    reason = "Refused.__init__() missing 1 required positional argument: 'text'"
    lost = {"strict": "no device", "error": reason, "holds": reason, "also": "no device"}
    assert loaded.splitlines()[1:] == ["Not restored:", *(f"  {name}: {why}" for name, why in lost.items())]
    assert play(computer, "python", "first is shared, plain, Refused(1, 'x')").text.startswith(
        "(True, {'n': 1}"
    )
    # What is not here may not be replaced when the person leaves.
    before = kept.read_bytes()
    left = play(computer, "python", f"%snapshot leave {kept} 1000000 30")
    assert left.reason == "SnapshotError: What was kept before was not restored, so it stays."
    assert kept.read_bytes() == before
