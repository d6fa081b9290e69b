"""The question can only be answered on purpose."""

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.pilot import Pilot
from textual.widgets import Static

from oi_tui import paths
from oi_tui.engine.events import ApprovalRequested, Reject, Run
from oi_tui.engine.review.permissions import list_offers
from oi_tui.engine.review.scanner import scan_code
from oi_tui.messages import Message
from oi_tui.widgets.approval import held_key, key_guard
from oi_tui.widgets.approval.options import OptionLine
from oi_tui.widgets.approval.panel import ApprovalPanel
from oi_tui.widgets.approval.text import QUICK_REASONS, lay_out, list_risks
from oi_tui.widgets.idle import IdleClock
from oi_tui.widgets.prompt.prompt import Prompt
from tests.fakes import call
from tests.pilot.test_chat import open_chat
from tests.pilot.waiting import until

CODE = "import os\nprint(1)"
OFFERS = list_offers("python", CODE, Path("/work"))


class Question(IdleClock):
    """The panel above a prompt, with the routing and the looks of the chat screen."""

    CSS_PATH = [paths.styles() / "app.tcss"]

    def __init__(self, code: str = CODE) -> None:
        super().__init__()
        self.answers: list[Run | Reject] = []
        self.edits = self.diffs = self.helps = 0
        self.request = ApprovalRequested(
            Message(role="assistant", type="code", format="python", content=code)
        )

    def compose(self) -> ComposeResult:
        yield ApprovalPanel(id="approval")
        yield Prompt(id="prompt")

    def on_mount(self) -> None:
        self.query_one(Prompt).focus()

    def ask(self, edited: str | None = None) -> None:
        code = self.request.message.content
        self.query_one(ApprovalPanel).ask(
            self.request,
            where="Python 3.11",
            code=edited,
            findings=scan_code("python", code, Path("/work")),
            offers=list_offers("python", code, Path("/work")),
        )

    def on_approval_panel_armed(self) -> None:
        if not self.query_one(Prompt).text:
            self.query_one(ApprovalPanel).focus()

    def on_approval_panel_answered(self, event: ApprovalPanel.Answered) -> None:
        self.answers.append(event.value)

    def on_approval_panel_edit_requested(self) -> None:
        self.edits += 1

    def on_approval_panel_diff_requested(self) -> None:
        self.diffs += 1

    def on_approval_panel_help_requested(self) -> None:
        self.helps += 1

    def on_approval_panel_keys_passed_on(self, event: ApprovalPanel.KeysPassedOn) -> None:
        self.query_one(Prompt).focus()
        self.query_one(Prompt).insert(event.text)


@asynccontextmanager
async def open_question(code: str = CODE) -> AsyncIterator[tuple[Question, Pilot[None], ApprovalPanel]]:
    app = Question(code)
    async with app.run_test(size=(80, 24)) as pilot:
        app.ask()
        yield app, pilot, app.query_one(ApprovalPanel)


async def test_a_letter_answers_once_the_keyboard_was_quiet() -> None:
    async with open_question() as (app, pilot, panel):
        await until(pilot, lambda: panel.armed and panel.has_focus)
        await pilot.press("y")
        await until(pilot, lambda: app.answers)
        assert app.answers == [Run(CODE)]
        assert (panel.display, panel.armed) == (False, False)


async def always(pilot: Pilot[None], panel: ApprovalPanel) -> None:
    await until(pilot, lambda: panel.armed and panel.has_focus)
    await pilot.press("a")
    await until(pilot, lambda: panel.stage == "always")


@pytest.mark.parametrize("number", [1, 2, 3, 4])
async def test_always_offers_from_narrow_to_wide(number: int) -> None:
    async with open_question() as (app, pilot, panel):
        await always(pilot, panel)
        shown = [str(line.render()) for line in panel.query(OptionLine) if line.display]
        assert [OFFERS[at].offer in line for at, line in enumerate(shown)] == [True] * len(OFFERS)
        await pilot.press(str(number))
        await until(pilot, lambda: app.answers)
        assert app.answers == [Run(CODE, OFFERS[number - 1])]


async def test_everything_wants_a_word() -> None:
    async with open_question() as (app, pilot, panel):
        await always(pilot, panel)
        await pilot.press("5")
        await until(pilot, lambda: panel.stage == "word")
        await pilot.press(*"yes", "enter")
        await until(pilot, lambda: panel.stage == "asking")
        assert app.answers == []
        await always(pilot, panel)
        await pilot.press("5")
        await until(pilot, lambda: panel.stage == "word")
        await pilot.press(*"auto", "enter")
        await until(pilot, lambda: app.answers)
        assert app.answers == [Run(CODE, OFFERS[-1])]


