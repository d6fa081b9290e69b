"""The key of the model in the screen of settings: where it is, and how it is kept and forgotten."""

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from oi_tui import paths
from oi_tui.engine.credentials.keys import Secrets
from oi_tui.engine.settings.profile import Profile, list_settings
from oi_tui.screens.confirm import ConfirmDialog
from tests.pilot.screens.test_profile_editor import Shell, chosen, go_to, open_editor
from tests.pilot.waiting import until

KEY = next(setting for setting in list_settings() if setting.name == "api_key")


@pytest.fixture
def path() -> Path:
    path = paths.profiles() / "default.yaml"
    paths.make_private(path.parent)
    path.write_text("llm.model: openai/x\n")
    return path


def read_key_help(app: Shell) -> str:
    return str(app.field("api_key").query_one(".field-help", Static).render())


async def yes(app: Shell, pilot: Pilot[None]) -> None:
    """Say yes to the question that is there."""
    question = app.screen
    assert isinstance(question, ConfirmDialog)
    await until(pilot, lambda: question.armed)
    await pilot.press("y")
    await until(pilot, lambda: app.screen is not question)


async def test_where_the_key_is_and_goes_to_is_reported_and_follows_the_model(path: Path) -> None:
    secrets = Secrets(environment={"MISTRAL_API_KEY": "canary-123"}, keyring=lambda: None)
    secrets.save("OPENAI_API_KEY", "canary-456")
    async with open_editor(path, secrets=secrets) as (app, pilot):
        await until(pilot, lambda: "OPENAI_API_KEY is saved in" in read_key_help(app))
        assert (
            "keys.json, which only you can read. f3 deletes it. An API key is looked for in the command line"
            in read_key_help(app)
        )
        app.field("model").set_original("mistral/y")
        await until(pilot, lambda: "MISTRAL_API_KEY comes from the environment." in read_key_help(app))
        app.field("model").set_original("groq/z")
        await until(
            pilot, lambda: "GROQ_API_KEY is not set; a key that you type is saved in" in read_key_help(app)
        )
        app.field("model").set_original("ollama/z")
        await until(pilot, lambda: "ollama needs no API key" in read_key_help(app))
        app.field("model").set_original("my-own")
        await until(pilot, lambda: "The provider of my-own is unknown" in read_key_help(app))
        assert "canary" not in read_key_help(app)


async def test_a_kept_key_is_forgotten_after_a_question(path: Path) -> None:
    secrets = Secrets(keyring=lambda: None)
    secrets.save("OPENAI_API_KEY", "canary-456")
    async with open_editor(path, secrets=secrets) as (app, pilot):
        await until(pilot, lambda: "is saved" in read_key_help(app))
        await chosen(app, pilot, "forget_key")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("n")
        await until(pilot, lambda: app.screen is app.editor)
        assert secrets.find("OPENAI_API_KEY") is not None
        await chosen(app, pilot, "forget_key")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await yes(app, pilot)
        await until(pilot, lambda: "Deleted OPENAI_API_KEY." in app.words("keys"))
        await until(pilot, lambda: "OPENAI_API_KEY is not set" in read_key_help(app))
        assert secrets.find("OPENAI_API_KEY") is None
        await pilot.press("escape")
        assert app.answers == [None]


async def test_a_key_that_was_typed_and_then_forgotten_is_used_no_longer(path: Path) -> None:
    secrets = Secrets(keyring=lambda: None)
    secrets.save("OPENAI_API_KEY", "canary-456")
    profile = Profile.load(path).with_changes("changed", api_key="canary-456")
    async with open_editor(path, profile, secrets=secrets) as (app, pilot):
        await until(pilot, lambda: "OPENAI_API_KEY is saved" in read_key_help(app))
        await chosen(app, pilot, "forget_key")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await yes(app, pilot)
        await until(pilot, lambda: "Deleted " in app.words("keys"))
        await pilot.press("escape")
        await until(pilot, lambda: bool(app.answers))
        assert app.answers[0] is not None
        assert app.answers[0].api_key is None


async def test_a_key_in_the_file_is_taken_out_of_it_and_kept(path: Path) -> None:
    path.write_text("# mine\nllm:\n  model: openai/x\n  api_key: canary-789  # secret\nloop: true\n")
    secrets = Secrets(keyring=lambda: None)
    async with open_editor(path, secrets=secrets) as (app, pilot):
        await until(pilot, lambda: "is in the profile's file" in read_key_help(app))
        await chosen(app, pilot, "keep_key")
        await until(pilot, lambda: bool(app.answers))
        assert app.answers[0] is not None
        assert app.answers[0].api_key == "canary-789"
    assert path.read_text() == "# mine\nllm:\n  model: openai/x\nloop: true\n"
    assert secrets.key_for("openai/x") == "canary-789"


@pytest.mark.parametrize("model", ["my-own", "ollama/x"])
async def test_a_key_without_a_name_is_used_and_written_nowhere(path: Path, model: str) -> None:
    path.write_text(f"llm.model: {model}\n")
    secrets = Secrets(keyring=lambda: None)
    async with open_editor(path, secrets=secrets) as (app, pilot):
        await go_to(app, pilot, KEY)
        await pilot.press(*"canary-321", "ctrl+s")
        await until(pilot, lambda: bool(app.answers))
        assert app.answers[0] is not None
        assert app.answers[0].api_key == "canary-321"
    assert path.read_text() == f"llm.model: {model}\n"
    assert not secrets.path.exists()


async def test_a_key_behind_another_one_is_reported_of(path: Path) -> None:
    secrets = Secrets(environment={"OPENAI_API_KEY": "canary-old"}, keyring=lambda: None)
    async with open_editor(path, secrets=secrets) as (app, pilot):
        await go_to(app, pilot, KEY)
        await pilot.press(*"canary-new", "ctrl+s")
        await until(pilot, lambda: bool(app.answers))
        text = " ".join(notification.message for notification in app._notifications)
    assert "the one in the environment takes precedence at the next start" in text
    assert "canary" not in text
