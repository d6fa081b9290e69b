"""Writes the text of a new profile from the declarations of the settings."""

import textwrap

from oi_tui.engine.settings import yaml_file
from oi_tui.engine.settings.profile import list_settings


def write_starter() -> str:
    """Return the text of a new profile: every setting as a comment, with its help and default."""
    lines = ["# A profile of oi-tui. Remove the # in front of a setting to change it."]
    section = ""
    for setting in list_settings():
        if setting.section != section:
            section = setting.section
            lines += ["", f"# ---- {section}"]
        lines += ["", *(f"# {line}" for line in _wrap(setting.help))]
        text = "" if setting.default is None else yaml_file.write_scalar(setting.default)
        if setting.long and len(text) > 60:
            text = "..."
        unset = setting.default is None
        if setting.limits and setting.default == ():
            # An empty list would be a limit to nothing at all.
            text, unset = "", True
        lines.append(f"#{setting.key}: {text}".rstrip() + (f"  # {setting.unset}" if unset else ""))
    return "\n".join(lines) + "\n"


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(text, 96)
