"""The conversation on a screen of 80x24: events become what a person would recognise."""

import base64
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from PIL import Image
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import Selection
from textual.widgets import TextArea

from oi_tui import paths
from oi_tui.engine.events import (
    ApprovalRequested,
    Event,
    MessageGrew,
    MessageRecorded,
    MessageStarted,
    ModelCalled,
    Noticed,
    RetryScheduled,
    RunReported,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from oi_tui.messages import InputReceived, InputRequested, LineReached, Message, State, Stopping
from oi_tui.terminal.sanitize_filter import SanitizeFilter
from oi_tui.themes import THEMES
from oi_tui.widgets.conversation.conversation import Conversation
from tests.pilot.painting import find_lines_painted
from tests.pilot.waiting import until

SANITIZE = SanitizeFilter()
CODE = "import os\nfor name in os.listdir():\n    print(name)"


class Screen(App[None]):
    CSS_PATH = [paths.styles() / "conversation.tcss"]
    CSS = "#prompt { height: 3; }"

    def __init__(self) -> None:
        super().__init__()
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = "oi-dark"
        self.copied: list[tuple[str, str]] = []
        self.asked: list[tuple[str, str]] = []

    def get_line_filters(self):  # type: ignore[no-untyped-def]
        return [SANITIZE, *super().get_line_filters()]

    def compose(self) -> ComposeResult:
        yield Conversation(id="conversation")
        yield TextArea(id="prompt")

    def on_mount(self) -> None:
        self.query_one("#prompt").focus()

    def on_conversation_copied(self, event: Conversation.Copied) -> None:
        self.copied.append((event.text, event.what))

    def on_conversation_action_requested(self, event: Conversation.ActionRequested) -> None:
        self.asked.append((event.key, event.what))

    @property
    def conversation(self) -> Conversation:
        return self.query_one(Conversation)


def user(text: str) -> Message:
    return Message(role="user", type="message", content=text)


def make_reply(text: str) -> Message:
    return Message(role="assistant", type="message", content=text)


def code(content: str = CODE, state: State = "queued", language: str = "python", **more: object) -> Message:
    return Message(role="assistant", type="code", format=language, content=content, state=state, **more)  # type: ignore[arg-type]


def printed(text: str, of: Message) -> Message:
    return Message(role="computer", type="console", format="output", content=text, parent=of.id)


def png(width: int = 64, height: int = 40) -> str:
    data = io.BytesIO()
    Image.new("RGB", (width, height), "#ff0000").save(data, "PNG")
    return base64.b64encode(data.getvalue()).decode()


def screen_lines(app: App[None]) -> list[str]:
    """What is on the screen, line by line, without trailing spaces and the scroll bar."""
    strips = app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip)[: app.size.width - 1].rstrip() for strip in strips]


async def show(pilot: Pilot[None], *events: Event) -> list[str]:
    app = pilot.app
    assert isinstance(app, Screen)
    for event in events:
        app.conversation.apply(event)
    app.conversation.transcript.flush()
    await pilot.pause()
    return screen_lines(app)


@asynccontextmanager
async def conversation(size: tuple[int, int] = (80, 24)) -> AsyncIterator[tuple[Pilot[None], Conversation]]:
    app = Screen()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield pilot, app.conversation


def has(screen: list[str], *wanted: str) -> bool:
    text = "\n".join(screen)
    return all(item in text for item in wanted)


# What is shown


async def test_a_reason_that_does_not_fit_has_rows_of_its_own() -> None:
    why = (
        "Lua is not installed. Install it with: sudo apt install lua5.4, then run the code again; it "
        "stays here"
    )
    async with conversation() as (pilot, _):
        screen = await show(pilot, MessageRecorded(code("print(1)", "failed", "lua", reason=why)))
    header = next(row for row, line in enumerate(screen) if "[1] lua" in line)
    assert screen[header].endswith("failed")
    assert "print(1)" in screen[header + 1]
    reported = " ".join(line.strip("│╰ ") for line in screen[header + 2 : header + 4])
    assert reported == why


