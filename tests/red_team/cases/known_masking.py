"""Methods whose published description undoes them: groups of single variables, projections, directions of noise."""

import numpy as np

from policies.original_and_masked import OriginalAndMasked
from sluice.variables import Kind, Variable
from tests.red_team.case import Attack, Case
from tests.red_team.files import CENSUS, census, masked_by


def masked(**step: object) -> OriginalAndMasked:
    return masked_by(census(), [{"columns": list(CENSUS), **step}])


def groups_intersected(files: OriginalAndMasked) -> float:
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


def nearest_after_projection(files: OriginalAndMasked) -> float:
    """The released records span few directions, which anybody sees in the file; known records are put on them."""
    before, after = files.original.to_numpy(float), files.masked.to_numpy(float)
    spread, middle = before.std(axis=0), before.mean(axis=0)
    before, after = (before - middle) / spread, (after - middle) / spread
    axes = np.linalg.svd(after, full_matrices=False)[2]
    axes = axes[np.linalg.svd(after, compute_uv=False) > 1e-6 * np.sqrt(after.size)]
    before, after = before @ axes.T, after @ axes.T
    squared = (before**2).sum(axis=1)[:, None] - 2 * before @ after.T + (after**2).sum(axis=1)
    return float((squared.argmin(axis=1) == np.arange(len(before))).mean())


def nearest_in_units_of_the_noise(scatter: float) -> Attack:
    """Noise that follows the correlations of the data: distances are measured along these (Mahalanobis)."""

    def attack(files: OriginalAndMasked) -> float:
        before, after = files.original.to_numpy(float), files.masked.to_numpy(float)
        values, axes = np.linalg.eigh(np.corrcoef(before.T))
        white = (axes / np.sqrt(scatter * np.maximum(values, 1e-12))) / before.std(axis=0)[:, None]
        before, after = before @ white, after @ white
        squared = (before**2).sum(axis=1)[:, None] - 2 * before @ after.T + (after**2).sum(axis=1)
        return float((squared.argmin(axis=1) == np.arange(len(before))).mean())

    return attack


def bins_permuted() -> OriginalAndMasked:
    """Each variable permuted among the twenty people next to each other in it; the bins themselves are removed."""
    frame, variables = census()
    bins = {name: f"bin_{name}" for name in CENSUS[:6]}
    ranks = {by: frame[name].rank(method="first").astype("Int64") // 20 for name, by in bins.items()}
    more = {by: Variable(name=by, kind=Kind.INTEGER) for by in bins.values()}
    steps = [{"method": "permutation", "columns": [name], "within": [by]} for name, by in bins.items()]
    keep = [{**step, "small_groups": "keep"} for step in steps]
    removal = {"method": "removal", "columns": list(bins.values())}
    return masked_by((frame[list(bins)].assign(**ranks), {n: variables[n] for n in bins} | more), [*keep, removal])


def nearest_in_rank(files: OriginalAndMasked) -> float:
    """The nearest record by the ranks of the six variables."""
    before, after = (file[list(CENSUS[:6])].rank().to_numpy() for file in (files.original, files.masked))
    hits = [int(((after - mine) ** 2).sum(axis=1).argmin()) == person for person, mine in enumerate(before)]
    return sum(hits) / len(hits)


CASES = (
    Case(
        name="six variables of Census, each permuted among people of the same rank",
        make=bins_permuted,
        attack=nearest_in_rank,
        reaches=0.8,
        chance=0.01,
        rules=("transparency",),
    ),
    *(
        Case(
            name=f"Census microaggregated variable by variable, {k} values a group",
            make=lambda k=k: masked(method="univariate_microaggregation", k=k),
            attack=groups_intersected,
            reaches=0.9,
            chance=0.01,
            rules=("transparency",),
        )
        for k in (5, 20)
    ),
    Case(
        name="Census by its two main directions",
        make=lambda: masked(method="matrix_decomposition", rank=2),
        attack=nearest_after_projection,
        reaches=0.9,
        chance=0.01,
        rules=("transparency",),
    ),
    Case(
        name="correlated noise on Census, a fifth of each standard deviation",
        make=lambda: masked(method="additive_noise", amount=0.04, kind="correlated"),
        attack=nearest_in_units_of_the_noise(0.04),
        reaches=0.5,
        chance=0.01,
        rules=("transparency",),
    ),
)
