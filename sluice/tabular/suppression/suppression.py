"""Secondary suppression: which further cells to suppress, so that no sensitive cell can be computed from the rest.

Safe means, for every sensitive cell, at its full level: attackers who know all published cells and what `Assumptions`
say cannot narrow it further; neither can one who contributes to suppressed cells (or a coalition of such), with what it
knows of them; and no union of suppressed cells whose sum can be computed is sensitive itself.

The search is greedy: each sensitive cell in turn gets the cheapest proof given what is suppressed already, then cells
are given up where the proofs that use them can do with cheaper ones. Every proof is checked in the end by arithmetic.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sluice.ground.errors import DataError
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells, Codes, Floats, Status, Statuses
from sluice.tabular.rules.intruders import Intruder
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule
from sluice.tabular.suppression.costs import checked_weights, value
from sluice.tabular.suppression.effort import Effort
from sluice.tabular.suppression.greedy_search import Problem, search_table
from sluice.tabular.suppression.pattern_search import PatternSearch
from sluice.tabular.suppression.unknown_cells import UnknownCells, of_known_zeros


@dataclass(frozen=True, eq=False)
class Certificate:
    """A change that published sums cannot tell: a proof, checked by arithmetic, that a suppressed cell is open.

    A change y of the suppressed cells, in whole units, that keeps every sum (A y = 0) and stays within what attackers
    know of each cell makes of the true table one that they cannot tell from it; y at the sensitive cell is how far they
    must be in doubt. Source: the attacker's problem of Fischetti and Salazar-González (2001), section 2; a certificate
    is a feasible point of it.

    of     : the cells whose sum it moves: one sensitive cell, or a union that is sensitive
    cells  : shape (s,), which cells change, in rising order
    change : shape (s,), by how much, in whole units of the last decimal
    both   : whether the opposite change is within the bounds, too
    reader : for whom, by number
    """

    of: tuple[int, ...]
    cells: Codes
    change: Floats
    both: bool
    reader: int = 0

    @property
    def moves(self) -> float:
        """How far the sum of the cells `of` moves."""
        return float(self.change[np.isin(self.cells, self.of)].sum())

    def holds(self, cells: Cells, suppressed: Booleans, lower: Floats, upper: Floats) -> bool:
        """Whether it proves anything; see `holding`."""
        return bool(holding([self], cells, suppressed, lower, upper)[0])


def holding(
    certificates: Sequence[Certificate], cells: Cells, suppressed: Booleans, lower: Floats, upper: Floats
) -> Booleans:
    """Which change suppressed cells alone, by whole units, keep every sum and stay within the bounds; shape (k,).

    suppressed : shape (c,), the cells that are not published
    lower      : shape (c,), what their reader believes possible of each cell, as `upper`
    cost       : O(entries of the equations that their cells stand in)
    """
    lengths = np.array([len(certificate.cells) for certificate in certificates], dtype=np.int64)
    at = np.concatenate([np.zeros(0, dtype=np.int64), *(certificate.cells for certificate in certificates)])
    change = np.concatenate([np.zeros(0), *(certificate.change for certificate in certificates)])
    both = np.repeat(np.array([certificate.both for certificate in certificates], dtype=bool), lengths)
    total = cells.total[at]
    slack = 1e-9 * np.maximum(np.abs(total), 1)
    down, up = lower[at] - total - slack, upper[at] - total + slack
    good = suppressed[at] & (change == np.rint(change)) & (change >= down) & (change <= up)
    good &= ~both | ((-change >= down) & (-change <= up))
    starts = np.cumsum([0, *lengths])
    changes = csr_array((change, at, starts), shape=(len(certificates), len(cells)))
    broken = abs(changes @ cells.by_cell).sum(axis=1) != 0
    holds: Booleans = ~np.asarray(broken).ravel()
    holds[np.repeat(np.arange(len(certificates)), lengths)[~good]] = False
    return holds


@dataclass(frozen=True, eq=False)
class Suppression:
    """Which cells are suppressed, and why that is safe.

    status       : shape (c,), a `Status` each
    certificates : proofs found on the way; each holds on its own
    bound        : no safe pattern costs less, where that was proven; None otherwise
    first        : shape (c,), a `Status` each, of the first safe pattern that was found; None where nobody kept it
    stopped      : whether time ran out before the search ended by itself
    """

    status: Statuses
    certificates: tuple[Certificate, ...]
    bound: float | None
    first: Statuses | None = None
    stopped: bool = False


def suppress(
    cells: Cells,
    requirements: Requirements,
    rules: Sequence[SensitivityRule] = (),
    assumptions: Assumptions = Assumptions(),  # noqa: B008
    cost: Floats | None = None,
    forbidden: Booleans | None = None,
    preferred: Booleans | None = None,
    suppressed: Booleans | None = None,
    workers: int = 1,
    effort: Effort = Effort(),  # noqa: B008
) -> Suppression:
    """A safe pattern of low cost.

    rules      : judge unions of cells, and what a contributor leaves of a cell; without them, unions are not looked at
    cost       : shape (c,), 0 or more; the value of a cell when not given
    forbidden  : shape (c,), must be published
    preferred  : shape (c,), as good as free
    suppressed : shape (c,), suppressed from the start
    workers    : processes, for large tables; the pattern is the same whatever their number
    effort     : a budget of time. A safe pattern is found in any case, within it or not, and made cheaper while time
                 lasts: with a budget the outcome depends on the machine, and more time never makes it dearer. Without
                 one, the search ends after as much work as grows with the number of cells, a few seconds for 1,000
    raises     : DataError when a sensitive cell cannot be protected: it is forbidden, attackers are assumed to know it
                 more closely than it must be protected, or too much else must be published
    cost       : grows with the cells to the power of 0.8; two seconds for 2,000, a minute for 137,000. Where firms that
                 have records in many cells dominate these, several times as much
    """
    count = len(cells)
    nothing = np.zeros(count, dtype=bool)
    forbidden = nothing if forbidden is None else forbidden
    preferred = nothing if preferred is None else preferred
    suppressed = nothing if suppressed is None else suppressed
    cost = value(cells) if cost is None else checked_weights(cells, cost, "cost")
    lower, upper = assumptions.bounds(cells, requirements.sensitive)
    if assumptions.coalition > cells.largest.shape[1]:
        raise DataError(
            f"coalition must be at most {cells.largest.shape[1]}, the number of largest contributions that the table "
            f"keeps; got {assumptions.coalition}."
        )
    _refuse_contradictions(cells, requirements, forbidden, suppressed)
    problem = Problem(cells, requirements, rules, assumptions, cost, forbidden, preferred, suppressed, effort)
    unknowns = problem.unknowns()
    _refuse_known(cells, requirements, lower, upper, unknowns, assumptions)
    search = search_table(problem, unknowns, workers)
    status = _status(cells, requirements, unknowns, search.suppressed, suppressed)
    certificates = _certificates(unknowns, search)
    _check(cells, status, certificates, search, unknowns, problem.intruders)
    first = None if search.first is None else _status(cells, requirements, unknowns, search.first, suppressed)
    return Suppression(status, certificates, None, first, effort.spent)


def _refuse_contradictions(cells: Cells, requirements: Requirements, forbidden: Booleans, suppressed: Booleans) -> None:
    wrong = np.flatnonzero(forbidden & requirements.sensitive)
    if len(wrong):
        raise DataError(
            f"a sensitive cell cannot be published: {cells.name(int(wrong[0]))}"
            f"{f' and {len(wrong) - 1} more' if len(wrong) > 1 else ''} must be published and is sensitive."
        )
    wrong = np.flatnonzero(forbidden & suppressed)
    if len(wrong):
        raise DataError(f"{cells.name(int(wrong[0]))} must be published and must be suppressed. Ask for one of them.")


def _refuse_known(
    cells: Cells,
    requirements: Requirements,
    lower: Floats,
    upper: Floats,
    unknowns: UnknownCells,
    assumptions: Assumptions,
) -> None:
    """Refuse what attackers are assumed to know too closely."""
    needed = requirements.sensitive
    room_down, room_up = cells.total - lower, upper - cells.total
    wide = requirements.sliding > room_down + room_up
    wrong = np.flatnonzero(needed & ((requirements.lower > room_down) | (requirements.upper > room_up) | wide))
    if len(wrong):
        raise DataError(
            f"{cells.name(int(wrong[0]))} cannot be protected: attackers are assumed to know it more closely "
            "(known_within) than its protection asks for. Assume less, or protect less."
        )
    asks = (requirements.lower > 0) | (requirements.upper > 0) | (requirements.sliding > 0)
    wrong = np.flatnonzero(needed & asks & (unknowns.of_cell < 0))
    if len(wrong):
        raise DataError(
            f"{cells.name(int(wrong[0]))} cannot be protected: its sums leave no other value for it."
            f"{of_known_zeros(cells, needed, assumptions)}"
        )


def _status(
    cells: Cells, requirements: Requirements, unknowns: UnknownCells, found: Booleans, suppressed: Booleans
) -> Statuses:
    hidden = np.append(found, False)[unknowns.of_cell] | suppressed
    status = np.where(hidden, Status.SECONDARY, Status.PUBLISHED)
    status = np.where(requirements.sensitive, Status.PRIMARY, status)
    return np.where(cells.published, status, Status.WITHHELD).astype(np.uint8)


def _certificates(unknowns: UnknownCells, search: PatternSearch) -> tuple[Certificate, ...]:
    """The proofs, in terms of the table's cells: equal cells change together."""
    order = np.argsort(unknowns.of_cell, kind="stable")
    start = np.searchsorted(unknowns.of_cell[order], np.arange(len(unknowns) + 1))
    made = []
    for target, proofs in zip(search.targets, search.proofs, strict=True):
        of = tuple(int(unknowns.first[unknown]) for unknown in target.unknowns)
        for proof in proofs:
            for change in proof.changes:
                members = [order[start[unknown] : start[unknown + 1]] for unknown in change.cells]
                at = np.concatenate(members)
                size = np.repeat(change.change, [len(several) for several in members])
                rising = np.argsort(at)
                made.append(Certificate(of, at[rising].astype(np.int32), size[rising], proof.both, target.reader))
    return tuple(made)


