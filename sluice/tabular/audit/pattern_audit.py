"""Audit a suppression pattern: what can readers, contributors and coalitions compute of the sensitive cells?

The audit knows nothing of how a pattern was made. It looks at what is published, at what readers know beforehand and
at what the rules ask, and tries every attack; only a pattern for which every attack was tried and failed is safe.

Source: Fischetti and Salazar-González (2001), for the attacker's intervals; Hundepool and others (2012), sections 4.3
and 4.4, for the contributors who know a suppressed cell. Goes beyond both: each contributor's own attack is solved, not
only bounded.

Unions of suppressed cells can have a sum that follows from what is published, and be sensitive themselves. Source:
Jewett (1993), implicitly published cells. That a union of cells that are not sensitive is not sensitive either holds
for every subadditive rule: Cox (1981).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sluice.ground.errors import DataError
from sluice.tabular.audit.breach import Breach, names
from sluice.tabular.audit.proofs import Proof
from sluice.tabular.audit.reader_attacks import ReaderAttacks
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells, Contributions, Floats, RequestedContributions, Status, Statuses
from sluice.tabular.model.known_sums import Indices
from sluice.tabular.rules.intruders import intruders
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule

EQUATIONS_COMBINED = 3
_AT_ONCE = 10_000  # unions that the rules look at together, to bound the memory

_HALF = 0.5  # units


@dataclass(frozen=True, eq=False)
class Audit:
    """The outcome.

    safe      : every attack was tried, and none succeeds
    breaches  : those that do
    lower     : shape (c,), an outsider must believe at least so little possible; NaN for cells that are not sensitive
                and suppressed. Proven, but not the end of the interval: the search ends where enough is proven
    upper     : shape (c,), and so much
    attempted : how many attacks there were
    completed : how many of them were decided; fewer than attempted, and the outcome is unknown
    narrowest : the sensitive cells with the least to spare, (cell, proven width / required width), up to ten
    """

    safe: bool
    breaches: tuple[Breach, ...]
    lower: Floats
    upper: Floats
    attempted: int
    completed: int
    narrowest: tuple[tuple[int, float], ...] = ()

    @property
    def unknown(self) -> bool:
        """No breach was found, but some attack was not decided."""
        return not self.safe and not self.breaches


def audit(
    cells: Cells,
    status: Statuses,
    requirements: Requirements,
    rules: Sequence[SensitivityRule] = (),
    assumptions: Assumptions = Assumptions(),  # noqa: B008
    certificates: Sequence[Proof] = (),
    workers: int = 1,
) -> Audit:
    """Try every attack on a pattern.

    status       : shape (c,), of `Status`; a withheld cell is unknown to attackers like a suppressed one
    requirements : what must stay open of which cells
    rules        : that called them sensitive; they decide on unions and on what is left without an attacker's own share
    certificates : proofs to be checked first; what they do not prove is searched for. None are needed
    workers      : threads
    raises       : DataError when the arrays do not fit together or the totals do not add up
    cost         : small problems around each sensitive cell; linear programs over all that hangs together with it
                   where those do not prove it safe
    """
    _refuse_unfit(cells, status, requirements, assumptions)
    hidden = (status != Status.PUBLISHED) | ~cells.published
    breaches = [
        Breach(
            int(cell),
            "outsider",
            f"{cells.name(int(cell))} is published although it is sensitive",
            (),
            (int(cell),),
            True,
        )
        for cell in np.flatnonzero(requirements.sensitive & ~hidden)
    ]
    attempted = completed = len(breaches)
    first: ReaderAttacks | None = None
    for reader in intruders(cells, requirements, rules, assumptions):
        attacks = ReaderAttacks(cells, hidden, reader, requirements, rules, assumptions, certificates)
        attacks.play(workers)
        known = {(breach.cell, breach.owners) for breach in breaches}
        breaches += [breach for breach in attacks.breaches if (breach.cell, breach.owners) not in known]
        attempted, completed = attempted + attacks.attempted, completed + attacks.completed
        first = first or attacks
    assert first is not None
    if assumptions.unions:
        unions, decided = sensitive_unions(cells, cells.equations, first.free, requirements.sensitive, rules)
        attempted, completed = attempted + decided, completed + decided
        breaches += [_of_union(cells, tuple(int(cell) for cell in union)) for union in unions]
    total = cells.total
    return Audit(
        safe=not breaches and completed == attempted,
        breaches=tuple(breaches),
        lower=total - first.below,
        upper=total + first.above,
        attempted=attempted,
        completed=completed,
        narrowest=first.narrowest(),
    )


def _refuse_unfit(cells: Cells, status: Statuses, requirements: Requirements, assumptions: Assumptions) -> None:
    if len(status) != len(cells) or len(requirements.sensitive) != len(cells):
        raise DataError(
            f"a pattern must have one status and one requirement for each of {len(cells)} cells; got "
            f"{len(status)} and {len(requirements.sensitive)}."
        )
    if assumptions.coalition > cells.owners.shape[1]:
        raise DataError(
            f"coalitions of {assumptions.coalition} need as many of the largest contributions of each cell; "
            f"got {cells.owners.shape[1]}."
        )
    wrong = np.flatnonzero(np.abs(cells.equations @ cells.total.astype(np.float64)) > _HALF)
    if len(wrong):
        row = cells.equations[[wrong[0]], :]
        summed = int(row.indices[np.argmax(row.data)])
        raise DataError(f"totals that do not add: {cells.name(summed)} is not the sum of its parts")


def _of_union(cells: Cells, members: tuple[int, ...]) -> Breach:
    says = f"anybody can compute the sum of {names(cells, members)}, which is sensitive itself"
    return Breach(members[0], "union", says, (), members, exact=True)


def sensitive_unions(
    cells: Cells,
    equations: csr_array,
    free: Booleans,
    sensitive: Booleans,
    rules: Sequence[SensitivityRule],
    depth: int = EQUATIONS_COMBINED,
) -> tuple[list[Indices], int]:
    """The sets of unknown cells whose known sum is as good as a published sensitive cell; and how many were decided.

    equations : shape (e, c)
    free      : shape (c,), the cells that are neither published nor computable
    sensitive : shape (c,); only unions with such a cell can be sensitive
    depth     : how many equations an attacker adds up or subtracts, 1 to 3
    cost      : grows with the number of such combinations around sensitive cells, not with the table
    """
    from sluice.tabular.audit.unions_kernel import known_unions

    unknown = np.flatnonzero(free)
    if not rules or not len(unknown):
        return [], 0
    within = equations[:, unknown]
    within = within[np.flatnonzero(np.diff(within.indptr))]
    by_cell = within.T.tocsr()
    starts, members = known_unions(
        within.indptr.astype(np.int64),
        within.indices.astype(np.int64),
        within.data.astype(np.float64),
        by_cell.indptr.astype(np.int64),
        by_cell.indices.astype(np.int64),
        sensitive[unknown],
        np.random.default_rng(0).integers(1, 2**61, len(unknown)),
        depth,
    )
    found = []
    for begin in range(0, len(starts) - 1, _AT_ONCE):
        part = starts[begin : begin + _AT_ONCE + 1]
        inside = unknown[members[part[0] : part[-1]]]
        merged = united(cells, part - part[0], inside)
        level = np.zeros(len(part) - 1, dtype=np.int64)
        for rule in rules:
            level = np.maximum(level, np.where(rule.sensitive(merged), rule.protection(merged), 0))
        found += [np.sort(inside[part[at] - part[0] : part[at + 1] - part[0]]) for at in np.flatnonzero(level)]
    return found, len(starts) - 1


def united(cells: Cells, starts: Indices, members: Indices) -> Contributions:
    """The contributions to unions of cells, those of one contributor added up.

    starts, members : union i holds members[starts[i]:starts[i + 1]]

    Where a cell has more contributors than `largest` holds, the others may each have as much as the last that it holds,
    and may be the same in every cell: the union is taken to be as concentrated as it can be.
    """
    count, kept = len(starts) - 1, cells.largest.shape[1]
    union = np.repeat(np.arange(count), np.diff(starts))
    cut = cells.contributors[members] > kept
    last = np.where(cut, cells.largest[members, -1], 0)
    others = np.bincount(union, weights=last, minlength=count)  # what one more contributor may have in all cells
    owner, share = cells.owners[members], cells.largest[members].astype(np.float64) - last[:, None]
    listed = owner >= 0
    union_of, owner, share = np.repeat(union, kept)[listed.ravel()], owner[listed], share[listed]
    order = np.lexsort((owner, union_of))
    union_of, owner, share = union_of[order], owner[order], share[order]
    heads = np.flatnonzero(np.r_[True, (union_of[1:] != union_of[:-1]) | (owner[1:] != owner[:-1])])
    sums, whose, union_owner = np.add.reduceat(share, heads), union_of[heads], owner[heads]
    sums += others[whose]
    order = np.lexsort((-sums, whose))
    sums, whose = sums[order], whose[order]
    number = np.bincount(whose, minlength=count)
    rank = np.arange(len(whose)) - np.repeat(np.cumsum(number) - number, number)
    largest = np.repeat(others[:, None], kept, axis=1)
    inside = rank < kept
    largest[whose[inside], rank[inside]] = sums[inside]
    owners = np.full(largest.shape, -1, dtype=np.int64)
    owners[whose[inside], rank[inside]] = union_owner[order][inside]
    contributors = np.maximum(number, np.maximum.reduceat(cells.contributors[members], starts[:-1]))
    total = np.add.reduceat(cells.contributions.total[members], starts[:-1])
    plain = Contributions(total, contributors.astype(np.int64), largest.astype(np.int64))
    return RequestedContributions.of(plain, owners, cells.asking)
