"""Queries: how far the answers to users' own questions, asked in SQL, differ between the two files."""

from collections.abc import Callable
from math import nan
from typing import Any

import pandas as pd

from sluice.ground.errors import DataError
from sluice.ground.sentence import END, Sentences, text_of
from sluice.ground.variables import NAMES, Kind
from sluice.ground.verdict import Finding
from sluice.utility.analyses.aggregate_query import AggregateQuery, read_aggregate_query
from sluice.utility.analyses.asked_analyses import QueryAnalysis
from sluice.utility.analyses.model_variables import ModelVariable, masked_variables, original_variables
from sluice.utility.analyses.query_comparison import ComparedQuery, QueryAnswer, compare_answers, compared_query
from sluice.utility.comparison import Comparison
from sluice.utility.measured import Measured, figure, written_percent

_SAYS = Sentences(
    "queries",
    not_compared="The query {name} cannot be compared: {why}",
    too_few="No figure of the query {name} has enough records behind it to be compared",
    differ="The answers to the query {name} differ by {share:percent} on average, over {groups:,} groups",
)

_NOT_ASKED = (Kind.TEXT, Kind.ITEMS)


Answer = Callable[[AggregateQuery, pd.DataFrame], QueryAnswer]


def judge_query(analysis: QueryAnalysis, files: Comparison, answer: Answer) -> tuple[Finding, ComparedQuery]:
    """A finding on the mean difference of the query's figures, and what is shown.

    answer : to a query, by some records
    """
    before, after = _tables(files)
    try:
        query = read_aggregate_query(analysis.sql)
        found = compare_answers(answer(query, before), answer(query, after), files.minimum_cell)
    except DataError as error:
        says = _SAYS.not_compared(name=analysis.name, why=str(error).rstrip("."))
        measured = Measured(nan, says, analysis.name, 1, 0, written_percent)
        return measured.finding("queries", analysis.difference), ComparedQuery(name=analysis.name, says=str(error))
    if not found.compared:
        says = _SAYS.too_few(name=analysis.name)
        measured = Measured(nan, says, analysis.name, 1, 0, written_percent)
        return measured.finding("queries", analysis.difference), ComparedQuery(
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
        return hidden.finding("queries", analysis.difference), shown
    return measured.finding("queries", analysis.difference), compared_query(analysis.name, found)


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
