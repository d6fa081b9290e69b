"""Completions for SQL that is being typed: tables, columns, data frames, functions and words of SQL.

The columns are read from the database once after each run.
"""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import json
import os
import re

from python_completion import is_folder
from python_model_view import find_kind
from python_records import read_records
from python_sql import is_table

_MOST = 100
_NAME = r'(?:"[^"\n]*"|`[^`\n]*`|[^\W\d]\w*)'
_MEMBER = re.compile(r"({0}(?:\.{0})*)\.(\w*)\Z".format(_NAME))
_WORD = re.compile(r"[^\W\d]\w*\Z")
#: Texts, comments, and names in quotation marks, of which only names stay.
_TEXT = re.compile(r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/", re.S)
_OPEN_TEXT = re.compile(r"'((?:[^'\n])*)\Z")
_FILES = re.compile(
    r"(?:\bfrom|\bjoin|\bcopy|\bto|\battach|\binto|\w*(?:read|scan)\w*\s*\(|\(\s*\[)\s*\Z", re.I
)
#: A table, and another name for it.
_TABLE = re.compile(
    r"\b(?:from|join|update|into|table)\s+({0}(?:\.{0})*)(?:\s+(?:as\s+)?({0}))?|,\s*({0})(?:\s+(?:as\s+)?({0}))?".format(
        _NAME
    ),
    re.I,
)
_TABLE_COMES = re.compile(
    r"(?:\b(?:from|join|update|into|table|describe|summarize)|\.schema)\s+\"?\w*\Z", re.I
)
#: What follows a table without `as`, and is no other name for it.
_NO_NAMES = frozenset(
    "where on using join inner left right full cross natural group order having limit set values".split()
)
_WORDS = (
    "select from where group by order having limit offset distinct as and or not in is null like ilike "
    "between exists case when then else end join left right inner outer full cross on using union all "
    "except intersect with recursive insert into values update set delete create table view index drop "
    "alter add column primary key foreign references unique default check begin commit rollback explain "
    "analyze asc desc over partition cast true false"
).split()
_FUNCTIONS = (
    "count sum avg min max abs round coalesce nullif length lower upper trim substr replace concat cast "
    "date datetime strftime current_date current_timestamp row_number rank dense_rank lag lead "
    "first_value last_value"
).split()


class SqlCompleter:
    """Completes SQL for the databases of a driver, and remembers the columns of the current one."""

    def __init__(self):
        self._read = None
        self._columns = {}

    def answer(self, databases, names, words, run):
        """Return the answer to a request; `run` counts the cells that have run."""
        before = json.loads(bytes.fromhex(words).decode())["before"]
        try:
            prefix, matches = self._complete(databases, names, before, run)
        except Exception:
            # A database that does not answer, or a transaction that failed.
            prefix, matches = "", []
        offers = [[text, facts] for text, facts in dict(matches).items() if text != prefix]
        return {"typed": len(prefix), "offers": offers[:_MOST], "note": ""}

    def _complete(self, databases, names, before, run):
        statement = before[before.rfind(";") + 1 :]
        code = _TEXT.sub(" ", statement)
        text = _OPEN_TEXT.search(code)
        if text:
            return text.group(1), _files(text.group(1)) if _FILES.search(code[: text.start()]) else []
        if "--" in code.rpartition("\n")[2]:
            return "", []
        tables = dict(self._list_tables(databases, run))
        for name, columns in _list_frames(names).items():
            # SQLite has copies of frames, which have no types.
            if not any(of for _, of in tables.get(name, ())):
                tables[name] = columns
        member = _MEMBER.search(code)
        columns_of = {name.lower(): columns for name, columns in tables.items()}
        if member:
            prefix, name = member.group(2), _unquote(member.group(1)).lower()
            return prefix, _select_matches(columns_of.get(_find_aliases(code).get(name, name), ()), prefix)
        word = _WORD.search(code)
        prefix = word.group() if word else ""
        table_entries = [(name, "table with {}".format(_count(columns))) for name, columns in tables.items()]
        if _TABLE_COMES.search(code):
            return prefix, _select_matches(table_entries, prefix)
        if not prefix:
            return prefix, []
        column_lists = [
            columns_of[name] for name in dict.fromkeys(_find_aliases(code).values()) if name in columns_of
        ]
        columns = [pair for part in column_lists or tables.values() for pair in part]
        spell = str.upper if prefix.isupper() else str.lower
        words = [(spell(name), "function") for name in _FUNCTIONS] + [(spell(name), "") for name in _WORDS]
        return prefix, [
            *_select_matches(columns, prefix),
            *_select_matches(table_entries, prefix),
            *_select_matches(sorted(words), prefix),
        ]

    def _list_tables(self, databases, run):
        """Return the tables of the current database, each with its columns and their types."""
        if databases is None:
            return {}
        key = (run, databases.changes)
        if self._read != key:
            self._read, self._columns = key, {}
            connection = databases.current
            for table, column, of in connection.fetch(connection.list_columns, 1, {}, 20_000)[1]:
                self._columns.setdefault(str(table), []).append((str(column), str(of or "").lower()))
        return self._columns


def _list_frames(names):
    """Return the data frames and records of the program, with their columns."""
    frames = {}
    for name, value in list(names.items()):
        library, kind = find_kind(value)
        if kind in ("DataFrame", "Table", "RecordBatch") and not name.startswith("_"):
            columns = value.schema.names if library == "pyarrow" else list(value.columns)
            kinds = value.schema.types if library == "pyarrow" else list(value.dtypes)
            frames[name] = [(str(column), str(of).lower()) for column, of in zip(columns, kinds)]
        elif not library and not name.startswith("_") and type(value) in (list, dict) and is_table(value):
            frames[name] = [(column, "") for column in read_records(value).names]
    return frames


def _find_aliases(code):
    """Find the tables that the code names, by name and by alias, in small letters."""
    aliases = {}
    for table, alias, next_table, other in _TABLE.findall(code):
        name, short = _unquote(table or next_table).lower(), _unquote(alias or other).lower()
        aliases[name] = name
        if short and short not in _NO_NAMES:
            aliases[short] = name
    return aliases


def _unquote(name):
    return name.replace('"', "").replace("`", "")


def _count(columns):
    return "{:,} column{}".format(len(columns), "" if len(columns) == 1 else "s")


def _select_matches(pairs, typed):
    """Return the pairs whose name begins so, in any case; names that need it in quotation marks."""
    return [
        (name if re.fullmatch(r"[^\W\d][\w.]*", name) else '"{}"'.format(name.replace('"', '""')), facts)
        for name, facts in pairs
        if name.lower().startswith(typed.lower())
    ]


def _files(typed):
    folder, slash, begin = typed.rpartition("/")
    try:
        entries = sorted(os.scandir(os.path.expanduser(folder + slash) or "."), key=lambda entry: entry.name)
    except OSError:
        return []
    return [
        (folder + slash + entry.name + ("/" if is_folder(entry) else ""), "")
        for entry in entries
        if entry.name.startswith(begin) and (begin or not entry.name.startswith("."))
    ]
