"""Schema changes on real databases: what was written is read back, a view is swapped whole or not at all."""

import sqlite3
from contextlib import closing
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from threading import Timer
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

from sluice.ground.databases import database_url
from sluice.ground.errors import DataError
from sluice.publication import schema_change
from sluice.publication.schema_change import SchemaChange, carry_out, differences
from sluice.publication.separate_writing import carry_out_apart, differences_apart
from tests.golden import golden

DATABASES = [
    "duckdb",
    "sqlite",
    pytest.param("postgresql", marks=pytest.mark.servers),
    pytest.param("mariadb", marks=pytest.mark.servers),
]


class Public:
    """A public database, and what stands in it."""

    def __init__(self, url: str, into: str, folder: Path) -> None:
        self.url, self.into, self.folder = url, into, folder

    def change(self, **given: Any) -> SchemaChange:
        own = tuple(f"people_{number}" for number in range(10))
        return SchemaChange(**{"url": self.url, "into": self.into, "own_tables": own} | given)

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        engine = sa.create_engine(database_url(self.url))
        with engine.begin() as connection:
            found = connection.exec_driver_sql(statement)
            rows = [tuple(row) for row in found] if found.returns_rows else []
        engine.dispose()
        return rows

    def named(self, name: str) -> str:
        return name if self.into == "main" else f"{self.into}.{name}"

    def shown(self, name: str = "people") -> list[tuple[Any, ...]]:
        return sorted(self.run(f"SELECT * FROM {self.named(name)}"), key=repr)

    def objects(self) -> set[str]:
        """What stands in the schema."""
        if self.url.startswith("sqlite"):
            return {name for (name,) in self.run("SELECT name FROM sqlite_master")}
        asked = f"SELECT table_name FROM information_schema.tables WHERE table_schema = '{self.into}'"
        return {name for (name,) in self.run(asked)}

    def file(self, name: str, **columns: Any) -> Path:
        path = self.folder / f"{name}.parquet"
        pq.write_table(pa.table(columns), path)
        return path


@pytest.fixture(params=DATABASES)
def public(request: pytest.FixtureRequest, tmp_path: Path) -> Public:
    match request.param:
        case "postgresql" | "mariadb":
            url, into = request.getfixturevalue(request.param), "open_data"
        case kind:
            url, into = f"{kind}:///{tmp_path}/public.db", "main"

    if request.param == "mariadb":
        into = str(sa.make_url(url).database)
    made = Public(url, into, tmp_path)
    made.run("SELECT 1")  # a file must be there
    if request.param == "postgresql":
        made.run("CREATE SCHEMA open_data")
    return made


def columns(first: float = 1.5) -> dict[str, Any]:
    return {
        "number": pa.array([first, None, -0.1, 1e300], pa.float64()),
        "whole": pa.array([2**62, None, -1, 0], pa.int64()),
        "day": pa.array(
            [datetime(2024, 2, 29), None, datetime(1999, 12, 31, 23, 59, 59, 123457), datetime(2000, 1, 1)]
        ),
        "Text of it": pa.array(["ä 100%", None, "", "x" * 300 + " "], pa.string()),
    }


def test_what_a_file_holds_stands_in_the_table_and_the_view(public: Public) -> None:
    carry_out(public.change(tables={"people_1": public.file("a", **columns())}, views={"people": "people_1"}))
    rows = public.shown()
    assert rows == public.shown("people_1")
    assert {row[0] for row in rows} == {1.5, None, -0.1, 1e300}
    assert {row[1] for row in rows} == {2**62, None, -1, 0}
    assert {row[3] for row in rows} == {"ä 100%", None, "", "x" * 300 + " "}


def test_exact_decimals_stay_exact(public: Public) -> None:
    values = pa.array([Decimal("12345678901.25"), None, Decimal("-0.50")], pa.decimal128(18, 2))
    carry_out(public.change(tables={"sums_1": public.file("a", value=values)}))
    assert {None if v is None else Decimal(str(v)) for (v,) in public.shown("sums_1")} == {
        Decimal("12345678901.25"),
        None,
        Decimal("-0.5"),
    }


