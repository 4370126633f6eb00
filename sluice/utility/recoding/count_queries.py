"""Count queries: how far the answers to random questions 'how many records have ...' lie from the original's.

Sources: LeFevre, DeWitt and Ramakrishnan (2006) and Xiao and Tao (2006), relative error of count queries with random
ranges, answered as if a group's records lay evenly in it; Garofalakis and Kumar (2005), the sanity bound, by which an
answer near 0 does not decide. Differs from them: queries are over common bins of the unrecoded original.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sluice.ground.arrays import BoolArray, Codes, FloatArray, narrow
from sluice.ground.errors import DataError
from sluice.utility.common_bins import CommonBins

QUERIES = 500
DIMENSIONS = 3
SANITY = 0.001


class QueryError(NamedTuple):
    """Relative errors of the queries, 0 for right answers, higher is worse.

    median   : of all queries; NaN where a file has no record or there is no variable
    interval : 95 %, for the median of all queries of this kind, by order statistics
    mean     : which a few bad answers can make large
    queries  : how many were asked
    """

    median: float
    interval: tuple[float, float]
    mean: float
    queries: int


def query_error(
    bins: Sequence[CommonBins],
    rng: np.random.Generator,
    queries: int = QUERIES,
    dimensions: int = DIMENSIONS,
    sanity: float = SANITY,
    original_weight: FloatArray | None = None,
    masked_weight: FloatArray | None = None,
) -> QueryError:
    """The error |answer - truth| / max(truth, sanity) of random queries, in shares of the records.

    bins       : the variables on common bins, removed ones included
    rng        : draws for each query as many variables as `dimensions`, or all of fewer, and of each a range: of
                 ordered bins a run of one or more, of categories any set; missing values are in no range
    queries    : how many are asked, at least 10
    sanity     : the share of the records below which a truth counts as if it were this
    weights    : (n,) and (m,), finite and not negative; None: every record weighs 1
    raises     : DataError for too few queries, or dimensions or a sanity bound that are not above 0
    cost       : O((n + m) queries dimensions): 500 queries of 1,000,000 records take about 2 s
    """
    if queries < 10 or dimensions < 1 or not sanity > 0:
        raise DataError("count queries need 10 queries, 1 dimension and a sanity bound above 0, or more.")
    asked = [each for each in bins if each.bins > 1]
    nothing = float("nan")
    if not asked or not len(asked[0].original) or not len(asked[0].masked):
        return QueryError(nothing, (nothing, nothing), nothing, 0)
    codes = [(narrow(each.original, each.bins), narrow(each.masked, each.codes)) for each in asked]
    weights = [
        np.ones(len(code)) if weight is None else weight
        for weight, code in zip((original_weight, masked_weight), codes[0], strict=True)
    ]
    totals = [float(weight.sum()) for weight in weights]
    if not min(totals) > 0:
        return QueryError(nothing, (nothing, nothing), nothing, 0)
    errors = np.empty(queries)
    for query in range(queries):
        places = np.sort(rng.choice(len(asked), min(dimensions, len(asked)), replace=False)).tolist()
        inside = [_range(asked[place], rng) for place in places]
        truth = _answer([codes[place][0] for place in places], inside, weights[0]) / totals[0]
        shares = [asked[place].spread @ chosen for place, chosen in zip(places, inside, strict=True)]
        answer = _answer([codes[place][1] for place in places], shares, weights[1]) / totals[1]
        errors[query] = abs(answer - truth) / max(truth, sanity)
    ranked = np.sort(errors)
    half = 0.98 * np.sqrt(queries)
    low, high = max(0, int(np.floor(queries / 2 - half))), min(queries - 1, int(np.ceil(queries / 2 + half)))
    return QueryError(
        float(np.median(errors)), (float(ranked[low]), float(ranked[high])), float(errors.mean()), queries
    )


def _range(each: CommonBins, rng: np.random.Generator) -> FloatArray:
    """(bins,): 1 for a bin that is asked for; none of missing values."""
    size = each.bins - 1
    chosen = np.zeros(each.bins)
    if each.ordered:
        start, end = np.sort(rng.integers(0, size, 2))
        chosen[start : end + 1] = 1
        return chosen
    picked: BoolArray = rng.random(size) < 0.5
    picked[rng.integers(0, size)] = True
    chosen[:size] = picked
    return chosen


def _answer(codes: list[Codes], shares: list[FloatArray], weight: FloatArray) -> float:
    from sluice.utility.recoding.count_queries_kernel import fall, fallen  # compiled: loaded where it is needed

    if len(codes) > 3:
        weight = weight.copy()
        for code, share in zip(codes[3:], shares[3:], strict=True):
            fall(share, code, weight)
    nowhere, always = np.zeros(len(weight), dtype=np.uint8), np.ones(1)
    of = [*codes[:3], nowhere, nowhere][:3]
    by = [*shares[:3], always, always][:3]
    return float(fallen(by[0], of[0], by[1], of[1], by[2], of[2], weight))
