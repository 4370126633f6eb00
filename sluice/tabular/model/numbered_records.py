"""From columns of text and numbers to numbered records, which tables are aggregated from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from sluice.ground.errors import DataError, MeasureChoiceError
from sluice.ground.frame_columns import with_columns
from sluice.ground.visible_text import as_they_look, same_but_for_capitals, unclear_names
from sluice.tabular.model.aggregation import LARGEST_KEPT, aggregate
from sluice.tabular.model.cells import Cells, Codes, Integers, Table, keys_of
from sluice.tabular.model.column_values import (
    duplicates,
    is_missing,
    is_whole,
    light_weight,
    missing_value,
    negative_value,
    no_leaf,
    numbers,
    text_of,
    to_decimals,
    whole_units,
    without,
)
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import MOST_DECIMALS, NOBODY, Asking, Measure, Requested

LARGEST_UNITS = 2**62  # of a contribution, which must fit into 64 bits


@dataclass(frozen=True, eq=False)
class Records:
    """The n records that a table adds up.

    leaves      : shape (n, d), the position of each record's leaf in each dimension
    contributor : shape (n,), whose record it is (or which holding's), as a number
    names       : name of each contributor by its number; None where records or numbers serve as contributors
    value       : shape (n,), in units of 10 ** -decimals
    weighted    : shape (n,), the part of the totals where that is not `value`, and `weight` in units of 1 / `unit`
    left_out    : how many records had no value
    added_up    : how many records were added to another of the same contributor in the same cell
    respelled   : how many names its contributors bear that were read as what they look like
    joined      : how many of them were taken for another that differs in capital letters alone
    asking      : numbers of those who asked for protection, where that was asked for
    """

    leaves: Codes
    contributor: Integers
    names: NDArray[np.object_] | None
    value: Integers
    weighted: Integers | None
    weight: Integers | None
    unit: int
    decimals: int
    left_out: int
    added_up: int
    respelled: int = 0
    joined: int = 0
    asking: Asking = NOBODY

    @property
    def alike(self) -> int:
        """How many names of contributors are those of others but for capital letters, and may be others."""
        if self.names is None:
            return 0
        return len(self.names) - len({str(name).lower() for name in self.names})

    def cells(
        self,
        dimensions: Sequence[Dimension],
        kept: int = LARGEST_KEPT,
        tables: Sequence[Table] | None = None,
        withheld: Mapping[str, Sequence[str | int]] | None = None,
    ) -> Cells:
        """The cells of the tables; see `aggregate`."""
        return aggregate(
            dimensions,
            self.leaves,
            self.contributor,
            self.value,
            kept,
            weighted=self.weighted,
            weight=self.weight,
            unit=self.unit,
            tables=tables,
            withheld=withheld,
            decimals=self.decimals,
        )


def records_of(
    frame: pd.DataFrame,
    dimensions: Sequence[Dimension],
    measure: Measure,
    requested: Requested | None = None,
) -> Records:
    """The records of a frame, by the rules of the measure.

    frame     : a column of text for each dimension, bearing its name, and the columns of the measure; numbers as
                numbers or text. An empty text is missing. Names that look the same are the same contributor
    requested : how a record says that its contributor asked for protection
    raises    : DataError for a column that is absent, a code that is no leaf of its hierarchy, a missing contributor, a
             number that is none; a missing or negative value or a duplicate, where the measure refuses it
    cost   : O(n log n) time, O(n) memory
    """
    asked_in = () if requested is None else (requested.column,)
    for name in (*(dimension.name for dimension in dimensions), *measure.columns, *asked_in):
        if name not in frame.columns:
            raise DataError(f"the records have no column '{name}'.", came=name, allowed=map(str, frame.columns))
    frame = frame.set_axis(pd.RangeIndex(len(frame)))  # errors number the records of the source
    frame, respelled, joined = _as_they_look(frame, measure)
    whole = frame
    counted = np.ones(len(frame), dtype=bool)
    if measure.value is not None:
        counted = ~is_missing(frame[measure.value])
        if measure.missing == "refuse" and not counted.all():
            raise missing_value(measure.value, int((~counted).sum()))
    left_out = int((~counted).sum())
    frame = frame[counted]
    if not len(frame):
        raise DataError("there is no record to make a table of.")
    leaves = np.column_stack([_leaves(frame[dimension.name], dimension) for dimension in dimensions])
    value, decimals = _value(frame, measure)
    value, weighted, weight, unit, decimals = _weighted(frame, measure, value, decimals)
    contributor, names = _contributors(frame, measure)
    added_up = 0
    if measure.contributor is not None:
        own = contributor if measure.holding is None else _numbered(text_of(frame[measure.contributor]))[0]
        added_up = int(pd.DataFrame({"cell": keys_of(dimensions, leaves), "own": own}).duplicated().sum())
        if added_up and measure.duplicates == "refuse":
            raise duplicates(measure.contributor, added_up)
    asking = NOBODY
    if requested is not None:
        who = (_asking(whole, counted, contributor, measure, requested.column, each) for each in requested.texts)
        asking = Asking(*who)
    return Records(
        leaves, contributor, names, value, weighted, weight, unit, decimals, left_out, added_up, respelled, joined,
        asking,
    )  # fmt: skip


def _leaves(column: "pd.Series[Any]", dimension: Dimension) -> Codes:
    places, codes = pd.factorize(text_of(column))
    leaves = {dimension.codes[leaf]: int(leaf) for leaf in dimension.leaves}
    position = np.array([leaves.get(code, -1) for code in codes], dtype=np.int32)
    strange = position[places] < 0
    if strange.any():
        found = np.bincount(places[strange], minlength=len(codes))
        raise DataError(no_leaf(dimension, {str(codes[at]): int(found[at]) for at in np.flatnonzero(found)}))
    return position[places]


def _contributors(frame: pd.DataFrame, measure: Measure) -> tuple[Integers, NDArray[np.object_] | None]:
    if measure.contributor is None and measure.holding is None:
        return np.arange(len(frame), dtype=np.int64), None
    if measure.contributor is not None and (missing := int(is_missing(frame[measure.contributor]).sum())):
        raise without(measure.contributor, "contributor", missing)
    if measure.holding is None:
        column = frame[str(measure.contributor)]
        if is_whole(column) and (column >= 0).all():
            return column.to_numpy(dtype=np.int64), None
        return _numbered(text_of(column))
    holding = frame[measure.holding]
    lacking = is_missing(holding)
    if not lacking.any() and is_whole(holding) and (holding >= 0).all():
        return holding.to_numpy(dtype=np.int64), None
    if lacking.any() and measure.contributor is None:
        raise without(measure.holding, "holding", int(lacking.sum()), "; name a contributor")
    held = text_of(holding)
    if lacking.any():  # who belongs to nobody is a contributor of its own, whatever holding has the same name
        own = text_of(frame[str(measure.contributor)])
        return _numbered(np.where(lacking, "contributor " + own, "holding " + held))
    return _numbered(held)


def _as_they_look(frame: pd.DataFrame, measure: Measure) -> tuple[pd.DataFrame, int, int]:
    """The frame with names of contributors and holdings spelled in one way; how many different ones were not, and how
    many differed from others in capital letters alone."""
    respelled = joined = 0
    for name in (measure.contributor, measure.holding):
        if name is None or is_whole(frame[name]):
            continue
        encoded = pa.array(text_of(frame[name]), pa.string()).dictionary_encode()
        spelled = encoded.dictionary
        unclear = int(np.sum(unclear_names(spelled).to_numpy(zero_copy_only=False)))
        if unclear:
            respelled += unclear
            spelled = as_they_look(spelled)
        if alike := same_but_for_capitals(set(spelled.to_pylist())):
            joined += sum(alike.values())
            spelled = pa.array([one.lower() if one.lower() in alike else one for one in spelled.to_pylist()])
        if unclear or alike:
            frame = with_columns(frame, {name: spelled.take(encoded.indices).to_pandas()})
    return frame, respelled, joined


def _asking(
    frame: pd.DataFrame,
    counted: NDArray[np.bool_],
    contributor: Integers,
    measure: Measure,
    column: str,
    value: str | None,
) -> tuple[int, ...]:
    """The numbers of those who have a record, be it counted or not, with this text in this column."""
    if value is None:
        return ()
    asks = text_of(frame[column]) == value
    if measure.contributor is None and measure.holding is None:
        return tuple(np.unique(contributor[asks[counted]]).tolist())
    own = text_of(frame[measure.contributor]) if measure.contributor else np.full(len(frame), "", dtype=object)
    held = text_of(frame[measure.holding]) if measure.holding else np.full(len(frame), "", dtype=object)
    who = np.where(held == "", "contributor " + own, "holding " + held)
    asking = np.isin(who[counted].astype(str), np.unique(who[asks].astype(str)))
    return tuple(np.unique(contributor[asking]).tolist())


def _numbered(text: NDArray[np.object_]) -> tuple[Integers, NDArray[np.object_]]:
    places, names = pd.factorize(text, sort=True)
    return places.astype(np.int64), names


def _value(frame: pd.DataFrame, measure: Measure) -> tuple[Integers, int]:
    if measure.value is None:
        return np.ones(len(frame), dtype=np.int64), 0
    stated = None if measure.weight else measure.decimals  # a weighted value is rounded once, when it is weighted
    value, decimals = whole_units(numbers(frame[measure.value]), measure.value, stated)
    negative = int((value < 0).sum())
    if negative and measure.negative == "refuse":
        raise negative_value(measure.value, negative)
    return value, decimals


def _weighted(
    frame: pd.DataFrame, measure: Measure, value: Integers, decimals: int
) -> tuple[Integers, Integers | None, Integers | None, int, int]:
    """Values and weighted values in units of the table, weights and their unit, and the table's decimals."""
    if measure.weight is None:
        return value, None, None, 1, decimals
    if is_missing(frame[measure.weight]).any():
        raise without(measure.weight, "weight", int(is_missing(frame[measure.weight]).sum()))
    weight, places = whole_units(numbers(frame[measure.weight]), measure.weight, None)
    return weigh(value, decimals, weight, places, measure)


def weigh(
    value: Integers, decimals: int, weight: Integers, places: int, measure: Measure
) -> tuple[Integers, Integers | None, Integers | None, int, int]:
    """Values and weighted values in units of the table, weights and their unit, and the table's decimals.

    value  : in units of 10 ** -decimals, weight in units of 10 ** -places
    """
    unit = 10**places
    if light := int((weight < unit).sum()):
        raise DataError(light_weight(str(measure.weight), light))
    fine = decimals + places
    wanted = weighted_decimals(measure, fine, float(np.abs(value).max(initial=0)) * float(weight.max(initial=1)))
    weighted = to_decimals(value * weight, fine, wanted)
    if measure.weight_rule == "gconfid_exact":
        return weighted, None, None, 1, wanted
    return to_decimals(value, decimals, wanted), weighted, weight, unit, wanted


def weighted_decimals(measure: Measure, fine: int, largest: float) -> int:
    """The decimals of a weighted table, whose records have `fine` of them and are at most so large, in these units."""
    wanted = fine if measure.decimals is None else measure.decimals
    if wanted > MOST_DECIMALS:
        says = f"weighted, '{measure.value or 'the count'}' has {fine} decimals; say how many the table shall have"
        raise MeasureChoiceError(f"{says}, at most {MOST_DECIMALS}", "decimals")
    if largest * 10.0 ** max(wanted - fine, 0) >= LARGEST_UNITS:
        raise DataError(f"weighted, '{measure.value}' is too large for so many decimals; give fewer.")
    return wanted
