"""Keys on the chat screen, then what came of them."""

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from oi_tui.app import OiTui
from oi_tui.commands import COMMANDS
from oi_tui.engine.llm.base import ErrorInfo, Text
from oi_tui.engine.settings.profile import Profile
from oi_tui.screens.chat.screen import ChatScreen
from oi_tui.screens.chat.view import ChatView
from oi_tui.screens.confirm import ConfirmDialog
from oi_tui.widgets.conversation.blocks import NoticeBlock
from oi_tui.widgets.lists.choice_list import CommandChoiceList
from oi_tui.workspace import Workspace
from tests.fakes import Computer, Llm, call
from tests.pilot.waiting import until


class Desk:
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
    def bench(self) -> ChatView:
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
        await self.until(lambda: self.bench.approval.armed and self.bench.approval.has_focus)

    async def idle(self) -> None:
        await self.until(lambda: self.bench.session.messages and not self.bench.busy)


@asynccontextmanager
async def sitting(*replies: object, **settings: object) -> AsyncIterator[Desk]:
    desk = Desk(*replies, **settings)
    async with desk.app.run_test(size=(100, 30)) as pilot:
        desk.pilot = pilot
        await desk.until(lambda: isinstance(desk.app.screen, ChatScreen) and desk.app.screen.is_ready)
        yield desk
    desk.workspace.close()


async def test_ask_approve_run_and_the_answer() -> None:
    async with sitting([call("a")], [Text("All done.")]) as desk:
        await desk.type("go")
        await desk.asked()
        await desk.pilot.press("y")
        await desk.idle()
        assert desk.computer.ran == [("python", "a")]
        assert desk.bench.session.messages[-1].content == "All done."
        assert desk.chat.focused is desk.chat.prompt


async def test_an_edited_line_is_what_runs() -> None:
    async with sitting([call("a")]) as desk:
        await desk.type("go")
        await desk.asked()
        await desk.pilot.press("e")
        await desk.until(lambda: desk.bench.conversation.editing)
        await desk.pilot.press("end", "b", "f5")
        await desk.asked()
        await desk.pilot.press("y")
        await desk.idle()
        assert desk.computer.ran == [("python", "ab")]


async def test_editing_says_where_the_caret_is_and_moves_nothing_above() -> None:
    async with sitting([call("a = 1\nb = 2")]) as desk:
        await desk.type("go")
        await desk.asked()
        height = desk.bench.approval.outer_size.height
        await desk.pilot.press("e")
        await desk.until(lambda: desk.bench.approval.border_subtitle == "Ln 1, Col 1")
        await desk.pilot.press("down", "right", "right")
        await desk.until(lambda: desk.bench.approval.border_subtitle == "Ln 2, Col 3")
        assert desk.bench.approval.outer_size.height == height


async def test_a_cancelled_edit_asks_for_the_old_version() -> None:
    async with sitting([call("a")]) as desk:
        await desk.type("go")
        await desk.asked()
        await desk.pilot.press("e")
        await desk.until(lambda: desk.bench.conversation.editing)
        await desk.pilot.press("b", "escape")
        await desk.asked()
        await desk.pilot.press("y")
        await desk.idle()
        assert desk.computer.ran == [("python", "a")]


async def test_escape_at_the_question_ends_the_turn_and_runs_nothing() -> None:
    async with sitting([call("a")]) as desk:
        await desk.type("go")
        await desk.asked()
        await desk.pilot.press("escape")
        await desk.idle()
        assert desk.computer.ran == []
        assert not desk.bench.approval.display


async def test_escape_while_editing_does_not_end_the_turn() -> None:
    async with sitting([call("a")]) as desk:
        await desk.type("go")
        await desk.asked()
        await desk.pilot.press("e")
        await desk.until(lambda: desk.bench.conversation.editing)
        await desk.pilot.press("escape")
        await desk.until(lambda: not desk.bench.conversation.editing)
        assert desk.bench.busy
        assert desk.bench.approval.display


async def test_a_message_while_busy_waits_its_turn() -> None:
    async with sitting([call("hang")], [Text("one")], [Text("two")], auto_run=True) as desk:
        await desk.type("first")
        await desk.until(desk.computer.running.is_set)
        await desk.type("second")
        await desk.pilot.pause()
        assert [m.content for m in desk.bench.session.messages if m.role == "user"] == ["first"]
        assert "second" in str(desk.chat.query_one("#queue").render())
        await desk.pilot.press("up")
        await desk.pilot.pause()
        assert desk.prompt == "second"
        await desk.pilot.press("enter")
        desk.computer.interrupted.set()
        await desk.until(lambda: len(desk.llm.requests) == 3)


