"""Whose record stands out in a file of which nobody knows whose each record is."""

import numpy as np
import pandas as pd

from sluice.ground.variables import Kind, Variable
from sluice.risk.linkage.matched_people import MatchedPeople, matched_people

RNG = np.random.default_rng(1)
NAMES = [f"v{at}" for at in range(8)]
VARIABLES = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in NAMES}
PEOPLE, OTHERS, MORE = (pd.DataFrame(RNG.normal(size=(n, 8)), columns=NAMES) for n in (600, 300, 600))


def matched(masked: pd.DataFrame, people: pd.DataFrame = PEOPLE, others: pd.DataFrame = OTHERS) -> MatchedPeople | None:
    shuffled = masked.sample(frac=1, random_state=2).reset_index(drop=True)
    units = np.arange(len(people)), np.arange(len(others))
    return matched_people(
        people, people, shuffled, others, VARIABLES, VARIABLES, units, np.random.default_rng(3)
    )  # fmt: skip


def test_people_who_are_in_a_file_of_noise_are_claimed_and_others_are_not() -> None:
    found = matched(PEOPLE + 0.3 * RNG.normal(size=PEOPLE.shape))
    assert found is not None
    assert found.ruler
    assert found.claimed.mean() > 0.4 > 3 * found.without.mean()
    assert sorted(found.people) == list(range(600))
    assert sorted(found.others) == list(range(300))


def test_nobody_is_claimed_in_a_file_of_other_people() -> None:
    found = matched(MORE)
    assert found is not None
    assert (found.ruler, found.claimed.any(), found.without.any()) == ("", False, False)


def test_one_unique_number_beside_others_is_no_record_of_a_person() -> None:
    """What a model draws from its donors; that the number stands there is for other measures to say."""
    found = matched(MORE.assign(v0=PEOPLE["v0"]))
    assert found is not None
    assert not found.claimed.any()


def test_too_few_people_tell_nothing() -> None:
    assert matched(MORE, others=OTHERS.iloc[:19]) is None
