"""What is pointed at in the prompt reaches the model, and what waits its turn is not lost."""

import base64
import threading
from pathlib import Path

import pytest
from textual import events

from oi_tui.engine.llm.base import Text
from oi_tui.input.file_index import FileIndex
from oi_tui.runtimes.remote import known_targets, ssh_hosts
from oi_tui.runtimes.remote.known_targets import KnownTarget
from oi_tui.runtimes.variables import Detail, Memory, Variable
from oi_tui.widgets.prompt.completion_list import Completions
from tests.fakes import call
from tests.pilot.test_chat import ChatDriver, open_chat

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def remember(ui: ChatDriver) -> None:
    ui.computer.remembered = (
        Memory("python", "known", (Variable("df", "DataFrame", "DataFrame 3x2"),), 1),
        Memory("shell", "unstarted"),
    )
    ui.computer.details = {("python", "df"): Detail("DataFrame, 3 rows x 2 columns: a, b", "a b")}


def read_completions(ui: ChatDriver) -> str:
    found = ui.chat.query_one(Completions)
    return str(found.render()) if found.display else ""


async def test_files_and_variables_are_offered_and_told_to_the_model(workplace: Path) -> None:
    (workplace / "df.txt").write_text("x")
    (workplace / "plot one.png").write_bytes(PNG)
    async with open_chat([Text("I see.")], supports_vision=True) as ui:
        ui.computer.cwd = ui.view.completer.files.root = workplace
        remember(ui)
        await ui.type("see @d", "shift+end")
        await ui.until(lambda: "> df" in read_completions(ui) and "df.txt" in read_completions(ui))
        assert "python DataFrame 3x2" in read_completions(ui)
        await ui.pilot.press("tab", *"and @plot")
        await ui.until(lambda: "plot one.png" in read_completions(ui))
        await ui.pilot.press("tab")
        assert ui.prompt == 'see @df and @"plot one.png" '
        await ui.pilot.press("enter")
        await ui.idle()
        text = 'see df and "plot one.png"\n\n(`df` is a python variable: DataFrame, 3 rows x 2 columns: a, b)'
        words = [m for m in ui.view.session.messages if m.role == "user"]
        assert [(m.type, m.content) for m in words] == [
            ("message", text),
            ("image", str(workplace / "plot one.png")),
        ]
        content = ui.llm.requests[0].messages[-1]["content"]
        assert content[0]["text"].startswith(text)
        assert content[-1]["image_url"]["url"].startswith("data:image/png;base64,")
        await ui.type("%undo")
        assert ui.view.session.messages == ()


@pytest.mark.parametrize("lines", [1, 3, 30])
async def test_names_in_a_paste_attach_no_image(workplace: Path, lines: int) -> None:
    for name in ("a.png", "b.png", "c.png"):
        (workplace / name).write_bytes(PNG)
    paste = "".join(f"{n}: cannot read a.png\n" for n in range(lines))
    async with open_chat([Text("I see.")], supports_vision=True) as ui:
        ui.computer.cwd = ui.view.completer.files.root = workplace
        ui.chat.prompt.post_message(events.Paste(paste))
        await ui.until(lambda: ui.prompt != "")
        await ui.pilot.press("ctrl+t")
        ui.app.copy_to_clipboard("I wrote c.png")
        await ui.pilot.press("ctrl+j", *"And b.png? ", "ctrl+v")
        await ui.until(lambda: "c.png" in ui.prompt)
        await ui.pilot.press("enter")
        await ui.idle()
        words, *images = [m.content for m in ui.view.session.messages if m.role == "user"]
        assert paste.rstrip("\n") in words
        assert images == [str(workplace / "b.png")]


