"""The names that the driver of Python adds to Python's own are known to the review."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.scanner import scan_code
from oi_tui.runtimes.language import DRIVERS

#: Names of the driver that are texts, lists of texts and a function that only shows.
HARMLESS = {"In", "_ih", "_i", "_ii", "_iii", "display"}


def list_driver_names() -> Iterator[str]:
    """Yield what the files of the driver make a builtin by its name."""
    for path in (DRIVERS / "python").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Attribute(ast.Name("builtins"), name, ast.Store()):
                    yield name


def test_each_name_of_the_driver_is_listed_where_it_is_handed_on_unless_it_is_harmless(
    tmp_path: Path,
) -> None:
    names = set(list_driver_names())
    assert {"get_ipython", "computer", "tools", "llm", "__oi_shell__", "_dh"} < names
    silent = {
        name for name in names if scan_code("python", f"list(map({name}, [1]))", tmp_path).nothing_listed
    }
    assert silent == HARMLESS


def test_a_variable_does_not_hide_that_a_name_of_the_driver_comes_back(tmp_path: Path) -> None:
    names = set(list_driver_names()) - HARMLESS
    code = "if 0:\n    NAME = 5\nlist(map(NAME, [1]))"
    silent = {
        name for name in names if scan_code("python", code.replace("NAME", name), tmp_path).nothing_listed
    }
    assert silent == set()


@pytest.mark.parametrize(
    "code",
    [
        "from collections import defaultdict\ndefaultdict(get_ipython)[0].user_ns.get('os').remove('a')",
        "import itertools\nip = list(itertools.starmap(get_ipython, [()]))[0]",
        "import dataclasses as d\n@d.dataclass\nclass A:\n    x: list = d.field(default_factory=get_ipython)",
        "ip = next(iter(get_ipython, 0))",
    ],
)
def test_the_shell_object_is_listed_where_a_function_is_handed_on_that_gives_it(
    code: str, tmp_path: Path
) -> None:
    assert not scan_code("python", code, tmp_path).nothing_listed


@pytest.mark.parametrize(
    "code",
    [
        "tools = ['saw', 'drill']\nfor t in tools:\n    print(t, len(tools), tools[0])",
        "for computer in ['a', 'b']:\n    print(f'{computer} is on')",
        "print([computer for computer in [1]], {llm: 1 for llm in [1]})",
        "llm = 'a model'\nprint(llm)",
        "def count(tools, computer=None):\n    return len(tools)\nprint(count(['saw']))",
    ],
)
def test_ordinary_variables_may_have_names_of_the_driver(code: str, tmp_path: Path) -> None:
    earlier = EarlierCode()
    for cell in (code, "print(1)", code):
        findings = scan_code("python", cell, tmp_path, earlier)
        assert findings.nothing_listed, (cell, findings.unchecked)
        earlier.add("python", cell, tmp_path)


@pytest.mark.parametrize("before", ["if 0:\n    NAME = 5", "def f(NAME):\n    pass", "NAME = 5\ndel NAME"])
@pytest.mark.parametrize(
    "use",
    [
        "list(map(NAME, [1]))",
        "NAME(1)",
        "x = NAME\nlist(map(x, [1]))",
        "x = [1]\nx.append(NAME)",
        "x = NAME.user_ns\nx.get('os').remove('a')",
        "@NAME\ndef f():\n    pass",
        "def f():\n    return NAME",
        "def f():\n    NAME.x.y()\nlist(map(f, [1]))",
        "def f(x=NAME):\n    pass",
    ],
)
def test_an_ordinary_variable_does_not_hide_a_name_of_the_driver(
    before: str, use: str, tmp_path: Path
) -> None:
    for name in ("get_ipython", "llm", "llm_map", "tools", "computer"):
        earlier = EarlierCode()
        earlier.add("python", before.replace("NAME", name), tmp_path)
        now = use.replace("NAME", name)
        assert not scan_code("python", now, tmp_path, earlier).nothing_listed
        assert not scan_code("python", f"{before.replace('NAME', name)}\n{now}", tmp_path).nothing_listed


@pytest.mark.parametrize(
    "tool",
    [
        "docs.search",
        "ask_model",
        "ai.chat",
        "ai.summarize",
        "files.search",
        "terminate",
        "skills.list",
        "mail.get",
    ],
)
@pytest.mark.parametrize(
    "code",
    [
        "list(map(computer.TOOL, [1]))",
        "max([1, 2], key=computer.TOOL)",
        "[1].sort(key=computer.TOOL)",
        "raise computer.TOOL",
        "def f():\n    return computer.TOOL",
        "x = [1]\nx.append(computer)\nx[0].TOOL",
    ],
)
def test_functions_of_the_computer_object_are_listed_where_they_are_handed_on(
    code: str, tool: str, tmp_path: Path
) -> None:
    assert not scan_code("python", code.replace("TOOL", tool), tmp_path).nothing_listed
