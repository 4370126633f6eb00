"""Rank swapping with windows that the intruder knows: over many variables few records fit all windows.

Source: Torra (2013), rank swapping record linkage.
"""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from sluice.utility.comparison import Comparison
from tests.red_team.case import Attack, Case
from tests.red_team.files import CENSUS, Data, census, files_of, masked_by, nhanes

Windows = Mapping[str, float]
"""The window of each swapped variable."""


def swapped(windows: Windows, **others: object) -> Comparison:
    """A step for each window, and perhaps one more for the variables left."""
    steps = [
        {"method": "rank_swapping", "columns": [name for name in windows if windows[name] == window], "window": window}
        for window in dict.fromkeys(windows.values())
    ]
    left = [name for name in CENSUS if name not in windows]
    return masked_by(census(600), [*steps, *([{"columns": left, **others}] if others else [])])


def windows_intersected(windows: Windows) -> Attack:
    """See `CASES`: the share of people whose record is one of those that fit all windows, shared among them."""

    def attack(files: Comparison) -> float:
        n = len(files.original)
        fits = np.ones((n, n), np.bool_)
        for name, window in windows.items():
            values = np.sort(files.original[name].to_numpy(float))
            low = np.searchsorted(values, files.original[name].to_numpy(float), "left")
            high = np.searchsorted(values, files.original[name].to_numpy(float), "right") - 1
            mine = files.masked[name].to_numpy(float)
            first, last = np.searchsorted(values, mine, "left"), np.searchsorted(values, mine, "right") - 1
            reach = int(window * n)
            fits &= (last[None, :] >= low[:, None] - reach) & (first[None, :] <= high[:, None] + reach)
        return float((fits.diagonal() / fits.sum(axis=1)).mean())

    return attack


def windows_and_noise(windows: Windows, amount: float) -> Attack:
    """Of the records that fit all windows the one whose other variables lie nearest, in units of their noise."""

    def attack(files: Comparison) -> float:
        right = 0
        left = [name for name in CENSUS if name not in windows]
        before, after = files.original[left].to_numpy(float), files.masked[left].to_numpy(float)
        noise = np.sqrt(amount) * before.std(axis=0)
        ranks = files.original[list(windows)].rank(method="average").to_numpy()
        masked_ranks = files.masked[list(windows)].rank(method="average").to_numpy()
        reach = np.array(list(windows.values())) * len(before)
        for person in range(len(before)):
            outside = (np.abs(masked_ranks - ranks[person]) > reach + 1).sum(axis=1)  # of heaps the mean rank
            distance = (((after - before[person]) / noise) ** 2).sum(axis=1) + 1e6 * outside
            right += int(distance.argmin() == person)
        return right / len(before)

    return attack


def one_order(data: Callable[[], Data], window: float) -> Comparison:
    """Ranks exchanged within a window, with the seed set anew for each column: of all columns by one order."""
    frame, variables = data()
    frame = frame.astype(float)
    n, masked = len(frame), frame.copy()
    random, partner = np.random.default_rng(0), np.arange(n)
    for rank in range(n):
        free = [other for other in range(rank + 1, min(n, rank + int(window * n) + 1)) if partner[other] == other]
        if partner[rank] == rank and free:
            other = free[int(random.integers(len(free)))]
            partner[rank], partner[other] = other, rank
    for name in frame:
        values, order = frame[name].to_numpy(), np.argsort(frame[name].to_numpy(), kind="stable")
        moved = np.empty_like(values)
        moved[order] = values[order][partner]
        masked[name] = moved
    return files_of(frame, masked, variables)


def ranks_followed(files: Comparison) -> float:
    """Whose record lies nearest to where values of the same ranks went in columns of the first half of the people."""
    before, after = files.original.to_numpy(float), files.masked.to_numpy(float)
    n, half = len(before), len(before) // 2
    ranks = np.argsort(np.argsort(before, axis=0, kind="stable"), axis=0)
    places = np.column_stack([np.searchsorted(np.sort(column), column) for column in after.T]).astype(float)
    went = np.full(n, np.nan)
    for column in np.argsort([len(np.unique(values)) for values in after.T]):  # those with fewest ties last
        went[ranks[:half, column]] = places[:half, column]
    right = 0
    for person in range(half, half + 200):
        expected = went[ranks[person]]
        apart = np.minimum(np.nan_to_num(np.abs(places - expected)), n / 20).sum(axis=1)
        right += int(apart.argmin() == person)
    return right / 200


def small_survey() -> Data:
    return nhanes(1_500)


EACH = {f"window {window:g}": dict.fromkeys(CENSUS, window) for window in (0.05, 0.1, 0.15)}
STEPS = dict(zip(CENSUS, np.repeat([0.05, 0.1, 0.15], 4).tolist(), strict=True))
SIX = dict.fromkeys(CENSUS[:6], 0.1)

CASES = (
    *(
        Case(f"one order of ranks for all columns: {data.__name__}", partial(one_order, data, 0.3), ranks_followed, 0.9,
             more=data is census)
        for data in (small_survey, census)
    ),
    *(
        Case(f"rank swapping of Census, {name}", partial(swapped, windows), windows_intersected(windows), 0.5)
        for name, windows in (EACH | {"in several steps, windows from 0.05 to 0.15": STEPS}).items()
    ),
    Case(
        "rank swapping of six variables of Census, noise on the other six",
        partial(swapped, SIX, method="additive_noise", amount=0.1), windows_and_noise(SIX, 0.1), 0.4,
    ),
)  # fmt: skip
