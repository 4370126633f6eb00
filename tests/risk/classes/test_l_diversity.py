"""l-diversity as a rule."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sluice.ground.errors import DataError
from sluice.ground.rule import Background
from sluice.ground.variables import Harmless, Kind, Role, Variable
from sluice.ground.verdict import Verdict
from sluice.risk.classes.class_values import class_values, knowing_others
from sluice.risk.classes.equivalence_classes import category_codes, classes_of, equivalence_classes
from sluice.risk.classes.l_diversity import (
    DistinctNearValues,
    LDiversity,
    distinct_values,
    effective_values,
    recursive_ratio,
)
from sluice.risk.spread import spread
from tests.golden import golden
from tests.risk.classes.married_women import VARIABLES, one, typed

# Machanavajjhala et al. 2007, Figure 1: the condition of 12 inpatients, in order.
CONDITION = category_codes(
    pd.Series(
        [
            "Heart",
            "Heart",
            "Viral",
            "Viral",
            "Cancer",
            "Heart",
            "Viral",
            "Viral",
            "Cancer",
            "Cancer",
            "Cancer",
            "Cancer",
        ],
        dtype="category",
    )
)
FIGURE_2 = equivalence_classes([np.repeat([0, 1, 2], 4)])  # 4-anonymous
FIGURE_3 = equivalence_classes([np.array([0, 1, 1, 0, 2, 2, 2, 2, 0, 0, 1, 1])])  # 3-diverse


def test_the_inpatient_tables_of_the_paper() -> None:
    """Figure 2 is 4-anonymous and gives away that the third group has cancer; Figure 3 is 3-diverse."""
    assert sorted(distinct_values(class_values(FIGURE_2, CONDITION))) == [1, 2, 3]
    assert distinct_values(class_values(FIGURE_3, CONDITION)).tolist() == [3, 3, 3]
    # By hand: each group of Figure 3 holds one value twice and two once, an entropy of 1.5 bits.
    assert_allclose(effective_values(class_values(FIGURE_3, CONDITION)), 2**1.5)
    assert_allclose(sorted(effective_values(class_values(FIGURE_2, CONDITION))), [1, 2, 2**1.5])


def test_distinct_counts_of_sdcmicro_with_a_missing_key() -> None:
    """sdcMicro, tests/testthat/test_ldiversity.R, first test: 3 3 3 2 2 2 2, by record."""
    frame = pd.DataFrame(
        {
            "sex": ["female", "female", "female", "male", "male", "female", "female"],
            "occupation": [None, None, None, "teacher", "teacher", "nurse", "nurse"],
            "ethnicity": ["other"] * 5 + ["majority"] * 2,
        }
    ).astype("category")
    classes = classes_of(frame, list(frame))
    values = distinct_values(class_values(classes, np.array([1, 0, 2, 1, 0, 0, 1])))
    assert values[classes.labels].tolist() == [3, 3, 3, 2, 2, 2, 2]


codes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=25).map(np.array)


@given(codes)
def test_bounds(pairs: np.ndarray) -> None:
    classes = equivalence_classes([pairs[:, 0]])
    distinct, effective = (
        distinct_values(class_values(classes, pairs[:, 1])),
        effective_values(class_values(classes, pairs[:, 1])),
    )
    assert (effective <= distinct + 1e-9).all()
    assert (effective >= 1 - 1e-9).all()
    assert (distinct <= classes.sizes).all()


def test_equally_frequent_values_count_fully() -> None:
    classes = equivalence_classes([np.zeros(50, dtype=np.int64)])
    assert_allclose(effective_values(class_values(classes, np.arange(50))), [50.0])


def test_recursive_diversity_by_hand() -> None:
    """Definition 4.2: r_1 < c (r_l + ... + r_m). Counts 4, 2, 1: 4 / (2 + 1) for l = 2, 4 / 1 for l = 3."""
    classes, sensitive = equivalence_classes([np.zeros(7, dtype=np.int64)]), np.array([2, 2, 2, 2, 0, 0, 1])
    assert_allclose(recursive_ratio(class_values(classes, sensitive), 2), [4 / 3])
    assert_allclose(recursive_ratio(class_values(classes, sensitive), 3), [4])
    assert recursive_ratio(class_values(classes, sensitive), 4).tolist() == [np.inf]  # three values only
    # A tool that sorts the counts rising divides the rarest by the most frequent, 1 / (2 + 4), and calls it safe.
    assert recursive_ratio(class_values(FIGURE_2, CONDITION), 2).max() == np.inf
    assert_allclose(recursive_ratio(class_values(FIGURE_3, CONDITION), 2), 1)  # one value twice, two once


@given(codes, st.integers(2, 5))
def test_recursive_ratio_agrees_with_sorted_counts(pairs: np.ndarray, l: int) -> None:  # noqa: E741
    classes = equivalence_classes([pairs[:, 0]])
    ratios = recursive_ratio(class_values(classes, pairs[:, 1]), l)
    for label in range(len(classes.sizes)):
        counts = sorted(np.bincount(pairs[classes.labels == label, 1]), reverse=True)
        rest = sum(counts[l - 1 :])
        assert ratios[label] == pytest.approx(counts[0] / rest if rest else np.inf)


def test_adult_with_education_known_as_pycanon_measures_it(reference_data: Path) -> None:
    """pycanon 1.3.6 on ARX's adult.csv, occupation by sex and race, `gen=False`: l 1."""
    frame = pd.read_csv(reference_data / "adult" / "arx" / "adult.csv.gz", sep=";").astype("category")
    known = knowing_others(classes_of(frame, ["sex", "race"]), [category_codes(frame["education"])])
    assert distinct_values(class_values(known, category_codes(frame["occupation"]))).min() == 1


