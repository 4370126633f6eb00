"""Codes of known classifications are told from numbers and words, and numbers are not taken for codes."""

import pandas as pd
import pytest

from sluice.ground.variables import Kind
from sluice.reading.classification_codes import classification_of
from sluice.reading.kind import ColumnSummary


@pytest.mark.parametrize(
    ("name", "codes", "called"),
    [
        ("nace_rev2", ["10.1", "10.10", "62.01"], "NACE or ISIC"),
        ("NACE", ["6201", "4711", "0111"], "NACE or ISIC"),
        ("industryNace2", ["A", "C10", "G47.11"], "NACE or ISIC"),
        ("x", ["A01", "C10.1", "G47.11", "Q86"], "NACE or ISIC"),  # each division belongs to its section
        ("x", ["A41.9", "I21.0", "J45"], "ICD"),
        ("diag_1", ["250", "250.83", "428"], "ICD"),
        ("icd10", ["E11.9", "I10", "Z38.0"], "ICD"),
        ("ISCO08", ["2310", "5120", "9"], "ISCO"),
        ("x", ["AT130", "DE212", "FRK2"], "NUTS"),
        ("x", ["AUT", "DEU", "FRA"], "ISO 3166"),
        ("country_of_birth", ["AT", "DE"], "ISO 3166"),
        ("plz", ["1010", "99084"], "postal code"),
        ("x", ["C50", "I10", "J45"], "ICD"),
        ("x", ["C50.1", "C50.2", "C61"], "ICD"),  # of one chapter, and no other codes have such decimals
        ("cob", ["NA", "ZA", "DE"], "ISO 3166"),
    ],
)
def test_codes_are_recognised(name: str, codes: list[str], called: str) -> None:
    assert classification_of(name, codes) == called


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("pay", ["10.1", "10.10", "62.01"]),  # the name says nothing of activities
        ("age", ["40", "41", "42"]),
        ("income", ["6201", "4711", "1111"]),
        ("income_of_occupation", ["2310", "5120"]),
        ("nace", ["10.1", "4.5"]),  # there is no activity 4.5
        ("nace", ["44.1"]),  # nor a division 44
        ("diagnosis", ["asthma", "J45"]),
        ("x", ["ABC", "DEF", "GHI"]),
        ("x", ["AT", "DE", "CA"]),  # states of America, too
        ("x", ["X11", "X12"]),  # two codes are too few to tell
        ("x", []),
        ("region", ["R01", "R02", "R12"]),
        ("x", ["R01", "R02", "R12"]),  # of one letter, numbered
        ("ward", ["A01", "B02", "C03"]),
        ("stratum_2", ["S01", "T02", "U03"]),
    ],
)
def test_what_else_there_is_is_not(name: str, codes: list[str]) -> None:
    assert classification_of(name, codes) is None


def summary(name: str, values: list[object]) -> ColumnSummary:
    column = ColumnSummary(name=name)
    column.add(pd.Series(values))
    return column


def test_a_code_that_looks_like_a_number_is_nominal() -> None:
    """10.1 is a group of activities and 10.10 none of it: as numbers they would be the same."""
    assert summary("nace", ["10.1", "10.10"]).kind is Kind.NOMINAL
    assert summary("pay", ["10.1", "10.10"]).kind is Kind.CONTINUOUS
    assert summary("isco", [2310, 5120]).kind is Kind.NOMINAL
    assert summary("score", [2310, 5120]).kind is Kind.INTEGER


def test_a_short_file_of_many_codes_is_no_free_text() -> None:
    codes = [f"{letter}{number:02d}.{number % 10}" for letter in "IJK" for number in range(40)]
    assert summary("x", codes).kind is Kind.NOMINAL
    assert summary("x", [f"{code} words" for code in codes]).kind is Kind.TEXT
