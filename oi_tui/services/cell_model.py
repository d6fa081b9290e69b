"""The model of the conversation for Python cells: `llm("...")` and `llm_map("classify: {}", rows)`."""

import json
import math
import socket
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from oi_tui.engine.cell_requests import USUAL_REPLY, CellLimit, CellRequests, explain_off
from oi_tui.engine.exchange import LONGEST_WAIT, RETRIES
from oi_tui.engine.llm.base import Llm, LlmError
from oi_tui.engine.llm.context_window import estimate_tokens
from oi_tui.engine.llm.question import ModelQuestion, write_request
from oi_tui.engine.llm.usage_report import OverBudget
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.session import Session
from oi_tui.engine.settings.profile import Profile
from oi_tui.runtimes.cell_socket import CellRequest, CellSocket, answer_request
from oi_tui.runtimes.language import Language, Start
from oi_tui.system import environment_names
from oi_tui.text import format_dollars, repair_surrogates

#: The longest request, in bytes.
_LONGEST = 64_000_000
#: How many requests of a cell may be under way at once.
_MOST_AT_ONCE = 32
#: How many characters of prompts and replies are remembered.
_REMEMBERED = 20_000_000
#: A reply shorter than this is not worth its request, in tokens.
_SHORT_REPLY = 64
#: What fails for one row because of these fails for all of them.
_FOR_ALL = ("no_key", "key", "model", "address", "refused", "quota", "process")
_NOT_THE_CELL = "Only the process that runs the cell can ask the model, not a process that it starts."
_NOT_THIS_CELL = "This code was not started by the cell that runs now, so it cannot ask the model."
_NOTE = (
    'Python code can ask you: llm("...") returns your reply as a string, and llm_map("Classify: {{}}", rows) '
    "asks once for each row and returns the replies in order. Use this where texts need judgement that code "
    "does not have. Name the function in the cell that uses it. One cell can send {} requests."
)


class _Stopped(Exception):  # noqa: N818 -- it is what happened, not an error
    """The code no longer waits, or its run was stopped."""


class _FailedError(Exception):
    """There is no reply; the text says why. `for_all`: there will be none for the other prompts either."""

    def __init__(self, reason: str, *, for_all: bool = False) -> None:
        super().__init__(reason)
        self.for_all = for_all


@dataclass(frozen=True, slots=True)
class _Call:
    """What code asks: prompts, and how."""

    prompts: Sequence[str]
    system: str = ""
    max_tokens: int | None = None
    at_once: int = 1
    cached: bool = True


@dataclass(frozen=True)
class _Job:
    """A call that is carried out: what it asks, of which model, what it may spend, and its requests."""

    call: _Call
    profile: Profile
    facts: ModelInfo
    rights: CellRequests
    work: "_CallRequests"


