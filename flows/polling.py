"""Polling: a load that was noticed starts its release, once."""

from pathlib import Path
from uuid import UUID

from sluice.errors import SluiceError
from tasks.release.documents import open_workspace
from tasks.release.load_state import load_state
from tasks.release.outcome import Outcome
from tasks.release.products import load_product


def poll(path: Path) -> Outcome | UUID | None:
    """Look at the source of a definition, and start its release if it was loaded since.

    On a Prefect server a run of the deployment is made, by a key that is the load's: however often it is asked for,
    there is one. An event would be confirmed by nobody, and the same one three times starts three runs.

    returns : the run on the server, or what became of the release here; None where there is no new load
    raises  : SluiceError; the load is then announced by the next poll
    """
    from prefect.settings import get_current_settings

    workspace = open_workspace()
    product = load_product(path, workspace)
    with load_state(product.path, product.definition, workspace) as state:
        if not state.loaded:
            return None
        done: Outcome | UUID
        if get_current_settings().api.url:
            done = _start(product.definition.name, state.load)
        else:
            from flows.review import run_flow

            done = run_flow(product)
        state.announced()
    return done


def _start(name: str, load: str) -> UUID:
    from prefect.client.orchestration import get_client

    try:
        with get_client(sync_client=True) as client:
            deployment = client.read_deployment_by_name(f"release/{name}")
            return client.create_flow_run_from_deployment(deployment.id, idempotency_key=f"load-{load}").id
    except Exception as error:  # of the network, of HTTP, or Prefect's own
        kind = type(error).__name__
    raise SluiceError(
        f"a load of {name} was noticed, but its run could not be started on the server ({kind}). Is it deployed? The "
        "next poll tries again"
    )
