"""Variables that a permutation moves together, and that later steps perturb: whoever looks for a record in its own row
finds nobody, though the block stands somewhere as a whole. The intruder does not know rows, and looks everywhere."""

from functools import partial

import numpy as np

from sluice.utility.comparison import Comparison
from tests.red_team.attacks import own_is_nearest
from tests.red_team.case import Attack, Case
from tests.red_team.files import CENSUS, census, masked_by

SWAP: dict[str, object] = {"method": "data_swapping", "swap_rate": 1.0, "unmatched": "keep"}


def masked(step: dict[str, object], columns: tuple[str, ...], amount: float) -> Comparison:
    """Some columns moved, then noise on all."""
    noise = {"method": "additive_noise", "columns": list(CENSUS), "amount": amount}
    return masked_by(census(600), [step | {"columns": list(columns)}, noise])


def nearest(columns: tuple[str, ...], files: Comparison, rows: np.ndarray) -> float:
    """Who is found at `rows` by these columns, in units of the spread of the middle half."""
    before, after = files.original[list(columns)].to_numpy(float), files.masked[list(columns)].to_numpy(float)
    scale = np.subtract(*np.quantile(before, [0.75, 0.25], axis=0))
    return own_is_nearest(before / scale, after / scale, rows)


def nearest_of_partner(columns: tuple[str, ...]) -> Attack:
    """The nearest record by all; right where the partner's row was found. Who that is, swapping without noise tells."""

    def attack(files: Comparison) -> float:
        moved = masked_by(census(600), [SWAP | {"columns": list(columns)}]).masked[list(columns)]
        row_of = {tuple(values): row for row, values in enumerate(moved.to_numpy(float))}
        before = files.original[list(columns)].to_numpy(float)
        return nearest(columns, files, np.array([row_of[tuple(person)] for person in before]))

    return attack


def nearest_block(columns: tuple[str, ...]) -> Attack:
    """The nearest record by the block alone; right where it holds the values of the person, wherever it stands."""

    def attack(files: Comparison) -> float:
        (block,) = [each for each in files.blocks if set(each.columns) == set(columns)]
        return nearest(columns, files, block.rows)

    return attack


LEARNED = ("learned_linkage", "learned_claims")

CASES = (
    *(
        Case(
            f"{len(columns)} variables of Census moved together, noise of {amount:g} on all",
            partial(masked, {"method": "permutation"}, columns, amount), nearest_block(columns), 0.15, rules=LEARNED,
            more=True,
        )
        for columns, amount in ((CENSUS, 0.04), (CENSUS[:8], 0.04), (CENSUS, 0.1))
    ),
    *(
        Case(
            f"{len(columns)} variables of Census swapped with a partner, noise of {amount:g} on all",
            partial(masked, SWAP, columns, amount), nearest_of_partner(columns), 0.12, rules=LEARNED,
            policy="perturbed-file", more=columns == CENSUS,
        )
        for columns, amount in ((CENSUS, 0.1), (CENSUS[:9], 0.07))
    ),
)  # fmt: skip
