"""Polling: a load that was noticed starts its release, once: one run on Prefect's server for each load.

Another takes the place of one that crashed or failed. Runs are made by a key that is the load's, so that however often
one is asked for there is one. An event would be confirmed by nobody, and the same one three times starts three runs.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterDeploymentId,
    FlowRunFilterExpectedStartTime,
    FlowRunFilterIdempotencyKey,
)
from prefect.client.schemas.objects import FlowRun, StateType

from sluice.custody.workspace import open_workspace
from sluice.ground.errors import SluiceError
from tasks.release.intake.load_state import load_state
from tasks.release.outcome import Outcome
from tasks.release.products import load_product
from tasks.release.release_documents import deployed_definition

ATTEMPTS = 3  # runs that a load may have: what crashes or fails each time is no accident
_ENDED_BADLY = (StateType.CRASHED, StateType.FAILED)


def poll(path: Path) -> Outcome | UUID | None:
    """Look at the source of a definition, and start its release if it was loaded since.

    On a Prefect server a run of the deployment is made, see `flows.polling`; else the flow runs here.

    returns : the run on the server, or what became of the release here; None where there is nothing to start
    raises  : SluiceError; the load is then announced by the next poll
    """
    from prefect.settings import get_current_settings

    workspace = open_workspace()
    product = load_product(path, workspace)
    with load_state(product.path, product.definition, workspace) as state:
        done: Outcome | UUID | None
        if get_current_settings().api.url:
            if not (state.loaded or state.is_announced):
                return None
            done = run_of_load(product.definition.name, product.path, state.load, new=state.loaded)
        elif state.loaded:
            from flows.follow_up import run_flow

            done = run_flow(product)
        else:
            return None
        if state.loaded:
            state.announced()
        return done


def run_of_load(name: str, definition: Path, load: str, *, new: bool) -> UUID | None:
    """The run that is made for a load now; None where it has one already that did not crash or fail.

    name       : of the definition, and of its deployment
    definition : where it lies
    load       : the name of the load
    new        : whether no run of it was made before
    raises     : SluiceError where none can be made: the server does not answer, the deployment is of another file, or
                 all runs that it may have crashed or failed and nobody started another
    """
    by_hand = f"; by hand: prefect deployment run release/{name}"
    keys = [f"load-{load}", *(f"load-{load}-{number}" for number in range(2, ATTEMPTS + 1))]
    try:
        with get_client(sync_client=True) as client:
            deployment = client.read_deployment_by_name(f"release/{name}")
            of = FlowRunFilterDeploymentId(any_=[deployment.id])
            runs = [] if new else _of_keys(client, of, keys)
            if not new and not _is_lost(client, of, runs):
                return None
            if len(runs) == ATTEMPTS:
                raise SluiceError(f"{ATTEMPTS} runs of it crashed or failed; the worker's journal says why")
            if deployed_definition(str(deployment.parameters.get("definition", ""))) != definition:
                by_hand = ""  # that would be a run of the other file
                raise SluiceError(
                    "its deployment is of another file: where the definition was moved, deploy again; else one of the "
                    "two needs another name"
                )
            return client.create_flow_run_from_deployment(deployment.id, idempotency_key=keys[len(runs)]).id
    except SluiceError as error:
        why = str(error)
    except Exception as error:  # of the network, of HTTP, or Prefect's own
        why = f"{type(error).__name__}; is it deployed, and does the server answer?"
    what = "no run of it could be started" if new else "its run is not known to have come to an end"
    raise SluiceError(f"a load of {name} was noticed, and {what} ({why}). The next poll tries again{by_hand}")


def _of_keys(client: SyncPrefectClient, of: FlowRunFilterDeploymentId, keys: Sequence[str]) -> list[FlowRun]:
    wanted = FlowRunFilter(deployment_id=of, idempotency_key=FlowRunFilterIdempotencyKey(any_=[*keys]))
    return client.read_flow_runs(flow_run_filter=wanted, limit=len(keys))


def _is_lost(client: SyncPrefectClient, of: FlowRunFilterDeploymentId, runs: Sequence[FlowRun]) -> bool:
    """Whether all runs of a load crashed or failed, and none of the deployment followed: of a newer load, or by the
    doctor or a person in the place of these. A server that knows none of them lost its history, and no load."""
    begun = [run.expected_start_time for run in runs if run.expected_start_time]
    if not begun or any(run.state_type not in _ENDED_BADLY for run in runs):
        return False
    since = FlowRunFilterExpectedStartTime(after_=max(begun), before_=datetime.now(UTC))
    wanted = FlowRunFilter(deployment_id=of, expected_start_time=since)
    later = client.read_flow_runs(flow_run_filter=wanted, limit=len(runs) + 1)  # the server means: not before
    return {run.id for run in later} <= {run.id for run in runs}
