"""Impossible records: masked records that break a rule across fields which their originals keep, such as a child of
six who is married.

A released group breaks a rule when none of the original values that it may stand for keeps it: an age of 20 to 29 goes
with nine years of marriage, and not with twenty. A missing value is unknown and breaks nothing. So a figure is about
what a reader of the file can see to be impossible.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from pydantic import Field

from sluice.ground.arrays import BoolArray, Codes, IntArray
from sluice.ground.comparable_values import plain_values
from sluice.ground.document_parts import FrozenModel
from sluice.ground.errors import DataError
from sluice.ground.record_rule import RecordRule
from sluice.ground.released_values import ReleasedValues, at_face_value
from sluice.ground.variables import Variables

_MOST_TRIALS = 20_000_000  # records with one value for each of their groups
_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class RuleOutcome:
    """One rule on two files, in records; `newly` without pairs is by how many the number grew, at least 0.

    unchecked : why the masked file could not be held to it; '' where it was
    left_out  : the masked file lacks a variable of the rule, which nothing in it can break
    """

    rule: RecordRule
    before: int
    after: int = 0
    newly: int = 0
    unchecked: str = ""
    left_out: bool = False


@dataclass(frozen=True)
class ImpossibleRecords:
    """All rules on two files.

    records : of the masked file
    newly   : records that break any rule on masked records now and none of those before; without pairs by how many
              their number grew
    """

    rules: tuple[RuleOutcome, ...]
    records: int
    records_before: int
    newly: int

    @property
    def attempted(self) -> int:
        """Rules on masked records that the file has all variables of."""
        return sum(each.rule.kept and not each.left_out for each in self.rules)

    @property
    def completed(self) -> int:
        """Those among them that its records could be held to."""
        return sum(each.rule.kept and not each.left_out and not each.unchecked for each in self.rules)

    @property
    def share(self) -> float:
        """Share of the masked records that are newly impossible, 0 to 1, more is worse; NaN unless every rule of which
        the file has all variables was checked, and where there is none."""
        if not self.records or not self.attempted or self.completed < self.attempted:
            return nan
        return self.newly / self.records


class BrokenRule(FrozenModel):
    """A rule as the report shows it: shares of the records of each file; None where too few records stand behind."""

    rule: str
    says: str
    before: float | None = None
    after: float | None = None
    newly: float | None = Field(default=None, description="share of the masked records that break it newly")
    unchecked: str = Field(default="", description="why the masked file could not be held to it; empty: it was")


class BrokenRules(FrozenModel):
    """Rules across fields, those that masking breaks most first."""

    rules: tuple[BrokenRule, ...]
    minimum_cell: int


def impossible_records(
    rules: Sequence[RecordRule],
    original: pd.DataFrame,
    recoded: pd.DataFrame,
    masked: pd.DataFrame,
    variables: Variables,
    released: Variables,
    paired: bool,
) -> ImpossibleRecords:
    """Which rules the records of a masked file break that those of the original keep.

    original, recoded : length n, row i of one the record of row i of the other; typed by `variables` and `released`
    masked            : length m, typed by `released`; with `paired`, row i is the record of row i of the original
    raises            : DataError when paired files differ in length
    cost              : O(n + m) a rule and operation; times the values behind a group where a variable was recoded.
                        A rule that would take more than 20 million trials is not checked, and says so
    """
    if paired and len(original) != len(masked):
        raise DataError(f"paired files must have as many records; got {len(original):,} and {len(masked):,}.")
    any_before, any_after = np.zeros(len(original), np.bool_), np.zeros(len(masked), np.bool_)
    outcomes = []
    for rule in rules:
        if unknown := [name for name in rule.columns if name not in variables]:  # such as the hash of a record key
            why = f"the file has no {', '.join(unknown)}"
            outcomes.append(RuleOutcome(rule, 0, unchecked=why, left_out=True))
            continue
        before = ~rule.holds(original)
        if left := [name for name in rule.columns if name not in released]:
            why = f"the file has no {', '.join(left)}"
            outcomes.append(RuleOutcome(rule, int(before.sum()), unchecked=why, left_out=True))
            continue
        after = _broken(rule, original, recoded, masked, variables, released)
        if isinstance(after, str):
            outcomes.append(RuleOutcome(rule, int(before.sum()), unchecked=after))
            continue
        if rule.kept:
            any_before |= before
            any_after |= after
        outcomes.append(RuleOutcome(rule, int(before.sum()), int(after.sum()), _newly(before, after, paired)))
    newly = _newly(any_before, any_after, paired)
    return ImpossibleRecords(tuple(outcomes), len(masked), len(original), newly)


def broken_rules(found: ImpossibleRecords, minimum_cell: int) -> BrokenRules:
    """What may be shown: no share behind which, or behind whose difference to another, fewer records stand."""
    ordered = sorted(found.rules, key=lambda outcome: (-outcome.newly, -outcome.after))
    return BrokenRules(rules=tuple(_as_shown(each, found, minimum_cell) for each in ordered), minimum_cell=minimum_cell)


def tells_of_few(found: ImpossibleRecords, minimum_cell: int) -> bool:
    """Whether the number of newly impossible records, or that of a rule, tells of fewer records than the minimum."""
    numbers = [found.newly, found.records - found.newly]
    return any(0 < number < minimum_cell for number in numbers) or any(
        _is_small(outcome, found, minimum_cell) for outcome in found.rules if not outcome.unchecked
    )


def _as_shown(outcome: RuleOutcome, found: ImpossibleRecords, minimum_cell: int) -> BrokenRule:
    rule = BrokenRule(rule=outcome.rule.name, says=outcome.rule.says, unchecked=outcome.unchecked)
    if not found.records or not found.records_before or _is_small(outcome, found, minimum_cell):
        return rule
    shown: dict[str, float] = {"before": outcome.before / found.records_before}
    if not outcome.unchecked:
        shown |= {"after": outcome.after / found.records, "newly": outcome.newly / found.records}
    return rule.model_copy(update=shown)


def _is_small(outcome: RuleOutcome, found: ImpossibleRecords, minimum_cell: int) -> bool:
    """Whether a number of the outcome, or one that follows from them, is above 0 and below the minimum."""
    still = outcome.after - outcome.newly
    numbers = [outcome.before, found.records_before - outcome.before]
    if not outcome.unchecked:
        numbers += [outcome.after, found.records - outcome.after, outcome.newly, still, abs(outcome.before - still)]
    return any(0 < number < minimum_cell for number in numbers)


def _newly(before: BoolArray, after: BoolArray, paired: bool) -> int:
    if paired:
        return int((after & ~before).sum())
    grown = after.mean() - before.mean() if len(before) and len(after) else 0.0
    return max(0, round(float(grown) * len(after)))


def _broken(
    rule: RecordRule,
    original: pd.DataFrame,
    recoded: pd.DataFrame,
    masked: pd.DataFrame,
    variables: Variables,
    released: Variables,
) -> BoolArray | str:
    """(m,) whether no value that the record may stand for keeps the rule; in words why that could not be checked."""
    columns: dict[str, pd.Series[Any]] = {}
    groups: dict[str, ReleasedValues] = {}
    for name in rule.columns:
        if at_face_value(original[name], masked[name]):
            columns[name] = masked[name].reset_index(drop=True)
            continue
        group = ReleasedValues.of(original[name], recoded.get(name), masked[name], variables[name].hierarchy)
        counts = group.counts[group.told.counts > 0]
        if (counts == 0).any():
            return f"nothing tells what the released values of {name} stand for"
        if (counts == 1).all():
            place = group.value[np.minimum(group.start, len(group.value) - 1)][group.told.codes]
            columns[name] = _distinct(original[name]).take(place).reset_index(drop=True)
        else:
            groups[name] = group
    if not groups:
        return ~rule.holds(pd.DataFrame(columns, index=pd.RangeIndex(len(masked))))
    return _broken_by_groups(rule, columns, groups, {name: _distinct(original[name]) for name in groups}, len(masked))


def _distinct(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """The values of `ReleasedValues.known`, typed, and last a missing one."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes = [*range(len(column.cat.categories)), -1]
        return pd.Series(pd.Categorical.from_codes(codes, dtype=column.dtype))
    present = column.dropna().drop_duplicates().reset_index(drop=True)
    return present.reindex(range(len(present) + 1))


