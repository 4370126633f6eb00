"""What is asked of the cells of a release's tables: by the policy's rules and, beforehand, by people."""

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from policies.waived_cells import waived_cells
from sluice.sources.table_cells import read_asking
from sluice.tabular.model.cells import Cells
from sluice.tabular.rules.request_rule import RequestedContributions
from sluice.tabular.suppression.manual_status import manual_rows
from tasks.release.tables.protection import ProtectionRequest
from tasks.release.tables.protection_method import SecondarySuppression
from tasks.release.tables.published_cells import StagedCells, TablesRelease


def request_of(release: TablesRelease, staged: StagedCells, cells: Cells) -> ProtectionRequest:
    """Judge all cells by the policy, and apply the a-priori file. Raises DataError where the two contradict."""
    definition, policy = release.product.definition, release.product.policy
    contributions, protection = cells.contributions, definition.protection
    if definition.measure.requested is not None:
        asking = read_asking(release.vault.verify(staged.sha256, ".npz"))
        contributions = RequestedContributions.of(cells, asking)
    pattern = protection if isinstance(protection, SecondarySuppression) else SecondarySuppression()
    return ProtectionRequest.of(
        cells,
        policy.table_rules,
        replace(
            policy.table_attackers.assumptions(definition.measure.measure),
            statuses=definition.form.tell_primary and isinstance(protection, SecondarySuppression),
        ),
        contributions=contributions,
        rows=manual_rows(pattern.a_priori, [d.name for d in cells.dimensions], cells.decimals),
        cost=pattern.cost,
        waive=partial(
            waived_cells,
            waivers=policy.waivers,
            release_name=definition.name,
            today=datetime.now(UTC).date(),
            submitter=definition.owner,
        ),
    )
