"""What Python promises beyond the contract."""

# ruff: noqa: E501 - code of other languages, as it is

import re
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from oi_tui.messages import ValueBegan
from oi_tui.runtimes import Computer
from tests.runtimes.playing import play

Make = Callable[..., Computer]


def run(computer: Computer, code: str, **options: object) -> str:
    return play(computer, "python", code, **options).text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("1+1", "2\n"),
        ("None", ""),
        ("'a'", "'a'\n"),
        ("1+1;", ""),
        ("x = 5", ""),
        ("1\n2\n3", "3\n"),
        ("'''\nx\n\n# y\n'''", "'\\nx\\n\\n# y\\n'\n"),
        ("def f():\n    '''doc'''\nf.__doc__", "'doc'\n"),
        ("import inspect\ndef g():\n    return 1\nprint(inspect.getsource(g))", "def g():\n    return 1\n\n"),
        ("__name__", "'__main__'\n"),
        ("if __name__ == '__main__':\n    print('main')", "main\n"),
        ("import sys; sys.argv", "['']\n"),
        ("f = lambda a: a if a else 0\n[f(i) for i in range(3)]", "[0, 1, 2]\n"),
        ("import asyncio\nawait asyncio.sleep(0.01)\n'woke'", "'woke'\n"),
        ("async def two():\n    return 2\nawait two()", "2\n"),
        ("import asyncio\nasyncio.run(asyncio.sleep(0)); print('ran')", "ran\n"),
        ("async def g():\n    yield 1\n[i async for i in g()]", "[1]\n"),
        ("import subprocess; subprocess.run(['echo', 'child']); print('after')", "child\nafter\n"),
        ("print('a'); import os; n = os.system('echo b'); print('c')", "a\nb\nc\n"),
        ("!echo from the shell", "from the shell\n"),
        ("n = 3\n!echo {n} $n", "3 3\n"),
        ("lines = !printf 'a\\nb\\n'\nlines", "['a', 'b']\n"),
        ("text = '''\n!echo no\n%pip no\n'''\n!echo yes\nlen(text)", "yes\n18\n"),
        ("for i in range(2):\n    !echo {i}", "0\n1\n"),
        ("x = (7\n%4)\nx", "3\n"),
        ("%%bash\nfor i in 1 2; do echo $i; done", "1\n2\n"),
        ("%matplotlib inline\n3", "3\n"),
        ("from __future__ import annotations\ndef f(a: missing): pass\nf.__annotations__", "{'a': 'missing'}\n"),
        ("import multiprocessing as m\ndef sq(x): return x * x\nwith m.get_context('fork').Pool(2) as p: print(p.map(sq, [2, 3]))", "[4, 9]\n"),
        ("import os, sys\nif not os.fork(): sys.exit(3)\nos.wait()[1] >> 8", "3\n"),
        ("import pickle\nclass C: pass\ntype(pickle.loads(pickle.dumps(C()))).__name__", "'C'\n"),
        ("display('x', 3, None)", "'x'\n3\nNone\n"),
        ("    def f():\n        return 1\n    f()", "1\n"),
        ("  !echo indented\n  z = 3\n  z", "indented\n3\n"),
        ("print('a\\ud800b')", "a\\ud800b\n"),
        ("import os; print(os.fsdecode(b'x\\xff'))", "x\ufffd\n"),
        ("exit()", ""),
        ("raise SystemExit", ""),
        ("import threading\nt = threading.Thread(target=print, args=('thread',)); t.start(); t.join()", "thread\n"),
    ],
)  # fmt: skip
def test_cells_print_what_a_notebook_would(shared: Computer, code: str, text: str) -> None:
    played = play(shared, "python", code)
    assert (played.text, played.state) == (text, "finished")


def test_a_cell_may_be_written_to_a_file(shared: Computer) -> None:
    assert run(shared, "%%writefile note.txt\na\n\nb") == "Writing note.txt\n"
    assert run(shared, "open('note.txt').read()") == "'a\\n\\nb\\n'\n"
    assert run(shared, "%%writefile -a note.txt\nc") == "Appending to note.txt\n"
    assert (shared.cwd / "note.txt").read_text() == "a\n\nb\nc\n"


