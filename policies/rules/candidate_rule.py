"""CandidateRule: linkage by an intruder who knows the masking method."""

from abc import abstractmethod

import numpy as np
import numpy.typing as npt

from policies.rules.linkage_rule import LinkageRule
from policies.rules.paired_rule import RANKED, ranks_or_numbers, told_share
from sluice.ground.sentence import Saying, Sentence
from sluice.ground.variables import Kind
from sluice.risk.linkage.candidate_sets import CandidateSets
from sluice.risk.measurement import Measurement
from sluice.utility.comparison import Comparison

_ONLY_ONE = Sentence("linkage.only_one", "; for {share:percent} it was the only one left")

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class CandidateRule(LinkageRule):
    """A rule on an intruder who knows the method, and so the few masked records that a known one can have become."""

    @property
    def _kinds(self) -> tuple[Kind, ...]:
        return RANKED

    @property
    def _takes_any_kind(self) -> bool:
        return False

    def link(self, files: Comparison, names: list[str], rows: IntArray) -> tuple[Measurement, Saying]:
        original, masked = (ranks_or_numbers(files, names, which) for which in ("recoded", "masked"))
        found = self.candidates(original, masked, rows)
        sure = told_share(float(((found.size == 1) & found.links.is_first).mean()), len(rows), files.minimum_cell)
        measured = self._share_linked(found.links.correct(), files)
        return measured, self._knows + _ONLY_ONE(share=sure)

    @abstractmethod
    def candidates(self, original: FloatArray, masked: FloatArray, rows: IntArray) -> CandidateSets:
        """The candidate sets of the attacked rows."""

    @property
    @abstractmethod
    def _knows(self) -> Saying:
        """What the intruder knows of the method, to follow 'knows ... and'."""
