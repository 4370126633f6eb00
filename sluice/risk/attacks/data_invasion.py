"""Data invasion: how often the original value can be told from the masked values of that one variable alone.

Source: Yamazoe and Omote (2021), section 4.2, Algorithms 1 and 2. The intruder ranks, for each possible value, all
masked records by their nearness to it, and takes each record for the value in whose ranking it stands highest. At
level 1 he knows which values are possible; at level 2 he also knows how frequent they are, and weighs the ranks by it.

The source leaves the distance open: here it is |1 - y| for the column of a category's own dummy or probability y (with
it Table 7 comes out nearest) and |x - y| for numbers. Added to the source: ties are shared, so that a guess among three
equal candidates counts as a third of a hit; labels that stand for several values; missing values.

The baseline is the source's: the share of the most frequent value, which is what guessing reaches without the file. The
intruder needs no key between the two files, but to count his hits one must know which masked record is whose.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.comparable_values import plain_values
from sluice.ground.divergence import interval_edges
from sluice.ground.errors import DataError
from sluice.risk.attacks.attack_success import AttackSuccess
from sluice.risk.measurement import Measurement

_MOST_VALUES = 100  # numbers with more different values are guessed to an interval


def guess_chances(distances: Iterable[FloatArray], truth: IntArray, shares: FloatArray | None = None) -> FloatArray:
    """The probability with which each record's original value is guessed, ties drawn at random.

    distances : for each possible value in turn, how far each masked record lies from it, shape (n,); infinite for a
                record whose masked value is missing, which then comes last in every ranking
    truth     : shape (n,), the number of the record's original value; -1 where it has none
    shares    : shape (v,), how frequent each value is in the original (level 2); None: unknown (level 1)
    returns   : shape (n,), 1 / (values tied for the best) where the true one is among them, else 0
    source    : Yamazoe and Omote (2021), Algorithms 1 and 2; ranks are averaged over ties, Pr(x | masked) = rank / n
    cost      : O(v n log n) time, O(n) memory
    """
    from scipy.stats import rankdata

    n = len(truth)
    best, tied, hit = np.full(n, -1.0), np.zeros(n), np.zeros(n, np.bool_)
    for value, distance in enumerate(distances):
        score = rankdata(-distance)  # the rank of 1 / distance; not divided by n, so that equal ranks stay equal
        if shares is not None:
            score *= shares[value]
        above, level = score > best, score == best
        best = np.maximum(best, score)
        tied = np.where(above, 1.0, tied + level)
        hit = np.where(above, truth == value, hit | (level & (truth == value)))
    return np.where(hit, 1.0 / np.maximum(tied, 1.0), 0.0)


def data_invasion(
    original: "pd.Series[Any]", recoded: "pd.Series[Any]", masked: "pd.Series[Any] | pd.DataFrame", level: int = 2
) -> Measurement:
    """The share of people whose original value is guessed; higher is worse. The baseline is the modal share.

    original : typed column, shape (n,). Labels are guessed one by one; numbers and dates too, up to 100 different ones,
               else to one of 100 intervals of equal shares. A missing original value is nothing to guess: not attempted
    recoded  : the same records after the recodings of the plan alone: which values a released label stands for
    masked   : the same records as released: labels, numbers, or one column of probabilities a label, named by it.
               A missing masked value says nothing (at level 2 the most frequent value is guessed); one that the
               recodings do not explain cannot be read: not completed
    level    : 1 or 2, as in the source
    raises   : DataError on files of different lengths, or numbers that masking turned into labels by no recoding
    returns  : interval by Wilson, the people taken for a sample
    cost     : O(v n log n) time for v possible values, O(n v) memory at most for a released distribution
    """
    if level not in (1, 2):
        raise DataError(f"level of data invasion must be 1 or 2; got {level}")
    n = len(original)
    if not len(recoded) == len(masked) == n:
        raise DataError(f"data invasion needs the same records thrice; got {n}, {len(recoded)} and {len(masked)}")
    truth, places = possible_values(original)
    counts = np.bincount(truth[truth >= 0], minlength=len(places))
    distance, readable = _distances(truth, places, recoded, masked)
    attacked = (truth >= 0) & readable
    attempted, completed = int(counts.sum()), int(attacked.sum())
    if completed == 0:
        return Measurement(0.0, attempted, 0)
    shares = counts / counts.sum() if level == 2 else None
    chances = guess_chances((distance(value) for value in range(len(places))), truth, shares)
    hits = min(float(completed), float(chances[attacked].sum()))
    value, (centre, half) = hits / completed, AttackSuccess(attempted, completed, hits).wilson()
    interval = (max(0.0, min(value, centre - half)), min(1.0, max(value, centre + half)))
    baseline = float(np.bincount(truth[attacked]).max() / completed)
    return Measurement(value, attempted, completed, interval=interval, baseline=baseline)


@dataclass(frozen=True)
class _Places:
    """The possible values: where each number lies, or the labels."""

    values: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def are_numbers(self) -> bool:
        return self.values.dtype.kind == "f"


def possible_values(column: "pd.Series[Any]") -> tuple[IntArray, _Places]:
    """The number of each record's value, -1 where missing, and the possible values: labels, or places of numbers."""
    values = plain_values(column)
    if values.dtype.kind != "f":
        codes, labels = pd.factorize(values, sort=True)
        return codes.astype(np.int64), _Places(np.asarray(labels, dtype=object))
    present = values[~np.isnan(values)]
    edges = interval_edges(present, _MOST_VALUES)
    cells = np.searchsorted(edges, present, "right")
    held, cells = np.unique(cells, return_inverse=True)
    truth = np.full(len(values), -1)
    truth[~np.isnan(values)] = cells
    return truth, _Places(np.array([np.median(present[cells == cell]) for cell in range(len(held))]))


