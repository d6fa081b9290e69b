"""Cells whose outcome is that of a Jupyter kernel: the texts were taken from ipykernel 7."""

import sys
from collections.abc import Iterator

import pytest

from oi_tui.runtimes import Computer
from tests.runtimes.playing import play

REFUSES = """class B:
    def _ipython_display_(self): raise NotImplementedError
    def __repr__(self): return 'B'
B()"""
LINE_MAGIC = """from IPython.core.magic import register_line_magic
@register_line_magic
def twice(line): return line * 2
%twice ab"""
BOTH = """from IPython.core.magic import register_line_cell_magic
@register_line_cell_magic
def both(line, cell=None): return (line, cell)
%both a"""
MINE = "get_ipython().register_magic_function(lambda line: line, 'line', 'mine')"
#: Between two cells.
NEXT = "\n# next cell\n"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """A computer with the Python of the tests, which has IPython."""
    pytest.importorskip("IPython", reason="IPython is not installed")
    computer = Computer(cwd=tmp_path_factory.mktemp("parity"), python=sys.executable)
    # It belongs to all tests, not to the one that comes first.
    assert play(computer, "python", "None").end.state == "finished"
    yield computer
    computer.close()


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("lines = !echo hi\nlines.l", "['hi']\n"),
        ("_oh is Out, _ih is In", "(True, True)\n"),
        ("class A:\n  def _repr_pretty_(self, p, cycle): p.text('pretty')\nA()", "pretty\n"),
        (
            "class A:\n  def _repr_pretty_(self, p, cycle): 1 / 0\n  def __repr__(self): return 'A'\nA()",
            "A\n",
        ),
        ("class B:\n  def _ipython_display_(self): print('own')\nB()", "own\n"),
        ("class B:\n  def _ipython_display_(self): print('own')\nB", "__main__.B\n"),
        (REFUSES, "B\n"),
        ("class C:\n  def _repr_markdown_(self): return '*md*'\nC()", "*md*\n"),
        ("from IPython.display import Markdown\nMarkdown('# title')", "# title\n"),
        ("from IPython.display import Math\nMath('x')", "$\\displaystyle x$\n"),
        ("from IPython.display import JSON\nJSON({'a': 1})", '{\n  "a": 1\n}\n'),
        (LINE_MAGIC, "'abab'\n"),
        (f"{MINE}\n%mine abc", "'abc'\n"),
        (BOTH, "('a', None)\n"),
        (f"{BOTH}{NEXT}%%both a\nb", "('a', None)\n('a', 'b\\n')\n"),
        (f"{BOTH}\nfound = %both found\nfound", "('found', None)\n"),
        (f"{MINE}\nget_ipython().find_magic('mine')('x')", "'x'\n"),
        ("get_ipython().find_cell_magic('nosuch')", ""),
    ],
)
def test_cells_end_as_in_a_kernel(python: Computer, code: str, text: str) -> None:
    played = [play(python, "python", cell) for cell in code.split(NEXT)]
    assert "".join(cell.text for cell in played) == text
    assert {cell.state for cell in played} == {"finished"}


def test_a_drawing_as_svg_is_a_page(python: Computer) -> None:
    code = "class D:\n  def _repr_svg_(self): return '<svg><text>drawn</text></svg>'\nD()"
    played = play(python, "python", code)
    assert [(shown.format, shown.content) for shown in played.shown] == [
        ("html", "<svg><text>drawn</text></svg>")
    ]


def test_a_magic_of_an_unknown_kind_is_refused(python: Computer) -> None:
    played = play(python, "python", "get_ipython().register_magic_function(len, 'page')")
    assert "magic_kind must be line, cell or line_cell, not 'page'" in played.text
