"""What the terminal answers never becomes a key, however late and torn it comes."""

import random

import pytest

from oi_tui.terminal.graphics import Tmux, choose_protocol, is_worth_asking
from oi_tui.terminal.input_filter import InputFilter, InputUnit, Pasted, TerminalReply
from oi_tui.terminal.queries import EAGER, Answers, TerminalQueries


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class Line:
    """A terminal line: what comes through is what the program takes for keys."""

    def __init__(self, *, asked: bool = True) -> None:
        self.clock = Clock()
        self.reported: list[Answers] = []
        self.replies = TerminalQueries(self.reported.append, self.clock)
        self.input = InputFilter(lambda: self.replies.expected, self.clock)
        self.keys = ""
        self.number = ""
        if asked:
            self.number = self.replies.build_queries().partition("i=")[2].partition(",")[0]

    def write(self, *parts: str, pause: float = 0.0) -> None:
        for part in parts:
            self._take(self.input.feed(part))
            self.wait(pause)

    def wait(self, seconds: float) -> None:
        until = self.clock.now + seconds
        while self.clock.now < until:
            self.clock.now += min(0.05, until - self.clock.now)
            self._take(self.input.tick())

    def _take(self, units: list[InputUnit]) -> None:
        for unit in units:
            if isinstance(unit, TerminalReply):
                self.replies.read(unit.text)
            else:
                self.keys += f"\x1b[200~{unit.text}\x1b[201~" if isinstance(unit, Pasted) else unit

    @property
    def answer(self) -> str:
        """All that kitty says."""
        image = f"\x1b_Gi={self.number};OK\x1b\\"
        return f"{image}\x1bP>|kitty(0.35.2)\x1b\\\x1b[6;20;10t\x1b[?62;4;52c"


FULL = Answers(True, "kitty(0.35.2)", (10, 20), (62, 4, 52))


def test_the_last_question_is_one_that_every_terminal_answers() -> None:
    assert TerminalQueries().build_queries().endswith("\x1b[c")


@pytest.mark.parametrize("late", [0.0, 0.5, 2.5, 20.0])
def test_answers_are_taken_whenever_they_come(late: float) -> None:
    line = Line()
    line.wait(late)
    line.write(line.answer)
    assert line.keys == ""
    assert line.replies.answers == FULL
    assert line.reported[-1] == FULL


@pytest.mark.parametrize("pause", [0.0, 0.1, 0.5])
def test_answers_may_come_byte_by_byte(pause: float) -> None:
    line = Line()
    line.write(*line.answer, pause=pause)
    assert line.keys == ""
    assert line.replies.answers == FULL


@pytest.mark.parametrize("seed", range(30))
def test_answers_torn_anywhere_among_keys_leave_the_keys_alone(seed: int) -> None:
    choose = random.Random(seed)
    line = Line()
    keys = [
        "y",
        "n",
        "a",
        "\r",
        "\x1b[A",
        "\x1b[6~",
        "\x1b[1;5H",
        "ü",
        "\x1b[200~no\x1b[?1c\x1b[201~",
        "\x1b[27u",
    ]
    stream = expected = ""
    whole = [
        f"\x1b_Gi={line.number};OK\x1b\\",
        "\x1bP>|kitty(0.35.2)\x1b\\",
        "\x1b[6;20;10t",
        "\x1b[?62;4;52c",
    ]
    for part in whole:
        key = choose.choice(keys)
        stream, expected = stream + key + part, expected + key
    while stream:
        size = choose.randint(1, 9)
        line.write(stream[:size], pause=choose.choice([0.0, 0.05, 0.3]))
        stream = stream[size:]
    assert line.keys == expected
    assert line.replies.answers == FULL


@pytest.mark.parametrize("length", range(1, 20))
def test_an_answer_that_breaks_off_types_nothing(length: int) -> None:
    for answer in ("\x1b_Gi={};OK\x1b\\", "\x1b[?62;4;52c", "\x1bP>|foot(1.2)\x1b\\"):
        line = Line()
        begun = answer.format(line.number)[:length]
        line.write(begun)
        line.wait(10)
        line.write("hello\r")
        # Of what could also be a key that much comes through, and harms nobody.
        assert line.keys in (
            "hello\r",
            *(f"{key}hello\r" for key in ("\x1b", "\x1b[", "\x1b_", "\x1bP")),
        )


def test_what_is_typed_a_moment_after_a_broken_answer_is_not_lost() -> None:
    for begun in ("\x1b_Gi=1", "\x1b_Gi=1;O", "\x1b_Gi=1;OK", "\x1b[?62;4", "\x1bP>"):
        line = Line()
        line.write(begun, pause=1.1)
        line.write("y", "hello\r")
        assert line.keys == "yhello\r"


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize(
    "keys",
    [
        "\x1b",
        "\x1b[",
        "\x1b_",
        "\x1bP",
        "\x1b[6~",
        "\x1b[<0;1;1M",
        "\x1b[?2026;2$y",
        "\x1bOP",
        "\x1b\x1b",
    ],
)
def test_keys_that_begin_like_an_answer_come_through(keys: str, asked: bool) -> None:
    line = Line(asked=asked)
    line.write(*keys)
    line.wait(1)
    line.write("x")
    assert line.keys == keys + "x"


