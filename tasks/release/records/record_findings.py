"""What is found of a masked file: by the policy's rules, by the reference standard, by attacks, and of its use.

Nothing here knows of a release: frames and a policy in, findings and figures out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

import pandas as pd
from pandas.api.types import is_float_dtype

from policies.check import Check, check
from policies.policy import Policy
from policies.rules.failing_categories import with_failing_categories
from policies.standard.reference_standard import ReferenceStandard
from policies.standard.standard_checks import checks_of
from sluice.documents.document_reading import named_file
from sluice.ground.errors import DataError
from sluice.ground.machine import threads
from sluice.ground.parallel_jobs import in_threads
from sluice.ground.rule import Background, DisclosureRule, FileOf
from sluice.ground.variables import Role, Variables, with_role
from sluice.ground.verdict import Finding
from sluice.risk.classes.km_anonymity import unjudged_sets
from sluice.risk.people_of_records import groups_of_people
from sluice.risk.reference.reference_attack import Curve
from sluice.utility.comparison import Comparison
from sluice.utility.utility_view import UtilityView
from sluice.utility.variable_summary import VariableSummary, summarise
from tasks.release.crashed_measures import findings_of
from tasks.release.intake.staging import measurements_at_once

_LARGEST = 1e150  # of larger numbers no squares can be added up


@dataclass(frozen=True)
class Evaluation:
    """Aggregates only: they travel between tasks and into the report."""

    findings: tuple[Finding, ...]
    curves: tuple[Curve, ...]
    variables: tuple[VariableSummary, ...]
    utility: UtilityView | None = None  # None: the measures of utility failed


def check_original(
    policy: Policy,
    frame: pd.DataFrame,
    variables: Variables,
    unit: str,
    file_of: FileOf = named_file,
    numbers_alone: bool = False,
) -> list[Finding]:
    """One finding or more for each rule of the policy on the original; they are reported and do not decide.

    frame   : typed by `variables`, without identifiers
    unit    : what a record is, in the plural, such as "people"
    file_of : the file that a rule names, if it may be read
    numbers_alone : whether the contract says that there are no quasi-identifiers
    """
    background = Background(file_of=file_of, numbers_alone=numbers_alone)
    findings: list[Finding] = []
    for rule in policy.rules:
        look = partial(rule.find, frame, variables, "original", unit, background)
        findings += findings_of(rule.rule, "original", look)
    return [finding.as_reported() for finding in findings]


def _background(files: Comparison, file_of: FileOf) -> Background:
    original = files.recoded if files.paired else None
    keys = with_role(files.variables, Role.QUASI_IDENTIFIER)
    # A column under another name may be one of them: then nobody knows that all are withheld.
    withheld = not files.told_of & {*keys} and files.masked.columns.isin([*files.variables]).all()
    return Background(
        original,
        files.minimum_cell,
        file_of,
        numbers_alone=files.numbers_alone,
        withheld_keys=tuple(keys) if withheld else (),
    )


def check_masked(policy: Policy, files: Comparison, file_of: FileOf = named_file) -> Iterator[Finding]:
    """One finding or more for each rule of the policy on a masked file; they decide. `file_of` as above."""
    frame, variables = files.masked_with_people
    background = _background(files, file_of)
    for rule in policy.rules:
        look = partial(rule.find, frame, variables, "masked", files.unit, background)
        yield from findings_of(rule.rule, "masked", look)
    yield from unjudged_sets(policy.rules, variables)


def check_masked_and_locate(policy: Policy, files: Comparison, file_of: FileOf = named_file) -> list[Finding]:
    """As `check_masked`; a rule that is broken also says through which variables and categories."""
    frame, variables = files.masked_with_people
    background = _background(files, file_of)
    findings = list(check_masked(policy, files, file_of))
    file = (files.original, files.variables) if files.paired else (frame, variables)  # the plan may remove households
    units = groups_of_people(*file)
    return with_failing_categories(findings, policy.rules, frame, variables, background, files.unit, units)


def evaluate_file(policy: Policy, files: Comparison, declared: Variables, described: Variables) -> Evaluation:
    """Everything that the policy asks of a masked file compared with its original, several measurements at a time
    where threads and memory allow it; in whatever order they end, the same is found.

    declared, described : the variables before and after masking as far as the documents alone tell them
    raises : DataError for numbers beyond 1e150, whose squares cannot be added up
    """
    _refuse_incomputable(files)
    curves: list[Curve] = []
    views: list[UtilityView] = []

    def utility(files: Comparison) -> Sequence[Finding]:
        found = policy.utility.find(files)
        views.append(found.view)
        return found.findings

    of_standard = checks_of(policy.reference_standard, files, curves, policy.attacks, policy.rules)
    of_risk = [*of_standard, *attack_checks(policy)]
    # Measuring use takes longest, so it begins first. It comes last in the report.
    of_utility = check("utility", "utility", utility)
    jobs = [partial(_listed, job) for job in (partial(_made, of_utility, files), *_drawing(of_risk, files))]
    by_themselves = [job for job, each in zip(jobs, [of_utility, *of_risk], strict=True) if each.by_itself]
    others = [job for job in jobs if job not in by_themselves]
    at_once = min(threads(), measurements_at_once(files.variables, len(files.original)))
    done = dict(zip(others, in_threads(others, at_once), strict=True)) | {job: job() for job in by_themselves}
    of_use, *found = [done[job] for job in jobs]
    summaries = summarise(files.original, files.recoded, files.masked, declared, described, files.minimum_cell)
    findings = (*chain.from_iterable(found), *of_use)
    return Evaluation(findings, tuple(curves), tuple(summaries), views[0] if views else None)


def _refuse_incomputable(files: Comparison) -> None:
    for frame in (files.original, files.masked):
        for name, column in frame.items():
            if is_float_dtype(column.dtype) and (column.abs() > _LARGEST).any():
                raise DataError(
                    f"'{name}' holds numbers beyond 1e150, of which no mean or variance can be computed. Declare them "
                    "as missing codes if that is what they mean, or use a larger unit."
                )


def against_reference(standard: ReferenceStandard | None, files: Comparison) -> tuple[list[Finding], tuple[Curve, ...]]:
    """Everything that a reference standard asks, and the curves; without one the answer is UNKNOWN.

    raises : DataError for numbers beyond 1e150, whose squares cannot be added up
    """
    _refuse_incomputable(files)
    curves: list[Curve] = []
    return list(reference_findings(standard, files, curves)), tuple(curves)


def risk_findings(policy: Policy, files: Comparison) -> Iterator[Finding]:
    """What the reference standard and the attacks find, each measured when it is asked for: what runs by itself, which
    takes longest, comes last, so that whoever stops at the first finding against the file hardly waits for it."""
    checks = [*checks_of(policy.reference_standard, files, [], policy.attacks, policy.rules), *attack_checks(policy)]
    jobs = zip(_drawing(checks, files), checks, strict=True)
    for job, _ in sorted(jobs, key=lambda each: each[1].by_itself):
        yield from job()


def reference_findings(
    standard: ReferenceStandard | None,
    files: Comparison,
    curves: list[Curve],
    attacks: Sequence[DisclosureRule] = (),
    rules: Sequence[DisclosureRule] = (),
) -> Iterator[Finding]:
    """As `against_reference`, each measured when it is asked for; what is drawn as curves is added to `curves`.

    attacks : those that the policy plays beside the standard
    rules   : those of the policy on the file by itself
    """
    for job in _drawing(checks_of(standard, files, curves, attacks, rules), files):
        yield from job()


def _drawing(checks: Sequence[Check], files: Comparison) -> "list[partial[Iterator[Finding]]]":
    """Each check with draws of its own: in whatever order they are made, the same is found."""
    draws = files.rng.spawn(len(checks))
    return [partial(_made, each, files.drawing(rng)) for each, rng in zip(checks, draws, strict=True)]


def _made(check: Check, files: Comparison) -> Iterator[Finding]:
    """What a check finds, part by part; of a part that breaks down, that it is UNKNOWN."""
    for part in check.parts(files):
        for finding in findings_of(part.rule, part.stage, part.find):
            yield check.adding(finding) if check.adding else finding


def _listed(job: "partial[Iterator[Finding]]") -> list[Finding]:
    return list(job())


def attack_checks(policy: Policy) -> list[Check]:
    """Those of the policy's attacks."""
    return [each for rule in policy.attacks for each in rule.checks]
