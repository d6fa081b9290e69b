"""What a client asks of chat completions: the fields of the request, checked, and its messages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oi_tui.messages import Message
from oi_tui.server.fields import check_fields
from oi_tui.server.guard import RequestRefusedError
from oi_tui.server.openai import request_fields
from oi_tui.server.openai.content import MODEL, read_content

#: Fields that would change the reply and cannot be honoured: values that ask for nothing, and advice.
_UNSUPPORTED: Mapping[str, tuple[tuple[object, ...], str]] = {
    "tools": (([],), "code is run here; add tools to the profile as mcp_servers"),
    "functions": (([],), "code is run here; add tools to the profile as mcp_servers"),
    "response_format": (({"type": "text"},), "replies are text"),
    "n": ((1,), "there is one reply"),
    "logprobs": ((False,), "leave it out"),
    "stop": (([], ""), "leave it out"),
    "audio": ((), "replies are text"),
    "modalities": ((["text"],), "replies are text"),
    "web_search_options": ((), "code is run here; add tools to the profile as mcp_servers"),
}
_ROLES = ("system", "developer", "user", "assistant")
_MOST_MESSAGES = 10_000
#: How requests begin, and what is in them, with which Open WebUI asks for a title, tags or further questions.
_TASK_HEAD, _TASK_PART = "### Task:", "<chat_history>"
_LAST = 'messages must end with a message of the role "user".'


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message of the user or the assistant in the client's list."""

    role: str
    messages: Sequence[Message]

    @property
    def text(self) -> str:
        """The text of the message, without images."""
        return "\n".join(item.content for item in self.messages if item.type == "message")


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """The fields of a request that are used."""

    model: str
    stream: bool
    usage_in_stream: bool
    instructions: str
    spoken: Sequence[ChatMessage]

    @property
    def words(self) -> str:
        """The text of the last message; "" if it has something other than text."""
        last = self.spoken[-1].messages
        return last[0].content.strip() if len(last) == 1 and last[0].type == "message" else ""

    @property
    def is_task(self) -> bool:
        """Whether the client asks about a conversation, such as for a title, and does not continue it."""
        return len(self.spoken) == 1 and self.words.startswith(_TASK_HEAD) and _TASK_PART in self.words


def read_completion(body: Mapping[str, Any]) -> CompletionRequest:
    """Read and check the body of a request. Raises RequestRefusedError, which names the field."""
    check_fields(body, request_fields.COMPLETION)
    for name, (same, advice) in _UNSUPPORTED.items():
        if body.get(name) is not None and body[name] not in same:
            raise RequestRefusedError(400, f"{name} is not supported: {advice}.", param=name)
    options = body.get("stream_options") or {}
    instructions, spoken = _read_messages(body.get("messages"))
    return CompletionRequest(
        model=body.get("model") or MODEL,
        stream=body.get("stream") is True,
        usage_in_stream=options.get("include_usage") is True,
        instructions=instructions,
        spoken=spoken,
    )


def _read_messages(given: object) -> tuple[str, Sequence[ChatMessage]]:
    """Return the instructions of a list of messages, and all that was said. Raises RequestRefusedError."""
    if not isinstance(given, list) or not given:
        raise RequestRefusedError(400, _LAST, param="messages")
    if len(given) > _MOST_MESSAGES:
        raise RequestRefusedError(
            400, f"messages may have at most {_MOST_MESSAGES:,} items.", param="messages"
        )
    instructions, spoken = [], []
    for number, item in enumerate(given):
        role = item.get("role") if isinstance(item, dict) else None
        if role not in _ROLES:
            names = ", ".join(_ROLES)
            raise RequestRefusedError(
                400, f"messages[{number}].role must be one of {names}.", param="messages"
            )
        assert isinstance(item, dict)
        if role == "assistant" and not item.get("content"):
            continue
        message = ChatMessage(role, read_content(item.get("content"), f"messages[{number}].content"))
        if role in ("user", "assistant"):
            spoken.append(message)
        else:
            instructions.append(message.text)
    if not spoken or given[-1].get("role") != "user":
        raise RequestRefusedError(400, _LAST, param="messages")
    if not any(item.content.strip() for item in spoken[-1].messages):
        raise RequestRefusedError(400, "The last message is empty.", param="messages")
    return "\n\n".join(instructions), spoken
