"""How long the first message waits for LiteLLM: from enter, soon after the start, to the request.

Run as `python -m tests.benchmarks.first_request [ROUNDS [SECONDS]]`: SECONDS after the start, 1 if not given,
enter is pressed. The reference is Python with `import litellm`
alone, from start to end, measured between the rounds.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from oi_tui.engine.llm.transport.provider import QUIET
from tests.benchmarks.patient import Patient
from tests.servers.openai_server import ModelServer, spoken

PLAIN = "import litellm"


def seconds_to_request(home: str, enter: float) -> float:
    """From enter, so many seconds after the start, to the request at the model's server."""
    with ModelServer(spoken("Hello.")) as server:
        arguments = ("-m", "oi_tui", "-m", "openai/test", "-ab", server.base, "-ak", "key")
        began = time.perf_counter()
        with Patient(*arguments, OI_TUI_HOME=home) as patient:
            patient.wait_for(b"ype a request")
            patient.type("hello")
            for _ in patient.read(max(0.1, enter - (time.perf_counter() - began))):
                pass
            pressed = time.perf_counter()
            patient.type("\r")
            while not server.requests:
                for _ in patient.read(0.005):
                    pass
            return time.perf_counter() - pressed


def seconds_of_import() -> float:
    """What LiteLLM's import takes by itself."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", PLAIN], env={**os.environ, **QUIET}, check=True)
    return time.perf_counter() - began


def main(rounds: int, enter: float) -> None:
    """Interleave both, so that what else the machine does hits them alike."""
    waits: list[float] = []
    imports: list[float] = []
    with tempfile.TemporaryDirectory() as home:
        seconds_to_request(home, enter)
        seconds_of_import()
        for _ in range(rounds):
            waits.append(seconds_to_request(home, enter))
            imports.append(seconds_of_import())
    wait, plain = statistics.median(waits), statistics.median(imports)
    print(
        json.dumps(
            {
                "enter to request, s": round(wait, 2),
                "import litellm alone, s": round(plain, 2),
                "ratio": round(wait / plain, 2),
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5, float(sys.argv[2]) if len(sys.argv) > 2 else 1.0)
