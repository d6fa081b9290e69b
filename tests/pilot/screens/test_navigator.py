"""The screen of saved conversations, by its keys."""

import os
import re
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar

import pytest
from textual import events
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input, Static

from oi_tui import paths
from oi_tui.engine.open_interpreter import conversations
from oi_tui.engine.storage.listing import Listing, Summary
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message
from oi_tui.screens.navigator.loader import Listed
from oi_tui.screens.navigator.screen import NavigatorScreen
from oi_tui.screens.pager import PagerScreen
from oi_tui.themes import THEMES
from oi_tui.widgets.conversation.styles import get_styles
from oi_tui.widgets.lists.conversation_list import ConversationList, describe_age, find_group
from oi_tui.widgets.lists.conversation_preview import draw_preview
from oi_tui.widgets.pager.text_view import TextView
from tests.pilot.painting import find_lines_painted
from tests.pilot.waiting import until

NOW = 1_795_229_083.0  # a Saturday, 02:44 in UTC
LOOK = get_styles(THEMES[0])
TABLE = "| a | b |\n|---|---|\n| 1 | 2 |"
EVIL = "evil \x1b]52;c;AAAA\x07 [bold]title[/] [/] \u202e"


class Shell(App[None]):
    CSS_PATH: ClassVar = sorted(paths.styles().glob("*.tcss"))

    def __init__(self, store: Store, folder: Path | None = None) -> None:
        super().__init__()
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = "oi-dark"
        self.answers: list[str | None] = []
        self.navigator = NavigatorScreen(store, folder=folder, clock=lambda: NOW)

    def on_mount(self) -> None:
        self.push_screen(self.navigator, self.answers.append)

    @property
    def rows(self) -> ConversationList:
        return self.navigator.query_one(ConversationList)

    @property
    def titles(self) -> list[str]:
        return [entry.title for entry in self.rows.items]

    def words(self, name: str) -> str:
        return str(self.navigator.query_one(f"#navigator-{name}", Static).render())


def add(store: Store, title: str, days: float, *more: Message, cwd: str = "") -> str:
    begun = store.create(cwd=cwd or f"/data/{title.split()[0].lower()}", model="gpt-4o")
    begun.put(Message(role="user", type="message", content=title))
    for message in more:
        begun.put(message)
    begun.close()
    os.utime(store.folder / f"{begun.id}.jsonl", (NOW - days * 86400,) * 2)
    return begun.id


@pytest.fixture
def store() -> Store:
    store = Store(paths.conversations())
    output = Message(role="computer", type="console", format="output", content="total 42\nzebra crossing")
    code = Message(role="assistant", type="code", format="python", content="frame.plot()", state="finished")
    add(store, "Plot the prices", 0.01, code)
    add(store, "Largest files", 1, output)
    add(store, "Fit a curve", 3)
    add(store, EVIL, 40)
    return store


@asynccontextmanager
async def open_navigator(
    store: Store, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[Shell, Pilot[None]]]:
    app = Shell(store)
    count = len(store.list_summaries())
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.navigator.is_mounted and len(app.rows.items) == count)
        yield app, pilot


async def test_conversations_are_listed_newest_first_and_enter_opens(store: Store) -> None:
    async with open_navigator(store) as (app, pilot):
        assert app.titles[:3] == ["Plot the prices", "Largest files", "Fit a curve"]
        assert app.words("head") == "Conversations   4 saved"
        wanted = app.rows.items[1].id
        await pilot.press("down", "enter")
        assert app.answers == [wanted]


async def test_escape_goes_back_with_nothing(store: Store) -> None:
    async with open_navigator(store) as (app, pilot):
        await pilot.press("escape")
        assert app.answers == [None]


async def test_typing_filters_the_titles_at_once(store: Store) -> None:
    async with open_navigator(store) as (app, pilot):
        await pilot.press(*"files")
        assert app.titles == ["Largest files"]
        wanted = app.rows.items[0].id
        await pilot.press("enter")
        assert app.answers == [wanted]


