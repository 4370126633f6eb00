"""The confidential truth, by which alone it is known what a reader got: cells from the records, rules, needs.

By hand from the records; nothing here is the product's.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import ceil

import numpy as np
import pandas as pd

from tests.reader.knowledge import (
    Bounds,
    Insider,
    anybody,
    largest_sensitive_count,
    who_knows_the_status,
    with_nothing_published,
)
from tests.reader.published import Cell, Hierarchy, Published
from tests.reader.solve import Solver, suppressed

Rules = list[dict[str, float]]  # as a policy writes them
Contributors = frozenset[str]


@dataclass
class Truth:
    """Every cell of records with its contributions, and what the rules ask.

    contributor : the column, None: each record is one of its own
    value       : the column, in whole units; None: records are counted
    """

    records: pd.DataFrame
    hierarchies: Sequence[Hierarchy]
    rules: Rules
    value: str | None = None
    contributor: str | None = None

    @cached_property
    def parts(self) -> Mapping[Cell, Mapping[str, int]]:
        """Cell -> contributor -> contribution."""
        found: dict[Cell, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for inner, people in self.inner.items():
            above = [h.above[code] for h, code in zip(self.hierarchies, inner, strict=True)]
            for cell in product(*above):
                held = found[cell]
                for who, part in people.items():
                    held[who] += part
        return found

    @cached_property
    def inner(self) -> Mapping[Cell, Mapping[str, int]]:
        """The innermost cells."""
        found: dict[Cell, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        own = self.records[self.contributor].astype(str) if self.contributor else map(str, range(len(self.records)))
        size = self.records[self.value].astype(int) if self.value else np.ones(len(self.records), dtype=int)
        codes = zip(*(self.records[h.name].astype(str) for h in self.hierarchies), strict=True)
        for cell, who, part in zip(codes, own, size, strict=True):
            found[cell][who] += int(part)
        return found

    def total(self, cell: Cell) -> int:
        return sum(self.parts[cell].values())

    def level(self, cell: Cell, without: Contributors = frozenset()) -> int:
        """How far the total must stay open; 0 where the cell is not sensitive.

        without : who looks on, and takes its own part out: then the rules ask less of the rest
        """
        people = self.parts[cell]
        rest = sorted((part for who, part in people.items() if who not in without), reverse=True)
        if not rest:
            return 0
        outsider = bool(without.intersection(people))
        asked = [0]
        for rule in self.rules:
            if rule["rule"] == "minimum_frequency" and len(rest) < rule["n"] - outsider:
                asked.append(max(1, ceil(Fraction(rest[0], 10))))
            if rule["rule"] == "p_percent":
                pooled = 0 if outsider else 1
                share = Fraction(str(rule["p"])) / 100
                asked.append(ceil(share * rest[0]) - sum(rest[1 + pooled :]))
        return max(asked)

    @cached_property
    def sensitive(self) -> Mapping[Cell, bool]:
        return {cell: self.level(cell) > 0 for cell in self.parts}

    @property
    def largest_sensitive(self) -> int:
        return largest_sensitive_count(self.rules) if self.value is None else 0

    def insiders(
        self, published: Published, together: int = 1, own_parts: bool = True
    ) -> Iterator[tuple[Contributors, Insider]]:
        """Contributors, or several together, to suppressed cells; of those who have the same parts only one."""
        cells = [cell for cell, hidden in zip(published.cells, suppressed(published), strict=True) if hidden]
        own: dict[str, dict[Cell, int]] = defaultdict(dict)
        for cell in cells:
            for who, part in self.parts[cell].items():
                own[who][cell] = part
        alike: Counter[tuple[tuple[Cell, int], ...]] = Counter()
        several = []
        for who, parts in own.items():
            alike[tuple(parts.items())] += 1
            if alike[tuple(parts.items())] <= together:
                several.append(who)
        seen = set()
        for size in range(1, together + 1):
            for some in combinations(several, size):
                parts: Counter[Cell] = Counter()
                for who in some:
                    parts.update(own[who])
                if size > 1 and not any(
                    len(own[who].keys() & own[other].keys()) for who, other in combinations(some, 2)
                ):
                    continue  # nothing in common: the union of what each knows, played for those who meet in a cell
                key = frozenset(parts.items()), frozenset(cell for cell in parts if len(self.parts[cell]) == size)
                if key not in seen:
                    seen.add(key)
                    whole = frozenset(cell for cell in parts if self.parts[cell].keys() <= set(some))
                    told = self.rules if published.tells_status and self.value and size == 1 else []
                    yield frozenset(some), Insider(dict(parts), whole, own_parts, told)


@dataclass
class Successes:
    """What readers got, by cell; everything must be empty.

    exact         : anybody computes a sensitive cell
    below         : anybody proves that a count is too small
    narrow        : anybody comes nearer to a sensitive cell than the rules allow
    status_exact  : who knows which cells are sensitive computes one of which two values were possible beforehand
    insider_exact : contributors compute what others contributed to a sensitive cell
    insider       : contributors come nearer to it than the rules allow
    undecided     : the reader did not finish
    """

    sensitive: int = 0
    exact: list[Cell] = field(default_factory=list)
    below: list[Cell] = field(default_factory=list)
    narrow: list[Cell] = field(default_factory=list)
    status_exact: list[Cell] = field(default_factory=list)
    insider_exact: list[Cell] = field(default_factory=list)
    insider: list[Cell] = field(default_factory=list)
    undecided: list[Cell] = field(default_factory=list)

    KINDS = ("exact", "below", "narrow", "status_exact", "insider_exact", "insider", "undecided")

    @property
    def found(self) -> dict[str, int]:
        """How many cells of each kind, without kinds of none."""
        return {kind: len(set(getattr(self, kind))) for kind in self.KINDS if getattr(self, kind)}


def successes(
    published: Published, truth: Truth, together: int = 1, own_parts: bool = True, known: Bounds | None = None
) -> Successes:
    """Play all readers against what is published.

    What a reader of counts would know if every cell was suppressed (a sum is at least what its listed parts are) is no
    success.

    together  : contributors who pool what they know; 0: nobody uses it
    own_parts : they use their parts of cells that others have a part in, too
    known     : bounds of the cells that everybody reads, besides
    """
    found = Successes()
    hidden = suppressed(published)
    cells = [at for at, cell in enumerate(published.cells) if hidden[at] and truth.sensitive[cell]]
    found.sensitive = len(cells)
    counts = truth.value is None
    lower, upper = anybody(published, counts)
    if known:
        lower, upper = np.maximum(lower, known[0]), np.minimum(upper, known[1])
    nothing = with_nothing_published(published)
    anyway, solver = Solver(nothing, *anybody(nothing, counts)), Solver(published, lower, upper)
    for at in cells:
        _anybody(found, published, truth, solver, at, anyway.interval(at, enough=(1, 1)).low if counts else 0)
    if counts and truth.largest_sensitive:
        _who_knows_the_status(found, published, truth, cells)
    if together:
        for who, insider in truth.insiders(published, together, own_parts):
            _insider(found, published, truth, solver, anyway, cells, who, insider)
    return found


def _anybody(found: Successes, published: Published, truth: Truth, solver: Solver, at: int, least: int) -> None:
    cell, largest = published.cells[at], truth.largest_sensitive
    total, level = truth.total(cell), truth.level(cell)
    low, high = total - min(level, total - least), total + level
    one_record_each = largest > 0 and truth.contributor is None
    if one_record_each:
        high = max(high, largest + 1)
    interval = solver.interval(at, enough=(low, high))
    assert interval.low <= total <= interval.high
    if interval.low == interval.high:
        found.exact.append(cell)
    if one_record_each and interval.high <= largest:
        found.below.append(cell)
    if _short(interval.low, low, total) or _short(-interval.high, -high, total):
        found.narrow.append(cell)
    elif not interval.tight and not (interval.low <= low and interval.high >= high):
        found.undecided.append(cell)


def _short(end: int, needed: int, total: int) -> bool:
    """Whether an end of an interval lies above what it must reach, by more than a linear program's rounding."""
    return end > needed + (1e-6 * total if total > 1e8 else 0)


