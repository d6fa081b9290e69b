"""SQL cells against a real PostgreSQL, and addresses of databases."""

import os
import pwd
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from oi_tui.messages import InputRequested, Printed, Report
from oi_tui.runtimes import Computer
from tests.ports import choose_port
from tests.runtimes.playing import play, until

PASSWORD = "correct horse 7"


def find(program: str) -> str:
    """The path of a program of PostgreSQL, which Debian does not put on PATH."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return shutil.which(program) or next((str(p / program) for p in folders if (p / program).exists()), "")


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a server with the user `ana` and the database `shop`, who needs a password."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    initdb, server = find("initdb"), find("postgres")
    if not initdb or not server:
        pytest.skip("postgres is not installed here")
    folder = tmp_path_factory.mktemp("postgres")
    (folder / "password").write_text(PASSWORD)
    # It does not run as root, and its folder must be in reach of who runs it.
    user = "nobody" if os.geteuid() == 0 else None
    if user:
        entry = pwd.getpwnam(user)
        for path in (folder, folder / "password"):
            os.chown(path, entry.pw_uid, entry.pw_gid)
        for parent in folder.parents:
            if parent.owner() == "root" and parent != Path("/"):
                parent.chmod(parent.stat().st_mode | 0o011)
    data = str(folder / "data")
    setup = [
        initdb,
        "-D",
        data,
        "-U",
        "ana",
        "-A",
        "scram-sha-256",
        f"--pwfile={folder}/password",
        "--no-sync",
    ]
    subprocess.run(setup, check=True, user=user, cwd=folder, capture_output=True)
    port = choose_port()
    options = ["-p", str(port), "-h", "127.0.0.1", "-k", str(folder), "-c", "fsync=off"]
    process = subprocess.Popen(
        [server, "-D", data, *options],
        user=user,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        import psycopg

        def create() -> bool:
            try:
                with psycopg.connect(
                    host="127.0.0.1",
                    port=port,
                    user="ana",
                    password=PASSWORD,
                    dbname="postgres",
                    autocommit=True,
                ) as connection:
                    connection.execute("create database shop")
            except psycopg.OperationalError:
                assert process.poll() is None
                return False
            return True

        until(create)
        yield port
    finally:
        # It ends its connections, and does not wait for them.
        process.send_signal(signal.SIGINT)
        process.wait(20)


@pytest.fixture
def mariadb(tmp_path: Path) -> Iterator[str]:
    """The address of a database of MariaDB, whose user needs no password."""
    pytest.importorskip("pymysql", reason="PyMySQL is not installed")
    data, setup = tmp_path / "data", tmp_path / "setup.sql"
    # The server takes one statement a line.
    setup.write_text("create database shop;\ncreate user ana@'%';\ngrant all on shop.* to ana@'%';\n")
    port = choose_port()
    user = pwd.getpwuid(os.geteuid()).pw_name
    places = [f"--datadir={data}", f"--user={user}"]
    subprocess.run(
        ["mariadb-install-db", *places, "--auth-root-authentication-method=normal", "--skip-test-db"],
        check=True,
        capture_output=True,
    )
    options = [f"--port={port}", "--bind-address=127.0.0.1", f"--init-file={setup}"]
    files = [f"--{name}={tmp_path / name}" for name in ("socket", "pid-file")]
    process = subprocess.Popen(
        ["mariadbd", "--no-defaults", *places, *options, *files],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until((tmp_path / "pid-file").exists)
        yield f"mysql://ana@127.0.0.1:{port}/shop"
    finally:
        process.kill()
        process.wait(20)


@pytest.fixture(scope="module")
def sql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Computer]:
    """A computer whose Python has the drivers of databases."""
    computer = Computer(cwd=tmp_path_factory.mktemp("sql-servers"), python=sys.executable)
    # Started before a test begins, it is none of what the test leaves behind.
    assert play(computer, "sql", "select 1").state == "finished"
    yield computer
    computer.close()


@pytest.fixture(scope="module")
def shop(sql: Computer, postgres: int) -> Computer:
    """The computer, connected to the database."""
    address = f"postgresql://ana@127.0.0.1:{postgres}/shop"
    played = play(sql, "sql", f".connect {address} shop", answers=(f"{PASSWORD}\n",))
    assert played.state == "finished", played.text
    assert played.asked == [InputRequested(f"Password for {address}: ", masked=True)]
    assert PASSWORD not in played.text
    return sql


def run_text(computer: Computer, code: str, language: str = "sql") -> str:
    played = play(computer, language, code)
    assert played.state == "finished", played.text
    return played.text.strip()


def test_the_question_can_name_the_database_without_the_password(shop: Computer, postgres: int) -> None:
    words = f"PostgreSQL, ana@127.0.0.1:{postgres}/shop"
    assert shop.find_database("sql") == f"shop ({words})"
    assert run_text(shop, ".databases").splitlines()[0] == f"shop  {words}"
    assert run_text(shop, ".open :memory:\n.mode list\nselect 1") == "1"
    assert shop.find_database("sql") == "a database in memory"
    assert run_text(shop, ".open shop") == ""


def test_statements_run_on_the_server_and_rows_come_to_python(shop: Computer) -> None:
    code = (
        "create table orders (id integer, label text);\n"
        "do $$ begin insert into orders values (1, 'a;b'); end $$;\n"
        "insert into orders values (2, null);\n.schema orders\n.mode list\nselect * from orders order by id"
    )
    printed = run_text(shop, code)
    assert "1 row changed" in printed
    assert "orders  label   text" in printed
    assert printed.endswith("1|a;b\n2|")
    assert run_text(shop, "print(_sql)", "python") == "[{'id': 1, 'label': 'a;b'}, {'id': 2, 'label': None}]"
    assert run_text(
        shop, "begin;\ndelete from orders;\nrollback;\n.mode list\nselect count(*) from orders"
    ).endswith("2")


def test_an_error_names_the_line_and_the_connection_stays(shop: Computer) -> None:
    played = play(shop, "sql", "select 1;\nselect *\nfrom nowhere")
    assert played.reason == 'line 3: relation "nowhere" does not exist'
    assert run_text(shop, ".mode list\nselect 7") == "7"


def test_a_query_on_the_server_is_stopped_and_the_session_stays(shop: Computer) -> None:
    assert run_text(shop, "create temp table kept as select 5 as n") == ""

    def stop(report: Report, so_far: str) -> None:
        if isinstance(report, Printed) and "go" in so_far:
            shop.interrupt()

    played = play(shop, "sql", ".print go\nselect pg_sleep(60)", on=stop)
    assert played.state == "interrupted"
    assert played.seconds < 20
    assert run_text(shop, ".mode list\nselect n from kept") == "5"


def test_copies_and_notices_are_printed(shop: Computer) -> None:
    notice = "do $$ begin raise notice 'seen %', 5; end $$"
    code = f"copy (select 1, 'ü') to stdout with csv;\n{notice};\n.mode list\nselect 2"
    assert run_text(shop, code) == "1,ü\nNOTICE: seen 5\n2"
    played = play(shop, "sql", "select 1;\n\ncopy orders from stdin")
    assert played.reason == (
        "line 3: COPY FROM STDIN gets no rows here; use INSERT, or name a file of the server"
    )
    assert run_text(shop, ".mode list\nselect 7") == "7"


def test_dates_that_python_cannot_hold_are_texts(shop: Computer) -> None:
    code = (
        "select date '2024-02-29', 'infinity'::date, '4713-01-01 BC'::date, time '24:00', "
        "'-infinity'::timestamp, 'infinity'::timestamptz, array['infinity'::date, '2024-03-01']"
    )
    assert run_text(shop, f".mode list\n{code}") == (
        "2024-02-29|infinity|4713-01-01 BC|24:00:00|-infinity|infinity|"
        "['infinity', datetime.date(2024, 3, 1)]"
    )


def test_a_query_without_columns_has_no_rows(shop: Computer) -> None:
    assert run_text(shop, "select") == ""


def test_a_command_of_psql_names_what_to_write(shop: Computer) -> None:
    played = play(shop, "sql", "\\d orders")
    assert played.reason == "line 1: \\d belongs to psql; .tables and .schema NAME work here"


def test_a_connection_that_the_server_ended_is_opened_again(shop: Computer, postgres: int) -> None:
    address = f"postgresql://ana@127.0.0.1:{postgres}/shop"
    play(shop, "sql", f".connect {address} second", answers=(f"{PASSWORD}\n",))
    assert play(shop, "sql", "select pg_terminate_backend(pg_backend_pid())").state == "failed"
    lost = "(The connection was lost. It is open again; temporary tables and transactions are gone.)"
    assert run_text(shop, ".mode list\nselect 7") == f"{lost}\n7"
    assert run_text(shop, ".mode list\nselect 7") == "7"
    assert run_text(shop, ".open shop\n.close second") == ""


def test_a_wrong_password_is_said_and_the_database_before_stays(shop: Computer, postgres: int) -> None:
    before = shop.find_database("sql")
    address = f"postgresql://ana@127.0.0.1:{postgres}/shop"
    played = play(shop, "sql", f".connect {address} other", answers=("wrong\n",))
    assert played.state == "failed"
    assert "password authentication failed" in played.reason
    assert "wrong" not in played.text
    assert shop.find_database("sql") == before


@pytest.mark.parametrize(
    ("address", "words"),
    [
        (
            "postgresql://ana:secret@db.invalid/x",
            "leave the password out of the address; you are asked for it",
        ),
        ("oracle://ana@db.invalid/x", "the address is not known; write postgresql://USER@HOST/DATABASE"),
        ("postgresql://ana@db.invalid:port/x", "the address is not valid; write postgresql://"),
        ("sqlite:///", "name the file: sqlite:///FILE"),
    ],
)
def test_an_address_that_cannot_be_used_says_how_to_write_it(sql: Computer, address: str, words: str) -> None:
    played = play(sql, "sql", f".connect {address}")
    assert played.state == "failed"
    assert words in played.reason
    assert "secret" not in played.text


def test_what_is_missing_is_named(sql: Computer) -> None:
    code = "import sys\nsys.modules['psycopg'] = sys.modules['pymysql'] = None"
    missing = Computer(cwd=sql.cwd, python=sys.executable, startup=[("python", code)])
    try:
        played = play(missing, "sql", ".connect postgresql://ana@127.0.0.1/x")
        assert played.reason == 'line 1: PostgreSQL needs psycopg: %pip install "psycopg[binary]"'
        played = play(missing, "sql", ".connect mysql://ana@127.0.0.1/x")
        assert played.reason == "line 1: MySQL and MariaDB need PyMySQL: %pip install pymysql"
    finally:
        missing.close()


@pytest.mark.slow
@pytest.mark.needs("mariadbd", "mariadb-install-db")
def test_procedures_of_mariadb_are_defined_and_called(sql: Computer, mariadb: str) -> None:
    assert run_text(sql, f".connect {mariadb} maria") == ""
    code = (
        ".mode list\ndelimiter $$\ncreate procedure two() begin select 'a;b'; select 2; end$$\ndelimiter ;\n"
        '# it\'s called\ncall two(); select "a\\"; c"'
    )
    assert run_text(sql, code) == 'a;b\n2\na"; c'
    assert play(sql, "sql", "kill connection_id()").state == "failed"
    assert run_text(sql, ".mode list\nselect 5").endswith("transactions are gone.)\n5")
    assert run_text(sql, ".open :memory:\n.close maria") == ""
