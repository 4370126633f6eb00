"""Settle: what is current, superseded or overtaken by now, in the ledger and on the shelves."""

import logging

from sluice.custody.workspace import Workspace
from sluice.errors import DataError, SluiceError
from sluice.log import log
from tasks.release.current_edition import settle_editions
from tasks.release.product import AnyProduct
from tasks.release.shelf_catalogue import write_catalogues
from tasks.step import step
from tasks.suspension import resume_runs


@step
def settle(product: AnyProduct) -> None:
    """Bring every line of editions in order, in the ledger and on the shelves; runs of releases that are overtaken end.

    raises : DataError where this release's own shelf cannot be written; what was published stays so
    """
    workspace = product.workspace
    for release in settle_editions(workspace):
        _let_go(workspace, release)
    for shelf, why in write_catalogues(workspace).items():
        says = (
            f"what is current stands in the ledger, and not yet in the catalogue of {shelf} ({why}): sluice catalogue"
        )
        if shelf == product.definition.target:
            raise DataError(says)
        log("catalogue is not written", logging.WARNING, detail=says)


def _let_go(workspace: Workspace, release: str) -> None:
    try:
        resume_runs(workspace, release)
    except SluiceError as error:  # the release is closed all the same; a run that somebody resumes ends
        log("run still waits", logging.WARNING, release=release, detail=str(error))
