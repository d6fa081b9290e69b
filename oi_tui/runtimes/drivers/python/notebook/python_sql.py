"""`%sql` and `%%sql`: queries on SQLite and DuckDB, with data frames as tables by their names."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import os
import re
import sqlite3
import sys
import threading

from python_model_view import kind_of

_TARGET = re.compile(r"(?P<name>[^\W\d]\w*)\s*<<(?:\s+|\Z)")
_READS = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(?:select|with|from|values|table)\b", re.I | re.S)
_WORD = re.compile(r"[^\W\d]\w*")
#: SQLite gets copies of data frames, of up to so many cells; DuckDB reads them where they are.
_COPIED = 5_000_000
#: SQLite looks for an interrupt each time that it has done so many steps.
_STEPS = 10_000
_LIST_TABLES = "select name, type from sqlite_master where name not like 'sqlite_%' order by name"
_LIST_DUCKDB = "select table_name as name, table_type as type from information_schema.tables order by 1"
_DUCKDB_FILES = (".duckdb", ".ddb")


class SqlError(Exception):
    """What is wrong with a query, with the line of the cell on which it begins."""


class Databases:
    """The database that queries go to: one in memory at first, then the one that was named last."""

    def __init__(self):
        self._path = None
        self._connection = None

    def line(self, query, names):
        """Run one query and return its rows; without a query, list the tables."""
        self._open(None)
        return self._connection.run(query or self._connection.list_tables, 1, names)

    def cell(self, rest, body, names):
        """Run the statements of a cell and return the rows of the last one, or keep them as a variable."""
        target = _TARGET.match(rest)
        if target:
            rest = rest[target.end() :]
        self._open(os.path.expanduser(rest.strip().strip("'\"")) or None)
        last = None
        for line, statement in statements(body):
            last = self._connection.run(statement, line, names)
        if not target:
            return last
        names[target.group("name")] = last
        return None

    def _open(self, path):
        if self._connection is not None and (path is None or path == self._path):
            return
        connection = _connect(path)
        if self._connection is not None:
            self._connection.close()
        self._path, self._connection = path, connection


def statements(text):
    """The statements of a text, each with the number of the line on which it begins."""
    start = 0
    while start < len(text):
        while start < len(text) and text[start].isspace():
            start += 1
        end = text.find(";", start)
        while end >= 0 and not sqlite3.complete_statement(text[start : end + 1]):
            end = text.find(";", end + 1)
        statement = text[start:] if end < 0 else text[start : end + 1]
        if re.sub(r"--[^\n]*|/\*.*?\*/", "", statement, flags=re.S).strip(" \n\t\r;"):
            yield text.count("\n", 0, start) + 1, statement
        start += max(len(statement), 1)


def _connect(path):
    if path is not None and not path.endswith(_DUCKDB_FILES):
        return _Sqlite(path)
    try:
        import duckdb
    except ImportError:
        if path is None:
            return _Sqlite(":memory:")
        raise SqlError("{} needs DuckDB: %pip install duckdb".format(path)) from None
    return _DuckDb(duckdb, path or ":memory:")


class _Sqlite:
    list_tables = _LIST_TABLES

    def __init__(self, path):
        folder = os.path.dirname(os.path.abspath(path))
        if path != ":memory:" and not os.path.isdir(folder):
            raise SqlError("There is no folder {} for the database.".format(folder))
        self._connection = sqlite3.connect(path, isolation_level=None)
        # In this call Python handles an interrupt, which it cannot while SQLite works.
        self._connection.set_progress_handler(lambda: 0, _STEPS)
        #: The data frames that were copied.
        self._copies = set()

    def close(self):
        self._connection.close()

    def run(self, statement, line, names):
        try:
            self._copy_frames(statement, names)
            cursor = self._connection.execute(statement)
            if cursor.description is None:
                return None
            return _rows([column[0] for column in cursor.description], cursor.fetchall())
        except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
            if str(error) == "interrupted":
                raise KeyboardInterrupt from None
            raise SqlError("line {}: {}".format(line, error)) from None

    def _copy_frames(self, statement, names):
        """Have the data frames that a statement names as tables, as they are now."""
        found = dict(_frames(statement, names))
        if not found:
            return
        tables = "select lower(name) from sqlite_master where type in ('table', 'view')"
        own = {name for (name,) in self._connection.execute(tables)}
        for name, value in found.items():
            if name.lower() not in own:
                self._copy(name, value)

    def _copy(self, name, value):
        columns, rows, count = _contents(value)
        if count * len(columns) > _COPIED:
            raise SqlError("{} is too large for SQLite: %pip install duckdb, and restart".format(name))
        quoted = ['"{}"'.format(column.replace('"', '""')) for column in columns]
        self._connection.execute('drop table if exists temp."{}"'.format(name))
        self._connection.execute('create temp table "{}" ({})'.format(name, ", ".join(quoted)))
        places = ", ".join("?" * len(columns))
        self._connection.execute("begin")
        try:
            insert = 'insert into temp."{}" values ({})'.format(name, places)
            self._connection.executemany(insert, rows)
        finally:
            self._connection.execute("commit")


class _DuckDb:
    list_tables = _LIST_DUCKDB

    def __init__(self, duckdb, path):
        self._error = duckdb.Error
        try:
            self._connection = duckdb.connect(path)
        except duckdb.Error as error:
            raise SqlError(str(error)) from None

    def close(self):
        self._connection.close()

    def run(self, statement, line, names):
        registered = []
        try:
            own = {row[0].lower() for row in self._connection.execute(_LIST_DUCKDB).fetchall()}
            for name, value in _frames(statement, names):
                if name.lower() not in own and kind_of(value)[1] != "Series":
                    self._connection.register(name, value)
                    registered.append(name)
            columns, rows = self._interruptible(lambda: self._fetch(statement))
            # What a statement without rows returns, too.
            if not columns or (columns in (["Success"], ["Count"]) and not _READS.match(statement)):
                return None
            return _rows(columns, rows)
        except self._error as error:
            if "interrupted" in str(error).lower():
                raise KeyboardInterrupt from None
            raise SqlError("line {}: {}".format(line, error)) from None
        finally:
            for name in registered:
                self._connection.unregister(name)

    def _fetch(self, statement):
        result = self._connection.execute(statement)
        columns = [column[0] for column in result.description or ()]
        return columns, result.fetchall() if columns else []

    def _interruptible(self, work):
        """Do it in a thread: DuckDB itself does not see an interrupt in every query."""
        outcome = []

        def do():
            try:
                outcome.append((work(), None))
            except BaseException as error:
                outcome.append((None, error))

        thread = threading.Thread(target=do, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(1.0)
        except BaseException:
            self._connection.interrupt()
            thread.join()
            raise
        result, error = outcome[0]
        if error is not None:
            raise error
        return result


def _frames(statement, names):
    """The program's data frames that a statement names."""
    for word in dict.fromkeys(_WORD.findall(statement)):
        if word in names and kind_of(names[word])[1] in ("DataFrame", "Table", "RecordBatch"):
            yield word, names[word]


