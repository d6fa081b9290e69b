"""The choice of a model, by keys: what is found, the key that is missing, another model amid a "
"conversation."""

import json
import threading
from pathlib import Path

import pytest
from textual import events
from textual.widgets import Input, OptionList, Static

from oi_tui import paths
from oi_tui.engine.llm.base import Text
from oi_tui.engine.models import local_servers
from oi_tui.engine.models.local_servers import LocalModel
from oi_tui.screens.llamafile import LlamafileScreen
from oi_tui.screens.models import ModelsScreen
from tests.pilot.test_chat import ChatDriver, open_chat
from tests.servers.files import FileServer
from tests.unit.models.test_llamafile import STAND_IN

QWEN = LocalModel("LM Studio", "openai/qwen2.5-7b", "http://127.0.0.1:1234/v1", 4_700_000_000, 32_768)
LLAMA = LocalModel("Ollama", "ollama/llama3.1:latest", "http://127.0.0.1:11434")


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[LocalModel]:
    models: list[LocalModel] = []
    monkeypatch.setattr(local_servers, "find", lambda: models)
    return models


def read_screen(screen: ModelsScreen | LlamafileScreen) -> str:
    """All that the screen says."""
    shown = [str(item.render()) for item in screen.query(Static) if item.display]
    for item in screen.query(OptionList):
        shown += [str(option.prompt) for option in item.options]
    return "\n".join(shown)


async def models_of(at: ChatDriver, screen: type = ModelsScreen) -> ModelsScreen:
    await at.until(lambda: isinstance(at.app.screen, screen))
    return at.app.screen  # type: ignore[return-value]


async def test_how_to_get_a_server_going_is_reported_where_none_answers(found: list[LocalModel]) -> None:
    async with open_chat([Text("Hm.")]) as at:
        await at.type("%model")
        screen = await models_of(at)
        await at.until(lambda: screen.query_one("#models-hints").display)
        table = screen.query_one("#models-servers", Static)
        await at.until(lambda: table.size.height > 0)
        rows = [strip.text for strip in table.render_lines(table.size.region)]
        names = ["Ollama", "LM Studio", "llama.cpp", "Jan", "vLLM", "Llamafile"]
        assert [row[:9].strip() for row in rows if row[0] != " "] == names
        # What is wrapped stays in its column.
        assert len(rows) > len(names)
        assert all(row[9:11] == "  " and row[11] != " " for row in rows)


async def test_what_answers_is_offered_with_its_size_and_window_and_taken(found: list[LocalModel]) -> None:
    found += [QWEN, LLAMA]
    async with open_chat([Text("Hm.")]) as at:
        await at.type("%model")
        screen = await models_of(at)
        await at.until(lambda: "qwen2.5-7b" in read_screen(screen))
        assert "LM Studio, 4.7 GB, 32,768 tokens" in read_screen(screen)
        assert not screen.query_one("#models-hints").display
        options = screen.query_one(OptionList)
        options.highlighted = next(i for i, o in enumerate(options.options) if "qwen" in str(o.prompt))
        await at.pilot.press("enter")
        await at.until(lambda: at.workspace.profile.model == QWEN.model)
        assert at.workspace.profile.api_base == QWEN.api_base


async def test_letters_and_a_paste_at_the_list_go_into_the_field(found: list[LocalModel]) -> None:
    async with open_chat([Text("Hm.")]) as at:
        await at.type("%model")
        screen = await models_of(at)
        await at.until(lambda: screen.query_one(OptionList).has_focus)
        await at.pilot.press(*"openai/x")
        field = screen.query_one("#models-name", Input)
        assert (field.value, field.has_focus) == ("openai/x", True)
        field.value = ""
        screen.query_one(OptionList).focus()
        screen.query_one(OptionList).post_message(events.Paste("ollama/y\n"))
        await at.until(lambda: field.value == "ollama/y")


async def test_a_request_typed_at_the_list_of_models_is_not_taken_for_a_model(
    found: list[LocalModel],
) -> None:
    async with open_chat([Text("Hm.")]) as at:
        before = at.workspace.profile
        await at.type("%model")
        screen = await models_of(at)
        await at.until(lambda: screen.query_one(OptionList).has_focus)
        field = screen.query_one("#models-name", Input)
        for key in ("a", "space", "b"):
            screen.query_one(OptionList).focus()
            await at.pilot.press(key)
        assert field.value == "a b"
        await at.pilot.press("enter")
        await at.until(lambda: any("no spaces" in notice.message for notice in at.app._notifications))
        assert (at.app.screen, field.value, at.workspace.profile) == (screen, "a b", before)
        await at.pilot.press("slash", "c", "enter")
        assert (at.app.screen, field.value, at.workspace.profile) == (screen, "a b/c", before)


