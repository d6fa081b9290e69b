"""Turns the parts of a reply, or the reports of a run, into messages that grow."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from oi_tui.engine.events import Event, MessageGrew, MessageRecorded, MessageStarted, Noticed
from oi_tui.engine.llm.signed_reasoning import SIGNATURE
from oi_tui.engine.output.console import ConsoleText
from oi_tui.engine.output.plain import LineEnds
from oi_tui.engine.reply.parts import (
    CodeEnded,
    CodeGrew,
    CodeStarted,
    Part,
    ReasoningEnded,
    ReasoningPart,
    TextPart,
    UnreadableCall,
)
from oi_tui.messages import Displayed, Message, MessageType, Printed, make_message_id
from oi_tui.text import repair_surrogates


class ReplyBuilder:
    """Writes one reply of the model down as messages. `codes` are its pieces of code, in order."""

    def __init__(self, resolve: Callable[[str], str | None], model: str | None = None) -> None:
        """`model` is recorded with the reasoning, which only models of the same family get back."""
        self.codes: list[Message] = []
        #: How many calls could not be understood.
        self.unreadable = 0
        self._resolve = resolve
        self._reply = make_message_id()
        self._model = model
        self._open: Message | None = None
        self._content: list[str] = []
        #: The text of the reply so far, without tool calls.
        self._text: list[Message] = []
        self._torn = False

    def tear(self, *, call: bool) -> None:
        """Note that a piece of the reply is missing: code that is being written is not run.

        `call`: tool calls have begun, of which what is missing may be a part.
        """
        self._torn = call or (self._open is not None and self._open.type == "code")

    def feed(self, part: Part) -> Iterator[Event]:
        """Yield the events that follow from the next part of the reply."""
        match part:
            case TextPart(text):
                yield from self._say("message", text)
            case ReasoningPart(text):
                yield from self._say("reasoning", text)
            case ReasoningEnded():
                yield from self._close()
                yield from self._turn_into_thoughts()
            case CodeStarted(language, call):
                yield from self._close()
                self._torn = self._torn and call is not None
                yield from self._begin(
                    Message(
                        role="assistant",
                        type="code",
                        format=self._resolve(language) or language,
                        state="writing",
                        call=call,
                        reply=self._reply,
                    )
                )
            case CodeGrew(text):
                yield from self._grow(text)
            case CodeEnded(complete):
                yield from self._close(complete=complete)
            case UnreadableCall(raw):
                self.unreadable += 1
                yield from self._close()
                yield from self._say("message", raw)
                yield Noticed(
                    "The model's tool call could not be read and is shown as received. %continue asks again; "
                    "or copy the code and run it with “%run LANGUAGE CODE”.",
                    "warning",
                )

    def finish(self, *, cut: bool) -> Iterator[Event]:
        """Yield the events that end the reply.

        `cut`: it broke off, so code still being written is unfinished.
        """
        yield from self._close(complete=not cut)

    def sign(self, signed: Mapping[str, Any] | None) -> Iterator[Event]:
        """Record what the model wants back with its tool calls, and which model that is."""
        for place, code in enumerate(self.codes):
            if code.call and (signed or SIGNATURE in code.call):
                self.codes[place] = code.replace(model=self._model, signed=signed)
                yield MessageRecorded(self.codes[place])
                signed = None

    def _say(self, kind: MessageType, text: str) -> Iterator[Event]:
        if not text:
            return
        if self._open is None or self._open.type != kind:
            if not text.strip():
                return
            yield from self._close()
            model = self._model if kind == "reasoning" else None
            yield from self._begin(Message(role="assistant", type=kind, reply=self._reply, model=model))
        yield from self._grow(text)

    def _turn_into_thoughts(self) -> Iterator[Event]:
        """Make thoughts of the text so far: its words are not sent again, and its code is never offered."""
        text, self._text = self._text, []
        thought_ids = {message.id for message in text}
        self.codes = [code for code in self.codes if code.id not in thought_ids]
        for message in text:
            yield MessageRecorded(_as_thought(message))

    def _begin(self, message: Message) -> Iterator[Event]:
        self._open = message
        self._content = []
        yield MessageStarted(message)

    def _grow(self, text: str) -> Iterator[Event]:
        if self._open is not None and text:
            self._content.append(text)
            yield MessageGrew(self._open.id, text)

    def _close(self, *, complete: bool = True) -> Iterator[Event]:
        if self._open is None:
            return
        message = self._open.replace(content=repair_surrogates("".join(self._content)))
        self._open = None
        if message.type == "code":
            message = message.replace(state="queued" if complete and not self._torn else "unfinished")
            self.codes.append(message)
        if message.type != "reasoning" and message.call is None:
            self._text.append(message)
        yield MessageRecorded(message)


def _as_thought(message: Message) -> Message:
    """Return text that turned out to be a thought; code keeps its place on the screen, but can never run."""
    if message.type != "code":
        return message.replace(recipient="user")
    return message.replace(
        state="skipped",
        recipient="user",
        reason="The model wrote this code in its reasoning; it was not offered to run.",
    )


class RunBuilder:
    """Writes what one run shows down as messages: console text, broken by images where they came."""

    def __init__(self, code: Message, folder: Path | None) -> None:
        self.code = code
        self._folder = folder
        self._open: Message | None = None
        self._text = ConsoleText("", None)
        self._line_ends = LineEnds()
        self._silent = True
        #: The images that the program may show again, by their keys.
        self._updatable: dict[str, Message] = {}
        #: What the model gets in place of the last output.
        self._view: str | None = None

    @property
    def whole(self) -> bool:
        """True while the text of the open message is kept whole."""
        return self._text.whole

    def feed(self, report: Printed | Displayed) -> Iterator[Event]:
        """Yield the events that follow from a report."""
        self._silent = False
        if (earlier_image := self._find_earlier_image(report)) and isinstance(report, Displayed):
            yield MessageRecorded(
                earlier_image.replace(format=report.format, content=report.content, view=report.view)
            )
            return
        if isinstance(report, Displayed):
            yield from self._close()
            kind: MessageType = "image" if report.format.startswith("base64") else "code"
            message = self._new(kind, report.format, report.content)
            if report.view is not None and report.view is self._view:
                # The text that was printed with it carries what the model gets of both.
                message = message.replace(recipient="user")
            else:
                self._view = report.view
                message = message.replace(view=report.view)
            if report.key and kind == "image":
                self._updatable[report.key] = message
            yield MessageRecorded(message)
            return
        if report.view is not self._view:
            yield from self._close()
            self._view = report.view
        if self._open is None:
            self._open = self._new("console", "output", "").replace(view=report.view, table=report.table)
            self._text = ConsoleText(self._open.id, self._folder)
            yield MessageStarted(self._open)
        self._text.write(self._line_ends.write(report.text))
        # The screen gets what a terminal gets: full-screen programs need the carriage returns.
        yield MessageGrew(self._open.id, report.text)

    def _find_earlier_image(self, report: Printed | Displayed) -> Message | None:
        """Return the image whose place a report's image takes."""
        if not isinstance(report, Displayed) or not report.format.startswith("base64"):
            return None
        return self._updatable.get(report.key or "")

    def add_for_model(self, text: str) -> Iterator[Event]:
        """Yield the events that tell the model something which the person sees elsewhere."""
        self._silent = False
        yield from self._close()
        yield MessageRecorded(self._new("console", "output", "").replace(view=text))

    def finish(self) -> Iterator[Event]:
        """Yield the events that end the run; one that showed nothing leaves an empty console message."""
        yield from self._close()
        if self._silent:
            yield MessageRecorded(self._new("console", "output", ""))

    def _close(self) -> Iterator[Event]:
        if self._open is None:
            return
        self._text.write(self._line_ends.close())
        self._text.close()
        yield MessageRecorded(self._open.replace(content=self._text.content()))
        self._open = None

    def _new(self, kind: MessageType, format: str, content: str) -> Message:
        return Message(
            role="computer",
            type=kind,
            format=format,
            content=content,
            parent=self.code.id,
            recipient=self.code.recipient,
        )
