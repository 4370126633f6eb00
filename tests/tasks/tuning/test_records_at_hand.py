"""Parts of the records: whole households, disjoint, drawn from the search's seed, and never too few to be judged."""

import pickle

import pytest

from tasks.tuning.space import SearchSettings
from tests.tasks.tuning.house_of_plans import policy, records


def test_the_parts_are_disjoint_and_whole_households_and_the_same_for_the_same_seed() -> None:
    known = records(1200)
    one, other = known.split(SearchSettings(people=0.5))
    assert other is not None
    assert len(one) + len(other) == len(known)
    assert abs(len(one) - 600) < 10
    assert not {*one.frame["household"]} & {*other.frame["household"]}
    again, _ = records(1200).split(SearchSettings(people=0.5))
    assert again.frame.equals(one.frame)
    another, _ = known.split(SearchSettings(people=0.5, seed=2))
    assert not another.frame.equals(one.frame)


@pytest.mark.parametrize("n", [300, 900])
def test_too_few_records_to_judge_both_parts_are_searched_whole(n: int) -> None:
    one, other = records(n).split(SearchSettings(people=0.5))
    assert (len(one), other) == (n, None)


def test_no_more_records_are_searched_than_settings_and_policy_ask_for() -> None:
    one, other = records(1200).split(SearchSettings(people=0.9, most_records=550))
    assert other is not None
    assert 540 <= len(one) <= 550


def test_a_holdout_is_set_aside_as_the_policy_asks() -> None:
    import numpy as np

    content = policy().model_dump(mode="json")["reference_standard"] | {
        "reference": "holdout", "holdout_share": 0.3
    }  # fmt: skip
    known = records(600, policy(reference_standard=content))
    original, holdout = known.with_holdout(np.random.default_rng(1))
    assert holdout is not None
    assert len(original) + len(holdout) == 600
    assert not {*original["household"]} & {*holdout["household"]}


def test_another_process_gets_the_same_records_and_rules() -> None:
    known = records(300)
    there = pickle.loads(pickle.dumps(known))
    assert there.frame.equals(known.frame)
    assert there.contract == known.contract
    assert there.policy == known.policy
