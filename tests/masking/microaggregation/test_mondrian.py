"""Mondrian. Its loss on Adult beside the other methods' is in tests/published/test_xiong_k_member.py."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import PlanError
from sluice.ground.hierarchy import Hierarchy, taxonomy_of
from sluice.ground.variables import Kind, Role, Variable
from sluice.masking.microaggregation.clusters import Domain, domain_of, ends, roundest
from sluice.masking.microaggregation.mondrian import Mondrian, mondrian_regions
from sluice.risk.classes.class_values import class_values
from sluice.risk.classes.equivalence_classes import category_codes, equivalence_classes
from sluice.risk.classes.l_diversity import distinct_values, effective_values
from sluice.risk.classes.t_closeness import equal_distance, ordered_distance
from tests.golden import golden
from tests.masking.survey import drawn

AREAS = Hierarchy(rows={"a": ("ab",), "b": ("ab",), "c": ("cd",), "d": ("cd",), "e": ("e",)})
LEVELS = ("none", "some", "much")
VARIABLES = {
    "income": Variable(name="income", kind=Kind.CONTINUOUS),
    "age": Variable(name="age", kind=Kind.INTEGER),
    "level": Variable(name="level", kind=Kind.ORDINAL, categories=LEVELS),
    "area": Variable(name="area", kind=Kind.NOMINAL, hierarchy=AREAS),
    "illness": Variable(name="illness", kind=Kind.NOMINAL, role=Role.SENSITIVE),
    "debt": Variable(name="debt", kind=Kind.CONTINUOUS, role=Role.SENSITIVE),
}
KEYS = ("income", "age", "level", "area")


def people(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    illness = pd.Categorical(rng.choice(["flu", "gout", "mumps", "none"], n, p=[0.1, 0.2, 0.2, 0.5]))
    frame = drawn(VARIABLES, n, seed).reset_index(drop=True)
    return frame.assign(income=rng.lognormal(3, 1, n).round(2), illness=illness, debt=rng.normal(size=n).round(1))


def plain(table: np.ndarray) -> Domain:
    return domain_of(table, [None] * table.shape[1], [max(float(np.ptp(column)), 1.0) for column in table.T])


def regions_of(table: np.ndarray, k: int, relaxed: bool = False, seed: int = 0) -> np.ndarray:
    return mondrian_regions(plain(table), k, relaxed, np.random.default_rng(seed)).groups


tables = st.tuples(st.integers(2, 80), st.integers(1, 3), st.integers(2, 12), st.integers(2, 6), st.integers(0, 9999))
"""Records, columns, different values, k, seed."""


def test_patients() -> None:
    # LeFevre, DeWitt and Ramakrishnan (2006), section 1: six patients by sex, age and zip code, k = 2. Their
    # multidimensional anonymization has men of 25 and 26, women of 25 and 27, and men of 27 and 28.
    patients = np.array(
        [[0, 25, 53711], [1, 25, 53712], [0, 26, 53711], [0, 27, 53710], [1, 27, 53712], [0, 28, 53711]], dtype=float
    )
    groups = regions_of(patients, 2)
    assert {tuple(np.flatnonzero(groups == group)) for group in range(3)} == {(0, 2), (1, 4), (3, 5)}


@given(tables)
def test_strict_regions_are_apart_hold_k_and_cannot_be_cut(case: tuple[int, int, int, int, int]) -> None:
    n, p, values, k, seed = case
    table = np.random.default_rng(seed).integers(0, values, (n, p)).astype(float)
    if n < k:
        with pytest.raises(PlanError, match=rf"\b{n}\b.*\b{k}\b"):
            regions_of(table, k)
        return
    groups = regions_of(table, k)
    sizes = np.bincount(groups)
    assert sizes.min() >= k
    for group in range(len(sizes)):  # no cut between different values of any column leaves k on both sides
        for column in table[groups == group].T:
            for cut in np.unique(column)[1:]:
                assert min((column < cut).sum(), (column >= cut).sum()) < k
    low, high = ends(table, groups)
    for one, other in combinations(range(len(sizes)), 2):
        assert ((high[one] < low[other]) | (high[other] < low[one])).any()
    _, equal = np.unique(table, axis=0, return_counts=True)
    assert sizes.max() <= 2 * p * (k - 1) + equal.max()


@given(tables)
def test_relaxed_regions_hold_less_than_twice_k(case: tuple[int, int, int, int, int]) -> None:
    n, p, _, k, seed = case
    table = np.random.default_rng(seed).integers(0, 10**6, (n, p)).astype(float)
    table[:, 0] = np.arange(n) // 2  # whatever else is equal, one number can be cut
    if n >= k:
        sizes = np.bincount(regions_of(table, k, relaxed=True, seed=seed))
        assert k <= sizes.min() <= sizes.max() <= max(2 * k - 1, 3)


def test_relaxed_cuts_part_equal_values() -> None:
    table = np.array([[1.0], [2], [2], [2], [2], [2], [2], [3]])
    assert len(np.unique(regions_of(table, 2))) == 1
    assert np.bincount(regions_of(table, 4, relaxed=True)).tolist() == [4, 4]


def test_categories_are_parted_into_children_or_between_them() -> None:
    tree = taxonomy_of(list(AREAS.rows), AREAS)

    def groups(areas: str, k: int) -> list[str]:
        table = np.array([[list(AREAS.rows).index(area)] for area in areas], dtype=float)
        found = mondrian_regions(domain_of(table, [tree], [1.0]), k, False, np.random.default_rng(0)).groups
        return sorted("".join(area for area, g in zip(areas, found, strict=True) if g == group) for group in set(found))

    assert groups("aabbccddee", 2) == ["aa", "bb", "cc", "dd", "ee"]
    assert groups("aabbccddee", 3) == ["aabb", "ccddee"]  # e alone would be too small, and so joins its neighbour
    assert groups("aabbccddee", 4) == ["aabb", "ccddee"]
    assert groups("abcde", 3) == ["abcde"]


@given(
    n=st.integers(30, 150),
    k=st.integers(2, 6),
    seed=st.integers(0, 999),
    limit=st.sampled_from([1.5, 2, 3]),
    kept=st.sampled_from(["distinct", "entropy", "equal", "ordered"]),
)
def test_every_region_is_as_diverse_and_close_as_asked(n: int, k: int, seed: int, limit: float, kept: str) -> None:
    frame, rng = people(n, seed), np.random.default_rng(seed)
    frame.loc[frame.index[::7], "illness"] = np.nan
    options: dict[str, Any] = {
        "distinct": {"sensitive": "illness", "l": limit},
        "entropy": {"sensitive": "illness", "l": limit, "diversity": "entropy"},
        "equal": {"sensitive": "illness", "t": limit / 10},
        "ordered": {"sensitive": "debt", "t": limit / 10},
    }[kept]
    sensitive = frame[options["sensitive"]]
    present = sensitive.notna().to_numpy() | ("t" in options)
    measures = (distinct_values, effective_values, equal_distance, ordered_distance)
    measure = dict(zip(("distinct", "entropy", "equal", "ordered"), measures, strict=True))[kept]

    def figures(classes: np.ndarray) -> np.ndarray:
        return np.asarray(
            measure(class_values(equivalence_classes([classes[present]]), category_codes(sensitive[present])))
        )

    step = Mondrian(columns=KEYS, k=k, **options)
    try:
        result = step.mask(frame, VARIABLES, rng)
    except PlanError:
        assert "l" in options
        assert figures(np.zeros(n, dtype=np.int64)).min() < limit
        return
    regions = equivalence_classes([category_codes(result[name]) for name in KEYS]).labels
    assert np.bincount(regions).min() >= k
    if "l" in options:
        assert figures(regions).min() >= limit - 1e-9
        assert len(np.unique(regions[present])) == len(np.unique(regions))  # none has blanks alone
    else:
        assert figures(regions).max() <= limit / 10 + 1e-9


def test_l_and_t_forbid_cuts_and_no_others() -> None:
    frame = pd.DataFrame({"age": pd.array([20, 21, 30, 31, 40, 41, 50, 51], dtype="Int64")})
    frame["illness"] = pd.Categorical(["flu", "gout"] * 3 + ["flu", "flu"])

    def sizes(**options: Any) -> list[int]:
        step = Mondrian(columns=("age",), k=2, sensitive="illness", **options)
        masked = step.mask(frame, VARIABLES, np.random.default_rng(0))
        return masked.groupby("age").size().tolist()

    assert sizes(l=2) == [2, 2, 4]
    assert sizes(l=1.7, diversity="entropy") == [2, 2, 4]  # exp of the entropy of 3 in 4 is 1.75
    assert sizes(l=1.8, diversity="entropy") == [2, 3, 3]  # 2 in 3 is 1.89
    assert sizes(l=1.9, diversity="entropy") == [8]
    assert sizes(t=0.5) == [2, 2, 2, 2]
    assert sizes(t=0.3) == [2, 2, 4]  # flu is 5 of 8: 2 of 2 are 3 / 8 away, 3 of 4 are 1 / 8


def bounds(text: str) -> tuple[float, float]:
    """The half-open interval that a region's name says."""
    if text == "*":
        return -np.inf, np.inf
    if text.startswith("under "):
        return -np.inf, float(text.removeprefix("under "))
    if text.endswith(" and over"):
        return float(text.removesuffix(" and over")), np.inf
    low, _, high = text.partition(" to ")
    if high.startswith("under "):
        return float(low), float(high.removeprefix("under "))
    return float(low), float(high or low) + 1


