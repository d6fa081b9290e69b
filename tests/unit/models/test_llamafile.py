"""Llamafiles: downloaded over loopback, started, asked, stopped; a script stands in for one."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui.engine.llm.base import Request, Text
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.models import download, llamafile
from oi_tui.engine.models.download import DownloadError, DownloadProgress, fetch, make_file_name
from oi_tui.engine.models.llamafile import Llamafile, LlamafileError
from tests import processes
from tests.servers.files import FileServer

pytestmark = [pytest.mark.slow, pytest.mark.needs("sleep")]

CONTENT = os.urandom(1_200_000)
#: What stands in for a llamafile: takes the same flags and speaks the same format.
STAND_IN = f"""#!{sys.executable}
import http.server, json, os, subprocess, sys
port = int(sys.argv[sys.argv.index("--port") + 1])
assert "--server" in sys.argv and "--nobrowser" in sys.argv
child = subprocess.Popen(["sleep", "60"])
print("loading", child.pid, os.environ.get("OPENAI_API_KEY"), flush=True)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/health" else 404); self.end_headers()
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200); self.send_header("Content-Type", "text/event-stream"); self.end_headers()
        for delta, reason in (({{"content": "Here "}}, None), ({{"content": "I am"}}, None), ({{}}, "stop")):
            chunk = {{"choices": [{{"index": 0, "delta": delta, "finish_reason": reason}}]}}
            self.wfile.write(f"data: {{json.dumps(chunk)}}\\n\\n".encode())
        self.wfile.write(b"data: [DONE]\\n\\n")
http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


def get(
    server: FileServer, folder: Path, name: str = "tiny.llamafile", **more: object
) -> list[DownloadProgress]:
    return list(fetch(f"{server.root}/{name}", folder, stopped=threading.Event(), **more))  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "SILENCE", 5.0)
    monkeypatch.setattr(download, "_PAUSE", 0.0)
    monkeypatch.setattr(download, "_SPARE", 0)


@pytest.fixture
def served() -> Iterator[FileServer]:
    with FileServer(CONTENT) as server:
        yield server


# -- the download -----------------------------------------------------------------------------------


def test_a_file_arrives_whole_with_its_progress(served: FileServer, tmp_path: Path) -> None:
    steps = get(served, tmp_path, sha256=served.sha256)
    assert (tmp_path / "tiny.llamafile").read_bytes() == CONTENT
    assert steps[-1] == DownloadProgress(len(CONTENT), len(CONTENT))
    assert len(steps) > 2
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert os.listdir(tmp_path) == ["tiny.llamafile"]


def test_a_connection_that_breaks_is_taken_up_where_it_broke(served: FileServer, tmp_path: Path) -> None:
    served.breaks = [300_000, 400_000]
    get(served, tmp_path, sha256=served.sha256)
    assert (tmp_path / "tiny.llamafile").read_bytes() == CONTENT
    assert served.asked == [None, "bytes=300000-", "bytes=700000-"]


def test_what_was_stopped_goes_on_the_next_time(served: FileServer, tmp_path: Path) -> None:
    stopped = threading.Event()
    steps = fetch(f"{served.root}/tiny.llamafile", tmp_path, stopped=stopped)
    while next(steps).done < 400_000:
        pass
    stopped.set()
    with pytest.raises(DownloadError, match=r"bytes of tiny\.llamafile are saved"):
        list(steps)
    assert not (tmp_path / "tiny.llamafile").exists()
    get(served, tmp_path)
    assert (tmp_path / "tiny.llamafile").read_bytes() == CONTENT
    assert served.asked[1] is not None


def test_a_file_that_changed_meanwhile_is_begun_anew(served: FileServer, tmp_path: Path) -> None:
    served.breaks = [100_000] + [0] * 10
    with pytest.raises(DownloadError):
        get(served, tmp_path)
    served.breaks, served.content, served.mark = [], os.urandom(900_000), '"two"'
    get(served, tmp_path)
    assert (tmp_path / "tiny.llamafile").read_bytes() == served.content


def test_a_server_without_ranges_sends_it_all_again(tmp_path: Path) -> None:
    with FileServer(CONTENT, ranges=False) as served:
        served.breaks = [500_000]
        get(served, tmp_path)
    assert (tmp_path / "tiny.llamafile").read_bytes() == CONTENT


def test_a_part_that_is_the_whole_is_enough(served: FileServer, tmp_path: Path) -> None:
    served.breaks = [len(CONTENT) - 1, 0, 0, 0, 0, 0]
    with pytest.raises(DownloadError):
        get(served, tmp_path)
    part = tmp_path / "tiny.llamafile.part"
    part.write_bytes(CONTENT)
    about = tmp_path / "tiny.llamafile.part.json"
    served.breaks = []
    about.write_text(about.read_text().replace(f'"total": {len(CONTENT)}', f'"total": {len(CONTENT)}'))
    get(served, tmp_path, sha256=served.sha256)
    assert (tmp_path / "tiny.llamafile").read_bytes() == CONTENT


@pytest.mark.parametrize("way", ["argument", "fragment", "header"])
def test_a_wrong_checksum_is_reported_and_nothing_is_kept(
    served: FileServer, tmp_path: Path, way: str
) -> None:
    wrong = "0" * 64
    name, more = "tiny.llamafile", {}
    if way == "argument":
        more = {"sha256": wrong}
    elif way == "fragment":
        name += f"#sha256={wrong}"
    else:
        served.headers["X-Linked-ETag"] = f'"{wrong}"'
    with pytest.raises(DownloadError, match="checksum"):
        get(served, tmp_path, name, **more)
    assert os.listdir(tmp_path) == []


