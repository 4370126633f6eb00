"""Aggregate query: a user's own analysis as SQL, run on the records of one file in memory and on nothing else.

One SELECT over the table `records`: groups, and aggregates with a name (count, sum, avg, median, standard deviation,
variance). Whoever submits a release writes it and it runs beside the confidential data, so it goes through the guard of
definitions' queries first, and must then be of this form, with no table within a table and no extreme value.

What the database is asked for beside the figures, unknown to its author, is how many records stand behind each.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from sluice.ground.errors import DataError
from sluice.ground.select_guard import guarded_query, tables_of

TABLE = "records"
_AGGREGATES = (
    exp.Count, exp.CountIf, exp.Sum, exp.Avg, exp.Median, exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance,
    exp.VariancePop,
)  # fmt: skip
_NOT_IN = (
    exp.Subquery, exp.With, exp.CTE, exp.Join, exp.Window, exp.Limit, exp.Offset, exp.Qualify, exp.Having, exp.Distinct,
    exp.Filter, exp.WithinGroup, exp.Values, exp.Exists, exp.SetOperation,
)  # fmt: skip
_TWO = exp.Literal.number(2)
_MANY_VALUES = 20  # different ones: of fewer a figure is nearly a count
_FARTHEST = "greatest(max(x) - avg(x), avg(x) - min(x))"
_RATIO = f"count(x) * var_pop(x) / ({_FARTHEST} * {_FARTHEST})"
_VARYING = sqlglot.parse_one(
    f"CASE WHEN max(x) = min(x) THEN count(x) WHEN NOT isfinite({_RATIO}) THEN 0 "
    f"WHEN {_RATIO} < 2 OR count(DISTINCT x) <= {_MANY_VALUES} THEN floor({_RATIO} + 1e-9) ELSE count(x) END",
    dialect="duckdb",
)


@dataclass(frozen=True)
class AggregateQuery:
    """A query that was read: its columns, and the text that the database gets."""

    groups: tuple[str, ...]
    figures: tuple[str, ...]
    counts: tuple[int, ...]  # columns of counts that follow, for each figure
    text: str


def read_aggregate_query(query: str) -> AggregateQuery:
    """The query, if it is of the form above. Raises DataError, which says what is allowed and repeats no text of it."""
    if tables_of(query, "duckdb") != [("", TABLE)]:
        raise _refused(f"must read the table {TABLE}, once, and no other")
    select = sqlglot.parse_one(guarded_query(query, "duckdb"), dialect="duckdb")
    if not isinstance(select, exp.Select) or select.args.get("distinct"):
        raise _refused("must be one SELECT without DISTINCT")
    for part in select.walk():
        if isinstance(part, _NOT_IN) or (part is not select and isinstance(part, exp.Select)):
            raise _refused(f"holds what is not let through: {type(part).__name__.upper()}")
        if isinstance(part, exp.AggFunc) and not isinstance(part, _AGGREGATES):
            raise _refused(f"holds an aggregate that is not let through: {part.sql_name()}")
        if isinstance(part, exp.Star) and not isinstance(part.parent, exp.Count):
            raise _refused("holds * outside of count(*)")
    groups = [each for each in select.expressions if each.find(exp.AggFunc) is None]
    figures = [each for each in select.expressions if each.find(exp.AggFunc) is not None]
    if not figures:
        raise _refused("must have an aggregate, such as avg(age) AS age")
    names = [each.alias_or_name for each in (*groups, *figures)]
    if not all(names) or len(set(names)) != len(names):
        raise _refused("must give each column a name of its own: avg(age) AS mean_age")
    _refuse_other_groups(select, groups)
    counted = [list(_counts(figure)) for figure in figures]
    columns = [*map(_bare, groups), *map(_bare, figures), *(count for each in counted for count in each)]
    rebuilt = exp.select(*(exp.alias_(each.copy(), f"c{place}") for place, each in enumerate(columns)))
    rebuilt = rebuilt.from_(exp.to_table(TABLE))
    if (where := select.args.get("where")) is not None:
        rebuilt = rebuilt.where(where.this.copy())
    if groups:
        rebuilt = rebuilt.group_by(*(_bare(each).copy() for each in groups))
    return AggregateQuery(
        tuple(names[: len(groups)]),
        tuple(names[len(groups) :]),
        tuple(map(len, counted)),
        rebuilt.sql(dialect="duckdb"),
    )


def _counts(figure: exp.Expr) -> Iterator[exp.Expr]:
    """For each aggregate of a figure three numbers: of the records that count in it, of the others, and whether these
    matter. Of a number they do not, unless it has two values at most: then it is a share, and tells of both. A sum that
    is one record's by more than half has one record behind it."""
    for aggregate in figure.find_all(exp.AggFunc):
        of = aggregate.this
        if of is None or isinstance(of, exp.Star):
            yield from (exp.Count(this=exp.Star()), exp.Literal.number(0), exp.false())
        elif isinstance(aggregate, exp.Count):
            yield exp.Count(this=of.copy())
            yield exp.CountIf(this=exp.Is(this=exp.paren(of.copy()), expression=exp.Null()))
            yield exp.true()
        else:
            number = exp.cast(exp.paren(of.copy()), "double")
            size = exp.Abs(this=number)
            most = exp.GT(
                this=exp.Max(this=size), expression=exp.Div(this=exp.Sum(this=size.copy()), expression=_TWO.copy())
            )
            some = exp.CountIf(this=exp.NEQ(this=number.copy(), expression=exp.Literal.number(0)))
            behind = exp.Least(this=some, expressions=[_varying(number)])
            yield exp.Case(ifs=[exp.If(this=most, true=exp.Literal.number(1))], default=behind)
            yield exp.CountIf(this=exp.EQ(this=number.copy(), expression=exp.Literal.number(0)))
            values = exp.Count(this=exp.Distinct(expressions=[of.copy()]))
            yield exp.LTE(this=values, expression=_TWO.copy())


def _varying(number: exp.Expr) -> exp.Expr:
    """How many records make a number vary: the sum of the squared distances from the mean by the largest of them.

    Of two values it is about how many records have the rarer one, whatever the values are, and one record that a
    condition gives a weight of its own counts as one. All records, of a constant, and of many values if they are not
    mostly one's."""
    varying = _VARYING.copy()
    return varying.transform(lambda each: number.copy() if isinstance(each, exp.Column) else each)


def _bare(column: exp.Expr) -> exp.Expr:
    """A column without its name."""
    return column.this if isinstance(column, exp.Alias) else column


def _refuse_other_groups(select: exp.Select, groups: list[exp.Expr]) -> None:
    """Raise DataError unless the query groups by the columns that it shows, each as it is shown or by its name."""
    group = select.args.get("group")
    if group is not None and any(value for name, value in group.args.items() if name != "expressions"):
        raise _refused("groups by more than columns")
    by = [] if group is None else [each.sql() for each in group.expressions]
    shown = [{_bare(each).sql(), exp.column(each.alias_or_name, quoted=True).sql()} for each in groups]
    if len(by) != len(shown) or any(not names & set(by) for names in shown):
        raise _refused("must show each column that it groups by, and group by each that it shows")


def _refused(why: str) -> DataError:
    return DataError(
        f"the query {why}. It is one SELECT over {TABLE} with groups and named aggregates: count, sum, avg, median, "
        "stddev, variance."
    )
