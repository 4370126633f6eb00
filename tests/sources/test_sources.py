"""What is special to CSV files, to nested columns, and to tables and queries of databases."""

import gzip
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from sluice.ground.databases import database_url, typed_address
from sluice.ground.errors import DataError
from sluice.sources.recognition import recognise
from sluice.sources.sources import ConnectionSource, CsvSource, DatabaseFile, ParquetSource, Source
from sluice.sources.sql_source import SqlSource
from tests.golden import golden
from tests.sources.readers import READERS, SECRET, cells, marked, place_of, records, refusal


def write(path: Path, content: str | bytes) -> CsvSource:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return CsvSource(path=str(path))


@pytest.mark.parametrize(
    ("content", "said", "found"),
    [
        ('\ufeffa,b\r\n 1 ,"x, ""y"""\r\n\r\n,\r\n', {}, [["1", 'x, "y"'], ["", ""]]),
        (
            "made by hand\n# a note\na;b\n# another\n'1;2';ä\n",
            {"separator": ";", "quote": "'", "comment": "#", "skip_lines": 1, "encoding": "latin-1"},
            [["1;2", "ä"]],
        ),
        ('a\tb\n\t\n"x\ty\n', {"separator": "\t", "quote": None}, [["", ""], ['"x', "y"]]),
        ('a,b\n"x\n\ny",1\n', {"line_breaks": True}, [["x\n\ny", "1"]]),
        ("1,x\n2,y\n", {"header": False}, [["1", "x"], ["2", "y"]]),
        ("1,x\n2,y\n", {"header": False, "columns": ("b", "a")}, [["x", "1"], ["y", "2"]]),
        ("1,x", {"header": False}, [["1", "x"]]),  # one record without a header is a record
    ],
)
def test_csv_as_it_is_written_by_many_hands(
    tmp_path: Path, content: str, said: dict[str, Any], found: list[list[str]]
) -> None:
    path = write(tmp_path / "a.csv", content.encode(said.get("encoding", "utf-8"))).path
    assert cells(CsvSource(path=path, **said), "a", "b") == found


def test_several_files_and_gzip_are_one_source(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "a,b\n1,x\n")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"b,a\ny,2\n"))
    source = CsvSource(path=["a.csv", "b.csv.gz"]).resolve(tmp_path)
    assert cells(source, "a", "b") == [["1", "x"], ["2", "y"]]
    write(tmp_path / "c.csv", "a,c\n1,x\n")
    golden(refusal(CsvSource(path=["a.csv", "c.csv"]).resolve(tmp_path), "a"))


def test_what_is_no_file_or_only_called_a_packed_one(tmp_path: Path) -> None:
    golden.words(refusal(CsvSource(path=str(tmp_path)), "a"))
    golden.words(refusal(write(tmp_path / "plain.csv.gz", "a,b\n1,2\n"), "a"))


