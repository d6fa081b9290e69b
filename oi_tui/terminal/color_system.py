"""How many colours the terminal shows, where its name does not say so."""

import re
from collections.abc import Mapping

#: The first XTerm with 16 million colours.
_TRUECOLOR = 331


def is_colourful_xterm(environment: Mapping[str, str]) -> bool:
    """Return whether it is XTerm under its short name: it shows all colours,
    though `xterm` stands for few.
    """
    version = re.fullmatch(r"XTerm\((\d+)\)", environment.get("XTERM_VERSION", ""))
    return environment.get("TERM") == "xterm" and version is not None and int(version[1]) >= _TRUECOLOR
