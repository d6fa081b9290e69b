"""A real Jupyter kernel as the place where code runs."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from oi_tui.engine.output.plain import make_plain
from oi_tui.messages import CLEAR_OUTPUT, Displayed, InputRequested, Printed, Report, Stopping
from oi_tui.runtimes import Computer
from oi_tui.runtimes.remote.target import TargetError
from tests.runtimes.playing import alive, play, until

pytest.importorskip("jupyter_client", reason="jupyter-client is not installed here (extra kernel)")
pytest.importorskip("ipykernel", reason="ipykernel is not installed here")
Make = Callable[..., Computer]


def is_whole(file: Path) -> bool:
    """Whether the kernel has written all of its connection file."""
    try:
        return "shell_port" in json.loads(file.read_text())
    except (OSError, ValueError):
        return False


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, int]]:
    """The connection file of a kernel that runs, and its process."""
    file = tmp_path_factory.mktemp("kernel") / "kernel-1.json"
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "ipykernel_launcher", "-f", str(file)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until(lambda: is_whole(file))
        yield file, process.pid
    finally:
        process.kill()
        process.wait(10)


@pytest.fixture
def computer(make: Make, kernel: tuple[Path, int]) -> Computer:
    return make(target=f"kernel:{kernel[0]}")


def test_code_runs_in_the_kernel_and_its_variables_stay(
    make: Make, computer: Computer, kernel: tuple[Path, int]
) -> None:
    assert computer.languages == ("python",)
    assert computer.where == "in the kernel of kernel-1.json"
    assert computer.describe("python").endswith("(Jupyter kernel)")
    assert play(computer, "python", "memory = 41; print('grüße')").text == "grüße\n"
    assert play(computer, "python", "memory + 1").text == "42\n"
    computer.close()
    assert alive(kernel[1])
    assert set(computer.target_past) == {"python"}
    assert play(make(target=f"kernel:{kernel[0]}"), "python", "print(memory + 1)").text == "42\n"


def test_an_error_fails_the_run(computer: Computer) -> None:
    played = play(computer, "python", "print('before')\nraise ValueError('oops')")
    assert (played.state, played.reason) == ("failed", "ValueError: oops")
    assert played.text.startswith("before\n")
    assert "oops" in played.text


SHELL_KERNEL = """
import subprocess
from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

class Shell(Kernel):
    implementation, implementation_version, banner = "shell", "1", ""
    language_info = {"name": "bash", "mimetype": "text/x-sh", "file_extension": ".sh"}

    def do_execute(self, code, silent, *_, **__):
        done = subprocess.run(["sh", "-c", code], capture_output=True, text=True)
        self.send_response(self.iopub_socket, "stream", {"name": "stdout", "text": done.stdout})
        if not done.returncode:
            return {"status": "ok", "execution_count": 1, "payload": [], "user_expressions": {}}
        error = {"ename": "", "evalue": str(done.returncode), "traceback": []}
        self.send_response(self.iopub_socket, "error", error)
        return {"status": "error", "execution_count": 1, **error}

