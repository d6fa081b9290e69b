"""Opens databases for SQL cells, and finds their passwords."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from oi_tui.actions.interface import BUSY, UserInterface
from oi_tui.engine.credentials.redaction import learn_address
from oi_tui.engine.events import Event, RunReported
from oi_tui.messages import InputRequested
from oi_tui.text import clean_line

if TYPE_CHECKING:
    from oi_tui.workspace import Workspace

_NAME = re.compile(r"[^\W\d]\w*")


class DatabaseActions:
    """Carries out `%connect`."""

    def __init__(self, ui: UserInterface, workspace: "Workspace") -> None:
        self._ui = ui
        self._workspace = workspace

    def connect(self, argument: str) -> None:
        """Use a database from now on, or list the open ones.

        The password is never part of what is typed: it is in the keyring, or is asked for in a masked field.
        """
        words = argument.split()
        address, name = (*words, "", "")[:2]
        problem = self._explain_refusal(words, address, name)
        if problem:
            self._ui.show_notice(problem, warning=True)
        elif not words:
            self._ui.start(self._workspace.session.run("sql", ".databases"))
        else:
            code = f".connect {address} {name}".rstrip() if "://" in address else f".open {address}"
            events = self._workspace.session.run("sql", code)
            self._ui.start(self._answer_once(events, address) if "://" in address else events)

    def _explain_refusal(self, words: list[str], address: str, name: str) -> str:
        """Return why the connection cannot be tried; "" when it can."""
        computer = self._workspace.computer
        if self._ui.busy:
            return BUSY
        if len(words) > 2 or (name and not _NAME.fullmatch(name)):
            return "Type an address and a name of one word: %connect postgresql://ana@db.example/shop shop"
        try:
            has_password = urlsplit(address).password is not None
        except ValueError:
            return "The address is not valid. Type one like postgresql://ana@db.example/shop"
        if has_password:
            # It is not sent, logged or shown anywhere.
            learn_address(address)
            return (
                "Leave the password out of the address. You are asked for it, or it is read from the keyring."
            )
        if "://" not in address and name:
            return "A file needs no name: %connect shop.db"
        return computer.explain_missing("sql") or ""

    def _answer_once(self, events: Iterator[Event], address: str) -> Iterator[Event]:
        """Answer the question for the password once, where the keyring has it; pass on everything else."""
        has_asked = False
        for event in events:
            if not has_asked and isinstance(event, RunReported) and isinstance(event.report, InputRequested):
                report, has_asked = event.report, True
                secret = None
                if report.masked and clean_line(report.prompt).strip() == f"Password for {address}:":
                    secret = self._workspace.secrets.find(address)
                if secret is not None:
                    self._workspace.computer.send_input(secret.value + "\n")
                    continue
            yield event
