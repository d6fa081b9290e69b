"""Databases of the Python process: SQLite and DuckDB, with data frames as tables by their names.

`%sql`, `%%sql` and cells of SQL (python_sql_cells.py) share them.
"""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import os
import re
import sqlite3
import sys
import threading

from python_model_view import find_kind
from python_records import has_names, read_records

#: The address of a database, as notebooks give it to %sql.
_ADDRESS = re.compile(r"(?:sqlite|duckdb|postgres|postgresql|mysql|mariadb)(?:\+\w+)?://\S*", re.I)
_TARGET = re.compile(r"(?P<name>[^\W\d]\w*)\s*<<(?:\s+|\Z)")
_TRIGGER = re.compile(r"\s*create\s+(?:temp\w*\s+)?trigger\b", re.I)
_NAME = r"""(?:"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|[^\W\d]\w*)"""
_VIEW = re.compile(
    r"create\s+(?:or\s+replace\s+)?(?P<temp>temp\w*\s+)?view\s+(?:if\s+not\s+exists\s+)?"
    r"(?P<name>(?:{0}\s*\.\s*)?(?P<last>{0}))".format(_NAME),
    re.I,
)
_READS = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(?:select|with|from|values|table)\b", re.I | re.S)
_WORD = re.compile(r"[^\W\d]\w*")
#: One piece of a statement: a text or a name in quotation marks, a comment, a semicolon, or what is between.
#: Texts between dollars are matched by their first mark only.
_PIECE = r"""{}|"(?:[^"]|"")*"|`[^`]*`|--[^\n]*|/\*.*?\*/|\$(?:[^\W\d]\w*)?\$|;|\s+|/\*|[^\W\d]\w*|."""
STANDARD = re.compile(_PIECE.format(r"""[eE]'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*'"""), re.S)
#: MySQL's: a backslash within a text stands before any character, and `#` begins a comment.
BACKSLASHES = re.compile(_PIECE.format(r"""'(?:[^'\\]|''|\\.)*'|"(?:[^"\\]|""|\\.)*"|\#[^\n]*"""), re.S)
#: What ends statements from here on, as the program of MySQL has it for procedures.
_DELIMITER = re.compile(r"delimiter[ \t]+(\S+)[ \t]*(?=\n|\Z)", re.I)
#: The largest data frame that is copied for SQLite, in cells. DuckDB reads data frames in place.
_COPIED = 5_000_000
#: The database in memory that has the copies for SQLite.
_COPIES = "python_frames"
#: SQLite looks for an interrupt each time after this many steps.
_STEPS = 10_000
_LIST_TABLES = "select name, type from sqlite_master where name not like 'sqlite_%' order by name"
_LIST_DUCKDB = "select table_name as name, table_type as type from information_schema.tables order by 1"
_DUCKDB_FILES = (".duckdb", ".ddb")
#: What SQLite says of a statement that nobody can read, whatever the tables are.
_UNREADABLE = ("syntax error", "incomplete input", "unrecognized token")
#: To ask SQLite for the plan of these would change something, or is no statement.
_UNPLANNED = ("explain", "pragma", "attach", "detach")
_NEAR = re.compile(r'near "([^"]+)"')
_LINE = re.compile(r"\bLINE (\d+):")
_CHANGES = ("insert", "update", "delete", "replace", "merge")


class SqlError(Exception):
    """What is wrong with a query, with the line of the cell on which it begins."""


