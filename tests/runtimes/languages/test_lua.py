"""What Lua promises beyond the contract."""

# ruff: noqa: E501 - code of other languages, as it is

import re
from collections.abc import Iterator

import pytest

from oi_tui.messages import Stopping
from oi_tui.runtimes import Computer
from tests.runtimes.playing import play

pytestmark = pytest.mark.needs("lua5.4")


@pytest.fixture(scope="module")
def lua(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """A computer whose Lua runs, which the tests share."""
    computer = Computer(cwd=tmp_path_factory.mktemp("lua"))
    assert play(computer, "lua", "").state == "finished"
    yield computer
    computer.close()


@pytest.mark.parametrize(
    ("code", "then", "text"),
    [
        ("local a, b = 1, 2", "print(a, b)", "1\t2\n"),
        ("  local indented = 3", "print(indented)", "3\n"),
        ("local p; p = 6", "print(p)", "6\n"),
        ("local q = 1; local r = 2", "print(q, r)", "1\t2\n"),
        ("local late late = 7", "print(late)", "7\n"),
        ("local function f() return 8 end", "print(f())", "8\n"),
        ("local x\n= 9", "print(x)", "9\n"),
        ("for i = 1, 2 do\nlocal inner = i\nend", "print(inner)", "nil\n"),
        ("if true then local i1 = 1 end local i2 = 2", "print(i1, i2)", "nil\t2\n"),
        ("function fact(n)\nlocal m = n\nif m == 0 then return 1 end\nlocal r = fact(m - 1)\nreturn m * r\nend", "print(fact(5), m)", "120\tnil\n"),
        ("repeat local u = 1 until u == 1 local v = 3", "print(u, v)", "nil\t3\n"),
        ("text = [[\nlocal z = 5\n]] --[==[\nlocal y = 1\n]==] local w = 4 -- local k = 2", "print(text, y, w, k)", "local z = 5\n\tnil\t4\tnil\n"),
        ("s = 'local n1 = \\' local n2 = 2' local after = 1", "print(s, after)", "local n1 = ' local n2 = 2\t1\n"),
        ("local c <const> = 5 print(c)", "print(c)", "nil\n"),
        ("#!/usr/bin/lua\nlocal she = 1", "print(she)", "1\n"),
    ],
)  # fmt: skip
def test_what_is_local_to_a_cell_lasts_and_what_is_deeper_does_not(
    lua: Computer, code: str, then: str, text: str
) -> None:
    assert play(lua, "lua", code).state == "finished"
    assert play(lua, "lua", then).text == text


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("return 1, nil, 3", "1\tnil\t3\n"),
        ("return", ""),
        ("math.max(1, 2)", "2\n"),
        ("v = {1, 2}\n#v\n-- end", "2\n"),
        ("v = {1, 2}\nv[1] +\n  v[2]", "3\n"),
        ("function g() return 1, 'a' end\ng()", "1\ta\n"),
        ("for i = 1, 2 do\nprint(i)\nend", "1\n2\n"),
        ("v = [[\nabc\n]]", ""),
        ("v = print\n(5)", "5\n"),
        ("v = print\n'five'", "five\n"),
        ("local v <const> = 6\nv * 2", "12\n"),
        ("io.write('written')", "written"),
        ("os.execute('true')", ""),
        ("os.execute('false')", "nil\texit\t1\n"),
        ("-- nothing", ""),
    ],
)
def test_the_values_of_the_last_lines_are_shown(lua: Computer, code: str, text: str) -> None:
    played = play(lua, "lua", code)
    assert (played.text, played.state) == (text, "finished")


def test_an_error_in_a_call_on_the_last_line_names_both_lines(lua: Computer) -> None:
    played = play(lua, "lua", "function fails() error('deep') end\nfails()")
    assert re.sub(r"cell \d+", "cell", played.text) == (
        "cell:1: deep\n\tcell:1: in function 'fails'\n\tcell:2: in main chunk\n"
    )


def test_lines_are_counted_as_they_were_written(lua: Computer) -> None:
    played = play(lua, "lua", "local a,\n  b = 1,\n  2\nlocal c\nerror('here')")
    assert played.reason.partition(":")[2] == "5: here"


