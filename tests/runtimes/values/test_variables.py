"""What a language tells of what it remembers."""

# ruff: noqa: E501, ISC004 - code of other languages, as it is

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from oi_tui.runtimes import Computer
from oi_tui.runtimes.language import DRIVERS
from oi_tui.runtimes.variables import Detail, Variable, read_shell
from oi_tui.services.live_names import describe_memories
from tests.runtimes.playing import play

#: For each language: code, and its variables by then.
REMEMBERED: dict[str, tuple[str, list[tuple[str, str, str]]]] = {
    "javascript": (
        "const fs = require('fs'); let list = [1, {x: 2}]; const record = {a: 1, get b() { throw 1 }}\n"
        "var text = 'x'; function f(x) { return 1 }\nclass K {}\nconst k = new K(); const bytes = new Uint8Array(10); loose = 5; let big = 'x'.repeat(1e6)",
        [
            ("text", "string", '"x"'),
            ("f", "function", "function f"),
            ("loose", "number", "5"),
            ("list", "Array", "Array of 2"),
            ("record", "Object", "Object of 2 keys"),
            ("K", "class", "class K"),
            ("k", "K", "K"),
            ("bytes", "Uint8Array", "Uint8Array of 10"),
            ("big", "string", "string of 1000000"),
        ],
    ),
    "perl": (
        "use List::Util 'sum';\nmy ($n, $text) = (3, 'grün');\nmy $long = 'x' x 1000;\nmy @list = (1, 2);\n"
        "our %pairs = (a => 1);\nmy $tree = {a => [1]};\nmy $k = bless {}, 'K';\nsub f { 1 }\nmy $undefined;",
        [
            ("$n", "number", "3"),
            ("$text", "string", "'grün'"),
            ("$long", "string", "string of 1000 characters"),
            ("@list", "array", "array of 2"),
            ("%pairs", "hash", "hash of 1 key"),
            ("$tree", "hash", "hash of 1 key"),
            ("$k", "K", "K object"),
            ("f", "sub", "sub"),
        ],
    ),
    "php": (
        "$n = 3; $text = 'grün'; $long = str_repeat('x', 1000); $list = [1, 2]; $pairs = ['a' => null]; const RATE = 1.5;\n"
        "class K { function __get($name) { echo 'EVIL'; } function __toString() { echo 'EVIL'; return ''; } }\n"
        "enum Suit { case Hearts; }\n$k = new K; $suit = Suit::Hearts; $f = fn($x) => $x; function add($a) {}",
        [
            ("$n", "int", "3"),
            ("$text", "string", '"grün"'),
            ("$long", "string", "string of 1000 bytes"),
            ("$list", "array", "array of 2"),
            ("$pairs", "array", "array of 1"),
            ("RATE", "float", "1.5"),
            ("K", "class", "class K"),
            ("Suit", "class", "class Suit"),
            ("$k", "K", "K"),
            ("$suit", "Suit", "Suit::Hearts"),
            ("$f", "Closure", "Closure"),
            ("add", "function", "function add"),
        ],
    ),
    "ruby": (
        "n = 3; text = 'hi'; long = 'x' * 1000; list = [1, 2]; pairs = {a: 1}\n@field = 1; $loose = 2\nCONSTANT = 1.5\nclass K; end\nk = K.new\ndef f(x); end",
        [
            ("n", "Integer", "3"),
            ("text", "String", '"hi"'),
            ("long", "String", "String of 1000 bytes"),
            ("list", "Array", "Array of 2"),
            ("pairs", "Hash", "Hash of 1"),
            ("k", "K", "K"),
            ("@field", "Integer", "1"),
            ("$loose", "Integer", "2"),
            ("CONSTANT", "Float", "1.5"),
            ("K", "Class", "class K"),
            ("f", "method", "method f"),
        ],
    ),
}
SHELLS = {
    "bash": "declare -a list=(1 2 3); declare -A pairs; pairs[k]=v; declare -i number=5",
    "zsh": "list=(1 2 3); typeset -A pairs; pairs[k]=v; integer number=5",
    "dash": "",
}


