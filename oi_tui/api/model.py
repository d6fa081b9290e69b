"""The model of an interpreter: a function, a model object, or LiteLLM in a shared process."""

import sys
from collections.abc import Callable, Sequence
from functools import partial

from oi_tui.api.finalizers import finalize
from oi_tui.api.llm_settings import LlmSettings
from oi_tui.api.settings import ApiSettings
from oi_tui.api.shared_model import POOL
from oi_tui.computer_api import QuestionRefusedError
from oi_tui.engine.llm.base import Llm, LlmError
from oi_tui.engine.llm.question import ModelQuestion
from oi_tui.engine.llm.request_gate import is_direct
from oi_tui.engine.llm.transport.client import ModelProcess
from oi_tui.engine.llm.usage_report import OverBudget, UsageTracker
from oi_tui.engine.models.function_model import FunctionModel
from oi_tui.engine.models.model_info import KnownModels, ModelInfo
from oi_tui.engine.settings.profile import Profile


class ApiModel:
    """Knows which model answers, and what is known of it. `usage` counts what all turns took."""

    def __init__(self, settings: ApiSettings, llm_settings: LlmSettings, brought: Llm | None) -> None:
        self._settings = settings
        self._llm_settings = llm_settings
        self._brought = brought
        self._program: ModelProcess | None = None
        if brought is None and (program := settings.profile.completions):
            self._brought = self._program = ModelProcess(program=program)
        self._known = KnownModels(self._facts_of)
        self.usage = UsageTracker()
        #: What code asks the model just now.
        self._questions: set[ModelQuestion] = set()
        #: Names this interpreter to the pool of model processes; `id` may name another one later.
        self._lease = object()
        finalize(self, partial(POOL.release, self._lease))

    @property
    def own(self) -> Llm | None:
        """What answers in place of LiteLLM; None where LiteLLM does."""
        return self._function or self._brought

    def choose(self, *, with_function: bool = True) -> tuple[Llm, Callable[[Profile], ModelInfo]]:
        """Return what answers the next turn, and what knows about the model of a profile.

        Without `with_function`, it is what answers where `llm.completions` is not set. Raises ValueError
        where the program gave LiteLLM a budget, which the model process does not know.
        """
        model = (self.own if with_function else self._brought) or POOL.lease(self._lease)
        if not isinstance(model, ModelProcess):
            return model, _find_nothing
        _refuse_other_budget(self._settings.profile)
        return model, self._known.get_info

    def load(self) -> None:
        """Start the model process, if there is to be one; returns at once."""
        profile, model = self._settings.profile, self.choose()[0]
        if isinstance(model, ModelProcess):
            model.prepare(profile.model, profile.api_base, direct=is_direct(profile))

    @property
    def takes_images(self) -> bool:
        """Whether the images that code shows are sent to the model."""
        profile = self._settings.profile
        setting = profile.supports_vision
        sees = self.choose()[1](profile).supports_vision if setting is None else setting
        return bool(sees) and profile.emit_images

    def ask(self, text: str, images: Sequence[str] = ()) -> str:
        """Ask the model outside of the conversation, on its budget; blocks while it answers.

        Raises QuestionRefusedError with the reason where there is no answer.
        """
        profile = self._settings.profile
        model, facts = self.choose()
        try:
            question = ModelQuestion(model, profile, text, images, self.usage, facts(profile))
            self._questions.add(question)
            try:
                return question.answer()
            finally:
                self._questions.discard(question)
                self.usage.record(question.used)
        except (LlmError, OverBudget) as error:
            raise QuestionRefusedError(str(error)) from None

    def stop_questions(self) -> None:
        """Give up what code asks the model, from any thread."""
        for question in tuple(self._questions):
            question.cancel()

    def interactive_model(self) -> Llm | None:
        """Return what answers an interactive session in place of LiteLLM; None where LiteLLM does.

        Raises ValueError where `choose` does.
        """
        model = self._brought or self._function
        if model is None or isinstance(model, ModelProcess):
            _refuse_other_budget(self._settings.profile)
        return model

    def close(self) -> None:
        """End the model process if no other interpreter uses it."""
        POOL.release(self._lease)
        if self._program:
            self._program.close()

    @property
    def _function(self) -> Llm | None:
        function = self._llm_settings.function
        return FunctionModel(function) if function else None

    def _facts_of(self, model: str) -> ModelInfo | None:
        process = self._brought or POOL.lease(self._lease)
        return process.facts(model) if isinstance(process, ModelProcess) else ModelInfo()


def _find_nothing(_model: object) -> ModelInfo:
    return ModelInfo()


def _refuse_other_budget(profile: Profile) -> None:
    litellm = sys.modules.get("litellm")
    budget = vars(litellm).get("max_budget") if litellm else None
    if budget and (profile.max_budget is None or profile.max_budget > budget):
        raise ValueError(
            f"litellm.max_budget = {budget} has no effect, because requests are sent by another process. "
            "Set interpreter.llm.max_budget to the same or less."
        )