def test_blanks_at_the_ends_of_cells_are_counted_wherever_they_stand(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b,c\n" + "1,x,y\n" * 50 + " 2,x ,y\n" + '3," x",y\n')
    source = CsvSource(path=str(tmp_path / "a.csv"))
    for _ in range(2):  # each reading counts anew
        assert len(pd.concat(source.batches(["a", "b", "c"], 10))) == 52
        assert [(each.column, each.count) for each in source.remarks.all()] == [("a", 1), ("b", 2)]
    assert source == CsvSource(path=str(tmp_path / "a.csv"))


@pytest.mark.parametrize(
    ("content", "said", "found", "remarks"),
    [
        (
            "# by hand\na,b\n#3 High Street,1\n# seen\n4 High Street,2\n# end\n",
            {"comment": "#"},
            [["#3 High Street", "1"], ["4 High Street", "2"]],
            [("reading.comments", "a", 3)],
        ),
        (
            "#1 High Street,1\nx,2\n#\n",
            {"comment": "#", "header": False, "columns": ("a", "b")},
            [["#1 High Street", "1"], ["x", "2"]],
            [("reading.comments", "a", 1)],
        ),
        ("a\n#1\n\n2\n \n", {"comment": "#"}, [["2"]], [("reading.comments", "a", 1), ("reading.empty_lines", "a", 2)]),
        ('a\n"x\n\ny"\n\n', {"line_breaks": True}, [["x\n\ny"]], [("reading.empty_lines", "a", 1)]),
        (
            'a,b\r\n"one\r\n# two\rthree",1\r\n# seen\r\nx,"y\r\n"\r\n',
            {"line_breaks": True, "comment": "#"},
            [["one\r\n# two\rthree", "1"], ["x", "y"]],
            [("reading.comments", "a", 1), ("reading.blanks", "b", 1)],
        ),
        ('a,b\r"one\r\ntwo",1\rx,y', {"line_breaks": True}, [["one\r\ntwo", "1"], ["x", "y"]], []),
    ],
)  # fmt: skip
def test_lines_that_make_no_record_are_counted_and_others_kept(
    tmp_path: Path, content: str, said: dict[str, Any], found: list[list[str]], remarks: list[tuple[str, str, int]]
) -> None:
    source = CsvSource(path=write(tmp_path / "a.csv", content).path, **said)
    names = source.column_names()
    for size in (1, 100):
        assert pd.concat(source.batches(names, size)).to_numpy().tolist() == found
        assert [(each.code, each.column, each.count) for each in source.remarks.all()] == remarks


def test_blanks_in_a_file_with_types_stay_and_are_counted(tmp_path: Path) -> None:
    texts = pa.array(["x", " x", None, "x\u3000"])
    table = pa.table({"a": texts, "b": texts.dictionary_encode(), "n": [1, 2, 3, 4]})
    pq.write_table(table, tmp_path / "a.parquet")
    source = ParquetSource(path=str(tmp_path / "a.parquet"))
    read = pd.concat(source.batches(["a", "b", "n"], 3))
    assert read["a"].dropna().tolist() == ["x", " x", "x\u3000"]
    assert [(each.code, each.column, each.count) for each in source.remarks.all()] == [
        ("reading.blanks", "a", 2), ("reading.blanks", "b", 2),
    ]  # fmt: skip


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".xlsx"])
def test_a_last_record_that_adds_up_the_others_is_remarked_upon_in_every_source(tmp_path: Path, ending: str) -> None:
    people = {"town": ["A", "B", "A", "Insgesamt"], "income": [10.5, 20.0, 30.0, 60.5], "age": [20, 30, 40, 30]}
    frame, file = pd.DataFrame(people), tmp_path / f"a{ending}"
    write = {".csv": frame.to_csv, ".parquet": frame.to_parquet, ".xlsx": frame.to_excel}[ending]
    write(file, index=False)
    source = recognise(file).records
    for size in (2, 100):  # wherever a batch ends
        assert len(pd.concat(source.batches(list(people), size))) == 4  # it is read, all the same
        assert [(each.code, each.column, each.count, each.first) for each in source.remarks.all()] == [
            ("reading.totals", "town", 2, 4)
        ]


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
    read = cells(CsvSource(path=str(path)), "a", "b", size=size)
    assert [[text.strip() for text in row] for row in read] == [[a.strip(), b.strip()] for a, b in rows]


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
    golden(text)


def test_whole_numbers_with_gaps_stay_whole_and_nested_columns_are_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame({"n": pd.array([1, None, 2**60], dtype="Int64"), "m": [[1]] * 3})
    frame.to_parquet(tmp_path / "a.parquet")
    source = ParquetSource(path="a.parquet").resolve(tmp_path)
    assert [list(batch["n"]) for batch in source.batches(["n"], 2)][1] == [2**60]
    golden.words(refusal(source, "m"))


# -- databases


