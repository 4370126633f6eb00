"""The attacks of Yamazoe and Omote (2021) on Adult.

Checked: the baseline row, Table 7 (data invasion at level 1) for k = 20, k = 50 and sigma = .4, the signs of Table 9.
Their anonymisation is told in part only; k-means with n / k clusters on 5,000 records comes nearest, and is a guess.
Not checked, since no reading of the text gives them: Tables 5 and 6, the rows with d of Table 7, the values of Table 8.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

from sluice.ground.divergence import divergence
from sluice.risk.attacks.data_invasion import guess_chances

NAMES = [
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
]  # fmt: skip
TARGETS = ["workclass", "education", "marital-status", "occupation", "relationship", "race", "sex", "native-country"]
BASELINE = [0.704, 0.325, 0.456, 0.129, 0.401, 0.853, 0.666, 0.900]
TABLE_7 = {
    "k=20": [0.543, 0.476, 0.715, 0.696, 0.805, 0.429, 0.985, 0.311],
    "k=50": [0.443, 0.434, 0.659, 0.548, 0.769, 0.401, 0.981, 0.092],
    "sigma=.4": [0.286, 0.284, 0.454, 0.420, 0.604, 0.352, 0.857, 0.023],
}
TOLERANCE = {"k=20": 0.10, "k=50": 0.06, "sigma=.4": 0.10}
# What k-means finds depends on its seed and on how many threads it sums in: by sex, from 0.77 to 0.95 of the people.
OF_SEX = 0.16
RECORDS, REPEATS = 5_000, 2


@pytest.fixture(scope="module")
def adult(reference_data: Path) -> pd.DataFrame:
    """All 48,842 records, '?' kept as a category."""
    files = [
        pd.read_csv(reference_data / "adult" / name, names=NAMES, skipinitialspace=True, skiprows=skipped)
        for name, skipped in (("adult.data.gz", 0), ("adult.test.gz", 1))
    ]
    return pd.concat(files, ignore_index=True)


class Attacked:
    """A draw of records as one-hot columns from 0 to 1, and what the attack reaches on masked copies of it."""

    def __init__(self, adult: pd.DataFrame, seed: int) -> None:
        drawn = adult.sample(RECORDS, random_state=seed).drop(columns=["fnlwgt", "income"])
        coded = pd.get_dummies(drawn).astype(float)
        self.columns = {name: [c for c, n in enumerate(coded) if n.startswith(f"{name}_")] for name in TARGETS}
        self.original = ((coded - coded.min()) / (coded.max() - coded.min())).to_numpy()
        rng = np.random.default_rng(seed)
        self.masked = {
            "k=20": self.clustered(RECORDS // 20, seed),
            "k=50": self.clustered(RECORDS // 50, seed),
            "sigma=.4": self.original + rng.normal(0, 0.4, self.original.shape),
        }

    def clustered(self, clusters: int, seed: int) -> np.ndarray:
        found = KMeans(clusters, n_init=1, random_state=seed).fit(self.original)
        return np.asarray(found.cluster_centers_[found.labels_])

    def hit_rate(self, masked: np.ndarray, name: str, level: int) -> float:
        truth = self.original[:, self.columns[name]].argmax(axis=1)
        shares = np.bincount(truth) / RECORDS if level == 2 else None
        distances = np.abs(1 - masked[:, self.columns[name]]).T
        return float(guess_chances(distances, truth, shares).mean())

    def distance(self, masked: np.ndarray, name: str) -> float:
        """Mean Kullback-Leibler divergence of the attribute's columns, in 20 intervals of equal width."""
        found = []
        for column in self.columns[name]:
            before, after = self.original[:, column], masked[:, column]
            edges = np.linspace(min(before.min(), after.min()), max(before.max(), after.max()), 21)[1:-1]
            counts = [np.bincount(np.searchsorted(edges, v), minlength=20).astype(float) for v in (before, after)]
            found.append(divergence("kullback_leibler", counts[0], counts[1], 0.5))
        return float(np.mean(found))


@pytest.fixture(scope="module")
def draws(adult: pd.DataFrame) -> list[Attacked]:
    return [Attacked(adult, seed) for seed in range(REPEATS)]


def test_the_baseline_row(adult: pd.DataFrame) -> None:
    assert len(adult) == 48_842
    found = [adult[name].value_counts(normalize=True).max() for name in TARGETS]
    np.testing.assert_allclose(found, BASELINE, atol=0.011)


@pytest.mark.parametrize("masking", TABLE_7)
def test_table_7(draws: list[Attacked], masking: str) -> None:
    found = [np.mean([draw.hit_rate(draw.masked[masking], name, 1) for draw in draws]) for name in TARGETS]
    allowed = [OF_SEX if name == "sex" and masking != "sigma=.4" else TOLERANCE[masking] for name in TARGETS]
    np.testing.assert_array_less(np.abs(np.subtract(found, TABLE_7[masking])), allowed)


def test_signs_of_table_9(draws: list[Attacked]) -> None:
    """The farther the distributions, the fewer hits: -.509 to -.991 in the source, for both levels."""
    draw = draws[0]
    for name in ("workclass", "education", "marital-status", "occupation"):
        distances = [draw.distance(masked, name) for masked in draw.masked.values()]
        for level in (1, 2):
            hits = [draw.hit_rate(masked, name, level) for masked in draw.masked.values()]
            assert np.corrcoef(distances, hits)[0, 1] < 0, (name, level)


def test_level_2_never_falls_below_the_baseline_here(draws: list[Attacked]) -> None:
    """As in all rows of Table 8 (whose other values are not checked)."""
    for masking, masked in draws[0].masked.items():
        for name in TARGETS:
            truth = draws[0].original[:, draws[0].columns[name]].argmax(axis=1)
            assert draws[0].hit_rate(masked, name, 2) >= np.bincount(truth).max() / RECORDS - 0.01, (masking, name)
