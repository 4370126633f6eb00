"""Suppressed records: all keys of some records are set missing, or the records are left out.

Source: Samarati (2001), section 3.2 (generalisation with suppression of whole records).
"""

from typing import ClassVar, Literal, Self

import numpy as np
import pandas as pd
from pydantic import PrivateAttr

from sluice.ground.arrays import BoolArray
from sluice.ground.variables import Variable, Variables
from sluice.masking.step import MaskingStep
from sluice.risk.transparency.attack import NoAttack

_NO_ATTACK = NoAttack(
    "whoever is in no released group is known to be among those suppressed, who are a group of look-alikes as any other"
)


class SuppressedRecords(MaskingStep):
    """What a search suppressed beside the levels that it chose. No step of a plan; see `generalization`."""

    method: Literal["generalization"] = "generalization"
    suppressed: Literal["released", "removed"]
    _kept: BoolArray = PrivateAttr()

    takes_strata: ClassVar[bool] = False
    takes_households: ClassVar[bool] = False

    @classmethod
    def of(cls, columns: tuple[str, ...], suppressed: Literal["released", "removed"], kept: BoolArray) -> Self:
        """kept : shape (n,), whether each record of the file that was searched keeps its values"""
        step = cls(columns=columns, suppressed=suppressed)
        step._kept = kept
        return step

    @property
    def is_sampling(self) -> bool:
        return self.suppressed == "removed"

    def released(self, variables: Variables) -> dict[str, Variable]:
        if self.suppressed == "removed":
            return dict(variables)
        return with_missing(variables, self.columns)

    def mask(self, frame: pd.DataFrame, variables: Variables, rng: np.random.Generator) -> pd.DataFrame:
        """The frame that was searched, and no other. Draws nothing."""
        if self.suppressed == "removed":
            return frame.loc[self._kept].copy()
        masked = frame.copy(deep=False)
        for name in self.columns:
            column = frame[name].copy()
            column.iloc[np.flatnonzero(~self._kept)] = None
            masked[name] = column
        return masked

    def attacks(self) -> tuple[NoAttack, ...]:
        return (_NO_ATTACK,)

    def describe(self) -> str:
        share = 1 - float(self._kept.mean())
        what = "left out" if self.suppressed == "removed" else f"released without {', '.join(self.columns)}"
        return f"{100 * share:.2g} % of the records were {what}."


def with_missing(variables: Variables, names: tuple[str, ...]) -> dict[str, Variable]:
    """The variables, of which these may be missing in any share."""
    nullable = {"nullable": True, "max_missing_share": None}
    return {
        name: variable.model_copy(update=nullable) if name in names else variable
        for name, variable in variables.items()
    }
