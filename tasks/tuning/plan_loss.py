"""The loss of a plan, as the user weighs it: how far the masked file's pairs of variables lie from the original's.

Every pair of the original's variables is counted on common bins of the original as it was, so that recoding,
suppression, sampling and dropped variables count. A variable of which one value was released, or one that may be any,
tells no more than one that was left out, and counts as such.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan

import numpy as np

from sluice.ground.arrays import FloatArray
from sluice.ground.verdict import Finding
from sluice.utility.comparison import Comparison
from sluice.utility.marginals import MarginalLosses, marginal_losses
from tasks.tuning.space import LossWeights


@dataclass(frozen=True)
class PairDistances:
    """How far the pairs of variables lie from the original's: mean total variation distance, 0 (kept) to 1 (lost).

    mean  : over all pairs of the original's variables; NaN without a variable
    among : the same over the pairs of kept variables; NaN of fewer than two
    kept  : variables of which more than one value was released
    of    : variables of the original that can be compared
    """

    mean: float = nan
    among: float = nan
    kept: int = 0
    of: int = 0


def pair_distances(files: Comparison, weights: Mapping[str, float] | None = None) -> PairDistances:
    """The distances of all pairs, and of the pairs of the variables that were kept.

    weights : variable: how much it counts; a pair counts by the product of both. 1, when not given
    Records weigh what the contract says. Of a single variable it is the distance of that variable alone. Cost: O(n) a
    pair; of more than 5,000 pairs as many are drawn, the same each time.
    """
    bins, kept = files.bins_of_all, files.kept
    if not bins:
        return PairDistances()
    found = marginal_losses(bins, min(2, len(bins)), *files.weights_of_all, rng=np.random.default_rng(0))
    among = found.among(kept)
    return PairDistances(_mean(found, weights), _mean(among, weights), len(kept), len(bins))


def _mean(found: MarginalLosses, weights: Mapping[str, float] | None) -> float:
    of_variable = np.array([(weights or {}).get(name, 1.0) for name in found.names])
    of_table: FloatArray = of_variable[found.tables].prod(axis=1)
    return float(np.average(found.losses, weights=of_table)) if of_table.any() else nan


def loss_of(pair_distance: float, weights: LossWeights, utility: Sequence[Finding] = ()) -> float:
    """The weighted loss, without what dropped variables cost; NaN where a part could not be measured.

    utility : findings of the policy's measures of utility, for `measures`
    """
    loss = weights.marginals * pair_distance if weights.marginals else 0.0
    for name, weight in weights.measures.items():
        observed = next((each.observed for each in utility if each.rule == name), None)
        loss += weight * (nan if observed is None else observed)
    return float(loss)


def number(value: float) -> str:
    """A loss or margin with three decimals; in words where it is not known."""
    return f"{value:.3f}" if isfinite(value) else "not known"
