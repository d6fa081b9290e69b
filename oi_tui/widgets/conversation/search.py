"""Searches a conversation: matches in its blocks, and in the rows that show them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from oi_tui.widgets.conversation.blocks import Block, ImageBlock, OutputBlock, ReasoningBlock, UserBlock
from oi_tui.widgets.conversation.cells.cell import CellBlock
from oi_tui.widgets.conversation.output import Output
from oi_tui.widgets.conversation.rows import Row

#: No more matches than these are counted.
MOST = 10_000


@dataclass(frozen=True, slots=True)
class Match:
    """The `nth` occurrence, counted from 0, in the words of a block, or in the output of a cell."""

    key: str
    in_output: bool
    nth: int


def build_pattern(text: str) -> re.Pattern[str]:
    """Build the case-insensitive pattern of the text."""
    return re.compile(re.escape(text), re.IGNORECASE)


def find_matches(blocks: Sequence[Block], text: str) -> list[Match]:
    """Return every occurrence in the conversation, from above to below, folded or not."""
    if not text:
        return []
    sought = build_pattern(text)
    matches: list[Match] = []
    for block in blocks:
        if not isinstance(block, ImageBlock | OutputBlock):
            count = len(sought.findall(block.source()))
            matches += [Match(block.key, False, nth) for nth in range(count)]
        if isinstance(block, CellBlock | OutputBlock):
            count = len(sought.findall(_join_output(block.output)))
            matches += [Match(block.key, True, nth) for nth in range(count)]
        if len(matches) >= MOST:
            return matches[:MOST]
    return matches


def _join_output(output: Output) -> str:
    return "\n".join(output.text.words())


def unfold(block: Block, match: Match) -> bool:
    """Unfold the block where the match is. False where it was open already."""
    if isinstance(block, CellBlock | OutputBlock) and match.in_output:
        output = block.output
        live = isinstance(block, CellBlock) and block.live
        return not output.open and output.toggle(live=live)
    if isinstance(block, CellBlock):
        was, block.code_folded = block.code_folded, False
        return was
    if isinstance(block, UserBlock | ReasoningBlock):
        was, block.folded = block.folded, False
        return was
    return False


def find_place(block: Block, rows: Sequence[Row], match: Match, text: str) -> tuple[int, tuple[int, int]]:
    """Return the row of the block that shows the match, and which characters of its text.

    Markdown shows other words than those that were written: where there is no such occurrence in the rows, it
    is the last one before, or the first row.
    """
    parts: list[str] = []
    starts: list[tuple[int, int]] = []
    size = 0
    for number, row in enumerate(rows):
        if row.text is not None:
            part = (row.joint if parts else "") + row.text
            starts.append((size + len(part) - len(row.text), number))
            parts.append(part)
            size += len(part)
    hits = [hit.span() for hit in build_pattern(text).finditer("".join(parts))]
    if not hits:
        return 0, (0, 0)
    nth = match.nth
    if match.in_output and isinstance(block, CellBlock) and not block.code_folded:
        nth += len(build_pattern(text).findall(block.source()))
    start, end = hits[min(nth, len(hits) - 1)]
    first, number = max((item for item in starts if item[0] <= start), default=starts[0])
    return number, (start - first, min(end - first, len(rows[number].text or "")))
