"""Cell losses: what the cells of a variable lost by recoding, suppression and removal.

Each is 0 for a value that stands for itself alone and 1 for one that may be anything, on average over the masked
records; higher is worse. What a value may stand for says `released_values`, whatever step made it. A value that was
missing in the original loses nothing, a suppressed one all, and so does each value of a removed variable. A number that
was moved and not recoded stands for itself: other measures see that.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.comparable_values import plain_values
from sluice.ground.errors import DataError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.released_values import ReleasedValues, at_face_value, is_number, released_as
from sluice.ground.variables import NAMES, Kind, Variable, Variables

_LEFT_OUT = (Kind.TEXT, Kind.ITEMS)


@dataclass(frozen=True)
class ReleasedGroups:
    """The groups of one variable that the masked file shows, g of them.

    share      : (g,), of the masked records; with `suppressed` and those that were missing anyway they add up to 1
    values     : (g,), how many values the group may stand for, 1 or more
    width      : (g,), of numbers and dates, from its smallest to its largest value, as a share of the whole range
    bits       : (g,), entropy of the original values that were recoded to it
    level      : (g,), how far up the variable's hierarchy, 0 to 1; NaN without one, or where it lacks the label
    suppressed : share of the masked records without a value that had one
    all_values : how many values the variable has: the leaves of its hierarchy, or those that occur; 0 for numbers that
                 were not recoded, which nobody needs to count
    all_bits   : entropy of the original values, 0 for such numbers
    height     : of the variable's hierarchy, 0 without one
    removed    : the variable was not released: every record is suppressed that had a value
    """

    name: str
    share: FloatArray
    values: FloatArray
    width: FloatArray | None
    bits: FloatArray
    level: FloatArray
    suppressed: float
    all_values: int
    all_bits: float
    height: int
    removed: bool = False


def released_groups(
    original: pd.DataFrame,
    recoded: pd.DataFrame,
    masked: pd.DataFrame,
    variables: Variables,
    released: Variables,
    paired: bool = True,
) -> tuple[ReleasedGroups, ...]:
    """The groups of every variable of the original that tells something by single values: no names, texts or sets,
    nor those of which distributions were released, in which no value is hidden.

    original, variables : length n, typed
    recoded             : length n, row i the record of `original`'s row i after the recodings alone
    masked, released    : length m, typed
    paired              : row i of masked is the record of row i of the original, where the lengths are equal; otherwise
                          the suppressed share is that of the missing values beyond the original's
    raises              : DataError if the original and the recoded file differ in length
    cost                : O(n + m) a variable, and a sort of the distinct values
    """
    if len(original) != len(recoded):
        raise DataError(f"the recoded file must hold the original's records; got {len(recoded)} for {len(original)}.")
    compared = (
        variable
        for name, variable in variables.items()
        if variable.role not in NAMES
        and variable.kind not in _LEFT_OUT
        and released_as(name, variables, released) in ((), (name,))  # no distribution over its labels
    )
    return tuple(_of_variables(compared, original, recoded, masked, released, paired))


def _of_variables(
    variables: Iterator[Variable],
    original: pd.DataFrame,
    recoded: pd.DataFrame,
    masked: pd.DataFrame,
    released: Variables,
    paired: bool,
) -> Iterator[ReleasedGroups]:
    for variable in variables:
        name = variable.name
        before, between = original[name], recoded.get(name, original[name])
        after = masked[name] if name in released else None
        was_missing = before.isna().to_numpy()
        suppressed = _suppressed(was_missing, None if after is None else after.isna().to_numpy(), paired)
        height = 0 if variable.hierarchy is None else variable.hierarchy.depth
        one = np.ones(1)
        if after is None:
            none = np.zeros(0)
            yield ReleasedGroups(name, none, none, None, none, none, suppressed, 0, 0.0, height, removed=True)
        elif at_face_value(before, after) and _unchanged(before, between):
            present = np.array([float(after.notna().mean()) if len(after) else np.nan])
            yield ReleasedGroups(name, present, one, 0 * one, 0 * one, np.nan * one, suppressed, 0, 0.0, height)
        else:
            yield _read(variable, before, recoded.get(name), after, suppressed)


def _suppressed(was_missing: BoolArray, now_missing: BoolArray | None, paired: bool) -> float:
    if not len(was_missing) or (now_missing is not None and not len(now_missing)):
        return float("nan")
    if now_missing is None:
        return float(1 - was_missing.mean())
    if paired and len(now_missing) == len(was_missing):
        return float((now_missing & ~was_missing).mean())
    return max(0.0, float(now_missing.mean() - was_missing.mean()))


def _unchanged(before: "pd.Series[Any]", recoded: "pd.Series[Any]") -> bool:
    return is_number(recoded) and bool(np.array_equal(plain_values(before), plain_values(recoded), equal_nan=True))


def _read(
    variable: Variable,
    before: "pd.Series[Any]",
    recoded: "pd.Series[Any] | None",
    after: "pd.Series[Any]",
    suppressed: float,
) -> ReleasedGroups:
    read = ReleasedValues.of(before, recoded, after, variable.hierarchy)
    hierarchy, numbers = variable.hierarchy, not variable.kind.is_categorical
    occurs = read.told.counts[:-1] > 0
    all_values = max(read.occurring, 0 if hierarchy is None else len(hierarchy.rows))
    all_bits = _bits(read.known.counts[:-1])
    any_value = read.counts[:-1] == 0 if not read.is_face else np.zeros(len(occurs), dtype=np.bool_)
    values = np.where(any_value, max(all_values, 1), np.maximum(read.counts[:-1], 1))
    leaves, level = _in_hierarchy(hierarchy, read.told.distinct[occurs])
    span, width = 0.0, None
    if numbers:
        known = np.asarray(read.known.distinct, dtype=np.float64)
        span = float(np.ptp(known)) if len(known) else 0.0
        width = (_widths(read, known) + span * any_value)[occurs] / (span if span > 0 else 1.0)
    return ReleasedGroups(
        name=variable.name,
        share=read.told.counts[:-1][occurs] / max(len(after), 1),
        values=np.where(leaves > 0, leaves, values[occurs]).astype(np.float64),
        width=width,
        bits=np.where(any_value, all_bits, _bits_behind(read))[occurs],
        level=level,
        suppressed=suppressed,
        all_values=all_values,
        all_bits=all_bits,
        height=0 if hierarchy is None else hierarchy.depth,
    )


def _bits_behind(read: ReleasedValues) -> FloatArray:
    """The entropy of the original values behind each released one, by their records."""
    size = len(read.counts)
    total = np.bincount(read.code, read.weight, size)
    inside = np.bincount(read.code, read.weight * np.log2(np.maximum(read.weight, 1)), size)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = np.where(read.counts > 1, np.log2(np.maximum(total, 1)) - inside / np.maximum(total, 1), 0.0)
    return np.asarray(np.maximum(bits, 0.0)[:-1])


def _widths(read: ReleasedValues, known: FloatArray) -> FloatArray:
    """From the smallest to the largest number behind each released value, 0 of one that stands for itself."""
    present = read.value < len(known)
    low, high = np.full(len(read.counts), np.inf), np.full(len(read.counts), -np.inf)
    np.minimum.at(low, read.code[present], known[read.value[present]])
    np.maximum.at(high, read.code[present], known[read.value[present]])
    return np.asarray(np.where(high >= low, high - low, 0.0)[:-1])


def _bits(counts: IntArray) -> float:
    share = counts[counts > 0] / max(int(counts.sum()), 1)
    return max(0.0, float(-(share * np.log2(share)).sum()))


def _in_hierarchy(hierarchy: Hierarchy | None, labels: Any) -> tuple[FloatArray, FloatArray]:
    """For each label its leaves, 0 for one that the hierarchy does not have, and its lowest level, by the height."""
    leaves, level = np.zeros(len(labels)), np.full(len(labels), np.nan)
    if hierarchy is None:
        return leaves, level
    known: dict[str, tuple[int, int]] = {}
    for height in range(hierarchy.depth + 1):
        groups: Mapping[str, str] = hierarchy.at_level(height)
        sizes = pd.Series(list(groups.values())).value_counts()
        for label, size in sizes.items():
            known.setdefault(str(label), (int(size), height))
    for at, label in enumerate(labels):
        if str(label) in known:
            leaves[at], level[at] = known[str(label)][0], known[str(label)][1] / hierarchy.depth
    return leaves, level


class CellLosses(NamedTuple):
    """Of one variable, each 0 to 1; NaN where it cannot be told.

    certainty  : the normalised certainty penalty (NCP, the same as ILoss): of categories (values of the group - 1) /
                 (all values - 1), of numbers and dates the width of the group by that of all (Xu, Wang, Pei, Wang, Shi
                 and Fu 2006, section 2.2; Xiao and Tao 2006)
    distortion : the share of the cells that are not the value itself (minimal distortion: Samarati 2001)
    entropy    : non-uniform entropy: the bits that a value's group leaves open, by those of the variable (Gionis and
                 Tassa 2009, section 3.1)
    precision  : what precision lacks of 1: the level in the hierarchy by its height (Sweeney 2002)
    """

    certainty: float
    distortion: float
    entropy: float
    precision: float


def cell_losses(groups: ReleasedGroups) -> CellLosses:
    """The losses of one variable. Cost: O(groups)."""
    if np.isnan(groups.suppressed):
        return CellLosses(nan, nan, nan, nan)
    lost = groups.suppressed
    penalty = groups.width
    if penalty is None:
        penalty = (groups.values - 1) / max(groups.all_values - 1, 1)
    bits = groups.bits / groups.all_bits if groups.all_bits > 0 else np.zeros(len(groups.bits))
    shown = groups.share > 0
    return CellLosses(
        certainty=min(1.0, float(groups.share @ penalty) + lost),
        distortion=min(1.0, float(groups.share @ (groups.values > 1)) + lost),
        entropy=min(1.0, float(groups.share @ bits) + lost),
        precision=float(np.minimum(1.0, groups.share[shown] @ groups.level[shown] + lost)) if groups.height else nan,
    )


def mean_certainty_penalty(variables: Sequence[ReleasedGroups]) -> float:
    """The mean NCP of the variables, each counting alike; NaN without any, or if one is not known."""
    return float(np.mean([cell_losses(each).certainty for each in variables])) if variables else nan
