"""What must be protected: a sensitive cell, or a union of suppressed cells that is sensitive itself.

An attacker who contributes to it takes its own contribution out and looks at the rest; so does a coalition.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sluice.tabular.model.cells import Booleans, Cells, Codes, Contributions, Integers, RequestedContributions
from sluice.tabular.rules.intruders import Intruder
from sluice.tabular.rules.sensitivity import SensitivityRule
from sluice.tabular.suppression.manual_status import MANUAL
from sluice.tabular.suppression.unknown_cells import ProtectionRanges, UnknownCells

_ROWS = 3  # that an attacker adds up or subtracts
_MOST_COMBINATIONS = 20_000  # of rows around one of them

Union = tuple[int, ...]

Coalition = frozenset[int]

_FINE, _FINEST = 500, 100_000  # parts of a level that a change is a multiple of, at least and at most
_DENOMINATORS = (12, 6, 2)  # of the fractions that linear programs of tables answer


@dataclass(frozen=True)
class Need:
    """How far above and below its value a sum must be in doubt, and how wide both together."""

    up: int
    down: int
    wide: int = 0

    @property
    def nothing(self) -> bool:
        """Whether no doubt is needed."""
        return not (self.up or self.down or self.wide)

    def within(self, other: "Need") -> bool:
        """Whether what meets the other meets this."""
        return self.up <= other.up and self.down <= other.down and self.wide <= max(other.wide, other.up + other.down)

    def met(self, up: float, down: float) -> bool:
        """Whether a sum that may lie so far above and below its value is in enough doubt."""
        return up >= self.up and down >= self.down and up + down >= self.wide


_NOTHING = Need(0, 0)


@dataclass(frozen=True, eq=False)
class Target:
    """Unknowns whose sum must be in doubt.

    need                                 : for attackers who contribute nothing to it
    rules                                : that called it sensitive
    total, contributors, largest, owners : of the sum, shapes (), (), (t,) and (t,), as contributors know them
    nonnegative                          : nobody believes it below 0
    reader                               : to whom, by number
    insiders                             : whether contributors are among such readers
    others                               : what is certainly not one contributor's; see `Intruder.others`
    stated                               : a person asks for protection, too: as much of what is left without the
                                           attackers' own part, as far as there is so much
    """

    unknowns: tuple[int, ...]
    need: Need
    rules: tuple[SensitivityRule, ...]
    total: int
    contributors: int
    largest: Integers
    owners: Integers
    nonnegative: bool = True
    reader: int = 0
    insiders: bool = True
    others: int = 0
    stated: bool = False
    _needs: dict[Coalition, Need] = field(default_factory=dict)

    @cached_property
    def listed(self) -> Coalition:
        """The owners of the largest contributions."""
        return frozenset(self.owners.tolist()) - {-1}

    def need_against(self, coalition: Coalition) -> Need:
        """In how much doubt a coalition must be, once it has taken its own contributions out."""
        inside = coalition & self.listed
        if len(inside) >= self.contributors:
            return _NOTHING
        if not inside or not (self.rules or self.stated):
            return self.need
        if inside not in self._needs:
            self._needs[inside] = self._rest(np.isin(self.owners, list(inside)))
        return self._needs[inside]

    def greatest_need(self, size: int, among: Coalition = frozenset()) -> Need:
        """The need against whichever coalition of at most so many, with these among them, it is greatest."""
        listed = self.owners.tolist() if (self.rules or self.stated) and self.insiders else []
        owners = [owner for owner in listed if owner >= 0 and owner not in among]
        several = (some for count in range(size - len(among) + 1) for some in combinations(owners, count))
        needs = [self.need_against(among.union(some)) for some in several]
        return Need(*(max(of) for of in zip(*((need.up, need.down, need.wide) for need in needs), strict=True)))

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
        level = max((int(rule.protection(rest, outsider=True)[0]) for rule in self.rules), default=0)
        up, down = (max(level, self.need.up), max(level, self.need.down)) if self.stated else (level, level)
        return Need(up, min(down, max(total - self.others, 0)) if self.nonnegative else down)


def targets_of(
    cells: Cells,
    unknowns: UnknownCells,
    readers: Sequence[Intruder],
    rules: Sequence[SensitivityRule],
    nonnegative: bool,
) -> list[Target]:
    """The unknowns that must stay in doubt, to each reader: those that need most of it first."""
    return [
        target
        for number, reader in enumerate(readers)
        for target in _targets(cells, unknowns, number, reader, rules, nonnegative)
    ]


def _targets(
    cells: Cells,
    unknowns: UnknownCells,
    number: int,
    reader: Intruder,
    rules: Sequence[SensitivityRule],
    nonnegative: bool,
) -> list[Target]:
    requirements, first = reader.requirements, unknowns.first
    down, up, wide = (
        unknowns.max(of.astype(np.float64)).astype(np.int64)
        for of in (requirements.lower, requirements.upper, requirements.sliding)
    )
    asks = np.flatnonzero(unknowns.any(requirements.sensitive) & ((up > 0) | (down > 0) | (wide > 0)))
    by_rule = {name: unknowns.any(by) for name, by in requirements.by_rule.items()}
    found, theirs = [], cells.own_parts
    for at in asks[np.lexsort((asks, -up[asks]))].tolist():
        called = {name for name, by in by_rule.items() if by[at]}
        deciding = tuple(rule for rule in rules if rule.rule in called)
        stated = wide[at] <= 0 and MANUAL in called
        if called - {rule.rule for rule in deciding} - {MANUAL} or wide[at] > 0:
            deciding = ()  # required by other means, too: no rule tells what must be left of the others' part
        cell = int(first[at])
        found.append(
            Target(
                (at,),
                Need(int(up[at]), int(down[at]), int(wide[at])),
                deciding,
                int(cells.contributions.total[cell]),
                int(theirs.contributors[cell]),
                theirs.largest[cell],
                theirs.owners[cell],
                nonnegative,
                number,
                reader.insiders,
                int(reader.others[cell]),
                stated,
            )
        )
    return found


def quantum(level: int) -> int:
    """The units that changes of this size are multiples of, so that a fraction of a level is whole, and exact."""
    largest = _DENOMINATORS[0] * (level // (_DENOMINATORS[0] * _FINEST))
    return largest or next((unit for unit in _DENOMINATORS if unit * _FINE <= level), 1)


def searched_change(level: int, room: float) -> int:
    """A little more than the level, where there is room: a multiple of its quantum."""
    unit = quantum(level)
    more = -(-level // unit) * unit
    return more if more <= room else level


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
    return RequestedContributions.of(Contributions(total, contributors, largest), owners, cells.asking), owners


class Unions:
    """Which unions of unknowns can be computed, and what protection they need; remembers what the rules said.

    The suppressed parts of a published sum add up to what is published. If they are sensitive together, that sum tells
    what no single cell may tell. The rules that tables use are subadditive (Cox 1981): a union of cells that are not
    sensitive is not sensitive. Source: Torra (2013), "Secondary suppression"; "implicit cells" of Jewett (1993). The
    audit finds unions by code of its own (`sluice/tabular/audit/pattern_audit.py`), twins on purpose.
    """

    def __init__(
        self,
        cells: Cells,
        unknowns: UnknownCells,
        sensitive: Booleans,
        rules: Sequence[SensitivityRule],
        ranges: ProtectionRanges,
        nonnegative: bool = True,
    ) -> None:
        self._ranges = ranges
        self._nonnegative = nonnegative
        self._cells, self._unknowns, self._rules = cells, unknowns, rules
        self._judged: dict[Union, Target | None] = {}
        self._sensitive = unknowns.any(sensitive)
        self._code = np.random.default_rng(0).integers(1, 2**62, len(unknowns))

    def sensitive(self, active: Booleans, near: NDArray[np.int32] | None = None, depth: int = _ROWS) -> list[Target]:
        """The sensitive ones among the unions whose sum follows from rows, added and subtracted.

        active : shape (u,), the unknowns that are in doubt at all; the others can be computed
        near   : unknowns; only unions that involve a row of theirs, all when not given
        cost   : 1 ms for the rows of one unknown, and once for each union that the rules have not seen before
        """
        from sluice.tabular.suppression.suppression_kernel import known_unions

        rows, columns = self._unknowns.rows, self._unknowns.columns
        if not self._rules or not rows.nnz:
            return []
        seeds = np.unique(columns[np.flatnonzero(active & self._sensitive) if near is None else near].indices)
        starts, members = known_unions(
            seeds, active, self._sensitive, rows.indptr, rows.indices, rows.data, columns.indptr, columns.indices,
            self._code, depth, _MOST_COMBINATIONS,
        )  # fmt: skip
        found = [tuple(np.sort(part).tolist()) for part in np.split(members, starts[1:-1]) if len(part)]
        self._judge([union for union in found if union not in self._judged])
        return [target for union in found if (target := self._judged[union]) is not None]

    def _judge(self, unions: list[Union]) -> None:
        if not unions:
            return
        first = self._unknowns.first
        merged, owners = united(self._cells, [first[list(union)] for union in unions])
        levels = np.array([np.where(rule.sensitive(merged), rule.protection(merged), 0) for rule in self._rules])
        for at, union in enumerate(unions):
            up = int(levels[:, at].max())
            self._judged[union] = None
            if up > 0:
                rules = tuple(rule for rule, level in zip(self._rules, levels[:, at], strict=True) if level > 0)
                total, contributors = int(merged.total[at]), int(merged.contributors[at])
                room = min(up, float(self._ranges.down[list(union)].sum()))
                others = int(max(total - room - 1, 0)) if room < up else 0
                self._judged[union] = Target(
                    union, Need(up, int(room)), rules, total, contributors, merged.largest[at], owners[at],
                    self._nonnegative, others=others,
                )  # fmt: skip
