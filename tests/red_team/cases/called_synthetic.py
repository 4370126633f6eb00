"""Masked records that are called synthetic, in another order: nobody is told that they have originals.

Who has the nearest record by ranks needs no pairs to find a person's own.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from sluice.utility.comparison import Comparison
from tests.red_team.attacks import own_is_nearest, ranks
from tests.red_team.case import Case
from tests.red_team.cases.mapped_columns import dealt_out_ranks
from tests.red_team.files import masked_by, nhanes

_PEOPLE, _ASIDE = 700, 200


def called_synthetic(step: dict[str, object]) -> Comparison:
    """Of 1,500 people 300 are set aside, the others masked and shuffled."""
    frame, variables = nhanes(_PEOPLE + _ASIDE)
    people, others = frame.iloc[:_PEOPLE].reset_index(drop=True), frame.iloc[_PEOPLE:].reset_index(drop=True)
    files = masked_by((people, variables), [step | {"columns": list(people)}])
    masked = files.masked.iloc[_order()].reset_index(drop=True)
    return replace(
        files, masked=masked, holdout=others, recoded_holdout=others, paired=False, carried_out=None, blocks=()
    )  # fmt: skip


def dealt_out(mirrored: float) -> Comparison:
    """The same of whom each record's ranks stand under another variable's name in every record."""
    files = called_synthetic({"method": "rank_swapping", "window": 0.1})
    made = dealt_out_ranks(files.original.to_numpy(float), mirrored)[_order()]
    return replace(files, masked=pd.DataFrame(made, columns=list(files.original)))


def by_order(files: Comparison, mirrored: bool = False) -> float:
    """The share of 300 people whose own record is the nearest once each record's ranks are put in order."""
    sides = [np.column_stack([ranks(column, column) for column in frame.to_numpy(float).T])
             for frame in (files.original, files.masked)]  # fmt: skip
    known, shown = (np.sort(np.abs(side - 0.5) if mirrored else side, axis=1) for side in sides)
    return own_is_nearest(known[:300], shown, np.argsort(_order())[:300])


def _order() -> np.ndarray:
    return np.random.default_rng(8).permutation(_PEOPLE)


def by_ranks(files: Comparison) -> float:
    """The share of 300 people whose own record is the nearest by ranks."""
    original, masked = (frame.to_numpy(float) for frame in (files.original, files.masked))
    known, shown = (
        np.column_stack([ranks(side[:, j], original[:, j]) for j in range(side.shape[1])])
        for side in (original[:300], masked)
    )
    nearest = np.array([np.argmin(((shown - each) ** 2).sum(axis=1)) for each in known])
    return float((_order()[nearest] == np.arange(300)).mean())


CASES = (
    Case(
        "ranks dealt out, called synthetic",
        partial(dealt_out, 0.0),
        by_order,
        reaches=0.9,
        rules=("learned_claims",),
        policy="synthetic-file",
    ),
    Case(
        "ranks mirrored and dealt out, called synthetic",
        partial(dealt_out, 0.5),
        partial(by_order, mirrored=True),
        reaches=0.5,
        rules=("learned_claims",),
        policy="synthetic-file",
        more=True,
    ),
    Case(
        "ranks swapped, called synthetic",
        partial(called_synthetic, {"method": "rank_swapping", "window": 0.1}),
        by_ranks,
        reaches=0.4,
        rules=("learned_claims",),
        policy="synthetic-file",
    ),
    Case(
        "noise, called synthetic",
        partial(called_synthetic, {"method": "additive_noise", "kind": "correlated", "amount": 0.2}),
        by_ranks,
        reaches=0.1,
        rules=("learned_claims",),
        policy="synthetic-file",
        more=True,
    ),
)