@pytest.fixture(params=marked("duckdb", "sqlite", "postgresql"))
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database with a table `records`."""
    place = place_of(request.param, request, tmp_path)
    READERS[request.param].write(records(), place)
    return str(place) if request.param == "postgresql" else f"{request.param}:///{place}"


def test_a_query_keeps_its_colons_and_per_cents_and_can_only_read(url: str) -> None:
    query = "SELECT code, 'x:y 5%' AS label FROM records WHERE town LIKE '%h' AND '%:b%' <> ':b' AND code < '010';"
    assert sorted(cells(SqlSource(url=url, query=query), "label", "code")) == [["x:y 5%", "000"], ["x:y 5%", "006"]]
    golden.words(refusal(SqlSource(url=url, query="DELETE FROM records"), "code"))
    assert len(cells(SqlSource(url=url, table="records"), "code")) == 12


def test_what_drivers_make_of_values_that_pandas_has_no_type_for(postgresql: str) -> None:
    query = (
        "SELECT 12345678901234567890::numeric AS long, 1.5::numeric AS pay,"
        " '00000000-0000-0000-0000-000000000007'::uuid AS key, timestamptz '2020-01-01 00:00+02' AS seen,"
        " ARRAY['a', 'b'] AS list, timetz '12:34:56+02' AS at, NULL AS nothing, true AS yes"
    )
    source = SqlSource(url=postgresql, query=query)
    long, pay, key, seen, several, at, nothing, yes = cells(source, *source.column_names())[0]
    assert long == "12345678901234567890"  # beyond 64 bits: as text, every digit kept
    assert (pay, key, yes) == (1.5, "00000000-0000-0000-0000-000000000007", True)
    assert (list(several), at) == (["a", "b"], "12:34:56+02:00")
    assert seen == pd.Timestamp("2019-12-31T22:00Z")
    assert pd.isna(nothing)


def test_columns_that_no_contract_describes_are_left_out_by_name_and_refused_where_they_are_asked_for(
    postgresql: str,
) -> None:
    engine = sa.create_engine(database_url(postgresql))
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "CREATE TABLE visits AS SELECT 1 AS id, interval '1 day' AS stay, ARRAY[1, 2] AS codes,"
            " '\\x01'::bytea AS scan"
        )
    engine.dispose()
    source = SqlSource(url=postgresql, table="visits")
    assert source.column_names() == ["id"]
    assert set(source.left_out()) == {"stay", "codes", "scan"}
    for name in source.left_out():
        assert f"'{name}'" in refusal(source, "id", name)
        assert f"'{name}'" in refusal(SqlSource(url=postgresql, query=f"SELECT id, {name} FROM visits"), name)


def test_what_a_database_refuses(url: str) -> None:
    golden.words(refusal(SqlSource(url=url, table="nowhere"), "code"))
    golden(refusal(SqlSource(url=url, query=f"SELECT code FROM records WHERE town = '{SECRET}'"), "code"))
    broken = f"SELECT CAST('{SECRET}' AS INTEGER) / number AS n FROM records WHERE sum(number) > 0"
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
    path.write_bytes(b"a,b\n" + b"12345678,abcdefgh\n" * 600_000 + b"ragged\n")
    batches = CsvSource(path=str(path)).batches(["a", "b"], 1000)
    assert len(next(batches)) == 1000  # the last line, 11 MB on, has not been seen yet
    with golden.raises(DataError):
        list(batches)


def test_duckdb_is_closed_after_reading(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    assert cells(SqlSource(url=f"duckdb:///{path}", table="t"), "a") == [[1]]
    with duckdb.connect(path, read_only=True) as connection:  # refused while another configuration is open
        assert connection.execute("SELECT a FROM t").fetchall() == [(1,)]


def test_another_separator_in_the_first_line_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "firms.csv").write_text("firm;turnover\nACME;7\n", encoding="utf-8")
    with golden.raises(DataError):
        list(CsvSource(path=(str(tmp_path / "firms.csv"),)).batches(["firm", "turnover"]))
