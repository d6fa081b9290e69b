"""What every language promises; a language supplies nothing but samples."""

import os
import random
import signal
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from oi_tui.messages import InputRequested, LineReached, Printed, Report, RunEnded, Started, Starting
from oi_tui.runtimes import Computer
from oi_tui.runtimes.runs import stopping
from tests.runtimes.playing import Played, alive, holds_once, living, marked, play, until
from tests.runtimes.samples import ALL, Sample

#: The scope puts the tests of one language together, so that a worker starts few of them.
pytestmark = pytest.mark.parametrize("sample", ALL, ids=lambda sample: sample.name, scope="module")
Make = Callable[..., Computer]
#: What is bounded at all ends within this, in seconds, also on a machine that has much else to do.
BOUND = 30.0


def test_output_is_printed(shared: Computer, sample: Sample) -> None:
    played = play(shared, sample.language, sample.hello)
    assert played.text == "hello\n"
    assert played.state == "finished"
    assert played.reason == ""
    assert played.end.seconds >= 0


def test_errors_are_printed_too(shared: Computer, sample: Sample) -> None:
    assert play(shared, sample.language, sample.stderr).text == "trouble\n"


def test_every_script_of_the_world_is_printed(shared: Computer, sample: Sample) -> None:
    assert play(shared, sample.language, sample.unicode).text == "grüße €\n"


def test_bytes_that_are_no_text_are_replaced(shared: Computer, sample: Sample) -> None:
    assert play(shared, sample.language, sample.bytes).text == "a\ufffdb\n"


def test_memory_lasts_from_run_to_run(shared: Computer, sample: Sample) -> None:
    assert play(shared, sample.language, sample.remember).text == ""
    assert play(shared, sample.language, sample.recall).text == "42\n"


def test_an_expression_is_shown_where_the_language_does_so(shared: Computer, sample: Sample) -> None:
    code, shown = sample.product or (sample.hello, "hello")
    assert shown in play(shared, sample.language, code).text


def test_an_error_fails_the_run_and_no_other(shared: Computer, sample: Sample) -> None:
    play(shared, sample.language, sample.remember)
    played = play(shared, sample.language, sample.error)
    assert played.state == "failed"
    assert played.text.startswith("before\n")
    assert "oops" in played.text
    assert played.reason
    assert "driver" not in played.text
    assert play(shared, sample.language, sample.recall).text == "42\n"


def test_what_cannot_be_parsed_fails_and_runs_nothing(shared: Computer, sample: Sample) -> None:
    played = play(shared, sample.language, sample.syntax_error)
    assert played.state == "failed"
    assert "ran\n" not in played.text
    assert play(shared, sample.language, sample.hello).text == "hello\n"


def test_code_that_does_nothing_finishes(shared: Computer, sample: Sample) -> None:
    for code in ("", "\n\n", sample.comment):
        played = play(shared, sample.language, code)
        assert (played.text, played.state) == ("", "finished")


def test_large_code_runs(shared: Computer, sample: Sample) -> None:
    code = "\n".join([sample.comment] * 20_000 + [sample.hello])
    assert play(shared, sample.language, code).text == "hello\n"


def test_half_a_line_is_seen_before_its_end(shared: Computer, sample: Sample) -> None:
    def is_seen() -> bool:
        played = play(shared, sample.language, sample.half)
        assert played.text == "half line\n"
        return played.seconds - played.when("half") > 0.2

    assert holds_once(is_seen)


def test_a_line_of_a_million_characters_arrives_whole(shared: Computer, sample: Sample) -> None:
    assert len(play(shared, sample.language, sample.long_line).text.strip()) == 1_000_000


def test_many_lines_arrive_in_order_and_in_few_reports(shared: Computer, sample: Sample) -> None:
    played = play(shared, sample.language, sample.many)
    assert played.text == "".join(f"line {n}\n" for n in range(30_000))
    printed = sum(isinstance(report, Printed) for _, report in played.reports)
    assert printed <= played.seconds * 60 + 20


def test_programs_have_a_terminal(shared: Computer, sample: Sample) -> None:
    assert play(shared, sample.language, sample.terminal).text == "yes\n"


