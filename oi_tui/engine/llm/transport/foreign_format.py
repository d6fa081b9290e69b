"""Recognises answers in another format than that of OpenAI's chat completions."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ForeignFormat:
    """A format of answers: its name, and the setting to change so that it is understood.

    `providers` are those for which LiteLLM reads it; an empty answer of theirs is nothing unusual.
    """

    title: str
    setting: str
    advice: str
    providers: tuple[str, ...] = ()


_V1 = "Let api_base end in /v1"
_OLLAMA = ForeignFormat(
    "in Ollama's own format",
    "model",
    f"{_V1}, or set model to ollama_chat/{{name}}",
    ("ollama", "ollama_chat"),
)
_ANTHROPIC = ForeignFormat(
    "in Anthropic's format",
    "model",
    "Set model to anthropic/{name}",
    ("anthropic", "bedrock", "vertex_ai", "azure_ai", "databricks"),
)
_GEMINI = ForeignFormat(
    "in Gemini's format", "model", "Set model to gemini/{name}", ("gemini", "vertex_ai", "vertex_ai_beta")
)
_COHERE = ForeignFormat(
    "in Cohere's format", "model", "Set model to cohere_chat/{name}", ("cohere", "cohere_chat")
)
_BEDROCK = ForeignFormat("in Bedrock's format", "model", "Set model to bedrock/{name}", ("bedrock",))
_RESPONSES = ForeignFormat(
    "in the format of OpenAI's Responses API", "model", "Set model to openai/responses/{name}"
)
_TGI = ForeignFormat("in the format of Text Generation Inference", "api_base", _V1, ("huggingface",))
_LLAMA_CPP = ForeignFormat("in llama.cpp's own format", "api_base", _V1)
_CLOUDFLARE = ForeignFormat(
    "in the format of Cloudflare's Workers AI",
    "api_base",
    "Let api_base end in /ai/v1",
    ("cloudflare",),
)
_MODELS = ForeignFormat("with a list of its models", "api_base", "Check api_base")


def recognise(record: Any) -> ForeignFormat | None:
    """Return the format of a record: a whole answer, or one event of a stream; None for unknown ones."""
    match record:
        case {"choices": _}:
            return None
        case [dict(first), *_]:
            return recognise(first)
        case {"message": {"role": _}, "done": bool()} | {"response": str(), "done": bool()}:
            return _OLLAMA
        case {"type": "message_start" | "content_block_start" | "content_block_delta"}:
            return _ANTHROPIC
        case {"type": "message", "role": "assistant", "content": list()}:
            return _ANTHROPIC
        case {"candidates": list()} | {"promptFeedback": dict()}:
            return _GEMINI
        case {"type": "message-start" | "content-delta" | "message-end"}:
            return _COHERE
        case {"message": {"role": "assistant", "content": list()}, "finish_reason": str()}:
            return _COHERE
        case {"text": str(), "generation_id": str()}:
            return _COHERE
        case {"output": {"message": {"content": list()}}, "stopReason": _}:
            return _BEDROCK
        case {"object": "response", "output": _}:
            return _RESPONSES
        case {"type": str(kind)} if kind.startswith("response."):
            return _RESPONSES
        case {"generated_text": _} | {"token": {"text": str()}}:
            return _TGI
        case {"content": str(), "stop": bool()}:
            return _LLAMA_CPP
        case {"response": str()} | {"result": {"response": str()}}:
            return _CLOUDFLARE
        case {"object": "list", "data": list()} | {"models": list()}:
            return _MODELS
    return None
