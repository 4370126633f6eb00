"""Editions of which one is the sum of the others, such as a year and its quarters: together they are one table.

Its last dimension says of which edition a cell is: the whole is the total, and the parts are its leaves. What one of
them suppresses, the others may give by subtraction, although each of them is safe by itself. A sum stands between cells
where it holds: in a revised one it does not.

Source: Hundepool and others (2012), section 4.6, on linked tables, of which publications that add up are a case. The
search for sums that nobody declared is this project's own; it meets in the middle (Horowitz and Sahni, 1974).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice
from math import ceil, comb, log
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, csr_array, vstack

from sluice.ground.errors import DataError
from sluice.tabular.editions.joint_editions import asking_in, codes_in, sizes_of, stacked, united
from sluice.tabular.model.cells import Booleans, Cells, Codes, Floats, Integers, Status, Statuses, keys_of
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule, requirements_of

_Kind = TypeVar("_Kind", bound=np.generic)

MOST_PARTS = 12
MOST_EDITIONS = 24  # among which a sum is sought
_GROUPS = 12  # of cells that must agree exactly before all others are looked at
_LOOKED_AT = 200  # cells from which the groups are drawn
_TRIED = 100  # sets that agree in a group of cells: of more, the cells tell nothing
_HALF = 0.5  # of the cells of a sum, which agree where most were not revised
_BY_CHANCE = 1e-4
_SHIFT = 2**48  # beyond every number of a contributor who is not known again in another edition
_UNKNOWN = 2**61  # from here on; see `read_earlier_tables`
_REVISED = 0.1  # of a whole: so much may be a revision, more is a part that is absent


@dataclass(frozen=True, eq=False)
class SummedEditions:
    """Editions as one set of j cells: first the n of this edition, then those of the others, one after the other.

    cells      : their last dimension, 'in', says of which edition they are
    count      : n
    public     : shape (j,), what the others publish: `forbidden` to suppress
    suppressed : shape (j,), what they do not
    sums       : how many sums hold between a cell of the whole and its parts
    revised    : between how many cells they nearly hold, while a part or the whole is suppressed
    """

    cells: Cells
    count: int
    public: Booleans
    suppressed: Booleans
    sums: int
    revised: int

    def joint(self, now: NDArray[_Kind]) -> NDArray[_Kind]:
        """Something said of the n cells of this edition as said of the j joint cells; nothing of the others."""
        said: NDArray[_Kind] = np.pad(now, (0, len(self.cells) - self.count))
        return said

    def status(self, now: Statuses) -> Statuses:
        """The statuses of the joint cells, shape (j,), where the cells of this edition have these."""
        others = np.where(self.suppressed, Status.SECONDARY, np.where(self.public, Status.PUBLISHED, Status.WITHHELD))
        status: Statuses = np.r_[now, others[self.count :]].astype(np.uint8)
        return status

    def requirements(self, asked: Requirements, rules: Sequence[SensitivityRule], nonnegative: bool) -> Requirements:
        """What is asked of this edition's cells, and what the rules ask of those that the others do not publish."""
        rest = requirements_of(rules, self.cells.contributions, nonnegative)
        hidden = ~self.public
        return Requirements(
            {name: found & hidden for name, found in rest.by_rule.items()},
            np.r_[asked.sensitive, (rest.sensitive & hidden)[self.count :]],
            *(
                np.r_[getattr(asked, level), np.where(hidden, getattr(rest, level), 0)[self.count :]]
                for level in ("lower", "upper", "sliding")
            ),
        )


def in_dimensions(cells: Cells, dimensions: Sequence[Dimension]) -> Cells:
    """The same cells with further dimensions, at whose totals they stand."""
    axes = {dimension.name: axis for axis, dimension in enumerate(cells.dimensions)}
    codes: Codes = np.zeros((len(cells), len(dimensions)), dtype=np.int32)
    for axis, dimension in enumerate(dimensions):
        if dimension.name in axes:
            codes[:, axis] = cells.codes[:, axes[dimension.name]]
    return replace(cells, dimensions=tuple(dimensions), codes=codes)


