"""SQL is a plain read only where every part of it is known to be one, whatever the database."""

import time
from pathlib import Path

import pytest

from oi_tui.engine.review.earlier_code import EarlierCode
from oi_tui.engine.review.findings import Findings
from oi_tui.engine.review.scanner import scan_code


def scan_sql(code: str) -> Findings:
    return scan_code("sql", code, Path("/work"))


@pytest.mark.parametrize(
    "code",
    [
        "select a, sum(b) as total from t group by a having sum(b) > 1 order by 2 desc limit 5;",
        "SELECT name, ROUND(AVG(x), 2) FROM t WHERE day BETWEEN '2020' AND '2021' AND name LIKE 'delete%'",
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 9) select count(*) from n",
        "select count(*) filter (where a > 1) over (partition by b order by c) from t -- drop table t",
        "select replace(a, 'x', 'y'), 'insert into t; drop table t' from t /* delete from t */;\nfrom t",
        "select case when a in (1, 2) then 'x' else null end, cast(b as integer) from t join s using (id)",
        "explain select * from t",
        "explain (costs off) select * from t",
        "pragma table_info('t');\n.tables\n.schema t\n.print done",
        "begin;\nselect * from t",
        "select [Order Details].price from [Order Details]",
        "select max([Order Details].price), o.[id] from [Order Details], o where [Order Details].price > 1",
        "begin immediate transaction; savepoint x; release savepoint x",
        "start transaction isolation level read committed, read only; select t.a from t",
        "describe t; show tables; values (1, 'it''s')",
        "",
    ],
)
def test_plain_reads_have_no_findings(code: str) -> None:
    assert scan_sql(code).nothing_listed, scan_sql(code).sentences


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("select 1;\ndrop table t", "deletes: table t (line 2)"),
        ("delete from t", "deletes: from t (line 1)"),
        ("with gone as (delete from t returning *) select * from gone", "deletes: delete (line 1)"),
        ("explain analyze delete from t", "deletes: from t (line 1)"),
        ("insert into t (a) values (1)", "changes a database: insert into t (line 1)"),
        ("update t set a = 1", "changes a database: update t set a (line 1)"),
        ("select * into copied from t", "changes a database: into copied (line 1)"),
        ("with x as (select 1) replace into t select * from x", "changes a database: into t (line 1)"),
        ("select 1 ignore into t", "changes a database: into t (line 1)"),
        ("select t.insert into u from t", "changes a database: into u (line 1)"),
        ("insert or replace into t values (1)", "changes a database: insert or replace into (line 1)"),
        (
            "replace low_priority into t values (1)",
            "changes a database: replace low_priority into t (line 1)",
        ),
        ("begin not atomic drop table t; end", "deletes: drop (line 1)"),
        ("select * from t for update", "changes a database: update (line 1)"),
        ("commit", "changes a database: commit (line 1)"),
        ("attach 'shop.db' as shop", "opens another database: attach shop.db as shop (line 1)"),
        (".open shop.db", "opens another database: shop.db (line 1)"),
        (".connect postgresql://ana@db.example/x", "uses the network: db.example (line 1)"),
        ("copy t to '/tmp/t.csv'", "writes outside of the folder: /tmp/t.csv (line 1)"),
        ("copy t to 't.csv'", "writes files: t.csv"),
        ("copy t from program 'curl x'", "starts programs (line 1)"),
        ("select * from t into outfile '/tmp/t'", "writes outside of the folder: /tmp/t (line 1)"),
        ("select * from 'prices.csv'", "reads files: prices.csv"),
        ('select * from "prices.csv"', "reads files: prices.csv"),
        ("select * from read_csv('prices.csv')", "reads files: prices.csv"),
        ("select * from '~/.ssh/id_rsa'", "reads private files: .ssh (line 1)"),
        ("from 'https://data.example/x.csv'", "uses the network: data.example (line 1)"),
        ("select load_extension('x')", "loads extensions of a database: x (line 1)"),
        ('select "load_extension"(1)', "loads extensions of a database: load_extension (line 1)"),
        ("from t: 'prices.csv'", "reads files: prices.csv"),
        ("select * from s join t: prices.csv on true", "reads files: prices.csv"),
        ('from main."prices.csv"', "reads files: main.prices.csv"),
        ("install httpfs", "loads extensions of a database: install httpfs (line 1)"),
        ("grant all on t to ana", "acts as administrator: grant all on t (line 1)"),
        ("create user ana", "acts as administrator: create user ana (line 1)"),
        ("do 'begin end'", "runs text as code: do begin end (line 1)"),
        ("select pg_terminate_backend(1)", "ends processes: pg_terminate_backend (line 1)"),
        ("select 1;\n.shell rm -r old", "deletes: old (line 2)"),
        ("select 1\n.shell rm -r old", "deletes: old (line 2)"),
        (".read all.sql", "runs text as code: all.sql (line 1)"),
    ],
)
def test_what_does_more_is_named(code: str, words: str) -> None:
    assert words in scan_sql(code).sentences


