"""What code in a cell can make oi-tui do by the socket of the computer object."""

import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui.computer_api import ComputerApi, guard_environment
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.system import environment_names


@pytest.fixture
def path(tmp_path: Path) -> Iterator[str]:
    """The path of a socket at which questions are answered with "yes"."""
    api = ComputerApi(lambda text, images: "yes", lambda: None)
    (python,) = (item for item in api.add_to(LANGUAGES) if item.name == "python")
    yield python.start(sys.executable, tmp_path).env[environment_names.COMPUTER]
    api.close()


def answer(path: str, line: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect(path)
        connection.sendall(line)
        connection.shutdown(socket.SHUT_WR)
        return connection.makefile("rb").read()


def test_the_guard_gets_no_keys_and_no_code_of_the_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef0123456789abcdef")
    monkeypatch.setenv("HARMLESS", "1")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    given = {
        "DISPLAY": ":7",
        environment_names.COMPUTER: "/tmp/x/computer",
        "PYTHONPATH": "/tmp/evil",
        "LD_PRELOAD": "/tmp/evil.so",
        "PATH": "/tmp/evil",
    }
    found = guard_environment(given)
    assert (found["DISPLAY"], found["HARMLESS"]) == (":7", "1")
    assert found[environment_names.COMPUTER] == "/tmp/x/computer"
    assert not {"OPENAI_API_KEY", "PYTHONPATH", "LD_PRELOAD"} & set(found)
    assert found["PATH"] != "/tmp/evil"


@pytest.mark.parametrize("line", [b"", b"[]\n", b"1\n", b"\xff\n", b"[" * 200_000 + b"\n"], ids=range(5))
def test_garbage_is_answered_with_a_sentence(path: str, line: bytes) -> None:
    assert b"is not understood" in answer(path, line)


def test_a_question_is_answered(path: str) -> None:
    question = json.dumps({"text": "Is it?", "images": []}).encode() + b"\n"
    assert json.loads(answer(path, question)) == {"text": "yes"}
