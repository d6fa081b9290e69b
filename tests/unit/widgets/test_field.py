"""Fields of one line."""

from textual import events
from textual.app import App, ComposeResult

from oi_tui.widgets.field import LONGEST_PASTE, Field


class Form(App[None]):
    """One field."""

    def compose(self) -> ComposeResult:
        yield Field("before")


async def test_a_paste_that_is_too_long_is_cut_with_a_notice() -> None:
    app = Form()
    async with app.run_test(notifications=True) as pilot:
        field = app.query_one(Field)
        field.post_message(events.Paste("x" * 5_000_000))
        await pilot.pause()
        assert field.value == "x" * LONGEST_PASTE
        assert [notice.message for notice in app._notifications] == [
            "The paste was cut to 10,000 characters: no more fit into this field."
        ]
        await pilot.press("y")
        assert field.value[-2:] == "xy"


async def test_a_paste_of_several_short_lines_gives_its_first() -> None:
    app = Form()
    async with app.run_test(notifications=True) as pilot:
        field = app.query_one(Field)
        field.post_message(events.Paste("first\n" + "second" * 5_000))
        await pilot.pause()
        assert field.value == "first"
        assert not list(app._notifications)


class Search(App[None]):
    """A narrow field that says what it is for."""

    CSS = "Field { border: none; padding: 0; width: 20; }"

    def compose(self) -> ComposeResult:
        yield Field(placeholder="search titles, messages and code")


async def test_a_placeholder_without_room_ends_with_a_mark() -> None:
    app = Search()
    async with app.run_test():
        field = app.query_one(Field)
        assert field.render_line(0).text.rstrip() == "search titles, mess…"
        assert field.placeholder == "search titles, messages and code"
        field.value = "typed"
        assert field.render_line(0).text.rstrip() == "typed"
