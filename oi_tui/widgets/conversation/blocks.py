"""The blocks of a conversation: plain data that is drawn when visible."""

from abc import ABC, abstractmethod
from typing import Literal

from rich.segment import Segment
from rich.style import Style
from typing_extensions import override

from oi_tui.text import clean_text
from oi_tui.widgets.conversation.markdown import GrowingText, wrap_plain
from oi_tui.widgets.conversation.output import Output, count_lines
from oi_tui.widgets.conversation.rows import Row
from oi_tui.widgets.conversation.streaming_markdown import StreamingMarkdown
from oi_tui.widgets.conversation.styles import Styles
from oi_tui.widgets.images.image import ImageRow
from oi_tui.widgets.truncate import measure_width

#: Text is not set wider than this, however wide the terminal is.
WIDEST = 110
#: Of a longer message of the person's the first half of this is shown.
_FOLDED_LINES, _FOLDED_CHARACTERS = 60, 8_000


class Block(ABC):
    """One part of the conversation.

    The transcript asks for its `rows` when they are seen, and again after a change was reported to it.
    """

    #: What a copy of it is called.
    name = "text"
    #: The program's own mark in the left margin, which no text can reach.
    mark = ""
    #: Whether the mark stands before every row, and not only before the first.
    marks_all = False
    #: Whether it is a remark of ours; two of them stand together, all other blocks have an empty row above.
    remark = False

    def __init__(self, key: str) -> None:
        self.key = key
        #: The cells that a table may take: the width of the pane. Text is not set that wide.
        self.room = 0
        #: Set while the rows lag behind, because drawing them at each change would cost too much.
        self.behind = False

    @abstractmethod
    def rows(self, width: int, look: Styles) -> list[Row]:
        """Return the rows at `width` cells. The list belongs to the block."""

    @abstractmethod
    def estimate(self, width: int) -> int:
        """Return about how many rows that will be, cheaply."""

    def margin(self, place: int, count: int) -> str:  # noqa: ARG002 -- for those with a frame
        """Return the mark before row `place`, counted from 0, of `count` rows."""
        return self.mark if place == 0 or self.marks_all else ""

    def mark_style(self, look: Styles) -> Style:
        """Return the style of its mark."""
        return look.user_mark if self.marks_all else look.muted if self.mark == "·" else look.accent

    @property
    def sticky(self) -> bool:
        """Whether its first row stays at the top of the view while the rest of it is read."""
        return False

    def source(self) -> str:
        """Return the text that copying the block gives."""
        return ""

    def fold(self) -> bool:
        """Fold or unfold it; False where there is nothing to fold."""
        return False

    def forget(self) -> None:  # noqa: B027 -- most blocks hold nothing of that kind
        """Drop what can be drawn again."""

    @property
    def keys(self) -> str:
        """The letters that do something while the block cursor is here."""
        return "c copy"


