"""Prints the events of a session in plain mode."""

from collections.abc import Callable

from oi_tui.engine.events import (
    Event,
    FileCopied,
    FilesChanged,
    MessageGrew,
    MessageRecorded,
    MessageStarted,
    Noticed,
    RetryScheduled,
    RunReported,
    TurnEnded,
)
from oi_tui.engine.output.plain import make_plain
from oi_tui.messages import DETACHED, InputRequested, Message, Starting, Stopping
from oi_tui.plain.markdown_reader import MarkdownReader
from oi_tui.text import (
    clean_line,
    clean_text,
    escape_controls,
    format_duration,
    list_hidden_characters,
    normalise_line_ends,
)

#: Before each line that a program printed: nothing that it prints can be mistaken for our own words.
MARK = "| "
#: Before each line that the model says, for the same reason, where a person is asked what may run.
INDENT = "  "
#: A line with this many characters is shown even if it has not ended.
_LONGEST_LINE = 10_000
_MARKS = {"created": "+", "changed": "~", "deleted": "-"}
#: How many changed files are named.
_NAMED = 10
_ENDS = {
    "finished": "Finished",
    "failed": "Failed",
    "interrupted": "Interrupted, variables kept",
    "lost": "Ended, variables lost",
    "rejected": "Rejected, not run",
    "skipped": "Skipped",
    "unfinished": "Reply cut off, not run",
}


