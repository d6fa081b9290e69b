"""No request reaches a model past the gate, whatever asks for it."""

import ast
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from oi_tui.api.interpreter import OpenInterpreter, TurnError
from oi_tui.computer_api import QuestionRefusedError
from oi_tui.engine.events import ApprovalRequested, Noticed, Reject, TurnEnded
from oi_tui.engine.exchange import Exchange
from oi_tui.engine.llm import endpoint, request_gate
from oi_tui.engine.llm.base import LlmError, Request, Text
from oi_tui.engine.llm.question import write_request
from oi_tui.engine.llm.signed_reasoning import FIELDS
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.llm.usage_report import OverBudget, UsageTracker
from oi_tui.engine.models import model_check
from oi_tui.engine.models.function_model import FunctionModel
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.session import Session
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message
from oi_tui.workspace import Workspace
from tests.fakes import Computer, Llm
from tests.servers.openai_server import ModelServer, refused

PACKAGE = Path(endpoint.__file__).parents[2]
#: Who may call `reply`, and of what: the gate sends, the log passes on what the gate sent, and the process of
#: a function is behind the gate. `self._access` asks through an exchange. The others answer questions (of the
#: application to a person) or recite.
REPLIERS = {
    ("engine/llm/request_gate.py", "llm"),
    ("engine/llm/request_log.py", "self._llm"),
    ("engine/models/function_process.py", "FunctionModel(self._function)"),
    ("api/llm_settings.py", "self._access"),
    ("api/turns.py", "event"),
    ("api/turns.py", "question"),
    ("engine/events.py", "self"),
    ("plain/conversation.py", "request"),
    ("screens/chat/turn/host_cells.py", "cell.question"),
    ("screens/chat/view.py", "event.request"),
    ("server/hosted_session.py", "question.request"),
    ("demo/scripts.py", "task"),
}


def trees(*names: str) -> Iterator[tuple[Path, ast.Module]]:
    """Every file in which one of these words stands, and what it says: a name can stand in no other."""
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if any(name in text for name in names):
            yield path, ast.parse(text)


def calls(name: str) -> set[tuple[str, str]]:
    """Every file that calls a method of that name, and the object that it is called on."""
    return {
        (str(path.relative_to(PACKAGE)), ast.unparse(node.func.value))
        for path, tree in trees(f".{name}")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name
    }


def test_only_the_gate_sends_requests() -> None:
    assert calls("reply") == REPLIERS
    users = {
        str(path.relative_to(PACKAGE))
        for path, tree in trees("FunctionReply", "ModelReply")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute | ast.Name)
        and (node.attr if isinstance(node, ast.Attribute) else node.id) in ("FunctionReply", "ModelReply")
    }
    assert users == {
        "engine/llm/transport/client.py",
        "engine/models/function_model.py",
        "engine/models/function_process.py",
    }


# -- every feature that asks a model ----------------------------------------------------------------


def make_conversation() -> list[Message]:
    """Long enough to be shortened, and without a title."""
    return [
        Message(role=role, type="message", content=f"{number} " + "word " * 500)
        for number in range(20)
        for role in ("user", "assistant")
    ]


def ended(events: Iterable[object]) -> str:
    [end] = [item for item in events if isinstance(item, TurnEnded)]
    return f"{end.outcome}: {end.reason}"


def regenerated(space: Workspace) -> str:
    own = [message for message in space.session.messages if message.role == "user"]
    space.session.rewind(own[-1].id)
    return ended(space.session.turn("once more"))


def named(space: Workspace) -> str:
    space.side_requests.name_conversation()
    return "failed silently"


def through_the_api(space: Workspace, ask: Callable[[OpenInterpreter], object]) -> str:
    interpreter = OpenInterpreter(space.profile, llm=space.model.llm)
    try:
        ask(interpreter)
    except TurnError as error:
        return f"failed: {error}"
    finally:
        # The process of the model is shared by the tests, and goes on.
        interpreter.computer.runtimes.close()
    return "paused"


def asked_by_code(space: Workspace) -> str:
    try:
        return f"done: {space.side_requests.ask('2 + 2?')}"
    except QuestionRefusedError as error:
        return f"failed: {error}"


def offered(space: Workspace) -> str:
    """A block in the text of a reply, which is rejected so that the model would be asked next."""
    block = Message(role="assistant", type="message", content="So:\n\n```python\n1\n```")
    space.conversation.begin([*make_conversation(), block])
    events = []
    for event in space.session.run_blocks():
        events.append(event)
        if isinstance(event, ApprovalRequested):
            event.reply(Reject("no"))
    return ended(events)


