"""LiteLLM in its process: it talks to nobody but the model, prints nothing, and is loaded by nobody else."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from oi_tui.engine.llm.base import LlmError, Request, Text
from oi_tui.engine.llm.request import make_tool
from oi_tui.engine.llm.transport.client import ModelProcess
from tests.servers import openai_server as server
from tests.servers.openai_server import Call, ModelServer, Say
from tests.unit.conftest import environment

#: Writes down every address that the process connects to or looks up, from its first moment on.
SPY = """
import json, os, socket
log = os.open({log!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
def note(what, *words):
    os.write(log, (json.dumps([what, *map(str, words)]) + "\\n").encode())
note("started")
import sys
def hook(event, args):
    if event in ("socket.connect", "socket.sendto"):
        note("connect", args[1])
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        note("lookup", args[0])
sys.addaudithook(hook)
"""
LOCAL = ("127.0.0.1", "localhost", "::1", "None")


def spied(tmp_path: Path) -> tuple[dict[str, str], Path]:
    log = tmp_path / "spy.log"
    (tmp_path / "sitecustomize.py").write_text(SPY.format(log=str(log)))
    paths = [str(tmp_path), *(path for path in sys.path if path.endswith("site-packages"))]
    return {**environment(), "PYTHONPATH": ":".join(paths)}, log


@pytest.mark.slow
def test_nothing_but_the_model_is_talked_to_from_import_to_end(tmp_path: Path, served: ModelServer) -> None:
    variables, log = spied(tmp_path)
    asked = [{"role": "user", "content": "Hi"}]
    served.answer(
        server.spoken(Say("Look:"), Call('{"language":"python","code":"1"}')),
        server.spoken(Say("Done.")),
        server.error(401, "Incorrect API key"),
        server.error(500, "Oops"),
        server.broken_off(Say("words"), chunks=1, then=lambda exchange: exchange.hang()),
    )
    with closing(ModelProcess(variables)) as models:
        models.start()
        models.prepare("openai/gpt-4o", served.base)
        for model in ("gpt-4o", "claude-3-5-sonnet-20240620", "meta-llama/Llama-3-8B", "ollama/llama3.1"):
            models.facts(model, timeout=100)
            models.count(model, ["a few words"], timeout=100)
        for model in ("openai/gpt-4o", "openai/Llama-3-8B"):
            request = Request(
                model=model, messages=asked, tools=[make_tool(["python"])], api_base=served.base
            )
            list(models.reply(request))
        for _ in range(2):
            with pytest.raises(LlmError):
                list(models.reply(Request(model="openai/m", messages=asked, api_base=served.base)))
        reply = models.reply(Request(model="openai/m", messages=asked, api_base=served.base, timeout=20))
        served.exchange(4)
        reply.cancel()
        demo = models.reply(Request(model="demo", messages=asked))
        assert any(isinstance(delta, Text) for delta in demo)
    noted = [json.loads(line) for line in log.read_text().splitlines()]
    assert ["started"] in noted, "the spy was there"
    assert any(what == "connect" for what, *_ in noted), "and saw what there was to see"
    strange = [item for item in noted if item[0] != "started" and not any(name in item[1] for name in LOCAL)]
    assert strange == []


@pytest.mark.slow
def test_nothing_is_printed_and_no_environment_file_is_read(tmp_path: Path, served: ModelServer) -> None:
    served.answer(server.error(500, "Oops"))
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-planted\n")
    with closing(ModelProcess({**environment(), "HOME": str(tmp_path)})) as models:
        with pytest.raises(LlmError):
            list(models.reply(Request(model="openai/m", messages=[], api_base=served.base)))
        assert models.pid
        streams = [Path(f"/proc/{models.pid}/fd/{number}").readlink() for number in (0, 1, 2)]
        assert {str(stream) for stream in streams} == {"/dev/null"}
        assert "sk-planted" not in served.exchange().headers.get("authorization", "")


#: Prints the modules that a first reply still imports after a preparation.
FIRST_REPLY = """
import asyncio, dataclasses, os, sys
from oi_tui.engine.llm.base import Request
from oi_tui.engine.llm.transport.completion import CompletionCall
from oi_tui.engine.llm.transport.provider import QUIET, Provider

async def main(base):
    await provider.prepare("openai/m", base)
    before = set(sys.modules)
    request = Request(model="openai/m", messages=[{"role": "user", "content": "Hi"}], api_base=base)
    pieces = []
    await CompletionCall(provider, dataclasses.asdict(request), lambda **piece: pieces.append(piece)).run()
    assert any("text" in piece for piece in pieces), pieces
    print(*sorted(set(sys.modules) - before))

os.environ.update(QUIET)
provider = Provider()
asyncio.run(main(sys.argv[1]))
"""


@pytest.mark.slow
def test_a_prepared_process_imports_next_to_nothing_for_the_first_reply(served: ModelServer) -> None:
    served.answer(server.spoken(Say("Hello.")))
    command = [sys.executable, "-c", FIRST_REPLY, served.base]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=100, check=True)
    imported = done.stdout.split()
    assert len(served.requests) == 1, "the preparation asks nobody"
    assert not [name for name in imported if name.startswith(("openai", "anyio._backends"))]
    assert "tiktoken.load" not in imported, "the server reports its usage, so that no tokenizer is needed"
    assert len(imported) < 40, "without a preparation 470"


def test_the_process_is_modest_but_not_starved(models: ModelProcess) -> None:
    fields = Path(f"/proc/{models.pid}/stat").read_text().rpartition(")")[2].split()
    nice, own = int(fields[16]), int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[16])
    assert own < nice <= own + 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "broken", "says"),
    [
        ({}, "from pydantic import Odd", "cannot import name 'Odd' from 'pydantic'.*Install it again"),
        ({}, "def (", "SyntaxError: .*Install it again"),
        ({"SSL_CERT_FILE": "/etc/hostname"}, "", r"Correct or unset SSL_CERT_FILE \(/etc/hostname\)\."),
        ({"SSLKEYLOGFILE": "/none/x"}, "", r"FileNotFound.*Correct or unset SSLKEYLOGFILE \(/none/x\)\."),
    ],
    ids=["another library", "a broken file", "certificates", "a file for keys"],
)  # fmt: skip
def test_where_litellm_cannot_be_loaded_the_reason_is_told(
    tmp_path: Path, variables: dict[str, str], broken: str, says: str
) -> None:
    """The process ended without a word, and was started again four times."""
    if broken:
        (tmp_path / "litellm.py").write_text(broken + "\n")
        variables = {"PYTHONPATH": str(tmp_path)}
    asked = Request(model="demo", messages=[{"role": "user", "content": "Hi"}])
    with closing(ModelProcess({**environment(), **variables})) as models:
        models.prepare("demo", None)
        assert models.facts("demo") is None
        assert models.count("demo", ["a few words"]) is None
        with pytest.raises(
            LlmError, match=f"LiteLLM, which talks to models, cannot be loaded. {'.*'}{says}"
        ) as raised:
            list(models.reply(asked))
        assert (raised.value.info.kind, raised.value.info.retryable) == ("process", False)
        if broken:
            (tmp_path / "litellm.py").unlink()
            reply = models.reply(asked)
            with contextlib.suppress(LlmError):
                list(reply)
            assert any(isinstance(delta, Text) for delta in models.reply(asked)), "repaired, it is used"


def test_a_process_that_the_system_ends_is_told_with_its_likely_cause(
    served: ModelServer, quick_model: dict[str, str]
) -> None:
    served.answer(server.broken_off(Say("words"), chunks=3, then=lambda exchange: exchange.hang()))
    asked = [{"role": "user", "content": "Hi"}]
    with closing(ModelProcess(quick_model)) as models:
        reply = models.reply(Request(model="openai/m", messages=asked, api_base=served.base))
        deltas = iter(reply)
        assert any(isinstance(delta, Text) for delta in deltas)
        pid = models.pid
        assert pid
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(LlmError, match="ended by SIGKILL, as happens where memory runs out") as raised:
            list(deltas)
        assert raised.value.info.retryable


def test_where_the_process_cannot_be_started_only_a_request_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program ended, because what it loads ahead failed."""
    monkeypatch.setattr(sys, "executable", "/none/python")
    with closing(ModelProcess(environment())) as models:
        models.start()
        models.prepare("demo", None)
        assert models.facts("demo") is None
        assert models.count("demo", ["a few words"]) is None
        with pytest.raises(LlmError, match=r"could not be started .*'/none/python'") as raised:
            models.reply(Request(model="demo", messages=[{"role": "user", "content": "Hi"}]))
        assert raised.value.info.retryable
