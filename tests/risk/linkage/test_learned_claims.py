"""How sure an intruder may be of a match."""

from dataclasses import replace

import numpy as np
import pytest

from sluice.risk.linkage.learned_linker import Candidates
from sluice.risk.linkage.match_claims import Calibration, claimed_in_learning


def drawn(people: int, too_sure: float, seed: int = 0) -> Candidates:
    """Ten candidates a person; which one is the own is drawn by the probabilities that the scores, cooled, tell."""
    rng = np.random.default_rng(seed)
    scores = 1.5 * rng.normal(size=(people, 10))
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    own = (chances.cumsum(axis=1) > rng.random((people, 1))).argmax(axis=1)
    mine = scores[np.arange(people), own]
    others = np.sort(np.delete(scores, own + 10 * np.arange(people)).reshape(people, 9))[:, ::-1]
    return Candidates(mine * too_sure, np.zeros((people, 9), np.int64), others * too_sure, np.ones(people, np.int64))


@pytest.mark.parametrize("too_sure", [1.0, 3.0, 10.0])
def test_the_temperature_undoes_scores_that_are_too_sure(too_sure):
    candidates = drawn(4000, too_sure)
    calibration = Calibration.learn(candidates)
    assert calibration.temperature == pytest.approx(too_sure, rel=0.1)
    claimed, right = calibration.claims(drawn(4000, too_sure, seed=1))
    assert claimed.mean() > 0.1
    assert 0.55 < right.sum() / claimed.sum() < 0.8  # all above one half; uncalibrated, nearly all would be claimed
    assert not right[~claimed].any()


def test_of_records_alike_none_is_claimed():
    tied = replace(drawn(500, 1.0), own=np.zeros(500), scores=np.zeros((500, 9)), ties=np.full(500, 40))
    claimed, _ = Calibration.learn(tied).claims(tied)
    assert not claimed.any()
    assert tied.found == pytest.approx(1 / 41)


def test_who_is_never_or_always_found_is_claimed_never_or_always():
    candidates = drawn(500, 1.0)
    sure = replace(candidates, own=candidates.scores[:, 0] + 5)
    assert Calibration.learn(sure).claims(sure)[1].all()
    lost = replace(candidates, own=candidates.scores[:, 0] - 5)
    assert not Calibration.learn(lost).claims(lost)[0].any()


def test_a_claim_without_the_own_record_is_never_right():
    candidates = drawn(2000, 1.0)
    calibration = Calibration.learn(candidates)
    claimed, right = calibration.claims(replace(candidates, own=np.full(2000, -np.inf)))
    assert claimed.any()
    assert not right.any()


def distances(own: np.ndarray, others: np.ndarray) -> Candidates:
    """Scores of people by distances: of the own record, and sorted ones of others, shape (q, k)."""
    return Candidates(-(own**2) / 2, np.zeros(others.shape, np.int64), -(others**2) / 2, np.ones(len(own), np.int64))


def few_there(seed: int, people: int = 1_000, share: float = 0.04) -> Candidates:
    """A share has the own record at a tenth of the distance of the nearest other one; of the others it is far off."""
    rng = np.random.default_rng(seed)
    others = np.sort(rng.chisquare(12, (people, 20)) ** 0.5 * rng.uniform(0.5, 2.0, (people, 1)), axis=1)
    own = np.where(np.arange(people) < share * people, others[:, 0] / 10, 20.0)
    return distances(own, others)


def test_a_few_who_stand_out_among_many_who_do_not_are_claimed():
    calibration = Calibration.learn(few_there(1))
    claimed, right = calibration.claims(few_there(2))
    assert right.mean() == pytest.approx(0.04, abs=0.005)
    assert claimed.sum() <= 1.3 * right.sum()
    assert claimed_in_learning(few_there(1), few_there(2)) > 60


def test_where_nobody_stands_out_nobody_is_claimed():
    calibration = Calibration.learn(few_there(1, share=0.0))
    assert (calibration.gain, calibration.claims(few_there(2, share=0.0))[0].sum()) == (0, 0)
    assert claimed_in_learning(few_there(1, share=0.0), few_there(2, share=0.0)) == 0


def test_equal_values_are_claimed_together_or_not_at_all():
    """Of ten people who look the same four are found: whoever claims one claims them all, and errs more often."""
    own, others = np.full(10, 1.0), np.full((10, 2), 2.0)
    own[4:], others[4:, 0], others[4:, 1] = 3.0, 1.0, 2.0
    assert not Calibration.learn(distances(own, others)).claims(distances(own, others))[0].any()
