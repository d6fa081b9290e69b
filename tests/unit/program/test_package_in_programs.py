"""The Python package as programs use it: subclasses, tests with mocks, forked processes, older imports."""

import asyncio
import base64
import copy
import gc
import importlib
import json
import multiprocessing
import os
import pickle
import re
import subprocess
import sys
import types
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import httpx
import pytest
import yaml

import oi_tui
from oi_tui import AsyncInterpreter, OpenInterpreter, interpreter_module, paths
from oi_tui.api import original_modules, token_counts
from oi_tui.api.interpreter import TurnError
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


# ---- Applications with Python inside


@pytest.mark.parametrize("program", ["/opt/app/app", "/usr/bin/uwsgi", "", None])
def test_an_application_is_not_started_in_the_place_of_python(
    program: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = sys.executable
    monkeypatch.setattr(sys, "executable", program)
    monkeypatch.setattr(sys, "frozen", program == "/opt/app/app", raising=False)
    if program == "/usr/bin/uwsgi":
        monkeypatch.setitem(sys.modules, "uwsgi", types.ModuleType("uwsgi"))
    with pytest.raises(RuntimeError, match=r"Set sys\.executable to the path of a Python 3\."):
        OpenInterpreter(conversation_history=False)
    monkeypatch.setattr(sys, "executable", python)
    with OpenInterpreter(conversation_history=False) as interpreter:
        assert interpreter.computer.run("python", "print(6 * 7)")[0]["content"] == "42\n"


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


class Plain(OpenInterpreter):
    """A subclass with an attribute of its own that is called as an older setting."""

    no_confirm = False


def test_an_older_name_of_auto_run_turns_no_question_off_where_a_subclass_has_it_for_itself() -> None:
    for kind in (Logged, Plain):
        with kind() as interpreter:
            interpreter.no_confirm = True
            vars(interpreter)["no_confirm"] = True
            assert (interpreter.no_confirm, interpreter.auto_run) == (True, False)
            interpreter.auto_run = True
            interpreter.no_confirm = False
            assert (interpreter.no_confirm, interpreter.auto_run) == (False, True)
    with OpenInterpreter(no_confirm=True) as plain:
        assert plain.auto_run


class Busy(OpenInterpreter):
    """A subclass whose private names are those that many programs have."""

    _title = "a program"
    _prefix = "> "

    def __init__(self, **settings: Any) -> None:
        self._turns = self._parts = 0
        super().__init__(**settings)
        self._settings = self._model = self._question = self._voice = self._background = "mine"
        self._server = self._streams = self._fixed = self._own = "mine"

    def _log(self, line: str) -> str:
        return f"{self._prefix}{line}"

    _ask = _chat = _key = _apply_change = _log


def test_private_names_of_a_subclass_replace_none_of_ours() -> None:
    with Busy(auto_run=True) as interpreter:
        interpreter.llm.completions = lambda messages: iter(["Hello"])
        interpreter.max_output, interpreter.verbose = 900, False
        assert interpreter.chat("one")[0]["content"] == "Hello"
        assert interpreter.computer.run("python", "print(1)")[0]["content"] == "1\n"
        assert (interpreter._log("line"), interpreter._settings, interpreter._turns) == ("> line", "mine", 0)
        with pytest.raises(AttributeError, match="interpreter has no attribute 'mesages'; did you mean"):
            interpreter.mesages  # noqa: B018
        interpreter.reset()


@pytest.mark.parametrize("kind", [OpenInterpreter, AsyncInterpreter])
def test_private_names_that_programs_extend_are_marked_as_ours(kind: Any) -> None:
    with kind() as interpreter:
        seen = {*dir(interpreter), *vars(interpreter)} - {*dir(object), "_respond_and_store"}
        assert {name for name in seen if re.match("_(?!_|oi_)", name)} == set()


def test_an_init_that_does_not_begin_with_ours_says_so() -> None:
    class Early(OpenInterpreter):
        def __init__(self) -> None:
            self.auto_run = True

    with pytest.raises(AttributeError, match=r"begin your __init__ with super\(\).__init__\(\)"):
        Early()


def test_programs_keep_private_marks_on_an_interpreter() -> None:
    interpreter = OpenInterpreter()
    for part in (interpreter, interpreter.llm, interpreter.computer):
        assert not hasattr(part, "_wrapped_by_us")
        part._wrapped_by_us = True
        assert part._wrapped_by_us
        settings = part._oi_settings
        with pytest.raises(AttributeError):
            part._setings_of_ours  # noqa: B018
        assert part._oi_settings is settings


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
    interpreter.llm.api_key = "secret"
    assert repr(interpreter.llm) == "<interpreter.llm model='openai/m' api_base=None>"
    interpreter.computer.languages = ["python", "shell"]
    assert repr(interpreter.computer) == "<interpreter.computer languages: python, shell>"


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
        assert issubclass(importlib.import_module(module).Interpreter, oi_tui.OpenInterpreter)
    base = importlib.import_module("interpreter.core.computer.terminal.base_language").BaseLanguage
    assert importlib.import_module("interpreter").BaseLanguage is base


def test_local_setup_of_old_scripts_gives_the_interpreter_back(interpreter: OpenInterpreter) -> None:
    with mock.patch.object(interpreter, "local_setup") as set_up:
        assert original_modules.set_up_local(interpreter) is interpreter
    set_up.assert_called_once_with()


OLD_KEYS = (
    "message code output active_line executing end_of_execution "
    "start_of_message end_of_message start_of_code end_of_code"
)


def follow(chunks: Any) -> tuple[str, dict[str, str], str, list[str]]:
    """Read chunks as scripts of 0.1 do; returns text, code by language, output and the flags."""
    text, language, output = "", "", ""
    codes: dict[str, str] = {}
    flags: list[str] = []
    for chunk in chunks:
        assert next(iter(chunk)) in OLD_KEYS
        text += chunk.get("message", "")
        language = chunk.get("language", language)
        codes[language] = codes.get(language, "") + chunk.get("code", "")
        output += chunk.get("output", "")
        flags += [name for name in chunk if name.startswith(("start_of", "end_of", "executing"))]
    return text, codes, output, flags


@pytest.mark.usefixtures("older_imports")
def test_scripts_of_0_1_read_chunks_and_messages_by_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenInterpreter(conversation_history=False) as made:
        monkeypatch.setattr(oi_tui, "interpreter", made, raising=False)
        made.llm.completions = lambda messages: iter(
            ["```python\nprint(6 * 7)\n```"] if messages[-1]["content"] == "go" else ["It is 42."]
        )
        module = importlib.import_module("interpreter")
        module.auto_run = False
        text, codes, output, flags = follow(module.chat("go", stream=True, display=False))
        assert (text, codes["python"].strip(), output) == ("It is 42.", "print(6 * 7)", "42\n")
        assert flags == [
            "start_of_code",
            "end_of_code",
            "executing",
            "end_of_execution",
            "start_of_message",
            "end_of_message",
        ]
        messages = module.chat("thanks", display=False, return_messages=True)
        assert [next(item[k] for k in ("message", "code", "output") if k in item) for item in messages] == [
            "go",
            "print(6 * 7)",
            "42\n",
            "It is 42.",
            "thanks",
            "It is 42.",
        ]
        assert messages[1]["language"] == "python"
        module.reset()
        for chunk in module.chat("go", stream=True, display=False):
            if "executing" in chunk:
                break
        assert made.messages[1]["decision"] == "rejected"
        module.load(messages)
        assert module.chat("go on", display=False)[-1]["message"] == "It is 42."
    assert "message" not in made.chat("thanks", display=False)[0], "those of later versions stay as they are"


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
    assert original_modules.apply_profile(interpreter, str(profile)).max_output == 900
    original_modules.display_markdown_message("> Ready")
    assert capsys.readouterr().out == "> Ready\n"


@pytest.mark.usefixtures("older_imports")
def test_the_class_of_a_language_is_the_language(interpreter: OpenInterpreter) -> None:
    languages = "interpreter.core.computer.terminal.languages"
    python = importlib.import_module(f"{languages}.python").Python
    shell = importlib.import_module(f"{languages}.shell").Shell
    assert (python.name, python.file_extension, "bash" in shell.aliases) == ("Python", "py", True)
    before = interpreter.computer._declare_languages(())
    interpreter.computer.languages = [python]
    assert interpreter.computer._declare_languages(()) == tuple(
        item for item in before if item.name == "python"
    )
    with pytest.raises(ValueError, match="Unknown language 'shell'"):
        interpreter.computer.run("shell", "echo")


@pytest.mark.usefixtures("older_imports")
def test_a_language_of_ones_own_may_begin_with_python(interpreter: OpenInterpreter) -> None:
    base = importlib.import_module("interpreter.core.computer.terminal.languages.python").Python

    class Counted(base):  # type: ignore[misc]
        name = "python"
        codes: ClassVar[list[str]] = []

        def run(self, code: str) -> Iterator[dict[str, Any]]:
            self.codes.append(code)
            yield from super().run(code)

    interpreter.computer.languages = [Counted]
    interpreter.computer.run("python", "value = 6 * 7")
    assert interpreter.computer.run("python", "print(value)")[0]["content"] == "42\n"
    assert Counted.codes == ["value = 6 * 7", "print(value)"]
    interpreter.computer.terminate()
    assert "NameError" in interpreter.computer.run("python", "print(value)")[0]["content"]


def test_tokens_are_counted_and_priced(models: ModelProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_counts, "_counter", mock.Mock(process=lambda: models))
    assert 1 <= token_counts.count_tokens("hello world", "gpt-4o") <= 4
    messages = [{"role": "user", "content": "hello world"}, "hello", {"role": "user", "content": None}]
    tokens, cost = token_counts.count_messages_tokens(messages, "gpt-4o")
    assert 2 <= tokens <= 7
    assert cost == token_counts.compute_token_cost(tokens, "gpt-4o") > 0
    assert token_counts.compute_token_cost(10, "nobody/knows-this") == 0
    assert token_counts.count_messages_tokens([]) == (0, 0)


def test_without_a_tokenizer_tokens_are_a_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    process = mock.Mock(count=lambda *_: None, facts=lambda _: None)
    monkeypatch.setattr(token_counts, "_counter", mock.Mock(process=lambda: process))
    assert token_counts.count_tokens("a" * 400) == 100
    assert token_counts.count_messages_tokens([{"content": "a" * 400}]) == (100, 0)


def test_long_outputs_are_cut_as_for_the_model() -> None:
    cut = original_modules.truncate_output("begin" + "x" * 9000 + "end", 500)
    assert len(cut) < 1000
    assert (cut[:5], cut[-3:]) == ("begin", "end")


def test_an_audio_message_is_a_file_for_the_model(interpreter: OpenInterpreter) -> None:
    sent = {"role": "user", "type": "audio", "format": "wav", "content": "/tmp/speech.wav"}
    interpreter.chat([sent, {"role": "user", "type": "message", "content": "what is said?"}], display=False)
    assert "/TMP/SPEECH.WAV" in interpreter.messages[-1]["content"]


def test_a_web_application_streams_a_turn_and_its_history(interpreter: OpenInterpreter) -> None:
    applications = pytest.importorskip("starlette.applications")
    responses = importlib.import_module("starlette.responses")
    route = importlib.import_module("starlette.routing").Route

    def chat(request: Any) -> Any:
        def stream() -> Iterator[str]:
            for chunk in interpreter.chat(request.query_params["message"], stream=True, display=False):
                yield f"data: {json.dumps(chunk)}\n\n"

        return responses.StreamingResponse(stream(), media_type="text/event-stream")

    def history(_request: Any) -> Any:
        return responses.JSONResponse(interpreter.messages)

    application = applications.Starlette(routes=[route("/chat", chat), route("/history", history)])

    async def ask() -> tuple[str, Any]:
        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            streamed = await client.get("/chat", params={"message": "hello"})
            return streamed.text, (await client.get("/history")).json()

    text, messages = asyncio.run(ask())
    chunks = [json.loads(line.removeprefix("data: ")) for line in text.split("\n\n") if line]
    assert (chunks[0]["start"], chunks[-1]["end"]) == (True, True)
    assert "".join(chunk.get("content", "") for chunk in chunks) == "HELLO"
    assert [message["content"] for message in messages] == ["hello", "HELLO"]


def test_languages_start_where_the_script_is_by_then(
    interpreter: OpenInterpreter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def folder() -> str:
        return str(interpreter.computer.run("python", "import os; print(os.getcwd())")[0]["content"]).strip()

    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    interpreter.chat("hello", display=False)
    monkeypatch.chdir(tmp_path / "one")
    assert folder() == str(tmp_path / "one")
    monkeypatch.chdir(tmp_path / "two")
    assert folder() == str(tmp_path / "one"), "a language at work stays where it is"
    (tmp_path / "one").rmdir()
    interpreter.computer.terminate()
    assert folder() == str(tmp_path / "two")
    interpreter.reset()
    (tmp_path / "two").rmdir()
    monkeypatch.chdir(tmp_path)
    interpreter.auto_run = True
    interpreter.llm.completions = lambda messages: iter(
        ["```python\nimport os; print(os.getcwd())\n```"] if messages[-1]["content"] == "go" else ["Done."]
    )
    answer = interpreter.chat("go", display=False)
    assert answer[1]["content"].strip() == str(tmp_path)


# ---- Attributes of the program's own


@pytest.mark.parametrize("name", ["memory_enabled", "require_user_approval", "modle"])
def test_an_attribute_without_effect_is_refused(name: str, interpreter: OpenInterpreter) -> None:
    for place in (interpreter, interpreter.llm, interpreter.computer):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
            setattr(place, name, "x")
    with pytest.raises(TypeError, match=f"has no attribute '{name}'"):
        OpenInterpreter(**{name: "x"})


# ---- The messages during a turn

CODE = "```python\nprint(1)\n```"


def answer(*replies: str) -> Any:
    left = list(replies)
    return lambda messages: iter([left.pop(0)])


def test_code_is_edited_in_the_last_message_before_it_runs(interpreter: OpenInterpreter) -> None:
    interpreter.llm.supports_functions = False
    interpreter.llm.completions = answer(CODE, "Done.")
    messages = interpreter.messages
    for chunk in interpreter.chat("go", stream=True, display=False):
        if chunk["type"] == "confirmation":
            assert [item["type"] for item in interpreter.messages] == ["message", "code"]
            interpreter.messages[-1]["content"] = "print('edited')"
    assert [item["content"] for item in interpreter.messages[1:]] == [
        "print('edited')",
        "edited\n",
        "Done.",
    ]
    assert messages is interpreter.messages


def test_messages_given_during_a_turn_stay(interpreter: OpenInterpreter) -> None:
    stream = interpreter.chat("hello", stream=True, display=False)
    next(stream)
    interpreter.messages = []
    stream.close()
    assert interpreter.messages == []


def test_a_reset_from_another_thread_stops_the_turn(interpreter: OpenInterpreter) -> None:
    interpreter.auto_run = interpreter.loop = True
    interpreter.llm.supports_functions = False
    asked = []

    def reply(messages: Any) -> Iterator[str]:
        asked.append(len(messages))
        yield CODE.replace("1", str(len(asked)))

    interpreter.llm.completions = reply
    for chunk in interpreter.chat("go", stream=True, display=False):
        if chunk["type"] == "console" and "end" in chunk:
            interpreter.reset()
    assert interpreter.messages == []
    assert len(asked) == 1


def test_ctrl_c_in_a_script_ends_the_run_and_keeps_what_it_printed(interpreter: OpenInterpreter) -> None:
    interpreter.auto_run = True
    interpreter.llm.supports_functions = False
    endless = "import time\nprint('began', flush=True)\ntime.sleep(600)"
    interpreter.llm.completions = answer(f"```python\n{endless}\n```", "Done.")
    stream = interpreter.chat("go", stream=True, display=False)
    assert any("began" in str(chunk.get("content")) for chunk in stream if chunk["type"] == "console")
    # A signal's handler raises it wherever Python is; here it is raised in the midst of the run.
    with pytest.raises(KeyboardInterrupt):
        stream.throw(KeyboardInterrupt)
    code, output = interpreter.messages[1:3]
    assert code["state"] == "interrupted"
    # The interrupt may come before the end of the line.
    assert output["content"].startswith("began")
    assert interpreter.chat("again", display=False)[0]["content"] == "Done."


def test_names_of_languages_are_texts_for_yaml(interpreter: OpenInterpreter) -> None:
    names = [language.name for language in interpreter.computer.languages]
    assert yaml.safe_load(yaml.safe_dump({"languages": names})) == {
        "languages": [str(name) for name in names]
    }


# ---- Chunks in, chunks out

COMPLETE = {"role": "server", "type": "status", "content": "complete"}


async def say(interpreter: oi_tui.AsyncInterpreter, *contents: str, kind: str = "message") -> list[Any]:
    """Say a message in pieces, and take what comes of it."""
    head = {"role": "user", "type": kind}
    for chunk in ({"start": True}, *({"content": content} for content in contents), {"end": True}):
        await interpreter.input(head | chunk)
    chunks = [await interpreter.output()]
    while chunks[-1] != COMPLETE:
        chunks.append(await interpreter.output())
    return chunks


def join_contents(chunks: list[Any], kind: str) -> str:
    return "".join(str(item["content"]) for item in chunks if item["type"] == kind and item.get("content"))


def test_an_async_interpreter_stops_at_code_which_go_runs() -> None:
    async def main(interpreter: oi_tui.AsyncInterpreter) -> None:
        asked = await say(interpreter, "Please ", "go on")
        assert join_contents(asked, "code") == "print(1)"
        assert not [item for item in asked if item["type"] in ("confirmation", "console")]
        assert [item["content"] for item in interpreter.messages] == ["Please go on", "print(1)"]
        ran = await say(interpreter, "go", kind="command")
        assert join_contents(ran, "console").startswith("1")
        assert join_contents(ran, "message") == "Done."
        failed = await say(interpreter, "once more")
        assert "pop from empty list" in join_contents(failed, "error")

    with oi_tui.AsyncInterpreter(conversation_history=False) as made:
        made.llm.supports_functions = False
        made.llm.completions = answer(CODE, "Done.")
        asyncio.run(main(made))


def test_a_new_message_stops_the_turn_of_an_async_interpreter() -> None:
    async def main(interpreter: oi_tui.AsyncInterpreter) -> None:
        head = {"role": "user", "type": "message"}
        for chunk in ({"start": True}, {"content": "wait"}, {"end": True}):
            await interpreter.input(head | chunk)
        while (await interpreter.output())["type"] != "console":
            pass
        assert join_contents(await say(interpreter, "stop that"), "message") == "Stopped."
        states = [item["state"] for item in interpreter.messages if item["type"] == "code"]
        assert states == ["interrupted"]

    with oi_tui.AsyncInterpreter(auto_run=True, conversation_history=False) as made:
        made.llm.supports_functions = False
        made.llm.completions = answer("```python\nimport time\ntime.sleep(600)\n```", "Stopped.")
        asyncio.run(main(made))


# ---- Methods that tests of other programs replace


def test_a_replaced_run_of_the_computer_is_what_a_turn_calls(interpreter: OpenInterpreter) -> None:
    interpreter.auto_run, interpreter.llm.supports_functions = True, False
    interpreter.llm.completions = answer("```python\nprint(6 * 7)\n```", "Done.")
    output = [{"type": "console", "format": "output", "content": "not run"}]
    with mock.patch.object(interpreter.computer.terminal, "run", return_value=output) as run:
        messages = interpreter.chat("go", display=False)
    run.assert_called_once_with("python", "print(6 * 7)", stream=True)
    assert [item["content"] for item in messages] == ["print(6 * 7)", "not run", "Done."]
    assert messages[0]["state"] == "finished"


def test_an_error_of_a_replaced_run_is_output_that_the_model_sees(interpreter: OpenInterpreter) -> None:
    interpreter.auto_run, interpreter.llm.supports_functions = True, False
    interpreter.llm.completions = answer(CODE, "I see.")
    with mock.patch.object(type(interpreter.computer), "run", side_effect=KeyError("no such machine")):
        code, output, reply = interpreter.chat("go", display=False)
    assert "KeyError: 'no such machine'" in output["content"]
    assert (code["state"], reply["content"]) == ("failed", "I see.")


def test_a_replaced_run_of_the_model_is_what_a_turn_asks(interpreter: OpenInterpreter) -> None:
    interpreter.auto_run = True
    asked = []

    def run(messages: Any) -> Iterator[Any]:
        asked.append([(item["role"], item["type"]) for item in messages])
        if len(asked) == 1:
            yield {"type": "message", "content": "I run it."}
            for piece in ("print(6", " * 7)"):
                yield {"type": "code", "format": "python", "content": piece}
        else:
            yield {"type": "message", "content": "Done."}

    with mock.patch.object(interpreter.llm, "run", run):
        messages = interpreter.chat("go", display=False)
    assert [item["content"] for item in messages] == ["I run it.", "print(6 * 7)", "42\n", "Done."]
    first = [("system", "message"), ("user", "message")]
    assert asked == [
        first,
        [*first, ("assistant", "message"), ("assistant", "code"), ("computer", "console")],
    ]
    assert interpreter.chat("hello", display=False)[0]["content"] == "HELLO"


# ---- Values and names that scripts for Open Interpreter give


def test_a_number_of_tokens_of_0_is_none_that_was_set(interpreter: OpenInterpreter) -> None:
    interpreter.llm.context_window = interpreter.llm.max_tokens = 0
    assert (interpreter.llm.context_window, interpreter.llm.max_tokens) == (None, None)


def test_the_list_of_loop_breakers_may_be_changed(interpreter: OpenInterpreter) -> None:
    breakers = interpreter.loop_breakers
    interpreter.loop = True
    breakers.append("HELLO")
    assert [item["content"] for item in interpreter.chat("hello", display=False)] == ["HELLO"]
    interpreter.loop_breakers += ["Enough."]
    assert interpreter.loop_breakers[-2:] == ["HELLO", "Enough."]


def test_languages_are_found_by_name_or_alias(interpreter: OpenInterpreter) -> None:
    class Shout:
        name = "shout"
        aliases: ClassVar[list[str]] = ["loud"]

        def run(self, code: str) -> Iterator[Any]:
            yield code

        stop = terminate = run

    terminal = interpreter.computer.terminal
    interpreter.computer.languages += [Shout, "sql"]
    assert terminal.get_language("LOUD") is Shout
    assert [terminal.get_language(name).name for name in ("bash", "sql")] == ["Shell", "sql"]
    assert terminal.get_language("cobol") is None


def test_a_package_is_installed_by_the_package_manager(
    interpreter: OpenInterpreter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("apt-get", "sudo"):
        program = tmp_path / name
        program.write_text(
            f'#!/bin/sh\n[ "$1" = apt-get ] && shift\necho "$*" > {tmp_path}/said\n[ "$4" = hello ]\n'
        )
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert interpreter.computer.terminal.sudo_install("hello")
    assert (tmp_path / "said").read_text() == "install -y -- hello\n"
    assert not interpreter.computer.terminal.sudo_install("nothing")


def test_an_interpreter_takes_the_model_of_another_one(interpreter: OpenInterpreter) -> None:
    interpreter.llm.max_tokens = 500
    with OpenInterpreter(llm=interpreter.llm, conversation_history=False) as second:
        assert second.llm.max_tokens == 500
        assert second.chat("hello", display=False)[0]["content"] == "HELLO"
    with pytest.raises(TypeError, match="llm must be the llm of an OpenInterpreter"):
        OpenInterpreter(llm="gpt-4o")  # type: ignore[arg-type]


def test_a_reset_ends_a_stream_that_is_still_held(interpreter: OpenInterpreter) -> None:
    interpreter.auto_run, interpreter.llm.supports_functions = True, False
    interpreter.llm.completions = answer("```python\nimport time\ntime.sleep(600)\n```", "Done.")
    stream = interpreter.chat("go", stream=True)
    assert any(chunk["type"] == "console" for chunk in stream)
    interpreter.reset()
    assert (list(stream), interpreter.messages, interpreter.responding) == ([], [], False)
    assert interpreter.chat("again", display=False)[0]["content"] == "Done."


class Left:
    """What refers to itself and to a stream, as the parts of a web framework do whose client went away."""

    def __init__(self, stream: Iterator[Any]) -> None:
        self.itself, self.stream = self, stream


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Python does not collect by itself what refers to itself."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
def test_a_turn_begins_although_the_stream_of_another_was_left(interpreter: OpenInterpreter) -> None:
    left = interpreter.chat("first", stream=True, display=False)
    assert next(left)["start"]
    with pytest.raises(TurnError, match="Another chat"):
        interpreter.chat("while it is held", display=False)
    Left(left)
    del left
    assert interpreter.responding
    assert interpreter.chat("second", display=False)[0]["content"] == "SECOND"
    held = interpreter.chat("third", stream=True, display=False)
    assert next(held)["start"]
    with pytest.raises(TurnError, match="Another chat"):
        next(interpreter.chat("fourth", stream=True, display=False))


@pytest.mark.usefixtures("uncollected")
def test_code_runs_although_the_stream_of_other_code_was_left(interpreter: OpenInterpreter) -> None:
    code = "import time\nprint('begun', flush=True)\ntime.sleep(600)"
    left = interpreter.computer.run("python", code, stream=True)
    # The text may come in pieces.
    assert any("begun" in text for text in accumulate(str(chunk.get("content", "")) for chunk in left))
    with ThreadPoolExecutor(1) as threads:
        # It waits while somebody still holds the stream.
        second = threads.submit(interpreter.computer.run, "python", "print('ran')")
        with pytest.raises(TimeoutError):
            second.result(0.5)
        Left(left)
        del left
        assert second.result(60)[0]["content"] == "ran\n"
