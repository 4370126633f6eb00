"""Variables that a permutation moves together, and that later steps perturb: whoever looks for a record in its own row
finds nobody, though the block stands somewhere as a whole. The intruder does not know rows, and looks everywhere."""

import numpy as np

from policies.original_and_masked import OriginalAndMasked
from tests.red_team.case import Attack, Case
from tests.red_team.files import CENSUS, census, masked_by


def moved(columns: tuple[str, ...], amount: float) -> OriginalAndMasked:
    return masked_by(
        census(),
        [
            {"method": "permutation", "columns": list(columns)},
            {"method": "additive_noise", "columns": list(CENSUS), "amount": amount},
        ],
    )


def swapped(columns: tuple[str, ...], amount: float) -> OriginalAndMasked:
    """As above, but by swapping with a partner."""
    return masked_by(census(), [swap(columns), {"method": "additive_noise", "columns": list(CENSUS), "amount": amount}])


def swap(columns: tuple[str, ...]) -> dict[str, object]:
    return {"method": "data_swapping", "columns": list(columns), "swap_rate": 1.0, "unmatched": "keep"}


def nearest_of_partner(columns: tuple[str, ...]) -> Attack:
    """The nearest record by all; right where the partner's row was found. Who that is, swapping without noise tells."""

    def attack(files: OriginalAndMasked) -> float:
        moved = masked_by(census(), [swap(columns)]).masked[list(columns)]
        row_of = {tuple(values): row for row, values in enumerate(moved.to_numpy(float))}
        before, after = files.original[list(columns)].to_numpy(float), files.masked[list(columns)].to_numpy(float)
        scale = np.subtract(*np.quantile(before, [0.75, 0.25], axis=0))
        nearest = [int((((after - person) / scale) ** 2).sum(axis=1).argmin()) for person in before]
        return float(np.mean([row == row_of[tuple(person)] for row, person in zip(nearest, before, strict=True)]))

    return attack


def nearest_block(columns: tuple[str, ...]) -> Attack:
    """The nearest record by the block alone; right where it holds the values of the person, wherever it stands."""

    def attack(files: OriginalAndMasked) -> float:
        before, after = files.original[list(columns)].to_numpy(float), files.masked[list(columns)].to_numpy(float)
        scale = np.subtract(*np.quantile(before, [0.75, 0.25], axis=0))
        (block,) = [each for each in files.blocks if set(each.columns) == set(columns)]
        nearest = [int((((after - person) / scale) ** 2).sum(axis=1).argmin()) for person in before]
        return float((np.array(nearest) == block.rows).mean())

    return attack


CASES = tuple(
    Case(
        name=f"{len(columns)} variables of Census moved together, noise of {amount:g} on all",
        make=lambda columns=columns, amount=amount: moved(columns, amount),
        attack=nearest_block(columns),
        reaches=0.15,
        chance=0.01,
        rules=("learned_linkage", "learned_claims"),
        more=(columns, amount) == (CENSUS, 0.04),
    )
    for columns, amount in ((CENSUS, 0.04), (CENSUS[:8], 0.04), (CENSUS, 0.1))
) + tuple(
    Case(
        name=f"{len(columns)} variables of Census swapped with a partner, noise of {amount:g} on all",
        make=lambda columns=columns, amount=amount: swapped(columns, amount),
        attack=nearest_of_partner(columns),
        reaches=0.12,
        chance=0.01,
        rules=("learned_linkage", "learned_claims"),
        policy="perturbed-file",
        more=columns == CENSUS,
    )
    for columns, amount in ((CENSUS, 0.1), (CENSUS[:9], 0.07))
)