async def test_a_whole_turn_reads_from_top_to_bottom() -> None:
    asked, answer, cell = user("List the files"), make_reply("I will **list** them."), code()
    async with conversation() as (pilot, _):
        screen = await show(
            pilot,
            TurnStarted(),
            MessageRecorded(asked),
            ModelCalled("demo"),
            MessageRecorded(answer),
            MessageRecorded(cell),
            ApprovalRequested(cell),
        )
        assert screen[0] == "┃ List the files"
        assert screen[2] == "  I will list them."
        assert screen[4] == "┏ [1] python · waiting for your approval"
        assert screen[5:8] == [
            "┃   1  import os",
            "┃   2  for name in os.listdir():",
            "┗   3      print(name)",
        ]
        running = cell.replace(state="running", decision="approved")
        screen = await show(pilot, MessageRecorded(running), RunReported(cell.id, LineReached(3)))
        assert screen[4].startswith("┏ [1] python · running 0.")
        assert screen[4].endswith("you approved it")
        assert screen[7] == "┗ > 3      print(name)"
        out = printed("a.txt\nb.txt\n", cell)
        screen = await show(
            pilot,
            MessageStarted(out.replace(content="")),
            MessageGrew(out.id, "a.txt\r\n"),
            MessageGrew(out.id, "b.txt\r\n"),
            MessageRecorded(out),
            MessageRecorded(running.replace(state="finished", seconds=0.31)),
            UsageReported(10, 10, 0.0),
            TurnEnded("done"),
        )
        assert screen[4] == "╭ [1] python · finished 0.3 s · you approved it"
        assert screen[7:11] == ["│   3      print(name)", "│ │ a.txt", "╰ │ b.txt", ""]


async def test_the_header_says_what_became_of_the_code() -> None:
    wanted = {
        ("failed", "exit status 3"): "failed: exit status 3",
        ("rejected", "too risky"): "rejected: too risky",
        ("interrupted", None): "interrupted, variables kept",
        ("lost", None): "python ended and lost its variables",
        ("skipped", None): "skipped",
        ("unfinished", None): "the reply was cut off; this code cannot run",
        ("queued", None): "not run yet",
    }
    async with conversation((100, 60)) as (pilot, _):
        cells = [code("pass", state, reason=reason) for state, reason in wanted]  # type: ignore[arg-type]
        screen = await show(pilot, *map(MessageRecorded, cells))
        for number, words in enumerate(wanted.values(), 1):
            assert has(screen, f"[{number}] python · {words}")


async def test_a_program_that_waits_for_input_or_is_being_stopped_says_so() -> None:
    cell = code("input('name? ')", "running")
    async with conversation() as (pilot, _):
        screen = await show(
            pilot, MessageRecorded(cell), RunReported(cell.id, InputRequested("name? ", False))
        )
        assert has(screen, "[1] python · waiting for input")
        screen = await show(pilot, RunReported(cell.id, InputReceived()))
        assert not has(screen, "is waiting for input")
        screen = await show(pilot, RunReported(cell.id, Stopping("interrupt", 2.0)))
        assert has(screen, "[1] python · stopping…")


async def test_words_stream_into_prose_reasoning_and_code() -> None:
    thought, words = Message(role="assistant", type="reasoning"), make_reply("")
    cell = code("", "writing")
    async with conversation() as (pilot, _):
        screen = await show(pilot, MessageStarted(thought), MessageGrew(thought.id, "one\ntwo"))
        assert has(screen, "▸ thinking · 2 lines · f unfolds")
        screen = await show(
            pilot,
            MessageRecorded(thought.replace(content="one\ntwo")),
            MessageStarted(words),
            MessageGrew(words.id, "So **be"),
        )
        assert has(screen, "▸ thought for 2 lines", "So be")
        screen = await show(
            pilot,
            MessageGrew(words.id, "** it"),
            MessageRecorded(words.replace(content="So **be** it")),
            MessageStarted(cell),
            MessageGrew(cell.id, "x = 1\ny"),
        )
        assert has(screen, "So be it", "[1] python · writing…", " 1  x = 1", " 2  y")
        screen = await show(
            pilot,
            MessageGrew(cell.id, " = 2\n"),
            MessageRecorded(cell.replace(content="x = 1\ny = 2\n", state="queued")),
        )
        assert has(screen, " 2  y = 2")
        assert not has(screen, " 3 ")


