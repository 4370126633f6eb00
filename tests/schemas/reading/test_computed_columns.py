"""Columns that are computed from another have its role; a name alone makes no such column."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from schemas.reading.computed_columns import computed_from
from schemas.reading.overview import Overview, overview
from schemas.reading.proposal import propose
from sluice.ground.variables import Role
from sluice.sources.csv_source import CsvSource

RNG = np.random.default_rng(5)
SPENT = np.round(RNG.lognormal(8, 1, 300), 1)
AGE = RNG.integers(18, 80, 300)


def seen(folder: Path, decimal: str = ".", **columns: object) -> Overview:
    pd.DataFrame(columns).to_csv(folder / "people.csv", index=False, sep=";", decimal=decimal)
    return overview(CsvSource(path=(str(folder / "people.csv"),), separator=";", decimal=decimal))


@pytest.mark.parametrize("decimal", [".", ","])
def test_logarithms_and_squares_are_found_by_name_and_values(tmp_path: Path, decimal: str) -> None:
    some = np.where(np.median(SPENT) < SPENT, SPENT, np.nan)  # a logarithm is missing where there is none
    columns = {"spent": SPENT, "lspent": np.log(some), "lnage": np.log(AGE - 1).round(6), "age": AGE, "Age2": AGE**2}
    shifted = {"gain": SPENT - 2000, "gainsq": (SPENT - 2000) ** 2}
    found = computed_from(seen(tmp_path, decimal, **columns, **shifted))
    assert found == {"lspent": "spent", "lnage": "age", "Age2": "age", "gainsq": "gain"}


def test_a_name_alone_is_not_enough(tmp_path: Path) -> None:
    columns = {"q1": AGE, "q12": RNG.permutation(AGE), "spent": SPENT, "lspent": RNG.permutation(np.log(SPENT))}
    few = {"k": AGE % 5, "k2": (AGE % 5) ** 2}
    assert computed_from(seen(tmp_path, **columns, **few)) == {}


def test_who_knows_the_logarithm_knows_the_amount(tmp_path: Path) -> None:
    columns = {
        "age": AGE,
        "agesq": AGE**2,
        "income": SPENT,
        "lnincome": np.log(SPENT),
        "sex": np.where(AGE % 2, "f", "m"),
    }
    roles = {each.name: each.role for each in propose(seen(tmp_path, **columns)).columns}
    assert roles["agesq"] is roles["age"] is Role.QUASI_IDENTIFIER
    assert roles["lnincome"] is roles["income"] is Role.SENSITIVE
