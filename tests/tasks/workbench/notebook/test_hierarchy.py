"""`sluice.hierarchy` on columns of a DataFrame."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
import pytest

from tests.golden import golden

mpl.use("Agg")

import schemas
import sluice
from sluice.generalization.draft import draft_hierarchy
from sluice.ground.errors import DataError, DocumentError
from sluice.ground.variables import Kind, Variable

AGES = pd.Series([20 + place % 40 for place in range(400)] + [97], name="age")


def test_it_is_built_read_or_drafted(tmp_path: Path) -> None:
    built = sluice.hierarchy({"intervals": [20, 40]}, minimum=0, maximum=99, records=AGES)
    assert (built.leaves, built.levels, built.narrowest, built.widest, built.outside) == (100, 3, 5, 1, 0)
    assert built.rows.iloc[97].tolist() == ["97", "80 to 99", "80 to 119", "*"]
    assert built.table["below_cell"].tolist() == [60, 3, 1, 0]  # 0 to 19, 60 to 79 and 80 to 99; then 80 to 119

    (tmp_path / "age.csv").write_text("20;x\n21;x\n", encoding="utf-8")
    read = sluice.hierarchy(str(tmp_path / "age.csv"), records=AGES)
    assert (read.outside, read.written) == (381, None)
    golden(read.says)

    drafted = sluice.hierarchy(records=AGES, minimum=0, maximum=99)
    alone = Variable(name="age", kind=Kind.INTEGER, minimum=0, maximum=99)
    counts = {str(value): int(count) for value, count in AGES.value_counts().items()}
    assert drafted.hierarchy == draft_hierarchy(alone, counts).build(alone)
    assert drafted.written == sluice.hierarchy(records=AGES[AGES < 97], minimum=0, maximum=99).written


def test_a_contract_declares_the_domain() -> None:
    contract = Path(schemas.__path__[0]) / "adult.yaml"
    made = sluice.hierarchy({"groups": [[3, 6, 7]]}, contract=contract, variable="education")
    assert made.hierarchy.rows["9th"] == ("7th-8th to HS-grad", "*")
    golden.refused(DataError, sluice.hierarchy, {"groups": [2]}, contract=contract, variable="educatoin")


def test_dates_and_values_are_a_domain() -> None:
    days = pd.Series(pd.to_datetime(["2024-01-05", "2023-12-31"]))
    dates = sluice.hierarchy({"periods": ["year"]}, minimum="2023-01-01", maximum="2024-12-31", records=days)
    assert dates.outside == 0
    assert sluice.hierarchy({"groups": [2]}, values=[1, 2.0, 3], ordered=True).hierarchy.rows["2"] == ("1 to 2", "*")


def test_counts_are_drawn_of_levels_without_rare_groups() -> None:
    def texts(made: Any) -> set[str]:
        axes = made.plot()
        found = {text.get_text() for text in axes.texts}
        mpl.pyplot.close("all")
        return found

    ages = AGES[AGES < 97]
    shown = texts(sluice.hierarchy({"cuts": [[40]]}, minimum=20, maximum=59, records=ages))
    assert {"20 (10)", "under 40 (200)", "* (400)"} <= shown
    shown = texts(sluice.hierarchy({"cuts": [[40, 90], [40]]}, minimum=20, maximum=99, records=AGES))
    assert {"90 and over", "40 and over (201)"} <= shown  # 1 of 201 would be found by subtraction


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, DataError),
        ({"how": {"interval": [5]}}, DocumentError),
        ({"how": 5}, TypeError),
        ({"how": {"cuts": [[1]]}, "variable": "age"}, DataError),
        ({"records": [1, 2]}, TypeError),
        ({"how": {"rows": {"a": []}}}, DocumentError),
        ({"records": AGES, "minimum": 0, "maximum": 90}, DataError),
    ],
)
def test_what_cannot_be_done_is_said(arguments: dict[str, Any], error: type[Exception]) -> None:
    golden.refused(error, sluice.hierarchy, **arguments)
