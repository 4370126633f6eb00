"""What a release may be read from is the operator's to say: other databases, tables, files and secrets are refused."""

import json
import os
import sqlite3
import stat
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from deployments.warehouse import write_connections
from sluice.ground.errors import DataError, DocumentError, SluiceError
from sluice.ground.readable_tables import ReadableTables
from sluice.ground.select_guard import tables_of
from sluice.sources.connections import Connection, Connections, load_connections
from sluice.sources.permission import permitted_file, permitted_source
from sluice.sources.sources import Source
from sluice.sources.sql_source import SqlSource
from tasks.release.tables.specification import with_named_files
from tests.golden import golden, says

SECRET = "geheim-4711"
SOURCE: TypeAdapter[Source] = TypeAdapter(Source)


class Operator:
    """A workspace, a folder of definitions with data, a folder beside it, and what the operator lets be read."""

    def __init__(self, root: Path) -> None:
        self.home, self.definitions, self.elsewhere = (root / name for name in ("home", "definitions", "elsewhere"))
        for folder in (self.home / "vault", self.definitions, self.elsewhere):
            folder.mkdir(parents=True)
            (folder / "people.csv").write_text(f"a\n{SECRET}\n")
        self.warehouse = root / "warehouse.duckdb"

    def lets(self, **content: Any) -> None:
        file = self.home / "connections.yaml"
        file.unlink(missing_ok=True)
        file.touch(mode=0o600)
        file.write_text(json.dumps(content))

    def lets_warehouse(self, **more: Any) -> None:
        self.build()
        url = f"duckdb:///{self.warehouse}"
        self.lets(connections={"warehouse": {"url": url, "schemas": ["survey"], "queries": True} | more})

    def build(self) -> None:
        with duckdb.connect(self.warehouse) as made:
            made.execute("CREATE SCHEMA survey; CREATE SCHEMA hr")
            made.execute(f"CREATE TABLE survey.fair AS SELECT 1 AS a; CREATE TABLE hr.staff AS SELECT '{SECRET}' AS a")
            made.execute("CREATE TABLE fair AS SELECT 2 AS a; CREATE VIEW survey.shown AS SELECT * FROM hr.staff")

    def read(self, **source: Any) -> list[Any]:
        written = SOURCE.validate_python(source)
        permitted = permitted_source(written.resolve(self.definitions), self.definitions)
        return [row[0].as_py() for table in permitted.tables(["a"]) for row in zip(*table.columns, strict=True)]

    def refuses(self, **source: Any) -> str:
        with pytest.raises((SluiceError, ValidationError)) as raised:
            self.read(**source)
        assert SECRET not in str(raised.value)
        return says(raised.value)


@pytest.fixture
def operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Operator:
    made = Operator(tmp_path)
    monkeypatch.setenv("SLUICE_HOME", str(made.home))
    monkeypatch.chdir(made.definitions)
    return made


# -- connections


def test_a_table_of_a_connection_is_read(operator: Operator) -> None:
    operator.lets_warehouse()
    assert operator.read(connection="warehouse", table="survey.fair") == [1]
    assert operator.read(connection="warehouse", query='SELECT a FROM Survey."FAIR" WHERE a = 1;') == [1]
    assert operator.read(connection="warehouse", table="survey.shown") == [SECRET]  # as the operator's view has it


