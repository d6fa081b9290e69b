"""HTML: saves a page as a file, opens it on a desktop, and takes a screenshot if there is a browser."""

from functools import partial

from oi_tui.runtimes import pages
from oi_tui.runtimes.language import Language

LANGUAGE = Language(
    name="html",
    title="HTML",
    aliases=("htm", "xhtml", "html5"),
    hint="Pages need no program; to see screenshots of them, install Chromium or Chrome.",
    keeps="",
    input="none",
    find=pages.find,
    describe=pages.describe,
    start=partial(pages.start, "html"),
    translate=pages.open_pages,
    outside=pages.OUTSIDE,
)
