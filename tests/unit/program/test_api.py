"""The Python API's settings: each attribute acts, or is refused with a reason."""

import io
import json
import logging
import os
import pickle
import sys
import threading
import types
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from oi_tui import OpenInterpreter
from oi_tui.api import interactive
from oi_tui.api.interpreter import TurnError
from oi_tui.api.settings import ABSENT, ACTING, AT_THE_START, NEEDLESS, REFUSED
from oi_tui.engine.events import ApprovalRequested, Reject
from oi_tui.engine.llm.base import Delta, Finish, Text, ToolCallPiece
from oi_tui.engine.review.permissions import Permission
from oi_tui.engine.settings.profile import Profile, list_settings
from oi_tui.engine.settings.setting import ProfileError, Setting
from tests import programs
from tests.fakes import Llm, call
from tests.setting_values import other_value

#: Every attribute that Open Interpreter documents, or that its profiles set.
DOCUMENTED = """
messages offline auto_run verbose debug max_output safe_mode shrink_images loop loop_message loop_breakers
disable_telemetry anonymous_telemetry in_terminal_interface conversation_history conversation_filename
conversation_history_path os speak_messages system_message custom_instructions user_message_template
always_apply_user_message_template code_output_template empty_code_output_template code_output_sender
sync_computer import_computer_api skills_path import_skills multi_line contribute_conversation
plain_text_display highlight_active_line max_budget model api_key api_base temperature context_window
max_tokens forbidden_commands debug_mode vision function_calling_llm disable_procedures num_procedures
download_open_procedures embed_function gguf_quality
force_task_completion force_task_completion_message force_task_completion_breakers emit_images id
context_mode require_acknowledge llm.offline llm.system_message llm.provider
llm.stream llm.format llm.top_p llm.top_k llm.stop
llm.model llm.temperature llm.context_window llm.max_tokens llm.api_base llm.api_key llm.api_version
llm.supports_functions llm.supports_vision llm.max_budget llm.max_output llm.execution_instructions
llm.completions llm.vision_renderer
computer.languages computer.verbose computer.offline computer.debug computer.emit_images
computer.import_computer_api computer.import_skills computer.max_output computer.system_message
""".split()  # noqa: SIM905 -- sixty lines less
BY_KEY = {setting.key: setting for setting in list_settings()}


@pytest.fixture
def interpreter() -> Iterator[OpenInterpreter]:
    with OpenInterpreter(llm=Llm()) as made:
        yield made


def part(interpreter: OpenInterpreter, path: str) -> tuple[Any, str]:
    """The object that has the attribute, and the attribute's name."""
    group, _, name = path.rpartition(".")
    return (getattr(interpreter, group) if group else interpreter), name


def profile_of(interpreter: OpenInterpreter) -> Profile:
    """What the next turn works by."""
    return interpreter._oi_turns.begin().profile


@pytest.mark.parametrize("path", DOCUMENTED)
def test_every_documented_attribute_acts_or_says_why_not(path: str, interpreter: OpenInterpreter) -> None:
    place, name = part(interpreter, path)
    if path in ("messages", "llm.completions", "computer.languages", "conversation_filename"):
        with pytest.raises(TypeError):
            setattr(place, name, 5)
        return
    key = place._oi_key(name)
    if key in ACTING:
        value = other_value(BY_KEY[key])
        setattr(place, name, value)
        shown = os.path.expanduser(value) if name == "conversation_history_path" else value
        shown = list(value) if key == "loop_breakers" else shown
        assert getattr(place, name) == shown
        assert getattr(profile_of(interpreter), BY_KEY[key].name) == value
        return
    if key in REFUSED:
        with pytest.raises(AttributeError, match="cannot be"):
            setattr(place, name, ["rm"])
    elif key in NEEDLESS:
        setattr(place, name, True)
        assert getattr(place, name) is True
    else:
        with pytest.warns(UserWarning, match="has no effect: "):
            setattr(place, name, "another")
        assert getattr(place, name) == "another"


