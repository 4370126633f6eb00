"""What readers of counts with noise may take for likely, where the figures prove nothing.

Noise that hardly ever comes hides nothing, however large it is. So besides what figures prove, it is asked what they
make likely: a count counts as possible where it gives the figures at least a twentieth as often as the likeliest one.
Such an interval misses the truth now and then, so it is never put together with other such intervals: of many, some
are wrong, and what follows from all is nothing.

Two readers, each as exact as can be. One looks at the figure of a cell alone. The other makes all figures add up, by
least squares, which leaves of each cell's noise what the sums do not tell. Where the noise is far from normal, it is
taken for normal noise of the same entropy.

What they find depends on the key, and who draws another key until a table passes has chosen the noise. So it is asked
what they find under most keys: a verdict is one on the table and its noise. For the same reason it is asked under how
many keys a figure is proof for some cell, whatever this key made of it.

Source: Royall (1997), "Statistical Evidence", for the likelihood ratio; which counts the noise must leave is this
project's own.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from sluice.tabular.alternatives.attacker_interval import NoisyCounts
from sluice.tabular.alternatives.noise_left import band, is_exact, left_variance
from sluice.tabular.alternatives.perturbation_table import UNLIKELY, Keys, PerturbationTable
from sluice.tabular.model.cells import Booleans, Floats, Integers
from sluice.tabular.model.known_sums import Indices

_MOST_KEYS = 0.5
_REACH = float(np.sqrt(2 * np.log(1 / UNLIKELY)))  # standard deviations to where a normal density is so unlikely
_NEAREST = 1_000  # cells that are solved for one by one where random right sides leave them open
_TINY = 1e-9


class LikelyTold(NamedTuple):
    """Of which sensitive cells likely counts tell somebody too much; shapes (c,).

    by_proof  : under some keys by the figure alone, and for certain; none where that is under less than 1 key in 20
    by_figure : under most keys by the figure alone
    by_sums   : under most keys by all figures, made to add up
    left      : the smallest standard deviation that the latter leaves of the noise of a sensitive cell
    variance  : of the noise
    """

    by_proof: Booleans
    by_figure: Booleans
    by_sums: Booleans
    left: float
    variance: float

    @property
    def failing(self) -> Booleans:
        return self.by_proof | self.by_figure | self.by_sums

    def says(self) -> str:
        """For a reader; empty where nothing is told."""
        says, limit = "", f"{1 / UNLIKELY:.0f}"
        if self.by_proof.any():
            says += (
                f" For {int(self.by_proof.sum()):,} sensitive cells the figure alone can be proof: under more than 1 "
                f"key in {limit} one of them gets a figure behind which every possible count is too small, or too few "
                "are possible."
            )
        if self.by_figure.any():
            says += (
                f" {int(self.by_figure.sum()):,} sensitive cells are given away by their own figures under most keys: "
                f"counts that must stay possible give such a figure less than 1/{limit} as often as the likeliest one."
            )
        if self.by_sums.any():
            says += (
                f" {int(self.by_sums.sum()):,} sensitive cells are given away by the sums under most keys: a reader "
                f"who makes all figures add up is left with an error of {self.left:.2g} on average (root mean square) "
                f"where a figure alone has {self.variance**0.5:.2g}, and counts that must stay possible are less than "
                f"1/{limit} as likely as the likeliest one."
            )
        return says


@dataclass(frozen=True, eq=False)
class LikelyCounts:
    """intruders : what is known and asked besides the figures; its intervals are not looked at
    keys      : shape (c,), of the cells; the only part of a sum has the same records and key, and so the same figure
    """

    intruders: NoisyCounts
    table: PerturbationTable
    keys: Keys

    def read(self) -> LikelyTold:
        """What the two readers find. Cost: as of `by_sums`, and the figures that each sensitive cell may have."""
        return LikelyTold(self.by_proof(), self.by_figure(), *self.by_sums(), self.table.variance)

    def by_proof(self) -> Booleans:
        """Of which sensitive cells the own figure proves too much under some keys, where it does of any of them under
        more than one key in 20; shape (c,)."""
        share = self._share(self._alone, least=0.0)
        any_of_them = 1 - np.prod(1 - share)
        return (share > 0) & (any_of_them > UNLIKELY)

    def by_figure(self) -> Booleans:
        """Of which sensitive cells the own figure tells somebody too much under most keys; shape (c,)."""
        return self._share(self._alone) > _MOST_KEYS

    @property
    def _alone(self) -> Floats:
        return np.where(self.intruders.requirements.sensitive & self.intruders.cells.published, np.inf, np.nan)

    def by_sums(self) -> tuple[Booleans, float]:
        """Of which sensitive cells all figures together tell somebody too much under most keys, shape (c,); and the
        standard deviation that they leave where they leave least.

        cost : as of `left_variance`, twice where more than 1,000 cells are sensitive, and as of `by_figure`
        """
        cells = self.intruders.cells
        asked = np.flatnonzero(self.intruders.requirements.sensitive)
        variance = np.where(cells.published, self.table.hiding_variance(np.maximum(cells.total, 1)), np.inf)
        left = np.full(len(cells), np.nan)
        equations, same = self._once()
        left[asked] = left_variance(equations, variance, same[asked])
        if not is_exact(asked):
            off = band(left, variance)
            open_ = self._told(_others(left * np.maximum(1 - off, 0), variance))
            open_ &= ~self._told(_others(left * (1 + off), variance))
            nearest = np.flatnonzero(open_)[:_NEAREST]
            left[nearest] = left_variance(equations, variance, same[nearest])
        return self._told(_others(left, variance)), float(np.sqrt(np.nanmin(left, initial=np.inf)))

    def _once(self) -> tuple[csr_array, Indices]:
        """The equations in which cells of the same records stand as the first of them alone; for each cell, which."""
        equations = self.intruders.cells.equations.tocsr()
        starts = equations.indptr[:-1][np.diff(equations.indptr) == 2]
        one, other = equations.indices[starts], equations.indices[starts + 1]
        alike = self.keys[one] == self.keys[other]
        size = equations.shape[1]
        links = csr_array((np.ones(alike.sum()), (one[alike], other[alike])), shape=(size, size))
        _, label = connected_components(links, directed=False)
        same = np.unique(label, return_index=True)[1][label]
        merged = csr_array((np.ones(size), (np.arange(size), same)), shape=(size, size))
        return csr_array(equations @ merged), same

    def _told(self, others: Floats) -> Booleans:
        """Of which cells too much is told under most keys; `others` as in `_share`."""
        cells, reach = self.intruders.cells, _REACH * np.sqrt(others)
        beside = self.intruders.told(np.ceil(cells.total - reach), np.floor(cells.total + reach)) & ~np.isnan(others)
        return np.where(cells.published, self._share(others) > _MOST_KEYS, beside)

    def _share(self, others: Floats, least: float = UNLIKELY) -> Floats:
        """Under what share of the keys too much is told of each cell, by its figure and what the others tell; (c,).

        others : shape (c,), the variance with which all other figures tell the count; infinite: they do not; NaN: the
                 cell is not asked about
        least  : as in `PerturbationTable.origins`
        """
        cells, intruders, most = self.intruders.cells, self.intruders, self.table.maximum
        share = np.zeros(len(cells))
        at = np.flatnonzero(cells.published & ~np.isnan(others))
        chances = self.table.chances(cells.total[at])
        for place in np.flatnonzero(chances.any(axis=0)):
            low, high = np.full((2, len(cells)), np.nan)
            low[at], high[at] = self._likely(cells.total[at], int(place) - most, others[at], least)
            share[at] += np.where(intruders.told(low, high)[at], chances[:, place], 0)
        return share

    def _likely(self, total: Integers, noise: int, others: Floats, least: float) -> tuple[Floats, Floats]:
        """From what to what the counts are likely of which the others' figures tell the truth on average; shapes (a,).

        NaN where the figure is below 0. Looked at once for all cells of one count that others tell alike.
        """
        most = self.table.maximum
        asked, where = np.unique(np.column_stack([total, others]), axis=0, return_inverse=True)
        count, spread = asked[:, 0].astype(np.int64), asked[:, 1]
        low, high = np.full((2, len(count)), np.nan)
        best = np.zeros(len(count))
        candidates = []
        for other in range(-most, most + 1):  # the noise that would have made a candidate the figure
            candidate = count + noise - other
            weight = self.table.chances(np.maximum(candidate, 0))[:, other + most]
            weight = weight * np.exp(-((candidate - count) ** 2) / (2 * spread))
            weight[candidate < 0] = 0
            best = np.where(candidate > 0, np.maximum(best, weight), best)  # an empty cell is not listed
            candidates.append((candidate, weight))
        for candidate, weight in candidates:
            likely = (weight > 0) & (weight >= least * best) & (count + noise >= 0)
            low = np.where(likely, np.fmin(low, candidate), low)
            high = np.where(likely, np.fmax(high, candidate), high)
        return low[where.ravel()], high[where.ravel()]


def _others(left: Floats, variance: Floats) -> Floats:
    """The variance with which all figures but the cell's own tell its count: precisions add up."""
    precision = 1 / np.maximum(left, _TINY) - 1 / np.maximum(variance, _TINY)
    return 1 / np.maximum(precision, _TINY)
