"""Images: as half blocks, for Kitty, as sixels, and in words what cannot be drawn."""

import asyncio
import base64
import io
import os
import re
import threading
import time
import zlib
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageStat

from oi_tui.messages import Message
from oi_tui.themes import DARK, LIGHT
from oi_tui.widgets.conversation.rows import Row
from oi_tui.widgets.conversation.styles import Styles, get_styles
from oi_tui.widgets.images import renderer
from oi_tui.widgets.images.half_blocks import strengthen_lines
from oi_tui.widgets.images.image import WIDEST, ImageRow, fit_size
from oi_tui.widgets.images.kitty import MOST, NUMBERS, PLACEHOLDER, KittyImages
from oi_tui.widgets.images.protocol import ImageSupport
from oi_tui.widgets.images.renderer import RenderRequest, draw_image
from oi_tui.widgets.images.sixel import encode_sixel
from oi_tui.widgets.truncate import measure_width
from tests.graphics_terminal import Record, commands

LOOK = get_styles(DARK)


def encoded(image: Image.Image, form: str = "PNG", **options: object) -> str:
    data = io.BytesIO()
    image.save(data, form, **options)  # type: ignore[arg-type]
    return base64.b64encode(data.getvalue()).decode()


def plain(rows: list[Row]) -> list[str]:
    return [row.plain for row in rows]


def message(content: str, format: str = "base64.png") -> Message:
    return Message(role="computer", type="image", format=format, content=content)


async def draw_rows(
    content: str, width: int = 40, look: Styles = LOOK, format: str = "base64.png"
) -> list[Row]:
    """The rows of an image once it was seen and drawn."""
    done = asyncio.Event()
    image = ImageRow(message(content, format), "", done.set)
    rows = image.rows(width, look)
    image.note_seen()
    if len(rows) > 1:
        await asyncio.wait_for(done.wait(), 30)
    return image.rows(width, look)


async def test_two_pixels_make_a_cell() -> None:
    image = Image.new("RGB", (2, 2), "#ff0000")
    image.putpixel((0, 1), (0, 0, 255))
    rows = await draw_rows(encoded(image))
    assert plain(rows) == ["▀▀", "image 2x2"]
    style = rows[0].segments[0].style
    assert style is not None
    assert style.color is not None
    assert style.bgcolor is not None
    assert tuple(style.color.get_truecolor()) == (255, 0, 0)
    assert tuple(style.bgcolor.get_truecolor()) == (0, 0, 255)


@pytest.mark.parametrize(
    ("size", "room"), [((4000, 100), 80), ((100, 4000), 80), ((640, 480), 30), ((1, 1), 80)]
)
async def test_images_fit(size: tuple[int, int], room: int) -> None:
    rows = (await draw_rows(encoded(Image.new("RGB", size)), room))[:-1]
    assert 1 <= len(rows) <= LOOK.image_support.highest
    assert all(1 <= len(row.plain) <= min(WIDEST, room) for row in rows)


async def test_an_image_has_its_height_before_it_is_drawn_and_keeps_it() -> None:
    content = encoded(Image.effect_noise((640, 480), 60))
    before = ImageRow(message(content), "", lambda: None).rows(60, LOOK)
    assert [row.plain.strip() for row in before[:-1]] == [""] * 16
    assert len(await draw_rows(content, 60)) == len(before)


@pytest.mark.parametrize("theme", [DARK, LIGHT])
async def test_what_can_be_seen_through_shows_the_ground(theme: object) -> None:
    look = get_styles(theme)  # type: ignore[arg-type]
    rows = await draw_rows(encoded(Image.new("RGBA", (2, 2), (0, 0, 0, 0))), look=look)
    style = rows[0].segments[0].style
    assert style is not None
    assert look.base.bgcolor is not None
    assert style.color == look.base.bgcolor


@pytest.mark.parametrize(("ink", "ground"), [((0, 0, 0), (18, 18, 18)), ((255, 255, 255), (250, 250, 250))])
def test_a_drawing_that_would_be_lost_in_the_ground_gets_another(
    ink: tuple[int, int, int], ground: tuple[int, int, int]
) -> None:
    image = Image.new("RGBA", (40, 40), (0, 0, 0, 0))
    image.paste((*ink, 255), (10, 10, 30, 30))
    request = RenderRequest("base64.png", encoded(image), 20, 10, "kitty", (2, 4), ground)
    result = Image.open(io.BytesIO(draw_image(request).png))
    assert result.getpixel((20, 20)) == ink
    assert result.getpixel((0, 0)) == tuple(255 - item for item in ink)


