"""What Ruby promises beyond the contract."""

# ruff: noqa: E501 - code of other languages, as it is

from collections.abc import Iterator

import pytest

from oi_tui.runtimes import Computer
from tests.runtimes.playing import check_cells, play

pytestmark = pytest.mark.needs("ruby")


@pytest.fixture(scope="module")
def ruby(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """A computer whose Ruby runs, which the tests share."""
    computer = Computer(cwd=tmp_path_factory.mktemp("ruby"))
    assert play(computer, "ruby", "").state == "finished"
    yield computer
    computer.close()


#: One after the other, since some of them spoil what later ones rely on.
CELLS = [
    ("puts DATA.read\n__END__\none\n", "one\n"),
    ("puts DATA.read\n__END__\ntwo\n", "two\n"),
    ("puts 1\n__END__\nno code at all (", "1\n"),
    ("STDOUT.reopen('/dev/tty', 'w')\nif fork then Process.wait else puts 'child' end; nil", "child\n"),
    ("class Bad; def inspect; raise 'no'; end; end; Bad.new", "=> (a Bad, whose inspect fails: RuntimeError)\n"),
    ("BasicObject.new", "=> (a BasicObject, whose inspect fails: NoMethodError)\n"),
    ("$/ = 'x'; 1", "=> 1\n"),
    ("$/ = \"\\n\"; 2", "=> 2\n"),
    ("JSON = 5; 3".replace("JSON = 5", "Object.send(:remove_const, :JSON)"), "=> 3\n"),
    ("size = 4; größe = size; größe", "=> 4\n"),
    ("def twice(x) = x * 2; twice(3)", "=> 6\n"),
    ("undef puts; 5", "=> 5\n"),
    ("6", "=> 6\n"),
]  # fmt: skip


def test_cells_print_what_they_should(computer: Computer) -> None:
    check_cells(computer, "ruby", CELLS)


def test_the_causes_of_an_error_are_told_with_the_places_of_the_program(ruby: Computer) -> None:
    code = "def inner = raise('first')\nbegin\n  inner\nrescue => error\n  raise TypeError, 'second'\nend"
    played = play(ruby, "ruby", code)
    assert played.reason == "TypeError: second"
    assert "first (RuntimeError)" in played.text
    assert "`inner'" in played.text or "#inner'" in played.text
    assert "driver" not in played.text


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise Class.new(StandardError) { def message; raise 'no'; end }", ""),
        ("raise Class.new(StandardError) { def message; nil; end }", ""),
        ("$stderr.close; raise 'unseen'", "RuntimeError: unseen"),
        ("1\n2\nfoo((", "SyntaxError: (cell "),
        ("break", "SyntaxError: (cell "),
        ("def over; over; end; over", "SystemStackError: stack level too deep"),
        ("throw :nobody", "UncaughtThrowError: uncaught throw :nobody"),
    ],
)
def test_errors_say_what_happened_and_leave_the_memory(ruby: Computer, code: str, reason: str) -> None:
    play(ruby, "ruby", "memory = 41; nil")
    played = play(ruby, "ruby", code)
    assert (played.state, played.reason[: len(reason)]) == ("failed", reason)
    assert "driver" not in played.text
    assert play(ruby, "ruby", "memory + 1").text == "=> 42\n"


@pytest.mark.parametrize(
    "code",
    [
        "$stdout.close",
        "STDOUT.close; STDERR.close",
        "$stdin.close",
        "trap('INT', 'IGNORE'); trap('USR2', 'IGNORE')",
        "trap('INT') { 'mine' }",
    ],
)
def test_a_run_begins_with_a_terminal_and_can_be_stopped_whatever_the_last_one_did(
    ruby: Computer, code: str
) -> None:
    assert play(ruby, "ruby", code).state == "finished"
    code = "$stdout.print 'name? '; $stdout.puts gets; STDERR.puts 'go'; loop {}"
    played = play(ruby, "ruby", code, answers=("Ada\n",), stop_at="go")
    assert (played.state, played.steps) == ("interrupted", ["interrupt"])
    assert "name? Ada\nAda\ngo\n" in played.text


def test_what_was_typed_too_much_on_a_line_answers_no_later_question(ruby: Computer) -> None:
    assert play(ruby, "ruby", "$stdin.getc", answers=("zzz\n",)).text.endswith('=> "z"\n')
    assert play(ruby, "ruby", "$stdin.getc", answers=("y\n",)).text.endswith('=> "y"\n')


@pytest.mark.parametrize(
    "code", ["(0..99).each { |n| IO.for_fd(n).close rescue nil }", "ObjectSpace.each_object(IO) { |io| io.close rescue nil }"]
)  # fmt: skip
def test_a_cell_that_closes_all_that_is_open_leaves_the_memory(ruby: Computer, code: str) -> None:
    played = play(ruby, "ruby", f"memory = 41\n{code}; nil")
    assert (played.text, played.state) == ("", "finished")
    assert play(ruby, "ruby", "warn 'on'; memory + 1").text == "on\n=> 42\n"
