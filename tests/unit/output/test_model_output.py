"""What the model is told of the output of a run."""

from oi_tui.engine.events import MessageRecorded
from oi_tui.engine.output.model_output import clip_view, shorten_for_model
from oi_tui.engine.reply.message_builders import RunBuilder
from oi_tui.messages import Displayed, Message, Printed

VIEW = "DataFrame: 100 rows by 3 columns\nColumns: a int, b int, c int\nRows as CSV:\n\n" + "\n".join(
    f"{n},{n},{n}" for n in range(100)
)


def printed(text: str, view: str | None = None) -> Message:
    return Message(role="computer", type="console", format="output", content=text, view=view)


def test_a_view_is_reported_in_place_of_what_was_printed() -> None:
    assert shorten_for_model([printed("before\n"), printed("| a |", "a: 1"), printed("after\n")], 0) == (
        "before\na: 1\nafter"
    )


def test_a_view_that_is_too_long_loses_rows_and_never_columns() -> None:
    text = clip_view(VIEW, 300)
    assert text.startswith(VIEW.partition("\n\n")[0])
    assert "lines not shown …" in text
    assert text.endswith("99,99,99")
    assert len(text) < len(VIEW)
    assert clip_view(VIEW, 0) == VIEW
    assert VIEW.partition("\n\n")[0] in clip_view(VIEW, 10)


def test_a_long_text_without_rows_is_shortened_as_output_is() -> None:
    assert "characters not shown" in clip_view("x" * 5000, 100)


def test_text_before_a_view_is_shortened_by_itself() -> None:
    reported = shorten_for_model([printed("x\n" * 5000), printed("table", VIEW)], 1500)
    assert "lines not shown …" in reported
    assert VIEW in reported


def recorded(*reports: Printed | Displayed) -> list[Message]:
    builder = RunBuilder(Message(role="assistant", type="code", format="python", content="df"), None)
    events = [event for report in reports for event in builder.feed(report)] + list(builder.finish())
    return [event.message for event in events if isinstance(event, MessageRecorded)]


def test_pieces_with_the_same_view_are_one_message_and_its_page_is_the_persons() -> None:
    view = "a: 1"
    before, table, page, after = recorded(
        Printed("x\n"),
        Printed("| a", view),
        Printed(" |\n", view),
        Displayed("html", "<table>", view),
        Printed("y\n"),
    )
    assert (before.content, before.view) == ("x\n", None)
    assert (table.content, table.view) == ("| a |\n", view)
    assert (page.recipient, page.view) == ("user", None)
    assert (after.content, after.view) == ("y\n", None)


def test_a_page_without_text_carries_the_view_itself() -> None:
    (page,) = recorded(Displayed("html", "<p>Sum</p>", "Sum"))
    assert (page.recipient, page.view) == (None, "Sum")
    assert shorten_for_model([page], 0) == "Sum"


def test_an_image_with_the_key_of_an_earlier_one_takes_its_place() -> None:
    first, again, text, other, page = recorded(
        Displayed("base64.png", "AAAA", key="a"),
        Printed("between\n"),
        Displayed("base64.jpeg", "BBBB", key="a"),
        Displayed("base64.png", "CCCC"),
        Displayed("html", "<p>", key="a"),
    )
    assert [item.content for item in (first, again, text, other, page)] == [
        "AAAA",
        "BBBB",
        "between\n",
        "CCCC",
        "<p>",
    ]
    assert again.id == first.id
    assert again.format == "base64.jpeg"
    assert len({first.id, text.id, other.id, page.id}) == 4
