"""Keys on the chat screen, then what came of them."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual import events
from textual.geometry import Size
from textual.pilot import Pilot
from textual.widgets import Input, Static, TextArea

from oi_tui.app import OiTui
from oi_tui.commands import COMMANDS
from oi_tui.engine.llm.base import ErrorInfo, Text
from oi_tui.engine.settings.profile import Profile
from oi_tui.screens.chat.screen import ChatScreen
from oi_tui.screens.chat.view import ChatView
from oi_tui.screens.confirm import ConfirmDialog
from oi_tui.screens.navigator.screen import NavigatorScreen
from oi_tui.widgets.approval import held_key
from oi_tui.widgets.conversation.blocks import NoticeBlock
from oi_tui.widgets.lists.choice_list import CommandChoiceList
from oi_tui.widgets.lists.conversation_list import ConversationList
from oi_tui.workspace import Workspace
from tests.fakes import Computer, Llm, call
from tests.pilot.waiting import until


class ChatDriver:
    """The application with what it works with, at hand."""

    def __init__(self, *replies: object, **settings: object) -> None:
        self.llm = Llm(*replies)
        self.computer = Computer()
        profile = Profile(model="openai/test").with_changes(**settings)
        self.workspace = Workspace(profile, None, llm=self.llm, computer=self.computer)
        self.app = OiTui(lambda: self.workspace)
        self.pilot: Pilot[None] | None = None

    @property
    def chat(self) -> ChatScreen:
        return next(item for item in self.app.screen_stack if isinstance(item, ChatScreen))

    @property
    def view(self) -> ChatView:
        return self.chat.chat_view

    @property
    def prompt(self) -> str:
        return self.chat.prompt.text

    async def type(self, text: str, *keys: str) -> None:
        self.chat.prompt.focus()
        self.chat.prompt.insert(text)
        await self.pilot.press(*keys or ("enter",))

    async def until(self, condition: Callable[[], object]) -> None:
        await until(self.pilot, condition)

    async def asked(self) -> None:
        await self.until(lambda: self.view.approval.armed and self.view.approval.has_focus)

    async def idle(self) -> None:
        await self.until(lambda: self.view.session.messages and not self.view.busy)


@asynccontextmanager
async def open_chat(*replies: object, **settings: object) -> AsyncIterator[ChatDriver]:
    ui = ChatDriver(*replies, **settings)
    async with ui.app.run_test(size=(100, 30)) as pilot:
        ui.pilot = pilot
        await ui.until(lambda: isinstance(ui.app.screen, ChatScreen) and ui.app.screen.is_ready)
        yield ui
    ui.workspace.close()


async def test_ask_approve_run_and_the_answer() -> None:
    async with open_chat([call("a")], [Text("All done.")]) as ui:
        await ui.type("go")
        await ui.asked()
        await ui.pilot.press("y")
        await ui.idle()
        assert ui.computer.ran == [("python", "a")]
        assert ui.view.session.messages[-1].content == "All done."
        assert ui.chat.focused is ui.chat.prompt


async def test_of_sizes_in_quick_succession_the_last_one_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_chat() as at:
        laid_out: list[Size] = []
        refresh = at.chat._refresh_layout

        def note(size: Size | None = None, scroll: bool = False) -> None:
            laid_out.append(size or at.app.size)
            refresh(size, scroll)

        monkeypatch.setattr(at.chat, "_refresh_layout", note)
        for size in (Size(40, 10), Size(60, 20), Size(50, 15)):
            at.app._size = size
            at.chat.post_message(events.Resize(size, size))
            # With something between them, none takes the place of the one before.
            at.chat.call_later(lambda: None)
        await at.until(lambda: at.chat.size == Size(50, 15))
        count = len(laid_out)
        for _ in range(20):
            # Whatever was in the queue, and what that put there, has been handled then.
            done = asyncio.Event()
            at.chat.call_later(done.set)
            await done.wait()
        assert set(laid_out[count:]) <= {Size(50, 15)}


async def test_an_edited_line_is_what_runs() -> None:
    async with open_chat([call("a")]) as ui:
        await ui.type("go")
        await ui.asked()
        await ui.pilot.press("e")
        await ui.until(lambda: ui.view.conversation.cell_editor.is_open)
        await ui.pilot.press("end", "b", "f5")
        await ui.asked()
        await ui.pilot.press("y")
        await ui.idle()
        assert ui.computer.ran == [("python", "ab")]


async def test_editing_says_where_the_caret_is_and_moves_nothing_above() -> None:
    async with open_chat([call("a = 1\nb = 2")]) as ui:
        await ui.type("go")
        await ui.asked()
        height = ui.view.approval.outer_size.height
        await ui.pilot.press("e")
        await ui.until(lambda: ui.view.approval.border_subtitle == "Ln 1, Col 1")
        await ui.pilot.press("down", "right", "right")
        await ui.until(lambda: ui.view.approval.border_subtitle == "Ln 2, Col 3")
        assert ui.view.approval.outer_size.height == height


async def test_a_cancelled_edit_asks_for_the_old_version() -> None:
    async with open_chat([call("a")]) as ui:
        await ui.type("go")
        await ui.asked()
        await ui.pilot.press("e")
        await ui.until(lambda: ui.view.conversation.cell_editor.is_open)
        await ui.pilot.press("b", "escape", "c", "escape")
        await ui.until(lambda: any("f5 keeps" in note.message for note in ui.app._notifications))
        # What was typed since then is in no warning yet.
        assert ui.view.conversation.cell_editor.code_editor.code == "bca"
        await ui.pilot.press("escape")
        await ui.asked()
        # The warning does not cover the code that is asked about again.
        assert not any("f5 keeps" in note.message for note in ui.app._notifications)
        await ui.pilot.press("y")
        await ui.idle()
        assert ui.computer.ran == [("python", "a")]


async def test_escape_at_the_question_ends_the_turn_and_runs_nothing() -> None:
    async with open_chat([call("a")]) as ui:
        await ui.type("go")
        await ui.asked()
        await ui.pilot.press("escape")
        await ui.idle()
        assert ui.computer.ran == []
        assert not ui.view.approval.display


async def test_escape_while_editing_does_not_end_the_turn() -> None:
    async with open_chat([call("a")]) as ui:
        await ui.type("go")
        await ui.asked()
        await ui.pilot.press("e")
        await ui.until(lambda: ui.view.conversation.cell_editor.is_open)
        await ui.pilot.press("escape")
        await ui.until(lambda: not ui.view.conversation.cell_editor.is_open)
        assert ui.view.busy
        assert ui.view.approval.display


async def test_a_message_while_busy_waits_its_turn() -> None:
    async with open_chat([call("hang")], [Text("one")], [Text("two")], auto_run=True) as ui:
        await ui.type("first")
        await ui.until(ui.computer.running.is_set)
        await ui.type("second")
        await ui.pilot.pause()
        assert [m.content for m in ui.view.session.messages if m.role == "user"] == ["first"]
        assert "second" in str(ui.chat.query_one("#queue").render())
        await ui.pilot.press("up")
        await ui.pilot.pause()
        assert ui.prompt == "second"
        await ui.pilot.press("enter")
        ui.computer.interrupted.set()
        await ui.until(lambda: len(ui.llm.requests) == 3)


async def test_the_question_comes_back_when_the_prompt_is_empty_again() -> None:
    async with open_chat([call("a")], [Text("one")], [Text("two")]) as ui:
        await ui.type("first")
        await ui.asked()
        await ui.type("second", "shift+home")
        await ui.until(lambda: ui.view.approval.armed)
        assert ui.chat.focused is ui.chat.prompt
        await ui.pilot.press("end", "enter")
        await ui.asked()
        await ui.pilot.press("y")
        await ui.until(lambda: len(ui.llm.requests) == 3)
        assert ui.computer.ran == [("python", "a")]


async def test_a_late_change_of_the_prompt_does_not_take_an_answer_back() -> None:
    async with open_chat([call("a")], [Text("one")]) as ui:
        await ui.type("first")
        await ui.asked()
        ui.chat.prompt.post_message(TextArea.Changed(ui.chat.prompt))
        await ui.pilot.press("y")
        await ui.until(lambda: ui.computer.ran or ui.prompt)
        assert (ui.computer.ran, ui.prompt) == ([("python", "a")], "")


async def test_an_interrupt_gives_the_queue_back() -> None:
    async with open_chat([call("hang")], auto_run=True) as ui:
        await ui.type("first")
        await ui.until(ui.computer.running.is_set)
        await ui.type("second")
        await ui.pilot.press("escape")
        await ui.idle()
        assert ui.prompt == "second"


async def test_a_mistyped_command_stays_in_the_prompt_and_goes_nowhere() -> None:
    async with open_chat() as ui:
        await ui.type("%hepl")
        await ui.until(lambda: ui.prompt == "%hepl")
        assert ui.llm.requests == []


async def test_undo_puts_the_message_back_into_the_prompt() -> None:
    async with open_chat([Text("one")]) as ui:
        await ui.type("first")
        await ui.idle()
        await ui.type("%undo")
        await ui.until(lambda: ui.prompt == "first")
        assert ui.view.session.messages == ()


def noticed(ui: ChatDriver, words: str) -> bool:
    notices = (block for block in ui.view.conversation.transcript.blocks if isinstance(block, NoticeBlock))
    return any(words in notice.text for notice in notices)


async def test_the_sandbox_is_switched_off_only_after_a_question() -> None:
    async with open_chat() as ui:
        await ui.type("%sandbox on")
        await ui.until(lambda: ui.computer.sandbox)
        await ui.until(lambda: noticed(ui, "Sandbox on: programs can change only"))
        for answer, left in (("n", True), ("y", False)):
            await ui.type("%sandbox off")
            await ui.until(lambda: isinstance(ui.app.screen, ConfirmDialog))
            question = ui.app.screen
            assert isinstance(question, ConfirmDialog)
            await ui.until(lambda question=question: question.armed)
            await ui.pilot.press(answer)
            await ui.until(lambda: isinstance(ui.app.screen, ChatScreen))
            await ui.until(lambda left=left: ui.computer.sandbox is left)


async def test_a_host_is_allowed_for_one_conversation() -> None:
    async with open_chat() as ui:
        await ui.type("%sandbox allow example.org")
        await ui.until(lambda: noticed(ui, "The sandbox is off, so programs can reach every host."))
        await ui.type("%sandbox on")
        await ui.until(lambda: noticed(ui, "Sandbox on"))
        for typed, words in (
            ("%sandbox allow", "Programs can reach no host. %sandbox allow HOST allows another one."),
            (
                "%sandbox allow https://example.org/",
                "https://example.org/ cannot be allowed: expected a host",
            ),
            ("%sandbox allow example.org", "can reach example.org until you leave this conversation"),
            ("%sandbox on", "The sandbox is already on. Programs can reach example.org."),
        ):
            await ui.type(typed)
            await ui.until(lambda words=words: noticed(ui, words))
        assert ui.computer.hosts == ("example.org",)
        await ui.type("%new")
        await ui.until(lambda: ui.computer.hosts == ())


async def test_a_sandbox_that_cannot_be_had_stays_off() -> None:
    async with open_chat() as ui:
        ui.computer.no_sandbox = "there is no bubblewrap. Install it."
        await ui.type("%sandbox on")
        await ui.until(lambda: noticed(ui, "The sandbox stays off: there is no bubblewrap."))
        assert not ui.computer.sandbox


async def test_where_code_runs_is_reported_and_can_be_changed() -> None:
    async with open_chat([call("a")], [Text("ok")]) as ui:
        await ui.type("%auto_run on")
        await ui.type("%target ssh:gpu1")
        await ui.until(lambda: noticed(ui, "Code now runs on ssh:gpu1 as ana, /scratch."))
        assert not ui.view.session.auto_run
        assert ui.view.workspace.profile.target == "ssh:gpu1"
        await ui.until(lambda: "on ssh:gpu1 as ana" in str(ui.chat.query_one("#headline").render()))
        await ui.type("%target ssh:nowhere")
        await ui.until(lambda: noticed(ui, "No connection to nowhere. Code still runs on ssh:gpu1"))
        await ui.type("go")
        await ui.until(lambda: ui.view.approval.request)
        await ui.until(
            lambda: "on ssh:gpu1 as ana, /scratch" in str(ui.view.approval.query_one("#question").render())
        )
        await ui.type("%target local")
        assert ui.computer.targets.home == "ssh:gpu1"
        assert ui.computer.ran == []


async def test_another_target_can_be_connected_for_single_cells() -> None:
    async with open_chat([call("%%on ssh:gpu1\na")], [Text("ok")]) as ui:
        await ui.type("%on ssh:nowhere")
        await ui.until(lambda: noticed(ui, "No connection to nowhere."))
        await ui.type("%on ssh:gpu1")
        await ui.until(lambda: noticed(ui, "A cell whose first line is %%on ssh:gpu1 runs there."))
        assert ui.computer.targets.home == "local"
        await ui.type("go")
        await ui.until(lambda: ui.view.approval.request)
        await ui.until(
            lambda: "on ssh:gpu1 as ana, /scratch" in str(ui.view.approval.query_one("#question").render())
        )
        await ui.asked()
        await ui.pilot.press("y")
        await ui.idle()
        assert ui.computer.ran == [("python", "\na")]
        assert ui.computer.where == ""
        await ui.type("%on ssh:gpu1 shell b")
        await ui.until(lambda: ui.computer.ran[1:] == [("shell", "\nb")])
        await ui.idle()
        await ui.type("%on ssh:gpu1 klingon c")
        await ui.until(lambda: noticed(ui, "Unknown language “klingon”."))
        await ui.type("%target")
        await ui.until(lambda: noticed(ui, "Connected: local, ssh:gpu1."))


async def test_a_cell_says_where_it_ran() -> None:
    async with open_chat([call("a")], [Text("ok")]) as ui:
        ui.computer.targets.use("ssh:gpu1")
        await ui.type("go")
        await ui.asked()
        await ui.pilot.press("y")
        await ui.idle()
        (saved,) = [m for m in ui.workspace.store.read(ui.workspace.conversation.id) if m.is_cell]
        assert saved.where == "on ssh:gpu1 as ana, /scratch"
        (cell,) = ui.view.conversation.printing
        header = cell.rows(90, ui.view.conversation.transcript.look)[0].segments
        assert "".join(segment.text for segment in header).startswith(
            "[1] python on ssh:gpu1 as ana · finished"
        )


async def test_auto_run_is_reported_and_can_be_taken_back() -> None:
    async with open_chat([call("a")], [Text("ok")]) as ui:
        await ui.type("%auto_run on")
        await ui.until(lambda: ui.chat.has_class("-auto"))
        assert "AUTO" in str(ui.chat.query_one("#headline").render())
        await ui.type("%auto_run off")
        await ui.until(lambda: not ui.chat.has_class("-auto"))


@pytest.mark.parametrize("text", ["{AUTO_RUN_ON}", "%auto_run on", "/auto_run on"])
async def test_no_text_of_a_model_switches_auto_run_on(text: str) -> None:
    async with open_chat([Text(text), call("a")]) as ui:
        await ui.type("go")
        await ui.asked()
        assert not ui.view.session.auto_run
        assert ui.computer.ran == []


async def test_a_new_conversation_leaves_the_old_one_saved() -> None:
    async with open_chat([Text("one")]) as ui:
        await ui.type("first")
        await ui.idle()
        await ui.pilot.press("ctrl+n")
        await ui.until(lambda: ui.view.session.messages == ())
        assert ui.chat.has_class("-empty")
        assert [summary.title for summary in ui.workspace.store.list_summaries()] == ["first"]


async def test_a_new_conversation_in_the_middle_of_a_turn_ends_it() -> None:
    reached = threading.Event()
    async with open_chat([Text("so far"), reached], [Text("fresh")]) as ui:
        await ui.type("first")
        await ui.until(reached.is_set)
        await ui.pilot.press("ctrl+n")
        await ui.type("second")
        await ui.idle()
        assert [m.content for m in ui.view.session.messages] == ["second", "fresh"]


async def test_a_fault_is_reported_and_the_next_message_works() -> None:
    async with open_chat([ErrorInfo("key", "The key is not accepted.", "api_key")], [Text("better")]) as ui:
        await ui.type("first")
        await ui.until(lambda: not ui.chat.is_active and ui.app.screen.focused)
        await ui.pilot.press("escape")
        await ui.until(lambda: ui.chat.is_active)
        await ui.type("again")
        await ui.until(lambda: ui.view.session.messages[-1].content == "better")


async def test_the_field_for_the_key_does_not_open_over_typed_text(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, go = threading.Event(), threading.Event()

    def find(*_: object) -> None:
        asked.set()
        assert go.wait(40)

    async with open_chat([ErrorInfo("key", "The key is not accepted.", "api_key")], [Text("better")]) as ui:
        monkeypatch.setattr(type(ui.workspace.secrets), "find", find)
        await ui.type("first")
        await ui.until(asked.is_set)
        ui.chat.prompt.insert("again")
        go.set()
        await ui.app.workers.wait_for_complete()
        await ui.pilot.press("enter")
        await ui.until(lambda: ui.view.session.messages[-1].content == "better")


async def test_code_of_ones_own_runs_at_once_and_the_model_does_not_see_it() -> None:
    async with open_chat([Text("hello")]) as ui:
        await ui.type("%% ls")
        await ui.idle()
        assert ui.computer.ran == [("shell", "ls")]
        assert ui.llm.requests == []


async def test_ctrl_c_stops_and_twice_leaves() -> None:
    async with open_chat([call("hang")], auto_run=True) as ui:
        await ui.type("first")
        await ui.until(ui.computer.running.is_set)
        await ui.pilot.press("ctrl+c")
        await ui.idle()
        assert ui.app.is_running
        await ui.pilot.press("ctrl+c", "left", "ctrl+c")
        assert ui.app.is_running, "another key was pressed between"
        await ui.pilot.press("ctrl+c")
        await ui.until(lambda: not ui.app.is_running)


async def test_a_program_that_asks_gets_the_keyboard_each_time() -> None:
    async with open_chat([call("ask")], auto_run=True) as ui:
        await ui.type("go")
        await ui.until(lambda: ui.view.input_line.display and ui.view.input_line.has_focus_within)
        ui.computer.interrupted.set()
        await ui.idle()
        assert not ui.view.input_line.display
        assert ui.chat.focused is ui.chat.prompt


async def test_what_was_sent_is_offered_in_the_next_session() -> None:
    async with open_chat([Text("one")]) as ui:
        await ui.type("remember me")
        await ui.idle()
    async with open_chat() as ui:
        ui.chat.prompt.focus()
        await ui.pilot.press("up")
        assert ui.prompt == "remember me"


def _palette_rows(ui: ChatDriver) -> list[str]:
    """The rows of the palette, the chosen one with its mark."""
    choices = ui.app.screen.query_one(CommandChoiceList)
    chosen = choices.highlighted
    return [f"{'> ' * (n == chosen)}{option.prompt}" for n, option in enumerate(choices.options)]


async def test_the_palette_lists_every_command_by_group_and_the_last_chosen_first() -> None:
    async with open_chat() as ui:
        await ui.pilot.press("ctrl+p")
        await ui.until(lambda: ui.app.screen is not ui.chat and len(_palette_rows(ui)) > len(COMMANDS))
        rows = _palette_rows(ui)
        assert rows[0] == "Conversation"
        assert rows[1].startswith("> %new ")
        assert all(any(row.removeprefix("> ").startswith(f"%{name} ") for row in rows) for name in COMMANDS)
        await ui.pilot.press(*"versions", "enter")
        await ui.until(lambda: ui.app.screen is ui.chat)
        await ui.pilot.press("ctrl+p")
        await ui.until(lambda: ui.app.screen is not ui.chat and len(_palette_rows(ui)) > len(COMMANDS))
        rows = _palette_rows(ui)
        assert (rows[0], rows[2]) == ("Recent", "Conversation")
        assert rows[1].startswith("> %info ")
        await ui.pilot.press("up")
        assert _palette_rows(ui)[-1].startswith("> %"), "a title is never chosen"


@pytest.mark.parametrize("size", [(1, 1), (10, 3), (40, 8), (300, 100)])
async def test_any_size_is_survived(size: tuple[int, int]) -> None:
    async with open_chat([call("a\n" * 50)]) as ui:
        await ui.type("go")
        await ui.until(lambda: ui.view.approval.display)
        await ui.pilot.resize_terminal(*size)
        await ui.pilot.pause(0.1)
        await ui.pilot.resize_terminal(80, 24)
        await ui.pilot.pause(0.1)
        assert ui.view.approval.display


async def test_a_conversation_is_written_as_a_document_and_never_over_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with open_chat([call("a")], [Text("All done.")], auto_run=True) as ui:
        await ui.type("go")
        await ui.idle()
        for command in ("%markdown", "%markdown", "%jupyter", "%save_message", "%export script mine"):
            await ui.type(command)
            await ui.pilot.pause()
        names = {path.name for path in tmp_path.iterdir()}
        assert names == {"go.md", "go-2.md", "go.ipynb", "messages.json", "mine.py"}
        (tmp_path / "mine.py").write_text("precious")
        await ui.type("%export script mine")
        await ui.pilot.pause()
        assert (tmp_path / "mine.py").read_text() == "precious"
        # A link that leads to no file yet may have been put there by code that can write nowhere else.
        (tmp_path / "link.md").symlink_to(tmp_path / "elsewhere")
        (tmp_path / "go-3.md").symlink_to(tmp_path / "elsewhere")
        for command in ("%export link.md", "%markdown"):
            await ui.type(command)
        await ui.until((tmp_path / "go-4.md").exists)
        assert not (tmp_path / "elsewhere").exists()
        for named in ("a.html", "My report.IPYNB", "md b", "Html c.txt"):
            await ui.type(f"%export {named}")
        await ui.until((tmp_path / "c.txt").exists)
        assert (tmp_path / "a.html").read_text().startswith("<!DOCTYPE html>")
        assert '"nbformat": 4' in (tmp_path / "My report.IPYNB").read_text()
        assert (tmp_path / "b.md").read_text().startswith("# go")
        for odd in ("a.pdf", "~nobody-of-this-name/x.md", "x" * 5_000 + ".md", "a\ud800/\u202e.md"):
            await ui.type(f"%export {odd}")
        reported = ui.view.conversation.transcript.blocks
        assert any(
            isinstance(item, NoticeBlock) and "Unknown format “a.pdf”" in item.text for item in reported
        )
        (tmp_path / "folder").mkdir()
        await ui.type("%markdown folder")
        await ui.until((tmp_path / "folder" / "go.md").exists)
        await ui.type("%markdown nowhere/x")
        notices = ui.view.conversation.transcript.blocks
        await ui.until(lambda: isinstance(notices[-1], NoticeBlock) and "Could not write" in notices[-1].text)
        assert notices[-1].text == f"Could not write: there is no folder {tmp_path / 'nowhere'}."


async def test_with_the_sandbox_on_no_folder_that_is_a_link_leads_an_export_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    for made in (folder, outside):
        made.mkdir()
    (folder / "sub").symlink_to(outside)
    (folder / "inner").mkdir()
    (folder / "within").symlink_to("inner")
    monkeypatch.chdir(folder)
    async with open_chat([Text("Hello.")]) as ui:
        ui.computer.cwd = folder
        await ui.type("go")
        await ui.idle()
        await ui.type("%export sub/off.md")
        await ui.until((outside / "off.md").exists)
        await ui.type("%sandbox on")
        await ui.until(lambda: ui.computer.sandbox)
        for command in ("%export sub/x.md", "%markdown sub", "%save_message sub/x.json"):
            notices = len(ui.view.conversation.transcript.blocks)
            await ui.type(command)
            await ui.until(
                lambda before=notices: any(
                    isinstance(item, NoticeBlock) and f"to {outside}" in item.text
                    for item in ui.view.conversation.transcript.blocks[before:]
                )
            )
        await ui.type("", "ctrl+r")
        await ui.until(lambda: isinstance(ui.app.screen, NavigatorScreen))
        navigator = ui.app.screen
        await ui.until(lambda: bool(navigator.query_one(ConversationList).items))
        assert ui.pilot
        await ui.pilot.press("down", "x")
        navigator.query_one("#navigator-title", Input).value = "sub/x.md"
        await ui.pilot.press("enter")
        hints = navigator.query_one("#navigator-keys", Static)
        await ui.until(lambda: f"to {outside}" in str(hints.render()))
        await ui.pilot.press("escape")
        assert [path.name for path in outside.iterdir()] == ["off.md"]
        # What is outside by its name, or stays inside, is meant.
        for command, written in (
            ("%export within/x.md", folder / "inner" / "x.md"),
            ("%export ../outside/x.md", outside / "x.md"),
            (f"%export {outside}/y.md", outside / "y.md"),
        ):
            await ui.type(command)
            await ui.until(written.exists)


@pytest.mark.parametrize("kept", ["", " kept"])
async def test_messages_that_were_written_can_be_loaded(
    kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with open_chat([call("a")], [Text("All done.")], auto_run=True) as ui:
        await ui.type("go")
        await ui.idle()
        before = [(m.role, m.type, m.content) for m in ui.view.session.messages]
        await ui.type(f"%save_message{kept}")
        assert [item.name for item in tmp_path.iterdir()] == ["kept.json" if kept else "messages.json"]
        await ui.type("%new")
        await ui.type(f"%load_message{kept}")
        await ui.until(lambda: len(ui.view.session.messages) == len(before))
        assert [(m.role, m.type, m.content) for m in ui.view.session.messages] == before
        reported = ui.view.conversation.transcript.blocks
        odd = {
            "~nobody-of-this-name/x": "Could not load ~nobody-of-this-name/x.json: No such file",
            str(tmp_path): f"Could not load {tmp_path}: Is a directory",
        }
        for name, words in odd.items():
            await ui.type(f"%load_message {name}")
            await ui.until(lambda: isinstance(reported[-1], NoticeBlock))
            assert reported[-1].text.startswith(words)
        assert [(m.role, m.type, m.content) for m in ui.view.session.messages] == before


async def test_the_profile_editor_tests_the_model_in_words() -> None:
    async with open_chat([call("1")]) as ui:
        await ui.pilot.press("f2")
        await ui.until(lambda: ui.app.screen is not ui.chat)
        await ui.pilot.press("f6")
        await ui.until(lambda: ui.app.screen.query("#model-test-lines"))
        lines = ui.app.screen.query_one("#model-test-lines")
        await ui.until(lambda: "exists" in str(lines.render()) and "..." not in str(lines.render()))
        await ui.pilot.press("escape", "escape")
        await ui.until(lambda: ui.app.screen is ui.chat)


async def test_taking_the_mouse_asks_in_the_conversation_and_no_stops_the_turn() -> None:
    async with open_chat([threading.Event()]) as ui:
        await ui.type("click somewhere")
        await ui.until(lambda: ui.view.busy and ui.llm.requests)
        takeover = ui.workspace.languages.takeover
        assert takeover.begin()
        await ui.until(lambda: isinstance(ui.app.screen, ConfirmDialog))
        await ui.pilot.press("n")
        await ui.until(lambda: not ui.view.busy)
        assert not takeover.is_open


async def test_escape_right_after_a_letter_stops_the_turn_and_the_letter_is_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # However slow the machine is, escape comes while the letter may still begin a sentence.
    monkeypatch.setattr(held_key, "SETTLE", 60.0)
    async with open_chat([call("a")]) as ui:
        await ui.type("go")
        await ui.asked()
        await ui.pilot.press("y", "escape")
        await ui.idle()
        assert ui.prompt == "y"
        assert ui.computer.ran == []


async def test_many_threads_that_wait_delay_no_turn() -> None:
    over = threading.Event()
    async with open_chat([Text("Here.")]) as ui:
        for _ in range(30):
            ui.app.run_worker(lambda: over.wait(60), thread=True)
        try:
            await ui.type("go")
            await ui.until(lambda: "Here." in [m.content for m in ui.view.session.messages])
        finally:
            over.set()


def find_reason(ui: ChatDriver) -> str:
    """The reason above the prompt; "" where there is none."""
    shown = ui.chat.query_one("#refusal", Static)
    return str(shown.render()) if shown.display else ""


async def test_a_refused_command_stays_in_the_prompt_below_its_reason_and_typing_replaces_it() -> None:
    async with open_chat() as ui:
        await ui.type("%tokns")
        await ui.until(lambda: find_reason(ui) == "! Unknown command %tokns. Did you mean %tokens?")
        assert ui.prompt == ui.chat.prompt.selected_text == "%tokns"
        await ui.pilot.press("left")
        await ui.pilot.pause()
        assert find_reason(ui)
        await ui.pilot.press("enter")
        await ui.until(lambda: ui.chat.prompt.selected_text == "%tokns")
        assert find_reason(ui)
        await ui.pilot.press("h", "i")
        await ui.until(lambda: ui.prompt == "hi" and not find_reason(ui))


async def test_a_late_refusal_keeps_what_was_typed_since() -> None:
    async with open_chat() as ui:
        ui.chat.prompt.insert("next")
        ui.chat._dispatch("%%")
        await ui.until(lambda: find_reason(ui) == "! Type a shell command after %%: %% ls")
        await ui.pilot.press("!")
        await ui.until(lambda: ui.prompt == "%%\nnext!" and not find_reason(ui))


@pytest.mark.parametrize("size", [(80, 24), (20, 5)])
async def test_a_long_reason_leaves_room_for_the_prompt(size: tuple[int, int]) -> None:
    async with open_chat() as ui:
        await ui.pilot.resize_terminal(*size)
        await ui.type("%" + "x" * 300)
        await ui.until(lambda: find_reason(ui).startswith("! Unknown command"))
        await ui.pilot.pause()
        assert ui.chat.query_one("#prompt").region.bottom < size[1]
        assert ui.chat.query_one("#status").region.bottom == size[1]


async def test_a_long_prompt_leaves_room_in_a_terminal_that_is_made_low() -> None:
    async with open_chat() as ui:
        ui.chat.prompt.insert("\n".join("abcdefghijkl"))
        await ui.until(lambda: ui.chat.prompt.size.height == 8)
        for height, rows in ((5, 1), (12, 4), (30, 8)):
            await ui.pilot.resize_terminal(100, height)
            await ui.until(lambda rows=rows: ui.chat.prompt.size.height == rows)
            assert ui.chat.query_one("#status").region.bottom == height


@pytest.mark.parametrize("key", ["f1", "f2", "f4", "ctrl+l", "ctrl+p", "ctrl+r", "?"])
async def test_the_focus_returns_to_the_block_after_every_screen(key: str) -> None:
    async with open_chat([call("x = 1")], [Text("Done.")], auto_run=True) as ui:
        await ui.type("go")
        await ui.idle()
        await ui.pilot.press("ctrl+up", "up")
        transcript = ui.view.conversation.transcript
        assert transcript.cursor == 1
        await ui.pilot.press(key)
        await ui.until(lambda: ui.app.screen is not ui.chat)
        await ui.pilot.pause()
        for _ in range(2):
            if ui.app.screen is not ui.chat:
                await ui.pilot.press("escape")
                await ui.pilot.pause()
        await ui.until(lambda: ui.app.screen is ui.chat)
        assert ui.chat.focused is transcript
        assert transcript.cursor == 1


async def test_the_answer_to_a_typed_command_comes_into_view() -> None:
    async with open_chat([Text("Words.\n\n" * 60)]) as ui:
        await ui.type("long")
        await ui.idle()
        transcript = ui.view.conversation.transcript
        await ui.type("/Find Words")
        find_line = ui.view.find_line
        await ui.until(lambda: find_line.has_focus_within and not transcript.scroll_mode.follows_end)
        await ui.type("%tokens")
        await ui.until(lambda: transcript.scroll_mode.follows_end and not find_line.display)
        # A key is no question: what is read further up stays in view.
        ui.view.conversation.page_up()
        await ui.until(lambda: not transcript.scroll_mode.follows_end)
        await ui.pilot.press("ctrl+y")
        await ui.pilot.pause()
        assert not transcript.scroll_mode.follows_end
