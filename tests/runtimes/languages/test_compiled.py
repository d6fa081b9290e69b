"""What compiled languages promise beyond the contract, which C keeps for all of them."""

# ruff: noqa: E501 - code of other languages, as it is

import importlib
import os
import pwd
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from oi_tui.runtimes import Computer
from oi_tui.runtimes.language import DRIVERS
from tests.runtimes.playing import alive, living, play, until

Make = Callable[..., Computer]

HELLO = {
    "c": '#include <stdio.h>\nint main(void) { puts("grüße €"); return 3; }',
    "cpp": '#include <iostream>\n\nint main() { std::cout << "grüße €\\n"; return 3; }',
    "rust": 'fn main() {\n    println!("grüße €");\n    std::process::exit(3)\n}',
    "go": 'package main\n\nimport (\n\t"fmt"\n\t"os"\n)\n\nfunc main() {\n\tfmt.Println("grüße €")\n\tos.Exit(3)\n}',
}
#: A cell with a mistake on its third line, and what the compiler calls that place.
MISTAKE = {
    "c": ('#include <stdio.h>\n\nint number = ;\nputs("ran");', "cell.c:3:"),
    "cpp": ('#include <string>\n\nstd::string text = 7.5 + "";\n', "cell.cpp:3:"),
    "rust": ("let a = 1;\nlet b = 2;\nlet c: String = a + b;", "cell.rs:3:"),
    "go": ("package main\n\nfunc main() { x := 1 }", "cell.go:3:"),
}
ASK = {
    "c": '#include <stdio.h>\nchar s[9];\nprintf("name? ");\nfgets(s, 9, stdin);\nprintf("hello %s", s);',
    "cpp": '#include <iostream>\nstd::string s;\nstd::cout << "name? ";\nstd::cin >> s;\nstd::cout << "hello " << s;',
    "rust": (
        'use std::io::Write;\nlet mut s = String::new();\nprint!("name? ");\nstd::io::stdout().flush()?;\n'
        'std::io::stdin().read_line(&mut s)?;\nprintln!("hello {s}");'
    ),
    "go": (
        'package main\n\nimport "fmt"\n\nfunc main() {\n\tvar s string\n\tfmt.Print("name? ")\n\tfmt.Scan(&s)\n'
        '\tfmt.Println("hello", s)\n}'
    ),
}


