"""What Python promises of processes that `multiprocessing` starts: they know what the cells define."""

# ruff: noqa: E501 - code of other languages, as it is

import pytest

from oi_tui.runtimes import Computer
from tests.runtimes.playing import play

DEFINED = """
import multiprocessing, os
from concurrent.futures import ProcessPoolExecutor
FIRST = 10
computed = sum(range(5))
!true
def add(x, more=computed):
    return x + more + FIRST
class Pair:
    def __init__(self, one): self.one = one
    def __repr__(self): return f'Pair({self.one})'
def pair(x): return Pair(x)
open('canary', 'a').write('x');
"""


@pytest.fixture(params=["spawn", "forkserver"])
def defined(computer: Computer, request: pytest.FixtureRequest) -> Computer:
    """A computer on which a cell has defined something, with the context in `c`."""
    code = DEFINED + f"c = multiprocessing.get_context('{request.param}')"
    assert play(computer, "python", code).state == "finished"
    return computer


KNOWN = [
        ("p = c.Process(target=add, args=(1,)); p.start(); p.join(); p.exitcode", "0\n"),
        ("with c.Pool(1) as pool: print(pool.map(add, [1, 2]))", "[21, 22]\n"),
        ("with ProcessPoolExecutor(1, mp_context=c) as e: print(list(e.map(pair, [1, 2])))", "[Pair(1), Pair(2)]\n"),
        ("FIRST = 100\nwith c.Pool(1) as pool: print(pool.map(add, [1]))\nFIRST = 10", "[111]\n"),
        ("def newer(x):\n    return add(x) * 2\nwith c.Pool(1) as pool: print(pool.map(newer, [1]))", "[42]\n"),
        ("if __name__ == '__main__':\n    q = c.Queue()\n    p = c.Process(target=q.put, args=(Pair(3),))\n    p.start(); print(q.get()); p.join()", "Pair(3)\n"),
        ("import inspect\ndef text(_): return inspect.getsource(pair)\nwith c.Pool(1) as pool: print(pool.map(text, [1])[0])", "def pair(x): return Pair(x)\n\n"),
        ("open('canary').read()", "'x'\n"),
]  # fmt: skip


def test_processes_know_functions_classes_imports_and_plain_variables(defined: Computer) -> None:
    for code, text in KNOWN:
        played = play(defined, "python", code)
        assert (played.text, played.state) == (text, "finished"), code


UNKNOWN = [
        ("exec('def hidden(x): return x')\nwith c.Pool(1) as p: p.map(hidden, [1])", "NameError: hidden is not known in this process"),
        ("exec('class Unknown: pass')\ndef take(x): return str(x.a)\nwith c.Pool(1) as p: p.map(take, [Unknown()])", "NameError: Unknown is not known in this process"),
        ("import threading\nlock = threading.Lock()\ndef locked(x):\n    with lock: return x\nwith c.Pool(1) as p: p.map(locked, [1])", "NameError: name 'lock' is not defined"),
        ("def bad(x): return 1 / x\nwith c.Pool(1) as p: p.map(bad, [0])", "ZeroDivisionError"),
        ("with c.Pool(1) as p: p.map(lambda x: x, [1])", ""),
]  # fmt: skip


def test_what_they_cannot_know_is_an_error_and_no_hang(defined: Computer) -> None:
    for code, reason in UNKNOWN:
        played = play(defined, "python", code)
        assert played.state == "failed", code
        assert played.reason.startswith(reason), code
