"""The web page, in a real browser."""

import base64
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")
pytest.importorskip("uvicorn", reason="uvicorn (extra server) is not installed here")

from oi_tui.engine.llm.base import Text
from oi_tui.messages import Displayed, Printed, RunEnded
from oi_tui.server.serve import make_page_address
from tests import processes
from tests.fakes import call
from tests.unit.server.browser import PROGRAM, Browser, Chromium
from tests.unit.server.conftest import Serve
from tests.unit.server.running import Running

pytestmark = [pytest.mark.needs(PROGRAM), pytest.mark.slow]
TEXT = "document.getElementById('conversation').innerText"
STATE = "document.getElementById('state').textContent"
#: Before the page: its connections, the newest last.
KEEP_SOCKETS = (
    "const Before = WebSocket; window.made = []; window.WebSocket = class extends Before {"
    "constructor(...given) { super(...given); window.made.push(this); } };"
)
NAME = "document.getElementById('name').textContent"
QUESTION = "!document.getElementById('question').hidden"


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """One browser for all tests of a worker: to start it costs more than most of them."""
    with Chromium(tmp_path_factory.mktemp("browser")) as chromium:
        processes.shared_by_tests.add(chromium.process.pid)
        yield chromium


@pytest.fixture
def browser(chromium: Chromium) -> Iterator[Browser]:
    with Browser(chromium) as browser:
        yield browser
        assert browser.complaints == []


def open_page(browser: Browser, running: Running) -> None:
    browser.open(make_page_address(running.options))
    browser.wait_for(f"location.hash === '' && {STATE} === 'ready'")


def say(browser: Browser, words: str) -> None:
    browser.type("#words", words)
    browser.press_enter()


def test_the_main_job_ask_edit_run_and_reject(serve: Serve, browser: Browser) -> None:
    running = serve([call("print(1)")], [call("print(2)")], [call("print(4)")], [Text("All done.")])
    open_page(browser, running)
    say(browser, "Hello there")
    browser.wait_for(QUESTION)
    assert browser.value("document.getElementById('code').value") == "print(1)"
    assert "python" in browser.value("document.querySelector('#question h2').textContent")
    assert running.computer.ran == []
    browser.click("#run")
    browser.wait_for(f"{TEXT}.includes('out of print(1)')")
    browser.wait_for(f"{QUESTION} && document.getElementById('code').value === 'print(2)'")
    browser.click("#edit")
    browser.value("document.getElementById('code').value = 'print(3)'")
    browser.click("#run")
    browser.wait_for(f"{QUESTION} && document.getElementById('code').value === 'print(4)'")
    browser.click("#reject")
    browser.type("#reason", "Not that")
    browser.press_enter()
    browser.wait_for(f"{TEXT}.includes('All done.') && {STATE} === 'ready'")
    assert running.computer.ran == [("python", "print(1)"), ("python", "print(3)")]
    assert "rejected: Not that" in browser.value(TEXT)


def test_what_may_run_without_a_question_is_chosen_where_the_server_allows_it(
    serve: Serve, browser: Browser
) -> None:
    running = serve([call("print(1)")], [call("print(2)")], [Text("All done.")], allow_settings=True)
    open_page(browser, running)
    say(browser, "Hello")
    browser.wait_for(f"{QUESTION} && !document.getElementById('run').disabled")
    browser.click("#edit")
    assert browser.value("document.getElementById('always').hidden")
    browser.click("#edit")
    browser.click("#always")
    offers = browser.value("document.getElementById('offers').innerText")
    assert offers.startswith("Run this, and from now on run without a question:")
    assert "all python, whatever it does: delete, send, install" in offers
    assert browser.value("document.activeElement.textContent") == "exactly this code again"
    assert running.computer.ran == []
    browser.click("#offers button:last-child")
    browser.wait_for(f"{TEXT}.includes('All done.') && {STATE} === 'ready'")
    assert running.computer.ran == [("python", "print(1)"), ("python", "print(2)")]


def test_nothing_can_be_allowed_for_later_where_the_server_does_not_allow_it(
    serve: Serve, browser: Browser
) -> None:
    running = serve([call("print(1)")])
    open_page(browser, running)
    say(browser, "Hello")
    browser.wait_for(f"{QUESTION} && !document.getElementById('run').disabled")
    assert browser.value("document.getElementById('always').hidden")


