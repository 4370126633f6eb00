"""Drafted analyses: what users would do first with a file of which nobody said what it is for.

Regressions of two sensitive variables on what describes people, the first also within subgroups, one of a sensitive
variable on others, and two tables. The
variables are chosen by role and kind. Where the contract leaves more than one, the first in its order is taken, numbers
before categories: coefficients of numbers are few, and what turns them is seen.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from sluice.ground.comparable_values import repeated
from sluice.ground.variables import NAMES, Kind, Role, Variable, Variables, with_role
from sluice.utility.analyses.asked_analyses import ModelAnalysis

_MODELS = 3
_EXPLAINING = 4
_MOST_LEVELS = 8  # of a category that explains: with more, coefficients turn by chance alone
_MOST_SUBGROUPS = 6
_SKEWED = 2.0  # mean by median, from which on a positive number is modelled by its logarithm
_LONGEST_NAME = 40  # of a variable, which names its model
_PLAIN = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
_WORDS = ("survival", "C", "log", "sqrt")


@dataclass(frozen=True)
class DraftedAnalyses:
    """models: three at most, the first by subgroups where there are any. tables: two at most, of two variables each."""

    models: tuple[ModelAnalysis, ...]
    tables: tuple[tuple[str, str], ...]


def drafted_analyses(variables: Variables, records: pd.DataFrame, undeclared: frozenset[str]) -> DraftedAnalyses:
    """Analyses of these variables; none where there is nothing to explain by something else.

    variables  : of the original, as the contract types them
    records    : (n,) typed by `variables`
    undeclared : variables whose categories were found in the data; none of their categories is named
    cost       : O(variables n log n), for those that repeat another one and are left out
    """
    levels = {name: _levels(records[name], variable) for name, variable in variables.items() if _is_value(variable)}
    usable = [name for name in levels if levels[name] > 1 and name not in undeclared]
    # Beside its own square or logarithm a variable explains nothing, and what is left of the others is chance.
    same = repeated({name: pd.factorize(records[name], use_na_sentinel=False)[0] for name in usable})
    usable = [name for name in usable if name not in same]
    explaining = _ranked(
        [name for name in usable if variables[name].kind.is_numeric or levels[name] <= _MOST_LEVELS], variables, _PEOPLE
    )
    weight = next(iter(with_role(variables, Role.WEIGHT)), None)
    by = next(
        (name for name in explaining if variables[name].kind.is_categorical and levels[name] <= _MOST_SUBGROUPS),
        None,
    )
    targets = _ranked(usable, variables, _ANSWERS)
    sensitive = [name for name in targets if variables[name].role is Role.SENSITIVE]
    models: list[ModelAnalysis] = []
    for target, among in _explained(targets, sensitive, explaining):
        number, response = _response(variables[target], records[target])
        with_sensitive = " with other answers" if any(model.name == target for model in models) else ""
        models.append(
            ModelAnalysis(
                name=f"{target}{with_sensitive}",
                kind="linear" if number else "logistic",
                formula=f"{response} ~ {' + '.join(map(_quoted, among))}",
                weight=weight,
                by=by if not models and by != target else None,
            )
        )
    return DraftedAnalyses(tuple(models), tuple(dict.fromkeys(_pairs(usable, explaining, variables)))[:2])


def _explained(targets: list[str], sensitive: list[str], explaining: list[str]) -> Iterator[tuple[str, list[str]]]:
    """What each model explains, and by what: two answers by descriptions of people, and one answer by others, too."""
    several = [name for name in sensitive[1:] if name in explaining]
    for target in targets[: _MODELS - bool(several)]:
        described = [name for name in explaining if name != target and name not in sensitive][:_EXPLAINING]
        if among := described or [name for name in explaining if name != target][:_EXPLAINING]:
            yield target, among
    if several:
        described = [name for name in explaining if name not in sensitive]
        yield sensitive[0], [*several[:2], *described][:_EXPLAINING]


_PEOPLE = (Role.QUASI_IDENTIFIER, Role.OTHER, Role.SENSITIVE)
_ANSWERS = (Role.SENSITIVE, Role.OTHER, Role.QUASI_IDENTIFIER)


def _is_value(variable: Variable) -> bool:
    written = not set("`\r\n") & {*variable.name} and len(variable.name) <= _LONGEST_NAME
    return (
        written
        and variable.role not in (*NAMES, Role.WEIGHT)
        and variable.kind not in (Kind.DATE, Kind.TEXT, Kind.ITEMS)
    )


def _levels(column: "pd.Series[Any]", variable: Variable) -> int:
    if variable.kind.is_categorical:
        return int(column.nunique())
    held = column.dropna()
    return 2 if len(held) and held.min() < held.max() else 1


def _ranked(names: list[str], variables: Variables, roles: tuple[Role, ...]) -> list[str]:
    """By role, then numbers, then pairs of categories, then others; of equal rank in the order of the contract."""
    kinds = {Kind.CONTINUOUS: 0, Kind.INTEGER: 0, Kind.BINARY: 1}
    return sorted(names, key=lambda name: (roles.index(variables[name].role), kinds.get(variables[name].kind, 2)))


def _response(variable: Variable, column: "pd.Series[Any]") -> tuple[bool, str]:
    """Whether it is a number, and what stands on the left of the formula."""
    name = _quoted(variable.name)
    if variable.kind.is_numeric:
        held = pd.to_numeric(column.dropna())
        skewed = held.min() > 0 and held.mean() > _SKEWED * held.median()
        return True, f"log({name})" if skewed else name
    counts = column.value_counts(sort=False)
    category = str(counts.index[-1] if variable.kind is Kind.BINARY else counts.idxmax())
    mark = '"' if "'" in category else "'"  # a category with both is rare, and the formula is refused
    return False, f"{name} == {mark}{category}{mark}"


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) and name not in _WORDS else f"`{name}`"


def _pairs(usable: list[str], explaining: list[str], variables: Variables) -> Iterator[tuple[str, str]]:
    """What describes people with what is asked of them, and two descriptions of people."""
    categories = [name for name in explaining if variables[name].kind.is_categorical] or explaining
    targets = _ranked(usable, variables, _ANSWERS)
    for one, several in ((categories, targets), (categories, explaining), (explaining, targets)):
        for name in one[:1]:
            yield from ((name, other) for other in several[:2] if other != name)
            break
