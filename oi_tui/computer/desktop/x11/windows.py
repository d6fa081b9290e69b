"""The windows of an X11 screen: which there are, where they lie, and which is in front."""

from __future__ import annotations

import threading
from ctypes import POINTER, byref, c_int, c_uint, c_ulong
from functools import partial

from oi_tui.computer.desktop.base import Region, Window
from oi_tui.computer.desktop.x11.connection import ClientMessage, WindowAttributes, X11Connection
from oi_tui.computer.desktop.x11.properties import Properties

_CLIENT_MESSAGE = 33
#: SubstructureNotify and SubstructureRedirect.
_TO_WINDOW_MANAGER = 0x80000 | 0x100000
#: The workspace of a window that is on all of them.
_ALL_DESKTOPS = 0xFFFFFFFF
#: Of a window: that it is shown, that it shows something, and who gets the keyboard when it has gone.
_VIEWABLE, _INPUT_OUTPUT, _TO_PARENT = 2, 1, 2
#: How far below the window of an old window manager that of its program is.
_FRAME_DEPTH = 3


class X11Windows:
    """The windows of a screen. `lock` is held while the connection is used."""

    def __init__(
        self, connection: X11Connection, root: int, properties: Properties, lock: threading.RLock
    ) -> None:
        self._x, self._display = connection.x, connection.display
        self._root = root
        self._properties = properties
        self._lock = lock

    def list_windows(self) -> list[Window]:
        """Return the windows that the window manager lists, the lowest first; without one,
        those on the screen.
        """
        with self._lock:
            if self._has_manager():
                read = partial(self._properties.read_numbers, self._root)
                window_ids = read("_NET_CLIENT_LIST_STACKING") or read("_NET_CLIENT_LIST")
                active = (read("_NET_ACTIVE_WINDOW") or [0])[0]
            else:
                window_ids = self._find_clients()
                active = self._find_focus(window_ids)
            regions = [(id_, self.read_region(id_)) for id_ in window_ids]
            return [
                Window(
                    id_,
                    self._read_title(id_),
                    region,
                    id_ == active,
                    self._read_process_id(id_),
                    self._is_hidden(id_),
                )
                for id_, region in regions
                if region
            ]

    def find_at(self, x: int, y: int) -> int | None:
        """Return the number of the listed window that gets a click there, also in its menus.

        None for others.
        """
        window_ids = {window.id for window in self.list_windows()}
        with self._lock:
            # From the frame of the window manager inwards; a menu is above all frames, and names its window.
            child = self._find_child_at(self._root, x, y)
            owner = (self._properties.read_numbers(child, "WM_TRANSIENT_FOR") if child else [0]) or [0]
            while child and child not in window_ids:
                child = self._find_child_at(child, x, y)
        return child or next((id_ for id_ in owner if id_ in window_ids), None)

    def activate(self, window: Window) -> None:
        """Bring a window to the front, and its workspace before."""
        with self._lock:
            if not self._has_manager():
                self._x.XRaiseWindow(self._display, window.id)
                self._x.XSetInputFocus(self._display, window.id, _TO_PARENT, 0)
                self._x.XSync(self._display, 0)
                return
            own = self._properties.read_numbers(window.id, "_NET_WM_DESKTOP")
            if own and own[0] & _ALL_DESKTOPS != _ALL_DESKTOPS:
                self.ask_manager("_NET_CURRENT_DESKTOP", self._root, own[0])
            self.ask_manager("_NET_ACTIVE_WINDOW", window.id, 2)
            self._x.XSync(self._display, 0)

    def _has_manager(self) -> bool:
        """Return whether a window manager is at work; one that was killed leaves its list of windows."""
        name = "_NET_SUPPORTING_WM_CHECK"
        own = self._properties.read_numbers(self._root, name)[:1]
        return bool(own) and self._properties.read_numbers(own[0], name)[:1] == own

    def _find_clients(self) -> list[int]:
        """Return the windows of programs on the screen, the lowest first; menus and the like are left out."""
        clients = []
        for window in self._children(self._root):
            attributes = WindowAttributes()
            if not self._x.XGetWindowAttributes(self._display, window, byref(attributes)):
                continue
            if attributes.map_state != _VIEWABLE or attributes.kind != _INPUT_OUTPUT:
                continue
            if client := self._find_client(window, _FRAME_DEPTH) or (
                0 if attributes.override_redirect else window
            ):
                clients.append(client)
        return clients

    def _find_client(self, window: int, depth: int) -> int:
        """Return the window of a program in the frame of an old window manager, which marks it; or 0."""
        if self._properties.read_numbers(window, "WM_STATE"):
            return window
        children = self._children(window) if depth else []
        return next((client for child in children if (client := self._find_client(child, depth - 1))), 0)

    def _find_focus(self, listed: list[int]) -> int:
        """Return the listed window with the keyboard, or 0."""
        focus, revert = c_ulong(), c_int()
        self._x.XGetInputFocus(self._display, byref(focus), byref(revert))
        below = {child: window for window in listed for child in self._children(window)}
        return focus.value if focus.value in listed else below.get(focus.value, 0)

    def _children(self, window: int) -> list[int]:
        root, parent, children, count = c_ulong(), c_ulong(), POINTER(c_ulong)(), c_uint()
        if not self._x.XQueryTree(self._display, window, *map(byref, (root, parent, children, count))):
            return []
        numbers = children[: count.value] if children else []
        if children:
            self._x.XFree(children)
        return numbers

    def _find_child_at(self, window: int, x: int, y: int) -> int:
        across, down, child = c_int(), c_int(), c_ulong()
        self._x.XTranslateCoordinates(
            self._display, self._root, window, int(x), int(y), byref(across), byref(down), byref(child)
        )
        return child.value

    def ask_manager(self, message: str, window: int, value: int) -> None:
        """Send a message about a window to the window manager."""
        event = ClientMessage()
        event.type, event.window, event.format = _CLIENT_MESSAGE, window, 32
        event.message_type = self._properties.intern(message)
        event.data[0] = value
        self._x.XSendEvent(self._display, self._root, 0, _TO_WINDOW_MANAGER, byref(event))

    def _read_title(self, window: int) -> str:
        for name in ("_NET_WM_NAME", "WM_NAME"):
            if title := self._properties.read(window, name)[1]:
                return _decode(title)
        return ""

    def _read_process_id(self, window: int) -> int:
        return (self._properties.read_numbers(window, "_NET_WM_PID") or [0])[0]

    def _is_hidden(self, window: int) -> bool:
        state = self._properties.read_numbers(window, "_NET_WM_STATE")
        if self._properties.intern("_NET_WM_STATE_HIDDEN") in state:
            return True
        current = self._properties.read_numbers(self._root, "_NET_CURRENT_DESKTOP")
        own = self._properties.read_numbers(window, "_NET_WM_DESKTOP")
        return bool(current and own) and own[0] & _ALL_DESKTOPS not in (current[0], _ALL_DESKTOPS)

    def read_region(self, window: int) -> Region | None:
        """Return where a window is on the screen; None where it is gone."""
        root, numbers, sizes = c_ulong(), (c_int(), c_int()), (c_uint(), c_uint(), c_uint(), c_uint())
        if not self._x.XGetGeometry(self._display, window, byref(root), *map(byref, (*numbers, *sizes))):
            return None
        x, y, child = c_int(), c_int(), c_ulong()
        self._x.XTranslateCoordinates(
            self._display, window, self._root, 0, 0, byref(x), byref(y), byref(child)
        )
        return Region(x.value, y.value, sizes[0].value, sizes[1].value)


def _decode(title: bytes) -> str:
    try:
        return title.decode()
    except UnicodeDecodeError:
        # Programs that set only WM_NAME do so in Latin-1, as its type STRING says.
        return title.decode("latin-1")
