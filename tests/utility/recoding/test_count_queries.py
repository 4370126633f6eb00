import numpy as np
import pandas as pd
import pytest

from sluice.ground.errors import DataError
from sluice.utility.common_bins import CommonBins, common_bins
from sluice.utility.recoding import count_queries
from sluice.utility.recoding.count_queries import query_error
from tests.golden import golden
from tests.typed_frame import typed_frame


def data(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return pd.DataFrame(
        {"town": rng.choice(list("abcd"), n), "x": x, "y": x + rng.normal(size=n), "sex": rng.choice(list("mf"), n)}
    )


def bins_of(
    original: pd.DataFrame, masked: pd.DataFrame, recoded: pd.DataFrame | None = None
) -> tuple[CommonBins, ...]:
    before, variables = typed_frame(original)
    after, released = typed_frame(masked)
    between = before if recoded is None else typed_frame(recoded)[0]
    return common_bins(before, between, after, variables, released)


def test_answers_are_those_of_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Independent: the same ranges counted by pandas; a query of four variables has a step of its own."""
    frame, other = data(300), data(200, 1)
    bins = bins_of(frame, other)
    asked: list[tuple[list[CommonBins], list[np.ndarray]]] = []
    draw = count_queries._range

    def noted(each: CommonBins, rng: np.random.Generator) -> np.ndarray:
        chosen = draw(each, rng)
        asked[-1][0].append(each)
        asked[-1][1].append(chosen)
        if len(asked[-1][0]) == 4:
            asked.append(([], []))
        return chosen

    monkeypatch.setattr(count_queries, "_range", noted)
    asked.append(([], []))
    found = query_error(bins, np.random.default_rng(0), queries=40, dimensions=4)
    errors = []
    for variables, ranges in asked[:40]:
        truth = np.mean(np.logical_and.reduce([r[v.original] == 1 for v, r in zip(variables, ranges, strict=True)]))
        answer = np.mean(
            np.logical_and.reduce([(v.spread @ r)[v.masked] == 1 for v, r in zip(variables, ranges, strict=True)])
        )
        errors.append(abs(answer - truth) / max(truth, 0.001))
    assert found.median == pytest.approx(np.median(errors))
    assert found.mean == pytest.approx(np.mean(errors))
    assert found.interval[0] <= found.median <= found.interval[1]


def test_a_group_is_taken_to_be_even_and_a_removed_variable_answers_nothing() -> None:
    frame = pd.DataFrame({"town": list("aaabbc") * 20})
    recoded = frame.replace({"town": {"a": "ab", "b": "ab"}})
    (town,) = bins_of(frame, recoded, recoded)
    # a is answered 5/12 and b the same; the truth is 1/2 and 1/3
    assert town.spread[0] == pytest.approx([1 / 2, 1 / 2, 0, 0])
    found = query_error([town], np.random.default_rng(0), 100, dimensions=1)
    assert 0 < found.mean < 1
    recoded = frame.assign(town="any")
    assert query_error(bins_of(frame, recoded, recoded), np.random.default_rng(0), 100).median == 1
    both = bins_of(frame.assign(sex=list("mf") * 60), frame)
    assert query_error([both[1]], np.random.default_rng(0), 100).median == 1


def test_weights_count() -> None:
    frame = data(500)
    bins = bins_of(frame, frame)
    weight = np.random.default_rng(1).random(500)
    assert query_error(
        bins, np.random.default_rng(0), 50, original_weight=weight, masked_weight=weight
    ).mean == pytest.approx(0)
    assert query_error(bins, np.random.default_rng(0), 50, original_weight=weight).mean > 0.01


def test_the_interval_holds_the_median_of_many_queries() -> None:
    bins = bins_of(data(400), data(400, 1))
    median = query_error(bins, np.random.default_rng(99), 4_000).median
    held = 0
    for seed in range(40):
        low, high = query_error(bins, np.random.default_rng(seed), 100).interval
        held += low <= median <= high
    assert held >= 34


def test_nothing_to_ask_and_refusals() -> None:
    frame = data(30)
    assert np.isnan(query_error(bins_of(frame, frame.head(0)), np.random.default_rng(0)).median)
    assert np.isnan(query_error([], np.random.default_rng(0)).median)
    bins = bins_of(frame, frame)
    assert np.isnan(query_error(bins, np.random.default_rng(0), masked_weight=np.zeros(30)).median)
    for wrong in ({"queries": 9}, {"dimensions": 0}, {"sanity": 0.0}):
        golden.refused(DataError, query_error, bins, np.random.default_rng(0), **wrong)
