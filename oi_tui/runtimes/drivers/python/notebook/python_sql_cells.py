"""Cells of SQL: statements and lines such as `.tables`, one after the other."""

# mypy: ignore-errors
from __future__ import annotations

import builtins

__builtins__ = dict(vars(builtins))

import csv
import os
import re
import subprocess
import sys
import unicodedata

from python_model_view import format_table
from python_sql import SqlError, get_databases, make_distinct, make_rows, split_parts

#: No more rows of a query are kept.
_MOST = 1_000_000
#: Longer results are printed with this many of the first and the last rows.
_PRINTED, _FIRST, _LAST = 40, 20, 5
#: The widest text of a cell that is printed.
_WIDEST = 60
#: The names that databases give the column of a plan, or of the definition of a table.
_PLANS = ("explain_value", "explain", "query plan", "sql", "create table", "create view")
#: What would move the cursor or change colours.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
#: How rows are printed: as a table, without names and parted by bars, or as CSV.
_MODES = ("table", "list", "csv")


def run(driver, source):
    """Run a cell, and return the state and the reason of its end."""
    # The active line is what the channel says of it, and no frame of Python's.
    driver.channel.cell(0, 0)
    driver.file_name = ""
    cell = _Cell(driver)
    try:
        cell.run(source.lstrip("\ufeff").replace("\r\n", "\n"))
    except SystemExit as error:
        return ("failed", "exit status {}".format(error.code)) if error.code else ("finished", None)
    except SqlError as error:
        driver.streams.flush()
        print("Error: {}".format(error), file=sys.stderr)
        return "failed", str(error).splitlines()[0][:300]
    except KeyboardInterrupt:
        driver.streams.flush()
        print("Interrupted on line {}.".format(cell.line), file=sys.stderr)
        return "interrupted", None
    return "finished", None


def import_servers():
    """Import what connects to servers, which few cells do."""
    from python_quiet_import import import_quietly

    return import_quietly("python_sql_servers")


class SqlRows:
    """The rows of a query, to be shown."""

    def __init__(self, columns, rows):
        self.columns = make_distinct(columns)
        self.rows = rows

    def __repr__(self):
        many, sample = len(self.rows), self.rows
        if many > _PRINTED:
            sample = self.rows[:_FIRST] + self.rows[-_LAST:]
        texts = [[_format_value(value) for value in row] for row in sample]
        widths = [max(map(_measure_width, column)) for column in zip(self.columns, *texts)]
        numeric = [all(row[at] is None or _is_number(row[at]) for row in sample) for at in range(len(widths))]

        def line(row):
            spaces = [" " * (size - _measure_width(text)) for text, size in zip(row, widths)]
            return "  ".join(
                space + text if right else text + space for text, space, right in zip(row, spaces, numeric)
            )

        lines = [line(self.columns), "  ".join("-" * width for width in widths), *map(line, texts)]
        if many > len(sample):
            lines.insert(2 + _FIRST, "… {:,} more rows …".format(many - len(sample)))
        lines.append("({:,} row{})".format(many, "s" * (many != 1)))
        return "\n".join(item.rstrip() for item in lines)

    def view(self):
        """Return the rows as the model gets them."""
        columns = [
            (name, self.kind(at), sum(row[at] is None for row in self.rows))
            for at, name in enumerate(self.columns)
        ]
        return format_table(
            "Result",
            len(self.rows),
            len(columns),
            columns,
            lambda start, stop: self.rows[start:stop],
        )

    def kind(self, at):
        """Return the type of the values of a column; "" without any."""
        kinds = {type(row[at]).__name__ for row in self.rows[:1000] if row[at] is not None}
        return kinds.pop() if len(kinds) == 1 else "mixed" if kinds else ""