@pytest.mark.parametrize("language", REMEMBERED)
def test_a_language_tells_what_the_code_made_and_nothing_else(computer: Computer, language: str) -> None:
    code, expected = REMEMBERED[language]
    assert play(computer, language, code).state == "finished"
    found = [
        (variable.name, variable.type, variable.summary)
        for variable in computer.inspector.read_variables(language)
    ]
    assert sorted(found) == sorted(expected)


@pytest.mark.needs("php")
@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("$a = 1; throw new Exception('x');", ["$a"]),
        ("$a = 1; exit(3);", ["$a"]),
        ("$a = 1; register_shutdown_function(function () { $GLOBALS['b'] = 2; });", ["$a", "$b"]),
        ('for ($i = 0; $i < 5000; $i++) $GLOBALS["v$i"] = $i;', None),
        ("$a = ", []),
        ("posix_kill(posix_getpid(), 9);", []),
    ],
)
def test_php_tells_what_the_last_cell_made_and_that_it_is_over(
    shared: Computer, code: str, names: list[str] | None
) -> None:
    play(shared, "php", "$before = 1;")
    play(shared, "php", code)
    (memory,) = [memory for memory in shared.inspector.read_memories() if memory.language == "php"]
    found = [variable.name for variable in memory.variables]
    assert (memory.state, memory.is_over) == ("known", True)
    assert found == names if names is not None else len(found) == 2000
    assert describe_memories([memory]) == ""


@pytest.mark.needs("php")
def test_a_value_of_php_is_shown_to_a_depth(shared: Computer) -> None:
    code = "class P { private $pin = 5; public $tags = ['x' => [1]]; function __debugInfo() { echo 'EVIL'; return []; } }\n$p = new P;"
    assert play(shared, "php", code).text == ""
    assert shared.inspector.inspect("php", "$p") == Detail(
        "P", 'P {\n  pin: 5,\n  tags: [\n    "x" => [\n      0 => 1\n    ]\n  ]\n}'
    )
    assert shared.inspector.inspect("php", "$nothing") is None


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_tells_what_the_code_made_whatever_its_options(
    make: Callable[..., Computer], shell: str
) -> None:
    computer = make(shell=shell)
    code = (
        "set -eu; trap 'echo TRAP' EXIT; export given=hi; empty=; f() { echo hi; }\n"
        "lines='a\nfalse_one=3'; long=$(command printf '%0300d' 1); alias ll='ls -l'\n" + SHELLS[shell]
    )
    play(computer, "shell", "printf() { echo OURS; }; read() { echo OURS; }")
    assert play(computer, "shell", code).text == ""
    found = {
        variable.name: (variable.type, variable.summary)
        for variable in computer.inspector.read_variables("shell")
    }
    expected = {
        "given": ("string", "hi"),
        "empty": ("string", "empty"),
        "lines": ("string", "string of 13"),
        "long": ("string", "string of 300"),
    }
    if shell != "dash":
        expected |= {
            "list": ("array", "array of 3"),
            "pairs": ("map", "map of 1"),
            "number": ("integer", "5"),
            "f": ("function", "function f"),
            "ll": ("alias", "ls -l"),
        }
    assert expected.items() <= found.items()
    assert set(found) <= {*expected, "printf", "read"}
    assert computer.inspector.inspect("shell", "given") == Detail(
        "string of 2 characters" + (", exported" if shell != "dash" else ""), "hi"
    )
    # Nothing of the shell has changed for it, and nothing was said.
    assert play(computer, "shell", "set +eu; trap - EXIT; echo $given $-").text.startswith("hi ")
    assert play(computer, "shell", "unset printf read given nothing; echo ${given-gone}").text.endswith(
        "gone\n"
    )
    assert "given" not in {variable.name for variable in computer.inspector.read_variables("shell")}


