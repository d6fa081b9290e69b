"""Parses the content of messages from OpenAI's clients: text, images, and text files."""

import base64
import re
from collections.abc import Mapping
from typing import Any

from oi_tui.engine.export.formats import write_fence
from oi_tui.engine.llm.foreign_images import UNREADABLE, read_image
from oi_tui.messages import Message
from oi_tui.server.guard import RequestRefusedError
from oi_tui.text import clean_line

#: The name of the one model that clients can choose.
MODEL = "open-interpreter"
_MOST_PARTS = 100
#: The field of a request in the path of one of its parts, such as `input` of `input[0].content`.
_FIELD = re.compile(r"[a-z_]+")


def write_input_notice(prompt: str) -> str:
    """Return the text that tells a client that its next message is typed to the running program."""
    return f"The program waits for input: {clean_line(prompt)}".rstrip(" :")


def read_content(content: object, where: str = "content") -> list[Message]:
    """Return the messages for the content of one of OpenAI's: a text, or parts with text, images and files.

    `where` is the path of the content in the request. Raises RequestRefusedError, which names the part.
    """
    if isinstance(content, str):
        return [Message(role="user", type="message", content=content)]
    if not isinstance(content, list) or not 0 < len(content) <= _MOST_PARTS:
        raise make_refusal(where, f"must be text or a list of 1 to {_MOST_PARTS} parts.")
    return [_read_part(part, f"{where}[{number}]") for number, part in enumerate(content)]


def make_refusal(where: str, why: str) -> RequestRefusedError:
    """Return the error for a part of a request, with the path of the part for OpenAI's clients."""
    return RequestRefusedError(400, f"{where} {why}", param=_FIELD.match(where)[0])  # type: ignore[index]


def _read_part(part: object, where: str) -> Message:
    kind = part.get("type") if isinstance(part, dict) else None
    if isinstance(part, dict) and kind in ("text", "input_text"):
        if not isinstance(part.get("text"), str):
            raise make_refusal(f"{where}.text", "must be text.")
        return Message(role="user", type="message", content=part["text"])
    if isinstance(part, dict) and kind in ("image_url", "input_image"):
        image = part.get("image_url")
        address = image.get("url") if isinstance(image, dict) else image
        head, comma, data = str(address).partition(";base64,")
        if not (comma and head.startswith("data:image/")):
            raise make_refusal(f"{where}.image_url", "must be a data: address with the image in base64.")
        image = read_image(data)
        if image is None:
            raise make_refusal(f"{where}.image_url", f"cannot be read. {UNREADABLE}")
        return Message(role="user", type="image", format=image.format, content=image.content)
    if isinstance(part, dict) and kind in ("file", "input_file"):
        return _read_file(part["file"] if isinstance(part.get("file"), dict) else part, where)
    raise make_refusal(f"{where}.type", "must be that of a text, an image_url or a file.")


def _read_file(part: Mapping[str, Any], where: str) -> Message:
    """Return a file of text as a message that holds it."""
    name = clean_line(str(part.get("filename") or "file"), 200)
    head, comma, data = str(part.get("file_data") or "").partition(";base64,")
    try:
        if not (comma and head.startswith("data:")):
            raise ValueError
        text = base64.b64decode(data, validate=True).decode()
    except ValueError:
        raise make_refusal(
            f"{where} ({name}): file_data",
            "must be a data: address with text in base64. Name other files by path.",
        ) from None
    return Message(role="user", type="message", content=f"File: {name}\n{write_fence(text, '')}")
