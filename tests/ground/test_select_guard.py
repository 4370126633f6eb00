"""A query is one select over tables: whatever else a submitter writes is refused before a database sees it."""

import re
import sqlite3
from pathlib import Path

import duckdb
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.databases import database_url
from sluice.ground.errors import DataError
from sluice.ground.readable_tables import ReadableTables
from sluice.ground.select_guard import guarded_query, refuse_strange_columns, refuse_strange_name
from sluice.sources.sql_source import SqlSource
from tests.golden import golden

BACKENDS = ("duckdb", "sqlite", "postgresql")
SECRET = "swordfish-4711"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM people",
        " select a, b from survey.people where b like 'x:%' and a between 1 and 2 ; ",
        'SELECT "Age" AS age, coalesce(town, \'none; -- /* none\') AS town FROM "survey-1"."people of 2024"',
        "WITH old AS (SELECT id FROM people WHERE age > 60) SELECT p.* FROM people AS p JOIN old USING (id)",
        "SELECT region, count(*) AS n, sum(pay) AS pay FROM p GROUP BY region HAVING count(*) > 1 ORDER BY n LIMIT 9",
        "SELECT id, row_number() OVER (PARTITION BY region ORDER BY pay DESC) AS place FROM people",
        "SELECT CASE WHEN age < 18 THEN 'young' ELSE 'old' END AS age, round(pay, 2) AS pay, upper(trim(town)) FROM p",
        "SELECT id FROM a UNION ALL SELECT id FROM b",
        "SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.id = a.id) OR id IN (1, 2, -3)",
        "SELECT cast(age AS integer) AS age, date '2020-01-01' AS day, substr(town, 1, 2) || 'x' AS t FROM people",
    ],
)
def test_plain_selects_are_let_through(query: str, backend: str) -> None:
    written = guarded_query(query, backend)
    assert guarded_query(written, backend) == written


# What each would reach: files, environments, other databases, settings, the machine; or a statement of its own.
ATTACKS = [
    "SELECT 1) AS x; COPY (SELECT 'mine') TO '/tmp/secret'; SELECT * FROM (SELECT 1",
    "SELECT 1; COPY people TO '/tmp/x'",
    "SELECT 1 ; ; SELECT 2",
    "COPY people TO PROGRAM 'sh'",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('.sluice/vault/secret')",
    "SELECT * FROM read_csv('/proc/self/environ')",
    "SELECT * FROM glob('/**')",
    "SELECT * FROM '/etc/passwd'",
    'SELECT * FROM "/etc/passwd"',
    "SELECT * FROM 'https://elsewhere.example/x.parquet'",
    'SELECT * FROM "data.parquet"',
    "FROM '../vault/secret'",
    "SELECT getenv('SLUICE_LEDGER_URL')",
    "SELECT current_setting('data_directory')",
    "SELECT set_config('transaction_read_only', 'off', true)",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT * FROM pg_ls_dir('/')",
    "SELECT * FROM dblink('host=elsewhere', 'select 1') AS t(a int)",
    "SELECT query_to_xml('delete from people', true, true, '')",
    "SELECT * FROM pg_catalog.pg_authid",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM pragma_table_info('people')",
    "SELECT load_extension('x')",
    "SELECT writefile('/tmp/x', 'y')",
    "SELECT nextval('people_id_seq')",
    "SELECT pg_sleep(1000)",
    "SELECT version()",
    "SELECT current_user",
    "SELECT * INTO other FROM people",
    "SELECT * FROM people FOR UPDATE",
    "WITH gone AS (DELETE FROM people RETURNING *) SELECT * FROM gone",
    "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
    "SELECT * FROM generate_series(1, 1000000000)",
    "SELECT id FROM people -- and no more",
    "SELECT id FROM people /* and no more",
    "SELECT id FROM people /* /* nested */ ; COPY people TO '/tmp/x' */",
    "SELECT E'\\'; COPY people TO ''/tmp/x''",
    "SELECT e'x' FROM people",
    "SELECT U&'x' FROM people",
    "SELECT $$x$$ FROM people",
    "SELECT $tag$; COPY people TO '/tmp/x'; $tag$",
    "SELECT `id` FROM people",
    "SELECT id FROM people WHERE town = 'open",
    "SELECT id FROM people\x00 WHERE 1",
    "ATTACH 'vault/secret' AS v",
    "PRAGMA database_list",
    "SET lock_configuration = false",
    "INSTALL httpfs",
    "CALL pragma_version()",
    "EXPLAIN ANALYZE DELETE FROM people",
    "DESCRIBE people",
    "SELECT " + "(" * 5000 + "1" + ")" * 5000,
    "SELECT '" + "x" * 30_000 + "'",
    "",
    ";",
]  # fmt: skip


