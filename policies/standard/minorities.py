"""Minorities: a limit in shares of all people may be everybody of one small group, so that groups answer to it, too.

Looked at are the people of each category, band of a number, and pair of these, of a hundred or more, and those whom a
tree sets apart by all variables, by the household's, and by how far they are from the middle. Intruders who learn from
one half of the people rehearse on that half which groups they would do best with, and are judged by all others of these
groups. The choice saw nobody who is judged (data splitting; Cox 1975), so a limit is held against a group at a level
that is shared out among the questions really asked (Bonferroni; Dunn 1961), not among all groups.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, product
from typing import Self

import numpy as np
import pandas as pd

from policies.reported_shares import reported_share
from policies.standard.reference_standard import LinkageLimits, ReferenceStandard
from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.declaration import Declaration
from sluice.ground.sentence import Saying, Sentences, as_fields
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.grown_groups import grown_groups
from sluice.risk.linkage.learned_intruder import LearnedIntruder, Reached
from sluice.risk.linkage.match_claims import Calibration, Signs
from sluice.risk.people_of_records import groups_of_people
from sluice.risk.reference.prediction import Excesses, Prediction, equivalence_test
from sluice.risk.reference.reference_attack import ReferenceAttack, some_of
from sluice.risk.small_groups import FEWEST, Group, Rehearsal, agreeing_most, chance_of_so_many, groups_of, partitions
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
    "{groups:,} groups were looked at in the half that was learned from, and {judged:,} that stand out were judged by "
    "the people of the other half.",
    nearer="By prediction {measure} the release is nearer to up to {share:percent} more of the people of {group} than "
    "a file they are not in; {limit:percent} is tolerated.",
    among=" {groups:,} groups were looked at, and chance does not explain this one.",
    no_nearer="The release is nearer to no group of {fewest} people or more than is tolerated for all and chance "
    "explains: {groups:,} groups were looked at.",
)

SMALL_GROUPS = (
    Declaration(
        "small_groups",
        about="Small groups: what is a small share of all people may be everybody of one minority.",
        asks="In no group of 100 people or more, by a variable or two, are more people found, claimed rightly or "
        "approached by the release than the policy allows of all, beyond chance; nor are more found of those whom a "
        "tree over all variables, the household's and the distance from the middle sets apart.",
        helps="One group is protected less than the others: mask it by itself with strata, or more strongly; recode "
        "the categories that set it apart, or merge it with a like group.",
        source="Sources: Cox (1975), for groups that are chosen on one half of the people and judged by the other; "
        "Dunn (1961), for the error of several questions; Breiman and others (1984), for the tree.",
    ),
)

_LEVEL = 0.05
_ROUNDING = 1e-9  # by which shares that are worked out together may be off
_PEOPLE = 200_000  # most people who are parted into groups
_REHEARSED = 2_000  # most people of those learned from who are looked for, to choose groups
_ASIDE = 3  # households, or people, of a group who were set aside, from which they tell how others fare
_JUDGED = 6  # groups that are judged
_FIRST, _MOST = 150, 1_000  # people of a group who are judged at first, and at most
_TIMES = 2  # the limits of all people: where all are masked alike, some groups are still found more easily than others


@dataclass(frozen=True)
class _Look:
    """How often an intruder succeeds with the people of one group, and the probability of as much at the limit."""

    group: Group
    what: str  # found or sure
    share: float
    people: int
    limit: float
    chance: float

    @classmethod
    def at(cls, group: Group, what: str, success: FloatArray, units: IntArray, limit: float) -> Self:
        """success, units : of each judged person, shapes (q,)"""
        share, cases = float(success.mean()), independent_cases(success, units)
        return cls(group, what, share, len(success), limit, chance_of_so_many(share * cases, cases, limit))


def judge_small_groups(
    limits: LinkageLimits, reached: Reached, who: str, files: Comparison, intruder: LearnedIntruder, scope: str,
    known: Sequence[int] | None = None,
) -> Finding:  # fmt: skip
    """Whom of groups that stand out an intruder finds who learned from everybody, and one who learned from their own
    people alone.

    known : positions of the variables that the intruder knows; all when not given
    cost  : that of `partitions` and `grown_groups`, of at most 200,000 people; of linking up to 2,000 people three
            times to choose groups; and up to 300 to learn from and twice 150 to 1,000 to judge of each of six groups
    """
    units, rng = groups_of_people(files.original, files.variables), np.random.default_rng([intruder.seed, 2])
    chance = 1 / len(files.masked)
    rows = some_of(len(files.original), min(len(files.original), _PEOPLE), rng)
    rehearsal = _rehearsal(files, intruder, rows, known)
    may_be = _TIMES * limits.found + chance, _TIMES * limits.claims
    people = files.original.iloc[rows]
    found = np.zeros(len(rows))
    found[rehearsal.people] = rehearsal.found
    grown = grown_groups(people, files.variables, units[rows], rehearsal.learners, found)
    count, groups = rehearsal.exposed(chain(partitions(people, files.variables), grown), may_be, _JUDGED)
    if not count:
        return _finding(Verdict.PASS, _SAYS.none(fewest=FEWEST), limits, scope, files, 0)
    looks = list[_Look]()
    for group in groups:
        learned = rehearsal.learners[group.rows]
        judged = rng.permutation(rows[group.rows[~learned]])[:_MOST]
        first, rest = np.sort(judged[:_FIRST]), np.sort(judged[_FIRST:])
        own = intruder.of_group(rows[group.rows[learned]], first, units, rng)
        for each in (reached.of_others(first), None if own is None else own.play(known)):
            if each is not None:
                looks += _looks(group, each, rest, may_be, units)
    allowed = _LEVEL / max(1, len(looks))
    worst = min(looks, key=lambda each: (each.chance, -each.share), default=None)
    if worst is None or worst.chance > allowed:
        says = _SAYS.keeps(who=who, fewest=FEWEST, groups=count, judged=len(groups))
        return _finding(Verdict.PASS, says, limits, scope, files, count)
    observed, share = reported_share(round(worst.share * worst.people), worst.people, files.minimum_cell)
    sentence = _SAYS.found if worst.what == "found" else _SAYS.sure
    says = sentence(
        who=who, group=_called(worst.group.names, worst.group.called, files.variables), share=share,
        n=worst.people, unit=files.unit, limit=worst.limit,
    ) + _SAYS.among(groups=count)  # fmt: skip
    return _finding(Verdict.FAIL, says, limits, scope, files, count, observed, worst.limit)


def _rehearsal(files: Comparison, intruder: LearnedIntruder, rows: IntArray, known: Sequence[int] | None) -> Rehearsal:
    """What the intruder reaches of those of these people who are learned from, each by what the other part teaches or
    by a distance: where few are hardly masked, weights that were learned from everybody may see none of them."""
    linker = intruder.linker
    compared = {linker.names[at] for at in (range(len(linker.names)) if known is None else known)}
    names = [name for name in files.recoded if name in compared and name in files.masked]
    learners = np.isin(rows, intruder.learning)
    among = rows[learners]
    single = partitions(files.original.iloc[rows], files.variables, pairs=False)
    best = agreeing_most(
        files.recoded[names].iloc[among], files.masked[names].iloc[among], _REHEARSED,
        (each.of[learners].astype(np.int64) for each in single),
    )  # fmt: skip
    people, candidates = intruder.rehearsed(among[best], known)
    signs = [Signs.of(each, Calibration.learn(each).temperature) for each in candidates]

    def rightly(group: IntArray) -> IntArray:
        return np.unique(np.concatenate([each.claimed_rightly(group) for each in signs]))

    found = np.max([each.found for each in candidates], axis=0)
    return Rehearsal(learners, np.searchsorted(rows, people), found, rightly)


def _looks(
    group: Group, reached: Reached, rest: IntArray, may_be: tuple[float, float], units: IntArray
) -> tuple[_Look, _Look]:
    """How many of a group are found, and surely, at the level of the limits.

    reached : of the people who are judged at first
    rest    : those who are judged as well, unless so few of the first succeed that nothing could come of it: who stops
              only where nothing is held against the file needs no correction for it
    """
    judged = [reached]
    if len(rest) and any(2 * success.mean() > limit for success, limit in zip(_success(reached), may_be, strict=True)):
        judged.append(reached.of_others(rest))
    of = units[np.concatenate([each.rows for each in judged])]
    parts = zip(*(_success(each) for each in judged), strict=True)
    found, sure = (
        _Look.at(group, what, np.concatenate(part), of, limit)
        for what, part, limit in zip(("found", "sure"), parts, may_be, strict=True)
    )
    return found, sure


def _success(reached: Reached) -> tuple[FloatArray, FloatArray]:
    return reached.found, reached.right.astype(np.float64)


def independent_cases(success: FloatArray, units: IntArray) -> int:
    """As many independent cases as tell what these tell: people of one unit succeed or fail together, and a firm of
    sixty weighs as sixty (Kish 1965, of clusters of different sizes)."""
    sizes = np.unique(units, return_counts=True)[1].astype(np.float64)
    return max(1, round(float(len(success) ** 2 / (sizes**2).sum())))


def _called(names: tuple[str, ...], called: tuple[str | None, ...], variables: Variables) -> str:
    """A category's own name only where it is declared, so no value of the data; groups are no smaller than FEWEST."""
    words = []
    for name, label in zip(names, called, strict=True):
        declared = variables[name].categories if label is not None else None
        named = declared is not None and label in declared
        words.append(f"{name} '{label}'" if named else f"one group by {name}")
    return " and ".join(words)


