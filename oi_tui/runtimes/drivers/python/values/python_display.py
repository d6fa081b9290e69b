"""What `IPython.display` offers beside its objects: handles of displays, bundles, and clearing the output."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import binascii
import os
import sys

#: To the first line of the output, and remove everything from there on.
_CLEAR = "\x1b[9999A\r\x1b[J"
_TEXTS = ("text/plain", "text/markdown", "text/latex", "application/json")
#: How the types begin that are shown by other means than their text.
_SHOWN = ("text/", "image/", "audio/", "video/")


class DisplayHandle:
    """What `display(..., display_id=...)` returns.

    An image or a text that it is updated with takes the place of the one before, as long as the cell runs
    that showed it. Text is shown below where much was printed since, the cursor was moved, or an image came.
    """

    def __init__(self, shows, display_id=None):
        self._shows = shows
        self.display_id = display_id or binascii.hexlify(os.urandom(16)).decode("ascii")

    def __repr__(self):
        return "<DisplayHandle display_id={}>".format(self.display_id)

    def display(self, value, **options):
        """Show a value."""
        self._shows.display(value, display_id=self.display_id, **options)

    def update(self, value, **options):
        """Show the value that takes the place of the earlier one."""
        self._shows.update_display(value, display_id=self.display_id, **options)


class Bundle:
    """A value that is given in its forms, by their types, as `display(..., raw=True)` takes it."""

    def __init__(self, forms):
        if not isinstance(forms, dict):
            raise TypeError("display(raw=True) takes a dictionary of types and contents")
        self._forms = forms

    def _repr_mimebundle_(self, include=None, exclude=None):
        return self._forms

    def __repr__(self):
        text_form = next((self._forms[text] for text in _TEXTS if text in self._forms), None)
        if text_form is not None:
            return str(text_form)
        if any(str(form).startswith(_SHOWN) for form in self._forms):
            # Of this kind of name nothing is printed where something else says more.
            return "<Bundle object>"
        # Code and data for a page, such as a script: their types say all that can be said here.
        return "[{}]".format(", ".join(map(str, self._forms)))


def choose_forms(shows, value, include, exclude):
    """Return what to show of a value of which only some forms are wanted; None where it has none of them."""

    def is_wanted(mime):
        return (not include or mime in include) and not (exclude and mime in exclude)

    if shows._is_figure(value) or shows._is_plot(value):
        # Which forms it has is known once it is drawn.
        return value if is_wanted("image/png") or is_wanted("text/html") else None
    if shows.formatters is None:
        shows._import_quietly("python_shell_parts").DisplayFormatter(shows)
    forms, _ = shows.formatters.format(value, include, exclude)
    forms.update({mime: form for mime, form in shows.make_bundle(value).items() if is_wanted(mime)})
    return Bundle(forms) if forms else None


def clear_output(wait=False):
    """Remove what the cell printed so far, at once: with `wait` too, the screen draws both as one."""
    stream = sys.stdout
    try:
        on_terminal = stream.isatty()
    except Exception:
        return
    if on_terminal:
        stream.write(_CLEAR)
        stream.flush()


def make_publisher(shows):
    """Return what `publish_display_data` of IPython is here."""

    def publish_display_data(data, metadata=None, *, transient=None, update=False, **_options):
        name = (transient or {}).get("display_id")
        shows.display(data, raw=True, display_id=name, update=update and name is not None)

    return publish_display_data
