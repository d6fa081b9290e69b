"""The forms of a value, by their media types, for clients that can show more than a text and an image."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import json

#: The methods of values that return the forms which are texts.
_METHODS = {
    "text/html": "_repr_html_",
    "text/markdown": "_repr_markdown_",
    "text/latex": "_repr_latex_",
    "image/svg+xml": "_repr_svg_",
    "application/json": "_repr_json_",
    "application/javascript": "_repr_javascript_",
}
#: The most text of all forms of a value together, in characters. A form that does not fit is left out.
_LONGEST = 1000000


def collect_forms(shows, value, bundle):
    """Return the forms of a value that are texts, by their types; data of a JSON type is encoded as JSON.

    `bundle` has those that the value gives all at once. The plain text is not among them: it is printed.
    """
    found = dict(bundle)
    for mime, method in _METHODS.items():
        form = shows.formatters.data(mime, value) if shows.formatters is not None else None
        if form is None and mime not in found:
            form = shows.call(value, method)
        if form is not None:
            found[mime] = form[0] if isinstance(form, tuple) and form else form
    forms, left = {}, _LONGEST
    for mime, form in found.items():
        text = _encode(mime, form)
        if text is not None and mime != "text/plain" and len(text) <= left:
            forms[mime] = text
            left -= len(text)
    return forms


def _encode(mime, form):
    """Return a form as text; None for one that is no text, and for an image, which is shown itself."""
    if not isinstance(mime, str) or mime in ("image/png", "image/jpeg"):
        return None
    if mime == "application/json" or mime.endswith("+json"):
        try:
            # NaN is no JSON: a browser would refuse the whole message.
            return json.dumps(form, allow_nan=False)
        except Exception:
            return None
    return form if isinstance(form, str) else None
