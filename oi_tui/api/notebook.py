"""A turn in a Jupyter notebook: shows its chunks, with images and pages, and asks with buttons."""

import importlib
import sys
import threading
from collections.abc import Callable
from typing import Any

from oi_tui.engine.open_interpreter.chunks import Chunk, ChunkPrinter

_IMAGES = {"base64.png": "image/png", "base64.jpeg": "image/jpeg"}


class NotebookDisplay:
    """Shows chunks as they come, outside of notebooks as lines. One is for one turn or run."""

    def __init__(self) -> None:
        # A kernel sends what was printed several times a second. With a flush, each piece is a message.
        self._printer = ChunkPrinter(flush=_find_shell() is None)

    def show(self, chunk: Chunk) -> None:
        """Show what a person reads or sees of a chunk."""
        content = chunk.get("content")
        media = _find_media_type(chunk) if content else None
        if media is None:
            self._printer.show(chunk)
        elif publish := _find_publisher():
            publish({media: content})
        elif media == "text/html":
            self._printer.show(chunk)
        else:
            self._printer.show({**chunk, "type": "message", "content": "[image]"})


class NotebookQuestion:
    """Asks whether code may run, with two buttons of ipywidgets while the notebook stays usable.

    A kernel takes no clicks while a cell runs. So there are buttons for turns in a thread only
    (`chat(blocking=False)`); other turns ask in a line.
    """

    def __init__(self) -> None:
        self._decided = threading.Event()
        self._answer = False
        self._is_open = False
        self._is_withdrawn = False

    @property
    def waits_for_a_click(self) -> bool:
        """Whether the calling thread keeps the notebook from taking the click that is waited for."""
        return self._is_open and threading.current_thread() is threading.main_thread()

    def begin_turn(self) -> None:
        """Ask again, whatever was withdrawn in an earlier turn."""
        self._is_withdrawn = False

    def ask(self) -> bool | None:
        """Ask whether the code that was shown may run; None where buttons cannot be used."""
        if threading.current_thread() is threading.main_thread() or not _find_shell():
            return None
        try:
            ipywidgets = importlib.import_module("ipywidgets")
            show = importlib.import_module("IPython.display").display
        except ImportError:
            return None

        self._decided.clear()
        self._answer = False
        if self._is_withdrawn:
            # The turn was stopped before the buttons are there.
            return False
        run = ipywidgets.Button(description="Run", button_style="success", icon="play")
        reject = ipywidgets.Button(description="Reject", icon="times")
        box = ipywidgets.HBox([run, reject])
        run.on_click(self._decide(True))
        reject.on_click(self._decide(False))
        self._is_open = True
        try:
            show(box)
            self._decided.wait()
        finally:
            self._is_open = False
            # What is over cannot be clicked any more.
            for widget in (box, run, reject):
                widget.close()
        return self._answer

    def withdraw(self) -> None:
        """Withdraw the questions of this turn, which rejects the code; from any thread."""
        # In this order: `ask` clears the other one, and looks at this one afterwards.
        self._is_withdrawn = True
        self._decided.set()

    def _decide(self, answer: bool) -> Callable[[object], None]:
        def on_click(_button: object) -> None:
            if not self._decided.is_set():
                self._answer = answer
                self._decided.set()

        return on_click


def _find_media_type(chunk: Chunk) -> str | None:
    """Return the media type of a chunk's content; None for text."""
    if chunk["type"] == "image":
        return _IMAGES.get(str(chunk.get("format")))
    is_page = (chunk["role"], chunk["type"], chunk.get("format")) == ("computer", "code", "html")
    return "text/html" if is_page else None


def _find_publisher() -> Any:
    """Return what shows data in the notebook that this code runs in; None where it runs in none."""
    shell = _find_shell()
    return shell.display_pub.publish if shell else None


def _find_shell() -> Any:
    """Find IPython's shell, where this code runs in the kernel of a notebook; else None."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell if hasattr(shell, "kernel") else None
