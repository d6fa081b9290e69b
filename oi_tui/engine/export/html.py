"""Exports a conversation as one HTML page without scripts or external files."""

import base64
import binascii
import re
from collections.abc import Sequence
from html import escape
from typing import Any

from oi_tui.engine.output.plain import make_plain
from oi_tui.messages import Message
from oi_tui.text import clean_line, clean_text, format_duration

#: Only images from the page itself and the styles below are let in; no script, no frame, no request.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_STYLE = """
:root { color-scheme: light dark; --ink: #1c1f24; --paper: #fff; --soft: #f3f4f6; --rule: #d5d9df;
  --muted: #5c6470; --mine: #e8effb; --link: #0b57b0; --bad: #a8201a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e6ea; --paper: #15181c; --soft: #1f242a;
  --rule: #3a4149; --muted: #9aa3af; --mine: #1d2b40; --link: #8ab8f5; --bad: #ff9b94; } }
body { max-width: 50rem; margin: 2rem auto; padding: 0 1rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; }
h2 { font-size: .9rem; margin: 2rem 0 .5rem; color: var(--muted); }
a { color: var(--link); }
pre, code { font: .875rem/1.5 ui-monospace, monospace; }
pre { margin: 0; padding: .75rem 1rem; background: var(--soft); border-radius: 6px; overflow-x: auto; }
figure { margin: 1rem 0; border: 1px solid var(--rule); border-radius: 6px; }
figure pre { border-radius: 0; }
figcaption { padding: .35rem 1rem; color: var(--muted); font-size: .85rem; }
figcaption.bad { color: var(--bad); }
.mine { padding: .5rem 1rem; background: var(--mine); border-radius: 6px; white-space: pre-wrap; }
.output { border-top: 1px solid var(--rule); background: none; }
.aside { color: var(--muted); }
img { max-width: 100%; height: auto; background: #fff; }
table { border-collapse: collapse; } td, th { border: 1px solid var(--rule); padding: .2rem .6rem; }
@media print { pre { white-space: pre-wrap; } }
"""
_SPEAKERS = {"user": "You", "assistant": "Assistant"}
#: What an image's bytes begin with, by the kind that the page says it is.
_IMAGES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}


def write_html(title: str, messages: Sequence[Message]) -> str:
    """Return the page. All message content is text; images are embedded, links lead to the web only."""
    printed: dict[str, list[Message]] = {}
    codes = {message.id for message in messages if message.type == "code" and message.role != "computer"}
    last = None
    for message in messages:
        if message.id in codes:
            last = message.id
        elif message.role == "computer":
            owner = message.parent if message.parent in codes else last
            printed.setdefault(owner or "", []).append(message)
    write = _make_converter()
    parts = [_write_output(message) for message in printed.get("", ())]
    speaker = ""
    for message in messages:
        if message.role == "computer":
            continue
        if _SPEAKERS[message.role] != speaker:
            speaker = _SPEAKERS[message.role]
            parts.append(f"<h2>{speaker}</h2>")
        if message.type == "code":
            parts.append(_render_cell(message, printed.get(message.id, ())))
        elif message.type == "image":
            parts.append(_render_image(message))
        elif message.type == "reasoning":
            body = f'<pre class="aside">{_render_text(message.content)}</pre>'
            parts.append(f'<details class="aside"><summary>Thought</summary>{body}</details>')
        elif message.role == "assistant":
            parts.append(write(clean_text(message.content)))
        else:
            parts.append(f'<div class="mine">{_render_text(message.content)}</div>')
    heading = _render_text(clean_line(title, 300))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{heading}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{heading}</h1>\n"
        + "\n".join(part for part in parts if part)
        + "\n</body>\n</html>\n"
    )


def _render_text(text: str) -> str:
    return escape(clean_text(text))


def _make_converter() -> Any:
    """Build the Markdown converter: no raw HTML, no images from elsewhere."""
    from markdown_it import MarkdownIt

    writer = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    writer.validateLink = _is_web  # type: ignore[method-assign]
    return writer.render


def _is_web(url: str) -> bool:
    return bool(re.match(r"(?:https?://|mailto:)", url.strip(), re.IGNORECASE))


def _render_cell(code: Message, printed: Sequence[Message]) -> str:
    facts = [clean_line(code.format or "code", 30), code.state or "not run"]
    if code.seconds is not None:
        facts.append(format_duration(code.seconds))
    if code.where:
        facts.append(clean_line(code.where, 100))
    if code.decision == "edited":
        facts.append("edited before it ran")
    if code.reason:
        facts.append(clean_line(code.reason, 300))
    bad = ' class="bad"' if code.state in ("failed", "lost", "rejected", "interrupted") else ""
    caption = f"<figcaption{bad}>{_render_text(' · '.join(facts))}</figcaption>"
    below = "".join(_write_output(message) for message in printed)
    return f"<figure>{caption}<pre><code>{_render_text(code.content)}</code></pre>{below}</figure>"


def _write_output(message: Message) -> str:
    if message.type == "image":
        return _render_image(message)
    text = make_plain(message.content).strip("\n")
    return f'<pre class="output">{_render_text(text)}</pre>' if text else ""


def _render_image(message: Message) -> str:
    """Return the image as a part of the page, where it is one."""
    if (message.format or "").startswith("base64"):
        try:
            raw = base64.b64decode(message.content, validate=False)
        except (binascii.Error, ValueError):
            raw = b""
        for kind, beginning in _IMAGES.items():
            if raw.startswith(beginning):
                data = base64.b64encode(raw).decode()
                return f'<img alt="image" src="data:{kind};base64,{data}">'
        return '<p class="aside">An image that cannot be shown.</p>'
    return f'<p class="aside">Image: {_render_text(clean_line(message.content, 300))}</p>'
