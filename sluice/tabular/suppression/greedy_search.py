"""The greedy search for a pattern: branch by branch in large tables, then the table as a whole."""

import gc
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from sluice.ground.errors import DataError
from sluice.ground.parallel_jobs import end_with_parent
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells, Contributions, Floats
from sluice.tabular.rules.dominance import Dominance
from sluice.tabular.rules.intruders import Intruder, intruders, known_parts
from sluice.tabular.rules.request_rule import RequestRule
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule
from sluice.tabular.suppression.block_program import BlockProgram
from sluice.tabular.suppression.effort import Effort
from sluice.tabular.suppression.insiders import Insiders
from sluice.tabular.suppression.pattern_search import PatternSearch
from sluice.tabular.suppression.proof_search import Proof
from sluice.tabular.suppression.signed_paths import codes_below
from sluice.tabular.suppression.targets import Target, Unions, targets_of
from sluice.tabular.suppression.unknown_cells import ProtectionRanges, UnknownCells, of_known_zeros, unknown_cells

Proven = tuple[Target, tuple[Proof, ...]]
Found = list[Proven]

_LARGE = 30_000  # unknowns from which on a table is searched by branches
_BRANCHES = 0.8  # of time and work, for the branches; the rest for the table as a whole
_PREFERRED = 1e-3  # the cost of a preferred cell, relative to its own
_WORK, _LARGE_WORK, _LEAST = 72_000, 50_000, 2100  # of the search, for each unknown, and for how many at least
_BEYOND = 0.2  # of that, for each unknown that makes a table larger than large
_CLEANING = 10_000  # of giving cells up at least, whatever the proofs took; of tables that are not large
_ROUNDS, _LARGE_ROUNDS = 3, 2  # of giving cells up
_SMALL = 2000  # unknowns up to which a table is shaken: how often, how many of the cells, by how much, when in vain
_SHAKEN, _PART, _DISTURBED, _HOPELESS = 2, 0.02, 0.6, 1.05
_NO_LESS = 1 - 1e-9


@dataclass(frozen=True, eq=False)
class Problem:
    """What `suppress` is given; every array of shape (c,)."""

    cells: Cells
    requirements: Requirements
    rules: Sequence[SensitivityRule]
    assumptions: Assumptions
    cost: Floats
    forbidden: Booleans
    preferred: Booleans
    suppressed: Booleans
    effort: Effort = field(default_factory=Effort)

    @cached_property
    def intruders(self) -> tuple[Intruder, ...]:
        """Whom the pattern must withstand."""
        return intruders(self.cells, self.requirements, self.rules, self.assumptions)

    def unknowns(self) -> UnknownCells:
        """What the first of them, who knows least, does not know."""
        return unknown_cells(self.cells, self.intruders[0].lower, self.intruders[0].upper)