def test_python_tells_names_types_and_sizes_in_the_order_of_definition(computer: Computer) -> None:
    play(
        computer,
        "python",
        "import os\nn = 3\ntext = 'abc'\nlong = 'x' * 1000\nitems = [1, 2]\n_hidden = 1\ndef f(): pass\nclass C: pass\nc = C()",
    )
    found = computer.inspector.read_variables("python")
    assert [(v.name, v.type, v.summary) for v in found] == [
        ("n", "int", "3"),
        ("text", "str", "'abc'"),
        ("long", "str", "str of 1000"),
        ("items", "list", "list of 2"),
        ("f", "function", "function f"),
        ("C", "type", "class C"),
        ("c", "C", "C"),
    ]
    assert found[2] == Variable("long", "str", "str of 1000", found[2].size)
    assert (found[2].size or 0) > 1000


def test_what_is_named_like_a_secret_is_not_listed_with_its_value(computer: Computer) -> None:
    play(computer, "python", "db_password = 'hunter2'; token_count = 3")
    play(computer, "shell", "API_KEY=hunter2")
    found = [*computer.inspector.read_variables("python"), *computer.inspector.read_variables("shell")]
    assert [item.summary for item in found] == ["str, not shown", "3", "string, not shown"]
    assert "hunter2" not in str(found)


def test_telling_runs_no_code_of_the_program(computer: Computer) -> None:
    code = (
        "calls = []\nclass Meta(type):\n    def __getattribute__(cls, name): calls.append(name); return type.__getattribute__(cls, name)\n"
        "class Nosy(list, metaclass=Meta):\n"
        "    def __getattribute__(self, name): calls.append(name); return list.__getattribute__(self, name)\n"
        "    def __len__(self): calls.append('len'); return 1\n"
        "    def __sizeof__(self): calls.append('sizeof'); return 1\n"
        "    def __repr__(self): calls.append('repr'); return ''\n"
        "nosy = Nosy(); inside = {'a': [nosy]}; calls.clear()"
    )
    assert play(computer, "python", code).state == "finished"
    assert "nosy" in [variable.name for variable in computer.inspector.read_variables("py")]
    for name in ("nosy", "inside", "Nosy"):
        assert computer.inspector.inspect("python", name) is not None
    assert play(computer, "python", "calls").text == "[]\n"


@pytest.mark.parametrize(
    ("language", "code", "calls"),
    [
        (
            "javascript",
            "calls = []; class Nosy { get [Symbol.toStringTag]() { calls.push(1) } toString() { calls.push(2) } get length() { calls.push(3) } static get name() { calls.push(4) } }\n"
            "nosy = new Nosy(); sly = new Proxy({}, { get() { calls.push(5) }, ownKeys() { calls.push(6); return [] }, getPrototypeOf() { calls.push(7); return null } })\n"
            "open = { get inside() { calls.push(8) }, deep: { sly } }; list = [sly, nosy]; Array.isArray = () => calls.push(9); undefined",
            "calls.length",
        ),
        (
            "ruby",
            "$calls = 0\nclass Nosy < BasicObject; def method_missing(*) = ($calls += 1); def inspect = ($calls += 1); def class = ($calls += 1); def nil? = ($calls += 1); end\n"
            "class Sly < Array; def length = ($calls += 1); def self.name = ($calls += 1); def self.===(_) = ($calls += 1); end\n"
            "nosy = Nosy.new; list = [Sly.new, nosy]; pairs = { nosy => 1 } rescue 0; $calls = 0; nil",
            "$calls",
        ),
    ],
)
def test_other_languages_run_no_code_of_the_program_either(
    computer: Computer, language: str, code: str, calls: str
) -> None:
    assert play(computer, language, code).state == "finished"
    names = {variable.name for variable in computer.inspector.read_variables(language)}
    assert {"nosy", "list"} <= names
    for name in ("nosy", "list", "sly", "open"):
        assert computer.inspector.inspect(language, name) is not None or name not in names
    assert (
        play(computer, language, calls).text.strip("=> \n").replace("\x1b[33m", "").replace("\x1b[39m", "")
        == "0"
    )


