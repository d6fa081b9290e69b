"""Models through the whole program: stopped in the middle, waited for, shortened, chosen on this machine."""

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Start
from tests.e2e.program import Program
from tests.e2e.test_main_job import call, start_job
from tests.processes import wait_until
from tests.servers import openai_server as server
from tests.servers.openai_server import Answer, ModelServer, Say, spoken
from tests.servers.wires import OpenAi

HANGS: dict[str, tuple[Answer, str]] = {
    "before the headers": (server.silent, "Connecting to"),
    "in the words": (
        server.broken_off(Say("It begins. " * 3), chunks=12, then=lambda exchange: exchange.hang()),
        "It begins.",
    ),
    "in a call": (
        server.broken_off(call("print('never')\n" * 3), chunks=12, then=lambda exchange: exchange.hang()),
        "print(",
    ),
}


@pytest.mark.parametrize("where", HANGS)
def test_escape_stops_a_reply_and_closes_its_connection(start: Start, where: str) -> None:
    hang, seen = HANGS[where]
    with ModelServer(hang, spoken(Say("All good."))) as running:
        program = start_job(start, running)
        program.say("Begin")
        exchange = running.exchange()
        program.wait_for(seen)
        program.press("escape")
        assert exchange.client_gone.wait(40)
        program.idle()
        program.say("And now?")
        program.wait_for("All good.")
        assert [OpenAi().problem(request) for request in running.requests] == [None, None]


def test_a_wait_is_shown_and_escape_ends_it(start: Start) -> None:
    with ModelServer(server.error(429, "Slow down", Retry_After="45"), spoken(Say("All good."))) as running:
        program = start_job(start, running)
        program.say("Begin")
        program.wait_for(lambda screen: "Trying again in 45 s" in " ".join(screen.split()))
        program.press("escape")
        program.idle()
        assert len(running.requests) == 1
        program.say("And now?")
        program.wait_for("All good.")


def test_the_conversation_is_shortened_told_and_made_long_again(start: Start) -> None:
    with ModelServer(spoken(Say("An answer with many words. " * 40))) as running:
        program = start_job(start, running, "-c", "8000")
        for number, question in enumerate(("first question", "second question"), 1):
            program.say(question)
            assert wait_until(lambda number=number: len(running.requests) == number, 40)
            program.idle()
        running.answer(spoken(Say("The user asked twice.")))
        program.say("%compact")
        program.wait_for("The user asked twice.")
        program.wait_for("%compact undo")
        program.idle()
        running.answer(spoken(Say("Third answer.")))
        program.say("third question")
        program.wait_for("Third answer.")
        asked = json.dumps(running.requests[-1])
        assert "The user asked twice." in asked
        assert "first question" not in asked
        program.idle()
        program.say("%tokens")
        screen = program.wait_for("This session: 4 requests")
        assert "8,000 tokens (from the profile (context_window))" in screen
        program.idle()
        program.say("%compact undo")
        program.wait_for("Summary removed")
        before = len(running.requests)
        program.say("fourth question")
        assert wait_until(lambda: len(running.requests) > before, 40)
        program.idle()
        assert "first question" in json.dumps(running.requests[-1])


def test_an_image_that_a_message_names_goes_along(start: Start, workplace: Path) -> None:
    from PIL import Image

    Image.new("RGB", (8, 6), "red").save(workplace / "chart.png")
    with ModelServer(spoken(Say("A red one."))) as running:
        program = start_job(start, running, "--vision")
        program.say("What is in chart.png?")
        program.wait_for("A red one.")
        assert "data:image/png;base64," in json.dumps(running.requests[0])
        assert "chart.png" in program.screen


def test_local_mode_takes_a_model_that_ollama_serves_and_asks_it_what_it_can(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ollama(exchange: server.Exchange) -> None:
        if exchange.path == "/api/tags":
            server.refused(200, {"models": [{"name": "tiny:1b", "size": 1_200_000_000}]})(exchange)
        elif exchange.path == "/api/show":
            server.refused(200, {"model_info": {"llama.context_length": 4096}, "capabilities": ["tools"]})(
                exchange
            )
        else:
            spoken(Say("I run here."))(exchange)

    with ModelServer(ollama, questions=True, strict=False) as running:
        monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{running.port}")
        program: Program = start("--local", "-m", "tiny:1b")
        program.wait_for("The model is now ollama/tiny:1b", 30)
        program.say("Who are you?")
        program.wait_for("I run here.")
        [asked] = [item.request for item in running.exchanges if item.path == "/api/chat"]
        assert asked["options"]["num_ctx"] == 4096


def test_a_key_that_a_server_on_this_machine_wants_is_asked_for_once_and_used(start: Start) -> None:
    def guarded(exchange: server.Exchange) -> None:
        keys = {name.lower(): value for name, value in exchange.headers.items()}
        if keys.get("authorization") == "Bearer sk-of-this-server":
            spoken(Say("I know you."))(exchange)
        else:
            server.error(401, "Who are you?")(exchange)

    with ModelServer(guarded) as running:
        program = start("-m", "openai/a-model", "-ab", running.base)
        program.begin()
        program.say("Begin")
        program.wait_for("needs an API key")
        assert len(running.requests) == 1
        program.press("escape")
        program.wait_gone("needs an API key")
        program.wait_for("wants an API key, and none is set")
        program.wait_for("f2 changes the API key")
        program.press("enter")
        program.wait_for("needs an API key")
        program.send("sk-of-this-server")
        program.press("enter")
        program.wait_for("I know you.")
        assert len(running.requests) == 3
