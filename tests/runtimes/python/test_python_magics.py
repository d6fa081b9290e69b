"""What Python promises of the lines that people write in notebooks: `%time`, `name?`, `!command`."""

# ruff: noqa: E501 - code of other languages, as it is

import functools
import http.server
import json
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from oi_tui.messages import Printed
from oi_tui.runtimes import Computer
from tests.runtimes.playing import play

Make = Callable[..., Computer]


def run(computer: Computer, code: str) -> str:
    return play(computer, "python", code).text


#: Between two cells; what the first prints comes before what the second prints.
NEXT = "\n# next cell\n"
TIMES = r"CPU times: user .*, sys: .*, total: .*\nWall time: [\d.e+]+ \wi?s\n"
EACH = r"[\d.e+]+ \w?s ± [\d.e+]+ \w?s per loop \(mean ± std. dev. of {} loops? each\)\n"


def test_load_shows_a_file_or_an_address_or_a_part_of_it(computer: Computer, tmp_path: Path) -> None:
    source = "# coding: latin-1\nimport os\n\n@os.fspath\ndef first():\n    return 'é'\n\nclass Second:\n    pass\n"
    (tmp_path / "mine.py").write_text(source, encoding="latin-1")
    serving = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serving) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        whole = run(computer, f"%load {tmp_path}/mine.py").replace("\r", "")
        assert whole == source
        assert run(computer, f"%load {tmp_path}/mine").replace("\r", "") == source
        assert "class Second" in run(computer, f"%load {address}/mine.py")
        assert run(computer, f"%load -r 2,8- {address}/mine.py").replace("\r", "") == (
            "import os\nclass Second:\n    pass\n"
        )
        second = "class Second:\n    pass\n\n\n@os.fspath\ndef first():\n    return 'é'\n"
        assert run(computer, f"%load -s Second,first {tmp_path}/mine.py").replace("\r", "") == second
        for code, words in (
            (f"%load {address}/nowhere.py", f"{address}/nowhere.py cannot be loaded: HTTP Error 404"),
            (f"%load -s third {tmp_path}/mine.py", "%load: there is no definition of third"),
            ("%load", "%load: name one file or address"),
        ):
            assert words in run(computer, code), code
        server.shutdown()


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("%time sum(range(10))", TIMES + "45\n"),
        ("%time x = 5\nx", TIMES + "5\n"),
        ("y = %time 6\ny", TIMES + "6\n"),
        ("%%time\nz = 7\nz + 1", TIMES + "8\n"),
        ("import asyncio\n%time await asyncio.sleep(0, 'slept')", TIMES + "'slept'\n"),
        ("%timeit -n 10 -r 3 sum(range(10))", EACH.format("3 runs, 10")),
        ("for n in [3]:\n    %timeit -n1 -r1 n + 1", EACH.format("1 run, 1")),
        ("%%timeit -n 5 -r 2 start = 3\nstart + 1", EACH.format("2 runs, 5")),
        ("t = %timeit -o -q -n 10 -r 3 pass\nt.loops, t.repeat", r"\(10, 3\)\n"),
        ("%prun -l 2 sorted([2, 1])", r"\s+\d+ function calls(.|\n)*built-in(.|\n)*"),
        ("len?", r"Signature: +len\(obj, /\)\nDocstring: +Return the number(.|\n)*"),
        ("?len", r"Signature: +len\(obj, /\)\n(.|\n)*"),
        ("def f(a):\n    return a\nf??", r"Signature: +f\(a\)\nSource:\ndef f\(a\):\n    return a\n(.|\n)*"),
        ("d = {'k': [1]}\nd['k']?", r"Type: +list\nString form: +\[1\]\nLength: +1\n(.|\n)*"),
        ("none_such?", "Object `none_such` not found.\n"),
        ("str.isal*?", r"str.isalnum\nstr.isalpha\n"),
        ("%pwd?", "%pwd: The working directory.\n"),
        ("%env OI_ONE=1\n%env OI_ONE", "env: OI_ONE=1\n'1'\n"),
        ("%mkdir -p inner\n%cd inner\n%cd -q -\n!basename inner", r".*/inner\ninner\n"),
        ("%pwd", r"'/.*'\n"),
        ("pwd", r"'/.*'\n"),
        ("who_ls\n", r"\[(.|\n)*\]\n"),
        ("ls -ad", r"\.\n"),
        ("pwd = 'mine'\ndisplay(pwd)\ndel pwd", "'mine'\n"),
        ("!echo kept > oi_cat\ncat oi_cat", "kept\n"),
        ("!echo kept > oi_less\nless oi_less", "kept\n"),
        ("!!echo listed", r"\['listed'\]\n"),
        ("!echo a \\\n   b", r"a b\n"),
        ("# a comment\n\n%%bash\necho below", "below\n"),
        ("%%bash --out said\necho out", ""),
        ("%%script bash --out behind --err other\necho out; echo err >&2", ""),
        ("print(behind.strip(), other.strip())", "out err\n"),
        ("%%sh -s a b --out second\necho $2", ""),
        ("second.strip()", "'b'\n"),
        ("%%sh\nread -r x < /dev/null; echo [$x]", r"\[\]\n"),
        pytest.param("%%perl\nprint 'from perl'", "from perl", marks=pytest.mark.needs("perl")),
        ("%%python\nprint('another')", "another\n"),
        ("%%script sh\necho script", "script\n"),
        ("%%script cat\nabc", "abc\n"),
        ("%%script tr a-z A-Z\nabc", "ABC\n"),
        ("%%capture kept\nprint('hidden')\n3", ""),
        (f"%%capture kept_too\n!echo hidden; echo wrong >&2\nx = 1{NEXT}kept_too.stdout, kept_too.stderr", r"\('hidden\\n', 'wrong\\n'\)\n"),
        (f"%%capture kept_cell\n%%bash\necho in bash{NEXT}kept_cell.stdout", r"'in bash\\n'\n"),
        ("w = !printf 'b.py\\na.txt\\n'\nw.grep('py'), w.n, w.s", r"\(\['b.py'\], 'b.py\\na.txt', 'b.py a.txt'\)\n"),
        ("w = !printf '/\\nnone_such_file\\n'\nw.p, w.paths", r"\(\[PosixPath\('/'\)\], \[PosixPath\('/'\)\]\)\n"),
        ("w = 'ab'\n!echo {w!r} {2.5:.2f} '[{w:>4}]' {x y} {w != 1}", r"ab 2.50 \[  ab\] {x y} True\n"),
        ("w = !echo wrong >&2; echo right\nw", r"\['wrong', 'right'\]\n"),
        ("words, flag = ['a', 'b'], True\n!echo $words $flag", r"\[a, b\] True\n"),
        ("__IPYTHON__", "True\n"),
        ("import sys\nprint(sys.ps1)", "In : \n"),
        ("help(len)", r"Help on built-in function len(.|\n)*"),
        ("%load_ext sql", "The extension sql is not installed, and not needed: %sql works without it.\n"),
        ("%alias oi_say echo said\n%oi_say a b", "said a b\n"),
        ("%alias oi_two echo %s-%s\n%oi_two a b c", "a-b c\n"),
        ("%alias oi_line echo [%l]\n%oi_line a  b", r"\[a b\]\n"),
        ("%alias oi_one echo 1\n%alias oi_one", "oi_one = echo 1\n"),
        ("%alias_magic oi_t time\n%oi_t 3", "Created `%oi_t`(.|\n)*CPU times(.|\n)*3\n"),
        ("%pdoc len", r"Docstring:\n    Return the number of items in a container.\n"),
        ("import json\n%psource json.dumps", r"def dumps\((.|\n)*"),
        ("%pdef sorted", r"sorted\(iterable, /, \*, key=None, reverse=False\)\n"),
        ("%pdef none_such_thing", "Object `none_such_thing` not found.\n"),
        ("%mkdir -p deep/er\n%pushd deep\n%popd", r".*/deep\n(.|\n)*popd -> .*\n"),
        ("here = %pwd\n%mkdir -p kept\n%cd -q kept\n%cd -q -0\nhere in _dh, len(_dh) > 1", r"\(True, True\)\n"),
        ("%dhist 1", r"Directory history \(kept in _dh\)\n\d+: /.*\n"),
        ("1 + 1\n%precision 2\n_oi_pi = 3.14159\n_oi_pi", "3.14\n"),
        ("_oi_pi = 3.14159\n%precision %.3e\n_oi_pi", "3.142e\\+00\n"),
        ("%precision\n2.5", "2.5\n"),
        (
            "%pprint\ndisplay(list(range(30)))\n%pprint\nlist(range(30))",
            r"Pretty printing has been turned OFF\n\[0, 1, (.*), 29\]\nPretty printing has been turned ON\n\[0,\n(.|\n)*",
        ),
        ("%xmode Plain", "Exception reporting mode: Plain\n"),
        (">>> n = 2\n>>> for i in range(n):\n...     print(i)\n...\n>>> n", "0\n1\n2\n"),
        (">>> '''a\n... b'''", r"'a\\nb'\n"),
        ("In [7]: m = 4\n\nIn [8]: for i in range(1):\n   ...:     print(m)\n   ...: ", "4\n"),
        ("In [9]: m: int = 6\nm", "6\n"),
        ("    >>> 3 + 4", "7\n"),
        (">>> %env OI_TWO=2\n>>> !echo $OI_TWO", "env: OI_TWO=2\n2\n"),
        ("In [3]: %%sh\n   ...: echo prompted", "prompted\n"),
        ("import os\nos.environ['OI_TWO'] = '2'\ntext = '''\n>>> kept\n'''\n%env OI_TWO\ntext", r"'\\n>>> kept\\n'\n"),
        ("?", r"NAME\?  (.|\n)*"),
        ("??", r"NAME\?  (.|\n)*"),
        ("d = {'k': ['a']}\nd['k'][0].upper?", r"Signature: +upper\(\)\n(.|\n)*"),
        ("x = 1\nfrom __future__ import annotations\ndef f(a: no_such_type): return a\nf(2)", "2\n"),
        (f"from __future__ import annotations{NEXT}def g(a: no_such_type_either): return a\ng(3)", "3\n"),
        ("_n = open('oi_run', 'w').write('a = 2')\n%run -n oi_run\na", "2\n"),
        ("_n = open('oi_time', 'w').write('a = 2')\n%run -t -N3 oi_time", r"\nIPython CPU timings \(estimated\):\nTotal runs performed: 3\n(.|\n)*"),
        ("%sc oi_said = echo said\noi_said", "'said'\n"),
        ("%sc -l oi_said = echo said\noi_said", r"\['said'\]\n"),
        ("%mkdir -p marked\n%bookmark oi_mark marked\nhere = %pwd\n%cd -b oi_mark\n%cd -q $here", r"\(bookmark:oi_mark\) -> (.*)\n\1\n"),
        ("%mkdir -p found\n%ldir", r"(.|\n)* found/\n(.|\n)*"),
        ("%psearch str.isal*", r"str.isalnum\nstr.isalpha\n"),
        ("%matplotlib --list", r".*'inline'.*\n"),
        ("%matplotlib widget", ""),
        ("from IPython.display import display_png, display_svg, display_html, display_pretty\ndisplay_png(3)\ndisplay_svg('a')\ndisplay_html(3)\ndisplay_pretty(3)", "3\n"),
        ("class OiTwo:\n    def _repr_html_(self): return '<b>bold</b>'\n    def __repr__(self): return 'plain'\ndisplay(OiTwo(), exclude=['text/html'])", "plain\n"),
        ("%lsmagic", r"(.|\n)*%timeit(.|\n)*%%bash(.|\n)*"),
        ("%config InlineBackend.figure_format = 'retina'\n%matplotlib inline\n3", "3\n"),
        ("s = '''\n%time\n!no\nlen?\n'''\n!echo {len(s)} $s_", r"16\n"),
    ],
)  # fmt: skip
def test_what_notebooks_understand_is_understood(shared: Computer, code: str, text: str) -> None:
    played = [play(shared, "python", cell) for cell in code.split(NEXT)]
    printed = "".join(cell.text for cell in played)
    assert re.fullmatch(text, printed), printed
    assert {cell.state for cell in played} == {"finished"}


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("rm -rf", "NameError: name 'rm' is not defined"),
        ("ls -l;rm -rf", "NameError: name 'ls' is not defined"),
        ("ls -l\npwd", "NameError: name 'ls' is not defined"),
        ("cat(ls)", "NameError: name 'cat' is not defined"),
        ("%nonsense 1", "NameError: %nonsense is not known here; %lsmagic lists what is"),
        ("%%nonsense\n1", "NameError: %%nonsense is not known here; %lsmagic lists what is"),
        ("%%bash\nexit 3", "CalledProcessError: Command 'bash' returned non-zero exit status 3."),
        ("%time missing", "NameError: name 'missing' is not defined"),
        ("%%time\n1\n1/0", "ZeroDivisionError: division by zero"),
        ("%run none.py", "FileNotFoundError: [Errno 2] No such file or directory: 'none.py'"),
        ("%cd -b none", "ValueError: %cd -b: there is no bookmark none; %bookmark -l lists them"),
        ("%matplotlib nonesuch", "ValueError: %matplotlib nonesuch: %matplotlib --list lists the names"),
        ("%notebook", "ValueError: %notebook takes the name of the file: %notebook work.ipynb"),
        ("%rerun 999", "ValueError: there is no Python cell 999"),
        ("%history -y", "ValueError: %history: option -y not recognized"),
        ("%pdb maybe", "ValueError: %pdb is on or off, not maybe"),
        (">>> x = = 1", "SyntaxError: invalid syntax (<cell"),
        ("x = 1\nfrom __future__ import nonsense", "SyntaxError: future feature nonsense is not defined"),
        ("%cd /none/such", "FileNotFoundError: [Errno 2] No such file or directory: '/none/such'"),
        ("%%script nonesuch\n1", "FileNotFoundError: there is no program nonesuch here"),
        ("!true\nx = = 1", "SyntaxError: invalid syntax (<cell"),
    ],
)  # fmt: skip
def test_what_goes_wrong_in_them_is_reported(shared: Computer, code: str, reason: str) -> None:
    played = play(shared, "python", code)
    assert played.reason.startswith(reason)
    assert "/drivers/" not in played.text


