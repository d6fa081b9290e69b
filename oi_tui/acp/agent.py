"""The agent: sessions of the application, driven by an editor."""

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from acp import PROTOCOL_VERSION, RequestError, schema

from oi_tui.acp.prompts import messages_of, refused
from oi_tui.acp.updates import Update, Updates, agent_text, describe
from oi_tui.actions.snapshot import find_restoring_code, why_not_here
from oi_tui.engine import rerun
from oi_tui.engine.events import ApprovalRequested, Event, Noticed, RunReported, TurnEnded, UsageReported
from oi_tui.engine.settings.setting import ProfileError
from oi_tui.engine.storage.store import NoConversationError, StoreError
from oi_tui.messages import InputReceived, InputRequested, Message, RunEnded
from oi_tui.runtimes.remote import left_targets
from oi_tui.text import one_line, visible
from oi_tui.version import __version__
from oi_tui.workspace import Workspace

_log = logging.getLogger(__name__)
_OPTIONS = [
    schema.PermissionOption(option_id="run", name="Run", kind="allow_once"),
    schema.PermissionOption(option_id="reject", name="Do not run", kind="reject_once"),
]
_NO_INPUT = "The program asked for {}, which this editor cannot give. It was stopped."
_AGAIN = "Ask the agent to run the cells again."
#: The protocol's code for what is not there.
_NOT_FOUND = -32002
#: How long a cancelled prompt waits for its code to end before it is answered, in seconds.
_GRACE = 0.1
#: How long the next prompt waits for that code, before its language is ended, and after that, in seconds.
_PATIENCE = (1.0, 10.0)


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
        #: The end of the newest turn, which may come after its prompt was cancelled.
        self._ended: asyncio.Future[TurnEnded] | None = None

    @property
    def busy(self) -> bool:
        """Whether a turn goes on."""
        return self._prompting or bool(self._ended and not self._ended.done())

    async def prompt(self, blocks: list[Any]) -> schema.PromptResponse:
        """Work on a prompt until the turn ends. Raises RequestError."""
        if self._prompting:
            raise refused("This session is busy with another prompt. Cancel it first.")
        messages = messages_of(blocks)
        self._prompting = True
        try:
            return await self._work_on(messages)
        finally:
            self._prompting = False

    async def _work_on(self, messages: Sequence[Message]) -> schema.PromptResponse:
        self._cancelled.clear()
        await self._end_cancelled_turn()
        if self._cancelled.is_set():
            return schema.PromptResponse(stop_reason="cancelled")
        events = self._events(messages)
        self._ended = ended = self._loop.create_future()
        threading.Thread(target=self._work, args=(events, ended), daemon=True).start()
        cancelled = asyncio.ensure_future(self._cancelled.wait())
        try:
            await asyncio.wait((ended, cancelled), return_when=asyncio.FIRST_COMPLETED)
        finally:
            cancelled.cancel()
        if self._cancelled.is_set():
            # Code may take its time to stop; the editor need not wait for that.
            await asyncio.wait((ended,), timeout=_GRACE)
            return schema.PromptResponse(stop_reason="cancelled")
        return await self._answer_for(ended.result())

    def _events(self, messages: Sequence[Message]) -> Iterator[Event]:
        """Return the events of a turn, after those that bring back what a conversation had in memory."""
        if self.is_reopened:
            self.is_reopened = False
            codes = {} if why_not_here(self.workspace) else find_restoring_code(self.workspace)
            if not codes and (lost := rerun.lost(self.workspace.session.messages, _AGAIN)):
                yield Noticed(lost)
            for language, code in codes.items():
                for event in self.workspace.session.propose(language, code):
                    if not isinstance(event, TurnEnded):
                        yield event
                    elif event.outcome == "interrupted":
                        yield event
                        return
        yield from self.workspace.session.turn(messages)

    async def _answer_for(self, end: TurnEnded) -> schema.PromptResponse:
        if end.outcome == "interrupted":
            return schema.PromptResponse(stop_reason="cancelled")
        if end.outcome == "failed":
            raise RequestError(-32603, visible(end.reason or "The turn failed."))
        if end.outcome == "paused" and end.reason:
            await self._send(agent_text(visible(end.reason)))
        return schema.PromptResponse(stop_reason="end_turn")

    async def _end_cancelled_turn(self) -> None:
        """Wait until the turn of a cancelled prompt has ended. Raises RequestError."""
        for patience in _PATIENCE:
            if self._ended is None or self._ended.done():
                return
            await asyncio.wait((self._ended,), timeout=patience)
            if not self._ended.done():
                await asyncio.to_thread(self.workspace.session.interrupt)
        if self._ended and not self._ended.done():
            raise refused("The code of the cancelled prompt is still running. Try again in a moment.")

    async def replay(self) -> None:
        """Send the conversation so far."""
        for event in self.workspace.session.replay():
            for update in self._updates.replayed(event):
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
        self.workspace.close()

    def _drop_questions(self) -> None:
        for question in list(self._questions):
            question.cancel()

    def _work(self, events: Iterator[Event], ended: "asyncio.Future[TurnEnded]") -> None:
        """Hand the events of a turn over; the body of the thread."""
        end = TurnEnded("failed", "An internal error ended the turn. The log has details.")
        try:
            for event in events:
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
        for update in (*self._updates.of(event), *self._usage(event)):
            self._in_loop(self._send(update)).result()
        match event:
            case ApprovalRequested():
                self._put(self._ask(event))
            case RunReported(_, InputRequested() as request):
                self._put(self._ask_input(request))
            case RunReported(_, InputReceived() | RunEnded()):
                self._drop_questions()

    def _put(self, question: Coroutine[Any, Any, None]) -> None:
        """Ask the editor; the turn goes on waiting for whatever it waits for."""
        answer = self._in_loop(question)
        self._questions.add(answer)
        answer.add_done_callback(self._questions.discard)

    def _in_loop(self, work: Coroutine[Any, Any, None]) -> "Future[None]":
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
        """Ask the editor; whatever is no clear yes is a no."""
        shown = describe(event.message, (visible(event.caution), visible(event.note)))
        answer = None
        try:
            answer = await self._client.request_permission(
                session_id=self.id,
                tool_call=schema.ToolCallUpdate(status="pending", **shown),
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
            await self._send(agent_text(_NO_INPUT.format("a password" if request.masked else "input")))
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
                message=f"The program asks for input: {one_line(request.prompt) or '(no prompt)'}",
                mode=schema.ElicitationFormSessionMode(session_id=self.id, requested_schema=form),
            )
        except Exception as error:  # noqa: BLE001 -- a client may answer with anything
            _log.warning("The editor returned no input: %s", error)
            return None
        accepted = isinstance(answer, schema.AcceptElicitationResponse)
        line = (answer.content or {}).get("line") if accepted else None
        return line.replace("\n", " ") if isinstance(line, str) else None

    def _usage(self, event: Event) -> Iterator[Update]:
        if not isinstance(event, UsageReported):
            return
        session = self.workspace.session
        cost = None if event.cost is None else schema.Cost(amount=session.account.spent, currency="USD")
        used = event.prompt_tokens + event.completion_tokens
        yield schema.UsageUpdate(
            session_update="usage_update", used=used, size=session.window or used, cost=cost
        )


