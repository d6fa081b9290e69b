"""Asks whether code may run. Only a deliberate key answers."""

import math
import time
from dataclasses import dataclass

from textual import events, on
from textual.app import ComposeResult
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from oi_tui.engine.events import ApprovalRequested, Reject, Run
from oi_tui.engine.review.findings import Findings
from oi_tui.engine.review.permissions import Permission
from oi_tui.text import clean_line
from oi_tui.widgets.approval import answer_keys
from oi_tui.widgets.approval.answer_row import AnswerRow
from oi_tui.widgets.approval.held_key import HeldKey
from oi_tui.widgets.approval.key_guard import LOOK, KeyGuard
from oi_tui.widgets.approval.options import Clickable, OptionLine
from oi_tui.widgets.approval.question import Question, QuestionStage
from oi_tui.widgets.approval.question_text import LOW, QuestionText
from oi_tui.widgets.approval.reason_field import ReasonField
from oi_tui.widgets.approval.text import COLOURS
from oi_tui.widgets.key_hints import press

#: What a person types to let everything run without a question.
AUTO_WORD = "auto"
#: What the field for a reason says while it is empty, and in a narrow terminal.
_HINT = "reason or number (optional); enter rejects, esc rejects and stops"
_SHORT_HINT = "reason (optional); enter rejects"
#: The most that is ever offered to be granted.
_MOST_OFFERS = 5


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
    stage = reactive(QuestionStage.ASKING)

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
    class EditorClicked(Message):
        """The panel was clicked while the code is edited, perhaps on the hint of a key."""

        key: str

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

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._question: Question | None = None
        #: The place of the caret in the code while it is edited, in words.
        self._caret = ""
        self._quiet = KeyGuard()
        #: Ticks while the guard is closed.
        self._clock: Timer | None = None
        self._armed_at = math.inf
        self._too_early = False
        self._held = HeldKey(self._mark_answer, self._use_held_key)
        self._text = QuestionText()
        self._answers = AnswerRow(id="answers")
        self._reason = ReasonField(id="why")

    @property
    def keys(self) -> dict[str, str]:
        """The answer of each key."""
        return answer_keys.map_answers(self.app)

    @property
    def help_rows(self) -> list[tuple[str, str]]:
        """The keys and what they answer, for help."""
        return answer_keys.list_help_rows(self.app)

    @property
    def short_help(self) -> list[tuple[str, str]]:
        """The keys that answer now, with a word for each."""
        return answer_keys.list_help(self.app, edited=self.edited)

    def compose(self) -> ComposeResult:
        """Mount the question, its answers, and the field that asks why."""
        yield from self._text.widgets()
        yield self._answers
        for number in range(1, _MOST_OFFERS + 1):
            yield OptionLine(number)
        yield self._reason

    def on_mount(self) -> None:
        """Prepare the timer that checks whether the guard has opened."""
        self._clock = self.set_interval(LOOK, self._arm_when_quiet, pause=True)

    def on_resize(self) -> None:
        """Fit the texts to the new width."""
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
        self._quiet.cancel_run()
        self.styles.min_height = None
        self.wait_for_quiet()
        self.stage = QuestionStage.ASKING
        self.display = True
        self._describe()

    def run_when_quiet(self) -> None:
        """Run the shown code once keyboard and mouse are quiet, unless a key or click comes before.

        Dangerous code is asked for nevertheless.
        """
        self._quiet.cancel_run()
        if self._question and self._question.level != "danger":
            self._quiet.plan_run()
        self._describe()

    def note_edit(self, *, vi: bool = False) -> None:
        """Show that the code is being edited, perhaps with the keys of vi."""
        self._text.in_vi = vi
        if self.app.size.height >= LOW:
            # The conversation above keeps its place.
            self.styles.min_height = self.outer_size.height
        self._caret = "Ln 1, Col 1"
        self.stage = QuestionStage.EDITING
        self.armed = False
        self._describe()

    def note_caret(self, row: int, column: int, mode: str = "") -> None:
        """Say where the caret is in the edited code, from 1, and in which mode of vi, if any."""
        self._caret = f"{clean_line(mode, 40)} · Ln {row}, Col {column}".removeprefix(" · ")
        if self.stage is QuestionStage.EDITING:
            self.border_subtitle = self._state

    def note_hidden(self, below: int) -> None:
        """Say how many lines of the code are below the fold."""
        if below != self._text.hidden_lines:
            self._text.hidden_lines = below
            if self._question:
                self._describe()

    def dismiss(self) -> None:
        """Hide the panel: the question is answered or gone."""
        self._question = None
        self.armed = False
        self.display = False

    def is_answer(self, text: str) -> bool:
        """Return whether a text is the key of one answer and nothing else."""
        return text in self.keys and self.stage is QuestionStage.ASKING

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
        self._watch_clock()
        if self._held.key:
            self._pass_on("")

    def take_keys_back(self) -> None:
        """Take the keyboard again that was elsewhere; no key answers before it has been quiet."""
        if self.stage in (QuestionStage.ASKING, QuestionStage.ALWAYS):
            self._go_back()

    def choose(self, word: str) -> None:
        """Act on an answer, if the guard is open."""
        question = self._question
        if question is None or not self.armed or not question.accepts(self.stage, word):
            return
        match word:
            case "run":
                self._answer(Run(question.code))
            case "edit":
                self.post_message(self.EditRequested(question.request))
            case "reject":
                self._ask_for(
                    QuestionStage.WHY, _HINT if self.content_size.width > len(_HINT) else _SHORT_HINT
                )
            case "always" if question.offers:
                self.stage = QuestionStage.ALWAYS
                self.focus()
                self._describe()
            case "diff":
                self.post_message(self.DiffRequested(question.request))
            case "help":
                self.post_message(self.HelpRequested())
            case number if number.isdecimal():
                self._grant(question, question.offers[int(number) - 1])

    def _grant(self, question: Question, grant: Permission) -> None:
        if grant.scope == "everything":
            self._ask_for(QuestionStage.WORD, f"type {AUTO_WORD}, then enter; esc goes back")
        else:
            self._answer(Run(question.code, grant))

    @property
    def edited(self) -> bool:
        """Whether the code differs from the model's."""
        return self._question is not None and self._question.is_edited

    @property
    def place(self) -> str:
        """What the keyboard does here: "asking", "reason" or "granting"."""
        return {
            QuestionStage.WHY: "reason",
            QuestionStage.ALWAYS: "granting",
            QuestionStage.WORD: "granting",
        }.get(self.stage, "asking")

    def _ask_for(self, stage: QuestionStage, hint: str) -> None:
        self.stage = stage
        self._reason.ask(hint, quick_reasons=stage is QuestionStage.WHY)
        self._describe()

    def _go_back(self) -> None:
        """Go back to the question, which waits again before a key can answer."""
        self.stage = QuestionStage.ASKING
        self.wait_for_quiet()
        self.focus()
        self._describe()

    def on_key(self, event: events.Key) -> None:
        """Answer with a letter once it has settled; pass anything else on to the prompt."""
        if event.key == "escape" and self.stage in (
            QuestionStage.WHY,
            QuestionStage.WORD,
            QuestionStage.ALWAYS,
        ):
            event.stop()
            if self.stage is QuestionStage.WHY:
                self._answer(Reject(stop=True))
            else:
                self._go_back()
            return
        if event.key == "escape" and self._held.is_waiting:
            # The letter before it did not stand alone: somebody types, and stops the turn.
            self._pass_on("")
            return
        if self.stage in (QuestionStage.WHY, QuestionStage.WORD):
            return
        if event.key == "enter":
            event.stop()
            self.wait_for_quiet()
            return
        if not event.is_printable or not event.character:
            return
        event.stop()
        if self.armed and not self._held.is_waiting and self._find_answer(event.key):
            self._held.hold(event.key, event.character, self)
            return
        self._pass_on(event.character)

    def press(self, word: str) -> None:
        """Take the key of an answer that was pressed in the conversation; what is typed next comes here."""
        if not self.armed:
            return
        self.screen.set_focus(self)
        key = next(key for key, answer in self.keys.items() if answer == word)
        if not self._held.is_waiting and self._find_answer(key):
            self._held.hold(key, key if len(key) == 1 else "", self)

    def _mark_answer(self, key: str) -> None:
        """Show which answer was pressed, until it is clear whether the key stands alone."""
        pressed = self._find_answer(key)
        for option in self.query(Clickable):
            option.set_class(bool(pressed) and option.word == pressed, "-pressed")

    def _find_answer(self, key: str) -> str:
        """Return the answer that a key gives now; "" for none."""
        answer = key if self.stage is QuestionStage.ALWAYS else self.keys.get(key, "")
        return answer if self._question and self._question.accepts(self.stage, answer) else ""

    @on(Clickable.Chosen)
    def _answer_click(self, event: Clickable.Chosen) -> None:
        """Answer by mouse: a click counts when the button went down after the panel was armed."""
        event.stop()
        if event.pressed >= self._armed_at:
            self.choose(event.word)

    def focus_on_click(self) -> bool:
        """Leave the keyboard where it is needed while code is edited, or a line typed."""
        return self.stage in (QuestionStage.ASKING, QuestionStage.ALWAYS)

    def on_click(self, event: events.Click) -> None:
        """Press the key of the hint that was clicked, where it acts."""
        if self.stage is QuestionStage.ASKING:
            return
        key = self._text.find_clicked_key(event)
        if self.stage is QuestionStage.EDITING:
            self.post_message(self.EditorClicked(key))
            return
        if self.stage is not QuestionStage.ALWAYS:
            self._reason.focus()
        if key:
            press(self.app, key)

    def on_paste(self, event: events.Paste) -> None:
        """Pass a paste on to the prompt: it never answers."""
        event.stop()
        self._pass_on(event.text)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the reason (it may be blank), or the word that approves everything."""
        event.stop()
        if self.stage is QuestionStage.WHY:
            self._answer(Reject(event.value.strip()))
        elif self._question and event.value.strip().lower() == AUTO_WORD:
            self._answer(Run(self._question.code, self._question.offers[-1]))
        else:
            self._go_back()

    def watch_stage(self) -> None:
        """Show the field in its stage only."""
        self._watch_clock()
        for stage in (QuestionStage.EDITING, QuestionStage.WHY, QuestionStage.WORD, QuestionStage.ALWAYS):
            self.set_class(self.stage is stage, f"-{stage}")

    def watch_armed(self) -> None:
        """Say whether keys answer."""
        self._watch_clock()
        if self._question:
            self._describe()

    def watch_has_focus(self, focused: bool) -> None:
        """Without focus, say how to get it."""
        super().watch_has_focus(focused)
        if self._question:
            self._describe()

    def _use_held_key(self) -> None:
        key = self._held.key
        answer = self._find_answer(key)
        if self.armed and answer:
            self._held.release()
            self.choose(answer)
        elif key:
            self._pass_on("")

    def _pass_on(self, text: str) -> None:
        text = self._held.release() + text
        self.armed = self._too_early = False
        if self.stage is QuestionStage.ALWAYS:
            self.stage = QuestionStage.ASKING
        self.post_message(self.KeysPassedOn(text))

    def _answer(self, value: Run | Reject) -> None:
        request = self.request
        if request is None:
            return
        self.dismiss()
        self.post_message(self.Answered(request, value))

    @property
    def _is_waiting(self) -> bool:
        """Whether there is a question that no key answers yet."""
        return not self.armed and self._question is not None and self.stage is QuestionStage.ASKING

    def _watch_clock(self) -> None:
        if self._clock and self._is_waiting:
            self._clock.reset()

    def _arm_when_quiet(self) -> None:
        if not self._is_waiting or self._question is None:
            if self._clock:
                self._clock.pause()
        elif self._quiet.has_lasted(self.app):
            if self._quiet.plans_run(self.app):
                self._answer(Run(self._question.code))
                return
            self._armed_at = time.monotonic()
            self.armed = True
            self.post_message(self.Armed())

    def _describe(self) -> None:
        question = self._question
        if question is None or not self._answers.children:
            return
        # Before it was first laid out it has no width yet; then it is the application's but for the frame.
        width = self.content_size.width or self.app.size.width - 4
        self._text.show(question, self.stage, width, self.app.size)
        self._answers.show(question, width)
        self.set_class(self.app.size.height < LOW, "-low")
        self.border_subtitle = self._state
        for level in COLOURS:
            self.set_class(level == question.level, f"-{level}")
        for number, line in enumerate(self.query(OptionLine), 1):
            line.display = self.stage is QuestionStage.ALWAYS and number <= len(question.offers)
            if line.display:
                line.show(clean_line(question.offers[number - 1].offer, 100))

    @property
    def _state(self) -> str:
        """Whether a key answers now, in words."""
        if self.stage is not QuestionStage.ASKING:
            return self._caret if self.stage is QuestionStage.EDITING else ""
        if self._quiet.plans_run(self.app):
            return "runs now; any key stops that"
        if not self.armed:
            return "stop typing to answer"
        again = "press the key again" if self._too_early else ""
        return again if self.has_focus else "press tab to answer"
