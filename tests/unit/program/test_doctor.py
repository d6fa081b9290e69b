"""The doctor: what it finds, what it advises, and that it works where nothing else does."""

import ast
import errno
import importlib.util
import json
import os
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from oi_tui import paths
from oi_tui.doctor import configuration, examination, folders, installation, server, terminal
from oi_tui.doctor.active_profile import ActiveProfile
from oi_tui.doctor.finding import Check, Diagnosis
from oi_tui.doctor.report import report, run
from oi_tui.doctor.target import check_target
from oi_tui.engine.settings.profile import Profile, list_settings
from oi_tui.runtimes.sandbox import bubblewrap
from oi_tui.runtimes.sandbox import sandbox as walls
from tests.servers.openai_server import Exchange, ModelServer, refused

EXAMINE = [sys.executable, "-P", "-m", "oi_tui", "--doctor"]


def problems(findings: object) -> list[Diagnosis]:
    return [finding for finding in findings if finding.good is False]


def describe_findings(findings: object) -> str:
    return "\n".join(f"{finding.good} {finding.words} > {finding.fix}" for finding in findings)


def examined(*arguments: str, **environment: str | None) -> subprocess.CompletedProcess[str]:
    merged = {**os.environ, **environment}
    return subprocess.run(
        [*EXAMINE, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        stdin=subprocess.DEVNULL,
        env={name: value for name, value in merged.items() if value is not None},
    )


def test_a_good_machine_has_no_problem_and_every_part_is_reported_of() -> None:
    text, count = report(ask_terminal=False)
    assert count == 0, text
    for title in ("Python", "Packages", "Settings", "Languages", "Models", "Terminal", "Folders"):
        assert f"\n{title}\n" in text
    assert "No problem was found." in text
    assert max(map(len, text.splitlines())) <= 80


def test_every_problem_comes_with_a_fix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    paths.make_private(paths.profiles())
    (paths.profiles() / "default.yaml").write_text("auto_run: maybe\npython: /nowhere/python\n")
    paths.state().mkdir()
    paths.state().chmod(0o755)
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("HOME", str(tmp_path / "gone"))
    monkeypatch.setenv("MISTRAL_API_KEY", "'quoted-key-value'")
    monkeypatch.delenv("TERM")
    found = [
        finding
        for _, findings in examination.examine(examination.list_checks(ask_terminal=False), 30)
        for finding in findings
    ]
    bad = problems(found)
    reported = describe_findings(bad)
    for expected in ("auto_run", "chmod 700", "TERM is not set", "UTF-8", "HOME is", "MISTRAL_API_KEY"):
        assert expected in reported
    assert all(item.fix for item in bad)


def test_keys_are_reported_of_by_name_and_never_by_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789")
    monkeypatch.setenv("ODD_API_TOKEN", " canary-with-blanks ")
    text, count = report(ask_terminal=False)
    assert "OPENAI_API_KEY is set" in text
    assert "ODD_API_TOKEN has spaces" in text
    assert "canary" not in text
    assert count == 1


def test_kept_keys_are_reported_of_by_name_and_a_file_that_others_wrote_is_a_problem() -> None:
    path = paths.make_private(paths.config()) / "keys.json"
    path.write_text('{"MISTRAL_API_KEY": "canary-of-a-key-123"}')
    path.chmod(0o600)
    reported = describe_findings(configuration.check_kept_keys())
    assert "True MISTRAL_API_KEY is saved in " in reported
    assert "canary" not in reported
    path.chmod(0o666)
    assert "keys.json" in describe_findings(problems(configuration.check_kept_keys()))


def test_a_server_on_this_machine_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def tags(exchange) -> None:
        data = json.dumps({"models": [{"name": "tiny:1b", "size": 1}]}).encode()
        exchange.head(media="application/json", chunked=False, Content_Length=str(len(data)))
        exchange.send(data)

    with ModelServer(tags, questions=True) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.base.split("//")[1].split("/")[0])
        assert "Ollama is running: ollama/tiny:1b" in describe_findings(configuration.check_models())