async def test_the_question_comes_back_when_the_prompt_is_empty_again() -> None:
    async with sitting([call("a")], [Text("one")], [Text("two")]) as desk:
        await desk.type("first")
        await desk.asked()
        await desk.type("second", "shift+home")
        await desk.until(lambda: desk.bench.approval.armed)
        assert desk.chat.focused is desk.chat.prompt
        await desk.pilot.press("end", "enter")
        await desk.asked()
        await desk.pilot.press("y")
        await desk.until(lambda: len(desk.llm.requests) == 3)
        assert desk.computer.ran == [("python", "a")]


async def test_a_late_change_of_the_prompt_does_not_take_an_answer_back() -> None:
    async with sitting([call("a")], [Text("one")]) as desk:
        await desk.type("first")
        await desk.asked()
        desk.chat.prompt.post_message(TextArea.Changed(desk.chat.prompt))
        await desk.pilot.press("y")
        await desk.until(lambda: desk.computer.ran or desk.prompt)
        assert (desk.computer.ran, desk.prompt) == ([("python", "a")], "")


async def test_an_interrupt_gives_the_queue_back() -> None:
    async with sitting([call("hang")], auto_run=True) as desk:
        await desk.type("first")
        await desk.until(desk.computer.running.is_set)
        await desk.type("second")
        await desk.pilot.press("escape")
        await desk.idle()
        assert desk.prompt == "second"


async def test_a_mistyped_command_stays_in_the_prompt_and_goes_nowhere() -> None:
    async with sitting() as desk:
        await desk.type("%hepl")
        await desk.until(lambda: desk.prompt == "%hepl")
        assert desk.llm.requests == []


async def test_undo_puts_the_message_back_into_the_prompt() -> None:
    async with sitting([Text("one")]) as desk:
        await desk.type("first")
        await desk.idle()
        await desk.type("%undo")
        await desk.until(lambda: desk.prompt == "first")
        assert desk.bench.session.messages == ()


def noticed(desk: Desk, words: str) -> bool:
    notices = (block for block in desk.bench.conversation.transcript.blocks if isinstance(block, NoticeBlock))
    return any(words in notice.text for notice in notices)


async def test_the_sandbox_is_switched_off_only_after_a_question() -> None:
    async with sitting() as desk:
        await desk.type("%sandbox on")
        await desk.until(lambda: desk.computer.sandbox)
        await desk.until(lambda: noticed(desk, "Sandbox on: programs can change only"))
        for answer, left in (("n", True), ("y", False)):
            await desk.type("%sandbox off")
            await desk.until(lambda: isinstance(desk.app.screen, ConfirmDialog))
            question = desk.app.screen
            assert isinstance(question, ConfirmDialog)
            await desk.until(lambda question=question: question.armed)
            await desk.pilot.press(answer)
            await desk.until(lambda: isinstance(desk.app.screen, ChatScreen))
            await desk.until(lambda left=left: desk.computer.sandbox is left)


async def test_a_host_is_allowed_for_one_conversation() -> None:
    async with sitting() as desk:
        await desk.type("%sandbox allow example.org")
        await desk.until(lambda: noticed(desk, "The sandbox is off, so programs can reach every host."))
        await desk.type("%sandbox on")
        await desk.until(lambda: noticed(desk, "Sandbox on"))
        for typed, words in (
            ("%sandbox allow", "Programs can reach no host. %sandbox allow HOST allows another one."),
            (
                "%sandbox allow https://example.org/",
                "https://example.org/ cannot be allowed: expected a host",
            ),
            ("%sandbox allow example.org", "can reach example.org until you leave this conversation"),
            ("%sandbox on", "The sandbox is already on. Programs can reach example.org."),
        ):
            await desk.type(typed)
            await desk.until(lambda words=words: noticed(desk, words))
        assert desk.computer.hosts == ("example.org",)
        await desk.type("%new")
        await desk.until(lambda: desk.computer.hosts == ())


async def test_a_sandbox_that_cannot_be_had_stays_off() -> None:
    async with sitting() as desk:
        desk.computer.no_sandbox = "there is no bubblewrap. Install it."
        await desk.type("%sandbox on")
        await desk.until(lambda: noticed(desk, "The sandbox stays off: there is no bubblewrap."))
        assert not desk.computer.sandbox


