"""What a generalisation loses: the figure that the search makes as small as the privacy models allow.

Adding an objective is one class and its name in the catalogue: a frozen dataclass that derives from `Objective`, in the
file of the `Measure` for the records at hand (`KeyLosses`, `ClassLosses`). What bounds the search is `least`, how
little a node and all above it can lose: the loss itself, where a coarser node, or more suppression, never loses less.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sluice.generalization.lattice.node import Node
from sluice.ground.arrays import BoolArray, IntArray

Extra = tuple[float, ...]
"""What suppressed records lose beyond what they would lose if they were kept, in parts that a measure knows."""


class Measure(ABC):
    """An objective on some records.

    by_classes : whether `least` needs the classes of the node, and not its levels alone
    nothing    : the extra loss where no record is suppressed
    shares     : for each key and level, what it loses there, if that is known from the key alone; else empty
    kept       : by levels, what `least` needs of a node, once it was asked with it: many boxes begin at one node
    fewest     : records, of one person each, that a class must have or else is suppressed
    """

    by_classes: bool = False
    nothing: Extra = (0.0,)
    shares: Sequence[Sequence[float]] = ()
    kept: Mapping[Sequence[int], object] = MappingProxyType({})
    fewest: int = 1

    @abstractmethod
    def least(self, levels: Sequence[int], node: Node | None, extra: Extra) -> float:
        """No transformation of these levels, or above them, loses less if its suppressed records lose `extra` or more.

        node : that of the levels, where the measure goes by classes and they are not in `kept`
        """

    @abstractmethod
    def extra(self, node: Node, hidden: BoolArray) -> Extra:
        """What the records of the classes in `hidden`, shape (c,), lose by being suppressed at this node.

        At a node below, where the same records are suppressed, they lose no less by it, part by part.
        """

    def extra_at_least(self, node: Node, lost: IntArray) -> Extra:
        """The same where of each class at least `lost` records, shape (c,), are suppressed, whichever they are."""
        return self.extra(node, (lost > 0) & (lost == node.sizes))

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
        """Name and unit, as in 'loss (normalised certainty penalty), mean of the keys'."""
