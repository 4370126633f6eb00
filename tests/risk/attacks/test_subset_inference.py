"""Subset inference: against brute force, and on files that do and do not keep a few variables together."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Variable
from sluice.risk.attacks.attack_success import Attacked
from sluice.risk.attacks.subset_inference import NearValues, SubsetInference, subset_inference
from sluice.risk.attacks.subset_inference_kernel import read_by_all, read_by_subsets
from tests.golden import golden
from tests.risk.attacks.people import VARIABLES, people

OWN, OTHERS, STRANGERS = people(1_000, 1), people(800, 2), people(1_000, 3)


def attack(
    released: pd.DataFrame, control: pd.DataFrame | None = OTHERS, columns: Sequence[str] = tuple(VARIABLES)
) -> SubsetInference:
    return subset_inference(Attacked(OWN, released, control, VARIABLES, columns, 1_000, np.random.default_rng(0)))


def torn(kept: Sequence[str], share: float = 1.0, noise: float = 0.0) -> pd.DataFrame:
    """The original with all columns but these permuted, of the rest of the people all; rows shuffled."""
    rng, first = np.random.default_rng(4), int(share * len(OWN))
    columns = {}
    for name in OWN:
        values = OWN[name].to_numpy(copy=True)
        if name in kept and VARIABLES[name].kind is Kind.CONTINUOUS:
            values += noise * values.std() * rng.normal(size=len(values))
        moved = slice(first, None) if name in kept else slice(None)
        values[moved] = rng.permutation(values[moved])
        columns[name] = pd.Series(values, dtype=OWN[name].dtype)
    return pd.DataFrame(columns).iloc[rng.permutation(len(OWN))].reset_index(drop=True)


def gain(found: SubsetInference) -> tuple[float, float, float]:
    """The gain and the ends of its interval."""
    measured = found.measurement.beyond_baseline()
    return measured.interval[0], measured.value, measured.interval[1]


@given(seed=st.integers(0, 2**20))
def test_sets_as_by_brute_force(seed: int) -> None:
    """Plain NumPy, set by set: the share of right ones among the records near in it, or in it but for its last ones."""
    rng = np.random.default_rng(seed)
    p, m, q = 4, 30, 8
    codes, equal = rng.integers(0, 6, (p, m)).astype(np.int32), rng.integers(-1, 6, (p, q)).astype(np.int32)
    first = rng.integers(0, 4, (p, q)).astype(np.int32)
    last = (first + rng.integers(-1, 2, (p, q))).astype(np.int32)
    units, own = rng.integers(0, m // 2, m), rng.integers(-1, m // 2, q)
    close = (codes[:, :, None] >= first[:, None]) & (codes[:, :, None] <= last[:, None])
    close |= codes[:, :, None] == equal[:, None]
    summed = read_by_subsets(codes, first, last, equal, units, own)
    for read in range(p):
        for chosen in range(1 << p):
            known = [at for at in range(p) if chosen >> at & 1]
            if read in known:
                continue
            right = []
            for person in range(q):
                for length in range(len(known), -1, -1):
                    near = close[known[:length], :, person].all(axis=0) & (units != own[person])
                    if near.any():
                        break
                right.append(close[read, near, person].mean())
            assert summed[read, chosen] == pytest.approx(sum(right), abs=1e-4)
            alone = (np.ascontiguousarray(each[[*known, read]]) for each in (codes, first, last, equal))
            assert read_by_all(*alone, units, own) == pytest.approx(right)


@pytest.mark.parametrize("control", [OTHERS, None], ids=["control", "leave one out"])
def test_a_file_of_other_people_tells_nothing_and_the_original_all(control: pd.DataFrame | None) -> None:
    low, value, high = gain(attack(STRANGERS, control))
    assert low <= 0.01 and high < 0.06  # noqa: PT018
    assert abs(value) < 0.03
    assert gain(attack(OWN, control))[0] > 0.9


@pytest.mark.parametrize("control", [OTHERS, None], ids=["control", "leave one out"])
def test_what_was_torn_apart_tells_nothing(control: pd.DataFrame | None) -> None:
    low, _, high = gain(attack(torn(()), control))
    assert low <= 0.01
    assert high < 0.06


@pytest.mark.parametrize(
    ("kept", "share", "noise", "least"),
    [
        (("age", "wage"), 1.0, 0.0, 0.9),
        (("job", "area", "branch", "origin"), 1.0, 0.0, 0.05),
        (("job", "area", "branch", "age"), 1.0, 0.0, 0.5),
        (("job", "age", "wage"), 0.3, 0.0, 0.2),
        (("job", "branch", "age", "wage"), 1.0, 0.002, 0.3),
    ],
    ids=["two numbers", "labels alone", "labels and a number", "of some people", "numbers moved by a hair"],
)
@pytest.mark.parametrize("control", [OTHERS, None], ids=["control", "leave one out"])
def test_a_few_variables_kept_together_are_found(
    kept: Sequence[str], share: float, noise: float, least: float, control: pd.DataFrame | None
) -> None:
    found = attack(torn(kept, share, noise), control)
    assert gain(found)[0] > least
    assert all(read in kept for _, read in found.chosen)


def test_a_value_that_leads_to_a_record_of_chance_is_no_gain() -> None:
    """Three labels kept together tell no more than a table of them; each exact wage stands in the file once, on
    anybody's record. Whose wage does not stand there still knows what goes with the other labels."""
    low, _, high = gain(attack(torn(("job", "area", "branch")), columns=("job", "area", "branch", "wage")))
    assert low <= 0.02
    assert high < 0.08


