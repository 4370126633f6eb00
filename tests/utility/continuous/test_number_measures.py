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


def test_one_number_of_few_people_hides_no_figure_of_the_others() -> None:
    """What is told is the figure of a file without that number, whatever happened to it; the whole figure decides."""
    original = numbers()
    masked = original.assign(x=original["x"] * 1.1, y=original["y"] * 1.1)
    said = []
    for largest in (40.0, 4000.0):
        cut = original["z"].mask(np.arange(len(original)) == 7, largest)
        found = judge(files(original, masked.assign(z=cut)))[1]
        alone = judge(files(original[["x", "y"]], masked[["x", "y"]]))[1]
        for rule in ("mean", "variance", "correlation", "rank_correlation"):
            assert found[rule].withheld
            assert alone[rule].says.partition(";")[0] in found[rule].says
        said.append({rule: found[rule].says for rule in ("mean", "variance", "rank_correlation")})
    assert said[0] == said[1]
    golden(said[0]["mean"])
    few = judge(files(original[:9], masked[:9].assign(z=original["z"][:9].mask(np.arange(9) == 7, 40.0))))[1]
    assert "middle case" not in few["mean"].says
