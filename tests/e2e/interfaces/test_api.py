"""The Python API: the original's chunks, from the real model process and real languages."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui import OpenInterpreter
from oi_tui.api.interpreter import TurnError


@pytest.fixture
def interpreter() -> Iterator[OpenInterpreter]:
    with OpenInterpreter() as made:
        made.llm.model = "demo"
        yield made


def kinds(chunks: list[dict]) -> list[str]:
    """Chunks as words, with repetitions left out."""
    words = []
    for chunk in chunks:
        flag = "start" if chunk.get("start") else "end" if chunk.get("end") else "content"
        word = f"{chunk['role']} {chunk['type']} {chunk.get('format') or ''} {flag}".replace("  ", " ")
        if not words or words[-1] != word:
            words.append(word)
    return words


def test_a_turn_comes_in_the_originals_order(interpreter: OpenInterpreter) -> None:
    chunks = list(interpreter.chat("break something", stream=True, display=False))
    words = kinds(chunks)
    first = words.index("assistant code python start")
    assert words[:first] == [
        "assistant message start",
        "assistant message content",
        "assistant message end",
    ]
    assert words[first : first + 5] == [
        "assistant code python start",
        "assistant code python content",
        "assistant code python end",
        "computer confirmation execution content",
        "computer console start",
    ]
    assert words[-1] == "assistant message end"
    console = words[first + 5 : words.index("computer console end")]
    assert set(console) <= {"computer console output content", "computer console active_line content"}
    assert console[-1] == "computer console active_line content"
    lines = [c["content"] for c in chunks if c.get("format") == "active_line"]
    assert None in lines


def test_every_start_has_its_end(interpreter: OpenInterpreter) -> None:
    depth = 0
    for chunk in interpreter.chat("plot something", stream=True, display=False):
        depth += bool(chunk.get("start")) - bool(chunk.get("end"))
        assert depth in (0, 1)
    assert depth == 0


def test_the_messages_are_the_chunks_put_together(interpreter: OpenInterpreter) -> None:
    chunks = list(interpreter.chat("break something", stream=True, display=False))
    text = "".join(c["content"] for c in chunks if c["type"] == "code" and "content" in c)
    assert interpreter.messages[0] == {"role": "user", "type": "message", "content": "break something"}
    assert "".join(m["content"] for m in interpreter.messages if m["type"] == "code") == text
    original = {"role", "type", "format", "content", "recipient"}
    ours = {"id", "parent", "state", "decision", "seconds", "reason", "call", "reply"}
    assert all(set(m) <= original | ours for m in interpreter.messages)


def test_closing_the_stream_at_the_question_rejects_the_code(interpreter: OpenInterpreter) -> None:
    stream = interpreter.chat("break something", stream=True, display=False)
    for chunk in stream:
        if chunk["type"] == "confirmation":
            stream.close()
    assert not [m for m in interpreter.messages if m["role"] == "computer"]
    assert interpreter.messages[-1]["type"] == "code"


def test_without_a_stream_the_new_messages_come_back(
    interpreter: OpenInterpreter, capsys: pytest.CaptureFixture[str]
) -> None:
    interpreter.auto_run = True
    messages = interpreter.chat("break something", display=False)
    assert messages == interpreter.messages[1:]
    assert capsys.readouterr().out == ""
    assert "Traceback" in "".join(m["content"] for m in messages if m["type"] == "console")


def test_a_model_that_cannot_be_reached_is_an_error_with_a_reason(interpreter: OpenInterpreter) -> None:
    interpreter.llm.model = "openai/nothing"
    interpreter.llm.api_base = "http://127.0.0.1:9/v1"
    interpreter.llm.api_key = "none"
    with pytest.raises(TurnError):
        interpreter.chat("hello", display=False)


def test_languages_run_without_a_model_and_remember(interpreter: OpenInterpreter) -> None:
    run = interpreter.computer.run
    assert [message["content"] for message in run("python", "x = 20")] == [""]
    assert run("py", "print(x + 1)") == [
        {"role": "computer", "type": "console", "format": "output", "content": "21\n"}
    ]
    words = kinds(list(run("python", "print(x)", stream=True)))
    assert words[0] == "computer console start"
    assert words[-2:] == ["computer console active_line content", "computer console end"]


def test_results_have_line_feeds_and_no_colours(interpreter: OpenInterpreter) -> None:
    code = "print('\\x1b[31mred\\x1b[0m')\nprint('10%', end='\\r')\nprint('20%')"
    [message] = interpreter.computer.run("python", code)
    assert message["content"] == "red\n10%\r20%\n"
    pieces = [item for item in interpreter.computer.run("python", code, stream=True) if "content" in item]
    assert "".join(piece["content"] for piece in pieces if piece["format"] == "output") == message["content"]
    interpreter.auto_run = True
    for message in interpreter.chat("break something", display=False):
        assert "\r" not in message["content"]


def test_an_unknown_language_is_named_with_those_that_there_are(interpreter: OpenInterpreter) -> None:
    with pytest.raises(ValueError, match=r"cobol.*python"):
        interpreter.computer.run("cobol", "x")


def test_reset_forgets_words_and_variables(interpreter: OpenInterpreter) -> None:
    interpreter.messages = [{"role": "user", "type": "message", "content": "hello"}]
    interpreter.computer.run("python", "x = 1")
    interpreter.reset()
    assert interpreter.messages == []
    assert "NameError" in interpreter.computer.run("python", "x")[0]["content"]


class Echo:
    """A language as Open Interpreter documents them."""

    name = "Echo"

    def run(self, code: str) -> Iterator[dict]:
        yield {"type": "console", "format": "output", "content": code}

    def stop(self) -> None: ...
    def terminate(self) -> None: ...


def test_languages_may_be_listed_added_and_replaced(interpreter: OpenInterpreter) -> None:
    computer = interpreter.computer
    assert {"python", "shell"} <= {item.name.lower() for item in computer.languages}
    computer.languages.append(Echo)
    assert computer.run("echo", "hello") == [
        {"role": "computer", "type": "console", "format": "output", "content": "hello"}
    ]
    assert computer.run("python", "x = 1; x")[0]["content"] == "1\n"
    computer.languages = [Echo]
    with pytest.raises(ValueError, match="Languages: echo"):
        computer.run("python", "1")
    computer.languages = (*computer.languages, *interpreter.computer.terminal.languages)
    computer.terminate()
    assert computer.run("Echo", "again", stream=False)[0]["content"] == "again"


def test_what_is_no_language_is_refused_at_once(interpreter: OpenInterpreter) -> None:
    with pytest.raises(TypeError, match="is not a language"):
        interpreter.computer.languages = [object()]


def test_running_with_display_prints_what_comes(
    interpreter: OpenInterpreter, capsys: pytest.CaptureFixture[str]
) -> None:
    messages = interpreter.computer.run("shell", "echo shown", display=True)
    assert [message["content"] for message in messages] == ["shown\n"]
    assert "shown" in capsys.readouterr().out
    chunks = list(interpreter.computer.run("shell", "echo", stream=True, display=True))
    assert chunks[0] == {"role": "computer", "type": "console", "start": True}


def test_a_missing_language_says_how_to_get_it(interpreter: OpenInterpreter) -> None:
    with pytest.raises(ValueError, match="AppleScript is not installed"):
        interpreter.computer.run("applescript", "beep")


@pytest.mark.parametrize(
    ("language", "code", "printed"),
    [
        ("py", "print(6 * 7)", "42"),
        ("bash", "echo $((6 * 7))", "42"),
        ("js", "6 * 7", "42"),
        ("rb", "puts 6 * 7", "42"),
        ("perl", "print 6 * 7", "42"),
        ("lua", "print(6 * 7)", "42"),
        ("R", "6 * 7", "42"),
        ("html", "<p>42", "Saved as"),
    ],
)
def test_every_language_runs_by_the_names_that_models_use(
    interpreter: OpenInterpreter, language: str, code: str, printed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    name = interpreter.computer.runtimes.resolve(language)
    assert name
    if why := interpreter.computer.runtimes.explain_missing(name):
        assert "Install" in why
        return
    assert printed in "".join(
        item["content"] for item in interpreter.computer.run(language, code) if item["type"] == "console"
    )


def test_a_language_that_does_not_start_says_why(
    interpreter: OpenInterpreter, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PYTHONHOME", str(tmp_path))
    [said] = interpreter.computer.run("python", "print(1)")
    assert said["content"] == "Python did not start: ModuleNotFoundError: No module named 'encodings'\n"
    monkeypatch.delenv("PYTHONHOME")
    assert interpreter.computer.run("python", "print(1)")[0]["content"] == "1\n"


def test_a_language_that_dies_says_so_and_runs_again(interpreter: OpenInterpreter) -> None:
    messages = interpreter.computer.run("python", "import os; os._exit(7)")
    assert "exit status 7" in messages[-1]["content"]
    assert interpreter.computer.run("python", "1")[0]["content"] == "1\n"
