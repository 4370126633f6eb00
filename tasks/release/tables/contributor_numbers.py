"""Published numbers of contributors, audited as the table of counts that they are: suppressed ones may follow."""

from collections.abc import Sequence
from dataclasses import replace

from sluice.tabular.audit.audit import Audit, audit
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Statuses
from sluice.tabular.model.contributor_counts import contributor_counts
from sluice.tabular.rules.sensitivity import SensitivityRule, requirements_of
from sluice.verdict import Finding, Verdict
from tasks.release.tables.protection import ProtectionRequest

_TURN_OFF = "Set form.tell_contributors to false."


def judge_contributor_numbers(
    cells: Cells, status: Statuses, request: ProtectionRequest, workers: int = 1
) -> list[Finding]:
    """Whether the number of contributors of a cell that has too few of them follows from those that are published.

    status : shape (c,), of the pattern of the values, under which the numbers are published
    """
    counts = contributor_counts(cells)
    if counts is None:
        says = (
            "Numbers of contributors are published, and contributors fall in several cells of the tables, so that no "
            f"sum between the numbers holds by which their audit could go: nobody knows what they reveal. {_TURN_OFF}"
        )
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
        says = (
            f"Of {len({breach.cell for breach in found.breaches}):,} cells with too few contributors by the policy, "
            f"the published numbers tell too much: of numbers, {found.breaches[0].says}. {_TURN_OFF}"
        )
        return _finding(Verdict.FAIL, says, found)
    if not found.safe:
        says = f"Of the attacks on numbers of contributors, {found.attempted - found.completed:,} were not decided."
        return _finding(Verdict.UNKNOWN, f"{says} {_TURN_OFF}", found)
    says = "From the published numbers of contributors, no number that the policy calls too small can be worked out."
    return _finding(Verdict.PASS, says, found)


def _finding(verdict: Verdict, says: str, found: Audit | None = None) -> Finding:
    if found is None:
        return Finding(rule="contributor_numbers", verdict=verdict, stage="masked", says=says)
    return Finding(
        rule="contributor_numbers", verdict=verdict, stage="masked", says=says,
        observed=float(len(found.breaches)), limit=0, attempted=found.attempted, completed=found.completed,
    )  # fmt: skip
