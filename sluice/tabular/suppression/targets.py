"""What must be protected: a sensitive cell, or a union of suppressed cells that is sensitive itself.

An attacker who contributes to it takes its own contribution out and looks at the rest; so does a coalition.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from sluice.tabular.model.cells import Booleans, Cells, Codes, Contributions, Integers
from sluice.tabular.rules.sensitivity import SensitivityRule

Coalition = frozenset[int]

_MORE, _LEAST = 1e-6, 1e-3  # beyond the level, so that rounding in the solver leaves enough


@dataclass(frozen=True)
class Need:
    """How far above and below its value a sum must be in doubt."""

    up: int
    down: int

    def within(self, other: "Need") -> bool:
        """Whether what meets the other meets this."""
        return self.up <= other.up and self.down <= other.down


@dataclass(frozen=True, eq=False)
class Target:
    """Unknowns whose sum must be in doubt.

    need                                 : for attackers who contribute nothing to it
    rules                                : that called it sensitive; none where it is required by other means
    total, contributors, largest, owners : of the sum, shapes (), (), (t,) and (t,), as the rules look at them
    nonnegative                          : nobody believes it below 0
    """

    unknowns: tuple[int, ...]
    need: Need
    rules: tuple[SensitivityRule, ...]
    total: int
    contributors: int
    largest: Integers
    owners: Integers
    nonnegative: bool = True
    _needs: dict[Coalition, Need] = field(default_factory=dict)

    def need_against(self, coalition: Coalition) -> Need:
        """In how much doubt a coalition must be, once it has taken its own contributions out."""
        inside = frozenset(coalition.intersection(self.owners.tolist()))
        if not inside or not self.rules:
            return self.need
        if inside not in self._needs:
            self._needs[inside] = self._rest(np.isin(self.owners, list(inside)))
        return self._needs[inside]

    def greatest_need(self, size: int, among: Coalition = frozenset()) -> Need:
        """The need against whichever coalition of at most so many, with these among them, it is greatest."""
        owners = [owner for owner in self.owners.tolist() if owner >= 0 and owner not in among] if self.rules else []
        several = (some for count in range(size - len(among) + 1) for some in combinations(owners, count))
        needs = [self.need_against(among.union(some)) for some in several]
        return Need(max(need.up for need in needs), max(need.down for need in needs))

    def _rest(self, inside: Booleans) -> Need:
        left = self.contributors - int(inside.sum())
        if left <= 0:
            return Need(0, 0)
        listed = self.owners >= 0
        total = self.total - int(self.largest[inside].sum())
        kept = self.largest[listed & ~inside]
        largest = np.zeros(len(self.largest), dtype=np.int64)
        largest[: len(kept)] = kept
        if left > len(kept):  # not on the list: at most as much as the last that is
            largest[len(kept) : left] = self.largest[-1]
        rest = Contributions(np.array([total]), np.array([left]), largest[None, :])
        level = max(int(rule.protection(rest, outsider=True)[0]) for rule in self.rules)
        return Need(level, min(level, max(total, 0)) if self.nonnegative else level)


def searched_change(level: int, room: float) -> float:
    """A little more than the level, as far as there is room."""
    return min(level * (1 + _MORE) + _LEAST, room) if level > 0 else 0.0


def united(cells: Cells, unions: Sequence[Codes]) -> tuple[Contributions, Integers]:
    """What the rules look at of unions of cells, and the owners of the largest contributions, shape (k, t).

    cost : O(s log s) for a union of s cells
    """
    from sluice.tabular.suppression.suppression_kernel import merged_contributions

    start = np.cumsum([0, *map(len, unions)], dtype=np.int64)
    member = np.concatenate(unions).astype(np.int64) if unions else np.zeros(0, dtype=np.int64)
    total, contributors, largest, owners = merged_contributions(
        start, member, cells.contributions.total, cells.contributors, cells.largest, cells.owners
    )
    return Contributions(total, contributors, largest), owners
