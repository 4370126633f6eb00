"""Record linkage against microaggregation of single variables.

Source: Torra (2013), "Rank swapping record linkage (RS-RL)", Discussion.
"""

from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from policies.rules.candidate_rule import CandidateRule
from sluice.ground.sentence import Saying, Sentence
from sluice.risk.linkage.candidate_sets import CandidateSets, microaggregation_linkage

_KNOWS = Sentence("microaggregation_linkage.groups", " that each of these was microaggregated by itself")

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class MicroaggregationLinkage(CandidateRule):
    """Few records are found by an intruder who knows that each variable was microaggregated by itself."""

    rule: Literal["microaggregation_linkage"] = "microaggregation_linkage"
    example: ClassVar[str] = "{rule: microaggregation_linkage, excess: 0.05}"
    advice: ClassVar[str] = (
        "Groups formed variable by variable intersect in single records: microaggregate the variables together with "
        "microaggregation instead of univariate_microaggregation, or use a larger k."
    )

    def candidates(self, original: FloatArray, masked: FloatArray, rows: IntArray) -> CandidateSets:
        return microaggregation_linkage(original, masked, rows)

    @property
    def _knows(self) -> Saying:
        return _KNOWS()

    def describe(self) -> str:
        return (
            f"An intruder who knows {self._of_what} and that each variable was microaggregated by itself is seldom "
            "right."
        )
