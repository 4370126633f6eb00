"""Probabilistic record linkage.

Source: Fellegi and Sunter (1969); Jaro (1989); Torra (2013), "Rank swapping: Example II".
"""

from typing import Annotated, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from policies.rules.linkage_rule import LinkageRule
from sluice.ground.sentence import Saying, Sentence
from sluice.risk.linkage.probabilistic_linkage import agreement_values, probabilistic_linkage
from sluice.risk.measurement import Measurement
from sluice.risk.spread import spread
from sluice.utility.comparison import Comparison

_WEIGHS = Sentence("probabilistic_linkage.agreement", " weighs on which of these two records agree")

IntArray = npt.NDArray[np.int64]
Tolerance = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class ProbabilisticLinkage(LinkageRule):
    """Few original records are linked to their own masked record by the variables on which they agree."""

    rule: Literal["probabilistic_linkage"] = "probabilistic_linkage"
    example: ClassVar[str] = "{rule: probabilistic_linkage, excess: 0.01}"
    advice: ClassVar[str] = (
        "Too many values agree with the original ones: categories that came through unchanged give the link away, so "
        "recode them or use PRAM, and move numbers by more than the tolerances."
    )
    records: int = Field(
        default=5_000, ge=1, description="original records that are attacked, drawn at random when there are more"
    )
    tolerances: Annotated[tuple[Tolerance, ...], Field(min_length=1)] = Field(
        default=(0.0, 0.05, 0.1, 0.2, 0.4),
        description="spreads (robust standard deviations) up to which two numbers or dates agree; the intruder tries "
        "them all, and the one that serves best counts. Categories agree when they are equal",
    )

    def link(self, files: Comparison, names: list[str], rows: IntArray) -> tuple[Measurement, Saying]:
        kinds = [files.released[name].kind for name in names]
        pairs = [
            agreement_values(files.recoded[name], files.masked[name], kind)
            for name, kind in zip(names, kinds, strict=True)
        ]
        widths = np.array(
            [0.0 if kind.is_categorical else spread(before) for (before, _), kind in zip(pairs, kinds, strict=True)]
        )
        tried = self.tolerances if widths.any() else self.tolerances[:1]
        original, masked = (np.column_stack([pair[side] for pair in pairs]) for side in (0, 1))
        correct = (probabilistic_linkage(original, masked, share * widths, rows).correct for share in tried)
        return self._share_linked(max(correct, key=np.mean), files), _WEIGHS()

    def describe(self) -> str:
        return (
            f"An intruder who weighs on how much of {self._of_what} two records agree is seldom right "
            "(probabilistic record linkage)."
        )
