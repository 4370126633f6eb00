"""Membership by distance to the closest released record, and the share of records nearer to the original."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.risk.attacks.attack_success import Attacked
from sluice.risk.attacks.membership import advantage, area_under_curve, membership, nearer_share, nearer_to_original
from tests.golden import golden
from tests.typed_frame import typed_frame


def test_hanley_and_mcneil_as_published() -> None:
    """Hanley and McNeil 1982, Table I: 58 normal and 51 abnormal images in five ratings, area .893. The standard error
    is their formula worked by hand: Q1 = .8067, Q2 = .8425, so .0325."""
    normal, abnormal = [33, 6, 6, 11, 2], [3, 2, 2, 11, 33]
    ratings = np.arange(5.0)
    found = area_under_curve(-np.repeat(ratings, abnormal), -np.repeat(ratings, normal))
    assert found.value == pytest.approx(0.893, abs=0.0005)
    assert (found.interval[1] - found.value) / 1.959964 == pytest.approx(0.0325, abs=0.0005)


@given(members=st.lists(st.integers(0, 6), min_size=2, max_size=30), seed=st.integers(0, 2**32))
def test_ties_are_shared_and_sides_change_places(members: list[int], seed: int) -> None:
    near = np.array(members, dtype=float)
    far = np.random.default_rng(seed).integers(0, 7, 20).astype(float)
    area = area_under_curve(near, far)
    plain = ((near[:, None] < far).sum() + (near[:, None] == far).sum() / 2) / (len(near) * len(far))
    assert area.value == pytest.approx(plain)
    assert area_under_curve(far, near).value == pytest.approx(1 - plain)
    gain = advantage(near, far)
    assert -1 <= gain.interval[0] <= gain.value <= gain.interval[1] <= 1
    equal = nearer_share(near, near)
    assert equal.value == 0.5  # a published tool counts every tie for the holdout: 0


def test_the_advantage_is_not_flattered_by_its_own_threshold() -> None:
    """The threshold that is best on the people it is judged on finds one of about .05 where there is none."""
    gains = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        gains.append(advantage(rng.normal(size=300), rng.normal(size=300)))
    values = np.array([gain.value for gain in gains])
    assert abs(values.mean()) < 3 * values.std() / np.sqrt(60)
    held = [gain.interval is not None and gain.interval[0] <= 0 <= gain.interval[1] for gain in gains]
    assert np.mean(held) >= 0.85


def people(n: int, seed: int) -> tuple[pd.DataFrame, dict]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=COLUMNS[:3])
    frame["sex"] = pd.Categorical(rng.choice(["f", "m"], n), categories=["f", "m"])
    return typed_frame(frame)


COLUMNS = ["x0", "x1", "x2", "sex"]
(ORIGINAL, VARIABLES), (CONTROL, _), (STRANGERS, _) = people(400, 1), people(300, 2), people(400, 3)


def test_verbatim_and_strange_files() -> None:
    def told(released: pd.DataFrame) -> tuple[float, float, float]:
        files = (ORIGINAL, released, CONTROL, VARIABLES, COLUMNS, 400)
        found = membership(Attacked(*files, np.random.default_rng(0)))
        nearer = nearer_to_original(Attacked(*files, np.random.default_rng(0)))
        assert (found.area.attempted, found.area.completed, nearer.completed) == (800, 700, 400)
        return found.area.value, found.advantage.value, nearer.value

    area, gain, nearer = told(ORIGINAL)
    assert (area, gain) == (1, 1)
    assert nearer > 0.75  # a quarter of the original is drawn out of sight, to be as many as the control
    area, gain, nearer = told(STRANGERS)
    assert area == pytest.approx(0.5, abs=0.05)
    assert gain == pytest.approx(0, abs=0.1)
    assert nearer == pytest.approx(0.5, abs=0.06)
    copies = told(pd.concat([ORIGINAL.iloc[:1]] * 400))
    assert copies[1] < 0.1  # of one person only


def test_refusals() -> None:
    one = Attacked(ORIGINAL, ORIGINAL, CONTROL.iloc[:1], VARIABLES, COLUMNS, 5, np.random.default_rng(0))
    golden.refused(DataError, membership, one)
    golden.refused(DataError, area_under_curve, np.zeros(0), np.zeros(3))