class GreedySearch:
    """Proves the targets of a problem one after the other, then gives up what can be done without.

    inside : shape (u,), the unknowns that may be suppressed and whose targets are looked at; all when not given
    """

    def __init__(self, problem: Problem, unknowns: UnknownCells, inside: Booleans | None = None) -> None:
        cells, requirements, rules = problem.cells, problem.requirements, problem.rules
        cost, forbidden, preferred = problem.cost, problem.forbidden, problem.preferred
        suppressed, assumptions = problem.suppressed, problem.assumptions
        self._cells, self._unknowns, self._effort = cells, unknowns, problem.effort
        self._work = _work(len(unknowns), inside)
        self._least = _CLEANING * max(_LEAST, len(unknowns)) if len(unknowns) < _LARGE else 0.0
        self._proving: float | None = None  # work before cells are given up
        # What a branch does not protect waits for the table as a whole, which has more room: it takes no last resort.
        self._limit = np.inf if inside is None else np.finfo(np.float64).max
        cost = np.where(cells.published, np.where(preferred, _PREFERRED * cost, cost), 0)
        costs = unknowns.sum(cost)
        costs = np.maximum(costs, 1e-6 * max(float(costs.mean()), 1e-3) if len(costs) else 0)
        published = unknowns.any(cells.published)
        fixed = unknowns.any(requirements.sensitive | suppressed) | ~published
        banned = unknowns.any(forbidden)
        wrong = np.flatnonzero(banned & fixed)
        if len(wrong):
            equal = np.flatnonzero(forbidden & (unknowns.of_cell == wrong[0]))
            raise DataError(
                f"{cells.name(int(equal[0]))} must be published, but it equals a cell that may not be: "
                f"{cells.name(int(unknowns.first[wrong[0]]))}."
            )
        price = np.where(fixed, 0.0, np.where(banned, np.inf, costs))
        if inside is not None:
            price[~inside] = np.inf
        program = BlockProgram(cells, unknowns, price, costs)
        ranges = [
            ProtectionRanges.of(unknowns, cells.total - reader.lower, reader.upper - cells.total)
            for reader in problem.intruders
        ]
        knows_parts = assumptions.own_parts and assumptions.nonnegative and cells.sizes is None
        told = assumptions.statuses and assumptions.coalition == 1
        largest = known_parts(cells, requirements, rules) if told else cells.own_parts.largest
        theirs = replace(cells.to_contributors, largest=largest)
        insiders = Insiders(theirs, unknowns, assumptions.coalition, knows_parts)
        self.search = PatternSearch(program, unknowns, ranges, insiders, fixed)
        targets = targets_of(cells, unknowns, problem.intruders, rules, assumptions.nonnegative)
        self.targets = [target for target in targets if inside is None or inside[target.unknowns[0]]]
        self.unions = Unions(
            cells,
            unknowns,
            requirements.sensitive,
            rules if assumptions.unions else (),
            ranges[0],
            assumptions.nonnegative,
        )

    def protect(self, targets: Sequence[Target], found: Sequence[Proven] = (), go_on: bool = False) -> list[Target]:
        """Prove the targets, those found elsewhere first, then unions that turn out sensitive; those that cannot be.

        go_on : although one cannot be
        """
        for target, proofs in found:
            self.search.take(self.search.index(target), proofs)
        failed: list[Target] = []
        waiting, before = list(targets), None
        while waiting:
            begun = self.search.drawn.copy()
            for done, target in enumerate(waiting):
                self._effort.tell("protect", done, len(waiting))
                if done and len(target.unknowns) > 1 and self.search.moves(target, begun):
                    continue  # its sum cannot be computed any more
                at = self.search.index(target)
                if not self.search.proofs[at] and not self.search.protect(at, self._limit):
                    failed.append(target)
                    if not go_on:
                        return failed
            tried = {target.unknowns for target in failed}
            active = self.search.active
            new = None if before is None else np.flatnonzero(active & ~before).astype(np.int32)
            waiting = [t for t in self.unions.sensitive(active, new) if t.unknowns not in tried]
            before = active
        return failed

    def _enough(self) -> bool:
        """Whether the time is spent, or, without a budget, as much work as grows with the table, not with its kind."""
        if self._effort.clock is not None:
            return self._effort.spent
        return self._left <= 0

    @property
    def _left(self) -> float:
        """Work, once cells are given up."""
        return max(self._work, (self._proving or 0) + self._least) - self.search.work

    def _too_many(self, targets: int) -> bool:
        """Whether to prove so many again is more work than is left."""
        if self._effort.clock is not None or self._proving is None:
            return False
        return self._proving * targets > self._left * len(self.search.targets)

    def clean_up(self, rounds: int) -> None:
        """Give up what can be done without, dearest first; later rounds look where something changed.

        What many targets use waits, as each of them is to be proven again.
        """
        search = self.search
        self._proving = search.work if self._proving is None else self._proving
        for _ in range(rounds):
            secondary = np.flatnonzero(search.active & ~search.fixed)
            given_up = 0
            users = np.array([len(search.users[cell]) for cell in secondary.tolist()])
            gain = search.cost[secondary] / np.sqrt(users)
            for done, cell in enumerate(secondary[np.lexsort((secondary, -gain))].tolist()):
                if self._enough():
                    return
                self._effort.tell("clean up", done, len(secondary))
                if search.active[cell] and search.worth_a_look(cell):
                    given_up += search.give_up(cell, self.unions, self._enough)
            if not given_up:
                break

    def shake(self) -> None:
        """Publish a few cells, prove what used them at disturbed prices, clean up; go back where that is no gain.

        Source: iterated local search (Lourenco, Martin and Stutzle 2003, chapter 11).
        """
        search, random = self.search, np.random.default_rng(0)
        for done in range(_SHAKEN):
            if self._enough():
                return
            self._effort.tell("shake", done, _SHAKEN)
            before = search.state()
            secondary = np.flatnonzero(search.active & ~search.fixed)
            some = secondary[random.random(len(secondary)) < _PART]
            again = sorted({at for cell in some.tolist() for at in search.users[cell]})
            if self._too_many(len(again)):
                return
            for at in again:
                search.release(at)
            open_ = ~search.suppressed & np.isfinite(search.price)
            search.price[open_] *= np.exp(random.normal(0, _DISTURBED, int(open_.sum())))
            targets = [search.targets[at] for at in random.permutation(again).tolist()]
            failed = self.protect([target for target in targets if len(target.unknowns) == 1])
            open_ = ~search.suppressed & np.isfinite(search.price)
            search.price[open_] = search.cost[open_]
            if not failed and search.spent < before.spent * _HOPELESS:
                self.clean_up(rounds=1)
            if failed or search.spent >= before.spent * _NO_LESS or self.dearer_with_unions(before.spent):
                search.restore(before)

    def dearer_with_unions(self, before: float) -> bool:
        """Protect the unions that are sensitive now; whether this fails, or brings the cost up to what it was."""
        return bool(self.protect(self.unions.sensitive(self.search.active))) or self.search.spent > before * _NO_LESS

    @property
    def found(self) -> Found:
        """The targets that have proofs."""
        return [
            (target, proofs) for target, proofs in zip(self.search.targets, self.search.proofs, strict=True) if proofs
        ]


