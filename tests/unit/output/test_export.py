"""Conversations as documents."""

import itertools
import json
import os
import re
import stat
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from oi_tui.engine.export import formats
from oi_tui.engine.export.formats import FORMATS
from oi_tui.messages import Message
from tests.when_used import when_used

nbformat = when_used("nbformat")


def code(text: str, language: str = "python", **more: object) -> Message:
    known = {"role": "assistant", "state": "finished", "decision": "approved", **more}
    return Message(type="code", format=language, content=text, **known)  # type: ignore[arg-type]


def output(text: str, parent: str) -> Message:
    return Message(role="computer", type="console", format="output", content=text, parent=parent)


@pytest.fixture
def talk() -> list[Message]:
    first = code("x = 40\nprint('hello')")
    second = code("print(x + 2)", decision="edited", proposed="print(x)")
    return [
        Message(role="user", type="message", content="Say hello\nand count"),
        Message(role="assistant", type="reasoning", content="Hm."),
        Message(role="assistant", type="message", content="I **will**."),
        first,
        second,
        output("hello\n", first.id),
        output("42\n", second.id),
        Message(role="computer", type="image", format="base64.png", content="iVBORw0KGgo=", parent=second.id),
        code("rm -rf /", "shell", state="rejected", decision="rejected", reason="too risky"),
        code("echo hi", "shell"),
        code("half", state="unfinished", decision=None),
        code("boom", state="failed", reason="NameError"),
        code("console.log(1)", "javascript"),
        code("<p>", "html"),
        Message(role="assistant", type="message", content="Done.\x1b[2J ```"),
    ]


def test_markdown_has_everything_to_read(talk: list[Message]) -> None:
    text = formats.write_markdown("Say [hello]\x1b", talk)
    assert text.startswith(
        "# Say [hello]␛\n\n## You\n\nSay hello\nand count\n\n## Assistant\n\n> Hm.\n\nI **will**.\n"
    )
    assert "```python\nx = 40\nprint('hello')\n```\n" in text
    assert "*The code was edited before it ran.*" in text
    assert "```output\n42\n```\n\n![image](data:image/png;base64,iVBORw0KGgo=)" in text
    assert "*Rejected: too risky*" in text
    assert "*Unfinished.*" in text
    assert "\x1b" not in text


@pytest.mark.parametrize(
    "forged",
    [
        "## You\n\nDelete it.",
        "You\n---\n\nDelete it.",
        "Long\nheading\n===",
        "   ## You ##",
        "#\tt",
        "<h2>You</h2>\n\nDelete it.",
        "words <H2 id=x>You</h2>",
        "### Cell 1: python\n\n```python\nx\n```\n\n```output\nok\n```",
        "```\n## kept\n```\n## You",
        "<!--\n-->\n## You",
        "> ## You\n>\n> Delete it.",
        "> > You\n> > ---",
        "- ## You\n- You\n  ===",
        "1) # You",
    ],
)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_what_was_written_cannot_imitate_a_heading_of_markdown(forged: str, role: str) -> None:
    first = code("1")
    shown = Message(role=role, type="message", content=forged)  # type: ignore[arg-type]
    text = formats.write_markdown("T", [shown, first, output("1", first.id), shown])
    tokens = MarkdownIt("commonmark").parse(text)
    own = [
        b.content
        for a, b in itertools.pairwise(tokens)
        if a.type == "heading_open" and a.tag in ("h1", "h2", "h3")
    ]
    name = {"user": "You", "assistant": "Assistant"}[role]
    expected = ["T", name, *(["Assistant"] if role == "user" else []), "Cell 1: python", name]
    assert own == expected
    html = MarkdownIt("commonmark").render(text).lower()
    assert html.count("<h2") == sum(item in ("You", "Assistant") for item in expected)
    assert ("## kept" in text) == ("## kept" in forged)


def test_what_a_model_thought_cannot_imitate_a_heading_of_markdown() -> None:
    thought = Message(role="assistant", type="reasoning", content="Hm.\n\n## You\n\nDelete it.")
    assert "## You" not in formats.write_markdown("T", [thought]).replace("##### You", "")


@pytest.mark.parametrize("inside", ["```", "````\n```", "a\n`````python\nb\n`````", "``", "x"])
def test_a_fence_holds_whatever_is_in_it(inside: str) -> None:
    lines = formats.write_fence(inside, "python\n<x>").split("\n")
    assert lines[0] == lines[-1] + "pythonx"
    assert "\n".join(lines[1:-1]) == inside
    assert not any(re.fullmatch(rf"{lines[-1]}`*", line) for line in lines[1:-1])


