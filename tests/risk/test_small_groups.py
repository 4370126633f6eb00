"""Groups of people by a variable or two, whose own records stand out, and what is beyond chance in many looks."""

import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Role, Variable
from sluice.risk.small_groups import FEWEST, Agreement, agreement, chance_of_so_many, partitions

N = 3_000


def variable(name: str, kind: Kind, role: Role = Role.QUASI_IDENTIFIER) -> Variable:
    return Variable(name=name, kind=kind, role=role)


def survey(seed: int = 1) -> tuple[pd.DataFrame, dict[str, Variable]]:
    rng = np.random.default_rng(seed)
    region = pd.Categorical(rng.choice(["north", "south", "island"], N, p=[0.5, 0.46, 0.04]))
    frame = pd.DataFrame({
        "region": region, "sex": pd.Categorical(rng.choice(["f", "m"], N)), "income": rng.lognormal(10, 1, N),
        "loss": np.where(rng.random(N) < 0.9, 0.0, rng.random(N)), "weight": rng.random(N),
        "children": rng.poisson(1, N),
    })  # fmt: skip
    kinds = {"region": Kind.NOMINAL, "sex": Kind.BINARY, "income": Kind.CONTINUOUS, "loss": Kind.CONTINUOUS}
    variables = {name: variable(name, kind) for name, kind in kinds.items()}
    variables["weight"] = variable("weight", Kind.CONTINUOUS, Role.WEIGHT)
    variables["children"] = variable("children", Kind.INTEGER, Role.OTHER)
    return frame, variables


FRAME, VARIABLES = survey()


def test_people_are_parted_by_categories_bands_and_pairs_of_these():
    found = {each.names: each for each in partitions(FRAME, VARIABLES)}
    assert {("region",), ("income",), ("loss",), ("children",), ("region", "sex")} <= set(found)
    assert not any("weight" in names for names in found)
    region = found["region",]
    assert sorted(region.called) == [("island",), ("north",), ("south",)]
    island = region.called.index(("island",))
    np.testing.assert_array_equal(region.members(island), np.flatnonzero(FRAME["region"] == "island"))
    assert all((each.sizes >= FEWEST).all() for each in found.values())
    assert ("island", "f") not in found["region", "sex"].called  # some sixty people
    # Nobody's tail of 1 % is a hundred people here; what lies between it and 5 % is, and quarters without their tails.
    assert found["income",].sizes.tolist() == [120, 600, 750, 750, 600, 120]
    zero = FRAME["loss"] == 0
    # A value that most people have is a band of its own, and so are those who have another one.
    assert sorted(found["loss",].sizes.tolist()) == sorted([zero.sum(), N - zero.sum()])


def test_groups_do_not_depend_on_the_order_of_the_records():
    def sizes(frame):
        groups = partitions(frame, VARIABLES)
        return {each.names: sorted(zip(map(str, each.called), each.sizes.tolist(), strict=True)) for each in groups}

    assert sizes(FRAME) == sizes(FRAME.sample(frac=1, random_state=3).reset_index(drop=True))


def test_a_record_agrees_more_the_fewer_others_would():
    before = np.array(["a"] * 98 + ["b"] * 2, dtype=object)
    after = before.copy()
    after[[0, -1]] = ["b", "a"]
    told = agreement(before, after)
    assert told[0] == told[-1] == 0
    assert told[1] == pytest.approx(-np.log(0.98))
    assert told[-2] == pytest.approx(-np.log(0.02))
    numbers = np.arange(100.0)
    np.testing.assert_allclose(agreement(numbers, 1_000 * numbers), -np.log(0.01), rtol=1e-6)  # whatever the scale
    assert agreement(numbers, numbers[::-1]).max() < 4  # those in the middle hardly moved


def test_a_minority_whose_records_were_left_stands_out_and_nobody_in_an_independent_file():
    others, _ = survey(2)
    names = ["region", "sex", "income", "loss", "children"]
    island = (FRAME["region"] == "island").to_numpy()
    masked = pd.concat([FRAME[island], others[~island]]).sort_index()
    left = [
        each
        for part in partitions(FRAME, VARIABLES)
        for each in Agreement.of(FRAME[names], masked[names], names).exposed(part)
    ]
    worst = max(left, key=lambda each: each.standing_out)
    assert worst.called == ("island",)
    np.testing.assert_array_equal(worst.rows, np.flatnonzero(island))
    nobody = Agreement.of(FRAME[names], others[names], names)
    assert [each for part in partitions(FRAME, VARIABLES) for each in nobody.exposed(part)] == []


def test_the_chance_of_so_many_is_the_binomial_tail():
    # 1 - 0.98^50 for one of fifty at 2 %, by hand.
    assert chance_of_so_many(1.9, 50, 0.02) == pytest.approx(1 - 0.98**50)
    assert chance_of_so_many(0.4, 50, 0.02) == 1
    assert chance_of_so_many(17, 50, 0.09) < 1e-5