async def test_long_output_is_a_tail_while_it_runs_and_folds_after() -> None:
    cell = code("pass", "running")
    out = printed("", cell)
    async with conversation((80, 40)) as (pilot, view):
        await show(pilot, MessageRecorded(cell), MessageStarted(out))
        screen = await show(pilot, *(MessageGrew(out.id, f"line {n}\n") for n in range(50)))
        assert has(screen, "… 40 lines above — ctrl+up, then up; o opens", "│ line 40", "│ line 49")
        assert not has(screen, "│ line 39")
        view.move_cursor(-1)
        await pilot.press("o", "end")
        await until(pilot, lambda: has(screen_lines(pilot.app), "│ line 20", "│ line 49"))
        await pilot.press("o", "end")
        await until(pilot, lambda: not has(screen_lines(pilot.app), "│ line 20"))
        pilot.app.query_one("#prompt").focus()
        screen = await show(pilot, MessageRecorded(out), MessageRecorded(cell.replace(state="finished")))
        assert has(screen, "│ line 3", "… 36 lines not shown — ctrl+up, then up; o opens", "│ line 40")
        view.move_cursor(-1)
        await pilot.press("o", "end")
        await until(pilot, lambda: has(screen_lines(pilot.app), "│ line 25"))
        await pilot.press("o")
        await until(pilot, lambda: has(screen_lines(pilot.app), "36 lines not shown"))


async def test_notices_retries_and_ends_are_lines_with_a_word() -> None:
    async with conversation() as (pilot, _):
        screen = await show(
            pilot,
            Noticed("All is well."),
            Noticed("The disk is nearly full.", "warning"),
            RetryScheduled("The server is busy.", 8),
            TurnEnded("failed", "The key is wrong.", "llm.api_key"),
            TurnEnded("failed", "Start it with: ollama serve", "api_base"),
            TurnEnded("interrupted"),
            TurnEnded("paused", "The budget is spent."),
        )
        assert screen[:8] == [
            "· note  All is well.",
            "· warning  The disk is nearly full.",
            "· warning  The server is busy. Trying again in 8 s.",
            "· error  The key is wrong. The setting llm.api_key changes this.",
            "· error  Start it with: ollama serve. The setting api_base changes this.",
            "· stopped by you",
            "· warning  The budget is spent.",
            "",
        ]


async def test_an_image_is_drawn_under_its_cell_with_its_size_and_path() -> None:
    cell = code("plot()", "finished")
    app = Screen()
    async with app.run_test(size=(80, 40)) as pilot:
        app.conversation._story._saved_as = lambda _: "/tmp/plot.png"
        image = Message(role="computer", type="image", format="base64.png", content=png(), parent=cell.id)
        broken = image.replace(id="broken", content="bm90IGEgcGljdHVyZQ==")
        screen = await show(pilot, MessageRecorded(cell), MessageRecorded(image), MessageRecorded(broken))
        assert has(screen, "│ image cannot be shown")
        # An image is drawn in a thread.
        drawn = ("│ ▀▀▀▀", "│ image 64x40 · /tmp/plot.png")
        await until(pilot, lambda: has(screen_lines(app), *drawn))


async def test_a_stored_conversation_that_does_not_tell_the_parent_is_shown_in_order() -> None:
    cell = code("print(1)", "finished")
    out = Message(role="computer", type="console", format="output", content="1")
    async with conversation() as (pilot, _):
        screen = await show(
            pilot, MessageRecorded(printed("alone", code())), MessageRecorded(cell), MessageRecorded(out)
        )
        assert has(screen, "│ alone", "│ 1")


async def test_events_about_unknown_messages_are_let_pass() -> None:
    async with conversation() as (pilot, _):
        screen = await show(
            pilot,
            MessageGrew("nobody", "text"),
            RunReported("nobody", LineReached(1)),
            MessageRecorded(make_reply("Still here.")),
        )
        assert screen[0] == "  Still here."


async def test_a_message_that_is_recorded_again_replaces_what_was_there() -> None:
    first = make_reply("First words.")
    async with conversation() as (pilot, _):
        await show(pilot, MessageRecorded(first), MessageRecorded(user("and?")))
        screen = await show(pilot, MessageRecorded(first.replace(content="Second words.")))
        assert screen[0] == "  Second words."
        assert not has(screen, "First")


