"""Lays out Markdown as rows; markdown-it parses it."""

from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from rich.segment import Segment
from rich.style import Style

from oi_tui.text import clean_text
from oi_tui.widgets.conversation.code import Highlighter, draw_code_line
from oi_tui.widgets.conversation.rows import Row, Span, wrap_cells, wrap_words
from oi_tui.widgets.conversation.styles import Styles
from oi_tui.widgets.truncate import measure_width

_BULLETS = ("•", "◦", "▪")


@lru_cache(maxsize=1)
def _make_reader() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("reference")


def draw_markdown(source: str, width: int, look: Styles) -> list[Row]:
    """Return a Markdown text as rows of at most `width` cells. Never raises; what is not Markdown is text."""
    tree = SyntaxTreeNode(_make_reader().parse(source))
    rows: list[Row] = []
    for row in _draw_blocks(tree.children, max(width, 10), look, 0):
        rows.extend(_cut(row, width) if measure_width(row.plain) > width else [row])
    return rows


def _cut(row: Row, width: int) -> list[Row]:
    """Split a row that deep nesting made too wide."""
    spans = [(segment.text, segment.style or Style()) for segment in row.segments]
    first, *others = [Row(line.segments, line.text, 0, line.joint) for line in wrap_cells(spans, width)]
    return [Row(first.segments, first.text, 0, row.joint), *others]


def _draw_blocks(
    nodes: list[SyntaxTreeNode], width: int, look: Styles, depth: int, tight: bool = False
) -> list[Row]:
    rows: list[Row] = []
    for node in nodes:
        if rows and not tight:
            rows.append(Row([], ""))
        rows.extend(_draw_block(node, width, look, depth))
    return rows


def _draw_block(node: SyntaxTreeNode, width: int, look: Styles, depth: int) -> list[Row]:
    match node.type:
        case "paragraph":
            return _draw_text(node, width, look, look.base)
        case "heading":
            style = look.heading if node.tag in ("h1", "h2") else look.strong
            rows = _draw_text(node, width, look, style)
            if node.tag == "h1":
                rows.append(Row([Segment("─" * min(width, _find_widest(rows)), look.rule)]))
            return rows
        case "bullet_list" | "ordered_list":
            return _list(node, width, look, depth)
        case "blockquote":
            inner = _draw_blocks(node.children, width - 2, look, depth)
            bar = Segment("▎ ", look.rule)
            return [Row([bar, *row.segments], row.text, row.indent + 2, row.joint) for row in inner]
        case "fence" | "code_block":
            return _draw_code(node, width, look)
        case "hr":
            return [Row([Segment("─" * width, look.rule)], "---")]
        case "table":
            return _draw_table(node, width, look)
        case _:
            return _draw_text(node, width, look, look.base)


def _find_widest(rows: list[Row]) -> int:
    return max((measure_width(row.plain) for row in rows), default=0)


def _draw_text(node: SyntaxTreeNode, width: int, look: Styles, style: Style) -> list[Row]:
    return [
        Row(line.segments, line.text, 0, line.joint)
        for line in wrap_words(_draw_inlines(node, look, style) or [("", style)], width)
    ]


def _draw_inlines(node: SyntaxTreeNode, look: Styles, style: Style) -> list[Span]:
    inline = node.children[0] if node.children and node.children[0].type == "inline" else None
    if inline is None:
        return [(clean_text(node.content), style)] if not node.children else []
    return _draw_inline(inline.children, look, style)


def _draw_inline(nodes: list[SyntaxTreeNode], look: Styles, style: Style) -> list[Span]:
    spans: list[Span] = []
    for node in nodes:
        match node.type:
            case "text" | "html_inline" | "text_special":
                spans.append((clean_text(node.content), style))
            case "code_inline":
                spans.append((clean_text(node.content), look.inline_code))
            case "softbreak":
                spans.append((" ", style))
            case "hardbreak":
                spans.append(("\n", style))
            case "strong":
                spans.extend(_draw_inline(node.children, look, style + Style(bold=True)))
            case "em":
                spans.extend(_draw_inline(node.children, look, style + Style(italic=True)))
            case "s":
                spans.extend(_draw_inline(node.children, look, style + Style(strike=True)))
            case "link" | "image":
                spans.extend(_draw_link(node, look))
            case _:
                spans.append((clean_text(node.content), style))
    return spans


def _draw_link(node: SyntaxTreeNode, look: Styles) -> list[Span]:
    """Return a link or an image: its text, and its whole target unless the text is just that."""
    target = str(node.attrs.get("href") or node.attrs.get("src") or "")
    if node.type == "image":
        return [(f"image: {clean_text(node.content) or 'untitled'} ({clean_text(target)})", look.muted)]
    inner = _draw_inline(node.children, look, look.link)
    if "".join(text for text, _ in inner) in (target, target.removeprefix("mailto:")):
        return inner
    return [*inner, (" (", look.muted), (clean_text(target), look.muted), (")", look.muted)]


