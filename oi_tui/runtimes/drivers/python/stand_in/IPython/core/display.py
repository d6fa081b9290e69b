"""Objects that are shown as pages, formulas, images and other things a notebook can draw."""

# mypy: ignore-errors
from __future__ import annotations

import os
from base64 import b64decode, b64encode
from html import escape

from IPython.core.display_functions import *  # noqa: F403
from IPython.core.display_functions import display

_FORMS = {
    "pretty": "text/plain",
    "html": "text/html",
    "markdown": "text/markdown",
    "svg": "image/svg+xml",
    "png": "image/png",
    "jpeg": "image/jpeg",
    "latex": "text/latex",
    "json": "application/json",
    "javascript": "application/javascript",
    "pdf": "application/pdf",
}
__all__ = [
    *("display_" + name for name in _FORMS),
    "DisplayObject",
    "GeoJSON",
    "HTML",
    "Image",
    "JSON",
    "Javascript",
    "Latex",
    "Markdown",
    "Math",
    "Pretty",
    "ProgressBar",
    "SVG",
    "TextDisplayObject",
    "Video",
]
#: How the data of an image begins, and what it is called.
_IMAGES = {
    b"\x89PNG": "png",
    b"\xff\xd8": "jpeg",
    b"GIF8": "gif",
    b"RIFF": "webp",
}


def _display_as(name, mime):
    def display_form(*objs, raw=False, metadata=None, **options):
        for value in objs:
            if raw:
                display({mime: value}, raw=True, **options)
            else:
                display(value, include=["text/plain", mime], **options)

    display_form.__name__ = display_form.__qualname__ = "display_" + name
    display_form.__doc__ = "Show the {} of values; with `raw` they are the text or the data itself.".format(
        mime
    )
    return display_form


globals().update({"display_" + name: _display_as(name, mime) for name, mime in _FORMS.items()})


def _attributes(**values):
    """Write the attributes of an element of HTML that have a value."""
    return "".join(' {}="{}"'.format(name, escape(str(value))) for name, value in values.items() if value)


class DisplayObject:
    """What is shown, or the address or the file that has it."""

    metadata = None
    _is_text = False

    def __init__(self, data=None, url=None, filename=None, metadata=None):
        data = os.fspath(data) if isinstance(data, os.PathLike) else data
        if isinstance(data, str):
            if data.startswith("http") and url is None:
                data, url, filename = None, data, None
            elif filename is None and _is_file(data):
                data, url, filename = None, None, data
        self.url, self.filename, self.data = url, filename, data
        self.metadata = metadata if metadata is not None else self.metadata or {}
        self.reload()
        self._check_data()

    def __repr__(self):
        return "<{}.{} object>".format(type(self).__module__, type(self).__name__)

    def _check_data(self):
        if self._is_text and self.data is not None and not isinstance(self.data, str):
            raise TypeError("{} expects text, not {!r}".format(type(self).__name__, self.data))

    def reload(self):
        """Read the file or the address again."""
        content = None
        if self.filename is not None:
            with open(self.filename, "rb") as file:
                content = file.read()
        elif self.url is not None:
            from urllib.request import urlopen

            with urlopen(self.url) as answer:
                content = answer.read()
        if content is not None:
            self.data = content.decode("utf-8", "replace") if self._is_text else content

    def _data_and_metadata(self):
        return (self.data, dict(self.metadata)) if self.metadata else self.data


def _is_file(text):
    try:
        return os.path.exists(text)
    except ValueError:
        # A text that no file can have as its name.
        return False


class TextDisplayObject(DisplayObject):
    """A text that is drawn."""

    _is_text = True


class Pretty(TextDisplayObject):
    """A text that is printed as it is."""

    def _repr_pretty_(self, pp, cycle):
        return pp.text(self.data)


class HTML(TextDisplayObject):
    """A page, or a part of one."""

    def _repr_html_(self):
        return self._data_and_metadata()

    def __html__(self):
        return self.data


class Markdown(TextDisplayObject):
    """A text in Markdown."""

    def _repr_markdown_(self):
        return self._data_and_metadata()


class Math(TextDisplayObject):
    """A formula in LaTeX, with or without dollars around it."""

    def _repr_latex_(self):
        return "$\\displaystyle {}$".format(self.data.strip("$"))


class Latex(TextDisplayObject):
    """A text in LaTeX."""

    def _repr_latex_(self):
        return self._data_and_metadata()


class SVG(TextDisplayObject):
    """A drawing."""

    def _repr_svg_(self):
        start, end = self.data.find("<svg"), self.data.rfind("</svg>")
        return self.data[start : end + len("</svg>")] if 0 <= start < end else self.data


class Javascript(TextDisplayObject):
    """A script, which runs in the page of a notebook only."""

    def __init__(self, data=None, url=None, filename=None, lib=None, css=None):
        self.lib = [lib] if isinstance(lib, str) else lib or []
        self.css = [css] if isinstance(css, str) else css or []
        super().__init__(data=data, url=url, filename=filename)

    def _repr_javascript_(self):
        return self.data


