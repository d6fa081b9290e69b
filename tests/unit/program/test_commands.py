"""What is typed after % reaches the right command, or is answered with the nearest."""

import pytest

from oi_tui import commands, paths
from oi_tui.commands import COMMANDS, CommandError, carry_out, find_commands, is_command, recent
from oi_tui.commands.groups import GROUPS, group_commands
from oi_tui.screens import palette

SUBJECTS = {name for name, kept in vars(commands.CommandActions).items() if isinstance(kept, property)}


class Subject:
    """Notes what a part of the actions is told."""

    def __init__(self, name: str, calls: list[tuple[str, tuple[object, ...]]]) -> None:
        self._name = name
        self._calls = calls

    def is_language(self, name: str) -> bool:
        return name.lower() == "python"

    def __getattr__(self, name: str):
        return lambda *arguments, **_: self._calls.append((f"{self._name}.{name}", arguments))


class Actions:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[object, ...]]] = []

    def __getattr__(self, name: str):
        if name in SUBJECTS:
            return Subject(name, self.calls)
        return lambda *arguments, **_: self.calls.append((name, arguments))


@pytest.mark.parametrize(
    ("typed", "call"),
    [
        ("%help", ("screens.open_help", ())),
        ("/help", ("screens.open_help", ())),
        ("%HELP", ("screens.open_help", ())),
        ("%auto_run", ("switch_auto_run", (None,))),
        ("%auto_run on", ("switch_auto_run", (True,))),
        ("%auto_run off", ("switch_auto_run", (False,))),
        ("%sandbox", ("sandbox.switch", (None,))),
        ("%target", ("target.switch", ("",))),
        ("%target command:sudo -u build", ("target.switch", ("command:sudo -u build",))),
        ("%detach", ("target.detach", ("",))),
        ("%detach ssh:gpu1", ("target.detach", ("ssh:gpu1",))),
        ("%attach 2", ("target.attach", ("2",))),
        ("%on ssh:gpu1", ("target.run_on", ("ssh:gpu1", "", ""))),
        ("%on ssh:gpu1 shell nvidia-smi -L", ("target.run_on", ("ssh:gpu1", "shell", "nvidia-smi -L"))),
        (
            '%on "command:sudo -u build" python x = 1',
            ("target.run_on", ("command:sudo -u build", "python", "x = 1")),
        ),
        ("%os", ("switch_os_mode", (None,))),
        ("%os on", ("switch_os_mode", (True,))),
        ("%sandbox off", ("sandbox.switch", (False,))),
        ("%sandbox allow  Example.com ", ("sandbox.allow", ("Example.com",))),
        ("%sandbox allow", ("sandbox.allow", ("",))),
        ("%offer", ("turn.run_blocks", ())),
        ("%model  openai/x ", ("screens.open_models", ("openai/x",))),
        ("%run python print(1)", ("languages.run", ("python", "print(1)"))),
        ("%% ls -l", ("languages.run", ("shell", "ls -l"))),
        ("!ls -l", ("languages.run", ("shell", "ls -l"))),
        ("! ls -l", ("languages.run", ("shell", "ls -l"))),
        ("%python print(1)", ("languages.run", ("python", "print(1)"))),
        ("%Python\nprint(1)", ("languages.run", ("Python", "print(1)"))),
        ("%python\tprint(1)", ("languages.run", ("python", "print(1)"))),
        ("%run python\nprint(1 + 2)", ("languages.run", ("python", "print(1 + 2)"))),
        ("%run   python   print(1)", ("languages.run", ("python", "print(1)"))),
        ("%auto-run\ton ", ("switch_auto_run", (True,))),
        ("/Help", ("screens.open_help", ())),
        ("%tokens", ("report_tokens", ("",))),
        ("%tokens how many are these?", ("report_tokens", ("how many are these?",))),
        ("%export Markdown\t a b.md ", ("documents.export", ("Markdown", "a b.md"))),
        ("%export a.html", ("documents.export", ("a.html", ""))),
        ("%rewind [2]", ("going_back.rewind", (2,))),
        ("%restore 3", ("files.restore", ("3",))),
    ],
)
def test_a_command_acts(typed: str, call: tuple[str, tuple[object, ...]]) -> None:
    actions = Actions()
    carry_out(typed, actions)
    assert actions.calls == [call]


