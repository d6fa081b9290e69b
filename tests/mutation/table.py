"""Which modules are changed by the mutation test, and which tests are to notice it."""

from collections.abc import Mapping, Sequence

REVIEW = (
    "tests/unit/review/test_python_classes.py",
    "tests/unit/review/test_scanner.py",
    "tests/unit/review/test_overwriting.py",
    "tests/unit/review/test_checkers.py",
    "tests/unit/review/test_checker_positions.py",
    "tests/unit/review/test_cells.py",
    "tests/unit/review/test_sql_rules.py",
    "tests/unit/review/test_window_actions.py",
    "tests/unit/review/test_folder.py",
    "tests/unit/review/test_python_paths.py",
    "tests/unit/engine/test_session.py",
)
REQUESTS = (
    "tests/unit/llm/test_request_gate.py",
    "tests/unit/llm/test_hosts.py",
    "tests/unit/llm/test_urls.py",
    "tests/unit/llm/test_context_window.py",
    "tests/unit/llm/test_recent_messages.py",
    "tests/unit/models/test_model_check.py",
)
REPLIES = (
    "tests/unit/reply/test_parser.py",
    "tests/unit/reply/test_partial_json.py",
    "tests/unit/reply/test_lookalikes.py",
    "tests/unit/reply/test_console_sessions.py",
)
WRITER = (
    "tests/unit/llm/test_request.py",
    "tests/unit/llm/test_requests.py",
    "tests/unit/llm/test_recent_messages.py",
    "tests/unit/llm/test_vision.py",
    "tests/unit/llm/test_context_and_cost.py",
    "tests/unit/llm/test_signed_reasoning.py",
    "tests/unit/llm/test_raw_stream.py",
    "tests/unit/llm/test_same_history.py",
    "tests/unit/engine/test_standing_output.py",
)
EXECUTED = (
    "tests/unit/engine/test_execution.py",
    "tests/unit/engine/test_session.py",
    "tests/unit/engine/test_rerun.py",
    "tests/unit/engine/test_offered_blocks.py",
    "tests/unit/review/test_checkers.py",
    "tests/unit/mcp_client/test_tools.py",
    "tests/runtimes/remote/test_cell_targets.py",
)
STORAGE = (
    "tests/unit/storage/test_end_notes.py",
    "tests/unit/storage/test_journal.py",
    "tests/unit/storage/test_store.py",
    "tests/unit/storage/test_listing.py",
    "tests/unit/storage/test_old_formats.py",
    "tests/unit/storage/test_append_file.py",
    "tests/unit/storage/test_undo_history.py",
    "tests/unit/storage/test_power_cut.py",
    "tests/unit/storage/test_kill_points.py",
    "tests/unit/engine/test_session.py",
    "tests/unit/engine/test_rerun.py",
)
LISTED = (
    "tests/unit/storage/test_store.py",
    "tests/unit/storage/test_listing.py",
    "tests/unit/storage/test_full_text_index.py",
    "tests/unit/storage/test_packed_texts.py",
    "tests/unit/storage/test_kill_points.py",
    "tests/pilot/screens/test_navigator.py",
)
KEY_GUARD = ("tests/unit/widgets/test_key_guard.py",)
QUESTION = ("tests/unit/widgets/test_question.py",)
APPROVAL = ("tests/pilot/test_approval.py",)
#: Without those that start languages: they would notice more, and take hours.
RUNNING = (
    "tests/unit/runtimes/test_run_output.py",
    "tests/unit/runtimes/test_names_of_cells.py",
    "tests/unit/runtimes/test_stop_steps.py",
    "tests/unit/runtimes/test_input_watch.py",
    "tests/unit/runtimes/test_active_line.py",
    "tests/unit/runtimes/test_cell_run.py",
)

#: Without those that need bubblewrap in bubblewrap.
SANDBOX = (
    "tests/runtimes/sandbox/test_host_proxy.py",
    "tests/runtimes/sandbox/test_tunnels.py",
    "tests/runtimes/sandbox/test_proxy_requests.py",
)


