"""A few variables of each person stay together, and the others are torn away.

By all variables no record is anybody's; by the few, each person's own record stands in the file, wherever it is. Who
knows all of them but one reads the last one off it. So it is where two halves of the columns were shuffled, each with
one seed, though the rows are said to be those of the original.
"""

from functools import partial

import numpy as np
import pandas as pd

from sluice.utility.comparison import Comparison
from tests.red_team.case import Case
from tests.red_team.files import adult, files_of, nhanes

_PEOPLE = 900
_OTHERS = 300  # who are set aside
_SIX = ("age", "education", "occupation", "relationship", "hours_per_week", "workclass")


def kept_together(share: float) -> Comparison:
    """Of this share of the people six columns stay together; all else is permuted, and the rows are shuffled."""
    frame, variables = adult(_PEOPLE + _OTHERS)
    frame = frame.drop(columns="education_num")  # repeats education
    variables = {name: variable for name, variable in variables.items() if name in frame}
    rng = np.random.default_rng(11)
    others, people = frame.iloc[:_OTHERS].reset_index(drop=True), frame.iloc[_OTHERS:].reset_index(drop=True)
    parts = []
    for rows, kept in ((people.iloc[: int(share * _PEOPLE)], _SIX), (people.iloc[int(share * _PEOPLE) :], ())):
        torn = {name: rows[name].iloc[rng.permutation(len(rows))].to_numpy() for name in frame if name not in kept}
        parts.append(rows.assign(**torn).astype(frame.dtypes))
    file = pd.concat(parts).iloc[rng.permutation(_PEOPLE)].reset_index(drop=True)
    return files_of(people, file, variables, holdout=others, recoded_holdout=others, paired=False)


def reads(files: Comparison) -> float:
    """The share of the people of whom the one record with their values of five columns holds their occupation."""
    known = [name for name in _SIX if name != "occupation"]
    found = files.original.merge(files.masked.drop_duplicates(known, keep=False), on=known, suffixes=("", "_read"))
    return float((found["occupation"].astype(str) == found["occupation_read"].astype(str)).sum() / len(files.original))


def shuffled_in_halves() -> Comparison:
    frame, variables = nhanes(500)
    names = list(frame)
    halves = (names[: len(names) // 2], names[len(names) // 2 :])
    rng = np.random.default_rng(3)
    moved = [frame[half].iloc[rng.permutation(len(frame))].reset_index(drop=True) for half in halves]
    return files_of(frame, pd.concat(moved, axis=1)[names], variables)


def reads_a_measurement(files: Comparison) -> float:
    """The share of the people of whom the one record with three of their measurements holds their fourth."""
    *known, read = list(files.original)[:4]
    found = files.original.merge(files.masked.drop_duplicates(known, keep=False), on=known, suffixes=("", "_read"))
    return float((found[read] == found[f"{read}_read"]).sum() / len(files.original))


CASES = (
    Case(
        "two halves of the columns, each shuffled with one seed", shuffled_in_halves, reads_a_measurement, 0.9, 0.05,
        ("subset_inference",),
    ),
    Case(
        "six columns kept together for a third of the people, read by five of them",
        partial(kept_together, 1 / 3), reads, 0.15, 0.05, ("subset_inference",), "synthetic-file",
    ),
)  # fmt: skip
