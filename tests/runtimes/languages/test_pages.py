"""Pages: kept as files, opened where there is a display, captured by a headless browser."""

import base64
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from oi_tui import paths
from oi_tui.runtimes import Computer
from oi_tui.runtimes.drivers import react_page  # type: ignore[attr-defined]
from tests.runtimes.playing import play, until
from tests.runtimes.stand_ins import stand_in

Make = Callable[..., Computer]
SCREENSHOT = b"\x89PNG screenshot"
#: Takes a "screenshot" as Chromium would.
TAKES = (
    """for word; do case $word in --screenshot=*) printf '\\211PNG screenshot' >"${word#*=}";; esac; done"""
)


@pytest.fixture(autouse=True)
def no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A browser that takes screenshots; the file with what it was given."""
    return stand_in(tmp_path, "chromium", TAKES, monkeypatch)


def list_kept_pages() -> list[Path]:
    return sorted((paths.data() / "pages").glob("*.html"))


def test_a_page_is_kept_for_its_owner_only_and_told_where(make: Make, browser: Path) -> None:
    page = "<!DOCTYPE html>\r\n<h1>grüße</h1>\n"
    played = play(make(), "html", page)
    assert played.state == "finished"
    (path,) = list_kept_pages()
    assert path.read_bytes() == page.replace("\r\n", "\n").encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert f"Saved as {path}\n" in played.text
    assert "there is no display" in played.text


def test_a_screenshot_is_taken_without_the_network(make: Make, browser: Path) -> None:
    played = play(make(), "html", "<p>hello")
    assert [base64.b64decode(shown.content) for shown in played.shown] == [SCREENSHOT]
    given = browser.read_text().splitlines()
    assert {"--headless", "--proxy-server=127.0.0.1:9", "--proxy-bypass-list=<-loopback>"} <= set(given)
    assert given[-1] == list_kept_pages()[0].as_uri()
    assert "network" not in played.text


@pytest.mark.parametrize(
    "page",
    [
        "<script src='https://example.invalid/x.js'></script>",
        "<img src=//example.invalid/x.png>",
        "<style>body { background: url(https://example.invalid/x.png) }</style>",
    ],
)
def test_what_the_screenshot_lacks_is_reported(make: Make, browser: Path, page: str) -> None:
    assert "what the page loads from there is not in it" in play(make(), "html", page).text


def test_every_run_keeps_a_page_of_its_own(make: Make, browser: Path) -> None:
    computer = make()
    for number in range(3):
        assert play(computer, "html", f"<p>{number}").state == "finished"
    assert {path.read_text() for path in list_kept_pages()} == {"<p>0", "<p>1", "<p>2"}


@pytest.mark.parametrize("fails", ["exit 3", "kill -9 $$"])
def test_a_browser_that_fails_costs_the_screenshot_only(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    stand_in(tmp_path, "chromium", fails, monkeypatch)
    played = play(make(), "html", "<p>hello")
    assert (played.state, played.shown) == ("finished", [])
    assert "No screenshot of it: chromium ended with exit status" in played.text
    assert len(list_kept_pages()) == 1


def test_a_browser_that_hangs_can_be_stopped(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, "chromium", "exec sleep 60", monkeypatch)
    computer = make()
    played = play(computer, "html", "<p>hello", stop_at="Saved as")
    assert played.state == "interrupted"
    assert played.seconds < 10
    stand_in(tmp_path, "chromium", TAKES, monkeypatch)
    assert play(computer, "html", "<p>again").shown


def test_what_a_browser_leaves_behind_is_removed(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    stand_in(tmp_path, "chromium", f'touch "$TMPDIR/left-by-it"\n{TAKES}', monkeypatch)
    assert play(make(), "html", "<p>hello").shown
    assert not list(tmp_path.rglob("left-by-it"))


def test_a_page_is_opened_where_there_is_a_display(
    make: Make, tmp_path: Path, browser: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.setenv("SOME_API_KEY", "sk-1")
    opened = stand_in(tmp_path, "xdg-open", f'printenv >"{tmp_path}/environment"', monkeypatch)
    computer = make()
    assert "opened in your browser" in computer.describe("html")
    played = play(computer, "html", "<p>hello")
    assert "Opened in the browser.\n" in played.text
    until(lambda: opened.exists() and (tmp_path / "environment").exists())
    assert opened.read_text().strip() == list_kept_pages()[0].as_uri()
    until(lambda: "DISPLAY=:7" in (tmp_path / "environment").read_text())
    assert "sk-1" not in (tmp_path / "environment").read_text()


def test_a_component_is_wrapped_into_a_page_that_loads_react_when_it_is_opened(
    make: Make, browser: Path
) -> None:
    computer = make()
    assert "unpkg.com" in computer.describe("react")
    played = play(computer, "jsx", "function App() { return <h1>hello</h1> }")
    assert played.state == "finished"
    page = list_kept_pages()[0].read_text()
    assert "function App() { return <h1>hello</h1> }" in page
    assert "React.createElement(App)" in page
    assert "https://unpkg.com/react@18/" in page
    assert "It loads React and Babel from unpkg.com whenever it is opened." in played.text
    assert (played.shown, browser.exists()) == ([], False)


def test_react_is_taken_from_the_project_where_it_has_it(make: Make, tmp_path: Path, browser: Path) -> None:
    for name, _ in react_page._LIBRARIES:
        file = tmp_path / "node_modules" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    played = play(make(), "react", "export default () => <p>hello</p>")
    assert "unpkg" not in list_kept_pages()[0].read_text() + played.text
    assert (tmp_path / "node_modules").as_uri() in list_kept_pages()[0].read_text()
    assert len(played.shown) == 1


@pytest.mark.parametrize(
    ("code", "component", "kept_code"),
    [
        ("const App = () => <p/>\nconst Other = () => <App/>", "App", "const Other"),
        ("function One() {}\nfunction Two() {}", "Two", "function Two() {}"),
        ("import { useId } from 'react';\nexport default function Main() {}", "Main", "\nfunction Main"),
        ("class Big extends React.Component {}\nexport default Big;", "Big", "class Big"),
        ("export default () => <p/>", "Component_", "const Component_ = () => <p/>"),
        ("export const Named = () => <p/>", "Named", "const Named"),
        ("function One() {}\nfunction Two() {}\nexport { One as default, Two };", "One", "function Two() {}"),
        ("const App = () => <p/>\nexport {\n  App\n}\nconst Late = 1", "App", "\n\n\n\nconst Late = 1"),
        ("const App = () => <p>{'</script>'}</p>", "App", "<\\/script>"),
    ],
)  # fmt: skip
def test_the_component_to_show_is_found(code: str, component: str, kept_code: str, tmp_path: Path) -> None:
    page, _ = react_page.page(code, str(tmp_path))
    assert f"createElement({component})" in page
    assert kept_code in page
    assert "export" not in page.partition('<div id="root">')[2]


def test_a_component_that_renders_itself_is_left_to_it(tmp_path: Path) -> None:
    code = "import { createRoot } from 'react-dom/client'\ncreateRoot(document.body).render(<p/>)"
    page, _ = react_page.page(code, str(tmp_path))
    assert "createRoot(document.body).render(<p/>)" in page
    assert "React.createElement(" not in page


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import { Line } from 'recharts'\nconst App = () => <Line/>", "it cannot import recharts"),
        ("const x = 1", "There is no component to show"),
    ],
)
def test_a_component_that_cannot_be_shown_says_why(make: Make, code: str, reason: str) -> None:
    played = play(make(), "react", code)
    assert played.state == "failed"
    assert reason in played.reason
    assert list_kept_pages() == []


def test_a_page_that_cannot_be_saved_fails_the_cell_and_names_the_folder(make: Make, browser: Path) -> None:
    folder = paths.data() / "pages"
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.touch()
    computer = make()
    played = play(computer, "html", "<p>hello")
    assert (played.state, played.text) == ("failed", "")
    assert played.reason == f"the page cannot be saved in {folder}: File exists"
    folder.unlink()
    assert play(computer, "html", "<p>hello").state == "finished"


def test_a_component_in_a_folder_that_was_deleted_fails_and_says_so(
    make: Make, tmp_path: Path, browser: Path
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    computer = make(cwd=folder)
    assert play(computer, "react", "").state == "finished"
    folder.rmdir()
    played = play(computer, "react", "const App = () => <p/>")
    assert (played.state, played.text) == ("failed", "")
    assert played.reason.startswith("the working directory cannot be used")