def test_two_variables_can_be_diverse_alone_and_not_together() -> None:
    """Whoever learns one of the two of a person knows the other."""
    classes, one = equivalence_classes([np.zeros(4, dtype=np.int64)]), np.array([0, 0, 1, 1])
    other = one + 3
    assert distinct_values(class_values(classes, one)).tolist() == [2]
    assert distinct_values(class_values(knowing_others(classes, [other]), one)).tolist() == [1, 1]


def test_l_below_two_is_refused() -> None:
    golden.refused(DataError, recursive_ratio, class_values(FIGURE_2, CONDITION), 1)


def test_l_diversity_judges_every_sensitive_variable() -> None:
    illness, salary = LDiversity(l=2).find(typed([30] * 3, ["flu"] * 3), VARIABLES, "masked")
    assert (illness.scope, illness.verdict, illness.observed) == ("illness by age, years_married", Verdict.FAIL, 1)
    golden(illness.says)
    assert (salary.verdict, salary.observed) == (Verdict.PASS, 3)  # a continuous variable: its distinct values
    golden(salary.says)


def test_index_labels_are_not_positions() -> None:
    """A tool that used labels as positions reported 2 here: a group of one illness beside a mixed one."""
    frame = typed([30, 30, 41, 41], ["flu", "flu", "cold", "flu"], index=[3, 2, 1, 0])
    assert one(LDiversity(l=2, columns=("illness",)), frame).observed == 1


def test_entropy_l_diversity_is_met_exactly_by_equal_frequencies() -> None:
    entropy = LDiversity(variant="entropy", l=3, columns=("illness",))
    assert one(entropy, typed([30] * 3, ["a", "b", "c"])).verdict is Verdict.PASS
    finding = one(entropy, typed([30] * 4, ["a", "b", "c", "c"]))
    assert finding.verdict is Verdict.FAIL
    assert finding.observed == pytest.approx(2**1.5)
    golden.words(finding.says)


def test_recursive_l_diversity_bounds_the_most_frequent_value() -> None:
    frame = typed([30] * 7, ["a"] * 4 + ["b"] * 2 + ["c"])  # 4 against 2 + 1
    recursive = LDiversity(variant="recursive", l=2, c=1.5, columns=("illness",))
    assert one(recursive, frame).verdict is Verdict.PASS
    finding = one(recursive.model_copy(update={"c": 4 / 3}), frame)  # met exactly is not met: less than c times
    assert (finding.verdict, finding.observed) == (Verdict.FAIL, pytest.approx(4 / 3))
    golden(finding.says)
    none = one(recursive, typed([30] * 3, ["a"] * 3))
    assert (none.verdict, none.observed) == (Verdict.FAIL, None)
    assert recursive.describe().endswith("(recursive l-diversity).")


def test_other_sensitive_values_count_as_known_when_the_policy_says_so() -> None:
    """Two illnesses among four people, but the salary tells which."""
    frame = typed([30] * 4, ["flu", "flu", "cold", "cold"]).assign(salary=[1.0, 1.0, 2.0, 2.0])
    assert [f.verdict for f in LDiversity(l=2).find(frame, VARIABLES, "masked")] == [Verdict.PASS] * 2
    illness, salary = LDiversity(l=2, others_known=True).find(frame, VARIABLES, "masked")
    assert (illness.verdict, salary.verdict) == (Verdict.FAIL, Verdict.FAIL)
    assert illness.scope == "illness by age, years_married, salary"
    assert "their other sensitive values" in LDiversity(l=2, others_known=True).describe()


@pytest.mark.parametrize("others_known", [False, True])
def test_two_records_of_one_person_are_no_two_people(others_known: bool) -> None:
    """Whoever is alone in a class has both illnesses, and they are known, whatever else the intruder knows."""
    frame = typed([30] * 2, ["flu", "cold"]).assign(salary=[1.0, 1.0], whose=[7, 7])
    variables = VARIABLES | {"whose": Variable(name="whose", kind=Kind.INTEGER, role=Role.PERSON)}
    illness = LDiversity(l=2, columns=("illness", "salary"), others_known=others_known).find(
        frame, variables, "masked"
    )[0]
    assert (illness.verdict, illness.observed) == (Verdict.FAIL, 1)


