"""Staging: the source into the vault, batch by batch, typed by the contract and put in order. Nothing is recorded."""

import os
from collections.abc import Callable

from schemas.reading.typing import SourceTyping
from sluice.ground.variables import Variable
from sluice.publication.records_file import write_in_order, write_parquet
from sluice.sources.permission import permitted_source
from sluice.sources.separate_reading import read_apart
from sluice.sources.tabular_source import TabularSource
from sluice.transport import persistently
from tasks.release.definition import Definition
from tasks.release.documents import Documents
from tasks.release.memory_forecast import within_memory
from tasks.release.release import StagedTable


def stage(
    product: Documents[Definition], secret: Callable[[str], str | None] = os.environ.get
) -> tuple[StagedTable, dict[str, Variable]]:
    """The data of a definition, staged, and their variables with the categories that were found.

    A source that cannot be reached, or no more, is read again from its beginning for a while. Raises DataError.

    secret : what a name of a secret in the definition stands for
    """
    source = permitted_source(product.definition.source, product.path.parent, secret)
    return persistently(lambda: _staged(product, source))


def _staged(product: Documents[Definition], source: TabularSource) -> tuple[StagedTable, dict[str, Variable]]:
    """All of it from the first record on: what was read before a connection was lost may be of another state."""
    vault, contract = product.workspace.vault, product.contract
    typing = SourceTyping(contract, vault.pseudonym, source.decimal_mark)
    with vault.scratch(".parquet") as as_read, vault.scratch(".parquet") as path:
        batches = read_apart(source, list(contract.staged))
        if product.definition.product == "records":  # tables are added up, and held as cells
            batches = within_memory(batches, contract.staged, contract.rows.minimum)
        write_parquet((typing.type_batch(raw) for raw in batches), as_read, contract.staged)
        variables = typing.variables()
        # A database gives the same records in another order each time. Were that other data, they would have another
        # seed, and could be masked anew until the dice fall well.
        rows = write_in_order(as_read, path, contract.staged, contract.record_key)
        return StagedTable(vault.keep(path, ".parquet"), rows), variables
