"""Settings and the YAML files in which they stand."""

import math
import os
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from textual.theme import BUILTIN_THEMES

from oi_tui import themes
from oi_tui.engine.settings import profile, templates, yaml_file
from oi_tui.engine.settings.application import THEMES
from oi_tui.engine.settings.profile import Profile, ProfileError, list_settings, save
from oi_tui.engine.settings.setting import Setting
from tests.setting_values import other_value, wrong_yaml

BY_NAME = {item.name: item for item in list_settings()}
ALL = pytest.mark.parametrize("setting", list_settings(), ids=lambda item: item.name)


def loaded(tmp_path: Path, text: str) -> Profile:
    path = tmp_path / "p.yaml"
    path.write_text(text)
    return Profile.load(path)


@ALL
def test_a_setting_is_read_from_its_key_nested_or_dotted(setting: Setting, tmp_path: Path) -> None:
    value = other_value(setting)
    group, _, name = setting.key.rpartition(".")
    written = list(value) if isinstance(value, tuple) else value
    nested = yaml.safe_dump({group: {name: written}} if group else {name: written})
    assert getattr(loaded(tmp_path, nested), setting.name) == value
    assert getattr(loaded(tmp_path, yaml.safe_dump({setting.key: written})), setting.name) == value


@ALL
def test_a_wrong_value_is_named_with_file_line_and_key(setting: Setting, tmp_path: Path) -> None:
    for text in wrong_yaml(setting):
        with pytest.raises(ProfileError) as caught:
            loaded(tmp_path, f"# mine\n\n{setting.key}: {text}\n")
        assert str(caught.value).startswith(f"{tmp_path / 'p.yaml'}, line 3: {setting.key}: expected ")


@ALL
def test_a_key_without_a_value_leaves_the_default(setting: Setting, tmp_path: Path) -> None:
    found = loaded(tmp_path, f"{setting.key}:\n")
    assert getattr(found, setting.name) == setting.default
    assert setting.name not in found.origins


@ALL
def test_what_is_shown_reads_back_as_the_same_value(setting: Setting) -> None:
    value = setting.check(other_value(setting))
    if not setting.masked:
        assert setting.parse(setting.show(value)) == value


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("languages", "python,shell", ("python", "shell")),
        ("languages", "python, shell;sql\n", ("python", "shell", "sql")),
        ("sandbox_hosts", "*.example.com, 127.0.0.1:8000", ("*.example.com", "127.0.0.1:8000")),
        ("pass_environment", "DATABASE_URL,AWS_*", ("DATABASE_URL", "AWS_*")),
        ("sandbox_writable", ".envrc; a,b", (".envrc", "a,b")),
    ],
)
def test_typed_lists_of_words_may_be_separated_by_commas(
    name: str, text: str, value: tuple[str, ...]
) -> None:
    """`--languages python,shell` was one unknown name, which allowed nothing."""
    (setting,) = (item for item in list_settings() if item.name == name)
    assert setting.parse(text) == value


@ALL
def test_a_saved_value_is_read_back_and_the_default_takes_it_out(setting: Setting, tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(templates.write_starter())
    value = setting.check(other_value(setting))
    save(path, {setting.name: value})
    assert getattr(Profile.load(path), setting.name) == value
    save(path, {setting.name: setting.default})
    assert path.read_text() == templates.write_starter()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("auto_run: 'false'", "line 1: auto_run: expected true or false, not 'false'"),
        ("llm:\n  temperature: hot", "line 2: llm.temperature: expected a number from 0 to 2, not 'hot'"),
        ("max_output: 5", "line 1: max_output: expected a whole number of at least 100, not 5"),
        ("llm.api_base: localhost:11434", "line 1: llm.api_base: expected an address that begins with"),
        ("code_output_sender: me", "line 1: code_output_sender: expected one of user, assistant, not 'me'"),
        ("theme: oi-drak", "did you mean oi-dark?"),
        ("user_message_template: hello", "expected text with {content} in it"),
        ("llm.model: {name: x}", "line 1: llm.model: expected text, not a group of settings"),
        ("llm.model: ''", "line 1: llm.model: expected text, but it is empty"),
        ("a: 1\nllm.model: x\nllm:\n  model: y", "line 4: llm.model: given twice (also in line 2)"),
        ("llm:\n\tmodel: 2", "line 2: not readable as YAML: a tab where YAML needs spaces"),
        ("- x", "line 1: expected settings such as"),
        ("a: b: c", "line 1: not readable as YAML"),
        ("x: !!python/object/apply:os.system ['touch canary']", "line 1: the tag "),
        ("x: !!python/name:os.system", "line 1: the tag "),
        ("a: \x00", "line 1: not readable as YAML"),
        ("---\na: 1\n---\nb: 2", "line 3: not readable as YAML"),
    ],
)
def test_errors_say_where_and_what(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ProfileError) as caught:
        loaded(tmp_path, text)
    assert message in str(caught.value)
    assert not (tmp_path / "canary").exists()


