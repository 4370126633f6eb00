"""Learned membership: a file of other people tells nothing, one that repeats its people does."""

import numpy as np
import pandas as pd
import pytest

from sluice.errors import DataError
from sluice.risk.attacks.learned_membership import learned_membership
from sluice.risk.attacks.membership import Membership, membership
from sluice.variables import Kind, Variable
from tests.golden import golden

LABELS = tuple("abcdefgh")
VARIABLES = {
    **{name: Variable(name=name, kind=Kind.NOMINAL, categories=LABELS) for name in ("job", "area", "branch", "origin")},
    "age": Variable(name="age", kind=Kind.CONTINUOUS),
    "wage": Variable(name="wage", kind=Kind.CONTINUOUS),
}


def people(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 4, n)
    frame = {
        name: pd.Categorical.from_codes((kind * 2 + rng.geometric(0.5, n)) % 8, categories=list(LABELS))
        for name in ("job", "area", "branch", "origin")
    }
    return pd.DataFrame({**frame, "age": rng.normal(size=n) + kind, "wage": rng.lognormal(size=n) * (1 + kind)})


def attack(released: pd.DataFrame, seed: int = 0) -> Membership:
    rng = np.random.default_rng(seed)
    return learned_membership(people(800, 1), released, people(1_600, 2), VARIABLES, list(VARIABLES), 800, rng)


def test_a_file_of_other_people_tells_nothing() -> None:
    found = attack(people(800, 3))
    assert found.area.interval is not None
    assert found.area.interval[0] <= 0.5 <= found.area.interval[1]
    assert abs(found.advantage.value) < 0.1


def test_the_original_tells_nearly_all() -> None:
    assert attack(people(800, 1)).area.value > 0.95


def test_it_sees_what_the_nearest_record_hides() -> None:
    """Labels as they were and numbers of other records: the whole record is near nobody."""
    own, rng = people(800, 1), np.random.default_rng(4)
    torn = own.assign(age=rng.permutation(own["age"]), wage=rng.permutation(own["wage"]))
    learned = attack(torn)
    nearest = membership(own, torn, people(800, 2), VARIABLES, list(VARIABLES), 800, np.random.default_rng(0))
    assert learned.area.value > nearest.area.value + 0.03


def test_the_order_of_the_released_records_tells_nothing() -> None:
    own = people(800, 1)
    one, other = attack(own), attack(own.sample(frac=1, random_state=5))
    assert one.area.value == pytest.approx(other.area.value, abs=1e-9)


def test_too_few_people_teach_nothing() -> None:
    with golden.raises(DataError):
        learned_membership(
            people(10, 1), people(10, 1), people(50, 2), VARIABLES, list(VARIABLES), 10, np.random.default_rng(0)
        )
