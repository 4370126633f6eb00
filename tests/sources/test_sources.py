"""Sources: CSV, Parquet, DuckDB, SQLite and a real PostgreSQL give the same records; what is broken is refused."""

import gzip
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from sluice.errors import DataError
from sluice.sources.database_url import database_url, typed_address
from sluice.sources.sources import ConnectionSource, CsvSource, DatabaseFile, ParquetSource, Source
from sluice.sources.sql_source import SqlSource
from sluice.sources.tabular_source import TabularSource
from tests.golden import golden

SECRET = "geheim-4711"


def write(path: Path, content: str | bytes) -> CsvSource:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return CsvSource(path=str(path))


def records(source: TabularSource, *columns: str, size: int = 100_000) -> list[list[Any]]:
    return [record for batch in source.batches(columns, size) for record in batch.to_numpy(dtype=object).tolist()]


def refusal(source: TabularSource, *columns: str) -> str:
    """The text of the DataError, which must carry no other exception with it."""
    with pytest.raises(DataError) as raised:
        records(source, *columns)
    assert raised.value.__context__ is None
    assert raised.value.__cause__ is None
    assert SECRET not in str(raised.value)
    return str(raised.value)


def test_csv_as_it_is_written_by_many_hands(tmp_path: Path) -> None:
    assert records(write(tmp_path / "a.csv", "a,b\n1,x\n2,y\n"), "b", "a") == [["x", "1"], ["y", "2"]]
    assert records(write(tmp_path / "b.csv", '\ufeffa,b\r\n 1 ,"x, ""y"""\r\n\r\n,\r\n'), "a", "b") == [
        ["1", 'x, "y"'],
        ["", ""],
    ]
    odd = CsvSource(
        path=write(tmp_path / "c.csv", "made by hand\n# a note\na;b\n# another\n'1;2';ä\n".encode("latin-1")).path,
        separator=";",
        quote="'",
        comment="#",
        skip_lines=1,
        encoding="latin-1",
    )
    assert records(odd, "a", "b") == [["1;2", "ä"]]
    tabs = CsvSource(path=write(tmp_path / "d.tsv", 'a\tb\n\t\n"x\ty\n').path, separator="\t", quote=None)
    assert records(tabs, "a", "b") == [["", ""], ['"x', "y"]]
    lines = CsvSource(path=write(tmp_path / "e.csv", 'a,b\n"x\n\ny",1\n').path, line_breaks=True)
    assert records(lines, "a", "b") == [["x\n\ny", "1"]]


def test_csv_without_header_takes_its_names_from_itself_or_from_the_contract(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "1,x\n2,y\n").path
    assert records(CsvSource(path=path, header=False), "a", "b") == [["1", "x"], ["2", "y"]]
    assert records(CsvSource(path=path, header=False, columns=("u", "v")), "v") == [["x"], ["y"]]


def test_one_record_without_header_is_a_record(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "1,x").path
    assert records(CsvSource(path=path, header=False), "a", "b") == [["1", "x"]]


def test_several_files_and_gzip_are_one_source(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "a,b\n1,x\n")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"b,a\ny,2\n"))
    source = CsvSource(path=["a.csv", "b.csv.gz"]).resolve(tmp_path)
    assert records(source, "a", "b") == [["1", "x"], ["2", "y"]]
    write(tmp_path / "c.csv", "a,c\n1,x\n")
    assert "missing: b; others: 1" in refusal(CsvSource(path=["a.csv", "c.csv"]).resolve(tmp_path), "a")


cell = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=8)


@given(rows=st.lists(st.tuples(cell, cell), min_size=1, max_size=20), size=st.integers(1, 7))
def test_what_pandas_writes_is_read_back_but_for_blanks_around(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], size: int
) -> None:
    """pandas' writer is the independent one here; the size of the batches does not matter."""
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    frame = pd.DataFrame(rows, columns=["a", "b"])
    frame.insert(0, "id", range(len(frame)))
    frame.to_csv(path, index=False)
    read = records(CsvSource(path=str(path)), "a", "b", size=size)
    assert [[text.strip() for text in row] for row in read] == [[a.strip(), b.strip()] for a, b in rows]


