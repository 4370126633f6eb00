from typing import Any

import numpy as np
import pandas as pd
import pytest

from sluice.ground.arrays import BoolArray
from sluice.ground.record_rule import RecordRule
from sluice.ground.variables import Kind, Role, Variable
from sluice.masking.masking_step import MaskingStep
from sluice.masking.moved_blocks import moved_blocks
from sluice.masking.noise.additive_noise import AdditiveNoise
from sluice.masking.noise.pram import Pram
from sluice.masking.plan import apply_plan
from sluice.masking.recoding.global_recoding import GlobalRecoding
from sluice.masking.swapping.permutation import Permutation
from sluice.masking.synthesis.sequential_trees import SequentialTrees

STATES = ("student", "at work", "retired")
N = 600
VARIABLES = {
    variable.name: variable
    for variable in (
        Variable(name="household", kind=Kind.INTEGER, role=Role.HOUSEHOLD),
        Variable(name="age", kind=Kind.INTEGER),
        Variable(name="status", kind=Kind.NOMINAL, categories=STATES),
        Variable(name="wage", kind=Kind.CONTINUOUS),
        Variable(name="total", kind=Kind.CONTINUOUS),
    )
}
STATUS = Pram(columns=("status",), retention=0.5)


def young_are_not_retired(frame: pd.DataFrame) -> BoolArray:
    return ~((frame["status"] == "retired") & (frame["age"] < 50)).to_numpy(dtype=bool)


RULE = RecordRule("young", "Nobody retires before 50", ("age", "status"), young_are_not_retired)


