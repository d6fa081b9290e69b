"""Repairs unusual values in a chunk of a streamed reply, to match the format of OpenAI."""

import html
import json
import re
from typing import Any

from oi_tui.engine.llm.transport.content_parts import IMAGE_NOT_SHOWN, move_calls, name_unknown

#: Where servers put thoughts, beside the two places that clients know.
_THOUGHTS = ("thinking", "reasoning_details", "reasoning_text", "thought", "thoughts")
#: OpenRouter's words for an error of a provider, whose own words are beside them.
VAGUE = "Provider returned error"
_KINDS_OF_IMAGES = frozenset(("image", "image_url", "output_image"))
#: Fields without which some clients refuse a chunk.
_REQUIRED = {"id": "chunk", "object": "chat.completion.chunk", "created": 0, "model": ""}
_KINDS_OF_THOUGHTS = ("thinking", "reasoning", "thought")


def repair(record: dict[str, Any], *, error: bool = False) -> bool:
    """Repair odd values of a chunk, in place. Returns whether there were any.

    `error`: the event was announced as one.
    """
    changed = _normalize_error(record, error=error)
    match record:
        case {"choices": [{"usage": dict(usage)}, *_]} if not record.get("usage"):
            record["usage"] = usage
            changed = True
    if "usage" in record and record["usage"] is not None and not _is_usage(record["usage"]):
        del record["usage"]
        changed = True
    choices = record.get("choices")
    if choices is None:
        return changed
    if isinstance(choices, dict):
        choices = record["choices"] = [choices]
        changed = True
    good = [item for item in choices if isinstance(item, dict)] if isinstance(choices, list) else []
    if good != choices:
        record["choices"] = good
        changed = True
    for choice in good:
        changed = _repair_choice(choice) or changed
    for name, value in _REQUIRED.items():
        if record.get(name) is None:
            record[name] = value
            changed = True
    return changed


