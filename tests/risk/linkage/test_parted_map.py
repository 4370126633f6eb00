"""Maps of parts: found by categories, runs of rows and bands of numbers, and learned from few people of each."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Variable, Variables
from sluice.risk.linkage.mapped_columns import MappedColumns
from sluice.risk.linkage.parted_map import PartedMap, likeliest_parts
from sluice.risk.linkage.parts_of_files import found_parts, told_parts

PEOPLE, NAMES, ROWS = 1_000, list("abcdef"), np.arange(1_000)
RNG = np.random.default_rng(8)
VALUES = RNG.normal(size=(PEOPLE, 3)) @ RNG.normal(size=(3, 6)) + 0.5 * RNG.normal(size=(PEOPLE, 6))
FRAME = pd.DataFrame(VALUES, columns=NAMES)
NUMBERS: Variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in NAMES}
LEARNING, JUDGED = ROWS[::2], ROWS[1::2]
REGION = np.random.default_rng(2).integers(0, 10, PEOPLE)
REGIONS = {"region": Variable(name="region", kind=Kind.NOMINAL, categories=tuple("0123456789"))}


def turned(parts: np.ndarray) -> pd.DataFrame:
    made = VALUES.copy()
    for part in np.unique(parts):
        turn = np.linalg.qr(np.random.default_rng(part).normal(size=(6, 6)))[0]
        made[parts == part] = VALUES[parts == part] @ turn
    return pd.DataFrame(made, columns=NAMES)


def learned(columns: MappedColumns) -> PartedMap | None:
    parts = likeliest_parts(columns, "values", LEARNING, PEOPLE)
    return None if parts is None else PartedMap.learn(columns, "values", LEARNING, parts)


UNEVEN = np.searchsorted([130, 210, 330, 420, 560, 640, 770, 880], ROWS, "right")
BANDS = (FRAME["c"].rank(pct=True).to_numpy() * 7.99).astype(int)


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (ROWS // 100, "runs of 100 rows"),
        (ROWS % 9, "every 9 rows"),
        (UNEVEN, "runs of rows that maps end at"),
        (BANDS, "bands of c"),
    ],
    ids=["runs", "remainders", "uneven runs", "bands"],
)
def test_each_part_has_a_map(parts: np.ndarray, name: str) -> None:
    of_parts = learned(MappedColumns.of(FRAME, turned(parts), NUMBERS, NUMBERS))
    assert of_parts is not None
    assert of_parts.parts.name == name
    candidates = of_parts.candidates(JUDGED, ROWS, 5)
    assert candidates.found.mean() > 0.95
    assert not (candidates.rows == JUDGED[:, None]).any()  # others' alone
    some = np.union1d(JUDGED[:50], ROWS[::3])
    assert of_parts.candidates(JUDGED[:50], some, 5).found.mean() > 0.95


@pytest.mark.parametrize("released", [True, False], ids=["released", "removed"])
def test_a_category_that_is_known_tells_the_part(released: bool) -> None:
    labels = pd.Series(REGION.astype(str)).astype(pd.CategoricalDtype(list("0123456789")))
    frame = FRAME.assign(region=labels)
    masked = turned(REGION).assign(region=labels) if released else turned(REGION)
    columns = MappedColumns.of(frame, masked, NUMBERS | REGIONS, NUMBERS | (REGIONS if released else {}))
    of_parts = learned(columns)
    assert of_parts is not None
    assert of_parts.parts.name == "region"
    assert of_parts.candidates(JUDGED, ROWS, 5).found.mean() > 0.95
    partly = columns.knowing(NAMES[:3])
    assert partly.kept_back == ()  # whoever knows some of what is released knows nothing else


def test_codes_that_are_shifted_in_each_run_are_shifted_back() -> None:
    codes = np.random.default_rng(5).integers(0, 5, (PEOPLE, 6))
    shifts = np.random.default_rng(6).integers(0, 5, (5, 6))[ROWS // 200]
    variables = {name: Variable(name=name, kind=Kind.NOMINAL, categories=tuple("pqrst")) for name in NAMES}
    before, after = (
        pd.DataFrame(np.array([*"pqrst"], object)[each], columns=NAMES).astype(pd.CategoricalDtype(list("pqrst")))
        for each in (codes, (codes + shifts) % 5)
    )
    of_parts = learned(MappedColumns.of(before, after, variables, variables))
    assert of_parts is not None
    assert of_parts.candidates(JUDGED, ROWS, 5).found.mean() > 0.9


def test_equal_records_share_what_they_find() -> None:
    twice = pd.concat([FRAME[:500], FRAME[:500]], ignore_index=True)
    (halves,) = (each for each in told_parts((), (), PEOPLE) if each.name == "2 runs of rows")
    of_parts = PartedMap.learn(MappedColumns.of(twice, twice, NUMBERS, NUMBERS), "values", ROWS, halves)
    assert of_parts is not None
    candidates = of_parts.candidates(ROWS[:40], ROWS, 1)
    assert candidates.ties.tolist() == [1] * 40
    assert candidates.found.tolist() == [0.5] * 40


def noise(values: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(values + np.random.default_rng(3).standard_t(3, size=values.shape), columns=NAMES)


@pytest.mark.parametrize("make", [lambda: noise(VALUES), lambda: noise(np.zeros((PEOPLE, 6)))], ids=["noise", "others"])
def test_one_map_has_no_parts(make: Callable[[], pd.DataFrame]) -> None:
    columns = MappedColumns.of(FRAME, make(), NUMBERS, NUMBERS)
    assert likeliest_parts(columns, "values", LEARNING, PEOPLE) is None

    def values(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return VALUES[rows], make().to_numpy()[rows]

    assert list(found_parts(columns.known, values, LEARNING, PEOPLE)) == []


def test_what_does_not_vary_has_no_parts() -> None:
    still = MappedColumns.of(FRAME, pd.DataFrame(np.ones((PEOPLE, 6)), columns=NAMES), NUMBERS, NUMBERS)
    assert likeliest_parts(still, "values", LEARNING, PEOPLE) is None
