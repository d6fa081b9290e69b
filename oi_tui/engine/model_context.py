"""What the model gets of a conversation: its size in tokens, and summaries of its older part."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from oi_tui.engine.events import Event, Noticed, Steps, TurnEnded
from oi_tui.engine.exchange import Exchange
from oi_tui.engine.llm import compaction, token_report
from oi_tui.engine.llm.token_report import Count
from oi_tui.engine.message_log import MessageLog
from oi_tui.engine.models.model_info import ModelInfo
from oi_tui.engine.protocols import CodeRunner
from oi_tui.engine.rounds import Rounds
from oi_tui.engine.settings.profile import Profile


class ModelContext:
    """Measures the next request, and has older messages summarised.

    `profile` is called for the profile of the moment. `notes` are sent with each request; `live_names` are
    the variables that the languages have, in words.
    """

    def __init__(
        self,
        log: MessageLog,
        exchange: Exchange,
        rounds: Rounds,
        computer: CodeRunner,
        profile: Callable[[], Profile],
        facts: Callable[[Profile], ModelInfo],
        notes: Callable[[], Sequence[str]],
        live_names: Callable[[], str],
    ) -> None:
        self._log = log
        self._exchange = exchange
        self._rounds = rounds
        self._computer = computer
        self._profile = profile
        self._facts = facts
        self._notes = notes
        self._live_names = live_names

    def compact(self) -> Steps[TurnEnded]:
        """Have the model summarise older messages; from then on it gets the summary instead."""
        summary = yield from self._exchange.summarise(self._log.messages, self._profile())
        if summary:
            # What the summary does not mention may still be there; without its name, nobody would use it.
            names = self._live_names()
            content = f"{summary.content}\n\n{names}" if names else summary.content
            yield from self._log.record(replace(summary, content=content))
        else:
            yield Noticed("There is nothing to summarise yet: the whole conversation is recent.")
        return TurnEnded("done")

    def uncompact(self) -> bool:
        """Remove the last summary, so that the messages are sent again; False if there is none."""
        summary = compaction.find_summary(self._log.messages)
        if summary is None:
            return False
        self._log.forget([summary])
        return True

    def count_tokens(self, count: Count | None, prompt: str = "") -> Iterator[Event]:
        """Report, as the content of a turn, what `describe` returns."""
        yield Noticed(self.describe(count, prompt))
        yield TurnEnded("done")

    def describe(self, count: Count | None, prompt: str = "") -> str:
        """Return the parts of the next request and the cost of all; may block while LiteLLM starts.

        `count` counts tokens; None estimates them. `prompt` is a message that is not sent yet.
        """
        profile = self._profile()
        facts = self._exchange.complete(self._facts(profile), profile)
        request = self._exchange.write_request(
            self._log.messages,
            profile,
            self._computer.languages,
            self._rounds.folder,
            facts,
            self._notes(),
        )
        return token_report.report(request, facts, profile, self._exchange.usage.totals, count, prompt)
