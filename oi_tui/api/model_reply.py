"""One request to the model outside of the conversation: `interpreter.llm.run` and `llm.completions`."""

import threading
from collections.abc import Iterable, Iterator
from typing import Any

from oi_tui.api.computer import ApiComputer
from oi_tui.api.model import ApiModel
from oi_tui.api.turns import TurnError, check_messages
from oi_tui.engine.events import MessageGrew, MessageStarted
from oi_tui.engine.exchange import Exchange
from oi_tui.engine.llm import request_gate
from oi_tui.engine.llm.base import Delta, Finish, LlmError, Reasoning, Text, ToolCallPiece, Usage
from oi_tui.engine.llm.profile_request import make_request
from oi_tui.engine.llm.request_log import LoggedLlm
from oi_tui.engine.llm.usage_report import OverBudget
from oi_tui.engine.open_interpreter.chunks import Chunk, list_system_texts, read_chunk
from oi_tui.engine.settings.profile import Profile
from oi_tui.messages import Message


def reply_chunks(
    messages: Iterable[Chunk], profile: Profile, computer: ApiComputer, model: ApiModel
) -> Iterator[Chunk]:
    """Ask for one reply to the messages. Returns its pieces; code in it does not run.

    System messages replace the one of the profile. Raises TypeError for an item that is not a message, and
    TurnError if the model does not reply.
    """
    checked = check_messages(messages)
    if texts := list_system_texts(checked):
        profile = profile.with_changes(system_message="\n\n".join(texts), custom_instructions="")
    computer.declare()
    runtimes = computer.runtimes
    llm, facts = model.choose()
    exchange = Exchange(LoggedLlm(llm), runtimes.resolve, facts, threading.Event(), model.usage)
    conversation = [message for chunk in checked for message in read_chunk(chunk)]
    started: dict[str, Message] = {}
    try:
        for event in exchange.ask(conversation, profile, runtimes.languages, None):
            if isinstance(event, MessageStarted):
                started[event.message.id] = event.message
            elif isinstance(event, MessageGrew) and (message := started[event.id]).type != "reasoning":
                form = {"format": message.format} if message.format else {}
                yield {"type": message.type, **form, "content": event.text}
    except (LlmError, OverBudget) as error:
        raise TurnError(str(error)) from None


def ask_as_openai(parameters: dict[str, Any], profile: Profile, model: ApiModel) -> Iterator["OpenAiChunk"]:
    """Ask the model itself, with the parameters of LiteLLM's `completion`, and return OpenAI's chunks.

    Parameters that are not given are those of the profile. Raises TurnError if the model does not reply.
    """
    names = ("model", "api_base", "api_key", "api_version", "max_tokens", "temperature")
    changes = {name: parameters[name] for name in names if parameters.get(name) is not None}
    profile = profile.with_changes(**changes)
    request = make_request(profile, parameters["messages"], parameters.get("tools") or ())
    llm, facts = model.choose(with_function=False)
    usage = None
    try:
        for delta in request_gate.send(LoggedLlm(llm), request, profile, model.usage, facts(profile)):
            if isinstance(delta, Usage):
                usage = delta
            elif (openai_delta := _make_openai_delta(delta)) is not None:
                reason = delta.reason if isinstance(delta, Finish) else None
                choice = OpenAiChunk(index=0, delta=openai_delta, finish_reason=reason)
                yield OpenAiChunk(object="chat.completion.chunk", model=profile.model, choices=[choice])
    except (LlmError, OverBudget) as error:
        raise TurnError(str(error)) from None
    finally:
        model.usage.record(usage)


class OpenAiChunk(dict[str, Any]):
    """A dictionary whose entries are attributes as well, as in the chunks of LiteLLM and OpenAI."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def _make_openai_delta(delta: Delta) -> OpenAiChunk | None:
    """Return a piece of a reply as OpenAI writes it; None for what its chunks do not have."""
    content = call = reasoning = None
    match delta:
        case Text(text):
            content = text
        case Reasoning(text):
            reasoning = text
        case ToolCallPiece(index, id, name, arguments):
            function = OpenAiChunk(name=name, arguments=arguments)
            call = [OpenAiChunk(index=index, id=id, type="function", function=function)]
        case Finish():
            pass
        case _:
            return None
    return OpenAiChunk(role="assistant", content=content, tool_calls=call, reasoning_content=reasoning)
