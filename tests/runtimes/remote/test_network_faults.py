"""A real ssh connection that is cut or held in each state: clear words, nothing left, nothing mixed up."""

import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from oi_tui.messages import InputRequested, Report
from oi_tui.runtimes import Computer
from oi_tui.runtimes.remote import wire
from oi_tui.runtimes.remote.files import FileError
from oi_tui.runtimes.remote.target import TargetError
from tests.programs import PATH, why_not
from tests.runtimes.playing import alive, play, until
from tests.runtimes.remote.test_remote import worker_pid
from tests.servers.sshd import HOST, Sshd
from tests.servers.tcp_relay import TcpRelay

Make = Callable[..., Computer]
NEVER = threading.Event()
pytestmark = [pytest.mark.needs("ssh", "sshd"), pytest.mark.slow]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd | None]:
    if why_not("sshd") or why_not("ssh"):
        yield None
        return
    found = Sshd(tmp_path_factory.mktemp("faults"))
    yield found
    found.close()


@pytest.fixture
def network(
    server: Sshd, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[TcpRelay]:
    """What leads to the server; the program `ssh` goes through it."""
    relay = TcpRelay(server.port)
    found = server.through(relay.port, tmp_path_factory.mktemp("client"))
    monkeypatch.setenv("PATH", f"{found}:{PATH}")
    yield relay
    relay.close()


@pytest.fixture
def elsewhere(make: Make, network: TcpRelay) -> Computer:
    return make(target=f"ssh:{HOST}")


def when(text: str, do: Callable[[], object]) -> Callable[[Report, str], None]:
    """Do something once, when the output so far holds the text."""
    waiting = [do]

    def look(report: Report, so_far: str) -> None:
        if text in so_far and waiting:
            waiting.pop()()

    return look


def hold_for_a_moment(network: TcpRelay) -> None:
    network.hold()
    threading.Timer(0.5, network.let_go).start()


STATES = {
    "running": ("import time\nprint('go')\ntime.sleep(60)", "go"),
    "flooding": ("for n in range(10**9): print(n)", "\n1000\r"),
    "asking": ("input('name? ')", "name? "),
}


def test_a_cut_ends_a_run_in_any_state_with_the_words_of_ssh_and_the_next_run_connects_again(
    elsewhere: Computer, network: TcpRelay
) -> None:
    for state, (code, text) in STATES.items():
        assert play(elsewhere, "python", "print(6 * 7)").text == "42\n", state
        pid = worker_pid(elsewhere)
        played = play(elsewhere, "python", code, on=when(text, network.cut))
        assert played.state == "lost", state
        # ssh words it by what it was doing: reading or writing.
        words = r"Connection to 127\.0\.0\.1 closed by remote host|client_loop: send disconnect: Broken pipe"
        expected = rf"the connection to {HOST} ended \(({words})\); Python and its variables there are lost"
        assert re.fullmatch(expected, played.reason or ""), (state, played.reason)
        until(lambda pid=pid: not alive(pid))
    play(elsewhere, "python", "memory = 1")
    elsewhere.pop_losses()
    network.cut()
    losses: list[str] = []
    until(lambda: losses.extend(loss.reason for loss in elsewhere.pop_losses()) or losses)
    assert "the variables of python are lost" in losses[0]


def test_a_cut_while_connecting_is_reported_and_connecting_without_an_answer_can_be_stopped(
    make: Make, network: TcpRelay
) -> None:
    # In its beginning, in the exchange of keys, and after it.
    for size in (20, 1200, 2800):
        passed = network.passed

        def cut(size: int = size, passed: int = passed) -> None:
            until(lambda: network.passed - passed >= size)
            network.cut()

        thread = threading.Thread(target=cut)
        thread.start()
        with pytest.raises(TargetError, match=rf"^(No connection to )?{HOST}: .*[Cc]onnection"):
            make(target=f"ssh:{HOST}")
        thread.join()
    computer, stopped = make(), threading.Event()
    network.hold()
    threading.Timer(0.3, stopped.set).start()
    with pytest.raises(TargetError, match=r"^Connecting was stopped\.$"):
        computer.targets.use(f"ssh:{HOST}", stopped)


def test_what_is_printed_and_typed_while_nothing_passes_keeps_its_order(
    elsewhere: Computer, network: TcpRelay
) -> None:
    network.delay = 0.02
    code = "for n in range(20_000): print(n)\nwords = [input() for _ in range(5)]\nprint(words)"

    def type_ahead(report: Report, so_far: str) -> None:
        if isinstance(report, InputRequested) and not typed:
            hold_for_a_moment(network)
            for n in range(5):
                typed.append(f"word {n}")
                elsewhere.send_input(f"word {n}\n")

    def act(report: Report, so_far: str) -> None:
        hold(report, so_far)
        type_ahead(report, so_far)

    typed: list[str] = []
    hold = when("\n1000\r", lambda: hold_for_a_moment(network))
    played = play(elsewhere, "python", code, on=act)
    lines = played.text.split("\n")
    assert played.state == "finished"
    assert lines[:20_000] == [str(n) for n in range(20_000)]
    assert played.text.endswith(f"{typed}\n")


def test_nobody_waits_for_a_network_that_is_gone_at_the_end_and_nothing_is_left_there(
    make: Make, network: TcpRelay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "SILENCE", 3.0)
    monkeypatch.setattr(wire, "QUIET", 2.5)
    elsewhere = make(target=f"ssh:{HOST}")
    pid = worker_pid(elsewhere)
    network.hold()
    played = play(elsewhere, "shell", "echo hello")
    assert played.state == "lost"
    assert "no answer for 3 seconds" in played.reason
    network.let_go()
    assert play(elsewhere, "shell", "echo hello").text == "hello\n"
    until(lambda: not alive(pid))
    pid = worker_pid(elsewhere)
    network.hold()
    began = time.monotonic()
    elsewhere.close()
    # Once it took ten seconds, for an answer that could not come.
    assert time.monotonic() - began < 8
    until(lambda: not alive(pid))


def test_a_copy_that_the_network_interrupts_is_continued(
    elsewhere: Computer, network: TcpRelay, tmp_path: Path
) -> None:
    files = elsewhere.targets.files_on()
    assert files
    folder = tmp_path / "there"
    folder.mkdir()
    data = os.urandom(1_000_000)
    (tmp_path / "a").write_bytes(data)
    get = files.get(str(tmp_path / "a"), folder / "b", NEVER)
    after(300_000, get)
    network.cut()
    with pytest.raises(FileError, match=r"closed by remote host\. The same command continues the copy"):
        list(get)
    assert not (folder / "b").exists()
    steps = list(files.get(str(tmp_path / "a"), folder / "b", NEVER))
    assert steps[0][0] > 300_000
    assert (folder / "b").read_bytes() == data
    stopped = threading.Event()
    put = files.put(tmp_path / "a", str(folder / "c"), stopped)
    after(300_000, put)
    network.hold()
    threading.Timer(0.2, stopped.set).start()
    with pytest.raises(FileError, match=r"The copy was stopped; the same command continues it"):
        list(put)
    network.let_go()
    steps = list(files.put(tmp_path / "a", str(folder / "c"), NEVER))
    assert steps[0][0] > 300_000
    assert (folder / "c").read_bytes() == data
    assert sorted(path.name for path in folder.iterdir()) == ["b", "c"]


def after(size: int, steps: Iterator[tuple[int, int]]) -> None:
    """Take the steps of a copy until so much of it is there."""
    assert any(at > size for at, _ in steps)
