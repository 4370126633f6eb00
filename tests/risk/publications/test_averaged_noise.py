"""Noise that is drawn anew in each file is averaged away; noise that stays, and classes, are not."""

from typing import Any

import numpy as np
import pytest

from sluice.risk.publications.averaged_noise import AveragedNoise, averaged_noise
from sluice.risk.publications.publication import SamePeople
from tests.risk.publications.publications import KEYS, people, published, recoded

NOISE = {"method": "additive_noise", "columns": ["income"], "amount": 0.1}


def read(plan: list[dict[str, Any]], files: int, seeds: range | None = None) -> list[AveragedNoise]:
    records = people(3000).drop_duplicates([*KEYS, "town"]).reset_index(drop=True)
    same = SamePeople(np.arange(len(records)), np.arange(len(records)))
    made = [published(records, plan, seed) for seed in (range(files) if seeds is None else seeds)]
    return averaged_noise(made[-1], [(each, same) for each in made[:-1]], KEYS, 1000, np.random.default_rng(0))


def test_five_files_tell_more_than_two_and_two_more_than_one() -> None:
    (two,), (five,) = read([NOISE], 2), read([NOISE], 5)
    assert (two.name, two.files, five.files) == ("income", 2, 5)
    assert 0.03 < two.gain < five.gain
    assert five.interval[0] > 0.1
    # Of normal noise, 0.1 spreads are read by 2 Phi(0.1 / s) - 1 of the people: 25 % and 52 % at s of 0.32 and 0.14.
    assert five.together > 1.7 * five.alone


def test_categories_are_voted_on() -> None:
    (found,) = read([{"method": "pram", "columns": ["town"], "retention": 0.5}], 5)
    assert found.interval[0] > 0.02


def test_the_same_noise_in_all_files_is_no_news() -> None:
    assert read([NOISE], 3, range(7, 8)) == []
    records = people(500)
    same = SamePeople(np.arange(500), np.arange(500))
    one = published(records, [NOISE], 7)
    assert averaged_noise(one, [(one, same)] * 3, KEYS, 100, np.random.default_rng(0)) == []


@pytest.mark.parametrize("step", [NOISE, {"method": "rank_swapping", "columns": ["income"], "window": 0.1}])
def test_in_classes_of_look_alikes_only_their_mean_is_read(step: dict[str, Any]) -> None:
    found = read([recoded(40, 60), {"method": "removal", "columns": ["town"]}, step], 5)
    assert all(each.interval[0] < 0.02 for each in found)
