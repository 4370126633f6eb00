import numpy as np
import pandas as pd

from sluice.ground.variables import Kind, Variable
from sluice.masking.noise.additive_noise import AdditiveNoise
from sluice.masking.plan import apply_plan
from sluice.masking.recoding.removal import Removal
from sluice.masking.recoding.sampling import Sampling
from sluice.masking.swapping.rank_swapping import RankSwapping
from sluice.masking.transparency import attacks_on
from sluice.risk.transparency.attack import Pairs
from sluice.risk.transparency.bounds import RankWindow
from sluice.risk.transparency.linkage import LearnedCloseness, Strongest

VARIABLES = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in "abc"}


def test_steps_of_one_method_are_attacked_together() -> None:
    steps = [
        Removal(columns=("name",)),
        RankSwapping(columns=("a", "b"), window=0.1),
        RankSwapping(columns=("c",), window=0.2),
    ]
    (attack,) = attacks_on(steps, VARIABLES, VARIABLES)
    assert attack.method == "rank_swapping"
    assert attack.attack.columns == ("a", "b", "c")
    assert "10 %" in attack.attack.knows
    assert "20 %" in attack.attack.knows


def test_a_plan_without_a_known_attack_has_none() -> None:
    assert attacks_on([Removal(columns=("name",))], VARIABLES, VARIABLES) == []


def test_several_methods_are_also_attacked_together() -> None:
    steps = [RankSwapping(columns=("a",), window=0.1), RankSwapping(columns=("b",), variant="p_buckets", buckets=9)]
    (attack,) = attacks_on(steps, VARIABLES, VARIABLES)
    assert [type(part) for part in attack.attack.parts] == [RankWindow, LearnedCloseness, LearnedCloseness]


def test_a_variable_that_two_steps_perturbed_is_compared_by_what_pairs_show() -> None:
    steps = [RankSwapping(columns=("a", "b"), window=0.1), AdditiveNoise(columns=("b", "c"), amount=0.1)]
    attacks = {attack.method: attack.attack for attack in attacks_on(steps, VARIABLES, VARIABLES)}
    assert attacks["rank_swapping"].columns == ("a",)
    assert isinstance(both := attacks["additive_noise and rank_swapping"], Strongest)
    assert both.columns == ("b",)
    assert both.choices[0] == LearnedCloseness(("b",))


def test_a_sample_taken_afterwards_moves_ranks() -> None:
    before, after = Sampling(fraction=0.5), Sampling(fraction=0.5)
    swap = RankSwapping(columns=("a",), window=0.1)
    (attack,) = attacks_on([before, swap], VARIABLES, VARIABLES)
    assert attack.attack.parts == (RankWindow(("a",), 0.1), LearnedCloseness(("a",)))
    (attack,) = attacks_on([swap, after], VARIABLES, VARIABLES)
    assert isinstance(attack.attack, Strongest)


def test_a_variable_that_left_the_file_is_not_attacked() -> None:
    left = {name: variable for name, variable in VARIABLES.items() if name != "a"}
    (attack,) = attacks_on([RankSwapping(columns=("a", "b"), window=0.1)], VARIABLES, left)
    assert attack.attack.parts == (RankWindow(("b",), 0.1), LearnedCloseness(("b",)))


def test_strata_are_attacked_each_by_itself() -> None:
    rng = np.random.default_rng(1)
    n = 600
    frame = pd.DataFrame({"s": rng.integers(0, 3, n), "a": rng.normal(size=n), "b": rng.normal(size=n)})
    frame["s"] = frame["s"].astype("Int64")
    variables = {**VARIABLES, "s": Variable(name="s", kind=Kind.INTEGER)}
    step = RankSwapping(columns=("a", "b"), window=0.1, strata=("s",))
    masked, carried_out = apply_plan([step], frame, variables, np.random.SeedSequence(1))
    (attack,) = attacks_on(carried_out, variables, variables)
    pairs = Pairs(frame, variables, frame, masked, variables, np.arange(n), rng)
    logs = attack.attack.likelihood(pairs)(np.arange(n))
    assert np.isfinite(logs.diagonal()).all()  # the own record is never ruled out
    elsewhere = frame["s"].to_numpy()[:, None] != frame["s"].to_numpy()
    assert np.isneginf(logs[elsewhere]).all()
    assert 0.01 < np.isfinite(logs[~elsewhere]).mean() < 0.06  # two windows of a fifth each
