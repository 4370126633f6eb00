"""Query comparison: how far the answers to users' own questions, asked in SQL, differ between the two files.

Rows of the two belong together by their groups. The difference of two figures is a share of the larger of the two, by
absolute value: 0 where they are equal, also where both are 0 or missing, and 1 at most, which it is where one of them
is 0 or missing, where they have different signs, and where the row is absent.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from math import ceil, nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pydantic import Field

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.document_parts import FrozenModel
from sluice.ground.errors import DataError
from sluice.ground.sentence import END, Sentences, text_of
from sluice.ground.variables import NAMES, Kind
from sluice.ground.verdict import Finding
from sluice.utility.analyses.asked_analyses import QueryAnalysis
from sluice.utility.analyses.model_variables import ModelVariable, masked_variables, original_variables
from sluice.utility.comparison import Comparison
from sluice.utility.measured import Measured, figure, written_percent
from sluice.utility.utility_measure import AnalysisKind

if TYPE_CHECKING:
    from sluice.utility.analyses.aggregate_query import AggregateQuery

_MOST_SHOWN = 20
_FINEST = 0.01

Group = tuple[Hashable, ...]


@dataclass(frozen=True)
class QueryAnswer:
    """What a query found in one file.

    groups  : names of the columns that tell the rows apart
    figures : names of the columns with aggregates
    values  : of each row, shape (figures,), NaN where there is none
    behind  : of each row, shape (figures,), the fewest records that stand behind a figure
    """

    groups: tuple[str, ...]
    figures: tuple[str, ...]
    values: Mapping[Group, FloatArray]
    behind: Mapping[Group, IntArray]


@dataclass(frozen=True)
class QueryComparison:
    """Two answers.

    rows        : groups of either file that have a figure to compare
    differences : (rows, figures), 0 to 1, more is worse; NaN where too few records stand behind a figure
    behind      : (rows, figures), how many records stand behind a figure, at least 1
    """

    figures: tuple[str, ...]
    rows: tuple[Group, ...]
    differences: FloatArray
    behind: FloatArray

    @property
    def difference(self) -> float:
        """Mean over all figures that are compared, as it may be told; NaN where there is none.

        One record changes the figures of its group alone. Never less than it is: a limit is not met by rounding.
        """
        if not self.compared:
            return nan
        return _told(
            float(np.nanmean(self.differences)),
            self._one(self.behind[np.isfinite(self.differences)]) / len(self.rows),
            up=True,
        )

    def of_figure(self, place: int) -> float | None:
        """Mean of one column over the groups, as it may be told; None where none is compared."""
        column = self.differences[:, place]
        if not np.isfinite(column).any():
            return None
        known = np.isfinite(column)
        return _told(float(column[known].mean()), self._one(self.behind[known, place]) / int(known.sum()))

    def of_group(self, place: int) -> float:
        """Mean of one row, as it may be told: one record may change all figures of its group."""
        known = np.isfinite(self.differences[place])
        return _told(float(self.differences[place][known].mean()), self._one(self.behind[place][known]))

    @staticmethod
    def _one(behind: FloatArray) -> float:
        """The largest share of a figure that is one record's."""
        return float(1 / behind.min())

    @property
    def compared(self) -> int:
        """Figures that are compared."""
        return int(np.isfinite(self.differences).sum())


class ComparedFigure(FrozenModel):
    """One column of a query's table: mean difference over the groups."""

    figure: str
    difference: float | None


class ComparedGroup(FrozenModel):
    """One row: mean difference over its figures."""

    group: tuple[str, ...]
    difference: float


class ComparedQuery(FrozenModel):
    """One query, its figures, and the 20 groups that differ most. No figure of the original is shown."""

    name: str
    says: str = Field(default="", description="why there are no figures; empty: there are")
    difference: float | None = None
    figures: tuple[ComparedFigure, ...] = ()
    groups: tuple[ComparedGroup, ...] = ()


def compare_answers(original: QueryAnswer, masked: QueryAnswer, minimum_cell: int) -> QueryComparison:
    """The differences of all figures behind which at least `minimum_cell` records of the original stand.

    Of a group that the original lacks, those behind which as many records of the masked file stand.

    raises : DataError where the two have other columns
    """
    if (original.groups, original.figures) != (masked.groups, masked.figures):
        raise DataError("the query must make the same columns of both files.")
    rows = [*original.values, *(group for group in masked.values if group not in original.values)]
    differences = np.full((len(rows), len(original.figures)), nan)
    records = np.ones_like(differences)
    for place, group in enumerate(rows):
        behind = (original if group in original.values else masked).behind[group]
        records[place], enough = np.maximum(behind, 1), behind >= minimum_cell
        if group in original.values and group in masked.values:
            differences[place, enough] = _differences(original.values[group], masked.values[group])[enough]
        else:
            differences[place, enough] = 1.0
    kept = np.isfinite(differences).any(axis=1)
    return QueryComparison(
        original.figures,
        tuple(group for group, keep in zip(rows, kept, strict=True) if keep),
        differences[kept],
        records[kept],
    )


