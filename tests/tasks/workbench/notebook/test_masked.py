"""What an analyst reads off a masked frame: PRAM's correction, and the two tables of an anatomization."""

import numpy as np
import pandas as pd
import pytest

import sluice
from sluice.ground.errors import DataError
from tests.golden import golden


def believers(n: int = 6000) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "religion": rng.choice(["a", "b", "c"], n, p=[0.8, 0.15, 0.05]),
            "illness": rng.choice(["flu", "gout", "none", "ulcer"], n),
            "age": rng.integers(20, 80, n),
        }
    )


def test_corrected_frequencies_are_nearer_to_the_original_than_the_masked_ones() -> None:
    frame = believers()
    masked = sluice.mask(frame, [{"method": "pram", "columns": ["religion"], "retention": 0.6}], seed=1)
    original = frame["religion"].value_counts().sort_index()
    corrected = masked.corrected_frequencies("religion")
    assert corrected.sum() == pytest.approx(len(frame))
    # One standard error of an estimate is about sqrt(6000 x 0.24) / (0.6 - 0.2) = 95.
    assert (
        (corrected - original).abs().max() < 4 * 95 < (masked.frame["religion"].value_counts() - original).abs().max()
    )
    golden.refused(DataError, masked.corrected_frequencies, "age")


def test_missing_counts_where_it_is_a_category() -> None:
    frame = believers().assign(religion=lambda f: f["religion"].where(f["religion"] != "c"))
    plan = {"method": "pram", "columns": ["religion"], "retention": 0.9, "missing_as_category": True}
    corrected = sluice.mask(frame, plan, seed=1).corrected_frequencies("religion")
    assert corrected["(missing)"] == pytest.approx(frame["religion"].isna().sum(), abs=100)


def test_the_tables_of_an_anatomization_are_all_that_the_file_tells() -> None:
    masked = sluice.mask(believers(400), {"method": "anatomization", "columns": ["illness"], "l": 3}, seed=1)
    identifying, sensitive = masked.anatomized_tables()
    assert list(identifying) == ["religion", "age", "group"]
    assert sensitive.groupby("group")["illness"].nunique().min() >= 3
    assert sensitive.groupby("group")["count"].sum().tolist() == identifying.groupby("group").size().tolist()
    without = sluice.mask(believers(100), {"method": "removal", "columns": ["age"]}, seed=1)
    golden.refused(DataError, without.anatomized_tables)


def test_blanks_of_treated_columns_are_told() -> None:
    frame = believers().assign(town=" Aldby")
    frame.loc[:1, "religion"] = "c "
    masked = sluice.mask(frame, [{"method": "pram", "columns": ["religion"], "retention": 0.6}], seed=1)
    assert [(each.code, each.column, each.count) for each in masked.reading] == [("reading.blanks", "religion", 2)]
    assert masked.frame["town"].eq(" Aldby").all()
    golden(masked.says)
