"""A reply of 200,000 tokens through the program: keys are answered, escape ends it, memory is bounded."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import processes
from tests.e2e.conftest import Start
from tests.e2e.program import messages
from tests.e2e.test_main_job import start_job
from tests.servers.openai_server import Exchange, ModelServer
from tests.servers.wires import OpenAi

SOAK = bool(os.environ.get("OI_TUI_SOAK"))
#: Each is two tokens, more or less.
WORDS = 100_000
#: So many come in a chunk. LiteLLM takes a third of a millisecond for a chunk, however small it is.
TOGETHER = 1 if SOAK else 100
#: How much all processes together may grow from one part of the reply to its end, in bytes.
GROWTH = 150_000_000


class Torrent:
    """Says all words as fast as they are taken, then one after the other until the client goes away."""

    def __init__(self) -> None:
        self.given = 0

    def _pieces(self) -> Iterator[str]:
        while True:
            count = TOGETHER if self.given < WORDS else 1
            numbers = range(self.given, self.given + count)
            self.given += count
            yield "".join(f"w{n}\n\n" if n % 40 == 39 else f"w{n} " for n in numbers)

    def __call__(self, exchange: Exchange) -> None:
        chunk = OpenAi().chunk
        exchange.head()
        for piece in self._pieces():
            try:
                exchange.send(chunk({"content": piece}))
            except OSError:
                exchange.client_gone.set()
                return
            if self.given > WORDS and exchange.stopping.wait(0.01):
                return


def taken() -> int:
    """How much memory the program and its processes have now, in bytes."""
    pages = 0
    for item in processes.marked(os.environ[processes.MARK]):
        try:
            pages += int(Path(f"/proc/{item.pid}/statm").read_text().split()[1])
        except (OSError, IndexError):  # gone meanwhile
            continue
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.soak
@pytest.mark.timeout(1800 if SOAK else 180)
def test_keys_are_answered_while_it_streams_and_escape_ends_it(start: Start, figures: dict[str, int]) -> None:
    torrent = Torrent()
    with ModelServer(torrent) as server:
        program = start_job(start, server)

        def newest(screen: str) -> int:
            words = (word for word in screen.split() if word[:1] == "w")
            return max((int(word[1:]) for word in words if word[1:].isdigit()), default=-1)

        program.say("go on")
        memory: list[int] = []
        for part, key in enumerate("αβγδ"):
            program.wait_for(lambda screen, part=part: newest(screen) >= part * WORDS // 3, 1200)
            memory.append(taken())
            program.press(key)
            program.wait_for(lambda screen, part=part: f"> {'αβγδ'[: part + 1]}" in screen)
        exchange = server.exchange()
        assert not exchange.client_gone.is_set()
        program.press("escape")
        program.idle()
        assert exchange.client_gone.wait(40)
        figures["bytes grown"] = memory[-1] - memory[0]
        assert memory[-1] - memory[0] < GROWTH
    reply = next(message["content"] for message in messages() if message["role"] == "assistant")
    assert reply.startswith("w0 w1 ")
    assert f" w{WORDS - 2} w{WORDS - 1}\n" in reply