async def test_a_very_long_message_of_the_person_is_folded() -> None:
    async with conversation() as (pilot, view):
        screen = await show(pilot, MessageRecorded(user("\n".join(f"row {n}" for n in range(500)))))
        assert has(screen, "┃ … 470 lines not shown — f unfolds")
        view.move_cursor(-1)
        await pilot.press("f", "end")
        await until(pilot, lambda: has(screen_lines(pilot.app), "┃ row 499"))


async def test_what_the_model_says_never_reaches_the_margin_where_the_programs_marks_stand() -> None:
    fake = "┃ run it\n\n╭ [1] python · finished 0.1 s · you approved it\n\n· note  All is well.\n\n> yes"
    cell = code("print(1)", "finished", decision="approved")
    async with conversation() as (pilot, view):
        screen = await show(
            pilot, MessageRecorded(user("run it")), MessageRecorded(make_reply(fake)), MessageRecorded(cell)
        )
        marks = [line[:2] for line in screen if line[:2].strip() and line[0] != "▊"]
        assert marks == ["┃ ", "╭ ", "╰ "]
        view.move_cursor(-1)
        await pilot.pause()
        assert {line[:1] for line in screen_lines(pilot.app)} >= {"┃", "┏", "┗"}


async def test_a_carriage_return_ends_a_line_where_python_ends_it() -> None:
    hidden = code("print('x')  # \rprint('hello')\n")
    async with conversation() as (pilot, _):
        screen = await show(pilot, MessageRecorded(hidden), ApprovalRequested(hidden))
        assert has(screen, "1  print('x')  #", "2  print('hello')")


async def test_what_is_reported_cannot_control_the_terminal_or_the_markup() -> None:
    evil = "\x1b]52;c;UUFB\x07 [@click=app.quit]x[/] \u202e \x9b31m [/]"
    cell = code(evil, "failed", evil, reason=evil)
    async with conversation((100, 40)) as (pilot, _):
        screen = await show(
            pilot,
            MessageRecorded(user(evil)),
            MessageRecorded(make_reply(evil)),
            MessageRecorded(Message(role="assistant", type="reasoning", content=evil)),
            MessageRecorded(cell),
            MessageRecorded(printed(evil, cell)),
            RunReported(cell.id, InputRequested(evil, True)),
            Noticed(evil, "error"),
            TurnEnded("failed", evil, evil),
        )
        text = "\n".join(screen)
        assert not set(text) & set("\x1b\x07\x9b\u202e")
        assert text.count("[@click=app.quit]x[/]") >= 5


# Reading


def long_story(count: int) -> list[Event]:
    return [
        MessageRecorded(make_reply(f"Message {n}.\n\n- one\n- two {'words ' * 30}")) for n in range(count)
    ]


async def test_the_end_is_followed_until_the_person_scrolls_up_and_then_nothing_moves() -> None:
    words = make_reply("")
    async with conversation() as (pilot, view):
        screen = await show(pilot, *long_story(30))
        assert has(screen, "Message 29.")
        view.page_up()
        view.page_up()
        before = screen_lines(pilot.app)[:20]
        await show(pilot, MessageStarted(words))
        for n in range(200):
            screen = await show(pilot, MessageGrew(words.id, f"line {n}\n\n")) if n % 20 == 0 else screen
            view.apply(MessageGrew(words.id, f"row {n}\n\n"))
        screen = await show(pilot, MessageRecorded(words.replace(content="done")))
        screen = await show(pilot, *long_story(5))
        assert screen[:20] == before
        assert has(screen, "new below · end")
        await pilot.press("end")
        view.scroll_end()
        await until(pilot, lambda: has(screen_lines(pilot.app), "Message 4."))
        await until(pilot, lambda: not has(screen_lines(pilot.app), "new below"))


async def test_the_tail_of_a_running_program_holds_still_while_one_reads_above() -> None:
    cell = code("pass", "running")
    out = printed("", cell)
    async with conversation() as (pilot, view):
        await show(pilot, *long_story(5), MessageRecorded(cell), MessageStarted(out))
        await show(pilot, *(MessageGrew(out.id, f"line {n}\n") for n in range(30)))
        view.transcript.scroll_to(y=view.transcript.scroll_y - 1, animate=False)
        await pilot.pause()
        before = screen_lines(pilot.app)[:20]
        assert has(before, "line 27")
        screen = await show(pilot, *(MessageGrew(out.id, f"later {n}\n") for n in range(2_000)))
        header = next(index for index, line in enumerate(before) if "running" in line)
        before[header] = screen[header]
        assert screen[:20] == before
        view.scroll_end()
        await until(pilot, lambda: has(screen_lines(pilot.app), "later 1999"))