def test_of_long_output_the_newest_part_is_shown_while_a_program_prints(
    serve: Serve, browser: Browser
) -> None:
    running = serve([call("flood and hang")], auto_run=True)
    open_page(browser, running)
    say(browser, "Hello")
    browser.wait_for(f"{TEXT}.includes('line 299')")
    assert browser.value(f"{TEXT}.includes('not shown')")
    assert browser.value(f"{TEXT}.length") < 201_000
    browser.click("#stop")
    browser.wait_for(f"{STATE} === 'ready'")


def test_a_question_cannot_be_answered_in_its_first_moment(serve: Serve, browser: Browser) -> None:
    running = serve([call("print(1)")])
    open_page(browser, running)
    browser.value(
        "new MutationObserver(() => { const run = document.getElementById('run');"
        f"if ({QUESTION} && window.first === undefined) {{ window.first = run.disabled; run.click(); }} }})"
        ".observe(document.getElementById('question'), {attributes: true, subtree: true})"
    )
    say(browser, "Hello")
    browser.wait_for("window.first === true")
    browser.wait_for("!document.getElementById('run').disabled")
    assert running.computer.ran == []


def test_nothing_that_a_model_or_a_program_says_becomes_a_part_of_the_page(
    serve: Serve, browser: Browser
) -> None:
    evil = "<img src=x onerror='window.broken=1'><script>window.broken=1</script>"
    running = serve([Text(evil), call(f"print({evil!r})")], [Text("Done.")], auto_run=True)
    open_page(browser, running)
    say(browser, evil)
    browser.wait_for(f"{TEXT}.includes('Done.') && {STATE} === 'ready'")
    assert browser.value("window.broken === undefined")
    assert browser.value("document.querySelectorAll('#conversation img, #conversation script').length") == 0
    assert evil in browser.value(TEXT)


def test_characters_that_cannot_be_seen_are_named(serve: Serve, browser: Browser) -> None:
    running = serve([call("admin = 'no\u202e'")])
    open_page(browser, running)
    say(browser, "Hello")
    browser.wait_for(QUESTION)
    assert "Hidden characters: U+202E RIGHT-TO-LEFT OVERRIDE" in browser.value(
        "document.getElementById('facts').textContent"
    )


def test_the_page_comes_back_to_a_question_after_a_reload(serve: Serve, browser: Browser) -> None:
    running = serve([call("print(1)")])
    open_page(browser, running)
    say(browser, "Hello")
    browser.wait_for(QUESTION)
    browser.call("Page.reload")
    browser.wait_for(f"document.readyState === 'complete' && {QUESTION}")
    browser.click("#run")
    browser.wait_for(f"{STATE} === 'ready' && {TEXT}.includes('out of print(1)')")
    assert running.computer.ran == [("python", "print(1)")]


def test_the_page_stays_with_its_session_when_it_is_loaded_again_and_goes_back_to_the_one_before(
    serve: Serve, browser: Browser
) -> None:
    running = serve([Text("The first.")], [call("print(1)")])
    open_page(browser, running)
    say(browser, "Hello")
    browser.wait_for(f"{TEXT}.includes('The first.') && {STATE} === 'ready'")
    browser.click("#new")
    browser.wait_for(f"{NAME} === 'New conversation' && {TEXT} === '' && {STATE} === 'ready'")
    say(browser, "Again")
    browser.wait_for(QUESTION)
    browser.call("Page.reload")
    browser.wait_for(f"document.readyState === 'complete' && {QUESTION} && {NAME} === 'Again'")
    browser.value("history.back()")
    browser.wait_for(f"!({QUESTION}) && {TEXT}.includes('The first.')")
    browser.value("history.forward()")
    browser.wait_for(f"{QUESTION} && {TEXT}.includes('Again')")


def test_enter_counts_also_before_the_page_is_connected_to_a_new_conversation(
    serve: Serve, browser: Browser
) -> None:
    running = serve([call("print(1)")])
    open_page(browser, running)
    browser.value(
        "new Promise((done) => { const push = history.pushState;"
        "history.pushState = (...rest) => { push.apply(history, rest); setTimeout(() => {"
        "document.getElementById('words').value = 'Hello there';"
        "document.getElementById('prompt').requestSubmit(); done(); }); };"
        "document.getElementById('new').click(); })"
    )
    browser.wait_for(QUESTION)
    assert browser.value("document.getElementById('words').value") == ""
    assert browser.value("history.state.session") != "default"


