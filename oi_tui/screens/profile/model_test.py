"""A short test of a profile's model, shown step by step."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from oi_tui.engine.models.model_check import CheckResult
from oi_tui.screens.dialog import Dialog, DialogBox
from oi_tui.text import clean_line

_log = logging.getLogger(__name__)
_MARKS = {True: ("✓", "$text-success"), False: ("✗", "$text-error"), None: ("·", "$text-muted")}


class ModelTest(Dialog[None]):
    """Shows the results of a model test as they come. Closing does not wait for the rest."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q", "dismiss", "Close", id="model_test.close")
    ]

    @dataclass
    class CheckFinished(Message):
        """The test has another result; None after the last one."""

        finding: CheckResult | None

    def __init__(self, model: str, findings: Iterator[CheckResult]) -> None:
        super().__init__()
        self._model = model
        self._findings = findings
        self._lines: list[Content] = []

    def compose(self) -> ComposeResult:
        """Mount a box for the results."""
        with DialogBox(id="model-test") as box:
            box.border_title = Content(f"Connection test: {clean_line(self._model, 50)}")
            box.hints = "esc close"
            yield Static(id="model-test-lines", markup=False)

    def on_mount(self) -> None:
        """Start the test in a thread."""
        self._show("Requesting a few tokens ...")
        self.run_worker(self._ask, thread=True, exit_on_error=False)

    @on(CheckFinished)
    def handle_check_finished(self, event: CheckFinished) -> None:
        """Add a line for the result."""
        finding = event.finding
        if finding is not None:
            mark, style = _MARKS[finding.good]
            setting = (
                f" Check the setting {finding.setting}." if finding.setting and finding.good is False else ""
            )
            words = clean_line(finding.sentence, 400) + setting
            self._lines.append(Content.assemble((f"{mark} ", style), words))
        self._show("" if finding is None else "...")

    def _ask(self) -> None:
        try:
            for finding in self._findings:
                self.post_message(self.CheckFinished(finding))
        except Exception as error:  # noqa: BLE001 -- the end of the worker; it reports
            _log.exception("The test of a model failed")
            self.post_message(
                self.CheckFinished(CheckResult("host", False, f"The test itself failed: {error}"))
            )
        self.post_message(self.CheckFinished(None))

    def _show(self, more: str) -> None:
        rest = [Content.styled(more, "$text-muted")] if more else []
        self.query_one("#model-test-lines", Static).update(Content("\n").join([*self._lines, *rest]))