async def test_scrolling_up_row_by_row_shows_every_row_once() -> None:
    """Heights are estimates until blocks are seen; reading upwards must not skip or repeat."""
    async with conversation() as (pilot, view):
        await show(pilot, *long_story(40))
        transcript = view.transcript
        rows = [screen_lines(pilot.app)[20]]
        for _ in range(60):
            transcript.scroll_to(y=transcript.scroll_y - 1, animate=False)
            await pilot.pause()
            rows.append(screen_lines(pilot.app)[0])
        upwards = rows[1:][::-1]
        numbers = [int(row.split()[1][:-1]) for row in upwards if row.startswith("  Message")]
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
        period = [row.split()[0] if row.strip() else "" for row in upwards]
        start = period.index("Message")
        assert period[start : start + 14] == (period[start : start + 7] * 2)


async def test_home_and_end_reach_the_first_and_the_last_row() -> None:
    async with conversation() as (pilot, view):
        await show(pilot, *long_story(300))
        view.transcript.action_scroll_home()
        await until(pilot, lambda: screen_lines(pilot.app)[0] == "  Message 0.")
        view.scroll_end()
        await until(pilot, lambda: has(screen_lines(pilot.app), "Message 299."))


async def test_another_width_keeps_the_place_and_wraps_anew() -> None:
    async with conversation((120, 30)) as (pilot, view):
        await show(pilot, *long_story(60))
        view.reveal(view.transcript.blocks[30].key)
        view.transcript.show_block(20)
        top = next(line for line in screen_lines(pilot.app) if "Message" in line)
        await pilot.resize_terminal(60, 30)
        await until(pilot, lambda: max(map(len, screen_lines(pilot.app))) <= 60)
        assert top in screen_lines(pilot.app)


async def test_another_theme_is_drawn_at_once() -> None:
    async with conversation() as (pilot, _):
        before = await show(pilot, *long_story(3))
        pilot.app.theme = "oi-light"
        await pilot.pause()
        assert screen_lines(pilot.app) == before
        light = pilot.app.screen._compositor.render_strips()[0]
        styles = [segment.style for segment in light if segment.style]
        assert any(style.bgcolor and style.bgcolor.get_truecolor()[0] > 240 for style in styles)


# Acting on blocks


async def test_the_block_cursor_has_a_mark_and_its_letters_act() -> None:
    cell = code(CODE, "finished")
    async with conversation() as (pilot, view):
        await show(
            pilot,
            MessageRecorded(user("hello")),
            MessageRecorded(cell),
            MessageRecorded(printed("out", cell)),
        )
        view.move_cursor(-1)
        await pilot.pause()
        assert screen_lines(pilot.app)[2].startswith("┏>[1] python")
        assert screen_lines(pilot.app)[3].startswith("┃   1  import os")
        await pilot.press("c", "C", "k", "c")
        assert isinstance(pilot.app, Screen)
        assert pilot.app.copied == [(CODE, "the code"), ("out", "the output"), ("hello", "your message")]
        await pilot.press("j", "f")
        assert has(screen_lines(pilot.app), "▸ 3 lines of code · f unfolds")
        pilot.app.query_one("#prompt").focus()
        await pilot.pause()
        assert not has(screen_lines(pilot.app), "▎>")


async def click(pilot: Pilot[None], words: str) -> list[str]:
    """Click on the row with these words."""
    lines = screen_lines(pilot.app)
    y = next(y for y, line in enumerate(lines) if words in line)
    await pilot.click(offset=(lines[y].index(words) + 2, y))
    await pilot.pause()
    return screen_lines(pilot.app)


