"""Variables that repeat another one by a function: drafts compute them from the masked one instead of leaving them out.

They tell nothing beyond their source. Found are logarithm, exponential, square, square root and straight line, each to
the variable's own rounding.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray
from sluice.ground.variables import Variables
from sluice.masking.column_numbers import grain, numbers
from sluice.masking.recoding.derived import By, Derived
from tasks.tuning.draft_steps import Draft, Plan
from tasks.tuning.drafted_space import removed_by

_SINGLE = 2.0**-22  # relative error of what was once stored in 32 bits
_DIGITS = range(1, 10)  # of a factor: the first that fits is the one that was meant
_NO_NUMBER = ("removal", "global_recoding", "generalization")  # after these a number is none, or is not there


def derivations(frame: pd.DataFrame, variables: Variables, repeats: Collection[str]) -> list[Derived]:
    """Of each variable that repeats others, how it is computed from the first of these that will do.

    frame : typed by `variables`
    cost  : O(repeats columns n)
    """
    numeric = [name for name, variable in variables.items() if variable.kind.is_numeric]
    columns = {name: numbers(frame, [name])[:, 0] for name in numeric if repeats}
    wanted = [name for name in repeats if name in columns]
    sources = [name for name in numeric if name not in repeats]
    found = (next(filter(None, (_derived(name, of, columns) for of in sources)), None) for name in wanted)
    return [step for step in found if step is not None]


def _derived(name: str, of: str, columns: Mapping[str, FloatArray]) -> Derived | None:
    values, source = columns[name], columns[of]
    known = values[np.isfinite(values)]
    step = grain(known)
    decimals = None if step == 0 else int(-np.rint(np.log10(step)))
    slack = np.maximum(step / 2 * (1 + 1e-6), _SINGLE * np.abs(values))

    def fits(derived: Derived) -> bool:
        computed = derived.computed(source)
        there = np.isfinite(values)
        return bool(np.array_equal(np.isfinite(computed), there) and (np.abs(computed - values) <= slack)[there].all())

    plain = (Derived(columns=(name,), of=of, by=by, decimals=decimals) for by in get_args(By) if by != "linear")
    lines = (
        Derived(columns=(name,), of=of, by="linear", factor=factor, constant=constant, decimals=decimals)
        for factor, constant in _lines(values, source)
    )
    return next((each for each in (*lines, *plain) if fits(each)), None)


def _lines(values: FloatArray, source: FloatArray) -> Iterator[tuple[float, float]]:
    """Factors and constants of the straight line, from few digits to many."""
    both = np.isfinite(values) & np.isfinite(source)
    if not both.any() or not np.ptp(source[both]):
        return
    factor, _ = np.polyfit(source[both], values[both], 1)
    for digits in _DIGITS:
        short = float(f"{factor:.{digits}g}")
        if short:
            yield short, float(f"{np.median(values[both] - short * source[both]):.9g}")


def with_derived(draft: Draft, found: Sequence[Derived]) -> Draft:
    """The draft in which what can be computed is, in place of being left out."""
    plan = _computed(draft.plan, found)
    if plan == draft.plan:
        return draft
    names = [name for step in plan if step["method"] == "derived" for name in step["columns"]]
    otherwise = None if draft.otherwise is None else _computed(draft.otherwise, found)
    return replace(draft, says=f"{draft.says}, {', '.join(names)} computed from these", plan=plan, otherwise=otherwise)


def _computed(plan: Plan, found: Sequence[Derived]) -> Plan:
    changed = {name for step in plan if step["method"] in _NO_NUMBER for name in step["columns"]}
    fit = [step for step in found if step.columns[0] in removed_by(plan) and step.of not in changed]
    kept = [step.columns[0] for step in fit]
    steps: list[Mapping[str, Any]] = []
    for step in plan:
        if step["method"] != "removal":
            steps.append(step)
        elif left := [name for name in step["columns"] if name not in kept]:
            steps.append({**step, "columns": left})
    return (*steps, *(step.model_dump(mode="json", exclude_defaults=True) | {"method": "derived"} for step in fit))
