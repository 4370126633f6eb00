"""Recoding measures: what groups, suppression and removal cost against the unrecoded original.

Class losses: what a file lost by its records being alike in their quasi-identifiers.

Sources: Bayardo and Agrawal (2005), section 2.3 (discernibility); LeFevre, DeWitt and Ramakrishnan (2006) (average
class size, which they divide by k); Iyengar (2002), section 3 (classification metric).
"""

from collections.abc import Sequence
from functools import partial
from math import isnan, nan
from typing import NamedTuple

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from sluice.ground.arrays import BoolArray
from sluice.ground.errors import DataError
from sluice.ground.sentence import Sentences
from sluice.ground.variables import Role, with_role
from sluice.risk.classes.equivalence_classes import classes_of
from sluice.utility.cell_changes import coarse_share
from sluice.utility.comparison import Comparison
from sluice.utility.measured import Found, figure, written_percent
from sluice.utility.recoding.cell_losses import ReleasedGroups, cell_losses, mean_certainty_penalty, released_groups
from sluice.utility.recoding.count_queries import DIMENSIONS, QueryError, query_error
from sluice.utility.utility_measure import Family, Figure, Measure, Occasion, ShareMeasure


class ClassLosses(NamedTuple):
    """Of the classes of one file; higher is worse. NaN for a file without records.

    discernibility : pairs of records that are alike, each record with itself included; a suppressed record counts all n
    confusion      : the same by n^2, 0 to 1
    classes        : how many there are; the suppressed records are one
    average        : records over classes, 1 to n
    """

    discernibility: float
    confusion: float
    classes: int
    average: float


def class_losses(masked: pd.DataFrame, keys: list[str]) -> ClassLosses:
    """Discernibility and the average class size.

    masked : typed, n records. A missing value is a category, and a record without any key is suppressed
    keys   : the released quasi-identifiers, at least one
    raises : DataError without a key
    cost   : O(n) a key
    """
    _refuse_no_key(keys)
    n = len(masked)
    if not n:
        return ClassLosses(float("nan"), float("nan"), 0, float("nan"))
    classes = classes_of(masked, keys)
    sizes = classes.sizes.astype(np.float64)
    suppressed = int(_suppressed(masked, keys).sum())
    pairs = float((sizes**2).sum()) + suppressed * (n - suppressed)
    return ClassLosses(pairs, pairs / n**2, len(sizes), n / len(sizes))