def _modules(folder: str, names: str, tests: Sequence[str]) -> dict[str, Sequence[str]]:
    return {f"oi_tui/{folder}/{name}.py": tests for name in names.split()}


#: Group, module, test files.
GROUPS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "request-gate": _modules(
        "engine/llm", "request_gate endpoint hosts recent_messages stated_limit", REQUESTS
    ),
    "review": _modules(
        "engine/review",
        "permissions scanner findings line_rules python/rules shell/rules python/checker "
        "python/call_table python/references python/written_files call_search shell/expansion "
        "shell/written_files python/classes "
        "python/names python/calls python/expressions python/syntax shell/checker earlier_code "
        "readable_files local_modules sql_rules window_actions folder folder_changes quoting file_calls "
        "call_arguments notebook_rules powershell_files",
        REVIEW,
    ),
    "approval": _modules("widgets/approval", "key_guard", KEY_GUARD + APPROVAL)
    | _modules("widgets/approval", "panel", APPROVAL)
    | _modules("widgets/approval", "question options", QUESTION + APPROVAL),
    "sanitizer": _modules("terminal", "sanitize_filter", ("tests/unit/terminal/test_sanitize_filter.py",)),
    "execution": _modules("engine", "execution", EXECUTED),
    "reply": _modules(
        "engine/reply",
        "parser text_parser prose_line tool_call_parser fences markers tool_call_text tool_call_wrappers "
        "tool_call_recovery partial_json parts code_blocks code_text tool_call_formats cursor "
        "console_sessions",
        REPLIES,
    )
    | _modules("engine/reply", "message_builders", (*REPLIES, "tests/unit/engine/test_session.py")),
    "request": _modules("engine/llm", "request", WRITER) | _modules("engine/reply", "reply_groups", WRITER),
    "storage": _modules("engine/storage", "journal records store append_file undo_history", STORAGE),
    "storage-index": _modules("engine/storage", "end_notes", ("tests/unit/storage/test_end_notes.py",))
    | _modules("engine/storage", "titles list_index listing library packed_texts search", LISTED)
    | _modules("engine/storage", "full_text_index", ("tests/unit/storage/test_full_text_index.py",))
    | _modules("input", "history", ("tests/unit/input/test_history.py",)),
    "sandbox": _modules("runtimes/sandbox", "proxy proxy_request client_hello", SANDBOX),
    "running": _modules("runtimes/runs", "stopping interrupt run output input_watch active_line", RUNNING),
}

GUARD = "oi_tui/widgets/approval/key_guard.py"
STOPPING = "oi_tui/runtimes/runs/stopping.py"
RECENT = "oi_tui/engine/llm/recent_messages.py"
GATE = "oi_tui/engine/llm/request_gate.py"
TEXT_INDEX = "oi_tui/engine/storage/full_text_index.py"
TITLES = "oi_tui/engine/storage/titles.py"
LIST_INDEX = "oi_tui/engine/storage/list_index.py"
SEARCH = "oi_tui/engine/storage/search.py"
HISTORY = "oi_tui/input/history.py"
END_NOTES = "oi_tui/engine/storage/end_notes.py"
APPEND = "oi_tui/engine/storage/append_file.py"
EXECUTION = "oi_tui/engine/execution.py"
CHECKER = "oi_tui/engine/review/python/checker.py"
FILES = "oi_tui/engine/review/readable_files.py"
LINE_RULES = "oi_tui/engine/review/line_rules.py"
FINDINGS = "oi_tui/engine/review/findings.py"
CLIENT_HELLO = "oi_tui/runtimes/sandbox/client_hello.py"
PROXY = "oi_tui/runtimes/sandbox/proxy.py"
SHELL_RULES = "oi_tui/engine/review/shell/rules.py"
RECORDS = "oi_tui/engine/storage/records.py"
JOURNAL = "oi_tui/engine/storage/journal.py"
STORE = "oi_tui/engine/storage/store.py"
PARSER = "oi_tui/engine/reply/parser.py"
TEXT_PARSER = "oi_tui/engine/reply/text_parser.py"
TOOL_CALL_PARSER = "oi_tui/engine/reply/tool_call_parser.py"
TOOL_CALL_RECOVERY = "oi_tui/engine/reply/tool_call_recovery.py"
MARKERS = "oi_tui/engine/reply/markers.py"
PARTS = "oi_tui/engine/reply/parts.py"
CODE_TEXT = "oi_tui/engine/reply/code_text.py"
CONSOLE = "oi_tui/engine/reply/console_sessions.py"
CURSOR = "oi_tui/engine/reply/cursor.py"
CALL_FORMATS = "oi_tui/engine/reply/tool_call_formats.py"
INPUT_WATCH = "oi_tui/runtimes/runs/input_watch.py"
RUN = "oi_tui/runtimes/runs/run.py"
INTERRUPT = "oi_tui/runtimes/runs/interrupt.py"
RUN_OUTPUT = "oi_tui/runtimes/runs/output.py"
CALL_TEXT = "oi_tui/engine/reply/tool_call_text.py"
PROSE_LINE = "oi_tui/engine/reply/prose_line.py"

