"""What clients of kernels get of a program's terminal output, in pieces cut anywhere."""

import re
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="starlette (extra server) is not installed here")

from oi_tui import runtimes
from oi_tui.messages import CLEAR_OUTPUT as CLEAR
from oi_tui.server.kernels.cell_stream import CellStream


def show(text: str) -> str:
    """Show text as a client of Jupyter does, which knows no escape sequence but a carriage return."""
    assert "\x1b" not in text
    lines = []
    for line in text.split("\n"):
        shown = ""
        for part in line.split("\r"):
            shown = part + shown[len(part) :]
        lines.append(shown.rstrip())
    return "\n".join(lines)


def send(stream: CellStream, *pieces: str) -> str:
    """Return what a client has at the end, when each piece is sent by itself."""
    sent = ""
    for piece in pieces:
        text = stream.add(piece) + stream.flush()
        sent = text if stream.pop_clear() else sent + text
    return sent


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("\r 0%|   |\r50%|#  |\r100%|##|\r\nend\r\n", "100%|##|\nend\n"),
        ("downloading\r\x1b[Kdone\r\n", "done\n"),
        ("long line\rshort\x1b[K\r\nnext", "short\nnext"),
        ("wait |\b/\b-\b \b\r\nready", "wait\nready"),
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07text\r\n", "red text\n"),
        (f"gone\r\n50%{CLEAR}kept\r\n", "kept\n"),
        (f"a{CLEAR}b{CLEAR}", ""),
        ("half \ud83d\r\n", "half �\n"),
        ("plain\r\ntext", "plain\ntext"),
    ],
)
def test_a_client_shows_what_a_terminal_would_wherever_the_output_is_cut(written: str, shown: str) -> None:
    assert show(send(CellStream(), written)) == shown
    assert show(send(CellStream(), *written)) == shown
    for cut in range(len(written)):
        assert show(send(CellStream(), written[:cut], written[cut:])) == shown


def test_a_line_without_an_end_is_sent_once() -> None:
    stream = CellStream()
    pieces = [stream.add("x" * 3_000) + stream.flush() for _ in range(10)]
    assert "".join(pieces) == "x" * 30_000


def test_a_cleared_output_is_waited_for_no_longer_than_a_prompt() -> None:
    stream = CellStream()
    waits = []
    for text in ("text\n", CLEAR):
        stream.add(text)
        waits.append(stream.timeout is not None)
    cleared = [stream.pop_clear() for _ in range(2)]
    waits.append(stream.timeout is not None)
    assert (waits, cleared) == ([False, True, False], [True, False])


def test_the_sequence_is_the_one_that_python_cells_write() -> None:
    source = Path(runtimes.__file__).parent / "drivers" / "python" / "values" / "python_display.py"
    (written,) = re.findall(r'^_CLEAR = "(.*)"$', source.read_text(encoding="utf-8"), re.MULTILINE)
    assert written.encode().decode("unicode_escape") == CLEAR