def test_a_language_that_is_started_first_says_so(computer: Computer, sample: Sample) -> None:
    first, second = (play(computer, sample.language, sample.hello).reports for _ in range(2))
    starts = [report for _, report in first + second if isinstance(report, Starting | Started)]
    assert starts == [report for _, report in first[:2]] == [Starting(), Started()]


def test_the_terminal_has_the_size_of_the_screen(shared: Computer, sample: Sample) -> None:
    shared.resize(101, 30)
    assert play(shared, sample.language, sample.width).text == "101\n"
    shared.resize(63, 20)
    assert play(shared, sample.language, sample.width).text == "63\n"


def test_the_environment_is_passed_on_but_for_what_is_hidden(
    make: Make, sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "sk-1")
    monkeypatch.setenv("OPEN_VALUE", "seen")
    monkeypatch.setenv("TERM", "dumb")
    computer = make(hidden=["SECRET_KEY"])
    values = [
        play(computer, sample.language, sample.variable.format(name)).text
        for name in ("SECRET_KEY", "OPEN_VALUE", "TERM")
    ]
    # Nothing of this machine's environment goes to another one.
    seen = "None" if sample.remote else "seen"
    assert values == ["None\n", f"{seen}\n", "xterm-256color\n"]


def test_languages_start_in_the_working_directory(shared: Computer, sample: Sample) -> None:
    assert play(shared, sample.language, sample.folder).text == f"{shared.cwd}\n"


def test_a_question_is_reported_and_can_be_answered(shared: Computer, sample: Sample) -> None:
    played = play(shared, sample.language, sample.ask, answers=("Ada\n",))
    assert played.asked[0].prompt == "name? "
    assert not played.asked[0].masked
    assert "hello Ada" in played.text
    assert played.answered >= 1
    assert played.state == "finished"


def test_a_question_can_be_interrupted(shared: Computer, sample: Sample) -> None:
    def stop(report: Report, _: str) -> None:
        if isinstance(report, InputRequested):
            shared.interrupt()

    played = play(shared, sample.language, sample.ask, on=stop)
    assert played.state == "interrupted"
    assert play(shared, sample.language, sample.hello).text == "hello\n"


@pytest.mark.parametrize("what", ["sleep", "busy"])
def test_an_interrupt_stops_the_run_and_keeps_the_memory(shared: Computer, sample: Sample, what: str) -> None:
    play(shared, sample.language, sample.remember)
    played = play(shared, sample.language, getattr(sample, what), stop_at="go\r\n")
    assert played.state == "interrupted"
    assert played.steps == ["interrupt"]
    assert played.text.startswith("go\n")
    assert play(shared, sample.language, sample.recall).text == "42\n"


def test_what_refuses_is_stopped_in_bounded_time(computer: Computer, sample: Sample) -> None:
    played = play(computer, sample.language, sample.stubborn, stop_at="go\r\n", insists=True)
    assert played.steps[:2] == ["interrupt", "terminate"]
    assert played.state in ("interrupted", "lost")
    assert played.seconds - played.when("go") < BOUND
    assert play(computer, sample.language, sample.hello).text == "hello\n"


def test_interrupting_again_and_again_hurries(
    computer: Computer, sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stopping, "REPEATED", 0.0)
    # No step follows by itself.
    monkeypatch.setattr(stopping, "TIMEOUT", dict.fromkeys(stopping.TIMEOUT, 2 * BOUND))
    play(computer, sample.language, sample.hello)
    played = play(computer, sample.language, sample.stubborn, stop_at="go\r\n", stops=5)
    assert played.steps == ["interrupt", "terminate", "kill"]
    assert played.seconds - played.when("go") < BOUND
    assert play(computer, sample.language, sample.hello).text == "hello\n"


def test_an_interrupt_while_the_language_starts_is_not_lost(computer: Computer, sample: Sample) -> None:
    def stop() -> None:
        until(lambda: computer.targets.running)
        computer.interrupt()

    thread = threading.Thread(target=stop)
    thread.start()
    played = play(computer, sample.language, sample.sleep)
    thread.join()
    assert played.state == "interrupted"
    # On a slow machine it may have begun.
    assert not played.text.strip() or played.text.startswith("go\n")
    assert play(computer, sample.language, sample.hello).text == "hello\n"


