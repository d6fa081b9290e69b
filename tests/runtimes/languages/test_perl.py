"""What Perl promises beyond the contract."""

# ruff: noqa: E501 - code of other languages, as it is

import os
import time
from collections.abc import Iterator

import pytest

from oi_tui.runtimes import Computer
from tests.runtimes.playing import check_cells, play

pytestmark = pytest.mark.needs("perl")


@pytest.fixture(scope="module")
def perl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """A computer whose Perl runs, which the tests share."""
    computer = Computer(cwd=tmp_path_factory.mktemp("perl"))
    assert play(computer, "perl", "").state == "finished"
    yield computer
    computer.close()


#: One after the other: what a cell declares, later ones have.
CELLS = [
    ("while (<DATA>) { print \"d: $_\" }\n__DATA__\none\ntwo\n", "d: one\nd: two\n"),
    ("print \"before\\n\";\n0;\n__END__\nno code at all (", "before\n"),
    ("my $one = 1; my $two = 2;\nprint '';", ""),
    ("print $one + $two, \"\\n\";", "3\n"),
    ("print <<'EOT';\nmy $x; my $y\nEOT\nmy $after = 5;", "my $x; my $y\n"),
    ("print \"$after <<A\\n\";\nmy $later = 6;", "5 <<A\n"),
    ("=pod\n\nmy $x\n\n=cut\nprint \"$later\\n\";", "6\n"),
    ("package Foo; our $z = 3;", ""),
    ("print __PACKAGE__, \"\\n\";", "main\n"),
    ("use strict; my $strict = 1;", ""),
    ("$loose = 5; print \"$loose\\n\";", "5\n"),
    ("$/ = undef; $, = '-'; $\\ = \"!\\n\"; $| = 0; print 1, 2;", "1-2!\n"),
    ("print $/ // 'all';", "all!\n"),
    ("$| = 0; if (fork) { wait } else { print 'child' }", "child!\n"),
    ("($/, $,, $\\) = (\"\\n\"); print 'as before';", "as before"),
    ("unless (fork) { exit 3 } wait; print $? >> 8;", "3"),
    ("unless (fork) { open(STDERR, '>', '/dev/null'); die 'oops' } wait; print $? >> 8;", "255"),
    ("format STDOUT =\n@<<<< @>>>>\n$a, $b\n.\n$a = 'ab'; $b = 'cd'; write;", "ab       cd\n"),
]  # fmt: skip


def test_cells_print_what_they_should(computer: Computer) -> None:
    check_cells(computer, "perl", CELLS)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("last;", "Can't leave or repeat a loop outside of one at cell "),
        ("next;", "Can't leave or repeat a loop outside of one at cell "),
        ("redo;", "Can't leave or repeat a loop outside of one at cell "),
        ("package E; use overload q(\"\") => sub { 'as text' };\npackage main; die bless {}, 'E';", "as text"),
        ("package F; use overload q(\"\") => sub { die 'mute' };\npackage main; die bless {}, 'F';", "Died with an object of the class F"),
        ("\n\ndie 'here';", "here at cell "),
    ],
)  # fmt: skip
def test_errors_say_what_happened_and_leave_the_memory(perl: Computer, code: str, reason: str) -> None:
    play(perl, "perl", "my $memory = 41;")
    played = play(perl, "perl", code)
    assert (played.state, played.reason[: len(reason)]) == ("failed", reason)
    assert "driver" not in played.text
    assert play(perl, "perl", "print $memory + 1;").text == "42"


@pytest.mark.parametrize(
    "code",
    [
        "close STDOUT;",
        "close STDERR;",
        "close STDIN; close STDOUT; close STDERR;",
        "use POSIX (); POSIX::close(1);",
        "$SIG{INT} = 'IGNORE'; $SIG{USR2} = 'IGNORE';",
    ],
)
def test_a_run_begins_with_a_terminal_and_can_be_stopped_whatever_the_last_one_did(
    perl: Computer, code: str
) -> None:
    assert play(perl, "perl", code).state == "finished"
    played = play(perl, "perl", "print STDERR \"go\\n\"; print 'on'; 1 while 1;", stop_at="on")
    assert (played.state, played.steps) == ("interrupted", ["interrupt"])
    assert played.text.startswith("go\non")


