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
    )
    for columns, amount in ((CENSUS, 0.04), (CENSUS[:8], 0.04), (CENSUS, 0.1))
)
