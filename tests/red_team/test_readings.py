"""The attacks of `readings` reach what they should on files that hide nothing, and nothing on files of others."""

import numpy as np
import pandas as pd

from sluice.utility.comparison import Comparison
from tests.red_team.files import files_of
from tests.red_team.readings import alone_with_a_value, participation, value_gained
from tests.typed_frame import typed_frame


def people(seed: int, n: int = 600) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": rng.lognormal(10, 1, n).round(2),
            "age": rng.integers(18, 90, n),
            "town": rng.choice([f"t{at}" for at in range(40)], n),
            "ill": rng.choice(["yes", "no"], n, p=[0.2, 0.8]),
        }
    )


def files(masked: pd.DataFrame) -> Comparison:
    (before, variables), (after, _), (aside, _) = (typed_frame(each) for each in (people(1), masked, people(2)))
    return files_of(before, after, variables, holdout=aside, recoded_holdout=aside)


def test_a_file_as_it_is_tells_everything() -> None:
    bare = files(people(1))
    assert alone_with_a_value(bare) > 0.9
    assert value_gained(bare, ["age", "town"]) > 0.5
    assert participation(bare) > 0.9


def test_a_file_of_other_people_tells_nothing() -> None:
    others = files(people(3))
    assert alone_with_a_value(others) < 0.02
    assert abs(value_gained(others, ["age", "town"])) < 0.05
    assert participation(others) < 0.1