def test_the_line_of_a_cell_magic_may_hold_values(computer: Computer) -> None:
    play(computer, "python", "name = 'oi_written'")
    assert run(computer, "%%writefile $name.{3 - 1}\n$name stays") == "Writing oi_written.2\n"
    assert run(computer, "!cat oi_written.2").strip() == "$name stays"


def test_a_variable_comes_before_a_magic_of_its_name(computer: Computer) -> None:
    play(computer, "python", "ll, l = 5, 3")
    assert run(computer, "ll -l") == "2\n"
    play(computer, "python", "del ll")
    assert run(computer, "ll -ad").endswith(" .\n")


def test_a_mistake_below_such_a_line_is_shown_where_it_is(shared: Computer) -> None:
    played = run(shared, "!true\nx = = 1")
    assert 'line 2\n    x = = 1\n' in played  # fmt: skip
    # The line above it is no mistake.
    assert "!true" not in played
    assert 'line 4, in <module>\n    1/0\n' in run(shared, "\n%%time\n1\n1/0")  # fmt: skip


def test_variables_are_listed_and_forgotten(computer: Computer) -> None:
    assert run(computer, "%who") == "Nothing is remembered.\n"
    run(computer, "one = 1\ntwo = 'b'\nimport os")
    assert run(computer, "%who") == "one\t os\t two\n"
    assert run(computer, "%who int") == "one\n"
    assert run(computer, "%who float") == "No variables match your requested type.\n"
    assert [line.split() for line in run(computer, "%whos").splitlines()[2:]] == [
        ["one", "int", "1"],
        ["os", "module", "module"],
        ["two", "str", "'b'"],
    ]
    run(computer, "one, two = [1, 2], {'k': 1}")
    assert [line.split() for line in run(computer, "%whos").splitlines()[2:]] == [
        ["one", "list", "n=2"],
        ["os", "module", "module"],
        ["two", "dict", "n=1"],
    ]
    played = play(computer, "python", "%reset", answers=("y\n",))
    assert played.asked
    assert run(computer, "%who") == "Nothing is remembered.\n"


