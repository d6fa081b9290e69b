"""What JavaScript promises beyond the contract."""

# ruff: noqa: E501 - code of other languages, as it is

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from oi_tui.messages import InputRequested
from oi_tui.runtimes import Computer
from oi_tui.runtimes.language import DRIVERS
from oi_tui.runtimes.tables import TableError, TableQuery, TableRow
from tests.runtimes.playing import check_cells, play, until

pytestmark = pytest.mark.needs("node")


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """A computer whose JavaScript runs, which the tests share."""
    folder = tmp_path_factory.mktemp("node")
    (folder / "data.json").write_text('{"k": 1}')
    (folder / "part.mjs").write_text("export const b = 2; export default 3")
    computer = Computer(cwd=folder)
    assert play(computer, "javascript", "").state == "finished"
    yield computer
    computer.close()


#: One after the other: what a cell imports or exports, later ones have.
CELLS = [
    ("import data from './data.json' with { type: 'json' }; console.log(String(data.k))", "1\n"),
    ("import again from './data.json' assert { type: 'json' }\nconsole.log(String(again === data))", "true\n"),
    ("import three, { b as two } from './part.mjs'\nconsole.log(`${three} ${two}`)", "3 2\n"),
    ("console.log(String((await import('./part.mjs')).b))", "2\n"),
    ("console.log(`import a from 'x'\nimport b from 'y'\nexport const c`)", "import a from 'x'\nimport b from 'y'\nexport const c\n"),
    ("console.log(\"call import('x')\", 'or import(y)') // import('z')", "call import('x') or import(y)\n"),
    ("/*\nimport gone from 'nowhere'\n*/ console.log('on')", "on\n"),
    ("export const kept = 5", ""),
    ("export function twice(x) { return x * 2 }\nconsole.log(String(twice(kept)))", "10\n"),
    ("import path from 'path'; import { EOL } from 'os'; console.log(path.join('a', EOL))", "a/\n\n"),
    ("import 'fs'; import * as os from 'os'; console.log(os.EOL)", "\n\n"),
    ("export default function half(x) { return x / 2 }\nexport {\n  half, half as h\n};\nconsole.log(String(half(6)))", "3\n"),
    ("export default class Kept {}; export const name = Kept.name; console.log(name)", "Kept\n"),
    ("export default 5\nconsole.log(String(module.exports.default))", "5\n"),
    ("console.log('; import x from 1; export default 3')", "; import x from 1; export default 3\n"),
    ("process.stdout.write('no newline')", "no newline"),
    ("process.stdout.write('x\\n') === true", "x\ntrue\n"),
    ("globalThis.process = undefined", ""),
    ("console.log('on')", "on\n"),
    ("void (globalThis.process = require('node:process'))", ""),
]  # fmt: skip


def test_cells_print_what_they_should(node: Computer) -> None:
    check_cells(node, "javascript", CELLS)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "setTimeout(() => { throw new Error('late') }, 1); await new Promise(() => setInterval(() => {}, 1e6))",
            "Error: late",
        ),
        (
            "setTimeout(() => process.exit(3), 1); await new Promise(() => setInterval(() => {}, 1e6))",
            "exit status 3",
        ),
        (
            "Promise.reject(new Error('lost')); await new Promise(() => setInterval(() => {}, 1e6))",
            "Error: lost",
        ),
    ],
)
def test_an_error_beside_what_a_cell_awaits_ends_the_cell(node: Computer, code: str, reason: str) -> None:
    played = play(node, "javascript", code)
    assert (played.state, played.reason) == ("failed", reason)
    assert play(node, "javascript", "console.log('on')").text == "on\n"


def test_a_cell_finds_what_a_script_finds(node: Computer) -> None:
    code = (
        "console.log([require.main === module, module.exports === exports, process.argv.length, "
        "require('path').dirname(__filename) === __dirname, import.meta.dirname === __dirname].join())"
    )
    assert play(node, "javascript", code).text == "true,true,2,true,true\n"
    assert "Warning: look out\n" in play(node, "javascript", "process.emitWarning('look out')").text
    assert play(node, "javascript", "({ a: 1, b: ['x'] })").text == "{ a: 1, b: [ 'x' ] }\n"
    assert re.fullmatch(
        r"Error: a value\n    at cell-\d+\.js:1:1\n", play(node, "javascript", "new Error('a value')").text
    )


