"""A few people are barely masked among many who are not there: whoever stands out is taken, and all others are left.

Shares of all people found stay small. What counts is of whom an intruder is sure, and right.
"""

from functools import partial

import numpy as np

from sluice.ground.variables import Kind, Variables
from sluice.utility.comparison import Comparison
from tests.red_team.attacks import stands_out
from tests.red_team.case import Case
from tests.red_team.files import CENSUS, Data, adult, census, files_of, nhanes

_ADULT = ("age", "education_num", "hours_per_week", "fnlwgt", "occupation", "marital_status", "relationship", "race")


def few_there(share: float, noise: float, people: int = 3_000) -> Comparison:
    """Of so many people of the survey this share is released with noise; in place of the others stand other people."""
    frame, variables = nhanes(2 * people)
    here, others = frame.iloc[:people], frame.iloc[people:]
    return _mixed(here.reset_index(drop=True), others.to_numpy(), variables, share, noise)


def others_mixed(share: float, noise: float, data: Data) -> Comparison:
    """This share is released with noise; of all others each variable by itself in another order."""
    frame, variables = data
    rng = np.random.default_rng(1)
    mixed = np.column_stack([rng.permutation(column) for column in frame.to_numpy(float).T])
    return _mixed(frame.astype(float), mixed, variables, share, noise)


def few_categories(share: float, anew_of_eight: int) -> Comparison:
    """Of this share so many of eight variables are drawn anew, of all others all eight."""
    frame, variables = adult(2_000)
    frame = frame[list(_ADULT)]
    rng = np.random.default_rng(2)
    kept = rng.random(len(frame)) < share
    masked = frame.copy()
    for name in _ADULT:
        anew = ~kept | (rng.random(len(frame)) < anew_of_eight / len(_ADULT))
        masked[name] = frame[name].where(~anew, frame[name].to_numpy()[rng.permutation(len(frame))])
    return files_of(frame, masked, {name: variables[name] for name in _ADULT})


def _mixed(frame, others, variables: Variables, share: float, noise: float) -> Comparison:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(3)
    values = frame.to_numpy(float)
    kept = rng.random((len(values), 1)) < share
    moved = values + noise * values.std(axis=0) * rng.normal(size=values.shape)
    masked = frame.copy()
    masked[:] = np.where(kept, moved, others)
    numbers = {n: v.model_copy(update={"kind": Kind.CONTINUOUS}) for n, v in variables.items()}
    return files_of(frame, masked, numbers)


def _census() -> Data:
    frame, variables = census(600)
    return frame[list(CENSUS)], variables


CASES = tuple(
    Case(name, make, stands_out, 0.025, 0.001, ("learned_claims",), "perturbed-file", more)
    for name, make, more in (
        ("one in 25 with noise of 0.2 SD among others: nhanes", partial(few_there, 0.04, 0.2), True),
        ("one in 12 with noise of 0.3 SD among others: nhanes", partial(few_there, 0.08, 0.3), True),
        ("one in 12 with noise of 0.1 SD: census", lambda: others_mixed(0.08, 0.1, _census()), False),
        ("one in 12 with one of eight drawn anew: adult", partial(few_categories, 0.08, 1), False),
    )
)