def test_a_program_runs_with_its_arguments_and_leaves_what_it_defines(computer: Computer) -> None:
    program = "import sys\nvalue = 42\ndef get(): return value\nprint(sys.argv, __name__)\nsys.exit(0)"
    (computer.cwd / "p.py").write_text(program)
    assert run(computer, "%run p.py 'a b' c\nvalue, get()") == "['p.py', 'a b', 'c'] __main__\n(42, 42)\n"
    assert run(computer, "__name__, __import__('sys').argv") == "('__main__', [''])\n"
    (computer.cwd / "bad.py").write_text("before = 1\n1/0\n")
    played = play(computer, "python", "%run bad.py")
    assert 'bad.py", line 2, in <module>\n    1/0\n' in played.text
    assert run(computer, "before") == "1\n"


def test_a_program_knows_its_file_and_gets_the_files_that_a_pattern_names(computer: Computer) -> None:
    folder = computer.cwd.resolve()
    (folder / "place.py").write_text("import os, sys\nos.chdir('/')\nprint(__file__, sys.argv[1:])\n")
    for name in ("b.csv", "a.csv"):
        (folder / name).touch()
    back = f"%cd -q {folder}\n"
    for options, words in (
        ("", "['a.csv', 'b.csv', 'no*']"),
        ("-G ", "['*.csv', 'no*']"),
        ("-i ", "['a.csv', 'b.csv', 'no*']"),
    ):
        text = run(computer, f"{back}%run {options}place.py *.csv no*")
        assert text == f"{folder}/place.py {words}\n", options
    assert run(computer, f"{back}'__file__' in globals()") == "False\n"


