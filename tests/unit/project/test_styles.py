"""Every rule of a style sheet belongs to something that a screen can have."""

import re
from pathlib import Path

import textual.widgets

ROOT = Path(__file__).parents[3]
CODE = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "oi_tui").rglob("*.py")))
WORDS = set(re.findall(r"[\w-]+", CODE))
#: Classes and ids that are made of a value, or that Textual gives its own widgets.
MADE = {"-clear", "-danger", "-editing", "-why", "-word", "-always"}
TEXTUAL = {
    "--container",
    "--input",
    "--list-visible",
    "input--placeholder",
    "option-list--option-highlighted",
    "option-list--option-hover",
    "text-area--placeholder",
}
TEXTUAL_TYPES = {
    *textual.widgets.__all__,
    "CommandInput",
    "CommandList",
    "CommandPalette",
    "SearchIcon",
    "Toast",
    "ToastRack",
}


def read_selectors(path: Path) -> str:
    """Return what stands before the braces of a style sheet."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return "\n".join(re.findall(r"[^{};]*(?=\{)", text))


def test_every_class_and_id_of_a_style_sheet_is_used() -> None:
    unused = []
    for path in sorted((ROOT / "styles").glob("*.tcss")):
        for name in re.findall(r"[.#](-{0,2}[A-Za-z_][\w-]*)", read_selectors(path)):
            if name not in WORDS | MADE | TEXTUAL:
                unused.append(f"{path.name}: {name}")
    assert unused == [], "remove the rule, or repair the name"


def test_every_widget_of_a_style_sheet_exists() -> None:
    classes = set(re.findall(r"^\s*class (\w+)", CODE, re.MULTILINE)) | TEXTUAL_TYPES
    unused = []
    for path in sorted((ROOT / "styles").glob("*.tcss")):
        for name in re.findall(r"(?<![\w.#$:-])([A-Z]\w+)", read_selectors(path)):
            if name not in classes:
                unused.append(f"{path.name}: {name}")
    assert unused == [], "remove the rule, or repair the name"