def test_a_broken_profile_is_named_with_its_line() -> None:
    paths.make_private(paths.profiles())
    (paths.profiles() / "default.yaml").write_text("# mine\nllm.temperature: hot\n")
    (paths.profiles() / "other.yaml").write_text("llm: [\n")
    (bad, worse) = problems(configuration.check_settings())
    assert "default.yaml, line 2: llm.temperature" in bad.words
    assert "other.yaml" in worse.words


def write_profile(text: str, name: str = "default.yaml") -> Path:
    """A profile of a person's own, in the folder of profiles."""
    path = paths.make_private(paths.profiles()) / name
    path.write_text(text)
    path.chmod(0o600)
    return path


@pytest.mark.slow
def test_the_profile_that_is_named_is_the_one_that_is_looked_at(tmp_path: Path) -> None:
    write_profile("llm.model: usual\n")
    write_profile(
        "llm.model: ollama/other\npython: /nowhere/python\nsandbox: true\nnonsense: 1\n", "work.yaml"
    )
    done = examined("--profile", "work", "--temperature", "1", OI_TUI_THEME="nord")
    reported = " ".join(done.stdout.split())
    assert "profiles/work.yaml: the model is ollama/other" in reported
    assert "set by the environment: theme" in reported
    assert "set by flags: llm.temperature" in reported
    assert "work.yaml, line 4: nonsense" in reported
    assert "/nowhere/python not found" in reported
    assert "ollama/other needs Ollama, which does not answer" in reported
    assert "the sandbox is on" in reported
    assert done.returncode == 1


@pytest.mark.slow
@pytest.mark.needs("env")
def test_a_target_is_reached_and_what_is_there_is_reported() -> None:
    done = examined("--target", "command:env")
    reported = " ".join(done.stdout.split())
    assert "set by flags: target" in reported
    assert "ok code runs on env as " in reported
    assert "the round trip takes " in reported
    assert "ok Python 3." in reported.partition("Target ")[2].partition(" Languages ")[0]


@pytest.mark.parametrize(
    ("target", "words", "fix"),
    [
        ("command:sh -c 'echo locked out >&2; exit 1'", "locked out", "in a terminal"),
        ("command:no-such-program", "no-such-program was not found", "in a terminal"),
        ("ssh:-x", "has no host", "Correct the setting target"),
    ],
)
def test_a_target_that_cannot_be_reached_is_a_problem(target: str, words: str, fix: str) -> None:
    (bad,) = problems(check_target(Profile(target=target), threading.Event()))
    assert words in bad.words
    assert fix in bad.fix


def test_a_target_that_does_not_answer_is_a_problem_and_nothing_goes_on_to_connect(tmp_path: Path) -> None:
    active = ActiveProfile(Profile(target=f"command:sh -c 'echo $$ >{tmp_path}/pid; exec sleep 60'"), None)
    stopped = threading.Event()
    parts = [
        part
        for part in examination.list_checks(active, ask_terminal=False, stopped=stopped)
        if part.title == "Target"
    ]
    ((_, found),) = examination.examine(parts, 1.0, stopped)
    (bad,) = problems(found)
    assert "did not answer within" in bad.words
    assert "in a terminal" in bad.fix
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_sandbox_elsewhere_is_a_problem() -> None:
    bad, *_ = problems(check_target(Profile(target="command:env", sandbox=True), threading.Event()))
    assert "nothing can run there" in bad.words


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "variable", "shown", "advice"),
    [
        (("--profile", "nix"), "", "there is no profile 'nix'", "oi-tui --profiles lists"),
        (
            ("--profile", "./bad.yaml"),
            "",
            "bad.yaml, line 1: llm.temperature",
            "or choose another with --profile",
        ),
        (("--profile", "./folder.yaml"), "", "folder.yaml: not a regular file", "or choose another with"),
        (("--temperature", "hot"), "", "llm.temperature: expected a number", "Correct it, or leave it out."),
        ((), "none", "environment variable OI_TUI_THEME: theme", "Correct it, or leave it out."),
        (
            ("--profile", "http://127.0.0.1:9/p.yaml"),
            "",
            "http://127.0.0.1:9/p.yaml: cannot be fetched: Connection refused",
            "Correct it",
        ),
    ],
)
def test_settings_that_cannot_be_used_are_a_problem_and_all_the_rest_is_reported(
    arguments: tuple[str, ...], variable: str, shown: str, advice: str, workplace: Path
) -> None:
    (workplace / "bad.yaml").write_text("llm.temperature: hot\n")
    (workplace / "folder.yaml").mkdir()
    done = examined(*arguments, **({"OI_TUI_THEME": variable} if variable else {}))
    reported = " ".join(done.stdout.split())
    assert done.stderr == ""
    assert f"PROBLEM {shown}" in reported.replace(f"{workplace}/", "")
    assert advice in reported
    assert "Folders" in reported
    assert done.returncode == 1


