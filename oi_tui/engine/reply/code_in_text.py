"""Finds code blocks in the text of a model that calls tools."""

from collections.abc import Callable, Sequence

from oi_tui.engine.events import MessageRecorded
from oi_tui.engine.llm.base import Finish, Text
from oi_tui.engine.reply.message_builders import ReplyBuilder
from oi_tui.engine.reply.parser import ReplyParser
from oi_tui.messages import Message, make_message_id


def find(messages: Sequence[Message], resolve: Callable[[str], str | None]) -> list[Message]:
    """Return the last reply's text as text and code, as if code blocks had been read as code.

    The first of the messages replaces the one with the text. Empty where the last reply has no such block, or
    where something came after it that the model knows of.
    """
    for message in reversed(messages):
        if message.recipient == "user" or message.type == "reasoning":
            continue
        if message.role != "assistant" or message.type != "message":
            return []
        if split := _split(message, resolve):
            return split
    return []


def _split(message: Message, resolve: Callable[[str], str | None]) -> list[Message]:
    parser, builder = ReplyParser(resolve, fences=True), ReplyBuilder(resolve)
    parts = [*parser.feed(Text(message.content)), *parser.feed(Finish("stop")), *parser.finish()]
    events = [event for part in parts for event in builder.feed(part)] + list(builder.finish(cut=False))
    messages = [event.message for event in events if isinstance(event, MessageRecorded)]
    if not any(item.type == "code" and item.state == "queued" for item in messages):
        return []
    reply = message.reply or make_message_id()
    first, *rest = messages
    if first.type == "message":
        first = message.replace(content=first.content, reply=reply)
    else:
        # The text stays as it was shown; the model gets it as the code that follows.
        first, rest = message.replace(recipient="user", reply=reply), messages
    return [first, *(item.replace(reply=reply) for item in rest)]