@pytest.mark.parametrize(
    "code",
    [
        "coroutine.wrap(function() print('go') while true do end end)()",
        "print(coroutine.resume(coroutine.create(function() print('go') while true do end end)))",
        "coroutine.wrap(function() coroutine.wrap(function() print('go') while true do end end)() end)()",
    ],
)
def test_a_coroutine_can_be_interrupted(lua: Computer, code: str) -> None:
    play(lua, "lua", "memory = 41")
    played = play(lua, "lua", code, stop_at="go\r\n")
    assert (played.state, played.steps) == ("interrupted", ["interrupt"])
    assert play(lua, "lua", "print(memory + 1)").text == "42\n"


def test_coroutines_are_what_they_were(lua: Computer) -> None:
    code = (
        "local steps = coroutine.wrap(function(a) local b = coroutine.yield(a + 1) return b * 2, 'end' end)\n"
        "print(steps(1)) print(steps(5)) print(pcall(steps))\n"
        "print(pcall(coroutine.wrap(function() error({}) end)))"
    )
    lines = play(lua, "lua", code).text.splitlines()
    assert lines[:3] == ["2", "10\tend", "false\tcannot resume dead coroutine"]
    assert lines[3].startswith("false\ttable: ")


@pytest.mark.parametrize(
    ("code", "reason", "text"),
    [
        ("function a() b() end\nfunction b() error('deep') end\na()", "cell ", "2: in "),
        ("error({code = 5})", "(error object is a table value)", ""),
        ("error(setmetatable({}, {__tostring = function() return 'nice' end}))", "nice", ""),
        ("error(setmetatable({}, {__tostring = function() error('no') end}))", "an error that cannot be a text", ""),
        ("error()", "nil", ""),
    ],
)  # fmt: skip
def test_errors_say_what_happened_and_where(lua: Computer, code: str, reason: str, text: str) -> None:
    played = play(lua, "lua", code)
    assert (played.state, played.reason[: len(reason)]) == ("failed", reason)
    assert text in played.text
    assert "driver" not in played.text


@pytest.mark.parametrize(
    ("code", "calls"),
    [
        ("print(debug.traceback('here'))", ["CELL: in main chunk"]),
        ("function f() return (debug.traceback('here', 2)) end\nprint(f())", ["CELL: in main chunk"]),
        (
            "print(pcall(function() print(debug.traceback('here')) end))",
            ["CELL: in function <CELL>", "[C]: in function 'pcall'", "CELL: in main chunk"],
        ),
        (
            "print(select(2, xpcall(function() error('here') end, debug.traceback)))",
            ["[C]: in function 'error'", "CELL: in function <CELL>", "[C]: in function 'xpcall'", "CELL: in main chunk"],
        ),
        ("print(debug.traceback(coroutine.create(print), 'here'))", []),
    ],
    ids=["plain", "level", "pcall", "xpcall", "coroutine"],
)  # fmt: skip
def test_a_traceback_has_only_the_calls_of_the_program(lua: Computer, code: str, calls: list[str]) -> None:
    text = re.sub(r"cell \d+:\d+", "CELL", play(lua, "lua", code).text)
    assert "here\nstack traceback:" in text
    assert [
        line.strip() for line in text.splitlines() if line.startswith("\t") and "[C]: in ?" not in line
    ] == calls


def test_a_value_that_cannot_be_a_text_says_so(lua: Computer) -> None:
    played = play(lua, "lua", "return setmetatable({}, {__tostring = function() error('no') end})")
    assert (played.state, played.reason) == ("failed", "the value cannot be shown")
    assert "the value cannot be shown: cell" in played.text


def test_a_program_may_take_the_library_apart(computer: Computer) -> None:
    for code in (
        "string.format, string.find, table.unpack, print, tostring, error = nil",
        "getmetatable('').__index = nil",
        "setmetatable(_G, {__index = function(_, name) error('undeclared') end})",
    ):
        assert play(computer, "lua", code).state == "finished"
        assert play(computer, "lua", "io.write('on')").text == "on"
        assert play(computer, "lua", "local x = nothing.here").state == "failed"


def test_what_was_typed_too_much_on_a_line_answers_no_later_question(lua: Computer) -> None:
    assert play(lua, "lua", "print(io.read(1))", answers=("zzz\n",)).text.endswith("\nz\n")
    assert play(lua, "lua", "print(io.read(1))", answers=("y\n",)).text.endswith("\ny\n")


