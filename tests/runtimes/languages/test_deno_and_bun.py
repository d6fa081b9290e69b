"""What Deno and Bun have of their own; all else they promise with the other languages."""

import json
import re
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from oi_tui.messages import LineReached, RunEnded
from oi_tui.runtimes import Computer
from oi_tui.runtimes.language import DRIVERS
from tests.ports import choose_port
from tests.runtimes.playing import check_cells, holds_once, play, until
from tests.runtimes.stand_ins import stand_in

Make = Callable[..., Computer]
BOTH = pytest.mark.parametrize(
    "language",
    [pytest.param(name, marks=pytest.mark.needs(name)) for name in ("deno", "bun")],
)


@pytest.mark.parametrize(
    ("language", "version", "here"),
    [
        ("deno", "deno 2.7.0 (stable)", True),
        ("deno", "deno 2.6.9 (stable)", False),
        ("bun", "1.3.10", True),
        ("bun", "1.3.9", False),
    ],
)
def test_they_are_here_where_they_are_new_enough(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str, version: str, here: bool
) -> None:
    monkeypatch.setenv("PATH", "")
    stand_in(tmp_path, language, f"echo {version!r}", monkeypatch)
    assert (language in make().languages) == here
    if not here:
        assert "It needs" in play(make(), language, "1").reason


@BOTH
def test_a_cell_that_only_waits_asks_for_no_input(shared: Computer, language: str) -> None:
    code = (
        "process.stdout.write('on ')\nawait new Promise((done) => setTimeout(done, 700))\nconsole.log('off')"
    )
    for _ in range(2):
        played = play(shared, language, code)
        assert (played.text, played.asked) == ("on off\n", [])


HEAR = "process.once('{}', (error) => console.log('heard', error)); "
REMOVE = "process.removeAllListeners('unhandledRejection'); process.removeAllListeners('uncaughtException'); "
#: One after the other.
CAUGHT = [
    (HEAR.format("unhandledRejection") + "Promise.reject('a')", "heard a\n"),
    (HEAR.format("uncaughtException") + "setTimeout(() => { throw 'b' }, 1)", "heard b\n"),
    ("const waits = setInterval(() => {}, 1000); waits.unref()", ""),
    *(
        (HEAR.format(name).replace("once", "prependOnceListener") + code, f"heard {word}\n")
        for name, code, word in (
            ("uncaughtException", "setTimeout(() => { throw 'c' }, 1)", "c"),
            ("unhandledRejection", "Promise.reject('d')", "d"),
        )
    ),
    (REMOVE + HEAR.format("uncaughtException") + "setTimeout(() => { throw 'e' }, 1)", "heard e\n"),
    (REMOVE, ""),
]


@BOTH
def test_a_program_that_listens_to_errors_has_them(computer: Computer, language: str) -> None:
    for code, text in CAUGHT:
        played = play(computer, language, f"{code}; undefined")
        assert (played.text, played.state) == (text, "finished"), code
    for code in ("Promise.reject(new Error('late'))", "setTimeout(() => { throw new Error('late') }, 1)"):
        assert play(computer, language, f"{code}; undefined").reason == "Error: late"


@pytest.mark.needs("deno")
def test_a_program_that_listens_to_error_events_of_deno_has_them(shared: Computer) -> None:
    code = (
        "addEventListener('error', (event) => { console.log(event.message); event.preventDefault() }, "
        "{ once: true })\nsetTimeout(() => { throw new Error('late') }, 1)"
    )
    played = play(shared, "deno", code)
    assert (played.text, played.state) == ("Uncaught Error: late\n", "finished")
    for value, message in (("Symbol('x')", "Uncaught Symbol(x)"), ("Object.create(null)", "Uncaught")):
        played = play(shared, "deno", code.replace("new Error('late')", value))
        assert (played.text, played.state) == (f"{message}\n", "finished")


@pytest.mark.needs("deno")
def test_answers_of_the_inspector_are_not_held_back(shared: Computer) -> None:
    """They were, for 40 ms each, until the system confirmed what had come before."""
    assert holds_once(lambda: play(shared, "deno", "1").seconds < 0.03, 20)


WORKER = "var worker = new Worker(URL.createObjectURL(new Blob([`{}`])), {{ type: 'module' }})\n"


