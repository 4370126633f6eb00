"""Settle: what is current, superseded or overtaken by now, in the ledger, on the shelves and in public databases."""

import logging

from sluice.custody.shelf_documents import is_same_shelf
from sluice.custody.workspace import Workspace
from sluice.ground.errors import DataError, SluiceError
from sluice.ground.log import log
from tasks.flow_run import resume_runs
from tasks.release.editions.current_edition import settle_editions
from tasks.release.editions.schema_views import write_views
from tasks.release.editions.shelf_catalogue import write_catalogues
from tasks.release.product import AnyProduct
from tasks.step import step


@step
def settle(product: AnyProduct) -> None:
    """Bring every line of editions in order, in the ledger, on the shelves and in the views of public databases.

    Runs of releases that are overtaken end.

    raises : DataError where this release's own shelf or views cannot be written; what was published stays so
    """
    workspace, definition, own = product.workspace, product.definition, []
    for release in settle_editions(workspace):
        _let_go(workspace, release)
    for shelf, why in write_catalogues(workspace).items():
        says = (
            f"what is current stands in the ledger, and not yet in the catalogue of {shelf} ({why}): sluice catalogue"
        )
        own += [says] if is_same_shelf(shelf, definition.target) else []
        log("catalogue is not written", logging.WARNING, detail=says)
    for place, why in write_views(workspace).items():
        says = f"what is current stands in the ledger, and not yet in {place} ({why}): sluice catalogue"
        own += [says] if place.name == definition.name and is_same_shelf(place.shelf, definition.target) else []
        log("view is not swapped", logging.WARNING, detail=says)
    if own:
        raise DataError("; ".join(own))


def _let_go(workspace: Workspace, release: str) -> None:
    try:
        resume_runs(workspace, release)
    except SluiceError as error:  # the release is closed all the same; a run that somebody resumes ends
        log("run still waits", logging.WARNING, release=release, detail=str(error))