def _who_knows_the_status(found: Successes, published: Published, truth: Truth, cells: list[int]) -> None:
    primary = np.array([truth.sensitive.get(cell, False) for cell in published.cells])
    once = truth.contributor is None
    solver = Solver(published, *who_knows_the_status(published, primary, truth.largest_sensitive, once))
    nothing = with_nothing_published(published)
    anyway = Solver(nothing, *who_knows_the_status(nothing, primary, truth.largest_sensitive, once))
    for at in cells:
        if not _is_open(solver, at, truth.total(published.cells[at])) and _is_open(
            anyway, at, truth.total(published.cells[at])
        ):
            found.status_exact.append(published.cells[at])


def _is_open(solver: Solver, at: int, total: int) -> bool:
    """Whether a second whole number is possible."""
    intervals = (solver.interval(at, enough=enough) for enough in ((total - 1, total), (total, total + 1)))
    return any(interval.low < interval.high for interval in intervals)


def _insider(
    found: Successes,
    published: Published,
    truth: Truth,
    solver: Solver,
    anyway: Solver,
    cells: list[int],
    who: Contributors,
    insider: Insider,
) -> None:
    bounds = insider.bounds(published)
    for at in cells:
        cell = published.cells[at]
        if cell in insider.alone or not any(solver.together(at, own) for own in bounds):
            continue
        level, total = truth.level(cell, who), truth.total(cell)
        if not level:
            continue
        low, high = total - min(level, max(total - insider.parts.get(cell, 0), 0)), total + level
        interval = solver.interval(at, bounds, (low, high))
        if _short(interval.low, low, total):
            low = max(low, anyway.interval(at, bounds, (low, total)).low)
        if interval.low == interval.high:
            found.insider_exact.append(cell)
        elif _short(interval.low, low, total) or _short(-interval.high, -high, total):
            found.insider.append(cell)
        elif not interval.tight and not (interval.low <= low and interval.high >= high):
            found.undecided.append(cell)
