"""Applies the settings that change what the screen looks like: theme, mouse, motion, images, sidebar."""

from typing import TYPE_CHECKING

from oi_tui.engine.settings.profile import Profile, ProfileError
from oi_tui.screens.themes import ThemesScreen
from oi_tui.widgets.images.protocol import use_images
from oi_tui.widgets.motion import use_motion
from oi_tui.widgets.mouse import is_mouse_wanted, use_mouse

if TYPE_CHECKING:
    from oi_tui.actions.interface import UserInterface
    from oi_tui.screens.chat.interfaces import PromptScreen
    from oi_tui.screens.chat.view import ChatView


class DisplaySettings:
    """Carries out `%theme`, `%mouse` and `%sidebar`, and applies their settings."""

    def __init__(self, ui: "UserInterface", chat: "PromptScreen", view: "ChatView") -> None:
        self._ui = ui
        self._chat = chat
        self._view = view
        self._workspace = view.workspace
        #: Whether `%mouse` was used, which says more than what is best for this terminal.
        self._mouse_chosen = False

    def apply(self, profile: Profile) -> None:
        """Apply the settings of the profile."""
        self._chat.app.theme = profile.theme
        use_mouse(self._chat.app, self._is_mouse_used(profile))
        use_motion(self._chat.app, profile.motion)
        use_images(self._chat.app, profile.images)
        self._view.sidebar.fit()
        self._chat.prompt.multi_line = profile.multi_line
        self._chat.prompt.use_vi(profile.editing == "vi")
        self._view.conversation.cell_editor.code_editor.use_vi(profile.editing == "vi")

    def switch_theme(self, name: str) -> None:
        """Use a theme and save it; without a name, let the person choose."""
        if name:
            self.save_theme(name)
        else:
            self._chat.app.push_screen(ThemesScreen(), self.save_theme)

    def save_theme(self, name: str | None) -> None:
        """Use this theme and save it; None changes nothing."""
        if name is None:
            return
        try:
            self._workspace.use(self._workspace.profile.with_changes(theme=name))
        except ProfileError as error:
            self._ui.show_notice(str(error), warning=True)
            return
        self._chat.app.theme = name
        if problem := self._workspace.save_settings(theme=name):
            self._ui.show_notice(problem, warning=True)

    def switch_mouse(self, on: bool | None) -> None:
        """Use the mouse or leave it to the terminal, until the end of the program."""
        profile = self._workspace.profile
        profile = profile.with_changes(
            "changed", mouse=not self._is_mouse_used(profile) if on is None else on
        )
        self._mouse_chosen = True
        self._workspace.use(profile)
        use_mouse(self._chat.app, profile.mouse)
        self._ui.show_notice(
            "Mouse support is on."
            if profile.mouse
            else "Mouse support is off; your terminal handles the mouse."
        )

    def _is_mouse_used(self, profile: Profile) -> bool:
        return profile.mouse if self._mouse_chosen else is_mouse_wanted(profile.mouse)

    def switch_sidebar(self, on: bool | None) -> None:
        """Show or hide the sidebar; on a narrow screen it is a drawer."""
        self._view.sidebar.switch(on)
