"""Changes of a plan: single ones, each in words, that might let it pass."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pydantic import ValidationError

from policies.policy import Policy
from sluice.ground.errors import PlanError
from sluice.ground.sentence import word
from sluice.ground.variables import NAMES, Kind, Role, Variables
from sluice.masking.plan import released_variables
from tasks.release.records.record_definition import RecordsDefinition
from tasks.tuning.drafted_space import removed_by
from tasks.tuning.near_plans import cut, values_near, with_variable
from tasks.tuning.parameter_ranges import first, last, step_with
from tasks.tuning.space import without
from tasks.tuning.trial import Miss

_WINDOWS = (0.05, 0.1, 0.2, 0.3)
_SIZES = (1, 2, 4, 8)  # times the k that the policy asks for
_SHARES = (0.02, 0.05, 0.1)
_RETENTIONS = (0.9, 0.8, 0.6)
_TAILS = (0.99, 0.95, 0.9)

Plan = tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Change:
    """One change: what it is about, in words, and the plan after it.

    about : of two changes about the same thing one is enough
    """

    about: str
    says: str
    plan: Plan


def changes(
    definition: RecordsDefinition, plan: Plan, variables: Variables, frame: pd.DataFrame, policy: Policy,
    misses: Sequence[Miss] = (),
) -> list[Change]:  # fmt: skip
    """Every single change that is a valid plan, those first that are about what the findings name, and in turns."""
    found = [
        *_of_values(plan),
        *_left_out(definition, plan, variables),
        *_added(definition, plan, variables, frame, policy),
        *_without_a_step(plan),
        *_brought_back(plan, variables, frame, misses),
    ]
    text = " ".join(miss.says for miss in misses)
    named = {name for name in variables if name in text or word(name) in text}
    turn: dict[str, int] = {}  # the first change about each thing comes before the second about any
    ordered: list[tuple[bool, int, Change]] = []
    for change in found:
        if _is_valid(definition, change.plan):
            turn[change.about] = turn.get(change.about, -1) + 1
            ordered.append((not any(name in change.says for name in named), turn[change.about], change))
    return [change for _, _, change in sorted(ordered, key=lambda each: each[:2])]


def _of_values(plan: Plan) -> Iterator[Change]:
    """Other values of a step's numbers."""
    for index, step in enumerate(plan):
        for field, value, other in values_near(step):
            on = ", ".join(map(str, step.get("columns", ())))
            says = f"{field} of {step['method']} on {on}: {_shown(other)} in place of {_shown(value)}"
            after = (*plan[:index], dict(step) | {field: other}, *plan[index + 1 :])
            yield Change(f"{index}.{field}", says, after)


def _left_out(definition: RecordsDefinition, plan: Plan, variables: Variables) -> Iterator[Change]:
    """One more variable that is not released."""
    for name, variable in _released(definition, variables).items():
        if variable.role in (Role.QUASI_IDENTIFIER, Role.WEIGHT, Role.OTHER, Role.SENSITIVE):
            yield Change(f"without {name}", f"leave {name} out", tuple(without(plan, [name])))


def _added(
    definition: RecordsDefinition, plan: Plan, variables: Variables, frame: pd.DataFrame, policy: Policy
) -> Iterator[Change]:
    """A further step."""
    released = _released(definition, variables)
    keys = [name for name, v in released.items() if v.role is Role.QUASI_IDENTIFIER]
    fit = [name for name in keys if released[name].kind not in (Kind.TEXT, Kind.ITEMS)]
    asked = max((int(getattr(rule, "k", 0)) for rule in policy.rules), default=0)
    methods = {step["method"] for step in plan}
    if fit and asked and "local_suppression" not in methods:
        for k in (asked * size for size in _SIZES):
            step = {"method": "local_suppression", "columns": fit, "k": k}
            yield Change("local_suppression", f"then local_suppression on {', '.join(fit)}, k: {k}", (*plan, step))
    if keys and asked and not methods & {"generalization", "local_suppression"}:
        yield from _generalised(keys, released, frame, plan, asked)
    for name, variable in released.items():
        if variable.role in NAMES or variable.role is Role.QUASI_IDENTIFIER:
            continue
        swapped = any(step["method"] == "rank_swapping" and name in step["columns"] for step in plan)
        if (variable.kind.is_numeric or variable.kind is Kind.ORDINAL) and not swapped:
            for window in _WINDOWS:
                step = {"method": "rank_swapping", "columns": [name], "window": window}
                yield Change(f"rank_swapping {name}", f"then rank_swapping on {name}, window: {window}", (*plan, step))
        if variable.kind.is_numeric and name in frame:
            for share in _TAILS:
                top = {"method": "top_bottom_coding", "columns": [name], "top": {"quantile": share}}
                says = f"then top_bottom_coding on {name} above the quantile of {share}"
                yield Change(f"top_bottom_coding {name}", says, (*plan, top))
        if variable.kind in (Kind.NOMINAL, Kind.BINARY):
            for share in _RETENTIONS:
                step = {"method": "pram", "columns": [name], "retention": share, "invariant": True}
                yield Change(f"pram {name}", f"then pram on {name}, retention: {share}", (*plan, step))


