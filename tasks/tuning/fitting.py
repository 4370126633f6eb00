"""Fitting: whether the documents alone refuse a plan, so that no trial is spent on it."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from sluice.ground.errors import SluiceError
from tasks.release.records.definition import RecordsDefinition
from tasks.release.records.variables import variables_after
from tasks.tuning.ranges import at
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.space import SpaceOfPlans


def misfit(definition: RecordsDefinition, records: RecordsAtHand) -> str | None:
    """Why contract and policy refuse the plan, whatever the records are; None where they do not. No record is read."""
    try:
        plan = definition.under(records.policy).plan
        for variables in (records.declared, records.variables):
            variables_after(plan, variables, definition.name)
    except SluiceError as error:
        return " ".join(str(error).split())
    return None


def fits(space: SpaceOfPlans, point: Mapping[str, Any], records: RecordsAtHand) -> bool:
    """Whether the plan at a point of the space is valid and none that the documents refuse."""
    try:
        return misfit(space.definition(at(point)), records) is None
    except ValidationError:
        return False
