"""Probabilistic record linkage as a rule."""

import numpy as np
import pytest
from pydantic import ValidationError

from policies.rules.probabilistic_linkage import ProbabilisticLinkage
from tests.policies.rules.linked_people import ORIGINAL, attacked, find


def test_numbers_agree_up_to_the_tolerance() -> None:
    moved = ORIGINAL.assign(weight=ORIGINAL["weight"] + 0.1 * np.std(ORIGINAL["weight"]))
    agreeing = find(ProbabilisticLinkage(limit=0.5, columns=("weight",)), attacked(ORIGINAL, moved))
    strict = find(ProbabilisticLinkage(limit=0.5, columns=("weight",), tolerance=0), attacked(ORIGINAL, moved))
    assert agreeing.observed > 3 * strict.observed  # without tolerance no two weights agree
    assert "weighs on which of these two records agree" in agreeing.says


def test_refusals() -> None:
    with pytest.raises(ValidationError, match="tolerance"):
        ProbabilisticLinkage(limit=0.1, tolerance=-1)
