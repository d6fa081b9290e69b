"""The sandbox as a person meets it: on the screen, in plain lines, in Python, and where it cannot be had."""

import subprocess
import sys
from pathlib import Path

import pytest

from oi_tui import OpenInterpreter
from oi_tui.engine.settings.profile import Profile
from oi_tui.runtimes.sandbox import bubblewrap
from oi_tui.workspace import Workspace
from tests.e2e.conftest import Start
from tests.e2e.program import decisions, messages
from tests.fakes import Llm
from tests.terminal import PROGRAM

here = pytest.mark.needs("sandbox")
#: Starts a program where no user namespace can be made any more, as in many a container.
NARROW = ("--unshare-user", "--disable-userns", "--dev-bind", "/", "/")


def _narrow() -> list[str] | None:
    """The command that a program is started by there; None where bubblewrap is too old to say so."""
    found = bubblewrap.find()
    if found is None:
        return None
    works = subprocess.run([found, *NARROW, "true"], capture_output=True, check=False).returncode == 0
    return [found, *NARROW] if works else None


@here
def test_the_screen_says_that_it_is_on_and_code_cannot_get_out(start: Start, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s3cret")
    program = start("--demo", "--sandbox")
    program.begin()
    program.wait_for(lambda screen: "sandbox on" in screen.split("\n")[0])
    assert "sandbox on" in " ".join(program.asked_first("largest files here").split("Run this")[1].split())
    program.answer("y")
    program.idle()
    program.say("%% cat ../secret; echo ov''er")
    program.wait_for("over\n")
    assert "s3cret" not in program.idle()
    assert decisions() == ["approved", "approved"]


def test_the_screen_says_at_once_that_nothing_can_run(start: Start) -> None:
    narrow = _narrow()
    if narrow is None:
        pytest.skip("this needs a bubblewrap that can forbid user namespaces")
    program = start("--demo", "--sandbox", command=[*narrow, *PROGRAM])
    program.begin()
    program.wait_for("so nothing runs: bubblewrap does not work")
    program.say("largest files here")
    program.wait_for("It printed:")
    program.idle()
    assert [message["state"] for message in messages() if message["type"] == "code"] == ["failed"]


@here
def test_plain_lines_say_where_code_would_run(workplace: Path) -> None:
    done = _stdin(workplace, [])
    assert "files," in done.stdout
    assert done.returncode == 0


def test_where_it_cannot_be_had_nothing_runs_and_the_reason_is_reported(workplace: Path) -> None:
    narrow = _narrow()
    if narrow is None:
        pytest.skip("this needs a bubblewrap that can forbid user namespaces")
    done = _stdin(workplace, narrow)
    assert "so nothing runs: bubblewrap does not work" in " ".join((done.stdout + done.stderr).split())
    ran = [message for message in messages() if message.get("type") == "code"]
    assert ran
    assert all(item["state"] == "failed" for item in ran)
    assert decisions() == []


def _stdin(workplace: Path, prefix: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*prefix, sys.executable, "-m", "oi_tui", "--stdin", "-y", "--demo", "--sandbox"],
        input="largest files here",
        cwd=workplace,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@here
def test_the_python_api_is_held_too(workplace: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s3cret")
    interpreter = OpenInterpreter(Profile().with_changes(sandbox=True))

    class Shout:
        name = "Shout"

        def run(self, code):
            yield {"type": "console", "format": "output", "content": code.upper()}

        def stop(self): ...
        def terminate(self): ...

    interpreter.computer.languages.append(Shout)
    try:
        (reported,) = interpreter.computer.run("shell", "cat ../secret 2>/dev/null; echo over")
        assert reported["content"].strip() == "over"
        with pytest.raises(ValueError, match="runs inside this program"):
            interpreter.computer.run("shout", "x")
    finally:
        interpreter.computer.terminate()


def test_it_can_be_switched_in_a_running_conversation(workplace: Path) -> None:
    profile = Profile().with_changes(model="openai/x")
    space = Workspace(profile, workplace.parent / "mine.yaml", llm=Llm())
    try:
        assert not space.computer.sandbox
        space.use(profile.with_changes(sandbox=True))
        assert space.computer.sandbox
        assert "sandbox" in " ".join(space.computer.notes)
        assert "html" not in space.computer.languages
        space.use(profile)
        assert not space.computer.sandbox
        assert "html" in space.computer.languages
    finally:
        space.close()


def test_the_python_api_runs_nothing_without_it(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "FOLDERS", (str(workplace),))
    interpreter = OpenInterpreter(Profile().with_changes(sandbox=True))
    with pytest.raises(ValueError, match="nothing runs: bubblewrap"):
        interpreter.computer.run("shell", "touch ran")
    assert not (workplace / "ran").exists()
