"""Turns the reports of a run into messages and events; a value that is updated changes where it stands."""

from collections.abc import Iterator

from oi_tui.engine.events import RunReported, Steps
from oi_tui.engine.message_log import MessageLog
from oi_tui.engine.protocols import CodeRunner
from oi_tui.engine.reply.message_builders import RunBuilder
from oi_tui.messages import Displayed, Message, Printed, Report, RunEnded, ValueBegan, ValueEnded

#: The most values for which it is remembered which run shows them.
_MOST_SHOWING = 200


class OutputRecorder:
    """Records what runs print and display, and remembers which run shows a value that may be shown again."""

    def __init__(self, computer: CodeRunner, log: MessageLog) -> None:
        self._computer = computer
        self._log = log
        #: The runs that showed such values, by the place, the language and the key.
        self._showing: dict[tuple[str, str, str], RunBuilder] = {}

    def record(self, code: Message, reports: Iterator[Report], writer: RunBuilder) -> Steps[RunEnded]:
        """Record and show the reports of a run. Returns the last one."""
        ended = RunEnded("interrupted", 0.0)
        builder, updated = writer, dict[str, int]()
        repeats = False
        for report in reports:
            if isinstance(report, RunEnded):
                ended = report
            elif isinstance(report, Printed | Displayed):
                yield from self._log.record_events(builder.feed(report), growth=builder.whole)
            elif isinstance(report, ValueBegan) and report.is_earlier:
                builder = self._find(code, report.key) or writer
                if builder is not writer:
                    updated[builder.code.id] = self._log.number(builder.code.id)
                yield RunReported(code.id, report)
            elif isinstance(report, ValueEnded) and builder is not writer and not repeats:
                yield from self._log.record_events(builder.finish())
                builder = writer
                yield RunReported(code.id, report)
            else:
                if isinstance(report, ValueBegan | ValueEnded):
                    repeats = isinstance(report, ValueBegan) and report.kind == "repeat"
                if isinstance(report, ValueBegan) and report.key:
                    self._remember(code, report.key, writer)
                yield RunReported(code.id, report)
        if updated:
            numbers = ", ".join(str(number) for number in sorted(updated.values()))
            yield from self._log.record_events(
                writer.add_for_model(f"[The output of cell {numbers} was updated.]")
            )
        return ended

    def _remember(self, code: Message, key: str, run: RunBuilder) -> None:
        """Remember which run shows a value."""
        place = (self._computer.target_id, code.format or "", key)
        self._showing.pop(place, None)
        self._showing[place] = run
        if len(self._showing) > _MOST_SHOWING:
            del self._showing[next(iter(self._showing))]

    def _find(self, code: Message, key: str | None) -> RunBuilder | None:
        """Return the earlier run that shows a value, where its cell is still in the conversation."""
        run = self._showing.get((self._computer.target_id, code.format or "", key or ""))
        there = run is not None and any(message.id == run.code.id for message in self._log.messages)
        return run if there else None
