"""The command palette's entries, made from the commands' declarations."""

from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.fuzzy import Matcher

from oi_tui import profiles
from oi_tui.commands import COMMANDS, Command
from oi_tui.screens.chat.screen import ChatScreen
from oi_tui.text import one_line

if TYPE_CHECKING:
    from oi_tui.engine.review.permissions import Permission


class PermissionEntries(Provider):
    """Auto-approvals, each to be revoked."""

    async def discover(self) -> Hits:
        """All of it, before anything is typed."""
        for grant in self._permissions():
            words = _revoking(grant)
            yield DiscoveryHit(Content(words), lambda g=grant: self._revoke(g), text=words, help=_REVOKED)

    async def search(self, query: str) -> Hits:
        """Yield the matches of the query."""
        matcher = self.matcher(query)
        for grant in self._permissions():
            words = _revoking(grant)
            score = matcher.match(f"{words} permissions grant revoke")
            if score > 0:
                yield Hit(score, Content(words), lambda g=grant: self._revoke(g), text=words, help=_REVOKED)

    def _permissions(self) -> "tuple[Permission, ...]":
        chat = _chat(self.app)
        return chat.chat_view.session.permissions if chat.is_ready else ()

    def _revoke(self, grant: "Permission") -> None:
        _chat(self.app).commands.revoke(grant)


class ProfileEntries(Provider):
    """The profiles, each to go on with."""

    async def search(self, query: str) -> Hits:
        """Those that match what was typed; nothing of them before, since they are many."""
        matcher = self.matcher(query)
        for name in profiles.names():
            words = f"Switch to profile {one_line(name, 60)}"
            score = matcher.match(f"{words} switch settings")
            if score > 0:
                yield Hit(score, Content(words), lambda n=name: self._switch(n), text=words, help=_SWITCHING)

    def _switch(self, name: str) -> None:
        chat = _chat(self.app)
        if chat.is_ready:
            chat.commands.switch_profile(name)


_SWITCHING = "%profile NAME"
_REVOKED = "runs without a question now"


def _revoking(grant: "Permission") -> str:
    return f"Revoke {one_line(grant.words, 80)}"


def _chat(app: App[Any]) -> ChatScreen:
    return next(item for item in app.screen_stack if isinstance(item, ChatScreen))


class CommandEntries(Provider):
    """Every command that needs no argument, with its key."""

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for command in COMMANDS.values():
            yield DiscoveryHit(_row(command), lambda c=command: self._act(c), text=command.name)

    async def search(self, query: str) -> Hits:
        """Those that match what was typed, by name or summary."""
        matcher = self.matcher(query)
        for command in COMMANDS.values():
            score = matcher.match(f"{command.summary} {command.name}")
            if score > 0:
                yield Hit(score, _row(command, matcher), lambda c=command: self._act(c), text=command.name)

    def _act(self, command: Command) -> None:
        chat = _chat(self.app)
        if command.usage and not command.usage.startswith("["):
            chat.prompt.put_back(f"%{command.name} ")
            chat.prompt.focus()
        else:
            chat.action_command(command.name)


#: The cells of a command's key, and of its name.
_KEY, _NAME = 12, 16


def _row(command: Command, matcher: Matcher | None = None) -> Content:
    """A command on one row: its key, its name and what it does."""
    words = matcher.highlight(command.summary) if matcher else Content(command.summary)
    name = f"%{command.name}"
    return Content.assemble((f"{command.keys:<{_KEY}}", "$text-accent"), f"{name:<{_NAME}}", words)