def test_batches_are_of_the_size_asked_for_with_a_fresh_index(tmp_path: Path) -> None:
    source = write(tmp_path / "a.csv", "a\n" + "\n".join(map(str, range(10))))
    batches = list(source.batches(["a"], 4))
    assert [len(batch) for batch in batches] == [4, 4, 2]
    assert batches[1].index.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "\n\n",
        "a,b\n",
        "a,b\n\n1,geheim-4711,3\n",
        "a,b\n1,2\n\n\ngeheim-4711\n",
        "a,b\n1,2\n1,geheim-4711\xff\n".encode("latin-1"),
        "a,b\n" + "1,2\n" * 5000 + "1,\udce4\n",
        "a,b,a\n1,2,3\n",
        "A,c\n1,2\n",
        "ALTER,b\n1,2\n",
        'a,b\n1,"geheim-4711\n2,3\n4,5\n',
        'a,b\n1,"geheim-4711\nmore"\n',
    ],
)
def test_broken_csv_is_refused_with_its_place_and_no_cell(tmp_path: Path, content: str | bytes) -> None:
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape")
    golden(refusal(write(tmp_path / "a.csv", data), "a", "b"))


def test_broken_csv_whose_cells_may_hold_line_breaks(tmp_path: Path) -> None:
    def source(content: str) -> CsvSource:
        return CsvSource(path=write(tmp_path / "a.csv", content).path, line_breaks=True)

    assert "record 2: 2 fields expected, 1 found" in refusal(source('a,b\n"x\ny",1\ngeheim-4711\n'), "a")
    golden.words(refusal(source('a,b\n1,2\n1,"geheim-4711\n2,3\n'), "a"))


