"""What was measured of people again and again, each time with noise or swaps of its own.

Who is allowed to know three variables knows their totals over all years, of which noise averages out: that finds far
more people than three numbers of any one year do.
"""

from functools import partial

import numpy as np
import pandas as pd

from sluice.ground.variables import Kind, Variable
from sluice.utility.comparison import Comparison
from tests.red_team.attacks import Floats, own_is_nearest
from tests.red_team.case import Case
from tests.red_team.files import Data, masked_by, nhanes

_MEASURED = ("bmi", "glucose", "totchol", "rbc")
_WAVES, _CHANGE = 5, 0.25  # of the spread, from one wave to the next


def panel(people: int = 1_200) -> Data:
    frame, _ = nhanes(people)
    rng = np.random.default_rng(4)
    waves = {
        f"{name}_{2020 + wave}": frame[name] + _CHANGE * frame[name].std() * rng.normal(size=len(frame))
        for name in _MEASURED
        for wave in range(_WAVES)
    }
    return pd.DataFrame(waves), {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in waves}


def masked(step: dict[str, object]) -> Comparison:
    data = panel()
    return masked_by(data, [step | {"columns": list(data[0])}])


def by_three_totals(files: Comparison) -> float:
    """Whose record has the nearest totals of three variables, in units of what masking did to known people's."""
    known, released = (_totals(frame) for frame in (files.original, files.masked))
    order = np.random.default_rng(7).permutation(len(known))
    learners, people = order[: len(order) // 2], order[len(order) // 2 :]
    design = np.column_stack([np.ones(len(known)), known])
    slopes = np.linalg.lstsq(design[learners], released[learners], rcond=None)[0]
    left = released[learners] - design[learners] @ slopes
    unit = np.linalg.inv(np.linalg.cholesky(left.T @ left / len(left))).T
    return own_is_nearest(design[people] @ slopes @ unit, released @ unit, people)


def _totals(frame: pd.DataFrame) -> Floats:
    return np.column_stack([frame.filter(like=f"{name}_").sum(axis=1) for name in _MEASURED[:3]])


CASES = tuple(
    Case(
        f"three totals of five years, {name}", partial(masked, step), by_three_totals, 0.25, chance=0.05,
        rules=("learned_linkage", "attribute_gain"), policy="scientific-use-file", more=True,
    )
    for name, step in (
        ("with noise", {"method": "additive_noise", "amount": 0.1}),
        ("swapped", {"method": "rank_swapping", "window": 0.08}),
    )
)  # fmt: skip
