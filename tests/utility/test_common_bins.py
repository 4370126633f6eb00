import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Role, Variable, Variables
from sluice.utility.common_bins import CommonBins, common_bins
from tests.golden import golden
from tests.typed_frame import typed_frame


def released_shares(bins: CommonBins) -> np.ndarray:
    return np.bincount(bins.masked, minlength=bins.codes) @ bins.spread / len(bins.masked)


def of(
    original: pd.DataFrame, recoded: pd.DataFrame, masked: pd.DataFrame, variables: Variables, released: Variables
) -> dict[str, CommonBins]:
    return {each.name: each for each in common_bins(original, recoded, masked, variables, released)}


def test_a_group_stands_for_each_value_that_it_may_be_and_a_removed_variable_for_missing_ones() -> None:
    original, variables = typed_frame(
        pd.DataFrame({"town": [*list("aaabbc"), None], "sex": list("mfmfmfm"), "age": [1, 2, 3, 4, 5, 6, 7]})
    )
    groups = {"a": "ab", "b": "ab", "c": "c"}
    recoded, released = typed_frame(pd.DataFrame({"town": original["town"].astype(object).map(groups)}))
    masked = recoded.copy()
    masked.loc[0, "town"] = np.nan
    found = of(original, recoded, masked, variables, released)
    town = found["town"]
    assert town.labels == ("a", "b", "c", "missing")
    # 4 of 'ab', half of them each; 1 of 'c'; 2 missing, one of them suppressed
    assert released_shares(town) * 7 == pytest.approx([2, 2, 1, 2])
    assert town.likely[town.masked[1]] == pytest.approx([0.6, 0.4, 0, 0])  # there are 3 of a and 2 of b
    assert np.bincount(town.original).tolist() == [3, 2, 1, 1]
    assert released_shares(found["sex"]) == pytest.approx([0, 0, 1])
    assert found["age"].labels[-1] == "missing"
    assert released_shares(found["age"])[-1] == 1


def test_numbers_recoded_to_intervals_lie_in_all_their_bins() -> None:
    original, variables = typed_frame(pd.DataFrame({"age": np.arange(100)}))
    recoded, released = typed_frame(pd.DataFrame({"age": np.where(np.arange(100) < 50, "young", "old")}))
    (age,) = common_bins(original, recoded, recoded, variables, released, most=10)
    assert age.bins == 11
    assert released_shares(age) == pytest.approx([0.1] * 10 + [0])


def test_a_label_that_may_be_anything_is_a_missing_value() -> None:
    original, variables = typed_frame(pd.DataFrame({"town": list("aabb")}))
    masked, released = typed_frame(pd.DataFrame({"town": list("xxab")}))
    nowhere = pd.DataFrame({"town": pd.Series([None] * 4, dtype=masked["town"].dtype)})
    (town,) = common_bins(original, nowhere, masked, variables, released)
    assert released_shares(town) == pytest.approx([0.25, 0.25, 0.5])
    (town,) = common_bins(original, pd.DataFrame({"town": ["*"] * 4}), masked.assign(town="*"), variables, released)
    assert town.is_lost


def test_a_constant_is_lost_unless_a_sample_may_be_so_by_chance() -> None:
    original, variables = typed_frame(pd.DataFrame({"town": ["a"] * 990 + ["b"] * 10}))
    constant, _ = typed_frame(pd.DataFrame({"town": ["a"] * 1000}))
    (town,) = common_bins(original, original, constant, variables, variables)
    assert released_shares(town.lost_if_constant) == pytest.approx([0, 0, 1])
    (town,) = common_bins(original, original, constant[:500], variables, variables)
    assert town.lost_if_constant is town
    assert released_shares(town) == pytest.approx([1, 0, 0])


def test_a_variable_that_the_recoded_file_lacks_was_not_recoded() -> None:
    original, variables = typed_frame(pd.DataFrame({"town": list("aabb")}))
    masked, released = typed_frame(pd.DataFrame({"town": list("aaab")}))
    (town,) = common_bins(original, original[[]], masked, variables, released)
    assert released_shares(town) == pytest.approx([0.75, 0.25, 0])