#: What programs and persons bring along: each can be drawn.
SORTS = {
    "palette": encoded(Image.effect_noise((64, 48), 60).convert("P")),
    "palette with a hole": encoded(Image.new("P", (64, 48)), transparency=0),
    "one bit": encoded(Image.new("1", (64, 48))),
    "grey and alpha": encoded(Image.new("LA", (64, 48))),
    "sixteen bits": encoded(Image.new("I;16", (64, 48), 60_000)),
    "animation": encoded(
        Image.new("RGB", (64, 48)),
        "GIF",
        save_all=True,
        append_images=[Image.new("RGB", (64, 48), "red")] * 30,
    ),
    "CMYK photograph": encoded(Image.new("CMYK", (64, 48)), "JPEG"),
    "WebP": encoded(Image.new("RGBA", (64, 48)), "WEBP"),
}


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("protocol", ["blocks", "kitty", "sixel"])
async def test_every_sort_of_image_is_drawn(sort: str, protocol: str) -> None:
    request = RenderRequest("base64.png", SORTS[sort], 20, 8, protocol, (8, 16), (0, 0, 0))  # type: ignore[arg-type]
    result = draw_image(request)
    assert result.error == ""
    assert result.blocks or result.png


def test_sixteen_bits_keep_their_brightness() -> None:
    request = RenderRequest("base64.png", SORTS["sixteen bits"], 4, 2, "kitty", (8, 16), (0, 0, 0))
    grey = Image.open(io.BytesIO(draw_image(request).png)).getpixel((5, 5))
    assert isinstance(grey, tuple)
    assert abs(grey[0] - 60_000 / 257) < 3


def test_a_photograph_stands_upright() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was held on its side
    image = Image.new("RGB", (80, 40), "blue")
    image.paste((255, 0, 0), (0, 0, 40, 40))
    content = encoded(image, "JPEG", exif=exif)
    rows = ImageRow(message(content, "base64.jpeg"), "", lambda: None).rows(80, LOOK)
    assert rows[-1].plain == "image 40x80"
    request = RenderRequest("base64.jpeg", content, 4, 4, "kitty", (10, 20), (0, 0, 0))
    result = Image.open(io.BytesIO(draw_image(request).png))
    red, blue = result.getpixel((20, 5)), result.getpixel((20, 75))
    assert isinstance(red, tuple)
    assert isinstance(blue, tuple)
    assert red[0] > 200 > 60 > red[2]
    assert blue[2] > 200 > 60 > blue[0]


def forged(width: int, height: int, *, interlaced: bool = False) -> str:
    """A small file that says it is an image of that size."""
    data = bytearray(base64.b64decode(encoded(Image.new("1", (8, 8) if width > 1 else (1, 1)))))
    data[16:24] = width.to_bytes(4) + height.to_bytes(4)
    data[28] = interlaced
    data[29:33] = zlib.crc32(bytes(data[12:29])).to_bytes(4)
    return base64.b64encode(bytes(data)).decode()


async def test_an_interlaced_image_is_drawn() -> None:
    assert plain(await draw_rows(forged(1, 1, interlaced=True))) == ["▀", "image 1x1"]


@pytest.mark.parametrize("place", range(8, 300, 7))
async def test_a_damaged_byte_costs_no_more_than_the_image(place: int) -> None:
    data = bytearray(base64.b64decode(encoded(Image.effect_noise((40, 30), 60))))
    data[place] ^= 0xFF
    rows = await draw_rows(base64.b64encode(bytes(data)).decode())
    assert rows[-1].plain.startswith("image ")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "@@@@",
        "bm90IGEgcGljdHVyZQ==",
        base64.b64encode(b"<svg xmlns='http://www.w3.org/2000/svg'/>").decode(),
        base64.b64encode(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n").decode(),
        encoded(Image.effect_noise((90, 90), 90))[:2000],
        forged(100_000, 100_000),
        forged(60_000, 60_000),
        forged(9_000, 9_000),
        forged(0, 7),
    ],
)
async def test_what_cannot_be_drawn_is_reported_in_one_line(content: str) -> None:
    began = time.monotonic()
    rows = await draw_rows(content)
    assert len(rows) == 1
    assert rows[0].plain.startswith("image cannot be shown (")
    assert time.monotonic() - began < 20


async def test_a_file_is_named_and_drawn(tmp_path: Path) -> None:
    path = tmp_path / "plot\x1b.png"
    Image.new("RGB", (8, 8)).save(path)
    rows = await draw_rows(str(path), format="path")
    assert rows[-1].text == f"image 8x8 · {tmp_path}/plot␛.png"
    # Where the path is longer than the line, its name is what is left of it.
    assert rows[-1].plain.startswith("image 8x8 · …")
    assert rows[-1].plain.endswith("/plot␛.png")
    assert measure_width(rows[-1].plain) <= 40
    assert "no such file" in (await draw_rows(str(tmp_path / "none.png"), format="path"))[0].plain