@pytest.mark.parametrize("is_default", [True, False])
def test_the_page_opens_its_conversation_again_after_the_server_was_started_again(
    serve: Serve, chromium: Chromium, is_default: bool
) -> None:
    with Running([call("print(1)")]) as before, Browser(chromium) as browser:
        open_page(browser, before)
        if not is_default:
            browser.click("#new")
            browser.wait_for(f"history.state.session !== 'default' && {STATE} === 'ready'")
        say(browser, "Hello there")
        browser.wait_for(f"{QUESTION} && !document.getElementById('run').disabled")
        before.server.should_exit = True
        browser.wait_for(f"{STATE} === 'disconnected' && document.getElementById('run').disabled")
        before.thread.join(20)
        serve([Text("It goes on.")], token=before.options.token, port=before.options.port)
        browser.wait_for(f"{STATE} === 'ready' && {TEXT}.includes('Hello there') && !({QUESTION})")
        say(browser, "And now?")
        browser.wait_for(f"{TEXT}.includes('It goes on.')")


def test_the_address_with_a_new_token_works_in_a_page_that_is_open(serve: Serve, chromium: Chromium) -> None:
    running = serve()
    with Browser(chromium) as browser:
        browser.open(f"{running.address}/#token=wrong")
        browser.wait_for(f"{STATE} === 'signed out'")
        browser.value(f"location.hash = 'token={running.options.token}'")
        browser.wait_for(f"{STATE} === 'ready' && location.hash === ''")


