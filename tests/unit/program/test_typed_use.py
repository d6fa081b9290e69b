"""Type checkers and editors know the package as it is."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from oi_tui.api.computer import ApiComputer
from oi_tui.api.interpreter import OpenInterpreter
from oi_tui.api.llm_settings import LlmSettings
from oi_tui.api.settings import ACTING
from oi_tui.engine.settings.profile import list_settings

PROGRAM = """
from oi_tui import OpenInterpreter

interpreter = OpenInterpreter()


async def cells(stream: bool) -> None:
    reveal_type(interpreter.llm.model)
    reveal_type(interpreter.llm.max_budget)
    reveal_type(interpreter.chat("a"))
    reveal_type(interpreter.chat("a", stream=True))
    reveal_type(interpreter.chat("a", False, True))
    reveal_type(interpreter.chat("a", stream=stream))
    reveal_type(interpreter.chat("a", blocking=False))
    reveal_type(interpreter.computer.run("python", "1"))
    chunks = interpreter.achat("a")
    await chunks.aclose()
    interpreter.llm.modle = "m"
    interpreter.auto_run = "yes"
    interpreter.on_aproval = None
"""
TYPES = [
    "str",
    "float | None",
    "list[dict[str, Any]]",
    "Generator[dict[str, Any], None, None]",
    "Generator[dict[str, Any], None, None]",
    "Generator[dict[str, Any], None, None] | list[dict[str, Any]] | None",
    "None",
    "list[dict[str, Any]]",
]
ERRORS = ["modle", 'variable has type "bool"', "on_aproval"]


@pytest.mark.parametrize(
    ("group", "prefix"), [(OpenInterpreter, ""), (LlmSettings, "llm."), (ApiComputer, "computer.")]
)
def test_every_setting_is_declared_with_its_type(group: type, prefix: str) -> None:
    [tree] = ast.parse(inspect.getsource(group)).body
    assert isinstance(tree, ast.ClassDef)
    seen = [branch for branch in tree.body if isinstance(branch, ast.If)]
    declared = {
        item.target.id: ast.unparse(item.annotation)
        for branch in seen
        for item in branch.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    }
    for setting in list_settings():
        name = setting.key.removeprefix(prefix)
        if setting.key not in ACTING or not setting.key.startswith(prefix) or "." in name:
            continue
        kind = "tuple[str, ...]" if setting.kind is tuple else setting.kind.__name__
        expected = f"{kind} | None" if setting.optional else kind
        # A script may change the list, and finds the folder also where none was chosen.
        expected = {"loop_breakers": "list[str]", "conversation_history_path": "str"}.get(name, expected)
        assert (name, declared.get(name)) == (name, expected)


@pytest.mark.slow
def test_a_type_checker_finds_a_misspelt_setting_and_knows_what_chat_returns(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    # `.ci/run` checks the types of the program at the same time, with what it keeps in the folder above.
    options = ("--strict", "--follow-imports=silent", "--config-file=", "--cache-dir=.mypy_cache/typed_use")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", *options, program],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    types = re.findall(r'Revealed type is "(.*)"', checked.stdout)
    assert [re.sub(r"(typing|builtins|collections\.abc)\.", "", item) for item in types] == TYPES
    errors = [line for line in checked.stdout.splitlines() if ": error:" in line]
    assert len(errors) == len(ERRORS), checked.stdout
    assert all(name in line for name, line in zip(ERRORS, errors, strict=True)), checked.stdout
