"""Runs a conversation in plain lines: prints events, asks, and reads answers."""

import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack

from oi_tui import commands
from oi_tui.commands import CommandError
from oi_tui.engine.events import (
    ApprovalRequested,
    Event,
    MessageRecorded,
    Reject,
    Run,
    RunReported,
    TurnEnded,
)
from oi_tui.engine.message_log import SAVES_AGAIN
from oi_tui.engine.review.permissions import Permission
from oi_tui.engine.review.scanner import scan_code
from oi_tui.engine.tools import describe_tool, is_tool
from oi_tui.input.history import PromptHistory
from oi_tui.input.multiline import is_open, remove_quotes
from oi_tui.messages import InputReceived, InputRequested, Message
from oi_tui.plain.commands import PlainCommands
from oi_tui.plain.event_handler import PlainEventHandler
from oi_tui.plain.stdin_reader import StdinReader
from oi_tui.plain.wakeup import Wakeup
from oi_tui.terminal.external_editor import edit
from oi_tui.text import clean_line
from oi_tui.turn_worker import TurnWorker
from oi_tui.workspace import Workspace

#: A second ctrl+c at the prompt within this time quits, in seconds.
TWICE = 2.0
_QUESTION = "Run this {language} code? y yes, n no, e edit, a always for {language}: "
_TOOL_QUESTION = "Call {tool}? y yes, n no, e edit, a always for this tool: "
_NOBODY = "There was no terminal to approve it in. -y runs code without asking."
_LEFT = "The conversation was ended before anybody approved it."
_STOP_TYPING = "Stop typing to answer; your text is kept for the prompt."
_END_OF_INPUT = "\x04"