async def test_escape_leaves_the_offers_and_the_question_waits_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_question() as (app, pilot, panel):
        await always(pilot, panel)
        # From here on the question would wait for ever, so that its waiting is seen however slow the machine.
        monkeypatch.setattr(key_guard, "QUIET", math.inf)
        await pilot.press("escape")
        await until(pilot, lambda: panel.stage == "asking")
        assert not panel.armed
        assert app.answers == []
        assert panel.request is app.request


async def test_a_word_typed_at_the_offers_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_key, "SETTLE", 5.0)
    async with open_question() as (app, pilot, panel):
        await always(pilot, panel)
        await pilot.press(*"2 of them")
        await until(pilot, lambda: app.query_one(Prompt).text == "2 of them")
        assert app.answers == []
        assert panel.stage == "asking"


@pytest.mark.parametrize("number", ["0", "6", "²"])
async def test_a_number_of_no_offer_grants_nothing(number: str) -> None:
    async with open_question() as (app, pilot, panel):
        await always(pilot, panel)
        panel.choose(number)
        await pilot.press(number)
        await until(pilot, lambda: app.query_one(Prompt).text == number)
        assert app.answers == []


async def test_without_offers_nothing_is_offered() -> None:
    async with open_question() as (app, pilot, panel):
        panel.ask(app.request, where="Python 3.11")
        await until(pilot, lambda: panel.armed)
        panel.choose("always")
        assert panel.stage == "asking"


async def test_only_edited_code_has_a_difference_to_show() -> None:
    async with open_question() as (app, pilot, panel):
        await until(pilot, lambda: panel.armed)
        panel.choose("diff")
        panel.choose("help")
        await until(pilot, lambda: app.helps)
        assert (app.diffs, panel.edited) == (0, False)
        app.ask("print(2)")
        assert panel.edited
        panel.choose("diff")
        await until(pilot, lambda: panel.armed)
        panel.choose("diff")
        await until(pilot, lambda: app.diffs)
        assert app.diffs == 1
        panel.choose("run")
        await until(pilot, lambda: app.answers)
        assert app.answers == [Run("print(2)")]


async def test_each_stage_has_its_place_and_only_the_question_takes_answers() -> None:
    async with open_question() as (app, pilot, panel):
        assert panel.place == "asking"
        panel.ask_for_key_again()
        assert (panel.is_answer("y"), panel.is_answer("yes")) == (True, False)
        assert panel.border_subtitle == "stop typing to answer"
        await until(pilot, lambda: panel.armed and panel.has_focus)
        assert panel.border_subtitle == "press the key again"
        await always(pilot, panel)
        assert (panel.place, panel.is_answer("y")) == ("granting", False)
        await pilot.press("5")
        await until(pilot, lambda: panel.stage == "word")
        assert panel.place == "granting"
        await pilot.press("escape")
        await until(pilot, lambda: panel.armed)
        panel.choose("reject")
        assert panel.place == "reason"
        app.ask()
        await until(pilot, lambda: panel.armed and panel.has_focus)
        assert panel.border_subtitle == ""


async def test_the_panel_says_where_the_caret_is_while_code_is_edited() -> None:
    async with open_question() as (app, pilot, panel):
        await until(pilot, lambda: panel.armed)
        height = panel.outer_size.height
        panel.note_caret(7, 8)
        assert "Ln" not in str(panel.border_subtitle)
        panel.note_edit()
        assert (panel.border_subtitle, panel.armed) == ("Ln 1, Col 1", False)
        panel.note_caret(2, 3, "INSERT")
        assert panel.border_subtitle == "INSERT · Ln 2, Col 3"
        panel.note_caret(2, 4)
        assert panel.border_subtitle == "Ln 2, Col 4"
        assert panel.styles.min_height is not None
        assert panel.styles.min_height.value == height
        app.ask("print(2)")
        assert panel.styles.min_height is None