def _contents(value):
    """The names of the columns, the rows and their number."""
    library = kind_of(value)[0]
    if library == "pandas":
        columns = [str(name) for name in value.columns]
        rows = value.astype(object).where(value.notna(), None).itertuples(index=False, name=None)
        return columns, (tuple(map(_plain, row)) for row in rows), len(value)
    if library == "polars":
        return list(value.columns), (tuple(map(_plain, row)) for row in value.iter_rows()), value.height
    lists = [column.to_pylist() for column in value.columns]
    names = value.schema.names
    return list(names), (tuple(map(_plain, row)) for row in zip(*lists)), value.num_rows


def _plain(value):
    """The value as SQLite keeps it; dates as text, which its functions read."""
    if value is None or type(value) in (int, float, str, bytes):
        return value
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        return _plain(value.item())
    if isinstance(value, bool):
        return int(value)
    return str(value)


def _rows(columns, rows):
    """The result: a data frame where the program uses pandas, else a list of dictionaries."""
    names = []
    for column in columns:
        name, number = column, 1
        while name in names:
            name, number = "{}_{}".format(column, number), number + 1
        names.append(name)
    pandas = sys.modules.get("pandas")
    if pandas is not None and hasattr(pandas, "DataFrame"):
        return pandas.DataFrame(rows, columns=names)
    return [dict(zip(names, row)) for row in rows]