async def test_the_model_in_use_stands_first_and_enter_keeps_it(
    found: list[LocalModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-12345678")
    async with open_chat([Text("Hm.")], model="openai/mine", api_base="http://127.0.0.1:4177/v1") as at:
        before = at.workspace.profile
        await at.type("%model")
        screen = await models_of(at)
        first = str(screen.query_one(OptionList).options[0].prompt)
        assert "openai/mine" in first
        assert "in use" in first
        assert "http://127.0.0.1:4177/v1" in first
        await at.pilot.press("enter")
        await at.until(lambda: at.app.screen is not screen)
        assert at.workspace.profile == before


def is_in_conversation(at: ChatDriver, *sayings: str) -> bool:
    """Whether all of this stands in the conversation."""
    transcript = at.view.conversation.transcript
    rows = (row.plain for n in range(len(transcript.blocks)) for row in transcript.draw_block(n))
    text = " ".join(" ".join(rows).split())
    return all(saying in text for saying in sayings)


async def test_a_wrong_address_in_a_providers_variable_is_reported_when_it_begins_to_matter(
    found: list[LocalModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_BASE", "localhost:8000")
    monkeypatch.setenv("DEEPSEEK_API_BASE", "http://localhost:port")
    monkeypatch.setenv("DEEPSEEK_API_KEY", "sk-canary")
    async with open_chat([Text("Hm.")]) as at:
        await at.until(
            lambda: is_in_conversation(
                at, "variable OPENAI_API_BASE must be an address that begins with http://"
            )
        )
        await at.type("%model deepseek/deepseek-chat")
        await at.until(lambda: is_in_conversation(at, "DEEPSEEK_API_BASE must be an address with a port"))
        await at.type("hello")
        await at.until(lambda: is_in_conversation(at, "hello", "DEEPSEEK_API_BASE") and not at.view.busy)
        assert not at.llm.requests


async def test_a_missing_key_is_asked_for_in_a_masked_field_and_kept(found: list[LocalModel]) -> None:
    async with open_chat([Text("Hm.")]) as at:
        await at.type("%model anthropic/claude-sonnet-4-5")
        screen = await models_of(at)
        key = screen.query_one("#models-key", Input)
        await at.until(lambda: key.display and key.has_focus)
        assert key.password
        assert "ANTHROPIC_API_KEY" in read_screen(screen)
        await at.pilot.press("enter")
        assert at.app.screen is screen, "nothing was typed"
        key.value = " sk-canary-12345678 "
        await at.pilot.press("enter")
        await at.until(lambda: at.workspace.profile.model == "anthropic/claude-sonnet-4-5")
        assert at.workspace.secrets.key_for("anthropic/claude-sonnet-4-5") == "sk-canary-12345678"
        assert at.workspace.profile.api_key is None, "it is in no profile"


async def test_a_key_for_this_session_only_is_kept_nowhere(found: list[LocalModel]) -> None:
    async with open_chat([Text("Hm.")]) as at:
        await at.type("%model groq/llama-3.3-70b-versatile")
        screen = await models_of(at)
        key = screen.query_one("#models-key", Input)
        await at.until(lambda: key.has_focus)
        key.value = "gsk-canary-12345678"
        await at.pilot.press("ctrl+s")
        await at.until(lambda: at.workspace.profile.api_key == "gsk-canary-12345678")
        assert at.workspace.secrets.find("GROQ_API_KEY") is None
        home = Path(paths.config()).parent
        assert not [p for p in home.rglob("*") if p.is_file() and b"canary-12345678" in p.read_bytes()]
        await at.until(lambda: is_in_conversation(at, "The model is now groq/llama-3.3-70b-versatile."))
        await at.type("%model groq/llama-3.3-70b-versatile")
        await at.until(lambda: is_in_conversation(at, "The model is groq/llama-3.3-70b-versatile."))


async def test_escape_at_the_key_changes_nothing(found: list[LocalModel]) -> None:
    async with open_chat([Text("Hm.")]) as at:
        before = at.workspace.profile
        await at.type("%model")
        screen = await models_of(at)
        name = screen.query_one("#models-name", Input)
        name.value = "anthropic/claude-sonnet-4-5"
        name.focus()
        await at.pilot.press("enter")
        await at.until(lambda: screen.query_one("#models-key", Input).has_focus)
        await at.pilot.press("escape")
        assert screen.query_one(OptionList).has_focus
        await at.pilot.press("escape")
        await at.until(lambda: at.app.screen is not screen)
        assert at.workspace.profile == before


async def test_the_model_changes_amid_a_conversation_and_takes_no_key_along(found: list[LocalModel]) -> None:
    async with open_chat([Text("One.")], [Text("Two.")], api_key="sk-canary-12345678") as at:
        await at.type("first")
        await at.idle()
        await at.type("%model ollama/llama3.1")
        await at.until(lambda: at.workspace.profile.model == "ollama/llama3.1")
        await at.type("second")
        await at.until(lambda: len(at.llm.requests) == 2 and not at.view.busy)
        one, two = at.llm.requests
        assert (one.model, one.api_key) == ("openai/test", "sk-canary-12345678")
        assert (two.model, two.api_key) == ("ollama/llama3.1", None)
        assert "first" in json.dumps(list(two.messages)), "the conversation goes on"


@pytest.mark.parametrize(
    ("name", "base"),
    [("openai/other", "http://127.0.0.1:9/v1"), ("other", "http://127.0.0.1:9/v1"), ("ollama/x", None)],
)
async def test_a_named_model_keeps_the_base_of_its_own_provider_only(
    found: list[LocalModel], name: str, base: str | None
) -> None:
    async with open_chat(api_base="http://127.0.0.1:9/v1") as at:
        await at.type(f"%model {name}")
        await at.until(lambda: at.workspace.profile.model == name)
        assert at.workspace.profile.api_base == base


async def test_local_mode_takes_the_model_that_is_named_and_asks_for_one_otherwise(
    found: list[LocalModel],
) -> None:
    found += [QWEN, LLAMA]
    async with open_chat() as at:
        done = threading.Event()
        at.workspace.use(at.workspace.profile.with_changes(local=True))
        assert at.chat.commands.choosing.choose_local(done.set)
        screen = await models_of(at)
        await at.until(lambda: "qwen" in read_screen(screen))
        assert "gpt-4o" not in read_screen(screen)
        await at.pilot.press("escape")
        await at.until(lambda: at.app.screen is not screen)
        assert not done.is_set()

        at.workspace.use(at.workspace.profile.with_changes(model="llama3.1"))
        assert at.chat.commands.choosing.choose_local(done.set)
        await at.until(done.is_set)
        assert (at.workspace.profile.model, at.workspace.profile.api_base) == (LLAMA.model, LLAMA.api_base)
        assert not at.chat.commands.choosing.choose_local(done.set), "one is chosen now"


async def test_a_llamafile_is_downloaded_started_used_and_ended(found: list[LocalModel]) -> None:
    with FileServer(STAND_IN.encode()) as files:
        async with open_chat([Text("Hm.")]) as at:
            await at.type(f"%model {files.root}/tiny.llamafile#sha256={files.sha256}")
            await at.until(lambda: at.workspace.profile.model == "openai/tiny")
            await at.until(lambda: at.workspace.model.llamafile is not None)
            running = at.workspace.model.llamafile
            assert running is not None
            assert running.running
            assert at.workspace.profile.api_base == running.api_base
            await at.type("%model")
            screen = await models_of(at)
            assert "tiny.llamafile" in read_screen(screen), "it is offered the next time"
    at.workspace.close()
    assert not running.running


async def test_a_download_that_is_stopped_says_so_and_goes_on_later(found: list[LocalModel]) -> None:
    with FileServer(b"x" * 900_000) as files:
        files.flows.clear()
        async with open_chat([Text("Hm.")]) as at:
            await at.type(f"%model {files.root}/tiny.llamafile")
            await models_of(at, LlamafileScreen)
            await at.pilot.press("escape")
            files.flows.set()
            await at.until(lambda: not isinstance(at.app.screen, LlamafileScreen))
            assert at.workspace.model.llamafile is None
            assert at.workspace.profile.model == "openai/test"


@pytest.mark.parametrize(
    "name", ["http://127.0.0.1:1/x.llamafile", "http://127.0.0.1:1/x", "/nowhere.llamafile"]
)
async def test_a_llamafile_that_cannot_be_had_is_reported(
    found: list[LocalModel], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oi_tui.engine.models.download.ATTEMPTS", 1)
    async with open_chat([Text("Hm.")]) as at:
        reported: list[str] = []
        monkeypatch.setattr(at.chat.commands, "show_notice", lambda text, **_: reported.append(text))
        await at.type(f"%model {name}")
        await at.until(lambda: reported)
        assert "Could not" in reported[0] or "not the address" in reported[0]
        assert at.workspace.profile.model == "openai/test"
