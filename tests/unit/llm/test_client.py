"""The model process, over HTTP with a server on 127.0.0.1."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from time import monotonic

import pytest

from oi_tui.engine.llm import errors
from oi_tui.engine.llm.base import (
    Delta,
    ErrorInfo,
    Finish,
    LlmError,
    Reasoning,
    Reply,
    Request,
    Text,
    ToolCallPiece,
    Usage,
)
from oi_tui.engine.llm.transport import child
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.models.model_info import ModelInfo
from tests import processes
from tests.servers import openai_server as server
from tests.servers.openai_server import Call, ModelServer, Say, Think
from tests.unit.conftest import environment

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]


def request(base: str, **changes: object) -> Request:
    values = {
        "model": "openai/m",
        "messages": [{"role": "user", "content": "Hi"}],
        "api_base": base,
        "timeout": 20.0,
    }
    return Request(**{**values, **changes})  # type: ignore[arg-type]


def join_text(deltas: list[Delta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, Text))


def broken(reply: Reply) -> tuple[list[Delta], ErrorInfo]:
    """What came of a reply before it broke off, and why it did."""
    deltas: list[Delta] = []
    try:
        for delta in reply:
            deltas.append(delta)
    except LlmError as error:
        return deltas, error.info
    raise AssertionError(f"no fault, but {deltas}")


def test_words_arrive_in_pieces_and_usage_at_the_end(models: ModelProcess, served: ModelServer) -> None:
    deltas = list(models.reply(request(served.base)))
    assert [d for d in deltas if isinstance(d, Text)] == [Text("Hell"), Text("o th"), Text("ere")]
    assert [d for d in deltas if isinstance(d, Usage)] == [Usage(11, 7, None)]
    assert Finish("stop") in deltas


def test_a_request_says_all_that_it_was_given(models: ModelProcess, served: ModelServer) -> None:
    tool = {"type": "function", "function": {"name": "execute", "parameters": {"type": "object"}}}
    list(
        models.reply(
            request(served.base, tools=[tool], temperature=0.0, max_tokens=99, api_key="sk-canary-7")
        )
    )
    asked = served.exchange()
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == "Bearer sk-canary-7"
    assert asked.request["tools"] == [tool]
    assert asked.request["temperature"] == 0
    assert asked.request["max_tokens"] == 99
    assert asked.request["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize("name", ["llama", "meta-llama/Llama-3-8B", "gpt-4o"])
def test_a_name_without_a_provider_is_taken_for_a_server_like_openais(
    models: ModelProcess, served: ModelServer, name: str
) -> None:
    assert join_text(list(models.reply(request(served.base, model=name)))) == "Hello there"
    assert served.exchange().request["model"] == name


def test_a_call_arrives_in_pieces(models: ModelProcess, served: ModelServer) -> None:
    served.answer(server.spoken(Say("Look:"), Call('{"language":"shell","code":"ls"}'), size=9))
    deltas = list(models.reply(request(served.base)))
    calls = [d for d in deltas if isinstance(d, ToolCallPiece)]
    assert calls[0] == ToolCallPiece(0, "call_1", "execute", "")
    assert "".join(d.arguments for d in calls) == '{"language":"shell","code":"ls"}'
    assert len(calls) > 3


def test_thoughts_arrive_as_thoughts(models: ModelProcess, served: ModelServer) -> None:
    served.answer(server.spoken(Think("Hmm, well"), Say("Yes")))
    deltas = list(models.reply(request(served.base)))
    assert "".join(d.text for d in deltas if isinstance(d, Reasoning)) == "Hmm, well"
    assert join_text(deltas) == "Yes"


def test_odd_characters_come_through(models: ModelProcess, served: ModelServer) -> None:
    odd = "a\0b \x1b[2J \u202e \ud83d é 🐎 \u2028 </s>"
    served.answer(server.deltas({"content": odd}))
    assert join_text(list(models.reply(request(served.base)))) == odd


def test_replies_at_the_same_time_are_not_mixed_up(models: ModelProcess, served: ModelServer) -> None:
    def echo(exchange: server.Exchange) -> None:
        words = exchange.request["messages"][0]["content"]
        server.spoken(Say(f"{words}:" + words * 50))(exchange)

    served.answer(echo)
    replies = {
        str(n): models.reply(request(served.base, messages=[{"role": "user", "content": str(n)}]))
        for n in range(12)
    }
    heard = {name: join_text(list(reply)) for name, reply in replies.items()}
    assert heard == {name: f"{name}:" + name * 50 for name in replies}


HANGS = {
    "before the headers": server.silent,
    "after the headers": server.broken_off(chunks=0, then=lambda exchange: exchange.hang()),
    "in the middle": server.broken_off(Say("word " * 20), chunks=9, then=lambda exchange: exchange.hang()),
    "in a call": server.broken_off(
        Call('{"language":"python"}'), chunks=4, then=lambda exchange: exchange.hang()
    ),
}


@pytest.mark.parametrize("where", HANGS)
def test_cancelling_ends_a_reply_at_once_and_closes_its_connection(
    models: ModelProcess, served: ModelServer, where: str
) -> None:
    served.answer(HANGS[where])
    reply = models.reply(request(served.base))
    came: list[Delta] = []
    ended = threading.Event()

    def read() -> None:
        came.extend(reply)
        ended.set()

    thread = threading.Thread(target=read)
    thread.start()
    exchange = served.exchange()
    assert processes.wait_until(lambda: where not in ("in the middle", "in a call") or len(came) > 2, 40)
    reply.cancel()
    assert ended.wait(40)
    assert exchange.client_gone.wait(40)
    thread.join()


def test_cancelling_twice_or_too_late_does_nothing(models: ModelProcess, served: ModelServer) -> None:
    reply = models.reply(request(served.base))
    assert join_text(list(reply)) == "Hello there"
    reply.cancel()
    reply.cancel()
    assert list(reply) == []


@pytest.mark.parametrize("where", ["before the headers", "in the middle"])
def test_silence_is_a_timeout_of_the_length_that_was_set(
    models: ModelProcess, served: ModelServer, where: str
) -> None:
    served.answer(server.spoken(Say("Hello")), HANGS[where])
    # Libraries that a first request loads are loaded, and a busy machine gets time to read the first words.
    list(models.reply(request(served.base)))
    limit = 3.0 if where == "in the middle" else 1.0
    began = monotonic()
    deltas, fault = broken(models.reply(request(served.base, timeout=limit)))
    assert limit - 0.1 < monotonic() - began < 40
    assert (fault.kind, fault.setting, fault.retryable) == ("timeout", "timeout", True)
    assert bool(join_text(deltas)) == (where == "in the middle")
    assert served.exchange(1).client_gone.wait(40)


def test_a_slow_reply_is_no_timeout(models: ModelProcess, served: ModelServer) -> None:
    def drip(exchange: server.Exchange) -> None:
        exchange.head()
        for data in exchange.wire.body([Say("0123456789")], 2):
            exchange.send(data)
            exchange.stopping.wait(0.25)
        exchange.end()

    served.answer(drip)
    assert join_text(list(models.reply(request(served.base, timeout=2.0)))) == "0123456789"


def test_a_long_reply_costs_the_same_at_its_end_as_at_its_start(
    models: ModelProcess, served: ModelServer
) -> None:
    served.answer(server.spoken(Say("word" * 4000)))
    times = [monotonic()]
    for number, _ in enumerate(models.reply(request(served.base))):
        if number % 1000 == 999:
            times.append(monotonic())
    spans = [after - before for before, after in pairwise(times)]
    assert len(spans) == 4
    assert spans[-1] < 3 * min(spans) + 0.1


def test_the_demo_model_answers_through_the_same_way(models: ModelProcess) -> None:
    deltas = list(models.reply(request("", model="demo", api_base=None)))
    assert join_text(deltas).strip()
    assert [d.cost for d in deltas if isinstance(d, Usage)] == [0.0]


def test_what_is_known_of_a_model_is_reported_and_nothing_is_made_up(models: ModelProcess) -> None:
    known = models.facts("gpt-4o", timeout=20)
    assert (known.context_window, known.max_output) == (128_000, 16_384)
    assert known.supports_functions is True
    assert known.supports_vision is True
    assert models.facts("openai/never-heard-of", timeout=20) == ModelInfo()


def test_costs_are_those_of_the_model(models: ModelProcess, served: ModelServer) -> None:
    deltas = list(models.reply(request(served.base, model="openai/gpt-4o")))
    [usage] = [d for d in deltas if isinstance(d, Usage)]
    assert usage.cost == pytest.approx(11 * 2.5e-6 + 7 * 1e-5)


@pytest.mark.slow
def test_a_process_that_dies_is_a_fault_and_the_next_reply_starts_another(served: ModelServer) -> None:
    served.answer(HANGS["in the middle"], server.spoken(Say("Back")))
    with closing(ModelProcess(environment())) as models:
        reply = models.reply(request(served.base))
        stream = iter(reply)
        # On a busy machine, it is said that the server takes its time before the first word comes.
        next(delta for delta in stream if join_text([delta]))
        assert models.pid
        os.kill(models.pid, signal.SIGKILL)
        with pytest.raises(LlmError) as raised:
            list(stream)
        assert raised.value.info.kind == "process"
        assert raised.value.info.retryable
        assert join_text(list(models.reply(request(served.base)))) == "Back"
    assert models.pid is None


@pytest.mark.parametrize(
    ("boot", "words"),
    [
        (
            "raise MemoryError('{}')",
            "ended unexpectedly as it began: the system refused memory. A limit is too low",
        ),
        ('raise RuntimeError("can\'t start new thread {}")', "the system refused another thread."),
        (
            (
                "import json, sys; lines = sys.stdin; next(lines); order = json.loads(next(lines)); "
                "order['do'] != 'facts' or print(json.dumps(dict(id=order['id'], facts=None)), flush=True); "
                "raise MemoryError('{}')"
            ),
            "as it began: the system refused memory.",
        ),
        ("raise SystemExit('{}: no such thing')", "as it began: llm.transport.process: no such thing."),
        (
            "import os, signal; '{}'; os.kill(os.getpid(), signal.SIGSEGV)",
            "was ended by signal 11 as it began.",
        ),
    ],
)
def test_a_process_that_cannot_begin_says_why_and_is_not_tried_again(
    boot: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "_BOOT", boot)
    with closing(ModelProcess(environment())) as models:
        assert models.facts("gpt-4o", timeout=40) is None
        _, fault = broken(models.reply(request("http://127.0.0.1:9")))
    assert fault.kind == "process"
    assert words in fault.sentence
    assert not fault.retryable


def test_litellm_that_is_refused_memory_names_the_limit_and_not_its_installation() -> None:
    fault = errors.explain_import_failed(ImportError("x.so: failed to map segment from shared object"))
    assert "the system refused memory. A limit is too low" in fault.sentence
    assert "pip install" not in fault.sentence
    assert "pip install" in errors.explain_import_failed(ImportError("No module named 'x'")).sentence


def test_a_process_that_hangs_can_be_cancelled_and_closed(served: ModelServer) -> None:
    with closing(ModelProcess(environment())) as models:
        reply = models.reply(request(served.base))
        pid = models.pid
        assert pid
        os.kill(pid, signal.SIGSTOP)
        ended = threading.Event()
        thread = threading.Thread(target=lambda: (list(reply), ended.set()))
        thread.start()
        large = models.reply(request(served.base, messages=[{"role": "user", "content": "x" * 3_000_000}]))
        reply.cancel()
        assert ended.wait(40)
        thread.join()
        large.cancel()
        assert models.facts("gpt-4o", timeout=0.1) is None
    assert not Path(f"/proc/{pid}").exists()


def test_the_process_ends_with_its_parent(tmp_path: Path) -> None:
    program = (
        "from oi_tui.engine.llm.transport.client import ModelProcess; import time\n"
        "models = ModelProcess(); models.start(); print(models.pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        assert Path(f"/proc/{child}").exists()
        parent.kill()
    assert processes.wait_until(lambda: not Path(f"/proc/{child}").exists(), 40)


@pytest.mark.slow
def test_nothing_of_the_working_directory_is_imported_or_loaded_and_no_key_is_in_the_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: ModelServer
) -> None:
    canary = tmp_path / "canary"
    for name in ("litellm", "sitecustomize", "json", "httpx", "openai", "oi_tui"):
        (tmp_path / f"{name}.py").write_text(f"open({str(canary)!r}, 'w')")
    (tmp_path / ".env").write_text(f"OPENAI_API_BASE={served.root}/evil\nOPENAI_API_KEY=sk-planted\n")
    monkeypatch.chdir(tmp_path)
    with closing(ModelProcess({**environment(), "HOME": str(tmp_path)})) as models:
        reply = models.reply(request(served.base, api_key="sk-canary-9"))
        arguments = Path(f"/proc/{models.pid}/cmdline").read_bytes()
        assert join_text(list(reply)) == "Hello there"
        _, fault = broken(models.reply(request(served.base, model="gpt-4o", api_base=None)))
        assert fault.kind == "no_key"
    assert b"canary" not in arguments
    assert not canary.exists()
    assert len(served.exchanges) == 1


def test_a_process_that_was_started_ahead_serves_whoever_asks_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "_count_processors", lambda: 2)
    with child.start_ahead(), ModelProcess() as first, ModelProcess() as second:
        ahead = child._ahead.get_nowait()
        child._ahead.put(ahead)
        first.start()
        second.start()
        assert first.pid == ahead.process.pid != second.pid
    assert ahead.process.poll() is not None


def test_a_process_that_was_started_ahead_and_not_used_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "_count_processors", lambda: 2)
    with child.start_ahead():
        ahead = child._ahead.get_nowait()
        child._ahead.put(ahead)
    assert ahead.process.poll() is not None


def test_on_a_single_processor_nothing_competes_with_the_first_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "_count_processors", lambda: 1)
    with child.start_ahead():
        assert child._ahead.empty()