class Databases:
    """The connections to databases, by name; queries go to the one that was opened or named last.

    The first one is in memory, and opened when it is needed. A file has its path as its name.
    """

    def __init__(self):
        self._open = {}
        self._current = None
        #: Counts the changes of the current connection.
        self.changes = 0

    @property
    def current(self):
        """The connection that queries go to."""
        if self._current is None:
            self.use(None)
        return self._open[self._current]

    @property
    def words(self):
        """The current database in words; "" for the one in memory."""
        if self._current in (None, ":memory:"):
            return ""
        about = self._open[self._current].words
        return about if about.endswith(", " + self._current) else "{} ({})".format(self._current, about)

    def list(self):
        """Return the names of the open connections and what they are, the current one first."""
        names = sorted(self._open, key=lambda name: name != self._current)
        return [(name, "" if name == ":memory:" else self._open[name].words) for name in names]

    def use(self, path, connect=None, name=None):
        """Send queries there from now on: to an open connection by its name, or to a file, or to memory.

        With `connect`, open it so, in place of one of that name. Raises SqlError.
        """
        path = None if path == ":memory:" else path
        name = name or path or ":memory:"
        if connect is not None or name not in self._open:
            connection = connect() if connect is not None else _connect(path)
            before = self._open.pop(name, None)
            if before is not None:
                before.close()
            self._open[name] = connection
        if self._current != name or connect is not None:
            self._current = name
            self.changes += 1

    def close(self, name):
        """Close a connection. Raises SqlError if there is none of that name."""
        if name not in self._open:
            raise SqlError("There is no open database {}.".format(name))
        self._open.pop(name).close()
        if name == self._current:
            self._current = None
            self.changes += 1

    def line(self, query, names):
        """Run one query and return its rows, or keep them as a variable; without a query, list the tables.

        The address of a database before it, such as sqlite:///shop.db, names the database from then on.
        """
        target = _TARGET.match(query)
        query = query[target.end() :] if target else query
        address = _ADDRESS.match(query)
        if address:
            self._use_address(address.group())
            query = query[address.end() :].strip()
            if not query:
                return None
        connection = self.current
        rows = connection.run(query or connection.list_tables, 1, names)
        if not target:
            return rows
        names[target.group("name")] = rows
        return None

    def cell(self, rest, body, names):
        """Run the statements of a cell and return the rows of the last one, or keep them as a variable."""
        target = _TARGET.match(rest)
        if target:
            rest = rest[target.end() :]
        path = os.path.expanduser(rest.strip().strip("'\""))
        if _ADDRESS.fullmatch(path):
            self._use_address(path)
        elif path:
            self.use(path)
        last = None
        for line, statement in split_statements(body, self.current.quoting):
            last = self.current.run(statement, line, names)
        if not target:
            return last
        names[target.group("name")] = last
        return None

    def _use_address(self, address):
        """Connect to the database with this address, unless that is done, and use it from then on."""

        def connect():
            from python_quiet_import import import_quietly

            # Notebooks write sqlite:// for a database in memory.
            whole = address + "/:memory:" if address.endswith("://") else address
            return import_quietly("python_sql_servers").connect(whole)

        self.use(None, None if address in self._open else connect, name=address)


def get_databases(driver):
    """Return the databases of the driver, which are made once."""
    if driver.databases is None:
        driver.databases = Databases()
    return driver.databases


def split_statements(text, quoting=STANDARD):
    """Return the statements of a text, each with the number of the line on which it begins."""
    return [item[1:] for item in split_parts(text, quoting) if item[0] == "sql"]


def split_parts(text, quoting=STANDARD, commands=False):
    """Return the statements of a text, as ("sql", line, text); with `commands` also lines like `.tables`.

    Those are ("command", line, text), and stand between statements. Raises SqlError for a quotation mark
    or a comment without its end.
    """
    statements, start, at, line, began, empty, ending = [], 0, 0, 1, 1, True, ";"
    while at < len(text):
        delimiter = _DELIMITER.match(text, at) if commands and empty and quoting is BACKSLASHES else None
        if delimiter and not text[text.rfind("\n", 0, at) + 1 : at].strip():
            ending = delimiter.group(1)
            start = at = delimiter.end()
            continue
        if commands and empty and text[at] == "." and not text[text.rfind("\n", 0, at) + 1 : at].strip():
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            statements.append(("command", line, text[at:end].strip()))
            start = at = end
            continue
        piece = ending if text.startswith(ending, at) else quoting.match(text, at).group()
        if piece != ending and _is_mark(piece):
            if piece[0] != "$" or text.find(piece, at + len(piece)) < 0:
                what = "comment" if piece == "/*" else "quotation mark {}".format(piece)
                raise SqlError("line {}: the {} has no end".format(line, what))
            piece = text[at : text.find(piece, at + len(piece)) + len(piece)]
        blank = piece.isspace() or piece.startswith(
            ("--", "/*") if quoting is STANDARD else ("--", "/*", "#")
        )
        if empty and not blank:
            began = line
            if piece != ending:
                empty = False
                start = at
        at += len(piece)
        line += piece.count("\n")
        if piece == ending:
            if not empty and (ending != ";" or not _is_open(text[start:at])):
                statements.append(("sql", began, text[start : at if ending == ";" else at - len(ending)]))
                empty = True
            if empty:
                start = at
    if not empty:
        statements.append(("sql", began, text[start:]))
    return statements


def _is_mark(piece):
    """Return whether it begins a text or a comment, whose end is still to be found."""
    is_dollars = piece[0] == "$" and piece[-1] == "$" and len(piece) > 1
    return is_dollars or piece in ("'", '"', "`", "/*")


