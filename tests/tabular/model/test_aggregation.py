"""The cells of records, beside an adding-up in plain Python of every cell on its own."""

from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.errors import DataError
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.column_values import halves_to_even
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.model.records import records_of
from sluice.tabular.rules.p_percent import PPercent
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


@settings(max_examples=80, deadline=None)
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


@settings(max_examples=40, deadline=None)
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


@settings(max_examples=40, deadline=None)
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
    rule = PPercent(10)

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
    assert PPercent(10).protection(cells.contributions)[0] == sensitivity * 10**cells.decimals


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


def test_negative_contributions() -> None:
    given = frame(a=["x", "x", "y", "y"], value=[-30, 10, 5, 5], id=["one", "two", "one", "three"])
    with pytest.raises(DataError, match=r"'value' is negative in 1 records.*negative: absolute") as refusal:
        records_of(given, [FLAT], Measure("value", "id"))
    assert "30" not in str(refusal.value)
    cells = records_of(given, [FLAT], Measure("value", "id", negative="absolute")).cells([FLAT])
    assert cells.total.tolist() == [-10, -20, 10]
    assert cells.contributions.total.tolist() == [40, 40, 10]  # of 'one' 25 in all, of 'two' 10, of 'three' 5
    assert cells.largest[0, :3].tolist() == [25, 10, 5]
    assert cells.largest[1, :2].tolist() == [30, 10]


def test_missing_and_zero_values() -> None:
    given = frame(a=["x", "x", "y"], value=["0", "", "7"], id=["one", "two", "three"])
    with pytest.raises(DataError, match="'value' is missing in 1 records"):
        records_of(given, [FLAT], Measure("value", "id"))
    made = records_of(given, [FLAT], Measure("value", "id", missing="leave_out"))
    cells = made.cells([FLAT])
    assert made.left_out == 1
    assert len(cells) == 3  # the total, x and y; z is empty
    assert cells.contributors.tolist() == [2, 1, 1]  # who contributes 0 counts
    with pytest.raises(DataError, match="there is no record"):
        records_of(given.assign(value=""), [FLAT], Measure("value", "id", missing="leave_out"))


def test_decimals() -> None:
    given = frame(a=["x", "x", "y"], value=["0.1", "2.675", "7"], id=["one", "two", "three"])
    assert records_of(given, [FLAT], Measure("value", "id")).value.tolist() == [100, 2675, 7000]
    rounded = records_of(given, [FLAT], Measure("value", "id", decimals=2))
    assert rounded.value.tolist() == [10, 268, 700]  # exactly half: to the even one, which binary numbers miss
    assert rounded.decimals == 2
    as_numbers = given.assign(value=[0.1, 2.675, 7])
    assert records_of(as_numbers, [FLAT], Measure("value", "id", decimals=2)).value.tolist() == [10, 268, 700]
    fine = given.assign(value=["0.1234567", "1", "1"])
    with pytest.raises(DataError, match="'value' has more than 6 decimals; say how many"):
        records_of(fine, [FLAT], Measure("value", "id"))
    assert records_of(fine, [FLAT], Measure("value", "id", decimals=6)).value[0] == 123457
    with pytest.raises(DataError, match="'value' is too large"):
        records_of(given.assign(value=["1e16", "1", "1"]), [FLAT], Measure("value", "id"))


@settings(max_examples=100, deadline=None)
@given(st.integers(-(10**6), 10**6), st.sampled_from([1, 2, 10, 1000]))
def test_halves_go_to_the_even_one(numerator: int, denominator: int) -> None:
    assert halves_to_even(np.array([numerator]), denominator)[0] == round(Fraction(numerator, denominator))


def test_counts() -> None:
    given = frame(a=["x", "x", "y"], id=["one", "one", "two"])
    alone = records_of(given, [FLAT], Measure()).cells([FLAT])
    assert (alone.total.tolist(), alone.contributors.tolist()) == ([3, 2, 1], [3, 2, 1])
    by_id = records_of(given, [FLAT], Measure(contributor="id")).cells([FLAT])
    assert (by_id.total.tolist(), by_id.contributors.tolist()) == ([3, 2, 1], [2, 1, 1])
    assert by_id.largest[0].tolist() == [2, 1, 0, 0, 0]


def test_holdings() -> None:
    """{700, 200 | 60, 40, 10}: safe by record and unsafe by enterprise at p = 10, if 700 and 200 are of one."""
    given = frame(a=["x"] * 5, value=[700, 200, 60, 40, 10], id=list("abcde"), holding=["h", "h", "i", "", "b"])
    rule = PPercent(10)
    by_record = records_of(given, [FLAT], Measure("value", "id")).cells([FLAT])
    by_holding = records_of(given, [FLAT], Measure("value", "id", "holding"))
    cells = by_holding.cells([FLAT])
    assert not rule.sensitive(by_record.contributions)[0]
    assert rule.sensitive(cells.contributions)[0]
    assert cells.contributors[0] == 4  # who belongs to nobody counts alone, and holding 'b' is not contributor 'b'
    assert cells.largest[0].tolist() == [900, 60, 40, 10, 0]
    assert by_holding.added_up == 0  # no contributor twice in a cell
    with pytest.raises(DataError, match="'holding', the holding, is missing in 1 records; name a contributor"):
        records_of(given, [FLAT], Measure("value", holding="holding"))