@pytest.mark.parametrize("query", ["DELETE FROM people", "SELECT * FROM '/etc/passwd'"])
def test_a_refusal_says_what_may_be_asked_instead(query: str) -> None:
    golden.refused(DataError, guarded_query, query, "duckdb")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("query", ATTACKS, ids=lambda query: query[:40])
def test_whatever_does_more_is_refused_and_not_repeated(query: str, backend: str) -> None:
    with pytest.raises(DataError) as raised:
        guarded_query(query, backend)
    says = str(raised.value)
    assert "the source" in says
    assert "passwd" not in says
    assert raised.value.__cause__ is None


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "a/b", "x.parquet", "*", "s3://a", "", "pg_authid", "a\nb", "1a", "a'b"]
)
def test_strange_names_of_tables_are_refused(name: str) -> None:
    with golden.raises(DataError):
        refuse_strange_name(name)


WORDS = st.sampled_from(
    ["SELECT", "1", "*", "FROM", "people", "(", ")", ",", ";", "'", '"', "--", "/*", "*/", "\n", "$$", "\\", "COPY",
     "TO", "'/tmp/x'", "read_text('x')", "ATTACH", "UNION", "AS", "x", "WHERE", "E'", "WITH", "DELETE", "||", ":",
     "glob('*')"]
)  # fmt: skip


@given(words=st.lists(WORDS, max_size=14), backend=st.sampled_from(BACKENDS))
def test_what_is_let_through_is_one_statement_to_duckdb_too(words: list[str], backend: str) -> None:
    """DuckDB's own parser is the independent one: as it stands, and inside the select that it is read by."""
    query = "SELECT " + " ".join(words)
    try:
        guarded = guarded_query(query, backend)
    except DataError:
        return
    for text in (guarded, f"SELECT * FROM ({guarded}) AS source_query"):
        try:
            statements = duckdb.extract_statements(text)
        except duckdb.Error:
            continue  # no statement at all to it
        assert [statement.type.name for statement in statements] == ["SELECT"]
        assert "read_text" not in re.sub("'[^']*'|\"[^\"]*\"", "", text)


