"""Editions of a table: this one must not undo an earlier one, nor the earlier one this.

An attacker has both and takes a cell that was not revised for one and the same unknown. So both are put into one
system of sums, where unrevised cells stand once: what was published then is known now, and what is published now is
known of then. The common suppression and audit work on it.

Source: Torra (2013), "Protection for tabular data", on linked tables, of which editions are a case;
Hundepool and others (2012), section 4.6. Revisions and carrying a pattern forward are this project's own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from scipy.sparse import csr_array, vstack

from sluice.ground.errors import DataError
from sluice.tabular.audit.pattern_audit import Audit
from sluice.tabular.model.cells import (
    Booleans,
    Cells,
    Codes,
    Contributions,
    Integers,
    OwnParts,
    Status,
    Statuses,
    keys_of,
)
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Asking
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule, requirements_of

Positions = Integers

_BOTH, _NOW, _EARLIER, _ANY, _NONE = range(5)
# No cell stands at the last two codes. 'any' is there so that a search among the neighbours of a cell looks into both
# editions; a leaf that all share, so that none of them can be exchanged for another.
_EDITION = Dimension(
    "in",
    ("both editions", "this edition", "the earlier edition", "any edition", "no edition"),
    ((_ANY, (_BOTH, _NOW, _EARLIER)), (_BOTH, (_NONE,)), (_NOW, (_NONE,)), (_EARLIER, (_NONE,))),
)


@dataclass(frozen=True, eq=False)
class JointEditions:
    """Two editions as one set of j cells: first the n cells of this edition in their order, then the others.

        must, should = carried(earlier, earlier_status, now)
        found = suppress(joint.cells, joint.requirements(rules), rules, forbidden=joint.public,
                         suppressed=joint.suppressed | joint.joint(must), preferred=joint.joint(should))
        status = joint.now(found.status, rules)

    With `must | should` instead of `must`, no cell comes back, and the pattern only grows.

    cells      : their last dimension, 'in', says of which edition they are
    public     : shape (j,), what the earlier edition published: `forbidden` to suppress
    suppressed : shape (j,), cells of the earlier edition alone that it did not publish: suppressed from the start
    of_earlier : shape (e,), where the cells of the earlier edition stand
    before     : shape (n,), the cell of the earlier edition with the same codes, -1 where there is none
    then       : what the rules look at in the earlier edition; a total may stay while its contributors change
    """

    cells: Cells
    public: Booleans
    suppressed: Booleans
    of_earlier: Positions
    before: Positions
    then: Contributions

    def joint(self, now: Booleans) -> Booleans:
        """Something said of the cells of this edition, of shape (n,), as said of the joint cells, of shape (j,)."""
        return np.pad(now, (0, len(self.cells) - len(now)))

    def cannot_be_mended(self, rules: Sequence[SensitivityRule]) -> Booleans:
        """Shape (j,): sensitive cells that the earlier edition published as they are."""
        return self._required(rules).sensitive & self.public

    def requirements(self, rules: Sequence[SensitivityRule], nonnegative: bool = True) -> Requirements:
        """What can still be required: all that the rules ask of either edition, but of cells that cannot be mended."""
        required = self._required(rules, nonnegative)
        left = ~self.public
        return Requirements(
            {name: found & left for name, found in required.by_rule.items()},
            required.sensitive & left,
            *(np.where(left, level, 0) for level in (required.lower, required.upper, required.sliding)),
        )

    def _required(self, rules: Sequence[SensitivityRule], nonnegative: bool = True) -> Requirements:
        now = requirements_of(rules, self.cells.contributions, nonnegative)
        then = requirements_of(rules, self.then, nonnegative)
        for rule in rules:
            now.by_rule[rule.rule][self.of_earlier] |= then.by_rule[rule.rule]
        now.sensitive[self.of_earlier] |= then.sensitive
        for level, other in ((now.lower, then.lower), (now.upper, then.upper), (now.sliding, then.sliding)):
            level[self.of_earlier] = np.maximum(level[self.of_earlier], other)
        return now

    def status(self, now: Statuses, earlier: Statuses) -> Statuses:
        """The statuses of the joint cells, shape (j,), from those of each edition: published is what either did."""
        status = np.zeros(len(self.cells), dtype=np.uint8)
        status[self.of_earlier] = earlier
        status[: len(now)] = np.where(self.public[: len(now)], Status.PUBLISHED, now)
        return status

    def now(self, status: Statuses, rules: Sequence[SensitivityRule]) -> Statuses:
        """The statuses of this edition, shape (n,), of those of the joint cells.

        A cell that cannot be mended is primary: its value is out, but this edition does not repeat it.
        """
        count = len(self.before)
        return np.where(self.cannot_be_mended(rules)[:count], Status.PRIMARY, status[:count]).astype(np.uint8)

    def findings(self, rules: Sequence[SensitivityRule], found: Audit | None = None) -> list[str]:
        """What is wrong between the editions, in words without values: what is out already, then what an audit found.

        found : of the joint cells under their joint status
        """
        lost = np.flatnonzero(self.cannot_be_mended(rules))
        says = [f"{self.cells.name(int(cell))}: sensitive, and was published in the earlier edition" for cell in lost]
        old = np.zeros(len(self.cells), dtype=bool)
        old[self.of_earlier] = True
        for breach in found.breaches if found else ():
            of = "opens the earlier edition" if old[breach.cell] else "undone by the earlier edition"
            says.append(f"{of}: {breach.says}")
        return says


def joint_cells(earlier: Cells, earlier_status: Statuses, now: Cells) -> JointEditions:
    """Both editions in one system of sums; cells belong together by the text of their codes.

    A cell is unrevised when its total is the same. Contributors must have the same numbers in both editions. Codes may
    have come or gone, and may have moved to another parent.

    earlier_status : shape (e,), of `Status`
    raises         : DataError for other dimensions, other decimals, or editions without a common cell
    cost           : O(cells log cells)
    """
    dimensions, before = _matched(earlier, earlier_status, now)
    same = _unrevised(earlier, now, before)
    of_earlier = np.full(len(earlier), -1, dtype=np.int64)
    of_earlier[before[same]] = np.flatnonzero(same)
    alone = np.flatnonzero(of_earlier < 0)
    of_earlier[alone] = len(now) + np.arange(len(alone))
    count = len(now) + len(alone)
    edition = np.full((count, 1), _EARLIER, dtype=np.int32)
    edition[: len(now), 0] = np.where(same, _BOTH, _NOW)
    codes = np.vstack([now.codes, codes_in(dimensions, earlier)[alone]])
    public_then = earlier.published & (earlier_status == Status.PUBLISHED)
    public = np.zeros(count, dtype=bool)
    public[of_earlier] = public_then
    published = np.r_[now.published, earlier.published[alone]] | public
    suppressed = np.zeros(count, dtype=bool)
    suppressed[of_earlier[alone]] = (earlier.published & ~public_then)[alone]
    cells = Cells(
        dimensions=(*dimensions, _EDITION),
        codes=np.hstack([codes, edition]).astype(np.int32),
        total=np.r_[now.total, earlier.total[alone]],
        **stacked([now.by_rules, _some(earlier.by_rules, alone)])._asdict(),
        equations=_both(now.equations, earlier.equations, of_earlier, count),
        published=published,
        decimals=now.decimals,
        sizes=None if now.sizes is None and earlier.sizes is None else np.r_[sizes_of(now), sizes_of(earlier)[alone]],
        weighted=None
        if now.weighted is None and earlier.weighted is None
        else stacked([now.own_parts, _some(earlier.own_parts, alone)]),
        asking=asking_in([now, earlier]),
    )
    return JointEditions(cells, public, suppressed, of_earlier, before, earlier.contributions)


def carried(earlier: Cells, earlier_status: Statuses, now: Cells) -> tuple[Booleans, Booleans]:
    """Last edition's pattern as the start of this one's: what must, and what should stay suppressed; shapes (n,).

    Unrevised primaries must: published now, they would be known then. The rest of the pattern is preferred, so that a
    series does not come and go, as far as that stays safe. Raises as `joint_cells`.
    """
    _, before = _matched(earlier, earlier_status, now)
    same = _unrevised(earlier, now, before)
    was = np.where(before >= 0, earlier_status[before], Status.PUBLISHED)
    hidden = (was == Status.PRIMARY) | (was == Status.SECONDARY)
    must = same & (was == Status.PRIMARY)
    return must, hidden & ~must


def _matched(earlier: Cells, earlier_status: Statuses, now: Cells) -> tuple[tuple[Dimension, ...], Positions]:
    """The dimensions with the codes of both editions; for each cell of this one its place in the earlier one, or -1."""
    names = [[dimension.name for dimension in cells.dimensions] for cells in (earlier, now)]
    if names[0] != names[1]:
        raise DataError(
            f"editions of a table must have the same dimensions in the same order; got {', '.join(names[0])} in the "
            f"earlier one and {', '.join(names[1])} in this one."
        )
    if earlier.decimals != now.decimals:
        raise DataError(
            f"a measure must have as many decimals in both tables; got {earlier.decimals} in the earlier one and "
            f"{now.decimals} in this one: name them with the measure (decimals: {earlier.decimals})."
        )
    if len(earlier_status) != len(earlier):
        raise DataError(
            f"the earlier edition must have one status for each of {len(earlier)} cells; got {len(earlier_status)}."
        )
    dimensions = tuple(united(old, new) for old, new in zip(earlier.dimensions, now.dimensions, strict=True))
    wanted, given = keys_of(dimensions, now.codes), keys_of(dimensions, codes_in(dimensions, earlier))
    _, at_now, at_earlier = np.intersect1d(wanted, given, assume_unique=True, return_indices=True)
    if not len(at_now):
        raise DataError("the two editions have no cell in common; are they of one table?")
    before = np.full(len(now), -1, dtype=np.int64)
    before[at_now] = at_earlier
    return dimensions, before


def _unrevised(earlier: Cells, now: Cells, before: Positions) -> Booleans:
    """Shape (n,): the same cell of the earlier edition has the same total."""
    same: Booleans = (before >= 0) & (earlier.total[before] == now.total)
    return same


def united(earlier: Dimension, now: Dimension) -> Dimension:
    """This edition's codes in their places, then those that are gone, with the sums of the groups that are gone."""
    codes = (*now.codes, *(code for code in earlier.codes if code not in now.position))
    place = {code: at for at, code in enumerate(codes)}
    gone = tuple(
        (place[earlier.codes[group]], tuple(place[earlier.codes[part]] for part in parts))
        for group, parts in earlier.sums
        if earlier.codes[group] not in now.position
    )
    return Dimension(now.name, codes, (*now.sums, *gone))


