"""The README and the pages in docs/ are true: what they name exists, and generated pages are up to date.

`UPDATE_README=1` writes the reference pages and the images anew.
"""

import os
import re
import shlex
from pathlib import Path

import pytest

from oi_tui.cli.flags import make_parser
from oi_tui.commands import COMMANDS
from oi_tui.engine.settings import presets, yaml_file
from oi_tui.engine.settings.profile import Profile, list_settings
from oi_tui.engine.storage import records
from oi_tui.runtimes.languages import LANGUAGES
from oi_tui.screens import help as help_screen
from oi_tui.screens import keymap
from oi_tui.system import environment_names
from tests import reference_pages

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
WRITTEN = [ROOT / "README.md", DOCS / "index.md", *sorted((DOCS / "guide").glob("*.md"))]
PAGES = [pytest.param(path, id=path.relative_to(ROOT).as_posix()) for path in WRITTEN]
SNAPSHOTS = ROOT / "tests/snapshots/__snapshots__"
#: The images in docs/images, and the snapshots that they are copies of.
IMAGES = {
    "asking.svg": "test_screens/test_the_chat_screen_looks_as_it_did[asking-80x24].svg",
    "chat.svg": "test_screens/test_the_chat_screen_looks_as_it_did[asking-120x40].svg",
    "light.svg": "test_screens/test_the_chat_screen_looks_as_it_did[asking_in_light-80x24].svg",
    "models.svg": "test_screens/test_the_chat_screen_looks_as_it_did[choosing_a_model-80x24].svg",
    "navigator.svg": "test_other_screens/test_the_navigator_looks_as_it_did[80x24-oi-dark].svg",
    "plot.svg": "test_states/test_the_screen_looks_so_in_its_states[a_plot-80x24].svg",
    "profile.svg": "test_other_screens/test_the_profile_editor_looks_as_it_did[80x24-oi-dark].svg",
    "risks.svg": "test_screens/test_the_chat_screen_looks_as_it_did[asking_about_risks-80x24].svg",
    "variables.svg": "test_other_screens/test_the_variables_look_as_they_did[80x24].svg",
}
#: Magics of IPython, and cell magics, that the pages name beside our commands.
MAGICS = {"pip", "timeit", "lsmagic", "sql", "store", "config", "history", "pdb", "notebook"}


