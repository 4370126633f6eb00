"""Copied values: people to whom a released record is closer, or more nearly equal, than reference and chance explain;
people whom nobody resembles, and who stand in the release as they were; people alone with a value that was left as is.

Where it is known whose each released record is, a unique value counts that stands on its owner's record. Where it is
not, a value may stand anywhere (permuting and drawing leave it somewhere by design), and what counts is whether the
record that holds it tells the owner's other values.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import starmap
from typing import Any

import numpy as np
import numpy.typing as npt

from policies.reported_shares import natural_frequency, reported_share
from policies.standard.preconditions import cannot_be_compared
from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.comparable_values import comparable_values, is_missing
from sluice.ground.declaration import Declaration
from sluice.ground.errors import DataError
from sluice.ground.sentence import Sentence, Sentences, as_fields
from sluice.ground.variables import GROUPS, NAMES
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.coded_points import Points
from sluice.risk.coding import Coding
from sluice.risk.people_of_records import groups_of_people
from sluice.risk.reference.copies import (
    CopyCount,
    combinations_by_chance,
    count_copies,
    exact_copies,
    lone_copies,
)
from sluice.risk.reference.reference_attack import ReferenceAttack, some_of
from sluice.risk.reference.unique_values import unique_values, values_beside_unique_ones
from sluice.risk.row_groups import value_ranks
from sluice.risk.spread import COARSE, EXACT, FINE, on_one_grid
from sluice.utility.comparison import Comparison

_ALLOWED = ", and chance and policy allow {allowed:per_10000} in every 10,000 more."
_FOUND = (
    "(compared {how}), and are found by it on their own released record; {expected:per_10000} in every 10,000 would be "
    f"found by chance{_ALLOWED}"
)
_UNIQUE = Sentences(
    "unique_values",
    beside="{share:People_10000} are alone with their value of {name} (compared {how}), which one released record "
    "has, and have the value of {other} in the same row; {expected:per_10000} in every 10,000 have the "
    f"value that the next person in the order of the first has{_ALLOWED}",
    alone=f"{{share:People_10000}} are alone with their value of {{name}} {_FOUND}",
    together=f"{{share:People_10000}} are alone with their {{name}} and {{other}} together {_FOUND}",
    nobody="No value of one person alone occurs in exactly one released record.",
)

UNIQUE_VALUES = (
    Declaration(
        "unique_values",
        about="Unique values: people who are alone with a value, or a pair of values, that masking left as it was.",
        asks="No more people are given away by a value that they alone have than reference, chance and the policy "
        "allow.",
        helps="Values that one person alone has came through: round, group, swap or smooth the variables named, also "
        "where they are mere measurements; removing digits that nobody needs costs an analyst nothing.",
        needs="Release at least one variable of the original, so that something can be compared.",
    ),
)

_SAYS = Sentences(
    "closest_records",
    not_beyond_chance=" More than that, but not beyond chance.",
    found="For {share:people_1000} the released file holds a record as near as only the nearest "
    "{tail_quantile:per_1000} in every 1,000 would find in a file that they are not in; for {limit:per_1000} in every "
    "1,000 it may.",
)

_COPIES = (
    "Copies: people to whom a released record is closer, or more nearly equal, than the reference and chance explain."
)
COPIES = (
    Declaration(
        "closest_records",
        about=_COPIES,
        asks="As near as only the nearest few of the reference come, a released record comes to no more people than "
        "the policy's tail_share.",
        helps="The closest few are too close although most people are safe: look for records with few values, zeros or "
        "defaults that masking leaves alone, and recode or suppress these.",
    ),
    Declaration(
        "near_copies",
        about=_COPIES,
        asks="Nearly equal released records are held by no more people than reference, chance and the policy's "
        "copies_excess allow.",
        helps="Some records came through almost unchanged: treat the variables that the report shows as hardly "
        "changed, for small noise on a single variable hides nobody.",
    ),
    Declaration(
        "exact_copies",
        about=_COPIES,
        asks="People occur in the release value for value no oftener than reference, chance and the policy's "
        "copies_excess allow.",
        helps="Some records stand in the file value for value: mask at least one more variable of theirs, and recode "
        "categories further (spectral_swapping takes them).",
    ),
)
TWINS = (
    "; {expected:per_10000} in every 10,000 would have such a duplicate in a file that they are not in, and chance and "
    "policy allow {allowed:per_10000} in every 10,000 more."
)
_NEAR = Sentence("near_copies.found", f"{{share:People_10000}} have a nearly equal record in the release{TWINS}")
_EXACT = Sentence("exact_copies.found", f"{{share:People_10000}} occur in the release value for value{TWINS}")

_COMBINED = Sentence(
    "copies.combined",
    " The expected number includes people whose rarest value is now part of another record, next to common values.",
)

Column = npt.NDArray[Any]
Recount = Callable[[], Iterable[CopyCount]]
"""The counts of a second look, as if the file told nothing of who has which combination of values; all must pass."""

TEN_THOUSAND = 10_000  # people of whom copies are counted: they are rare
_TIED = 1e-9  # distances that differ by no more are equal


def judge_closest(
    standard: ReferenceStandard,
    coding: Coding,
    original: Points,
    released: Points,
    found: ReferenceAttack,
    files: Comparison,
) -> Finding:
    """The tail of the distance curve, where the margin would hide the people who are hit hardest."""
    from scipy.stats import binom  # loaded where it is needed

    close = np.quantile(found.reference.distance, standard.tail_quantile / found.size_ratio) - _TIED
    is_close = found.whole < close
    count, n, minimum_cell = int(is_close.sum()), found.attacked, files.minimum_cell
    limit = standard.tail_quantile + (standard.tail_share - standard.tail_quantile) * found.sampled

    def verdict_on(count: int, limit: float) -> Verdict:
        if count <= limit * n:
            return Verdict.PASS
        by_chance = binom.sf(count - 1, n, min(1.0, limit)) >= standard.alpha
        return Verdict.REVIEW if by_chance else Verdict.FAIL

    def second() -> float | None:
        """The limit where combinations stand together by chance; none where it is passed."""
        if (_own_distance(original, released, found.rows) < close).mean() > limit:
            return None
        combined = combinations_by_chance(original, released, coding.widths, found.rows, max(0.0, close))
        excess = max(each.excess for each in combined.beyond(is_close, np.zeros(n, np.bool_)))
        allowed = limit - standard.tail_quantile
        common = (is_close & ~combined.rare).mean()
        return count / n - excess + allowed if common <= limit and excess <= allowed else None

    verdict, raised = verdict_on(count, limit), None
    if verdict is not Verdict.PASS and (raised := second()) is not None:
        verdict, limit = Verdict.PASS, min(1.0, raised)
    share, _ = reported_share(count, n, minimum_cell)
    said = natural_frequency(count / n, n, minimum_cell)
    says = _SAYS.found(share=said, tail_quantile=standard.tail_quantile, limit=limit)
    says += _COMBINED() if raised is not None else _SAYS.not_beyond_chance() if verdict is Verdict.REVIEW else ()
    return Finding(
        rule="closest_records", verdict=verdict, **as_fields(says),
        stage="reference", observed=share, limit=limit, attempted=found.records, completed=n,
    )  # fmt: skip


def judge_near_copies(
    standard: ReferenceStandard,
    coding: Coding,
    original: Points,
    released: Points,
    found: ReferenceAttack,
    files: Comparison,
) -> Finding:
    # Near is half as far as the closest of the reference, natural twins apart: chance hardly brings anybody there.
    apart = found.reference.distance[found.reference.distance > _TIED]
    near = float(np.quantile(apart, standard.tail_quantile / found.size_ratio)) / 2 if len(apart) else 0.0
    near += _TIED
    is_near, by_others = found.whole <= near, found.reference.distance <= near
    count = count_copies(is_near, by_others, found.size_ratio)

    def second() -> Iterator[CopyCount]:
        yield _of(count, _own_distance(original, released, found.rows) <= near)
        combined = combinations_by_chance(original, released, coding.widths, found.rows, near)
        yield count_copies(is_near & ~combined.rare, by_others & ~combined.rare, found.size_ratio)
        yield from combined.beyond(is_near, by_others)

    return judge_copies(standard, "near_copies", _NEAR, count, found.sampled, found.records, files.minimum_cell, second)


def judge_exact_copies(standard: ReferenceStandard, coding: Coding, files: Comparison) -> Finding:
    # Over all records. The reference is other people's records of the original even where there is a holdout, which
    # has no recoded form: both hold as many natural twins.
    n, m = len(files.recoded), len(files.masked)
    reference, counts = some_of(n, min(n, m), files.rng), []
    for share in (EXACT, FINE):

        def pairs(share: float = share) -> Iterator[tuple[Column, Column]]:
            return (on_one_grid(*pair, share) for pair in coding.labels(files.recoded, files.masked))

        found, by_others = exact_copies(pairs(), n, reference)

        def counted(
            people: BoolArray | None = None, found: BoolArray = found, by_others: BoolArray = by_others
        ) -> CopyCount:
            among = np.ones(n, np.bool_) if people is None else people
            return count_copies(found & among, by_others & among, m / n)

        counts.append((counted(), partial(_recount, counted, pairs, found, by_others)))
    return _judge_worst(standard, "exact_copies", _EXACT, counts, min(1.0, m / n), files)


def _recount(
    counted: Callable[[BoolArray], CopyCount], pairs: Callable[[], Iterator[tuple[Column, Column]]], found: BoolArray,
    by_others: BoolArray,
) -> Iterator[CopyCount]:  # fmt: skip
    """The second look at records that are equal, by codes of their values."""
    before, after = (np.column_stack(each) for each in zip(*starmap(_codes, pairs()), strict=True))
    if len(before) == len(after):
        yield _of(counted(np.ones(len(found), np.bool_)), found & (before == after).all(axis=1))
    combined = combinations_by_chance(before, after, (1,) * before.shape[1], np.arange(len(before)), 0.0)
    yield counted(~combined.rare)
    yield from combined.beyond(found, by_others)


def _codes(before: Column, after: Column) -> tuple[FloatArray, FloatArray]:
    ranks, _ = value_ranks(np.concatenate([before, after]))
    return ranks[: len(before)].astype(np.float64), ranks[len(before) :].astype(np.float64)


def _of(count: CopyCount, found: BoolArray) -> CopyCount:
    """The same count of these alone."""
    return replace(count, found=int(found.sum()))


def _own_distance(original: Points, released: Points, rows: IntArray) -> FloatArray:
    """From each person to the released record in their row; of files of other lengths none is theirs."""
    if len(original) != len(released):
        return np.full(len(rows), np.inf)
    parts = [rows[start : start + TEN_THOUSAND] for start in range(0, len(rows), TEN_THOUSAND)]
    return np.concatenate([np.linalg.norm(original[part] - released[part], axis=1) for part in parts])


def _judge_worst(
    standard: ReferenceStandard,
    rule: str,
    sentence: Sentence,
    counts: Sequence[tuple[CopyCount, Recount]],
    sampled: float,
    files: Comparison,
    names: Sequence[Sequence[str]] = (),
) -> Finding:
    """On each count; of those that pass no second look, or of all, the one with most copies beyond chance."""
    findings = [
        judge_copies(
            standard, rule, sentence, count, sampled, len(files.recoded), files.minimum_cell, recount,
            names[place] if names else (),
        )
        for place, (count, recount) in enumerate(counts)
    ]  # fmt: skip
    worst = max(range(len(counts)), key=lambda i: (findings[i].verdict is not Verdict.PASS, counts[i][0].excess))
    return findings[worst]


def judge_copies(
    standard: ReferenceStandard,
    rule: str,
    sentence: Sentence,
    count: CopyCount,
    sampled: float,
    records: int,
    minimum_cell: int,
    second: Recount = list,
    names: Sequence[str] = (),
) -> Finding:
    """Whether there are more copies than chance and the policy allow."""
    tolerated = standard.copies_excess * sampled
    by_chance = _if_all_pass(second(), tolerated) if count.excess > tolerated else None
    if by_chance is not None:  # whom it does not count is found in the reference as well
        expected = (count.found - by_chance.found) / count.records + by_chance.expected
        count = replace(count, expected=expected, chance=by_chance.chance)
    share, _ = reported_share(count.found, count.records, minimum_cell)
    said = natural_frequency(count.found / count.records, count.records, minimum_cell, TEN_THOUSAND)
    says = sentence(share=said, names=names, expected=count.expected, allowed=count.chance + tolerated)
    return Finding(
        rule=rule, verdict=Verdict.PASS if by_chance or count.excess <= tolerated else Verdict.FAIL,
        **as_fields(says + (_COMBINED() if by_chance else ())),
        stage="reference", observed=share, limit=min(1.0, count.expected + count.chance + tolerated),
        attempted=records, completed=count.records,
    )  # fmt: skip


def _if_all_pass(counts: Iterable[CopyCount], tolerated: float) -> CopyCount | None:
    """The last of the counts; None where one is beyond what is tolerated."""
    last = None
    for last in counts:
        if last.excess > tolerated:
            return None
    return last


LONE_COPIES = (
    Declaration(
        "lone_copies",
        about="Lone copies: people whom nobody resembles, and who stand in the release with values that masking left "
        "as they were.",
        asks="Nobody who is alone with values stands in the release with them as they were, beyond what the policy "
        "tolerates.",
        helps="People whom nobody resembles kept their values of the variables named: mask these variables together "
        "instead of one of them strongly, or group them until nobody is alone.",
    ),
)
_ALONE = Sentence(
    "lone_copies.found",
    "{share:People_10000} are alone with their values of {names:commas}, and occur in the release with "
    f"them{TWINS}",
)

_MOST = 0.5  # of a variable's values are as they were: it is kept


def judge_lone_copies(standard: ReferenceStandard, files: Comparison) -> Finding:
    """Whether more lone people are copied than chance and the standard's `copies_excess` allow.

    Looked at by all variables, and by those alone of which masking kept most values: else one variable that is
    perturbed beyond recognition would hide that all others are verbatim. Each with numbers as they are, to a hundredth
    of the spread, and to a tenth: else a little noise would make verbatim values look masked.

    files : paired
    cost  : O(n log n) for each variable, six times
    """
    recoded = files.recoded

    def pair(name: str, share: float) -> tuple[Column, Column]:
        return on_one_grid(*comparable_values(recoded[name], files.masked[name]), share)

    names = [n for n, variable in files.released.items() if n in recoded.columns and variable.role not in GROUPS]
    counts, names_of = [], []
    for share in (EXACT, FINE, COARSE):
        kept = [name for name in names if _share_equal(*pair(name, share)) >= _MOST]
        for chosen in (names, kept):
            if chosen:

                def pairs(chosen: Sequence[str] = chosen, share: float = share) -> Iterator[tuple[Column, Column]]:
                    return (pair(name, share) for name in chosen)

                count, lone, found = lone_copies(pairs(), len(recoded), len(files.masked))

                def counted(people: BoolArray, count: CopyCount = count, found: BoolArray = found) -> CopyCount:
                    return _of(count, found & people)

                counts.append((count, partial(_recount, counted, pairs, found, ~lone)))
                names_of.append(chosen)
    if not counts:
        return cannot_be_compared("lone_copies")
    return _judge_worst(standard, "lone_copies", _ALONE, counts, 1.0, files, names_of)


def _share_equal(before: Column, after: Column) -> float:
    return float(((before == after) | (is_missing(before) & is_missing(after))).mean())


def judge_unique_values(standard: ReferenceStandard, files: Comparison) -> Finding:
    """Whether more people are found by a unique value than chance and the standard's `unique_values_excess` allow.

    The variable or pair with the most of them beyond that decides.

    raises : DataError when the files are paired and differ in length
    cost   : see `unique_values`
    """
    recoded, masked = files.recoded, files.masked
    if files.paired and len(recoded) != len(masked):
        raise DataError("Unique values are looked for on each person's own record; the files differ in length.")
    names = [n for n, variable in files.released.items() if n in recoded.columns and variable.role not in NAMES]
    columns = {name: partial(comparable_values, recoded[name], masked[name]) for name in names}
    if not columns or not len(recoded) or not len(masked):
        return cannot_be_compared("unique_values")
    least = standard.unique_values_excess
    units = groups_of_people(files.original, files.variables)
    found = unique_values(columns, least) if files.paired else values_beside_unique_ones(columns, units)
    if not found:
        return Finding(
            rule="unique_values", verdict=Verdict.PASS, stage="reference", observed=0.0, attempted=len(recoded),
            completed=len(recoded), **as_fields(_UNIQUE.nobody()),
        )  # fmt: skip
    worst = max(found, key=lambda each: each.count.excess)
    count, tolerated = worst.count, standard.unique_values_excess
    share, _ = reported_share(count.found, count.records, files.minimum_cell)
    said = natural_frequency(count.found / count.records, count.records, files.minimum_cell, TEN_THOUSAND)
    allowed = count.chance + tolerated
    sentence = _UNIQUE.beside if not files.paired else _UNIQUE.alone if len(worst.names) == 1 else _UNIQUE.together
    named = dict(zip(("name", "other"), worst.names, strict=False))
    says = sentence(share=said, how=worst.how, expected=count.expected, allowed=allowed, **named)
    return Finding(
        rule="unique_values", verdict=Verdict.PASS if count.excess <= tolerated else Verdict.FAIL, stage="reference",
        **as_fields(says),
        scope=", ".join(worst.names), observed=share, limit=min(1.0, count.expected + allowed), attempted=count.records,
        completed=count.records,
    )  # fmt: skip
