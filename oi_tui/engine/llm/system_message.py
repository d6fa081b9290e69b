"""The system message: task, machine, languages, and the user's own instructions."""

import getpass
import platform
from collections.abc import Sequence
from pathlib import Path

from oi_tui.engine.settings.profile import Profile

#: What `fast` asks for.
_FAST = (
    "The user is in a hurry. Do not plan and do not explain: write the code that does it in one go, and say "
    "the result in a sentence."
)


def write(
    profile: Profile,
    languages: Sequence[str],
    *,
    tools: bool,
    cwd: Path | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return the system message as plain text; nothing
    in it is ever evaluated. `notes` are the languages' own.

    It stays the same from request to request, so that providers can keep it in their cache.
    """
    facts = []
    if cwd is not None:
        facts = [
            f"Operating system: {describe_system()}",
            f"User: {_find_user_name()}",
            f"Working directory: {cwd}",
        ]
    if languages:
        facts.append(f"Languages that can be run: {', '.join(languages)}")
    parts = [profile.system_message.strip(), "\n".join(facts)]
    if not tools:
        parts.append(profile.execution_instructions.strip())
    parts += [note.strip() for note in notes]
    if profile.fast:
        parts.append(_FAST)
    parts.append(profile.custom_instructions.strip())
    return "\n\n".join(part for part in parts if part)


def describe_system() -> str:
    """Return the name of the operating system, its version and the kind of machine."""
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME") or platform.system()
    except OSError:
        name = f"macOS {platform.mac_ver()[0]}" if platform.system() == "Darwin" else platform.system()
    return f"{name} ({platform.machine()})"


def _find_user_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"
