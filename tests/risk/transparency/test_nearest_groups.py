import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Variable
from sluice.masking.microaggregation.ordered_microaggregation import UnivariateMicroaggregation
from sluice.risk.linkage.candidate_sets import microaggregation_linkage
from sluice.risk.transparency.attack import Pairs
from sluice.risk.transparency.bounds import NearestGroups

NAMES = ("a", "b", "c", "d")
VARIABLES = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in NAMES}


@pytest.mark.parametrize("statistic", ["mean", "median", "random"])
def test_the_own_group_is_never_ruled_out_and_sets_are_those_published(statistic: str) -> None:
    rng = np.random.default_rng(5)
    original = pd.DataFrame(rng.integers(0, 60, (300, 4)).astype(float), columns=list(NAMES))
    step = UnivariateMicroaggregation(columns=NAMES, k=5, representative=statistic)
    masked = step.mask(original, VARIABLES, rng)
    pairs = Pairs(original, VARIABLES, original, masked, VARIABLES, np.arange(300), rng)
    logs = NearestGroups(NAMES).likelihood(pairs)(np.arange(300))
    assert np.isfinite(logs.diagonal()).all()
    found = microaggregation_linkage(original.to_numpy(), masked.to_numpy())
    np.testing.assert_array_equal(np.isfinite(logs).sum(axis=1), found.size)