@pytest.mark.parametrize("setting", list_settings(), ids=lambda item: item.name)
def test_every_setting_of_a_profile_acts_or_is_refused(
    setting: Setting, interpreter: OpenInterpreter
) -> None:
    programs.need(*(("env",) if setting.name == "target" else ()))  # command:env
    place, name = part(interpreter, setting.key)
    if setting.key in ACTING:
        setattr(place, name, other_value(setting))
        assert getattr(profile_of(interpreter), setting.name) == other_value(setting)
    elif setting.key in ABSENT:
        with pytest.warns(UserWarning, match="has no effect"):
            setattr(place, name, "another")
    elif setting.key != "computer.languages":
        with pytest.raises(AttributeError, match=r"has no effect from Python|cannot be|no attribute"):
            setattr(place, name, "another")


@pytest.mark.parametrize("key", sorted(AT_THE_START))
def test_what_languages_start_with_is_refused_once_they_have_started(
    key: str, interpreter: OpenInterpreter
) -> None:
    assert interpreter.computer.runtimes
    place, name = part(interpreter, key)
    # As when the cell of a notebook with the settings is run again.
    setattr(place, name, getattr(place, name))
    with pytest.raises(AttributeError, match="only be changed before the first chat"):
        setattr(place, name, other_value(BY_KEY[key]))


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("ofline", "interpreter.offline"),
        ("auto_rum", "interpreter.auto_run"),
        ("safemode", "interpreter.safe_mode"),
        ("system_mesage", "interpreter.system_message"),
        ("temprature", "interpreter.llm.temperature"),
        ("llm.modle", "interpreter.llm.model"),
        ("llm.auto_run", "interpreter.auto_run"),
        ("computer.langages", "interpreter.computer.languages"),
        ("mesages", "interpreter.messages"),
    ],
)
def test_an_unknown_attribute_is_refused_with_the_nearest(
    path: str, meant: str, interpreter: OpenInterpreter
) -> None:
    place, name = part(interpreter, path)
    for touch in (lambda: setattr(place, name, True), lambda: getattr(place, name)):
        with pytest.raises(AttributeError) as caught:
            touch()
        assert str(caught.value).endswith(f"has no attribute {name!r}; did you mean {meant}?")
    assert name not in vars(place)


@pytest.mark.parametrize(
    ("path", "instead"),
    [
        ("_streaming_chat", "chat(message, stream=True)"),
        ("accumulate", "AsyncInterpreter.input(chunk)"),
        ("output_queue", "AsyncInterpreter.output()"),
        ("stop_event", "stop()"),
        ("llm.interpreter", "OpenInterpreter"),
        ("computer.interpreter", "OpenInterpreter"),
        ("computer.to_dict", "separate computer objects"),
    ],
)
def test_what_is_internal_to_open_interpreter_says_what_to_use(
    path: str, instead: str, interpreter: OpenInterpreter
) -> None:
    place, name = part(interpreter, path)
    with pytest.raises(AttributeError, match=rf"\.{name} is internal to Open Interpreter: ") as caught:
        getattr(place, name)
    assert instead in str(caught.value)


def test_a_group_cannot_be_replaced_and_a_method_only_by_a_function(interpreter: OpenInterpreter) -> None:
    for path in ("llm", "computer", "chat", "computer.run"):
        place, name = part(interpreter, path)
        with pytest.raises(AttributeError, match="cannot be replaced"):
            setattr(place, name, object())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("offline", "yes"),
        ("offline", 1),
        ("offline", None),
        ("safe_mode", "always"),
        ("max_budget", "abc"),
        ("max_budget", float("nan")),
        ("max_budget", float("inf")),
        ("llm.max_budget", -1),
        ("llm.context_window", 5),
        ("llm.context_window", -5),
        ("llm.temperature", "hot"),
        ("llm.model", ""),
        ("llm.api_base", "nowhere"),
        ("max_output", "all"),
        ("loop_breakers", "Done."),
        ("user_message_template", "without it"),
        ("code_output_sender", "nobody"),
    ],
)
def test_a_wrong_value_is_refused_at_once(path: str, value: object, interpreter: OpenInterpreter) -> None:
    place, name = part(interpreter, path)
    before = getattr(place, name)
    with pytest.raises(ProfileError, match="expected"):
        setattr(place, name, value)
    assert getattr(place, name) == before


