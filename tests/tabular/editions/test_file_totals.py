"""A file of records beside a table: its sums, and how nearly they tell what the table protects."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.tabular.editions.file_totals import FileComparison, compare_with_file, file_totals
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells, Status
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.sensitivity import requirements_of

AREA = Dimension.of("area", [("T", ""), ("N", "T"), ("S", "T"), ("n1", "N"), ("n2", "N"), ("s1", "S"), ("s2", "S")])
KIND = Dimension.flat("kind", list("abcde"), total="T")
RULES = [MinimumFrequency(n=5)]


def people(records: int = 150, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    area = rng.choice(["n1", "n2", "s1", "s2"], records, p=[0.5, 0.3, 0.15, 0.05])
    return pd.DataFrame({"area": area, "kind": rng.choice(list("abcde"), records, p=[0.5, 0.3, 0.1, 0.07, 0.03])})


def table(frame: pd.DataFrame) -> Cells:
    dimensions = [AREA, KIND]
    leaves = np.column_stack([frame[d.name].map(d.position).to_numpy(np.int32) for d in dimensions])
    return aggregate(dimensions, leaves, np.arange(len(frame)), np.ones(len(frame), dtype=np.int64))


def compared(frame: pd.DataFrame, file: pd.DataFrame, amount: float = 1.0) -> FileComparison:
    """A count table whose cells under 5 are suppressed, and some others, beside a file."""
    cells = table(frame)
    required = requirements_of(RULES, cells.contributions)
    status = np.where(required.sensitive, Status.PRIMARY, Status.PUBLISHED).astype(np.uint8)
    codes = {name: file[name].to_numpy(dtype=object) for name in file}
    return compare_with_file(cells, status, required, False, file_totals(cells, codes, np.full(len(file), amount)))


@given(st.integers(0, 10_000))
def test_sums_of_the_same_records_are_the_table(seed: int) -> None:
    frame = people(40, seed)
    cells = table(frame)
    whole = {name: frame[name].to_numpy(dtype=object) for name in frame}
    assert file_totals(cells, whole, np.ones(40)).tolist() == cells.total.tolist()
    by_area = file_totals(cells, {"area": whole["area"]}, np.ones(40))
    at_total = cells.codes[:, 1] == 0
    assert by_area[at_total].tolist() == cells.total[at_total].tolist()
    assert np.isnan(by_area[~at_total]).all()
    assert np.isnan(file_totals(cells, {}, np.ones(40))).all()


def test_a_file_of_groups_has_the_sums_of_groups_and_what_is_no_code_counts_in_the_total() -> None:
    frame = people()
    cells = table(frame)
    coarse = frame["area"].str[0].str.upper().where(frame.index > 2, "*").to_numpy(dtype=object)
    totals = file_totals(cells, {"area": coarse}, np.ones(len(frame)))
    found = {cells.name(cell): totals[cell] for cell in np.flatnonzero(~np.isnan(totals))}
    assert found["area T, kind T"] == 150
    assert found["area N, kind T"] == frame["area"].str[0].eq("n")[3:].sum()
    assert found["area n1, kind T"] == 0


def test_groups_are_known_by_their_totals_whatever_the_file_calls_them() -> None:
    frame = people()
    named = frame.assign(area=frame["area"].str[0].map({"n": "the north", "s": "the south"}))
    assert compared(frame, named) == compared(frame, frame.assign(area=frame["area"].str[0].str.upper()))


def test_the_records_themselves_tell_every_protected_cell() -> None:
    frame = people()
    found = compared(frame, frame)
    assert found.agreement == 1
    assert found.protected == found.right == found.believed > 5
    assert found.discloses


def test_records_whose_groups_alone_are_published_tell_the_groups_that_are_protected() -> None:
    frame = people()
    found = compared(frame, frame.assign(area=frame["area"].str[0].str.upper()))
    assert 0 < found.believed == found.trusted < found.protected  # groups, and no leaf below
    assert found.discloses


def test_other_people_tell_no_more_than_a_guess() -> None:
    for seed in range(5, 15):
        found = compared(people(), people(seed=seed))
        assert not found.discloses
        assert not found.helps
        assert found.agreement < 0.5


def test_records_that_were_swapped_in_part_are_somebodys_decision() -> None:
    """A fifth of the records have another kind: no sum can be trusted, and many small ones are right."""
    frame = people(600)
    rng = np.random.default_rng(2)
    other = frame["kind"].where(rng.random(600) > 0.05, rng.permutation(frame["kind"]))
    found = compared(frame, frame.assign(kind=other))
    assert found.helps
    assert found.right > found.chance * found.protected


@pytest.mark.parametrize(("distance", "tells"), [(0, True), (9, True), (10, False)])
def test_an_amount_is_known_within_its_protection_level(distance: int, tells: bool) -> None:
    leaves = np.array([[1], [2], [2], [3], [3], [4], [4], [5], [5]], dtype=np.int32)
    cells = aggregate([KIND], leaves, np.arange(9), np.array([100, *[500] * 8]))
    required = requirements_of([MinimumFrequency(n=2)], cells.contributions)
    status = np.where(required.sensitive, Status.PRIMARY, Status.PUBLISHED).astype(np.uint8)
    totals = cells.total + np.where(required.sensitive, distance, 0.0)
    found = compare_with_file(cells, status, required, False, totals)
    assert (found.right, found.discloses) == (int(tells), tells)


def test_where_values_were_changed_every_sensitive_cell_is_protected() -> None:
    frame = people()
    cells = table(frame)
    required = requirements_of(RULES, cells.contributions)
    open_ = np.zeros(len(cells), dtype=np.uint8)
    totals = file_totals(cells, {name: frame[name].to_numpy(dtype=object) for name in frame}, np.ones(len(frame)))
    assert compare_with_file(cells, open_, required, True, totals).right == int(required.sensitive.sum())
    assert compare_with_file(cells, open_, required, False, totals).protected == 0  # published as they are: no secret
