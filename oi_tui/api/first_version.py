"""The interpreter of Open Interpreter 0.1, whose chunks and messages had other keys."""

from collections.abc import Generator
from contextlib import closing
from typing import Any

from oi_tui.api.interpreter import OpenInterpreter
from oi_tui.engine.open_interpreter.chunks import Chunk


class Interpreter(OpenInterpreter):
    """An OpenInterpreter whose chunks and messages also have the keys of 0.1, such as `message` and `code`.

    >>> with Interpreter(model="demo", auto_run=True) as interpreter:
    ...     chunks = list(interpreter.chat("Plot something", stream=True, display=False))
    >>> [next(iter(chunk)) for chunk in chunks][:2]
    ['start_of_message', 'message']
    """

    def chat(self, *arguments: Any, **options: Any) -> Any:
        """Do the same as `OpenInterpreter.chat`."""
        return add_old_keys(super().chat(*arguments, **options))


def add_old_keys(result: Any) -> Any:
    """Return what `chat` returned, chunks or messages, with the keys of 0.1 added to each."""
    if isinstance(result, Generator):
        return _stream(result)
    return [_list_old_keys(item) | item for item in result] if isinstance(result, list) else result


def _stream(chunks: Generator[Chunk, None, None]) -> Generator[Chunk, None, None]:
    with closing(chunks):
        for chunk in chunks:
            # Some scripts look at the first key only.
            if old := _list_old_keys(chunk):
                yield old | chunk


def _list_old_keys(item: Chunk) -> Chunk:
    """Return what 0.1 had in place of this chunk or message; empty where it had nothing."""
    begins, ends = "start" in item, "end" in item
    match item:
        case {"type": "confirmation", "content": {"format": language, "content": code}}:
            return {"executing": {"code": code, "language": language}}
        case {"type": "message" | "code" as kind} if begins or ends:
            flag: Chunk = {f"{'start' if begins else 'end'}_of_{kind}": True}
            return flag | ({"language": item["format"]} if begins and kind == "code" else {})
        case {"type": "console", "end": True}:
            return {"end_of_execution": True}
        case {"type": "message", "content": text}:
            return {"message": text}
        case {"type": "code", "role": "assistant", "format": language, "content": code}:
            # A piece of code alone; a whole message also says in which language it is.
            return {"code": code} | ({"language": language} if "state" in item else {})
        case {"type": "console", "format": "output", "content": text}:
            return {"output": text}
        case {"type": "console", "format": "active_line", "content": int(line)}:
            return {"active_line": line}
        case {"type": "image", "role": "computer", "content": image}:
            return {"image": image}
    return {}
