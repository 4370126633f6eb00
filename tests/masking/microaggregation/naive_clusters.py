"""The methods of clustering by their pseudo-code, each cluster's loss computed anew from its members."""

import numpy as np
from hypothesis import strategies as st

from sluice.ground.hierarchy import Hierarchy, taxonomy_of
from sluice.masking.microaggregation.clusters import Domain, domain_of

AREAS = Hierarchy(rows={"a": ("ab",), "b": ("ab",), "c": ("cd",), "d": ("cd",), "e": ("e",)})

cases = st.tuples(st.integers(2, 40), st.integers(2, 6), st.integers(1, 3), st.integers(0, 10_000))
"""Numbers of records, k, columns of numbers, and a seed."""


def mixed_records(n: int, p: int, seed: int, parts: int = 64) -> Domain:
    """Numbers and two columns of categories. With 64 parts equal losses are equal however they are added up."""
    rng = np.random.default_rng(seed)
    trees = [taxonomy_of(list(AREAS.rows), AREAS), taxonomy_of(list("xyz"), None)]
    table = np.column_stack([rng.integers(0, parts, (n, p)) / parts, rng.integers(0, 5, n), rng.integers(0, 3, n)])
    return domain_of(table, [None] * p + trees, [1.0] * (p + 2))


def loss(records: Domain, members: list[int]) -> float:
    """IL(e), each pair of records compared."""
    widths = [max(column[members]) - min(column[members]) for column in records.numbers.T]
    heights = [
        weight * (len(set(column[members])) > 1)
        for column, weight in zip(records.nodes.T, records.weights, strict=True)
    ]
    return len(members) * (sum(widths) + sum(heights))


def take(record: int, left: list[int]) -> None:
    """The last one moves to its place."""
    left[left.index(record)] = left[-1]
    left.pop()


def join_the_rest(records: Domain, left: list[int], clusters: list[list[int]]) -> list[set[int]]:
    for record in left:
        best = min(clusters, key=lambda members: loss(records, [*members, record]) - loss(records, members))
        best.append(record)
    return [set(members) for members in clusters]


def k_member(records: Domain, k: int, order: list[int]) -> list[set[int]]:
    left, clusters, first = list(order), [], order[0]
    while len(left) >= k:
        first = max(left, key=lambda record: loss(records, [record, first]))
        members = [first]
        take(first, left)
        while len(members) < k:
            best = min(left, key=lambda record: loss(records, [*members, record]) - loss(records, members))
            members.append(best)
            take(best, left)
        clusters.append(members)
    return join_the_rest(records, left, clusters)


def k_nearest(records: Domain, k: int, order: list[int]) -> list[set[int]]:
    left, clusters = list(order), []
    while len(left) >= k:
        members = sorted(left, key=lambda record: loss(records, [record, left[0]]))[:k]
        clusters.append(members)
        for record in sorted(members, key=left.index, reverse=True):
            take(record, left)
    return join_the_rest(records, left, clusters)


def one_pass(records: Domain, k: int, order: list[int]) -> list[set[int]]:
    clusters = [[record] for record in order[: len(order) // k]]

    def apart(record: int, members: list[int]) -> float:
        centre = records.numbers[members].mean(axis=0)
        together = records.nodes[[*members, record]]
        differ = (together != together[0]).any(axis=0)
        return float(np.abs(records.numbers[record] - centre).sum() + differ @ records.weights)

    def nearest(record: int, among: list[list[int]], of: dict[int, list[int]]) -> list[int]:
        return min(among, key=lambda members: apart(record, of[id(members)]))

    for record in order[len(clusters) :]:
        nearest(record, clusters, {id(members): members for members in clusters}).append(record)
    freed = set()
    for members in clusters:
        centre = list(members)
        outermost = sorted(members, key=lambda record: (-apart(record, centre), order.index(record)))
        for record in outermost[: max(0, len(members) - k)]:
            members.remove(record)
            freed.add(record)
    centres = {id(members): list(members) for members in clusters}
    for record in sorted(freed, key=order.index):
        small = [members for members in clusters if len(members) < k]
        nearest(record, small or clusters, centres).append(record)
    return [set(members) for members in clusters]


def bottom_up(records: Domain, k: int, order: list[int]) -> list[set[int]]:
    clusters: list[list[int]] = [[record] for record in order]

    def more(one: list[int], other: list[int]) -> float:
        return loss(records, one + other) - loss(records, other)

    while min(map(len, clusters)) < k:
        at = 0
        while at < len(clusters):
            if len(clusters[at]) >= k:
                at += 1
                continue
            costs = [np.inf if i == at else more(clusters[at], other) for i, other in enumerate(clusters)]
            partner = int(np.argmin(costs))
            keep, gone = min(at, partner), max(at, partner)
            both = clusters[keep] + clusters[gone]
            clusters[gone] = clusters[-1]
            clusters.pop()
            if len(both) >= 2 * k:
                left, one = list(both), []
                best = max(left, key=lambda record: loss(records, [record, both[0]]))
                while True:
                    one.append(best)
                    take(best, left)
                    if len(one) == k:
                        break
                    best = min(left, key=lambda record: loss(records, [*one, record]) - loss(records, one))
                clusters.append(one[::-1])
                both = left
            clusters[keep] = both
            at += partner > at
    return [set(members) for members in clusters]


def as_sets(groups: np.ndarray) -> list[set[int]]:
    return [set(np.flatnonzero(groups == group).tolist()) for group in range(groups.max() + 1)]


def order_of(n: int, seed: int) -> list[int]:
    """The order in which the methods see the records of a case."""
    return [int(record) for record in np.random.default_rng(seed).permutation(n)]
