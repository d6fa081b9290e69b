"""The review reads a cell with magics as the driver of Python does, or not at all."""

import ast
import builtins
import importlib
import itertools
import random
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from oi_tui.engine.review.notebook_rules import read_notebook_cell
from oi_tui.engine.review.scanner import scan_code
from oi_tui.runtimes.language import DRIVERS

#: Lines that mean one thing alone, and another within a text, in parentheses or after a backslash.
LINES = (
    'x = """',
    '"""',
    "'''",
    "# '''",
    "(print",
    ")",
    "if x:",
    "    y",
    "else: z",
    "@f",
    "y; \\",
    "%time y",
    '%time ("a")',
    '%time """; y = """',
    "%time y # \\",
    "%time -n5 (y)",
    "%timeit -n 5 [y]",
    "%time if x: y",
    "%time def f(): y",
    "%time In [1]: y = 2",
    "%matplotlib inline",
    '%config InlineBackend.figure_format = """',
    "In [0]",
    "... if x else y",
    "%%time",
)
SHOWN = '%config InlineBackend.figure_format = """'
TRUNCATE = 'import os; os.ftruncate(os.open("data.csv", 2), 0)'
#: Cells whose true code is another than that which a look at single lines shows.
DECEIVING = (
    f'x = """\n{SHOWN}\n{TRUNCATE}\ny = """\n{SHOWN}',
    f'%matplotlib inline\nx = """\n{SHOWN}\n{TRUNCATE}\ny = """\n{SHOWN}',
    'from webbrowser import open_new as time\nx = (print\n%time ("data.csv")\n)',
    'from webbrowser import open_new as time\n%matplotlib inline\nx = (print\n%time ("data.csv")\n)',
    'from webbrowser import open_new as n5\n%time -n5 ("data.csv")',
    f'%time 1 # \\\nx = """\n{TRUNCATE}\n# """',
    f'%%time\nx = """\n{SHOWN}\n{TRUNCATE}\ny = """\n{SHOWN}',
    f"%matplotlib inline\r{TRUNCATE}",
    "%time In [1]: math.sin = len",
)
HARMLESS = (
    "%matplotlib inline\nx = 1",
    "x = 1\n%config InlineBackend.figure_format = 'retina'",
    "%config InlineBackend.figure_formats = {'png', 'retina'}\n%time sum([1])",
    "%%time\nx = 1",
    "%%timeit -n 5 -r 3\nsum([1])",
    "%timeit -n5 [1]",
    "def f():\n    return 1\n\n%time f()",
)


@pytest.fixture
def read_as_driver(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ast.Module | None]:
    """Return what turns a cell into the tree that the driver runs, with the code of timed lines in it."""
    monkeypatch.syspath_prepend(str(DRIVERS / "python"))
    monkeypatch.syspath_prepend(str(DRIVERS / "python" / "notebook"))
    monkeypatch.setattr(builtins, "__oi_shell__", None, raising=False)
    cells, magics = importlib.import_module("python_cells"), importlib.import_module("python_magics")

    def read(code: str) -> ast.Module | None:
        try:
            tree = _parse_as_driver(code, cells, magics)
            return None if tree is None else _replace_timed(tree, read)
        except SyntaxError:
            return None

    return read


def _parse_as_driver(source: str, cells: ModuleType, magics: ModuleType) -> ast.Module | None:
    """The steps of `_parse` in python_driver.py."""
    if source.lstrip().startswith("In ["):
        source = magics.remove_prompts(source)
    try:
        tree = cells.parse(source, "<cell 1>", 0)
    except SyntaxError as error:
        tree = magics.parse(source, lambda text: cells.parse(text, "<cell 1>", 0), error, None)[0]
    assert isinstance(tree, ast.Module)
    return tree


def _replace_timed(tree: ast.Module, read: Callable[[str], ast.Module | None]) -> ast.Module:
    """Put the code that a magic measures in its place, and `pass` for one that chooses the look of plots."""

    class Replacer(ast.NodeTransformer):
        def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
            match node.value:
                case ast.Call(ast.Name("__oi_magic__"), [ast.Constant(str(text))]):
                    name, _, rest = text.partition(" ")
                    if name == "timeit":
                        rest = rest.removeprefix("-n5 ").removeprefix("-n 5 ")
                    code = rest if name in ("time", "timeit") else "pass"
                case ast.Call(ast.Name("__oi_cell__"), [ast.Constant(), ast.Constant(str(code))]):
                    pass
                case _:
                    return node
            inner = read(code)
            return inner.body if inner is not None else ast.Raise()

    replaced = Replacer().visit(tree)
    assert isinstance(replaced, ast.Module)
    return replaced


def test_the_review_reads_what_the_driver_runs(read_as_driver: Callable[[str], ast.Module | None]) -> None:
    chance = random.Random(7)
    drawn = (chance.choices(LINES, k=chance.randint(3, 6)) for _ in range(2_000))
    others, read = [], 0
    for lines in itertools.chain(
        itertools.product(LINES, repeat=2), drawn, (code.split("\n") for code in DECEIVING)
    ):
        code = "\n".join(lines)
        cell, actual = read_notebook_cell(code), read_as_driver(code)
        # Where the driver cannot read a cell, nothing of it runs.
        if cell is not None and actual is not None:
            read += 1
            if ast.dump(cell[1]) != ast.dump(actual):
                others.append(code)
    assert others == []
    assert read > 50


@pytest.mark.parametrize("code", DECEIVING)
def test_something_is_listed_for_a_cell_whose_magics_deceive(code: str, tmp_path: Path) -> None:
    assert not scan_code("python", code, tmp_path).nothing_listed


@pytest.mark.parametrize("code", HARMLESS)
def test_nothing_is_listed_for_magics_that_measure_or_show(code: str, tmp_path: Path) -> None:
    assert scan_code("python", code, tmp_path).nothing_listed
