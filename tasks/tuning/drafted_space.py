"""A space of plans drafted from what contract and policy say, for a definition that leaves nothing open itself.

Under a policy that asks for groups of look-alikes the quasi-identifiers are recoded by the search of levels, which
knows the policy's models, so that no trial is spent on what breaks k; numbers without a hierarchy are cut first. Under
one that asks for none, all variables are perturbed or drawn anew together. Besides, every quasi-identifier and weight
may be dropped. Which methods are tried for which roles follows docs/methods.md.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from policies.policy import Policy
from sluice.ground.variables import NAMES, Kind, Role, Variable, Variables
from sluice.masking.synthesis.sequential_trees import MOST_CATEGORIES
from sluice.risk.classes.k_anonymity import KAnonymity
from tasks.tuning.draft_steps import Draft, has_tail, is_skewed
from tasks.tuning.near_plans import cut, global_cuts, opened, with_variable

_WINDOW = {"from": 0.02, "to": 0.5, "log": True}
_LEAF = {"from": 5, "to": 200, "log": True, "whole": True}
_TOPS = (0.9, 0.95, 0.98, 0.99, 0.995)  # quantiles from which amounts may be coded together
_SIZES = (1, 2, 4, 8, 16)  # times the k that the policy asks of groups


def draft_plan(
    frame: pd.DataFrame, variables: Variables, policy: Policy, own: Sequence[Mapping[str, Any]] = (),
    first: Iterable[Draft] = (), repeats: Collection[str] = (),
) -> list[dict[str, Any]]:  # fmt: skip
    """The plan of a space, as a document would hold it.

    frame : the records, typed by `variables`; only coarse figures of them come into the draft (round cut points and
            which numbers are skewed)
    own   : the plan that the definition has; the space holds plans near to it, by which the variables that it removes
            may stay, too
    first   : drafts of a first plan; the space holds plans near to one of each way, which a search tries first
    repeats : variables that tell the same as others: none of these plans has them
    """
    unfit = [
        name for name, v in variables.items() if v.role in NAMES or v.kind in (Kind.TEXT, Kind.ITEMS) or name in repeats
    ]
    kept = {name: v for name, v in variables.items() if name not in unfit}
    drafted: list[dict[str, Any]] = [{"method": "removal", "columns": unfit}] if unfit else []
    drafted += _grouped(frame, kept, policy) if _asks_for_groups(policy, kept) else _perturbed(frame, kept)
    ways = [[opened(step) for step in each.plan] for each in _one_of_each_way(first)]
    if not own:
        return [{"alternatives": [*ways, drafted]}] if ways else drafted
    more: Sequence[Mapping[str, Any]] = own
    for name in removed_by(own):
        if name in kept:
            more = with_variable(more, name, kept, frame) or more
    return [{"alternatives": [[step if _is_open(step) else opened(step) for step in more], *ways, drafted]}]


def _one_of_each_way(drafts: Iterable[Draft]) -> Iterable[Draft]:
    """The first draft of each set of methods: a search varies what tells the others apart."""
    ways: dict[tuple[Any, ...], Draft] = {}
    for draft in drafts:
        methods = dict.fromkeys((step["method"], bool(step.get("calibrated"))) for step in draft.plan)
        ways.setdefault((draft.family, *methods), draft)
    return ways.values()


def removed_by(plan: Sequence[Mapping[str, Any]]) -> list[str]:
    """The variables that a plan leaves out."""
    return [name for step in plan if step["method"] == "removal" for name in step["columns"]]


def _is_open(step: Mapping[str, Any]) -> bool:
    return any(isinstance(value, Mapping) and {"any_of", "from"} & set(value) for value in step.values())


def draft_prices(
    variables: Variables, own: Sequence[Mapping[str, Any]] = (), repeats: Collection[str] = ()
) -> dict[str, float]:
    """Which variables may be dropped: those by which people are found, weights, and those that the own plan removes.

    None costs more than what is lost with it, which is in the loss. Those that tell the same as others are left out.
    """
    may, removed = (Role.QUASI_IDENTIFIER, Role.WEIGHT), removed_by(own)
    fit = {name: v for name, v in variables.items() if v.role not in NAMES and v.kind not in (Kind.TEXT, Kind.ITEMS)}
    return {name: 0.0 for name, v in fit.items() if (v.role in may or name in removed) and name not in repeats}


def _asks_for_groups(policy: Policy, variables: Variables) -> bool:
    return bool(policy.models(variables))


# -- under a policy on groups of look-alikes


def _grouped(frame: pd.DataFrame, variables: Variables, policy: Policy) -> list[dict[str, Any]]:
    keys = [name for name, v in variables.items() if v.role is Role.QUASI_IDENTIFIER]
    rest = [name for name in variables if name not in keys]
    cuts = [step for name in keys if (step := cut(frame[name], variables[name])) is not None]
    others = _others(frame, rest, keys, variables)
    if not keys:
        return others
    # Larger groups than the policy asks for hold more different sensitive numbers, of which no model makes sure.
    larger = [_groups_of(size * _k_of(policy)) for size in _SIZES]
    levels = {
        "method": "generalization", "columns": keys, "under": "policy", "models": {"any_of": [[], *larger[1:]]},
        "suppression_limit": {"from": 0.002, "to": 0.15, "log": True},
    }  # fmt: skip
    by_cell = levels | {"suppressed": "left"}
    left = {"method": "local_suppression", "columns": keys, "k": [size * _k_of(policy) for size in _SIZES[:-1]]}
    ways: list[Any] = [[*cuts, levels, *others], [*cuts, by_cell, left, *others]]
    if (refined := _refined(levels, policy, larger, variables)) is not None:
        ways.append([*cuts, refined, *others])
    if grouped := _in_groups(frame, rest, policy, variables):
        apart = [name for name in rest if name not in grouped]
        ways.append([*cuts, *grouped.values(), levels, *_others(frame, apart, keys, variables)])
    for step in _synthesis(frame, list(variables), variables, exact=True):
        ways += [[*cuts, step, levels], [step, *cuts, levels]]
    return [{"alternatives": ways}]


def _groups_of(k: int) -> list[dict[str, Any]]:
    return [{"model": "k_anonymity", "k": k}]


def _refined(
    levels: Mapping[str, Any], policy: Policy, larger: Sequence[Any], variables: Variables
) -> dict[str, Any] | None:
    """The levels refined group by group. A model of the whole file cannot be kept so: where the policy has one, groups
    are held to their size alone, and the file is judged by the rest."""
    if all(model.on_classes for model in policy.models(variables)):
        return {**levels, "refine": True}
    if not any(isinstance(rule, KAnonymity) and rule.columns is None for rule in policy.rules):
        return None
    found = {key: value for key, value in levels.items() if key != "under"}
    return found | {"models": {"any_of": list(larger)}, "refine": True}


def _in_groups(
    frame: pd.DataFrame, names: Sequence[str], policy: Policy, variables: Variables
) -> dict[str, dict[str, Any]]:
    """Cuts of the sensitive numbers that a rule of the policy is about: of groups of values there is a model, so that
    levels are found at which each group of look-alikes holds enough of them."""
    asked = policy.without_model(variables)
    hard = [name for name in names if variables[name].kind.is_numeric and any(x.endswith(f" of {name}") for x in asked)]
    steps = {name: global_cuts(frame[name]) for name in hard}
    return {name: step for name, step in steps.items() if step is not None}


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
    plan: list[dict[str, Any]] = [
        {
            "method": "top_bottom_coding", "columns": [name], "optional": True, "replacement": "mean",
            "top": {"quantile": tops},
        }
        for name in numbers
        if is_skewed(frame[name]) and (tops := [share for share in _TOPS if has_tail(frame[name], share)])
    ]  # fmt: skip
    if numbers or ordered:
        ranked = [*numbers, *ordered]
        ways: list[Any] = [{"method": "rank_swapping", "columns": ranked, "window": _WINDOW}, []]
        if numbers:
            ways += [_microaggregated(numbers, frame), _with_noise(numbers)]
        ways += _synthesis(frame, ranked, variables, keys)
        plan.append({"alternatives": ways})
    if nominal:
        plan.append(
            {
                "alternatives": [
                    [],
                    {"method": "pram", "columns": nominal, "retention": {"from": 0.3, "to": 0.98}, "invariant": True},
                    *_synthesis(frame, nominal, variables, keys),
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


def _changed_at_random(categories: Sequence[str]) -> list[dict[str, Any]]:
    if not categories:
        return []
    return [{"method": "pram", "columns": list(categories), "retention": {"from": 0.3, "to": 0.95}, "invariant": True}]


def _synthesis(
    frame: pd.DataFrame, columns: Sequence[str], variables: Variables, given: Sequence[str] = (), exact: bool = False
) -> list[dict[str, Any]]:
    """Values drawn anew from records alike; variables of more categories than the method takes stay as they are.

    exact : no value is blurred, so that a hierarchy in a later step knows each
    """
    fit = [
        name for name in columns if variables[name].kind is not Kind.DATE and not _is_wide(frame[name], variables[name])
    ]
    if not fit:
        return []
    known = [name for name in given if variables[name].kind is not Kind.DATE]
    smoothing = "none" if exact else ["none", "density"]
    step = {"method": "sequential_trees", "columns": fit, "minimum_leaf": _LEAF, "smoothing": smoothing}
    if any(variables[name].kind.is_numeric for name in fit):
        step["calibrated"] = {"any_of": [True, False]}
    return [step | ({"given": known} if known else {})]


def _is_wide(column: pd.Series, variable: Variable) -> bool:
    """Whether a nominal variable has more categories than synthesis takes; it is slow at many already."""
    return variable.kind is Kind.NOMINAL and column.nunique() > MOST_CATEGORIES


# -- under a policy that asks for no groups


def _perturbed(frame: pd.DataFrame, variables: Variables) -> list[dict[str, Any]]:
    """All variables together: perturbed record by record, or drawn anew."""
    names = [name for name, v in variables.items() if v.kind is not Kind.DATE]
    dates = [name for name, v in variables.items() if v.kind is Kind.DATE]
    numbers = [name for name in names if variables[name].kind.is_numeric]
    categories = [name for name in names if name not in numbers]
    missing = bool(frame[names].isna().to_numpy().any())
    positive = [n for n in numbers if not missing and is_skewed(frame[n]) and float(frame[n].min()) > 0]
    swapped: dict[str, Any] = {"method": "spectral_swapping", "columns": names}
    if positive:
        swapped["log"] = {"any_of": [positive, [], *([name] for name in positive)]}
    if missing:
        swapped["missing"] = "mean"
    wide = [name for name in categories if _is_wide(frame[name], variables[name])]
    drawn_anew = [[step, *_changed_at_random(wide)] for step in _synthesis(frame, names, variables)]
    ways: list[Any] = [swapped, *drawn_anew]
    beside = _changed_at_random(categories)
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
