"""Probabilistic record linkage.

Source: Fellegi and Sunter (1969); Jaro (1989); Torra (2013), "Rank swapping: Example II".
"""

from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from policies.original_and_masked import OriginalAndMasked
from policies.rules.linkage_rule import LinkageRule
from sluice.risk.linkage.probabilistic_linkage import agreement_values, probabilistic_linkage
from sluice.risk.measurement import Measurement

IntArray = npt.NDArray[np.int64]


class ProbabilisticLinkage(LinkageRule):
    """Few original records are linked to their own masked record by the variables on which they agree."""

    rule: Literal["probabilistic_linkage"] = "probabilistic_linkage"
    example: ClassVar[str] = "{rule: probabilistic_linkage, excess: 0.01}"
    advice: ClassVar[str] = (
        "Too many values agree with the original ones: categories that came through unchanged give the link away, so "
        "recode them or use PRAM, and move numbers by more than the tolerance."
    )
    records: int = Field(
        default=5_000, ge=1, description="original records that are attacked, drawn at random when there are more"
    )
    tolerance: float = Field(
        default=0.2,
        ge=0,
        allow_inf_nan=False,
        description="standard deviations up to which two numbers or dates agree; categories agree when they are equal",
    )

    def link(self, files: OriginalAndMasked, names: list[str], rows: IntArray) -> tuple[Measurement, str]:
        kinds = [files.released[name].kind for name in names]
        pairs = [
            agreement_values(files.recoded[name], files.masked[name], kind)
            for name, kind in zip(names, kinds, strict=True)
        ]
        tolerance = np.array(
            [
                0.0 if kind.is_categorical or np.isnan(before).all() else self.tolerance * float(np.nanstd(before))
                for (before, _), kind in zip(pairs, kinds, strict=True)
            ]
        )
        original, masked = (np.column_stack([pair[side] for pair in pairs]) for side in (0, 1))
        links = probabilistic_linkage(original, masked, tolerance, rows)
        return self._share_linked(links.correct, files), "weighs on which of these two records agree"

    def describe(self) -> str:
        return (
            f"An intruder who weighs on how much of {self._of_what} two records agree is seldom right "
            "(probabilistic record linkage)."
        )
