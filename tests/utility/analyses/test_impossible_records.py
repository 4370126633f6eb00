from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.contract import load_contract
from schemas.cross_field import read_expression
from sluice.ground.errors import DataError
from sluice.ground.record_rule import RecordRule
from sluice.ground.variables import Kind, Variable
from sluice.utility.analyses.impossible_records import ImpossibleRecords, broken_rules, impossible_records, tells_of_few
from tests.golden import golden

LEVELS = ("none", "school", "degree")
VARIABLES = {
    "age": Variable(name="age", kind=Kind.INTEGER),
    "married": Variable(name="married", kind=Kind.INTEGER, nullable=True),
    "level": Variable(name="level", kind=Kind.ORDINAL, categories=LEVELS),
}
GROUPED = {**VARIABLES, "age": Variable(name="age", kind=Kind.ORDINAL, categories=("under 20", "20 to 39", "40 on"))}


def rule(expression: str, variables: Any = VARIABLES) -> RecordRule:
    read = read_expression(expression, variables)
    return RecordRule("a rule", "It holds", read.names, read.holds)


MARRIED = rule("married <= age - 16")


def frame(age: Any, married: Any, level: Any = None) -> pd.DataFrame:
    level = ["school"] * len(age) if level is None else level
    return pd.DataFrame(
        {
            "age": pd.array(age, "Int64"),
            "married": pd.array(married, "Int64"),
            "level": pd.Categorical(level, categories=LEVELS, ordered=True),
        }
    )


def grouped(original: pd.DataFrame) -> pd.DataFrame:
    labels = pd.cut(original["age"].astype(float), [0, 20, 40, 200], right=False, labels=GROUPED["age"].categories)
    return original.assign(age=labels)


def look(
    original: pd.DataFrame, masked: pd.DataFrame, rules: Any = (MARRIED,), recoded: Any = None, **given: Any
) -> ImpossibleRecords:
    recoded = original if recoded is None else recoded
    released = given.pop("released", VARIABLES)
    return impossible_records(rules, original, recoded, masked, VARIABLES, released, given.pop("paired", True))


def test_only_records_count_that_their_originals_do_not_make_impossible() -> None:
    original = frame([30, 40, 20, 50], [5, 10, 9, 3])  # the third breaks the rule already
    masked = frame([30, 17, 20, 50], [15, 10, 9, None])
    found = look(original, masked)
    outcome = found.rules[0]
    assert (outcome.before, outcome.after, outcome.newly) == (1, 3, 2)
    assert (found.share, found.attempted, found.completed) == (0.5, 1, 1)


def test_without_pairs_it_is_by_how_much_their_number_grew() -> None:
    original, masked = frame([30, 40, 20, 50], [5, 10, 9, 3]), frame([20, 50], [9, 9])
    assert look(original, masked, paired=False).rules[0].newly == 0  # a fourth of four before, one of two after
    assert look(original, frame([20, 20], [9, 9]), paired=False).newly == 2


def test_a_group_is_impossible_only_if_none_of_its_values_is_possible() -> None:
    original = frame([18, 25, 39, 60], [1, 3, 20, 30])
    masked = grouped(original).assign(married=pd.array([3, 23, 24, 45], "Int64"))
    # Of 20 to 39 the ages 25 and 39 stand behind: 23 years of marriage go with 39, and 24 with neither. Of "under 20"
    # only 18 does, which goes with 2 years at most; of "40 on" only 60, with 44.
    found = look(original, masked, recoded=grouped(original), released=GROUPED)
    assert found.newly == 3
    assert found.share == 0.75


def test_of_an_ordinal_variable_groups_are_read_as_the_original_categories_behind_them() -> None:
    ruled = rule("level != 'degree' or age >= 20")
    original = frame([18, 18, 30, 30], [0] * 4, ["none", "school", "school", "degree"])
    released = {**VARIABLES, "level": Variable(name="level", kind=Kind.ORDINAL, categories=("none", "higher"))}
    recoded = original.assign(
        level=pd.Categorical(["none", "higher", "higher", "higher"], categories=["none", "higher"], ordered=True)
    )
    swapped = recoded.assign(age=pd.array([30, 18, 18, 18], "Int64"))
    assert look(original, swapped, [ruled], recoded, released=released).newly == 0  # "higher" may be school
    certain = original.drop(index=[1, 2]).reset_index(drop=True)
    found = look(certain, swapped.iloc[[0, 3]].reset_index(drop=True), [ruled], recoded.iloc[[0, 3]], released=released)
    assert found.newly == 1  # here it is a degree


