"""Actions of the navigator on a saved conversation, with their messages."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from oi_tui import paths
from oi_tui.engine.storage.library import Library
from oi_tui.engine.storage.listing import UNTITLED, Summary
from oi_tui.text import clean_line
from oi_tui.widgets.lists.conversation_list import ConversationList


class NavigatorView(Protocol):
    """The screen that shows the results."""

    def show_notice(self, text: str) -> None:
        """Show a notice in the last line."""

    def show(self, select: str | None = None) -> None:
        """Show the current list, with the conversation whose id is `select` selected."""


class NavigatorActions:
    """Renames, pins, deletes, copies and exports conversations.

    An error of the disk is shown, and changes nothing.
    """

    def __init__(
        self,
        library: Library,
        rows: ConversationList,
        view: NavigatorView,
        refuse: Callable[[Path], str | None],
    ) -> None:
        """Write no export where `refuse` says why not."""
        self._refuse = refuse
        self._library = library
        self._rows = rows
        self._view = view

    def rename(self, item: Summary, title: str) -> None:
        """Give the conversation another title. An empty title, or the same one, has no effect."""
        title = clean_line(title.strip(), 200)
        if title and title != item.title:
            self._attempt("Could not rename", lambda: self._library.rename(item, title))
            self._view.show(item.id)

    def pin(self, item: Summary) -> None:
        """Pin the conversation to the top of the list, or unpin it."""
        if self._attempt("Could not pin", lambda: self._library.pin(item)):
            self._view.show_notice("")
        self._view.show(item.id)

    def delete(self, item: Summary) -> None:
        """Mark the conversation at the first call, and delete it at the second."""
        if self._rows.marked_for_deletion != item.id:
            self._rows.marked_for_deletion = item.id
            self._rows.refresh()
            return
        items = self._rows.items
        at = items.place_of(item.id) or 0
        after = items[at + 1 : at + 2] or items[max(0, at - 1) : at]
        if self._attempt("Could not delete", lambda: self._library.delete(item)):
            self._view.show(after[0].id if after else None)
            self._view.show_notice(f"Deleted {_quote_title(item)}; u restores it.")

    def undo(self) -> None:
        """Restore the conversation that was deleted last."""
        if not self._library.undoable:
            self._view.show_notice("There is nothing to restore.")
            return
        back: list[Summary] = []
        if self._attempt("Could not restore", lambda: back.append(self._library.undo())):
            self._view.show(back[0].id)
            self._view.show_notice(f"Restored {_quote_title(back[0])}.")

    def fork(self, item: Summary) -> None:
        """Copy the conversation, and select the copy."""
        copy: list[str] = []
        if self._attempt("Could not copy", lambda: copy.append(self._library.fork(item))):
            self._view.show(copy[0])
            self._view.show_notice(f"Copied {_quote_title(item)}; the copy is selected.")

    def export(self, item: Summary, path: str) -> None:
        """Write the conversation to the file `path`, in the format of its extension."""
        files: list[Path] = []
        if reason := self._refuse(paths.expand_typed(path.strip())):
            self._view.show_notice(f"Not exported. {reason}.")
        elif path.strip() and self._attempt(
            "Could not export", lambda: files.append(self._library.export(item, path.strip()))
        ):
            self._view.show_notice(f"Exported to {paths.shorten(files[0])}.")

    def _attempt(self, otherwise: str, act: Callable[[], None]) -> bool:
        """Do it, or say in the last line why it was not done."""
        try:
            act()
        except OSError as error:
            self._view.show_notice(f"{otherwise}: {paths.explain_write_error(error)}.")
            return False
        return True


def _quote_title(item: Summary) -> str:
    title = clean_line(item.title, 40)
    return f"“{title}”" if title else UNTITLED
