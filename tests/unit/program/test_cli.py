"""The command line, up to the moment when the application takes over."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import oi_tui
from oi_tui import __version__, paths, profiles, start
from oi_tui.cli import main
from oi_tui.engine.settings.profile import Profile, list_settings
from oi_tui.engine.settings.setting import Setting
from oi_tui.engine.storage.store import Store
from oi_tui.messages import Message
from oi_tui.workspace import Workspace
from tests.setting_values import other_value, wrong_texts

BOOLEANS = [item for item in list_settings() if item.kind is bool]
OTHERS = [item for item in list_settings() if item.kind is not bool]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Profile, dict[str, Any]]]:
    """What the application was started with; it is not started itself."""
    calls: list[tuple[Profile, dict[str, Any]]] = []

    def run(profile: Profile, **named: Any) -> int:
        calls.append((profile, named))
        return 7

    application = type(sys)("oi_tui.app")
    application.run = run  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "oi_tui.app", application)
    monkeypatch.setattr(main, "_has_screen", lambda: True)
    monkeypatch.setattr(main, "_loading_model_process", contextlib.nullcontext)
    return calls


def read_refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line with which the command line is refused."""
    assert main.main(arguments) == main.USAGE
    words = capsys.readouterr()
    assert words.out == ""
    assert words.err.count("\n") == 1
    return words.err.removeprefix("oi-tui: ").removesuffix("\n")


def text_for(setting: Setting) -> str:
    return setting.show(other_value(setting)).replace("\n", "; ")


@pytest.mark.parametrize("setting", OTHERS, ids=lambda item: item.name)
def test_every_flag_in_every_spelling_sets_its_setting(setting: Setting, started: list[Any]) -> None:
    text = text_for(setting) if not setting.masked else "sk-1"
    flags = [setting.long_flag, setting.long_flag.replace("-", "_").replace("__", "--", 1), *setting.flags]
    for flag in flags:
        assert main.main([flag, text]) == 7
        assert main.main([f"{flag}={text}"] if flag.startswith("--") else [flag, text]) == 7
    for profile, _ in started:
        assert getattr(profile, setting.name) == setting.parse(text)
        assert profile.origins[setting.name] == "flag"