def _list(node: SyntaxTreeNode, width: int, look: Styles, depth: int) -> list[Row]:
    rows: list[Row] = []
    number = int(node.attrs.get("start", 1) or 0)
    tight = _is_tight(node)
    for index, item in enumerate(node.children):
        if node.type == "ordered_list":
            marker = copied = f"{number + index}. "
        else:
            marker, copied = _BULLETS[min(depth, 2)] + " ", "- "
        margin = len(marker)
        inner = _draw_blocks(item.children, max(width - margin, 8), look, depth + 1, tight) or [Row([], "")]
        if index and not tight:
            rows.append(Row([], ""))
        mark = look.muted
        for position, row in enumerate(inner):
            prefix = Segment(marker if position == 0 else " " * margin, mark)
            if position == 0 or (row.joint == "\n" and row.text is not None and row.indent == 0):
                before = copied if position == 0 else " " * margin
                rows.append(
                    Row([prefix, *row.segments], before + (row.text or ""), row.indent, row.joint, row.fill)
                )
            else:
                rows.append(Row([prefix, *row.segments], row.text, row.indent + margin, row.joint, row.fill))
    return rows


def _is_tight(node: SyntaxTreeNode) -> bool:
    """Return whether no item is set apart by empty lines."""
    for item in node.children:
        for child in item.children:
            if child.type == "paragraph":
                return bool(child.hidden)
    return True


def _draw_code(node: SyntaxTreeNode, width: int, look: Styles) -> list[Row]:
    highlighter = Highlighter((node.info.split() or [""])[0].lower() if node.type == "fence" else None)
    lines = node.content.removesuffix("\n").split("\n")
    rows: list[Row] = []
    for index in range(len(lines)):
        rows.extend(draw_code_line(index + 1, highlighter.pieces(index, lines.__getitem__), look, width, 0))
    return rows


def _draw_table(node: SyntaxTreeNode, width: int, look: Styles) -> list[Row]:
    """Lay out a table; where it is too wide, the widest columns are wrapped."""
    head = [row for part in node.children if part.type == "thead" for row in part.children]
    body = [row for part in node.children if part.type == "tbody" for row in part.children]
    cells = [
        [_draw_inlines(cell, look, look.strong if row in head else look.base) for cell in row.children]
        for row in (*head, *body)
    ]
    count = max((len(row) for row in cells), default=0)
    if not count:
        return []
    natural = [
        max((sum(measure_width(t) for t, _ in row[i]) for row in cells if i < len(row)), default=0)
        for i in range(count)
    ]
    widths = _share_out(natural, width - 3 * (count - 1))
    right = ["right" in str(cell.attrs.get("style", "")) for cell in (head[0].children if head else [])] + [
        False
    ] * count
    rows: list[Row] = []
    for index, row in enumerate(cells):
        rows.extend(_draw_table_row(row, widths, right, look))
        if index == len(head) - 1:
            rows.append(Row([Segment("─┼─".join("─" * size for size in widths), look.rule)]))
    return rows


def _share_out(natural: list[int], room: int) -> list[int]:
    widths = [max(size, 1) for size in natural]
    while sum(widths) > room and max(widths) > 3:
        ordered = sorted(set(widths), reverse=True)
        widest = ordered[0]
        target = max(ordered[1] if len(ordered) > 1 else 3, 3)
        many = widths.count(widest)
        excess = sum(widths) - room
        target = max(target, widest - -(-excess // many)) if widest > target else 3
        widths = [target if size == widest else size for size in widths]
    return widths


def _draw_table_row(cells: list[list[Span]], widths: list[int], right: list[bool], look: Styles) -> list[Row]:
    columns = [
        wrap_words(cells[i] if i < len(cells) and cells[i] else [("", look.base)], size)
        for i, size in enumerate(widths)
    ]
    rows: list[Row] = []
    for level in range(max(len(column) for column in columns)):
        segments: list[Segment] = []
        for i, column in enumerate(columns):
            if i:
                segments.append(Segment(" │ ", look.rule))
            line = column[level] if level < len(column) else None
            space = Segment(" " * (widths[i] - (measure_width(line.text) if line else 0)), look.base)
            content = line.segments if line else []
            segments.extend([space, *content] if right[i] else [*content, space])
        text = "".join(segment.text for segment in segments)
        rows.append(Row(segments, text.replace("│", "|")))
    return rows


def wrap_plain(text: str, width: int, style: Style) -> list[Row]:
    """Return plain text, wrapped at spaces."""
    rows: list[Row] = []
    for line in clean_text(text).split("\n"):
        rows.extend(Row(w.segments, w.text, 0, w.joint) for w in wrap_words([(line, style)], width))
    return rows


class GrowingText:
    """Plain text that grows: the lines of it that have ended are laid out once."""

    def __init__(self) -> None:
        self._drawn_for: tuple[int, Style] | None = None
        self._rows: list[Row] = []
        self._settled_rows = 0
        #: How many characters the settled rows show.
        self._settled = 0

    def rows(self, text: str, width: int, style: Style) -> list[Row]:
        """`text` begins with what it was at the last call. The list is the object's own."""
        if self._drawn_for != (width, style):
            self._drawn_for = (width, style)
            self._rows, self._settled_rows, self._settled = [], 0, 0
        del self._rows[self._settled_rows :]
        end = text.rfind("\n", self._settled) + 1
        if end > self._settled:
            self._rows.extend(wrap_plain(text[self._settled : end - 1], width, style))
            self._settled, self._settled_rows = end, len(self._rows)
        if self._settled < len(text):
            self._rows.extend(wrap_plain(text[self._settled :], width, style))
        return self._rows
