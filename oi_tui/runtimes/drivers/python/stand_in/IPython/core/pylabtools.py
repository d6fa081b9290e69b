"""Sizes of figures, and their bytes."""

# mypy: ignore-errors
from __future__ import annotations

import io

__all__ = ["figsize", "getfigs", "print_figure"]


def figsize(sizex, sizey):
    """Set the size of new figures, in inches."""
    import matplotlib

    matplotlib.rcParams["figure.figsize"] = [sizex, sizey]


def getfigs(*fig_nums):
    """Return the figures of these numbers, or all."""
    from matplotlib import pyplot

    return [pyplot.figure(number) for number in fig_nums or pyplot.get_fignums()]


def print_figure(fig, fmt="png", bbox_inches="tight", base64=False, **options):
    """Return a figure as bytes; as text for SVG, and with `base64`."""
    file = io.BytesIO()
    fig.savefig(file, format="png" if fmt == "retina" else fmt, bbox_inches=bbox_inches, **options)
    data = file.getvalue()
    if fmt == "svg":
        return data.decode()
    if base64:
        from binascii import b2a_base64

        return b2a_base64(data, newline=False).decode("ascii")
    return data