async def test_an_old_piece_of_code_is_found_by_a_word_of_its_output(store: Store) -> None:
    async with open_navigator(store) as (app, pilot):
        await pilot.press(*"zebra")
        await until(pilot, lambda: app.titles == ["Largest files"])
        await until(pilot, lambda: "zebra crossing" in "".join(s.text for s in app.rows.render_line(2)))
        wanted = app.rows.items[0].id
        await pilot.press("enter")
        assert app.answers == [wanted]


async def test_hits_in_titles_come_before_those_in_messages_and_in_folders(store: Store) -> None:
    add(store, "Sums of the year", 0.02, cwd="/work/largest")
    add(
        store, "Report", 0.5, Message(role="assistant", type="message", content="This is the largest of all.")
    )
    async with open_navigator(store) as (app, pilot):
        await pilot.press(*"largest")
        best_first = ["Largest files", "Report", "Sums of the year"]
        await until(pilot, lambda: app.titles == best_first)
        shown = ["".join(s.text for s in app.rows.render_line(y)).strip() for y in range(11)]
        assert [shown[0], shown[4], shown[8]] == ["In the title", "In messages", "In the folder or the model"]
        assert "the largest of all" in shown[6]
        assert "/work/largest" in shown[10]
        await pilot.press("down", "down", "down", "enter")
        assert [item.title for item in store.list_summaries() if item.id in app.answers] == [
            "Sums of the year"
        ]


async def test_clearing_the_search_brings_everything_back(store: Store) -> None:
    async with open_navigator(store) as (app, pilot):
        await pilot.press(*"zzzz")
        await until(pilot, lambda: app.navigator.has_class("-empty"))
        assert "Nothing found" in app.words("empty")
        await pilot.press("enter")
        assert app.answers == []
        await pilot.press(*["backspace"] * 4)
        await until(pilot, lambda: len(app.titles) == 4)
        assert not app.navigator.has_class("-empty")


async def test_rename_happens_in_place_and_stays(store: Store) -> None:
    async with open_navigator(store) as (app, pilot):
        await pilot.press("down", "r")
        box = app.navigator.query_one("#navigator-title", Input)
        assert box.has_focus
        assert box.value == "Largest files"
        assert box.region.y == app.rows.region.y + app.rows.find_line(1)
        await pilot.press(*"Big [/] ones", "enter")
        assert app.titles[1] == "Big [/] ones"
        assert app.rows.has_focus
        assert store.list_summaries()[1].title == "Big [/] ones"


async def test_escape_leaves_the_title_as_it_was(store: Store) -> None:
    async with open_navigator(store) as (app, pilot):
        await pilot.press("down", "r", *"other", "escape")
        assert app.titles[1] == "Largest files"
        assert app.answers == []
        assert app.rows.has_focus


async def test_deleting_takes_two_presses_and_can_be_undone(store: Store) -> None:
    async with open_navigator(store) as (app, pilot):
        await pilot.press("down", "d")
        assert "d again deletes" in "".join(s.text for s in app.rows.render_line(app.rows.find_line(1) + 1))
        await pilot.press("z", "d", "down", "up")
        assert len(store.list_summaries()) == 4
        await pilot.press("d", "d")
        assert app.titles[:2] == ["Plot the prices", "Fit a curve"]
        assert app.rows.selected == app.rows.items[1]
        assert "Deleted “Largest files”; u restores it" in app.words("keys")
        assert len(store.list_summaries()) == 3
        await pilot.press("u")
        assert app.titles[1] == "Largest files"
        assert app.rows.selected == app.rows.items[1]
        assert len(store.list_summaries()) == 4


async def test_where_nothing_is_found_the_arrows_leave_one_where_one_can_type(store: Store) -> None:
    async with open_navigator(store) as (app, pilot):
        await pilot.press(*"curvez", "down", "up", "pagedown", "backspace")
        await until(pilot, lambda: app.titles == ["Fit a curve"])
        # What was found is deleted, and nothing else is: the keys say what can be done.
        await pilot.press("down", "d", "d")
        assert app.titles == []
        assert "u undo" in app.words("keys")
        assert "/ search" in app.words("keys")
        await pilot.press("u")
        assert app.titles == ["Fit a curve"]


