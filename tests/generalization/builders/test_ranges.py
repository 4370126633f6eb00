"""sluice.generalization.builders.number_groups."""

import gzip
import re
from itertools import pairwise
from pathlib import Path

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sluice.generalization.builders.number_groups import Ranges
from sluice.ground.variables import Kind, Variable

# The chapters of ICD-9 as the World Health Organization numbers them.
CHAPTERS = {
    "infectious": "001 to 139",
    "neoplasms": "140 to 239",
    "endocrine": "240 to 279",
    "blood": "280 to 289",
    "mental": "290 to 319",
    "nervous": "320 to 389",
    "circulatory": "390 to 459",
    "respiratory": "460 to 519",
    "digestive": "520 to 579",
    "genitourinary": "580 to 629",
    "pregnancy": "630 to 679",
    "skin": "680 to 709",
    "musculoskeletal": "710 to 739",
    "congenital": "740 to 759",
    "perinatal": "760 to 779",
    "symptoms": "780 to 799",
    "injury": "800 to 999",
    "external": "E000 to E999",
    "supplementary": "V01 to V99",
}


def ages(maximum: int = 99) -> Variable:
    return Variable(name="age", kind=Kind.INTEGER, minimum=0, maximum=maximum)


def test_recodings_of_mu_argus_give_the_same_groups(reference_data: Path) -> None:
    """Its files of global recodings write 'group: -20' for up to 20, 'group: 61-' for 61 and over, 'group: 2,3'."""
    for name in ("Age.grc", "Age3.grc", "Region.grc", "Regiop.grc", "Etnigr2.grc"):
        lines = (reference_data / "muargus_demo" / name).read_text().splitlines()
        wanted, written = {}, {}
        for group, parts in (line.split(":") for line in lines if re.match(r"\d+:", line)):
            said = []
            for part in parts.split(","):
                low, dash, high = part.strip().partition("-")
                first, last = int(low or 0), int(high or 182) if dash else int(low)
                wanted |= {str(value): group for value in range(first, last + 1)}
                said.append(f"{low} to {high}" if low and high else f"up to {high}" if high else f"{low} and over")
                if not dash:
                    said[-1] = low
            written[group] = ", ".join(said)
        variable = Variable(name="x", kind=Kind.NOMINAL, categories=tuple(wanted))
        assert Ranges(ranges=(written,)).build(variable).at_level(1) == wanted, name


def test_diagnoses_of_icd_9_lie_in_their_chapters(reference_data: Path) -> None:
    """The first diagnoses of 101,766 stays of diabetics; most are of the circulatory system."""
    with gzip.open(reference_data / "diabetes130" / "diabetic_data.csv.gz") as file:
        found = pd.read_csv(file, usecols=["diag_1"], dtype=str, na_values="?")["diag_1"].dropna()
    padded = found.str.replace(r"^\d+", lambda number: number[0].zfill(3), regex=True)  # the file has 8 for 008
    variable = Variable(name="diagnosis", kind=Kind.NOMINAL, categories=tuple(sorted(padded.unique())))
    wide = {"disease": ", ".join(list(CHAPTERS.values())[:-2]), "other reason": "E000 to E999, V01 to V99"}
    built = Ranges(ranges=(CHAPTERS, wide)).build(variable)
    chapters = built.at_level(1)
    assert chapters["250.83"] == "endocrine"
    assert chapters["V57"] == "supplementary"
    assert built.rows["008"] == ("infectious", "disease", "*")
    numeric = padded[padded.str.match(r"\d")]
    counted = padded.map(chapters).value_counts()
    assert counted.idxmax() == "circulatory"
    # the independent count: the whole part of the code as a number
    assert counted["circulatory"] == int(numeric.str[:3].astype(int).between(390, 459).sum())


@given(st.lists(st.integers(1, 98), min_size=1, max_size=5, unique=True).map(sorted))
def test_ranges_that_meet_hold_every_number_once(ends: list[int]) -> None:
    written = {"first": f"up to {ends[0]}", "last": f"{ends[-1] + 1} and over"}
    for low, high in pairwise(ends):
        written[f"{low}"] = f"{low + 1} to {high}"
    groups = Ranges(ranges=(written,)).build(ages()).at_level(1)
    bounds = [-1, *ends, 99]
    for value in range(100):
        same = {str(other) for other in range(100) if groups[str(other)] == groups[str(value)]}
        low, high = next((a, b) for a, b in pairwise(bounds) if a < value <= b)
        assert same == {str(other) for other in range(low + 1, high + 1)}


def test_what_is_left_is_named() -> None:
    assert Ranges(ranges=({"young": "up to 17"},), others="adult").build(ages()).rows["18"] == ("adult", "*")


def test_a_code_shorter_than_a_range_lies_in_none() -> None:
    codes = Variable(name="x", kind=Kind.NOMINAL, categories=("25", "250", "x"))
    rows = Ranges(ranges=({"endocrine": "240 to 279"},), others="rest").build(codes).rows
    assert rows == {"25": ("rest", "*"), "250": ("endocrine", "*"), "x": ("rest", "*")}
