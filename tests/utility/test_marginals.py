from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.utility import marginals
from sluice.utility.common_bins import CommonBins, common_bins
from sluice.utility.marginals import MarginalTables, marginal_losses
from tests.golden import golden
from tests.typed_frame import typed_frame


def one(name: str, original: list[int], masked: list[int], spread: np.ndarray) -> CommonBins:
    labels = tuple(str(bin_) for bin_ in range(spread.shape[1]))
    return CommonBins(name, np.array(original, np.int64), np.array(masked, np.int64), spread, labels)


def drawn(seed: int, variables: int, n: int, m: int, bins: int, codes: int) -> list[CommonBins]:
    """Codes of every sort: those that are one bin, and those that stand for several."""
    rng = np.random.default_rng(seed)
    found = []
    for at in range(variables):
        spread = rng.random((codes, bins)) * (rng.random((codes, bins)) < 0.6)
        spread[spread.sum(axis=1) == 0] = np.eye(bins)[0]
        spread[rng.random(codes) < 0.4] = np.eye(bins)[rng.integers(bins)]
        spread /= spread.sum(axis=1, keepdims=True)
        found.append(one(f"v{at}", rng.integers(0, bins, n).tolist(), rng.integers(0, codes, m).tolist(), spread))
    return found


def by_definition(bins: list[CommonBins], v: np.ndarray, w: np.ndarray) -> float:
    """Cell by cell and record by record, as the docstring says it."""
    loss = 0.0
    for cell in product(*(range(each.bins) for each in bins)):
        before, after = v.copy(), w.copy()
        for each, bin_ in zip(bins, cell, strict=True):
            before = before * (each.original == bin_)
            after = after * each.spread[each.masked, bin_]
        loss += abs(before.sum() / v.sum() - after.sum() / w.sum()) / 2
    return loss


def test_worked_by_hand() -> None:
    # Original: (a, x) (a, y) (b, x) (b, y). Masked: both 'ab', x and x, that is (a, x) (b, x) with 1/2 each.
    town = one("town", [0, 0, 1, 1], [0, 0], np.array([[0.5, 0.5, 0.0]]))
    sex = one("sex", [0, 1, 0, 1], [0, 0], np.eye(3))
    found = marginal_losses([town, sex], 2)
    assert found.mean == pytest.approx(0.5)
    alone = marginal_losses([town, sex], 1)
    assert alone.by_variable == pytest.approx({"town": 0.0, "sex": 0.5})
    # The original's third record weighs 5 of 8, the masked second 3 of 4: (b, x) 5/8 against 1/2, y 2/8 against 0
    found = marginal_losses([town, sex], 2, np.array([1.0, 1, 5, 1]), np.array([1.0, 3]))
    assert found.mean == pytest.approx((abs(1 / 8 - 1 / 2) + abs(5 / 8 - 1 / 2) + 2 / 8) / 2)


def test_agrees_with_sdmetrics() -> None:
    """sdmetrics 0.32.0, ContingencySimilarity and TVComplement of the same files: 1 - total variation distance."""
    frames = [
        pd.DataFrame({"town": list("aaabbbbccd") * 3, "sex": list("mf") * 15, "job": list("ppqqqrrrrs") * 3}),
        pd.DataFrame({"town": list("aabbbcccdd") * 2, "sex": list("mmmmmfffff") * 2, "job": list("pqqqrrrsss") * 2}),
    ]
    (original, variables), (masked, released) = (typed_frame(frame) for frame in frames)
    bins = common_bins(original, original, masked, variables, released)
    assert dict(marginal_losses(bins, 2).worst(3)) == pytest.approx(
        {("town", "sex"): 1 - 0.6, ("town", "job"): 1 - 0.8, ("sex", "job"): 1 - 0.7}
    )
    assert marginal_losses(bins, 1).by_variable == pytest.approx({"town": 1 - 0.8, "sex": 0, "job": 1 - 0.8})