def blocks(path: Path, *kinds: str) -> list[str]:
    """Return the code blocks of these kinds, such as `python`."""
    found = re.findall(r"^```(\w+)\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [text for kind, text in found if kind in kinds]


def inline_code(path: Path) -> list[str]:
    """Return what stands between backticks outside of code blocks."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`\n]+)`", text)


def commands_in(path: Path) -> list[str]:
    """Return the lines that start oi-tui, from code blocks and inline code."""
    lines = [line for block in blocks(path, "sh") for line in block.splitlines()]
    return [line for line in [*lines, *inline_code(path)] if re.match(r"(\w+=\S+ )*oi-tui( |$)", line)]


@pytest.mark.parametrize("name", reference_pages.PAGES)
def test_the_reference_page_is_what_the_code_says(name: str) -> None:
    page = reference_pages.FOLDER / name
    expected = reference_pages.PAGES[name]()
    if os.environ.get("UPDATE_README"):
        page.write_text(expected, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == expected, "python -m tests.reference_pages writes it anew"


@pytest.mark.parametrize("name", IMAGES)
def test_the_image_is_what_the_screen_looks_like(name: str) -> None:
    expected = (SNAPSHOTS / IMAGES[name]).read_text(encoding="utf-8")
    image = DOCS / "images" / name
    if os.environ.get("UPDATE_README"):
        image.write_text(expected, encoding="utf-8")
    assert image.read_text(encoding="utf-8") == expected, "make snapshots copies it anew"


def test_no_image_is_left_over() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in WRITTEN)
    used = {Path(link).name for link in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text)}
    assert {path.name for path in (DOCS / "images").iterdir()} == set(IMAGES)
    assert used == set(IMAGES)


@pytest.mark.parametrize("path", PAGES)
def test_what_a_page_links_to_exists(path: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (path.parent / link).exists()] == []


@pytest.mark.parametrize("path", [ROOT / "README.md", DOCS / "index.md"], ids=lambda path: path.name)
def test_a_front_page_links_to_every_guide(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [guide.name for guide in WRITTEN[2:] if f"guide/{guide.name})" not in text] == []


@pytest.mark.parametrize("path", PAGES)
def test_every_command_that_a_page_names_exists(path: Path) -> None:
    lines = [*inline_code(path), *(line for block in blocks(path, "text") for line in block.splitlines())]
    names = [match[1] for line in lines if (match := re.match(r"%(\w+)", line))]
    languages = {language.name for language in LANGUAGES}
    assert [name for name in names if name not in {*COMMANDS, *languages, *MAGICS}] == []


@pytest.mark.parametrize("path", PAGES)
def test_every_flag_that_a_page_names_exists(path: Path) -> None:
    flags = {flag for action in make_parser()._actions for flag in action.option_strings}
    words = [word for line in commands_in(path) for word in shlex.split(line.partition("<")[0])]
    words += [text.split()[0] for text in inline_code(path) if re.match(r"--?[a-z]", text)]
    named = [word.replace("_", "-") for word in words if re.match(r"--?[a-z]", word)]
    assert [flag for flag in named if flag not in flags and flag.replace("--no-", "--") not in flags] == []


@pytest.mark.parametrize("path", PAGES)
def test_the_command_lines_of_a_page_are_understood(path: Path) -> None:
    for line in commands_in(path):
        words = shlex.split(line.partition(" < ")[0])
        arguments = words[words.index("oi-tui") + 1 :]
        given, rest = make_parser().parse_known_args(arguments)
        assert [word for word in rest if word.startswith("-")] == [], line
        name = getattr(given, "profile", None)
        if name and not name.startswith(("./", "oi-")):
            assert name in presets.list_names(), line


@pytest.mark.parametrize("path", PAGES)
def test_the_profiles_of_a_page_are_understood(path: Path) -> None:
    for text in blocks(path, "yaml"):
        assert Profile.from_entries(yaml_file.parse(text), None).unknown == (), text


@pytest.mark.parametrize("path", PAGES)
def test_every_setting_that_a_page_names_exists(path: Path) -> None:
    known = {setting.key for setting in list_settings()}
    named = {text.partition(":")[0] for text in inline_code(path)}
    dotted = {name for name in named if re.fullmatch(r"(llm|computer)\.\w+|sandbox_\w+|\w+_snapshots", name)}
    assert dotted - known - {"llm.completions", "computer.run"} == set()


@pytest.mark.parametrize("path", PAGES)
def test_every_key_that_a_page_names_is_bound(path: Path) -> None:
    bound = {
        key
        for places in keymap.list_bindings().values()
        for _, binding in places
        for key in binding.key.split(",")
    }
    bound |= {key for key, _ in help_screen.OTHER_KEYS} | {"escape", "down", "enter", "/"}
    named = {text for text in inline_code(path) if re.fullmatch(r"f\d+|(ctrl|shift|alt)\+\w+|.", text)}
    assert named - bound - {"%", "@"} == set()


@pytest.mark.parametrize("path", PAGES)
def test_every_environment_variable_that_a_page_names_is_read(path: Path) -> None:
    known = {setting.variable for setting in list_settings()} | set(environment_names.FOR_USERS)
    assert (
        set(re.findall(r"OI_TUI_[A-Z_]+", path.read_text(encoding="utf-8").replace("`OI_TUI_`", ""))) <= known
    )


def test_the_stored_conversation_of_the_protocol_page_can_be_read() -> None:
    text = next(block for block in blocks(DOCS / "reference" / "protocol.md", "json") if "oi_tui" in block)
    contents = records.parse(text.encode())
    assert [message.content for message in contents.messages.values()] == ["Hello"]
    assert {kind.strip("`") for kind, _ in reference_pages._RECORDS} == set(records._KINDS)
