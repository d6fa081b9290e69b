"""The navigator and the profile editor, as snapshots."""

import os
from collections.abc import Callable
from datetime import datetime
from itertools import product

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import TextArea

from oi_tui import paths
from oi_tui.app import OiTui
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message
from oi_tui.runtimes.variables import Memory, Variable
from oi_tui.screens.navigator.screen import NavigatorScreen
from oi_tui.screens.profile.editor import ProfileEditor
from oi_tui.screens.profile.menu import DifferencesDialog, NameDialog
from oi_tui.screens.profile.yaml import ProfileYaml
from oi_tui.screens.variables import VariablesScreen
from oi_tui.themes import DARK, LIGHT
from oi_tui.widgets.setting_field import SettingField
from tests.fakes import Computer
from tests.pilot.waiting import until
from tests.snapshots.staging import calm

SIZES = [(80, 24), (120, 40)]
WIDE = (200, 50)
NOON = datetime(2026, 3, 18, 12).timestamp()
TALKS = (
    ("Why is the disk full?", "shell", "du -sh ~/* | sort -h | tail", 600.0),
    ("Plot AAPL and META's normalised prices", "python", "frame = load('AAPL', 'META')", 7_200.0),
    ("Summarise sales.csv", "python", "import csv", 90_000.0),
    ("Rename these photos by the day they were taken", "python", "from PIL import Image", 900_000.0),
)


class Stage(App[None]):
    """One screen in the application's own look."""

    TITLE = "oi-tui"

    CSS_PATH = [*OiTui.CSS_PATH, *OiTui.LATER_CSS]

    def __init__(self, shown: Screen, theme: str) -> None:
        super().__init__()
        self._shown = shown
        for item in (DARK, LIGHT):
            self.register_theme(item)
        self.theme = theme

    def on_mount(self) -> None:
        self.push_screen(self._shown)


def saved() -> Store:
    """A store with conversations of known ages."""
    store = Store(paths.conversations())
    for title, language, code, seconds in TALKS:
        journal = store.create(cwd="/home/ada/work", model="gpt-4o")
        journal.put(Message(role="user", type="message", content=title, created=NOON - seconds))
        journal.put(
            Message(
                role="assistant",
                type="code",
                format=language,
                content=code,
                state="finished",
                created=NOON - seconds,
            )
        )
        journal.close()
        path = next(p for p in store.folder.rglob(f"{journal.id}*") if p.is_file())
        os.utime(path, (NOON - seconds, NOON - seconds))
    return store


async def settled(pilot: Pilot[None]) -> None:
    """Wait until workers are done and the preview stands."""
    await until(pilot, lambda: all(worker.is_finished for worker in pilot.app.workers))
    await calm(pilot)


def by_size(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


def named(value: tuple[int, int] | str) -> str:
    """What a snapshot of this size or theme is called."""
    return value if isinstance(value, str) else by_size(value)


@pytest.mark.parametrize(
    ("size", "theme"), [*product(SIZES, ["oi-dark", "oi-light"]), (WIDE, "oi-dark")], ids=named
)
def test_the_navigator_looks_as_it_did(
    snap_compare: Callable[..., bool], size: tuple[int, int], theme: str
) -> None:
    app = Stage(NavigatorScreen(saved(), clock=lambda: NOON), theme)
    assert snap_compare(app, terminal_size=size, run_before=settled)


@pytest.mark.parametrize("size", SIZES, ids=by_size)
def test_the_empty_navigator_looks_as_it_did(
    snap_compare: Callable[..., bool], size: tuple[int, int]
) -> None:
    app = Stage(NavigatorScreen(Store(paths.conversations()), clock=lambda: NOON), DARK.name)
    assert snap_compare(app, terminal_size=size, run_before=settled)


@pytest.mark.parametrize(
    ("size", "theme"), [*product(SIZES, ["oi-dark", "oi-light"]), (WIDE, "oi-dark")], ids=named
)
def test_the_profile_editor_looks_as_it_did(
    snap_compare: Callable[..., bool], size: tuple[int, int], theme: str
) -> None:
    app = Stage(ProfileEditor(Profile(model="gpt-4o-mini", temperature=0.5)), theme)
    assert snap_compare(app, terminal_size=size, run_before=settled)


@pytest.mark.parametrize("size", SIZES, ids=by_size)
def test_the_variables_look_as_they_did(snap_compare: Callable[..., bool], size: tuple[int, int]) -> None:
    computer = Computer()
    computer.remembered = (
        Memory(
            "python",
            "known",
            (
                Variable("frame", "DataFrame", "DataFrame 1200x8", 76_936),
                Variable("prices", "ndarray", "ndarray 1200x4", 38_400),
                Variable("tickers", "list", "list of 2", 72),
                Variable("load", "function", "function load"),
            ),
            4,
        ),
        Memory("shell", "known", (Variable("folder", "string", "/home/ada/work", 14),), 1),
        Memory("javascript", "unstarted"),
        Memory("perl", "silent"),
    )
    assert snap_compare(Stage(VariablesScreen(computer), DARK.name), terminal_size=size, run_before=settled)


@pytest.mark.parametrize("size", SIZES, ids=by_size)
@pytest.mark.parametrize("state", ["menu", "name", "text", "wrong_text", "differences", "wrong_value"])
def test_the_profile_editor_looks_so_in_its_states(
    snap_compare: Callable[..., bool], size: tuple[int, int], state: str
) -> None:
    path = paths.make_private(paths.profiles()) / "work.yaml"
    path.write_text("# At work\nllm:\n  model: gpt-4o-mini  # cheap\n  temperature: 0.5\nmax_output: 5000\n")
    editor = ProfileEditor(Profile.load(path), path)

    async def arrive(pilot: Pilot[None]) -> None:
        await settled(pilot)
        match state:
            case "menu":
                editor.action_menu()
            case "name":
                pilot.app.push_screen(NameDialog("Name of the copy", "work copy"))
            case "text" | "wrong_text":
                pilot.app.push_screen(ProfileYaml(path))
                await pilot.pause()
                if state == "wrong_text":
                    pilot.app.screen.query_one(TextArea).text = "auto_run: maybe\n"
            case "differences":
                pilot.app.push_screen(
                    DifferencesDialog(
                        ["llm.model: gpt-4o-mini   (default: gpt-4o)", "loop: true   (default: false)"]
                    )
                )
            case "wrong_value":
                # How far the view scrolls depends on where it was when the next key came.
                for key in ("down", "enter", "down", "down", "down", "down", "x"):
                    await pilot.press(key)
                    await settled(pilot)
                view = editor.query_one("#profile-fields")

                def in_sight() -> bool:
                    field = editor.focused and editor.focused.parent
                    return (
                        isinstance(field, SettingField)
                        and field.error is not None
                        and field.query_one(".field-error").size.height > 0
                        and view.region.contains_region(field.region)
                    )

                await until(pilot, in_sight)
        await settled(pilot)

    assert snap_compare(Stage(editor, DARK.name), terminal_size=size, run_before=arrive)