class JSON(DisplayObject):
    """A dictionary or a list; a text is read as JSON."""

    _is_text = True

    def __init__(
        self, data=None, url=None, filename=None, expanded=False, metadata=None, root="root", **options
    ):
        described = {"expanded": expanded, "root": root, **(metadata or {}), **options}
        super().__init__(data=data, url=url, filename=filename, metadata=described)

    def _check_data(self):
        import json

        if isinstance(self.data, str):
            self.data = json.loads(self.data)
        if self.data is not None and not isinstance(self.data, (dict, list)):
            raise TypeError(
                "{} expects JSONable dict or list, not {!r}".format(type(self).__name__, self.data)
            )

    def _repr_json_(self):
        return self.data, self.metadata


class GeoJSON(JSON):
    """Places on a map, which is shown as JSON."""


class Image(DisplayObject):
    """An image, from its data, a file or an address; `embed=False` names only where it is."""

    def __init__(
        self,
        data=None,
        url=None,
        filename=None,
        format=None,
        embed=None,
        width=None,
        height=None,
        retina=False,
        unconfined=False,
        metadata=None,
        alt=None,
    ):
        self.width, self.height, self.alt = width, height, alt
        self.retina, self.unconfined = retina, unconfined
        address = url or (data if isinstance(data, str) and data.startswith("http") else None)
        self.embed = embed if embed is not None else url is None
        super().__init__(data=data, url=url, filename=filename, metadata=metadata)
        ending = os.path.splitext(self.filename or address or "")[1].lstrip(".").lower()
        self.format = (format or self._format() or ending or "png").lower().replace("jpg", "jpeg")

    def _format(self):
        data = self.data if isinstance(self.data, bytes) else b""
        return next((name for start, name in _IMAGES.items() if data.startswith(start)), None)

    def reload(self):
        """Read the file or the address again, where the image is part of what is shown."""
        if self.embed:
            super().reload()

    def _check_data(self):
        if self.embed and isinstance(self.data, str):
            raise FileNotFoundError("No such file or directory: {!r}".format(self.data))

    def _repr_mimebundle_(self, include=None, exclude=None):
        if not self.embed:
            return {"text/html": self._repr_html_()}
        return {"image/" + self.format: b64encode(self.data).decode("ascii")} if self.data else {}

    def _repr_png_(self):
        return self.data if self.embed and self.format == "png" else None

    def _repr_jpeg_(self):
        return self.data if self.embed and self.format == "jpeg" else None

    def _repr_html_(self):
        if self.embed and self.format in ("png", "jpeg"):
            return None
        source = self.url or self.filename or ""
        if self.embed:
            source = "data:image/{};base64,{}".format(
                self.format, b64encode(self.data or b"").decode("ascii")
            )
        sizes = _attributes(width=self.width, height=self.height, alt=self.alt)
        return '<img src="{}"{}/>'.format(escape(source), sizes)


class Video(DisplayObject):
    """A video, from an address or a file; `embed=True` puts the data into the page."""

    def __init__(
        self,
        data=None,
        url=None,
        filename=None,
        embed=False,
        mimetype=None,
        width=None,
        height=None,
        html_attributes="controls",
    ):
        self.embed, self.mimetype = embed, mimetype
        self.width, self.height, self.html_attributes = width, height, html_attributes
        super().__init__(data=data, url=url, filename=filename)

    def reload(self):
        """Read the file or the address again, where the video is part of what is shown."""
        if self.embed:
            super().reload()

    def _check_data(self):
        if self.data and not self.embed:
            raise ValueError("This is no file and no address. To embed data of a video, pass embed=True")

    def _repr_html_(self):
        source = self.url or self.filename or ""
        if self.embed:
            import mimetypes

            mimetype = self.mimetype or mimetypes.guess_type(source)[0] or "video/mp4"
            data = self.data if isinstance(self.data, bytes) else b64decode(self.data or "")
            source = "data:{};base64,{}".format(mimetype, b64encode(data).decode("ascii"))
        sizes = _attributes(width=self.width, height=self.height)
        return '<video src="{}" {}{}></video>'.format(escape(source), self.html_attributes, sizes)


class ProgressBar(DisplayObject):
    """A bar that fills; to count with it shows it."""

    html_width, text_width = "60ex", 60

    def __init__(self, total):
        self.total = total
        self._progress = 0
        self._handle = None

    def __repr__(self):
        filled = "=" * int((self.progress / self.total if self.total else 0) * self.text_width)
        return "[{:{}}] {}/{}".format(filled, self.text_width, self.progress, self.total)

    def display(self):
        """Show the bar."""
        self._handle = display(self, display_id=True)

    def update(self):
        """Show how far it is, in its place."""
        if self._handle is None:
            self.display()
        else:
            self._handle.update(self)

    @property
    def progress(self):
        """How much is done."""
        return self._progress

    @progress.setter
    def progress(self, value):
        self._progress = value
        self.update()

    def __iter__(self):
        self._progress = -1
        self._handle = None
        return self

    def __next__(self):
        self.progress += 1
        if self.progress >= self.total:
            raise StopIteration
        return self.progress
