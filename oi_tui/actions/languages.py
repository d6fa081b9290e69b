"""Lists the languages, runs the person's own code in them, and restarts them."""

from oi_tui import paths
from oi_tui.actions.confirm_trust import number_lines
from oi_tui.actions.interface import UserInterface
from oi_tui.commands.registry import CommandError
from oi_tui.engine.settings.setting import ProfileError
from oi_tui.runtimes.availability import describe
from oi_tui.text import clean_line, escape_controls
from oi_tui.workspace import Workspace


class LanguageActions:
    """Carries out `%languages`, `%run` and `%restart`."""

    def __init__(self, ui: UserInterface, workspace: Workspace) -> None:
        self._ui = ui
        self._workspace = workspace

    def is_language(self, name: str) -> bool:
        """Return whether code can be run in what is called so: `%python print(1)`."""
        return self._workspace.computer.resolve(name) is not None

    def run(self, name: str, code: str) -> None:
        """Run the person's own code. Raises CommandError where there is no such language."""
        resolved = self._workspace.computer.resolve(name)
        if resolved is None:
            names = ", ".join(self._workspace.computer.languages)
            raise CommandError(f"Unknown language “{clean_line(name, 40)}”. Languages: {names}.")
        self._ui.start(self._workspace.session.run(resolved, code))

    def restart(self) -> None:
        """End all languages; their variables are lost."""
        self._workspace.session.interrupt()
        self._workspace.conversation.reset_languages()
        self._ui.show_notice(
            "Interpreters restarted; variables, imports and working directories were cleared."
        )

    def list(self) -> None:
        """Show the languages here, and how to get others; asks their programs."""
        self._ui.run_then(
            lambda: describe(self._workspace.computer.check_availability()), self._ui.show_notice
        )

    def trust(self, name: str) -> None:
        """Show the file of a language of the person's own whole, and let it run if they want."""
        own = self._workspace.languages.custom
        try:
            content = own.show(name)
        except (OSError, ProfileError) as error:
            self._ui.show_notice(f"Could not read it: {error}", warning=True)
            return
        if content is None:
            self._ui.show_notice(f"No profile defines a language {clean_line(name, 40)}.", warning=True)
            return

        def accept() -> None:
            try:
                self._ui.show_notice(own.trust(content))
            except OSError as error:
                self._ui.show_notice(f"Could not save that: {paths.explain_write_error(error)}", warning=True)

        lines = number_lines(content)
        question = f"Trust {clean_line(name, 40)} with exactly these {len(lines)} lines?"
        self._ui.confirm(question, [escape_controls(content.place), "", *lines], accept)
