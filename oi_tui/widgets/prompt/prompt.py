"""The prompt: one or more lines in which a person types."""

import asyncio
import time
from asyncio import TimerHandle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets.text_area import TextAreaTheme

from oi_tui import commands, paths
from oi_tui.input.multiline import is_open, remove_quotes
from oi_tui.text import clean_text
from oi_tui.widgets.idle import obey
from oi_tui.widgets.prompt.completing_text_area import CompletingTextArea
from oi_tui.widgets.timer import schedule

#: Rows that the prompt grows to before it scrolls.
MOST_ROWS = 8
#: Rows of the screen that are never the prompt's: first and last line, and what is around the prompt.
_OTHER_ROWS = 4
#: Keys that follow each other within this many seconds were not typed by a person.
BURST = 0.02
#: An enter at the end of a burst is held back for so long: what follows it makes it a newline.
HELD = 0.05
#: A second escape comes within this many seconds.
ESCAPES = 1.0
#: Actions of the screen that may clear the prompt: of what is typed around the key, only what came before it.
AT_ONCE = ("command('stop')", "copy_or_stop")


class Prompt(CompletingTextArea):
    """A text area that sends on enter, remembers what was sent, and completes `%commands`.

    A paste sends nothing, whether the terminal says that it is one or sends its characters as keys: an enter
    that came in a burst and is followed by more, or by another enter, is a newline.

    A pasted path becomes an `@path`. Enter sends what is typed and nothing else, also while completions are
    offered.

    Its height is fixed and changes only with the number of rows, because a change of height lays out
    the whole screen again.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+j,alt+enter,shift+enter", "newline", "New line", id="prompt.newline", show=False),
        Binding("alt+d", "delete_word_right", "Delete the next word", id="prompt.delete_word", show=False),
        Binding(
            "ctrl+d", "delete_or_quit", "Delete; quit with an empty prompt", id="prompt.quit", show=False
        ),
        Binding("ctrl+y", "redo_or_copy", "Redo, or copy the last code", id="prompt.redo", show=False),
        Binding(
            "ctrl+r",
            "next_in_history",
            "Search your messages for what is typed",
            id="prompt.search",
            show=False,
        ),
        Binding("ctrl+u", "clear", "Clear", id="prompt.clear", show=False),
        Binding("ctrl+s", "search_history", "Search your messages", id="prompt.history", show=False),
        Binding("ctrl+t", "open_paste", "Show the paste", id="prompt.open_paste", show=False),
        # The text area would delete a word with it.
        Binding("ctrl+f", "screen.command('find')", "Find", id="prompt.find", show=False),
    ]

    @dataclass
    class Sent(Message):
        """The person pressed enter on `text`, which is not blank; `Prompt.full` puts long pastes into it."""

        text: str

    @dataclass
    class LastQueuedRequested(Message):
        """The person wants the message back that was sent last and still waits."""

    class GlanceRequested(Message):
        """The person asks which keys act now."""

    @dataclass
    class Hinted(Message):
        """There is something to say about what is being typed; empty when there no longer is."""

        hint: str

    def __init__(
        self,
        history: Sequence[str] = (),
        *,
        remember: Callable[[str], object] = lambda _text: None,
        id: str | None = None,
    ) -> None:
        """`history` is what was sent in earlier sessions; `remember` is given what is sent in this one."""
        super().__init__(history, placeholder=Content("Type a request   (? shows keys)"), id=id)
        self._remember = remember
        #: Where pasted paths are looked for, and what they are written relative to.
        self.folder = Path.cwd()
        self._hint = ""
        #: Whether a message that was sent still waits; `up` then gives it back instead of the history.
        self.queue_waits = False
        #: Whether enter with nothing typed lets the model continue.
        self.continues = False
        #: Whether three quotation marks begin and end a message of several lines.
        self.multi_line = True
        self._last_key = 0.0
        #: When escape was last pressed with nothing to stop.
        self._escaped_at = -ESCAPES
        self._held: TimerHandle | None = None
        self._burst_has_lines = False

    def on_mount(self) -> None:
        """Take the look of the style sheet rather than of a code theme."""
        self.register_theme(TextAreaTheme("prompt"))
        self.theme = "prompt"
        self.fit()

    def use_vi(self, wanted: bool) -> None:
        """Take the keys of vi, or no longer."""
        if wanted == (self.vi is not None):
            return
        self.vi = None
        if wanted:
            from oi_tui.widgets.vi.vi import Vi

            self.vi = Vi(self, self._note_vi)
        self._note_vi()

    def _handle_vi_key(self, event: events.Key) -> bool:
        """Give vi a key, unless it sends the message or leaves the first or the last row for the history."""
        vi = self.vi
        if vi is None or event.key == "enter":
            return False
        if vi.mode == "normal" and not vi.is_pending:
            if event.key == "question_mark" and not self.text:
                return False
            if event.character == "/":
                vi.begin("insert")
                event.stop()
                event.prevent_default()
                self.action_search_history()
                return True
            if (event.character == "k" and self._on_row(0)) or (event.character == "j" and self._on_row(-1)):
                event.key, event.character = "up" if event.character == "k" else "down", None
                return False
        if event.key == "escape" and vi.mode == "insert":
            self._close_offers()
        return self.handle_vi_key(event)

    def put_back(self, text: str) -> None:
        """Put text before what is being typed; nothing that was typed is lost."""
        self.text = "\n".join(part for part in (text, self.text) if part)
        self.move_cursor(self.document.end)

    async def _on_key(self, event: events.Key) -> None:
        burst = event.time - self._last_key < BURST
        self._last_key = event.time
        if not burst:
            self._burst_has_lines = False
        if self._held is not None:
            self._held.cancel()
            self._held = None
            self._burst_has_lines = True
            self.insert("\n")
        if self._handle_vi_key(event):
            return
        match event.key:
            case "enter":
                event.stop()
                event.prevent_default()
                self._enter(burst=burst)
            case "question_mark" if not self.text and not burst:
                event.stop()
                event.prevent_default()
                self.post_message(self.GlanceRequested())
            case "up" | "down" if self._choice.is_for(self._find_query()):
                event.prevent_default()
                event.stop()
                self._move_choice(-1 if event.key == "up" else +1)
            case "escape" if self._choice.is_for(self._find_query()) or self._searching:
                event.prevent_default()
                event.stop()
                self._close_offers()
            case "up" if self.queue_waits and not self.text:
                event.prevent_default()
                event.stop()
                self.post_message(self.LastQueuedRequested())
            case "up" if self._on_row(0) and (entry := self._recall.go_back(self.text)) is not None:
                event.prevent_default()
                event.stop()
                self._show_entry(entry)
            case "down" if self._on_row(-1) and (entry := self._recall.go_forward(self.text)) is not None:
                event.prevent_default()
                event.stop()
                self._show_entry(entry)
            case "tab":
                event.prevent_default()
                if self._complete():
                    event.stop()
            case _:
                await obey(self, event, others=AT_ONCE)

    def _enter(self, *, burst: bool) -> None:
        if self._searching:
            self._accept_offer()
        elif not burst:
            self._send()
        elif self._burst_has_lines:
            self.insert("\n")
        else:
            self._held = schedule(self, HELD, self._send_held)

    def _send_held(self) -> None:
        self._held = None
        self._send()

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._last_key = event.time
        text = clean_text(event.text)
        dropped = None if self.text[:1] in ("%", "/", "!") else self._parse_dropped(event.text)
        text = self._write_mentions(dropped) if dropped else self.pastes.fold(text)
        self.replace(text, *self.selection, maintain_selection_offset=False)

    def _parse_dropped(self, text: str) -> list[str] | None:
        # What it takes is not needed for the first frame.
        from oi_tui.input import mentions

        return mentions.parse_dropped(text, self.folder)

    def _write_mentions(self, files: Sequence[str]) -> str:
        from oi_tui.input import mentions

        row, column = min(self.selection)
        joined = column > 0 and not self.document.get_line(row)[column - 1].isspace()
        return " " * joined + " ".join(map(mentions.write_mention, files)) + " "

    def action_paste(self) -> None:
        """Paste the image on the desktop's clipboard as an `@path`; else the text that was copied here."""
        from oi_tui.terminal import clipboard_image

        if clipboard_image.can_be_read():
            self.run_worker(self._paste_image(), group="paste", exclusive=True)
        elif self.app.clipboard or not clipboard_image.is_remote():
            self._paste_copied()
        else:
            self.notify(clipboard_image.OVER_SSH, timeout=8)

    async def _paste_image(self) -> None:
        from oi_tui.terminal import clipboard_image

        try:
            path = await asyncio.to_thread(clipboard_image.save)
        except OSError as error:
            why = paths.explain_write_error(error)
            self.notify(f"The image could not be written: {why}.", severity="error", markup=False)
            return
        if path is None:
            self._paste_copied()
        else:
            self.replace(self._write_mentions([str(path)]), *self.selection, maintain_selection_offset=False)

    def _paste_copied(self) -> None:
        self.pastes.add(self.app.clipboard)
        super().action_paste()

    async def action_undo(self) -> None:  # type: ignore[override]
        """Undo; with nothing to undo the key means what it means in every terminal: back to the shell."""
        if self.text or self.history.undo_stack:
            super().action_undo()
        else:
            await self.app.run_action("suspend_process")

    async def action_delete_or_quit(self) -> None:
        """Delete the next character; with nothing typed the key ends the program, as in every shell."""
        if self.text:
            self.action_delete_right()
        else:
            await self.run_action("screen.quit_when_empty")

    def action_redo_or_copy(self) -> None:
        """Redo what was undone; else leave the key to the screen, which copies the last code."""
        before = self.text
        self.action_redo()
        if not before and not self.text:
            raise SkipAction

    def action_next_in_history(self) -> None:
        """Search the messages for what is typed, and again: the next. With nothing typed the key is free."""
        if self._searching:
            self._move_choice(+1)
        elif self.text:
            self.action_search_history()
        else:
            raise SkipAction

    def action_cursor_page_up(self) -> None:
        """Go up by a page in a long text; else leave the key to the conversation."""
        self._skip_if_whole_in_view()
        super().action_cursor_page_up()

    def action_cursor_page_down(self) -> None:
        """Go down by a page in a long text; else leave the key to the conversation."""
        self._skip_if_whole_in_view()
        super().action_cursor_page_down()

    def _skip_if_whole_in_view(self) -> None:
        if self.wrapped_document.height <= self.content_size.height:
            raise SkipAction

    def action_cursor_line_end(self, select: bool = False) -> None:
        """Go to the end of the line; with nothing typed leave the key to the conversation."""
        if not self.text:
            raise SkipAction
        super().action_cursor_line_end(select)

    def action_newline(self) -> None:
        """Begin a new line without sending."""
        self.insert("\n")

    def note_escape(self, *, at_rest: bool) -> bool:
        """Note an escape. Returns whether it is the second one in time with nothing to stop."""
        now = time.monotonic()
        is_second = at_rest and now - self._escaped_at < ESCAPES
        self._escaped_at = now if at_rest and not is_second else -ESCAPES
        return is_second

    def action_clear(self) -> None:
        """Delete all that is typed; undo brings it back."""
        self.history.checkpoint()
        self.clear()

    def on_text_area_changed(self) -> None:
        """Keep height and hint in step with the text."""
        self.fit()
        self._find_offers()
        hint = self._find_command_hint()
        if hint != self._hint:
            self._hint = hint
            self.post_message(self.Hinted(hint))

    def on_resize(self) -> None:
        """Wrap the text for the new width."""
        self.fit()
        self.call_after_refresh(self.place_caret)

    def on_focus(self) -> None:
        """Move the terminal's own caret here."""
        self.call_after_refresh(self.place_caret)

    def place_caret(self) -> None:
        """Put the terminal's caret where the next character goes: input methods draw there."""
        if self.has_focus and self.app.cursor_position != self.cursor_screen_offset:
            self.app.cursor_position = self.cursor_screen_offset
            # The caret travels with a frame, and this may have been the last one for long.
            self.refresh()

    def _send(self) -> None:
        if self.multi_line and is_open(self.text):
            self.insert("\n")
            return
        text = remove_quotes(self.text) if self.multi_line else self.text.strip()
        self._close_offers()
        if not text:
            if self.continues:
                self.post_message(self.Sent("%continue"))
            return
        if self._recall.add(text):
            self._remember(self.expand_pastes(text))
        self.clear()
        self.history.clear()
        if self.vi:
            self.vi.begin("insert")
        self.post_message(self.Sent(text))

    def _on_row(self, row: int) -> bool:
        """Return whether the caret is on the first (0) or the last (-1) drawn row."""
        wrapped = self.wrapped_document
        return wrapped.location_to_offset(self.cursor_location).y == (wrapped.height - 1 if row else 0)

    def _show_entry(self, entry: str) -> None:
        self.text = entry
        self.move_cursor(self.document.end)

    def _find_command_hint(self) -> str:
        text = self.text
        if text.startswith("%%"):
            return "%% runs the rest in your shell; the model does not see it"
        name = self._find_typed_name()
        matches = commands.find_commands(name) if name else []
        if len(matches) == 1 or (matches and name and matches[0].name == name[1:]):
            return f"{matches[0].title}   {matches[0].summary}"
        row, column = self.cursor_location
        if self.pastes and self.pastes.find_at(self.document.get_line(row), column):
            return "ctrl+t shows the paste; backspace deletes it"
        return ""

    def fit(self) -> None:
        """Make the prompt as high as its text, while there is room for the rest of the screen."""
        room = (self.app.size.height - _OTHER_ROWS) // 2
        rows = max(1, min(MOST_ROWS, room, self.wrapped_document.height))
        if self.styles.height is None or self.styles.height.value != rows:
            self.styles.height = rows