@pytest.mark.parametrize(
    "code",
    [
        "try { null.x } catch (error) { console.log(error) }",
        "try { null.x } catch (error) { console.error(error.stack) }",
        "const fail = async () => { await 1; null.x }\ntry { await fail() } catch (error) { console.log(error.stack) }",
        "console.trace('here')",
        "const own = {}; Error.captureStackTrace(own); console.log(own.stack)",
    ],
)
def test_the_trace_of_an_error_that_a_program_caught_has_its_own_lines_only(
    node: Computer, code: str
) -> None:
    lines = play(node, "javascript", code).text.splitlines()
    places = [line for line in lines if line.startswith("    at ")]
    assert places
    assert all(re.search(r"cell-\d+\.js:\d+:\d+", line) for line in places)


def test_an_error_of_json_names_its_place_once(node: Computer) -> None:
    text = play(node, "javascript", "const one = 1\nJSON.parse('{bad')").text
    assert len(re.findall(r"cell-\d+\.js", text)) == 1
    assert re.search(r"cell-\d+\.js:2:6", text)


@pytest.mark.parametrize(
    "thrown",
    [
        "new Proxy({}, { get() { throw 1 } })",
        "new (class extends Error { get message() { throw 2 } })()",
        "new (class extends Error { get name() { throw 3 } })()",
        "Object.create(null)",
        "null",
        "undefined",
        "Symbol('s')",
        "{ toString() { throw 4 } }",
    ],
)
def test_whatever_is_thrown_the_run_fails_and_the_memory_stays(node: Computer, thrown: str) -> None:
    play(node, "javascript", "const memory = 41")
    for code in (f"throw {thrown}", f"await Promise.reject({thrown})"):
        assert play(node, "javascript", code).state == "failed"
    assert play(node, "javascript", "console.log(String(memory + 1))").text == "42\n"


@pytest.mark.parametrize(
    "code",
    [
        "setInterval(() => console.log('tick'), 20)",
        "const pause = () => new Promise((done) => setTimeout(done, 20))\nwhile (true) { await pause(); console.log('tick') }",
        "(async () => { while (true) { await new Promise((done) => setTimeout(done, 20)); console.log('tick') } })()",
        "setInterval(() => console.log('tick'), 20); while (true) await new Promise(setImmediate)",
    ],
)  # fmt: skip
def test_what_an_interrupted_run_would_do_later_ends_with_it(node: Computer, code: str) -> None:
    play(node, "javascript", "const memory = 41")
    assert play(node, "javascript", code, stop_at="tick\r\n").state == "interrupted"
    played = play(node, "javascript", "await new Promise((done) => setTimeout(done, 150))")
    # What was on its way when the interrupt came may still arrive.
    assert (played.text.count("tick") < 3, played.state) == (True, "finished")
    assert play(node, "javascript", "console.log(String(memory + 1))").text == "42\n"


@pytest.mark.parametrize(
    "code",
    [
        "const go = () => process.stdout.write('tick\\n', go); go()",
        "const on = () => process.stdout.write('tick\\n', () => setImmediate(on)); on()",
        "const lot = () => process.stdout.write('tick\\n'.repeat(20000), lot); lot()",
        "require('stream').Readable.from((function* () { for (;;) yield 'tick\\n' })()).pipe(process.stdout)",
    ],
)  # fmt: skip
def test_what_writes_again_whenever_it_has_written_is_stopped(node: Computer, code: str) -> None:
    play(node, "javascript", "const memory = 41")
    assert play(node, "javascript", code, stop_at="tick\r\n").state == "interrupted"
    # What was on its way when the interrupt came may still arrive.
    until(lambda: play(node, "javascript", "console.log(String(memory + 1))").text == "42\n")


