"""The connection to an X server, through libX11 and libXtst. Each wait for the server can be interrupted."""

from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import os
import queue
import socket
import threading
from collections.abc import Callable
from ctypes import POINTER, c_char_p, c_int, c_long, c_ubyte, c_uint, c_ulong, c_void_p
from functools import partial
from typing import Any

from oi_tui.computer.errors import ComputerError

#: How long the X server may take to answer, and to end a call that was interrupted, in seconds.
TIMEOUT = 5.0
_LAST_SECONDS = 0.2
#: Functions that do not wait for the server.
_LOCAL = frozenset(
    (
        *(
            "XFree",
            "XDestroyImage",
            "XDefaultRootWindow",
            "XDefaultScreen",
        ),
        *("XStringToKeysym", "XDisplayKeycodes"),
        *("XTestFakeMotionEvent", "XTestFakeButtonEvent", "XTestFakeKeyEvent"),
    )
)


class Image(ctypes.Structure):
    """XImage."""

    _fields_ = [
        *((name, c_int) for name in ("width", "height", "xoffset", "format")),
        ("data", c_void_p),
        *((name, c_int) for name in ("byte_order", "bitmap_unit", "bitmap_bit_order", "bitmap_pad", "depth")),
        *((name, c_int) for name in ("bytes_per_line", "bits_per_pixel")),
        *((name, c_ulong) for name in ("red_mask", "green_mask", "blue_mask")),
    ]


class WindowAttributes(ctypes.Structure):
    """XWindowAttributes."""

    _fields_ = [
        *((name, c_int) for name in ("x", "y", "width", "height", "border_width", "depth")),
        *(("visual", c_void_p), ("root", c_ulong)),
        *((name, c_int) for name in ("kind", "bit_gravity", "win_gravity", "backing_store")),
        *((name, c_ulong) for name in ("backing_planes", "backing_pixel")),
        *(("save_under", c_int), ("colormap", c_ulong), ("map_installed", c_int), ("map_state", c_int)),
        *((name, c_long) for name in ("all_event_masks", "your_event_mask", "do_not_propagate_mask")),
        *(("override_redirect", c_int), ("screen", c_void_p)),
    ]


class ClientMessage(ctypes.Structure):
    """XClientMessageEvent."""

    _fields_ = [
        ("type", c_int),
        ("serial", c_ulong),
        ("send_event", c_int),
        ("display", c_void_p),
        ("window", c_ulong),
        ("message_type", c_ulong),
        ("format", c_int),
        ("data", c_long * 5),
        # An XEvent is a union of 24 longs.
        ("rest", c_long * 24),
    ]


class Monitor(ctypes.Structure):
    """XRRMonitorInfo."""

    _fields_ = [
        ("name", c_ulong),
        *((name, c_int) for name in ("primary", "automatic", "noutput", "x", "y", "width", "height")),
        *((name, c_int) for name in ("mwidth", "mheight")),
        ("outputs", c_void_p),
    ]


_ErrorHandler = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
_LossHandler = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)


def load_library(name: str) -> ctypes.CDLL | None:
    """Load a library of X11; None where it is not installed."""
    path = ctypes.util.find_library(name)
    for candidate in (path, f"lib{name}.so.6", f"lib{name}.so.2"):
        if candidate:
            with contextlib.suppress(OSError):
                return ctypes.CDLL(candidate)
    return None


#: The default handler would end the process for a window that closed meanwhile. It must outlive all calls.
_ignore_errors = _ErrorHandler(lambda *_: 0)


#: The displays that closed, as numbers of their structures.
_closed: set[int | None] = set()
#: The displays whose loss libX11 (1.7 and later) survives. For any other it ends the process, and with it all
#: variables: also for one that is just being opened.
_survivable: set[int | None] = set()
_THREAD_NAME = "X11"


def _handle_loss(display: int | None, _: object) -> None:
    """Say nothing about a display that closed; where libX11 would end the process next, stay here."""
    if display not in _survivable and threading.current_thread().name == _THREAD_NAME:
        threading.Event().wait()


_handle_loss_in_c = _LossHandler(_handle_loss)
_note_closed = _LossHandler(lambda display, _: _closed.add(display))


