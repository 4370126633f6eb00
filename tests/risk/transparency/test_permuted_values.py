import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Variable
from sluice.masking.swapping.anatomization import Anatomization
from sluice.masking.swapping.permutation import Permutation
from sluice.risk.measurement import Measurement
from sluice.risk.transparency.permuted_values import GroupValues, PermutedValues
from tests.golden import golden
from tests.risk.transparency.paired import paired

VARIABLES = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in ("group", "income", "rent")}


def played(frame: pd.DataFrame, *, jointly: bool = True, within: tuple[str, ...] = ("group",)) -> Measurement:
    step = Permutation(columns=("income", "rent"), within=within, jointly=jointly, small_groups="keep")
    masked = step.mask(frame, VARIABLES, np.random.default_rng(1))
    pairs = paired(frame, masked, VARIABLES)
    (leak,) = PermutedValues(("income", "rent"), within, jointly).play(pairs)
    return leak.measured


def people(n: int = 600) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    return pd.DataFrame(
        {"group": rng.integers(0, 10, n).astype(float), "income": rng.normal(size=n), "rent": rng.normal(size=n)}
    )


def test_one_value_of_those_that_moved_together_gives_the_others_away() -> None:
    measured = played(people())
    assert measured.value == 1
    assert measured.baseline < 0.1


@pytest.mark.parametrize("spoilt", [0.0, 1e-4])
def test_what_a_household_shares_is_no_news_only_where_the_household_is_in_the_file(spoilt: float) -> None:
    """By one value that moved with another, and by the nearest of both."""
    frame = people().loc[np.repeat(np.arange(200), 3)].reset_index(drop=True)
    frame = frame.assign(house=pd.Series([f"h{at // 3}" for at in range(600)], dtype="str"))
    masked = frame.drop(columns="house")
    masked[["income", "rent"]] = masked[["income", "rent"]].to_numpy()[np.random.default_rng(3).permutation(600)]
    masked[["income", "rent"]] += spoilt * np.random.default_rng(4).standard_normal((600, 2))

    def gain(role: str) -> float:
        variables = VARIABLES | {"house": Variable(name="house", kind=Kind.TEXT, role=role)}
        (leak,) = PermutedValues(("income", "rent"), (), True).play(paired(frame, masked, variables))
        return leak.measured.value - (leak.measured.baseline or 0)

    assert gain("other") < 0.1 < 0.8 < gain("household")


def test_a_little_noise_afterwards_does_not_hide_what_moved_together() -> None:
    frame, rng = people(), np.random.default_rng(4)
    step = Permutation(columns=("income", "rent"), within=("group",))
    masked = step.mask(frame, VARIABLES, rng)
    masked[["income", "rent"]] += 1e-4 * rng.standard_normal((len(frame), 2))
    pairs = paired(frame, masked, VARIABLES, rng=rng)
    (leak,) = PermutedValues(("income", "rent"), ("group",), True).play(pairs)
    assert leak.measured.value > 0.9
    assert leak.measured.baseline < 0.2
    golden.words(leak.says)


def test_values_that_moved_apart_tell_no_more_than_other_people_do() -> None:
    measured = played(people(), jointly=False)
    assert measured.value < measured.baseline + 0.1


def test_a_homogeneous_group_tells_what_its_other_members_would_tell() -> None:
    frame = people().assign(income=lambda f: f["group"], rent=lambda f: 3 * f["group"])
    measured = played(frame, jointly=False)
    assert (measured.value, measured.baseline) == (1, 1)


def test_a_group_of_one_tells_everything() -> None:
    frame = people(50).assign(group=np.arange(50.0))
    measured = played(frame, jointly=False)
    assert measured.value == 1
    assert measured.baseline < 0.2  # what the whole file tells without the person


@pytest.mark.parametrize("within", [(), ("group",)])
def test_missing_values_are_guessed_like_others(within: tuple[str, ...]) -> None:
    frame = people()
    frame.loc[frame.index[:500], "rent"] = np.nan
    assert played(frame, jointly=False, within=within).value > 0.35


ILL = {"illness": Variable(name="illness", kind=Kind.NOMINAL), "group": Variable(name="group", kind=Kind.INTEGER)}


def guessed(illness: list[str], released: list[str], group: list[int]) -> tuple[float, float | None]:
    original = pd.DataFrame({"illness": pd.Categorical(illness)})
    masked = pd.DataFrame({"illness": pd.Categorical(released), "group": pd.array(group, dtype="Int64")})
    file = paired(original, masked, ILL)
    (leak,) = GroupValues(("illness",), ("group",)).play(file)
    return leak.measured.value, leak.measured.baseline


def test_the_most_frequent_of_a_group_is_guessed() -> None:
    """Group 1: flu twice, gout once; group 2: all gout. Of the file, gout is the most frequent: 4 of 6."""
    value, baseline = guessed(
        ["flu", "gout", "flu", "gout", "gout", "gout"], ["gout", "flu", "flu", "gout", "gout", "gout"],
        [1, 1, 1, 2, 2, 2],
    )  # fmt: skip
    assert value == pytest.approx(5 / 6)
    assert baseline == pytest.approx(4 / 6)


def test_equally_frequent_values_are_shared() -> None:
    value, _ = guessed(["flu", "gout", "none", "flu"], ["gout", "flu", "flu", "none"], [1, 1, 2, 2])
    assert value == pytest.approx(0.5)


def test_groups_of_l_different_values_are_guessed_to_one_in_l() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"illness": pd.Categorical(rng.choice(["flu", "gout", "none", "cold"], 400))})
    step = Anatomization(columns=("illness",), l=3)
    variables = {"illness": ILL["illness"]}
    masked = step.mask(frame, variables, np.random.default_rng(2))
    (attack,) = step.attacks()
    file = paired(frame, masked, variables, step.released(variables), rng=rng)
    assert attack.play(file)[0].measured.value == pytest.approx(1 / 3, abs=0.01)