@pytest.mark.parametrize(
    "code",
    [
        "await new Promise((done) => setTimeout(done, 10))\nfor (;;) console.log('tick')",
        "await null\nfor (;;) process.stdout.write('tick\\n'.repeat(20000))",
        "for await (const _ of (async function* () { for (;;) yield 1 })()) console.log('tick')",
    ],
)
def test_output_without_end_after_an_await_is_stopped_with_one_interrupt(node: Computer, code: str) -> None:
    play(node, "javascript", "const memory = 41")
    played = play(node, "javascript", code, stop_at="tick\r\n")
    assert (played.state, played.steps) == ("interrupted", ["interrupt"])
    # What was on its way when the interrupt came may still arrive.
    until(lambda: play(node, "javascript", "console.log(String(memory + 1))").text == "42\n")


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("const again = () => { Promise.resolve().then(again) }", "Ended what an earlier run left running\n"),
        ("const again = () => queueMicrotask(again)", "Ended what an earlier run left running\n"),
        ("const again = () => { const end = Date.now() + 700; while (Date.now() < end); }", ""),
    ],
)  # fmt: skip
def test_what_an_earlier_run_left_running_keeps_no_run_from_beginning_and_none_begins_twice(
    node: Computer, tmp_path: Path, code: str, text: str
) -> None:
    play(node, "javascript", f"const memory = 41; globalThis.times = 0; {code}")
    later = f"setTimeout(() => {{ require('fs').writeFileSync('{tmp_path}/begun', ''); again() }}, 30)"
    assert play(node, "javascript", f"void {later}.unref()").state == "finished"
    until((tmp_path / "begun").exists)
    played = play(node, "javascript", "console.log(String(memory + ++times))")
    assert (played.text, played.state) == (text + "42\n", "finished")
    assert play(node, "javascript", "console.log(String(times))").text == "1\n"


@pytest.mark.parametrize("code", ["globalThis.Promise = class {}", "Array.prototype.map = null"])
def test_a_run_ends_whatever_it_makes_of_the_language(computer: Computer, code: str) -> None:
    assert play(computer, "javascript", f"const memory = 41; {code}; 1").state == "finished"
    played = play(computer, "javascript", "console.log('go')\nwhile (true) {}", stop_at="go\r\n")
    assert (played.state, played.steps) == ("interrupted", ["interrupt"])
    assert play(computer, "javascript", "console.log(String(memory + 1))").text == "42\n"


def test_a_module_that_is_not_there_is_named_and_nothing_of_ours(node: Computer) -> None:
    played = play(node, "javascript", "import nothing from 'nothing-such'")
    assert played.reason == "Error: Cannot find package 'nothing-such'"
    assert "driver" not in played.text


@pytest.mark.parametrize(
    "code",
    [
        "process.stdout.end()",
        "void process.stdout.destroy()",
        "require('fs').closeSync(1)",
        "void process.removeAllListeners('SIGINT')",
        "void process.removeAllListeners('uncaughtException').removeAllListeners('unhandledRejection')",
    ],
)
def test_a_run_begins_with_a_terminal_and_can_be_stopped_whatever_the_last_one_did(
    node: Computer, code: str
) -> None:
    play(node, "javascript", "const memory = 41")
    play(node, "javascript", code)
    play(node, "javascript", "setTimeout(() => { throw new Error('late') }, 1)")
    played = play(node, "javascript", "console.log('go')\nwhile (true) {}", stop_at="go\r\n")
    assert (played.state, played.steps) == ("interrupted", ["interrupt"])
    assert play(node, "javascript", "console.log(String(memory + 1))").text == "42\n"


def test_the_prompt_of_browsers_asks_and_can_be_interrupted(node: Computer) -> None:
    play(node, "javascript", "const memory = 41")
    stopped = play(
        node,
        "javascript",
        "prompt('name?')",
        on=lambda report, _: node.interrupt() if isinstance(report, InputRequested) else None,
    )
    assert stopped.state == "interrupted"
    played = play(node, "javascript", "console.log(prompt('name?'), String(memory + 1))", answers=("Zoë\n",))
    assert played.text.endswith("Zoë 42\n")
    assert play(node, "javascript", "console.log(String(prompt('')))", answers=("\x04",)).text == "null\n"


