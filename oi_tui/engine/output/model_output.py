"""Writes the output of a run for the model."""

from collections.abc import Callable, Iterable, Sequence

from oi_tui.engine.output.plain import clip, make_plain
from oi_tui.engine.output.standing_output import keep_standing_output
from oi_tui.messages import Message

#: How many characters of the rows of a table are kept even where its columns take all the room.
_LEAST_ROWS = 400


def shorten_for_model(
    results: Iterable[Message], limit: int, describe: Callable[[Message], str] = lambda _: ""
) -> str:
    """Return the output for the model, at most about `limit` characters of what was printed.

    `describe` gives the text for an image; "" for nothing. A limit of 0 or less means no limit.
    """
    parts: list[str] = []
    printed: list[str] = []
    for result in keep_standing_output(list(results)):
        if result.view is not None:
            # Printed text is shortened as a whole, a view by its own rows.
            parts += [_format_printed(printed, limit), clip_view(result.view, limit)]
            printed = []
        elif result.type == "console" and result.format != "active_line":
            printed.append(make_plain(result.content))
        elif result.type == "image":
            printed.append(describe(result))
        elif result.type in ("code", "message"):
            kind = result.format or "text"
            printed.append(f"[{kind} of {len(result.content):,} characters, shown to the user]")
    parts.append(_format_printed(printed, limit))
    return "\n".join(filter(None, parts))


def clip_view(view: str, limit: int) -> str:
    """Shorten the description of a value to about `limit` characters: its kind stays, middle rows go.

    An empty line ends the part that says what the value is, such as the names of all columns of a table.
    """
    if limit <= 0 or len(view) <= limit:
        return view
    head, _, rows = view.partition("\n\n")
    if not rows:
        return clip(view, limit)
    return f"{head}\n\n{clip(rows, max(limit - len(head), _LEAST_ROWS))}"


def _format_printed(texts: Sequence[str], limit: int) -> str:
    return clip("\n".join(text.strip("\n") for text in texts if text.strip()), limit)
