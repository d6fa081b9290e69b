"""What the snapshots share: a computer that says the same everywhere, and the ways to a state."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from textual._context import visible_screen_stack
from textual.app import App
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import OptionList

from oi_tui.app import OiTui
from oi_tui.engine.llm.base import Text, Usage
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.settings.profile import Profile
from oi_tui.screens.chat.screen import ChatScreen
from oi_tui.screens.chat.view import ChatView
from oi_tui.workspace import Workspace
from tests.fakes import Computer, Llm, call
from tests.pilot import waiting

CODE = """import csv

with open("sales.csv") as file:
    rows = list(csv.DictReader(file))

total = sum(float(row["amount"]) for row in rows)
print(f"{len(rows)} sales, {total:,.2f} in all")
"""
RISKY = """import shutil
import requests

prices = requests.get("https://prices.example/today.csv").text
with open("/srv/shared/prices.csv", "w") as file:
    file.write(prices)
shutil.rmtree("old")
"""
WORDS = "I will read **sales.csv** and add up its amounts:\n\n- one row a sale\n- amounts in euros\n"
SIZES = [(80, 24), (120, 40)]
Steps = Callable[[Pilot[None]], Awaitable[None]]
REPLY = (Text(WORDS), call(CODE), Usage(1234, 56, 0.0123))


class Folder(Computer):
    """Says the same of itself on every machine."""

    cwd = Path("/home/ada/sales")

    def describe(self, language: str) -> str:
        return {"python": "Python 3.12.1", "shell": "bash 5.2"}[language]


def screen(*replies: object, theme: str = "oi-dark", **settings: object) -> OiTui:
    profile = Profile(model="gpt-4o", theme=theme, **settings)
    workspace = Workspace(profile, None, llm=Llm(*replies), computer=Folder())
    # A budget needs a price. The session takes the facts from here when it begins.
    priced = ModelInfo(prompt_price=2.5e-7, completion_price=1e-6)
    facts = ModelInfo(context_window=128_000) if profile.max_budget is None else priced
    workspace.model.facts = lambda _: facts  # type: ignore[method-assign]
    workspace.conversation.begin()
    return OiTui(lambda: workspace, theme=theme)


def chat_view(pilot: Pilot[None]) -> ChatView:
    return next(item for item in pilot.app.screen_stack if isinstance(item, ChatScreen)).chat_view


async def until(pilot: Pilot[None], condition: Callable[[], object]) -> None:
    await waiting.until(pilot, condition)
    await calm(pilot)


def frame(app: App[None]) -> list[Strip]:
    """The lines of the screen as they are now.

    With what is behind a dialog: Textual would otherwise keep the dialog's screen as drawn on nothing, and
    the snapshot would show that.
    """
    visible_screen_stack.set(app._background_screens)
    return app.screen._compositor.render_strips()


async def calm(pilot: Pilot[None]) -> None:
    """Wait until nothing changes on the screen any more."""
    before: list[Strip] = []
    same = 0

    def unchanged() -> bool:
        nonlocal before, same
        now = frame(pilot.app)
        same = same + 1 if now == before else 0
        before = now
        return same == 4

    await waiting.until(pilot, unchanged)


async def seen(pilot: Pilot[None], *words: str) -> None:
    """Wait until these words are on the screen, and nothing changes any more."""

    def there() -> bool:
        strips = frame(pilot.app)
        text = "\n".join("".join(segment.text for segment in strip) for strip in strips)
        return all(word in text for word in words)

    await until(pilot, there)


async def ask(pilot: Pilot[None]) -> None:
    await ready(pilot)
    chat_view(pilot).send("What did we sell?")


async def asked(pilot: Pilot[None]) -> None:
    await ask(pilot)
    await until(pilot, lambda: chat_view(pilot).approval.armed and chat_view(pilot).approval.has_focus)


async def ended(pilot: Pilot[None]) -> None:
    await ask(pilot)
    await until(pilot, lambda: chat_view(pilot).session.messages and not chat_view(pilot).busy)


async def ready(pilot: Pilot[None]) -> None:
    """The chat view comes after the first frame, and what can be asked here after that."""
    await waiting.until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen) and offered(pilot.app.screen))


def offered(chat: ChatScreen) -> bool:
    """Whether the empty conversation offers what can be asked."""
    return chat.is_ready and (
        not chat.has_class("-empty") or chat.query_one("#home-list", OptionList).option_count > 0
    )


def by_size(size: tuple[int, int]) -> str:
    """What a snapshot of this size is called."""
    return f"{size[0]}x{size[1]}"