def test_escape_waits_only_while_answers_are_expected() -> None:
    line = Line()
    line.write("\x1b")
    assert line.keys == ""
    line.wait(1)
    assert line.keys == "\x1b"
    line.write("\x1b[?62c", "\x1b")
    line.wait(0.05)
    assert line.keys == "\x1b\x1b"
    silent = Line()
    silent.wait(EAGER + 0.1)
    silent.write("\x1b", pause=0.1)
    assert silent.keys == "\x1b"


def test_answers_that_come_very_late_may_still_be_torn() -> None:
    line = Line()
    line.wait(60)
    line.write(*line.answer, pause=0.02)
    assert line.keys == ""
    assert line.replies.answers == FULL


def test_nothing_in_a_paste_is_an_answer() -> None:
    line = Line()
    pasted = f"\x1b[200~{line.answer}\x1b[201~"
    line.write(pasted[:9], pasted[9:40], pasted[40:])
    assert line.keys == pasted
    assert line.replies.answers == Answers()


def test_an_answer_to_somebody_elses_question_is_taken_but_not_believed() -> None:
    line = Line()
    line.write("\x1b_Gi=31;OK\x1b\\")
    assert (line.keys, line.replies.answers.kitty) == ("", int(line.number) == 31)


def test_a_cell_of_no_size_is_none() -> None:
    line = Line()
    line.write("\x1b[6;0;0t\x1b[6;99999;99999t")
    assert (line.keys, line.replies.answers.cell) == ("", None)


# What follows from it

XTERM = {"TERM": "xterm-256color"}
SIXEL = Answers(False, "foot(1.16.2)", (10, 20), (62, 4))


@pytest.mark.parametrize(
    ("answers", "environment", "expected"),
    [
        (FULL, XTERM, "kitty"),
        (Answers(True, "kitty(0.28.0)", None, (62,)), XTERM, "kitty"),
        (Answers(True, "kitty(0.26.5)", (9, 18), (62,)), XTERM, "blocks"),
        (Answers(True, "kitty(1.0.0)", None, (62,)), XTERM, "kitty"),
        (Answers(True, "ghostty 1.1", None, (62,)), XTERM, "kitty"),
        (Answers(True, "", None, (62,)), {"TERM": "xterm-kitty"}, "kitty"),
        (Answers(True, "", None, (62,)), {**XTERM, "KITTY_WINDOW_ID": "1"}, "kitty"),
        (Answers(True, "WezTerm 2024", (10, 20), (65, 4, 6)), XTERM, "sixel"),
        (Answers(True, "WezTerm 2024", (10, 20), (65, 4, 6)), {**XTERM, "KITTY_WINDOW_ID": "1"}, "sixel"),
        (Answers(True, "Konsole 24", None, (62, 22)), XTERM, "blocks"),
        (SIXEL, XTERM, "sixel"),
        (Answers(False, "", None, (62, 4)), XTERM, "blocks"),
        (Answers(False, "", (10, 20), (4, 6)), XTERM, "blocks"),
        (Answers(), XTERM, "blocks"),
        (FULL, {**XTERM, "TMUX": "/tmp/x,1,0"}, "blocks"),
    ],
)
def test_the_best_means_that_the_terminal_has(
    answers: Answers, environment: dict[str, str], expected: str
) -> None:
    assert choose_protocol("auto", answers, None, environment) == expected
    assert choose_protocol("blocks", answers, None, environment) == "blocks"
    assert choose_protocol("off", answers, None, environment) == "off"
    assert choose_protocol("kitty", answers, None, environment) == "kitty"


KITTY = ("xterm-kitty", "kitty(0.35.2)", "256,RGB,title")


@pytest.mark.parametrize(
    ("tmux", "expected"),
    [
        (Tmux("on", (KITTY,)), "kitty"),
        (Tmux("all", (KITTY, ("xterm-ghostty", "ghostty 1.0", ""))), "kitty"),
        (Tmux("off", (KITTY,)), "blocks"),
        (Tmux("", (KITTY,)), "blocks"),
        (Tmux("on", (KITTY, ("xterm-256color", "", ""))), "blocks"),
        (Tmux("on", (("tmux-256color", "tmux 3.4", ""),)), "blocks"),
        (Tmux("on", ()), "blocks"),
        (None, "blocks"),
    ],
)
def test_in_tmux_all_terminals_around_it_count(tmux: Tmux | None, expected: str) -> None:
    environment = {"TERM": "tmux-256color", "TMUX": "/tmp/x,1,0"}
    assert choose_protocol("auto", Answers(), tmux, environment) == expected
    assert not is_worth_asking("auto", environment)


@pytest.mark.parametrize("term", ["linux", "dumb", "", "screen-256color", "tmux-256color", "vt100"])
def test_terminals_that_would_print_the_questions_are_not_asked(term: str) -> None:
    assert not is_worth_asking("auto", {"TERM": term})
    assert is_worth_asking("auto", XTERM)
    assert not is_worth_asking("blocks", XTERM)
    assert not is_worth_asking("off", XTERM)
    assert not is_worth_asking("auto", {**XTERM, "TERM_PROGRAM": "Apple_Terminal"})
