"""Switches to another profile. A Python profile or one from the network is shown in full first."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oi_tui import profiles
from oi_tui.actions import confirm_trust
from oi_tui.actions.interface import UserInterface
from oi_tui.engine.credentials.trust import ExternalContent, Trust
from oi_tui.engine.settings.profile import Profile, ProfileError, list_remarks
from oi_tui.text import clean_line, escape_controls
from oi_tui.workspace import Workspace


@dataclass(frozen=True, slots=True)
class _LoadedProfile:
    """A profile, where its changes are saved, and what is to be known of it."""

    profile: Profile
    path: Path | None


class ProfileSwitcher:
    """Takes a profile by its name, path or address; the newest wish counts."""

    def __init__(self, ui: UserInterface, workspace: Workspace) -> None:
        self._ui = ui
        self._workspace = workspace
        self._wish = 0

    def switch_to(self, name: str, then: Callable[[], object] | None = None) -> None:
        """Switch to the profile of that name, once it is read, and trusted where it has to be.

        `then` is called once that is done, except for a profile that is to be trusted first.
        """
        self._wish += 1
        wish, before = self._wish, self._workspace.profile
        if "://" in name:
            self._ui.show_notice(f"Fetching {clean_line(name, 200)} ...")

        def apply_result(result: "_LoadedProfile | ExternalContent | str") -> None:
            if wish != self._wish:
                return
            match result:
                case _LoadedProfile():
                    self._apply(name, result)
                    if then:
                        then()
                case ExternalContent():
                    self._ask(name, result, before)
                case str():
                    self._ui.show_notice(f"The profile was not changed: {result}", warning=True)

        self._ui.run_then(lambda: _try_work(lambda: _open(name, before)), apply_result)

    def _ask(self, name: str, shown: ExternalContent, before: Profile) -> None:
        """Show the whole content; exactly what was shown is used, even if the file changes meanwhile."""

        def accept() -> None:
            # Where it cannot be remembered it is asked about again the next time.
            with suppress(OSError):
                Trust().accept(shown)
            self._ui.run_then(
                lambda: _try_work(
                    lambda: _LoadedProfile(
                        profiles.keep_overrides(profiles.make_profile(shown), before), None
                    )
                ),
                lambda result: (
                    self._ui.show_notice(f"The profile was not changed: {result}", warning=True)
                    if isinstance(result, str)
                    else self._apply(name, result)
                ),
            )

        lines = confirm_trust.number_lines(shown)
        about = [escape_controls(shown.place), confirm_trust.ABOUT[shown.kind], "", *lines]
        self._ui.confirm(f"Trust and use exactly these {len(lines)} lines?", about, accept)

    def _apply(self, name: str, found: _LoadedProfile) -> None:
        workspace = self._workspace
        workspace.edit_file(found.path)
        model = clean_line(found.profile.model, 100)
        self._ui.show_notice(f"Switched to profile {clean_line(name, 200)}; the model is {model}.")
        for remark in list_remarks(found.profile):
            self._ui.show_notice(clean_line(remark, 500), warning=True)
        self._ui.apply_profile(found.profile)
        if workspace.session.auto_run and not found.profile.auto_run:
            # It was switched on by hand, which the profile that was chosen now does not say.
            self._ui.switch_auto_run(False)


def _try_work(work: Callable[[], Any]) -> Any:
    """Return the result of the work, or why there is none."""
    try:
        return work()
    except ProfileError as error:
        return str(error)
    except OSError as error:
        return f"{error.filename or ''}: {error.strerror or error}".removeprefix(": ")


def _open(name: str, before: Profile) -> "_LoadedProfile | ExternalContent":
    """Return the profile, or what a person has to trust first. Raises ProfileError or OSError."""
    questions: list[ExternalContent] = []

    def note(shown: ExternalContent) -> bool:
        questions.append(shown)
        return False

    try:
        profile, path = profiles.open_profile(name, note, offline=before.offline)
    except ProfileError:
        if questions:
            return questions[0]
        raise
    return _LoadedProfile(_add_folder_settings(profiles.keep_overrides(profile, before)), path)


def _add_folder_settings(profile: Profile) -> Profile:
    """Return the profile with the settings of the working directory on top, where they are trusted."""
    try:
        project = profiles.find_project(Path.cwd())
    except FileNotFoundError:
        return profile
    trusted = project is not None and profiles.is_trusted(project)
    return profiles.add_project(profile, project) if project and trusted else profile
