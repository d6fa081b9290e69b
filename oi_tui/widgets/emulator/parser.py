"""Parses a program's output as a terminal does, also where a sequence arrives in pieces."""

import re
from collections.abc import Callable
from functools import lru_cache

from pyte import modes as pyte_modes

from oi_tui.widgets.emulator.colours import apply_colours
from oi_tui.widgets.emulator.grid import (
    BRACKETED_PASTE,
    CURSOR_SHOWN,
    INVERSE,
    ORIGIN,
    WRAPPING,
    GridCell,
    TerminalGrid,
)
from oi_tui.widgets.emulator.history import ALTERNATE, CURSOR_KEYS

#: Of a control string no more is waited for than this; what continues for longer is not one.
_LONGEST_STRING = 100_000

_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|(?:\x1b\[|\x9b)(?P<private>[<=>?]?)(?P<parameters>[0-9:;]*)(?P<between>[ -/]*)(?P<final>[@-~])"
    r"|(?:\x1b[\]P^_X]|[\x90\x98\x9d-\x9f])[^\x1b\x07\x9c]*(?:\x07|\x1b\\|\x9c|(?=\x1b[^\\]))"  # strings
    r"|\x1b(?P<between_escape>[ -/]*)(?P<escape>[0-Z\\^-~])"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*"  # a broken sequence
    r"|(?P<control>[\x00-\x1f\x7f-\x9f])"
)
#: A sequence or string that has begun and may yet go on.
_UNFINISHED = re.compile(
    r"(?:\x1b(?:\[[0-?]*[ -/]*)?|\x9b[0-?]*[ -/]*|\x1b[ -/]+"
    r"|(?:\x1b[\]P^_X]|[\x90\x98\x9d-\x9f])[^\x1b\x07\x9c]*\x1b?)\Z"
)
_UNDERLINES = re.compile(r"(?<![0-9:])4:([0-9]+)")
_COLOUR_SPACES = re.compile(r"([34]8):2:[0-9]*:([0-9]+:[0-9]+:[0-9]+)")
_UNDERLINE_COLOURS = re.compile(r"(?<![0-9])58[;:](?:5[;:][0-9]+|2(?:[;:][0-9]*)(?:[;:][0-9]+){2,3})")


class TerminalEmulator(TerminalGrid):
    """An emulated terminal. pyte's own reader draws much that it does not know, and fails on some."""

    _held = ""

    def feed(self, text: str) -> None:
        """Take what was written next, cut anywhere."""
        text, self._held = self._held + text, ""
        position, end = 0, len(text)
        start = max(text.rfind("\x1b"), text.rfind("\x9b"))
        for opening in _find_openings(text, start):
            if _UNFINISHED.match(text, opening) and end - opening < _LONGEST_STRING:
                self._held, end = text[opening:], opening
                break
        while position < end:
            match = _TOKEN.match(text, position, end)
            if match is None:
                position += 1
                continue
            position = match.end()
            if match["text"]:
                self.draw(match["text"])
            elif match["final"]:
                self._run_control(match["private"], match["parameters"], match["between"], match["final"])
            elif match["escape"]:
                self._escape(match["between_escape"], match["escape"])
            elif match["control"]:
                self._single(match["control"])

    def _single(self, character: str) -> None:
        match character:
            case "\r":
                self.carriage_return()
            case "\n" | "\x0b" | "\x0c" | "\x84":
                self.linefeed()
            case "\b":
                self.backspace()
            case "\t":
                self.tab()
            case "\x0e":
                self.shift_out()
            case "\x0f":
                self.shift_in()
            case "\x85":
                self._escape("", "E")
            case "\x8d":
                self.reverse_index()

    def _escape(self, between: str, final: str) -> None:
        match between, final:
            case "", "7":
                self.save_cursor()
            case "", "8":
                self.restore_cursor()
            case "", "D":
                self.index()
            case "", "E":
                self.carriage_return()
                self.index()
            case "", "M":
                self.reverse_index()
            case "", "H":
                self.set_tab_stop()
            case "", "c":
                self.reset()
            case (("(" | ")"), _):
                self.define_charset(final, between)
            case "#", "8":
                self.alignment_display()

    def _run_control(self, private: str, parameters: str, between: str, final: str) -> None:
        if private or between:
            self._set_private_mode(private + between, parameters, final)
            return
        if final == "m":
            self.cursor.attrs = GridCell(
                " ", apply_colours(self.cursor.attrs.style, _normalise_colours(parameters))
            )
            return
        numbers = _parse_numbers(parameters)
        first = numbers[0]
        match final:
            case "H" | "f":
                self.cursor_position(first, numbers[1] if len(numbers) > 1 else 0)
            case "r":
                self.set_margins(first, (numbers[1] if len(numbers) > 1 else 0) or self.lines)
                self.cursor_position()
            case "J" if first < 4:
                self.erase_in_display(first)
            case "K" if first < 3:
                self.erase_in_line(first)
            case "h":
                self.set_mode(*[number for number in numbers if number in (pyte_modes.IRM, pyte_modes.LNM)])
            case "l":
                self.reset_mode(*[number for number in numbers if number in (pyte_modes.IRM, pyte_modes.LNM)])
            case "S":
                self.scroll(min(first or 1, self.lines), up=True)
            case "T" if len(numbers) == 1:
                self.scroll(min(first or 1, self.lines), up=False)
            case "Z":
                before = [stop for stop in self.tabstops if stop < self.cursor.x]
                self.cursor.x = sorted(before)[-(first or 1)] if len(before) >= (first or 1) else 0
            case "I":
                for _ in range(min(first or 1, self.columns)):
                    self.tab()
            case "b" if self.last_drawn:
                self.draw(self.last_drawn * min(first or 1, self.columns * self.lines))
            case "c" if not first:
                self.write_process_input("\x1b[?6c")
            case "n":
                self._report(first)
            case "s":
                self.save_cursor()
            case "u":
                self.restore_cursor()
            case _ if final in _MOVES:
                _MOVES[final](self, first)

    def _set_private_mode(self, mark: str, parameters: str, final: str) -> None:
        numbers = _parse_numbers(parameters)
        match mark, final:
            case "?", "h":
                self.switch_private_modes(numbers, on=True)
            case "?", "l":
                self.switch_private_modes(numbers, on=False)
            case "?", "J" | "K":
                self._run_control("", parameters, "", final)
            case "?", "n" if numbers[0] == 6:
                self._report(6, mark)
            case "?$", "p":
                state = 1 if numbers[0] in self.private_modes else 2 if numbers[0] in _SWITCHES else 0
                self.write_process_input(f"\x1b[?{numbers[0]};{state}$y")
            case ">", "c" if not numbers[0]:
                # An old VT100 without extras, so that programs ask for no more.
                self.write_process_input("\x1b[>0;10;1c")
            case "!", "p":
                self.switch_private_modes([CURSOR_KEYS, ORIGIN], on=False)
                self.switch_private_modes([WRAPPING, CURSOR_SHOWN], on=True)
                self.set_margins()

    def _report(self, what: int, mark: str = "") -> None:
        if what == 5:
            self.write_process_input("\x1b[0n")
        elif what == 6:
            above = self.margins.top if self.margins and pyte_modes.DECOM in self.mode else 0
            self.write_process_input(f"\x1b[{mark}{self.cursor.y - above + 1};{self.column + 1}R")