def test_a_safe_mode_that_is_on_asks(interpreter: OpenInterpreter) -> None:
    # Many scripts have this, and mean it to be careful.
    interpreter.safe_mode = True
    assert interpreter.safe_mode == "ask"
    interpreter.safe_mode = False
    assert interpreter.safe_mode == "off"


def test_the_names_of_the_documentation_of_0_2_are_known(interpreter: OpenInterpreter) -> None:
    interpreter.llm.llm_supports_functions = True
    interpreter.llm.llm_supports_vision = False
    assert (interpreter.llm.supports_functions, interpreter.llm.supports_vision) == (True, False)


def test_settings_are_arguments_too_and_unknown_ones_are_refused() -> None:
    with OpenInterpreter(llm=Llm(), offline=True, max_budget=0.5, messages=[]) as made:
        assert (made.offline, made.llm.max_budget) == (True, 0.5)
    with pytest.raises(TypeError, match=r"did you mean interpreter\.offline\?"):
        OpenInterpreter(ofline=True)
    with (
        pytest.warns(UserWarning, match="separate computer objects"),
        OpenInterpreter(sync_computer=True) as made,
    ):
        assert made.sync_computer is True
    with pytest.raises(ValueError, match="offline: expected true or false"):
        OpenInterpreter(offline="yes")
    with pytest.raises(TypeError, match="must be a name, a path or a Profile"):
        OpenInterpreter({"offline": True})  # type: ignore[arg-type]


def test_a_working_directory_that_was_deleted_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interpreter: OpenInterpreter
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    with pytest.raises(FileNotFoundError, match="the current folder was deleted"):
        interpreter.computer.run("python", "1")


def test_none_for_messages_and_computer_is_the_default() -> None:
    with OpenInterpreter(llm=None, messages=None, computer=None) as made:
        assert made.messages == []
        assert made.computer.languages
    with pytest.raises(TypeError, match=r"computer cannot be replaced"):
        OpenInterpreter(computer=object())


def test_what_is_put_past_the_attributes_counts_or_stops_the_chat(interpreter: OpenInterpreter) -> None:
    vars(interpreter)["offline"] = True
    vars(interpreter.llm).update(max_budget=0.5)
    vars(interpreter.computer)["languages"] = ["python"]
    object.__setattr__(interpreter, "safe_mode", "ask")
    profile = profile_of(interpreter)
    assert (profile.offline, profile.max_budget, profile.safe_mode) == (True, 0.5, "ask")
    assert interpreter.computer.languages == ["python"]
    vars(interpreter)["offline"] = "yes"
    for _ in range(2):
        with pytest.raises(ValueError, match="offline: expected true or false"):
            interpreter.chat("Hi", display=False)
    del vars(interpreter)["offline"]
    vars(interpreter)["ofline"] = True
    with pytest.raises(AttributeError, match=r"did you mean interpreter\.offline\?"):
        interpreter.chat("Hi", display=False)


class Counter(OpenInterpreter):
    """A program's own interpreter, with attributes that come and go."""


