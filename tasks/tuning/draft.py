"""A space of plans drafted from what contract and policy say, for a definition that leaves nothing open itself.

Under a policy that asks for groups of look-alikes the quasi-identifiers are recoded by the search of levels, which
knows the policy's models, so that no trial is spent on what breaks k; numbers without a hierarchy are cut first. Under
one that asks for none, all variables are perturbed or drawn anew together. Besides, every quasi-identifier and weight
may be dropped. Which methods are tried for which roles follows docs/methods.md.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from policies.models_of_rules import ModelsOfRules
from policies.policy import Policy
from policies.rules.k_anonymity import KAnonymity
from sluice.variables import NAMES, Kind, Role, Variables
from tasks.tuning.cut_points import cut
from tasks.tuning.neighbours import opened, with_variable

_WINDOW = {"from": 0.02, "to": 0.5, "log": True}
_LEAF = {"from": 5, "to": 200, "log": True, "whole": True}
_SKEWED = 2.0  # skewness from which a positive number is treated by its logarithm, and its tail may be coded
_FEW = 12  # distinct values: a number of fewer is no measurement, whose tail one would code


def draft_plan(
    frame: pd.DataFrame, variables: Variables, policy: Policy, own: Sequence[Mapping[str, Any]] = ()
) -> list[dict[str, Any]]:
    """The plan of a space, as a document would hold it.

    frame : the records, typed by `variables`; only coarse figures of them come into the draft (round cut points and
            which numbers are skewed)
    own   : the plan that the definition has; the space holds plans near to it, by which the variables that it removes
            may stay, too
    """
    unfit = [name for name, v in variables.items() if v.role in NAMES or v.kind in (Kind.TEXT, Kind.ITEMS)]
    kept = {name: v for name, v in variables.items() if name not in unfit}
    drafted: list[dict[str, Any]] = [{"method": "removal", "columns": unfit}] if unfit else []
    drafted += _grouped(frame, kept, policy) if _asks_for_groups(policy, kept) else _perturbed(frame, kept)
    if not own:
        return drafted
    more: Sequence[Mapping[str, Any]] = own
    for name in removed_by(own):
        if name in kept:
            more = with_variable(more, name, kept, frame) or more
    return [{"alternatives": [[step if _is_open(step) else opened(step) for step in more], drafted]}]


def removed_by(plan: Sequence[Mapping[str, Any]]) -> list[str]:
    """The variables that a plan leaves out."""
    return [name for step in plan if step["method"] == "removal" for name in step["columns"]]


def _is_open(step: Mapping[str, Any]) -> bool:
    return any(isinstance(value, Mapping) and {"any_of", "from"} & set(value) for value in step.values())


def draft_prices(variables: Variables, own: Sequence[Mapping[str, Any]] = ()) -> dict[str, float]:
    """Which variables may be dropped: those by which people are found, weights, and those that the own plan removes.

    None costs more than what is lost with it, which is in the loss.
    """
    may, removed = (Role.QUASI_IDENTIFIER, Role.WEIGHT), removed_by(own)
    fit = {name: v for name, v in variables.items() if v.role not in NAMES and v.kind not in (Kind.TEXT, Kind.ITEMS)}
    return {name: 0.0 for name, v in fit.items() if v.role in may or name in removed}


def _asks_for_groups(policy: Policy, variables: Variables) -> bool:
    return bool(ModelsOfRules(policy).models(variables))


# -- under a policy on groups of look-alikes


def _grouped(frame: pd.DataFrame, variables: Variables, policy: Policy) -> list[dict[str, Any]]:
    keys = [name for name, v in variables.items() if v.role is Role.QUASI_IDENTIFIER]
    rest = [name for name in variables if name not in keys]
    cuts = [step for name in keys if (step := cut(frame[name], variables[name])) is not None]
    others = _others(frame, rest, keys, variables)
    if not keys:
        return others
    # Larger groups than the policy asks for hold more different sensitive numbers, of which no model makes sure.
    models = [[], *([{"model": "k_anonymity", "k": factor * _k_of(policy)}] for factor in (2, 4, 8, 16))]
    levels = {
        "method": "generalization", "columns": keys, "under": "policy", "models": {"any_of": models},
        "suppression_limit": {"from": 0.002, "to": 0.15, "log": True},
    }  # fmt: skip
    refined = levels | {"refine": True}
    by_cell = levels | {"suppressed": "left"}
    left = {"method": "local_suppression", "columns": keys, "k": [factor * _k_of(policy) for factor in (1, 2, 4, 8)]}
    ways: list[Any] = [
        [*cuts, levels, *others],
        [*cuts, refined, *others],
        [*cuts, by_cell, left, *others],
        *([*cuts, step, levels] for step in _synthesis(list(variables), variables)),
        *([step, *cuts, levels] for step in _synthesis(list(variables), variables)),
    ]
    return [{"alternatives": ways}]


def _k_of(policy: Policy) -> int:
    """The largest k that the policy asks of groups; 3 where it asks for another property of them."""
    return max((rule.k for rule in policy.rules if isinstance(rule, KAnonymity)), default=3)


def _others(
    frame: pd.DataFrame, names: Sequence[str], keys: Sequence[str], variables: Variables
) -> list[dict[str, Any]]:
    """What is not used to find people, and would tell who it is by its values all the same."""
    numbers = [name for name in names if variables[name].kind.is_numeric]
    ordered = [name for name in names if variables[name].kind is Kind.ORDINAL]
    nominal = [name for name in names if variables[name].kind in (Kind.NOMINAL, Kind.BINARY)]
    skewed = [name for name in numbers if _is_skewed(frame[name])]
    plan: list[dict[str, Any]] = [
        {
            "method": "top_bottom_coding", "columns": [name], "optional": True, "replacement": "mean",
            "top": {"quantile": [0.9, 0.95, 0.98, 0.99, 0.995]},
        }
        for name in skewed
    ]  # fmt: skip
    if numbers or ordered:
        ranked = [*numbers, *ordered]
        ways: list[Any] = [{"method": "rank_swapping", "columns": ranked, "window": _WINDOW}, []]
        if numbers:
            ways += [_microaggregated(numbers, frame), _with_noise(numbers)]
        ways += _synthesis(ranked, variables, keys)
        plan.append({"alternatives": ways})
    if nominal:
        plan.append(
            {
                "alternatives": [
                    [],
                    {"method": "pram", "columns": nominal, "retention": {"from": 0.3, "to": 0.98}, "invariant": True},
                    *_synthesis(nominal, variables, keys),
                ]
            }
        )
    return plan


def _microaggregated(numbers: Sequence[str], frame: pd.DataFrame) -> dict[str, Any]:
    missing = {"missing": "by_pattern"} if frame[list(numbers)].isna().to_numpy().any() else {}
    return {
        "method": "univariate_microaggregation", "columns": list(numbers),
        "k": {"from": 3, "to": 100, "log": True, "whole": True}, **missing,
    }  # fmt: skip


def _with_noise(numbers: Sequence[str]) -> dict[str, Any]:
    return {
        "method": "additive_noise", "columns": list(numbers),
        "kind": "correlated" if len(numbers) > 1 else "uncorrelated",
        "amount": {"from": 0.02, "to": 1, "log": True}, "corrected": True, "clip": True, "round": True,
    }  # fmt: skip


def _synthesis(columns: Sequence[str], variables: Variables, given: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Values drawn anew from records alike; the categories of many values last."""
    fit = [name for name in columns if variables[name].kind is not Kind.DATE]
    if not fit:
        return []
    known = [name for name in given if variables[name].kind is not Kind.DATE]
    step = {"method": "sequential_trees", "columns": fit, "minimum_leaf": _LEAF, "smoothing": ["none", "density"]}
    return [step | ({"given": known} if known else {})]


