"""Checks the terminal: what it claims to support, and what it answers to queries."""

import codecs
import locale
import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping

from oi_tui.doctor.finding import Diagnosis
from oi_tui.terminal import textual_variables
from oi_tui.terminal.color_system import is_colourful_xterm
from oi_tui.terminal.graphics import ask_tmux, choose_protocol
from oi_tui.terminal.queries import TerminalQueries

#: Kitty's keyboard protocol, and frames as a whole; what is asked about images follows.
_QUESTIONS = "\x1b[?u\x1b[?2026$p"
_NUMBER = 31
#: The answer to the last question, which every terminal gives, says that no other answer will come.
_LAST = re.compile(rb"\x1b\[\?[0-9;]*c")
#: A string without its end, or a control sequence.
_REPLY = re.compile(r"\x1b[_P][^\x1b]*|\x1b\[[0-?]*[ -/]*[@-~]")
#: So long the terminal may take to answer, in seconds.
TIMEOUT = 0.4
#: What TERM begins with in tmux and in screen.
_MULTIPLEXERS = ("tmux", "screen")
_TOOLS = ("wl-copy", "xclip", "xsel", "pbcopy", "clip.exe")


def check_terminal(*, ask: bool = True) -> Iterator[Diagnosis]:
    """Check the terminal and what lies between; `ask` it only when nobody else reads its keys."""
    environment = os.environ
    if not (_is_terminal(sys.stdin) and _is_terminal(sys.stdout)):
        yield Diagnosis(None, "standard input or output is not a terminal: oi-tui would start in plain mode")
        ask = False
    yield from _check_kind(environment)
    yield from _check_size()
    yield from _check_encoding(environment)
    yield _check_colours(environment)
    # Textual is not loaded here.
    if problem := textual_variables.find_problem(environment, load_driver=False):
        yield Diagnosis(False, problem, "Correct the variable, or unset it.")
    yield from _check_between(environment)
    yield _check_clipboard(environment)
    if ask:
        yield from _check_answers(_query())


def _check_kind(environment: Mapping[str, str]) -> Iterator[Diagnosis]:
    term = environment.get("TERM", "")
    program = environment.get("TERM_PROGRAM", "")
    if not term:
        yield Diagnosis(False, "TERM is not set", "export TERM=xterm-256color, or the name of your terminal")
    elif term == "dumb":
        yield Diagnosis(None, "TERM is dumb: oi-tui starts in plain mode", "export TERM=xterm-256color")
    else:
        yield Diagnosis(True, f"TERM is {term}" + (f", in {program}" if program else ""))


def _check_size() -> Iterator[Diagnosis]:
    try:
        columns, rows = os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1)
    except (OSError, ValueError):
        return
    if columns < 80 or rows < 24:
        yield Diagnosis(None, f"{columns} columns, {rows} rows", "80 by 24 or more is comfortable.")
    else:
        yield Diagnosis(True, f"{columns} columns, {rows} rows")


def _check_encoding(environment: Mapping[str, str]) -> Iterator[Diagnosis]:
    lines = next((environment[n] for n in ("LC_ALL", "LC_CTYPE", "LANG") if environment.get(n)), "")
    try:
        encoding = codecs.lookup(locale.getpreferredencoding(False)).name
    except LookupError:
        encoding = "unknown"
    if encoding != "utf-8" or (lines and "utf" not in lines.lower()):
        usual = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"
        fix = f"export LC_ALL={usual}, or another locale of `locale -a` that ends in UTF-8"
        yield Diagnosis(False, f"the locale is {lines or 'not set'}, which is not UTF-8", fix)
    else:
        yield Diagnosis(True, f"UTF-8, locale {lines or 'not set'}")


def _check_colours(environment: Mapping[str, str]) -> Diagnosis:
    term = environment.get("TERM", "")
    if environment.get("NO_COLOR"):
        return Diagnosis(None, "NO_COLOR is set: no colours are used")
    has_true_colour = environment.get("COLORTERM", "").lower() in ("truecolor", "24bit")
    if has_true_colour or is_colourful_xterm(environment):
        return Diagnosis(True, "16 million colours")
    if "256" in term or "direct" in term or "kitty" in term:
        fix = "If the terminal supports more: export COLORTERM=truecolor"
        return Diagnosis(None, "256 colours", fix)
    return Diagnosis(None, "16 colours", "If the terminal supports more: export COLORTERM=truecolor")


def _check_between(environment: Mapping[str, str]) -> Iterator[Diagnosis]:
    """Check tmux, screen and SSH between the program and the terminal."""
    if environment.get("TMUX"):
        yield from _check_tmux(environment)
    elif environment.get("STY"):
        yield Diagnosis(None, "GNU screen: no images, no clipboard outside it, and no mouse before %mouse on")
    if environment.get("SSH_CONNECTION") or environment.get("SSH_TTY"):
        yield Diagnosis(None, "over SSH: copying goes through the terminal (OSC 52)")


