"""The desktop at work, with a pointer that the test moves."""

import os
import socket

import pytest

from oi_tui import computer_api
from oi_tui.computer import bridge, cells
from oi_tui.computer.desktop.key_names import find_symbol
from oi_tui.computer.desktop.session import DesktopSession
from oi_tui.computer.errors import ComputerError, Paused


class Pointer:
    knows_places = True
    is_closed = False
    notices_input = False

    def __init__(self) -> None:
        self.at = 0, 0

    def position(self) -> tuple[int, int]:
        return self.at

    def move(self, x: int, y: int) -> None:
        self.at = x, y

    def wait_for_rest(self) -> None:
        pass

    def release_leftovers(self) -> None:
        pass


def test_a_grant_for_typing_in_a_window_includes_only_keys_that_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cells, "are_counted", lambda: True)
    monkeypatch.setattr(bridge, "read_confinement", lambda: '[[1, "Notes", 9, ["types"]]]')
    session = DesktopSession(Pointer())  # type: ignore[arg-type]
    for name in ("a", "ü", "+", "plus", "enter", "\n", "f5", "ctrl", "Shift_L", "kpenter", "up"):
        session.require_key(find_symbol(name))
    for name in (
        *("Pointer_EnableKeys", "Pointer_Button1", "Terminate_Server", "AccessX_Enable", "SlowKeys_Enable"),
        *("numlock", "alt", "win", "altgr", "printscreen", "volumeup", "Hyper_L", "Sys_Req", "0xfee9"),
    ):
        with pytest.raises(ComputerError, match="was not pressed"):
            session.require_key(find_symbol(name))


@pytest.mark.parametrize("interrupted", ["say_control", "stop", "pause"])
def test_it_is_reported_once_why_code_stops_wherever_the_interrupt_comes(
    interrupted: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cells, "_when_stopped", [])
    monkeypatch.setattr(cells, "_when_ended", [])
    monkeypatch.setattr(DesktopSession, "_send_to_guard", lambda *_: None)  # there is no guard
    pointer = Pointer()
    session = DesktopSession(pointer)  # type: ignore[arg-type]
    session.move(50, 50)
    pointer.move(900, 700)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(bridge, interrupted, interrupt)
        with pytest.raises(KeyboardInterrupt):
            session.check()
    cells.end(finished=False)
    assert capsys.readouterr().out.count("The user moved the mouse") == 1


@pytest.mark.parametrize(("confined", "hand"), [(True, False), (False, True)])
def test_a_hand_at_the_moment_of_a_movement_is_told_from_an_edge(
    confined: bool, hand: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "_when_stopped", [])
    monkeypatch.setattr(cells, "_when_ended", [])
    monkeypatch.setattr(DesktopSession, "_send_to_guard", lambda *_: None)  # there is no guard
    stops: list[bool] = []
    monkeypatch.setattr(bridge, "stop", lambda: stops.append(True))

    class Held(Pointer):
        """Lets the pointer no farther than 100 pixels to the right, or is moved by hand once."""

        moves = 0

        def move(self, x: int, y: int) -> None:
            self.moves += 1
            self.at = (min(x, 100), y) if confined else (x, y)
            if hand and self.moves == 2:
                self.at = 400, 400

    session = DesktopSession(Held())  # type: ignore[arg-type]
    session.move(50, 50)
    if hand:
        with pytest.raises(Paused):
            session.move(300, 50)
    else:
        session.move(300, 50)
        session.check()
    assert stops == [True] * hand


def test_a_guard_that_cannot_start_writes_nothing_on_our_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    here, there = socket.socketpair()
    with here:
        computer_api._start_guard(there, os.getpid(), {"DISPLAY": ":nowhere"})
        assert here.recv(1) == b""
    assert capfd.readouterr() == ("", "")


def test_a_guard_that_died_has_no_news() -> None:
    here, there = socket.socketpair()
    with here:
        # What it did not read makes the end of the connection an error.
        here.sendall(b"pointer 1 1\n")
        there.close()
        pipes = bridge.GuardPipes(here.makefile("wb"), here.makefile("rb", buffering=0))
        assert pipes.read_news() == b""
        pipes.close()


def test_an_error_at_the_end_of_a_cell_is_printed_and_the_rest_is_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done: list[str] = []

    def fail() -> None:
        raise OSError("the screen is gone")

    monkeypatch.setattr(cells, "_when_stopped", [fail, lambda: done.append("stopped")])
    monkeypatch.setattr(cells, "_when_ended", [fail, lambda: done.append("ended")])
    cells.end(finished=False)
    assert done == ["stopped", "ended"]
    assert capsys.readouterr().err.count("OSError: the screen is gone") == 2
