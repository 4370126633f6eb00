"""Prediction distance, ambiguity and uncertainty as findings."""

import numpy as np

from policies.standard.prediction_curves import judge_measure
from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.verdict import Verdict
from sluice.risk.reference.prediction import Prediction
from sluice.risk.reference.reference_attack import ReferenceAttack
from tests.golden import golden
from tests.policies.standard.population_sample import NUMBERS, ORIGINAL, judge


def test_copies_within_groups_are_no_pass_for_uncertainty():
    order = ORIGINAL.sort_values(NUMBERS[0]).index.to_numpy()
    group = np.empty(2000, int)
    group[order] = np.arange(2000) // 10
    means = ORIGINAL.groupby(group)[NUMBERS].transform("mean")
    masked = ORIGINAL.assign(**{name: means[name] for name in NUMBERS}, sex="f", area="a", age=40)
    masked = masked.astype({"sex": ORIGINAL["sex"].dtype, "area": ORIGINAL["area"].dtype, "age": "Int64"})
    findings, curves = judge(ORIGINAL, masked)
    assert findings["prediction_uncertainty"].verdict is Verdict.REVIEW
    assert not findings["prediction_uncertainty"].binding
    assert "by construction" in findings["prediction_uncertainty"].says
    assert findings["prediction_ambiguity"].verdict is Verdict.PASS  # identically 1: stronger than the reference
    assert curves["ambiguity"].masked[0] == 0
    findings, _ = judge(ORIGINAL, masked, binding=("uncertainty",))
    assert findings["prediction_uncertainty"].verdict is Verdict.UNKNOWN
    assert findings["prediction_distance"].binding is False


def near_and_far(near: int, of: int = 1000) -> Prediction:
    """So many people whose figure is 0.1, all others 0.9."""
    figure = np.where(np.arange(of) < near, 0.1, 0.9)
    return Prediction(figure, figure, figure)


def sentence(released: int, reference: int, measure="distance", of: int = 1000) -> str:
    there, elsewhere = near_and_far(released, of), near_and_far(reference, of)
    found = ReferenceAttack(there, there.distance, elsewhere, np.arange(of), of, 1.0, 1.0)
    return judge_measure(ReferenceStandard(), measure, found, Verdict.PASS, 10)[0].says


def test_the_sentence_counts_the_people_who_were_counted():
    golden(sentence(497, 210))
    golden(sentence(497, 210, "ambiguity"))
    golden(sentence(497, 210, "uncertainty"))


def test_what_is_tolerated_is_said_to_be_and_of_few_people_only_a_bound():
    golden(sentence(240, 210))
    golden.words(sentence(270, 210))
    golden.words(sentence(100, 100))
    assert sentence(213, 210) == sentence(217, 210)
    golden(sentence(213, 210))
    golden(sentence(497, 3))
