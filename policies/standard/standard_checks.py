"""What the reference standard looks at, in the order of the report: each part with draws of its own."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

import numpy as np
import pandas as pd

from policies.check import Check, Part, check
from policies.rules.attack_rule import UNPAIRED
from policies.rules.participation_attacks import SubsetInference
from policies.standard.copied_values import (
    COPIES,
    LONE_COPIES,
    UNIQUE_VALUES,
    judge_closest,
    judge_exact_copies,
    judge_lone_copies,
    judge_near_copies,
    judge_unique_values,
)
from policies.standard.hidden_names import HIDDEN_NAMES, judge_hidden_names
from policies.standard.known_methods import TRANSPARENCY, is_perturbed, judge_transparency
from policies.standard.learning_intruders import (
    EVERYTHING,
    LEARNED_LINKAGE,
    PARTIAL_KNOWLEDGE,
    in_one_order,
    judge_learned_linkage,
    judge_partial_knowledge,
    judge_without_pairs,
    learned_intruder,
)
from policies.standard.minorities import SMALL_GROUPS, Aside, judge_nearness, judge_small_groups
from policies.standard.nearest_records import ISOLATED_PEOPLE, REIDENTIFICATION, judge_isolated, judge_reidentification
from policies.standard.preconditions import (
    COMPARABLE_VALUES,
    DUPLICATE_RECORDS,
    FEWEST_ASIDE,
    LENIENCY,
    NUMBERS_ALONE,
    SAMPLE_SIZE,
    incomparable,
    judge_duplicates,
    judge_leniency,
    judge_numbers_alone,
    judge_reading,
    judge_size,
    unmeasured,
)
from policies.standard.prediction_curves import PREDICTION, SUBGROUPS, judge_measure, judge_subgroups
from policies.standard.reconstructed_units import RECONSTRUCTED_UNITS, has_units, judge_reconstructed_units
from policies.standard.recovered_values import RECOVERED_VALUES, judge_recovered_values
from policies.standard.reference_standard import MEASURES, ReferenceStandard
from sluice.ground.arrays import IntArray
from sluice.ground.declaration import Declaration
from sluice.ground.rule import DisclosureRule
from sluice.ground.sentence import Sentence, Sentences, as_fields
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding, Verdict
from sluice.masking.moved_blocks import Block
from sluice.risk.coded_points import keys_of
from sluice.risk.coding import Coding
from sluice.risk.linkage.learned_intruder import LearnedIntruder, Reached
from sluice.risk.people_of_records import groups_of_people, number_of_people
from sluice.risk.reference.prediction import Prediction, prediction
from sluice.risk.reference.reference_attack import Curve, attack
from sluice.risk.row_groups import row_groups
from sluice.utility.comparison import Comparison

_SAYS = Sentences(
    "learned_linkage",
    unpaired="Intruders who learn were not played. ",
    of_block=" Looked at were {names:commas} alone, which were moved to another record together.",
)
_NO_STANDARD = Sentence(
    "reference_standard.none",
    "The policy names no reference standard, so it is unknown whether the file is safe for its people.",
)


DECLARED = (
    Declaration(
        "reference_standard",
        helps="Correct what the standard's settings say of weights and subgroups, and evaluate again.",
        needs="Give the policy a reference_standard, or correct its settings: without one a file of records cannot be "
        "judged.",
    ),
)
PARTS = (
    *(*SAMPLE_SIZE, *COMPARABLE_VALUES, *PREDICTION, *COPIES, *ISOLATED_PEOPLE, *SUBGROUPS, *DUPLICATE_RECORDS),
    *(*LENIENCY, *LONE_COPIES, *REIDENTIFICATION, *LEARNED_LINKAGE, *TRANSPARENCY, *PARTIAL_KNOWLEDGE, *UNIQUE_VALUES),
    *RECOVERED_VALUES,
    *HIDDEN_NAMES,
    *(*SMALL_GROUPS, *NUMBERS_ALONE, *RECONSTRUCTED_UNITS),
)
"""What the standard's parts say of themselves."""


