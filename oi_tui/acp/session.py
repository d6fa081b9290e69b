"""One conversation of an editor: its turns, its questions, and its mode."""

import asyncio
import logging
import sys
import threading
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from acp import RequestError, schema

from oi_tui.acp.commands import AcpCommands, list_commands, split_command
from oi_tui.acp.prompts import find_typed_text, make_error, read_messages
from oi_tui.acp.updates import Update, Updates, describe, make_agent_text
from oi_tui.actions.snapshot import explain_refusal_here, find_restoring_code
from oi_tui.engine import rerun
from oi_tui.engine.events import (
    ApprovalRequested,
    Event,
    Noticed,
    RunReported,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from oi_tui.messages import InputReceived, InputRequested, Message, RunEnded
from oi_tui.text import clean_line, escape_controls
from oi_tui.workspace import Workspace

_log = logging.getLogger(__name__)
_OPTIONS = [
    schema.PermissionOption(option_id="run", name="Run", kind="allow_once"),
    schema.PermissionOption(option_id="reject", name="Do not run", kind="reject_once"),
]
#: The modes of a session whose start allowed code to run without asking; others have none.
_ASK, _AUTO = "ask", "auto"
_MODES = [
    schema.SessionMode(id=_ASK, name="Ask", description="Ask before code runs"),
    schema.SessionMode(id=_AUTO, name="Auto-run", description="Run code without asking"),
]
_NO_AUTO = (
    "Code needs approval in this session. To allow auto-run, start oi-tui with -y, or set auto_run in the "
    "profile."
)
_NO_INPUT = "The program asked for {}, which this editor cannot give. It was stopped."
_AGAIN = "Ask the agent to run the cells again."
#: How long a cancelled prompt waits for its code to end before it is answered, in seconds.
_GRACE = 0.1
#: How long the next prompt waits for that code, before its language is ended, and after that, in seconds.
_TIMEOUT = (1.0, 10.0)


class AcpSession:
    """One conversation of an editor. A turn runs in a thread; all else runs in the event loop."""

    def __init__(self, id: str, workspace: Workspace, client: Any, *, can_type: bool = False) -> None:
        """`can_type` says whether the editor can ask for a line that a program waits for."""
        self.id = id
        self.workspace = workspace
        self._client = client
        self._can_type = can_type
        self._loop = asyncio.get_running_loop()
        self._updates = Updates()
        #: What the editor is asked just now.
        self._questions: set[Future[None]] = set()
        self._cancelled = asyncio.Event()
        self._gone = False
        self._prompting = False
        #: Whether the first prompt is to come of a conversation whose languages were restarted.
        self.is_reopened = False
        #: What the first prompt is to say of how the conversation was stored.
        self.notices: tuple[str, ...] = ()
        #: The end of the newest turn, which may come after its prompt was cancelled.
        self._ended: asyncio.Future[TurnEnded] | None = None

    @property
    def modes(self) -> schema.SessionModeState | None:
        """Whether code runs without asking, and that this can be changed; None where the start forbids it."""
        if not self.workspace.profile.auto_run:
            return None
        now = _AUTO if self.workspace.session.auto_run else _ASK
        return schema.SessionModeState(current_mode_id=now, available_modes=_MODES)

    async def set_mode(self, mode: str) -> None:
        """Ask before code runs, or do not, as far as the start allows. Raises RequestError."""
        if mode not in (_ASK, _AUTO):
            raise make_error(f"There is no mode {escape_controls(mode)}. The modes are {_ASK} and {_AUTO}.")
        if mode == _AUTO and not self.workspace.profile.auto_run:
            raise make_error(_NO_AUTO)
        self.workspace.session.auto_run = mode == _AUTO
        await self._send(schema.CurrentModeUpdate(session_update="current_mode_update", current_mode_id=mode))

    def introduce(self) -> None:
        """Tell the editor which commands there are, once it has the answer to its request."""
        # The answer is written before the next task begins.
        self._introducing = self._loop.create_task(self._send(list_commands()))

    @property
    def busy(self) -> bool:
        """Whether a turn is running."""
        return self._prompting or bool(self._ended and not self._ended.done())

    async def prompt(self, blocks: list[Any]) -> schema.PromptResponse:
        """Work on a prompt until the turn ends. Raises RequestError."""
        if self._prompting:
            raise make_error("This session is busy with another prompt. Cancel it first.")
        command = split_command(blocks)
        messages = () if command else read_messages(blocks)
        self._prompting = True
        try:
            return await self._run_turn(
                self._carry_out(*command) if command else self._list_events(messages, find_typed_text(blocks))
            )
        finally:
            self._prompting = False

    async def _run_turn(self, events: Iterator[Event]) -> schema.PromptResponse:
        # Each prompt has its own: the turn of the one before may still have to see that it was cancelled.
        self._cancelled = cancelled = asyncio.Event()
        await self._end_cancelled_turn()
        if cancelled.is_set():
            return schema.PromptResponse(stop_reason="cancelled")
        self._ended = ended = self._loop.create_future()
        arguments = (events, ended, cancelled)
        threading.Thread(target=self._forward_events, args=arguments, daemon=True).start()
        cancelling = asyncio.ensure_future(cancelled.wait())
        try:
            await asyncio.wait((ended, cancelling), return_when=asyncio.FIRST_COMPLETED)
        finally:
            cancelling.cancel()
        if cancelled.is_set():
            # Code may take its time to stop; the editor need not wait for that.
            await asyncio.wait((ended,), timeout=_GRACE)
            return schema.PromptResponse(stop_reason="cancelled")
        return await self._answer_for(ended.result())

    def _list_events(self, messages: Sequence[Message], typed: str) -> Iterator[Event]:
        """Return the events of a turn, after those that bring back what a conversation had in memory."""
        notices, self.notices = self.notices, ()
        for notice in notices:
            yield Noticed(notice, "warning")
        if self.is_reopened:
            self.is_reopened = False
            codes = {} if explain_refusal_here(self.workspace) else find_restoring_code(self.workspace)
            if not codes and (lost := rerun.describe_lost(self.workspace.session.messages, _AGAIN)):
                yield Noticed(lost)
            for language, code in codes.items():
                for event in self.workspace.session.propose(language, code):
                    if not isinstance(event, TurnEnded):
                        yield event
                    elif event.outcome == "interrupted":
                        yield event
                        return
        yield from self.workspace.session.turn(messages, typed=typed)

    def _carry_out(self, name: str, argument: str) -> Iterator[Event]:
        """Return the events of a command."""
        yield from AcpCommands(self.workspace).carry_out(name, argument)

    async def _answer_for(self, end: TurnEnded) -> schema.PromptResponse:
        if end.outcome == "interrupted":
            return schema.PromptResponse(stop_reason="cancelled")
        if end.outcome == "failed":
            raise RequestError(-32603, escape_controls(end.reason or "The turn failed."))
        if end.outcome == "paused" and end.reason:
            await self._send(make_agent_text(escape_controls(end.reason)))
        return schema.PromptResponse(stop_reason="end_turn")

    async def _end_cancelled_turn(self) -> None:
        """Wait until the turn of a cancelled prompt has ended. Raises RequestError."""
        for timeout in _TIMEOUT:
            if self._ended is None or self._ended.done():
                return
            await asyncio.wait((self._ended,), timeout=timeout)
            if not self._ended.done():
                await asyncio.to_thread(self.workspace.session.interrupt)
        if self._ended and not self._ended.done():
            raise make_error("The code of the cancelled prompt is still running. Try again in a moment.")

    async def replay(self) -> None:
        """Send the conversation so far."""
        for event in self.workspace.session.replay():
            for update in self._updates.replay(event):
                await self._send(update)

    async def cancel(self) -> None:
        """Stop the turn; a question that is open is answered with no."""
        if self._prompting:
            self._cancelled.set()
            self._drop_questions()
            await asyncio.to_thread(self.workspace.session.interrupt)

    def close(self) -> None:
        """End everything. Blocks until the languages have ended."""
        self._gone = True
        self.workspace.session.interrupt()
        self._drop_questions()
        if unsaved := self.workspace.close():
            # Standard output belongs to the protocol.
            print(unsaved, file=sys.stderr, flush=True)  # noqa: T201

    def _drop_questions(self) -> None:
        for question in list(self._questions):
            question.cancel()

    def _forward_events(
        self, events: Iterator[Event], ended: "asyncio.Future[TurnEnded]", cancelled: asyncio.Event
    ) -> None:
        """Pass the events of a turn on; the body of the thread."""
        end = TurnEnded("failed", "An internal error ended the turn. The log has details.")
        try:
            for event in events:
                if isinstance(event, TurnStarted) and cancelled.is_set():
                    # The session forgets earlier stops when a turn begins.
                    self.workspace.session.interrupt()
                if isinstance(event, TurnEnded):
                    end = event
                elif not self._gone:
                    self._hand_over(event)
        except Exception:  # noqa: BLE001 -- the end of the thread; it reports
            _log.exception("A turn failed")
            self.workspace.session.interrupt()
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(_settle, ended, end)

    def _hand_over(self, event: Event) -> None:
        for update in (*self._updates.convert(event), *self._convert_usage(event)):
            self._run_in_loop(self._send(update)).result()
        match event:
            case ApprovalRequested():
                self._start_question(self._ask(event))
            case RunReported(_, InputRequested() as request):
                self._start_question(self._ask_input(request))
            case RunReported(_, InputReceived() | RunEnded()):
                self._drop_questions()

    def _start_question(self, question: Coroutine[Any, Any, None]) -> None:
        """Ask the editor. The turn waits for the answer."""
        answer = self._run_in_loop(question)
        self._questions.add(answer)
        answer.add_done_callback(self._questions.discard)

    def _run_in_loop(self, work: Coroutine[Any, Any, None]) -> "Future[None]":
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _send(self, update: Update) -> None:
        if self._gone:
            return
        try:
            await self._client.session_update(session_id=self.id, update=update)
        except (OSError, RequestError):
            self._gone = True
            self.workspace.session.interrupt()

    async def _ask(self, event: ApprovalRequested) -> None:
        """Ask the editor; anything but a clear yes is a no."""
        description = describe(event.message, (escape_controls(event.caution), escape_controls(event.note)))
        answer = None
        try:
            answer = await self._client.request_permission(
                session_id=self.id,
                tool_call=schema.ToolCallUpdate(status="pending", **description),
                options=_OPTIONS,
            )
        except Exception as error:  # noqa: BLE001 -- a client may answer with anything
            _log.warning("The editor did not answer a question: %s", error)
        outcome = answer.outcome if answer else None
        if isinstance(outcome, schema.AllowedOutcome) and outcome.option_id == "run":
            event.run()
        else:
            event.reject(stop=outcome is None or outcome.outcome == "cancelled")

    async def _ask_input(self, request: InputRequested) -> None:
        """Ask the editor for a line that the program waits for; without one, the program is stopped."""
        line = None
        if self._can_type and not request.masked:
            line = await self._ask_for_line(request)
        else:
            await self._send(make_agent_text(_NO_INPUT.format("a password" if request.masked else "input")))
        if line is None:
            await asyncio.to_thread(self.workspace.session.interrupt)
        else:
            await asyncio.to_thread(self.workspace.computer.send_input, f"{line}\n")

    async def _ask_for_line(self, request: InputRequested) -> str | None:
        form = schema.ElicitationSchema(
            properties={"line": schema.ElicitationStringPropertySchema(type="string", title="Input")},
            required=["line"],
        )
        try:
            answer = await self._client.create_elicitation(
                message=f"The program asks for input: {clean_line(request.prompt) or '(no prompt)'}",
                mode=schema.ElicitationFormSessionMode(session_id=self.id, requested_schema=form),
            )
        except Exception as error:  # noqa: BLE001 -- a client may answer with anything
            _log.warning("The editor returned no input: %s", error)
            return None
        accepted = isinstance(answer, schema.AcceptElicitationResponse)
        line = (answer.content or {}).get("line") if accepted else None
        return line.replace("\n", " ") if isinstance(line, str) else None

    def _convert_usage(self, event: Event) -> Iterator[Update]:
        if not isinstance(event, UsageReported):
            return
        session = self.workspace.session
        if not session.window:
            # The protocol wants a size; any number would be a wrong share.
            return
        cost = None if event.cost is None else schema.Cost(amount=session.usage.spent, currency="USD")
        tokens = event.prompt_tokens + event.completion_tokens
        yield schema.UsageUpdate(session_update="usage_update", used=tokens, size=session.window, cost=cost)


def _settle(future: "asyncio.Future[TurnEnded]", end: TurnEnded) -> None:
    if not future.done():
        future.set_result(end)