def test_what_masking_did_to_the_sensitive_variable_hides_nobody_of_a_group_that_is_all_alike() -> None:
    """A hair of noise made every salary different; the original ones of the released group are one."""
    before = typed([30] * 12 + [41] * 12).assign(salary=[2.0] * 12 + [float(i) for i in range(12)])
    noise = np.random.default_rng(1).normal(0, 3, 24)
    after = before.assign(salary=before["salary"] + noise)
    rule = LDiversity(l=2, columns=("salary",))
    assert one(rule, after).verdict is Verdict.PASS
    found = one(rule, after, background=Background(before))
    assert (found.verdict, found.observed) == (Verdict.FAIL, 1)
    golden(found.says)
    assert "age" not in one(rule, after, background=Background(before, minimum_cell=13)).says.split(". ", 1)[1]
    coarse = before.assign(salary=5.0)  # coarsened: the original ones differ, and nobody sees that they do
    found = one(rule, coarse, background=Background(before.assign(salary=np.arange(24.0))))
    assert found.verdict is Verdict.FAIL
    golden(found.says)


def test_near_numbers_are_one_value_wherever_they_lie() -> None:
    spread = [float(i) for i in range(0, 100, 5)]
    ages: list[int | None] = [30] * 8 + [41] * 20
    near = typed(ages).assign(salary=[49.95 + 0.01 * i for i in range(8)] + spread)  # across any border of a grid
    rule = LDiversity(l=2, columns=("salary",), near=0.01)
    assert one(rule, near).verdict is Verdict.FAIL
    assert one(rule.model_copy(update={"near": 0.0}), near).observed == 8
    chain = typed(ages).assign(salary=[5.0 * i for i in range(8)] + spread)  # each near the next, but not the last
    assert one(rule.model_copy(update={"near": 0.5}), chain).verdict is Verdict.PASS


def test_a_blank_is_no_value() -> None:
    """230 say yes, nobody no, 2 nothing: everybody's yes is known."""
    rule = LDiversity(l=2, columns=("illness",))
    frame = typed([30] * 232 + [41] * 2, ["flu"] * 230 + [None] * 2 + ["flu", "cold"])
    found = one(rule, frame)
    assert (found.verdict, found.observed) == (Verdict.FAIL, 1)
    silent = one(rule, typed([30] * 2 + [41] * 2, [None, None, "flu", "cold"]))
    assert silent.verdict is Verdict.REVIEW
    golden(silent.says)
    assert one(rule, typed([30] * 2, [None, None])).verdict is Verdict.UNKNOWN


def test_what_the_contract_calls_harmless_may_be_known() -> None:
    harmless = Harmless(values=("cold",), missing=True, why="everybody has had one")
    variables = VARIABLES | {"illness": VARIABLES["illness"].model_copy(update={"harmless": harmless})}
    rule = LDiversity(l=2, columns=("illness",))
    frame = typed([30] * 2 + [41] * 2 + [50] * 2, ["cold", "cold", "flu", "cold", None, None])
    (found,) = rule.find(frame, variables, "masked")
    assert (found.verdict, found.observed) == (Verdict.PASS, 2)
    golden(found.says)
    (ill,) = rule.find(frame.assign(illness=frame["illness"].where(frame["age"] != 41, "flu")), variables, "masked")
    assert ill.verdict is Verdict.FAIL
    (all_harmless,) = rule.find(
        frame.assign(illness=frame["illness"].where(frame["age"] == 30, "cold")), variables, "x"
    )
    assert (all_harmless.verdict, all_harmless.observed) == (Verdict.PASS, 1)


def test_the_values_of_one_person_are_not_those_of_several() -> None:
    """Two patients who both had flu and a cold: two values, and each is known of both."""
    person = Variable(name="patient", kind=Kind.TEXT, role=Role.PERSON)
    stays = typed([30] * 4, ["flu", "cold"] * 2).assign(patient=["a", "a", "b", "b"])
    for rule in (LDiversity(l=2), LDiversity(l=1.5, variant="entropy"), LDiversity(l=2, c=3, variant="recursive")):
        named = rule.model_copy(update={"columns": ("illness",)})
        (found,) = named.find(stays, VARIABLES | {"patient": person}, "masked")
        assert found.verdict is Verdict.FAIL
        assert one(named, stays).verdict is Verdict.PASS


def test_near_numbers_are_counted_by_the_fewest_spans_that_hold_a_class() -> None:
    """By hand: of 0, 4, 9 and 20 those within 5 are one value. The rule's densest span may need one more."""
    numbers = pd.Series([0.0, 4.0, 9.0, 20.0, 4.0, 9.0, 20.0, 20.0])
    classes = equivalence_classes([np.array([0, 0, 0, 0, 1, 1, 2, 2])])
    found = class_values(classes, category_codes(numbers))
    share = 5 / spread(numbers.to_numpy())
    model = DistinctNearValues("pay", 2, share)
    golden.refused(DataError, model.figures, found)
    of_two, of_three = (DistinctNearValues("pay", least, share).of_column(numbers) for least in (2, 3))
    assert of_two.figures(found).tolist() == [2, 1, 1]
    assert of_two.broken(found).tolist() == [False, True, True]
    assert of_three.figures(found).tolist() == [3, 1, 1]