@pytest.mark.parametrize(
    ("rows", "facts"),
    [(24, "1 line · Python 3.11 · writes files: a.txt"), (15, "1 line · writes files: a.txt")],
)
async def test_a_low_terminal_still_names_the_files_that_code_writes(rows: int, facts: str) -> None:
    app = Question("open('a.txt', 'w')")
    async with app.run_test(size=(80, rows)) as pilot:
        app.ask()
        await pilot.pause()
        title = app.query_one("#question", Static)
        assert str(title.content).split("   ", 1)[1] == facts


async def test_an_answer_pressed_in_the_conversation_counts_once_the_panel_is_armed() -> None:
    async with open_question() as (app, pilot, panel):
        panel.press("run")
        await until(pilot, lambda: panel.armed)
        assert app.answers == []
        app.query_one(Prompt).focus()
        panel.press("run")
        await until(pilot, lambda: app.answers)
        assert app.answers == [Run(CODE)]


async def test_a_sentence_that_begins_with_an_answer_pressed_in_the_conversation_is_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(held_key, "SETTLE", 30.0)
    async with open_question() as (app, pilot, panel):
        await until(pilot, lambda: panel.armed)
        app.query_one(Prompt).focus()
        await pilot.pause()
        panel.press("run")
        await pilot.press(*"es but")
        assert app.query_one(Prompt).text == "yes but"
        assert app.answers == []


async def test_what_the_code_does_is_reported_in_words() -> None:
    async with open_question("import shutil\nshutil.rmtree('old')\nopen('a.csv', 'w')") as (_, pilot, panel):
        await pilot.pause()
        assert "2 shutil.rmtree('old')  deletes: old" in str(panel.query_one("#findings").render())
        assert "writes files: a.csv" in str(panel.query_one("#question").render())


async def test_no_finding_is_no_promise() -> None:
    async with open_question("print(1)") as (_, pilot, panel):
        await pilot.pause()
        assert not panel.query_one("#findings").display
        assert "no risks found (no guarantee)" in str(panel.query_one("#question").render())


async def test_a_letter_at_once_goes_to_the_prompt() -> None:
    async with open_question() as (app, pilot, panel):
        await pilot.press("y")
        await pilot.pause(0.2)
        assert app.answers == []
        assert app.query_one(Prompt).text == "y"
        assert panel.display


async def test_somebody_who_types_keeps_the_keyboard() -> None:
    async with open_question() as (app, pilot, panel):
        await pilot.press(*"ye1 an")
        await until(pilot, lambda: panel.armed)
        assert app.query_one(Prompt).has_focus
        await pilot.press("y")
        await pilot.pause(0.2)
        assert app.answers == []
        assert app.query_one(Prompt).text == "ye1 any"


async def test_letters_that_follow_each_other_at_once_are_text() -> None:
    async with open_question() as (app, pilot, panel):
        await until(pilot, lambda: panel.has_focus)
        for character in "yes please":
            app.post_message(events.Key("space" if character == " " else character, character))
        await until(pilot, lambda: app.query_one(Prompt).text == "yes please")
        assert app.answers == []


async def test_a_word_that_begins_with_another_letter_is_text() -> None:
    async with open_question() as (app, pilot, panel):
        await until(pilot, lambda: panel.has_focus)
        await pilot.press(*"why")
        await until(pilot, lambda: app.query_one(Prompt).text == "why")
        assert app.answers == []


async def test_a_sentence_that_begins_with_an_answer_is_text() -> None:
    async with open_question() as (app, pilot, panel):
        await until(pilot, lambda: panel.armed and panel.has_focus)
        for character in "yes but first tell me why":
            app.post_message(events.Key("space" if character == " " else character, character))
            await asyncio.sleep(0.02)
        await until(pilot, lambda: app.query_one(Prompt).text == "yes but first tell me why")
        assert app.answers == []


async def test_the_answer_that_was_pressed_is_marked_until_it_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_key, "SETTLE", 30.0)
    async with open_question() as (app, pilot, panel):
        await until(pilot, lambda: panel.armed and panel.has_focus)
        await pilot.press("y")
        assert panel.query_one("#choice-run").has_class("-pressed")
        await pilot.press("e")
        assert not panel.query(".-pressed")
        assert app.query_one(Prompt).text == "ye"


async def test_a_click_pressed_and_released_after_the_panel_was_armed_answers() -> None:
    async with open_question() as (app, pilot, panel):
        await until(pilot, lambda: panel.armed and panel.has_focus)
        await until(pilot, lambda: panel.query_one("#choice-run").region)
        await pilot.click("#choice-run")
        await until(pilot, lambda: app.answers)
        assert app.answers == [Run(CODE)]


