import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.tabular.model.dimension import Dimension
from tests.golden import golden
from tests.tabular.tables import dimensions

TREE = [("Total", ""), ("A", "Total"), ("B", "Total"), ("A1", "A"), ("A2", "A"), ("B1", "B"), ("B2", "B")]


def test_a_tree() -> None:
    region = Dimension.of("region", TREE)
    assert region.codes[0] == "Total"
    assert [region.codes[leaf] for leaf in region.leaves] == ["A1", "A2", "B1", "B2"]
    assert region.depth.tolist() == region.levels.tolist() == [0, 1, 1, 2, 2, 2, 2]
    assert len(region.columns) == 3
    assert Dimension.of("region", TREE[::-1]).codes[0] == "Total"  # which need not come first
    assert Dimension.flat("size", ["1", "01", "NA"]).codes == ("Total", "1", "01", "NA")  # codes are text


def test_a_grouping_that_is_not_nested_and_an_aggregate_of_its_own() -> None:
    region = Dimension.of("region", TREE, [("coast", ""), ("A1", "coast"), ("B1", "coast")])
    coast = region.position["coast"]
    assert (coast, (region.position["A1"], region.position["B1"])) in region.sums
    assert region.depth[coast] == 0  # its own top
    assert region.levels[coast] == 1  # but not the total
    assert [region.codes[int(column[region.position["A1"]])] for column in region.columns] == [
        "Total",
        "A",
        "coast",
        "A1",
    ]


@given(dimensions("a"))
def test_every_code_stands_in_one_column_and_holds_the_leaves_below_it(dimension: Dimension) -> None:
    below: dict[int, set[int]] = {int(leaf): {int(leaf)} for leaf in dimension.leaves}
    while len(below) < len(dimension.codes):
        for group, parts in dimension.sums:
            if all(part in below for part in parts):
                below[group] = set().union(*(below[part] for part in parts))
    found = {code: [] for code in below}
    for column in dimension.columns:
        for code in set(column[dimension.leaves].tolist()) - {-1}:
            found[code].append({int(leaf) for leaf in dimension.leaves if column[leaf] == code})
    assert found == {code: [leaves] for code, leaves in below.items()}
    assert (dimension.columns[0][dimension.leaves] == 0).all()


@given(dimensions("a"))
def test_parts_lie_below_their_sums(dimension: Dimension) -> None:
    for group, parts in dimension.sums:
        assert (dimension.depth[list(parts)] > dimension.depth[group]).all()
    assert (dimension.levels == 0).sum() == 1


@pytest.mark.parametrize(
    "groupings",
    [
        [[("T", ""), ("A", "B"), ("B", "A")]],
        [[("T", ""), ("A", "T"), ("B", "Toal")]],
        [[("T", ""), ("A", "T"), ("A", "T")]],
        [[("T", ""), ("U", ""), ("A", "T")]],
        [[("T", "")]],
        [[]],
        [[("T", ""), ("", "T")]],
        [TREE, [("coast", ""), ("C1", "coast")]],
        [TREE, [("A", ""), ("A1", "A")]],
        [TREE, [("Total", ""), ("coast", "Total"), ("A1", "coast")]],
    ],
)
def test_a_hierarchy_that_is_none_or_a_grouping_that_does_not_fit_is_refused(
    groupings: list[list[tuple[str, str]]],
) -> None:
    with golden.raises(DataError):
        Dimension.of("nace", *groupings)


@given(st.integers(1, 5))
def test_a_chain_of_only_children(length: int) -> None:
    chain = Dimension.of("a", [("0", ""), *((str(n), str(n - 1)) for n in range(1, length + 1))])
    assert chain.leaves.tolist() == [length]
    assert len(chain.columns) == length + 1
    assert np.array_equal(chain.depth, np.arange(length + 1))


@pytest.mark.parametrize("code", ["A\x1b[31m", "A\nTotal published", "\u202eA", "A\u200b"])
def test_a_code_or_name_that_is_not_what_it_looks_like_is_refused(code: str) -> None:
    with golden.raises(DataError) as refusal:
        Dimension.flat("region", [code, "B"])
    assert str(refusal.value).isprintable()
    with golden.raises(DataError):
        Dimension.flat(code, ["A", "B"])