def _check_tmux(environment: Mapping[str, str]) -> Iterator[Diagnosis]:
    tmux = ask_tmux()
    around = [term for term, _, _ in tmux.clients if term.startswith(_MULTIPLEXERS)] if tmux else []
    if around:
        fix = "These tmux settings are needed in the outer one too."
        yield Diagnosis(None, f"in tmux, within another tmux or screen ({around[0]})", fix)
    else:
        yield Diagnosis(None, "in tmux" if tmux else "in tmux, which does not answer")
    term = environment.get("TERM", "")
    if term != "dumb" and not term.startswith(_MULTIPLEXERS):
        fix = "In ~/.tmux.conf: set -g default-terminal tmux-256color; and set no TERM in your shell's files."
        yield Diagnosis(False, f"TERM is {term or 'not set'}, which is not tmux", fix)
    options = (
        (
            "set-clipboard",
            ("on", "external"),
            "copying does not reach the terminal",
            "set -s set-clipboard on",
        ),
        (
            "allow-passthrough",
            ("on", "all"),
            "images are shown as half blocks",
            "set -g allow-passthrough on",
        ),
        (
            "focus-events",
            ("on",),
            "you are not notified when the window is not focused",
            "set -g focus-events on",
        ),
    )
    for option, good, loss, fix in options:
        value = _read_tmux_option(option)
        if value is not None and value not in good:
            yield Diagnosis(None, f"tmux: {option} is {value or 'off'}, so {loss}", f"In ~/.tmux.conf: {fix}")


def _read_tmux_option(name: str) -> str | None:
    try:
        done = subprocess.run(
            ["tmux", "show", "-Av", name],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=0.4,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None


def _check_clipboard(environment: Mapping[str, str]) -> Diagnosis:
    display = sys.platform == "darwin" or environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
    tool = next((name for name in _TOOLS if shutil.which(name)), None)
    if display and not environment.get("SSH_CONNECTION"):
        if tool:
            return Diagnosis(True, f"copying uses {tool}")
        return Diagnosis(
            None,
            "copying uses the terminal (OSC 52), which may not support it",
            "Install xclip or wl-clipboard.",
        )
    return Diagnosis(None, "copying uses the terminal (OSC 52), which cannot confirm it")


def _check_answers(answer: bytes | None) -> Iterator[Diagnosis]:
    if answer is None:
        yield Diagnosis(None, "the terminal did not report its features in time")
        return
    yield _check_images(answer)
    if re.search(rb"\x1b\[\?\d+u", answer):
        yield Diagnosis(True, "the keyboard protocol distinguishes all keys")
    else:
        yield Diagnosis(None, "the keyboard cannot distinguish ctrl+enter from enter; f6 does the same")
    frames = re.search(rb"\x1b\[\?2026;(\d)\$y", answer)
    if frames and frames[1] in b"123":
        yield Diagnosis(True, "frames are drawn without tearing (synchronized output)")


def _check_images(answer: bytes) -> Diagnosis:
    """Report how images are shown where the setting `images` is auto."""
    replies = TerminalQueries(number=_NUMBER)
    replies.build_queries()
    for reply in _REPLY.findall(answer.decode("utf-8", "replace")):
        replies.read(reply)
    match choose_protocol("auto", replies.answers, ask_tmux()):
        case "kitty":
            return Diagnosis(True, "images by the Kitty protocol")
        case "sixel":
            return Diagnosis(True, "images by sixel, where they do not move")
        case _:
            return Diagnosis(None, "images are shown as half blocks")


def _query() -> bytes | None:
    """Query the terminal; None when no complete answer comes in time. Keys typed meanwhile are lost."""
    import termios
    import tty

    source, target = sys.stdin.fileno(), sys.stdout.fileno()
    try:
        before = termios.tcgetattr(source)
    except termios.error:
        return None
    answer = b""
    try:
        tty.setraw(source, termios.TCSANOW)
        os.write(target, (_QUESTIONS + TerminalQueries(number=_NUMBER).build_queries()).encode())
        until = time.monotonic() + TIMEOUT
        while not _LAST.search(answer) and (remaining_seconds := until - time.monotonic()) > 0:
            if select.select([source], [], [], remaining_seconds)[0]:
                answer += os.read(source, 4096)
    except OSError:
        return None
    finally:
        # An answer that comes too late must not be typed into the shell.
        termios.tcsetattr(source, termios.TCSAFLUSH, before)
    return answer if _LAST.search(answer) else None


def _is_terminal(stream: object) -> bool:
    try:
        return bool(stream is not None and stream.isatty())  # type: ignore[attr-defined]
    except ValueError:
        return False
