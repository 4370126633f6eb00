"""Desfontaines (2020), section 2.1.1: the tables of the thesis. All four are reproduced exactly."""

import pandas as pd
import pytest

from sluice.risk.classes.equivalence_classes import classes_of
from sluice.risk.classes.k_anonymity import k_anonymity, records_below
from sluice.risk.classes.sample_uniques import sample_uniques

TABLES = {
    "2.1": (["4217", "4217", "1742", "1742", "4217"], ["34", "34", "77", "77", "34"]),
    "2.2": (["4217", "1742", "1743", "4217"], ["34", "77", "77", "34"]),
    "2.3": (["4217", "1742", "4217", "1742"], ["34", "34", "77", "77"]),
    "2.5": (["4217", "4217", "1000-1999", "1000-1999"], ["30-39", "30-39", "75-79", "75-79"]),
}


@pytest.mark.parametrize(("table", "k", "uniques"), [("2.1", 2, 0), ("2.2", 1, 2), ("2.3", 1, 4), ("2.5", 2, 0)])
def test_k_of_the_printed_tables(table: str, k: int, uniques: int) -> None:
    """In Table 2.2 the text names ZIP code 1743 as unique; the combination 1742, 77 is unique as well."""
    zip_code, age = TABLES[table]
    frame = pd.DataFrame({"zip_code": zip_code, "age": age}).astype("category")
    frequencies = classes_of(frame, ["zip_code", "age"]).frequencies
    assert k_anonymity(frequencies) == k
    assert sample_uniques(frequencies) == uniques


def test_each_value_twice_is_not_enough() -> None:
    """Table 2.3: every single value occurs twice, no combination does."""
    zip_code, age = TABLES["2.3"]
    frame = pd.DataFrame({"zip_code": zip_code, "age": age}).astype("category")
    for column in frame:
        assert k_anonymity(classes_of(frame, [column]).frequencies) == 2
    assert records_below(classes_of(frame, ["zip_code", "age"]).frequencies, 2) == 4
