"""Finds which messages of a conversation are one reply of the model, and the results of its code."""

from collections.abc import Iterator, Sequence

from oi_tui.messages import Message


class ReplyGroups:
    """A conversation in groups: each reply, and each message that is no part of one.

    `results` has what each piece of code printed and showed, by the id of the code. It is in no group.
    """

    def __init__(self, messages: Sequence[Message]) -> None:
        self.results: dict[str, list[Message]] = {}
        self._messages: list[Message] = []
        #: Messages right behind a result. All of a reply is recorded before any of its code runs.
        self._after_run: set[str] = set()
        #: The last result of each piece of code, by its place in the conversation.
        self._last_result: dict[str, int] = {}
        self._places = {message.id: place for place, message in enumerate(messages)}
        self._separate_results(messages)

    def _separate_results(self, messages: Sequence[Message]) -> None:
        codes = {item.id for item in messages if item.type == "code" and item.role != "computer"}
        latest: str | None = None
        has_run = False
        for place, message in enumerate(messages):
            if message.role != "computer":
                self._messages.append(message)
                if has_run:
                    self._after_run.add(message.id)
                has_run = False
                latest = message.id if message.id in codes else None
                continue
            has_run = True
            parent = message.parent if message.parent in codes else latest
            if parent is None:
                self._messages.append(message)
            else:
                self.results.setdefault(parent, []).append(message)
                self._last_result[parent] = place
                latest = parent

    def __iter__(self) -> Iterator[Sequence[Message]]:
        """Yield the groups in their order."""
        reply: list[Message] = []
        for message in self._messages:
            if reply and not (is_of_reply(message) and self._continues(reply[-1], message)):
                yield reply
                reply = []
            if is_of_reply(message):
                reply.append(message)
            else:
                yield (message,)
        if reply:
            yield reply

    def _continues(self, before: Message, message: Message) -> bool:
        """Return whether a message belongs to the same reply as the one before it.

        Conversations of earlier versions do not say. There, a message before the result of a piece of code
        belongs to the reply with that code, and one behind a result does not.
        """
        if before.reply and message.reply:
            return before.reply == message.reply
        after_run = message.id in self._after_run
        if after_run or before.type != "code":
            return not after_run
        if self._last_result.get(before.id, -1) > self._places[message.id]:
            return True
        return message.type == "code" and (before.state != "rejected" or message.state == "skipped")


def is_of_reply(message: Message) -> bool:
    """Return whether a message can be a part of a reply."""
    return message.role == "assistant" or message.type == "code"
