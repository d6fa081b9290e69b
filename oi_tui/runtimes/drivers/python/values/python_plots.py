"""Figures of plotly, altair and bokeh: an image where something here can draw one, and always the page."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import atexit
import collections
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import tempfile

from python_quiet_import import import_quietly

#: Classes of figures, by their libraries.
_CLASSES = {"plotly": "BaseFigure", "altair": "TopLevelMixin", "bokeh": "LayoutDOM"}
_BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "brave-browser",
)
#: Renderers of plotly for the page of a notebook.
_OF_NOTEBOOKS = (
    *("notebook", "notebook_connected", "plotly_mimetype", "jupyterlab", "nteract", "vscode"),
    *("kaggle", "azure", "colab", "cocalc", "databricks"),
)
#: Nothing is loaded from the network for an image.
_OPTIONS = (
    *("--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-extensions"),
    *("--disable-sync", "--disable-background-networking", "--force-device-scale-factor=2"),
    *("--virtual-time-budget=5000", "--proxy-server=127.0.0.1:9", "--proxy-bypass-list=<-loopback>"),
)
#: How long a browser may take, in seconds.
_TIMEOUT = 20.0
#: Where the pages of this process are; the folder is made for the first.
_pages = []
#: What to install to get images, for a person who has no program that draws them.
_ENGINES = {
    "plotly": "install kaleido (%pip install kaleido) or Chromium",
    "altair": "install vl-convert (%pip install vl-convert-python)",
    "bokeh": "install Chromium",
}


def find_library(value):
    """Return the library whose figure a value is; "" for other values."""
    for entry in type(value).__mro__:
        library = entry.__module__.partition(".")[0]
        if _CLASSES.get(library) == entry.__name__:
            return library
    return ""


def find_figure(forms):
    """Return the figure of plotly or altair that is given as its JSON; None for other forms."""
    for form, data in forms.items():
        if not isinstance(data, dict):
            continue
        if form == "application/vnd.plotly.v1+json" and "plotly" in sys.modules:
            data = {name: data[name] for name in ("data", "layout", "frames") if name in data}
            return sys.modules["plotly"].graph_objects.Figure(data, skip_invalid=True)
        if form.startswith("application/vnd.vegalite.") and "altair" in sys.modules:
            return sys.modules["altair"].Chart.from_dict(data)
    return None


def show(shows, value):
    """Say what the figure is, show its image, and name its page.

    A figure that its library refuses, such as one with a wrong specification, is an error of the cell.
    """
    library = find_library(value)
    page, trouble = "", ""
    try:
        page = _save(value, library)
    except OSError as error:
        trouble = "Its page could not be written: {}".format(error)
    print(_describe(value, library))
    if trouble:
        print(trouble)
    image, problem = _draw(value, library, page)
    if image:
        shows._send("base64.png", image)
    else:
        print("No image could be made{}. To see one here, {}.".format(problem, _ENGINES[library]))
    if page:
        print("Interactive page, for a browser, until Python ends: {}".format(page))


# -- what it is


def _describe(value, library):
    try:
        if library == "plotly":
            kinds = collections.Counter(trace.type for trace in value.data)
            traces = ", ".join("{} {}".format(many, kind) for kind, many in kinds.items())
            title = value.layout.title.text
            return "plotly figure: {}{}".format(traces or "empty", ' "{}"'.format(title) if title else "")
        if library == "altair":
            specification = value.to_dict()
            mark = specification.get("mark", {})
            mark = mark.get("type", "") if isinstance(mark, dict) else mark
            axes = [
                "{} is {}".format(name, axis.get("field", axis.get("aggregate")))
                for name, axis in specification.get("encoding", {}).items()
                if isinstance(axis, dict) and (axis.get("field") or axis.get("aggregate"))
            ]
            return "altair chart: {}".format(", ".join(filter(None, [mark, *axes])) or type(value).__name__)
    except Exception:
        # A figure that cannot be described may still be drawn.
        pass
    return "{} {}".format(library, type(value).__name__.lower())


# -- its page


def _save(value, library):
    if not _pages:
        _pages.append(tempfile.mkdtemp(prefix="oi-tui-plots-"))
        _pages.append(0)
        atexit.register(shutil.rmtree, _pages[0], ignore_errors=True)
    _pages[1] += 1
    path = os.path.join(_pages[0], "plot-{}.html".format(_pages[1]))
    if library == "plotly":
        # The library itself is a file beside the pages, shared by them.
        value.write_html(path, include_plotlyjs="directory")
    elif library == "altair":
        value.save(path, format="html", inline=_is_installed("vl_convert"))
    else:
        from bokeh.embed import file_html
        from bokeh.embed.util import OutputDocumentFor
        from bokeh.resources import INLINE

        # In a document of its own for the moment: figures that share data can only be in one document.
        with OutputDocumentFor([value], always_new=True):
            page = file_html(value, INLINE, "Bokeh plot")
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
    return path


def _is_installed(name):
    return importlib.util.find_spec(name) is not None


# -- its image


def _draw(value, library, page):
    """Return the image as base64, or the reason why there is none."""
    problem = ""
    if library == "plotly" and _is_installed("kaleido"):
        try:
            width, height = _find_size(value, library)
            return _encode_base64(value.to_image(format="png", width=width, height=height, scale=2)), ""
        except Exception as error:
            problem = " by kaleido ({})".format(str(error).strip().partition("\n")[0][:200])
    if library == "altair":
        if not _is_installed("vl_convert"):
            return "", ""
        try:
            file = io.BytesIO()
            value.save(file, format="png", scale_factor=2)
            return _encode_base64(file.getvalue()), ""
        except Exception as error:
            return "", " by vl-convert ({})".format(str(error).strip().partition("\n")[0][:200])
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None or not page:
        return "", problem
    image, trouble = _photograph(browser, page, _find_size(value, library))
    return image, trouble or problem


def _encode_base64(data):
    return import_quietly("binascii").b2a_base64(data, newline=False).decode()


def _find_size(value, library):
    """Return the size of the figure in pixels, or a usual one."""
    try:
        part = value.layout if library == "plotly" else value
        width, height = int(part.width or 700), int(part.height or 450)
    except Exception:
        width, height = 700, 450
    return max(100, min(width, 4000)), max(80, min(height, 4000))


def _photograph(browser, page, size):
    width, height = size
    # TemporaryDirectory fails on what the browser still writes; before 3.10 it cannot ignore that.
    folder = tempfile.mkdtemp(prefix="oi-tui-plot-")
    image = os.path.join(folder, "plot.png")
    words = [browser, *_OPTIONS, "--window-size={},{}".format(width + 16, height + 16)]
    words += ["--no-sandbox"] if os.geteuid() == 0 else []
    words += ["--user-data-dir=" + os.path.join(folder, "profile"), "--screenshot=" + image]
    null = subprocess.DEVNULL
    process = None
    try:
        # It leaves files behind where it is ended.
        env = {**os.environ, "TMPDIR": folder}
        process = subprocess.Popen([*words, "file://" + page], stdin=null, stdout=null, stderr=null, env=env)
        process.wait(_TIMEOUT)
        with open(image, "rb") as file:
            return _encode_base64(file.read()), ""
    except subprocess.TimeoutExpired:
        return "", " (the browser took more than {:.0f} s)".format(_TIMEOUT)
    except OSError:
        return "", " (the browser {} made none)".format(os.path.basename(browser))
    finally:
        if process is not None and process.poll() is None:
            process.kill()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


# -- how the libraries themselves show figures


def prepare_plotly(renderers, shows):
    """Have `fig.show()` show figures here, unless the environment names another renderer.

    So do those for the page of a notebook, which code for notebooks chooses, also by `init_notebook_mode()`.
    """
    if "PLOTLY_RENDERER" in os.environ:
        return
    base = __import__("plotly.io._base_renderers", fromlist=["ExternalRenderer"])
    #: The figure that was shown last: one call can name two of the renderers.
    last = []

    class Renderer(base.ExternalRenderer):
        def render(self, fig_dict):
            if last and last[0] is fig_dict:
                return
            last[:] = [fig_dict]
            figure = sys.modules["plotly"].graph_objects.Figure(fig_dict, skip_invalid=True)
            shows.result(figure)

    renderer = renderers.renderers["oi_tui"] = Renderer()
    renderers.renderers.default = "oi_tui"
    for name in _OF_NOTEBOOKS:
        if name in renderers.renderers:
            renderers.renderers[name] = renderer


def prepare_bokeh(showing, shows):
    """Have `show(figure)` show figures here, in place of opening a browser."""

    def show(obj, *_args, **_options):
        shows.result(obj)

    showing.show = show


def prepare_bokeh_notebook(notebook):
    """Have `output_notebook()` load nothing: it is for a page, and figures are shown without it."""
    notebook.load_notebook = lambda *_args, **_options: None


def prepare_tqdm(notebook):
    """Have the bars of notebooks, which are widgets of a page, be those of a terminal."""
    standard = __import__("tqdm.std", fromlist=["tqdm"]).tqdm

    class tqdm_notebook(standard):
        def __init__(self, *args, display=True, **options):
            super().__init__(*args, **options)

    def trange(*args, **options):
        return tqdm_notebook(range(*args), **options)

    notebook.tqdm = notebook.tqdm_notebook = tqdm_notebook
    notebook.trange = notebook.tnrange = trange
