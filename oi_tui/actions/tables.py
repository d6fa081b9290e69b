"""Finds the table that a person names, and prints its first rows where there is no screen."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from oi_tui import paths
from oi_tui.input.table_file import TableFile, explain_no_file, explain_no_table, is_file, is_table_file
from oi_tui.runtimes.tables import TableError, TableQuery, TableSource
from oi_tui.runtimes.variables import is_table
from oi_tui.text import clean_line

if TYPE_CHECKING:
    from oi_tui.services.languages import Languages

#: The most that is printed of a table: rows, columns, characters of a cell, and names of other columns.
_ROWS, _COLUMNS, _WIDEST, _NAMED = 20, 30, 30, 100


def find_table(
    name: str, computer: "Languages", pythons: Sequence[str] = (), *, gradually: bool = False
) -> TableSource:
    """Return the table of a file or a variable. Raises TableError; a file may take a moment.

    If `gradually`, only the first rows of a file are read now. `pythons` are interpreters that may have the
    libraries for it.
    """
    path, table = _split(name, computer)
    if path is not None:
        return TableFile(path, table, pythons, gradually=gradually)
    try:
        return computer.inspector.open_table(_find_language(name, computer), name)
    except TableError as error:
        path = computer.cwd / paths.expand_typed(name)
        # There may be a folder of this name, or a link to a file that is gone.
        why = explain_no_file(path) if os.path.lexists(path) else None
        raise TableError(f"{error} {why or 'No file has this name, either.'}") from None


def explain_no_table_file(name: str, computer: "Languages") -> str | None:
    """Return why the file that is named cannot be opened; None when it can, and for a variable."""
    path, _ = _split(name, computer)
    return None if path is None else explain_no_table(path)


def _split(name: str, computer: "Languages") -> tuple[Path | None, str]:
    """Return the file that is named, and the table in it; no file for the name of a variable."""
    file, _, table = name.partition("::")
    if table and is_file(computer.cwd / paths.expand_typed(name)):
        file, table = name, ""
    path = computer.cwd / paths.expand_typed(file)
    return path if is_table_file(file) or is_file(path) else None, table


def _find_language(name: str, computer: "Languages") -> str:
    """Return the language that has a variable of this name: Python, else one where it is a table."""
    types = {
        memory.language: variable.type
        for memory in computer.inspector.read_memories()
        for variable in memory.variables
        if variable.name == name
    }
    if not types or "python" in types:
        return "python"
    return next((language for language, kind in types.items() if is_table(language, kind)), next(iter(types)))


def format_first_rows(source: TableSource) -> str:
    """Return the first rows and columns, aligned."""
    shape = source.shape(TableQuery())
    columns = shape.columns[:_COLUMNS]
    page = source.page(TableQuery(), 0, _ROWS, 0, len(columns))
    rows = [
        [row.label, *("NaN" if cell is None else clean_line(cell, _WIDEST) for cell in row.cells)]
        for row in page
    ]
    table = [
        ["", *(clean_line(column.name, _WIDEST) for column in columns)],
        ["", *(c.type for c in columns)],
        *rows,
    ]
    widths = [max(len(row[at]) for row in table) for at in range(len(columns) + 1)]
    right = [True, *(column.numeric for column in columns)]
    lines = [
        "  ".join(
            text.rjust(width) if numeric else text.ljust(width)
            for text, width, numeric in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in table
    ]
    total, many = shape.total, len(shape.columns)
    size = f"{total:,} row{'s' * (total != 1)}, {many:,} column{'s' * (many != 1)}"
    remarks = f" ({shape.kind})" if "," in shape.kind and isinstance(source, TableFile) else ""
    printed = [f"{source.name}: {size}{remarks}", *lines]
    if rest := shape.columns[_COLUMNS:]:
        names = ", ".join(clean_line(column.name, _WIDEST) for column in rest[:_NAMED])
        more = f"{len(rest):,} more column{'s' * (len(rest) != 1)}"
        printed.append(f"{more}: {names}{', …' * (len(rest) > _NAMED)}")
    tables = getattr(source, "tables", ())
    if len(tables) > 1:
        others = (name for name in tables if name != getattr(source, "table", ""))
        file = source.name.partition("::")[0]
        printed.append(
            "Other tables: " + ", ".join(f"{file}::{clean_line(name, _WIDEST)}" for name in others)
        )
    return "\n".join(printed)
