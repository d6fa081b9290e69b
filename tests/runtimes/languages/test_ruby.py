"""What Ruby promises beyond the contract."""

# ruff: noqa: E501 - code of other languages, as it is

import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

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
    ("exit 3 unless fork; Process.wait; $?.exitstatus", "=> 3\n"),
    ("class Bad; def inspect; raise 'no'; end; end; Bad.new", "=> (a Bad, whose inspect fails: RuntimeError)\n"),
    ("BasicObject.new", "=> (a BasicObject, whose inspect fails: NoMethodError)\n"),
    ("$/ = 'x'; 1", "=> 1\n"),
    ("$/ = \"\\n\"; 2", "=> 2\n"),
    ("JSON = 5; 3".replace("JSON = 5", "Object.send(:remove_const, :JSON)"), "=> 3\n"),
    ("size = 4; größe = size; größe", "=> 4\n"),
    ("def twice(x) = x * 2; twice(3)", "=> 6\n"),
    ("puts 7 if __FILE__ == $0", "7\n"),
    ("puts 8\nreturn\nputs 9", "8\n"),
    ("p 10", "10\n"),
    ("pp([1, nil])", "[1, nil]\n"),
    ("$stdout << \"eleven\\n\"", "eleven\n"),
    ("def p(x) = x + 1; p(11)", "=> 12\n"),
    ("Object.send(:remove_method, :p); p 12", "12\n"),
    ("undef puts; 5", "=> 5\n"),
    ("6", "=> 6\n"),
]  # fmt: skip


def test_cells_print_what_they_should(computer: Computer) -> None:
    check_cells(computer, "ruby", CELLS)


def test_the_causes_of_an_error_are_reported_with_the_places_of_the_program(ruby: Computer) -> None:
    code = "def inner = raise('first')\nbegin\n  inner\nrescue => error\n  raise TypeError, 'second'\nend"
    played = play(ruby, "ruby", code)
    assert played.reason == "TypeError: second"
    assert "first (RuntimeError)" in played.text
    assert "`inner'" in played.text or "#inner'" in played.text
    assert "driver" not in played.text


@pytest.mark.parametrize(
    "show",
    ["puts error.backtrace", "puts error.full_message(highlight: false)", "puts error.cause.backtrace"],
)
def test_a_backtrace_that_a_program_shows_has_only_its_own_calls(ruby: Computer, show: str) -> None:
    code = "def fail = raise('inner')\nbegin\n  begin; fail; rescue; raise 'outer'; end\nrescue => error\n"
    text = play(ruby, "ruby", f"{code}  {show}\nend\nnil").text
    assert "<main>'" in text
    assert "driver" not in text


def test_a_program_that_replaces_what_lists_do_gets_its_errors(computer: Computer) -> None:
    code = "class Array; def reject(*) = raise('replaced'); end\nraise 'mine'"
    assert play(computer, "ruby", code).reason == "RuntimeError: mine"


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


#: What a cell may do to Ruby itself. Each is followed by a cell that needs what the driver calls.
DAMAGE = [
    "class Array; undef each; undef map; undef last; end",
    "class Array; def first(*) = raise('no'); def select(*) = raise('no'); end",
    "class String; undef split; undef chomp; undef lines; end",
    "class String; def to_s = raise('no'); def include?(*) = raise('no'); end",
    "class String; def +(*) = 'x'; end",
    "class Hash; undef merge; undef []; end",
    "class NilClass; def nil? = false; end",
    "class IO; undef puts; undef gets; undef syswrite; undef stat; undef flush; end",
    "class File; def self.open(*) = raise('no'); def self.read(*) = raise('no'); end",
    "module Signal; def self.trap(*) = raise('no'); end",
    "module Process; def self.pid = 5; end",
    "class Binding; def eval(*) = 5; end",
    "class Exception; undef message; undef full_message; end; raise 'x'",
    "def require(*) = raise('no'); def loop = raise('no'); def sleep(*) = raise('no')",
    "$LOAD_PATH.clear; nil",
    *(f"Object.send(:remove_const, :{name}); nil" for name in ("File", "Process", "Signal", "Ripper", "IOError")),
    *(f"Object.send(:remove_const, :{name}); nil" for name in ("TOPLEVEL_BINDING", "STDOUT", "STDERR", "STDIN")),
    "Encoding.default_external = 'UTF-16LE'; nil",
    "Kernel.freeze; String.freeze; Array.freeze; nil",
]  # fmt: skip


def test_a_cell_that_spoils_ruby_itself_loses_nothing(computer: Computer) -> None:
    play(computer, "ruby", "memory = 42; nil")
    for code in DAMAGE:
        damage, after = play(computer, "ruby", code), play(computer, "ruby", "memory")
        assert damage.state in ("finished", "failed"), code
        assert "driver" not in damage.text + after.text, code
        # The last line, since what had to be put back is said before it.
        assert after.text.splitlines()[-1] == "=> 42", code


