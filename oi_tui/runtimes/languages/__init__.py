"""The languages, one module each."""

from oi_tui.runtimes.language import Language
from oi_tui.runtimes.languages import (
    applescript,
    html,
    java,
    javascript,
    julia,
    lua,
    perl,
    powershell,
    python,
    r,
    react,
    ruby,
    shell,
    typescript,
)

#: Every language that is known, in the order in which they are offered.
LANGUAGES: tuple[Language, ...] = (
    python.LANGUAGE,
    shell.LANGUAGE,
    javascript.LANGUAGE,
    typescript.LANGUAGE,
    html.LANGUAGE,
    react.LANGUAGE,
    r.LANGUAGE,
    julia.LANGUAGE,
    java.LANGUAGE,
    ruby.LANGUAGE,
    perl.LANGUAGE,
    lua.LANGUAGE,
    powershell.LANGUAGE,
    applescript.LANGUAGE,
)