@pytest.mark.parametrize(
    ("code", "reason", "text"),
    [
        ("x = 1\n1/0", "ZeroDivisionError: division by zero", 'line 2, in <module>\n    1/0\n'),
        ("def f():\n    raise KeyError('k')\n\nf()", "KeyError: 'k'", "line 2, in f\n"),
        ("def (", "SyntaxError: invalid syntax", "def (\n"),
        ("import sys; sys.exit(4)", "exit status 4", ""),
        ("import sys; sys.exit('words')", "exit status 1", "words\n"),
        ("class E:\n    def __repr__(self): raise ValueError('repr')\nE()", "ValueError: repr", "in __repr__"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", "KeyboardInterrupt"),
        ("import asyncio\nawait asyncio.wait_for(asyncio.sleep(9), 0.01)", "TimeoutError", "line 2"),
        ("%nonsense", "NameError: %nonsense is not known here", ""),
        ("return 5", "SyntaxError: 'return' outside function", "return 5"),
        ("raise BaseException('base')", "BaseException: base", ""),
        ("raise ExceptionGroup('g', [ValueError(1)])", "ExceptionGroup: g (1 sub-exception)", "ValueError: 1"),
    ],
)  # fmt: skip
def test_errors_say_what_happened_with_the_lines_of_the_cell_only(
    shared: Computer, code: str, reason: str, text: str
) -> None:
    played = play(shared, "python", code)
    assert played.state == "failed"
    assert played.reason.startswith(reason)
    assert text in played.text
    assert "python_driver" not in played.text
    assert "During handling" not in played.text


def test_a_mistake_anywhere_means_that_nothing_runs(shared: Computer) -> None:
    text = run(shared, "print('r' + 'an')\n\nx = = 1")
    assert "SyntaxError" in text
    assert "ran" not in text


def test_passwords_are_asked_for_masked_and_never_shown(shared: Computer) -> None:
    played = play(
        shared, "python", "import getpass\nn = len(getpass.getpass('Key: '))\nn", answers=("secret\n",)
    )
    assert [(asked.prompt, asked.masked) for asked in played.asked] == [("Key: ", True)]
    assert "secret" not in played.text
    assert played.text.endswith("6\n")


@pytest.mark.parametrize(
    "ask",
    ["getpass.getpass", "lambda q: subprocess.run(READ, shell=True, text=True, stdout=-1).stdout.strip()"],
)
def test_what_was_typed_hidden_is_not_shown_among_the_variables(shared: Computer, ask: str) -> None:
    code = f"import getpass, subprocess\nREAD = 'printf Key:; stty -echo; read x; stty echo; echo $x'\np = ({ask})('Key: ')\n"
    played = play(shared, "python", code + "held = {'key': p}\nother = 'plain words'", answers=("s3cret\n",))
    assert played.asked[0].masked
    variables = {item.name: item.summary for item in shared.inspector.read_variables("python")}
    assert "s3cret" not in str(variables)
    assert "plain words" in variables["other"]
    for name in ("p", "held"):
        detail = shared.inspector.inspect("python", name)
        assert detail is not None
        assert "s3cret" not in detail.preview


def test_questions_of_children_are_found(shared: Computer) -> None:
    code = "import subprocess\nn = subprocess.run(['sh', '-c', 'printf \"sure? \"; read x; echo [$x]'])"
    played = play(shared, "python", code, answers=("yes\n",))
    assert played.asked[0].prompt == "sure? "
    assert "[yes]" in played.text


def test_the_end_of_input_can_be_typed(shared: Computer) -> None:
    played = play(shared, "python", "input()", answers=("\x04",))
    assert played.reason.startswith("EOFError")


def test_what_sleeps_or_computes_is_not_taken_for_waiting(shared: Computer) -> None:
    for code in (
        "import time; time.sleep(0.4)",
        "import time\nend = time.time() + 0.4\nwhile time.time() < end: pass",
        "import socket, select; a, b = socket.socketpair(); n = select.select([a], [], [], 0.4)",
        "import subprocess; n = subprocess.run(['sleep', '0.4'])",
        "import threading; n = threading.Event().wait(0.4)",
    ):
        assert play(shared, "python", code).asked == []


def test_rich_values_are_displayed_where_they_were_made(shared: Computer) -> None:
    code = (
        "class P:\n    def _repr_png_(self): return b'png'\n"
        "class H:\n    def _repr_html_(self): return '<b>x</b>'\n    def __repr__(self): return 'plain'\n"
        "print('before'); display(P()); print('after')\nH()"
    )
    played = play(shared, "python", code)
    assert [(shown.format, shown.content) for shown in played.shown] == [
        ("base64.png", "cG5n"),
        ("html", "<b>x</b>"),
    ]
    assert played.text == "before\nafter\nplain\n"
    kinds = [type(report).__name__ for _, report in played.reports if type(report).__name__ != "LineReached"]
    kinds = [kind for kind, last in zip(kinds, [None, *kinds], strict=False) if kind != last]
    display = ["ValueBegan", "Displayed", "ValueEnded"]
    result = ["ValueBegan", "Printed", "Displayed", "ValueEnded"]
    assert kinds == ["Printed", *display, "Printed", *result, "RunEnded"]
    assert [report.kind for _, report in played.reports if isinstance(report, ValueBegan)] == [
        "display",
        "result",
    ]


def test_a_value_that_says_nothing_of_itself_says_why_it_has_no_image(shared: Computer) -> None:
    failing = "    def _repr_png_(self): raise ValueError('no such file\\nnothing')\n"
    played = play(shared, "python", f"class P:\n{failing}P()")
    assert played.state == "finished"
    assert re.fullmatch(r"<__main__\.P.*>\nIt cannot be shown: ValueError: no such file\n", played.text)
    played = play(shared, "python", f"class Q:\n{failing}    def __repr__(self): return 'Q itself'\nQ()")
    assert played.text == "Q itself\n"
    # What was wrong with one value is not said of the next.
    assert (
        "cannot be shown"
        not in play(shared, "python", "display(P())\nclass R: pass\nR()").text.splitlines()[-1]
    )


def test_so_many_values_of_a_cell_are_told_apart(shared: Computer) -> None:
    for _ in range(2):
        played = play(shared, "python", "for n in range(1100): display(n)")
        assert len([1 for _, report in played.reports if isinstance(report, ValueBegan)]) == 1000
        assert played.text.split() == [str(n) for n in range(1100)]


def test_the_working_directory_shadows_nothing_of_the_driver(make: Make, tmp_path: Path) -> None:
    for name in (
        "ast",
        "json",
        "asyncio",
        "traceback",
        "sitecustomize",
        "python_driver",
        "mmap",
        "linecache",
    ):
        (tmp_path / f"{name}.py").write_text("open('canary', 'w').close()\n")
    (tmp_path / "mine.py").write_text("value = 8\n")
    computer = make()
    assert run(computer, "await __import__('builtins').eval('helper()')") != ""
    assert run(computer, "import mine; mine.value") == "8\n"
    assert not (tmp_path / "canary").exists()


def test_the_chosen_interpreter_is_used(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    venv.create(tmp_path / "chosen", symlinks=True)
    code = "import sys; print(sys.prefix)"
    chosen = make(python=str(tmp_path / "chosen" / "bin" / "python"))
    assert run(chosen, code) == f"{tmp_path / 'chosen'}\n"
    assert chosen.describe("python").endswith("(chosen)")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "chosen"))
    assert run(make(), code) == f"{tmp_path / 'chosen'}\n"
    assert run(make(python=sys.executable), code) == f"{sys.prefix}\n"