@given(n=st.integers(5, 200), k=st.integers(2, 5), seed=st.integers(0, 999))
def test_bounds_of_regions_are_true_and_meet_without_overlap(n: int, k: int, seed: int) -> None:
    frame = people(n, seed)
    step = Mondrian(columns=("income", "age"), k=k, representative="generalised", bounds="region")
    result = step.mask(frame, VARIABLES, np.random.default_rng(seed))
    boxes = [(bounds(a), bounds(b)) for a, b in result[["income", "age"]].drop_duplicates().itertuples(index=False)]
    for names, income, age in zip(result[["income", "age"]].to_numpy(), frame["income"], frame["age"], strict=True):
        for (low, high), value in zip(map(bounds, names), (income, age), strict=True):
            assert low <= value < high
    rng = np.random.default_rng(seed)
    for income, age in zip(rng.uniform(-10, 500, 20), rng.integers(-5, 120, 20), strict=True):
        inside = [a[0] <= income < a[1] and b[0] <= age < b[1] for a, b in boxes]
        assert sum(inside) == 1  # whatever a record is, it lies in one region


def test_bounds_of_regions_tell_no_extremes_and_are_round() -> None:
    frame = pd.DataFrame({"income": [1.17, 1.18, 41.31, 43.7, 58.03, 61.9, 98765.43, 99999.99]})
    step = Mondrian(columns=("income",), k=2, representative="generalised", bounds="region")
    result = step.mask(frame, VARIABLES, np.random.default_rng(0))
    assert result["income"].unique().tolist() == ["under 40", "40 to under 50", "50 to under 90000", "90000 and over"]
    levels = pd.DataFrame({"level": pd.Categorical(["none", "none", "much", "much"], categories=LEVELS, ordered=True)})
    step = Mondrian(columns=("level",), k=2, representative="generalised", bounds="region")
    result = step.mask(levels, VARIABLES, np.random.default_rng(0))
    assert result["level"].tolist() == ["none to some", "none to some", "much", "much"]


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9))
def test_a_cut_parts_the_same_values_and_has_few_digits(below: float, gap: float) -> None:
    above = below + gap
    (cut,) = roundest(np.array([below]), np.array([above]))
    assert below < cut <= above
    digits = f"{cut:.14e}".split("e")[0].replace("-", "").replace(".", "").rstrip("0")
    assert len(digits) <= np.log10(max(abs(above), abs(below)) / gap) + 2


