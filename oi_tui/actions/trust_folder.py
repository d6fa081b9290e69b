"""Shows a project's own settings in full, and trusts them."""

from oi_tui import paths, profiles
from oi_tui.actions.confirm_trust import number_lines
from oi_tui.actions.interface import UserInterface
from oi_tui.engine.credentials.trust import Trust
from oi_tui.engine.settings.profile import ProfileError, list_settings
from oi_tui.text import clean_line, escape_controls
from oi_tui.workspace import Workspace


def trust_folder(ui: UserInterface, workspace: Workspace) -> None:
    """Show the folder's own profile completely; once it is trusted, it is used from then on."""
    project = profiles.find_project(workspace.computer.cwd)
    if project is None:
        ui.show_notice(f"There is no {profiles.PROJECT} in this folder.")
        return
    if profiles.is_trusted(project):
        ui.show_notice(f"{clean_line(project.place)} is already trusted. It is read when oi-tui starts.")
        return
    try:
        trusted = profiles.add_project(workspace.profile, project)
    except ProfileError as error:
        ui.show_notice(f"It cannot be used: {clean_line(str(error))}", warning=True)
        return

    def accept() -> None:
        try:
            Trust().accept(project)
        except OSError as error:
            ui.show_notice(f"Could not save that: {paths.explain_write_error(error)}", warning=True)
        changed = workspace.profile.find_differences(trusted)
        rows = []
        for setting in list_settings():
            if setting.name in changed:
                value = setting.show(getattr(trusted, setting.name)) or setting.unset
                rows.append(f"  {setting.key}: {clean_line(value, 200)}")
        ui.show_notice("\n".join(["Now using the folder's settings:", *rows]))
        ui.apply_profile(trusted)

    lines = number_lines(project)
    question = f"Use these {len(lines)} lines of settings from this folder?"
    ui.confirm(question, [escape_controls(project.place), "", *lines], accept)
