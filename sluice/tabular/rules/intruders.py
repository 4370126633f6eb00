"""Intruders of a table with suppressed cells: what is possible to each beforehand, and what must stay open to it.

Protection and audit both play these intruders, so that what the one grants the other asks. A reader has the published
cells, their sums and the documents: the policy, its rules, and what the method says of itself. Contributors add what
they contributed, which is the business of those who play them; what is said here holds for them as well.

Of a magnitude the rules tell nothing that bounds a cell. A count they bound: a cell that is listed is not empty, one
that a rule suppressed is small, and one that was suppressed for another's sake is not.

Source: Fischetti and Salazar-González (2001), section 2, for bounds known beforehand; that a published rule is one of
them is this project's own.

Contributors know of a magnitude cell that it is at least as large as their part of it. A file that distinguishes
primary from secondary cells tells more: that the others' parts of a secondary cell are large enough, beside this one,
for every rule to let it out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells, Contributions, Floats, Integers, RequestedContributions
from sluice.tabular.model.known_sums import propagated_bounds
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule

_ENOUGH = 10**6  # contributors, of which some may contribute 0: their number is never what makes such a cell sensitive
_HALVES = 56  # of an interval that no total exceeds

_MOST_RECORDS = 1000  # in a cell that is tried out on the rules; larger ones tell a reader nothing


@dataclass(frozen=True, eq=False)
class Intruder:
    """Somebody who reads the table and its documents.

    says         : for sentences: 'anybody'
    lower, upper : shape (c,), the least and the most that each cell can be if it is suppressed, in whole units; true
    requirements : what must stay open to this reader. What it asks beyond the rules has room within the bounds
    insiders     : whether contributors are among such readers, and know their own parts besides
    others       : shape (c,), of a count, how much of each cell is certainly not one contributor's. To those who have
                   part of a cell it can be lower by what is neither theirs nor this, at most. 0 of a magnitude
    """

    says: str
    lower: Floats
    upper: Floats
    requirements: Requirements
    insiders: bool
    others: Floats


def intruders(
    cells: Cells, requirements: Requirements, rules: Sequence[SensitivityRule], assumptions: Assumptions
) -> tuple[Intruder, ...]:
    """Anybody; and for counts, anybody who knows which suppressed cells are sensitive, because that can be inferred.

    requirements : of the rules and of people, as protection and audit are given them
    rules        : that called cells sensitive
    cost         : O(c), and the rules on a thousand cells

    Anybody knows that a suppressed count is 1 or more (what is not listed is empty) and a marginal as much as it has
    parts, and must not be able to prove that it is so small that it must be sensitive. Who knows which cells are
    sensitive knows more: these have at most as many records as the rules still call sensitive, the others more than
    that. It must be left two whole numbers, where these bounds and the sums leave two: of a minimum frequency of 2 the
    rule leaves only 1, and to hide which cells are sensitive is all there is. Contributors are not among those who know
    that: with their own cells, in sparse tables, they know others whatever is suppressed.

    Levels that rules or people ask for are not made smaller where attackers are assumed to know more than they leave
    (`known_within`): that cannot be protected, and it must be seen.
    """
    total = cells.total.astype(np.float64)
    lower, upper = _whole(assumptions.bounds(cells, requirements.sensitive), total)
    if assumptions.counts is None:
        return (Intruder("anybody", lower, upper, requirements, True, np.zeros(len(cells))),)
    one = 10**cells.decimals
    least = np.where(cells.published, np.minimum(one, total), 0.0)
    least, _ = propagated_bounds(cells.equations, least, np.full(len(cells), np.inf))
    lower = np.maximum(lower, least)
    others = np.maximum(least - one, 0.0)
    most_sensitive, least_safe = sensitive_counts(rules, one)
    by_rule = _by_rule(requirements, rules)
    small = by_rule & requirements.sensitive & (total < least_safe)
    beyond = np.where(small, np.minimum(least_safe - total, upper - total), 0).astype(np.int64)
    anybody = replace(
        requirements,
        lower=np.minimum(requirements.lower, (total - least).astype(np.int64)),
        upper=np.maximum(requirements.upper, beyond),
    )
    first = Intruder("anybody", lower, upper, anybody, True, others)
    if most_sensitive == 0:
        return (first,)  # no rule speaks of how many there are
    ends = upper
    if assumptions.counts == "contributors" or (cells.total == cells.contributors * one).all():
        ends = np.where(by_rule, np.minimum(upper, np.maximum(most_sensitive, total)), upper)
    secondary = ~by_rule & ~requirements.sensitive & cells.published
    begins = np.where(secondary, np.maximum(lower, np.minimum(least_safe, total)), lower)
    begins, ends = propagated_bounds(cells.equations, begins, ends)
    nothing = np.zeros(len(cells), dtype=np.int64)
    two = requirements.sensitive & (ends - begins >= 1)
    knowing = replace(requirements, lower=nothing, upper=nothing, sliding=two.astype(np.int64))
    return first, Intruder(
        "anybody who knows which suppressed cells are sensitive", begins, ends, knowing, False, others
    )


def sensitive_counts(rules: Sequence[SensitivityRule], one: int = 1) -> tuple[float, float]:
    """The largest count that rules may call sensitive, infinite beyond a thousand; the least that is certainly safe.

    one : what a record counts, in units of the table

    Found by trying cells of 1, 2, 3 ... records of a contributor each, the least concentrated that there are. Whether
    somebody asked for protection is not known: the first number is of cells where all did, the second where none did.
    """
    if not rules:
        return 0.0, float(one)
    kept = max(rule.largest_needed for rule in rules)
    number = np.arange(1, _MOST_RECORDS + 1)
    largest = np.where(np.arange(kept) < number[:, None], one, 0).astype(np.int64)
    found = [
        np.logical_or.reduce([rule.sensitive(_records(number * one, number, largest, asked)) for rule in rules])
        for asked in (True, False)
    ]
    may = np.flatnonzero(found[0])
    most = 0.0 if not len(may) else np.inf if found[0][-1] else float(number[may[-1]])
    least = float(_MOST_RECORDS + 1 if found[1].all() else number[np.argmin(found[1])])
    return most * one, least * one


def _records(total: Integers, contributors: Integers, largest: Integers, asked: bool) -> Contributions:
    return RequestedContributions(total, contributors, largest, *[np.full(largest.shape, asked)] * 2)


def _by_rule(requirements: Requirements, rules: Sequence[SensitivityRule]) -> Booleans:
    """Whom a rule calls sensitive, not a person."""
    called = [requirements.by_rule[name] for name in {rule.rule for rule in rules} if name in requirements.by_rule]
    nobody = np.zeros(len(requirements.sensitive), dtype=bool)
    found: Booleans = np.logical_or.reduce([nobody, *called])
    return found


def _whole(bounds: tuple[Floats, Floats], total: Floats) -> tuple[Floats, Floats]:
    """Bounds in whole units of the table, as its values are; the truth stays within."""
    lower, upper = bounds
    return np.minimum(np.ceil(lower), total), np.maximum(np.floor(upper), total)


def known_parts(cells: Cells, requirements: Requirements, rules: Sequence[SensitivityRule]) -> Integers:
    """Shape (c, t): what each of the largest contributors knows a cell to be at least, where the statuses are told; in
    the order of `Cells.own_parts`.

    Of a sensitive cell its own part; else the least total of a cell that no rule calls sensitive and in which somebody
    has such a part: the others have as little as the rules allow, one unit each, as nothing is less concentrated.

    cost : O(c t) times about fifty looks at the rules
    """
    own, total = cells.largest, cells.total[:, None]
    safe = ~requirements.sensitive
    for rule in rules:
        safe &= ~rule.sensitive(cells.contributions)  # others a person lets out although a rule does not
    at, rank = np.nonzero(safe[:, None] & (own > 0) & (cells.owners >= 0))
    part = own[at, rank]
    low, high = np.full(len(part), -1, dtype=np.int64), (np.broadcast_to(total, own.shape)[at, rank] - part)
    for _ in range(_HALVES):  # low: others with so much leave the cell sensitive; high: with so much they do not
        middle = low + (high - low) // 2
        still = _sensitive(part, middle, rules, cells.largest.shape[1])
        low, high = np.where(still & (high - low > 1), middle, low), np.where(~still & (high - low > 1), middle, high)
    known = own.copy()
    known[at, rank] = part + high
    if cells.weighted is None:
        return known
    # Who stands for several knows more of the cell by that already: its status tells what it told those of weight 1.
    theirs = cells.weighted
    same = (theirs.owners[:, :, None] == cells.owners[:, None, :]) & (theirs.owners >= 0)[:, :, None]
    same &= theirs.largest[:, :, None] == own[:, None, :]
    most: Integers = np.maximum(theirs.largest, np.where(same, known[:, None, :], 0).max(axis=2))
    return most


def status_tells_more(rules: Sequence[SensitivityRule], coalition: int) -> bool:
    """Whether the word 'primary' bounds a cell for some contributors, which nobody measures.

    It tells one contributor nothing where any two make a sensitive cell, however they share it: for all it knows it
    shares the cell with one other. Several who pool what they know are told more, and who asked for protection is.
    """
    if coalition > 1:
        return True
    kept = max(2, *(rule.largest_needed for rule in rules))
    share = np.array([1, 10, 25, 40, 50], dtype=np.int64)[:, None]
    largest = np.pad(np.hstack([100 - share, share]), ((0, 0), (0, kept - 2)))
    two = Contributions(np.full(len(share), 100), np.full(len(share), 2), largest)
    by_rule = [rule.sensitive(two) for rule in rules if rule.rule != "request_rule"]
    asked = any(rule.rule == "request_rule" for rule in rules)
    return coalition > 0 and (asked or not np.logical_or.reduce([np.zeros(len(share), dtype=bool), *by_rule]).all())


def _sensitive(part: Integers, others: Integers, rules: Sequence[SensitivityRule], kept: int) -> Booleans:
    """Whether cells are sensitive in which one has a part, and others together so much, a unit each."""
    ones = (np.arange(kept - 1) < others[:, None]).astype(np.int64)
    cell = Contributions(part + others, np.full(len(part), _ENOUGH), np.column_stack([part, ones]))
    found: Booleans = np.logical_or.reduce([np.zeros(len(part), dtype=bool), *(r.sensitive(cell) for r in rules)])
    return found | (others < 0)
