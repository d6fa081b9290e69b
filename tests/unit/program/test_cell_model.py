"""`llm()` and `llm_map()` in Python cells: a real Python, LiteLLM, and a model server on this machine."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from oi_tui.engine.cell_requests import describe_calls
from oi_tui.engine.events import ApprovalRequested
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.review.model_calls import ModelCalls, find_calls
from oi_tui.engine.review.permissions import Permission
from oi_tui.engine.settings.profile import Profile
from oi_tui.services.model import ModelService
from oi_tui.workspace import Workspace
from tests.processes import wait_until
from tests.servers.openai_server import Exchange, ModelServer, Say, error, spoken
from tests.unit.mcp_client.test_cells import run

#: A dollar for a million tokens, and two for the reply.
PRICED = ModelInfo(context_window=8000, max_output=1000, prompt_price=1e-6, completion_price=2e-6)
Open = Callable[..., Workspace]


def echo(exchange: Exchange) -> None:
    """Answer with the last message, in other words; refuse what says so."""
    text = str(exchange.request["messages"][-1]["content"])
    if "refuse" in text:
        error(400, "this row is not understood")(exchange)
    else:
        spoken(Say(f"<{text}>"))(exchange)


@pytest.fixture
def open_workspace(served: ModelServer, models: ModelProcess, workplace: Path) -> Iterator[Open]:
    """Open a workspace whose model echoes; it is closed after the test."""
    served.answer(echo)
    with ExitStack() as stack:

        def opened(**settings: Any) -> Workspace:
            profile = Profile(model="openai/m", api_base=served.base, api_key="k-12345678")
            workspace = Workspace(profile.with_changes(**settings), models=models)
            stack.callback(workspace.close)
            return workspace

        yield opened


def test_a_cell_asks_the_model_and_gets_strings_in_order(open_workspace: Open, served: ModelServer) -> None:
    workspace = open_workspace()
    printed, (question,) = run(workspace, "print(llm('red or blue?', system='One word.').upper())")
    assert "<RED OR BLUE?>" in printed
    assert question.note == ("This code may send 1 request to openai/m with llm(), whose price is not known.")
    assert [item["role"] for item in served.requests[0]["messages"]] == ["system", "user"]
    served.answer(echo)
    printed, (question,) = run(
        workspace,
        "rows = [f'r{n}' for n in range(20)]\nfound = llm_map('classify: {}', rows, at_once=5)\n"
        "print(found == [f'<classify: {row}>' for row in rows], type(found[0]).__name__)",
    )
    assert "up to 1,000 requests to openai/m with llm_map()" in question.note
    assert "True str" in printed
    # One line that grows, and only its last state is left for the model.
    assert "llm_map: 20 of 20" in printed
    assert len(served.requests) == 20
    # What was asked before comes from the cache; entries of dictionaries and functions make prompts, too.
    printed, _ = run(
        workspace,
        "print(llm_map('classify: {}', ['r3', 'r3', 'new']))\n"
        "print(llm_map('{name} is {age}', [{'name': 'Ana', 'age': 3}]))\n"
        "print(llm_map(str, [1]), llm_map('Say', ['a']))\n"
        # A frame of another library, such as geopandas, is one of pandas as well.
        "class DataFrame:\n    def to_dict(self, how): return [{'name': 'Bo', 'age': 4}]\n"
        "    def __iter__(self): return iter(['name', 'age'])\n"
        "class GeoDataFrame(DataFrame): pass\n"
        "print(llm_map('{name} is {age}', GeoDataFrame()))",
    )
    assert "['<classify: r3>', '<classify: r3>', '<classify: new>']" in printed
    assert "2 from the cache" in printed
    assert "['<Ana is 3>']" in printed
    assert "['<1>'] ['<Say\\n\\na>']" in printed
    assert "['<Bo is 4>']" in printed
    assert len(served.requests) == 25
    assert workspace.session.usage.totals.requests == 26
    assert workspace.session.usage.totals.prompt_tokens > 0


def test_failures_of_rows_are_told_apart(open_workspace: Open) -> None:
    workspace = open_workspace()
    printed, _ = run(
        workspace,
        "found = llm_map('{}', ['a', 'refuse', 'b'], errors='return')\n"
        "print([type(item).__name__ for item in found], found[1])\n"
        "try:\n    llm_map('{}', ['a', 'refuse', 'b'])\n"
        "except llm.Error as error:\n    print(error); print(error.results[2])",
    )
    assert "['str', 'LlmError', 'str']" in printed
    assert "this row is not understood" in printed
    assert "1 of 3 rows failed:\n  row 1 ('refuse'):" in printed.replace("\r", "")
    assert printed.rstrip().endswith("<b>")
    for code, words in (
        ("llm(3)", "takes the prompt as a string, not int"),
        ("llm_map('{}', 'text')", "takes the rows as a list"),
        ("llm_map('{\"a\": {}}', ['x'])", "braces that are text are written twice"),
        ("llm_map('{}', [1], errors='x')", 'errors is "raise" or "return"'),
        ("llm('refuse')", "this row is not understood"),
        ("llm('x', max_tokens='x')", "max_tokens is a whole number, not 'x'"),
        ("llm_map('{}', [1], at_once=0)", "at_once is at least 1, not 0"),
        ("llm_map('{:.2f}', [None])", "cannot be filled with a row (TypeError"),
    ):
        assert words in run(workspace, code)[0], code


def test_escape_cancels_what_is_asked_at_once_and_keeps_variables(
    open_workspace: Open, served: ModelServer
) -> None:
    workspace = open_workspace()
    served.answer(Exchange.hang)

    def stop() -> None:
        served.exchange(2)
        workspace.session.interrupt()

    stopper = threading.Thread(target=stop)
    stopper.start()
    run(workspace, "kept = 7\nllm_map('{}', range(9), at_once=3)")
    stopper.join()
    assert wait_until(lambda: all(item.client_gone.is_set() for item in served.exchanges), 10)
    assert [m.state for m in workspace.session.messages if m.type == "code"] == ["interrupted"]
    assert len(served.exchanges) == 3
    served.answer(echo)
    assert "7 <a>" in run(workspace, "print(kept, llm('a'))")[0]


def test_what_a_cell_does_not_name_may_not_be_asked(open_workspace: Open, served: ModelServer) -> None:
    workspace = open_workspace()
    for code in (
        "import builtins\nprint(builtins.llm('x'))",
        "print(eval('l' + 'lm')('x'))",
        "def llm_later(): return globals()['__builtins__'].llm('x')\nllm_later()",
        "import subprocess, sys, os\n# llm\nprint(1)",
    ):
        printed, (question,) = run(workspace, code)
        assert "to openai/m" not in question.note
        assert "the cell does not name llm" in printed or printed.strip() == "1"
    # A function that asks belongs to the cell that defines it; a later cell has to name it, too.
    run(workspace, "def judge(text): return llm(text)")
    assert "the cell does not name llm" in run(workspace, "judge('x')")[0]
    assert "<x>" in run(workspace, "print(judge('x'), llm is not None)")[0]
    # A number that the question named is kept.
    printed, (question,) = run(workspace, "found = llm('1')\nprint(eval('l' + 'lm')('2'))")
    assert "1 request to" in question.note
    assert "this cell may send 1" in printed
    # Another process cannot ask.
    raw = (
        "import os, subprocess, sys\nscript = '''import os, socket\ns = socket.socket(socket.AF_UNIX)\n"
        's.connect(os.environ["OI_TUI_MODEL_SOCKET"])\ns.sendall(b\'{\\"prompts\\": [\\"x\\"]}\\\\n\')\n'
        "print(s.makefile().read())'''\nprint(subprocess.run([sys.executable, '-c', script], "
        "capture_output=True, text=True))\nllm"
    )
    assert "Only the process that runs the cell" in run(workspace, raw)[0]


def test_grants_for_python_do_not_cover_requests(open_workspace: Open) -> None:
    workspace = open_workspace()
    workspace.session.permissions.add(Permission("language", "python"))
    assert not run(workspace, "print(1)")[1]
    assert run(workspace, "print(llm('x'))")[1]
    workspace.session.auto_run = True
    printed, asked = run(workspace, "def judge(text): return llm(text)\nprint(judge('y'))")
    assert not asked
    assert "<y>" in printed
    assert "<z>" in run(workspace, "print(judge('z'))")[0]


def test_code_that_was_edited_is_asked_for_again(open_workspace: Open) -> None:
    workspace = open_workspace()
    asked = []
    for event in workspace.session.propose("python", "print(1)"):
        if isinstance(event, ApprovalRequested):
            asked.append(event.note)
            event.edit("print(llm('edited'))")
    assert [bool(note) for note in asked] == [False, True]
    assert any("<edited>" in m.content for m in workspace.session.messages if m.type == "console")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"offline": True}, "the setting offline is on"),
        ({"local": True}, "the setting local is on"),
        ({"cell_requests": 0}, "the setting cell_requests is 0"),
        ({"cell_requests": 2}, "this cell may send 2"),
    ],
)
def test_rules_hold_for_code(
    settings: dict[str, Any], words: str, open_workspace: Open, served: ModelServer
) -> None:
    workspace = open_workspace(**settings)
    assert any("llm(" in note for note in workspace.languages.write_notes()) is (
        settings == {"cell_requests": 2}
    )
    printed, _ = run(workspace, "print(llm_map('{}', range(int('3'))))")
    assert words in printed
    assert served.requests == []


@pytest.mark.parametrize("settings", [{"max_budget": 0.0021}, {"cell_cost": 0.0021}])
def test_no_more_is_spent_than_may_be(
    settings: dict[str, Any], open_workspace: Open, served: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ModelService, "facts", lambda _self, _profile: PRICED)
    served.answer(spoken(Say("word " * 250)))
    workspace = open_workspace(**settings)
    printed, (question,) = run(workspace, "llm_map('{}', range(9), at_once=9)")
    assert "for at most $0.0021" in question.note
    assert "rows failed" in printed
    limit = "budget of $0.0021" if "max_budget" in settings else "of the $0.0021 that a cell may"
    assert limit in printed
    assert 0 < len(served.requests) < 9
    longest = [item.get("max_tokens") for item in served.requests]
    assert longest[0] is None
    # What no longer fits is asked for in a shorter form, then not at all.
    assert all(item is None or item < 1000 for item in longest)


def test_what_the_server_refuses_costs_nothing(
    open_workspace: Open, served: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ModelService, "facts", lambda _self, _profile: PRICED)
    workspace = open_workspace(cell_cost=0.0042)
    printed, _ = run(
        workspace,
        "found = llm_map('{}', [*(f'refuse {n}' for n in range(9)), 'last'], errors='return', at_once=1)\n"
        "print(found[-1])",
    )
    assert printed.endswith("<last>\n")
    assert len(served.requests) == 10
    assert workspace.session.usage.totals.requests == 1


@pytest.mark.slow
def test_what_a_reply_cost_is_counted_before_the_next_request(
    open_workspace: Open, served: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ModelService, "facts", lambda _self, _profile: PRICED)
    served.answer(spoken(Say("word")))
    # Without a usage in the reply, its cost is the most that it can be: one request fits.
    workspace = open_workspace(cell_cost=0.0021)
    usage = workspace.session.usage
    record = usage.record

    def record_late(*arguments: Any) -> Any:
        wait_until(lambda: len(served.requests) > 1, 0.5)
        return record(None, *arguments[1:])

    monkeypatch.setattr(usage, "record", record_late)
    run(workspace, "llm_map('{}', range(3), at_once=3)")
    assert len(served.requests) == 1


def test_halves_of_characters_are_sent_as_what_they_are_shown_as(
    open_workspace: Open, served: ModelServer
) -> None:
    printed, _ = run(open_workspace(), "print(llm('a\\udc80b', system='\\udc81'))")
    assert "<a\ufffdb>" in printed
    assert len(served.requests) == 1


def test_code_elsewhere_is_told_that_nobody_answers(
    open_workspace: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = open_workspace()
    printed, _ = run(workspace, "import os\ndel os.environ['OI_TUI_MODEL_SOCKET']\nllm('x')")
    assert "There is no model to ask here" in printed
    assert os.environ.get("OI_TUI_MODEL_SOCKET") is None


@pytest.mark.parametrize(
    ("code", "most"),
    [
        ("llm('a'); llm('b')", 2),
        ("if x: llm('a')\nelse: llm('b')", 2),
        ("for n in range(3):\n    for m in (1, 2): llm(n)", 6),
        ("[llm(n) for n in [1, 2, 3]]", 3),
        ("rows = ['a', 'b']\nprint(llm_map('{}', rows), len(rows))", 2),
        ("rows = ['a']\nrows.append('b')\nllm_map('{}', rows)", None),
        ("llm_map('{}', rows=('a', 'b'))", 2),
        ("llm_map('{}', df['x'])", None),
        ("while True: llm('a')", None),
        ("def f(): return llm('a')", None),
        ("list(map(llm, rows))", None),
        ("%time llm('a')", None),
        ("ask = llm", None),
        ("llm('a', *rows)", None),
    ],
)
def test_requests_are_counted_where_code_says_how_many(code: str, most: int | None) -> None:
    calls = find_calls(code)
    assert calls is not None
    assert calls.most == most


@pytest.mark.parametrize(
    "code",
    ["x = 1", "llm = Model()\nllm('a')", "from x import llm\nllm('a')", "self.llm('a')", "# llm", "'llm('"],
)
def test_names_of_other_things_are_no_calls(code: str) -> None:
    assert find_calls(code) is None


def test_the_question_names_the_most_that_it_costs() -> None:
    profile, calls = Profile(model="m", cell_cost=1.0), ModelCalls(("llm",), 2)
    assert describe_calls(calls, profile, PRICED, 0.0).endswith(
        "up to 2 requests to m with llm(), for at most $0.02."
    )
    many = ModelCalls(("llm", "llm_map"))
    assert describe_calls(many, profile, PRICED, 0.0).endswith(
        "up to 1,000 requests to m with llm() and llm_map(), for at most $1.00."
    )
    budget = profile.with_changes(max_budget=0.5)
    assert describe_calls(many, budget, PRICED, 0.2).endswith("for at most $0.30.")
    assert describe_calls(many, profile, ModelInfo(), 0.0).endswith("whose price is not known.")
    unlimited = profile.with_changes(cell_cost=None)
    assert describe_calls(many, unlimited, ModelInfo(prompt_price=1.0), 0.0).endswith("without a cost limit.")
