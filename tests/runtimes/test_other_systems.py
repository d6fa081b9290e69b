"""Languages of other systems, as far as a program that stands in for theirs can try them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from oi_tui.runtimes import Computer
from oi_tui.runtimes.language import DRIVERS
from tests.runtimes.playing import play
from tests.runtimes.stand_ins import python_lines, stand_in

Make = Callable[..., Computer]
#: Speaks on the channel as the driver of PowerShell does, and prints each cell.
POWERSHELL = f"""
import os, sys, time
sys.path.insert(0, {str(DRIVERS)!r})
from plain_channel import Channel
if sys.argv[1:] == ['--version']:
    print('PowerShell 7.4.6')
    sys.exit()
def run(code):
    if code == 'wait':
        print('go', flush=True)
        time.sleep(60)
    print(code, os.environ['POWERSHELL_TELEMETRY_OPTOUT'], os.environ['POWERSHELL_UPDATECHECK'])
    return 'finished', None
Channel(sys.argv[-1]).serve(run)
"""


def test_powershell_is_given_its_driver_and_sends_nothing_to_anybody(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = stand_in(tmp_path, "pwsh", python_lines(POWERSHELL), monkeypatch)
    computer = make()
    assert computer.describe("powershell") == "PowerShell 7.4.6"
    played = play(computer, "ps1", "Get-Date")
    assert (played.text, played.state) == ("Get-Date 1 Off\n", "finished")
    driver = given.read_text().splitlines()[-2]
    assert Path(driver).is_file()
    assert play(computer, "pwsh", "wait", stop_at="go").state == "interrupted"
    assert play(computer, "powershell", "1").text == "1 1 Off\n"


def test_the_driver_of_powershell_is_whole() -> None:
    """What can be seen without PowerShell: every bracket has its partner, whatever the strings hold."""
    text = (DRIVERS / "powershell_driver.ps1").read_text(encoding="ascii")
    for opening, closing in ("{}", "()", "[]"):
        # One bracket is the beginning of an escape sequence, in a string.
        assert text.count(opening) == text.count(closing) - (opening == "[")


def test_applescript_runs_in_osascript_with_its_status_and_its_stop(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    does = 'case $(cat "$1") in wait) echo go; sleep 60;; bad) echo oops >&2; exit 1;; *) cat "$1";; esac'
    stand_in(tmp_path, "osascript", does, monkeypatch)
    computer = make()
    assert play(computer, "applescript", "beep\n").text == "beep\n"
    played = play(computer, "osascript", "bad")
    assert (played.state, played.reason, played.text) == ("failed", "exit status 1", "oops\n")
    assert play(computer, "applescript", "wait", stop_at="go").state == "interrupted"
    assert play(computer, "applescript", "again").text == "again"


def test_applescript_elsewhere_says_where_it_is(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    played = play(make(), "applescript", "beep")
    assert (played.state, played.reason) == (
        "failed",
        "AppleScript is not installed. It is a part of macOS and runs only there.",
    )