async def test_a_click_pressed_before_the_panel_was_armed_answers_nothing() -> None:
    async with open_question() as (app, pilot, panel):
        await until(pilot, lambda: panel.query_one("#choice-run").region)
        await pilot.mouse_down("#choice-run")
        assert app.last_click > 0
        app.last_click = -math.inf  # even if the press had not delayed the arming
        await until(pilot, lambda: panel.armed)
        await pilot.mouse_up("#choice-run")
        await pilot.pause(0.1)
        assert app.answers == []
        await pilot.click("#choice-run")
        await until(pilot, lambda: app.answers)


async def test_clicking_delays_the_arming(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=time.monotonic())
    monkeypatch.setattr(key_guard, "time", SimpleNamespace(monotonic=lambda: clock.now))
    async with open_question() as (app, _pilot, panel):
        panel.wait_for_quiet()
        for _ in range(40):  # four clicks a second, for ten seconds
            clock.now += 0.25
            app.last_click = clock.now
            panel._arm_when_quiet()
            assert not panel.armed
        for _ in range(6):
            clock.now += 0.1
            panel._arm_when_quiet()
        assert panel.armed


@pytest.mark.parametrize("text", ["y", "y\r\ny\r\n", "a"])
async def test_a_paste_never_answers(text: str) -> None:
    async with open_question() as (app, pilot, panel):
        await until(pilot, lambda: panel.has_focus)
        app.post_message(events.Paste(text))
        await until(pilot, lambda: app.query_one(Prompt).text)
        await pilot.pause(0.2)
        assert app.answers == []
        assert app.query_one(Prompt).text.startswith(text[0])


async def test_enter_and_space_answer_nothing() -> None:
    async with open_question() as (app, pilot, panel):
        await until(pilot, lambda: panel.has_focus)
        await pilot.press("enter")
        await pilot.pause(0.2)
        assert app.answers == []


async def test_a_letter_that_enter_follows_at_once_is_text() -> None:
    async with open_question() as (app, pilot, panel):
        await until(pilot, lambda: panel.armed and panel.has_focus)
        app.post_message(events.Key("y", "y"))
        app.post_message(events.Key("enter", "\r"))
        await until(pilot, lambda: app.query_one(Prompt).text == "y")
        assert app.answers == []


async def test_keys_that_came_while_the_screen_stood_still_answer_nothing() -> None:
    async with open_question() as (app, pilot, panel):
        time.sleep(key_guard.QUIET + 0.2)  # the screen stands still
        await pilot.press("y")
        await until(pilot, lambda: panel.armed)
        assert app.answers == []
        assert app.query_one(Prompt).text == "y"


async def test_rejecting_asks_why_and_takes_a_quick_reason() -> None:
    async with open_question() as (app, pilot, panel):
        await until(pilot, lambda: panel.has_focus)
        await pilot.press("n")
        await until(pilot, lambda: panel.stage == "why")
        await pilot.press("2")
        await pilot.press("enter")
        await until(pilot, lambda: app.answers)
        assert app.answers == [Reject("too risky")]


async def test_rejecting_takes_a_reason_of_ones_own() -> None:
    async with open_question() as (app, pilot, panel):
        await until(pilot, lambda: panel.has_focus)
        await pilot.press("n")
        await until(pilot, lambda: panel.stage == "why")
        await pilot.press(*"no thanks")
        await pilot.press("enter")
        await until(pilot, lambda: app.answers)
        assert app.answers == [Reject("no thanks")]


async def test_escape_at_the_reason_rejects_and_stops() -> None:
    async with open_question() as (app, pilot, panel):
        await until(pilot, lambda: panel.has_focus)
        await pilot.press("n")
        await until(pilot, lambda: panel.stage == "why")
        await pilot.press("escape")
        await until(pilot, lambda: app.answers)
        assert app.answers == [Reject(stop=True)]


async def test_editing_leaves_the_question_open() -> None:
    async with open_question() as (app, pilot, panel):
        await until(pilot, lambda: panel.has_focus)
        await pilot.press("e")
        await until(pilot, lambda: app.edits)
        assert app.answers == []
        assert panel.request is app.request


async def test_an_edited_question_waits_again() -> None:
    async with open_question() as (app, pilot, panel):
        await until(pilot, lambda: panel.has_focus)
        panel.ask(app.request, where="Python 3.11", code="print(2)")
        assert not panel.armed
        await until(pilot, lambda: panel.armed)
        await pilot.press("y")
        await until(pilot, lambda: app.answers)
        assert app.answers == [Run("print(2)")]