def _check(
    cells: Cells,
    status: Statuses,
    certificates: tuple[Certificate, ...],
    search: PatternSearch,
    unknowns: UnknownCells,
    readers: Sequence[Intruder],
) -> None:
    """Plain arithmetic on every proof; a fault here is one of this module, and nothing may be published."""
    hidden = status != Status.PUBLISHED
    for number, reader in enumerate(readers):
        own = [certificate for certificate in certificates if certificate.reader == number]
        wrong = np.flatnonzero(~holding(own, cells, hidden, reader.lower, reader.upper))
        if len(wrong):
            of = cells.name(own[wrong[0]].of[0])
            raise DataError(f"the proof for {of} does not hold; nothing is safe to publish.")
    for target, proofs in zip(search.targets, search.proofs, strict=True):
        at = list(target.unknowns)
        for proof in proofs:
            moves = [float(change.change[np.isin(change.cells, at)].sum()) for change in proof.changes]
            up, down = max([0.0, *moves]), max([0.0, *(-move for move in moves)])
            if proof.both:
                up = down = abs(moves[0])
            if not proof.need.met(up, down):
                raise DataError(f"a proof for {cells.name(int(unknowns.first[at[0]]))} falls short of its level.")


def repair(
    cells: Cells,
    status: Statuses,
    requirements: Requirements,
    rules: Sequence[SensitivityRule] = (),
    assumptions: Assumptions = Assumptions(),  # noqa: B008
    cost: Floats | None = None,
    forbidden: Booleans | None = None,
    workers: int = 1,
) -> Suppression:
    """A safe pattern that suppresses all that the given one does, and further cells of low cost.

    status    : shape (c,), of the given pattern
    forbidden : shape (c,), must be published, as far as the given pattern does
    raises    : as `suppress`
    """
    given = (status == Status.PRIMARY) | (status == Status.SECONDARY)
    return suppress(
        cells,
        requirements,
        rules,
        assumptions,
        cost=cost,
        forbidden=None if forbidden is None else np.logical_and(forbidden, ~given),
        suppressed=given,
        workers=workers,
    )
