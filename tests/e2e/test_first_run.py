"""A newcomer's first start: three questions that can be skipped, whatever is or is not on the machine."""

import json
import os
from pathlib import Path

import pytest

from oi_tui import paths, profiles
from oi_tui.engine.credentials.keys import Secrets
from oi_tui.engine.open_interpreter import profiles as original_profiles
from oi_tui.runtimes.sandbox import sandbox
from tests.e2e.conftest import Start
from tests.e2e.program import Program, messages
from tests.servers.openai_server import Call, Exchange, ModelServer, Say, refused, spoken

WELCOME = "Welcome to oi-tui"
SAMPLE = "2 + 2 = 4, in "


def call(code: str) -> Call:
    return Call(json.dumps({"language": "python", "code": code}))


def nobody() -> dict[str, str]:
    """No server is where Ollama would be."""
    return {"OLLAMA_HOST": "127.0.0.1:9"}


def approve_the_sample(program: Program, theme: str = "enter") -> None:
    program.wait_for("harmless code", 60)
    program.answer("y")
    program.wait_for(SAMPLE)
    program.wait_for("you approved it")
    program.wait_for("Which theme")
    program.press(theme)
    program.wait_for("Nothing runs without your approval")
    if sandbox.explain_unavailable() is None:
        program.wait_for("%sandbox on also limits")


def approve_the_models(program: Program) -> None:
    """Say something to the model, and approve what it writes."""
    program.asked_first("make a file")
    program.answer("y")
    program.wait_for("It is there.", 60)


def test_with_nothing_at_all_the_demo_model_leads_to_an_approved_cell(start: Start) -> None:
    program = start("--no-auto-run", env=nobody(), rows=40)
    screen = program.wait_for("a script, not an AI", 60)
    assert WELCOME in screen
    program.press("enter")
    approve_the_sample(program)
    program.asked_first("break something")
    program.answer("y")
    program.wait_for("It failed as it should")


def test_with_only_ollama_its_model_is_chosen_already(start: Start, workplace: Path) -> None:
    replies = [
        spoken(call("open('made.txt', 'w').write('x')")),
        spoken(Say("It is there.")),
    ]

    def ollama(exchange: Exchange) -> None:
        if exchange.path.endswith("/api/tags"):
            refused(200, {"models": [{"name": "tiny:1b", "size": 1_200_000_000}]})(exchange)
        elif exchange.path.endswith("/api/show"):
            refused(200, {"model_info": {}, "capabilities": ["tools"]})(exchange)
        elif exchange.headers.get("content-length", "0") == "0":
            refused(404, {})(exchange)
        else:
            replies.pop(0)(exchange)

    with ModelServer(ollama, questions=True, strict=False) as server:
        program = start("--no-auto-run", env={"OLLAMA_HOST": f"127.0.0.1:{server.port}"}, rows=40)
        program.wait_for("> ollama/tiny:1b   Ollama, 1.2 GB", 60)
        program.press("enter")
        approve_the_sample(program)
        approve_the_models(program)
        assert (workplace / "made.txt").read_text() == "x"


def test_with_only_an_openai_key_its_model_is_chosen_already(start: Start, workplace: Path) -> None:
    with ModelServer(spoken(call("open('made.txt', 'w').write('x')")), spoken(Say("It is there."))) as server:
        environment = {"OPENAI_API_KEY": "sk-newcomer-0123456789", "OPENAI_BASE_URL": server.base}
        program = start("--no-auto-run", env={**nobody(), **environment}, rows=40)
        program.wait_for("> gpt-4o   OPENAI_API_KEY is set", 60)
        program.press("enter")
        approve_the_sample(program)
        approve_the_models(program)
        assert (workplace / "made.txt").read_text() == "x"
        assert server.exchange().headers["authorization"] == "Bearer sk-newcomer-0123456789"
        assert server.requests[0]["model"] == "gpt-4o"
        # The model is told nothing of the rehearsal, and neither is the disk.
        assert "2 + 2" not in json.dumps(server.requests)
    assert not [message for message in messages() if "2 + 2" in message["content"]]


