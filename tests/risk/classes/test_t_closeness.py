"""t-closeness as a rule."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance

from sluice.ground.arrays import FloatArray
from sluice.ground.errors import DataError
from sluice.ground.hierarchy import Hierarchy, taxonomy_of
from sluice.ground.verdict import Verdict
from sluice.risk.classes.class_values import class_values
from sluice.risk.classes.equivalence_classes import EquivalenceClasses, category_codes, equivalence_classes
from sluice.risk.classes.t_closeness import (
    TCloseness,
    equal_distance,
    hierarchical_distance,
    hierarchy_levels,
    ordered_distance,
)
from tests.golden import golden
from tests.risk.classes.married_women import VARIABLES, one, typed

# Li, Li and Venkatasubramanian 2007, Table 3: salaries of nine people in thousands, by record.
SALARY = category_codes(pd.Series([3, 4, 5, 6, 11, 8, 7, 9, 10], dtype="Int64"))


def test_the_salaries_of_the_paper() -> None:
    """Section 4.2: D[{3k,4k,5k}, Q] = 0.375 and D[{6k,8k,11k}, Q] = 0.167."""
    classes = equivalence_classes([np.repeat([0, 1, 2], 3)])
    distances = ordered_distance(class_values(classes, SALARY))
    assert distances[0] == pytest.approx(0.375)
    assert distances[1] == pytest.approx(0.167, abs=5e-4)


def test_the_regrouped_salaries_of_the_paper() -> None:
    """Table 5 "has 0.167-closeness w.r.t. Salary"."""
    classes = equivalence_classes([np.array([0, 1, 0, 2, 2, 2, 1, 0, 1])])
    assert ordered_distance(class_values(classes, SALARY)).max() == pytest.approx(0.167, abs=5e-4)


codes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), min_size=2, max_size=25).map(np.array)


@given(codes)
def test_agrees_with_scipys_wasserstein_distance_and_with_half_the_l1_norm(pairs: np.ndarray) -> None:
    classes, sensitive = equivalence_classes([pairs[:, 0]]), pairs[:, 1]
    occurs, rank = np.unique(sensitive, return_inverse=True)
    whole = np.bincount(rank) / len(rank)
    ordered, equal = (
        ordered_distance(class_values(classes, sensitive)),
        equal_distance(class_values(classes, sensitive)),
    )
    for label in range(len(classes.sizes)):
        inside = rank[classes.labels == label]
        expected = wasserstein_distance(inside, rank) / max(len(occurs) - 1, 1)
        assert ordered[label] == pytest.approx(expected, abs=1e-12)
        share = np.bincount(inside, minlength=len(occurs)) / len(inside)
        assert equal[label] == pytest.approx(np.abs(share - whole).sum() / 2, abs=1e-12)
    assert (ordered <= equal + 1e-12).all()  # no step is longer than 1


def test_extremes() -> None:
    two = class_values(equivalence_classes([np.array([0, 0, 1, 1])]), np.array([0, 0, 9, 9]))
    for distance in (equal_distance, ordered_distance):
        assert distance(two).tolist() == [0.5, 0.5]  # two values, each in a class of its own


def test_a_missing_value_stands_last_in_the_order() -> None:
    column = pd.Series([1.0, 2.0, np.nan, np.nan])
    classes = equivalence_classes([np.array([0, 1, 2, 2])])
    # By hand, three values (1, 2, missing), Q = (1/4, 1/2, 1): the class of 1 has gaps 3/4, 1/2, 0.
    assert_allclose(ordered_distance(class_values(classes, category_codes(column))), [0.625, 0.375, 0.375])


# Li et al. 2007, Figure 1: the hierarchy of the diseases.
DISEASES = Hierarchy(
    rows={
        disease: (group, system, "respiratory and digestive system diseases")
        for system, held in {
            "respiratory system": {
                "respiratory infection": ("flu", "pneumonia", "bronchitis"),
                "vascular lung disease": ("pulmonary edema", "pulmonary embolism"),
            },
            "digestive system": {
                "stomach disease": ("gastric ulcer", "stomach cancer", "gastritis"),
                "colon disease": ("colitis", "colon cancer"),
            },
        }.items()
        for group, diseases in held.items()
        for disease in diseases
    }
)
# Its Table 5, three groups of three. The paper says "0.278-closeness w.r.t. Disease"; with nine people, three in a
# group and a tree of height 3 every distance is an even number of 54ths, so that 0.278 = 15/54 cannot be.
GROUPED = (
    ["gastric ulcer", "stomach cancer", "pneumonia"],
    ["gastritis", "flu", "bronchitis"],
    ["gastritis", "bronchitis", "stomach cancer"],
)


def transported(inside: pd.Series, whole: pd.Series) -> float:
    """The earth mover's distance as the linear program that it is, with the distances of the tree."""
    values = sorted(set(whole))
    tree = taxonomy_of(values, DISEASES)
    m = len(values)
    cost = [tree.distance(one, other) for one in range(m) for other in range(m)]
    from_to = np.vstack([np.kron(np.eye(m), np.ones(m)), np.kron(np.ones(m), np.eye(m))])
    shares = [(side == value).mean() for side in (inside, whole) for value in values]
    return float(linprog(cost, A_eq=from_to, b_eq=shares).fun)