HOSTILE = {
    "alias bomb": "a0: &a0 [x]\n"
    + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 11)),
    "10 MB": "a: " + "x" * 10_000_000,
    "deep flow": "a: " + "[" * 10_000,
    "deep block": "".join(" " * i + "a:\n" for i in range(3_000)),
    "many keys": "".join(f"k{i}: {i}\n" for i in range(60_000)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_end_in_an_error_and_hold_nothing_up(name: str, tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(HOSTILE[name])
    start = time.monotonic()
    with pytest.raises(ProfileError):
        Profile.load(path)
    assert time.monotonic() - start < 15


def test_latin_1_is_named_and_a_byte_order_mark_is_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_bytes(b"# ok\nllm.model: caf\xe9\n")
    with pytest.raises(ProfileError, match=r"line 2: not UTF-8 text \(byte 0xe9\)"):
        Profile.load(path)
    path.write_bytes(b"\xef\xbb\xbfllm.model: x\n")
    assert Profile.load(path).model == "x"
    save(path, {"model": "yé", "loop": True})
    assert path.read_bytes() == "\ufeffllm.model: yé\nloop: true\n".encode()


def test_pipes_and_folders_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ProfileError, match="not a regular file"):
        Profile.load(tmp_path / "pipe")
    with pytest.raises(ProfileError, match="not a regular file"):
        Profile.load(tmp_path)


def test_unknown_keys_are_named_with_the_one_that_is_meant(tmp_path: Path) -> None:
    found = loaded(tmp_path, "thme: nord\nllm:\n  modle: x\ncomputer.display: [a]\n")
    assert found == Profile()
    assert found.unknown == (
        "line 1: thme is not a setting; did you mean theme?",
        "line 3: llm.modle is not a setting; did you mean llm.model?",
        "line 4: computer.display is a setting of Open Interpreter that has no effect in oi-tui",
    )


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("ofline", "offline"),
        ("Offline", "offline"),
        ("llm.offline", "offline"),
        ("max_budgett", "llm.max_budget"),
        ("llm.max-budget", "llm.max_budget"),
        ("safe-mode", "safe_mode"),
        ("safemode", "safe_mode"),
        ("autorun", "auto_run"),
        ("sandboxed", "sandbox"),
        ("language", "computer.languages"),
        ("computer.langauges", "computer.languages"),
        ("interpreter.safe_mode", "safe_mode"),
    ],
)
def test_a_misspelt_limit_is_refused_with_the_one_that_is_meant(key: str, meant: str, tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match=rf"line 2: {key}: is not a setting; did you mean {meant}\?"):
        loaded(tmp_path, f"theme: nord\n{key}: 1\n")


@pytest.mark.parametrize(
    "key",
    ["confirm", "require_approval", "computer.allowed_commands", "network", "readOnly", "permissions.shell"],
)
def test_an_unknown_key_that_may_be_a_limit_is_refused(key: str, tmp_path: Path) -> None:
    words = rf"line 2: {key}: is not a setting, but may be meant as a limit.* does not start"
    with pytest.raises(ProfileError, match=words):
        loaded(tmp_path, f"auto_run: true\n{key}: true\n")


def test_a_limit_in_a_merge_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="is in a merge"):
        loaded(tmp_path, "<<: {offline: true}\n")


def test_no_languages_at_all_are_refused_instead_of_all(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match=r"line 1: computer\.languages: is empty"):
        loaded(tmp_path, "computer.languages: []\n")


def test_false_leaves_the_execution_instructions_out(tmp_path: Path) -> None:
    assert loaded(tmp_path, "llm.execution_instructions: False\n").execution_instructions == ""


