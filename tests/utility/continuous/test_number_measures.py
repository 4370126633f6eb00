import numpy as np
import pandas as pd
import pytest

from sluice.utility.continuous.mean_variations import mean_variations
from sluice.utility.continuous.probabilistic_information_loss import probabilistic_information_loss
from tests.golden import golden
from tests.utility.files import files, judge

MEASURES = ("apil", "eigenvalues", "mean_variations")


def numbers(n: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(loc=9, size=n)
    return pd.DataFrame({"x": x, "y": x + rng.normal(size=n), "z": rng.normal(loc=5, size=n)})


def test_the_figures_are_those_of_the_measures() -> None:
    original = numbers()
    masked = original * 1.1
    findings = judge(files(original, masked))[1]
    before, after = original.to_numpy(), masked.to_numpy()
    assert findings["apil"].observed == pytest.approx(probabilistic_information_loss(before, after).average)
    assert findings["mean_variations"].observed == pytest.approx(mean_variations(before, after).loss)
    assert judge(files(numbers(9), numbers(9)))[0].view.continuous is None  # a small file shows nothing


def test_recoding_and_removal_are_losses() -> None:
    original = numbers()
    bands = pd.cut(original["x"], [-np.inf, 9, np.inf], labels=["low", "high"]).astype(object)
    recoded = original.assign(x=bands).drop(columns="z")
    kept = original.drop(columns="z")
    removed = judge(files(original, kept))[1]
    both = judge(files(original, recoded, recoded))[1]
    for name in MEASURES:
        assert 0 < removed[name].observed <= both[name].observed  # type: ignore[operator]
        assert (removed[name].attempted, removed[name].completed) == (3, 2)
        golden(removed[name].says)
    view = judge(files(original, recoded, recoded))[0].view.continuous
    assert (view.names, view.removed) == (("x", "y", "z"), ("z",))
