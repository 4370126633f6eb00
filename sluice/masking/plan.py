"""A masking plan: an ordered list of steps, each with its own source of randomness."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sluice.masking.step import MaskingStep
from sluice.variables import Variable, Variables


def released_variables(steps: Sequence[MaskingStep], variables: Variables) -> dict[str, Variable]:
    """The variables that come out of the plan. Raises PlanError when a step cannot treat what reaches it."""
    released = dict(variables)
    for step in steps:
        released = step.released(released)
    return released


def apply_plan(
    steps: Sequence[MaskingStep], frame: pd.DataFrame, variables: Variables, seed: np.random.SeedSequence
) -> tuple[pd.DataFrame, tuple[MaskingStep, ...]]:
    """The masked frame and the plan as it was carried out: every step in order, the i-th from the i-th child of `seed`.

    frame   : typed by `variables`, any index (it is ignored)
    returns : a frame typed by `released_variables(steps, variables)`, same rows in the same order, index 0..n-1; and
              the steps with every threshold that was read off the data at its place (see MaskingStep.settled)
    """
    masked = frame.reset_index(drop=True)
    current = dict(variables)
    carried_out: list[MaskingStep] = []
    for step, child in zip(steps, seed.spawn(len(steps)), strict=True):
        carried_out += step.settled(masked, current)
        masked = step.mask(masked, current, np.random.default_rng(child))
        current = step.released(current)
    return masked, tuple(carried_out)


def apply_recodings(carried_out: Sequence[MaskingStep], frame: pd.DataFrame, variables: Variables) -> pd.DataFrame:
    """`frame` on the masked file's own variables and categories, with every perturbing step left out.

    What an intruder does who knows the original values and the published description of the recodings.

    carried_out : the settled steps that `apply_plan` returned, so that both files are cut at the same thresholds
    """
    recoded = frame.reset_index(drop=True)
    current = dict(variables)
    idle = np.random.default_rng(0)  # recodings draw nothing
    for step in carried_out:
        if step.is_recoding:
            recoded = step.mask(recoded, current, idle)
        current = step.released(current)
    return recoded
