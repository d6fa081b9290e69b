"""Converts the prompt of an editor into messages of a conversation."""

import base64
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from acp import RequestError

from oi_tui.acp.updates import write_fence
from oi_tui.engine.llm.foreign_images import UNREADABLE, read_image
from oi_tui.messages import Message
from oi_tui.text import escape_controls


def read_messages(blocks: Sequence[Any]) -> list[Message]:
    """Return the messages of a prompt: one of text, and one for each image. Raises RequestError."""
    texts = [text for block in blocks if (text := _read_block(block))]
    images = list(_read_images(blocks))
    if not texts and not images:
        raise make_error("The prompt is empty.")
    words = [Message(role="user", type="message", content="\n\n".join(texts))] if texts else []
    return [*words, *images]


def find_typed_text(blocks: Sequence[Any]) -> str:
    """Return what the person typed or mentioned: all words but the contents of files."""
    return "\n\n".join(_read_block(block) for block in blocks if block.type != "resource")


def make_error(sentence: str) -> RequestError:
    """Return the error for a request that cannot be fulfilled."""
    return RequestError(-32602, sentence)


def _read_block(block: Any) -> str:
    if block.type == "text":
        return str(block.text)
    if block.type == "resource_link":
        return f"File: {_find_path(block.uri)}"
    if block.type == "resource":
        return _read_resource(block.resource)
    if block.type == "audio":
        raise make_error("Audio cannot be sent to the model. Send text, files or images.")
    return ""


def _read_resource(resource: Any) -> str:
    """Return a file whose content came along; "" for an image, which goes on its own."""
    content = getattr(resource, "text", None)
    if content is None:
        if _is_image(resource):
            return ""
        content = _decode(resource)
    return f"File: {_find_path(resource.uri)}\n{write_fence('', content)}"


def _decode(resource: Any) -> str:
    try:
        return base64.b64decode(resource.blob, validate=True).decode()
    except ValueError:
        name, kind = (
            escape_controls(_find_path(resource.uri)),
            escape_controls(_type_of(resource) or "unknown"),
        )
        raise make_error(
            f"{name}: the content of a file must be text or an image, not {kind}. Mention the file instead."
        ) from None


def _is_image(resource: Any) -> bool:
    # SVG is text.
    return _type_of(resource).startswith("image/") and "svg" not in _type_of(resource)


def _type_of(resource: Any) -> str:
    return (resource.mime_type or "").partition(";")[0].strip().lower()


def _find_path(uri: str) -> str:
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else uri


def _read_images(blocks: Sequence[Any]) -> Iterator[Message]:
    for block in blocks:
        if block.type == "resource" and _is_image(block.resource):
            if content := getattr(block.resource, "blob", None):
                yield _read_image(content)
        elif block.type == "image":
            yield _read_image(block.data)


def _read_image(content: str) -> Message:
    image = read_image(content)
    if image is None:
        raise make_error(UNREADABLE)
    return Message(role="user", type="image", format=image.format, content=image.content)
