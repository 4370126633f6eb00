"""The one place that chooses between the products: by the definition, where it is loaded, and by the documents that the
vault keeps of a release that was judged.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from policies.policy import Policy
from schemas.contract import Contract
from sluice.custody.ledger import Entry, last
from sluice.custody.states import State
from sluice.custody.workspace import Workspace
from sluice.documents.document_reading import Written, parse_document, read_yaml
from sluice.ground.errors import DataError
from sluice.sources.permission import permitted_file
from tasks.release.documented_release import Release, StagedTable, variables_from_json
from tasks.release.product import AnyProduct
from tasks.release.records.record_definition import RecordsDefinition
from tasks.release.records.record_product import Records
from tasks.release.release_documents import load_documents
from tasks.release.tables.definition import TablesDefinition
from tasks.release.tables.specification import with_named_files
from tasks.release.tables.table_product import Tables


def load_definition(path: Path) -> RecordsDefinition | TablesDefinition:
    """The definition in a YAML file, its paths as written: of tables when it has `tables`. Raises DocumentError."""
    written = read_yaml(path)
    if "tables" not in written:
        return parse_document(RecordsDefinition, written, str(path))
    content = Written(with_named_files(written, path.parent, permitted_file))
    content.root = written.root
    return parse_document(TablesDefinition, content, str(path))


def load_product(path: Path, workspace: Workspace) -> AnyProduct:
    """The definition and all that it names. Raises DocumentError when any is wrong or they do not fit together."""
    definition = load_definition(path)
    product: AnyProduct
    if isinstance(definition, TablesDefinition):
        product = load_documents(Tables, path, definition, workspace)
    else:
        product = load_documents(Records, path, definition, workspace)
    product.refuse_unfit()
    return product


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
