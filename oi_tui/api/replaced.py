"""Methods that a script or a test replaced: what stands in their place is what a turn calls.

Tests of programs replace `computer.run` so that no code runs, and `llm.run` so that no model is asked.
"""

import json
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from oi_tui.engine.open_interpreter.chunks import Chunk
from oi_tui.messages import Printed, Report, RunEnded, Started
from oi_tui.runtimes.computer import Computer
from oi_tui.runtimes.custom.chunks import convert_chunk


class ReplacedComputer:
    """The computer of a turn whose `run` was replaced; everything else is the computer's own."""

    def __init__(self, computer: Computer, run: Callable[..., Iterable[Chunk]]) -> None:
        self._computer = computer
        self._run = run

    def __getattr__(self, name: str) -> Any:
        return getattr(self._computer, name)

    def run(self, language: str, code: str, number: int | None = None) -> Iterator[Report]:
        """Call the function, and report its chunks; an error that it raises becomes output of the code."""
        del number
        began = time.monotonic()
        yield Started()
        try:
            for chunk in self._run(language, code, stream=True):
                yield from convert_chunk(chunk)
        except Exception:  # noqa: BLE001  # whatever a script's function raises
            yield Printed(traceback.format_exc())
            yield RunEnded("failed", time.monotonic() - began)
            return
        yield RunEnded("finished", time.monotonic() - began)


def make_completions(run: Callable[..., Iterable[Chunk]], conversation: Callable[[], Sequence[Chunk]]) -> Any:
    """Return `llm.completions` that ask a replaced `llm.run`, with the conversation as LMC messages."""

    def completions(messages: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
        system = [
            {"role": "system", "type": "message", "content": message["content"]}
            for message in messages
            if message["role"] == "system"
        ]
        yield from _convert_to_openai(run([*system, *conversation()]))

    return completions


def _convert_to_openai(chunks: Iterable[Chunk]) -> Iterator[dict[str, Any]]:
    """Convert chunks of text and code; each piece of code becomes one tool call."""
    languages: list[str] = []
    codes: list[str] = []
    inside = False
    for chunk in chunks:
        kind, content = chunk.get("type"), chunk.get("content")
        begins = kind == "code" and (not inside or "start" in chunk)
        inside = kind == "code" and "end" not in chunk
        if begins:
            languages.append(chunk.get("format") or "python")
            codes.append("")
        if kind == "code" and content:
            codes[-1] += content
        elif kind == "message" and content:
            yield {"choices": [{"delta": {"content": content}}]}
    for index, (language, code) in enumerate(zip(languages, codes, strict=True)):
        arguments = json.dumps({"language": language, "code": code})
        function = {"name": "execute", "arguments": arguments}
        call = {"index": index, "id": f"call_{index}", "function": function}
        yield {"choices": [{"delta": {"tool_calls": [call]}}]}
