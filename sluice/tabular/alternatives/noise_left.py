"""How much of the noise is left to who makes noisy counts add up again.

Every count has noise of its own, so parts do not add up to totals, and by how much they do not says something of the
noise. The best a reader can do with that where the noise is near to normal are weighted least squares: the whole table
that adds up and is nearest to the figures. What remains is normal, too, and its variance is a matter of the table's
sums alone: for noise of variances V and sums A that are 0, the diagonal of V - V A' (A V A')^-1 A V. In a table of r x
c cells with all its margins that is the share r c / (r + 1) (c + 1) of the variance; with d dimensions of two codes
each (2 / 3) ** d.

Source: Rao (1973), "Linear Statistical Inference and Its Applications", section 4a.9, for least squares under
conditions; Bekas, Kokiopoulou and Saad (2007) for the diagonal of a matrix by probing.
"""

import numpy as np
from scipy.sparse import csr_array

from sluice.tabular.model.cells import Booleans, Floats
from sluice.tabular.model.known_sums import Indices

_EXACT = 1_000  # cells that are solved for one by one, at most
_PROBES = 128
_TOGETHER = 4_000_000  # numbers of an array of right sides
_STEPS = 500  # of conjugate gradients, at most; tables take 10 to 60
_NEAR = 1e-6  # of a right side's size
_LEAST = 1e-4  # of the largest variance: smaller ones are taken for that, so that what is solved has an answer


def left_variance(equations: csr_array, variance: Floats, asked: Indices) -> Floats:
    """The variance that least squares leave of the noise of each cell that is asked about; shape (a,).

    equations : shape (e, c); they may follow from each other
    variance  : shape (c,), of the noise; infinite where there is no figure
    asked     : shape (a,), positions
    cost      : up to 1,000 cells are exact, at 10 to 60 products with the equations each; for more of them 128 random
                right sides stand for all, at as many products each, to about sqrt((1 - s) / 64 s) of itself where a
                share of s is left. O(c) memory
    """
    known = np.isfinite(variance)
    most = float(variance[known].max(initial=0.0))
    if not most > 0:
        return np.where(known[asked], 0.0, np.inf)
    # What has no figure has noise far beyond all others: enough to lend nothing, and not to spoil the digits.
    size = np.where(known, np.clip(variance / most, _LEAST, None), 1 / _LEAST)
    scaled = (equations.astype(np.float64) * np.sqrt(size)).tocsr()
    share = _exact(scaled, asked) if len(asked) <= _EXACT else _probed(scaled)[asked]
    return np.clip(share, 0.0, 1.0) * size[asked] * most


def is_exact(asked: Indices) -> bool:
    return len(asked) <= _EXACT


def band(left: Floats, variance: Floats) -> Floats:
    """By what share of itself what was probed may be off: two standard deviations."""
    share = np.clip(left / variance, 1e-3, 1.0)
    return 2 * np.sqrt(2 * (1 - share) / share / _PROBES)


def _exact(scaled: csr_array, asked: Indices) -> Floats:
    by_cell = scaled.T.tocsr()
    share = np.ones(len(asked))
    for some in _blocks(len(asked), scaled.shape[0]):
        right = by_cell[asked[some]].T.toarray()
        share[some] -= (right * _solved(scaled, by_cell, right)).sum(axis=0)
    return share


def _probed(scaled: csr_array) -> Floats:
    by_cell = scaled.T.tocsr()
    rng = np.random.default_rng(0)  # the same in every audit of a table
    share = np.zeros(scaled.shape[1])
    for some in _blocks(_PROBES, max(scaled.shape)):
        signs = rng.choice([-1.0, 1.0], (scaled.shape[1], some.stop - some.start))
        fitted = by_cell @ _solved(scaled, by_cell, scaled @ signs)
        share += (signs * (signs - fitted)).sum(axis=1)
    return share / _PROBES


def _blocks(columns: int, rows: int) -> list[slice]:
    width = max(_TOGETHER // max(rows, 1), 1)
    return [slice(start, min(start + width, columns)) for start in range(0, columns, width)]


def _solved(scaled: csr_array, by_cell: csr_array, right: Floats) -> Floats:
    """By conjugate gradients with the diagonal: equations that follow from each other do no harm, as the right sides
    are theirs, too."""
    diagonal = np.asarray((scaled * scaled).sum(axis=1)).reshape(-1, 1)
    weight = 1 / np.where(diagonal > 0, diagonal, 1.0)
    found = np.zeros_like(right)
    rest = right.copy()
    along = weight * rest
    energy = (rest * along).sum(axis=0)
    enough = _NEAR**2 * energy
    for _ in range(_STEPS):
        open_: Booleans = energy > enough
        if not open_.any():
            break
        image = scaled @ (by_cell @ along)
        curved = (along * image).sum(axis=0)
        pace = np.where(open_ & (curved > 0), energy / np.where(curved > 0, curved, 1.0), 0.0)
        found += pace * along
        rest -= pace * image
        near = weight * rest
        after = (rest * near).sum(axis=0)
        along = near + np.where(energy > 0, after / np.where(energy > 0, energy, 1.0), 0.0) * along
        energy = after
    return found
