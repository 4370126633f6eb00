"""Learned membership: an intruder who has learned from examples how a person's presence shows in a released file.

The examples are people of whom it is known whether they took part: who knows the published method can make such a file
of other data. Membership shows in how near the released records come, in how many values combinations are more frequent
in the release than among other people, and in rare combinations that only the release holds.

Source: Shokri, Stronati, Song and Shmatikov (2017), attack models learned from examples; van Breugel, Sun, Qian and van
der Schaar (2023), density against a reference. Differs from them: densities are counts of small combinations of values.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import FloatArray
from sluice.ground.comparable_values import plain_values
from sluice.ground.errors import DataError
from sluice.ground.variables import Variables
from sluice.risk.attacks.attack_success import FEWEST
from sluice.risk.attacks.membership import Membership, advantage, area_under_curve
from sluice.risk.attacks.rare_combinations import cell_of_each, grouped, subsets
from sluice.risk.distances.gower import GowerPoints, gower_points

_SIZES = (1, 2, 3)
_NEIGHBOURS = 5
_SMOOTHING = 0.3  # of a record, added to each count


def learned_membership(
    original: pd.DataFrame,
    released: pd.DataFrame,
    control: pd.DataFrame,
    variables: Variables,
    columns: Sequence[str],
    attacks: int,
    rng: np.random.Generator,
) -> Membership:
    """Call people members by a score that is learned on one half of the people and used on the other, both ways.

    original, released, control : typed by `variables`, any index. Half of the control are the other people whom the
              intruder compares the release with; the other half are the non-members
    columns : what the intruder knows of each person
    attacks : members and non-members whom the intruder judges, so many each; all, where there are fewer
    raises  : DataError for fewer than 20 members or 40 people of the control, or columns that `gower_points` refuses
    cost    : O(attacks x records x columns) for the distances, and O(200 records log(records)) for each of three sizes
              of combinations
    """
    points = gower_points(columns, variables, original, released, control)
    if min(len(original), len(control) // 2) < FEWEST or not len(released):
        raise DataError(f"learned membership needs {FEWEST} members and {2 * FEWEST} others, and a released record")
    members = points[0].in_random_order(rng)[:attacks]
    mixed = points[2].in_random_order(rng)
    known, others = mixed[: len(mixed) // 2], mixed[len(mixed) // 2 :][:attacks]
    queried = _stacked(points[0].take(members), points[2].take(others))
    tables = [[plain_values(file[name]) for name in columns] for file in (original, released, control)]
    signs = np.column_stack(
        [
            *_distances(queried, points[1], points[2].take(known)),
            *_frequencies(
                [
                    np.concatenate([own[members], other[others]])
                    for own, other in zip(tables[0], tables[2], strict=True)
                ],
                tables[1],
                [column[known] for column in tables[2]],
                rng,
            ),
        ]
    )
    is_member = np.arange(len(signs)) < len(members)
    scores = _cross_fitted(signs, is_member, rng)
    far, farther = -scores[is_member], -scores[~is_member]
    return Membership(area_under_curve(far, farther, 2 * attacks), advantage(far, farther, 2 * attacks))


def _stacked(one: GowerPoints, other: GowerPoints) -> GowerPoints:
    return GowerPoints(np.concatenate([one.numbers, other.numbers]), np.concatenate([one.categories, other.categories]))


def _distances(queried: GowerPoints, file: GowerPoints, known: GowerPoints) -> list[FloatArray]:
    """Distances to the nearest and the nearest few of the release and of other people, and their differences."""
    from sluice.risk.distances.gower_kernel import nearest  # compiled code, loaded where it is needed

    signs: list[FloatArray] = []
    for points in (file, known):
        k = min(_NEIGHBOURS, len(points))
        distance, _ = nearest(queried.numbers, queried.categories, points.numbers, points.categories, k)
        signs += [distance[:, 0], distance.mean(axis=1)]
    return [*signs, signs[0] - signs[2], signs[1] - signs[3]]


def _frequencies(
    queried: list[npt.NDArray[Any]],
    released: list[npt.NDArray[Any]],
    known: list[npt.NDArray[Any]],
    rng: np.random.Generator,
) -> list[FloatArray]:
    """For each size of combination: how much more frequent a person's are in the release than among the known others,
    on average and at most; how many the release alone holds, and how many it lacks."""
    q, m, others = len(queried[0]), len(released[0]), len(known[0])
    codes = [np.concatenate(grouped(*reversed(columns))) for columns in zip(known, released, queried, strict=True)]
    signs: list[FloatArray] = []
    for size in (*_SIZES, *([len(codes)] if len(codes) > max(_SIZES) else [])):
        if size > len(codes):
            continue
        chosen_sets = list(subsets(len(codes), size, 200, rng))
        mean, most, only, lacks = (np.zeros(q) for _ in range(4))
        most -= np.inf
        for chosen in chosen_sets:
            of, cells = cell_of_each([codes[column] for column in chosen])
            inside = np.bincount(of[q : q + m], minlength=cells)[of[:q]]
            outside = np.bincount(of[q + m :], minlength=cells)[of[:q]]
            ratio = np.log((inside + _SMOOTHING) / m) - np.log((outside + _SMOOTHING) / others)
            mean += ratio / len(chosen_sets)
            most = np.maximum(most, ratio)
            only += (inside > 0) & (outside == 0)
            lacks += inside == 0
        signs += [mean, most, only, lacks]
    return signs


def _cross_fitted(signs: FloatArray, is_member: npt.NDArray[np.bool_], rng: np.random.Generator) -> FloatArray:
    """A score for each person by the model that was learned on the other half; shape (n,)."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    half = np.empty(len(signs), np.int64)
    for side in (is_member, ~is_member):
        half[side] = rng.permutation(int(side.sum())) % 2
    scores = np.empty(len(signs))
    for judged in (0, 1):
        model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=500))
        model.fit(signs[half != judged], is_member[half != judged])
        scores[half == judged] = model.decision_function(signs[half == judged])
    return scores
