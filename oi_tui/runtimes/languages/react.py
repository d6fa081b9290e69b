"""React: a component in a page that loads React, from the project's node_modules or else from the network."""

from functools import partial

from oi_tui.runtimes import pages
from oi_tui.runtimes.language import Language


def describe(program: str) -> str:
    """Describe what happens to a component; shown before approval, because a browser may load React."""
    loaded = "React from node_modules or else, when opened, from unpkg.com"
    return f"{pages.describe(program)}; {loaded}"


LANGUAGE = Language(
    name="react",
    title="React",
    aliases=("jsx", "tsx", "reactjs", "react.js"),
    hint="Without the network it needs react@18, react-dom@18 and @babel/standalone in node_modules.",
    keeps="",
    input="none",
    find=pages.find,
    describe=describe,
    start=partial(pages.start, "react"),
    translate=pages.open_pages,
    outside=pages.OUTSIDE,
)
