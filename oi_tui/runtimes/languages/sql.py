"""SQL, in the process of Python: its data frames are tables there, and its databases stay open."""

from oi_tui.runtimes.language import Language
from oi_tui.runtimes.languages import python

LANGUAGE = Language(
    name="sql",
    title="SQL",
    aliases=(
        "sqlite",
        "sqlite3",
        "duckdb",
        "postgres",
        "postgresql",
        "psql",
        "plpgsql",
        "pgsql",
        "mysql",
        "mariadb",
    ),
    hint=python.LANGUAGE.hint,
    packages=python.LANGUAGE.packages,
    keeps="tables, views, transactions, connections",
    input="reported",
    find=python.find,
    describe=lambda program: f"SQL in {python.describe(program)}",
    start=python.start,
    active_line="cell",
    request=lambda nonce, path: f"sql {nonce} {path}",
    table_request=python.LANGUAGE.table_request,
    completion_request="complete_sql {nonce} {name}",
    host="python",
    note=(
        "sql: statements run in a database that is kept between cells: one in memory, of DuckDB where Python "
        "has it, else of SQLite, or the one that was opened or connected. Data frames of Python cells are "
        "tables by their names. The rows of the last query are `_sql` in Python. Lines of their own: "
        "`.tables`, `.schema TABLE`, `.open FILE.db` (use that database file from now on), `.help`. "
        "The user connects servers with %connect."
    ),
)