async def test_hidden_characters_are_named() -> None:
    async with open_question("x = 1 \u202e# done") as (_, pilot, panel):
        await pilot.pause()
        warning = panel.query_one("#warning")
        assert warning.display
        assert "U+202E RIGHT-TO-LEFT OVERRIDE" in str(warning.render())
        # A high risk is not called free of risks beside that.
        assert "no risks" not in str(panel.query_one("#question").render())


async def test_lines_are_counted_as_python_counts_them() -> None:
    async with open_question("print(1)  # \rprint(2)") as (_, pilot, panel):
        await pilot.pause()
        assert "2 lines" in str(panel.query_one("#question").render())


async def test_look_alike_letters_in_names_are_named() -> None:
    async with open_question("p\u0430ypal = 1") as (_, pilot, panel):
        await pilot.pause()
        warning = panel.query_one("#warning")
        assert warning.display
        assert "Look-alike letters: CYRILLIC SMALL LETTER A in p\u0430ypal" in str(warning.render())


FACTS = ["7 lines", "Python 3.12.1", "/home/ada/sales", "no risks found (no guarantee)"]


@pytest.mark.parametrize("width", range(30, 130, 7))
def test_facts_are_broken_between_two_and_never_in_the_middle(width: int) -> None:
    first, *others = lay_out("Run this python code?", FACTS, width).plain.split("\n")
    title, *beside = first.split("   ")
    assert title == "Run this python code?"
    assert " · ".join([*beside, *others]).split(" · ") == FACTS
    assert max(map(len, (first, *others))) <= width
    assert len(others) <= (0 if width >= 94 else 1 if width >= 68 else 3)


async def test_what_of_the_code_is_out_of_sight_is_reported_beside_its_length() -> None:
    async with open_question() as (_, _pilot, panel):
        panel.note_hidden(46)
        assert "2 lines, 46 more below (page down)" in str(panel.query_one("#question").render())


@pytest.mark.parametrize(
    ("code", "level", "title", "first"),
    [
        ("print(sum(range(10)))", "clear", "Run this python code?", "run"),
        ("open('out.txt', 'w').write('x')", "notes", "Run this python code?", "run"),
        ("import shutil\nshutil.rmtree('data')", "danger", "▲ High risk. Run this python code?", "reject"),
        ("print('a\u202eb')", "danger", "▲ High risk. Run this python code?", "reject"),
        ("print('👩\u200d👩\u200d👧 ❤\ufe0f')", "clear", "Run this python code?", "run"),
    ],
)
async def test_the_panel_has_a_face_for_each_level(code: str, level: str, title: str, first: str) -> None:
    async with open_question(code) as (_, pilot, panel):
        await until(pilot, lambda: panel.armed)
        assert panel.has_class(f"-{level}")
        assert [name for name in ("clear", "notes", "danger") if panel.has_class(f"-{name}")] == [level]
        assert str(panel.query_one("#question").content).startswith(title)
        assert panel.query_one("#answers").children[0].id == f"choice-{first}"


async def test_each_risk_stands_in_a_row_beside_its_code() -> None:
    code = "import shutil, os\n\nshutil.rmtree('data')\nos.system('reboot')\n"
    async with open_question(code) as (_, pilot, panel):
        await until(pilot, lambda: panel.armed)
        rows = str(panel.query_one("#findings").content).split("\n")
        assert rows[0].startswith("3 shutil.rmtree('data')")
        assert rows[0].endswith("deletes: data")
        assert rows[1].startswith("4 os.system('reboot')")


@pytest.mark.parametrize("size", [(40, 12), (44, 14), (60, 20), (80, 24), (200, 50)])
async def test_no_answer_is_cut_off(size: tuple[int, int]) -> None:
    code = "import shutil\n" + "".join(f"shutil.rmtree('folder{n}')\n" for n in range(30))
    app = Question(code)
    async with app.run_test(size=size) as pilot:
        app.ask()
        panel = app.query_one(ApprovalPanel)
        await until(pilot, lambda: panel.armed)
        for word in ("run", "edit", "reject", "always", *(["help"] if size[0] >= 60 else [])):
            choice = panel.query_one(f"#choice-{word}")
            assert choice.region.right <= panel.content_region.right
            assert choice.region in panel.content_region
            assert choice.region in app.screen.region


