"""Actions on a cell of the conversation: read, run again, edit, save."""

from pathlib import Path
from typing import TYPE_CHECKING

from oi_tui import paths
from oi_tui.commands.registry import CommandError
from oi_tui.engine.export.formats import find_suffix
from oi_tui.engine.llm.context_window import CHARACTERS, weigh
from oi_tui.engine.output.console import find_output_file
from oi_tui.engine.output.model_output import shorten_for_model
from oi_tui.engine.output.plain import make_plain
from oi_tui.messages import Message
from oi_tui.screens.diff import DiffScreen
from oi_tui.screens.images import ImagesScreen
from oi_tui.screens.pager import PagerScreen
from oi_tui.text import clean_line, escape_controls
from oi_tui.widgets.conversation.blocks import Block, OutputBlock
from oi_tui.widgets.conversation.cells.cell import CellBlock
from oi_tui.widgets.pager.long_text import LongText

if TYPE_CHECKING:
    from oi_tui.screens.chat.interfaces import ChatInterface
    from oi_tui.screens.chat.view import ChatView

#: The highest number that is tried for the name of a file.
_MOST_NAMES = 10_000


class CellActions:
    """Carries out what the person does with a cell, by key or command."""

    def __init__(self, ui: "ChatInterface", view: "ChatView") -> None:
        self._ui = ui
        self._view = view

    def act(self, key: str, what: str) -> None:
        """Carry out an action on the block `key`."""
        block = self._view.conversation.block(key)
        match what:
            case "image":
                self._show_images(key)
            case "view" if isinstance(block, CellBlock | OutputBlock):
                self.view(block)
            case "read" if block is not None:
                self._read(block)
            case "model_view" if block is not None:
                self._read_model_view(block)
            case "diff" if isinstance(block, CellBlock):
                self._view_changes(block)
            case "run" if isinstance(block, CellBlock):
                self._run(block)
            case "edit" if isinstance(block, CellBlock):
                self._edit(block)
            case "save" if isinstance(block, CellBlock):
                self._save(block)
            case _:
                pass

    def view_number(self, number: int | None) -> None:
        """Read the output of the cell with this number; of the last one that printed something for None."""
        blocks = self._view.conversation.printing
        if number is None:
            printed = next((block for block in reversed(blocks) if block.output), None)
        else:
            cells = (block for block in blocks if isinstance(block, CellBlock))
            printed = next((cell for cell in cells if cell.number == number), None)
        if printed is None:
            which = "There is no output yet." if number is None else f"Cell {number} does not exist."
            self._ui.show_notice(which, warning=True)
        else:
            self.view(printed)

    def view(self, block: CellBlock | OutputBlock) -> None:
        """Read all of an output: its file where there is one, else what the conversation has of it."""
        title = f"Output of {_make_name(block)}"
        messages = self._find_output_messages(block)
        folder = paths.data() / "outputs"
        files = [
            path for message in messages if (path := find_output_file(message.content, folder)) is not None
        ]
        if len(files) == 1 and len(messages) == 1:
            try:
                text = LongText.open(files[0])
            except OSError as error:
                self._ui.show_notice(f"Could not read the output file: {error}", warning=True)
            else:
                self._open(title, text, f"The full output is in {files[0]}.")
                return
        live = isinstance(block, CellBlock) and block.live
        if messages and not live:
            text = LongText.of("\n".join(message.content.rstrip("\n") for message in messages))
            self._open(title, text, "The full output is in the conversation; it has no file of its own.")
        elif block.output:
            text = LongText.of(block.output.text.plain())
            self._open(f"{title}, so far", text, "The program is still running; this is its output so far.")
        else:
            self._view.notify("It has no output.", timeout=2)

    def _show_images(self, key: str) -> None:
        images = self._view.conversation.images
        first = next((number for number, (owner, _) in enumerate(images) if owner == key), None)
        if first is not None:
            self._view.app.push_screen(ImagesScreen([image for _, image in images], first))

    def _view_changes(self, cell: CellBlock) -> None:
        proposed = cell.message.proposed
        if proposed is None:
            self._view.notify("You did not change it.", timeout=2)
        else:
            self._view.app.push_screen(DiffScreen(f"Your changes to {_make_name(cell)}", proposed, cell.code))

    def _read(self, block: Block) -> None:
        """Return all of a block, folded or not: its text, or its code with its output."""
        source = escape_controls(block.source().rstrip("\n"))
        if isinstance(block, CellBlock):
            printed = "\n".join(
                make_plain(message.content).strip("\n") for message in self._find_output_messages(block)
            )
            printed = printed or block.output.text.plain().strip("\n")
            source += f"\n\n── output of {_make_name(block)} ──\n\n{printed}" if printed else ""
        if source:
            self._open(_name_block(block), LongText.of(source), "The full text is in the conversation.")
        else:
            self._view.notify("It has no text.", timeout=2)

    def _read_model_view(self, block: Block) -> None:
        """Show what the model gets of a block with a request, and about how many tokens that is."""
        profile = self._view.workspace.profile
        messages = {message.id: message for message in self._view.session.messages}
        own = messages.get(block.key)
        if own is None and not isinstance(block, OutputBlock):
            self._view.notify("Nothing: this is a note from oi-tui.", timeout=3)
            return
        if own is not None and own.recipient == "user":
            self._view.notify("Nothing: the model does not see code that you run yourself.", timeout=3)
            return
        if own is not None and own.type == "reasoning":
            self._view.notify("Nothing: reasoning is not sent back.", timeout=3)
            return
        text = escape_controls(own.content).rstrip("\n") if own is not None else ""
        output, extent = (
            self._render_model_view(block) if isinstance(block, CellBlock | OutputBlock) else ("", "")
        )
        ran = isinstance(block, CellBlock) and own is not None and own.state in ("finished", "failed")
        if output or ran:
            text += f"\n\n── its output: {extent} ──\n\n{output}" if output else "\n\n── no output ──"
        tokens = (weigh(text) + CHARACTERS - 1) // CHARACTERS
        limit = f"The model gets at most {profile.max_output:,} characters of an output (max_output)."
        title = f"What the model saw of {_name_block(block)}: ~{tokens:,} tokens"
        self._open(title, LongText.of(text.strip("\n")), f"%tokens shows a whole request. {limit}")

    def _render_model_view(self, block: CellBlock | OutputBlock) -> tuple[str, str]:
        """Return the output as the model gets it, and how much of it that is."""
        printed = [item for item in self._find_output_messages(block) if item.recipient != "user"]
        whole = shorten_for_model(printed, 0)
        lines = shorten_for_model(printed, self._view.workspace.profile.max_output)
        extent = f"{len(lines):,} of {len(whole):,} characters" if len(lines) < len(whole) else "all of it"
        return lines, extent

    def _find_output_messages(self, block: CellBlock | OutputBlock) -> list[Message]:
        ids = set(self._view.conversation.list_printed(block.key))
        messages = self._view.session.messages
        return [message for message in messages if message.id in ids and message.type == "console"]

    def _open(self, title: str, text: LongText, where: str) -> None:
        self._view.app.push_screen(PagerScreen(title, text, where))

    def _run(self, cell: CellBlock) -> None:
        if self._view.busy:
            self._view.notify("Busy: esc stops what is running.", timeout=2)
        elif cell.code.strip():
            try:
                self._ui.languages.run(cell.message.format or "", cell.code)
            except CommandError as error:
                self._view.notify(str(error), severity="warning", markup=False)

    def _edit(self, cell: CellBlock) -> None:
        prompt = self._view.prompt
        prompt.put_back(f"%run {clean_line(cell.message.format or 'text', 40)} {cell.code.rstrip()}")
        prompt.focus()

    def _save(self, cell: CellBlock) -> None:
        folder, suffix = self._view.workspace.computer.cwd, find_suffix(cell.message.format or "")
        stems = (f"cell-{cell.number}", *(f"cell-{cell.number}-{more}" for more in range(2, _MOST_NAMES)))
        text = cell.code.rstrip("\n") + "\n"
        for stem in stems:
            try:
                _write_new(folder / f"{stem}{suffix}", text)
            except FileExistsError:
                continue
            except OSError as error:
                why = paths.explain_write_error(error)
                self._ui.show_notice(f"Could not save the code: {why}", warning=True)
                return
            self._ui.show_notice(f"Saved the code of cell {cell.number} as {folder / f'{stem}{suffix}'}.")
            return


def _write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet; one that could not be written whole is taken away again."""
    with paths.writing(path), path.open("xb") as file:
        try:
            file.write(text.encode("utf-8", "replace"))
            file.flush()
        except OSError:
            path.unlink(missing_ok=True)
            raise


def _make_name(block: CellBlock | OutputBlock) -> str:
    if isinstance(block, CellBlock):
        return f"[{block.number}] {clean_line(block.message.format or 'text', 30)}"
    return "a program"


def _name_block(block: Block) -> str:
    return _make_name(block) if isinstance(block, CellBlock | OutputBlock) else block.name
