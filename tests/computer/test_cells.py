"""The computer object in Python cells, and what the model and the person are told of it."""

import builtins
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from oi_tui.actions.base import ConversationActions
from oi_tui.computer import Computer as ComputerObject
from oi_tui.computer import cells as cells_module
from oi_tui.computer.documentation import document_computer
from oi_tui.computer.tool import TOOLS
from oi_tui.computer_api import ComputerApi, QuestionRefusedError
from oi_tui.engine.events import Event
from oi_tui.engine.llm.base import Text, Usage
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.review.scanner import scan_code
from oi_tui.engine.settings.profile import Profile
from oi_tui.messages import Message, Printed, RunEnded
from oi_tui.runtimes import Computer
from oi_tui.runtimes.language import DRIVERS
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.workspace import Workspace
from tests import bare_python
from tests.fakes import Gate, Llm
from tests.processes import wait_until


def answer(text: str, images: Sequence[str]) -> str:
    if text == "no":
        raise QuestionRefusedError("The budget is spent.")
    return f"{text[:20]}, {len(images)} images"


@pytest.fixture
def cells(tmp_path: Path) -> Iterator[Computer]:
    """Python with the object, in an interpreter that has no packages."""
    api = ComputerApi(answer, lambda: None)
    computer = Computer(cwd=tmp_path, declared=api.add_to(LANGUAGES), python=bare_python.interpreter())
    yield computer
    computer.close()
    api.close()


def run_cell(computer: Computer, code: str) -> tuple[str, RunEnded]:
    reports = list(computer.run("python", code))
    text = "".join(report.text for report in reports if isinstance(report, Printed))
    assert isinstance(reports[-1], RunEnded)
    return text.replace("\r\n", "\n").strip(), reports[-1]


def test_cells_have_the_object_and_the_model_answers_them(cells: Computer) -> None:
    assert run_cell(cells, "computer")[0].startswith("<computer: display, mouse")
    assert run_cell(cells, "from oi_tui.computer import computer as c; c is computer")[0] == "True"
    assert run_cell(cells, "print(computer.ai.chat('hello', 'iVBOR'))")[0] == "hello, 1 images"
    _, ended = run_cell(cells, "computer.ai.chat('no')")
    assert ended.state == "failed"
    assert ended.reason == "ComputerError: The budget is spent."


def test_the_object_can_be_shadowed_and_comes_back(cells: Computer) -> None:
    assert (
        run_cell(cells, "computer = 1\nprint(computer)\ndel computer\nprint(type(computer).__name__)")[0]
        == "1\nComputer"
    )


def test_without_the_setting_the_object_is_imported_by_hand(tmp_path: Path) -> None:
    computer = Computer(cwd=tmp_path, python=bare_python.interpreter())
    try:
        assert run_cell(computer, "computer")[1].state == "failed"
        (tmp_path / "found.txt").touch()
        text, _ = run_cell(
            computer, "from oi_tui.computer import computer\nprint(computer.files.search('found'))"
        )
        assert text == "['found.txt']"
    finally:
        computer.close()


def test_the_model_is_reported_every_function(cells: Computer) -> None:
    (note,) = (item.note for item in cells.declared if item.name == "python")
    assert document_computer() in note
    for name in ("computer.mouse.click(", "computer.calendar.create_event(", "computer.display.size  #"):
        assert name in note
    assert all(f"\ncomputer.{tool}: " in note for tool in TOOLS)
    assert all(line.partition("  # ")[2] for line in note.splitlines() if line.startswith("- computer."))