def test_an_interrupt_when_nothing_runs_is_harmless(shared: Computer, sample: Sample) -> None:
    play(shared, sample.language, sample.remember)
    for _ in range(20):
        shared.interrupt()
    assert play(shared, sample.language, sample.recall).text == "42\n"


def test_interrupts_at_the_very_end_lose_nothing(shared: Computer, sample: Sample) -> None:
    play(shared, sample.language, sample.remember)
    for n in range(12):
        timer = threading.Timer(n * 0.0004, shared.interrupt)
        timer.start()
        state = play(shared, sample.language, sample.hello).state
        assert state in ("finished", "interrupted")
        timer.join()
    assert play(shared, sample.language, sample.recall).text.endswith("42\n")


def test_a_run_that_nobody_follows_any_more_is_interrupted(shared: Computer, sample: Sample) -> None:
    play(shared, sample.language, sample.remember)
    with closing(shared.run(sample.language, sample.sleep)) as reports:  # type: ignore[type-var]
        for report in reports:
            if isinstance(report, Printed):
                break
    assert play(shared, sample.language, sample.recall).text == "42\n"


def test_leaving_says_the_status(computer: Computer, sample: Sample) -> None:
    play(computer, sample.language, sample.remember)
    played = play(computer, sample.language, sample.leave)
    assert (played.state, played.reason) == ("failed", "exit status 3")
    assert play(computer, sample.language, sample.recall).text == "42\n"


def test_a_death_is_reported_at_once_and_the_next_run_works(computer: Computer, sample: Sample) -> None:
    play(computer, sample.language, sample.remember)
    played = play(computer, sample.language, sample.die)
    assert played.state == "lost"
    assert "SIGKILL" in played.reason
    assert played.seconds < BOUND
    assert play(computer, sample.language, sample.hello).text == "hello\n"
    assert ("42" in play(computer, sample.language, sample.recall).text) is sample.keeps_files


def test_code_cannot_fake_its_end(shared: Computer, sample: Sample) -> None:
    fakes = "".join(f"<{mark}>" for mark in ("]6973;0.end", "##end_of_execution##", "]6973;idle.1"))
    played = play(shared, sample.language, sample.echo.format(fakes) + "\n" + sample.hello)
    assert played.text == fakes + "hello\n"
    assert played.state == "finished"


def test_a_daemon_neither_delays_the_end_nor_outlives_the_computer(make: Make, sample: Sample) -> None:
    computer = make()
    seconds = str(1000 + random.random())
    played = play(computer, sample.language, sample.daemon.format(seconds))
    assert played.state == "finished"
    until(lambda: marked(seconds))
    computer.close()
    assert marked(seconds) == []


def test_what_a_child_prints_later_comes_with_the_next_run(shared: Computer, sample: Sample) -> None:
    first = play(shared, sample.language, sample.late)
    assert first.state == "finished"
    text = first.text

    def later() -> bool:
        nonlocal text
        text += play(shared, sample.language, sample.hello).text
        return "late\n" in text

    until(later)


def test_reset_forgets(computer: Computer, sample: Sample) -> None:
    play(computer, sample.language, sample.remember)
    computer.reset()
    assert ("42" in play(computer, sample.language, sample.recall).text) is sample.keeps_files
    assert play(computer, sample.language, sample.hello).text == "hello\n"


def test_closing_ends_a_run_in_progress(make: Make, sample: Sample) -> None:
    computer = make()
    threads: list[threading.Thread] = []

    def close(report: Report, so_far: str) -> None:
        if "go" in so_far and not threads:
            threads.append(threading.Thread(target=computer.close))
            threads[0].start()

    played = play(computer, sample.language, sample.sleep, on=close)
    threads[0].join(40)
    assert played.state == "lost"
    assert not threads[0].is_alive()


def test_the_active_line_is_reported(shared: Computer, sample: Sample) -> None:
    if sample.paced is None:
        assert LineReached(1) not in [r for _, r in play(shared, sample.language, sample.hello).reports]
        return

    def are_seen() -> bool:
        played = play(shared, sample.language, sample.paced or "")
        assert played.lines[-1] is None
        return [line for line in played.lines if line in sample.paced_lines] == list(sample.paced_lines)

    assert holds_once(are_seen)