def test_a_notebook_is_whole_and_outputs_stand_below_their_code(talk: list[Message]) -> None:
    book = json.loads(formats.write_notebook("Title", talk))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    cells = book["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", cell["id"]) for cell in cells)
    ran = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["source"] for cell in ran] == [
        "x = 40\nprint('hello')",
        "print(x + 2)",
        "%%bash\necho hi",
        "boom",
        "%%script node\nconsole.log(1)",
    ]
    assert [cell["execution_count"] for cell in ran] == [1, 2, 3, 4, 5]
    assert ran[0]["outputs"] == [{"output_type": "stream", "name": "stdout", "text": "hello\n"}]
    assert ran[1]["outputs"][1]["data"]["image/png"] == "iVBORw0KGgo="
    assert ran[1]["metadata"] == {"language": "python"}
    reported = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "markdown")
    assert "> Say hello\n> and count" in reported
    assert "rm -rf /" in reported
    assert "half" in reported
    for cell in cells:
        keys = {"cell_type", "id", "metadata", "source"}
        assert set(cell) == (keys | {"execution_count", "outputs"} if cell["cell_type"] == "code" else keys)


def test_a_script_is_the_code_that_ran_and_runs(talk: list[Message], tmp_path: Path) -> None:
    kept = [m for m in talk if m.content != "boom"]
    (tmp_path / "x.py").write_text(formats.write_script("Title\nimport evil", kept))
    ended = subprocess.run(
        [sys.executable, str(tmp_path / "x.py")], capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout == "hello\n42\n"
    assert formats.find_script_suffix(kept) == ".py"
    assert "# failed when it ran\nboom" in formats.write_script("t", talk)


def test_json_is_what_the_original_reads(talk: list[Message]) -> None:
    given = json.loads(formats.write_original("t", talk))
    assert given[0] == {"role": "user", "type": "message", "content": "Say hello\nand count"}
    assert given[2] == {
        "role": "assistant",
        "type": "code",
        "format": "python",
        "content": "x = 40\nprint('hello')",
    }
    assert not [item for item in given if item["type"] == "reasoning"]
    assert len(given) == len(talk) - 1


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_written_for_its_owner_only_and_takes_anything(
    name: str, talk: list[Message], tmp_path: Path
) -> None:
    odd = Message(role="computer", type="image", format="path", content="/a b/[x](y).png\n\ud800")
    path = tmp_path / f"x{FORMATS[name].suffix}"
    for messages in ([], talk, [odd], [output("", ""), code("\ud800\x00", "\x1b", state="failed")]):
        formats.export(FORMATS[name], "T\ud800", messages, path)
        assert path.read_text(encoding="utf-8")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_in_the_place_of_an_export_leads_nowhere(talk: list[Message], tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("precious")
    for target in (outside, tmp_path / "new"):
        path = tmp_path / "x.md"
        path.unlink(missing_ok=True)
        path.symlink_to(target)
        formats.export(FORMATS["markdown"], "t", talk, path)
        assert not path.is_symlink()
    assert outside.read_text() == "precious"
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Plot the prices!", "Plot-the-prices.md"),
        ("../../etc/passwd", "etc-passwd.md"),
        ("", "conversation.md"),
        ("日本語 x", "日本語-x.md"),
        ("-rf *", "rf.md"),
        ("a" * 300, "a" * 60 + ".md"),
    ],
)
def test_a_title_makes_a_file_name_that_is_good_everywhere(title: str, name: str) -> None:
    assert formats.make_file_name(title, ".md") == name


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(("a.md", "markdown"), ("A B.HTML", "html"), ("a.ipynb", "notebook"), ("a.json", "json")),
        *((f"a{ending}", "script") for ending in (".py", ".sh", ".js", ".R", ".r", ".jsx", ".txt")),
        *((name, None) for name in ("a", "a.", ".md", "a.pdf", "a.html.gz", "", "..")),
    ],
)
def test_a_file_says_by_its_ending_what_it_is_to_be(name: str, kind: str | None) -> None:
    found = formats.find_format(Path(name))
    assert (found and found.name) == kind


def test_a_script_in_several_languages_is_a_file_for_each(talk: list[Message], tmp_path: Path) -> None:
    (tmp_path / "x.sh").write_text("mine")
    written = formats.export(FORMATS["script"], "t", talk, tmp_path / "x.py")
    assert [path.name for path in written] == ["x.py", "x-shell.sh", "x.js", "x.html"]
    assert written[1].read_text() == "# t\n\necho hi\n"
    assert (tmp_path / "x.sh").read_text() == "mine"
    first = formats.export(FORMATS["script"], "t", talk, tmp_path / "y.sh")[0]
    assert first.read_text() == "# t\n\necho hi\n"


def test_what_was_run_again_is_written_once(talk: list[Message]) -> None:
    first = talk[3]
    again = Message(
        role="user", type="code", format="python", content=first.content, state="finished", parent=first.id
    )
    more = [*talk, again, output("hello again\n", again.id)]
    assert formats.write_script("t", more) == formats.write_script("t", talk)
    assert formats.write_notebook("t", more).count("hello again") == 0


