"""sluice.generalization.hierarchy_review, and the reader who subtracts what it shows."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from sluice.generalization.builders.number_groups import Intervals
from sluice.generalization.hierarchy_review import Branch, lines_of, outline, parts_in_order, summaries
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Variable

TREE = Hierarchy(rows={"a": ("x", "*"), "b": ("x", "*"), "c": ("y", "*")})


def ages(maximum: int) -> Hierarchy:
    return Intervals(intervals=(5, 10, 20)).build(Variable(name="age", kind=Kind.INTEGER, minimum=0, maximum=maximum))


def leaves(branches: Sequence[Branch]) -> list[Branch]:
    return [leaf for branch in branches for leaf in (leaves(branch.parts) if branch.parts else [branch])]


def test_a_small_tree_is_shown_whole() -> None:
    (root,) = outline(TREE, counts={"a": 105, "b": 4, "c": 19})
    assert (root.name, root.level, root.leaves, root.records, root.more) == ("*", 2, 3, 128, 0)
    assert [(part.name, part.records) for part in root.parts] == [("x", 109), ("y", 19)]
    assert [(leaf.name, leaf.records) for leaf in leaves([root])] == [("a", None), ("b", None), ("c", None)]
    assert lines_of(root) == 3


def test_of_many_parts_the_first_and_the_last_are_shown() -> None:
    (root,) = outline(Hierarchy(rows={str(leaf): ("*",) for leaf in range(1000)}), most=4)
    assert [part if isinstance(part, str) else part.name for part in parts_in_order(root)] == [
        "0",
        "1",
        "2",
        "… 996 more",
        "999",
    ]


@given(st.integers(0, 3000), st.integers(2, 9) | st.none())
def test_what_is_left_out_and_what_is_shown_are_all(maximum: int, most: int | None) -> None:
    def held(branch: Branch, tree: Hierarchy, path: tuple[str, ...]) -> None:
        below = {row[len(row) - 1 - len(path)] for row in rows if row[::-1][: len(path)] == path}
        assert len(branch.parts) + branch.more == (len(below) if branch.level else 0)
        for part in branch.parts:
            held(part, tree, (*path, part.name))

    tree = ages(maximum)
    rows = [(leaf, *groups) for leaf, groups in tree.rows.items()]
    branches = outline(tree, most)
    assert most or sum(map(lines_of, branches)) <= 100
    for branch in branches[:2]:
        held(branch, tree, (branch.name,))


def test_a_reader_who_subtracts_learns_no_rare_count() -> None:
    """She knows how counts are told, and tries all that three leaves may have: where one is rare, several fit."""
    fits: dict[tuple[int | None, ...], list[tuple[int, ...]]] = defaultdict(list)
    for counts in (counts for counts in product(range(13), repeat=3) if sum(counts) <= 12):
        (root,) = outline(TREE, counts=dict(zip("abc", counts, strict=True)), minimum_cell=4)
        fits[tuple(each.records for each in (root, *root.parts, *leaves([root])))].append(counts)
    for found in fits.values():
        for of_leaf in zip(*found, strict=True):
            assert len(set(of_leaf)) > 1 or of_leaf[0] == 0 or of_leaf[0] >= 4
    assert fits[12, 8, 4, 4, 4, 4] == [(4, 4, 4)]  # what is not rare is told


def test_levels_are_summed_up() -> None:
    level = summaries(TREE, {"a": 105, "b": 4, "c": 19})[1]
    assert (level.groups, level.smallest, level.largest, level.below_cell) == (2, 1, 2, 0)
    assert [summary.below_cell for summary in summaries(TREE, {"a": 10})] == [2, 1, 0]
    assert summaries(TREE)[0].below_cell is None
