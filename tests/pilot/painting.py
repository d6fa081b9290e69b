"""What a widget has painted, line by line."""

from textual.geometry import Region
from textual.pilot import Pilot
from textual.scroll_view import ScrollView
from textual.strip import Strip


def paint(view: ScrollView) -> list[Strip]:
    """Paint the lines that need it; the other ones are those of the last time."""
    return view.render_lines(Region(0, 0, *view.outer_size))


async def find_lines_painted(pilot: Pilot[None], view: ScrollView, *keys: str) -> list[int]:
    """Press keys and return the lines that they painted, after a check that no other had to be."""
    await pilot.pause()
    before = paint(view)
    await pilot.press(*keys)
    await pilot.pause()
    after = paint(view)
    painted = [y for y, pair in enumerate(zip(before, after, strict=True)) if pair[0] is not pair[1]]
    view.refresh()
    assert [list(strip) for strip in after] == [list(strip) for strip in paint(view)]
    return painted