@pytest.mark.parametrize(
    ("line", "where"),
    [("%timeit", "behind it"), ("%timeit -n 3", "behind it"), ("%%timeit x = 1\n", "below its first line")],
)
def test_no_code_has_no_time(shared: Computer, line: str, where: str) -> None:
    played = play(shared, "python", line)
    assert f"ValueError: %timeit: there is no code {where}" in played.text
    assert played.state == "failed"


def test_a_notebook_can_be_run(computer: Computer) -> None:
    (computer.cwd / "n.ipynb").write_text(
        '{"cells": [{"cell_type": "markdown", "source": "x"}, {"cell_type": "code", "source": ["a = 1\\n", "!echo said"]}]}'
    )
    assert run(computer, "%run n.ipynb\na") == "said\n1\n"


def test_an_old_notebook_and_one_with_odd_cells_can_be_run(computer: Computer) -> None:
    old = {
        "nbformat": 3,
        "worksheets": [{"cells": [{"cell_type": "code", "input": ["a = 1\n", "!echo said"]}]}],
    }
    odd = {
        "cells": [{"cell_type": "code"}, {"cell_type": "raw"}, "x", {"cell_type": "code", "source": "b = 2"}]
    }
    (computer.cwd / "old.ipynb").write_text(json.dumps(old))
    (computer.cwd / "odd.ipynb").write_text(json.dumps(odd))
    assert run(computer, "%run old.ipynb\n%run odd.ipynb\na, b") == "said\n(1, 2)\n"


