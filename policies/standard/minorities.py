"""Minorities: a limit in shares of all people may be everybody of one small group, so that groups answer to it, too.

Looked at are the people of each category, band of a number, and pair of these, of a hundred or more. A limit is held
against a group only beyond chance in so many looks: the level is shared out among all groups and questions (Bonferroni;
Dunn 1961). What is not beyond chance is no reason to hold a file, as of some hundred groups a few always look bad.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd

from policies.reported_shares import reported_share
from policies.standard.reference_standard import LinkageLimits, ReferenceStandard
from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.declaration import Declaration
from sluice.ground.sentence import Saying, Sentences, as_fields
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.linkage.learned_intruder import LearnedIntruder, Reached
from sluice.risk.linkage.learned_linker import Candidates
from sluice.risk.people_of_records import groups_of_people
from sluice.risk.reference.prediction import Prediction, equivalence_test
from sluice.risk.reference.reference_attack import ReferenceAttack, some_of
from sluice.risk.small_groups import FEWEST, Agreement, ExposedGroup, Partition, chance_of_so_many, partitions
from sluice.utility.comparison import Comparison

_SAYS = Sentences(
    "small_groups",
    none="Nobody shares a category, or a band of a number, with {fewest} people or more, so that no group is judged "
    "by itself.",
    found="{who} finds the own record of {share:percent} of {n:,} {unit} of one group, {group}; {limit:percent} may be "
    "found.",
    sure="{who} is sure of a match, and right, for {share:percent} of {n:,} {unit} of one group, {group}; "
    "{limit:percent} may be.",
    keeps="{who} finds no group of {fewest} people or more beyond what is allowed for all and chance explains: "
    "{groups:,} groups were looked at, and {alone:,} of them that stand out attacked by an intruder of their own.",
    nearer="By prediction {measure} the release is nearer to up to {share:.1%} more of the people of {group} than a "
    "file they are not in; {limit:.1%} is tolerated.",
    among=" {groups:,} groups were looked at, and chance does not explain this one.",
    no_nearer="The release is nearer to no group of {fewest} people or more than is tolerated for all and chance "
    "explains: {groups:,} groups were looked at.",
)

SMALL_GROUPS = (
    Declaration(
        "small_groups",
        about="Small groups: what is a small share of all people may be everybody of one minority.",
        asks="In no group of 100 people or more, by a variable or two, are more people found, claimed rightly or "
        "approached by the release than the policy allows of all, beyond chance.",
        helps="One group is protected less than the others: mask it by itself with strata, or more strongly; recode "
        "the categories that set it apart, or merge it with a like group.",
        source="Source: Dunn (1961), for the error of many looks.",
    ),
)

_LEVEL = 0.05
_PEOPLE = 200_000  # most people who are parted into groups
_ALONE = 6  # groups that are attacked by an intruder of their own
_FEWEST_JUDGED = 20
_FEWEST_EXAMPLES = 5  # claims that were right more often than wrong, before anything is claimed by a lead
_QUESTIONS = (
    6  # of each group: found, and sure in two ways, by the intruder who learned from all, and by one of its own
)
_TIMES = 2  # the limits of all people: where all are masked alike, some groups are still found more easily than others


@dataclass(frozen=True)
class _Look:
    """How often an intruder succeeds with the people of one group, and the probability of as much at the limit."""

    names: tuple[str, ...]
    called: tuple[str | None, ...]
    what: str  # found or sure
    share: float
    people: int
    limit: float
    chance: float


def judge_small_groups(
    limits: LinkageLimits, reached: Reached, who: str, files: Comparison, intruder: LearnedIntruder, scope: str,
    known: Sequence[int] | None = None,
) -> Finding:  # fmt: skip
    """Whom of each group an intruder finds who learned from everybody; of groups that stand out, also one who learned
    from their own people alone.

    known : positions of the variables that the intruder knows; all when not given
    cost  : that of `partitions` and `Agreement`, of at most 200,000 people; and of linking up to 300 people of each of
            six groups
    """
    units = groups_of_people(files.original, files.variables)
    chance = 1 / len(files.masked)
    compared = {each.name for each in intruder.linker.compared}
    names = [name for name in files.recoded if name in compared and name in files.masked]
    rows = some_of(len(files.original), min(len(files.original), _PEOPLE), files.rng)
    rows = np.union1d(rows, reached.rows)
    places = np.searchsorted(rows, reached.rows)
    recoded, masked = files.recoded[names].iloc[rows], files.masked[names].iloc[rows]
    agreement = Agreement.of(recoded, masked, names) if names else None
    count, looks, exposed = 0, list[_Look](), list[ExposedGroup]()
    for partition in partitions(files.original.iloc[rows], files.variables):
        count += len(partition.called)
        looks += _looks(partition, partition.of[places], reached, limits, chance, units)
        if agreement:
            exposed = sorted([*exposed, *agreement.exposed(partition)], key=lambda each: -each.standing_out)[:_ALONE]
    if not count:
        return _finding(Verdict.PASS, _SAYS.none(fewest=FEWEST), limits, scope, files, 0)
    played = 0
    for each in exposed:
        own = intruder.of_group(rows[each.rows], units, files.rng)
        if own is not None and len(own.judged) >= _FEWEST_JUDGED:
            played += 1
            inside = np.zeros(len(own.judged), np.int32)
            group = Partition(each.names, inside, (each.called,))
            looks += _looks(group, inside, own.play(known), limits, chance, units)
    allowed = _LEVEL / (_QUESTIONS * count)
    worst = min(looks, key=lambda each: (each.chance, -each.share), default=None)
    if worst is None or worst.chance > allowed:
        says = _SAYS.keeps(who=who, fewest=FEWEST, groups=count, alone=played)
        return _finding(Verdict.PASS, says, limits, scope, files, count)
    observed, share = reported_share(round(worst.share * worst.people), worst.people, files.minimum_cell)
    sentence = _SAYS.found if worst.what == "found" else _SAYS.sure
    says = sentence(
        who=who, group=_called(worst.names, worst.called, files.variables), share=share,
        n=worst.people, unit=files.unit, limit=worst.limit,
    ) + _SAYS.among(groups=count)  # fmt: skip
    return _finding(Verdict.FAIL, says, limits, scope, files, count, observed, worst.limit)


def _looks(
    partition: Partition, of: npt.NDArray[np.int32], reached: Reached, limits: LinkageLimits, chance: float,
    units: IntArray,
) -> Iterator[_Look]:  # fmt: skip
    """On each group of which enough people were judged, where more of them succeed than the limit allows.

    of : (q,) group of each judged person
    """
    right = reached.right.astype(np.float64)
    for what, success, limit in (
        ("found", reached.found, _TIMES * limits.found + chance),
        ("sure", right, _TIMES * limits.claims),
        ("sure", right_by_lead(reached), _TIMES * limits.claims),
    ):
        judged = of >= 0
        people = np.bincount(of[judged], minlength=len(partition.called))
        sums = np.bincount(of[judged], success[judged], len(partition.called))
        for group in np.flatnonzero((people >= _FEWEST_JUDGED) & (sums > limit * people)):
            mine = of == group
            cases = independent_cases(success[mine], units[reached.rows[mine]])
            share = float(sums[group] / people[group])
            p = chance_of_so_many(share * cases, cases, limit)
            yield _Look(partition.names, partition.called[group], what, share, int(people[group]), limit, p)


def right_by_lead(reached: Reached) -> FloatArray:
    """Of whom the intruder is sure, and right, who claims whatever leads the second best by more than so much: where
    few stand out, their lead tells it, and no temperature that is right for all. Shape (q,), 0 or 1.

    The lead is the one from which most more claims were right than wrong of people whose records are known.
    """
    lead, right = _lead(reached.tuned)
    order = np.argsort(-lead, kind="stable")
    gain = np.cumsum(np.where(right[order], 1, -1))
    best = int(gain.argmax())
    if gain[best] < _FEWEST_EXAMPLES:
        return np.zeros(len(reached.rows))
    judged, is_right = _lead(reached.candidates)
    return np.asarray((judged >= lead[order[best]]) & is_right, np.float64)


def _lead(candidates: Candidates) -> tuple[FloatArray, BoolArray]:
    """By how much the best record leads the second, and whether it is the own one, shapes (q,)."""
    own, others = candidates.own, candidates.scores
    second = others[:, 1] if others.shape[1] > 1 else np.full(len(own), -np.inf)
    second = np.where(candidates.ties > 1, others[:, 0], second)
    right = own > others[:, 0]
    return np.where(right, own - others[:, 0], others[:, 0] - np.maximum(own, second)), right


def independent_cases(success: FloatArray, units: IntArray) -> int:
    """As many independent cases as tell what these tell: people of one unit succeed or fail together."""
    return min(len(success), len(np.unique(units)))


def _called(names: tuple[str, ...], called: tuple[str | None, ...], variables: Variables) -> str:
    """A category's own name only where it is declared, so no value of the data; groups are no smaller than FEWEST."""
    words = []
    for name, label in zip(names, called, strict=True):
        declared = variables[name].categories
        named = label is not None and declared is not None and label in declared
        words.append(f"{name} '{label}'" if named else f"one group by {name}")
    return " and ".join(words)


