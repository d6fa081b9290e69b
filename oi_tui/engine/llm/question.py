"""A question to the model beside the conversation, such as one that running code asks."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from oi_tui.engine.llm import request_gate
from oi_tui.engine.llm.base import (
    BROKEN_OFF,
    ConnectionState,
    ErrorInfo,
    Finish,
    Gap,
    Llm,
    LlmError,
    Reply,
    Request,
    Text,
    Usage,
)
from oi_tui.engine.llm.profile_request import make_request
from oi_tui.engine.llm.usage_report import UsageTracker
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.settings.profile import Profile

#: The kinds of errors with which a server refuses a request, which costs nothing then.
REFUSALS = (
    "no_key",
    "key",
    "model",
    "address",
    "refused",
    "rate",
    "quota",
    "server",
    "context",
    "tools",
    "request",
)


class ModelQuestion:
    """Asks once, with a text and images as data URLs. `used` is the usage, once it is reported.

    `is_cut` says that the reply came to the longest length, `is_refused` that the server refused the request,
    and `is_unanswered` that the connection failed before any answer.
    """

    def __init__(
        self,
        llm: Llm,
        profile: Profile,
        text: str,
        images: Sequence[str],
        usage: UsageTracker,
        facts: ModelInfo,
        *,
        system: str = "",
        max_tokens: int | None = None,
    ) -> None:
        """Send the request. Raises LlmError or OverBudget where that is not allowed."""
        self.used: Usage | None = None
        self.is_cut = self.is_refused = self.is_unanswered = False
        request = write_request(profile, text, images, system, max_tokens)
        self._reply: Reply = request_gate.send(llm, request, profile, usage, facts)

    def answer(self) -> str:
        """Wait for the reply. Raises LlmError if there is none, or only a part of it."""
        lines: list[str] = []
        began = is_broken = False
        try:
            for delta in self._reply:
                began = began or not isinstance(delta, ConnectionState)
                if isinstance(delta, Text):
                    lines.append(delta.text)
                elif isinstance(delta, Usage):
                    self.used = delta
                elif isinstance(delta, Finish):
                    self.is_cut = self.is_cut or delta.reason == "length"
                    is_broken = is_broken or delta.reason in BROKEN_OFF
                elif isinstance(delta, Gap):
                    is_broken = True
        except LlmError as error:
            self.is_refused = not began and error.info.kind in REFUSALS
            self.is_unanswered = not began and error.info.kind == "network"
            raise
        if not (text := "".join(lines).strip()):
            raise LlmError(ErrorInfo("empty", "The model gave no answer."))
        if is_broken:
            raise LlmError(ErrorInfo("cut", "The answer broke off before its end. Try again."))
        return text

    def cancel(self) -> None:
        """Give it up, from any thread."""
        self._reply.cancel()


def write_request(
    profile: Profile,
    text: str,
    images: Sequence[str] = (),
    system: str = "",
    max_tokens: int | None = None,
) -> Request:
    """Write a request with a text and images as data URLs, and how long the reply may be, in tokens."""
    content: Any = text
    if images:
        parts = [{"type": "image_url", "image_url": {"url": image}} for image in images]
        content = [{"type": "text", "text": text}, *parts]
    before = [{"role": "system", "content": system}] if system else []
    request = make_request(profile, [*before, {"role": "user", "content": content}])
    return replace(request, max_tokens=max_tokens or profile.max_tokens)