def misclassified(masked: pd.DataFrame, keys: list[str], column: str) -> float:
    """The share of the records whose value is not the most frequent one of their class, 0 to 1; higher is worse.

    masked : typed, n records. A suppressed record is misclassified; a record without a value of `column` is left out.
             Where several values are equally frequent, one of them is the majority
    returns : NaN where no record has a value
    raises  : DataError without a key, or where the column is one
    cost    : a sort of the records
    """
    _refuse_no_key(keys)
    if column in keys:
        raise DataError(f"'{column}' is a quasi-identifier; records are classified by another variable.")
    known = masked[column].notna().to_numpy()
    file = masked[[*keys, column]] if known.all() else masked.loc[known, [*keys, column]]
    if not len(file):
        return float("nan")
    label = classes_of(file, keys).labels
    value = pd.factorize(file[column])[0]
    shown = ~_suppressed(file, keys)
    pairs, counts = np.unique(label[shown] * (int(value.max()) + 1) + value[shown], return_counts=True)
    majority = np.zeros(int(label.max()) + 1, dtype=np.int64)
    np.maximum.at(majority, pairs // (int(value.max()) + 1), counts)
    return float(1 - majority.sum() / len(file))


def _suppressed(masked: pd.DataFrame, keys: list[str]) -> BoolArray:
    return masked[keys].isna().all(axis=1).to_numpy(dtype=np.bool_)


def _refuse_no_key(keys: list[str]) -> None:
    if not keys:
        raise DataError("classes need at least one quasi-identifier; got none.")


class RecodedVariable(BaseModel):
    """Losses of one variable, 0 for none to 1 for all; higher is worse. None: it cannot be told."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    removed: bool
    certainty: float = Field(description="normalised certainty penalty (NCP, ILoss)")
    distortion: float = Field(description="share of the cells that are not the value itself (minimal distortion)")
    entropy: float = Field(description="share of the bits that groups leave open (non-uniform entropy)")
    precision: float | None = Field(default=None, description="level by the height of the hierarchy, if there is one")


class Misclassified(BaseModel):
    """Records whose value is not the most frequent one of their class, before and after masking."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    variable: str
    before: float | None
    after: float


class Queries(BaseModel):
    """Relative error of random range queries of counts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    asked: int
    dimensions: int
    median: float
    interval: tuple[float, float] = Field(description="95 %, for the median of all such queries")
    mean: float


class RecodingView(BaseModel):
    """Losses by recoding, suppression and removal against the unrecoded original."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    certainty: float = Field(description="mean NCP of all variables")
    variables: tuple[RecodedVariable, ...] = Field(description="what lost most first")
    keys: tuple[str, ...] = Field(default=(), description="released quasi-identifiers, by which records are alike")
    classes: int | None = None
    average_class: float | None = Field(default=None, description="records of a class on average")
    average_class_before: float | None = Field(default=None, description="the same of the original, by the same keys")
    discernibility: float | None = Field(default=None, description="share of all pairs of records that are alike")
    misclassified: tuple[Misclassified, ...] = ()
    queries: Queries | None = Field(default=None, description="over all variables; removed ones answer nothing")
    queries_released: Queries | None = Field(default=None, description="the same over released variables alone")


def recoded_variables(
    variables: Sequence[ReleasedGroups], records: int, minimum_cell: int
) -> tuple[RecodedVariable, ...]:
    """The losses of each variable, the largest certainty penalty first.

    records      : of the masked file
    minimum_cell : what would tell of the cells of fewer records is rounded to that many
    """
    found = []
    for each in variables:
        losses = cell_losses(each)
        if isnan(losses.certainty):
            continue
        certainty, distortion, entropy = (coarse_share(value, records, minimum_cell) for value in losses[:3])
        precision = None if isnan(losses.precision) else coarse_share(losses.precision, records, minimum_cell)
        found.append(
            RecodedVariable(
                name=each.name,
                removed=each.removed,
                certainty=certainty,
                distortion=distortion,
                entropy=entropy,
                precision=precision,
            )
        )
    return tuple(sorted(found, key=lambda variable: -variable.certainty))


_GENERALIZATION = Sentences(
    "generalization",
    not_measured="The cost of recoding is not measured: the original has no variable to compare",
    not_known="The cost of recoding is unknown: a file has no records",
    in_doubt="Groups, suppression and removal leave {share:percent} of the values in doubt (NCP, the mean of "
    "{variables:,} variables, {removed:,} of them removed)",
)
_QUERY_ERROR = Sentences(
    "query_error",
    not_asked="Count queries are not asked: the original has no variable with values",
    not_known="The error of count queries is not known: a file has no records, or none with a weight",
    off="Counts over a random range of {dimensions} variables are off by {median:percent} in the middle case of "
    "{queries:,} queries (95 % interval {low:percent} to {high:percent})",
    released=", by {median:percent} in the same number over released variables alone",
)


GENERALIZATION = ShareMeasure(
    "generalization",
    "values that groups, suppression and removal leave in doubt (NCP), mean of variables",
    "What groups and suppression leave in doubt",
    "Wide groups, suppression and removal leave too much in doubt: release more variables, use hierarchies with "
    "more levels, or methods that keep single values, such as swapping or noise.",
)
QUERY_ERROR = Measure(
    "query_error",
    "median relative error of counts over random ranges of three variables",
    "The error of counts",
    "Counts by several variables are answered wrongly: recode more finely where values are not spread evenly over "
    "a group, and mask variables that go together in one step.",
    written=written_percent,
)


def recoding(files: Comparison) -> Found:
    """The mean normalised certainty penalty of all variables, and the error of random count queries."""
    described = {name: each for name, each in files.variables.items() if each.role is not Role.WEIGHT}
    variables = released_groups(files.original, files.recoded, files.masked, described, files.released, files.paired)
    before, after = files.weights
    ask = partial(query_error, rng=files.rng, original_weight=before, masked_weight=after)
    queries = ask(files.common_bins)
    kept = [each for each in files.common_bins if each.name in files.kept]
    of_kept = queries if len(kept) == len(files.common_bins) else ask(kept)
    value = mean_certainty_penalty(variables)
    few = files.of_few if files.only_of_few else ()
    in_doubt = Occasion(len(variables), _GENERALIZATION.not_measured(), _GENERALIZATION.not_known(), few=few)
    asked = any(each.bins > 1 for each in files.common_bins)
    of_queries = Occasion(
        (queries.queries or 1) if asked else 0, _QUERY_ERROR.not_asked(), _QUERY_ERROR.not_known(), few=few
    )
    measured = {
        "generalization": GENERALIZATION.judge(files, in_doubt, lambda: _in_doubt(value, variables)),
        "query_error": QUERY_ERROR.judge(files, of_queries, lambda: _query_error(queries, of_kept)),
    }
    if isnan(value) or few:
        return Found(measured)
    return Found(measured, {"recoding": _view(files, value, variables, queries, of_kept)})


def _in_doubt(value: float, variables: tuple[ReleasedGroups, ...]) -> Figure:
    if isnan(value):
        return Figure(nan, _GENERALIZATION.not_known())
    worst = max(variables, key=lambda each: cell_losses(each).certainty)
    removed = sum(each.removed for each in variables)
    says = _GENERALIZATION.in_doubt(share=figure(value), variables=len(variables), removed=removed)
    return Figure(value, says, len(variables), worst.name if value else "")


def _query_error(found: QueryError, of_kept: QueryError) -> Figure:
    if isnan(found.median):
        return Figure(nan, _QUERY_ERROR.not_known())
    says = _QUERY_ERROR.off(
        dimensions=DIMENSIONS,
        median=figure(found.median),
        queries=found.queries,
        low=figure(found.interval[0]),
        high=figure(found.interval[1]),
    )
    if of_kept is not found and not isnan(of_kept.median):
        says += _QUERY_ERROR.released(median=figure(of_kept.median))
    return Figure(found.median, says, found.queries)


def _view(
    files: Comparison,
    certainty: float,
    variables: tuple[ReleasedGroups, ...],
    queries: QueryError,
    of_kept: QueryError,
) -> RecodingView:
    keys = with_role(files.released, Role.QUASI_IDENTIFIER)
    n = len(files.masked)
    view = RecodingView(
        certainty=certainty,
        variables=recoded_variables(variables, n, files.minimum_cell),
        queries=_queries(queries),
        queries_released=_queries(of_kept),
    )
    if not keys:
        return view
    after = class_losses(files.masked, keys)
    known = [name for name in keys if name in files.original]
    before = class_losses(files.original, known) if known == keys else None
    return view.model_copy(
        update={
            "keys": tuple(keys),
            "classes": after.classes,
            "average_class": after.average,
            "average_class_before": None if before is None else before.average,
            "discernibility": after.confusion,
            "misclassified": tuple(_misclassified(files, keys, known == keys)),
        }
    )


def _queries(found: QueryError) -> Queries | None:
    if isnan(found.median):
        return None
    return Queries(
        asked=found.queries, dimensions=DIMENSIONS, median=found.median, interval=found.interval, mean=found.mean
    )


def _misclassified(files: Comparison, keys: list[str], comparable: bool) -> list[Misclassified]:
    """Of each released sensitive variable with categories."""
    found = []
    for name in with_role(files.released, Role.SENSITIVE):
        if not files.released[name].kind.is_categorical:
            continue
        after = misclassified(files.masked, keys, name)
        if isnan(after):
            continue
        before = misclassified(files.original, keys, name) if comparable and name in files.original else float("nan")
        shares = [coarse_share(each, len(files.masked), files.minimum_cell) for each in (before, after) if each == each]
        found.append(Misclassified(variable=name, before=shares[0] if len(shares) > 1 else None, after=shares[-1]))
    return found


RECODING = Family(recoding, (GENERALIZATION, QUERY_ERROR))
