"""Tables as files: the same table gives the same bytes, and comes back as it was."""

import csv
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Variable
from sluice.publication import records_file
from sluice.publication.records_file import read_typed, write_csv, write_in_order, write_parquet
from sluice.publication.spreadsheet_text import columns_with_formulas
from tests.golden import golden

VARIABLES = {
    variable.name: variable
    for variable in (
        Variable(name="x", kind=Kind.CONTINUOUS),
        Variable(name="n", kind=Kind.INTEGER),
        Variable(name="o", kind=Kind.ORDINAL, categories=("low", "middle", "high")),
        Variable(name="c", kind=Kind.NOMINAL),
        Variable(name="d", kind=Kind.DATE),
        Variable(name="t", kind=Kind.TEXT),
    )
}
NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False)
RECORD = st.tuples(
    NUMBERS,
    st.none() | st.integers(-(2**62), 2**62),
    st.sampled_from([None, "low", "middle", "high"]),
    st.sampled_from([None, "b", "a", 'Ä, "q"\n']),
    st.none() | st.datetimes(pd.Timestamp(1700, 1, 1), pd.Timestamp(2200, 1, 1)),
    st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=5),
)


def typed(records: list[tuple[Any, ...]]) -> pd.DataFrame:
    x, n, o, c, d, t = ([record[i] for record in records] for i in range(6))
    found = pd.Index(sorted({value for value in c if value is not None}), dtype="str")
    ordered = pd.CategoricalDtype(pd.Index(["low", "middle", "high"], dtype="str"), ordered=True)
    return pd.DataFrame(
        {
            "x": pd.Series(x, dtype="float64"),
            "n": pd.Series(n, dtype="Int64"),
            "o": pd.Series(pd.Categorical(o, dtype=ordered)),
            "c": pd.Series(pd.Categorical(c, categories=found)),
            "d": pd.Series(d, dtype="datetime64[us]"),
            "t": pd.Series(t, dtype="str"),
        }
    )


def small() -> pd.DataFrame:
    return typed(
        [(1.5, 1, "low", "b", pd.Timestamp("2020-01-01"), "x"), (None,) * 6, (-0.1, 2, "high", "a", None, "y")]
    )


@given(records=st.lists(RECORD, max_size=12), cut=st.integers(0, 12))
def test_a_typed_frame_comes_back_and_its_bytes_do_not_depend_on_batches_or_index(
    tmp_path_factory: pytest.TempPathFactory, records: list[tuple[Any, ...]], cut: int
) -> None:
    folder = tmp_path_factory.mktemp("parquet")
    frame = typed(records)
    assert write_parquet(frame, folder / "one.parquet", VARIABLES) == len(records)
    pd.testing.assert_frame_equal(read_typed(folder / "one.parquet", VARIABLES), frame)

    relabelled = frame.set_axis(frame.index[::-1])
    write_parquet([relabelled.iloc[:cut], relabelled.iloc[cut:]], folder / "two.parquet", VARIABLES)
    assert (folder / "one.parquet").read_bytes() == (folder / "two.parquet").read_bytes()


@given(records=st.lists(RECORD, max_size=12))
def test_csv_reads_back_exactly(tmp_path_factory: pytest.TempPathFactory, records: list[tuple[Any, ...]]) -> None:
    """Python's own csv module is the independent reader."""
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    frame = typed(records)
    write_csv(frame, path)
    header, *rows = csv.reader(io.StringIO(path.read_bytes().decode("utf-8"), newline=""))
    assert header == list(VARIABLES)
    assert len(rows) == len(frame)
    for row, (x, n, o, c, d, t) in zip(rows, records, strict=True):
        assert (float(row[0]) if row[0] else None) == x
        assert (int(row[1]) if row[1] else None) == n
        assert [cell or None for cell in (row[2], row[3], row[5])] == [o, c, t]
        assert (pd.Timestamp(row[4]) if row[4] else None) == d


@given(records=st.lists(RECORD, max_size=12), name=st.sampled_from(["t", 'a "t"', "a,t", " t", ""]))
def test_csv_is_what_pandas_writes(
    tmp_path_factory: pytest.TempPathFactory, records: list[tuple[Any, ...]], name: str
) -> None:
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    frame = typed(records).drop(columns="d").rename(columns={"t": name})
    for some in (frame, frame[[name]], frame[["x"]]):
        write_csv(some, path)
        assert path.read_bytes() == some.to_csv(index=False, lineterminator="\r\n").encode()


def test_csv_to_the_byte(tmp_path: Path) -> None:
    write_csv(small(), tmp_path / "a.csv")
    expected = "x,n,o,c,d,t\r\n1.5,1,low,b,2020-01-01,x\r\n,,,,,\r\n-0.1,2,high,a,,y\r\n"
    assert (tmp_path / "a.csv").read_bytes() == expected.encode()
    write_csv(small()[["n"]], tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_bytes() == b'n\r\n1\r\n""\r\n2\r\n'  # a missing value is no blank line


def test_row_groups_are_fixed(tmp_path: Path) -> None:
    n = 300_000
    frame = pd.DataFrame({"x": np.arange(n, dtype=float)})
    variables = {"x": VARIABLES["x"]}
    write_parquet(frame, tmp_path / "one.parquet", variables)
    write_parquet((frame.iloc[i : i + 7_001] for i in range(0, n, 7_001)), tmp_path / "many.parquet", variables)
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "many.parquet").read_bytes()
    assert pq.read_metadata(tmp_path / "one.parquet").num_row_groups == 3
    np.testing.assert_array_equal(read_typed(tmp_path / "many.parquet", variables)["x"], frame["x"])


