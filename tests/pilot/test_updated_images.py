"""Images that a cell shows anew, with a real Python."""

import sys
from pathlib import Path

import pytest
from PIL import Image

from oi_tui.engine.export.formats import FORMATS, export
from oi_tui.engine.output.model_output import shorten_for_model
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
            await chat.reached(lambda: chat.cells[-1].images[0].file)
            (image,) = chat.cells[-1].images
            with Image.open(image.file) as kept:
                assert kept.size == (24, 8)
            images = [message for message in chat.session.messages if message.type == "image"]
            assert [image.id for image in images] == [image.message.id]
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
            assert len(chat.cells[-1].images) == 1
    finally:
        computer.close()


SHOWN = """from PIL import Image
image = display(Image.new("RGB", (8, 8), "red"), display_id="image")
text = display("first", display_id=True)
print("end of the cell")
"""
UPDATED = """print("the next cell")
text.update("second")
image.update(Image.new("RGB", (16, 8), "blue"))
text.update("third")
print("its end")
"""


async def test_a_later_cell_updates_what_an_earlier_one_displayed(tmp_path: Path) -> None:
    pytest.importorskip("PIL", reason="Pillow is not installed")
    computer = Computer(cwd=tmp_path, python=sys.executable)
    try:
        async with chatting(computer) as chat:
            await chat.run(SHOWN)
            await chat.finished()
            await chat.run(UPDATED)
            await chat.reached(lambda: chat.shows("its end"))
            await chat.finished()
            first, second = chat.cells
            assert first.output.text.plain().split() == ["'third'", "end", "of", "the", "cell"]
            assert [image.message.content for image in second.images] == []
            assert second.output.text.plain().split() == ["the", "next", "cell", "its", "end"]
            assert chat.shows("image 16x8")
            assert not chat.shows("image 8x8")
            conversation, messages = chat.conversation, chat.session.messages
            told = [
                shorten_for_model([m for m in messages if m.parent == cell.key], 0) for cell in chat.cells
            ]
        async with chatting(computer, conversation) as chat:
            await chat.reached(lambda: chat.shows("'third'"))
            assert not any(chat.shows(gone) for gone in ("'first'", "'second'", "image 8x8"))
        assert ("'third'" in told[0], "'first'" in told[0]) == (True, False)
        assert told[1].endswith("its end\n[The output of cell 1 was updated.]")
        for name in ("markdown", "notebook", "html"):
            (page,) = export(FORMATS[name], "t", messages, tmp_path / f"page-{name}")
            written = page.read_text().replace("&#x27;", "'")
            assert ("'third'" in written, "'first'" in written, "'second'" in written) == (True, False, False)
            assert written.index("'third'") < written.index("the next cell", written.index("its end") - 80)
    finally:
        computer.close()
