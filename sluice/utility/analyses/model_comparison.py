"""Model comparison: what a model says of the original and of the masked file, coefficient by coefficient.

Source: Karr, Kohnen, Oganian, Reiter and Sanil (2006), section 3.2: the overlap of confidence intervals, averaged over
the two; 1 where they are equal. Differs from it: 0 where they do not touch, instead of below. The standardised
difference is that of Nowok, Raab and Dibben (2016), section 4: in standard errors of the original's coefficient.

A coefficient that the masked file cannot give, for a variable was removed, a category merged with others or the model
does not converge, is lost: its overlap is 0, and its difference that to 0, which is what its reader is left with.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf, nan

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.utility.analyses.cox_regression import fit_cox
from sluice.utility.analyses.design_matrix import Coefficient, Columns, Design, designs
from sluice.utility.analyses.formula import Formula, ModelKind
from sluice.utility.analyses.regression import Estimates, fit_regression
from sluice.utility.record_weights import effective_records

_OF_NORMAL = 1.959963984540054  # half a 95 % interval, in standard errors
_RECORDS_A_COEFFICIENT = 10  # of a subgroup that is fitted by itself
_EXACT = 0.05  # of the error by records: by people it is smaller where a balanced panel has what never changes
_MOST_SUBGROUPS = 50


@dataclass(frozen=True)
class CoefficientChange:
    """A coefficient of the original, and of the masked file (NaN: lost).

    overlap    : of the 95 % confidence intervals, 0 to 1; less is worse
    difference : in standard errors of the original's; more is worse
    behind     : the fewest records that stand behind the original's
    recoded    : lost, though the masked file has one of the same name: it stands against other reference categories
    """

    term: str
    before: float
    before_error: float
    after: float
    after_error: float
    overlap: float
    difference: float
    behind: int
    recoded: bool = False

    @property
    def is_lost(self) -> bool:
        """Whether the masked file cannot give it."""
        return bool(np.isnan(self.after))


@dataclass(frozen=True)
class ModelComparison:
    """One model on two files.

    changes        : of the coefficients that the original determines; none where the model cannot be fitted to it
    records, used  : of the original, and of those the ones without a missing value among the variables
    used_masked    : the same of the masked file
    effective      : records of equal weight that would tell as much as those used of the original (Kish 1965)
    """

    changes: tuple[CoefficientChange, ...]
    records: int
    used: int
    used_masked: int
    effective: float

    @property
    def overlap(self) -> float:
        """Mean over the coefficients, lost ones as 0; NaN where the model cannot be fitted to the original."""
        return float(np.mean([change.overlap for change in self.changes])) if self.changes else nan

    @property
    def difference(self) -> float:
        """Mean over the coefficients, lost ones as 0 coefficients; NaN where there is none."""
        return float(np.mean([change.difference for change in self.changes])) if self.changes else nan

    @property
    def lost(self) -> int:
        """Coefficients that the masked file cannot give."""
        return sum(change.is_lost for change in self.changes)

    def may_be_shown(self, change: CoefficientChange, minimum_cell: int) -> bool:
        """Whether enough records stand behind the original's coefficient, and are left when the model is fitted."""
        return change.behind >= minimum_cell and self.used - len(self.changes) >= minimum_cell