def test_the_newest_part_stays_in_sight_when_an_image_arrives_and_after_a_message_is_sent(
    serve: Serve, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = serve([call("plot")], [Text("Look.\n\n" * 60)], [Text("More.")], auto_run=True)

    def run(*_: object) -> Iterator[object]:
        yield Displayed("base64.png", encode_plot())
        yield RunEnded("finished", 0.1)

    monkeypatch.setattr(running.computer, "run", run)
    open_page(browser, running)
    at_end = "(({scrollHeight, scrollTop, clientHeight}) => scrollHeight - scrollTop - clientHeight < 80)"
    is_at_end = f"{at_end}(document.querySelector('main'))"
    # Images arrive after everything else.
    browser.value(
        "before = fetch, window.fetch = async (path, ...rest) => {"
        "if (path.includes('/images/')) await new Promise((go) => { window.release = go; });"
        "return before(path, ...rest); }"
    )
    say(browser, "Hello")
    browser.wait_for(f"{STATE} === 'ready' && {TEXT}.includes('Look.') && {is_at_end}")
    browser.value("release()")
    browser.wait_for(f"document.querySelector('main img')?.complete && {is_at_end}")
    assert browser.value("document.getElementById('latest').hidden")
    browser.value("document.querySelector('main').scrollTop = 0")
    browser.wait_for("!document.getElementById('latest').hidden")
    say(browser, "Hello")
    browser.wait_for(f"{TEXT}.includes('More.') && {is_at_end}")


def encode_plot() -> str:
    """A white image, 900 pixels high."""
    data = io.BytesIO()
    Image.new("RGB", (300, 900), "white").save(data, "PNG")
    return base64.b64encode(data.getvalue()).decode()


def test_long_code_is_edited_from_its_first_line_on(serve: Serve, browser: Browser) -> None:
    running = serve([call("\n".join(f"print({number})" for number in range(200)))])
    open_page(browser, running)
    say(browser, "Hello")
    browser.wait_for(QUESTION)
    browser.click("#edit")
    browser.wait_for("document.activeElement.id === 'code'")
    assert browser.value("code.scrollHeight > code.clientHeight && code.scrollTop === 0")
    assert browser.value("code.selectionStart") == 0


def test_code_and_output_can_be_copied(serve: Serve, browser: Browser) -> None:
    running = serve([call("print(1)\nprint(2)")], [Text("Done.")], auto_run=True)
    browser.call(
        "Browser.grantPermissions",
        browserContextId=browser.context,
        permissions=["clipboardReadWrite", "clipboardSanitizedWrite"],
    )
    open_page(browser, running)
    say(browser, "Hello")
    browser.wait_for(f"{STATE} === 'ready' && {TEXT}.includes('Done.')")
    for name, text in (("python", "print(1)\nprint(2)"), ("output", "out of print(1)\nprint(2)")):
        browser.click(f"[aria-label='Copy {name}']")
        browser.wait_for(f"document.querySelector(\"[aria-label='Copy {name}']\").textContent === 'Copied'")
        assert browser.value("navigator.clipboard.readText()").strip() == text


def test_without_a_token_the_page_asks_for_it(serve: Serve, browser: Browser) -> None:
    running = serve()
    browser.open(running.address)
    browser.wait_for(f"!document.getElementById('login').hidden && {STATE} === 'signed out'")
    browser.type("#token", running.options.token)
    browser.press_enter()
    browser.wait_for(f"{STATE} === 'ready'")


def test_it_fits_on_a_phone(serve: Serve, browser: Browser) -> None:
    browser.call(
        "Emulation.setDeviceMetricsOverride", width=360, height=640, deviceScaleFactor=2, mobile=True
    )
    running = serve([Text("word " * 200), call("x = '" + "long " * 100 + "'\n" * 40)])
    open_page(browser, running)
    say(browser, "Hello")
    browser.wait_for(QUESTION)
    assert browser.value("document.documentElement.scrollWidth") <= 360
    sizes = browser.value(
        "(({scrollWidth, clientWidth}) => [scrollWidth, clientWidth])(document.getElementById('reading'))"
    )
    assert sizes[0] == sizes[1], "no part of the code is to be looked for sideways"
    for button in ("run", "edit", "reject"):
        place = browser.value(
            f"(() => {{ const r = document.getElementById('{button}').getBoundingClientRect();"
            "return [r.left, r.right, r.top, r.bottom, r.height]; })()"
        )
        assert place[0] >= 0
        assert place[1] <= 360
        assert place[3] <= 640
        assert place[4] >= 44, "large enough for a finger"


@pytest.mark.parametrize(("width", "height"), [(740, 360), (640, 320), (360, 420)])
def test_on_a_low_screen_the_buttons_and_some_of_the_code_are_in_sight(
    serve: Serve, browser: Browser, width: int, height: int
) -> None:
    """As on a phone on its side, or with its keyboard."""
    browser.call(
        "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2, mobile=True
    )
    running = serve([call("import shutil\nshutil.rmtree('/tmp/x/y/z')\n" + "print('long')\n" * 100)])
    open_page(browser, running)
    say(browser, "Hello")
    browser.wait_for(QUESTION)
    for expand in (
        "",
        "document.getElementById('edit').click()",
        "document.getElementById('reject').click()",
    ):
        if expand:
            browser.wait_for("!document.getElementById('run').disabled")
            browser.value(expand)
        bottom = "(id) => document.getElementById(id).getBoundingClientRect().bottom"
        places = browser.value(f"['run', 'edit', 'reject', 'words'].map({bottom})")
        assert max(places) <= height
        shown = "document.querySelector('#reading:not([hidden]), #code:not([hidden])').clientHeight"
        assert browser.value(shown) >= 45


def test_a_long_reason_leaves_room_for_the_language_and_the_button_on_a_phone(
    serve: Serve, browser: Browser
) -> None:
    browser.call(
        "Emulation.setDeviceMetricsOverride", width=360, height=640, deviceScaleFactor=2, mobile=True
    )
    running = serve([call("print(1)")], [Text("Done.")])
    open_page(browser, running)
    say(browser, "Hello")
    browser.wait_for(f"{QUESTION} && !document.getElementById('run').disabled")
    browser.click("#reject")
    browser.type("#reason", "It is not what I asked for, and it would take much too long to run.")
    browser.press_enter()
    browser.wait_for(f"{TEXT}.includes('Done.')")
    parts = "document.querySelectorAll('figcaption > :is(:first-child, button)')"
    heights = browser.value(f"[...{parts}].map((part) => part.getBoundingClientRect().height)")
    assert len(heights) == 2
    assert max(heights) < 32


MARKDOWN = """# Plan

1. read **all** `files`
   - nested *item*
2. [not a link](javascript:window.broken=1)

- [x] done
- [ ] to do

| Name | Rows |
|---|---:|
| a\\|b | 12 |

> a quotation

```ini
x = "<b>bold</b>"  # note
```

snake_case_name and 2 * 3 * 4 stay, <i>html</i> too
![image](https://example.org/x.png)
"""


def test_markdown_becomes_elements_without_links_images_or_html(serve: Serve, browser: Browser) -> None:
    running = serve([Text(MARKDOWN), call("print(1)")], [Text("The end.")], auto_run=True)
    open_page(browser, running)
    say(browser, "Hello")
    browser.wait_for(f"{TEXT}.includes('The end.') && {STATE} === 'ready'")

    def texts(selector: str) -> list[str]:
        every = f"document.querySelectorAll('article.message.assistant {selector}')"
        found: list[str] = browser.value(f"[...{every}].map((item) => item.textContent)")
        return found

    assert texts("h3") == ["Plan"]
    assert texts(":is(strong, ol > li > code)") == ["all", "files"]
    assert texts("ol > li > ul em") == ["item"]
    assert texts("td") == ["a|b", "12"]
    assert texts("td.right") == ["12"]
    assert texts("blockquote p") == ["a quotation"]
    assert texts("pre :is(.string, .comment)") == ['"<b>bold</b>"', "# note"]
    assert browser.value("[...document.querySelectorAll('.task input')].map((box) => box.checked)") == [
        True,
        False,
    ]
    assert texts(":is(a, img, b, i)") == []
    shown = browser.value(TEXT)
    for literal in (
        "snake_case_name and 2 * 3 * 4",
        "<i>html</i>",
        "[not a link](javascript:window.broken=1)",
    ):
        assert literal in shown


ODD = ["`" * 3000, "*" * 5000, "> " * 3000 + "x", "- " * 3000 + "x", "|" * 4000 + "\n|-|\n", "_a" * 5000]


def test_odd_markdown_is_shown_at_once_and_nothing_of_it_is_lost(serve: Serve, browser: Browser) -> None:
    running = serve(*([Text(f"{text} end of {number}")] for number, text in enumerate(ODD)))
    open_page(browser, running)
    for number in range(len(ODD)):
        say(browser, "Hello")
        browser.wait_for(f"{STATE} === 'ready' && {TEXT}.includes('end of {number}')")


def test_code_in_question_stands_once_and_every_control_has_a_name(serve: Serve, browser: Browser) -> None:
    running = serve([call("print(1)")])
    open_page(browser, running)
    say(browser, "Hello")
    browser.wait_for(QUESTION)
    assert "print(1)" not in browser.value(TEXT)
    assert browser.value("document.activeElement.id") == "title"
    assert browser.value("document.getElementById('reading').innerText").strip() == "print(1)"
    tree = browser.call("Accessibility.getFullAXTree")["nodes"]
    controls = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in tree
        if not node["ignored"] and node["role"]["value"] in ("button", "textbox", "combobox")
    ]
    assert len(controls) >= 6
    assert [control for control in controls if not control[1]] == []


