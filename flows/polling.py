"""Polling: a load that was noticed starts its release, once."""

from pathlib import Path
from uuid import UUID

from sluice.custody.workspace import open_workspace
from tasks.release.intake.load_state import load_state
from tasks.release.outcome import Outcome
from tasks.release.products import load_product


def poll(path: Path) -> Outcome | UUID | None:
    """Look at the source of a definition, and start its release if it was loaded since.

    On a Prefect server a run of the deployment is made, see `flows.load_runs`; else the flow runs here.

    returns : the run on the server, or what became of the release here; None where there is nothing to start
    raises  : SluiceError; the load is then announced by the next poll
    """
    from prefect.settings import get_current_settings

    workspace = open_workspace()
    product = load_product(path, workspace)
    with load_state(product.path, product.definition, workspace) as state:
        done: Outcome | UUID | None
        if get_current_settings().api.url:
            from flows.load_runs import run_of_load

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
