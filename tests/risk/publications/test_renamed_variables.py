"""Variables and people are known again under other names and in other codes; what is alike by chance is not."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from sluice.risk.publications.publication import same_people
from sluice.risk.publications.renamed_variables import in_later_codes, is_renamed, same_columns
from tests.flows.house import survey

COLUMNS = ["age", "sex", "region", "town", "income"]
REWRITTEN: dict[str, Callable[["pd.Series[int]"], "pd.Series[int]"]] = {
    "age": lambda each: 2024 - each,
    "sex": lambda each: each.map({"f": "2", "m": "1"}),
    "region": lambda each: each.map({"north": "01", "south": "02"}),
    "town": lambda each: each.str.upper(),
    "income": lambda each: each / 1000,
}


def rewritten(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    return frame.assign(**{name: REWRITTEN[name](frame[name]) for name in names}).rename(
        columns={name: f"{name} in other codes" for name in names}
    )


def test_columns_are_known_by_their_values_whatever_they_are_called() -> None:
    first, second = survey(500), survey(500, seed=2)
    second = second.rename(columns={"age": "years", "town": "place", "income": "pay"})
    found = same_columns(first, second, ["age", "town", "income", "sex"], ["pay", "place", "years", "region"])
    assert found == {"age": "years", "town": "place", "income": "pay"}


@pytest.mark.parametrize("names", [COLUMNS, ["age"], ["age", "town", "income"], ["sex", "region"]])
@pytest.mark.parametrize("count", [300, 2000])
def test_people_are_found_in_other_codes(names: list[str], count: int) -> None:
    first = survey(count)
    second = rewritten(first.sample(frac=0.98, random_state=1).reset_index(drop=True), names)
    later = [name for name in second if name.split()[0] in COLUMNS]
    codes = in_later_codes(first, second, COLUMNS, later)
    found = same_people(codes, second, list(codes))
    assert found is not None
    right = first["person"].to_numpy()[found.earlier] == second["person"].to_numpy()[found.later]
    assert right.sum() >= 0.8 * len(second)  # some of 2,000 are alike in all variables
    people = first.set_index("person").loc[second["person"]].reset_index()
    for name in COLUMNS:
        known = [other for other in later if is_renamed(people[name], second[other])]
        assert known == [name if name in second else f"{name} in other codes"]


@pytest.mark.parametrize("seed", range(8))
def test_other_people_are_not_found_in_other_codes(seed: int) -> None:
    first, second = survey(600, seed), rewritten(survey(600, seed + 100), COLUMNS)
    later = [name for name in second if name.split()[0] in COLUMNS]
    codes = in_later_codes(first, second, COLUMNS, later)
    assert same_people(codes, second, list(codes)) is None


def test_a_number_of_everybodys_own_is_no_code_of_another() -> None:
    rng = np.random.default_rng(1)
    first = survey(600)
    assert not is_renamed(first["town"], pd.Series(rng.normal(size=600)))
    assert not is_renamed(pd.Series(rng.normal(size=600)), pd.Series(rng.normal(size=600)))
    assert in_later_codes(first[["town"]], pd.DataFrame({"x": rng.normal(size=600)}), ["town"], ["x"]).empty
