"""A plan: steps in order, each with its own randomness."""

import numpy as np
import pandas as pd

from sluice.ground.errors import PlanError
from sluice.ground.progress import reported_to
from sluice.ground.variables import Kind, Variable
from sluice.masking.microaggregation.ordered_microaggregation import UnivariateMicroaggregation
from sluice.masking.noise.additive_noise import AdditiveNoise
from sluice.masking.plan import apply_plan, apply_recodings, released_variables
from sluice.masking.recoding.global_recoding import GlobalRecoding
from sluice.masking.recoding.top_bottom_coding import TopBottomCoding
from sluice.masking.swapping.rank_swapping import RankSwapping
from tests.golden import golden

VARIABLES = {
    "age": Variable(name="age", kind=Kind.INTEGER, minimum=0, maximum=120),
    "income": Variable(name="income", kind=Kind.CONTINUOUS),
}


def people(n: int = 50) -> pd.DataFrame:
    rng = np.random.default_rng(n)
    return pd.DataFrame({"age": pd.array(rng.integers(0, 100, n), dtype="Int64"), "income": rng.lognormal(10, 1, n)})


def test_each_step_gets_what_the_one_before_it_leaves() -> None:
    steps = [
        TopBottomCoding.model_validate({"columns": ["age"], "top": {"value": 60}}),
        GlobalRecoding(columns=("age",), bins=(30, 60)),
    ]
    masked, carried_out = apply_plan(steps, people(), VARIABLES, np.random.SeedSequence(0))
    assert masked["age"].dtype == "category"
    assert set(masked["age"]) <= set(released_variables(steps, VARIABLES)["age"].categories or ())
    pd.testing.assert_frame_equal(apply_recodings(carried_out, people(), VARIABLES), masked)


def test_a_step_draws_the_same_whatever_the_steps_before_it_draw() -> None:
    """Each step has its own generator: another window of the first leaves the second's noise as it is."""
    noise = AdditiveNoise(columns=("income",), amount=0.5)
    outcomes = [
        apply_plan([RankSwapping(columns=("age",), window=w), noise], people(), VARIABLES, np.random.SeedSequence(3))[0]
        for w in (0.1, 0.9)
    ]
    assert outcomes[0]["income"].equals(outcomes[1]["income"])
    assert not outcomes[0]["age"].equals(outcomes[1]["age"])


def test_progress_tells_nothing_of_the_seed() -> None:
    seed, heard = np.random.SeedSequence(12345678901234567890), []
    with reported_to(lambda what, *_: heard.append(what)):
        apply_plan([AdditiveNoise(columns=("income",), amount=0.5)], people(), VARIABLES, seed)
    assert heard
    assert not any(str(seed.entropy) in what for what in heard)


def test_whole_numbers_that_noise_made_fractions_can_be_recoded() -> None:
    variables = {"age": Variable(name="age", kind=Kind.INTEGER)}
    frame = pd.DataFrame({"age": pd.array(range(100), "Int64")})
    plan = (AdditiveNoise(columns=("age",), amount=0.1), TopBottomCoding(columns=("age",), top={"quantile": 0.903}))
    _, carried_out = apply_plan(plan, frame, variables, np.random.SeedSequence(1))
    recoded = apply_recodings(carried_out, frame, variables)
    assert recoded["age"].dtype == np.float64
    assert recoded["age"].iloc[:80].tolist() == list(range(80))
    assert recoded["age"].iloc[-1] < 99


def test_another_seed_draws_anew() -> None:
    """What one release drew tells nothing of the draws of another."""
    step = AdditiveNoise(columns=("income",), amount=0.5)
    first, other = (
        apply_plan([step], people(), VARIABLES, np.random.SeedSequence(seed))[0]["income"] for seed in (1, 2)
    )
    assert not np.isclose(first, other).any()


def test_a_stratum_that_is_too_small_is_said_to_be_one() -> None:
    """Else 'there are 2 records' would be said of a file of hundreds."""
    frame = people().assign(town=pd.Categorical(["large"] * 48 + ["tiny"] * 2))
    variables = VARIABLES | {"town": Variable(name="town", kind=Kind.NOMINAL)}
    step = UnivariateMicroaggregation.model_validate({"columns": ["income"], "k": 3, "strata": ["town"]})
    with golden.raises(PlanError):
        apply_plan([step], frame, variables, np.random.SeedSequence(0))
