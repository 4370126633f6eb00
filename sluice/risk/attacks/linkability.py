"""Linkability: whether the file tells that two sets of facts, known from two places, are about one person.

Source: Giomi, Boenisch, Wehmeyer and Tasnadi (2023), the linkability attack. Differs from it: the original's ranges
scale every file; a missing value equals a missing value; of released records that are equally near, those count that
come first in one random order, the same for both sets of facts; and the success of random links is worked out, not
drawn.
"""

from collections.abc import Sequence
from math import lgamma

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sluice.ground.errors import DataError
from sluice.ground.variables import Variables
from sluice.risk.attacks.attack_success import AttackSuccess, ControlledAttack, Units
from sluice.risk.distances.gower import GowerPoints, gower_points


def linkability(
    original: pd.DataFrame,
    released: pd.DataFrame,
    control: pd.DataFrame,
    variables: Variables,
    first: Sequence[str],
    second: Sequence[str],
    k: int,
    attacks: int,
    rng: np.random.Generator,
    units: Units | None = None,
) -> ControlledAttack:
    """Look up each person twice, by the first and by the second set of facts: linked if a released record is in both.

    original, released, control : typed by `variables`, at least one record each, any index
    first, second : columns that the intruder knows from one place and from the other; none in both
    k       : nearest released records that are looked at, 1 to the number of released records
    attacks : people that are looked up in the original and in the control; all, where there are fewer
    units   : who belongs together in `original` and in `control`; None: everybody is alone
    returns : a guess is completed for every person looked up
    raises  : DataError for a column in both sets, too few records, or columns that `gower_points` refuses
    cost    : O(attacks x released records x columns) time at worst, O(released records) memory
    """
    both = sorted(set(first) & set(second))
    if both:
        raise DataError(f"the two sets of known columns must share none; got {', '.join(both)} in both")
    if not len(original) or not len(control):
        raise DataError("linkability needs people in the original and in the control; got none")
    if not 1 <= k <= len(released):
        raise DataError(f"k of linkability must be from 1 to the number of released records, {len(released)}; got {k}")
    people, file, others = gower_points([*first, *second], variables, original, released, control)
    shuffled = file.in_random_order(rng)
    attacked = {0: people.in_random_order(rng)[:attacks], 2: others.in_random_order(rng)[:attacks]}
    found: dict[int, list[NDArray[np.int64]]] = {0: [], 2: []}
    for known in (first, second):
        files = gower_points(known, variables, original, released, control)
        points = files[1].take(shuffled)
        for side, rows in attacked.items():
            found[side].append(_nearest(files[side].take(rows), points, k))
    main, other = (
        AttackSuccess.of(attacks, _share_one(*found[side]).astype(np.float64), None if of is None else of[rows])
        for (side, rows), of in zip(attacked.items(), units or (None, None), strict=True)
    )
    return ControlledAttack(main, other, random_links(len(released), k))


def random_links(records: int, k: int) -> float:
    """Probability that two random choices of k among the records have one in common: 1 - C(m - k, k) / C(m, k)."""
    if 2 * k > records:
        return 1.0
    none = 2 * lgamma(records - k + 1) - lgamma(records - 2 * k + 1) - lgamma(records + 1)
    return float(-np.expm1(none))


def _nearest(queries: GowerPoints, points: GowerPoints, k: int) -> NDArray[np.int64]:
    from sluice.risk.distances.gower_kernel import nearest  # compiled code, loaded where it is needed

    nobody = np.empty(0, np.int64)
    _, index = nearest(queries.numbers, queries.categories, points.numbers, points.categories, k, nobody, nobody)
    return np.asarray(index, dtype=np.int64)


def _share_one(one: NDArray[np.int64], two: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Shape (n,): whether a row of `one` and the same row of `two`, each of k different numbers, share a number."""
    together = np.sort(np.concatenate([one, two], axis=1), axis=1)
    return np.asarray((together[:, 1:] == together[:, :-1]).any(axis=1))
