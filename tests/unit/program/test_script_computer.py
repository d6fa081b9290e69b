"""`interpreter.computer.mouse` and so on in a script, and the object in cells of the Python API."""

import base64
import gc
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from oi_tui import OpenInterpreter, paths
from oi_tui.computer import Computer, ComputerError
from oi_tui.computer.tool import TOOLS
from oi_tui.engine.llm.transport.client import ModelProcess
from tests.servers import openai_server as server

Make = Callable[..., OpenInterpreter]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture
def make(models: ModelProcess, served: server.ModelServer) -> Iterator[Make]:
    """Make interpreters that ask the server; they are closed at the end."""
    made: list[OpenInterpreter] = []

    def interpreter(**settings: Any) -> OpenInterpreter:
        found = OpenInterpreter(llm=models, model="openai/m", api_key="k", api_base=served.base, **settings)
        found.llm.supports_functions = True
        made.append(found)
        return found

    yield interpreter
    for item in made:
        item.close()


def printed(messages: list[dict[str, Any]]) -> str:
    return "".join(message["content"] for message in messages).strip()


def test_every_part_of_the_computer_object_is_an_attribute() -> None:
    with OpenInterpreter() as interpreter:
        for name in TOOLS:
            found = getattr(interpreter.computer, name)
            if name == "terminal":
                assert found is interpreter.computer
                continue
            assert type(found) is type(getattr(Computer(), name))
            assert found is getattr(interpreter.computer, name), "a part keeps what was set"
            with pytest.raises(AttributeError, match="cannot be replaced"):
                setattr(interpreter.computer, name, None)
        assert {*TOOLS, "act", "screenshot", "view"} <= set(dir(interpreter.computer))


def test_a_script_uses_files_and_skills(tmp_path: Path) -> None:
    (tmp_path / "invoice.txt").write_text("42 euros")
    with OpenInterpreter() as interpreter:
        assert interpreter.computer.files.search("invoice", str(tmp_path)) == [str(tmp_path / "invoice.txt")]
        skills = interpreter.computer.skills
        assert skills.path == str(paths.config() / "skills")
        skills.new_skill.create()
        skills.new_skill.name = "Say hello"
        skills.new_skill.add_step("say it", "print('hello')")
        skills.new_skill.save()
        assert skills.list() == ["say_hello"]


@pytest.mark.needs("bash")
def test_a_shell_command_is_run_by_exec() -> None:
    with OpenInterpreter() as interpreter:
        assert printed(interpreter.computer.exec("echo hello")) == "hello"


def test_a_script_asks_the_interpreters_model(make: Make, served: server.ModelServer) -> None:
    interpreter = make()
    assert interpreter.computer.ai.chat("Who are you?", "iVBOR") == "Hello there"
    [request] = served.requests
    assert [part["type"] for part in request["messages"][-1]["content"]] == ["text", "image_url"]
    assert interpreter.messages == [], "the conversation does not have it"


def test_what_the_model_must_not_be_asked_is_an_error_in_a_sentence(
    make: Make, served: server.ModelServer
) -> None:
    interpreter = make(max_budget=0.5)
    with pytest.raises(ComputerError, match=r"price of openai/m is unknown"):
        interpreter.computer.ai.chat("Who are you?")
    assert served.requests == []


def test_cells_have_the_object_where_the_settings_want_it(make: Make, served: server.ModelServer) -> None:
    interpreter = make(import_computer_api=True, auto_run=True)
    assert interpreter.computer.import_computer_api is True
    assert printed(interpreter.computer.run("python", "x = 5; computer.ai.chat('Who?')")) == "'Hello there'"
    interpreter.chat("hello", display=False)
    assert "computer.mouse" in str(served.requests[-1]["messages"][0]["content"])
    assert printed(interpreter.computer.run("python", "x")) == "5", "it is the same process"
    interpreter.close()
    assert printed(interpreter.computer.run("python", "computer.ai.chat('Who?')")) == "'Hello there'"