def test_the_file_tells_nothing_but_its_table(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_parquet(small().set_index(pd.Index(["secret", "b", "c"], name="who")), path, VARIABLES)
    assert pq.read_metadata(path).metadata is None
    assert pq.read_schema(path).names == list(VARIABLES)
    assert b"secret" not in path.read_bytes()


def test_some_columns_in_another_order(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_parquet(small(), path, VARIABLES)
    pd.testing.assert_frame_equal(read_typed(path, VARIABLES, ["o", "x"]), small()[["o", "x"]])


def test_category_order_is_the_declared_one_though_nobody_has_the_category(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    variables = {"o": VARIABLES["o"]}
    write_parquet(small()[["o"]].iloc[:1], path, variables)
    assert read_typed(path, variables)["o"].cat.categories.tolist() == ["low", "middle", "high"]


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    with golden.raises(DataError):
        write_parquet(small().drop(columns="x"), path, VARIABLES)
    assert not path.exists()
    write_parquet(small(), path, VARIABLES)
    other = {"z": VARIABLES["x"].model_copy(update={"name": "z"})}
    with golden.raises(DataError):
        read_typed(path, VARIABLES | other)
    fewer = {"o": VARIABLES["o"].model_copy(update={"categories": ("low", "middle")})}
    with golden.raises(DataError):
        read_typed(path, fewer)


@pytest.mark.parametrize("cut", [0, 10, -1, -20])
def test_a_damaged_file_is_refused(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.parquet"
    write_parquet(small(), path, VARIABLES)
    path.write_bytes(path.read_bytes()[:cut])
    with golden.raises(DataError):
        read_typed(path, VARIABLES)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full, a disk without space")
@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_a_full_disk_is_told_and_leaves_no_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.symlink_to("/dev/full")
    with golden.raises(DataError):
        write_parquet(small(), path, VARIABLES) if name == "a.parquet" else write_csv(small(), path)
    assert not path.is_symlink()


def test_a_batch_that_fails_leaves_no_file(tmp_path: Path) -> None:
    def batches() -> Any:
        yield small()
        raise DataError("the database went away")

    with golden.raises(DataError):
        write_parquet(batches(), tmp_path / "a.parquet", VARIABLES)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.servers
def test_bytes_are_the_same_in_another_process(tmp_path: Path) -> None:
    write_parquet(small(), tmp_path / "here.parquet", VARIABLES)
    code = (
        "import sys; from pathlib import Path; from sluice.ground.variables import Variable, Kind\n"
        "from sluice.publication.records_file import read_typed, write_parquet, write_csv\n"
        "variables = {v.name: v for v in map(Variable.model_validate_json, sys.argv[3:])}\n"
        "frame = read_typed(Path(sys.argv[1]), variables)\n"
        "write_parquet(frame, Path(sys.argv[2]), variables)\n"
    )
    documents = [variable.model_dump_json() for variable in VARIABLES.values()]
    there = tmp_path / "there.parquet"
    environment = os.environ | {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "here.parquet"), str(there), *documents],
        check=True,
        env=environment,
    )
    assert there.read_bytes() == (tmp_path / "here.parquet").read_bytes()


def test_cells_a_spreadsheet_would_run_are_named_and_kept(tmp_path: Path) -> None:
    records = [(1.0, -1, "low", "- 50000.", None, "=1+1"), (-2.0, 1, "high", "x", None, "y")]
    frame = typed(records)
    assert columns_with_formulas(frame) == ["c", "t"]  # a negative number is a number
    assert columns_with_formulas(small()) == []
    write_csv(frame, tmp_path / "a.csv")
    assert b",=1+1\r\n" in (tmp_path / "a.csv").read_bytes()


def test_few_records_are_put_in_the_order_of_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, n = np.random.default_rng(4), 3000
    moments = pd.Series(pd.to_datetime(["1900-02-28", "2024-02-29 23:59:59.000001", None], format="ISO8601"))
    frame = pd.DataFrame(
        {
            "x": drawn.choice([np.nan, -np.inf, np.inf, -1.5, 0.0, 5e-324, 1e300], n),
            "t": pd.Series(drawn.choice(["", "a", "A", "é", "e\u0301", "z", "\U0001f600", "\uffee", "ab", "-"], n)),
            "d": moments[drawn.integers(0, 3, n)].to_numpy(),
            "i": pd.array(drawn.integers(-3, 3, n) * 2**60, "Int64"),
        }
    )
    frame.loc[drawn.integers(0, n, 300), ["t", "i"]] = None
    kinds = {"x": Kind.CONTINUOUS, "t": Kind.TEXT, "d": Kind.DATE, "i": Kind.INTEGER}
    variables = {name: Variable(name=name, kind=kind) for name, kind in kinds.items()}
    write_parquet(frame, tmp_path / "any order", variables)
    table = pq.read_table(tmp_path / "any order")  # in which NaN and a missing number are not the same
    numbers = pc.if_else(pa.array(drawn.random(n) < 0.1), float("nan"), table["x"])
    pq.write_table(table.set_column(0, "x", numbers), tmp_path / "any order")
    for at_once in (n, 0):
        monkeypatch.setattr(records_file, "_FEW", at_once)
        assert write_in_order(tmp_path / "any order", tmp_path / f"{at_once}", variables, ["t", "x"]) == n
    assert (tmp_path / f"{n}").read_bytes() == (tmp_path / "0").read_bytes()
