"""Releases as tests of several publications need them: made and published without Prefect, and without a person."""

from collections.abc import Callable
from typing import Any

from sluice.custody.states import State
from tasks.ingest import ingest
from tasks.release.product import AnyRelease
from tasks.release.products import load_product
from tests.flows.house import House

_ASIDE = (State.NEEDS_DECISION, State.BLOCKED, State.CHANGES_REQUESTED, State.REJECTED)
PATH = [state for state in State if state not in _ASIDE]


def bare(step: Any) -> Callable[..., Any]:
    """What a step does, without Prefect around it."""
    function: Callable[..., Any] = step.__wrapped__
    return function


def made(house: House) -> AnyRelease:
    """A release whose data were read and are as they should be."""
    house.write()
    release: AnyRelease = bare(ingest)(load_product(house.file, house.workspace()))
    release.record(State.VALIDATED)
    return release


def publish(release: AnyRelease, after: State = State.MASKED) -> AnyRelease:
    """Its history is that of one that went well, after this state."""
    definition = release.product.definition
    body = {"definition": definition.name, "folder": str(definition.target / release.id)}
    for state in PATH[PATH.index(after) + 1 : PATH.index(State.PUBLISHED) + 1]:
        release.record(state, **body)
    return release