async def test_a_search_that_ends_between_the_two_keys_does_not_cancel_the_deletion(store: Store) -> None:
    async with open_navigator(store) as (app, pilot):
        await pilot.press("down", "d")
        deleted = app.rows.selected
        assert deleted is not None
        app.navigator.show(select=deleted.id)
        await pilot.press("d")
        assert deleted.title not in app.titles
        await pilot.press("d")
        app.navigator.show(select=next(item.id for item in app.rows.items if item is not app.rows.selected))
        assert app.rows.marked_for_deletion is None


async def test_what_was_deleted_in_an_earlier_session_can_be_brought_back(store: Store) -> None:
    named = {summary.title: summary.id for summary in store.list_summaries()}
    store.delete(named["Fit a curve"])
    store.delete(named["Largest files"])
    async with open_navigator(store) as (app, pilot):
        assert len(app.titles) == 2
        await pilot.press("down", "u")
        assert app.rows.selected is not None
        assert app.rows.selected.title == "Largest files"
        assert "Restored “Largest files”." in app.words("keys")
        await pilot.press("d", "d", "u", "u")
        assert len(store.list_summaries()) == 4
        await pilot.press("u")
        assert "There is nothing to restore." in app.words("keys")


async def test_pinned_conversations_stand_at_the_top(store: Store) -> None:
    async with open_navigator(store) as (app, pilot):
        await pilot.press("down", "down", "p")
        assert app.titles[0] == "Fit a curve"
        assert app.rows.selected == app.rows.items[0]
        await pilot.press("p")
        assert app.titles[2] == "Fit a curve"


async def test_the_preview_is_there_when_there_is_room_for_it(store: Store) -> None:
    async with open_navigator(store) as (app, pilot):
        await until(pilot, lambda: "frame.plot()" in app.words("preview"))
        await pilot.press("down")
        await until(pilot, lambda: "zebra crossing" in app.words("preview"))
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: not app.navigator.query_one("#navigator-side").display)


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (20, 5), (1, 1)])
async def test_foreign_text_is_shown_as_it_is_and_controls_nothing(
    size: tuple[int, int], store: Store
) -> None:
    async with open_navigator(store, size) as (app, pilot):
        await pilot.press("down", "end")
        await pilot.pause()
        shown = "\n".join(
            "".join(s.text for s in app.rows.render_line(y)) for y in range(app.rows.size.height)
        )
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        if size[0] > 60:
            assert "evil ␛]52;c;AAAA␇ [bold]title[/] [/] ⟨U+202E⟩" in shown
        await pilot.press("r", "escape", "d", "d", "u")


async def test_without_conversations_there_are_words(store: Store) -> None:
    async with open_navigator(Store(store.folder / "none")) as (app, pilot):
        await until(pilot, lambda: app.navigator.has_class("-empty"))
        assert "No conversations yet" in app.words("empty")
        await pilot.press("down", "enter", "d", "d", "u", "r", "p", "escape")
        assert app.answers == [None]


async def test_a_folder_that_cannot_be_read_is_not_taken_for_an_empty_one(store: Store) -> None:
    place = store.folder / "none"
    place.write_text("a file in the place of the folder")
    async with open_navigator(Store(place)) as (app, pilot):
        await until(pilot, lambda: app.navigator.has_class("-empty"))
        shown = " ".join(app.words("empty").split())
        assert shown.startswith("The folder ")
        assert shown.endswith("cannot be read: Not a directory.")


async def test_what_cannot_be_read_is_listed_and_not_opened(store: Store) -> None:
    os.mkfifo(store.folder / "pipe.jsonl")
    async with open_navigator(store) as (app, pilot):
        await pilot.press(*"pipe", "enter")
        assert app.answers == []
        assert ": not a regular file" in app.words("keys")


async def test_trouble_with_the_disk_is_reported(store: Store) -> None:
    async with open_navigator(store) as (app, pilot):
        path = store.folder / f"{app.rows.items[1].id}.jsonl"
        path.unlink()
        await pilot.press("down", "d", "d")
        assert re.search(r"Could not delete: .*conversations: No such file or directory\.", app.words("keys"))
        assert stat.S_ISDIR(store.folder.stat().st_mode)


