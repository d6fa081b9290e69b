"""A preview of a saved conversation, beside the list."""

from rich.style import Style
from rich.text import Text
from textual.content import Content

from oi_tui import paths
from oi_tui.engine.output.plain import make_plain
from oi_tui.engine.storage.listing import UNTITLED, Summary
from oi_tui.messages import Message
from oi_tui.text import clean_line, clean_text
from oi_tui.widgets.conversation.code import Highlighter, draw_code_line
from oi_tui.widgets.conversation.markdown import draw_markdown
from oi_tui.widgets.conversation.rows import Row
from oi_tui.widgets.conversation.styles import Styles
from oi_tui.widgets.lists.conversation_list import describe_age

#: How much of a conversation is shown.
_MESSAGES = 40
_CHARACTERS = 1_500


def draw_preview(
    item: Summary, messages: list[Message], words: list[str], now: float, *, width: int, look: Styles
) -> Content:
    """Return the conversation in short: its facts, then its messages, from the first match on.

    Replies and code are drawn as they are in the conversation, at `width` cells.
    """
    facts = [
        f"{describe_age(item.updated, now)} · {item.messages:,} message{'s' * (item.messages != 1)}",
        clean_line(paths.shorten(item.cwd), 200),
        clean_line(item.model, 100),
    ]
    parts: list[Content] = [
        Content.styled(clean_line(item.title, 300) or UNTITLED, "bold"),
        *(Content.styled(fact, "$text-muted") for fact in facts if fact),
    ]
    if item.problem:
        parts += [
            Content(""),
            Content.styled(f"Could not read it: {clean_line(item.problem)}", "$text-error"),
        ]
    start = 0
    if words:
        hits = (i for i, entry in enumerate(messages) if any(w in entry.content.lower() for w in words))
        start = next(hits, 0)
    if start:
        parts += [Content(""), Content.styled(f"… {start} earlier", "$text-muted")]
    for message in messages[start : start + _MESSAGES]:
        parts += [Content(""), *_draw_message(message, words, width, look)]
    remaining_count = len(messages) - start - _MESSAGES
    if remaining_count > 0:
        parts += [Content(""), Content.styled(f"… {remaining_count:,} more", "$text-muted")]
    return Content("\n").join(parts)


def _draw_message(message: Message, words: list[str], width: int, look: Styles) -> list[Content]:
    sentence = {"user": "You", "assistant": "Assistant", "computer": "Output"}[message.role]
    style = {"user": "bold $text-primary", "assistant": "bold $text-accent"}.get(
        message.role, "bold $text-muted"
    )
    if message.type == "code":
        state = message.state or ""
        sentence = " · ".join(part for part in (clean_line(message.format or "code", 30), state) if part)
    elif message.type not in ("message", "console"):
        sentence = f"{sentence} · {message.type}"
    if message.type == "image":
        return [Content.styled(f"[{sentence}]", style)]
    content = make_plain(message.content) if message.type == "console" else message.content
    text = content.strip("\n")
    at = min((text.lower().find(word) for word in words if word in text.lower()), default=0)
    start = text.rfind("\n", 0, at) + 1 if at > _CHARACTERS // 2 else 0
    # As the conversation does: a tab stands for spaces, of which a Static would make its own number.
    body = clean_text(text[start : start + _CHARACTERS]).expandtabs(4)
    ellipsis = "…" if start + _CHARACTERS < len(text) else ""
    before = "…\n" if start else ""
    if message.type == "code":
        preview = _paint(_draw_code(before + body + ellipsis, message.format, width, look), width)
    elif message.role == "assistant" and message.type == "message":
        preview = _paint(draw_markdown(before + body + ellipsis, width, look), width)
    else:
        preview = Content(before + body + ellipsis)
    if message.role == "computer" or message.type == "reasoning":
        preview = preview.stylize("$text-muted")
    lowered = preview.plain.lower()
    for word in words:
        position = lowered.find(word)
        while position >= 0:
            preview = preview.stylize("bold $text-warning", position, position + len(word))
            position = lowered.find(word, position + 1)
    return [Content.styled(sentence, style), preview]


def _draw_code(code: str, language: str | None, width: int, look: Styles) -> list[Row]:
    highlighter = Highlighter(language)
    highlighter.read_whole(code)
    lines = code.split("\n")
    numbers = range(len(lines))
    return [
        row
        for number in numbers
        for row in draw_code_line(number + 1, highlighter.pieces(number, lines.__getitem__), look, width, 0)
    ]


def _paint(rows: list[Row], width: int) -> Content:
    """Return rows as they are in the conversation, each filled to the right where it stands on a colour."""
    lines = []
    for row in rows:
        line = Text.assemble(*((segment.text, segment.style or Style()) for segment in row.segments))
        if row.fill is not None:
            line.append(" " * max(width - line.cell_len, 0), row.fill)
        lines.append(line)
    return Content.from_rich_text(Text("\n").join(lines))
