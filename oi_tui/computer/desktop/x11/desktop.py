"""The X11 desktop, through libX11, libXtst and, where it is, libXrandr.

X11 systems have these C libraries, so nothing is to be installed, in whichever interpreter the cells run.
"""

from __future__ import annotations

import array
import ctypes
import ctypes.util
import sys
import threading
import time
from ctypes import POINTER, byref, c_int, c_ubyte, c_uint, c_ulong, c_void_p

from oi_tui.computer.desktop.base import Region, Window
from oi_tui.computer.desktop.key_names import find_symbol
from oi_tui.computer.desktop.screenshot import Screenshot
from oi_tui.computer.desktop.x11.connection import (
    TIMEOUT,
    Image,
    Monitor,
    X11Connection,
    load_library,
)
from oi_tui.computer.desktop.x11.held_input import BUTTON, KEY, HeldInput
from oi_tui.computer.desktop.x11.ping import Ping
from oi_tui.computer.desktop.x11.properties import Properties
from oi_tui.computer.desktop.x11.spare_keys import SpareKeys
from oi_tui.computer.desktop.x11.windows import X11Windows
from oi_tui.computer.errors import ComputerError

_Z_PIXMAP = 2
_ALL_PLANES = c_ulong(-1).value
#: Names that X11 has for characters which a keyboard map does not hold by their code.
_FIRST_UNICODE = 0x1000000
#: How long a click may be held by the window manager, or by an open menu, before other things go on.
_CLICK_SECONDS = 0.3
_ALREADY_GRABBED = 1
#: The modifier of caps lock, and the keyboard that stands for all of them.
_LOCK, _CORE_KEYBOARD = 2, 0x100
#: Where red, green and blue are in a pixel of most screens, and how pixels of other sizes are read.
_USUAL_MASKS = (0xFF0000, 0xFF00, 0xFF)
_TYPES = {8: "B", 16: "H", 32: "I"}
_NO_COLOURS = (
    "No screenshot can be taken of a screen with {0} bits per pixel and a table of colours. Start the X "
    "server with a depth of 24, such as: Xvfb :9 -screen 0 1280x800x24."
)