def test_all_of_it_can_be_skipped_and_is_never_shown_again(start: Start) -> None:
    program = start("--no-auto-run", env=nobody())
    program.wait_for(WELCOME, 60)
    program.press("escape")
    program.wait_for("No model is set")
    program.asked()
    program.press("escape")
    program.wait_for("Which theme")
    program.press("escape")
    program.wait_for("Nothing runs without your approval")
    assert SAMPLE not in program.screen
    assert "oi-dark" not in program.screen
    program.press("ctrl+q")
    assert program.wait_exit() == 0
    assert messages() == []
    again = start("--no-auto-run", env=nobody())
    again.wait_for("No model is set", 60)
    again.wait_quiet()
    assert WELCOME not in again.screen
    again.say("!echo a console of $((40 + 2))")
    again.wait_for("a console of 42")
    again.say("%python print(6 * 7, 'by hand')")
    again.wait_for("42 by hand")


def test_colours_are_previewed_and_kept(start: Start) -> None:
    program = start("--no-auto-run", env=nobody())
    program.wait_for(WELCOME, 60)
    program.press("enter")
    program.wait_for("harmless code")
    program.answer("y")
    program.wait_for("> oi-dark")
    program.press("down")
    program.wait_for("> oi-light")
    program.press("enter")
    program.wait_for("Nothing runs without your approval")
    profile = Path(os.environ["OI_TUI_HOME"]) / "config" / "profiles" / "default.yaml"
    assert "\ntheme: oi-light" in profile.read_text()


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (["--demo"], {}),
        (["-m", "openai/x"], {}),
        (["-ab", "http://127.0.0.1:9/v1"], {}),
        (["--no-auto-run"], {"OI_TUI_MODEL": "openai/x"}),
        (["--plain"], {}),
    ],
)
def test_who_has_said_it_is_not_asked(
    start: Start, arguments: list[str], environment: dict[str, str]
) -> None:
    program = start(*arguments, env={**nobody(), **environment})
    program.wait_for(lambda screen: "ready" in screen or "plain mode" in screen, 60)
    program.wait_quiet()
    assert WELCOME not in program.screen


def test_a_home_that_cannot_be_written_to_is_not_asked_each_time(start: Start, tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    program = start("--no-auto-run", env={**nobody(), "OI_TUI_HOME": str(tmp_path / "home")})
    program.wait_for("No model is set", 60)
    assert WELCOME not in program.screen


def test_a_first_message_on_the_command_line_is_sent_at_once(start: Start) -> None:
    program = start("--demo", "break", "something")
    program.asked(60)
    assert "break something" in program.screen


def test_a_key_that_was_kept_before_is_a_model(start: Start) -> None:
    Secrets(keyring=lambda: None).save("OPENAI_API_KEY", "canary-0123456789")
    marker = paths.make_private(paths.state()) / "welcomed"
    marker.touch()
    program = start("--no-auto-run", env=nobody(), rows=60)
    program.wait_for("gpt-4o", 60)
    program.say("%info")
    program.wait_for("OPENAI_API_KEY is saved in", 60)
    assert "No model is set" not in program.screen
    assert "canary" not in program.screen


def test_what_open_interpreter_left_is_brought_in_with_one_key(start: Start) -> None:
    folder = original_profiles.find_folder()
    folder.mkdir(parents=True)
    (folder / "default.yaml").write_text("llm:\n  model: demo\nauto_run: true\n")
    program = start("--no-auto-run", env=nobody(), rows=40)
    screen = program.wait_for("It was found on this machine", 60)
    assert "Import your settings from Open Interpreter?" in screen
    assert "1 profile: default.yaml" in screen
    assert "without asking" in screen
    program.wait_for("y yes · n no")
    program.press("y")
    program.wait_for("Switched to profile oi-default; the model is demo", 60)
    # The flag counts more than the profile.
    program.wait_for("Done. Nothing runs without your approval")
    assert profiles.find_default_path().name == "oi-default.yaml"


def test_without_a_yes_nothing_is_brought_in(start: Start) -> None:
    folder = original_profiles.find_folder()
    folder.mkdir(parents=True)
    (folder / "default.yaml").write_text("llm:\n  model: demo\n")
    program = start("--no-auto-run", env=nobody(), rows=40)
    program.wait_for("It was found on this machine", 60)
    program.press("n")
    program.wait_for(WELCOME)
    assert not (paths.profiles() / "oi-default.yaml").exists()
