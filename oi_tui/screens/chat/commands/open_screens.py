"""Opens the screens that lie over the conversation."""

from typing import TYPE_CHECKING

from oi_tui.engine.settings.profile import Profile
from oi_tui.screens.chat.commands.switch_model import ModelSwitcher
from oi_tui.screens.help import HelpScreen
from oi_tui.screens.keymap import list_keys_here
from oi_tui.screens.navigator.screen import NavigatorScreen
from oi_tui.screens.pager import PagerScreen
from oi_tui.screens.permissions import PermissionsScreen
from oi_tui.screens.profile.editor import ProfileEditor
from oi_tui.widgets.idle import get_changed_keys
from oi_tui.widgets.pager.long_text import LongText

if TYPE_CHECKING:
    from oi_tui.screens.chat.interfaces import ProfileUser, PromptScreen
    from oi_tui.screens.chat.view import ChatView


class ChatScreens:
    """Opens help, the navigator, settings and other screens from the chat screen."""

    def __init__(
        self, ui: "ProfileUser", chat: "PromptScreen", view: "ChatView", models: ModelSwitcher
    ) -> None:
        self._ui = ui
        self._chat = chat
        self._view = view
        self._models = models

    def open_help(self) -> None:
        """Show keys and commands."""
        self._chat.app.push_screen(HelpScreen(*list_keys_here(self._chat)))

    def open_keys(self) -> None:
        """Show the names of all key bindings, for the setting `keys`."""
        from oi_tui.screens.keymap import describe_names

        names = LongText.of(describe_names(get_changed_keys(self._chat.app)))
        where = "To change a key, edit keys in the profile (f2), for example command.new: ctrl+t"
        self._chat.app.push_screen(PagerScreen("Key bindings; * marks yours", names, where))

    def open_navigator(self) -> None:
        """Show earlier conversations, and open the chosen one."""
        workspace = self._view.workspace
        folder, refuse = workspace.computer.cwd, workspace.explain_way_out
        navigator = NavigatorScreen(workspace.store, folder=folder, refuse=refuse)
        self._chat.app.push_screen(navigator, lambda chosen: self._show(chosen, navigator.sought))

    def open_profile(self, name: str) -> None:
        """Show the settings, or those of the profile named."""
        if name:
            self._ui.switch_profile(name)
            return
        workspace = self._view.workspace
        editor = ProfileEditor(
            workspace.profile,
            workspace.profile_path,
            check=workspace.side_requests.check,
            secrets=workspace.secrets,
            moved=workspace.edit_file,
            switch=self._ui.switch_profile,
        )
        self._chat.app.push_screen(editor, self._use)

    def open_models(self, name: str) -> None:
        """Switch to the model named, or choose one."""
        if name:
            self._models.switch_to(name)
        else:
            self._models.choose()

    def open_palette(self) -> None:
        """Search all commands."""
        self._chat.app.action_command_palette()

    def open_permissions(self) -> None:
        """Open the list of auto-approvals, to revoke them."""
        self._chat.app.push_screen(PermissionsScreen(self._view.session))

    def open_doctor(self) -> None:
        """Open a page that lists problems here and how to fix them."""
        from oi_tui.doctor.active_profile import ActiveProfile
        from oi_tui.screens.chat.commands.doctor import show

        workspace = self._view.workspace
        show(self._chat.app, ActiveProfile(workspace.profile, workspace.profile_path))

    def _show(self, id: str | None, sought: str) -> None:
        """Show a conversation, where it says what was looked for."""
        if id is None:
            return
        self._ui.open_conversation(id)
        if sought:
            text = "\n".join(m.content for m in self._view.session.messages).lower()
            whole = sought if sought.lower() in text else max(sought.split(), key=len)
            self._view.call_after_refresh(self._view.find_line.show, whole)

    def _use(self, profile: Profile | None) -> None:
        if profile is not None:
            self._ui.apply_profile(profile)
