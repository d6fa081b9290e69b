"""What Java promises beyond the contract."""

# ruff: noqa: E501 - code of other languages, as it is

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from oi_tui import paths
from oi_tui.runtimes import Computer
from oi_tui.runtimes.variables import Detail
from tests.runtimes.playing import living, play, until

pytestmark = pytest.mark.needs("jshell")


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory, java_home: Path) -> Iterator[Computer]:
    """A computer whose Java runs, which the tests share."""
    computer = Computer(cwd=tmp_path_factory.mktemp("java"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OI_TUI_HOME", str(java_home))
        assert play(computer, "java", "").state == "finished"
    yield computer
    computer.close()


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("6*7", "42\n"),
        ("int x = 5;", ""),
        ("int y = 5;\ny", "5\n"),
        ('"a" + 1', '"a1"\n'),
        ("new int[] {1, 2}", "int[2] { 1, 2 }\n"),
        ("record P(int x, int y) {}\nnew P(1, 2)", "P[x=1, y=2]\n"),
        ("List.of(3, 1).stream().sorted().collect(Collectors.toList())", "[1, 3]\n"),
        ("int twice(int a) {\n  return a * 2;\n}\ntwice(4)", "8\n"),
        ("if (1 > 2) {\n  System.out.println(1);\n}\nelse {\n  System.out.println(2);\n}", "2\n"),
        ("package a.b;\n\npublic class Main {\n  public static void main(String[] args) {\n    System.out.println(args.length);\n  }\n}", "0\n"),
        ("class A { int f() { return new B().g(); } }\nclass B { int g() { return 9; } }\nnew A().f()", "9\n"),
        ("System.exit(0); System.out.println(1);", ""),
        ("import java.time.LocalDate;\nLocalDate.of(2024, 2, 29).plusYears(1)", "2025-02-28\n"),
        ("/* only */ // words", ""),
        ('System.out.printf("%d%n", 5)', "5\n"),
        ("2 > 1; 3", "3\n"),
        ("1 + 1;", "2\n"),
    ],
)  # fmt: skip
def test_cells_print_what_they_should(java: Computer, code: str, text: str) -> None:
    played = play(java, "java", code)
    assert (played.text, played.state) == (text, "finished")


@pytest.mark.parametrize(
    ("code", "reason", "text"),
    [
        ("int a = 1;\nint b = nothing;", "cell ", ", line 2: cannot find symbol"),
        ('System.out.println("ran");\nint = ;', "cell ", ", line 2: "),
        ("void f() {", "cell ", "reached end of file"),
        ('void deep() {\n  throw new RuntimeException("oops");\n}\ndeep();', "Exception java.lang.RuntimeException: oops", "at deep (cell "),
        ("String none = null;\nnone.length()", "Exception java.lang.NullPointerException", "line 2"),
        ("int over(int n) { return over(n + 1); }\nover(1)", "Exception java.lang.StackOverflowError", ""),
        ("Runnable r = () -> System.exit(4);\nr.run();", "exit status 4", ""),
        ("int g() { return missing(); }\ng()", "Declared, but it needs what is not", "missing: method missing()"),
    ],
)  # fmt: skip
def test_errors_say_what_happened_and_where(java: Computer, code: str, reason: str, text: str) -> None:
    played = play(java, "java", code)
    assert played.state == "failed"
    assert played.reason.startswith(reason)
    assert text in played.text
    assert "JShell$" not in played.text
    assert "ran\n" not in played.text


def test_an_error_of_a_thread_is_shown_and_fails_no_cell(java: Computer) -> None:
    played = play(java, "java", "Thread t = new Thread(() -> { List.of().get(1); });\nt.start();\nt.join();")
    assert played.state == "finished"
    assert played.text.startswith('Exception in thread "Thread-')
    assert "IndexOutOfBoundsException" in played.text
    assert "at java.base/java.util" in played.text
    assert "JShell$" not in played.text


def test_an_interrupt_reaches_what_swallows_its_exception(java: Computer) -> None:
    play(java, "java", "int kept = 7;")
    code = 'System.out.println("go");\nwhile (true) { try { Thread.sleep(1000); } catch (InterruptedException e) {} }'
    played = play(java, "java", code, stop_at="go\r\n")
    assert (played.state, played.steps) == ("interrupted", ["interrupt"])
    assert play(java, "java", "kept").text == "7\n"


def test_an_interrupt_of_an_earlier_run_stops_no_later_one(java: Computer) -> None:
    # A child that an interrupt ends may let its run end before the machine has handled the signal itself.
    code = 'System.out.println("go");\nnew ProcessBuilder("sleep", "60").inheritIO().start().waitFor();'
    for _ in range(10):
        played = play(java, "java", code, stop_at="go\r\n")
        assert (played.state, played.steps) == ("interrupted", ["interrupt"])
        played = play(java, "java", "6*7")
        assert (played.text, played.state) == ("42\n", "finished")


