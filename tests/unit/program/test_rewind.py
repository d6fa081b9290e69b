"""What a rewind leaves: the text that goes back to the prompt, and the files that can be restored."""

from types import SimpleNamespace
from typing import Any

import pytest

from oi_tui.actions.rewind import Rewind
from oi_tui.commands import is_command
from oi_tui.messages import Message


class Conversation:
    """A workspace and an interface, as far as a rewind uses them."""

    def __init__(self, *messages: Message) -> None:
        self.messages, self.prompt = messages, ""
        self.workspace: Any = SimpleNamespace(
            session=self,
            conversation=SimpleNamespace(id="one", forgotten=()),
            snapshots=SimpleNamespace(filter_kept=lambda _: ()),
        )
        self.ui: Any = SimpleNamespace(
            busy=False,
            show_notice=lambda _text, warning=False: None,
            show_session=lambda: None,
            put_back=lambda text: setattr(self, "prompt", text),
        )

    def rewind(self, id: str, *, keep: bool) -> tuple[Message, ...]:
        at = next(at for at, message in enumerate(self.messages) if message.id == id) + keep
        dropped, self.messages = self.messages[at:], self.messages[:at]
        return dropped


def say(text: str) -> Message:
    return Message(role="user", type="message", content=text, id=text)


def run(id: str) -> Message:
    return Message(role="assistant", type="code", content="x", format="python", id=id)


@pytest.mark.parametrize("text", ["!touch a", "%restart", "%% ls", " !ls", "/quit", "!a\nb"])
def test_a_message_that_looks_like_a_command_does_not_become_one(text: str) -> None:
    conversation = Conversation(say(text))
    Rewind(conversation.ui, conversation.workspace).undo()
    assert conversation.prompt == f"The message:\n\n{text}"
    assert not is_command(conversation.prompt)


def test_other_messages_go_back_to_the_prompt_as_they_are() -> None:
    conversation = Conversation(say("100 % of it!"))
    Rewind(conversation.ui, conversation.workspace).undo()
    assert conversation.prompt == "100 % of it!"


def test_what_was_taken_back_is_that_of_the_last_rewind_until_further_code() -> None:
    conversation = Conversation(say("a"), run("1"), say("b"), run("2"))
    rewind = Rewind(conversation.ui, conversation.workspace)
    rewind.undo()
    assert rewind.taken == ("b", "2")
    conversation.messages += (say("c"),)
    assert rewind.taken == ("b", "2")
    conversation.messages += (run("3"),)
    assert rewind.taken == ()
    rewind.undo()
    assert rewind.taken == ("c", "3")
    conversation.workspace.conversation.id = "other"
    assert rewind.taken == ()