def test_one_variable_is_described_by_its_shape_and_shown_by_its_beginning(
    computer: Computer, tmp_path: Path
) -> None:
    fake = tmp_path / "pandas.py"
    fake.write_text(
        "class Column(list):\n    dtype = 'int64'\n"
        "class DataFrame:\n"
        "    shape = (1200, 2); columns = ['day', 'price']; dtypes = ['int64', 'float64']; nbytes = None\n"
        "    def head(self, n): return self\n    def __getitem__(self, name): return Column()\n    def to_string(self): return 'day price'\n"
    )
    play(
        computer,
        "python",
        "from pandas import DataFrame\ndf = DataFrame()\nrows = [{'id': 1, 'name': 'x'}] * 3\ntext = 'secret word'\ndef f(a, b=1): pass",
    )
    assert computer.inspector.inspect("python", "df") == Detail(
        "DataFrame, 1200 rows x 2 columns: day (int64), price (float64)",
        "DataFrame, 1200 rows x 2 columns: day (int64), price (float64)\n\nday price",
    )
    rows = computer.inspector.inspect("python", "rows")
    assert rows
    assert rows.description == "list of 3, the first: dict of 2, with the keys 'id', 'name'"
    # What a model is told of a text is its length; what it holds is for the person.
    assert computer.inspector.inspect("python", "text") == Detail("str of 11 characters", "'secret word'")
    assert computer.inspector.inspect("python", "f") == Detail("function f(a, b)", "function f(a, b)")
    for odd in ("nothing", "", "a b", "x\nrun 1 2", "'; rm -rf /", "x" * 5000):
        assert computer.inspector.inspect("python", odd) is None


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "for i in range(5000): globals()[f'v{i}'] = 'x' * i"),
        ("javascript", "for (let i = 0; i < 5000; i++) globalThis['v' + i] = i; undefined"),
        ("ruby", '5000.times { |i| eval("$v#{i} = #{i}") }; nil'),
        ("shell", "for i in $(seq 3000); do eval v$i=$i; done"),
    ],
)
def test_of_thousands_of_variables_a_bounded_number_is_reported(
    computer: Computer, language: str, code: str
) -> None:
    assert play(computer, language, code).state == "finished"
    assert len(computer.inspector.read_variables(language)) == 2000
    assert play(computer, language, "1" if language != "shell" else "echo 1").state == "finished"


def test_nothing_is_reported_and_nothing_started_where_there_is_nothing(computer: Computer) -> None:
    assert (
        computer.inspector.read_variables("python")
        == computer.inspector.read_variables("shell")
        == computer.inspector.read_variables("klingon")
        == ()
    )
    # A language that lists none is left out until it is used.
    assert {memory.state for memory in computer.inspector.read_memories()} == {"unstarted"}
    assert computer.inspector.inspect("python", "x") is None
    play(computer, "shell", "x=1")
    states = {memory.language: memory.state for memory in computer.inspector.read_memories()}
    assert (states["shell"], states["python"]) == ("known", "unstarted")
    if "php" in states:
        assert states["php"] == "unstarted"


def test_a_language_that_runs_tells_nothing_and_the_run_goes_on(computer: Computer) -> None:
    reported = []
    play(computer, "python", "kept = 1")
    played = play(
        computer,
        "python",
        "print(input('? '))",
        answers=("yes\n",),
        on=lambda report, text: reported.append(computer.inspector.read_variables("python")),
    )
    assert played.state == "finished"
    assert set(reported[:-1]) == {()}
    assert [variable.name for variable in computer.inspector.read_variables("python")] == ["kept"]


@pytest.mark.parametrize("language", ["python", "shell", "javascript", "ruby"])
def test_questions_from_another_thread_neither_delay_nor_break_runs(
    computer: Computer, language: str
) -> None:
    code = {"javascript": "console.log('out')", "ruby": "puts 'out'", "shell": "echo out"}.get(
        language, "print('out')"
    )
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            computer.inspector.read_memories()
            computer.inspector.inspect(language, "x")

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        played = [play(computer, language, code) for _ in range(25)]
    finally:
        over.set()
        asking.join(20)
    assert [(item.state, item.text) for item in played] == [("finished", "out\n")] * 25


