"""Shows a session of a server in plain lines, and answers its questions. Quitting does not end it."""

import time
from collections import deque
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Protocol

from oi_tui.attach.records import RecordReader, find_prompt
from oi_tui.engine.tools import describe_tool, is_tool
from oi_tui.messages import InputRequested, Message
from oi_tui.plain.event_handler import PlainEventHandler
from oi_tui.plain.stdin_reader import StdinReader
from oi_tui.plain.wakeup import Wakeup
from oi_tui.server.hosted_session import compute_code_hash
from oi_tui.terminal.external_editor import edit
from oi_tui.text import clean_line

#: A second ctrl+c within this time quits while nothing runs, in seconds.
_TWICE = 2.0
_QUESTION = "Run this {} code? y yes, n no, e edit{}: "
_TOOL_QUESTION = "Call {}? y yes, n no, e edit{}: "
_ALWAYS = ", a always"
_WHICH = "Run it, and approve which without asking? A number, or enter for none: "
_WHY = "Why not? The model gets your answer; enter for no reason: "
_ELSEWHERE = {
    "run": "Answered elsewhere: the code runs.",
    "edit": "Answered elsewhere: edited code runs.",
    "reject": "Answered elsewhere: rejected.",
    "withdrawn": "The question was withdrawn.",
}


class SessionLink(Protocol):
    """A connection to a session."""

    def pop_records(self) -> list[dict[str, Any]]:
        """Return the records that have come since the last call."""

    def send(self, record: Mapping[str, Any]) -> bool:
        """Send an action. Return False when there is no connection."""


@dataclass(slots=True)
class _Question:
    """The open question, and how far its answer is."""

    id: str
    #: The code as the server asked for it, and as it would run.
    message: Message
    hash: str
    code: str
    #: What can be approved besides, in words.
    offers: tuple[str, ...] = ()
    why: bool = False
    choosing: bool = False
    sent: bool = False

    @property
    def edited(self) -> bool:
        return self.code != self.message.content


