"""Images that a cell shows anew, with a real Python."""

import sys
from pathlib import Path

import pytest
from PIL import Image

from oi_tui.runtimes import Computer
from tests.pilot.test_inline_tables import chatting

CODE = """from PIL import Image
handle = display(Image.new("RGB", (8, 8), "red"), display_id=True)
print("between")
for size in (16, 24):
    handle.update(Image.new("RGB", (size, 8), "blue"))
"""


async def test_an_updated_image_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    pytest.importorskip("PIL", reason="Pillow is not installed")
    computer = Computer(cwd=tmp_path, python=sys.executable)
    try:
        async with chatting(computer) as chat:
            await chat.run(CODE)
            await chat.reached(lambda: chat.shows("image 24x8"))
            await chat.finished()
            assert not chat.shows("image 8x8")
            (picture,) = chat.cells[-1].pictures
            with Image.open(picture.file) as kept:
                assert kept.size == (24, 8)
            images = [message for message in chat.session.messages if message.type == "image"]
            assert [image.id for image in images] == [picture.message.id]
            assert chat.shows("between")
    finally:
        computer.close()


LOOP = """from PIL import Image
for size in (8, 16, 24):
    print("\\x1b[9999A\\r\\x1b[J", end="")  # clear_output(wait=True)
    display(Image.new("RGB", (size, 8), "red"))
    print("step", size)
"""


async def test_a_loop_that_clears_its_output_leaves_one_image(tmp_path: Path) -> None:
    pytest.importorskip("PIL", reason="Pillow is not installed")
    computer = Computer(cwd=tmp_path, python=sys.executable)
    try:
        async with chatting(computer) as chat:
            await chat.run(LOOP)
            await chat.reached(lambda: chat.shows("step 24"))
            await chat.finished()
            assert chat.shows("image 24x8")
            assert not any(chat.shows(gone) for gone in ("image 8x8", "image 16x8", "step 16"))
            conversation = chat.conversation
        async with chatting(computer, conversation) as chat:
            await chat.reached(lambda: chat.shows("step 24"))
            assert len(chat.cells[-1].pictures) == 1
    finally:
        computer.close()