async def test_ten_thousand_conversations_scroll_and_filter(store: Store) -> None:
    async with open_navigator(store, (80, 24)) as (app, pilot):
        many = [Summary(f"{n}", f"title {n}", NOW - n * 600, n, "m", "/") for n in range(10_000)]
        app.navigator.post_message(Listed(Listing.of(many)))
        await until(pilot, lambda: len(app.rows.items) == 10_000)
        await pilot.press("down", "end")
        assert app.rows.selected == many[-1]
        last = app.rows.size.height - 1
        assert "10,000" not in "".join(s.text for s in app.rows.render_line(last))
        assert app.rows.find_item(int(app.rows.scroll_offset.y) + last) == 9_999
        await pilot.press("slash", *"9876")
        assert app.titles == ["title 9876"]


async def test_every_line_belongs_to_one_conversation_or_to_a_heading(store: Store) -> None:
    many = [Summary(f"{n}", "", NOW - n * 20_000, 1, "", "", pinned=n == 7) for n in range(60)]
    groups = {find_group(entry, NOW) for entry in many}
    assert groups == {"Today", "Yesterday", "Pinned", "This week", "Older"}
    async with open_navigator(store) as (app, _):
        rows = app.rows
        rows.show(Listing.of(many).all())
        owners = [rows.find_item(line) for line in range(60 * 2 + len(groups) * 2 - 1)]
        assert [o for o in owners if o is not None] == [n for n in range(60) for _ in range(2)]
        assert all(owners[rows.find_line(n)] == n for n in range(60))
        assert rows.items[0].id == "7"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-500, "now"),
        (59, "now"),
        (61, "1 min"),
        (7200, "2 h"),
        (3 * 3600, "Fri 23:44"),
        (3 * 86400, "Wed 02:44"),
        (40 * 86400, "12 Oct"),
        (400 * 86400, "17 Oct 2025"),
        (NOW + 5, "1 Jan 1970"),
    ],
)
def test_an_age_is_a_word_or_two(seconds: float, words: str) -> None:
    assert describe_age(NOW - seconds, NOW) == words


@pytest.mark.parametrize("now", [0.0, NOW, 2_147_483_648.0])
@pytest.mark.parametrize("then", [-5e9, 0.0, 2_147_483_648.0, 1e11, 1e18])
def test_no_clock_is_too_wrong_for_a_list(then: float, now: float) -> None:
    assert describe_age(then, now)
    assert find_group(Summary("a", "a", then, 1, "", ""), now) in ("Today", "Yesterday", "This week", "Older")


def test_a_preview_begins_where_the_words_are() -> None:
    item = Summary("x", EVIL, NOW, 100, "m", "/data")
    messages = [Message(role="user", type="message", content=f"message {n}") for n in range(100)]
    messages[60] = messages[60].replace(content="a" * 5000 + "\nthe needle is here\x1b[2J[/]")
    text = draw_preview(item, messages, ["needle"], NOW, width=60, look=LOOK).plain
    assert "… 60 earlier" in text
    assert "the needle is here␛[2J[/]" in text
    assert "message 99" in text
    assert "\x1b" not in text


def test_a_preview_shows_replies_and_code_as_the_conversation_does() -> None:
    item = Summary("x", "Sales", NOW, 3, "m", "/data")
    messages = [
        Message(role="user", type="message", content="**not** Markdown"),
        Message(
            role="assistant",
            type="message",
            content="# Sum\n\n**Fine**: `total`\n\n| a | b |\n|---|---|\n| 1 | 2 |",
        ),
        Message(
            role="assistant", type="code", format="python", content="def f():\n    return 1", state="finished"
        ),
    ]
    shown = draw_preview(item, messages, ["fine"], NOW, width=60, look=LOOK)
    assert "**not** Markdown" not in shown.plain  # the preview begins at the first hit
    assert "Fine: total" in shown.plain
    assert "**" not in shown.plain
    assert "|---" not in shown.plain
    line = next(line for line in shown.split("\n") if "def f():" in line.plain)
    assert len({str(span.style) for span in line.spans}) > 2, "the code has no colours"
    assert all(line.cell_length <= 60 for line in shown.split("\n"))