def test_duplicates() -> None:
    given = frame(a=["x", "x", "y"], value=[1, 2, 4], id=["one", "one", "one"])
    made = records_of(given, [FLAT], Measure("value", "id"))
    assert made.added_up == 1
    assert made.cells([FLAT]).largest[:, 0].tolist() == [7, 3, 4]
    with pytest.raises(DataError, match="1 records are of a 'id' that has another record in the same cell"):
        records_of(given, [FLAT], Measure("value", "id", duplicates="refuse"))


def test_codes_that_are_no_leaves() -> None:
    tree = Dimension.of("a", [("T", ""), ("A", "T"), ("A01", "A"), ("A02", "A"), ("NA", "T")])
    given = frame(a=["A01", "A", "A1", "A1", "", "NA"])
    with pytest.raises(
        DataError,
        match=r"'a' must be a leaf of its hierarchy; it is not in 4 records: 'A' is a group, which others add up to; "
        r"'A1' \(Did you mean 'A01'\?\); no code at all in 1",
    ):
        records_of(given, [tree], Measure())
    numbers = frame(a=[1, 1, 2])
    flat = Dimension.flat("a", ["1", "01", "2"])
    counted = records_of(numbers, [flat], Measure()).cells([flat])
    assert counted.total.tolist() == [3, 2, 1]  # the number 1 is the code '1', not '01'


def test_withheld_margins() -> None:
    tree = Dimension.of("a", [("T", ""), ("A", "T"), ("B", "T"), ("A1", "A"), ("A2", "A")])
    made = records_of(frame(a=["A1", "A2", "B"]), [tree], Measure())

    def shown(withheld: dict[str, list[str | int]]) -> list[str]:
        cells = made.cells([tree], withheld=withheld)
        return [tree.codes[code] for code in cells.codes[cells.published, 0]]

    assert shown({"a": ["A"]}) == ["T", "B", "A1", "A2"]
    assert shown({"a": [0, 2]}) == ["A", "B"]
    for wrong, says in (
        ({"b": ["A"]}, "withheld names the dimension 'b', which there is not"),
        ({"a": ["C"]}, "withheld of 'a' names 'C', which is no code"),
        ({"a": [3]}, "withheld of 'a': its levels go from 0 to 2; got 3"),
    ):
        with pytest.raises(DataError, match=says):
            shown(wrong)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"value": ["1", "x1"]}, "'value' must be a number; it is not in 1 records, first in record 2"),
        ({"value": [1.0, float("inf")]}, "'value' must be finite; it is not in 1 records"),
        ({"value": ["1", "nan"]}, "'value' must be a number"),
        ({"id": ["one", ""]}, "'id', the contributor, is missing in 1 records"),
        ({"id": ["one", None]}, "'id', the contributor, is missing in 1 records"),
        ({"weight": [1, 0.5]}, "'weight', a weight, must be 1 or more.*it is less in 1 records"),
        ({"weight": [1, None]}, "'weight', the weight, is missing in 1 records"),
        ({"weight": ["1.000001", "2"], "value": ["0.5", "1"]}, "weighted, 'value' has 7 decimals; say how many"),
        ({"a": [0.5, 1.0]}, "'a' must be text or whole numbers; got numbers with decimals"),
    ],
)
def test_records_that_cannot_be_added_up(change: dict[str, list[object]], says: str) -> None:
    given = {"a": ["x", "y"], "value": ["1", "2"], "id": ["one", "two"], "weight": ["1", "2"]} | change
    with pytest.raises(DataError, match=says):
        records_of(frame(**given), [FLAT], Measure("value", "id", weight="weight", weight_rule="argus"))


def test_a_measure_that_is_none() -> None:
    for wrong, says in (
        ({"negative": "ignore"}, "negative must be one of refuse, absolute; got 'ignore'"),
        ({"weight": "w"}, "weight 'w' needs a weight_rule"),
        ({"weight_rule": "argus"}, "weight_rule argus needs a weight"),
        ({"duplicates": "refuse"}, "duplicates can only be refused where a contributor is named"),
        ({"decimals": 7}, "decimals must be from 0 to 6; got 7"),
    ):
        with pytest.raises(DataError, match=says):
            Measure(**wrong)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"the records have no column 'valu'. Did you mean 'value'\?"):
        records_of(frame(a=["x"], value=[1]), [FLAT], Measure("valu"))


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
    with pytest.raises(DataError, match="the totals are too large for whole numbers of 64 bits"):
        aggregate([FLAT], np.ones((2048, 1), dtype=np.int32), np.arange(2048), many)
