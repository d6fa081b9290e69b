"""`%connect`: the password is asked for or found in the keyring, and is nowhere else."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui.actions.databases import DatabaseActions
from oi_tui.engine.credentials.keys import Secret
from oi_tui.engine.events import Event, RunReported
from oi_tui.input.history import PromptHistory
from oi_tui.messages import InputRequested, LineReached

ADDRESS = "postgresql://ana@db.example/shop"
ASKED = RunReported("1", InputRequested(f"Password for {ADDRESS}: ", masked=True))


class World:
    """The interface, the workspace, its session, computer and secrets at once, as far as they are used."""

    def __init__(self, *events: Event, secrets: dict[str, str] | None = None) -> None:
        self.events, self.kept = events, secrets or {}
        self.busy = False
        self.told: list[str] = []
        self.ran: list[tuple[str, str]] = []
        self.passed: list[Event] = []
        self.typed: list[str] = []
        self.session = self.computer = self.secrets = self

    def show_notice(self, text: str, *, warning: bool = False) -> None:
        self.told.append(text)

    def start(self, events: Iterator[Event]) -> None:
        self.passed += events

    def run(self, language: str, code: str) -> Iterator[Event]:
        self.ran.append((language, code))
        return iter(self.events)

    def explain_missing(self, language: str) -> str | None:
        return None

    def find(self, name: str) -> Secret | None:
        return Secret(name, self.kept[name], "keyring") if name in self.kept else None

    def send_input(self, text: str) -> None:
        self.typed.append(text)


def connect(world: World, argument: str) -> World:
    DatabaseActions(world, world).connect(argument)  # type: ignore[arg-type]
    return world


def test_the_kept_password_answers_the_question_once_and_for_this_address_only() -> None:
    line = RunReported("1", LineReached(1))
    world = connect(World(line, ASKED, ASKED, secrets={ADDRESS: "hunter2 hunter2"}), f"{ADDRESS} shop")
    assert world.ran == [("sql", f".connect {ADDRESS} shop")]
    assert world.typed == ["hunter2 hunter2\n"]
    # When it was wrong, the person is asked.
    assert world.passed == [line, ASKED]
    for other in (
        InputRequested("Password for x: ", masked=True),
        InputRequested(ASKED.report.prompt, masked=False),
    ):
        world = connect(World(RunReported("1", other), secrets={ADDRESS: "hunter2 hunter2"}), ADDRESS)
        assert world.typed == []
        assert world.passed == [RunReported("1", other)]


def test_without_a_kept_password_the_person_is_asked() -> None:
    world = connect(World(ASKED), ADDRESS)
    assert (world.passed, world.typed) == ([ASKED], [])


@pytest.mark.parametrize(
    ("argument", "code"), [("", ".databases"), ("shop.db", ".open shop.db"), (ADDRESS, f".connect {ADDRESS}")]
)
def test_what_is_done_is_a_cell_of_the_person(argument: str, code: str) -> None:
    assert connect(World(), argument).ran == [("sql", code)]


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("postgresql://ana:hunter2@db.example/shop", "Leave the password out of the address"),
        ("postgresql://ana@[db/shop", "The address is not valid"),
        ("a b c", "Type an address and a name of one word"),
        (f"{ADDRESS} two-words", "Type an address and a name of one word"),
        ("shop.db name", "A file needs no name"),
    ],
)
def test_what_cannot_be_connected_is_said(argument: str, words: str) -> None:
    world = connect(World(), argument)
    assert world.ran == []
    assert world.told[0].startswith(words)
    assert "hunter2" not in world.told[0]


def test_an_address_with_a_password_is_not_kept_in_the_history(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path / "history.jsonl")
    history.add("%connect postgresql://ana:hunter2@db.example/shop")
    history.add(f"%connect {ADDRESS}")
    assert history.load() == [f"%connect {ADDRESS}"]