@pytest.mark.parametrize("content", ["", '{"cells": [', "[]", "{}"])
def test_a_file_that_is_no_notebook_is_named(shared: Computer, content: str) -> None:
    (shared.cwd / "none.ipynb").write_text(content)
    played = play(shared, "python", "%run none.ipynb")
    assert played.reason == "ValueError: none.ipynb is not a notebook, or is cut off"
    assert "json" not in played.text


def test_a_file_of_ipython_can_be_run_with_its_magics(computer: Computer) -> None:
    (computer.cwd / "n.ipy").write_text("names =!printf 'a\\nb'\nfor name in names:\n    !echo $name\n%pwd\n")
    assert run(computer, "%run n.ipy\nlen(names)") == "a\nb\n2\n"


def test_a_script_takes_arguments_after_s(computer: Computer) -> None:
    run(computer, "word = 'a b'")
    assert run(computer, '%%bash -s "$word" {1 + 1}\necho "$1-$2"') == "a b-2\n"
    assert run(computer, "%%sh -es x\necho $1; false; echo no").startswith("x\nTraceback")
    assert run(computer, "%%bash -x\necho 1") == "+ echo 1\n1\n"


def test_a_script_in_the_background_goes_on_while_cells_run(computer: Computer) -> None:
    os.mkfifo(computer.cwd / "gate")
    script = "%%bash --bg --proc job --out said\nread -r word < gate\necho $word; exit 3"
    assert run(computer, script) == ""
    assert run(computer, "job.poll()") == ""
    assert (
        run(computer, "open('gate', 'w').write('opened\\n'); job.wait(), said.read()")
        == "(3, b'opened\\n')\n"
    )
    assert run(computer, "%%bash --bg --proc other\nexec sleep 600") == ""
    assert run(computer, "%killbgscripts\nother.wait()") == "-15\n"


