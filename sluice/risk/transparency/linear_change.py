"""The attack on noise, rotation, projection and groups of several numbers: released values scatter around a linear map.

Sources: Fuller (1993), the likelihood of a released record given the known one under noise of known covariance;
Huang, Du and Chen (2005), where noise falls into directions in which the data hardly vary. The intruder who knows
method and parameters knows map and scatter: from formulas for plain noise, and from masking a file of his own for the
rest. Here both are the least squares of true pairs, of other people than those attacked.

The attack that filters noise: a released value is corrected by what the other released values of the record tell.

Sources: Kargupta, Datta, Wang and Sivakumar (2003), spectral filtering; Huang, Du and Chen (2005), section 6: the best
linear estimate of the original values where data and noise have known covariances. Noise that is drawn for each
variable by itself falls into directions in which correlated data do not vary, and is taken away there.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.risk.spread import spread
from sluice.risk.transparency.attack import RANKED, Attack, Leak, Pairs, paired_share
from sluice.risk.transparency.linkage import Likelihood, Linkage

_PAIRS_OF_COVARIANCE = 5000  # true pairs to learn the covariances from
CLOSE = 0.1  # of a spread

_EXAMPLES = 5000  # true pairs to learn from
_PAIRS = 3  # true pairs that each coefficient needs
_FLOOR = 1e-10  # scatter that counts as none, a share of the largest


@dataclass(frozen=True)
class LinearChange(Linkage):
    """Compare each released record with what the known one is expected to become, in units of the scatter.

    how : what the intruder knows, to follow 'knows'
    """

    how: str

    kinds = RANKED

    @property
    def knows(self) -> str:
        return self.how

    def likelihood(self, pairs: Pairs) -> Likelihood:
        known, published = pairs.known(self.columns), pairs.published(self.columns)
        gaps, gaps_after = np.isnan(known), np.isnan(published)
        stays = bool((gaps == gaps_after).all())  # a missing value remains missing, and so tells
        models = {
            (tuple(pattern.tolist()), parity): _Model.fit(known, published, ~pattern, 1 - parity, stays)
            for pattern in np.unique(gaps[pairs.rows], axis=0)
            for parity in (0, 1)
        }

        def of(rows: IntArray) -> FloatArray:
            logs = np.full((len(rows), len(published)), -np.inf)
            for pattern, parity, at in _alike(gaps, rows):
                models[pattern, parity].fill(logs, at, known[rows[at]])
            return logs

        return of


def _alike(gaps: BoolArray, rows: IntArray) -> Iterator[tuple[tuple[bool, ...], int, IntArray]]:
    """The people of one pattern of missing values and one half: pattern, half, positions in `rows`."""
    patterns, of_row = np.unique(gaps[rows], axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        for parity in (0, 1):
            at = np.flatnonzero((of_row.ravel() == number) & (rows % 2 == parity))
            if len(at):
                yield tuple(pattern.tolist()), parity, at


@dataclass(frozen=True)
class _Model:
    """What people who miss the same values become.

    present    : the variables that they have
    candidates : released records that can be theirs
    expected   : (present + 1, present) from their values and 1 to what is expected
    whitening  : (present, .) to units of scatter
    released   : (candidates, .) the candidates in these units
    """

    present: IntArray
    candidates: IntArray
    expected: FloatArray
    whitening: FloatArray
    released: FloatArray

    @classmethod
    def fit(cls, known: FloatArray, published: FloatArray, present: BoolArray, parity: int, stays: bool) -> "_Model":
        """From pairs of this parity that have these variables in both files."""
        columns = np.flatnonzero(present)
        fits = ~np.isnan(published[:, columns]).any(axis=1)
        if stays:
            fits &= np.isnan(published[:, ~present]).all(axis=1)
        candidates = np.flatnonzero(fits)
        complete = ~np.isnan(known[:, columns]).any(axis=1) & ~np.isnan(published[:, columns]).any(axis=1)
        learning = np.flatnonzero(complete & (np.arange(len(known)) % 2 == parity))[:_EXAMPLES]
        if not len(learning):
            learning = np.flatnonzero(complete)[:_EXAMPLES]
        before, after = known[np.ix_(learning, columns)], published[np.ix_(learning, columns)]
        expected, scatter = linear_map(before, after)
        eigenvalues, axes = np.linalg.eigh(scatter)
        kept = eigenvalues > _FLOOR * max(eigenvalues.max(initial=0.0), 1e-300)
        whitening = axes[:, kept] / np.sqrt(eigenvalues[kept])
        return cls(columns, candidates, expected, whitening, published[np.ix_(candidates, columns)] @ whitening)

    def fill(self, logs: FloatArray, at: IntArray, known: FloatArray) -> None:
        """Set the logs of these people and their candidates."""
        before = np.column_stack([known[:, self.present], np.ones(len(known))])
        place = before @ self.expected @ self.whitening
        squared = (place**2).sum(axis=1)[:, None] - 2 * place @ self.released.T + (self.released**2).sum(axis=1)
        logs[np.ix_(at, self.candidates)] = -0.5 * squared


def linear_map(before: FloatArray, after: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The least squares of `after` on `before` and 1, shape (p + 1, r), and the covariance of what remains, (r, r).

    before, after : shapes (n, p) and (n, r), finite. Where few pairs are left for so many variables, the remainder is
                    drawn towards one without correlations; with very few, the map is taken to change nothing
    """
    n, p = before.shape
    if n < _PAIRS * (p + 1) and before.shape == after.shape:
        differences = ((after - before) ** 2).mean(axis=0) if n else np.ones(p)
        return np.vstack([np.eye(p), np.zeros(p)]), np.diag(differences)
    means, spreads = (before.mean(axis=0), before.std(axis=0)) if n else (np.zeros(p), np.ones(p))
    spreads[spreads == 0] = 1.0
    scaled = np.column_stack([(before - means) / spreads, np.ones(n)])
    solved = np.linalg.lstsq(scaled, after, rcond=1e-10)[0]
    left = after - scaled @ solved
    scatter = left.T @ left / max(1, n - p - 1)
    own = np.diag(scatter)
    pull = min(1.0, p / max(n, 1))
    solved[:-1] /= spreads[:, None]
    solved[-1] -= means @ solved[:-1]
    return solved, (1 - pull) * scatter + pull * np.diag(own)


