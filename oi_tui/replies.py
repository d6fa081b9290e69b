"""What a terminal answers to questions, told apart from what a person types."""

import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

#: For so long after the questions, or the last sign of an answer, replies are expected, in seconds.
EAGER = 3.0
#: So long, in seconds, the beginning of what may be a reply or a key is kept: while replies are expected.
_AMBIGUOUS = 0.6
#: The same when they were expected long ago and never came; a person who stops a program should not wait.
_LATE = 0.05
#: So long what can only be the beginning of a reply is kept; then it is dropped.
_TORN = 3.0

#: Whole replies. Sources: Kitty's "graphics protocol" (querying support); xterm's "Control Sequences" (device
#: attributes, XTVERSION, and the size of a cell, which is a 6 in answer to `CSI 16 t`).
_REPLY = re.compile(
    r"\x1b_Gi=(?P<picture>\d{1,10})(?:,[a-zA-Z]=\d{0,10}){0,4};(?P<said>OK|E[^\x1b]{0,200})\x1b\\"
    r"|\x1bP>\|(?P<name>[^\x1b]{0,200})\x1b\\"
    r"|\x1b\[\?(?P<device>[0-9;]{0,80})c"
    r"|\x1b\[6;(?P<height>\d{1,5});(?P<width>\d{1,5})t"
)
#: What may become one of them. What is `sure` no keys send; what is `likely`, few in a row.
_BEGUN = re.compile(
    r"\x1b(?:\[(?:6(?:;\d{0,5}){0,2})?|_|P)?"
    r"|(?P<likely>\x1b(?:_G|P>|\[\?))"
    r"|(?P<sure>\x1b(?:"
    r"_Gi(?:=\d{0,10}(?:,(?:[a-zA-Z](?:=\d{0,10})?)?){0,4}(?:;(?:O?|OK\x1b?|E[^\x1b]{0,200}\x1b?))?)?"
    r"|P>\|[^\x1b]{0,200}\x1b?"
    r"|\[\?[0-9;]{1,80}))"
)
#: As much of what was begun as cannot have been typed, where something else follows.
_BROKEN = re.compile(
    r"\x1b(?:_G(?:i(?:=\d{0,10}(?:,[a-zA-Z]=\d{0,10}){0,4}(?:;O?K?)?)?)?\x1b?|P>\|?|\[\?[0-9;]*[nu]?)"
)
#: What the parser of keys understands itself: reports about modes.
_MODE = re.compile(r"\x1b\[\?[0-9;]+\$y?")
#: Inside of a paste everything is the person's.
_PASTE_BEGINS, _PASTE_ENDS = "\x1b[200~", "\x1b[201~"


@dataclass(frozen=True, slots=True)
class Answers:
    """What the terminal said of itself until now."""

    #: Whether it takes Kitty's graphics commands.
    kitty: bool = False
    #: Its name and version; "" where it did not say.
    name: str = ""
    #: The size of a cell, in pixels; None where it did not say.
    cell: tuple[int, int] | None = None
    #: Its device attributes, the first of which is its kind; None until it answered the last question.
    attributes: tuple[int, ...] | None = None

    @property
    def sixel(self) -> bool:
        """Whether it draws sixels."""
        return 4 in (self.attributes or ())[1:]