def test_what_was_captured_can_be_shown_later(computer: Computer) -> None:
    run(computer, "%%capture kept\nimport sys\nprint('out')\nprint('err', file=sys.stderr)\ndisplay(3)")
    assert run(computer, "kept.stdout, kept.stderr") == "('out\\n', 'err\\n')\n"
    assert run(computer, "[output.data for output in kept.outputs]") == "[{'text/plain': '3'}]\n"
    assert run(computer, "kept()") == "out\nerr\n3\n"


def test_the_name_of_a_capture_keeps_its_value_until_the_cell_ends(computer: Computer) -> None:
    run(computer, "%%capture kept\nprint('first')")
    run(computer, "%%capture kept\nprint('after', kept.stdout)")
    assert run(computer, "kept.stdout") == "'after first\\n\\n'\n"
    run(computer, "%%capture kept\nprint('cut')\n1 / 0")
    assert run(computer, "kept.stdout") == "'cut\\n'\n"


def test_a_changed_module_is_read_anew_before_the_next_cell(computer: Computer) -> None:
    module = computer.cwd / "mine.py"
    module.write_text("def f(): return 1\nclass C:\n    def m(self): return 'a'\n")
    run(computer, "%load_ext autoreload\n%autoreload 2\nimport mine\nfrom mine import f, C\nc = C()")
    assert run(computer, "f(), mine.f(), c.m()") == "(1, 1, 'a')\n"
    module.write_text(
        "def f(): return 2\nclass C:\n    def m(self): return 'b'\n    def n(self): return 'new'\n"
    )
    assert run(computer, "f(), mine.f(), c.m(), c.n()") == "(2, 2, 'b', 'new')\n"
    module.write_text("def f(: return 3\n")
    assert "mine was not reloaded" in run(computer, "1")
    assert run(computer, "f()") == "2\n"


