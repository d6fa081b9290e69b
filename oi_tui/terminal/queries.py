"""Queries about the terminal's features, and their replies."""

import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

#: For so long after the questions, or the last answer, more answers are expected, in seconds.
EAGER = 3.0

#: Replies. Sources: Kitty's "graphics protocol" (querying support); xterm's "Control Sequences" (device
#: attributes, XTVERSION, and the size of a cell, which is a 6 in answer to `CSI 16 t`).
_REPLY = re.compile(
    r"\x1b_Gi=(?P<image>\d{1,10})(?:,[a-zA-Z]=\d{0,10}){0,4};(?P<result>OK|E.{0,200})"
    r"|\x1bP>\|(?P<name>.{0,200})"
    r"|\x1b\[\?(?P<device>[0-9;]{0,80})c"
    r"|\x1b\[6;(?P<height>\d{1,5});(?P<width>\d{1,5})t"
)


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers so far."""

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


class TerminalQueries:
    """Asks the terminal, and keeps what it answers."""

    def __init__(
        self,
        on_answer: Callable[[Answers], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
        number: int | None = None,
    ) -> None:
        """`on_answer` is called in the thread that reads; `number` marks the question."""
        self.answers = Answers()
        self._on_answer = on_answer
        self._clock = clock
        #: When it was asked, or last answered.
        self._heard: float | None = None
        self._number = number or random.randrange(1, 2**31)

    def build_queries(self) -> str:
        """Build the queries; the last one is answered by every terminal."""
        self._heard = self._clock()
        self.answers = replace(self.answers, attributes=None)
        image = f"\x1b_Gi={self._number},s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"
        return f"{image}\x1b[>0q\x1b[16t\x1b[c"

    @property
    def expected(self) -> bool:
        """Whether the terminal was asked a short time ago, and has not answered all."""
        since = self._heard
        return since is not None and self.answers.attributes is None and self._clock() - since < EAGER

    def read(self, reply: str) -> None:
        """Read what the terminal sent; what answers no query of ours is ignored."""
        match = _REPLY.fullmatch(reply)
        if match is None:
            return
        self._heard = self._clock()
        before = self.answers
        if match["image"] is not None:
            if int(match["image"]) == self._number:
                self.answers = replace(before, kitty=match["result"] == "OK")
        elif match["name"] is not None:
            self.answers = replace(before, name=match["name"])
        elif match["width"] is not None:
            size = int(match["width"]), int(match["height"])
            self.answers = replace(before, cell=size if all(0 < side <= 400 for side in size) else None)
        else:
            numbers = tuple(int(number) for number in match["device"].split(";") if number)
            self.answers = replace(before, attributes=numbers)
        if self.answers != before:
            self._on_answer(self.answers)
