"""Who is held out: whole households, about the share asked for, and somebody on either side."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError, ReaderKilledError
from sluice.ground.variables import Kind, Role, Variable
from tasks.failure import StepFailed
from tasks.ingest import ingest
from tasks.release.intake import staging
from tasks.release.intake.staging import choose, forecast, measurements_at_once, within_memory
from tasks.release.products import load_product
from tests.flows.house import House
from tests.golden import golden


@given(st.lists(st.integers(0, 60), min_size=50, max_size=300), st.floats(0.2, 0.49), st.integers(0, 2**32))
def test_no_group_is_on_both_sides_and_the_share_is_never_exceeded(groups: list[int], share: float, seed: int) -> None:
    each = np.array(groups)
    try:
        chosen = choose(each, share, np.random.default_rng(seed))
    except DataError:
        assert np.unique(each, return_counts=True)[1].max() > share * len(each)  # only where a group is larger
        return
    assert not set(each[chosen]) & set(each[~chosen])
    assert 0 < chosen.sum() <= share * len(each)


def test_records_of_their_own_fill_the_share_exactly() -> None:
    chosen = choose(np.arange(1000), 0.3, np.random.default_rng(1))
    assert chosen.sum() == 300


def test_the_order_of_the_records_does_not_matter_to_the_groups_chosen() -> None:
    groups = np.random.default_rng(1).integers(0, 50, 200)
    moved = np.random.default_rng(2).permutation(200)
    first = choose(groups, 0.3, np.random.default_rng(3))
    second = choose(groups[moved], 0.3, np.random.default_rng(3))
    assert set(groups[first]) == set(groups[moved][second])


def test_every_group_is_as_likely_as_any_other() -> None:
    """20 groups of one size, of which 6 fit: each is chosen in 0.3 of 2,000 draws, within four standard errors."""
    groups = np.repeat(np.arange(20), 5)
    rng = np.random.default_rng(7)
    drawn = np.mean([choose(groups, 0.3, rng)[::5] for _ in range(2000)], axis=0)
    assert np.abs(drawn - 0.3).max() < 4 * np.sqrt(0.3 * 0.7 / 2000)


@pytest.mark.parametrize("groups", [np.zeros(100), np.array([1]), np.array([1, 1, 1, 2])], ids=["one", "single", "few"])
def test_a_side_without_anybody_is_refused(groups: np.ndarray) -> None:
    golden.refused(DataError, choose, groups, 0.2, np.random.default_rng(1))


@pytest.mark.parametrize("kills", [0, 1, 2])
def test_a_source_whose_reader_was_killed_is_read_once_more(
    house: House, monkeypatch: pytest.MonkeyPatch, kills: int
) -> None:
    """Others may have needed the memory for a moment; what ends its reader by itself is not read for ever."""
    house.adopt()
    tried: list[int] = []

    def staged(*_: object) -> str:
        tried.append(1)
        if len(tried) <= kills:
            raise ReaderKilledError("the process that read it ended with SIGKILL")
        return "staged"

    monkeypatch.setattr(staging, "_staged", staged)
    monkeypatch.setenv("SLUICE_HOME", str(house.home))
    product = load_product(house.file, house.workspace())
    if kills < 2:
        assert staging.stage(product) == "staged"
    else:
        with pytest.raises(ReaderKilledError):
            staging.stage(product)
    assert len(tried) == min(kills, 1) + 1


# What does not fit into memory is refused with the figures, as soon as enough records came to know it.


GB = 10**9
PLACES = tuple(str(place) for place in range(52))
CENSUS = {  # as many variables of each kind as the measured file has
    **{f"c{i}": Variable(name=f"c{i}", kind=Kind.NOMINAL, categories=PLACES) for i in range(14)},
    **{f"n{i}": Variable(name=f"n{i}", kind=Kind.INTEGER) for i in range(6)},
}


def batches(of: int, size: int, read: list[int]) -> Iterator[pd.DataFrame]:
    for number in range(of):
        read.append(number)
        yield pd.DataFrame({"c0": ["1"] * size})


def machine_with(monkeypatch: pytest.MonkeyPatch, free: float) -> None:
    monkeypatch.setattr("tasks.release.intake.staging.free_memory", lambda: int(free))


@pytest.mark.parametrize(
    ("records", "gigabytes"), [(100_000, 1.04), (400_000, 1.19), (1_000_000, 1.89), (5_000_000, 3.95)]
)
def test_the_forecast_is_no_more_than_was_measured_and_not_much_less(records: int, gigabytes: float) -> None:
    needed = forecast(CENSUS, records) / GB + 0.29  # held before the first record
    assert 0.65 * gigabytes < needed < gigabytes


def test_measurements_are_made_beside_each_other_where_half_of_the_free_memory_has_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of_one = forecast(CENSUS, 1_000_000)
    for free, at_once in ((0.5, 1), (3.9, 1), (4.1, 2), (8.1, 4)):
        machine_with(monkeypatch, free * of_one)
        assert measurements_at_once(CENSUS, 1_000_000) == at_once


def test_coded_categories_take_less_than_numbers_and_numbers_less_than_names() -> None:
    kinds = [
        Variable(name="x", kind=Kind.NOMINAL, categories=PLACES),
        Variable(name="x", kind=Kind.NOMINAL),  # nobody knows yet how many there are
        Variable(name="x", kind=Kind.CONTINUOUS),
        Variable(name="x", kind=Kind.TEXT, role=Role.HOUSEHOLD),
    ]
    needed = [forecast({"x": variable}, 1_000_000) for variable in kinds]
    assert needed == sorted(set(needed))


def test_reading_ends_with_the_batch_that_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    machine_with(monkeypatch, 0.8 * GB)
    read: list[int] = []
    fits = within_memory(batches(100, 200_000, read), CENSUS, 1)
    golden.refused(DataError, list, fits)
    assert read == [0, 1, 2, 3]


def test_what_fits_comes_through_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    machine_with(monkeypatch, 0.9 * GB)
    assert sum(map(len, within_memory(batches(2, 200_000, []), CENSUS, 1))) == 400_000


def test_what_the_contract_promises_is_refused_before_anything_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    machine_with(monkeypatch, 3 * GB)
    read: list[int] = []
    golden.refused(DataError, list, within_memory(batches(1, 1, read), CENSUS, 5_000_000))
    assert not read


def test_a_release_that_does_not_fit_leaves_nothing_behind(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.adopt()
    house.write()
    machine_with(monkeypatch, 0.2 * GB)
    product = load_product(house.file, house.workspace())
    with pytest.raises(StepFailed) as failed:
        ingest(product)
    golden.words(failed.value.detail)
    assert not [entry for entry in product.workspace.ledger.entries() if entry.event == "received"]
    assert not [path for path in (product.workspace.vault.root / "objects").iterdir() if path.suffix == ".parquet"]
