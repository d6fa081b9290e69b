"""What stands in for IPython in a Python without it."""

# ruff: noqa: E501 - code as it is written in cells

import base64
import io
import sys
import venv
import wave
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from oi_tui.runtimes import Computer
from tests.runtimes.playing import play
from tests.runtimes.stand_ins import stand_in

Make = Callable[..., Computer]
MAGIC = """from IPython.core.magic import register_line_magic
@register_line_magic
def twice(line): return line * 2
%twice ab"""
MAGICS = """from IPython.core.magic import *
@magics_class
class Words(Magics):
    @line_magic
    def where(self, line): return self.shell is get_ipython(), line
    @cell_magic("lines")
    def of_a_cell(self, line, cell): return line, cell
    @line_magic
    @needs_local_scope
    def has(self, line, local_ns=None): return line in local_ns
get_ipython().register_magics(Words)
"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """A computer whose Python has nothing but the standard library."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder / "python", with_pip=False, symlinks=True)
    computer = Computer(cwd=folder, python=str(folder / "python"))
    # It belongs to all tests, not to the one that comes first.
    assert play(computer, "python", f"from IPython.display import *\n{MAGICS}").text == ""
    yield computer
    computer.close()


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("from IPython.display import display, HTML, Image, Markdown, clear_output\nMarkdown('# a')", "# a\n"),
        ("from IPython.core.display import display, HTML\ndisplay(HTML('<b>x</b>'))", "x\n"),
        ("from IPython import display as shows\nshows.display(shows.Math('$x$'))", "$\\displaystyle x$\n"),
        ("from IPython.lib.display import YouTubeVideo\nYouTubeVideo('a')", "[page: https://www.youtube.com/embed/a]\n"),
        ("JSON('{\"a\": 1}')", '{\n  "a": 1\n}\n'),
        ("SVG('<?xml?><svg><g/></svg>')", "[drawing]\n"),
        ("Code('x = 1')", "x = 1\n"),
        ("Pretty('as it is')", "as it is\n"),
        ("display_markdown(Markdown('*a*'))", "*a*\n"),
        ("Image(url='http://a.b/c.png')", "[image: http://a.b/c.png]\n"),
        ("shown = DisplayHandle()\nshown.display(1)\nshown.update(2)", "1\n\x1b[1A\r\x1b[J2\n"),
        ("len([step for step in ProgressBar(2)])", "2\n"),
        ("HTML('a')._repr_html_(), [HTML('a')]", "('a', [<IPython.core.display.HTML object>])\n"),
        ("clear_output()", "\x1b[9999A\r\x1b[J"),
        ("import IPython\nIPython.get_ipython() is get_ipython() is IPython.core.getipython.get_ipython()", "True\n"),
        ("import IPython\nIPython.__version__, IPython.version_info[-1]", "('9.0.0+oi.tui', 'oi-tui')\n"),
        ("from IPython import InteractiveShell\nInteractiveShell.instance() is get_ipython()", "True\n"),
        (MAGIC, "'abab'\n"),
        ("%where to", "(True, 'to')\n"),
        ("%%lines a\nb", "('a', 'b\\n')\n"),
        ("%has Words", "True\n"),
    ],
)  # fmt: skip
def test_code_of_notebooks_runs_without_ipython(bare: Computer, code: str, text: str) -> None:
    played = play(bare, "python", code)
    assert (played.text.rpartition("==] 2/2\n")[2], played.state) == (text, "finished")


def test_the_values_of_all_statements_are_shown_where_that_is_set(bare: Computer) -> None:
    name = "InteractiveShell.ast_node_interactivity"
    play(bare, "python", f"from IPython.core.interactiveshell import InteractiveShell\n{name} = 'all'")
    assert play(bare, "python", f"1\n2\n{name} = 'last_expr'").text == "1\n2\n"
    assert play(bare, "python", "1\n2").text == "2\n"


def test_numbers_are_shown_as_sound(bare: Computer) -> None:
    code = "Audio([[0, 1, -1], [0, 0, 0]], rate=8000)"
    (shown,) = play(bare, "python", code).shown
    data = base64.b64decode(shown.content.partition("base64,")[2].partition('"')[0])
    with wave.open(io.BytesIO(data)) as sound:
        assert (sound.getnchannels(), sound.getnframes(), sound.getframerate()) == (2, 3, 8000)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import IPython.testing", "ModuleNotFoundError: No module named 'IPython.testing': IPython is not installed."),
        ("from IPython import embed", "ModuleNotFoundError: No module named 'IPython.embed': IPython is not"),
        ("HTML(5)", "TypeError: HTML expects text, not 5"),
        ("Image('missing.png')", "FileNotFoundError: No such file"),
        ("Video('missing.mp4')", "ValueError: This is no file"),
        ("JSON(5)", "TypeError: JSON expects JSONable dict or list, not 5"),
    ],
)  # fmt: skip
def test_what_is_wrong_or_missing_is_said(bare: Computer, code: str, reason: str) -> None:
    played = play(bare, "python", code)
    assert played.reason.startswith(reason)
    assert "stand_in" not in played.text