def test_the_last_error_can_be_shown_again_and_looked_into(computer: Computer) -> None:
    run(computer, "def f(inner):\n    return 1 / inner\nf(0)")
    assert "ZeroDivisionError" in run(computer, "%tb")
    played = play(computer, "python", "%debug", answers=("p inner\n", "q\n"))
    assert [asked.prompt for asked in played.asked] == ["(Pdb) ", "(Pdb) "]
    assert "return 1 / inner" in played.text


def test_the_debugger_asks_in_the_cell_and_stays_out_of_the_driver(computer: Computer) -> None:
    code = "def f(x):\n    breakpoint()\n    y = x + 1\n    return y\nz = f(1)\nprint('z is', z)"
    answers = ("n\n", "p y\n", "r\n", "n\n", "n\n", "n\n", "c\n", "c\n")
    played = play(computer, "python", code, answers=answers)
    assert "z is 2\n" in played.text
    assert "drivers" not in played.text
    assert run(computer, "z") == "2\n"


def test_help_can_be_asked_for_by_hand(computer: Computer) -> None:
    played = play(computer, "python", "help()", answers=("len\n", "quit\n"))
    assert [asked.prompt for asked in played.asked] == ["help> ", "help> "]
    assert "Help on built-in function len" in played.text
    assert played.state == "finished"


def test_a_thread_may_ask(computer: Computer) -> None:
    code = "import threading\nt = threading.Thread(target=lambda: print('got', input('who? ')))\nt.start(); t.join()"
    played = play(computer, "python", code, answers=("me\n",))
    assert [asked.prompt for asked in played.asked] == ["who? "]
    assert "got me\n" in played.text


def test_pip_works_without_its_percent_sign(computer: Computer) -> None:
    assert "pip list" in run(computer, "pip help list")


def test_cells_are_saved_and_named(make: Make, tmp_path: Path) -> None:
    computer = make(cwd=tmp_path)
    for number, code in enumerate(("a = 1", "a += 1", "print(a)"), 1):
        list(computer.run("python", code, number))
    played = play(computer, "python", "%save kept 1-2 3\n%macro again 2 3\nagain")
    assert "Macro `again` created" in played.text
    assert played.text.endswith("3\n")
    assert (tmp_path / "kept.py").read_text() == "# coding: utf-8\na = 1\na += 1\nprint(a)\n"
    assert "commands were written" in play(computer, "python", "%save -a kept 3").text
    assert (tmp_path / "kept.py").read_text().endswith("print(a)\nprint(a)\n")
    assert play(computer, "python", "%save kept2 99").end.reason == "ValueError: there is no Python cell 99"


def test_cells_are_listed_and_run_again(make: Make, tmp_path: Path) -> None:
    computer = make(cwd=tmp_path)

    def shown(number: int, code: str) -> str:
        reports = computer.run("python", code, number)
        return "".join(item.text for item in reports if isinstance(item, Printed)).replace("\r\n", "\n")

    for number, code in enumerate(("a = 1", "a += 1\na", "b = a"), 1):
        shown(number, code)
    assert shown(4, "%history -n 1-2") == "   1: a = 1\n   2:\na += 1\na\n"
    assert shown(5, "%history -o 2") == "a += 1\na\n2\n"
    assert shown(6, "%hist -l 2 -p") == ">>> %history -n 1-2\n>>> %history -o 2\n"
    assert shown(7, "%history -g += 1") == "   2:\na += 1\na\n   7: %history -g += 1\n"
    assert shown(8, "%rerun 2 3\nb") == "=== Executing: ===\na += 1\na\nb = a\n=== Output: ===\n3\n"
    assert shown(9, "%recall 1 3") == "a = 1\nb = a\n"
    # What code puts into the list is no cell.
    assert shown(10, "In[1] = 5\n%history 2-3 -f kept.py") == ""
    assert (tmp_path / "kept.py").read_text() == "a += 1\na\nb = a\n"
    shown(11, "%notebook book.ipynb")
    book = json.loads((tmp_path / "book.ipynb").read_text())
    assert book["cells"][0]["source"] == ["a += 1\n", "a"]
    assert book["cells"][0]["outputs"][0]["data"] == {"text/plain": ["2"]}


