"""What Python promises of asyncio: one loop for all cells, in which tasks go on as in a notebook."""

# ruff: noqa: E501 - code of other languages, as it is

import threading
from pathlib import Path

from oi_tui.messages import Printed, Report, RunEnded, Stopping
from oi_tui.runtimes import Computer
from tests.runtimes.playing import play, until


def run(computer: Computer, code: str, **options: object) -> str:
    return play(computer, "python", code, **options).text  # type: ignore[arg-type]


TICKING = """
import asyncio
async def work(name, steps):
    for step in range(steps):
        await asyncio.sleep(0.01)
        open(name, 'a').write('.')
    return name
"""


def test_a_task_of_one_cell_goes_on_while_a_later_one_awaits(computer: Computer) -> None:
    assert run(computer, TICKING + "task = asyncio.create_task(work('a', 3))\nprint('made')") == "made\n"
    assert run(computer, "await task") == "'a'\n"
    assert (computer.cwd / "a").read_text() == "..."


def test_a_task_goes_on_between_the_cells(computer: Computer) -> None:
    assert run(computer, TICKING + "task = asyncio.create_task(work('b', 3))") == ""
    until(lambda: Path(computer.cwd, "b").exists() and (computer.cwd / "b").read_text() == "...")
    assert run(computer, "task.done()") == "True\n"


def test_a_server_of_one_cell_answers_between_the_cells(computer: Computer) -> None:
    code = (
        "import asyncio, threading, urllib.request\n"
        "async def answer(reader, writer):\n"
        "    await reader.readline()\n"
        "    writer.write(b'HTTP/1.0 200 OK\\r\\n\\r\\nserved'); writer.close()\n"
        "server = await asyncio.start_server(answer, '127.0.0.1', 0)\n"
        "port = server.sockets[0].getsockname()[1]\n"
        "def ask():\n"
        "    words = urllib.request.urlopen(f'http://127.0.0.1:{port}/', timeout=20).read()\n"
        "    open('answer', 'wb').write(words)\n"
        "threading.Thread(target=ask).start()"
    )
    assert run(computer, code) == ""
    until(lambda: Path(computer.cwd, "answer").exists() and (computer.cwd / "answer").read_text() == "served")


def test_what_a_task_prints_between_the_cells_comes_with_the_next_one(computer: Computer) -> None:
    code = "import asyncio\nasync def say():\n    print('said'); open('said', 'w').close()\nt = asyncio.create_task(say())"
    assert run(computer, code) == ""
    until(Path(computer.cwd, "said").exists)
    assert run(computer, "1") == "said\n1\n"


def test_all_cells_have_the_same_loop(computer: Computer) -> None:
    run(computer, "import asyncio\nfirst = asyncio.get_running_loop()\nqueue = asyncio.Queue()")
    run(computer, "asyncio.run(asyncio.sleep(0))")
    run(computer, "await queue.put(7)\nsecond = asyncio.get_event_loop()")
    assert run(computer, "first is second is asyncio.get_event_loop()") == "True\n"
    assert run(computer, "first.run_until_complete(queue.get())") == "7\n"
    assert run(computer, "asyncio.run(asyncio.sleep(0, 'own'))") == "'own'\n"


def test_a_library_still_sees_that_no_loop_runs(computer: Computer) -> None:
    (computer.cwd / "library.py").write_text(
        "import asyncio\ndef call(coroutine):\n    try:\n        asyncio.get_running_loop()\n"
        "    except RuntimeError:\n        return asyncio.run(coroutine)\n    raise RuntimeError('a loop runs')\n"
    )
    assert run(computer, "import asyncio, library\nlibrary.call(asyncio.sleep(0, 5))") == "5\n"


