"""Published numbers of contributors, audited as the table of counts that they are: suppressed ones may follow."""

from collections.abc import Sequence
from dataclasses import replace

from sluice.ground.sentence import Saying, Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict
from sluice.tabular.audit.audit import Audit, audit
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Statuses
from sluice.tabular.model.contributor_counts import contributor_counts
from sluice.tabular.rules.sensitivity import SensitivityRule, requirements_of
from tasks.release.tables.protection import ProtectionRequest

_SAYS = Sentences(
    "contributor_numbers",
    no_sums="Numbers of contributors are published, and contributors fall in several cells of the tables, so "
    "the numbers do not add up and cannot be audited. Set "
    "form.tell_contributors to false.",
    told="The published numbers disclose too much about {cells:,} cells with too few contributors by the policy: "
    "in numbers of contributors, {first}. Set form.tell_contributors to false.",
    not_decided="Among the attacks on numbers of contributors, {attacks:,} were not decided. Set "
    "form.tell_contributors to false.",
    none="From the published numbers of contributors, no number that the policy calls too small can be worked out.",
)


def judge_contributor_numbers(
    cells: Cells, status: Statuses, request: ProtectionRequest, workers: int = 1
) -> list[Finding]:
    """Whether the number of contributors of a cell that has too few of them follows from those that are published.

    status : shape (c,), of the pattern of the values, under which the numbers are published
    """
    counts = contributor_counts(cells)
    if counts is None:
        says = _SAYS.no_sums()
        return [_finding(Verdict.REVIEW, says)]
    rules, assumptions = frequency_rules(request.rules), of_counts(request.assumptions)
    requirements = requirements_of(rules, counts.contributions)
    return [_of_audit(audit(counts, status, requirements, rules, assumptions, workers=workers))]


def frequency_rules(rules: Sequence[SensitivityRule]) -> tuple[SensitivityRule, ...]:
    """Those that say how few contributors are too few; of a policy without a minimum frequency all rules."""
    return tuple(rule for rule in rules if rule.rule == "minimum_frequency") or tuple(rules)


def of_counts(assumptions: Assumptions) -> Assumptions:
    """What the readers of a table know of its numbers of contributors: of values beforehand, nothing helps."""
    return replace(assumptions, nonnegative=True, known_within=None, beforehand=None, counts="contributors")


def _of_audit(found: Audit) -> Finding:
    if found.breaches:
        says = _SAYS.told(cells=len({breach.cell for breach in found.breaches}), first=found.breaches[0].says)
        return _finding(Verdict.FAIL, says, found)
    if not found.safe:
        says = _SAYS.not_decided(attacks=found.attempted - found.completed)
        return _finding(Verdict.UNKNOWN, says, found)
    says = _SAYS.none()
    return _finding(Verdict.PASS, says, found)


def _finding(verdict: Verdict, says: Saying, found: Audit | None = None) -> Finding:
    if found is None:
        return Finding(rule="contributor_numbers", verdict=verdict, stage="masked", **as_fields(says))
    return Finding(
        rule="contributor_numbers", verdict=verdict, stage="masked", **as_fields(says),
        observed=float(len(found.breaches)), limit=0, attempted=found.attempted, completed=found.completed,
    )  # fmt: skip
