"""What every Python promises that a person may have: 3.8 and later, each as the chosen interpreter."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import oi_tui
from oi_tui.runtimes import Computer
from tests.runtimes.playing import play

Make = Callable[..., Computer]


def interpreters() -> dict[str, str]:
    """The interpreters of this machine by version: the tests' own, and those on PATH that run."""
    found = {f"{sys.version_info[0]}.{sys.version_info[1]}": sys.executable}
    for minor in range(8, 15):
        name = f"3.{minor}"
        program = shutil.which(f"python{name}")
        if program and name not in found:
            works = subprocess.run([program, "-c", ""], capture_output=True, check=False)
            if works.returncode == 0:
                found[name] = program
    return found


FOUND = interpreters()
#: Found before a test gets a home folder of its own.
PYENV = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")


@pytest.fixture(scope="module", params=FOUND.values(), ids=FOUND.keys())
def program(request: pytest.FixtureRequest) -> str:
    """One interpreter after the other."""
    return str(request.param)


@pytest.fixture(scope="module")
def chosen(program: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """A computer with the interpreter, running, which the tests share."""
    computer = Computer(cwd=tmp_path_factory.mktemp("interpreter"), python=program)
    assert play(computer, "python", "").state == "finished"
    yield computer
    computer.close()


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("1+1", "2\n"),
        ("1+1;", ""),
        ("'''\nx\n'''", "'\\nx\\n'\n"),
        ("import asyncio\nawait asyncio.sleep(0.01)\n'woke'", "'woke'\n"),
        ("async def two():\n    return 2\n[await two() for _ in range(2)]", "[2, 2]\n"),
        ("import asyncio\nawait asyncio.gather(asyncio.sleep(0, 1), asyncio.sleep(0, 2))", "[1, 2]\n"),
        ("import asyncio\nasyncio.run(asyncio.sleep(0)); print('ran')", "ran\n"),
        ("import inspect\ndef g():\n    return 1\nprint(inspect.getsource(g))", "def g():\n    return 1\n\n"),
        ("display('x', 3)", "'x'\n3\n"),
        ("import os; n = os.system('echo a'); print('b')", "a\nb\n"),
        ("!echo from the shell", "from the shell\n"),
        ("lines = !printf 'a\\nb\\n'\nlines", "['a', 'b']\n"),
        ("for i in range(2):\n    !echo {i}", "0\n1\n"),
        ("%%bash\nfor i in 1 2; do echo $i; done", "1\n2\n"),
        ("%matplotlib inline\n3", "3\n"),
        ("exit()", ""),
        ("import sys; print('err', file=sys.stderr)", "err\n"),
        ("from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nP(1)", "P(x=1)\n"),
        ("import threading\nt = threading.Thread(target=print, args=('t',)); t.start(); t.join()", "t\n"),
        (
            (
                "import multiprocessing as m\ndef sq(x): return x * x\n"
                "with m.get_context('fork').Pool(2) as p: print(p.map(sq, [2, 3]))"
            ),
            "[4, 9]\n",
        ),
        ("import subprocess, sys\nn = subprocess.run([sys.executable, '-c', 'print(5)'])", "5\n"),
        ("import warnings; warnings.warn('careful')", "UserWarning: careful"),
    ],
)  # fmt: skip
def test_cells_print_what_a_notebook_would(chosen: Computer, code: str, text: str) -> None:
    played = play(chosen, "python", code)
    assert played.state == "finished", played.text
    if "warn" in code:
        assert text in played.text
    else:
        assert played.text == text


