"""Parses what is between the marks of a tool call that is written as text."""

import json
import re
from collections.abc import Callable, Mapping
from itertools import pairwise

from oi_tui.engine.reply.parts import CodeEnded, CodeGrew, CodeStarted, Part, TextPart, clean_word
from oi_tui.engine.reply.tool_call_parser import ToolCallParser, clean_tool_name
from oi_tui.engine.reply.tool_call_recovery import (
    RecoveredCall,
    recover_calls,
    recover_code,
    recover_from_python,
    recover_from_tags,
    strip_fence,
)

Resolve = Callable[[str], str | None]

_BAR, _LOW = "[|\uff5c]", "[_\u2581 ]"
#: Where one of several calls begins.
_BEGIN = re.compile(
    rf"<{_BAR}tool{_LOW}call{_LOW}begin{_BAR}>|<\|tool_call_begin\|>|<tool_call>"
    r"""|(?=<(?:[a-z]{2,12}:)?invoke name=["']?[\w.-]{1,40}["']?>)|(?=<function=[\w.-]{1,40}>)"""
)
_SEPARATOR = re.compile(
    rf"<{_BAR}tool{_LOW}sep{_BAR}>|<\|tool_call:args\|>|<\|tool_call_argument_begin\|>|<\|tool_call_arguments_begin\|>"
)
#: A run of marks and white space. It is cut off at the end of a call.
_CLOSING = re.compile(
    rf"(?:<{_BAR}tool{_LOW}calls?{_LOW}end{_BAR}>|<\|tool_call_end\|>|</(?:[a-z]{{2,12}}:)?(?:tool_calls?|invoke|function)>|\s)+"
)
_FUNCTION = re.compile(r"""\s*<(?:(?:[a-z]{2,12}:)?invoke name=["']?|function=)([\w.-]{1,40})["']?>""")
_NAME = re.compile(r"\s*(?:call:|>>>)?([A-Za-z][\w.]{0,40}(?::\d{1,4})?)\s*(?=[\n<{\[`])")
#: How Gemma writes quotation marks.
_ESCAPED = re.compile(r"(<escape>|<\|\"\|>)(.*?)\1", re.DOTALL)
_LONGCAT = re.compile(r"(</?)longcat_(?=arg_(?:key|value)>)")
_CLOSED = re.compile(r"</[\w:\uff5c]{1,40}>\s*\Z")
#: Arguments that are written as elements, whatever is in them.
_ARGUMENT = re.compile(r"""\s*<(?:(?:[a-z]{1,12}:)?parameter(?:=| name=)|arg_key>)""")
_CHILD = re.compile(r"<(?:language|lang|code|command|script|source)>")
_ATTRIBUTE = re.compile(r"""\b(?:language|lang)\s*=\s*["']?([\w+#.-]{1,40})""")
#: One line of code as Markdown marks it.
_INLINE_CODE = re.compile(r"(`{1,2})([^`\n]+)\1")


def read_wrapped(
    form: str, groups: Mapping[str, str | None], body: str, resolve: Resolve, *, whole: bool
) -> list[Part] | None:
    """Return the parts of the calls that a form holds; None when they cannot be read.

    `groups` is what its opening captured. `whole` is False when the reply ended before the closing mark.
    """
    if form == "execute":
        return _read_execute(groups, body, resolve, whole=whole)
    if form == "written":
        return _split_parts(recover_from_python(body, resolve), whole=True)
    if form == "react":
        return _read_react(groups["action"] or "", body, resolve, whole=whole)
    if form == "python":
        return _read_call(body, "", resolve, whole=whole) or _split_parts(
            [RecoveredCall("python", body)], whole=whole
        )
    if form == "channel":
        name = clean_tool_name((groups["to"] or (groups["recipient"] or "").partition("=")[2]).strip())
        parts = _read_call(body, name, resolve, whole=whole)
        return parts or (_split_parts([RecoveredCall(name, body)], whole=whole) if resolve(name) else None)
    name = groups["named"] or groups["invoked"] or ""
    body = _LONGCAT.sub(r"\1", body.replace("\uff5cDSML\uff5c", ""))
    parts = []
    starts = [match.start() for match in _BEGIN.finditer(body)]
    before = body[: starts[0]] if starts else body
    if not starts or before.lstrip()[:1] in ("{", "["):
        parts += _read_call(before, name, resolve, whole=whole)
    for start, end in pairwise([*starts, len(body)]):
        parts += _read_call(_BEGIN.sub("", body[start:end], count=1), name, resolve, whole=whole)
    return parts or None


