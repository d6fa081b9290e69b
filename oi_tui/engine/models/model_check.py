"""Tests a profile's model with a short request, and explains the result."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from oi_tui.engine.llm import request_gate
from oi_tui.engine.llm.base import ErrorInfo, Llm, LlmError, Reasoning, Reply, Request, Text, ToolCallPiece
from oi_tui.engine.llm.profile_request import make_request
from oi_tui.engine.llm.request import make_tool
from oi_tui.engine.llm.usage_report import OverBudget, UsageTracker
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.settings.profile import Profile

#: Enough for the beginning of a call; some models refuse less.
_TOKENS = 16
#: How long a test may take, in seconds.
_TIMEOUT = 30.0
#: Faults that stop the test at each of its first three steps; what fails later has passed them.
_UNREACHED = ("address", "refused", "network", "timeout", "process", "no_key")
_UNACCEPTED = ("key",)
_UNKNOWN = ("model",)

Step = Literal["host", "key", "model", "reply", "tools", "streaming", "window"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One step of the test. `good` is None where it is unknown; `setting` is the one that helps."""

    step: Step
    good: bool | None
    sentence: str
    setting: str | None = None


def check(
    llm: Llm, profile: Profile, usage: UsageTracker | None = None, facts: ModelInfo | None = None
) -> Iterator[CheckResult]:
    """Ask the model for a few tokens; yields what is found, until something fails.

    `usage` holds what was spent so far: a test costs money like any other request.

    Blocks while the model answers, at most about twice half a minute.
    """
    usage, facts = usage or UsageTracker(), facts or ModelInfo()
    try:
        request_gate.check(profile, llm)
    except LlmError as refusal:
        yield CheckResult("host", False, refusal.info.sentence, refusal.info.setting)
        return
    task = {"role": "user", "content": "Call the tool execute with language python and code 1."}
    request = replace(
        make_request(profile, [task], [make_tool(["python"])]),
        temperature=None,
        max_tokens=_TOKENS,
        timeout=min(profile.timeout, _TIMEOUT),
    )

    def ask(request: Request) -> tuple[int, int, ErrorInfo | None]:
        return _read(lambda: request_gate.send(llm, request, profile, usage, facts))

    try:
        calls, pieces, error = ask(request)
        refused_tools = error is not None and error.kind == "tools"
        if refused_tools:
            calls, pieces, error = ask(replace(request, tools=()))
    except OverBudget as over:
        yield CheckResult("host", False, str(over), "max_budget")
        return
    steps: tuple[tuple[Step, Sequence[str], str], ...] = (
        ("host", _UNREACHED, f"{profile.api_base or 'The provider'} answers."),
        ("key", _UNACCEPTED, "The API key is accepted." if profile.api_key else "No API key is needed."),
        ("model", _UNKNOWN, f"The model {profile.model} exists."),
    )
    for step, kinds, good in steps:
        if error is not None and error.kind in kinds:
            yield CheckResult(step, False, error.sentence, error.setting)
            return
        yield CheckResult(step, True, good)
    # A thinking model may well spend so few tokens without a word.
    if error is not None and not (error.kind == "empty" and error.setting == "max_tokens"):
        yield CheckResult("reply", False, error.sentence, error.setting)
        return
    yield CheckResult("reply", True, "It replies.")
    yield _check_tools(refused=refused_tools, calls=calls)
    if pieces > 1:
        yield CheckResult("streaming", True, f"The reply came in {pieces} pieces.")
    else:
        yield CheckResult("streaming", None, "The reply came in one piece: it was short, or is not streamed.")
    yield _check_window(profile, facts)


def _read(send: Callable[[], Reply]) -> tuple[int, int, ErrorInfo | None]:
    """Count the pieces of tool calls and all pieces, and return what went wrong."""
    calls = pieces = 0
    try:
        for delta in send():
            calls += isinstance(delta, ToolCallPiece)
            pieces += isinstance(delta, ToolCallPiece | Text | Reasoning)
    except LlmError as error:
        return calls, pieces, error.info
    return calls, pieces, None


def _check_tools(*, refused: bool, calls: int) -> CheckResult:
    if refused:
        sentence = "It does not support tool calls; it will write code as text."
        return CheckResult("tools", False, sentence, "supports_functions")
    if calls:
        return CheckResult("tools", True, "It calls tools.")
    return CheckResult(
        "tools", None, "It accepts tools, but did not call one this time.", "supports_functions"
    )


def _check_window(profile: Profile, facts: ModelInfo) -> CheckResult:
    if profile.context_window:
        return CheckResult(
            "window", True, f"Its context window is {profile.context_window:,} tokens, from the profile."
        )
    if facts.context_window:
        return CheckResult("window", True, f"Its context window is {facts.context_window:,} tokens.")
    return CheckResult("window", None, "Its context window is unknown; set context_window.", "context_window")
