"""Carries out the tools that a host calls."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
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
)

from oi_tui.mcp_server import questions, results, windows
from oi_tui.mcp_server.cell import HostCell
from oi_tui.mcp_server.definitions import list_definitions
from oi_tui.messages import InputRequested
from oi_tui.runtimes.variables import is_name
from oi_tui.server.event_log import ApprovalQuestion
from oi_tui.server.hosted_session import HostedSession
from oi_tui.text import clean_line
from oi_tui.window.client import WindowClient, WindowClosedError, WindowError
from oi_tui.window.report import find_outcome, list_changed_files, read_variables
from oi_tui.workspace import Workspace

_log = logging.getLogger(__name__)
Context = ServerRequestContext[Any, Any]
_Handler = Callable[[Mapping[str, str], WindowClient | None], Coroutine[Any, Any, CallToolResult]]
#: Seconds that a question waits for a host to come back with the answer.
TIMEOUT = 600.0
_ANSWER = "answer"
_CANNOT_ASK = (
    "The code was not run: it needs approval, and this host cannot ask for it (it does not support "
    "elicitation). The person can start the server with -y to run code without a question."
)
_NO_ANSWER = "The code was not run: the host did not ask the question, or cancelled it."
_OTHER_CODE = "The code was not run: the answer does not belong to this code."
_MOVED = {
    "window": "This ran in the person's open oi-tui window; variables of earlier calls are not there.",
    "own": "The person's oi-tui window is no longer open: this ran elsewhere, without its variables.",
}
_TOO_LATE = "This question is no longer open. Call the tool again."


class ToolCallError(Exception):
    """A call that cannot be carried out; the message says what to change."""


class HostTools:
    """The tools of one host, which work in one conversation."""

    def __init__(self, workspace: Workspace, session: HostedSession) -> None:
        self._workspace = workspace
        self._session = session
        #: One piece of code runs at a time; others wait.
        self._slot = asyncio.Lock()
        #: Cells whose question was handed to the host, by the token it comes back with.
        self._asking: dict[str, tuple[HostCell, asyncio.TimerHandle]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._windows = windows.Windows(workspace.computer.cwd)
        #: Where code ran before: "window", "own", or nowhere yet.
        self._place = ""
        #: What carries out each tool but `run`, which also needs the call itself.
        self._handlers: Mapping[str, _Handler] = {
            "variables": self._list_variables,
            "inspect": self._inspect_variable,
            "interrupt": self._interrupt,
            "restart": self._restart,
            "files_changed": self._list_changed_files,
        }

    async def list_tools(self, _context: Context, _params: Any) -> ListToolsResult:
        """Return the tools."""
        languages = await asyncio.to_thread(lambda: self._languages)
        return ListToolsResult(tools=list_definitions(languages, self._workspace.profile))

    async def call_tool(
        self, context: Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        """Carry out a call."""
        try:
            arguments = self._check_arguments(params)
            window = await self._find_window(context, params)
            if params.name == "run":
                if window:
                    return await self._run_in(window, context, arguments)
                return await self._run(context, params, arguments)
            return await self._handlers[params.name](arguments, window)
        except (ToolCallError, WindowError) as error:
            return results.make_text_result(str(error), failed=True)
        except WindowClosedError:
            return results.make_text_result(
                "The person's oi-tui window was closed. Call the tool again.", failed=True
            )

    async def _find_window(self, context: Context, params: CallToolRequestParams) -> WindowClient | None:
        """Return the person's open window, where code is asked for and runs, or None.

        A person who lets code run without a question wants no window to ask one.
        """
        if self._workspace.profile.auto_run or params.request_state is not None:
            return None
        if params.name in ("interrupt", "restart") and self._session.busy:
            return None
        return await self._windows.find(_find_host_name(context))

    async def close(self) -> None:
        """Give up all questions."""
        await self._windows.close()
        self._give_up_questions()
        if self._ending:
            await asyncio.wait(set(self._ending))

    @property
    def _languages(self) -> tuple[str, ...]:
        """The languages that may be used: those of the profile that are here."""
        computer, profile = self._workspace.computer, self._workspace.profile
        profile_languages = {computer.resolve(name) for name in profile.languages}
        return tuple(
            name for name in computer.languages if not profile_languages or name in profile_languages
        )

    def _check_arguments(self, params: CallToolRequestParams) -> Mapping[str, str]:
        """Return the arguments. Raises ToolCallError where they do not fit the tool."""
        tools = {tool.name: tool for tool in list_definitions(self._languages, self._workspace.profile)}
        if params.name not in tools:
            raise ToolCallError(f"There is no tool {clean_line(params.name, 60)}. Tools: {', '.join(tools)}.")
        schema, arguments = tools[params.name].input_schema, params.arguments or {}
        for name in schema["required"]:
            if name not in arguments:
                raise ToolCallError(f"{params.name} needs the argument {name}.")
        for name, value in arguments.items():
            if name not in schema["properties"]:
                raise ToolCallError(f"{params.name} takes no argument {clean_line(name, 60)}.")
            if not isinstance(value, str):
                raise ToolCallError(f"{name} must be text.")
        return arguments

    def _read_language(self, arguments: Mapping[str, str]) -> str:
        language_name = arguments["language"]
        language = self._workspace.computer.resolve(language_name)
        if language is None or language not in self._languages:
            raise ToolCallError(
                f"Unknown language {clean_line(language_name, 60)}. Languages: {', '.join(self._languages)}."
            )
        return language

    # -- code ----------------------------------------------------------------------------------

    async def _run_in(
        self, window: WindowClient, context: Context, arguments: Mapping[str, str]
    ) -> CallToolResult:
        language = self._read_language(arguments)
        ended = await windows.run(window, language, arguments["code"], _make_pulse(context))
        return results.describe_run(ended, "window", self._describe_move("window"))

    def _describe_move(self, place: str) -> str:
        """Return what to say where code runs elsewhere than before; "" where it does not."""
        before, self._place = self._place, place
        return _MOVED[place] if before and before != place else ""

    async def _run(
        self, context: Context, params: CallToolRequestParams, arguments: Mapping[str, str]
    ) -> CallToolResult | InputRequiredResult:
        cell = await self._find_cell(params, self._read_language(arguments), arguments["code"])
        try:
            answer = await self._run_cell(context, cell)
        except BaseException:
            # The host cancelled the call, or is gone.
            self._end(cell)
            raise
        if answer:
            return self._hand_over(cell, answer)
        self._slot.release()
        return self._make_result(cell)

    async def _find_cell(self, params: CallToolRequestParams, language: str, code: str) -> HostCell:
        """Return a new cell, or the one whose question the host comes back to answer."""
        if params.request_state is None:
            await self._slot.acquire()
            try:
                return HostCell(self._session, language, code)
            except BaseException:
                self._slot.release()
                raise
        if params.request_state not in self._asking:
            raise ToolCallError(_TOO_LATE)
        cell, timer = self._asking.pop(params.request_state)
        timer.cancel()
        if (cell.language, cell.code) != (language, code):
            self._end(cell)
            raise ToolCallError(_OTHER_CODE)
        answer = (params.input_responses or {}).get(_ANSWER)
        self._pass_answer(cell, answer if isinstance(answer, ElicitResult) else None)
        return cell

    async def _run_cell(self, context: Context, cell: HostCell) -> ElicitRequest | None:
        """Run a cell to its end. Returns what the host has to ask before it goes on, if it has to."""
        while waiting := await cell.next(_make_pulse(context)):
            question = _make_request(waiting)
            if question is None or not _can_ask(context):
                self._refuse(cell, waiting)
            elif context.session.can_send_request:
                self._pass_answer(cell, await cell.wait_for(_ask(context, question), _make_pulse(context)))
            else:
                return question
        return None

    def _pass_answer(self, cell: HostCell, answer: ElicitResult | None) -> None:
        """Pass the host's answer to the question or the program; anything but a clear yes is a no.

        An answer to a question that is no longer open is dropped.
        """
        if not cell.is_asking:
            return
        question = self._session.question
        if question is None:
            self._pass_line(cell, answer)
        elif questions.is_yes(answer):
            cell.run(question)
        elif answer is None:
            cell.refuse(_NO_ANSWER)
        else:
            cell.reject(question, questions.find_reason(answer))

    def _pass_line(self, cell: HostCell, answer: ElicitResult | None) -> None:
        line = questions.find_line(answer)
        if line is None:
            self._session.stop()
        elif self._session.waits_for:
            cell.type(line)

    def _refuse(self, cell: HostCell, waiting: ApprovalQuestion | InputRequested) -> None:
        if isinstance(waiting, ApprovalQuestion):
            cell.refuse(_CANNOT_ASK)
            return
        kind = "a password, which hosts must not ask for" if waiting.masked else "input"
        cell.refusal = f"The program asked for {kind}. It was stopped."
        self._session.forget_input()
        self._session.stop()

    def _hand_over(self, cell: HostCell, asked: ElicitRequest) -> InputRequiredResult:
        """Let the host ask, and come back with the answer."""
        timer = asyncio.get_running_loop().call_later(TIMEOUT, self._forget, cell)
        self._asking[cell.token] = cell, timer
        return InputRequiredResult(input_requests={_ANSWER: asked}, request_state=cell.token)

    def _forget(self, cell: HostCell) -> None:
        if self._asking.pop(cell.token, None):
            self._end(cell)

    def _give_up_questions(self) -> None:
        """Stop the cells whose question was handed to the host; others wait for their place."""
        for cell, timer in self._asking.values():
            timer.cancel()
            self._end(cell)
        self._asking.clear()

    def _end(self, cell: HostCell) -> None:
        """Stop a cell whose caller is gone; the next one starts when it has ended."""

        async def end() -> None:
            await cell.stop()
            self._slot.release()

        task = asyncio.get_running_loop().create_task(end())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _make_result(self, cell: HostCell) -> CallToolResult:
        profile, snapshots = self._workspace.profile, self._workspace.snapshots
        ended = find_outcome(cell.messages, snapshots, profile.max_output, cell.refusal)
        return results.describe_run(ended, "own", self._describe_move("own"))

    # -- the other tools -----------------------------------------------------------------------

    async def _list_variables(
        self, arguments: Mapping[str, str], window: WindowClient | None
    ) -> CallToolResult:
        language = self._read_language(arguments) if "language" in arguments else None
        if window:
            return results.describe_variables(await window.call("variables", language=language))
        memories = await asyncio.to_thread(self._workspace.computer.inspector.read_memories)
        return results.describe_variables(read_variables(memories, language))

    async def _inspect_variable(
        self, arguments: Mapping[str, str], window: WindowClient | None
    ) -> CallToolResult:
        language, name = self._read_language(arguments), arguments["name"]
        facts: Mapping[str, Any] = {}
        if window:
            facts = await window.call("inspect", language=language, name=name)
        elif is_name(name):
            detail = await asyncio.to_thread(self._workspace.computer.inspector.inspect, language, name)
            facts = {"description": detail.description, "preview": detail.preview} if detail else {}
        if not facts:
            raise ToolCallError(
                f"{language} reports no variable {clean_line(name, 60)}. It may be busy or not running."
            )
        return results.make_text_result(f"{facts['description']}\n{facts['preview']}", facts)

    async def _interrupt(self, _: Mapping[str, str], window: WindowClient | None) -> CallToolResult:
        if window:
            return results.make_text_result(windows.describe_interrupt(await window.call("interrupt")))
        self._give_up_questions()
        if not self._session.busy:
            return results.make_text_result(windows.describe_interrupt({}))
        self._session.stop()
        ended = await asyncio.to_thread(self._session.wait, 5.0)
        return results.make_text_result(windows.describe_interrupt({"stopped": True, "ended": ended}))

    async def _restart(self, _: Mapping[str, str], window: WindowClient | None) -> CallToolResult:
        if window:
            await window.call("restart")
        self._give_up_questions()
        self._session.reject_question()
        # The first stop asks the code to end, the second one ends its language.
        for seconds in (1.0, 10.0):
            self._session.stop()
            if await asyncio.to_thread(self._session.wait, seconds):
                break
        else:
            raise ToolCallError("The running code could not be ended.")
        await asyncio.to_thread(self._workspace.conversation.reset_languages)
        return results.make_text_result("All languages were ended. Their variables are lost.")

    async def _list_changed_files(self, _: Mapping[str, str], window: WindowClient | None) -> CallToolResult:
        if window:
            files = list((await window.call("files_changed"))["files"])
        else:
            runs = [message.id for message in self._session.messages if message.type == "code"]
            files = list_changed_files(self._workspace.snapshots, runs)
        return results.make_text_result("\n".join(files) or "No files were changed.", {"files": files})


def _find_host_name(context: Context) -> str:
    """Return what the host calls itself."""
    params = context.session.client_params
    info = params.client_info if params else None
    name = info and (info.title or info.name)
    return clean_line(name or "An agent without a name", 60)


def _make_pulse(context: Context) -> Callable[[float], Coroutine[Any, Any, None]]:
    """Return what tells the host that code still runs."""

    async def pulse(seconds: float) -> None:
        with suppress(Exception):  # a host that cannot be told still gets the result
            await context.session.report_progress(seconds, message=f"{seconds:.0f} s")

    return pulse


def _can_ask(context: Context) -> bool:
    """Return whether the host can show a form to a person."""
    capabilities = context.session.client_capabilities
    if capabilities is None or capabilities.elicitation is None:
        return False
    # Before there were two kinds, a host that named none meant forms.
    return capabilities.elicitation.form is not None or capabilities.elicitation.url is None


def _make_request(waiting: ApprovalQuestion | InputRequested) -> ElicitRequest | None:
    """Return how to ask for what is waited for; None where that must not be asked."""
    if isinstance(waiting, ApprovalQuestion):
        return questions.make_approval_question(waiting)
    return None if waiting.masked else questions.ask_for_line(waiting)


async def _ask(context: Context, asked: ElicitRequest) -> ElicitResult | None:
    """Make the host ask. None where that fails."""
    try:
        return await context.session.elicit_form(
            asked.params.message,
            asked.params.requested_schema,  # type: ignore[union-attr]
            context.request_id,
        )
    except Exception as error:  # noqa: BLE001 -- a host may answer with anything
        _log.warning("The host did not answer a question: %s", error)
        return None