IPKernelApp.launch_instance(kernel_class=Shell)
"""


def test_the_kernel_of_a_shell_gives_an_exit_status_as_the_reason(make: Make, tmp_path: Path) -> None:
    """As bash_kernel does: it names no error, and its value is the number alone."""
    file = tmp_path / "kernel-2.json"
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", SHELL_KERNEL, "-f", str(file)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until(lambda: is_whole(file))
        computer = make(target=f"kernel:{file}")
        played = play(computer, computer.languages[0], "echo out; exit 3")
        assert (played.state, played.reason, played.text) == ("failed", "exit status 3", "out\n")
        assert play(computer, computer.languages[0], "echo ok").text == "ok\n"
    finally:
        process.kill()
        process.wait(10)


def test_help_and_loaded_code_are_shown(computer: Computer, tmp_path: Path) -> None:
    assert "Prints the values to a stream" in play(computer, "python", "print?").text
    (tmp_path / "cell.py").write_text("a = 1\nb = 2\n")
    played = play(computer, "python", f"%load {tmp_path}/cell.py")
    assert (played.state, played.text.endswith("a = 1\nb = 2\n")) == ("finished", True)


def test_output_that_a_program_clears_is_gone(computer: Computer) -> None:
    code = (
        "from IPython.display import clear_output\nfor i in range(3):\n"
        "    clear_output(wait=True)\n    print('step', i)"
    )
    played = play(computer, "python", code)
    assert played.text.endswith(f"{CLEAR_OUTPUT}step 2\n")
    assert make_plain(played.text) == "step 2"


def test_an_image_is_shown(computer: Computer) -> None:
    code = (
        "import base64\nclass Shown:\n    def _repr_png_(self):\n"
        "        return b'\\x89PNG\\r\\n\\x1a\\n'\nShown()"
    )
    (shown,) = play(computer, "python", code).shown
    assert isinstance(shown, Displayed)
    assert shown.format == "base64.png"


def test_questions_are_reported_and_answered(computer: Computer) -> None:
    code = (
        "import getpass\nname = input('name? ')\nword = getpass.getpass('Password: ')\nprint(name, len(word))"
    )
    played = play(computer, "python", code, answers=("Ada\n", "secret\n"))
    asked = [(report.prompt, report.masked) for report in played.asked]
    assert asked == [("name? ", False), ("Password: ", True)]
    assert played.text.endswith("Ada 6\n")
    assert "secret" not in played.text


def test_output_is_seen_as_it_comes_and_an_interrupt_keeps_the_variables(computer: Computer) -> None:
    play(computer, "python", "memory = 41")
    # A sleep that begins as the signal comes is not cut short by it; the next one is.
    code = "import time\nprint('go', flush=True)\nfor _ in range(600):\n    time.sleep(0.1)"
    played = play(computer, "python", code, stop_at="go\r\n")
    assert played.state == "interrupted"
    assert played.seconds < 10
    assert play(computer, "python", "memory + 1").text == "42\n"


def test_an_interrupt_at_the_very_end_leaves_no_run_without_its_end(computer: Computer) -> None:
    play(computer, "python", "import time; memory = 41")
    for n in range(20):
        timer = threading.Timer(0.02 + n * 0.001, computer.interrupt)
        timer.start()
        played = play(computer, "python", "time.sleep(0.03)")
        timer.join()
        assert played.state in ("finished", "interrupted")
        assert played.seconds < 10
    assert play(computer, "python", "memory + 1").text == "42\n"


#: Sends the beginning of a message, as an interrupt at that moment makes a kernel do.
CUT_OFF = """
import zmq
kernel = get_ipython().kernel
socket = kernel.shell_stream.socket if kernel.shell_stream else kernel.shell_socket
for frame in (*kernel._parent_ident["shell"], b"<IDS|MSG>", b"0" * 64, b"{}"):
    _ = socket.send(frame, zmq.SNDMORE)
"""


def test_a_message_that_an_interrupt_cut_off_ends_its_run_and_no_other(computer: Computer) -> None:
    play(computer, "python", "import time; memory = 41")
    played = play(computer, "python", f"{CUT_OFF}\nprint('go')\ntime.sleep(60)", stop_at="go\r\n")
    assert played.state == "interrupted"
    assert play(computer, "python", "memory + 1").text == "42\n"


def test_a_damaged_message_is_dropped_and_the_run_ends_with_a_reason(computer: Computer) -> None:
    played = play(computer, "python", f"{CUT_OFF}\nmemory = 41")
    assert (played.state, played.text) == ("lost", "")
    assert played.reason.startswith(
        "a message of the kernel was damaged, and how the code ended is not known"
    )
    assert play(computer, "python", "memory + 1").text == "42\n"


#: The kernel sends no answer to this, as if an interrupt had hit it at that moment.
WITHOUT_ANSWER = """
session = get_ipython().kernel.session
send = session.send
def lose(stream, message, *given, **named):
    if message == "execute_reply":
        session.send = send
        return {"content": {"status": "ok"}}
    return send(stream, message, *given, **named)