def _format_value(value):
    if value is None:
        return "NULL"
    if isinstance(value, (bytes, bytearray)):
        text = "x'{}'".format(bytes(value[:_WIDEST]).hex())
    else:
        text = _CONTROL.sub(lambda match: repr(match.group())[1:-1], str(value))
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def _measure_width(text):
    """Return how many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))


def _is_number(value):
    return isinstance(value, (int, float)) or type(value).__name__ == "Decimal"


def _are_plans(columns, rows):
    """Return whether these are plans or definitions, which are texts of several lines."""
    texts = (isinstance(row[-1], str) for row in rows)
    return len(columns) <= 2 and columns[-1].lower() in _PLANS and bool(rows) and all(texts)


class _Cell:
    def __init__(self, driver):
        self._driver = driver
        self._names = driver.module.__dict__
        self._databases = get_databases(driver)
        self._mode = "table"
        #: The line that runs.
        self.line = 1

    def run(self, source, reading=()):
        """Run the statements and commands of a text; `reading` are the files that it stands in."""
        items = split_parts(source, self._databases.current.quoting, commands=True)
        self._check(items)
        for kind, line, text in items:
            if not reading:
                self.line = line
                self._driver.channel.line(line)
            if kind == "command":
                self._run_command(text, reading)
            else:
                self._run_statement(line, text)

    def _check(self, items):
        """Have the statements up to the first change of the database read before any of them runs."""
        for kind, line, text in items:
            if kind == "sql":
                self._databases.current.check(line, text)
            else:
                name = text[1:].split(None, 1)[:1]
                if not name or not hasattr(self, "_do_" + name[0]):
                    raise SqlError("line {}: {} is not known; .help lists what is".format(line, text[:40]))
                if name[0] in ("open", "connect", "close"):
                    break

    def _run_statement(self, line, text):
        if text.startswith("\\"):
            word = text.split(None, 1)[0]
            raise SqlError(
                "line {}: {} belongs to psql; .tables and .schema NAME work here".format(line, word)
            )
        outcome = self._databases.current.fetch(text, line, self._names, _MOST)
        for item in outcome if isinstance(outcome, list) else [outcome]:
            self._show_outcome(item)

    def _show_outcome(self, outcome):
        """Show rows, or say how many were changed."""
        if not isinstance(outcome, tuple):
            if isinstance(outcome, int) and outcome >= 0:
                print("{:,} row{} changed".format(outcome, "s" * (outcome != 1)))
            return
        columns, rows = outcome
        more = len(rows) > _MOST
        self._show(columns, rows[:_MOST])
        if more:
            print("Only the first {:,} rows were fetched; use limit, or count and group them.".format(_MOST))
        self._names["_sql"] = make_rows(columns, rows[:_MOST])

    def _show(self, columns, rows):
        if self._mode == "table" and _are_plans(columns, rows):
            print("\n".join(row[-1].rstrip("\n") for row in rows))
        elif self._mode == "table":
            self._driver.shows.result(SqlRows(columns, [tuple(row) for row in rows]), "result")
        elif self._mode == "list":
            out = ("|".join("" if value is None else str(value) for value in row) for row in rows)
            sys.stdout.write("".join(line + "\n" for line in out))
        else:
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(rows)

    def _run_command(self, text, reading):
        name, _, rest = text[1:].partition(" ")
        method = getattr(self, "_do_" + name, None)
        if method is None:
            raise SqlError("line {}: {} is not known; .help lists what is".format(self.line, text[:40]))
        try:
            if name == "read":
                self._read(rest.strip(), reading)
            else:
                method(rest.strip() if name != "print" else rest)
        except OSError as error:
            raise SqlError("line {}: {}: {}".format(self.line, rest.strip(), error.strerror)) from None
        except SqlError as error:
            words = str(error)
            if not words.startswith("line "):
                words = "line {}: {}".format(self.line, words)
            raise SqlError(words) from None

    # -- commands; the first line of each is its help

    def _do_help(self, rest):
        """.help: list these commands."""
        methods = (getattr(self, name) for name in sorted(dir(self)) if name.startswith("_do_"))
        print("\n".join(dict.fromkeys(function.__doc__ for function in methods)))

    def _do_tables(self, rest):
        """.tables: list the tables and views."""
        self._query(self._databases.current.list_tables)

    def _do_schema(self, rest):
        """.schema [TABLE]: list the columns of all tables, or of one, with their types."""
        columns = self._databases.current.fetch(self._databases.current.list_columns, self.line, {}, _MOST)[1]
        table = _unquote(rest).lower()
        rows = [row for row in columns if not table or str(row[0]).lower() == table]
        if table and not rows:
            raise SqlError("there is no table {}".format(_unquote(rest)))
        self._show(["table", "column", "type"], rows)

    def _do_databases(self, rest):
        """.databases: list the open databases, the current one first."""
        for name, words in self._databases.list():
            print("{}  {}".format(name, words) if words and words != name else name)

    def _do_open(self, rest):
        """.open NAME: use a file (SQLite, or DuckDB for .duckdb), an open database or :memory: now."""
        if not rest:
            raise SqlError("name a file, an open database, or :memory:")
        self._databases.use(os.path.expanduser(_unquote(rest)))

    def _do_connect(self, rest):
        """.connect ADDRESS [NAME]: use a database from now on, such as postgresql://ana@db.example/shop."""
        words = rest.split()
        if not words or len(words) > 2:
            raise SqlError(
                "write an address, and a name of one word: .connect postgresql://ana@db.example/shop"
            )
        self._driver.streams.flush()
        connect = import_servers().connect
        self._databases.use(None, lambda: connect(words[0]), name=words[-1])

    def _do_close(self, rest):
        """.close NAME: close an open database."""
        self._databases.close(os.path.expanduser(_unquote(rest)))

    def _do_mode(self, rest):
        """.mode table|list|csv: how the rest of this cell prints rows."""
        if rest not in _MODES:
            raise SqlError("a mode is one of {}".format(", ".join(_MODES)))
        self._mode = rest

    def _do_print(self, rest):
        """.print TEXT: print a line."""
        print(_unquote(rest))

    def _do_read(self, rest):
        """.read FILE: run the statements of a file."""

    def _do_shell(self, rest):
        """.shell COMMAND: run a command of the shell."""
        self._driver.streams.flush()
        subprocess.call(["/bin/sh", "-c", rest])

    _do_system = _do_shell

    def _do_exit(self, rest):
        """.exit [STATUS]: end the cell."""
        try:
            status = int(rest or 0)
        except ValueError:
            raise SqlError("a status is a number") from None
        raise SystemExit(status)

    _do_quit = _do_exit

    def _query(self, query):
        columns, rows = self._databases.current.fetch(query, self.line, {}, _MOST)
        self._show(columns, rows)

    def _read(self, name, reading):
        path = os.path.realpath(os.path.expanduser(_unquote(name)))
        if not name or path in reading or len(reading) > 20:
            raise SqlError("name a file that does not read itself")
        with open(path, encoding="utf-8-sig") as file:
            source = file.read()
        try:
            self.run(source, (*reading, path))
        except SqlError as error:
            raise SqlError("line {}: {}: {}".format(self.line, _unquote(name), error)) from None


def _unquote(text):
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
