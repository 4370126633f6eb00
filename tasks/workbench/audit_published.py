"""The audit of anybody's suppression pattern, of what is published alone: what can everybody compute?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sluice.ground.errors import DataError, MeasureChoiceError
from sluice.publication.pattern_file import Pattern, codes_of
from sluice.publication.published_table import in_decimals
from sluice.tabular.editions.figures_beside import Figures, FiguresBeside, Told
from sluice.tabular.model.cells import Booleans, Floats, Status, equations_of, refuse_hidden_ties
from sluice.tabular.model.feasibility_interval import TotalsDoNotAddError, feasibility_intervals
from sluice.tabular.model.known_sums import determined
from sluice.tabular.rules.intruders import sensitive_counts
from sluice.tabular.rules.sensitivity import SensitivityRule
from tasks.workbench.audited_table import AuditedTable
from tasks.workbench.known_bounds import known_bounds_of
from tasks.workbench.standalone_table import StandaloneTable
from tasks.workbench.tabulation import Records

_NEAR = 10.0  # percent: what figures beside the table tell as closely as that is a breach, unless another is asked
_EXACTLY = 0.5  # units; an interval narrower than this holds one whole number
_ROUNDING = 1e-6  # units
_FEW = 10
_ROUNDED = (
    "If each figure was rounded by itself, say to what: --rounded-to, or rounded_to in a notebook. A cell that is not "
    "in the file counts as empty: list a suppressed one without a value."
)


def audit_published(
    pattern: Pattern,
    table: StandaloneTable,
    *,
    known: Records | None = None,
    beside: Sequence[Figures] = (),
    within: float | None = None,
    nonnegative: bool = True,
    workers: int = 1,
) -> AuditedTable:
    """What anybody can compute of the suppressed cells from the published table and the hierarchies alone.

    Cells that are not in the table are taken as empty. Whether the intervals are wide enough only the rules and the
    records can tell; without them a breach is a cell called primary that is exactly known, or known to within `within`
    percent (any suppressed cell, where one word stands for all), or a suppressed cell whose value stands in the file.

    table  : its rules, of a table of counts, each of a contributor of its own, bound what a suppressed cell can be. A
             breach is then a cell that can be told to be sensitive, or, where the table tells that, one that is exactly
             known. Rules on a magnitude tell nothing without the records, and are not looked at
    known  : bounds that attackers know beforehand; see `known_bounds`
    beside : further published figures of the cells. What these narrow to within 10 percent, or `within`, is a breach
    raises : DataError, for published totals that do not add up, too
    """
    begun = perf_counter()
    dimensions = pattern.dimensions
    rules = table.sensitivity if table.rules and table.summed.value is None else ()
    refuse_hidden_ties(dimensions, table.linked)
    equations = equations_of(dimensions, pattern.codes, table.linked)
    equations = equations[np.flatnonzero(np.diff(equations.indptr) > 1)]  # a sum of no cell tells nothing
    value = np.where(pattern.has, pattern.value, np.nan).astype(np.float64)
    if nonnegative and (value[pattern.has] < 0).any():
        at = int(np.flatnonzero(pattern.has & (pattern.value < 0))[0])
        raise MeasureChoiceError(
            f"the value of {pattern.name(at)} is negative. If that is right, let values be so", "negative", "absolute"
        )
    pattern.refuse_other_sums(equations, "" if pattern.rounded else _ROUNDED)
    hidden = np.flatnonzero(~pattern.has)
    count = len(pattern)
    slack = pattern.rounded / 2
    least, most = np.full(count, 0.0 if nonnegative else -np.inf), np.full(count, np.inf)
    if known is not None:
        lower, upper = known_bounds_of(known, pattern)
        least, most = np.maximum(least, lower), np.minimum(most, upper)
    if slack:  # each published figure, too, may be anything that it was rounded from
        least = np.where(pattern.has, np.maximum(least, value - slack), least)
        most = np.where(pattern.has, np.minimum(most, value + slack), most)
        value = np.full(count, np.nan)
    smallest = _SmallCounts.of(pattern, rules) if rules else None
    if smallest is not None:
        least, most = np.maximum(least, smallest.lower), np.minimum(most, smallest.upper)
    figures = figures_told(pattern, equations, beside, nonnegative)
    whole = smallest is not None
    try:
        low, high = feasibility_intervals(equations, value, hidden, least, most, workers, whole)
        precision_alone = _precision(low, high)
        if figures.relations:
            least, most = np.maximum(least, figures.lower), np.minimum(most, figures.upper)
            low, high = feasibility_intervals(equations, value, hidden, least, most, workers, whole)
    except TotalsDoNotAddError as error:
        row = equations[[error.equation], :]
        total = pattern.name(int(row.indices[np.argmax(row.data)]))
        with_it = ", with what is known of them beforehand" if rules or known is not None else ""
        with_it += f", with {' and '.join(figures.relations)}" if figures.relations else ""
        with_it += f", each rounded to {pattern.rounded / 10**pattern.decimals:g}" if slack else ""
        if nonnegative and not rules and known is None and not figures.relations:
            raise MeasureChoiceError(
                f"totals that do not add: {total} cannot be the sum of its parts{with_it}. If values may be negative, "
                "let them be so",
                "negative",
                "absolute",
            ) from None
        raise DataError(f"totals that do not add: {total} cannot be the sum of its parts{with_it}.") from None
    precision = _precision(low, high)
    primary = pattern.status[hidden] == Status.PRIMARY
    exact = high - low < _EXACTLY
    undecided = np.zeros(count, dtype=bool)
    if slack:  # as near as the published figures themselves, or as their sums leave it
        near = _empty_but_for_rounding(pattern, equations) if nonnegative else np.zeros(count, dtype=bool)
        near[hidden[high - low <= pattern.rounded]] = True
        follows, undecided = determined(equations, ~pattern.has & ~near)
        exact |= (near | follows)[hidden]
    exactly = "but for the rounding" if slack else "exactly"
    breaches = [
        f"{pattern.name(int(cell))} is {pattern.word(int(cell))} and has a value"
        for cell in np.flatnonzero(pattern.has & (pattern.status != Status.PUBLISHED))
    ]
    if smallest is not None:
        small = high <= smallest.most
        if not pattern.tells_primary:
            told = hidden[small & ~exact]
            breaches += [f"anybody can tell that {pattern.name(int(cell))} is sensitive" for cell in told]
        primary &= small  # of what is no small count, the value is no secret
    limit = within if within is not None or not figures.relations else _NEAR
    by_others = precision < precision_alone
    found = [(exactly, primary & exact)]
    if limit is not None:
        near = primary & ~exact & (precision <= limit) & (by_others | (within is not None))
        found.append((f"to within {limit:g} %", near))
    for how, which in found:
        for at in np.flatnonzero(which).tolist():
            source = f", from {' and '.join(figures.relations)}" if by_others[at] else ""
            breaches.append(f"anybody can compute {pattern.name(int(hidden[at]))} {how}{source}")
    complete = not (figures.undecided or np.isnan(low).any() or np.isnan(high).any() or undecided.any())
    order = np.argsort(np.where(primary, precision, precision + 200), kind="stable")[:_FEW]  # primary cells first

    def interval(at: int) -> dict[str, Any]:
        cell = int(hidden[at])
        ends = [in_decimals(round(end), pattern.decimals) if np.isfinite(end) else None for end in (low[at], high[at])]
        status = pattern.word(cell)
        named = codes_of(dimensions, pattern.codes, cell)
        within = None if np.isnan(precision[at]) else round(float(precision[at]), 3)
        return {**named, "status": status, "low": ends[0], "high": ends[1], "within_percent": within}

    return AuditedTable(
        with_records=False,
        cells=count,
        suppressed=len(hidden),
        primary=int((pattern.status == Status.PRIMARY).sum()) if pattern.tells_primary else None,
        secondary=int((pattern.status == Status.SECONDARY).sum()) if pattern.tells_primary else None,
        safe=not breaches and complete,
        complete=complete,
        breaches=tuple(breaches),
        of_intervals=tuple(interval(at) for at in range(len(hidden))),
        of_narrowest=tuple(interval(int(at)) for at in order),
        exact=tuple(pattern.name(int(cell)) for cell in hidden[exact]),
        details={"with_rules": bool(rules)} | ({"told_by": list(figures.relations)} if beside else {}),
        seconds=perf_counter() - begun,
    )


def figures_told(pattern: Pattern, equations: csr_array, beside: Sequence[Figures], nonnegative: bool = True) -> Told:
    """What figures beside a table tell of its suppressed cells, in whole units; infinite bounds where nothing."""
    if not beside:
        return Told(np.full(len(pattern), -np.inf), np.full(len(pattern), np.inf))
    value = np.where(pattern.has & (pattern.status == Status.PUBLISHED), pattern.value, np.nan).astype(np.float64)
    found = FiguresBeside(
        pattern.dimensions, pattern.codes, equations, value, pattern.rounded, nonnegative, beside
    ).told()
    return replace(found, lower=np.ceil(found.lower - _ROUNDING), upper=np.floor(found.upper + _ROUNDING))


@dataclass(frozen=True, eq=False)
class _SmallCounts:
    """What rules on a table of counts tell: up to `most` a cell is sensitive, and what is suppressed is not empty."""

    most: float
    lower: Floats
    upper: Floats

    @classmethod
    def of(cls, pattern: Pattern, rules: Sequence[SensitivityRule]) -> "_SmallCounts":
        if pattern.decimals:
            raise DataError(
                f"without the records, rules are for tables of counts; these values have {pattern.decimals} decimals."
            )
        most, least_safe = sensitive_counts(rules)
        if not 0 < most < np.inf:
            raise DataError("without the records, a rule must say which counts are small, such as minimum_frequency=5.")
        lower, upper = np.full(len(pattern), -np.inf), np.full(len(pattern), np.inf)
        lower[~pattern.has] = 1
        if pattern.tells_primary:
            upper[~pattern.has & (pattern.status == Status.PRIMARY)] = most
            lower[~pattern.has & (pattern.status == Status.SECONDARY)] = least_safe
        return cls(most, lower, upper)


def _empty_but_for_rounding(pattern: Pattern, equations: csr_array) -> Booleans:
    """Shape (c,): cells without a value in a sum that leaves them nothing, or no more than its figures were rounded."""
    whole = equations.astype(np.int64)
    parts = -whole.minimum(0)
    hidden = (~pattern.has).astype(np.int64)
    left = (whole @ pattern.value) <= (abs(whole) @ (1 - hidden)) * pattern.rounded / 2
    shut = left & (parts @ hidden == abs(whole) @ hidden)  # the sum has a value, and so have parts but some
    found: Booleans = ~pattern.has & (parts.T @ shut.astype(np.int64) > 0)
    return found


def _precision(low: Floats, high: Floats) -> Floats:
    """To within what percent of its value a cell is known; NaN where an interval is not, 100 for no knowledge at all.

    Some estimate e is within p percent of every value of the interval as soon as high (1 - p) <= e <= low (1 + p); of
    values below 0 it is as near as of those above.
    """
    wide = np.isinf(high) | np.isinf(low) | (low <= 0) & (high >= 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.where(high - low < _EXACTLY, 0.0, 100 * (high - low) / np.abs(high + low))
    return np.where(wide & (high - low >= _EXACTLY), 100.0, precision)
