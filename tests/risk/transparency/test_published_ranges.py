import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Variable
from sluice.masking.microaggregation.clustering import KMemberClustering
from sluice.masking.microaggregation.mondrian import Mondrian
from sluice.risk.transparency.attack import Pairs
from sluice.risk.transparency.bounds import PublishedRanges

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


@pytest.mark.parametrize("k", [2, 5])
def test_bounds_of_regions_are_read_and_find_no_more_than_one_in_k(k: int) -> None:
    original, rng = people(200), np.random.default_rng(0)
    original["children"] = pd.array(rng.integers(0, 9, 200), dtype="Int64")
    variables = VARIABLES | {"children": Variable(name="children", kind=Kind.INTEGER)}
    step = Mondrian(columns=tuple(variables), k=k, representative="generalised", bounds="region")
    masked, released = step.mask(original, variables, rng), step.released(variables)
    assert masked["amount"].str.contains("under|and over").any()
    pairs = Pairs(original, variables, original, masked, released, np.arange(200), rng)
    attack = PublishedRanges(("amount", "age", "children"))
    logs = attack.likelihood(pairs)(np.arange(200))
    assert np.isfinite(logs.diagonal()).all()
    regions = masked[["amount", "age", "children"]].astype(str).agg(" | ".join, axis=1).to_numpy()
    for person in range(0, 200, 20):  # the bounds do not overlap where no category parts them
        assert len(set(regions[np.isfinite(logs[person])])) <= 4
    identified, confident = PublishedRanges(tuple(variables)).play(pairs)
    assert 0.2 / k < identified.measured.value <= 1 / k + 1e-9
    assert confident.measured.value == 0


def test_forms_of_bounds() -> None:
    amounts = [1.0, 19.9, 20.0, 29.5, 30.0, 99.0]
    original = pd.DataFrame({"amount": amounts})
    texts = ["under 20", "under 20", "20 to under 30", "20 to under 30", "30 and over", "30 and over"]
    masked = pd.DataFrame({"amount": pd.Categorical(texts)})
    variables = {"amount": VARIABLES["amount"]}
    pairs = Pairs(original, variables, original, masked, variables, np.arange(6), np.random.default_rng(0))
    inside = np.isfinite(PublishedRanges(("amount",)).likelihood(pairs)(np.arange(6)))
    assert inside.tolist() == [[texts[row] == text for text in texts] for row in range(6)]
