"""The text of %info: versions, model, key and folders, without secrets."""

import platform
import sys
from collections.abc import Iterator

from oi_tui import log, paths
from oi_tui.actions.schedulers import describe_schedulers
from oi_tui.engine.credentials.key_source import find_key_source
from oi_tui.engine.credentials.redaction import redact
from oi_tui.text import clean_line
from oi_tui.version import __version__
from oi_tui.workspace import Workspace

#: A language with a longer description is only named; %languages has all of it.
_LONGEST_VERSION = 40


def describe_conversation(workspace: Workspace) -> str:
    """Return the lines of `%info`; asks the languages' programs and a keyring, which takes a moment."""
    profile, computer = workspace.profile, workspace.computer
    served = f" at {clean_line(profile.api_base, 200)}" if profile.api_base else ""
    file = paths.shorten(workspace.profile_path) if workspace.profile_path else "changes are not saved"
    key = find_key_source(profile, workspace.secrets)
    lines = (
        f"oi-tui {__version__}, Python {sys.version.split()[0]}, {platform.platform()}",
        f"model: {clean_line(profile.model, 200)}{served}",
        f"API key: {key.words}",
        f"profile: {file}",
        f"folder: {computer.cwd}",
        f"code runs: {clean_line(computer.where or 'on this machine', 300)}",
        f"sandbox: {(computer.explain_sandbox_failure() or 'on') if computer.sandbox else 'off'}",
        f"variables hidden from programs: {_describe_withheld_variables(workspace)}",
        *([f"sandbox hosts: {', '.join(computer.hosts) or 'none'}"] if computer.sandbox else []),
        *([f"sandbox limits: {limits}"] if (limits := computer.limits) else []),
        *_describe_schedulers(workspace),
        f"conversations: {workspace.store.folder}",
        f"log: {log.file()}",
        *_describe_languages(workspace),
    )
    return redact("\n".join(lines))


def _describe_languages(workspace: Workspace) -> Iterator[str]:
    """Yield the languages that can run in one line, those that are not installed in another, and refusals."""
    computer = workspace.computer
    availability = computer.check_availability()
    ready = [
        item.about if len(item.about) <= _LONGEST_VERSION else item.name
        for item in availability
        if item.program
    ]
    yield f"languages: {', '.join(ready) or 'none'}"
    # Its program is there, but may not run: in the sandbox, or on the target.
    refused = [item for item in availability if not item.program and item.name in computer.languages]
    yield from (f"  {item.name}: {item.about}" for item in refused)
    missing = [item.name for item in availability if not item.program and item not in refused]
    if missing:
        yield f"not available: {', '.join(missing)} (see %languages)"


def _describe_schedulers(workspace: Workspace) -> Iterator[str]:
    """Yield the schedulers that code here would use.

    Nothing is connected offline, in the sandbox or elsewhere.
    """
    computer = workspace.computer
    if not (workspace.profile.offline or computer.sandbox or computer.where):
        yield from describe_schedulers()


def _describe_withheld_variables(workspace: Workspace) -> str:
    if workspace.profile.share_keys:
        return "none, because share_keys is on"
    names = ", ".join(clean_line(name, 100) for name in sorted(workspace.languages.held_back))
    return f"{names}; the pass_environment setting passes them on" if names else "none"
