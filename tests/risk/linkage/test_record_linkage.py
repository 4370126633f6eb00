"""Distance-based record linkage. Torra's counts are in tests/published/test_torra_ipso.py and test_torra_linkage.py."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from sluice.ground.errors import DataError
from sluice.ground.variables import Kind
from sluice.risk.linkage.record_linkage import comparison_space, linkage_coordinates, linkage_scenarios, record_linkage
from sluice.risk.spread import spread
from tests.golden import golden

DISTANCES = (
    "robust",
    "each_standardised",
    "jointly_standardised",
    "mahalanobis_of_pairs",
    "mahalanobis",
    "kernel",
    "euclidean",
    "manhattan",
)


def pairs(seed, n=120, d=3, grid=None, noise=0.4):
    """A file and a noisy copy; on a grid of whole numbers many records tie."""
    rng = np.random.default_rng(seed)
    original = rng.normal(size=(n, d))
    released = original + noise * rng.normal(size=(n, d))
    if grid:
        original, released = np.rint(original * grid), np.rint(released * grid)
    return original, released


def linked_plainly(original, released, metric="sqeuclidean"):
    """Records as near as the own one, from the whole matrix of distances."""
    distances = cdist(original, released, metric)
    own = np.diag(distances)[:, None]
    as_near = (distances <= own * (1 + 1e-9) + 1e-15).sum(axis=1)
    return np.where((distances < own * (1 - 1e-9)).any(axis=1), 0, as_near)


def test_worked_by_hand():
    # The first lies nearest to its own, the second as near to its own as to the third's, the third nearer to the first.
    original, released = np.array([[0.0], [5.0], [1.0]]), np.array([[0.1], [4.0], [6.0]])
    links = record_linkage(original, released, "euclidean")
    assert links.as_near.tolist() == [1, 2, 0]
    assert links.correct().tolist() == [1, 0.5, 0]
    assert links.correct("first").tolist() == [1, 1, 0]
    assert links.correct("hit").tolist() == [1, 1, 0]
    last = record_linkage(original[::-1], released[::-1], "euclidean")  # now the tie's other record stands first
    assert last.correct("first").tolist() == [0, 0, 1]


@given(
    st.integers(0, 2**32), st.integers(2, 90), st.sampled_from([1, 2, 5, 12]), st.sampled_from([None, 1, 3]),
    st.sampled_from(["euclidean", "manhattan"]),
)  # fmt: skip
def test_both_roads_agree_with_the_whole_matrix(seed, n, d, grid, distance):
    original, released = pairs(seed, n, d, grid)
    metric = "sqeuclidean" if distance == "euclidean" else "cityblock"
    np.testing.assert_array_equal(
        record_linkage(original, released, distance).as_near, linked_plainly(original, released, metric)
    )


@given(st.integers(0, 2**32), st.sampled_from(DISTANCES), st.sampled_from([None, 2]))
def test_another_order_of_the_rows_and_a_part_of_them_change_nothing(seed, distance, grid):
    original, released = pairs(seed, grid=grid)
    links = record_linkage(original, released, distance)
    order = np.random.default_rng(seed).permutation(len(original))
    np.testing.assert_array_equal(
        record_linkage(original[order], released[order], distance).as_near, links.as_near[order]
    )
    part = record_linkage(original, released, distance, rows=order[:17])
    np.testing.assert_array_equal(part.as_near, links.as_near[order[:17]])
    np.testing.assert_array_equal(part.is_first, links.is_first[order[:17]])


@given(st.integers(0, 2**32), st.sampled_from(DISTANCES[:4]), st.floats(0.01, 100))
def test_the_scale_of_a_variable_does_not_matter(seed, distance, factor):
    original, released = pairs(seed)
    links = record_linkage(original, released, distance)
    scaled = np.array([factor, 1.0, -1.0])
    np.testing.assert_array_equal(
        record_linkage(original * scaled + 3, released * scaled + 3, distance).as_near, links.as_near
    )


def test_distances_against_scipy():
    original, released = pairs(5)
    pooled = np.cov(original.T, bias=True) + np.cov(released.T, bias=True)
    of_pairs = np.cov((original - released).T, bias=True)
    z = [(side - side.mean(axis=0)) / side.std(axis=0) for side in (original, released)]
    middled = [side - np.median(side, axis=0) for side in (original, released)]
    own = [(1 + (side**2).sum(axis=1)) ** 2 for side in z]
    expected = {
        "mahalanobis": cdist(original, released, "mahalanobis", VI=np.linalg.inv(pooled)) ** 2,
        "mahalanobis_of_pairs": cdist(original, released, "mahalanobis", VI=np.linalg.inv(of_pairs)) ** 2,
        "jointly_standardised": cdist(original, released, "seuclidean", V=original.var(axis=0) + released.var(axis=0))
        ** 2,
        "kernel": own[0][:, None] - 2 * (1 + z[0] @ z[1].T) ** 2 + own[1][None],
        "each_standardised": cdist(*z, "sqeuclidean"),
        "robust": cdist(*(side / [spread(column) for column in side.T] for side in middled), "sqeuclidean"),
    }
    for distance, matrix in expected.items():
        np.testing.assert_allclose(
            cdist(*comparison_space(original, released, distance), "sqeuclidean"), matrix, rtol=1e-8, atol=1e-9
        )


@pytest.mark.parametrize("distance", DISTANCES)
def test_copies_constants_and_one_record(distance):
    original, _ = pairs(8)
    assert record_linkage(original, original, distance).as_near.tolist() == [1] * len(original)
    alike = np.ones((9, 2))
    assert record_linkage(alike, alike, distance).correct().tolist() == [1 / 9] * 9
    assert record_linkage(original[:1], original[:1], distance).as_near.tolist() == [1]
    mixed = np.column_stack([original, np.ones(len(original))])  # a constant column tells nothing
    assert record_linkage(mixed, mixed, distance).correct().sum() == len(original)


def test_what_was_not_masked_gives_every_record_away():
    original, released = pairs(9)
    released[:, 1] = original[:, 1]
    assert record_linkage(original, released, "mahalanobis_of_pairs").correct().mean() == 1


def test_thousands_of_equal_records_are_counted_at_once():
    original = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 20_000, axis=0)
    links = record_linkage(original, original, "euclidean")
    assert set(links.as_near.tolist()) == {20_000}
    assert np.flatnonzero(links.is_first).tolist() == [0, 20_000, 40_000]


def test_neighbouring_numbers_cannot_be_parted():
    close = np.nextafter(1.0, 2.0)
    values = np.array([[1.0], [close]] * 40)
    assert set(record_linkage(values, values, "euclidean").as_near.tolist()) == {40}


def test_a_tree_that_cannot_be_balanced():
    # Most records stand at the largest value, and each cut takes off few of the others.
    one = -(2.0 ** -np.arange(900.0))
    original = np.vstack(
        [np.column_stack([one, np.zeros(900)]), np.column_stack([np.zeros(900), one]), np.zeros((2000, 2))]
    )
    as_near = record_linkage(original, original, "manhattan").as_near
    values, times = np.unique(as_near, return_counts=True)
    assert dict(zip(values.tolist(), times.tolist(), strict=True)) == {1: 1800, 2000: 2000}


def test_an_intruder_who_knows_more_variables():
    original, released = pairs(3)
    known = [(original[:, [j]], released[:, [j]]) for j in range(3)]
    scenarios = linkage_scenarios(known, "euclidean")
    assert len(scenarios) == 3
    np.testing.assert_array_equal(
        scenarios[1].as_near, record_linkage(original[:, :2], released[:, :2], "euclidean").as_near
    )


def test_coordinates_of_each_kind():
    area = pd.Series(pd.Categorical(["a", "b", None, "a"], categories=["a", "b", "c"]))
    a, b = (points[:] for points in linkage_coordinates(area, area, Kind.NOMINAL))
    np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(cdist(a, a)[0], [0, 1, 1, 0])  # missing is a category; two categories are 1 apart
    size = pd.Series(pd.Categorical(["s", "l", "m"], categories=["s", "m", "l"], ordered=True))
    assert linkage_coordinates(size, size, Kind.ORDINAL)[0][:].tolist() == [[0], [2], [1]]
    day = pd.Series(pd.to_datetime(["2020-01-01", "2020-01-03"])).astype("datetime64[us]")
    assert np.diff(linkage_coordinates(day, day, Kind.DATE)[0][:][:, 0]).tolist() == [2]
    age = pd.Series([10, None, 30], dtype="Int64")
    assert linkage_coordinates(age, age, Kind.INTEGER)[0][:].tolist() == [[10, 0], [20, 1], [30, 0]]


def test_suppressed_values_lie_in_the_middle_of_all():
    original, released = pd.Series([40.0, 20.0, 60.0]), pd.Series([np.nan, 20.0, 60.0])
    assert linkage_coordinates(original, released, Kind.CONTINUOUS)[1][:].tolist() == [[40], [20], [60]]
    half = pd.Series([np.nan, 20.0, 60.0, 40.0])  # one missing, and one more in the release
    more = pd.Series([np.nan, np.nan, 60.0, 40.0])
    b = linkage_coordinates(half, more, Kind.CONTINUOUS)[1][:]
    np.testing.assert_allclose(b[0], [40, 0.5 * 1 + 0.5 * 0.25])
    np.testing.assert_array_equal(b[0], b[1])


@pytest.mark.parametrize("categories", [1, 4])  # coordinates for the tree, and for the search in many dimensions
def test_large_files_are_linked_part_by_part_to_the_same_result(categories, monkeypatch):
    rng = np.random.default_rng(8)
    files = []
    for _ in range(2):  # few values, so that many records are equal
        codes = rng.integers(-1, 3, (categories, 400))
        files.append([pd.Series(pd.Categorical.from_codes(each, ["a", "b", "c"])) for each in codes])
    before, after = files
    after = [old.where(rng.random(400) < 0.8, new) for old, new in zip(before, after, strict=True)]
    income = pd.Series(rng.integers(0, 4, 400).astype(float))
    known = [linkage_coordinates(a, b, Kind.NOMINAL) for a, b in zip(before, after, strict=True)]
    known.append(linkage_coordinates(income, income, Kind.CONTINUOUS))
    rows = np.arange(0, 400, 3)
    whole = linkage_scenarios([(a[:], b[:]) for a, b in known], "robust", rows)
    assert whole[-1].as_near.max() > 1
    monkeypatch.setattr("sluice.risk.linkage.record_linkage.AT_ONCE", 700)
    for by_arrays, by_parts in zip(whole, linkage_scenarios(known, "robust", rows), strict=True):
        np.testing.assert_array_equal(by_parts.as_near, by_arrays.as_near)
        np.testing.assert_array_equal(by_parts.is_first, by_arrays.is_first)


def test_refusals():
    original, released = pairs(1)
    golden.refused(DataError, record_linkage, original, released[:-1])
    golden.refused(DataError, record_linkage, original[:0], released[:0])
    with pytest.raises(DataError, match="finite"):
        record_linkage(np.where(original > 1, np.nan, original), released)
    golden.refused(DataError, record_linkage, np.ones((2, 88)), np.ones((2, 88)), "kernel")
    text = pd.Series(["a", "b"], name="remark")
    with pytest.raises(DataError, match="'remark'"):
        linkage_coordinates(text, text, Kind.TEXT)
    empty = pd.Series([np.nan, np.nan], name="income")
    golden.refused(DataError, linkage_coordinates, empty, empty, Kind.CONTINUOUS)


def test_one_wild_value_hides_nobody() -> None:
    original, released = pairs(5, n=1_000, d=4, noise=0.1)
    original[0, :2] = released[0, :2] = 999_999_999
    assert record_linkage(original, released, "each_standardised").correct().mean() < 0.3  # two variables are blind
    assert record_linkage(original, released).correct().mean() > 0.8