def _estimate(text: str, width: int) -> int:
    return max(text.count("\n") + 1, -(-len(text) // max(width, 1)))


class UserBlock(Block):
    """A message of the user; of a long one only the beginning, unless it is unfolded."""

    name = "your message"
    mark, marks_all = "┃", True

    def __init__(self, key: str, text: str) -> None:
        super().__init__(key)
        self.text = text
        self.folded = True

    @override
    def rows(self, width: int, look: Styles) -> list[Row]:
        text = self.text.strip("\n")
        excerpt = _cut_beginning(text) if self.folded else text
        rows = wrap_plain(excerpt, width - 1, look.user)
        if len(excerpt) < len(text):
            hidden_lines = text.count("\n", len(excerpt))
            rest = count_lines(hidden_lines) if hidden_lines else f"{len(text) - len(excerpt):,} characters"
            rows.append(Row([Segment(f"… {rest} not shown — f unfolds", look.user_muted)], click="fold"))
        for row in rows:
            row.fill = look.user
        return rows

    @override
    def estimate(self, width: int) -> int:
        return _estimate(_cut_beginning(self.text) if self.folded else self.text, width - 1)

    @override
    def source(self) -> str:
        return self.text

    @property
    @override
    def keys(self) -> str:
        return "e edit in a copy · b back to here · c copy"

    @override
    def fold(self) -> bool:
        if len(_cut_beginning(self.text.strip("\n"))) == len(self.text.strip("\n")):
            return False
        self.folded = not self.folded
        return True


def _cut_beginning(text: str) -> str:
    """Return the part of a text that is shown folded: all, unless it is clearly more than a screen."""
    parts = text[: _FOLDED_CHARACTERS + 1].split("\n", _FOLDED_LINES)
    if len(text) <= _FOLDED_CHARACTERS and len(parts) <= _FOLDED_LINES:
        return text
    return "\n".join(parts[: _FOLDED_LINES // 2])[: _FOLDED_CHARACTERS // 2]


class ProseBlock(Block):
    """Text of the model."""

    name = "the answer"

    def __init__(self, key: str, text: str = "", *, live: bool = False) -> None:
        super().__init__(key)
        self._text = text
        self._prose: StreamingMarkdown | None = StreamingMarkdown() if live else None
        if live:
            self.grow(text)

    def grow(self, text: str) -> None:
        """Continue the text."""
        if self._prose is None:
            self._prose = StreamingMarkdown(self._text)
        self._prose.feed(text)

    def settle(self, text: str) -> None:
        """Replace the text by the whole of it."""
        if self._prose is not None and self._prose.text == text:
            self._prose.finish()
        else:
            self._prose = None
        self._text = text

    @override
    def rows(self, width: int, look: Styles) -> list[Row]:
        if self._prose is None:
            self._prose = StreamingMarkdown(self._text)
            self._prose.finish()
        rows = self._prose.rows(width, look)
        self.behind = self._prose.behind
        return rows

    @override
    def estimate(self, width: int) -> int:
        return _estimate(self._text, width)

    @override
    def source(self) -> str:
        return self._text or (self._prose.text if self._prose else "")

    @override
    def forget(self) -> None:
        if self._text:
            self._prose = None


class ReasoningBlock(Block):
    """Reasoning of the model: one line, unless it is unfolded."""

    name = "the reasoning"
    mark = "·"

    def __init__(self, key: str, text: str = "", *, live: bool = False) -> None:
        super().__init__(key)
        self.live = live
        self.folded = True
        self._pieces = [text]
        self._lines = text.count("\n")
        self._grown = GrowingText()

    @property
    def text(self) -> str:
        """All of it."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    def grow(self, text: str) -> None:
        """Continue the thought."""
        self._pieces.append(text)
        self._lines += text.count("\n")

    def settle(self, text: str) -> None:
        """Replace the thought by the whole of it."""
        self.live = False
        if text != self.text:
            self._pieces, self._grown = [text], GrowingText()
        self._lines = text.strip().count("\n")

    @override
    def rows(self, width: int, look: Styles) -> list[Row]:
        length = count_lines(self._lines + (not self._pieces[-1].endswith("\n")))
        words = f"thinking · {length}" if self.live else f"thought for {length}"
        hint = " · f unfolds" if self.folded else ""
        header = Row([Segment(("▸ " if self.folded else "▾ ") + words + hint, look.muted)], click="fold")
        if self.folded:
            return [header]
        rows = self._grown.rows(self.text.rstrip("\n"), width - 2, look.muted)
        bar = Segment("│ ", look.rule)
        return [header, *(Row([bar, *r.segments], r.text, r.indent + 2, r.joint) for r in rows)]

    @override
    def estimate(self, width: int) -> int:
        return 1 if self.folded else 1 + _estimate(self.text, width - 2)

    @override
    def source(self) -> str:
        return self.text

    @override
    def fold(self) -> bool:
        self.folded = not self.folded
        return True

    @property
    @override
    def keys(self) -> str:
        return "f fold · c copy"


class NoticeBlock(Block):
    """A line from the application itself."""

    name = "the note"
    mark = "·"
    remark = True

    def __init__(
        self, key: str, text: str, severity: Literal["information", "warning", "error"] = "information"
    ) -> None:
        super().__init__(key)
        self.text = text
        self.severity = severity

    @override
    def rows(self, width: int, look: Styles) -> list[Row]:
        word, style = {
            "information": ("note", look.muted),
            "warning": ("warning", look.warning),
            "error": ("error", look.error),
        }[self.severity]
        indent = measure_width(word) + 2
        ink = look.muted if self.severity == "information" else look.base
        lines = clean_text(self.text).split("\n")
        rows = [row for line in lines for row in _wrap_indented(line, width - indent, ink)]
        for index, row in enumerate(rows):
            row.segments.insert(0, Segment(f"{word}  " if index == 0 else " " * indent, style))
            row.indent += indent
        return rows

    @override
    def estimate(self, width: int) -> int:
        return _estimate(self.text, width - 8)

    @override
    def source(self) -> str:
        return self.text


def _wrap_indented(line: str, width: int, style: Style) -> list[Row]:
    """Break a line at spaces; what is broken off begins where the line does, behind its spaces."""
    lead = len(line) - len(line.lstrip(" "))
    if not lead or width < 3 * lead:
        return wrap_plain(line, width, style)
    rows = wrap_plain(line[lead:], width - lead, style)
    for index, row in enumerate(rows):
        row.segments.insert(0, Segment(" " * lead, style))
        if index == 0:
            row.text = " " * lead + (row.text or "")
        else:
            row.indent += lead
    return rows


class ImageBlock(Block):
    """An image that no cell of the conversation showed: one that the person sent."""

    name = "the image's path"

    def __init__(self, image: ImageRow) -> None:
        super().__init__(image.message.id)
        self.images = [image]

    @override
    def rows(self, width: int, look: Styles) -> list[Row]:
        return self.images[0].rows(width, look)

    @override
    def estimate(self, width: int) -> int:
        return 15

    @override
    def source(self) -> str:
        return self.images[0].file

    @property
    @override
    def keys(self) -> str:
        return "p show image · c copy"

    @override
    def forget(self) -> None:
        self.images[0].forget()


class OutputBlock(Block):
    """Output of a program whose code is not in the conversation."""

    name = "the output"

    def __init__(self, key: str, text: str = "") -> None:
        super().__init__(key)
        self.output = Output()
        self.output.feed(text)

    @override
    def rows(self, width: int, look: Styles) -> list[Row]:
        return self.output.rows(width, look, live=False, room=self.room)

    @override
    def estimate(self, width: int) -> int:
        return self.output.estimate()

    @override
    def source(self) -> str:
        return self.output.text.plain()

    @override
    def fold(self) -> bool:
        return self.output.toggle(live=False)

    @property
    @override
    def keys(self) -> str:
        return "f fold · c copy"


class EndBlock(Block):
    """The end of a turn, where it needs a word."""

    name = "the note"
    mark = "·"
    remark = True

    def __init__(self, key: str, text: str) -> None:
        super().__init__(key)
        self.text = text

    @override
    def rows(self, width: int, look: Styles) -> list[Row]:
        return [Row([Segment(self.text, look.muted)], self.text)]

    @override
    def estimate(self, width: int) -> int:
        return 1

    @override
    def source(self) -> str:
        return self.text
