from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sluice
from sluice.ground.errors import DataError
from sluice.ground.verdict import Verdict
from tasks.workbench.audit import audit_file
from tasks.workbench.standalone_table import StandaloneTable
from tests.golden import golden

COUNTS = [{"rule": "minimum_frequency", "n": 5}]
OCCUPATIONS = ["occupation", "occupation_husb"]


@pytest.fixture(scope="module")
def pattern(fair: pd.DataFrame) -> pd.DataFrame:
    return sluice.protect(fair, OCCUPATIONS, rules=COUNTS).pattern


def careless(pattern: pd.DataFrame, fair: pd.DataFrame) -> pd.DataFrame:
    """The same table with all but its sensitive cells published: each of these is then a row's total less the rest."""
    counts = fair.groupby([fair[name].astype(int).astype(str) for name in OCCUPATIONS]).size()
    made = pattern.copy()
    for row in pattern.index[pattern["status"] == "suppressed"]:
        if (count := counts[tuple(pattern.loc[row, OCCUPATIONS])]) >= 5:
            made.loc[row, ["status", "value"]] = "published", count
    return made


def test_a_protected_table_gives_nothing_away(pattern: pd.DataFrame, fair: pd.DataFrame) -> None:
    by_anybody = sluice.audit(pattern, OCCUPATIONS)
    assert by_anybody.verdict is Verdict.PASS
    assert (by_anybody.cells, by_anybody.suppressed, by_anybody.primary, by_anybody.exactly_known) == (49, 7, None, 0)
    assert (by_anybody.intervals["low"] < by_anybody.intervals["high"]).all()
    by_all = sluice.audit(pattern, OCCUPATIONS, records=fair, rules=COUNTS)
    assert (by_all.verdict, by_all.with_records, by_all.exactly_known) == (Verdict.PASS, True, None)
    assert (by_all.primary, by_all.secondary) == (4, 3)  # by the rules, as the table does not tell
    assert (by_all.narrowest["width_per_width_asked"] >= 1).all()
    golden(by_all.says)


def test_a_careless_pattern_is_undone(pattern: pd.DataFrame, fair: pd.DataFrame) -> None:
    made = careless(pattern, fair)
    found = sluice.audit(made, OCCUPATIONS)
    with_records = sluice.audit(made, OCCUPATIONS, records=fair, rules=COUNTS)
    assert with_records.verdict is Verdict.FAIL
    assert with_records.says.startswith("Not safe: ")
    assert found.verdict is Verdict.FAIL
    assert found.exactly_known
    assert "anybody can compute occupation 1, occupation_husb 2 exactly" in found.breaches


def test_the_figures_are_those_of_audit_table(pattern: pd.DataFrame, tmp_path: Path) -> None:
    pattern.to_csv(tmp_path / "cells.csv", index=False)
    table = StandaloneTable.of({"dimensions": [{"variable": name} for name in OCCUPATIONS]}, "the table")
    expected = audit_file(tmp_path / "cells.csv", table, within=50)
    found = sluice.audit(pattern, OCCUPATIONS, within=50)
    assert found.breaches == expected.breaches
    table = pd.DataFrame(expected.summary()["intervals"])
    assert found.intervals["low"].tolist() == pd.to_numeric(table["low"]).tolist()
    assert found.intervals["within_percent"].tolist() == table["within_percent"].tolist()


def test_a_careless_pattern_is_repaired(pattern: pd.DataFrame, fair: pd.DataFrame) -> None:
    found = sluice.audit(careless(pattern, fair), OCCUPATIONS, records=fair, rules=COUNTS, repair=True)
    assert found.verdict is Verdict.FAIL
    golden(found.says)
    assert str(found.added) in found.says
    assert found.repaired is not None
    again = sluice.audit(found.repaired, OCCUPATIONS, records=fair, rules=COUNTS, repair=True)
    assert (again.verdict, again.repaired, again.added) == (Verdict.PASS, None, None)


def test_readers_who_know_the_rule_or_a_cell(pattern: pd.DataFrame, fair: pd.DataFrame) -> None:
    assert sluice.audit(pattern, OCCUPATIONS, rules=COUNTS).verdict is Verdict.PASS
    by_rule = sluice.audit(careless(pattern, fair), OCCUPATIONS, rules=COUNTS)
    assert by_rule.verdict is Verdict.FAIL
    assert (by_rule.intervals["low"] >= 1).all()
    hidden = pattern.loc[pattern["status"] == "suppressed", OCCUPATIONS].iloc[[0]]
    value = fair.groupby([fair[name].astype(int).astype(str) for name in OCCUPATIONS]).size()[tuple(hidden.iloc[0])]
    known = hidden.assign(lower=value, upper=value)
    found = sluice.audit(pattern, OCCUPATIONS, known=known)
    assert found.verdict is Verdict.FAIL
    assert found.exactly_known
    with_records = sluice.audit(pattern, OCCUPATIONS, records=fair, rules=COUNTS, known=known)
    assert with_records.verdict is Verdict.FAIL


def test_totals_that_do_not_add_up_are_refused(pattern: pd.DataFrame) -> None:
    wrong = pattern.copy()
    wrong.loc[0, "value"] += 1
    golden.refused(DataError, sluice.audit, wrong, OCCUPATIONS)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"repair": True}, DataError),
        ({"known": pd.DataFrame({"occupation": ["1"]})}, DataError),
        ({"value": "affairs"}, DataError),
        ({"within": "10"}, TypeError),
        ({"dimensions": ["occupation", "status"]}, DataError),
    ],
)
def test_refusals(pattern: pd.DataFrame, given: dict[str, Any], error: type[Exception]) -> None:
    golden.refused(error, sluice.audit, **{"table": pattern, "dimensions": OCCUPATIONS} | given)


def test_refuses_tables_and_records_that_do_not_fit(pattern: pd.DataFrame, fair: pd.DataFrame) -> None:
    golden.refused(DataError, sluice.audit, pattern, OCCUPATIONS, records=fair)
    golden.refused(DataError, sluice.audit, pattern.drop(columns="status"), OCCUPATIONS)
    golden.refused(DataError, sluice.audit, pattern, OCCUPATIONS, records=fair.iloc[1:], rules=COUNTS)