@pytest.fixture
def quick_switches() -> Iterator[None]:
    """Threads take turns often, so that each order of their steps comes up."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("quick_switches")
def test_settings_can_be_read_while_a_subclass_sets_attributes_in_another_thread() -> None:
    ended = threading.Event()

    def count(interpreter: Counter) -> None:
        while not ended.is_set():
            for number in range(50):
                setattr(interpreter, f"_count_{number}", number)
                setattr(Counter, f"_total_{number}", number)
            for number in range(50):
                delattr(interpreter, f"_count_{number}")
                delattr(Counter, f"_total_{number}")

    with Counter(llm=Llm()) as interpreter, ThreadPoolExecutor(1) as pool:
        counting = pool.submit(count, interpreter)
        try:
            for _ in range(300):
                assert interpreter.offline is False
        finally:
            ended.set()
        counting.result(60)


@pytest.mark.usefixtures("quick_switches")
def test_each_thread_sees_a_limit_that_was_put_past_the_attributes() -> None:
    with OpenInterpreter(llm=Llm()) as interpreter, ThreadPoolExecutor(4) as pool:
        for _ in range(30):
            interpreter.offline = False
            vars(interpreter)["offline"] = True
            seen = list(pool.map(lambda _: interpreter._oi_settings.profile.offline, range(4)))
            assert seen == [True] * 4


@pytest.mark.usefixtures("quick_switches")
def test_no_change_is_lost_when_threads_change_settings_at_once() -> None:
    with OpenInterpreter(llm=Llm()) as interpreter, ThreadPoolExecutor(2) as pool:
        for number in range(100, 130):
            changes = {"max_output": number, "custom_instructions": str(number)}
            list(pool.map(lambda change: setattr(interpreter, *change), changes.items()))
            assert (interpreter.max_output, interpreter.custom_instructions) == (number, str(number))


def test_a_setting_on_the_class_stops_the_chat(
    interpreter: OpenInterpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OpenInterpreter, "offline", True, raising=False)
    with pytest.raises(TypeError, match=r"OpenInterpreter\.offline is a setting: set it .* on the object"):
        interpreter.chat("Hi", display=False)


def test_offline_sends_nothing_elsewhere() -> None:
    llm = Llm()
    with OpenInterpreter(llm=llm) as made:
        made.offline = True
        with pytest.raises(TurnError, match="offline is on"):
            made.chat("go", display=False)
    assert llm.requests == []


@pytest.mark.parametrize("budget", [0, 0.01])
def test_a_budget_that_is_spent_or_cannot_be_kept_sends_nothing(budget: float) -> None:
    llm = Llm()
    with OpenInterpreter(llm=llm, max_budget=budget) as made, pytest.raises(TurnError, match="budget"):
        made.chat("go", display=False)
    assert llm.requests == []


def test_a_budget_that_a_program_gave_litellm_is_refused_unless_ours_is_as_low(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "litellm", types.SimpleNamespace(max_budget=0.5))
    with OpenInterpreter(model="demo", max_budget=1.0) as interpreter:
        with pytest.raises(ValueError, match=r"Set interpreter\.llm\.max_budget to the same or less"):
            interpreter.chat("hello", display=False)
        interpreter.llm.max_budget = 0.5
        assert interpreter.chat("hello", display=False)


def test_an_interactive_session_keeps_to_a_budget_that_a_program_gave_litellm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sessions: list[float | None] = []

    def note_session(profile: Profile, *_: object) -> interactive.Outcome:
        sessions.append(profile.max_budget)
        return interactive.Outcome(())

    monkeypatch.setitem(sys.modules, "litellm", types.SimpleNamespace(max_budget=0.5))
    monkeypatch.setattr("oi_tui.api.interactive.is_possible", lambda: True)
    monkeypatch.setattr("oi_tui.api.interactive.run", note_session)
    with OpenInterpreter(model="demo") as interpreter:
        with pytest.raises(ValueError, match=r"Set interpreter\.llm\.max_budget to the same or less"):
            interpreter.chat()
        interpreter.llm.max_budget = 0.25
        interpreter.chat()
    with OpenInterpreter(llm=Llm()) as interpreter:
        interpreter.chat()
    assert sessions == [0.25, None]


def test_safe_mode_asks_about_risky_code_although_all_runs() -> None:
    risky, harmless = "import shutil; shutil.rmtree('/nowhere/at/all')", "print(1)"
    for code, asked in ((risky, True), (harmless, False)):
        with OpenInterpreter(llm=Llm([call(code)]), auto_run=True, safe_mode="ask") as made:
            stream = made.chat("go", stream=True, display=False)
            kinds = []
            for chunk in stream:
                kinds.append(chunk["type"])
                if chunk["type"] == "confirmation":
                    stream.close()  # type: ignore[attr-defined]
            assert ("confirmation" in kinds) == asked
            assert ("console" in kinds) != asked


def test_loop_goes_on_until_a_breaker_is_reported() -> None:
    llm = Llm([Text("Working.")], [Text("Over.")])
    with OpenInterpreter(llm=llm, loop=True, loop_breakers=["Over."], loop_message="Go on!") as made:
        made.chat("go", display=False)
    assert len(llm.requests) == 2
    assert "Go on!" in repr(llm.requests[1].messages[-1])


def test_templates_and_instructions_are_in_the_request() -> None:
    llm = Llm()
    with OpenInterpreter(llm=llm) as made:
        made.user_message_template = "<{content}>"
        made.custom_instructions = "Be brief."
        made.system_message += " And polite."
        made.llm.supports_functions = False
        made.llm.execution_instructions = False
        made.chat("go", display=False)
    (request,) = llm.requests
    assert "<go>" in repr(request.messages[-1])
    assert " And polite." in repr(request.messages[0])
    assert "Be brief." in repr(request.messages[0])
    assert Profile().execution_instructions not in str(request.messages[0]["content"])


def test_verbose_prints_each_step_and_no_longer(capsys: pytest.CaptureFixture[str]) -> None:
    with OpenInterpreter(llm=Llm()) as made:
        made.verbose = True
        made.chat("go", display=False)
        assert "request to gpt-4o" in capsys.readouterr().err
        made.verbose = False
        made.chat("go", display=False)
        assert "request to" not in capsys.readouterr().err
    assert logging.getLogger("oi_tui.steps").level == logging.WARNING


@pytest.mark.parametrize("names", [["python"], ["Py"], ("shell", "python")])
def test_languages_may_be_named(names: list[str], interpreter: OpenInterpreter) -> None:
    interpreter.computer.languages = names
    assert {item.name for item in interpreter.computer._declare_languages(())} <= {"python", "shell"}
    if "shell" not in names:
        with pytest.raises(ValueError, match="Unknown language 'shell'"):
            interpreter.computer.run("shell", "echo")


@pytest.mark.parametrize("wrong", ["python", ["cobol"], [5], 5])
def test_languages_that_are_none_are_refused_and_the_others_stay(
    wrong: Any, interpreter: OpenInterpreter
) -> None:
    interpreter.computer.languages = ["python"]
    with pytest.raises(TypeError):
        interpreter.computer.languages = wrong
    assert interpreter.computer.languages == ["python"]


@pytest.mark.parametrize(
    "restrict",
    [
        "c.languages = [l for l in c.languages if l.name != 'Shell']",
        "c.languages = [l for l in c.languages if l.name != 'shell']",
        "c.languages = [l for l in c.languages if l.name.lower() != 'shell']",
        "c.languages = [l for l in c.languages if l.name not in ('Shell', 'HTML')]",
        "c.languages = [l for l in c.languages if l.name not in {'Shell', 'HTML'}]",
        "c.languages = [l for l in c.languages if not l.name == 'SHELL']",
        "c.languages = [l for l in c.languages if 'Shell' != l.name]",
        "c.languages = [l for l in c.languages if 'bash' not in l.aliases]",
        "c.languages = [l for l in c.languages if l.name != 'bash']",
        "c.languages = [l for l in c.languages if l.name in ['py', 'js', 'html']]",
        "c.languages = list({l.name: l for l in c.languages if l.name in {'Python', 'JavaScript'}}.values())",
        "c.languages.remove(next(l for l in c.languages if l.name == 'Shell'))",
        "del c.languages[[l.name for l in c.languages].index('shell')]",
        "c.languages.pop([l.name for l in c.languages].index('Shell'))",
        "c.languages = [l.name for l in c.languages if l.name != 'Shell']",
        "c.terminal.languages = [l for l in c.terminal.languages if l.name in ['Python']]",
    ],
)
def test_a_script_leaves_a_language_out_by_its_name_in_any_case(
    restrict: str, interpreter: OpenInterpreter
) -> None:
    exec(restrict, {"c": interpreter.computer})
    names = [item.name for item in interpreter.computer._declare_languages(())]
    assert "python" in names
    assert "shell" not in names
    with pytest.raises(ValueError, match="Unknown language 'shell'"):
        interpreter.computer.run("shell", "echo")


def test_names_of_languages_are_spelled_as_in_open_interpreter_and_are_plain_data(
    interpreter: OpenInterpreter,
) -> None:
    names = [language.name for language in interpreter.computer.languages]
    assert json.loads(json.dumps(names))[:2] == ["Python", "Shell"]
    assert "JavaScript" in set(names)
    again = pickle.loads(pickle.dumps(names))
    assert again == names
    assert again[1] == "bash"
    assert f"{names[0]}, {names[1]!r}" == "Python, 'Shell'"


def test_a_list_that_was_filtered_down_and_up_again_is_the_languages_of_before(
    interpreter: OpenInterpreter,
) -> None:
    before = interpreter.computer._declare_languages(())
    interpreter.computer.languages = list(interpreter.computer.languages)
    assert interpreter.computer._declare_languages(()) == before


def test_no_languages_at_all_run_nothing(interpreter: OpenInterpreter) -> None:
    interpreter.computer.languages = []
    with pytest.raises(ValueError, match="Unknown language"):
        interpreter.computer.run("python", "1")


def test_the_languages_of_a_profile_are_the_only_ones() -> None:
    with OpenInterpreter(Profile(languages=("py",)), llm=Llm()) as made:
        assert [language.name for language in made.computer.languages] == ["python"]
        with pytest.raises(ValueError, match="Unknown language 'shell'"):
            made.computer.run("shell", "echo")
    with pytest.raises(TypeError, match="unknown language 'cobol'"):
        OpenInterpreter(Profile(languages=("cobol",)), llm=Llm())


def test_what_is_no_message_is_refused(interpreter: OpenInterpreter) -> None:
    with pytest.raises(TypeError, match="messages must be dictionaries"):
        interpreter.messages = ["hello"]  # type: ignore[list-item]
    assert interpreter.messages == []


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ({"role": "king", "type": "message", "content": "x"}, "the role 'king'; the roles are user"),
        ({"role": None, "content": "x"}, "the role None"),
        ({"role": "tool", "content": "x"}, "the role 'tool'"),
        ({"role": "user", "type": "smell", "content": "x"}, "the type 'smell'; the types are message"),
    ],
)
def test_a_message_of_an_unknown_role_or_type_is_refused(
    message: dict[str, Any], says: str, interpreter: OpenInterpreter
) -> None:
    with pytest.raises(TypeError, match=says):
        interpreter.messages = [message]
    with pytest.raises(TypeError, match=says):
        interpreter.chat(message, display=False)
    interpreter.messages.append(message)
    with pytest.raises(TypeError, match=says):
        interpreter.chat("hello", display=False)


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ([Text("Half of"), Finish("length")], "max_tokens"),
        ([Text("Half of"), Finish("content_filter")], "content filter"),
        ([Text("Half of"), Finish("missing")], "may be cut off"),
    ],
)
def test_what_is_wrong_with_a_reply_comes_as_a_notice(reply: list[Delta], says: str) -> None:
    with OpenInterpreter(llm=Llm(reply)) as interpreter:
        chunks = list(interpreter.chat("Go", stream=True, display=False))
        [notice] = [chunk for chunk in chunks if chunk.get("format") == "notice" and "content" in chunk]
        assert says in notice["content"]
        assert (notice["role"], notice["type"]) == ("computer", "message")
        assert [message["content"] for message in interpreter.messages] == ["Go", "Half of"]


def test_calls_that_cannot_be_read_and_messages_left_out_are_noticed() -> None:
    broken = [ToolCallPiece(0, "c1", "execute", "{{{")]
    with OpenInterpreter(llm=Llm(broken, broken, [Text("ok")])) as interpreter:
        interpreter.messages = [
            {"role": role, "type": "message", "content": "x" * 9000}
            for _ in range(20)
            for role in ("user", "assistant")
        ]
        reported = ""
        for _ in range(2):
            chunks = interpreter.chat("Go", stream=True, display=False)
            reported += "".join(
                chunk.get("content", "") for chunk in chunks if chunk.get("format") == "notice"
            )
    assert "32,000 tokens are assumed" in reported
    assert "is shown as received" in reported


class StdinNotImplementedError(NotImplementedError):
    """What a notebook raises that runs without anybody watching."""


def no_standard_input(*_: object) -> str:
    raise StdinNotImplementedError("raw_input was called, but this frontend does not support input requests.")


@pytest.mark.parametrize("display", [True, False])
@pytest.mark.parametrize("stdin", ["unsupported", "ended", "closed", "missing"])
def test_code_that_nobody_can_approve_is_an_error_and_not_a_rejection(
    display: bool, stdin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if stdin == "unsupported":
        monkeypatch.setattr("builtins.input", no_standard_input)
    elif stdin == "missing":
        monkeypatch.setattr("sys.stdin", None)
    else:
        monkeypatch.setattr("sys.stdin", empty := io.StringIO())
        if stdin == "closed":
            empty.close()
    llm = Llm([call("1")], [Text("Then not.")])
    with OpenInterpreter(llm=llm) as interpreter:
        with pytest.raises(TurnError, match="Set auto_run=True"):
            interpreter.chat("Go", display=display)
        code = interpreter.messages[-1]
        assert (code["type"], code["state"], code.get("decision")) == ("code", "skipped", None)
        assert [item["content"] for item in interpreter.chat("And now?", display=False)] == ["Then not."]
    reported = [message["content"] for message in llm.requests[1].messages if message["role"] == "tool"]
    assert reported == ["This code was not run: it needs approval, and nobody could be asked."]


@pytest.mark.parametrize(("answer", "state"), [("n", "rejected"), ("y", "finished")])
def test_an_answer_on_standard_input_counts(answer: str, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{answer}\n"))
    with OpenInterpreter(llm=Llm([call("1")], [Text("Well.")])) as interpreter:
        interpreter.chat("Go")
        [code] = [message for message in interpreter.messages if message["type"] == "code"]
        assert code["state"] == state


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("typed", [None, "Ada"])
def test_a_program_that_asks_for_input_gets_what_is_typed_or_the_end_of_input(
    typed: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(f"{typed}\n" * 2) if typed else io.StringIO())
    program = "name = input('Who? ')\nprint('Hello', name)"
    with OpenInterpreter(llm=Llm([call(program)], [Text("Well.")]), auto_run=True) as interpreter:
        chunks = list(interpreter.chat("Go", stream=True, display=False))
        reported = [chunk for chunk in chunks if chunk.get("format") == "notice" and "content" in chunk]
        output = "".join(
            message["content"] for message in interpreter.messages if message["type"] == "console"
        )
        by_itself = interpreter.computer.run("python", program)
    assert ("Hello Ada" in output, "EOFError" in output) == (bool(typed), not typed)
    assert ["standard input had none" in item["content"] for item in reported] == ([] if typed else [True])
    assert any("Hello Ada" in item["content"] for item in by_itself) == bool(typed)
    assert any("standard input had none" in item["content"] for item in by_itself) == (not typed)


def list_uncovered_code(interpreter: OpenInterpreter) -> list[str]:
    """The code of the next turn that a grant for Python without findings does not cover."""
    session = interpreter._oi_turns.begin()
    session.permissions.add(Permission("unremarkable", "python"))
    questions = []
    for event in session.turn("go"):
        if isinstance(event, ApprovalRequested):
            questions.append(event.message.content)
            event.reply(Reject(stop=True))
    return questions


@pytest.mark.parametrize("before", ["computer.run", "chat", "startup"])
def test_code_that_ran_earlier_counts_for_what_is_asked_later(before: str) -> None:
    changing, harmless = "exec('x = 1')", "print(1)"
    replies = [[call(changing)], []] if before == "chat" else []
    startup = (("py", changing),) if before == "startup" else ()
    with OpenInterpreter(profile=Profile(startup=startup), llm=Llm(*replies, [call(harmless)])) as made:
        if before == "computer.run":
            made.computer.run("py", changing)
        elif before == "chat":
            made.auto_run = True
            made.chat("change", display=False)
            made.auto_run = False
        assert list_uncovered_code(made) == [harmless]


def test_startup_code_counts_on_each_target() -> None:
    startup = (("py", "import shutil\nclean = shutil.rmtree"),)
    with OpenInterpreter(profile=Profile(startup=startup)) as made:
        made.computer.runtimes  # noqa: B018 -- they are created when they are asked for
        earlier = made.computer.earlier
        for place in ("", "ssh:gpu1\non gpu1"):
            earlier.enter(place)
            assert "clean" in earlier.names, place


def test_languages_that_end_keep_nothing_of_earlier_code() -> None:
    with OpenInterpreter(llm=Llm([call("print(1)")])) as made:
        made.computer.run("python", "exec('x = 1')")
        made.computer.terminate()
        assert list_uncovered_code(made) == []
