"""The profile of a data set, and how far a later batch has drifted from it, as findings.

A profile keeps, for each variable, how many records fall into each of a few cells: its categories, or bins between
rounded deciles and around each number that many records have, and one cell for missing. The profile of one release is
the measure of the next: the new batch is counted into the *old* cells, and the drift is the total variation distance
between the two shares, 0 (the same) to 1 (nothing in common): half the sum of |p - q| over the cells.

A profile of confidential data is itself confidential (a rare category is a person): keep it with the data, never in
a public part or a report.
"""

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, model_validator

from schemas.contract import Contract
from sluice.ground.declaration import Declaration
from sluice.ground.sentence import Saying, Sentences, as_fields
from sluice.ground.variables import Kind, Variable, Variables
from sluice.ground.verdict import Finding, Verdict

MOST_LABELS = 100
"""Labels kept apart for one variable; the rarer ones share the cell 'any other'."""

_DECILES = np.linspace(0.1, 0.9, 9)
_HEAVY, _FEW = 0.05, 10  # share, and number, of the records from which a number has a cell of its own


DRIFT = (
    Declaration(
        "drift",
        helps="A distribution moved since the last release: find out whether the population changed or the collection "
        "did; if it is real, raise max_distance for this edition.",
    ),
)


class Distribution(BaseModel):
    """Counts of records by cell.

    With labels the cells are: each label, any other, missing. With edges e1 < ... < ek they are: up to and with e1,
    above e1 up to and with e2, ..., above ek, missing. Edges of dates are days since 1970-01-01.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    labels: tuple[str, ...] | None = None
    edges: tuple[float, ...] | None = None
    counts: tuple[int, ...]

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if (self.labels is None) == (self.edges is None):
            raise ValueError("give either 'labels' or 'edges'")
        cells = len(self.labels) + 2 if self.labels is not None else len(self.edges or ()) + 2
        if len(self.counts) != cells:
            raise ValueError(f"counts must have one number for each of {cells} cells; got {len(self.counts)}")
        return self

    @property
    def missing_share(self) -> float:
        """Share of the records without a value; nan when there are no records."""
        return self.counts[-1] / sum(self.counts) if sum(self.counts) else float("nan")

    def fits(self, variable: Variable) -> bool:
        """Whether a variable can be counted into these cells: categories into labels, numbers and dates into bins."""
        return variable.kind is not Kind.TEXT and variable.kind.is_categorical == (self.labels is not None)


class Profile(BaseModel):
    """The distribution of each variable in one release. Plain JSON: `model_dump_json`, `model_validate_json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    records: int
    distributions: dict[str, Distribution]


def compared(contract: Contract) -> Variables:
    """The variables whose distributions are profiled and compared: `drift.columns`, else all that are not keys.

    Keys are the record key and what is hashed; free text has no distribution.
    """
    distributed = {name: variable for name, variable in contract.staged.items() if variable.kind is not Kind.TEXT}
    if contract.drift is None or contract.drift.columns is None:
        return {name: variable for name, variable in distributed.items() if name not in contract.record_key}
    return {name: distributed[name] for name in contract.drift.columns}


def profile(frame: pd.DataFrame, variables: Variables) -> Profile:
    """The profile of a typed frame over these variables (numbers, dates, categories). O(n log n) a column."""
    distributions = {}
    for name, variable in variables.items():
        column = frame[name]
        cells = (
            {"labels": _labels(column, variable)}
            if variable.kind.is_categorical
            else {"edges": _edges(column, variable)}
        )
        empty = Distribution.model_validate({**cells, "counts": (0,) * (len(next(iter(cells.values()))) + 2)})
        distributions[name] = empty.model_copy(update={"counts": count(column, empty)})
    return Profile(records=len(frame), distributions=distributions)


def count(column: pd.Series, cells: Distribution) -> tuple[int, ...]:
    """Records of a typed column in each cell of another distribution. O(n log k)."""
    last = len(cells.counts) - 1
    if cells.labels is not None:
        codes = pd.Index(cells.labels).get_indexer(pd.Index(column.astype(object)))
        position = np.where(codes < 0, len(cells.labels), codes)
        position = np.where(column.isna().to_numpy(), last, position)
    else:
        values = as_numbers(column)
        position = np.searchsorted(np.asarray(cells.edges, dtype=float), values, side="left")
        position = np.where(np.isnan(values), last, position)
    return tuple(int(n) for n in np.bincount(position, minlength=last + 1))


def distance(old: Sequence[int], new: Sequence[int]) -> float:
    """Total variation distance between two counts over the same cells; nan when either counts no record at all."""
    if not sum(old) or not sum(new):
        return float("nan")
    p, q = np.asarray(old, dtype=float) / sum(old), np.asarray(new, dtype=float) / sum(new)
    return float(np.abs(p - q).sum() / 2)


def as_numbers(column: pd.Series) -> NDArray[np.float64]:
    """A typed number as float64, a date as days since 1970-01-01; missing is nan."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        moments = column.to_numpy(dtype="datetime64[us]")
        return np.where(np.isnat(moments), np.nan, moments.astype("int64") / 86_400_000_000)
    return column.to_numpy(dtype=float, na_value=np.nan)


def _labels(column: pd.Series, variable: Variable) -> tuple[str, ...]:
    if variable.categories is not None and len(variable.categories) <= MOST_LABELS:
        return variable.categories
    # Ties in frequency go by name, so that any order of the records gives the same profile.
    sizes = column.astype(object).value_counts().rename_axis("label").reset_index(name="n")
    sizes = sizes.sort_values(["n", "label"], ascending=[False, True])
    return tuple(str(label) for label in sizes["label"].head(MOST_LABELS))


def _edges(column: pd.Series, variable: Variable) -> tuple[float, ...]:
    values = as_numbers(column)
    values = values[np.isfinite(values)]
    if values.size == 0:
        return ()
    # Rounded, so that an edge is not one person's value; the counts are taken on the rounded edges, hence exact.
    span = float(values.max() - values.min()) or float(abs(values[0])) or 1.0
    decimals = 2 - int(np.floor(np.log10(span)))
    if variable.kind is Kind.DATE:
        decimals = min(decimals, 0)
    edges = np.round(np.quantile(values, _DECILES), decimals)
    # A value of many records has a cell of its own: in one with all below, most zeros could become any loss unseen.
    distinct, records = np.unique(values, return_counts=True)
    heavy = distinct[(records >= _HEAVY * values.size) & (records >= _FEW)]
    return tuple(float(edge) for edge in np.unique([*edges, *heavy, *np.nextafter(heavy, -np.inf)]))


_SAYS = Sentences(
    "drift",
    first="There is no earlier release to compare with yet.",
    new_variable="The last release had no '{name}': there is nothing to compare with yet.",
    not_compared="The distribution of '{name}' could not be compared with that of the last release.",
    moved="The distribution of '{name}' has moved since the last release: {share:percent} of the records would have to "
    "change to restore it; the contract allows {limit:percent}.",
    within="The distributions of {variables} variables are within {limit:percent} of the last release.",
)


def drift_findings(contract: Contract, frame: pd.DataFrame, profile: Profile | None) -> list[Finding]:
    """Total variation distance of each compared variable from the last release."""
    if contract.drift is None:
        return []
    limit, variables = contract.drift.max_distance, compared(contract)

    def finding(verdict: Verdict, says: Saying, **more: Any) -> Finding:
        return Finding(rule="drift", verdict=verdict, stage="contract", limit=limit, **as_fields(says), **more)

    if profile is None:
        return [finding(Verdict.PASS, _SAYS.first(), binding=False)]
    findings, near = [], []
    for name, variable in variables.items():
        cells = profile.distributions.get(name)
        if name not in frame:
            continue  # reported among the columns
        if cells is None:
            says = _SAYS.new_variable(name=name)
            findings.append(finding(Verdict.PASS, says, scope=name, binding=False))
            continue
        fits = cells.fits(variable)
        moved = distance(cells.counts, count(frame[name], cells)) if fits else float("nan")
        if math.isnan(moved):
            says = _SAYS.not_compared(name=name)
            findings.append(finding(Verdict.UNKNOWN, says, scope=name))
        elif moved > limit + 1e-9:
            says = _SAYS.moved(name=name, share=moved, limit=limit)
            findings.append(finding(Verdict.FAIL, says, scope=name, observed=moved))
        else:
            near.append(moved)
    if near:
        says = _SAYS.within(variables=len(near), limit=limit)
        findings.append(finding(Verdict.PASS, says, observed=max(near), attempted=len(near), completed=len(near)))
    return findings
