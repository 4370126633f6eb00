"""The learned linker: sums of learned weights, against a plain implementation, and what it finds."""

import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Variable
from sluice.risk.linkage.learned_linker import LearnedLinker
from sluice.risk.linkage.learned_variable import compared_variables

COLUMNS = [f"x{j}" for j in range(4)]
VARIABLES = {name: Variable(name=name, kind="continuous") for name in COLUMNS} | {
    "area": Variable(name="area", kind="nominal", categories=tuple("abcd"))
}


def people(n: int = 1500, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(np.exp(rng.normal(size=(n, 4))), columns=COLUMNS)
    frame.loc[rng.random(n) < 0.3, "x3"] = 0.0  # a heap
    frame.loc[rng.random(n) < 0.1, "x2"] = np.nan
    frame["area"] = pd.Categorical.from_codes(rng.integers(0, 4, n), categories=list("abcd"))
    return frame


def noisy(frame: pd.DataFrame, amount: float, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return frame.assign(**{name: frame[name] + amount * rng.normal(size=len(frame)) for name in COLUMNS})


def linker(original: pd.DataFrame, masked: pd.DataFrame, rows: np.ndarray) -> LearnedLinker:
    return LearnedLinker.learn(compared_variables(original, original, masked, VARIABLES, VARIABLES), rows)


@pytest.mark.parametrize("variables", [None, [0, 2, 4]])
def test_scores_are_the_sums_of_the_weights_of_each_variable(variables):
    """A plain sum over all pairs, with the exact values of numbers looked up one by one."""
    original = people()
    masked = noisy(original, 0.1)
    masked.loc[::3, "x1"] = original.loc[::3, "x1"]
    rows = np.arange(0, 1500, 50)
    found = linker(original, masked, np.arange(1, 1500, 2))
    names = range(5) if variables is None else variables
    total = np.zeros((len(rows), 1500))
    for j in names:
        compared, learned = found.compared[j], found.learned[j]
        weights = learned.weights(rows)[:, compared.released]
        _, span, bins = learned.tables(rows)
        if compared.exact is not None:
            known, out = compared.exact[0][rows][:, None], compared.exact[1]
            far = np.abs(learned.coordinates[known] - learned.coordinates[out])
            by_value = np.take_along_axis(bins, np.searchsorted(learned.edges, far) + 1, axis=1)
            by_value = np.where(known == out, bins[:, :1], by_value)
            inside = (span[:, :1] <= compared.released) & (compared.released <= span[:, 1:])
            weights = np.where(inside, by_value, weights)
        total += weights
    links = found.link(rows, variables, candidates=3)
    assert links.own == pytest.approx(total[np.arange(len(rows)), rows], abs=1e-4)
    total[np.arange(len(rows)), rows] = -np.inf
    assert links.scores == pytest.approx(np.sort(total, axis=1)[:, :-4:-1], abs=1e-4)
    assert total[np.arange(len(rows))[:, None], links.rows] == pytest.approx(links.scores, abs=1e-4)


def test_a_verbatim_file_is_found_and_a_shuffled_one_is_not():
    original, half, other = people(), np.arange(0, 1500, 2), np.arange(1, 1500, 2)
    assert linker(original, original, half).link(other).found.mean() > 0.99
    shuffled = original.sample(frac=1, random_state=3).reset_index(drop=True)
    assert linker(original, shuffled, half).link(other).found.mean() < 0.01


def test_records_made_alike_share_the_match():
    original, half, other = people(), np.arange(0, 1500, 2), np.arange(1, 1500, 2)
    alike = original.assign(
        **{name: original[name].groupby(np.arange(1500) // 5).transform("first") for name in COLUMNS}
    )
    alike["area"] = original["area"].astype(object).groupby(np.arange(1500) // 5).transform("first").astype("category")
    first = original.iloc[np.arange(1500) // 5 * 5].reset_index(drop=True)
    links = linker(first, alike, half).link(other)
    assert links.found == pytest.approx(0.2)
    assert (links.ties == 4).all()


def test_among_limits_the_candidates_and_factors_switch_variables_off():
    original = people()
    found = linker(original, noisy(original, 0.1), np.arange(0, 1500, 2))
    rows, among = np.arange(1, 60, 2), np.arange(100, 400)
    links = found.link(rows, candidates=5, among=among)
    assert np.isin(links.rows, np.concatenate([among, rows])).all()
    factors = np.array([1.0, 0, 1, 0, 1])
    assert found.link(rows, factors=factors).scores == pytest.approx(found.link(rows, [0, 2, 4]).scores)