#: The functions of Open Interpreter, with parameters that its documentation uses.
SIGNATURES = """
ai.chat(text, base64) ai.query(text, query, custom_reduce_query) ai.summarize(text)
browser.search(query) browser.fast_search(query) browser.setup(headless) browser.go_to_url(url)
browser.search_google(query, delays) browser.analyze_page(intent) browser.quit()
calendar.get_events(start_date, end_date)
calendar.create_event(title, start_date, end_date, location, notes, calendar)
calendar.delete_event(event_title, start_date, calendar) calendar.get_first_calendar()
clipboard.view() clipboard.copy(text) clipboard.paste()
contacts.get_phone_number(contact_name) contacts.get_email_address(contact_name)
contacts.get_full_names_from_first_name(first_name)
display.info() display.view(show, quadrant, screen, combine_screens, active_app_only)
display.screenshot(screen, show, quadrant, active_app_only, combine_screens)
display.find(description, screenshot) display.find_text(text, screenshot)
display.get_text_as_list_of_lists(screenshot)
docs.search(query, module, paths) files.search(query) files.edit(path, original_text, replacement_text)
keyboard.write(text, interval, delay) keyboard.press(presses, interval) keyboard.hotkey(interval)
keyboard.press_and_release(presses, interval) keyboard.down(key) keyboard.up(key)
mail.get(number, unread) mail.send(to, subject, body, attachments) mail.unread_count()
mouse.scroll(clicks) mouse.position() mouse.move(x, y, icon, text, screenshot)
mouse.click(button, clicks, interval) mouse.double_click(button, interval)
mouse.triple_click(button, interval) mouse.right_click() mouse.down() mouse.up()
os.get_selected_text() os.notify(text) skills.list() skills.run(skill) skills.search(query)
skills.import_skills() sms.send(to, message) sms.get(contact, limit, substring)
terminal.sudo_install(package) terminal.get_language(language) terminal.run(language, code, stream, display)
terminal.stop() terminal.terminate() vision.load(load_moondream, load_easyocr)
vision.ocr(base_64, path, lmc, pil_image) vision.query(query, base_64, path, lmc, pil_image)
"""


def test_names_and_parameters_are_those_of_open_interpreter() -> None:
    import inspect
    import re

    computer = ComputerObject()
    found = re.findall(r"(\w+)\.(\w+)\(([^)]*)\)", SIGNATURES)
    assert len(found) > 60
    for tool, name, parameters in found:
        has = list(inspect.signature(getattr(getattr(computer, tool), name)).parameters)
        assert set(filter(None, parameters.split(", "))) <= set(has), f"{tool}.{name}"


WHOLE = "uses mouse and keyboard: the whole object computer (line {})"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("computer.mouse.click(1, 2)", "uses mouse and keyboard: computer.mouse.click (line 1)"),
        ("computer.keyboard.write('x')", "uses mouse and keyboard: computer.keyboard.write (line 1)"),
        (
            "m = computer.mouse\nm.click()",
            "uses mouse and keyboard: computer.mouse, computer.mouse.click (lines 1, 2)",
        ),
        (
            "from oi_tui.computer import computer as c\nc.display.view()",
            "looks at the screen: computer.display.view (line 2)",
        ),
        ("import oi_tui.computer as o\no.computer.view()", "looks at the screen: computer.view (line 2)"),
        (
            "from computer import mail\nmail.send('a', 'b', 'c')",
            "sends messages: computer.mail.send (line 2)",
        ),
        (
            "c = computer\nc.mouse.click(1, 2)",
            "uses mouse and keyboard: the whole object computer, computer.mouse.click (lines 1, 2)",
        ),
        (
            "from oi_tui.computer import mouse\nmouse.click(1, 2)",
            "uses mouse and keyboard: computer.mouse.click (line 2)",
        ),
        (
            "import builtins\nbuiltins.computer.keyboard.write('x')",
            "uses mouse and keyboard: computer.keyboard.write (line 2)",
        ),
        (
            "from oi_tui.computer.desktop.session import open_session\nopen_session().move(1, 2)",
            "uses mouse and keyboard: computer.desktop.session (line 2)",
        ),
        (
            "getattr(computer, 'mouse').click()",
            "uses mouse and keyboard: the whole object computer, computer.mouse.click (line 1)",
        ),
        ("def f(c): c.mouse.click()\nf(computer)", WHOLE.format(2)),
        ("(c := computer).display.view()", WHOLE.format(1)),
        ("x = [computer]\nx[0].mouse.click()", WHOLE.format(1)),
        ("from oi_tui.computer import *\nmouse.click()", WHOLE.format(1)),
        (
            "globals()['computer'].mouse.click()",
            "uses mouse and keyboard: the whole object computer, computer.mouse.click (line 1)",
        ),
        ("computer.mail.get()", "reads mail, calendar or contacts: computer.mail.get (line 1)"),
        ("computer.clipboard.view()", "uses the clipboard: computer.clipboard.view (line 1)"),
        ("computer.os.get_selected_text()", "uses the clipboard: computer.os.get_selected_text (line 1)"),
        ("computer.calendar.delete_event('x', d)", "deletes: computer.calendar.delete_event (line 1)"),
        (
            "computer.terminal.sudo_install('x')",
            "acts as administrator: computer.terminal.sudo_install (line 1)",
        ),
    ],
)
def test_the_person_sees_what_a_cell_would_touch(tmp_path: Path, code: str, words: str) -> None:
    assert scan_code("python", code, tmp_path).risk_sentences == [words]


