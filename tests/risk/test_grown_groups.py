"""Groups that a tree grows where people are found, of those who are learned from alone."""

import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Role, Variable
from sluice.risk.grown_groups import grown_groups
from sluice.risk.small_groups import FEWEST

N = 4_000
_RNG = np.random.default_rng(5)
_SIZES = np.minimum(_RNG.geometric(0.5, N), 9)
UNITS = np.repeat(np.arange(N), _SIZES)[:N]
FRAME = pd.DataFrame({
    "house": [f"h{unit}" for unit in UNITS],
    "sex": pd.Categorical(_RNG.choice(["f", "m"], N)),
    "area": pd.Categorical(_RNG.choice(list("abc"), N)),
    "work": pd.Categorical(_RNG.choice(list("uvwx"), N)),
    "height": _RNG.normal(170, 9, N),
    "wage": np.where(_RNG.random(N) < 0.05, np.nan, _RNG.lognormal(7, 0.6, N)),
})  # fmt: skip
KINDS = {"house": Kind.TEXT, "sex": Kind.BINARY, "area": Kind.NOMINAL, "work": Kind.NOMINAL}
VARIABLES = {
    name: Variable(
        name=name, kind=KINDS.get(name, Kind.CONTINUOUS), role=Role.HOUSEHOLD if name == "house" else "other"
    )
    for name in FRAME
}
LEARNERS = UNITS % 2 == 0

_HEIGHT = FRAME["height"].rank(pct=True).to_numpy()
_FAR = ((FRAME[["height", "wage"]].fillna(FRAME["wage"].median()).rank(pct=True) - 0.5) ** 2).sum(axis=1).to_numpy()
_TOTAL = pd.Series(FRAME["height"]).groupby(UNITS).transform("mean").rank(pct=True).to_numpy()
GROUPS = {
    "an interval of a number": (_HEIGHT > 0.6) & (_HEIGHT < 0.65),
    "three traits together": (FRAME["sex"].eq("f") & FRAME["area"].eq("a") & FRAME["work"].eq("u")).to_numpy(),
    "those far from the middle": np.sort(_FAR)[-200] <= _FAR,
    "members of large households": np.bincount(UNITS)[UNITS] >= 6,
    "households of middling height": (_TOTAL > 0.5) & (_TOTAL < 0.56),
}


@pytest.mark.parametrize("members", GROUPS.values(), ids=GROUPS)
def test_the_group_that_is_found_is_set_apart(members: np.ndarray) -> None:
    found = np.where(members & (np.random.default_rng(1).random(N) < 0.7), 1.0, 0.0)
    shares = []
    for group in grown_groups(FRAME, VARIABLES, UNITS, LEARNERS, found):
        rows = group.members(0)
        assert LEARNERS[rows].sum() >= FEWEST // 2
        assert group.sizes.tolist() == [len(rows)]
        # Of those who are not learned from, whom the tree has not seen.
        both = (members[rows] & ~LEARNERS[rows]).sum()
        shares.append(min(both / (~LEARNERS[rows]).sum(), both / (members & ~LEARNERS).sum()))
    assert max(shares) > 0.7


def test_whoever_is_not_learned_from_does_not_count() -> None:
    members = GROUPS["an interval of a number"]
    grown = [list(grown_groups(FRAME, VARIABLES, UNITS, LEARNERS, found.astype(float)))
             for found in (members & LEARNERS, members | ~LEARNERS)]  # fmt: skip
    assert [each.names for each in grown[0]] == [each.names for each in grown[1]]
    for one, other in zip(*grown, strict=True):
        np.testing.assert_array_equal(one.of, other.of)


def test_nothing_grows_where_nobody_is_found_or_nothing_is_known() -> None:
    assert not list(grown_groups(FRAME, VARIABLES, UNITS, LEARNERS, (~LEARNERS).astype(float)))
    house = FRAME[["house"]]
    assert not list(grown_groups(house, VARIABLES, UNITS, LEARNERS, LEARNERS.astype(float)))


@pytest.mark.parametrize(("role", "word"), [(Role.HOUSEHOLD, "household"), (Role.PERSON, "person"),
                                            (Role.CONTRIBUTOR, "contributor")])  # fmt: skip
def test_a_group_is_told_in_the_words_of_the_contract(role: Role, word: str) -> None:
    variables = VARIABLES | {"house": VARIABLES["house"].model_copy(update={"role": role})}
    found = np.where(GROUPS["households of middling height"], 1.0, 0.0)
    names = " ".join(name for group in grown_groups(FRAME, variables, UNITS, LEARNERS, found) for name in group.names)
    assert f"of the {word}" in names
    assert ("household" in names) is (word == "household")
