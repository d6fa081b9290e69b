"""Asks whether code may run, with two buttons under a cell of a notebook."""

import importlib
import sys
import threading
from collections.abc import Callable


class NotebookQuestion:
    """Asks with buttons of ipywidgets while the notebook stays usable.

    A kernel takes no clicks while a cell runs. So there are buttons for turns in a thread only
    (`chat(blocking=False)`); other turns ask in a line.
    """

    def __init__(self) -> None:
        self._decided = threading.Event()
        self._answer = False
        self._is_open = False

    @property
    def waits_for_a_click(self) -> bool:
        """Whether the calling thread keeps the notebook from taking the click that is waited for."""
        return self._is_open and threading.current_thread() is threading.main_thread()

    def ask(self) -> bool | None:
        """Ask whether the code that was shown may run; None where buttons cannot be used."""
        if threading.current_thread() is threading.main_thread() or not _is_notebook():
            return None
        try:
            ipywidgets = importlib.import_module("ipywidgets")
            show = importlib.import_module("IPython.display").display
        except ImportError:
            return None

        self._decided.clear()
        self._answer = False
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

    def give_up(self) -> None:
        """Take the question back, which rejects the code; from any thread."""
        self._decided.set()

    def _decide(self, answer: bool) -> Callable[[object], None]:
        def take(_button: object) -> None:
            if not self._decided.is_set():
                self._answer = answer
                self._decided.set()

        return take


def _is_notebook() -> bool:
    """Whether this code runs in the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return hasattr(shell, "kernel")