@pytest.mark.needs("deno")
def test_a_cell_of_deno_waits_for_workers_as_a_script_does(shared: Computer) -> None:
    code = WORKER.format("setTimeout(() => { postMessage(42); self.close() }, 100)")
    code += "worker.onmessage = ({ data }) => console.log(String(data)); undefined"
    assert play(shared, "deno", code).text == "42\n"
    code = WORKER.format("postMessage('go')")
    code += "worker.onmessage = ({ data }) => console.log(String(data)); undefined"
    assert play(shared, "deno", code, stop_at="go").state == "interrupted"
    assert play(shared, "deno", "`${6 * 7}`").text == '"42"\n'


@pytest.mark.slow
@pytest.mark.needs("deno")
def test_a_worker_that_is_not_waited_for_takes_no_wait_of_another(computer: Computer) -> None:
    code = (
        "var { Worker: Thread } = require('node:worker_threads')\n"
        "var begin = (code) => new Thread(code, { eval: true })\n"
        "var first = begin('setInterval(() => {}, 1000)'); first.unref(); undefined"
    )
    assert play(computer, "deno", code).state == "finished"
    second = (
        "var second = begin(`setTimeout(() => process.exit(), 200)`)\n"
        "second.on('exit', () => console.log('done')); undefined"
    )
    assert play(computer, "deno", second).text == "done\n"
    assert play(computer, "deno", f"first.unref()\n{second}").text == "done\n"
    play(computer, "deno", "first.terminate()")


#: A server that sends one message to its client, which cannot read it.
CONNECT = """
const server = Deno.listen({ hostname: "127.0.0.1", port: 0 })
const { connect } = await import(INSPECTOR)
const serve = async () => {
  const connection = await server.accept()
  await connection.read(new Uint8Array(4096))
  await connection.write(new TextEncoder().encode("HTTP/1.1 101 Switching Protocols\\r\\n\\r\\n"))
  await connection.write(new Uint8Array([0x81, 2, 123, 125]))
}
serve()
await connect(`ws://127.0.0.1:${server.addr.port}/x`, () => { throw new Error("unknown") })
setInterval(() => {}, 1000)
"""


@pytest.mark.needs("deno")
def test_deno_ends_where_a_message_of_its_inspector_cannot_be_read(tmp_path: Path) -> None:
    """No request would be answered any more, and no cell would end."""
    script = tmp_path / "script.mjs"
    script.write_text(CONNECT.replace("INSPECTOR", json.dumps((DRIVERS / "deno_inspector.mjs").as_uri())))
    command = ["deno", "run", "--allow-all", "--no-config", str(script)]
    assert subprocess.run(command, capture_output=True, timeout=30, check=False).returncode == 1


@pytest.mark.needs("deno")
def test_each_line_that_a_cell_reads_is_asked_for(shared: Computer) -> None:
    code = (
        "var lines = []; process.stdin.resume()\n"
        "await new Promise((done) => process.stdin.on('data', (piece) => {\n"
        "  if (lines.push(String(piece).trim()) < 2) return\n"
        "  process.stdin.removeAllListeners('data').pause()\n"
        "  done()\n"
        "}))\n"
        "console.log(lines.join(' and '))"
    )
    for _ in range(2):
        played = play(shared, "deno", code, answers=("Ada\n", "Bob\n"))
        assert played.text.endswith("Ada and Bob\n")
        assert [asked.masked for asked in played.asked] == [False, False]


@BOTH
def test_cells_are_typescript_and_keep_their_names(make: Make, language: str) -> None:
    (computer := make()).cwd.joinpath("part.ts").write_text("export const three: number = 3\n")
    cells = [
        ("\ufeffconst n: number = 41\r\nenum Size { Small, Large }\r\n", ""),
        ("const n = 42; n", "42\n"),
        ("import { join } from 'node:path'\njoin('a', 'b')", '"a/b"\n'),
        ("import { three } from './part.ts'\nString(three)", '"3"\n'),
        ("const größe = await Promise.resolve(7)\nString(größe) // the last", '"7"\n'),
        ("function twice(x: number) {\n  return 2 * x\n}", ""),
        (
            "setTimeout(() => console.log('later'), 300)\nString(twice(Size.Large))",
            '"2"\nlater\n',
        ),
        ("class Box<T> { constructor(public held: T) {} }\nnew Box('x').held", '"x"\n'),
    ]
    check_cells(computer, language, cells)


