"""sluice.generalization.builders.number_groups."""

import gzip
import re
from itertools import pairwise
from pathlib import Path

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sluice.generalization.builders.number_groups import CutPoints, Intervals, Ranges
from sluice.ground.variables import Kind, Variable
from sluice.sources.hierarchy_file import read_hierarchy


def ages(minimum: int, maximum: int) -> Variable:
    return Variable(name="age", kind=Kind.INTEGER, minimum=minimum, maximum=maximum)


def test_ages_of_adult_are_grouped_as_in_arx(reference_data: Path) -> None:
    """ARX groups 1 to 5, 6 to 10, ...; its labels, '0-4' and '5-9', are off by one and not compared."""
    theirs = read_hierarchy(reference_data / "adult" / "hierarchies_arx" / "adult_hierarchy_age.csv")
    ours = Intervals(intervals=(5, 10, 20), origin=1).build(ages(1, 100))
    assert list(ours.rows) == list(theirs.rows)
    assert ours.depth == theirs.depth == 4
    for level in range(1, 5):
        pairs = set(zip(ours.at_level(level).values(), theirs.at_level(level).values(), strict=True))
        assert (
            len(pairs)
            == len({one for one, _ in pairs})
            == len({other for _, other in pairs})
            == [0, 20, 10, 5, 1][level]
        )


def test_open_ends_are_one_group_at_every_level() -> None:
    rows = Intervals(intervals=(5, 10), lowest=18, highest=80).build(ages(0, 99)).rows
    assert rows["0"] == rows["17"] == ("under 18", "under 18", "*")
    assert rows["18"] == ("18 to 19", "18 to 19", "*")
    assert rows["20"] == ("20 to 24", "20 to 29", "*")
    assert rows["80"] == rows["99"] == ("80 and over", "80 and over", "*")


def test_neither_smallest_nor_largest_value_shows() -> None:
    rows = Intervals(intervals=(10,)).build(ages(17, 83)).rows
    assert rows["17"] == ("10 to 19", "*")
    assert rows["83"] == ("80 to 89", "*")


@given(
    st.integers(-300, 300),
    st.integers(0, 200),
    st.integers(1, 12),
    st.lists(st.integers(2, 4), max_size=3),
    st.integers(-50, 50),
    st.booleans(),
)
def test_every_value_lies_in_the_interval_that_its_group_names(
    minimum: int, span: int, width: int, factors: list[int], origin: int, below: bool
) -> None:
    widths = [width]
    for factor in factors:
        widths.append(widths[-1] * factor)
    lowest = minimum + 3 if below else None
    built = Intervals(intervals=tuple(widths), origin=origin, lowest=lowest).build(ages(minimum, minimum + span))
    for leaf, groups in built.rows.items():
        for wide, group in zip(widths, groups, strict=False):
            if group == "*":
                continue
            if group.startswith("under "):
                assert int(leaf) < int(group.removeprefix("under "))
                continue
            first, _, last = group.partition(" to ")
            low, high = int(first), int(last or first)
            assert low <= int(leaf) <= high
            assert (high + 1 - origin) % wide == 0  # it ends where the next begins, on the grid
            assert high + 1 - low == wide or low == lowest


def test_an_interval_that_holds_everything_needs_no_star_above_it() -> None:
    assert Intervals(intervals=(100,)).build(ages(0, 99)).rows["7"] == ("0 to 99",)
    assert Intervals(intervals=(1,)).build(ages(7, 8)).rows["7"] == ("7", "*")


AGE = Variable(name="age", kind=Kind.INTEGER, minimum=0, maximum=99)


def test_a_new_interval_begins_at_each_cut_point() -> None:
    rows = CutPoints(cuts=((20, 40, 65), (65,))).build(AGE).rows
    assert rows["19"] == ("under 20", "under 65", "*")
    assert rows["20"] == ("20 to 39", "under 65", "*")
    assert rows["65"] == ("65 and over", "65 and over", "*")


@given(st.sets(st.integers(-5, 105), min_size=1, max_size=12), st.data())
def test_values_share_a_group_where_no_cut_lies_between_them(cuts: set[int], data: st.DataObject) -> None:
    wide = data.draw(st.sets(st.sampled_from(sorted(cuts)), min_size=1))
    built = CutPoints(cuts=(tuple(sorted(cuts)), tuple(sorted(wide)))).build(AGE)
    one, other = sorted((data.draw(st.integers(0, 99)), data.draw(st.integers(0, 99))))
    for level, points in enumerate((cuts, wide), start=1):
        groups = built.at_level(level)
        apart = any(one < point <= other for point in points)
        assert (groups[str(one)] == groups[str(other)]) is not apart


def test_cut_points_beyond_the_domain_leave_one_group() -> None:
    assert set(CutPoints(cuts=((200,),)).build(AGE).rows.values()) == {("under 200",)}


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
    groups = Ranges(ranges=(written,)).build(AGE).at_level(1)
    bounds = [-1, *ends, 99]
    for value in range(100):
        same = {str(other) for other in range(100) if groups[str(other)] == groups[str(value)]}
        low, high = next((a, b) for a, b in pairwise(bounds) if a < value <= b)
        assert same == {str(other) for other in range(low + 1, high + 1)}


def test_what_is_left_is_named() -> None:
    assert Ranges(ranges=({"young": "up to 17"},), others="adult").build(AGE).rows["18"] == ("adult", "*")


def test_a_code_shorter_than_a_range_lies_in_none() -> None:
    codes = Variable(name="x", kind=Kind.NOMINAL, categories=("25", "250", "x"))
    rows = Ranges(ranges=({"endocrine": "240 to 279"},), others="rest").build(codes).rows
    assert rows == {"25": ("rest", "*"), "250": ("endocrine", "*"), "x": ("rest", "*")}