def test_the_active_line_can_be_turned_off(make: Make, sample: Sample) -> None:
    played = play(make(active_line=False), sample.language, sample.paced or sample.half)
    assert played.lines == []
    assert played.state == "finished"


def test_short_runs_are_quick(shared: Computer, sample: Sample) -> None:
    play(shared, sample.language, sample.hello)
    assert holds_once(lambda: play(shared, sample.language, sample.hello).seconds < sample.quick, 40)


def test_no_process_and_no_descriptor_is_left(make: Make, sample: Sample) -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    play(make(), sample.language, sample.hello).end  # noqa: B018
    before = descriptors()
    computer = make()
    play(computer, sample.language, sample.hello)
    children = [int(pid) for pid in _children()]
    assert children
    computer.close()
    # Fewer, where the memory of an earlier test was cleaned up meanwhile.
    until(lambda: descriptors() <= before)
    until(lambda: not any(alive(pid) for pid in set(children) - set(map(int, _children()))))


def _children() -> list[str]:
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return file.read().split()


def test_a_run_ends_with_run_ended_once(shared: Computer, sample: Sample) -> None:
    for code in (sample.hello, sample.error, sample.syntax_error):
        reports = list(shared.run(sample.language, code))
        assert [isinstance(report, RunEnded) for report in reports].count(True) == 1
        assert isinstance(reports[-1], RunEnded)


def test_what_is_written_without_an_end_of_line_stays_so(shared: Computer, sample: Sample) -> None:
    assert play(shared, sample.language, sample.echo.format("no end")).text == "no end"


def test_lines_may_end_as_they_do_elsewhere(shared: Computer, sample: Sample) -> None:
    code = f"{sample.hello}\r\n{sample.comment}\r\n{sample.hello}\r\n"
    assert play(shared, sample.language, code).text == "hello\nhello\n"


def test_tabs_stay_tabs(shared: Computer, sample: Sample) -> None:
    code = sample.echo.format("a\tb").replace("\\t", "\t")
    assert play(shared, sample.language, code).text == "a\tb"


def test_a_line_of_code_may_be_very_long(shared: Computer, sample: Sample) -> None:
    text = "abcdefgh" * 5_000
    assert play(shared, sample.language, sample.echo.format(text)).text == text


def test_memory_outlasts_what_cannot_be_parsed(shared: Computer, sample: Sample) -> None:
    play(shared, sample.language, sample.remember)
    assert play(shared, sample.language, sample.syntax_error).state == "failed"
    assert play(shared, sample.language, sample.recall).text == "42\n"


def test_an_answer_may_hold_any_letters(shared: Computer, sample: Sample) -> None:
    assert "hello Zoë €" in play(shared, sample.language, sample.ask, answers=("Zoë €\n",)).text


def test_what_was_typed_too_much_answers_no_later_question(shared: Computer, sample: Sample) -> None:
    play(shared, sample.language, sample.ask, answers=("Ada\ntoo much\n",))
    played = play(shared, sample.language, sample.ask, answers=("Bob\n",))
    assert "hello Bob" in played.text
    assert "too much" not in played.text


def asked_then_stop(computer: Computer, report: Report) -> None:
    """Interrupt a program that waits for an answer."""
    if isinstance(report, InputRequested):
        computer.interrupt()


def test_a_question_that_was_interrupted_takes_no_later_answer(shared: Computer, sample: Sample) -> None:
    stopped = play(shared, sample.language, sample.ask, on=lambda report, _: asked_then_stop(shared, report))
    assert stopped.state == "interrupted"
    assert "hello Bob" in play(shared, sample.language, sample.ask, answers=("Bob\n",)).text


def test_the_screen_may_change_its_size_while_code_runs(shared: Computer, sample: Sample) -> None:
    def resize(report: Report, _: str) -> None:
        if isinstance(report, Printed):
            shared.resize(random.randrange(20, 200), random.randrange(5, 60))

    played = play(shared, sample.language, sample.half, on=resize)
    shared.resize(80, 24)
    assert (played.text, played.state) == ("half line\n", "finished")
    assert played.end.seconds > 0.3