@BOTH
def test_errors_name_the_line_as_it_was_written(make: Make, language: str) -> None:
    code = (
        "// a remark\nenum Size { Small,\n  Large }\ninterface Shape { side: number }\n\n"
        "function fail(shape: Shape): never {\n  throw new TypeError('oops ' + shape.side)\n}\n\n"
        "fail({ side: Size.Large })"
    )
    played = play(computer := make(), language, code)
    assert (played.state, played.reason) == ("failed", "TypeError: oops 1")
    assert "at fail (cell-1.ts:7:" in played.text
    assert "cell-1.ts:10:" in played.text
    assert "driver" not in played.text
    played = play(computer, language, "\n\nlet = ;")
    assert "cell-2.ts:3" in played.text
    assert played.reason.startswith("SyntaxError: ")
    played = play(computer, language, "setTimeout(() => {\n  throw new Error('in a timer')\n}, 1)")
    assert (played.state, played.reason) == ("failed", "Error: in a timer")
    assert "cell-3.ts:2:" in played.text
    assert "cell-4.ts:1:15\n" in play(computer, language, "let fine = 1; nope").text


@BOTH
@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("try { fail() } catch (error) { console.log((error as Error).stack) }", r"Error: bad\n.* fail "),
        (
            "try { fail() } catch (error) { console.error(error) }",
            "error: bad\n.* fail |Error: bad\n.* fail ",
        ),
        ("console.trace('here', 7);", "Trace: here 7\n"),
        ("console.log([new Error('one')]);", "rror: one\n"),
        ("var kept = new Error('two')\nkept", "rror: two\n"),
    ],
    ids=["stack", "error", "trace", "list", "value"],
)
def test_a_program_sees_only_its_own_calls(shared: Computer, language: str, code: str, text: str) -> None:
    """Bun showed the calls of the driver, lines of what it had made of the cell, and their numbers."""
    code = f"type Odd = {{ a: number }}\n\nvar fail = (): never => {{\n  throw new Error('bad')\n}}\n{code}"
    played = play(shared, language, code)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", played.text)
    assert played.state == "finished"
    assert re.search(text, plain), plain
    assert re.findall(r"\.ts:(\d+)", plain)[0] == ("4" if "fail()" in code.splitlines()[-1] else "6")
    assert not re.search("driver|javascript_|worker|Odd|var ", plain), plain


@BOTH
def test_what_cannot_be_imported_does_not_name_the_driver(shared: Computer, language: str) -> None:
    code = "await import('./missing.js').catch((error) => console.log(error.message))"
    played = play(shared, language, code)
    assert "missing.js" in played.text
    assert "driver" not in played.text


@BOTH
@pytest.mark.parametrize(
    "code",
    [
        "setTimeout(() => { while (true); }, 1); console.log('go')",
        "console.log('go'); await 1; while (true);",
        "console.log('go'); setInterval(() => {}, 10)",
        "console.log('go'); setInterval(() => { for (let n = 0; n < 1e7; n++); }, 1)",
        "console.log('go'); const tick = () => process.nextTick(tick); tick()",
        (
            "console.log('go')\n"
            "const tick = () => { process.nextTick(tick); for (let n = 0; n < 1e6; n++); }; tick()"
        ),
        # What is next waits while the interrupt ends the code before it.
        (
            "Promise.resolve().then(() => { while (true); })\nconsole.log('go')\n"
            "for (const end = Date.now() + 400; Date.now() < end;);"
        ),
    ],
)
def test_what_runs_later_is_stopped_too(shared: Computer, language: str, code: str) -> None:
    play(shared, language, "var kept = 41")
    assert play(shared, language, code, stop_at="go\r\n").state == "interrupted"
    assert play(shared, language, "String(kept)").text == '"41"\n'


@BOTH
def test_a_timer_that_is_due_as_the_interrupt_comes_does_not_outlive_its_run(
    shared: Computer, language: str
) -> None:
    play(shared, language, "var kept = 41")
    # It was lost in one of seven, where the run ended between the timer's time and its call.
    for _ in range(30):
        code = "setTimeout(() => { while (true); }, 1); console.log('go')"
        assert play(shared, language, code, stop_at="go\r\n").state == "interrupted"
    assert play(shared, language, "String(kept)").text == '"41"\n'


