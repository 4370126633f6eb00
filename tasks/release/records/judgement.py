"""What is found of a masked file: by the policy's rules, by the reference standard, by attacks, and of its use.

Nothing here knows of a release: frames and a policy in, findings and figures out.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from typing import TypeAlias

import pandas as pd

from policies.policy import Policy
from policies.rules.behind import Behind
from policies.rules.failing_categories import with_failing_categories
from policies.rules.km_anonymity import unjudged_sets
from policies.rules.paired_rule import UNPAIRED
from policies.rules.rule import DisclosureRule
from policies.rules.subset_inference import SubsetInference
from policies.standard.judgement import judge_reference_standard
from policies.standard.learned_linkage import judge_learned_linkage, learned_intruder
from policies.standard.lone_copies import judge_lone_copies
from policies.standard.partial_knowledge import judge_partial_knowledge
from policies.standard.reference_standard import ReferenceStandard
from policies.standard.reidentification import judge_reidentification
from policies.standard.transparency import judge_transparency
from policies.standard.unique_values import judge_unique_values
from sluice.documents.documents import FileOf, named_file
from sluice.ground.in_threads import in_threads
from sluice.ground.machine import threads
from sluice.ground.sentence import Sentence, Sentences, as_fields
from sluice.ground.variables import Variables
from sluice.ground.verdict import Finding, Verdict
from sluice.masking.moved_blocks import Block
from sluice.risk.reference.curve import Curve
from sluice.utility.comparison import Comparison
from sluice.utility.utility_view import UtilityView
from sluice.utility.variable_summary import VariableSummary, summarise
from tasks.release.findings import findings_of
from tasks.release.intake.memory_forecast import measurements_at_once

_SAYS = Sentences(
    "learned_linkage",
    unpaired="Intruders who learn were not played. ",
    of_block=" Looked at were {names:commas} alone, which were moved to another record together.",
)
_NO_STANDARD = Sentence(
    "reference_standard.none",
    "The policy names no reference standard, so nobody knows whether the file is safe for its people.",
)

Measurement: TypeAlias = Callable[[Comparison], Iterable[Finding]]
"""What is found of files; what it draws, it draws from their generator."""


@dataclass(frozen=True)
class Evaluation:
    """Aggregates only: they travel between tasks and into the report."""

    findings: tuple[Finding, ...]
    curves: tuple[Curve, ...]
    variables: tuple[VariableSummary, ...]
    utility: UtilityView | None = None  # None: the measures of utility failed


def check_original(
    policy: Policy, frame: pd.DataFrame, variables: Variables, unit: str, file_of: FileOf = named_file
) -> list[Finding]:
    """One finding or more for each rule of the policy on the original; they are reported and do not decide.

    frame   : typed by `variables`, without identifiers
    unit    : what a record is, in the plural, such as "people"
    file_of : the file that a rule names, if it may be read
    """
    findings: list[Finding] = []
    for rule in policy.rules:
        look = partial(rule.find, frame, variables, "original", unit, Behind(file_of=file_of))
        findings += findings_of(rule.rule, "original", look)
    return [finding.as_reported() for finding in findings]


def check_masked(policy: Policy, files: Comparison, file_of: FileOf = named_file) -> Iterator[Finding]:
    """One finding or more for each rule of the policy on a masked file; they decide. `file_of` as above."""
    frame, variables = files.masked_with_people
    behind = Behind(files.recoded if files.paired else None, files.minimum_cell, file_of)
    for rule in policy.rules:
        look = partial(rule.find, frame, variables, "masked", files.unit, behind)
        yield from findings_of(rule.rule, "masked", look)
    yield from unjudged_sets(policy.rules, variables)


def check_masked_and_locate(policy: Policy, files: Comparison, file_of: FileOf = named_file) -> list[Finding]:
    """As `check_masked`; a rule that is broken also says through which variables and categories."""
    frame, variables = files.masked_with_people
    behind = Behind(files.recoded if files.paired else None, files.minimum_cell, file_of)
    findings = list(check_masked(policy, files, file_of))
    return with_failing_categories(findings, policy.rules, frame, variables, behind, files.unit)


def evaluate_file(policy: Policy, files: Comparison, declared: Variables, described: Variables) -> Evaluation:
    """Everything that the policy asks of a masked file compared with its original, several measurements at a time
    where threads and memory allow it; in whatever order they end, the same is found.

    declared, described : the variables before and after masking as far as the documents alone tell them
    """
    curves: list[Curve] = []
    views: list[UtilityView] = []

    def utility(files: Comparison) -> Sequence[Finding]:
        found = policy.utility.find(files)
        views.append(found.view)
        return found.findings

    standard = policy.reference_standard
    of_risk = [*reference_measurements(standard, files, curves, policy.attacks), *attack_measurements(policy)]
    # Measuring use takes longest, so it begins first. It comes last in the report.
    measured = _measurement("utility", "utility", utility)
    measurements = [measured, *of_risk]
    jobs = [partial(_listed, job) for job in (partial(measured, files), *_drawing(of_risk, files))]
    by_themselves = [job for job, each in zip(jobs, measurements, strict=True) if _fills_memory(each)]
    others = [job for job in jobs if job not in by_themselves]
    at_once = min(threads(), measurements_at_once(files.variables, len(files.original)))
    done = dict(zip(others, in_threads(others, at_once), strict=True)) | {job: job() for job in by_themselves}
    of_use, *found = [done[job] for job in jobs]
    summaries = summarise(files.original, files.recoded, files.masked, declared, described, files.minimum_cell)
    findings = (*chain.from_iterable(found), *of_use)
    return Evaluation(findings, tuple(curves), tuple(summaries), views[0] if views else None)


def against_reference(standard: ReferenceStandard | None, files: Comparison) -> tuple[list[Finding], tuple[Curve, ...]]:
    """Everything that a reference standard asks, and the curves; without one the answer is UNKNOWN."""
    curves: list[Curve] = []
    return list(reference_findings(standard, files, curves)), tuple(curves)


def attack_findings(policy: Policy, files: Comparison) -> Iterator[Finding]:
    """One finding or more for each attack of the policy."""
    for job in _drawing(attack_measurements(policy), files):
        yield from job()


def reference_findings(
    standard: ReferenceStandard | None,
    files: Comparison,
    curves: list[Curve],
    attacks: Sequence[DisclosureRule] = (),
) -> Iterator[Finding]:
    """As `against_reference`, each measured when it is asked for; what is drawn as curves is added to `curves`.

    attacks : those that the policy plays beside the standard
    """
    for job in _drawing(reference_measurements(standard, files, curves, attacks), files):
        yield from job()


def _drawing(measurements: Sequence[Measurement], files: Comparison) -> "list[partial[Iterable[Finding]]]":
    """Each measurement with draws of its own: in whatever order they are made, the same is found."""
    draws = files.rng.spawn(len(measurements))
    return [partial(each, files.drawing(rng)) for each, rng in zip(measurements, draws, strict=True)]


def _fills_memory(measurement: Measurement) -> bool:
    """Whether it has more in memory than any other, and keeps all processors busy by itself."""
    return isinstance(measurement, partial) and measurement.func in (_learned, _on_block)


def _listed(job: "partial[Iterable[Finding]]") -> list[Finding]:
    return list(job())


def attack_measurements(policy: Policy) -> list[Measurement]:
    """One for each attack of the policy."""
    return [_measurement(rule.rule, "attack", rule.find) for rule in policy.attacks]


def reference_measurements(
    standard: ReferenceStandard | None,
    files: Comparison,
    curves: list[Curve],
    attacks: Sequence[DisclosureRule],
) -> list[Measurement]:
    """Those of `reference_findings`."""

    def judgement(files: Comparison) -> Sequence[Finding]:
        if standard is None:
            says = _NO_STANDARD()
            return [Finding(rule="reference_standard", verdict=Verdict.UNKNOWN, stage="reference", **as_fields(says))]
        findings, found = judge_reference_standard(standard, files)
        curves.extend(found)
        return findings

    asked = [_measurement("reference_standard", "reference", judgement)]
    if standard is None:
        return asked
    asked.append(_measurement("unique_values", "reference", lambda files: [judge_unique_values(standard, files)]))
    if not files.paired:
        return [*asked, partial(_unpaired, standard, attacks)]
    return [
        *asked,
        _measurement("lone_copies", "reference", lambda files: [judge_lone_copies(standard, files)]),
        _measurement("reidentification", "reference", lambda files: [judge_reidentification(standard, files)]),
        partial(_learned, standard),
        *(partial(_on_block, standard, block) for block in files.blocks),
        _measurement("transparency", "attack", lambda files: judge_transparency(standard.transparency, files)),
    ]


def _measurement(rule: str, stage: str, find: Callable[[Comparison], Sequence[Finding]]) -> Measurement:
    return lambda files: findings_of(rule, stage, partial(find, files))


def _unpaired(standard: ReferenceStandard, attacks: Sequence[DisclosureRule], files: Comparison) -> list[Finding]:
    """In place of intruders who learn from pairs, which nobody has: those who need none.

    A policy that plays them itself, against people who were set aside, is for files of which no record was anybody's,
    and nothing is missing. Under another one the file may have been masked record by record, too strongly for whoever
    compares values and too weakly for whoever learned from pairs, so a person decides.
    """
    if not (standard.learned.binding or any(intruder.binding for intruder in standard.intruders)):
        return []
    played = any(isinstance(rule, SubsetInference) and rule.binding for rule in attacks)
    if played and files.holdout is not None:
        return []
    findings = []
    if not played:
        # One record of eleven alike is read with the others: who may be found so may be read so.
        rule = SubsetInference(limit=max(standard.margin, standard.learned.found))
        findings += findings_of(rule.rule, "attack", partial(rule.find, files))
    missing = Finding(
        rule="learned_linkage", verdict=Verdict.REVIEW, stage="reference",
        **as_fields(_SAYS.unpaired() + UNPAIRED()),
        attempted=len(files.masked), completed=0,
    )  # fmt: skip
    return [*findings, missing]


def _learned(standard: ReferenceStandard, files: Comparison) -> Iterator[Finding]:
    """On intruders who learned from half of the people; they learn once."""
    learned = cache(lambda: learned_intruder(files, standard.learned.people))
    yield from findings_of(
        "learned_linkage",
        "reference",
        lambda: judge_learned_linkage(standard.learned, standard.margin, files, learned()),
    )
    if standard.intruders:
        yield from findings_of(
            "attribute_gain", "reference", lambda: judge_partial_knowledge(standard.intruders, files, learned())
        )


def _on_block(standard: ReferenceStandard, block: Block, files: Comparison) -> Iterator[Finding]:
    """Who is found by variables that left their records together, wherever these are now."""
    names = ", ".join(block.columns)
    for finding in _learned(standard, files.of_block(block)):
        scope = f"{finding.scope}: {names}".removeprefix(": ")
        yield finding.adding(_SAYS.of_block(names=block.columns)).model_copy(update={"scope": scope})