def test_of_many_variables_parts_are_tried_together() -> None:
    """Three of 17 are kept together, wherever they stand."""
    rng = np.random.default_rng(0)
    names, kept = [f"x{at}" for at in range(17)], {"x3", "x11", "x16"}
    variables = {name: Variable(name=name, kind=Kind.INTEGER) for name in names}
    own, others = (pd.DataFrame(rng.integers(0, 20, (300, 17)), columns=names).astype("Int64") for _ in range(2))
    file = own.assign(**{name: rng.permutation(own[name]) for name in names if name not in kept})
    file = file.astype("Int64").sample(frac=1, random_state=1)
    found = subset_inference(Attacked(own, file, others, variables, names, 300, rng))
    assert gain(found)[0] > 0.3
    assert all(kept >= {read} and len(kept & {*known}) == 2 for known, read in found.chosen)


def test_files_of_different_size_are_compared_by_as_many_records() -> None:
    low, value, high = gain(attack(pd.concat([STRANGERS, people(3_000, 5)], ignore_index=True), None))
    assert abs(value) < 0.04
    assert gain(attack(STRANGERS.iloc[:300], None))[1] < 0.04
    assert low <= value <= high


def test_too_little_is_refused() -> None:
    golden.refused(DataError, attack, STRANGERS, columns=("age",))
    golden.refused(DataError, attack, STRANGERS, OTHERS.iloc[:19])
    golden.refused(DataError, attack, STRANGERS.iloc[:0])


# Near values: by rank within the own file, and by equality.


def near(values: NearValues, within: float) -> list[list[int]]:
    """Of each person the records whose value is near."""
    first, last = values.window(within)
    return [
        np.flatnonzero(((values.codes >= a) & (values.codes <= b)) | (values.codes == own)).tolist()
        for a, b, own in zip(first, last, values.equal, strict=True)
    ]


def test_numbers_are_near_by_rank_and_missing_is_near_missing() -> None:
    file, people = np.array([30.0, 10.0, np.nan, 20.0, 40.0]), np.array([20.0, 25.0, np.nan])
    values = NearValues.of(file, people, np.array([10.0, 20.0, 25.0, 40.0]))
    assert near(values, 0.0) == [[3], [], [2]]
    # Ranks of the records' values: 0.625, 0.125, 0.375 and 0.875; of the people's 0.375 and 0.625.
    assert near(values, 0.2) == [[3], [0], [2]]
    assert near(values, 0.3) == [[0, 1, 3], [0, 3, 4], [2]]


@given(seed=st.integers(0, 2**20))
def test_no_change_of_scale_hides_a_number(seed: int) -> None:
    rng = np.random.default_rng(seed)
    people = rng.normal(size=20)
    values, moved = (NearValues.of(file, people, people) for file in (people[::-1], np.exp(people[::-1]) + 3))
    assert near(values, 0.1) == near(moved, 0.1)
    assert all(19 - at in records for at, records in enumerate(near(moved, 0.01)))


def test_labels_are_near_themselves_alone() -> None:
    file, people = np.array(["a", "b", np.nan], object), np.array(["b", "c", np.nan], object)
    values = NearValues.of(file, people, people)
    for within in (0.0, 0.5):
        assert near(values, within) == [[1], [], [2]]


@pytest.mark.parametrize("file", [np.full(3, np.nan), np.array([1.0, 1.0, 1.0])])
def test_a_variable_without_ranks_is_near_where_it_is_equal(file: np.ndarray) -> None:
    values = NearValues.of(file, np.array([1.0, np.nan, 5.0]), np.array([1.0, np.nan, 5.0]))
    held = [0, 1, 2]
    assert near(values, 0.0) == ([[], held, []] if np.isnan(file).all() else [held, [], []])
