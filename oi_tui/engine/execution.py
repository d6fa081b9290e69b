"""Runs a piece of code, after a question unless a permission covers it."""

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from oi_tui.engine import cell_target
from oi_tui.engine.cell_requests import CellRequests
from oi_tui.engine.cell_rights import CellRights
from oi_tui.engine.events import (
    Answer,
    ApprovalRequested,
    Event,
    FilesChanged,
    Noticed,
    Reject,
    Run,
    Steps,
)
from oi_tui.engine.message_log import MessageLog
from oi_tui.engine.output_recorder import OutputRecorder
from oi_tui.engine.protocols import CodeRunner
from oi_tui.engine.reply.message_builders import RunBuilder
from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.folder import ListedFolder, read_listing
from oi_tui.engine.review.model_calls import ModelCalls
from oi_tui.engine.review.permissions import Permission, Permissions
from oi_tui.engine.review.scanner import scan_code
from oi_tui.engine.review.window_actions import GrantedWindow
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.tools import (
    CALLING_LANGUAGES,
    NO_TOOLS,
    CallableTools,
    find_named,
    find_servers,
    is_tool,
    parse_arguments,
)
from oi_tui.file_changes.snapshots import ChangeSet
from oi_tui.file_changes.watcher import FileWatcher
from oi_tui.messages import Message, Report, RunEnded

#: How many characters of the names of tools are shown with a question, without being cut off anywhere.
_MOST_NAMED = 500


@dataclass(frozen=True)
class _RunLocation:
    """Where code would run: an answer to a question counts for this place only.

    `language` is None where it is unknown, `where` and `database` are in words, and `target` is what the cell
    names.
    """

    language: str | None
    where: str
    key: str
    database: str
    target: str


