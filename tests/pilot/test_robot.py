"""A robot that presses, clicks, pastes and resizes at random: nothing fails, and no screen gets stuck.

The short form is part of the suite; `OI_TUI_SOAK=1 pytest tests/pilot/test_robot.py` is the long one. The
message of a failure lists what was done, and the same seed does it again.
"""

import contextlib
import os
import random

import pytest
from textual import events
from textual.errors import NoWidget

from oi_tui.engine.llm.base import Text
from tests.fakes import call
from tests.pilot.test_chat import ChatDriver, open_chat

SOAK = bool(os.environ.get("OI_TUI_SOAK"))
SEEDS = range(60 if SOAK else 1)
STEPS = 600 if SOAK else 100
#: Commands without effect beyond the screen, the conversation and the folder of the test.
COMMANDS = """
help keys new conversations profile model theme continue auto_run permissions undo redo rewind fork files
tokens info skills verbose log focus variables sidebar history blocks find output copy prompt palette export
compact mouse offer table target on attach connect snapshot restart
"""
KEYS = """
up down left right home end pageup pagedown tab shift+tab enter enter escape escape space backspace delete
f1 f2 f4 f5 f6 f8 f9 ctrl+p ctrl+r ctrl+l ctrl+b ctrl+n ctrl+f ctrl+s ctrl+t ctrl+u ctrl+k ctrl+w ctrl+y
ctrl+o ctrl+j ctrl+up ctrl+down ctrl+home ctrl+end shift+up shift+down ctrl+enter alt+enter alt+d alt+z
question_mark slash at exclamation_mark percent_sign a b c d e f g h i n o p r s u v x y z 1 2 3 A G N R
"""
TEXTS = ("go", "", "two\nlines\n", "界👍e\u0301" * 20, "\x1b[31mred\x1b[0m\x00", "word " * 3000, "=" * 500)
SIZES = ((80, 24), (120, 40), (200, 50), (40, 12), (20, 5), (60, 20), (1, 1))
CODES = ("a", "fail", "flood", "image", "ask", "hang", "stubborn", "x = 1\n" * 120, "silent")


def choose(dice: random.Random) -> tuple[str, object]:
    """What to do next, and with what."""
    match dice.choices(("press", "command", "say", "click", "paste", "resize"), (60, 12, 8, 12, 4, 6))[0]:
        case "press":
            return "press", dice.choice(KEYS.split())
        case "command":
            return "command", dice.choice(COMMANDS.split())
        case "click":
            return "click", (dice.random(), dice.random())
        case "paste":
            return "paste", dice.choice(TEXTS)
        case "resize":
            return "resize", dice.choice(SIZES)
        case _:
            return "say", "go"


async def do(ui: ChatDriver, what: str, value: object) -> None:
    """Do it as a person does; a command or a message only where the chat has the screen."""
    assert ui.pilot
    match what, value:
        case "press", str(key):
            await ui.pilot.press(key)
        case "command", str(name) if ui.chat.is_active:
            ui.chat.action_command(name)
        case "say", str(words) if ui.chat.is_active and not ui.view.busy:
            ui.view.say(words)
        case "click", (float(across), float(down)):
            size = ui.app.size
            # Right after a resize there may be nothing there yet.
            with contextlib.suppress(NoWidget):
                await ui.pilot.click(offset=(int(across * size.width), int(down * size.height)))
        case "paste", str(text):
            ui.app.screen.post_message(events.Paste(text))
        case "resize", (int(width), int(height)):
            await ui.pilot.resize_terminal(width, height)
    await ui.pilot.pause()
    # What the code of these tests waits for comes sooner or later.
    ui.computer.interrupted.set()
    ui.computer.interrupts.release()


@pytest.mark.soak
@pytest.mark.timeout(7_200 if SOAK else 120)
@pytest.mark.parametrize("seed", SEEDS)
async def test_nothing_fails_and_nothing_gets_stuck(seed: int, workplace: object) -> None:
    dice = random.Random(seed)
    replies = [[call(dice.choice(CODES))] if dice.random() < 0.7 else [Text("Done.")] for _ in range(STEPS)]
    done: list[tuple[str, object]] = []
    try:
        async with open_chat(*replies) as ui:
            assert ui.pilot
            for _ in range(STEPS):
                done.append(choose(dice))
                await do(ui, *done[-1])
            done.append(("resize", (80, 24)))
            await do(ui, *done[-1])
            for _ in range(20):
                done.append(("press", "escape"))
                await do(ui, *done[-1])
            await ui.until(lambda: ui.chat.is_active and not ui.view.busy)
            ui.chat.action_command("prompt")
            await ui.pilot.press("ctrl+u", "z", "q")
            await ui.until(lambda: ui.prompt.endswith("zq"))
    except BaseException as error:
        last = "\n".join(f"{what} {value!r:.80}" for what, value in done[-40:])
        error.add_note(f"seed {seed}, after {len(done)} steps, the last of which were:\n{last}")
        raise
