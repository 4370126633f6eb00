"""Idle limits: limits that nothing can exceed, as a share of 1.038, or an agreement of at least 0.

A policy with one looks as if it judged what it lets through. The largest figure is declared by the rule
(`DisclosureRule.bounds`) or by the measure of utility (`Measure.largest`); a smallest agreement is compared with 0.
What is only reported is left alone: it decides nothing.
"""

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

from pydantic import BaseModel

from policies.standard.reference_standard import ReferenceStandard
from policies.utility_limits import FAMILIES, UtilityLimits
from sluice.ground.rule import DisclosureRule
from sluice.utility.measured import Floor, Limit, ShareLimit
from sluice.utility.utility_measures import measures

_OF_TRANSPARENCY = ("identified", "confident", "reconstructed", "participation")  # shares of the people


def idle_limits(
    rules: Sequence[DisclosureRule],
    attacks: Sequence[DisclosureRule],
    standard: ReferenceStandard | None,
    utility: UtilityLimits,
) -> list[str]:
    """A sentence for each limit that decides and that nothing could ever exceed: field, what is allowed, what came."""
    found = [
        *_of_rules("rules", rules),
        *_of_rules("attacks", attacks),
        *_of_utility(utility),
    ]
    if standard is not None and standard.transparency.binding:
        shares = {name: getattr(standard.transparency, name) for name in _OF_TRANSPARENCY}
        found += [_above(f"reference_standard.transparency.{name}", 1.0, shares[name]) for name in shares]
    return [each for each in found if each]


def _of_rules(where: str, rules: Sequence[DisclosureRule]) -> Iterator[str]:
    for index, rule in enumerate(rules):
        if rule.decides:
            for field, largest in rule.bounds.items():
                yield _above(f"{where}.{index}.{field} of {rule.rule}", largest, _value(rule, field))


def _of_utility(utility: UtilityLimits) -> Iterator[str]:
    measured = {each.name: each for each in measures(FAMILIES)}
    for name, measure in measured.items():
        limit = getattr(utility, name)
        if limit is not None and limit.binding:
            yield _above(f"utility.{name}.at_most", measure.largest, limit.at_most)
    for name in UtilityLimits.model_fields.keys() - measured.keys():  # analyses, each with limits of its own
        for place, limit in _limits(f"utility.{name}", getattr(utility, name)):
            if isinstance(limit, Floor):
                yield _below(f"{place}.at_least", 0.0, limit.at_least) if limit.binding else ""
            elif isinstance(limit, ShareLimit) and limit.binding:
                yield _above(f"{place}.at_most", 1.0, limit.at_most)


def _limits(where: str, part: Any) -> Iterator[tuple[str, Floor | Limit]]:
    """All limits within a part of a policy, each with its place."""
    if isinstance(part, Floor | Limit):
        yield where, part
    elif isinstance(part, BaseModel):
        for name in type(part).model_fields:
            yield from _limits(f"{where}.{name}", getattr(part, name))
    elif isinstance(part, tuple | list):
        for index, each in enumerate(part):
            yield from _limits(f"{where}.{index}", each)


def _value(rule: DisclosureRule, field: str) -> float | None:
    value = reduce(lambda part, name: None if part is None else getattr(part, name), field.split("."), rule)
    return value if isinstance(value, int | float) else None


def _above(field: str, largest: float, value: float | None) -> str:
    if value is None or value < largest:
        return ""
    return f"{field} must be below {largest:g}, the largest figure that there can be; got {value:g}"


def _below(field: str, smallest: float, value: float) -> str:
    if value > smallest:
        return ""
    return f"{field} must be above {smallest:g}, the smallest figure that there can be; got {value:g}"