@pytest.mark.parametrize("size", [(40, 12), (60, 12), (44, 14), (80, 24)])
async def test_no_offer_and_no_quick_reason_is_out_of_sight(size: tuple[int, int]) -> None:
    async with open_chat([call("import shutil\nshutil.rmtree('a')")]) as ui:
        await ui.pilot.resize_terminal(*size)
        await ui.type("go")
        await ui.asked()
        panel = ui.view.approval
        await ui.pilot.press("a")
        await ui.until(lambda: panel.place == "granting")
        offers = [line for line in panel.query(OptionLine) if line.display]
        assert len(offers) == len(panel._question.offers) > 2
        await ui.until(lambda: all(line.region in panel.content_region for line in offers))
        assert panel.region in ui.app.screen.region
        await ui.pilot.press("escape")
        await ui.until(lambda: panel.armed)
        await ui.pilot.press("n")
        await ui.until(lambda: panel.place == "reason")
        await ui.until(lambda: panel.query_one("#why").region in panel.content_region)
        title = panel.query_one("#question")
        assert all(reason in str(title.content) for reason in QUICK_REASONS)
        assert title.region in panel.content_region
        assert panel.region in ui.app.screen.region


async def test_edited_code_runs_once_the_keyboard_is_quiet() -> None:
    async with open_question() as (app, pilot, panel):
        panel.run_when_quiet()
        assert app.answers == []
        assert "runs now" in str(panel.border_subtitle)
        await until(pilot, lambda: app.answers)
        assert app.answers == [Run(CODE)]


async def test_a_key_stops_edited_code_from_running_by_itself() -> None:
    async with open_question() as (app, pilot, panel):
        panel.run_when_quiet()
        await pilot.press("x")
        await until(pilot, lambda: panel.armed)
        assert app.answers == []


async def test_dangerous_code_never_runs_by_itself() -> None:
    async with open_question("import shutil\nshutil.rmtree('data')") as (app, pilot, panel):
        panel.run_when_quiet()
        await until(pilot, lambda: panel.armed)
        assert app.answers == []


async def test_after_a_dangerous_question_the_answers_have_their_usual_order_again() -> None:
    async with open_question("import shutil\nshutil.rmtree('data')") as (app, pilot, panel):

        def order() -> list[str | None]:
            return [choice.id for choice in panel.query("#answers > *")]

        await until(pilot, lambda: order()[:3] == ["choice-reject", "choice-run", "choice-edit"])
        app.request = ApprovalRequested(Message(role="assistant", type="code", format="python", content=CODE))
        app.ask()
        await until(pilot, lambda: order()[:3] == ["choice-run", "choice-edit", "choice-reject"])


@pytest.mark.parametrize("width", [50, 60, 76, 100])
def test_what_a_risky_line_does_is_cut_after_its_code(width: int) -> None:
    code = "sudo systemctl restart nginx --and --a --rather --long --line --of --options\n"
    rows = list_risks(scan_code("shell", code, Path("/work")), code, width, 4).plain.splitlines()
    assert all(cell_len(row) <= width for row in rows)
    if width >= 76:
        assert rows[0].rstrip().endswith("acts as administrator: sudo, changes the system: systemctl")


@pytest.mark.parametrize("width", [36, 56, 76, 116])
def test_what_a_risky_line_does_goes_on_between_words_where_rows_are_left(width: int) -> None:
    code = "rm -rf ./build && curl -fsSL https://example.com/install.sh | sudo sh\n"
    findings = scan_code("shell", code, Path("/work"))
    rows = list_risks(findings, code, width, 8).plain.splitlines()
    column = rows[0].index("acts as administrator")
    assert len(rows) > 1
    assert all(cell_len(row) <= width and row[:column].isspace() for row in rows[1:])
    assert " ".join(row[column:].rstrip() for row in rows) == findings.risks_by_line[0][1]
    assert [row[0] for row in list_risks(findings, code, width, 1).plain.splitlines()] == ["1"]


def test_rows_that_risks_need_go_to_the_gravest_line_and_leave_one_to_each_other_line() -> None:
    code = "cp a ~/.ssh/authorized_keys && systemctl restart b\nsudo rm -rf ./build && curl example.com | sh"
    rows = list_risks(scan_code("shell", code, Path("/work")), code, 60, 3).plain.splitlines()
    assert [row[0] for row in rows] == ["2", " ", "1"]
    assert rows[-1].endswith("…")
