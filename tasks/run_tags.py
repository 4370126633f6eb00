"""The tags of runs on Prefect's server: the state of their release and its edition, by which people find them."""

import logging
from collections.abc import Iterable, Sequence

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterName
from prefect.client.schemas.objects import FlowRun
from prefect.client.schemas.sorting import FlowRunSort
from prefect.settings import get_current_settings

from sluice.custody.ledger import Entry
from sluice.custody.states import state_of
from sluice.custody.workspace import Workspace
from sluice.ground.log import log
from tasks.release.run_notes import OURS

_STATE, _EDITION = "state:", "edition:"
_MOST = 200  # runs that the server gives at once


def tag_runs(workspace: Workspace, releases: Iterable[str]) -> None:
    """Bring the tags of all runs of these releases up to what the ledger says of them now.

    A run ends, and its release's life goes on: it is superseded, or withdrawn. Without a server there is no run, and
    one that does not answer is no reason to stop: tags are for people, and nothing is decided by them.
    """
    if not get_current_settings().api.url:
        return
    try:
        histories = workspace.ledger.histories()
        known = sorted({*releases} & histories.keys())
        with get_client(sync_client=True) as client:
            for run in _runs_of(client, known) if known else ():
                if (tags := tags_of(run.tags, histories[run.name])) != sorted(run.tags):
                    client.update_flow_run(run.id, tags=tags)
    except Exception as error:  # of the network, of HTTP, or Prefect's own
        log("runs not tagged", logging.WARNING, detail=f"Prefect's server: {type(error).__name__}")


def _runs_of(client: SyncPrefectClient, releases: Sequence[str]) -> list[FlowRun]:
    """All runs of these releases, by as few requests as the server's pages allow: a series has hundreds of editions."""
    named, found = FlowRunFilter(name=FlowRunFilterName(any_=[*releases])), list[FlowRun]()
    while page := client.read_flow_runs(
        flow_run_filter=named, sort=FlowRunSort.EXPECTED_START_TIME_ASC, limit=_MOST, offset=len(found)
    ):
        found += page
        if len(page) < _MOST:
            break
    return found


def tags_of(tags: Iterable[str], entries: Sequence[Entry]) -> list[str]:
    """The tags of a run, with those of what its release is now; `entries` are the release's."""
    kept = {tag for tag in tags if not tag.startswith((_STATE, _EDITION))} | {OURS}
    first = f"{_EDITION}{entries[0].at[:10]}"  # the day on which its data were first received
    return sorted(kept | {first, f"{_STATE}{state_of(entry.event for entry in entries)}"})