COLUMNS = {"people": ["id", "Age", "town"], "other": ["id", "n"]}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "query",
    [
        'SELECT id, p."Age" FROM people p ORDER BY town',
        "SELECT people.id FROM survey.people",
        "SELECT x.years FROM people AS x(key, years)",
        "SELECT a.b FROM (VALUES (1, 2)) AS a(b, c)",
        "WITH c(k) AS (SELECT id FROM people), d AS (SELECT * FROM c) SELECT d.k, 1 AS n FROM d ORDER BY n",
        "SELECT o.n FROM other o WHERE EXISTS (SELECT 1 FROM people p WHERE p.id = o.id AND n > 1)",
        "SELECT s.m FROM (SELECT max(n) AS m, id FROM other GROUP BY id) AS s JOIN people USING (id)",
        "SELECT id FROM people UNION SELECT id FROM other ORDER BY id",
        "SELECT j.town FROM (people JOIN other USING (id)) AS j",
        "SELECT town FROM (people JOIN other USING (id))",
        "SELECT p.*, o.n FROM people p, other o WHERE p.id = o.id",
        "SELECT s.town FROM (SELECT p.* FROM people p) AS s",
        "SELECT count FROM (SELECT count(*) FROM people) AS s",
        "SELECT p.id FROM ((people p JOIN other o ON p.id = o.id AND p.town IS NOT NULL))",
        "SELECT t.a FROM (SELECT t.n AS a FROM other t) t",
        "SELECT t.id FROM people t WHERE EXISTS (SELECT 1 FROM other t WHERE t.n > 1)",
        "SELECT o.n FROM people p JOIN other o ON EXISTS (SELECT 1 FROM other q JOIN people r ON q.id = p.id)",
    ],
)  # fmt: skip
def test_columns_of_tables_and_of_what_a_query_makes_are_let_through(query: str, backend: str) -> None:
    refuse_strange_columns(query, backend, lambda schema, table: COLUMNS[table])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "query",
    [
        "SELECT p.dossier FROM people p",
        "SELECT p.dossier, 1 AS dossier FROM people p",
        "SELECT public.people.dossier FROM public.people",
        "SELECT c.dossier FROM (SELECT id FROM people) AS c",
        "WITH c AS (SELECT * FROM people) SELECT c.dossier FROM c",
        "SELECT id FROM other WHERE EXISTS (SELECT 1 FROM people p WHERE other.dossier = 1)",
        "SELECT id FROM people p ORDER BY p.dossier",
        "SELECT p FROM people p",
        "SELECT p AS p FROM people p",
        "SELECT count(DISTINCT people) FROM people",
        "SELECT cast(p AS varchar) AS town FROM people AS p",
        "SELECT id FROM people p UNION SELECT p FROM people p",
        "SELECT cast((p.*) AS varchar) FROM people p",
        "SELECT id FROM people p WHERE (p.*) IS NOT NULL",
        "SELECT coalesce(p.*, p.*) FROM people p",
        "SELECT xmin, ctid FROM people",
        "SELECT rowid FROM people",
        "SELECT p.tableoid FROM people p",
        # A name that is looked for further outside than it seems to stand for.
        "SELECT id FROM people p WHERE EXISTS (SELECT 1 AS p FROM other WHERE upper(p) = 'x')",
        "SELECT 1 FROM people p WHERE EXISTS (SELECT 1 AS p FROM other UNION SELECT n FROM other WHERE upper(p) = 'x')",
        "SELECT 1 FROM people p WHERE EXISTS (WITH c AS (SELECT p.dossier FROM other) SELECT 1 FROM c, "
        "(SELECT 1 AS dossier) p)",
        "SELECT 1 FROM people p WHERE EXISTS (SELECT 1 FROM other a JOIN other b ON p.dossier = 1, "
        "(SELECT 1 AS dossier) p)",
        "SELECT 1 FROM people p WHERE EXISTS (SELECT 1 FROM other a JOIN other b ON upper(p) = '1', (SELECT 1 AS p) y)",
        "SELECT 1 FROM other, people p WHERE EXISTS (SELECT 1 FROM people a JOIN other b ON EXISTS "
        "(SELECT 1 FROM other c JOIN other d ON a.n = 1), other z)",
    ],
)
def test_functions_whole_rows_and_columns_of_the_system_are_refused(query: str, backend: str) -> None:
    with pytest.raises(DataError):
        refuse_strange_columns(query, backend, lambda schema, table: COLUMNS[table])


def test_a_name_of_two_tables_and_one_beside_a_select_are_no_columns_for_certain() -> None:
    def columns_of(schema: str, table: str) -> list[str]:
        return ["dossier"] if schema == "mine" else COLUMNS[table]

    for query in (
        "SELECT public.people.dossier FROM mine.people, public.people",
        "SELECT q.dossier FROM (SELECT public.people.* FROM mine.people, public.people) q",
        "SELECT 1 FROM people p WHERE EXISTS (SELECT 1 FROM (SELECT p.dossier FROM other) z, mine.people p)",
    ):
        with pytest.raises(DataError):
            refuse_strange_columns(query, "postgresql", columns_of)


