"""The report of `%tokens`: the parts of the next request, the context window, and the cost so far."""

from collections.abc import Callable, Sequence
from typing import Any

from oi_tui.engine.llm.base import Request
from oi_tui.engine.llm.context_window import CHARACTERS, IMAGE, weigh
from oi_tui.engine.llm.request import PreparedRequest
from oi_tui.engine.llm.usage import UsageTotals
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.settings.profile import Profile
from oi_tui.text import format_dollars

#: Counts the tokens of texts for a model; None when nobody can.
Count = Callable[[str, Sequence[str]], list[int] | None]

#: The part of a message that is not sent yet.
_NEXT = "this message"


def split_parts(request: Request) -> dict[str, tuple[list[str], int]]:
    """Return the texts of each part of a request, and the number of its images."""
    kinds: dict[str, tuple[list[str], int]] = {}

    def add(part: str, text: str, images: int = 0) -> None:
        texts, before = kinds.get(part, ([], 0))
        kinds[part] = ([*texts, text] if text else texts, before + images)

    for message in request.messages:
        part = {"system": "system message", "user": "you", "assistant": "replies and code", "tool": "output"}
        name = part.get(str(message["role"]), "other")
        content: Any = message["content"]
        if isinstance(content, str):
            add(name, content)
        else:
            for item in content or ():
                add("images", "", 1) if item["type"] == "image_url" else add(name, item["text"])
        for call in message.get("tool_calls", ()):
            add("replies and code", call["function"]["arguments"])
    for tool in request.tools:
        add("the tool", str(tool))
    return kinds


def report(
    written: PreparedRequest,
    facts: ModelInfo,
    profile: Profile,
    totals: UsageTotals,
    count: Count | None,
    prompt: str = "",
) -> str:
    """Return the whole report, in lines; what is estimated is marked with ~.

    `prompt` may be the next message.
    """
    request = written.request
    lines = []
    sums: dict[str, int] = {}
    is_counted = True
    kinds = split_parts(request)
    if prompt:
        kinds[_NEXT] = ([prompt], 0)
    for name, (texts, images) in kinds.items():
        counts = count(request.model, ["\n".join(texts)]) if count else None
        is_counted = is_counted and counts is not None
        tokens = counts[0] if counts else sum(map(weigh, texts)) // CHARACTERS
        sums[name] = tokens + images * IMAGE // CHARACTERS
    total = sum(sums.values())
    when = f"of which {sums[_NEXT]:,} for this message" if prompt else "before your next message"
    lines.append(f"The next request: ~{total:,} tokens{_share(total, written.window)}, {when}.")
    width = max(map(len, sums), default=0)
    lines += [f"  {name:<{width}}  ~{tokens:>9,}" for name, tokens in sums.items()]
    if written.left_out:
        lines.append(
            f"  {written.left_out} older messages do not fit and are omitted; %compact summarises them."
        )
    source = "by the model's tokenizer or the nearest one" if is_counted else "at four characters a token"
    lines.append(f"  counted here, {source}")
    lines.append(describe_window(written.window, facts, profile))
    lines += _describe_spending(totals, profile)
    return "\n".join(lines)


def describe_window(tokens: int | None, facts: ModelInfo, profile: Profile) -> str:
    """Return the window in use, where its size comes from, and what of it is kept free."""
    if tokens is None:
        return "Context window: unknown. context_window sets it."
    own = profile.context_window and not facts.learned
    source = "from the profile (context_window)" if own else facts.window_from
    reply = min(tokens // 5, 4096) if profile.max_tokens is None else min(profile.max_tokens, tokens // 2)
    return f"Context window: {tokens:,} tokens ({source}); {reply:,} of them are reserved for the reply."


def _share(tokens: int, window: int | None) -> str:
    return f" of {window:,} ({tokens / window:.0%})" if window else ""


def _describe_spending(totals: UsageTotals, profile: Profile) -> list[str]:
    if not totals.requests:
        return ["No request was sent yet in this session."]
    lines = []
    if last := totals.last:
        price = "cost unknown" if last.cost is None else format_dollars(last.cost)
        cached = f" ({last.cached_tokens:,} of them from the provider's cache)" if last.cached_tokens else ""
        lines.append(
            f"Last request: {last.prompt_tokens:,} tokens in{cached}, {last.completion_tokens:,} out, "
            f"as counted by the provider; {price}."
        )
    some = "1 request" if totals.requests == 1 else f"{totals.requests:,} requests"
    lines.append(
        f"This session: {some}, each with the conversation so far: {totals.prompt_tokens:,} tokens in, "
        f"{totals.completion_tokens:,} out; {totals.price}."
    )
    if totals.unreported:
        lines.append(f"  for {totals.unreported} of them the provider did not report usage")
    if profile.max_budget is not None:
        lines.append(f"Budget: {format_dollars(profile.max_budget)} (max_budget).")
    return lines
