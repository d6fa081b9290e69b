"""The Python package as programs use it: subclasses, tests with mocks, forked processes, older imports."""

import base64
import copy
import importlib
import multiprocessing
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import oi_tui
from oi_tui import OpenInterpreter, interpreter_module, paths
from oi_tui.api import original_modules
from oi_tui.engine.llm.transport.client import ModelProcess
from tests.servers import openai_server as server

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture
def interpreter() -> Iterator[OpenInterpreter]:
    with OpenInterpreter(conversation_history=False) as made:
        made.llm.completions = lambda messages: iter([str(messages[-1]["content"]).upper()])
        yield made


# ---- Tests of other programs


def test_settings_and_methods_can_be_patched_and_are_as_before_afterwards(
    interpreter: OpenInterpreter,
) -> None:
    interpreter.auto_run = True
    with mock.patch.object(interpreter, "auto_run", False), mock.patch.object(interpreter.llm, "model", "x"):
        assert (interpreter.auto_run, interpreter.llm.model) == (False, "x")
        with mock.patch.object(interpreter, "auto_run", True):
            assert interpreter.auto_run
        assert not interpreter.auto_run
    assert (interpreter.auto_run, interpreter.llm.model) == (True, OpenInterpreter().llm.model)
    with mock.patch.object(interpreter, "chat", return_value=[]) as chat:
        assert interpreter.chat("hello") == []
    chat.assert_called_once_with("hello")
    with mock.patch.object(interpreter.computer, "run", return_value=["ran"]):
        assert interpreter.computer.run("python", "1") == ["ran"]
    assert interpreter.chat("hello", display=False)[0]["content"] == "HELLO"


def test_taking_back_a_change_that_was_not_made_changes_nothing(interpreter: OpenInterpreter) -> None:
    interpreter.max_output = 900
    del interpreter.max_output
    del interpreter.max_output
    assert interpreter.max_output == 2800
    with pytest.raises(AttributeError):
        del interpreter.max_outptu


# ---- Subclasses


class Logged(OpenInterpreter):
    label = "none"
    log: list[str]

    def __init__(self, **settings: Any) -> None:
        self.seen = 0
        super().__init__(conversation_history=False, **settings)
        self.log = []

    def chat(self, message: Any = None, **options: Any) -> Any:
        self.log.append(message)
        self.seen += 1
        return super().chat(message, **options)


def test_a_subclass_has_attributes_and_methods_of_its_own() -> None:
    with Logged(auto_run=True) as interpreter:
        interpreter.llm.completions = lambda messages: iter(["Hello"])
        assert interpreter.chat("one", display=False)[0]["content"] == "Hello"
        interpreter.label = "first"
        assert (interpreter.log, interpreter.seen, interpreter.label) == (["one"], 1, "first")
        assert interpreter.auto_run


@pytest.mark.parametrize("name", ["auto_rnu", "mesages", "conversation_histroy"])
def test_a_subclass_does_not_lose_a_misspelt_setting(name: str) -> None:
    with pytest.raises(AttributeError, match="did you mean"):
        setattr(Logged(), name, True)


def test_a_setting_of_a_class_that_would_not_act_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Quick\.auto_run is a setting: set it in __init__"):
        type("Quick", (OpenInterpreter,), {"auto_run": True})


# ---- Copies and other processes


