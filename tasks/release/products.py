"""The one place that chooses between the products: by the definition, where it is loaded, and by the documents that the
vault keeps of a release that was judged.

What judges and publishes is imported when the documents were read: whoever wrote one wrongly need not wait for it.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from sluice.documents.document_reading import Written, parse_document, read_yaml
from sluice.ground.errors import DataError, DocumentError
from sluice.ground.machine import without_collecting

if TYPE_CHECKING:
    from sluice.custody.ledger_entry import Entry
    from sluice.custody.workspace import Workspace
    from tasks.release.documented_release import Release
    from tasks.release.product import AnyProduct
    from tasks.release.records.record_definition import RecordsDefinition
    from tasks.release.release_definition import Definition
    from tasks.release.tables.definition import TablesDefinition


TO_DRAFT = "draft"
"""What a definition may have in place of a plan, until one is drafted."""


@without_collecting()
def load_definition(path: Path) -> "RecordsDefinition | TablesDefinition":
    """The definition in a YAML file, its paths as written: of tables when it has `tables`. Raises DocumentError."""
    written = read_yaml(path)
    if written.get("plan") == TO_DRAFT:
        raise DocumentError(
            f"{path}: plan: '{TO_DRAFT}' asks for a plan. This command drafts one for the contract and writes another "
            f"definition: {_drafting(path, written)}"
        )
    if "tables" not in written:
        from tasks.release.records.record_definition import RecordsDefinition

        return parse_document(RecordsDefinition, written, str(path))
    from sluice.sources.permission import permitted_file
    from tasks.release.tables.definition import TablesDefinition
    from tasks.release.tables.specification import with_named_files

    content = Written(with_named_files(written, path.parent, permitted_file))
    content.root = written.root
    return parse_document(TablesDefinition, content, str(path))


def _drafting(path: Path, written: Mapping[str, Any]) -> str:
    """The command that drafts the plan of a definition, as far as it can be read off it."""
    from tasks.tuning.audiences import USES

    source = written["source"] if isinstance(written.get("source"), dict) else {}
    found, table = source.get("path"), source.get("table") or source.get("sheet")
    names = {"--table": table, "--layout": source.get("layout")}
    policy = Path(str(written.get("policy", ""))).stem
    use = next((use for use, each in USES.items() if each.policy == policy), None)
    parts = [
        "sluice init",
        quote(os.path.normpath(path.parent / found)) if isinstance(found, str) else "URL" if table else "DATA",
        f"--contract {quote(os.path.normpath(path.parent / str(written.get('contract') or 'CONTRACT')))}",
        *(f"{option} {quote(str(value))}" for option, value in names.items() if value),
        *([f"--for {use}"] if use else []),
    ]
    return " ".join(parts)


def load_product(path: Path, workspace: "Workspace") -> "AnyProduct":
    """The definition and all that it names. Raises DocumentError when any is wrong or they do not fit together."""
    return product_of(path, load_definition(path), workspace)


@without_collecting()
def product_of(path: Path, definition: "RecordsDefinition | TablesDefinition", workspace: "Workspace") -> "AnyProduct":
    """The same with a definition that was read from `path`."""
    from tasks.release.release_documents import load_documents

    def kind(*documents: Any) -> "AnyProduct":
        product: AnyProduct = _product(definition)(*documents)
        return product

    product = load_documents(kind, path, definition, workspace)
    product.refuse_unfit()
    return product


def _product(definition: "Definition") -> Any:
    """The class of documents that a definition is one of."""
    if definition.product == "tables":
        from tasks.release.tables.table_product import Tables

        return Tables
    from tasks.release.records.record_product import Records

    return Records


def release_as_judged(workspace: "Workspace", entries: "Sequence[Entry]") -> "Release[Any]":
    """The release of these entries, under the policy that it was judged by. Raises DataError when the vault lost it."""
    from policies.policy import Policy
    from schemas.contract import Contract
    from sluice.custody.ledger_entry import last
    from sluice.custody.states import State
    from tasks.release.documented_release import Release, StagedTable, variables_from_json
    from tasks.release.records.record_definition import RecordsDefinition
    from tasks.release.tables.definition import TablesDefinition

    received = last(entries, State.RECEIVED)
    if received is None:
        raise DataError("it was not received")
    vault, body = workspace.vault, received.body
    kept = {name: vault.verify(body[name], ".json").read_bytes() for name in ("contract", "policy", "plan")}
    kind = RecordsDefinition if body["product"] == RecordsDefinition.product else TablesDefinition
    definition, policy = kind.model_validate_json(kept["plan"]), Policy.model_validate_json(kept["policy"])
    path = Path(f"{body['definition']}.yaml")  # errors begin by it; the file itself may be anywhere by now
    product = _product(definition)(
        path, definition, definition.under(policy), Contract.model_validate_json(kept["contract"]), policy, workspace
    )
    held = {name: StagedTable(**body[name]) if body[name] else None for name in ("data", "original", "holdout")}
    data, original = held["data"], held["original"]
    assert data is not None
    assert original is not None
    variables = variables_from_json(vault.verify(body["variables"], ".json").read_bytes())
    return Release(product, received.release, data, original, held["holdout"], variables)