def _find_openings(text: str, last: int) -> list[int]:
    """Return the positions where an unfinished sequence or string may have begun, the earliest first."""
    starts = [text.rfind(begin) for begin in ("\x1b]", "\x1bP", "\x1b^", "\x1b_", "\x1bX")]
    if not text.isascii():
        starts += [text.rfind(begin) for begin in "\x90\x98\x9d\x9e\x9f"]
    return sorted({start for start in (*starts, last) if start >= 0})


def _parse_numbers(parameters: str) -> list[int]:
    """Return the parameters of a sequence; what is left out is 0, and none is above 9999."""
    return [min(int(part[:5] or 0), 9999) for part in parameters.replace(":", ";").split(";")[:32]]


@lru_cache(maxsize=512)
def _normalise_colours(parameters: str) -> str:
    """Colour parameters with the colons of ISO 8613-6 turned into the older form."""
    if ":" not in parameters and "58" not in parameters:
        return parameters
    parameters = _UNDERLINE_COLOURS.sub("59", parameters)
    parameters = _UNDERLINES.sub(lambda match: "24" if match[1] == "0" else "4", parameters)
    return _COLOUR_SPACES.sub(r"\1:2:\2", parameters)


_MOVES: dict[str, Callable[[TerminalEmulator, int], None]] = {
    "@": TerminalEmulator.insert_characters,
    "A": TerminalEmulator.cursor_up,
    "B": TerminalEmulator.cursor_down,
    "C": TerminalEmulator.cursor_forward,
    "D": TerminalEmulator.cursor_back,
    "E": TerminalEmulator.cursor_down1,
    "F": TerminalEmulator.cursor_up1,
    "G": TerminalEmulator.cursor_to_column,
    "L": TerminalEmulator.insert_lines,
    "M": TerminalEmulator.delete_lines,
    "P": TerminalEmulator.delete_characters,
    "X": TerminalEmulator.erase_characters,
    "`": TerminalEmulator.cursor_to_column,
    "a": TerminalEmulator.cursor_forward,
    "d": TerminalEmulator.cursor_to_line,
    "e": TerminalEmulator.cursor_down,
    "g": TerminalEmulator.clear_tab_stop,
}
#: Private modes that can be asked for.
_SWITCHES = {CURSOR_KEYS, INVERSE, ORIGIN, WRAPPING, CURSOR_SHOWN, BRACKETED_PASTE, *ALTERNATE}
