"""Joins a session of a running server from a terminal."""

import getpass
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from oi_tui import log
from oi_tui.attach.address import AddressError, SessionAddress, read_token
from oi_tui.attach.connection import AttachError, SessionConnection, TokenRefusedError, list_sessions
from oi_tui.attach.conversation import AttachedConversation
from oi_tui.attach.images import Images
from oi_tui.engine.credentials.redaction import learn
from oi_tui.plain.event_handler import PlainEventHandler
from oi_tui.plain.run import FAILED, run_guarded, say, write_error
from oi_tui.plain.stdin_reader import StdinReader
from oi_tui.plain.wakeup import Wakeup
from oi_tui.text import clean_line

#: The session that a server always has.
_DEFAULT = "default"
_NO_TOKEN = (
    "--attach needs the token that oi-tui --server printed: set INTERPRETER_API_KEY, or start --attach in a "
    "terminal to be asked for it"
)


def run(address: SessionAddress) -> int:
    """Join a session until the person leaves. Returns the exit code; raises AddressError without a token."""
    log.begin()
    if not address.token:
        address = replace(address, token=_ask_for_token(address))
    learn(address.token)

    def run_session(stack: ExitStack) -> int:
        alarm = Wakeup()
        stack.callback(alarm.close)
        keyboard = StdinReader(alarm)
        try:
            session = _choose_session(list_sessions(address), keyboard)
        except AttachError as error:
            write_error(f"{error}\n")
            return FAILED if not isinstance(error, TokenRefusedError) else 2
        if session is None:
            return 0
        save = Images(address, session).save
        handler = PlainEventHandler(say, write_error, save, echoes=keyboard.is_terminal)
        handler.print_notice(f"Attached to {address.shown}. ctrl+d leaves; the session continues.")
        link = SessionConnection(address, session, alarm.ring)
        stack.callback(link.close)
        is_terminal = keyboard.is_terminal and sys.stdout.isatty()
        conversation = AttachedConversation(link, handler, keyboard, alarm, may_approve=is_terminal)
        conversation.converse()
        if conversation.ended:
            handler.print_notice(conversation.ended)
        return FAILED if conversation.ended else 0

    return run_guarded(run_session)


def _ask_for_token(address: SessionAddress) -> str:
    """Ask for the token, which is not shown. Raises AddressError where nobody can be asked."""
    if not os.isatty(0):
        raise AddressError(_NO_TOKEN)
    try:
        answer = getpass.getpass(f"Token of {address.shown} (not shown): ").strip()
    except (EOFError, KeyboardInterrupt):
        answer = ""
    # The address of the page is what is easily copied.
    token = read_token(answer) or answer
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise AddressError("--attach: this is not a token; oi-tui --server prints it")
    return token


def _choose_session(found: Sequence[Mapping[str, Any]], keyboard: StdinReader) -> str | None:
    """Return the id of the session to join; with several, ask which. None if nobody chose."""
    if len(found) < 2 or not keyboard.is_terminal:
        waiting = [item for item in found if item.get("waiting") or item.get("busy")]
        return str((waiting or list(found) or [{"id": _DEFAULT}])[-1]["id"])
    write_error("Sessions:\n")
    for number, item in enumerate(found, 1):
        state = " (waits for you)" if item.get("waiting") else " (working)" if item.get("busy") else ""
        write_error(f"  {number}  {clean_line(str(item.get('title') or item['id']), 70)}{state}\n")
    while True:
        try:
            answer = keyboard.prompt(f"Join which session? 1-{len(found)}: ")
        except KeyboardInterrupt:
            return None
        if answer is None:
            return None
        if answer.strip().isdecimal() and 0 < int(answer.strip()[:6]) <= len(found):
            return str(found[int(answer.strip()[:6]) - 1]["id"])
