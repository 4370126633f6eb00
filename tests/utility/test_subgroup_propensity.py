"""S_pMSE within subgroups against that of the subgroup taken out by itself, and by chance."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sluice.utility.common_bins import CommonBins
from sluice.utility.propensity import propensity
from sluice.utility.subgroup_propensity import subgroup_propensity
from sluice.utility.subgroups import SubgroupChange

LABELS = ("a", "b", "c")


def binned(name: str, original: np.ndarray, masked: np.ndarray, spread: np.ndarray | None = None) -> CommonBins:
    codes = [np.asarray(each, dtype=np.uint8) for each in (original, masked)]
    return CommonBins(name, *codes, np.eye(4) if spread is None else spread, (*LABELS, "missing"))


def files(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three variables of a file and of another that was drawn from it with replacement."""
    rng = np.random.default_rng(seed)
    original = rng.integers(0, 3, (n, 3))
    return original, original[rng.integers(0, n, n)]


def found(bins: list[CommonBins], **more: int) -> dict[str, SubgroupChange]:
    changes = subgroup_propensity(bins, {"x": LABELS}, np.random.default_rng(0), **more)
    return {each.category: each for each in changes}


def test_it_is_s_pmse_of_the_subgroup_alone() -> None:
    original, masked = files(3_000)
    masked[masked[:, 0] == 1, 1] = 2
    names = "xyz"
    bins = [binned(name, original[:, at], masked[:, at]) for at, name in enumerate(names)]
    changes = found(bins)
    for place, label in enumerate(LABELS):
        here, there = original[:, 0] == place, masked[:, 0] == place
        alone = [binned(names[at], original[here, at], masked[there, at]) for at in (1, 2)]
        assert changes[label].change == pytest.approx(propensity(alone).standardised)
        assert changes[label].records == here.sum()
    assert next(iter(changes)) == "b"  # the largest first
    assert changes["b"].change > 20
    assert changes["a"].change < 5
    assert changes["b"].moved > 500


@pytest.mark.parametrize(("grouped", "expected"), [(False, 1.0), (True, 1.5)])
def test_a_file_drawn_from_the_original_is_as_chance_makes_it(grouped: bool, expected: float) -> None:
    """S_pMSE of 40 such files is 1 on average. Of those who are "a or b", half of whom are taken for a, every second
    record was drawn from others, whose own chance is added: 1.5."""
    spread = np.vstack([np.eye(4), [0.5, 0.5, 0, 0]])
    scores = []
    for seed in range(40):
        original, masked = files(2_000, seed)
        group = np.where((masked[:, 0] < 2) & grouped, 4, masked[:, 0])
        bins = [binned("x", original[:, 0], group, spread)]
        bins += [binned(name, original[:, at], masked[:, at]) for at, name in ((1, "y"), (2, "z"))]
        scores.append(found(bins)["a"].change)
    assert np.mean(scores) == pytest.approx(expected, abs=0.4)  # standard error 0.11 to 0.17


def test_of_a_large_subgroup_as_many_are_drawn_as_are_said() -> None:
    original, masked = files(6_000)
    masked[:, 1] = np.where(np.arange(6_000) % 4 == 0, 0, masked[:, 1])
    bins = [binned(name, original[:, at], masked[:, at]) for at, name in enumerate("xyz")]
    whole, part = found(bins)["a"], found(bins, most=500)["a"]
    assert part.records == whole.records
    assert part.change < whole.change / 2  # S_pMSE grows with the records
    assert found(bins, most=500) == found(bins, most=500)


def test_nobody_left_and_too_few() -> None:
    original, masked = files(600)
    bins = [binned(name, original[:, at], masked[:, at]) for at, name in enumerate("xyz")]
    gone = [binned("x", original[:, 0], np.where(masked[:, 0] == 0, 3, masked[:, 0])), *bins[1:]]
    assert found(gone)["a"].change == np.inf
    assert not found(bins, least=400)
    assert not found(bins[:1])


def test_adult_by_sex(reference_data: Path) -> None:
    """All women are given one education: they alone can be told from their originals."""
    frame = pd.read_csv(reference_data / "adult" / "adult.data.gz", header=None, skipinitialspace=True, nrows=8_000)
    masked = frame[[9, 6, 3]].copy()
    women = (frame[9] == "Female").to_numpy()
    masked.loc[women, 3] = "Bachelors"
    bins = []
    for name in (9, 6, 3):
        labels = sorted(frame[name].unique())
        codes = [pd.Categorical(each[name], labels).codes.astype(np.uint8) for each in (frame, masked)]
        bins.append(CommonBins(str(name), *codes, np.eye(len(labels) + 1), (*labels, "missing")))
    changes = subgroup_propensity(bins, {"9": ("Female", "Male")}, np.random.default_rng(0))
    assert [each.category for each in changes] == ["Female", "Male"]
    assert changes[0].change > 50
    assert changes[1].change == pytest.approx(0, abs=1e-9)
    assert changes[1].moved == 0