def test_a_view_is_swapped_to_another_edition_with_other_columns_and_back(public: Public) -> None:
    one, two = public.file("a", a=[1, 2]), public.file("b", b=["x"], a=[3])
    carry_out(public.change(tables={"people_1": one}, views={"people": "people_1"}))
    carry_out(public.change(tables={"people_2": two}, views={"people": "people_2"}))
    assert public.shown() == [("x", 3)]
    assert public.shown("people_1") == [(1,), (2,)]
    carry_out(public.change(views={"people": "people_1"}, gone=("people_2",)))
    assert public.shown() == [(1,), (2,)]
    carry_out(public.change(views={"people": None}, gone=("people_1", "people_2")))
    for name in ("people", "people_1", "people_2"):
        with pytest.raises(sa.exc.DBAPIError):
            public.shown(name)


def test_doing_it_again_changes_nothing(public: Public) -> None:
    change = public.change(tables={"people_1": public.file("a", **columns())}, views={"people": "people_1"})
    carry_out(change)
    before = public.shown()
    carry_out(change)
    assert public.shown() == before


def test_a_table_with_other_content_stays_as_it_is(public: Public) -> None:
    carry_out(public.change(tables={"people_1": public.file("a", a=[1, 1, 2])}))
    with golden.raises(DataError):
        carry_out(public.change(tables={"people_1": public.file("b", a=[1, 2, 2])}, views={"people": "people_1"}))
    assert public.shown("people_1") == [(1,), (1,), (2,)]


@pytest.mark.parametrize("theirs", [
    "TABLE {} (theirs INT)",
    "VIEW {} AS SELECT 1 AS theirs",
    "VIEW {} AS SELECT * FROM {}_theirs",
    "VIEW {} AS SELECT * FROM {}_1 WHERE a > 1",
    "VIEW {} AS SELECT a AS b, b AS a FROM {}_1",
    "VIEW {} AS SELECT a + 1 AS a FROM {}_1",
    "VIEW {} AS SELECT DISTINCT a FROM {}_1",
    "VIEW {} AS SELECT {0}_1.a FROM {0}_1, {0}_theirs",
    "VIEW {} AS SELECT * FROM {}_1 UNION ALL SELECT * FROM {}_theirs",
])  # fmt: skip
def test_what_somebody_else_made_is_not_replaced(public: Public, theirs: str) -> None:
    """Nor what somebody made of a view of ours: it shows no table of ours as it is."""
    where = public.named("people")
    carry_out(public.change(tables={"people_1": public.file("a", a=[1, 2], b=[3, 4])}))
    public.run(f"CREATE TABLE {where}_theirs (a BIGINT, b BIGINT)")
    public.run(f"CREATE {theirs.replace('{}', where).replace('{0}', where)}")
    before = public.shown()
    for views in ({"people": "people_1"}, {"people": "people_2"}):
        tables = {"people_2": public.file("b", a=[5])}
        with golden.raises(DataError):
            carry_out(public.change(tables=tables, views=views))
    carry_out(public.change(views={"people": None}))  # nothing of ours is there
    assert public.shown() == before
    with pytest.raises(sa.exc.DBAPIError):
        public.shown("people_2")


def test_names_that_need_quotes_stay_what_they_are(public: Public) -> None:
    """Names of variables are whoever writes the contract's."""
    names = ['a"b', "a`b", "a%b", "a%(b)s", "a:b", "a(b)", "a'b", "ä ;--", "select", "a?b", "{b}", "a\\b"]
    file = public.file("a", **{name: [number] for number, name in enumerate(names)})
    change = public.change(tables={"people_1": file}, views={"people": "people_1"})
    carry_out(change, rehearse=True)
    carry_out(change)
    assert public.shown() == [tuple(range(len(names)))]
    assert differences(change) == []
    carry_out(change)
    carry_out(public.change(views={"people": None}, gone=("people_1",)))


