"""Treatments: what a plan does to the variables, each way of masking in one word, for a reader who has a minute."""

from collections.abc import Iterable

from sluice.masking.masking_step import MaskingStep

OTHERWISE = "masked otherwise"

_BY_FAMILY = {
    "recoding": "grouped",
    "items": "grouped",
    "microaggregation": "averaged",
    "noise": "perturbed",
    "swapping": "swapped",
    "synthesis": "made synthetic",
}


def treatments(plan: Iterable[MaskingStep]) -> dict[str, tuple[str, ...]]:
    """Each word with the variables that were so treated, both in the order of the plan.

    A method of an extension is `OTHERWISE`.
    """
    found: dict[str, list[str]] = {}
    for step in plan:
        found.setdefault(_word(step), []).extend(step.columns)
    return {how: tuple(dict.fromkeys(variables)) for how, variables in found.items()}


def _word(step: MaskingStep) -> str:
    home = type(step).__module__.split(".")
    if home[:2] != ["sluice", "masking"]:
        return OTHERWISE
    return step.treatment or _BY_FAMILY.get(home[2], OTHERWISE)
