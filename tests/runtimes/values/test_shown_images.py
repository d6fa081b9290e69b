"""Figures, images and tables, of the libraries that make them."""

import base64
import sys
from collections.abc import Iterator

import pytest

from oi_tui.runtimes import Computer
from tests.runtimes.playing import play


@pytest.fixture(scope="module")
def drawing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """A computer that has drawn once, which the tests share; it is one that a script in a notebook starts."""
    computer = Computer(cwd=tmp_path_factory.mktemp("drawing"), python=sys.executable)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
        play(computer, "python", "import matplotlib.pyplot as plt")
    yield computer
    computer.close()


@pytest.mark.parametrize(
    ("code", "images"),
    [
        ("plt.plot([1, 2]);", 1),
        ("plt.plot([1, 2]); plt.show()", 1),
        ("fig, ax = plt.subplots()\nfig", 1),
        ("fig, ax = plt.subplots()\nfig.show()", 1),
        ("fig, ax = plt.subplots()\nfig.show()\nax.plot([1])\nplt.show()", 2),
        ("fig, ax = plt.subplots()\ndisplay(fig)", 1),
        ("plt.figure(); plt.plot([1]); plt.figure(); plt.plot([2]); plt.show()", 2),
        ("plt.figure(); plt.figure(); plt.show()", 0),
        # What a notebook may give `show`, which means `close` there.
        ("plt.plot([1])\nplt.show(plt.gcf())", 1),
        ("plt.plot([1])\nplt.show(close=False)\nassert plt.get_fignums()", 1),
        ("fig = plt.figure()\nfig", 0),
        ("plt.figure().text(0.5, 0.5, 'only words');", 1),
        ("for i in range(2):\n    plt.plot([i]); plt.show()", 2),
        ("plt.plot([1]); plt.close()", 0),
        ("plt.switch_backend('agg'); plt.plot([1]); plt.close()\n%matplotlib inline\nplt.plot([1])", 1),
    ],
)  # fmt: skip
def test_a_figure_is_shown_once(drawing: Computer, code: str, images: int) -> None:
    played = play(drawing, "python", code)
    assert played.state == "finished", played.text
    assert [shown.format for shown in played.shown] == ["base64.png"] * images


def test_the_backend_is_one_of_notebooks_by_its_name(drawing: Computer) -> None:
    assert play(drawing, "python", "'inline' in plt.get_backend()").text == "True\n"


@pytest.mark.parametrize("code", ["image", "display(image)", "image.show()"])
def test_an_image_is_shown_once(drawing: Computer, code: str) -> None:
    played = play(drawing, "python", f"from PIL import Image\nimage = Image.new('RGB', (9, 9))\n{code}")
    assert ([shown.format for shown in played.shown], played.text) == (["base64.png"], "")


def test_a_table_is_shown_as_text_and_as_html(drawing: Computer) -> None:
    played = play(drawing, "python", "import pandas\npandas.DataFrame({'a': [1, 2]})")
    assert played.text == "   a\n0  1\n1  2\n"
    assert [shown.format for shown in played.shown] == ["html"]


def test_what_ipython_displays_is_shown(drawing: Computer) -> None:
    played = play(drawing, "python", "from IPython.display import HTML, display\ndisplay(HTML('<b>x</b>'))")
    assert ([(shown.format, shown.content) for shown in played.shown], played.text) == (
        [("html", "<b>x</b>")],
        "x\n",
    )


def test_retina_figures_have_twice_the_dots(drawing: Computer) -> None:
    def width(code: str) -> int:
        played = play(drawing, "python", code)
        (shown,) = played.shown
        return int.from_bytes(base64.b64decode(shown.content)[16:20], "big")

    plot = (
        "%config InlineBackend.print_figure_kwargs = {'bbox_inches': None}\n"
        "plt.figure(figsize=(2, 2)); plt.plot([1])"
    )
    plain = width(plot)
    assert width(f"%config InlineBackend.figure_format = 'retina'\n{plot}") == 2 * plain
    assert width(f"%config InlineBackend.figure_format = 'png'\n{plot}") == plain
