"""Failing categories: through which variables, and which of their released categories, a file breaks a rule.

A variable is worth changing where fewer records break the rule without it; a category, where more of its records break
it than of all. No figure tells of fewer records, people or households than the policy's minimum cell, nor can one be
subtracted.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.machine import threads
from sluice.ground.parallel_jobs import in_threads
from sluice.ground.rule import Background, Rule
from sluice.ground.sentence import word
from sluice.ground.variables import Kind, Variables, as_label
from sluice.ground.verdict import Finding, Verdict
from sluice.report.small_counts import safe_counts, share
from sluice.risk.classes.equivalence_classes import category_codes, equivalence_classes
from sluice.risk.classes.microdata_rule import FrequencyRule, KeyedRecords, MicrodataRule
from sluice.risk.people_of_records import people_of

_VARIABLES = 3  # that a finding names
_CATEGORIES = 3  # of each
_LONGEST = 40  # characters of a category

Failing = Callable[[list[str]], BoolArray | None]


@dataclass(frozen=True)
class _Records:
    frame: pd.DataFrame
    units: IntArray  # whose each record is: a person, or a household, which may share a value that nobody else has
    minimum_cell: int

    def few(self, chosen: BoolArray) -> bool:
        """Whether the records are of fewer people or households than may be told of; none at all are not few."""
        return bool(chosen.any()) and len(np.unique(self.units[chosen])) < self.minimum_cell


def with_failing_categories(
    findings: Sequence[Finding], rules: Sequence[Rule], frame: pd.DataFrame, variables: Variables,
    background: Background, unit: str, units: IntArray,
) -> list[Finding]:  # fmt: skip
    """The findings on a masked file; the first that fails by each rule says `where`.

    findings : of `rules` on `frame`, which is typed by `variables`, with `background` as each rule got it
    unit     : what a record is, in the plural and in the reader's words
    units    : whose each record is, of `groups_of_people`, also where the file tells it not; shape (n,)
    cost     : that of each broken rule once more for every quasi-identifier, of rules on frequencies by the different
               records alone

    Of rules on frequencies, the one that most records break speaks for all: who is alone is also one of few.
    """
    records = _Records(frame, units, background.minimum_cell)
    broken: dict[int, tuple[MicrodataRule, list[str], BoolArray, Failing]] = {}
    for rule in rules:
        if not isinstance(rule, MicrodataRule):
            continue
        if not (keys := rule.keys(variables)):  # no released variable sets anybody apart
            continue
        place = next(
            (at for at, each in enumerate(findings) if at not in broken and _is_broken(each, rule, keys)), None
        )
        if place is None:
            continue
        by_keys = _failing(rule, frame, variables, keys, background)
        if (failing := by_keys(keys)) is not None:
            broken[place] = (rule, keys, failing, by_keys)
    on_frequencies = [place for place, (rule, *_) in broken.items() if isinstance(rule, FrequencyRule)]
    widest = max(on_frequencies, key=lambda place: int(broken[place][2].sum()), default=None)
    found = list(findings)
    for place, (_, keys, failing, by_keys) in broken.items():
        if place == widest or place not in on_frequencies:
            where = tuple(_where(failing, by_keys, keys, variables, records, unit))
            found[place] = found[place].model_copy(update={"where": where})
    return found


def _is_broken(finding: Finding, rule: Rule, keys: list[str]) -> bool:
    return (
        finding.rule == rule.rule
        and finding.verdict is Verdict.FAIL
        and finding.stage == "masked"
        and ", ".join(keys) in finding.scope
    )


def _failing(
    rule: MicrodataRule, frame: pd.DataFrame, variables: Variables, all_keys: Sequence[str], background: Background
) -> Failing:
    """Which records break the rule by some of its keys, None where it does not say.

    Where it counts records, equal ones are looked at once.
    """
    of: IntArray | None = None
    if isinstance(rule, FrequencyRule) and people_of(frame, variables) is None and len(all_keys):
        files = [frame] if background.original is None else [frame, background.original]
        columns = [file[name] for file in files for name in all_keys if name in file]
        classes = equivalence_classes([category_codes(column) for column in columns])
        of, first = classes.labels, np.empty(len(classes.sizes), dtype=np.int64)
        first[of] = np.arange(len(frame))
        original = None if background.original is None else background.original.iloc[first]
        frame, background = frame.iloc[first], replace(background, original=original, times=classes.sizes)

    def failing(keys: list[str]) -> BoolArray | None:
        found = rule.failing(KeyedRecords(frame, variables, keys, background=background))
        return found if of is None or found is None else np.asarray(found[of])

    return failing


def _where(
    failing: BoolArray, by_keys: Failing, keys: list[str], variables: Variables, records: _Records, unit: str
) -> Iterator[str]:
    """A sentence for each of the variables that matter most, the most first."""
    if records.few(failing):
        return
    names = keys if len(keys) > 1 else []
    looks = [partial(by_keys, [key for key in keys if key != name]) for name in names]
    without = in_threads(looks, threads())
    left = {name: found for name, found in zip(names, without, strict=True) if found is not None}
    total = int(failing.sum())
    for name in sorted(left, key=lambda each: int(left[each].sum()))[:_VARIABLES]:
        count = int(left[name].sum())
        if count > total - records.minimum_cell or records.few(failing & ~left[name]):
            continue
        told = f"fewer than {records.minimum_cell:,}" if records.few(left[name]) else f"{count:,}" if count else "none"
        says = f"{word(name)}: without it, {told} instead of {total:,} {unit} would break this rule."
        if worst := _categories(name, failing, variables, records):
            says += f" Most concerned: {'; '.join(f'{label} ({of} of its {n:,} {unit})' for label, of, n in worst)}."
        yield says


def _categories(name: str, failing: BoolArray, variables: Variables, records: _Records) -> list[tuple[str, str, int]]:
    """Category, share of its records that break the rule, and its records; of those where it is more than of all."""
    if variables[name].kind in (Kind.ITEMS, Kind.TEXT):
        return []
    codes, values = pd.factorize(records.frame[name], use_na_sentinel=False)
    sizes, broken = (np.bincount(some, minlength=len(values)) for some in (codes, codes[failing]))
    cell, kept = records.minimum_cell, [True] * len(values)
    for counts in (sizes, broken, sizes - broken):
        told = [int(count) if count >= cell or not count else None for count in counts]
        kept = [
            one and count is not None
            for one, count in zip(kept, safe_counts(told, int(counts.sum()), cell), strict=True)
        ]
    shares = broken / sizes
    overall = float(failing.mean())
    wanted = [at for at in range(len(values)) if kept[at] and shares[at] > overall]
    wanted = [at for at in wanted if not records.few(codes == at) and not records.few((codes == at) & failing)]
    worst = sorted(wanted, key=lambda at: (-shares[at], -sizes[at]))[:_CATEGORIES]
    return [(_label(values[at]), share(float(shares[at]), int(sizes[at]), cell), int(sizes[at])) for at in worst]


def _label(value: Any) -> str:
    text = "no value" if pd.isna(value) else f"'{as_label(value)}'"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