def test_agrees_with_pandas_cross_tables() -> None:
    """Independent: normalised cross tables of pandas on a file of labels without recodings."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({name: rng.choice(list("abcd"), 300) for name in ("one", "two", "three")})
    frame.loc[frame["one"] == "a", "two"] = "d"
    original, variables = typed_frame(frame)
    masked = original.sample(frac=0.5, random_state=1)
    bins = common_bins(original, original, masked, variables, variables)
    for names, loss in marginal_losses(bins, 2).worst(3):
        before, after = (pd.crosstab(each[names[0]], each[names[1]], normalize=True) for each in (frame, masked))
        assert loss == pytest.approx(before.sub(after, fill_value=0).abs().to_numpy().sum() / 2)


@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(1, 12), st.integers(1, 12), st.integers(1, 5))
def test_agrees_with_the_definition(seed: int, size: int, n: int, m: int, codes: int) -> None:
    bins = drawn(seed, 3, n, m, 3, codes)
    rng = np.random.default_rng(seed)
    v, w = rng.random(n) + 0.1, rng.random(m) + 0.1
    tables = list(combinations(range(3), size))
    for weights in ((None, None), (v, w)):
        found = marginal_losses(bins, size, *weights)
        uniform = tuple(np.ones(k) if each is None else each for each, k in zip(weights, (n, m), strict=True))
        expected = [by_definition([bins[at] for at in table], *uniform) for table in tables]
        assert found.losses == pytest.approx(np.array(expected), abs=1e-12)
        assert found.tables.tolist() == [list(table) for table in tables]


@given(st.integers(0, 2**32), st.integers(1, 3))
def test_many_codes_are_counted_alike(seed: int, size: int) -> None:
    bins = drawn(seed, 4, 30, 40, 4, 9)
    dense = marginal_losses(bins, size).losses
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marginals, "_MOST_CELLS", 60)  # some tables are dense, some are not
        assert marginal_losses(bins, size).losses == pytest.approx(dense, abs=1e-12)


@given(st.integers(0, 2**32))
def test_a_larger_table_loses_no_less_than_its_margins_and_order_does_not_matter(seed: int) -> None:
    bins = drawn(seed, 3, 30, 20, 4, 6)
    one_, two, three = (marginal_losses(bins, size) for size in (1, 2, 3))
    for table, loss in zip(two.tables, two.losses, strict=True):
        assert loss >= one_.losses[table].max() - 1e-12
        assert three.losses[0] >= loss - 1e-12
    order = np.random.default_rng(seed).permutation(20)
    moved = [CommonBins(b.name, b.original[::-1], b.masked[order], b.spread, b.labels) for b in bins]
    assert marginal_losses(moved, 3).losses == pytest.approx(three.losses, abs=1e-12)


def test_an_unchanged_file_loses_nothing_and_a_removed_variable_all_of_it() -> None:
    original, variables = typed_frame(pd.DataFrame({"town": list("aabb"), "sex": list("mfmf"), "age": [1, 2, 3, 4]}))
    same = common_bins(original, original, original, variables, variables)
    assert marginal_losses(same, 3).losses.tolist() == [0.0]
    kept = original[["town", "sex"]]
    released = {name: variables[name] for name in ("town", "sex")}
    found = marginal_losses(common_bins(original, kept, kept, variables, released), 2)
    assert found.worst(3) == ((("town", "age"), 1.0), (("sex", "age"), 1.0), (("town", "sex"), 0.0))
    assert found.mean == pytest.approx(2 / 3)
    assert found.by_variable == pytest.approx({"town": 0.5, "sex": 0.5, "age": 1.0})
    alone = found.among(list(released))
    assert (alone.mean, alone.of, alone.by_variable["town"]) == (0.0, 1, 0.0)
    assert np.isnan(alone.by_variable["age"])


def test_without_records_weights_or_variables_nothing_is_known() -> None:
    empty = [one(name, [], [], np.eye(2)) for name in "ab"]
    assert np.isnan(marginal_losses(empty, 2).mean)
    full = [one(name, [0, 1], [0, 1], np.eye(2)) for name in "ab"]
    assert np.isnan(marginal_losses(full, 2, None, np.zeros(2)).mean)
    assert np.isnan(marginal_losses(full[:1], 2).mean)
    assert np.isnan(marginal_losses([], 2).mean)
    assert marginal_losses([], 2).worst(5) == ()


@pytest.mark.chain
def test_of_very_many_tables_some_are_drawn_and_the_interval_says_so() -> None:
    bins = drawn(5, 12, 60, 50, 3, 4)
    everything = marginal_losses(bins, 3)
    assert everything.interval is None
    held = 0
    for seed in range(40):
        some = marginal_losses(bins, 3, rng=np.random.default_rng(seed), most=60)
        assert (len(some.losses), some.of, len(np.unique(some.tables, axis=0))) == (60, 220, 60)
        held += some.interval[0] <= everything.mean <= some.interval[1]
    assert held >= 34  # of 40 intervals of 95 %


def test_rows_of_the_original_as_a_file_of_their_own() -> None:
    bins = drawn(1, 3, 30, 20, 4, 6)
    tables = MarginalTables(bins, 2, np.arange(1.0, 31))
    shares = tables.original_shares()
    assert tables.mean_loss_of(np.arange(30), shares) == pytest.approx(0)
    rows = np.array([3, 3, 7])
    alone = [CommonBins(b.name, b.original, b.original[rows], np.eye(b.bins), b.labels) for b in bins]
    expected = marginal_losses(alone, 2, np.arange(1.0, 31), np.array([4.0, 4, 8])).mean
    assert tables.mean_loss_of(rows, shares) == pytest.approx(expected)


def test_refusals() -> None:
    bins = drawn(1, 3, 6, 5, 3, 3)
    golden.refused(DataError, marginal_losses, bins, 0)
    golden.refused(DataError, marginal_losses, [*bins, *drawn(1, 1, 7, 5, 3, 3)], 2)
    golden.refused(DataError, marginal_losses, bins, 2, None, np.ones(4))
    golden.refused(DataError, marginal_losses, bins, 2, np.array([1.0, 1, 1, 1, 1, -1]))
    golden.refused(DataError, marginal_losses, bins, 2, most=2)
