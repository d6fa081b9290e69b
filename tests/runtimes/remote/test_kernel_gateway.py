"""Kernels of a real Jupyter server and of a real kernel gateway as the place where code runs."""

import contextlib
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from oi_tui.messages import Displayed, InputRequested, Printed, Report, Stopping
from oi_tui.runtimes import Computer
from oi_tui.runtimes.remote import wire
from oi_tui.runtimes.remote.jupyter.kernel_gateway import GatewayClient
from oi_tui.runtimes.remote.target import TargetError, parse
from oi_tui.runtimes.targets import TargetOptions
from tests.runtimes.playing import alive, play, until
from tests.servers.jupyter import TOKEN, Jupyter
from tests.servers.tcp_relay import TcpRelay

WITH_TOKEN = TargetOptions(find_token=lambda _: TOKEN)

pytest.importorskip("websockets", reason="websockets is not installed here (extra kernel)")
pytest.importorskip("jupyter_server", reason="jupyter-server is not installed here")
pytest.importorskip("ipykernel", reason="ipykernel is not installed here")
pytestmark = pytest.mark.slow
Make = Callable[..., Computer]


@pytest.fixture(scope="module", params=["jupyter_server", "kernel_gateway"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jupyter]:
    pytest.importorskip(request.param)
    server = Jupyter(request.param, tmp_path_factory.mktemp("jupyter"))
    yield server
    server.close()


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jupyter]:
    """The Jupyter server alone, where both would do the same."""
    server = Jupyter("jupyter_server", tmp_path_factory.mktemp("jupyter"))
    yield server
    server.close()


@pytest.fixture(scope="module")
def kernel(server: Jupyter) -> Iterator[Computer]:
    """A new kernel of the server."""
    computer = Computer(target=server.target, target_options=WITH_TOKEN)
    yield computer
    computer.close()


def through_relay(make: Make, server: Jupyter) -> tuple[TcpRelay, Computer]:
    """A kernel that a cut connection cannot keep us from ending, and the way there that is cut."""
    relay = TcpRelay(server.port)
    ours = make(target=server.target, target_options=WITH_TOKEN)
    target = f"kernel:http://127.0.0.1:{relay.port}#{id_of(ours)}"
    return relay, make(target=target, target_options=WITH_TOKEN)


def kernels(server: Jupyter) -> list[dict[str, Any]]:
    return list(json.loads(server.ask("GET", "/api/kernels") or b"[]"))


def id_of(computer: Computer) -> str:
    return str(computer.targets.remote.find_program("python")).rpartition("#")[2]  # type: ignore[union-attr]


def process_of(computer: Computer) -> int:
    return int(play(computer, "python", "import os; print(os.getpid())").text)


def test_code_runs_in_a_new_kernel_and_keeps_its_variables(kernel: Computer, server: Jupyter) -> None:
    assert kernel.languages == ("python",)
    assert kernel.where == f"in a new kernel (python3) on {server.host}"
    assert play(kernel, "python", "memory = 41; print('grüße')").text == "grüße\n"
    assert play(kernel, "python", "memory + 1").text == "42\n"


def test_an_error_fails_the_run(kernel: Computer) -> None:
    played = play(kernel, "python", "print('before')\nraise ValueError('oops')")
    assert (played.state, played.reason) == ("failed", "ValueError: oops")
    assert played.text.startswith("before\n")


def test_questions_are_reported_and_answered(kernel: Computer) -> None:
    code = (
        "import getpass\nname = input('name? ')\nword = getpass.getpass('Password: ')\nprint(name, len(word))"
    )
    played = play(kernel, "python", code, answers=("Ada\n", "secret\n"))
    assert [(report.prompt, report.masked) for report in played.asked] == [
        ("name? ", False),
        ("Password: ", True),
    ]
    assert played.text.endswith("Ada 6\n")


