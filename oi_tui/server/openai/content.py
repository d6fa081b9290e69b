"""Parses the content of messages from OpenAI's clients: text, images, and text files."""

import base64
from collections.abc import Mapping
from typing import Any

from oi_tui.engine.export.formats import fence
from oi_tui.engine.llm.foreign_images import UNREADABLE, read_image
from oi_tui.messages import Message
from oi_tui.server.guard import RefusedError
from oi_tui.text import one_line

#: The name of the one model that clients can choose.
MODEL = "open-interpreter"


def read_switch(body: Mapping[str, Any], name: str, *, default: bool = False) -> bool:
    """Return a field that is true or false. Raises RefusedError."""
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        raise RefusedError(400, f"{name} must be true or false.", param=name)
    return default if value is None else value


def input_notice(prompt: str) -> str:
    """Return what tells a client that its next message goes to a program."""
    return f"The program waits for input: {one_line(prompt)}".rstrip(" :")


def content_messages(content: object) -> list[Message]:
    """The messages for a content of OpenAI's: text, or parts with text and images. Raises RefusedError."""
    if isinstance(content, str):
        return [Message(role="user", type="message", content=content)]
    if not isinstance(content, list) or not content or len(content) > 100:
        raise RefusedError(400, "The content must be text or a list of parts.")
    return [_part(part) for part in content]


def _part(part: object) -> Message:
    kind = part.get("type") if isinstance(part, dict) else None
    if isinstance(part, dict) and kind in ("text", "input_text") and isinstance(part.get("text"), str):
        return Message(role="user", type="message", content=part["text"])
    if isinstance(part, dict) and kind in ("image_url", "input_image"):
        image = part.get("image_url")
        address = image.get("url") if isinstance(image, dict) else image
        head, comma, data = str(address).partition(";base64,")
        if not (comma and head.startswith("data:image/")):
            raise RefusedError(400, "An image must be a data: address with the image in base64.")
        image = read_image(data)
        if image is None:
            raise RefusedError(400, UNREADABLE)
        return Message(role="user", type="image", format=image.format, content=image.content)
    if isinstance(part, dict) and kind in ("file", "input_file"):
        return _file(part["file"] if isinstance(part.get("file"), dict) else part)
    raise RefusedError(400, "A part must be text, an image_url or a file.")


def _file(part: Mapping[str, Any]) -> Message:
    """Return a file of text as a message that holds it."""
    name = one_line(str(part.get("filename") or "file"), 200)
    head, comma, data = str(part.get("file_data") or "").partition(";base64,")
    try:
        if not (comma and head.startswith("data:")):
            raise ValueError
        text = base64.b64decode(data, validate=True).decode()
    except ValueError:
        raise RefusedError(
            400, f"{name}: file_data must be a data: address with text in base64. Name other files by path."
        ) from None
    return Message(role="user", type="message", content=f"File: {name}\n{fence(text, '')}")
