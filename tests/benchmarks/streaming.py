"""What a token of a long reply costs on its way through the engine, as ratios measured in one run.

Run as `python -m tests.benchmarks.streaming [TOKENS]` (20,000 unless told otherwise; S5 of the fault list has
200,000). A server in a process of its own streams the tokens over loopback in OpenAI's format; the reply goes
through the model process and a session, as in the application. CPU is counted for each process alone, so that
neither the server nor waiting is in it. LiteLLM's own share is what the same stream costs where LiteLLM is
only iterated, in a process of its own.
"""

import json
import multiprocessing
import os
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from pathlib import Path
from statistics import median

from oi_tui.engine.events import MessageGrew
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.llm.transport.provider import QUIET
from oi_tui.engine.session import Session
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage.store import Store
from tests.fakes import Computer

#: What the reply is made of: prose, and code in a fence, as models write.
LINE = "The **quick** brown fox `jumps` over the lazy dog. "
#: A reply is looked at in so many pieces.
WINDOWS = 30
_TICKS = os.sysconf("SC_CLK_TCK")
_ALONE = """
import asyncio, json, os, sys, time
import litellm
litellm.suppress_debug_info = True
litellm.disable_streaming_logging = True
async def main():
    stream = await litellm.acompletion(
        model="openai/m", api_base=sys.argv[1], api_key="none", stream=True, max_retries=0,
        messages=[{"role": "user", "content": "go"}], stream_options={"include_usage": True})
    count, begun = 0, 0.0
    async for chunk in stream:
        count += 1
        if count == 100:
            begun = time.process_time()
        if count % 500 == 0:
            stream.chunks.clear()
    print(json.dumps([(time.process_time() - begun) / (count - 100)]))
asyncio.run(main())
"""


def tokens(count: int) -> list[str]:
    """So many pieces of text of about four characters each."""
    text = LINE * (count * 4 // len(LINE) + 1)
    return [text[at * 4 : at * 4 + 4] for at in range(count)]


def serve(count: int, port: "multiprocessing.Queue[int]") -> None:
    """Stream the tokens to whoever asks."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(404)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for piece in tokens(count):
                self._say({"content": piece}, None)
            self._say({}, "stop")
            self.wfile.write(b"data: [DONE]\n\n")

        def _say(self, delta: dict[str, str], reason: str | None) -> None:
            chunk = {"id": "1", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    port.put(server.server_address[1])
    server.serve_forever()


def cpu_of(pid: int) -> float:
    """Seconds of CPU that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def megabytes_of(pid: int) -> float:
    """The memory that a process holds."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def at_the_ends(clock: list[float], tokens: float) -> tuple[float, float]:
    """What a token costs in the first and in the last third, each as the median of its windows.

    One window in which the machine did something else, or a collection of garbage fell, says nothing.
    """
    windows = [(after - before) / tokens for before, after in pairwise(clock)]
    return median(windows[: WINDOWS // 3]), median(windows[-(WINDOWS // 3) :])


def measure(count: int) -> dict[str, object]:
    """All figures; times are in microseconds a token."""
    port: multiprocessing.Queue[int] = multiprocessing.Queue()
    server = multiprocessing.Process(target=serve, args=(count, port), daemon=True)
    server.start()
    base = f"http://127.0.0.1:{port.get()}/v1"
    environment = {**os.environ, **QUIET}
    alone = subprocess.run(
        [sys.executable, "-c", _ALONE, base], env=environment, capture_output=True, text=True, check=True
    )
    litellm = json.loads(alone.stdout)[0]
    with ModelProcess() as models:
        models.facts("gpt-4o", timeout=100)
        profile = Profile(model="openai/m", api_base=base)
        session = Session(profile, models, Computer(), Store.create_unsaved(cwd="/", model="m"))
        assert models.pid
        child = models.pid
        own: list[float] = []
        theirs: list[float] = []
        memory = megabytes_of(child), megabytes_of(os.getpid())
        # In characters: where each window begins, and the end of the last; the very beginning is not warm.
        marks = [4 * (100 + (count - 130) * number // WINDOWS) for number in range(WINDOWS + 1)]
        seen = 0
        began = time.monotonic()
        for event in session.turn("go"):
            if isinstance(event, MessageGrew):
                seen += len(event.text)
                while marks and seen >= marks[0]:
                    del marks[0]
                    own.append(time.process_time())
                    theirs.append(cpu_of(child))
        took = time.monotonic() - began
        grown = megabytes_of(child) - memory[0], megabytes_of(os.getpid()) - memory[1]
    server.terminate()
    server.join()
    start, end = at_the_ends(own, (count - 130) / WINDOWS)
    child_start, child_end = at_the_ends(theirs, (count - 130) / WINDOWS)
    whole = (own[-1] - own[0]) / count
    return {
        "tokens": count,
        "seconds": took,
        "engine, us a token": {"start": start * 1e6, "end": end * 1e6, "end / start": end / start},
        "model process, us a token": {
            "start": child_start * 1e6, "end": child_end * 1e6, "end / start": child_end / child_start,
        },
        "LiteLLM alone, us a token": litellm * 1e6,
        "engine / LiteLLM": whole / litellm,
        "model process / LiteLLM": (theirs[-1] - theirs[0]) / count / litellm,
        "memory grown, MB": {"model process": grown[0], "engine": grown[1]},
    }  # fmt: skip


def main() -> None:
    """Measure, and write the figures."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    figures = json.dumps(measure(count), default=float)
    print(json.dumps(json.loads(figures, parse_float=lambda text: round(float(text), 2)), indent=1))


if __name__ == "__main__":
    main()
