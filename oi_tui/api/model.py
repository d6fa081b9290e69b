"""The model of an interpreter: a function, one that was brought along, or LiteLLM in a shared process."""

from collections.abc import Callable
from functools import partial

from oi_tui.api.finalizers import finalize
from oi_tui.api.llm_settings import LlmSettings
from oi_tui.api.settings import ApiSettings
from oi_tui.api.shared_model import POOL
from oi_tui.engine.llm.base import Llm
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.llm.usage_report import UsageTracker
from oi_tui.engine.models.function_model import FunctionModel
from oi_tui.engine.models.model_info import KnownModels, ModelInfo
from oi_tui.engine.settings.profile import Profile


class ApiModel:
    """Knows which model answers, and what is known of it. `account` counts what all turns took."""

    def __init__(self, settings: ApiSettings, llm_settings: LlmSettings, brought: Llm | None) -> None:
        self._llm_settings = llm_settings
        self._brought = brought
        self._program: ModelProcess | None = None
        if brought is None and (program := settings.profile.completions):
            self._brought = self._program = ModelProcess(program=program)
        self._known = KnownModels(self._facts_of)
        self.account = UsageTracker()
        #: Names this interpreter to the pool of model processes; `id` may name another one later.
        self._lease = object()
        finalize(self, partial(POOL.release, self._lease))

    @property
    def own(self) -> Llm | None:
        """What answers in place of LiteLLM; None where LiteLLM does."""
        return self._function or self._brought

    def choose(self) -> tuple[Llm, Callable[[Profile], ModelInfo]]:
        """Return what answers the next turn, and what knows about the model of a profile."""
        model = self.own or POOL.lease(self._lease)
        return model, self._known.of if isinstance(model, ModelProcess) else _nothing_known

    def conversing(self) -> Llm | None:
        """Return what answers an interactive session in place of LiteLLM."""
        return self._brought or self._function

    def close(self) -> None:
        """End the model process if no other interpreter uses it."""
        POOL.release(self._lease)
        if self._program:
            self._program.close()

    @property
    def _function(self) -> Llm | None:
        completions = self._llm_settings.completions
        return FunctionModel(completions) if completions else None

    def _facts_of(self, model: str) -> ModelInfo | None:
        process = self._brought or POOL.lease(self._lease)
        return process.facts(model) if isinstance(process, ModelProcess) else ModelInfo()


def _nothing_known(_model: object) -> ModelInfo:
    return ModelInfo()