@pytest.mark.parametrize("width", [1, 2, 7, 200])
def test_a_preview_fits_any_width(width: int) -> None:
    item = Summary("x", "Sales", NOW, 3, "m", "/data")
    texts = (
        "# a\n\n- b\n  - c\n\n> d\n\n```py\nx = 1\n```\n" + "| a | b |\n|---|---|\n| 1 | 2 |",
        "",
        "\n\n",
        "x" * 3000,
    )
    messages = [
        Message(role="assistant", type=kind, format="python" if kind == "code" else None, content=text)
        for text in texts
        for kind in ("message", "code")
    ]
    assert draw_preview(item, messages, [], NOW, width=width, look=LOOK).plain


def test_no_file_is_opened_by_the_screen_for_others_to_read(store: Store) -> None:
    store.list_summaries()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in Path(store.folder).iterdir()}
    assert set(modes.values()) == {0o600}


async def test_a_fork_is_a_conversation_of_its_own(store: Store) -> None:
    async with open_navigator(store) as (app, pilot):
        await pilot.press("down", "f")
        assert app.rows.selected is not None
        assert app.rows.selected.title == "Largest files (copy)"
        assert len(store.list_summaries()) == 5
        assert app.words("keys").startswith("Copied “Largest files”; the copy is selected.")
        await pilot.press("r")
        assert app.words("keys").startswith("enter rename")


@pytest.mark.parametrize("opener", ["slash", "r", "x"])
async def test_what_is_typed_right_after_a_line_opened_is_text_and_deletes_nothing(
    opener: str, store: Store
) -> None:
    async with open_navigator(store) as (app, pilot):
        await pilot.press("down", "d")
        assert app.rows.marked_for_deletion is not None
        for key in (opener, *"daddy"):
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: getattr(app.navigator.focused, "value", "") == "daddy")
        assert app.rows.marked_for_deletion is None
        await pilot.press("escape")
        assert len(store.list_summaries()) == 4


async def test_a_conversation_without_a_title_is_named_in_what_is_reported(store: Store) -> None:
    begun = store.create(cwd="/", model="m")
    begun.put(Message(role="computer", type="console", format="output", content="done\r\n50%\r100%\r\n"))
    begun.close()
    async with open_navigator(store) as (app, pilot):
        await until(pilot, lambda: "100%" in app.words("preview"))
        shown = app.words("preview")
        assert shown.startswith("(no request)")
        assert shown.endswith("Output\ndone\n100%")
        await pilot.press("pagedown", "home", "d", "d")
        assert "Deleted (no request); u restores it." in app.words("keys")
        await pilot.press("u")
        assert "Restored (no request)." in app.words("keys")


async def test_what_was_wrong_with_conversations_brought_in_is_read_on_a_page(store: Store) -> None:
    folder = conversations.list_folders()[0]
    folder.mkdir(parents=True)
    (folder / "Old_talk__x.json").write_text('[{"role": "user", "type": "message", "content": "of old"}]')
    for number in range(5):
        (folder / f"odd{number}.json").write_text("nothing")
    async with open_navigator(Store(store.folder / "none"), (80, 24)) as (app, pilot):
        await until(pilot, lambda: "i imports 6 conversations" in app.words("empty"))
        await pilot.press("i")
        await until(pilot, lambda: isinstance(app.screen, PagerScreen))
        view = app.screen.query_one(TextView)

        def page() -> str:
            return "\n".join(view.render_line(line).text.rstrip() for line in range(view.size.height))

        await until(pilot, lambda: "odd4.json" in page())
        assert page().lstrip().startswith("1 conversation of Open Interpreter imported.")
        assert page().count("not readable as JSON") == 5
        await pilot.press("escape")
        assert app.words("keys").startswith("1 conversation of Open Interpreter imported.")


async def test_conversations_of_open_interpreter_are_offered_and_brought_in(store: Store) -> None:
    folder = conversations.list_folders()[0]
    folder.mkdir(parents=True)
    (folder / "Old_talk__x.json").write_text('[{"role": "user", "type": "message", "content": "of old"}]')
    async with open_navigator(Store(store.folder / "none")) as (app, pilot):
        await until(pilot, lambda: "i imports 1 conversation of Open Interpreter" in app.words("empty"))
        await pilot.press("i")
        await until(pilot, lambda: app.titles == ["Old talk"])
        assert "1 conversation of Open Interpreter imported." in app.words("keys")
        await pilot.press("down", "i")
        assert "No other conversations" in app.words("keys")
        wanted = app.rows.items[0].id
        await pilot.press("enter")
        assert app.answers == [wanted]