def compared_query(name: str, found: QueryComparison) -> ComparedQuery:
    """What may be shown: differences as coarse as what one record may make of them, and to two digits at most, of
    groups behind which enough records stand."""
    told = [found.of_group(place) for place in range(len(found.rows))]
    worst = sorted(range(len(told)), key=lambda place: -told[place])[:_MOST_SHOWN]
    return ComparedQuery(
        name=name,
        difference=found.difference if found.compared else None,
        figures=tuple(
            ComparedFigure(figure=figure, difference=found.of_figure(place))
            for place, figure in enumerate(found.figures)
        ),
        groups=tuple(
            ComparedGroup(group=tuple(map(_written, found.rows[place])), difference=told[place]) for place in worst
        ),
    )


def _told(difference: float, step: float, up: bool = False) -> float:
    """The difference in steps of what one record may make of it, of 0.01 at least; 1 at most."""
    step = max(step, _FINEST)
    steps = ceil(round(difference / step, 6)) if up else round(difference / step)
    return round(min(1.0, steps * step), 4)


def _written(value: Hashable) -> str:
    return "missing" if value is None else str(value)


def _differences(before: FloatArray, after: FloatArray) -> FloatArray:
    larger = np.maximum(np.abs(before), np.abs(after))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.minimum(1.0, np.abs(after - before) / larger)
    found = np.where(larger == 0, 0.0, found)
    found = np.where(np.isnan(before) | np.isnan(after), 1.0, found)
    return np.asarray(np.where(np.isnan(before) & np.isnan(after), 0.0, found))


_SAYS = Sentences(
    "queries",
    not_compared="The query {name} cannot be compared: {why}",
    too_few="No figure of the query {name} has enough records behind it to be compared",
    differ="The answers to the query {name} differ by {share:percent} on average, over {groups:,} groups",
)

_NOT_ASKED = (Kind.TEXT, Kind.ITEMS)


Answer = Callable[["AggregateQuery", pd.DataFrame], QueryAnswer]


def judge_query(analysis: QueryAnalysis, files: Comparison, answer: Answer) -> tuple[list[Finding], ComparedQuery]:
    """A finding on the mean difference of the query's figures, and what is shown.

    answer : to a query, by some records
    """
    from sluice.utility.analyses.aggregate_query import read_aggregate_query  # it loads a parser of SQL

    before, after = _tables(files)
    try:
        query = read_aggregate_query(analysis.sql)
        found = compare_answers(answer(query, before), answer(query, after), files.minimum_cell)
    except DataError as error:
        says = _SAYS.not_compared(name=analysis.name, why=str(error).rstrip("."))
        measured = Measured(nan, says, analysis.name, 1, 0, written_percent)
        return [measured.finding("queries", analysis.difference)], ComparedQuery(name=analysis.name, says=str(error))
    if not found.compared:
        says = _SAYS.too_few(name=analysis.name)
        measured = Measured(nan, says, analysis.name, 1, 0, written_percent)
        return [measured.finding("queries", analysis.difference)], ComparedQuery(
            name=analysis.name, says=text_of(says + END())
        )
    # As it is told: what is known of a figure more exactly than one record may change it would tell of that record.
    value = found.difference
    says = _SAYS.differ(name=analysis.name, share=figure(value), groups=len(found.rows))
    measured = Measured(value, says, analysis.name, found.compared, found.compared, written_percent)
    few = {name for name in files.of_few if name.lower() in analysis.sql.lower()}
    if few:
        hidden = measured.told(f"How far the answers to the query {analysis.name} differ", few)
        shown = ComparedQuery(name=analysis.name, says=text_of(hidden.says + END()))
        return [hidden.finding("queries", analysis.difference)], shown
    return [measured.finding("queries", analysis.difference)], compared_query(analysis.name, found)


def _tables(files: Comparison) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both files under the original's names, as a query reads them: numbers, dates and texts.

    A number that was recoded into groups is the mean of the original values that its group may stand for; a category
    is the group's name; and a variable that was removed has no value.
    """
    names = [
        name
        for name, variable in files.variables.items()
        if variable.role not in NAMES and variable.kind not in _NOT_ASKED
    ]
    before = original_variables(names, files.original, files.variables)
    after = masked_variables(names, files.original, files.recoded, files.masked, files.variables, files.released)
    kinds = {name: files.variables[name].kind for name in names}
    first = {name: _column(before[name], kinds[name]) for name in names}
    second = {
        name: _column(after[name], kinds[name]) if name in after else _nothing(kinds[name], len(files.masked))
        for name in names
    }
    return pd.DataFrame(first), pd.DataFrame(second)


def _column(variable: ModelVariable, kind: Kind) -> "pd.Series[Any]":
    if kind.is_categorical:
        levels = variable.levels()
        return pd.Series(pd.array([*levels.names, None], dtype="string")[levels.codes])
    numbers = pd.Series(variable.numbers())
    return pd.to_datetime(numbers, unit="D") if kind is Kind.DATE else numbers


def _nothing(kind: Kind, n: int) -> "pd.Series[Any]":
    if kind.is_categorical:
        return pd.Series(pd.array([None] * n, dtype="string"))
    return pd.Series([None] * n, dtype="datetime64[us]" if kind is Kind.DATE else "float64")


QUERIES = AnalysisKind(
    "queries",
    advice=(
        "Users would get other answers: keep the variables that the query groups by and adds up, recode them less, or "
        "mask them within the query's groups (strata); the report names the groups that differ most."
    ),
    judge=lambda analysis, files, draws, answer: judge_query(analysis, files, answer),
)
