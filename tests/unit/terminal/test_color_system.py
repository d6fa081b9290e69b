"""Colours of terminals whose name does not tell how many they show."""

import os

import pytest

from oi_tui.cli import main

XTERM = {"TERM": "xterm", "XTERM_VERSION": "XTerm(379)"}


@pytest.mark.parametrize(
    ("environment", "chosen"),
    [
        (XTERM, "truecolor"),
        (XTERM | {"TEXTUAL_COLOR_SYSTEM": "standard"}, "standard"),
        (XTERM | {"XTERM_VERSION": "XTerm(330)"}, None),
        (XTERM | {"XTERM_VERSION": "odd"}, None),
        (XTERM | {"TERM": "screen"}, None),
        ({"TERM": "xterm"}, None),
    ],
)
def test_xterm_gets_all_colours_unless_something_else_is_said(
    environment: dict[str, str], chosen: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", environment.copy())
    main._tune_textual()
    assert os.environ.get("TEXTUAL_COLOR_SYSTEM") == chosen