def test_two_groups_are_tried_together() -> None:
    released = {**GROUPED, "married": Variable(name="married", kind=Kind.ORDINAL, categories=("short", "long"))}

    def coarse(given: pd.DataFrame) -> pd.DataFrame:
        length = pd.Categorical(np.where(given["married"] > 15, "long", "short"), ["short", "long"], ordered=True)
        return grouped(given).assign(married=length)

    original = frame([18, 30, 36, 60], [1, 3, 20, 30])
    masked = coarse(original).assign(
        married=pd.Categorical(["long", "long", "short", "short"], ["short", "long"], ordered=True)
    )
    # 20 to 39 and long may be 36 and 20 years; under 20 and long is 18 and 20 or 30.
    found = look(original, masked, recoded=coarse(original), released=released)
    assert found.newly == 1


def test_a_rule_on_a_variable_that_left_the_file_is_broken_by_nothing() -> None:
    original = frame([30, 40], [5, 10])
    released = {name: VARIABLES[name] for name in ("married", "level")}
    found = look(original, original[["married", "level"]], released=released)
    assert (found.attempted, found.completed) == (0, 0)
    assert np.isnan(found.share)
    golden(found.rules[0].unchecked)


def test_a_group_that_nothing_explains_makes_the_share_unknown() -> None:
    original = frame([30, 40], [5, 10])
    nothing = pd.Series(pd.Categorical([None, None], GROUPED["age"].categories, ordered=True))
    found = look(original, grouped(original), recoded=original.assign(age=nothing), released=GROUPED)
    assert (found.attempted, found.completed) == (1, 0)
    assert np.isnan(found.share)
    assert "age" in found.rules[0].unchecked


def test_no_value_and_every_value() -> None:
    assert np.isnan(look(frame([], []), frame([], [])).share)
    blank = frame([None, None], [None, None])
    assert look(frame([30, 40], [5, 10]), blank).share == 0  # what is missing is unknown
    assert look(frame([30, 40], [5, 10]), frame([3, 4], [5, 10])).share == 1


def test_paired_files_of_different_lengths_are_refused() -> None:
    golden.refused(DataError, look, frame([30, 40], [5, 10]), frame([30], [5]))


records = st.lists(st.tuples(st.integers(0, 90), st.integers(0, 60) | st.none()), min_size=1, max_size=40)


@given(records, st.randoms(use_true_random=False))
def test_recoding_makes_nothing_impossible_and_order_does_not_matter(values: Any, random: Any) -> None:
    original = frame([age for age, _ in values], [married for _, married in values])
    recoded = grouped(original)
    assert look(original, recoded, recoded=recoded, released=GROUPED).share == 0
    assert look(original, original).share == 0
    masked = original.assign(age=original["age"].sample(frac=1, random_state=random.randint(0, 99)).to_numpy())
    order = random.sample(range(len(values)), len(values))
    there, elsewhere = look(original, masked), look(original.iloc[order], masked.iloc[order])
    assert there.newly == elsewhere.newly
    # The groups hide some of what single values show, and never show more.
    both = {"recoded": grouped(original), "released": GROUPED}
    assert look(original, grouped(masked), **both).rules[0].after <= look(original, masked).rules[0].after


def test_numbers_of_few_records_are_not_shown_nor_one_that_follows_from_them() -> None:
    original = frame([30] * 100, [5] * 100)
    masked = frame([30] * 96 + [17] * 4, [5] * 100)
    found = look(original, masked)
    assert tells_of_few(found, 10)
    shown = broken_rules(found, 10).rules[0]
    assert (shown.before, shown.after, shown.newly) == (None, None, None)
    many = look(original, frame([30] * 80 + [17] * 20, [5] * 100))
    assert not tells_of_few(many, 10)
    shown = broken_rules(many, 10).rules[0]
    assert (shown.before, shown.after, shown.newly) == (0, 0.2, 0.2)
    # Twelve before and fifteen after, twelve of them new: three still break it, which the difference would tell.
    before = frame([17] * 12 + [30] * 88, [5] * 100)
    after = frame([30] * 9 + [17] * 15 + [30] * 76, [5] * 100)
    assert broken_rules(look(before, after), 10).rules[0].newly is None


def test_swapped_blood_pressures_of_nhanes(reference_data: Path) -> None:
    """An independent count with pandas, on the rule of the shipped contract: diastolic not above systolic."""
    contract = load_contract(Path(__file__).parents[3] / "schemas" / "nhanes_3.yaml")
    columns = ["sbp", "dbp"]
    raw = pd.read_csv(reference_data / "nhanes_bioage" / "NHANES3.csv.gz", usecols=columns).dropna()
    original = raw.reset_index(drop=True)[columns]
    masked = original.assign(sbp=np.random.default_rng(3).permutation(original["sbp"]))
    variables = {name: contract.by_name[name] for name in columns}
    found = impossible_records(contract.record_rules, original, original, masked, variables, variables, True)
    newly = (masked["dbp"] > masked["sbp"]) & ~(original["dbp"] > original["sbp"])
    assert found.newly == newly.sum() > 0
    assert found.share == pytest.approx(newly.mean())
