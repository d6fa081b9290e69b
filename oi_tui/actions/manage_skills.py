"""Lists skills, has a project's skills trusted, and saves a conversation's code as a skill."""

from oi_tui import paths
from oi_tui.actions.interface import UserInterface
from oi_tui.engine import skills
from oi_tui.engine.skills import SkillError
from oi_tui.text import clean_line, escape_controls
from oi_tui.workspace import Workspace


class SkillActions:
    """Carries out `%skills`."""

    def __init__(self, ui: UserInterface, workspace: Workspace) -> None:
        self._ui = ui
        self._workspace = workspace

    def list(self) -> None:
        """List the skills, and how to get one."""
        lines = []
        all_skills, problems = self._workspace.skills.read_all()
        for skill in all_skills:
            state = "" if skill.trusted else f" (not used; %skills trust {skill.name})"
            source = f" (from the package {skill.package})" if skill.package else ""
            lines.append(f"{skill.name}: {skill.description}{state}\n    {paths.shorten(skill.path)}{source}")
        lines = [*(lines or ["There are no skills."]), *problems]
        hint = "%skills save NAME makes a skill from the code that ran here. Your own skills are in"
        self._ui.show_notice("\n".join([*lines, f"{hint} {paths.shorten(skills.find_folder())}."]))

    def trust(self, name: str) -> None:
        """Show a skill of a project or a package whole, and use it if the person wants."""
        skill = self._workspace.skills.find_untrusted(name)
        if skill is None:
            is_used = self._workspace.skills.find(name) is not None
            why = "is already used" if is_used else "does not exist"
            self._ui.show_notice(f"The skill {clean_line(name, 64)} {why}.", warning=not is_used)
            return

        def accept() -> None:
            try:
                self._workspace.skills.trust(skill)
            except OSError as error:
                self._ui.show_notice(f"Could not save that: {paths.explain_write_error(error)}", warning=True)
            else:
                self._ui.show_notice(f"The skill {skill.name} is used until its file changes.")

        lines = escape_controls(skill.text).splitlines()
        about = [escape_controls(str(skill.path)), "The model gets these instructions.", "", *lines]
        question = f"Trust the skill {skill.name} with exactly these {len(lines)} lines?"
        self._ui.confirm(question, about, accept)

    def save(self, name: str) -> None:
        """Make a skill of the code that ran, have it edited and shown, and save it if the person wants."""
        try:
            target = skills.choose_path(name)
            text = skills.write_draft(name, self._workspace.session.messages)
        except SkillError as error:
            self._ui.show_notice(str(error), warning=True)
            return
        text = self._ui.edit(text, ".md")
        if not text.strip():
            self._ui.show_notice("Not saved: the text is empty.", warning=True)
            return

        def write() -> None:
            try:
                skills.save(name, text)
            except (SkillError, OSError) as error:
                why = paths.explain_write_error(error) if isinstance(error, OSError) else error
                self._ui.show_notice(f"Could not save the skill: {why}", warning=True)
            else:
                self._ui.show_notice(
                    f"Saved {paths.shorten(target)}. Edit that file to improve the instructions."
                )

        self._ui.confirm(f"Save this as the skill {name}?", escape_controls(text).splitlines(), write)
