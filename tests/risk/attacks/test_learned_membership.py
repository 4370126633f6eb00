"""Learned membership: a file of other people tells nothing, one that repeats its people does."""

import numpy as np
import pandas as pd
import pytest

from sluice.ground.arrays import IntArray
from sluice.ground.errors import DataError
from sluice.risk.attacks.attack_success import Attacked
from sluice.risk.attacks.membership import Membership, learned_membership, membership
from tests.golden import golden
from tests.risk.attacks.people import LABELS, VARIABLES, people


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


def households(n: int, seed: int) -> tuple[pd.DataFrame, IntArray]:
    """Of one person and of five, by turns, who are of other jobs."""
    sizes = np.tile([1, 5], n // 6)
    size = np.repeat(sizes, sizes)
    frame = people(len(size), seed)
    jobs = np.where(size == 1, "a", np.where(frame["job"] == "a", "b", frame["job"]))
    return frame.assign(job=pd.Categorical(jobs, categories=list(LABELS))), np.repeat(np.arange(len(sizes)), sizes)


@pytest.mark.parametrize(("released", "least", "most"), [(3, -0.1, 0.05), (1, 0.2, 1.0)])
def test_large_households_are_on_both_sides(released: int, least: float, most: float) -> None:
    """Where others are halved, the size of a household tells nothing of who took part."""
    (members, own), (others, theirs) = households(600, 1), households(1200, 2)
    attacked = Attacked(
        members, households(600, released)[0], others, VARIABLES, list(VARIABLES), 600, np.random.default_rng(0),
        units=(own, theirs + len(own)),
    )  # fmt: skip
    assert least < learned_membership(attacked).advantage.value < most


def test_too_few_people_teach_nothing() -> None:
    with golden.raises(DataError):
        learned_membership(
            Attacked(
                people(10, 1), people(10, 1), people(50, 2), VARIABLES, list(VARIABLES), 10, np.random.default_rng(0)
            )
        )