class CellModel:
    """Gives Python cells `llm()` and `llm_map()`, and sends their requests on the budget of the session."""

    def __init__(
        self,
        llm: Callable[[], Llm],
        facts: Callable[[Profile], ModelInfo],
        session: Callable[[], Session],
    ) -> None:
        self._llm = llm
        self._facts = facts
        self._session = session
        self._is_running: Callable[[int], bool] = lambda _pid: False
        self._socket = CellSocket("model", self._answer)
        self._cache: OrderedDict[tuple[object, ...], str] = OrderedDict()
        self._cached = 0
        #: Held for what follows; notified when a request has ended.
        self._changed = threading.Condition()
        #: How many requests are under way, and what they cost at most, in USD.
        self._count, self._cost = 0, 0.0

    def add_to(
        self, languages: Sequence[Language], is_running: Callable[[int], bool], sandboxed: Callable[[], bool]
    ) -> tuple[Language, ...]:
        """Return the languages, of which Python reaches the model.

        `is_running` says whether a process is the language that runs the cell.
        """
        self._is_running = is_running
        return tuple(
            self._add_address(item, sandboxed) if item.name == "python" else item for item in languages
        )

    def describe(self, *, elsewhere: bool) -> str:
        """Return what the model is told of this; "" where it is off."""
        profile = self._session().profile
        return "" if explain_off(profile, elsewhere=elsewhere) else _NOTE.format(f"{profile.cell_requests:,}")

    def close(self) -> None:
        """Stop answering requests."""
        self._socket.close()

    def _add_address(self, python: Language, sandboxed: Callable[[], bool]) -> Language:
        start = python.start

        def start_with_address(program: str, folder: Path) -> Start:
            launch = start(program, folder)
            if sandboxed():
                return launch
            return replace(
                launch, env={**launch.env, environment_names.MODEL_SOCKET: self._socket.make_path()}
            )

        return replace(python, start=start_with_address, extended=True)

    def _answer(self, connection: socket.socket) -> None:
        # What began in an earlier cell does not get the rights of this one.
        rights = self._session().execution.cell_requests
        work = _CallRequests()

        def answer(request: CellRequest) -> None:
            try:
                call = _read(request.line)
                if not self._is_running(request.peer):
                    raise CellLimit(_NOT_THE_CELL)
                if rights is not self._session().execution.cell_requests:
                    raise CellLimit(_NOT_THIS_CELL)
                rights.add(work.stop)
                try:
                    self._carry_out(call, rights, request, work)
                finally:
                    rights.remove(work.stop)
            except (CellLimit, ValueError) as error:
                request.send({"error": str(error)})

        answer_request(connection, _LONGEST, answer, work.stop)

    def _carry_out(
        self, call: _Call, rights: CellRequests, request: CellRequest, work: "_CallRequests"
    ) -> None:
        """Ask for each prompt, and send each answer as it comes; equal prompts are asked once."""
        # Slow to load, and not needed for the first frame.
        from concurrent.futures import ThreadPoolExecutor

        profile = self._session().profile
        if off := explain_off(profile, elsewhere=False):
            raise CellLimit(off)
        places: dict[object, list[int]] = {}
        for index, prompt in enumerate(call.prompts):
            places.setdefault(prompt if call.cached else index, []).append(index)
        questions: list[tuple[str, list[int]]] = []
        answers: list[tuple[str, list[int]]] = []
        for indexes in places.values():
            prompt = call.prompts[indexes[0]]
            text = self._recall(_make_key(profile, call, prompt)) if call.cached else None
            (questions if text is None else answers).append((prompt if text is None else text, indexes))
        if rights.most == 0 or questions:
            rights.begin(len(questions))
        facts = self._facts(profile) if questions else ModelInfo()
        job = _Job(call, profile, facts, rights, work)
        for text, indexes in answers:
            request.send({"at": indexes, "text": text, "cached": True})

        def ask(prompt: str, indexes: list[int]) -> None:
            try:
                if work.failed:
                    raise _FailedError(work.failed)
                answer = {"text": self._ask(prompt, job)}
            except _Stopped:
                return
            except _FailedError as failed:
                if failed.for_all:
                    work.failed = work.failed or str(failed)
                answer = {"error": str(failed)}
            try:
                request.send({"at": indexes, **answer, "cost": rights.spent})
            except (OSError, ValueError):
                work.stop()

        with ThreadPoolExecutor(min(call.at_once, max(len(questions), 1))) as pool:
            for prompt, indexes in questions:
                pool.submit(ask, prompt, indexes)
        if work.is_stopped:
            request.send({"error": "The run was stopped."})
        else:
            request.send({"done": True, "cost": rights.spent, "failed": work.failed})

    def _ask(self, prompt: str, job: _Job) -> str:
        """Ask once, and again where that may help. Raises _FailedError and _Stopped."""
        for wait in (*RETRIES, None):
            try:
                return self._ask_once(prompt, job)
            except LlmError as error:
                info = error.info
                pause = info.retry_after or wait
                if wait is None or not info.retryable or pause is None or pause > LONGEST_WAIT:
                    raise _FailedError(info.sentence, for_all=info.kind in _FOR_ALL) from None
                if job.work.wait(pause):
                    raise _Stopped from None
            except (OverBudget, CellLimit) as error:
                raise _FailedError(str(error), for_all=True) from None
        raise AssertionError("the last try returns or raises")

    def _ask_once(self, prompt: str, job: _Job) -> str:
        call, profile, facts, work = job.call, job.profile, job.facts, job.work
        session = self._session()
        size = estimate_tokens(write_request(profile, prompt, (), call.system))
        longest, most = self._reserve(size, job)
        question = None
        try:
            if work.is_stopped:
                raise _Stopped
            question = ModelQuestion(
                self._llm(),
                profile,
                prompt,
                (),
                session.usage,
                facts,
                system=call.system,
                max_tokens=longest or call.max_tokens,
            )
            work.add(question)
            text = question.answer()
        except LlmError:
            if work.is_stopped:
                raise _Stopped from None
            raise
        finally:
            if question:
                work.remove(question)
                if not question.is_refused:
                    usage = question.used
                    session.usage.record(usage, most)
                    job.rights.count_cost(usage.cost if usage and usage.cost is not None else most)
            # Not before that is counted: those who wait would take it for money that is left.
            self._release(most)
        if work.is_stopped:
            raise _Stopped
        if question.is_cut and longest:
            raise _FailedError("The reply was cut off: the cost limit is reached.", for_all=True)
        self._remember(_make_key(profile, call, prompt), text)
        return text

    def _reserve(self, size: int, job: _Job) -> tuple[int | None, float]:
        """Wait until a request of that size surely fits into what may be spent, beside those under way.

        Returns how long the reply may be, where only part of the longest one can be paid, and the most that
        the request costs. Raises CellLimit and _Stopped.
        """
        facts = job.facts
        price = 0.0 if facts.free else facts.prompt_price
        reply_price = facts.completion_price or 0.0
        with self._changed:
            if price is None or facts.free:
                self._count += 1
                return None, 0.0
            reply = job.call.max_tokens or job.profile.max_tokens or facts.max_output or USUAL_REPLY
            prompt, longest = size * price, None
            while True:
                if job.work.is_stopped:
                    raise _Stopped
                money_left = self._compute_left(job.profile, job.rights)
                most = prompt + reply * reply_price
                if most <= money_left:
                    break
                if not self._count:
                    longest = int((money_left - prompt) / reply_price) if reply_price else 0
                    if longest < min(reply, _SHORT_REPLY):
                        raise CellLimit(_describe_limit(job.profile, job.rights, prompt, money_left))
                    most = money_left
                    break
                self._changed.wait(0.1)
            self._count += 1
            self._cost += most
        return longest, most

    def _compute_left(self, profile: Profile, rights: CellRequests) -> float:
        """Return what may still be spent, in USD, when all that is under way costs as much as it can."""
        money_left = math.inf
        if rights.cost is not None:
            money_left = rights.cost - rights.spent
        if profile.max_budget is not None:
            money_left = min(money_left, profile.max_budget - self._session().usage.spent)
        return money_left - self._cost

    def _release(self, most: float) -> None:
        with self._changed:
            self._count -= 1
            self._cost = max(self._cost - most, 0.0) if self._count else 0.0
            self._changed.notify_all()

    def _recall(self, key: tuple[object, ...]) -> str | None:
        with self._changed:
            if key in self._cache:
                self._cache.move_to_end(key)
            return self._cache.get(key)

    def _remember(self, key: tuple[object, ...], text: str) -> None:
        with self._changed:
            self._forget(key)
            self._cache[key] = text
            self._cached += _measure_size(key, text)
            while self._cached > _REMEMBERED and len(self._cache) > 1:
                self._forget(next(iter(self._cache)))

    def _forget(self, key: tuple[object, ...]) -> None:
        text = self._cache.pop(key, None)
        if text is not None:
            self._cached -= _measure_size(key, text)


