"""The languages, one module each."""

from oi_tui.runtimes.language import Language
from oi_tui.runtimes.languages import (
    applescript,
    c,
    cpp,
    go,
    html,
    java,
    javascript,
    julia,
    lua,
    perl,
    php,
    powershell,
    python,
    r,
    react,
    ruby,
    rust,
    shell,
    sql,
    typescript,
)

#: Every language that is known, in the order in which they are offered.
LANGUAGES: tuple[Language, ...] = (
    python.LANGUAGE,
    shell.LANGUAGE,
    sql.LANGUAGE,
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
    c.LANGUAGE,
    cpp.LANGUAGE,
    rust.LANGUAGE,
    go.LANGUAGE,
    php.LANGUAGE,
    powershell.LANGUAGE,
    applescript.LANGUAGE,
)
