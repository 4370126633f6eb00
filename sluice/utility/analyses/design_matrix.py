"""Design matrix: what a formula makes of the variables of a file, column by column.

A category is coded against a reference, 1 or 0; where the margin of a term is not in the model, against none (Wilkinson
and Rogers 1973, section 3; as in R). The reference is the most frequent original category that both files have, so that
their coefficients mean the same and many records stand behind each.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray, IntArray, behind
from sluice.ground.errors import DataError
from sluice.utility.analyses.formula import Condition, Factor, Formula
from sluice.utility.analyses.model_variables import Levels, ModelVariable

INTERCEPT = "(intercept)"
_MOST_CELLS = 300_000_000
_MOST_COLUMNS = 500

Columns = Mapping[str, ModelVariable]


@dataclass(frozen=True)
class Coefficient:
    """What a column stands for. Those of two files are the same where all of this is.

    parts      : (factor, category) of each factor, '' for the category of a number; nothing of the intercept
    references : (factor, category) against which its own categories and those of interactions with it are coded
    """

    parts: tuple[tuple[str, str], ...]
    references: frozenset[tuple[str, str]] = frozenset()

    def __str__(self) -> str:
        return " × ".join(f"{name}: {level}" if level else name for name, level in self.parts) or INTERCEPT


@dataclass(frozen=True)
class Design:
    """A file as a model sees it: the records without a missing value among the variables.

    matrix   : (n, p)
    response : (n,)
    event    : (n,), of a survival time
    weights  : (n,), where a variable weighs the records
    rows     : (m,) which records of the file these are
    behind   : (p,) the smallest number of records that stand behind a coefficient: of its own cell, of the rest, and of
               the cells that it is coded against; of a response that is 0 for some, those for whom it is not, and
               of one that is 0 or 1 the fewer of both; and of numbers those whom their variation comes from, as who is
               far from all others has the coefficient to themselves
    """

    coefficients: tuple[Coefficient, ...]
    matrix: FloatArray
    response: FloatArray
    event: FloatArray | None
    weights: FloatArray | None
    rows: BoolArray
    behind: IntArray


@dataclass(frozen=True)
class _Parts:
    """The factors of one file that its variables allow, and the records that have a value of each."""

    terms: tuple[tuple[Factor, ...], ...]
    numbers: Mapping[Factor, FloatArray]
    levels: Mapping[Factor, Levels]
    response: FloatArray
    event: FloatArray | None
    weights: FloatArray | None
    rows: BoolArray


def designs(formula: Formula, before: Columns, after: Columns, weight: str | None) -> tuple[Design, Design | None]:
    """The designs of two files by one formula.

    before, after : the variables of the two files; the first has the response
    weight        : the variable that weighs the records; a file that lacks it is not weighted
    returns       : a file without a variable has no term of it; None for one without its response
    raises        : DataError where the matrix would be too large, and for weights below 0
    """
    first = _parts(formula, before, weight)
    assert first is not None, "the first file has the response"
    second = _parts(formula, after, weight)
    shared = _references(first, second)
    return _design(formula, first, shared), None if second is None else _design(formula, second, shared)


def _parts(formula: Formula, columns: Columns, weight: str | None) -> _Parts | None:
    left = [formula.response] + ([formula.event] if formula.event else [])
    if any(condition.factor.variable not in columns for condition in left):
        return None
    response, *event = (_condition(condition, columns) for condition in left)
    terms = tuple(term for term in formula.terms if all(factor.variable in columns for factor in term))
    numbers: dict[Factor, FloatArray] = {}
    levels: dict[Factor, Levels] = {}
    for factor in dict.fromkeys(factor for term in terms for factor in term):
        if _is_category(factor, columns[factor.variable]):
            levels[factor] = columns[factor.variable].levels()
        else:
            numbers[factor] = _number(factor, columns[factor.variable])
    rows = np.isfinite(response)
    for values in (*event, *numbers.values()):
        rows &= np.isfinite(values)
    for each in levels.values():
        rows &= each.codes >= 0
    weights = columns[weight].numbers() if weight in columns and weight is not None else None
    if weights is not None:
        if (weights < 0).any():
            raise DataError(f"'{weight}' weighs the records and must not be negative; got numbers below 0.")
        rows &= weights > 0
    return _Parts(terms, numbers, levels, response, event[0] if event else None, weights, rows)


def _condition(condition: Condition, columns: Columns) -> FloatArray:
    variable = columns[condition.factor.variable]
    if condition.comparison and condition.factor.form == "itself":
        return variable.where(condition.comparison, condition.value)
    if condition.comparison:
        transformed = _number(condition.factor, variable)
        known = ModelVariable(np.where(np.isnan(transformed), -1, np.arange(len(transformed))), transformed)
        return known.where(condition.comparison, condition.value)
    if variable.order:  # of two categories, whether it is the second
        return variable.where("==", variable.order[-1])
    return _number(condition.factor, variable)


def _is_category(factor: Factor, variable: ModelVariable) -> bool:
    return factor.form == "category" or (factor.form == "itself" and bool(variable.order))


def _number(factor: Factor, variable: ModelVariable) -> FloatArray:
    values = variable.numbers()
    with np.errstate(divide="ignore", invalid="ignore"):
        match factor.form:
            case "log":
                return np.asarray(np.log(values))
            case "sqrt":
                return np.asarray(np.sqrt(values))
            case "power":
                return np.asarray(values**factor.power)
    return values


def _references(first: _Parts, second: _Parts | None) -> dict[Factor, str]:
    """Of each factor the most frequent original category that both files have."""
    found = {}
    for factor, levels in first.levels.items():
        counts = np.bincount(levels.codes[first.rows], minlength=len(levels.names))
        names = [levels.names[place] for place in np.argsort(-counts, kind="stable") if counts[place]]
        if second is not None and factor in second.levels:
            after = second.levels[factor]
            own = {name for name, own in zip(after.names, after.own, strict=True) if own}
            there = own.intersection(_occurring(after, second.rows))
            names = [name for name in names if name in there] or names
        if names:
            found[factor] = names[0]
    return found


def _occurring(levels: Levels, rows: BoolArray) -> list[str]:
    counts = np.bincount(levels.codes[rows], minlength=len(levels.names))
    return [name for name, count in zip(levels.names, counts, strict=True) if count]


def _design(formula: Formula, parts: _Parts, shared: Mapping[Factor, str]) -> Design:
    rows, n = parts.rows, int(parts.rows.sum())
    intercept = formula.intercept and parts.event is None
    # Cox models have no intercept, and their categories are coded as if they had one.
    present = {frozenset(term) for term in parts.terms} | ({frozenset[Factor]()} if formula.intercept else set())
    codes = {factor: levels.codes[rows] for factor, levels in parts.levels.items()}
    kept = {factor: _occurring(levels, rows) for factor, levels in parts.levels.items()}
    reference = {
        factor: shared[factor] if shared.get(factor) in names else names[0] for factor, names in kept.items() if names
    }
    coded_against: list[dict[Factor, bool]] = []
    for term in parts.terms:
        coded_against.append({f: frozenset(term) - {f} in present for f in term if f in parts.levels})
    columns: list[FloatArray] = [np.ones(n)] if intercept else []
    names = [Coefficient((), _above(frozenset(), parts, coded_against, reference))] if intercept else []
    for term, against in zip(parts.terms, coded_against, strict=True):
        references = _above(frozenset(term), parts, coded_against, reference)
        made: list[tuple[tuple[tuple[str, str], ...], FloatArray]] = [((), np.ones(n))]
        for factor in term:
            if factor in parts.numbers:
                values = parts.numbers[factor][rows]
                made = [((*part, (str(factor), "")), column * values) for part, column in made]
                continue
            place = {name: number for number, name in enumerate(parts.levels[factor].names)}
            wanted = [name for name in kept[factor] if not (against[factor] and name == reference[factor])]
            if len(made) * len(wanted) + len(columns) > _MOST_COLUMNS or n * len(made) * len(wanted) > _MOST_CELLS:
                raise DataError(
                    f"the formula makes more than {_MOST_COLUMNS} columns, or {_MOST_CELLS:,} cells; take a variable "
                    f"with fewer categories than '{factor.variable}', or leave an interaction out."
                )
            made = [
                ((*part, (str(factor), name)), column * (codes[factor] == place[name]))
                for part, column in made
                for name in wanted
            ]
        names += [Coefficient(part, references) for part, _ in made]
        columns += [column for _, column in made]
    if len(columns) > _MOST_COLUMNS or n * len(columns) > _MOST_CELLS:
        raise DataError(f"the formula makes more than {_MOST_COLUMNS} columns, or {_MOST_CELLS:,} cells.")
    matrix = np.column_stack(columns) if columns else np.zeros((n, 0))
    response = parts.response[rows]
    event = None if parts.event is None else parts.event[rows]
    at_reference = {
        (str(factor), name): codes[factor] == parts.levels[factor].names.index(name)
        for factor, name in reference.items()
    }
    terms = [frozenset(map(str, term)) for term in parts.terms]
    numbers = {str(factor): values[rows] for factor, values in parts.numbers.items()}
    counted = _Counted(response if event is None else event)
    return Design(
        coefficients=tuple(names),
        matrix=matrix,
        response=response,
        event=event,
        weights=None if parts.weights is None else parts.weights[rows],
        rows=rows,
        behind=np.array(
            [_behind(name, matrix[:, at], terms, at_reference, numbers, counted) for at, name in enumerate(names)],
            np.int64,
        ),
    )


class _Counted:
    """Records of a cell, by the response."""

    def __init__(self, response: FloatArray) -> None:
        self._some = response != 0
        self._from_zero = len(response) > 0 and not self._some.all()
        self._binary = self._from_zero and bool(np.isin(response, (0, 1)).all())
        self._varies = len(response) if self._binary else int(behind(response))

    def fewest(self, cell: BoolArray) -> int:
        number = int(cell.sum())
        with_some = int((cell & self._some).sum())
        if self._binary:
            return min(with_some, number - with_some)
        return min(with_some if self._from_zero else number, self._varies)


def _behind(
    coefficient: Coefficient,
    column: FloatArray,
    terms: list[frozenset[str]],
    at_reference: Mapping[tuple[str, str], BoolArray],
    numbers: Mapping[str, FloatArray],
    counted: _Counted,
) -> int:
    own = frozenset(name for name, _ in coefficient.parts)
    cell = column != 0
    fewest = counted.fewest(cell)
    if any(level for _, level in coefficient.parts) and not cell.all():
        fewest = min(fewest, counted.fewest(~cell))
    multiplied = [numbers[name] for name, level in coefficient.parts if not level]
    if multiplied:  # in this cell, and in those that it is coded against
        fewest = min(fewest, int(behind(column)), int(behind(np.prod(multiplied, axis=0))))
    for term in terms:
        if not own <= term:
            continue
        against = [rows for (name, _), rows in at_reference.items() if name in term]
        others = [rows for (name, _), rows in at_reference.items() if name in term - own]
        for rows in against:
            fewest = min(fewest, counted.fewest(rows))
        if others:
            fewest = min(fewest, counted.fewest(np.logical_and.reduce([cell, *others])))
    return fewest


def _above(
    term: frozenset[Factor], parts: _Parts, coded_against: list[dict[Factor, bool]], reference: Mapping[Factor, str]
) -> frozenset[tuple[str, str]]:
    """The references on which the coefficients of a term depend: its own, and those of the terms that hold it."""
    return frozenset(
        (str(factor), reference[factor])
        for other, against in zip(parts.terms, coded_against, strict=True)
        if term <= frozenset(other)
        for factor, is_against in against.items()
        if is_against and factor in reference
    )
