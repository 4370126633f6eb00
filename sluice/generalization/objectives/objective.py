"""What a generalisation loses: the figure that the search makes as small as the privacy models allow.

Adding an objective is one file here: a frozen dataclass that derives from `Objective`, with a `Measure` for the records
at hand. Any objective will do of which a coarser node, or more suppression, never loses less: that is what bounds the
search.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from sluice.arrays import BoolArray
from sluice.generalization.lattice.node import Node


class Measure(ABC):
    """An objective on some records."""

    def least_at(self, levels: Sequence[int]) -> float:
        """No transformation of these levels, or of any above them, loses less. Cost: the keys, not the records."""
        return 0.0

    def least(self, node: Node) -> float:
        """The same by the classes of the node, where that tells more."""
        return self.least_at(node.levels)

    @abstractmethod
    def value(self, node: Node, hidden: BoolArray) -> float:
        """The loss at the node when the records of the classes in `hidden`, shape (c,), are suppressed."""


class Objective(ABC):
    """What is lost, before any records are known."""

    @abstractmethod
    def of(self, bottom: Node) -> Measure:
        """The measure for the records of this node, in which nothing is generalised."""

    @abstractmethod
    def describe(self) -> str:
        """Name and unit, as in 'loss (normalised certainty penalty), 0 to 1'."""
