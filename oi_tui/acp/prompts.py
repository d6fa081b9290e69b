"""Converts the prompt of an editor into messages of a conversation."""

import base64
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from acp import RequestError

from oi_tui.acp.updates import fenced
from oi_tui.messages import Message
from oi_tui.text import visible

_IMAGES = {"image/png": "base64.png", "image/jpeg": "base64.jpeg"}


def messages_of(blocks: Sequence[Any]) -> list[Message]:
    """Return the messages of a prompt: one of text, and one for each image. Raises RequestError."""
    texts = [text for block in blocks if (text := _text(block))]
    images = list(_images(blocks))
    if not texts and not images:
        raise refused("The prompt is empty.")
    words = [Message(role="user", type="message", content="\n\n".join(texts))] if texts else []
    return [*words, *images]


def refused(sentence: str) -> RequestError:
    """Return the error for a request that cannot be fulfilled."""
    return RequestError(-32602, sentence)


def _text(block: Any) -> str:
    if block.type == "text":
        return str(block.text)
    if block.type == "resource_link":
        return f"File: {_path(block.uri)}"
    if block.type == "resource":
        return _resource(block.resource)
    if block.type == "audio":
        raise refused("Audio cannot be sent to the model. Send text, files or images.")
    return ""


def _resource(resource: Any) -> str:
    """Return a file whose content came along; "" for an image, which goes on its own."""
    content = getattr(resource, "text", None)
    if content is None:
        if _type_of(resource) in _IMAGES:
            return ""
        content = _decode(resource)
    return f"File: {_path(resource.uri)}\n{fenced('', content)}"


def _decode(resource: Any) -> str:
    try:
        return base64.b64decode(resource.blob, validate=True).decode()
    except ValueError:
        name, kind = visible(_path(resource.uri)), visible(_type_of(resource) or "unknown")
        raise refused(
            f"{name}: the content of a file must be text, PNG or JPEG, not {kind}. Mention the file instead."
        ) from None


def _type_of(resource: Any) -> str:
    return (resource.mime_type or "").partition(";")[0].strip().lower()


def _path(uri: str) -> str:
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else uri


def _images(blocks: Sequence[Any]) -> Iterator[Message]:
    for block in blocks:
        if block.type == "resource" and _type_of(block.resource) in _IMAGES:
            if content := getattr(block.resource, "blob", None):
                yield _image(_type_of(block.resource), content)
        elif block.type == "image":
            if block.mime_type not in _IMAGES:
                raise refused(
                    f"Images of the type {visible(block.mime_type)} cannot be sent. Use PNG or JPEG."
                )
            yield _image(block.mime_type, block.data)


def _image(kind: str, content: str) -> Message:
    try:
        base64.b64decode(content, validate=True)
    except ValueError:
        raise refused("The data of an image must be base64.") from None
    return Message(role="user", type="image", format=_IMAGES[kind], content=content)
