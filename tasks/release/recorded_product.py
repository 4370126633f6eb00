"""A release as it was judged: by the documents that the vault keeps, whatever became of the files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from policies.policy import Policy
from schemas.contract import Contract
from sluice.custody.ledger import Entry, last
from sluice.custody.states import State
from sluice.custody.workspace import Workspace
from sluice.ground.errors import DataError
from tasks.release.product import AnyProduct
from tasks.release.records.definition import RecordsDefinition
from tasks.release.records.product import Records
from tasks.release.release import Release, StagedTable, variables_from_json
from tasks.release.tables.definition import TablesDefinition
from tasks.release.tables.product import Tables


def release_as_judged(workspace: Workspace, entries: Sequence[Entry]) -> Release[Any]:
    """The release of these entries, under the policy that it was judged by. Raises DataError when the vault lost it."""
    received = last(entries, State.RECEIVED)
    if received is None:
        raise DataError("it was not received")
    vault, body = workspace.vault, received.body
    contract, policy, plan = (vault.verify(body[name], ".json").read_bytes() for name in ("contract", "policy", "plan"))
    documents = Contract.model_validate_json(contract), Policy.model_validate_json(policy), workspace
    product: AnyProduct
    path = Path(f"{body['definition']}.yaml")  # errors begin by it; the file itself may be anywhere by now
    if body["product"] == RecordsDefinition.product:
        records = RecordsDefinition.model_validate_json(plan)
        product = Records(path, records, records.under(documents[1]), *documents)
    else:
        tables = TablesDefinition.model_validate_json(plan)
        product = Tables(path, tables, tables, *documents)
    held = {name: StagedTable(**body[name]) if body[name] else None for name in ("data", "original", "holdout")}
    data, original = held["data"], held["original"]
    assert data is not None
    assert original is not None
    variables = variables_from_json(vault.verify(body["variables"], ".json").read_bytes())
    return Release(product, received.release, data, original, held["holdout"], variables)