def test_a_file_in_another_encoding_than_it_says_is_asked_no_riddle(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", b"a,b\n1,\x81\n").path
    text = refusal(CsvSource(path=path, encoding="cp1252"), "a")
    assert "line 2 is not cp1252. Is it another; `sluice init` looks which?" in text


def test_absent_and_unreadable_files(tmp_path: Path) -> None:
    write(tmp_path / "people.csv", "a\n1\n")
    text = refusal(CsvSource(path="poeple.csv").resolve(tmp_path), "a")
    assert text == f"{tmp_path}/poeple.csv: no such file. Did you mean 'people.csv'?"
    golden.words(refusal(CsvSource(path=str(tmp_path)), "a"))
    whole = gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * 7919) for i in range(5000)))
    (tmp_path / "cut.csv.gz").write_bytes(whole[: len(whole) // 2])
    golden.words(refusal(CsvSource(path=str(tmp_path / "cut.csv.gz")), "a"))
    golden.words(refusal(write(tmp_path / "plain.csv.gz", "a,b\n1,2\n"), "a"))


def test_columns_beside_the_contract_are_left_out_and_named(tmp_path: Path) -> None:
    source = write(tmp_path / "a.csv", "a,extra,b\n1,9,2\n")
    assert records(source, "a", "b") == [["1", "2"]]
    assert source.unknown_columns(["a", "b"]) == ["extra"]


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    frame = pd.DataFrame(
        {"n": pd.array([1, None, 2**60], dtype="Int64"), "t": ["x", None, "z"], "extra": [[1], [2], [3]]}
    )
    frame.to_parquet(path)
    source = ParquetSource(path="a.parquet").resolve(tmp_path)
    batches = list(source.batches(["t", "n"], 2))
    assert [len(batch) for batch in batches] == [2, 1]
    assert list(batches[0]) == ["t", "n"]
    assert batches[1]["n"].tolist() == [2**60]  # a column with gaps stays whole numbers
    assert source.unknown_columns(["n", "t"]) == ["extra"]
    golden.words(refusal(source, "extra"))
    golden.words(refusal(source, "N"))
    frame.iloc[:0].to_parquet(path)
    golden.words(refusal(source, "n"))
    path.write_bytes(b"PAR1 and no more")
    golden.words(refusal(source, "n"))


def fill(url: sa.URL) -> None:
    """A table survey.people (or people) of 1,000 records with a gap and a colon in it."""
    engine = sa.create_engine(database_url(url))
    with engine.begin() as connection:
        qualified = "people"
        if engine.dialect.name != "sqlite":
            connection.execute(sa.text("CREATE SCHEMA survey"))
            qualified = "survey.people"
        connection.execute(
            sa.text(f'CREATE TABLE {qualified} (id INTEGER, "Age" INTEGER, town VARCHAR, pay DECIMAL(9, 2))')
        )
        rows = [{"i": i, "age": None if i == 3 else i % 90, "town": "a:b 5%", "pay": i / 4} for i in range(1000)]
        connection.execute(sa.text(f"INSERT INTO {qualified} VALUES (:i, :age, :town, :pay)"), rows)
    engine.dispose()


@pytest.fixture(params=["duckdb", "sqlite", pytest.param("postgresql", marks=pytest.mark.servers)])
def warehouse(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """URL and table of a filled warehouse."""
    if request.param == "postgresql":
        url = sa.make_url(request.getfixturevalue("postgresql"))
    else:
        url = sa.make_url(f"{request.param}:///{tmp_path}/people.db")
    fill(url)
    return url.render_as_string(hide_password=False), "people" if request.param == "sqlite" else "survey.people"


@pytest.mark.chain
def test_the_same_records_from_every_database(warehouse: tuple[str, str]) -> None:
    url, table = warehouse
    source = SqlSource(url=url, table=table)
    assert source.column_names() == ["id", "Age", "town", "pay"]
    batches = list(source.batches(["Age", "id", "pay"], 300))
    assert [len(batch) for batch in batches] == [300, 300, 300, 100]
    whole = pd.concat(batches, ignore_index=True).sort_values("id", ignore_index=True)
    assert whole["id"].tolist() == list(range(1000))
    assert whole["Age"].isna().tolist() == [i == 3 for i in range(1000)]
    assert whole["Age"].dtype == batches[-1]["Age"].dtype == "int64[pyarrow]"
    assert whole["pay"].tolist() == [i / 4 for i in range(1000)]


@pytest.mark.chain
def test_a_query_keeps_its_colons_and_per_cents_and_can_only_read(warehouse: tuple[str, str]) -> None:
    url, table = warehouse
    query = f"SELECT id, 'x:y 5%' AS label, town FROM {table} WHERE town LIKE '%:b%' AND id < 2;"
    found = records(SqlSource(url=url, query=query), "label", "id")
    assert sorted(found) == [["x:y 5%", 0], ["x:y 5%", 1]]
    golden.words(refusal(SqlSource(url=url, query=f"DELETE FROM {table}"), "id"))
    assert len(records(SqlSource(url=url, table=table), "id")) == 1000


def test_what_drivers_make_of_values_that_pandas_has_no_type_for(postgresql: str) -> None:
    query = (
        "SELECT 12345678901234567890::numeric AS long, 1.5::numeric AS pay,"
        " '00000000-0000-0000-0000-000000000007'::uuid AS key, timestamptz '2020-01-01 00:00+02' AS seen,"
        " ARRAY[1, 2] AS list, NULL AS nothing, true AS yes"
    )
    source = SqlSource(url=postgresql, query=query)
    long, pay, key, seen, several, nothing, yes = records(source, *source.column_names())[0]
    assert long == "12345678901234567890"  # beyond 64 bits: as text, every digit kept
    assert (pay, key, several, yes) == (1.5, "00000000-0000-0000-0000-000000000007", "[1, 2]", True)
    assert seen == pd.Timestamp("2019-12-31T22:00Z")
    assert pd.isna(nothing)


@pytest.mark.chain
def test_what_a_database_refuses(warehouse: tuple[str, str]) -> None:
    url, table = warehouse
    golden.words(refusal(SqlSource(url=url, table=table), "age"))
    golden.words(refusal(SqlSource(url=url, table="nowhere"), "id"))
    query = f"SELECT id FROM {table} WHERE town = '{SECRET}'"
    golden(refusal(SqlSource(url=url, query=query), "id"))
    broken = f"SELECT CAST('{SECRET}' AS INTEGER) / id AS n FROM {table} WHERE nothing"
    golden.words(refusal(SqlSource(url=url, query=broken), "n"))


def test_a_database_that_goes_away_between_two_batches(postgresql: str) -> None:
    engine = sa.create_engine(database_url(postgresql))
    with engine.begin() as connection:
        made = "CREATE TABLE long AS SELECT i, repeat('x', 500) AS t FROM generate_series(1, 200000) AS s (i)"
        connection.execute(sa.text(made))
    batches = SqlSource(url=postgresql, query="SELECT i, t FROM long").batches(["i", "t"], 1000)
    next(batches)
    with engine.connect() as connection:
        others = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )
        connection.execute(sa.text(others))
    engine.dispose()
    with golden.raises(DataError, figures=False) as raised:
        list(batches)
    assert raised.value.__context__ is None


def test_a_database_that_is_not_there(tmp_path: Path) -> None:
    url = "postgresql+psycopg://reader@127.0.0.1:1/nowhere?connect_timeout=2"
    golden.words(refusal(SqlSource(url=url, table="t"), "a"))
    absent = SqlSource(url=f"duckdb:///{tmp_path}/data/absent.duckdb", table="t")
    golden(refusal(absent, "a"))
    assert str(tmp_path) in refusal(absent, "a")
    assert not (tmp_path / "data").exists()  # nothing is made by looking
    golden.words(refusal(SqlSource(url="nodb://host/x", table="t"), "a"))
    golden.words(refusal(SqlSource(url="nowhere", table="t"), "a"))


def test_an_address_is_typed_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WAREHOUSE", raising=False)
    with golden.raises(ValueError):
        typed_address("${WAREHOUSE}")
    monkeypatch.setenv("WAREHOUSE", f"postgresql://reader:{SECRET}@db:5433/x")
    assert typed_address("${WAREHOUSE}") == f"postgresql://reader:{SECRET}@db:5433/x"
    assert typed_address("postgresql://reader@db/x") == "postgresql://reader@db/x"
    assert SECRET not in repr(SqlSource(url=typed_address("${WAREHOUSE}"), table="t"))


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://user:{SECRET}@host/db",
        f"postgresql://user:{SECRET}@home@host/db",
        f"postgresql://host/db?user=u&password={SECRET}",
        f"postgresql://host/db?sslpassword={SECRET}",
    ],
)
def test_a_password_that_is_typed_is_refused_and_not_repeated(url: str) -> None:
    with golden.raises(ValueError) as raised:
        typed_address(url)
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    "document",
    [
        {"type": "csv", "path": []},
        {"type": "csv", "path": "a.csv", "columns": ["a"]},  # the header names them
        {"type": "csv", "path": "a.csv", "encoding": "utf-9"},
        {"type": "csv", "path": "a.csv", "separator": "::"},
        {"type": "sqlite", "path": "a.db", "table": "t", "query": "select 1"},
        {"type": "sqlite", "path": "a.db"},
        {"connection": "warehouse"},
        {"connection": "", "table": "t"},
        {"connection": "warehouse", "path": "a.db", "table": "t"},
        {"type": "ods", "path": "a.ods"},
    ],
)
def test_a_source_that_contradicts_itself_is_refused(document: dict[str, Any]) -> None:
    adapter: TypeAdapter[Source] = TypeAdapter(Source)
    with pytest.raises(ValidationError):
        adapter.validate_python(document)


