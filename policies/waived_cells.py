"""Waived cells: sensitive cells that a waiver allows to be published."""

from collections.abc import Iterable, Sequence
from datetime import date

from policies.waivers import Waiver, apply_waivers
from sluice.verdict import Finding, Verdict


def waived_cells(
    needed: Iterable[tuple[str, str]], waivers: Sequence[Waiver], release_name: str, today: date, submitter: str = ""
) -> tuple[list[Finding], set[tuple[str, str]]]:
    """Which sensitive cells may be published all the same, and the findings that the report goes on showing.

    needed  : (rule, cell), as `sluice.tabular.suppression.manual_status.waivers_needed` gives them
    waivers : of the policy; `rule` is the rule that calls the cell sensitive and `scope` the cell by its codes, such as
              "nace KA1, region Total"
    returns : one finding for each that is needed, FAIL and marked with its waiver if there is a live one, and remarks;
              the (rule, cell) that are waived, for `apply_manual`
    """
    findings = [
        Finding(
            rule=rule,
            verdict=Verdict.FAIL,
            stage="original",
            scope=cell,
            says=f"The manual file asks to publish the cell {cell}, which is sensitive.",
        )
        for rule, cell in needed
    ]
    named = {finding.rule for finding in findings}
    scopes = {finding.scope for finding in findings}
    for_cells = [waiver for waiver in waivers if waiver.rule in named and waiver.scope in {*scopes, release_name}]
    decided = apply_waivers(findings, for_cells, release_name, today, submitter)
    return decided, {(finding.rule, finding.scope) for finding in decided[: len(findings)] if finding.waiver}
