"""The attack that filters noise: a released value is corrected by what the other released values of the record tell.

Sources: Kargupta, Datta, Wang and Sivakumar (2003), spectral filtering; Huang, Du and Chen (2005), section 6: the best
linear estimate of the original values where data and noise have known covariances. Noise that is drawn for each
variable by itself falls into directions in which correlated data do not vary, and is taken away there.
"""

from dataclasses import dataclass

import numpy as np

from sluice.risk.spread import spread
from sluice.risk.transparency.attack import Attack, Leak
from sluice.risk.transparency.linear_change import linear_map
from sluice.risk.transparency.pairs import Pairs, paired_share

_EXAMPLES = 5000  # true pairs to learn the covariances from
CLOSE = 0.1  # of a spread


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
            learning, judged = complete[complete % 2 != parity][:_EXAMPLES], attacked[attacked % 2 == parity]
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
