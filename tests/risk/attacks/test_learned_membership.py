"""Learned membership: a file of other people tells nothing, one that repeats its people does."""

import numpy as np
import pandas as pd

from sluice.ground.errors import DataError
from sluice.risk.attacks.attack_success import Attacked
from sluice.risk.attacks.membership import Membership, learned_membership, membership
from tests.golden import golden
from tests.risk.attacks.people import VARIABLES, people


def attack(released: pd.DataFrame, seed: int = 0) -> Membership:
    rng, files = np.random.default_rng(seed), (people(800, 1), released, people(1_600, 2))
    return learned_membership(Attacked(*files, VARIABLES, list(VARIABLES), 800, rng))


def test_it_sees_what_the_nearest_record_hides() -> None:
    """Labels as they were and numbers of other records: the whole record is near nobody."""
    own, rng = people(800, 1), np.random.default_rng(4)
    torn = own.assign(age=rng.permutation(own["age"]), wage=rng.permutation(own["wage"]))
    learned = attack(torn)
    nearest = membership(Attacked(own, torn, people(800, 2), VARIABLES, list(VARIABLES), 800, np.random.default_rng(0)))
    assert learned.area.value > nearest.area.value + 0.03


def test_too_few_people_teach_nothing() -> None:
    with golden.raises(DataError):
        learned_membership(
            Attacked(
                people(10, 1), people(10, 1), people(50, 2), VARIABLES, list(VARIABLES), 10, np.random.default_rng(0)
            )
        )