def test_a_setting_that_is_saved_replaces_its_older_key(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text("max_budget: 1\nmodel: x\n")
    save(path, {"max_budget": 2.0})
    assert path.read_text() == "model: x\nllm.max_budget: 2.0\n"


MINE = """\
# mine, é
llm:   # the group
  model: "gpt-4"   # the model
  extra: {a: 1}
  temperature: 0.5

custom_instructions: |
  hello
  there

# tail
other: [1,   2]
max_output:    3000   # roomy"""


def test_only_the_changed_characters_of_a_file_change(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(MINE)
    save(path, {"temperature": 1.5})
    assert path.read_text() == MINE.replace("0.5", "1.5")
    save(path, {"temperature": None, "max_output": 2800, "api_key": "k"})
    assert path.read_text() == MINE.replace("  temperature: 0.5\n", "  api_key: k\n").replace(
        "max_output:    3000   # roomy", ""
    )


@pytest.mark.parametrize(
    "text", ["llm: {model: x, temperature: 1}  # c\n# d\nz: 1\n", "{}\n", "", "# only\n"]
)
def test_files_written_in_other_ways_can_be_changed_too(text: str, tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(text)
    save(path, {"model": "y", "auto_run": True})
    found = Profile.load(path)
    assert (found.model, found.auto_run) == ("y", True)
    assert all(line in path.read_text() for line in text.split("\n") if line.startswith("#"))


def test_a_file_that_is_wrong_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text("a: 1\na: 2\n")
    with pytest.raises(ProfileError):
        save(path, {"model": "x"})
    assert path.read_text() == "a: 1\na: 2\n"
    assert os.listdir(tmp_path) == ["p.yaml"]


def test_a_profile_is_written_for_its_owner_only_and_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "dots").mkdir()
    target, link = tmp_path / "dots" / "oi.yaml", tmp_path / "p.yaml"
    target.write_text("loop: true\n")
    link.symlink_to(target)
    save(link, {"model": "x"})
    assert link.is_symlink()
    assert target.read_text() == "loop: true\nllm.model: x\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p.yaml"
    path.write_text("loop: true\n")

    def broken(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(yaml_file.os, "fsync", broken)
    with pytest.raises(OSError, match="No space"):
        save(path, {"model": "x"})
    assert path.read_text() == "loop: true\n"
    assert os.listdir(tmp_path) == ["p.yaml"]


def test_programs_that_write_different_settings_at_once_keep_those_of_each_other(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(MINE)
    changes: list[dict[str, profile.Value]] = [
        {"model": "y"},
        {"auto_run": True},
        {"max_output": 2500},
        {"temperature": 0.7},
        {"max_budget": 3.0},
        {"offline": True},
        {"safe_mode": "ask"},
        {"context_window": 9000},
    ]
    with ThreadPoolExecutor(len(changes)) as pool:
        list(pool.map(lambda change: save(path, change), changes))
    saved = Profile.load(path)
    assert {name: getattr(saved, name) for change in changes for name in change} == {
        name: value for change in changes for name, value in change.items()
    }
    assert os.listdir(tmp_path) == ["p.yaml"]


def test_a_new_profile_explains_every_setting_and_sets_none(tmp_path: Path) -> None:
    text = templates.write_starter()
    assert loaded(tmp_path, text) == Profile()
    assert all(f"\n#{item.key}:" in text for item in list_settings())
    uncommented = "\n".join(
        line[1:] if line[:1] == "#" and line[1:2].isalpha() and not line.endswith("...") else line
        for line in text.split("\n")
    )
    assert loaded(tmp_path, uncommented) == Profile()


def test_the_environment_wins_over_the_file_and_a_flag_over_both(tmp_path: Path) -> None:
    found = loaded(tmp_path, "llm.model: a\nloop: true\n")
    found = found.with_environment({"OI_TUI_MODEL": "b", "OI_TUI_API_KEY": "sk-canary"})
    found = found.with_changes("flag", api_version="1")
    assert (found.model, found.api_key, found.loop, found.api_version) == ("b", "sk-canary", True, "1")
    reported = {key: (value, origin) for key, value, origin in profile.explain(found)}
    assert reported["llm.model"] == ("b", "environment")
    assert reported["loop"] == ("true", "profile")
    assert reported["llm.api_version"] == ("1", "flag")
    assert reported["llm.timeout"] == ("120", "default")
    assert reported["llm.api_key"] == ("••••••••", "environment")
    with pytest.raises(
        ProfileError, match=r"environment variable OI_TUI_API_BASE: llm\.api_base: expected an ad"
    ):
        found.with_environment({"OI_TUI_API_BASE": "nowhere"})


def test_a_key_is_in_no_representation_and_in_no_error() -> None:
    secret = Profile(api_key="sk-canary")
    assert "sk-canary" not in repr(secret) + str(profile.explain(secret))
    with pytest.raises(ProfileError) as caught:
        BY_NAME["api_key"].check("sk-canary\0")
    assert "sk-canary" not in str(caught.value)


def test_numbers_that_are_none_are_refused() -> None:
    for value in (math.nan, math.inf, -1, 10**400):
        with pytest.raises(ProfileError):
            BY_NAME["temperature"].check(value)


def test_every_theme_to_choose_from_exists() -> None:
    ours = {theme.name for theme in themes.THEMES}
    assert set(THEMES) == ours | set(BUILTIN_THEMES)


def test_every_setting_has_its_own_key_flags_and_a_sentence_of_help() -> None:
    flags = [flag for item in list_settings() for flag in (item.long_flag, *item.flags, *item.off_flags)]
    assert len(flags) == len(set(flags))
    assert len({item.key for item in list_settings()}) == len(list_settings())
    for item in list_settings():
        assert item.help[0].isupper()
        assert item.help.endswith(".")
        assert item.help.isascii()
