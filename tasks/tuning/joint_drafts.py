"""Drafts under a policy that asks for no groups of look-alikes: all variables are perturbed, or drawn anew."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.variables import GROUPS, Kind, Role, Variables
from sluice.risk.people_of_records import people_of
from tasks.tuning.draft_steps import Draft, coarser, has_tail, is_skewed, is_wide, kept_regressions, removed, rounded


def _without_dates(variables: Variables) -> list[str]:
    return [name for name, variable in variables.items() if variable.kind is not Kind.DATE]


def drawn_anew(
    frame: pd.DataFrame, variables: Variables, usable: Variables, groups: Mapping[str, Sequence[str]]
) -> Iterator[Draft]:
    """Every value from records alike in those before, keys first; numbers then moved, so that regressions are kept."""
    order = {Role.QUASI_IDENTIFIER: 0, Role.OTHER: 1, Role.SENSITIVE: 2, Role.WEIGHT: 3}
    every = sorted(_without_dates(usable), key=lambda name: order.get(usable[name].role, 1))
    people = people_of(frame, variables)
    repeated = 1.0 if people is None else len(frame) / len(np.unique(people))  # a leaf is of so many records a person
    for leaf, most, calibrated in (
        (40, None, True),
        (80, None, True),
        (120, None, True),
        (200, None, True),
        (40, None, False),
        (80, None, False),
        (100, 20, False),
        (150, 12, False),
        (200, 8, False),
    ):
        kept = every[:most]
        recoded = list(coarser(frame, usable, kept, groups, numbers=False))
        grouped = {name for step in recoded for name in step["columns"]}
        kept = [name for name in kept if name in grouped or not is_wide(frame[name], usable[name])]
        if calibrated and not any(usable[name].kind.is_numeric for name in kept):
            continue
        # Calibration counts people as long as it sees whose a record is: these names go last.
        whose = [] if repeated == 1 else [name for name, v in variables.items() if v.role in GROUPS]
        steps = [*removed(variables, [*kept, *whose]), *recoded]
        records = round(leaf * repeated)
        step = {"method": "sequential_trees", "columns": kept, "minimum_leaf": records, "smoothing": "density"}
        if calibrated:
            step["calibrated"] = kept_regressions(frame, usable, kept)
        else:
            steps += _tails_together(frame, usable, kept)
        beside = ", numbers then calibrated by regression" if calibrated else ""
        says = f"{len(kept)} variables drawn anew, from {leaf} people at least{beside}"
        last = [{"method": "removal", "columns": whose}] if whose else []
        yield Draft(says, "synthetic", (*steps, step, *last))


def _tails_together(frame: pd.DataFrame, variables: Variables, names: Sequence[str]) -> list[dict[str, Any]]:
    """The largest amounts become their mean: cut to a limit, totals would be lost."""
    skewed = [
        name
        for name in names
        if variables[name].kind.is_numeric and is_skewed(frame[name]) and has_tail(frame[name], 0.99)
    ]
    step = {"method": "top_bottom_coding", "columns": skewed, "top": {"quantile": 0.99}, "replacement": "mean"}
    return [step] if skewed else []


def perturbed(
    frame: pd.DataFrame, variables: Variables, usable: Variables, groups: Mapping[str, Sequence[str]]
) -> Iterator[Draft]:
    """Numbers perturbed together, categories changed at random."""
    kept = _without_dates(usable)
    numbers = [name for name in kept if usable[name].kind.is_numeric]
    categories = [name for name in kept if name not in numbers]
    complete = not frame[kept].isna().to_numpy().any()
    missing = {} if complete else {"missing": "mean"}
    beside = f", {len(categories)} categories changed at random" if categories else ""
    before = [*removed(variables, kept), *coarser(frame, usable, categories, groups)]

    def at_random(retention: float) -> list[dict[str, Any]]:
        step = {"method": "pram", "columns": categories, "retention": retention, "invariant": True}
        return [step] if categories else []

    spectral = {"method": "spectral_swapping", "columns": kept, **missing}
    yield Draft("all variables swapped in their spectrum", "perturbed", (*before, spectral))
    positive = [n for n in numbers if complete and is_skewed(frame[n]) and float(frame[n].min()) > 0]
    if positive:
        logs = (*before, spectral | {"log": positive})
        yield Draft("all variables swapped in their spectrum, amounts on their logarithms", "perturbed", logs)
    if len(numbers) > 1:
        turned = {"method": "random_orthogonal_matrix", "columns": numbers, **missing}
        says = f"{len(numbers)} numbers turned together, beyond the ranges of the original{beside}"
        yield Draft(says, "perturbed", (*before, turned, *at_random(0.7)))
    before_moving = list(rounded(frame, usable, numbers))
    if complete and len(numbers) > 1:
        shuffled = {"method": "data_shuffling", "columns": numbers}
        yield Draft(
            f"{len(numbers)} numbers shuffled{beside}",
            "perturbed",
            (*before, *before_moving, shuffled, *at_random(0.7)),
        )
    if numbers:
        swapped = {"method": "rank_swapping", "columns": numbers, "window": 0.2}
        yield Draft(
            f"{len(numbers)} numbers swapped{beside}", "perturbed", (*before, *before_moving, swapped, *at_random(0.6))
        )
