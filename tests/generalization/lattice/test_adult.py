"""True optima on Adult: every transformation of some of its keys, counted by pandas and judged by `sluice.risk`."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.search import search
from sluice.generalization.objectives.class_losses import Discernibility
from sluice.generalization.objectives.key_losses import Loss, NonUniformEntropy
from sluice.ground.hierarchy import Hierarchy
from sluice.risk.classes.k_anonymity import KAnonymityModel
from tests.generalization.lattice.brute_force import released

pytestmark = pytest.mark.chain

File = tuple[list[Key], list[np.ndarray]]
NAMES = ["sex", "age", "marital-status", "education"]
LIMITS = (0.0, 0.04, 1.0)


@pytest.fixture(scope="module")
def adult(reference_data: Path) -> File:
    """Four keys with ARX's hierarchies, 120 transformations; the leaves of each record."""
    frame = pd.read_csv(reference_data / "adult/arx/adult.csv.gz", sep=";", dtype=str)
    keys, codes = [], []
    for name in NAMES:
        text = (reference_data / f"adult/hierarchies_arx/adult_hierarchy_{name}.csv").read_text(encoding="utf-8")
        rows = [line.split(";") for line in text.splitlines()]
        leaves = [leaf for leaf, *_ in rows]
        keys.append(Key.of(name, leaves, Hierarchy(rows={leaf: tuple(above) for leaf, *above in rows})))
        codes.append(pd.Categorical(frame[name], categories=leaves).codes.astype(np.int64))
    return keys, codes


def losses(keys: list[Key], codes: list[np.ndarray], levels: tuple[int, ...], hidden: np.ndarray) -> list[float]:
    """Loss, entropy and discernibility: means of the keys for the first two, each record by itself."""
    n, shown = len(hidden), pd.DataFrame()
    loss, entropy = [], []
    for key, leaf, level in zip(keys, codes, levels, strict=True):
        groups = key.levels[level]
        shown[key.name] = groups[leaf]
        width = pd.Series(groups).value_counts()
        held, alike = shown[key.name].value_counts(), pd.Series(leaf).value_counts()
        loss.append(np.where(hidden, 1, (shown[key.name].map(width) - 1) / (len(groups) - 1)).mean())
        bits = np.log2(np.where(hidden, n, shown[key.name].map(held)) / pd.Series(leaf).map(alike))
        entropy.append(bits.sum() / np.log2(n / pd.Series(leaf).map(alike)).sum())
    crowd = shown.groupby(list(shown))[shown.columns[0]].transform("size")
    return [float(np.mean(loss)), float(np.mean(entropy)), float(np.where(hidden, n, crowd).sum())]


@pytest.mark.exhaustive
def test_k_anonymity_of_8000_records(adult: File) -> None:
    keys, codes = adult[0], [leaf[:8000] for leaf in adult[1]]
    n, best = len(codes[0]), {(limit, at): np.inf for limit in LIMITS for at in range(3)}
    for levels in product(*(range(key.depth + 1) for key in keys)):
        shown = released(keys, codes, levels, {})
        hidden = (shown.groupby(NAMES)["sex"].transform("size") < 5).to_numpy()
        found = losses(keys, codes, levels, hidden)
        for limit in LIMITS:
            if hidden.sum() <= int(limit * n) and (not 0 < hidden.sum() < 5):
                for at in range(3):
                    best[limit, at] = min(best[limit, at], found[at])
    for (limit, at), expected in best.items():
        objective = (Loss(), NonUniformEntropy(), Discernibility())[at]
        solution = search(keys, codes, [KAnonymityModel(5)], objective, suppression_limit=limit)
        assert solution.value == pytest.approx(expected, rel=1e-9)
        assert solution.optimal