@pytest.mark.slow
def test_a_broken_profile_that_is_in_use_is_reported_of_once() -> None:
    write_profile("llm.temperature: hot\n")
    reported = examined().stdout
    assert reported.count("llm.temperature") == 1
    assert "the defaults are checked instead" in " ".join(reported.split())


@pytest.mark.slow
def test_looking_makes_and_changes_no_file() -> None:
    assert examined().returncode == 0
    assert not paths.profiles().exists()
    path = write_profile("version: 0.2.0\nmodel: gpt-4\n", "old.yaml")
    before = path.read_bytes()
    reported = examined("--profile", "old").stdout
    assert "the model is gpt-4" in " ".join(reported.split())
    assert path.read_bytes() == before
    assert [item.name for item in paths.profiles().iterdir()] == ["old.yaml"]


@pytest.mark.parametrize(
    ("answer", "good", "shown"),
    [
        (refused(200, ""), True, "answers"),
        (refused(401, ""), True, "answers"),
        (refused(404, ""), True, "answers"),
        (refused(503, ""), False, "the server behind it does not (status 503)"),
        (Exchange.reset, False, "cannot be reached"),
        (Exchange.hang, False, "does not answer within"),
    ],
)
def test_the_models_own_server_is_asked_without_its_key(
    answer: Callable[[Exchange], None], good: bool, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "TIMEOUT", 0.5)
    with ModelServer(answer, questions=True) as asked:
        profile = Profile().with_changes(model="openai/x", api_base=asked.base, api_key="canary-key-0123")
        found = server.check_server(profile)
        assert (found.good, shown in found.words) == (good, True), found
        assert "canary" not in f"{found}"
        assert all("canary" not in str(exchange.headers) for exchange in asked.exchanges)


def test_a_server_that_is_not_there_or_may_not_be_asked_is_a_problem() -> None:
    base = Profile().with_changes(model="openai/x", api_base="http://127.0.0.1:9/v1")
    assert "no server is running there" in server.check_server(base).words
    named = base.with_changes(api_base="http://no-such-host.invalid/v1", local=True)
    assert "local is on" in server.check_server(named).words
    assert "local" in server.check_server(named).fix


def test_an_address_in_the_providers_own_variable_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = Profile(model="openai/x")
    monkeypatch.setenv("OPENAI_API_BASE", "localhost:9")
    found = server.check_server(profile)
    assert found.good is False
    assert "OPENAI_API_BASE must be an address that begins with http://" in found.words
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:9/v1")
    assert "no server is running there" in server.check_server(profile).words


def test_a_chosen_program_that_is_not_there_is_a_problem() -> None:
    paths.make_private(paths.profiles())
    (paths.profiles() / "default.yaml").write_text("python: /nowhere/python\n")
    assert "/nowhere/python not found" in describe_findings(problems(configuration.check_languages()))


def test_languages_that_are_not_known_are_problems(tmp_path: Path) -> None:
    (tmp_path / "shout.py").write_text("class Shout:\n    name = 'Shout'\n")
    (tmp_path / "loud.py").write_text(
        "class Loud:\n    name = 'Loud'\n"
        "    def run(self, code): ...\n    def stop(self): ...\n    def terminate(self): ...\n"
    )
    profile = Profile(
        languages=("python", "nonsense", "loud"),
        custom_languages=("gone.py", "shout.py:Shout", "loud.py"),
        origins={"languages": "flag", "custom_languages": "profile"},
    )
    found = list(configuration.check_languages(ActiveProfile(profile, tmp_path / "mine.yaml")))
    said = describe_findings(problems(found))
    assert "--languages: unknown language 'nonsense'; languages: " in said
    assert "computer.custom_languages: gone.py: file not found: " in said
    assert "shout.py:Shout: the class Shout lacks run and stop and terminate" in said
    assert "'loud'" not in said
    assert "%languages trust loud" in describe_findings(found)


