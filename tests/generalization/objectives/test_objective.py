"""Every objective is what its records add up to, and its bounds are below whatever lies above."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.generalization.cost_benefit import CostBenefit, PublisherPayout
from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node import Node, Population, bottom
from sluice.generalization.lattice.node_suppression import Requirements, suppression
from sluice.generalization.lattice.search import search
from sluice.generalization.objectives.class_losses import (
    Ambiguity,
    AverageClassSize,
    Classification,
    Discernibility,
    KLDivergence,
)
from sluice.generalization.objectives.key_losses import Height, Loss, NonUniformEntropy, Precision
from sluice.generalization.objectives.objective import Objective
from sluice.ground.errors import DataError, InfeasibleError
from sluice.risk.classes.k_anonymity import KAnonymityModel
from tests.generalization.objectives.record_losses import loss
from tests.generalization.small_files import above, small_files
from tests.golden import golden

AGGREGATES = st.sampled_from(["sum", "mean", "maximum", "geometric", "rank"])
OBJECTIVES = st.one_of(
    st.builds(Precision, AGGREGATES),
    st.builds(Classification, st.sampled_from(["a", "b"])),
    st.sampled_from([Ambiguity(), AverageClassSize(), Height(), KLDivergence()]),
    st.builds(
        PublisherPayout,
        st.builds(CostBenefit, *[st.sampled_from([0.0, 1.0, 5.0, 30.0])] * 4),
        st.sampled_from(["prosecutor", "journalist"]),
    ),
)
WITH_OTHERS = OBJECTIVES | st.builds(Loss, AGGREGATES) | st.sampled_from([Discernibility(), NonUniformEntropy()])


@given(small_files(), OBJECTIVES)
def test_the_loss_is_that_of_the_records(file, objective):
    value = objective.of(file.bottom).value(file.node, file.hidden_classes)
    assert value == pytest.approx(loss(objective, file), abs=1e-9)


@given(small_files(), WITH_OTHERS, st.data())
def test_nothing_above_loses_less_than_the_bounds_say(file, objective, data):
    measure = objective.of(file.bottom)
    higher = above(data, file)
    highest = above(data, higher)
    # Suppressed in the highest node, and so in all below it: what they lose there is the least that they lose.
    certain = measure.extra(highest.node, highest.hidden_classes)
    between = replace(higher, hidden=higher.hidden | highest.hidden)
    between = replace(between, hidden=between.hidden_classes[between.classes])
    value = measure.value(between.node, between.hidden_classes)
    node = file.node if measure.by_classes else None
    assert measure.least(file.levels, node, measure.nothing) <= value + 1e-9
    assert measure.least(file.levels, node, certain) <= value + 1e-9
    with_more = measure.extra(between.node, between.hidden_classes)
    assert all(least <= more + 1e-9 for least, more in zip(certain, with_more, strict=True))
    lost = np.bincount(highest.classes[between.hidden], minlength=len(highest.node.sizes))  # of classes, also in part
    in_part = measure.extra_at_least(highest.node, lost)
    assert all(least <= more + 1e-9 for least, more in zip(in_part, with_more, strict=True))


@given(small_files(), OBJECTIVES, st.integers(1, 4), st.sampled_from([0.0, 0.3]))
def test_the_search_finds_the_transformation_that_loses_least(file, objective, k, limit):
    requirements = Requirements.of([KAnonymityModel(k)], file.n, limit, "released")
    losses = []
    for levels in product(*(range(key.depth + 1) for key in file.keys)):
        at = replace(file, levels=levels)
        needed = suppression(at.node, requirements)
        if needed.feasible:
            losses.append(loss(objective, replace(at, hidden=needed.hidden[at.classes])))
    arguments = {"sensitive": file.sensitive, "population": Population(tuple(file.people)), "suppression_limit": limit}
    if not losses:
        with pytest.raises(InfeasibleError):
            search(file.keys, file.codes, [KAnonymityModel(k)], objective, **arguments)
        return
    found = search(file.keys, file.codes, [KAnonymityModel(k)], objective, **arguments)
    assert found.value == pytest.approx(min(losses), abs=1e-9)
    assert found.optimal


REGION = Key("region", np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]))
AREA = Key("area", np.array([[0, 1, 2, 3], [0, 0, 0, 1], [0, 0, 0, 0]]))
HALF = Key("half", np.array([[0, 1], [0, 0]]))
SEX = Key("sex", np.array([[0, 1, 2], [0, 0, 1]]), missing=2)
# Sweeney (2002): race, of height 2, and ZIP code, of height 3; its tables have no suppressed record.
RACE = Key("race", np.array([[0, 1], [0, 0], [0, 0]]))
ZIP = Key("zip", np.array([[0, 1, 2], [0, 1, 1], [0, 0, 0], [0, 0, 0]]))
SWEENEY = ([RACE, ZIP], [[0, 0, 1, 1], [0, 1, 2, 2]])
TWO_KEYS = ([AREA, HALF], [[0, 1, 3], [0, 0, 1]])
ILL = Classification("illness")
FEW_PAY = PublisherPayout(CostBenefit(benefit=100, penalty=60, gain=60, cost=20))
NONE_PAYS = PublisherPayout(CostBenefit(benefit=100, penalty=300, gain=300, cost=100))
EVERYBODY = range(4)
ENTROPY = -(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25))

# Keys and codes, levels, the groups of the first key that are suppressed, and what is lost.
WORKED: list[tuple[Objective, list[Key], list[list[int]], tuple[int, ...], Sequence[int], float]] = [
    # Two records of three areas and two halves, one of one area and two halves.
    (Ambiguity(), *TWO_KEYS, (1, 1), [], (6 + 6 + 2) / 3),
    (Ambiguity(), *TWO_KEYS, (1, 1), [1], (6 + 6 + 8) / 3),
    (Ambiguity(), *TWO_KEYS, (0, 0), [], 1),
    (Ambiguity(), *TWO_KEYS, (2, 1), [], 8),
    (Ambiguity(), *TWO_KEYS, (0, 0), EVERYBODY, 8),
    (AverageClassSize(), [SEX], [[0, 0, 1, 1]], (0,), [], 2),
    (AverageClassSize(), [SEX], [[0, 0, 1, 1]], (0,), [1], 2),  # the suppressed are a class
    (AverageClassSize(), [SEX], [[0, 0, 1, 2]], (0,), [1], 2),  # with the one that showed nothing anyway
    (AverageClassSize(), [SEX], [[0, 0, 1, 2]], (0,), EVERYBODY, 4),
    (Height(), *SWEENEY, (1, 2), [], 3),
    (Height(), [RACE, replace(ZIP, weight=3.0)], SWEENEY[1], (1, 2), [], 7),
    # Shares of 3/4 and 1/4, of which a reader must assume 1/2 each, and then 1/4 each.
    (KLDivergence(), [REGION], [[0, 0, 0, 1]], (1,), [], 1 - ENTROPY),
    (KLDivergence(), [REGION], [[0, 0, 0, 1]], (2,), [], 2 - ENTROPY),
    (KLDivergence(), [REGION], [[0, 0, 0, 1]], (0,), EVERYBODY, 2 - ENTROPY),
    (KLDivergence(), [REGION], [[0, 0, 3, 1]], (0,), [], 0),
    (KLDivergence(), [REGION], [[0, 1, 2, 3]], (2,), [], 0),  # an even file loses nothing
    *((Precision(), *SWEENEY, at, [], lost) for at, lost in
      (((1, 0), 1 / 4), ((1, 1), 5 / 12), ((0, 2), 1 / 3), ((0, 1), 1 / 6))),  # published: .75, .58, .67, .83 are kept
    (Precision(), [SEX], [[0, 2]], (1,), [], 0.5),  # a missing value loses nothing
    (Precision(), [SEX], [[0, 2]], (1,), EVERYBODY, 1),  # until it is suppressed
    # 60 for one of one and 60 for one of two pay 20, the attack; of three nobody attacks any.
    (FEW_PAY, [REGION], [[0, 1, 2, 2, 3]], (0,), [], 3 * 60 + 2 * 30),
    (FEW_PAY, [REGION], [[0, 1, 2, 2, 3]], (1,), [], 5 * 50 + 2 * 30),  # half the information is left: log 2 of log 4
    (FEW_PAY, [REGION], [[0, 1, 2, 2, 3]], (0,), EVERYBODY, 500),
    (NONE_PAYS, [REGION], [[0, 1, 2, 2, 3]], (0,), [], 1200),
    (NONE_PAYS, [REGION], [[0, 1, 2, 2, 3]], (1,), [], 250 + 2 * 150),
    (NONE_PAYS, [REGION], [[0, 1, 2, 2, 3]], (2,), [], 500),
]  # fmt: skip


def lost(objective: Objective, node: Node, levels: tuple[int, ...], gone: Sequence[int]) -> float:
    at, _ = node.at(levels)
    return objective.of(node).value(at, np.isin(at.shown(0), gone))


@pytest.mark.parametrize(("objective", "keys", "codes", "levels", "gone", "expected"), WORKED)
def test_worked_examples(objective, keys, codes, levels, gone, expected):
    node, _ = bottom(keys, [np.array(leaf) for leaf in codes], {})
    assert lost(objective, node, levels, gone) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("illness", "levels", "gone", "share"),
    [
        ([0, 0, 1, 1, 1], (0,), [], 1 / 5),  # one of the first half
        ([0, 0, 1, 1, 1], (1,), [], 2 / 5),
        ([0, 0, 1, 1, 1], (0,), [1], 3 / 5),
        ([0, 0, 1, -1, -1], (0,), [], 1 / 3),  # blanks are left out
        ([0, 0, 1, -1, -1], (0,), EVERYBODY, 1),
        ([-1] * 5, (0,), [], 0),
        ([-1] * 5, (0,), EVERYBODY, 0),
    ],
)
def test_a_record_that_is_not_of_the_most_in_its_class_is_classified_wrongly(illness, levels, gone, share):
    node, _ = bottom([HALF], [np.array([0, 0, 0, 1, 1])], {"illness": np.array(illness)})
    assert lost(ILL, node, levels, gone) == pytest.approx(share)
    with golden.raises(DataError):
        Classification("income").of(node)


def test_people_without_a_record_are_no_class():
    node, _ = bottom([SEX], [np.array([0, 0])], {}, Population((np.array([0, 0, 1]),)))
    assert lost(AverageClassSize(), node, (0,), []) == 2


def test_a_journalist_needs_a_population():
    payout = PublisherPayout(CostBenefit(1, 1, 1, 1), "journalist")
    with golden.raises(DataError):
        search([REGION], [np.array([0, 1, 2, 2, 3])], [KAnonymityModel(1)], payout)
