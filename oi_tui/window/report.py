"""Reports run code, variables and files to other programs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from oi_tui.engine.output.model_output import shorten_for_model
from oi_tui.engine.output.standing_output import keep_standing_output
from oi_tui.file_changes.snapshots import Snapshots
from oi_tui.messages import Message
from oi_tui.runtimes.variables import Memory
from oi_tui.text import clean_line

_STATES = {
    "failed": "The code failed.",
    "interrupted": "The code was interrupted; variables are kept.",
    "lost": "The language ended, and its variables are lost.",
    "unfinished": "The code was not run.",
    "skipped": "The code was not run.",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How code ended: its state, what it printed and showed, a remark in words, and the files it changed.

    `images` are pairs of a type and the image as base64.
    """

    state: str
    output: str
    note: str
    images: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    seconds: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as a JSON object."""
        return asdict(self)

    @classmethod
    def of_dict(cls, values: Mapping[str, Any]) -> "Outcome":
        """Read what `to_dict` gave."""
        images = tuple((str(kind), str(data)) for kind, data in values["images"])
        return cls(**{**values, "images": images, "files": tuple(values["files"])})


def find_outcome(messages: Sequence[Message], snapshots: Snapshots, most: int, refusal: str = "") -> Outcome:
    """Return how the code ended that these messages begin with; of its output at most `most` characters.

    `refusal` says why it was not run, where the messages do not.
    """
    code = next((m for m in messages if m.type == "code" and m.role == "assistant"), None)
    output_messages = keep_standing_output([message for message in messages if message.role == "computer"])
    return Outcome(
        state=(code.state if code else None) or "skipped",
        output=shorten_for_model(output_messages, most),
        note=refusal or _note(code),
        images=tuple(
            (f"image/{message.format.removeprefix('base64.')}", message.content)
            for message in output_messages
            if message.type == "image" and message.format in ("base64.png", "base64.jpeg")
        ),
        files=tuple(list_changed_files(snapshots, [code.id]) if code else ()),
        seconds=None if code is None or code.seconds is None else round(code.seconds, 3),
    )


def list_changed_files(snapshots: Snapshots, runs: Iterable[str]) -> list[str]:
    """Return the files that these runs changed, each once, as `created: a.txt`."""
    change_sets = (snapshots.find_change_set(run) for run in runs)
    files: dict[str, None] = {}
    for change_set in filter(None, change_sets):
        elsewhere = f" (on {clean_line(change_set.target)})" if change_set.target else ""
        files |= {f"{c.what}: {clean_line(c.name)}{elsewhere}": None for c in change_set.changes}
    return list(files)


def read_variables(memories: Iterable[Memory], language: str | None) -> dict[str, Any]:
    """Return the variables of one language, or of all that were started and report them."""
    return {
        memory.language: {
            "state": memory.state,
            "total": memory.total,
            "variables": [{"name": v.name, "type": v.type, "summary": v.summary} for v in memory.variables],
        }
        for memory in memories
        if language == memory.language or (language is None and memory.state not in ("unstarted", "silent"))
    }


def _note(code: Message | None) -> str:
    """Say how the code ended; "" where there is nothing to say."""
    if code is None:
        return "The code was not run."
    reason = clean_line(code.reason or "", 500)
    if code.state == "rejected":
        return f"The person did not allow this code{f': {reason}' if reason else '.'}"
    ending = reason if code.state == "finished" else f"{_STATES.get(code.state or '', '')} {reason}".strip()
    if code.decision == "edited":
        return f"{ending} The person changed the code before it ran. This ran:\n{code.content}".strip()
    return ending
