"""Reconstructed units: the verdict on a file in which households, patients or firms can be put together again."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from policies.standard.reconstructed_units import has_units, judge_reconstructed_units
from policies.standard.reference_standard import ReferenceStandard, UnitLimits
from policies.standard.standard_checks import checks_of
from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Verdict
from tests.golden import golden
from tests.red_team.files import files_of

RNG = np.random.default_rng(4)
HOUSEHOLDS = 220
PLACE = np.repeat(np.arange(HOUSEHOLDS), RNG.integers(2, 6, HOUSEHOLDS))
N = len(PLACE)
RENT = np.round(RNG.lognormal(6, 0.5, HOUSEHOLDS))
FRAME = pd.DataFrame(
    {
        "household": PLACE.astype(float),
        "age": pd.Categorical(RNG.choice(["young", "middle", "old"], N)),
        "sex": pd.Categorical(RNG.choice(["f", "m"], N)),
        "ill": pd.Categorical(RNG.choice(["yes", "no"], N)),
        "rent": RENT[PLACE],
    }
)
VARIABLES = {
    "household": Variable(name="household", kind=Kind.CONTINUOUS, role=Role.HOUSEHOLD),
    "age": Variable(name="age", kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER),
    "sex": Variable(name="sex", kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER),
    "ill": Variable(name="ill", kind=Kind.NOMINAL, role=Role.SENSITIVE),
    "rent": Variable(name="rent", kind=Kind.CONTINUOUS),
}


def without_household(rent, frame=FRAME, **about):
    """The files of a release that leaves the household out and has this rent."""
    masked = frame.assign(rent=rent).drop(columns="household")
    released = {name: VARIABLES[name] for name in masked}
    return files_of(frame, masked, VARIABLES, released, frame.drop(columns="household"), **about)


def judged(files, **limits):
    return {finding.rule: finding for finding in judge_reconstructed_units(UnitLimits(**limits), files)}


SWAPPED = RNG.permutation(RENT)[PLACE]


def test_a_rent_that_only_one_household_has_puts_it_together():
    found = judged(without_household(SWAPPED))
    units, claims = found["reconstructed_units"], found["reconstructed_claims"]
    assert units.verdict is claims.verdict is Verdict.FAIL
    assert units.scope == claims.scope == "household"
    assert units.attempted == units.completed == N
    assert claims.observed > 0.1
    assert units.limit == pytest.approx(0.09 + 6 / N, abs=0.002)
    golden.words(units.says)
    golden.words(claims.says)


def test_rents_in_bands_of_dozens_of_households_or_of_each_member_pass():
    bands = np.searchsorted(np.quantile(RENT, [0.25, 0.5, 0.75]), RENT).astype(float)
    for rent in (bands[PLACE], RNG.permutation(SWAPPED)):
        assert {each.verdict for each in judged(without_household(rent)).values()} == {Verdict.PASS}


def test_one_record_of_each_household_passes_and_says_so():
    first = ~FRAME["household"].duplicated().to_numpy()
    found = judged(without_household(SWAPPED[first], FRAME[first].reset_index(drop=True)))
    assert [*found] == ["reconstructed_units"]
    assert found["reconstructed_units"].verdict is Verdict.PASS
    golden.words(found["reconstructed_units"].says)


def test_a_household_that_is_released_anew_is_what_records_are_put_together_by():
    masked = FRAME.assign(household=RNG.permutation(HOUSEHOLDS)[PLACE].astype(float), rent=0.0)
    found = judged(files_of(FRAME, masked, VARIABLES))
    assert found["reconstructed_claims"].verdict is Verdict.FAIL


@pytest.mark.parametrize("role", [Role.PERSON, Role.CONTRIBUTOR, Role.HOLDING])
def test_whatever_records_belong_to_is_judged(role):
    variables = VARIABLES | {"household": VARIABLES["household"].model_copy(update={"role": role})}
    found = judged(replace(without_household(SWAPPED), variables=variables))
    assert found["reconstructed_units"].scope == role.value
    assert found["reconstructed_units"].verdict is Verdict.FAIL


@pytest.mark.parametrize("role", [Role.OTHER, Role.IDENTIFIER])
def test_what_the_contract_calls_no_unit_is_one_where_few_share_each_code(role):
    mine = VARIABLES["household"].model_copy(update={"role": role, "kind": Kind.INTEGER})
    files = replace(without_household(SWAPPED), variables=VARIABLES | {"household": mine})
    assert has_units(files)
    found = judged(files)
    assert found["reconstructed_units"].scope == "unit of household"
    assert found["reconstructed_units"].verdict is Verdict.FAIL
    for codes in (np.arange(N), RNG.integers(0, 9, N), np.where(RNG.random(N) < 0.5, 0, PLACE)):  # nobody's, many's
        assert not has_units(replace(files, original=FRAME.assign(household=codes, rent=np.arange(N) + 0.5)))


def test_two_names_of_the_same_records_are_judged_once():
    both = {"patient": VARIABLES["household"].model_copy(update={"name": "patient", "role": Role.PERSON})}
    files = without_household(SWAPPED)
    files = replace(files, original=FRAME.assign(patient=FRAME["household"]), variables=VARIABLES | both)
    assert {each.scope for each in judge_reconstructed_units(UnitLimits(), files)} == {"person"}


def test_files_without_units_or_pairs_are_not_judged_by_it():
    def parts(files):
        return [part.rule for check in checks_of(ReferenceStandard(), files, [], ()) for part in check.parts(files)]

    files = without_household(SWAPPED)
    assert has_units(files)
    assert parts(files).count("reconstructed_units") == 1
    assert "reconstructed_units" not in parts(replace(files, paired=False))
    nobody = {name: variable for name, variable in VARIABLES.items() if name != "household"}
    own = FRAME.drop(columns="household").assign(rent=np.arange(N) + 0.5)
    assert "reconstructed_units" not in parts(replace(files, original=own, variables=nobody))


def test_a_unit_that_no_contract_names_is_found_by_a_number_that_its_records_share():
    nobody = {name: variable for name, variable in VARIABLES.items() if name != "household"}
    files = replace(without_household(SWAPPED), original=FRAME.drop(columns="household"), variables=nobody)
    found = judged(files)
    assert {(each.scope, each.verdict) for each in found.values()} == {("unit of rent", Verdict.FAIL)}
    heaped = np.where(np.quantile(RENT, 0.3) < RENT, RENT, 0.0)[PLACE]  # too many have none for one unit
    assert (
        judged(replace(files, original=files.original.assign(rent=heaped)))["reconstructed_units"].scope
        == "unit of rent"
    )


def test_limits_that_allow_more_let_it_pass_and_those_that_do_not_bind_are_reported():
    assert {each.verdict for each in judged(without_household(SWAPPED), found=0.9, claims=0.9).values()} == {
        Verdict.PASS
    }
    assert not any(each.binding for each in judged(without_household(SWAPPED), binding=False).values())


def test_files_of_unlike_length_are_refused():
    files = without_household(SWAPPED)
    with golden.raises(DataError):
        judge_reconstructed_units(UnitLimits(), replace(files, masked=files.masked.iloc[:-1]))


def test_a_key_that_is_missing_or_a_masked_number_is_compared_in_bands():
    ages = RNG.uniform(0, 90, N)
    kinds = {"age": Variable(name="age", kind=Kind.CONTINUOUS, role=Role.QUASI_IDENTIFIER)}
    files = without_household(SWAPPED)
    masked = files.masked.assign(age=np.where(RNG.uniform(size=N) < 0.05, np.nan, ages + RNG.normal(0, 2, N)))
    files = replace(
        files, original=FRAME.assign(age=ages), recoded=files.recoded.assign(age=ages), masked=masked,
        variables=VARIABLES | kinds, released=dict(files.released) | kinds,
    )  # fmt: skip
    assert judged(files)["reconstructed_claims"].verdict is Verdict.FAIL
