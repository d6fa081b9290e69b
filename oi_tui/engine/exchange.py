"""Sends a request to the model and reads the reply, with retries."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from oi_tui.engine.events import (
    Event,
    LibraryLoading,
    ModelCalled,
    ModelConnecting,
    Noticed,
    RetryScheduled,
    Steps,
)
from oi_tui.engine.llm import compaction, request_gate
from oi_tui.engine.llm import request as request_writer
from oi_tui.engine.llm.base import (
    BROKEN_OFF,
    ConnectionState,
    Delta,
    ErrorInfo,
    Finish,
    Gap,
    Llm,
    LlmError,
    Reply,
    Request,
    Signed,
    Text,
    Usage,
)
from oi_tui.engine.llm.context_window import CHARACTERS
from oi_tui.engine.llm.question import REFUSALS
from oi_tui.engine.llm.recent_messages import select_recent
from oi_tui.engine.llm.request import PreparedRequest
from oi_tui.engine.llm.usage_report import UsageTracker
from oi_tui.engine.models.known_windows import check_size
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.reply.message_builders import ReplyBuilder
from oi_tui.engine.reply.parser import ReplyParser
from oi_tui.engine.reply_progress import ReplyProgress
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.tools import McpTool, index_by_function
from oi_tui.messages import Message

#: The pauses before a request with a temporary failure is sent again, in seconds.
RETRIES = (1.0, 3.0, 8.0)
#: The longest wait asked for by a provider that is kept, in seconds; beyond it the person decides.
LONGEST_WAIT = 60.0
#: How long to wait for the facts about a model before the screen says so, in seconds.
_MOMENT = 0.2
#: The kinds of errors after which a request most likely never reached the model, where nothing came of it.
_NOT_REACHED = ("network", "process")


class TurnInterrupted(Exception):  # noqa: N818 -- it is what happened, not an error
    """The person interrupted the turn."""


class Exchange:
    """Asks the model what comes next, with tool calls or with code as text, as the model understands.

    `stopped` is the session's own flag: once it is set, whatever is in progress raises `TurnInterrupted`.
    `window` is what the model of the last request takes in, in tokens, as far as that is known.
    `image_folder` is where programs' images are kept. `tools` are those of other programs.
    """

    def __init__(
        self,
        llm: Llm,
        resolve: Callable[[str], str | None],
        facts: Callable[[Profile], ModelInfo],
        stopped: threading.Event,
        usage: UsageTracker | None = None,
        image_folder: Path | None = None,
        tools: Callable[[], Sequence[McpTool]] = tuple,
    ) -> None:
        self._tools = tools
        self._offered: Sequence[McpTool] = ()
        self.usage = usage or UsageTracker()
        self.window: int | None = None
        self._image_folder = image_folder
        self._llm = llm
        self._resolve = resolve
        self._facts = facts
        self._stopped = stopped
        #: Models that refused tools, and models that have called one.
        self._without_tools: set[str] = set()
        self._with_tools: set[str] = set()
        #: Whether code blocks in the text of the last reply were read as code to run.
        self.reads_fences = True
        #: Calls in a row that could not be read.
        self._unreadable = 0
        self._windows = self.usage.windows
        self._lock = threading.Lock()
        self._reply: Reply | None = None
        #: Whether the last request left for the model.
        self._is_sent = False

    def ask(
        self,
        messages: Sequence[Message],
        profile: Profile,
        languages: Sequence[str],
        cwd: Path | None,
        notes: Sequence[str] = (),
    ) -> Steps[list[Message]]:
        """Send the conversation. Returns the pieces of code of the reply, in order.

        Raises LlmError when there is no reply, or only half of one (what came of it is in the events
        before), and OverBudget when there must not be one.
        """
        request_gate.check(profile, self._llm)
        #: The size of a request that was refused as too long, and the refusal.
        refused: tuple[int, ErrorInfo] | None = None
        for attempt in range(len(RETRIES) + 3):
            facts = yield from self._look_up(profile)
            self._offered = self._ask_for_tools()
            request = self.write_request(messages, profile, languages, cwd, facts, notes)
            self.window = facts.choose_window(profile)
            check_size(request, facts, profile.model)
            if refused and request.tokens >= refused[0]:
                raise LlmError(refused[1])
            yield from self.usage.report_left_out(request, assumed=facts.window_assumed)
            error, began, builder = yield from self._send(request, profile, facts)
            if error is None:
                return builder.codes
            if began:
                raise LlmError(error)
            if not refused and (notice := self._windows.learn(profile, error, request)):
                refused = request.tokens, error
                yield Noticed(notice)
                continue
            yield from self._prepare_another_try(error, profile, attempt)
        raise AssertionError("the last try returns or raises")

    def _send(
        self, written: PreparedRequest, profile: Profile, facts: ModelInfo
    ) -> Steps[tuple[ErrorInfo | None, bool, ReplyBuilder]]:
        """Send a request and read the reply.

        Returns the error that ended it, whether anything had come by then, and what the reply is made of.
        """
        _, self.reads_fences = self._choose_tool_use(profile, facts)
        builder = ReplyBuilder(self._resolve, profile.model)
        parser = ReplyParser(
            self._resolve, fences=self.reads_fences, mcp_functions=index_by_function(self._offered)
        )
        deltas = self._stream_deltas(written.request, profile, facts)
        error, began = yield from self._receive_reply(profile.model, written.tokens, deltas, parser, builder)
        if self._stopped.is_set():
            raise TurnInterrupted
        if error is None:
            yield from self.usage.report_cut(written)
            yield from self._report_unreadable(builder)
            if any(code.call for code in builder.codes):
                self._with_tools.add(profile.model)
        return error, began, builder

    def summarise(self, messages: Sequence[Message], profile: Profile) -> Steps[Message | None]:
        """Have the model summarise older history. Returns the summary; None: there is nothing to shorten.

        Raises what `ask` raises.
        """
        request_gate.check(profile, self._llm)
        for attempt in range(len(RETRIES) + 2):
            facts = yield from self._look_up(profile)
            plan = compaction.plan(messages, profile, facts.find_window(profile))
            if plan is None:
                return None
            lines: list[str] = []
            error = yield from self._collect_summary(
                profile.model, self._stream_deltas(plan.request, profile, facts), lines
            )
            text = "".join(lines).strip()
            if self._stopped.is_set():
                raise TurnInterrupted
            if error is None and text:
                yield Noticed(
                    f"The model now gets this summary (~{len(text) // CHARACTERS:,} tokens) "
                    f"instead of the {plan.count:,} messages before it (~{plan.size // CHARACTERS:,}), "
                    "which stay visible here. %compact undo sends them again."
                )
                return Message(
                    role="assistant",
                    type="message",
                    content=f"**Summary of the conversation so far**\n\n{text}",
                    covers=plan.covers,
                )
            yield from self._prepare_another_try(
                error
                or ErrorInfo("empty", "The summary was empty. Try again, or use another model.", "model"),
                profile,
                attempt,
            )
        raise AssertionError("the last try returns or raises")

    def write_request(
        self,
        messages: Sequence[Message],
        profile: Profile,
        languages: Sequence[str],
        cwd: Path | None,
        facts: ModelInfo,
        notes: Sequence[str] = (),
    ) -> PreparedRequest:
        """Return the request as it would be sent now."""
        window = facts.find_window(profile)
        newest, older = select_recent(messages, window) if window else (messages, 0)
        request = request_writer.write(
            newest,
            profile,
            languages,
            tools=self._choose_tool_use(profile, facts)[0],
            cwd=cwd,
            notes=notes,
            vision=facts.supports_vision,
            window=window,
            longest_reply=facts.longest_reply,
            image_folder=self._image_folder,
            mcp_tools=self._offered,
        )
        return replace(request, left_out=request.left_out + older)

    def cancel(self) -> None:
        """End the reply that is on its way, from any thread; `stopped` is set before."""
        with self._lock:
            if self._reply:
                self._reply.cancel()

    def _prepare_another_try(self, error: ErrorInfo, profile: Profile, attempt: int) -> Steps[None]:
        """Change what can be changed, or wait. Raises LlmError when another try is of no use."""
        if error.kind == "tools" and profile.supports_functions is None:
            if profile.model in self._without_tools:
                raise LlmError(error)
            self._without_tools.add(profile.model)
            yield Noticed("This model does not support tool calls; it writes code as text instead.")
            return
        if not error.retryable or attempt >= len(RETRIES):
            raise LlmError(error)
        # A time in the past is no wait: a busy server that is asked again at once stays busy.
        wait = error.retry_after or RETRIES[attempt]
        if wait > LONGEST_WAIT:
            raise LlmError(error)
        yield RetryScheduled(error.sentence, wait)
        if self._stopped.wait(wait):
            raise TurnInterrupted

    def _receive_reply(
        self, model: str, tokens: int, deltas: Iterator[Delta], parser: ReplyParser, builder: ReplyBuilder
    ) -> Steps[tuple[ErrorInfo | None, bool]]:
        """Receive the reply. Return the error that ended it, and whether anything had come by then."""
        yield ModelCalled(model, tokens)
        progress = ReplyProgress()
        error: ErrorInfo | None = None
        try:
            for delta in deltas:
                progress.add(delta)
                if isinstance(delta, ConnectionState):
                    yield ModelConnecting(delta.accepted)
                elif isinstance(delta, Gap):
                    builder.tear(call=progress.has_tool_call)
                elif not isinstance(delta, Signed):
                    for part in parser.feed(delta):
                        yield from builder.feed(part)
        except LlmError as failure:
            error = failure.info
        if progress.has_begun or progress.usage or self._may_cost(error):
            yield from self.usage.record(progress.usage)
        for part in parser.finish():
            yield from builder.feed(part)
        yield from builder.finish(cut=error is not None or self._stopped.is_set())
        yield from builder.sign(progress.signed.content())
        yield from progress.report_gaps()
        if error is None:
            yield from progress.report_end()
        return error, progress.has_begun

    def _collect_summary(
        self, model: str, deltas: Iterator[Delta], parts: list[str]
    ) -> Steps[ErrorInfo | None]:
        """Collect a summary, which is not shown while it grows. Returns the error that ended it."""
        yield ModelCalled(model)
        usage = None
        failure: ErrorInfo | None = None
        ends: set[str] = set()
        try:
            for delta in deltas:
                if isinstance(delta, Text):
                    parts.append(delta.text)
                elif isinstance(delta, Usage):
                    usage = delta
                elif isinstance(delta, Finish):
                    ends.add(delta.reason)
                elif isinstance(delta, Gap):
                    ends.add("missing")
        except LlmError as error:
            failure = error.info
        if parts or usage or self._may_cost(failure):
            yield from self.usage.record(usage)
        if failure:
            parts.clear()
            return failure
        # It replaces all that it covers, so a part of it would silently lose the rest.
        if ends & {*BROKEN_OFF, "content_filter"}:
            return ErrorInfo("cut", "The summary broke off before its end.", "model", retryable=True)
        if "length" in ends:
            yield Noticed(
                "The summary reached the maximum length and was cut off; see max_tokens.", "warning"
            )
        return None

    def _may_cost(self, error: ErrorInfo | None) -> bool:
        """Return whether a request of which nothing came may have to be paid: it was sent and not refused."""
        return self._is_sent and (error is None or error.kind not in (*REFUSALS, *_NOT_REACHED))

    def _report_unreadable(self, builder: ReplyBuilder) -> Iterator[Event]:
        self._unreadable = self._unreadable + 1 if builder.unreadable and not builder.codes else 0
        if self._unreadable >= 2:
            self._unreadable = 0
            yield Noticed(
                "Two tool calls of this model in a row could not be read. Set supports_functions to "
                "false (f2), and it writes its code as text, which is easier for many models.",
                "warning",
            )

    # -- how the model is reached -------------------------------------------------------------

    def _stream_deltas(self, request: Request, profile: Profile, facts: ModelInfo) -> Iterator[Delta]:
        self._is_sent = False
        if self._stopped.is_set():
            return
        # Without the lock: this may ask a keyring, and a stop does not wait for that.
        reply = request_gate.send(self._llm, request, profile, self.usage, facts)
        self._is_sent = True
        try:
            with self._lock:
                self._reply = reply
                # A stop that came meanwhile had nothing to cancel.
                if self._stopped.is_set():
                    return
            yield from reply
        finally:
            reply.cancel()
            with self._lock:
                self._reply = None

    def _look_up(self, profile: Profile) -> Steps[ModelInfo]:
        """Return the known facts about the model. Can take seconds while LiteLLM loads; a stop does not
        wait.
        """
        results: list[ModelInfo] = []
        asking = threading.Thread(target=lambda: results.append(self._facts(profile)), daemon=True)
        asking.start()
        asking.join(_MOMENT)
        if asking.is_alive():
            yield LibraryLoading()
        while asking.is_alive():
            if self._stopped.is_set():
                raise TurnInterrupted
            asking.join(0.02)
        return self.complete(results[0] if results else ModelInfo(), profile)

    def _ask_for_tools(self) -> Sequence[McpTool]:
        """Return the tools of other programs. Can take seconds while these start; a stop ends the wait."""
        results: list[Sequence[McpTool]] = []
        asking = threading.Thread(target=lambda: results.append(self._tools()), daemon=True)
        asking.start()
        while asking.is_alive():
            if self._stopped.is_set():
                raise TurnInterrupted
            asking.join(0.02)
        return results[0] if results else ()

    def complete(self, facts: ModelInfo, profile: Profile) -> ModelInfo:
        """Return the facts, with the window to use."""
        return self._windows.complete(facts, profile)

    def _choose_tool_use(self, profile: Profile, facts: ModelInfo) -> tuple[bool, bool]:
        """Return whether to offer the tool, and whether fenced text of the reply is code to run.

        Nobody knows for sure which models call tools. So the tool is offered until a model refuses it, and
        fences count until the model is known to call tools or has done so.
        """
        supported = profile.supports_functions
        if supported is not None:
            return supported, not supported
        tools = profile.model not in self._without_tools
        knows = profile.model in self._with_tools or bool(facts.supports_functions)
        return tools, not (tools and knows)
