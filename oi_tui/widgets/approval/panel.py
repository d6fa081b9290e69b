"""Asks whether code may run. Only a deliberate key answers."""

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.css.query import NoMatches
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input, Static

from oi_tui.engine.events import ApprovalRequested, Reject, Run
from oi_tui.engine.review.findings import Findings
from oi_tui.engine.review.permissions import Permission
from oi_tui.text import one_line, with_line_ends
from oi_tui.widgets.approval.key_guard import LOOK, SETTLE, KeyGuard
from oi_tui.widgets.approval.options import ApprovalOption, Clickable, OptionLine
from oi_tui.widgets.approval.question import Question, Stage
from oi_tui.widgets.approval.text import COLOURS, QUICK_REASONS, about, laid_out, of_stage, risk_lines
from oi_tui.widgets.idle import last_activity, remapped
from oi_tui.widgets.timer import later

if TYPE_CHECKING:
    from asyncio import TimerHandle

#: What a person types to let everything run without a question.
AUTO_WORD = "auto"
#: The most that is ever offered to be granted.
_MOST_OFFERS = 5
#: How many lines with risks are shown from which height of the screen on.
_RISKS_SHOWN = ((36, 8), (24, 4), (16, 2), (0, 1))
#: Below this height of the screen not all facts are shown.
_LOW = 16
#: The answers in fewer words, for panels below a width.
_NARROW = (
    (44, {"reject": "no", "always": "more"}),
    (58, {"always": "always", "help": ""}),
)


_ANSWERS = {
    "run": "Run the code as shown",
    "edit": "Edit it first; then you are asked again",
    "reject": "Do not run it; you can tell the model why",
    "always": "Run it, and choose what to auto-approve",
    "diff": "Show your changes to the model's code",
    "help": "Keys and commands",
}


