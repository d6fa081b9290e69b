"""Exports a conversation: Markdown, a notebook, HTML, scripts, or the JSON of Open Interpreter."""

import errno
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oi_tui import paths
from oi_tui.engine import cell_target
from oi_tui.engine.credentials.redaction import remove_secrets
from oi_tui.engine.export.html import write_html
from oi_tui.engine.output.plain import make_plain, normalise_line_ends
from oi_tui.engine.output.screen_text import MOVES
from oi_tui.engine.output.standing_output import remove_erased
from oi_tui.messages import Message, make_message_id
from oi_tui.text import clean_line, clean_text

#: Code in one of these states ran, whether it finished or not.
_RAN = ("finished", "failed", "interrupted", "lost")
#: How a cell of a Python notebook runs another language.
_MAGICS = {
    "shell": "%%bash",
    "sql": "%%sql",
    "bash": "%%bash",
    "zsh": "%%script zsh",
    "javascript": "%%script node",
    "deno": "%%script deno run -",
    "bun": "%%script bun run -",
    "ruby": "%%ruby",
    "perl": "%%perl",
    "lua": "%%script lua -",
    "r": "%%script Rscript -",
}
_COMMENTS = {
    "javascript": "//",
    "java": "//",
    "html": "",
    "lua": "--",
    "octave": "%",
    "sql": "--",
    **dict.fromkeys(("c", "cpp", "rust", "go", "php", "deno", "bun"), "//"),
}
_SUFFIXES = {
    "python": ".py",
    "shell": ".sh",
    "bash": ".sh",
    "zsh": ".zsh",
    "javascript": ".js",
    "ruby": ".rb",
    "perl": ".pl",
    "lua": ".lua",
    "r": ".R",
    "sql": ".sql",
    "java": ".java",
    "html": ".html",
    "powershell": ".ps1",
    "applescript": ".applescript",
    "react": ".jsx",
    "c": ".c",
    "cpp": ".cpp",
    "rust": ".rs",
    "go": ".go",
    "php": ".php",
    "octave": ".m",
    "deno": ".ts",
    "bun": ".ts",
}


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of document. `write` makes its text of the title and the messages."""

    name: str
    suffix: str
    help: str
    write: Callable[[str, Sequence[Message]], str]


def make_file_name(title: str, suffix: str) -> str:
    """Make a file name of a title, valid on every system."""
    words = re.sub(r"[^\w.-]+", "-", title[:60]).strip("-._") or "conversation"
    return f"{words}{suffix}"


def find_format(path: Path) -> Format | None:
    """Return the kind of document that a file's name ends with: code of any language is a script."""
    suffix = path.suffix.lower()
    if suffix in {item.lower() for item in _SUFFIXES.values()} - {FORMATS["html"].suffix}:
        return FORMATS["script"]
    return next((item for item in FORMATS.values() if item.suffix == suffix), None)