def checks_of(
    standard: ReferenceStandard | None,
    files: Comparison,
    curves: list[Curve],
    attacks: Sequence[DisclosureRule],
    rules: Sequence[DisclosureRule] = (),
) -> list[Check]:
    """Everything that a reference standard asks of these files; without one the answer is UNKNOWN.

    curves  : those of the prediction measures are added to it
    attacks : those that the policy plays beside the standard
    rules   : those of the policy on the file by itself
    """
    if standard is None:
        none = Finding(
            rule="reference_standard", verdict=Verdict.UNKNOWN, stage="reference", **as_fields(_NO_STANDARD())
        )
        return [check("reference_standard", "reference", lambda files: [none])]

    def predictions(files: Comparison) -> Sequence[Finding]:
        findings, found = judge_reference_standard(standard, files)
        curves.extend(found)
        return findings

    def of(rule: str, judge: Callable[[ReferenceStandard, Comparison], Finding]) -> Check:
        return check(rule, "reference", lambda files: [judge(standard, files)])

    for_all = [check("reference_standard", "reference", predictions), of("unique_values", judge_unique_values)]
    names = check("hidden_names", "reference", judge_hidden_names)
    if not files.paired:
        return [*for_all, Check(partial(_unpaired, standard, attacks, rules)), names]
    return [
        *for_all,
        of("lone_copies", judge_lone_copies),
        of("reidentification", judge_reidentification),
        Check(partial(_learned, standard), by_itself=True),
        *(_on_block(standard, block) for block in files.blocks),
        *([Check(partial(_read_elsewhere, standard))] if _may_stand_elsewhere(standard, attacks, files) else []),
        check("transparency", "attack", partial(judge_transparency, standard.transparency)),
        *(
            [check("reconstructed_units", "reference", partial(judge_reconstructed_units, standard.units))]
            if has_units(files)
            else []
        ),
        check("recovered_values", "reference", partial(judge_recovered_values, rules)),
        names,
    ]


def _learned(standard: ReferenceStandard, files: Comparison) -> Iterator[Part]:
    """On intruders who learned from half of the people; they learn once. Small groups come second, as they take long:
    who stops at the first finding against the file does not look for them."""
    learned = cache(lambda: learned_intruder(files, standard.learned.people))
    played: list[tuple[LearnedIntruder, Reached]] = []

    def linkage() -> Sequence[Finding]:
        if (intruder := learned()) is not None:
            played.append((intruder, intruder.play()))
        return judge_learned_linkage(standard.learned, standard.margin, files, *(played[0] if played else (None, None)))

    def groups(intruder: LearnedIntruder, reached: Reached) -> Sequence[Finding]:
        return [judge_small_groups(standard.learned, reached, EVERYTHING, files, intruder, "everything")]

    yield Part("learned_linkage", "reference", linkage)
    if standard.learned.binding:
        for each in played:
            yield Part("small_groups", "reference", partial(groups, *each))
    if standard.intruders:
        yield Part(
            "attribute_gain",
            "reference",
            lambda: judge_partial_knowledge(standard.intruders, files, learned(), not standard.learned.binding),
        )


def _on_block(standard: ReferenceStandard, block: Block) -> Check:
    """Who is found by variables that left their records together, wherever these are now."""

    def named(finding: Finding) -> Finding:
        scope = f"{finding.scope}: {', '.join(block.columns)}".removeprefix(": ")
        return finding.adding(_SAYS.of_block(names=block.columns)).model_copy(update={"scope": scope})

    return Check(lambda files: _learned(standard, files.of_block(block)), by_itself=True, adding=named)


def _may_stand_elsewhere(standard: ReferenceStandard, attacks: Sequence[DisclosureRule], files: Comparison) -> bool:
    """Whether values may have left their records together, as nobody said how they were masked: then rows are paired,
    and what stands in them is not."""
    if files.carried_out is not None or not _intruders_count(standard) or _is_played(attacks):
        return False
    return sum(is_perturbed(files, str(name)) for name in files.masked) > 1


def _intruders_count(standard: ReferenceStandard) -> bool:
    return standard.learned.binding or any(intruder.binding for intruder in standard.intruders)


def _is_played(attacks: Sequence[DisclosureRule]) -> bool:
    return any(isinstance(rule, SubsetInference) and rule.binding for rule in attacks)


def _read_elsewhere(standard: ReferenceStandard, files: Comparison) -> Iterator[Part]:
    """One record of eleven alike is read with the others: who may be found so may be read so."""
    rule = SubsetInference(limit=max(standard.margin, standard.learned.found))
    yield Part(rule.rule, "attack", partial(rule.find, files))


def _unpaired(
    standard: ReferenceStandard, attacks: Sequence[DisclosureRule], rules: Sequence[DisclosureRule], files: Comparison
) -> Iterator[Part]:
    """In place of intruders who learn from pairs, which nobody has: those who need none.

    A policy that plays them itself, against people who were set aside, is for files of which no record was anybody's,
    and nothing is missing. Under another one the file may have been masked record by record, too strongly for whoever
    compares values and too weakly for whoever learned from pairs, so a person decides. Where the rows turn out to be in
    the order of the original, there are pairs; else whoever knows who took part may find some.
    """
    if (in_order := in_one_order(files)) is not None:
        yield from _learned(standard, in_order)
        yield Part("recovered_values", "reference", partial(judge_recovered_values, rules, in_order))
    elif (holdout := files.holdout) is not None and standard.learned.binding:
        yield Part(
            "learned_claims", "reference", lambda: judge_without_pairs(standard.learned, files, holdout)
        )  # fmt: skip
    if not _intruders_count(standard):
        return
    played = _is_played(attacks)
    if played and files.holdout is not None:
        return
    if not played:
        yield from _read_elsewhere(standard, files)
    missing = Finding(
        rule="learned_linkage", verdict=Verdict.REVIEW, stage="reference",
        **as_fields(_SAYS.unpaired() + UNPAIRED()),
        attempted=len(files.masked), completed=0,
    )  # fmt: skip
    yield Part("learned_linkage", "reference", lambda: [missing])