def compare_models(
    formula: Formula, kind: ModelKind, before: Columns, after: Columns, weight: str | None = None,
    people: IntArray | None = None,
) -> ModelComparison:  # fmt: skip
    """The model on both files, each fitted to its own records, in any order.

    before, after : variables of the original, the response among them, and those that the masked file has
    weight        : the variable that weighs the records; a masked file that lacks it is not weighted
    people        : whose each record of the original is, where somebody has several: standard errors are of people,
                    and those of the masked file, which does not name them, larger by as much. Not of kind cox. Of
                    what is the same in all records of each, people leave no error in an effect that each of them has
                    once: there records count
    raises        : DataError for a response that the model has not, weights below 0 and too many columns
    cost          : that of two fits; of three where people are known
    """
    first, second = designs(formula, before, after, weight)
    fitted, larger = _fitted(first, kind), np.ones(first.matrix.shape[1])
    if people is not None and kind != "cox" and len(first.response):
        of_people = fit_regression(first.matrix, first.response, kind, first.weights, people[first.rows])
        with np.errstate(divide="ignore", invalid="ignore"):
            larger = np.where(fitted.errors > 0, of_people.errors / fitted.errors, 1.0)
        larger = np.where(larger < _EXACT, 1.0, larger)
        fitted = replace(of_people, errors=np.where(fitted.errors > 0, fitted.errors * larger, of_people.errors))
    masked = {} if second is None else _by_coefficient(second, _fitted(second, kind))
    named = {coefficient.parts for coefficient in masked}
    changes = []
    for place, coefficient in enumerate(first.coefficients):
        if not fitted.estimated[place]:
            continue
        there, there_error = masked.get(coefficient, (nan, nan))
        there_error *= float(larger[place])
        here, error = float(fitted.coefficients[place]), float(fitted.errors[place])
        changes.append(
            CoefficientChange(
                term=str(coefficient),
                before=here,
                before_error=error,
                after=there,
                after_error=there_error,
                overlap=interval_overlap(here, error, there, there_error),
                difference=_standardised(here, error, 0.0 if np.isnan(there) else there),
                behind=int(first.behind[place]),
                recoded=coefficient not in masked and coefficient.parts in named,
            )
        )
    used_masked = 0 if second is None else len(second.response)
    effective = effective_records(first.weights, len(first.response))
    return ModelComparison(tuple(changes), len(first.rows), len(first.response), used_masked, effective)


def compare_subgroups(
    formula: Formula,
    kind: ModelKind,
    before: Columns,
    after: Columns,
    groups_before: Mapping[str, BoolArray],
    groups_after: Mapping[str, BoolArray],
    weight: str | None = None,
    people: IntArray | None = None,
) -> dict[str, ModelComparison]:
    """The model in each subgroup by itself, the largest 50 of those with 10 records and more for each coefficient, by
    their effective number where they have weights.

    groups_before, groups_after : which records of each file belong to a subgroup; one that the masked file has not at
                                  all has lost every coefficient
    returns : by subgroup, those to which the model can be fitted in the original
    cost    : that of two fits a subgroup
    """
    large = sorted(groups_before, key=lambda name: (-int(groups_before[name].sum()), name))[:_MOST_SUBGROUPS]
    found = {}
    for name in large:
        here = {each: variable.take(groups_before[name]) for each, variable in before.items()}
        there = (
            {each: variable.take(groups_after[name]) for each, variable in after.items()}
            if name in groups_after
            else {}
        )
        whose = None if people is None else people[groups_before[name]]
        compared = compare_models(formula, kind, here, there, weight, whose)
        if compared.changes and compared.effective >= _RECORDS_A_COEFFICIENT * len(compared.changes):
            found[name] = compared
    return found


def interval_overlap(before: float, before_error: float, after: float, after_error: float) -> float:
    """Mean share of the two 95 % confidence intervals that is common to both, 0 to 1; 0 where one is not known.

    Two exact coefficients, whose intervals are points, overlap wholly or not at all; a point within an interval is
    wholly in it, and that interval not at all in the point.
    """
    if np.isnan(after) or np.isnan(after_error):
        return 0.0
    low = max(before - _OF_NORMAL * before_error, after - _OF_NORMAL * after_error)
    high = min(before + _OF_NORMAL * before_error, after + _OF_NORMAL * after_error)
    if high < low:
        return 0.0
    lengths = (2 * _OF_NORMAL * before_error, 2 * _OF_NORMAL * after_error)
    return float(np.mean([min(1.0, (high - low) / length) if length > 0 else 1.0 for length in lengths]))


def _standardised(before: float, error: float, after: float) -> float:
    if error > 0:
        return abs(after - before) / error
    return 0.0 if after == before else inf


def _fitted(design: Design, kind: ModelKind) -> Estimates:
    matrix: FloatArray = design.matrix
    if not len(design.response):
        return Estimates.none(matrix.shape[1])
    if kind == "cox":
        assert design.event is not None, "a model of kind cox has an event"
        return fit_cox(matrix, design.response, design.event)
    return fit_regression(matrix, design.response, kind, design.weights)


def _by_coefficient(design: Design, estimates: Estimates) -> "dict[Coefficient, tuple[float, float]]":
    return {
        coefficient: (float(estimates.coefficients[place]), float(estimates.errors[place]))
        for place, coefficient in enumerate(design.coefficients)
        if estimates.estimated[place]
    }
