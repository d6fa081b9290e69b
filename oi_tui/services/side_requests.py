"""Requests to the model outside of the turns: titles, questions of running code, tests."""

import contextlib
import threading
from collections.abc import Iterator, Sequence

from oi_tui import computer_api
from oi_tui.engine.cell_requests import CellLimit, CellRequests, estimate_cost, explain_off
from oi_tui.engine.llm import titles
from oi_tui.engine.llm.base import LlmError
from oi_tui.engine.llm.context_window import estimate_tokens
from oi_tui.engine.llm.question import ModelQuestion, write_request
from oi_tui.engine.llm.usage_report import OverBudget
from oi_tui.engine.models import model_check
from oi_tui.engine.models.model_check import CheckResult
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.settings.profile import Profile
from oi_tui.services.conversation import CurrentConversation
from oi_tui.services.model import ModelService

_NO_CELL = "No cell is running, so code cannot ask the model."


class SideRequests:
    """Asks the model on the budget of the conversation. What waits can be given up from any thread."""

    def __init__(self, model: ModelService, conversation: CurrentConversation) -> None:
        self._model = model
        self._conversation = conversation
        self._naming: titles.TitleRequest | None = None
        #: Conversations whose title the model was asked for; it is asked once.
        self._asked_for_title: set[str] = set()
        #: What running code asks the model just now.
        self._questions: set[ModelQuestion] = set()
        #: Held while a question is asked that has a cost limit.
        self._paying = threading.Lock()

    def check(self, profile: Profile) -> Iterator[CheckResult]:
        """Try a profile's model with a few tokens; blocks while the model answers."""
        usage = self._conversation.session.usage
        yield from model_check.check(self._model.llm, profile, usage, self._model.facts(profile))

    def ask(self, text: str, images: Sequence[str] = (), *, from_code: bool = False) -> str:
        """Ask the model beside the conversation; blocks while it answers.

        With `from_code` it is code of a cell that asks. It may do so only while a cell runs, has the limits
        of that cell, and is given up with it.

        Raises computer_api.QuestionRefusedError with the reason where there is no answer.
        """
        profile = self._conversation.session.profile
        cell = self._conversation.session.execution.running_requests if from_code else None
        if from_code and (reason := _NO_CELL if cell is None else explain_off(profile, elsewhere=False)):
            raise computer_api.QuestionRefusedError(reason)
        facts = self._model.facts(profile)
        limits = [profile.max_budget, profile.cell_cost if cell else None]
        # What a question costs is known when it is answered: the next one waits for that.
        waits = limits != [None, None] and not facts.free
        try:
            with self._paying if waits else contextlib.nullcontext():
                return self._ask(text, images, profile, facts, cell)
        except (LlmError, OverBudget, CellLimit) as error:
            raise computer_api.QuestionRefusedError(str(error)) from None

    def _ask(
        self, text: str, images: Sequence[str], profile: Profile, facts: ModelInfo, cell: CellRequests | None
    ) -> str:
        """Ask a question and count what it costs. Raises LlmError, OverBudget and CellLimit."""
        model, usage = self._model, self._conversation.session.usage
        if cell:
            cell.begin_question(profile)
        question = ModelQuestion(model.llm, profile, text, images, usage, facts)
        self._questions.add(question)
        if cell:
            cell.add(question.cancel)
        try:
            return question.answer()
        finally:
            self._questions.discard(question)
            if cell:
                cell.remove(question.cancel)
            if not question.is_refused:
                usage.record(question.used)
                if cell and not question.is_unanswered:
                    cost = question.used.cost if question.used else None
                    size = estimate_tokens(write_request(profile, text, images))
                    cell.count_cost(estimate_cost(size, profile, facts) if cost is None else cost)

    def stop_questions(self) -> None:
        """Give up what running code asks the model."""
        for question in tuple(self._questions):
            question.cancel()

    @property
    def is_title_wanted(self) -> bool:
        """Whether the model should be asked for a title of the conversation now."""
        conversation = self._conversation
        session, profile = conversation.session, conversation.session.profile
        return (
            profile.model_titles
            and profile.model != "demo"
            and conversation.is_saved
            and conversation.id not in self._asked_for_title
            and not session.over_budget
            and titles.can_be_named(session.messages)
            and not conversation.store.is_named(conversation.id)
        )

    def name_conversation(self) -> None:
        """Ask the model for a title and keep it; blocks while it answers. What fails, fails silently."""
        conversation, model = self._conversation, self._model
        session, id_, store = conversation.session, conversation.id, conversation.store
        self._asked_for_title.add(id_)
        profile = session.profile
        try:
            request = titles.TitleRequest(
                model.llm, profile, session.messages, session.usage, model.facts(profile)
            )
        except (LlmError, OverBudget):
            return
        self._naming = request
        title = request.wait_for_title()
        self._naming = None
        if title or request.used:
            session.usage.record(request.used)
        with contextlib.suppress(OSError):
            if title and not store.is_named(id_):
                store.suggest_title(id_, title)

    def stop_naming(self) -> None:
        """Give up what `name_conversation` waits for; a turn is about to begin."""
        if self._naming:
            self._naming.cancel()