def export(format: Format, title: str, messages: Sequence[Message], path: Path) -> list[Path]:
    """Write the document, for its owner only; the file appears whole or not at all. Raises OSError.

    An export is made to be passed on: keys that are known are taken out.
    Returns what was written: of a script whose code is in several languages, one file for each, the others
    beside the first under names that were free.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {paths.shorten(path.parent)}")
    # Before it is written as well as afterwards: HTML and Markdown may write a key in parts.
    title = remove_secrets(title)
    messages = [
        message if message.type == "image" else message.replace(content=remove_secrets(message.content))
        for message in messages
    ]
    if format.write not in (write_script, write_original):
        # What a program cleared or wrote over is gone; the messages themselves keep it.
        messages = remove_erased(messages)
    if format.write is not write_script:
        _write(path, format.write(title, messages))
        return [path]
    # The language of the file's suffix comes first, else the one that ran most often.
    languages = sorted(
        _rank_languages(messages), key=lambda entry: find_suffix(entry) != path.suffix.lower()
    ) or ["python"]
    files: list[Path] = []
    for language in languages:
        target = _find_free_path(path.with_suffix(find_suffix(language)), language) if files else path
        _write(target, write_script(title, messages, language))
        files.append(target)
    return files


def _write(path: Path, text: str) -> None:
    # Half of a character (a lone surrogate) cannot stand in a file.
    document = remove_secrets(text).encode("utf-8", "replace").decode()
    # Code in the sandbox could put a link here, so that its own words become a file somewhere else.
    paths.replace_file(path, document, follows_link=False)


def _find_free_path(path: Path, language: str) -> Path:
    """Return the path, or one like it that names no file yet."""
    stems = (
        path.stem,
        f"{path.stem}-{_describe_word(language)}",
        *(f"{path.stem}-{n}" for n in range(2, 1000)),
    )
    return next((free_path for stem in stems if not os.path.lexists(free_path := path.with_stem(stem))), path)


def _describe_word(text: str) -> str:
    return re.sub(r"\W+", "", text)[:30]


# ---------------------------------------------------------------------------------------------- Markdown


def write_markdown(title: str, messages: Sequence[Message]) -> str:
    """Return the conversation to read: a heading for each speaker and each cell, code and output in fences.

    Headings of the first three levels are the program's own; headings in messages are moved below them.
    """
    parts = [f"# {clean_line(title, 300)}"]
    speaker, cells, after_cell = "", 0, False
    for message in messages:
        name = {"user": "You", "assistant": "Assistant", "computer": ""}[message.role]
        # Text after a cell has a heading of its own, so that it does not belong to the cell.
        if name and (name != speaker or (after_cell and not message.is_cell)):
            parts.append(f"## {name}")
        if name:
            speaker, after_cell = name, message.is_cell
        if message.is_cell:
            cells += 1
            parts.append(f"### Cell {cells}: {_escape(clean_line(message.format or 'code', 30))}")
        parts += _split_paragraphs(message)
    return "\n\n".join(part for part in parts if part) + "\n"


def _split_paragraphs(message: Message) -> list[str]:
    if message.type == "console":
        text = clean_text(make_plain(message.content)).rstrip()
        return [write_fence(text, "output")] if text else ["*No output.*"]
    text = clean_text(message.content).rstrip()
    if message.type == "code":
        return [write_fence(text, message.format or ""), _describe_outcome(message)]
    if message.type == "image":
        return [f"![image]({_make_image_source(message)})"]
    text = _lower_headings(close_markdown(text))
    if message.type == "reasoning":
        return ["\n".join(f"> {line}".rstrip() for line in text.split("\n"))]
    return [text]


#: How many levels of headings are the program's own, and the lowest one that there is.
_OWN_LEVELS, _LOWEST = 3, 6
_HTML_HEADING = re.compile(r"<(?=/?h[1-6]\b)", re.IGNORECASE)


def _lower_headings(text: str) -> str:
    """Return the Markdown with its headings below those of the program, so
    that it cannot imitate a speaker.
    """
    if not re.search(r"^[\s>*+\d.)-]*(?:#|=|-)|<\s*/?h[1-6]", text, re.MULTILINE | re.IGNORECASE):
        return text
    from markdown_it import MarkdownIt

    lines: list[str | None] = list(text.split("\n"))
    tokens = MarkdownIt("commonmark").parse(text)
    for token, content in zip(tokens, [*tokens[1:], None], strict=True):
        if token.map is None:
            continue
        start, end = token.map
        if token.type == "heading_open" and content is not None:
            mark = "#" * min(int(token.tag[1:]) + _OWN_LEVELS, _LOWEST)
            if token.level == 0:
                heading = f"{mark} {' '.join(content.content.split())}"
                lines[start:end] = [heading, *[None] * (end - start - 1)]
            elif token.markup.startswith("#"):
                # Within a quotation or a list, whose marks stand before it.
                lines[start] = re.sub(r"#{1,6}(?=\s|$)", mark, lines[start] or "", count=1)
            else:
                lines[end - 1] = re.sub(r"[-=]+\s*$", "", lines[end - 1] or "")
        elif token.type == "html_block" or any(child.type == "html_inline" for child in token.children or ()):
            lines[start:end] = [line and _HTML_HEADING.sub("&lt;", line) for line in lines[start:end]]
    return "\n".join(line for line in lines if line is not None)


def _escape(text: str) -> str:
    return re.sub(r"[^\w .+#-]", "", text)


def write_fence(text: str, language: str) -> str:
    """Return the text in a Markdown fence that is longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{re.sub(r'[^A-Za-z0-9+#-]', '', language)}\n{text}\n{fence}"


