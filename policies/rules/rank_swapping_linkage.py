"""Record linkage against rank swapping.

Source: Torra (2013), "Rank swapping: Specific record linkage for rank swapping"; Nin, Herranz and Torra (2008).
"""

from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from policies.rules.candidate_rule import CandidateRule
from policies.rules.paired_rule import Window
from sluice.ground.sentence import Saying, Sentence
from sluice.risk.linkage.candidate_sets import CandidateSets, rank_swapping_linkage

_KNOWS = Sentence("rank_swapping_linkage.window", " how far ranks were swapped ({window:g} % of the records)")

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class RankSwappingLinkage(CandidateRule):
    """Few records are found by an intruder who knows the window of rank swapping."""

    rule: Literal["rank_swapping_linkage"] = "rank_swapping_linkage"
    example: ClassVar[str] = "{rule: rank_swapping_linkage, window: 0.2, excess: 0.05}"
    advice: ClassVar[str] = (
        "Knowing the window narrows each record to a few candidates: use a variant of rank_swapping whose window is "
        "not a bound (p-distribution or p-buckets), widen the window, or swap fewer variables."
    )
    window: Window = Field(description="how far a value may have moved in rank: share of the records, not percent")

    def candidates(self, original: FloatArray, masked: FloatArray, rows: IntArray) -> CandidateSets:
        return rank_swapping_linkage(original, masked, self.window, rows)

    @property
    def _knows(self) -> Saying:
        return _KNOWS(window=100 * self.window)

    def describe(self) -> str:
        return (
            f"An intruder who knows {self._of_what} and that ranks were swapped over {100 * self.window:g} % of the "
            "records is seldom right (rank swapping record linkage)."
        )
