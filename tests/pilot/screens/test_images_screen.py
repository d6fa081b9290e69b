"""The screen that shows the images of a conversation."""

from oi_tui.messages import Message
from oi_tui.screens.images import ImagesScreen
from oi_tui.widgets.footer import KeyFooter
from oi_tui.widgets.images.image import ImageRow
from tests.pilot.test_chat import open_chat


async def test_the_keys_fit_after_a_resize() -> None:
    paths = [f"/nowhere/{name}.png" for name in ("first", "second")]
    images = [Message(role="computer", type="image", format="path", content=path) for path in paths]
    async with open_chat([]) as ui:
        screen = ImagesScreen([ImageRow(image, "", lambda: None) for image in images])
        await ui.app.push_screen(screen)
        await ui.pilot.resize_terminal(100, 30)
        everything = "left / right others   o open outside   c copy path   esc back"
        await ui.until(lambda: str(screen.query_one(KeyFooter).render()) == everything)
        await ui.pilot.resize_terminal(40, 12)
        await ui.until(lambda: str(screen.query_one(KeyFooter).render()) == "left / right others   esc back")