def summed(
    now: Cells, others: Sequence[tuple[str, Cells, Statuses]], whole: int, name: str = "this release"
) -> SummedEditions:
    """The editions as one system of sums; cells belong together by the text of their codes.

    others : name, cells and their status; each name once
    whole  : which of (now, *others) is the sum of all the rest
    raises : DataError for other decimals, or dimensions whose totals are called otherwise
    cost   : O(j log j)
    """
    alike = [_apart(cells, at) for at, cells in enumerate(_alike([now, *(cells for _, cells, _ in others)]))]
    names = [name, *(each for each, _, _ in others)]
    order = [whole, *(at for at in range(len(names)) if at != whole)]
    edition = Dimension.flat("in", [names[at] for at in order[1:]], names[whole])
    starts = np.cumsum([0, *(len(cells) for cells in alike)])
    tied = _tied(alike, whole)
    rows, columns, revised = _sums(alike, tied, starts, whole, [status for _, _, status in others])
    signs = np.where(np.isin(columns, np.arange(starts[whole], starts[whole + 1])), 1.0, -1.0)
    across = csr_array((signs, (rows, columns)), shape=(int(rows.max(initial=-1)) + 1, int(starts[-1])))
    within = block_diag([cells.equations for cells in alike], format="csr")
    listed = np.concatenate([cells.published for cells in alike])
    status = np.concatenate([np.full(len(now), Status.WITHHELD), *(status for _, _, status in others)])
    foreign = np.arange(len(status)) >= len(now)
    at_edition = np.concatenate([np.full(len(cells), order.index(at)) for at, cells in enumerate(alike)])
    cells = Cells(
        dimensions=(*alike[0].dimensions, edition),
        codes=np.column_stack([np.vstack([cells.codes for cells in alike]), at_edition]).astype(np.int32),
        total=np.concatenate([cells.total for cells in alike]),
        **stacked([cells.by_rules for cells in alike])._asdict(),
        equations=csr_array(vstack([within, across])),
        published=listed,
        decimals=now.decimals,
        sizes=None if all(cells.sizes is None for cells in alike) else np.concatenate([sizes_of(c) for c in alike]),
        weighted=None
        if all(cells.weighted is None for cells in alike)
        else stacked([cells.own_parts for cells in alike]),
        asking=asking_in(alike),
    )
    public = foreign & listed & (status == Status.PUBLISHED)
    return SummedEditions(cells, len(now), public, foreign & listed & ~public, across.shape[0], revised)


def _alike(editions: Sequence[Cells]) -> list[Cells]:
    """The editions in the dimensions and codes of all of them, the first one's in their places."""
    first = editions[0]
    if len({cells.decimals for cells in editions}) > 1:
        raise DataError("editions that add up must have the same decimals.")
    known: dict[str, list[Dimension]] = {}
    for cells in editions:
        for dimension in cells.dimensions:
            known.setdefault(dimension.name, []).append(dimension)
    for name, dimensions in known.items():
        if len({dimension.codes[0] for dimension in dimensions}) > 1:
            raise DataError(f"the total of '{name}' is not called the same in all editions that add up.")
    dimensions = [reduce(lambda now, earlier: united(earlier, now), each) for each in known.values()]
    places = {dimension.name: dimension for dimension in dimensions}
    found = []
    for cells in editions:
        own = tuple(places[dimension.name] for dimension in cells.dimensions)
        found.append(in_dimensions(replace(cells, dimensions=own, codes=codes_in(own, cells)), dimensions))
    assert len(found[0]) == len(first)
    return found


