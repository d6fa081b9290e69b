"""What the tests of models share: one process that talks to them, and a server for it to talk to."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui.engine.llm.transport.client import ModelProcess
from tests.quick_starts import fork_server
from tests.servers import openai_server as server


def environment() -> dict[str, str]:
    """What a model process needs of ours, and no key."""
    kept = ("PATH", "LANG", "LC_ALL")
    return {
        "OI_TUI_DEMO_TOKENS_PER_SECOND": "0",
        **{name: os.environ[name] for name in kept if name in os.environ},
    }


@pytest.fixture(scope="session")
def models() -> Iterator[ModelProcess]:
    """One process for all tests of a worker, because importing LiteLLM takes seconds."""
    with ModelProcess(environment()) as process:
        process.start()
        process.facts("gpt-4o", timeout=100)
        yield process


@pytest.fixture
def quick_model(models_at: Path) -> dict[str, str]:
    """The environment of a model process that starts at once: for tests of what it does, not of its start."""
    return {**environment(), **fork_server.variables(fork_server.MODELS, models_at)}


@pytest.fixture
def served() -> Iterator[server.ModelServer]:
    """A server that says "Hello there" until it is told otherwise."""
    with server.ModelServer(server.spoken(server.Say("Hello there"))) as running:
        yield running