def test_arrays_and_tables_of_libraries_have_their_shape_and_type(make: Callable[..., Computer]) -> None:
    pytest.importorskip("pandas", reason="pandas is not here")
    computer = make(python=sys.executable)
    code = (
        "import numpy as np, pandas as pd\ngrid = np.zeros((35, 3))\nnumber = np.float64(2.5)\n"
        "column = pd.Series([1, 2])\ntable = pd.DataFrame({'a': [1], 'b': [2]})\n"
        "class Sly(np.ndarray):\n    shape = property(lambda self: calls.append(1))\n"
        "calls = []\nsly = np.zeros(2).view(Sly)"
    )
    assert play(computer, "python", code).state == "finished"
    found = {
        variable.name: (variable.summary, variable.size)
        for variable in computer.inspector.read_variables("python")
    }
    assert found["grid"] == ("ndarray (35, 3) float64", 840)
    assert found["number"] == ("float64 2.5", 8)
    assert found["column"] == ("Series (2,) int64", 16)
    assert found["table"][0] == "DataFrame 1x2"
    assert found["sly"][0] == "Sly"
    assert play(computer, "python", "calls").text == "[]\n"
    detail = computer.inspector.inspect("python", "grid")
    assert detail
    assert detail.description == "ndarray (35, 3) float64"


@pytest.mark.needs("bash")
def test_an_old_bash_tells_what_it_remembers(make: Callable[..., Computer]) -> None:
    computer = make(shell="bash")
    # The driver asks the version; the bash of macOS is 3.2, which has no maps.
    code = (
        "BASH_VERSION=3.2.57; list=(1 2 3); declare -i number=5; export given=hi; long=$(printf '%0300d' 1)\n"
        "f() { echo hi; }; alias ll='ls -l' q=\"it's\""
    )
    assert play(computer, "shell", code).state == "finished"
    found = {
        variable.name: (variable.type, variable.summary)
        for variable in computer.inspector.read_variables("shell")
    }
    assert found == {
        "list": ("array", "array of 3"),
        "number": ("integer", "5"),
        "given": ("string", "hi"),
        "long": ("string", "string of 300"),
        "f": ("function", "function f"),
        "ll": ("alias", "ls -l"),
        "q": ("alias", "it's"),
    }
    assert computer.inspector.inspect("shell", "list") == Detail("array of 3", "0 = 1\n1 = 2\n2 = 3")
    assert computer.inspector.inspect("shell", "given") == Detail("string of 2 characters, exported", "hi")


@pytest.mark.needs("dash", "sed")
def test_a_plain_shell_without_proc_tells_only_what_the_code_made(tmp_path: Path) -> None:
    for name in ("shell_driver.sh", "shell_variables.sh"):
        text = (DRIVERS / name).read_text(encoding="utf-8").replace("/proc/", "/nowhere/")
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "cell-1").write_text("")
    code = "\n. ./shell_driver.sh; mine=5; (__oi_asked=1; . ./shell_variables.sh); trap - EXIT"
    subprocess.run(
        ["dash", "-c", code],
        cwd=tmp_path,
        env={"OI_TUI_FOLDER": str(tmp_path), "PATH": os.environ["PATH"], "THEIRS": "x"},
        check=True,
        stdin=subprocess.DEVNULL,
    )
    assert (tmp_path / "answer-1").read_bytes().split(b"\0")[:3] == [b"mine", b"string", b"5"]
    assert b"THEIRS" not in (tmp_path / "answer-1").read_bytes()


def test_a_shell_may_report_any_number_of_characters() -> None:
    (variable,) = read_shell(b"x\0string\0v\0" + b"9" * 5000 + b"\0" + b"0\0")
    assert (variable.name, variable.type) == ("x", "string")
