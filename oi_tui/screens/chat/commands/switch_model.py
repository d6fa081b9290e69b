"""Switches the model of the conversation: by name, from a list, or to a llamafile that is started first."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from oi_tui.engine.credentials.keys import find_provider, find_variable_name
from oi_tui.engine.llm import endpoint
from oi_tui.engine.models import llamafile, local_servers
from oi_tui.engine.models.llamafile import Llamafile
from oi_tui.engine.settings.profile import ProfileError
from oi_tui.screens.llamafile import LlamafileScreen
from oi_tui.screens.models import DEMO, ModelChoice, ModelsScreen
from oi_tui.text import clean_line

if TYPE_CHECKING:
    from oi_tui.screens.chat.interfaces import ChatInterface
    from oi_tui.workspace import Workspace


class ModelSwitcher:
    """Lets the person choose a model, and continues the conversation with it."""

    def __init__(self, ui: "ChatInterface", workspace: "Workspace") -> None:
        self._ui = ui
        self._workspace = workspace

    def switch_to(self, name: str) -> None:
        """Switch to the model named; a key that is missing is asked for."""
        model_choice = ModelChoice(name, self._workspace.model.choose_base(name))
        variable = find_variable_name(name, model_choice.api_base)
        has_key = variable is None or variable in os.environ or self._keeps_key(model_choice)
        if has_key or llamafile.is_source(name) or local_servers.is_local(name, model_choice.api_base):
            self.use(model_choice)
        else:
            self._ui.show_screen(self._make_screen(wanted=model_choice), self.use)

    def ask_for_key(self, is_wanted: Callable[[], bool], then: Callable[[], None]) -> None:
        """Ask for the API key that the model in use lacks, and go on; nothing is asked where there is one.

        Keys are looked for in a thread: `is_wanted` says whether the person is still to be asked afterwards.
        """
        profile, secrets = self._workspace.profile, self._workspace.secrets
        name = None if profile.api_key else find_variable_name(profile.model, profile.api_base)
        if name is None:
            return
        model_choice = ModelChoice(profile.model, profile.api_base)

        def use_choice(choice: ModelChoice | None) -> None:
            self.use(choice)
            if choice:
                then()

        def ask(there: bool) -> None:
            if not there and is_wanted():
                self._ui.show_screen(self._make_screen(wanted=model_choice, asks_key=True), use_choice)

        self._ui.run_then(lambda: secrets.find(name) is not None, ask)

    def choose(self) -> None:
        """Let the person choose from the models that were found."""
        self._ui.show_screen(self._make_screen(), self.use)

    def choose_local(self, then: Callable[[], None]) -> bool:
        """In local mode, choose a model of this machine, and go on; False where one is set already."""
        profile = self._workspace.profile
        if not profile.local or endpoint.is_this_machine(endpoint.find_server(profile)):
            return False
        is_named = "model" in profile.origins and profile.model != DEMO.model
        model_choice = ModelChoice(profile.model) if is_named else None

        def use_choice(choice: ModelChoice | None) -> None:
            self.use(choice)
            if choice:
                then()

        self._ui.show_screen(self._make_screen(local=True, wanted=model_choice), use_choice)
        return True

    def use(self, choice: ModelChoice | None) -> None:
        """Switch to the chosen model."""
        if choice is None:
            return
        if self._workspace.profile.completions:
            place = clean_line(self._workspace.profile.completions[1], 100)
            self._ui.show_notice(
                f"The profile {place} answers with a Python function; start with another profile to change "
                "the model."
            )
            return
        if llamafile.is_source(choice.model):
            self._ui.show_screen(LlamafileScreen(choice.model), self._use_llamafile)
            return
        workspace = self._workspace
        before = workspace.profile
        key = choice.api_key or (before.api_key if self._keeps_key(choice) else None)
        try:
            profile = before.with_changes(model=choice.model, api_base=choice.api_base, api_key=key)
        except ProfileError as error:
            self._ui.show_notice(str(error), warning=True)
            return
        workspace.use(profile)
        running = workspace.model.llamafile
        if running and choice.api_base != running.api_base:
            self._ui.run_in_background(lambda: workspace.model.run_llamafile(None))
        if choice.model == DEMO.model:
            self._ui.show_notice(
                "The demo model is a script, not an AI. It understands “largest files here”, “plot "
                "something”, "
                "“ask me something”, “count slowly”, “break something” and a few more."
            )
        else:
            where = f" at {clean_line(choice.api_base, 80)}" if choice.api_base else ""
            is_same = (before.model, before.api_base) == (profile.model, profile.api_base)
            now = "" if is_same else " now"
            self._ui.show_notice(f"The model is{now} {clean_line(choice.model)}{where}.")
            if wrong := endpoint.check_provider_address(profile):
                self._ui.show_notice(wrong.sentence, warning=True)

    def _keeps_key(self, choice: ModelChoice) -> bool:
        """Return whether the profile's key goes with a choice: it is for the provider and server
        that it is of.
        """
        now = self._workspace.profile
        same = find_provider(choice.model) == find_provider(now.model) and choice.api_base == now.api_base
        return same and bool(now.api_key)

    def _use_llamafile(self, result: Llamafile | str | None) -> None:
        if isinstance(result, Llamafile):
            self._ui.run_in_background(lambda: self._workspace.model.run_llamafile(result))
            self.use(ModelChoice(result.model, result.api_base))
        elif result:
            self._ui.show_notice(result, warning=True)

    def _make_screen(
        self, *, local: bool = False, wanted: ModelChoice | None = None, asks_key: bool = False
    ) -> ModelsScreen:
        profile = self._workspace.profile
        return ModelsScreen(
            profile.model,
            self._workspace.secrets,
            local=local,
            wanted=wanted,
            api_base=profile.api_base,
            asks_key=asks_key,
        )
