"""Rules for SQL: which statements are plain reads, and what the others do.

It reads several dialects at once. Where they read a text differently, the part is listed as not checked, so
that what is a string for one database and a statement for another is never mistaken for a plain read.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from oi_tui.engine.review.findings import Finding, Kind, find_hosts, find_private

_TOKEN = re.compile(
    r"""
    (?P<text>'(?:[^']|'')*')
    | (?P<name>"(?:[^"]|"")*"|`[^`]*`)
    | (?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
    | (?P<dollar>\$\w*\$)
    | (?P<word>[^\W\d]\w*)
    | (?P<number>\d[\w.]*)
    | (?P<space>\s+)
    | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SIGNS = frozenset("()[],.;+-*/%<>=!|&~?:{}^")
_COMMAND = re.compile(r"[ \t]*\.(\w+)[ \t]*(.*)")
#: Commands of cells of SQL that only show something.
_HARMLESS_COMMANDS = frozenset(("help", "tables", "schema", "databases", "mode", "print", "exit", "quit"))
_SHELLS = ("shell", "system")
_READS = frozenset(("select", "with", "values", "from", "table", "show", "describe", "desc", "summarize"))
#: Statements that begin a transaction, and what other words they may have. `start replica` is none of them.
_TRANSACTION = {
    "begin": _split_words(
        "committed concurrent consistent deferrable deferred exclusive immediate isolation level not only "
        "read repeatable serializable snapshot transaction uncommitted with work write"
    ),
    "start": _split_words(
        "committed consistent deferrable isolation level not only read repeatable serializable snapshot "
        "transaction uncommitted with write"
    ),
}
_HARMLESS = frozenset(("savepoint", "release"))
#: Words between a statement that adds rows and its `into`.
_BEFORE_INTO = _split_words("abort delayed fail high_priority ignore low_priority or replace rollback")
#: What statements do by their first word, and by which words it is named.
_STATEMENTS: dict[str, Kind] = {
    "drop": "deletes",
    "truncate": "deletes",
    "delete": "deletes",
    "insert": "database",
    "update": "database",
    "replace": "database",
    "merge": "database",
    "upsert": "database",
    "create": "database",
    "alter": "database",
    "rename": "database",
    "comment": "database",
    "commit": "database",
    "end": "database",
    "rollback": "database",
    "abort": "database",
    "vacuum": "database",
    "reindex": "database",
    "refresh": "database",
    "attach": "opens",
    "detach": "opens",
    "use": "opens",
    "load": "extensions",
    "install": "extensions",
    "grant": "rights",
    "revoke": "rights",
    "do": "runs text",
    "call": "runs text",
    "execute": "runs text",
    "exec": "runs text",
    "prepare": "runs text",
    "kill": "processes",
}
#: Words that change something wherever they stand as a word of a statement.
_CHANGING: dict[str, Kind] = {
    "insert": "database",
    "update": "database",
    "delete": "deletes",
    "merge": "database",
    "drop": "deletes",
    "truncate": "deletes",
    "attach": "opens",
}
_PRAGMAS = _split_words(
    "table_info table_xinfo table_list index_list index_info foreign_key_list database_list "
    "compile_options collation_list function_list version show_tables database_size"
)
#: What is created with a name that other statements may call, or that Python code may stand for.
_NAMED_CODE = _split_words(
    "aggregate cast collation domain extension function language macro operator procedure rule schema type"
)
#: Words between `create` and what is created.
_QUALIFYING = _split_words(
    "or replace temp temporary global local persistent recursive materialized trusted procedural force"
)
#: Statements that run what does not show in them, or make other functions known.
_RUNNING = _split_words("call do execute import install load prepare use")
#: Words before a parenthesis that are no functions.
_KEYWORDS = _split_words(
    "all and any array as asc between by case cross current distinct else end except exclude exists "
    "filter following from full group having in inner intersect is join lateral left like ilike limit "
    "materialized natural not null of offset on or order outer over partition preceding qualify range "
    "recursive returning right row rows select set some then to union unnest using values when where "
    "window with within"
)
#: What stands before a value: signs, and those words that no database takes for a name, unlike `array`.
_BEFORE_VALUES = frozenset("(,=<>+-*/%.")
_RESERVED_BEFORE_VALUES = _split_words(
    "all and case distinct else from group having not on or order select then union when where"
)
#: Words that do not stand among the parts of `with`, but in the statement behind them.
_BEHIND_PARTS = (_KEYWORDS | _STATEMENTS.keys()) - {"as", "materialized", "not", "recursive"}
#: Functions that compute a value from their arguments, in the dialects that are read here.
_FUNCTIONS = _split_words(
    "abs acos age any_value approx_count_distinct approx_quantile arg_max arg_min array_agg "
    "array_contains array_length array_to_string ascii asin atan atan2 avg bit_and bit_or bit_xor "
    "bool_and bool_or btrim cast cbrt ceil ceiling char char_length character_length chr coalesce concat "
    "concat_ws contains convert corr cos cot count count_if covar_pop covar_samp cume_dist curdate "
    "current_date current_time current_timestamp date date_add date_diff date_format date_part date_sub "
    "date_trunc datediff datepart datetime day dayname dayofmonth dayofweek dayofyear decode degrees "
    "dense_rank encode ends_with entropy epoch every exp extract first first_value floor format "
    "formatdatetime generate_series greatest group_concat hex histogram hour if ifnull iif instr is_nan "
    "isnan isnull json json_array json_array_length json_extract json_extract_string json_group_array "
    "json_group_object json_object json_type json_valid julianday kurtosis lag last last_day last_value "
    "lcase lead least left len length levenshtein like likely list list_agg list_sort listagg ln "
    "localtime localtimestamp locate log log10 log2 lower lpad ltrim make_date max md5 median microsecond "
    "mid min minute mod mode month monthname now nth_value ntile nullif num_nulls octet_length overlay "
    "parse_date percent_rank percentile_cont percentile_disc pi position pow power printf product "
    "quantile quantile_cont quantile_disc quarter quote radians rank regexp_extract regexp_extract_all "
    "regexp_like regexp_matches regexp_replace regexp_split_to_array regr_intercept regr_r2 regr_slope "
    "repeat replace reverse right round row_number rpad rtrim second sha1 sha256 sign sin skewness "
    "split_part sqrt starts_with stddev stddev_pop stddev_samp str_to_date strftime string_agg "
    "string_split strip_accents strpos strptime struct_pack substr substring substring_index sum tan time "
    "timediff timestamp timestampdiff to_char to_date to_days to_number to_timestamp total translate trim "
    "trunc truncate try_cast typeof ucase unhex unicode unixepoch unlikely unnest upper "
    "uuid_extract_timestamp var_pop var_samp variance version week weekday weekofyear width_bucket year "
    "yearweek zeroblob sqlite_version pragma_table_info pragma_table_list numeric decimal varchar "
    "character integer float double interval bigint"
)
#: Functions that read files, and those that do more.
_READING = re.compile(r"(?:read|scan)_\w+|\w+_scan|glob|readfile|load_file|pg_read_\w+|pg_ls_\w+|sniff_csv")
_GRAVE_FUNCTIONS: dict[str, Kind] = {
    "load_extension": "extensions",
    "writefile": "writes",
    "lo_export": "writes",
    "lo_import": "reads",
    "edit": "programs",
    "pg_terminate_backend": "processes",
    "pg_cancel_backend": "processes",
    "dblink": "network",
}
#: What comes before a table, and the words after which no more tables of `from` follow.
_BEFORE_TABLES = _split_words(
    "from join table describe desc summarize show pivot unpivot pivot_wider pivot_longer"
)
_AFTER_TABLES = _split_words(
    "select where group having order limit offset window qualify union intersect except returning fetch"
)
#: DuckDB takes `from sales.csv` for a file as well.
_SUFFIXES = _split_words(
    "arrow avro bz2 csv db duckdb feather geojson gz ipc json jsonl log ndjson orc parquet shp sqlite "
    "sqlite3 tsv txt xlsx xml zst"
)
_LONGEST_NAME = 60
#: A name has no more parts than these.
_MOST_PARTS = 20
#: How many tokens may stand in the parentheses of `with name(a, b) as`.
_MOST_COLUMNS = 200


class _Token(NamedTuple):
    kind: str
    text: str
    line: int

    @property
    def word(self) -> str:
        """The word in small letters; "" for anything else."""
        return self.text.lower() if self.kind == "word" else ""

    @property
    def plain(self) -> str:
        """The text without its quotation marks."""
        return self.text[1:-1] if self.kind in ("text", "name") else self.text


@dataclass
class _Reader:
    """What was found so far."""

    found: list[Finding]
    unchecked: list[Finding]

    def add(self, kind: Kind, what: str, line: int) -> None:
        self.found.append(Finding(kind, what[:_LONGEST_NAME], line))

    def note_doubt(self, what: str, line: int) -> None:
        self.unchecked.append(Finding("not understood", what[:_LONGEST_NAME], line))


def scan(code: str) -> tuple[list[Finding], list[Finding]]:
    """Return what the code does beside reading tables, and the parts not known to be plain reads.

    The commands of `.shell` lines are for the rules of shells (`list_shell_lines`).
    """
    reader = _Reader([], [])
    code = code.replace("\r\n", "\n")
    for statement in _split_statements(_read_tokens(code, reader)):
        _check_statement(statement, reader)
    for line, name, rest in list_commands(code):
        _check_command(line, name, rest, reader)
    return reader.found, reader.unchecked


def changes_meanings(code: str) -> bool:
    """Return whether functions and tables may mean something else afterwards, such as macros of DuckDB."""
    unread = _Reader([], [])
    return any(_changes_meanings(item) for item in _split_statements(_read_tokens(code, unread))) or any(
        name in ("read", "load") for _, name, _ in list_commands(code)
    )


def _changes_meanings(statement: list[_Token]) -> bool:
    words = [token.word for token in statement]
    object_kind = next((word for word in words[1:] if word not in _QUALIFYING), "")
    match words[0]:
        case "create" | "alter" if object_kind == "view":
            # What is read in it is read again later, where only its name is written.
            reader = _Reader([], [])
            _check_statement(statement, reader)
            return bool(reader.unchecked) or any(item.kind != "database" for item in reader.found)
        case "create" | "alter":
            return object_kind in _NAMED_CODE
        case "set" | "reset":
            return not {"search_path", "schema"}.isdisjoint(words)
        case first:
            return first in _RUNNING


def is_statement(text: str) -> bool:
    """Return whether the text begins as a statement does that is known to do more than to read."""
    first, _, rest = text.strip().partition(" ")
    return bool(rest.strip()) and first.lower() in {
        *_STATEMENTS,
        "with",
        "copy",
        "attach",
        "pragma",
        "select",
    }


def list_shell_lines(code: str) -> str:
    """Return the commands of `.shell` lines, each on the line that it has in the code."""
    lines = [""] * (code.count("\n") + 1)
    for line, name, rest in list_commands(code):
        if name in _SHELLS:
            lines[line - 1] = rest
    return "\n".join(lines)


def list_commands(code: str) -> Iterator[tuple[int, str, str]]:
    """Yield the lines like `.shell ls`: their number, the name and the rest; also such
    that stand within a text.
    """
    for number, line in enumerate(code.split("\n"), 1):
        if match := _COMMAND.match(line):
            yield number, match.group(1), match.group(2).strip()


def _check_command(line: int, name: str, rest: str, reader: _Reader) -> None:
    if name in _SHELLS:
        reader.add("programs", rest.split(None, 1)[0] if rest else "", line)
    elif name == "read":
        reader.add("runs text", rest, line)
    elif name in ("open", "connect"):
        reader.add("opens", rest, line)
        for host in re.findall(r"\w+://(?:[^\s/@]*@)?([^\s/:?]+)", rest):
            reader.add("network", host, line)
    elif name not in _HARMLESS_COMMANDS:
        reader.note_doubt(f".{name}", line)


def _read_tokens(code: str, reader: _Reader) -> Iterator[_Token]:
    """Yield the tokens that count, with a doubt for each place that dialects read differently."""
    line, at, begins = 1, 0, True
    while match := _TOKEN.match(code, at):
        kind, text, at = match.lastgroup or "", match.group(), match.end()
        if (
            begins
            and text == "."
            and not code[code.rfind("\n", 0, match.start()) + 1 : match.start()].strip()
        ):
            # A line like `.tables`, between statements.
            at = code.find("\n", at) if "\n" in code[at:] else len(code)
            continue
        if why := _explain_ambiguity(kind, text, code[at : at + 200]):
            reader.note_doubt(why, line)
        if kind not in ("space", "comment"):
            begins = text == ";"
            yield _Token(kind, text, line)
        line += text.count("\n")


def _explain_ambiguity(kind: str, text: str, after: str) -> str:
    """Return why databases may not agree on where the token ends; "" where they do."""
    if kind in ("text", "name") and "\\" in text:
        return "a backslash in quotation marks"
    if kind == "comment" and text.startswith("--") and "\r" in text[:-1]:
        return "a line end within a comment"
    if kind == "comment" and text.startswith("--"):
        return "" if text == "--" or text[2].isspace() else "-- without a space behind it"
    if kind == "comment" and (len(text) < 4 or not text.endswith("*/")):
        return "a comment without an end"
    if kind == "comment":
        return (
            "a comment with a meaning"
            if text[2:4].removeprefix("M")[:1] in ("!", "+") or "/*" in text[2:]
            else ""
        )
    if kind == "dollar":
        return "a text between dollars"
    if kind == "sign" and text == "[":
        return "quotation marks in brackets" if re.match(r"[^\]]*['\"`]|[^\]]*(?:--|/\*)", after) else ""
    if kind == "sign" and text not in _SIGNS:
        return f"the sign {text}"
    return ""


def _split_statements(tokens: Iterable[_Token]) -> Iterator[list[_Token]]:
    statement: list[_Token] = []
    for token in tokens:
        if token.text == ";":
            if statement:
                yield statement
            statement = []
        else:
            statement.append(token)
    if statement:
        yield statement


def _check_statement(tokens: list[_Token], reader: _Reader) -> None:
    """Review one statement."""
    first = tokens[0]
    if first.word == "explain":
        rest = _cut_explain(tokens)
        if rest:
            _check_statement(rest, reader)
        return
    start = next((at for at, token in enumerate(tokens) if token.text != "("), len(tokens))
    tokens = tokens[start:]
    if not tokens:
        return
    first = tokens[0]
    for token in tokens:
        if token.kind in ("text", "name"):
            _check_text(token, reader)
    if first.word == "pragma":
        _check_pragma(tokens, reader)
        return
    if first.word == "copy" or first.word in ("export", "import"):
        _check_copy(tokens, reader)
    elif first.word in _STATEMENTS:
        _name_statement(tokens, reader)
    elif first.word in _TRANSACTION:
        _check_transaction(tokens, reader)
    elif first.word not in _READS | _HARMLESS:
        reader.note_doubt(first.text, first.line)
    _check_words(tokens, reader)


def _check_transaction(tokens: list[_Token], reader: _Reader) -> None:
    """Check a statement that begins a transaction, which other statements begin like."""
    known = _TRANSACTION[tokens[0].word]
    odd = [token for token in tokens[1:] if token.word not in known and token.kind != "sign"]
    if odd or (tokens[0].word == "start" and [token.word for token in tokens[1:2]] != ["transaction"]):
        reader.note_doubt(" ".join(token.text for token in tokens[:3]), tokens[0].line)


def _cut_explain(tokens: list[_Token]) -> list[_Token]:
    """Return the statement that is explained: `analyze` runs it."""
    at = 1
    while at < len(tokens) and tokens[at].word in ("analyze", "verbose", "query", "plan", "extended"):
        at += 1
    options = at + 1 < len(tokens) and tokens[at].text == "(" and tokens[at + 1].word not in _READS
    if options:
        while at < len(tokens) and tokens[at].text != ")":
            at += 1
        at += 1
    return tokens[at:]


def _name_statement(tokens: list[_Token], reader: _Reader) -> None:
    """Name a statement that is known to do more than to read."""
    first = tokens[0]
    kind = _STATEMENTS[first.word]
    words = [token.word for token in tokens[:4]]
    if first.word in ("create", "alter", "drop") and {"user", "role", "login"} & set(words):
        kind = "rights"
    elif first.word == "create" and "extension" in words:
        kind = "extensions"
    summary = " ".join(token.plain for token in tokens[kind == "deletes" : 4] if token.kind != "sign")
    reader.add(kind, summary, first.line)


def _check_pragma(tokens: list[_Token], reader: _Reader) -> None:
    words = [token.text.lower() for token in tokens[1:4]]
    name = words[2] if words[1:2] == ["."] and len(words) > 2 else "".join(words[:1])
    if name not in _PRAGMAS or any(token.text == "=" for token in tokens):
        reader.note_doubt(" ".join(token.text for token in tokens[:3]), tokens[0].line)


def _check_copy(tokens: list[_Token], reader: _Reader) -> None:
    """Check `copy`, `export` and `import`: to and from files, or programs."""
    first, words = tokens[0], [token.word for token in tokens]
    if "program" in words:
        reader.add("programs", "", first.line)
    writes = first.word == "export" or "to" in words
    for at, token in enumerate(tokens):
        if token.kind == "text" and at and words[at - 1] in ("to", "from", "database", "program"):
            to_file = words[at - 1] == "to" or first.word == "export"
            reader.add("writes" if to_file else "reads", token.plain, token.line)
            # The paths of servers, whose files are not here, are whole.
            if first.word == "copy" and to_file and not token.plain.startswith("/"):
                reader.add("overwrites", token.plain, token.line)
    if not writes:
        reader.add("database", " ".join(token.plain for token in tokens[:2]), first.line)


def _check_words(tokens: list[_Token], reader: _Reader) -> None:
    """Check the words and functions of a statement."""
    parts = _find_places_of_parts(tokens)
    for at, token in enumerate(tokens):
        before = tokens[at - 1] if at else None
        calls = at + 1 < len(tokens) and tokens[at + 1].text == "("
        if calls and token.kind in ("word", "name"):
            _check_call(tokens, at, reader, is_part=at in parts and _is_named_query(tokens, at))
        elif calls and token.text == "]":
            # For SQLite the brackets are quotation marks around the name of a function.
            reader.note_doubt("a name in brackets before a parenthesis", token.line)
        elif (
            at > 1
            and token.kind in ("word", "name")
            and tokens[at - 1].text == "."
            and (tokens[at - 2].text == ")" or _is_end_of_index(tokens, at - 2))
        ):
            # PostgreSQL calls a function by the notation of an attribute: `(pid).pg_terminate_backend`.
            reader.note_doubt(f"….{token.plain}", token.line)
        elif token.word == "into":
            _check_into(tokens, at, reader)
        elif at and token.word in _CHANGING and not (before and before.text == "."):
            reader.add(_CHANGING[token.word], token.text, token.line)
    for at in _find_table_places(tokens):
        _check_table(tokens, at, reader)


def _is_end_of_index(tokens: list[_Token], at: int) -> bool:
    """Return whether a bracket ends an index or a list, and not a name: `a[1]`, unlike `[Order Details]`."""
    if tokens[at].text != "]":
        return False
    depth, first = 0, max(at - _MOST_COLUMNS, 0)
    while at >= first:
        depth += {"]": 1, "[": -1}.get(tokens[at].text, 0)
        if not depth:
            break
        at -= 1
    if depth or at < 1:
        return True
    # What is not known to stand before a value counts as one. Behind a point any word is a name.
    before, behind_point = tokens[at - 1], at > 1 and tokens[at - 2].text == "."
    is_reserved = before.word in _RESERVED_BEFORE_VALUES and not behind_point
    return not (is_reserved or before.text in _BEFORE_VALUES)


def _find_table_places(tokens: list[_Token]) -> Iterator[int]:
    """Yield where the tables of a statement stand: after words such as `from`,
    and after the commas and parentheses of `from`.
    """
    listing = [False]
    for at, token in enumerate(tokens):
        before = tokens[at - 1] if at else _Token("", "", 0)
        if token.text == "(":
            listing.append(before.word in ("from", "join") or (listing[-1] and before.text in (",", "(")))
        elif token.text == ")":
            listing = listing[:-1] or [False]
        elif token.word == "from":
            listing[-1] = True
        elif token.word in _AFTER_TABLES or (token.word == "values" and before.text == "("):
            # Elsewhere `values` may be the name of a table.
            listing[-1] = False
        elif before.word in _BEFORE_TABLES or (before.text in (",", "(") and listing[-1]):
            yield at


def _check_into(tokens: list[_Token], at: int, reader: _Reader) -> None:
    """Check `into`: of `insert into`, else where the rows of a query go."""
    verb = at - 1
    while verb > 0 and tokens[verb].word in _BEFORE_INTO:
        verb -= 1
    word = tokens[verb].word if verb >= 0 else ""
    behind_point = verb > 0 and tokens[verb - 1].text == "."
    if (word in ("insert", "merge") and not behind_point) or (word == "replace" and verb == 0):
        # It is named by that word.
        return
    token, after = tokens[at], tokens[at + 1 : at + 3]
    path = next((item.plain for item in after if item.kind == "text"), "")
    if path:
        reader.add("writes", path, token.line)
    else:
        reader.add("database", " ".join(["into", *(item.plain for item in after[:1])]), token.line)


def _check_table(tokens: list[_Token], at: int, reader: _Reader) -> None:
    """Review a table that DuckDB takes for a file: a text, a name like a path, or a word with a suffix."""
    if [token.text for token in tokens[at + 1 : at + 2]] == [":"]:
        # DuckDB takes a new name for the table in front of it as well: `from t: sales.csv`.
        at += 2
    if at >= len(tokens):
        return
    token = tokens[at]
    path = [token.plain]
    # A catalog and a schema may stand in front: DuckDB reads the file `a.b.csv`.
    while len(tokens) > at + 2 and tokens[at + 1].text == "." and len(path) < _MOST_PARTS:
        at += 2
        path.append(tokens[at].plain)
    name = ".".join(path)
    is_path = token.kind == "text" or (token.kind == "name" and re.search(r"[./]", token.plain))
    if is_path or (len(path) > 1 and name.rpartition(".")[2].lower() in _SUFFIXES):
        reader.add("reads", name, token.line)


def _check_text(token: _Token, reader: _Reader) -> None:
    for host in find_hosts(token.plain):
        reader.add("network", host, token.line)
    if re.match(r"(?:s3|gcs|gs|az|hf|r2)://", token.plain):
        reader.add("network", token.plain, token.line)
    if part := find_private(token.plain):
        reader.add("secrets", part, token.line)


def _check_call(tokens: list[_Token], at: int, reader: _Reader, *, is_part: bool) -> None:
    """Review a name before a parenthesis: a keyword, a part of `with`, a table, or a function."""
    token, name = tokens[at], tokens[at].plain.lower()
    before = tokens[at - 1].word if at else ""
    if token.kind == "word" and name in _KEYWORDS:
        return
    if is_part or (before == "into" and tokens[0].word in ("insert", "replace")):
        return
    makes_index = "index" in [item.word for item in tokens[1:3]]
    named_behind = ("table", "exists", "on") if makes_index else ("table", "exists")
    if before in named_behind and tokens[0].word in ("create", "alter"):
        # It is named as a change already.
        return
    qualified = at > 0 and tokens[at - 1].text == "."
    if name in _GRAVE_FUNCTIONS:
        argument = tokens[at + 2].plain if at + 2 < len(tokens) and tokens[at + 2].kind == "text" else ""
        reader.add(_GRAVE_FUNCTIONS[name], argument or name, token.line)
    elif _READING.fullmatch(name):
        texts = [item.plain for item in tokens[at + 2 : at + 6] if item.kind == "text"]
        reader.add("reads", texts[0] if texts else name, token.line)
    elif name not in _FUNCTIONS or qualified:
        reader.note_doubt(f"{name}()", token.line)


def _is_named_query(tokens: list[_Token], at: int) -> bool:
    """Return whether it is the name of a part of `with`, as in `with n(i) as (...)`."""
    if tokens[at - 1].word not in ("with", "recursive") and tokens[at - 1].text != ",":
        return False
    end = next(
        (n for n in range(at + 1, min(at + _MOST_COLUMNS, len(tokens))) if tokens[n].text == ")"), len(tokens)
    )
    inner = tokens[at + 2 : end]
    plain = all(item.kind in ("word", "name") or item.text == "," for item in inner)
    rest = [item.text.lower() for item in tokens[end + 1 : end + 3]]
    return plain and rest in (["as", "("], ["as", "materialized"])


def _find_places_of_parts(tokens: list[_Token]) -> frozenset[int]:
    """Return the places among the parts of `with`, neither in one of them nor behind them."""
    if tokens[0].word != "with":
        return frozenset()
    places, depth = set(), 0
    for at, token in enumerate(tokens[1:], 1):
        if depth == 0:
            places.add(at)
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and token.word in _BEHIND_PARTS:
            break
    return frozenset(places)
