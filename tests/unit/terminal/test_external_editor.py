"""The person's own editor, outside of the application."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from oi_tui.terminal import external_editor


@pytest.fixture
def own_signals() -> Iterator[None]:
    """The application's own handler, which the event loop would call later."""
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    yield
    signal.signal(signal.SIGTERM, before)


class SignalAtStart(subprocess.Popen[bytes]):
    """A program whose start is also the moment of a signal."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        signal.raise_signal(signal.SIGTERM)


@pytest.mark.usefixtures("own_signals")
def test_a_signal_that_comes_as_the_editor_starts_ends_the_editor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "editor"
    editor.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(20)\n")
    editor.chmod(0o700)
    monkeypatch.setattr(subprocess, "Popen", SignalAtStart)
    assert external_editor._run_until_signal([str(editor)]) == -signal.SIGTERM


@pytest.mark.needs("sh")
def test_ctrl_c_in_the_editor_is_for_the_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = tmp_path / "editor"
    # ctrl+c sends the signal to all programs of the terminal.
    editor.write_text('#!/bin/sh\ntrap : INT\nkill -INT $PPID $$\nprintf edited >"$1"\n')
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(editor))
    before = signal.getsignal(signal.SIGINT)
    assert external_editor.edit("text", ".md") == ("edited", "")
    assert signal.getsignal(signal.SIGINT) is before
