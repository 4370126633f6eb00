"""Schema changes on real databases: what was written is read back, a view is swapped whole or not at all."""

from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

from sluice.errors import DataError
from sluice.publication import schema_change
from sluice.publication.schema_change import SchemaChange, carry_out
from sluice.publication.separate_writing import carry_out_apart
from sluice.sources.database_url import database_url

DATABASES = [
    "duckdb",
    "sqlite",
    pytest.param("postgresql", marks=pytest.mark.postgres),
    pytest.param("mariadb", marks=pytest.mark.mariadb),
]


class Public:
    """A public database, and what stands in it."""

    def __init__(self, url: str, into: str, folder: Path) -> None:
        self.url, self.into, self.folder = url, into, folder

    def change(self, own: tuple[str, ...] = ("people",), **given: Any) -> SchemaChange:
        return SchemaChange(url=self.url, into=self.into, own_views=own, **given)

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        engine = sa.create_engine(database_url(self.url))
        with engine.begin() as connection:
            found = connection.exec_driver_sql(statement)
            rows = [tuple(row) for row in found] if found.returns_rows else []
        engine.dispose()
        return rows

    def shown(self, name: str = "people") -> list[tuple[Any, ...]]:
        where = "" if self.into == "main" else f"{self.into}."
        return sorted(self.run(f"SELECT * FROM {where}{name}"), key=repr)

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
    with pytest.raises(DataError, match=r"people_1' exists with other content"):
        carry_out(public.change(tables={"people_1": public.file("b", a=[1, 2, 2])}, views={"people": "people_1"}))
    assert public.shown("people_1") == [(1,), (1,), (2,)]


@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_what_somebody_else_made_is_not_replaced(public: Public, kind: str) -> None:
    where = "people" if public.into == "main" else f"{public.into}.people"
    public.run(f"CREATE {kind} {where} {'(theirs INT)' if kind == 'TABLE' else 'AS SELECT 1 AS theirs'}")
    own = ("people",) if kind == "TABLE" else ()
    with pytest.raises(DataError, match="is no view that editions of this definition made"):
        carry_out(public.change(own, tables={"people_1": public.file("a", a=[1])}, views={"people": "people_1"}))
    assert public.shown() == ([] if kind == "TABLE" else [(1,)])


def test_a_view_shows_no_table_that_is_not_there(public: Public) -> None:
    with pytest.raises(DataError, match="'people' cannot show it"):
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

    with (
        patch.object(schema_change._Work, "insert", cutting),
        pytest.raises(DataError, match="does not hold what was written"),
    ):
        carry_out(public.change(tables={"people_1": public.file("a", a=[1, 2])}, views={"people": "people_1"}))
    with pytest.raises(sa.exc.DBAPIError):
        public.shown()


def test_an_error_of_the_database_is_its_kind_alone(public: Public) -> None:
    change = public.change(tables={"people_1": public.file("a", a=["secret-4711"])}).model_copy(update={"into": "none"})
    if public.url.startswith("sqlite"):
        change = change.model_copy(update={"url": "sqlite:////nowhere/x.db"})
    with pytest.raises(DataError, match=r"refuses to publish into schema 'none' \(\w+\)\.$") as raised:
        carry_out(change)
    assert raised.value.__context__ is None


def test_readers_keep_what_they_were_granted_where_the_columns_stay(postgresql: str, tmp_path: Path) -> None:
    public = Public(postgresql, "public", tmp_path)
    carry_out(public.change(tables={"people_1": public.file("a", a=[1])}, views={"people": "people_1"}))
    public.run("GRANT SELECT ON people TO PUBLIC")
    carry_out(public.change(tables={"people_2": public.file("b", a=[2])}, views={"people": "people_2"}))
    granted = "SELECT count(*) FROM information_schema.role_table_grants WHERE table_name='people' AND grantee='PUBLIC'"
    assert public.run(granted) == [(1,)]


@pytest.mark.slow
def test_a_server_is_written_to_apart_and_says_why_it_refuses(postgresql: str, tmp_path: Path) -> None:
    public = Public(postgresql, "public", tmp_path)
    url = sa.make_url(postgresql)
    change = public.change(tables={"people_1": public.file("a", a=[1])}, views={"people": "people_1"})
    carry_out_apart(change)
    assert public.shown() == [(1,)]
    with pytest.raises(DataError, match="exists with other content"):
        carry_out_apart(public.change(tables={"people_1": public.file("b", a=[2])}))
    assert url.database
