"""What follows on a judgement, whatever was judged: people decide, and what they approve is published."""

from tasks.approve import approve, awaits_people
from tasks.case import Release
from tasks.outcome import Outcome
from tasks.publish import publish
from tasks.waiting import stop_waiting, suspend


def conclude(release: Release) -> Outcome:
    """approve -> publish. A run of a deployment that needs people suspends itself until they have decided."""
    while not (approved := approve(release)) and awaits_people(release):
        if not suspend(release):  # no deployment, nothing to suspend: the last approval starts a new run
            break
    if approved:
        publish(release)
    stop_waiting(release)
    return Outcome.of(release)
