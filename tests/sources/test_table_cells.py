"""The cells that DuckDB adds up are those that are added up in memory."""

from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.sources.table_cells import aggregate_file, aggregate_table, cells_bytes, read_asking, read_cells
from sluice.tabular.model.cells import Cells, OwnParts
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Asking, Measure
from sluice.tabular.model.numbered_records import records_of
from tests.golden import golden
from tests.reference_data import reference_path
from tests.tabular.tables import dimensions, read_text, tables

FLAT = Dimension.flat("a", ["x", "y", "z"])
ARGUS = Measure("value", "id", "holding", "weight", "argus", missing="leave_out", negative="absolute", decimals=1)


def same(ours: Cells, theirs: Cells) -> None:
    """Equal but for the numbers of owners, which stand in the same order."""
    for name in ("codes", "total", "contributors", "largest", "published", "decimals"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name
    assert (ours.sizes is None) == (theirs.sizes is None)
    assert ours.sizes is None or np.array_equal(ours.sizes, theirs.sizes)
    assert (ours.weighted is None) == (theirs.weighted is None)
    for mine, other in zip(ours.own_parts[:2], theirs.own_parts[:2], strict=True):
        assert np.array_equal(mine, other)
    owners = [np.r_[cells.owners.ravel(), cells.own_parts.owners.ravel()] for cells in (ours, theirs)]
    assert np.array_equal(owners[0] < 0, owners[1] < 0)
    pairs = set(zip(*(each.tolist() for each in owners), strict=True))
    assert len(pairs) == len({one for one, _ in pairs}) == len({other for _, other in pairs})
    assert [other for _, other in sorted(pairs)] == sorted(other for _, other in pairs)


@st.composite
def records(draw: st.DrawFn) -> tuple[list[Dimension], pd.DataFrame]:
    made = [draw(dimensions(name)) for name in "abc"[: draw(st.integers(1, 3))]]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(1, 60))
    owners = rng.integers(0, draw(st.sampled_from([3, count, 4 * count])), count)
    tenths = rng.integers(-20, 200, count)
    columns: dict[str, object] = {d.name: np.array(d.codes)[rng.choice(d.leaves, count)] for d in made}
    columns["id"] = [f"é{owner}" for owner in owners]
    columns["number"] = owners
    columns["holding"] = ["" if owner % 3 == 0 else f"h{owner // 4}" for owner in owners]
    columns["value"] = [f"{each / 20}" if each % 7 or not at else "" for at, each in enumerate(tenths)]
    columns["size"] = np.abs(tenths)
    columns["weight"] = [f"{1 + each / 4}" for each in rng.integers(0, 9, count)]
    if columns["value"][0] == "":  # type: ignore[index]
        columns["value"][0] = "1"  # type: ignore[index]
    return made, pd.DataFrame(columns)


MEASURES = [
    Measure(),
    Measure(contributor="id"),
    Measure("size", "number"),
    Measure("size", "id", "holding"),
    Measure("value", "id", negative="absolute", missing="leave_out"),
    Measure("value", "number", negative="absolute", missing="leave_out", decimals=1),
    Measure("size", "id", weight="weight", weight_rule="gconfid_exact", decimals=0),
    ARGUS,
]


@pytest.mark.chain
@given(records(), st.sampled_from(MEASURES), st.booleans())
def test_as_in_memory(given_: tuple[list[Dimension], pd.DataFrame], measure: Measure, linked: bool) -> None:
    made, frame = given_
    tables = [[made[0].name], [f"{made[-1].name}:1"]] if linked else None
    with duckdb.connect() as engine:
        engine.register("given", pa.Table.from_pandas(frame))
        ours = aggregate_table(engine, "given", made, measure, tables=tables, kept=3)
    told = records_of(frame, made, measure)
    same(ours.cells, told.cells(made, 3, tables))
    assert (ours.records, ours.left_out, ours.added_up) == (len(told.value), told.left_out, told.added_up)


def test_columns_may_bear_any_name() -> None:
    names = {"a": "cell", "b": 'the "code"', "id": "owner", "value": "place", "weight": "select"}
    frame = pd.DataFrame({"a": ["x", "y"], "b": ["x", "z"], "id": ["i", "i"], "value": [3, 4], "weight": [2, 2]})
    made = [Dimension.flat(names[name], ["x", "y", "z"]) for name in "ab"]
    measure = Measure("place", "owner", weight="select", weight_rule="argus")
    renamed = frame.rename(columns=names)
    with duckdb.connect() as engine:
        engine.register("pairs", pa.Table.from_pandas(renamed))
        ours = aggregate_table(engine, "pairs", made, measure)
    same(ours.cells, records_of(renamed, made, measure).cells(made))


