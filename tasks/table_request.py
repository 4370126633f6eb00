"""What is asked of the cells of a release's tables: by the policy's rules and, beforehand, by people."""

from dataclasses import dataclass
from datetime import UTC, datetime

from policies.rules.table_rules import waived_cells
from sluice.sources.cells_file import read_asking
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells
from sluice.tabular.rules.request_rule import RequestedContributions
from sluice.tabular.rules.sensitivity import SensitivityRule, requirements_of
from sluice.tabular.suppression.costs import costs
from sluice.tabular.suppression.manual_status import ManualRequest, apply_manual, manual_rows, waivers_needed
from sluice.verdict import Finding
from tasks.case import Release
from tasks.table_terms import SecondarySuppression
from tasks.tabulate import Tabulated


@dataclass(frozen=True)
class TableRequest:
    """What protection and audit are both held to."""

    rules: tuple[SensitivityRule, ...]
    assumptions: Assumptions
    asked: ManualRequest
    findings: tuple[Finding, ...]  # on the cells that people want published although a rule forbids it


def request_on(release: Release, tabulated: Tabulated, cells: Cells) -> TableRequest:
    """Judge all cells by the policy, and apply the a-priori file. Raises DataError where the two contradict."""
    definition, policy = release.case.definition, release.case.policy
    rules = tuple(rule.sensitivity() for rule in policy.table_rules)
    nonnegative = definition.measure.negative == "refuse"
    contributions = cells.contributions
    if definition.measure.requested is not None:
        asking = read_asking(release.case.workspace.vault.verify(tabulated.sha256, ".npz"))
        contributions = RequestedContributions.of(cells, asking)
    requirements = requirements_of(rules, contributions, nonnegative)
    protection = definition.protection
    blanks = protection if isinstance(protection, SecondarySuppression) else SecondarySuppression()
    rows = manual_rows(blanks.a_priori, [d.name for d in cells.dimensions], cells.decimals)
    needed = waivers_needed(cells, requirements, rows)
    today, owner = datetime.now(UTC).date(), definition.owner
    findings, waived = waived_cells(needed, policy.waivers, definition.name, today, owner)
    asked = apply_manual(cells, requirements, rows, costs(cells, blanks.cost), waived=waived, nonnegative=nonnegative)
    return TableRequest(rules, policy.table_attackers.assumptions(nonnegative), asked, tuple(findings))