def judge_reference_standard(standard: ReferenceStandard, files: Comparison) -> tuple[list[Finding], list[Curve]]:
    """Whether taking part costs a person more than staying out would have; the curves that show it.

    Rows need not be paired: the masked file may have any number of them in any order. The holdout is looked at where
    the standard asks for one. Where it holds fewer people than `minimum_records`, the original without each person is
    looked at beside it: of these, too, nobody is the person.

    raises : DocumentError when a weight or a subgroup names no variable, or a subgroup a text
    cost   : that of nearest_neighbours, twice to three times, for at most `standard.records` queries
    """
    original, masked, minimum_cell = files.original, files.masked, files.minimum_cell
    held = files.holdout if standard.reference == "holdout" else None
    size = judge_size(standard, original, masked, held, files.variables)
    # The attack needs one more record than it looks at: in the reference the person's own is left out.
    if size.completed == 0:
        return [size], []
    coding = Coding.fit(original, files.recoded, files.variables, files.released, standard.weights)
    if not coding.dimensions:
        return [size, incomparable()], []
    everybody = original if held is None else pd.concat([original, held], ignore_index=True)
    with_own = held is not None and FEWEST_ASIDE <= number_of_people(held, files.variables) < standard.minimum_records
    points = coding.original_points(original)
    others = None if held is None else coding.original_points(everybody if with_own else held)
    released_points, unread = coding.released_points(masked)
    in_place = files.paired and not files.blocks and len(original) == len(masked)
    units = None
    if held is None or with_own:
        units = _others_than(everybody if with_own else original, files.variables, len(masked) - standard.neighbours)
    people = groups_of_people(original, files.variables)
    found = attack(points, released_points, others, standard.neighbours, standard.records, files.rng, units, people)

    def without_own() -> Prediction | None:
        if not in_place or found.size_ratio > 1:
            return None
        together = _others_than(original, files.variables, len(masked) - standard.neighbours)
        of = (together[found.rows], together)
        others = prediction(points.take(found.rows, axis=0), released_points, standard.neighbours, of)
        groups = row_groups(keys_of(released_points))
        alike = groups.size[groups.of[found.rows]] > 1  # a record of a group is everybody's own in it
        return Prediction(*(np.where(alike, getattr(found.released, each), getattr(others, each)) for each in MEASURES))

    def read() -> tuple[Prediction, Prediction]:
        looked_for = points.take(found.rows, axis=0), coding.original_points(set_aside)
        one, other = (prediction(each, released_points, standard.neighbours) for each in looked_for)
        return one, other

    set_aside = original.iloc[:0] if held is None else held.iloc[:: max(1, -(-len(held) // standard.records))]
    aside = None if held is None else Aside(set_aside, groups_of_people(set_aside, files.variables), read)
    by_measure = [judge_measure(standard, measure, found, size.verdict, minimum_cell) for measure in MEASURES]
    findings = [
        size,
        *([judge_numbers_alone(files)] if files.numbers_alone else []),
        judge_reading(coding, masked, unread, unmeasured(standard, files.released)),
        *(finding for finding, _ in by_measure),
        judge_closest(standard, coding, points, released_points, found, files),
        judge_near_copies(standard, coding, points, released_points, found, files),
        judge_exact_copies(standard, coding, files),
        judge_isolated(standard, points, released_points, others, found, files.rng, minimum_cell, units, in_place),
        *judge_subgroups(standard, found, original, files.variables, minimum_cell),
        judge_nearness(standard, found, original, files.variables, without_own, aside),
        judge_duplicates(coding, everybody),
        judge_leniency(standard),
    ]
    return findings, [curve for _, curve in by_measure if curve]


def _others_than(people: pd.DataFrame, variables: Variables, left: int) -> IntArray:
    """Who is left out together, shape (n,); each alone of a unit that would leave hardly anybody to compare with."""
    units = groups_of_people(people, variables)
    too_many = np.bincount(units)[units] > left // 2
    return np.where(too_many, len(people) + np.arange(len(people)), units)