def test_a_run_begins_with_a_terminal_whatever_the_last_one_did(node: Computer) -> None:
    play(node, "javascript", "const memory = 41; for (const fd of [0, 1, 2]) require('fs').closeSync(fd)")
    code = "console.error(String(memory + 1)); console.log(prompt('name?'))"
    assert play(node, "javascript", code, answers=("Ada\n",)).text == "42\nname? Ada\nAda\n"


#: One after the other; `server` listens in all that follow, and keeps no run from its end.
AWAITED = [
    ("require('crypto').pbkdf2('a', 'b', 1, 8, 'sha512', () => console.log('derived'))", "derived\n"),
    ("require('zlib').gzip('x', (error, packed) => console.log(typeof packed))", "object\n"),
    ("var http = require('http'); var server = http.createServer((asked, answer) => answer.end('answer')).listen(0, '127.0.0.1', () => http.get(server.address(), (found) => found.on('data', (piece) => console.log(`got ${piece}`)))); undefined", "got answer\n"),
    ("fetch(`http://127.0.0.1:${server.address().port}`).then((found) => found.text()).then(console.log); undefined", "answer\n"),
    ("void new (require('worker_threads').Worker)('setTimeout(() => console.log(`from a thread`), 20)', { eval: true })", "from a thread\n"),
    ("require('child_process').exec('echo child', (error, out) => console.log(out.trim())); undefined", "child\n"),
    ("setTimeout(() => console.log('later'), 20); process.removeAllListeners(); undefined", "later\n"),
    ("process.on('uncaughtException', (error) => console.log(error.message)); setTimeout(() => { throw new Error('heard') }, 1); undefined", "heard\n"),
    ("process.removeAllListeners('uncaughtException'); server.close(); undefined", ""),
]  # fmt: skip


def test_a_run_waits_for_all_that_a_script_would_wait_for(node: Computer) -> None:
    check_cells(node, "javascript", AWAITED)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("await new Promise(() => {})", "Error: this awaits a promise that nothing can settle any more"),
        ("setTimeout(() => process.exit(5), 5); setInterval(() => {}, 1)", "exit status 5"),
        ("process.exitCode = 4; undefined", "exit status 4"),
        ("setTimeout(() => { throw new Error('late') }, 5); setInterval(() => {}, 1)", "Error: late"),
        ("Promise.reject(new TypeError('refused')); undefined", "TypeError: refused"),
    ],
)
def test_a_run_fails_where_a_script_would(node: Computer, code: str, reason: str) -> None:
    played = play(node, "javascript", code)
    assert (played.state, played.reason) == ("failed", reason)
    assert "driver" not in played.text


@pytest.mark.parametrize(
    "code",
    [
        "new (require('worker_threads').Worker)('console.log(`go`); setTimeout(() => { while (true); }, 30)', { eval: true })",
        "require('net').createServer().listen(0, '127.0.0.1', function () { require('net').connect(this.address().port, '127.0.0.1', () => console.log('go')) })",
    ],
)  # fmt: skip
def test_what_a_run_waits_for_can_be_stopped_and_holds_up_no_later_run(node: Computer, code: str) -> None:
    play(node, "javascript", "const memory = 41")
    assert play(node, "javascript", f"void {code}", stop_at="go\r\n").state == "interrupted"
    assert play(node, "javascript", "console.log(String(memory + 1))").text == "42\n"