async def test_a_click_on_what_is_folded_shows_it() -> None:
    numbers = "".join(f"number {n}\n" for n in range(30))
    cell = code("x = 1\n" * 40, "finished")
    async with conversation((80, 60)) as (pilot, _):
        await show(pilot, MessageRecorded(cell), MessageRecorded(printed(numbers, cell)))
        assert not has(screen_lines(pilot.app), "number 12")
        assert has(await click(pilot, "o opens"), "number 12")
        assert has(await click(pilot, "f unfolds"), "40  x = 1")
    async with conversation((80, 60)) as (pilot, _):
        await show(pilot, MessageRecorded(user(numbers * 20)))
        assert has(screen_lines(pilot.app), "not shown")
        assert not has(await click(pilot, "f unfolds"), "not shown")
    async with conversation((80, 60)) as (pilot, _):
        alone = Message(role="computer", type="console", format="output", content=numbers)
        await show(pilot, MessageRecorded(alone))
        assert has(await click(pilot, "o opens"), "number 12")
        assert pilot.app.query_one("#prompt").has_focus


async def test_a_click_on_an_image_asks_for_it() -> None:
    cell = code("plot()", "finished")
    async with conversation() as (pilot, _):
        image = Message(role="computer", type="image", format="base64.png", content=png(), parent=cell.id)
        await show(pilot, MessageRecorded(cell), MessageRecorded(image))
        await until(pilot, lambda: has(screen_lines(pilot.app), "│ ▀▀▀▀"))
        assert isinstance(pilot.app, Screen)
        await click(pilot, "▀▀▀▀")
        assert pilot.app.asked == [(cell.id, "image")]


async def test_a_letter_before_a_block_is_chosen_shows_on_which_one_it_acts() -> None:
    async with conversation() as (pilot, view):
        await show(pilot, MessageRecorded(user("hello")))
        view.transcript.focus()
        assert 0 in await find_lines_painted(pilot, view.transcript, "c")


async def test_a_selection_copies_the_source() -> None:
    cell = code("x = '" + "long " * 30 + "'\ny = 2", "finished")
    async with conversation() as (pilot, view):
        await show(
            pilot,
            MessageRecorded(make_reply("- one " + "and more " * 12 + "\n- two")),
            MessageRecorded(cell),
            MessageRecorded(printed("\x1b[31mred\x1b[0m and plain", cell)),
        )
        copied = view.transcript.get_selection(Selection(None, None))
        assert copied is not None
        assert copied[0] == (
            "- one " + ("and more " * 12).strip() + "\n- two\n" + "\n" + cell.content + "\nred and plain"
        )
        part = view.transcript.get_selection(Selection(Offset(4, 0), Offset(7, 0)))
        assert part == ("one", "\n")


async def test_selecting_with_the_mouse_leaves_the_focus_with_the_prompt() -> None:
    async with conversation() as (pilot, view):
        await show(pilot, MessageRecorded(make_reply("Select these words here.")))
        await pilot.mouse_down(view, offset=(2, 0))
        await pilot.hover(view, offset=(8, 0))
        await pilot.mouse_up(view, offset=(8, 0))
        await pilot.pause()
        assert pilot.app.focused is pilot.app.query_one("#prompt")
        assert pilot.app.screen.get_selected_text() in ("Select", "Select ")


# Asking and editing


async def test_lines_of_code_below_the_view_are_counted() -> None:
    cell = code("\n".join(f"x{n} = {n}" for n in range(60)))
    async with conversation() as (pilot, view):
        await show(pilot, MessageRecorded(user("go")), MessageRecorded(cell), ApprovalRequested(cell))
        await until(pilot, lambda: screen_lines(pilot.app)[0].startswith("┏ [1] python"))
        assert has(screen_lines(pilot.app), "x0 = 0")
        assert view.count_hidden_lines(cell.id) == 60 - (view.size.height - 1)
        view.page_down()
        await pilot.pause()
        assert view.count_hidden_lines(cell.id) == 60 - (view.size.height - 1) - (view.size.height - 2)
        view.scroll_end()
        await pilot.pause()
        assert view.count_hidden_lines(cell.id) == 0
        assert view.count_hidden_lines("nobody") == 0


async def test_after_the_answer_the_end_is_followed_again() -> None:
    cell = code("\n".join(f"x{n} = {n}" for n in range(60)))
    async with conversation() as (pilot, view):
        await show(pilot, MessageRecorded(cell), ApprovalRequested(cell))
        await until(pilot, lambda: not view.transcript.scroll_mode.follows_end)
        await show(pilot, MessageRecorded(cell.replace(state="running", decision="approved")))
        assert view.transcript.scroll_mode.follows_end
        assert has(screen_lines(pilot.app), "x59 = 59")


