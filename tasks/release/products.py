"""The one place that chooses between the products: by the definition, where it is loaded."""

from pathlib import Path

from sluice.custody.workspace import Workspace
from sluice.documents.documents import Written, parse_document, read_yaml
from tasks.release.documents import load_documents
from tasks.release.product import AnyProduct
from tasks.release.records.definition import RecordsDefinition
from tasks.release.records.product import Records
from tasks.release.tables.definition import TablesDefinition, with_named_files
from tasks.release.tables.product import Tables


def load_definition(path: Path) -> RecordsDefinition | TablesDefinition:
    """The definition in a YAML file, its paths as written: of tables when it has `tables`. Raises DocumentError."""
    written = read_yaml(path)
    if "tables" not in written:
        return parse_document(RecordsDefinition, written, str(path))
    content = Written(with_named_files(written, path.parent))
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