@dataclass(frozen=True)
class Aside:
    """People who were set aside, typed by the original's variables.

    units : shape (n,), who belongs together of them
    read  : what those who were attacked find in the whole released file, and what these people do
    """

    people: pd.DataFrame
    units: IntArray
    read: Callable[[], tuple[Prediction, Prediction]]


def judge_nearness(
    standard: ReferenceStandard,
    found: ReferenceAttack,
    original: pd.DataFrame,
    variables: Variables,
    without_own: Callable[[], Prediction | None] = lambda: None,
    aside: Aside | None = None,
) -> Finding:
    """Whether the release is nearer to the people of some group than a file without them, by more than the margin.

    found       : the attack
    original    : typed by `variables`, the rows as they were attacked
    without_own : what the same people find in the released file but their own record, where that is known. Asked only
                  where a group fails: noise fills the space around a group with records of others, and where these
                  alone come as near, nobody is betrayed
    aside       : people set aside, where the own record is not known. Of a small group the file of them that is the
                  reference holds a few households, each with several records alike, and a synthetic one does not; and
                  all of the group look at the same few. So the group fails only if the release is nearer to it than to
                  those of it who were set aside, too
    """
    margin = standard.margin * found.sampled
    looked = {True: 0, False: 0}  # at groups by two variables, and by one: half of the error for either
    chances, members = [], []
    excesses = {
        measure: Excesses(getattr(found.released, measure), getattr(found.reference, measure))
        for measure in standard.binding
    }
    for partition in partitions(original.iloc[found.rows], variables):
        crossed = len(partition.names) > 1
        looked[crossed] += len(partition.called)
        beyond = {measure: each.of_groups(partition.of, len(partition.called)) for measure, each in excesses.items()}
        for group, measure in product(range(len(partition.called)), standard.binding):
            if not beyond[measure][group] > margin - _ROUNDING:
                continue
            mine = partition.of == group
            release, reference = (getattr(each, measure)[mine] for each in (found.released, found.reference))
            test = equivalence_test(release, reference, margin, standard.alpha, found.units_of(mine))
            if test.statistic > margin:
                called = _called(partition.names, partition.called[group], variables)
                chances.append((test.p_value, -test.statistic, crossed, called, measure))
                members.append((np.flatnonzero(mine), partition.names))
    groups = sum(looked.values())

    def is_beyond(p_value: float, crossed: bool) -> bool:
        return p_value * looked[crossed] * len(standard.binding) < standard.alpha / 2

    failing = [(*each, *who) for each, who in zip(chances, members, strict=True) if is_beyond(each[0], each[2])]
    others = without_own() if failing else None
    if others is not None:
        failing = [each for each in failing if _is_own(standard, found, others, margin, each[4], each[5])]
    elif failing and aside is not None:
        fare = _Fare(standard, found, original.iloc[found.rows], aside)
        failing = [each for each in failing if fare.is_worse(*each[4:])]
    says = _SAYS.no_nearer(fewest=FEWEST, groups=groups) if groups else _SAYS.none(fewest=FEWEST)
    observed = None
    if failing:
        _, less, _, called, measure, *_ = min(failing, key=lambda each: each[:5])
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


