"""The application's two themes, and computation of contrast."""

from textual.color import Color
from textual.theme import Theme

#: What WCAG 2.1 asks of text of normal size (success criterion 1.4.3).
LEGIBLE = 4.5


def compute_contrast(first: Color, second: Color) -> float:
    """Return the contrast ratio of two opaque colours as WCAG 2.1 defines it, from 1 to 21."""
    lighter, darker = sorted((_compute_luminance(first), _compute_luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _compute_luminance(color: Color) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def make_legible(color: Color, background: Color, ratio: float = LEGIBLE) -> Color:
    """Return the colour, moved towards white or black only as far as it takes
    to be read on the background.
    """
    moves = list_moves(color, background)
    return next((moved for moved in moves if compute_contrast(moved, background) >= ratio), moves[-1])


def list_moves(color: Color, background: Color) -> list[Color]:
    """Return the colour, and those on its way to what stands out more from the background: white or black."""
    color = background.blend(color, color.a, 1.0)
    white, black = Color(255, 255, 255), Color(0, 0, 0)
    target = white if compute_contrast(white, background) > compute_contrast(black, background) else black
    return [color.blend(target, step / 20) for step in range(21)]


def mute(foreground: str, background: str) -> str:
    """Return the colour of muted text in a theme that names none."""
    return Color.parse(background).blend(Color.parse(foreground), 0.66).hex


DARK = Theme(
    name="oi-dark",
    primary="#82b1ea",
    secondary="#9aa7bd",
    accent="#7cc7b7",
    warning="#e3b46d",
    error="#f2889a",
    success="#97cf8a",
    foreground="#dce1e8",
    background="#14171c",
    surface="#1a1e25",
    panel="#232933",
    dark=True,
    variables={
        "text-muted": "#98a1b0",
        "foreground-muted": "#98a1b0",
        "border": "#3d4756",
        "border-blurred": "#2c3440",
        "scrollbar": "#343d4b",
        "scrollbar-hover": "#465266",
        "scrollbar-active": "#82b1ea",
        "scrollbar-background": "#14171c",
        "scrollbar-background-hover": "#14171c",
        "scrollbar-background-active": "#14171c",
        "scrollbar-corner-color": "#14171c",
        "footer-key-foreground": "#82b1ea",
        "input-selection-background": "#3a587d",
        "screen-selection-background": "#3a587d",
        "block-cursor-foreground": "#14171c",
        "block-cursor-background": "#82b1ea",
        "block-cursor-text-style": "bold",
    },
)

LIGHT = Theme(
    name="oi-light",
    primary="#1c5ba3",
    secondary="#55606e",
    accent="#00695d",
    warning="#8a5200",
    error="#b0243a",
    success="#2c6a2f",
    foreground="#23282f",
    background="#fbfaf8",
    surface="#f3f1ed",
    panel="#e8e5df",
    dark=False,
    variables={
        "text-muted": "#5c6470",
        "foreground-muted": "#5c6470",
        "border": "#b9b5ad",
        "border-blurred": "#d8d4cc",
        "scrollbar": "#cdc9c1",
        "scrollbar-hover": "#b3aea4",
        "scrollbar-active": "#1c5ba3",
        "scrollbar-background": "#fbfaf8",
        "scrollbar-background-hover": "#fbfaf8",
        "scrollbar-background-active": "#fbfaf8",
        "scrollbar-corner-color": "#fbfaf8",
        "footer-key-foreground": "#1c5ba3",
        "input-selection-background": "#b9d4f3",
        "screen-selection-background": "#b9d4f3",
        "block-cursor-foreground": "#fbfaf8",
        "block-cursor-background": "#1c5ba3",
        "block-cursor-text-style": "bold",
    },
)

#: In the order in which they are registered.
THEMES = (DARK, LIGHT)
