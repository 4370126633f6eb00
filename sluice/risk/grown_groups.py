"""Groups that no variable and no pair defines: parts of a tree that asks where those are whom an intruder finds.

A minority may be an interval of a number, a combination of three traits, those who are far from the middle of all, or
the members of large households or of households with a certain total. Nobody has to guess which: a tree grows on the
people who were learned from, by all that is known of each and of the household, and tells who is found from who is not.
Whoever is judged in these groups had no part in it.

Source: Breiman and others (1984), regression trees; Athey and Imbens (2016), who grow a tree on some people and measure
in its leaves on others.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.comparable_values import is_missing, plain_values
from sluice.ground.variables import NAMES, Kind, Role, Variables
from sluice.risk.people_of_records import word_for_groups
from sluice.risk.small_groups import FEWEST, Partition

_LEAVES = 24
_PRIOR = 10.0  # people found as often as all are, added to those of a category
_LEAST = 1e-9  # of a variance, from which an axis of the numbers counts


def grown_groups(
    frame: pd.DataFrame, variables: Variables, units: IntArray, learners: BoolArray, found: FloatArray
) -> Iterator[Partition]:
    """Each part of a tree, beginning and end alike, as the group of those who are in it.

    frame    : typed by `variables`; names of people and units, weights and texts make no groups
    units    : (n,) who belongs together, such as the household of each
    learners : (n,) on whom the tree grows; at least half of FEWEST are in each group
    found    : (n,) success with each of these, 0 to 1; of the others it is not looked at
    cost     : O(n log n) time for each variable, three times that for numbers where households have several people;
               8 n bytes for each
    """
    from sklearn.tree import DecisionTreeRegressor  # loaded where it is needed

    features = _features(frame, variables, units, learners, found)
    if not features or learners.sum() < FEWEST or not found[learners].any():
        return
    values = np.column_stack([*features.values()])
    tree = DecisionTreeRegressor(min_samples_leaf=FEWEST // 2, max_leaf_nodes=_LEAVES, random_state=0)
    tree.fit(values[learners], found[learners])
    names, parts, splits = [*features], tree.decision_path(values).tocsc(), tree.tree_
    above: dict[int, tuple[str, ...]] = {0: ()}
    for node in range(splits.node_count):
        if above[node]:
            of = np.full(len(frame), -1, np.int32)
            of[parts[:, node].indices] = 0
            yield Partition((_listed(above[node]),), of, ((None,),))
        for below in (splits.children_left[node], splits.children_right[node]):
            if below >= 0:
                above[int(below)] = tuple(dict.fromkeys((*above[node], names[splits.feature[node]])))


def _listed(names: tuple[str, ...]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _features(
    frame: pd.DataFrame, variables: Variables, units: IntArray, learners: BoolArray, found: FloatArray
) -> Mapping[str, FloatArray]:
    """What the tree may ask of each person, by words for it, shapes (n,): labels by how often they are found."""
    features, numbers = dict[str, FloatArray](), dict[str, FloatArray]()
    for name, variable in variables.items():
        if name not in frame or variable.role in (*NAMES, Role.WEIGHT) or variable.kind is Kind.TEXT:
            continue
        values = plain_values(frame[name])
        if values.dtype.kind == "f":
            missing = is_missing(values)
            if not missing.all():
                features[name] = np.where(missing, values[~missing].min() - 1, values)
                numbers[name] = np.where(missing, np.median(values[~missing]), values)
        else:
            features[name] = _by_success(values, learners, found)
    if len(numbers) > 1:
        places = {
            name: np.asarray(pd.Series(values).rank(pct=True) - 0.5, np.float64) for name, values in numbers.items()
        }
        features["distance from the middle of all numbers"] = _from_middle(numbers)
        features["distance from the middle of all ranks"] = _from_middle(places)
    of = np.unique(units, return_inverse=True)[1]
    sizes = np.bincount(of)
    if sizes.max(initial=0) > 1:
        word = word_for_groups(frame, variables)
        size = "size of the household" if word == "household" else f"number of records of the {word}"
        features[size] = sizes[of].astype(np.float64)
        for name, values in numbers.items():
            mean = (np.bincount(of, values) / sizes)[of]
            features[f"mean {name} of the {word}"] = mean
            features[f"{name} within the {word}"] = values - mean
    return features


def _by_success(
    values: "np.ndarray[tuple[int], np.dtype[np.object_]]", learners: BoolArray, found: FloatArray
) -> FloatArray:
    codes = pd.factorize(values, use_na_sentinel=False)[0]
    count, hits = (
        np.bincount(codes[learners], weights, codes.max(initial=0) + 1) for weights in (None, found[learners])
    )
    return np.asarray(((hits + _PRIOR * found[learners].mean()) / (count + _PRIOR))[codes])


def _from_middle(numbers: Mapping[str, FloatArray]) -> FloatArray:
    """Mahalanobis' distance, squared."""
    values = np.column_stack([*numbers.values()])
    values = (values - values.mean(axis=0)) / np.maximum(values.std(axis=0), np.finfo(np.float64).tiny)
    spreads, axes = np.linalg.eigh(values.T @ values / len(values))
    kept = spreads > _LEAST * max(1.0, float(spreads.max()))
    return np.asarray(((values @ axes[:, kept]) ** 2 / spreads[kept]).sum(axis=1))
