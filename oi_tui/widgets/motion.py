"""Whether animation is on."""

from textual import constants
from textual.app import App


def use_motion(app: App[object], on: bool) -> None:
    """Let spinners turn and panels slide, as far as the environment allows it, or hold everything still."""
    app.animation_level = constants.TEXTUAL_ANIMATIONS if on else "none"