def test_duckdb_has_parts_of_columns_and_selects_that_see_those_beside_them() -> None:
    for query in (
        "SELECT town.a, town.b.c, p.town.b, p.town.b.c FROM people p",
        "SELECT q.n FROM people p, (SELECT n FROM other o WHERE o.id = p.id) q",
    ):
        refuse_strange_columns(query, "duckdb", lambda schema, table: COLUMNS[table])


@pytest.mark.servers
def test_a_function_that_another_wrote_reads_nothing_for_a_query(postgresql: str) -> None:
    """What worked once: rows of a table that the account may not read, by a function with its owner's rights."""
    engine = sa.create_engine(database_url(postgresql))
    with engine.begin() as server:
        server.exec_driver_sql(TABLES)
        for name in ("dossier", "upper"):
            does = "LANGUAGE sql SECURITY DEFINER AS 'SELECT max(pay) FROM public.staff'"
            server.exec_driver_sql(f"CREATE FUNCTION {name}(t) RETURNS int {does}")
        server.exec_driver_sql("CREATE SCHEMA mine")
        server.exec_driver_sql("CREATE TABLE mine.t AS SELECT 2 AS id, 3 AS dossier")
    # By each the server gets there: names that seem to be of the select inside, and are of the one outside.
    for query in (
        "SELECT p.dossier AS a FROM t p",
        "SELECT upper(p) AS a FROM t p",
        "SELECT 4711 AS a FROM t p WHERE EXISTS (SELECT 1 AS p FROM mine.t o WHERE upper(p) = 4711)",
        "SELECT (WITH c AS (SELECT p.dossier AS a FROM mine.t o) SELECT c.a FROM c, mine.t p) AS a FROM t p",
        "SELECT (SELECT z.a FROM (SELECT p.dossier AS a FROM mine.t o) z, mine.t p) AS a FROM t p",
        "SELECT 4711 AS a FROM t p WHERE EXISTS (SELECT 1 FROM mine.t b JOIN mine.t c ON p.dossier = 4711, mine.t p)",
        "SELECT 4711 AS a FROM t p WHERE EXISTS (SELECT 1 FROM mine.t p, mine.t b JOIN mine.t c ON p.dossier = 4711)",
        "SELECT public.t.dossier AS a FROM mine.t, public.t",
    ):
        with engine.begin() as server:
            assert server.exec_driver_sql(query).scalars().first() == 4711, query
        with pytest.raises(DataError):
            refuse_strange_columns(query, "postgresql", lambda of, _: ["id", "dossier"] if of == "mine" else ["a", "b"])
    # Behind the guard: the session itself does not find what the warehouse's people wrote.
    source = SqlSource(url=postgresql, table="t", readable=ReadableTables(tables=("t",)))
    with source._connected() as connection, pytest.raises(sa.exc.ProgrammingError):
        connection.exec_driver_sql("SELECT p.dossier FROM public.t p")


def test_a_query_that_ends_its_select_writes_nothing(tmp_path: Path) -> None:
    """What worked once: the enclosing select closed, a statement of its own, another select opened."""
    path, vault = tmp_path / "w.duckdb", tmp_path / "secret"
    vault.write_text(SECRET)
    with duckdb.connect(path) as made:
        made.execute("CREATE TABLE people AS SELECT 1 AS id")
    query = f"SELECT 1 AS id) AS x; COPY (SELECT 'forged') TO '{vault}'; SELECT * FROM (SELECT id FROM people"
    with golden.raises(DataError):
        list(SqlSource(url=f"duckdb:///{path}", query=query).batches(["id"]))
    assert vault.read_text() == SECRET