class _Answer:
    """What a call returns, once it has."""

    def __init__(self) -> None:
        self._missing = threading.Lock()
        self._missing.acquire()
        self.result: Any = None
        self.error: Exception | None = None

    def run(self, function: Callable[..., Any], arguments: tuple[object, ...]) -> None:
        """Call the function whose answer this is."""
        try:
            self.result = function(*arguments)
        except Exception as error:  # noqa: BLE001 -- it is raised where the answer is wanted
            self.error = error
        self._missing.release()

    def wait(self, seconds: float) -> bool:
        """Wait for the answer; False where it takes longer."""
        return self._missing.acquire(timeout=seconds)


class _CallThread:
    """Calls functions one after the other, in a thread of its own: a wait for it can be interrupted."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[tuple[Callable[..., Any], tuple[object, ...], _Answer]] = (
            queue.SimpleQueue()
        )
        threading.Thread(target=self._run_calls, name=_THREAD_NAME, daemon=True).start()

    def begin(self, function: Callable[..., Any], arguments: tuple[object, ...]) -> _Answer:
        """Queue a call of a function. Returns what gets its result."""
        answer = _Answer()
        self._calls.put((function, arguments, answer))
        return answer

    def _run_calls(self) -> None:
        while True:
            function, arguments, answer = self._calls.get()
            answer.run(function, arguments)


class _CheckedLibrary:
    """A library whose functions are called by `call`."""

    def __init__(self, library: ctypes.CDLL, call: Callable[..., Any]) -> None:
        self._library = library
        self._call = call

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = partial(self._call, getattr(self._library, name))
        setattr(self, name, function)
        return function


class X11Connection:
    """A connection to a display, by default to that of the variable DISPLAY."""

    def __init__(self, name: str | None, timeout: float | None) -> None:
        """Connect. The server may take `timeout` seconds for each answer, or any time if None."""
        self.is_closed = False
        x, test = load_library("X11"), load_library("Xtst")
        if x is None or test is None:
            missing = "libX11" if x is None else "libXtst"
            raise ComputerError(
                f"The screen cannot be used: {missing} is not installed (packages libx11-6 and libxtst6)."
            )
        self._library = x
        self.x: Any = _CheckedLibrary(_declare_type(x), self.call)
        self.test: Any = _CheckedLibrary(test, self.call)
        self._name = name or os.environ.get("DISPLAY")
        self._timeout = timeout
        self._thread = None if timeout is None else _CallThread()
        self.display: int | None = None
        #: Why it is closed.
        self._loss = ""
        x.XInitThreads()
        x.XSetErrorHandler(_ignore_errors)
        x.XSetIOErrorHandler(_handle_loss_in_c)
        self.display = self.x.XOpenDisplay(name.encode() if name else None)
        if not self.display:
            raise ComputerError(f"The display {self._name} cannot be opened.")
        _closed.discard(self.display)
        with contextlib.suppress(AttributeError):  # libX11 before 1.7
            x.XSetIOErrorExitHandler.argtypes = [c_void_p, _LossHandler, c_void_p]
            x.XSetIOErrorExitHandler(self.display, _note_closed, None)
            _survivable.add(self.display)

    def call(self, function: Callable[..., Any], *arguments: object) -> Any:
        """Call a function of the libraries. Raises ComputerError where the server is gone or hangs."""
        self._check()
        if self._thread is None or self._timeout is None or function.__name__ in _LOCAL:
            result = function(*arguments)
            self._check()
            return result
        answer = self._thread.begin(function, arguments)
        try:
            in_time = answer.wait(self._timeout)
        except BaseException:
            # A call that takes no longer than this leaves the connection as it should be.
            if not answer.wait(_LAST_SECONDS):
                self._leave()
            raise
        if not in_time:
            self._leave()
        self._check()
        if answer.error:
            raise answer.error
        return answer.result

    def _check(self) -> None:
        if self.display in _closed and not self.is_closed:
            self.is_closed = True
            self._loss = "has closed, so nothing is done or held down there"
        if self.is_closed:
            raise ComputerError(f"The display {self._name} {self._loss}.")

    def _leave(self) -> None:
        """Give up the connection to a server that hangs; the call that waits for it ends."""
        self._loss = "does not answer, so nothing is done there"
        self.is_closed = True
        if self.display:
            number = self._library.XConnectionNumber(self.display)
            with contextlib.suppress(OSError), socket.socket(fileno=os.dup(number)) as connection:
                connection.shutdown(socket.SHUT_RDWR)


def _declare_type(x: Any) -> Any:
    """Declare what is a pointer or a long, which ctypes would cut to an int."""
    x.XOpenDisplay.restype = c_void_p
    x.XOpenDisplay.argtypes = [c_char_p]
    x.XDefaultRootWindow.restype = c_ulong
    x.XInternAtom.restype = x.XStringToKeysym.restype = c_ulong
    x.XGetKeyboardMapping.restype = POINTER(c_ulong)
    x.XGetKeyboardMapping.argtypes = [c_void_p, c_ubyte, c_int, POINTER(c_int)]
    x.XGetImage.restype = POINTER(Image)
    x.XGetImage.argtypes = [c_void_p, c_ulong, c_int, c_int, c_uint, c_uint, c_ulong, c_int]
    x.XStringToKeysym.argtypes = [c_char_p]
    x.XKeysymToKeycode.argtypes = [c_void_p, c_ulong]
    x.XCreateSimpleWindow.restype = c_ulong
    x.XCreateSimpleWindow.argtypes = [c_void_p, c_ulong, *[c_int] * 2, *[c_uint] * 3, *[c_ulong] * 2]
    x.XGrabPointer.argtypes = [c_void_p, c_ulong, c_int, c_uint, c_int, c_int, *[c_ulong] * 3]
    x.XKeysymToKeycode.restype = c_ubyte
    x.XSendEvent.argtypes = [c_void_p, c_ulong, c_int, c_long, c_void_p]
    x.XGetGeometry.argtypes = [c_void_p, c_ulong, *[c_void_p] * 7]
    x.XTranslateCoordinates.argtypes = [c_void_p, c_ulong, c_ulong, c_int, c_int, *[c_void_p] * 3]
    x.XQueryPointer.argtypes = [c_void_p, c_ulong, *[c_void_p] * 7]
    x.XChangeProperty.argtypes = [c_void_p, c_ulong, c_ulong, c_ulong, c_int, c_int, c_void_p, c_int]
    x.XGetWindowProperty.argtypes = [
        c_void_p,
        c_ulong,
        c_ulong,
        c_long,
        c_long,
        c_int,
        c_ulong,
        *[c_void_p] * 5,
    ]
    x.XChangeKeyboardMapping.argtypes = [c_void_p, c_int, c_int, c_void_p, c_int]
    x.XQueryTree.argtypes = [c_void_p, c_ulong, *[c_void_p] * 4]
    x.XGetWindowAttributes.argtypes = [c_void_p, c_ulong, c_void_p]
    x.XGetInputFocus.argtypes = [c_void_p, c_void_p, c_void_p]
    x.XRaiseWindow.argtypes = [c_void_p, c_ulong]
    x.XSetInputFocus.argtypes = [c_void_p, c_ulong, c_int, c_ulong]
    x.XGetAtomName.restype = c_void_p
    x.XGetAtomName.argtypes = [c_void_p, c_ulong]
    x.XQueryExtension.argtypes = [c_void_p, c_char_p, *[c_void_p] * 3]
    x.XInternAtom.argtypes = [c_void_p, c_char_p, c_int]
    for name in ("XFree", "XDestroyImage", "XDefaultRootWindow", "XDefaultScreen", "XConnectionNumber"):
        getattr(x, name).argtypes = [c_void_p]
    x.XSelectInput.argtypes = [c_void_p, c_ulong, c_long]
    x.XCheckTypedEvent.argtypes = [c_void_p, c_int, c_void_p]
    x.XSync.argtypes = [c_void_p, c_int]
    x.XQueryKeymap.argtypes = [c_void_p, c_void_p]
    x.XDisplayKeycodes.argtypes = [c_void_p, c_void_p, c_void_p]
    return x