#: What ends a block that would go on to the end of a document, as Markdown has them.
_ENDS = ("", "-->", "?>", "]]>", ">", "</pre>", "</script>", "</style>", "</textarea>")


def close_markdown(text: str) -> str:
    """Return the Markdown with its last block ended, so that it does not take in what follows."""
    if not re.search(r"```|~~~|<[!?a-z]", text, re.IGNORECASE):
        return text
    tildes = max(re.findall(r"~{3,}", text), key=len, default="")
    ticks = max(re.findall(r"`{3,}", text), key=len, default="")
    for end in (*_ENDS, ticks, tildes):
        tried = f"{text}\n{end}" if end else text
        if _ends_block(tried):
            return tried
    return write_fence(text, "markdown")


def _ends_block(text: str) -> bool:
    """Return whether a paragraph that follows the Markdown is one."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").parse(f"{text}\n\nfollows")
    return tokens[-2:-1] != [] and tokens[-2].type == "inline" and tokens[-2].content == "follows"


def _describe_outcome(message: Message) -> str:
    if message.state in (None, "finished"):
        return "*The code was edited before it ran.*" if message.decision == "edited" else ""
    reason = clean_line(message.reason or "")
    return f"*{str(message.state).capitalize()}{': ' + reason if reason else '.'}*"


def _make_image_source(message: Message) -> str:
    if (message.format or "").startswith("base64"):
        return f"data:{_find_media_type(message)};base64,{re.sub(r'[^A-Za-z0-9+/=]', '', message.content)}"
    return re.sub(r"[^\w./~-]", lambda m: f"%{ord(m.group()):02X}", message.content)


def _find_media_type(message: Message) -> str:
    return "image/jpeg" if message.format == "base64.jpeg" else "image/png"


# ---------------------------------------------------------------------------------------------- Notebook


def write_notebook(title: str, messages: Sequence[Message]) -> str:
    """Write a Jupyter notebook (format 4.5): code that ran as cells with output, the rest as text."""
    cells: list[dict[str, Any]] = [_make_text_cell(f"# {clean_line(title, 300)}", make_message_id())]
    by_code: dict[str, dict[str, Any]] = {}
    last: dict[str, Any] | None = None
    # What was run again is in the notebook once: it runs from top to bottom.
    again = {item.id for item in messages if item.type == "code" and item.parent is not None}
    for message in messages:
        if message.role == "computer":
            cell = by_code.get(message.parent or "", last)
            if cell is not None and message.parent not in again:
                cell["outputs"] += _make_outputs(message)
            continue
        if message.type == "code":
            source = _make_cell_source(message)
            if message.id in again:
                continue
            if source is not None and (message.state is None or message.state in _RAN):
                last = by_code[message.id] = _make_code_cell(source, message, len(by_code) + 1)
                cells.append(last)
                continue
            last = None
        text = "\n\n".join(part for part in _split_paragraphs(message) if part)
        if message.role == "user":
            text = "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
        cells.append(_make_text_cell(text, message.id))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    whole = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, indent=1) + "\n"


def _make_cell_source(message: Message) -> str | None:
    language = (message.format or "").lower()
    code = _comment_out_place(message.content, _COMMENTS.get(language, "#"))
    if language in ("python", "py"):
        return code
    magic = _MAGICS.get(language)
    return f"{magic}\n{code}" if magic else None


def _comment_out_place(code: str, mark: str) -> str:
    """Turn the line that says where the code runs into a comment: other programs do not know it."""
    target, body = cell_target.split(code)
    return f"{mark} on {target}{body}" if target else code


def _make_code_cell(source: str, message: Message, count: int) -> dict[str, Any]:
    metadata: dict[str, Any] = {"language": message.format or "python"}
    if message.state not in (None, "finished"):
        # It did not finish here either, and what follows ran all the same.
        metadata["tags"] = ["raises-exception"]
    return {
        "cell_type": "code",
        "id": _make_cell_id(message.id),
        "metadata": metadata,
        "execution_count": count,
        "source": source,
        "outputs": [],
    }


def _make_text_cell(text: str, id: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": _make_cell_id(id), "metadata": {}, "source": text}


def _make_cell_id(id: str) -> str:
    return id if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", id) else make_message_id()


def _make_outputs(message: Message) -> list[dict[str, Any]]:
    if message.type == "console":
        if not message.content:
            return []
        # A notebook knows colours and the carriage return, but not how a cursor moves.
        moves = MOVES.search(message.content)
        text = f"{make_plain(message.content).rstrip()}\n" if moves else normalise_line_ends(message.content)
        return [{"output_type": "stream", "name": "stdout", "text": text}]
    if message.type == "code" and message.format == "html":
        data = {"text/html": message.content, "text/plain": "<html>"}
        return [{"output_type": "display_data", "data": data, "metadata": {}}]
    if not (message.format or "").startswith("base64"):
        return []
    data = {_find_media_type(message): message.content, "text/plain": "<image>"}
    return [{"output_type": "display_data", "data": data, "metadata": {}}]


# ---------------------------------------------------------------------------------------------- Script


def write_script(title: str, messages: Sequence[Message], language: str | None = None) -> str:
    """Return the code of a language that ran, as one program; of the language
    that ran most often for None.
    """
    language = language or find_main_language(messages)
    mark = _COMMENTS.get(language, "#")
    parts = [f"{mark} {clean_line(title, 200)}".strip()]
    for message in _list_codes(messages):
        if (message.format or "").lower() == language:
            note = "" if message.state == "finished" else f"{mark} {message.state} when it ran\n"
            parts.append(note + _comment_out_place(message.content, mark).rstrip("\n"))
    return "\n\n".join(parts) + "\n"


def find_main_language(messages: Sequence[Message]) -> str:
    """Return the language of most of the code that ran, "python" if there is none."""
    return next(iter(_rank_languages(messages)), "python")


def _rank_languages(messages: Sequence[Message]) -> list[str]:
    """Return the languages of the code that ran, the one that ran most often first."""
    ran = Counter((code.format or "").lower() for code in _list_codes(messages))
    return [language for language, _ in ran.most_common()]


def _list_codes(messages: Sequence[Message]) -> list[Message]:
    """Return the code that ran, each piece once, however often it was run again."""
    return [
        message
        for message in messages
        if message.type == "code"
        and message.role != "computer"
        and message.state in _RAN
        and message.parent is None
    ]


def find_script_suffix(messages: Sequence[Message]) -> str:
    """Return the suffix of an exported script."""
    return find_suffix(find_main_language(messages))


def find_suffix(language: str) -> str:
    """Return the suffix of a file with code of the language."""
    return _SUFFIXES.get(language.lower(), ".txt")


# ---------------------------------------------------------------------------------------------- JSON


#: Where a message of another program keeps the entries that it was made of, as JSON; an empty list where an
#: earlier message keeps them.
ORIGINAL = "original"


def write_original(_title: str, messages: Sequence[Message]) -> str:
    """Return the list of messages that Open Interpreter 0.4.3 reads; what it does not know is left out.

    What was brought in is given back as it was.
    """
    entries: list[object] = []
    for message in messages:
        stored = message.unknown.get(ORIGINAL)
        if isinstance(stored, list) and all(isinstance(item, str) for item in stored):
            try:
                entries += [json.loads(item) for item in stored]
                continue
            except (ValueError, RecursionError):
                pass
        if message.type != "reasoning":
            entries.append(make_original_entry(message))
    return json.dumps(entries, indent=2) + "\n"


def make_original_entry(message: Message) -> dict[str, Any]:
    """Return the message as Open Interpreter would store it."""
    fields = ("role", "type", "format", "content", "recipient")
    return {name: value for name in fields if (value := getattr(message, name)) is not None}


#: The formats by the name that a person types.
FORMATS: Mapping[str, Format] = {
    item.name: item
    for item in (
        Format("markdown", ".md", "A readable text with code and output.", write_markdown),
        Format("notebook", ".ipynb", "A Jupyter notebook with outputs and images.", write_notebook),
        Format("html", ".html", "A web page with images; nothing in it runs.", write_html),
        Format("script", ".txt", "The code that ran, one file per language.", write_script),
        Format("json", ".json", "The messages in Open Interpreter's format.", write_original),
    )
}
#: What a file's name should end with, for whom it ended with something else.
ENDINGS = ".md, .ipynb, .html, .json, or .py and the like for scripts"