def test_what_is_here_is_not_downloaded_again(served: FileServer, tmp_path: Path) -> None:
    (tmp_path / "tiny.llamafile").write_bytes(b"here")
    assert get(served, tmp_path) == [DownloadProgress(4, 4)]
    assert served.asked == []


def test_a_disk_that_is_too_small_is_reported_before_anything_comes(
    served: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "_SPARE", 10**18)
    with pytest.raises(DownloadError, match="the disk needs"):
        get(served, tmp_path)


@pytest.mark.parametrize(("status", "says"), [(404, "404"), (403, "403"), (500, "500")])
def test_a_server_that_refuses_is_reported(
    served: FileServer, tmp_path: Path, status: int, says: str
) -> None:
    served.status = status
    with pytest.raises(DownloadError, match=says):
        get(served, tmp_path)
    assert len(served.asked) == 1


def test_nobody_there_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "ATTEMPTS", 2)
    with pytest.raises(DownloadError, match="refused"):
        list(fetch("http://127.0.0.1:1/x.llamafile", tmp_path, stopped=threading.Event()))


@pytest.mark.parametrize(
    "url", ["", "x", "file:///etc/passwd", "ftp://a/b", "http://", "https://a/", "http://[x/y"]
)
def test_an_address_that_is_none_is_reported(url: str, tmp_path: Path) -> None:
    with pytest.raises(DownloadError):
        list(fetch(url, tmp_path, stopped=threading.Event()))


@pytest.mark.parametrize(
    "path", ["/a/../../etc/passwd", "/..%2f..%2fx", "/%00", "/-rf", "/.hidden", "/a b?x=1"]
)
def test_no_address_names_a_file_elsewhere(path: str, tmp_path: Path) -> None:
    try:
        name = make_file_name(f"http://a{path}")
    except DownloadError:
        return
    assert (tmp_path / name).resolve().parent == tmp_path.resolve()
    assert name[0] not in ".-"


# -- the server -------------------------------------------------------------------------------------


def write(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    return write(tmp_path / "tiny.llamafile", STAND_IN)


def test_it_answers_and_leaves_nothing_behind(
    stand_in: Path, models: ModelProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-12345678")
    running = Llamafile(stand_in, hidden=("OPENAI_API_KEY",))
    try:
        running.wait(threading.Event(), 30)
        assert running.running
        request = Request(
            model=running.model, messages=[{"role": "user", "content": "Hi"}], api_base=running.api_base
        )
        assert "".join(d.text for d in models.reply(request) if isinstance(d, Text)) == "Here I am"
        log = running._log.read_text()
        assert log.split()[2] == "None", "keys are not for it"
        child = int(log.split()[1])
    finally:
        running.stop()
    assert not running.running
    assert not Path(f"/proc/{child}").exists() or processes.wait_until(
        lambda: not Path(f"/proc/{child}").exists(), 5
    )


def test_it_ends_with_the_application_even_after_a_kill(stand_in: Path) -> None:
    program = (
        "import sys, threading, time; from pathlib import Path\n"
        "from oi_tui.engine.models.llamafile import Llamafile\n"
        "running = Llamafile(Path(sys.argv[1])); running.wait(threading.Event(), 30)\n"
        "print(running._guard.pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(stand_in)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout
        guard = int(parent.stdout.readline())
        below = processes.descendants(guard)
        assert len(below) >= 2, "the stand-in and its child"
        parent.send_signal(signal.SIGKILL)
    assert processes.wait_until(lambda: not any(Path(f"/proc/{item.pid}").exists() for item in below), 40)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("#!/bin/sh\necho no such instruction >&2\nexit 3\n", "no such instruction"),
        ("#!/nowhere/at/all\n", "No such file"),
        ("\0\0\0\0", "tiny.llamafile ended immediately"),
        ("", "It printed nothing"),
    ],
)
def test_a_file_that_cannot_run_is_reported(tmp_path: Path, text: str, says: str) -> None:
    running = Llamafile(write(tmp_path / "tiny.llamafile", text))
    try:
        with pytest.raises(LlamafileError, match="ended immediately") as raised:
            running.wait(threading.Event(), 30)
        assert says in str(raised.value)
        assert "llamafile.log" in str(raised.value)
    finally:
        running.stop()


def test_one_that_never_answers_is_given_up_and_ended(tmp_path: Path) -> None:
    running = Llamafile(
        write(tmp_path / "slow.llamafile", "#!/bin/sh\ntrap '' TERM\necho loading\nsleep 60\n")
    )
    assert processes.wait_until(lambda: "loading" in running._log.read_text(), 40)
    with pytest.raises(LlamafileError, match=r"did not answer within 0\.3 s\. Its last output: loading"):
        running.wait(threading.Event(), 0.3)
    assert not running.running


def test_waiting_for_it_can_be_stopped(tmp_path: Path) -> None:
    running = Llamafile(write(tmp_path / "slow.llamafile", "#!/bin/sh\nsleep 60\n"))
    stopped = threading.Event()
    stopped.set()
    with pytest.raises(LlamafileError, match="Stopped"):
        running.wait(stopped, 30)
    assert not running.running


def test_what_is_no_file_is_reported(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(LlamafileError):
            Llamafile(path)


def test_those_that_are_here_are_listed() -> None:
    assert llamafile.list_files() == []
    llamafile.find_folder().mkdir(parents=True)
    for name in ("b.llamafile", "a.llamafile", "c.llamafile.part", "readme.txt"):
        (llamafile.find_folder() / name).touch()
    assert [path.name for path in llamafile.list_files()] == ["a.llamafile", "b.llamafile"]
