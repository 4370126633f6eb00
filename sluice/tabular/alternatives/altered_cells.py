"""What a method that changes values, instead of suppressing them, hands on: the values, and what they still tell."""

from dataclasses import dataclass

import numpy as np

from sluice.ground.errors import DataError
from sluice.tabular.model.cells import Cells, Floats, Integers


@dataclass(frozen=True, eq=False)
class AlteredCells:
    """Values to publish in place of the totals of c cells.

    value     : shape (c,), in units of the table; every equation of the cells holds exactly
    low, high : shape (c,), between which an attacker who knows the method, and its parameters, finds each total
    failing   : positions of the sensitive cells of which the attacker can tell more than is required
    attempted : how many sensitive cells were to be attacked
    completed : how many of them were
    says      : in words, what was done and what an attacker can still learn; no values
    concern   : in words, what a person must decide on before such values are published; None where nothing is
    """

    value: Integers
    low: Floats
    high: Floats
    failing: Integers
    attempted: int
    completed: int
    says: str
    concern: str | None = None

    @property
    def safe(self) -> bool:
        """Whether every sensitive cell was attacked, and none fails."""
        return self.completed == self.attempted and not len(self.failing)


def refuse_unless_additive(cells: Cells, value: Integers, method: str) -> None:
    """Whatever a solver says: values that do not add up are not published.

    raises : DataError
    """
    if (cells.equations.astype(np.int64) @ value).any():
        raise DataError(f"{method} found values that do not add up; nothing may be published of them.")


def refuse_negative(cells: Cells, method: str, hint: str) -> None:
    """raises : DataError when a total is negative, naming the cell."""
    negative = np.flatnonzero(cells.total < 0)
    if len(negative):
        raise DataError(
            f"{method} takes totals of 0 or more; {len(negative)} are negative, the first at "
            f"{cells.name(int(negative[0]))}. {hint}"
        )