async def test_a_cell_is_edited_where_it_stands() -> None:
    cell = code()
    async with conversation() as (pilot, view):
        before = await show(
            pilot, MessageRecorded(user("go")), MessageRecorded(cell), ApprovalRequested(cell)
        )
        assert view.edit(cell.id)
        await pilot.pause()
        assert view.cell_editor.is_open
        screen = screen_lines(pilot.app)
        assert screen[2] == "┏ [1] python · you are editing it"
        assert screen[3] == "┃ > 1  import os"
        assert screen[4:6] == before[4:6]
        await pilot.press("down", "end", "enter", "x", "tab", "y")
        await pilot.pause()
        assert screen_lines(pilot.app)[4:7] == [
            "┃   2  for name in os.listdir():",
            "┃ > 3~     x   y",
            "┗   4      print(name)",
        ]
        edited = view.cell_editor.finish()
        await pilot.pause()
        assert edited == "import os\nfor name in os.listdir():\n    x   y\n    print(name)"
        assert not view.cell_editor.is_open
        screen = screen_lines(pilot.app)
        assert screen[2] == "┏ [1] python · waiting for your approval · edited"
        assert screen[5] == "┃   3~     x   y"


async def test_code_that_was_edited_elsewhere_is_shown_as_edited() -> None:
    cell = code()
    async with conversation() as (pilot, view):
        await show(pilot, MessageRecorded(cell), ApprovalRequested(cell))
        view.show_code(cell.id, CODE + "\nprint(2)")
        view.show_code("nobody", "x")
        await until(pilot, lambda: has(screen_lines(pilot.app), "· edited", " 4~ print(2)"))


async def test_an_edit_that_is_given_up_changes_nothing() -> None:
    cell = code()
    async with conversation() as (pilot, view):
        before = await show(pilot, MessageRecorded(cell), ApprovalRequested(cell))
        view.edit(cell.id)
        await pilot.press("x", "y")
        view.cell_editor.cancel()
        await pilot.pause()
        assert screen_lines(pilot.app) == before
        assert view.cell_editor.finish() == ""
        assert not view.edit("nobody")


async def test_an_edit_without_changes_gives_the_code_back_to_the_byte() -> None:
    odd = "a = 1\r\nb = '\u2028\x0c'\n\tc = 2\n\n"
    cell = code(odd)
    async with conversation() as (pilot, view):
        await show(pilot, MessageRecorded(cell), ApprovalRequested(cell))
        view.edit(cell.id)
        await pilot.pause()
        assert view.cell_editor.finish() == odd


async def test_the_editor_moves_with_the_conversation_and_fits_the_view() -> None:
    cell = code("\n".join(f"x{n} = {n}" for n in range(100)))
    async with conversation() as (pilot, view):
        await show(pilot, *long_story(3), MessageRecorded(cell), ApprovalRequested(cell))
        view.edit(cell.id)
        await pilot.pause()
        editor = view.query_one("#cell-editor")
        top = editor.region.y
        assert top >= 1
        assert editor.region.bottom <= view.region.bottom
        view.transcript.scroll_to(y=view.transcript.scroll_y - 5, animate=False)
        await pilot.pause()
        assert editor.region.y == top + 5
        await pilot.press("ctrl+end", "z")
        assert view.cell_editor.finish().endswith("x99 = 99z")


async def test_a_decision_made_elsewhere_closes_the_editor() -> None:
    cell = code()
    async with conversation() as (pilot, view):
        await show(pilot, MessageRecorded(cell), ApprovalRequested(cell))
        view.edit(cell.id)
        screen = await show(
            pilot, MessageRecorded(cell.replace(state="rejected", decision="rejected", reason="no"))
        )
        assert not view.cell_editor.is_open
        assert has(screen, "[1] python · rejected: no")


async def test_clear_leaves_an_empty_conversation_that_can_be_used() -> None:
    async with conversation() as (pilot, view):
        await show(pilot, *long_story(20), MessageRecorded(code()))
        view.clear()
        await pilot.pause()
        assert screen_lines(pilot.app)[:20] == [""] * 20
        screen = await show(pilot, MessageRecorded(code("y = 1")))
        assert screen[0] == "╭ [1] python · not run yet"