def test_the_debugger_opens_after_errors_if_wanted_and_steps_through_a_cell(computer: Computer) -> None:
    run(computer, "%pdb on\ndef f(inner):\n    return 1 / inner")
    played = play(computer, "python", "f(0)", answers=("p inner\n", "q\n"))
    assert [asked.prompt for asked in played.asked] == ["(Pdb) ", "(Pdb) "]
    assert played.reason == "ZeroDivisionError: division by zero"
    assert not play(computer, "python", "%pdb off\nf(0)").asked
    answers = ("n\n", "p stepped\n", "c\n")
    played = play(computer, "python", "%%debug\nstepped = 1\nstepped += 1", answers=answers)
    assert "1\n" in played.text
    assert run(computer, "stepped") == "2\n"


def test_errors_are_shown_as_chosen(make: Make) -> None:
    computer = make()
    failing = "def share(parts):\n    whole = 10\n    return whole / parts\nshare(0)"
    assert run(computer, "%xmode Minimal\n" + failing).endswith(
        "Minimal\nZeroDivisionError: division by zero\n"
    )
    verbose = run(computer, "%xmode Verbose\n" + failing)
    assert "whole = 10" in verbose
    assert "parts = 0" in verbose
    assert "Traceback" in run(computer, "%xmode Context\n" + failing)
    assert "unrecognized error mode" in (play(computer, "python", "%xmode Odd").end.reason or "")


@pytest.mark.parametrize(
    ("magic", "words"),
    [
        ("pastebin 1", "%pastebin is not offered here: nothing is uploaded."),
        ("autocall 1", "%autocall is not offered here: code runs as it is written."),
        ("edit f", "%edit is not offered here: a cell cannot open your editor."),
    ],
)
def test_a_magic_that_is_left_out_on_purpose_says_why(shared: Computer, magic: str, words: str) -> None:
    played = play(shared, "python", f"%{magic}")
    assert played.state == "failed"
    assert words in played.text


@pytest.mark.parametrize("number", ["abc", "-3", "1.5"])
@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("%history -l {}", "%history -l"),
        ("%rerun -l {}", "%rerun -l"),
        ("%timeit -n {} pass", "%timeit -n"),
        ("%timeit -r {} pass", "%timeit -r"),
        ("%prun -l {} pass", "%prun -l"),
        ("%run -N {} x.py", "%run -N"),
        ("%dhist {}", "%dhist"),
    ],
)
def test_a_word_in_place_of_a_number_is_named(shared: Computer, line: str, option: str, number: str) -> None:
    played = play(shared, "python", line.format(number))
    assert played.state == "failed"
    assert f"{option} takes a whole number, not {number!r}" in played.text


def test_an_order_that_prun_does_not_know_is_named(shared: Computer) -> None:
    text = play(shared, "python", "%prun -s x sorted([2, 1])").text
    assert "ValueError: %prun -s takes one of calls, cumtime, " in text
    assert "not 'x'" in text
    assert "KeyError" not in text
    assert "Ordered by: cumulative time" in play(shared, "python", "%prun -s cumulative sorted([2, 1])").text


def test_an_option_without_its_number_is_named(shared: Computer) -> None:
    assert "%run -N takes a whole number, not ''" in play(shared, "python", "%run -N").text


def test_a_file_is_written_and_appended_to(computer: Computer) -> None:
    assert run(computer, "%%writefile oi_lines\na = 1") == "Writing oi_lines\n"
    assert run(computer, "%%writefile -a oi_lines\na += 1") == "Appending to oi_lines\n"
    assert run(computer, "%run -n oi_lines\na") == "2\n"
