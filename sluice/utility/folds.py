"""Folds: files made by the same plan of other parts of the people, so that everybody once took no part.

Of few who were set aside an attack on having taken part tells little. Whoever knows the plan can carry it out again:
the people of the file and those set aside are parted into folds as large as these, and each fold once stays away. The
first is the released file itself.

Source: Stone (1974), cross-validation; Shokri, Stronati, Song and Shmatikov (2017), who make the attacked model again.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from sluice.ground.arrays import IntArray
from sluice.ground.errors import PlanError
from sluice.ground.record_rule import RecordRule
from sluice.ground.variables import Variables
from sluice.masking.masking_step import MaskingStep
from sluice.masking.plan import ByStratum, apply_plan, apply_recodings
from sluice.masking.recoding.generalized_levels import SuppressedRecords

MOST = 10  # folds, the file itself among them
_MOST_RECORDS = 500_000  # that are masked again in all; of more people one file decides


class Fold(NamedTuple):
    """people, released, others : as released variables: who took part, the file made of them, and who did not
    units : who belongs together in `people` and in `others`, numbered alike in every fold
    """

    people: pd.DataFrame
    released: pd.DataFrame
    others: pd.DataFrame
    units: tuple[IntArray, IntArray]


def folds(
    first: Fold,
    files: tuple[pd.DataFrame, pd.DataFrame],
    variables: Variables,
    plan: Sequence[MaskingStep | ByStratum],
    rules: Sequence[RecordRule],
    rng: np.random.Generator,
) -> list[Fold]:
    """The file itself, and one for each other fold; the file alone where the plan cannot be carried out again.

    first : the file, whose units are numbered alike on both sides: nobody is in both, and no unit is torn apart
    files : the people who took part and those who were set aside, typed by `variables`
    plan  : as it was carried out, with its thresholds
    cost  : that of the plan for each of at most nine folds, and the memory of all of their files
    """
    inside, aside = (np.unique(each) for each in first.units)
    if not len(inside) or not len(aside):
        return [first]
    parts = min(MOST, round((len(inside) + len(aside)) / len(aside))) - 1
    parts = min(parts, _MOST_RECORDS // len(files[0]))
    steps = [entry.step if isinstance(entry, ByStratum) else entry for entry in plan]
    if parts < 1 or any(step.is_sampling or isinstance(step, SuppressedRecords) for step in steps):
        return [first]  # whom a plan leaves out or suppresses, it names as it was carried out
    everybody, whose = pd.concat(files, ignore_index=True), np.concatenate(first.units)
    # Those who were set aside take part in all of these; the others stay away once.
    away = np.full(int(whose.max()) + 1, -1)
    away[rng.permutation(inside)] = np.arange(len(inside)) * parts // len(inside)
    found = [first]
    for part, seed in enumerate(np.random.SeedSequence(int(rng.integers(2**63))).spawn(parts)):
        absent = away[whose] == part
        people, others = (everybody[of].reset_index(drop=True) for of in (~absent, absent))
        try:
            released, carried_out = apply_plan(steps, people, variables, seed, rules=rules)
            recoded = [apply_recodings(carried_out, each, variables) for each in (people, others)]
        except PlanError:
            return [first]
        released = released.reset_index(drop=True)
        found.append(Fold(recoded[0], released, recoded[1], (whose[~absent], whose[absent])))
    return found