@pytest.mark.parametrize(
    "code",
    [
        "select my_function(1)",
        "select (pid).pg_terminate_backend from pg_stat_activity",
        "select (array[1])[1].pg_terminate_backend",
        *("select pids[1].pg_terminate_backend from t", 'select "a b"[1].pg_terminate_backend from t'),
        *("select pids[1][2].pg_terminate_backend from t", "select t.pids[b[1]].pg_terminate_backend from t"),
        "select t.order[1].pg_terminate_backend from t",
        *("select array[1].pg_terminate_backend", "select range[1].pg_terminate_backend from t"),
        'select (pid)."pg_terminate_backend"',
        *("start replica", "start slave", "start group_replication", "start", "start 'transaction'"),
        *("begin not atomic call wipe(); end", "begin not atomic execute x; end"),
        "select other.lower(a) from t",
        "with load(x) as (select 1) select load(1)",
        "pragma journal_mode = off",
        "pragma table_info.journal_mode(off)",
        "set role admin",
        "selec 1",
        "copied",
        # Databases do not agree on where these end.
        r"select 'a\'; drop table t; --'",
        "select $$ ; drop table t; $$",
        "select 1 /*! ; drop table t */",
        "select 1 /*M! ; drop table t */",
        "select 1 /* /* */ ; drop table t; */",
        "select 1 --1\n+ 2",
        "select 1 # ' \n; drop table t; -- '",
        "select [a'b]; drop table t; --'",
        "select 'without an end",
        "select 1 /* without an end",
        "\\copy t from 'x'",
        ".restore x",
        ".shell do-something",
    ],
)
def test_what_is_not_known_is_not_checked(code: str) -> None:
    assert scan_sql(code).level != "clear"


def look_after(first: str, code: str) -> Findings:
    earlier = EarlierCode()
    earlier.add("sql", first, Path("/work"))
    return scan_code("sql", code, Path("/work"), earlier)


@pytest.mark.parametrize(
    "first",
    [
        "create macro lower(x) as (select content from read_text(x))",
        "create or replace temp macro lower(x) as x",
        "create function lower(x text) returns text as 'x' language sql",
        "select 1; create operator + (function = f)",
        "create view t as select * from read_text('/etc/passwd')",
        "create or replace temp view t as select wipe()",
        "create materialized view t as select wipe()",
        "alter function lower(text) rename to upper",
        "set search_path to mine",
        "use mine",
        "call setup()",
        "do 'begin end'",
        ".read all.sql",
        "load mine",
    ],
)
def test_nothing_is_clear_once_names_may_mean_something_else(first: str) -> None:
    assert look_after(first, "select lower(a) from t").level != "clear"


@pytest.mark.parametrize(
    "first",
    [
        "create table t as select * from 'prices.csv'",
        "create table t (type text, function text, schema text)",
        "create view v as select lower(a) from t",
        "insert into t values (1); update t set schema_name = 2",
        "select unknown(1)",
        "set timezone = 'UTC'",
    ],
)
def test_other_changes_leave_later_queries_clear(first: str) -> None:
    assert look_after(first, "select lower(a) from t").level == "clear"


@pytest.mark.slow
def test_the_code_is_read_in_time_that_grows_with_its_length() -> None:
    odd = ["(" * 50_000, "'" * 50_001, "/*" * 50_000, ".x\n" * 20_000, "with a(b), " + "a(b, " * 10_000]
    odd += ["select " + "].a" * 20_000, "select " + "[1" * 20_000 + "].a" * 20_000]
    for code in odd:
        began = time.process_time()
        scan_sql(code)
        assert time.process_time() - began < 3