def test_a_definition_holds_no_address(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    """It could name a variable of the environment that is another's, or a host that asks for credentials."""
    monkeypatch.setenv("SOMEBODY_ELSES_URL", f"duckdb:///{operator.warehouse}")
    said = set()
    for url in ("${SOMEBODY_ELSES_URL}", "postgresql://elsewhere.example/x", f"postgresql://u:{SECRET}@host/x"):
        for written in ({"type": "sql", "url": url}, {"url": url}, {"connection": "warehouse", "url": url}):
            said.add(operator.refuses(**written, table="hr.staff"))
    golden(said)


def test_an_unknown_connection_is_refused_with_who_could_name_it(operator: Operator) -> None:
    golden(operator.refuses(connection="warehouse", table="survey.fair"))
    assert str(operator.home / "connections.yaml") in operator.refuses(connection="warehouse", table="survey.fair")
    operator.lets_warehouse()
    golden(operator.refuses(connection="warehose", table="survey.fair"))


BEYOND_THE_LIST = [
    {"table": "hr.staff"},
    {"table": "fair"},  # of the schema main
    {"table": "warehouse.hr.staff"},
    {"table": "information_schema.tables"},
    {"table": "pg_catalog.pg_class"},
    {"query": "SELECT a FROM hr.staff"},
    {"query": 'SELECT a FROM HR."Staff"'},
    {"query": "SELECT a FROM warehouse.hr.staff"},
    {"query": "SELECT a FROM survey.fair UNION ALL SELECT a FROM hr.staff"},
    {"query": "SELECT a FROM survey.fair WHERE EXISTS (SELECT 1 FROM hr.staff)"},
    {"query": "SELECT (SELECT a FROM hr.staff) AS a FROM survey.fair"},
    {"query": "SELECT a FROM survey.fair AS s JOIN hr.staff USING (a)"},
    {"query": "WITH shown AS (SELECT a FROM hr.staff) SELECT a FROM shown"},
    {"query": "WITH fair AS (SELECT a FROM fair) SELECT a FROM fair"},  # the inner one is the table
    {"query": "SELECT f.a FROM (WITH fair AS (SELECT 1 AS a) SELECT a FROM fair) AS x, fair AS f"},  # so is the outer
    {"query": "WITH x AS (SELECT a FROM fair), fair AS (SELECT 1 AS a) SELECT a FROM x"},  # named after
    {"query": "FROM hr.staff"},
    {"query": "TABLE hr.staff"},
    {"query": "SELECT a FROM information_schema.tables"},
    {"query": "SELECT a FROM duckdb_tables"},
]


@pytest.mark.parametrize("written", BEYOND_THE_LIST, ids=lambda written: "".join(written.values()))
def test_no_other_table_is_read(operator: Operator, written: dict[str, str]) -> None:
    operator.lets_warehouse()
    says = operator.refuses(connection="warehouse", **written)
    assert any(
        why in says
        for why in (
            "connection does not let '",
            "no catalogue of the database",
            "names a table with its database",
            "holds what is not let through",
        )
    ), says


def test_tables_may_be_listed_one_by_one(operator: Operator) -> None:
    operator.lets_warehouse(schemas=[], tables=["survey.shown", "Fair"])
    assert operator.read(connection="warehouse", table="fair") == [2]
    assert operator.read(connection="warehouse", query="SELECT a FROM main.fair") == [2]
    says = operator.refuses(connection="warehouse", table="survey.fair")
    golden.words(says)


def test_names_are_those_that_the_database_takes_for_the_same() -> None:
    listed = ReadableTables(schemas=("survey",), tables=("hr.Staff", "fair"))
    assert listed.permits("SURVEY", "x", "duckdb")
    assert not listed.permits("SURVEY", "x", "postgresql")  # so it was quoted: another schema
    assert listed.permits("HR", "STAFF", "sqlite")
    assert not listed.permits("hr", "staff", "postgresql")
    assert listed.permits("public", "fair", "postgresql")
    assert not listed.permits("main", "fair", "postgresql")
    assert not listed.permits("", "FAIR", "mysql")
    assert not listed.permits("surve\u0443", "x", "duckdb")  # a letter that looks like the y
    assert not ReadableTables(tables=("\u212aey",)).permits("main", "key", "duckdb")  # the sign of Kelvin is no k


@pytest.mark.parametrize(
    ("query", "backend", "tables"),
    [
        ("SELECT * FROM Survey.Fair", "postgresql", [("survey", "fair")]),
        ('SELECT * FROM "Survey"."Fair"', "postgresql", [("Survey", "Fair")]),
        ('WITH "Old" AS (SELECT 1 AS a) SELECT * FROM old', "postgresql", [("", "old")]),
        ('WITH "Old" AS (SELECT 1 AS a) SELECT * FROM old', "duckdb", []),
        ("WITH old AS (SELECT 1 AS a) SELECT a FROM x UNION SELECT a FROM old", "sqlite", [("", "x")]),
        ("SELECT * FROM old, (WITH old AS (SELECT 1 AS a) SELECT * FROM old) AS o", "sqlite", [("", "old")]),
    ],
)
def test_the_tables_of_a_query(query: str, backend: str, tables: list[tuple[str, str]]) -> None:
    assert tables_of(query, backend) == tables


NAMES = st.sampled_from(["a", "b", "c", '"A"', "s.a", "s.b"])
BLOCKS = st.recursive(
    st.builds("SELECT x FROM {}".format, NAMES),
    lambda inner: st.one_of(
        st.builds("WITH {} AS ({}) {}".format, st.sampled_from(["a", "b", "c"]), inner, inner),
        st.builds("SELECT q.x FROM ({}) AS q, {}".format, inner, NAMES),
        st.builds("({}) UNION ALL ({})".format, inner, inner),
        st.builds("SELECT ({} LIMIT 1) AS x FROM {}".format, inner, NAMES),
        st.builds("SELECT x FROM {} WHERE EXISTS ({})".format, NAMES, inner),
    ),
    max_leaves=6,
)


@cache
def tables_in_duckdb() -> duckdb.DuckDBPyConnection:
    made = duckdb.connect()
    made.execute("CREATE SCHEMA s; CREATE TABLE a (x INT); CREATE TABLE b (x INT); CREATE TABLE c (x INT)")
    made.execute("CREATE TABLE s.a (x INT); CREATE TABLE s.b (x INT)")
    return made


@given(query=BLOCKS)
def test_duckdb_reads_no_table_that_is_not_found_in_a_query(query: str) -> None:
    """DuckDB itself is the independent one: it says which tables it reads."""
    try:
        read = tables_in_duckdb().get_table_names(query, qualified=True)
        found = tables_of(query, "duckdb")
    except (duckdb.Error, DataError):
        assume(False)
    seen = {(schema or "main", table.lower()) for schema, table in found}
    assert {tuple(f"main.{name}".replace('"', "").lower().split(".")[-2:]) for name in read} <= seen


@given(query=BLOCKS)
def test_sqlite_reads_no_table_that_is_not_found_in_a_query(query: str) -> None:
    """SQLite asks for each table, beneath any name that a query gives it; without all others the query runs as well."""
    asked: set[tuple[str | None, str]] = set()

    def authorizer(action: int, table: str | None, _: str | None, schema: str | None, __: str | None) -> int:
        if action == sqlite3.SQLITE_READ and schema is not None:  # none: only the number of its records counts
            asked.add((schema, str(table).lower()))
        return sqlite3.SQLITE_OK

    with sqlite3.connect(":memory:") as made:
        made.executescript("ATTACH ':memory:' AS s; CREATE TABLE a (x); CREATE TABLE b (x); CREATE TABLE c (x);")
        made.executescript("CREATE TABLE s.a (x); CREATE TABLE s.b (x);")
        made.set_authorizer(authorizer)
        try:
            found = tables_of(query, "sqlite")
            made.execute(query)
        except (sqlite3.Error, DataError):
            assume(False)
        seen = {(schema or "main", table.lower()) for schema, table in found}
        assert asked <= seen
        made.set_authorizer(None)
        for schema, table in {("main", "a"), ("main", "b"), ("main", "c"), ("s", "a"), ("s", "b")} - seen:
            made.execute(f"DROP TABLE {schema}.{table}")
        made.execute(query)


def test_sqlite_reads_no_table_behind_in() -> None:
    """`5 IN staff` reads the table staff, which stands there like a column."""
    with sqlite3.connect(":memory:") as made:
        made.execute("CREATE TABLE staff AS SELECT 5 AS pay")
        query = "SELECT 'yes' AS a WHERE 5 IN staff"
        assert made.execute(query).fetchall() == [("yes",)]
    with golden.raises(DataError):
        tables_of(query, "sqlite")


def test_queries_are_the_operator_s_to_allow(operator: Operator) -> None:
    operator.lets_warehouse(queries=False)
    assert operator.read(connection="warehouse", table="survey.fair") == [1]
    says = operator.refuses(connection="warehouse", query="SELECT a FROM survey.fair")
    golden.words(says)


# -- secrets


def test_a_secret_fills_the_place_that_the_operator_gave_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for password in ("p@ss:w/rd?x=1", "plain"):
        monkeypatch.setenv("PASSWORD", password)
        connection = Connection(
            url="postgresql://reader:${PASSWORD}@db:5433/x?sslmode=require", secrets=("PASSWORD",), schemas=("public",)
        )
        url = connection.address("w", os.environ.get)
        assert (url.username, url.password, url.host, url.port) == ("reader", password, "db", 5433)
        assert dict(url.query) == {"sslmode": "require"}
        assert SqlSource(url=url.render_as_string(hide_password=False), table="t").address.password == password


def test_a_whole_address_may_be_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = Connection(url="${WAREHOUSE}", secrets=("WAREHOUSE",), schemas=("public",))
    monkeypatch.delenv("WAREHOUSE", raising=False)
    with golden.raises(DocumentError):
        connection.address("w", os.environ.get)
    monkeypatch.setenv("WAREHOUSE", f"postgresql://reader:{SECRET}@db/x")
    assert connection.address("w", os.environ.get).password == SECRET
    monkeypatch.setenv("WAREHOUSE", SECRET)
    with golden.raises(DocumentError) as raised:
        connection.address("w", os.environ.get)
    assert SECRET not in str(raised.value)


def test_a_block_is_no_variable_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "postgresql://reader:${block:house-password}@db/x"
    connection = Connection(url=url, secrets=("block:house-password",), schemas=("public",))
    assert connection.address("w", {"block:house-password": SECRET}.get).password == SECRET
    with golden.raises(DocumentError):
        connection.address("w", os.environ.get)
    with golden.raises(ValidationError):
        Connection(url=url, secrets=("house-password",), schemas=("public",))


@pytest.mark.parametrize(
    "content",
    [
        {"url": "postgresql://${A}@host/x", "schemas": ["s"]},
        {"url": f"postgresql://u:{SECRET}@host/x", "schemas": ["s"]},
        {"url": f"postgresql://h/x?password={SECRET}", "schemas": ["s"]},
        {"url": f"no address {SECRET}", "schemas": ["s"]},
        {"url": "postgresql://u@host/x"},
        {"url": "postgresql://u@host/x", "schema": ["s"]},
    ],
)
def test_a_wrong_connection_is_refused(operator: Operator, content: dict[str, Any]) -> None:
    operator.lets(connections={"w": content})
    with pytest.raises(DocumentError) as raised:
        load_connections()
    golden(raised.value)
    assert SECRET not in str(raised.value)


# -- the file itself


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_refused(operator: Operator, mode: int) -> None:
    operator.lets_warehouse()
    file = operator.home / "connections.yaml"
    file.chmod(mode)
    with golden.raises(DocumentError):
        load_connections()
    file.chmod(0o644)
    assert list(load_connections().connections) == ["warehouse"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a file to others")
def test_a_file_that_somebody_else_owns_is_refused(operator: Operator) -> None:
    operator.lets_warehouse()
    os.chown(operator.home / "connections.yaml", 4711, 4711)
    with golden.raises(DocumentError):
        load_connections()


def test_a_file_that_is_asked_for_must_be_there(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_connections() == Connections()
    monkeypatch.setenv("SLUICE_CONNECTIONS", str(operator.home / "absent.yaml"))
    with golden.raises(DocumentError):
        load_connections()


def test_a_tag_of_yaml_runs_nothing(operator: Operator) -> None:
    operator.lets()
    (operator.home / "connections.yaml").write_text("connections: !!python/object/apply:os.system ['touch ran']\n")
    with golden.raises(DocumentError):
        load_connections()
    assert not (operator.definitions / "ran").exists()


def test_relative_paths_start_at_the_file(operator: Operator) -> None:
    operator.build()
    connection = {"url": "duckdb:///../warehouse.duckdb", "schemas": ["survey"]}
    operator.lets(connections={"w": connection}, files=["../elsewhere"])
    assert operator.read(connection="w", table="survey.fair") == [1]
    assert operator.read(type="csv", path="../elsewhere/people.csv") == [SECRET]


def test_what_the_shipped_commands_write_is_believed(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    operator.build()
    file = operator.home / "made.yaml"
    write_connections(file, operator.warehouse, [operator.definitions])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    monkeypatch.setenv("SLUICE_CONNECTIONS", str(file))
    assert operator.read(connection="warehouse", table="survey.fair") == [1]


# -- files


def test_files_beside_the_definition_and_in_the_current_folder_are_read(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert operator.read(type="csv", path="people.csv") == [SECRET]
    golden.words(operator.refuses(type="csv", path="../elsewhere/people.csv"))
    monkeypatch.chdir(operator.elsewhere)
    assert operator.read(type="csv", path="../elsewhere/people.csv") == [SECRET]


def test_in_the_root_not_every_file_is_read(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service's current folder is often the root."""
    monkeypatch.chdir("/")
    golden.words(operator.refuses(type="csv", path=str(operator.elsewhere / "people.csv")))


@pytest.mark.parametrize(
    "path",
    [
        "../elsewhere/people.csv",
        "{definitions}/../elsewhere/people.csv",
        "{elsewhere}/people.csv",
        "link.csv",
        "folder/people.csv",
        "{home}/vault/people.csv",
        "../home/vault/people.csv",
        "vault/people.csv",
        "/proc/self/environ",
        "/proc/../proc/self/./environ",
        "/etc/passwd",
        "*.csv",
        "people.{{csv,tsv}}",
        "pipe.csv",
        ".",
        "~/people.csv",
        "file:people.csv",
        "https://elsewhere.example/people.csv",
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb", "sqlite"])
def test_no_other_file_is_read(operator: Operator, kind: str, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(operator.elsewhere))
    operator.lets(files=["../definitions", "."])  # the workspace is never read, though it be listed
    (operator.definitions / "link.csv").symlink_to(operator.elsewhere / "people.csv")
    (operator.definitions / "folder").symlink_to(operator.elsewhere)
    (operator.definitions / "vault").symlink_to(operator.home / "vault")
    os.mkfifo(operator.definitions / "pipe.csv")
    table = {"table": "people"} if kind in ("duckdb", "sqlite") else {}
    says = operator.refuses(type=kind, path=path.format_map(vars(operator)), **table)
    assert any(
        why in says for why in ("may not be read", "must lie outside of", "no such file", "is a folder", "is a pipe")
    ), says


def test_a_link_to_a_listed_folder_is_followed(operator: Operator) -> None:
    operator.lets(files=["../definitions", "../elsewhere"])
    (operator.definitions / "link.csv").symlink_to(operator.elsewhere / "people.csv")
    assert operator.read(type="csv", path="link.csv") == [SECRET]


def test_no_folder_at_all_may_be_listed(operator: Operator) -> None:
    operator.lets(files=[])
    says = operator.refuses(type="csv", path="people.csv")
    golden.words(says)


def test_a_database_file_of_a_definition(operator: Operator) -> None:
    database = operator.definitions / "people.db"
    with sqlite3.connect(database) as made:
        made.execute("CREATE TABLE people AS SELECT 7 AS a")
    assert operator.read(type="sqlite", path="people.db", table="people") == [7]
    database.rename(operator.definitions / "people?mode=rw.db")
    says = operator.refuses(type="sqlite", path="people?mode=rw.db", table="people")
    golden.words(says)


def test_a_database_file_reads_no_other_file(operator: Operator) -> None:
    """A view, or a function by the name of a harmless one, that its maker put into it."""
    secret = operator.home / "vault" / "people.csv"
    with duckdb.connect(operator.definitions / "people.duckdb") as made:
        made.execute(f"CREATE VIEW people AS SELECT * FROM read_csv('{secret}'); CREATE TABLE t AS SELECT 'x' AS a")
        made.execute(f"CREATE MACRO upper(x) AS (SELECT content FROM read_text('{secret}'))")
        assert made.execute("SELECT a FROM people").fetchall() == [(SECRET,)]
        assert SECRET in str(made.execute("SELECT upper(a) FROM t").fetchone())
    for wanted in ({"table": "people"}, {"query": "SELECT upper(a) AS a FROM t"}):
        golden.words(operator.refuses(type="duckdb", path="people.duckdb", **wanted))
    assert operator.read(type="duckdb", path="people.duckdb", table="t") == ["x"]


def test_other_files_that_documents_name_are_held_to_the_same(operator: Operator) -> None:
    for named in ("../elsewhere/people.csv", "../home/vault/people.csv"):
        written = {
            "a hierarchy": {"dimensions": [{"variable": "a", "hierarchy": named}]},
            "a grouping": {"dimensions": [{"variable": "a", "groupings": [named]}]},
            "what is decided before": {"protection": {"a_priori": named}},
        }
        for document in written.values():
            with golden.raises(DocumentError):
                with_named_files(document, operator.definitions, permitted_file)
