"""Check: the policy's rules on a table. On the original they tell the risk, on the masked file what must hold."""

from policies.formula_cells import formula_cells
from sluice.verdict import Finding
from tasks.case import Masked, Release
from tasks.editions import few_changes
from tasks.release.findings import findings_of
from tasks.release.records.judgement import check_rules
from tasks.step import step


@step
def check(release: Release, masked: Masked | None = None) -> list[Finding]:
    """One finding or more for each rule; those on the original are reported and do not decide."""
    if masked is None:
        stage, frame, variables = "original", release.read(release.original), release.variables
    else:
        stage, frame, variables = "masked", release.read(masked), release.released
    policy = release.case.policy
    findings = check_rules(policy, frame, variables, stage, release.unit)
    if masked is None:
        return findings
    return [
        *findings,
        *policy.overlooked(variables),
        *formula_cells(frame),
        *findings_of("few_changes", "masked", lambda: few_changes(release)),
    ]
