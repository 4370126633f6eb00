"""What measures of risk refuse: nobody, files that do not belong together, shares that are none."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from sluice.ground.errors import DataError
from sluice.risk.attacks.attack_success import AttackSuccess, ControlledAttack, quantile, share_at_risk
from sluice.risk.classes.attribute_combinations import attribute_combinations
from sluice.risk.classes.class_values import Near, class_values
from sluice.risk.classes.equivalence_classes import equivalence_classes
from sluice.risk.classes.k_anonymity import k_anonymity
from sluice.risk.classes.sample_uniques import sample_uniques_share
from sluice.risk.distances.neighbours import nearest_neighbours
from sluice.risk.linkage.linkage_score import disclosure_risk
from sluice.risk.linkage.probabilistic_linkage import probabilistic_linkage
from sluice.risk.measurement import Measurement
from sluice.risk.population.attribute_risk import attribute_risk
from sluice.risk.population.delta_presence import estimated_presence, presence
from sluice.risk.population.household_risk import household_risk
from sluice.risk.population.individual_risk import estimated_population, expected_share, individual_risk
from sluice.risk.population.loglinear_risk import loglinear_risk
from sluice.risk.population.population_uniques import population_uniques
from sluice.risk.population.reidentification_risk import journalist_risk, prosecutor_risk
from sluice.risk.reference.prediction import prediction
from tests.golden import golden

Refusal = tuple[str, Callable[[], object]]
REFUSED: list[Refusal] = [
    ("attack_success", lambda: AttackSuccess(10, 0, 0).share),
    ("attack_success", lambda: ControlledAttack(AttackSuccess(10, 0, 0), AttackSuccess(10, 10, 0), 0.0).risk()),
    ("attribute_combinations", lambda: attribute_combinations([np.array([0])], 1, 1)),
    ("attribute_combinations", lambda: attribute_combinations([np.array([0])], 0, 2)),
    ("attribute_combinations", lambda: attribute_combinations([np.zeros(0, dtype=np.int64)], 1, 2)),
    ("attribute_combinations", lambda: attribute_combinations([], 1, 2)),
    ("class_values", lambda: class_values(equivalence_classes([np.array([0])]), Near(np.zeros(2), 1.0))),
    ("class_values", lambda: class_values(equivalence_classes([np.zeros(0, dtype=int)]), Near(np.zeros(0), 1.0))),
    ("delta_presence", lambda: presence(np.array([1, 0]), np.array([0, 3]))),
    ("delta_presence", lambda: estimated_presence(equivalence_classes([np.array([0, 0])]), np.array([1.0, 0.5]))),
    ("delta_presence", lambda: estimated_presence(equivalence_classes([np.array([0, 0])]), np.array([1.0, np.nan]))),
    ("delta_presence", lambda: estimated_presence(equivalence_classes([np.zeros(0, dtype=np.int64)]), np.zeros(0))),
    ("equivalence_classes", lambda: equivalence_classes([])),
    ("equivalence_classes", lambda: equivalence_classes([np.array([0, -1])])),
    ("equivalence_classes", lambda: equivalence_classes([np.array([0, 1]), np.array([0])])),
    ("k_anonymity", lambda: k_anonymity(np.array([], dtype=np.int64))),
    ("k_anonymity", lambda: sample_uniques_share(np.array([], dtype=np.int64))),
    ("sample_uniques", lambda: sample_uniques_share(np.array([], dtype=np.int64))),
    ("linkage_score", lambda: disclosure_risk("generic", dld=1)),
    ("linkage_score", lambda: disclosure_risk("generic", rsld=1, dld=1, pld=1, id=1)),
    ("probabilistic_linkage", lambda: probabilistic_linkage(np.ones((5, 2)), np.ones((5, 2))[:3], np.zeros(2))),
    ("probabilistic_linkage", lambda: probabilistic_linkage(np.ones((5, 2)), np.ones((5, 2)), np.array([-1.0, 0]))),
    ("probabilistic_linkage", lambda: probabilistic_linkage(np.ones((5, 17)), np.ones((5, 17)), np.zeros(17))),
    (
        "probabilistic_linkage",
        lambda: probabilistic_linkage(
            np.ones((2001, 1)), np.ones((2001, 1)), np.zeros(1), None, np.random.default_rng(0)
        ),
    ),
    ("share_at_risk", lambda: share_at_risk(np.zeros(3), of=2)),
    ("attribute_risk", lambda: attribute_risk(pd.Series([1.0, 2.0]), ["ann"])),
    ("attribute_risk", lambda: attribute_risk(pd.Series([1.0, 2.0]), ["ann", None])),
    ("household_risk", lambda: household_risk(np.zeros(2), pd.Series(["a", None]))),
    ("household_risk", lambda: household_risk(np.array([np.nan]), pd.Series(["a"]))),
    ("household_risk", lambda: household_risk(np.zeros(2), pd.Series(["a"]))),
    ("individual_risk", lambda: individual_risk(np.array([0]), np.array([1.0]))),
    ("individual_risk", lambda: individual_risk(np.array([2]), np.array([np.nan]))),
    ("individual_risk", lambda: individual_risk(np.array([2]), np.array([2.0, 3.0]))),
    ("individual_risk", lambda: estimated_population(equivalence_classes([np.array([0, 1])]), np.ones(3))),
    ("individual_risk", lambda: expected_share(np.zeros(0))),
    ("individual_risk", lambda: expected_share(np.array([0.1, np.nan]))),
    ("loglinear_risk", lambda: loglinear_risk([np.arange(200)] * 3, 0.1, "all")),
    ("loglinear_risk", lambda: loglinear_risk([np.array([0, 1])], 0.0)),
    ("loglinear_risk", lambda: loglinear_risk([np.array([0, 1])], 1.5)),
    ("loglinear_risk", lambda: loglinear_risk([np.array([0, 1])], np.nan)),
    ("loglinear_risk", lambda: loglinear_risk([np.zeros(0, int)], 0.1)),
    ("loglinear_risk", lambda: loglinear_risk([], 0.1)),
    ("population_uniques", lambda: population_uniques(np.zeros(0, int), 10)),
    ("population_uniques", lambda: population_uniques(np.array([1, 2]), 2)),
    ("population_uniques", lambda: population_uniques(np.array([1, 2]), np.nan)),
    ("population_uniques", lambda: population_uniques(np.array([0, 2]), 10)),
    ("population_uniques", lambda: population_uniques(np.ones(5, int), 100, "pitman")),
    ("population_uniques", lambda: population_uniques(np.array([1, 3]), 100, "snb")),
    ("population_uniques", lambda: population_uniques(np.repeat([1, 2, 60], [1, 20, 3]), 1000, "snb")),
    ("reidentification_risk", lambda: prosecutor_risk(np.zeros(0, int))),
    ("reidentification_risk", lambda: prosecutor_risk(np.array([0, 1]))),
    ("reidentification_risk", lambda: journalist_risk(np.array([1, 1]), np.array([1]))),
]
WRONG: list[Refusal] = [
    ("attack_success", lambda: AttackSuccess(10, 11, 5)),
    ("attack_success", lambda: quantile(95)),
    ("neighbours", lambda: nearest_neighbours(np.zeros((4, 2)), np.zeros((4, 2)), 4, own_row=np.arange(4))),
    ("prediction", lambda: prediction(np.zeros((3, 2)), np.zeros((3, 2)), k=1)),
    ("prediction", lambda: prediction(np.zeros((3, 2)), np.zeros((3, 2)), k=4)),
    ("measurement", lambda: Measurement(0, 5, 6)),
    ("measurement", lambda: Measurement(0, 5, 5, interval=(0.1, 0.2))),
    ("measurement", lambda: Measurement(0.5, 10, 10, interval=(0.6, 0.7))),
]


@pytest.mark.parametrize(("name", "measure"), REFUSED, ids=[f"{name} {at}" for at, (name, _) in enumerate(REFUSED)])
def test_what_cannot_be_measured_is_refused(name: str, measure: Callable[[], object]) -> None:
    golden.refused(DataError, measure)


@pytest.mark.parametrize(("name", "measure"), WRONG, ids=[f"{name} {at}" for at, (name, _) in enumerate(WRONG)])
def test_a_wrong_call_is_refused(name: str, measure: Callable[[], object]) -> None:
    golden.refused(ValueError, measure)
