"""How long a stop takes until the stream has ended and the connection is closed, measured in one run.

Run as `python -m tests.benchmarks.stopping [TIMES]` (20 unless told otherwise). A server in this process
streams for ever over loopback; the session is interrupted from another thread, as Escape does it. `turn` is
until the turn has told its end, `connection` until the server has seen the client go. Both are in
milliseconds; the bounds of the product are 200 and 250.
"""

import json
import statistics
import sys
import threading
import time

from oi_tui.engine.events import MessageGrew
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.session import Session
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage.store import Store
from tests.fakes import Computer
from tests.servers.openai_server import Answer, Exchange, ModelServer
from tests.servers.wires import OpenAi


def endless(exchange: Exchange) -> None:
    """A reply that goes on until nobody listens."""
    exchange.head()
    data = OpenAi().chunk({"content": "word "})
    while not exchange.stopping.is_set():
        exchange.send(data)
        time.sleep(0.004)


def hanging(exchange: Exchange) -> None:
    """A reply that stops in the middle and stays open."""
    exchange.head()
    exchange.send(OpenAi().chunk({"content": "word "}))
    exchange.hang()


def once(models: ModelProcess, served: ModelServer, answer: Answer) -> tuple[float, float]:
    """One stop: until the turn is over, and until the connection is closed."""
    served.answer(answer)
    session = Session(
        Profile(model="openai/m", api_base=served.base),
        models,
        Computer(),
        Store.create_unsaved(cwd="/", model="m"),
    )
    began: list[float] = []

    def stop() -> None:
        time.sleep(0.2)
        began.append(time.monotonic())
        session.interrupt()

    thread: threading.Thread | None = None
    for event in session.turn("go"):
        if thread is None and isinstance(event, MessageGrew):
            thread = threading.Thread(target=stop)
            thread.start()
    ended = time.monotonic()
    exchange = served.exchange()
    assert exchange.client_gone.wait(10), "the connection stays open"
    gone = time.monotonic()
    assert thread is not None
    thread.join()
    return (ended - began[0]) * 1000, (gone - began[0]) * 1000


def measure(times: int) -> dict[str, object]:
    """Middle and worst of each, in milliseconds."""
    figures: dict[str, object] = {"times": times}
    with ModelProcess() as models:
        models.facts("gpt-4o", timeout=100)
        for name, answer in (("streaming", endless), ("hanging", hanging)):
            with ModelServer(answer) as served:
                pairs = [once(models, served, answer) for _ in range(times)]
            for part, values in zip(("turn", "connection"), zip(*pairs, strict=True), strict=True):
                figures[f"{name}, {part}, ms"] = {
                    "median": round(statistics.median(values), 1),
                    "worst": round(max(values), 1),
                }
    return figures


def main() -> None:
    """Measure, and write the figures."""
    print(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 20), indent=1))


if __name__ == "__main__":
    main()
