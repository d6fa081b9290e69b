"""Text stays text: whatever somebody else wrote, wherever it is shown, it is only ever seen."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pilot.untrusted_text_app import problems, stage
from tests.pilot.untrusted_text_places import PLACES, TEXTS


@pytest.fixture(autouse=True)
def a_terminal_with_notifications(monkeypatch: pytest.MonkeyPatch) -> None:
    """The desktop's own tool and clipboard are none of a test's business."""
    monkeypatch.setenv("TERM_PROGRAM", "WezTerm")
    monkeypatch.setattr("oi_tui.engine.models.local_servers.find", list)


#: So many places are tried in one go of the application.
TOGETHER = 6
NAMES = list(PLACES)
SOAK = bool(os.environ.get("OI_TUI_SOAK"))
#: What is tried everywhere; of the others the short form takes each third one, in turns. How wide joined
#: signs are, which terminals do not agree on, is tried in the long form.
ALWAYS = ("sequences", "markup")


def tried(first: int) -> Iterator[tuple[str, str, str]]:
    """The places that are tried together, with their texts; all of them in the long form."""
    others = [name for name in TEXTS if name not in ALWAYS and (SOAK or name != "emoji")]
    for number, place in enumerate(NAMES[first : first + TOGETHER], first):
        for name in (*ALWAYS, *(others if SOAK else others[number % 3 :: 3])):
            yield place, name, TEXTS[name]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("first", range(0, len(NAMES), TOGETHER), ids=lambda first: NAMES[first])
async def test_text_stays_text(first: int, tmp_path: Path) -> None:
    wrong: list[str] = []
    async with stage(tmp_path) as one:
        for place, name, text in tried(first):
            logging.getLogger("tests").warning("%s: %s", place, name)  # should the application fail
            shown = PLACES[place](one, text)
            if shown is not None:
                await shown
            await one.settle()
            wrong += [f"{place}, {name}: {problem}" for problem in problems(one)]
            await one.clear()
    assert not wrong, "\n".join(wrong)
