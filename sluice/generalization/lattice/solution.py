"""Solution: the transformation that a search found, what is known of all others, and why no finer one will do."""

from dataclasses import dataclass

from sluice.generalization.lattice.suppression import Failure
from sluice.ground.arrays import BoolArray


@dataclass(frozen=True)
class Refinement:
    """The transformation one level finer in one key: why it was not taken.

    failures   : the models that it breaks, with the records of the classes that do so when nothing is suppressed
    suppressed : the records that it would suppress, as far as was looked: no further once the limit is passed
    feasible   : whether it may be released; it then loses more, by the suppressed records
    value      : its loss where it is feasible, else None
    """

    key: str
    levels: tuple[int, ...]
    failures: tuple[Failure, ...]
    suppressed: int
    feasible: bool
    value: float | None


@dataclass(frozen=True)
class Solution:
    """The best transformation that was found.

    levels             : the level of each key
    value              : its loss
    bound              : no transformation that satisfies the models loses less; equal to `value` when the search ended
    optimal            : whether none loses less
    checked, nodes     : how many transformations were looked at, of how many
    suppressed_records : shape (n,), the records that are suppressed
    frontier           : for each key that is generalised, the transformation one level finer in it
    """

    levels: tuple[int, ...]
    value: float
    bound: float
    optimal: bool
    checked: int
    nodes: int
    suppressed_records: BoolArray
    frontier: tuple[Refinement, ...]

    @property
    def suppressed(self) -> int:
        """How many records are suppressed."""
        return int(self.suppressed_records.sum())

    @property
    def excess(self) -> float:
        """By what share of the best possible loss this one may exceed it at most; 0 when it is optimal."""
        if self.value <= self.bound:
            return 0.0
        return self.value / self.bound - 1 if self.bound > 0 else float("inf")
