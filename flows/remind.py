"""The flow of reminders, for installations in which Prefect calls it: by a schedule, and when a run crashed."""

from flows.environment import prepare

prepare()  # a worker imports this file, and nothing before it

from prefect import flow

from flows.reminders import remind
from tasks.step import quietly

_quietly = quietly("remind", remind)


@flow(name="remind", persist_result=False, log_prints=False)
def remind_flow() -> None:
    """Send the notices that are unsent, and remind those who are waited for; see `sluice remind`."""
    _quietly()
