"""The command palette's entries, made from the declared commands."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.fuzzy import Matcher

from oi_tui import profiles
from oi_tui.commands import COMMANDS, Command
from oi_tui.commands import recent as recent_commands
from oi_tui.commands.groups import group_commands
from oi_tui.screens.chat.screen import ChatScreen
from oi_tui.text import clean_line
from oi_tui.widgets.truncate import fit

if TYPE_CHECKING:
    from oi_tui.engine.review.permissions import Permission


class PermissionEntries(Provider):
    """Lists the auto-approvals; choosing one revokes it."""

    async def discover(self) -> Hits:
        """Yield all of them, before anything is typed."""
        for grant in self._list_permissions():
            words = _describe_revoking(grant)
            yield DiscoveryHit(Content(words), lambda g=grant: self._revoke(g), text=words, help=_REVOKED)

    async def search(self, query: str) -> Hits:
        """Yield those that match the query."""
        matcher = self.matcher(query)
        for grant in self._list_permissions():
            words = _describe_revoking(grant)
            score = matcher.match(f"{words} permissions grant revoke")
            if score > 0:
                yield Hit(score, Content(words), lambda g=grant: self._revoke(g), text=words, help=_REVOKED)

    def _list_permissions(self) -> "tuple[Permission, ...]":
        chat = _find_chat(self.app)
        return chat.chat_view.session.permissions.in_force if chat.is_ready else ()

    def _revoke(self, grant: "Permission") -> None:
        _find_chat(self.app).commands.revoke(grant)


class ProfileEntries(Provider):
    """Lists the profiles; choosing one switches to it."""

    async def search(self, query: str) -> Hits:
        """Yield those that match the query. Before anything is typed, none is listed."""
        matcher = self.matcher(query)
        for name in profiles.list_names():
            words = f"Switch to profile {clean_line(name, 60)}"
            score = matcher.match(f"{words} switch settings")
            if score > 0:
                yield Hit(score, Content(words), lambda n=name: self._switch(n), text=words, help=_SWITCHING)

    def _switch(self, name: str) -> None:
        chat = _find_chat(self.app)
        if chat.is_ready:
            chat.commands.switch_profile(name)


_SWITCHING = "%profile NAME"
_REVOKED = "runs without a question now"


def _describe_revoking(grant: "Permission") -> str:
    return f"Revoke {clean_line(grant.words, 80)}"


def _find_chat(app: App[Any]) -> ChatScreen:
    return next(item for item in app.screen_stack if isinstance(item, ChatScreen))


@dataclass
class GroupedHit(DiscoveryHit):
    """An entry with the title of its group above it."""

    group: str = ""


class CommandEntries(Provider):
    """Lists every command with its key, the last chosen ones first."""

    async def discover(self) -> Hits:
        """Yield all of them by group, before anything is typed."""
        recent = recent_commands.load()
        choose = _find_chat(self.app).choose_command
        groups = {"Recent": recent} if recent else {}
        for title, commands in (groups | group_commands()).items():
            for command in commands:
                yield GroupedHit(self._draw_row(command), partial(choose, command), command.name, group=title)

    async def search(self, query: str) -> Hits:
        """Yield those whose name or summary matches the query."""
        matcher = self.matcher(query)
        choose = _find_chat(self.app).choose_command
        for command in COMMANDS.values():
            score = matcher.match(f"{command.summary} {command.name}")
            if score > 0:
                yield Hit(
                    score, self._draw_row(command, matcher), partial(choose, command), text=command.name
                )

    def _draw_row(self, command: Command, matcher: Matcher | None = None) -> Content:
        """Return a command on one row: its name, what it does, and, where there is room, its key."""
        room = min(MOST_COLUMNS, int(self.app.size.width * 0.95)) - AROUND - NAME
        key = f"  {command.keys}" if command.keys and room >= _LEAST_WORDS + KEY else ""
        words = fit(command.summary, max(1, room - len(key)))
        return Content.assemble(
            (f"%{command.name}".ljust(NAME), "$text-accent"),
            matcher.highlight(words) if matcher else Content(words),
            (key, "$text-muted"),
        )


#: The palette's widest, as its style sheet says it, and the columns of its edges, marks and scrollbar.
MOST_COLUMNS, AROUND = 100, 8
#: The cells of a command's name, and of the longest key with the blanks before it.
NAME, KEY = 16, 11
#: What a command does has at least these columns, or its key is left out.
_LEAST_WORDS = 20