@pytest.mark.needs("deno")
def test_what_a_server_calls_between_runs_is_stopped_by_the_next_interrupt(make: Make) -> None:
    computer, port = make(), choose_port()
    options = f"{{ port: {port}, hostname: '127.0.0.1', onListen() {{}} }}"
    code = f"var kept = 41, asked = 0\nDeno.serve({options}, () => {{\n"
    code += "  if (!asked++) { console.log('serving'); Deno.mkdirSync('serving'); for (;;); }\n"
    code += "  return new Response('served') })\n1"
    assert play(computer, "deno", code).state == "finished"
    with socket.create_connection(("127.0.0.1", port), 20) as client:
        client.sendall(b"GET / HTTP/1.0\r\n\r\n")
        until((computer.cwd / "serving").exists)
        played = play(computer, "deno", "kept = 0", stop_at="serving\r\n")
        assert (played.state, played.steps) == ("interrupted", ["interrupt"])
    assert play(computer, "deno", "kept").text == "41\n"
    code = f"await (await fetch('http://127.0.0.1:{port}/')).text()"
    assert play(computer, "deno", code).text == '"served"\n'


@BOTH
def test_what_is_remembered_can_be_looked_at(make: Make, language: str) -> None:
    computer = make()
    play(computer, language, "const rows = [{ town: 'Oslo', n: 1 }, { town: 'Bergen', n: 2 }]\nlet count = 3")
    variables = {item.name: (item.type, item.summary) for item in computer.inspector.read_variables(language)}
    assert variables == {"rows": ("Array", "Array of 2"), "count": ("number", "3")}
    assert '"Bergen"' in computer.inspector.inspect(language, "rows").preview  # type: ignore[union-attr]
    found = computer.inspector.complete(language, "rows[0].tow")
    assert found
    assert [item.text for item in found.found] == ["town"]


@pytest.mark.needs("bun")
def test_bun_says_where_nothing_can_go_on(shared: Computer) -> None:
    played = play(shared, "bun", "await new Promise(() => {})")
    assert "nothing can settle" in played.reason


@BOTH
def test_a_server_serves_on_and_no_cell_waits_for_it(make: Make, language: str) -> None:
    serve = {
        "deno": "var s = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} },"
        " () => new Response('yes'))\n"
        "var at = `http://127.0.0.1:${s.addr.port}`",
        "bun": "var s = Bun.serve({ port: 0, hostname: '127.0.0.1', "
        "fetch: () => new Response('yes') })\n"
        "var at = s.url",
    }[language]
    computer = make()
    assert play(computer, language, serve).state == "finished"
    assert play(computer, language, "await (await fetch(at)).text()").text == '"yes"\n'


@pytest.mark.needs("deno")
def test_a_run_that_is_stopped_at_its_first_moment_does_not_go_on_behind_its_end(shared: Computer) -> None:
    for number in range(12):
        code = f"console.log('go {number}')\nwhile (true) console.log('y'.repeat(50))"
        reports = shared.run("deno", code)
        next(report for report in reports if isinstance(report, LineReached))
        shared.interrupt()
        assert [report.state for report in reports if isinstance(report, RunEnded)] == ["interrupted"]
        assert play(shared, "deno", "console.log('next')").text == "next\n"


@pytest.mark.needs("deno")
def test_deno_tells_the_line_of_the_source_without_a_pause(shared: Computer) -> None:
    code = """
// enum of sizes
enum Size {
  Small,
  Large,
}
{
  const session = new (await import('node:inspector')).Session()
  const pauses: string[] = []
  session.connect()
  session.on('Debugger.paused', () => void pauses.push('paused'))
  session.post('Debugger.enable')
  const end = Date.now() + 500
  while (Date.now() < end) Math.sqrt(Size.Large)
  await new Promise((done) => setTimeout(done, 0))
  session.disconnect()
  console.log(`${pauses.length} pauses`)
}
"""
    played = play(shared, "deno", code)
    assert (played.text, played.state) == ("0 pauses\n", "finished")
    assert 14 in played.lines


@pytest.mark.needs("deno")
def test_what_tells_the_line_in_deno_leaves_the_errors_of_a_program_alone(computer: Computer) -> None:
    code = """
let asked = 0
const limit = { get: () => { asked += 1; return 3 }, set: () => { asked += 1 }, configurable: true }
Object.defineProperty(Error, 'stackTraceLimit', limit)
Error.prepareStackTrace = () => { asked += 1; return 'mine' }
const end = Date.now() + 500; while (Date.now() < end);
const kept = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')!.get === limit.get
Object.defineProperty(Error, 'stackTraceLimit', { value: 10 })
console.log(`${asked} ${kept} ${new Error('x').stack} ${asked}`)
"""
    played = play(computer, "deno", code)
    assert played.text == "0 true mine 1\n"
    assert 6 in played.lines
