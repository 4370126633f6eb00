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

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray
from sluice.ground.comparable_values import repeated
from sluice.ground.variables import NAMES, Kind, Role, Variable, Variables, with_role
from sluice.utility.analyses.asked_analyses import ModelAnalysis

_MODELS = 3
_EXPLAINING = 4
_MOST_LEVELS = 8  # of a category that explains: with more, coefficients turn by chance alone
_MOST_SUBGROUPS = 6
_LOOKED_AT = 10_000  # records, evenly among all
_NEARLY = 0.95  # correlation of ranks from which two numbers tell the same: an age, and the year of birth
_COMPUTED = 0.98  # of the variance, from which a number follows from others: years of birth and marriage
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
    cost       : O(variables n log n), for those that repeat another one and are left out, and O(numbers^2) times at
                 most _LOOKED_AT records for those that nearly do
    """
    records = records.reset_index(drop=True)
    levels = {name: _levels(records[name], variable) for name, variable in variables.items() if _is_value(variable)}
    usable = [name for name in levels if levels[name] > 1 and name not in undeclared]
    # Beside its own square or logarithm a variable explains nothing, and what is left of the others is chance.
    same = repeated({name: pd.factorize(records[name], use_na_sentinel=False)[0] for name in usable})
    usable = [name for name in usable if name not in same]
    ranks = _ranks(records, [name for name in usable if variables[name].kind.is_numeric])
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
    for target, among in _explained(targets, sensitive, explaining, _near(ranks)):
        if _is_computed(records, ranks, target, among):
            continue
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


def _ranks(records: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Ranks of numbers, standardised, of about _LOOKED_AT of the records."""
    some = records[names].iloc[:: max(1, len(records) // _LOOKED_AT)].astype("float64").rank()
    return (some - some.mean()) / some.std().replace(0, 1)


def _near(ranks: pd.DataFrame) -> dict[str, set[str]]:
    """Of each number those that tell nearly the same: beside each other they explain nothing, and of a model of both
    nothing is left but what tells them apart."""
    known = ranks.fillna(0.0).to_numpy()
    close = np.abs(known.T @ known) > _NEARLY * max(len(ranks) - 1, 1)
    return {name: {*ranks.columns[close[place]]} - {name} for place, name in enumerate(ranks.columns)}


def _is_computed(records: pd.DataFrame, ranks: pd.DataFrame, target: str, among: list[str]) -> bool:
    """Whether a number follows from several others and from none of them alone: an identity of the file, and no effect
    that anybody estimates. By ranks, too, as of amounts a single large one may be all that varies."""
    by = [name for name in among if name in ranks]
    if target not in ranks or not by:
        return False
    values = records.loc[ranks.index, [*by, target]].astype("float64").dropna()
    if any(_explained_share(values[[name, target]].to_numpy()) > _COMPUTED for name in by):
        return False
    return all(
        _explained_share(some.to_numpy()) > least
        for some, least in ((values, _COMPUTED), (ranks.loc[values.index, values.columns], _NEARLY**2))
    )


def _explained_share(table: FloatArray) -> float:
    """Of the variance of the last column that by the others; 0 where the records are too few to tell."""
    if len(table) <= 2 * table.shape[1]:
        return 0.0
    centred = table - table.mean(axis=0)
    matrix, response = centred[:, :-1], centred[:, -1]
    whole = float(response @ response)
    left = response - matrix @ np.linalg.lstsq(matrix, response, rcond=None)[0]
    return 1 - float(left @ left) / whole if whole else 0.0


def _explained(
    targets: list[str], sensitive: list[str], explaining: list[str], near: dict[str, set[str]]
) -> Iterator[tuple[str, list[str]]]:
    """What each model explains, and by what: two answers by descriptions of people, and one answer by others, too."""

    def first(names: list[str]) -> list[str]:
        """As many as explain, none of which nearly tells another."""
        found: list[str] = []
        for name in names:
            if len(found) < _EXPLAINING and not near.get(name, set()) & {*found}:
                found.append(name)
        return found

    several = [name for name in sensitive[1:] if name in explaining]
    for target in targets[: _MODELS - bool(several)]:
        described = first([name for name in explaining if name != target and name not in sensitive])
        if among := described or first([name for name in explaining if name != target]):
            yield target, among
    if several:
        described = [name for name in explaining if name not in sensitive]
        yield sensitive[0], first([*several[:2], *described])


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
