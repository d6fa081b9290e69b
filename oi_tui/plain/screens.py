"""Lists in plain mode what the full screen shows on separate screens."""

from collections.abc import Callable
from typing import Protocol

from oi_tui import paths, profiles
from oi_tui.commands import COMMANDS
from oi_tui.doctor.active_profile import ActiveProfile
from oi_tui.doctor.report import report
from oi_tui.engine.models import local_servers
from oi_tui.engine.settings.profile import ProfileError, explain
from oi_tui.engine.settings.setting import Value
from oi_tui.text import clean_line
from oi_tui.workspace import Workspace

#: Conversations that are listed.
_LISTED = 20


class PlainInterface(Protocol):
    """The commands in plain mode, as the lists see them."""

    def show_notice(self, text: str, *, warning: bool = False) -> None:
        """Show a notice."""

    def open_conversation(self, id: str) -> None:
        """Show a saved conversation and go on with it."""

    def switch_profile(self, name: str) -> None:
        """Switch to the profile of that name."""


class PlainScreens:
    """Writes each list as lines; something of it is chosen by its number."""

    def __init__(
        self, ui: PlainInterface, workspace: Workspace, ask_number: Callable[[str, int], int | None]
    ) -> None:
        """`ask_number` asks for a number from 1 to a largest one, and returns its index."""
        self._ui = ui
        self._workspace = workspace
        self._ask_number = ask_number

    def open_help(self) -> None:
        """Commands, one a line."""
        width = max(len(command.title) for command in COMMANDS.values())
        rows = [f"  {command.title:<{width}}  {command.summary}" for command in COMMANDS.values()]
        self._ui.show_notice(
            "Type a request, or a command. At a question: y runs, n rejects, e edits, a always runs the "
            "language.\nctrl+c stops; ctrl+d quits. ! or %% before a line runs it in your shell.\n"
            + "\n".join(rows)
        )

    def open_keys(self) -> None:
        """Say that there are no key bindings where whole lines are read."""
        self._ui.show_notice("Plain mode reads lines; it has no key bindings.")

    def open_navigator(self) -> None:
        """List the newest conversations; one of them is opened by its number."""
        store = self._workspace.store
        summaries = store.list_summaries()[:_LISTED]
        if not summaries:
            self._ui.show_notice(store.explain_unreadable() or "There are no saved conversations yet.")
            return
        rows = [f"  {number}  {clean_line(summary.title, 70)}" for number, summary in enumerate(summaries, 1)]
        self._ui.show_notice("Saved conversations, newest first:\n" + "\n".join(rows))
        if (number := self._ask_number("Open which number? ", len(summaries))) is not None:
            self._ui.open_conversation(summaries[number].id)

    def open_profile(self, name: str) -> None:
        """Print every setting with its value, and where settings are changed; or those
        of the profile named.
        """
        if name:
            self._ui.switch_profile(name)
            return
        profile, path = self._workspace.profile, self._workspace.profile_path
        rows = [f"  {key}: {clean_line(value)}  ({origin})" for key, value, origin in explain(profile)]
        where = f"\nChange them in {paths.shorten(path)}, or with flags." if path else ""
        others = f"\n%profile NAME switches to another: {', '.join(map(clean_line, profiles.list_names()))}"
        self._ui.show_notice("Settings:\n" + "\n".join(rows) + where + others)

    def open_models(self, name: str) -> None:
        """Switch to the model named, or choose one by its number."""
        if name:
            self._use(model=name, api_base=self._workspace.model.choose_base(name))
            return
        models = local_servers.find_with(self._workspace.profile.api_base)
        rows = [f"  {number}  {item.model}  ({item.server})" for number, item in enumerate(models, 1)]
        rows.append(f"  {len(models) + 1}  demo  (a script, not an AI; works offline, without a key)")
        self._ui.show_notice(
            f"Current model: {self._workspace.profile.model}. Found on this machine:\n"
            + "\n".join(map(clean_line, rows))
        )
        self._ui.show_notice("%model NAME accepts any LiteLLM name.")
        number = self._ask_number("Which number? ", len(rows))
        if number is None:
            return
        if number == len(models):
            self._use(model="demo", api_base=None)
        else:
            self._use(model=models[number].model, api_base=models[number].api_base)

    def open_palette(self) -> None:
        """Point to %help, which lists the commands."""
        self.open_help()

    def open_permissions(self) -> None:
        """List the auto-approvals, to be revoked by number."""
        session = self._workspace.session
        if not (permissions := session.permissions.in_force):
            self._ui.show_notice("No auto-approvals: all code needs your approval.")
            return
        rows = [f"  {number}  {clean_line(item.words, 100)}" for number, item in enumerate(permissions, 1)]
        self._ui.show_notice("Auto-approvals of this conversation:\n" + "\n".join(rows))
        if (number := self._ask_number("Revoke which number? ", len(permissions))) is not None:
            session.permissions.revoke(permissions[number])
            self._ui.show_notice(f"Revoked: {clean_line(permissions[number].words, 100)} will ask again.")

    def open_doctor(self) -> None:
        """Say what is wrong here and how to put it right."""
        active = ActiveProfile(self._workspace.profile, self._workspace.profile_path)
        self._ui.show_notice(report(active, ask_terminal=False)[0])

    def _use(self, **changes: Value) -> None:
        try:
            self._workspace.use(self._workspace.profile.with_changes("changed", **changes))
        except ProfileError as error:
            self._ui.show_notice(str(error))
            return
        self._ui.show_notice(f"The model is now {clean_line(self._workspace.profile.model)}.")
