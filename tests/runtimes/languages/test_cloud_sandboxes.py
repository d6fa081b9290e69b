"""The recipes of the page about cloud sandboxes, with stand-ins for the SDKs that run the code here."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from oi_tui.custom_languages import CustomLanguages
from oi_tui.engine.credentials.trust import ExternalContent, Trust
from oi_tui.engine.settings import python_profile
from oi_tui.engine.settings.profile import Profile
from oi_tui.runtimes import Computer
from oi_tui.runtimes.language import Choices
from tests.runtimes.playing import play

PAGE = (Path(__file__).parents[3] / "docs" / "guide" / "cloud-sandboxes.md").read_text()
#: What both SDKs with callbacks have in common: Python that keeps its names until it is restarted.
INTERPRETER = """
import contextlib, io, traceback, types

class Interpreter:
    def __init__(self):
        self.names = {}

    def run_code(self, code, *, context, timeout, on_stdout, on_stderr, on_error, on_result=None):
        assert context and timeout == 0
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            try:
                exec(code, self.names)
            except Exception as error:
                on_error(types.SimpleNamespace(name=type(error).__name__, traceback=traceback.format_exc()))
        on_stdout(types.SimpleNamespace(line=output.getvalue(), output=output.getvalue()))
        if on_result and code.startswith("image"):
            on_result(types.SimpleNamespace(png="aGk=", text="<Figure>"))

def note(text):
    with open("calls", "a") as file:
        file.write(text + " ")
"""
SDKS = {
    "E2B": (
        "e2b_code_interpreter",
        INTERPRETER
        + """
class Sandbox(Interpreter):
    @classmethod
    def create(cls, timeout):
        note("create")
        return cls()

    def create_code_context(self):
        return "context"

    def restart_code_context(self, context):
        self.names.clear()

    def kill(self):
        note("end")
""",
    ),
    "Daytona": (
        "daytona",
        INTERPRETER
        + """
class CodeInterpreter(Interpreter):
    def create_context(self):
        return "context"

    def delete_context(self, context):
        self.names.clear()

class Daytona:
    def create(self):
        note("create")
        self.code_interpreter = CodeInterpreter()
        return self

    def delete(self):
        note("end")
""",
    ),
    "Modal": (
        "modal",
        INTERPRETER
        + """
import subprocess, sys

App = types.SimpleNamespace(lookup=lambda name, create_if_missing: name)
Image = types.SimpleNamespace(debian_slim=lambda: types.SimpleNamespace(pip_install=lambda *names: names))

class Sandbox:
    @classmethod
    def create(cls, app, image, timeout):
        note("create")
        return cls()

    def exec(self, program, *arguments, bufsize):
        pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process = subprocess.Popen([sys.executable, *arguments], text=True, bufsize=bufsize, **pipes)
        self.process.stdin.drain = self.process.stdin.flush
        return self.process

    def terminate(self):
        note("end")
        self.process.kill()
        self.process.wait()
""",
    ),
}  # fmt: skip


def block(heading: str, kind: str) -> str:
    found = re.search(rf"^## {heading}$.*?^( *)```{kind}\n(.*?)^ *```$", PAGE, re.DOTALL | re.MULTILINE)
    assert found
    indent, text = found.groups()
    return re.sub(f"^{indent}", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("name", SDKS)
def test_a_class_of_the_page_runs_python_in_its_sandbox(
    make: Callable[..., Computer], tmp_path: Path, name: str
) -> None:
    module, sdk = SDKS[name]
    (tmp_path / f"{module}.py").write_text(sdk)
    (tmp_path / "cloud.py").write_text(block(name, "python"))
    found = CustomLanguages(["cloud.py"], Choices(), tmp_path, Trust(tmp_path / "trusted.json"))
    assert not found.problems
    shown = found.show(name)
    assert shown
    found.trust(shown)
    computer = make(declared=found.languages)
    assert play(computer, name, "x = 3\nprint('é', x)").text == "é 3\n"
    assert play(computer, name, "print(x + 1, end='')").text == "4"
    assert "ZeroDivisionError" in play(computer, name, "1 / 0").text
    assert "NameError" not in play(computer, name, "x").text
    if name == "E2B":
        assert [item.format for item in play(computer, name, "image = 1").shown] == ["base64.png"]
    computer.reset()
    assert (tmp_path / "calls").read_text() == "create end "
    assert "NameError" in play(computer, name, "x").text


def test_the_profiles_of_the_page_allow_that_language_only(tmp_path: Path) -> None:
    written = tmp_path / "cloud.yaml"
    written.write_text(block("Use a class", "yaml"))
    program = ExternalContent("profile", str(tmp_path / "cloud_profile.py"), block("Use a class", "python"))
    for profile in (Profile.load(written), python_profile.run(program)):
        assert profile.custom_languages == ("cloud_e2b.py",)
        assert profile.languages == ("e2b",)
        assert profile.pass_environment == ("E2B_API_KEY",)
        assert not profile.unknown