def _distances(
    truth: IntArray, places: _Places, recoded: "pd.Series[Any]", masked: "pd.Series[Any] | pd.DataFrame"
) -> tuple[Callable[[int], FloatArray], npt.NDArray[np.bool_]]:
    """The distance of every masked record from one possible value, and which masked values can be read."""
    n = len(truth)
    labels = plain_values(recoded)
    if isinstance(masked, pd.Series) and places.are_numbers and labels.dtype.kind == "f":
        numbers = plain_values(masked)
        if numbers.dtype.kind != "f":
            raise DataError(f"'{recoded.name}' holds numbers before masking and labels after it, by no recoding")
        lost = np.isnan(numbers)
        return lambda value: np.where(lost, np.inf, np.abs(places.values[value] - numbers)), np.ones(n, np.bool_)
    # What a label stands for: equally likely each of the values that carry it after the recodings.
    label_codes, label_names = pd.factorize(labels)
    stands_for = np.zeros((len(label_names), len(places)))
    known = (label_codes >= 0) & (truth >= 0)
    stands_for[label_codes[known], truth[known]] = 1.0
    stands_for /= np.maximum(stands_for.sum(axis=1, keepdims=True), 1.0)
    index = pd.Index(label_names)
    if isinstance(masked, pd.DataFrame):
        column_of = index.get_indexer(pd.Index(masked.columns))
        weights = masked.to_numpy(np.float64, na_value=np.nan)[:, column_of >= 0]
        expected = weights @ stands_for[column_of[column_of >= 0]]
        return lambda value: np.nan_to_num(np.abs(1.0 - expected[:, value]), nan=np.inf), np.ones(n, np.bool_)
    released = plain_values(masked)
    lost = pd.isna(released)
    code = index.get_indexer(pd.Index(released))
    near = np.vstack([stands_for, np.full(len(places), -np.inf)])  # the last row: missing, or nothing that is known

    def distance(value: int) -> FloatArray:
        return np.asarray(1.0 - near[np.where(code >= 0, code, -1), value])

    return distance, (code >= 0) | lost
