"""The model of a workspace: its process, the facts known of it, and its key."""

import os
import threading
from collections.abc import Sequence

from oi_tui.engine.credentials.key_source import find_key_source
from oi_tui.engine.credentials.keys import Secrets, find_provider
from oi_tui.engine.llm import request_log
from oi_tui.engine.llm.base import Llm
from oi_tui.engine.llm.request_gate import is_direct
from oi_tui.engine.llm.request_log import LoggedLlm
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.models.llamafile import Llamafile
from oi_tui.engine.models.model_info import KnownModels, ModelInfo
from oi_tui.engine.settings.profile import Profile


class ModelService:
    """Owns what answers: the model process, the function of a trusted profile, or a model of the caller.

    `logged` is the model for the session; it stays the same object when another model answers.
    """

    def __init__(
        self,
        profile: Profile,
        secrets: Secrets,
        *,
        llm: Llm | None = None,
        process: ModelProcess | None = None,
    ) -> None:
        """With `llm` no profile brings another model. `process` is one that several workspaces share; whoever
        made it ends it.
        """
        self._secrets = secrets
        self._shares_process = process is not None
        self.process = process or ModelProcess(keys=secrets.key_for)
        self._brought = llm is not None
        self.llm = llm or self.process
        self.logged = LoggedLlm(self.llm)
        #: The llamafile that was started here, if one was.
        self.llamafile: Llamafile | None = None
        self._functions: list[ModelProcess] = []
        self._completions: tuple[str, str] | None = None
        self._known = KnownModels(self.process.facts)
        self._key_found = False
        self._profile = profile
        self.apply(profile)

    def apply(self, profile: Profile) -> None:
        """Use the model of this profile, and log as much as it says."""
        self._profile = profile
        request_log.set_levels(verbose=profile.verbose, debug=profile.debug)
        if profile.completions != self._completions:
            self._completions = profile.completions
            self._answer_with(profile.completions)

    @property
    def is_reached_by_process(self) -> bool:
        """Whether LiteLLM answers, and not a function or a model of the caller."""
        return self.llm is self.process

    @property
    def is_chosen(self) -> bool:
        """Whether a model was chosen, or the default one has a key."""
        profile = self._profile
        has_choice = "model" in profile.origins or profile.api_base or profile.api_key
        at_hand = self._key_found or os.environ.get("OPENAI_API_KEY")
        return bool(has_choice or at_hand or not self.is_reached_by_process)

    def find_key(self) -> bool:
        """Look for the model's key where keys are kept, which may be slow; whether there is a model."""
        if not self.is_chosen:
            self._key_found = find_key_source(self._profile, self._secrets).found
        return self.is_chosen

    def choose_base(self, model: str) -> str | None:
        """Return the base to go on with when a person only names another model: ours is for our provider."""
        profile = self._profile
        provider = find_provider(model)
        bare = "/" not in profile.model
        same = provider == find_provider(profile.model) if "/" in model else provider is None or bare
        return profile.api_base if same else None

    def facts(self, profile: Profile) -> ModelInfo:
        """Return what is known of a profile's model; nothing for a model that is a function."""
        return self._known.get_info(profile) if self.is_reached_by_process else ModelInfo()

    @property
    def takes_images(self) -> bool:
        """Whether the images that code shows are sent to the model."""
        profile = self._profile
        setting = profile.supports_vision
        sees = self.facts(profile).supports_vision if setting is None else setting
        return bool(sees) and profile.emit_images

    def count(self, model: str, texts: Sequence[str]) -> list[int] | None:
        """Count the tokens of texts for a model on this machine; None where that is not possible."""
        return self.process.count(model, texts) if self.is_reached_by_process else None

    def warm_up(self) -> None:
        """Start the model process, without waiting for it."""
        if self.is_reached_by_process:
            profile = self._profile
            direct = is_direct(profile)
            self.process.start(direct=direct)
            self.process.prepare(profile.model, profile.api_base, direct=direct)
            threading.Thread(target=self.facts, args=(profile,), daemon=True).start()

    def run_llamafile(self, running: Llamafile | None) -> None:
        """Look after a running llamafile, and end the one before it."""
        before, self.llamafile = self.llamafile, running
        if before and before is not running:
            before.stop()

    def close(self) -> None:
        """End every process that was started here."""
        if not self._shares_process:
            self.process.close()
        self.run_llamafile(None)
        for function in self._functions:
            function.close()

    def _answer_with(self, completions: tuple[str, str] | None) -> None:
        """Let the function of a trusted profile answer, in a separate process; or LiteLLM again."""
        if self._brought:
            return
        self.llm = self.process
        if completions:
            self.llm = ModelProcess(program=completions)
            # The one before may be in the middle of a reply; all are ended when the workspace is closed.
            self._functions.append(self.llm)
        self.logged.use(self.llm)
