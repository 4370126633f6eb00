import numpy as np
import pandas as pd
import pytest

from sluice.masking.microaggregation.k_member_clustering import KMemberClustering
from sluice.risk.transparency.pairs import Pairs
from sluice.risk.transparency.published_ranges import PublishedRanges
from sluice.variables import Kind, Variable

LEVELS = ("0 to 9", "10 to 19", "20 to 29", "30 to 39")
VARIABLES = {
    "amount": Variable(name="amount", kind=Kind.CONTINUOUS),
    "age": Variable(name="age", kind=Kind.ORDINAL, categories=LEVELS),
    "sex": Variable(name="sex", kind=Kind.NOMINAL, categories=("f", "m")),
}


def people(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "amount": rng.normal(0, 100, n).round(1),
            "age": pd.Categorical.from_codes(rng.integers(0, 4, n), categories=list(LEVELS), ordered=True),
            "sex": pd.Categorical.from_codes(rng.integers(0, 2, n), categories=["f", "m"]),
        }
    )


@pytest.mark.parametrize("k", [2, 5])
def test_the_own_cluster_is_found_and_no_further(k: int) -> None:
    original, rng = people(200), np.random.default_rng(0)
    step = KMemberClustering(columns=tuple(VARIABLES), k=k, representative="generalised")
    masked, released = step.mask(original, VARIABLES, rng), step.released(VARIABLES)
    pairs = Pairs(original, VARIABLES, original, masked, released, np.arange(200), rng)
    attack = PublishedRanges(tuple(VARIABLES))
    logs = attack.likelihood(pairs)(np.arange(200))
    assert np.isfinite(logs.diagonal()).all()
    identified, confident = attack.play(pairs)
    assert 0.5 / k < identified.measured.value <= 1 / k + 1e-9
    assert confident.measured.value == 0


def test_narrow_ranges_around_unusual_values_are_those_of_their_people() -> None:
    original = pd.DataFrame({"amount": [1.0, 2.0, 3.0, 50.0]})
    masked = pd.DataFrame({"amount": pd.Categorical(["1 to 3", "1 to 3", "1 to 3", "50"])})
    variables = {"amount": VARIABLES["amount"]}
    pairs = Pairs(original, variables, original, masked, variables, np.arange(4), np.random.default_rng(0))
    identified, confident = PublishedRanges(("amount",)).play(pairs)
    assert identified.measured.value == pytest.approx(2 / 4)
    assert confident.measured.value == pytest.approx(1 / 4)