def _generalised(
    keys: Sequence[str], released: Variables, frame: pd.DataFrame, plan: Plan, asked: int
) -> Iterator[Change]:
    """All quasi-identifiers as coarse as the policy asks, numbers without a hierarchy cut first; larger groups, too.

    Of larger groups fewer are alike in a sensitive number, of which no model of the search makes sure.
    """
    cuts = []
    for name in keys:
        step = cut(frame[name], released[name]) if name in frame else None
        if step is not None and "bins" in step:
            cuts.append({**step, "bins": step["bins"]["any_of"][0]})
    for size in _SIZES:
        for share in _SHARES[-1:] if size > 1 else _SHARES:
            step = {"method": "generalization", "columns": list(keys), "under": "policy", "suppression_limit": share}
            larger = f", groups of {size * asked}" if size > 1 else ""
            if size > 1:
                step["models"] = [{"model": "k_anonymity", "k": size * asked}]
            says = f"first generalise {', '.join(keys)} under the policy, suppression_limit: {share}{larger}"
            yield Change("generalization", says, (*cuts, step, *plan))


def _without_a_step(plan: Plan) -> Iterator[Change]:
    """For a file that lost too much."""
    for index, step in enumerate(plan):
        if len(plan) > 1 and step["method"] != "removal":
            on = ", ".join(map(str, step.get("columns", ())))
            yield Change(f"no {index}", f"no {step['method']} on {on}", (*plan[:index], *plan[index + 1 :]))


def _brought_back(plan: Plan, variables: Variables, frame: pd.DataFrame, misses: Sequence[Miss]) -> Iterator[Change]:
    """A removed variable that stays, masked: for a file that lost too much. No other finding is mended by more."""
    if not any(miss.stage == "utility" for miss in misses):
        return
    for name in removed_by(plan):
        known = variables.get(name)
        if known is None or known.role in NAMES or known.kind in (Kind.TEXT, Kind.ITEMS) or name not in frame:
            continue
        opened = with_variable(plan, name, variables, frame)
        for choose in (first, last) if opened is not None else ():
            steps = tuple(step_with(step, choose, "") for step in opened or ())
            added = [step for step in steps if step["columns"] == [name]]
            how = "; ".join(_step_in_words(step) for step in added)
            yield Change(f"with {name}", f"keep {name}{f', by {how}' if how else ''}", steps)


def _step_in_words(step: Mapping[str, Any]) -> str:
    given = [f"{key}: {_shown(value)}" for key, value in step.items() if key not in ("method", "columns")]
    return " ".join([str(step["method"]), *given])


def _released(definition: RecordsDefinition, variables: Variables) -> Variables:
    try:
        return released_variables(definition.plan, variables)
    except PlanError:  # under a policy: its columns stay
        removed = {name for step in definition.plan if step.method == "removal" for name in step.columns}
        return {name: variable for name, variable in variables.items() if name not in removed}


def with_plan(definition: RecordsDefinition, plan: Plan) -> RecordsDefinition:
    """The definition with another plan. Raises ValidationError."""
    content = {name: getattr(definition, name) for name in type(definition).model_fields if name != "plan"}
    return RecordsDefinition.model_validate({**content, "plan": [dict(step) for step in plan]})


def _is_valid(definition: RecordsDefinition, plan: Plan) -> bool:
    if not plan:
        return False
    try:
        with_plan(definition, plan)
    except ValidationError:
        return False
    return True


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {part}" for key, part in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