def in_tree(classes: EquivalenceClasses, column: "pd.Series[str]", tree: Hierarchy) -> FloatArray:
    codes, names = pd.factorize(column, sort=True)
    return hierarchical_distance(class_values(classes, codes), hierarchy_levels(list(names), tree, "disease"))


def test_distances_in_the_hierarchy_of_the_paper() -> None:
    """Section 4.4: Flu and Bronchitis are 1/3 apart, Flu and Pulmonary embolism 2/3, Flu and Stomach cancer 3/3."""
    for other, apart in (("bronchitis", 1 / 3), ("pulmonary embolism", 2 / 3), ("stomach cancer", 1)):
        # A colitis in a class of its own keeps the root where the paper has it; it is 3/3 from a flu.
        column = pd.Series(["flu", other, "colitis"])
        of_flu, *_ = in_tree(equivalence_classes([np.array([0, 1, 2])]), column, DISEASES)
        assert_allclose(of_flu, (apart + 1) / 3)  # a third of the file is already there


def test_the_regrouped_diseases_agree_with_a_linear_program() -> None:
    column = pd.Series([disease for group in GROUPED for disease in group])
    distances = in_tree(equivalence_classes([np.repeat([0, 1, 2], 3)]), column, DISEASES)
    assert_allclose(distances, [transported(pd.Series(group), column) for group in GROUPED])
    assert_allclose(distances * 54, [14, 16, 10])


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(sorted(DISEASES.rows))), min_size=1, max_size=8))
def test_the_hierarchical_distance_is_the_earth_movers(people: list[tuple[int, str]]) -> None:
    classes = equivalence_classes([np.array([group for group, _ in people])])
    column = pd.Series([disease for _, disease in people])
    distances = in_tree(classes, column, DISEASES)
    for label, distance in enumerate(distances):
        assert distance == pytest.approx(transported(column[classes.labels == label], column), abs=1e-9)
    assert (distances <= equal_distance(class_values(classes, category_codes(column))) + 1e-12).all()


def test_a_flat_tree_is_the_equal_distance_and_one_value_is_no_distance() -> None:
    classes = equivalence_classes([np.array([0, 0, 1, 1])])
    flat = Hierarchy(rows=dict.fromkeys("abc", ("*",)))
    letters = pd.Series(list("abca"))
    assert_allclose(in_tree(classes, letters, flat), equal_distance(class_values(classes, category_codes(letters))))
    assert in_tree(equivalence_classes([np.array([0])]), pd.Series(["flu"]), DISEASES).tolist() == [0]


def test_categories_that_nobody_has_change_no_distance() -> None:
    column = pd.Series(["flu", "flu", "bronchitis", "flu"])
    classes = equivalence_classes([np.array([0, 0, 1, 1])])
    codes = np.array([sorted(DISEASES.rows).index(each) for each in column])
    levels = hierarchy_levels(sorted(DISEASES.rows), DISEASES, "disease")
    assert_allclose(hierarchical_distance(class_values(classes, codes), levels), in_tree(classes, column, DISEASES))


