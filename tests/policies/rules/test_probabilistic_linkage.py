"""Probabilistic record linkage as a rule."""

import numpy as np

from policies.rules.linkage_rules import ProbabilisticLinkage
from tests.golden import golden
from tests.policies.rules.linked_people import ORIGINAL, attacked, find


def test_numbers_agree_up_to_the_tolerance() -> None:
    moved = ORIGINAL.assign(weight=ORIGINAL["weight"] + 0.1 * np.std(ORIGINAL["weight"]))
    agreeing = find(ProbabilisticLinkage(limit=0.5, columns=("weight",)), attacked(ORIGINAL, moved, minimum_cell=1))
    strict = find(
        ProbabilisticLinkage(limit=0.5, columns=("weight",), tolerances=(0,)), attacked(ORIGINAL, moved, minimum_cell=1)
    )
    assert agreeing.observed > 3 * strict.observed  # without tolerance no two weights agree
    golden.words(agreeing.says)


def test_the_tolerance_that_serves_the_intruder_best_counts() -> None:
    noise = np.random.default_rng(1).normal(0, 0.5, (600, 2))
    moved = ORIGINAL.assign(
        weight=ORIGINAL["weight"] + noise[:, 0], income=ORIGINAL["income"] * np.exp(noise[:, 1] / 50)
    )
    rule, files = (
        ProbabilisticLinkage(limit=0.5, columns=("weight", "income", "size")),
        attacked(ORIGINAL, moved, minimum_cell=1),
    )
    each = [find(rule.model_copy(update={"tolerances": (share,)}), files).observed for share in rule.tolerances]
    assert find(rule, files).observed == max(each) > 5 * min(each)
