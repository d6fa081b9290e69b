"""Renames, deletes and restores saved conversations."""

import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from oi_tui import paths
from oi_tui.engine.export import formats
from oi_tui.engine.open_interpreter import conversations
from oi_tui.engine.storage.listing import Listing, Summary
from oi_tui.engine.storage.store import Store


class Library:
    """A list of conversations that is kept up to date through changes. Methods raise OSError."""

    def __init__(self, store: Store) -> None:
        self.store = store
        #: All of them, in the order of a list.
        self.listing = Listing()
        #: How many conversations of Open Interpreter can be imported.
        self.waiting = 0
        self._deleted: list[Summary] = []
        #: The ids deleted in earlier sessions that can be restored, the last first.
        self._thrown: list[str] = []

    @property
    def undoable(self) -> bool:
        """Whether something was deleted that can be restored."""
        return bool(self._deleted or self._thrown)

    def load_deleted(self, ids: Sequence[str]) -> None:
        """Load the deleted conversations that can be restored, the last first."""
        mine = {item.id for item in self._deleted}
        self._thrown = [entry for entry in ids if entry not in mine]

    def rename(self, item: Summary, title: str) -> None:
        """Give it another title."""
        self.store.rename(item.id, title)
        self.listing = self.listing.copy_with(replace(item, title=title))

    def pin(self, item: Summary) -> None:
        """Pin it at the top, or unpin it."""
        self.store.pin(item.id, not item.pinned)
        self.listing = self.listing.copy_with(replace(item, pinned=not item.pinned))

    def delete(self, item: Summary) -> None:
        """Delete it; `undo` restores it."""
        self.store.delete(item.id)
        self._thrown = [entry for entry in self._thrown if entry != item.id]
        self.listing = self.listing.copy_without(item.id)
        self._deleted.append(item)

    def undo(self) -> Summary:
        """Restore what was deleted last, also before a restart. A failed one is not tried again."""
        if not self._deleted:
            id_ = self._thrown.pop(0)
            self.store.restore(id_)
            self.listing = self.store.make_listing()
            at = self.listing.all().place_of(id_)
            if at is None:
                raise FileNotFoundError(2, "it no longer exists")
            return self.listing.get_summary(at)
        item = self._deleted.pop()
        self.store.restore(item.id)
        self.listing = self.listing.copy_with(item)
        return item

    def fork(self, item: Summary) -> str:
        """Copy it, and return the copy's id."""
        copy = self.store.fork(item.id)
        self.listing = self.store.make_listing()
        return copy

    def import_conversations(self, stopped: Callable[[], bool]) -> conversations.ImportReport:
        """Copy the conversations of Open Interpreter, and say what became of them."""
        return conversations.import_conversations(self.store, conversations.list_all_folders(), stopped)

    def export(self, item: Summary, place: str) -> Path:
        """Write it as a document, of the kind that the file's name ends with. Replaces nothing."""
        path = paths.expand_typed(place).absolute()
        if path.is_dir():
            path /= formats.make_file_name(item.title, ".md")
        if os.path.lexists(path):
            raise FileExistsError(17, f"the file {paths.shorten(path)} already exists")
        kind = formats.find_format(path)
        if kind is None:
            raise OSError(errno.EINVAL, f"the name must end in {formats.ENDINGS}")
        return formats.export(kind, item.title, self.store.read(item.id), path)[0]