async def test_where_code_runs_is_reported_and_can_be_changed() -> None:
    async with sitting([call("a")], [Text("ok")]) as desk:
        await desk.type("%auto_run on")
        await desk.type("%target ssh:gpu1")
        await desk.until(lambda: noticed(desk, "Code now runs on ssh:gpu1 as ana, /scratch."))
        assert not desk.bench.session.auto_run
        assert desk.bench.workspace.profile.target == "ssh:gpu1"
        await desk.until(lambda: "on ssh:gpu1 as ana" in str(desk.chat.query_one("#headline").render()))
        await desk.type("%target ssh:nowhere")
        await desk.until(lambda: noticed(desk, "No connection to nowhere. Code still runs on ssh:gpu1"))
        await desk.type("go")
        await desk.until(lambda: desk.bench.approval.request)
        await desk.until(
            lambda: "on ssh:gpu1 as ana, /scratch" in str(desk.bench.approval.query_one("#question").render())
        )
        await desk.type("%target local")
        assert desk.computer.target == "ssh:gpu1"
        assert desk.computer.ran == []


async def test_another_target_can_be_connected_for_single_cells() -> None:
    async with sitting([call("%%on ssh:gpu1\na")], [Text("ok")]) as desk:
        await desk.type("%on ssh:nowhere")
        await desk.until(lambda: noticed(desk, "No connection to nowhere."))
        await desk.type("%on ssh:gpu1")
        await desk.until(lambda: noticed(desk, "A cell whose first line is %%on ssh:gpu1 runs there."))
        assert desk.computer.target == "local"
        await desk.type("go")
        await desk.until(lambda: desk.bench.approval.request)
        await desk.until(
            lambda: "on ssh:gpu1 as ana, /scratch" in str(desk.bench.approval.query_one("#question").render())
        )
        await desk.asked()
        await desk.pilot.press("y")
        await desk.idle()
        assert desk.computer.ran == [("python", "\na")]
        assert desk.computer.where == ""
        await desk.type("%on ssh:gpu1 shell b")
        await desk.until(lambda: desk.computer.ran[1:] == [("shell", "\nb")])
        await desk.idle()
        await desk.type("%on ssh:gpu1 klingon c")
        await desk.until(lambda: noticed(desk, "Unknown language “klingon”."))
        await desk.type("%target")
        await desk.until(lambda: noticed(desk, "Connected: local, ssh:gpu1."))


async def test_a_cell_says_where_it_ran() -> None:
    async with sitting([call("a")], [Text("ok")]) as desk:
        desk.computer.use_target("ssh:gpu1")
        await desk.type("go")
        await desk.asked()
        await desk.pilot.press("y")
        await desk.idle()
        (saved,) = [m for m in desk.workspace.store.read(desk.workspace.conversation.id) if m.is_cell]
        assert saved.where == "on ssh:gpu1 as ana, /scratch"
        (cell,) = desk.bench.conversation.printing
        header = cell.rows(90, desk.bench.conversation.transcript.look)[0].segments
        assert "".join(segment.text for segment in header).startswith(
            "[1] python on ssh:gpu1 as ana · finished"
        )


async def test_auto_run_is_reported_and_can_be_taken_back() -> None:
    async with sitting([call("a")], [Text("ok")]) as desk:
        await desk.type("%auto_run on")
        await desk.until(lambda: desk.chat.has_class("-auto"))
        assert "AUTO" in str(desk.chat.query_one("#headline").render())
        await desk.type("%auto_run off")
        await desk.until(lambda: not desk.chat.has_class("-auto"))


@pytest.mark.parametrize("text", ["{AUTO_RUN_ON}", "%auto_run on", "/auto_run on"])
async def test_no_text_of_a_model_switches_auto_run_on(text: str) -> None:
    async with sitting([Text(text), call("a")]) as desk:
        await desk.type("go")
        await desk.asked()
        assert not desk.bench.session.auto_run
        assert desk.computer.ran == []


async def test_a_new_conversation_leaves_the_old_one_saved() -> None:
    async with sitting([Text("one")]) as desk:
        await desk.type("first")
        await desk.idle()
        await desk.pilot.press("ctrl+n")
        await desk.until(lambda: desk.bench.session.messages == ())
        assert desk.chat.has_class("-empty")
        assert [summary.title for summary in desk.workspace.store.summaries()] == ["first"]


async def test_a_new_conversation_in_the_middle_of_a_turn_ends_it() -> None:
    reached = threading.Event()
    async with sitting([Text("so far"), reached], [Text("fresh")]) as desk:
        await desk.type("first")
        await desk.until(reached.is_set)
        await desk.pilot.press("ctrl+n")
        await desk.type("second")
        await desk.idle()
        assert [m.content for m in desk.bench.session.messages] == ["second", "fresh"]


