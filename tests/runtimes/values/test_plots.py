"""Figures that are pages, widgets and other forms of notebooks: what is shown of them on a terminal."""

# ruff: noqa: E501 - code as it is written in cells

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from oi_tui.runtimes import Computer
from tests.runtimes.playing import Played, play

#: A library that is like plotly in what is used of it. Its images come from an engine that may be missing.
PLOTLY = {
    "plotly/__init__.py": "from . import graph_objects, io\n",
    "plotly/basedatatypes.py": """
class Part(dict):
    __getattr__ = dict.get
class BaseFigure:
    def __init__(self, data=(), skip_invalid=False):
        self.data = [Part(trace) for trace in dict(data).get("data", ())]
        self.layout = Part(title=Part(text="Sums"))
    def _ipython_display_(self):
        raise RuntimeError("opens a browser")
    def write_html(self, path, include_plotlyjs):
        open(path, "w").write("<p>the page</p>")
    def to_image(self, format, width, height, scale):
        import kaleido
        return kaleido.draw(width, height)
""",
    "plotly/graph_objects.py": "from .basedatatypes import BaseFigure\nclass Figure(BaseFigure): pass\n",
    "plotly/io/__init__.py": "from ._renderers import renderers, show\n",
    "plotly/io/_base_renderers.py": "class ExternalRenderer: pass\n",
    "plotly/io/_renderers.py": """
class Renderers(dict):
    default = "browser"
renderers = Renderers(notebook=None, plotly_mimetype=None)
def show(figure, renderer=""):
    shown = {"data": figure.data}
    for name in (renderer or renderers.default).split("+"):
        renderers[name].render(shown)
""",
}
FIGURE = "import plotly\nfigure = plotly.graph_objects.Figure({'data': [{'type': 'bar'}, {'type': 'bar'}]})\n"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """A computer with the Python of the tests, which has tqdm, rich and IPython."""
    computer = Computer(cwd=tmp_path_factory.mktemp("plots"), python=sys.executable)
    play(computer, "python", "import tqdm")
    yield computer
    computer.close()


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def page_of(played: Played) -> str:
    return Path(played.text.rpartition("until Python ends: ")[2].strip()).read_text()


@pytest.mark.parametrize(
    "show", ["figure", "plotly.io.show(figure)", "plotly.io.show(figure, 'plotly_mimetype+notebook')", "display({'application/vnd.plotly.v1+json': {'data': [dict(trace) for trace in figure.data]}}, raw=True)"]
)  # fmt: skip
def test_a_figure_that_is_a_page_is_shown_as_an_image(
    tmp_path: Path, make: Callable[..., Computer], show: str
) -> None:
    write(tmp_path, {**PLOTLY, "kaleido.py": "def draw(width, height):\n    return b'%d' % width\n"})
    played = play(make(), "python", FIGURE + show)
    assert [(shown.format, shown.content) for shown in played.shown] == [("base64.png", "NzAw")]
    assert played.text.startswith(
        'plotly figure: 2 bar "Sums"\nInteractive page, for a browser, until Python ends: '
    )
    assert page_of(played) == "<p>the page</p>"


def test_what_draws_a_figure_is_named_where_it_is_missing(
    tmp_path: Path, make: Callable[..., Computer], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {**PLOTLY, "kaleido.py": "def draw(width, height):\n    raise ValueError('no Chrome')\n"})
    monkeypatch.setenv("PATH", str(tmp_path))
    played = play(make(), "python", FIGURE + "figure")
    assert (played.state, played.shown) == ("finished", [])
    assert (
        "No image could be made by kaleido (no Chrome). To see one here, install kaleido "
        "(%pip install kaleido) or Chromium.\n"
    ) in played.text
    assert page_of(played) == "<p>the page</p>"


def test_a_figure_that_its_library_refuses_is_an_error_of_the_cell(
    tmp_path: Path, make: Callable[..., Computer]
) -> None:
    """A wrong specification of altair was told as a missing program, and the cell counted as done."""
    write(
        tmp_path,
        {
            "altair/__init__.py": """
class TopLevelMixin:
    def to_dict(self): raise ValueError("no parameter named 'selection'")
    def save(self, path, **options): self.to_dict()
TopLevelMixin.__module__ = "altair"
"""
        },
    )
    played = play(make(), "python", "import altair\naltair.TopLevelMixin()")
    assert (played.state, played.shown) == ("failed", [])
    assert played.text.splitlines()[-1] == "ValueError: no parameter named 'selection'"
    assert "install" not in played.text


def test_a_page_that_cannot_be_written_is_told(tmp_path: Path, make: Callable[..., Computer]) -> None:
    failing = PLOTLY["plotly/basedatatypes.py"].replace(
        'open(path, "w").write("<p>the page</p>")', 'raise OSError("the disk is full")'
    )
    write(
        tmp_path,
        {
            **PLOTLY,
            "plotly/basedatatypes.py": failing,
            "kaleido.py": "def draw(width, height):\n    return b'1'\n",
        },
    )
    played = play(make(), "python", FIGURE + "figure")
    assert played.text == 'plotly figure: 2 bar "Sums"\nIts page could not be written: the disk is full\n'
    assert (played.state, len(played.shown)) == ("finished", 1)


