"""What measures of utility refuse: files that do not belong together, weights and orders that are none."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from sluice.ground.divergence import counts_of, divergence, entropy
from sluice.ground.errors import DataError
from sluice.utility.analyses.clustering_agreement import partition_indices
from sluice.utility.categorical.category_losses import contingency_table_loss, ebil, original_probabilities, pril
from sluice.utility.cell_changes import cell_changes, tells_of_few
from sluice.utility.continuous.principal_components import eigenvalue_shift, principal_components
from sluice.utility.quantiles import order_statistics
from tests.golden import golden

Refusal = tuple[str, Callable[[], object]]
REFUSED: list[Refusal] = [
    ("partition_indices", lambda: partition_indices(np.arange(3), np.arange(2))),
    ("contingency_table_loss", lambda: contingency_table_loss((), 0)),
    ("entropy_based_loss", lambda: original_probabilities(np.ones(2), np.array([[0.5, 0.4], [0, 1]]))),
    ("entropy_based_loss", lambda: original_probabilities(np.ones(3), np.eye(2))),
    ("entropy_based_loss", lambda: original_probabilities(np.zeros(2), np.eye(2))),
    ("entropy_based_loss", lambda: ebil(np.eye(2), np.ones(3))),
    ("entropy_based_loss", lambda: pril(np.eye(2), np.array([0, 1]), np.array([0]))),
    ("principal_components", lambda: principal_components(np.zeros((0, 0)))),
    ("principal_components", lambda: eigenvalue_shift(np.eye(2), np.eye(3))),
    ("cell_changes", lambda: cell_changes(pd.Series([1.0, 2.0]), pd.Series([1.0]))),
    ("cell_changes", lambda: cell_changes(pd.Series([], dtype=float), pd.Series([], dtype=float))),
    ("divergence", lambda: divergence("hellinger", np.ones(2), np.ones(3))),
    ("divergence", lambda: entropy(np.zeros(2))),
    ("divergence", lambda: entropy(np.array([1.0, -1.0]))),
    ("divergence", lambda: entropy(np.array([1.0, np.nan]))),
    ("divergence", lambda: counts_of(pd.Series([1.0], name="age"), pd.Series(["x"], dtype="category"), 5)),
    ("few_changes", lambda: tells_of_few(np.zeros((2, 1)), np.zeros((2, 2)), 3, paired_records=True)),
    ("few_changes", lambda: tells_of_few(np.zeros((2, 1)), np.zeros((3, 1)), 3, paired_records=True)),
    ("quantiles", lambda: order_statistics(np.arange(3.0), np.ones(2))),
    ("quantiles", lambda: order_statistics(np.arange(3.0), np.array([1.0, -1, 1]))),
    ("quantiles", lambda: order_statistics(np.arange(3.0), np.array([1.0, np.nan, 1]))),
]


@pytest.mark.parametrize(("name", "measure"), REFUSED, ids=[f"{name} {at}" for at, (name, _) in enumerate(REFUSED)])
def test_what_cannot_be_measured_is_refused(name: str, measure: Callable[[], object]) -> None:
    golden.refused(DataError, measure)
