"""The main job against a model server: ask, stream, edit a line, approve, run, answer, over a real file."""

import csv
import json
import os
import statistics
from pathlib import Path

from tests.e2e.conftest import Start
from tests.e2e.program import Program, messages
from tests.servers.openai_server import Answer, Call, ModelServer, Say, error, spoken

CODE = """import csv
rows = list(csv.DictReader(open("prices.csv")))
mean = sum(float(row["open"]) for row in rows) / len(rows)
with open("mean.txt", "w") as file:
    print(f"{mean:.4f}", file=file)
print(f"mean of {len(rows)} days: {mean:.2f}")"""


def true_mean(folder: Path, column: str) -> float:
    with (folder / "prices.csv").open() as file:
        return statistics.fmean(float(row[column]) for row in csv.DictReader(file))


def start_job(start: Start, server: ModelServer, *more: str, **options: object) -> Program:
    program = start("-m", "openai/tester", "-ab", server.base, "-ak", "sk-test-key", *more, **options)
    program.begin()
    return program


def roles(request: dict) -> list[str]:
    return [message["role"] for message in request["messages"]]


def call(code: str, language: str = "python") -> Call:
    return Call(json.dumps({"language": language, "code": code}))


def test_ask_stream_edit_a_line_approve_run_answer(start: Start, workplace: Path) -> None:
    answers: tuple[Answer, ...] = (
        spoken(Say("I will read the prices."), call(CODE), size=1),
        spoken(Say("The mean is in **mean.txt**.")),
    )
    with ModelServer(*answers) as server:
        program = start_job(start, server)
        screen = program.asked_first("What is the mean opening price in prices.csv?")
        assert "I will read the prices." in screen
        assert not (workplace / "mean.txt").exists()
        program.answer("e")
        program.wait_for("f5 done")
        program.press("ctrl+home", "down", "down", *["right"] * len('mean = sum(float(row["'))
        program.press(*["delete"] * len("open"))
        program.send("close")
        program.wait_for('row["close"]')
        program.press("f5")
        program.answer("y")
        screen = program.wait_for("The mean is in mean.txt.")
        assert f"mean of 62 days: {true_mean(workplace, 'close'):.2f}" in screen
        assert (workplace / "mean.txt").read_text() == f"{true_mean(workplace, 'close'):.4f}\n"
        program.idle()

        first, second = server.requests
        assert first["stream"] is True
        assert first["model"] == "tester"
        assert first["messages"][-1]["content"] == "What is the mean opening price in prices.csv?"
        assert [tool["function"]["name"] for tool in first["tools"]] == ["execute"]
        assert roles(second) == ["system", "user", "assistant", "tool"]
        asked, reported = second["messages"][-2:]
        assert json.loads(asked["tool_calls"][0]["function"]["arguments"])["code"] == CODE
        assert reported["tool_call_id"] == asked["tool_calls"][0]["id"]
        assert "edited the code" in reported["content"]
        assert 'row["close"]' in reported["content"]
        assert f"mean of 62 days: {true_mean(workplace, 'close'):.2f}" in reported["content"]
        assert server.exchange().headers["authorization"] == "Bearer sk-test-key"

    [code] = [message for message in messages() if message["type"] == "code"]
    assert (code["decision"], code["state"]) == ("edited", "finished")
    assert 'row["close"]' in code["content"]
    assert code["proposed"] == CODE
    kept = [path for path in Path(os.environ["HOME"]).rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if b"sk-test-key" in path.read_bytes()]


def test_the_model_is_reported_of_a_rejection_and_nothing_ran(start: Start, workplace: Path) -> None:
    answers = spoken(call("open('made.txt', 'w')")), spoken(Say("Then I will not."))
    with ModelServer(*answers) as server:
        program = start_job(start, server)
        program.asked_first("make a file")
        program.answer("n")
        program.wait_for("Why not")
        program.say("not in this folder")
        program.wait_for("Then I will not.")
        assert "not in this folder" in server.requests[1]["messages"][-1]["content"]
        assert not (workplace / "made.txt").exists()


def test_a_second_turn_builds_on_what_the_language_remembers(start: Start) -> None:
    answers = (
        spoken(call("total = 41")),
        spoken(Say("Remembered.")),
        spoken(call("print('total is', total + 1)")),
        spoken(Say("There.")),
    )
    with ModelServer(*answers) as server:
        program = start_job(start, server)
        program.asked_first("remember")
        program.answer("y")
        program.wait_for("Remembered.")
        program.idle()
        program.asked_first("and now")
        program.answer("y")
        program.wait_for("total is 42")
        program.wait_for("There.")
        assert "total is 42" in server.requests[3]["messages"][-1]["content"]


def test_a_bad_key_is_explained_and_the_next_try_works(start: Start) -> None:
    with ModelServer(error(401, "Incorrect API key provided: sk-test-key")) as server:
        program = start_job(start, server)
        program.say("hello")
        screen = program.wait_for("did not accept the API key")
        program.wait_for("Enter tries again")
        program.idle()
        assert "Traceback" not in screen
        assert "sk-test-key" not in program.screen
        server.answer(spoken(Say("Welcome.")))
        program.say("again")
        program.wait_for("Welcome.")


def test_a_message_sent_during_a_turn_waits_for_its_end(start: Start) -> None:
    answers = spoken(call("input('name? ')")), spoken(Say("First done.")), spoken(Say("Second done."))
    with ModelServer(*answers) as server:
        program = start_job(start, server)
        program.asked_first("one")
        program.send("what then?")
        program.wait_for("> what then?")
        program.press("enter")
        program.wait_gone("> what then?")
        program.answer("y")
        program.wait_for("asks: name?")
        assert len(server.requests) == 1
        program.say("Ada")
        program.wait_for("Second done.")
        assert server.requests[2]["messages"][-1]["content"] == "what then?"