class ApprovalPanel(Widget, can_focus=True):
    r"""Asks about one piece of code at a time, below the conversation that shows it.

                   e
        ASKING ----------> EDITING --- ask() again ------------------------> ASKING
               \---------> WHY ------- enter, with a reason ---------------> answered: Reject
               |   n       WHY ------- escape -----------------------------> answered: Reject, stop
               \---------> ALWAYS ---- a number ---------------------------> answered: Run, with a grant
               |   a       ALWAYS ---- the number of "everything" ---------> WORD
               |           WORD ------ the word, enter --------------------> answered: Run, with a grant
               |           ALWAYS, WORD ------ escape, or another word ----> ASKING
               \-- y -----------------------------------------------------> answered: Run

    Until the keyboard has been quiet (`armed`), keys go where they went before.
    """

    armed = reactive(False, toggle_class="-armed")
    stage = reactive(Stage.ASKING)

    @dataclass
    class Answered(Message):
        """A person answered the question that the panel showed."""

        request: ApprovalRequested
        value: Run | Reject

    @dataclass
    class Armed(Message):
        """Keys can answer from now on."""

    @dataclass
    class EditRequested(Message):
        """The person wants to change the code first."""

        request: ApprovalRequested

    @dataclass
    class KeysPassedOn(Message):
        """These keys were typed at the panel and answer nothing: they belong into the prompt."""

        text: str

    @dataclass
    class DiffRequested(Message):
        """The person wants to see what they changed."""

        request: ApprovalRequested

    @dataclass
    class HelpRequested(Message):
        """The person wants to know what the answers mean."""

    KEYS: ClassVar[dict[str, str]] = {
        "y": "run",
        "e": "edit",
        "n": "reject",
        "a": "always",
        "d": "diff",
        "question_mark": "help",
    }

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._question: Question | None = None
        #: The place of the caret in the code while it is edited, in words.
        self._caret = ""
        self._in_vi = False
        #: How many lines of the code are out of sight.
        self._below = 0
        self._quiet = KeyGuard()
        self._armed_at = math.inf
        #: When it was asked to run the code as soon as nobody types any more.
        self._runs_at = math.inf
        self._pressed = self._character = ""
        self._too_early = False
        self._settle: TimerHandle | None = None

    @property
    def keys(self) -> dict[str, str]:
        """The current key of each answer."""
        changed = remapped(self.app)
        found: dict[str, str] = {}
        for key, word in self.KEYS.items():
            found |= dict.fromkeys(changed.get(f"answer.{word}", key).split(","), word)
        return found

    @property
    def help_rows(self) -> list[tuple[str, str]]:
        """The keys and what they answer, for help."""
        return [("?" if key == "question_mark" else key, _ANSWERS[word]) for key, word in self.keys.items()]

    @property
    def short_help(self) -> list[tuple[str, str]]:
        """The keys that answer now, with a word for each."""
        rows = [("?" if key == "question_mark" else key, word) for key, word in self.keys.items()]
        return [(key, word) for key, word in rows if word not in ("help", *([] if self.edited else ["diff"]))]

    def compose(self) -> ComposeResult:
        """A question, its answers, and the field that asks why."""
        yield Static(id="question", markup=False)
        yield Static(id="findings", markup=False)
        yield Static(id="warning", markup=False)
        with Horizontal(id="answers"):
            for key, word in self.keys.items():
                yield ApprovalOption("?" if key == "question_mark" else key, word)
        for number in range(1, _MOST_OFFERS + 1):
            yield OptionLine(number)
        yield Input(id="why", select_on_focus=False)

    def on_mount(self) -> None:
        """Look at the clock often enough that the guard is seen to open."""
        self.query_one(Input).cursor_blink = False
        self.set_interval(LOOK, self._arm_when_quiet)

    def on_resize(self) -> None:
        """The words have other room."""
        if self._question:
            self._describe()

    @property
    def request(self) -> ApprovalRequested | None:
        """The question that waits for an answer."""
        return self._question.request if self._question else None

    @property
    def code(self) -> str:
        """The code that `y` runs: exactly what the conversation shows."""
        return self._question.code if self._question else ""

    def ask(
        self,
        request: ApprovalRequested,
        *,
        where: str,
        code: str | None = None,
        findings: Findings | None = None,
        offers: tuple[Permission, ...] = (),
    ) -> None:
        """Show the question. `where` says what would run it, and in which place; `code` differs once edited.

        `findings` are what was recognised in that code, `offers` what may be granted besides, from narrow to
        wide.
        """
        self._question = Question(
            request,
            request.message.content if code is None else code,
            where,
            Findings(readable=False) if findings is None else findings,
            offers[:_MOST_OFFERS],
        )
        self._too_early = False
        self._runs_at = math.inf
        self.styles.min_height = None
        self.wait_for_quiet()
        self.stage = Stage.ASKING
        self.display = True
        self._describe()

    def run_when_quiet(self) -> None:
        """Run the code as shown once keyboard and mouse are quiet, unless somebody types or clicks before.

        Dangerous code is asked for nevertheless.
        """
        dangerous = self._question is None or self._question.level == "danger"
        self._runs_at = math.inf if dangerous else time.monotonic()
        self._describe()

    @property
    def _runs_soon(self) -> bool:
        return last_activity(self.app) <= self._runs_at < math.inf

    def note_edit(self, *, vi: bool = False) -> None:
        """The code is being edited, perhaps with the keys of vi; the panel asks again afterwards."""
        self._in_vi = vi
        if self.app.size.height >= _LOW:
            # The conversation above keeps its place.
            self.styles.min_height = self.outer_size.height
        self._caret = "Ln 1, Col 1"
        self.stage = Stage.EDITING
        self.armed = False
        self._describe()

    def note_caret(self, row: int, column: int, mode: str = "") -> None:
        """Say where the caret is in the edited code, from 1, and in which mode of vi, if any."""
        self._caret = f"{one_line(mode, 40)} · Ln {row}, Col {column}".removeprefix(" · ")
        if self.stage is Stage.EDITING:
            self.border_subtitle = self._state

    def note_hidden(self, below: int) -> None:
        """Say how many lines of the code are below the fold."""
        if below != self._below:
            self._below = below
            if self._question:
                self._describe()

    def dismiss(self) -> None:
        """The question is answered or gone."""
        self._question = None
        self.armed = False
        self.styles.min_height = None
        self.display = False

    def is_answer(self, text: str) -> bool:
        """Whether a text is the key of one answer and nothing else."""
        return text in self.keys and self.stage is Stage.ASKING

    def ask_for_key_again(self) -> None:
        """Say that an answer came before the question could be answered."""
        self._too_early = True
        self._describe()

    def wait_for_quiet(self) -> None:
        """Let no key answer until the keyboard has been quiet again."""
        self._quiet.begin()
        if self.is_running:  # on a slow machine it takes a while until the person sees it
            self.call_after_refresh(self._quiet.begin)
        self.armed = False
        if self._pressed:
            self._pass_on("")

    def choose(self, word: str) -> None:
        """Act on an answer, if the guard is open."""
        question = self._question
        if question is None or not self.armed:
            return
        match self.stage, word:
            case Stage.ASKING, "run":
                self._answer(Run(question.code))
            case Stage.ASKING, "edit":
                self.post_message(self.EditRequested(question.request))
            case Stage.ASKING, "reject":
                self._ask_for(Stage.WHY, "type a reason or a number; enter rejects, esc also ends the turn")
            case Stage.ASKING, "always" if question.offers:
                self.stage = Stage.ALWAYS
                self.focus()
                self._describe()
            case Stage.ASKING, "diff" if question.is_edited:
                self.post_message(self.DiffRequested(question.request))
            case Stage.ASKING, "help":
                self.post_message(self.HelpRequested())
            case Stage.ALWAYS, number if number.isdecimal() and 0 < int(number) <= len(question.offers):
                self._grant(question, question.offers[int(number) - 1])
            case _:
                pass

    def _grant(self, question: Question, grant: Permission) -> None:
        if grant.scope == "everything":
            self._ask_for(Stage.WORD, f"type {AUTO_WORD}, then enter; escape goes back")
        else:
            self._answer(Run(question.code, grant))

    @property
    def edited(self) -> bool:
        """Whether the code differs from the model's."""
        return self._question is not None and self._question.is_edited

    @property
    def place(self) -> str:
        """What the keyboard does here: "asking", "reason" or "granting"."""
        return {Stage.WHY: "reason", Stage.ALWAYS: "granting", Stage.WORD: "granting"}.get(
            self.stage, "asking"
        )

    def _ask_for(self, stage: Stage, hint: str) -> None:
        self.stage = stage
        field = self.query_one("#why", Input)
        field.value = ""
        field.placeholder = hint
        field.focus()
        self._describe()

    def _go_back(self) -> None:
        """To the question, which waits again before a key can answer."""
        self.stage = Stage.ASKING
        self.wait_for_quiet()
        self.focus()
        self._describe()

    def on_key(self, event: events.Key) -> None:
        """A letter answers once it has settled; anything else is passed on to the prompt."""
        if event.key == "escape" and self.stage in (Stage.WHY, Stage.WORD, Stage.ALWAYS):
            event.stop()
            if self.stage is Stage.WHY:
                self._answer(Reject(stop=True))
            else:
                self._go_back()
            return
        if self.stage in (Stage.WHY, Stage.WORD):
            return
        if event.key == "enter":
            event.stop()
            self.wait_for_quiet()
            return
        if not event.is_printable or not event.character:
            return
        event.stop()
        quick = self._settle is not None
        if self.armed and not quick and self._answers(event.key):
            self._begin_answer(event.key, event.character)
            return
        self._pass_on(event.character)

    def press(self, word: str) -> None:
        """Take the key of an answer that was pressed in the conversation; what is typed next comes here."""
        if not self.armed:
            return
        self.screen.set_focus(self)
        key = next(key for key, answer in self.keys.items() if answer == word)
        if self._settle is None and self._answers(key):
            self._begin_answer(key, key if len(key) == 1 else "")

    def _begin_answer(self, key: str, character: str) -> None:
        """Show which answer was pressed, and wait whether the letter stands alone."""
        self._pressed, self._character = key, character
        self._settle = later(self, SETTLE, self._settled)
        self._mark_pressed()

    def _mark_pressed(self) -> None:
        answer = self.keys.get(self._pressed, self._pressed)
        for choice in self.query(Clickable):
            choice.set_class(bool(answer) and choice.word == answer, "-pressed")

    def _answers(self, key: str) -> bool:
        if self.stage is Stage.ALWAYS:
            offers = self._question.offers if self._question else ()
            return key.isdecimal() and 0 < int(key) <= len(offers)
        word = self.keys.get(key)
        return self.stage is Stage.ASKING and word is not None and (word != "diff" or self.edited)

    @on(Clickable.Chosen)
    def _answer_click(self, event: Clickable.Chosen) -> None:
        """Answer by mouse: a click counts when the button went down after the panel was armed."""
        event.stop()
        if event.pressed >= self._armed_at:
            self.choose(event.word)

    def on_paste(self, event: events.Paste) -> None:
        """A paste never answers."""
        event.stop()
        self._pass_on(event.text)

    def on_input_changed(self, event: Input.Changed) -> None:
        """A single digit stands for one of the reasons that are shown."""
        if self.stage is Stage.WHY and event.value in ("1", "2", "3", "4"):
            event.input.value = QUICK_REASONS[int(event.value) - 1]
            event.input.cursor_position = len(event.input.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The reason is given (a blank one is a reason, too), or the word."""
        event.stop()
        if self.stage is Stage.WHY:
            self._answer(Reject(event.value.strip()))
        elif self._question and event.value.strip().lower() == AUTO_WORD:
            self._answer(Run(self._question.code, self._question.offers[-1]))
        else:
            self._go_back()

    def watch_stage(self) -> None:
        """Show the field in its stage only."""
        for stage in (Stage.EDITING, Stage.WHY, Stage.WORD, Stage.ALWAYS):
            self.set_class(self.stage is stage, f"-{stage}")

    def watch_armed(self) -> None:
        """Say whether keys answer."""
        if self._question:
            self._describe()

    def watch_has_focus(self, focused: bool) -> None:
        """Without focus, say how to get it."""
        super().watch_has_focus(focused)
        if self._question:
            self._describe()

    def _settled(self) -> None:
        self._settle = None
        if self.armed and self._question and self._answers(self._pressed):
            pressed, self._pressed = self._pressed, ""
            self._mark_pressed()
            self.choose(self.keys.get(pressed, pressed))
        elif self._pressed:
            self._pass_on("")

    def _pass_on(self, text: str) -> None:
        if self._settle is not None:
            self._settle.cancel()
            self._settle = None
        text = (self._character if self._pressed else "") + text
        self._pressed = ""
        self._mark_pressed()
        self.armed = False
        if self.stage is Stage.ALWAYS:
            self.stage = Stage.ASKING
        self.post_message(self.KeysPassedOn(text))

    def _answer(self, value: Run | Reject) -> None:
        request = self.request
        if request is None:
            return
        self.dismiss()
        self.post_message(self.Answered(request, value))

    def _arm_when_quiet(self) -> None:
        if self.armed or self._question is None or self.stage is not Stage.ASKING:
            self._quiet.look()
        elif self._quiet.lasted(self.app):
            if self._runs_soon:
                self._answer(Run(self._question.code))
                return
            self._armed_at = time.monotonic()
            self.armed = True
            self.post_message(self.Armed())

    def _describe(self) -> None:
        question = self._question
        if question is None:
            return
        try:
            title = self.query_one("#question", Static)
        except NoMatches:
            return
        # Before it was first laid out it has no width yet; then it is the application's but for the frame.
        width = self.content_size.width or self.app.size.width - 4
        title.update(self._described(question, width))
        shown = with_line_ends(question.code, question.request.message.format)
        most = next(most for height, most in _RISKS_SHOWN if self.app.size.height >= height)
        self._show("#findings", risk_lines(question.findings, shown, width, most))
        self._show("#warning", Content("\n").join(Content(f"! {words}") for words in question.warnings))
        self.border_subtitle = self._state
        level = question.level
        for name in COLOURS:
            self.set_class(name == level, f"-{name}")
        self._show_answers(question, width)
        for number, line in enumerate(self.query(OptionLine), 1):
            line.display = self.stage is Stage.ALWAYS and number <= len(question.offers)
            if line.display:
                line.show(one_line(question.offers[number - 1].offer, 100))

    def _described(self, question: Question, width: int) -> Content:
        """Say what is asked, and what is known about it."""
        request, level = question.request, question.level
        if self.stage is Stage.ASKING:
            title, facts = about(
                request, question.code, question.where, question.findings, self._below, level
            )
        else:
            title, facts = of_stage(self.stage, request, vi=self._in_vi)
        if self.app.size.height < _LOW:
            # The answers come first; what else there is to know is in the conversation.
            facts = facts[:1]
        colour = "$text-accent" if self.stage is Stage.EDITING else COLOURS[level]
        return laid_out(title, facts, width, colour)

    @property
    def _state(self) -> str:
        """Whether a key answers now, in words."""
        if self.stage is not Stage.ASKING:
            return self._caret if self.stage is Stage.EDITING else ""
        if self._runs_soon:
            return "runs now; any key stops that"
        if not self.armed:
            return "answers once you stop typing"
        again = "press the key again" if self._too_early else ""
        return again if self.has_focus else "press tab to answer"

    def _show_answers(self, question: Question, width: int) -> None:
        """Show the answers with their keys, in as many words as there is room for."""
        narrow = next((words for least, words in _NARROW if width < least), {})
        for key, word in reversed(self.keys.items()):
            text = "?" if key == "question_mark" else key
            choice = self.query_one(f"#choice-{word}", ApprovalOption)
            choice.say(narrow.get(word, "always …" if word == "always" else word), text)
        self._order_answers(question)
        self.query_one("#choice-diff", ApprovalOption).display = question.is_edited
        self.query_one("#choice-always", ApprovalOption).display = not question.request.asker
        self.query_one("#choice-help", ApprovalOption).display = width >= _NARROW[0][0]

    def _order_answers(self, question: Question) -> None:
        """Put the answer first that the level speaks for, and keep the usual order of the others."""
        answers = self.query_one("#answers", Horizontal)
        wanted = [f"choice-{word}" for word in dict.fromkeys(self.keys.values())]
        if question.level == "danger":
            wanted.sort(key=lambda name: name != "choice-reject")
        if [child.id for child in answers.children] != wanted:
            answers.sort_children(key=lambda child: wanted.index(child.id or ""))

    def _show(self, where: str, words: Content) -> None:
        line = self.query_one(where, Static)
        line.display = bool(words.plain) and self.stage is Stage.ASKING
        line.update(words)