@pytest.mark.parametrize("take", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_copy_is_refused_with_what_to_do(take: Any, interpreter: OpenInterpreter) -> None:
    for item in (interpreter, interpreter.llm, interpreter.computer):
        with pytest.raises(TypeError, match="Make a new OpenInterpreter there"):
            take(item)


def work_in_a_child(interpreter: OpenInterpreter, results: "Queue[Any]") -> None:
    answer = interpreter.chat("again", display=False)[0]["content"]
    known = interpreter.computer.run("python", "print('kept' in globals())")[0]["content"]
    results.put((answer, known, len(interpreter.messages)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_has_a_model_and_languages_of_its_own(
    models: ModelProcess, served: server.ModelServer
) -> None:
    with OpenInterpreter(llm=models, model="openai/m", api_key="k", auto_run=True) as interpreter:
        interpreter.llm.api_base = served.base
        interpreter.chat("hello", display=False)
        interpreter.computer.run("python", "kept = 42")
        pid, conversation = models.pid, interpreter.conversation_filename
        forking = multiprocessing.get_context("fork")
        results: Queue[Any] = forking.Queue()
        child = forking.Process(target=work_in_a_child, args=(interpreter, results))
        child.start()
        try:
            assert results.get(timeout=100) == ("Hello there", "False\n", 4)
        finally:
            child.join(20)
            child.kill()
        assert child.exitcode == 0
        assert interpreter.computer.run("python", "print(kept)")[0]["content"] == "42\n"
        interpreter.chat("and here", display=False)
        assert (models.pid, interpreter.conversation_filename) == (pid, conversation)
        assert len(interpreter.messages) == 4
    assert len(list(paths.conversations().glob("*.jsonl"))) == 2


# ---- Images


@pytest.mark.parametrize(
    ("form", "content", "kind"),
    [
        ("base64.png", f"data:image/png;base64,{PIXEL}", "png"),
        (None, f"data:image/png;base64,{PIXEL}", "png"),
        ("base64", PIXEL, "png"),
        ("base64.jpg", base64.b64encode(b"\xff\xd8\xff and more").decode(), "jpeg"),
        ("base64.png", base64.b64encode(b"GIF89a and more").decode(), "gif"),
        ("base64", base64.b64encode(b"RIFF1234WEBP and more").decode(), "webp"),
    ],
    ids=["data-url", "data-url-alone", "no-kind", "jpg", "gif-called-png", "webp"],
)
def test_an_image_is_sent_as_the_kind_that_it_is(
    form: str | None, content: str, kind: str, interpreter: OpenInterpreter
) -> None:
    sent: list[Any] = []
    interpreter.llm.completions = lambda messages: sent.extend(messages) or iter(["Hello"])
    interpreter.llm.supports_vision = True
    message = {"role": "user", "type": "image", "content": content, **({"format": form} if form else {})}
    interpreter.chat([message], display=False)
    [url] = [part["image_url"]["url"] for part in sent[-1]["content"] if part["type"] == "image_url"]
    assert url == f"data:image/{kind};base64,{content.rpartition(',')[2]}"


def test_an_image_of_an_unknown_format_is_refused(interpreter: OpenInterpreter) -> None:
    with pytest.raises(TypeError, match="an image has the format 'url'; the formats are base64"):
        interpreter.chat([{"role": "user", "type": "image", "format": "url", "content": "x"}])


# ---- What scripts read and set


def test_the_folder_of_conversations_can_be_looked_into() -> None:
    interpreter = OpenInterpreter()
    assert interpreter.conversation_history_path == str(paths.conversations())
    interpreter.conversation_history_path = "mine"
    assert interpreter.conversation_history_path == str(Path("mine").absolute())


def test_none_is_no_text_and_no_messages_are_refused(interpreter: OpenInterpreter) -> None:
    interpreter.custom_instructions = None
    interpreter.llm.execution_instructions = None
    assert (interpreter.custom_instructions, interpreter.llm.execution_instructions) == ("", "")
    for wrong in (None, "hello", {"role": "user"}):
        with pytest.raises(TypeError, match="messages is a list of messages, not"):
            interpreter.messages = wrong


def test_an_interpreter_says_what_it_is(interpreter: OpenInterpreter) -> None:
    interpreter.llm.model = "openai/m"
    assert repr(interpreter) == "<OpenInterpreter model='openai/m' messages=0>"


# ---- Imports of older scripts


@pytest.fixture
def older_imports() -> Iterator[None]:
    """What is imported as `interpreter` is gone again afterwards."""
    interpreter_module.provide()
    yield
    for name in [item for item in sys.modules if item.partition(".")[0] == "interpreter"]:
        del sys.modules[name]


@pytest.mark.usefixtures("older_imports")
def test_the_modules_that_scripts_import_from_have_their_names() -> None:
    for module, names in original_modules.NAMES.items():
        for name, value in names.items():
            assert getattr(importlib.import_module(module), name) is value
    start = importlib.import_module("interpreter.terminal_interface.start_terminal_interface")
    assert start.main.__module__ == "oi_tui.start"
    for module in ("interpreter", "interpreter.core.core"):
        assert importlib.import_module(module).Interpreter is oi_tui.OpenInterpreter


@pytest.mark.usefixtures("older_imports")
def test_what_is_internal_to_open_interpreter_says_so() -> None:
    with pytest.raises(ModuleNotFoundError, match="it is internal to Open Interpreter") as caught:
        importlib.import_module("interpreter.core.respond")
    assert caught.value.name == "interpreter.core.respond"
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        exec("from interpreter.core.llm.llm import nothing", {})


def test_modules_of_another_package_are_not_added_to(tmp_path: Path) -> None:
    (tmp_path / "interpreter").mkdir()
    (tmp_path / "interpreter" / "__init__.py").touch()
    code = "import oi_tui.interpreter_module, importlib; importlib.import_module('interpreter.core.core')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False, cwd=tmp_path
    )
    assert done.stderr.strip().endswith("No module named 'interpreter.core'")


@pytest.mark.usefixtures("older_imports")
def test_a_language_may_begin_with_the_base_class(interpreter: OpenInterpreter) -> None:
    base = importlib.import_module("interpreter.core.computer.terminal.base_language").BaseLanguage

    class Shout(base):  # type: ignore[misc]
        name = "shout"

        def run(self, code: str) -> Iterator[dict[str, str]]:
            yield {"type": "console", "format": "output", "content": code.upper()}

    interpreter.computer.languages.append(Shout)
    assert interpreter.computer.run("shout", "hello")[0]["content"] == "HELLO"
    with pytest.raises(NotImplementedError, match="BaseLanguage needs a method run"):
        base().run("hello")


def test_folders_and_profiles_are_found_under_their_old_names(
    interpreter: OpenInterpreter, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert original_modules.get_storage_path("profiles") == str(paths.profiles())
    assert original_modules.get_storage_path("contributions") == os.fspath(paths.config() / "contributions")
    profile = tmp_path / "work.yaml"
    profile.write_text("max_output: 900\n")
    assert original_modules.profile(interpreter, str(profile)).max_output == 900
    original_modules.display_markdown_message("> Ready")
    assert capsys.readouterr().out == "> Ready\n"