@pytest.mark.parametrize(
    ("code", "state", "text"),
    [
        ("debug.sethook(function() error('late') end, 'l')", "finished", ""),
        ("debug.sethook(function() error('late') end, 'crl', 1)", "failed", "late"),
        ("debug.sethook(function() error('timeout') end, '', 1000) while true do end", "failed", ": timeout"),
        ("debug.sethook(function(_, n) io.write(n, ' ') end, 'l')\nlocal one = 1\nprint(one)", "finished", "2 3 1\n"),
        ("function f() end\ndebug.sethook(function() io.write(tostring(debug.getinfo(2, 'n').name), ' ') end, 'c')\nf() debug.sethook()", "finished", "f "),
    ],
)  # fmt: skip
def test_a_hook_sees_its_cell_and_nothing_else(lua: Computer, code: str, state: str, text: str) -> None:
    played = play(lua, "lua", f"memory = 41 {code}")
    assert (played.state, text in played.text) == (state, True)
    assert "driver" not in played.text
    assert play(lua, "lua", "print(memory + 1)").text == "42\n"


#: What a cell may do to Lua itself.
DAMAGE = [
    "debug = nil", "string = nil table = nil io = nil os = nil", "print = nil error = nil pcall = nil assert = nil setmetatable = nil",
    "setmetatable(_G, {__index = function() error('no') end, __newindex = function() error('no') end})", "_G = {}",
    "getmetatable('').__index = nil", "oi_tui = 5",
]  # fmt: skip


@pytest.mark.parametrize(
    "code",
    [
        *DAMAGE,
        "(function(all) for k in next, all do if k ~= 'kept' and k ~= 'say' then all[k] = nil end end end)(_G)",
    ],
)
def test_a_cell_that_spoils_lua_itself_loses_nothing(computer: Computer, code: str) -> None:
    play(computer, "lua", "kept, say = 7, print")
    assert play(computer, "lua", code).state == "finished"
    assert play(computer, "lua", "kept").text == "7\n"
    # After an interrupt, the next chunk of the command line serves.
    assert play(computer, "lua", "say('go') while true do end", stop_at="go").state == "interrupted"
    assert play(computer, "lua", "kept").text == "7\n"


def test_the_globals_are_those_of_the_cells_alone(lua: Computer) -> None:
    code = "print(load('return oi_tui')(), _G == load('return _G')(), package.loaded._G == _G)"
    assert play(lua, "lua", code).text == "nil\ttrue\ttrue\n"


def test_where_the_output_goes_is_reported_until_it_is_back(computer: Computer) -> None:
    reported = "(What io.write writes goes to a file since cell 1; io.output(io.stdout) brings it back.)\n"
    assert play(computer, "lua", "io.output('written')").text == reported
    assert play(computer, "lua", "io.write('unseen')").text == reported
    assert play(computer, "lua", "io.output(io.stdout) io.write('seen')").text == "seen"
    assert play(computer, "lua", "io.output(io.stderr)").text == ""


def test_an_error_that_is_a_table_is_told_as_lua_does(lua: Computer) -> None:
    played = play(lua, "lua", "error({ code = 2 })")
    assert played.reason == "(error object is a table value)"
    named = "error(setmetatable({}, { __tostring = function() return 'named' end }))"
    assert play(lua, "lua", named).reason == "named"


def test_a_call_of_the_library_that_cannot_be_interrupted_ends_with_the_second_press(
    computer: Computer,
) -> None:
    # Lua looks for an interrupt between its own instructions only, and this is one that takes years. It is said to
    # have begun once it has used a processor for a while.
    used = "read -r _ _ _ _ _ _ _ _ _ _ _ _ _ now _ </proc/$PPID/stat"
    waits = f"{used}; begun=$((now + 5)); while [ $now -lt $begun ]; do {used}; done; echo go >/dev/tty"
    code = f"local told = io.popen([[{waits}]])\nstring.find(('a'):rep(1e5), ('.-'):rep(30) .. 'b')"
    played = play(computer, "lua", code, stop_at="go", insists=True)
    [waits] = [report for _, report in played.reports if isinstance(report, Stopping) and not report.seconds]
    assert "lua and its variables" in waits.at_stake
    assert (played.state, played.steps[:2]) == ("lost", ["interrupt", "terminate"])
    assert play(computer, "lua", "print(1)").text == "1\n"
