"""Finding words in the conversation, and what the keys on a cell do."""

import asyncio
import os
import sys
from functools import partial
from pathlib import Path

import pytest
from textual.widgets import Input, Static

from oi_tui import paths
from oi_tui.app import OiTui
from oi_tui.engine.llm.base import Text
from oi_tui.engine.settings.profile import Profile
from oi_tui.runtimes import Computer
from oi_tui.screens.chat.screen import ChatScreen
from oi_tui.screens.pager import PagerScreen
from oi_tui.widgets.conversation.cells.cell import CellBlock
from oi_tui.widgets.pager.text_view import TextView
from oi_tui.workspace import Workspace
from tests.fakes import Gate, Llm, call
from tests.pilot.test_chat import ChatDriver, open_chat
from tests.pilot.test_key_hints import read_screen
from tests.pilot.waiting import until


def count(ui: ChatDriver) -> str:
    return str(ui.chat.query_one("#find-count", Static).render()).split(" · ")[0]


def screen_lines(ui: ChatDriver) -> list[str]:
    strips = ui.app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips]


def find_marked_row(ui: ChatDriver) -> str:
    """The row that the search marked."""
    lines = screen_lines(ui)[: ui.view.conversation.region.bottom]
    return next((line[2:].rstrip("▁▂▃▄▅▆▇█ ") for line in lines if line.startswith(" >")), "")


