"""What looking at the screen and clicking cost, each against another program in the same run.

Run as `python -m tests.benchmarks.desktop [TIMES]` (20 unless told otherwise); it needs Xvfb, openbox,
zenity, xdotool, an accessibility service and, for pages, Chromium and Playwright. Times are medians.
Tokens of an image are width times height divided by 750, those of a text its characters divided by 4.
"""

import io
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PIL import ImageGrab

from oi_tui.computer import Computer
from tests.computer.desktop import until
from tests.computer.gtk import desktop, dialog

ROWS = "".join(f"<tr><td>Item {n}<td>{n * 3}<td><a href=#{n}>Order {n}</a></tr>" for n in range(60))
PAGE = f"<title>Shop</title><h1>Orders</h1><button>Send</button><table>{ROWS}</table>"


def milliseconds(times: int, act: Callable[[], object]) -> float:
    """The median time of an act, after one that is not counted."""
    act()
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        act()
        taken.append((time.perf_counter() - begun) * 1000)
    return round(statistics.median(taken), 1)


def tokens_of_image(width: int, height: int) -> int:
    """What an image costs a model, by the rule of Anthropic."""
    return width * height // 750


def tokens_of_text(text: str) -> int:
    """About what a text costs a model."""
    return len(text) // 4


def grab(display: str) -> bytes:
    """The screen as PNG, by Pillow."""
    data = io.BytesIO()
    ImageGrab.grab(xdisplay=display).save(data, "png")
    return data.getvalue()


def on_screen(times: int, display: str) -> dict[str, object]:
    """A screenshot, the elements of a dialog, and a click on one of them."""
    computer = Computer()
    with dialog("--forms", "--title=Sign in", "--add-entry=User", "--add-entry=Street", "--text=Account"):
        until(lambda: computer.display.elements("User", "text"), "the dialog")
        until(lambda: computer.display.elements("OK"), "the button")
        image = computer.display.view(show=False, active_app_only=False).fitted()
        listed = str(computer.display.elements())
        x, y = computer.display.elements("User", "text")[0].center
        click = ["xdotool", "mousemove", str(x), str(y), "click", "1"]
        return {
            "screen to PNG": {
                "ours, ms": milliseconds(times, lambda: computer.display.view(
                    show=False, active_app_only=False).fitted().png()),
                "Pillow's ImageGrab, ms": milliseconds(times, lambda: grab(display)),
                "ours, bytes": len(image.png()),
                "ImageGrab, bytes": len(grab(display)),
                "tokens": tokens_of_image(image.width, image.height),
            },
            "elements of a dialog": {
                "ms": milliseconds(times, computer.display.elements),
                "tokens": tokens_of_text(listed),
            },
            "click": {
                "ours by role and name, ms": milliseconds(
                    times, lambda: computer.mouse.click(role="text", name="User")),
                "ours at a place, ms": milliseconds(times, lambda: computer.mouse.click(x, y)),
                "xdotool at a place, ms": milliseconds(
                    times, lambda: subprocess.run(click, check=True)),
            },
        }  # fmt: skip


def on_page(times: int) -> dict[str, object]:
    """The elements of a page against its image, and a click on one, against Playwright alone."""
    browser = Computer().browser
    browser.setup(headless=True)
    try:
        page = browser.driver
        page.set_content(PAGE)
        size = page.viewport_size
        return {
            "page": {
                "elements, ms": milliseconds(times, browser.elements),
                "elements, tokens": tokens_of_text("\n".join(browser.elements())),
                "image by Playwright, ms": milliseconds(times, page.screenshot),
                "image, tokens": tokens_of_image(size["width"], size["height"]),
            },
            "click on a page": {
                "ours by name, ms": milliseconds(times, lambda: browser.click("Send")),
                "Playwright by role and name, ms": milliseconds(
                    times, lambda: page.get_by_role("button", name="Send", exact=True).click()
                ),
            },
        }
    finally:
        browser.quit()


def main() -> None:
    """Measure, and write the figures."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with tempfile.TemporaryDirectory() as folder, desktop(Path(folder)) as cells:
        display = cells.run("import os; print(os.environ['DISPLAY'])")
        print(json.dumps({**on_screen(times, display), **on_page(times)}, indent=1))


if __name__ == "__main__":
    main()
