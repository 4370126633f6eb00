"""A masking plan: an ordered list of steps, each with its own source of randomness."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sluice.ground.progress import report
from sluice.ground.value_hashes import Hashes
from sluice.ground.variables import Kind, Variable, Variables
from sluice.masking.record_draws import RecordDraws
from sluice.masking.step import MaskingStep, carried_out
from sluice.masking.subsets import ByStratum, households, strata, together, with_members


def released_variables(steps: Sequence[MaskingStep], variables: Variables) -> dict[str, Variable]:
    """The variables that come out of the plan. Raises PlanError when a step cannot treat what reaches it."""
    released = dict(variables)
    for step in steps:
        released = step.released(released)
    return released


def apply_plan(
    steps: Sequence[MaskingStep],
    frame: pd.DataFrame,
    variables: Variables,
    seed: np.random.SeedSequence,
    record_keys: Hashes | None = None,
) -> "tuple[pd.DataFrame, tuple[MaskingStep | ByStratum, ...]]":
    """The masked frame and the fitted plan: every step in order, the i-th from the i-th child of `seed`.

    frame   : typed by `variables`, any index (it is ignored)
    record_keys : shape (n,), secret: steps that can draw for each record from its key, and not from `seed`
    returns : a frame typed by `released_variables(steps, variables)`, whose index tells the row of `frame` (0..n-1)
              that each record comes from: all of them in their order, but for those that a sampling step left out; and
              the steps with every threshold that was read off the data at its place (see MaskingStep.fit)
    """
    masked = frame.reset_index(drop=True)
    current = dict(variables)
    fitted_plan: list[MaskingStep | ByStratum] = []
    for number, (step, child) in enumerate(zip(steps, seed.spawn(len(steps)), strict=True), start=1):
        report(f"step {number} of {len(steps)}, {step.method}")
        before = masked.index
        draws = draws_of(step, None if record_keys is None else record_keys[before.to_numpy()])
        masked, fitted = masked_by_step(step, masked, current, np.random.default_rng(child), draws)
        assert step.is_sampling or masked.index.equals(before), f"{step.method} lost the order of the records"
        fitted_plan += fitted
        current = step.released(current)
    return masked, tuple(fitted_plan)


def apply_recodings(
    fitted_plan: "Sequence[MaskingStep | ByStratum]", frame: pd.DataFrame, variables: Variables
) -> pd.DataFrame:
    """`frame` on the masked file's own variables and categories, with every perturbing step left out.

    What an intruder does who knows the original values and the published description of the recodings.

    fitted_plan : the fitted steps that `apply_plan` returned, so that both files are cut at the same thresholds
    """
    recoded = frame.reset_index(drop=True)
    current = dict(variables)
    idle = np.random.default_rng(0)  # recodings draw nothing
    for step in fitted_plan:
        if step.is_recoding:
            recoded = step.mask(recoded, current, idle)
        current = step.released(current)
        fractions = [n for n in recoded if n in current and current[n].kind is Kind.CONTINUOUS]
        recoded = recoded.astype(dict.fromkeys(fractions, np.float64))  # where a perturbing step made them of integers
    return recoded


def draws_of(step: MaskingStep, record_keys: Hashes | None) -> RecordDraws | None:
    """The draws of the records that reach a step; None where it draws for all of them together."""
    return (
        RecordDraws(record_keys, step.model_dump_json()) if record_keys is not None and step.draws_by_record else None
    )


def masked_by_step(
    step: MaskingStep,
    frame: pd.DataFrame,
    variables: Variables,
    rng: np.random.Generator,
    draws: RecordDraws | None = None,
) -> tuple[pd.DataFrame, list[MaskingStep | ByStratum]]:
    """One step, household by household and stratum by stratum as it asks for."""
    released = step.released(variables)
    if step.unit == "household" and not step.keeps_households:
        first, member_of = households(step, frame, variables)
        of_first = None if draws is None else draws.of(first)
        each, fitted = _by_strata(step, frame.iloc[first].reset_index(drop=True), variables, rng, of_first)
        return with_members(step, frame, each, member_of, list(released)), fitted
    if step.unit == "household" and step.strata:
        households(step, frame, variables)  # refuses strata that would tear a household apart
    return _by_strata(step, frame, variables, rng, draws)


def _by_strata(
    step: MaskingStep, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator, draws: RecordDraws | None
) -> tuple[pd.DataFrame, list[MaskingStep | ByStratum]]:
    if not step.strata:
        fitted = step.fit(frame, variables)
        if step.masks_as_fitted:
            return carried_out(fitted, frame, variables, rng), list(fitted)
        return _drawn(step, frame, variables, rng, draws), list(fitted)
    parts = strata(step, frame)
    masked, steps = [], {}
    for (stratum, rows), child in zip(parts.items(), rng.spawn(len(parts)), strict=True):
        part = frame.iloc[rows]
        steps[stratum] = step.fit(part, variables)
        masked.append(_drawn(step, part, variables, child, None if draws is None else draws.of(rows)))
    if not masked:
        return step.mask(frame, variables, rng), [step]
    return together(masked), [ByStratum(step, steps)]


def _drawn(
    step: MaskingStep, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator, draws: RecordDraws | None
) -> pd.DataFrame:
    return step.mask(frame, variables, rng) if draws is None else step.mask_by_record(frame, variables, draws)