@dataclass(frozen=True)
class Filtering(Attack):
    """Estimate each original value from all released ones of the record.

    how : what the intruder knows, to follow 'knows'
    """

    how: str

    @property
    def knows(self) -> str:
        return self.how

    def play(self, pairs: Pairs) -> tuple[Leak, ...]:
        """Share of the values that are closely computed; the baseline is the share that the released values tell as
        they stand, or a guess of the middle."""
        names = [name for name in self.columns if name in pairs.released and pairs.released[name].kind.is_numeric]
        known, published = pairs.known(names), pairs.published(names)
        complete = np.flatnonzero(~np.isnan(known).any(axis=1) & ~np.isnan(published).any(axis=1))
        attacked = np.intersect1d(complete, pairs.rows)
        spreads = np.array([spread(values) for values in known.T])
        hit, plain = np.zeros(known.shape, np.bool_), np.zeros(known.shape, np.bool_)
        for parity in (0, 1):
            learning, judged = complete[complete % 2 != parity][:_PAIRS_OF_COVARIANCE], attacked[attacked % 2 == parity]
            if not len(learning) or not len(judged):
                continue
            back, _ = linear_map(published[learning], known[learning])
            middle = np.median(known[learning], axis=0)
            for at, truth in ((learning, known[learning]), (judged, known[judged])):
                estimates = np.column_stack([published[at], np.ones(len(at))]) @ back, published[at], middle + 0 * truth
                close = [np.abs(each - truth) <= CLOSE * spreads for each in estimates]
                if at is learning:  # which to take is decided on other people's records
                    shares = [each.mean(axis=0) for each in close]
                    filtered = shares[0] > np.maximum(shares[1], shares[2])
                    as_it_stands = shares[1] >= shares[2]
                else:
                    plain[judged] = np.where(as_it_stands, close[1], close[2])
                    hit[judged] = np.where(filtered, close[0], plain[judged])
        measured = paired_share(hit[attacked].mean(axis=1), plain[attacked].mean(axis=1), len(complete))
        return (Leak("reconstructed", measured, "to within a tenth of the spread"),)