def judge_nearness(
    standard: ReferenceStandard,
    found: ReferenceAttack,
    original: pd.DataFrame,
    variables: Variables,
    without_own: Callable[[], Prediction | None] = lambda: None,
) -> Finding:
    """Whether the release is nearer to the people of some group than a file without them, by more than the margin.

    found       : the attack
    original    : typed by `variables`, the rows as they were attacked
    without_own : what the same people find in the released file but their own record, where that is known. Asked only
                  where a group fails: noise fills the space around a group with records of others, and where these
                  alone come as near, nobody is betrayed
    """
    margin = standard.margin * found.sampled
    looked = {True: 0, False: 0}  # at groups by two variables, and by one: half of the error for either
    chances, members = [], []
    for partition in partitions(original.iloc[found.rows], variables):
        crossed = len(partition.names) > 1
        looked[crossed] += len(partition.called)
        for group, measure in product(range(len(partition.called)), standard.binding):
            mine = partition.of == group
            release, reference = (getattr(each, measure)[mine] for each in (found.released, found.reference))
            test = equivalence_test(release, reference, margin, standard.alpha)
            if test.statistic > margin:
                called = _called(partition.names, partition.called[group], variables)
                chances.append((test.p_value, -test.statistic, crossed, called, measure))
                members.append(np.flatnonzero(mine))
    groups = sum(looked.values())

    def is_beyond(p_value: float, crossed: bool) -> bool:
        return p_value * looked[crossed] * len(standard.binding) < standard.alpha / 2

    failing = [(*each, mine) for each, mine in zip(chances, members, strict=True) if is_beyond(each[0], each[2])]
    others = without_own() if failing else None
    if others is not None:
        failing = [each for each in failing if _is_own(standard, found, others, margin, each[4], each[5])]
    says = _SAYS.no_nearer(fewest=FEWEST, groups=groups) if groups else _SAYS.none(fewest=FEWEST)
    observed = None
    if failing:
        _, less, _, called, measure, _ = min(failing, key=lambda each: each[:5])
        observed = -less
        says = _SAYS.nearer(measure=measure, share=observed, group=called, limit=margin) + _SAYS.among(groups=groups)
    return Finding(
        rule="small_groups", verdict=Verdict.FAIL if failing else Verdict.PASS, **as_fields(says),
        scope="nearest records", stage="reference", observed=observed, limit=margin, attempted=groups,
        completed=groups,
    )  # fmt: skip


def _is_own(
    standard: ReferenceStandard, found: ReferenceAttack, others: Prediction, margin: float, measure: str, mine: IntArray
) -> bool:
    """Whether their own records bring the release nearer to these people, for more than half of the margin."""
    whole, without = (getattr(each, measure)[mine] for each in (found.released, others))
    return equivalence_test(whole, without, margin / 2, standard.alpha).statistic > margin / 2


def _finding(
    verdict: Verdict, says: Saying, limits: LinkageLimits, scope: str, files: Comparison, groups: int,
    observed: float | None = None, limit: float | None = None,
) -> Finding:  # fmt: skip
    return Finding(
        rule="small_groups", verdict=verdict, **as_fields(says), scope=scope, stage="reference", observed=observed,
        limit=limit, attempted=groups, completed=groups, binding=limits.binding,
    )  # fmt: skip
