"""Microaggregation by MDAV, and by its example what all methods of microaggregation share: variable groups, missing
values, restored variances. Published figures: tests/published/test_xiong_mdav.py.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import PlanError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Variable
from sluice.masking.microaggregation.microaggregation import (
    Microaggregation,
    exchanged_groups,
    generic_groups,
    mdav_groups,
    squared_errors,
)
from sluice.masking.microaggregation.ordered_microaggregation import (
    individual_ranking_groups,
    optimal_groups,
    projected_groups,
)
from sluice.masking.microaggregation.representatives import NUMBER, Scale, standardised
from sluice.risk.transparency.attack import Pairs
from sluice.risk.transparency.bounds import NearestCentre
from tests.golden import golden
from tests.masking.survey import drawn
from tests.red_team.files import CENSUS, census
from tests.reference_data import reference_path


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


SIZES = ("none", "small", "medium", "large")
VARIABLES = {
    "income": Variable(name="income", kind=Kind.CONTINUOUS, minimum=0, maximum=1e6, unit="EUR", missing_codes=("-9",)),
    "age": Variable(
        name="age", kind=Kind.INTEGER, minimum=0, maximum=120, hierarchy=Hierarchy(rows={"30": ("30-39",)})
    ),
    "size": Variable(name="size", kind=Kind.ORDINAL, categories=SIZES),
    "area": Variable(name="area", kind=Kind.NOMINAL, categories=("north", "south")),
}
ALL = tuple(VARIABLES)


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    return drawn(VARIABLES, n, seed)


@given(n=st.integers(8, 60), k=st.integers(2, 8), seed=st.integers(0, 1000))
def test_a_group_has_the_mean_of_all_or_the_values_of_one(n: int, k: int, seed: int) -> None:
    frame = survey(n, seed)
    means = Microaggregation(columns=ALL, k=k).mask(frame, VARIABLES, generator())
    assert means["income"].mean() == pytest.approx(frame["income"].mean(), rel=1e-12)
    one = Microaggregation(columns=ALL, k=k, representative="random").mask(frame, VARIABLES, generator())
    assert set(one.itertuples(index=False)) <= set(frame.itertuples(index=False))
    for name in ("income", "age"):
        assert means[name].dropna().between(frame[name].min(), frame[name].max()).all()


def test_variable_groups_are_masked_by_themselves() -> None:
    frame = survey(60)
    columns = ("income", "age", "size")
    groups = (("age", "income"), ("size",))
    sets = Microaggregation(columns=columns, k=5, variable_groups=groups).mask(frame, VARIABLES, generator())
    alone = Microaggregation(columns=("income", "age"), k=5).mask(frame, VARIABLES, generator())
    assert sets["income"].to_list() == pytest.approx(alone["income"].to_list())
    assert sets.groupby("size", observed=True).size().min() >= 5
    singly = Microaggregation(columns=columns, k=5, variable_groups="one_at_a_time")
    masked = singly.mask(frame, VARIABLES, generator())
    for name in columns:
        assert masked.groupby(name, observed=True).size().min() >= 5
    assert masked.groupby(list(columns), observed=True).size().min() < 5
    groups_of_age = mdav_groups(frame[["age"]].to_numpy(dtype=float), 5)
    assert masked["age"].to_list() == pytest.approx(frame.groupby(groups_of_age)["age"].transform("mean").to_list())


def test_a_random_member_gives_all_columns_of_its_set() -> None:
    frame = survey(60)
    step = Microaggregation(columns=ALL, k=5, variable_groups=(ALL[:2], ALL[2:]), representative="random")
    masked = step.mask(frame, VARIABLES, generator())
    for names in (ALL[:2], ALL[2:]):
        originals = set(frame[list(names)].itertuples(index=False))
        assert set(masked[list(names)].itertuples(index=False)) <= originals


def test_released_descriptions() -> None:
    released = Microaggregation(columns=("income", "age"), k=3).released(VARIABLES)
    assert released["income"].maximum == 1e6
    assert released["income"].unit == "EUR"
    assert released["income"].missing_codes == ()
    assert (released["age"].minimum, released["age"].hierarchy) == (0, None)
    restored = Microaggregation(columns=("income",), k=3, restore_variance=True).released(VARIABLES)
    assert (restored["income"].minimum, restored["income"].maximum) == (None, None)
    assert restored["age"] is VARIABLES["age"]


@pytest.mark.parametrize("representative", ["mean", "median", "mode", "random"])
def test_restored_means_and_variances_are_the_originals(representative: str) -> None:
    frame = survey(100).assign(constant=1.5)
    frame.iloc[:10, 0] = np.nan
    variables = {**VARIABLES, "constant": Variable(name="constant", kind=Kind.CONTINUOUS)}
    step = Microaggregation(
        columns=("income", "age", "constant"),
        k=6,
        restore_variance=True,
        representative=representative,
        missing="by_pattern",
    )
    masked = step.mask(frame, variables, generator())
    for name in ("income", "age"):
        assert masked[name].mean() == pytest.approx(frame[name].mean(), rel=1e-12)
        assert masked[name].std() == pytest.approx(frame[name].std(), rel=1e-12)
    assert (masked["constant"] == 1.5).all()


def test_one_group_has_no_variance_to_restore() -> None:
    with golden.raises(PlanError):
        Microaggregation(columns=("income",), k=5, restore_variance=True).mask(survey(9), VARIABLES, generator())


def test_without_standardising_the_largest_scale_decides() -> None:
    frame = pd.DataFrame({"income": [0.0, 1000, 1, 1001], "age": pd.Series([1, 2, 50, 60]).astype("Int64")})
    step = Microaggregation(columns=("income", "age"), k=2, standardise=False)
    assert step.mask(frame, VARIABLES, generator())["income"].to_list() == [0.5, 1000.5, 0.5, 1000.5]


def test_k_of_all_records_gives_one_record() -> None:
    frame = survey(9)
    step = Microaggregation(columns=ALL, k=9, representative="median")
    masked = step.mask(frame, VARIABLES, generator())
    assert len(masked.drop_duplicates()) == 1
    assert masked["income"].iloc[0] == frame["income"].median()
    assert masked["area"].iloc[0] == frame["area"].mode()[0]


# --- MDAV and its blocks --------------------------------------------------------------------------------------

COLUMNS = ("x", "y", "z")
NUMBERS = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in COLUMNS}


def numbers(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.normal(size=(n, 3)) @ rng.normal(size=(3, 3)), columns=list(COLUMNS))


def information_lost(frame: pd.DataFrame, masked: pd.DataFrame) -> float:
    """Sum of squared errors over the total sum of squares, of standardised columns."""
    return float(((frame - masked) ** 2).sum().div(((frame - frame.mean()) ** 2).sum()).mean())


def test_the_step_takes_the_groups_of_standardised_numbers() -> None:
    frame = numbers(60)
    groups = mdav_groups(((frame - frame.mean()) / frame.std()).to_numpy(), 4)
    masked = Microaggregation(columns=COLUMNS, k=4).mask(frame, NUMBERS, np.random.default_rng(0))
    pd.testing.assert_frame_equal(masked, frame.groupby(groups).transform("mean"))


def test_numbers_far_apart_in_scale() -> None:
    frame = pd.DataFrame({"x": [0.0, 1e100, 1.0, 1e100 * (1 + 1e-9)], "y": [1e-200, 3e-200, 2e-200, 4e-200]})
    masked = Microaggregation(columns=("x", "y"), k=2).mask(frame, NUMBERS, np.random.default_rng(0))
    assert masked["x"].to_list() == [0.5, 1e100 * (1 + 5e-10), 0.5, 1e100 * (1 + 5e-10)]
    assert masked["y"].to_list() == pytest.approx([1.5e-200, 3.5e-200, 1.5e-200, 3.5e-200])


def test_blocks_lose_little_and_hold_groups_of_k() -> None:
    frame = numbers(2000)
    exact = Microaggregation(columns=COLUMNS, k=3).mask(frame, NUMBERS, np.random.default_rng(0))
    blocks = Microaggregation(columns=COLUMNS, k=3, block_size=200).mask(frame, NUMBERS, np.random.default_rng(0))
    assert blocks.groupby(list(COLUMNS)).size().min() >= 3
    assert information_lost(frame, exact) < information_lost(frame, blocks) < 1.5 * information_lost(frame, exact)


def test_fewer_records_than_two_blocks_are_grouped_exactly() -> None:
    frame = numbers(99)
    exact = Microaggregation(columns=COLUMNS, k=3).mask(frame, NUMBERS, np.random.default_rng(0))
    blocks = Microaggregation(columns=COLUMNS, k=3, block_size=50).mask(frame, NUMBERS, np.random.default_rng(0))
    pd.testing.assert_frame_equal(exact, blocks)


def test_improved_groups_do_not_depend_on_the_order_of_the_records() -> None:
    frame = pd.DataFrame(np.random.default_rng(5).integers(0, 30, (120, 2)).astype(float), columns=["a", "b"])
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in "ab"}
    step = Microaggregation(columns=("a", "b"), k=4, improve=True)

    def values(of: pd.DataFrame) -> list[list[float]]:
        masked = step.mask(of, variables, np.random.default_rng(0))
        assert masked.index.equals(of.index)
        return sorted(pd.concat([of, masked], axis=1).round(9).to_numpy().tolist())

    assert values(frame) == values(frame.sample(frac=1, random_state=1))


# Group exchange: never worse than what it starts from, and on Census clearly better than MDAV.


def errors(records: np.ndarray, groups: list[list[int]]) -> float:
    """The sum of squared errors, of each group by itself."""
    return sum(float(((records[group] - records[group].mean(axis=0)) ** 2).sum()) for group in groups)


def as_lists(groups: np.ndarray) -> list[list[int]]:
    return [np.flatnonzero(groups == group).tolist() for group in range(groups.max() + 1)]


@given(n=st.integers(2, 120), k=st.integers(2, 6), d=st.integers(1, 4), ties=st.booleans(), seed=st.integers(0, 9999))
def test_groups_keep_k_and_lose_at_most_as_much(n: int, k: int, d: int, ties: bool, seed: int) -> None:
    n = max(n, k)
    rng = np.random.default_rng(seed)
    records = rng.integers(0, 4, (n, d)).astype(float) if ties else rng.lognormal(0, 1, (n, d))
    before = mdav_groups(records, k)
    after = exchanged_groups(records, before, k)
    sizes = np.bincount(after)
    assert k <= sizes.min() <= sizes.max() <= 2 * k - 1
    assert errors(records, as_lists(after)) <= errors(records, as_lists(before)) * (1 + 1e-12)
    assert squared_errors(records, after) == pytest.approx(errors(records, as_lists(after)))
    assert np.array_equal(after, exchanged_groups(records, before, k))


@given(n=st.integers(6, 22), k=st.integers(2, 3), seed=st.integers(0, 9999))
def test_no_move_and_no_swap_is_left_that_gains(n: int, k: int, seed: int) -> None:
    # So few groups that each is a neighbour of all others.
    n = min(n, 9 * k)
    records = np.random.default_rng(seed).normal(size=(n, 2))
    groups = as_lists(exchanged_groups(records, mdav_groups(records, k), k))
    least = errors(records, groups) - 1e-6
    for one, other in combinations(groups, 2):
        rest = [group for group in groups if group is not one and group is not other]
        for x in one:
            for y in other:
                swapped = [[*(set(one) - {x}), y], [*(set(other) - {y}), x]]
                assert errors(records, [*rest, *swapped]) > least - 2e-4 * least
        for giver, taker in ((one, other), (other, one)):
            if len(giver) > k and len(taker) < 2 * k - 1:
                for x in giver:
                    moved = [list(set(giver) - {x}), [*taker, x]]
                    assert errors(records, [*rest, *moved]) > least - 2e-4 * least


def test_by_hand() -> None:
    line = np.array([[0.0], [1], [2], [10], [11], [12]])
    swapped = np.array([0, 0, 1, 0, 1, 1])  # 2 and 10 are in each other's place
    assert sorted(map(tuple, as_lists(exchanged_groups(line, swapped, 3)))) == [(0, 1, 2), (3, 4, 5)]
    pairs = np.array([[0.0], [0.1], [5], [5.1], [9], [9.1], [9.2], [9.3]])  # one group of 4 is parted by a fifth record
    three = np.array([0, 0, 1, 1, 2, 2, 2, 1])
    assert squared_errors(pairs, exchanged_groups(pairs, three, 2)) == pytest.approx(4 * 0.005)
    between = np.array([[0.0], [0.1], [0.2], [4], [6], [10], [10.1], [10.2]])  # the group in the middle is dissolved
    dissolved = exchanged_groups(between, np.array([0, 0, 0, 1, 1, 2, 2, 2]), 2)
    assert squared_errors(between, dissolved) <= squared_errors(between, np.array([0, 0, 0, 1, 1, 2, 2, 2]))


@pytest.mark.parametrize(("k", "mdav", "at_most"), [(3, 5.692, 5.3), (5, 9.088, 8.2), (10, 14.156, 12.4)])
def test_census(reference_data: object, k: int, mdav: float, at_most: float) -> None:
    # 100 SSE / SST, this program's own figures (consistency).
    records = standardised(pd.read_csv(reference_path("casc", "census.csv")).to_numpy(float))
    groups = mdav_groups(records, k)
    total = float((records**2).sum())
    assert 100 * squared_errors(records, groups) / total == pytest.approx(mdav, abs=1e-3)
    assert 100 * squared_errors(records, exchanged_groups(records, groups, k)) / total < at_most


def test_the_intruder_gains_no_more_than_one_in_k(reference_data: object) -> None:
    # Nearer centres find more of their members, up to the one in k that groups of k allow.
    frame, all_variables = census()
    columns = tuple(CENSUS)
    variables = {name: all_variables[name] for name in columns}
    found = []
    for improve in (False, True):
        step = Microaggregation(columns=columns, k=5, improve=improve)
        masked = step.mask(frame[list(columns)], variables, np.random.default_rng(0))
        assert masked.groupby(list(columns)).size().min() >= 5
        rows = np.arange(len(frame))
        pairs = Pairs(frame, variables, frame, masked, step.released(variables), rows, np.random.default_rng(0))
        identified, confident = NearestCentre(columns, 5).play(pairs)
        assert confident.measured.value == 0
        found.append(identified.measured.value)
    assert found[0] < found[1] <= 1 / 5


def test_blocks_are_exchanged_over_their_edges() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 2)), columns=["a", "b"])
    variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in "ab"}
    lost = [
        ((step.mask(frame, variables, np.random.default_rng(0)) - frame) ** 2).to_numpy().sum()
        for step in (
            Microaggregation(columns=("a", "b"), k=3, block_size=20),
            Microaggregation(columns=("a", "b"), k=3, block_size=20, improve=True),
            Microaggregation(columns=("a", "b"), k=3),
        )
    ]
    assert lost[1] < lost[2] < lost[0]


# MDAV-generic, beside the definition written out in plain Python.


SCALES = [NUMBER, *(Scale("ordinal", n) for n in (1, 2, 3, 7)), *(Scale("nominal", n) for n in (1, 2, 5))]


def distance(a: Sequence[float], b: Sequence[float], scales: Sequence[Scale]) -> float:
    """Squared, column by column, as in Xiong (CS573 slides), "MDAV-generic for categorical attributes"."""
    total = 0.0
    for of_a, of_b, scale in zip(a, b, scales, strict=True):
        if scale.kind == "nominal":
            total += 0.0 if of_a == of_b else 1.0
        else:
            apart = (of_a - of_b) / max(1, scale.categories)
            total += apart * apart
    return total


def average(records: list[list[float]], scales: Sequence[Scale]) -> list[float]:
    """Mean, lower median, first mode."""
    result = []
    for scale, values in zip(scales, zip(*records, strict=True), strict=True):
        if scale.kind == "number":
            result.append(math.fsum(values) / len(values))
        elif scale.kind == "ordinal":
            result.append(sorted(values)[(len(values) - 1) // 2])
        else:
            result.append(min(set(values), key=lambda value: (-values.count(value), value)))
    return result


def naive_groups(records: list[list[float]], scales: Sequence[Scale], k: int) -> list[int]:
    groups, left, number = [-1] * len(records), list(range(len(records))), 0
    while len(left) >= 2 * k:
        point = average([records[record] for record in left], scales)
        for _ in range(2 if len(left) >= 3 * k else 1):
            seed = max(left, key=lambda record: (distance(records[record], point, scales), -record))
            point = records[seed]
            others = sorted((r for r in left if r != seed), key=lambda r: (distance(records[r], point, scales), r))
            group = {seed, *others[: k - 1]}
            left = [record for record in left if record not in group]
            for record in group:
                groups[record] = number
            number += 1
    return [number if group < 0 else group for group in groups]


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 120),
    scales=st.lists(st.sampled_from(SCALES), min_size=1, max_size=5),
    k=st.integers(1, 7),
)
def test_groups_are_those_of_the_definition(seed: int, n: int, scales: list[Scale], k: int) -> None:
    rng = np.random.default_rng(seed)
    columns = [
        rng.integers(0, scale.categories, n) if scale.categories else rng.normal(size=n).round(1) for scale in scales
    ]
    records = np.column_stack(columns).astype(float)
    if n < k:
        with pytest.raises(PlanError, match=rf"\b{k}\b.*\b{n}\b"):
            generic_groups(records, scales, k)
        return
    groups = generic_groups(records, scales, k)
    assert groups.tolist() == naive_groups(records.tolist(), scales, k)
    counts = np.bincount(groups)
    assert counts.min() >= k
    assert counts.max() <= 2 * k - 1


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(7, 400), k=st.integers(1, 7), decimals=st.sampled_from([0, 1, 15]))
def test_on_numbers_alone_the_groups_are_those_of_mdav(seed: int, n: int, k: int, decimals: int) -> None:
    records = np.random.default_rng(seed).normal(size=(n, 3)).round(decimals)
    assert generic_groups(records, [NUMBER] * 3, k).tolist() == mdav_groups(records, k).tolist()


def test_the_distances_of_the_slides() -> None:
    """|D| = 4: two categories apart are 2/4, another nominal category is 1, whatever the codes say."""
    four, nominal = Scale("ordinal", 4), Scale("nominal", 9)
    assert distance([3, 0], [1, 0], [four, nominal]) == 0.25
    assert distance([1, 8], [1, 7], [four, nominal]) == 1.0
    # The median position is 0 and the farthest from it 3; its neighbour is position 2, but for the nominal column.
    assert generic_groups(np.array([[0.0], [0], [2], [3]]), [four], 2).tolist() == [1, 1, 0, 0]
    records = np.array([[0.0, 5], [0, 4], [2, 4], [3, 5]])
    for second in (NUMBER, nominal):
        assert generic_groups(records, [four, second], 2).tolist() == [0, 1, 1, 0]


# What holds for every way to part records into groups: of one, of all, and of equal records.


MIXED = [NUMBER, Scale("nominal", 11)]
PARTITIONS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "mdav": mdav_groups,
    "mdav_generic": lambda records, k: generic_groups(records, MIXED, k),
    "optimal": lambda records, k: optimal_groups(records[:, 0], k),
    "individual_ranking": lambda records, k: individual_ranking_groups(records[:, 0], k),
    "first_principal_component": partial(projected_groups, projection="first_principal_component"),
    "sum_of_z_scores": partial(projected_groups, projection="sum_of_z_scores"),
}


@pytest.mark.parametrize("name", PARTITIONS)
def test_groups_hold_k_to_less_than_twice_k(name: str) -> None:
    groups_of, rng = PARTITIONS[name], np.random.default_rng(1)
    records = np.column_stack([rng.permutation(11), rng.permutation(11)]).astype(float)
    assert sorted(groups_of(records, 1)) == list(range(11))
    assert groups_of(records, 11).tolist() == [0] * 11
    for some in (records, np.full((11, 2), 0.0)):
        for k in (2, 3, 5):
            sizes = np.bincount(groups_of(some, k))
            assert k <= sizes.min() <= sizes.max() <= 2 * k - 1
    if "mdav" in name:
        with golden.raises(PlanError):
            groups_of(records, 12)