session.send = lose
"""


def test_a_run_whose_answer_an_earlier_interrupt_took_ends_with_a_reason(computer: Computer) -> None:
    play(computer, "python", "import time\nprint('go')\ntime.sleep(60)", stop_at="go\r\n")
    played = play(computer, "python", WITHOUT_ANSWER)
    assert played.state == "lost"
    assert played.reason.startswith("an earlier interrupt reached the kernel late")
    assert play(computer, "python", "print(1)").text == "1\n"


def test_a_question_can_be_interrupted(computer: Computer) -> None:
    def stop(report: Report, _: str) -> None:
        if isinstance(report, InputRequested):
            computer.interrupt()

    assert play(computer, "python", "input('? ')", on=stop).state == "interrupted"
    assert play(computer, "python", "print(1)").text == "1\n"


def test_what_does_not_stop_is_left_and_not_ended(computer: Computer, kernel: tuple[Path, int]) -> None:
    deaf = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)"
    code = f"{deaf}\nprint('go', flush=True)\ntime.sleep(4)"

    def insist(report: Report, so_far: str) -> None:
        if isinstance(report, Printed) and "go" in so_far:
            computer.interrupt()
        if isinstance(report, Stopping) and report.seconds is None:
            assert "keeps its variables" in report.at_stake
            computer.interrupt()

    played = play(computer, "python", code, on=insist)
    assert played.state == "lost"
    assert "still runs in the kernel of kernel-1.json" in played.reason
    assert alive(kernel[1])
    assert play(computer, "python", "print(1)").text == "1\n"


def test_a_run_that_nobody_follows_is_interrupted(computer: Computer) -> None:
    reports = computer.run("python", "import time\nprint('go', flush=True)\ntime.sleep(60)")
    for report in reports:
        if isinstance(report, Printed):
            break
    reports.close()
    assert play(computer, "python", "print(1)").text == "1\n"


def test_a_thread_that_runs_code_leaves_no_event_loop_open(
    computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[asyncio.AbstractEventLoop] = []
    make = asyncio.new_event_loop

    def note() -> asyncio.AbstractEventLoop:
        made.append(make())
        return made[-1]

    monkeypatch.setattr(asyncio, "new_event_loop", note)
    played: list[str] = []
    thread = threading.Thread(target=lambda: played.append(play(computer, "python", "print(1)").text))
    thread.start()
    thread.join()
    for loop in made:
        loop.close()
    assert (played, made) == (["1\n"], [])


def test_a_kernel_that_is_held_up_has_not_ended(computer: Computer, kernel: tuple[Path, int]) -> None:
    client = computer.targets.remote.client._client  # type: ignore[union-attr]

    def hold_up(_: Report, so_far: str) -> None:
        if "go" in so_far and not held:
            held.append(True)
            os.kill(kernel[1], signal.SIGSTOP)
            threading.Thread(target=let_go).start()

    def let_go() -> None:
        # No beat of its heart was heard in time.
        until(lambda: not client.hb_channel.is_beating())
        threading.Timer(0.3, os.kill, (kernel[1], signal.SIGCONT)).start()

    held: list[bool] = []
    code = "import time\nprint('go', flush=True)\ntime.sleep(0.1)\nprint('on')"
    played = play(computer, "python", code, on=hold_up)
    assert (played.state, played.text) == ("finished", "go\non\n")


def test_a_kernel_that_dies_is_reported(make: Make, tmp_path: Path) -> None:
    file = tmp_path / "k.json"
    words = [sys.executable, "-W", "ignore", "-m", "ipykernel_launcher", "-f", str(file)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: is_whole(file))
        computer = make(target=f"kernel:{file}")

        def kill(_: Report, so_far: str) -> None:
            if "go" in so_far:
                process.kill()

        played = play(computer, "python", "import time\nprint('go', flush=True)\ntime.sleep(60)", on=kill)
        assert played.state == "lost"
        assert "the kernel ended" in played.reason
    finally:
        process.kill()
        process.wait(10)


@pytest.mark.parametrize(
    ("text", "words"),
    [(None, "No such file"), ("{}", "not the connection file"), ("[", "not the connection file")],
)
def test_what_is_no_kernel_is_refused(make: Make, tmp_path: Path, text: str | None, words: str) -> None:
    file = tmp_path / "k.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(TargetError, match=words):
        make(target=f"kernel:{file}")


def test_a_kernel_that_has_ended_is_not_waited_for_long(make: Make, tmp_path: Path) -> None:
    from jupyter_client.connect import write_connection_file

    file = tmp_path / "k.json"
    write_connection_file(str(file))
    stopped = threading.Event()
    computer = make()
    timer = threading.Timer(0.5, stopped.set)
    timer.start()
    with pytest.raises(TargetError, match="stopped"):
        computer.targets.use(f"kernel:{file}", stopped)
    timer.join()
