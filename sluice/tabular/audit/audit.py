"""Audit a suppression pattern: what can outsiders, contributors and coalitions compute of the sensitive cells?

The audit knows nothing of how a pattern was made. It looks at what is published, at what attackers know beforehand and
at what the rules ask, and tries every attack; only a pattern for which every attack was tried and failed is safe.

Source: Fischetti and Salazar-González (2001), for the attacker's intervals; Hundepool and others (2012), sections 4.3
and 4.4, for the contributors who know a suppressed cell. Goes beyond both: each contributor's own attack is solved, not
only bounded.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sluice.errors import DataError
from sluice.tabular.audit.coalitions import Insiders, Owners, positions
from sluice.tabular.audit.proofs import CheckedProofs, Proof
from sluice.tabular.audit.proven_interval import ProvenInterval, Question, SuppressedCells
from sluice.tabular.audit.unions import sensitive_unions
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Floats, Status, Statuses
from sluice.tabular.model.known_sums import Indices, components, computable
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule

_EXACTLY = 0.5  # units; an interval narrower than this holds one whole number

_NAMED = 4  # cells that a breach names


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
    return _Inspection(cells, status, requirements, rules, assumptions, workers, certificates).outcome()


@dataclass(eq=False)
class _Inspection:
    cells: Cells
    status: Statuses
    requirements: Requirements
    rules: Sequence[SensitivityRule]
    assumptions: Assumptions
    workers: int
    certificates: Sequence[Proof] = ()
    breaches: list[Breach] = field(default_factory=list)
    attempted: int = 0
    completed: int = 0

    def __post_init__(self) -> None:
        cells = self.cells
        if len(self.status) != len(cells) or len(self.requirements.sensitive) != len(cells):
            raise DataError(
                f"a pattern must have one status and one requirement for each of {len(cells)} cells; got "
                f"{len(self.status)} and {len(self.requirements.sensitive)}."
            )
        if self.assumptions.coalition > cells.owners.shape[1]:
            raise DataError(
                f"coalitions of {self.assumptions.coalition} need as many of the largest contributions of each cell; "
                f"got {cells.owners.shape[1]}."
            )
        wrong = np.flatnonzero(np.abs(cells.equations @ cells.total.astype(np.float64)) > _EXACTLY)
        if len(wrong):
            row = cells.equations[[wrong[0]], :]
            summed = int(row.indices[np.argmax(row.data)])
            raise DataError(f"totals that do not add: {cells.name(summed)} is not the sum of its parts")
        total = cells.total.astype(np.float64)
        self.lower, self.upper = (bound - total for bound in self.assumptions.bounds(cells))
        self.hidden = (self.status != Status.PUBLISHED) | ~cells.published
        movable = self.hidden & (self.lower < self.upper)
        self.known = {cell: row for cell, row, _ in computable(cells.equations, movable)}
        self.free = movable.copy()
        self.free[list(self.known)] = False
        self.label = components(cells.equations, self.free)
        self.proofs = CheckedProofs(cells.equations, self.free, self.lower, self.upper, self.certificates)
        self.insiders = Insiders(
            cells,
            self.free,
            self.requirements,
            self.rules,
            self.assumptions.coalition,
            self.assumptions.nonnegative,
            self.assumptions.zeros_known,
        )
        self.suppressed = SuppressedCells(
            cells.equations, self.free, self.lower, self.upper, self.label, avoid=self.insiders.cells_known
        )

    def outcome(self) -> Audit:
        count = len(self.cells)
        self.below, self.above = np.full(count, np.nan), np.full(count, np.nan)
        sensitive = self.requirements.sensitive
        for cell in np.flatnonzero(sensitive & ~self.hidden):
            self._breach(int(cell), frozenset(), "is published although it is sensitive", exact=True)
        shut = np.flatnonzero(sensitive & self.hidden & ~self.free)
        for cell in shut:
            self.below[cell] = self.above[cell] = 0.0
            nothing = self.cells.contributions.total[cell] == 0
            zero = nothing and self.lower[cell] == self.upper[cell] == 0  # known to everybody
            if not zero and not self.insiders.need_of(int(cell), frozenset()).met(0.0, 0.0):
                self._breach(int(cell), frozenset(), exact=True)
        decided = len(shut) + int((sensitive & ~self.hidden).sum())
        self.attempted, self.completed = self.attempted + decided, self.completed + decided
        self._attack([int(cell) for cell in np.flatnonzero(sensitive & self.free)])
        if self.assumptions.unions:
            self._look_for_unions()
        total = self.cells.total
        return Audit(
            safe=not self.breaches and self.completed == self.attempted,
            breaches=tuple(self.breaches),
            lower=total - self.below,
            upper=total + self.above,
            attempted=self.attempted,
            completed=self.completed,
            narrowest=self._narrowest(),
        )

    def _attack(self, targets: list[int]) -> None:
        """Outsiders first; then every coalition that knows a cell which the proof so far moves, and so on."""
        nobody: Owners = frozenset()
        proofs: dict[int, list[ProvenInterval]] = {cell: [] for cell in targets}
        waiting = [(cell, nobody) for cell in targets]
        seen = set(waiting)
        while waiting:
            questions = [
                Question(cell, self.insiders.need_of(cell, who), self._known_near(cell, who), shy=not who)
                for cell, who in waiting
            ]
            intervals = self._answers(questions)
            later = []
            for (cell, who), question, interval in zip(waiting, questions, intervals, strict=True):
                self.attempted += 1
                self.completed += interval.complete
                if not who:
                    self.below[cell], self.above[cell] = interval.below, interval.above
                if not interval.complete:
                    continue
                if not question.need.met(interval.below, interval.above):
                    self._breach(cell, who, exact=interval.below + interval.above < _EXACTLY)
                    continue
                proofs[cell].append(interval)
                if not who:
                    proofs[cell] += self.proofs.alternatives(question)
                later += self._not_yet_refuted(cell, who, interval, proofs[cell], seen)
                with_one = [(cell, some) for some in self.insiders.joined_by_contributors(cell, who)]
                later += [question for question in with_one if question not in seen]
                seen.update(with_one)
                if not who:
                    alone = [(cell, owner) for owner in self.insiders.raised.get(cell, ()) if (cell, owner) not in seen]
                    seen.update(alone)
                    later += alone
            waiting = [(cell, who) for cell, who in later if cell not in self.insiders.known_to(who)]

    def _look_for_unions(self) -> None:
        unions, decided = sensitive_unions(
            self.cells, self.cells.equations, self.free, self.requirements.sensitive, self.rules
        )
        self.attempted, self.completed = self.attempted + decided, self.completed + decided
        for union in unions:
            members = tuple(int(cell) for cell in union)
            says = f"anybody can compute the sum of {self._names(members)}, which is sensitive itself"
            self.breaches.append(Breach(members[0], "union", says, (), members, exact=True))

    def _answers(self, questions: Sequence[Question]) -> list[ProvenInterval]:
        """By the proofs that were handed in, as far as they hold and are enough; else by a search."""
        proven = [self.proofs.answer(question) for question in questions]
        left = [question for question, interval in zip(questions, proven, strict=True) if interval is None]
        searched = iter(self.suppressed.intervals(left, self.workers))
        return [interval if interval is not None else next(searched) for interval in proven]

    def _not_yet_refuted(
        self,
        cell: int,
        who: Owners,
        first: ProvenInterval,
        proofs: list[ProvenInterval],
        seen: set[tuple[int, Owners]],
    ) -> list[tuple[int, Owners]]:
        """The coalitions that a proof leaves open: they know a cell that it moves; no other proof holds for them."""
        found: list[tuple[int, Owners]] = []
        stack = [(who, first)]
        while stack:
            base, proof = stack.pop()
            for larger in self.insiders.joined(base, proof.support.tolist()):
                if (cell, larger) in seen:
                    continue
                seen.add((cell, larger))
                known, need = self.insiders.known_to(larger), self.insiders.need_of(cell, larger)
                other = next(
                    (p for p in proofs if need.met(p.below, p.above) and known.isdisjoint(p.support.tolist())), None
                )
                if other is None:
                    found.append((cell, larger))
                else:
                    stack.append((larger, other))
        return found

    def _known_near(self, cell: int, who: Owners) -> Indices:
        """What a coalition knows of the cells that hang together with one."""
        own = positions(self.insiders.known_to(who))
        near: Indices = own[self.label[own] == self.label[cell]]
        return near

    def _breach(self, cell: int, who: Owners, what: str = "", exact: bool = False) -> None:
        name = self.cells.name(cell)
        attacker = ("outsider", "contributor", "coalition")[min(len(who), 2)]
        if what:
            says = f"{name} {what}"
        else:
            known = self._known_near(cell, who)
            theirs = self._names(known.tolist(), " and of ")
            subject = {
                "outsider": "anybody",
                "contributor": f"the sole contributor of {theirs}",
                "coalition": f"the contributors of {theirs} together",
            }[attacker]
            says = f"{subject} can compute {name} {'exactly' if exact else 'to within its protection level'}"
        self.breaches.append(Breach(cell, attacker, says, tuple(sorted(who)), (cell,), exact))

    def _names(self, cells: Sequence[int], between: str = " and ") -> str:
        more = f" and {len(cells) - _NAMED} more" if len(cells) > _NAMED else ""
        return between.join(self.cells.name(cell) for cell in cells[:_NAMED]) + more

    def _narrowest(self, most: int = 10) -> tuple[tuple[int, float], ...]:
        required = self.requirements
        wanted = np.maximum(required.lower + required.upper, required.sliding)
        there = np.flatnonzero(~np.isnan(self.below) & (wanted > 0))
        spare = (self.below[there] + self.above[there]) / wanted[there]
        return tuple((int(there[at]), float(spare[at])) for at in np.argsort(spare, kind="stable")[:most])
