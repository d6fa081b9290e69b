"""The doctor's report as a page."""

import threading

from textual.app import App

from oi_tui.doctor.active_profile import ActiveProfile
from oi_tui.doctor.report import report
from oi_tui.screens.pager import PagerScreen
from oi_tui.widgets.pager.long_text import LongText


def show(app: App[object], active: ActiveProfile) -> None:
    """Run the checks in the background, then show the report."""

    def examine() -> None:
        text, problems = report(active, ask_terminal=False)
        summary = f"{problems} problem{'s' * (problems != 1)}" if problems else "no problem"
        app.call_later(lambda: app.push_screen(PagerScreen(f"Doctor: {summary}", LongText.of(text), _WHERE)))

    app.notify("Checking languages, servers, folders and the terminal", timeout=2)
    threading.Thread(target=examine, name="doctor", daemon=True).start()


_WHERE = "oi-tui --doctor FILE writes this report to a file, without keys."