def test_cells_have_no_object_and_the_model_hears_of_none_otherwise(
    make: Make, served: server.ModelServer
) -> None:
    interpreter = make()
    assert "NameError" in printed(interpreter.computer.run("python", "computer"))
    interpreter.chat("hello", display=False)
    assert "computer.mouse" not in str(served.requests[-1]["messages"])


def test_os_mode_tells_the_model_how_to_work(make: Make, served: server.ModelServer) -> None:
    make(os=True).chat("hello", display=False)
    system = str(served.requests[-1]["messages"][0]["content"])
    assert "You control the user's computer" in system
    assert "computer.mouse" in system


def test_a_default_profile_with_the_object_counts(make: Make) -> None:
    paths.profiles().mkdir(parents=True)
    (paths.profiles() / "default.yaml").write_text("computer:\n  import_computer_api: True\n")
    assert printed(make().computer.run("python", "computer")).startswith("<computer: display")


def test_a_language_class_named_python_gets_no_object() -> None:
    class Mine:
        name = "python"

        def run(self, code: str) -> Iterator[dict[str, Any]]:
            yield {"type": "console", "format": "output", "content": code.upper()}

        def stop(self) -> None: ...

        def terminate(self) -> None: ...

    with OpenInterpreter(import_computer_api=True) as interpreter:
        interpreter.computer.languages = [Mine]
        assert printed(interpreter.computer.run("python", "hello")) == "HELLO"


def test_stopping_the_turn_gives_up_what_a_cell_asks(make: Make, served: server.ModelServer) -> None:
    served.answer(server.silent)
    interpreter = make(import_computer_api=True)
    running = interpreter.computer.run("python", "print(1)\ncomputer.ai.chat('Who?')", stream=True)
    assert next(running)
    served.exchange()
    interpreter.stop()
    interpreter.computer.stop()
    assert [chunk["state"] for chunk in running if "state" in chunk] == ["interrupted"]
    assert served.exchange().client_gone.wait(60)


def test_an_interpreter_with_the_object_is_collected_as_soon_as_it_is_not_used() -> None:
    interpreter = OpenInterpreter(import_computer_api=True)
    assert interpreter.computer.runtimes
    gc.disable()
    try:
        lost = weakref.ref(interpreter.computer)
        del interpreter
        assert lost() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("how", ["base_64", "path", "lmc"])
def test_a_script_asks_the_model_about_an_image(
    how: str, make: Make, served: server.ModelServer, tmp_path: Path
) -> None:
    (tmp_path / "one.png").write_bytes(base64.b64decode(PIXEL))
    given: dict[str, Any] = {
        "base_64": PIXEL,
        "path": str(tmp_path / "one.png"),
        "lmc": {"type": "image", "format": "base64.png", "content": PIXEL},
    }
    interpreter = make()
    assert interpreter.computer.vision.query("What is it?", **{how: given[how]}) == "Hello there"
    [request] = served.requests
    text, image = request["messages"][-1]["content"]
    assert text["text"] == "What is it?"
    assert image["image_url"]["url"].endswith(PIXEL)
    assert interpreter.messages == [], "the conversation does not have it"


def write_program(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_a_script_reads_the_text_in_an_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_program(tmp_path, "tesseract", "cat >/dev/null; echo '  Total: 42 EUR  '")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with OpenInterpreter() as interpreter:
        assert interpreter.computer.vision.ocr(base_64=PIXEL).strip() == "Total: 42 EUR"


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has a notification of its own")
def test_a_script_shows_a_notification(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_program(tmp_path, "notify-send", f'printf "%s\\n" "$@" > {tmp_path}/shown')
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with OpenInterpreter() as interpreter:
        interpreter.computer.os.notify("-done")
        assert (tmp_path / "shown").read_text() == "--\noi-tui\n-done\n"
        write_program(tmp_path, "notify-send", "echo no bus >&2; exit 1")
        with pytest.raises(ComputerError, match="not shown: no bus"):
            interpreter.computer.os.notify("done")
