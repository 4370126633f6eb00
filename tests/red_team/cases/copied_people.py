"""Synthesis that learns its people by heart: whoever took part is told from others, though no record is anybody's.

Source: Shokri, Stronati, Song and Shmatikov (2017), membership.
"""

from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd

from sluice.masking.plan import apply_recodings
from sluice.utility.comparison import Comparison
from tests.red_team.case import Case
from tests.red_team.files import adult, masked_by

COLUMNS = (
    "age", "workclass", "education", "marital_status", "occupation", "relationship", "race", "sex", "hours_per_week",
    "native_country", "income",
)  # fmt: skip


def synthesised(leaf: int, drowned: bool, records: int = 8_000) -> Comparison:
    """Trees with leaves of few people; in the variant, one variable is then torn off, so that no record is whole."""
    frame, variables, aside = *adult(records), records // 4
    plan: list[dict[str, object]] = [
        {"method": "removal", "columns": [name for name in frame if name not in COLUMNS]},
        {"method": "sequential_trees", "columns": list(COLUMNS), "minimum_leaf": leaf},
    ]
    if drowned:
        plan.append({"method": "permutation", "columns": ["age"]})
    others, people = frame.iloc[:aside].reset_index(drop=True), frame.iloc[aside:].reset_index(drop=True)
    files = masked_by((people, variables), plan, paired=False)
    assert files.carried_out is not None
    recoded = apply_recodings(files.carried_out, others, variables)
    return replace(files, holdout=others, recoded_holdout=recoded)


def called_right(without: tuple[str, ...], files: Comparison) -> float:
    """By all but some variables. Of as many who took part as who did not, the share called right: members are those
    more of whose fours of values stand in the file than of most people."""
    assert files.recoded_holdout is not None
    others = len(files.recoded_holdout)
    both = pd.concat([files.recoded.sample(others, random_state=1), files.recoded_holdout])
    codes = [
        pd.factorize(pd.concat([both[name], files.masked[name]]).astype(object))[0]
        for name in COLUMNS
        if name not in without
    ]
    standing = np.zeros(len(both))
    for chosen in list(combinations(codes, 4))[::3]:
        rows = list(zip(*(column.tolist() for column in chosen), strict=True))
        file = set(rows[len(both) :])
        standing += [row in file for row in rows[: len(both)]]
    took_part = np.arange(len(both)) < others
    called = standing >= np.median(standing)
    return float((called == took_part).mean())


_RULES = ("transparency", "membership", "participant_inference", "rare_combinations")

CASES = tuple(
    Case(
        f"synthesis of Adult, leaves of {leaf}{', one variable torn off' if drowned else ''}",
        partial(synthesised, leaf, drowned, records), partial(called_right, ("age",) if drowned else ()), reaches, 0.5,
        _RULES, "synthetic-file", more=records == 8_000, rarely=drowned or leaf == 1,
    )
    for leaf, drowned, records, reaches in (
        (1, False, 8_000, 0.65), (2, False, 2_400, 0.57), (2, True, 8_000, 0.54), (5, False, 8_000, 0.54),
    )
)  # fmt: skip