def _is_skewed(column: pd.Series) -> bool:
    values = column.dropna().to_numpy(dtype="float64")
    from scipy.stats import skew  # loaded where it is needed

    return len(np.unique(values)) > _FEW and float(skew(values)) > _SKEWED


# -- under a policy that asks for no groups


def _perturbed(frame: pd.DataFrame, variables: Variables) -> list[dict[str, Any]]:
    """All variables together: perturbed record by record, or drawn anew."""
    names = [name for name, v in variables.items() if v.kind is not Kind.DATE]
    dates = [name for name, v in variables.items() if v.kind is Kind.DATE]
    numbers = [name for name in names if variables[name].kind.is_numeric]
    categories = [name for name in names if name not in numbers]
    missing = bool(frame[names].isna().to_numpy().any())
    positive = [n for n in numbers if not missing and _is_skewed(frame[n]) and float(frame[n].min()) > 0]
    swapped: dict[str, Any] = {"method": "spectral_swapping", "columns": names}
    if positive:
        swapped["log"] = {"any_of": [positive, [], *([name] for name in positive)]}
    if missing:
        swapped["missing"] = "mean"
    ways: list[Any] = [swapped, *_synthesis(names, variables)]
    beside = (
        [{"method": "pram", "columns": categories, "retention": {"from": 0.3, "to": 0.95}, "invariant": True}]
        if categories
        else []
    )
    if numbers:
        together = {
            "method": "microaggregation", "columns": numbers, "k": {"from": 3, "to": 100, "log": True, "whole": True},
            **({"missing": "by_pattern"} if frame[numbers].isna().to_numpy().any() else {}),
            **({"block_size": 2000} if len(frame) > 10_000 else {}),
        }  # fmt: skip
        ways += [[together, *beside], [_with_noise(numbers), *beside]]
        ways.append([{"method": "rank_swapping", "columns": numbers, "window": _WINDOW}, *beside])
        if len(numbers) > 1 and not missing:
            ways.append([{"method": "data_shuffling", "columns": numbers}, *beside])
    plan: list[dict[str, Any]] = [{"method": "removal", "columns": dates}] if dates else []
    return [*plan, {"alternatives": ways}]
