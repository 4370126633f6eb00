"""The search for the best full-domain generalisation: of all transformations that satisfy the models, one that loses
least.

Sources: Samarati (2001), Bayardo and Agrawal (2005) and LeFevre, DeWitt and Ramakrishnan (2005) for the lattice and its
pruning; El Emam and others (2009) for an optimum among all transformations.

The search goes from the records upwards. Each node is made of the classes of the one below it, and a node of which no
transformation above loses less than the best one found so far is left out with all that lies above it.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod

from sluice.errors import InfeasibleError
from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node import Node, bottom
from sluice.generalization.lattice.solution import Refinement, Solution
from sluice.generalization.lattice.suppression import Requirements, failures, suppression
from sluice.generalization.models.privacy_model import PrivacyModel, Suppressed
from sluice.generalization.objectives.objective import Measure, Objective
from sluice.risk.classes.equivalence_classes import Codes


def search(
    keys: Sequence[Key],
    codes: Sequence[Codes],
    models: Sequence[PrivacyModel],
    objective: Objective,
    *,
    sensitive: Mapping[str, Codes] | None = None,
    population: Sequence[Codes] | None = None,
    suppression_limit: float = 0.0,
    suppressed: Suppressed = "released",
    ended: Callable[[], bool] = lambda: False,
) -> Solution:
    """The best transformation of the keys, to a level each.

    codes             : for each key, shape (n,), the leaf of each record
    models            : what the released file must satisfy, all of them
    sensitive         : the columns that models name, shape (n,) each: codes from 0, -1 where there is no value
    population        : for each key, shape (m,), the leaf of each person of the population, for models that ask for it
    suppression_limit : share of the records that may be suppressed at most, 0 to 1
    suppressed        : what becomes of them (see `Suppressed`)
    ended             : whether time is up; the best that was found until then is the result, with what is known of the
                        others. Without it the result depends on the data alone
    raises            : InfeasibleError if no transformation satisfies the models, or none was found in time; DataError
                        if codes, columns or limits are wrong
    cost              : as many nodes as have a bound below the best loss, each in the classes of the node below it
    """
    base, member = bottom(keys, codes, dict(sensitive or {}), population)
    requirements = Requirements.of(models, base.records, suppression_limit, suppressed)
    measure = objective.of(base)
    walk = _Walk(base, requirements, measure, ended)
    walk.run()
    if walk.best is None:
        raise _infeasible(base, requirements, walk.finished)
    value, levels = walk.best
    node, into = base.at(levels)
    hidden = suppression(node, requirements).hidden
    return Solution(
        levels=levels,
        value=value,
        bound=value if walk.finished else min(value, walk.bound),
        optimal=walk.finished or walk.bound >= value,
        checked=walk.checked,
        nodes=prod(key.depth + 1 for key in keys),
        suppressed_records=hidden[into[member]],
        frontier=_frontier(base, levels, requirements, measure),
    )


class _Walk:
    """Depth first from the bottom; every node is reached once, by raising keys in their order."""

    def __init__(self, base: Node, requirements: Requirements, measure: Measure, ended: Callable[[], bool]) -> None:
        self._requirements, self._measure, self._ended = requirements, measure, ended
        self._base = base
        self.best: tuple[float, tuple[int, ...]] | None = None
        self.checked = 0
        self.finished = False
        self.bound = 0.0

    def run(self) -> None:
        top, _ = self._base.at([key.depth for key in self._base.keys])
        self._judge(top)
        pending: list[tuple[Node, int]] = []  # a node, and the key by which the next one lies above it
        self._enter(self._base, 0, pending)
        while pending and not self._ended():
            node, key = pending.pop()
            levels = tuple(level + (at == key) for at, level in enumerate(node.levels))
            if self._loses_less(self._measure.least_at(levels)):
                self._enter(node.raised(key), key, pending)
        self.finished = not pending
        self.bound = min((self._least(node, key) for node, key in pending), default=0.0)

    def _enter(self, node: Node, first: int, pending: list[tuple[Node, int]]) -> None:
        if not self._loses_less(self._measure.least(node)):
            return
        if node.levels != tuple(key.depth for key in node.keys):
            self._judge(node)
        pending += [(node, at) for at in range(first, len(node.keys)) if node.levels[at] < node.keys[at].depth]

    def _least(self, node: Node, key: int) -> float:
        levels = tuple(level + (at == key) for at, level in enumerate(node.levels))
        return max(self._measure.least(node), self._measure.least_at(levels))

    def _loses_less(self, least: float) -> bool:
        return self.best is None or least < self.best[0]

    def _judge(self, node: Node) -> None:
        self.checked += 1
        found = suppression(node, self._requirements)
        if found.feasible:
            value = self._measure.value(node, found.hidden)
            if self._loses_less(value):
                self.best = value, node.levels


def _frontier(
    base: Node, levels: tuple[int, ...], requirements: Requirements, measure: Measure
) -> tuple[Refinement, ...]:
    found = []
    for at, key in enumerate(base.keys):
        if levels[at] == 0:
            continue
        node, _ = base.at([level - (other == at) for other, level in enumerate(levels)])
        needed = suppression(node, requirements)
        value = measure.value(node, needed.hidden) if needed.feasible else None
        broken = failures(node, requirements)
        found.append(Refinement(key.name, node.levels, broken, needed.records, needed.feasible, value))
    return tuple(found)


def _infeasible(base: Node, requirements: Requirements, finished: bool) -> InfeasibleError:
    top, _ = base.at([key.depth for key in base.keys])
    broken = failures(top, requirements)
    if broken and (finished or requirements.monotone):
        first = broken[0]
        return InfeasibleError(
            f"no generalisation satisfies {first.model.describe()}: with every key at its highest level, "
            f"{first.records:,} of {top.records:,} records still lie in groups that break it."
        )
    names = " and ".join(model.describe() for model in requirements.models)
    if finished:
        return InfeasibleError(f"no generalisation satisfies {names} together with the suppression that is allowed.")
    return InfeasibleError(f"no generalisation that satisfies {names} was found in the time allowed.")
