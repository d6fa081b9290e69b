"""Answers to a Jupyter client's requests that run nothing."""

import codeop
import fnmatch
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from oi_tui.messages import Message
from oi_tui.runtimes.variables import is_name
from oi_tui.server.backend import Backend
from oi_tui.version import __version__

#: The version of Jupyter's messages.
PROTOCOL_VERSION = "5.3"
#: Media type, ending of files, and the name of the lexer, where that is not the language's own.
_LANGUAGES = {
    "python": ("text/x-python", ".py", "ipython3"),
    "javascript": ("text/javascript", ".js", "javascript"),
    "typescript": ("text/typescript", ".ts", "typescript"),
    "deno": ("text/typescript", ".ts", "typescript"),
    "bun": ("text/typescript", ".ts", "typescript"),
    "shell": ("text/x-sh", ".sh", "bash"),
    "zsh": ("text/x-sh", ".zsh", "zsh"),
    "r": ("text/x-r-source", ".r", "r"),
    "ruby": ("text/x-ruby", ".rb", "ruby"),
    "julia": ("text/x-julia", ".jl", "julia"),
    "perl": ("text/x-perl", ".pl", "perl"),
    "lua": ("text/x-lua", ".lua", "lua"),
    "java": ("text/x-java", ".java", "java"),
    "powershell": ("application/x-powershell", ".ps1", "powershell"),
    "c": ("text/x-csrc", ".c", "c"),
    "cpp": ("text/x-c++src", ".cpp", "cpp"),
    "rust": ("text/rust", ".rs", "rust"),
    "go": ("text/x-go", ".go", "go"),
    "php": ("application/x-httpd-php", ".php", "php"),
    "octave": ("text/x-octave", ".m", "octave"),
    "html": ("text/html", ".html", "html"),
}
#: What stands around the cursor when a client asks for help.
_NAME_BEFORE = re.compile(r"[\w$.]*\Z")
_NAME_AFTER = re.compile(r"[\w$]*")
_VERSION = re.compile(r"\d+(?:\.\d+)+")
#: Longer code is not looked at while it is typed, in characters.
_LONGEST = 20_000
_MOST_HISTORY = 1_000


def describe_kernel(backend: Backend, language: str) -> dict[str, Any]:
    """Return the content of `kernel_info_reply`: the kernel and its language."""
    mimetype, ending, lexer = _LANGUAGES.get(language, ("text/plain", ".txt", language))
    program = backend.computer.describe(language)
    version = _VERSION.search(program)
    return {
        "status": "ok",
        "protocol_version": PROTOCOL_VERSION,
        "implementation": "oi-tui",
        "implementation_version": __version__,
        "language_info": {
            "name": language,
            "version": version[0] if version else "",
            "mimetype": mimetype,
            "file_extension": ending,
            "pygments_lexer": lexer,
        },
        "banner": f"oi-tui {__version__}: {program}",
        "help_links": [],
        "debugger": False,
        "supported_features": [],
    }


def make_completions(backend: Backend, language: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of `complete_reply` for the code at the cursor.

    No matches while the language is busy.
    """
    code, end = _find_at_cursor(content)
    completion = backend.computer.inspector.complete(language, code[:end])
    start = end - min(completion.typed, end) if completion else end
    matches = [item.text for item in completion.found] if completion else []
    return {"status": "ok", "matches": matches, "cursor_start": start, "cursor_end": end, "metadata": {}}


def describe_at_cursor(backend: Backend, language: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of `inspect_reply`: the variable at the cursor, or the function that is called."""
    code, place = _find_at_cursor(content)
    before, after = _NAME_BEFORE.search(code[:place]), _NAME_AFTER.match(code, place)
    name = ((before[0] if before else "") + (after[0] if after else "")).rstrip(".")
    inspector = backend.computer.inspector
    detail = inspector.inspect(language, name) if is_name(name) else None
    if detail:
        text = f"{name}: {detail.description}\n{detail.preview}"
    else:
        call_text = f"{code[:place]}{after[0] if after else ''}("
        completions = (
            inspector.complete(language, start) for start in ((call_text,) if name else ()) + (code[:place],)
        )
        text = next((item.note for item in completions if item and item.note), "")
    return {"status": "ok", "found": bool(text), "data": {"text/plain": text} if text else {}, "metadata": {}}


def judge_completeness(language: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of `is_complete_reply`; for languages other than Python, the status is `unknown`."""
    code = content.get("code") or ""
    if language != "python" or len(code) > _LONGEST or code.lstrip().startswith(("%", "!", "?")):
        return {"status": "unknown"}
    last = code.rpartition("\n")[2]
    indent = last[: len(last) - len(last.lstrip())]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            complete = codeop.compile_command(code, symbol="exec") is not None
    except (SyntaxError, ValueError, OverflowError):
        return {"status": "invalid"}
    except (RecursionError, MemoryError):
        return {"status": "unknown"}
    if complete and not indent:
        return {"status": "complete"}
    deeper = "    " if last.rstrip().endswith(":") else ""
    return {"status": "incomplete", "indent": indent + deeper}


def make_history(messages: Sequence[Message], content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of `history_reply`: the last cells, or cells by number or by a pattern."""
    codes = [message.content for message in messages if message.is_cell]
    rows = [(0, number, code) for number, code in enumerate(codes, 1)]
    number = _read_whole_number(content.get("n"), _MOST_HISTORY)
    match content.get("hist_access_type"):
        case "range":
            first, last = (
                _read_whole_number(content.get("start"), 0),
                _read_whole_number(content.get("stop"), len(rows) + 1),
            )
            rows = [row for row in rows if first <= row[1] < last]
        case "search":
            pattern = content.get("pattern") or "*"
            rows = [row for row in rows if fnmatch.fnmatchcase(row[2], pattern)]
            if content.get("unique"):
                rows = list({row[2]: row for row in rows}.values())
            rows = rows[-number:]
        case _:
            rows = rows[-number:]
    if content.get("output"):
        return {"status": "ok", "history": [(s, n, (code, None)) for s, n, code in rows[-_MOST_HISTORY:]]}
    return {"status": "ok", "history": rows[-_MOST_HISTORY:]}


def _find_at_cursor(content: Mapping[str, Any]) -> tuple[str, int]:
    code, place = content.get("code") or "", content.get("cursor_pos")
    return code, len(code) if place is None else min(int(place), len(code))


def _read_whole_number(value: object, default: int) -> int:
    return value if isinstance(value, int) and value > 0 else default
