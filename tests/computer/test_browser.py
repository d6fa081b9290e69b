"""Pages of this machine in a real browser, read and acted on by code in Python cells."""

import contextlib
import http.server
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from oi_tui.computer import ComputerError, browser_page
from oi_tui.computer import browser as browser_module
from oi_tui.computer.browser import Browser
from oi_tui.computer.computer import Computer
from oi_tui.runtimes.processes import process_table
from tests.computer.desktop import until

pytestmark = pytest.mark.needs("chromium", "playwright")

PAGE = b"""<!doctype html><title>Shop</title><h1>Orders</h1>
<table><tr><th>Item</th><th>Price</th></tr><tr><td>Tea</td><td>3</td></tr><tr><td>Milk</td><td>2</td></tr></table>
<form onsubmit="document.title = 'sent ' + document.querySelector('#n').value; return false">
<label for=n>Name</label><input id=n><label for=p>Password</label><input type=password id=p value=hunter2>
<input placeholder=Find value=sk-abcdefgh12345678><select aria-label=Size><option>S<option>L</select>
<button>Send</button><button>Send later</button><button>Delete</button><button>Delete</button></form>
<a href=/next>Next page</a><a href=/unread>Long page</a><a href=/unanswered>Slow page</a>
<button onclick="setTimeout(() => location = '/next')">Elsewhere</button>
<script>
setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<button>Late</button>'), 200)
</script>"""

MORE = b"""<!doctype html><title>More</title><p>Top</p>
<a href=/closing target=_blank>New tab</a><button onclick="window.open('/unanswered')">Window</button>
<button onclick="document.title = confirm('Sure?')">Ask</button><button onclick="alert('Saved')">Save</button>
<a href=/file download=list.txt>Get the list</a><shadow-host></shadow-host>
<iframe srcdoc="<p>In a frame</p><button onclick='top.document.title = 7'>Framed</button>
  <label>Inner <input></label>"></iframe><iframe style="display: none" srcdoc="<p>Unseen</p>"></iframe>
<script>
customElements.define('shadow-host', class extends HTMLElement {
  connectedCallback() {
    this.attachShadow({mode: 'open'}).innerHTML =
      '<style>b { color: red }</style><b>In a shadow</b><button>Shadowy</button>'
  }
})
</script>"""
CLOSING = b"<h1>In a tab</h1><button onclick='window.close()'>Close</button>"
ENDLESS = b"<h1>Endless</h1><script>setTimeout(() => { document.title = 'stuck'; for (;;); }, 50)</script>"
#: Hangs right after a script of the page itself was answered.
WATCHING = b"""<h1>Watching</h1><script>
const write = JSON.stringify
JSON.stringify = value => { setTimeout(() => { for (;;); }); return write(value) }
</script>"""
LATE = b"""<h1>Front</h1><a href=/never>Never</a><button onclick="for (;;) alert('Again')">Nag</button>
<p style="margin-top: 300px"><button>Beneath</button></p>
<div style="position: fixed; inset: 200px 0 0; background: #8888">Cookies?</div>"""
FIELDS = b"""<label>Weight <select><option value=s>Small<option value=l>Large</select></label>
<label>Upload <input type=file></label><label>Day <input type=date></label>
<label>Fixed <input readonly></label>
<a href=/kept>Kept</a><button disabled>Order</button><p></p><script>
onchange = () => document.querySelector('p').textContent =
  [...document.querySelectorAll('select, input')].map(e => e.files ? e.files[0]?.name : e.value).join(' ')
</script>"""
#: Goes on to a page that is slow, and to itself.
LEAVING = b"<meta http-equiv=refresh content='0; url=/late-answer'><h1>Leaving</h1>"
RESTLESS = b"<meta http-equiv=refresh content=0><h1>Restless</h1>"
BODIES = {
    "/fields": FIELDS,
    "/leaving": LEAVING,
    "/restless": RESTLESS,
    "/late": LATE,
    "/watching": WATCHING,
    "/": PAGE,
    "/more": MORE,
    "/closing": CLOSING,
    "/endless": ENDLESS,
    "/file": b"one\ntwo\n",
}

#: Until then, pages that do not come are not answered.
OVER = threading.Event()
#: How long slow pages take, in seconds.
SLOW = 0.4


