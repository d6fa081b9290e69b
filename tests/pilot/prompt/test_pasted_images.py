"""ctrl+v in the prompt, with an image on the clipboard of a desktop."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from oi_tui.engine.llm.base import Text
from tests.computer.desktop import screen, until
from tests.computer.wayland import Recorder, compositor
from tests.pilot.prompt.test_mentions import PNG
from tests.pilot.test_chat import open_chat


def formats(argv: list[str]) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout


@pytest.fixture
def desktop(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An X11 or a Wayland desktop whose clipboard has an image."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "image.png").write_bytes(PNG)
    with ExitStack() as stack:
        if request.param == "x11":
            monkeypatch.setenv("DISPLAY", stack.enter_context(screen()))
            argv = ["xclip", "-selection", "clipboard", "-t", "image/png", "-i", str(tmp_path / "image.png")]
            listing = ["xclip", "-selection", "clipboard", "-t", "TARGETS", "-o"]
        else:
            variables = stack.enter_context(compositor(tmp_path / "run"))
            for name, value in variables.items():
                monkeypatch.setenv(name, value)
            stack.callback(Recorder(tmp_path / "log", variables).close)
            argv, listing = ["wl-copy", "--type", "image/png"], ["wl-paste", "--list-types"]
        with (tmp_path / "image.png").open("rb") as file:
            subprocess.run(argv, stdin=file, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        until(lambda: "image/png" in formats(listing), "the image")
        yield request.param


@pytest.mark.slow
@pytest.mark.parametrize(
    "desktop",
    [
        pytest.param("x11", marks=pytest.mark.needs("Xvfb", "openbox", "xclip")),
        pytest.param("wayland", marks=pytest.mark.needs("sway", "foot", "setpriv", "wl-copy")),
    ],
    indirect=True,
)
async def test_an_image_on_the_clipboard_goes_to_the_model(desktop: str) -> None:
    async with open_chat([Text("I see.")], supports_vision=True) as ui:
        await ui.type("see", "ctrl+v")
        await ui.until(lambda: ".png " in ui.prompt)
        await ui.pilot.press("enter")
        await ui.idle()
        images = [m.content for m in ui.view.session.messages if m.type == "image"]
        assert [Path(image).read_bytes() for image in images] == [PNG]
        assert Path(images[0]).stat().st_mode & 0o077 == 0


async def test_over_ssh_it_is_said_how_to_send_an_image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "127.0.0.1 1 127.0.0.1 22")
    monkeypatch.setenv("DISPLAY", ":0")
    async with open_chat([]) as ui:
        await ui.type("see", "ctrl+v")
        await ui.until(lambda: any("over ssh" in note.message for note in ui.app._notifications))
        assert ui.prompt == "see"
        ui.app.copy_to_clipboard(" this")
        await ui.pilot.press("ctrl+v")
        await ui.until(lambda: ui.prompt == "see this")