def test_what_had_to_be_put_back_is_reported(ruby: Computer) -> None:
    reported = "(No cell can run without these, so they are Ruby's own again: String#chomp)\n=> 1\n"
    assert play(ruby, "ruby", "class String; undef chomp; undef center; end").text == ""
    assert play(ruby, "ruby", "1").text == reported
    assert "undefined method" in play(ruby, "ruby", "'x'.center(3)").text


@pytest.mark.parametrize(
    ("redirect", "place", "way_back"),
    [
        ("$stdout = File.open('written', 'w'); nil", "{}/written", "$stdout = STDOUT"),
        ("STDOUT.reopen('written', 'w'); nil", "{}/written", "STDOUT.reopen('/dev/tty', 'w')"),
        ("require 'stringio'; $stdout = StringIO.new; nil", "memory", "$stdout = STDOUT"),
        ("$stdout = File.open(File::NULL, 'w'); nil", "/dev/null", "$stdout = STDOUT"),
    ],
)
def test_where_the_output_goes_is_reported_until_it_is_back(
    computer: Computer, redirect: str, place: str, way_back: str
) -> None:
    place = place.format(computer.cwd)
    reported = f"(Ruby's output goes to {place} since cell 1; {way_back} brings it back.)\n"
    assert play(computer, "ruby", redirect).text == reported
    assert play(computer, "ruby", "puts 'unseen'").text == reported
    assert play(computer, "ruby", f"{way_back}; puts 'seen'").text.startswith("seen\n")
    assert play(computer, "ruby", "puts 'seen'").text == "seen\n"


def test_a_trace_of_a_program_has_only_its_own_calls(computer: Computer) -> None:
    code = """
counts = Hash.new(0)
TracePoint.new(:call, :c_call) { |point| counts[point.method_id] += 1 }.enable { sleep 0.5; 3.times { |n| n.to_s } }
puts counts.to_a.inspect
names = []
set_trace_func(proc { |event, _, _, name| names << name if event == 'call' })
def once; end
sleep 0.5
once
set_trace_func(nil)
puts names.inspect
"""
    played = play(computer, "ruby", code)
    assert played.text == "[[:sleep, 1], [:times, 1], [:to_s, 3]]\n[:once]\n"
    assert 3 in played.lines


#: What Ruby tells a program about its calls and threads. The first line of a script has the number 1, as that of a cell.
ABOUT_ITSELF = [
    "p caller, caller(0), caller(2), caller(1..-1), caller(0, 1), Kernel.caller_locations",
    "def f = [caller, caller(2), caller(3), caller(0..-2), caller_locations(1, 1)]\np f",
    "begin; Integer('x'); rescue => e; p e.backtrace_locations; end",
    "p Thread.current.backtrace_locations(1, 1), Thread.current.backtrace(1)",
    "[1].each { p caller(0) }; p eval('caller.size')",
    "p Thread.list.size, ThreadGroup::Default.list.size, $.",
    "begin; Queue.new.pop; rescue Exception => e; p e.class, e.message.lines.first(1), e.message.scan('Thread').size; end",
    "begin; t = Thread.new { Thread.stop }; t.join; rescue Exception => e; p e.message[/.*\\n.*sleeps/]; t.kill.join; end",
    "begin; Thread.stop; rescue => e; p e; end",
    "begin; nil.foo(1); rescue => e; puts e.message; end",
    "q = Queue.new; Thread.new { sleep 0.1; q << 5 }; p q.pop",
]


def test_ruby_tells_a_program_about_itself_what_it_tells_a_script(ruby: Computer, tmp_path: Path) -> None:
    script = tmp_path / "script.rb"
    for code in ABOUT_ITSELF:
        script.write_text(code)
        bare = subprocess.run(["ruby", str(script)], capture_output=True, text=True, check=True).stdout
        played = play(ruby, "ruby", f"{code}\nnil", number=1)
        assert (played.text, played.state) == (bare.replace(str(script), "(cell 1)"), "finished"), code


def test_a_deadlock_is_an_error(ruby: Computer) -> None:
    played = play(ruby, "ruby", "memory = 41\nQueue.new.pop")
    assert (played.state, played.reason) == ("failed", "fatal: No live threads left. Deadlock?")
    assert "1 threads, 1 sleeps" in played.text
    assert "Watch" not in played.text
    assert play(ruby, "ruby", "memory + 1").text == "=> 42\n"


def test_ruby_starts_beside_a_thread_of_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tracer.rb").write_text("Thread.new { loop { sleep 0.1 } }")
    monkeypatch.setenv("RUBYOPT", f"-r{tmp_path / 'tracer'}")
    with closing(Computer(cwd=tmp_path)) as computer:
        assert play(computer, "ruby", "Thread.list.size").text == "=> 2\n"