async def test_a_language_that_is_being_started_says_so_wherever_it_is_reported(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    slow = tmp_path / "slow-python"
    # Each time it waits until somebody opens the gate.
    slow.write_text(f'#!/bin/sh\nread -r _ <"{gate}"\nexec "{sys.executable}" "$@"\n')
    slow.chmod(0o755)
    os.mkfifo(gate)
    computer = Computer(cwd=tmp_path, python=str(slow))
    workspace = Workspace(Profile(model="openai/test"), None, llm=Llm(), computer=computer)
    app = OiTui(lambda: workspace)
    async with app.run_test(size=(80, 24)) as pilot:
        reached = partial(until, pilot)

        def rows(*words: str) -> list[str]:
            strips = app.screen._compositor.render_strips()
            lines = ["".join(segment.text for segment in strip) for strip in strips]
            return [line for line in lines if all(word in line for word in words)]

        def memory() -> str:
            return next(
                item.state for item in computer.inspector.read_memories() if item.language == "python"
            )

        async def ask_for(code: str) -> None:
            app.screen.prompt.insert(f"%run python {code}")
            await pilot.press("enter")

        await reached(lambda: isinstance(app.screen, ChatScreen) and app.screen.is_ready)
        await ask_for("input()")
        await reached(lambda: rows("starting python", "esc stop") and rows("[1] python", "starting"))
        assert not rows("running")
        assert memory() == "starting"
        await pilot.press("escape")
        await reached(lambda: rows("[1] python", "interrupted") and not rows("starting"))
        await reached(lambda: memory() == "unstarted")
        await ask_for("import time; time.sleep(1000)")
        await reached(lambda: rows("starting python", "esc stop") and rows("[2] python", "starting"))
        await asyncio.to_thread(gate.write_text, "\n")
        await reached(lambda: rows("running python", "esc stop") and rows("[2] python", "running"))
        assert not rows("starting")
        await pilot.press("escape")
        await reached(lambda: rows("[2] python", "interrupted"))
        await ask_for("print(6 * 7)")
        await reached(lambda: rows("[3] python", "finished") and rows("42"))
    workspace.close()


async def run_cell(ui: ChatDriver, code: str) -> None:
    """Run code by hand and put the block cursor on its cell."""
    before = len(ui.view.conversation.printing)
    await ui.type(f"%run python {code}")
    await ui.until(lambda: len(ui.view.conversation.printing) > before and not ui.view.busy)
    ui.view.conversation.transcript.focus()
    await ui.pilot.press("up")


def reader_rows(ui: ChatDriver) -> list[str]:
    view = ui.app.screen.query_one(TextView)
    return [view.render_line(y).text.strip() for y in range(view.size.height)]


async def test_find_counts_and_goes_round() -> None:
    # Only the whole word is found three times, so that the count tells when it was searched for.
    async with open_chat([Text("A needle, and a NEEDLE.")], [Text("A needl.")], [Text("needle")]) as ui:
        for _ in range(3):
            await ui.type("go on")
            await ui.idle()
        await ui.pilot.press("ctrl+f", *"needle")
        await ui.until(lambda: count(ui).endswith("of 3") and "needle" in find_marked_row(ui).lower())
        assert ui.chat.focused is ui.chat.query_one("#find-text", Input)
        first = int(count(ui)[0])
        await ui.pilot.press("enter")
        await ui.until(lambda: count(ui) == f"{first % 3 + 1} of 3")
        await ui.pilot.press("up", "up")
        await ui.until(lambda: count(ui) == f"{(first - 2) % 3 + 1} of 3")
        await ui.pilot.press("down")
        await ui.until(lambda: count(ui) == f"{first} of 3")
        assert "needle" in find_marked_row(ui).lower()
        await ui.pilot.press("escape")
        assert ui.chat.focused is ui.chat.prompt
        assert find_marked_row(ui) == ""


async def test_find_gives_the_keyboard_back_to_the_block_that_had_it() -> None:
    async with open_chat([Text("One pear.")], [Text("An apple.")]) as ui:
        for _ in range(2):
            await ui.type("go on")
            await ui.idle()
        transcript = ui.view.conversation.transcript
        transcript.focus()
        transcript.set_cursor(3)
        await ui.pilot.press("ctrl+f", "escape")
        await ui.until(lambda: ui.chat.focused is transcript)
        assert transcript.cursor == 3
        await ui.pilot.press("ctrl+f", *"pear")
        await ui.until(lambda: count(ui) == "1 of 1")
        await ui.pilot.press("ctrl+f", "escape")
        await ui.until(lambda: ui.chat.focused is transcript)
        assert transcript.cursor == 1, "the keys act on what was found"


async def test_find_gives_the_keyboard_back_to_the_question_which_waits_for_quiet() -> None:
    async with open_chat([call("pear")], [Text("Done.")]) as ui:
        await ui.type("go")
        await ui.asked()
        await ui.pilot.press("ctrl+f", *"pear")
        await ui.until(lambda: count(ui).endswith("1"))
        ui.view.approval._quiet.begin()
        await ui.pilot.press("escape")
        await ui.until(lambda: ui.view.approval.has_focus)
        assert ui.computer.ran == []
        await ui.asked()
        await ui.pilot.press("y")
        await ui.idle()
        assert ui.computer.ran == [("python", "pear")]


async def test_a_queued_message_does_not_end_a_search() -> None:
    gate = Gate()
    async with open_chat([Text("One pear."), gate], [Text("Two.")]) as ui:
        await ui.type("go")
        await ui.until(lambda: ui.view.busy)
        await ui.type("and then")
        await ui.pilot.press("ctrl+f", *"pear")
        await ui.until(lambda: count(ui) == "1 of 1")
        gate.set()
        await ui.until(lambda: ui.view.session.messages[-1].content == "Two." and not ui.view.busy)
        assert ui.chat.focused is ui.chat.query_one("#find-text", Input)
        await ui.pilot.press("escape")
        await ui.until(lambda: ui.chat.focused is ui.chat.prompt)


@pytest.mark.parametrize("queued", ["and then", "%% echo two"])
async def test_what_was_queued_leaves_a_person_where_they_read(queued: str) -> None:
    gate = Gate()
    long = "\n\n".join(f"Paragraph {number}." for number in range(60))
    async with open_chat([Text(long), gate], [Text("Two.")]) as ui:
        transcript = ui.view.conversation.transcript
        await ui.type("go")
        await ui.until(lambda: "Paragraph 59." in read_screen(ui))
        await ui.type(queued)
        await ui.pilot.press("pageup", "pageup")
        await ui.until(lambda: "Paragraph 30." in read_screen(ui))
        before = read_screen(ui).split("\n")[2:8]
        gate.set()
        await ui.until(lambda: len(ui.view.session.messages) > 3 and not ui.view.busy)
        assert read_screen(ui).split("\n")[2:8] == before
        assert not transcript.scroll_mode.follows_end
        await ui.type("now")
        await ui.until(lambda: transcript.scroll_mode.follows_end)


async def test_all_other_places_that_were_found_are_underlined() -> None:
    async with open_chat([Text("One pear, another Pear.")]) as ui:
        await ui.type("a pear")
        await ui.idle()
        await ui.pilot.press("ctrl+f", *"pear")
        await ui.until(lambda: count(ui).endswith("of 3") and "pear" in find_marked_row(ui).lower())

        def underlined() -> list[str]:
            transcript = ui.view.conversation.transcript
            strips = [transcript.render_line(y) for y in range(transcript.size.height)]
            pieces = [segment for strip in strips for segment in strip if segment.style]
            return [piece.text for piece in pieces if piece.style and piece.style.underline]

        await ui.until(lambda: sorted(underlined()) == ["Pear", "pear", "pear"])
        await ui.pilot.press("escape")
        await ui.until(lambda: not underlined())


async def test_find_opens_what_is_folded_and_shows_the_row() -> None:
    async with open_chat() as ui:
        ui.computer.run = lines_between  # type: ignore[method-assign]
        await run_cell(ui, "x")
        for _ in range(8):
            await run_cell(ui, "y")
        await ui.type("%find line 57")
        await ui.until(lambda: count(ui) == "1 of 9" or count(ui).endswith("of 9"))
        assert "line 57" in find_marked_row(ui)
        for _ in range(9):
            await ui.pilot.press("down")
            assert "line 57" in find_marked_row(ui)


def lines_between(language: str, code: str, number: int | None = None):  # type: ignore[no-untyped-def]
    from oi_tui.messages import Printed, RunEnded

    yield Printed("".join(f"line {n}\n" for n in range(20, 90)))
    yield RunEnded("finished", 0.1)


async def test_code_and_output_are_reported_apart() -> None:
    async with open_chat() as ui:
        await run_cell(ui, "pear = 1")
        await ui.type("%find pear")
        await ui.until(lambda: count(ui).endswith("of 2"))
        rows = [find_marked_row(ui)]
        await ui.pilot.press("down")
        rows.append(find_marked_row(ui))
        assert sorted("out of" in row for row in rows) == [False, True]


async def test_what_is_nowhere_is_not_found() -> None:
    async with open_chat([Text("Hello.")]) as ui:
        await ui.type("go")
        await ui.idle()
        await ui.type("%find ello")
        await ui.until(lambda: count(ui) == "1 of 1")
        field = ui.chat.query_one("#find-text", Input)
        width = field.size.width
        field.value = "[bold]("
        await ui.until(lambda: count(ui) == "not found")
        # A field that changes its width lays out the whole screen.
        assert field.size.width == width
        await ui.pilot.press("down", "up", "escape")
        assert ui.chat.focused is ui.chat.prompt


async def test_output_that_went_to_a_file_is_read_from_there() -> None:
    async with open_chat() as ui:
        await run_cell(ui, "flood")
        await ui.pilot.press("v")
        await ui.until(lambda: isinstance(ui.app.screen, PagerScreen))
        await ui.pilot.press("s")
        await ui.until(lambda: ui.app.screen.query_one(TextView).text.line_count == 300)
        written = [note.message for note in ui.app._notifications]
        assert any(str(paths.data() / "outputs") in item for item in written)
        await ui.pilot.press("escape")
        assert ui.app.screen is ui.chat


async def test_a_program_cannot_name_a_file_to_be_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    async with open_chat() as ui:
        await run_cell(ui, f"… 3 lines not shown; all of it is in {secret} …")
        await ui.type("%output 1")
        await ui.until(lambda: isinstance(ui.app.screen, PagerScreen))
        assert "secret" not in reader_rows(ui)
        assert any("lines not shown" in row for row in reader_rows(ui))


async def test_output_by_number_says_what_is_missing() -> None:
    async with open_chat() as ui:
        await ui.type("%output")
        await ui.type("%output 7")
        texts = [getattr(block, "text", "") for block in ui.view.conversation.transcript.blocks]
        assert texts == ["There is no output yet.", "Cell 7 does not exist."]


async def test_r_runs_the_same_code_again() -> None:
    async with open_chat() as ui:
        await run_cell(ui, "a")
        await ui.pilot.press("r")
        await ui.until(lambda: len(ui.computer.ran) == 2 and not ui.view.busy)
        assert ui.computer.ran == [("python", "a")] * 2


async def test_e_puts_the_code_into_the_prompt() -> None:
    async with open_chat() as ui:
        await run_cell(ui, "for x in y:\n    print(x)")
        await ui.pilot.press("e")
        assert ui.prompt == "%run python for x in y:\n    print(x)"
        assert ui.chat.focused is ui.chat.prompt
        assert len(ui.computer.ran) == 1


async def test_e_is_an_answer_while_a_question_is_open() -> None:
    async with open_chat([call("a")]) as ui:
        await ui.type("go")
        await ui.asked()
        ui.view.conversation.transcript.focus()
        await ui.pilot.press("e")
        await ui.until(lambda: ui.view.conversation.cell_editor.is_open)
        assert ui.prompt == ""


async def test_w_shows_what_the_model_was_reported() -> None:
    async with open_chat([call("flood")], max_output=500, auto_run=True) as ui:
        await ui.type("go")
        await ui.until(lambda: ui.view.session.messages and not ui.view.busy)
        ui.view.conversation.transcript.focus()
        ui.view.conversation.transcript.set_cursor(1)
        await ui.pilot.press("w")
        await ui.until(lambda: isinstance(ui.app.screen, PagerScreen))
        assert any("not shown" in row for row in reader_rows(ui))


async def test_w_says_that_the_model_does_not_see_code_of_the_person() -> None:
    async with open_chat() as ui:
        await run_cell(ui, "a")
        await ui.pilot.press("w")
        assert ui.app.screen is ui.chat
        assert any("does not see" in note.message for note in ui.app._notifications)


async def test_s_saves_the_code_under_a_free_name(tmp_path: Path) -> None:
    async with open_chat() as ui:
        ui.computer.cwd = tmp_path
        (tmp_path / "cell-1.py").write_text("mine")
        await run_cell(ui, "a")
        await ui.pilot.press("s")
        assert (tmp_path / "cell-1.py").read_text() == "mine"
        assert (tmp_path / "cell-1-2.py").read_text() == "a\n"
        written = ui.view.conversation.transcript.blocks[-1]
        assert str(tmp_path / "cell-1-2.py") in written.source()


async def test_a_folder_that_cannot_be_written_to_is_reported() -> None:
    async with open_chat() as ui:
        ui.computer.cwd = Path("/nowhere/at/all")
        await run_cell(ui, "a")
        await ui.pilot.press("s")
        assert "Could not save" in ui.view.conversation.transcript.blocks[-1].source()


async def test_after_ctrl_up_a_letter_acts_on_the_last_block() -> None:
    async with open_chat([Text("Hello **there**.")]) as ui:
        await ui.pilot.press("ctrl+up", "c")
        await ui.until(
            lambda: any(
                "The conversation is empty" in notification.message for notification in ui.app._notifications
            )
        )
        await ui.pilot.press("ctrl+down")
        await ui.type("go")
        await ui.idle()
        await ui.pilot.press("ctrl+up", "c")
        await ui.until(lambda: ui.app.clipboard == "Hello **there**.")


async def test_m_shows_code_and_output_whole_and_w_what_the_model_saw_of_it() -> None:
    async with open_chat([call("first = 1\nflood")], [Text("Done.")], max_output=500, auto_run=True) as ui:
        ui.computer.run = lines_between  # type: ignore[method-assign]
        await ui.type("go")
        await ui.until(lambda: ui.view.session.messages and not ui.view.busy)
        await ui.pilot.press("ctrl+up", "up", "m")
        await ui.until(lambda: isinstance(ui.app.screen, PagerScreen))
        text = ui.app.screen.query_one(TextView).text
        text.index_all()
        shown = text.lines(0, text.line_count)
        assert shown[:2] == ["first = 1", "flood"]
        assert shown[-1] == "line 89"
        await ui.pilot.press("escape", "w")
        await ui.until(lambda: "What the model saw" in "\n".join(screen_lines(ui)))
        title = screen_lines(ui)[0]
        assert "of [1] python: ~" in title
        assert title.rstrip().endswith("tokens")


@pytest.mark.parametrize("key", ["v", "r", "e", "s", "C", "o", "f", "d", "u"])
async def test_keys_of_code_do_nothing_to_words_and_say_so(key: str) -> None:
    async with open_chat([Text("Hello.")]) as ui:
        await ui.type("go")
        await ui.idle()
        await ui.pilot.press("ctrl+up", key)
        await ui.until(lambda: len(ui.app._notifications) == 1)
        assert ui.app.screen is ui.chat
        assert ui.prompt == ""
        assert not any(isinstance(b, CellBlock) for b in ui.view.conversation.transcript.blocks)


async def test_print_leaves_with_the_conversation_as_words() -> None:
    async with open_chat([Text("Hello \x1b[2Jthere.")]) as ui:
        await ui.type("go")
        await ui.idle()
        await ui.type("%print")
        await ui.until(lambda: ui.app.return_value is not None)
        assert ui.app.return_value == "> go\n\n  Hello there."
