"""Settle: what is current, superseded or overtaken by now, in the ledger; whoever waits in vain is let go."""

import logging

from sluice.custody.workspace import Workspace
from sluice.errors import SluiceError
from sluice.log import log
from tasks.release.current_edition import settle_editions
from tasks.release.product import AnyProduct
from tasks.step import step
from tasks.suspension import resume_runs


@step
def settle(product: AnyProduct) -> None:
    """Bring every line of editions in order; the runs of releases that are overtaken end."""
    workspace = product.workspace
    for release in settle_editions(workspace):
        _let_go(workspace, release)


def _let_go(workspace: Workspace, release: str) -> None:
    try:
        resume_runs(workspace, release)
    except SluiceError as error:  # the release is closed all the same; a run that somebody resumes ends
        log("run still waits", logging.WARNING, release=release, detail=str(error))
