"""Keys of providers: where they are kept, found and forgotten."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from oi_tui import paths
from oi_tui.engine.credentials import keys
from oi_tui.engine.credentials.keys import SecretError, Secrets, find_variable_name
from oi_tui.engine.credentials.redaction import redact
from oi_tui.engine.llm.base import LlmError, Request
from oi_tui.engine.llm.transport.client import ModelProcess
from tests.servers import openai_server as server


class Ring:
    """A keyring in memory."""

    name = "memory"

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, name: str) -> str | None:
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, value: str) -> None:
        self.kept[service, name] = value

    def delete_password(self, service: str, name: str) -> None:
        del self.kept[service, name]


class Broken(Ring):
    def get_password(self, service: str, name: str) -> str | None:
        raise RuntimeError("locked")

    set_password = get_password  # type: ignore[assignment]


def with_ring(ring: object, variables: dict[str, str] | None = None) -> Secrets:
    return Secrets(environment=variables or {}, keyring=lambda: ring)


def without_ring(variables: dict[str, str] | None = None) -> Secrets:
    return with_ring(None, variables)


@pytest.mark.parametrize(
    ("model", "base", "name"),
    [
        ("gpt-4o", None, "OPENAI_API_KEY"),
        ("o3-mini", None, "OPENAI_API_KEY"),
        ("claude-sonnet-4-5", None, "ANTHROPIC_API_KEY"),
        ("anthropic/claude-sonnet-4-5", None, "ANTHROPIC_API_KEY"),
        ("openrouter/openai/gpt-4o", None, "OPENROUTER_API_KEY"),
        ("together_ai/x", None, "TOGETHERAI_API_KEY"),
        ("perplexity/sonar", None, "PERPLEXITYAI_API_KEY"),
        ("fireworks_ai/x", None, "FIREWORKS_AI_API_KEY"),
        ("some-model", "http://localhost:8000/v1", "OPENAI_API_KEY@localhost:8000"),
        ("openai/x", "https://user:pw@Example.com/v1", "OPENAI_API_KEY@example.com"),
        ("azure/x", "https://me.openai.azure.com", "AZURE_API_KEY@me.openai.azure.com"),
        ("some-model", None, None),
        ("demo", None, None),
        ("ollama/llama3.1", None, None),
        ("ollama_chat/llama3.1", "http://localhost:11434", None),
        ("", None, None),
    ],
)
def test_a_key_is_named_after_its_variable_and_the_server_it_is_for(
    model: str, base: str | None, name: str | None
) -> None:
    assert find_variable_name(model, base) == name


def test_without_a_keyring_a_key_lies_in_a_file_for_its_owner_only() -> None:
    assert without_ring().save("X_API_KEY", " sk-canary-1 \n") == "file"
    path = paths.config() / "keys.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    found = without_ring().find("X_API_KEY")
    assert found is not None
    assert (found.value, found.origin) == ("sk-canary-1", "file")
    assert "sk-canary-1" not in repr(found)
    assert without_ring().forget("X_API_KEY")
    assert not without_ring().forget("X_API_KEY")
    assert without_ring().find("X_API_KEY") is None
    assert "canary" not in path.read_text()


def test_with_a_keyring_a_key_lies_there_and_no_longer_in_the_file() -> None:
    ring = Ring()
    without_ring().save("X_API_KEY", "old-canary")
    assert with_ring(ring).save("X_API_KEY", "sk-canary-2") == "keyring"
    assert ring.kept == {("oi-tui", "X_API_KEY"): "sk-canary-2"}
    assert "canary" not in (paths.config() / "keys.json").read_text()
    found = with_ring(ring).find("X_API_KEY")
    assert found is not None
    assert (found.value, found.origin) == ("sk-canary-2", "keyring")
    assert with_ring(ring).place() == "the system's keyring (memory)"
    assert with_ring(ring).forget("X_API_KEY")
    assert ring.kept == {}


def test_the_environment_comes_first_then_the_file_then_the_keyring() -> None:
    ring = Ring()
    without_ring().save("X_API_KEY", "from-file")
    ring.set_password("oi-tui", "X_API_KEY", "from-ring")
    variables = {"X_API_KEY": "from-environment"}
    reported = []
    for item in (with_ring(ring, variables), with_ring(ring)):
        found = item.find("X_API_KEY")
        reported.append(found and (found.origin, found.value))
    without_ring().forget("X_API_KEY")
    found = with_ring(ring).find("X_API_KEY")
    reported.append(found and (found.origin, found.value))
    assert reported == [("environment", "from-environment"), ("file", "from-file"), ("keyring", "from-ring")]


def test_other_names_of_a_variable_count_too() -> None:
    found = without_ring({"GOOGLE_API_KEY": "12345678"}).find("GEMINI_API_KEY")
    assert found is not None
    assert found.origin == "environment"


def test_a_key_for_one_server_is_never_sent_to_another() -> None:
    kept = without_ring()
    kept.save("OPENAI_API_KEY", "sk-for-openai")
    kept.save("OPENAI_API_KEY@mine:1", "sk-for-mine")
    assert kept.key_for("gpt-4o") == "sk-for-openai"
    assert kept.key_for("x", "http://mine:1/v1") == "sk-for-mine"
    assert kept.key_for("openai/x", "http://elsewhere/v1") is None
    assert kept.key_for("ollama/x", "http://elsewhere/v1") is None


def test_what_the_environment_holds_is_left_to_whoever_reads_it() -> None:
    assert without_ring({"OPENAI_API_KEY": "sk-environment"}).key_for("gpt-4o") is None


def test_a_keyring_that_fails_costs_the_file_nothing(caplog: pytest.LogCaptureFixture) -> None:
    kept = with_ring(Broken())
    assert kept.find("X_API_KEY") is None
    assert kept.save("X_API_KEY", "sk-canary-3") == "file"
    found = kept.find("X_API_KEY")
    assert found is not None
    assert found.origin == "file"
    assert "RuntimeError: locked" in caplog.text
    with pytest.raises(SecretError, match="locked"):
        kept.forget("X_API_KEY")


def test_a_keyring_that_takes_nothing_is_none() -> None:
    class Forgetful(Ring):
        def set_password(self, service: str, name: str, value: str) -> None:
            pass

    assert with_ring(Forgetful()).save("X_API_KEY", "sk-canary-4") == "file"


def test_a_new_key_replaces_one_in_a_keyring_that_takes_no_other() -> None:
    class ReadOnly(Ring):
        def set_password(self, service: str, name: str, value: str) -> None:
            raise RuntimeError("denied")

    ring = ReadOnly()
    ring.kept["oi-tui", "OPENAI_API_KEY"] = "sk-old-canary"
    kept = with_ring(ring)
    assert kept.key_for("gpt-4o") == "sk-old-canary"
    assert kept.save("OPENAI_API_KEY", "sk-new-canary") == "file"
    assert kept.key_for("gpt-4o") == "sk-new-canary"


def test_a_keyring_that_waits_for_ever_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()

    class Waiting(Ring):
        asked = 0

        def get_password(self, service: str, name: str) -> str | None:
            self.asked += 1
            release.wait(60)
            return None

    monkeypatch.setattr(keys, "TIMEOUT", 0.05)
    ring = Waiting()
    kept = with_ring(ring)
    try:
        assert [kept.find("X_API_KEY") for _ in range(2)] == [None, None]
        assert ring.asked == 1
        assert kept.save("X_API_KEY", "from-file") == "file"
        found = kept.find("X_API_KEY")
        assert found is not None
        assert found.value == "from-file"
        with pytest.raises(SecretError, match="did not answer before; try again after a restart"):
            kept.forget("X_API_KEY")
        assert kept.find("X_API_KEY") == found
    finally:
        release.set()


def test_an_older_key_in_a_file_that_cannot_be_written_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    without_ring().save("X_API_KEY", "old-canary")

    def refuse(_path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(keys.private_file, "edit", refuse)
    with pytest.raises(SecretError, match=r"The older API key in .* could not be deleted: "):
        with_ring(Ring()).save("X_API_KEY", "new-canary")


@pytest.mark.parametrize("bad", ["", "  ", "two\nlines", "esc\x1b[2J", "x" * 10_001])
def test_what_is_no_key_is_not_kept(bad: str) -> None:
    with pytest.raises(SecretError, match="one line of text"):
        without_ring().save("X_API_KEY", bad)
    assert not (paths.config() / "keys.json").exists()


def test_a_folder_that_cannot_be_written_is_named() -> None:
    paths.config().parent.mkdir(parents=True)
    paths.config().write_text("in the way")
    with pytest.raises(SecretError, match="The API key could not be saved: "):
        without_ring().save("X_API_KEY", "sk-canary-5")


@pytest.mark.parametrize("text", ["[]", "{", "\x00", '{"X_API_KEY": 5}', "[" * 50_000])
def test_a_damaged_file_of_keys_holds_none_and_is_not_written_over(text: str) -> None:
    path = paths.make_private(paths.config()) / "keys.json"
    path.write_text(text)
    path.chmod(0o600)
    assert without_ring().find("X_API_KEY") is None
    if text.startswith('{"'):
        return
    with pytest.raises(SecretError, match="damaged"):
        without_ring().save("X_API_KEY", "sk-canary-6")
    assert path.read_text() == text


def test_a_file_that_others_could_read_is_closed_and_one_they_could_write_is_refused() -> None:
    without_ring().save("X_API_KEY", "sk-canary-7")
    path = paths.config() / "keys.json"
    path.chmod(0o644)
    assert without_ring().find("X_API_KEY") is not None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o666)
    assert without_ring().find("X_API_KEY") is None


def test_pipes_and_links_are_no_files_of_keys(tmp_path: Path) -> None:
    path = paths.make_private(paths.config()) / "keys.json"
    os.mkfifo(path)
    assert without_ring().find("X_API_KEY") is None
    path.unlink()
    (tmp_path / "theirs").write_text('{"X_API_KEY": "theirs-canary"}')
    path.symlink_to(tmp_path / "theirs")
    assert without_ring().find("X_API_KEY") is None


def test_keys_kept_at_the_same_time_are_all_kept() -> None:
    code = (
        "import sys; from oi_tui.engine.credentials.keys import Secrets\n"
        "for n in range(10): Secrets(keyring=lambda: None).save(f'K{sys.argv[1]}_{n}', 'value-123')"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(number)]) for number in range(3)]
    assert [item.wait(60) for item in running] == [0, 0, 0]
    kept = without_ring()
    assert all(kept.find(f"K{number}_{n}") for number in range(3) for n in range(10))


def test_a_key_that_was_found_is_taken_out_of_errors() -> None:
    without_ring().save("X_API_KEY", "canary-kept-in-file")
    without_ring().find("X_API_KEY")
    assert redact("the server said canary-kept-in-file") == "the server said [key]"


@pytest.mark.slow
def test_a_kept_key_goes_with_the_request_and_is_not_in_its_error(quick_model: dict[str, str]) -> None:
    with (
        server.ModelServer(server.error(401, "bad key sent-canary-8")) as running,
        ModelProcess(quick_model, keys=lambda _model, _base: "sent-canary-8") as models,
    ):
        request = Request(
            model="openai/x", messages=[{"role": "user", "content": "hi"}], api_base=running.base
        )
        with pytest.raises(LlmError) as caught:
            list(models.reply(request))
        assert running.exchanges[-1].headers["authorization"] == "Bearer sent-canary-8"
    fault = caught.value.info
    assert fault.kind == "key"
    assert "sent-canary-8" not in fault.sentence + fault.detail