def test_extremes() -> None:
    frame, rng = people(12), np.random.default_rng(0)
    one = Mondrian(columns=KEYS, k=12).mask(frame, VARIABLES, rng)
    assert len(one[list(KEYS)].drop_duplicates()) == 1
    step = Mondrian(columns=KEYS, k=2, representative="generalised", bounds="region")
    alike = step.mask(pd.concat([frame.iloc[:1]] * 6), VARIABLES, rng)
    assert alike.iloc[0][list(KEYS)].tolist() == ["*", "*", "none to much", frame["area"].iloc[0]]
    strict = [step.mask(people(99), VARIABLES, np.random.default_rng(seed)) for seed in (1, 2)]
    pd.testing.assert_frame_equal(*strict)  # nothing is drawn


def test_refusals_on_the_data() -> None:
    few = people(40).assign(illness=pd.Categorical(["flu"] * 5 + ["flu", "gout", "mumps", "none", "none"] * 7))
    few.loc[:4, "age"] = pd.NA
    for frame, options in ((people(40), {"l": 5}), (few, {"l": 2, "missing": "by_pattern"})):
        step = Mondrian.model_validate({"columns": ("age",), "k": 3, "sensitive": "illness", **options})
        with golden.raises(PlanError):
            step.mask(frame, VARIABLES, np.random.default_rng(0))
