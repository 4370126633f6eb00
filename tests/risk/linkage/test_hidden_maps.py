"""Hidden maps: found where nothing says which map holds for whom, and learned from few people of each."""

import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Variable, Variables
from sluice.risk.linkage.hidden_maps import HiddenMaps
from sluice.risk.linkage.mapped_columns import MappedColumns

PEOPLE, NAMES = 600, list("abcdef")
ROWS = np.arange(PEOPLE)
LEARNING, JUDGED = ROWS[::2], ROWS[1::2]
RNG = np.random.default_rng(8)
VALUES = RNG.normal(size=(PEOPLE, 3)) @ RNG.normal(size=(3, 6)) + 0.5 * RNG.normal(size=(PEOPLE, 6))
NUMBERS: Variables = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in NAMES}


def turned(parts: np.ndarray, noise: float = 0.0) -> np.ndarray:
    made = VALUES.copy()
    for part in np.unique(parts):
        turn = np.linalg.qr(np.random.default_rng(part).normal(size=(6, 6)))[0]
        made[parts == part] = VALUES[parts == part] @ turn
    return made + noise * np.random.default_rng(3).normal(size=made.shape)


def columns_of(masked: np.ndarray) -> MappedColumns:
    before, after = (pd.DataFrame(each, columns=NAMES) for each in (VALUES, masked))
    return MappedColumns.of(before, after, NUMBERS, NUMBERS)


@pytest.mark.parametrize(("maps", "noise", "least"), [(2, 0.0, 0.95), (4, 0.0, 0.95), (3, 0.05, 0.6)])
def test_people_are_found_whose_map_was_drawn_in_secret(maps: int, noise: float, least: float) -> None:
    columns = columns_of(turned(np.random.default_rng(5).integers(0, maps, PEOPLE), noise))
    learned = HiddenMaps.learn(columns, "values", LEARNING, maps, starts=2)
    assert learned is not None
    candidates = learned.candidates(JUDGED, ROWS, 5)
    assert candidates.found.mean() > least
    assert not (candidates.rows == JUDGED[:, None]).any()  # others' alone
    one = HiddenMaps.learn(columns, "values", LEARNING, 1)
    assert one is not None
    assert one.candidates(JUDGED, ROWS, 5).found.mean() < least / 2
    fewer = HiddenMaps.learn(columns, "values", LEARNING[::2], learned)
    assert fewer is not None
    assert fewer.maps.shape == learned.maps.shape
    assert fewer.candidates(JUDGED, ROWS, 5).found.mean() > least - 0.1


def test_more_maps_than_people_could_tell_are_not_learned() -> None:
    assert HiddenMaps.learn(columns_of(VALUES), "values", LEARNING[:50], 8) is None


def test_what_does_not_vary_has_no_maps() -> None:
    assert HiddenMaps.learn(columns_of(np.ones_like(VALUES)), "values", LEARNING, 2) is None


def test_records_of_others_are_nobodys() -> None:
    learned = HiddenMaps.learn(columns_of(np.random.default_rng(1).permutation(VALUES)), "values", LEARNING, 4)
    assert learned is not None
    assert learned.candidates(JUDGED, ROWS, 5).found.mean() < 0.02