@pytest.fixture(autouse=True)
def rust_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rust of rustup is looked for in the home of the person, which is not that of the tests."""
    home = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".rustup"
    if home.is_dir() and "RUSTUP_HOME" not in os.environ:
        monkeypatch.setenv("RUSTUP_HOME", str(home))


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], int]:
    """Count how often the C compiler was called."""
    folder = tmp_path_factory.mktemp("bin")
    log = folder / "log"
    script = folder / "gcc"
    script.write_text(f'#!/bin/sh\necho >>"{log}"\nexec "{shutil.which("gcc")}" "$@"\n')
    script.chmod(0o700)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return lambda: log.read_text().count("\n") if log.exists() else 0


@pytest.mark.slow
@pytest.mark.parametrize("language", HELLO)
def test_a_cell_is_a_program_with_diagnostics_input_and_an_exit_status(
    computer: Computer, language: str
) -> None:
    played = play(computer, language, HELLO[language])
    assert (played.text, played.state, played.reason) == ("grüße €\n", "failed", "exit status 3")
    code, place = MISTAKE[language]
    played = play(computer, language, code)
    assert (played.state, place in played.text) == ("failed", True), played.text
    assert played.reason.startswith("not compiled: ")
    assert "exit status" in played.reason
    assert "ran\n" not in played.text
    played = play(computer, language, ASK[language], answers=("Ada\n",))
    assert [asked.prompt for asked in played.asked] == ["name? "]
    assert "hello Ada" in played.text


@pytest.mark.needs("gcc")
def test_an_unchanged_cell_is_compiled_once(make: Make, builds: Callable[[], int]) -> None:
    computer = make()
    cell = '#include <stdio.h>\n#include "own.h"\nprintf("%d\\n", NUMBER);'
    (computer.cwd / "own.h").write_text("#define NUMBER 1\n")
    assert [play(computer, "c", cell).text for _ in range(3)] == ["1\n"] * 3
    assert builds() == 1
    (computer.cwd / "own.h").write_text("#define NUMBER 22\n")
    assert play(computer, "c", cell).text == "22\n"
    assert play(computer, "c", f"{cell}\n").text == "22\n"
    assert builds() == 3


@pytest.mark.needs("gcc")
def test_escape_stops_the_compiler(computer: Computer) -> None:
    pipe = computer.cwd / "endless.h"
    os.mkfifo(pipe)
    end: list[int] = []

    def stop() -> None:
        # It opens once the compiler has begun to read.
        end.append(os.open(pipe, os.O_WRONLY))
        computer.interrupt()

    thread = threading.Thread(target=stop)
    thread.start()
    played = play(computer, "c", '#include "endless.h"\nint main(void) { return 0; }')
    thread.join()
    os.close(end[0])
    assert (played.state, played.steps) == ("interrupted", ["interrupt"])
    assert play(computer, "c", "return 4;").reason == "exit status 4"


@pytest.mark.needs("gcc")
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("*(volatile int *)0 = 1;", "the program was ended by a signal: Segmentation fault (SIGSEGV)"),
        ("#include <stdlib.h>\nabort();", "the program was ended by a signal: Aborted (SIGABRT)"),
    ],
)
def test_a_signal_that_ends_the_program_is_named(computer: Computer, code: str, reason: str) -> None:
    played = play(computer, "c", code)
    assert (played.state, played.reason) == ("failed", reason)


@pytest.mark.slow
@pytest.mark.needs("go")
@pytest.mark.parametrize("in_module", [False, True])
def test_a_panic_of_go_names_the_cell(computer: Computer, in_module: bool) -> None:
    if in_module:
        (computer.cwd / "go.mod").write_text("module example\n")
    played = play(computer, "go", 'package main\n\nfunc main() { panic("oops") }')
    assert "\n\tcell.go:3 +0x" in played.text


@pytest.mark.needs("go")
@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("package tools\n\nfunc main() {}", "write `package main` instead of `package tools`"),
        ("package main\n\nfunc Main() {}", "no `func main() {}`"),
    ],
)
def test_go_says_what_is_missing(computer: Computer, code: str, says: str) -> None:
    played = play(computer, "go", code)
    assert (played.state, says in played.reason, played.text) == ("failed", True, "")


@pytest.mark.slow
@pytest.mark.needs("go")
@pytest.mark.parametrize(
    ("code", "text"),
    [
        ('fmt.Println("hi")', "hi\n"),
        ('import (\n\t"fmt"\n\tm "math"\n)\nfmt.Println(m.Sqrt(4)) // sqrt', "2\n"),
        ("func twice(n int) int { return 2 * n }\n\nx := 21\ntwice(x)", "42\n"),
        ("type P struct{ X, Y int }\n\nfunc (p P) Sum() int { return p.X + p.Y }\n\nP{1, 2}", "{X:1 Y:2}\n"),
        ("var total = 5\n\nfunc add(n int) { total += n }\n\nadd(3)\ntotal", "8\n"),
        ('xs := []string{"b", "a"}\nsort.Strings(xs)\nstrings.Join(xs, ";{")', "a;{b\n"),
        ('func main() {\n\tfmt.Println("m")\n}', "m\n"),
    ],
)
def test_a_go_cell_without_a_package_is_a_program(computer: Computer, code: str, text: str) -> None:
    played = play(computer, "go", code)
    assert (played.text, played.state) == (text, "finished")


@pytest.mark.slow
@pytest.mark.needs("go")
@pytest.mark.parametrize("in_module", [False, True])
def test_errors_of_a_go_cell_without_a_package_name_its_own_lines(
    computer: Computer, in_module: bool
) -> None:
    if in_module:
        (computer.cwd / "go.mod").write_text("module example\n")
    assert "./cell.go:3:13: undefined: y" in play(computer, "go", "x := 1\n\nfmt.Println(y, x)").text
    assert "./cell.go:2:5: undefined: y" in play(computer, "go", "x := 1\nx + y").text
    assert "\n\tcell.go:2 +0x" in play(computer, "go", "var s []int\nfmt.Println(s[3])").text
    whole = play(computer, "go", "package main\n\nfunc main() { y() }").text
    assert "./cell.go:3:15: undefined: y" in whole


def test_the_parts_of_a_go_cell_keep_their_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DRIVERS))
    go_cell = importlib.import_module("go_cell")
    code = 'x := `{` // "}"\nfunc f() int {\n\treturn 1\n}\nfmt.Println(x, f())\nf()'
    lines = go_cell.make_program(code, "cell.go").split("\n")
    assert lines[:2] == ["package main", 'import "fmt"']
    outside, inside = [at for at, line in enumerate(lines, 1) if line == "//line cell.go:1:1"]
    assert lines[outside + 1 : outside + 4] == ["func f() int {", "\treturn 1", "}"]
    assert lines[inside] == 'x := `{` // "}"'
    assert lines[inside + 5] == "oiShow(/*line cell.go:6:1*/f())"


@pytest.mark.slow
@pytest.mark.needs("go")
def test_go_sees_the_module_of_the_working_directory(computer: Computer) -> None:
    (computer.cwd / "go.mod").write_text("module example\n\ngo 1.18\n")
    (computer.cwd / "words").mkdir()
    words = computer.cwd / "words" / "words.go"
    cell = (
        'package main\n\nimport (\n\t"example/words"\n\t"fmt"\n)\n\nfunc main() { fmt.Println(words.Said) }'
    )
    for said in ("one", "another"):
        words.write_text(f'package words\n\nconst Said = "{said}"\n')
        assert play(computer, "go", cell).text == f"{said}\n"
    assert [path.name for path in computer.cwd.glob("*.go")] == []


@pytest.mark.slow
@pytest.mark.needs("rustc")
def test_a_rust_cell_may_begin_as_a_crate_does(computer: Computer) -> None:
    code = '#![allow(unused_variables)]\n// remark\nlet x = 1;\nfn double(n: i32) -> i32 { n * 2 }\nprintln!("{}", double(21));'
    assert play(computer, "rust", code).text == "42\n"
    played = play(computer, "rust", 'let v: Vec<i32> = vec![];\nprintln!("{}", v[1]);')
    assert played.reason == "exit status 101"
    assert "cell.rs:2:" in played.text


@pytest.mark.needs("rustc")
@pytest.mark.parametrize(
    ("code", "text"),
    [
        (
            "#[derive(Debug)]\n#[allow(dead_code)]\nstruct P { x: i32 }\nfn f() -> P { P { x: 2 } }\nf()",
            "P { x: 2 }\n",
        ),
        ('let s = String::from("a;b"); // the text\nfor _ in 0..1 { print!("on "); }\n&s[..]', 'on "a;b"\n'),
        ("let n: i32 = \"5\".parse()?;\nif n > 3 { 'y' } else { ';' }", "'y'\n"),
        ("struct S;\nS", "(a value of type cell::main::S, without Debug)\n"),
        ('match 5 { 5 => println!("five"), _ => {} }', "five\n"),
        ("let x = 3;\nassert_eq!(x, 3);", ""),
    ],
)
def test_the_value_of_the_last_expression_of_a_rust_cell_is_shown(
    computer: Computer, code: str, text: str
) -> None:
    played = play(computer, "rust", code)
    assert (played.text, played.state) == (text, "finished")


@pytest.mark.needs("rustc")
def test_an_error_in_the_last_expression_quotes_the_line_as_it_was_written(computer: Computer) -> None:
    text = re.sub(r"\x1b\[[0-9;]*m", "", play(computer, "rust", 'let x = 1;\nx + "a"').text)
    assert "cell.rs:2:3" in text
    assert '\n2 | x + "a"\n' in text


@pytest.mark.needs("gcc", "sandbox")
def test_compilers_work_in_the_sandbox(make: Make) -> None:
    computer = make(sandbox=True)
    code = '#include <stdio.h>\nFILE *out = fopen("kept", "w");\nfputs("in\\n", out);\nfclose(out);\nputs("done");'
    assert play(computer, "c", code).text == "done\n"
    assert (computer.cwd / "kept").read_text() == "in\n"
    outside = Path.home() / "kept"
    play(computer, "c", f'#include <stdio.h>\nfclose(fopen("{outside}", "w"));')
    assert not outside.exists()


@pytest.mark.needs("php")
def test_php_runs_a_script_of_each_cell(computer: Computer) -> None:
    assert play(computer, "php", 'echo "grüße €\\n";').text == "grüße €\n"
    assert play(computer, "php", "<b><?= 6 * 7 ?></b>").text == "<b>42</b>"
    define = "function f() { return 1; }\necho f();\nexit(3);"
    for _ in range(2):
        played = play(computer, "php", define)
        assert (played.text, played.reason) == ("1", "exit status 3")
    played = play(computer, "php", 'echo "ran";\n\nif (')
    assert (played.state, played.reason) == ("failed", "exit status 255")
    assert "Parse error" in played.text
    assert "in cell 5 on line 3" in played.text
    assert "ran" not in played.text.partition("Parse error")[0]
    played = play(computer, "php", 'echo "hello " . readline("name? ");', answers=("Ada\n",))
    assert "name? " in played.asked[0].prompt
    assert "hello Ada" in played.text
    for code in ('echo "go\\n"; while (true);', 'echo "go\\n"; sleep(60);'):
        played = play(computer, "php", code, stop_at="go")
        assert (played.state, played.steps) == ("interrupted", ["interrupt"])


@pytest.mark.needs("php")
def test_a_cell_of_php_may_hold_tags_in_texts_and_leave_php(computer: Computer) -> None:
    assert play(computer, "php", "six by seven: <?= 6 * 7 ?>").text == "six by seven: 42"
    assert play(computer, "php", "echo '<?xml version=\"1.0\"?>';").text == '<?xml version="1.0"?>'
    assert play(computer, "php", "echo 1; ?>\n<i>\n<?php echo 2;").text == "1<i>\n2"


@pytest.mark.needs("php")
def test_traces_of_php_have_only_the_calls_of_the_cell(computer: Computer) -> None:
    code = (
        "function f() { debug_print_backtrace(); throw new Exception('x'); }\n"
        "echo count(debug_backtrace());\ntry { f(); } catch (Exception $e) { echo count($e->getTrace()); }"
    )
    assert play(computer, "php", code, number=7).text == "0#0 cell 7(3): f()\n1"


@pytest.mark.needs("php")
def test_errors_of_php_name_the_cell_and_its_lines(computer: Computer) -> None:
    code = "function f() {\n  throw new Exception('oops');\n}\necho $undefined;\nf();"
    played = play(computer, "php", code, number=7)
    shown = played.text.replace("\r", "")
    assert "Warning: Undefined variable $undefined in cell 7 on line 4\n" in shown
    assert (
        "Fatal error: Uncaught Exception: oops in cell 7:2\nStack trace:\n#0 cell 7(5): f()\n#1 {main}\n"
        "  thrown in cell 7 on line 2\n"
    ) in shown
    assert played.reason == "exit status 255"
    played = play(computer, "php", "function g() {}\nfunction g() {}", number=8)
    assert "Cannot redeclare" in played.text
    assert "in cell 8 on line 2" in played.text
    code = 'if (basename(__FILE__) === basename($_SERVER["PHP_SELF"])) echo __FILE__, " ", __DIR__, " ", count($argv);'
    assert play(computer, "php", code, number=9).text == f"cell 9 {computer.cwd} 1"
    assert (
        play(computer, "php", 'file_put_contents("kept", "in"); echo file_get_contents("kept");').text == "in"
    )


def _folders() -> set[str]:
    return {name for name in os.listdir(tempfile.gettempdir()) if name.startswith("oi-tui-build-")}


@pytest.fixture
def own_temporary(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """A folder of temporary files for this test alone."""
    monkeypatch.setenv("TMPDIR", str(tmp_path_factory.mktemp("temporary")))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield
    tempfile.tempdir = None


@pytest.mark.slow
@pytest.mark.needs("gcc")
@pytest.mark.usefixtures("own_temporary")
def test_a_cell_is_built_although_the_temporary_folder_was_removed(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The application keeps its own files in the folder above.
    place = Path(tempfile.gettempdir()) / "programs"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    computer = make()
    assert play(computer, "c", "return 0;").state == "finished"
    (folder,) = place.glob("oi-tui-build-*")
    shutil.rmtree(place)
    assert play(computer, "c", '#include <stdio.h>\nputs("built");').text == "built\n"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "lock").exists()
    # Something else took the name meanwhile.
    folder.symlink_to(folder.rename(folder.with_name("aside")))
    played = play(computer, "c", '#include <stdio.h>\nputs("built");')
    assert (played.text, played.state) == ("", "failed")
    assert played.reason == f"{folder} was replaced by another program: use %restart"


@pytest.mark.needs("gcc")
def test_options_that_cannot_be_read_fail_the_cell_and_name_their_variable(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CFLAGS", '-DNAME="open')
    computer = make()
    for _ in range(2):
        played = play(computer, "c", "return 0;")
        assert (played.state, played.text) == ("failed", "")
        assert played.reason == "the variable CFLAGS cannot be read: No closing quotation"


@pytest.mark.needs("gcc")
@pytest.mark.usefixtures("own_temporary")
def test_no_build_folder_is_left(make: Make) -> None:
    first, second = make(), make()
    for computer in (first, second):
        assert play(computer, "c", "return 0;").state == "finished"
    assert len(_folders()) == 2
    first.close()
    until(lambda: len(_folders()) == 1)
    pid = living(second)["c"]
    os.kill(pid, 9)
    until(lambda: not alive(pid))
    # Nobody could remove it; the next one does.
    assert play(second, "c", "return 0;").state == "finished"
    assert len(_folders()) == 1