def test_a_hierarchy_that_lacks_a_value_is_refused() -> None:
    golden.refused(DataError, hierarchy_levels, ["flu", "gout"], DISEASES, "illness")
    found = class_values(equivalence_classes([np.array([0])]), np.array([0]))
    golden.refused(DataError, hierarchical_distance, found, np.zeros((0, 1), dtype=np.int64))


def test_t_closeness_takes_the_ground_distance_of_the_kind() -> None:
    """Salaries of the paper (Li et al. 2007, section 4.2): 0.375 in their order; 2/3 when all are equally far."""
    frame = typed([1, 1, 1, 2, 2, 2, 3, 3, 3]).assign(salary=[3.0, 4, 5, 6, 11, 8, 7, 9, 10])
    assert one(TCloseness(t=0.375, columns=("salary",)), frame).verdict is Verdict.PASS  # met exactly
    ordered = one(TCloseness(t=0.3, columns=("salary",)), frame)
    assert ordered.verdict is Verdict.FAIL
    assert ordered.observed == pytest.approx(0.375)
    golden(ordered.says)
    assert one(TCloseness(t=0.3, ground_distance="equal", columns=("salary",)), frame).observed == pytest.approx(2 / 3)


def test_a_suppressed_record_still_counts_for_t() -> None:
    """A tool that left out the records with suppressed keys, but kept their sensitive value, reported too small a t."""
    frame = typed([1, 1, None, None], ["flu", "cold", "flu", "flu"])
    finding = one(TCloseness(t=0.2, columns=("illness",)), frame)
    # By hand: the file has 3/4 flu; the group of age 1 has 1/2 and the suppressed one all flu: both 1/4 away.
    assert (finding.verdict, finding.observed) == (Verdict.FAIL, pytest.approx(0.25))


def test_an_order_is_refused_where_there_is_none() -> None:
    golden.refused(DataError, TCloseness(t=0.2, ground_distance="ordered").find, typed([1, 2]), VARIABLES, "masked")


def test_the_hierarchical_distance_takes_the_hierarchy_of_the_contract() -> None:
    rows = {"flu": ("lungs", "all"), "cold": ("lungs", "all"), "ulcer": ("stomach", "all")}
    variables = VARIABLES | {"illness": VARIABLES["illness"].model_copy(update={"hierarchy": Hierarchy(rows=rows)})}
    frame = typed([1, 1, 2, 2], ["flu", "flu", "cold", "ulcer"])
    rule = TCloseness(t=0.4, ground_distance="hierarchical", columns=("illness",))
    (finding,) = rule.find(frame, variables, "masked")
    # By hand: 1/2 between the illnesses, 1/4 between lungs and stomach; the mean of both levels.
    assert (finding.verdict, finding.observed) == (Verdict.PASS, pytest.approx(0.375))
    assert one(TCloseness(t=0.4, columns=("illness",)), frame).verdict is Verdict.FAIL
    golden.refused(DataError, one, rule, frame)


def test_values_in_an_order_may_have_a_limit_of_their_own() -> None:
    """All of a group among the lowest pays, each another: half the scale is the most that an order can tell."""
    frame = typed([1, 1, 1, 2, 2, 2, 3, 3, 3], ["flu", "cold", "gout"] * 3)
    rule = TCloseness(t=0.6, t_ordered=0.3)
    illness, salary = rule.find(frame, VARIABLES, "masked")
    assert (illness.verdict, illness.limit) == (Verdict.PASS, 0.6)
    assert (salary.verdict, salary.limit, salary.observed) == (Verdict.FAIL, 0.3, pytest.approx(0.375))
    golden(salary.says)
    golden(rule.describe())
    equal = TCloseness(t=0.7, t_ordered=0.3, ground_distance="equal", columns=("salary",))
    assert (one(equal, frame).verdict, one(equal, frame).limit) == (Verdict.PASS, 0.7)


def test_blanks_do_not_count() -> None:
    frame = typed([1, 1, 1, 2, 2], ["flu", None, None, "flu", "cold"])
    # By hand: of those with an illness 2/3 have the flu, all of age 1 and half of age 2.
    assert one(TCloseness(t=0.5, columns=("illness",)), frame).observed == pytest.approx(1 / 3)
