from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sluice.ground.errors import DataError
from sluice.masking.synthesis.multiple_imputation import MultipleImputation
from sluice.masking.synthesis.sequential_trees import SequentialTrees
from sluice.risk.transparency.attack import NoAttack, Pairs
from sluice.risk.transparency.synthetic_values import CopiedPeople, KeptValues
from tests.golden import golden
from tests.risk.attacks.people import VARIABLES, people
from tests.risk.transparency.paired import NUMBERS, paired


def made(leaf: int, n: int = 600) -> tuple[CopiedPeople, Pairs]:
    original = people(n, 1)
    step = SequentialTrees(columns=tuple(VARIABLES), minimum_leaf=leaf)
    masked = step.mask(original, VARIABLES, np.random.default_rng(1))
    (attack,) = step.attacks()
    assert isinstance(attack, CopiedPeople)
    return attack, paired(original, masked, VARIABLES)


def worst(attack: CopiedPeople, pairs: Pairs) -> float:
    leaks = attack.play(pairs)
    assert {leak.kind for leak in leaks} == {"participation"}
    return max(leak.measured.value for leak in leaks)


@pytest.mark.chain
@pytest.mark.parametrize(("leaf", "least", "most"), [(1, 0.25, 1), (200, -1, 0.12)])
@pytest.mark.parametrize("holdout", [False, True])
def test_leaves_of_one_copy_their_people_and_large_leaves_hardly(
    leaf: int, least: float, most: float, holdout: bool
) -> None:
    attack, pairs = made(leaf)
    assert least < worst(attack, replace(pairs, others=people(600, 2) if holdout else None)) < most


@pytest.mark.chain
def test_without_a_holdout_it_says_how_others_were_had() -> None:
    attack, pairs = made(5, n=300)
    golden.words(attack.play(pairs)[0].says)
    assert "half" not in attack.play(replace(pairs, others=people(300, 2)))[0].says


def test_without_a_holdout_everybody_is_judged_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sluice.risk.transparency.synthetic_values._MOST_HALVES", 3)
    attack, pairs = made(100, n=300)
    members, measured = (leak.measured for leak in attack.play(pairs)[:2])
    assert measured.completed == 300
    assert measured.interval is not None
    assert members.interval is not None
    assert members.interval[1] - members.value < 0.07  # of one pair of halves it is .09
    assert measured.interval[1] - measured.value < 0.06  # of one half alone, 150 people, it is .08


def test_where_nothing_can_be_compared_it_cannot_be_played() -> None:
    attack, pairs = made(5)
    golden.refused(DataError, replace(attack, columns=("age",)).play, pairs)
    golden.refused(DataError, attack.play, replace(pairs, others=people(30, 2)))


def test_a_step_that_cannot_be_run_again_needs_a_holdout() -> None:
    attack, pairs = made(5)

    def broken(*_: object) -> pd.DataFrame:
        raise KeyError("given")

    golden.refused(DataError, replace(attack, synthesis=broken).play, pairs)


def test_what_is_not_replaced_is_read_off() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(500, 3)), columns=list("abc"))
    step = MultipleImputation(columns=("a", "b"), given=("c",), share=0.4)
    masked = step.mask(frame, NUMBERS, np.random.default_rng(2))
    (kept,) = (attack for attack in step.attacks() if isinstance(attack, KeptValues))
    (leak,) = kept.play(paired(frame, masked, NUMBERS, rng=rng))
    assert leak.kind == "reconstructed"
    assert leak.measured.value == pytest.approx(0.6, abs=0.001)
    assert leak.measured.baseline == 0
    golden(kept.knows)


def test_all_replaced_or_only_blanks_filled_is_another_matter() -> None:
    everything = MultipleImputation(columns=("a",), given=("c",)).attacks()
    assert not any(isinstance(attack, KeptValues) for attack in everything)
    (none,) = MultipleImputation(columns=("a",), what="missing").attacks()
    assert isinstance(none, NoAttack)


def test_a_variable_that_left_the_file_tells_nothing() -> None:
    frame, rest = pd.DataFrame({"a": [1.0, 2.0]}), pd.DataFrame({"b": [1.0, 2.0]})
    (leak,) = KeptValues(("a",), 0.5).play(
        Pairs(frame, NUMBERS, rest, rest, NUMBERS, np.arange(2), np.random.default_rng(0))
    )
    assert leak.measured.value == 0
