"""The release flow: the chain of a release as a run of Prefect's."""

from flows.environment import prepare

prepare()  # a worker imports this file, and nothing before it

from pathlib import Path
from typing import Any, cast

from prefect import flow, runtime
from prefect.states import Completed

from flows.chain import release_quietly
from tasks.release.outcome import Outcome


def _definition_name() -> str:
    """What a run is called until its release has an id."""
    return Path(runtime.flow_run.parameters["definition"]).stem


@flow(name="release", flow_run_name=_definition_name, persist_result=False, log_prints=False)
def release_flow(definition: str, release_id: str | None = None, rehearse: bool = False) -> Outcome:
    """Run `release`; see there. The run ends in the state that `Outcome.end` names, or it has Failed.

    A deployment names its definition relative to the project, wherever that lies on the worker's machine, and none that
    lies elsewhere.
    """
    outcome = release_quietly(definition, release_id, rehearse)
    ended: Any = Completed(name=outcome.end, message=outcome.message, data=outcome)
    return cast(Outcome, ended)  # the state is Prefect's, its data the caller's
