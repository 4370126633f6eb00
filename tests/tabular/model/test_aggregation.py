"""The cells of records, compared with an adding-up in plain Python of every cell on its own."""

from collections import defaultdict
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.model.numbered_records import records_of
from sluice.tabular.rules.p_percent import PPercent
from tests.golden import golden
from tests.reference_data import reference_path
from tests.tabular.tables import business, dimensions, read_text

FLAT = Dimension.flat("a", ["x", "y", "z"])


def holders(dimension: Dimension) -> dict[int, list[int]]:
    """leaf -> every code that holds it."""
    above: dict[int, set[int]] = {leaf: {leaf} for leaf in range(len(dimension.codes))}
    for _ in dimension.codes:
        for group, parts in dimension.sums:
            for leaf in dimension.leaves.tolist():
                if above[leaf] & set(parts):
                    above[leaf].add(group)
    return {leaf: sorted(above[leaf]) for leaf in dimension.leaves.tolist()}


def plainly(
    made: list[Dimension], leaves: np.ndarray, owner: np.ndarray, value: np.ndarray
) -> dict[tuple[int, ...], dict[int, int]]:
    """cell -> contributor -> its sum."""
    above = [holders(dimension) for dimension in made]
    cells: dict[tuple[int, ...], dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for codes, who, what in zip(leaves.tolist(), owner.tolist(), value.tolist(), strict=True):
        for cell in product(*(above[axis][code] for axis, code in enumerate(codes))):
            cells[cell][who] += what
    return cells


def as_dict(cells: Cells) -> dict[tuple[int, ...], tuple[int, int, list[tuple[int, int]]]]:
    return {
        tuple(codes): (total, count, [(s, o) for s, o in zip(largest, owners, strict=True) if o >= 0])
        for codes, total, count, largest, owners in zip(
            cells.codes.tolist(),
            cells.total.tolist(),
            cells.contributors.tolist(),
            cells.largest.tolist(),
            cells.owners.tolist(),
            strict=True,
        )
    }


@st.composite
def records(draw: st.DrawFn) -> tuple[list[Dimension], np.ndarray, np.ndarray, np.ndarray]:
    made = [draw(dimensions(name)) for name in "abc"[: draw(st.integers(1, 3))]]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(1, 50))
    leaves = np.column_stack([rng.choice(d.leaves, count) for d in made]).astype(np.int32)
    most = draw(st.sampled_from([2, 9, 1000]))  # few different values make ties
    owners = rng.integers(0, draw(st.sampled_from([3, count, 4 * count])), count)
    return made, leaves, owners, rng.integers(0, most, count)


@given(records(), st.integers(1, 4))
def test_every_cell_is_the_sum_of_its_records(
    given_: tuple[list[Dimension], np.ndarray, np.ndarray, np.ndarray], kept: int
) -> None:
    made, leaves, owner, value = given_
    cells = aggregate(made, leaves, owner, value, kept)
    expected = {
        cell: (
            sum(whose.values()),
            len(whose),
            [(size, who) for who, size in sorted(whose.items(), key=lambda item: (-item[1], item[0]))[:kept]],
        )
        for cell, whose in plainly(made, leaves, owner, value).items()
    }
    assert as_dict(cells) == expected
    assert cells.sizes is None
    assert not (cells.equations @ cells.total).any()


@given(records(), st.randoms(use_true_random=False))
def test_linked_tables_are_parts_of_the_whole(
    given_: tuple[list[Dimension], np.ndarray, np.ndarray, np.ndarray], random: "np.random.Generator"
) -> None:
    made, leaves, owner, value = given_
    whole = as_dict(aggregate(made, leaves, owner, value))
    names = [dimension.name for dimension in made]
    tables = [[name for name in names if random.random() < 0.6] or names[:1] for _ in range(2)]
    linked = as_dict(aggregate(made, leaves, owner, value, tables=tables))
    wanted = {
        cell
        for cell in whole
        if any(all(code == 0 or name in table for name, code in zip(names, cell, strict=True)) for table in tables)
    }
    assert linked == {cell: whole[cell] for cell in wanted}


@given(records(), st.data())
def test_weighted_contributions_count_as_many_of_their_size(
    given_: tuple[list[Dimension], np.ndarray, np.ndarray, np.ndarray], data: st.DataObject
) -> None:
    """tau-ARGUS's rule, whole weights: the same as to write each record so many times, of contributors of their own."""
    made, leaves, _, value = given_
    count = len(value)
    weight = np.array(data.draw(st.lists(st.integers(1, 4), min_size=count, max_size=count)))
    ours = aggregate(made, leaves, np.arange(count), value, weighted=value * weight, weight=weight)
    copies = np.repeat(np.arange(count), weight)
    theirs = aggregate(made, leaves[copies], np.arange(len(copies)), value[copies])
    for attribute in ("codes", "total", "contributors", "largest"):
        assert np.array_equal(getattr(ours, attribute), getattr(theirs, attribute)), attribute
    named = [[owner for owner in row if owner >= 0] for row in ours.owners.tolist()]
    assert all(len(row) == len(set(row)) for row in named)


def frame(**columns: list[object]) -> pd.DataFrame:
    return pd.DataFrame(columns)


