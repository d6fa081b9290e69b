"""Carries out the tools that a host calls."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitResult,
    InputRequiredResult,
    ListToolsResult,
    TextContent,
)

from oi_tui.engine.output.model_output import model_output
from oi_tui.mcp_server import questions, results
from oi_tui.mcp_server.cell import Cell
from oi_tui.mcp_server.definitions import definitions
from oi_tui.messages import InputRequested
from oi_tui.runtimes.variables import is_name
from oi_tui.server.event_log import Question
from oi_tui.server.hosted_session import HostedSession
from oi_tui.text import one_line, visible
from oi_tui.workspace import Workspace

_log = logging.getLogger(__name__)
Context = ServerRequestContext[Any, Any]
#: Seconds that a question waits for a host to come back with the answer.
PATIENCE = 600.0
_ANSWER = "answer"
_CANNOT_ASK = (
    "The code was not run: it needs approval, and this host cannot ask for it (it does not support "
    "elicitation). The person can start the server with -y to run code without a question."
)
_NO_ANSWER = "The code was not run: the host did not ask the question, or broke it off."
_OTHER_CODE = "The code was not run: the answer does not belong to this code."
_TOO_LATE = "This question is not open any more. Call the tool again."


class ToolError(Exception):
    """A call that cannot be carried out; the message says what to change."""


class Tools:
    """The tools of one host, which work in one conversation."""

    def __init__(self, workspace: Workspace, session: HostedSession) -> None:
        self._workspace = workspace
        self._session = session
        #: One piece of code runs at a time; others wait.
        self._slot = asyncio.Lock()
        #: Cells whose question was handed to the host, by the token it comes back with.
        self._asking: dict[str, tuple[Cell, asyncio.TimerHandle]] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def list_tools(self, _context: Context, _params: Any) -> ListToolsResult:
        """Return the tools."""
        languages = await asyncio.to_thread(lambda: self._languages)
        return ListToolsResult(tools=definitions(languages, self._workspace.profile))

    async def call_tool(
        self, context: Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        """Carry out a call."""
        try:
            arguments = self._check_arguments(params)
            if params.name == "run":
                return await self._run(context, params, arguments)
            return await getattr(self, f"_{params.name}")(arguments)  # type: ignore[no-any-return]
        except ToolError as error:
            return results.text_result(str(error), failed=True)

    async def close(self) -> None:
        """Give up all questions."""
        for cell, timer in self._asking.values():
            timer.cancel()
            self._end(cell)
        self._asking.clear()
        if self._ending:
            await asyncio.wait(set(self._ending))

    @property
    def _languages(self) -> tuple[str, ...]:
        """The languages that may be used: those of the profile that are here."""
        computer, profile = self._workspace.computer, self._workspace.profile
        wanted = {computer.resolve(name) for name in profile.languages}
        return tuple(name for name in computer.languages if not wanted or name in wanted)

    def _check_arguments(self, params: CallToolRequestParams) -> Mapping[str, str]:
        """Return the arguments. Raises ToolError where they do not fit the tool."""
        known = {tool.name: tool for tool in definitions(self._languages, self._workspace.profile)}
        if params.name not in known:
            raise ToolError(f"There is no tool {one_line(params.name, 60)}. Tools: {', '.join(known)}.")
        schema, arguments = known[params.name].input_schema, params.arguments or {}
        for name in schema["required"]:
            if name not in arguments:
                raise ToolError(f"{params.name} needs the argument {name}.")
        for name, value in arguments.items():
            if name not in schema["properties"]:
                raise ToolError(f"{params.name} takes no argument {one_line(name, 60)}.")
            if not isinstance(value, str):
                raise ToolError(f"{name} must be text.")
        return arguments

    def _language(self, arguments: Mapping[str, str]) -> str:
        given = arguments["language"]
        language = self._workspace.computer.resolve(given)
        if language is None or language not in self._languages:
            raise ToolError(
                f"Unknown language {one_line(given, 60)}. Languages: {', '.join(self._languages)}."
            )
        return language

    # -- code ----------------------------------------------------------------------------------

    async def _run(
        self, context: Context, params: CallToolRequestParams, arguments: Mapping[str, str]
    ) -> CallToolResult | InputRequiredResult:
        cell = await self._cell(params, self._language(arguments), arguments["code"])
        try:
            asked = await self._work(context, cell)
        except BaseException:
            # The host cancelled the call, or is gone.
            self._end(cell)
            raise
        if asked:
            return self._hand_over(cell, asked)
        self._slot.release()
        return self._result(cell)

    async def _cell(self, params: CallToolRequestParams, language: str, code: str) -> Cell:
        """Return a new cell, or the one whose question the host comes back to answer."""
        if params.request_state is None:
            await self._slot.acquire()
            try:
                return Cell(self._session, language, code)
            except BaseException:
                self._slot.release()
                raise
        if params.request_state not in self._asking:
            raise ToolError(_TOO_LATE)
        cell, timer = self._asking.pop(params.request_state)
        timer.cancel()
        if (cell.language, cell.code) != (language, code):
            self._end(cell)
            raise ToolError(_OTHER_CODE)
        answer = (params.input_responses or {}).get(_ANSWER)
        self._take(cell, answer if isinstance(answer, ElicitResult) else None)
        return cell

    async def _work(self, context: Context, cell: Cell) -> ElicitRequest | None:
        """Have a cell run to its end. Returns what the host has to ask before it goes on, if it has to."""

        async def pulse(seconds: float) -> None:
            with suppress(Exception):  # a host that takes no progress still gets the result
                await context.session.report_progress(seconds, message=f"{seconds:.0f} s")

        while waiting := await cell.next(pulse):
            asked = _request(waiting)
            if asked is None or not _can_ask(context):
                self._refuse(cell, waiting)
            elif context.session.can_send_request:
                self._take(cell, await _ask(context, asked))
            else:
                return asked
        return None

    def _take(self, cell: Cell, answer: ElicitResult | None) -> None:
        """Give the answer of the host to the question or the program; what is no clear yes is a no."""
        question = self._session.question
        if question is None:
            self._take_line(cell, answer)
        elif questions.is_yes(answer):
            cell.run(question)
        elif answer is None:
            cell.refuse(_NO_ANSWER)
        else:
            cell.reject(question, questions.reason(answer))

    def _take_line(self, cell: Cell, answer: ElicitResult | None) -> None:
        line = questions.line_of(answer)
        if line is None:
            self._session.stop()
        elif self._session.waits_for:
            cell.type(line)

    def _refuse(self, cell: Cell, waiting: Question | InputRequested) -> None:
        if isinstance(waiting, Question):
            cell.refuse(_CANNOT_ASK)
            return
        kind = "a password, which hosts must not ask for" if waiting.masked else "input"
        cell.refusal = f"The program asked for {kind}. It was stopped."
        self._session.waits_for = None
        self._session.stop()

    def _hand_over(self, cell: Cell, asked: ElicitRequest) -> InputRequiredResult:
        """Let the host ask, and come back with the answer."""
        timer = asyncio.get_running_loop().call_later(PATIENCE, self._forget, cell)
        self._asking[cell.token] = cell, timer
        return InputRequiredResult(input_requests={_ANSWER: asked}, request_state=cell.token)

    def _forget(self, cell: Cell) -> None:
        if self._asking.pop(cell.token, None):
            self._end(cell)

    def _end(self, cell: Cell) -> None:
        """Stop a cell that nobody waits for any more; the next one begins when it has ended."""

        async def end() -> None:
            await cell.stop()
            self._slot.release()

        task = asyncio.get_running_loop().create_task(end())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _result(self, cell: Cell) -> CallToolResult:
        code, shown = cell.message, cell.results
        state = (code.state if code else None) or "skipped"
        printed = model_output(shown, self._workspace.profile.max_output)
        files = self._files([code.id]) if code else []
        note = cell.refusal or results.note(code)
        parts = [printed, note, f"Files changed: {', '.join(files)}" if files else ""]
        text = "\n".join(part for part in parts if part) or "The code printed nothing."
        structured: dict[str, Any] = {"state": state, "output": printed, "note": note, "files_changed": files}
        if code and code.seconds is not None:
            structured["seconds"] = round(code.seconds, 3)
        return CallToolResult(
            content=[TextContent(text=visible(text)), *results.images(shown)],
            structured_content=structured,
            is_error=state != "finished",
        )

    # -- the other tools -----------------------------------------------------------------------

    async def _variables(self, arguments: Mapping[str, str]) -> CallToolResult:
        wanted = self._language(arguments) if "language" in arguments else None
        memories = await asyncio.to_thread(self._workspace.computer.memories)
        known = [
            memory
            for memory in memories
            if wanted == memory.language or (wanted is None and memory.state != "unstarted")
        ]
        lines = [line for memory in known for line in results.described(memory)]
        structured = {
            memory.language: {
                "state": memory.state,
                "total": memory.total,
                "variables": [
                    {"name": v.name, "type": v.type, "summary": v.summary} for v in memory.variables
                ],
            }
            for memory in known
        }
        return results.text_result("\n".join(lines) or "No language is running yet.", structured)

    async def _inspect(self, arguments: Mapping[str, str]) -> CallToolResult:
        language, name = self._language(arguments), arguments["name"]
        found = None
        if is_name(name):
            found = await asyncio.to_thread(self._workspace.computer.look_at, language, name)
        if found is None:
            raise ToolError(
                f"{language} reports no variable {one_line(name, 60)}. It may be busy or not running."
            )
        return results.text_result(
            f"{found.description}\n{found.preview}",
            {"description": found.description, "preview": found.preview},
        )

    async def _interrupt(self, _: Mapping[str, str]) -> CallToolResult:
        if not self._session.busy:
            return results.text_result("No code is running.")
        self._session.stop()
        ended = await asyncio.to_thread(self._session.wait, 5.0)
        return results.text_result(
            "The code was stopped." if ended else "The code has not ended yet; call interrupt again."
        )

    async def _restart(self, _: Mapping[str, str]) -> CallToolResult:
        self._session.give_up_question()
        # The first stop asks the code to end, the second one ends its language.
        for seconds in (1.0, 10.0):
            self._session.stop()
            if await asyncio.to_thread(self._session.wait, seconds):
                break
        else:
            raise ToolError("The running code could not be ended.")
        await asyncio.to_thread(self._workspace.conversation.reset_languages)
        return results.text_result("All languages were ended. Their variables are lost.")

    async def _files_changed(self, _: Mapping[str, str]) -> CallToolResult:
        files = self._files([message.id for message in self._session.messages if message.type == "code"])
        return results.text_result("\n".join(files) or "No files were changed.", {"files": files})

    def _files(self, runs: list[str]) -> list[str]:
        """The files that these runs changed, each once."""
        steps = (self._workspace.snapshots.step(run) for run in runs)
        found = {f"{c.what}: {one_line(c.name)}": None for step in steps if step for c in step.changes}
        return list(found)


def _can_ask(context: Context) -> bool:
    """Whether the host can show a form to a person."""
    known = context.session.client_capabilities
    if known is None or known.elicitation is None:
        return False
    # Before there were two kinds, a host that named none meant forms.
    return known.elicitation.form is not None or known.elicitation.url is None


def _request(waiting: Question | InputRequested) -> ElicitRequest | None:
    """Return how to ask for what is waited for; None where that must not be asked."""
    if isinstance(waiting, Question):
        return questions.approval(waiting)
    return None if waiting.masked else questions.input_line(waiting)


async def _ask(context: Context, asked: ElicitRequest) -> ElicitResult | None:
    """Have the host ask. None where it fails to."""
    try:
        return await context.session.elicit_form(
            asked.params.message,
            asked.params.requested_schema,  # type: ignore[union-attr]
            context.request_id,
        )
    except Exception as error:  # noqa: BLE001 -- a host may answer with anything
        _log.warning("The host did not answer a question: %s", error)
        return None