@pytest.mark.parametrize(
    "code",
    [
        *("computer.ai.chat('x')", "computer.files.search('x')", "computer.docs.search('x')"),
        *("computer", "print(computer)", "help(computer)", "print(computer.mice)"),
        # Other things with this name.
        "for computer in computers:\n    total += price(computer)",
        "def price(computer):\n    return rows[computer]",
        "rows['computer']",
    ],
)
def test_what_touches_nothing_is_no_risk(tmp_path: Path, code: str) -> None:
    assert scan_code("python", code, tmp_path).risk_sentences == []


def test_questions_of_code_count_for_the_budget_of_the_conversation(own_world: Path) -> None:
    llm = Llm([Text("four"), Usage(10, 1, 0.75)])
    profile = Profile(model="openai/x").with_changes("flag", import_computer_api=True)
    workspace = Workspace(profile, llm=llm)
    try:
        assert workspace.side_requests.ask("2 + 2?", ["data:image/png;base64,xx"]) == "four"
        content = llm.requests[0].messages[0]["content"]
        assert [part["type"] for part in content] == ["text", "image_url"]
        assert workspace.session.usage.spent == 0.75
        workspace.use(profile.with_changes("flag", max_budget=0.5))
        with pytest.raises(QuestionRefusedError, match=r"budget of \$0\.50"):
            workspace.side_requests.ask("again")
        assert len(llm.requests) == 1
    finally:
        workspace.close()


def begin_cell(workspace: Workspace) -> Iterator[Event]:
    """Run a cell that does not end by itself; the events are those that follow."""
    code = "import time\nwhile True: time.sleep(1)"
    events = workspace.session.execution.run(
        Message(role="assistant", type="code", content=code, format="python")
    )
    while workspace.session.execution.running_requests is None:
        next(events)
    return events


#: The longest reply costs two dollars.
PRICED = ModelInfo(max_output=1000, prompt_price=1e-9, completion_price=2e-3)


@pytest.mark.parametrize(
    ("limits", "cost", "answers", "reason"),
    [
        ({"cell_requests": 0}, 0.75, [], "the setting cell_requests is 0"),
        ({"local": True}, 0.75, [], "while the setting local is on"),
        ({"cell_requests": 2}, 0.75, ["four", "four"], "has sent 2 requests to the model, and may not send"),
        ({"cell_cost": 1.0}, 0.75, ["four", "four"], r"has spent \$1\.50 on requests to the model"),
        ({"cell_cost": 3.0}, None, ["four", "four"], r"has spent \$4\.00 on requests to the model"),
    ],
)
def test_questions_of_one_cell_have_the_limits_of_its_requests(
    own_world: Path,
    monkeypatch: pytest.MonkeyPatch,
    limits: dict[str, float],
    cost: float | None,
    answers: list[str],
    reason: str,
) -> None:
    llm = Llm(*[[Text("four"), Usage(10, 1, cost)]] * 5)
    profile = Profile(model="openai/x", api_base="http://127.0.0.1:1/v1").with_changes(
        "flag", import_computer_api=True, **limits
    )
    workspace = Workspace(profile, llm=llm)
    monkeypatch.setattr(workspace.model, "facts", lambda _: PRICED)
    ask = workspace.side_requests.ask
    try:
        events = begin_cell(workspace)
        assert [ask("2 + 2?", from_code=True) for _ in answers] == answers
        with pytest.raises(QuestionRefusedError, match=reason):
            ask("2 + 2?", from_code=True)
        assert len(llm.requests) == len(answers)
        workspace.session.execution.interrupt()
        assert list(events)
        with pytest.raises(QuestionRefusedError, match="No cell is running"):
            ask("2 + 2?", from_code=True)
        assert len(llm.requests) == len(answers)
        assert ask("2 + 2?") == "four", "it is not code that asks"
    finally:
        workspace.close()


