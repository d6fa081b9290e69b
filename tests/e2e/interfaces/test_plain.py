"""The same session in plain lines: on a terminal, through pipes, and for one request."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import Start
from tests.e2e.program import Program, messages
from tests.processes import wait_until
from tests.servers.openai_server import Answer, Call, ModelServer, Say, deltas, error, spoken

pytestmark = pytest.mark.usefixtures("quick_commands")

QUESTION = "a always for python:"
OUR = [sys.executable, "-P", "-m", "oi_tui"]


def call(code: str, language: str = "python") -> Call:
    return Call(json.dumps({"language": language, "code": code}))


def make_arguments(server: ModelServer, *more: str) -> list[str]:
    return ["-m", "openai/tester", "-ab", server.base, "-ak", "sk-test-key", *more]


def piped(*arguments: str, words: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*OUR, *arguments], input=words, capture_output=True, text=True, timeout=60, check=False
    )


def spoken_to(start: Start, *arguments: str, **options: object) -> Program:
    program = start("--plain", *arguments, rows=50, **options)
    program.wait_for(lambda _: last_line(program) == ">", 30)
    return program


def last_line(program: Program) -> str:
    return next((line for line in reversed(program.lines) if line), "")


def test_ask_approve_run_and_the_answer(start: Start, workplace: Path) -> None:
    with ModelServer(
        spoken(Say("I will read it."), call("open('made.txt', 'w').write('x'); print('written', 1 + 1)")),
        spoken(Say("It is there.")),
    ) as server:
        program = spoken_to(start, *make_arguments(server))
        program.say("make a file")
        screen = program.wait_for(QUESTION)
        assert "I will read it." in screen
        assert "    open('made.txt', 'w').write('x'); print('written', 1 + 1)" in screen
        assert "What it does: writes files" in screen
        assert not (workplace / "made.txt").exists()
        program.say("y")
        program.wait_for("It is there.")
        assert "| written 2" in program.screen
        assert (workplace / "made.txt").exists()
        program.wait_for(lambda _: last_line(program) == ">")
        program.press("ctrl+d")
        assert program.wait_exit() == 0
    assert b"\x1b[?1049h" not in program.raw
    assert b"\x1b[3" not in program.raw


def test_what_is_typed_before_the_question_never_answers_it(start: Start, workplace: Path) -> None:
    with ModelServer(
        spoken(call("open('made.txt', 'w')")), spoken(Say("As you like.")), spoken(Say("Hello."))
    ) as server:
        program = spoken_to(start, *make_arguments(server))
        program.send("make a file\r" + "y\r" * 5)
        program.wait_for(QUESTION)
        program.wait_quiet(0.5)
        assert not (workplace / "made.txt").exists()
        program.send("y\ry\ry\r")  # as a paste, or a machine, would
        program.wait_for("Stop typing to answer")
        assert not (workplace / "made.txt").exists()
        program.wait_for(lambda screen: screen.count(QUESTION) == 2)
        program.say("n")
        program.wait_for("Why not?")
        program.say("no files, please")
        program.wait_for("As you like.")
        assert "no files, please" in json.dumps(server.requests[1]["messages"])
        # What was typed too early was a message, or more than one; nothing of it was lost.
        program.wait_for("Hello.")
        assert server.requests[2]["messages"][-1] == {"role": "user", "content": "y"}
    assert not (workplace / "made.txt").exists()


def test_ctrl_c_at_the_question_runs_nothing_and_the_session_goes_on(start: Start, workplace: Path) -> None:
    with ModelServer(spoken(call("open('made.txt', 'w')")), spoken(Say("Still here."))) as server:
        program = spoken_to(start, *make_arguments(server))
        program.say("make a file")
        program.wait_for(QUESTION)
        program.press("ctrl+c")
        program.wait_for("Rejected, not run")
        program.wait_for(lambda _: last_line(program) == ">")
        program.say("are you there?")
        program.wait_for("Still here.")
    assert not (workplace / "made.txt").exists()


def test_ctrl_c_stops_a_run_and_its_memory_is_kept(start: Start) -> None:
    with ModelServer(
        spoken(call("kept = 41\nimport time\nprint('begun')\ntime.sleep(60)")), spoken(Say("Well."))
    ) as server:
        program = spoken_to(start, *make_arguments(server, "-y"))
        program.say("wait")
        program.wait_for("| begun")
        program.press("ctrl+c")
        program.wait_for("Interrupted, variables kept")
        program.wait_for(lambda _: last_line(program) == ">")
        program.say("%python print(kept + 1)")
        program.wait_for("| 42")


def test_ctrl_c_twice_at_the_prompt_leaves(start: Start) -> None:
    program = spoken_to(start, "--demo")
    program.press("ctrl+c")
    program.wait_for("ctrl+c again quits")
    program.press("ctrl+c")
    assert program.wait_exit() == 0


def test_code_is_edited_in_the_persons_own_editor(start: Start, workplace: Path) -> None:
    editor = workplace / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i s/theirs/mine/ "$1"\n')
    editor.chmod(0o700)
    with ModelServer(spoken(call("print('theirs')")), spoken(Say("I see."))) as server:
        program = spoken_to(start, *make_arguments(server), env={"EDITOR": str(editor)})
        program.say("go")
        program.wait_for(QUESTION)
        program.say("e")
        program.wait_for("    print('mine')")
        program.wait_for(lambda screen: screen.count(QUESTION) == 2)
        program.say("y")
        program.wait_for("I see.")
        assert "| mine" in program.screen
        assert "edited the code" in json.dumps(server.requests[1]["messages"])


ASKING = {
    "python": "import getpass\nname = input('Name? ')\n"
    "word = getpass.getpass('Word? ')\nprint(name, len(word), 'long')",
    "shell": "read -p 'Name? ' name; read -rsp 'Word? ' word; echo; echo $name ${#word} long",
}


@pytest.mark.parametrize("language", ASKING)
def test_programs_ask_and_a_password_is_not_shown_or_kept(start: Start, language: str) -> None:
    with ModelServer(spoken(call(ASKING[language], language)), spoken(Say("Thank you."))) as server:
        program = spoken_to(start, *make_arguments(server, "-y"))
        program.say("ask me")
        program.wait_for("| Name?")
        program.say("Grace")
        program.wait_for("hidden and not saved")
        program.send("hush-hush\r")
        program.wait_for("| Word?")
        program.wait_for("| Grace 9 long")
        program.wait_for("Thank you.")
        assert program.screen.count("Name? Grace") == 1
    assert b"hush-hush" not in program.raw
    kept = [path for path in Path(os.environ["HOME"]).rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if b"hush-hush" in path.read_bytes()]


def test_hidden_characters_are_spelled_out_and_named(start: Start) -> None:
    with ModelServer(spoken(call("x = 1  # \u202eexe\x1b[2J"))) as server:
        program = spoken_to(start, *make_arguments(server))
        program.say("go")
        screen = program.wait_for(QUESTION)
        assert "⟨U+202E⟩" in screen
        assert "RIGHT-TO-LEFT OVERRIDE" in screen
        assert b"\x1b[2J" not in program.raw


def test_what_programs_print_cannot_be_taken_for_our_question(start: Start) -> None:
    with ModelServer(
        spoken(call("print('\\x1b[31mRun this python code? y yes, n no')\nprint('50%\\r100%')")),
        spoken(Say("Done.")),
    ) as server:
        program = spoken_to(start, *make_arguments(server, "-y"))
        program.say("go")
        program.wait_for("Done.")
        assert "\n| Run this python code?" in program.screen
        assert "\n| 100%" in program.screen
    assert b"\x1b[31m" not in program.raw


def test_commands_work_and_a_mistyped_one_is_answered_and_kept(start: Start) -> None:
    program = spoken_to(start, "--demo")
    program.say("%hlep")
    screen = program.wait_for("Did you mean %help?")
    program.wait_for(lambda _: last_line(program) == "> %hlep")
    program.press("ctrl+u")
    program.say("%info")
    screen = program.wait_for("conversations:")
    assert "model: demo" in screen
    program.wait_for(lambda _: last_line(program) == ">")
    program.say("!echo from the $((40 + 2)) shell")
    program.wait_for("| from the 42 shell")
    program.wait_for(lambda _: last_line(program) == ">")
    program.say("%quit")
    assert program.wait_exit() == 0


def test_a_command_that_asks_takes_no_line_that_was_typed_before_its_question(
    start: Start, workplace: Path
) -> None:
    (workplace / ".oi-tui.yaml").write_text("max_output: 100\n")
    program = spoken_to(start)
    asks = "y for yes, or enter for no:"
    program.send("%trust\ry\r")
    program.wait_for(lambda _: last_line(program) == asks)
    program.press("ctrl+c")
    program.wait_for("Nothing was done.")
    program.wait_for(lambda _: last_line(program) == "> y")
    program.press("ctrl+u")
    program.say("%trust")
    program.wait_for(lambda _: last_line(program) == asks)
    program.say("y")
    program.wait_for("Now using the folder's settings")
    program.wait_for(lambda _: last_line(program) == ">")


def test_without_a_model_it_is_a_console_for_its_languages(start: Start) -> None:
    program = spoken_to(start)
    screen = program.wait_for("No model is set")
    assert "Traceback" not in screen
    program.say("%python print(6 * 7)")
    program.wait_for("| 42")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_in_order(start: Start, number: signal.Signals) -> None:
    program = spoken_to(start, "--demo")
    program.say("%python import time; print('begun'); time.sleep(60)")
    program.wait_for("| begun")
    program.signal(number)
    assert program.wait_exit() == 128 + number


def test_a_dumb_terminal_has_plain_lines(start: Start) -> None:
    program = start("--demo", env={"TERM": "dumb"})
    program.wait_for("plain mode", 30)
    program.wait_for(lambda _: last_line(program) == ">")
    program.say("%output 3")
    program.wait_for("Cell 3 does not exist.")
    # Until its prompt is there, the line editor takes over the terminal, which loses an end of input.
    program.wait_for(lambda _: last_line(program) == ">")
    program.press("ctrl+d")
    assert program.wait_exit() == 0


@pytest.mark.usefixtures("real_command")
def test_lines_of_a_pipe_are_messages_and_approve_nothing(workplace: Path) -> None:
    with ModelServer(spoken(call("open('made.txt', 'w')")), spoken(Say("Hello."))) as server:
        done = piped(*make_arguments(server), words="make a file\ny\n")
    assert "There was no terminal to approve it in" in done.stdout
    assert "Rejected" not in done.stdout
    assert "Hello." in done.stdout
    assert (done.returncode, done.stderr) == (3, "")
    assert not (workplace / "made.txt").exists()


def test_a_pipe_may_run_code_when_told_so_and_answers_programs(workplace: Path) -> None:
    with ModelServer(spoken(call("print('hello', input('Name? '))")), spoken(Say("Good."))) as server:
        done = piped(*make_arguments(server, "--plain", "-y"), words="go\nGrace\n")
    assert "hello Grace" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")


def test_a_request_from_standard_input_shows_code_and_does_not_run_it(workplace: Path) -> None:
    with ModelServer(spoken(Say("I will."), call("open('made.txt', 'w')"))) as server:
        done = piped(*make_arguments(server, "--stdin"), words="make a file\nof two lines\n")
        assert server.requests[0]["messages"][-1]["content"] == "make a file\nof two lines"
    assert done.stdout == "I will.\n    open('made.txt', 'w')\n"
    assert "-y runs code without asking" in done.stderr
    assert done.returncode == 3
    assert not (workplace / "made.txt").exists()


def test_a_request_from_standard_input_runs_when_told_so(workplace: Path) -> None:
    with ModelServer(
        spoken(call("print('ran'); print(repr(open(0).read()))")), spoken(Say("Fine."))
    ) as server:
        done = piped(*make_arguments(server, "--stdin", "-y", "first", "words"), words="then the input")
        assert server.requests[0]["messages"][-1]["content"] == "first words\n\nthen the input"
    assert re.search(r"\| ran\n(.*\n)*Fine\.\n$", done.stdout)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr


def test_a_model_that_cannot_be_reached_is_reported_of_and_fails() -> None:
    with ModelServer(error(401, "wrong key")) as server:
        done = piped(*make_arguments(server, "--stdin"), words="hello")
    assert (done.returncode, done.stdout) == (1, "")
    assert "key" in done.stderr
    assert "Traceback" not in done.stderr
    assert "sk-test-key" not in done.stderr


@pytest.mark.parametrize(
    ("answer", "reported"),
    [
        (deltas({"content": "Half of"}, finish="length"), "max_tokens"),
        (deltas({"content": "Half of"}, finish="content_filter"), "content filter"),
        (spoken(Call("{{{")), "The model's tool call could not be read and is shown as received."),
    ],
    ids=["length", "content_filter", "unreadable"],
)
def test_what_is_wrong_with_a_reply_is_reported_in_plain_lines(answer: Answer, reported: str) -> None:
    with ModelServer(answer, spoken(Say("Well."))) as server:
        done = piped(*make_arguments(server, "--plain"), words="go\n")
    assert reported in done.stdout


def test_messages_that_are_not_sent_are_spoken_of_in_plain_lines() -> None:
    with ModelServer(spoken(Say("x" * 30_000)), spoken(Say("Well."))) as server:
        done = piped(*make_arguments(server, "--plain", "-cw", "4000"), words="go\nand now?\n")
    assert "2 oldest messages are omitted from the request." in done.stdout


def test_nothing_to_ask_is_a_mistake_of_the_command_line() -> None:
    done = piped("--demo", "--stdin")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "oi-tui: no request on standard input\n"


def test_a_reader_that_goes_away_ends_it_quietly(workplace: Path) -> None:
    with ModelServer(spoken(call("for i in range(100000): print(i)")), spoken(Say("Done."))) as server:
        running = subprocess.Popen(
            [*OUR, *make_arguments(server, "--stdin", "-y", "count")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert running.stdout
        assert running.stderr
        running.stdout.readline()
        running.stdout.close()
        reported = running.stderr.read().decode()
        running.stderr.close()
        assert wait_until(lambda: running.poll() is not None, 30)
    assert running.returncode == 128 + signal.SIGPIPE
    assert "Traceback" not in reported
    assert "Exception" not in reported


def test_what_happened_in_plain_lines_is_saved(start: Start) -> None:
    with ModelServer(spoken(Say("Hello there."))) as server:
        program = spoken_to(start, *make_arguments(server))
        program.say("hello")
        program.wait_for("Hello there.")
        program.wait_for(lambda _: last_line(program) == ">")
        program.press("ctrl+d")
        assert program.wait_exit() == 0
    assert [message["content"] for message in messages()] == ["hello", "Hello there."]
    again = spoken_to(start, *make_arguments(server, "--resume"))
    again.wait_for("Hello there.")


def test_a_request_from_standard_input_continues_a_saved_conversation(workplace: Path) -> None:
    with ModelServer(spoken(Say("Hello Ada.")), spoken(Say("You are Ada."))) as server:
        piped(*make_arguments(server, "--stdin"), words="I am Ada.")
        again = piped(*make_arguments(server, "--stdin", "--resume"), words="Who am I?")
        sent = server.requests[-1]["messages"]
    assert (again.returncode, again.stdout) == (0, "You are Ada.\n")
    assert [item["content"] for item in sent][-3:] == ["I am Ada.", "Hello Ada.", "Who am I?"]
    assert [message["content"] for message in messages()][-2:] == ["Who am I?", "You are Ada."]
    listed = piped("--demo", "--plain", "--conversations", words="")
    assert "  1  I am Ada." in listed.stdout


def test_the_end_of_input_at_a_question_ends_the_conversation_and_rejects_nothing(start: Start) -> None:
    with ModelServer(spoken(call("print(1)"))) as server:
        program = spoken_to(start, *make_arguments(server))
        program.say("print one")
        program.wait_for(QUESTION)
        program.press("ctrl+d")
        program.wait_exit()
    code = next(message for message in messages() if message["type"] == "code")
    assert code["state"] == "skipped"
    assert "decision" not in code
    assert code["reason"] == "The conversation was ended before anybody approved it."


def test_ctrl_c_ends_a_flood_at_once(start: Start) -> None:
    program = spoken_to(start, "--demo")
    program.say("%python while True: print('x' * 200)")
    program.wait_for("| xxx")
    program.press("ctrl+c")
    program.wait_for("Interrupted, variables kept")
    program.wait_for(lambda _: last_line(program) == ">")
    program.say("%python print(6 * 7)")
    program.wait_for("| 42")