def _is_open(statement):
    """Return whether a semicolon does not end the statement: within a trigger there are others."""
    return bool(_TRIGGER.match(statement)) and not sqlite3.complete_statement(statement)


def _connect(path):
    kind = "duckdb" if path is None or path.endswith(_DUCKDB_FILES) else "sqlite"
    return connect_file(path, kind)


def connect_file(path, kind):
    """Open a file of SQLite or DuckDB, or a database in memory where the path is None. Raises SqlError."""
    if kind == "sqlite":
        return _Sqlite(path)
    try:
        import duckdb
    except ImportError:
        if path is None:
            return _Sqlite(":memory:")
        raise SqlError("{} needs DuckDB: %pip install duckdb".format(path)) from None
    return _DuckDb(duckdb, path or ":memory:")


class DatabaseConnection:
    """What all databases have in common."""

    quoting = STANDARD
    #: A query for the tables: name, kind.
    list_tables = ""
    #: A query for the columns of all tables: table, column, type.
    list_columns = ""

    def __init__(self):
        #: The words of the statements that made views, by the name of the view in small letters.
        self._views = {}

    def run(self, statement, line, names):
        """Run a statement and return its rows as a value for the program; None where it has none."""
        outcome = self.fetch(statement, line, names)
        if isinstance(outcome, list):
            outcome = next((item for item in reversed(outcome) if isinstance(item, tuple)), None)
        return make_rows(*outcome) if isinstance(outcome, tuple) else None

    def check(self, line, statement):
        """Raise SqlError for a statement that the database could not read, where it tells that before."""

    def _find_frames(self, statement, names):
        """Find the program's tables that a statement, or a view in it, names: frames, columns and records."""
        words = dict.fromkeys(_WORD.findall(statement))
        waiting = list(words)
        while waiting:
            for word in self._views.get(waiting.pop().lower(), ()):
                if word not in words:
                    words[word] = None
                    waiting.append(word)
        for word in words:
            if word in names and is_table(names[word]):
                yield word, names[word]

    def _remember_view(self, statement):
        """Remember what a view that was made is of, since a query that reads it does not name that."""
        match = _VIEW.match(statement)
        if match:
            self._views[match.group("last").strip('"`[]').lower()] = _WORD.findall(statement)


