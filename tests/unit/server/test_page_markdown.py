"""The page's Markdown in Node, where its time is counted."""

import json
import subprocess
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

#: Renders each text, and returns what the elements are with the milliseconds of the processor.
SCRIPT = """
const make = (name) => ({ name, parts: [], append(...parts) { this.parts.push(...parts); } });
globalThis.document = { createElement: make, createTextNode: (text) => text };
const { render } = await import("./markdown.js");
const list = (element) => `${element.name}(${element.parts.map(write).join("|")})`;
const write = (part) => (typeof part === "string" ? part : list(part));
const answers = JSON.parse(process.argv[2]).map((text) => {
  const before = process.cpuUsage().user;
  const elements = render(text);
  return [elements.map(write).join(" "), (process.cpuUsage().user - before) / 1000];
});
console.log(JSON.stringify(answers));
"""
SPACES = " " * 14_000


@pytest.mark.needs("node")
def test_no_text_keeps_the_page_busy_and_marks_keep_their_meaning(tmp_path: Path) -> None:
    for name in ("markdown.js", "code.js"):
        source = resources.files("oi_tui.server") / "page_files" / name
        (tmp_path / name).write_text(source.read_text("utf-8"), "utf-8")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "render.js").write_text(SCRIPT)
    long = {
        "heading": f"# {SPACES}a\u2028b",
        "closed heading": f"# {'#' * 14_000}{SPACES}a",
        "item": f"- {SPACES}a\u2028b",
        "fence": f"```{SPACES}a b",
        "row above a table": f"a|b\n{SPACES}x",
        "divider": f"a|b\n-{SPACES}x",
    }
    short = {
        "## Title ##": "h4(Title)",
        "#": "p(#)",
        "# a\u2028b": "h3(a\u2028b)",
        "```js \na\n```": "pre(span(a))",
        "``` \na": "pre(span(a))",
        "a | b\n:-- | --:\n1 | 2": "div(table(thead(tr(th(a)|th(b)))|tbody(tr(td(1)|td(2)))))",
        "a | b\n-- | x": "p(a | b\n-- | x)",
        "- a\n- b": "ul(li(p(a))|li(p(b)))",
    }
    command = ["node", "render.js", json.dumps([*long.values(), *short])]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=50, check=True)
    answers: list[Any] = json.loads(run.stdout)
    times = dict(zip(long, (milliseconds for _, milliseconds in answers), strict=False))
    assert max(times.values()) < 100, times
    texts = [text for text, _ in answers[len(long) :]]
    assert dict(zip(short, texts, strict=True)) == short
