"""The texts of the status lines, and of an empty conversation."""

from math import ceil
from typing import TYPE_CHECKING

from textual.content import Content

from oi_tui.commands import COMMANDS
from oi_tui.text import clean_line, format_count, format_elapsed
from oi_tui.widgets.status_bar import Fact

if TYPE_CHECKING:
    from oi_tui.engine.session import Session

Facts = tuple[Fact, ...]


#: The commands that a click on the facts at the right of the header carries out, in the order of the facts.
HEADLINE_COMMANDS = ("permissions", "", "", "", "model", "tokens", "tokens")


def write_headline(
    session: "Session", tokens: int, *, has_model: bool = True, named: str = ""
) -> tuple[Facts, Facts]:
    """Return the subject of the conversation, and mode, model and cost by importance."""
    first_request = named or next((m.content for m in session.messages if m.role == "user"), "")
    permissions = list(session.permissions)
    if session.auto_run:
        mode = ("AUTO: runs without asking", "$text-error bold")
    elif permissions:
        more = f" and {len(permissions) - 1} more" if len(permissions) > 1 else ""
        words = f"{permissions[-1].language}" if permissions[-1].scope == "code" else permissions[-1].words
        mode = (f"auto-approves: {words}{more}", "$text-warning bold")
    else:
        mode = ("approval on", "")
    model = "demo (a script, not an AI)" if session.profile.model == "demo" else session.profile.model
    if not has_model:
        model = "no model yet"
    facts = (
        mode,
        (clean_line(session.where, 60), "$text-warning bold"),
        ("sandbox on" if session.profile.sandbox else "", ""),
        ("OS mode" if session.profile.os else "", "$text-warning bold"),
        (clean_line(model, 40), ""),
        (_describe_size(tokens, session), ""),
        (session.usage.totals.short_price, ""),
    )
    return (("oi-tui", "bold"), (clean_line(first_request, 200), "$text-muted")), facts


def _describe_size(tokens: int, session: "Session") -> str:
    """Return how full the context window was with the last request and its reply.

    Where its size is not known, how many tokens these were.
    """
    if not tokens:
        return ""
    if session.window:
        return f"ctx {tokens / session.window:.0%}"
    return f"{format_count(tokens)} tokens"


#: What stands in the last line while running code uses mouse and keyboard.
POINTER = "the model has the mouse: move it to pause"
#: The keys that matter while something other than the prompt has the keyboard.
_HINTS = {
    "editing": ("f5 done", "esc cancel", "f8 changes", "ctrl+f replace"),
    "editing in vi": ("f5 done", ":q! cancel", "f8 changes", "ctrl+f replace"),
    "blocks": ("up previous", "down next", "c copy", "ctrl+down prompt", "? more"),
    "asking": ("page up/down read", "tab prompt", "f1 help"),
    "reason": ("enter reject", "esc reject and stop"),
    "granting": ("esc back",),
    "input": ("enter send", "ctrl+d end of input", "tab prompt"),
    "finding": ("enter next", "esc close", "up previous"),
    "sidebar": ("enter choose", "esc prompt", "ctrl+o show"),
    "home": ("enter choose", "tab prompt", "f1 help"),
}
#: Names of commands as a newcomer looks for them.
_NAMES = {"profile": "settings"}
#: What keys of commands do instead while something is typed at the prompt.
_NAMES_WHILE_TYPING = {**_NAMES, "conversations": "history"}
#: Where escape does something else than to stop.
_OWN_ESCAPE = ("editing", "editing in vi", "reason", "granting", "finding", "sidebar")


def write_status(
    doing: str,
    seconds: float,
    left: float | None = None,
    choice: str = "",
    place: str = "",
    *,
    pointer: bool = False,
    stop: str = "esc stop",
    line: str = "",
) -> tuple[Facts, Facts]:
    """Return the current activity, its time or the seconds `left`, and the keys that matter now.

    `choice` says what escape does now, where it does something else than to stop. `place` is what has the
    keyboard, as in `_HINTS`; "" is the empty prompt, "typing" one with text. `pointer` says that running code
    uses mouse and keyboard, `stop` which keys stop what is in progress, and `line` where running code is.
    """
    names = _NAMES_WHILE_TYPING if place == "typing" else _NAMES
    hints = [
        f"{command.keys} {names.get(command.name, command.name)}"
        for command in COMMANDS.values()
        if command.shown
    ]
    keys = tuple((hint, "$text-muted") for hint in _HINTS.get(place, hints))
    if not doing:
        return (("ready", "$text-muted"),), keys
    timed = format_elapsed(seconds) if seconds >= 1 else ""
    if left is not None:
        doing, timed = f"{doing} in {max(ceil(left), 0)} s", ""
    now: Facts = ((doing, "$text-accent bold"), (line, "$text-muted"), (timed, "$text-muted"))
    if pointer:
        now = ((POINTER, "$text-warning bold"), *now)
    if choice:
        return (*now, (choice, "$text-warning")), keys
    return now, keys if place in _OWN_ESCAPE else ((stop, ""), *keys)


def describe_empty(*, resumes: bool) -> Content:
    """Return the text of the first frame, before anything is known of the conversation."""
    if resumes:
        return Content.styled("Opening the conversation …", "$text-muted")
    return Content.styled("Type what you want.", "bold")


def describe_next_request(session: "Session", *, has_model: bool, where: str, elsewhere: bool) -> Content:
    """Return which model gets the next request, and whether its code runs without asking."""
    model = session.profile.model
    if not has_model:
        first = f"No model is set: {COMMANDS['model'].keys} chooses one.\n"
    elif model == "demo":
        first = "The demo model answers: a script, not an AI.\n"
    else:
        first = f"{clean_line(model, 60)} writes code for your request.\n"
    if session.auto_run:
        second = ("Code runs without asking: AUTO is on.", "$text-error bold")
    elif session.permissions:
        second = ("Code needs your approval, except what %permissions lists.", "$text-warning")
    else:
        place = "" if elsewhere else " on this machine"
        second = (f"You read the code, edit it, and decide whether it runs{place}.", "$text-muted")
    return Content.assemble(
        ("Type what you want.\n", "bold"),
        (first, "$text-muted"),
        second,
        (
            f"\n{'Code runs ' * elsewhere}{clean_line(where, 70)}",
            "$text-warning" if elsewhere else "$text-muted",
        ),
    )


def write_title(session: "Session", doing: str, named: str = "") -> str:
    """Return the current activity for the window's title, marked if it needs the person."""
    first_request = named or next((m.content for m in session.messages if m.role == "user"), "")
    waits = "approval" in doing or "input" in doing
    auto = "AUTO" if session.auto_run else ""
    parts = (f"{'● ' if waits else ''}{clean_line(doing, 40)}", auto, clean_line(first_request, 60), "oi-tui")
    return " · ".join(part for part in parts if part)