def test_a_rehearsal_leaves_nothing_and_says_what_would_be_refused(public: Public) -> None:
    change = public.change(tables={"people_1": public.file("a", a=[1])}, own_names=("people",))
    carry_out(change, rehearse=True)
    assert public.objects() == set()
    public.run(f"CREATE TABLE {public.named('people')} (theirs INT)")
    with golden.raises(DataError):
        carry_out(change, rehearse=True)


def test_what_differs_from_the_ledger_is_said(public: Public) -> None:
    one, two = public.file("a", a=[1, 2]), public.file("b", a=[3])
    change = public.change(
        tables={"people_1": one, "people_2": two}, views={"people": "people_2", "sums": None}, gone=("people_3",)
    )
    assert len(differences(change)) == 2  # which a view cannot show
    carry_out(change)
    assert differences(change) == []
    other = change.model_copy(update={"views": {"people": "people_1"}})
    [says] = differences(other)
    golden(says.replace(f"{public.into}.", ""))
    public.run(f"UPDATE {public.named('people_1')} SET a = 47110815 WHERE a = 1")
    public.run(f"CREATE TABLE {public.named('people_3')} (a BIGINT)")
    public.run(f"CREATE VIEW {public.named('sums')} AS SELECT * FROM {public.named('people_1')}")
    altered, view, dropped = differences(change)
    assert "people_1' is not what was published: drop it" in altered
    assert "sums' is there, and no edition is current" in view
    assert "people_3' is of a release that was withdrawn, and is there again" in dropped
    assert "47110815" not in altered


@pytest.mark.parametrize(
    "shows",
    [
        "* FROM (SELECT * FROM {} WHERE whole > 0) AS part",
        "* FROM (SELECT whole, whole + 1 AS other FROM {}) AS s",
        "r.whole, r.other FROM {} AS r(other, whole)",
        "* REPLACE (whole + 1 AS whole) FROM {}",
        "* FROM {} TABLESAMPLE SYSTEM (50)",
    ],
)
def test_a_view_of_a_part_of_the_table_or_of_other_values_is_none_of_it(public: Public, shows: str) -> None:
    file = public.file("a", whole=[1, -1], other=[1, -1])
    change = public.change(tables={"people_1": file}, views={"people": "people_1"})
    carry_out(change)
    public.run(f"DROP VIEW {public.named('people')}")
    made = f"CREATE VIEW {public.named('people')} AS SELECT {shows}".format(public.named("people_1"))
    try:
        public.run(made)
    except sa.exc.DBAPIError:
        assert not public.url.startswith("duckdb"), "which knows them all; of the others each knows some"
        return
    assert "does not show people_1, which is current" in " ".join(differences(change))
    with golden.raises(DataError):
        carry_out(change)


def test_columns_that_stand_in_another_order_are_another_table(public: Public) -> None:
    """Of equal values a digest of the records alone would not tell."""
    carry_out(public.change(tables={"people_1": public.file("a", a=[1], b=[1])}))
    with golden.raises(DataError):
        carry_out(public.change(tables={"people_1": public.file("b", b=[1], a=[1])}))


def test_a_view_shows_no_table_that_is_not_there(public: Public) -> None:
    with golden.raises(DataError):
        carry_out(public.change(views={"people": "people_9"}))


class Stop(BaseException):
    pass