@pytest.mark.parametrize(
    ("version", "limits", "good"),
    [
        ("8.2.8", ">=8.2,<9", True),
        ("9.0", ">=8.2,<9", False),
        ("8.1.99", ">=8.2,<9", False),
        ("1.82.7", "!=1.82.7,!=1.82.8", False),
        ("1.82.70", "!=1.82.7,!=1.82.8", True),
        ("0.8.2", "==0.8.2", True),
        ("0.8.2.0", "==0.8.2", True),
        ("1.4.5", "~=1.4.2", True),
        ("1.5", "~=1.4.2", False),
        ("2.0rc1", "", True),
    ],
)
def test_versions_are_compared_by_their_numbers(version: str, limits: str, good: bool) -> None:
    assert installation._is_within(version, limits) is good


def test_missing_old_and_stolen_packages_are_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name == "pexpect":
            raise metadata.PackageNotFoundError(name)
        return {"litellm": "1.82.8", "textual": "0.1"}.get(name) or real(name)

    monkeypatch.setattr(installation.metadata, "version", version)
    monkeypatch.setattr(
        installation.importlib.util,
        "find_spec",
        lambda name, spec=importlib.util.find_spec: None if name == "pyte" else spec(name),
    )
    reported = describe_findings(problems(installation.check_packages()))
    assert "pexpect is missing" in reported
    assert "litellm 1.82.8 was compromised by an attacker" in reported
    assert "textual 0.1 does not match" in reported
    assert "pyte" in reported
    assert "cannot be imported" in reported
    assert reported.count("pip install") == 4


def test_a_folder_that_cannot_be_used_is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("OI_TUI_HOME", str(tmp_path / "file" / "below"))
    assert len(problems(folders.check_folders())) == 3
    monkeypatch.setattr(folders, "LEAST_ROOM", 10**18)
    monkeypatch.setenv("OI_TUI_HOME", str(tmp_path))
    assert "MB are free" in describe_findings(problems(folders.check_folders()))


