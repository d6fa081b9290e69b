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
from tests.pilot.test_chat import Desk, sitting

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def remember(desk: Desk) -> None:
    desk.computer.remembered = (
        Memory("python", "known", (Variable("df", "DataFrame", "DataFrame 3x2"),), 1),
        Memory("shell", "unstarted"),
    )
    desk.computer.details = {("python", "df"): Detail("DataFrame, 3 rows x 2 columns: a, b", "a b")}


def listed(desk: Desk) -> str:
    found = desk.chat.query_one(Completions)
    return str(found.render()) if found.display else ""


async def test_files_and_variables_are_offered_and_told_to_the_model(workplace: Path) -> None:
    (workplace / "df.txt").write_text("x")
    (workplace / "plot one.png").write_bytes(PNG)
    async with sitting([Text("I see.")], supports_vision=True) as desk:
        desk.computer.cwd = desk.bench.completer.files.root = workplace
        remember(desk)
        await desk.type("see @d", "shift+end")
        await desk.until(lambda: "> df" in listed(desk) and "df.txt" in listed(desk))
        assert "python DataFrame 3x2" in listed(desk)
        await desk.pilot.press("tab", *"and @plot")
        await desk.until(lambda: "plot one.png" in listed(desk))
        await desk.pilot.press("tab")
        assert desk.prompt == 'see @df and @"plot one.png" '
        await desk.pilot.press("enter")
        await desk.idle()
        text = 'see df and "plot one.png"\n\n(`df` is a python variable: DataFrame, 3 rows x 2 columns: a, b)'
        words = [m for m in desk.bench.session.messages if m.role == "user"]
        assert [(m.type, m.content) for m in words] == [
            ("message", text),
            ("image", str(workplace / "plot one.png")),
        ]
        content = desk.llm.requests[0].messages[-1]["content"]
        assert content[0]["text"].startswith(text)
        assert content[-1]["image_url"]["url"].startswith("data:image/png;base64,")
        await desk.type("%undo")
        assert desk.bench.session.messages == ()


async def test_a_key_typed_while_variables_are_asked_for_gets_the_answer_too(
    workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with sitting() as desk:
        desk.computer.cwd = desk.bench.completer.files.root = workplace
        remember(desk)
        answer, asked = desk.computer.memories, threading.Event()
        slow, asks = threading.Event(), []

        def memories() -> tuple[Memory, ...]:
            asks.append(1)
            asked.set()
            slow.wait(20)
            return answer()

        monkeypatch.setattr(desk.computer, "memories", memories)
        await desk.pilot.press("@")
        await desk.until(asked.is_set)
        await desk.pilot.press("d", "f")
        assert "> df" not in listed(desk)
        slow.set()
        await desk.until(lambda: "> df" in listed(desk))
        assert len(asks) == 1


async def test_files_that_are_listed_just_after_they_were_looked_for_are_offered(workplace: Path) -> None:
    class Late(FileIndex):
        """A list that is finished right after the first look at it."""

        listing = True

        def refresh(self) -> None:
            """Nothing has to be listed."""

        def find(self, fragment: str, most: int = 50) -> list[str]:
            found, self.listing = ([] if self.listing else ["df.txt"]), False
            return found

    async with sitting() as desk:
        desk.bench.completer.files = Late(workplace)
        await desk.pilot.press("@")
        await desk.until(lambda: "> df.txt" in listed(desk))


async def test_a_model_that_does_not_see_is_reported_where_the_image_is(workplace: Path) -> None:
    (workplace / "a.png").write_bytes(PNG)
    async with sitting([Text("I see.")], supports_vision=False) as desk:
        desk.computer.cwd = workplace
        await desk.type("see @a.png")
        await desk.idle()
        content = desk.llm.requests[0].messages[-1]["content"]
        assert isinstance(content, str)
        assert f"[an image file: {workplace / 'a.png'}]" in content


async def test_a_long_paste_reaches_the_model_in_full_also_when_it_had_to_wait() -> None:
    long = "".join(f"line {number}\n" for number in range(50))
    async with sitting([call("hang")], [Text("One.")], [Text("Two.")]) as desk:
        await desk.type("go")
        await desk.asked()
        await desk.pilot.press("y")
        await desk.until(desk.computer.running.is_set)
        desk.chat.prompt.focus()
        desk.app.post_message(events.Paste(long))
        await desk.until(lambda: "[pasted 50 lines]" in desk.prompt)
        await desk.pilot.press("enter")
        waiting = desk.chat.query_one("#queue")
        await desk.until(lambda: "queued: [pasted 50 lines]" in str(waiting.render()))
        desk.computer.interrupted.set()
        await desk.until(lambda: len(desk.llm.requests) == 3)
        await desk.idle()
        assert desk.llm.requests[2].messages[-1]["content"] == long.rstrip()


async def test_messages_said_meanwhile_wait_are_edited_and_come_back_when_the_turn_is_stopped() -> None:
    async with sitting([call("hang")]) as desk:
        await desk.type("go")
        await desk.asked()
        await desk.pilot.press("y")
        await desk.until(desk.computer.running.is_set)
        for number in range(1, 8):
            await desk.type(f"message {number}")
        waiting = desk.chat.query_one("#queue")
        await desk.until(lambda: "and 4 more" in str(waiting.render()))
        assert waiting.size.height == 4
        await desk.pilot.press("up")
        await desk.until(lambda: desk.prompt == "message 7")
        await desk.pilot.press("ctrl+u", "up")
        await desk.until(lambda: desk.prompt == "message 6")
        await desk.pilot.press("!", "enter")
        await desk.until(lambda: not desk.prompt)
        await desk.pilot.press("x", "escape")
        await desk.idle()
        expected = "\n".join(f"message {number}" for number in range(1, 7))
        await desk.until(lambda: desk.prompt == f"{expected}!\nx")
        assert not waiting.display


async def test_the_list_never_lies_over_the_question() -> None:
    async with sitting([call("a")]) as desk:
        await desk.type("go")
        await desk.asked()
        desk.chat.prompt.focus()
        await desk.pilot.press(*"%e")
        await desk.until(lambda: "%export" in listed(desk))
        completions = desk.chat.query_one(Completions)
        await desk.until(lambda: completions.region.bottom == desk.chat.prompt.region.y - 1)
        assert not completions.region.overlaps(desk.bench.approval.region)


async def test_places_where_code_can_run_are_offered(
    workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_hosts, "known", lambda: ("gpu1", "lab"))
    monkeypatch.setattr(known_targets, "containers", lambda: [KnownTarget("container:web", "nginx")])
    async with sitting() as desk:
        desk.computer.cwd = desk.bench.completer.files.root = workplace
        await desk.pilot.press(*"%target ")
        await desk.until(lambda: "> local" in listed(desk) and "ssh:lab" in listed(desk))
        await desk.pilot.press(*"gpu")
        await desk.until(lambda: "> ssh:gpu1" in listed(desk) and "lab" not in listed(desk))
        await desk.pilot.press("tab")
        assert desk.prompt == "%target ssh:gpu1"
        await desk.pilot.press("ctrl+u", *"%target cont")
        await desk.until(lambda: "container:web" in listed(desk))
        # The form leads on to the containers.
        await desk.pilot.press("tab")
        await desk.until(lambda: "> container:web" in listed(desk))
        await desk.pilot.press("tab")
        assert desk.prompt == "%target container:web"
