"""`interpreter.server` and `AsyncInterpreter`."""

from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")

import oi_tui
from oi_tui.engine.llm.base import ErrorInfo, Text
from tests.fakes import Llm, call
from tests.unit.server.conftest import Serve
from tests.unit.server.running import Running

COMPLETE = {"role": "server", "type": "status", "content": "complete"}
HELLO = {"type": "message", "content": "Hello"}


def interpreter(*replies: Any) -> Any:
    made: Any = oi_tui.AsyncInterpreter
    return made(llm=Llm(*replies), model="x", conversation_history=False)


def served(serve: Serve, hosted: Any) -> Running:
    return serve(app=hosted.server.app)


def test_an_interpreter_is_served_with_its_conversation(serve: Serve) -> None:
    with interpreter([call("print(6 * 7)")], [Text("It is 42.")]) as hosted:
        with served(serve, hosted).socket() as socket:
            socket.say(HELLO)
            socket.until(**COMPLETE)
            socket.send({"role": "user", "type": "command", "content": "go"})
            chunks = socket.until(**COMPLETE)
        assert "42" in "".join(str(c["content"]) for c in chunks if c.get("format") == "output")
        kinds = [message["type"] for message in hosted.messages]
        assert kinds == ["message", "code", "console", "message"]


def test_several_parts_and_a_failure(serve: Serve) -> None:
    with interpreter([ErrorInfo("auth", "The key is wrong.")], [Text("Hi.")]) as hosted:
        with served(serve, hosted).socket() as socket:
            socket.say(HELLO, {"type": "file", "content": "/tmp/x"})
            errors = [c["content"] for c in socket.until(**COMPLETE) if c["type"] == "error"]
            socket.say(HELLO)
            assert [c["content"] for c in socket.until(**COMPLETE) if c["type"] == "error"] == []
        assert [error.partition(".")[0] for error in errors] == ["The key is wrong"]
        assert [message["type"] for message in hosted.messages][:2] == ["message", "file"]


def test_settings_are_those_of_the_interpreter(serve: Serve) -> None:
    with interpreter() as hosted:
        hosted.llm.api_key = "sk-canary"
        running = serve(app=hosted.server.app, allow_settings=True)
        with running.http() as client:
            assert client.get("/settings/auto_run").json() == {"auto_run": False}
            assert client.get("/settings/llm.api_key").status_code == 404
            assert client.get("/settings/close").status_code == 404
            changed = client.post("/settings", json={"llm": {"temperature": 0.5}})
            assert changed.json() == {"status": "success"}
            talk = [{"role": "user", "type": "message", "content": "Hello"}]
            assert client.post("/settings", json={"messages": talk}).json() == {"status": "success"}
            assert hosted.messages == talk
            assert (
                client.post("/settings", json={"messages": [{"role": "king", "content": ""}]}).status_code
                == 400
            )
            assert client.post("/settings", json={"auto_run": True, "nothing": 1}).status_code == 404
        assert hosted.messages == talk
        assert (hosted.llm.temperature, hosted.auto_run) == (0.5, False)


def test_a_route_of_ones_own_needs_the_token_too(serve: Serve) -> None:
    with interpreter() as hosted:

        @hosted.server.app.get("/custom/{name}")
        async def custom(name: str) -> dict[str, str]:
            return {"message": f"This is {name}"}

        running = served(serve, hosted)
        with running.http() as client:
            assert client.get("/custom/mine").json() == {"message": "This is mine"}
            assert client.get("/custom/mine", headers={"Authorization": ""}).status_code == 401


def test_an_address_that_cannot_be_used_is_a_value_error() -> None:
    with interpreter() as hosted, pytest.raises(ValueError, match="--port must be between 0 and 65535"):
        hosted.server.run(port=70_000)


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.delitem(sys.modules, "oi_tui.api.server", raising=False)
    monkeypatch.delitem(sys.modules, "oi_tui.server.application", raising=False)
    monkeypatch.setitem(sys.modules, "starlette.routing", None)
    with interpreter() as hosted, pytest.raises(ImportError, match=r'pip install "oi-tui\[server\]"'):
        _ = hosted.server
