"""What is a small share of all people, and everybody of one group."""

import numpy as np
import pandas as pd
import pytest

from policies.standard.learning_intruders import EVERYTHING, judge_learned_linkage, learned_intruder
from policies.standard.minorities import Aside, independent_cases, judge_nearness, judge_small_groups
from policies.standard.reference_standard import LearnedLimits, ReferenceStandard
from sluice.ground.variables import Role, Variable
from sluice.ground.verdict import Verdict
from sluice.risk.reference.prediction import Prediction
from sluice.risk.reference.reference_attack import ReferenceAttack
from sluice.risk.small_groups import chance_of_so_many
from sluice.utility.comparison import Comparison
from tests.evaluated_once import without_maps
from tests.golden import golden
from tests.policies.standard.population_sample import VARIABLES, people

REGION = Variable(name="region", kind="binary", categories=("north", "south"), role=Role.QUASI_IDENTIFIER)
OF_REGION = VARIABLES | {"region": REGION}
_N = 3_000


def with_region(frame: pd.DataFrame, north: int = 120) -> pd.DataFrame:
    where = np.where(np.arange(len(frame)) < north, "north", "south")
    return frame.assign(region=pd.Categorical(where, categories=["north", "south"]))


ORIGINAL, OTHERS = with_region(people(_N, 31)), with_region(people(_N, 32))


@without_maps()
def judged(masked: pd.DataFrame, original: pd.DataFrame = ORIGINAL):
    files = Comparison(original, original, masked, None, OF_REGION, OF_REGION, np.random.default_rng(1), unit="people")
    limits = LearnedLimits()
    intruder = learned_intruder(files, limits.people)
    reached = intruder.play()
    of_groups = judge_small_groups(limits, reached, EVERYTHING, files, intruder, "everything")
    return {each.rule: each for each in (*judge_learned_linkage(limits, 0.05, files, intruder, reached), of_groups)}


@pytest.mark.exhaustive  # cases of the red team show it of smaller files
@pytest.mark.parametrize("exposed", [120, 40])
def test_a_minority_that_is_left_as_it_was_is_found(exposed: int):
    north = np.arange(_N) < exposed
    found = judged(pd.concat([ORIGINAL[north], OTHERS[~north]]))
    assert found["learned_linkage"].verdict is Verdict.PASS  # 2 % of all people, or less
    if exposed == 40:  # the larger group, 4 % of all, stands out among all people as well
        assert found["learned_claims"].verdict is not Verdict.FAIL
    assert found["small_groups"].verdict is Verdict.FAIL
    golden.words(found["small_groups"].says)


@pytest.mark.chain
def test_groups_of_a_file_of_other_people_pass():
    found = judged(OTHERS)["small_groups"]
    assert (found.verdict, found.observed) == (Verdict.PASS, None)
    assert found.completed > 10  # groups
    golden.words(found.says)


@pytest.mark.exhaustive  # that a file of others passes shows that luck stops none
def test_groups_at_the_limit_are_not_stopped_by_luck():
    """Of every group one person in twenty-five is found surely: as many as may be."""
    left = np.random.default_rng(4).random(_N) < 0.04
    found = judged(pd.concat([ORIGINAL[left], OTHERS[~left]]).sort_index())["small_groups"]
    assert found.verdict is Verdict.PASS
    assert found.data["judged"] > 0


def test_a_file_without_groups_says_so():
    numbers = [name for name in VARIABLES if name.startswith("x")]
    few = pd.DataFrame({name: ORIGINAL[name][:150] for name in numbers})
    files = Comparison(few, few, few, None, {n: VARIABLES[n] for n in numbers}, {n: VARIABLES[n] for n in numbers},
                       np.random.default_rng(1), unit="people")  # fmt: skip
    found = judge_nearness(ReferenceStandard(), attacked(few, np.zeros(150)), files.original, files.variables)
    assert (found.verdict, found.attempted) == (Verdict.PASS, 0)
    golden(found.says)


def attacked(original: pd.DataFrame, nearer: np.ndarray) -> ReferenceAttack:
    """An attack that found a record nearer to some people than the reference's."""
    n = len(original)
    far = np.linspace(0.5, 1, n)
    near = np.where(nearer, 0.1, far)
    released, reference = Prediction(near, near, near), Prediction(far, far, far)
    return ReferenceAttack(released, near, reference, np.arange(n), n, 1.0, 1.0, np.arange(n))


@pytest.mark.parametrize(
    ("exposed", "verdict"), [(120, Verdict.FAIL), (60, Verdict.FAIL), (12, Verdict.PASS), (0, Verdict.PASS)]
)
def test_a_release_that_is_nearer_to_one_group_alone(exposed: int, verdict: Verdict):
    found = judge_nearness(ReferenceStandard(), attacked(ORIGINAL, np.arange(_N) < exposed), ORIGINAL, OF_REGION)
    assert found.verdict is verdict
    if exposed == 120:
        assert found.observed == pytest.approx(1.0)
        golden(found.says)


@pytest.mark.parametrize(("by_own", "verdict"), [(0, Verdict.PASS), (1, Verdict.PASS), (60, Verdict.FAIL)])
def test_records_of_others_that_noise_brought_near_a_group_betray_nobody(by_own: int, verdict: Verdict):
    nearer = np.arange(_N) < 120
    found = attacked(ORIGINAL, nearer)
    near = np.where(nearer & (np.arange(_N) >= by_own), 0.1, found.reference.distance)
    others = Prediction(near, near, near)
    assert judge_nearness(ReferenceStandard(), found, ORIGINAL, OF_REGION, lambda: others).verdict is verdict


@pytest.mark.parametrize(
    ("share", "households", "verdict"),
    [(1.0, 120, Verdict.PASS), (0.0, 120, Verdict.FAIL), (0.5, 120, Verdict.FAIL), (1.0, 2, Verdict.FAIL)],
)
def test_a_group_whose_people_set_aside_fare_alike_is_not_betrayed(share: float, households: int, verdict: Verdict):
    """The reference holds a few households of a small group, which look alike, and a synthetic file does not: its
    records stand out more for everybody of the group, whether they took part or not. So many households cannot tell."""
    found = attacked(ORIGINAL, np.arange(_N) < 120)

    def read() -> tuple[Prediction, Prediction]:
        near = np.where(np.arange(_N) < 120 * share, 0.1, found.reference.distance)
        return found.released, Prediction(near, near, near)

    units = np.where(np.arange(_N) < 120, np.arange(_N) % households, np.arange(_N))
    aside = Aside(OTHERS, units, read)
    judged = judge_nearness(ReferenceStandard(), found, ORIGINAL, OF_REGION, aside=aside)
    assert judged.verdict is verdict


def test_one_large_firm_is_not_as_many_cases_as_firms_are_counted():
    """Of 100 records the sixty of one firm are found, and nobody else: one case, and no group of which most are."""
    units = np.concatenate([np.zeros(60, np.int64), np.arange(1, 41)])
    found = (units == 0).astype(float)
    cases = independent_cases(found, units)
    assert cases == 3  # 41 firms
    assert chance_of_so_many(found.mean() * cases, cases, 0.18) > 0.05
    assert independent_cases(found, np.arange(100)) == 100
    assert independent_cases(found, np.arange(100) // 4) == 25