def _broken_by_groups(
    rule: RecordRule,
    columns: "dict[str, pd.Series[Any]]",
    groups: dict[str, ReleasedValues],
    values: "dict[str, pd.Series[Any]]",
    m: int,
) -> BoolArray | str:
    codes: dict[str, Codes] = {name: pd.factorize(plain_values(column))[0] for name, column in columns.items()}
    codes |= {name: group.told.codes for name, group in groups.items()}
    alike = pd.DataFrame(codes, index=pd.RangeIndex(m)).groupby(list(codes), sort=False).ngroup().to_numpy()
    _, first = np.unique(alike, return_index=True)  # a record of each combination
    trials = np.prod([group.counts[group.told.codes[first]] for group in groups.values()], axis=0, dtype=float)
    if trials.sum() > _MOST_TRIALS:
        return f"{', '.join(groups)} may stand for too many combinations of values"
    kept = np.zeros(len(first), np.bool_)
    ends = np.cumsum(trials.astype(np.int64))
    at = 0
    while at < len(first):
        done = int(ends[at - 1]) if at else 0
        to = max(at + 1, int(np.searchsorted(ends, done + _AT_ONCE, "right")))
        rows = first[at:to]
        owner, picked = _combinations(groups, rows)
        frame = {name: column.take(rows[owner]).reset_index(drop=True) for name, column in columns.items()}
        frame |= {name: values[name].take(picked[name]).reset_index(drop=True) for name in groups}
        holds = rule.holds(pd.DataFrame(frame))
        kept[at:to] = np.bincount(owner[holds], minlength=len(rows)) > 0
        at = to
    return np.asarray(~kept[alike])


def _combinations(groups: dict[str, ReleasedValues], rows: IntArray) -> tuple[IntArray, dict[str, IntArray]]:
    """Every combination of values that the groups of these records may stand for: whose it is, and the places of the
    values."""
    owner = np.arange(len(rows))
    picked: dict[str, IntArray] = {}
    for name, group in groups.items():
        code = group.told.codes[rows[owner]]
        counts = group.counts[code]
        again = np.repeat(np.arange(len(owner)), counts)
        within = np.arange(len(again)) - np.repeat(np.cumsum(counts) - counts, counts)
        picked = {each: places[again] for each, places in picked.items()}
        picked[name] = group.value[group.start[code][again] + within]
        owner = owner[again]
    return owner, picked
