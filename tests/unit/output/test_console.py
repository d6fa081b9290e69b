"""What a program prints, kept at both ends."""

from pathlib import Path

import pytest

from oi_tui.engine.events import Event, MessageGrew, MessageRecorded
from oi_tui.engine.output.console import KEPT, ConsoleText, find_output_file
from oi_tui.engine.reply.message_builders import RunBuilder
from oi_tui.messages import Message, Printed
from tests.full_disk import full_disk


def record_in_pieces(text: str, folder: Path | None) -> str:
    """What is recorded of a text that comes in pieces."""
    with ConsoleText("run", folder) as console:
        for start in range(0, len(text), 60_000):
            console.write(text[start : start + 60_000])
        return console.content()


@pytest.mark.parametrize("before", ["", "\r\n", "start\n"])
@pytest.mark.parametrize("after", ["", "\r\n", "\r\n\r\n", "\nend"])
def test_of_one_long_line_both_ends_are_kept_and_the_rest_is_counted(
    before: str, after: str, tmp_path: Path
) -> None:
    text = f"{before}begin{'x' * 2_000_000}close{after}"
    content = record_in_pieces(text, tmp_path)
    head, mark, tail = content.partition("\n… ")
    assert head == text[: KEPT // 2]
    mark, _, tail = tail.partition(" …\n")
    assert mark == f"{len(text) - KEPT:,} characters not shown; all of it is in {tmp_path / 'run.txt'}"
    assert tail == text[-KEPT // 2 :]
    assert find_output_file(content, tmp_path) == tmp_path / "run.txt"
    assert (tmp_path / "run.txt").read_bytes().decode() == text


def test_a_line_of_a_program_about_a_file_whose_name_is_too_long_names_no_file(tmp_path: Path) -> None:
    content = f"… 5 lines not shown; all of it is in {tmp_path / ('x' * 300)} …\n"
    assert find_output_file(content, tmp_path) is None


def test_of_many_lines_whole_ones_are_kept(tmp_path: Path) -> None:
    content = record_in_pieces("".join(f"line {n}\n" for n in range(100_000)), tmp_path)
    head, _, rest = content.partition("… ")
    mark, _, tail = rest.partition(" …\n")
    count = int(mark.partition(" lines not shown")[0].replace(",", ""))
    assert head.count("\n") + count + tail.count("\n") == 100_000
    assert head.endswith("\n")
    assert tail.startswith("line ")
    assert find_output_file(content, tmp_path) is not None


@pytest.mark.parametrize("beyond", [-1000, 1000, 100_000])
def test_a_disk_that_is_full_costs_the_file_and_no_word_claims_that_it_is_whole(
    beyond: int, tmp_path: Path
) -> None:
    with full_disk(KEPT + beyond):
        content = record_in_pieces("a line\n" * (KEPT // 2), tmp_path)
    assert content.count(" lines not shown …\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_run_is_recorded_with_line_feeds_wherever_its_pieces_are_cut() -> None:
    writer = RunBuilder(Message(role="assistant", type="code", format="python"), None)
    events: list[Event] = []
    for piece in ("50%\r100%\r", "\n\x1b[31mred\x1b[0m\r", "\r\nlast\r"):
        events += writer.feed(Printed(piece))
    events += writer.finish()
    written = "50%\r100%\n\x1b[31mred\x1b[0m\nlast\r"
    shown = "50%\r100%\r\n\x1b[31mred\x1b[0m\r\r\nlast\r"
    assert "".join(event.text for event in events if isinstance(event, MessageGrew)) == shown
    assert [event.message.content for event in events if isinstance(event, MessageRecorded)] == [written]
