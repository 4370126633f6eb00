"""A masking plan: an ordered list of steps, each with its own source of randomness, by strata or once a household.

Source: Torra (2013), "Nonperturbative methods" treats a file as one set of records; strata and households are how
survey files are built, and what sdcMicro offers as `strataVar` and household-level variables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.arrays import IntArray
from sluice.ground.comparable_values import Hashes
from sluice.ground.errors import PlanError
from sluice.ground.frame_columns import with_columns
from sluice.ground.progress import report
from sluice.ground.record_rule import RecordRule
from sluice.ground.variables import Kind, Role, Variable, Variables, with_role
from sluice.masking.masking_step import MaskingStep, RecordDraws, carried_out
from sluice.masking.redrawing import redrawn, rules_on

Stratum = tuple[str | None, ...]
"""One text for each stratifying variable, None where it is missing."""


@dataclass(frozen=True)
class ByStratum:
    """A step with `strata` fitted in each stratum by itself."""

    step: MaskingStep
    fitted: Mapping[Stratum, tuple[MaskingStep, ...]]

    @property
    def is_recoding(self) -> bool:
        return self.step.is_recoding

    def released(self, variables: Variables) -> dict[str, Variable]:
        return self.step.released(variables)

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator) -> pd.DataFrame:
        """Each stratum by its own fitted steps. Raises PlanError for a stratum that was not in the masked file."""
        parts = []
        for stratum, rows in strata(self.step, frame).items():
            if stratum not in self.fitted:
                raise PlanError(f"{self.step.method}: a stratum of this file was not in the file that was masked.")
            part, current = frame.iloc[rows], dict(variables)
            for step in self.fitted[stratum]:
                part = step.mask(part, current, rng)
                current = step.released(current)
            parts.append(part)
        return together(parts) if parts else self.step.mask(frame, variables, rng)

    def parameters(self) -> dict[str, Any]:
        """Those of each stratum, under its values."""
        found = [
            {"stratum": dict(zip(self.step.strata, stratum, strict=True)), **parameters}
            for stratum, steps in self.fitted.items()
            for step in steps
            if (parameters := step.parameters())
        ]
        return {"by_stratum": found} if found else {}


def together(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The strata's records as one frame, in the order of their index.

    A step whose categories come from the data finds others in each stratum; the frame has all of them, sorted.
    """
    first = parts[0]
    columns = [str(name) for name in first if any(part[name].dtype != first[name].dtype for part in parts)]
    for name in columns:
        found = sorted({label for part in parts for label in part[name].cat.categories})
        parts = [with_columns(part, {name: part[name].cat.set_categories(found)}) for part in parts]
    return pd.concat(parts).sort_index()


def strata(step: MaskingStep, frame: pd.DataFrame) -> dict[Stratum, IntArray]:
    """The row positions of each combination of values of the step's strata, in the order of the values."""
    names = list(step.strata)
    texts = [frame[name].astype("string") for name in names]
    codes = pd.DataFrame({at: pd.factorize(text, use_na_sentinel=True, sort=True)[0] for at, text in enumerate(texts)})
    found: dict[Stratum, IntArray] = {}
    for rows in codes.groupby(list(codes.columns), sort=True).indices.values():
        first = [text.iloc[rows[0]] for text in texts]
        found[tuple(None if pd.isna(text) else str(text) for text in first)] = np.asarray(rows, dtype=np.int64)
    return found


def households(step: MaskingStep, frame: pd.DataFrame, variables: Variables) -> tuple[IntArray, IntArray]:
    """The first row of each household, and the household of each row, numbered in order of appearance.

    A record without a household is one by itself. Raises PlanError when a column of the step differs within a
    household: it is then no property of the household.
    """
    names = frame[with_role(variables, Role.HOUSEHOLD)[0]]
    codes, _ = pd.factorize(names)
    alone = np.flatnonzero(codes < 0)
    codes[alone] = codes.max(initial=-1) + 1 + np.arange(len(alone))
    _, first, member_of = np.unique(codes, return_index=True, return_inverse=True)
    for name in (*step.columns, *step.strata, *(getattr(step, "given", None) or ())):
        values, _ = pd.factorize(frame[name])
        if (values != values[first][member_of]).any():
            raise PlanError(
                f"household of {step.method} on '{name}' needs one value in each household; in some households "
                "the members differ. Mask it by record, or correct the data.",
                field="unit",
            )
    return first, member_of


