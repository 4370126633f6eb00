"""Rank swapping with a window that the intruder knows: over many variables few records fit all windows.

Source: Torra (2013), rank swapping record linkage.
"""

import numpy as np

from policies.original_and_masked import OriginalAndMasked
from tests.red_team.case import Attack, Case
from tests.red_team.files import CENSUS, census, masked_by


def swapped(window: float) -> OriginalAndMasked:
    step = {"method": "rank_swapping", "columns": list(CENSUS), "window": window}
    return masked_by(census(), [step])


def windows_intersected(window: float) -> Attack:
    """See `CASES`: the share of people whose record is one of those that fit all windows, shared among them."""

    def attack(files: OriginalAndMasked) -> float:
        n = len(files.original)
        fits = np.ones((n, n), np.bool_)
        for name in CENSUS:
            values = np.sort(files.original[name].to_numpy(float))
            low = np.searchsorted(values, files.original[name].to_numpy(float), "left")
            high = np.searchsorted(values, files.original[name].to_numpy(float), "right") - 1
            mine = files.masked[name].to_numpy(float)
            first, last = np.searchsorted(values, mine, "left"), np.searchsorted(values, mine, "right") - 1
            reach = int(window * n)
            fits &= (last[None, :] >= low[:, None] - reach) & (first[None, :] <= high[:, None] + reach)
        return float((fits.diagonal() / fits.sum(axis=1)).mean())

    return attack


CASES = tuple(
    Case(
        name=f"rank swapping of Census, window {window:g}",
        make=lambda window=window: swapped(window),
        attack=windows_intersected(window),
        reaches=0.5,
        chance=0.01,
        rules=("learned_linkage", "transparency"),
    )
    for window in (0.05, 0.1)
)