def test_questions_that_code_asks_at_once_are_paid_one_by_one_and_end_with_the_cell(own_world: Path) -> None:
    gate, hanging = Gate(), threading.Event()
    llm = Llm([gate, Text("four"), Usage(10, 1, 0.75)], [hanging])
    profile = Profile(model="openai/x").with_changes("flag", import_computer_api=True, cell_cost=1.0)
    workspace = Workspace(profile, llm=llm)

    def ask(text: str) -> str:
        try:
            return workspace.side_requests.ask(text, from_code=True)
        except QuestionRefusedError as error:
            return str(error)

    try:
        events = begin_cell(workspace)
        with ThreadPoolExecutor(4) as pool:
            answers = [pool.submit(ask, "2 + 2?") for _ in range(4)]
            assert wait_until(lambda: llm.requests, 30)
            gate.set()
            assert hanging.wait(30)
            workspace.session.execution.interrupt()
            replies = Counter(answer.result(30) for answer in answers)
        assert list(events)
        assert len(llm.requests) == 2
        assert replies["four"] == 1
        assert replies["This cell was stopped, so it cannot ask the model."] == 2
    finally:
        workspace.close()


class Told:
    """What is said about a change of OS mode."""

    busy = False

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.words: list[str] = []

    def show_notice(self, text: str, *, warning: bool = False) -> None:
        self.words.append(text)

    def switch(self, on: bool | None) -> str:
        ConversationActions.switch_os_mode(self, on)  # type: ignore[arg-type]
        return self.words[-1]


def test_os_mode_is_switched_on_and_off_in_a_conversation(own_world: Path) -> None:
    llm = Llm([Text("one")], [Text("two")])
    workspace = Workspace(Profile(model="openai/x"), llm=llm)
    reported = Told(workspace)
    computer = workspace.computer
    assert isinstance(computer, Computer)

    def notes() -> str:
        list(workspace.session.turn("hello"))
        return str(llm.requests[-1].messages[0]["content"])

    try:
        assert run_cell(computer, "computer")[1].state == "failed"
        assert "OS mode on: the model can use your screen" in reported.switch(True)
        assert run_cell(computer, "print(type(computer).__name__)")[0] == "Computer"
        assert "You control the user's computer" in notes()
        assert reported.switch(True) == "OS mode is already on."
        assert reported.switch(None).startswith("OS mode off. Python restarts")
        assert run_cell(computer, "computer")[1].state == "failed"
        assert "You control the user's computer" not in notes()
    finally:
        workspace.close()


def test_os_mode_says_where_it_finds_no_screen(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    workspace = Workspace(Profile(model="openai/x"), llm=Llm())
    reported = Told(workspace)
    try:
        assert not any("OS mode" in remark for remark in workspace.remarks)
        assert "OS mode finds no screen: neither DISPLAY nor" in reported.switch(True)
        assert any("OS mode finds no screen" in remark for remark in workspace.remarks)
        reported.switch(False)
        monkeypatch.setenv("DISPLAY", ":0")
        assert "finds no screen" not in reported.switch(True)
        assert not any("OS mode" in remark for remark in workspace.remarks)
    finally:
        workspace.close()


def test_os_mode_stays_off_where_there_is_no_screen_or_something_runs(own_world: Path) -> None:
    workspace = Workspace(Profile(model="openai/x"), llm=Llm())
    reported = Told(workspace)
    try:
        reported.busy = True
        assert reported.switch(True) == "Busy. Press esc to stop first."
        reported.busy = False
        workspace.computer.use_sandbox(True)
        assert reported.switch(True).startswith(
            "OS mode stays off: programs in the sandbox cannot use the screen"
        )
        assert not workspace.profile.os
    finally:
        workspace.close()


@pytest.mark.parametrize("version", [(3, 8, 0), (3, 9, 0), sys.version_info])
def test_python_starts_with_the_object_whatever_its_version(
    version: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(DRIVERS / "python" / "objects")
    import python_computer

    monkeypatch.setattr(cells_module, "_show", None)
    monkeypatch.setattr(python_computer, "sys", SimpleNamespace(version_info=version, modules=sys.modules))
    monkeypatch.setattr(builtins, "computer", None, raising=False)
    monkeypatch.setattr(cells_module, "_number", lambda: 0)
    given = python_computer.install(SimpleNamespace(cells=1, shows=SimpleNamespace(show_text=print)))
    if version < (3, 9):
        with pytest.raises(
            AttributeError, match=r"computer\.mouse needs Python 3\.9 or later; this is Python 3\.8"
        ):
            _ = given.mouse
    else:
        assert "mouse" in dir(given)
    # An older Python gets only the folder: the package itself may not be readable for it.
    assert (python_computer.find("oi_tui").loader is None) == (version < (3, 11))