class Execution:
    """Has code approved and run, and knows what needs no approval.

    `stopped` is the session's own flag: once it is set, nothing is asked and nothing begins. `outputs` is the
    folder for what programs print, `earlier` what the languages remember from code that ran.
    `describe_calls` says what calls of the model by code come to; without it, cells do not reach the model.
    """

    def __init__(
        self,
        computer: CodeRunner,
        log: MessageLog,
        permissions: Permissions,
        stopped: threading.Event,
        outputs: Path | None = None,
        watcher: FileWatcher | None = None,
        earlier: EarlierCode | None = None,
        describe_calls: Callable[[ModelCalls, Profile], str] | None = None,
    ) -> None:
        self._describe_calls = describe_calls
        self.earlier = EarlierCode() if earlier is None else earlier
        self.earlier.find_current = computer.find_folder
        self.rights = CellRights(
            computer, permissions, self.earlier, reaches_model=describe_calls is not None
        )
        self._computer = computer
        self._log = log
        self._permissions = permissions
        self._stopped = stopped
        self._outputs = outputs
        self._watcher = watcher
        self._lock = threading.Lock()
        self._question: Answer | None = None
        self._running = False
        #: The tools that the running code may call.
        self.callable_tools = NO_TOOLS
        #: What the running code may ask the model.
        self.cell_requests = CellRequests()
        self._in_windows = False
        #: The database that each language used when it was last asked for.
        self._databases: dict[str, str] = {}
        self._output = OutputRecorder(computer, log)

    @property
    def granted_windows(self) -> tuple[GrantedWindow, ...] | None:
        """The windows that the running code is confined to by its grant; None where it is not confined.

        What the person revokes meanwhile is removed.
        """
        return self._permissions.windows if self._in_windows else None

    @property
    def running_requests(self) -> CellRequests | None:
        """What the running code may ask the model, and has asked; None where nothing runs."""
        with self._lock:
            return self.cell_requests if self._running else None

    def list_languages(self, profile: Profile) -> tuple[str, ...]:
        """List the languages that the model may use: the installed ones that the profile allows."""
        here = self._computer.languages
        allowed_languages = {self._computer.resolve(name) for name in profile.languages}
        return tuple(name for name in here if name in allowed_languages) if allowed_languages else here

    def interrupt(self) -> None:
        """End the question or the run; a second time, the language that runs it."""
        with self._lock:
            if self._question:
                self._question.give(Reject(stop=True))
            running, requests = self._running, self.cell_requests
        requests.stop()
        if running:
            self._computer.interrupt()

    def run_cell(
        self, code: Message, profile: Profile, note: str = "", asker: str = ""
    ) -> Steps[tuple[str | None, bool]]:
        """Ask for one piece of code and run it. Returns its final state, and whether the person was asked.

        Code of another program, the `asker`, is asked for whatever was granted: nobody granted it that.
        """
        target, _ = cell_target.split(code.content)
        if refusal := self._computer.explain_refusal_at(target) if target else None:
            yield from self._log.record(code.replace(state="failed", reason=refusal))
            return "failed", False
        with self._visit(target):
            done = yield from self._run_cell(code, profile, note, asker)
        if isinstance(done, Message):
            # The person had it run in another place, which the question did not name.
            done = yield from self.run_cell(done, profile, note, asker)
        return done

    @contextlib.contextmanager
    def _visit(self, target: str) -> Iterator[None]:
        """Switch computer, permissions and review to the target that a cell names, and back at the end."""
        if not target:
            yield
            return
        home, folder = self._computer.target_id, self._computer.target_folder
        past = self._computer.target_past
        self._permissions.enter(home)
        with self._computer.at(target), self._permissions.at(self._computer.target_id):
            self._enter_review()
            try:
                yield
            finally:
                self.earlier.enter(home, folder, past=past)

    def _run_cell(
        self, code: Message, profile: Profile, note: str, asker: str
    ) -> Steps[tuple[str | None, bool] | Message]:
        """Do what `run_cell` does, where the cell runs.

        Returns the code instead where the person changed its place.
        """
        place = self._enter_place(code, profile)
        language = place.language
        if place.database:
            note = " ".join(filter(None, (note, f"It runs in {place.database}.")))
        code, caution = _prepare_question(code, asker)
        self.earlier.servers = find_servers(profile.mcp_servers)
        if refusal := self._find_refusal(code, language, profile):
            state = "unfinished" if code.state == "unfinished" else "failed"
            yield from self._log.record(code.replace(state=state, reason=refusal))
            return state, False
        unasked, grant, caution = self._find_permission(code.content, language, profile, caution)
        granted = None
        if unasked:
            code = code.replace(decision="auto", grant=grant.words if grant else None)
            granted = None if self._permissions.all_granted else self.rights.list_granted_languages()
        else:
            answer = yield from self._ask(code, language, profile, caution, note, asker)
            if isinstance(answer, Reject):
                yield from self._log.record(_reject(code, answer))
                if answer.stop:
                    self._stopped.set()
                return "rejected", True
            if void := self._explain_void(place):
                yield from self._log.record(code.replace(state="failed", reason=void))
                return "failed", True
            if cell_target.split(answer.code)[0] != place.target:
                return code.replace(content=answer.code, proposed=_find_proposed(code))
            if answer.grant is not None:
                yield self._grant(answer.grant)
            code = _approve(code, answer)
        callable_tools = CallableTools(frozenset(self.rights.tools(code.content, language)), granted)
        in_windows = bool(unasked and grant and grant.scope == "window")
        requests = self.rights.allow_requests(code.content, language, profile)
        yield from self.run(code, callable_tools, requests, in_windows=in_windows)
        return self._log[code.id].state, code.decision != "auto"

    def _enter_place(self, code: Message, profile: Profile) -> _RunLocation:
        """Return where code would run now, and switch permissions and review to it."""
        computer = self._computer
        language = computer.resolve(code.format or "")
        self.earlier.replaced = computer.replaced
        where, key = computer.where, computer.target_id
        self._permissions.enter(key)
        # Asked each time, because what ran last may have changed files; not where nobody would see it.
        is_judged = key and (profile.safe_mode != "off" or not self._permissions.all_granted)
        self._enter_review(self._list_folder(language) if is_judged else None)
        database = self._enter_database(language)
        return _RunLocation(language, where, key, database, cell_target.split(code.content)[0])

    def _enter_review(self, listing: ListedFolder | None = None) -> None:
        """Have the review judge code by the current target."""
        computer = self._computer
        self.earlier.enter(computer.target_id, computer.target_folder, listing, past=computer.target_past)

    def _list_folder(self, language: str | None) -> ListedFolder | None:
        """Ask the place where code runs for what is in the folder of the language; None if nothing comes."""
        files = self._computer.target_files
        listing = files.list_folder(language or "") if files else ""
        return read_listing(listing, self._computer.target_folder) if listing else None

    def _explain_void(self, place: _RunLocation) -> str:
        """Return why an answer no longer counts, "" if it does: the code would run in another place now."""
        if self._computer.target_id != place.key:
            return f"Nothing ran: the question was asked {place.where or 'for this machine'}."
        if place.language and self._computer.find_database(place.language) != place.database:
            return f"Nothing ran: the question was about {place.database}."
        return ""

    def _find_permission(
        self, code: str, language: str | None, profile: Profile, caution: str
    ) -> tuple[bool, Permission | None, str]:
        """Return whether code runs without a question, by which grant, and what a question would warn of."""
        permissions, grant = self._permissions, None
        asks_for_tools = self.rights.asks_for_tools(self.rights.tools(code, language))
        needs_question = caution or asks_for_tools or self.rights.find_model_calls(code, language, profile)
        if not (needs_question or permissions.all_granted or language is None):
            grant = permissions.use(language, code, self._computer.cwd, self.earlier)
        unasked = bool(permissions.all_granted or grant) and not caution
        if unasked and (risks := self._describe_risks(language or "", code, profile)):
            return False, None, risks
        return unasked, grant, caution

    def _enter_database(self, language: str | None) -> str:
        """Return the database that the code would use.

        What was granted for another one is not granted there.
        """
        database = self._computer.find_database(language) if language else ""
        if language and database and self._databases.setdefault(language, database) != database:
            self._databases[language] = database
            self._permissions.forget_language(language)
        return database

    def _ask(
        self, code: Message, language: str | None, profile: Profile, caution: str, note: str, asker: str
    ) -> Steps[Run | Reject]:
        """Ask for code; again where it was changed and now does more than the question listed."""
        while True:
            tools, calls = (
                self.rights.tools(code.content, language),
                self.rights.find_model_calls(code.content, language, profile),
            )
            notes = [note, f"This code may call tools of MCP servers: {', '.join(tools)}." if tools else ""]
            notes.append(self._describe_calls(calls, profile) if self._describe_calls and calls else "")
            question = ApprovalRequested(code, caution, " ".join(filter(None, notes)), asker)
            answer = yield from self._wait_for_approval(question)
            if isinstance(answer, Reject) or _is_moved(code.content, answer.code):
                return answer
            calls_now = self.rights.find_model_calls(answer.code, language, profile)
            is_listed = calls_now is None or (calls is not None and calls.covers(calls_now))
            if is_listed and set(self.rights.tools(answer.code, language)) <= set(tools):
                return answer
            code = code.replace(content=answer.code)

    def _find_refusal(self, code: Message, language: str | None, profile: Profile) -> str | None:
        """Return why the code cannot be run at all; None when it can."""
        if code.state == "unfinished":
            return "The reply was cut off in the middle of this code."
        if is_tool(code.format or ""):
            return self._explain_refusal(language, code.content)
        if language is None:
            languages = ", ".join(self.list_languages(profile)) or "none is available"
            return f"Unknown language “{code.format}”. Languages: {languages}."
        allowed = [self._computer.resolve(name) or name for name in profile.languages]
        if allowed and language not in allowed:
            return f"The profile does not allow {language}. It allows: {', '.join(allowed)}."
        if missing := self._computer.explain_missing(language):
            return missing
        if not cell_target.split(code.content)[1].strip():
            return "The tool call contained no code."
        if "\0" in code.content:
            return "The code contains a NUL character, which no language accepts."
        if (
            not self._permissions.all_granted
            and len(", ".join(self.rights.tools(code.content, language))) > _MOST_NAMED
        ):
            return "The code names more tools of MCP servers than a question can list. Use fewer in one cell."
        return None

    def _explain_refusal(self, language: str | None, arguments: str) -> str | None:
        if language is None:
            return "This tool is not available: no MCP server of the profile offers it."
        if parse_arguments(arguments) is None:
            return "The arguments of the call are not a JSON object."
        return self._computer.explain_missing(language)

    def _describe_risks(self, language: str, code: str, profile: Profile) -> str:
        """Return why `safe_mode` asks although nothing else would: a sentence, or ""."""
        if profile.safe_mode == "off":
            return ""
        findings = scan_code(language, code, self._computer.cwd, self.earlier)
        if not findings.readable:
            return "safe_mode asks because this code cannot be scanned for risks."
        if not findings.risks:
            return ""
        return f"safe_mode asks because this code {', '.join(findings.risk_sentences)}."

    def _grant(self, grant: Permission) -> Noticed:
        """Stop asking for what the person granted; the notice says what that is, and how to revoke it."""
        where = ""
        if self._permissions.visiting:
            where = self._computer.where.partition(", ")[0] or "on this machine"
        grant = replace(grant, where=where)
        self._permissions.add(grant)
        if grant.scope == "everything":
            there = f" {where}" if where else ""
            return Noticed(f"Code now runs without asking{there}. %auto_run off turns this off.", "warning")
        return Noticed(
            f"{grant.words} will run without asking until you leave this conversation. "
            "%permissions revokes it.",
            "warning",
        )

    def _wait_for_approval(self, question: ApprovalRequested) -> Steps[Run | Reject]:
        with self._lock:
            if self._stopped.is_set():
                return Reject(stop=True)
            self._question = question.answer
        yield question
        answer = question.answer.wait()
        with self._lock:
            self._question = None
        return answer

    def run(
        self,
        code: Message,
        callable_tools: CallableTools | None = None,
        cell_requests: CellRequests | None = None,
        *,
        in_windows: bool = False,
    ) -> Iterator[Event]:
        """Run a piece of code that has been approved.

        It can call `callable_tools`; without them, all tools of MCP servers that it names. `cell_requests`
        is what it may ask the model; without it, nothing. With `in_windows` it is confined to the windows
        that were granted.
        """
        target, body = cell_target.split(code.content)
        if refusal := self._computer.explain_refusal_at(target) if target else None:
            yield from self._log.record(code.replace(state="failed", reason=refusal))
            return
        with self._visit(target):
            self._in_windows = in_windows
            try:
                yield from self._run(code, body, callable_tools, cell_requests or CellRequests())
            finally:
                self._in_windows = False

    def follow(self, code: Message, reports: Iterator[Report], watched: str) -> Iterator[Event]:
        """Show the rest of a run that was left running on the current target. Nothing is started.

        `watched` is the id under which the files that it changes are reported.
        """
        code = code.replace(state="running", where=self._computer.where or None)
        yield from self._log.record(code)
        files = self._computer.target_files if self._watcher else None
        if files:
            files.watch(watched)
        with self._lock:
            self._running = True
        language = self._computer.resolve(code.format or "") or code.format or ""
        self._enter_review()
        self.earlier.add(language, cell_target.split(code.content)[1], self._computer.cwd)
        writer = RunBuilder(code, self._outputs)
        try:
            ended = yield from self._output.record(code, reports, writer)
        finally:
            with self._lock:
                self._running = False
        yield from self._log.record_events(writer.finish())
        if files and (change_set := files.pop_changes()):
            yield self._note_changes(code.id, replace(change_set, id=code.id))
        yield from self._log.record(
            code.replace(state=ended.state, seconds=ended.seconds, reason=ended.reason)
        )

    def _run(
        self, code: Message, body: str, callable_tools: CallableTools | None, cell_requests: CellRequests
    ) -> Iterator[Event]:
        """Run the `body` of a cell where the computer is."""
        yield from self.report_losses()
        code = code.replace(state="running", where=self._computer.where or None)
        yield from self._log.record(code)
        ended = RunEnded("interrupted", 0.0)
        report_changes = self._watch_files(code)
        reports = self._begin(code, body, cell_requests)
        if reports is not None:
            language = self._computer.resolve(code.format or "") or code.format or ""
            if language in CALLING_LANGUAGES:
                self.callable_tools = callable_tools or CallableTools(find_named(body))
            self.earlier.add(language, body, self._computer.cwd)
            ended = yield from self._record_output(code, reports, cell_requests)
            yield from report_changes()
        yield from self._log.record(
            code.replace(state=ended.state, seconds=ended.seconds, reason=ended.reason)
        )

    def _begin(self, code: Message, body: str, cell_requests: CellRequests) -> Iterator[Report] | None:
        """Begin the run of an approved cell. Return its reports; None where a stop came first."""
        # Within the lock: an interrupt comes before it, and nothing runs, or it stops this run.
        with self._lock:
            self._running = not self._stopped.is_set()
            if not self._running:
                return None
            self.cell_requests = cell_requests
            return self._computer.run(code.format or "", body, self._log.number(code.id))

    def _record_output(
        self, code: Message, reports: Iterator[Report], cell_requests: CellRequests
    ) -> Steps[RunEnded]:
        """Record what a run prints. Return its end; afterwards the code may call nothing any more."""
        writer = RunBuilder(code, self._outputs)
        try:
            ended = yield from self._output.record(code, reports, writer)
        except BaseException:
            # A program's ctrl+c: no further events are taken, and nothing is left running.
            stopped = code.replace(state="interrupted", seconds=0.0)
            deque(chain(self._log.record_events(writer.finish()), self._log.record(stopped)), maxlen=0)
            raise
        finally:
            with self._lock:
                self._running = False
                self.callable_tools = NO_TOOLS
                self.cell_requests = CellRequests()
            cell_requests.stop()
        yield from self._log.record_events(writer.finish())
        return ended

    def _watch_files(self, code: Message) -> Callable[[], Iterator[Event]]:
        """Watch the files that a run may change. Return a function that reports their changes after it."""
        # Both are found before the run: its target may be gone afterwards.
        where = self._computer.where
        watcher = None if where else self._watcher
        files = self._computer.target_files if where and self._watcher else None
        if watcher:
            watcher.before(self._stopped.is_set)
        if files:
            files.watch(code.id)

        def report_changes() -> Iterator[Event]:
            if watcher and (change_set := watcher.after(code.id)):
                yield FilesChanged(code.id, change_set)
            if files and (change_set := files.pop_changes()):
                yield self._note_changes(code.id, change_set)

        return report_changes

    def _note_changes(self, id: str, change_set: ChangeSet) -> FilesChanged:
        """Record which files of another machine changed; their contents are kept there."""
        if self._watcher and change_set.changes:
            with contextlib.suppress(OSError):
                self._watcher.snapshots.save_change_set(change_set)
        return FilesChanged(id, change_set)

    def report_losses(self) -> Iterator[Event]:
        """Report languages that ended between runs: to the person now, to the model with its next request."""
        for loss in self._computer.pop_losses():
            for code in self._find_last_runs(loss.language):
                reason = f"{code.reason}; {loss.reason}" if code.reason else loss.reason
                yield from self._log.record(code.replace(reason=reason))
            yield Noticed(f"{loss.reason}.", "error")

    def _find_last_runs(self, language: str) -> Iterator[Message]:
        """Yield the last code that ran in a language, and if the model does not see that, the last
        that it sees.
        """
        for code in reversed(self._log.messages):
            ran = code.type == "code" and code.state in ("finished", "failed", "interrupted")
            if ran and self._computer.resolve(code.format or "") == language:
                yield code
                if code.recipient != "user":
                    return

    def skip(self, codes: Sequence[Message]) -> Iterator[Event]:
        """Say that these pieces of code did not run."""
        for code in codes:
            yield from self._log.record(code.replace(state="skipped"))