@dataclass(frozen=True)
class _Fare:
    """How those fare who were attacked, beside people of their group who were set aside."""

    standard: ReferenceStandard
    found: ReferenceAttack
    attacked: pd.DataFrame
    aside: Aside

    @cached_property
    def _read(self) -> tuple[Prediction, Prediction]:
        return self.aside.read()

    @cached_property
    def _groups(self) -> Callable[[str], tuple[IntArray, IntArray]]:
        @cache
        def of(name: str) -> tuple[IntArray, IntArray]:
            return groups_of(self.attacked[name], self.aside.people[name])

        return of

    def is_worse(self, measure: str, mine: IntArray, names: Sequence[str]) -> bool:
        """Whether the release is nearer to these people, beyond chance and half of the margin; or too few were set
        aside to tell."""
        known = [self._groups(name) for name in names]
        theirs = np.flatnonzero(np.all([others == of[mine[0]] for of, others in known], axis=0))
        units = self.found.units[mine], self.aside.units[theirs]
        if len(np.unique(units[1])) < _ASIDE:
            return True
        one, other = (getattr(each, measure)[of] for each, of in zip(self._read, (mine, theirs), strict=True))
        test = equivalence_test(one, other, self.standard.margin / 2, self.standard.alpha, units)
        return test.verdict is Verdict.FAIL


def _finding(
    verdict: Verdict, says: Saying, limits: LinkageLimits, scope: str, files: Comparison, groups: int,
    observed: float | None = None, limit: float | None = None,
) -> Finding:  # fmt: skip
    return Finding(
        rule="small_groups", verdict=verdict, **as_fields(says), scope=scope, stage="reference", observed=observed,
        limit=limit, attempted=groups, completed=groups, binding=limits.binding,
    )  # fmt: skip