def test_escape_stops_but_not_while_code_is_edited(serve: Serve, browser: Browser) -> None:
    escape = (
        "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}))"
    )
    running = serve([call("print(1)")])
    open_page(browser, running)
    say(browser, "Hello")
    browser.wait_for(QUESTION)
    browser.click("#edit")
    browser.value(escape)
    browser.wait_for(f"{QUESTION} && document.activeElement.id === 'code'")
    browser.click("#edit")
    browser.value(escape)
    browser.wait_for(f"!({QUESTION}) && {STATE} === 'ready'")
    assert running.computer.ran == []


LIST = "document.getElementById('list').innerText"


def press(browser: Browser, key: str, *, ctrl: bool = False) -> None:
    for kind in ("rawKeyDown", "keyUp"):
        code = {"Enter": 13, "Escape": 27, "ArrowDown": 40}.get(key, ord(key[0].upper()))
        browser.call(
            "Input.dispatchKeyEvent",
            type=kind,
            key=key,
            windowsVirtualKeyCode=code,
            modifiers=2 if ctrl else 0,
        )


def test_conversations_are_found_and_opened_by_keys(serve: Serve, browser: Browser) -> None:
    running = serve([Text("A zebra has stripes.")])
    open_page(browser, running)
    say(browser, "Tell me of zebras")
    browser.wait_for(f"{TEXT}.includes('stripes') && {NAME} === 'Tell me of zebras'")
    browser.click("#new")
    browser.wait_for(f"{NAME} === 'New conversation' && {TEXT} === ''")
    # From another session, and after its end from the saved conversations.
    for place in ("Open", "Saved"):
        press(browser, "k", ctrl=True)
        browser.wait_for(f"{LIST}.includes('zebras')")
        browser.call("Input.insertText", text="STRIPES")
        browser.wait_for(f"{LIST}.startsWith('{place}') && !{LIST}.includes('New conversation')")
        press(browser, "ArrowDown")
        browser.wait_for("document.activeElement.closest('#list') !== null")
        browser.press_enter()
        browser.wait_for(f"{TEXT}.includes('stripes') && {NAME} === 'Tell me of zebras'")
        browser.click("#new")
        browser.wait_for(f"{NAME} === 'New conversation' && {TEXT} === ''")
        with running.http() as client:
            client.delete("/v1/sessions/default")
    press(browser, "k", ctrl=True)
    browser.wait_for("document.getElementById('navigator').open")
    press(browser, "Escape")
    browser.wait_for("!document.getElementById('navigator').open")


