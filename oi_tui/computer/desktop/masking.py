"""Blackens password fields in screenshots."""

from __future__ import annotations

from oi_tui.computer import bridge
from oi_tui.computer.desktop import elements
from oi_tui.computer.desktop.base import Desktop, Region
from oi_tui.computer.desktop.elements import Passwords
from oi_tui.computer.desktop.screenshot import Screenshot
from oi_tui.computer.errors import ComputerError

_NO_SERVICE = (
    "It is not known where password fields are: the accessibility service (D-Bus and AT-SPI) does not answer."
)
_NO_PLACES = "It is not known where password fields are: on Wayland, programs are not told where windows are."
_SILENT = "Programs of these windows do not say where their password fields are: {0}."
_UNMASKED = (
    "{0} So there is no screenshot. Use computer.display.elements(), or a part of the screen with other "
    "windows. The user can allow screenshots: oi-tui asks them, or they set unmasked_screen."
)


def capture(desktop: Desktop, region: Region, *, ask: bool = True) -> Screenshot:
    """Take a screenshot of a part of the screen in which fields for passwords are black.

    Raises ComputerError where it is not known where these are, unless the person lets screenshots be taken.
    They are asked that only with `ask`.
    """
    screenshot = desktop.capture(region)
    left, top = max(region.x, 0), max(region.y, 0)
    rectangles = [
        (password.x - left, password.y - top, password.width, password.height)
        for password in _find_passwords(desktop, region, ask)
    ]
    return screenshot.blacken(rectangles)


def _find_passwords(desktop: Desktop, region: Region, ask: bool) -> list[Region]:
    """Return where fields for passwords are; see `capture`."""
    if not desktop.knows_places:
        if not bridge.allows_unmasked(_NO_PLACES if ask else ""):
            raise ComputerError(_UNMASKED.format(_NO_PLACES))
        return []
    windows = desktop.windows()
    overlapping = [window for window in windows if _overlap(window.region, region)]
    try:
        fields = elements.open_tree().passwords(windows)
    except ComputerError:
        fields, why = Passwords([], []), _NO_SERVICE
        unread = True
    else:
        titles = fields.unread(overlapping)
        unread, why = bool(titles), _SILENT.format(", ".join(map(repr, titles[:8])))
    if unread and not bridge.allows_unmasked(why if ask else ""):
        raise ComputerError(_UNMASKED.format(why))
    return fields.regions


def _overlap(one: Region, other: Region) -> bool:
    across = one.x < other.x + other.width and other.x < one.x + one.width
    return across and one.y < other.y + other.height and other.y < one.y + one.height