@pytest.mark.parametrize(
    ("code", "reason", "text"),
    [
        ("x = 1\n1/0", "ZeroDivisionError: division by zero", "line 2, in <module>\n    1/0\n"),
        ("def f():\n    raise KeyError('k')\n\nf()", "KeyError: 'k'", "line 2, in f\n"),
        ("print('ran')\ndef (", "SyntaxError: invalid syntax", "def (\n"),
        ("import sys; sys.exit(4)", "exit status 4", ""),
        ("async def f():\n    1/0\nawait f()", "ZeroDivisionError", "line 2, in f\n"),
        ("try:\n    1/0\nfinally:\n    print('last')", "ZeroDivisionError", "last\n"),
        ("try:\n    {}['a']\nexcept KeyError:\n    1/0", "ZeroDivisionError", "During handling of"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'", "line 1"),
        ("%nonsense", "NameError: %nonsense is not known here", ""),
        ("return 5", "SyntaxError: 'return' outside function", "return 5"),
        ("x = 1\n  y = 2", "IndentationError: unexpected indent", "y = 2"),
        ("'open", "SyntaxError", "'open"),
    ],
)  # fmt: skip
def test_errors_say_what_happened_with_the_lines_of_the_cell_only(
    chosen: Computer, code: str, reason: str, text: str
) -> None:
    played = play(chosen, "python", code)
    assert played.state == "failed"
    assert played.reason.startswith(reason)
    assert text in played.text
    assert "python_" not in played.text
    assert "ran\n" not in played.text


def test_questions_are_asked_and_answered(chosen: Computer) -> None:
    played = play(chosen, "python", "name = input('name? ')\nprint('hello', name)", answers=("you\n",))
    assert ([asked.prompt for asked in played.asked], played.answered) == (["name? "], 1)
    assert played.text.endswith("hello you\n")


def test_passwords_are_asked_for_masked_and_never_shown(chosen: Computer) -> None:
    code = "import getpass\nn = len(getpass.getpass('Key: '))\nn"
    played = play(chosen, "python", code, answers=("secret\n",))
    assert [(asked.prompt, asked.masked) for asked in played.asked] == [("Key: ", True)]
    assert "secret" not in played.text
    assert played.text.endswith("6\n")


@pytest.mark.parametrize(
    "code",
    [
        "import time; print('go'); time.sleep(60)",
        "print('go')\nwhile True: pass",
        "import asyncio; print('go')\nawait asyncio.sleep(60)",
        "import subprocess; print('go'); subprocess.run(['sleep', '60'])",
        "print('go')\n!sleep 60",
        "import threading; print('go'); threading.Event().wait()",
    ],
)
def test_an_interrupt_stops_and_keeps_the_memory(chosen: Computer, code: str) -> None:
    assert play(chosen, "python", "kept = 7").state == "finished"
    played = play(chosen, "python", code, stop_at="go\r\n")
    assert played.state == "interrupted"
    assert "python_" not in played.text
    assert play(chosen, "python", "kept").text == "7\n"


def test_a_second_interrupt_ends_what_swallows_the_first(chosen: Computer) -> None:
    code = (
        "kept, went = 8, 0\nwhile True:\n    try:\n        went or print('go')\n        went = 1\n"
        "        while True: pass\n    except KeyboardInterrupt: pass"
    )
    played = play(chosen, "python", code, stop_at="go\r\n", insists=True)
    assert (played.state, played.steps) == ("interrupted", ["interrupt", "terminate"])
    assert play(chosen, "python", "kept").text == "8\n"


@pytest.mark.parametrize("code", ["input('go ')", "import getpass; getpass.getpass('go ')"])
def test_an_interrupted_question_shows_the_lines_of_the_cell_only(chosen: Computer, code: str) -> None:
    played = play(chosen, "python", code, stop_at="go ")
    assert played.state == "interrupted"
    assert "line 1, in <module>" in played.text
    assert "KeyboardInterrupt" in played.text
    assert "python_driver" not in played.text


def test_the_lines_that_run_are_reported(chosen: Computer) -> None:
    code = "import time\ndef f():\n    time.sleep(0.15)\n\nf()\ntime.sleep(0.15)"
    lines = play(chosen, "python", code).lines
    assert [line for line in lines if line in (3, 6)] == [3, 6]
    assert lines[-1] is None


def test_packages_are_installed_for_the_chosen_interpreter(chosen: Computer) -> None:
    played = play(chosen, "python", "import sys; print(sys.version_info[:2])\n%pip --version")
    version = next(line for line in played.text.splitlines() if line.startswith("("))
    major, minor = version.strip("()").split(", ")
    assert played.state == "finished"
    assert f"(python {major}.{minor})" in played.text or "No module named pip" in played.text


def test_a_process_that_is_spawned_anew_ends(make: Make, program: str) -> None:
    code = (
        "import multiprocessing as m, operator\n"
        "with m.get_context('spawn').Pool(1) as p: print(p.map(operator.neg, [2]))"
    )
    assert play(make(python=program), "python", code).text == "[-2]\n"


def test_a_crash_is_reported_and_the_next_run_begins_anew(make: Make, program: str) -> None:
    computer = make(python=program)
    played = play(computer, "python", "import os; os._exit(7)")
    assert (played.state, played.reason) == ("lost", "Python ended (exit status 7); its variables are lost")
    assert play(computer, "python", "2").text == "2\n"


def oldest(version: str) -> str:
    """An interpreter of that version, also one that only pyenv has; skips the test where there is none."""
    program = FOUND.get(version) or next(map(str, PYENV.glob(f"versions/{version}.*/bin/python")), None)
    if program is None:
        pytest.skip(f"python{version} is not installed here")
    return program


def printed(program: str, code: str) -> str:
    done = subprocess.run([program, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


OURS = Path(oi_tui.__file__).parent


def test_the_computer_object_works_in_the_oldest_python_that_has_it() -> None:
    """All of its modules can be imported, and times have zones."""
    code = (
        f"import sys, types\npackage = types.ModuleType('oi_tui')\npackage.__path__ = [{str(OURS)!r}]\n"
        "sys.modules['oi_tui'] = package\nimport importlib, pkgutil, oi_tui.computer as computer\n"
        "for item in pkgutil.walk_packages(computer.__path__, 'oi_tui.computer.'):\n"
        "    importlib.import_module(item.name)\n"
        "import datetime\nzone = datetime.timezone(datetime.timedelta(hours=1))\n"
        "moment = datetime.datetime(2026, 3, 9, 12, tzinfo=zone)\n"
        "print(sys.modules['oi_tui.computer.personal.event_times'].write_stamp(moment))"
    )
    assert printed(oldest("3.9"), code) == "20260309T110000Z"


def test_figures_are_photographed_in_the_oldest_python() -> None:
    folder = OURS / "runtimes" / "drivers" / "python"
    folders = [str(folder), *(str(item) for item in folder.iterdir() if item.is_dir())]
    code = (
        f"import sys\nsys.path[:0] = {folders!r}\nimport python_plots\n"
        "print(python_plots._photograph('true', '/page.html', (100, 100))[1].strip())"
    )
    assert printed(oldest("3.8"), code) == "(the browser true made none)"