async def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    assert "not a file" in (await draw_rows(str(tmp_path / "pipe.png"), format="path"))[0].plain
    assert "cannot be shown" in (await draw_rows(str(tmp_path), format="path"))[0].plain
    assert "cannot be shown" in (await draw_rows("/dev/zero", format="path"))[0].plain


async def test_a_file_that_went_away_before_it_was_seen_is_named(tmp_path: Path) -> None:
    path = tmp_path / "plot.png"
    Image.new("RGB", (80, 80)).save(path)
    done = asyncio.Event()
    image = ImageRow(message(str(path), "path"), "", done.set)
    assert len(image.rows(40, LOOK)) > 1
    path.unlink()
    image.note_seen()
    await asyncio.wait_for(done.wait(), 30)
    (caption,) = image.rows(40, LOOK)
    assert caption.plain == "image cannot be shown (no such file or…"
    assert caption.text == f"image cannot be shown (no such file or directory) · {path}"


async def test_without_colours_and_where_images_are_off_only_the_size_is_reported() -> None:
    content = encoded(Image.new("RGB", (8, 8)))
    assert plain(await draw_rows(content, look=get_styles(DARK, colourful=False))) == ["image 8x8"]
    assert plain(await draw_rows(content, look=get_styles(DARK, image_support=ImageSupport("off")))) == [
        "image 8x8"
    ]


async def test_only_what_is_seen_is_drawn_and_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    orders: list[str] = []

    def counted(request: RenderRequest) -> renderer.RenderedImage:
        orders.append(threading.current_thread().name)
        return draw_image(request)

    monkeypatch.setattr(renderer, "draw_image", counted)
    done = asyncio.Event()
    image = ImageRow(message(encoded(Image.new("RGB", (80, 80)))), "", done.set)
    image.rows(40, LOOK)
    for _ in range(5):
        image.note_seen()
    await asyncio.wait_for(done.wait(), 30)
    image.note_seen()
    assert orders == ["painter"]


# Kitty


def kitty(**options: bool) -> tuple[Styles, list[str]]:
    written: list[str] = []
    kitty = KittyImages(written.append, **options)
    return get_styles(DARK, image_support=ImageSupport("kitty", (10, 20), kitty=kitty)), written


def recorded(written: list[str]) -> Record:
    return commands("".join(written).encode())


async def test_an_image_is_sent_to_kitty_once_and_its_cells_name_it() -> None:
    look, written = kitty()
    done = asyncio.Event()
    image = ImageRow(message(encoded(Image.effect_noise((640, 480), 90))), "", done.set)
    image.rows(60, look)
    image.note_seen()
    await asyncio.wait_for(done.wait(), 30)
    rows = image.rows(60, look)
    image.note_seen()
    record = recorded(written)
    [(number, kept)] = record.images.items()
    assert (kept.sent, kept.columns, kept.rows) == (1, 43, 16)
    assert kept.image.size == (430, 320)
    assert record.malformed == []
    for line, row in enumerate(rows[:-1]):
        [segment] = row.segments
        assert segment.style is not None
        assert segment.style.color is not None
        red, green, blue = segment.style.color.get_truecolor()
        for column, cell in enumerate(segment.text.split(PLACEHOLDER)[1:]):
            assert [NUMBERS.index(mark) for mark in cell] == [line, column, number >> 24]
        assert red << 16 | green << 8 | blue == number & 0xFFFFFF
    image.forget()
    assert recorded(written).deleted == [number]


async def test_after_the_terminal_was_handed_back_images_are_sent_again_when_seen() -> None:
    look, written = kitty()
    done = asyncio.Event()
    image = ImageRow(message(encoded(Image.new("RGB", (80, 80)))), "", done.set)
    image.rows(40, look)
    image.note_seen()
    await asyncio.wait_for(done.wait(), 30)
    assert look.image_support.kitty is not None
    restoring = look.image_support.kitty.write_reset()
    assert list(commands(restoring.encode()).deleted) == list(recorded(written).images)
    done.clear()
    image.note_seen()
    await asyncio.wait_for(done.wait(), 30)
    assert len(recorded(written).images) == 2


def test_the_terminal_keeps_few_images_and_their_names_differ() -> None:
    written: list[str] = []
    kitty = KittyImages(written.append)
    placed = [kitty.show(b"png", 2, 2) for _ in range(500)]
    assert len({item.number for item in placed}) == 500
    record = recorded(written)
    assert record.deleted == [item.number for item in placed[: len(record.deleted)]]
    assert sum(kitty.has(item) for item in placed) == 500 - len(record.deleted) < 100


def test_an_image_has_the_same_name_in_256_colours() -> None:
    from rich.color import ColorSystem

    kitty = KittyImages(lambda _: None, true_colours=False)
    for _ in range(300):
        placed = kitty.show(b"", 1, 1)
        assert placed.colour.downgrade(ColorSystem.EIGHT_BIT).number == placed.number & 0xFFFFFF


