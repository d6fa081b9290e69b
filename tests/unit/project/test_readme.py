"""The README's tables are made from the code; UPDATE_README=1 writes them anew."""

import os
import re
from pathlib import Path

import pytest

from oi_tui.engine.settings.templates import settings_table
from oi_tui.runtimes.availability import languages_table
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.screens.help import keys_table

README = Path(__file__).parents[3] / "README.md"


@pytest.mark.parametrize(
    ("name", "make"),
    [("keys", keys_table), ("settings", settings_table), ("languages", lambda: languages_table(LANGUAGES))],
)
def test_the_table_is_what_the_code_says(name: str, make) -> None:
    text = README.read_text(encoding="utf-8")
    pattern = re.compile(rf"(<!-- {name}:[^>]*-->\n)(.*?)(<!-- /{name} -->)", re.DOTALL)
    found = pattern.search(text)
    assert found
    wanted = make() + "\n"
    if os.environ.get("UPDATE_README"):
        README.write_text(text[: found.start(2)] + wanted + text[found.end(2) :], encoding="utf-8")
    else:
        assert found.group(2) == wanted


@pytest.mark.parametrize(
    ("picture", "state"), [("chat.svg", "asking-120x40"), ("light.svg", "asking_in_light-80x24")]
)
def test_the_picture_is_what_the_screen_looks_like(picture: str, state: str) -> None:
    snapshots = README.parent / "tests/snapshots/__snapshots__/test_screens"
    seen = (snapshots / f"test_the_chat_screen_looks_as_it_did[{state}].svg").read_text(encoding="utf-8")
    shown = README.parent / "docs" / picture
    if os.environ.get("UPDATE_README"):
        shown.parent.mkdir(exist_ok=True)
        shown.write_text(seen, encoding="utf-8")
    assert shown.read_text(encoding="utf-8") == seen


def test_what_the_readme_points_at_is_there() -> None:
    text = README.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)\)", text)
    assert links
    assert [link for link in links if "://" not in link and not (README.parent / link).exists()] == []