def _is_moved(before: str, after: str) -> bool:
    return cell_target.split(before)[0] != cell_target.split(after)[0]


def _prepare_question(code: Message, asker: str) -> tuple[Message, str]:
    """Return the code, ready to be asked for, and what the question warns of beside its findings, or ""."""
    caution = ""
    if code.state == "unfinished" and code.call is None:
        # A block that was never closed; the model may well have written all it wanted to.
        caution = "The model did not close this code block: it may be cut off."
        code = code.replace(state="queued")
    if asker:
        caution = f"{asker} wants to run this. It gets the output, and can list variables afterwards."
    return code, caution


def _find_proposed(code: Message) -> str:
    """Return the code as the model wrote it."""
    return code.content if code.proposed is None else code.proposed


def _approve(code: Message, answer: Run) -> Message:
    """Return the code that was approved, with what the model proposed where the person edited it."""
    proposed = _find_proposed(code)
    if answer.code == proposed:
        return code.replace(content=answer.code, decision="approved", proposed=None)
    return code.replace(content=answer.code, decision="edited", proposed=proposed)


def _reject(code: Message, answer: Reject) -> Message:
    reason = answer.reason or None
    if answer.by_person:
        return code.replace(state="rejected", decision="rejected", reason=reason)
    return code.replace(state="skipped", reason=reason)
