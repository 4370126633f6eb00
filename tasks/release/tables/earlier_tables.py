"""Tables that the public could read once, with the documents by which they were judged."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from policies.policy import Policy
from schemas.contract import Contract
from sluice.custody.ledger import Entry, last
from sluice.custody.states import State
from sluice.custody.workspace import Workspace
from sluice.tabular.model.cells import Cells
from sluice.tabular.rules.sensitivity import SensitivityRule
from tasks.release.editions.earlier_releases import is_pruned
from tasks.release.tables.cells import cells_in
from tasks.release.tables.definition import TablesDefinition
from tasks.release.tables.fit import measure_of
from tasks.release.tables.protection import ProtectionRequest
from tasks.release.tables.published_cells import PublishedCells

_OTHERS = 2**61  # above every number of a contributor


@dataclass(frozen=True, eq=False)
class EarlierTables:
    """The cells of an earlier release, what was published of them, and by which documents."""

    release: str
    definition: TablesDefinition
    policy: Policy
    cells: Cells
    published: PublishedCells

    @property
    def rules(self) -> list[SensitivityRule]:
        return [rule.sensitivity() for rule in self.policy.table_rules]

    @property
    def request(self) -> ProtectionRequest:
        """What its rules ask; who asked for protection is not known any more, so everybody counts as having asked."""
        assumptions = self.policy.table_attackers.assumptions(self.definition.measure.measure)
        return ProtectionRequest.of(self.cells, self.rules, assumptions)


def read_earlier_tables(workspace: Workspace, release: str, entries: Sequence[Entry]) -> EarlierTables | None:
    """The tables of a release by its entries; None for another product, and for what was deleted by rule.

    Raises DataError where the vault lost them.
    """
    vault, received, protected = workspace.vault, last(entries, State.RECEIVED), last(entries, State.MASKED)
    if received is None or protected is None or received.body["product"] != TablesDefinition.product:
        return None
    if any(is_pruned(workspace, protected.body[part], ".npz") for part in ("cells", "published_cells")):
        return None  # `pruned_publications` speaks of it
    plan, contract, policy = (
        vault.verify(received.body[document], ".json").read_bytes() for document in ("plan", "contract", "policy")
    )
    definition, known = TablesDefinition.model_validate_json(plan), Contract.model_validate_json(contract)
    cells = cells_in(vault.verify(protected.body["cells"], ".npz"), definition, known)
    if not measure_of(definition, known).hashed:  # records are numbered anew each time: nobody is known again
        cells = replace(cells, owners=np.where(cells.owners < 0, cells.owners, cells.owners + _OTHERS))
    published = PublishedCells.read(vault.verify(protected.body["published_cells"], ".npz"))
    return EarlierTables(release, definition, Policy.model_validate_json(policy), cells, published)
