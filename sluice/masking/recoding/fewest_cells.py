"""Fewest cells: of all ways to suppress key values until each combination is shared by k records, the cheapest.

Source of the problem: k-anonymity by cell suppression (Meyerson and Williams 2004, who show that it is NP-hard). The
integer programme is ours. A pattern is what records show after suppression. Unknown are how many records of each
combination show each pattern that it could; a pattern is shown by nobody, or by k records. A pattern in which all who
could show it agree on a suppressed key is never worth it, nor one that fewer than k could show: what is left has so
tight a relaxation that a few nodes of branch and bound are enough for some hundred combinations.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray

MOST_CHOICES = 1_000
"""Pairs of a combination and a pattern up to which the programme is solved: four keys of 90 combinations, or three of
two hundred. It then takes some tenths of a second, seconds at worst."""

_NODES = 5  # of branch and bound; where they are too few, the best that was found is taken: no clock decides
_WHOLE = 1e-6


Shown = tuple[IntArray, IntArray, IntArray]


@dataclass(frozen=True)
class _Choices:
    """combination, pattern : shape (x,), who could show what
    lost                    : shape (x, p), which of the keys are suppressed by it, 0 or 1
    patterns                : shape (t, p), codes from 1; 0 is missing or suppressed
    """

    combination: IntArray
    pattern: IntArray
    lost: IntArray
    patterns: IntArray


def fewest_cells(keys: IntArray, sizes: IntArray, k: int, ranks: Sequence[int], most: int) -> Shown | None:
    """The cheapest suppression that leaves every combination of all keys to k records or more.

    keys    : shape (c, p), different combinations, codes from 1; 0 is missing
    sizes   : shape (c,), the records of each, 1 or more; at least k in all
    ranks   : importance of the p keys, 1 is kept longest: keys of rank 1 lose the fewest values possible, then those of
              rank 2. Among equals keys with many categories lose more
    most    : cells that a suppression that is known would take; no dearer one is looked for
    returns : what each piece of a combination shows, its records, and the combination, the first of each in their
              order (see `Pieces`); None if there are more choices than `MOST_CHOICES`, or the nodes were too few
    cost    : an integer programme of at most 2 `MOST_CHOICES` variables, by HiGHS
    """
    found = _choices(keys, sizes, k)
    if found is None:
        return None
    categories = np.array([len(np.unique(column[column > 0])) for column in keys.T])
    place = np.argsort(np.lexsort((np.arange(len(ranks)), -categories)))  # many categories are cheap, as in `key_sets`
    costs = [found.lost[:, [rank == level for rank in ranks]].sum(axis=1) for level in sorted(set(ranks))]
    scale = int(place.max()) * most + 1
    costs[-1] = scale * costs[-1] + (found.lost * place).sum(axis=1)
    shown = _solved(found, sizes, k, costs)
    if shown is None:
        return None
    some = np.flatnonzero(shown)
    origin, pattern, taken = found.combination[some], found.pattern[some], shown[some]
    first = np.concatenate([[True], origin[1:] != origin[:-1]])  # the piece of this number is that of the combination
    order = np.concatenate([np.flatnonzero(first), np.flatnonzero(~first)])
    return found.patterns[pattern[order]], taken[order], origin[order]


def _choices(keys: IntArray, sizes: IntArray, k: int) -> _Choices | None:
    """All that may be worth choosing, by combination; None if these are too many."""
    combination: list[IntArray] = []
    pattern: list[IntArray] = []
    patterns: list[IntArray] = []
    choices = 0
    for suppressed in _subsets(keys.shape[1]):
        able = np.flatnonzero((keys[:, suppressed] > 0).all(axis=1))
        shown = keys[able]
        shown[:, suppressed] = 0
        different, of = np.unique(shown, axis=0, return_inverse=True)
        for at, row in enumerate(different):
            # Who lacks a value anyway shows the same as one who lost it: all that could show the pattern, at once.
            alike = ((row == 0) | (row == keys)).all(axis=1)
            if sizes[alike].sum() < k or _is_idle(keys[alike], row):
                continue
            those = able[of == at]
            choices += len(those)
            if choices > MOST_CHOICES:
                return None
            combination.append(those)
            pattern.append(np.full(len(those), len(patterns)))
            patterns.append(row)
    return _joined(keys, np.concatenate(combination), np.concatenate(pattern), np.array(patterns))


def _joined(keys: IntArray, combination: IntArray, pattern: IntArray, patterns: IntArray) -> _Choices:
    """With each pattern once, whoever shows it for want of a value; in the order of the combinations."""
    different, number = np.unique(patterns, axis=0, return_inverse=True)
    pattern = number[pattern]
    order = np.lexsort((pattern, combination))
    combination, pattern = combination[order], pattern[order]
    lost = ((keys[combination] > 0) & (different[pattern] == 0)).astype(np.int64)
    return _Choices(combination, pattern, lost, different)


def _subsets(count: int) -> Iterator[list[int]]:
    for some in range(count + 1):
        yield from (list(chosen) for chosen in combinations(range(count), some))


def _is_idle(able: IntArray, pattern: IntArray) -> bool:
    """Whether all who could show a pattern agree on a key that it lacks: they could show that as well."""
    lacking = able[:, pattern == 0]
    return bool(((lacking[0] > 0) & (lacking == lacking[0]).all(axis=0)).any())


def _solved(choices: _Choices, sizes: IntArray, k: int, costs: Sequence[IntArray]) -> IntArray | None:
    """Shape (x,), how many records take each choice; costs are made as small as can be one after the other."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array, vstack

    x, t, c = len(choices.pattern), len(choices.patterns), len(sizes)
    one, each = np.ones(x), np.arange(x)
    room = sizes[choices.combination].astype(np.float64)
    everybody = coo_array((one, (choices.combination, each)), shape=(c, x + t))
    crowd = coo_array(
        (
            np.concatenate([one, np.full(t, -float(k))]),
            (np.concatenate([choices.pattern, np.arange(t)]), np.concatenate([each, x + np.arange(t)])),
        ),
        shape=(t, x + t),
    )
    only_shown = coo_array(
        (np.concatenate([-one, room]), (np.concatenate([each, each]), np.concatenate([each, x + choices.pattern]))),
        shape=(x, x + t),
    )
    constraints = [
        LinearConstraint(everybody, sizes, sizes),
        LinearConstraint(vstack([crowd, only_shown]), 0, np.inf),
    ]
    bounds = Bounds(0, np.concatenate([room, np.ones(t)]))
    shown: FloatArray | None = None
    for cost in costs:
        objective = np.concatenate([cost, np.zeros(t)]).astype(np.float64)
        result = milp(
            objective,
            constraints=constraints,
            bounds=bounds,
            integrality=np.ones(x + t, dtype=np.int64),
            options={"node_limit": _NODES, "mip_rel_gap": 0.0},
        )
        if result.x is None:
            return None
        shown = np.rint(result.x)
        constraints.append(LinearConstraint(objective[None], -np.inf, float(objective @ shown) + _WHOLE))
    assert shown is not None  # there is one rank at least
    return shown[:x].astype(np.int64)