def test_stopping_an_await_ends_what_its_cell_began_and_nothing_older(computer: Computer) -> None:
    run(computer, TICKING + "older = asyncio.create_task(asyncio.sleep(3600))")
    code = "newer = asyncio.create_task(work('d', 10**6))\nprint('go')\nawait asyncio.gather(newer)"
    assert play(computer, "python", code, stop_at="go\r\n").state == "interrupted"
    assert run(computer, "newer.cancelled(), older.done()") == "(True, False)\n"
    assert run(computer, "older.cancel()\nawait asyncio.wait([older])\nolder.cancelled()") == "True\n"


def test_stopping_an_await_ends_no_older_task_that_has_its_turn_just_then(computer: Computer) -> None:
    code = (
        "import asyncio, time\n"
        "async def busy():\n"
        "    while True:\n"
        "        open('turns', 'a').write('.')\n"
        "        time.sleep(0.05)\n"
        "        await asyncio.sleep(0)\n"
        "older = asyncio.create_task(busy())"
    )
    run(computer, code)
    for _ in range(5):
        cell = "print('go', flush=True)\nawait asyncio.sleep(3600)"
        played = play(computer, "python", cell, stop_at="go\r\n")
        assert (played.state, played.steps) == ("interrupted", ["interrupt"])
        # It may have come just before the cell awaited, which then shows its line.
        assert played.text.endswith("KeyboardInterrupt\n")
        assert "busy" not in played.text
    assert run(computer, "older.done()") == "False\n"
    turns = (computer.cwd / "turns").stat().st_size
    until(lambda: (computer.cwd / "turns").stat().st_size > turns)


def test_an_older_task_that_lets_nobody_else_have_a_turn_can_be_stopped(computer: Computer) -> None:
    code = "import asyncio\nasync def hog():\n    await begin.wait()\n    print('go', flush=True)\n    while True: pass\nbegin = asyncio.Event()\nolder = asyncio.create_task(hog())\nkept = 1"
    run(computer, code)
    code = "begin.set()\nawait asyncio.sleep(3600)"
    played = play(computer, "python", code, stop_at="go\r\n", insists=True)
    assert (played.state, played.steps) == ("interrupted", ["interrupt", "terminate"])
    assert run(computer, "kept, older.done()") == "(1, True)\n"


def test_a_task_that_keeps_a_cell_from_beginning_can_be_stopped(computer: Computer) -> None:
    code = "import asyncio\nasync def hog():\n    open('hogs', 'w').close()\n    while True: pass\nt = asyncio.create_task(hog())\nkept = 1"
    run(computer, code)
    until(Path(computer.cwd, "hogs").exists)
    reports: list[Report] = []
    thread = threading.Thread(target=lambda: reports.extend(computer.run("python", "print('r' + 'an')")))
    thread.start()

    # Stopped before its code was handed over, the run would end at once.
    until(
        lambda: (
            computer.targets.running
            and computer.targets.running._run
            and computer.targets.running._run._line._read
        )
    )
    computer.interrupt()
    until(lambda: any(isinstance(report, Stopping) for report in reports))
    thread.join()
    assert isinstance(reports[-1], RunEnded)
    assert reports[-1].state == "interrupted"
    assert "ran\n" not in "".join(item.text for item in reports if isinstance(item, Printed))
    assert run(computer, "kept") == "1\n"


def test_tasks_that_are_left_make_no_noise(computer: Computer) -> None:
    run(computer, TICKING + "tasks = [asyncio.create_task(work('e', 10**6)) for _ in range(3)]")
    assert run(computer, "await asyncio.sleep(0)") == ""
    assert run(computer, "import os\nos.closerange(3, 100)\ndel tasks\nimport gc; n = gc.collect()") == ""
    assert run(computer, "await asyncio.sleep(0, 'on')") == "'on'\n"


def test_a_task_that_exits_ends_nothing_else(computer: Computer) -> None:
    code = "import asyncio, sys\nasync def leave():\n    open('left', 'w').close()\n    sys.exit(3)\nt = asyncio.create_task(leave())"
    run(computer, TICKING + "kept = asyncio.create_task(work('f', 3))\n" + code)
    until(Path(computer.cwd, "left").exists)
    assert run(computer, "await kept") == "'f'\n"
