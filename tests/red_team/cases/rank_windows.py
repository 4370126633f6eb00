"""Rank swapping with windows that the intruder knows: over many variables few records fit all windows.

Source: Torra (2013), rank swapping record linkage.
"""

from collections.abc import Mapping
from functools import partial

import numpy as np

from sluice.utility.comparison import Comparison
from tests.red_team.case import Attack, Case
from tests.red_team.files import CENSUS, census, masked_by

Windows = Mapping[str, float]
"""The window of each swapped variable."""


def swapped(windows: Windows, **others: object) -> Comparison:
    """A step for each window, and perhaps one more for the variables left."""
    steps = [
        {"method": "rank_swapping", "columns": [name for name in windows if windows[name] == window], "window": window}
        for window in dict.fromkeys(windows.values())
    ]
    left = [name for name in CENSUS if name not in windows]
    return masked_by(census(), [*steps, *([{"columns": left, **others}] if others else [])])


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


EACH = {f"window {window:g}": dict.fromkeys(CENSUS, window) for window in (0.05, 0.1, 0.15)}
STEPS = dict(zip(CENSUS, np.repeat([0.05, 0.1, 0.15], 4).tolist(), strict=True))
SIX = dict.fromkeys(CENSUS[:6], 0.1)

CASES = (
    *(
        Case(f"rank swapping of Census, {name}", partial(swapped, windows), windows_intersected(windows), 0.5)
        for name, windows in (EACH | {"in several steps, windows from 0.05 to 0.15": STEPS}).items()
    ),
    Case(
        "rank swapping of six variables of Census, noise on the other six",
        partial(swapped, SIX, method="additive_noise", amount=0.1), windows_and_noise(SIX, 0.1), 0.4,
    ),
)  # fmt: skip
