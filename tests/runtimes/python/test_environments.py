"""Packages go into the environment of the Python that was chosen."""

import os
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from oi_tui.runtimes import Computer
from tests.runtimes.playing import play
from tests.runtimes.stand_ins import stand_in

Make = Callable[..., Computer]


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """An environment without pip, as uv makes them."""
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    return tmp_path / "bare"


@pytest.mark.parametrize(
    "line", ["%pip install 'some thing'", "!pip install 'some thing'", "!pip3 install some\\ thing"]
)
def test_uv_installs_where_there_is_no_pip(
    make: Make, bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    given = stand_in(tmp_path, "uv", "", monkeypatch)
    played = play(make(python=str(bare)), "python", f"{line}\nprint('on')")
    assert (played.state, played.text) == ("finished", "on\n")
    assert given.read_text().splitlines() == [
        "pip", "install", "some thing", "--python", str(bare / "bin" / "python"),
    ]  # fmt: skip


def test_an_installation_that_fails_fails_the_run(
    make: Make, bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, "uv", "echo no such thing >&2; exit 2", monkeypatch)
    played = play(make(python=str(bare)), "python", "%pip install thing\nprint('on')")
    assert (played.state, played.reason, played.text) == ("failed", "exit status 2", "no such thing\n")


def test_what_a_shell_must_read_is_left_to_the_shell(make: Make) -> None:
    played = play(make(python=sys.executable), "python", "!pip --version | cut -c1-3")
    assert played.text == "pip\n"


def test_programs_of_the_environment_are_found_first(make: Make, bare: Path) -> None:
    code = "import os, shutil\nprint(os.environ['VIRTUAL_ENV'])\nprint(shutil.which('python'))"
    assert play(make(python=str(bare)), "python", code).text.splitlines() == [
        str(bare),
        str(bare / "bin" / "python"),
    ]


def test_an_interpreter_may_be_named_from_where_the_application_is(
    make: Make, bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for name in ("bare", os.path.join("bare", "bin", "python")):
        played = play(make(python=name, cwd=folder), "python", "import sys; print(sys.prefix)")
        assert played.text == f"{bare}\n"