def test_a_distribution_over_labels_lies_in_their_bins() -> None:
    original, variables = typed_frame(pd.DataFrame({"town": [*list("aabb"), None]}))
    masked, released = typed_frame(pd.DataFrame({"town=a": [0.5, 1.0, 0.5, 0.0], "town=b": [0.5, 0.0, 0.5, np.nan]}))
    (town,) = common_bins(original, original, masked, variables, released)
    assert town.labels == ("a", "b", "missing")
    assert town.codes == 3
    assert released_shares(town) == pytest.approx([0.5, 0.25, 0.25])
    unknown, released = typed_frame(pd.DataFrame({"town=z": [1.0, 1.0], "town=b": [0.0, 1.0]}))
    (town,) = common_bins(original, original, unknown, variables, released)
    assert released_shares(town) == pytest.approx([0, 0.25, 0.75])  # nothing is known of z


def test_rare_categories_share_a_bin() -> None:
    original, variables = typed_frame(pd.DataFrame({"town": list("aaabbbcd")}))
    (town,) = common_bins(original, original, original, variables, variables, most=3)
    assert town.labels == ("a", "all others 1", "all others 2", "missing")
    assert np.bincount(town.original).tolist() == [3, 3, 2]


def test_names_and_texts_are_not_compared() -> None:
    frame = pd.DataFrame({"id": ["1", "2"], "says": ["x", "y"]})
    variables = {
        "id": Variable(name="id", kind=Kind.NOMINAL, role=Role.IDENTIFIER),
        "says": Variable(name="says", kind=Kind.TEXT),
    }
    assert common_bins(frame, frame, frame, variables, variables) == ()


def test_a_recoded_file_of_another_length_is_refused() -> None:
    original, variables = typed_frame(pd.DataFrame({"town": list("aabb")}))
    golden.refused(DataError, common_bins, original, original.iloc[:3], original, variables, variables)


columns = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", None]), st.one_of(st.none(), st.floats(-5, 5))), min_size=1, max_size=30
)


@given(columns, st.integers(2, 6), st.randoms())
def test_an_unchanged_file_in_any_order_has_the_same_shares(
    rows: list, most: int, random: "np.random.Generator"
) -> None:
    frame = pd.DataFrame(
        {
            "town": pd.Categorical([town for town, _ in rows], categories=["a", "b", "c"]),
            "x": np.array([x for _, x in rows], dtype=np.float64),
        }
    )
    variables = {"town": Variable(name="town", kind=Kind.NOMINAL), "x": Variable(name="x", kind=Kind.CONTINUOUS)}
    order = list(range(len(rows)))
    random.shuffle(order)
    for each in common_bins(frame, frame, frame.iloc[order], variables, variables, most):
        assert each.spread.sum(axis=1) == pytest.approx(np.ones(each.codes))
        before = np.bincount(each.original, minlength=each.bins) / len(rows)
        assert released_shares(each) == pytest.approx(before)
        assert each.original.max() < each.bins == len(each.labels)


def test_merging_the_categories_beyond_the_most_frequent_is_seen() -> None:
    """With one bin for all others, merging nine tenths of the records would be no loss."""
    towns = [f"t{place:03d}" for place in range(200)] * 5 + [f"t{place:03d}" for place in range(10)] * 2
    original, variables = typed_frame(pd.DataFrame({"town": towns}))
    merged = pd.DataFrame({"town": [town if int(town[1:]) < 10 else "elsewhere" for town in towns]})
    recoded, released = typed_frame(merged)
    (town,) = common_bins(original, recoded, recoded, variables, released)
    assert town.bins == 21
    before = np.bincount(town.original, minlength=town.bins)
    assert before[10:20].min() > 0.8 * before[10:20].max()  # about equal shares of the rare ones
    behind = town.spread[town.masked[-21]]  # of a record elsewhere
    assert np.count_nonzero(behind) == 10
    assert behind.max() < 0.15