def test_images_are_shown_also_in_binary_messages(kernel: Computer) -> None:
    code = (
        "class Shown:\n    def _repr_png_(self):\n        return b'\\x89PNG\\r\\n\\x1a\\n'\n"
        "from ipykernel.comm import Comm\n"
        "comm = Comm(target_name='x', buffers=[b'abc'])\nprint('after')\nShown()"
    )
    played = play(kernel, "python", code)
    (shown,) = played.shown
    assert isinstance(shown, Displayed)
    assert shown.format == "base64.png"
    assert "after" in played.text


def test_an_interrupt_keeps_the_variables(kernel: Computer) -> None:
    play(kernel, "python", "memory = 41")
    code = "import time\nprint('go', flush=True)\ntime.sleep(60)"
    played = play(kernel, "python", code, stop_at="go\r\n")
    assert played.state == "interrupted"
    assert played.seconds < 20
    assert play(kernel, "python", "memory + 1").text == "42\n"


def test_a_question_can_be_interrupted(kernel: Computer) -> None:
    def stop(report: Report, _: str) -> None:
        if isinstance(report, InputRequested):
            kernel.interrupt()

    assert play(kernel, "python", "input('? ')", on=stop).state == "interrupted"
    assert play(kernel, "python", "print(1)").text == "1\n"


def test_the_end_of_a_kernel_is_reported_and_the_next_run_has_a_new_one(make: Make, server: Jupyter) -> None:
    kernel = make(target=server.target, target_options=WITH_TOKEN)
    pid = process_of(kernel)

    def kill(_: Report, so_far: str) -> None:
        if "go" in so_far:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    played = play(kernel, "python", "import time\nprint('go', flush=True)\ntime.sleep(60)", on=kill)
    assert played.state == "lost"
    assert "the kernel ended, and its variables are lost" in played.reason
    assert play(kernel, "python", "print('again')").text.endswith("again\n")


def test_the_kernel_ends_with_us_if_it_is_ours_and_goes_on_if_it_is_not(make: Make, jupyter: Jupyter) -> None:
    ours = make(target=jupyter.target, target_options=WITH_TOKEN)
    pid, id_ = process_of(ours), id_of(ours)
    play(ours, "python", "memory = 41")
    theirs = make(target=f"{jupyter.target}#{id_[:8]}", target_options=WITH_TOKEN)
    assert theirs.where == f"in the kernel {id_[:8]} (python3) on {jupyter.host}"
    assert play(theirs, "python", "memory + 1").text == "42\n"
    theirs.close()
    assert alive(pid)
    assert "shares with a notebook" in " ".join(theirs.notes)
    ours.close()
    until(lambda: not alive(pid))
    assert id_ not in {item["id"] for item in kernels(jupyter)}