def with_members(
    step: MaskingStep, frame: pd.DataFrame, masked: pd.DataFrame, member_of: IntArray, released: Sequence[str]
) -> pd.DataFrame:
    """`frame` with what was masked, one row a household, given to every member."""
    given = masked.iloc[member_of].set_axis(frame.index)
    own = [name for name in frame if name not in step.columns]
    return pd.DataFrame({name: frame[name] if name in own else given[name] for name in released}, index=frame.index)


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
    rules: Sequence[RecordRule] = (),
) -> "tuple[pd.DataFrame, tuple[MaskingStep | ByStratum, ...]]":
    """The masked frame and the fitted plan: every step in order, the i-th from the i-th child of `seed`.

    frame   : typed by `variables`, any index (it is ignored)
    record_keys : shape (n,), secret: steps that can draw for each record from its key, and not from `seed`
    rules   : on records typed by `variables`: steps that draw each record by itself draw it again until it keeps those
              of which no later step masks a variable
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
        kept = rules_on(step, rules, variables, current, steps[number:])
        masked, fitted = masked_by_step(step, masked, current, np.random.default_rng(child), draws, kept)
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
    rules: Sequence[RecordRule] = (),
) -> tuple[pd.DataFrame, list[MaskingStep | ByStratum]]:
    """One step, household by household and stratum by stratum as it asks for.

    rules : on what it masks, for the frame as it is here (`rules_on`)
    """
    released = step.released(variables)
    again, own = (rules, ()) if step.draws_apart else ((), rules)
    if step.unit == "household" and not step.keeps_households:
        first, member_of = households(step, frame, variables)
        heads = frame.iloc[first].reset_index(drop=True)

        def by_household(draws: RecordDraws | None) -> tuple[pd.DataFrame, list[MaskingStep | ByStratum]]:
            of_first = None if draws is None else draws.of(first)
            each, fitted = _by_strata(step, heads, variables, rng, of_first, own)
            return with_members(step, frame, each, member_of, list(released)), fitted

        masked, fitted = by_household(draws)
        return redrawn(step, masked, again, lambda draws: by_household(draws)[0], draws, member_of), fitted
    if step.unit == "household" and step.strata:
        households(step, frame, variables)  # refuses strata that would tear a household apart
    by_strata = partial(_by_strata, step, frame, variables, rng, own=own)
    masked, fitted = by_strata(draws)
    return redrawn(step, masked, again, lambda draws: by_strata(draws)[0], draws), fitted


def _by_strata(
    step: MaskingStep, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator, draws: RecordDraws | None,
    own: Sequence[RecordRule] = (),
) -> tuple[pd.DataFrame, list[MaskingStep | ByStratum]]:  # fmt: skip
    """own : rules that the step sees to itself"""
    if not step.strata:
        fitted = step.fit(frame, variables)
        if step.masks_as_fitted:
            return carried_out(fitted, frame, variables, rng), list(fitted)
        return _drawn(step, frame, variables, rng, draws, own), list(fitted)
    parts = strata(step, frame)
    masked, steps = [], {}
    for (stratum, rows), child in zip(parts.items(), rng.spawn(len(parts)), strict=True):
        part = frame.iloc[rows]
        try:
            steps[stratum] = step.fit(part, variables)
            masked.append(_drawn(step, part, variables, child, None if draws is None else draws.of(rows), own))
        except PlanError as error:
            raise PlanError(f"in a stratum of {', '.join(map(repr, step.strata))}: {error}") from None
    if not masked:
        return step.mask(frame, variables, rng), [step]
    return together(masked), [ByStratum(step, steps)]


def _drawn(
    step: MaskingStep, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator, draws: RecordDraws | None,
    own: Sequence[RecordRule],
) -> pd.DataFrame:  # fmt: skip
    if own:
        return step.mask_by_rules(frame, variables, rng, own)
    return step.mask(frame, variables, rng) if draws is None else step.mask_by_record(frame, variables, draws)