@pytest.mark.parametrize("width", [120, 80, 60, 30])
async def test_the_line_of_keys_never_overflows_and_always_names_the_way_back(
    width: int, store: Store
) -> None:
    async with open_navigator(store, (width, 24)) as (app, pilot):
        await pilot.press("down")
        for keys in ((), ("d", "d"), ("u",)):
            await pilot.press(*keys)
            reported = app.words("keys")
            assert (
                len(reported) <= max(width - 2, len("esc back"))
                or "Deleted" in reported
                or "Restored" in reported
            )
            assert "esc back" in reported or reported.startswith(("Deleted", "Restored", "“"))


async def test_export_asks_for_a_file_and_writes_the_kind_that_its_name_says(store: Store) -> None:
    home = Path.home()
    async with open_navigator(store) as (app, pilot):
        await pilot.press("down", "x")
        box = app.navigator.query_one("#navigator-title", Input)
        assert box.value == "~/Largest-files.md"
        await pilot.press("enter")
        assert "Exported to ~/Largest-files.md." in app.words("keys")
        assert "zebra crossing" in (home / "Largest-files.md").read_text()
        await pilot.press("x", "enter")
        assert "Could not export: the file ~/Largest-files.md already exists." in app.words("keys")
        await pilot.press("x")
        box.value = "~/x.ipynb"
        await pilot.press("enter")
        assert '"nbformat": 4' in (home / "x.ipynb").read_text()
        await pilot.press("x")
        box.value = "~/nowhere/x.md"
        await pilot.press("enter")
        assert "Could not export: there is no folder ~/nowhere." in app.words("keys")
        await pilot.press("x", "escape")
        assert app.answers == []
        assert app.rows.has_focus


async def test_enter_right_after_the_letters_opens_what_is_found(store: Store) -> None:
    async with open_navigator(store) as (app, pilot):
        wanted = next(entry.id for entry in app.rows.items if entry.title == "Largest files")
        await pilot.press(*"zebra", "enter")
        await until(pilot, lambda: bool(app.answers))
        assert app.answers == [wanted]
        assert app.navigator.sought == "zebra"


async def test_what_was_typed_before_the_list_was_read_is_looked_for(store: Store) -> None:
    app = Shell(store)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.navigator.is_mounted)
        await pilot.press(*"zebra", "enter")
        await until(pilot, lambda: bool(app.answers))
        assert app.navigator.sought == "zebra"


async def test_only_the_conversations_of_a_folder_are_shown_when_asked(store: Store) -> None:
    add(store, "Below it", 2)
    app = Shell(store, folder=Path("/data/plot"))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: len(app.rows.items) == 5)
        await pilot.press("ctrl+t")
        assert app.titles == ["Plot the prices"]
        assert app.words("head") == "Conversations   1 of 5   in /data/plot"
        await pilot.press(*"zebra")
        await until(pilot, lambda: app.navigator.has_class("-empty"))
        assert "Only this folder is shown" in app.words("empty")
        await pilot.press("ctrl+t")
        await until(pilot, lambda: app.titles == ["Largest files"])
        await pilot.press("down", "o")
        assert app.words("head").endswith("in /data/largest")
        await pilot.press("o")
        assert app.words("head").endswith("1 of 5")


async def test_moving_among_conversations_paints_the_two_that_change(store: Store) -> None:
    async with open_navigator(store) as (app, pilot):
        height = 2
        lines = [app.rows.find_line(index) for index in (0, 1)]
        expected = [line + more for line in lines for more in range(height)]
        # What is loaded meanwhile paints all.
        await pilot.press("down", "up")
        assert await find_lines_painted(pilot, app.rows, "down") == expected
        for key in ("down", "down", "down", "up", "pageup"):
            await find_lines_painted(pilot, app.rows, key)


async def test_moving_in_an_empty_list_does_nothing(store: Store) -> None:
    async with open_navigator(store) as (app, pilot):
        await pilot.press(*"nothing like it")
        assert not app.titles
        app.rows.action_move(1)
        assert app.rows.selected is None