def test_a_signal_alone_stops_no_run(java: Computer) -> None:
    pid = living(java)["java"]
    for _ in range(40):
        os.kill(pid, signal.SIGINT)
        played = play(java, "java", "6*7")
        assert (played.text, played.state) == ("42\n", "finished")


def test_variables_are_reported_with_types_and_shapes(computer: Computer) -> None:
    play(
        computer,
        "java",
        'int n = 5; String text = "abc"; String none = null; int[] numbers = {1, 2}; var list = List.of(1, 2);\n'
        "var pairs = new HashMap<String, Integer>(); String f(int a) { return null; }\nrecord P(int x) {}\nvar p = new P(1);\n1 + 1",
    )
    found = {
        variable.name: (variable.type, variable.summary)
        for variable in computer.inspector.read_variables("java")
    }
    assert found == {
        "P": ("record", "record P"),
        "f": ("method", "method f"),
        "n": ("int", "5"),
        "text": ("String", '"abc"'),
        "none": ("String", "null"),
        "numbers": ("int[]", "int[] of 2"),
        "list": ("List<Integer>", "List of 2"),
        "pairs": ("HashMap<String,Integer>", "HashMap of 0"),
        "p": ("P", "P"),
    }
    play(computer, "java", 'double n = 0.5; pairs.put("a", 1);')
    assert ("double", "0.5") in {
        (item.type, item.summary) for item in computer.inspector.read_variables("java")
    }
    assert computer.inspector.inspect("java", "pairs") == Detail("HashMap of 1", '"a": 1')
    assert computer.inspector.inspect("java", "numbers") == Detail("int[] of 2", "0: 1\n1: 2")
    assert computer.inspector.inspect("java", "p") == Detail("P", "x: 1")
    assert computer.inspector.inspect("java", "f") == Detail("method f", "String f(int a) { return null; }")
    assert computer.inspector.inspect("java", "nothing") is None


def test_telling_variables_runs_no_code_of_the_program(computer: Computer) -> None:
    code = (
        "int calls = 0;\nclass Nosy extends ArrayList<String> { public String toString() { calls++; return String.valueOf(1); } "
        "public int size() { calls++; return 1; } }\nvar nosy = new Nosy();"
    )
    assert play(computer, "java", code).state == "finished"
    before = play(computer, "java", "calls").text
    assert "nosy" in {variable.name for variable in computer.inspector.read_variables("java")}
    assert computer.inspector.inspect("java", "nosy") is not None
    assert play(computer, "java", "calls").text == before


@pytest.fixture
def fresh_cache() -> Path:
    """A cache of Java in which nothing has been made."""
    folder = paths.state() / "java"
    folder.unlink()
    return folder


def files_of(folder: Path) -> dict[str, int]:
    """Each file that is there for good, and when it was written."""
    return {file.name: file.stat().st_mtime_ns for file in folder.glob("*/*") if file.is_file()}


def test_what_lets_java_start_quickly_is_made_once_and_is_private(
    make: Callable[..., Computer], fresh_cache: Path
) -> None:
    first = make()
    assert play(first, "java", "6*7").text == "42\n"
    until(lambda: "sums" in files_of(fresh_cache) and not list(fresh_cache.glob("making-*")), 90)
    first.close()
    made = files_of(fresh_cache)
    assert sorted(made) == ["classes.jsa", "driver.jar", "sums"]
    assert {path.stat().st_mode & 0o077 for path in [fresh_cache, *fresh_cache.rglob("*")]} == {0}
    assert play(make(), "java", "6*7").text == "42\n"
    assert files_of(fresh_cache) == made


@pytest.mark.parametrize("damaged", ["classes.jsa", "sums"])
def test_a_damaged_cache_is_thrown_away(
    make: Callable[..., Computer], fresh_cache: Path, java_home: Path, damaged: str
) -> None:
    shutil.copytree(java_home / "state" / "java", fresh_cache)
    file = next(fresh_cache.glob(f"*/{damaged}"))
    whole = file.read_bytes()
    broken = whole[: len(whole) // 2] + b"damage" + whole[len(whole) // 2 + 6 :]
    file.write_bytes(broken)
    assert play(make(), "java", "6*7").text == "42\n"
    assert not file.exists() or file.read_bytes() != broken


def test_java_runs_where_nothing_can_be_kept(make: Callable[..., Computer], fresh_cache: Path) -> None:
    fresh_cache.parent.chmod(0o500)
    if os.getuid() == 0:
        # Nothing is forbidden to root; a file in the way is.
        fresh_cache.write_text("")
    played = play(make(), "java", "6*7")
    fresh_cache.parent.chmod(0o700)
    assert (played.text, played.state) == ("42\n", "finished")