def test_relative_paths_start_at_the_document(tmp_path: Path) -> None:
    assert CsvSource(path="a.csv").resolve(tmp_path).path == (f"{tmp_path}/a.csv",)
    assert ParquetSource(path="/data/a.parquet").resolve(tmp_path).path == "/data/a.parquet"
    assert DatabaseFile(type="duckdb", path="a.db", table="t").resolve(tmp_path).path == f"{tmp_path}/a.db"
    source = ConnectionSource(connection="warehouse", table="t")
    assert source.resolve(tmp_path) == source


@pytest.mark.chain
def test_a_large_file_is_not_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" + b"12345678,abcdefgh\n" * 2_000_000 + b"ragged\n")
    batches = CsvSource(path=str(path)).batches(["a", "b"], 1000)
    assert len(next(batches)) == 1000  # the last line, 36 MB on, has not been seen yet
    with golden.raises(DataError):
        list(batches)


def test_duckdb_is_closed_after_reading(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    assert records(SqlSource(url=f"duckdb:///{path}", table="t"), "a") == [[1]]
    with duckdb.connect(path, read_only=True) as connection:  # refused while another configuration is open
        assert connection.execute("SELECT a FROM t").fetchall() == [(1,)]


def test_another_separator_in_the_first_line_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "firms.csv").write_text("firm;turnover\nACME;7\n", encoding="utf-8")
    with golden.raises(DataError):
        list(CsvSource(path=(str(tmp_path / "firms.csv"),)).batches(["firm", "turnover"]))
