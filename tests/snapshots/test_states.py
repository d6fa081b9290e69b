"""What a person meets while programs run, models stumble and words are looked for, as snapshots."""

import base64
import io
import json
import threading
from collections.abc import Callable, Iterator

import pytest
from PIL import Image
from textual import events
from textual.pilot import Pilot
from textual.widgets import OptionList

from oi_tui import log
from oi_tui.app import OiTui
from oi_tui.engine.events import FilesChanged, Noticed, RunReported
from oi_tui.engine.llm.base import Delta, ErrorInfo, Reasoning, Text, ToolCallPiece, Usage
from oi_tui.engine.settings.profile import Profile
from oi_tui.file_changes.snapshots import ChangeSet, FileChange
from oi_tui.messages import Displayed, InputRequested, LineReached, Printed, Report, RunEnded, Stopping
from oi_tui.screens.images import ImagesScreen
from oi_tui.screens.pager import PagerScreen
from oi_tui.screens.terminal import ProgramScreen
from oi_tui.workspace import Workspace
from tests.fakes import Llm, call
from tests.snapshots import test_screens
from tests.snapshots.staging import (
    CODE,
    REPLY,
    SIZES,
    Folder,
    Steps,
    ask,
    asked,
    by_size,
    chat_view,
    ended,
    ready,
    screen,
    seen,
    until,
)

LOOP = """import time

for number, name in enumerate(names, 1):
    fetch(name)
    print(f"{number:>3} {name}")
"""
LONG = "\n".join(f"step_{n:03} = prepare({n}, after=step_{n - 1:03})" for n in range(1, 61)) + "\n"
WIDE = """# 名前 は 日本語 — 🙂 emoji and ünïcödé
prices = {"りんご": 120, "バナナ": 80, "ぶどう": 480}
url = "https://prices.example/a/very/long/path/that/goes/on/and/on?with=questions&and=answers&and=more#and-a-fragment"
"""
ANSWER = """## What I found

The **largest** customers, by `amount`:

| customer | sales | amount |
|---|---:|---:|
| Lovelace & Co. | 4 | 812.50 |
| Hopper GmbH | 3 | 402.00 |
| 株式会社 | 1 | 96.00 |

1. *Lovelace* pays late, see [the ledger](https://ledger.example/2026?q=3).
2. Hopper has ~~two~~ three open invoices:
   - one from March
   - two from May

> Amounts are in euros.

```sql
select customer, sum(amount) from sales group by 1; -- by customer
```
"""
BAR = "\x1b[32m━━━━━━━━━━━━━━━━━━\x1b[90m━━━━━━━━━━━━\x1b[0m 61% 3.2 MB/s"
EDITOR = (
    "\x1b[?1049h\x1b[2J\x1b[H\x1b[7m GNU nano 7.2          notes.txt          \x1b[0m\r\n"
    "Buy milk\r\nCall \x1b[1mAda\x1b[0m\r\n\x1b[5;1H\x1b[32m# done\x1b[0m\x1b[3;9H"
)