def by_a_function(space: Workspace) -> str:
    session = Session(
        space.profile,
        FunctionModel(lambda messages: pytest.fail("the function was asked")),
        Computer(),
        Store.create_unsaved(cwd="/", model="m"),
    )
    return ended(session.turn("hi"))


HELLO = {"role": "user", "type": "message", "content": "hi"}
FEATURES: dict[str, Callable[[Workspace], str]] = {
    "chat": lambda space: ended(space.session.turn("hi")),
    "go on": lambda space: ended(space.session.turn(None)),
    "an image": lambda space: ended(
        space.session.turn(Message(role="user", type="image", format="base64.png", content="aGk="))
    ),
    "regenerate": regenerated,
    "%compact": lambda space: ended(space.session.compact()),
    "title": named,
    "test of a model": lambda space: (
        f"failed: {[item.sentence for item in space.side_requests.check(space.profile)]}"
    ),
    "Python API": lambda space: through_the_api(space, lambda made: made.chat("hi", display=False)),
    "llm.run": lambda space: through_the_api(space, lambda made: list(made.llm.run([HELLO]))),
    "llm.completions": lambda space: through_the_api(
        space, lambda made: list(made.llm.completions(messages=[{"role": "user", "content": "hi"}]))
    ),
    "function": by_a_function,
    "%offer": offered,
    "computer.ai": asked_by_code,
}


@pytest.fixture
def space(served: ModelServer, models: ModelProcess, tmp_path: Path) -> Iterable[Workspace]:
    profile = Profile(model="openai/m", api_base=served.base, conversation_history_path=str(tmp_path))
    made = Workspace(profile, llm=models, computer=Computer())
    made.conversation.begin(make_conversation())
    yield made
    made.session.close()


def test_every_way_to_the_gate_is_tried() -> None:
    """A new caller of the gate needs a feature above."""
    assert {(file, what) for file, what in calls("send") if what == "request_gate"} == {
        ("api/model_reply.py", "request_gate"),
        ("engine/exchange.py", "request_gate"),
        ("engine/llm/question.py", "request_gate"),
        ("engine/llm/titles.py", "request_gate"),
        ("engine/models/model_check.py", "request_gate"),
    }


@pytest.mark.parametrize("settings", [{}, {"offline": True, "local": True}, {"max_budget": 0.0}])
def test_counting_tokens_asks_no_server(
    settings: dict[str, Any], space: Workspace, served: ModelServer, models: ModelProcess
) -> None:
    space.use(space.profile.with_changes(**settings))
    [reported] = [e for e in space.session.count_tokens(models.count, "how many?") if isinstance(e, Noticed)]
    assert "of which 3 for this message" in reported.text
    assert served.exchanges == []