@pytest.mark.parametrize("setting", OTHERS, ids=lambda item: item.name)
def test_every_flag_names_a_wrong_value(
    setting: Setting, started: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    for text in wrong_texts(setting):
        assert read_refusal(capsys, f"{setting.long_flag}={text}").startswith(f"{setting.key}: expected ")
    assert started == []


@pytest.mark.parametrize("setting", BOOLEANS, ids=lambda item: item.name)
def test_every_switch_can_be_set_and_taken_back(setting: Setting, started: list[Any]) -> None:
    ons = [setting.long_flag, *setting.flags]
    offs = ["--no-" + setting.long_flag[2:], *setting.off_flags]
    for flag in ons + offs:
        assert main.main([flag.replace("-", "_").replace("__", "--", 1) if flag[:2] == "--" else flag]) == 7
    assert [getattr(profile, setting.name) for profile, _ in started] == [True] * len(ons) + [False] * len(
        offs
    )


@pytest.mark.parametrize("setting", BOOLEANS, ids=lambda item: item.name)
def test_every_switch_names_a_wrong_value(
    setting: Setting, started: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    for text in ("maybe", "", "2", "truely"):
        assert read_refusal(capsys, f"{setting.long_flag}={text}").startswith(f"{setting.key}: expected ")
    assert started == []


def test_the_originals_short_forms_work_together(started: list[Any]) -> None:
    line = "-m a/b -t 0 -cw 9000 -x 100 -xo 500 -b 1.5 -ab http://x/v1 -av 2 -ci be -sm sys -y -nhl -lsv"
    assert main.main([*line.split(), "--no-llm_supports_functions"]) == 7
    ((profile, _),) = started
    assert (profile.model, profile.temperature, profile.context_window, profile.max_tokens) == (
        "a/b",
        0,
        9000,
        100,
    )
    assert (profile.max_output, profile.max_budget, profile.api_base) == (500, 1.5, "http://x/v1")
    assert (profile.custom_instructions, profile.system_message, profile.auto_run) == ("be", "sys", True)
    assert (profile.highlight_active_line, profile.supports_vision, profile.supports_functions) == (
        False,
        True,
        False,
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--modle", "x"], "unknown flag --modle; did you mean --model?"),
        (["--auto_rum"], "unknown flag --auto_rum; did you mean --auto-run?"),
        (["--zzz=1"], "unknown flag --zzz; oi-tui --help lists all flags"),
        (["-t", "hot"], "llm.temperature: expected a number from 0 to 2, not 'hot'"),
        (["-t", "-1"], "llm.temperature: expected a number from 0 to 2, not -1"),
        (["-ab", "nowhere"], "llm.api_base: expected an address that begins with"),
        (["-ab"], "-ab needs a value for llm.api_base; "),
        (["-s"], "-s needs a value for system_message; "),
        (["-s", "-y"], "as -s did in Open Interpreter, use --stdin"),
        (["-y", "-sm"], "-sm needs a value for system_message; "),
        (["-sandbox"], "unknown flag -sandbox; did you mean --sandbox?"),
        (["-offline"], "unknown flag -offline; did you mean --offline?"),
        (["-max_budget", "5"], "unknown flag -max_budget; did you mean --max-budget?"),
        (["-safe_mode", "ask"], "unknown flag -safe_mode; did you mean --safe-mode?"),
        (["-model", "x"], "unknown flag -model; did you mean --model?"),
        (["-mgpt-4o"], "unknown flag -mgpt-4o; "),
        (["-y=maybe"], "auto_run: expected true or false, not 'maybe'"),
        (["--demo", "-m", "x"], "--demo and --model cannot be used together"),
        (["--resume"], "no conversation to resume yet"),
        (["--resume", "../x"], "No conversation '../x'"),
        (["-p", "nope"], "there is no profile 'nope' in "),
        (["-p", "./nope.yaml"], "there is no profile ./nope.yaml"),
        (["-p", "http://127.0.0.1:1/x.yaml"], "http://127.0.0.1:1/x.yaml: cannot be fetched: "),
        (["-p", "http://127.0.0.1:1/x.py"], "programs from the network are not run"),
        (["-p", "ftp://127.0.0.1/x.yaml"], "only http and https addresses are fetched"),
        (["-o", "-p", "http://127.0.0.1:1/x.yaml"], "offline is on, so the profile "),
        (["-p", "evil.py"], "there is no profile 'evil.py'"),
        (["-p", "anthropc"], "did you mean anthropic?"),
        (["--model", "\x1b]0;x\x07", "--\x1b[2J"], "unknown flag --␛[2J; "),
    ],
)
def test_what_is_wrong_is_reported_in_one_line(
    arguments: list[str], message: str, started: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    words = read_refusal(capsys, *arguments)
    assert message in words
    assert "\x1b" not in words
    assert started == []


@pytest.mark.parametrize("arguments", [["--demo", "--plain"], ["-m", "demo"], ["--conversations"]])
def test_a_current_folder_that_was_deleted_is_named(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "gone").mkdir()
    command = ["sh", "-c", 'rmdir ../gone && exec "$0" "$@"', sys.executable, "-m", "oi_tui", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(oi_tui.__file__).parent.parent)}
    done = subprocess.run(
        command,
        cwd=tmp_path / "gone",
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == (
        "oi-tui: the current folder was deleted. Change to another one (cd ~), and start again\n"
    )
    assert done.stdout == ""


@pytest.mark.parametrize(
    "line", ["auto_run: 'false'", "ofline: true", "offline: 'yes'", "languages: [python]"]
)
def test_a_wrong_default_profile_stops_the_start(
    line: str, started: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    path = paths.profiles() / "default.yaml"
    paths.make_private(path.parent)
    path.write_text(f"# mine\nllm.max_budget: 1\n{line}\n")
    words = read_refusal(capsys)
    assert words.startswith(f"{path}, line 3: {line.partition(':')[0]}: ")
    assert words.endswith("set the profile back with --reset-profile")
    assert started == []


def test_a_wrong_profile_that_was_asked_for_is_refused(
    started: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    path = paths.profiles() / "mine.yaml"
    paths.make_private(path.parent)
    path.write_text("auto_run: 'false'\n")
    assert "line 1: auto_run: expected true or false" in read_refusal(capsys, "--profile", "mine")
    assert started == []


def test_the_first_start_makes_a_profile_that_changes_nothing(started: list[Any]) -> None:
    assert main.main([]) == 7
    assert main.main([]) == 7
    path = paths.profiles() / "default.yaml"
    assert [profile for profile, _ in started] == [Profile(), Profile()]
    assert started[0][1] == {
        "profile_path": path,
        "words": "",
        "resume": None,
        "navigator": False,
        "come_back": "",
    }
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_home_that_cannot_be_written_to_is_no_obstacle(
    started: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "home").write_text("a file")
    monkeypatch.setenv("OI_TUI_HOME", str(tmp_path / "home"))
    assert main.main(["--demo"]) == 7
    assert started[0][0].model == "demo"


def test_flags_win_over_the_environment_and_that_over_the_profile(
    started: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = paths.profiles() / "work.yaml"
    paths.make_private(path.parent)
    path.write_text("llm: {model: from-file, api_version: from-file}\nllm.api_base: http://file/\n")
    monkeypatch.setenv("OI_TUI_MODEL", "from-environment")
    monkeypatch.setenv("OI_TUI_API_BASE", "http://environment/")
    assert main.main(["--profile", "work", "-m", "from-flag"]) == 7
    ((profile, named),) = started
    assert (profile.model, profile.api_base, profile.api_version) == (
        "from-flag",
        "http://environment/",
        "from-file",
    )
    assert named["profile_path"] == path


def test_the_demo_model_is_not_looked_for_at_the_profiles_address(started: list[Any]) -> None:
    path = paths.profiles() / "default.yaml"
    paths.make_private(path.parent)
    path.write_text("llm.api_base: http://file/\nllm.model: x\n")
    main.main(["--demo"])
    assert (started[0][0].model, started[0][0].api_base) == ("demo", None)


def test_nothing_in_the_working_directory_is_read_unless_asked_for_by_a_path(
    started: list[Any], workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("default.yaml", "oi-tui.yaml", ".oi-tui.yaml", "evil.yaml", ".env"):
        (workplace / name).write_text("OPENAI_API_BASE=x\n" if name == ".env" else "auto_run: true\n")
    assert main.main([]) == 7
    assert started[0][0].auto_run is False
    assert read_refusal(capsys, "-p", "evil.yaml").endswith("for the file in this folder write ./evil.yaml")
    assert main.main(["-p", "./evil.yaml"]) == 7
    assert started[1][0].auto_run is True


def test_a_profile_that_others_could_have_written_stops_the_start(
    started: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    path = paths.profiles() / "default.yaml"
    paths.make_private(path.parent)
    path.write_text("auto_run: true\n")
    path.parent.chmod(0o777)
    words = read_refusal(capsys)
    assert "not read, because others can write to its folder. To fix this: chmod go-w " in words
    assert started == []


def test_resume_finds_the_last_conversation_or_the_one_named(started: list[Any]) -> None:
    store = Store(paths.conversations())
    ids = []
    for text in "ab":
        begun = store.create(cwd="/", model="m")
        begun.put(Message(role="user", type="message", content=text))
        begun.close()
        ids.append(begun.id)
    os.utime(store.folder / f"{ids[0]}.jsonl", (1, 1))
    for arguments in (["--resume"], ["--resume", "last"], ["--resume", ids[0]], ["--resume", ids[0][:10]]):
        assert main.main(arguments) == 7
    assert [named["resume"] for _, named in started] == [ids[1], ids[1], ids[0], ids[0]]
    assert main.main(["--conversations"]) == 7
    assert started[-1][1]["navigator"] is True


@pytest.mark.parametrize(
    ("flag", "setting", "value"),
    [("--llama3", "model", "ollama_chat/llama3.1"), ("--llama3", "local", True)],
)
def test_flags_of_the_original_stand_for_others(
    flag: str, setting: str, value: object, started: list[Any]
) -> None:
    assert main.main([flag]) == 7
    assert getattr(started[0][0], setting) == value


@pytest.mark.parametrize(
    ("arguments", "values", "note"),
    [
        (
            ["-m", "x", "--llama3"],
            {"model": "x", "local": True},
            "--llama3 does not change the model: --model x",
        ),
        (
            ["--llama3", "--model=x"],
            {"model": "x", "local": True},
            "--llama3 does not change the model: --mod",
        ),
        (
            ["--llama3", "--demo"],
            {"model": "demo", "local": True},
            "--llama3 does not change the model: --demo",
        ),
        (
            ["--no-local", "--llama3"],
            {"local": False},
            "--llama3 does not change the setting local: --no-local",
        ),
        (
            ["--groq", "-p", "safe"],
            {"safe_mode": "ask"},
            "--groq does not change the profile: --profile safe",
        ),
        (["-p", "safe", "--codestral"], {"safe_mode": "ask"}, "--codestral does not change the profile: "),
        (["-m", "x", "--groq"], {"model": "x"}, ""),
    ],
)
def test_flags_of_the_original_do_not_override_what_a_person_chose(
    arguments: list[str], values: dict[str, object], note: str, started: list[Any]
) -> None:
    assert main.main(arguments) == 7
    ((profile, _),) = started
    assert {name: getattr(profile, name) for name in values} == values
    assert [item for item in profile.notes if "does not change" in item] == [
        item for item in profile.notes if note and item.startswith(note)
    ]
    assert any("does not change" in item for item in profile.notes) == bool(note)


def test_what_follows_two_dashes_is_text_also_where_it_looks_like_an_old_flag(started: list[Any]) -> None:
    assert main.main(["--", "--llama3", "--assistant", "-safe"]) == 7
    ((profile, named),) = started
    assert (named["words"], profile.local, profile.notes) == ("--llama3 --assistant -safe", False, ())


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        (["-t0.5", "-xo500"], {"temperature": 0.5, "max_output": 500}),
        (["-yv"], {"auto_run": True, "verbose": True}),
        (["-o=true", "-y=false"], {"offline": True, "auto_run": False}),
        (["-nhl=false"], {"highlight_active_line": True}),
    ],
)
def test_short_flags_in_one_word_are_understood(
    arguments: list[str], values: dict[str, object], started: list[Any]
) -> None:
    assert main.main(arguments) == 7
    assert {name: getattr(started[0][0], name) for name in values} == values


def test_an_unknown_variable_is_reported_at_the_start(
    started: list[Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OI_TUI_MODLE", "x")
    assert main.main([]) == 7
    note = "The environment variable OI_TUI_MODLE has no effect; did you mean OI_TUI_MODEL?"
    assert note in started[0][0].notes
    monkeypatch.setenv("OI_TUI_OFLINE", "1")
    assert read_refusal(capsys, "--plain").startswith(
        "environment variable OI_TUI_OFLINE: is not read by oi-tui; to set offline, use --offline"
    )


def test_a_failure_that_cannot_be_logged_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> int:
        raise RuntimeError("sk-canary")

    monkeypatch.setattr(main, "main", fail)
    monkeypatch.setattr("oi_tui.log.begin", fail)
    assert start.main(["--demo"]) == 1
    assert capsys.readouterr().err == "oi-tui failed: RuntimeError\n"


@pytest.mark.parametrize(
    ("flag", "setting", "value"),
    [
        ("--assistant", "loop", True),
        ("--llama3-os", "os", True),
        ("--llama3-vision", "model", "ollama/llama3"),
        ("--codestral_vision", "model", "ollama/codestral"),
        ("--codestral_os", "os", True),
    ],
)
def test_flags_of_packaged_profiles_choose_them(
    flag: str, setting: str, value: object, started: list[Any]
) -> None:
    assert main.main([flag]) == 7
    assert getattr(started[0][0], setting) == value


@pytest.mark.parametrize(
    "flags",
    [
        ("--server", "--acp"),
        ("--acp", "--mcp"),
        ("--doctor", "--server"),
        ("--profiles", "--import"),
        ("--import-profiles", "--stdin"),
        ("--attach", "--stdin"),
        ("--server", "--resume"),
        ("--acp", "--conversations"),
        ("--stdin", "--conversations"),
        ("--attach", "--model=x"),
        ("--attach", "--no-auto-run"),
        ("--attach", "--plain"),
        ("--server", "--kernel=x"),
        ("--kernel=x", "--model=x"),
        ("--attach", "--profile=work"),
        ("--reset-profile", "--profile=work"),
        ("--reset-profile", "--offline"),
        ("--profiles", "--model=x"),
        ("--import", "--demo"),
        ("--import-profiles", "--profile=work"),
        ("--server", "--plain"),
        ("--doctor", "--plain"),
        ("--demo", "--api-base=http://127.0.0.1:1"),
    ],
    ids=" ".join,
)
def test_flags_that_would_have_no_effect_are_refused(
    flags: tuple[str, str], capsys: pytest.CaptureFixture[str], started: list[Any]
) -> None:
    first, second = (flag.partition("=")[0] for flag in flags)
    for given in (flags, reversed(flags)):
        assert read_refusal(capsys, *given) == f"{first} and {second} cannot be used together"
    assert started == []


def test_flags_of_the_server_are_refused_beside_what_lists_or_imports(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for flag in ("--profiles", "--import", "--reset-profile", "--doctor"):
        assert read_refusal(capsys, flag, "--open") == "--open needs --server"


@pytest.mark.parametrize("flag", ["--server", "--acp", "--mcp"])
def test_a_start_without_a_screen_writes_its_remarks_on_standard_error(
    flag: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_serve", "_serve_editor", "_serve_host"):
        monkeypatch.setattr(main, name, lambda *_: 0)
    assert main.main([flag, "--sandbox-disk", "5"]) == 0
    assert capsys.readouterr().err == "oi-tui: --sandbox-disk has no effect: the sandbox is off.\n"


def test_a_target_beside_the_one_that_something_was_left_on_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = read_refusal(capsys, "--attach", "ssh:gpu1", "--target", "ssh:gpu2")
    assert words == "--attach and --target cannot be used together"
    assert (
        read_refusal(capsys, "--attach", "ssh:gpu1", "--mcp") == "--attach and --mcp cannot be used together"
    )


def test_a_request_is_not_taken_where_nobody_reads_it(capsys: pytest.CaptureFixture[str]) -> None:
    for flag in (
        "--server",
        "--acp",
        "--mcp",
        "--profiles",
        "--doctor=x",
        "--attach=127.0.0.1:1",
    ):
        assert read_refusal(capsys, flag, "hello") == f"{flag.partition('=')[0]} takes no request"
    assert read_refusal(capsys, "hello", "-p") == "--profile without a name takes no request"


def test_a_limit_of_the_sandbox_without_the_sandbox_is_noted(started: list[Any]) -> None:
    note = "--sandbox-disk has no effect: the sandbox is off."
    assert main.main(["--sandbox-disk", "5"]) == 7
    assert note in started[-1][0].notes
    assert main.main(["--sandbox", "--sandbox-disk", "5"]) == 7
    assert note not in started[-1][0].notes


def test_a_remark_says_where_its_setting_was_set(
    started: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OI_TUI_MODLE", "a")
    file = tmp_path / "work.yaml"
    file.write_text("foo: 1\ncomputer.custom_languages: [gone.py]\n")
    flags = ["--sandbox-disk", "5", "--languages", "python;cobol", "--disable-telemetry"]
    assert main.main(["-p", str(file), *flags]) == 7
    workspace = Workspace(started[-1][0], file)
    try:
        remarks = [remark.partition(";")[0] for remark in workspace.remarks]
    finally:
        workspace.close()
    assert remarks == [
        "In your profile: line 1: foo is not a setting",
        "The environment variable OI_TUI_MODLE has no effect",
        "--sandbox-disk has no effect: the sandbox is off.",
        "--disable-telemetry has no effect: oi-tui has no telemetry",
        "--languages: unknown language 'cobol'",
        f"In your profile: computer.custom_languages: gone.py: file not found: {tmp_path}/gone.py",
    ]


def test_flags_of_the_server_need_it(capsys: pytest.CaptureFixture[str], started: list[Any]) -> None:
    assert read_refusal(capsys, "--open") == "--open needs --server"
    assert read_refusal(capsys, "--allow-settings", "--port", "1") == "--port needs --server"
    assert read_refusal(capsys, "--kernel-name", "ir") == "--kernel-name needs --kernel or --install-kernel"
    for flag in ("--host=127.0.0.1", "--port=1", "--open"):
        together = f"--socket and {flag.partition('=')[0]} cannot be used together"
        assert read_refusal(capsys, "--server", "--socket", "x", flag) == together
    assert started == []


def test_attach_needs_an_address_and_takes_no_request(
    capsys: pytest.CaptureFixture[str], started: list[Any]
) -> None:
    assert read_refusal(capsys, "--attach", "ftp://a").startswith("--attach needs the server's address")
    assert "takes no request" in read_refusal(capsys, "--attach", "127.0.0.1:1", "hello")
    assert read_refusal(capsys, "--attach", "127.0.0.1:1", "--port", "1") == "--port needs --server"
    assert started == []


def test_a_server_whose_packages_are_missing_says_how_to_get_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "oi_tui.server.serve", raising=False)
    monkeypatch.delattr("oi_tui.server.serve", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert 'pip install "oi-tui[server]"' in read_refusal(capsys, "--server")


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (("--port", "x"), "--port must be a number, not x"),
        (("--port", "70000"), "--port must be between 0 and 65535, not 70000"),
        (("--allow-origin", "*"), "--allow-origin must look like https://example.org, not *"),
        (("--tls-key", "k.pem"), "--tls-cert and --tls-key can only be used together"),
    ],
)
def test_flags_of_the_server_that_cannot_be_used_are_refused(
    flags: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert read_refusal(capsys, "--server", *flags) == problem


@pytest.mark.parametrize("flag", ["--config", "--use_containers", "--tools=interpreter", "--save-profile"])
def test_flags_for_what_is_not_here_are_refused_with_what_is(
    flag: str, capsys: pytest.CaptureFixture[str], started: list[Any]
) -> None:
    assert "--" in read_refusal(capsys, flag)
    assert started == []


@pytest.mark.parametrize("arguments", [["--safe"], ["--safe_mode", "-y"], ["-y", "-safe"], ["--safe", "ask"]])
def test_safe_without_a_value_asks(arguments: list[str], started: list[Any]) -> None:
    assert main.main(arguments) == 7
    assert started[0][0].safe_mode == "ask"


@pytest.mark.parametrize("arguments", [["--profile"], ["-p"], ["-y", "--profile", "--plain"]])
def test_profile_without_a_name_lists_them(
    arguments: list[str], started: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(arguments) == 0
    assert "Profiles in " in capsys.readouterr().out
    assert started == []


def test_the_older_flag_for_a_profile_names_one(started: list[Any]) -> None:
    for flag in ("--config_file", "-cf"):
        assert main.main([flag, "safe"]) == 7
        assert started[-1][1]["profile_path"].name == "safe.yaml"


def test_the_short_flag_of_older_versions_for_loop_switches_it_on(started: list[Any]) -> None:
    assert main.main(["-fc"]) == 7
    assert started[0][0].loop is True


def test_offline_with_a_server_elsewhere_stops_the_start(
    started: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    words = read_refusal(capsys, "--offline", "-m", "openai/x", "-ab", "https://models.example.com/v1")
    assert words.startswith("llm.api_base: offline is on, but openai/x runs at models.example.com")
    assert started == []
    assert main.main(["--offline", "-m", "openai/x", "-ab", "http://127.0.0.1:1/v1"]) == 7


def test_local_models_are_listed_with_ways_to_get_some(
    capsys: pytest.CaptureFixture[str], started: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    assert main.main(["--local_models"]) == 0
    assert "ollama pull" in capsys.readouterr().out
    assert started == []


def run(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "oi_tui", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
        check=False,
        **more,
    )


@pytest.mark.slow
def test_without_a_terminal_there_are_plain_lines() -> None:
    ended = run("--demo")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith(f"oi-tui {__version__}, plain mode. ")


@pytest.mark.parametrize(
    "arguments", [["how", "large", "is", "it?"], ["how large", "is it?"], ["how", "large", "-y", "is", "it?"]]
)
def test_what_is_no_flag_is_the_first_message(arguments: list[str], started: list[Any]) -> None:
    assert main.main([*arguments, "-m", "x"]) == 7
    ((profile, named),) = started
    assert named["words"] == "how large is it?"
    assert profile.auto_run == ("-y" in arguments)


def test_reading_a_new_profile_loads_neither_cryptography_nor_yaml() -> None:
    profiles.open_profile(None)
    code = (
        "import sys; from oi_tui import profiles as p; p.open_profile(None); "
        "print({'_hashlib', 'yaml'} & set(sys.modules))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout == "set()\n"


@pytest.mark.parametrize("flag", ["--version", "--help", "-V", "-h"])
def test_version_and_help_import_neither_textual_nor_litellm(flag: str) -> None:
    code = (
        "import sys, json; from oi_tui.cli import main as cli\n"
        "try: code = cli.main(sys.argv[1:])\n"
        "except SystemExit as end: code = end.code\n"
        "print(json.dumps([code, sorted({m.split('.')[0] for m in sys.modules})]), file=sys.stderr)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, flag], capture_output=True, text=True, timeout=60, check=True
    )
    code_, modules = json.loads(ended.stderr)
    assert code_ == 0
    assert not {"textual", "litellm", "rich", "ruamel", "openai"} & set(modules)
    assert __version__ in ended.stdout or all(item.long_flag[2:] in ended.stdout for item in list_settings())


@pytest.mark.parametrize(
    "environment", [{"LC_ALL": "C"}, {"TERM": "dumb"}, {"PYTHONIOENCODING": "ascii"}, {}]
)
def test_help_and_version_work_everywhere(environment: dict[str, str]) -> None:
    for flag in ("--help", "--version"):
        ended = run(flag, env={**os.environ, **environment})
        assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.skipif(
    not Path("/proc/self/cmdline").exists(), reason="the command line is hidden on Linux only"
)
def test_a_key_on_the_command_line_is_not_left_for_others_to_see() -> None:
    code = (
        "import sys; from oi_tui.cli import main as cli; cli._has_screen = lambda: 1 / 0\n"
        "try: cli.main(sys.argv[1:])\n"
        "except ZeroDivisionError: print(open('/proc/self/cmdline').read())"
    )
    for flags in (
        ["-ak", "sk-canary-é"],
        ["--api_key=sk-canary-é"],
        ["-ab", "http://localhost/v1?x=1&key=sk-canary-é"],
    ):
        ended = subprocess.run(
            [sys.executable, "-c", code, *flags, "-m", "x"],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert "canary" not in ended.stdout
        assert "*" * len("sk-canary-é".encode()) in ended.stdout
        assert ended.stdout.rstrip("\n").endswith("-m\0x\0")


def test_a_key_that_the_system_does_not_let_hide_is_reported_to_be_seen(
    started: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.read_bytes

    def without_proc(path: Path) -> bytes:
        return real(Path("/nowhere") if path.is_relative_to("/proc") else path)

    # As on macOS.
    monkeypatch.setattr(Path, "read_bytes", without_proc)
    assert main.main(["-m", "x"]) == 7
    assert main.main(["-m", "x", "-ak", "sk-canary"]) == 7
    seen = [[note for note in profile.notes if "can see the key" in note] for profile, _ in started]
    assert seen == [[], [main._SEEN]]


VERBS = (
    "highlight",
    "let",
    "make",
    "name",
    "read",
    "record",
    "save",
    "send",
    "show",
    "shrink",
    "start",
    "use",
)


def test_what_a_switch_off_does_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main.main(["--help"])
    shown = " ".join(capsys.readouterr().out.split())
    offs = [item for item in list_settings() if item.kind is bool and item.default is True]
    assert offs
    for off in offs:
        verb = off.help_off.removeprefix("Do not ").split()[0].lower()
        assert verb in VERBS, off.help_off
        assert off.help_off.split(".")[0][1:] in shown
    assert "do not three" not in shown
