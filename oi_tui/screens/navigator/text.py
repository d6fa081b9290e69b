"""The navigator's texts: keys, headline, and why the list is empty."""

from textual.content import Content

from oi_tui import paths
from oi_tui.text import clean_line
from oi_tui.widgets.footer import Keys

EXPORT_KEYS: Keys = (
    ("enter", "write"),
    (".md .ipynb .html .json .py", "choose the format"),
    ("esc", "cancel"),
)
RENAME_KEYS: Keys = (("enter", "rename"), ("esc", "cancel"))


def make_search_keys(folder: str | None) -> Keys:
    """Return the keys that act during a search."""
    where = "all folders" if folder else "this folder"
    return (
        ("type", "search"),
        ("enter", "open"),
        ("down", "to the list"),
        ("ctrl+t", where),
        ("esc", "back"),
    )


def make_list_keys(folder: str | None, waiting: int) -> Keys:
    """Return the keys that act on the selected conversation."""
    brings_in = (("i", f"import {waiting}"),) if waiting else ()
    return (
        ("enter", "open"),
        *brings_in,
        ("r", "rename"),
        ("d d", "delete"),
        ("/", "search"),
        ("u", "undo"),
        ("p", "pin"),
        ("x", "export"),
        ("f", "fork"),
        ("o", "all folders" if folder else "its folder"),
        ("esc", "back"),
    )


def write_headline(number: str, folder: str | None) -> Content:
    """Return the number of conversations, and their folder."""
    where = f"   in {clean_line(paths.shorten(folder), 200)}" if folder else ""
    return Content.assemble(
        ("Conversations", "bold"), "   ", (number, "$text-muted"), (where, "$text-accent")
    )


def explain_none_found(folder: str | None, *, elsewhere: bool) -> Content:
    """Return why no conversation is shown, for a search or for a folder."""
    searched = "No title, message, code or output contains all of these words."
    why = searched if elsewhere else "No conversation was started here."
    more = "" if folder is None else "\n\nOnly this folder is shown. "
    hint: tuple[str | tuple[str, str], ...] = (("ctrl+t", "$text-accent"), " shows all") if folder else ()
    return Content.assemble(("Nothing found", "bold"), f"\n\n{why}", more, *hint)


def explain_none_saved(waiting: int) -> Content:
    """Return the text for a user without conversations. `waiting` of them can be imported."""
    offer: tuple[str | tuple[str, str], ...] = ()
    if waiting:
        count = f"{waiting} conversation{'s' * (waiting != 1)} of Open Interpreter."
        offer = ("\n\n", ("i", "$text-accent"), f" imports {count}")
    return Content.assemble(
        ("No conversations yet", "bold"),
        "\n\nConversations are saved here automatically.\nGo back with ",
        ("esc", "$text-accent"),
        " and type a request.",
        *offer,
    )
