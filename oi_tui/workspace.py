"""A running application without its screen: builds the services, and gives them their settings."""

import threading
from collections.abc import Sequence
from pathlib import Path

from oi_tui import paths
from oi_tui.engine.credentials.keys import Secrets
from oi_tui.engine.credentials.redaction import learn, learn_address
from oi_tui.engine.llm import images
from oi_tui.engine.llm.base import Llm
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.session import Session
from oi_tui.engine.settings import mcp_servers
from oi_tui.engine.settings.profile import (
    Profile,
    ProfileError,
    find_conversations_folder,
    list_remarks,
    save,
)
from oi_tui.engine.settings.setting import Value
from oi_tui.engine.skills import SkillLibrary
from oi_tui.engine.storage.journal import Journal
from oi_tui.engine.storage.store import Store
from oi_tui.file_changes.snapshots import Snapshots
from oi_tui.messages import Message
from oi_tui.services.cell_model import CellModel
from oi_tui.services.conversation import CurrentConversation
from oi_tui.services.languages import Languages, LanguageService
from oi_tui.services.mcp import McpService
from oi_tui.services.model import ModelService
from oi_tui.services.side_requests import SideRequests
from oi_tui.system.environment import is_secret
from oi_tui.text import clean_line


class Workspace:
    """Puts the services together, and hands each the settings in effect: at the start, and when they change.

    `model` answers, `languages` run code, `mcp` has tools of other programs, `conversation` is the one at
    work, and `side_requests` ask the model beside its turns. `apply` of each has the effect of its settings.
    """

    def __init__(
        self,
        profile: Profile,
        profile_path: Path | None = None,
        *,
        llm: Llm | None = None,
        computer: Languages | None = None,
        borrowed: bool = False,
        conversation: tuple[Journal, Sequence[Message]] | None = None,
        models: ModelProcess | None = None,
        earlier: EarlierCode | None = None,
    ) -> None:
        """With `borrowed`, the languages belong to the caller and are not closed. `conversation` is where to
        go on. `models` is a model process that several workspaces share; its owner ends it.
        `earlier` is what borrowed languages keep from code that ran.
        """
        self.profile = profile
        self.profile_path = profile_path
        self._borrowed = borrowed
        _learn(profile)
        self.secrets = Secrets()
        self.store = Store(find_conversations_folder(profile))
        self.snapshots = Snapshots(paths.data() / "snapshots")
        self.model = ModelService(profile, self.secrets, llm=llm, process=models)
        self.mcp = McpService(
            profile,
            self.secrets,
            offered=computer is None,
            note_problem=lambda text: self.languages.note_problem(text),
            stop_signal=lambda: self.session.stop_signal,
        )
        self.languages = LanguageService(
            profile,
            self.mcp,
            folder=profile_path.parent if profile_path else paths.find_cwd(),
            private=self._list_private_paths,
            session=lambda: self.session,
            ask_model=lambda text, images: self.side_requests.ask(text, images, from_code=True),
            takes_images=lambda: self.model.takes_images,
            conversation=lambda: self.conversation.id,
            cell_model=CellModel(lambda: self.model.logged, self.model.facts, lambda: self.session),
            computer=computer,
            borrowed=borrowed,
            earlier=earlier,
        )
        self.skills = SkillLibrary(self.computer.cwd)
        self.conversation = CurrentConversation(
            profile,
            self.store,
            self.snapshots,
            self.model,
            self.languages,
            self.mcp,
            self.skills,
            conversation,
        )
        self.side_requests = SideRequests(self.model, self.conversation)

    @property
    def session(self) -> Session:
        """The conversation at work; there is always one."""
        return self.conversation.session

    @property
    def computer(self) -> Languages:
        """What runs code."""
        return self.languages.computer

    @property
    def is_new(self) -> bool:
        """Whether no model was chosen yet, and nothing was ever saved here."""
        model_settings = {"model", "api_base", "api_key"} & set(self.profile.origins)
        return not model_settings and self.model.is_reached_by_process and self.store.find_latest() is None

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on the settings, such as unknown keys, and on skills that are not used, in sentences."""
        skills = (
            f"The skill {name} of this folder is not used. %skills trust {name} shows it."
            for name in self.skills.list_untrusted()
        )
        return (
            *list_remarks(self.profile),
            *self.languages.explain_unknown(),
            *self.languages.explain_no_screen(),
            *skills,
        )

    def use(self, profile: Profile) -> None:
        """Apply other settings, from the next request on.

        Raises ProfileError for another target, which has to be reached first (`Targets.use`).
        """
        self.languages.check(profile)
        self.profile = profile
        _learn(profile)
        for service in (self.model, self.conversation, self.languages, self.mcp):
            service.apply(profile)

    def save_settings(self, **changes: Value) -> str:
        """Save settings in the profile, for the next start.

        Returns why they last only until the end of the program, or "".
        """
        if not self.profile_path:
            return ""
        try:
            save(self.profile_path, changes)
        except (OSError, ProfileError) as error:
            why = paths.explain_write_error(error) if isinstance(error, OSError) else error
            return f"This lasts until you quit; it could not be saved: {why}"
        return ""

    def edit_file(self, path: Path | None) -> None:
        """Save settings into this file from now on, or nowhere."""
        self.profile_path = path

    def switch_os_mode(self, on: bool) -> None:
        """Let the model use screen, mouse and keyboard, or stop that; Python restarts. Nothing may run."""
        self.use(self.profile.with_changes("changed", os=on))
        self.languages.declare_again()

    def explain_way_out(self, path: Path) -> str | None:
        """Return why a file is neither read nor written by the name that the person gave; None
        where it may be.

        Code in the sandbox could put a link into the folder, which leads out of it.
        """
        computer = self.computer
        if not computer.sandbox or not (target := paths.find_outside(path.absolute(), computer.cwd)):
            return None
        name, real = clean_line(str(path), 300), clean_line(str(target), 300)
        return (
            f"The sandbox is on, and {name} leads out of the folder through a link, to {real}. "
            "To use that file, type this path"
        )

    def save_image(self, message: Message) -> str:
        """Save a program's image to a file. Returns its path, "" when that fails."""
        if message.format == "path":
            return message.content
        path = images.save(message, paths.data() / "outputs")
        return str(path) if path else ""

    def warm_up(self) -> None:
        """Start what is slow, without waiting for it."""
        threading.Thread(target=self.snapshots.delete_expired, daemon=True).start()
        self.mcp.warm_up()
        self.model.warm_up()

    def close(self) -> str:
        """End everything; nothing is left running. Returns what became of unsaved messages, or ""."""
        if self.profile.keep_running == "always":
            self.session.end_after_run()
            self.languages.computer.targets.detach_at_end()
        self.side_requests.stop_naming()
        self.side_requests.stop_questions()
        self.languages.stop_computer_api()
        self.session.close()
        if not self._borrowed:
            self.conversation.save_variables()
        self.mcp.close()
        self.languages.close()
        rescued = self.conversation.close()
        self.model.close()
        return rescued

    def _list_private_paths(self) -> tuple[Path, ...]:
        """Return our files outside the usual folders."""
        return (self.store.folder, *((self.profile_path,) if self.profile_path else ()))


def _learn(profile: Profile) -> None:
    """Register the secrets of the profile, so that they are removed from logs and exports."""
    learn(profile.api_key)
    learn_address(profile.api_base)
    for line in profile.mcp_servers:
        for name, value in mcp_servers.read(line).values.items():
            if is_secret(name, value):
                learn(value)