@pytest.mark.parametrize(
    ("code", "stop_at"),
    [
        ("alarm 1; print \"go\\n\";", None),
        ("eval { local $SIG{ALRM} = sub { die }; alarm 1; print \"go\\n\"; sleep 60 };", "go\r\n"),
    ],
)  # fmt: skip
def test_an_alarm_ends_with_its_run(perl: Computer, code: str, stop_at: str | None) -> None:
    play(perl, "perl", "my $memory = 41;")
    play(perl, "perl", code, stop_at=stop_at)
    began = time.monotonic()
    # An alarm that was left would come while this waits.
    played = play(perl, "perl", "select undef, undef, undef, 1.3; print $memory + 1;")
    assert (played.text, played.state) == ("42", "finished")
    assert time.monotonic() - began > 1.2


def test_a_signal_that_a_program_hears_for_good_is_still_heard(perl: Computer) -> None:
    play(perl, "perl", '$SIG{HUP} = sub { print "heard\\n" };')
    code = "system 'sh', '-c', \"trap '' INT TERM; echo go; sleep 60; sleep 60\";"
    assert play(perl, "perl", code, stop_at="go\r\n", insists=True).state == "interrupted"
    pid = int(play(perl, "perl", "print $$").text)
    assert os.getsid(pid) == pid
    assert play(perl, "perl", "kill 'HUP', $$; select undef, undef, undef, 0.05;").text == "heard\n"


def test_a_cell_that_closes_all_that_is_open_leaves_the_memory(perl: Computer) -> None:
    played = play(perl, "perl", "my $memory = 41; use POSIX (); POSIX::close($_) for 0..99;")
    assert (played.text, played.state) == ("", "finished")
    assert play(perl, "perl", "print STDERR 'on'; print $memory + 1;").text == "on42"


@pytest.mark.parametrize(
    ("redirect", "place", "way_back"),
    [
        ("open my $file, '>', 'written'; select $file", "{}/written", "select(STDOUT)"),
        ("open STDOUT, '>', 'written'", "{}/written", "open(STDOUT, '>', '/dev/tty')"),
        ("open STDOUT, '>', '/dev/null'", "/dev/null", "open(STDOUT, '>', '/dev/tty')"),
        ("open my $text, '>', \\$written; select $text", "memory", "select(STDOUT)"),
    ],
)
def test_where_the_output_goes_is_reported_until_it_is_back(
    computer: Computer, redirect: str, place: str, way_back: str
) -> None:
    place = place.format(computer.cwd)
    reported = f"(Perl's output goes to {place} since cell 1; {way_back} brings it back.)\n"
    assert play(computer, "perl", redirect).text == reported
    assert play(computer, "perl", "print 'unseen'").text == reported
    assert play(computer, "perl", f"{way_back}; print 'seen'").text == "seen"


@pytest.mark.parametrize(
    "code", ["open STDOUT, '|cat'", "select STDERR", "close STDOUT", "open STDOUT, '>&', \\*STDERR"]
)
def test_what_is_seen_elsewhere_is_no_news(computer: Computer, code: str) -> None:
    played = play(computer, "perl", code)
    assert (played.state, played.text) == ("finished", "")


def test_a_process_number_that_a_cell_writes_makes_no_child_of_the_language(computer: Computer) -> None:
    play(computer, "perl", "our $kept = 7; $$ = 5")
    assert play(computer, "perl", "print $kept").text == "7"


def test_a_cell_is_the_main_program(computer: Computer) -> None:
    code = (
        'use Carp;\nsub main { print "ran\\n" }\nmain() unless caller;\nmain() if __FILE__ eq $0;\n'
        "sub who { return join ' ', (caller(0))[3, 2], defined caller(1) ? 'more' : 'all' }\nprint who(), \"\\n\";\n"
        "sub deep { Carp::cluck('seen') }\ndeep(1, 'x');"
    )
    played = play(computer, "perl", code)
    assert played.text == (
        'ran\nran\nmain::who 6 all\nseen at cell 1 line 7.\n\tmain::deep(1, "x") called at cell 1 line 8\n'
    )


def test_names_of_the_driver_are_free_for_cells(computer: Computer) -> None:
    names = ("folder", "requests", "events", "terminal", "nonce", "cell")
    assert play(computer, "perl", "".join(f"my ${name} = 7;\n" for name in names)).state == "finished"
    assert play(computer, "perl", "print " + " + ".join(f"${name}" for name in names)).text == "42"


def test_warnings_that_perl_gives_by_itself_are_shown(perl: Computer) -> None:
    played = play(perl, "perl", 'print "\\x{20ac}\\n"; print my $none + 1, "\\n"', number=7)
    assert played.text == "Wide character in print at cell 7 line 1.\n€\n1\n"