def _tied(editions: Sequence[Cells], whole: int) -> Integers:
    """Shape (cells of the whole, editions): where the same cell of each stands in it; -1 where it is not."""
    dimensions = editions[0].dimensions
    wanted = keys_of(dimensions, editions[whole].codes)
    found = np.full((len(wanted), len(editions)), -1, dtype=np.int64)
    for at, cells in enumerate(editions):
        _, mine, theirs = np.intersect1d(wanted, keys_of(dimensions, cells.codes), return_indices=True)
        found[mine, at] = theirs
    return found


def _sums(
    editions: Sequence[Cells], tied: Integers, starts: Integers, whole: int, statuses: Sequence[Statuses]
) -> tuple[Integers, Integers, int]:
    """Row and column of each entry of the sums that hold, and how many nearly do while something is suppressed."""
    parts = [at for at in range(len(editions)) if at != whole]
    total = editions[whole].total
    rest = total - sum(_totals(editions[at], tied[:, at]) for at in parts)
    has_part = (tied[:, parts] >= 0).any(axis=1)
    holds = (rest == 0) & has_part
    there = holds[:, None] & (tied >= 0)
    rows, edition = np.nonzero(there)
    _, rows = np.unique(rows, return_inverse=True)
    columns = starts[edition] + tied[there]
    near = ~holds & (tied[:, parts] >= 0).all(axis=1) & (np.abs(rest) <= _REVISED * np.abs(total))
    hidden = np.zeros(len(total), dtype=bool)
    for at, status in enumerate(statuses, start=1):
        hidden |= (tied[:, at] >= 0) & (status[tied[:, at]] != Status.PUBLISHED)
    return rows.astype(np.int64), columns.astype(np.int64), int((near & hidden).sum())


def _totals(cells: Cells, at: Integers) -> Integers:
    totals: Integers = np.where(at >= 0, cells.total[at], 0)
    return totals


def _apart(cells: Cells, edition: int) -> Cells:
    """Contributors who are not known again are others in each edition."""
    return cells.renumbered(lambda owners: np.where(owners >= _UNKNOWN, owners + edition * _SHIFT, owners))


def found_sums(now: Cells, others: Sequence[Cells]) -> list[tuple[int, tuple[int, ...]]]:
    """Which editions are the sum of which others, as their figures tell, where this one is among them.

    Places are those in (now, *others): 0 is this edition. Two to twelve parts add up to a whole in at least half of the
    cells that it has in common with any of them, and in so many that chance does not explain it.

    others : of at most 24 editions, with the same decimals
    returns: the whole and its parts, of each
    raises : DataError for editions that cannot be put side by side
    cost   : O(e 2 ** (e / 2)) for e editions, times 12 groups of cells and e sums
    """
    alike = _alike([now, *others])
    figures, sums = _figures(alike)
    groups = _groups(figures, sums)
    found: dict[tuple[int, tuple[int, ...]], None] = {}
    for whole in range(len(alike)):
        fixed = [] if whole == 0 else [0]
        free = [at for at in range(1, len(alike)) if at != whole]
        for group in groups:
            wanted = figures[whole, group] - figures[fixed][:, group].sum(axis=0)
            for chosen in islice(_subsets(figures[free][:, group], wanted), _TRIED):
                parts = tuple(sorted((*fixed, *(free[at] for at in chosen))))
                if 2 <= len(parts) <= MOST_PARTS and _agrees(figures, sums, whole, parts, len(free)):
                    found[whole, parts] = None
    return list(found)


def _figures(editions: Sequence[Cells]) -> tuple[Integers, Integers]:
    """Shape (editions, cells): the total of each cell that any of them has, 0 where there is none; and pairs of a sum
    and one of its parts, shape (p, 2)."""
    dimensions = editions[0].dimensions
    keys = [keys_of(dimensions, cells.codes) for cells in editions]
    everywhere = np.unique(np.concatenate(keys))
    found = np.zeros((len(editions), len(everywhere)), dtype=np.int64)
    pairs = []
    for at, (cells, own) in enumerate(zip(editions, keys, strict=True)):
        places = np.searchsorted(everywhere, own)
        found[at, places] = cells.total
        entries = cells.equations.tocoo()
        of_sum = np.zeros(cells.equations.shape[0], dtype=np.int64)
        of_sum[entries.row[entries.data > 0]] = entries.col[entries.data > 0]
        part = entries.data < 0
        pairs.append(places[of_sum[entries.row[part]]] * len(everywhere) + places[entries.col[part]])
    return found, np.column_stack(np.divmod(np.unique(np.concatenate(pairs)), len(everywhere)))