@pytest.mark.parametrize("step", ["people_2_draft filled", "people_2 written", "people swapped"])
def test_a_change_that_breaks_off_shows_the_old_edition_or_the_new_one_and_is_finished(
    public: Public, step: str
) -> None:
    """Where every statement about a table commits, the new edition may stand there already."""
    carry_out(public.change(tables={"people_1": public.file("a", a=[1])}, views={"people": "people_1"}))
    change = public.change(tables={"people_2": public.file("b", b=[2])}, views={"people": "people_2"})

    def stop(reached: str) -> None:
        if reached == step:
            raise Stop

    with pytest.raises(Stop):
        carry_out(change, stop)
    by_statements = "mariadb" in public.url or "mysql" in public.url
    assert public.shown() == ([(2,)] if by_statements and step == "people swapped" else [(1,)])
    carry_out(change)
    assert public.shown() == [(2,)]
    with pytest.raises(sa.exc.DBAPIError):
        public.shown("people_2_draft")


def test_a_database_that_keeps_something_else_publishes_nothing(public: Public) -> None:
    """Such as one that cuts texts, or rounds; what it keeps is what the view would show."""
    insert = schema_change._Work.insert

    def cutting(work: Any, table: sa.Table, batch: pa.RecordBatch) -> None:
        insert(work, table, batch.slice(1))

    with patch.object(schema_change._Work, "insert", cutting), golden.raises(DataError):
        carry_out(public.change(tables={"people_1": public.file("a", a=[1, 2])}, views={"people": "people_1"}))
    with pytest.raises(sa.exc.DBAPIError):
        public.shown()