def test_weights_of_the_example() -> None:
    """shared by tau-ARGUS's manual: {100 weight 4, 10 weight 7} at p = 10, unsafe unweighted, safe weighted."""
    given = frame(a=["x", "x"], value=[100, 10], weight=[4, 7], id=["one", "two"])
    rule = PPercent(p=10)

    def sensitive(measure: Measure) -> bool:
        cells = records_of(given, [FLAT], measure).cells([FLAT])
        return bool(rule.sensitive(cells.contributions)[0])

    assert sensitive(Measure("value", "id"))
    argus = Measure("value", "id", weight="weight", weight_rule="argus")
    assert not sensitive(argus)
    cells = records_of(given, [FLAT], argus).cells([FLAT])
    assert cells.total[0] == 470
    assert cells.contributors[0] == 11
    assert cells.largest[0].tolist() == [100, 100, 100, 100, 10]
    assert cells.owners[0].tolist() == [0, -1, -1, -1, 1]
    assert [each[0].tolist() for each in cells.own_parts] == [2, [400, 70, 0, 0, 0], [0, 1, -1, -1, -1]]
    # gconfid 2.0.4, s_rule "pq 0.10", weight_prot_level EXACT: sensitivity 40 = 10 % of 400.
    exact = Measure("value", "id", weight="weight", weight_rule="gconfid_exact")
    assert sensitive(exact)
    assert rule.protection(records_of(given, [FLAT], exact).cells([FLAT]).contributions)[0] == 40


@pytest.mark.parametrize(
    ("values", "weights", "sensitivity"),
    [
        ([1000, 60, 7], [1.5, 1, 1], 143),
        ([1000, 60, 7], [2.99, 1, 1], 292),
        ([1000, 60, 7], [1, 3, 1], 93),
        ([1000, 60, 7], [1, 1, 4], 72),
        ([100], [4], 40),
    ],
)
def test_exact_weights_as_gconfid(values: list[int], weights: list[float], sensitivity: int) -> None:
    """What gconfid 2.0.4 answers to weight_prot_level EXACT and "pq 0.10": the level that the cell falls short by."""
    given = frame(a=["x"] * len(values), value=values, weight=weights, id=list(map(str, range(len(values)))))
    measure = Measure("value", "id", weight="weight", weight_rule="gconfid_exact")
    cells = records_of(given, [FLAT], measure).cells([FLAT])
    assert PPercent(p=10).protection(cells.contributions)[0] == sensitivity * 10**cells.decimals


def test_weights_with_fractions() -> None:
    given = frame(a=["x", "x"], value=[100, 50], weight=["1.6", "1.5"], id=["one", "two"])
    measure = Measure("value", "id", weight="weight", weight_rule="argus")
    cells = records_of(given, [FLAT], measure).cells([FLAT])
    assert cells.decimals == 1
    assert cells.total[0] == 2350  # 100 * 1.6 + 50 * 1.5
    assert cells.contributors[0] == 3  # 3.1
    assert cells.largest[0].tolist() == [1000, 800, 500, 50, 0]  # then .6 of 100 and .4 of 50; 50; .1 of 50
    assert cells.owners[0].tolist() == [0, 1, -1, -1, -1]
    rounded = records_of(given, [FLAT], Measure("value", "id", weight="weight", weight_rule="argus", decimals=0))
    assert rounded.weighted is not None
    assert rounded.weighted.tolist() == [160, 75]


def test_several_records_count_with_the_smallest_weight() -> None:
    given = frame(a=["x", "x"], value=[100, 10], weight=[1, 7], id=["one", "one"])
    measure = Measure("value", "id", weight="weight", weight_rule="argus")
    cells = records_of(given, [FLAT], measure).cells([FLAT])
    assert (cells.total[0], cells.contributors[0], cells.largest[0, 0]) == (170, 1, 110)


def test_withheld_margins() -> None:
    tree = Dimension.of("a", [("T", ""), ("A", "T"), ("B", "T"), ("A1", "A"), ("A2", "A")])
    made = records_of(frame(a=["A1", "A2", "B"]), [tree], Measure())

    def visible(withheld: dict[str, list[str | int]]) -> list[str]:
        cells = made.cells([tree], withheld=withheld)
        return [tree.codes[code] for code in cells.codes[cells.published, 0]]

    assert visible({"a": ["A"]}) == ["T", "B", "A1", "A2"]
    assert visible({"a": [0, 2]}) == ["A", "B"]
    for wrong in ({"b": ["A"]}, {"a": ["C"]}, {"a": [3]}):
        with golden.raises(DataError):
            visible(wrong)


@pytest.mark.parametrize("name", ["s1k", "s10k"])
def test_the_cells_of_the_generated_business_data(name: str) -> None:
    """cells_reference.csv.gz, computed without this project: contributors, total and the two largest of every cell."""
    cells = business(name)
    reference = read_text(reference_path("business_generated", name, "cells_reference.csv.gz"))
    codes = pd.DataFrame(
        {d.name: np.array(d.codes, dtype=object)[cells.codes[:, axis]] for axis, d in enumerate(cells.dimensions)}
    )
    ours = codes.assign(n=cells.contributors, X=cells.total, x1=cells.largest[:, 0], x2=cells.largest[:, 1])
    joined = ours.merge(reference, on=["nace", "region", "size"], how="outer", suffixes=("", "_theirs"), validate="1:1")
    assert len(joined) == len(ours) == len(reference)
    for column in ("n", "X", "x1", "x2"):
        assert (joined[column] == joined[f"{column}_theirs"].astype(float)).all(), column


def test_totals_that_are_too_large() -> None:
    many = np.full(2048, 2**52)
    with golden.raises(DataError):
        aggregate([FLAT], np.ones((2048, 1), dtype=np.int32), np.arange(2048), many)
