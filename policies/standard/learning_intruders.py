"""Intruders who choose the ruler, and learned it from examples: whom they find by all variables of a person or by some,
and what they then learn of the others.

They need to know which released record is whose. The reference is a file without the person: chance finds one record in
m there, and no claim made on it is right.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Self

import numpy as np
import pandas as pd

from policies.reported_shares import disclosed_share, reported_share
from policies.standard.minorities import judge_small_groups
from policies.standard.reference_standard import AnyOf, Intruder, LearnedLimits, LinkageLimits
from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.comparable_values import plain_values
from sluice.ground.declaration import Declaration
from sluice.ground.errors import DataError, did_you_mean
from sluice.ground.sentence import Saying, Sentence, Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.attacks.attack_success import LEVEL, LOOKS, AttackSuccess, cases_worth
from sluice.risk.attacks.attribute_gain import (
    Chances,
    OtherVariable,
    Reading,
    attribute_gains,
    gains_of_people,
    strongest_readings,
)
from sluice.risk.coded_points import CodedPoints
from sluice.risk.coding import Coding
from sluice.risk.linkage.learned_intruder import FEWEST_PEOPLE, LearnedIntruder, Reached
from sluice.risk.linkage.learned_linker import CandidatePosterior
from sluice.risk.linkage.learned_map import found_in_order
from sluice.risk.linkage.learned_variable import compared_variables
from sluice.risk.linkage.mapped_columns import MappedColumns
from sluice.risk.linkage.matched_people import matched_people
from sluice.risk.linkage.number_patterns import with_digits
from sluice.risk.linkage.repeated_variables import repeated_variables
from sluice.risk.linkage.worst_known import worst_known
from sluice.risk.measurement import if_near, verdict_within
from sluice.risk.people_of_records import groups_of_people, places_of_groups, word_for_groups
from sluice.risk.reference.prediction import equivalence_test
from sluice.risk.row_groups import RowGroups
from sluice.utility.comparison import Comparison

_SAYS = Sentences(
    "learned_linkage",
    not_played="{who} could not be played: there are too few people to learn from, or no variable to compare.",
    finds="{who}, and has learned from examples how well each variable tells people apart, finds the own record of "
    "{share:percent} of {n:,} {unit}. Chance finds {chance:percent}; the policy allows {limit:percent} more.",
    knowledge_not_declared="The contract does not say what '{knows}' knows; the policy asks what they find.{hint}",
    intruder_not_played="'{intruder}' could not be played: there are too few people, or no variable to compare.",
    nothing_known_released="Nothing is released of what '{intruder}' knows, so nobody is found by it.",
)
_CLAIMS = Sentence(
    "learned_claims.claims",
    "{who} is sure of a match for {claimed:percent} of {n:,} {unit}, and right for {right:percent}; the policy allows "
    "{limit:percent}. In a file without them, {without:percent} would be claimed, all wrongly.",
)
_WITHOUT_PAIRS = Sentences(
    "learned_claims",
    nobody_claimed="{who}, and learned from participants and others when a nearest record may be called a person's "
    "own, is sure of nobody's: none of {n:,} {unit} are claimed. The policy allows {limit:percent}.",
    claims_without_pairs="{who}, and learned from participants and others when a nearest record may be called a "
    "person's own ({ruler}), claims one for {claimed:percent} of {n:,} {unit}, and for {without:percent} of those who "
    "are not in the file; the policy allows {limit:percent} more. So many records are somebody's, whatever the file is "
    "called.",
    too_few_without_pairs="Whether records are somebody's could not be told: there are too few people in the file or "
    "set aside, or no column to compare.",
)
_NEARER = Sentence(
    "learned_distance.nearer",
    "By the ruler that was learned ({ruler}), the release is nearer to up to {share:percent} more of the people than "
    "the same file without their own records.",
)

_LEARNED_LINKAGE = "Learned linkage: whom an intruder finds who chooses the ruler, and learned it from examples."
LEARNED_LINKAGE = (
    Declaration(
        "learned_linkage",
        about=_LEARNED_LINKAGE,
        asks="An intruder who learned which variables tell finds no larger share of people than chance and the policy "
        "allow.",
        helps="People can be found by somebody who weighs the variables by examples: release fewer or coarser "
        "variables, or mask them together (spectral_swapping, sequential_trees) instead of each by itself. With "
        "many variables, more noise hardly helps.",
        needs="Judge a file of more people: half of them are needed to learn from.",
    ),
    Declaration(
        "learned_claims",
        about=_LEARNED_LINKAGE,
        asks="An intruder who learned when to be sure claims no more matches that are right than the policy allows.",
        helps="Whoever is found stands out, so that the intruder knows it: make records alike (coarser categories, "
        "larger groups), or mask variables together, so that wrong matches look as good as right ones.",
    ),
    Declaration(
        "learned_distance",
        about=_LEARNED_LINKAGE,
        asks="By the learned ruler, too, people's best matches are no nearer than in a file without them.",
        helps="By the learned ruler, people's best matches are nearer than others' would be: see what learned_linkage "
        "says.",
    ),
)

_OFF = (
    "off the records that are likeliest the person's for {share:percent} of {people:,} {unit}; in a file that they are "
    "not in, for {without:percent}. The policy allows {limit:percent} more. Among {others} other variables, "
    "this one reveals most."
)
_ATTRIBUTE_GAIN = Sentences(
    "attribute_gain",
    reads=f"{{who}} reads the right {{name}} {_OFF}",
    reads_nearly=f"{{who}} reads the right {{name}}, give or take {{within:percent}} of the {{unit}}, {_OFF}",
    not_all_read=" Where more than {most:,} others are equally likely, as many of them as that, drawn at random, are "
    "read for all.",
    nothing_left="{who} has nothing left to learn: no other variable can be read.",
)

PARTIAL_KNOWLEDGE = (
    Declaration(
        "attribute_gain",
        about="Partial knowledge: whom an intruder finds by some variables of a person, and what they then learn of "
        "the others.",
        asks="Who finds people by some variables learns no more of the others than from a file without them, beyond "
        "what the policy tolerates.",
        helps="Whoever finds a record by what they know learns the rest: coarsen the variables that the finding says "
        "are known, or mask them together with the one that is learned.",
    ),
)

EVERYTHING = "An intruder who knows all variables of a person"


def learned_intruder(files: Comparison, people: int) -> LearnedIntruder | None:
    """An intruder who has learned from half of the people; None where there are too few, or nothing to compare.

    raises : DataError when the files differ in length, and so are not paired
    cost   : that of LearnedIntruder.fit
    """
    if not len(files.original) == len(files.recoded) == len(files.masked):
        raise DataError("Learned linkage needs the released record of each original one; the files differ in length.")
    units = groups_of_people(files.original, files.variables)
    if len(np.unique(units)) < FEWEST_PEOPLE:
        return None
    compared = compared_variables(files.original, files.recoded, files.masked, files.variables, files.released)
    if not compared:
        return None
    coding = Coding.fit(files.original, files.recoded, files.variables, files.released)
    sides = coding.original_points(files.original), coding.released_points(files.masked)[0]
    by_name = dict(zip(coding.names, zip(*(side.by_variable() for side in sides), strict=True), strict=True))
    nothing = CodedPoints([], len(files.original))
    spaces = [by_name.get(each.name, (nothing, nothing)) for each in compared]  # none: probabilities of one label
    columns = [MappedColumns.of(files.original, files.masked, files.variables, files.released)]
    described = files.original, files.variables
    of_all = columns[0].of_units(units, places_of_groups(*described, units), word_for_groups(*described))
    columns += [] if of_all is None else [of_all]
    return LearnedIntruder.fit(compared, spaces, units, files.rng, people, columns)


def in_one_order(files: Comparison) -> Comparison | None:
    """The files as paired, where a map learned from row i of both finds row i of others; None where it finds nobody.

    Nobody said that rows are paired. But whoever finds them so has the pairs, and so has the intruder.
    """
    if not len(files.original) == len(files.recoded) == len(files.masked) >= FEWEST_PEOPLE:
        return None
    columns = MappedColumns.of(files.original, files.masked, files.variables, files.released)
    if not found_in_order(columns, np.random.default_rng(0)):
        return None
    return replace(files, paired=True)


def judge_without_pairs(limits: LearnedLimits, files: Comparison, holdout: pd.DataFrame) -> list[Finding]:
    """A finding on the intruder who knows people that took part and others, and of no record whose it is.

    Right are as many claims as there are more on participants than on others.

    files : not paired
    cost  : that of matched_people
    """
    units = [groups_of_people(frame, files.variables) for frame in (files.original, holdout)]
    found = matched_people(
        files.original, files.recoded, files.masked, holdout, files.variables, files.released, (units[0], units[1]),
        files.rng,
    )  # fmt: skip
    scope = "without pairs"
    if found is None:
        says = _WITHOUT_PAIRS.too_few_without_pairs()
        return [_finding("learned_claims", Verdict.UNKNOWN, says, limits, scope, files)]
    n, inside, outside = len(found.people), found.claimed.astype(np.float64), found.without.astype(np.float64)
    low, high = share_interval(inside, units[0][found.people])
    right, interval = float(inside.mean()), (low, high)
    if found.ruler:
        least, most = share_interval(outside, units[1][found.others])
        right = float(inside.mean() - outside.mean())
        below, above = np.hypot(inside.mean() - low, most - outside.mean()), np.hypot(
            high - inside.mean(), outside.mean() - least
        )  # fmt: skip
        interval = right - float(below), right + float(above)
    share, claimed = reported_share(int(inside.sum()), n, files.minimum_cell)
    others, without = reported_share(int(outside.sum()), len(outside), files.minimum_cell)
    verdict = verdict_within(interval, limits.claims)
    about = {"who": EVERYTHING, "n": n, "unit": files.unit, "limit": limits.claims}
    says = (
        _WITHOUT_PAIRS.claims_without_pairs(**about, ruler=found.ruler, claimed=claimed, without=without)
        if found.ruler
        else _WITHOUT_PAIRS.nobody_claimed(**about)
    )
    observed = None if share is None or others is None else right
    near = if_near(verdict, right, limits.claims, None if observed is None else interval)
    return [_finding("learned_claims", verdict, says + near, limits, scope, files, n, observed, limits.claims)]


def judge_learned_linkage(
    limits: LearnedLimits, margin: float, files: Comparison, intruder: LearnedIntruder | None, reached: Reached | None
) -> list[Finding]:
    """Findings on the intruder who knows everything: people found, confident right claims, and the learned D+.

    margin   : largest D+ that the standard tolerates; that of the learned ruler is reported
    intruder : from `learned_intruder`; None where nothing could be learned
    reached  : by this intruder, who knows all variables
    """
    if intruder is None or reached is None:
        says = _SAYS.not_played(who=EVERYTHING)
        return [_finding("learned_linkage", Verdict.UNKNOWN, says, limits, "", files)]
    plays = _Plays(reached, lambda: intruder.other_half.play())
    return [
        *_judge_reached(limits, plays, EVERYTHING, files, "everything"),
        _judge_distance(margin, reached, files, groups_of_people(files.original, files.variables)[reached.rows]),
    ]


@dataclass(frozen=True)
class _Plays:
    """What an intruder reaches who learned from one half of the people, with those of the other; and the other way
    round, played where the first leaves a figure open."""

    first: Reached
    play_other: Callable[[], Reached]

    @cached_property
    def second(self) -> Reached:
        return self.play_other()

    def looks(self, limits: LinkageLimits) -> "Iterator[tuple[_Judged, float]]":
        """The judged people, and the level of the interval: first of one half, then of both. What is reported only is
        looked at once."""
        yield _Judged.of(self.first), LOOKS[0] if limits.binding else LEVEL
        if limits.binding:
            yield _Judged.of(self.first, self.second), LOOKS[1]


@dataclass(frozen=True)
class _Judged:
    """What is reached of each of q people, shapes (q,), as `Reached` has it."""

    plays: tuple[Reached, ...]
    rows: IntArray
    found: FloatArray
    right: FloatArray

    @classmethod
    def of(cls, *plays: Reached) -> Self:
        rows, found, right = (np.concatenate([getattr(each, name) for each in plays])
                              for name in ("rows", "found", "right"))  # fmt: skip
        return cls(plays, rows, found, right.astype(np.float64))

    def count(self, what: str) -> int:
        return round(float(sum(getattr(each, what).sum() for each in self.plays)))


def _judge_reached(limits: LinkageLimits, plays: _Plays, knows: str, files: Comparison, scope: str) -> list[Finding]:
    """Whom an intruder finds, and of whom it is claimed rightly. A figure whose interval crosses its limit is looked at
    again by more people.

    knows : who that is, the beginning of the sentence, such as "An intruder who knows a person's age, sex and region"
    """
    units, chance = groups_of_people(files.original, files.variables), 1 / len(files.masked)

    def finds(judged: _Judged) -> tuple[float | None, Saying]:
        share, said = reported_share(judged.count("found"), len(judged.rows), files.minimum_cell)
        return share, _SAYS.finds(
            who=knows, share=said, n=len(judged.rows), unit=files.unit, chance=chance, limit=limits.found
        )

    def claims(judged: _Judged) -> tuple[float | None, Saying]:
        n = len(judged.rows)
        right, known = reported_share(judged.count("right"), n, files.minimum_cell)
        claimed, anyway = (
            reported_share(judged.count(what), n, files.minimum_cell)[1] for what in ("claimed", "claimed_without")
        )
        return right, _CLAIMS(
            who=knows, claimed=claimed, n=n, unit=files.unit, right=known, limit=limits.claims, without=anyway
        )

    findings = []
    for rule, allowed, says in (
        ("learned_linkage", limits.found + chance, finds), ("learned_claims", limits.claims, claims)
    ):  # fmt: skip
        for judged, level in plays.looks(limits):
            success = judged.found if rule == "learned_linkage" else judged.right
            ends = share_interval(success, units[judged.rows], level)
            verdict = verdict_within(ends, allowed)
            if verdict is not Verdict.REVIEW:
                break
        share, sentence = says(judged)
        near = if_near(verdict, float(success.mean()), allowed, None if share is None else ends, level)
        findings.append(
            _finding(rule, verdict, sentence + near, limits, scope, files, len(judged.rows), share, allowed)
        )
    return findings


def _judge_distance(margin: float, reached: Reached, files: Comparison, units: IntArray) -> Finding:
    """D+ by the learned ruler: best matches in the released file, against those in it without the own record.

    units : who belongs together of those judged
    """
    others = reached.candidates.scores[:, 0]
    release = -np.maximum(reached.candidates.own, others)
    test = equivalence_test(release, -others, margin, units=(units, units))
    says = _NEARER(ruler=reached.ruler, share=test.statistic)
    return Finding(
        rule="learned_distance", verdict=test.verdict, **as_fields(says), stage="reference", binding=False,
        observed=test.statistic, limit=margin, attempted=len(files.original), completed=len(reached.rows),
    )  # fmt: skip


def share_interval(success: FloatArray, units: IntArray, level: float = LEVEL) -> tuple[float, float]:
    """The exact interval of a share of successes, of as many independent cases as these are worth.

    success : shape (n,), 0 to 1
    units   : shape (n,), who belongs together, such as the household of each
    """
    cases = cases_worth(success, units)
    return AttackSuccess(cases, cases, min(1.0, float(success.mean())) * cases).exact(level)


def _finding(
    rule: str, verdict: Verdict, says: Saying, limits: LinkageLimits, scope: str, files: Comparison,
    completed: int = 0, observed: float | None = None, limit: float | None = None,
) -> Finding:  # fmt: skip
    return Finding(
        rule=rule, verdict=verdict, **as_fields(says), scope=scope, stage="reference", observed=observed,
        limit=limit, attempted=len(files.original), completed=completed, binding=limits.binding,
    )  # fmt: skip


def judge_partial_knowledge(
    intruders: Sequence[Intruder], files: Comparison, learned: LearnedIntruder | None, by_groups: bool = False
) -> list[Finding]:
    """Findings on each intruder: whom they find, of whom they are sure, and what they learn of other variables.

    files   : paired
    learned : from `learned_intruder`; None where nothing could be learned
    by_groups : whether those who decide are judged group by group, too, as nobody decides who knows everything
    cost    : that of LearnedIntruder.play for each; for `any` that of worst_known as well
    """
    findings = []
    for intruder in intruders:
        lacking = _not_played(intruder, files, learned)
        if lacking or learned is None:
            findings.append(_finding("learned_linkage", Verdict.UNKNOWN, lacking, intruder, intruder.name, files))
        elif known := _known(intruder, learned, files):
            reached = learned.play(known)
            who = _who(intruder, [learned.linker.names[at] for at in known])
            plays = _Plays(reached, partial(_played_by_other, intruder, learned, files))
            findings += _judge_reached(intruder, plays, who, files, intruder.name)
            findings.append(_judge_gain(intruder, who, known, plays, learned, files))
            if by_groups and intruder.binding:
                findings.append(judge_small_groups(intruder, reached, who, files, learned, intruder.name, known))
        else:
            says, n = _SAYS.nothing_known_released(intruder=intruder.name), len(files.original)
            findings.append(_finding("learned_linkage", Verdict.PASS, says, intruder, intruder.name, files, n))
    return findings


def _not_played(intruder: Intruder, files: Comparison, learned: LearnedIntruder | None) -> Saying:
    """Why an intruder could not be played; () where one can."""
    if isinstance(intruder.knows, str) and intruder.knows not in files.knowledge:
        hint = did_you_mean(intruder.knows, files.knowledge)
        return _SAYS.knowledge_not_declared(knows=intruder.knows, hint=hint)
    return _SAYS.intruder_not_played(intruder=intruder.name) if learned is None else ()


def _known(intruder: Intruder, learned: LearnedIntruder, files: Comparison) -> Sequence[int]:
    """Positions of what is known and released."""
    if isinstance(intruder.knows, AnyOf):
        together = repeated_variables(learned.linker.names, files.original)
        return worst_known(learned, intruder.knows.any, files.rng, together)
    names = {each for name in files.knowledge[intruder.knows] for each in with_digits(name)}
    return [at for at, name in enumerate(learned.linker.names) if name in names]


def _played_by_other(intruder: Intruder, learned: LearnedIntruder, files: Comparison) -> Reached:
    """Who learned from the other half chooses there, too, what is worst to know."""
    return learned.other_half.play(_known(intruder, learned.other_half, files))


def _who(intruder: Intruder, known: Sequence[str]) -> str:
    *first, last = known
    listed = f"{', '.join(first)} and {last}" if first else last
    how = "the worst to know" if isinstance(intruder.knows, AnyOf) else f"as '{intruder.name}' does"
    return f"An intruder who knows a person's {listed} ({how})"


def _judge_gain(
    intruder: Intruder, who: str, known: Sequence[int], plays: _Plays, learned: LearnedIntruder, files: Comparison
) -> Finding:
    names = learned.linker.names
    # What is released as probabilities of its labels is not read.
    others = [_other(name, files) for at, name in enumerate(names) if at not in known and name in files.released]
    if not others:
        says, gain = _ATTRIBUTE_GAIN.nothing_left(who=who), intruder.gain
        people = len(plays.first.rows)
        return _finding("attribute_gain", Verdict.PASS, says, intruder, intruder.name, files, people, 0.0, gain)
    units, alike = groups_of_people(files.original, files.variables), learned.linker.alike(known)
    for judged, level in plays.looks(intruder):
        read = [_read(others, each, units, alike) for each in judged.plays]
        chances = [(np.concatenate(right), np.concatenate(without)) for right, without in (
            zip(*of_one, strict=True) for of_one in zip(*(of_play for _, of_play in read), strict=True)
        )]  # fmt: skip
        gains = attribute_gains(others, chances, read[0][0], units[judged.rows], level)
        worst = max(gains, key=lambda each: (verdict_within(each.interval, intruder.gain), each.gain))
        verdict, people = verdict_within(worst.interval, intruder.gain), len(judged.rows)
        if verdict is not Verdict.REVIEW:
            break
    right, without = (disclosed_share(each, people, files.minimum_cell) for each in (worst.right, worst.without))
    says = (_ATTRIBUTE_GAIN.reads_nearly if worst.within else _ATTRIBUTE_GAIN.reads)(
        who=who, name=worst.name, within=worst.within, share=right, people=people, unit=files.unit, without=without,
        limit=intruder.gain, others=len(others),
    )  # fmt: skip
    tried = [each.candidates for each in judged.plays]
    most = tried[0].rows.shape[1]
    if any(((each.ties > most) & (each.own <= each.scores[:, 0])).any() for each in tried):
        says += _ATTRIBUTE_GAIN.not_all_read(most=most)
    few = 0 < worst.gain * people < files.minimum_cell
    near = if_near(verdict, worst.gain, intruder.gain, None if few else worst.interval, level)
    observed = None if few else worst.gain
    return _finding(
        "attribute_gain", verdict, says + near, intruder, intruder.name, files, people, observed, intruder.gain
    )


def _read(
    others: Sequence[OtherVariable], reached: Reached, units: IntArray, alike: RowGroups
) -> tuple[dict[str, Reading], list[Chances]]:
    """How each variable is read, chosen on people who are not judged, and the chances of each who is."""
    tuned = CandidatePosterior.of(reached.tuned_rows, reached.tuned, reached.temperature, units, alike)
    found = CandidatePosterior.of(reached.rows, reached.candidates, reached.temperature, units, alike)
    readings = strongest_readings(others, reached.tuned_rows, tuned)
    return readings, gains_of_people(others, reached.rows, found, readings)


def _other(name: str, files: Comparison) -> OtherVariable:
    before, after = plain_values(files.recoded[name]), plain_values(files.masked[name])
    return OtherVariable.of(name, before, after, not files.released[name].kind.is_categorical)