@pytest.mark.parametrize("kind", [each for each in DATABASES if each not in ("duckdb", "sqlite")])
def test_a_view_that_another_definition_made_meanwhile_is_not_replaced(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """'a' with a file 'b' and 'a-b' ask for one view. The files of DuckDB and SQLite have one writer at a time."""
    url: str = request.getfixturevalue(kind)
    public = Public(url, str(sa.make_url(url).database) if kind == "mariadb" else "public", tmp_path)
    theirs = public.change(tables={"people_2": public.file("b", a=[2])}, views={"people": "people_2"})

    def meanwhile(step: str) -> None:
        if step == "people_1 written":
            carry_out(theirs)

    mine = public.change(tables={"people_1": public.file("a", a=[1])}, views={"people": "people_1"})
    with golden.raises(DataError):
        carry_out(mine.model_copy(update={"own_tables": ("people_1",)}), meanwhile)
    assert public.shown() == [(2,)]


def test_whoever_reads_a_file_of_sqlite_is_waited_for(tmp_path: Path) -> None:
    public = Public(f"sqlite:///{tmp_path}/public.db", "main", tmp_path)
    carry_out(public.change(tables={"people_1": public.file("a", a=[1])}, views={"people": "people_1"}))
    with closing(sqlite3.connect(tmp_path / "public.db", check_same_thread=False)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM people").fetchall()
        ends = Timer(7, reader.rollback)  # SQLite itself waits for five
        ends.start()
        carry_out(public.change(views={"people": None}, gone=("people_1",)))
        ends.join()
    assert public.objects() == set()


def test_an_error_of_the_database_is_its_kind_alone(public: Public) -> None:
    change = public.change(tables={"people_1": public.file("a", a=["secret-4711"])}).model_copy(update={"into": "none"})
    if public.url.startswith("sqlite"):
        change = change.model_copy(update={"url": "sqlite:////nowhere/x.db"})
    with golden.raises(DataError) as raised:
        carry_out(change)
    assert raised.value.__context__ is None


def test_readers_keep_what_they_were_granted_where_the_columns_stay(postgresql: str, tmp_path: Path) -> None:
    public = Public(postgresql, "public", tmp_path)
    carry_out(public.change(tables={"people_1": public.file("a", a=[1])}, views={"people": "people_1"}))
    public.run("GRANT SELECT ON people TO PUBLIC")
    carry_out(public.change(tables={"people_2": public.file("b", a=[2])}, views={"people": "people_2"}))
    granted = "SELECT count(*) FROM information_schema.role_table_grants WHERE table_name='people' AND grantee='PUBLIC'"
    assert public.run(granted) == [(1,)]


def test_a_reader_by_a_view_of_theirs_keeps_neither_a_withdrawn_table_nor_an_old_view(
    postgresql: str, tmp_path: Path
) -> None:
    public, writer, reader = Public(postgresql, "open_data", tmp_path), f"w_{tmp_path.name}", f"r_{tmp_path.name}"
    for statement in (
        f'CREATE ROLE "{writer}" LOGIN',
        f'CREATE ROLE "{reader}" LOGIN',
        f'CREATE SCHEMA open_data AUTHORIZATION "{writer}"',
        f'GRANT USAGE ON SCHEMA open_data TO "{reader}"',
        f'ALTER DEFAULT PRIVILEGES FOR ROLE "{writer}" IN SCHEMA open_data GRANT SELECT ON TABLES TO "{reader}"',
    ):
        public.run(statement)
    url = database_url(postgresql).set(username=writer).render_as_string(hide_password=False)

    def carried_out(**given: Any) -> None:
        carry_out(public.change(**given).model_copy(update={"url": url}))

    carried_out(tables={"people_1": public.file("a", a=[1])}, views={"people": "people_1"})
    engine = sa.create_engine(database_url(postgresql))
    with engine.connect() as theirs:
        theirs.exec_driver_sql(f'SET SESSION AUTHORIZATION "{reader}"')
        for name in ("people", "people_1"):
            theirs.exec_driver_sql(f"CREATE TEMPORARY VIEW mine_of_{name} AS SELECT * FROM open_data.{name}")
        theirs.commit()
        carried_out(tables={"people_2": public.file("b", other=["x"])}, views={"people": "people_2"})
        assert public.shown() == [("x",)]
        carried_out(views={"people": None}, gone=("people_1", "people_2"))
    engine.dispose()
    assert public.objects() == set()


def test_an_account_that_sees_sources_publishes_nothing(postgresql: str, tmp_path: Path) -> None:
    """Whoever writes where the sources are could change what is released next."""
    public, writer = Public(postgresql, "open_data", tmp_path), f"writer_{tmp_path.name}"
    for statement in (
        "CREATE SCHEMA survey",
        "CREATE TABLE survey.people (a INT)",
        f'CREATE ROLE "{writer}" LOGIN',
        f'CREATE SCHEMA open_data AUTHORIZATION "{writer}"',
    ):
        public.run(statement)
    url = database_url(postgresql).set(username=writer).render_as_string(hide_password=False)
    change = public.change(tables={"people_1": public.file("a", a=[1])}, sources=("survey",)).model_copy(
        update={"url": url}
    )
    carry_out(change, rehearse=True)
    public.run(f'GRANT USAGE ON SCHEMA survey TO "{writer}"')
    public.run(f'GRANT SELECT ON survey.people TO "{writer}"')
    with golden.raises(DataError):
        carry_out(change, rehearse=True)
    public.run(f'REVOKE SELECT ON survey.people FROM "{writer}"')
    carry_out(change)
    public.run(f'ALTER TABLE open_data.people_1 OWNER TO "{sa.make_url(postgresql).username}"')
    public.run(f'GRANT SELECT ON open_data.people_1 TO "{writer}"')
    with golden.raises(DataError):
        carry_out(change)
    [says] = differences(change)
    golden.words(says)


def test_a_server_is_written_to_apart_and_says_why_it_refuses(postgresql: str, tmp_path: Path) -> None:
    public = Public(postgresql, "public", tmp_path)
    url = sa.make_url(postgresql)
    change = public.change(tables={"people_1": public.file("a", a=[1])}, views={"people": "people_1"})
    carry_out_apart(change, rehearse=True)
    assert public.objects() == set()
    assert len(differences_apart(change)) == 1
    carry_out_apart(change)
    assert public.shown() == [(1,)]
    assert differences_apart(change) == []
    with golden.raises(DataError):
        carry_out_apart(public.change(tables={"people_1": public.file("b", a=[2])}))
    assert url.database
