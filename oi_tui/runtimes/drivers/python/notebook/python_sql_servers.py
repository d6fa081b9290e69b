"""Connections to PostgreSQL, MySQL and MariaDB, through the drivers that Python has installed."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import getpass
import re
import sys
import urllib.parse

from python_sql import BACKSLASHES, DatabaseConnection, SqlError, connect_file, fetch_rows, run_interruptibly

_PASSWORD = re.compile(r"password|access denied", re.I)
_POSTGRES, _MYSQL = ("postgresql", "postgres"), ("mysql", "mariadb")
_FILES = ("sqlite", "duckdb")
#: A COPY between the server and the client, which the connection has to be told of.
_COPY = re.compile(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/)*copy\b.*?\b(?:(?P<from>from\s+stdin)|to\s+stdout)\b", re.I | re.S
)
_FORMS = "postgresql://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE, sqlite:///FILE or duckdb:///FILE"
#: The errors of MySQL after which there is no connection.
_LOST = (1927, 2006, 2013, 2055)
#: The types of PostgreSQL that hold more than those of Python.
_TIMES = ("date", "time", "timetz", "timestamp", "timestamptz")
#: How long the server may take to answer, in seconds.
_TIMEOUT = 15


def connect(address):
    """Connect to the database with this address. Asks for a password on the terminal where one is needed.

    Raises SqlError, which never says the password.
    """
    try:
        parts = urllib.parse.urlsplit(address)
        port = parts.port
    except ValueError:
        raise SqlError("the address is not valid; write {}".format(_FORMS)) from None
    if parts.password is not None:
        raise SqlError("leave the password out of the address; you are asked for it")
    kind = parts.scheme.partition("+")[0].lower()
    if kind in _FILES:
        path = urllib.parse.unquote(parts.path[1:])
        if not path:
            raise SqlError("name the file: {}:///FILE".format(kind))
        return connect_file(path, kind)
    if kind not in _POSTGRES + _MYSQL or not parts.hostname:
        raise SqlError("the address is not known; write {}".format(_FORMS))
    facts = {
        "host": parts.hostname,
        "port": port,
        "user": urllib.parse.unquote(parts.username) if parts.username else None,
        "database": urllib.parse.unquote(parts.path[1:]) or None,
    }
    options = dict(urllib.parse.parse_qsl(parts.query))
    make = _Postgres if kind in _POSTGRES else _MySql
    connection = make(facts, options)
    try:
        connection.open(None)
    except SqlError as error:
        if not _PASSWORD.search(str(error)):
            raise
        connection.open(getpass.getpass("Password for {}: ".format(address)))
    return connection


class _Server(DatabaseConnection):
    title = ""

    def __init__(self, facts, options):
        super().__init__()
        self._facts = {name: value for name, value in facts.items() if value is not None}
        self._options = options
        self._connection = None
        self._password = None
        user, name = (facts["user"] or "").strip(), facts["database"] or ""
        place = facts["host"] + (":{}".format(facts["port"]) if facts["port"] else "")
        self.words = "{}, {}{}/{}".format(self.title, user and user + "@", place, name)

    def close(self):
        self._connection.close()

    def fetch(self, statement, line, names, most=None):
        if self._is_closed():
            self.open(self._password)
            print("(The connection was lost. It is open again; temporary tables and transactions are gone.)")
        try:
            return run_interruptibly(lambda: self._fetch(statement, most), self._interrupt)
        except SqlError as error:
            raise SqlError("line {}: {}".format(line, error)) from None
        except self._errors as error:
            if self._is_interrupt(error):
                raise KeyboardInterrupt from None
            number, text = self._describe(error, statement)
            raise SqlError("line {}: {}".format(line + number, text)) from None

    def _fetch(self, statement, most):
        cursor = self._connection.cursor()
        try:
            cursor.execute(statement)
            # A SELECT of PostgreSQL may have no columns at all.
            if not cursor.description:
                word = statement.split(None, 1)[0].lower()
                return cursor.rowcount if word in _CHANGING else -1
            return [column[0] for column in cursor.description], fetch_rows(cursor, most)
        finally:
            cursor.close()


_CHANGING = ("insert", "update", "delete", "replace", "merge", "with")


class _Postgres(_Server):
    title = "PostgreSQL"
    list_tables = (
        "select case when table_schema = current_schema() then table_name "
        "else table_schema || '.' || table_name end as name, lower(table_type) as type "
        "from information_schema.tables "
        "where table_schema not in ('pg_catalog', 'information_schema') order by 1"
    )
    list_columns = (
        "select case when table_schema = current_schema() then table_name "
        "else table_schema || '.' || table_name end, column_name, data_type from information_schema.columns "
        "where table_schema not in ('pg_catalog', 'information_schema') order by 1, ordinal_position"
    )

    def __init__(self, facts, options):
        super().__init__(facts, options)
        try:
            import psycopg
        except ImportError:
            raise SqlError('PostgreSQL needs psycopg: %pip install "psycopg[binary]"') from None
        self._library = psycopg
        self._errors = (psycopg.Error,)

    def open(self, password):
        facts = {**self._options, **self._facts, "connect_timeout": _TIMEOUT}
        facts["dbname"] = facts.pop("database", None)
        try:
            self._connection = self._library.connect(password=password, autocommit=True, **facts)
        except self._library.Error as error:
            raise SqlError(_describe_error(error)) from None
        self._connection.add_notice_handler(_print_notice)
        self._keep_odd_times()
        self._password = password

    def _keep_odd_times(self):
        """Have dates and times that Python cannot hold, such as `infinity`, as text; psycopg raises."""
        library, adapters = self._library, self._connection.adapters
        for name in _TIMES:
            oid = adapters.types[name].oid
            usual = adapters.get_loader(oid, library.pq.Format.TEXT)
            adapters.register_loader(oid, _make_time_loader(library, usual))

    def _fetch(self, statement, most):
        match = _COPY.match(statement)
        if not match:
            return super()._fetch(statement, most)
        if match.group("from"):
            raise SqlError("COPY FROM STDIN gets no rows here; use INSERT, or name a file of the server")
        with self._connection.cursor() as cursor, cursor.copy(statement) as rows:
            for row in rows:
                sys.stdout.write(bytes(row).decode("utf-8", "replace"))
        return -1

    def _is_closed(self):
        return self._connection.closed

    def _interrupt(self):
        self._connection.cancel()

    def _is_interrupt(self, error):
        return isinstance(error, self._library.errors.QueryCanceled)

    @staticmethod
    def _describe(error, statement):
        position = getattr(error.diag, "statement_position", None)
        before = statement[: max(int(position) - 1, 0)] if position else ""
        # A statement may begin with empty lines, which the line of the cell does not count.
        return before.count("\n"), error.diag.message_primary or _describe_error(error)


class _MySql(_Server):
    title = "MySQL"
    quoting = BACKSLASHES
    list_tables = (
        "select table_name as name, lower(table_type) as type from information_schema.tables "
        "where table_schema = database() order by 1"
    )
    list_columns = (
        "select table_name, column_name, column_type from information_schema.columns "
        "where table_schema = database() order by table_name, ordinal_position"
    )

    def __init__(self, facts, options):
        super().__init__(facts, options)
        if options:
            raise SqlError(
                "the address of a MySQL database has no options: remove {}".format(next(iter(options)))
            )
        try:
            import pymysql
        except ImportError:
            raise SqlError("MySQL and MariaDB need PyMySQL: %pip install pymysql") from None
        self._library = pymysql
        self._errors = (pymysql.Error,)

    def open(self, password):
        try:
            self._connection = self._connect(password)
        except (self._library.Error, OSError, RuntimeError) as error:
            raise SqlError(_describe_error(error.args[-1] if error.args else error)) from None
        # To stop a query takes a second connection.
        self._password = password

    def _fetch(self, statement, most):
        """Return a list for a call of a procedure, which may have several results."""
        try:
            if not re.match(r"call\b", statement, re.I):
                return super()._fetch(statement, most)
            results = []
            with self._connection.cursor() as cursor:
                cursor.execute(statement)
                while cursor.description is not None:
                    results.append(([column[0] for column in cursor.description], fetch_rows(cursor, most)))
                    if not cursor.nextset():
                        break
            return results
        except self._library.OperationalError as error:
            if error.args and error.args[0] in _LOST and self._connection.open:
                self._connection.close()
            raise

    def _is_closed(self):
        return not self._connection.open

    def _connect(self, password):
        return self._library.connect(
            password=password or "", autocommit=True, connect_timeout=_TIMEOUT, **self._facts
        )

    def _interrupt(self):
        other = self._connect(self._password)
        try:
            with other.cursor() as cursor:
                cursor.execute("kill query {:d}".format(self._connection.thread_id()))
        finally:
            other.close()

    def _is_interrupt(self, error):
        return bool(error.args) and error.args[0] == 1317

    @staticmethod
    def _describe(error, statement):
        text = str(error.args[-1] if error.args else error)
        line_match = re.search(r"at line (\d+)$", text)
        return int(line_match.group(1)) - 1 if line_match else 0, text


def _make_time_loader(library, usual):
    """Make a loader of psycopg that returns the text where the usual one raises."""

    class TimeLoader(library.adapt.Loader):
        def __init__(self, oid, context=None):
            super().__init__(oid, context)
            # Not its base class: psycopg written in C would call that one's C function.
            self._usual = usual(oid, context)

        def load(self, data):
            try:
                return self._usual.load(data)
            except library.DataError:
                return bytes(data).decode()

    return TimeLoader


def _print_notice(notice):
    """Print what the server says beside its results, as psql does."""
    print("{}: {}".format(notice.severity, notice.message_primary))


def _describe_error(error):
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
