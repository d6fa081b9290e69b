"""The styles of the conversation, derived from a theme."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from pygments.token import Token, _TokenType
from rich.color import Color as RichColor
from rich.color import ColorType
from rich.style import Style
from textual.color import Color
from textual.theme import Theme

from oi_tui.themes import LEGIBLE, make_legible
from oi_tui.widgets.images.protocol import BLOCKS, ImageSupport


@dataclass(frozen=True, eq=False)
class Styles:
    """Every style that the conversation uses, each with its background; equal only to itself."""

    base: Style
    muted: Style
    strong: Style
    heading: Style
    link: Style
    inline_code: Style
    user: Style
    user_mark: Style
    user_muted: Style
    accent: Style
    warning: Style
    error: Style
    success: Style
    rule: Style
    cursor: Style
    hidden: Style
    selection: Style
    code: Style
    code_muted: Style
    code_active: Style
    code_active_muted: Style
    code_changed: Style
    syntax: Mapping[_TokenType, Style]
    dark: bool
    #: Whether the terminal shows colours of our choice; where not, no half blocks are drawn.
    colourful: bool
    #: What programs get for the sixteen colours of terminals; empty where the terminal has its own.
    sixteen: tuple[Color, ...] = ()
    #: How images are shown.
    image_support: ImageSupport = BLOCKS
    _tokens: dict[_TokenType, Style] = field(default_factory=dict, repr=False)

    def token(self, kind: _TokenType) -> Style:
        """Return the style of a kind of Pygments token, inherited from its parents."""
        style = self._tokens.get(kind)
        if style is None:
            parent: _TokenType | None = kind
            while parent is not None and parent not in self.syntax:
                parent = parent.parent
            style = self._tokens[kind] = self.syntax[parent] if parent is not None else self.code
        return style


#: The theme's colours that the styles are made of.
_VARIABLES = (
    *("primary", "secondary", "accent", "warning", "error", "success", "foreground", "background"),
    *("text-muted", "screen-selection-background"),
)
#: Which of the theme's colours a kind of token takes, and whether it is bold or slanted.
_SYNTAX: dict[_TokenType, tuple[str, str]] = {
    Token.Comment: ("muted", "italic"),
    Token.Comment.Preproc: ("accent", ""),
    Token.Keyword: ("primary", ""),
    Token.Keyword.Constant: ("warning", ""),
    Token.Keyword.Type: ("accent", ""),
    Token.Name.Builtin: ("accent", ""),
    Token.Name.Builtin.Pseudo: ("secondary", "italic"),
    Token.Name.Class: ("accent", "bold"),
    Token.Name.Decorator: ("accent", ""),
    Token.Name.Exception: ("error", ""),
    Token.Name.Function: ("primary", "bold"),
    Token.Name.Tag: ("primary", ""),
    Token.Name.Attribute: ("accent", ""),
    Token.Name.Variable: ("accent", ""),
    Token.Literal.Number: ("warning", ""),
    Token.Literal.String: ("success", ""),
    Token.Literal.String.Doc: ("muted", "italic"),
    Token.Literal.String.Escape: ("warning", ""),
    Token.Literal.String.Interpol: ("warning", ""),
    Token.Operator.Word: ("primary", ""),
    Token.Generic.Deleted: ("error", ""),
    Token.Generic.Inserted: ("success", ""),
    Token.Generic.Heading: ("primary", "bold"),
}


def _make_native(dark: bool, colourful: bool) -> Styles:
    """Return styles for themes that leave the colours to the terminal: its own sixteen,
    on its own background.
    """
    plain = Style.parse("default on default")
    colours = {
        "muted": "bright_black" if colourful else "default",
        "primary": "blue",
        "secondary": "cyan",
        "accent": "cyan",
        "warning": "yellow",
        "error": "red",
        "success": "green",
    }

    def ink(name: str, attributes: str = "") -> Style:
        return plain + Style.parse(f"{attributes} {colours[name] if colourful else 'default'}")

    return Styles(
        base=plain,
        muted=plain + Style(dim=True),
        strong=plain + Style(bold=True),
        heading=ink("primary", "bold"),
        link=ink("primary", "underline"),
        inline_code=ink("accent"),
        user=plain + Style(bold=True),
        user_mark=ink("primary", "bold"),
        user_muted=plain + Style(dim=True),
        accent=ink("accent", "bold"),
        warning=ink("warning"),
        error=ink("error"),
        success=ink("success"),
        rule=plain + Style(dim=True),
        cursor=ink("primary", "bold"),
        hidden=plain + Style(reverse=True, bold=True),
        selection=Style(reverse=True),
        code=plain,
        code_muted=plain + Style(dim=True),
        code_active=Style(reverse=True),
        code_active_muted=Style(reverse=True),
        code_changed=ink("warning", "bold"),
        syntax={kind: ink(name, attributes) for kind, (name, attributes) in _SYNTAX.items()},
        dark=dark,
        colourful=colourful,
    )


def get_styles(theme: Theme, *, colourful: bool = True, image_support: ImageSupport = BLOCKS) -> Styles:
    """Return the styles for a theme; the same theme and image support give the same object."""
    colours = (theme.primary, theme.foreground, theme.background, theme.dark, theme.ansi, colourful)
    key = (theme.name, colours, image_support)
    look = _LOOKS.get(key)
    if look is None:
        look = _make_native(theme.dark, colourful) if theme.ansi else _build_styles(theme, colourful)
        look = _LOOKS[key] = replace(look, image_support=image_support, _tokens={})
    return look


_LOOKS: dict[tuple[object, ...], Styles] = {}


def _build_styles(theme: Theme, colourful: bool) -> Styles:
    variables = theme.to_color_system().generate()
    parsed = {
        name: Color.parse(variables[name]) for name in _VARIABLES if variables.get(name, "auto")[:4] != "auto"
    }
    background = parsed["background"]
    foreground = make_legible(parsed["foreground"], background, 7)
    parsed["muted"] = parsed.get("text-muted", background.blend(foreground, 0.66))
    shade = background.blend(foreground, 0.045)
    raised = background.blend(foreground, 0.075)
    active = background.blend(parsed["warning"], 0.24)

    def ink(name: str, on: Color, attributes: str = "") -> Style:
        ink_color = foreground if name == "foreground" else parsed[name]
        legible_color = make_legible(ink_color, on)
        return Style.from_color(legible_color.rich_color, on.rich_color) + Style.parse(attributes or "none")

    selected = background.blend(parsed.get("screen-selection-background", parsed["primary"]), 0.9, 1.0)
    return Styles(
        base=ink("foreground", background),
        muted=ink("muted", background),
        strong=ink("foreground", background, "bold"),
        heading=ink("primary", background, "bold"),
        link=ink("primary", background, "underline"),
        inline_code=ink("accent", raised),
        user=ink("foreground", raised),
        user_mark=ink("primary", raised, "bold"),
        user_muted=ink("muted", raised),
        accent=ink("accent", background, "bold"),
        warning=ink("warning", background),
        error=ink("error", background),
        success=ink("success", background),
        rule=Style.from_color(background.blend(foreground, 0.3).rich_color, background.rich_color),
        cursor=ink("primary", background, "bold"),
        hidden=ink("background", parsed["warning"], "bold"),
        selection=Style.from_color(make_legible(foreground, selected).rich_color, selected.rich_color),
        code=ink("foreground", shade),
        code_muted=ink("muted", shade),
        code_active=Style.from_color(make_legible(foreground, active, 7).rich_color, active.rich_color),
        code_active_muted=ink("muted", active),
        code_changed=ink("warning", shade, "bold"),
        syntax={kind: ink(name, shade, attributes) for kind, (name, attributes) in _SYNTAX.items()},
        dark=theme.dark,
        colourful=colourful,
        sixteen=_list_sixteen(parsed, background, foreground),
    )


def _list_sixteen(named: Mapping[str, Color], background: Color, foreground: Color) -> tuple[Color, ...]:
    """Return black, red, green, yellow, blue, magenta, cyan, white in the theme's colours,
    then the bright ones.
    """
    magenta = named["primary"].blend(named["error"], 0.5)
    hues = (named["error"], named["success"], named["warning"], named["primary"], magenta, named["accent"])
    plain = (background.blend(foreground, 0.12), *hues, background.blend(foreground, 0.8))
    bright = (named["muted"], *(hue.blend(foreground, 0.25) for hue in hues), foreground)
    return (*plain, *bright)


@lru_cache(maxsize=1024)
def adapt_program_style(look: Styles, style: Style) -> Style:
    """Put a program's style on the background; a colour that cannot be read there is changed until it can."""
    ground = look.base.bgcolor
    if ground is None or ground.is_default or not look.colourful:
        return look.base + style
    behind = _resolve(look, style.bgcolor, ground)
    foreground = _resolve(look, style.color, look.base.color or ground)
    legible_color = make_legible(foreground, behind, LEGIBLE)
    return look.base + style + Style(color=legible_color.rich_color, bgcolor=behind.rich_color)


def _resolve(look: Styles, color: RichColor | None, default: RichColor) -> Color:
    """Return the colour that is seen: the first sixteen are the theme's."""
    if color is None or color.is_default:
        color = default
    if color.type == ColorType.STANDARD and color.number is not None and look.sixteen:
        return look.sixteen[color.number]
    return Color.from_rich_color(color, ansi=False)