# What the guard's parser and a database read as two queries: each reads the table staff where the parser sees none.
SMUGGLED = {
    "a blank that is part of a name": "WITH staff\u00a0 AS (SELECT 1 AS pay) SELECT pay AS a FROM staff",
    "another, of DuckDB, too": "WITH staff\u1680 AS (SELECT 1 AS pay) SELECT pay AS a FROM staff",
    "a letter whose capital is I": "SELECT staff.pay AS a FROM t l\u0131m\u0131t (a), staff",
    "a clause that is a name": "SELECT array(SELECT staff.pay FROM t QUALIFY (q), staff) AS a",
    "the same in SQLite": "SELECT 4711 AS a FROM t WHERE 4711 IN (SELECT staff.pay FROM t QUALIFY NOT INDEXED, staff)",
    "a command that is a name": "SELECT column_name AS a FROM (SHOW staff)",
    "of all tables": "SELECT name AS a FROM (SHOW TABLES)",
    "in short": "SELECT column_name AS a FROM (DESC staff)",
}
TABLES = (
    "CREATE TABLE t (a INT, b INT); INSERT INTO t VALUES (1, 2), (2, NULL), (2, 3);"
    "CREATE TABLE staff (pay INT); INSERT INTO staff VALUES (4711)"
)
DATABASES = ["duckdb", "sqlite", pytest.param("postgresql", marks=pytest.mark.servers)]


@pytest.fixture
def warehouse(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database with a table that may be read, and one that may not."""
    if request.param == "postgresql":
        url = str(request.getfixturevalue("postgresql"))
        with sa.create_engine(database_url(url)).begin() as server:
            server.exec_driver_sql(TABLES)
        return url
    file = tmp_path / "warehouse"
    if request.param == "duckdb":
        with duckdb.connect(file) as duck:
            duck.execute(TABLES)
    else:
        with sqlite3.connect(file) as lite:
            lite.executescript(TABLES)
    return f"{request.param}:///{file}"


def read(url: str, query: str) -> list[object]:
    may = ReadableTables(tables=("t", "show", "SHOW", "desc", "DESC"))
    source = SqlSource(url=url, query=query, readable=may)
    return [value for batch in source.batches(["a"]) for value in batch["a"]]


@pytest.mark.parametrize("warehouse", DATABASES, indirect=True)
@pytest.mark.parametrize("query", SMUGGLED.values(), ids=SMUGGLED)
def test_no_database_reads_another_query_than_the_one_that_was_looked_at(warehouse: str, query: str) -> None:
    try:
        found = read(warehouse, query)
    except DataError:
        found = []
    assert found in ([], [1])  # of the WITH, if it is read as it looks


PLAIN = [
    "SELECT a FROM T WHERE b > 1 ORDER BY A, b",
    "SELECT count(*) AS a FROM t GROUP BY t.a HAVING count(*) > 1",
    "WITH Old AS (SELECT a, b FROM t WHERE a > 1) SELECT o.b AS a FROM old AS o JOIN t USING (b)",
    "SELECT b / 2 * 1.5 + b % 2 AS a FROM t WHERE b IS NOT NULL ORDER BY 1",
    "SELECT coalesce(upper(substr('abc', 3, 1) || 'ö''x:%'), '') AS a FROM t LIMIT 1",
    "SELECT CASE WHEN b IS NULL THEN 'none' ELSE cast(b AS varchar(9)) END AS a FROM t ORDER BY b, a LIMIT 2",
    "SELECT a FROM (SELECT a, row_number() OVER (PARTITION BY a ORDER BY b DESC) AS n FROM t) AS x WHERE n = 2",
    "SELECT a FROM t UNION SELECT b FROM t WHERE b = 3 ORDER BY a",
]


@pytest.mark.chain
@pytest.mark.parametrize("warehouse", DATABASES, indirect=True)
def test_what_is_written_anew_gives_the_same_records(warehouse: str) -> None:
    with sa.create_engine(database_url(warehouse), poolclass=sa.NullPool).connect() as connection:
        plain = {query: [*connection.execute(sa.text(query.replace(":", r"\:"))).scalars()] for query in PLAIN}
    assert all(plain.values())
    assert {query: read(warehouse, query) for query in PLAIN} == plain
    with golden.raises(DataError):  # no text, as SQLite takes a name in quotes for
        read(warehouse, "SELECT nothing AS a FROM t")
