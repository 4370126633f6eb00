"""What holds for every way to part records into groups: of one, of all, and of equal records."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from sluice.ground.errors import PlanError
from sluice.masking.microaggregation.microaggregation import generic_groups, mdav_groups
from sluice.masking.microaggregation.ordered_microaggregation import (
    individual_ranking_groups,
    optimal_groups,
    projected_groups,
)
from sluice.masking.microaggregation.representatives import NUMBER, Scale
from tests.golden import golden

MIXED = [NUMBER, Scale("nominal", 11)]
PARTITIONS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "mdav": mdav_groups,
    "mdav_generic": lambda records, k: generic_groups(records, MIXED, k),
    "optimal": lambda records, k: optimal_groups(records[:, 0], k),
    "individual_ranking": lambda records, k: individual_ranking_groups(records[:, 0], k),
    "first_principal_component": partial(projected_groups, projection="first_principal_component"),
    "sum_of_z_scores": partial(projected_groups, projection="sum_of_z_scores"),
}


@pytest.mark.parametrize("name", PARTITIONS)
def test_groups_hold_k_to_less_than_twice_k(name: str) -> None:
    groups_of, rng = PARTITIONS[name], np.random.default_rng(1)
    records = np.column_stack([rng.permutation(11), rng.permutation(11)]).astype(float)
    assert sorted(groups_of(records, 1)) == list(range(11))
    assert groups_of(records, 11).tolist() == [0] * 11
    for some in (records, np.full((11, 2), 0.0)):
        for k in (2, 3, 5):
            sizes = np.bincount(groups_of(some, k))
            assert k <= sizes.min() <= sizes.max() <= 2 * k - 1
    if "mdav" in name:
        with golden.raises(PlanError):
            groups_of(records, 12)
