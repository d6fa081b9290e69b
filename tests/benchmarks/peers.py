"""The programs that are measured beside oi-tui: how they are installed, set up and started.

`install(FOLDER)` puts each into an environment of its own in FOLDER, from PyPI or npm, and writes there which
versions came and what could not be had. `programs` gives all that can be started, oi-tui first; their model
is a server on this machine, which streams a reply of known length and speed.
"""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.benchmarks.patient import Patient

FOLDER = Path(__file__).parent.parent.parent / "build" / "peers"
#: What comes from where, and the oldest Python that it takes.
PYPI = {
    "Open Interpreter": ("open-interpreter==0.4.3", (3, 11)),
    "ipykernel": ("ipykernel", (3, 11)),
    "mistral-vibe": ("mistral-vibe", (3, 12)),
    "Toad": ("batrachian-toad", (3, 14)),
}
NPM = {"codex": "@openai/codex"}
#: The reply: so many characters in pieces of about four tokens, so many a second.
LENGTH, PIECE, PIECES_A_SECOND = 50_000, 16, 250
#: There is no code in it: Open Interpreter ends a reply after its first fence.
PROSE = "### Both\n\nThey are **normal**, so they begin at `1.0`.\n\n- an item\n- one\n\n"
LAST = "finis"
REPLY = (PROSE * (LENGTH // len(PROSE) + 1))[: LENGTH - len(LAST) - 2] + "\n\n" + LAST
#: Each is typed once and is in no reply, so that what is drawn again does not look like it.
LETTERS = "αβγδεζηθικλμνξοπρστυφχψωбгджзийлпфцчшщъыьэюя"

Figures = dict[str, float | str]


@dataclass
class Program:
    """A program with a prompt."""

    name: str
    command: list[str]
    #: What is on the screen once it takes a request.
    ready: bytes
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    #: What stands before a command of the shell.
    shell: str = "!"
    #: What it shows at the end of such a command, where that is not the end of what was printed.
    shell_end: bytes = b""
    #: Whether it has a prompt while a reply comes.
    has_prompt_always: bool = True

    @contextmanager
    def started(self) -> Iterator[Patient]:
        """The program, once it has drawn a key: what was only echoed before is taken then."""
        with Patient(
            *self.command[1:], program=self.command[0], folder=self.folder, **self.environment
        ) as patient:
            patient.wait_for(self.ready, 120)
            patient.key(LETTERS[-1], 60)
            yield patient


# Installing


def install(folder: Path) -> None:
    """Install what can be installed, and write `found.json`: a version, or why there is none, for each."""
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, dict[str, str]] = {"versions": {}, "not tried": {}}
    if PYPI:
        _install_all_of_pypi(folder, found)
    for name, package in NPM.items():
        _note(found, name, partial(_install_node, folder, package))
    (folder / "found.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _install_all_of_pypi(folder: Path, found: dict[str, dict[str, str]]) -> None:
    try:
        _run([sys.executable, "-m", "venv", str(folder / "uv")])
        _run([str(folder / "uv/bin/python"), "-m", "pip", "install", "--quiet", "uv"])
    except (OSError, subprocess.CalledProcessError) as error:
        found["not tried"] = dict.fromkeys(PYPI, f"uv cannot be installed: {_reason(error)}")
    else:
        for name, (requirement, oldest) in PYPI.items():
            _note(found, name, partial(_install_python, folder, requirement, oldest))


def _note(found: dict[str, dict[str, str]], name: str, work: Callable[[], str]) -> None:
    try:
        found["versions"][name] = work()
    except (OSError, LookupError, subprocess.CalledProcessError) as error:
        found["not tried"][name] = _reason(error)


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        lines = [line for line in str(error.stderr).splitlines() if line.strip()]
        return (lines[-1] if lines else f"exit code {error.returncode}").strip()[:200]
    return str(error)


def _run(argv: list[str], **environment: str) -> str:
    done = subprocess.run(
        argv, env={**os.environ, **environment}, check=True, capture_output=True, text=True, timeout=1200
    )
    return done.stdout


def newest_python() -> str:
    """The newest Python that starts, on PATH or installed by pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for minor in range(30, sys.version_info.minor, -1):
        name = f"python3.{minor}"
        for path in (shutil.which(name), *pyenv.glob(f"versions/*/bin/{name}")):
            if path and not subprocess.run([path, "-V"], check=False, capture_output=True).returncode:
                return str(path)
    return sys.executable


def _install_python(folder: Path, requirement: str, oldest: tuple[int, int]) -> str:
    package = requirement.partition("=")[0]
    python = sys.executable if sys.version_info >= oldest else newest_python()
    number = _run([python, "-c", "import sys; print(*sys.version_info[:2])"]).split()
    if tuple(map(int, number)) < oldest:
        raise LookupError(
            f"it needs Python {'.'.join(map(str, oldest))}, and the newest here is {'.'.join(number)}"
        )
    environment = folder / package
    uv = str(folder / "uv/bin/uv")
    settings = {"UV_CACHE_DIR": str(folder / "cache"), "UV_PYTHON_DOWNLOADS": "never"}
    if not (environment / "bin/python").exists():
        _run([uv, "venv", "--quiet", "--python", python, str(environment)], **settings)
    inside = str(environment / "bin/python")
    # Open Interpreter imports pkg_resources, which later releases of setuptools no longer have.
    _run([uv, "pip", "install", "--quiet", "--python", inside, requirement, "setuptools<81"], **settings)
    return _run(
        [inside, "-c", f"from importlib.metadata import version; print(version({package!r}))"]
    ).strip()


def _install_node(folder: Path, package: str) -> str:
    if not shutil.which("npm"):
        raise LookupError("npm is not installed")
    place = folder / package.rpartition("/")[2]
    place.mkdir(exist_ok=True)
    _run(["npm", "install", "--silent", "--prefix", str(place), package])
    return str(json.loads((place / "node_modules" / package / "package.json").read_text())["version"])


def installed(folder: Path = FOLDER) -> dict[str, dict[str, str]]:
    """What `install` found; nothing where it never ran."""
    file = folder / "found.json"
    if not file.exists():
        return {"versions": {}, "not tried": {}}
    found: dict[str, dict[str, str]] = json.loads(file.read_text(encoding="utf-8"))
    return found


# Starting


def programs(base: str, home: Path, folder: Path = FOLDER) -> list[Program]:
    """oi-tui and the peers that were installed, set up to use the model server of this machine."""
    work = home / "work"
    work.mkdir(exist_ok=True)
    everyone = {"HOME": str(home), "LANG": "C.UTF-8"}
    ours = Program(
        "oi-tui",
        [sys.executable, "-m", "oi_tui", "-m", "openai/m", "-ab", base, "-ak", "key"],
        b"ype a request",
        work,
        {**everyone, "OI_TUI_HOME": str(home / "oi-tui")},
        shell="%% ",
    )
    had = installed(folder)["versions"]
    return [ours, *(program for program in _peers(base, home, folder, everyone) if program.name in had)]


def _peers(base: str, home: Path, folder: Path, everyone: dict[str, str]) -> Iterator[Program]:
    work = home / "work"
    argv = [str(folder / "open-interpreter/bin/interpreter"), "--model", "openai/m", "--api_base", base]
    quiet = {"DISABLE_TELEMETRY": "true", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    yield Program(
        "Open Interpreter",
        [*argv, "--api_key", "key"],
        b"> ",
        work,
        {**everyone, **quiet},
        shell="%% ",
        has_prompt_always=False,
    )
    vibe = home / "vibe"
    vibe.mkdir(exist_ok=True)
    (vibe / "config.toml").write_text(
        'active_model = "m"\nenable_telemetry = false\n'
        "enable_update_checks = false\nenable_auto_update = false\n"
        f'[[providers]]\nname = "local"\napi_base = "{base}"\nbackend = "generic"\n'
        '[[models]]\nname = "m"\nprovider = "local"\nalias = "m"\n'
    )
    start = [str(folder / "mistral-vibe/bin/vibe"), "--trust"]
    yield Program(
        "mistral-vibe", start, b"/help", work, {**everyone, "VIBE_HOME": str(vibe)}, shell_end=b"Ran"
    )
    codex = home / "codex"
    codex.mkdir(exist_ok=True)
    (codex / "config.toml").write_text(
        'model = "m"\nmodel_provider = "local"\ncheck_for_update_on_startup = false\n'
        'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n'
        f'[model_providers.local]\nname = "local"\nbase_url = "{base}"\nwire_api = "responses"\n'
        f'[projects."{work}"]\ntrust_level = "trusted"\n'
    )
    start = [str(folder / "codex/node_modules/.bin/codex")]
    yield Program(
        "codex", start, b"Ask", work, {**everyone, "CODEX_HOME": str(codex)}, shell_end=b"Show details"
    )


def measure_each(programs: list[Program], measure: Callable[[Program], Figures]) -> dict[str, Figures]:
    """Measure one program after the other; one that cannot be measured says why."""
    figures: dict[str, Figures] = {}
    for program in programs:
        try:
            figures[program.name] = measure(program)
        except (OSError, TimeoutError) as error:
            figures[program.name] = {"not measured": str(error)}
        print(program.name, figures[program.name], file=sys.stderr, flush=True)
    return figures


# Their model


class Replies(ThreadingHTTPServer):
    """Streams `REPLY` at its speed, in OpenAI's format for chats or for responses."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, *_: object) -> None:
        """Say nothing where a program that is ended no longer listens."""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        data = json.dumps({"object": "list", "data": [{"id": "m", "object": "model"}], "models": []}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        speak = self._respond if self.path.endswith("/responses") else self._chat
        speak()

    def _pieces(self) -> Iterator[str]:
        began = time.perf_counter()
        for number, place in enumerate(range(0, LENGTH, PIECE)):
            time.sleep(max(0.0, began + number / PIECES_A_SECOND - time.perf_counter()))
            yield REPLY[place : place + PIECE]

    def _chat(self) -> None:
        def say(delta: dict[str, str], finish: str | None = None) -> None:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            chunk = {
                "id": "1",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "m",
                "choices": [choice],
            }
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())

        for piece in self._pieces():
            say({"role": "assistant", "content": piece})
        say({}, "stop")
        self.wfile.write(b"data: [DONE]\n\n")

    def _respond(self) -> None:
        def tell(kind: str, **more: object) -> None:
            self.wfile.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode())

        text = {"type": "output_text", "text": REPLY}
        item = {"type": "message", "id": "i", "role": "assistant"}
        tell("response.created", response={"id": "r"})
        tell("response.output_item.added", output_index=0, item={**item, "content": []})
        for piece in self._pieces():
            tell("response.output_text.delta", item_id="i", output_index=0, content_index=0, delta=piece)
        tell("response.output_item.done", output_index=0, item={**item, "content": [text]})
        tell("response.completed", response={"id": "r"})

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def replies() -> Iterator[str]:
    """The server while it runs: its address for programs."""
    server = Replies()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
