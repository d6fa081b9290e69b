"""Prints the line that stays in the terminal when the program ends."""

from typing import TYPE_CHECKING

from oi_tui import paths
from oi_tui.engine.storage.store import StoreError

if TYPE_CHECKING:
    from oi_tui.workspace import Workspace

#: More files than this are only counted.
_NAMED = 3


def write_exit_summary(workspace: "Workspace") -> str:
    """Say how to resume the conversation, and what it used and wrote; "" where nothing was saved."""
    try:
        identity = workspace.store.find(workspace.conversation.id)
    except StoreError:
        return ""
    parts = [f"Saved. Resume with: oi-tui --resume {identity}"]
    usage = workspace.session.usage.totals
    if usage.requests:
        parts.append(f"{usage.prompt_tokens + usage.completion_tokens:,} tokens")
    if usage.cost:
        parts.append(usage.price)
    if file_list := _list_files(workspace):
        parts.append(file_list)
    return " · ".join(parts)


def _list_files(workspace: "Workspace") -> str:
    """Return the files that code wrote in this conversation."""
    snapshots = workspace.snapshots
    codes = [message.id for message in workspace.session.messages if message.type == "code"]
    change_sets = filter(None, map(snapshots.find_change_set, snapshots.filter_kept(codes)))
    names = dict.fromkeys(
        f"{change_set.target} {paths.shorten(change_set.folder)}/{change.name}"
        for change_set in change_sets
        for change in change_set.changes
        if change.what != "deleted"
    )
    if len(names) > _NAMED:
        return f"{len(names):,} files written"
    return "wrote " + ", ".join(name.rpartition("/")[2] for name in names) if names else ""
