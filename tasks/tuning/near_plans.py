"""Plans near to a plan: the same steps with other values, and with a variable that was left out or one less.

For a search that begins from a plan that somebody wrote, and for the smallest changes by which a plan would pass. A
number without a hierarchy is cut at round values between groups of about equally many records.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import inf
from typing import Any

import pandas as pd
from pydantic import ValidationError

from sluice.ground.variables import Role, Variable, Variables
from sluice.masking.method_catalogue import methods
from sluice.masking.recoding.generalized_levels import depth

_FACTORS = (0.25, 0.5, 0.7, 1.4, 2.0, 4.0)
_LARGEST_SHARE = 1.0
_FEW_CUTS = 6
_KEYED = ("generalization", "local_suppression", "mondrian", "k_member_clustering", "bottom_up_local_recoding")


def opened(step: Mapping[str, Any]) -> dict[str, Any]:
    """The step with ranges around its numbers and cut points, its own values first; each value is one it may have."""
    found = dict(step)
    for field, value in step.items():
        values = [each for each in _near(field, value, step) if _is_valid({**step, field: each})]
        if values:
            found[field] = {"any_of": [value, *values]}
    return found


def with_variable(
    plan: Sequence[Mapping[str, Any]], name: str, variables: Variables, frame: pd.DataFrame
) -> list[dict[str, Any]] | None:
    """The plan of a space that no longer removes the variable, but recodes it and names it among the keys of its steps.

    None where the plan does not remove it, or would leave it as it is.
    """
    if not any(step["method"] == "removal" and name in step["columns"] for step in plan):
        return None
    coarser = _coarser(frame[name], variables[name])
    is_key = variables[name].role is Role.QUASI_IDENTIFIER
    if is_key and (coarser is None or not any(step["method"] in _KEYED for step in plan)):
        return None
    found: list[dict[str, Any]] = []
    for step in plan:
        if step["method"] == "removal" and name in step["columns"]:
            left = [each for each in step["columns"] if each != name]
            found += [dict(step) | {"columns": left}] if left else []
            found += [coarser] if coarser and is_key else []
        elif is_key and step["method"] in _KEYED:
            found.append(dict(step) | {"columns": [*step["columns"], name]})
        else:
            found.append(dict(step))
    if not is_key and variables[name].kind.is_numeric:  # as it was, it would lead to its record
        found.append({"method": "rank_swapping", "columns": [name], "window": {"from": 0.02, "to": 0.5, "log": True}})
    return found


def values_near(step: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Every single change of a value of the step: the field, what it is, and what it might be."""
    for field, value in step.items():
        for each in _near(field, value, step):
            if _is_valid({**step, field: each}):
                yield field, value, each


def _near(field: str, value: Any, step: Mapping[str, Any]) -> list[Any]:
    if isinstance(value, bool) or field in ("method", "columns", "seed") or step["method"] == "derived":
        return []
    if isinstance(value, int):
        if value < 2:
            return []
        found = [max(2, round(value * factor)) for factor in _FACTORS]
        return [each for each in dict.fromkeys(found) if each != value]
    if isinstance(value, float):
        most = _LARGEST_SHARE if 0 < value <= _LARGEST_SHARE else inf
        near = [min(float(f"{value * factor:.3g}"), most) for factor in _FACTORS]
        return [each for each in dict.fromkeys(near) if each != value]
    if field == "bins" and "labels" not in step:
        return _other_cuts(list(value))
    if isinstance(value, Mapping) and set(value) == {"quantile"}:
        q = value["quantile"]
        return [{"quantile": each} for each in (0.9, 0.95, 0.98, 0.99, 0.995) if each != q]
    return []


def _other_cuts(cuts: list[float]) -> list[list[float]]:
    """Every second cut, every fourth; of a few cuts all but one, and one more between two."""
    coarser = [cuts[step // 2 :: step] for step in (2, 4, 8) if len(cuts) > step // 2]
    few = len(cuts) <= _FEW_CUTS
    fewer = [[each for each in cuts if each != cut_] for cut_ in cuts] if len(cuts) > 1 and few else []
    middle = [_plain(float(f"{(a + b) / 2:.3g}")) for a, b in pairwise(cuts)] if few else []
    finer = [sorted({*cuts, each}) for each in middle if each not in cuts]
    found: list[list[float]] = []
    for each in (*coarser, *fewer, *finer):
        if each and each != cuts and each not in found:
            found.append(each)
    return found


def _plain(value: float) -> float:
    return int(value) if value == int(value) else value


def _coarser(column: pd.Series, variable: Variable) -> dict[str, Any] | None:
    if variable.hierarchy is not None:
        levels = list(range(max(depth(variable) - 1, 1), 0, -1))
        return {"method": "global_recoding", "columns": [variable.name], "level": {"any_of": levels}}
    return cut(column, variable)


def _is_valid(step: Mapping[str, Any]) -> bool:
    try:
        methods()[str(step["method"])].model_validate(dict(step))
    except ValidationError:
        return False
    return True


_PARTS = (2, 3, 4, 6)  # groups into which a number may be cut


def cut(column: pd.Series, variable: Variable) -> dict[str, Any] | None:
    """A step of a space that cuts the number, the coarsest first; None for what is no number or has a hierarchy."""
    if variable.hierarchy is not None or not variable.kind.is_numeric:
        return None
    # one value is all there is of a number without cuts
    return global_cuts(column) or {"method": "removal", "columns": [variable.name]}


def global_cuts(column: pd.Series) -> dict[str, Any] | None:
    """A step of a space that cuts a number, the coarsest first; None where one value is all there is."""
    cuts = [points for parts in _PARTS if (points := cut_points(column, parts))]
    cuts = [points for at, points in enumerate(cuts) if points not in cuts[:at]]
    if not cuts:
        return None
    return {"method": "global_recoding", "columns": [str(column.name)], "bins": {"any_of": cuts}}


def cut_points(column: pd.Series, parts: int) -> list[float]:
    """Quantiles at two digits: cuts that are nobody's own values, but for numbers of so few digits. None above the
    smallest value: an empty list."""
    values = column.dropna().to_numpy(dtype="float64")
    if not len(values):
        return []
    low = float(values.min())
    found = [float(f"{point:.2g}") for point in pd.Series(values).quantile([at / parts for at in range(1, parts)])]
    return sorted({int(point) if point == int(point) else point for point in found if point > low})