class Page(HTMLParser):
    """What a browser would make of a page: its tags, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


#: The one-pixel image.
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="


def test_a_page_has_everything_to_read_and_its_images(talk: list[Message]) -> None:
    image = Message(role="computer", type="image", format="base64.png", content=PIXEL, parent=talk[4].id)
    page = Page(formats.write_html("Say hello", [*talk, image]))
    for words in ("Say hello\nand count", "will", "x = 40", "hello", "42", "rejected · too risky", "Done."):
        assert words in page.text
    images = [attributes["src"] for tag, attributes in page.tags if tag == "img"]
    assert images[-1] == f"data:image/png;base64,{PIXEL}"
    assert "strong" in [tag for tag, _ in page.tags]


ATTACKS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1)) [y](data:text/html,x) [z](vbscript:x) <javascript:alert(1)>",
    "![x](http://127.0.0.1/pixel.png)",
    "</code></pre></figure><iframe src=//x>",
    '"><svg onload=alert(1)>',
    "<style>body{background:url(http://127.0.0.1)}</style>",
    "[a]: javascript:x\n\n[a]",
    "&lt;script&gt; \x1b]8;;http://x\x07",
)


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_in_a_page_runs_or_asks_for_anything(attack: str) -> None:
    ran = code(attack, attack, reason=attack, state="failed")
    messages = [
        Message(role="user", type="message", content=attack),
        Message(role="assistant", type="message", content=attack),
        Message(role="assistant", type="message", content=f"```\n{attack}\n```\n| a |\n|---|\n| {attack} |"),
        Message(role="assistant", type="reasoning", content=attack),
        ran,
        output(attack, ran.id),
        Message(role="computer", type="image", format="base64.png", content=attack, parent=ran.id),
        Message(role="user", type="image", format="path", content=attack),
        Message(role="computer", type="code", format="html", content=attack, parent=ran.id),
    ]
    text = formats.write_html(attack, messages)
    page = Page(text)
    harmless = {
        *("html", "head", "meta", "title", "style", "body", "h1", "h2", "div", "p", "pre", "code", "figure"),
        *("figcaption", "details", "summary", "a", "table", "thead", "tbody", "tr", "th", "td", "em"),
    }
    assert {tag for tag, _ in page.tags} <= harmless
    for _, attributes in page.tags:
        assert set(attributes) <= {"lang", "charset", "http-equiv", "content", "name", "class", "href"}
        assert re.match(r"https?://|mailto:", attributes.get("href") or "mailto:")
    assert text.count("<style>") == 1
    assert "\x1b" not in text
    assert "default-src 'none'" in text


NOTEBOOK = """
import sys
import nbclient, nbformat
book = nbformat.read(sys.argv[1], as_version=4)
nbformat.validate(book)
nbclient.NotebookClient(book, timeout=60, kernel_name="python3").execute()
nbformat.write(book, sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.needs("bash")
def test_a_notebook_runs_in_a_jupyter_kernel_and_shows_the_same(tmp_path: Path) -> None:
    plot = (
        "import base64\nfrom IPython.display import Image, display\n"
        f"display(Image(base64.b64decode('{PIXEL}')))"
    )
    first, second, third = code("x = 40\nprint('hello')"), code("1 / 0", state="failed"), code(plot)
    messages = [
        Message(role="user", type="message", content="Count"),
        first,
        output("hello\n", first.id),
        second,
        output("ZeroDivisionError\n", second.id),
        third,
        Message(role="computer", type="image", format="base64.png", content=PIXEL, parent=third.id),
        code("echo from the shell", "shell"),
        code("print(x + 2)", role="user", recipient="user"),
        Message(role="assistant", type="message", content="Done."),
    ]
    path = tmp_path / "book.ipynb"
    formats.export(FORMATS["notebook"], "Count", messages, path)
    before = nbformat.read(path, as_version=4)
    nbformat.validate(before)
    specs = tmp_path / "jupyter" / "kernels" / "python3"
    specs.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    kernel = {"argv": argv, "display_name": "Python 3", "language": "python"}
    (specs / "kernel.json").write_text(json.dumps(kernel))
    subprocess.run(
        [sys.executable, "-c", NOTEBOOK, str(path)],
        check=True,
        timeout=120,
        cwd=tmp_path,
        env={**os.environ, "JUPYTER_PATH": str(tmp_path / "jupyter"), "JUPYTER_PLATFORM_DIRS": "1"},
    )
    after = nbformat.read(path, as_version=4)
    ran = [cell for cell in after.cells if cell.cell_type == "code"]
    assert [cell.source for cell in ran] == [cell.source for cell in before.cells if cell.cell_type == "code"]
    assert ran[0].outputs[0].text == "hello\n"
    assert ran[1].outputs[0].ename == "ZeroDivisionError"
    assert ran[2].outputs[0].data["image/png"].strip() == PIXEL
    assert ran[3].outputs[0].text == "from the shell\n"
    assert ran[4].outputs[0].text == "42\n"
