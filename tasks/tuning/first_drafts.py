"""Drafts of a first plan, from fine to coarse, by the roles and kinds of the variables and by what the policy asks."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from policies.policy import Policy
from schemas.reading.column_proposal import MINIMUM_CELL
from schemas.reading.usual_names import is_called_for_life, words_of
from sluice.ground.arrays import IntArray
from sluice.ground.variables import GROUPS, NAMES, Kind, Role, Variable, Variables, as_label
from sluice.masking.recoding.generalized_levels import depth
from sluice.risk.classes.k_anonymity import KAnonymity
from sluice.risk.people_of_records import once_a_person
from sluice.risk.row_groups import row_groups
from tasks.tuning.derivations import derivations, with_derived
from tasks.tuning.draft_steps import (
    COUNTLESS,
    OTHERS,
    Draft,
    Family,
    coarser,
    is_one_sided,
    is_wide,
    kept_regressions,
    moved,
    removed,
)
from tasks.tuning.joint_drafts import drawn_anew, perturbed
from tasks.tuning.near_plans import cut_points
from tasks.tuning.records_at_hand import RecordsAtHand

_MANY = 8  # categories of a variable without hierarchy, from which the rarer ones become one
_LARGE_GROUP = 50  # records; among so many hardly ever all have one value of a variable that is not one-sided
_SPARSE = 0.1  # missing share of a sensitive variable, from which groups in which nobody has a value are many
_ON_SENSITIVE = ("l_diversity", "t_closeness", "alpha_k", "beta_likeness", "delta_disclosure")
_FEWEST = 2  # quasi-identifiers in the coarsest drafts
_SUPPRESSED = 0.1  # share of the records that may lose their quasi-identifiers
_OF_THREE = 2 / 3  # separation of three equal groups, as numbers are cut into


def drafts(records: RecordsAtHand, groups: Mapping[str, Sequence[str]], repeats: Sequence[str] = ()) -> Iterator[Draft]:
    """Plans from fine to coarse, by what the policy asks for.

    repeats : variables that tell the same as another one: they are computed from it, where that is known, or left out
    """
    frame, variables = records.frame, records.variables
    groups = _merged(records, groups)
    never = {*repeats, *never_released(variables)}
    usable = {
        name: variable
        for name, variable in variables.items()
        if name not in never
        and _varies(frame[name])
        and not _has_countless_categories(frame[name], variable)
        and groups.get(name, "some")
    }
    known = any(each.role is Role.QUASI_IDENTIFIER for each in variables.values())
    computed = derivations(frame, variables, repeats)
    if records.policy.models(variables) and known:
        # What people are found by would have to be in groups itself.
        computed = [step for step in computed if variables[step.columns[0]].role is not Role.QUASI_IDENTIFIER]
        found = _grouped(frame, variables, usable, groups, records.policy)
    elif records.policy.reference_standard and records.policy.reference_standard.holdout_share:
        found = drawn_anew(frame, variables, usable, groups)
    else:
        found = chain(drawn_anew(frame, variables, usable, groups), perturbed(frame, variables, usable, groups))
    yield from (with_derived(draft, computed) for draft in found)


def _merged(records: RecordsAtHand, groups: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """The categories that stay of each variable whose rarer ones become one; none where too few would stay.

    Rare ones become one however few categories there are: a category that is changed at random is still released, and
    tells that one of the people has it. A category that is not rare joins them, so that together they are none, either.
    """
    found: dict[str, Sequence[str]] = {}
    for name, variable in records.variables.items():
        if variable.kind not in (Kind.NOMINAL, Kind.BINARY) or variable.hierarchy is not None:
            continue
        people = once_a_person(records.frame, records.variables, [name])[name].value_counts()
        people = people[people > 0]
        if len(people) > _MANY and groups.get(name):
            found[name] = groups[name]
        elif (people < MINIMUM_CELL).any() or (name in groups and records.declared[name].categories is None):
            found[name] = [str(label) for label in people.index[people >= MINIMUM_CELL][:_MANY][:-1]]
    return found


def _has_countless_categories(column: pd.Series, variable: Variable) -> bool:
    """Names of hundreds of places or diseases without groups that are known: what is left of them, a few frequent ones
    before all others, tells little, and each category is a dimension in which people are looked for."""
    return variable.kind is Kind.NOMINAL and variable.hierarchy is None and column.nunique() > COUNTLESS


def _varies(column: pd.Series) -> bool:
    return not column.duplicated(keep="first").iloc[1:].all()


def never_released(variables: Variables) -> list[str]:
    """What names somebody, and what no method makes safe."""
    return [name for name, v in variables.items() if v.role in NAMES or v.kind in (Kind.TEXT, Kind.ITEMS)]


# -- under a policy on groups of look-alikes


def _grouped(
    frame: pd.DataFrame, variables: Variables, usable: Variables, groups: Mapping[str, Sequence[str]], policy: Policy
) -> Iterator[Draft]:
    fit = [
        name
        for name, v in usable.items()
        if v.role is Role.QUASI_IDENTIFIER and (v.hierarchy or not v.kind.is_numeric or cut_points(frame[name], 3))
    ]
    sensitive = [name for name, v in usable.items() if v.role is Role.SENSITIVE]
    mixed = sensitive
    if asked := any(rule.rule in _ON_SENSITIVE for rule in policy.rules):
        mixed = [name for name in sensitive if not _is_given_away(frame, usable, name)]
        mixed = [name for name in mixed if not _is_sparse(frame, usable, name)]
        mixed = mixed or sensitive  # without any no draft could pass
    keys = _that_fit(frame, usable, _by_worth(frame, usable, fit), groups, policy)
    others = [name for name, v in usable.items() if v.role is Role.OTHER and v.kind is not Kind.DATE]
    weight = [name for name, v in usable.items() if v.role is Role.WEIGHT]
    # Steps on groups count people, not records, as long as they see whose a record is: these names go last.
    whose = [name for name, v in variables.items() if v.role in GROUPS]
    seen: set[tuple[int, int, float | None, bool, int, bool]] = set()
    for most, rest, window, calibrated, group in (
        (7, [*mixed, *others, *weight], 0.1, False, 0),
        (6, [*mixed, *others, *weight], 0.2, False, 0),
        (5, [*mixed, *others], None, True, 0),
        (5, [*mixed, *others], None, False, 0),
        (4, [*mixed, *others], 0.4, False, 0),
        (4, [*mixed, *others], None, True, _LARGE_GROUP),
        (4, [*mixed, *others], None, False, _LARGE_GROUP),
        (3, [*mixed, *others], None, True, _LARGE_GROUP),
        (3, [*mixed[:2], *others[:4]], 0.4, False, _LARGE_GROUP),
        (3, mixed[:1], 0.5, False, _LARGE_GROUP),
        (_FEWEST, [*mixed, *others], None, True, _LARGE_GROUP),
        (_FEWEST, mixed[:1], 0.5, False, _LARGE_GROUP),
        (_FEWEST, [], 0.5, False, 0),
    ):
        kept = keys[:most]
        shape = (len(kept), len(rest), window, calibrated, group, most == _FEWEST)
        if shape in seen or (asked and not rest):  # a rule on sensitive values judges no file without any
            continue
        seen.add(shape)
        steps = [*removed(variables, [*kept, *rest, *whose]), *coarser(frame, usable, kept, groups)]
        if kept:
            steps += _in_groups(frame, kept, usable, policy, group, whole=most == _FEWEST)
        steps += coarser(frame, usable, rest, groups, numbers=False)
        if window is None:
            steps += _drawn_from_alike(frame, usable, rest, kept, groups, calibrated)
        else:
            steps += moved(frame, usable, rest, window)
        if whose:
            steps.append({"method": "removal", "columns": whose})
        what = "drawn anew from similar records" if window is None else f"swapped among the nearest {window:.0%}"
        what += ", numbers then calibrated by regression" if calibrated and rest else ""
        beside = f", {len(rest)} other variable{'s' if len(rest) > 1 else ''} {what}" if rest else ""
        family: Family = "mixture" if window is None and rest else "groups"
        known = "1 quasi-identifier" if len(kept) == 1 else f"{len(kept)} quasi-identifiers"
        plan = tuple(steps)
        free = tuple({field: value for field, value in step.items() if field != "levels"} for step in steps)
        yield Draft(
            f"{known} in {'large ' if group else ''}groups{beside}", family, plan, None if free == plan else free
        )


def _that_fit(
    frame: pd.DataFrame, variables: Variables, names: Sequence[str], groups: Mapping[str, Sequence[str]], policy: Policy
) -> list[str]:
    """Those that can be released together: at their coarsest groups short of one of all, each after those before it.

    A variable that does not fit beside the others would come out as one group of all.
    """
    limit, least = _limits(policy)
    kept: list[str] = []
    codes: list[IntArray] = []
    for name in names:
        codes.append(pd.factorize(_coarsest(frame[name], variables[name], groups.get(name)), use_na_sentinel=False)[0])
        size = row_groups(codes).size
        if size[size < least].sum() <= limit * len(frame) or len(kept) < _FEWEST:
            kept.append(name)
        else:
            codes.pop()
    return kept


def _coarsest(column: pd.Series, variable: Variable, named: Sequence[str] | None) -> pd.Series:
    """As `coarser` and a search of levels would give it at most, short of one group of all."""
    if variable.hierarchy is not None:
        return at_level(column, variable, _highest_level(column, variable))
    if variable.kind.is_numeric:
        return pd.Series(np.digitize(column.astype("float64"), cut_points(column, 3) or []))
    if variable.kind is Kind.DATE:
        return pd.to_datetime(column).dt.year
    return column.astype(str).where(column.isin(named), OTHERS) if named else column.astype(str)


def _highest_level(column: pd.Series, variable: Variable) -> int:
    """The coarsest level of a variable that still tells something: its values are not nearly all in one group."""
    known = column.dropna()
    levels = range(depth(variable) - 1, 0, -1)
    return next((level for level in levels if not is_one_sided(at_level(known, variable, level))), 0)


def at_level(column: pd.Series, variable: Variable, level: int) -> pd.Series:
    """The groups of the values at a level of the variable's hierarchy, a category column. Cost: O(n), and the hierarchy
    once for each different value."""
    codes, found = pd.factorize(column)
    labels = pd.Series(found).astype(str)
    groups = labels.map(variable.hierarchy.at_level(level)) if variable.hierarchy and level else labels
    of_value, names = pd.factorize(groups)
    taken = np.append(of_value, -1)[codes]  # the last one: missing
    return pd.Series(pd.Categorical.from_codes(taken, names), index=column.index)


def _limits(policy: Policy) -> tuple[float, int]:
    """The share of the records that drafts suppress in small groups, and records of a group that is not small.

    Where a blank may stand for any value but hides its own record only, a suppressed record leaves others with too few:
    there the levels are so coarse that none has to be.
    """
    asked = [rule for rule in policy.rules if isinstance(rule, KAnonymity)]
    none = any(rule.missing_matches == "any" for rule in asked)
    return 0.0 if none else _SUPPRESSED, max((rule.k for rule in asked), default=3)


def _is_given_away(frame: pd.DataFrame, variables: Variables, name: str) -> bool:
    """Whether so many have one value that in some groups all have it, and that this could hurt somebody."""
    harmless = variables[name].harmless
    known = frame[name].dropna()
    named = () if harmless is None else harmless.values
    return is_one_sided(frame[name]) and not (len(known) and as_label(known.mode().iloc[0]) in named)


def _is_sparse(frame: pd.DataFrame, variables: Variables, name: str) -> bool:
    """Whether so many have no value that in some groups nobody has one, and that this could tell of somebody."""
    harmless = variables[name].harmless
    return not (harmless and harmless.missing) and frame[name].isna().mean() >= _SPARSE


def _in_groups(
    frame: pd.DataFrame, keys: Sequence[str], variables: Variables, policy: Policy, group: int, whole: bool
) -> list[dict[str, Any]]:
    """Levels at which the policy's groups are large enough, and what is left of small ones suppressed.

    group : records that are to share a combination, where these are more than the policy asks for; 0 if not
    whole : whether a variable may come out as one group of all, which tells nothing: rather fewer variables do
    """
    limit, least = _limits(policy)
    levels: dict[str, Any] = {"method": "generalization", "columns": list(keys), "under": "policy"}
    levels |= {"models": [{"model": "k_anonymity", "k": group}]} if group else {}
    if not whole:
        levels["levels"] = {name: {"to": _highest_level(frame[name], variables[name])} for name in keys}
    levels["suppression_limit"] = limit
    if not limit:
        return [levels]
    return [levels, {"method": "local_suppression", "columns": list(keys), "k": least}]


def _drawn_from_alike(
    frame: pd.DataFrame, variables: Variables, names: Sequence[str], given: Sequence[str],
    groups: Mapping[str, Sequence[str]], calibrated: bool,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Values from a hundred records that are alike in the quasi-identifiers: nobody's own."""
    fit = [name for name in names if name in groups or not is_wide(frame[name], variables[name])]
    known = [name for name in given if variables[name].kind is not Kind.DATE]
    if left := [name for name in names if name not in fit]:
        yield {"method": "removal", "columns": left}
    if fit:
        step = {"method": "sequential_trees", "columns": fit, "minimum_leaf": 100, "smoothing": "density"}
        kept = {"calibrated": kept_regressions(frame, variables, fit, known)} if calibrated else {}
        yield step | ({"given": known} if known else {}) | kept


def _by_worth(frame: pd.DataFrame, variables: Variables, keys: Sequence[str]) -> list[str]:
    """What every user asks for, sex and birth, then those that tell people apart least when they are as coarse as may
    be: they cost least to keep.

    A variable that is the same for nearly everybody comes last: it describes few people, and those too well.
    """

    def worth(name: str) -> tuple[bool, bool, float, float]:
        fine = _separation(frame[name])
        coarse = fine
        if variables[name].hierarchy is not None:
            known = frame[name].dropna()
            coarse = _separation(at_level(known, variables[name], _highest_level(known, variables[name])))
        elif variables[name].kind.is_numeric or variables[name].kind is Kind.DATE:
            coarse = min(fine, _OF_THREE)
        one_sided = is_one_sided(frame[name])
        return one_sided, not (is_called_for_life(name) or "age" in words_of(name)), coarse, fine

    return sorted(keys, key=worth)


def _separation(column: pd.Series) -> float:
    shares = column.value_counts(normalize=True, dropna=False).to_numpy()
    return float(1 - shares @ shares)