#: Changes that no test can notice: module, line and change as the mutation test prints them, and why.
EQUIVALENT: Mapping[tuple[str, str, str], str] = {
    (RECENT, "for at in range(len(messages) - 1, -1, -1):", "1 => 0"): (
        "where to stop: the first message is where the search ends anyway"
    ),
    (GATE, "text = json.dumps(field, ensure_ascii=False)", "False => True"): (
        "a key is found however JSON writes it"
    ),
    (STOPPING, "self._next_at = 0.0", "removed: self._next_at = 0.0"): "it is set anew before it is read",
    (
        STOPPING,
        "if self._stage is StopStage.INTERRUPTED and now >= self.interrupt.due:",
        "now >= self.interrupt.due => now > self.interrupt.due",
    ): "a clock reading is never exactly this",
    (LINE_RULES, "_LONGEST = 4_000", "4000 => 3999"): "pieces overlap; their length only bounds the time",
    (LINE_RULES, "_LONGEST = 4_000", "4000 => 4001"): "pieces overlap; their length only bounds the time",
    (FINDINGS, "_OVERLAP = 200", "200 => 199"): "how much pieces have in common; what is sought is shorter",
    (FINDINGS, "_OVERLAP = 200", "200 => 201"): "how much pieces have in common; what is sought is shorter",
    (
        PROXY,
        'threading.Thread(target=work, args=(client,), name="sandbox request", daemon=True).start()',
        "True => False",
    ): ("only the end of the application could tell"),
    (FINDINGS, "yield line[start : start + longest]", "start:start + longest => start:"): (
        "the length of a piece only bounds the time"
    ),
    (PROXY, "back.join()", "removed: back.join()"): "each side waits for the other one before it ends",
    (CLIENT_HELLO, "piece = self._source.recv(65_536)", "65536 => 65535"): "the size of a piece",
    (CLIENT_HELLO, "piece = self._source.recv(65_536)", "65536 => 65537"): "the size of a piece",
    (
        CLIENT_HELLO,
        'while len(hello) < 4 or len(hello) < 4 + int.from_bytes(hello[1:4], "big"):',
        "1 => 2",
    ): "only the longest hello that is read, of 65536 bytes, needs that byte of its length",
    (
        CLIENT_HELLO,
        'if (hello and hello[0] != _CLIENT_HELLO) or int.from_bytes(hello[1:4], "big") > _LONGEST_HELLO:',
        (
            "int.from_bytes(hello[1:4], 'big') > _LONGEST_HELLO => "
            "int.from_bytes(hello[1:4], 'big') >= _LONGEST_HELLO"
        ),
    ): "a rough bound",
    (SHELL_RULES, "_LONGEST = 20_000", "20000 => 19999"): "pieces overlap; their length only bounds the time",
    (SHELL_RULES, "_LONGEST = 20_000", "20000 => 20001"): "pieces overlap; their length only bounds the time",
    (CHECKER, "self.bound[item.id] = UNKNOWN", "removed: self.bound[item.id] = UNKNOWN"): (
        "a statement that is not known makes all names unclear anyway"
    ),
    (FILES, "_MOST_MATCHES = 2_000", "2000 => 2001"): "a rough bound on the time",
    (
        PARTS,
        "if len(code) > 200_000:",
        "len(code) > 200000 => len(code) >= 200000",
    ): "a rough bound on the time",
    (
        CODE_TEXT,
        "if not start and len(head) < 100:",
        "100 => 101",
    ): "a rough bound on blanks in front of code",
    (CALL_FORMATS, "LONGEST_OPENING = 130", "130 => 131"): "waits for one more character than it has to",
    (CONSOLE, 'rest = command[document.end() :].split("\\n")[1:]', "1: => :"): (
        "the rest of the line that begins a document is never the word that ends it"
    ),
    (CURSOR, "cut_length = max(self.at - 1, 0)", "1 => 2"): "keeps one more character than is looked at",
    (
        PARSER,
        "own_index = -len(self._own_index) - 1_000_000 if is_taken else piece.index",
        "1000000 => 999999",
    ): "any number that no provider uses",
    (
        PARSER,
        "own_index = -len(self._own_index) - 1_000_000 if is_taken else piece.index",
        "1000000 => 1000001",
    ): "any number that no provider uses",
    (TOOL_CALL_PARSER, "_UNDECIDED = 600", "600 => 601"): "a rough bound",
    (TOOL_CALL_PARSER, "if not any(item in _ARGUMENTS for item in path[:-1]):", ":-1 => :"): (
        "the last part of the path is a key that is not known, and so none of these"
    ),
    (TOOL_CALL_RECOVERY, "for entry in list(value.values())[:50]", ":50 => :"): "a rough bound on the time",
    (MARKERS, "LONGEST_END = 26", "26 => 25"): "no mark that ends a thought is as long",
    (MARKERS, "LONGEST_END = 26", "26 => 27"): "no mark that ends a thought is as long",
    (TOOL_CALL_RECOVERY, "if len(text) > 200_000:", "200000 => 199999"): "a rough bound on the time",
    (TOOL_CALL_RECOVERY, "if len(text) > 200_000:", "200000 => 200001"): "a rough bound on the time",
    (RUN_OUTPUT, "self._size = 0", "0 => 1"): "the first output is due at once, whatever its size",
    (RUN_OUTPUT, "self._size = 0", "0 => -1"): "the first output is due at once, whatever its size",
    (RUN_OUTPUT, "self._due = 0.0", "0.0 => -1.0"): "the first output is due at once either way",
    (RUN_OUTPUT, "self._began = 0", "removed: self._began = 0"): "it is set anew before it is read",
    (RUN_OUTPUT, "self._began = 0", "0 => 1"): "it is set anew before it is read",
    (RUN_OUTPUT, "self._began = 0", "0 => -1"): "it is set anew before it is read",
    (
        CALL_TEXT,
        "_LONGEST_CLOSER = 60",
        "60 => 59",
    ): "how much of the end is looked at; no closing mark is as long",
    (
        CALL_TEXT,
        "_LONGEST_CLOSER = 60",
        "60 => 61",
    ): "how much of the end is looked at; no closing mark is as long",
    (
        CALL_TEXT,
        "_LONGEST_FENCED_CLOSER = 400",
        "400 => 399",
    ): "how much of the end is looked at; no closing mark is as long",
    (
        CALL_TEXT,
        "_LONGEST_FENCED_CLOSER = 400",
        "400 => 401",
    ): "how much of the end is looked at; no closing mark is as long",
    (
        CALL_TEXT,
        "self._ahead = 1",
        "1 => 2",
    ): "one letter more is waited for; at the end of a text nothing is",
    (STOPPING, "self._pressed_at = 0.0", "0.0 => 1.0"): "any time that is long ago",
    (STOPPING, "self._pressed_at = 0.0", "0.0 => -1.0"): "any time that is long ago",
    (STOPPING, "self._next_at = 0.0", "0.0 => 1.0"): "it is set anew before it is read",
    (STOPPING, "self._next_at = 0.0", "0.0 => -1.0"): "it is set anew before it is read",
    (
        STOPPING,
        "self._harder: list[Callable[[], None]] = []",
        "removed: self._harder: list[Callable[[], None]] = []",
    ): "it is set anew before it is read",
    (
        TOOL_CALL_RECOVERY,
        (
            "def _recover_from_value(value: Any, name: str, resolve: Resolve, depth: int = 0) "
            "-> list[RecoveredCall]:"
        ),
        "0 => 1",
    ): "a rough bound on the depth",
    (
        TOOL_CALL_RECOVERY,
        (
            "def _recover_from_value(value: Any, name: str, resolve: Resolve, depth: int = 0) "
            "-> list[RecoveredCall]:"
        ),
        "0 => -1",
    ): "a rough bound on the depth",
    (TOOL_CALL_RECOVERY, "return []", "return [] => return None"): (
        "who calls this only looks whether there is a call"
    ),
    (
        TOOL_CALL_RECOVERY,
        "indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)",
        "0 => -1",
    ): "lines of nothing but blanks are no code either way",
    (
        TOOL_CALL_RECOVERY,
        "indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)",
        "0 => 1",
    ): "lines of nothing but blanks are no code either way",
    (STORE, "_LEFT_BEHIND = 24 * 3600", "24 => 23"): "a rough time",
    (STORE, "_LEFT_BEHIND = 24 * 3600", "24 => 25"): "a rough time",
    (
        PARTS,
        'flat = " ".join("".join(c if c.isprintable() else " " for c in word[:400]).split()).lower()',
        "400 => 399",
    ): "a bound on the time; of a name only the first letters are shown",
    (
        PARTS,
        'flat = " ".join("".join(c if c.isprintable() else " " for c in word[:400]).split()).lower()',
        "400 => 401",
    ): "a bound on the time; of a name only the first letters are shown",
    (INTERRUPT, "self._asked_at = 0.0", "0.0 => 1.0"): "it is set anew before it is read",
    (INTERRUPT, "self._asked_at = 0.0", "0.0 => -1.0"): "it is set anew before it is read",
    (INTERRUPT, "self.due = 0.0", "0.0 => 1.0"): "it is set anew before it is read",
    (INTERRUPT, "self.due = 0.0", "0.0 => -1.0"): "it is set anew before it is read",
    (RUN_OUTPUT, "sizes = range(min(len(path) - 1, len(text)), 0, -1)", "1 => 0"): (
        "a whole path was replaced before"
    ),
    (INPUT_WATCH, "self._check_at = 0.0", "0.0 => 1.0"): "any time that is long ago",
    (INPUT_WATCH, "self._check_at = 0.0", "0.0 => -1.0"): "any time that is long ago",
    (
        INPUT_WATCH,
        "if now < self._check_at or now - self._output.last_at < _QUIET:",
        "now - self._output.last_at < _QUIET => now - self._output.last_at <= _QUIET",
    ): "a clock reading is never exactly this",
    (INTERRUPT, "self._sent_at = 0.0", "0.0 => 1.0"): "it is set anew before it is read",
    (INTERRUPT, "self._sent_at = 0.0", "0.0 => -1.0"): "it is set anew before it is read",
    (INTERRUPT, "self._sent_at = 0.0", "removed: self._sent_at = 0.0"): "it is set anew before it is read",
    (INTERRUPT, "self._asked_at = 0.0", "removed: self._asked_at = 0.0"): "it is set anew before it is read",
    (INTERRUPT, "self.due = 0.0", "removed: self.due = 0.0"): "it is set anew before it is read",
    (RUN, "self._finished_at = 0.0", "0.0 => 1.0"): "it is set anew before it is read",
    (RUN, "self._finished_at = 0.0", "0.0 => -1.0"): "it is set anew before it is read",
    (RUN, "self._finished_at = 0.0", "removed: self._finished_at = 0.0"): "it is set anew before it is read",
    (
        INTERRUPT,
        "self._too_young = elapsed_seconds < _YOUNG",
        "elapsed_seconds < _YOUNG => elapsed_seconds <= _YOUNG",
    ): ("a clock reading is never exactly this"),
    (RUN_OUTPUT, "if keys and not self._shown:", "keys and (not self._shown) => keys or not self._shown"): (
        "what it sets then is set anew below"
    ),
    (
        RUN,
        "elif now - max(self._finished_at, self._output.last_at) > _MARK_TIMEOUT:",
        (
            "now - max(self._finished_at, self._output.last_at) > _M ... "
            "lf._finished_at, self._output.last_at) >= _MARK_TIMEOUT"
        ),
    ): "a clock reading is never exactly this",
    (PARSER, "break", "break => continue"): "nothing waits any more, which ends the loop as well",
    (TEXT_PARSER, "self._trusting = False", "removed: self._trusting = False"): (
        "a later block whose string never ends is then read again for itself, with the same result"
    ),
    (PROSE_LINE, "_LEAD = 80", "80 => 79"): "how much of a line is looked at; no lead is as long",
    (PROSE_LINE, "_LEAD = 80", "80 => 81"): "how much of a line is looked at; no lead is as long",
    (PROSE_LINE, "self._before = (self._before + text)[-2 * _LEAD :]", "2 => 1"): (
        "how much of a line is looked at; what announces output is shorter"
    ),
    (PROSE_LINE, "self._before = (self._before + text)[-2 * _LEAD :]", "2 => 3"): (
        "how much of a line is looked at; what announces output is shorter"
    ),
    (PARTS, 'first = code.lstrip().split("\\n", 1)[0]', "1 => 2"): "the first line is the same",
    (FILES, "_MOST_MATCHES = 2_000", "2000 => 1999"): "a rough bound on the time",
    (EXECUTION, "return Reject(stop=True)", "True => False"): "the turn is stopped already",
    (
        EXECUTION,
        "deque(chain(self._log.record_events(writer.finish()), self._log.record(stopped)), maxlen=0)",
        "0 => 1",
    ): "how many of the events are kept that nobody reads",
    (APPEND, "os.link(made, target, follow_symlinks=False)", "False => True"): (
        "Linux names the link itself either way"
    ),
    (APPEND, 'return size == 0 or os.pread(file, 1, size - 1) == b"\\n"', "1 => 2"): (
        "there is only one byte left to read"
    ),
    (END_NOTES, "_LENGTH = 48", "48 => 47"): "any length that is more than that of the longest end",
    (END_NOTES, "_LENGTH = 48", "48 => 49"): "any length that is more than that of the longest end",
    (END_NOTES, "match = _END.search(record[-_LENGTH:])", "-_LENGTH: => :"): (
        "the pattern is tied to the end of the record; the part is only quicker to search"
    ),
    (LIST_INDEX, "break", "break => continue"): "the second attempt fails as the first one did",
    (LIST_INDEX, "return sqlite3.connect(self._path, timeout=2)", "2 => 3"): "a rough time",
    (LIST_INDEX, "while rows := cursor.fetchmany(500):", "500 => 501"): "the size of a batch",
    (
        LIST_INDEX,
        "ids, times, _, pins, titles, counts, models, folders, problems = zip(*rows, strict=True)",
        "True => False",
    ): "all rows are of the same length",
    (SEARCH, "_EXCERPTS = 60", "60 => 59"): "a rough bound",
    (TITLES, "_MAX_BYTES = 100_000_000", "100000000 => 100000001"): "a rough bound",
    (TITLES, "_MAX_BYTES = 100_000_000", "100000000 => 99999999"): "a rough bound",
    (TITLES, 'if size and os.pread(descriptor, 1, size - 1) != b"\\n":', "1 => 2"): (
        "there is only one byte left to read"
    ),
    (TEXT_INDEX, "base = sqlite3.connect(self._path, timeout=2)", "2 => 1"): "a rough time",
    (HISTORY, "KEPT = 1000", "1000 => 999"): "a rough bound",
    (HISTORY, "KEPT = 1000", "1000 => 1001"): "a rough bound",
    (
        HISTORY,
        "return entries[-KEPT:], len(lines) > 2 * KEPT",
        "len(lines) > 2 * KEPT => len(lines) >= 2 * KEPT",
    ): "a rough bound",
    (JOURNAL, "RETRY_SECONDS = 2.0", "2.0 => 3.0"): "a rough time",
    (JOURNAL, "RETRY_SECONDS = 2.0", "2.0 => 1.0"): "a rough time",
    (JOURNAL, "places.remove(whole[0])", "0 => -1"): "there is at most one",
    (
        JOURNAL,
        'header = {"oi_tui": records.VERSION, **self._header, "n": 0 if begins else count}',
        "0 => -1",
    ): ("only the number of the last record is read, and this is the first of several"),
    (
        RECORDS,
        "if contents.version < VERSION:",
        "contents.version < VERSION => contents.version <= VERSION",
    ): ("there is no upgrade from the present version"),
    (
        RECORDS,
        "if isinstance(version, int) and not isinstance(version, bool) and version > 0:",
        "0 => 1",
    ): "version 1 is the one that is assumed anyway",
    (STORE, 'header = json.loads(head.partition(b"\\n")[0])', "0 => 1"): (
        "without a header the whole file is read, with the same result"
    ),
    (STORE, "_LEFT_BEHIND = 24 * 3600", "3600 => 3601"): "a rough time",
    (STORE, "_LEFT_BEHIND = 24 * 3600", "3600 => 3599"): "a rough time",
    (
        STORE,
        "if path.lstat().st_ctime < limit:",
        "path.lstat().st_ctime < limit => path.lstat().st_ctime <= limit",
    ): "the exact moment",
    (STORE, "while piece := os.pread(descriptor, 1 << 22, position):", "1 => 2"): "the size of a piece",
    (
        TEXT_PARSER,
        "tail = THOUGHT_END_PERHAPS.search(cursor.text, max(cursor.at, end - LONGEST_END))",
        "max(cursor.at, end - LONGEST_END) => min(cursor.at, end - LONGEST_END)",
    ): "the pattern is tied to the end of the text; where the search begins only bounds the time",
    (
        TEXT_PARSER,
        "self._no_call_at = -1",
        "1 => 0",
    ): "what follows an opened fence is behind the first letter",
    (RECORDS, "self._lengths[id] = len(pieces[0])", "0 => -1"): "there is only one piece",
    (RECORDS, "while start < len(raw):", "start < len(raw) => start <= len(raw)"): (
        "one empty line more at the end, which is left out"
    ),
    (
        RECORDS,
        "while updated is not None and version < VERSION:",
        "version < VERSION => version <= VERSION",
    ): ("there is no upgrade from the present version"),
    (RECORDS, "checksum = _CHECKSUM.search(line[-20:])", "-20: => :"): (
        "the pattern is tied to the end of the line; the part is only quicker to search"
    ),
    (RECORDS, "checksum = _CHECKSUM.search(line[-20:])", "20 => 19"): "the checksum is shorter than that",
    (RECORDS, "checksum = _CHECKSUM.search(line[-20:])", "20 => 21"): "the checksum is shorter than that",
    (STORE, "_MAX_BYTES = 1 << 30", "30 => 29"): "a rough bound on the memory",
    (STORE, "_MAX_BYTES = 1 << 30", "30 => 31"): "a rough bound on the memory",
    (STORE, "_MAX_BYTES = 1 << 30", "1 => 2"): "a rough bound on the memory",
    (STORE, "return None, 0", "0 => -1"): "no conversation is noted, so that nobody looks at the date",
    (STORE, "return None, 0", "0 => 1"): "no conversation is noted, so that nobody looks at the date",
    (
        RECORDS,
        'message.content if message.type == "message" else f"{message.type}: {message.content}", 200',
        "200 => 199",
    ): "how much of the request is looked at; a title is much shorter",
    (
        RECORDS,
        'message.content if message.type == "message" else f"{message.type}: {message.content}", 200',
        "200 => 201",
    ): "how much of the request is looked at; a title is much shorter",
}
