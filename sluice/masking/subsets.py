"""Subsets: how a step of a plan is done stratum by stratum, or once for each household.

Source: Torra (2013), "Nonperturbative methods" treats a file as one set of records; strata and households
are how survey files are built, and what sdcMicro offers as `strataVar` and household-level variables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.arrays import IntArray
from sluice.ground.errors import PlanError
from sluice.ground.variables import Role, Variable, Variables, with_role
from sluice.masking.step import MaskingStep

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
        parts = [part.assign(**{name: part[name].cat.set_categories(found)}) for part in parts]
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