@pytest.mark.parametrize("setting", ["offline", "local"])
@pytest.mark.parametrize("feature", FEATURES)
def test_nothing_leaves_this_machine_when_nothing_may(
    feature: str, setting: str, space: Workspace, served: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The server stands for one far away.
    monkeypatch.setattr(endpoint, "is_near", lambda _host: False)
    monkeypatch.setattr(endpoint, "is_this_machine", lambda _host: False)
    space.use(space.profile.with_changes(**{setting: True}))
    reported = FEATURES[feature](space)
    assert reported.startswith("failed")
    assert f"{setting} is on" in reported or feature == "title"
    assert served.exchanges == []


@pytest.mark.parametrize("budget", [0.0, 1e-9])
@pytest.mark.parametrize("feature", FEATURES)
def test_nothing_is_sent_that_the_budget_does_not_allow(
    feature: str, budget: float, space: Workspace, served: ModelServer
) -> None:
    space.use(space.profile.with_changes(max_budget=budget))
    assert FEATURES[feature](space).startswith(("paused", "failed"))
    assert served.exchanges == []


def test_what_may_be_sent_is_sent(space: Workspace, served: ModelServer) -> None:
    space.use(space.profile.with_changes(offline=True, local=True))
    assert FEATURES["chat"](space).startswith("done")
    assert FEATURES["%compact"](space).startswith("done")
    assert len(served.exchanges) == 2


# A host of the local network may be asked, and a proxy elsewhere must not get what is sent to it.
@pytest.mark.slow
@pytest.mark.parametrize("setting", ["offline", "local"])
def test_what_stays_near_goes_through_no_proxy(
    setting: str, served: ModelServer, quick_model: dict[str, str]
) -> None:
    served.answer(refused(407, "Proxy Authentication Required", "text/plain"))
    names = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
    with ModelProcess({**quick_model, **dict.fromkeys(names, served.root)}) as models:

        def send(profile: Profile) -> None:
            request = Request(
                model=profile.model,
                messages=[{"role": "user", "content": "hi"}],
                api_base=profile.api_base,
                api_key="k-12345678",
                timeout=20,
            )
            with pytest.raises(LlmError):
                list(request_gate.send(models, request, profile, UsageTracker(), ModelInfo()))

        far = Profile(model="openai/m", api_base="http://model.invalid/v1")
        send(far)
        assert len(served.exchanges) == 1
        send(Profile(model="openai/m", api_base="http://127.0.0.2:9/v1").with_changes(**{setting: True}))
        assert len(served.exchanges) == 1
        send(far)
        assert len(served.exchanges) == 2, "another profile uses the proxy again"


# -- keys -------------------------------------------------------------------------------------------


def test_keys_of_providers_are_not_sent_to_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", "mk-1234567890abcdef")
    llm = Llm()
    reported = "The key is mk-1234567890abcdef."
    request = Request(
        model="m",
        messages=[
            {"role": "user", "content": reported},
            {
                "role": "user",
                "content": [{"type": "text", "text": reported}, {"type": "image_url", "image_url": {}}],
            },
            {
                "role": "assistant",
                "content": None,
                "reasoning_content": reported,
                "tool_calls": [{"function": {"arguments": reported}}],
            },
        ],
    )
    request_gate.send(llm, request, Profile(), UsageTracker(), ModelInfo())
    [sent] = llm.requests
    assert "mk-1234567890abcdef" not in str(sent)
    assert str(sent).count("[key]") == 4
    assert "mk-1234567890abcdef" in str(request), "what a person has is left as it is"


@pytest.mark.parametrize("field", FIELDS)
def test_signed_reasoning_with_a_key_is_left_out_and_other_is_sent_as_it_is(
    field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", "mk-1234567890abcdef")
    llm = Llm()
    messages = [
        {"role": "assistant", "content": "one", field: [{"text": "é", "signature": "s"}]},
        {"role": "assistant", "content": "two", field: [{"text": "It is mk-1234567890abcdef."}]},
    ]
    request_gate.send(llm, Request(model="m", messages=messages), Profile(), UsageTracker(), ModelInfo())
    [sent] = llm.requests
    assert sent.messages == [messages[0], {"role": "assistant", "content": "two"}]


@pytest.mark.parametrize(
    ("profile", "facts", "window"),
    [
        (Profile(model="test"), ModelInfo(context_window=9000), 9000),
        (Profile(model="test", context_window=5000), ModelInfo(context_window=9000), 5000),
        (Profile(model="test"), ModelInfo(context_window=32_000, window_assumed=True), None),
        (Profile(model="test", context_window=5000), ModelInfo(context_window=4000, learned=True), 4000),
        (Profile(model="test"), ModelInfo(), None),
    ],
)
def test_questions_name_the_same_window_as_the_conversation(
    profile: Profile, facts: ModelInfo, window: int | None
) -> None:
    llm = Llm([Text("one")], [Text("two")])
    conversation = Exchange(llm, str, lambda _: facts, threading.Event())
    list(conversation.ask([Message(role="user", type="message", content="Hi")], profile, ["python"], None))
    list(request_gate.send(llm, write_request(profile, "hello"), profile, UsageTracker(), facts))
    assert [request.context_window for request in llm.requests] == [window, window]


def test_the_gate_refuses_for_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    llm, request = Llm([Text("ok")]), Request(model="m", messages=[{"role": "user", "content": "hi"}])
    with pytest.raises(LlmError, match="offline is on, but gpt-4o runs at the servers of openai"):
        request_gate.send(llm, request, Profile(offline=True), UsageTracker(), ModelInfo())
    with pytest.raises(OverBudget, match="cannot be kept"):
        request_gate.send(llm, request, Profile(max_budget=1.0), UsageTracker(), ModelInfo())
    named = Profile(api_base="http://127.0.0.1:80@evil.example/v1")
    with pytest.raises(LlmError, match="without a name and password"):
        request_gate.send(llm, request, named, UsageTracker(), ModelInfo())
    function = Profile(offline=True, completions=("", "p.py"))
    with pytest.raises(LlmError, match="could contact any server"):
        request_gate.send(llm, request, function, UsageTracker(), ModelInfo())
    of_a_script = FunctionModel(lambda messages: iter(["ok"]))
    with pytest.raises(LlmError, match=r"offline is on, but the function llm\.completions could contact any"):
        request_gate.send(of_a_script, request, Profile(offline=True), UsageTracker(), ModelInfo())
    assert llm.requests == []


def test_a_test_of_a_model_counts_what_was_spent(models: ModelProcess, served: ModelServer) -> None:
    profile = Profile(model="openai/m", api_base=served.base, max_budget=1.0)
    [finding] = model_check.check(models, profile, UsageTracker(), ModelInfo())
    assert (finding.good, finding.setting) == (False, "max_budget")
    assert served.exchanges == []