class _Sqlite(DatabaseConnection):
    list_tables = _LIST_TABLES
    list_columns = (
        "select m.name, p.name, p.type from (select name, type from sqlite_master "
        "union all select name, type from sqlite_temp_master) m, pragma_table_info(m.name) p "
        "where m.type in ('table', 'view') and m.name not like 'sqlite_%' order by m.name, p.cid"
    )

    def __init__(self, path):
        super().__init__()
        folder = os.path.dirname(os.path.abspath(path))
        if path != ":memory:" and not os.path.isdir(folder):
            raise SqlError("There is no folder {} for the database.".format(folder))
        self._connection = sqlite3.connect(path, isolation_level=None)
        # In this call Python handles an interrupt, which it cannot while SQLite works.
        self._connection.set_progress_handler(lambda: 0, _STEPS)
        # Data frames are copied there, not into `temp`: of two tables of a name, SQLite takes that of `temp`
        # or `main` first, so that a table which the program makes is found before the frame of its name.
        self._connection.execute("attach ':memory:' as {}".format(_COPIES))
        self.words = "SQLite, {}".format(path)

    def close(self):
        self._connection.close()

    def check(self, line, statement):
        word = _WORD.search(statement)
        if word is None or word.group().lower() in _UNPLANNED:
            return
        try:
            self._connection.execute("explain " + statement).close()
        except sqlite3.Error as error:
            if any(words in str(error) for words in _UNREADABLE):
                raise self._make_error(line, statement, error) from None
        except (sqlite3.Warning, ValueError):
            # Of what is more than one statement, or holds a zero; to run it says the same.
            return

    def fetch(self, statement, line, names, most=None):
        try:
            copied = self._copy_frames(statement, names)
            if copied and self._make_lasting_view(statement, line, copied):
                return -1
            cursor = self._connection.execute(statement)
            if cursor.description is None:
                self._remember_view(statement)
                return cursor.rowcount
            return [column[0] for column in cursor.description], fetch_rows(cursor, most)
        except (sqlite3.Error, sqlite3.Warning, OverflowError, ValueError) as error:
            if str(error) == "interrupted":
                raise KeyboardInterrupt from None
            raise self._make_error(line, statement, error) from None

    def _make_lasting_view(self, statement, line, copied):
        """Make a view of the database's own; False for any other statement.

        Raises SqlError where the view reads a data frame. SQLite makes it then, and refuses each query of it.
        """
        match = _VIEW.match(statement)
        if not match or match.group("temp"):
            return False
        self._connection.execute("savepoint python_view")
        try:
            self._connection.execute(statement)
            try:
                self._connection.execute("explain select * from {}".format(match.group("name"))).close()
            except sqlite3.Error as error:
                missing = str(error).lower()
                for name in copied:
                    if missing.startswith("no such table:") and missing.endswith("." + name.lower()):
                        raise SqlError(
                            "line {}: only a temporary view can read the data frame {}: write "
                            "CREATE TEMP VIEW".format(line, name)
                        ) from None
        except BaseException:
            self._connection.execute("rollback to python_view")
            raise
        finally:
            self._connection.execute("release python_view")
        return True

    @staticmethod
    def _make_error(line, statement, error):
        near = _NEAR.search(str(error))
        if near and statement.count(near.group(1)) == 1:
            line += statement.count("\n", 0, statement.index(near.group(1)))
        return SqlError("line {}: {}".format(line, error))

    def _copy_frames(self, statement, names):
        """Have the data frames that a statement names as tables, as they are now. Returns their names."""
        frames = dict(self._find_frames(statement, names))
        if not frames:
            return []
        own, copied = self._own_tables(), []
        for name, value in frames.items():
            if name.lower() not in own:
                self._copy(name, value)
                copied.append(name)
            else:
                # Before a table of another file, SQLite would take an earlier copy.
                self._connection.execute('drop table if exists {}."{}"'.format(_COPIES, name))
        return copied

    def _own_tables(self):
        """Return the names of all tables and views that are no copies of frames, in small letters."""
        databases = [name for _, name, _ in self._connection.execute("pragma database_list")]
        tables = "select lower(name) from \"{}\".sqlite_master where type in ('table', 'view')"
        return {
            name
            for database in databases
            if database != _COPIES
            for (name,) in self._connection.execute(tables.format(database.replace('"', '""')))
        }

    def _copy(self, name, value):
        columns, rows, count = _read_contents(value)
        if count * len(columns) > _COPIED:
            raise SqlError("{} is too large for SQLite: %pip install duckdb, and restart".format(name))
        quoted = ['"{}"'.format(column.replace('"', '""')) for column in columns]
        self._connection.execute('drop table if exists {}."{}"'.format(_COPIES, name))
        self._connection.execute('create table {}."{}" ({})'.format(_COPIES, name, ", ".join(quoted)))
        places = ", ".join("?" * len(columns))
        insert = 'insert into {}."{}" values ({})'.format(_COPIES, name, places)
        # Within a transaction of the program's own the rows are part of that.
        begins = not self._connection.in_transaction
        if begins:
            self._connection.execute("begin")
        try:
            self._connection.executemany(insert, rows)
        finally:
            if begins:
                self._connection.execute("commit")


class _DuckDb(DatabaseConnection):
    list_tables = _LIST_DUCKDB
    list_columns = (
        "select table_name, column_name, data_type from information_schema.columns "
        "order by table_name, ordinal_position"
    )

    def __init__(self, duckdb, path):
        super().__init__()
        self._duckdb = duckdb
        self._error = duckdb.Error
        try:
            self._connection = duckdb.connect(path)
        except duckdb.Error as error:
            raise SqlError(str(error)) from None
        self.words = "DuckDB, {}".format(path)

    def close(self):
        self._connection.close()

    def check(self, line, statement):
        extract = getattr(self._duckdb, "extract_statements", None)
        try:
            if extract is not None:
                extract(statement)
        except self._error as error:
            raise self._explain_error(line, error) from None

    def fetch(self, statement, line, names, most=None):
        try:
            frames = {name: self._convert_frame(value) for name, value in self._find_frames(statement, names)}
            columns, rows = run_interruptibly(
                lambda: self._fetch(statement, frames, most), self._connection.interrupt
            )
            self._remember_view(statement)
            # What a statement without rows returns, too.
            if not columns or (columns in (["Success"], ["Count"]) and not _READS.match(statement)):
                changes = statement.lstrip().lower().startswith(_CHANGES) and columns == ["Count"]
                return rows[0][0] if changes and rows else -1
            return columns, rows
        except self._error as error:
            if "interrupted" in str(error).lower():
                raise KeyboardInterrupt from None
            raise self._explain_error(line, error) from None

    def _convert_frame(self, value):
        """Return a value of the program as DuckDB reads it; as it is where that cannot be."""
        library, kind = find_kind(value)
        if library:
            value = value.to_frame(_get_column_name(value)) if kind == "Series" else value
            return _convert_to_texts(value) if library == "pandas" else value
        try:
            import pandas
        except ImportError:
            # It may be no table at all: a column can have the name, too.
            return value
        records = read_records(value)
        frame = pandas.DataFrame({column: records.column(column) for column in records.names})
        try:
            self._connection.from_df(frame)
        except self._error:
            return frame.astype("string")
        return frame

    @staticmethod
    def _explain_error(line, error):
        text = _LINE.sub(lambda match: "LINE {}:".format(int(match.group(1)) + line - 1), str(error))
        line_match = _LINE.search(text)
        return SqlError("line {}: {}".format(line_match.group(1) if line_match else line, text))

    def _fetch(self, statement, frames, most):
        # DuckDB takes a variable of its caller for a table where it has none of the name.
        run = {"__run__": self._connection.execute, "__statement__": statement}
        result = eval("__run__(__statement__)", frames, run)
        columns = [column[0] for column in result.description or ()]
        return columns, fetch_rows(result, most) if columns else []