def _read_call(chunk: str, name: str, resolve: Resolve, *, whole: bool) -> list[Part]:
    """Read one call: perhaps its name, and its arguments in JSON or in another way."""
    if function := _FUNCTION.match(chunk):
        name, chunk = function[1], chunk[function.end() :]
    chunk = _ESCAPED.sub(lambda match: json.dumps(match[2]), chunk)
    before, separator, after = _split_chunk(chunk)
    if separator:
        name, chunk = before, after
    if match := _NAME.match(chunk):
        candidate = match[1].partition(":")[0]
        if candidate not in ("function", "json"):
            name = candidate
        chunk = chunk[match.end() :]
    is_closed = whole or _CLOSED.search(chunk) is not None
    chunk = _strip_closing(chunk)
    name = clean_tool_name(name)
    if _ARGUMENT.match(chunk) and (calls := recover_from_tags(chunk, name, resolve)):
        return _split_parts(calls, whole=is_closed)
    parts = _read_json(chunk, name, resolve, whole=whole)
    return parts or _split_parts(recover_calls(chunk, name, resolve), whole=is_closed)


def _strip_closing(chunk: str) -> str:
    """Remove closing marks and white space at the end, in linear time.

    A pattern that ends with the text would be tried again from each blank of a long run.
    """
    ends = (match.start() for match in _CLOSING.finditer(chunk) if match.end() == len(chunk))
    return chunk[: next(ends, len(chunk))]


def _split_chunk(chunk: str) -> tuple[str, bool, str]:
    match = _SEPARATOR.search(chunk)
    if match is None:
        return "", False, chunk
    before = chunk[: match.start()].strip()
    after = chunk[match.end() :]
    # "function", and then the name of the function on the rest of the line.
    if before == "function":
        before, _, after = after.partition("\n")
    return before.partition(":")[0].strip(), True, after


def _read_json(body: str, name: str, resolve: Resolve, *, whole: bool) -> list[Part]:
    """Read all calls that are written in JSON."""
    if inner := strip_fence(body):
        body = inner[1]
    parts: list[Part] = []
    while body.strip(" \n\r\t,;]"):
        reader = ToolCallParser(resolve, name=name, native=True)
        new_parts = reader.feed(body) + reader.finish(whole=whole)
        if not reader.found:
            break
        parts += new_parts
        body = reader.rest if reader.done else ""
    if parts and body.strip(" \n\r\t,;]`"):
        parts.append(TextPart(body))
    return parts


def _read_execute(
    groups: Mapping[str, str | None], body: str, resolve: Resolve, *, whole: bool
) -> list[Part] | None:
    """Read code between tags that say to run it."""
    tag = groups["run"] or ""
    name = tag.rpartition("_")[2] if tag.startswith("execute_") else tag
    if _CHILD.search(body) or body.lstrip()[:1] == "{":
        return _split_parts(recover_calls(body, name, resolve), whole=whole)
    attribute = _ATTRIBUTE.search(groups["attributes"] or "")
    language = clean_word(attribute[1]) if attribute else None
    code = body.strip("\r\n")
    if inner := strip_fence(body):
        language, code = language or inner[0] or None, inner[1]
    resolved = recover_code(code, language, name, "", resolve)
    return _split_parts([resolved] if resolved and code.strip() else [], whole=whole)


def _read_react(action: str, body: str, resolve: Resolve, *, whole: bool) -> list[Part] | None:
    """Read a ReAct action; other actions than ours are prose."""
    name = clean_tool_name(action)
    body = body.strip()
    if inline := _INLINE_CODE.fullmatch(body):
        body = inline[2].strip()
    if parts := _read_json(body, name, resolve, whole=whole):
        return parts
    if resolve(name) and not body.startswith("`"):
        return _split_parts([RecoveredCall(name, body)] if body else [], whole=whole)
    return _split_parts(recover_calls(body, name, resolve), whole=whole)


def _split_parts(calls: list[RecoveredCall], *, whole: bool) -> list[Part]:
    return [
        part
        for call in calls
        for part in (CodeStarted(call.language, None), CodeGrew(call.code), CodeEnded(whole))
    ]