def test_output_without_end_is_stopped_and_the_memory_kept(shared: Computer, sample: Sample) -> None:
    play(shared, sample.language, sample.remember)
    played = play(shared, sample.language, sample.flood, stop_at="go\r\n")
    assert (played.state, played.steps) == ("interrupted", ["interrupt"])
    assert play(shared, sample.language, sample.recall).text == "42\n"


def test_output_without_end_that_nobody_follows_is_stopped(shared: Computer, sample: Sample) -> None:
    with closing(shared.run(sample.language, sample.flood)) as reports:  # type: ignore[type-var]
        for report in reports:
            if isinstance(report, Printed) and "y" in report.text:
                break
    assert play(shared, sample.language, sample.hello).text == "hello\n"


def test_random_bursts_arrive_in_order_before_the_end(shared: Computer, sample: Sample) -> None:
    rnd = random.Random(sample.name)
    for _ in range(1000 if os.environ.get("OI_TUI_SOAK") else 12):
        texts = [
            "".join(rnd.choices("abcdefgh;:,. ", k=rnd.randrange(1, 900))) for _ in range(rnd.randrange(1, 5))
        ]
        code = "\n".join(sample.echo.format(text) for text in texts)
        played = play(shared, sample.language, code)
        assert (played.text, played.state) == ("".join(texts), "finished")


@pytest.fixture
def scripted(shared: Computer, sample: Sample) -> Callable[..., Played]:
    """Runs a shell script as a child of the language, in its foreground."""

    def run(script: str, **options: Any) -> Played:
        (shared.cwd / "script").write_text(script)
        return play(shared, sample.language, sample.script, **options)

    return run


Scripted = Callable[..., Played]


def test_what_a_child_prints_has_its_place(shared: Computer, sample: Sample, scripted: Scripted) -> None:
    (shared.cwd / "script").write_text("echo child; echo trouble >&2")
    code = f"{sample.hello}\n{sample.script}\n{sample.hello}"
    assert play(shared, sample.language, code).text == "hello\nchild\ntrouble\nhello\n"


def test_a_child_may_ask(scripted: Scripted) -> None:
    played = scripted("printf 'colour? '; read x; echo got $x", answers=("blue\n",))
    assert played.asked[0].prompt == "colour? "
    assert "got blue\n" in played.text


def test_a_child_may_ask_for_a_password(scripted: Scripted) -> None:
    played = scripted(
        "stty -echo; printf 'Password: '; read x; stty echo; echo; echo ${#x} letters", answers=("secret\n",)
    )
    assert [asked.masked for asked in played.asked] == [True]
    assert "secret" not in played.text
    assert "6 letters\n" in played.text


def test_a_child_may_ask_for_one_thing_after_another(scripted: Scripted) -> None:
    played = scripted(
        "printf 'user: '; read x; printf 'user: '; read y; stty -echo; printf 'Password: '; read z\n"
        "stty echo; echo; echo $x $y ${#z}",
        answers=("ada\n", "bob\n", "secret\n"),
    )
    asked = [(item.prompt, item.masked) for item in played.asked]
    assert asked == [("user: ", False), ("user: ", False), ("Password: ", True)]
    assert "ada bob 6\n" in played.text
    assert played.answered >= 1


def test_a_child_may_leave_the_terminal_as_it_likes(
    shared: Computer, sample: Sample, scripted: Scripted
) -> None:
    assert scripted("stty raw -echo -opost; exec 0<&- 1>&- 2>&-").state in ("finished", "failed")
    played = play(shared, sample.language, sample.ask, answers=("Ada\n",))
    assert "hello Ada" in played.text
    assert "Ada" in played.text.partition("hello")[0]


def test_a_child_cannot_fake_the_end(scripted: Scripted) -> None:
    played = scripted(
        "printf '\\033]6973;0.end\\007'; printf '\\033]6973;idle.end\\007' >/dev/tty; sleep 0.1; echo real"
    )
    assert played.text.endswith("real\n")


def test_fifty_children_are_stopped_together(shared: Computer, sample: Sample, scripted: Scripted) -> None:
    seconds = str(5000 + random.random())
    played = scripted(f"for i in $(seq 50); do sleep {seconds} & done; echo go; wait", stop_at="go\r\n")
    assert played.state == "interrupted"
    assert played.seconds - played.when("go") < BOUND
    until(lambda: not marked(seconds))
    assert play(shared, sample.language, sample.hello).text == "hello\n"


