"""Finds a browser that takes screenshots of pages, and opens pages in the person's own browser."""

import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from oi_tui import paths
from oi_tui.messages import Displayed, Printed, Report
from oi_tui.runtimes.language import DRIVERS, Choices, Start
from oi_tui.system.opener import find_opener, view

_BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "brave-browser",
    "microsoft-edge",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
#: Why the sandbox cannot hold a page.
OUTSIDE = "pages open in your browser, which can use the network"


def find_photographer() -> str | None:
    """Return the browser that can take a screenshot without a window, or None."""
    return next((path for name in _BROWSERS if (path := shutil.which(name))), None)


def find(_: Choices) -> str | None:
    """Pages can always be made; our own interpreter does."""
    return sys.executable


def describe(_: str) -> str:
    """Describe what happens to a page."""
    browser = find_photographer()
    where = "opened in your browser" if find_opener() else "saved as a file"
    return f"a page, {where}{f', captured by {Path(browser).name}' if browser else ''}"


def start(kind: str, program: str, folder: Path) -> Start:
    """Return the driver that makes pages of a kind."""
    pages = paths.data() / "pages"
    return Start(
        (
            program,
            "-I",
            "-B",
            str(DRIVERS / "page_driver.py"),
            str(folder),
            kind,
            find_photographer() or "",
            str(pages),
        )
    )


def open_pages(report: Report) -> Iterable[Report]:
    """Replace the driver's report of a page by opening the page.

    The application opens it, not the driver: a browser that was started so stays when the languages end.
    """
    if isinstance(report, Displayed) and report.format == "page":
        yield from _open(Path(report.content))
    else:
        yield report


def _open(page: Path) -> Iterator[Printed]:
    words = find_opener()
    if words is None:
        yield Printed("It was not opened: there is no display.\r\n")
        return
    if problem := view(words, page.as_uri()):
        yield Printed(f"It was not opened: {words[0]}: {problem}\r\n")
        return
    yield Printed("Opened in the browser.\r\n")