class Replies:
    """Takes replies out of the stream of keys, however late and torn they come; the rest goes through.

    Without it a reply would be read as keys: "Gi=31;OK" typed into whatever has the focus.
    """

    def __init__(
        self,
        told: Callable[[Answers], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
        number: int | None = None,
    ) -> None:
        """`told` is called with each new answer, in the thread that feeds; `number` marks the question."""
        self.answers = Answers()
        self._told = told
        self._clock = clock
        #: When it was asked, or last gave a sign of answering.
        self._heard: float | None = None
        self._number = number or random.randrange(1, 2**31)
        self._held = ""
        self._held_since = 0.0
        self._pasting = False
        #: The end of what went through.
        self._last = ""

    def questions(self) -> str:
        """What asks the terminal; the last question is one that every terminal answers."""
        self._heard = self._clock()
        self.answers = replace(self.answers, attributes=None)
        picture = f"\x1b_Gi={self._number},s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"
        return f"{picture}\x1b[>0q\x1b[16t\x1b[c"

    @property
    def expected(self) -> bool:
        """Whether the terminal was asked a short time ago, and has not answered all."""
        since = self._heard
        return since is not None and self._unanswered and self._clock() - since < EAGER

    @property
    def _unanswered(self) -> bool:
        return self._heard is not None and self.answers.attributes is None

    @property
    def wait(self) -> float | None:
        """In how many seconds to call `tick`; None when nothing is held."""
        return max(self._limit - (self._clock() - self._held_since), 0.0) if self._held else None

    @property
    def _limit(self) -> float:
        begun = _BEGUN.fullmatch(self._held)
        if begun and (begun["sure"] or begun["likely"]):
            return _TORN
        return _AMBIGUOUS if self.expected else _LATE

    def feed(self, text: str) -> str:
        """Take what came from the terminal; what of it, and of what was held, are keys."""
        text, self._held = self._held + text, ""
        parts: list[str] = []
        at = 0 if self._pasting else self._rest_of(_PASTE_BEGINS, text)
        if at:
            self._pasting = True
            parts.append(text[:at])
        while at < len(text):
            if self._pasting:
                at = self._paste(text, at, parts)
                continue
            escape = text.find("\x1b", at)
            if escape < 0:
                escape = len(text)
            parts.append(text[at:escape])
            at = escape if escape == len(text) else self._sequence(text, escape, parts)
        keys = "".join(parts)
        self._last = (self._last + keys)[-len(_PASTE_BEGINS) :]
        return keys

    def _rest_of(self, mark: str, text: str) -> int:
        """How much of the beginning of `text` completes a mark that what went through before had begun."""
        for length in range(1, len(mark)):
            if self._last.endswith(mark[:length]) and text.startswith(mark[length:]):
                return len(mark) - length
        return 0

    def tick(self) -> str:
        """What was held for so long that it is not a reply, or never will be."""
        if self.wait != 0.0:
            return ""
        begun = _BEGUN.fullmatch(self._held)
        held, self._held = self._held, ""
        if begun and (begun["sure"] or begun["likely"]):
            return ""
        self._last = held[-len(_PASTE_BEGINS) :]
        return held

    def _paste(self, text: str, at: int, parts: list[str]) -> int:
        """Let go through what is pasted; where to go on."""
        rest = self._rest_of(_PASTE_ENDS, text) if at == 0 else 0
        found = text.find(_PASTE_ENDS, at)
        self._pasting = not rest and found < 0
        end = rest or (len(text) if found < 0 else found + len(_PASTE_ENDS))
        parts.append(text[at:end])
        return end

    def _sequence(self, text: str, at: int, parts: list[str]) -> int:
        """Take what begins with the ESC at `at`; where to go on."""
        if found := _REPLY.match(text, at):
            self._take(found)
            return found.end()
        if _MODE.match(text, at):
            parts.append(text[at : at + 1])
            return at + 1
        begun = _BEGUN.fullmatch(text, at)
        if begun and (begun["sure"] or self._unanswered):
            self._held, self._held_since = text[at:], self._clock()
            if begun["sure"] or len(begun[0]) > len("\x1b[6"):
                self._heard = self._held_since
            return len(text)
        if text.startswith(_PASTE_BEGINS, at):
            self._pasting = True
            parts.append(_PASTE_BEGINS)
            return at + len(_PASTE_BEGINS)
        broken = _BROKEN.match(text, at)
        if broken and (self._unanswered or len(broken[0]) > len("\x1b_G")):
            return broken.end() - broken[0].endswith("\x1b")
        parts.append("\x1b")
        return at + 1

    def _take(self, found: re.Match[str]) -> None:
        self._heard = self._clock()
        before = self.answers
        if found["picture"] is not None:
            if int(found["picture"]) == self._number:
                self.answers = replace(before, kitty=found["said"] == "OK")
        elif found["name"] is not None:
            self.answers = replace(before, name=found["name"])
        elif found["width"] is not None:
            size = int(found["width"]), int(found["height"])
            self.answers = replace(before, cell=size if all(0 < each <= 400 for each in size) else None)
        else:
            numbers = tuple(int(each) for each in found["device"].split(";") if each)
            self.answers = replace(before, attributes=numbers)
        if self.answers != before:
            self._told(self.answers)