def _work(count: int, inside: Booleans | None) -> float:
    """How much work a table of so many unknowns is worth, or one of its branches."""
    if count < _LARGE:
        return _WORK * max(_LEAST, count)
    every = _LARGE_WORK * (_LARGE + _BEYOND * (count - _LARGE))
    return every * (1 - _BRANCHES if inside is None else _BRANCHES * float(inside.mean()))


def search_table(problem: Problem, unknowns: UnknownCells, workers: int) -> PatternSearch:
    """A pattern in which every target is proven.

    Branches share no unknown that may change, and more suppression breaks no proof, so what is found in each holds in
    the table; targets that their branch cannot protect wait for the whole. The pattern does not depend on `workers`,
    unless time runs out; each branch has a share of it by its size.
    """
    whole = GreedySearch(problem, unknowns)
    found: Found = []
    if len(unknowns) >= _LARGE:
        branches = _branches(problem.cells, unknowns, problem.requirements.sensitive)
        ends = np.cumsum([inside.sum() for inside in branches]) / len(unknowns)
        given = [
            (problem.effort.part(_BRANCHES * end).unseen(), inside)
            for inside, end in zip(branches, ends.tolist(), strict=True)
        ]
        parts: Iterable[Found]
        # The problem goes to each process once, and where processes are forked it is shared.
        several = ProcessPoolExecutor(workers, initializer=_begin, initargs=(problem,)) if workers > 1 else None
        with several or nullcontext() as pool:
            parts = (
                (_search_branch(problem, *each) for each in given) if pool is None else pool.map(_branch_part, given)
            )
            for done, part in enumerate(parts):
                found += part
                problem.effort.tell("protect", done + 1, len(given))
    failed = whole.protect(whole.targets, found)
    if not failed:
        if found:
            whole.search.looked_at({cell for _, proofs in found for proof in proofs for cell in proof.cells.tolist()})
        safe = whole.search.state()
        whole.search.first = whole.search.suppressed
        whole.clean_up(_LARGE_ROUNDS if found else _ROUNDS)
        if len(unknowns) < _SMALL:
            whole.shake()
        if whole.search.spent < safe.spent and whole.dearer_with_unions(safe.spent):
            whole.search.restore(safe)
    if failed:
        cell = int(unknowns.first[failed[0].unknowns[0]])
        raise DataError(
            f"{problem.cells.name(cell)} cannot be protected, whatever is suppressed with it: too many cells must be "
            f"published, or the table has too few{_too_strict(problem, cell)}."
            f"{of_known_zeros(problem.cells, problem.requirements.sensitive, problem.assumptions)}"
        )
    return whole.search


def _too_strict(problem: Problem, cell: int) -> str:
    """Of which rules on shares would not ask it: as even the total is sensitive by one, more cells do not help.

    The share that a contributor holds is told to the next ten percent at most.
    """
    known, told = problem.cells.contributions, []
    alone = Contributions(known.total[[cell]], known.contributors[[cell]], known.largest[[cell]])
    for rule in problem.rules:
        if isinstance(rule, Dominance | RequestRule) and rule.sensitive(alone)[0]:
            before = {"k_before": None} if isinstance(rule, RequestRule) else {}
            wider = (rule.model_copy(update={"k": float(k), **before}) for k in range(10, 101, 10) if k > rule.k)
            if (fit := next((each for each in wider if not each.sensitive(alone)[0]), None)) is not None:
                told.append(f", or {rule.rule} asks too much with k {rule.k:g}: with {fit.k:g} it is not sensitive")
    return "".join(told)


_problem: Problem  # in a process of its own


def _begin(problem: Problem) -> None:
    global _problem
    end_with_parent()
    _problem = problem
    gc.freeze()  # to look through what the processes share would copy it


def _branch_part(branch: tuple[Effort, Booleans]) -> Found:
    gc.collect()  # the search of the branch before: it refers to itself
    return _search_branch(_problem, *branch)


def _search_branch(problem: Problem, effort: Effort, inside: Booleans) -> Found:
    problem = replace(problem, effort=effort)
    unknowns = problem.unknowns()
    search = GreedySearch(problem, unknowns, inside)
    search.protect(search.targets, go_on=True)
    search.clean_up(_LARGE_ROUNDS)
    return search.found


def _branches(cells: Cells, unknowns: UnknownCells, sensitive: Booleans) -> list[Booleans]:
    """The unknowns under each part of the total of the dimension with the most codes, most sensitive ones first.

    These take longest: begun last, such a branch would keep one process busy while the others have nothing left to do.
    """
    axis = int(np.argmax([len(dimension.codes) for dimension in cells.dimensions]))
    dimension = cells.dimensions[axis]
    parts = next(parts for group, parts in dimension.sums if group == 0)
    codes = cells.codes[unknowns.first, axis]
    branches = [np.isin(codes, sorted(codes_below(dimension, part))) for part in parts]
    asked = unknowns.any(sensitive)
    return sorted(branches, key=lambda inside: (-int((inside & asked).sum()), -int(inside.sum())))
