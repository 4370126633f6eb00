"""What somebody can learn of a table who must not, and how that is said: who can tell what; in codes, no values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sluice.tabular.model.cells import Cells

_NAMED = 4  # cells that a breach names

Learned = Literal["exactly", "nearly", "sensitive"]  # the value; too narrow an interval; that it must be so small


@dataclass(frozen=True)
class Breach:
    """What somebody can learn who must not.

    cell     : position of the sensitive cell, or of the first of a sensitive union
    attacker : 'outsider', 'contributor', 'coalition' or 'union'
    says     : who can compute what, in codes; no values
    owners   : the attackers, as numbers; empty for outsiders
    cells    : all cells of a union, otherwise the cell
    exact    : whether the value itself can be computed, not only a too narrow interval
    """

    cell: int
    attacker: str
    says: str
    owners: tuple[int, ...] = ()
    cells: tuple[int, ...] = ()
    exact: bool = False

    @classmethod
    def of_cell(
        cls,
        cells: Cells,
        cell: int,
        reader: str,
        owners: frozenset[int],
        known: Sequence[int],
        shared: Sequence[int],
        learned: Learned,
    ) -> "Breach":
        """An attack on one cell.

        reader : who reads the table, see `Intruder.says`
        owners : of them those who contribute; empty for outsiders
        known  : cells that belong to these alone
        shared : cells that they have a part in, if it matters
        """
        attacker = ("outsider", "contributor", "coalition")[min(len(owners), 2)]
        who = reader if attacker == "outsider" else _contributors(cells, owners, known, shared)
        if attacker != "outsider" and reader != "anybody":
            who += reader.removeprefix("anybody").replace(" knows", f" {'knows' if len(owners) == 1 else 'know'}")
        name = cells.name(cell)
        what = {
            "exactly": f"can compute {name} exactly",
            "nearly": f"can compute {name} to within its protection level",
            "sensitive": f"can tell that {name} is so small that it must be sensitive",
        }[learned]
        return cls(cell, attacker, f"{who} {what}", tuple(sorted(owners)), (cell,), learned == "exactly")


def names(cells: Cells, some: Sequence[int], between: str = " and ") -> str:
    """The codes of some cells; of many, of the first."""
    more = f" and {len(some) - _NAMED} more" if len(some) > _NAMED else ""
    return between.join(cells.name(cell) for cell in some[:_NAMED]) + more


def _contributors(cells: Cells, owners: frozenset[int], known: Sequence[int], shared: Sequence[int]) -> str:
    alone, among = names(cells, known, " and of "), names(cells, shared, " and to ")
    if len(owners) == 1:
        if not known:
            return f"a contributor to {among}"
        return f"the sole contributor of {alone}" + (f", who also contributes to {among}," if shared else "")
    if not known:
        return f"contributors to {among} together"
    return f"the contributors of {alone}" + (f" and to {among}" if shared else "") + " together"
