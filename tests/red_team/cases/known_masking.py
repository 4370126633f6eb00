"""Methods whose published description undoes them: groups of single variables, projections, directions of noise."""

from functools import partial

import numpy as np

from sluice.ground.variables import Kind, Variable
from sluice.utility.comparison import Comparison
from tests.red_team.attacks import own_is_nearest
from tests.red_team.case import Case
from tests.red_team.files import CENSUS, census, masked_by


def masked(**step: object) -> Comparison:
    return masked_by(census(600), [{"columns": list(CENSUS), **step}])


def groups_intersected(files: Comparison) -> float:
    """Microaggregation of single variables: each value went into the group above it or the one below."""
    n = len(files.original)
    fits = np.ones((n, n), np.bool_)
    for name in CENSUS:
        mine, means = files.original[name].to_numpy(float), np.unique(files.masked[name].to_numpy(float))
        low = means[np.maximum(np.searchsorted(means, mine, "left") - 1, 0)]
        high = means[np.minimum(np.searchsorted(means, mine, "right"), len(means) - 1)]
        released = files.masked[name].to_numpy(float)
        fits &= (low[:, None] <= released) & (released <= high[:, None])
    return float((fits.diagonal() / fits.sum(axis=1)).mean())


def nearest_after_projection(files: Comparison) -> float:
    """The released records span few directions, which anybody sees in the file; known records are put on them."""
    before, after = files.original.to_numpy(float), files.masked.to_numpy(float)
    spread, middle = before.std(axis=0), before.mean(axis=0)
    before, after = (before - middle) / spread, (after - middle) / spread
    axes = np.linalg.svd(after, full_matrices=False)[2]
    axes = axes[np.linalg.svd(after, compute_uv=False) > 1e-6 * np.sqrt(after.size)]
    return own_is_nearest(before @ axes.T, after @ axes.T)


def nearest_in_units_of_the_noise(files: Comparison) -> float:
    """Noise that follows the correlations of the data: distances are measured along these (Mahalanobis)."""
    before, after = files.original.to_numpy(float), files.masked.to_numpy(float)
    values, axes = np.linalg.eigh(np.corrcoef(before.T))
    white = (axes / np.sqrt(np.maximum(values, 1e-12))) / before.std(axis=0)[:, None]
    return own_is_nearest(before @ white, after @ white)


def bins_permuted() -> Comparison:
    """Each variable permuted among the twenty people next to each other in it; the bins themselves are removed."""
    frame, variables = census(600)
    bins = {name: f"bin_{name}" for name in CENSUS[:6]}
    ranks = {by: frame[name].rank(method="first").astype("Int64") // 20 for name, by in bins.items()}
    more = {by: Variable(name=by, kind=Kind.INTEGER) for by in bins.values()}
    steps = [{"method": "permutation", "columns": [name], "within": [by]} for name, by in bins.items()]
    keep = [{**step, "small_groups": "keep"} for step in steps]
    removal = {"method": "removal", "columns": list(bins.values())}
    return masked_by((frame[list(bins)].assign(**ranks), {n: variables[n] for n in bins} | more), [*keep, removal])


def nearest_in_rank(files: Comparison) -> float:
    """The nearest record by the ranks of the six variables."""
    return own_is_nearest(*(file[list(CENSUS[:6])].rank().to_numpy() for file in (files.original, files.masked)))


CASES = (
    Case("six variables of Census, each permuted among people of the same rank", bins_permuted, nearest_in_rank, 0.8),
    *(
        Case(
            f"Census microaggregated variable by variable, {k} values a group",
            partial(masked, method="univariate_microaggregation", k=k), groups_intersected, 0.9,
        )
        for k in (5, 20)
    ),
    Case(
        "Census by its two main directions",
        partial(masked, method="matrix_decomposition", rank=2), nearest_after_projection, 0.9,
    ),
    Case(
        "correlated noise on Census, a fifth of each standard deviation",
        partial(masked, method="additive_noise", amount=0.04, kind="correlated"), nearest_in_units_of_the_noise, 0.5,
    ),
)  # fmt: skip