class _CallRequests:
    """The requests of one call, which can be given up from any thread."""

    def __init__(self) -> None:
        #: Why none of the other prompts can be answered either.
        self.failed = ""
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._questions: set[ModelQuestion] = set()

    @property
    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait at most `seconds`, or until the work is cancelled. Returns whether it was."""
        return self._stopped.wait(seconds)

    def add(self, question: ModelQuestion) -> None:
        with self._lock:
            self._questions.add(question)
            stopped = self._stopped.is_set()
        if stopped:
            question.cancel()

    def remove(self, question: ModelQuestion) -> None:
        with self._lock:
            self._questions.discard(question)

    def stop(self) -> None:
        """Give everything up."""
        with self._lock:
            self._stopped.set()
            questions = tuple(self._questions)
        for question in questions:
            question.cancel()


def _read(line: bytes) -> _Call:
    """Read what code asks. Raises ValueError with a sentence."""
    try:
        request: Mapping[str, Any] = json.loads(line)
        prompts = [repair_surrogates(str(item)) for item in request["prompts"]]
        longest = request.get("max_tokens")
        return _Call(
            prompts,
            repair_surrogates(str(request.get("system") or "")),
            None if longest is None else max(int(longest), 1),
            min(max(int(request.get("at_once", 1)), 1), _MOST_AT_ONCE),
            bool(request.get("cache", True)),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ValueError("The request is not understood, or longer than 64 MB.") from None


def _make_key(profile: Profile, call: _Call, prompt: str) -> tuple[object, ...]:
    """Return everything that the reply depends on."""
    longest = call.max_tokens or profile.max_tokens
    return profile.model, profile.api_base, profile.temperature, longest, call.system, prompt


def _measure_size(key: tuple[object, ...], text: str) -> int:
    return len(text) + sum(len(item) for item in key if isinstance(item, str))


def _describe_limit(profile: Profile, rights: CellRequests, prompt: float, left: float) -> str:
    """Say which limit has no room for a request; `prompt` is the price of its prompt alone."""
    of_cell = math.inf if rights.cost is None else rights.cost - rights.spent
    if left >= of_cell:
        return (
            f"This cell has spent {format_dollars(rights.spent)} of the {format_dollars(rights.cost or 0)} "
            "that a cell may spend on requests to the model (cell_cost). "
            f"This one would cost more than {format_dollars(prompt)}."
        )
    return (
        f"The next request would cost more than {format_dollars(prompt)}. "
        "With what was spent so far, that is more than "
        f"the budget of {format_dollars(profile.max_budget or 0)}."
    )