def _settle(future: "asyncio.Future[TurnEnded]", end: TurnEnded) -> None:
    if not future.done():
        future.set_result(end)


class OiTuiAgent:
    """Answers the requests of one editor."""

    def __init__(self, open_workspace: Callable[[Sequence[Any]], Workspace]) -> None:
        """`open_workspace` gets the MCP servers that the editor names."""
        self._open = open_workspace
        self._sessions: dict[str, AcpSession] = {}
        self._client: Any = None
        self._can_type = False

    def on_connect(self, conn: Any) -> None:
        """Take the connection to the editor."""
        self._client = conn

    async def initialize(self, client_capabilities: Any = None, **_: Any) -> schema.InitializeResponse:
        """Say what this agent can do."""
        elicitation = getattr(client_capabilities, "elicitation", None)
        self._can_type = bool(elicitation and elicitation.form)
        return schema.InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_info=schema.Implementation(name="oi-tui", title="oi-tui", version=__version__),
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(image=True, embedded_context=True),
                mcp_capabilities=schema.McpCapabilities(http=True),
                session_capabilities=schema.SessionCapabilities(
                    list=schema.SessionListCapabilities(),
                    resume=schema.SessionResumeCapabilities(),
                    fork=schema.SessionForkCapabilities(),
                    close=schema.SessionCloseCapabilities(),
                ),
            ),
        )

    async def new_session(
        self, cwd: str, mcp_servers: Sequence[Any] | None = None, **_: Any
    ) -> schema.NewSessionResponse:
        """Begin a conversation."""
        workspace = self._workspace(cwd, mcp_servers)
        return schema.NewSessionResponse(session_id=self._keep(workspace.conversation.id, workspace).id)

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: Sequence[Any] | None = None, **_: Any
    ) -> schema.LoadSessionResponse:
        """Continue a saved conversation, and send what it holds."""
        await (await self._save(cwd, session_id, mcp_servers)).replay()
        return schema.LoadSessionResponse()

    async def resume_session(
        self, session_id: str, cwd: str, mcp_servers: Sequence[Any] | None = None, **_: Any
    ) -> schema.ResumeSessionResponse:
        """Continue a saved conversation whose content the editor knows."""
        await self._save(cwd, session_id, mcp_servers)
        return schema.ResumeSessionResponse()

    async def fork_session(
        self, session_id: str, cwd: str, mcp_servers: Sequence[Any] | None = None, **_: Any
    ) -> schema.ForkSessionResponse:
        """Begin a conversation that has the content of another one, which stays as it is."""
        if open_one := self._sessions.get(session_id):
            if open_one.busy:
                raise refused("This session is busy with a prompt. Wait until it ends, or cancel it.")
            copy = self._workspace(cwd, mcp_servers)
            copy.conversation.begin(open_one.workspace.session.messages)
        else:
            copy = await self._resume(cwd, session_id, mcp_servers)
            copy.conversation.branch(copy.session.messages)
        return schema.ForkSessionResponse(session_id=self._keep(copy.conversation.id, copy).id)

    async def list_sessions(self, cwd: str | None = None, **_: Any) -> schema.ListSessionsResponse:
        """List the saved conversations, of one folder if it is named."""
        workspace = self._open(())
        try:
            summaries = await asyncio.to_thread(workspace.store.summaries)
        finally:
            await asyncio.to_thread(workspace.close)
        sessions = [
            schema.SessionInfo(
                session_id=item.id,
                cwd=item.cwd,
                title=visible(item.title),
                updated_at=datetime.fromtimestamp(item.updated, UTC).isoformat(),
            )
            for item in summaries
            if item.problem is None and cwd in (None, item.cwd)
        ]
        return schema.ListSessionsResponse(sessions=sessions)

    async def close_session(self, session_id: str, **_: Any) -> schema.CloseSessionResponse:
        """End a session; its conversation stays saved."""
        session = self._find(session_id)
        del self._sessions[session_id]
        await asyncio.to_thread(session.close)
        return schema.CloseSessionResponse()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> schema.PromptResponse:
        """Work on a prompt."""
        return await self._find(session_id).prompt(prompt)

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Stop what a session does."""
        if session := self._sessions.get(session_id):
            await session.cancel()

    def close(self) -> None:
        """End all sessions."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()

    def _find(self, id: str) -> AcpSession:
        if id not in self._sessions:
            raise refused(f"There is no open session {visible(id)}.")
        return self._sessions[id]

    def _keep(self, id: str, workspace: Workspace) -> AcpSession:
        self._sessions[id] = AcpSession(id, workspace, self._client, can_type=self._can_type)
        return self._sessions[id]

    async def _save(self, cwd: str, id: str, servers: Sequence[Any] | None) -> AcpSession:
        if id in self._sessions:
            return self._sessions[id]
        session = self._keep(id, await self._resume(cwd, id, servers))
        session.is_reopened = not left_targets.of_conversation(id)
        return session

    async def _resume(self, cwd: str, id: str, servers: Sequence[Any] | None) -> Workspace:
        workspace = self._workspace(cwd, servers)
        try:
            workspace.conversation.resume(id)
        except StoreError as error:
            await asyncio.to_thread(workspace.close)
            sentence = visible(str(error))
            if isinstance(error, NoConversationError):
                # One without messages is not saved; by this code, clients know to begin a new one.
                raise RequestError(_NOT_FOUND, sentence) from None
            raise refused(sentence) from None
        return workspace

    def _workspace(self, cwd: str, servers: Sequence[Any] | None) -> Workspace:
        """Open a workspace in a folder; it keeps the folder in which it was made."""
        if not Path(cwd).is_absolute():
            raise refused(f"cwd must be an absolute path, not {visible(cwd)}")
        try:
            os.chdir(cwd)
        except OSError as error:
            raise refused(f"cwd: {visible(cwd)}: {error.strerror}") from None
        try:
            return self._open(servers or ())
        except ProfileError as error:
            raise refused(visible(str(error))) from None