def _innermost(among: Booleans, sums: Integers) -> Booleans:
    """Those of some cells that are no sum of others of them: they are independent of each other."""
    inner = among.copy()
    inner[sums[among[sums[:, 1]], 0]] = False
    return inner


def _groups(figures: Integers, sums: Integers) -> list[Integers]:
    """Cells that most editions have, drawn in groups, of which one at least is likely to be free of revisions.

    A group is so large that few sets of editions agree in it by chance.
    """
    often = (figures != 0).sum(axis=0) * (figures[0] != 0)
    cells = np.flatnonzero(_innermost((often > 0) & (often >= min(3, often.max())), sums))
    if not len(cells):
        return []
    cells = cells[np.argsort(-often[cells], kind="stable")][:_LOOKED_AT]
    usual = float(np.median(np.abs(figures[0, cells]))) + 2
    size = min(len(cells), max(3, ceil((len(figures) + 4) * log(2) / log(usual))))
    rng = np.random.default_rng(0)
    return [rng.choice(cells, size, replace=False) for _ in range(_GROUPS)]


def _subsets(figures: Integers, wanted: Integers) -> Iterator[tuple[int, ...]]:
    """All sets of rows, of shape (e, g), that add up to what is wanted, of shape (g,); none with rows of zeros."""
    rows = np.flatnonzero((figures != 0).any(axis=1))
    mix = np.random.default_rng(0).integers(1, 2**62, figures.shape[1], dtype=np.uint64)
    keys, target = figures[rows].astype(np.uint64) @ mix, wanted.astype(np.uint64) @ mix
    middle = len(rows) // 2
    left, right = _all_sums(keys[:middle]), _all_sums(keys[middle:])
    order = np.argsort(right, kind="stable")
    needed = target - left
    begin = np.searchsorted(right[order], needed, "left")
    end = np.searchsorted(right[order], needed, "right")
    for one in np.flatnonzero(end > begin):
        for other in order[begin[one] : end[one]]:
            mask = int(one) | int(other) << middle
            chosen = [int(row) for at, row in enumerate(rows) if mask >> at & 1]
            if np.array_equal(figures[chosen].sum(axis=0), wanted):
                yield tuple(chosen)


def _all_sums(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The sums of all subsets, at the number whose bits say which are in it, modulo 2 ** 64."""
    sums = np.zeros(1, dtype=np.uint64)
    for key in keys:
        sums = np.r_[sums, sums + key]
    return sums


def _agrees(figures: Integers, sums: Integers, whole: int, parts: tuple[int, ...], editions: int) -> bool:
    """Whether a sum holds in at least half of the cells of the whole, and in more than chance explains."""
    seen = (figures[whole] != 0) & (figures[list(parts)] != 0).any(axis=0)
    agree = seen & (figures[list(parts)].sum(axis=0) == figures[whole])
    if agree.sum() < max(3, _HALF * seen.sum()):
        return False
    # How widely sums of so many editions spread says how often one is met by chance; cells that are no sums are
    # independent of each other.
    spread: Floats = figures[:, _innermost(agree, sums)].std(axis=0) * len(parts) ** 0.5
    tried = log(sum(comb(editions, size) for size in range(1, min(editions, MOST_PARTS) + 1)) + 1)
    met = tried - float(np.log(np.maximum(2.5 * spread, 1.0)).sum())
    return met < log(_BY_CHANCE)