def find_signed_parts(record: dict[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return what the provider wants back unchanged, each with the name of its field (`signed_reasoning`)."""
    match record.get("choices"):
        case [{"delta": dict(delta)}, *_]:
            return find_signed_fields(delta)
    return []


def find_signed_fields(delta: dict[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the signed fields of a piece of a reply, or of a whole one."""
    fields = [
        (name, [entry for entry in entries if isinstance(entry, dict)])
        for name in ("thinking_blocks", "reasoning_details")
        if isinstance(entries := delta.get(name), list) and entries
    ]
    calls = delta.get("tool_calls")
    extra = [
        {"id": call["id"], "extra_content": call["extra_content"]}
        for call in (calls if isinstance(calls, list) else ())
        if isinstance(call, dict) and isinstance(call.get("id"), str) and call.get("extra_content")
    ]
    return [*fields, ("extra_content", extra)] if extra else fields


def is_chunk(record: dict[str, Any]) -> bool:
    """Return whether the record is a chunk in the format of OpenAI, or an error as any server may send it."""
    known_keys = record.keys() & {"choices", "usage", "error", "detail"}
    return bool(known_keys) or record.keys() == {"message"} or is_error(record)


def join_text(content: Any) -> str:
    """Return the text of a content, which some servers give in parts, or as something else than text."""
    match content:
        case None:
            return ""
        case str():
            return content
        case list():
            return "".join(map(join_text, content))
        case {"text": text} | {"thinking": text} | {"summary": text} | {"content": text} | {"parts": text}:
            return join_text(text)
        case {"refusal": text} | {"reasoning": text} | {"transcript": text}:
            return join_text(text)
        case dict():
            return ""
    return json.dumps(content)


def extract_error_text(body: Any) -> str:
    """Extract the message of a server's error, wherever it is, or ""."""
    match body:
        case str():
            try:
                inner = json.loads(body) if body.lstrip()[:1] in ("{", "[") else None
            except (ValueError, RecursionError):
                inner = None
            return (extract_error_text(inner) if inner is not None else "") or body
        case [first, *_]:
            return extract_error_text(first)
        case {"msg": str(reported), "loc": [*place]}:
            return f"{'.'.join(map(str, place))}: {reported}"
        case {"error": {"message": message, "metadata": {"raw": reported}}} if message == VAGUE and reported:
            return extract_error_text(reported)
        case {"error": reported} if reported and not isinstance(body.get("message"), list):
            return extract_error_text(reported)
        case {"base_resp": {"status_code": code, "status_msg": str(reported)}} if code:
            return reported
        case {"error_code": code, "error_msg": reported} | {"error_code": code, "text": reported} if code:
            return extract_error_text(reported)
        case {"errors": {**fields}} if fields:
            name, reported = next(iter(fields.items()))
            return f"{name}: {extract_error_text(reported)}"
        case {"message": reported} | {"detail": reported} | {"msg": reported} | {"errors": reported} if (
            reported
        ):
            return extract_error_text(reported)
    return ""


def is_error(record: dict[str, Any]) -> bool:
    """Return whether a record without choices is an error, by the words that servers have for it."""
    match record:
        case {"choices": [_, *_]}:
            return False
        case {"error": reported} if reported:
            return True
        case {"base_resp": {"status_code": code}} | {"error_code": code} if code:
            return True
        case {"object": "error", "message": _} | {"code": str(), "message": str()}:
            return True
        case {"detail": _}:
            return "type" not in record
    return False


def describe_page(text: str) -> str:
    """Say in a few words that a text is a web page, and which; "" for another text."""
    if not re.search(r"<(?:!doctype|html|body|head)\b", text[:2000], re.IGNORECASE):
        return ""
    title = re.search(r"<(?:title|h1)[^>]{0,200}>\s{0,50}([^<]{1,100})", text, re.IGNORECASE)
    return f"a web page: {html.unescape(title[1]).strip()}" if title else "a web page"


def remove_traceback(text: str) -> str:
    """Return the words of an error without a traceback of Python: those before it, else its last line."""
    before, traceback, lines = text.partition("Traceback (most recent call last)")
    if before.strip() or not traceback:
        return before.rstrip()
    last: str = (lines.strip().splitlines() or [""])[-1]
    return last.strip().removeprefix(":").strip()


def extract_error_code(body: Any) -> int | None:
    """Return the number of an error, where it is a status of HTTP."""
    match body:
        case [first, *_]:
            return extract_error_code(first)
        case {"error": dict(inner)}:
            return extract_error_code(inner)
        case {"code": code} | {"status": code} | {"status_code": code}:
            number = int(code) if str(code).isdecimal() else 0
            return number if 400 <= number < 600 else None
    return None


def _normalize_error(record: dict[str, Any], *, error: bool) -> bool:
    """Put the text of an error where clients look for it."""
    changed = False
    match record.get("choices"):
        case [{"error": reported}, *_] if reported and not record.get("error"):
            record["error"] = reported
            changed = True
    reported = record.get("error")
    if isinstance(reported, dict) and isinstance(reported.get("message"), str):
        text = extract_error_text(record)
        if text and reported["message"] == VAGUE != text:
            record["error"] = {**reported, "message": text}
            return True
        return changed
    # A record of the type "error" is one of a format that has such records.
    announced = error and not record.get("choices") and record.get("type") != "error"
    if reported or announced or is_error(record):
        text = extract_error_text(record)
        if text:
            record["error"] = {"message": text, "code": extract_error_code(record)}
            return True
    return changed


def _repair_choice(choice: dict[str, Any]) -> bool:
    changed = False
    if not isinstance(choice.get("index", 0), int):
        choice["index"] = int(choice["index"]) if str(choice["index"]).isdecimal() else 0
        changed = True
    reason = choice.get("finish_reason")
    if not isinstance(reason, str | None):
        choice["finish_reason"] = join_text(reason) or "stop"
        changed = True
    if choice.get("delta") is None and isinstance(choice.get("message"), dict):
        choice["delta"] = choice.pop("message")
        changed = True
    if choice.get("delta") is None and isinstance(choice.get("text"), str):
        choice["delta"] = {"content": choice["text"]}
        changed = True
    delta = choice.get("delta")
    if delta is None:
        return changed
    if not isinstance(delta, dict):
        choice["delta"] = {"content": join_text(delta)}
        return True
    return _repair_delta(delta) or changed


def _repair_delta(delta: dict[str, Any]) -> bool:
    changed = move_calls(delta)
    changed = _move_thoughts(delta) or changed
    changed = _name_images(delta) or changed
    if isinstance(delta.get("content"), list | dict):
        delta["content"] = name_unknown(delta["content"])
    for key in ("content", "reasoning_content", "reasoning"):
        if not isinstance(delta.get(key), str | None):
            delta[key] = join_text(delta[key])
            changed = True
    if not (delta.get("reasoning_content") or delta.get("reasoning")):
        reasoning = join_text(next((delta[name] for name in _THOUGHTS if delta.get(name)), None))
        if reasoning:
            delta["reasoning_content"] = reasoning
            changed = True
    if not delta.get("content"):
        audio = delta.get("audio")
        text = delta.get("refusal") or (audio.get("transcript") if isinstance(audio, dict) else None)
        if isinstance(text, str) and text:
            delta["content"] = text
            changed = True
    changed = _has_calls(delta) or changed
    return _repair_function_call(delta) or changed


def _repair_function_call(delta: dict[str, Any]) -> bool:
    """Put the old form of a call right. llama-cpp-python sends each call in both forms; one is enough."""
    function = delta.get("function_call")
    if function is None:
        return False
    if delta.get("tool_calls") or not isinstance(function, dict):
        del delta["function_call"]
        return True
    return _repair_arguments(function)


def _name_images(delta: dict[str, Any]) -> bool:
    """Say in the text that images came with it, which would be left out without a word."""
    content = delta.get("content")
    parts = content if isinstance(content, list) else []
    images = [part for part in parts if isinstance(part, dict) and part.get("type") in _KINDS_OF_IMAGES]
    attached_images = delta.get("images")
    count = len(images) + (len(attached_images) if isinstance(attached_images, list) else 0)
    if not count:
        return False
    text = join_text([part for part in parts if part not in images] if parts else content)
    delta["content"] = text + count * IMAGE_NOT_SHOWN
    delta.pop("images", None)
    return True


def _move_thoughts(delta: dict[str, Any]) -> bool:
    """Move the thoughts among the parts of a content, such as those of Mistral, to where thoughts are."""
    parts = delta.get("content")
    if not isinstance(parts, list):
        return False
    thoughts = [part for part in parts if isinstance(part, dict) and part.get("type") in _KINDS_OF_THOUGHTS]
    if not thoughts:
        return False
    delta["content"] = [part for part in parts if part not in thoughts]
    delta["reasoning_content"] = join_text(delta.get("reasoning_content")) + join_text(thoughts)
    return True


def _has_calls(delta: dict[str, Any]) -> bool:
    calls = delta.get("tool_calls")
    if calls is None:
        return False
    changed = False
    if not isinstance(calls, list):
        calls = delta["tool_calls"] = [calls]
        changed = True
    for call in calls:
        if isinstance(call, dict) and "function" not in call and isinstance(call.get("name"), str):
            call["function"] = {"name": call["name"], "arguments": call.get("arguments")}
            changed = True
    good = [call for call in calls if isinstance(call, dict) and isinstance(call.get("function"), dict)]
    if len(good) != len(calls):
        delta["tool_calls"] = good
        changed = True
    for number, call in enumerate(good):
        function = call["function"]
        if not isinstance(call.get("index"), int):
            index = str(call.get("index"))
            call["index"] = int(index) if index.isdecimal() else number
            changed = True
        if not isinstance(call.get("id"), str | None):
            call["id"] = str(call["id"])
            changed = True
        if not isinstance(function.get("name"), str | None):
            function["name"] = join_text(function["name"])
            changed = True
        changed = _repair_arguments(function) or changed
    return changed


def _repair_arguments(function: dict[str, Any]) -> bool:
    """Write the arguments of a call as text, where they are something else or have another name."""
    names = ("arguments", "parameters", "input", "args")
    arguments = next((function[name] for name in names if function.get(name) is not None), None)
    if isinstance(arguments, str) and arguments is function.get("arguments"):
        return False
    is_text = isinstance(arguments, str | None)
    function["arguments"] = arguments or "" if is_text else json.dumps(arguments)
    return True


def _is_usage(usage: Any) -> bool:
    """Return whether the numbers of a usage are numbers."""
    if not isinstance(usage, dict):
        return False
    counts = [usage.get(f"{kind}_tokens") for kind in ("prompt", "completion", "total")]
    details = [usage.get(f"{kind}_tokens_details") for kind in ("prompt", "completion")]
    return all(
        count is None or (isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 2**53)
        for count in counts
    ) and all(detail is None or isinstance(detail, dict) for detail in details)