class AttachedConversation:
    """Shows the records of a connection, and sends what the person types."""

    def __init__(
        self,
        link: SessionLink,
        handler: PlainEventHandler,
        keyboard: StdinReader,
        alarm: Wakeup,
        *,
        may_approve: bool,
    ) -> None:
        """`may_approve` says that a person at a terminal sees what is written."""
        self._link = link
        self._handler = handler
        self._keyboard = keyboard
        self._alarm = alarm
        self._may_approve = may_approve
        self._records = RecordReader()
        #: Whether the state of the session has come; until then, nothing is read or sent.
        self._known = False
        self._busy = True
        self._question: _Question | None = None
        self._input: InputRequested | None = None
        #: What a program asked for, and was answered; the connection may have lost the answer.
        self._sent_input: InputRequested | None = None
        self._language = ""
        self._echo = ExitStack()
        #: What was typed here; the server sends it to everybody, and it is on this screen already.
        self._said: deque[str] = deque()
        self._prompted = False
        self._interrupted = 0.0
        self._left = False
        #: Why the server ended the connection, "" where the person left.
        self.ended = ""

    def converse(self) -> None:
        """Show and take lines until the person leaves or the session ends."""
        with self._alarm.on_interrupt(), self._echo:
            while not self._is_over():
                self._show_records()
                self._handle_interrupt()
                if self._is_over():
                    break
                if not self._known:
                    self._keyboard.watch()
                    continue
                self._write_prompt()
                try:
                    line = self._keyboard.line()
                except EOFError:
                    self._end_of_input()
                    continue
                if line is None:
                    self._alarm.silence()
                else:
                    self._handle_line(line)

    def _is_over(self) -> bool:
        return self._left or bool(self.ended)

    # -- what comes from the server ---------------------------------------------------------------

    def _show_records(self) -> None:
        for record in self._link.pop_records():
            self._prompted = False
            for event in self._records.events(record):
                if message := find_prompt(event):
                    self._show_message(message)
                else:
                    self._handler.handle_event(event)
            self._follow(record)

    def _show_message(self, message: Message) -> None:
        if message.content in self._said:
            # One before it was not taken, or the connection lost it.
            while self._said.popleft() != message.content:
                pass
        else:
            self._handler.print_notice(f"\nYou, elsewhere: {message.content}")

    def _follow(self, record: Mapping[str, Any]) -> None:
        match record:
            case {"event": "state"}:
                self._follow_state(record)
            case {"event": "turn.started"}:
                self._busy = True
            case {"event": "turn.ended"}:
                self._busy = False
                self._end_input()
                self._question = None
            case {"event": "message.recorded", "message": {"type": "code", "state": "running"} as code}:
                self._language = str(code.get("format") or "code")
            case {"event": "question.asked", "question": {"id": _} as asked}:
                self._ask(asked)
            case {"event": "question.answered", "id": id, "decision": decision}:
                self._close_question(id, str(decision))
            case {"event": "run.reported", "report": "input.requested"}:
                self._ask_input(record)
            case {"event": "run.reported", "report": "input.received" | "ended"}:
                self._end_input()
            case {"event": "error", "message": problem}:
                self._handler.print_notice(str(problem))
                self._allow_answer()
            case {"event": "connection.lost"}:
                self._handler.print_notice("The connection is lost. Connecting again; ctrl+d leaves.")
            case {"event": "connection.back"}:
                self._handler.print_notice("Connected again.")
                self._allow_answer()
                if self._sent_input:
                    self._open_input(self._sent_input)
            case {"event": "connection.ended", "message": reason}:
                self.ended = str(reason)

    def _follow_state(self, record: Mapping[str, Any]) -> None:
        self._known = True
        self._busy = bool(record.get("busy"))
        self._said.clear()
        question, waits = record.get("question"), record.get("input")
        if isinstance(question, Mapping):
            if self._question is None or self._question.id != question.get("id"):
                self._ask(question)
        elif self._question:
            self._close_question(self._question.id, "withdrawn")
        if isinstance(waits, Mapping):
            self._ask_input(waits)
        else:
            self._end_input()

    # -- what the person types --------------------------------------------------------------------

    def _write_prompt(self) -> None:
        """Write what a line would answer now, unless it stands there already."""
        if self._prompted or self._input:
            return
        self._prompted = True
        question = self._question
        if question and not question.sent and self._may_approve:
            self._show_question(question)
        elif not self._busy:
            self._show_unsent()
            self._handler.prompt("> " if self._keyboard.is_terminal else "")

    def _handle_line(self, line: str) -> None:
        self._prompted = False
        self._handler.note_answered()
        question = self._question
        if self._input:
            self._type_line(self._input, line)
        elif question and not question.sent and self._may_approve:
            self._answer(question, line)
        elif self._busy:
            self._handler.print_notice("Not sent: the session is busy. ctrl+c stops it.")
        elif self._keyboard.is_terminal and not self._keyboard.is_settled(line):
            # More lines of a pasted text follow; it is one message.
            self._prompted = True
        else:
            self._say("\n".join([*self._keyboard.early, line]).strip())

    def _say(self, text: str) -> None:
        self._keyboard.early.clear()
        if text and self._send({"do": "say", "content": text}):
            self._said.append(text)

    def _end_of_input(self) -> None:
        """Leave. A question stays open for others, and what runs continues."""
        self._left = True
        self._handler.print_notice("")

    def _handle_interrupt(self) -> None:
        """Stop what is in progress if ctrl+c was pressed; twice while nothing does leaves."""
        if not self._alarm.interrupted:
            return
        self._alarm.interrupted = False
        self._prompted = False
        if not self._known:
            self._left = True
        elif self._busy:
            self._handler.skip_output()
            self._send({"do": "stop"})
        elif time.monotonic() - self._interrupted < _TWICE:
            self._left = True
        else:
            self._interrupted = time.monotonic()
            self._handler.print_notice("\nctrl+c again leaves; the session continues.")

    def _send(self, record: Mapping[str, Any]) -> bool:
        is_sent = self._link.send(record)
        if not is_sent:
            self._handler.print_notice("Not sent: there is no connection just now.")
        return is_sent

    def _show_unsent(self) -> None:
        """Show what was typed while a question came or went; the person has to send it."""
        unsent = " ".join([*self._keyboard.early, self._keyboard.draft]).strip()
        self._keyboard.early.clear()
        self._keyboard.draft = ""
        if unsent:
            self._handler.print_notice(f"Not sent: {clean_line(unsent, 1000)}")

    # -- the question -----------------------------------------------------------------------------

    def _ask(self, asked: Mapping[str, Any]) -> None:
        code, language = str(asked.get("code", "")), str(asked.get("language") or "code")
        message = Message(
            role="assistant", type="code", format=language, content=code, id=str(asked.get("message_id"))
        )
        offers = tuple(clean_line(str(item), 200) for item in asked.get("always") or ())
        self._question = _Question(str(asked["id"]), message, compute_code_hash(code), code, offers)
        self._handler.code(message, code)
        for text in filter(None, (asked.get("note"), asked.get("caution"))):
            self._handler.print_notice(str(text))
        program, folder = str(asked.get("program", "")), str(asked.get("folder", ""))
        self._handler.print_notice(
            f"It would run in {clean_line(program, 200)}, in {clean_line(folder, 300)}."
        )
        if findings := [clean_line(str(item), 200) for item in asked.get("findings") or ()]:
            self._handler.print_notice(f"What it does: {'; '.join(findings)}.")
        if not self._may_approve:
            self._handler.print_notice("It waits for an answer elsewhere, because this is not a terminal.")

    def _show_question(self, question: _Question) -> None:
        """Ask once typing stops; what was typed before is no answer."""
        if not self._keyboard.set_typed_aside():
            return
        language = question.message.format or "code"
        always = _ALWAYS if question.offers and not question.edited else ""
        if question.why:
            self._handler.prompt(_WHY)
        elif question.choosing:
            self._handler.prompt(_WHICH)
        elif is_tool(language):
            self._handler.prompt(_TOOL_QUESTION.format(clean_line(describe_tool(language), 250), always))
        else:
            self._handler.prompt(_QUESTION.format(clean_line(language, 20), always))

    def _answer(self, question: _Question, line: str) -> None:
        if question.why:
            self._decide(question, "reject", reason=line.strip())
        elif not self._keyboard.is_settled(line):
            self._handler.print_notice("Stop typing to answer.")
        elif question.choosing:
            self._choose(question, line.strip())
        else:
            self._handle_answer(question, line.strip().lower())

    def _choose(self, question: _Question, number: str) -> None:
        question.choosing = False
        if number.isdecimal() and 0 < int(number[:6]) <= len(question.offers):
            self._decide(question, "always", grant=int(number))
        elif number:
            self._handler.print_notice(f"Enter a number from 1 to {len(question.offers)}.")

    def _handle_answer(self, question: _Question, word: str) -> None:
        match word:
            case "y" | "yes" if question.edited:
                self._decide(question, "edit", code=question.code)
            case "y" | "yes":
                self._decide(question, "run")
            case "n" | "no":
                question.why = True
            case "a" | "always" if question.offers and not question.edited:
                question.choosing = True
                for number, offer in enumerate(question.offers, 1):
                    self._handler.print_notice(f"  {number}  {offer}")
            case "e" | "edit":
                question.code, problem = edit(question.code, f".{question.message.format or 'txt'}")
                if problem:
                    self._handler.print_notice(problem)
                self._handler.code(question.message, question.code)
            case _:
                self._handler.print_notice("Answer y, n or e, and enter.")

    def _decide(self, question: _Question, decision: str, **more: str | int) -> None:
        answer = {"do": "answer", "question": question.id, "hash": question.hash, "decision": decision}
        question.sent = self._send({**answer, **more})

    def _close_question(self, id: object, decision: str) -> None:
        question = self._question
        if question is None or question.id != id:
            return
        self._question = None
        if not question.sent or decision == "withdrawn":
            self._handler.print_notice(_ELSEWHERE.get(decision, "Answered elsewhere."))
        if self._keyboard.is_terminal:
            # What was begun as an answer must not become a message.
            self._keyboard.set_typed_aside()

    def _allow_answer(self) -> None:
        """Ask again where an answer was refused, or may be lost. The server takes only one."""
        if self._question:
            self._question.sent = False

    # -- input for programs -----------------------------------------------------------------------

    def _ask_input(self, record: Mapping[str, Any]) -> None:
        self._open_input(InputRequested(str(record.get("prompt") or ""), bool(record.get("masked"))))

    def _open_input(self, request: InputRequested) -> None:
        self._end_input()
        if self._keyboard.is_terminal:
            self._keyboard.set_typed_aside()
        self._input = request
        self._handler.ask_input(self._language or "The program", request)
        if request.masked:
            self._echo.enter_context(self._keyboard.hidden())

    def _type_line(self, request: InputRequested, line: str) -> None:
        self._handler.note_input(line, masked=request.masked)
        if self._send({"do": "input", "text": line}):
            self._end_input()
            self._sent_input = request

    def _end_input(self) -> None:
        self._input = self._sent_input = None
        self._echo.close()