def people() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    age = 15 + np.arange(N) % 70
    wage = rng.uniform(0, 100, N)
    status = np.where(age < 25, "student", np.where(age < 65, "at work", "retired"))
    status[9] = "retired"  # at 24: an error of the original
    return pd.DataFrame(
        {
            "household": pd.array(np.arange(N) // 2, dtype="Int64"),
            "age": pd.array(age, dtype="Int64"),
            "status": pd.Categorical(status, categories=STATES),
            "wage": wage,
            "total": wage + 50,
        }
    )


def masked_by(*steps: MaskingStep, rules: Any = (RULE,), keys: Any = None, frame: Any = None) -> pd.DataFrame:
    frame = people() if frame is None else frame
    return apply_plan(steps, frame, VARIABLES, np.random.SeedSequence(5), keys, rules)[0]


def test_nobody_is_moved_where_the_rule_forbids_and_all_others_stay_as_they_were_drawn() -> None:
    free, masked = masked_by(STATUS, rules=()), masked_by(STATUS)
    broke = ~young_are_not_retired(free)
    assert broke.sum() > 50
    assert young_are_not_retired(masked).all()  # the error of the original, too: it would be alone, and known
    pd.testing.assert_frame_equal(masked[~broke], free[~broke])
    # Drawn by the same probabilities, under the condition: of those at work, a half to a quarter are students.
    again = masked["status"][broke & (people()["status"] == "at work").to_numpy()]
    assert 0.2 < (again == "student").mean() < 0.5


def test_values_are_not_drawn_to_go_with_what_is_masked_later() -> None:
    """Else a status that is impossible with the true age would be excluded, and so tell of the age."""
    noise = AdditiveNoise(columns=("age",), amount=0.5)
    alone, together = masked_by(STATUS, noise, rules=()), masked_by(STATUS, noise)
    pd.testing.assert_series_equal(alone["status"], together["status"])
    broke = ~young_are_not_retired(alone)
    assert broke.sum() > 20
    assert young_are_not_retired(together).mean() > 0.98


def test_hardly_anybody_is_left_impossible_who_most_often_stays_what_he_is() -> None:
    """Whoever were left is known to have the value that stays."""
    frame = people()
    frame.loc[frame["age"] < 25, "status"] = "retired"
    masked = masked_by(Pram(columns=("status",), retention=0.9), frame=frame)
    assert young_are_not_retired(masked).all()


def test_members_of_a_household_are_drawn_together() -> None:
    frame = people()
    frame["status"] = frame["status"].iloc[np.arange(N) // 2 * 2].array
    step = STATUS.model_copy(update={"unit": "household"})
    masked = masked_by(step, frame=frame)
    assert masked.groupby("household")["status"].nunique().eq(1).all()
    assert young_are_not_retired(masked).all()


def test_a_record_with_draws_of_its_own_gets_the_same_in_every_edition() -> None:
    keys = np.arange(N, dtype=np.uint64)
    later = people().iloc[100:]
    masked = masked_by(STATUS, keys=keys)
    pd.testing.assert_frame_equal(
        masked.iloc[100:].reset_index(drop=True), masked_by(STATUS, keys=keys[100:], frame=later)
    )
    assert not masked.equals(masked_by(STATUS, keys=keys, rules=()))


def test_a_rule_that_no_draw_can_keep_is_given_up() -> None:
    equation = RecordRule(
        "sum", "50 more", ("total", "wage"), lambda frame: (frame["total"] == frame["wage"] + 50).to_numpy()
    )
    step = AdditiveNoise(columns=("wage",), amount=0.1)
    masked = masked_by(step, rules=(equation,))
    assert not equation.holds(masked).any()


def test_groups_of_an_earlier_step_are_no_values_of_the_rule() -> None:
    groups = GlobalRecoding(columns=("status",), categories={"all": STATES})
    step = AdditiveNoise(columns=("age",), amount=0.1)
    pd.testing.assert_frame_equal(masked_by(groups, step), masked_by(groups, step, rules=()))


def test_what_moves_afterwards_is_followed() -> None:
    plan = (STATUS, Permutation(columns=("wage", "total"), within=("status",)))
    masked = masked_by(*plan)
    (block,) = moved_blocks(plan, people(), VARIABLES, np.random.SeedSequence(5), rules=(RULE,))
    wages = people()["wage"].to_numpy()
    np.testing.assert_array_equal(masked["wage"].to_numpy()[block.rows], wages)


def spells() -> pd.DataFrame:
    """Who falls ill again does so before the end, and everybody else's time ends with it."""
    rng = np.random.default_rng(2)
    age = rng.normal(size=N)
    until = 50 + 10 * age + rng.normal(0, 10, N)
    again = rng.random(N) < 0.5
    return pd.DataFrame(
        {"sex": rng.integers(0, 2, N), "age": age, "until": until, "again": until - again * rng.uniform(0, 20, N)}
    ).astype({"sex": "category"})


SPELLS = {
    "sex": Variable(name="sex", kind=Kind.BINARY, categories=("0", "1")),
    **{name: Variable(name=name, kind=Kind.CONTINUOUS) for name in ("age", "until", "again")},
}
NEVER_AFTER = RecordRule(
    "after", "Nobody falls ill after the end", ("again", "until"), lambda frame: (frame.again <= frame.until).to_numpy()
)


@pytest.mark.parametrize("strata", [(), ("sex",)])
def test_calibrated_values_keep_the_rules_and_the_regressions(strata: tuple[str, ...]) -> None:
    step = SequentialTrees(
        columns=("age", "until", "again"), minimum_leaf=40, smoothing="density", calibrated=True, strata=strata
    )
    frame = spells()
    frame["sex"] = frame["sex"].cat.rename_categories(["0", "1"])

    def masked(rules: Any) -> pd.DataFrame:
        return apply_plan([step], frame, SPELLS, np.random.SeedSequence(3), None, rules)[0]

    free, by_rule = masked(()), masked((NEVER_AFTER,))
    assert NEVER_AFTER.holds(free).mean() < 0.95
    assert NEVER_AFTER.holds(by_rule).all()
    for file in (free, by_rule):
        for name in ("until", "again"):
            slopes = [np.cov(each["age"], each[name])[0, 1] / each["age"].var() for each in (frame, file)]
            error = (frame[name] - slopes[0] * frame["age"]).std() / np.sqrt(N) / frame["age"].std()
            assert (
                abs(slopes[1] - slopes[0]) < 2.5 * error
            )  # which values change places, the last digit of a processor decides