@pytest.mark.parametrize(
    ("number", "shown", "advice"),
    [
        (errno.EACCES, "cannot be written to (Permission denied)", "that you can write to"),
        (errno.EROFS, "cannot be written to (Read-only file system)", "that you can write to"),
        (errno.ENOSPC, "nothing more can be written", "Make room"),
        (errno.EDQUOT, "nothing more can be written", "Make room"),
    ],
)
def test_whether_a_folder_can_be_written_to_is_tried(
    number: int, shown: str, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tempfile.TemporaryFile

    def refuse(*arguments: object, **named: object) -> object:
        if "dir" in named:
            raise OSError(number, os.strerror(number))
        return real(*arguments, **named)

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    bad = problems(folders.check_folders())
    assert len(bad) == 3
    assert all(shown in item.words and advice in item.fix for item in bad)


def test_in_tmux_and_in_tmux_within_tmux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = tmp_path / "tmux"
    stand_in.write_text(
        "#!/bin/sh\ncase $1 in\nlist-clients) printf 'screen-256color\\t\\t\\n';;\nshow*) echo off;;\nesac\n"
    )
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("TMUX", "/tmp/nowhere,1,0")
    monkeypatch.setenv("TERM", "xterm-256color")
    reported = describe_findings(terminal.check_terminal(ask=False))
    assert "within another tmux or screen (screen-256color) > These tmux settings" in reported
    assert "allow-passthrough is off" in reported
    assert "False TERM is xterm-256color, which is not tmux" in reported
    stand_in.write_text("#!/bin/sh\nexit 1\n")
    monkeypatch.setenv("TERM", "tmux-256color")
    reported = describe_findings(terminal.check_terminal(ask=False))
    assert "in tmux, which does not answer" in reported
    assert "False" not in reported


def test_a_report_that_cannot_be_written_leaves_no_half_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> object:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fdopen", full)
    assert run(str(tmp_path / "report.txt")) == 2
    assert "could not write the report" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_working_directory_that_is_gone_is_a_problem(tmp_path: Path) -> None:
    code = (
        "import os, sys; os.rmdir(os.getcwd()); from oi_tui.start import main; sys.exit(main(['--doctor']))"
    )
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=gone, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "the working directory is gone" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("environment", "shown"),
    [
        ({"TERM": "dumb"}, "TERM is dumb"),
        ({"NO_COLOR": "1"}, "NO_COLOR is set"),
        ({"COLORTERM": "truecolor"}, "16 million colours"),
        ({"TERM": "xterm-256color", "COLORTERM": ""}, "256 colours"),
        ({"TERM": "xterm", "COLORTERM": "", "XTERM_VERSION": "XTerm(379)"}, "16 million colours"),
        ({"TERM": "xterm", "COLORTERM": ""}, "16 colours"),
        ({"STY": "1.x"}, "GNU screen"),
        ({"SSH_CONNECTION": "a b"}, "over SSH"),
        ({"LANG": "en_US.ISO-8859-1", "LC_ALL": ""}, "is not UTF-8"),
    ],
)
def test_the_terminal_is_reported_of_by_its_environment(
    environment: dict[str, str], shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XTERM_VERSION", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert shown in describe_findings(terminal.check_terminal(ask=False))


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (None, "did not report its features in time"),
        (b"\x1b[?62;c", "half blocks"),
        (b"\x1b[?62;4;22c", "half blocks"),
        (b"\x1b[6;20;10t\x1b[?62;4;22c", "sixel"),
        (b"\x1b_Gi=31;OK\x1b\\\x1bP>|kitty(0.39.1)\x1b\\\x1b[?62;c", "Kitty protocol"),
        (b"\x1b_Gi=31;OK\x1b\\\x1bP>|WezTerm 2025\x1b\\\x1b[6;20;10t\x1b[?62;4c", "sixel"),
        (b"\x1b_Gi=31;OK\x1b\\\x1bP>|Konsole 24\x1b\\\x1b[?62c", "half blocks"),
        (b"\x1b[?0u\x1b[?62c", "distinguishes all keys"),
        (b"\x1b[?62c", "cannot distinguish ctrl+enter from enter"),
        (b"\x1b[?2026;2$y\x1b[?62c", "frames are drawn without tearing (synchronized output)"),
    ],
)
def test_the_terminals_answers_are_understood(
    answer: bytes | None, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TMUX", "STY", "KITTY_WINDOW_ID", "TERM_PROGRAM"):
        monkeypatch.delenv(name, raising=False)
    assert shown in describe_findings(terminal._check_answers(answer))


def test_a_part_that_fails_or_hangs_is_reported_of_and_the_rest_is_there() -> None:
    release = threading.Event()

    def fails() -> list[Diagnosis]:
        raise RuntimeError("half of it is missing")

    def hangs():
        yield Diagnosis(True, "begun")
        release.wait(30)

    parts = [
        Check("Broken", fails),
        Check("Hanging", hangs),
        Check("Sound", lambda: [Diagnosis(True, "well")]),
    ]
    began = time.monotonic()
    found = dict(examination.examine(parts, timeout=0.3))
    assert time.monotonic() - began < 15
    release.set()
    assert "half of it is missing" in describe_findings(problems(found["Broken"]))
    assert [item.words[:9] for item in found["Hanging"]] == ["begun", "some chec"]
    assert found["Sound"] == [Diagnosis(True, "well")]


def test_the_report_is_written_for_its_owner_and_replaces_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789")
    target = tmp_path / "report.txt"
    assert run(str(target)) == 0
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    written = target.read_text()
    assert written.rstrip() in capsys.readouterr().out
    assert "canary" not in written
    assert os.environ["HOME"] not in written
    assert run(str(target)) == 2
    assert target.read_text() == written


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["textual", "yaml", "platformdirs", "ruamel", "pyte"])
def test_it_works_where_a_package_is_missing(missing: str) -> None:
    code = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.split('.')[0] == {missing!r}: raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "from oi_tui.start import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OI_TUI_HOME"}
    done = subprocess.run(
        [sys.executable, "-c", code, "--doctor"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment,
    )
    assert done.stderr == ""
    assert "cannot be imported" in done.stdout
    assert done.returncode == 1
    other = subprocess.run(
        [sys.executable, "-c", code, "--demo", "--plain"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment,
    )
    if missing in ("yaml", "platformdirs"):
        assert other.returncode == 2
        assert other.stderr.startswith(f"oi-tui: the Python package {missing} is missing; oi-tui --doctor")


@pytest.mark.slow
def test_without_home_term_and_locale_there_is_a_report() -> None:
    done = examined(HOME=None, TERM=None, LANG=None, LC_ALL=None, OI_TUI_HOME=None, PATH=os.environ["PATH"])
    assert done.stderr == ""
    assert "TERM is not set" in done.stdout
    assert done.returncode == 1


@pytest.mark.slow
def test_it_neither_loads_textual_nor_litellm() -> None:
    code = (
        "import json, sys\nfrom oi_tui.start import main\nmain(['--doctor'])\n"
        "print(json.dumps(sorted({n.split('.')[0] for n in sys.modules})), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert {"textual", "litellm", "rich"} & set(json.loads(done.stderr)) == set()


def test_where_the_models_key_is_looked_for_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    reported = describe_findings(configuration.check_kept_keys())
    assert "None gpt-4o: OPENAI_API_KEY is not set; a key that you type is saved in " in reported
    assert (
        "the command line or profile, then the environment, then a file that only you can read, then the"
        in reported
    )
    monkeypatch.setenv("OPENAI_API_KEY", "canary-0123456789")
    reported = describe_findings(configuration.check_kept_keys())
    assert "True gpt-4o: OPENAI_API_KEY comes from the environment." in reported
    assert "canary" not in reported


def test_a_key_in_a_profile_is_advised_against_and_never_shown() -> None:
    paths.make_private(paths.profiles())
    (paths.profiles() / "default.yaml").write_text("llm.api_key: canary-0123456789\n")
    reported = describe_findings(configuration.check_settings()) + describe_findings(
        configuration.check_kept_keys()
    )
    assert "default.yaml contains an API key, which anyone with the file can read > f2, then f3" in reported
    assert "canary" not in reported


def test_what_cannot_act_on_this_machine_is_listed() -> None:
    reported = describe_findings(configuration.check_settings())
    for setting in list_settings():
        if setting.cannot():
            assert f"None {setting.key} has no effect: " in reported


def test_where_the_environment_cannot_be_hidden_keys_in_it_are_reported_to_be_readable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "ps -E" not in describe_findings(configuration.check_models())
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "ps -E" not in describe_findings(configuration.check_models())
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789")
    assert "as ps -E shows them" in describe_findings(configuration.check_models())


def test_what_the_checks_import_is_imported_before_their_threads_begin() -> None:
    needed = set()
    for path in Path(examination.__file__).parent.glob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef):
                needed |= {
                    f"{node.module}.{alias.name}"
                    for node in ast.walk(function)
                    if isinstance(node, ast.ImportFrom) and str(node.module).startswith("oi_tui")
                    for alias in node.names
                }
    assert set(map(_module, needed)) == set(examination.IMPORTED)


def _module(name: str) -> str:
    """The module that an imported name is, or is in."""
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        found = None
    return name if found else name.rpartition(".")[0]


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")
def test_an_old_bubblewrap_is_remarked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    monkeypatch.setattr(bubblewrap, "FOLDERS", (str(tmp_path),))
    monkeypatch.setattr(walls, "find_problem", lambda: None)
    for option, remarks in (("--bind", 1), ("--ro-bind-fd", 0)):
        program.write_text(f"#!/bin/sh\necho '    {option} FD DEST'\n")
        program.chmod(0o755)
        bubblewrap._binds_descriptors.cache_clear()
        _, *more = configuration.check_sandbox(ActiveProfile(Profile(sandbox=True)))
        assert len(more) == remarks
    bubblewrap._binds_descriptors.cache_clear()
