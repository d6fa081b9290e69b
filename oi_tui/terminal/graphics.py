"""Detects how the terminal can show images."""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from oi_tui.terminal.queries import Answers

#: By Kitty's protocol, as sixels, as half blocks, or in words only.
ImageProtocol = Literal["kitty", "sixel", "blocks", "off"]
#: Terminals that place an image where characters of its own stand, as Kitty's protocol has it since 0.28.
_PLACING = ("kitty", "ghostty")
#: Kitty's versions before 1.0, and the first of them that does so.
_EARLY_KITTY, _PLACES_SINCE = re.compile(r"kitty\W*0\.(?P<minor>\d+)"), 28
#: Two pixels: the upper one in the colour of the text, the lower one in that of the background.
HALF_BLOCK = "▀"
#: Terminals that print such questions, or that hand them to another terminal in a way of their own.
_MUTE = ("linux", "dumb", "cygwin", "vt", "screen", "tmux", "ansi", "eterm")


@dataclass(frozen=True, slots=True)
class Tmux:
    """The state of tmux."""

    #: Whether it passes on what is not for itself: "on", "all", "off", or "" where it does not say.
    passthrough: str = ""
    #: Each terminal that shows the session: its TERM, its name and version, and what it can, in tmux's words.
    clients: tuple[tuple[str, str, str], ...] = ()

    @property
    def colours(self) -> bool:
        """Whether each terminal gets the 16 million colours as they are."""
        return all("RGB" in features for _, _, features in self.clients)


def is_worth_asking(wanted: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether the terminal is to be asked: only where that decides something, and
    where it cannot disturb.
    """
    term = environment.get("TERM", "")
    if wanted in ("blocks", "off") or environment.get("TERM_PROGRAM") == "Apple_Terminal":
        return False
    return bool(term) and not term.startswith(_MUTE) and not {"TMUX", "STY"} & set(environment)


def choose_protocol(
    wanted: str,
    answers: Answers,
    tmux: Tmux | None = None,
    environment: Mapping[str, str] = os.environ,
) -> ImageProtocol:
    """Choose how to show images, from the setting and what is known so far.

    Sixels need the size of a cell, and inside of tmux only tmux itself knows where it draws; so there they
    are only shown when they were chosen.
    """
    match wanted:
        case "kitty" | "blocks" | "off":
            return wanted
        case "sixel":
            return "sixel" if answers.cell else "blocks"
    if "TMUX" in environment:
        placing = tmux and tmux.clients and all(_can_place(term, name) for term, name, _ in tmux.clients)
        return "kitty" if tmux and placing and tmux.passthrough in ("on", "all") else "blocks"
    if answers.kitty and _can_place(environment.get("TERM", ""), answers.name or _find_name(environment)):
        return "kitty"
    return "sixel" if answers.sixel and answers.cell else "blocks"


def _find_name(environment: Mapping[str, str]) -> str:
    return "kitty" if "KITTY_WINDOW_ID" in environment else environment.get("TERM_PROGRAM", "")


def _can_place(term: str, name: str) -> bool:
    """Return whether a terminal with this TERM and name places images; the name counts
    where it is known.
    """
    program = name.lower() or term.lower().removeprefix("xterm-")
    old = _EARLY_KITTY.match(program)
    return program.startswith(_PLACING) and not (old and int(old["minor"]) < _PLACES_SINCE)


def ask_tmux(environment: Mapping[str, str] = os.environ) -> Tmux | None:
    """Ask tmux; None without a tmux, or when it does not answer. Takes some milliseconds.

    tmux is asked by its own command: what the terminal around it answers to questions would be typed into
    whatever window has the keyboard by then.
    """
    if "TMUX" not in environment:
        return None
    pane = environment.get("TMUX_PANE", "")
    target = ["-t", pane] if pane else []
    passthrough = _run_tmux("show-options", "-Apv", *target, "allow-passthrough")
    form = "#{client_termname}\t#{client_termtype}\t#{client_termfeatures}"
    clients = _run_tmux("list-clients", *target, "-F", form)
    if passthrough is None or clients is None:
        return None
    rows = [[*line.split("\t"), "", ""] for line in clients.splitlines() if line.strip()]
    return Tmux(passthrough.strip(), tuple((row[0], row[1], row[2]) for row in rows))


def _run_tmux(*words: str) -> str | None:
    try:
        done = subprocess.run(
            ["tmux", *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=2.0, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