async def test_a_key_typed_while_variables_are_asked_for_gets_the_answer_too(
    workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_chat() as ui:
        ui.computer.cwd = ui.view.completer.files.root = workplace
        remember(ui)
        answer, asked = ui.computer.read_memories, threading.Event()
        slow, asks = threading.Event(), []

        def memories() -> tuple[Memory, ...]:
            asks.append(1)
            asked.set()
            slow.wait(20)
            return answer()

        monkeypatch.setattr(ui.computer, "read_memories", memories)
        await ui.pilot.press("@")
        await ui.until(asked.is_set)
        await ui.pilot.press("d", "f")
        assert "> df" not in read_completions(ui)
        slow.set()
        await ui.until(lambda: "> df" in read_completions(ui))
        assert len(asks) == 1


async def test_a_language_that_did_not_answer_is_asked_again(workplace: Path) -> None:
    async with open_chat() as ui:
        ui.computer.cwd = ui.view.completer.files.root = workplace
        (workplace / "df.txt").write_text("x")
        ui.computer.remembered = (Memory("python", "busy"),)
        await ui.pilot.press("@", "d", "f")
        await ui.until(lambda: "df.txt" in read_completions(ui))
        remember(ui)
        await ui.until(lambda: "python DataFrame 3x2" in read_completions(ui))


async def test_files_that_are_listed_just_after_they_were_looked_for_are_offered(workplace: Path) -> None:
    class Late(FileIndex):
        """A list that is finished right after the first look at it."""

        listing = True

        def refresh(self) -> None:
            """Nothing has to be listed."""

        def find(self, fragment: str, most: int = 50) -> list[str]:
            found, self.listing = ([] if self.listing else ["df.txt"]), False
            return found

    async with open_chat() as ui:
        ui.view.completer.files = Late(workplace)
        await ui.pilot.press("@")
        await ui.until(lambda: "> df.txt" in read_completions(ui))


async def test_a_model_that_does_not_see_is_reported_where_the_image_is(workplace: Path) -> None:
    (workplace / "a.png").write_bytes(PNG)
    async with open_chat([Text("I see.")], supports_vision=False) as ui:
        ui.computer.cwd = workplace
        await ui.type("see @a.png")
        await ui.idle()
        content = ui.llm.requests[0].messages[-1]["content"]
        assert isinstance(content, str)
        assert f"[an image file: {workplace / 'a.png'}]" in content


async def test_a_long_paste_reaches_the_model_in_full_also_when_it_had_to_wait() -> None:
    long = "".join(f"line {number}\n" for number in range(50))
    async with open_chat([call("hang")], [Text("One.")], [Text("Two.")]) as ui:
        await ui.type("go")
        await ui.asked()
        await ui.pilot.press("y")
        await ui.until(ui.computer.running.is_set)
        ui.chat.prompt.focus()
        ui.app.post_message(events.Paste(long))
        await ui.until(lambda: "[pasted 50 lines]" in ui.prompt)
        await ui.pilot.press("enter")
        waiting = ui.chat.query_one("#queue")
        await ui.until(lambda: "queued: [pasted 50 lines]" in str(waiting.render()))
        ui.computer.interrupted.set()
        await ui.until(lambda: len(ui.llm.requests) == 3)
        await ui.idle()
        assert ui.llm.requests[2].messages[-1]["content"] == long.rstrip()


async def test_messages_said_meanwhile_wait_are_edited_and_come_back_when_the_turn_is_stopped() -> None:
    async with open_chat([call("hang")]) as ui:
        await ui.type("go")
        await ui.asked()
        await ui.pilot.press("y")
        await ui.until(ui.computer.running.is_set)
        for number in range(1, 8):
            await ui.type(f"message {number}")
        waiting = ui.chat.query_one("#queue")
        await ui.until(lambda: "and 4 more" in str(waiting.render()))
        assert waiting.size.height == 4
        await ui.pilot.press("up")
        await ui.until(lambda: ui.prompt == "message 7")
        await ui.pilot.press("ctrl+u", "up")
        await ui.until(lambda: ui.prompt == "message 6")
        await ui.pilot.press("!", "enter")
        await ui.until(lambda: not ui.prompt)
        await ui.pilot.press("x", "escape")
        await ui.idle()
        expected = "\n".join(f"message {number}" for number in range(1, 7))
        await ui.until(lambda: ui.prompt == f"{expected}!\nx")
        assert not waiting.display


async def test_the_list_never_lies_over_the_question() -> None:
    async with open_chat([call("a")]) as ui:
        await ui.type("go")
        await ui.asked()
        ui.chat.prompt.focus()
        await ui.pilot.press(*"%e")
        await ui.until(lambda: "%export" in read_completions(ui))
        completions = ui.chat.query_one(Completions)
        await ui.until(lambda: completions.region.bottom == ui.chat.prompt.region.y - 1)
        assert not completions.region.overlaps(ui.view.approval.region)


async def test_places_where_code_can_run_are_offered(
    workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_hosts, "list_known", lambda: ("gpu1", "lab"))
    monkeypatch.setattr(known_targets, "list_containers", lambda: [KnownTarget("container:web", "nginx")])
    async with open_chat() as ui:
        ui.computer.cwd = ui.view.completer.files.root = workplace
        await ui.pilot.press(*"%target ")
        await ui.until(lambda: "> local" in read_completions(ui) and "ssh:lab" in read_completions(ui))
        await ui.pilot.press(*"gpu")
        await ui.until(lambda: "> ssh:gpu1" in read_completions(ui) and "lab" not in read_completions(ui))
        await ui.pilot.press("tab")
        assert ui.prompt == "%target ssh:gpu1"
        await ui.pilot.press("ctrl+u", *"%target cont")
        await ui.until(lambda: "container:web" in read_completions(ui))
        # The form leads on to the containers.
        await ui.pilot.press("tab")
        await ui.until(lambda: "> container:web" in read_completions(ui))
        await ui.pilot.press("tab")
        assert ui.prompt == "%target container:web"
