"""Whose records a class has, and which values people have in it, at every node: as counted from the records."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sluice.generalization.lattice.node import bottom
from tests.generalization.small_files import tables


@given(tables(), st.integers(1, 40), st.integers(0, 10**6))
def test_people_are_counted_as_in_the_records(table: tuple, several: int, seed: int) -> None:
    keys, codes, sensitive = table
    rng = np.random.default_rng(seed)
    people = rng.integers(0, 1 + len(codes[0]) // several, len(codes[0]))
    base, member = bottom(keys, codes, sensitive, None, people)
    for levels in product(*(range(key.depth + 1) for key in keys)):
        node, into = base.at(levels)
        held = into[member]
        classes = range(len(node.sizes))
        chosen = rng.random(len(classes)) < 0.5
        assert node.members.tolist() == [len({*people[held == one]}) for one in classes]
        assert node.members_of(chosen) == len({*people[chosen[held]]})
        for name, values in sensitive.items():
            found, there = node.class_values(name, chosen), values >= 0
            pairs = {(one, value): {*people[(held == one) & (values == value)]} for one in classes for value in values}
            having = {pair: len(who) for pair, who in sorted(pairs.items()) if who and pair[1] >= 0}
            assert dict(zip(zip(found.holder, found.value, strict=True), found.records, strict=True)) == having
            assert found.sizes.tolist() == [len({*people[(held == one) & there]}) for one in classes]
            known = max(len({*people[chosen[held] & there]}), 1)
            shares = [len({*people[chosen[held] & (values == value)]}) / known for value in range(len(found.overall))]
            assert found.overall.tolist() == shares