@pytest.mark.parametrize(
    "code",
    [
        "const lost = []; while (true) lost.push(new Array(1000).fill(0.5))",
        "(() => { const lost = []; while (true) lost.push(new Array(1000).fill(0.5)) })()",
        "(() => { const lost = []; setInterval(() => { while (true) lost.push({}) }) })()",
        "await (async () => { const lost = []; while (true) { await null; lost.push(new Array(1000).fill(0.5)) } })()",
    ],
)
def test_what_fills_the_memory_is_ended_and_the_variables_stay(
    make: Callable[..., Computer], monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    monkeypatch.setenv("NODE_OPTIONS", "--max-old-space-size=32")
    computer = make()
    play(computer, "javascript", "globalThis.memory = 41")
    for _ in range(2):
        played = play(computer, "javascript", f"{{ {code} }}")
        assert (played.state, "ran out of memory" in played.reason) == ("failed", True)
        assert play(computer, "javascript", "console.log(String(memory + 1))").text == "42\n"
    limit = "require('v8').getHeapStatistics().heap_size_limit < 150e6 ? 'bounded' : 'grown'"
    assert play(computer, "javascript", f"console.log({limit})").text == "bounded\n"


@pytest.mark.parametrize(
    ("redirect", "place", "way_back"),
    [
        ("process.stdout.write = () => true;", "a function of its own", "delete process.stdout.write"),
        (
            "const sent = require('fs').createWriteStream('sent.txt'); Object.defineProperty(process, 'stdout', { value: sent, configurable: true });",
            "'sent.txt'",
            "Object.defineProperty(process, 'stdout', { value: (console._stdout = new (require('tty').WriteStream)(1)) })",
        ),
    ],
)
def test_where_the_output_goes_is_reported_until_it_is_back(
    computer: Computer, redirect: str, place: str, way_back: str
) -> None:
    reported = f"(JavaScript's output goes to {place} since cell 1; {way_back} brings it back.)\n"
    assert play(computer, "javascript", redirect).text.endswith(reported)
    assert play(computer, "javascript", "process.stdout.write('unseen\\n')").text == reported
    assert play(computer, "javascript", f"{way_back}; process.stdout.write('seen\\n')").text.startswith(
        "seen\n"
    )
    assert play(computer, "javascript", "console.log('seen')").text == "seen\n"


def test_a_console_that_keeps_what_it_is_given_is_reported_until_it_is_back(computer: Computer) -> None:
    reported = "(JavaScript's output goes to a console.log of its own since cell 1; console.log = console.info brings it back.)\n"
    assert play(computer, "javascript", "console.log = () => {};").text.endswith(reported)
    assert play(computer, "javascript", "console.log('unseen')").text == reported
    assert play(computer, "javascript", "console.log = console.info; console.log('seen')").text == "seen\n"


def test_a_console_that_hands_on_or_fails_is_no_news(computer: Computer) -> None:
    marked = "const log = console.log; console.log = (...all) => log('>', ...all); console.log('seen')"
    assert play(computer, "javascript", marked).text == "> seen\n"
    failing = "console.log = () => { throw new Error('no') };"
    assert "brings it back" not in play(computer, "javascript", failing).text


def test_output_that_is_handed_on_is_no_news(computer: Computer) -> None:
    count = "let count = 0; const write = process.stdout.write; process.stdout.write = function (...all) { count++; return write.apply(this, all) };"
    assert "brings it back" not in play(computer, "javascript", count).text
    assert play(computer, "javascript", "console.log('seen')").text == "seen\n"


TABLES = """
const sales = [{ item: "b", amount: 3.5 }, { item: "Ä\\nx", amount: null }, { item: "a", amount: 1 }, { item: "b", amount: 2, more: [1] }];
const pairs = [[1, "x"], [2, "y", true]], words = ["one", "two"], typed = new Float64Array([3, 1, NaN]), count = 3;
const lazy = [{ get item() { console.log("EVIL"); return 1; } }, { item: 2 }];
const big = Array.from({ length: 200000 }, (_, n) => ({ n }));
"""


def test_tables_are_opened_page_by_page(node: Computer) -> None:
    played = play(node, "javascript", TABLES)
    assert (played.text, played.state) == ("", "finished")
    table = node.inspector.open_table("javascript", "sales")
    shape = table.shape(TableQuery())
    assert [(column.name, column.type, column.numeric) for column in shape.columns] == [
        ("item", "string", False),
        ("amount", "number", True),
        ("more", "Array", False),
    ]
    assert table.page(TableQuery(), 1, 1, 0, 3) == [TableRow("1", ("Ä\\nx", None, None))]
    assert table.page(TableQuery(), 3, 9, 1, 2) == [TableRow("3", ("2", "<Array of 1>"))]
    assert [row.label for row in table.page(TableQuery(sort=1, descending=True), 0, 9, 0, 1)] == [
        "0",
        "3",
        "2",
        "1",
    ]
    assert [row.label for row in table.page(TableQuery(sort=0, words="b"), 0, 9, 0, 1)] == ["0", "3"]
    assert table.statistics(0).bars[0] == ("b", 2)
    facts = dict(table.statistics(1).facts)
    assert (facts["missing"], facts["median"], facts["std"]) == ("1", "2", "1.258306")
    assert node.inspector.open_table("javascript", "pairs").page(TableQuery(), 1, 1, 0, 3) == [
        TableRow("1", ("2", "y", "true"))
    ]
    assert node.inspector.open_table("javascript", "words").page(TableQuery(), 0, 1, 0, 1) == [
        TableRow("0", ("one",))
    ]
    assert node.inspector.open_table("javascript", "typed").page(TableQuery(sort=0), 0, 3, 0, 1)[2].cells == (
        None,
    )
    assert node.inspector.open_table("javascript", "lazy").page(TableQuery(), 0, 2, 0, 1)[0].cells == (None,)
    assert node.inspector.open_table("javascript", "big").page(
        TableQuery(sort=0, descending=True), 0, 1, 0, 1
    )[0].cells == ("199999",)
    with pytest.raises(TableError, match="count is not a table: it is of type number"):
        node.inspector.open_table("javascript", "count").shape(TableQuery())
    assert play(node, "javascript", "console.log('still')").text == "still\n"


def test_output_comes_back_where_its_repair_was_ended_in_the_middle() -> None:
    """A termination may come at any place of the driver. Here an error stands for it."""
    code = f"""
        const stdout = process.stdout;
        let ends = true;
        const deleteProperty = (target, name) => {{
          if (ends) throw ((ends = false), new Error('ended'));
          return delete target[name];
        }};
        Object.defineProperty(process, 'stdout', {{ value: new Proxy(stdout, {{ deleteProperty }}) }});
        const output = require({json.dumps(str(DRIVERS / "javascript_output.js"))}).watchOutput(2, 'JavaScript');
        output.discard();
        output.stopDiscarding().catch(() => output.stopDiscarding()).then(() => {{
          console.error(Object.hasOwn(stdout, '_write') || Object.hasOwn(stdout, '_writev') ? 'silent' : 'repaired');
        }});
    """
    ran = subprocess.run(["node", "-e", code], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stderr == "repaired\n"


#: V8 cannot describe the variables of a function while it evaluates what a `switch` is over.
IN_A_SWITCH = """
function work() {{ {stop} const end = Date.now() + 500; while (Date.now() < end); }}
function choose() {{ let one = 1; let read; switch (work()) {{ default: let two = 2; read = () => [one, two]; }} }}
choose();
console.log('done');
"""


@pytest.mark.parametrize("stop", ["", "debugger;"])
@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_the_line_is_told_within_a_switch_and_nothing_ends(
    computer: Computer, language: str, stop: str
) -> None:
    played = play(computer, language, IN_A_SWITCH.format(stop=stop))
    assert (played.text, played.state) == ("done\n", "finished")
    assert 2 in played.lines


def test_what_tells_the_line_leaves_the_errors_of_a_program_alone(computer: Computer) -> None:
    code = """
let asked = 0;
const limit = { get: () => { asked += 1; return 3; }, set: () => { asked += 1; }, configurable: true };
Object.defineProperty(Error, 'stackTraceLimit', limit);
Error.prepareStackTrace = () => { asked += 1; return 'mine'; };
const end = Date.now() + 500; while (Date.now() < end);
const kept = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit').get === limit.get;
Object.defineProperty(Error, 'stackTraceLimit', { value: 10 });
console.log(`${asked} ${kept} ${new Error('x').stack} ${asked}`);
"""
    played = play(computer, "javascript", code)
    assert played.text == "0 true mine 1\n"
    assert 6 in played.lines
