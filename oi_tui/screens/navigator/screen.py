"""The screen that finds, opens, renames and deletes saved conversations."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from oi_tui import paths
from oi_tui.engine.export.formats import make_file_name
from oi_tui.engine.storage.library import Library
from oi_tui.engine.storage.listing import Summary
from oi_tui.engine.storage.search import split_words
from oi_tui.engine.storage.store import Store
from oi_tui.screens.dialog import Page
from oi_tui.screens.navigator import text as words
from oi_tui.screens.navigator.actions import NavigatorActions
from oi_tui.screens.navigator.edit_line import EditLine
from oi_tui.screens.navigator.loader import (
    ConversationLoader,
    ImportFinished,
    Listed,
    SearchFinished,
)
from oi_tui.screens.navigator.preview import Preview
from oi_tui.screens.navigator.search import TextSearch
from oi_tui.screens.pager import PagerScreen
from oi_tui.text import clean_line
from oi_tui.widgets.field import Field
from oi_tui.widgets.footer import KeyFooter
from oi_tui.widgets.lists.conversation_list import ConversationList
from oi_tui.widgets.pager.long_text import LongText

#: From this width on, the selected conversation is shown beside the list.
WIDE = 100


class NavigatorScreen(Page[str | None]):
    """Lists all saved conversations. Closes with the id of the one to open, else with None."""

    CSS_PATH = paths.styles() / "navigator.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", id="navigator.leave"),
        # These three take effect before the next key is looked at, however quickly it follows: what is typed
        # into a line that opens must never be keys of the list, where d d deletes.
        Binding("slash", "search", "Search", priority=True, id="navigator.search"),
        Binding("r", "rename", "Rename", priority=True, id="navigator.rename"),
        Binding("d", "delete", "Delete", id="navigator.delete"),
        Binding("u", "undo", "Undo", id="navigator.undo"),
        Binding("p", "pin", "Pin", id="navigator.pin"),
        Binding("f", "fork", "Fork", id="navigator.fork"),
        Binding("x", "export", "Export", priority=True, id="navigator.export"),
        Binding("o", "its_folder", "Its folder", id="navigator.its_folder"),
        Binding("ctrl+t", "here", "This folder", priority=True, id="navigator.here"),
        *(
            Binding(key, f"to_list('{key}')", show=False, priority=True, id=f"navigator.to-list-{key}")
            for key in ("down", "up", "pagedown", "pageup")
        ),
        Binding("i", "bring_in", "Import", id="navigator.import"),
    ]

    def __init__(
        self,
        store: Store,
        *,
        folder: Path | None = None,
        refuse: Callable[[Path], str | None] = lambda _: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """List the conversations of `store`.

        `folder` is the current folder, `refuse` says why a file is not written where an export would be,
        `clock` gives the time in seconds.
        """
        super().__init__()
        self._head = Static(id="navigator-head", markup=False)
        self._search_box = Field(
            placeholder="search titles, messages, code and output", id="navigator-search"
        )
        self._list = ConversationList(clock=clock, id="navigator-list")
        self._empty = Static(id="navigator-empty", markup=False)
        self._line = EditLine(self._list, id="navigator-title")
        self._keys = KeyFooter(id="navigator-keys")
        self._library = Library(store)
        self._actions = NavigatorActions(self._library, self._list, self, refuse)
        self._reading = ConversationLoader(self._library, self.post_message, clock)
        self._preview = Preview(self._reading, id="navigator-side")
        self._text_search = TextSearch(self, self._reading, lambda: self._library.listing.readable, self._say)
        self._here = str(folder) if folder else None
        #: The folder whose conversations are shown, with those below it; None shows all.
        self._folder: str | None = None
        #: What the chosen conversation was found by, where it was found by what it says; else "".
        self.sought = ""
        #: Enter was pressed before anything was found: what is found first is opened.
        self._opening = False
        self._read = False
        self._notice = ""

    def compose(self) -> ComposeResult:
        """Mount the headline, the search box, the list with the preview, and the key hints."""
        yield self._head
        yield self._search_box
        yield Horizontal(self._list, self._empty, self._preview, id="navigator-body")
        yield self._line
        yield self._keys

    def on_mount(self) -> None:
        """Read the list in a thread. The search box takes keys at once."""
        self._search_box.focus()
        self._say()
        self.run_worker(self._reading.list_conversations, thread=True, group="load")

    def on_unmount(self) -> None:
        """Stop the threads that still read."""
        self.workers.cancel_node(self)

    def on_resize(self, event: events.Resize) -> None:
        """Show the preview only where there is room for it."""
        self.set_class(event.size.width >= WIDE, "-wide")
        self.call_after_refresh(self._line.follow)
        self._say()
        self._show_preview()

    # ---- The list

    @property
    def _query(self) -> str:
        return self._search_box.value.strip()

    @on(Listed)
    def handle_listed(self, event: Listed) -> None:
        """Show the list."""
        selected = self._list.selected
        self._library.listing, self._library.waiting = event.listing, event.waiting
        self._library.load_deleted(event.deleted)
        self._read = True
        self.show(select=selected.id if selected else None)
        self._text_search.start()
        # Only once the list is on the screen: until then, all the time there is belongs to it.
        self.call_after_refresh(self._bring_index_up_to_date)

    def _bring_index_up_to_date(self) -> None:
        self.run_worker(self._reading.update_index, thread=True, group="index")

    def show(self, select: str | None = None) -> None:
        """Show the conversations that match the search, with the one whose id is `select` selected."""
        sought = split_words(self._query)
        conversations = self._library.listing.matching(sought, self._folder, self._text_search.excerpts)
        self._list.show(
            conversations,
            words=sought,
            excerpts=self._text_search.excerpts if sought else None,
            select=select,
        )
        nothing = self._read and not conversations
        self.set_class(nothing, "-empty")
        if nothing:
            self._empty.update(self._explain_nothing())
        # With nothing to search, the keys are free for what can be done.
        unused = self._read and not self._library.listing
        if unused != self._search_box.disabled:
            self._search_box.disabled = unused
            if unused:
                self.set_focus(None)
            else:
                self._search_box.focus()
        self._say()

    def _explain_nothing(self) -> Content:
        if self._query or self._folder:
            return words.explain_none_found(self._folder, elsewhere=bool(self._query))
        if problem := self._library.store.explain_unreadable():
            return Content(problem)
        return words.explain_none_saved(self._library.waiting)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter the titles at once, and search the messages when the person stops typing."""
        event.stop()
        if event.input.id != "navigator-search":
            return
        self._notice = ""
        self._opening = False
        self._text_search.start_soon(self._query)
        self.show()

    @on(SearchFinished)
    def handle_search_finished(self, event: SearchFinished) -> None:
        """Show what was found, unless the search has changed by now."""
        if event.query != self._query:
            return
        self._text_search.add_hits(event)
        selected = self._list.selected
        self.show(select=selected.id if selected else None)
        if self._opening and self._list.selected is not None:
            self._open(self._list.selected)

    @on(ConversationList.Selected)
    def handle_selected(self, event: ConversationList.Selected) -> None:
        """Show the preview of the selected conversation."""
        event.stop()
        self._show_preview()

    @on(ConversationList.Opened)
    def handle_opened(self, event: ConversationList.Opened) -> None:
        """Close with the chosen conversation."""
        event.stop()
        self._open(event.summary)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Open the selected conversation; where none is selected yet, the first one that the search finds."""
        event.stop()
        if self._list.selected is not None:
            self._open(self._list.selected)
        else:
            self._opening = True

    def _open(self, summary: Summary) -> None:
        if summary.problem:
            self.show_notice(f"Could not open it: {summary.problem}.")
        else:
            self.sought = self._query if summary.id in self._text_search.excerpts else ""
            self.dismiss(summary.id)

    # ---- Keys

    def on_key(self, event: events.Key) -> None:
        """Let any other key cancel the deletion that a first `d` has prepared."""
        if event.key != "d":
            self._list.cancel_delete()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Disable actions: moving to an empty list, and letters of the list while a text is edited."""
        if action == "to_list":
            return self.focused is self._search_box and bool(self._list.items)
        if action in ("search", "rename", "export"):
            return not isinstance(self.focused, Input)
        return True

    def action_to_list(self, key: str) -> None:
        """Move the focus and this key from the search box to the list, before the next key arrives."""
        self.set_focus(self._list)
        if key == "down":
            self._list.action_move(1)
        elif key == "pagedown":
            self._list.action_page(1)

    def on_descendant_focus(self) -> None:
        """Show the keys of what has the focus."""
        self._say()

    def action_leave(self) -> None:
        """Close the navigator; while a text is edited, only that."""
        if self._line.keys:
            self._line.leave()
        else:
            self.dismiss(None)

    def action_search(self) -> None:
        """Focus the search box."""
        self._list.cancel_delete()
        if not self._search_box.disabled:
            self.set_focus(self._search_box)

    def action_rename(self) -> None:
        """Edit the title of the selected conversation on its line."""
        item = self._list.selected
        if item is not None and not item.problem:
            self._list.cancel_delete()
            self._line.ask(clean_line(item.title), words.RENAME_KEYS, self._actions.rename)
            self.show_notice("")

    def action_export(self) -> None:
        """Ask for the path of the file to export the selected conversation to."""
        item = self._list.selected
        if item is not None and not item.problem:
            place = paths.shorten(paths.find_home() / make_file_name(item.title, ".md"))
            self._list.cancel_delete()
            self._line.ask(place, words.EXPORT_KEYS, self._actions.export)
            self.show_notice("")

    @on(EditLine.Closed)
    def handle_closed(self, event: EditLine.Closed) -> None:
        """Show the keys of the list again."""
        event.stop()
        self._say()

    def action_pin(self) -> None:
        """Pin the selected conversation to the top of the list, or unpin it."""
        if self._list.selected is not None:
            self._actions.pin(self._list.selected)

    def action_delete(self) -> None:
        """Delete the selected conversation when pressed twice."""
        if self._list.selected is not None:
            self._actions.delete(self._list.selected)

    def action_undo(self) -> None:
        """Restore the conversation that was deleted last."""
        self._actions.undo()

    def action_fork(self) -> None:
        """Copy the selected conversation, and select the copy."""
        item = self._list.selected
        if item is not None and not item.problem:
            self._actions.fork(item)

    def action_here(self) -> None:
        """Show only the conversations of the current folder, or all again."""
        self._show_folder(None if self._folder else self._here)

    def action_its_folder(self) -> None:
        """Show only the conversations of the selected conversation's folder, or all again."""
        item = self._list.selected
        self._show_folder(None if self._folder or item is None else item.cwd)

    def _show_folder(self, folder: str | None) -> None:
        self._notice = ""
        selected = self._list.selected
        self._folder = folder or None
        self.show(select=selected.id if selected else None)

    def action_bring_in(self) -> None:
        """Import the conversations of Open Interpreter."""
        if self._library.waiting:
            self.show_notice("Importing the conversations of Open Interpreter …")
            self.run_worker(self._reading.import_conversations, thread=True, group="import", exclusive=True)
        else:
            self.show_notice("No other conversations of Open Interpreter were found.")

    @on(ImportFinished)
    def handle_brought_in(self, event: ImportFinished) -> None:
        """Show the result of the import, and its errors on a page of their own."""
        self.show_notice(event.text)
        if event.page:
            where = "The files of Open Interpreter are only read, never changed."
            self.app.push_screen(
                PagerScreen("Conversations of Open Interpreter", LongText.of(event.page), where)
            )

    # ---- Words

    def show_notice(self, text: str) -> None:
        """Show a notice in the last line."""
        self._notice = text
        self._say()

    def _say(self) -> None:
        visible_count, count = len(self._list.items), len(self._library.listing)
        if not self._read:
            number = "loading …"
        elif self._query or self._folder:
            number = f"{visible_count:,} of {count:,}" + (
                " · searching …" if self._text_search.is_running else ""
            )
        else:
            number = f"{count:,} saved" if count else ""
        self._head.update(words.write_headline(number, self._folder))
        acting = self.focused is not self._search_box
        waiting = self._library.waiting
        keys = words.make_list_keys(self._folder, waiting) if acting else words.make_search_keys(self._folder)
        if acting and self._read and not self._list.items:
            undo = (("u", "undo"),) if self._library.undoable else ()
            find = (("/", "search"),) if self._library.listing else ()
            keys = (*undo, *find, ("esc", "back"))
        keys = self._line.keys or keys
        self._keys.show(keys, self._notice)

    # ---- The preview

    def _show_preview(self) -> None:
        if self.has_class("-wide") and self.is_mounted:
            item = self._list.selected
            is_found = item is not None and item.id in self._text_search.excerpts
            self._preview.show_soon(item, split_words(self._query) if is_found else [])
