"""The process of one run: it runs the flow that the worker chose, and loads nothing that Prefect's server names.

Prefect's own engine loads the result of a run that the server says is completed already: it unpickles a file that the
server names, from a place that the server names. So whoever may write on the server would run a program beside the
vault. Here a run ends in a state, and nothing asks for its result.
"""

from flows.environment import end_in_silence, outlive_the_reader, prepare

outlive_the_reader()
end_in_silence()
prepare()  # before Prefect is imported

import os
from uuid import UUID

from prefect._internal.control_listener import configure_from_env
from prefect.engine import handle_engine_signals
from prefect.flow_engine import load_flow, load_flow_run, run_flow

RUN, ENTRYPOINT = "PREFECT__FLOW_RUN_ID", "PREFECT__FLOW_ENTRYPOINT"


def run_one() -> None:
    """Run the flow that the environment names, of this installation, for the run that it names.

    What becomes of it is the run's state; Prefect's signals end the process. Raises KeyError where no flow is named:
    Prefect would ask the server for one.
    """
    configure_from_env()  # how the worker tells it to stop
    run_id = UUID(os.environ[RUN])
    if not os.environ.get(ENTRYPOINT):
        raise KeyError(ENTRYPOINT)
    with handle_engine_signals(run_id):
        run = load_flow_run(run_id)
        run_flow(load_flow(run), flow_run=run, return_type="state")


if __name__ == "__main__":
    run_one()