def test_interrupted_awaits_leave_a_loop_that_works(shared: Computer) -> None:
    played = play(shared, "python", "import asyncio\nprint('go')\nawait asyncio.sleep(60)", stop_at="go\r\n")
    assert played.state == "interrupted"
    assert run(shared, "await asyncio.sleep(0.01, 'fine')") == "'fine'\n"


def test_a_crash_is_lost_with_its_signal(computer: Computer) -> None:
    played = play(computer, "python", "import ctypes; ctypes.string_at(0)")
    assert played.state == "lost"
    assert "SIGSEGV" in played.reason
    assert play(computer, "python", "import os; os._exit(7)").reason == (
        "Python ended (exit status 7); its variables are lost"
    )
    assert run(computer, "1") == "1\n"


def test_lines_count_in_the_persons_code(shared: Computer) -> None:
    code = (
        "import time, functools\n@functools.lru_cache\ndef f():\n    time.sleep(0.15)\n    return '''\n\n'''\n"
        "f()\nimport asyncio\nasync def g():\n    x = 1\n    await asyncio.sleep(0.15)\nawait g()\n"
    )
    lines = play(shared, "python", code).lines
    assert 4 in lines
    assert 12 in lines
    assert set(lines) <= {1, 2, 3, 4, 8, 9, 10, 11, 12, 13, None}


def test_the_place_of_an_error_is_marked_where_it_is(shared: Computer) -> None:
    assert "line 3, in <module>\n    x = 1; 1/0\n" in run(shared, "'''\u2028\x0c'''\n\nx = 1; 1/0")
    marked = run(shared, "x = 1; 1/0")
    assert "^" not in marked or "\n           ~^~\n" in marked


def test_the_last_three_results_are_remembered(computer: Computer) -> None:
    for code in ("1", "2", "x = 5", "3"):
        run(computer, code)
    assert run(computer, "_, __, ___") == "(3, 2, 1)\n"


def test_builtins_that_a_cell_took_away_are_back_in_the_next(computer: Computer) -> None:
    run(computer, "__builtins__ = {}")
    assert run(computer, "len([1])") == "1\n"


def test_a_warning_about_code_is_shown_once(computer: Computer) -> None:
    for code in ("x = 1\nx is 1", "import warnings\nx is 2"):
        assert play(computer, "python", code).text.count("SyntaxWarning") == 1