@pytest.mark.chain
@pytest.mark.parametrize("form", ["csv", pytest.param("csv.gz", marks=pytest.mark.exhaustive), "parquet"])
def test_files(tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Real records, in memory and in a memory of 200 MB."""
    folder = reference_path("business_generated", "s1k")
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    frame = read_text(folder / "micro.csv.gz")
    made = []
    for axis in ("nace", "region", "size"):
        rows = read_text(folder / f"hier_{axis}.csv")
        made.append(Dimension.of(axis, list(zip(rows.code, rows.parent, strict=True))))
    path = tmp_path / f"it's.{form}"
    frame.to_parquet(path) if form == "parquet" else frame.to_csv(path, index=False)
    measure = Measure("value", "id", "holding", "weight", "argus")
    withheld = {"nace": [1], "size": ["S1"]}
    monkeypatch.setenv("SLUICE_MEMORY", "200MB")
    monkeypatch.setenv("SLUICE_THREADS", "1")
    ours = aggregate_file(path, made, measure, scratch=tmp_path / "spilled", withheld=withheld)
    same(ours.cells, records_of(frame, made, measure).cells(made, withheld=withheld))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("blank", ["\t", "\r\n", "\u2003", " "])
def test_blanks_around_a_text_make_no_other_contributor_code_or_number(tmp_path: Path, blank: str) -> None:
    """As typing reads them. Two contributors in place of one would make a sensitive cell publishable."""
    frame = pd.DataFrame({"a": ["x", f"x{blank}"], "id": ["i", f"{blank}i"], "value": ["1", f"{blank}2{blank}"]})
    frame.to_parquet(tmp_path / "micro.parquet")
    measure = Measure("value", "id", duplicates="add")
    made = aggregate_file(tmp_path / "micro.parquet", [FLAT], measure, scratch=tmp_path / "spilled")
    assert made.cells.contributors.tolist() == [1] * len(made.cells)
    assert made.cells.total.tolist() == [3] * len(made.cells)


REFUSED: dict[str, tuple[dict[str, list[object]], Measure]] = {
    "no_code": ({"a": ["x", "q", "q", ""]}, Measure()),
    "a_group": ({"a": ["x", "Total", "y", "z"]}, Measure()),
    "halves": ({"a": [0.5, 1.0, 2.0, 3.0]}, Measure()),
    "missing": ({"value": ["1", "", "3", "4"]}, Measure("value")),
    "none_left": ({"value": ["", "", "", ""]}, Measure("value", missing="leave_out")),
    "text": ({"value": ["1", "two", "3", "4"]}, Measure("value")),
    "nan": ({"value": ["1", "nan", "3", "4"]}, Measure("value")),
    "infinite": ({"value": [1.0, float("inf"), 3.0, 4.0]}, Measure("value")),
    "negative": ({"value": ["1", "-2", "3", "4"]}, Measure("value")),
    "decimals": ({"value": ["1", "0.1234567", "3", "4"]}, Measure("value")),
    "too_large": ({"value": ["1", "1e16", "3", "4"]}, Measure("value")),
    "no_contributor": ({"id": ["i", "", "k", "l"]}, Measure("value", "id")),
    "contributor_twice": ({"id": ["i", "i", "k", "l"]}, Measure("value", "id", duplicates="refuse")),
    "no_holding": ({"h": ["", "i", "k", "l"]}, Measure("value", holding="h")),
    "weight_below_1": ({"w": ["1", "0.9", "3", "4"]}, Measure("value", weight="w", weight_rule="argus")),
    "no_weight": ({"w": ["1", "", "3", "4"]}, Measure("value", weight="w", weight_rule="argus")),
    "no_column": ({}, Measure("valu")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_as_in_memory(name: str) -> None:
    change, measure = REFUSED[name]
    columns: dict[str, list[object]] = {
        "a": ["x", "x", "y", "z"],
        "value": ["1", "2", "3", "4"],
        "id": ["i", "j", "k", "l"],
    }
    frame = pd.DataFrame(columns | change)
    with duckdb.connect() as engine:
        engine.register("given", pa.Table.from_pandas(frame))
        golden.refused(DataError, aggregate_table, engine, "given", [FLAT], measure)
    golden.refused(DataError, records_of, frame, [FLAT], measure)


def test_files_that_are_none(tmp_path: Path) -> None:
    with golden.raises(DataError):
        aggregate_file(tmp_path / "none.parquet", [FLAT], Measure(), scratch=tmp_path / "s")
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 and no more")
    with golden.raises(DataError):
        aggregate_file(broken, [FLAT], Measure(), scratch=tmp_path / "s")


def test_totals_that_are_too_large(tmp_path: Path) -> None:
    pd.DataFrame({"a": ["x"] * 2048, "value": [2**52] * 2048}).to_parquet(tmp_path / "large.parquet")
    with golden.raises(DataError):
        aggregate_file(tmp_path / "large.parquet", [FLAT], Measure("value"), scratch=tmp_path / "s")


@pytest.mark.parametrize(
    ("spelled", "measure"),
    [
        (["k  k", "k k", "k\u00a0k", "k k\u200b"], Measure("value", "id")),
        (["o\u0308", "\u00f6", "\u00f6 ", "\u00f6"], Measure("value", holding="id")),
        (["k\tk", "k k", "other", " k k"], Measure("value", "id", "h")),
    ],
)
def test_names_that_look_the_same_are_one_contributor_in_memory_and_in_duckdb(
    spelled: list[str], measure: Measure
) -> None:
    frame = pd.DataFrame({"a": ["x"] * 4, "value": [1, 2, 3, 4], "id": spelled, "h": [""] * 4})
    told = records_of(frame, [FLAT], measure)
    with duckdb.connect() as engine:
        engine.register("given", pa.Table.from_pandas(frame))
        ours = aggregate_table(engine, "given", [FLAT], measure)
    same(ours.cells, told.cells([FLAT]))
    assert ours.cells.contributors.tolist() == [2 if "other" in spelled else 1] * 2
    assert ours.respelled == told.respelled > 0


@pytest.mark.parametrize(
    ("spelled", "joined", "apart"),
    [
        (["ACME", "Acme", "acme", "other"], 2, 0),
        (["Works 24", "WORKS 24", "MacDonald", "MACDONALD"], 2, 0),
        (["F1", "f1", "Ab", "AB"], 0, 2),  # codes, of which case may tell
        (["firm7Q", "FIRM7q", "aBcDe", "AbcdE"], 0, 2),
        (["First\u00a0Works", "FIRST  WORKS", "first works", "other"], 2, 0),
    ],
)
def test_names_that_differ_in_capital_letters_are_one_where_they_are_no_codes(
    spelled: list[str], joined: int, apart: int
) -> None:
    frame = pd.DataFrame({"a": ["x"] * 4, "value": range(4), "id": spelled, "h": spelled})
    for measure in (Measure("value", "id"), Measure("value", None, "h")):
        told = records_of(frame, [FLAT], measure)
        with duckdb.connect() as engine:
            engine.register("given", pa.Table.from_pandas(frame))
            ours = aggregate_table(engine, "given", [FLAT], measure)
            assert aggregate_table(engine, "given", [FLAT], Measure("value")).alike == 0
        same(ours.cells, told.cells([FLAT]))
        assert (ours.joined, ours.alike) == (told.joined, told.alike) == (joined, apart)
        assert ours.cells.contributors[0] == 4 - joined


# The cells of tables as the vault keeps them.


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables())
def test_cells_come_back_as_they_were(tmp_path: Path, cells: Cells) -> None:
    path = tmp_path / "cells.npz"
    weighted = OwnParts(cells.contributors, cells.largest * 3, cells.owners)
    signed = replace(cells, sizes=np.abs(cells.total) + 3, decimals=2, weighted=weighted)
    for given_ in (cells, signed):
        path.write_bytes(cells_bytes((given_, Asking((5, 2**60), (5,)))))
        names = [[dimension.name for dimension in cells.dimensions]]
        found = read_cells(path, cells.dimensions, names)
        for array in ("codes", "total", "contributors", "largest", "owners", "published", "sizes"):
            np.testing.assert_array_equal(getattr(found, array), getattr(given_, array))
        for mine, other in zip(found.own_parts, given_.own_parts, strict=True):
            np.testing.assert_array_equal(mine, other)
        assert found.decimals == given_.decimals
        assert (found.equations != given_.equations).nnz == 0
        assert read_asking(path) == Asking((5, 2**60), (5,))
        assert cells_bytes((found, Asking((5, 2**60), (5,)))) == path.read_bytes()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b"no archive"])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "cells.npz"
    path.write_bytes(content)
    with golden.raises(DataError):
        read_cells(path, [], [])


def test_a_pickle_is_never_loaded(tmp_path: Path) -> None:
    path = tmp_path / "cells.npz"
    np.savez(path, codes=np.array([{"runs": "code"}], dtype=object))
    with golden.raises(DataError):
        read_cells(path, [], [])