def codes_in(dimensions: Sequence[Dimension], cells: Cells) -> Codes:
    """The codes of cells as positions in other dimensions that have them all."""
    columns = [
        np.array([new.position[code] for code in old.codes], dtype=np.int32)[cells.codes[:, axis]]
        for axis, (old, new) in enumerate(zip(cells.dimensions, dimensions, strict=False))
    ]
    return np.column_stack(columns)


def sizes_of(cells: Cells) -> Integers:
    return cells.total if cells.sizes is None else cells.sizes


def stacked(parts: Sequence[OwnParts]) -> OwnParts:
    """Those of several sets of cells, one after another, as wide as the widest."""
    kept = max(part.largest.shape[1] for part in parts)
    return OwnParts(
        np.concatenate([part.contributors for part in parts]),
        np.vstack([_widened(part.largest, kept, 0) for part in parts]),
        np.vstack([_widened(part.owners, kept, -1) for part in parts]),
    )


def asking_in(editions: Sequence[Cells]) -> Asking | None:
    """Who asked for protection in any of these; None where none of them says so."""
    known = [cells.asking for cells in editions if cells.asking is not None]
    return Asking(*(tuple(sorted({*chain(*each)})) for each in zip(*known, strict=True))) if known else None


def _some(parts: OwnParts, which: Positions) -> OwnParts:
    return OwnParts(*(each[which] for each in parts))


def _widened(array: Integers, columns: int, filling: int) -> Integers:
    return np.pad(array, ((0, 0), (0, columns - array.shape[1])), constant_values=filling)


def _both(now: csr_array, earlier: csr_array, of_earlier: Positions, count: int) -> csr_array:
    """The sums of this edition, and those of the earlier one that are others."""
    first = csr_array((now.data, now.indices, now.indptr), shape=(now.shape[0], count), copy=True)
    moved = (earlier.data, of_earlier[earlier.indices], earlier.indptr)
    second = csr_array(moved, shape=(earlier.shape[0], count), copy=True)
    first.sort_indices()
    second.sort_indices()
    known = {_row(first, at) for at in range(first.shape[0])}
    return csr_array(vstack([first, second[[at for at in range(second.shape[0]) if _row(second, at) not in known]]]))


def _row(matrix: csr_array, at: int) -> tuple[bytes, bytes]:
    inside = slice(matrix.indptr[at], matrix.indptr[at + 1])
    return matrix.indices[inside].astype(np.int64).tobytes(), matrix.data[inside].astype(np.float64).tobytes()