async def test_a_fault_is_reported_and_the_next_message_works() -> None:
    async with sitting([ErrorInfo("key", "The key is not accepted.", "api_key")], [Text("better")]) as desk:
        await desk.type("first")
        await desk.until(lambda: not desk.chat.is_active and desk.app.screen.focused)
        await desk.pilot.press("escape")
        await desk.until(lambda: desk.chat.is_active)
        await desk.type("again")
        await desk.until(lambda: desk.bench.session.messages[-1].content == "better")


async def test_the_field_for_the_key_does_not_open_over_typed_text(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, go = threading.Event(), threading.Event()

    def find(*_: object) -> None:
        asked.set()
        assert go.wait(40)

    async with sitting([ErrorInfo("key", "The key is not accepted.", "api_key")], [Text("better")]) as desk:
        monkeypatch.setattr(type(desk.workspace.secrets), "find", find)
        await desk.type("first")
        await desk.until(asked.is_set)
        desk.chat.prompt.insert("again")
        go.set()
        await desk.app.workers.wait_for_complete()
        await desk.pilot.press("enter")
        await desk.until(lambda: desk.bench.session.messages[-1].content == "better")


async def test_code_of_ones_own_runs_at_once_and_the_model_does_not_see_it() -> None:
    async with sitting([Text("hello")]) as desk:
        await desk.type("%% ls")
        await desk.idle()
        assert desk.computer.ran == [("shell", "ls")]
        assert desk.llm.requests == []


async def test_ctrl_c_stops_and_twice_leaves() -> None:
    async with sitting([call("hang")], auto_run=True) as desk:
        await desk.type("first")
        await desk.until(desk.computer.running.is_set)
        await desk.pilot.press("ctrl+c")
        await desk.idle()
        assert desk.app.is_running
        await desk.pilot.press("ctrl+c", "left", "ctrl+c")
        assert desk.app.is_running, "another key was pressed between"
        await desk.pilot.press("ctrl+c")
        await desk.until(lambda: not desk.app.is_running)


async def test_a_program_that_asks_gets_the_keyboard_each_time() -> None:
    async with sitting([call("ask")], auto_run=True) as desk:
        await desk.type("go")
        await desk.until(lambda: desk.bench.input_line.display and desk.bench.input_line.has_focus_within)
        desk.computer.interrupted.set()
        await desk.idle()
        assert not desk.bench.input_line.display
        assert desk.chat.focused is desk.chat.prompt


async def test_what_was_sent_is_offered_in_the_next_session() -> None:
    async with sitting([Text("one")]) as desk:
        await desk.type("remember me")
        await desk.idle()
    async with sitting() as desk:
        desk.chat.prompt.focus()
        await desk.pilot.press("up")
        assert desk.prompt == "remember me"


def _palette_rows(desk: Desk) -> list[str]:
    """The rows of the palette, the chosen one with its mark."""
    choices = desk.app.screen.query_one(CommandChoiceList)
    chosen = choices.highlighted
    return [f"{'> ' * (n == chosen)}{option.prompt}" for n, option in enumerate(choices.options)]


async def _open_palette(desk: Desk) -> list[str]:
    await desk.pilot.press("ctrl+p")
    await desk.until(lambda: desk.app.screen is not desk.chat and len(_palette_rows(desk)) > len(COMMANDS))
    return _palette_rows(desk)


async def test_the_palette_lists_every_command_by_group_and_the_last_chosen_first() -> None:
    async with sitting() as desk:
        await desk.pilot.press("ctrl+p")
        await desk.until(
            lambda: desk.app.screen is not desk.chat and len(_palette_rows(desk)) > len(COMMANDS)
        )
        rows = _palette_rows(desk)
        assert rows[0] == "Conversation"
        assert rows[1].startswith("> %new ")
        assert all(any(row.removeprefix("> ").startswith(f"%{name} ") for row in rows) for name in COMMANDS)
        await desk.pilot.press(*"versions", "enter")
        await desk.until(lambda: desk.app.screen is desk.chat)
        await desk.pilot.press("ctrl+p")
        await desk.until(
            lambda: desk.app.screen is not desk.chat and len(_palette_rows(desk)) > len(COMMANDS)
        )
        rows = _palette_rows(desk)
        assert (rows[0], rows[2]) == ("Recent", "Conversation")
        assert rows[1].startswith("> %info ")
        await desk.pilot.press("up")
        assert _palette_rows(desk)[-1].startswith("> %"), "a title is never chosen"


@pytest.mark.parametrize("size", [(1, 1), (10, 3), (40, 8), (300, 100)])
async def test_any_size_is_survived(size: tuple[int, int]) -> None:
    async with sitting([call("a\n" * 50)]) as desk:
        await desk.type("go")
        await desk.until(lambda: desk.bench.approval.display)
        await desk.pilot.resize_terminal(*size)
        await desk.pilot.pause(0.1)
        await desk.pilot.resize_terminal(80, 24)
        await desk.pilot.pause(0.1)
        assert desk.bench.approval.display


async def test_a_conversation_is_written_as_a_document_and_never_over_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with sitting([call("a")], [Text("All done.")], auto_run=True) as desk:
        await desk.type("go")
        await desk.idle()
        for command in ("%markdown", "%markdown", "%jupyter", "%save_message", "%export script mine"):
            await desk.type(command)
            await desk.pilot.pause()
        names = {path.name for path in tmp_path.iterdir()}
        assert names == {"go.md", "go-2.md", "go.ipynb", "messages.json", "mine.py"}
        (tmp_path / "mine.py").write_text("precious")
        await desk.type("%export script mine")
        await desk.pilot.pause()
        assert (tmp_path / "mine.py").read_text() == "precious"
        for named in ("a.html", "My report.IPYNB", "md b", "Html c.txt"):
            await desk.type(f"%export {named}")
        await desk.until((tmp_path / "c.txt").exists)
        assert (tmp_path / "a.html").read_text().startswith("<!DOCTYPE html>")
        assert '"nbformat": 4' in (tmp_path / "My report.IPYNB").read_text()
        assert (tmp_path / "b.md").read_text().startswith("# go")
        for odd in ("a.pdf", "~nobody-of-this-name/x.md", "x" * 5_000 + ".md", "a\ud800/\u202e.md"):
            await desk.type(f"%export {odd}")
        reported = desk.bench.conversation.transcript.blocks
        assert any(
            isinstance(item, NoticeBlock) and "Unknown format “a.pdf”" in item.text for item in reported
        )
        (tmp_path / "folder").mkdir()
        await desk.type("%markdown folder")
        await desk.until((tmp_path / "folder" / "go.md").exists)
        await desk.type("%markdown nowhere/x")
        notices = desk.bench.conversation.transcript.blocks
        await desk.until(
            lambda: isinstance(notices[-1], NoticeBlock) and "Could not write" in notices[-1].text
        )
        assert notices[-1].text == f"Could not write: there is no folder {tmp_path / 'nowhere'}."


@pytest.mark.parametrize("kept", ["", " kept"])
async def test_messages_that_were_written_can_be_loaded(
    kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with sitting([call("a")], [Text("All done.")], auto_run=True) as desk:
        await desk.type("go")
        await desk.idle()
        before = [(m.role, m.type, m.content) for m in desk.bench.session.messages]
        await desk.type(f"%save_message{kept}")
        assert [item.name for item in tmp_path.iterdir()] == ["kept.json" if kept else "messages.json"]
        await desk.type("%new")
        await desk.type(f"%load_message{kept}")
        await desk.until(lambda: len(desk.bench.session.messages) == len(before))
        assert [(m.role, m.type, m.content) for m in desk.bench.session.messages] == before
        reported = desk.bench.conversation.transcript.blocks
        odd = {
            "~nobody-of-this-name/x": "Could not load ~nobody-of-this-name/x.json: No such file",
            str(tmp_path): f"Could not load {tmp_path}: Is a directory",
        }
        for name, words in odd.items():
            await desk.type(f"%load_message {name}")
            await desk.until(lambda: isinstance(reported[-1], NoticeBlock))
            assert reported[-1].text.startswith(words)
        assert [(m.role, m.type, m.content) for m in desk.bench.session.messages] == before


async def test_the_profile_editor_tests_the_model_in_words() -> None:
    async with sitting([call("1")]) as desk:
        await desk.pilot.press("f2")
        await desk.until(lambda: desk.app.screen is not desk.chat)
        await desk.pilot.press("f6")
        await desk.until(lambda: desk.app.screen.query("#model-test-lines"))
        lines = desk.app.screen.query_one("#model-test-lines")
        await desk.until(lambda: "exists" in str(lines.render()) and "..." not in str(lines.render()))
        await desk.pilot.press("escape", "escape")
        await desk.until(lambda: desk.app.screen is desk.chat)


async def test_taking_the_mouse_asks_in_the_conversation_and_no_stops_the_turn() -> None:
    async with sitting([threading.Event()]) as desk:
        await desk.type("click somewhere")
        await desk.until(lambda: desk.bench.busy and desk.llm.requests)
        takeover = desk.workspace.languages.takeover
        assert takeover.begin()
        await desk.until(lambda: isinstance(desk.app.screen, ConfirmDialog))
        await desk.pilot.press("n")
        await desk.until(lambda: not desk.bench.busy)
        assert not takeover.is_open