class X11:
    """The desktop of a display, by default the one of the variable DISPLAY."""

    knows_places = True
    notices_input = False

    def __init__(self, name: str | None = None, timeout: float | None = TIMEOUT) -> None:
        """Open a display. Its server may take `timeout` seconds for each answer, or any time if None."""
        self._connection = connection = X11Connection(name, timeout)
        self._x, self._test, self._display = connection.x, connection.test, connection.display
        self._lock = threading.RLock()
        self._screen = self._x.XDefaultScreen(self._display)
        self._root = self._x.XDefaultRootWindow(self._display)
        numbers = c_int(), c_int(), c_int(), c_int()
        if not self._test.XTestQueryExtension(c_void_p(self._display), *map(byref, numbers)):
            raise ComputerError("Mouse and keyboard cannot be used: this X server has no XTEST extension.")
        #: A window that is never shown.
        self._hidden = self._x.XCreateSimpleWindow(self._display, self._root, 0, 0, 1, 1, 0, 0, 0)
        properties = Properties(connection)
        self._held = HeldInput(connection, self._root, self._hidden, properties)
        self._windows = X11Windows(connection, self._root, properties, self._lock)
        ping = Ping(connection, self._root, properties.intern)
        self._spare_keys = SpareKeys(connection, self._windows, properties, self._root, ping, self._lock)

    @property
    def is_closed(self) -> bool:
        """Whether the server closed the connection, or did not answer."""
        return self._connection.is_closed

    def size(self) -> tuple[int, int]:
        """Return the size of the whole screen."""
        with self._lock:
            # What the library keeps is the size when the display was opened.
            region = self._windows.read_region(self._root)
        return (region.width, region.height) if region else (0, 0)

    def monitors(self) -> list[Region]:
        """Return where each monitor lies; the whole screen where that is not known."""
        return [region for _, region in self._list_named_monitors()] or [Region(0, 0, *self.size())]

    def _list_named_monitors(self) -> list[tuple[str, Region]]:
        randr = load_library("Xrandr")
        if randr is None:
            return []
        randr.XRRGetMonitors.restype = POINTER(Monitor)
        randr.XRRGetMonitors.argtypes = [c_void_p, c_ulong, c_int, POINTER(c_int)]
        randr.XRRFreeMonitors.argtypes = [c_void_p]
        count = c_int()
        with self._lock:
            monitors_info = self._connection.call(
                randr.XRRGetMonitors, self._display, self._root, 1, byref(count)
            )
        if not monitors_info:
            return []
        monitors = [
            (self._read_atom_name(item.name), Region(item.x, item.y, item.width, item.height))
            for item in monitors_info[: count.value]
        ]
        randr.XRRFreeMonitors(monitors_info)
        return monitors

    def _read_atom_name(self, atom: int) -> str:
        with self._lock:
            name = self._x.XGetAtomName(self._display, atom)
            text = ctypes.string_at(name).decode(errors="replace") if name else ""
            if name:
                self._x.XFree(name)
        return text

    def is_xwayland(self) -> bool:
        """Return whether this display is one inside of a Wayland session, which shows only a part
        of its windows.
        """
        major, event, error = c_int(), c_int(), c_int()
        with self._lock:
            if self._x.XQueryExtension(self._display, b"XWAYLAND", *map(byref, (major, event, error))):
                return True
        return any(name.startswith("XWAYLAND") for name, _ in self._list_named_monitors())

    def capture(self, region: Region) -> Screenshot:
        """Take a screenshot of a part of the screen."""
        width, height = self.size()
        left, top = max(region.x, 0), max(region.y, 0)
        right, bottom = min(region.x + region.width, width), min(region.y + region.height, height)
        if right <= left or bottom <= top:
            raise ComputerError(f"{region} is not on the screen, which has {width}x{height} pixels.")
        with self._lock:
            image = self._x.XGetImage(
                self._display, self._root, left, top, right - left, bottom - top, _ALL_PLANES, _Z_PIXMAP
            )
            if not image:
                raise ComputerError("The X server gave no screenshot.")
            try:
                return _read_screenshot(image.contents)
            finally:
                self._x.XDestroyImage(image)

    def position(self) -> tuple[int, int]:
        """Return where the pointer is."""
        return self._query_pointer()[:2]

    def _query_pointer(self) -> tuple[int, int, int]:
        """Return where the pointer is, and which modifiers and buttons are on."""
        ids, numbers, mask = (c_ulong(), c_ulong()), (c_int(), c_int(), c_int(), c_int()), c_uint()
        with self._lock:
            self._x.XQueryPointer(
                self._display, self._root, *map(byref, ids), *map(byref, numbers), byref(mask)
            )
        return numbers[0].value, numbers[1].value, mask.value

    def move(self, x: int, y: int) -> None:
        """Put the pointer somewhere."""
        with self._lock:
            self._test.XTestFakeMotionEvent(c_void_p(self._display), self._screen, int(x), int(y), c_ulong(0))
            self._x.XSync(self._display, 0)

    def button(self, number: int, down: bool) -> None:
        """Press or release a button; a released one has reached its window."""
        with self._lock:
            self._held.press(BUTTON, number, down)
        if not down:
            self._wait_for_click()

    def release_leftovers(self) -> None:
        """Release keys and buttons of programs that were killed while they held them: the server does not."""
        with self._lock:
            self._held.release_leftovers()

    def _wait_for_click(self) -> None:
        # A window manager holds a click back while it raises the window. Keys would overtake the click, and
        # go to what had the focus before.
        end = time.monotonic() + _CLICK_SECONDS
        while self._pointer_is_grabbed() and time.monotonic() < end:
            time.sleep(0.002)

    def _pointer_is_grabbed(self) -> bool:
        # No client can grab the pointer for a window that is not shown, and "already grabbed" comes first.
        with self._lock:
            answer = self._x.XGrabPointer(self._display, self._hidden, 0, 0, 1, 1, 0, 0, 0)
        return int(answer) == _ALREADY_GRABBED

    def key(self, code: int, down: bool) -> None:
        """Press or release a key."""
        if down:
            self._spare_keys.note_press(code)
        with self._lock:
            self._held.press(KEY, code, down)

    def set_caps_lock(self, on: bool) -> bool:
        """Turn caps lock on or off; return whether it was on."""
        was_on = bool(self._query_pointer()[2] & _LOCK)
        if was_on != on:
            with self._lock:
                self._x.XkbLockModifiers(c_void_p(self._display), _CORE_KEYBOARD, _LOCK, _LOCK if on else 0)
                self._x.XSync(self._display, 0)
        return was_on

    def set_layout(self, number: int) -> int:
        """Switch to one of the keyboard's layouts, from 0; return the one that was on."""
        state = (c_ubyte * 18)()
        with self._lock:
            self._x.XkbGetState(c_void_p(self._display), _CORE_KEYBOARD, state)
            was_on = state[0]
            if was_on != number:
                self._x.XkbLockGroup(c_void_p(self._display), _CORE_KEYBOARD, number)
                self._x.XSync(self._display, 0)
        return was_on

    def key_code(self, name: str) -> tuple[int, bool]:
        """Return the key for a name such as `Return` or a character, which gets a key if it is on none."""
        return self._spare_keys.find(self._find_symbol(name))

    def require_characters(self, text: str) -> None:
        """Raise ComputerError where the active window could get other characters than those of the text."""
        self._spare_keys.require([self._find_symbol(find_symbol(character)) for character in set(text)])

    def wait_for_rest(self) -> None:
        """Do nothing: the pointer's position shows whether a person moved it."""

    def forget_input(self) -> None:
        """Forget nothing."""

    def is_touched(self, *, wait: bool) -> bool:
        """Return False: the pointer's position shows whether a person moved it."""
        return False

    def escape_is_down(self) -> bool:
        """Return whether escape is pressed at this moment."""
        keys = (c_ubyte * 32)()
        with self._lock:
            code = self._x.XKeysymToKeycode(self._display, self._x.XStringToKeysym(b"Escape"))
            self._x.XQueryKeymap(self._display, keys)
        return bool(keys[code // 8] & 1 << code % 8)

    def windows(self) -> list[Window]:
        """Return the windows that the window manager lists, the lowest first; without one,
        those on the screen.
        """
        return self._windows.list_windows()

    def window_at(self, x: int, y: int) -> int | None:
        """Return the number of the listed window that gets a click there, also in its menus.

        None for others.
        """
        return self._windows.find_at(x, y)

    def activate(self, window: Window) -> None:
        """Bring a window to the front, and its workspace before."""
        self._windows.activate(window)

    def _find_symbol(self, name: str) -> int:
        symbol = int(self._x.XStringToKeysym(name.encode()))
        if symbol or len(name) != 1:
            if not symbol:
                raise ComputerError(f"There is no key {name!r}.")
            return symbol
        code = ord(name)
        return code if 0x20 <= code <= 0x7E or 0xA0 <= code <= 0xFF else _FIRST_UNICODE + code


def _read_screenshot(image: Image) -> Screenshot:
    masks = image.red_mask, image.green_mask, image.blue_mask
    data = ctypes.string_at(image.data, image.bytes_per_line * image.height)
    pixels = bytearray(image.width * image.height * 3)
    if image.bits_per_pixel == 32 and image.byte_order == 0 and masks in (_USUAL_MASKS, (0, 0, 0)):
        for channel in range(3):
            pixels[channel::3] = data[2 - channel :: 4]
        return Screenshot(image.width, image.height, bytes(pixels))
    if image.bits_per_pixel not in _TYPES or not all(masks):
        raise ComputerError(_NO_COLOURS.format(image.bits_per_pixel))
    values = array.array(_TYPES[image.bits_per_pixel])
    step, width = image.bytes_per_line, image.width * image.bits_per_pixel // 8
    for row in range(image.height):
        values.frombytes(data[row * step : row * step + width])
    if image.byte_order != (sys.byteorder == "big"):
        values.byteswap()
    for channel, mask in enumerate(masks):
        shift = (mask & -mask).bit_length() - 1
        most = mask >> shift
        levels = [level * 255 // most for level in range(most + 1)]
        pixels[channel::3] = bytes([levels[value >> shift & most] for value in values])
    return Screenshot(image.width, image.height, bytes(pixels))
