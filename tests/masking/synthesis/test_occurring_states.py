"""sluice.masking.synthesis.occurring_states, counted by hand."""

import numpy as np

from sluice.masking.synthesis.occurring_states import Beside, States, Together

# 40 children without a job, 60 adults of whom 30 have one; hours are 0 without a job.
AGE = np.r_[np.arange(40) % 15, np.full(30, 25), 40 + np.arange(30) % 10].astype(float)
JOB = np.r_[np.zeros(70), np.ones(30)]
HOURS = np.r_[np.zeros(70), 10.0 + np.arange(30)]


def test_the_states_of_a_number_are_missing_heaps_and_parts_of_the_rest() -> None:
    states = States.of(HOURS, is_category=False)
    assert states.heaps.tolist() == [0.0]
    codes = states.codes(np.array([np.nan, 0.0, 10.0, 39.0]))
    assert codes[0] == 0
    assert codes[1] == 1
    assert 1 < codes[2] < codes[3] < states.count
    assert np.all(np.diff(states.codes(np.sort(HOURS))) >= 0)


def test_the_states_of_a_category_are_missing_and_each_of_them() -> None:
    states = States.of(np.array([2.0, 5.0, 2.0]), is_category=True)
    assert states.codes(np.array([np.nan, 2.0, 5.0])).tolist() == [0, 1, 2]


def test_what_the_original_has_not_together_is_not_allowed() -> None:
    age, job = States.of(AGE, False), States.of(JOB, True)
    now = np.array([5.0, 45.0])  # a child and an adult
    beside = Beside.of(job, JOB, [(age, AGE, now)])
    without, with_job = job.codes(np.array([0.0])), job.codes(np.array([1.0]))
    assert beside.allow(np.repeat(with_job, 2), np.arange(2)).tolist() == [False, True]
    assert beside.allow(without, np.zeros(1, int)).all()
    # Three in ten of a twentieth of the people are few: that none of them has a job may be chance.
    assert beside.allow(np.repeat(with_job, 2), np.arange(2), unless_expected=100.0).all()


def test_what_moves_together_is_asked_of_all_that_moves_beside_what_stays() -> None:
    """Job and hours of somebody else: of two adults each can have those of the other, a child none."""
    job_of_many = np.r_[np.zeros(40), np.arange(60) % 2]
    hours_of_many = job_of_many * 40
    age, job, hours = States.of(AGE, False), States.of(job_of_many, True), States.of(hours_of_many, False)
    now = (np.array([5.0, 25.0, 25.0]), np.array([0.0, 1.0, 0.0]), np.array([0.0, 40.0, 0.0]))
    codes = [job.codes(now[1]), hours.codes(now[2])]
    beside = [Beside.of(own, of, [(age, AGE, now[0])]) for own, of in ((job, job_of_many), (hours, hours_of_many))]
    together = Together(codes, beside)
    assert together.allow(np.array([1, 1, 2]), np.array([0, 2, 1])).tolist() == [False, True, True]
