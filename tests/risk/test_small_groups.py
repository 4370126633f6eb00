"""Groups of people by a variable or two, and which of them are chosen on the people whom an intruder learned from."""

import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Role, Variable
from sluice.risk.small_groups import (
    FEWEST,
    Rehearsal,
    agreeing_most,
    agreement,
    chance_of_so_many,
    groups_of,
    partitions,
)

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


def test_those_agree_most_whose_records_were_left_as_they_were():
    others, _ = survey(2)
    names = ["region", "sex", "income", "loss", "children"]
    left = np.arange(N) % 50 == 0
    masked = pd.concat([FRAME[left], others[~left]]).sort_index()
    best = agreeing_most(FRAME[names], masked[names], 100)
    assert np.all(np.diff(best) > 0)
    assert left[best].sum() > 0.75 * left.sum()  # by chance two of a hundred
    assert len(agreeing_most(FRAME[names], masked[names], 2 * N)) == N


def test_near_twins_who_agree_as_well_hide_no_group():
    """Two people in three are in sets of three whose records differ by a hair, and were left as they were."""
    names = ["region", "sex", "income", "loss", "children"]
    people, masked = FRAME[names].copy(), survey(2)[0][names]
    twins = np.arange(N) < 1_998
    rng = np.random.default_rng(3)
    people[twins] = people[twins].iloc[np.repeat(np.arange(666), 3)].to_numpy()
    for name in ("income", "loss"):
        people.loc[twins, name] *= 1 + 1e-6 * rng.normal(size=twins.sum())
    people = people.astype(FRAME[names].dtypes)
    left = twins | (people["region"] == "island").to_numpy()
    masked[left] = people[left]
    island = left & ~twins
    best = agreeing_most(people, masked, 100)
    assert island[best].sum() > 0.9 * island.sum()
    # Of every group some are looked for, whatever agrees.
    parts = [np.where(np.arange(N) % 7 == 0, np.arange(N) // 700, -1)]
    by_group = agreeing_most(people, survey(2)[0][names], 100, parts)
    assert (np.bincount(parts[0][by_group][parts[0][by_group] >= 0], minlength=5) >= 4).all()


@pytest.mark.parametrize("apart", [0.1, 0.02, 0.003, 0.0001])
def test_sets_of_near_twins_hide_no_group_however_near_they_are(apart: float):
    """Sets of some twenty people, whose records moved as far as they are apart: whose is whose nobody can tell."""
    rng = np.random.default_rng(7)
    twins, minority, columns = 3_000, 60, 5
    centres = rng.normal(size=(150, columns))
    values = rng.normal(size=(twins + minority + 600, columns))
    values[:twins] = centres[rng.integers(0, len(centres), twins)] + apart * values[:twins]
    moved = rng.normal(size=values.shape)
    moved[:twins] = values[:twins] + apart * moved[:twins]
    exposed = np.arange(twins, twins + minority)
    moved[exposed] = values[exposed] + 0.02 * moved[exposed]
    people, masked = (pd.DataFrame(each, columns=list("abcde")) for each in (values, moved))
    assert np.isin(exposed, agreeing_most(people, masked, 400)).mean() > 0.8


def rehearsed(found: np.ndarray, learners: np.ndarray) -> Rehearsal:
    """An intruder who is sure whenever the record is the right one."""
    people = np.flatnonzero(learners)
    success = found[people].astype(float)
    return Rehearsal(learners, people, success, lambda group: group[success[group] > 0])


def test_groups_are_chosen_by_what_is_reached_of_those_who_are_learned_from():
    learners = np.arange(N) % 2 == 0
    island = (FRAME["region"] == "island").to_numpy()
    found = island & (np.arange(N) % 4 < 2)
    count, chosen = rehearsed(found, learners).exposed(partitions(FRAME, VARIABLES), (0.2, 0.04), 6)
    assert count == sum(len(each.called) for each in partitions(FRAME, VARIABLES))
    assert chosen[0].called == ("island",)
    np.testing.assert_array_equal(chosen[0].rows, np.flatnonzero(island))
    # Of any other group that is beyond a limit, the same people are found.
    assert len(chosen) == 1
    # Whoever is found among the others is not looked at.
    _, nobody = rehearsed(found, learners & ~found).exposed(partitions(FRAME, VARIABLES), (0.2, 0.04), 6)
    assert nobody == []


def test_a_group_with_too_few_left_to_be_judged_is_not_chosen():
    island = (FRAME["region"] == "island").to_numpy()
    learners = np.ones(N, np.bool_)
    learners[np.flatnonzero(island)[:15]] = False
    _, chosen = rehearsed(island, learners).exposed(partitions(FRAME, VARIABLES), (0.2, 0.04), 6)
    assert not any(each.called == ("island",) for each in chosen)


def test_the_chance_of_so_many_is_the_binomial_tail():
    # 1 - 0.98^50 for one of fifty at 2 %, by hand.
    assert chance_of_so_many(1.9, 50, 0.02) == pytest.approx(1 - 0.98**50)
    assert chance_of_so_many(0.4, 50, 0.02) == 1
    assert chance_of_so_many(17, 50, 0.09) < 1e-5


def test_other_people_are_in_the_groups_that_these_form():
    others = pd.concat([FRAME[::-1], survey(2)[0]], ignore_index=True)
    others.loc[N, ["income", "region"]] = np.nan
    for partition in partitions(FRAME, VARIABLES, pairs=False):
        (name,) = partition.names
        own, of_others = groups_of(FRAME[name], others[name])
        assert np.array_equal(of_others[:N], own[::-1])  # whatever others there are
        for group in range(len(partition.called)):
            members = partition.members(group)
            assert np.array_equal(np.flatnonzero(own == own[members[0]]), members)
        if name in ("income", "region"):
            assert of_others[N] not in own  # nobody of these has no value