class PlainEventHandler:
    """Writes events as they happen: `say` the messages, code and output, `note` the rest.

    `saved_as` keeps an image and returns its path. `echoes` says that the terminal shows what the person
    types to a program. `indent` stands before each line that the model says, whose Markdown is then read as
    text; without one, it is passed on as it is.
    """

    def __init__(
        self,
        say: Callable[[str], None],
        note: Callable[[str], None],
        saved_as: Callable[[Message], str],
        *,
        echoes: bool,
        indent: str = INDENT,
    ) -> None:
        self._say = say
        self._note = note
        self._saved_as = saved_as
        self._echoes = echoes
        self._indent = indent
        self._reader = MarkdownReader() if indent else None
        self._kinds: dict[str, str] = {}
        self._shown: set[str] = set()
        #: The code of which the end was written.
        self._over: set[str] = set()
        #: What runs now, or ran last.
        self._language = ""
        #: How many quarters of a file are copied.
        self._quarters = 0
        #: Whether the last line that was written is still open.
        self._midway = False
        #: The unfinished line of output, and how much of it a question has shown.
        self._line = ""
        self._asked: str | None = None
        #: Whether the person wants to see no more of the output, and how many lines that were.
        self._hurried = False
        self._unseen = 0

    def skip_output(self) -> None:
        """Stop showing the output of the running program."""
        self.close_line()
        self._hurried = True

    def handle_event(self, event: Event) -> None:
        """Print what happened."""
        match event:
            case MessageStarted(message):
                self._kinds[message.id] = message.type
                if message.role == "assistant":
                    self._begin(message)
            case MessageGrew(id, text) if self._kinds.get(id) == "message":
                text = clean_text(text)
                self._write(self._indent_lines(self._reader.read(text) if self._reader else text))
            case MessageGrew(id, text) if self._kinds.get(id) == "console":
                self._print(text)
            case MessageRecorded(message):
                self._record(message)
            case RunReported(_, Starting()):
                self.print_notice(f"Starting {self._language} first.")
            case RunReported(_, Stopping() as stopping):
                self.print_notice(_describe_stopping(self._language, stopping))
            case FileCopied(name, done, size):
                self._print_copy_progress(name, done, size)
            case RetryScheduled(reason, seconds):
                self.print_notice(f"{clean_line(reason)} Retrying in {seconds:.0f} s.")
            case FilesChanged(_, change_set):
                lines = [
                    f"{_MARKS[change.what]} {clean_line(change.name, 100)}"
                    for change in change_set.changes[:_NAMED]
                ]
                more = len(change_set.changes) - _NAMED
                lines += [f"{more:,} more"] if more > 0 else []
                self.print_notice(
                    "\n".join(filter(None, (f"Files: {', '.join(lines)}." if lines else "", change_set.note)))
                )
            case Noticed(text):
                self.print_notice(text)
            case TurnEnded(outcome, reason):
                self._end_output()
                if reason or outcome in ("interrupted", "failed", "paused"):
                    self.print_notice(clean_line(reason or "Stopped.", 1000))

    def _print_copy_progress(self, name: str, done: int, size: int) -> None:
        """Print how far a copy is, each time that another quarter is done."""
        before, self._quarters = self._quarters, done * 4 // (size or 1)
        if before < self._quarters < 4:
            self.print_notice(f"{name}: {self._quarters * 25} % of {size:,} bytes.")

    def print_notice(self, text: str) -> None:
        """Print a notice of the program on lines of its own."""
        self.close_line()
        self._note(f"{clean_text(text)}\n")

    def code(self, message: Message, code: str | None = None) -> None:
        """Show code, whole, as it would run; and in words what of it cannot be seen."""
        self._shown.add(message.id)
        text = message.content if code is None else code
        lines = normalise_line_ends(text, message.format).split("\n")
        count = len(lines) - (lines[-1] == "")
        self.print_notice(f"{clean_line(message.format or 'code', 30)}, {count} line{'s' * (count != 1)}:")
        self._say("".join(f"    {escape_controls(line)}\n" for line in lines[: count or 1]))
        if characters := list_hidden_characters(text):
            self.print_notice(f"Hidden characters: {clean_line(', '.join(characters), 400)}")

    def ask_input(self, language: str, request: InputRequested) -> None:
        """Show what the program that waits for a line asks for, on the line where the answer is typed."""
        hint = " (your input is hidden and not saved)" if request.masked else ""
        self.print_notice(f"{clean_line(language, 20)} is waiting for input{hint}:")
        if self._echoes:
            self._asked = self._describe_answer()
            self._say(f"{MARK}{self._asked}")
            self._midway = True

    def note_input(self, text: str, *, masked: bool) -> None:
        """Note that the person has typed a line, which the terminal has shown already."""
        if self._asked is not None:
            self._asked += "" if masked else text
            self._midway = False

    def prompt(self, text: str) -> None:
        """Ask for a line that is typed right behind the text."""
        self.close_line()
        self._note(clean_text(text))
        self._midway = True

    def note_answered(self) -> None:
        """Return the line was typed; the terminal has gone on to the next one."""
        self._midway = False

    def close_line(self) -> None:
        """Close a line that is still open."""
        if self._midway:
            self._midway = False
            self._say("\n")

    def _write(self, text: str) -> None:
        if text:
            self._say(text)
            self._midway = not text.endswith("\n")

    def _indent_lines(self, text: str) -> str:
        first, *others = text.split("\n")
        if first and not self._midway:
            first = self._indent + first
        return "\n".join([first, *(self._indent + line if line else "" for line in others)])

    def _begin(self, message: Message) -> None:
        match message.type:
            case "message":
                self.print_notice("\nAssistant:")
            case "code":
                self.print_notice(f"\nWriting {clean_line(message.format or 'code', 30)} code.")
            case "reasoning":
                self.print_notice("Thinking.")

    def _record(self, message: Message) -> None:
        match message.type:
            case "message" if message.role == "assistant":
                if self._reader:
                    self._write(self._indent_lines(self._reader.finish()))
                self.close_line()
            case "console":
                self._end_output()
            case "image":
                self._end_output()
                path = self._saved_as(message) if (message.format or "").startswith("base64") else ""
                self._say(f"{MARK}(an image{f', saved as {clean_line(path)}' if path else ''})\n")
            case "code" if message.role == "computer":
                self._end_output()
                self._say(
                    f"{MARK}({clean_line(message.format or 'a document', 30)} to be shown in a browser)\n"
                )
            case "code":
                self._record_code(message)

    def _record_code(self, message: Message) -> None:
        state = message.state or ""
        if state in ("writing", "queued", "waiting") or message.id in self._over:
            return
        if message.id not in self._shown:
            self.code(message)
        self._end_output()
        if state == "running":
            self._language = clean_line(message.format or "code", 30)
            self.print_notice(
                f"Running {self._language}{f' {clean_line(message.where, 100)}' if message.where else ''}."
            )
            return
        self._over.add(message.id)
        took = f" in {format_duration(message.seconds)}" if message.seconds is not None else ""
        reason = clean_line(message.reason or "", 300)
        if state == "interrupted" and reason.startswith(DETACHED):
            self.print_notice(f"Detached{took}, not stopped: {reason[len(DETACHED) :]}")
            return
        why = f": {reason}" if reason else "."
        self.print_notice(f"{_ENDS.get(state, state)}{took}{why}")

    # -- what programs print -------------------------------------------------------------------

    def _print(self, text: str) -> None:
        *lines, self._line = (self._line + text).split("\n")
        self._print_lines(lines)
        if len(self._line) > _LONGEST_LINE:
            self._print_lines([self._line])
            self._line = ""

    def _print_lines(self, lines: list[str]) -> None:
        if self._hurried:
            self._unseen += len(lines)
            return
        texts = [clean_text(make_plain(line)) for line in lines]
        if texts and self._asked is not None:
            question, self._asked = self._asked, None
            # What a question has shown, with the answer that was typed behind it, stands there already.
            if texts[0].rstrip() == question.rstrip():
                del texts[0]
        if texts:
            self.close_line()
            self._say("".join(f"{MARK}{text}\n" for text in texts))

    def _describe_answer(self) -> str:
        return clean_text(make_plain(self._line))

    def _end_output(self) -> None:
        if self._describe_answer().strip():
            self._print_lines([self._line])
        self._line = ""
        self._asked = None
        if self._unseen:
            lines = f"{self._unseen:,} line{'s' * (self._unseen != 1)}"
            self._say(f"{MARK}… {lines} not shown …\n")
        self._hurried, self._unseen = False, 0


def _describe_stopping(language: str, report: Stopping) -> str:
    """Describe how the run is being stopped, and what follows."""
    if report.seconds is None:
        return f"Stopping {language}. ctrl+c again ends {report.at_stake}."
    match report.step:
        case "interrupt":
            return f"Stopping {language}; it will be ended in {report.seconds:.0f} s."
        case "terminate":
            return f"Ending {language}; it will be killed in {report.seconds:.0f} s."
        case _:
            return f"Killing {language}."