def test_colours_of_a_program_are_kept_and_ctrl_enter_runs(serve: Serve, browser: Browser) -> None:
    running = serve([call("\x1b[1;31mred\x1b[0m \x1b[38;5;2mgreen\x1b[2J\x1b]0;title\x07 <b>")])
    open_page(browser, running)
    say(browser, "Hello")
    browser.wait_for(f"{QUESTION} && !document.getElementById('run').disabled")
    press(browser, "Enter", ctrl=True)
    browser.wait_for(f"{TEXT}.includes('out of')")
    printed = "document.querySelector('article.output pre')"
    assert browser.value(f"{printed}.textContent") == "out of red green <b>"
    pieces = f"[...{printed}.children].map((piece) => [piece.className, piece.textContent])"
    assert browser.value(pieces) == [["ansi-red bold", "red"], ["ansi-green", "green <b>"]]


FRAME = {
    "key": "table:1",
    "name": "",
    "index": "",
    "total": 60,
    "width": 3,
    "head": 1,
    "columns": [["name", "str", False], ["n", "int64", True]],
    "rows": [["0", ["<img src=x>", "1.5"]], ["59", ["Bo", None]]],
}


def test_a_data_frame_is_a_table_whose_cells_are_text(
    serve: Serve, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = serve([call("df")], [call("odd")], auto_run=True)

    def run(_language: str, code: str, _number: int | None = None) -> Iterator[object]:
        table = json.dumps(FRAME) if code == "df" else json.dumps({**FRAME, "rows": [["0", ["too few"]]]})
        view = f"the view of {code}"
        yield Printed(f"the text of {code}", view, table)
        yield Displayed("html", "<table><tr><td>again</td></tr></table>", view)
        yield RunEnded("finished", 0.1)

    monkeypatch.setattr(running.computer, "run", run)
    open_page(browser, running)
    say(browser, "Hello")
    browser.wait_for(f"{STATE} === 'ready' && {TEXT}.includes('the text of odd')")

    def texts(selector: str) -> list[str]:
        found: list[str] = browser.value(
            f"[...document.querySelectorAll({selector!r})].map((part) => part.textContent)"
        )
        return found

    assert texts(".values thead th") == ["", "namestr", "nint64", "… 1 more column"]
    assert texts(".values tbody tr") == ["0<img src=x>1.5", "… 58 rows not shown", "59BoNaN"]
    assert texts(".values .right") == ["nint64", "1.5", "NaN"]
    assert "60 rows x 3 columns" in browser.value(TEXT)
    assert "the text of df" not in browser.value(TEXT)
    # What is no table stays text, with its page below it; the page of a table would show the value twice.
    assert browser.value("document.querySelectorAll('#conversation iframe').length") == 1
    assert browser.value("document.querySelectorAll('#conversation img').length") == 0


def test_a_program_that_waits_for_input_is_seen_to_wait(serve: Serve, browser: Browser) -> None:
    running = serve([call("ask")], [Text("Done.")])
    open_page(browser, running)
    say(browser, "Hello")
    browser.wait_for(QUESTION)
    assert browser.value("document.getElementById('facts').innerText").endswith("1 line · python, in /")
    browser.click("#run")
    browser.wait_for(f"{STATE} === 'waits for you' && document.title === '● oi-tui' && !({QUESTION})")
    with running.http() as client:
        assert [item["waiting"] for item in client.get("/v1/sessions").json()["sessions"]] == [True]
    browser.type("#line", "Ada")
    browser.press_enter()
    browser.wait_for(f"{STATE} === 'ready' && {TEXT}.includes('Done.')")
    assert running.computer.typed == ["Ada\n"]


def test_whoever_types_need_not_look_for_the_prompt(serve: Serve, browser: Browser) -> None:
    running = serve([call("ask")], [Text("Done.")], [Text("Fine.")])
    # A machine without a mouse passes for a phone, where the keyboard would cover the page.
    browser.call(
        "Page.addScriptToEvaluateOnNewDocument", source="window.matchMedia = () => ({ matches: true });"
    )
    open_page(browser, running)
    browser.wait_for("document.activeElement.id === 'words'")
    browser.call("Input.insertText", text="Hello")
    browser.press_enter()
    browser.wait_for(
        f"{QUESTION} && document.activeElement.id === 'title' && !document.getElementById('run').disabled"
    )
    press(browser, "Enter", ctrl=True)
    browser.wait_for("document.activeElement.id === 'line'")
    browser.call("Input.insertText", text="Ada")
    browser.press_enter()
    browser.wait_for(f"{TEXT}.includes('Done.') && document.activeElement.id === 'words'")
    browser.wait_for("!document.getElementById('send').hidden")
    browser.call("Input.insertText", text="Thanks")
    browser.press_enter()
    browser.wait_for(f"{TEXT}.includes('Fine.')")
    assert running.computer.typed == ["Ada\n"]


def test_a_message_that_was_not_taken_can_be_sent_again(serve: Serve, browser: Browser) -> None:
    """Because the connection lost it, or because the session was busy by then."""
    running = serve([Text("One.")], [call("print(1)")], auto_run=False)
    browser.call("Page.addScriptToEvaluateOnNewDocument", source=KEEP_SOCKETS)
    open_page(browser, running)
    browser.value("made.at(-1).send = () => {}")
    say(browser, "Hello")
    words = "document.getElementById('words').value"
    browser.wait_for(f"{words} === ''")
    browser.value("made.at(-1).close()")
    browser.wait_for(f"made.length === 2 && {words} === 'Hello'")
    say(browser, "")
    browser.wait_for(f"{TEXT}.includes('One.') && {STATE} === 'ready'")
    assert browser.value(words) == ""
    # Another page begins a turn at the same moment, of which this page is told after it has sent its own.
    browser.value(
        "take = made.at(-1).onmessage, late = [], made.at(-1).onmessage = (event) => { late.push(event); }"
    )
    with running.socket("/v1/sessions/default/events") as other:
        other.send({"do": "say", "content": "First"})
        other.until(event="question.asked")
        say(browser, "Second")
        browser.wait_for("late.some((event) => JSON.parse(event.data).event === 'error')")
        browser.value("late.forEach(take)")
        browser.wait_for(f"{words} === 'Second' && {TEXT}.includes('busy')")
        other.send({"do": "stop"})
        other.until(event="turn.ended")


def test_whoever_types_a_message_goes_on_typing_when_a_program_waits_for_input(
    serve: Serve, browser: Browser
) -> None:
    running = serve([call("ask")], [Text("Done.")])
    open_page(browser, running)
    say(browser, "Hello")
    browser.wait_for(QUESTION)
    browser.type("#words", "And then")
    browser.click("#run")
    browser.click("#words")
    browser.wait_for(f"{STATE} === 'waits for you' && !({QUESTION})")
    browser.press_enter()
    browser.call("Input.insertText", text=" this")
    assert browser.value("document.getElementById('words').value") == "And then this"
    assert running.computer.typed == []
    browser.type("#line", "Ada")
    browser.press_enter()
    browser.wait_for(f"{STATE} === 'ready'")
    assert running.computer.typed == ["Ada\n"]


def test_an_answer_that_the_connection_lost_can_be_given_again(serve: Serve, browser: Browser) -> None:
    """To a question and to a program."""
    running = serve([call("ask")], [Text("Done.")])
    browser.call("Page.addScriptToEvaluateOnNewDocument", source=KEEP_SOCKETS)
    open_page(browser, running)
    say(browser, "Hello")
    browser.wait_for(f"{QUESTION} && !document.getElementById('run').disabled")
    browser.value("made.at(-1).send = () => {}")
    browser.click("#run")
    browser.wait_for("document.getElementById('run').disabled")
    browser.value("made.at(-1).close()")
    browser.wait_for("made.length === 2")
    browser.click("#run")
    browser.wait_for("!document.getElementById('input').hidden")
    browser.type("#line", "Ada")
    browser.value("made.at(-1).close(), document.getElementById('input').requestSubmit()")
    browser.wait_for("made.length === 3 && made.at(-1).readyState === WebSocket.OPEN")
    assert browser.value("document.getElementById('line').value") == "Ada"
    browser.value("made.at(-1).send = () => {}")
    browser.type("#line", "")
    browser.press_enter()
    browser.wait_for("document.getElementById('input').hidden")
    browser.value("made.at(-1).close()")
    browser.wait_for("!document.getElementById('input').hidden")
    browser.type("#line", "Ada")
    browser.press_enter()
    browser.wait_for(f"{STATE} === 'ready' && {TEXT}.includes('Done.')")
    assert running.computer.typed == ["Ada\n"]


def test_a_page_with_scripts_is_offered_to_be_saved(
    serve: Serve, browser: Browser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    running = serve([call("figure")], auto_run=True)
    page = "<div id=plot></div><script>window.top.broken = 1</script>"

    def run(*_: object) -> Iterator[object]:
        yield Printed("Figure()", "Figure()")
        yield Displayed("html", page, "Figure()")
        yield RunEnded("finished", 0.1)

    monkeypatch.setattr(running.computer, "run", run)
    browser.call(
        "Browser.setDownloadBehavior",
        behavior="allow",
        browserContextId=browser.context,
        downloadPath=str(tmp_path),
    )
    open_page(browser, running)
    say(browser, "Hello")
    browser.wait_for(f"{STATE} === 'ready' && {TEXT}.includes('Save the page')")
    assert browser.value("document.querySelectorAll('#conversation iframe').length") == 0
    browser.click("#conversation button[title*=scripts]")
    saved = tmp_path / "page.html"
    assert processes.wait_until(saved.exists, 20)
    assert saved.read_text() == page
    assert browser.value("window.broken === undefined")


def test_a_long_line_of_output_does_not_keep_the_page_busy(serve: Serve, browser: Browser) -> None:
    running = serve()
    open_page(browser, running)
    milliseconds, text = browser.value(
        "import('/page/output.js').then(({output}) => {"
        "const begun = performance.now(); output('x'.repeat(100_000));"
        "const text = output('1%\\r2%\\rdone\\r\\nnext\\r').map((node) => node.textContent).join('');"
        "return [performance.now() - begun, text]; })"
    )
    # Some milliseconds; many seconds where each character is tried as the start.
    assert milliseconds < 1000
    assert text == "done\r\n"


#: Holds the answers to what the page asks back, until `waiting` is called.
HOLD_ANSWERS = (
    "window.waiting = []; window.fetch = () => new Promise((go) => waiting.push(go))"
    ".then(() => new Response('{\"sessions\": []}'));"
)


def test_a_page_that_was_connected_again_meanwhile_makes_no_second_connection(
    serve: Serve, browser: Browser
) -> None:
    running = serve()
    browser.call("Page.addScriptToEvaluateOnNewDocument", source=KEEP_SOCKETS)
    open_page(browser, running)
    browser.value(HOLD_ANSWERS)
    browser.value("made.at(-1).close()")
    browser.wait_for("waiting.length === 1")
    browser.value("window.dispatchEvent(new Event('online'))")
    browser.wait_for(f"made.length === 2 && {STATE} === 'ready'")
    browser.value("waiting.forEach((go) => go()), new Promise((done) => setTimeout(done))")
    assert browser.value("made.length") == 2


def test_whoever_signs_in_while_the_server_cannot_be_reached_is_connected_later(
    serve: Serve, browser: Browser
) -> None:
    running = serve()
    browser.open(running.address)
    browser.wait_for(f"{STATE} === 'signed out'")
    browser.value(
        "before = fetch, window.fetch = () => {"
        "window.fetch = before; return Promise.reject(new TypeError()); }"
    )
    browser.type("#token", running.options.token)
    browser.press_enter()
    browser.wait_for(f"{STATE} === 'ready'")


def test_the_page_opens_its_conversation_again_also_where_the_server_cannot_be_reached_at_first(
    serve: Serve, browser: Browser
) -> None:
    running = serve([Text("It was said.")])
    browser.call("Page.addScriptToEvaluateOnNewDocument", source=KEEP_SOCKETS)
    open_page(browser, running)
    browser.click("#new")
    browser.wait_for(f"history.state.session !== 'default' && {STATE} === 'ready'")
    say(browser, "Hello there")
    browser.wait_for(f"{TEXT}.includes('It was said.') && {STATE} === 'ready'")
    browser.value(
        "before = fetch, window.tries = 0, window.fetch = (path, options) => {"
        "if (options.method !== 'POST' || tries++) return before(path, options);"
        "return Promise.reject(new TypeError()); }"
    )
    # For the page it is a connection that was lost.
    browser.value(
        "last = made.at(-1), last.onmessage = null, lost = last.onclose, "
        "last.onclose = () => lost({code: 1006}), 1"
    )
    with running.http() as client:
        assert client.delete(f"/v1/sessions/{browser.value('history.state.session')}").status_code == 204
    browser.wait_for(f"tries === 2 && {TEXT}.includes('It was said.') && {STATE} === 'ready'")


def test_a_page_whose_session_is_ended_elsewhere_says_so_and_does_not_begin_it_again(
    serve: Serve, browser: Browser
) -> None:
    running = serve()
    open_page(browser, running)
    browser.click("#new")
    browser.wait_for(f"history.state.session !== 'default' && {STATE} === 'ready'")
    with running.http() as client:
        assert client.delete(f"/v1/sessions/{browser.value('history.state.session')}").status_code == 204
        browser.wait_for(f"{STATE} === 'ended' && {TEXT}.includes('The session was ended.')")
        browser.value("window.dispatchEvent(new Event('online'))")
        assert browser.value(STATE) == "ended"
        assert [session["id"] for session in client.get("/v1/sessions").json()["sessions"]] == ["default"]