@pytest.mark.parametrize(
    "typed",
    [
        "%hlep",
        "/hlep",
        "%",
        "/",
        "%%",
        "%% ",
        "! ",
        "%auto_run maybe",
        "%auto_run on off",
        "%run python",
        "%run",
        "%python",
        "%new one",
        "%help me",
        "%rewind 1 2",
        "%rewind ٣",
        "%\uff48elp",
        "interpreter --local",
        "oi-tui -y",
    ],
)
def test_a_mistake_is_answered_and_does_nothing(typed: str) -> None:
    actions = Actions()
    assert is_command(typed)
    with pytest.raises(CommandError):
        carry_out(typed, actions)
    assert actions.calls == []


@pytest.mark.parametrize("word", commands._ELSEWHERE)
def test_what_other_programs_call_a_command_is_answered_with_its_name_here(word: str) -> None:
    assert word not in COMMANDS
    assert is_command(f"/{word}")
    with pytest.raises(CommandError, match=rf"Did you mean %{commands._ELSEWHERE[word]}\?"):
        carry_out(f"/{word}", Actions())
    assert commands._ELSEWHERE[word] in COMMANDS


def test_a_mistyped_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(CommandError, match="%help"):
        carry_out("%hlep", Actions())


@pytest.mark.parametrize(
    "text",
    [
        "%help",
        "%nonsense",
        "/help",
        "%% ls",
        "%%",
        "!ls",
        "%python 1",
        "/HELP",
        "/hlep",
        "%",
        "/",
        "oi-tui",
        "pip install -U open-interpreter",
    ],
)
def test_these_are_for_the_application(text: str) -> None:
    assert is_command(text)


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        "/etc/hosts",
        "/tmp is full",
        "/hlep me with this",
        "/usr",
        "/what",
        "% of what?",
        "50% more",
        "",
        "!",
        "!!",
        "interpreter of dreams",
        "oi-tui is slow",
    ],
)
def test_these_are_for_the_model(text: str) -> None:
    assert not is_command(text)


def test_names_complete_by_their_beginning() -> None:
    assert [item.name for item in find_commands("%auto")] == ["auto_run"]
    assert len(find_commands("%")) == len(COMMANDS)


def test_every_summary_fits_into_a_row_of_the_palette() -> None:
    room = palette.MOST_COLUMNS - palette.AROUND - palette.NAME - palette.KEY
    assert [item.name for item in COMMANDS.values() if len(item.summary) > room] == []


def test_every_key_belongs_to_one_command() -> None:
    keys = [command.keys for command in COMMANDS.values() if command.keys]
    assert len(keys) == len(set(keys))


def test_every_command_names_something_that_both_interfaces_can_do() -> None:
    from oi_tui.plain.commands import PlainCommands
    from oi_tui.screens.chat.commands.chat import ChatCommands

    wanted = {name for name in vars(commands.CommandActions) if not name.startswith("_")} - SUBJECTS
    assert wanted <= set(dir(ChatCommands))
    assert wanted <= set(dir(PlainCommands))


def test_every_command_of_ours_stands_in_one_group() -> None:
    listed = [name for names in GROUPS.values() for name in names]
    assert sorted(listed) == sorted(set(listed))
    ours = {name for name, item in COMMANDS.items() if item.act.__module__ == "oi_tui.commands.builtin"}
    same_as = {"reset", "skill"}
    assert ours - set(listed) <= same_as
    assert set(listed) <= set(COMMANDS)
    assert sum(map(len, group_commands().values())) == len(COMMANDS)


@pytest.mark.parametrize("content", ["", "{", "7", '["no such", 3, "info", "info"]'])
def test_a_damaged_list_of_recent_commands_is_read_as_far_as_it_goes(content: str) -> None:
    paths.make_private(paths.state())
    (paths.state() / "recent_commands.json").write_text(content)
    assert [item.name for item in recent.load()] == ["info"] * ("info" in content)
    recent.add(COMMANDS["new"])
    assert recent.load()[0].name == "new"
