"""The worst few variables that an intruder may know: those by which most people are found, by beam search.

A set is rated on some people and some released records: a person's own record has the posterior probability
1 / (1 + sum of likelihood ratios of all others against it), the sum scaled up from the records drawn to the file. The
sets that end highest are linked in earnest. All that happens among the people who are learned from, so that the set is
judged once.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sluice.ground.arrays import IntArray
from sluice.risk.linkage.learned_intruder import LearnedIntruder
from sluice.risk.linkage.learned_linker import LearnedLinker

Ratios = npt.NDArray[np.float32]

_BEAM = 3  # sets that are extended by one more variable
_TRIED = 2  # of each fold's, that are linked in earnest
_PEOPLE = 200
_RECORDS = 3_000
_AMONG = 20_000  # records among which the sets that are tried are linked
_NUMBERS = 60_000_000  # at most so many ratios are held
_FARTHEST = 12.0  # log of the largest ratio that one variable may give
_LARGEST = np.float32(1e30)  # ratio of several


def worst_known(
    intruder: LearnedIntruder, size: int, rng: np.random.Generator, together: Sequence[tuple[int, ...]] | None = None
) -> tuple[int, ...]:
    """Positions of the `size` variables by which most people are found; all where there are no more.

    together : positions that are known together and count as one variable, of each position one; None: each by itself
    cost : O(v size p r) time for p people and r released records drawn, at most 200 and 3,000; and that of linking the
           people of both folds with at most 20,000 released records, up to four times
    """
    together = together or [(at,) for at in range(len(intruder.linker.compared))]
    if size >= len(together):
        return tuple(range(len(intruder.linker.compared)))
    sets = {
        tuple(sorted(at for one in each for at in together[one]))
        for linker, rows in intruder.folds
        for each in worst_sets(linker, rows, size, rng, together)[:_TRIED]
    }

    m = intruder.linker.records
    among = np.sort(rng.choice(m, _AMONG, replace=False)) if m > _AMONG else None

    def found(chosen: tuple[int, ...]) -> float:
        return float(np.mean([linker.link(rows, chosen, among=among).found.mean() for linker, rows in intruder.folds]))

    return max(sorted(sets), key=found)


def worst_sets(
    linker: LearnedLinker, rows: IntArray, size: int, rng: np.random.Generator,
    together: Sequence[tuple[int, ...]] | None = None,
) -> list[tuple[int, ...]]:  # fmt: skip
    """Sets of `size` variables, the worst first, by beam search.

    rows     : people that the linker did not learn from
    together : as for `worst_known`; of these, sets of places
    """
    ratios, scale = _likelihood_ratios(linker, rows, rng)
    if together is not None and len(together) < len(ratios):
        ratios = np.stack([np.minimum(ratios[list(each)].prod(axis=0), _LARGEST) for each in together])
    beam: list[tuple[int, ...]] = [()]
    for _ in range(min(size, len(ratios))):
        ratings: dict[tuple[int, ...], float] = {}
        for chosen in beam:
            product = _product(ratios, chosen)
            for j in range(len(ratios)):
                larger = tuple(sorted((*chosen, j)))
                if j not in chosen and larger not in ratings:
                    ratings[larger] = _rating(np.einsum("pr,pr->p", product, ratios[j]), scale)
        beam = sorted(ratings, key=lambda each: ratings[each], reverse=True)[:_BEAM]
    return beam


def _likelihood_ratios(linker: LearnedLinker, rows: IntArray, rng: np.random.Generator) -> tuple[Ratios, float]:
    """Likelihood of each record drawn against the own one, shape (v, p, r), the own one's 0; and what it scales by."""
    v, m = len(linker.compared), len(linker.compared[0].released)
    people = rows if len(rows) <= _PEOPLE else rng.choice(rows, _PEOPLE, replace=False)
    drawn = min(m, _RECORDS, max(100, _NUMBERS // (v * len(people))))
    records = rng.choice(m, drawn, replace=False)
    ratios = np.empty((v, len(people), drawn), np.float32)
    for j, (compared, learned) in enumerate(zip(linker.compared, linker.learned, strict=True)):
        table, _, bins = learned.tables(people)
        weights = table[:, compared.released[records]]
        own = table[np.arange(len(people)), compared.released[people]]
        if compared.exact is not None:
            known, out = compared.exact
            equal = bins[:, :1]
            weights = np.where(known[people][:, None] == out[records], equal, weights)
            own = np.where(known[people] == out[people], equal[:, 0], own)
        ratios[j] = np.exp(np.clip(weights - own[:, None], -_FARTHEST, _FARTHEST))
    ratios[0][people[:, None] == records] = 0
    return ratios, (m - 1) / max(1, drawn - 1)


def _product(ratios: Ratios, chosen: Sequence[int] | IntArray) -> Ratios:
    product: Ratios = (ratios[0] > 0).astype(np.float32)  # the own record is no other
    for j in chosen:
        product *= ratios[j]
        np.minimum(product, _LARGEST, out=product)
    return product


def _rating(others: npt.NDArray[np.floating], scale: float) -> float:
    return float((1 / (1 + scale * others.astype(np.float64))).mean())