def fetch_rows(cursor, most):
    """Return all rows, or `most` and one more, which shows that there are others."""
    return cursor.fetchall() if most is None else cursor.fetchmany(most + 1)


def run_interruptibly(work, interrupt):
    """Do it in a thread, since libraries do not see an interrupt in every call; `interrupt` ends it.

    It is repeated until the work has ended: a database forgets one that comes before its query has begun.
    """
    outcome = []
    # Not `join`: an interrupt in it makes Python before 3.13 take the thread for one that has ended.
    given_up, ended = threading.Event(), threading.Event()

    def do():
        try:
            if not given_up.is_set():
                outcome.append((work(), None))
        except BaseException as error:
            outcome.append((None, error))
        finally:
            ended.set()

    thread = threading.Thread(target=do, daemon=True)
    try:
        thread.start()
        while not ended.wait(1.0):
            pass
    except BaseException:
        given_up.set()
        while thread.ident is not None and not ended.wait(0.1):
            interrupt()
        raise
    result, error = outcome[0]
    if error is not None:
        raise error
    return result


def is_table(value):
    """Return whether a value of the program is a table of SQL by its name."""
    if find_kind(value)[1]:
        return True
    records = read_records(value) if type(value) is not tuple else None
    return records is not None and has_names(records) and len(records) * len(records.names) <= _COPIED


def _get_column_name(series):
    """Return the name that a column has as a table."""
    return "value" if series.name in (None, "") else series.name


def _convert_to_texts(frame):
    """Return a frame of pandas with texts in place of values that DuckDB has no type for."""
    odd = {
        name: "string"
        for name, of in frame.dtypes.items()
        if str(of).startswith(("period", "interval", "complex"))
    }
    return frame.astype(odd) if odd else frame


def _read_contents(value):
    """Return the names of the columns, the rows and their number."""
    library, kind = find_kind(value)
    if not library:
        records = read_records(value)
        rows = (records.row(number, records.names) for number in range(len(records)))
        return list(records.names), (tuple(map(_convert_value, row)) for row in rows), len(records)
    if kind == "Series":
        value = value.to_frame(_get_column_name(value))
    if library == "pandas":
        columns = [str(name) for name in value.columns]
        rows = value.astype(object).where(value.notna(), None).itertuples(index=False, name=None)
        return columns, (tuple(map(_convert_value, row)) for row in rows), len(value)
    if library == "polars":
        return (
            list(value.columns),
            (tuple(map(_convert_value, row)) for row in value.iter_rows()),
            value.height,
        )
    lists = [column.to_pylist() for column in value.columns]
    names = value.schema.names
    return list(names), (tuple(map(_convert_value, row)) for row in zip(*lists)), value.num_rows


def _convert_value(value):
    """Return the value as SQLite keeps it; dates as text, which its functions read."""
    if value is None or type(value) in (int, float, str, bytes):
        return value
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        return _convert_value(value.item())
    if isinstance(value, bool):
        return int(value)
    return str(value)


def make_rows(columns, rows):
    """Return the result: a data frame where the program uses pandas, else a list of dictionaries."""
    names = make_distinct(columns)
    pandas = sys.modules.get("pandas")
    if pandas is not None and hasattr(pandas, "DataFrame"):
        return pandas.DataFrame(rows, columns=names)
    return [dict(zip(names, row)) for row in rows]


def make_distinct(columns):
    """Return the names of columns, each once: `a`, `a_1`."""
    names = []
    for column in columns:
        name, number = column, 1
        while name in names:
            name, number = "{}_{}".format(column, number), number + 1
        names.append(name)
    return names