def test_a_kernel_that_is_ours_ends_also_where_no_thread_begins_because_the_program_ends(
    jupyter: Jupyter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    client = GatewayClient(f"http://{jupyter.host}/", find_token=lambda _: TOKEN)
    assert client.program
    id_ = client.program.rpartition("#")[2]
    assert id_ in {item["id"] for item in kernels(jupyter)}
    with monkeypatch.context() as ending:
        ending.setattr(threading.Thread, "start", refuse)
        ending.setattr(threading, "main_thread", threading.Thread)
        client.close()
    until(lambda: id_ not in {item["id"] for item in kernels(jupyter)})


def test_no_thread_is_left_where_the_end_of_a_kernel_cannot_be_asked_for(
    jupyter: Jupyter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    client = GatewayClient(f"http://{jupyter.host}/", find_token=lambda _: TOKEN)
    assert client.program
    spare = [thread for thread in threading.enumerate() if thread.name == "kernel end"][-1]
    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="new thread"):
            client.close()
    spare.join(60)
    assert not spare.is_alive()
    jupyter.ask("DELETE", f"/api/kernels/{client.program.rpartition('#')[2]}")


def test_a_kernelspec_and_its_list_can_be_named(make: Make, jupyter: Jupyter) -> None:
    computer = make(target=f"{jupyter.target}#python3", target_options=WITH_TOKEN)
    assert play(computer, "python", "print(1)").text == "1\n"
    for name in ("", "nobody"):
        with pytest.raises(
            TargetError, match=rf"{id_of(computer)[:8]} \(python3, \w+\).*Kernelspecs: .*python3"
        ):
            make(target=f"{jupyter.target}#{name}", target_options=WITH_TOKEN)


def test_what_does_not_stop_is_restarted_only_where_the_kernel_is_ours(make: Make, jupyter: Jupyter) -> None:
    deaf = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('go', flush=True)\n"
    ours = make(target=jupyter.target, target_options=WITH_TOKEN)
    theirs = make(target=f"{jupyter.target}#{id_of(ours)}", target_options=WITH_TOKEN)
    pid = process_of(ours)

    def insist(computer: Computer) -> Callable[[Report, str], None]:
        def on(report: Report, so_far: str) -> None:
            begun = isinstance(report, Printed) and "go" in so_far
            if begun or (isinstance(report, Stopping) and report.seconds is None):
                computer.interrupt()

        return on

    played = play(theirs, "python", f"{deaf}time.sleep(3)", on=insist(theirs))
    assert (played.state, "still runs" in played.reason) == ("lost", True)
    assert alive(pid)
    played = play(ours, "python", f"{deaf}time.sleep(60)", on=insist(ours))
    assert (played.state, "the kernel was restarted" in played.reason) == ("lost", True)
    until(lambda: not alive(pid))
    assert play(ours, "python", "print('again')").text.endswith("again\n")


def test_a_cut_connection_is_made_again_and_the_run_goes_on(
    make: Make, jupyter: Jupyter, monkeypatch: pytest.MonkeyPatch
) -> None:
    relay, computer = through_relay(make, jupyter)
    send, asked = GatewayClient._send, 0

    def lose_the_first(client: GatewayClient, channel: str, *message: Any) -> str:
        """Have the first requests that show whether output is heard get lost, as on a busy server."""
        nonlocal asked
        asked += channel == "control"
        return "lost" if channel == "control" and asked < 3 else send(client, channel, *message)

    monkeypatch.setattr(GatewayClient, "_send", lose_the_first)
    code = (
        "import time, pathlib\nprint('go', flush=True)\n"
        "go = pathlib.Path('go-on')\nwhile not go.exists(): time.sleep(0.01)\n"
        "go.unlink()\nprint('after')"
    )
    folder = play(computer, "python", "import os; print(os.getcwd())").text.strip()
    cut = False

    def on(report: Report, so_far: str) -> None:
        nonlocal cut
        if "go" in so_far and not cut:
            cut = True
            relay.cut()
        if isinstance(report, Printed) and "answers again" in report.text:
            # Whoever reads this may rely on it: what is printed from now on arrives.
            assert asked >= 3
            open(f"{folder}/go-on", "w").close()

    try:
        played = play(computer, "python", code, on=on)
        assert played.state == "finished", played.reason
        assert "after\n" in played.text
        assert "was cut" in played.text
        assert play(computer, "python", "print(1)").text == "1\n"
    finally:
        relay.close()


def test_a_connection_cut_for_good_ends_the_run_and_is_tried_at_the_next(
    make: Make, jupyter: Jupyter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "SILENCE", 1.0)
    relay, computer = through_relay(make, jupyter)
    play(computer, "python", "memory = 41")

    def cut(_: Report, so_far: str) -> None:
        if "go" in so_far:
            relay.refusing = True
            relay.cut()

    try:
        played = play(computer, "python", "import time\nprint('go', flush=True)\ntime.sleep(2)", on=cut)
        assert (played.state, "may still run there" in played.reason) == ("lost", True)
        relay.refusing = False
        assert play(computer, "python", "print(memory)").text.endswith("41\n")
    finally:
        relay.close()


def test_the_token_is_asked_for_and_a_wrong_one_again(
    make: Make, jupyter: Jupyter, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []
    answers = ["wrong", TOKEN]

    def ask(question: str, wanted: str) -> str | None:
        asked.append((question, wanted))
        return answers.pop(0) if answers else None

    computer = make(target=jupyter.target, ask=ask)
    assert play(computer, "python", "print(1)").text == "1\n"
    assert [wanted for _, wanted in asked] == ["secret", "secret"]
    assert jupyter.host in asked[0][0]
    with pytest.raises(TargetError, match="stopped"):
        make(target=jupyter.target, ask=ask)
    with pytest.raises(TargetError, match="needs a token"):
        make(target=jupyter.target)
    monkeypatch.setenv("JUPYTER_TOKEN", TOKEN)
    assert make(target=jupyter.target).languages == ("python",)
    wanted: list[str] = []
    with pytest.raises(TargetError, match="needs a token"):
        make(
            target=jupyter.target,
            target_options=TargetOptions(find_token=lambda name: wanted.append(name) or "another-one"),
        )  # type: ignore[func-returns-value]
    assert wanted == [f"JUPYTER_TOKEN@{jupyter.host}"]


#: Of the word "sesame".
_HASH = "sha1:3db604418e32:a2436cf0ec0051ddc5966777a5e1c0299de4f42d"


@pytest.mark.parametrize(("password", "answers"), [("", []), (_HASH, ["barley", "sesame"])])
def test_a_server_with_a_password_or_with_nothing_is_used_also_below_a_path(
    make: Make, tmp_path: Path, password: str, answers: list[str]
) -> None:
    more = ("--IdentityProvider.token=", f"--PasswordIdentityProvider.hashed_password={password}")
    server = Jupyter("jupyter_server", tmp_path, (*more, "--ServerApp.base_url=/user/ana/"))
    left = list(answers)
    try:
        computer = make(target=f"{server.target}user/ana/lab", ask=lambda *_: left.pop(0))
        assert left == []
        asks = "print(input('name? '))"
        assert play(computer, "python", asks, answers=("Ada\n",)).state == "finished"
        computer.close()
        if answers:
            with pytest.raises(TargetError, match="did not accept the token or password"):
                make(target=f"{server.target}user/ana/", ask=lambda *_: "barley")
    finally:
        server.close()


@pytest.mark.parametrize(
    ("spelling", "words"),
    [
        ("kernel:http://h:8888/?token=secret", "cannot contain a token"),
        ("kernel:http://ana:secret@h:8888/", "cannot contain a token"),
        ("kernel:http://", "is not an address"),
        ("kernel:http://h:99999/", "is not an address"),
        ("kernel:http://[::1/", "is not an address"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_and_no_token_is_repeated(
    spelling: str, words: str
) -> None:
    with pytest.raises(TargetError, match=words) as refused:
        parse(spelling)
    assert "secret" not in str(refused.value)


def test_a_server_that_leads_elsewhere_gets_no_second_chance(make: Make) -> None:
    import http.server

    class Leading(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.1:9/taken")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Leading) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        with pytest.raises(TargetError, match="leads to another address"):
            make(target=f"kernel:http://127.0.0.1:{server.server_port}/lab", target_options=WITH_TOKEN)
        server.shutdown()
        thread.join()


def test_code_that_is_stopped_before_it_is_sent_does_not_run(
    kernel: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(kernel, "python", "ran = False")
    wait = GatewayClient._wait_for_output

    def wait_and_press(client: GatewayClient) -> None:
        wait(client)
        kernel.interrupt()

    monkeypatch.setattr(GatewayClient, "_wait_for_output", wait_and_press)
    kernel.targets.remote.client._is_new = True  # type: ignore[union-attr]
    played = play(kernel, "python", "ran = True")
    assert (played.state, played.steps) == ("interrupted", ["interrupt"])
    assert play(kernel, "python", "print(ran)").text == "False\n"