@pytest.mark.slow
@pytest.mark.needs("chromium")
def test_a_browser_draws_a_figure_that_nothing_else_draws(
    tmp_path: Path, make: Callable[..., Computer]
) -> None:
    write(tmp_path, {**PLOTLY, "kaleido.py": "def draw(width, height):\n    raise ValueError('no Chrome')\n"})
    played = play(make(), "python", FIGURE + "figure")
    assert [shown.format for shown in played.shown] == ["base64.png"], played.text


@pytest.mark.parametrize(
    ("library", "code", "text"),
    [
        ("altair", "altair.Chart({'values': [{'a': 1}]}).mark_bar().encode(x='a:Q')", "altair chart: bar, x is a\n"),
        ("plotly", "import plotly.graph_objects\nplotly.graph_objects.Figure()", "plotly figure: empty\n"),
        ("bokeh", "import bokeh.plotting\nf = bokeh.plotting.figure()\nf.line([1], [2])\nbokeh.plotting.show(f)", "bokeh figure\n"),
    ],
)  # fmt: skip
def test_figures_of_the_libraries_themselves_have_a_page(
    python: Computer, library: str, code: str, text: str
) -> None:
    pytest.importorskip(library, reason=f"{library} is not installed")
    played = play(python, "python", f"import {library}\n{code}")
    assert played.state == "finished"
    assert played.text.startswith(text)
    assert "<script" in page_of(played)


def test_figures_of_bokeh_that_share_their_data_are_shown_one_after_another(python: Computer) -> None:
    pytest.importorskip("bokeh", reason="bokeh is not installed")
    code = """
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure, show
source = ColumnDataSource(dict(x=[1, 2], y=[3, 4]))
for colour in ("red", "blue"):
    plot = figure()
    plot.line("x", "y", source=source, color=colour)
    show(plot)
show(plot)
"""
    played = play(python, "python", code)
    assert played.state == "finished"
    assert played.text.count("bokeh figure") == 3


def test_bokeh_loads_nothing_for_a_page(python: Computer) -> None:
    pytest.importorskip("bokeh", reason="bokeh is not installed")
    code = "import bokeh.io\nbokeh.io.output_notebook()\nprint(bokeh.io.state.curstate().notebook)"
    assert play(python, "python", code).text == "True\n"


def test_of_a_bundle_that_only_a_page_shows_the_types_are_printed(python: Computer) -> None:
    code = "display({'application/javascript': 'f()', 'application/vnd.own+json': {}}, raw=True)"
    assert play(python, "python", code).text == "[application/javascript, application/vnd.own+json]\n"
    code = "display({'application/vnd.own+json': {}, 'text/plain': 'words'}, raw=True)"
    assert play(python, "python", code).text == "words\n"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("%%html\n<p>a cell</p>", "a cell\n"),
        ("%%svg\n<svg></svg>", "[drawing]\n"),
        ("from IPython.display import HTML\nHTML('<b>bold</b> words')", "bold words\n"),
        ("from IPython.display import display_html\ndisplay_html('<i>x</i>', raw=True)", "x\n"),
        ("from IPython.display import publish_display_data\npublish_display_data({'text/html': '<p>sent</p>'})", "sent\n"),
        ("from IPython.display import IFrame\nIFrame('https://example.org', 9, 9)", "[page: https://example.org]\n"),
        ("from IPython.display import Audio\nAudio(data=b'RIFF', rate=8000)", "[audio]\n"),
        ("from IPython.display import Image\nImage(url='https://example.org/x.png')", "[image: https://example.org/x.png]\n"),
    ],
)  # fmt: skip
def test_of_a_page_its_words_are_shown_and_given_to_the_model(python: Computer, code: str, text: str) -> None:
    pytest.importorskip("IPython", reason="IPython is not installed")
    played = play(python, "python", code)
    assert played.text == text
    assert [(shown.format, shown.view) for shown in played.shown] == [("html", text.rstrip())]


def test_a_value_that_says_all_its_forms_at_once_is_shown_as_its_text(python: Computer) -> None:
    played = play(
        python, "python", "from rich.table import Table\ntable = Table('a')\ntable.add_row('1')\ntable"
    )
    assert "│ 1 │" in played.text
    (page,) = played.shown
    assert page.view is not None
    assert page.view.startswith("┏━━━┓\n┃ a ┃\n")


@pytest.mark.parametrize(
    "words", ["from tqdm.notebook import tqdm", "from tqdm import tqdm_notebook as tqdm"]
)
def test_a_bar_of_a_notebook_is_one_of_a_terminal(python: Computer, words: str) -> None:
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    played = play(python, "python", f"{words}\nfor n in tqdm(range(3), desc='work'): pass")
    assert "work: 100%" in played.text
    assert "3/3" in played.text
