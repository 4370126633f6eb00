"""What is a number or a date: the typing of a file and the SQL of each database say the same of every text."""

from itertools import product
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa

from schemas.checks.batch_sql import batch_select, relation
from schemas.checks.canonical_values import readable
from schemas.checks.source_session import SourceSession
from schemas.contract import Contract
from schemas.reading.typing import SourceTyping
from sluice.reading.values import NUMBER
from sluice.sources.database_url import database_url
from sluice.sources.record_query import text as quoted_text
from tests.reading.test_kind import TEXTS

NUMBERS = ["".join(letters) for length in (1, 2, 3, 4) for letters in product("01.-+e ", repeat=length)]
DAYS = [
    *(f"{year}-{month}-{day}" for year in ("0000", "0001", "1900", "2000", "2023", "2024") for month in
      ("00", "01", "02", "04", "12", "13") for day in ("00", "01", "28", "29", "30", "31", "32")),
    *(f"2024-02-29{mark}{time}{zone}" for mark in ("T", " ", "t", "  ")
      for time in ("00:00", "23:59:59", "24:00", "10", "1030", "10:60", "10:30:60", "10:30:00.5", "10:30:00.123456789")
      for zone in ("", "Z", "z", "+02", "-0230", "+14:00", "+15:00", " +02", "+2")),
]  # fmt: skip
ODD = [
    "1\n",
    "\t2",
    "3\u2003",
    "\u0661",
    "4\n5",
    "1_0",
    "0x10",
    "NaN",
    "inf",
    "-Infinity",
    "1e308",
    "9" * 25,
    str(2**63 - 1),
    str(2**63),
    str(2**53 + 1),
    "9007199254740993.0",
    "1e17",
    "\n",
    "1;2",
]
CELLS = sorted({*NUMBERS, *DAYS, *ODD, *(cell for cells, _ in TEXTS.values() for cell in cells[:50])})
KINDS = ("continuous", "integer", "date")
CONTRACT = Contract.model_validate(
    {
        "dataset": "d",
        "version": 1,
        "variables": [
            *({"name": kind, "kind": kind, "nullable": True} for kind in KINDS),
            {"name": "code", "kind": "nominal", "nullable": True, "categories": [0, 1, 11, True, False]},
            {"name": "cell", "kind": "text", "nullable": True},
        ],
    }
)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def read(request: pytest.FixtureRequest, tmp_path: Path) -> pd.DataFrame:
    """The canonical values of a table that holds CELLS in every column, as the database makes it."""
    if request.param == "sqlite":
        (tmp_path / "cells.db").touch()
        url = f"sqlite:///{tmp_path / 'cells.db'}"
    else:
        url = request.getfixturevalue("postgresql")
    engine = sa.create_engine(database_url(url))
    names = [variable.name for variable in CONTRACT.variables]
    with engine.begin() as connection:
        table = sa.Table(
            "cells", sa.MetaData(), sa.Column("place", sa.Integer), *(sa.Column(n, sa.Text) for n in names)
        )
        table.create(connection)
        connection.execute(table.insert(), [{"place": i, **dict.fromkeys(names, cell)} for i, cell in enumerate(CELLS)])
    engine.dispose()
    with SourceSession(url) as session, session.engine.connect() as connection:
        source = relation("cells")
        select = batch_select(CONTRACT, source, session.columns(source), session.dialect)
        rows = connection.execute(select.add_columns(sa.column("place")).order_by("place")).mappings().all()
    return pd.DataFrame(rows)


def typed() -> pd.DataFrame:
    typing = SourceTyping(CONTRACT, lambda name, text: text)
    return typing.type_batch(pd.DataFrame({variable.name: CELLS for variable in CONTRACT.variables}))


@pytest.mark.slow
def test_every_text_is_read_alike_by_typing_and_by_the_database(read: pd.DataFrame) -> None:
    frame = typed()
    missing = frame["cell"].isna()
    for name in KINDS:
        fits = [-1 if gone else int(value) for gone, value in zip(missing, frame[name].notna(), strict=True)]
        found = read[readable(name)].fillna(-1).astype(int)
        assert [(cell, a, b) for cell, a, b in zip(CELLS, found, fits, strict=True) if a != b] == [], name
    same = frame["integer"].notna()
    np.testing.assert_array_equal(read.loc[same, "integer"].astype(float), frame.loc[same, "integer"].astype(float))
    same = frame["continuous"].notna()
    np.testing.assert_array_equal(read.loc[same, "continuous"].astype(float), frame.loc[same, "continuous"])
    same = frame["date"].notna()
    moments = pd.to_datetime(read.loc[same, "date"], format="ISO8601")
    assert (abs(moments - frame.loc[same, "date"]) < pd.Timedelta(milliseconds=1)).all()
    assert same.sum() > 100  # there is something to compare


def test_every_category_is_read_alike(read: pd.DataFrame) -> None:
    """Of the texts that the database leaves as they are, typing says that they are not declared."""
    declared = read["code"].where(read["code"].isin(["0", "1", "11", "true", "false"]))
    expected = typed()["code"].astype(object)
    assert declared.fillna("").tolist() == expected.fillna("").tolist()
    assert "1" not in set(pd.Series(CELLS)[declared == "1"]) - {"1"} or "01" not in set(
        pd.Series(CELLS)[declared == "1"]
    )


def test_duckdb_reads_the_same_numbers() -> None:
    with duckdb.connect() as engine:
        engine.register("cells", pd.DataFrame({"cell": CELLS}))
        found = engine.execute(f"SELECT regexp_full_match(cell, {quoted_text(NUMBER)}) FROM cells").fetchnumpy()
    numbers = typed()["continuous"].notna()
    trimmed = pd.Series(CELLS) == pd.Series(CELLS).str.strip()
    [is_number] = found.values()
    assert (is_number[trimmed] == numbers[trimmed]).all()