class Pages(http.server.BaseHTTPRequestHandler):
    """Answers with the page, or with the next one; two are slow, before or after the first bytes."""

    def do_GET(self) -> None:
        if self.path == "/unanswered":
            time.sleep(SLOW)
        if self.path == "/late-answer":
            OVER.wait(2.5)
        if self.path == "/never":
            OVER.wait()
            return
        if self.path == "/nothing":
            self.send_response(204)
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        if self.path == "/kept":
            self.send_header("Content-Disposition", "attachment; filename=kept.txt")
        self.end_headers()
        if self.path == "/unread":
            self.wfile.write(b"<!doctype html>")
            self.wfile.flush()
            time.sleep(SLOW)
        self.wfile.write(BODIES.get(self.path, b"<h1>Second</h1>"))
        if self.path == "/half":
            # The page stops in the middle.
            self.wfile.write(b"<button>Half</button>" + b" " * 2000)
            self.wfile.flush()
            OVER.wait()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        OVER.clear()
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        OVER.set()
        server.shutdown()
        serving.join()


def shorten(monkeypatch: pytest.MonkeyPatch, wait: str) -> None:
    """Make a wait for something on a page one second long, in both modules that use it."""
    for module in (browser_module, browser_page):
        monkeypatch.setattr(module, wait, 1.0)


@pytest.fixture
def page(address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Browser]:
    shorten(monkeypatch, "TIMEOUT")
    browser = Computer().browser
    browser.setup(headless=True)
    browser.go_to_url(address)
    yield browser
    browser.quit()


def test_a_page_is_read_and_acted_on_by_names(page: Browser) -> None:
    # The secret in a field is not listed.
    assert page.elements()[:6] == [
        '1 text "Name"',
        '2 password "Password"',
        '3 text "Find"',
        "4 combobox \"Size\" = 'S'",
        '5 button "Send"',
        '6 button "Send later"',
    ]
    assert "Item\tPrice\nTea\t3\nMilk\t2" in page.read()
    page.fill("Name", "Zoë")
    page.click("Send")
    assert page.driver.title() == "sent Zoë"
    # What appears later is waited for.
    page.click("Late")
    page.click("Next page", role="link")
    assert page.read() == "Second"


@pytest.mark.parametrize("name", ["Next page", "Long page", "Slow page", "Elsewhere"])
def test_what_is_read_after_a_click_is_the_page_that_it_opened(page: Browser, name: str) -> None:
    page.click(name)
    assert page.read() == "Second"


def test_frames_and_shadow_trees_are_read_and_acted_on_too(page: Browser, address: str) -> None:
    page.go_to_url(address + "more")
    text = page.read()
    assert text.splitlines()[0] == "Top"
    assert "In a shadow" in text
    assert "In a frame" in text
    assert "Unseen" not in text
    assert "color: red" not in text
    names = " ".join(page.elements())
    assert 'button "Shadowy"' in names
    assert 'text "Inner"' in names
    page.click("Shadowy")
    page.fill("Inner", "words")
    assert "text \"Inner\" = 'words'" in " ".join(page.elements())
    page.click("Framed")
    assert page.driver.title() == "7"


@pytest.mark.parametrize(("name", "there"), [("New tab", "In a tab"), ("Window", "Second")])
def test_a_click_that_opens_a_tab_leads_there_until_that_is_closed(
    page: Browser, address: str, name: str, there: str, capsys: pytest.CaptureFixture[str]
) -> None:
    page.go_to_url(address + "more")
    page.click(name)
    assert there in page.read()
    assert f"The click opened another page: {address}" in capsys.readouterr().out
    if name == "New tab":
        page.click("Close")
    else:
        page.driver.close()
    # A tab that closes itself is gone a moment later.
    until(lambda: not find_problem(page) and "Top" in page.read(), "the page that opened the tab")


