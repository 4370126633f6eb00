"""The learned linker: sums of learned weights, against a plain implementation, and what it finds."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.variables import Variable
from sluice.risk.linkage.learned_linker import CandidatePosterior, Candidates, LearnedLinker
from sluice.risk.linkage.learned_variable import compared_variables
from sluice.risk.linkage.match_claims import Calibration, claimed_in_learning
from sluice.risk.row_groups import row_groups

COLUMNS = [f"x{j}" for j in range(4)]
VARIABLES = {name: Variable(name=name, kind="continuous") for name in COLUMNS} | {
    "area": Variable(name="area", kind="nominal", categories=tuple("abcd"))
}


def people(n: int = 1500, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(np.exp(rng.normal(size=(n, 4))), columns=COLUMNS)
    frame.loc[rng.random(n) < 0.3, "x3"] = 0.0  # a heap
    frame.loc[rng.random(n) < 0.1, "x2"] = np.nan
    frame["area"] = pd.Categorical.from_codes(rng.integers(0, 4, n), categories=list("abcd"))
    return frame


def noisy(frame: pd.DataFrame, amount: float, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return frame.assign(**{name: frame[name] + amount * rng.normal(size=len(frame)) for name in COLUMNS})


def linker(original: pd.DataFrame, masked: pd.DataFrame, rows: np.ndarray) -> LearnedLinker:
    return LearnedLinker.learn(compared_variables(original, original, masked, VARIABLES, VARIABLES), rows)


@pytest.mark.parametrize("variables", [None, [0, 2, 4]])
def test_scores_are_the_sums_of_the_weights_of_each_variable(variables):
    """A plain sum over all pairs, with the exact values of numbers looked up one by one."""
    original = people()
    masked = noisy(original, 0.1)
    masked.loc[::3, "x1"] = original.loc[::3, "x1"]
    rows = np.arange(0, 1500, 50)
    found = linker(original, masked, np.arange(1, 1500, 2))
    names = range(5) if variables is None else variables
    total = np.zeros((len(rows), 1500))
    for j in names:
        compared, learned = found.compared[j], found.learned[j]
        weights = learned.weights(rows)[:, compared.released]
        _, span, bins = learned.tables(rows)
        if compared.exact is not None:
            known, out = compared.exact[0][rows][:, None], compared.exact[1]
            far = np.abs(learned.coordinates[known] - learned.coordinates[out])
            by_value = np.take_along_axis(bins, np.searchsorted(learned.edges, far) + 1, axis=1)
            by_value = np.where(known == out, bins[:, :1], by_value)
            inside = (span[:, :1] <= compared.released) & (compared.released <= span[:, 1:])
            weights = np.where(inside, by_value, weights)
        total += weights
    links = found.link(rows, variables, candidates=3)
    assert links.own == pytest.approx(total[np.arange(len(rows)), rows], abs=1e-4)
    total[np.arange(len(rows)), rows] = -np.inf
    assert links.scores == pytest.approx(np.sort(total, axis=1)[:, :-4:-1], abs=1e-4)
    assert total[np.arange(len(rows))[:, None], links.rows] == pytest.approx(links.scores, abs=1e-4)


def test_a_verbatim_file_is_found_and_a_shuffled_one_is_not():
    original, half, other = people(), np.arange(0, 1500, 2), np.arange(1, 1500, 2)
    assert linker(original, original, half).link(other).found.mean() > 0.99
    shuffled = original.sample(frac=1, random_state=3).reset_index(drop=True)
    assert linker(original, shuffled, half).link(other).found.mean() < 0.01


def test_records_made_alike_share_the_match():
    original, half, other = people(), np.arange(0, 1500, 2), np.arange(1, 1500, 2)
    alike = original.assign(
        **{name: original[name].groupby(np.arange(1500) // 5).transform("first") for name in COLUMNS}
    )
    alike["area"] = original["area"].astype(object).groupby(np.arange(1500) // 5).transform("first").astype("category")
    first = original.iloc[np.arange(1500) // 5 * 5].reset_index(drop=True)
    links = linker(first, alike, half).link(other)
    assert links.found == pytest.approx(0.2)
    assert (links.ties == 4).all()


def test_among_limits_the_candidates_and_factors_switch_variables_off():
    original = people()
    found = linker(original, noisy(original, 0.1), np.arange(0, 1500, 2))
    rows, among = np.arange(1, 60, 2), np.arange(100, 400)
    links = found.link(rows, candidates=5, among=among)
    assert np.isin(links.rows, np.concatenate([among, rows])).all()
    factors = np.array([1.0, 0, 1, 0, 1])
    assert found.link(rows, factors=factors).scores == pytest.approx(found.link(rows, [0, 2, 4]).scores)


# The posterior of candidates, by hand.


def posterior(
    own: list[float], scores: list[list[float]], ties: list[int], temperature: float = 1.0
) -> CandidatePosterior:
    rows = np.arange(100, 100 + len(scores[0]) * len(own)).reshape(len(own), -1)
    given_ = Candidates(np.array(own), rows, np.array(scores), np.array(ties))
    return CandidatePosterior.of(np.arange(len(own)), given_, temperature)


def test_probabilities_of_three_people_by_hand() -> None:
    three, nine = np.log(3), np.log(9)
    found = posterior([nine, 0.0, 0.0], [[0.0, 0.0], [three, 0.0], [0.0, 0.0]], [2, 1, 8])
    # Nine to one and one; one of five; tied with eight, of whom two are listed.
    assert found.shares[:, 0] == pytest.approx([9 / 11, 1 / 5, 1 / 9])
    assert found.without[:, 1] == pytest.approx([1 / 2, 3 / 4, 1 / 8])
    assert found.sure.tolist() == [True, True, False]
    assert found.sure_without.tolist() == [False, True, False]


def test_a_temperature_makes_scores_less_sure() -> None:
    assert posterior([np.log(9)], [[0.0]], [1], temperature=2.0).shares[0, 0] == pytest.approx(3 / 4)


def test_an_own_record_below_the_list_is_not_read() -> None:
    found = posterior([-1.0], [[1.0, 0.0]], [1])
    assert found.shares[0, 0] == 0
    assert found.shares[0] == pytest.approx(found.without[0])


def test_a_missing_candidate_has_no_probability() -> None:
    found = posterior([0.0], [[0.0, -np.inf]], [1])
    assert found.shares[0].tolist() == [0.5, 0.5, 0]
    assert found.without[0].tolist() == [0, 1, 0]


def test_a_few_records_drawn_at_random_stand_for_all_that_score_the_same() -> None:
    """Of 90 look-alikes and the own record, the first twenty in the file are listed, who are none of the last 45."""
    people, crowd = np.zeros(200, np.int64), np.arange(91)
    listed = np.tile(crowd[1:21], (200, 1))
    candidates = Candidates(np.zeros(200), listed, np.zeros((200, 20)), np.full(200, 90))
    plain, drawn = (
        CandidatePosterior.of(people, candidates, 1.0, alike=alike)
        for alike in (None, row_groups([np.r_[np.zeros(91), np.ones(9)]]))
    )
    assert plain.shares.sum() == pytest.approx(200 * 21 / 91)
    assert drawn.shares.sum(axis=1) == pytest.approx(1.0)
    assert drawn.without.sum(axis=1) == pytest.approx(1.0)
    assert drawn.shares[:, 0] == pytest.approx(1 / 91)
    assert set(drawn.rows[:, 1:].ravel().tolist()) == set(range(1, 91))
    in_last = (drawn.shares * (drawn.rows > 45)).sum(axis=1).mean()
    assert in_last == pytest.approx(45 / 91, abs=0.03)


@given(st.lists(st.floats(-50, 50), min_size=3, max_size=6))
def test_shares_are_probabilities(scores: list[float]) -> None:
    own, *others = scores
    ranked = sorted(others, reverse=True)
    found = posterior([own], [ranked], [ranked.count(ranked[0])])
    assert found.shares.min() >= 0
    assert found.shares.sum() == pytest.approx(1)
    assert found.without.sum() == pytest.approx(1)


# How sure an intruder may be of a match.


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
    for learned in (Calibration.learn(tied), Calibration(1.0, "closeness", -1.0, 1)):  # or where nobody was tied
        claimed, _ = learned.claims(tied)
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
