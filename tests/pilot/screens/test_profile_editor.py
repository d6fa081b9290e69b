"""The screen of settings, by its keys."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar, Literal

import pytest
from textual import events
from textual.app import App
from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static, TextArea

from oi_tui import paths, profiles
from oi_tui.engine import speech
from oi_tui.engine.credentials.keys import Secrets
from oi_tui.engine.settings.profile import Profile, list_settings
from oi_tui.engine.settings.setting import Setting
from oi_tui.engine.settings.templates import write_starter
from oi_tui.screens.confirm import ConfirmDialog
from oi_tui.screens.models import ModelChoice, ModelsScreen
from oi_tui.screens.profile.editor import ProfileEditor
from oi_tui.screens.profile.fields import SettingFields
from oi_tui.screens.profile.menu import ProfileMenu
from oi_tui.screens.profile.yaml import ProfileYaml
from oi_tui.themes import THEMES
from oi_tui.widgets.setting_field import SettingChoice, SettingField
from tests.pilot.waiting import until
from tests.setting_values import other_value, wrong_texts

#: So many goes of the application try all settings.
PARTS = 4


class Shell(App[None]):
    CSS_PATH: ClassVar = sorted(paths.styles().glob("*.tcss"))

    def __init__(self, profile: Profile, path: Path | None, secrets: Secrets | None = None) -> None:
        super().__init__()
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = "oi-dark"
        self.answers: list[Profile | None] = []
        self.moved: list[Path] = []
        self.editor = ProfileEditor(profile, path, secrets=secrets, moved=self.moved.append)

    def on_mount(self) -> None:
        self.push_screen(self.editor, self.answers.append)

    def field(self, name: str) -> SettingField:
        return next(item for item in self.editor.query(SettingField) if item.setting.name == name)

    def words(self, name: str) -> str:
        return str(self.editor.query_one(f"#profile-{name}", Static).render())

    @property
    def shown(self) -> list[str]:
        return [item.setting.name for item in self.editor.query(SettingField) if item.display]


@pytest.fixture
def path() -> Path:
    path = paths.profiles() / "default.yaml"
    paths.make_private(path.parent)
    path.write_text("# mine\nllm:\n  model: a/b  # the model\nunknown: [1]\n")
    return path


@asynccontextmanager
async def open_editor(
    path: Path | None,
    profile: Profile | None = None,
    size: tuple[int, int] = (120, 40),
    secrets: Secrets | None = None,
) -> AsyncIterator[tuple[Shell, Pilot[None]]]:
    app = Shell(profile or (Profile.load(path) if path else Profile()), path, secrets)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: len(app.shown) > 3)
        yield app, pilot


async def go_to(app: Shell, pilot: Pilot[None], setting: Setting) -> SettingField:
    """Find the setting by its key, and focus it."""
    app.editor.query_one("#profile-search", Input).value = setting.key
    await until(pilot, lambda: setting.name in app.shown and len(app.shown) < 4)
    field = app.field(setting.name)
    field.box.focus()
    await pilot.pause()
    return field


async def test_a_value_is_changed_saved_and_handed_back(path: Path) -> None:
    async with open_editor(path) as (app, pilot):
        await pilot.press("down", "enter")
        assert app.field("model").query_one(Input).has_focus
        await pilot.press("end", *"-c", "ctrl+s")
        (found,) = app.answers
        assert found is not None
        assert found.model == "a/b-c"
        assert path.read_text() == "# mine\nllm:\n  model: a/b-c  # the model\nunknown: [1]\n"


async def test_escape_asks_nothing_when_nothing_changed(path: Path) -> None:
    before = path.read_bytes()
    async with open_editor(path) as (app, pilot):
        await pilot.press("escape")
        assert app.answers == [None]
    assert path.read_bytes() == before


async def test_escape_asks_once_when_something_changed(path: Path) -> None:
    before = path.read_bytes()
    async with open_editor(path) as (app, pilot):
        await pilot.press("down", "enter", "x", "escape")
        assert app.answers == []
        assert "Unsaved changes" in app.words("keys")
        assert "1 unsaved" in app.words("head")
        await pilot.press("escape")
        assert app.answers == [None]
    assert path.read_bytes() == before


async def test_a_wrong_value_is_named_as_it_is_typed_and_not_saved(path: Path) -> None:
    temperature = next(setting for setting in list_settings() if setting.name == "temperature")
    before = path.read_bytes()
    async with open_editor(path) as (app, pilot):
        field = await go_to(app, pilot, temperature)
        await pilot.press("1")
        assert field.error is None
        await pilot.press("x")
        written = "llm.temperature: expected a number from 0 to 2, not '1x'"
        assert str(field.query_one(".field-error", Static).render()) == written
        await pilot.press("ctrl+s")
        assert app.answers == []
        assert written in app.words("keys")
        await pilot.press("backspace", "ctrl+s")
        assert app.answers[0] is not None
        assert app.answers[0].temperature == 1.0
    assert path.read_bytes() != before


async def test_saving_leads_to_what_is_wrong_from_anywhere(path: Path) -> None:
    output = next(setting for setting in list_settings() if setting.name == "max_output")
    async with open_editor(path) as (app, pilot):
        await go_to(app, pilot, output)
        await pilot.press("x", "ctrl+f", "ctrl+u", *"theme")
        await until(pilot, lambda: app.shown == ["theme"])
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "max_output" in app.shown)
        assert app.field("max_output").query_one(Input).has_focus
        assert app.field("max_output").query_one(Input).value == "2800x"
        assert app.answers == []


async def put(pilot: Pilot[None], field: SettingField) -> None:
    """Give the setting another value than its own, as a person would."""
    setting, box = field.setting, field.box
    if isinstance(box, SettingChoice):
        await pilot.press("right")
        return
    text = "sk-canary-1" if setting.masked else setting.show(other_value(setting))
    if isinstance(box, Input):
        box.value = text
    else:
        assert isinstance(box, TextArea)
        box.text = text
    await pilot.pause()


@pytest.mark.parametrize("part", range(PARTS))
async def test_every_setting_can_be_found_changed_marked_saved_and_reset(part: int, path: Path) -> None:
    values: dict[str, object] = {}
    async with open_editor(path) as (app, pilot):
        for setting in list_settings()[part::PARTS]:
            field = await go_to(app, pilot, setting)
            mark = field.query_one(".field-mark", Static)
            await put(pilot, field)
            assert field.error is None, setting.name
            assert field.value != setting.default, setting.name
            assert "● changed" in str(mark.render()), setting.name
            await pilot.press("f4")
            assert field.value == setting.default, setting.name
            assert str(mark.render()) == "default", setting.name
            await put(pilot, field)
            values[setting.name] = field.value
        await pilot.press("ctrl+s")
        assert app.answers[0] is not None
        saved = Profile.load(path)
        for name, value in values.items():
            assert (getattr(app.answers[0], name), getattr(saved, name)) == (value, value), name


async def test_a_key_is_never_shown_and_kept_unless_replaced(path: Path) -> None:
    key = next(setting for setting in list_settings() if setting.name == "api_key")
    path.write_text("llm.api_key: sk-canary\n")
    async with open_editor(path) as (app, pilot):
        field = await go_to(app, pilot, key)
        await pilot.pause()
        assert "sk-canary" not in app.export_screenshot()
        assert field.query_one(Input).value == ""
        await pilot.press(*"sk-new")
        assert "sk-new" not in app.export_screenshot()
        await pilot.press(*["backspace"] * 6)
        assert field.value == "sk-canary"
        await pilot.press("f4")
        assert field.value is None
        await pilot.press("ctrl+s")
        assert app.answers == [Profile()]
    assert "sk-canary" not in path.read_text()


async def test_searching_shows_settings_of_all_sections(path: Path) -> None:
    async with open_editor(path) as (app, pilot):
        await pilot.press(*"budget")
        await until(pilot, lambda: app.shown == ["max_budget", "cell_cost"])
        await pilot.press("ctrl+u", *"--auto-run")
        await until(pilot, lambda: app.shown == ["auto_run"])
        await pilot.press("ctrl+u", *"zzzz")
        await until(pilot, lambda: app.shown == [])
        await pilot.press("ctrl+u")
        await until(pilot, lambda: len(app.shown) > 3)


async def test_keys_that_are_no_settings_are_reported_and_kept(path: Path) -> None:
    path.write_text('modle: x\n"evil\\e]52;c;AA\\a[/]": 1\n')
    async with open_editor(path) as (app, pilot):
        rows = app.editor.query_one(OptionList)
        rows.highlighted = rows.option_count - 2
        await until(pilot, lambda: app.shown == [])
        written = str(app.editor.query_one("#profile-nothing", Static).render())
        assert "line 1: modle is not a setting" in written
        assert "evil␛]52;c;AA␇[/]" in written
        await pilot.press("escape")
        assert app.answers == [None]


async def test_where_a_value_comes_from_is_reported(path: Path) -> None:
    profile = Profile.load(path).with_changes("flag", model="from-flag")
    async with open_editor(path, profile) as (app, _):
        assert "set by a flag" in str(app.field("model").query_one(".field-mark", Static).render())


@pytest.mark.parametrize("size", [(80, 24), (20, 5), (1, 1)])
async def test_foreign_text_controls_nothing_at_any_size(size: tuple[int, int], path: Path) -> None:
    evil = "x\x1b]52;c;AAAA\x07[/]\u202e"
    profile = Profile(model=evil, custom_instructions=evil + "\n" + evil, unknown=(evil,))
    async with open_editor(path, profile, size) as (app, pilot):
        assert app.field("model").query_one(Input).value == "x␛]52;c;AAAA␇[/]⟨U+202E⟩"
        await pilot.press("tab", "tab", "down", "down", "up", "ctrl+s")
        # What was shown in another way was not changed by that.
        assert app.answers == [None]


async def test_a_profile_that_cannot_be_saved_can_be_used_all_the_same(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "replace", refuse)
    async with open_editor(path) as (app, pilot):
        await pilot.press("down", "enter", "x", "ctrl+s")
        assert app.answers == []
        assert "/config/profiles is on a read-only disk." in app.words("keys")
        await pilot.press("ctrl+s")
        assert app.answers[0] is not None
        assert app.answers[0].model != "a/b"


async def test_a_new_profile_can_be_saved_into(path: Path) -> None:
    path.write_text(write_starter())
    async with open_editor(path) as (app, pilot):
        await pilot.press("down", "enter", "end", "x", "ctrl+s")
        assert app.answers[0] is not None
    assert "\nllm.model: gpt-4ox\n" in path.read_text()


async def chosen(app: Shell, pilot: Pilot[None], entry: str) -> None:
    """Open the menu and choose in it."""
    await pilot.press("f3")
    await until(pilot, lambda: isinstance(app.screen, ProfileMenu))
    rows = app.screen.query_one(OptionList)
    rows.highlighted = rows.get_option_index(entry)
    await pilot.press("enter")
    await until(pilot, lambda: not isinstance(app.screen, ProfileMenu))


async def test_a_key_is_kept_outside_of_the_file(path: Path) -> None:
    key = next(setting for setting in list_settings() if setting.name == "api_key")
    path.write_text("llm.model: openai/x\nllm.api_key: sk-old-canary\nloop: true\n")
    secrets = Secrets(keyring=lambda: None)
    async with open_editor(path, secrets=secrets) as (app, pilot):
        await go_to(app, pilot, key)
        await pilot.press(*"sk-new-canary", "ctrl+s")
        await until(pilot, lambda: bool(app.answers))
        assert app.answers[0] is not None
        assert app.answers[0].api_key == "sk-new-canary"
    assert path.read_text() == "llm.model: openai/x\nloop: true\n"
    assert secrets.key_for("openai/x") == "sk-new-canary"


async def test_a_key_that_cannot_be_kept_is_not_lost(path: Path) -> None:
    key = next(setting for setting in list_settings() if setting.name == "api_key")
    path.write_text("llm.model: openai/x\n")
    secrets = Secrets(path.parent, keyring=lambda: None)
    async with open_editor(path, secrets=secrets) as (app, pilot):
        field = await go_to(app, pilot, key)
        await pilot.press(*"sk-new-canary", "ctrl+s")
        await until(pilot, lambda: "The API key could not be saved" in app.words("keys"))
        assert app.answers == []
        assert field.value == "sk-new-canary"


async def test_a_profile_is_duplicated_renamed_and_made_the_default(path: Path) -> None:
    before = path.read_text()
    async with open_editor(path) as (app, pilot):
        await chosen(app, pilot, "duplicate")
        app.screen.query_one(Input).value = "work"
        await pilot.press("enter")
        await until(pilot, lambda: app.editor.path == paths.profiles() / "work.yaml")
        assert (paths.profiles() / "work.yaml").read_text() == before
        await chosen(app, pilot, "rename")
        app.screen.query_one(Input).value = "../evil"
        await pilot.press("enter")
        await until(pilot, lambda: "Failed: a profile's name is" in app.words("keys"))
        await chosen(app, pilot, "rename")
        app.screen.query_one(Input).value = "home"
        await pilot.press("enter")
        await until(pilot, lambda: app.editor.path == paths.profiles() / "home.yaml")
        await chosen(app, pilot, "make_default")
        assert profiles.find_default_path() == paths.profiles() / "home.yaml"
        assert app.moved == [paths.profiles() / "work.yaml", paths.profiles() / "home.yaml"]
        assert sorted(os.listdir(paths.profiles())) == ["default.yaml", "home.yaml"]


async def test_a_deleted_profile_comes_back(path: Path) -> None:
    work = profiles.duplicate(path, "work")
    before = work.read_text()
    async with open_editor(work) as (app, pilot):
        await chosen(app, pilot, "delete")
        assert not work.exists()
        assert "Deleted; f3 restores it." in app.words("keys")
        await chosen(app, pilot, "restore")
        assert work.read_text() == before
        assert app.editor.path == work


async def test_the_text_of_a_profile_is_edited_and_checked(path: Path) -> None:
    async with open_editor(path) as (app, pilot):
        await chosen(app, pilot, "text")
        area = app.screen.query_one(TextArea)
        assert area.text == path.read_text()
        problem = app.screen.query_one("#profile-text-problem", Static)
        area.text = "llm.model: x\nauto_run: maybe\n"
        await until(pilot, lambda: "line 2: auto_run: expected true or false" in str(problem.render()))
        await pilot.press("ctrl+s")
        assert isinstance(app.screen, ProfileYaml)
        assert "auto_run" not in path.read_text()
        area.text = "# anew\nllm.model: x\n"
        await until(pilot, lambda: "expected" not in str(problem.render()))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bool(app.answers))
        assert app.answers[0] is not None
        assert app.answers[0].model == "x"
    assert path.read_text() == "# anew\nllm.model: x\n"


async def test_leaving_the_text_throws_changes_away_only_the_second_time(path: Path) -> None:
    before = path.read_bytes()
    async with open_editor(path) as (app, pilot):
        await chosen(app, pilot, "text")
        await pilot.press("x", "escape")
        assert isinstance(app.screen, ProfileYaml)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.editor)
        assert app.answers == []
    assert path.read_bytes() == before


async def test_all_is_set_back_after_a_question(path: Path) -> None:
    async with open_editor(path) as (app, pilot):
        await chosen(app, pilot, "reset_all")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("n")
        assert app.field("model").value == "a/b"
        app.editor.reset_all()
        await pilot.pause()
        assert app.field("model").value == "gpt-4o"
        await pilot.press("ctrl+s")
        assert app.answers == [Profile()]
    assert path.read_text() == "# mine\nllm:\nunknown: [1]\n"


async def test_what_differs_from_the_defaults_is_listed_without_keys(path: Path) -> None:
    path.write_text("llm.model: '[/]x'\nllm.api_key: sk-canary\n")
    async with open_editor(path) as (app, pilot):
        await chosen(app, pilot, "differences")
        written = str(app.screen.query_one(Static).render())
        assert "llm.model: [/]x   (default: gpt-4o)" in written
        assert "canary" not in app.export_screenshot()


async def test_the_model_is_chosen_from_a_list(path: Path) -> None:
    async with open_editor(path) as (app, pilot):
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(app.screen, ModelsScreen))
        app.screen.dismiss(ModelChoice("openai/mine", "http://127.0.0.1:1/v1"))
        await until(pilot, lambda: app.field("model").value == "openai/mine")
        assert app.field("api_base").value == "http://127.0.0.1:1/v1"
        assert "2 unsaved" in app.words("head")


async def test_a_setting_without_effect_says_so_in_its_help(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speech, "find_voice", lambda: None)
    async with open_editor(path) as (app, pilot):
        await pilot.press(*"speak_messages")
        await until(pilot, lambda: app.field("speak_messages").display)
        written = str(app.field("speak_messages").query_one(".field-help", Static).render())
        assert "It has no effect: no speech program found" in written


async def test_every_wrong_value_is_named_as_it_is_typed(path: Path) -> None:
    async with open_editor(path) as (app, pilot):
        tried = 0
        for setting in list_settings():
            field = app.field(setting.name)
            if isinstance(field.box, SettingChoice):
                continue
            for text in wrong_texts(setting):
                if isinstance(field.box, Input):
                    field.box.value = text
                else:
                    field.box.text = text
                await until(pilot, lambda field=field: field.error is not None)  # type: ignore[misc]
                assert (field.error or "").startswith(f"{setting.key}: expected ")
                tried += 1
            field.reset()
        assert tried > 20
        assert app.answers == []


async def test_a_further_key_in_a_field_lays_out_only_what_changes(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    updated: list[str] = []
    replaced: list[int] = []
    update, replace = Static.update, OptionList.replace_option_prompt_at_index

    def note_update(static: Static, *arguments: object, **options: object) -> None:
        updated.append(str(arguments[0]))
        update(static, *arguments, **options)  # type: ignore[arg-type]

    def note_replaced(rows: OptionList, index: int, prompt: str) -> OptionList:
        replaced.append(index)
        return replace(rows, index, prompt)

    async with open_editor(path) as (app, pilot):
        app.field("model").box.focus()
        await pilot.press("end", "x")
        await until(pilot, lambda: app.field("model").value == "a/bx")
        monkeypatch.setattr(Static, "update", note_update)
        monkeypatch.setattr(OptionList, "replace_option_prompt_at_index", note_replaced)
        await pilot.press("y")
        await until(pilot, lambda: app.field("model").value == "a/bxy")
        assert (updated, replaced) == ([], [])
        app.field("model").reset()
        await until(pilot, lambda: "unsaved" in app.words("head") and "default" in updated)
        assert len(replaced) <= 1


async def test_what_is_typed_is_seen_however_the_field_was_reached(path: Path) -> None:
    async with open_editor(path, size=(80, 16)) as (app, pilot):
        fields = app.editor.query_one("#profile-fields")

        def in_sight() -> bool:
            field = app.focused.parent if app.focused else None
            return isinstance(field, SettingField) and fields.region.contains_region(field.region)

        for character in "temp":
            app.post_message(events.Key(character, character))
        app.post_message(events.Key("enter", "\r"))
        await until(pilot, lambda: app.focused is app.field("temperature").box and in_sight())
        await pilot.press(*"hot")
        await until(pilot, lambda: app.field("temperature").error and in_sight())
        await pilot.press("ctrl+f")
        app.editor.query_one("#profile-search", Input).value = "theme"
        await until(pilot, lambda: not app.field("temperature").display)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.focused is app.field("temperature").box and in_sight())
        for key in ("down", "down", "down", "up"):
            await pilot.press(key)
            await until(pilot, in_sight)


async def test_beside_the_fields_what_is_typed_is_searched_and_tab_goes_to_what_is_found(path: Path) -> None:
    async with open_editor(path) as (app, pilot):
        await pilot.press("tab")
        assert isinstance(app.focused, OptionList)
        await pilot.press(*"temperature", "tab")
        await until(pilot, lambda: app.focused is app.field("temperature").box)
        assert app.editor.query_one("#profile-search", Input).value == "temperature"


async def test_settings_have_titles_and_their_keys_beside_them(path: Path) -> None:
    titles = [setting.human_title for setting in list_settings()]
    assert len(set(titles)) == len(titles)
    assert not [title for title in titles if "_" in title or "." in title or len(title) > 30]
    async with open_editor(path) as (app, _):
        field = app.field("api_base")
        assert str(field.query_one(".field-name", Static).render()) == "Server address"
        assert str(field.query_one(".field-key", Static).render()) == "llm.api_base"


async def test_no_setting_is_drawn_before_its_title(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    incomplete: set[str] = set()
    draw = ProfileEditor._compositor_refresh

    def record(editor: ProfileEditor) -> None:
        for field in editor.query(SettingField).results():
            summaries, titles = field.query(".field-short"), field.query(".field-name")
            if (
                not editor.app._batch_count
                and any(summary.size.width for summary in summaries)
                and not any(title.size.width for title in titles)
            ):
                incomplete.add(field.setting.name)
        draw(editor)

    monkeypatch.setattr(ProfileEditor, "_compositor_refresh", record)
    async with open_editor(path) as (app, pilot):
        await pilot.press("tab", "down")
        await until(pilot, lambda: "context_window" in app.shown)
        assert incomplete == set()


@pytest.mark.parametrize(("origin", "state"), [("profile", "saved"), ("flag", "set")])
async def test_only_an_api_key_of_the_profile_is_called_saved(
    origin: Literal["profile", "flag"], state: str, path: Path
) -> None:
    profile = Profile().with_changes(origin, api_key="sk-canary-12345678")
    async with open_editor(path, profile) as (app, _):
        placeholder = app.field("api_key").query_one(Input).placeholder
        assert placeholder == f"••••••••  {state}; type to replace it"


async def test_a_setting_is_found_by_its_title(path: Path) -> None:
    async with open_editor(path) as (app, pilot):
        await pilot.press(*"key bindings")
        await until(pilot, lambda: "keys" in app.shown and "model" not in app.shown)


async def test_help_takes_one_line_and_all_it_needs_once_the_keyboard_is_there(path: Path) -> None:
    async with open_editor(path, size=(80, 24)) as (app, pilot):
        field = app.field("model")
        short, whole = field.query_one(".field-short", Static), field.query_one(".field-help", Static)
        assert (short.size.height, whole.display) == (1, False)
        await pilot.press("down", "enter")
        await until(pilot, lambda: whole.size.height > 1 and not short.display)
        await pilot.press("down")
        await until(pilot, lambda: short.display and not whole.display)


async def test_a_key_shows_only_what_was_changed(path: Path) -> None:
    async with open_editor(path) as (app, pilot):
        await pilot.press(*"theme")
        await pilot.press("f7")
        await until(pilot, lambda: app.shown == ["model"])
        await pilot.press("enter", "end", "x", "f7")
        await until(pilot, lambda: len(app.shown) > 3)
        assert app.field("model").value == "a/bx"


async def test_nothing_changed_is_reported(path: Path) -> None:
    path.write_text("")
    async with open_editor(path) as (app, pilot):
        await pilot.press("f7")
        await until(pilot, lambda: app.shown == [])
        assert "No setting differs" in app.words("nothing")


async def test_an_arrow_in_a_field_that_was_just_hidden_goes_to_the_search(path: Path) -> None:
    async with open_editor(path) as (app, pilot):
        await pilot.press("down", "enter")
        box = app.field("model").query_one(Input)
        assert box.has_focus
        app.field("model").display = False
        # Before the next frame, in which Textual takes the focus away.
        app.editor.on_key(Key("down", None))
        await until(pilot, lambda: app.editor.query_one("#profile-search").has_focus)


async def test_a_long_section_leaves_as_many_columns_for_the_text_as_a_short_one() -> None:
    async with open_editor(None, size=(100, 40)) as (app, pilot):
        fields = app.editor.query_one(SettingFields)
        seen = {}
        app.editor.query_one(OptionList).focus()
        for _ in fields.sections:
            await pilot.pause()
            seen[fields.show_vertical_scrollbar] = fields.scrollable_content_region.width
            await pilot.press("down")
        assert set(seen) == {True, False}
        assert seen[True] == seen[False]
