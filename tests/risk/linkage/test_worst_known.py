"""The worst known variables: which are found in a small file, against trying every set."""

import numpy as np
import pandas as pd
import pytest

from sluice.risk.linkage.learned_intruder import LearnedIntruder
from sluice.risk.linkage.learned_variable import compared_variables
from sluice.risk.linkage.worst_known import worst_known, worst_sets
from tests.typed_frame import typed_frame

N = 600
NAMES = ("fine", "coarse", "noise", "other")


def learned(seed: int = 0) -> LearnedIntruder:
    """`fine` is released verbatim, `coarse` as a sign; of `noise` and `other` nothing is left."""
    rng = np.random.default_rng(seed)
    original, variables = typed_frame(pd.DataFrame(rng.normal(size=(N, 4)).round(3), columns=NAMES).astype(str))
    masked = original.assign(
        coarse=(original["coarse"] > 0).astype(float),
        noise=rng.permutation(original["noise"]),
        other=rng.permutation(original["other"]),
    )
    compared = compared_variables(original, original, masked, variables, variables)
    return LearnedIntruder.fit(compared, [(np.empty((N, 0)), np.empty((N, 0)))] * 4, np.arange(N), rng)


def test_the_variables_that_masking_left_are_worst() -> None:
    found = worst_known(learned(), 2, np.random.default_rng(1))
    assert [NAMES[at] for at in found] == ["fine", "coarse"]


def test_all_variables_are_the_worst_where_there_are_no_more() -> None:
    assert worst_known(learned(), 4, np.random.default_rng(1)) == (0, 1, 2, 3)
    assert worst_known(learned(), 9, np.random.default_rng(1)) == (0, 1, 2, 3)


@pytest.mark.parametrize("seed", range(3))
def test_the_search_is_as_good_as_trying_every_pair(seed: int) -> None:
    linker, rows = learned(seed).folds[0]
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    found = {pair: float(linker.link(rows, pair).found.mean()) for pair in pairs}
    sets = worst_sets(linker, rows, 2, np.random.default_rng(seed))
    assert max(found[each] for each in sets) == pytest.approx(max(found.values()), abs=0.02)
    assert len(set(sets)) == len(sets) == 3


def test_variables_that_count_as_one_are_known_together() -> None:
    assert worst_known(learned(), 2, np.random.default_rng(1), [(0,), (1, 2), (3,)]) == (0, 1, 2)
