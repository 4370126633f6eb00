"""sluice.generalization.hierarchy_review, and the reader who subtracts what it shows."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.generalization.builders.number_groups import Intervals
from sluice.generalization.hierarchy_review import (
    Branch,
    Remark,
    lines_of,
    outline,
    parts_in_order,
    remarks_for,
    remarks_on,
    remarks_with,
    summaries,
)
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Variable
from tests.golden import golden

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


AGE = Variable(name="age", kind=Kind.INTEGER, minimum=0, maximum=99)


def faults(remarks: object) -> list[str]:
    return [remark.says for remark in remarks if remark.fault]  # type: ignore[attr-defined]


def of(*leaves: str) -> Hierarchy:
    return Hierarchy(rows=dict.fromkeys(leaves, ("*",)))


@pytest.mark.parametrize(
    ("hierarchy", "fault"),
    [
        (of("New York", "new  york", "x"), True),
        (of("Zu\u0308rich", "Z\u00fcrich"), True),
        (of("01", "1", "x"), False),
        (of("1", "1.0"), False),
        (Hierarchy(rows={"a": ("b", "*"), "b": ("c", "*"), "d": ("c", "*")}), True),
        (Hierarchy(rows={"a": ("A", "*"), "b": ("B", "*")}), False),
        (Hierarchy(rows={"a": ("x",), "b": ("x",), "c": ("y",)}), False),
    ],
)
def test_what_shows_in_the_hierarchy_alone(hierarchy: Hierarchy, fault: bool) -> None:
    (remark,) = remarks_on(hierarchy)
    assert remark.fault is fault
    golden(remark.says)


def test_sound_hierarchies_have_no_remark() -> None:
    built = Intervals(intervals=(5, 10, 20)).build(AGE)
    assert [*remarks_on(built), *remarks_for(built, AGE), *remarks_with(built, {"5": 3})] == []
    # a code that stays whole beside its own group is no stranger there: K20 lies in K20
    assert list(remarks_on(Hierarchy(rows={"K20": ("K20", "*"), "K201": ("K20", "*"), "A": ("A", "*")}))) == []


@pytest.mark.parametrize(
    ("hierarchy", "variable", "faults"),
    [
        (of("1", "2"), {"kind": "nominal", "categories": ("01", "2", "3")}, [True, False]),
        (of("Male", "f"), {"kind": "binary", "categories": ("male", "f")}, [True, False]),
        (of(*map(str, range(50))), {"kind": "integer", "minimum": 0, "maximum": 99}, [True]),
        (of("a", "b", "c"), {"kind": "nominal", "categories": ("a", "b")}, [False]),
        (
            Hierarchy(rows={"a": ("x", "*"), "b": ("y", "*"), "c": ("x", "*")}),
            {"kind": "ordinal", "categories": ("a", "b", "c")},
            [False],
        ),
        (of("1"), {"kind": "integer"}, [True]),
        (of("1"), {"kind": "nominal"}, [False]),
    ],
)
def test_what_shows_beside_the_contract(hierarchy: Hierarchy, variable: dict[str, object], faults: list[bool]) -> None:
    found = list(remarks_for(hierarchy, Variable.model_validate({"name": "x"} | variable)))
    assert [remark.fault for remark in found] == faults
    golden([remark.says for remark in found])


def test_values_of_the_data_are_counted_and_never_named_unless_declared() -> None:
    (remark,) = remarks_with(of("a", "b"), {"a": 5, "secret": 2, "c": 1}, declared=("a", "b", "c"))
    assert remark == Remark(True, "3 of 8 records lie outside the hierarchy, with 2 different values, among them 'c'")
    (remark,) = remarks_with(of("1", "2"), {"01": 4, "2": 1})
    golden(remark.says)
    (remark,) = remarks_with(of("north"), {"NORTH": 4})
    assert "NORTH" not in remark.says


@given(st.sets(st.text("abc0 ", min_size=1, max_size=3).map(str.strip).filter(bool), min_size=1), st.data())
def test_records_outside_are_those_whose_value_has_no_row(leaves: set[str], data: st.DataObject) -> None:
    counts = data.draw(st.dictionaries(st.text("abcd0", min_size=1, max_size=3), st.integers(1, 9)))
    outside = sum(count for value, count in counts.items() if value not in leaves)
    remarks = list(remarks_with(of(*leaves), counts))
    assert len(remarks) == (outside > 0)
    assert all(remark.says.startswith(f"{outside:,} of {sum(counts.values()):,} records") for remark in remarks)