def test_through_tmux_all_is_wrapped() -> None:
    written: list[str] = []
    kitty = KittyImages(written.append, tmux=True)
    kitty.show(b"x" * 9000, 4, 4)
    words = "".join(written)
    parts = re.findall(r"\x1bPtmux;((?:\x1b\x1b|[^\x1b])*)\x1b\\", words)
    assert "".join(f"\x1bPtmux;{part}\x1b\\" for part in parts) == words
    [kept] = commands("".join(parts).replace("\x1b\x1b", "\x1b").encode()).images.values()
    assert kept.png == b"x" * 9000


def test_there_are_numbers_enough_for_a_wide_terminal() -> None:
    assert MOST == len(set(NUMBERS)) > 255
    assert fit_size((100_000, 10), MOST, 24, 2.0)[0] <= MOST


# Sixel


def unpacked(text: str) -> Image.Image:
    """The image that a terminal with sixels would show."""
    body = text[text.index("q") + 1 : -2]
    size = re.match(r'"1;1;(\d+);(\d+)', body)
    assert size is not None
    image = Image.new("RGB", (int(size[1]), int(size[2])), "magenta")
    palette: dict[int, tuple[int, ...]] = {}
    x = top = 0
    colour = -1
    for item in re.finditer(
        r"#(\d+);2;(\d+);(\d+);(\d+)|#(\d+)|!(\d+)([?-~])|([?-~])|(\$)|(-)", body[size.end() :]
    ):
        if item[1]:
            palette[int(item[1])] = tuple(round(int(level) * 2.55) for level in item.group(2, 3, 4))
        elif item[5]:
            colour = int(item[5])
        elif item[9]:
            x = 0
        elif item[10]:
            x, top = 0, top + 6
        else:
            run = int(item[6] or 1)
            for bit in range(6):
                if ord(item[7] or item[8]) - 63 >> bit & 1:
                    image.paste(palette[colour], (x, top + bit, x + run, top + bit + 1))
            x += run
    return image


@pytest.mark.parametrize("size", [(1, 1), (7, 5), (64, 48), (100, 61)])
def test_sixels_show_the_image(size: tuple[int, int]) -> None:
    image = Image.linear_gradient("L").resize(size).convert("RGB")
    image.paste((200, 30, 60), (0, 0, max(size[0] // 2, 1), max(size[1] // 3, 1)))
    difference = ImageStat.Stat(ImageChops.difference(unpacked(encode_sixel(image)), image))
    assert max(difference.mean) < 4


def test_sixels_of_noise_stay_small_enough() -> None:
    noise = Image.effect_noise((430, 320), 90).convert("RGB")
    assert len(encode_sixel(noise)) < 1_500_000


async def test_an_image_that_is_replaced_stays_until_the_new_one_of_its_size_is_drawn() -> None:
    changed = asyncio.Event()
    image = ImageRow(message(encoded(Image.new("RGB", (8, 8), "red"))), "", changed.set)
    rows = image.rows(40, LOOK)
    image.note_seen()
    await asyncio.wait_for(changed.wait(), 20)
    red = [row.segments for row in image.rows(40, LOOK)]
    assert red != [row.segments for row in rows]
    changed.clear()
    image.replace(message(encoded(Image.new("RGB", (8, 8), "blue"))))
    assert changed.is_set()
    assert [row.segments for row in image.rows(40, LOOK)] == red
    changed.clear()
    image.note_seen()
    await asyncio.wait_for(changed.wait(), 20)
    blue = [row.segments for row in image.rows(40, LOOK)]
    assert len(blue) == len(red)
    assert blue != red
    image.replace(message(encoded(Image.new("RGB", (8, 16), "blue"))))
    assert len(image.rows(40, LOOK)) > len(blue)


def test_thin_lines_of_a_drawing_are_made_clearer_and_nothing_else_changes() -> None:
    drawing = Image.new("RGB", (10, 4), "white")
    for column, colour in enumerate(((224, 238, 248), (31, 119, 180), (0, 0, 0))):
        drawing.putpixel((column, 1), colour)
    line, bar, text, ground = (
        strengthen_lines(drawing).getpixel(at) for at in ((0, 1), (1, 1), (2, 1), (5, 1))
    )
    assert (bar, text, ground) == ((31, 119, 180), (0, 0, 0), (255, 255, 255))
    # As blue as before, and no longer hard to see.
    assert isinstance(line, tuple)
    assert line[0] < 190
    assert (255 - line[0]) / (255 - line[2]) == pytest.approx(31 / 7, rel=0.1)
    photograph = Image.effect_noise((40, 20), 60).convert("RGB")
    assert strengthen_lines(photograph).tobytes() == photograph.tobytes()
