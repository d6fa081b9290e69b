"""Undoes and redoes turns of the conversation, and lists what cannot be undone."""

from collections.abc import Sequence

from oi_tui.actions.interface import BUSY, UserInterface
from oi_tui.commands import is_command
from oi_tui.engine import rerun
from oi_tui.engine.storage.undo_history import list_restorable
from oi_tui.messages import Message
from oi_tui.text import clean_line
from oi_tui.workspace import Workspace

_NO_COMMAND = "The message:"


class Rewind:
    """Takes a conversation back to an earlier message, in place or in a copy, as the person asks."""

    def __init__(self, ui: UserInterface, workspace: Workspace) -> None:
        self._ui = ui
        self._workspace = workspace
        #: The ids of the messages that the last rewind removed, and of the conversation and the last message
        #: that it left.
        self._taken: tuple[str, ...] = ()
        self._conversation, self._last = "", ""

    @property
    def taken(self) -> tuple[str, ...]:
        """The ids of the messages that the last rewind removed; none once there is further code."""
        ids = [message.id for message in self._messages]
        if self._conversation != self._workspace.conversation.id or (self._last and self._last not in ids):
            return ()
        later = self._messages[ids.index(self._last) + 1 :] if self._last else self._messages
        return () if any(message.is_cell for message in later) else self._taken

    @property
    def own(self) -> list[Message]:
        """The user's messages, in order."""
        return [m for m in self._messages if m.role == "user" and m.type == "message"]

    @property
    def _messages(self) -> tuple[Message, ...]:
        return self._workspace.session.messages

    def undo(self) -> None:
        """Take the person's last message back, to be typed again."""
        if not self.own:
            self._ui.show_notice("You have no message to remove.", warning=True)
        elif self._can_rewind():
            self._rewind(self.own[-1].id)

    def rewind(self, number: int | None) -> None:
        """Go back to before the person's message with this number, counted from 1; None lets them choose."""
        own = self.own
        if number is None:
            if own:
                self._choose()
            else:
                self._ui.show_notice("You have not sent a message yet.", warning=True)
        elif not 1 <= number <= len(own):
            count = "1 message" if len(own) == 1 else f"{len(own):,} messages"
            self._ui.show_notice(f"Message {number} does not exist: you sent {count}.", warning=True)
        elif self._can_rewind():
            self._rewind(own[number - 1].id)

    def rewind_to(self, id: str) -> None:
        """Go back to the message: before one of the person's own, to type it again; after any other."""
        message = self._find_message(id)
        if message is not None and self._can_rewind():
            self._rewind(id, keep=not _is_own(message))

    def branch(self, id: str | None = None) -> None:
        """Continue in a copy that ends with the message, or before one of the person's; None copies all."""
        messages, draft, end = self._messages, "", len(self._messages)
        if not messages:
            self._ui.show_notice("There is nothing to copy yet.", warning=True)
            return
        if id is not None:
            message = self._find_message(id)
            if message is None:
                return
            end = messages.index(message)
            if _is_own(message):
                draft = message.content
            else:
                printed = (i for i, m in enumerate(messages) if m.role == "computer" and m.parent == id)
                end = max((end, *printed)) + 1
        if not self._can_rewind():
            return
        self._workspace.conversation.branch(messages[:end])
        self._note_taken(messages[end:])
        self._show(draft)
        for notice in self._workspace.conversation.notices:
            self._ui.show_notice(notice, warning=True)
        saved = "the original is saved (%conversations)"
        self._ui.show_notice(f"You are in a copy; {saved}." + self._describe_what_stays(messages[end:]))

    def redo(self) -> None:
        """Bring back what was taken back last, also before a restart, unless the conversation went on."""
        if not self._can_rewind():
            return
        steps = self._workspace.conversation.taken_back
        dropped = list_restorable(steps, self._messages)
        if not dropped:
            there = {message.id for message in self._messages}
            went_on = bool(steps) and any(message.id not in there for message in steps[-1].dropped)
            why = "the conversation has continued since then" if went_on else "nothing was undone"
            self._ui.show_notice(f"Nothing to restore: {why}.", warning=True)
            return
        self._taken = ()
        self._workspace.session.bring_back(dropped)
        self._show("")
        self._ui.show_notice(f"Restored {_count_words(dropped)}.")

    def find_earlier(self, number: int | None) -> tuple[Message, ...]:
        """Return the code that can run again now, up to cell `number`, counted from 1; None means all of it.

        Does nothing but tell the reason when there is nothing to take back or something is in progress.
        """
        codes = rerun.list_completed(self._messages)
        if number is not None:
            cells = [m.id for m in self._messages if m.type == "code" and m.role != "computer"]
            code_id = cells[number - 1] if 1 <= number <= len(cells) else None
            place = next((i for i, code in enumerate(codes) if code.id == code_id), None)
            if place is None:
                self._report_unfinished(number, len(cells))
                return ()
            codes = codes[: place + 1]
        if not codes:
            self._ui.show_notice("No cell of this conversation finished; there is nothing to run again.")
        return codes if self._can_rewind() else ()

    def find_chosen(self, numbers: Sequence[int]) -> tuple[Message, ...]:
        """Return the code of the cells with these numbers, if all can run again now;
        else tells the reason.
        """
        codes = {code.id: code for code in rerun.list_completed(self._messages)}
        cells = [message.id for message in self._messages if message.is_cell]
        for number in numbers:
            if not 1 <= number <= len(cells) or cells[number - 1] not in codes:
                self._report_unfinished(number, len(cells))
                return ()
        ids = [cells[number - 1] for number in sorted(set(numbers))]
        return tuple(codes[one] for one in ids) if self._can_rewind() else ()

    def _report_unfinished(self, number: int, count: int) -> None:
        """Report why the cell cannot run again, where there are `count` cells."""
        why = "did not finish" if 1 <= number <= count else "does not exist"
        self._ui.show_notice(f"Cell {number} {why}.", warning=True)

    def _choose(self) -> None:
        """Let the person choose one of their messages: by its number."""
        listing = "\n".join(f"  {n}: {clean_line(m.content, 100)}" for n, m in enumerate(self.own, 1))
        self._ui.show_notice(f"Use %rewind N to go back to before one of these messages:\n{listing}")

    def _rewind(self, id: str, *, keep: bool = False) -> None:
        session = self._workspace.session
        dropped = session.rewind(id, keep=keep)
        if not dropped:
            self._ui.show_notice("Nothing follows it.")
            return
        self._note_taken(dropped)
        self._show("" if keep else dropped[0].content)
        self._ui.show_notice(
            f"Removed {_count_words(dropped)}; %redo restores them." + self._describe_what_stays(dropped)
        )

    def _note_taken(self, messages: Sequence[Message]) -> None:
        self._taken = tuple(message.id for message in messages)
        self._conversation = self._workspace.conversation.id
        self._last = self._messages[-1].id if self._messages else ""

    def _show(self, typed: str) -> None:
        self._ui.show_session()
        if is_command(typed.lstrip()):
            # A message that another program recorded. The words before it keep enter from running it.
            typed = f"{_NO_COMMAND}\n\n{typed}"
        if typed:
            self._ui.put_back(typed)

    def _describe_what_stays(self, dropped: Sequence[Message]) -> str:
        """Describe what rewinding does not undo, in sentences that begin with a space; "" where nothing
        ran.
        """
        ran = [message for message in dropped if message.type == "code" and message.seconds is not None]
        if not ran:
            return ""
        text = f" The effects of {rerun.count_cells(len(ran))} outside the conversation stay"
        remaining = (code for code in ran if code.id not in self._workspace.conversation.forgotten)
        if languages := list(dict.fromkeys(clean_line(code.format or "code", 30) for code in remaining)):
            remember = "remembers" if len(languages) == 1 else "remember"
            text += f", and {', '.join(languages)} still {remember} it (%restart clears all variables)"
        text += "."
        if self._workspace.snapshots.filter_kept(code.id for code in ran):
            text += " Files changed meanwhile; %restore restores them."
        return text

    def _find_message(self, id: str) -> Message | None:
        target = next((message for message in self._messages if message.id == id), None)
        if target is None:
            self._ui.show_notice("That is a note from oi-tui; select a message or a cell.")
        return target

    def _can_rewind(self) -> bool:
        if self._ui.busy:
            self._ui.show_notice(BUSY, warning=True)
        return not self._ui.busy


def _is_own(message: Message) -> bool:
    return message.role == "user" and message.type == "message"


def _count_words(messages: Sequence[Message]) -> str:
    return "1 message" if len(messages) == 1 else f"{len(messages):,} messages"