def test_other_names_are_looked_for_as_ever(bare: Computer) -> None:
    code = "import importlib.util\nimportlib.util.find_spec('no_such_module')"
    assert play(bare, "python", code).text == ""
    assert play(bare, "python", "import no_such_module").reason == (
        "ModuleNotFoundError: No module named 'no_such_module'"
    )


def test_an_ipython_that_was_just_installed_is_the_one_that_is_imported(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv.create(tmp_path / "python", with_pip=False, symlinks=True)
    version = "python{}.{}".format(*sys.version_info)
    package = tmp_path / "python" / "lib" / version / "site-packages" / "IPython"
    stand_in(tmp_path, "uv", f"mkdir {package}; echo '__version__ = 1' > {package}/__init__.py", monkeypatch)
    computer = make(python=str(tmp_path / "python"))
    assert play(computer, "python", "import IPython.display\nIPython.__version__").text == "'9.0.0+oi.tui'\n"
    play(computer, "python", "%pip install ipython")
    assert play(computer, "python", "import IPython\nIPython.__version__").text == "1\n"


ARGUMENTS = """from IPython.core.magic import register_line_magic
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
@register_line_magic
@magic_arguments()
@argument('-n', '--number', type=int, default=1, help='how often')
@argument('words', nargs='*')
def say(line):
    "Say words."
    given = parse_argstring(say, line)
    print(given.words * given.number)
"""


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (f"{ARGUMENTS}%say -n 2 'a b'", "['a b', 'a b']\n"),
        (f"{ARGUMENTS}'how often' in say.__doc__, 'Say words.' in say.__doc__", "(True, True)\n"),
        (
            "from IPython.utils.io import capture_output\nwith capture_output() as kept:\n    print('a')\n    display(1)\nkept.stdout, len(kept.outputs)",
            "('a\\n', 1)\n",
        ),
        (
            "from IPython.utils.capture import capture_output\nwith capture_output(stderr=False, display=False) as kept:\n    display(1)\nkept.show()",
            "1\n",
        ),
        ("from IPython.lib.pretty import pretty\nprint(pretty({'b': [1, 2], 'a': {3}}))", "{'b': [1, 2], 'a': {3}}\n"),
        (
            "from IPython.lib.pretty import pretty\nprint(pretty(list(range(9)), max_width=12))",
            "[0,\n 1,\n 2,\n 3,\n 4,\n 5,\n 6,\n 7,\n 8]\n",
        ),
        (
            "from IPython.lib.pretty import PrettyPrinter\nimport sys\np = PrettyPrinter(sys.stdout)\nwith p.group(1, '<', '>'):\n    p.text('a')\np.flush()",
            "<a>",
        ),
        ("from IPython.utils.process import getoutput\ngetoutput('echo hi')", "'hi\\n'\n"),
        ("from IPython.utils.text import indent\nindent('a', 2)", "'  a'\n"),
        ("from IPython.utils.tempdir import TemporaryDirectory\nfrom IPython.utils.timing import timing\ntiming(len, 'a') < 1", "True\n"),
        ("from IPython.core.debugger import Pdb, set_trace\nfrom IPython.core.error import UsageError\nissubclass(UsageError, Exception)", "True\n"),
        ("from IPython.core import ultratb\nultratb.FormattedTB(mode='Verbose', color_scheme='Linux').mode", "'Verbose'\n"),
        ("from IPython.core.pylabtools import figsize\nfrom IPython.paths import get_ipython_dir\nfrom IPython.utils.path import ensure_dir_exists", ""),
    ],
)  # fmt: skip
def test_the_tools_of_ipython_do_what_they_do_there(bare: Computer, code: str, text: str) -> None:
    assert play(bare, "python", code).text == text


def test_arguments_of_a_magic_that_are_wrong_are_an_error_of_use(bare: Computer) -> None:
    played = play(bare, "python", f"{ARGUMENTS}%say -n many")
    assert played.state == "failed"
    assert "UsageError: argument -n/--number: invalid int value: 'many'" in played.reason