def image() -> str:
    """A plot, more or less: two slopes and an axis."""
    image = Image.new("RGB", (320, 200), "#ffffff")
    for x in range(20, 310):
        image.putpixel((x, 180), (60, 60, 60))
        for thick in range(4):
            image.putpixel((x, 170 - x // 3 + thick), (200, 60, 60))
            image.putpixel((x, 60 + x // 4 + thick), (40, 90, 200))
    for y in range(10, 180):
        image.putpixel((20, y), (60, 60, 60))
    data = io.BytesIO()
    image.save(data, "PNG")
    return base64.b64encode(data.getvalue()).decode()


class Script(Folder):
    """A computer whose programs report what they are told to; without an end they run until stopped."""

    def __init__(self, *reports: Report) -> None:
        super().__init__()
        self.reports = reports

    def run(self, language: str, code: str, number: int | None = None) -> Iterator[Report]:
        yield from self.reports
        if not any(isinstance(report, RunEnded) for report in self.reports):
            self.running.set()
            assert self.interrupted.wait(60)
            yield RunEnded("interrupted", 0.5)


def played(code: str, *reports: Report, auto_run: bool = True, theme: str = "oi-dark") -> OiTui:
    """The application with a model that writes this code, and a program that reports this."""
    profile = Profile(model="gpt-4o", theme=theme, auto_run=auto_run)
    workspace = Workspace(profile, None, llm=Llm([call(code)], [Text("Done.")]), computer=Script(*reports))
    workspace.save_image = lambda _: "/home/ada/.local/share/oi-tui/outputs/2026-03-18/plot.png"  # type: ignore[method-assign]
    return OiTui(lambda: workspace, theme=theme)


def writing(*deltas: Delta) -> OiTui:
    """The application with a model that said this and is not done yet."""
    return screen([*deltas, threading.Event()])


def then(steps: Steps, *keys: str, wait: Callable[[Pilot[None]], object] = lambda _: True) -> Steps:
    """Press keys after those steps, and wait for what they bring."""

    async def go(pilot: Pilot[None]) -> None:
        await steps(pilot)
        await pilot.press(*keys)
        await until(pilot, lambda: wait(pilot))

    return go


def without_scrollbar(steps: Steps) -> Steps:
    """Take the steps, and hide the scrollbar: its length tells how many commands there are."""

    async def go(pilot: Pilot[None]) -> None:
        await steps(pilot)
        for widget in pilot.app.screen.query("*"):
            widget.styles.scrollbar_visibility = "hidden"

    return go


def shown(*words: str) -> Steps:
    """Ask, and wait until the conversation shows these words."""

    async def go(pilot: Pilot[None]) -> None:
        await ask(pilot)
        transcript = chat_view(pilot).conversation.transcript

        def there() -> bool:
            transcript.flush()
            rows = (row.plain for n in range(len(transcript.blocks)) for row in transcript.draw_block(n))
            text = "\n".join(rows)
            return all(word in text for word in words)

        await until(pilot, there)

    return go


def reported(*events: object, steps: Steps = ended) -> Steps:
    """What the session tells besides; "{cell}" is the first code of the conversation."""

    async def go(pilot: Pilot[None]) -> None:
        await steps(pilot)
        cell = next((m.id for m in chat_view(pilot).session.messages if m.type == "code"), "")
        for event in events:
            chat_view(pilot).handle_event(event(cell) if callable(event) else event)  # type: ignore[arg-type]
        await until(pilot, lambda: True)

    return go


async def queueing(pilot: Pilot[None]) -> None:
    await shown("running")(pilot)
    for text in ("and by month, please", "then plot it\nin two colours", "and save the picture"):
        chat_view(pilot).say(text)
    await until(pilot, lambda: True)


async def pasting(pilot: Pilot[None]) -> None:
    await ready(pilot)
    pilot.app.post_message(events.Paste("Traceback (most recent call last):\n" + "  File …\n" * 40))
    await until(pilot, lambda: chat_view(pilot).prompt.text)
    await pilot.press(*" what is this?")
    await until(pilot, lambda: True)


async def reading_back(pilot: Pilot[None]) -> None:
    await ended(pilot)
    chat_view(pilot).conversation.page_up()
    chat_view(pilot).show(Noticed("Something came meanwhile."))
    await until(pilot, lambda: chat_view(pilot).conversation.transcript.new_below)


async def at_a_screen(pilot: Pilot[None], kind: type) -> None:
    await until(pilot, lambda: isinstance(pilot.app.screen, kind))


async def searching_what_was_said(pilot: Pilot[None]) -> None:
    await ready(pilot)
    for text in ("What did we sell in May?", "plot the sales", "Who sells most?"):
        chat_view(pilot).prompt._recall.add(text)
    await pilot.press("ctrl+s", *"sel")
    await until(pilot, lambda: pilot.app.screen.query_one("#completions").display)


async def rejecting(pilot: Pilot[None]) -> None:
    await asked(pilot)
    await pilot.press("n")
    await until(pilot, lambda: chat_view(pilot).approval.stage == "why")


async def full_screen(pilot: Pilot[None]) -> None:
    await ask(pilot)
    await until(pilot, lambda: chat_view(pilot).progress.doing.startswith("running"))
    await pilot.press("ctrl+o")
    await at_a_screen(pilot, ProgramScreen)


async def reading(pilot: Pilot[None]) -> None:
    await ended(pilot)
    pilot.app.screen.commands.reading.read_output(None)
    await at_a_screen(pilot, PagerScreen)
    await pilot.press("slash", *"row 7", "enter")
    await seen(pilot, "“row 7” in line", "lines", " of 30")


async def looking_at_an_image(pilot: Pilot[None]) -> None:
    await ended(pilot)
    await pilot.press("ctrl+up", "up", "p")
    await at_a_screen(pilot, ImagesScreen)


async def palette(pilot: Pilot[None]) -> None:
    await ready(pilot)
    await pilot.press("ctrl+p")
    await seen(pilot, "Search")
    await until(pilot, lambda: pilot.app.screen.query_one(OptionList).option_count)


async def reading_the_log(pilot: Pilot[None]) -> None:
    await ready(pilot)
    log.file().parent.mkdir(parents=True, exist_ok=True)
    log.file().write_text(LOG)
    pilot.app.screen.commands.log.open()
    await at_a_screen(pilot, PagerScreen)
    await seen(pilot, "lines 1-")


async def seeing_what_the_model_saw(pilot: Pilot[None]) -> None:
    await ended(pilot)
    await pilot.press("ctrl+up", "up", "w")
    await at_a_screen(pilot, PagerScreen)
    await seen(pilot, "lines 1-")


async def talking(pilot: Pilot[None]) -> None:
    await ended(pilot)
    for number, text in enumerate(("And in June?", "Plot both months"), 2):
        chat_view(pilot).send(text)
        await until(
            pilot,
            lambda number=number: (
                len(chat_view(pilot).session.messages) == 2 * number and not chat_view(pilot).busy
            ),
        )


ROWS = "".join(f"row {n}: \x1b[3{n % 7 + 1}m{'value ' * 3}\x1b[0m\n" for n in range(300))
FILES = ChangeSet(
    "x",
    "/home/ada/sales",
    (
        FileChange("report.md", "created"),
        FileChange("sales.csv", "changed"),
        FileChange("old.csv", "deleted"),
    ),
)
FINISHED = RunEnded("finished", 2.14)
BUSY = ErrorInfo("rate", "OpenAI is busy (429).", retryable=True, retry_after=20.0)
LOG = "".join(
    f"10:02:{second:02}  {words}\n"
    for second, words in enumerate(
        (
            "turn begins",
            "request to gpt-4o: 2 messages, with the tool",
            "first words after 0.84 s",
            "reply after 2.61 s: 1,234 tokens in, 56 out, $0.0123",
            "waiting for approval: python, 7 lines",
            "approved after 3.2 s",
            "python runs cell 1",
            "cell 1 finished after 2.14 s",
        )
        * 5
    )
)
TALK = (
    [Text("You sold **12** things in May.")],
    [Text("And **18** in June.")],
    [Text("I would need `matplotlib` for that.")],
)
STATES: dict[str, tuple[Callable[[], OiTui], Steps]] = {
    "thinking": (lambda: writing(Reasoning("First the file.\nThen the sum.\n")), shown("thinking")),
    "writing words": (
        lambda: writing(Reasoning("First the file.\nThen the sum."), Text(ANSWER[:200])),
        shown("thought for", "customer"),
    ),
    "writing code": (
        lambda: writing(
            Text("I add it up.\n\n"), ToolCallPiece(0, "c1", "execute", call(CODE).arguments[:150])
        ),
        shown("DictReader"),
    ),
    "an answer": (lambda: screen([Text(ANSWER)]), ended),
    "an answer in light": (lambda: screen([Text(ANSWER)], theme="oi-light"), ended),
    "thoughts unfolded": (
        lambda: screen([Reasoning("First the file.\nThen the sum.\n"), Text("Fine.")]),
        then(ended, "ctrl+up", "up", "f"),
    ),
    "running": (
        lambda: played(LOOP, LineReached(4), Printed(ROWS), Printed(f"a.zip {BAR[:9]}\r{BAR}")),
        shown("61%"),
    ),
    "stopping": (
        lambda: played(LOOP, LineReached(4), Printed("  1 Ada\n")),
        reported(lambda cell: RunReported(cell, Stopping("terminate", 4.0)), steps=shown("1 Ada")),
    ),
    "a masked answer": (
        lambda: played("!sudo apt upgrade", InputRequested("[sudo] password for ada: ", True)),
        then(shown("waiting for input"), *"secret"),
    ),
    "a long question": (
        lambda: played("setup()", Printed("Set up.\n"), InputRequested("Replace " * 20 + "[y/N]? ", False)),
        shown("waiting for input"),
    ),
    "a full-screen program": (lambda: played("!nano notes.txt", Printed(EDITOR)), full_screen),
    "much output": (lambda: played(CODE, Printed(ROWS), FINISHED), ended),
    "reading an output": (lambda: played(CODE, Printed(ROWS), FINISHED), reading),
    "files changed": (
        lambda: played(CODE, Printed("12 sales\n"), FINISHED),
        reported(lambda cell: FilesChanged(cell, FILES)),
    ),
    "at a block": (
        lambda: played(CODE, Printed("12 sales\n"), FINISHED),
        then(ended, "ctrl+up", "up"),
    ),
    "keys of a block": (
        lambda: played(CODE, Printed("12 sales\n"), FINISHED),
        without_scrollbar(then(ended, "ctrl+up", "question_mark")),
    ),
    "a plot": (lambda: played("plot()", Displayed("base64.png", image()), FINISHED), ended),
    "looking at a plot": (
        lambda: played("plot()", Displayed("base64.png", image()), FINISHED),
        looking_at_an_image,
    ),
    "lost": (
        lambda: played(
            "import ctypes", Printed("…\n"), RunEnded("lost", 1.2, "it was killed by signal 11 (SIGSEGV)")
        ),
        ended,
    ),
    "interrupted": (
        lambda: played(LOOP, Printed("  1 Ada\n"), RunEnded("interrupted", 3.2)),
        ended,
    ),
    "trying again": (lambda: screen([BUSY], REPLY), shown("Trying again")),
    "broken off": (
        lambda: screen(
            [Text("The sum is "), ErrorInfo("connection", "The connection to OpenAI was lost.", "")]
        ),
        ended,
    ),
    "queue": (lambda: played(LOOP, LineReached(4), Printed("  1 Ada\n")), queueing),
    "paste": (lambda: screen(), pasting),
    "completing a command": (lambda: screen(), then(ready, *"%re")),
    "a refused command": (lambda: screen(), then(ready, *"%get", "enter")),
    "searching what was said": (
        lambda: screen(REPLY),
        searching_what_was_said,
    ),
    "palette": (lambda: screen(), palette),
    "finding": (
        lambda: screen([Text(ANSWER)]),
        then(ended, "ctrl+f", *"hopper", wait=lambda p: chat_view(p).find_line._sought == "hopper"),
    ),
    "nothing found": (lambda: screen([Text(ANSWER)]), then(ended, "ctrl+f", *"turing", "enter")),
    "new below": (lambda: screen([Text(ANSWER * 3)]), reading_back),
    "long code": (lambda: screen([call(LONG)]), asked),
    "wide characters": (lambda: screen([call(WIDE)]), asked),
    "wide characters edited": (
        lambda: screen([call(WIDE)]),
        then(then(asked, "e", wait=lambda p: chat_view(p).conversation.cell_editor.is_open), "end"),
    ),
    "the keys": (
        lambda: screen(),
        then(ready, *"%keys", "enter", wait=lambda p: isinstance(p.app.screen, PagerScreen)),
    ),
    "the budget is spent": (
        lambda: screen([*REPLY[:2], Usage(1_200_000, 3_400, 1.02)], auto_run=True, max_budget=1.0),
        ended,
    ),
    "going in circles": (lambda: screen(*[[call("print(1)")]] * 3, auto_run=True), ended),
    "reading the log": (lambda: screen(), reading_the_log),
    "what the model saw": (lambda: played(CODE, Printed(ROWS), FINISHED), seeing_what_the_model_saw),
    "choosing where to go back to": (lambda: screen(*TALK), then(talking, *"%rewind", "enter")),
    "gone back": (lambda: screen(*TALK), then(talking, *"%rewind 2", "enter")),
    "stopped at the question": (
        lambda: screen(REPLY),
        then(asked, "escape", wait=lambda pilot: not chat_view(pilot).busy),
    ),
    "rejected": (
        lambda: screen(REPLY, [Text("I will use the shell instead.")]),
        then(rejecting, "4", "enter", wait=lambda pilot: not chat_view(pilot).busy),
    ),
}


@pytest.mark.parametrize("size", SIZES, ids=by_size)
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.replace(" ", "_"))
def test_the_screen_looks_so_in_its_states(
    snap_compare: Callable[..., bool], state: str, size: tuple[int, int]
) -> None:
    make, steps = STATES[state]
    assert snap_compare(make(), terminal_size=size, run_before=steps)


@pytest.mark.parametrize("size", SIZES, ids=by_size)
@pytest.mark.parametrize(
    "state",
    ["asking about risks", "finished", "going in circles"],
    ids=lambda state: state.replace(" ", "_"),
)
def test_it_can_be_read_without_colours(
    snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch, state: str, size: tuple[int, int]
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    make, steps = {**test_screens.STATES, **STATES}[state]
    assert snap_compare(make(), terminal_size=size, run_before=steps)


def table_of_sales() -> str:
    """A table of 5,000 rows and 25 columns, as Python sends it."""
    columns = [("customer", "str", False), ("amount", "float64", True), ("paid", "bool", False)]
    columns += [(f"month {n}", "int64", True) for n in range(1, 23)]
    names = ["Lovelace & Co.", "株式会社", None, "Hopper GmbH " * 5]
    numbers = [*range(8), *range(4996, 5000)]
    rows = [
        (
            str(n),
            [names[n % 4], None if n == 4 else f"{n * 1.25:.2f}", "True", *(str(n * m) for m in range(22))],
        )
        for n in numbers
    ]
    sizes = {"index": "", "total": 5000, "width": 25, "head": 8}
    return json.dumps({"key": "table:1", "name": "sales", "columns": columns, "rows": rows, **sizes})


@pytest.mark.parametrize("size", [*SIZES, (200, 50)], ids=by_size)
def test_a_table_in_the_conversation_looks_as_it_did(
    snap_compare: Callable[..., bool], size: tuple[int, int]
) -> None:
    text = Printed("   customer ...\r\n[5000 rows x 25 columns]\r\n", "in words", table_of_sales())
    app = played("print('Sales')\nsales", Printed("Sales\r\n"), text, RunEnded("finished", 0.5))
    assert snap_compare(app, terminal_size=size, run_before=ended)