def test_what_a_page_says_asks_and_offers_is_told(
    page: Browser, address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page.go_to_url(address + "more")
    page.click("Save")
    page.click("Ask")
    assert page.driver.title() == "false"
    page.driver.once("dialog", lambda dialog: dialog.accept())
    page.click("Ask")
    assert page.driver.title() == "true"
    page.click("Get the list")
    until(lambda: page.read() and page.downloads, "the file")
    page.downloads[-1].save_as(tmp_path / "list.txt")
    assert (tmp_path / "list.txt").read_text() == "one\ntwo\n"
    said, cancelled, accepted, offered = capsys.readouterr().out.splitlines()
    assert said == "The page said 'Saved'."
    assert cancelled.startswith("The page asked 'Sure?'. The answer was Cancel. To answer OK, ")
    assert accepted == "The page asked 'Sure?'. The answer was OK."
    assert "offers the file 'list.txt'" in offered


@pytest.mark.slow
def test_a_page_that_does_not_come_is_given_up_and_what_is_there_is_used(
    page: Browser, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.go_to_url(address + "late")
    monkeypatch.setattr(browser_module, "_LOADING_SECONDS", 2.0)
    late = r"The page did not load within 30 seconds, so loading was stopped"
    with pytest.raises(ComputerError, match=late):
        page.go_to_url(address + "never")
    assert "Front" in page.read()
    with pytest.raises(ComputerError, match=late):
        page.click("Never")
    assert "Front" in page.read()
    with pytest.raises(ComputerError, match=late):
        page.go_to_url(address + "half")
    assert page.elements() == ['1 button "Half"']
    page.click("Half")


def test_lists_files_and_dates_are_filled_and_what_a_field_does_not_take_is_told(
    page: Browser, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.go_to_url(address + "fields")
    assert page.elements()[0] == "1 combobox \"Weight\" = 's'"
    (tmp_path / "up.txt").write_text("text")
    page.fill("Weight", "Large")
    page.fill("Upload", str(tmp_path / "up.txt"))
    page.fill("Day", "2026-01-31")
    assert page.read().endswith("l up.txt 2026-01-31")
    page.fill("Weight", "s")
    assert page.read().endswith("s up.txt 2026-01-31")
    with pytest.raises(ComputerError, match="Its options: 'Small', 'Large'"):
        page.fill("Weight", "Huge")
    with pytest.raises(ComputerError, match="There is no ~nobody-of-this-name/x"):
        page.fill("Upload", "~nobody-of-this-name/x")
    with pytest.raises(ComputerError, match="'Day' does not take '31 Jan', and is empty now"):
        page.fill("Day", "31 Jan")
    with pytest.raises(ComputerError, match="is in a list"):
        page.click("Large")
    shorten(monkeypatch, "ANSWER_SECONDS")
    with pytest.raises(ComputerError, match="'Fixed' cannot be written into"):
        page.fill("Fixed", "text")


def test_the_address_of_a_file_offers_it_and_leaves_the_page(
    page: Browser, address: str, tmp_path: Path
) -> None:
    page.go_to_url(address + "kept")
    assert "Orders" in page.read()
    until(lambda: page.downloads, "the file")
    page.downloads[-1].save_as(tmp_path / "kept.txt")
    assert (tmp_path / "kept.txt").read_bytes() == b"<h1>Second</h1>"


@pytest.mark.slow
def test_a_page_that_goes_on_to_another_by_itself_is_waited_for(
    page: Browser, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The page that comes takes longer than one may take to answer.
    shorten(monkeypatch, "ANSWER_SECONDS")
    page.go_to_url(address + "leaving")
    until(lambda: page.read() == "Second", "the next page")


def test_a_page_that_goes_on_without_end_is_stopped_and_can_be_read_and_left(
    page: Browser, address: str
) -> None:
    page.go_to_url(address + "restless")
    assert page.read() == "Restless"
    page.go_to_url(address + "restless")
    page.go_to_url(address + "more")
    assert page.read().startswith("Top")


def test_a_page_stays_where_an_address_has_nothing_to_show(page: Browser, address: str) -> None:
    page.go_to_url(address + "more")
    with pytest.raises(ComputerError, match="net::ERR_ABORTED"):
        page.go_to_url(address + "nothing")
    assert page.read().startswith("Top")


def test_a_page_that_is_left_while_it_is_read_is_kept_and_read_anew(
    page: Browser, address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page.go_to_url(address + "more")
    read_frame = browser_module.read_frame
    answers = ["of a page before"]

    def read_late(*arguments: Any) -> Any:
        if not answers:
            return read_frame(*arguments)
        # Playwright tells of the next pages while it waits for the answer.
        page._pages_seen += browser_module._MOST_PAGES
        return answers.pop()

    monkeypatch.setattr(browser_module, "read_frame", read_late)
    assert page.read().startswith("Top")
    assert "The page keeps loading other pages" in capsys.readouterr().out


@pytest.mark.slow
def test_a_button_that_is_covered_is_named_so(
    page: Browser, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.go_to_url(address + "late")
    monkeypatch.setattr(browser_module, "_LOADING_SECONDS", 2.0)
    with pytest.raises(ComputerError, match=r"Another element covers it.* Nothing was clicked"):
        page.click("Beneath")


@pytest.mark.slow
def test_a_button_that_is_disabled_is_named_so(
    page: Browser, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.go_to_url(address + "fields")
    monkeypatch.setattr(browser_module, "_LOADING_SECONDS", 2.0)
    with pytest.raises(ComputerError, match="It is disabled"):
        page.click("Order")


@pytest.mark.slow
def test_dialogs_without_end_are_told_of_only_for_a_while(
    page: Browser, address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page.go_to_url(address + "late")
    monkeypatch.setattr(browser_module, "_LOADING_SECONDS", 2.0)
    with pytest.raises(ComputerError):
        page.click("Nag")
    said = capsys.readouterr().out.splitlines()
    assert said == ["The page said 'Again'."] * 20 + ["The page opens more dialogs. They are not shown."]
    page.go_to_url(address + "more")
    assert "Top" in page.read()


@pytest.mark.slow
def test_a_page_whose_script_never_ends_can_be_left(
    page: Browser, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shorten(monkeypatch, "ANSWER_SECONDS")
    page.go_to_url(address + "endless")
    problem = until(lambda: find_problem(page), "the page to hang")
    assert "does not answer: a script on it may run without end" in problem
    page.go_to_url(address + "more")
    assert "Top" in page.read()


@pytest.mark.slow
def test_a_page_that_begins_to_hang_after_it_was_checked_is_not_waited_for_without_end(
    page: Browser, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shorten(monkeypatch, "ANSWER_SECONDS")
    page.go_to_url(address + "endless")
    until(lambda: not browser_module.is_answering(page.driver, 0.5), "the page to hang")
    with monkeypatch.context() as unchecked:
        unchecked.setattr(browser_module, "is_answering", lambda *_: True)
        problem = find_problem(page)
    assert "does not answer: a script on it may run without end" in problem
    page.go_to_url(address + "more")
    assert "Top" in page.read()


def test_a_page_cannot_notice_that_it_is_read(page: Browser, address: str) -> None:
    page.go_to_url(address + "watching")
    assert page.read() == "Watching"
    assert page.elements() == []
    page.go_to_url(address + "more")
    assert "Top" in page.read()


def test_what_cannot_be_done_is_a_sentence_and_nothing_is_clicked(page: Browser) -> None:
    for name, count in (("Nowhere", 0), ("Delete", 2)):
        text = rf"'{name}' is on the page {count} times\. Nothing was done"
        with pytest.raises(ComputerError, match=text) as raised:
            page.click(name)
        assert '5 button "Send"' in str(raised.value)
    with pytest.raises(ComputerError, match=r"The browser failed: Page\.goto: net::ERR_"):
        page.go_to_url("http://127.0.0.1:9/")


@pytest.mark.slow
@pytest.mark.parametrize("how", ["page", "browser", "driver"])
def test_a_browser_that_was_closed_or_killed_is_named_and_the_next_address_opens_it_again(
    page: Browser, address: str, how: str
) -> None:
    if how == "page":
        page.driver.close()
    else:
        name = b"node" if how == "driver" else b"chrom"
        found = [pid for pid in process_table.list_descendants(os.getpid()) if name in read_program(pid)]
        assert found
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    with pytest.raises(ComputerError, match=r"The browser was closed, or failed\. go_to_url opens it again"):
        page.read()
    page.go_to_url(address)
    assert "Orders" in page.read()


def find_problem(page: Browser) -> str:
    """Why the page cannot be read; "" where it can."""
    try:
        page.read()
    except ComputerError as error:
        return str(error)
    return ""


def read_program(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().partition(b"\0")[0]
    except OSError:
        return b""