def test_a_child_that_ignores_the_interrupt_is_ended(scripted: Scripted) -> None:
    seconds = str(6000 + random.random())
    deaf = f"trap '' INT TERM\necho go\nsleep {seconds}\nsleep {seconds}"
    played = scripted(deaf, stop_at="go\r\n", insists=True)
    assert played.state == "interrupted"
    assert played.seconds - played.when("go") < BOUND
    until(lambda: not marked(seconds))


def test_what_a_deaf_child_was_stopped_with_does_not_deafen_the_language(
    computer: Computer, sample: Sample
) -> None:
    (computer.cwd / "script").write_text("trap '' INT TERM\necho go\nsleep 60\nsleep 60")
    play(computer, sample.language, sample.script, stop_at="go\r\n", insists=True)
    played = play(computer, sample.language, sample.busy, stop_at="go\r\n")
    assert (played.state, played.steps) == ("interrupted", ["interrupt"])


def test_what_a_signal_stopped_is_reported_and_can_be_interrupted(
    shared: Computer, sample: Sample, scripted: Scripted
) -> None:
    play(shared, sample.language, sample.remember)
    played = scripted("echo go; kill -STOP $PPID; sleep 60", stop_at="not resumed: ")
    assert played.state == "interrupted"
    assert play(shared, sample.language, sample.recall).text == "42\n"


def test_an_interrupted_run_leaves_the_signals_as_they_were(shared: Computer, sample: Sample) -> None:
    children = {"script": "echo go\nexec sleep 60", "deaf": "trap '' INT TERM\necho go\nsleep 60\nsleep 60"}
    play(shared, sample.language, sample.remember)
    before = signals(shared, sample)
    for how in ("sleep", "busy", "ask", "script", "deaf"):
        (shared.cwd / "script").write_text(children.get(how, ""))
        played = play(
            shared,
            sample.language,
            sample.script if how in children else getattr(sample, how),
            stop_at=None if how == "ask" else "go\r\n",
            insists=how == "deaf",
            on=(lambda report, _: asked_then_stop(shared, report)) if how == "ask" else None,
        )
        assert played.state == "interrupted", how
        assert play(shared, sample.language, sample.recall).text == "42\n", how
        assert signals(shared, sample) == before, how


def signals(computer: Computer, sample: Sample) -> dict[str, str]:
    """Which signals a language at rest blocks, ignores and catches."""
    status = Path(f"/proc/{living(computer)[sample.language]}/status").read_text().splitlines()
    found = dict(line.split(":\t") for line in status if line.startswith(("SigBlk", "SigIgn", "SigCgt")))
    if sample.name == "zsh":
        # It blocks and lets through as it waits for one thing or another, also when nothing was interrupted.
        del found["SigBlk"]
    if sample.name.startswith("deno"):
        # Half a second after its start, it begins to wait for SIGUSR1, which starts its inspector.
        found["SigCgt"] = f"{int(found['SigCgt'], 16) & ~(1 << signal.SIGUSR1 - 1):016x}"
    return found


def test_a_mark_of_the_order_of_bytes_is_no_part_of_the_code(shared: Computer, sample: Sample) -> None:
    assert play(shared, sample.language, "\ufeff" + sample.hello).text == "hello\n"


def test_the_working_directory_may_have_any_name(make: Make, sample: Sample, tmp_path: Path) -> None:
    folder = tmp_path / "a b ü 'c'"
    folder.mkdir()
    assert play(make(cwd=folder), sample.language, sample.folder).text == f"{folder}\n"


def test_two_computers_share_nothing(make: Make, shared: Computer, sample: Sample) -> None:
    play(shared, sample.language, sample.remember)
    assert "42" not in play(make(), sample.language, sample.recall).text
    assert play(shared, sample.language, sample.recall).text == "42\n"


def test_names_of_languages_may_be_written_in_any_case(shared: Computer, sample: Sample) -> None:
    assert play(shared, f" {sample.language.upper()}", sample.hello).text == "hello\n"