class PlainConversation:
    """Runs turns in the terminal, or on standard input and output.

    `seen` says that a person can see what is written; without that, or without a terminal to answer at,
    nothing is approved. `refused` is true once code was not run for that reason.
    """

    def __init__(
        self,
        workspace: Workspace,
        handler: PlainEventHandler,
        keyboard: StdinReader,
        alarm: Wakeup,
        *,
        seen: bool,
        reads: bool = True,
    ) -> None:
        self._workspace = workspace
        self.handler = handler
        self.keyboard = keyboard
        self._alarm = alarm
        self._may_approve = seen and keyboard.is_terminal and reads
        self._reads = reads
        self._history = PromptHistory()
        self._sent = self._history.load() if keyboard.is_terminal else []
        self.commands = PlainCommands(self, workspace)
        self.left = False
        self.refused = False
        #: How the last turn ended.
        self.outcome: TurnEnded | None = None
        self._question: ApprovalRequested | None = None
        self._code = ""
        self._why = False
        self._input: InputRequested | None = None
        self._language = ""
        self._echo = ExitStack()

    def converse(self) -> None:
        """Read lines until the person quits or the input ends."""
        interrupted = 0.0
        while not self.left:
            try:
                line = self.keyboard.prompt("> ", self._sent)
            except KeyboardInterrupt:
                self._alarm.interrupted = False
                if time.monotonic() - interrupted < TWICE:
                    return
                interrupted = time.monotonic()
                self.handler.print_notice("\nctrl+c again quits.")
                continue
            if line is None:
                if self.keyboard.is_terminal:
                    self.handler.print_notice("")
                return
            for event in self._workspace.session.report_losses():
                self.handler.handle_event(event)
            try:
                text = self._read_more_lines(line).strip()
            except KeyboardInterrupt:
                self._alarm.interrupted = False
                self.handler.print_notice("\nThe message was not sent.")
                continue
            if text:
                self._dispatch_typed(text)

    def _read_more_lines(self, line: str) -> str:
        """Return a message that three quotation marks begin, with its lines up to the next three.

        The end of input ends it too. KeyboardInterrupt gets through.
        """
        if not self._workspace.profile.multi_line:
            return line
        lines = [line]
        while is_open("\n".join(lines)) and (more := self.keyboard.prompt("... ", self._sent)) is not None:
            lines.append(more)
        return remove_quotes("\n".join(lines))

    def _dispatch_typed(self, text: str) -> None:
        """Carry out a command, which ctrl+c stops, or say a message. A turn sees to ctrl+c by itself."""
        try:
            self.dispatch(text)
        except KeyboardInterrupt:
            if not commands.is_command(text):
                raise
            self._alarm.interrupted = False
            self.handler.print_notice("\nStopped.")

    def dispatch(self, text: str) -> None:
        """Carry out a command, or say a message."""
        if self.keyboard.is_terminal:
            self._history.add(text)
            self._sent.append(text)
        if not commands.is_command(text):
            self.say(text)
            return
        try:
            commands.carry_out(text, self.commands)
        except CommandError as error:
            self.commands.put_back(text)
            self.handler.print_notice(str(error))

    def say(self, text: str | None, *, typed: str | None = None) -> None:
        """Let the model work on it; None lets it go on. `typed`: what the person typed of it, if not all."""
        self.run_turn(self._workspace.session.turn(text, typed=typed))

    def run_turn(self, events: Iterator[Event]) -> None:
        """Handle the events of a turn, and answer what they ask."""
        columns, rows = shutil.get_terminal_size()
        self._workspace.computer.resize(max(20, columns - 2), rows)
        turn = TurnWorker(events, lambda _turn: self._alarm.ring())
        worker = threading.Thread(target=turn.run, name="turn", daemon=True)
        ended: TurnEnded | None = None
        with self._alarm.on_interrupt():
            worker.start()
            try:
                while ended is None:
                    self._wait()
                    self._obey_stop()
                    for event in turn.pop_events():
                        self.handler.handle_event(event)
                        self._follow(event)
                        self._obey_stop()
                        ended = event if isinstance(event, TurnEnded) else None
            except BaseException:
                # Whoever leaves from here closes the session; nobody will take what it still tells.
                turn.abandon()
                self._end_input()
                raise
            worker.join()
        self.outcome = ended
        if ended.outcome != "done" and self._may_approve:
            self.keyboard.keep_as_draft()
        if self._workspace.session.saves_again():
            self.handler.print_notice(SAVES_AGAIN)

    def ask_number(self, question: str, most: int) -> int | None:
        """Ask for a number from 1 to `most`, and return it counted from 0; None for anything else."""
        try:
            answer = self.keyboard.prompt(question) if self.keyboard.is_terminal else None
        except KeyboardInterrupt:
            answer = None
        if answer and answer.strip().isdecimal() and 0 < int(answer.strip()[:6]) <= most:
            return int(answer.strip()[:6]) - 1
        return None

    def ask_yes(self, question: str) -> bool:
        """Ask for a yes, once nobody types; anything else is a no. What was typed before is no answer."""
        if not self.keyboard.is_terminal:
            return False
        line: str | None = None
        with self._alarm.on_interrupt():
            while self.keyboard.set_typed_aside():
                self.handler.prompt(question)
                line = self._read_answer()
                if line is None or self.keyboard.is_settled(line):
                    break
                self.handler.print_notice(_STOP_TYPING)
        self.keyboard.keep_as_draft()
        return (line or "").strip().lower() in ("y", "yes")

    def _read_answer(self) -> str | None:
        """Return the line that is typed now; None after ctrl+c, and at the end of input."""
        try:
            while (line := self.keyboard.line()) is None:
                self._alarm.silence()
                if self._alarm.interrupted:
                    return None
        except EOFError:
            return None
        self.handler.note_answered()
        return line

    # -- while a turn is at work ---------------------------------------------------------------

    def _wait(self) -> None:
        """Wait for an event, for ctrl+c, or for the line that something waits for."""
        if not (self._question or self._input):
            self.keyboard.watch()
            return
        try:
            line = self.keyboard.line()
        except EOFError:
            line = None
        else:
            if line is None:
                self._alarm.silence()
                return
        if self._question:
            self._answer(self._question, line)
        elif self._input:
            self._type(self._input, line)

    def _follow(self, event: Event) -> None:
        match event:
            case MessageRecorded(Message(type="code", state="running") as code):
                self._language = code.format or ""
            case MessageRecorded(Message(type="code", state=state)) if state not in ("queued", "writing"):
                self._end_input()
            case ApprovalRequested():
                self._ask(event)
            case RunReported(_, InputRequested() as request):
                self._ask_input(request)
            case RunReported(_, InputReceived()) | TurnEnded():
                self._end_input()
                self._question = self._question if not isinstance(event, TurnEnded) else None

    def _obey_stop(self) -> None:
        """Stop what is in progress if ctrl+c was pressed; what is printed from now on nobody waits for."""
        if self._alarm.interrupted:
            self._alarm.interrupted = False
            self._question = None
            self.handler.skip_output()
            self._workspace.session.interrupt()

    # -- approval --------------------------------------------------------------------------------

    def _ask(self, request: ApprovalRequested, code: str | None = None) -> None:
        self._code = request.message.content if code is None else code
        self.handler.code(request.message, self._code)
        for text in filter(None, (request.note, request.caution)):
            self.handler.print_notice(text)
        if not self._may_approve:
            self.refused = True
            request.reply(Reject(_NOBODY, stop=True, by_person=False))
            return
        computer = self._workspace.computer
        about = computer.describe(request.message.format or "")
        sandbox = ", in the sandbox" if computer.sandbox else ""
        place = clean_line(computer.where) or f"in {clean_line(str(computer.cwd))}{sandbox}"
        self.handler.print_notice(f"It would run in {clean_line(about)}, {place}.")
        self._print_findings(request.message.format or "")
        self._question, self._why = request, False
        self._show_question(request)

    def _print_findings(self, language: str) -> None:
        """Print what is recognised in the code, as the screen does."""
        computer = self._workspace.computer
        language = computer.resolve(language) or language
        findings = scan_code(language, self._code, computer.cwd, self._workspace.session.earlier)
        lines = [clean_line(words, 200) for words in (*findings.sentences, findings.conclusion) if words]
        self.handler.print_notice(f"What it does: {'; '.join(lines)}.")

    def _show_question(self, request: ApprovalRequested) -> None:
        """Ask once typing stops; what was typed before is no answer."""
        if not self.keyboard.set_typed_aside():
            return
        language = request.message.format or ""
        if is_tool(language):
            self.handler.prompt(_TOOL_QUESTION.format(tool=clean_line(describe_tool(language), 250)))
        else:
            self.handler.prompt(_QUESTION.format(language=clean_line(language, 20)))

    def _answer(self, request: ApprovalRequested, line: str | None) -> None:
        self.handler.note_answered()
        if line is None:
            self._leave(request)
        elif self._why:
            self._decide(request, Reject(line.strip()))
        elif not self.keyboard.is_settled(line):
            self.handler.print_notice(_STOP_TYPING)
            self._show_question(request)
        else:
            self._handle_answer(request, line.strip().lower())

    def _leave(self, request: ApprovalRequested) -> None:
        """End the conversation at a question; only an "n" before it makes this a rejection."""
        self.left = True
        self._decide(request, Reject(stop=True) if self._why else Reject(_LEFT, stop=True, by_person=False))

    def _handle_answer(self, request: ApprovalRequested, word: str) -> None:
        match word:
            case "y" | "yes":
                self._decide(request, Run(self._code))
            case "a" | "always":
                self._decide(request, Run(self._code, self._grant(request)))
            case "n" | "no":
                self._why = True
                self.handler.prompt("Why not? The model gets your answer; enter for no reason: ")
            case "e" | "edit":
                code, problem = edit(self._code, f".{request.message.format or 'txt'}")
                if problem:
                    self.handler.print_notice(problem)
                self._ask(request, code)
            case _:
                self.handler.print_notice("Answer y, n, e or a, and enter.")
                self._show_question(request)

    def _grant(self, request: ApprovalRequested) -> Permission:
        name = request.message.format or ""
        return Permission("language", self._workspace.computer.resolve(name) or name)

    def _decide(self, request: ApprovalRequested, decision: Run | Reject) -> None:
        self._question = None
        request.reply(decision)

    # -- input for programs ----------------------------------------------------------------------

    def _ask_input(self, request: InputRequested) -> None:
        self._end_input()
        if request.masked:  # before the question is seen: a password may be typed at once
            self._echo.enter_context(self.keyboard.hidden())
        if self.keyboard.is_terminal and self._reads and not self.keyboard.set_typed_aside():
            self._end_input()
            return
        self._input = request
        self.handler.ask_input(self._language, request)
        if not self._reads:
            self._type(request, None)

    def _type(self, request: InputRequested, line: str | None) -> None:
        if line is not None:
            self.handler.note_input(line, masked=request.masked)
        self._workspace.session.send_input(_END_OF_INPUT if line is None else f"{line}\n")
        self._end_input()

    def _end_input(self) -> None:
        self._input = None
        self._echo.close()
